# SPDX-License-Identifier: MIT
"""Inverse statics and kinematics: reference values, random robots, conditions of a minimum, gains by differences."""

import pathlib

import numpy as np
import pytest

import sinew
from sinew.gym import MODELS

ROOT = pathlib.Path(__file__).resolve().parents[2]

# inextensible rod, three tendons at 0, 120, 240 degrees, offset 1 cm: bend = moment/EI exactly
THREE = """
sinew: 1
gravity: 0
robot:
  arm: {on: world, rod: {length: 0.3, section: {stiffness: {bend_y: 0.1, bend_z: 0.1}, inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_y: legendre 2, bend_z: legendre 2}, nodes: 12}}
actuators:
  t(k=1..3): {tendon: {along: arm, at: [0, 10 mm*cos(2*pi/3*(k - 1)), 10 mm*sin(2*pi/3*(k - 1))]}, effort: 0 N}
probes: {bend: {strain: arm.tip}}
"""

# a strut of natural length 1.02 between a pivot and a slider, which a force pushes: von Mises' truss
TRUSS = """
sinew: 1
gravity: 0
robot:
  slider: {on: world, joint: prismatic, axis: z, body: {mass: 1}}
sites: {pivot: {on: world, pose: {xyz: [1, 0, 0]}}, eye: {on: slider}}
springs: {strut: {spring: [pivot, eye], stiffness: 100, rest: 1.02}}
actuators: {push: {joint: slider, effort: 0}}
initial: {slider: 0.2}
probes: {z: {value: slider}}
"""

# bends, twists and stretches, with weight, a chamber and a hinge: inputs of several kinds
MIXED = """
sinew: 1
parameters: {seed: 1}
materials: {silicone: {young: 0.6 MPa, poisson: 0.45, density: 1070 kg/m^3}}
robot:
  base: {on: world, joint: revolute, axis: y, stiffness: 0.8 N*m, body: {mass: 0.1}}
  turn: {on: base, joint: revolute, axis: z, body: {mass: 0.05, inertia: [1e-5, 1e-5, 1e-5]}}
  arm: {on: turn, rod: {length: 0.2, section: {circle: {radius: 11 mm}}, material: silicone, strain: cosserat legendre 3, nodes: 16}}
actuators:
  motor: {joint: base, effort: 0.05 N*m}
  drive: {joint: turn, position: 0.1}
  cord(k=1..3): {tendon: {along: arm, at: [0, 8 mm*cos(2*pi/3*(k - 1)), 8 mm*sin(2*pi/3*(k - 1))]}, effort: 1 N}
  helix: {tendon: {along: arm, at: [0, 8 mm*cos(20*x), 8 mm*sin(20*x)]}, shortening: 2 mm}
probes:
  tip: {position: arm.tip}
  turn: {rotation: arm.tip}
  frame: {pose: arm.tip}
  wire: {length: "cord(1)"}
  pull: {effort: helix}
  root: {reaction: base}
"""


def read(robot, names):
    """Values of columns of probes, by name."""
    return {s.name: s.value for s in robot.linearize(inputs=robot.actuators[0].name, outputs=names).outputs}


def is_minimum(solution, tol=1e-8):
    """The conditions of a minimum of the weighted distance within the limits."""
    weight = np.array([t.weight for t in solution.targets])
    error = np.array([t.error for t in solution.targets])
    slope = solution.gain.T @ (weight**2 * error) / solution.distance
    for a, g in zip(solution.inputs, slope):
        size = np.abs(slope).max() + np.linalg.norm(solution.gain) * tol
        if a.limit in ("low", "fall"):
            assert g > -tol * size and a.multiplier == pytest.approx(max(g, 0), abs=tol * size)
        elif a.limit:
            assert g < tol * size and a.multiplier == pytest.approx(max(-g, 0), abs=tol * size)
        else:
            assert abs(g) <= tol * size


# ---- reference values


@pytest.mark.parametrize("moment, low, want, at, multiplier", [
    ((0.05, 0.02), 0, (6.15470054, 2.30940108, 0), None, 0),
    ((0.05, 0.02), 1, (7.15470054, 3.30940108, 1), 2, 22.92820323),
    ((-0.03, 0.04), 0.5, (0.5, 5.80940108, 1.19059892), 0, 15)])  # fmt: skip
