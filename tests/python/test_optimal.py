# SPDX-License-Identifier: MIT
"""Step maps against differences of their own steps; optimal control against Riccati recursions, closed forms and differences."""

import itertools
import math
import pathlib
import pickle
import sys

import numpy as np
import pytest

import sinew
from conftest import ARM, FOUR_BAR
from sinew import control
from test_linear import MASSES, PENDULUM, near

SIXTH = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))  # differences of order 6

# an arm bent by two tendons, with a ball joint at its end: a group, a bound that acts, few coordinates
RAILS = """
sinew: 1
materials: {steel: {young: 200 GPa, poisson: 0.3, density: 7800 kg/m^3, damping: 2 ms}}
robot:
  car(k=1..2): {on: world, joint: prismatic, axis: x, damping: 2 N*s/m, stiffness: 100 N/m, pose: {xyz: [(2*k-3)*6 cm, 0, 0]}, body: {mass: 0.1 kg}}
  leg(k=1..2):
    on: car(k)
    pose: {axis: y, angle: -90 deg}
    rod: {length: 25 cm, section: {rectangle: {y: 15 mm, z: 0.6 mm}}, material: steel, strain: {bend_y: legendre 4}, nodes: 10}
  plate: {on: world, joint: planar, axis: y, pose: {xyz: [0, 0, 25 cm]}, body: {mass: 50 g, inertia: [1e-4, 1e-4, 1e-4]}}
sites: {ear(k=1..2): {on: plate, pose: {xyz: [(2*k-3)*4 cm, 0, 0]}}}
loops: {pin(k=1..2): {join: [leg(k).tip, ear(k)], as: revolute, axis: y}}
actuators: {rail(k=1..2): {joint: car(k), effort: 0 N}}
probes: {plate: {position: plate}}
"""

CORDS = """
sinew: 1
materials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100 kg/m^3, damping: 20 ms}}
robot:
  arm: {on: world, pose: {axis: y, angle: 90 deg}, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: rubber, strain: {bend_y: legendre 2, bend_z: legendre 1}, nodes: 8}}
  hand: {on: arm, joint: spherical, stiffness: 50 mN*m, damping: 1 mN*m*s, body: {mass: 30 g, com: [2 cm, 0, 0], inertia: [1e-5, 2e-5, 3e-5]}}
actuators:
  cord(k=1..2): {tendon: {along: arm, at: [0, 0, 8 mm*(3 - 2*k)]}, effort: 0 N}
loads: {wind: {on: hand, force: [0, 0.02 N, 0]}}
probes: {tip: {position: hand}, turn: {rotation: hand}, speed: {velocity: hand}}
"""


def derivatives(system, point, u, to, dx, du, eps=1e-3):
    """Deviation of the next point, and change of its outputs, along (dx, du): differences of order 6."""

    def at(s):
        end, y = system.step(system.move(point, s * eps * dx), u + s * eps * du)
        return system.difference(to, end), y

    pairs = [(w, at(j), at(-j)) for j, w in SIXTH]
    return [sum(w * (p[i] - m[i]) for w, p, m in pairs) / eps for i in (0, 1)]


def moving(text, speed, seed=0):
    robot, random = sinew.Robot(text=text), np.random.default_rng(seed)
    robot.move(0.2 * random.standard_normal(robot.nv))
    robot.v[:] = speed * random.standard_normal(robot.nv)
    return robot


