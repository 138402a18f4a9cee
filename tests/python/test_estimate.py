# SPDX-License-Identifier: MIT
"""Filters and moving horizons against reference values, each other, and the statistics of their own errors."""

import numpy as np
import pytest

import sinew
from conftest import FOUR_BAR
from sinew import control, estimate
from test_linear import BEAM, MASSES, near
from test_optimal import CORDS

TOP = """
sinew: 1
robot: {top: {on: world, joint: spherical, damping: 0.01, body: {mass: 1.2, com: [0, 0, 0.1], inertia: [0.02, 0.025, 0.01]}}}
loads: {push: {on: top, force: [0, 0, 0 N], torque: [0, 0, 0 N*m]}}
probes: {turn: {rotation: top}, spin: {twist: top, in: body}}
"""


def masses():
    pytest.importorskip("scipy.linalg")
    return estimate.LinearSystem(control.zoh(sinew.Robot(text=MASSES).linearize(outputs="x2"), 0.02))


def test_a_filter_becomes_the_stationary_one():
    """Two masses: gain and standard deviations of the reference."""
    system = masses()
    seen = estimate.KalmanFilter(system, np.zeros(4), P=1.0, W=np.diag([0, 0, 1e-3, 0]) * 0.02, V=1e-6)
    for _ in range(3000):
        seen.update([0], [0])
    near(np.sqrt(np.diag(seen.P)), [0.00179209, 0.00059174, 0.01280317, 0.00845392], 1e-6)
    seen.predict([0])
    before, y = seen.point, system.linear_output(seen.point, [0])[0]
    seen.correct(y + 1)
    near(seen.point - before, [0.66453860, 0.35015045, 1.72771126, 3.75484542], 1e-7)


@pytest.mark.parametrize("horizon", [1, 3, 12])
def test_a_moving_horizon_is_the_filter_on_linear_systems(horizon):
    """Estimate and covariance, from the first step on, with an unknown force and lost measurements."""
    system, random = masses(), np.random.default_rng(1)
    given = dict(P=np.diag([0.1, 0.2, 1, 1]), W=np.diag([0, 0, 1e-3, 0]) * 0.02, V=1e-4, unknown={"push": 0.05}, initial={"push": (0.3, 0.5)})
    kalman = estimate.KalmanFilter(system, np.zeros(4), **given)
    moving = estimate.MovingHorizon(system, np.zeros(4), horizon=horizon, iterations=1, **given)
    for k in range(30):
        y = [np.nan] if k % 7 == 3 else [0.1 * random.standard_normal()]
        kalman.update([], y)
        moving.update([], y)
        near(moving.point, kalman.point, 1e-10)
        near(moving.P, kalman.P, 1e-10)
        assert moving.values["push"] == pytest.approx(kalman.values["push"], abs=1e-10)
    assert moving.log_likelihood == pytest.approx(kalman.log_likelihood, rel=1e-9)


def run(system, start, seed, steps, P, W, V, inputs, make):
    """A random motion with process noise, and an estimator of it from a random start: deviations of the truth."""
    random = np.random.default_rng(seed)

    def draw(M):
        value, vector = np.linalg.eigh(M)
        return vector @ (np.sqrt(np.maximum(value, 0)) * random.standard_normal(len(M)))

    truth = system.move(start, draw(P))
    seen = make(system, start, P, W, V)
    for n in range(steps):
        u = inputs(n)
        truth = system.move(system.step(truth, u)[0], draw(W))
        seen.update(u, system.output(truth, u) + draw(V))
    return system.difference(seen.point, truth), seen


def consistency(make, count, steps=25):
    """Mean of e'P^-1 e of a turning top whose rotation is measured: its dimension, if P tells the truth."""
    robot = sinew.Robot(text=TOP)
    robot.q[:] = (np.cos(0.5), np.sin(0.5), 0, 0)
    robot.v[:] = (1.0, 2.0, 4.0)
    system = robot.step_map(0.02, ["push.tx", "push.ty", "push.tz"], ["turn"], scheme="euler")
    P = np.diag([0.3] * 3 + [1.0] * 3) ** 2
    W = np.diag([0.0] * 3 + [0.05] * 3) ** 2
    V = np.eye(3) * 0.03**2
    start, squares = system.begin(robot, [0] * 3), []
    for seed in range(count):
        e, seen = run(system, start, seed, steps, P, W, V, lambda n: [0.05 * np.sin(0.3 * n), 0.05, 0], make)
        squares.append(e @ np.linalg.solve(seen.P, e))
    return np.array(squares)


