# SPDX-License-Identifier: MIT
"""Inverse dynamics over a horizon with loops: closed form of a parallelogram, Lagrange's equations of a five-bar, known inputs."""

import pathlib

import numpy as np
import pytest

import sinew

ROOT = pathlib.Path(__file__).resolve().parents[2]

# cranks of 0.2 m turn together, and the bar of 2 kg between them moves on a circle: one coordinate, J = 2 0.5 + 2 0.2^2
PARALLELOGRAM = """
sinew: 1
gravity: 0
robot:
  crank: {on: world, joint: revolute, axis: y, body: {mass: 0, inertia: [0.5, 0.5, 0.5]}}
  bar: {on: crank, pose: {xyz: [0, 0, 0.2]}, joint: revolute, axis: y, body: {mass: 2 kg, com: [0.25, 0, 0], inertia: [0.01, 0.01, 0.01]}}
  other: {on: world, pose: {xyz: [0.5, 0, 0]}, joint: revolute, axis: y, body: {mass: 0, inertia: [0.5, 0.5, 0.5]}}
sites: {end: {on: other, pose: {xyz: [0, 0, 0.2]}}, tip: {on: bar, pose: {xyz: [0.5, 0, 0]}}}
loops: {pin: {join: [tip, end], as: revolute, axis: y}}
actuators: {motor: {joint: crank, effort: 0 N*m}}
probes: {angle: {angle: crank}, rate: {rate: crank}, force: {reaction: pin}, bar: {position: bar}}
"""
J = 1.08


def test_a_parallelogram_from_rest_to_rest():
    # constant inputs over 100 steps: torque falls linearly, 12 J a (1/2 - t) at the middles of steps over 1 - h^2
    h = 0.01
    wanted = np.full((100, 2), np.nan)
    wanted[-1] = [1, 0]
    found = sinew.Robot(text=PARALLELOGRAM).track(["angle", "rate"], wanted, h, effort=1e-12)
    t = h * (np.arange(100) + 0.5)
    exact = 12 * J * (0.5 - t) / (1 - h**2)
    assert found.converged and found.largest < 1e-9
    assert found.u[:, 0] == pytest.approx(exact, abs=1e-8 * exact[0])


def test_limits_of_a_loop_hold():
    # at most the torque that bang-bang needs, a = F/J
    wanted = np.full((50, 2), np.nan)
    wanted[-1] = [0.25, 0]
    found = sinew.Robot(text=PARALLELOGRAM).track(["angle", "rate"], wanted, 0.02, weights=[1, 1], limits={"motor": (-1.0005 * J, 1.0005 * J)})
    assert found.converged and found.largest < 1e-3
    assert abs(found.u).max() <= 1.001 * J and np.all(found.u[:24] > 0.95 * J) and np.all(found.u[26:] < -0.95 * J)


def test_a_given_coordinate_follows_its_law():
    # a slide on a carriage of given motion s(t), free to slide against it: its absolute place is u/m twice integrated, whatever s does
    text = """
sinew: 1
gravity: 0
robot:
  cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg, inertia: [1, 1, 1]}}
  slide: {on: cart, joint: prismatic, axis: x, body: {mass: 2 kg, inertia: [1, 1, 1]}}
actuators: {drive: {joint: cart, position: 0.1*sin(5*t/(1 s))^2}, motor: {joint: slide, effort: 0}}
probes: {place: {position: slide}, cart: {position: cart}}
"""
    h, n = 0.02, np.arange(1, 31)
    c = 0.3  # m/s^2: a force of 0.6 N
    found = sinew.Robot(text=text).track("place.x", c / 2 * (n * h) ** 2, h, effort=1e-14, tolerance=0)
    assert found.u.shape == (30, 1)
    assert found.converged and found.u[:, 0] == pytest.approx(np.full(30, 2 * c), abs=1e-6)


