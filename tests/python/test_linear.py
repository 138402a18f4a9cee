# SPDX-License-Identifier: MIT
"""Linear models against closed forms and independent programs: beams, pendulums, masses, step maps, regulators."""

import pathlib
import sys

import math

import numpy as np
import pytest

import sinew

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import flexible_link

# Transverse vibrations of a uniform beam, E I = rho A = L = 1, clamped: characteristic equations, 12 digits
BEAM = """
sinew: 1
parameters: {weight: 0, tip_mass: 0}
gravity: [-weight, 0, 0]
robot:
  beam:
    on: world
    rod: {length: 1, section: {stiffness: {bend_z: 1}, inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_z: legendre 14}, nodes: 40, magnus: 6}
    body: {mass: tip_mass, inertia: [0, 0, 0]}
loads: {push: {on: beam.tip, force: [0, 0 N, 0]}}
probes: {tip: {position: beam.tip}, turn: {rotation: beam.tip}}
"""

# two point masses on massless links, springs and dampers in the hinges; closed-form matrices
PENDULUM = """
sinew: 1
parameters: {rest: 0, m2: 0.5}
robot:
  base: {on: world, pose: {axis: y, angle: 90 deg}}
  one: {on: base, joint: revolute, axis: y, stiffness: 1.5, rest: rest, damping: 0.05, body: {mass: 0.8, com: [0.6, 0, 0], inertia: [0, 0, 0]}}
  two: {on: one, pose: {xyz: [0.6, 0, 0]}, joint: revolute, axis: y, stiffness: 0.7, damping: 0.02, body: {mass: m2, com: [0.4, 0, 0], inertia: [0, 0, 0]}}
sites: {bob: {on: two, pose: {xyz: [0.4, 0, 0]}}}
actuators: {tau: {joint: one, effort: 0}}
probes: {bob: {position: bob}, angle: {angle: one}, second: {angle: two}, speed: {velocity: bob}, root: {reaction: one}}
"""

MASSES = """
sinew: 1
gravity: 0
robot:
  first: {on: world, joint: prismatic, axis: x, body: {mass: 2}}
  second: {on: world, pose: {xyz: [1, 0, 0]}, joint: prismatic, axis: x, body: {mass: 1}}
springs: {between: {spring: [first, second], stiffness: 50, damping: 0.3, rest: 1}}
actuators: {push: {joint: first, effort: 0}}
probes: {x1: {value: first}, x2: {value: second}}
"""


def near(got, want, tol):
    assert np.abs(np.asarray(got) - want).max() <= tol * np.abs(want).max()


def upper(poles):
    """Poles with im >= 0, by rising modulus."""
    return np.array([s for s in poles if s.imag >= 0])


def regulators():
    """sinew.control, which needs scipy."""
    pytest.importorskip("scipy.linalg")
    from sinew import control

    return control


# ---- beams


def test_a_beam_has_its_poles_zeros_and_gains():
    model = sinew.Robot(text=BEAM).linearize(inputs="push.fy", outputs=["tip.y", "turn.rz"])
    near(upper(model.poles())[:4].imag, [3.5160152685, 22.034491564667, 61.697214413549, 120.90191605231], 1e-6)
    assert np.abs(model.poles().real).max() < 1e-6
    near(model.dc_gain()[:, 0], [1 / 3, 1 / 2], 1e-9)
    for s, tip, turn in ((1, 0.3091016181676, 0.46658525339839), (10, 0.043933575058244, 0.096653229458631),
                         (2j, 0.48817391309729, 0.71337994243892), (10j, -0.033704307749676, 0.0022517224804136)):  # fmt: skip
        near(model.transfer(s)[:, 0], [tip, turn], 1e-7)
    # zeros: G is real on the imaginary axis and changes sign there
    for zero in (15.41820571698, 49.9648620318, 104.24769645886):
        below, above = (model.transfer(1j * zero * f)[0, 0].real for f in (1 - 1e-6, 1 + 1e-6))
        assert below * above < 0
    # residue 4 in every mode
    s = upper(model.poles())[:3]
    for pole in s:
        d = 1e-4
        residue = (model.transfer(pole + 1j * d)[0, 0] * ((pole + 1j * d) ** 2 - pole**2)).real
        assert residue == pytest.approx(4, rel=1e-3)


def test_a_beam_carries_a_tip_mass():
    model = sinew.Robot(text=BEAM, set={"tip_mass": 0.5}).linearize(inputs="push.fy", outputs="tip.y")
    near(upper(model.poles())[:3].imag, [2.0162989818, 16.9014177218, 51.7009208918], 1e-7)