def test_a_filter_knows_its_error():
    """60 random runs of a turning top: the sum of 6-dimensional squared errors is chi-squared with 360 degrees of freedom;
    99.9 % lie between 276 and 456."""
    squares = consistency(lambda *a: estimate.KalmanFilter(*a), 60)
    assert 276 < squares.sum() < 456
    assert squares.max() < 30  # chi-squared with 6 degrees: 4e-5


def test_a_moving_horizon_knows_its_error():
    squares = consistency(lambda *a: estimate.MovingHorizon(*a, horizon=4), 20, 12)
    assert 120 - 4 * np.sqrt(240) < squares.sum() < 120 + 4 * np.sqrt(240)


def test_corrections_change_axes():
    """After a large correction d the covariance is T(d) P T(d)', T the tangent map of SO(3) in closed form."""
    robot = sinew.Robot(text=TOP)
    system = robot.step_map(0.02, ["push.tx"], ["turn"], scheme="euler")
    P = np.diag([0.5, 0.4, 0.3, 0, 0, 0]) ** 2
    seen = estimate.KalmanFilter(system, system.begin(robot, [0]), P, 0.0, 0.01)
    seen.correct([0.6, -0.5, 0.4], u=[0])
    K = P[:, :3] @ np.linalg.inv(P[:3, :3] + 0.01 * np.eye(3))
    d = (K @ [0.6, -0.5, 0.4])[:3]
    angle = np.linalg.norm(d)
    x = np.array([[0, -d[2], d[1]], [d[2], 0, -d[0]], [-d[1], d[0], 0]])
    T = np.eye(3) - (1 - np.cos(angle)) / angle**2 * x + (angle - np.sin(angle)) / angle**3 * x @ x
    plain = P[:3, :3] - K[:3] @ P[:3, :3]
    near(seen.P[:3, :3], T @ plain @ T.T, 1e-10)
    q = seen.point[2:6]
    near(q, np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * d / angle]), 1e-12)


def test_an_arm_and_its_load_are_seen_from_gauges():
    """A tendon arm with a ball joint: strain gauges and the place of its hand show the shape and an unknown load; the history of the
    scheme is carried."""
    text = CORDS.replace("probes: {", "probes: {gauge: {strain: arm@20%}, ")
    truth, model = sinew.Robot(text=text), sinew.Robot(text=text, set={"wind.force": "[0, 0, 0]"})
    truth.set_load("wind", [0.03, 0.05, 0])
    outputs = ["gauge.bend_y", "gauge.bend_z", "tip"]
    for scheme in ("euler", "trapezoidal"):
        truth.q[:] = sinew.Robot(text=text).q
        truth.v[:] = 0
        truth.t = 0
        system = model.step_map(5e-3, ["cord(1)", "wind.fx", "wind.fy"], outputs, scheme=scheme)
        rates = {s.name: 1e-6 for s in system.states if s.name.endswith(".rate")}
        V = np.diag([1e-3] * 2 + [1e-4] * 3) ** 2
        seen = estimate.KalmanFilter(system, system.begin(model, [0, 0, 0]), P=1e-8, W=rates, V=V,
                                     unknown={"wind.fx": 1e-3, "wind.fy": 1e-3}, initial={"wind.fx": (0, 0.1), "wind.fy": (0, 0.1)})  # fmt: skip
        motion, random = truth.simulate(5e-3, scheme), np.random.default_rng(3)
        for n in range(200):
            truth.controls["cord(1)"] = u = 2.0 + np.sin(0.1 * n)
            motion.step()
            y = np.concatenate([[truth.probe("gauge")[1], truth.probe("gauge")[2]], truth.probe("tip")])
            seen.update([u], y + np.sqrt(np.diag(V)) * random.standard_normal(5))
        for name, value in (("wind.fx", 0.03), ("wind.fy", 0.05)):
            assert abs(seen.values[name] - value) < 4 * seen.deviations[name]
            assert seen.deviations[name] < 0.02
        _, q, _ = system.state(seen.point)
        e = system.difference(seen.point, system.begin(truth, [u, 0.03, 0.05]))[: truth.nv]
        spread = seen.P[: truth.nv, : truth.nv] + 1e-12 * np.eye(truth.nv)
        assert e @ np.linalg.solve(spread, e) < 30  # 6 coordinates
        assert len(q) == truth.nq


