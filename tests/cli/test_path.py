# SPDX-License-Identifier: MIT
"""Path steps as a person uses them: tables, JSON, figures with gaps between paths, resuming, refusals."""
import harness
from harness import Case, has_viewer

# von Mises' truss: folds at P = +-3.0191474033
TRUSS = """\
sinew: 1
title: A truss that snaps
gravity: 0
parameters: {H: 0.2 m, P: 1 N/s*t}
robot: {apex: {on: world, pose: {xyz: [0, H, 0]}, joint: prismatic, axis: y, body: {mass: 1 kg}}}
springs: {bar(s=1..2): {spring: [{xyz: [2*s - 3, 0, 0]}, apex], rest: "sqrt(1 m^2 + H^2)", stiffness: 1000 N/m}}
loads: {press: {on: apex, force: [0, -P, 0]}}
study: [path: {range: [-4 s, 4 s], by: H}]
probes: {y: {position: apex}}
"""

# Euler's column, with both bent branches
COLUMN = """\
sinew: 1
gravity: 0
robot: {column: {on: world, pose: {x: z}, rod: {length: 1, section: {stiffness: {bend_y: 1}}, strain: {bend_y: legendre 6}}}}
loads: {press: {on: column.tip, force: [0, 0, "-pi^2/4*1 N/s*t"]}}
study: [path: {range: [0 s, 1.5 s], branches: 1}]
probes: {head: {position: column.tip}}
"""

# a steel strip of 200 mm, pressed together by 2 mm, pushed at its middle
STRIP = """\
sinew: 1
gravity: 0
parameters: {F: 1 N/s*t}
materials: {steel: {young: 200 GPa, poisson: 0.3, density: 7800 kg/m^3}}
robot:
  left:
    on: world
    rod: &rod
      length: 0.1 m
      section: {rectangle: {y: 0.5 mm, z: 10 mm}}
      material: steel
      strain: {bend_z: legendre 10, stretch: legendre 3}
      nodes: 32
      magnus: 6
  right: {on: left, rod: *rod}
loops:
  clamp: {join: [world, right.tip], as: fixed, pose: {xyz: [0.198, 0, 0]}}
loads: {press: {on: left.tip, force: [0, -F, 0]}}
initial: {left: {strain: {bend_z: 3*cos(2*pi*x/L)}}, right: {strain: {bend_z: -3*cos(2*pi*x/L)}}}
study: [static, path: {range: [0 s, 12 s], branches: 1}]
probes: {mid: {position: left.tip}, load: {law: F}}
"""