@pytest.mark.parametrize("weight, square", [(0, 12.3623633685), (5, 4.4879827), (10, -3.43151245), (15, -11.40580726)])
def test_a_standing_beam_loses_its_stiffness(weight, square):
    model = sinew.Robot(text=BEAM, set={"weight": weight}).linearize(inputs="push.fy", outputs="tip.y")
    slow = model.poles()[0]
    assert -(slow * slow).real == pytest.approx(square, abs=2e-7 * max(1, abs(square)))
    if weight == 5:
        assert model.dc_gain()[0, 0] == pytest.approx(0.908131925, rel=1e-8)
        assert upper(model.poles())[1].imag ** 2 == pytest.approx(442.2306437, rel=1e-8)


# ---- pendulum


def test_a_hanging_pendulum():
    model = sinew.Robot(text=PENDULUM).linearize(outputs="bob.x")
    near(upper(model.poles()), [-0.0273248034 + 3.6920595903j, -0.4014946411 + 9.0430886137j], 1e-9)
    assert abs(model.dc_gain()[0, 0]) == pytest.approx(0.072942068843, rel=1e-10)
    assert [s.name for s in model.states] == ["one.angle", "two.angle", "one.angle.rate", "two.angle.rate"]
    assert [s.unit for s in model.states] == ["rad", "rad", "rad/s", "rad/s"]
    assert model.outputs[0].exact and model.difference == 0
    zero = -93.86  # given to four digits: the only zero
    assert abs(model.transfer(zero)[0, 0] / model.transfer(0)[0, 0]) < 1e-3


def test_linearize_steps_of_a_study(tmp_path):
    """The models that linearize steps make, in memory and in the result file."""
    text = PENDULUM.split("study:")[0] + "study: [static: {}, linearize: {name: still, probe: bob.x}, linearize: {name: c2, step: 10 ms}]\n"
    study = sinew.Study(sinew.Model(text=text))
    study.run()
    assert list(study.linear) == ["still", "c2"]
    near(upper(study.linear["still"].poles()), [-0.0273248034 + 3.6920595903j, -0.4014946411 + 9.0430886137j], 1e-9)
    (tmp_path / "p.yaml").write_text(text)
    kept = sinew.run(tmp_path / "p.yaml", tmp_path / "p.h5").only().linear
    assert list(kept) == ["still", "c2"]
    for name, model in study.linear.items():
        for matrix in "ABCD":
            assert np.array_equal(getattr(model, matrix), getattr(kept[name], matrix))
        assert model.states == kept[name].states and model.inputs == kept[name].inputs and model.modes == kept[name].modes
    assert kept["c2"].step == 0.01