def test_loops_stay_closed():
    """A four-bar linkage from one measured angle: the covariance lies in the null space of the constraints, the estimate
    on them, and it converges."""
    text = FOUR_BAR.replace("probes:", "actuators: {motor: {joint: crank, effort: 0}}\nprobes:").replace(
        "probes: {", "probes: {angle: {angle: crank}, ")
    truth, model = sinew.Robot(text=text), sinew.Robot(text=text)
    system = model.step_map(2e-3, ["motor"], ["angle"], scheme="generalized-alpha")
    model.simulate(2e-3)  # closes the loop
    start = system.begin(model, [0.2])
    P = np.zeros((system.nx, system.nx))
    P[:3, :3], P[3:6, 3:6] = np.eye(3) * 0.05**2, np.eye(3) * 0.3**2
    seen = estimate.KalmanFilter(system, start, P, {s.name: 1e-7 for s in system.states if s.name.endswith(".rate")}, 1e-6)
    first = np.zeros(system.nx)
    first[0] = 0.06
    N = system.project(start)[1]
    point = system.project(system.move(start, N @ first))[0]
    _, truth.q[:], truth.v[:] = system.state(point)
    truth.controls["motor"] = 0.2
    motion, random = truth.simulate(2e-3), np.random.default_rng(0)
    for _ in range(100):
        motion.step()
        seen.update([0.2], [truth.probe("angle") + 1e-3 * random.standard_normal()])
        _, model.q[:], model.v[:] = system.state(seen.point)
        C, gap = model.constraint_jacobian()
        assert np.abs(gap).max() < 1e-9
        assert np.abs(C @ seen.P[:3, :3]).max() < 1e-9 * np.abs(seen.P).max()
        assert np.abs(C @ model.v).max() < 1e-8
    _, q, v = system.state(seen.point)
    deviations = np.sqrt(np.diag(seen.P))
    assert (np.abs(q - truth.q) < 4 * deviations[:3]).all() and (np.abs(v - truth.v) < 4 * deviations[3:6]).all()
    assert deviations[0] < 2e-3 and deviations[3] < 0.1


# ---- equilibria


def test_the_force_on_an_elastica_is_found():
    """Force 2 on a unit cantilever: place of the tip by elliptic integrals; its standard deviation from their derivatives."""
    soft = BEAM.replace("stiffness: {bend_z: 1}", "stiffness: {bend_z: 1}, damping: {bend_z: 0.1}")
    robot = sinew.Robot(text=soft)
    seen = estimate.StaticFilter(robot, {"push.fy": (0.0, 100.0)}, ["tip.x", "tip.y"], V=1e-12)
    seen.update([0.839358279174833, 0.493457480396712])
    assert seen.values["push.fy"] == pytest.approx(2, abs=1e-6)
    assert seen.deviations["push.fy"] == pytest.approx(1e-6 / np.hypot(0.102876897296855, 0.142546214828556), rel=1e-5)
    assert 2 < seen.iterations < 20 and seen.converged
    angle, spread = seen.output("turn.rz")
    assert angle[0] == pytest.approx(0.781749831556543, abs=1e-7)
    assert np.sqrt(spread[0, 0]) == pytest.approx(0.253014804550978 * seen.deviations["push.fy"], rel=1e-5)


def test_static_gains_are_those_of_equilibria():
    """Against differences, and the gain at zero frequency of the linear model."""
    robot = sinew.Robot(text=CORDS)
    robot.controls["cord(1)"], robot.controls["cord(2)"] = 2.0, 0.5
    robot.equilibrium()
    gain = robot.static_gain(["cord(1)", "wind.fx"], ["tip", "turn"])
    assert gain.A.shape == (0, 0) and len(gain.outputs) == 6
    near(gain.D, robot.linearize(["cord(1)", "wind.fx"], ["tip", "turn"]).dc_gain(), 1e-8)
    ends = []
    for u in (2.001, 1.999):
        robot.controls["cord(1)"] = u
        robot.equilibrium()
        ends.append(robot.probe("tip"))
    near(gain.D[:3, 0], (ends[0] - ends[1]) / 2e-3, 1e-5)
    with pytest.raises(sinew.Error, match="no inputs of static gains"):
        robot.static_gain(["rubber.young"], "tip")


