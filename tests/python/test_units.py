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


def test_batches_take_units(arm):
    batch = sinew.Batch(arm, 3)
    controls = batch.controls
    for value, numbers in (("2 N", [2, 2, 2]), (["2 N", "0.5 kN", 3], [2, 500, 3]), (np.array(["1 N", "2 N", "3 N"]), [1, 2, 3]),
                           ([["1 N"], [2.0], ["3 N"]], [1, 2, 3]), ("2*1.5 N", [3, 3, 3])):  # fmt: skip
        controls["cord(1)"] = value
        assert np.array_equal(batch.u[:, 1], numbers)
    for wrong in ("3 m", ["1 N", "3 m", "1 N"], "30 deg"):
        with pytest.raises(sinew.ArgumentError, match=r"'cord\(1\)' is in N, but"):
            controls["cord(1)"] = wrong
    assert np.array_equal(batch.u[:, 1], [3, 3, 3]) and controls.unit("cord(1)") == "N"
    driven = sinew.Batch(sinew.Robot(text=DRIVEN), 2)
    driven.controls["turn"], driven.controls["shift"] = ["20 deg", "180 deg"], "5 mm"
    driven.start("1 ms")
    driven.step()
    assert np.allclose(driven.q, [[np.pi / 9, 5e-3], [np.pi, 5e-3]], atol=1e-12) and np.allclose(driven.t, 1e-3)
    batch.parameters["E"] = ["1 MPa", "2 MPa", 3e6]
    assert np.array_equal(batch.parameters["E"], [1e6, 2e6, 3e6])


def test_inputs_with_several_numbers_take_units():
    text = """
sinew: 1
robot: {ball: {on: world, joint: spherical, body: {mass: 1, inertia: [1, 1, 1]}}}
actuators: {wrist: {joint: ball, effort: [0, 0, 0]}}
"""
    batch = sinew.Batch(sinew.Robot(text=text), 2)
    batch.controls["wrist"] = ["1 N*m", "20 mN*m", 3]
    assert np.array_equal(batch.u, [[1, 0.02, 3]] * 2)
    batch.controls["wrist"] = [["1 N*m", 0, 0], [0, 0, "2 N*m"]]
    assert np.array_equal(batch.u, [[1, 0, 0], [0, 0, 2]])


def test_steps_take_units(arm):
    assert arm.simulate("5 ms").dt == 5e-3 and arm.simulate(step="0.005").dt == 5e-3
    with pytest.raises(sinew.ArgumentError, match="'step' is in s, but '5 mm' is in m"):
        arm.simulate("5 mm")


def test_a_given_motion_takes_units():
    driven = sinew.Robot(text=DRIVEN)
    sim = driven.simulate(1e-3)
    driven.controls.move("turn", "20 deg")
    driven.controls.move("shift", "5 mm", rate=0.0)
    sim.step()
    assert np.allclose(driven.q, [np.pi / 9, 5e-3], atol=1e-12)
    with pytest.raises(sinew.ArgumentError, match="'shift' is in m, but '5 N' is in N"):
        driven.controls.move("shift", "5 N")
