# SPDX-License-Identifier: MIT
"""Inverse dynamics over a horizon: non-causal inversion of a linear system, known inputs, a flexible link, mistakes."""

import pathlib

import numpy as np
import pytest

import sinew

ROOT = pathlib.Path(__file__).resolve().parents[2]

# two links with a spring between them, a motor at the first hinge: the tip moves the other way first
LINKS = """
sinew: 1
gravity: 0
robot:
  a: {on: world, joint: revolute, axis: y, body: {mass: 0.5 kg, com: [0.2, 0, 0], inertia: [0.01, 0.01, 0.01]}}
  b: {on: a, pose: {xyz: [0.4, 0, 0]}, joint: revolute, axis: y, stiffness: 0.5, damping: 0.02, body: {mass: 0.3 kg, com: [0.2, 0, 0], inertia: [0.001, 0.001, 0.001]}}
sites: {end: {on: b, pose: {xyz: [0.4, 0, 0]}}}
actuators: {motor: {joint: a, effort: 0}}
loads: {push: {on: end, force: [0, 0, 0]}}
probes: {tip: {position: end}, angle: {angle: a}, pull: {reaction: a}, speed: {velocity: end}}
"""
MASS = np.array([[0.01 + 0.5 * 0.04 + 0.001 + 0.3 * 0.36, 0.001 + 0.3 * 0.2 * 0.6], [0.001 + 0.3 * 0.2 * 0.6, 0.001 + 0.3 * 0.04]])


def discrete(h):
    """Step of the trapezoidal rule of the links at small angles, inputs constant over it; tip.z."""
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(MASS, np.diag([0, 0.5])), -np.linalg.solve(MASS, np.diag([0, 0.02]))]])  # fmt: skip
    B = np.r_[0, 0, np.linalg.solve(MASS, [1, 0])]
    left = np.eye(4) - h / 2 * A
    return np.linalg.solve(left, np.eye(4) + h / 2 * A), np.linalg.solve(left, h * B), np.array([-0.8, -0.4, 0, 0])


def test_the_inverse_of_a_system_that_is_not_of_minimum_phase():
    h, steps, period = 0.02, 200, 2048
    t = h * np.arange(1, steps + 1)
    s = (t - 1.5) / 0.5
    bump = 1e-4 * np.where(abs(s) < 1, (1 - s**2) ** 6, 0)
    A, B, C = discrete(h)
    # stable inversion: in the frequencies of a long period, u = y/G, which is not causal
    z = np.exp(2j * np.pi * np.arange(period) / period)
    # a rigid turn is undetermined; the rule hardly sees an input that alternates, and the bump has none
    G = np.array([np.inf if k == 0 or abs(z[k] + 1) < 0.3 else C @ np.linalg.solve(z[k] * np.eye(4) - A, B) for k in range(period)])
    y = np.zeros(period)
    y[1 : steps + 1] = bump
    u = np.fft.ifft(np.fft.fft(y) / G).real
    assert abs(u[:49]).max() > 1e-3 * abs(u).max()  # before the tip moves
    found = sinew.Robot(text=LINKS).track("tip.z", bump, h, effort=1e-12, tolerance=0)
    assert found.converged and found.largest < 1e-9 * bump.max() / 1e-4
    # inputs that alternate are free to 1e-3 of the others: the rule hardly sees them
    assert found.u[:, 0] == pytest.approx(u[:steps], abs=1e-3 * abs(u).max())
    smooth = (found.u[1:, 0] + found.u[:-1, 0]) / 2
    assert smooth == pytest.approx((u[1:steps] + u[: steps - 1]) / 2, abs=1e-4 * abs(u).max())


