# SPDX-License-Identifier: MIT
"""Robots of other formats as robots of Python."""
import numpy as np
import pytest

import sinew

PENDULUM = """<robot name="pendulum">
<link name="base"/><link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint><gazebo/></robot>"""
MJCF = """<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/>
<inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.01"/></body></worldbody></mujoco>"""
SDF = """<sdf version="1.9"><model name="m"><link name="arm"><inertial><pose>0 0 -0.5 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx>
<iyy>0.1</iyy><izz>0.01</izz></inertia></inertial></link><joint name="hinge" type="continuous"><parent>world</parent><child>arm</child>
<axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""


@pytest.mark.parametrize("name, text, function", [("p.urdf", PENDULUM, sinew.from_urdf), ("p.xml", MJCF, sinew.from_mjcf), ("p.sdf", SDF, sinew.from_sdf)])
def test_a_pendulum_has_its_moment_of_inertia_and_its_weight(tmp_path, name, text, function):
    path = tmp_path / name
    path.write_text(text)
    robot = function(path)
    robot.q[:] = 0.3
    assert robot.mass() == pytest.approx(np.array([[0.1 + 2 * 0.25]]), rel=1e-14)
    assert robot.bias() == pytest.approx([2 * 9.81 * 0.5 * np.sin(0.3)], rel=1e-12)


def test_notes_tell_what_is_not_as_in_the_file(tmp_path):
    path = tmp_path / "p.urdf"
    path.write_text(PENDULUM)
    imported = sinew.import_text(path, shapes="none", packages={"a": tmp_path})
    assert [note.text for note in imported.notes] == ["1 <gazebo>: left out, they are settings of another simulator"]
    assert "hinge: {joint: arm, position: 0}" in imported.text
    assert sinew.Robot(text=imported.text).nq == 1


def test_mistakes_are_named(tmp_path):
    path = tmp_path / "p.urdf"
    path.write_text(PENDULUM.replace('"0 1 0"', '"0 1"'))
    with pytest.raises(sinew.ModelError, match="is not 3 finite numbers") as caught:
        sinew.from_urdf(path)
    assert caught.value.line == 3
    path.write_text(PENDULUM)
    with pytest.raises(sinew.ArgumentError, match="both, collision, visual or none"):
        sinew.from_urdf(path, shapes="all")
    with pytest.raises(sinew.FileError):
        sinew.from_urdf(tmp_path / "none.urdf")