FIVE_BAR = """
sinew: 1
gravity: [0, 0, -9.81]
parameters: {knee: asin((0.1 + 0.2*sin(40 deg))/0.3)}
robot:
  a1: {on: world, pose: {xyz: [-0.1, 0, 0]}, joint: revolute, axis: y, body: {mass: 0.5 kg, com: [0, 0, 0.1], inertia: [2e-3, 2e-3, 2e-3]}}
  b1: {on: a1, pose: {xyz: [0, 0, 0.2]}, joint: revolute, axis: y, body: {mass: 0.3 kg, com: [0, 0, 0.15], inertia: [1e-3, 1e-3, 1e-3]}}
  a2: {on: world, pose: {xyz: [0.1, 0, 0]}, joint: revolute, axis: y, body: {mass: 0.5 kg, com: [0, 0, 0.1], inertia: [2e-3, 2e-3, 2e-3]}}
  b2: {on: a2, pose: {xyz: [0, 0, 0.2]}, joint: revolute, axis: y, body: {mass: 0.3 kg, com: [0, 0, 0.15], inertia: [1e-3, 1e-3, 1e-3]}}
initial: {a1: -40 deg, b1: 40 deg + knee, a2: 40 deg, b2: -40 deg - knee}
sites: {end1: {on: b1, pose: {xyz: [0, 0, 0.3]}}, end2: {on: b2, pose: {xyz: [0, 0, 0.3]}}}
loops: {pin: {join: [end1, end2], as: revolute, axis: y}}
actuators: {motor(1): {joint: a1, effort: 0 N*m}, motor(2): {joint: a2, effort: 0 N*m}}
probes: {hand: {position: end1}, q1: {angle: a1}, q2: {angle: a2}}
"""
MASSES, INERTIAS = np.tile([0.5, 0.3], 2), np.tile([2e-3, 1e-3], 2)


def cranks(t):
    return np.array([np.deg2rad(-40) + 0.15 * (1 - np.cos(4 * t)), np.deg2rad(40) + 0.1 * (1 - np.cos(6 * t))])


def bars(q):
    """x, z of the centres of the four bars and their angles from the vertical: the hand is where two circles meet."""
    turned = [np.array([np.sin(a), np.cos(a)]) for a in q]
    feet = np.array([[-0.1, 0], [0.1, 0]])
    knees = [feet[k] + 0.2 * turned[k] for k in (0, 1)]
    d = knees[1] - knees[0]
    hand = (knees[0] + knees[1]) / 2 + np.sqrt(0.09 / (d @ d) - 0.25) * np.array([-d[1], d[0]])
    rows = []
    for k in (0, 1):
        rows.append([*(feet[k] + 0.1 * turned[k]), q[k]])
        arm = hand - knees[k]
        rows.append([*((knees[k] + hand) / 2), np.arctan(arm[0] / arm[1])])
    return np.array(rows)


def torques(t):
    """Lagrange: sum over the bars of m (a + g) dp/dq + I a_angle dangle/dq, by complex steps and differences of order 8."""
    h, w = 2e-3, [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]
    acc = (w[0] * bars(cranks(t)) + sum(w[k] * (bars(cranks(t + k * h)) + bars(cranks(t - k * h))) for k in range(1, 5))) / h**2
    acc[:, 1] += 9.81
    force = acc * np.c_[MASSES, MASSES, INERTIAS]
    return np.array([np.sum(force * bars(cranks(t) + 1e-30j * e).imag / 1e-30) for e in np.eye(2)])


def test_a_five_bar_against_lagranges_equations():
    errors = []
    for steps in (20, 40):
        h = 0.8 / steps
        t = h * np.arange(1, steps + 1)
        exact = np.array([torques(s) for s in t - h / 2])
        first = np.tile(torques(0), (steps, 1))
        found = sinew.Robot(text=FIVE_BAR).track(["q1", "q2"], cranks(t).T, h, effort=1e-13, tolerance=0, first=first)
        assert found.converged and found.largest < 1e-7
        # an alternation hardly moves the ends of steps: means of neighbouring steps
        mean = [(u[1:] + u[:-1]) / 2 for u in (found.u, exact)]
        errors.append(abs(mean[0] - mean[1]).max() / abs(exact).max())
    assert errors[0] < 5e-4 and 3.5 < errors[0] / errors[1] < 4.5  # order 2


