# SPDX-License-Identifier: MIT
"""Models that the tests of the Python package share."""

import pytest

ARM = """
sinew: 1
title: A soft arm on a hinge
gravity: [0, 0, -9.81]
parameters: {E: 1 MPa, tau: 0 N*m}
materials: {silicone: {young: E, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  base: {on: world, joint: revolute, axis: y, stiffness: 1 N*m, body: {mass: 0.2 kg, box: [5 cm, 5 cm, 5 cm]}}
  arm: {on: base, pose: {xyz: [5 cm, 0, 0]}, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, strain: kirchhoff legendre 4}}
  hand: {on: arm, joint: spherical, stiffness: 20 mN*m, body: {mass: 30 g, sphere: {radius: 1 cm}}}
actuators:
  motor: {joint: base, effort: tau}
  cord(k=1..2): {tendon: {along: arm, at: [0, 0, 8 mm*(3 - 2*k)]}, effort: 0 N}
loads:
  push: {on: arm.tip, force: [0, 0, 0 N]}
sites:
  palm: {on: hand, pose: {xyz: [2 cm, 0, 0]}}
probes:
  tip: {position: arm.tip}
  angle: {angle: base}
  wire: {wrench: arm, along: 3}
  e: energy
study:
  - dynamic: {for: 0.1 s, step: 5 ms}
runs:
  main: {}
  stiff: {E: 3 MPa}
"""

FOUR_BAR = """
sinew: 1
gravity: [0, -9.81, 0]
robot:
  crank: {on: world, joint: revolute, body: {box: [0.2, 0.02, 0.02], mass: 0.2, com: [0.1, 0, 0]}}
  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {box: [0.5, 0.02, 0.02], mass: 0.5, com: [0.25, 0, 0]}}
  rocker: {on: world, pose: {xyz: [0.4, 0, 0]}, joint: revolute, body: {box: [0.4, 0.02, 0.02], mass: 0.4, com: [0.2, 0, 0]}}
sites:
  end: {on: coupler, pose: {xyz: [0.5, 0, 0]}}
  top: {on: rocker, pose: {xyz: [0.4, 0, 0]}}
loops: {pin: {join: [end, top], as: revolute}}
initial: {crank: {position: 60 deg}, coupler: {position: -30 deg}, rocker: {position: 90 deg}}
probes: {end: {position: end}}
study: [dynamic: {for: 0.2 s, step: 1 ms}]
"""


@pytest.fixture
def arm_text():
    return ARM


@pytest.fixture
def arm():
    import sinew

    return sinew.Robot(text=ARM)


@pytest.fixture
def four_bar():
    import sinew

    return sinew.Robot(text=FOUR_BAR)


@pytest.fixture
def posed(arm):
    """The arm in a general state of motion."""
    import numpy as np

    random = np.random.default_rng(7)
    arm.move(random.uniform(-0.3, 0.3, arm.nv))
    arm.v[:] = random.uniform(-1, 1, arm.nv)
    arm.a[:] = random.uniform(-2, 2, arm.nv)
    return arm