def test_a_moving_pendulum():
    robot = sinew.Robot(text=PENDULUM)
    robot.q[:], robot.v[:] = (0.4, -0.3), (0.5, -1)
    model = robot.linearize(outputs=["speed", "root"])
    assert model.moving
    near(model.A[2:, :2], [[-18.9327972463, 10.6823960884], [21.6611081687, -53.8013560064]], 1e-11)
    near(model.A[2:, 2:], [[-0.2151832016, 0.2769741089], [0.9668220581, -0.9238793180]], 1e-9)
    near(robot.forward_dynamics(), [-12.857987265, 31.8209494156], 1e-11)
    assert np.all(robot.a == 0)  # the state of the robot stays
    # velocity and reaction, by differences of the nonlinear robot
    h, names = 1e-3, ["speed", "root"]

    def outputs(dx):
        robot.q[:], robot.v[:] = np.array((0.4, -0.3)) + dx[:2], np.array((0.5, -1)) + dx[2:]
        robot.a[:] = robot.forward_dynamics()
        return np.concatenate([robot.probe(name) for name in names])

    for k in range(4):
        e = np.eye(4)[k] * h
        slope = sum(w * (outputs(j * e) - outputs(-j * e)) for j, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h
        near(model.C[:, k], slope, 1e-9)


def test_a_given_angle():
    given = PENDULUM.replace("effort: 0", "position: 0")
    robot = sinew.Robot(text=given)
    model = robot.linearize(outputs=["bob.x", "second"])
    assert [s.name for s in model.states] == ["two.angle", "two.angle.rate", "tau", "tau.rate"]
    assert [s.name for s in model.inputs] == ["tau.acceleration"]
    near(sorted(model.poles().imag)[-1], np.sqrt(33.275 - (0.02 / 0.08 / 2) ** 2), 1e-12)
    # from the hinge's acceleration to the bob: M21/M22 = 2.5 and so on, all terms
    M22, M21, K21, K22, D22 = 0.08, 0.2, 1.962, 2.662, 0.02
    for s in (1.0, 3j, -0.5 + 2j):
        second = -(M21 * s**2 + K21) / (M22 * s**2 + D22 * s + K22)
        bob = -(1.0 + 0.4 * second)
        near(model.transfer(s)[:, 0], np.array([bob, second]) / s**2, 1e-12)
    three = robot.linearize(outputs=["bob.x", "second"], three_inputs=True)
    assert [s.name for s in three.inputs] == ["tau", "tau.rate", "tau.acceleration"]
    for s in (1.0, 3j):
        near(three.transfer(s) @ [1, s, s**2], s**2 * model.transfer(s)[:, 0], 1e-12)


def linear_response(model, x, u, h, count):
    """State after `count` steps of x' = A x + B u(t), by the classical Runge-Kutta method."""

    def rate(t, x):
        return model.A @ x + model.B[:, 0] * u(t)

    for k in range(count):
        t = k * h
        k1 = rate(t, x)
        k2 = rate(t + h / 2, x + h / 2 * k1)
        k3 = rate(t + h / 2, x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(t + h, x + h * k3))
    return x


@pytest.mark.parametrize("given", [False, True])
def test_the_response_is_that_of_the_robot(given):
    """Away from symmetry the error of the linear response is proportional to the amplitude squared."""
    law, level = ("position", 0.5) if given else ("effort", 3)
    errors, h, count = [], 0.002, 200
    for amplitude in (5e-4, 1e-3):  # the cubic part is small
        still = sinew.Robot(text=PENDULUM.replace("effort: 0", f"{law}: {level}"))
        still.equilibrium()
        model = still.linearize(outputs=["second"])
        robot = sinew.Robot(text=PENDULUM.replace("effort: 0", f"{law}: {level} + {amplitude}*sin(3*t)^3"))
        robot.q[:] = still.q + np.array((0, 2 * amplitude))
        motion = robot.simulate(h, "gauss6")
        for _ in range(count):
            motion.step()
        x = np.zeros(len(model.states))
        x[model.index("two.angle")] = 2 * amplitude

        def u(t, a=amplitude):
            s, c = np.sin(3 * t), np.cos(3 * t)
            return a * (54 * s * c * c - 27 * s**3) if given else a * s**3

        x = linear_response(model, x, u, h, count)
        errors.append(abs((model.C @ x)[0] + still.q[1] - robot.q[1]))
    assert errors[0] > 1e-9
    assert errors[1] / errors[0] == pytest.approx(4, rel=0.1)


# ---- steps


def test_a_step_is_that_of_the_robot():
    """The discrete model of a moving robot with a ball joint: the second step of a perturbed run."""
    text = """
sinew: 1
robot: {top: {on: world, joint: spherical, damping: 0.002, body: {mass: 1.2, com: [0, 0, 0.1], inertia: [0.008, 0.013, 0.01]}}}
probes: {tip: {rotation: top}}
"""
    for scheme in ("euler", "trapezoidal", "bdf2", "generalized-alpha"):
        robot = sinew.Robot(text=text)
        robot.q[:] = np.array([np.cos(0.25), np.sin(0.25), 0, 0])
        robot.v[:] = (0.3, 1, 20)
        model = robot.linearize(step=0.004, scheme=scheme, outputs="tip")
        assert model.moving and len(model.states) >= 6
        n = 3

        def end(dx):
            other = sinew.Robot(text=text)
            other.q[:], other.v[:] = robot.q, robot.v
            other.move(dx)
            other.simulate(0.004, scheme, tolerance=1e-13).step()
            return other

        base = end(np.zeros(3))
        # histories at the start follow the state (accelerations, and with them the increment before): take their part
        # from differences of forward dynamics
        a0 = robot.forward_dynamics()
        for k in range(3):
            d = np.eye(3)[k] * 1e-4
            slopes = []
            for sign in (1, -1):
                other = sinew.Robot(text=text)
                other.q[:], other.v[:] = robot.q, robot.v
                other.move(sign * d)
                slopes.append(other.forward_dynamics())
            da = (slopes[0] - slopes[1]) / 2e-4
            h = 0.004
            parts = {"": np.eye(3)[k], ".rate": np.zeros(3), ".acceleration": da, ".pseudo": da,
                     ".increment": -0.5 * h * h * da, ".rate_before": -h * da}  # fmt: skip
            x = []
            for i, s in enumerate(model.states):
                suffix = s.name[len("top.wx"):]
                x.append(parts[suffix][["wx", "wy", "wz"].index(s.name[4:6])])
            got = (model.A @ np.array(x))[: 2 * n]
            plus, minus = end(d), end(-d)

            def log(p, q):
                w = p[0] * q[0] + p[1:] @ q[1:]
                v = p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:])
                return 2 * v / np.linalg.norm(v) * np.arctan2(np.linalg.norm(v), w) if np.linalg.norm(v) else v

            zeta = (log(base.q, plus.q) - log(base.q, minus.q)) / 2e-4
            rates = (plus.v - minus.v) / 2e-4
            near(got, np.concatenate([zeta, rates]), 2e-6)  # differences of order 2
        assert a0.shape == (3,)


