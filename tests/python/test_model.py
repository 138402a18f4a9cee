# SPDX-License-Identifier: MIT
import numpy as np
import pytest

import sinew


def test_parts_have_names_kinds_units_and_ranges(arm):
    assert list(arm.links) == ["base", "arm", "hand"]
    assert arm.links["base"].type == "revolute"
    assert arm.actuators["motor"].type == "effort"
    assert arm.actuators["motor"].unit == "N*m"
    assert arm.actuators["cord(1)"].type == "tension"
    assert arm.probes["tip"].size == 3
    assert arm.coordinates["base.angle"] == 0
    assert arm.coordinates["arm"] == slice(1, 13)  # twist, bend_y, bend_z: 3 x 4 functions
    assert arm.nq == arm.nv + 1  # a spherical joint has four coordinates and three velocities
    assert len(arm.coordinates) == arm.nq


def test_an_unknown_name_is_told_with_those_there_are(arm):
    with pytest.raises(KeyError, match="no probe 'tipp'; there are: tip"):
        arm.probe("tipp")


def test_a_dictionary_is_a_model():
    robot = sinew.Robot.from_dict({"robot": {"bob": {"on": "world", "joint": "revolute", "axis": "y",
                                                     "body": {"mass": 1, "box": [0.1, 0.1, 0.1], "com": [1, 0, 0]}}}})  # fmt: skip
    assert robot.nq == 1


def test_errors_carry_the_place_in_the_file(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("sinew: 1\nrobot:\n  arm: {on: world, joint: revolving}\n")
    with pytest.raises(sinew.ModelError) as failure:
        sinew.Robot(path)
    assert failure.value.file == str(path)
    assert failure.value.line == 3
    assert "revolving" in failure.value.text
    assert str(failure.value).startswith(f"{path}:3:")


def test_a_missing_file_is_an_oserror(tmp_path):
    with pytest.raises(OSError, match="absent.yaml"):
        sinew.Robot(tmp_path / "absent.yaml")


def test_overrides_and_runs(arm_text):
    soft = sinew.Robot(text=arm_text, set={"E": "0.5 MPa"})
    assert soft.parameters["silicone.young"] == 0.5e6
    assert sinew.Robot(text=arm_text, run="stiff").parameters["E"] == 3e6
    assert list(soft.model.runs) == ["main", "stiff"]
    with pytest.raises(sinew.ArgumentError, match="no run 'absent'"):
        sinew.Robot(text=arm_text, run="absent")


def test_a_changed_parameter_equals_a_model_read_with_it(arm_text):
    one, two = sinew.Robot(text=arm_text), sinew.Robot(text=arm_text, set={"E": 2e6})
    one.q[:] = two.q[:] = np.linspace(0.1, 0.2, one.nq)
    one.q[-4:] = two.q[-4:] = [1, 0, 0, 0]
    q = one.q
    one.parameters["E"] = "2 MPa"
    assert one.parameters["E"] == 2e6
    assert one.parameters.unit("silicone.young") == "Pa"
    assert np.array_equal(q, one.q)  # the state is kept, and so is the view
    assert np.array_equal(one.inverse_dynamics(), two.inverse_dynamics())
    with pytest.raises(sinew.ModelError):
        one.parameters["E"] = "2 s"
    assert one.parameters["E"] == 2e6