@pytest.mark.parametrize("scheme", ["euler", "trapezoidal", "newmark", "bdf2", "generalized-alpha", "hht", "conserving", "moreau", "gauss4", "radau5"])
@pytest.mark.parametrize("kind", ["arm", "free", "loop"])
def test_a_step_map_has_the_derivatives_of_its_steps(kind, scheme):
    """Of moving robots with rotations, a free flight and a loop, after some steps, so that the past is a general one."""
    if kind == "loop":
        robot = sinew.Robot(text=FOUR_BAR.replace("probes:", "actuators: {motor: {joint: crank, effort: 0}}\nprobes:"))
        robot.v[:] = (3, 0, 0)
        if scheme in ("gauss4", "radau5"):
            with pytest.raises(sinew.ArgumentError, match="loops"):
                robot.step_map(2e-3, ["motor"], ["end"], scheme=scheme)
            return
        inputs, outputs, u, h = ["motor"], ["end"], np.array([0.1]), 2e-3
    elif kind == "free":
        robot = moving("""
sinew: 1
robot:
  ship: {on: world, joint: free, body: {mass: 2, com: [0.02, 0, 0.01], inertia: [0.01, 0.02, 0.025]}}
  rod: {on: ship, pose: {xyz: [0.1, 0, 0]}, rod: {length: 0.2, section: {circle: {radius: 5 mm}}, material: {young: 1 MPa, density: 1100, damping: 10 ms}, strain: {bend_y: legendre 2}, nodes: 8}}
loads: {jet: {on: ship, force: [1 N, 0, 0], frame: body}}
probes: {tip: {pose: rod.tip}}
""".replace("material: {young: 1 MPa, density: 1100, damping: 10 ms}", "material: rubber").replace("robot:", "materials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100, damping: 10 ms}}\nrobot:"), 1.5)
        inputs, outputs, u, h = ["jet.fx", "jet.fy"], ["tip.x", "tip.y", "tip.z"], np.array([1.0, 0.2]), 5e-3
    else:
        robot = moving(ARM, 1.0)
        inputs, outputs, u, h = ["motor", "cord(1)", "push.fx"], ["tip", "angle"], np.array([0.1, 2, 0.3]), 5e-3
        if scheme == "conserving":
            with pytest.raises(sinew.ModelError, match="does not support tendons"):
                robot.step_map(h, inputs, outputs, scheme=scheme)
            return
    random = np.random.default_rng(1)
    map = robot.step_map(h, inputs, outputs, scheme=scheme)
    point = map.begin(robot, u)
    for _ in range(3):
        point, _ = map.step(point, u + 0.1 * random.standard_normal(map.nu))
    to, y, (A, B, C, D) = map.linear_step(point, u)
    again, same = map.step(point, u)
    near(again, to, 1e-9)
    near(same, y, 1e-9)
    N = map.project(point)[1]
    for _ in range(2):
        dx, du = random.standard_normal(map.nx), random.standard_normal(map.nu)
        dx = dx if N is None else N @ dx  # about closed loops
        # the correction of the energy divides rounding by the length of the increment: steps are noisy (1e-8)
        noisy = scheme == "conserving"
        x, out = derivatives(map, point, u, to, dx, du, 0.03 if noisy else 1e-3)
        got = A @ dx + B @ du
        for k in range(map.nx // robot.nv):  # displacements, rates, past: each by itself
            part = slice(k * robot.nv, (k + 1) * robot.nv)
            near(got[part], x[part], 3e-6 if noisy else 3e-7)
        near(C @ got + D @ du, out, 3e-6 if noisy else 3e-7)


# two axles, and a tail that swings
CART = """
sinew: 1
gravity: 0
parameters: {l: 0.1 m, I: 1e-3 kg*m^2}
robot:
  a: {on: world, joint: planar, body: {mass: 1 kg, com: [0.02 m, 0, 0], inertia: [I, I, I]}}
  b: {on: a, pose: {xyz: [l, 0, 0]}, joint: revolute, stiffness: 0.05, body: {mass: 1.2 kg, com: [l, 0, 0], inertia: [I, I, I]}}
  c: {on: b, pose: {xyz: [l, 0, 0]}, joint: revolute, stiffness: 0.02, damping: 2e-3, body: {mass: 0.5 kg, com: [l, 0, 0], inertia: [I, I, I]}}
sites: {second: {on: b, pose: {xyz: [l, 0, 0]}}}
actuators: {steer: {joint: b, effort: 0}, wag: {joint: c, effort: 0}}
contacts: {one: {wheel: {on: a, axis: y}}, two: {wheel: {on: second, axis: y}}}
probes: {p: {position: second}, q: {angle: c}}
"""


@pytest.mark.parametrize("scheme", ["gauss4", "gauss6", "radau3", "radau5", "conserving"])
def test_steps_on_wheels(scheme):
    """Of a cart that turns: its velocities are projected onto the rows of the wheels after each step of collocation."""
    robot = sinew.Robot(text=CART)
    robot.q[:], robot.v[:] = (0.1, 0.2, 0.3, 0.4, -0.2), (0.5, 0, 0, 1, -2)
    map = robot.step_map(0.02, ["steer", "wag"], ["p.x", "q"], scheme=scheme)
    u = np.array([0.02, -0.01])
    point = map.begin(robot, u)
    for _ in range(3):
        point, _ = map.step(point, u)
    to, _, (A, B, C, D) = map.linear_step(point, u)
    random = np.random.default_rng(2)
    N = map.project(point)[1]
    for _ in range(3):
        dx, du = random.standard_normal(map.nx), random.standard_normal(map.nu)
        dx = dx if N is None else N @ dx
        x, out = derivatives(map, point, u, to, dx, du)
        got = A @ dx + B @ du
        assert np.abs(got - x).max() < 1e-8 * np.abs(x).max()
        assert np.abs(C @ got + D @ du - out).max() < 1e-8
    if scheme != "conserving":
        with pytest.raises(sinew.ModelError, match="wheels, rings or anchors, after which velocities are projected"):
            robot.linearize(["l"], ["q"], step=0.02, scheme=scheme)


RANDOM = ["tree_motion", "hybrid_motion", "tendon_motion", "loop_motion", "parallel_motion", "rod_flight", "sprung_motion",
          "threaded_motion", "fluid_motion", "drop", "cranks", "obstacle"]  # fmt: skip


@pytest.mark.parametrize("family", RANDOM)
def test_steps_of_random_robots_have_their_derivatives(family):
    """Trees, rods, tendons, chambers, loops, eyes with friction, fluids, contacts of tests/random, moving fast, under all of their
    loads and efforts. Differences of order 6 at the best of five distances; steps that are not solved do not count. Where steps
    amplify rounding (stiff rods with monomials, the correction of energy), differences at neighbouring distances agree to less
    than 3e-5 only: then to what they agree."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "random"))
    import families
    import model_text

    done = 0
    for seed in range(6):
        made = families.draw(family, seed)[0]
        h = next(s["dynamic"] for s in made["study"] if "dynamic" in s)["step"] / 4
        robot, random = sinew.Robot(text=model_text.text(made)), np.random.default_rng(seed)
        robot.simulate(h)
        robot.v[:] += 0.3 * random.standard_normal(robot.nv)
        inputs = [f"{load}.fy" for load in robot.loads] + [a for a in robot.actuators if robot.actuators[a].type in ("effort", "tension", "pressure")]
        outputs = [p for p in robot.probes if p != "e"]
        scheme = {0: "euler", 1: "trapezoidal", 2: "conserving", 3: "bdf2", 4: "moreau", 5: "generalized-alpha"}[seed]
        try:
            map = robot.step_map(h, inputs or None, outputs, scheme=scheme)
            u = np.array([s.value for s in map.inputs])
            u = np.where(u >= 0, 1.1 * u + 0.1, u)  # taut
            point = map.begin(robot, u)
            for _ in range(3):
                point, _ = map.step(point, u)
            to, _, (A, B, C, D) = map.linear_step(point, u)
            N = map.project(point)[1]
            dx, du = random.standard_normal(map.nx), 0.1 * random.standard_normal(map.nu) * (0.1 + np.abs(u))
            dx = dx if N is None else N @ dx

            def parts(x, y):  # displacements, rates, past, outputs
                return [x[k : k + robot.nv] for k in range(0, map.nx, robot.nv)] + [y]

            def difference(a, b):  # what a given motion determines has no derivative: those of freedom are of the size of dx
                return max(np.abs(x - y).max() / max(np.abs(y).max(), 1e-9) for x, y in zip(a, b))

            x = A @ dx + B @ du
            got = parts(x, C @ x + D @ du)
            # friction is steep
            tried = [parts(*derivatives(map, point, u, to, dx, du, eps)) for eps in (1e-2, 1e-3, 3e-4, 1e-4, 1e-5)]
            errors = [difference(got, x) for x in tried]
            scatter = min(difference(a, b) for a, b in zip(tried, tried[1:]))
        except sinew.NotConverged:
            continue
        except sinew.ModelError as e:
            assert "given coordinate" in str(e) or "does not support" in str(e) or "in eyes" in str(e), e
            continue
        # 1.4e-5 is seen of one parallel robot with the BLAS kernels of one processor
        assert min(errors) < max(3e-5, scatter) < 1e-3, (family, seed, scheme, errors, scatter)
        done += 1
    assert done > 0


def test_linear_models_of_moving_loops_have_all_coordinates():
    """`linearize` with a step about a moving robot with a loop: the matrices of the map's first step; the roots of the robot
    are told from those of scheme and constraints."""
    robot = sinew.Robot(text=FOUR_BAR.replace("probes:", "actuators: {motor: {joint: crank, effort: 0}}\nprobes:"))
    robot.simulate(2e-3)
    robot.v[:] = (3, 0, 0)
    robot.simulate(2e-3)  # velocities that keep it closed
    model = robot.linearize(["motor"], ["end"], step=2e-3)
    map = robot.step_map(2e-3, ["motor"], ["end"], scheme="generalized-alpha")
    _, _, (A, B, C, _) = map.linear_step(map.begin(robot, [0]), [0])
    for got, want in zip((model.A, model.B, model.C), (A, B, C)):
        near(got, want, 1e-7)
    # of the robot there are two roots, which tell that it falls; about a moving point they depend on the coordinates (those of
    # the step are all three): test_linear.py has the states of the continuous model against an equation of motion
    exact = robot.linearize(["motor"], ["end"])
    assert [s.name for s in exact.states] == ["crank.angle", "crank.angle.rate"]
    roots = np.sort(np.log([p.s for p in model.modes if not p.parasitic]).real) / 2e-3
    assert len(roots) == 2 and roots[0] < -5 < 5 < roots[1]


DRIVEN = (FOUR_BAR.replace("robot:", "parameters: {w: 0, reach: 0.5}\nrobot:", 1).replace("[0.5, 0, 0]}", "[reach, 0, 0]}")
          .replace("sites:", "  bob: {on: coupler, pose: {xyz: [0.2, 0, 0]}, joint: spherical, stiffness: 2, damping: 0.05, body: {mass: 0.3, com: [0.1, 0.02, 0], inertia: [1e-3, 2e-3, 2e-3]}}\nsites:", 1)
          .replace("probes:", "actuators: {motor: {joint: crank, position: 60 deg + w*t}}\nloads: {push: {on: rocker, force: [1 N, 0, 0]}}\nprobes:").replace("end: {position", "bob: {velocity: bob}, end: {position"))  # fmt: skip


def driven(w, reach=0.5):
    return sinew.Robot(text=DRIVEN.replace("w: 0", f"w: {w}").replace("reach: 0.5", f"reach: {reach!r}"))


@pytest.mark.parametrize("scheme", ["euler", "newmark", "bdf2", "generalized-alpha"])
def test_given_coordinates_of_loops_are_inputs_of_steps(scheme):
    """A four-bar whose crank is driven and whose coupler carries a pendulum on a ball joint: value, rate and acceleration of the
    crank, each by differences of steps, in motion; about rest `linearize` has the matrices of the map."""
    h, random = 2e-3, np.random.default_rng(1)
    robot = driven(3)
    map = robot.step_map(h, ["motor", "push.fx"], ["end", "bob"], scheme=scheme)
    assert [s.name for s in map.inputs] == ["motor", "motor.rate", "motor.acceleration", "push.fx"]
    near([s.value for s in map.inputs], [np.pi / 3, 3, 0, 1], 1e-12)
    at = [np.array([np.pi / 3 + 3 * n * h, 3, 1, 0.5]) for n in range(5)]
    point = map.begin(robot, at[0])
    for u in at[1:4]:
        point, _ = map.step(point, u)
    to, _, (A, B, C, D) = map.linear_step(point, at[4])
    order = np.array([2 if s.name.endswith((".acceleration", ".pseudo")) else ".rate" in s.name for s in map.states])
    freedom = map.project(point)[1] @ (random.standard_normal(map.nx) / h**order)
    for dx, du in [(freedom, np.zeros(4))] + [(0 * freedom, e) for e in np.diag([1, 1 / h, 1 / h**2, 1 / h**2])]:
        x, out = derivatives(map, point, at[4], to, dx, du)
        got = A @ dx + B @ du  # numbers of one size: displacements, h times rates, h^2 times accelerations
        assert np.abs(h**order * (got - x)).max() <= 1e-9 * np.abs(h**order * x).max()
        assert np.abs(C @ got + D @ du - out).max() <= 1e-9 * max(np.abs(out).max(), 1)
    rest = driven(0)
    rest.equilibrium()
    model = rest.linearize(["motor", "push.fx"], ["end", "bob"], step=h, scheme=scheme)
    map = rest.step_map(h, ["motor", "push.fx"], ["end", "bob"], scheme=scheme)
    u = [s.value for s in map.inputs]
    for got, want in zip((model.A, model.B, model.C, model.D), map.linear_step(map.begin(rest, u), u)[2]):
        assert np.abs(got - want).max() <= 1e-9 * max(np.abs(want).max(), 1)


@pytest.mark.parametrize("w", [0, 3])
def test_numbers_that_move_loops_are_inputs_of_steps(w):
    """The length of the coupler, by differences of steps of robots that have other lengths; the other matrices stay as they are
    without it, of a ball joint in motion, too."""
    h, eps = 2e-3, 1e-5
    robot = driven(w)
    robot.equilibrium()
    robot.v[:] = (w, 0, 0, 0, 0, 0)
    with_number, without = (robot.linearize(n, ["end", "bob"], step=h, scheme="bdf2") for n in (["motor", "reach"], ["motor"]))
    near(with_number.A, without.A, 1e-12)
    near(with_number.B[:, :3], without.B, 1e-12)
    u = np.array([np.pi / 3 + w * h, w, 0])
    map = robot.step_map(h, ["motor"], ["end", "bob"], scheme="bdf2")
    start = map.begin(robot, np.array([np.pi / 3, w, 0]))
    to = map.step(start, u)[0]

    def end(reach):
        return map.difference(to, driven(w, reach).step_map(h, ["motor"], ["end", "bob"], scheme="bdf2").step(start, u)[0])

    want = sum(c * (end(0.5 + j * eps) - end(0.5 - j * eps)) for j, c in SIXTH) / eps
    for k in range(3):  # the rate before the step is that of the start
        part = slice(k * robot.nv, (k + 1) * robot.nv)
        near(with_number.B[part, 3], want[part], 1e-8)


RELAXING = """
sinew: 1
materials: {gum: {young: 1 MPa, poisson: 0.45, density: 1000 kg/m^3, damping: 2 ms, relaxation: {of: instant, ratios: [0.3, 0.2], times: [20 ms, 0.3 s]}}}
gravity: 0
robot:
  car: {on: world, joint: prismatic, axis: y, body: {mass: 1 kg}}
  arm: {on: car, rod: {length: 0.2, section: {circle: {radius: 8 mm}}, material: gum, strain: {bend_z: legendre 2}, nodes: 8}}
actuators: {drive: {joint: car, position: 0 m}}
probes: {tip: {position: arm.tip}}
"""


def test_given_coordinates_drive_materials_that_relax_in_steps():
    """Response of the tip to a car that shakes: (z - A)^-1 B of the steps at z = exp(i w h) against (i w - A)^-1 B of the
    continuous model, whose error is that of the trapezoidal rule, of order h^2."""
    robot, w = sinew.Robot(text=RELAXING), 30.0
    shake = np.array([1, 1j * w, -w * w])

    def response(model, z, forward):
        x = np.linalg.solve(z * np.eye(len(model.A)) - model.A, forward * model.B @ shake)
        return (model.C @ x + model.D @ shake)[0]

    want = response(robot.linearize(["drive"], ["tip.y"], three_inputs=True), 1j * w, 1)
    error = []
    for h in (2e-3, 1e-3, 5e-4):
        z = np.exp(1j * w * h)
        error.append(abs(response(robot.linearize(["drive"], ["tip.y"], step=h, scheme="trapezoidal"), z, z) - want) / abs(want))
    assert error[2] < 1e-4
    near(np.log2(np.array(error[:-1]) / error[1:]), [2, 2], 0.05)


def test_points_are_those_of_the_robot():
    """The steps of a map are those of a simulation, and moves undo differences."""
    robot = moving(CORDS, 0.3)
    u = np.array([2.0, 0.5])
    map = robot.step_map(2e-3, ["cord(1)", "cord(2)"], ["tip"], scheme="trapezoidal")
    robot.controls["cord(1)"], robot.controls["cord(2)"] = u
    first = point = map.begin(robot, u)
    motion = robot.simulate(2e-3, "trapezoidal", tolerance=1e-11)
    for _ in range(20):
        motion.step()
        point, y = map.step(point, u)
    t, q, v = map.state(point)
    assert t == pytest.approx(robot.t)
    near(q, robot.q, 1e-7)
    near(v, robot.v, 1e-7)
    near(y, robot.probe("tip"), 1e-8)
    near(map.move(first, map.difference(first, point))[2 : 2 + robot.nq], q, 1e-12)
    d = map.difference(first, point)
    eps, e = 1e-6, np.random.default_rng(2).standard_normal(map.nx)
    small = map.difference(map.move(first, d), map.move(first, d + eps * e))
    near(small / eps, map.reset(d) @ e, 1e-5)  # one-sided


def test_a_linear_problem_takes_one_iteration():
    """Two masses: the gains of a long horizon are those of the stationary regulator, and the inputs of the Riccati recursion."""
    pytest.importorskip("scipy.linalg")
    text = MASSES.replace("probes: {", "probes: {v1: {rate: first}, v2: {rate: second}, ")
    model = control.zoh(sinew.Robot(text=text).linearize(outputs=["x1", "x2", "v1", "v2"]), 0.02)
    system = control.LinearSystem(model)
    Q, R, N = np.diag([10.0, 40, 1, 2]) * 0.02, np.array([[0.01]]), 2000
    x0 = np.array([0.3, -0.1, 0, 0.5])
    plan = control.ilqr(system, x0, np.zeros((N, 1)), np.zeros(4), Q, R)
    assert plan.converged and plan.iterations == 1
    near(plan.gains[0][0], [-9.10680265, -0.57940018, -6.26897305, -1.88727620], 1e-8)
    P = Q.copy()
    gains = []
    for _ in range(N):  # textbook recursion, costs at the end of each step
        K = np.linalg.solve(R + model.B.T @ P @ model.B, model.B.T @ P @ model.A)
        gains.append(K)
        P = Q + model.A.T @ P @ (model.A - model.B @ K)
    x, inputs = x0, []
    for K in reversed(gains):
        inputs.append(-K @ x)
        x = model.A @ x + model.B @ inputs[-1]
    near(plan.inputs, np.array(inputs), 1e-9)


def test_rest_to_rest_with_constant_pieces():
    """Two masses, 0 to 1 in 1 s: reference values to all their digits."""
    pytest.importorskip("scipy.linalg")
    text = MASSES.replace("damping: 0.3, ", "").replace("probes: {", "probes: {v1: {rate: first}, v2: {rate: second}, ")
    robot = sinew.Robot(text=text)
    names = ["x1", "x2", "v1", "v2"]
    system = control.LinearSystem(control.zoh(robot.linearize(outputs=names), 0.02))
    plan = control.ilqr(system, np.zeros(4), np.zeros((50, 1)), [1, 1, 0, 0], 0.0, 2 * 0.02, final=1e4, exactly=1e-11)
    assert plan.converged
    assert (plan.inputs**2).sum() * 0.02 == pytest.approx(109.0083425377, abs=2e-9)
    assert plan.inputs[0, 0] == pytest.approx(19.10285045, abs=2e-8)
    assert plan.inputs[24, 0] == pytest.approx(0.23749490, abs=2e-8)
    with pytest.raises(sinew.ArgumentError, match="exactly is for outputs with a weight at the end"):
        control.ilqr(system, np.zeros(4), np.zeros((50, 1)), [1, 1, 0, 0], 0.0, 1.0, exactly=1e-9)
    # steps of the robot itself: towards the continuous problem; the force begins at 0 here, an error of first order
    cost = []
    for N in (50, 100):
        map = robot.step_map(1 / N, ["push"], names, scheme="trapezoidal")
        plan = control.ilqr(map, map.begin(robot, [0]), np.zeros((N, 1)), [1, 1, 0, 0], 0.0, 2 / N, final=1e4, exactly=1e-9)
        assert plan.converged
        cost.append((plan.inputs**2).sum() / N)
    errors = np.array(cost) - 108.9549803680
    assert errors[0] / errors[1] == pytest.approx(2, abs=0.2)
    assert 2 * cost[1] - cost[0] == pytest.approx(108.9549803680, rel=5e-3)


def test_a_box_has_its_minimum():
    """Against all choices of active bounds."""
    random = np.random.default_rng(5)
    for _ in range(60):
        n = int(random.integers(1, 5))
        F = random.standard_normal((n, n))
        H, g = F @ F.T + 0.05 * np.eye(n), 3 * random.standard_normal(n)
        low, high = -random.uniform(0, 1, n), random.uniform(0, 1, n)
        from sinew._optimal import box_minimum

        x, free = box_minimum(H, g, low, high, random.standard_normal(n))
        best = np.inf
        for choice in itertools.product((-1, 0, 1), repeat=n):
            choice = np.array(choice)
            trial = np.where(choice < 0, low, high)
            at = choice == 0
            if at.any():
                trial[at] = np.linalg.solve(H[np.ix_(at, at)], -g[at] - H[np.ix_(at, ~at)] @ trial[~at])
            if (trial >= low - 1e-12).all() and (trial <= high + 1e-12).all():
                best = min(best, 0.5 * trial @ H @ trial + g @ trial)
        assert 0.5 * x @ H @ x + g @ x == pytest.approx(best, abs=1e-10)
        assert np.abs((H @ x + g)[free]).max(initial=0) < 1e-9


def reach(N=20, **options):
    robot = sinew.Robot(text=CORDS)
    robot.equilibrium()
    map = robot.step_map(0.02, ["cord(1)", "cord(2)"], ["tip", "speed"], scheme="trapezoidal")
    start = map.begin(robot, [0, 0])
    rest = np.concatenate([robot.probe("tip"), np.zeros(3)])
    target = rest + [0.06, 0, 0.01, 0, 0, 0]
    limits = {"cord(1)": (0, 6), "cord(2)": (0, 6)}
    plan = control.ilqr(map, start, np.zeros((N, 2)), target, {"tip": 1e3, "speed": 1}, 1e-3, final={"tip": 1e4, "speed": 10},
                        limits=limits, tolerance=1e-11, **options)  # fmt: skip
    return robot, map, start, target, plan


def test_a_tendon_arm_has_optimal_inputs_within_limits():
    """The gradient of the cost vanishes where no limit holds, and pushes against the limits that hold: by differences."""
    robot, map, start, target, plan = reach()
    assert plan.converged, plan.reason
    assert plan.costs == sorted(plan.costs, reverse=True) and plan.cost < 0.2 * plan.costs[0]
    assert (plan.inputs >= 0).all() and (plan.inputs <= 6).all()
    assert plan.held.any() and not plan.held.all()
    W, Wf = np.diag([1e3] * 3 + [1] * 3), np.diag([1e4] * 3 + [10] * 3)

    def cost(inputs):
        point, sum = start, 0.0
        for n, u in enumerate(inputs):
            point, y = map.step(point, u)
            e = y - target
            sum += 0.5 * e @ (Wf if n == len(inputs) - 1 else W) @ e + 0.5e-3 * u @ u
        return sum

    assert cost(plan.inputs) == pytest.approx(plan.cost, rel=1e-9)
    slopes = np.empty_like(plan.inputs)
    for at in itertools.product(range(len(plan.inputs)), range(2)):
        d = np.zeros_like(plan.inputs)
        d[at] = 1e-3
        slopes[at] = (cost(plan.inputs + d) - cost(plan.inputs - d)) / 2e-3
    scale = np.abs(slopes).max()
    assert scale > 1e-3  # of the limits that hold
    assert np.abs(slopes[~plan.held]).max() < 1e-4 * scale
    low, high = plan.held & (plan.inputs < 1), plan.held & (plan.inputs > 5)
    assert (slopes[low] > -1e-6 * scale).all() and (slopes[high] < 1e-6 * scale).all()


def test_feedback_brings_a_disturbed_arm_back():
    """Off the trajectory, inputs with feedback end nearer to it than inputs alone; deviations of rotations are body twists."""
    _, map, start, _, plan = reach()
    random = np.random.default_rng(4)
    x = np.zeros(map.nx)
    x[: map.nx // 3] = 0.05 * random.standard_normal(map.nx // 3)
    ends = []
    for law in (lambda n, p: plan.inputs[n], lambda n, p: plan.feedback(map, n, p)):
        point = map.move(start, x)
        miss = 0.0
        for n in range(len(plan.inputs)):
            point, y = map.step(point, law(n, point))
            miss += np.sum((y[:3] - plan.outputs[n, :3]) ** 2)
        ends.append(miss)
    assert ends[1] < 0.9 * ends[0]


def test_a_plate_on_two_legs_follows_a_path():
    """Loops, motors and a target at each step: two rods on rails carry a plate, whose motion is that of the targets."""
    robot = sinew.Robot(text=RAILS)
    robot.equilibrium()
    map = robot.step_map(0.02, ["rail(1)", "rail(2)"], ["plate.x", "plate.z"], scheme="bdf2")
    t = np.clip(0.02 * np.arange(1, 61) / 0.8, 0, 1)
    rise = t**3 * (10 - 15 * t + 6 * t**2)
    wanted = np.c_[0.04 * rise, robot.probe("plate")[2] - 0.01 * rise]
    plan = control.ilqr(map, map.begin(robot, [0, 0]), np.zeros((60, 2)), wanted, weights=1e4, effort=1e-6)
    assert plan.converged and abs(plan.outputs - wanted).max() < 2e-5
    sim = robot.simulate(0.02, "bdf2", tolerance=1e-12)
    for n, u in enumerate(plan.inputs):
        robot.u[:] = u
        sim.step()
        assert robot.probe("plate")[[0, 2]] == pytest.approx(wanted[n], abs=1e-4)  # its first step is of another kind


def test_iterations_that_are_not_enough_are_told():
    *_, plan = reach(iterations=1)
    assert not plan.converged and "not enough" in plan.reason and plan.decrease > 1e-11


def test_predictive_control_holds_a_disturbed_arm():
    """The first update from rest tends to the optimal inputs with more iterations; in closed loop the arm reaches its target
    under a load that the model does not know."""
    robot, map, start, target, _ = reach(iterations=1)
    options = dict(final={"tip": 1e4, "speed": 10}, limits={"cord(1)": (0, 6), "cord(2)": (0, 6)})
    plan = control.ilqr(map, start, np.zeros((15, 2)), target, {"tip": 1e3, "speed": 1}, 1e-3, tolerance=1e-11, **options)
    mpc = control.MPC(map, 15, {"tip": 1e3, "speed": 1}, 1e-3, iterations=8, **options)
    near(mpc.update(start, target), plan.inputs[0], 1e-4)
    mpc = control.MPC(map, 15, {"tip": 1e3, "speed": 1}, 1e-3, **options)
    u, motion, plant = np.zeros(2), robot.simulate(0.01, "trapezoidal"), robot
    robot.set_load("wind", [0.01, 0.02, 0])
    before = np.linalg.norm(robot.probe("tip") - target[:3])
    for _ in range(40):
        u = mpc.update(map.begin(plant, u), target)
        assert (u >= 0).all() and (u <= 6).all()
        robot.controls["cord(1)"], robot.controls["cord(2)"] = u
        motion.step(count=2)
    assert np.linalg.norm(robot.probe("tip") - target[:3]) < 0.25 * before
    assert mpc.seconds > 0


def test_wrong_arguments_are_refused():
    robot = sinew.Robot(text=CORDS)
    for message, call in (
        ("no map of its steps", lambda: robot.step_map(0.01, scheme="rk4")),
        ("must be positive", lambda: robot.step_map(0.0)),
        ("no input of a map", lambda: robot.step_map(0.01, ["materials.rubber.young"])),
        ("no such probe", lambda: robot.step_map(0.01, outputs="nothing")),
    ):
        with pytest.raises(sinew.Error, match=message):
            call()
    map = robot.step_map(0.01, ["cord(1)"], ["tip"])
    start = map.begin(robot, [0])
    for message, options in (("shape", {"inputs": np.zeros(3)}), ("positive", {"effort": 0}), ("not be negative", {"weights": -1}),
                             ("there is no", {"limits": {"cord": (0, 1)}}), ("above", {"limits": {"cord(1)": (2, 1)}})):  # fmt: skip
        given = {"inputs": np.zeros((3, 1)), "weights": 1, "effort": 1} | options
        with pytest.raises(sinew.ArgumentError, match=message):
            control.ilqr(map, start, given.pop("inputs"), np.zeros(3), **given)
    with pytest.raises(sinew.ArgumentError, match="finite"):
        map.step(start, [np.nan])
    for call in (lambda p: map.step(p, [0]), lambda p: map.output(p, [0]), lambda p: map.difference(start, p), map.state,
                 lambda p: map.move(p, np.zeros(map.nx)), lambda p: map.linear_output(p, [0])):  # fmt: skip
        with pytest.raises(sinew.ArgumentError, match="'point' needs"):
            call(start[:-1])
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(map)
    for law in ("integral(tip.x)*1 N/(1 m*s)", "'sampled(tip.x, 0.1 s)*1 N/(1 m)'"):
        with pytest.raises(sinew.Error, match="no map of"):
            sinew.Robot(text=CORDS.replace("effort: 0 N", f"effort: {law}")).step_map(0.01, ["wind.fx"], ["tip"])


def test_changes_of_inputs_are_weighted():
    """A linear system: the inputs solve the normal equations of all terms; a nonlinear one: no neighbour is cheaper."""
    system = control.LinearSystem(sinew.Robot(text=MASSES).linearize(step=0.05, scheme="trapezoidal", reduce=True))
    N, nu = 12, system.nu
    rng = np.random.default_rng(2)
    x0, goal, before = rng.standard_normal(system.nx), rng.standard_normal(system.ny), rng.standard_normal(nu)
    plan = control.ilqr(system, x0, np.zeros((N, nu)), goal, 2.0, 0.3, change=5.0, before=before)
    # outputs are affine in the inputs
    def outputs(u):
        point, rows = x0, []
        for row in u.reshape(N, nu):
            point, y = system.step(point, row)
            rows.append(y)
        return np.concatenate(rows)

    zero = outputs(np.zeros(N * nu))
    M = np.column_stack([outputs(e) - zero for e in np.eye(N * nu)])
    D = np.eye(N * nu) - np.eye(N * nu, k=-nu)
    first = np.r_[before, np.zeros((N - 1) * nu)]
    H = 2.0 * M.T @ M + 0.3 * np.eye(N * nu) + 5.0 * D.T @ D
    u = np.linalg.solve(H, 2.0 * M.T @ (np.tile(goal, N) - zero) + 5.0 * D.T @ first)
    assert plan.converged
    near(plan.inputs.ravel(), u, 1e-9)
    assert plan.outputs.shape == (N, system.ny) and plan.gains.shape == (N, nu, system.nx)
    near(plan.points[0], x0, 1e-14)

    robot = sinew.Robot(text=CORDS)
    robot.equilibrium()
    steps = robot.step_map(0.02, ["cord(1)", "cord(2)"], ["tip"], scheme="bdf2")
    limits = {"cord(1)": (0, 4), "cord(2)": (0, 4)}
    target = robot.probe("tip") + np.array([0.02, 0, 0])
    rough, smooth = (control.MPC(steps, 10, 1e4, 1e-3, limits=limits, change=w, iterations=8) for w in (None, 10.0))
    start = steps.begin(robot, [0, 0])
    moves = [np.abs(np.diff(np.vstack([np.zeros(2), m.update(start, target)]), axis=0)).max() for m in (rough, smooth)]
    assert moves[1] < 0.7 * moves[0]
    after = smooth.update(start, target)  # from the inputs before: the change goes on
    assert np.abs(after).max() > 0 and smooth.plan.outputs.shape == (10, 3)
    with pytest.raises(sinew.ArgumentError, match="change"):
        control.MPC(steps, 10, 1e4, 1e-3, change=-1)


# a ball of radius 0.1 on an incline by gravity, in a plane
BALL = """
sinew: 1
parameters: {mu: 0.5, m: 2}
gravity: [1, 0, -9]
robot:
  along: {on: world, joint: prismatic, axis: x}
  up: {on: along, joint: prismatic, axis: z, pose: {xyz: [0, 0, 0.1]}}
  ball: {on: up, joint: revolute, axis: y, body: {sphere: {radius: 0.1}, mass: m}}
actuators: {push: {joint: along, effort: 0}, turn: {joint: ball, effort: 0}, lift: {joint: up, effort: 0}}
contacts: {floor: {ground: {on: ball, hard: true, friction: mu}}}
probes: {x: {value: along}, spin: {rate: ball}}
"""


@pytest.mark.parametrize("slides", [False, True])
def test_steps_of_a_closed_hard_contact(slides):
    """A ball that rolls, or slides, on the floor: along all motions that keep the contact closed. Its height after the step
    is that of the floor, whatever it was."""
    robot = sinew.Robot(text=BALL)
    robot.v[:] = (1, 0, 2) if slides else (1, 0, 10)
    map = robot.step_map(5e-3, ["push", "turn", "lift"], ["x", "spin"], scheme="moreau")
    u = np.array([0.3, 0.02, -0.5])
    point = map.begin(robot, u)
    point, _ = map.step(point, u)
    to, _, (A, B, C, D) = map.linear_step(point, u)
    rolls = map.difference(point, to)
    near(rolls[3] + 0 if slides else rolls[0], rolls[3] if slides else 0.1 * rolls[2], 1e-9)
    keeps = [0, 2, 3, 5]  # x, angle and their rates
    for column in range(4 + map.nu):
        dx, du = np.zeros(map.nx), np.zeros(map.nu)
        if column < 4:
            dx[keeps[column]] = 1
        else:
            du[column - 4] = 1
        if not slides:  # states that roll: the middle rule keeps a slip of the velocities before
            dx[3] = 0.1 * dx[5] if dx[5] else dx[3]
            dx[5] = 10 * dx[3]
        x, out = derivatives(map, point, u, to, dx, du, 1e-2)
        got = A @ dx + B @ du
        assert np.abs(got - x).max() < 1e-9 * max(1, np.abs(x).max())
        assert np.abs(C @ got + D @ du - out).max() < 1e-8
    assert np.abs(A[1]).max() < 1e-12 and np.abs(A[4]).max() < 1e-9


def test_steps_in_which_contacts_change_are_refused():
    robot = sinew.Robot(text=BALL)
    map = robot.step_map(5e-3, ["lift"], ["x"], scheme="moreau")
    with pytest.raises(sinew.ModelError, match=r"'floor' of link 'ball' opens in the step to t = 0.005 s"):
        map.linear_step(map.begin(robot, [30]), [30])
    robot.q[1], robot.v[1] = 0.01, -4
    with pytest.raises(sinew.ModelError, match=r"'floor' of link 'ball' closes in the step to t = 0.0024\d* s"):
        map.linear_step(map.begin(robot, [0]), [0])
    to, _ = map.step(map.begin(robot, [0]), [0])  # without a linear model it is done
    assert to[0] == 5e-3 and abs(to[2]) < 1e-4


# an arm whose tip rests on the floor
TOUCH = """
sinew: 1
materials: {rubber: {young: 10 MPa, poisson: 0.45, density: 1100, damping: 5 ms}}
robot:
  arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 1 cm}}, material: rubber, strain: {bend_y: legendre 3, bend_z: legendre 2}, nodes: 12}}
  tip: {on: arm.tip, body: {mass: 0.1, sphere: {radius: 2 cm}}}