def test_steps_tend_to_the_continuous_poles():
    robot = sinew.Robot(text=PENDULUM)
    exact = upper(robot.linearize().poles())
    for scheme, order in (("euler", 1), ("bdf2", 2), ("generalized-alpha", 2), ("radau3", 3), ("gauss4", 4)):
        error = []
        for h in (0.02, 0.01):
            model = robot.linearize(step=h, scheme=scheme)
            roots = np.array([p.s for p in model.modes if not p.parasitic and p.s.imag >= 0])
            assert len(roots) == 2
            got = np.log(roots) / h
            error.append(max(min(abs(got - s)) for s in exact))
        assert np.log2(error[0] / error[1]) == pytest.approx(order, abs=0.15)


# ---- laws and parameters


def test_a_parameter_is_an_input():
    robot = sinew.Robot(text=PENDULUM)
    robot.q[:] = (0.4, -0.3)
    model = robot.linearize(inputs=["m2", "one.stiffness"], outputs="root.fz")
    assert not model.inputs[0].exact
    h = 1e-4

    def acceleration(values):
        other = sinew.Robot(text=PENDULUM, set=values)
        other.q[:] = (0.4, -0.3)
        return other.forward_dynamics()

    slope = (acceleration({"m2": 0.5 + h}) - acceleration({"m2": 0.5 - h})) / (2 * h)
    near(model.B[2:, 0], slope, 1e-6)
    slope = (acceleration({"one.stiffness": 1.5 + h}) - acceleration({"one.stiffness": 1.5 - h})) / (2 * h)
    near(model.B[2:, 1], slope, 1e-6)


def test_time_is_an_input():
    """Laws of a load, gravity and a given angle: derivatives by time against those of the laws, with an error estimate."""
    text = PENDULUM.replace("effort: 0", "effort: 2*sin(3*t)")
    robot = sinew.Robot(text=text)
    robot.t = 0.4
    robot.equilibrium()
    model = robot.linearize(inputs=["t", "tau"], outputs=["bob.x", "bob.z"])
    assert (model.inputs[0].name, model.inputs[0].unit, model.inputs[0].exact) == ("t", "s", False)
    assert model.inputs[0].value == pytest.approx(0.4)
    near(model.B[:, 0], 6 * np.cos(1.2) * model.B[:, 1], 1e-9)
    near(model.dc_gain()[:, 0], 6 * np.cos(1.2) * model.dc_gain()[:, 1], 1e-8)
    assert 0 < model.difference < 1e-8
    # a kink within the samples is told
    robot = sinew.Robot(text=PENDULUM.replace("effort: 0", "effort: abs(t - 0.3995)"))
    robot.t = 0.4
    assert robot.linearize(inputs=["t"], outputs="bob.x").difference > 0.01
    given = sinew.Robot(text=PENDULUM.replace("effort: 0", "position: 0.2*sin(3*t)"))
    given.t = 0.4
    given.equilibrium()
    near(given.linearize(["t"], "angle").dc_gain()[0, 0], 0.6 * np.cos(1.2), 1e-8)


def test_an_integral_in_a_law_is_a_state():
    """PI control of a mass: s^3 + d s^2 + (k + p) s + i = 0."""
    text = """
sinew: 1
gravity: 0
robot: {cart: {on: world, joint: prismatic, axis: x, damping: 0.4, stiffness: 2, body: {mass: 1}}}
probes: {at: {value: cart}}
actuators: {push: {joint: cart, effort: -3*at - 1.5*integral(at)}}
"""
    model = sinew.Robot(text=text).linearize(outputs="at")
    assert len(model.states) == 3
    near(np.sort_complex(model.poles()), np.sort_complex(np.roots([1, 0.4, 5, 1.5])), 1e-12)


