# SPDX-License-Identifier: MIT
"""Maps of the workspace: closed forms, folds of an independent program, random robots, sheets, mistakes."""

import pathlib

import numpy as np
import pytest

import sinew

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTION = ROOT / "examples" / "workspace" / "section.yaml"
RFRFR = ROOT / "examples" / "workspace" / "rfrfr.yaml"

# a strut of natural length 1.02 between a pivot and a slider, which a force pushes: von Mises' truss. Its force is
# 100 z (1.02/s - 1) with s = sqrt(1 + z^2), largest at s = 1.02^(1/3)
TRUSS = """
sinew: 1
gravity: 0
robot:
  slider: {on: world, joint: prismatic, axis: z, body: {mass: 1}}
sites: {pivot: {on: world, pose: {xyz: [1, 0, 0]}}, eye: {on: slider}}
springs: {strut: {spring: [pivot, eye], stiffness: 100, rest: 1.02}}
actuators: {push: {joint: slider, effort: 0}}
initial: {slider: 0.2}
probes: {z: {position: eye}}
"""

# Euler's column, clamped and free: buckles at pi^2/4
COLUMN = """
sinew: 1
gravity: 0
robot: {column: {on: world, rod: {length: 1, section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre 8}, nodes: 16, magnus: 6}}}
loads: {press: {on: column.tip, force: [0, 0, 0]}}
probes: {tip: {position: column.tip}}
"""


def test_a_section_of_constant_curvature():
    robot = sinew.Robot(SECTION)
    robot.equilibrium()
    q, u = robot.q.copy(), dict(robot.controls)
    ranges = {"base": (-1.0, 1.2), "bend.tz": (-2.7, 4.1)}
    m = robot.workspace(ranges, ["tip.x", "tip.y"], cells=[5, 6], refine=1)
    assert np.array_equal(robot.q, q) and str(dict(robot.controls)) == str(u)
    assert m.inputs == ("base", "bend.tz") and m.outputs == ("tip.x", "tip.y")
    assert m.sheets == 0 and m.exact and m.symmetric and not m.full
    assert set(m.kind) == {"inside", "limit", "rank"}
    f, a = m.u.T
    c, dc = np.sinc(a / 2 / np.pi), np.where(a == 0, 0, np.cos(a / 2) / np.where(a == 0, 1, a) - np.sin(a / 2) * 2 / np.where(a == 0, 1, a) ** 2)  # fmt: skip
    assert np.allclose(m.y, np.c_[c * np.cos(f + a / 2), c * np.sin(f + a / 2)], rtol=0, atol=1e-9)
    assert np.allclose(m.stability, 1, rtol=0, atol=1e-9)
    # gain along and across the direction of the tip, inputs in their ranges; the length of the robot is 1
    for i in range(len(m.kind)):
        J = np.array([[0, dc[i] * 6.8], [c[i] * 2.2, c[i] / 2 * 6.8]])
        s = np.linalg.svd(J, compute_uv=False)
        assert m.dexterity[i] == pytest.approx(s[1] / s[0], abs=1e-8)
    # the envelope: the rod is straight
    rank = m.of("rank")
    assert rank.sum() >= 11 and np.abs(a[rank]).max() < 1e-8
    assert np.allclose(np.hypot(*m.y[rank].T), 1, rtol=0, atol=1e-12)
    # limits: nodes with an input at the end of its range, joined along all four sides
    border = np.isin(f, ranges["base"]) | np.isin(a, ranges["bend.tz"])
    assert np.array_equal(m.of("limit"), border & ~rank)
    length = np.abs(np.diff(m.u[m.segments[m.segment_kind == "limit"]], axis=1))[:, 0]
    assert length.sum(axis=0) == pytest.approx([2 * 2.2, 2 * 6.8], rel=1e-12)
    # the envelope is one line from side to side
    assert np.abs(np.diff(m.u[m.segments[m.segment_kind == "rank"]], axis=1))[:, 0, 0].sum() == pytest.approx(2.2, rel=1e-12)


def areas(points, triangles):
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2