contacts: {floor: {ground: {on: tip, hard: true, friction: 0.4, at: [0, 0, -5 cm]}}}
probes: {tip: {position: tip}}
"""


@pytest.mark.parametrize("scheme", ["conserving", "moreau"])
@pytest.mark.parametrize("kind", ["masses", "loop", "touch"])
def test_roots_of_steps_tend_to_the_poles(kind, scheme):
    """About rest, with loops and a closed contact eliminated: log(z)/h has the error of order 2 of the middle rule,
    z = (1 + s h/2)/(1 - s h/2) of each pole s."""
    if kind == "touch" and scheme == "conserving":
        return  # hard contacts are those of moreau
    robot = sinew.Robot(text=TOUCH if kind == "touch" else MASSES if kind == "masses" else FOUR_BAR)
    robot.equilibrium()
    exact = robot.linearize().poles()
    for h in (1e-2, 1e-3):
        model = robot.linearize(step=h, scheme=scheme)
        assert model.A.shape == (len(exact), len(exact))
        z = np.array([p.s for p in model.modes])
        want = (1 + exact * h / 2) / (1 - exact * h / 2)
        distance = np.abs(z[:, None] - want[None, :])
        assert distance.min(axis=0).max() < 1e-6 and distance.min(axis=1).max() < 1e-6


@pytest.mark.parametrize("scheme", ["conserving", "moreau", "gauss4", "radau5"])
def test_numbers_of_the_file_move_steps(scheme):
    """Mass, length and time as inputs of the step of a driven double pendulum in motion, against steps of changed models."""
    text = PENDULUM.replace("parameters: {rest: 0, m2: 0.5}", "parameters: {rest: 0, m2: 0.5, mu: 0.05}").replace("damping: 0.05", "damping: mu").replace("effort: 0", "effort: 0.3*sin(7*t)")
    robot = sinew.Robot(text=text)
    robot.q[:], robot.v[:], h = (0.4, -0.7), (2, -3), 0.02
    names = ["m2", "mu", "rest", "t"]
    B = robot.linearize(names, ["bob"], step=h, scheme=scheme).B

    def after(name, by):
        values = {"m2": 0.5, "mu": 0.05, "rest": 0}
        other = sinew.Robot(text=text, set={} if name == "t" else {name: by + values[name]})
        other.t = by if name == "t" else 0
        other.q[:], other.v[:] = robot.q, robot.v
        other.simulate(h, scheme).step()
        return np.concatenate([other.q, other.v])

    for k, name in enumerate(names):
        near(B[:, k], sum(w * (after(name, j * 1e-3) - after(name, -j * 1e-3)) for j, w in SIXTH) / 1e-3, 1e-8)


# a pendulum on a cart that is given
GIVEN = """
sinew: 1
parameters: {p: 0.2, l: 0.5 m}
gravity: [0, -9.81 m/s^2, 0]
robot:
  cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}
  bob: {on: cart, joint: revolute, axis: z, pose: {rpy: [0, 0, -90 deg]}, body: {mass: 1 kg, com: [l, 0, 0]}}