def test_massless_links_follow():
    """A massless cart between two springs: static following; with a damper a pole of first order."""
    text = """
sinew: 1
gravity: 0
robot:
  light: {on: world, joint: prismatic, axis: x, stiffness: 30}
  heavy: {on: world, pose: {xyz: [1, 0, 0]}, joint: prismatic, axis: x, body: {mass: 2}}
springs: {s: {spring: [light, heavy], stiffness: 60, rest: 1}}
actuators: {push: {joint: light, effort: 0}}
probes: {l: {value: light}, h: {value: heavy}, v: {rate: heavy}}
"""
    model = sinew.Robot(text=text).linearize(outputs=["l", "h"])
    near(sorted(model.poles().imag)[-1], np.sqrt(20 / 2), 1e-9)
    near(model.D[:, 0], [1 / 90, 0], 1e-12)
    near(model.dc_gain()[:, 0], [1 / 30, 1 / 30], 1e-9)
    with pytest.raises(sinew.Error, match="rate of the input"):
        sinew.Robot(text=text.replace("v: {rate: heavy}", "v: {rate: light}")).linearize(outputs="v")
    damped = sinew.Robot(text=text.replace("stiffness: 30", "stiffness: 30, damping: 3")).linearize(outputs=["l", "h"])
    # 2 h" = 60 (l - h), 3 l' = -30 l - 60 (l - h)
    A = np.array([[0, 1, 0], [-30, 0, 30], [20, 0, -30]])
    near(np.sort_complex(damped.poles()), np.sort_complex(np.linalg.eigvals(A)), 1e-9)


def test_lost_modes_are_named():
    """Two equal carts on equal springs, pushed alike: the difference is not reached; its sum shows nothing of it."""
    text = """
sinew: 1
gravity: 0
robot:
  a: {on: world, joint: prismatic, axis: x, stiffness: 4, body: {mass: 1}}
  b: {on: world, pose: {xyz: [1, 0, 0]}, joint: prismatic, axis: x, stiffness: 4, body: {mass: 1}}
  c: {on: world, joint: prismatic, axis: x, body: {mass: 1}}
springs: {s: {spring: [a, b], stiffness: 3, rest: 1}}
actuators: {one: {joint: a, effort: 0}, two: {joint: b, effort: 0}}
probes: {xa: {value: a}, xb: {value: b}, sum: {law: xa + xb}}
"""
    model = sinew.Robot(text=text).linearize(outputs="sum")
    assert model.controllability == 4  # the third cart has no actuator
    assert model.observability == 2
    lost = [p.s.imag for p in model.modes if not p.observable and p.s.imag > 0.1]
    near(lost, [np.sqrt(10)], 1e-9)


# ---- regulators


def test_a_regulator_balances_the_pendulum():
    control = regulators()
    robot = sinew.Robot(text=PENDULUM, set={"rest": "180 deg"})
    robot.q[:] = (np.pi, 0)
    model = robot.linearize(outputs="bob.x")
    near(np.sort(model.poles().real), [-5.6117580078, -3.2339377314, 3.1757465401, 4.8123103102], 1e-9)
    gain = control.lqr(model, Q=[100, 100, 1, 1], R=1)
    near(gain.K[0], [-187.521938, -111.546989, -59.9668201, -26.7526323], 1e-8)
    near(upper(sorted(gain.poles, key=lambda s: s.real)), [-9.16073478 + 3.63810997j, -3.27287743 + 0.30629950j], 1e-8)
    held = control.lqr(control.zoh(model, 0.01), Q=np.array([100, 100, 1, 1]) * 0.01, R=0.01)
    near(held.K[0], [-169.005699, -101.031218, -54.0622376, -24.2096843], 1e-8)


def test_a_regulator_and_a_filter_of_two_masses():
    control = regulators()
    robot = sinew.Robot(text=MASSES)
    model = robot.linearize(outputs="x2")
    near(upper(model.poles())[-1], -0.225 + 8.65733071j, 1e-8)
    Q, R, h = np.array([10, 40, 1, 2]), 0.5, 0.02
    gain = control.lqr(model, Q, R)
    near(gain.K[0], [10.04517793, -0.04517793, 6.37835143, 1.94138842], 1e-8)
    near(upper(sorted(gain.poles, key=abs)), [-1.36779388 + 1.20040578j, -0.45179397 + 8.67656348j], 1e-8)
    held = control.zoh(model, h)
    near(control.lqr(held, Q * h, R * h).K[0], [9.10680265, 0.57940018, 6.26897305, 1.88727620], 1e-8)
    step = robot.linearize(outputs="x2", step=h, scheme="trapezoidal", reduce=True)
    near(control.lqr(step, Q * h, R * h).K[0], [9.12092015, 0.56528873, 6.27097938, 1.88560791], 1e-8)
    near([s for s in step.poles() if s.imag > 0.1], [0.98073123 + 0.171093492j], 1e-8)
    estimate = control.kalman(held, W=np.diag([0, 0, 1e-3, 0]) * h, V=1e-6)
    near(estimate.L[:, 0], [0.66453860, 0.35015045, 1.72771126, 3.75484542], 1e-7)
    near(np.sqrt(np.diag(estimate.P)), [0.00179209, 0.00059174, 0.01280317, 0.00845392], 1e-6)
    assert [len(robot.linearize(inputs=i, outputs="x2").inputs) for i in ([], None)] == [0, 1]
    with pytest.raises(sinew.ArgumentError, match="Q does not see"):
        control.lqr(model, [0, 0, 1, 1], R)
    for given in model, held:  # noise of a place alone does not move the common velocity
        with pytest.raises(sinew.ArgumentError, match="W does not move the mode with the pole"):
            control.kalman(given, W=[1, 0, 0, 0], V=1e-6)