def test_known_inputs_are_found_again():
    robot = sinew.Robot(text=LINKS)
    h, steps = 0.02, 60
    rng = np.random.default_rng(1)
    t = h * np.arange(steps)
    wanted = np.c_[0.5 * np.sin(4 * t) + 0.2 * np.cos(7 * t), 0.3 * np.cos(3 * t)]
    robot.q[:] = rng.uniform(-0.5, 0.5, 2)
    robot.v[:] = rng.uniform(-1, 1, 2)
    other = sinew.Robot(text=LINKS)
    other.q[:], other.v[:] = robot.q, robot.v
    y = []
    for n in range(steps):
        other.controls["motor"] = wanted[n, 0]
        other.set_load("push", force=[0, 0, wanted[n, 1]])
        sim = other.simulate(h, "trapezoidal", tolerance=1e-13)
        sim.step()
        y.append(np.r_[other.probe("angle"), other.probe("tip")[2]])
    q = robot.q.copy()
    found = robot.track(["angle", "tip.z"], y, h, ["motor", "push.fz"], effort=1e-14, tolerance=0)
    assert np.array_equal(robot.q, q)  # it stays where it is
    assert found.converged and found.error < 1e-9
    assert found.u == pytest.approx(wanted, abs=1e-4)
    assert found.squares == pytest.approx(h * np.sum(found.u**2), rel=1e-12)
    assert np.hypot(*(found.y - y).T).max() < 1e-8


def test_a_flexible_link_prepares_its_motion():
    link = ROOT / "examples" / "control" / "flexible_link.yaml"
    robot = sinew.Robot(link, run="free", set={"initial.arm.strain.bend_y": "0 1/m"})
    robot.controls["motor"] = 0.0
    h, T = 0.02, 0.6

    def goal(before):
        t = h * np.arange(1, round((before + T + 0.6) / h) + 1) - before
        s = np.clip(t / T, 0, 1)
        return t, -0.3 * (35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7)

    t, z = goal(0.4)
    prepared = robot.track("tip.z", z, h, "motor")
    assert prepared.converged and prepared.largest < 1e-5
    assert abs(prepared.u[t < -h]).max() > 0.02  # it pulls back first
    _, late = goal(0.0)
    at_once = robot.track("tip.z", late, h, "motor", iterations=15)
    assert at_once.largest > 50 * prepared.largest and abs(at_once.u).max() > 10 * abs(prepared.u).max()
    # the inputs in another scheme with shorter steps move the tip as wanted, but for the error of the steps of 20 ms
    sim = robot.simulate(h / 4, "gauss4")
    for n, u in enumerate(prepared.u[:, 0]):
        robot.controls["motor"] = u
        sim.step(count=4)
        assert robot.probe("tip")[2] == pytest.approx(z[n], abs=2e-3)


def test_targets_at_the_end_only():
    # rest to rest: the least squares of the torque of a double integrator are 12 J^2 a^2/T^3
    text = LINKS.split("robot:")[0] + """
robot: {a: {on: world, joint: revolute, axis: y, body: {mass: 0, inertia: [0.5, 0.5, 0.5]}}}
actuators: {motor: {joint: a, effort: 0}}
probes: {angle: {angle: a}, rate: {rate: a}}
"""
    steps, h = 100, 0.01
    targets = np.full((steps, 2), np.nan)
    targets[-1] = 1, 0
    found = sinew.Robot(text=text).track(["angle", "rate"], targets, h, effort=1e-12, tolerance=0)
    assert found.y[-1] == pytest.approx([1, 0], abs=1e-6)
    # with constant inputs over the steps: 12/(1 - 1/steps^2)
    assert found.squares == pytest.approx(0.25 * 12 / (1 - 1 / steps**2), rel=1e-5)


