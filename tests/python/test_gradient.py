# SPDX-License-Identifier: MIT
"""Gradients of studies from Python: closed forms, differences, knots of laws, mistakes."""

import math

import numpy as np
import pytest

import sinew

# a mass on a spring
SPRING = """
sinew: 1
gravity: 0
parameters: {k: 40 N/m, c: 0.3 N*s/m, m: 2 kg}
robot: {mass: {on: world, joint: prismatic, axis: x, stiffness: k, damping: c, body: {mass: m}}}
actuators: {push: {joint: mass, effort: 3 N}}
initial: {mass: {position: 0.2 m, rate: 0.1 m/s}}
study: [dynamic: {for: 1 s, step: 10 ms, scheme: trapezoidal}]
probes: {place: {value: mass}, speed: {rate: mass}}
"""
STATIC = SPRING.replace("dynamic: {for: 1 s, step: 10 ms, scheme: trapezoidal}", "static")


def test_an_equilibrium():
    values, derivatives = sinew.gradient(sinew.Model(text=STATIC), "place", ["k", "push.effort"])
    assert values[0] == pytest.approx(3 / 40, rel=1e-12)
    assert derivatives[0] == pytest.approx([-3 / 1600, 1 / 40], rel=1e-10)


def test_folds_and_inputs_that_are_found():
    # a column that leans by e carries k l (1 - e^(2/3))^(3/2); the force that holds it at the top's place x
    text = """
sinew: 1
gravity: 0
parameters: {k: 5 N/m, lean: 0.02, P: 1 N/s*t, at: 0.3 m}
robot: {column: {on: world, pose: {axis: y, angle: asin(lean)}, joint: revolute, axis: y, body: {mass: 1 kg}}}
sites: {top: {on: column, pose: {xyz: [0, 0, 1 m]}}}
loads: {press: {on: top, force: ["-k*(top.x - 1 m*lean)", 0, -P]}, hold: {on: top, force: [0, 0, 0]}}
probes: {top: {position: top}, load: {law: P}, height: {law: top.z}}
study: [%s]
"""
    fold = sinew.Gradient(sinew.Model(text=text % "path: {range: [0 s, 6 s]}"), ["fold(load)"], ["k", "lean"])
    values, derivatives = fold()
    e = 0.02 ** (1 / 3)
    assert values[0] == pytest.approx(5 * (1 - e**2) ** 1.5, rel=1e-10)
    assert derivatives[0] == pytest.approx([(1 - e**2) ** 1.5, -5 / e * math.sqrt(1 - e**2)], rel=1e-9)
    assert fold.report.method == "adjoint"
    study = "inverse: {target: {top.x: at}, actuators: {hold.fx: {}}}, change: {k: 6 N/m}, static"
    with pytest.raises(sinew.Error, match="no fold 1"):
        sinew.gradient(sinew.Model(text=text % study), "fold(load)", ["lean"])
    held = sinew.gradient(sinew.Model(text=text % study), "top.x", ["lean", "at"])
    # k_1 (x_1 - e) = k (at - e) where the load P is 0 and the force is level
    assert held[1][0] == pytest.approx([1 - 5 / 6, 5 / 6], rel=1e-9)


def test_an_event_and_an_extreme():
    # x" = -4 x - 3 [x >= c] from x = 0 at 1.5 m/s: closed forms at 0.7 s; the highest place without the load
    text = SPRING.split("parameters")[0] + """
parameters: {c: 0.4 m, v0: 1.5 m/s}
robot: {mass: {on: world, joint: prismatic, axis: x, stiffness: 4, body: {mass: 1}}}
initial: {mass: {rate: v0}}
loads: {push: {on: mass, force: [-3, 0, 0], when: place >= c}}
study: [dynamic: {for: %s, step: 10 ms, scheme: gauss6}]
probes: {place: {value: mass}}
"""
    for method in "adjoint", "forward":
        values, derivatives = sinew.Gradient(sinew.Model(text=text % "0.7 s"), "place", ["c", "v0"], method=method)()
        assert values[0] == pytest.approx(0.491099253087648, rel=1e-12)
        assert derivatives[0] == pytest.approx([0.87828743075773, 0.25851488345883], rel=1e-10)
    free = sinew.Model(text=(text % "1 s").replace("-3, 0, 0", "0, 0, 0"))
    values, derivatives = sinew.gradient(free, "max(place)", ["v0"])
    assert values[0] == pytest.approx(0.75, rel=1e-7)
    assert derivatives[0] == pytest.approx([0.5], rel=1e-7)


def test_a_motion_against_differences():
    model = sinew.Model(text=SPRING)
    g = sinew.Gradient(model, ["integral(place^2) + 0.1*end(speed)", "at(0.5, place)"], ["k", "m", "q(mass.slide)", "v(mass.slide)"])
    assert g.variables == ("k", "m", "q(mass.slide)", "v(mass.slide)")
    assert g.units[:3] == ("N/m", "kg", "m")
    p = g.start
    assert p == pytest.approx([40, 2, 0.2, 0.1])
    J, dJ = g()
    assert J == pytest.approx(g.value(p), rel=1e-15)
    for k in range(4):
        h = 2e-4 * p[k]
        move = np.eye(4)[k] * h
        difference = (g.value(p + move) - g.value(p - move)) / (2 * h)
        assert dJ[:, k] == pytest.approx(difference, rel=3e-6, abs=1e-9)
    assert g({"k": 41})[0][0] != J[0]
    assert g.report.method == "adjoint" and g.report.steps == 100 and g.report.sampled == ()
    by_runs = sinew.Gradient(model, g.scalars, g.variables, method="differences")()[1]
    assert dJ == pytest.approx(by_runs, rel=1e-9, abs=1e-10)


def test_knots():
    model = sinew.Model(text=SPRING)
    knots = sinew.Knots("push.effort", np.linspace(0, 1, 6), "linear", "N")
    g = sinew.Gradient(model, "mean(place)", knots)
    assert g.variables[2] == "push.effort[2]"
    assert g.start == pytest.approx([3] * 6)
    _, dJ = g()
    step = sinew.Gradient(model, "mean(place)", "push.effort")()[1]
    assert math.fsum(dJ[0]) == pytest.approx(step[0, 0], rel=2e-3)  # all knots together: the constant; restarts differ


def test_mistakes():
    model = sinew.Model(text=SPRING)
    with pytest.raises(sinew.Error, match="stiffness|'kk'"):
        sinew.Gradient(model, "place", "kk")
    with pytest.raises(sinew.Error, match="plac"):
        sinew.Gradient(model, "plac", "k")
    with pytest.raises(sinew.ArgumentError, match="hold, linear"):
        sinew.Gradient(model, "place", sinew.Knots("push.effort", [0, 1], "cubic"))
    with pytest.raises(sinew.ArgumentError, match="there is no variable"):
        sinew.Gradient(model, "place", "k")({"x": 1})
    with pytest.raises(sinew.ArgumentError, match="2 values"):
        sinew.Gradient(model, "place", ["k", "m"])([1, 2, 3])