@pytest.mark.parametrize("name, link, weights, effort", [
    ("balance", dict(L=0.4, EI=0.25, rhoA=0, tip=0.2, hub=0.004, g=9.81, functions=1, tau=0.01, c=0.002),
     [20, 0.1, 0.5, 0.001], 4),
    ("flexible_link", dict(L=0.6, EI=0.2, rhoA=0.1, tip=0.05, hub=0.005, g=0, functions=2, tau=1e-3),
     [10, 2, 0.1, 0.2, 0.05, 0.01], 10),
])  # fmt: skip
def test_the_examples_have_the_gains_of_their_models(name, link, weights, effort):
    """Matrices of flexible links against a separate program; gains of the files against the regulator."""
    control = regulators()
    path = ROOT / "examples" / "control" / f"{name}.yaml"
    robot = sinew.Robot(path, run="open" if name == "balance" else "free")
    robot.q[:] = 0
    model = robot.linearize(outputs="angle")
    A, B = flexible_link.Link(**link).linear(np.zeros(link["functions"] + 1))
    near(model.A, A, 1e-10)
    near(model.B[:, 0], B, 1e-12)
    gain = control.lqr(model, weights, effort)
    assert gain.poles.real.max() < -2
    for k, value in enumerate(gain.K[0], 1):
        assert sinew.Robot(path).parameters[f"k{k}"] == pytest.approx(value, abs=6e-5)  # four digits
    # with the law of the file the tangent contains the gains
    closed = sinew.Robot(path)
    closed.q[:] = 0
    near(np.sort_complex(closed.linearize(outputs="angle").poles()), np.sort_complex(gain.poles), 2e-3)


def test_a_law_has_units_and_operating_values():
    control = regulators()
    robot = sinew.Robot(text=PENDULUM.replace("effort: 0", "effort: 3").replace("probes: {", "probes: {w1: {rate: one}, w2: {rate: two}, "))
    robot.equilibrium()
    model = robot.linearize(outputs="angle")
    gain = control.lqr(model, [10, 10, 1, 1], 1)
    law = control.law(model, gain.K, ["angle", "second", "w1", "w2"])
    text = PENDULUM.replace("effort: 0", f"effort: '{law}'").replace("probes: {", "probes: {w1: {rate: one}, w2: {rate: two}, ")
    closed = sinew.Robot(text=text)
    closed.q[:] = robot.q
    again = closed.linearize(outputs="angle")
    assert again.residual < 1e-9
    near(np.sort_complex(again.poles()), np.sort_complex(gain.poles), 1e-9)


def test_scipy_takes_the_model():
    pytest.importorskip("scipy.signal")
    model = sinew.Robot(text=MASSES).linearize(outputs="x2")
    system = model.state_space()
    near(system.A, model.A, 0)
    assert sinew.Robot(text=MASSES).linearize(outputs="x2", step="10 ms").state_space().dt == 0.01


@pytest.mark.parametrize("Q, R, message", [
    (np.nan, 1, "Q has a number that is not finite"),
    (1.0, 0.0, "R must be positive definite"),
    (1, -1, "R must be positive definite; its least eigenvalue is -1"),
    ([1, -1, 1, 1], 1, "Q must not be negative"),
    (np.triu(np.ones((4, 4))), 1, "Q must be symmetric"),
    ({"nothing": 1}, 1, "no 'nothing'"),
])  # fmt: skip
def test_weights_that_have_no_minimum_are_refused(Q, R, message):
    control = regulators()
    model = sinew.Robot(text=MASSES).linearize()
    with pytest.raises(sinew.ArgumentError, match=message):
        control.lqr(model, Q, R)


def test_wrong_names_and_options_are_refused():
    robot = sinew.Robot(text=PENDULUM)
    for message, options in (("no actuator", {"inputs": "nothing"}), ("no such probe", {"outputs": "nothing"}),
                             ("needs a step", {"scheme": "euler"}), ("no scheme", {"step": 0.1, "scheme": "magic"}),
                             ("no linear model", {"step": 0.1, "scheme": "rk4"}),
                             ("no scheme of one step", {"step": 0.1, "scheme": "bdf2", "reduce": True})):  # fmt: skip
        with pytest.raises(sinew.Error, match=message):
            robot.linearize(**options)