def test_the_least_tensions_of_three_tendons(moment, low, want, at, multiplier):
    arm = sinew.Robot(text=THREE)
    # the tension T at (y, z) has the moments -T z about y and T y about z
    targets = {"bend.bend_z": moment[0] / 0.1, "bend.bend_y": -moment[1] / 0.1}
    found = arm.solve_inverse(targets, limits={f"t({k})": (low, None) for k in (1, 2, 3)})
    assert found.reached
    assert np.array(list(found.values.values())) == pytest.approx(np.array(want), abs=6e-9)
    if at is not None:
        a = found.inputs[at]
        assert a.limit == "low"
        assert a.goal * a.unit_of_motion**2 == pytest.approx(multiplier, abs=1e-7)  # of the sum of squares


def test_a_plate_on_six_legs_is_posed_by_the_closed_form_of_rigid_legs():
    robot = sinew.Robot(ROOT / "examples/parallel/six_rods.yaml", run="plan")
    robot.equilibrium()
    A = np.radians([-15, 15, 105, 135, 225, 255])
    B = np.radians([-45, 45, 75, 165, 195, 285])
    R, r, l = 0.2, 0.1, 0.4
    H = np.sqrt(l**2 - R**2 - r**2 + 2 * R * r * np.cos(np.radians(30)))
    for p, tilt in (((0.02, -0.01, H + 0.03), 0.2), ((-0.03, 0.02, H - 0.02), -0.15)):
        ball = np.array([r * np.cos(B), r * np.sin(B) * np.cos(tilt), r * np.sin(B) * np.sin(tilt)]).T + p
        want = ball[:, 2] - np.sqrt(l**2 - (ball[:, 0] - R * np.cos(A)) ** 2 - (ball[:, 1] - R * np.sin(A)) ** 2)
        found = robot.solve_inverse({"plate.x": p[0], "plate.y": p[1], "plate.z": p[2], "plate.rx": tilt, "plate.ry": 0, "plate.rz": 0})
        assert found.reached and found.exact
        assert np.array(list(found.values.values())) == pytest.approx(want, abs=1e-10)


# ---- random robots


def test_targets_of_known_tensions_are_reached():
    rng = np.random.default_rng(3)
    for _ in range(8):
        arm = sinew.Robot(MODELS / "reach.yaml")
        known = rng.uniform(0, 4, 4)
        for k, tension in enumerate(known):
            arm.controls[k] = tension
        arm.equilibrium()
        tip = arm.probe("tip")[:3].copy()
        again = sinew.Robot(MODELS / "reach.yaml")
        found = again.solve_inverse({"tip": tip})
        assert found.reached
        assert np.abs(again.probe("tip")[:3] - tip).max() < 1e-10
        assert sum(v**2 for v in found.values.values()) <= np.sum(known**2) + 1e-9
        assert found.stability > 0


def mixed(rng):
    robot = sinew.Robot(text=MIXED)
    values = {"motor": rng.uniform(-0.1, 0.1), "drive": rng.uniform(-1, 1), "helix": rng.uniform(0, 4e-3)}
    values |= {f"cord({k})": rng.uniform(0.5, 4) for k in (1, 2, 3)}
    for name, value in values.items():
        robot.controls[name] = value
    robot.equilibrium()
    return robot, values


def test_poses_of_known_inputs_of_several_kinds_are_reached():
    rng = np.random.default_rng(6)
    for _ in range(3):
        robot, _ = mixed(rng)
        for names in (["tip", "turn.rx", "turn.ry", "turn.rz"], ["frame"]):
            start = sinew.Robot(text=MIXED)
            found = start.solve_inverse(read(robot, names))
            assert found.reached, found
            assert max(abs(t.error) for t in found.targets) < 1e-10


def test_gains_are_those_of_differences():
    rng = np.random.default_rng(7)
    names = ["tip", "turn", "wire", "pull", "root"]
    robot, values = mixed(rng)
    targets = read(robot, names)
    columns = [robot.model.columns[name] for name in targets]
    found = robot.solve_inverse(targets, list(values), rest=values)
    assert found.distance < 1e-9 and not found.exact
    for j, a in enumerate(found.inputs):
        h = 1e-3 * max(abs(a.value), 1e-3)
        sides = []
        for sign in (-2, -1, 1, 2):
            robot.controls[a.name] = a.value + sign * h
            robot.equilibrium()
            probes = [(p.numbers.start, np.atleast_1d(robot.probe(name))) for name, p in robot.probes.items()]
            everything = {first + k: x for first, row in probes for k, x in enumerate(row)}
            sides.append(np.array([everything[c.index] for c in columns]))
        robot.controls[a.name] = a.value
        robot.equilibrium()
        slope = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * h)
        assert np.abs(slope - found.gain[:, j]).max() < 1e-6 * np.abs(slope).max()