class Paths(Case):
    def test_branches_of_a_robot_with_loops_are_left(self):
        # the other branch has the thrust of the second mode: the force is 2 EI n^3/(u - 2 tan(u/2)) times the deflection, but for
        # the shortening of 1 %; the tangent at the branch point itself is that branch and no direction away from it
        self.write("strip.yaml", STRIP)
        self.succeeds("run", "strip.yaml", "-q")
        self.succeeds("export", "strip.h5", "-o", "strip.csv")
        rows = [line.split(",") for line in (self.folder / "strip.csv").read_text().splitlines()]
        y, load = (rows[0].index(name) for name in ("mid.y", "load"))
        points = [(float(r[y]), float(r[load])) for r in rows[1:]]
        slope = 207.744815 * 200e9 * 0.01 * 0.0005**3 / 12 / 0.2**3
        beyond = [f / w for w, f in points if 0.001 < w < 0.011]  # on the first path the force is far larger there
        self.assertGreater(len(beyond), 10)
        self.assertLess(max(abs(k / slope - 1) for k in beyond), 0.015)

    def test_special_points_are_listed(self):
        self.write("truss.yaml", TRUSS)
        out = self.succeeds("run", "truss.yaml").out
        self.assertRegex(out, r"fold 1 +1 +3\.0191474")
        self.assertRegex(out, r"fold 2 +1 +-3\.0191474")
        self.assertRegex(out, r"fold 1 +H +44\.70154")
        shown = self.succeeds("show", "truss.h5").out
        self.assertRegex(shown, r"fold 2 +1 +-3\.0191474")
        self.assertRegex(shown, r"fold 2 +H +-44\.70154")
        for call in (("run", "truss.yaml"), ("show", "truss.h5")):
            run = self.succeeds(*call, "--json").json["runs"][0]
            self.assertEqual([(p["kind"], p["number"], p["path"]) for p in run["special"]], [("fold", 1, 1), ("fold", 2, 1)])
            self.assertAlmostEqual(run["special"][0]["t"], 3.0191474033, places=8)
            self.assertAlmostEqual(run["special"][0]["by"]["H"], 44.7015455347, places=6)
            self.assertAlmostEqual(run["special"][1]["by"]["H"], -44.7015455347, places=6)

    def test_each_path_of_a_file_has_its_own_derivatives(self):
        # P* = 2 k ((l_0/b)^(2/3) - 1)^(3/2): dP*/dk = P*/k; without `by` there is none
        steps = "study: [path: {range: [0 s, 4 s], by: [k, H]}, path: {name: back, range: [-4 s, 4 s]}, path: {name: last, range: [-4 s, 4 s], by: k}]"
        text = TRUSS.replace("1000 N/m}}", "k}}").replace("H: 0.2 m,", "H: 0.2 m, k: 1000 N/m,")
        self.write("truss.yaml", text.replace("study: [path: {range: [-4 s, 4 s], by: H}]", steps))
        self.succeeds("run", "truss.yaml")
        found = {}
        for p in self.succeeds("show", "truss.h5", "--json").json["runs"][0]["special"]:
            found.setdefault(p["step"], p.get("by"))
        self.assertEqual([list(by or []) for by in found.values()], [["k", "H"], [], ["k"]])
        of_first, _, of_last = found.values()
        self.assertAlmostEqual(of_first["H"], 44.7015455347, places=6)
        self.assertAlmostEqual(of_first["k"], 0.0030191474033, places=9)
        self.assertAlmostEqual(abs(of_last["k"]), 0.0030191474033, places=9)

    def test_figures_have_gaps_between_paths(self):
        self.write("column.yaml", COLUMN)
        self.succeeds("run", "column.yaml")
        for figure in (["--probe", "head.x"], ["--phase", "head.x,head.z"], ["--shape"]):
            self.succeeds("plot", "column.h5", *figure, "-o", "column.svg")
            if figure[0] == "--phase":
                svg = (self.folder / "column.svg").read_text()
                for name in ("stable", "unstable", "branch"):
                    self.assertIn(f">{name}</text>", svg)
                self.assertNotIn("fold", svg)
                self.assertIn("stroke-dasharray", svg)
        for end in ("glb", "csv"):
            self.succeeds("export", "column.h5", "-o", "column." + end)
        if has_viewer():
            self.succeeds("view", "column.h5", "-o", "column.html")

    def test_the_curve_of_folds_is_drawn_as_such(self):
        self.write("truss.yaml", TRUSS.replace("by: H", "by: H, folds: {of: H, range: [0.1 m, 0.3 m]}"))
        self.succeeds("run", "truss.yaml")
        self.succeeds("plot", "truss.h5", "--phase", "y.x,y.y", "-o", "truss.svg")
        svg = (self.folder / "truss.svg").read_text()
        for name in ("stable", "unstable", "curve of folds", "fold"):
            self.assertIn(f">{name}</text>", svg)

    def test_a_stopped_path_goes_on_with_the_same_bits(self):
        # on the first path, at its end, on both branches; with folds, their derivatives and a curve of them
        curve = TRUSS.replace("by: H", "by: H, folds: {of: H, range: [0.1 m, 0.3 m]}")
        for text in (COLUMN, curve):
            self.write("model.yaml", text)
            whole = self.succeeds("run", "model.yaml", "-o", "whole.h5", "--json").json["runs"][0]
            want = self.succeeds("show", "whole.h5", "--csv").out
            frames = self.frames("whole.h5")
            for first, then in harness.few(((24, 20), (9, 4), (frames - 3, 1)), 3):
                self.succeeds("run", "model.yaml", "-o", "part.h5", "--increments", first)
                self.succeeds("run", "model.yaml", "-o", "part.h5", "--increments", then, "--resume")
                part = self.succeeds("run", "model.yaml", "-o", "part.h5", "--resume", "--json").json["runs"][0]
                self.assertEqual(self.succeeds("show", "part.h5", "--csv").out, want)
                self.assertEqual(part["special"], whole["special"])
                (self.folder / "part.h5").unlink()

    def test_a_stopped_path_does_not_begin_again(self):
        self.write("column.yaml", COLUMN)
        self.succeeds("run", "column.yaml", "-o", "part.h5", "--increments", 10)
        before = self.frames("part.h5")
        self.assertLess(before, 14)  # special points are computed with the point behind them
        self.succeeds("run", "column.yaml", "-o", "part.h5", "--increments", 10, "--resume")
        self.assertGreater(self.frames("part.h5"), before + 5)  # begun again it would have as many as before

    def test_a_path_that_ends_at_a_corner_says_where(self):
        law = 'P: "1 N/s*t + 4 N*(1 - ramp(t, -1 s, -0.9999 s))"'
        self.write("corner.yaml", TRUSS.replace("P: 1 N/s*t", law).replace("[-4 s, 4 s], by: H", "[-1 s, 4 s]"))
        self.assertRegex(self.fails(1, "run", "corner.yaml").err, r"could not be continued beyond t = -0.99.*laws without jumps")

    def test_expectations_at_points(self):
        self.write("truss.yaml", TRUSS + "expect:\n  - {probe: y.y, point: fold.2, value: -0.1147144447, within: 1e-8, source: closed form}\n")
        self.succeeds("verify", "truss.yaml")
        for point, said in (("fold.3", "no fold 3"), ("fold.0", "no special point"), ("knot", "no special point"), ("fold.x", "no special point")):
            self.write("truss.yaml", TRUSS + f"expect:\n  - {{probe: y.y, point: {point}, value: 0, within: 1e-8, source: none}}\n")
            reply = self.sinew("verify", "truss.yaml")
            self.assertIn(said, reply.out + reply.err)
            self.assertNotEqual(reply.code, 0)


if __name__ == "__main__":
    harness.main()