# ---- every kind of input, outputs of every kind

ACTUATED = """
sinew: 1
materials: {silicone: {young: 0.5 MPa, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  base: {on: world, joint: revolute, axis: y, stiffness: 1 N*m, body: {mass: 0.2 kg, box: [5 cm, 5 cm, 5 cm]}}
  arm: {on: base, pose: {xyz: [5 cm, 0, 0]}, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, strain: {bend_y: legendre 2, bend_z: legendre 2, stretch: legendre 1}}}
  hand: {on: arm, joint: spherical, stiffness: 20 mN*m, damping: 1 mN*m*s, body: {mass: 30 g, sphere: {radius: 1 cm}}}
actuators:
  motor: {joint: base, effort: 0.1}
  cord: {tendon: {along: arm, at: [0, 0, 8 mm]}, effort: 2 N}
  winch: {tendon: {along: arm, at: [0, 8 mm, 0], compliance: 1e-3 1/N}, shortening: 12 mm}
  air: {chamber: {along: arm, at: [0, -4 mm, 0], area: 2e-5 m^2}, gas: {moles: 3e-4 mol}}
  balloon: {chamber: {along: arm, at: [0, 0, -4 mm], area: 2e-5 m^2}, effort: 5 kPa}
  muscle: {stress: {along: arm, bend_z: 5 mN*m}}
loads:
  push: {on: arm.tip, force: [0, 0.1 N, 0 N], torque: [0, 0, 1 mN*m], frame: body}
  wind: {along: arm, force: [0, 0, 0.1 N/m]}
probes:
  tip: {position: arm@73%}
  turn: {rotation: hand}
  pose: {pose: arm.tip}
  bend: {strain: arm@40%}
  spin: {twist: hand, in: body}
  speed: {velocity: arm.tip}
  acc: {acceleration: hand}
  inner: {wrench: arm@50%}
  root: {reaction: base}
  pull: {tension: cord}
  wound: {tension: winch}
  length: {length: cord}
  space: {volume: air}
  pressed: {pressure: air}
  com: center_of_mass
  momentum: momentum
  e: energy
  torque: {effort: motor}
  mixed: {law: tip.x^2 + speed.vz/(1 m/s)*(1 m^2)}
"""


@pytest.mark.parametrize("moving", [False, True])
def test_inputs_and_outputs_of_every_kind(moving):
    """Columns of B and rows of C, D against differences of the nonlinear robot, at rest and in motion."""
    robot = sinew.Robot(text=ACTUATED)
    robot.equilibrium()
    if moving:
        rng = np.random.default_rng(3)
        robot.move(0.05 * rng.standard_normal(robot.nv))
        robot.v[:] = 0.5 * rng.standard_normal(robot.nv)
    base = robot.q.copy(), robot.v.copy()
    inputs = ["motor", "cord", "winch", "air", "balloon", "muscle", "push.fy", "push.tx", "wind.fz"]
    names = ["tip", "turn", "pose", "bend", "spin", "speed", "acc", "inner", "root", "pull", "wound", "length", "space",
             "pressed", "com", "momentum", "torque", "mixed"]  # fmt: skip
    model = robot.linearize(inputs=inputs, outputs=names)
    assert model.difference < 1e-6
    n, weights = robot.nv, ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))

    def read():
        robot.a[:] = robot.forward_dynamics()
        values = {name: np.atleast_1d(robot.probe(name)) for name in names}
        first = {"turn": 4}  # the rotation vector stands behind the quaternion
        return np.concatenate([values[k][first.get(k, 0) :][: sum(s.name.split(".")[0] == k for s in model.outputs)]
                               for k in names]), robot.a.copy()  # fmt: skip

    def compare(column, displaced, h, B):
        plus = [displaced(j * h) for j, _ in weights]
        minus = [displaced(-j * h) for j, _ in weights]
        slope = sum(w * (p[0] - m[0]) for (_, w), p, m in zip(weights, plus, minus)) / h
        rate = sum(w * (p[1] - m[1]) for (_, w), p, m in zip(weights, plus, minus)) / h
        scale = np.abs(column).max() + np.abs(slope).max()
        assert np.abs(column - slope).max() <= 2e-7 * scale
        if B is not None:
            assert np.abs(B - rate).max() <= 2e-7 * np.abs(rate).max()

    for k in range(2 * n):
        def displaced(h, k=k):
            d = np.eye(2 * n)[k] * h
            robot.q[:] = base[0]
            robot.move(d[:n])
            robot.v[:] = base[1] + d[n:]
            return read()

        compare(model.C[:, k], displaced, 2e-4, model.A[n:, k])  # the winch stays taut
    robot.q[:], robot.v[:] = base
    u = {s.name: s.value for s in model.inputs}
    for k, name in enumerate(inputs):
        size = {"winch": 1e-4, "air": 1e-6, "balloon": 100.0}.get(name, 0.01)

        def displaced(h, k=k, name=name):
            robot.q[:], robot.v[:] = base
            if name in ("push.fy", "push.tx"):
                force, torque = np.array([0, 0.1, 0]), np.array([0, 0, 1e-3])
                (force if name == "push.fy" else torque)[1 if name == "push.fy" else 0] += h
                robot.set_load("push", force, torque)
            elif name == "wind.fz":
                robot.set_load("wind", [0, 0, 0.1 + h])
            else:
                robot.controls[name] = u[name] + h
            out = read()
            if "." in name:
                robot.unset_load(name.split(".")[0])
            else:
                del robot.controls[name]
            return out

        compare(model.D[:, k], displaced, size, model.B[n:, k])