def test_tension_and_load_are_found_from_shape():
    """Tendon tension and tip load together, step by step as they change, from noisy poses and gauges: errors within their
    standard deviations."""
    text = CORDS.replace("probes: {", "probes: {gauge: {strain: arm@20%}, ")
    truth = sinew.Robot(text=text)
    outputs = ["tip", "gauge.bend_y", "gauge.bend_z"]
    V = np.diag([5e-4] * 3 + [0.02] * 2) ** 2
    seen = estimate.StaticFilter(sinew.Robot(text=text), {"cord(1)": (1, 2), "wind.fx": (0, 0.1), "wind.fy": (0, 0.1)}, outputs, V,
                                 walk={"wind.fx": 0.01, "cord(1)": 0.05})  # fmt: skip
    random, squares = np.random.default_rng(8), []
    tension, force = 2.0, 0.02
    for _ in range(20):
        tension, force = tension + 0.05 * random.standard_normal(), force + 0.01 * random.standard_normal()
        truth.controls["cord(1)"] = tension
        truth.set_load("wind", [force, -0.04, 0])
        truth.equilibrium()
        y = np.concatenate([truth.probe("tip"), truth.probe("gauge")[1:3]])
        seen.update(y + np.sqrt(np.diag(V)) * random.standard_normal(5))
        e = seen.w - [tension, force, -0.04]
        squares.append(e @ np.linalg.solve(seen.P, e))
    assert 15 < np.sum(squares) < 140  # 60 expected; instants are not independent
    assert seen.deviations["wind.fy"] < 0.01


@pytest.mark.parametrize("kind", [estimate.KalmanFilter, estimate.MovingHorizon])
def test_inputs_that_nothing_shows_are_named(kind):
    """A cart on a rail: a force across it is not seen, and of two along it only the sum."""
    cart = sinew.Robot(text="""
sinew: 1
gravity: 0
robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: 20, damping: 4, body: {mass: 0.5}}}
loads: {push: {on: cart, force: [0 N, 0 N, 0]}, pull: {on: cart, force: [0 N, 0, 0]}}
probes: {at: {value: cart}}
""")
    steps = cart.step_map(0.01, ["push.fx", "push.fy", "pull.fx"], "at", scheme="euler")
    names = ("push.fx", "push.fy", "pull.fx")
    seen = kind(steps, steps.begin(cart, [0, 0, 0]), P=0, W=0, V=1e-8, unknown=dict.fromkeys(names, 0.01),
                initial=dict.fromkeys(names, (0, 2.0)))  # fmt: skip
    for k in range(50):
        seen.update([], [0.05 * (1 - np.cos(0.1 * k))])
    size = np.sqrt(4 + 50 * 1e-4)
    across, along = sorted(seen.unseen, key=len)
    near(across["push.fy"], size, 1e-12)
    assert set(along) == {"push.fx", "pull.fx"}
    near(along["push.fx"], -along["pull.fx"], 1e-6)


def test_wrong_arguments_are_refused():
    system = masses()
    for message, options in (("there is no input", {"unknown": {"pull": 1}}), ("positive", {"V": 0}), ("not be negative", {"P": -1}),
                             ("there is no", {"W": {"x9": 1}})):  # fmt: skip
        with pytest.raises(sinew.ArgumentError, match=message):
            estimate.KalmanFilter(system, np.zeros(4), **({"P": 1, "W": 0, "V": 1} | options))
    seen = estimate.KalmanFilter(system, np.zeros(4), 1, 0, 1)
    with pytest.raises(sinew.ArgumentError, match="known inputs"):
        seen.correct([0])
    with pytest.raises(sinew.ArgumentError, match="finite"):
        seen.update([0], [np.inf])
    with pytest.raises(sinew.ArgumentError, match="horizon"):
        estimate.MovingHorizon(system, np.zeros(4), 1, 0, 1, horizon=0)
    with pytest.raises(sinew.ArgumentError, match="by itself"):
        estimate.StaticFilter(sinew.Robot(text=CORDS), {"wind": (0, 1)}, "tip", 1)


# ---- the filter of the library, which the command uses