def test_unreachable_targets_end_at_a_minimum_and_multipliers_are_slopes():
    rng = np.random.default_rng(11)
    for trial in range(6):
        target = {"tip": rng.uniform(-0.3, 0.3, 3)}
        high = rng.uniform(0.5, 2, 4)
        limits = {f"tendon({k + 1})": (0.1, high[k]) for k in range(4)}
        found = sinew.Robot(MODELS / "reach.yaml").solve_inverse(target, limits=limits)
        assert not found.reached and found.active
        is_minimum(found, 1e-7)
        if trial:
            continue
        for k, a in enumerate(found.inputs):
            if a.limit != "high":
                continue
            d, h = [], 1e-4
            for sign in (-1, 1):
                limits[a.name] = (0.1, high[k] + sign * h)
                d.append(sinew.Robot(MODELS / "reach.yaml").solve_inverse(target, limits=limits).distance)
            limits[a.name] = (0.1, high[k])
            assert (d[0] - d[1]) / (2 * h) == pytest.approx(a.multiplier, rel=1e-5)


# ---- limits, folds, mistakes


def test_rates_are_limits_of_one_call():
    arm = sinew.Robot(MODELS / "reach.yaml")
    names = [f"tendon({k})" for k in range(1, 5)]
    goal = {"tip.x": 0.05, "tip.y": 0.02}
    steps = 0
    while steps < 40:
        before = np.array(list(arm.controls[name] for name in names), dtype=float) if steps else np.zeros(4)
        found = arm.solve_inverse(goal, rates={n: 2.0 for n in names}, interval=0.1)
        now = np.array(list(found.values.values()))
        assert np.abs(now - before).max() <= 0.2 + 1e-12
        steps += 1
        if found.reached:
            break
        assert any(a.limit in ("rise", "fall") and a.multiplier > 0 for a in found.inputs)
    assert found.reached and steps == int(np.ceil(now.max() / 0.2))


def test_the_search_does_not_pass_the_end_of_a_branch():
    truss = sinew.Robot(text=TRUSS)
    found = truss.solve_inverse({"z": 0.15})
    length = np.hypot(1, 0.15)
    assert found.reached
    assert found.values["push"] == pytest.approx(100 * (length - 1.02) * 0.15 / length, abs=1e-9)
    # the force is largest at the limit point z = sqrt(1.02^(2/3) - 1); beyond, equilibria are unstable
    found = truss.solve_inverse({"z": 0.05})
    assert not found.reached and found.ended
    assert found.targets[0].value == pytest.approx(np.sqrt(1.02 ** (2 / 3) - 1), abs=1e-3)
    assert 0 < found.stability < 0.05


def test_mistakes_are_named():
    arm = sinew.Robot(MODELS / "reach.yaml")
    arm.equilibrium()
    before = arm.q.copy()
    for arguments, word in (
        (dict(targets={}), "targets"),
        (dict(targets={"nothing": 1}), "nothing"),
        (dict(targets={"tip": [1, 2]}), "2 values for 3 columns"),
        (dict(targets={"tip": [1, 2, 3, 4]}), "4 values for 3 columns"),
        (dict(targets={"tip.x": "5 cm"}), "numbers in SI units, not '5 cm'"),
        (dict(targets={"tip": [0.1, 0.1, 0.1], "tip.x": 0.1}), "two desired values for 'tip.x'"),
        (dict(targets={"tip.x": 0.1}, limits={"tendon(1)": 2}), "lowest and a highest"),
        (dict(targets={"tip.x": 0.1}, rates={"tendon(1)": 2}), "give interval"),
        (dict(targets={"tip.x": np.nan}), "tip.x"),
        (dict(targets={"tip.x": 0.1}, actuators="rope"), "rope"),
        (dict(targets={"tip.x": 0.1}, actuators=[]), "no actuators"),
        (dict(targets={"tip.x": 0.1}, limits={"tendon(1)": (2, 1)}), "above"),
        (dict(targets={"tip.x": 0.1}, actuators="tendon(1)", limits={"tendon(2)": (0, 1)}), "tendon(2)"),
        (dict(targets={"tip.x": 0.1}, weights={"tip.x": -1}), "weight"),
        (dict(targets={"tip.x": 0.1}, weights={"tip": 1}), "weight"),
        (dict(targets={"tip.x": 0.1}, tolerance=0), "tolerance"),
    ):
        with pytest.raises(sinew.ArgumentError, match=word.replace("(", r"\(").replace(")", r"\)")):
            arm.solve_inverse(**arguments)
    assert np.array_equal(arm.q, before)