def test_changes_of_inputs_are_weighted():
    # a wheel that follows a parabola: the torque is J a; with a weight on its changes alone the sum of the squares has its
    # minimum where the normal equations say, A'A u + s D'D u = A'y
    text = LINKS.split("robot:")[0] + """
robot: {a: {on: world, joint: revolute, axis: y, body: {mass: 0, inertia: [0.5, 0.5, 0.5]}}}
actuators: {motor: {joint: a, effort: 0}}
probes: {angle: {angle: a}}
"""
    steps, h = 30, 0.01
    rng = np.random.default_rng(3)
    wanted = 1e-3 * np.cumsum(np.cumsum(rng.standard_normal(steps)))
    step = np.array([[1, h], [0, 1]])
    A = np.zeros((steps, steps))
    for k in range(steps):
        x = np.array([h * h / 2, h]) / 0.5  # trapezoidal rule: the torque is constant over the step
        for n in range(k, steps):
            A[n, k] = x[0]
            x = step @ x
    size, smooth, effort = np.sum(A[:, 0] ** 2), 1e-4, 1e-12
    D = np.diff(np.eye(steps), axis=0)
    u = np.linalg.solve(A.T @ A + size * (smooth * D.T @ D + effort * np.eye(steps)), A.T @ wanted)
    found = sinew.Robot(text=text).track("angle", wanted, h, effort=effort, smooth=smooth, tolerance=0)
    assert found.u[:, 0] == pytest.approx(u, abs=1e-6 * abs(u).max())
    assert found.cost == pytest.approx(0.5 * np.sum((A @ u - wanted) ** 2) + 0.5 * size * (smooth * np.sum((D @ u) ** 2) + effort * u @ u), rel=1e-6)
    # where targets are free nothing keeps changes small
    free = np.full(steps, np.nan)
    free[-1] = 0.1
    plain, other = (sinew.Robot(text=text).track("angle", free, h, smooth=s) for s in (0.0, 1.0))
    assert np.array_equal(plain.u, other.u)
    assert found.alternation < sinew.Robot(text=text).track("angle", wanted, h, effort=effort, tolerance=0).alternation


def test_efforts_along_a_given_motion_are_exact():
    # both hinges given: their efforts are the inverse dynamics of the motion
    text = LINKS.replace("actuators: {motor: {joint: a, effort: 0}}", f"""
actuators: {{one: {{joint: a, position: '0.3*sin(4*t/(1 s))'}}, two: {{joint: b, position: '0.2*cos(3*t/(1 s)) - 0.2'}}}}
study: [dynamic: {{for: 1 s, step: 10 ms, scheme: trapezoidal}}]
initial: {{a: {{rate: 1.2}}}}
""").replace("probes: {", "probes: {one: {effort: one}, two: {effort: two}, ")  # fmt: skip
    run = sinew.Study(sinew.Model(text=text)).run()
    free = sinew.Robot(text=LINKS)
    t = run.t[-1]
    q = [0.3 * np.sin(4 * t), 0.2 * np.cos(3 * t) - 0.2]
    v = [1.2 * np.cos(4 * t), -0.6 * np.sin(3 * t)]
    a = [-4.8 * np.sin(4 * t), -1.8 * np.cos(3 * t)]
    tau = free.inverse_dynamics(a, q=q, v=v)
    assert np.r_[run["one"][-1], run["two"][-1]] == pytest.approx(tau, abs=1e-3 * abs(tau).max())


@pytest.mark.parametrize("outputs, targets, more, message", [
    ("tip.z", [], {}, "row of outputs"),
    ("tip.z", [[0, 0]], {}, "2 columns"),
    ("nothing", [0], {}, "nothing"),
    ("pull.fz", [0], {}, "at once"),
    ("tip.z", [np.nan], {}, "all are NaN"),
    ("tip.z", [np.inf], {}, "infinite"),
    ("tip.z", [0], {"weights": -1}, "positive"),
    ("tip.z", [0], {"weights": [1, 2]}, "1 numbers"),
    ("tip.z", [0], {"effort": 0}, "positive"),
    ("tip.z", [0], {"inputs": "engine"}, "engine"),
    ("tip.z", [0], {"first": [[1, 2]]}, "1 columns"),
])  # fmt: skip
def test_mistakes(outputs, targets, more, message):
    with pytest.raises(sinew.Error, match=message):
        sinew.Robot(text=LINKS).track(outputs, targets, 0.01, **more)