actuators: {drive: {joint: cart, position: "(1 m)*p*(1 - cos(3*t/(1 s)) + 0.3*sin(2*p*t/(1 s))^2)"}}
probes: {q: {angle: bob}, place: {position: bob}}
"""


def test_a_number_moves_a_given_coordinate():
    """With value, rate and acceleration: in the continuous model against the closed form, in a step against steps of changed models."""
    robot = sinew.Robot(text=GIVEN)
    robot.q[:], robot.v[:], p, h = (0, 0.3), (0, -0.7), 0.2, 0.02

    def law(p, t):
        return p * (1 - math.cos(3 * t) + 0.3 * math.sin(2 * p * t) ** 2)

    motion = robot.simulate(0.1, "gauss6")
    for _ in range(4):
        motion.step()
    t, e = robot.t, 1e-3
    A2 = [sum(w * (law(p + i * e, t + k * e) - law(p - i * e, t + k * e)) for i, w in SIXTH) / e for k in (-2, -1, 0, 1, 2)]
    second = (-A2[0] + 16 * A2[1] - 30 * A2[2] + 16 * A2[3] - A2[4]) / (12 * e * e)
    got = robot.linearize(["p"], ["q"]).B[:, 0]
    near(got[0], 0, 1e-9)
    near(got[1], -second / 0.5 * math.cos(robot.q[1]), 1e-5)

    robot = sinew.Robot(text=GIVEN)
    robot.q[:], robot.v[:] = (0, 0.3), (0, -0.7)
    B = robot.linearize(["p"], ["q"], step=h, scheme="euler").B[:, 0]

    def after(by):
        other = sinew.Robot(text=GIVEN, set={"p": p + by})
        other.q[:], other.v[:] = (0, 0.3), (0, -0.7)
        other.simulate(h, "euler").step()
        return np.concatenate([other.q, other.v])

    near(B, sum(w * (after(k * e) - after(-k * e)) for k, w in SIXTH) / e, 1e-8)


# an arm whose tip slides on the floor, and a free ball that rolls and carries a rod
PRESSED = {
    "arm": """