def test_inverse_steps_of_a_study():
    """The inputs that an inverse step found, and that the following step holds."""
    model = sinew.Model.from_dict({
        "sinew": 1,
        "robot": {"arm": {"on": "world", "joint": "revolute", "axis": "y", "stiffness": 3,
                          "body": {"mass": 2, "com": [0, 0, -0.5], "inertia": [0, 0, 0]}}},
        "actuators": {"motor": {"joint": "arm", "effort": 0}},
        "probes": {"angle": {"angle": "arm"}, "tau": {"effort": "motor"}},
        "study": [{"inverse": {"name": "lift", "target": {"angle": 0.4}}}, {"static": {"name": "stays"}}],
    })  # fmt: skip
    study = sinew.Study(model)
    study.run()
    found = study.inverse["lift"]
    want = 3 * 0.4 + 9.81 * np.sin(0.4)
    assert list(study.inverse) == ["lift"] and found.reached
    assert abs(found.values["motor"] - want) < 1e-9
    assert np.allclose(study["tau"], want, atol=1e-9) and np.allclose(study["angle"], 0.4, atol=1e-9)


def test_numbers_of_the_file_as_unknowns():
    """Young's modulus of an arc that a tendon bends, its length, and the width of a four-bar linkage."""
    def arm(E, L):
        return {
            "sinew": 1, "gravity": 0, "parameters": {"E": f"{E} Pa", "l": f"{L} m"},
            "materials": {"m": {"young": "E", "poisson": 0.3, "density": 1000}},
            "robot": {"arm": {"on": "world", "rod": {"length": "l", "section": {"circle": {"radius": "10 mm"}}, "material": "m",
                                                     "strain": {"bend_z": "legendre 1"}, "nodes": 20}}},
            "actuators": {"cord": {"tendon": {"along": "arm", "at": [0, "8 mm", 0]}, "effort": "5 N"}},
            "probes": {"tip": {"position": "arm.tip"}},
        }  # fmt: skip

    E, L, EI = 1e6, 0.3, 1e6 * np.pi * 0.01**4 / 4
    angle = 5 * 0.008 * L / EI
    tip = [L * np.sin(angle) / angle, L * (1 - np.cos(angle)) / angle]
    robot = sinew.Robot.from_dict(arm(1.4e6, 0.25))
    found = robot.solve_inverse({"tip.x": tip[0], "tip.y": tip[1]}, ["E", "l"])
    assert found.reached and not found.exact
    assert found.values["E"] == pytest.approx(E, rel=1e-6) and found.values["l"] == pytest.approx(L, rel=1e-6)
    assert robot.probe("tip")[:2] == pytest.approx(tip, abs=1e-8)  # the robot has them
    again = sinew.Robot.from_dict(arm(found.values["E"], found.values["l"]))
    again.equilibrium()
    assert again.probe("tip")[:2] == pytest.approx(tip, abs=1e-8)
    # a failure changes nothing
    before = robot.q.copy()
    with pytest.raises(sinew.Error):
        robot.solve_inverse({"tip.x": 0.1, "nothing": 1}, ["E"])
    assert np.array_equal(robot.q, before) and robot.probe("tip")[:2] == pytest.approx(tip, abs=1e-8)

    # two cranks 0.3 m long on a ground link of width w, a coupler of 0.5 m: the place of its joint gives w
    bars = sinew.Robot.from_dict({
        "sinew": 1, "gravity": 0, "parameters": {"w": "0.45 m"},
        "robot": {
            "a": {"on": "world", "joint": "revolute", "axis": "y", "body": {"mass": 1, "inertia": [1, 1, 1]}},
            "b": {"on": "a", "pose": {"xyz": [0, 0, 0.3]}, "joint": "revolute", "axis": "y", "body": {"mass": 1, "inertia": [1, 1, 1]}},
            "c": {"on": "world", "pose": {"xyz": ["w", 0, 0]}, "joint": "revolute", "axis": "y", "body": {"mass": 1, "inertia": [1, 1, 1]}},
        },
        "sites": {"end": {"on": "b", "pose": {"xyz": [0.5, 0, 0]}}, "top": {"on": "c", "pose": {"xyz": [0, 0, 0.3]}}},
        "loops": {"pin": {"join": ["end", "top"], "as": "revolute", "axis": "y"}},
        "actuators": {"motor": {"joint": "a", "position": 0}},
        "probes": {"top": {"position": "top"}, "angle": {"angle": "c"}},
    })  # fmt: skip
    x = 0.48  # of the joint, on the circle about the end of the first crank
    solution = bars.solve_inverse({"top.x": x}, ["w"])
    assert solution.reached
    w = solution.values["w"]
    top = bars.probe("top")
    assert (top[0] - w) ** 2 + top[2] ** 2 == pytest.approx(0.09, abs=1e-9)
    assert top[0] ** 2 + (top[2] - 0.3) ** 2 == pytest.approx(0.25, abs=1e-9)
    assert top[0] == pytest.approx(x, abs=1e-9)