# a mass on a slide: rest to rest over the distance d in the least time with |u| <= F is bang-bang, T = 2 sqrt(m d/F)
SLIDE = """
sinew: 1
gravity: 0
robot: {a: {on: world, joint: prismatic, axis: x, body: {mass: 2 kg, inertia: [1, 1, 1]}}}
actuators: {motor: {joint: a, effort: 0}}
probes: {x: {value: motor}, speed: {rate: motor}}
"""


def bang(limit, h=0.02, steps=50, **more):
    """Targets of rest at 0.25 m at the last two steps; the mass needs 1.4142/sqrt(F) s."""
    wanted = np.full((steps, 2), np.nan)
    wanted[-1] = [0.25, 0]
    return sinew.Robot(text=SLIDE).track(["x", "speed"], wanted, h, limits={"motor": (-limit, limit)}, weights=[1, 1], **more)


def test_limits_of_inputs_hold():
    # 1 s: with 2 N just possible, all inputs at their limits; a triangle of velocity
    tight = bang(2.0 * 1.0005)
    assert tight.converged and tight.largest < 1e-3
    assert abs(tight.u).max() <= 2.001 and np.all(tight.u[:24] > 1.9) and np.all(tight.u[26:] < -1.9)
    # with 1 N it does not get there: full force forth and back, the nearest point balances both errors
    weak = bang(1.0)
    assert weak.converged and weak.limited >= 45
    assert abs(weak.u).max() <= 1 and np.sum(abs(weak.u) > 0.999) >= 45
    # wide limits change nothing
    free, wide = sinew.Robot(text=SLIDE), bang(1e3)
    wanted = np.full((50, 2), np.nan)
    wanted[-1] = [0.25, 0]
    plain = free.track(["x", "speed"], wanted, 0.02, weights=[1, 1])
    assert wide.u == pytest.approx(plain.u, abs=1e-3 * abs(plain.u).max())
    assert wide.limited == 0 and plain.multiplier is None


def test_multipliers_are_what_the_cost_falls():
    h = 1e-3
    low, high = bang(1.0 - h), bang(1.0 + h)
    here = bang(1.0)
    assert here.multiplier.sum() == pytest.approx((low.cost - high.cost) / (2 * h), rel=1e-3)


def test_rates_of_inputs_hold():
    found = sinew.Robot(text=SLIDE).track("x", np.r_[np.full(49, np.nan), 0.25], 0.02, rates={"motor": 1.5})
    # from rest: the force rises at the rate at first, 0.03 N in each step
    changes = np.diff(np.r_[0, found.u[:, 0]])
    assert found.converged and abs(changes).max() <= 0.03 * (1 + 1e-9) and np.sum(changes > 0.0299) >= 5
    assert found.rate_multiplier[0, 0] > 0
    both = sinew.Robot(text=SLIDE).track("x", np.r_[np.full(49, np.nan), 0.25], 0.02, rates={"motor": 3.0}, limits={"motor": (None, 0.8)})
    changes = np.diff(np.r_[0, both.u[:, 0]])
    assert both.converged and abs(changes).max() <= 0.06 * (1 + 1e-9) and both.u.max() <= 0.8
    assert np.sum(both.u > 0.799) > 5


def test_limits_that_leave_nothing_are_named():
    robot = sinew.Robot(text=SLIDE)
    with pytest.raises(sinew.ArgumentError, match="limits of 'motor' leave nothing"):
        robot.track("x", [0.1, 0.2], 0.02, limits={"motor": (2, 1)})
    with pytest.raises(sinew.ArgumentError, match="leave nothing"):
        robot.track("x", [0.1, 0.2], 0.02, limits={"motor": (5, 6)}, rates={"motor": 1})
    with pytest.raises(sinew.ArgumentError, match="'moto' has limits"):
        robot.track("x", [0.1, 0.2], 0.02, limits={"moto": (5, 6)})