sinew: 1
materials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100, damping: 5 ms}}
robot:
  base: {on: world, joint: prismatic, axis: x, body: {mass: 0.5}}
  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 1 cm}}, material: rubber, strain: {bend_y: legendre 2, bend_z: constant}, nodes: 8}}
  tip: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.02, damping: 1e-3, body: {mass: 0.1, sphere: {radius: 2 cm}}}
contacts: {floor: {ground: {on: tip, stiffness: 500, damping: 0.5, friction: 0.3, at: [0, 0, -5 cm], smooth: 5 mm}}}
probes: {tip: {position: tip}}
""",
    "free": """
sinew: 1
materials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100, damping: 5 ms}}
robot:
  ball: {on: world, pose: {xyz: [0, 0, 0.048]}, joint: free, body: {mass: 0.3, sphere: {radius: 5 cm}}}
  arm: {on: ball, pose: {xyz: [0.05, 0, 0]}, rod: {length: 0.1, section: {circle: {radius: 5 mm}}, material: rubber, strain: {bend_y: legendre 1, bend_z: constant}, nodes: 6}}
contacts: {floor: {ground: {on: ball, stiffness: 2000, damping: 0.5, friction: 0.3, smooth: 5 mm}}}
probes: {tip: {position: arm.tip}}
""",
}


@pytest.mark.parametrize("kind", PRESSED)
def test_conserving_steps_in_contact_have_their_derivatives(kind):
    """With forces, damping and friction of compliant contacts and the correction of their energy."""
    robot = sinew.Robot(text=PRESSED[kind])
    if kind == "free":
        robot.v[:6] = (1, 2, 3, 0.5, 0.2, 0)
    motion = robot.simulate(2e-3, "conserving")
    for _ in range(120 if kind == "arm" else 20):
        motion.step()
    map = robot.step_map(2e-3, None, ["tip"], scheme="conserving")
    point = map.begin(robot, ())
    to, _, (A, _, _, _) = map.linear_step(point, ())
    free = np.array(A)
    for k, e in enumerate(np.eye(map.nx)):
        x, _ = derivatives(map, point, np.zeros(0), to, e, np.zeros(0), 1e-4)
        for part in (slice(0, robot.nv), slice(robot.nv, None)):
            assert np.abs(free[part, k] - x[part]).max() < 1e-8 * np.abs(free[part]).max()