def test_names_with_their_limits():
    """Limits given in the place of names are limits, not dropped."""
    arm = sinew.Robot(text=THREE)
    ranges = {"t(1)": (1, 20), "t(2)": (1, 20), "t(3)": (1, 20)}
    found = arm.solve_inverse({"bend.bend_y": 0.3}, ranges)
    same = sinew.Robot(text=THREE).solve_inverse({"bend.bend_y": 0.3}, limits=ranges)
    assert found.reached and found.values == same.values
    assert min(found.values.values()) == 1


# a rod between a clamp and a pin, which closes where the rod is at the start
PINNED = """
sinew: 1
gravity: 0
robot:
  rod: {on: world, rod: {length: 0.12, section: {stiffness: {bend_y: 2e-3, stretch: 100}, inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_y: legendre 3, stretch: legendre 1}, nodes: 12}}
actuators: {cord: {tendon: {along: rod, at: [0, 0, 6 mm]}, effort: 0 N}}
loops: {pin: {join: [rod.tip, world], as: spherical, pose: POSE}}
probes: {f: {reaction: pin}}
"""


def test_a_loop_that_closes_at_the_start_keeps_its_pose():
    """Equilibria are functions of the inputs, whatever was asked before, and the same as with the pose written out."""
    given = sinew.Robot(text=PINNED.replace("POSE", "{xyz: [-0.12, 0, 0]}"))
    captured = sinew.Robot(text=PINNED.replace("POSE", "at_closing"))
    for tension in (1.0, 2.0, 0.5):
        for robot in (given, captured):
            robot.controls["cord"] = tension
            robot.equilibrium()
        want, seen = given.probe("f")[[3, 5]], captured.probe("f")[[3, 5]]
        assert np.allclose(seen, want, rtol=1e-9)
        captured.equilibrium()
        assert np.allclose(captured.probe("f")[[3, 5]], want, rtol=1e-9)
    del given.controls["cord"], captured.controls["cord"]
    found = captured.solve_inverse({"f.fz": want[1]}, limits={"cord": (0, 5)})
    assert found.reached and np.isclose(found.values["cord"], 0.5, rtol=1e-8)


def test_out_of_reach_by_its_own_length():
    """The nearest point where no limit holds: the tip of a bent section is nowhere higher, and the gain vanishes there."""
    section = sinew.Robot(text="""
sinew: 1
gravity: 0
robot: {arm: {on: world, rod: {length: 0.3, section: {stiffness: {bend_y: 1e-3}, inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_y: constant}}}}
actuators: {cord: {tendon: {along: arm, at: [0, 0, 1 cm]}, effort: 0 N}}
probes: {tip: {position: arm.tip}}
""")  # fmt: skip
    for most in (1.0, 5.0, 30.0):
        found = section.copy().solve_inverse({"tip.z": 0.29}, limits={"cord": (0, most)})
        turn = 2.331122370414423  # of the tip, where (1 - cos)/turn is largest
        assert not found.reached and not found.active
        assert np.isclose(found.values["cord"], turn / 0.3 * 1e-3 / 0.01, rtol=1e-6)
        assert found.equilibria < 200