def test_triangles_cover_what_is_reached():
    # each sheet of the tip's places is a ring between the radii c and 1, turned by f: an area of f (1 - c^2)/2
    ranges = {"base": (-1.0, 1.2), "bend.tz": (-2.7, 4.1)}
    c = np.sinc(np.array(ranges["bend.tz"]) / 2 / np.pi)
    error = []
    for cells in (9, 18, 36):
        m = sinew.Robot(SECTION).workspace(ranges, ["tip.x", "tip.y"], cells=cells, refine=1)
        assert m.triangles.shape[1] == 3 and m.of("rank")[np.unique(m.triangles)].sum() == m.of("rank").sum()
        assert areas(m.u, m.triangles).sum() == pytest.approx(2.2 * 6.8, rel=1e-12)  # no gap and no overlap
        exact = 2.2 * np.sum(1 - c**2) / 2
        whole = sinew.Robot(SECTION).workspace(ranges, ["tip.x", "tip.y"], cells=cells, refine=0)
        error.append(np.abs(areas(whole.y, whole.triangles).sum() - exact))
        assert np.abs(areas(m.y, m.triangles).sum() - exact) < error[-1]  # cells at bent limits are divided
        # cells of different sizes share the points between them: an edge in the inside has two triangles
        edges = np.sort(m.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, times = np.unique(edges, axis=0, return_counts=True)
        assert set(times) == {1, 2}
        outside = edges[times == 1]
        limits = [np.isin(m.u[outside[:, k]], np.array(list(ranges.values()))[:, end]) for k in (0, 1) for end in (0, 1)]
        side = np.stack(limits).reshape(2, 2, -1, 2)  # end of the edge, of the range, edge, input
        assert np.all(np.any(side[0] & side[1], axis=(0, 2)))
    assert error[0] > 3.5 * error[1] > 12 * error[2]  # of second order


def test_triangles_end_at_folds():
    m = sinew.Robot(RFRFR).workspace({"press.fy": (-30.0, -10.0), "motor(1)": tuple(np.radians([98, 106]))}, cells=3, refine=1)
    fold = m.u[m.of("fold")]
    fold = fold[np.argsort(fold[:, 1])]
    # the area between the curve of folds, by a parabola through its points, and the limits
    curve = np.polynomial.Polynomial.fit(fold[:, 1], fold[:, 0], 2)
    whole = -10 * np.radians(8) - (curve.integ()(np.radians(106)) - curve.integ()(np.radians(98)))
    assert areas(m.u, m.triangles).sum() == pytest.approx(whole, rel=1e-3)
    assert not np.any(m.of("lost", "unstable")[m.triangles])
    assert np.all(np.isfinite(m.y[m.triangles]))


def test_nodes_on_the_envelope():
    m = sinew.Robot(SECTION).workspace({"base": (-1.0, 1.0), "bend.tz": (-2.0, 2.0)}, ["tip.x", "tip.y"], cells=4, refine=0)
    assert np.all(m.u[m.of("rank"), 1] == 0) and m.of("rank").sum() == 5
    assert (m.segment_kind == "rank").sum() >= 4


def test_folds_of_two_hinged_rods():
    robot = sinew.Robot(RFRFR, set={"n": 12, "left.rod.nodes": 32, "right.rod.nodes": 32})
    m = robot.workspace({"press.fy": (-30.0, -10.0), "motor(1)": tuple(np.radians([98, 102]))}, cells=2, refine=0)
    fold = m.of("fold")
    order = np.argsort(m.u[fold, 1])
    u, y = m.u[fold][order], m.y[fold][order]
    # docs/references.md: independent program, its digits
    assert np.degrees(u[:, 1]) == pytest.approx([98, 100, 102], rel=1e-12)
    assert -u[:, 0] == pytest.approx([24.03292926, 23.789472821, 23.55328822], rel=5e-9)
    assert y[1, :2] == pytest.approx([-0.07394790, 0.67527531], abs=1e-8)
    assert np.all(m.stability[fold] == 0)
    assert m.of("lost").sum() == 3 and np.all(m.u[m.of("lost"), 0] == -30)
    assert np.all(np.isnan(m.y[m.of("lost")]))
    assert (m.segment_kind == "fold").sum() == 2


def test_a_curve_of_folds_is_refined():
    robot = sinew.Robot(RFRFR)
    ranges = {"press.fy": (-30.0, -10.0), "motor(1)": tuple(np.radians([98, 106]))}
    coarse = robot.workspace(ranges, cells=2, refine=0)
    fine = robot.workspace(ranges, cells=2, refine=2)
    assert fine.of("fold").sum() >= 9 > coarse.of("fold").sum()
    # at the same angles the same loads, whichever edge they were found on
    for angle, load in zip(coarse.u[coarse.of("fold"), 1], coarse.u[coarse.of("fold"), 0]):
        same = fine.of("fold") & (np.abs(fine.u[:, 1] - angle) < 1e-12)
        assert same.sum() >= 1 and fine.u[same, 0] == pytest.approx(load, rel=1e-9)
    # stability falls towards the boundary, and folds lie between stable and lost nodes
    for a, b in fine.segments[fine.segment_kind == "fold"]:
        assert fine.kind[a] == fine.kind[b] == "fold"
    assert np.all(fine.stability[fine.of("inside", "limit")] > 0)


def test_a_truss_does_not_snap():
    robot = sinew.Robot(text=TRUSS)
    m = robot.workspace({"push": (-1.0, 0.5)}, ["z.z"], cells=6, refine=2)
    z = np.sqrt(1.02 ** (2 / 3) - 1)
    force = 100 * z * (1.02 / np.hypot(1, z) - 1)
    fold = m.of("fold")
    assert fold.sum() == 1
    assert m.u[fold, 0] == pytest.approx(-force, rel=1e-8)
    assert m.y[fold, 0] == pytest.approx(z, rel=1e-6)
    reached = m.of("inside", "limit")
    assert np.all(m.y[reached, 0] > z) and np.all(m.u[reached, 0] > -force)
    assert np.all(m.u[m.of("lost"), 0] < -force)
    for load, at in zip(m.u[reached, 0], m.y[reached, 0]):
        assert 100 * at * (1 - 1.02 / np.hypot(1, at)) == pytest.approx(load, abs=1e-9)


def test_a_column_buckles():
    m = sinew.Robot(text=COLUMN).workspace({"press.fx": (-3.0, 0.0)}, cells=4, refine=1)
    assert m.of("bifurcation").sum() == 1
    assert m.u[m.of("bifurcation"), 0] == pytest.approx(-np.pi**2 / 4, rel=1e-7)
    assert m.of("unstable").sum() >= 1 and np.all(m.negative[m.of("unstable")] == 1)
    assert np.all(m.u[m.of("unstable"), 0] < -np.pi**2 / 4)


@pytest.mark.parametrize("seed", range(4))
def test_random_arms_against_their_equilibria(seed):
    rng = np.random.default_rng(seed)
    text = f"""
sinew: 1
gravity: [0, 0, -9.81]
materials: {{soft: {{young: {10 ** rng.uniform(5.5, 6.5):.6g}, poisson: 0.4, density: 1000}}}}
robot:
  hip: {{on: world, joint: revolute, axis: y, body: {{mass: 0.1, inertia: [0, 0, 0]}}}}
  arm: {{on: hip, rod: {{length: {rng.uniform(0.1, 0.2):.6g}, section: {{circle: {{radius: 1 cm}}}}, material: soft, strain: kirchhoff legendre 3, nodes: 10}}}}
actuators:
  motor: {{joint: hip, position: {rng.uniform(-0.5, 0.5):.6g}}}
  cord(k=1..2): {{tendon: {{along: arm, at: [0, 6 mm*cos(k), 6 mm*sin(k)]}}, effort: 1 N}}
loads: {{push: {{on: arm.tip, force: [0, 0.01 N, 0]}}}}
probes: {{tip: {{position: arm.tip}}, turn: {{rotation: arm.tip}}}}
"""
    robot = sinew.Robot(text=text)
    names = list(rng.permutation(["motor", "cord(1)", "cord(2)", "push.fz"])[: 1 + seed % 3])
    ranges = {n: (-0.4, 0.5) if n == "motor" else (0.0, 2.0) if n[0] == "c" else (-0.05, 0.05) for n in names}
    m = robot.workspace(ranges, ["tip", "turn"], cells=2, refine=seed % 2)
    assert set(m.kind) <= {"inside", "limit", "rank", "fold", "bifurcation", "lost", "unstable"}
    for i in rng.choice(np.flatnonzero(m.of("inside", "limit")), 3):
        other = sinew.Robot(text=text)
        for name, value in zip(m.inputs, m.u[i]):
            if name == "push.fz":
                other.set_load("push", force=[0, 0.01, value])
            else:
                other.controls[name] = value
        other.equilibrium()
        assert np.allclose(other.probe("tip")[:3], m.y[i, :3], rtol=0, atol=1e-8)
        assert other.stability == pytest.approx(m.stability[i], rel=1e-6)


def test_a_plate_on_three_rods_is_symmetric():
    # mirrored motors mirror the plate: x as it was, y the other way, the same stability and kind
    robot = sinew.Robot(ROOT / "examples" / "parallel" / "three_rods.yaml")
    ranges = {"motor(2)": (-0.3, 0.5), "motor(3)": (-0.3, 0.5)}
    m = robot.workspace(ranges, ["plate.x", "plate.y"], cells=2, refine=0)
    nodes = m.of("inside", "limit")
    assert nodes.sum() == 9
    for u, y, s, d in zip(m.u[nodes], m.y[nodes], m.stability[nodes], m.dexterity[nodes]):
        other = np.flatnonzero(nodes & np.all(np.abs(m.u - u[::-1]) < 1e-12, axis=1))[0]
        assert m.y[other] == pytest.approx([y[0], -y[1]], abs=1e-8)
        assert (m.stability[other], m.dexterity[other]) == pytest.approx((s, d), rel=1e-6)


def test_a_map_outlives_its_robot_and_stops_when_it_is_full():
    m = sinew.Robot(RFRFR).workspace({"press.fy": (-30.0, 0.0), "motor(1)": (1.7, 1.9)}, cells=2, refine=5, most=30)
    assert m.full and len(m.kind) < 100
    assert "press.fy" in repr(m)
    with pytest.raises(sinew.ArgumentError, match="kinds are"):
        m.of("edge")


def test_loads_as_unknowns_of_inverse_statics():
    # the force at which the truss has a height, on the branch of its start
    robot = sinew.Robot(text=TRUSS + "loads: {press: {on: slider, force: [0, 0, 0]}}\n")
    s = robot.solve_inverse({"z.z": 0.18}, ["press.fz"])
    assert s.reached and s.inputs[0].unit == "N"
    assert s.values["press.fz"] == pytest.approx(100 * 0.18 * (1 - 1.02 / np.hypot(1, 0.18)), abs=1e-8)
    limited = sinew.Robot(text=TRUSS + "loads: {press: {on: slider, force: [0, 0, 0]}}\n")
    s = limited.solve_inverse({"z.z": 0.18}, ["press.fz"], limits={"press.fz": (-0.05, None)})
    assert not s.reached and s.inputs[0].limit == "low" and s.inputs[0].value == -0.05


@pytest.mark.parametrize("ranges, more, message", [
    ({}, {}, "1 to 3 inputs"),
    ({"motor(1)": (1, 0)}, {}, "needs a range"),
    ({"motor(3)": (0, 1)}, {}, r"motor\(3\)"),
    ({"press.fw": (0, 1)}, {}, "no component 'fw'"),
    ({"press": (0, 1)}, {}, "several inputs|is no input"),
    ({"motor(1)": (0, 1)}, {"outputs": "nothing"}, "nothing"),
    ({"motor(1)": (0, 1)}, {"cells": 2000}, "1 to 1000"),
    ({"motor(1)": (0, 1)}, {"cells": [2, 3]}, "2 numbers for 1"),
    ({"motor(1)": (0, 1)}, {"cells": 0}, "must be positive"),
    ({"motor(1)": 1}, {}, "a lowest and a highest value"),
    ({"motor(1)": ("0 deg", "1 deg")}, {}, "numbers in SI units"),
    ({"motor(1)": (0, 1)}, {"refine": 20}, "levels"),
    ({"motor(1)": (0, 1), "motor(2)": (0, 1), "press.fy": (0, 1)}, {"cells": 100}, "fewer cells"),
    ({"left.rod.length": (0, 1)}, {}, "no input of an actuator"),
])  # fmt: skip
def test_mistakes(ranges, more, message):
    robot = sinew.Robot(RFRFR)
    with pytest.raises(sinew.Error, match=message):
        robot.workspace(ranges, **more)


def test_cells_over_which_the_pose_goes_far_are_bisected():
    # a cantilever of unit stiffness and length goes most of its way under the first loads
    beam = sinew.Robot.from_dict({
        "gravity": 0,
        "robot": {"beam": {"on": "world", "rod": {"length": 1, "section": {"stiffness": {"bend_y": 1}},
                                                  "strain": {"bend_y": "legendre 8"}}}},
        "loads": {"push": {"on": "beam.tip", "force": [0, 0, 0]}},
        "probes": {"tip": {"position": "beam.tip"}},
    })  # fmt: skip

    def longest(refine):
        m = beam.workspace({"push.fz": (0, 50)}, ["tip.x", "tip.z"], cells=12, refine=refine)
        nodes = m.of("inside", "limit")
        order = np.argsort(m.u[nodes][:, 0])
        return len(order), np.linalg.norm(np.diff(m.y[nodes][order], axis=0), axis=1).max()

    (few, coarse), (more, fine) = longest(0), longest(2)
    assert few == 13 and more <= few + 6
    assert coarse > 0.7 and fine < 0.32  # tips at 50/12 N and, divided twice, at 50/48 N: 0.307 at 1 N by elliptic integrals
