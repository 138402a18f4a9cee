# SPDX-License-Identifier: MIT
"""Models that bench/device.py measures, and their initial velocities."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEAD = """sinew: 1
materials: {silicone: {young: 1 MPa, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, nodes: NODES, strain: STRAIN}}
"""
TENDONS = """actuators:
  cord(k=1..4): {tendon: {along: arm, at: [0, 8 mm*cos(90 deg*k), 8 mm*sin(90 deg*k)]}, effort: 0.2 N*(1 + sin(20*t + k))}
"""
TREE = """sinew: 1
materials: {silicone: {young: 1 MPa, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  base: {on: world, joint: free, body: {mass: 0.2, box: [5 cm, 5 cm, 5 cm]}}
  hip: {on: base, joint: spherical, stiffness: 0.1 N*m, damping: 1 mN*m*s, body: {mass: 0.1, box: [4 cm, 5 cm, 5 cm]}}
  arm: {on: hip, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, nodes: 6, strain: kirchhoff legendre 2}}
  knee: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1 N*m, body: {mass: 0.05, box: [3 cm, 3 cm, 3 cm]}}
probes: {turn: {angle: knee}, tip: {position: knee}}
loads: {push: {on: knee, force: [0, 0.1 N*sin(20*t), -0.1 N*turn]}}
actuators: {pull: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.2 N*sin(30*t)}}
"""


def three_rfr():
    """examples/workspace/three_rfr.yaml, whose bent legs let go when a motion starts, with straight ones that are damped, and
    motors that turn by 4 degrees."""
    text = (ROOT / "examples/workspace/three_rfr.yaml").read_text().split("study:")[0]
    for old, new in [("angle: 30 deg ", "angle: 0 deg "), ("density: 7800 kg/m^3", "density: 7800 kg/m^3, damping: 5 ms"),
                     ("position: angle", 'position: "atan2(r*sin(phi), R - r*cos(phi)) + 2 deg*(1 - cos(10*t))"')]:  # fmt: skip
        if text.count(old) != 1:
            raise ValueError(f"three_rfr.yaml does not have '{old}' once")
        text = text.replace(old, new)
    return text


def rod(functions, nodes):
    return HEAD.replace("NODES", str(nodes)).replace("STRAIN", f"kirchhoff legendre {functions}")


MODELS = {f"rod {3 * f} x {nodes}": rod(f, nodes) for f in (3, 12, 2, 6) for nodes in (21, 11, 41)}
MODELS |= {"tendon arm": rod(3, 21) + TENDONS, "soft gripper": "examples/contact/gripper.yaml",
           "3-RFR": three_rfr(), "snake on ground": "examples/locomotion/snake_ground.yaml",
           "tree": TREE,
           "arm PCS 6": HEAD.replace("NODES", "21").replace("STRAIN", "cosserat legendre 1"),
           "arm GVS 36": HEAD.replace("NODES", "41").replace("STRAIN", "cosserat legendre 6")}  # fmt: skip
MEASURED = [name for name in MODELS if name != "tree" and not name.startswith("arm ")]
STEP = {"3-RFR": 5e-3, "snake on ground": 1e-3, "soft gripper": 1e-3}  # s; others 10 ms


def model_of(name):
    import sinew

    text = MODELS.get(name, name)
    return sinew.Model(text=text) if "\n" in text else sinew.Model(ROOT / text)


def velocities(n, nv, size):
    """Different ones for all robots but the first, which rests."""
    import numpy as np

    i, k = np.arange(n)[:, None], np.arange(nv)[None, :]
    return size * np.sin(1.7 * i + 2.3 * k + 0.4 * (i % 97) * k) * (i > 0)


def push(batch, size):
    batch.v[:] = velocities(batch.n, batch.nv, size)