SLIDER_CRANK = """
sinew: 1
parameters: {r: 0.3 m, b: 0.5 m}
gravity: [0, -9.81 m/s^2, 0]
robot:
  crank: {on: world, joint: revolute, axis: z, body: {mass: 0.4 kg, com: [0.15, 0, 0], inertia: [5e-3, 5e-3, 1e-2]}}
  rod: {on: crank, pose: {xyz: [r, 0, 0]}, joint: revolute, axis: z, body: {mass: 0.6, com: [0.25, 0, 0], inertia: [5e-3, 5e-3, 1e-2]}}
  slider: {on: world, joint: prismatic, axis: x, body: {mass: 0.8 kg}}
sites: {end: {on: rod, pose: {xyz: [b, 0, 0]}}, tip: {on: crank, pose: {xyz: [1, 0, 0]}}}
loops: {pin: {join: [end, slider], as: revolute, axis: z}}
probes: {angle: {angle: crank}, w: {rate: crank}, p: {acceleration: tip}}
"""


@pytest.mark.parametrize("w", [0, 0.01, 1, 3])
def test_a_slider_crank_about_points_of_its_motion(w):
    """Also where it sets out from rest: rate and acceleration of the crank along each column of the states and of two lengths,
    against the equation of motion m(q) q" + m' q'^2/2 + V' = 0 of the mechanism."""

    def acceleration(b, r, q, w):
        def energies(q):
            sine = -r * math.sin(q) / b
            cosine = math.sqrt(1 - sine**2)
            turn = -r * math.cos(q) / (b * cosine)
            vx, vy, dx = -r * math.sin(q) - 0.25 * sine * turn, r * math.cos(q) + 0.25 * cosine * turn, -r * math.sin(q) - b * sine * turn
            mass = 0.01 + 0.4 * 0.15**2 + 0.6 * (vx**2 + vy**2) + 0.01 * turn**2 + 0.8 * dx**2
            return np.array([mass, 9.81 * (0.06 * math.sin(q) + 0.6 * (r * math.sin(q) + 0.25 * sine))])

        slope = (8 * (energies(q + 1e-3) - energies(q - 1e-3)) - energies(q + 2e-3) + energies(q - 2e-3)) / 12e-3
        return -(0.5 * slope[0] * w**2 + slope[1]) / energies(q)[0]

    q, r, b = 1.0, 0.3, 0.5
    sine = -r * math.sin(q) / b
    rod, turn = math.asin(sine), -r * math.cos(q) * w / (b * math.sqrt(1 - sine**2))
    robot = sinew.Robot(text=SLIDER_CRANK)
    robot.q[:] = (q, rod - q, r * math.cos(q) + b * math.cos(rod))
    robot.v[:] = (w, turn - w, -r * math.sin(q) * w - b * sine * turn)
    model = robot.linearize(["b", "r"], ["angle", "w", "p.ax", "p.ay"])
    at, e = np.array([b, r, q, w]), 1e-4
    by = [(acceleration(*(at + e * k)) - acceleration(*(at - e * k))) / (2 * e) for k in np.eye(4)]
    for k, (angle, rate, ax, ay) in enumerate([*model.C.T, *model.D.T]):
        got = -ax * math.sin(q) + ay * math.cos(q) + w**2 * angle
        want = by[2] * angle + by[3] * rate + (by[k - 2] if k > 1 else 0)
        assert abs(got - want) < 3e-6 * abs(by[2])
    # the states are angle and rate of the crank, at all times
    assert [s.name for s in model.states] == ["crank.angle", "crank.angle.rate"]
    assert model.A == pytest.approx(np.array([[0, 1], by[2:]]), abs=3e-6 * abs(by[2]))
    assert model.B == pytest.approx(np.array([[0, 0], by[:2]]), abs=3e-6 * abs(by[2]))
