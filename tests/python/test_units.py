# SPDX-License-Identifier: MIT
"""Values with units, read and written."""

import pickle

import numpy as np
import pytest

import sinew

DRIVEN = """
sinew: 1
robot:
  hinge: {on: world, joint: revolute, axis: y, body: {mass: 1, box: [0.1, 0.1, 0.1]}}
  sledge: {on: world, joint: prismatic, axis: x, body: {mass: 1, box: [0.1, 0.1, 0.1]}}
actuators:
  turn: {joint: hinge, position: 0 deg}
  shift: {joint: sledge, position: 0 m}
"""


def test_values_know_their_unit(arm):
    E = arm.parameters["E"]
    assert E == 1e6 and E.unit == "Pa" and E.to("MPa") == 1.0 and E.to("N/mm^2") == pytest.approx(1.0)
    assert isinstance(E, float) and type(E + 1) is float
    assert repr(E) == "1e+06 Pa" and f"{E:.0f}" == "1000000"
    assert arm.parameters["silicone.poisson"].unit == ""
    again = pickle.loads(pickle.dumps(E))
    assert again == E and again.unit == "Pa"
    with pytest.raises(sinew.ArgumentError, match="in Pa, which is no multiple of 'N'"):
        E.to("N")


@pytest.mark.parametrize("text,value", [("3 N", 3.0), ("2 kN", 2000.0), ("0.5 kg*m/s^2", 0.5), ("2*1.5 N", 3.0), ("4", 4.0), (7, 7.0)])
def test_controls_take_units(arm, text, value):
    arm.controls["cord(1)"] = text
    assert arm.controls["cord(1)"] == value
    assert arm.controls["cord(1)"].unit == "N"


def test_units_of_controls(arm):
    assert [arm.controls.unit(n) for n in arm.controls] == ["N*m", "N", "N"]
    driven = sinew.Robot(text=DRIVEN)
    driven.controls["turn"], driven.controls["shift"] = "30 deg", ["5 cm"]
    driven.forward_dynamics()
    assert driven.controls["turn"].unit == "N*m" and driven.controls["shift"].unit == "N"
    driven.simulate(1e-3).step()
    assert np.allclose(driven.q, [np.pi / 6, 0.05], atol=1e-12)


@pytest.mark.parametrize("text,message", [
    ("3 m", r"'cord\(1\)' is in N, but '3 m' is in m"), ("30 deg", "is in N, but '30 deg' is in plain numbers or angles"),
    ("3 Newton", "'3 Newton' is no number with a unit"), ("pull", "unknown name 'pull'"),
])  # fmt: skip
def test_a_wrong_unit_is_told_with_the_right_one(arm, text, message):
    arm.controls["cord(1)"] = 1.5
    with pytest.raises(sinew.ArgumentError, match=message):
        arm.controls["cord(1)"] = text
    assert arm.controls["cord(1)"] == 1.5


def test_a_wrong_unit_keeps_the_law(arm):
    arm.controls["cord(1)"] = lambda robot: 2.0
    with pytest.raises(sinew.ArgumentError):
        arm.controls["cord(1)"] = "2 m"
    arm.simulate(1e-3).step()
    assert arm.controls["cord(1)"] == 2.0


def test_a_wrong_unit_of_a_parameter(arm):
    for path in ("E", "silicone.young"):
        with pytest.raises(sinew.ModelError, match=r"a pressure \(Pa\) is wanted here, got a length \(m\)"):
            arm.parameters[path] = "2 m"
    assert arm.parameters["E"] == 1e6