def test_a_robot_that_falls_is_held():
    # without torques it falls through singular configurations: the horizon grows
    h = 0.04
    t = h * np.arange(1, 16)
    found = sinew.Robot(text=FIVE_BAR).track(["q1", "q2"], cranks(t).T, h, effort=1e-12)
    exact = np.array([torques(s) for s in t - h / 2])
    assert found.converged and found.largest < 1e-5
    assert found.u == pytest.approx(exact, abs=5e-3 * abs(exact).max())


def test_known_torques_of_soft_limbs_are_found_again():
    inputs, outputs, h, steps = ["motor(1)", "motor(2)"], ["tip.x", "tip.y"], 0.01, 20
    robot = sinew.Robot(ROOT / "examples" / "parallel" / "rfrfr.yaml")
    robot.equilibrium(3.0)
    known = np.array([[-0.5 + 0.02 * np.sin(3 * n * h) ** 2, 0.5 + 0.03 * np.sin(4 * n * h) ** 2] for n in range(steps)])
    step = robot.step_map(inputs=inputs, outputs=outputs, step=h, scheme="conserving")
    point, wanted = step.begin(robot, known[0]), []
    for u in known:
        point, y = step.step(point, u)
        wanted.append(y)
    found = robot.track(outputs, wanted, h, inputs=inputs, effort=1e-12, tolerance=0)
    assert found.converged
    assert found.u == pytest.approx(known, abs=1e-5)


def test_known_torques_of_a_cart_on_wheels_are_found_again():
    from test_optimal import CART

    inputs, outputs, h, steps = ["steer", "wag"], ["p.x", "p.y", "q"], 0.02, 20
    robot = sinew.Robot(text=CART)
    robot.q[:], robot.v[:] = (0.1, 0.2, 0.3, 0.4, -0.2), (0.5, 0, 0, 1, -2)
    known = np.array([[0.02 * np.sin(3 * n * h), -0.01 * np.cos(4 * n * h)] for n in range(steps)])
    step = robot.step_map(inputs=inputs, outputs=outputs, step=h, scheme="conserving")
    point, wanted = step.begin(robot, known[0]), []
    for u in known:
        point, y = step.step(point, u)
        wanted.append(y)
    found = robot.track(outputs, wanted, h, inputs=inputs, effort=1e-14, tolerance=0)
    assert found.converged and found.largest < 1e-9
    assert found.u == pytest.approx(known, abs=5e-6)


def test_what_no_input_moves_is_told():
    # straight limbs: torques do not move their common tip to first order
    robot = sinew.Robot(ROOT / "examples" / "parallel" / "rfrfr.yaml")
    robot.equilibrium()
    with pytest.raises(sinew.Error, match="no input moves the targets"):
        robot.track(["tip.x", "tip.y"], np.tile([0.01, 0.85], (5, 1)), 0.01)


def test_forces_of_loops_are_no_outputs():
    with pytest.raises(sinew.ModelError, match="'force'.*leave it out"):
        sinew.Robot(text=PARALLELOGRAM).track("force.fz", [0.1], 0.01)


def test_a_five_bar_with_one_crank_given():
    # both torques known from Lagrange's equations; here one crank follows its law, and the torque of the other is found
    text = FIVE_BAR.replace("motor(2): {joint: a2, effort: 0 N*m}", "motor(2): {joint: a2, position: 40 deg + 0.1*(1 - cos(6*t/(1 s)))}")
    errors = []
    for steps in (20, 40):
        h = 0.8 / steps
        t = h * np.arange(1, steps + 1)
        exact = np.array([torques(s)[0] for s in t - h / 2])
        found = sinew.Robot(text=text).track("q1", cranks(t)[0], h, effort=1e-13, tolerance=0)
        assert found.converged and found.largest < 1e-7 and found.u.shape == (steps, 1)
        mean = [(u[1:] + u[:-1]) / 2 for u in (found.u[:, 0], exact)]
        errors.append(abs(mean[0] - mean[1]).max() / abs(exact).max())
    assert errors[0] < 5e-4 and 3.5 < errors[0] / errors[1] < 4.5  # order 2