class Library:
    """The filter of the C library, with the interface of KalmanFilter."""

    def __init__(self, system, point, P, W, V, unknown={}, initial={}):
        from sinew._core import doubles, ffi, lib, new_error, raise_error

        self.doubles, self.lib, self.fail, self.err = doubles, lib, raise_error, new_error()
        kept = [ffi.new("char[]", n.encode()) for n in unknown]
        inputs = ffi.new("snw_estimate_input[]", len(unknown) or 1)
        for i, (name, walk) in enumerate(unknown.items()):
            inputs[i].name, inputs[i].walk = kept[i], walk
            inputs[i].value, inputs[i].deviation = initial.get(name, (0, 0))
        arrays = [np.ascontiguousarray(np.diag(M)) for M in (P, W, V)]
        how = ffi.new("snw_estimate_options *")
        how.nunknown, how.unknown = len(unknown), inputs
        how.first, how.process, how.noise = map(doubles, arrays)
        out = ffi.new("snw_estimator **")
        self.check(lib.snw_estimator_open(system._map, how, out, self.err))
        self.e, self.system = ffi.gc(out[0], lib.snw_estimator_close), system
        self.check(lib.snw_estimator_begin(self.e, doubles(np.ascontiguousarray(point)), self.err))
        self.names, self.buffer = list(unknown), ffi.buffer

    def check(self, status):
        if status:
            self.fail(self.err)

    def update(self, u, y):
        u, y = (np.array(x, dtype=float) for x in (u, y))
        self.check(self.lib.snw_estimator_predict(self.e, self.doubles(u), self.err))
        self.check(self.lib.snw_estimator_correct(self.e, self.doubles(u), self.doubles(y), self.err))

    def array(self, name, *shape):
        pointer = getattr(self.lib.snw_estimator_view(self.e), name)
        return np.frombuffer(self.buffer(pointer, 8 * int(np.prod(shape))), dtype=float).reshape(shape).copy()


@pytest.mark.parametrize("kind", ["top", "arm", "loop"])
def test_the_filter_of_the_library_is_that_of_python(kind):
    """Estimates, covariances, likelihoods: two programs of the same equations, on rotations, unknown loads and a loop."""
    unknown, initial = {}, {}
    if kind == "top":
        robot = sinew.Robot(text=TOP)
        robot.q[:], robot.v[:] = (np.cos(1.3), np.sin(1.3), 0, 0), (2.0, 1.0, 4.0)
        inputs, outputs, u, scheme = ["push.tx"], ["turn"], [0.1], "euler"
    elif kind == "arm":
        robot = sinew.Robot(text=CORDS)
        inputs, outputs, u, scheme = ["cord(1)", "wind.fx", "wind.fy"], ["tip"], [2.0, 0, 0], "generalized-alpha"
        unknown, initial = {"wind.fx": 1e-3, "wind.fy": 2e-3}, {"wind.fx": (0.01, 0.1), "wind.fy": (0, 0.2)}
    else:
        robot = sinew.Robot(text=FOUR_BAR.replace("probes:", "actuators: {motor: {joint: crank, effort: 0}}\nprobes:"))
        robot.simulate(1e-3)
        inputs, outputs, u, scheme = ["motor"], ["end"], [0.2], "bdf2"
    system = robot.step_map(0.01 if kind != "loop" else 2e-3, inputs, outputs, scheme=scheme)
    start, nv = system.begin(robot, u), robot.nv
    P, W = np.zeros((system.nx, system.nx)), np.zeros((system.nx, system.nx))
    P[:nv, :nv], W[nv : 2 * nv, nv : 2 * nv] = np.eye(nv) * 0.05**2, np.eye(nv) * 0.02**2
    V = np.eye(system.ny) * 0.01**2
    ours = estimate.KalmanFilter(system, start, P, W, V, unknown=unknown, initial=initial)
    theirs = Library(system, start, P, W, V, unknown, initial)
    known = [x for x, name in zip(u, inputs) if name not in unknown]
    off = np.concatenate([0.03 * np.ones(nv), np.zeros(system.nx - nv)])
    truth, random = system.project(system.move(start, off))[0], np.random.default_rng(2)
    for k in range(25):
        truth, y = system.step(truth, u)
        y = y + 0.01 * random.standard_normal(system.ny)
        if k % 5 == 2:
            y[0] = np.nan
        ours.update(known, y)
        theirs.update(u, y)
    n = system.nx + len(unknown)
    near(theirs.array("point", system.size), ours.point, 1e-6)  # Newton's tolerance
    near(theirs.array("covariance", n, n), ours.P, 1e-6)
    if unknown:
        near(theirs.array("unknown", len(unknown)), list(ours.values.values()), 1e-6)
    assert theirs.lib.snw_estimator_view(theirs.e).log_likelihood == pytest.approx(ours.log_likelihood, rel=1e-6)
    with pytest.raises(sinew.Error, match="positive"):
        Library(system, start, P, W, 0 * V)
