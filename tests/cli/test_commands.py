# SPDX-License-Identifier: MIT
"""The block `commands` of a file: options of commands by their names, as if the command line had them."""
import math

import harness
from harness import Case

SPRING = """\
sinew: 1
gravity: 0
parameters: {k: 40 N/m, F: 3 N, u: 2 N*sin(3*t/(1 s))}
robot: {mass: {on: world, joint: prismatic, axis: x, stiffness: k, damping: 1 N*s/m, body: {mass: 2 kg}}}
actuators: {push: {joint: mass, effort: F}, motor: {joint: mass, effort: u}}
study: [static, dynamic: {name: swing, for: 0.5 s, step: 10 ms, scheme: bdf2}]
probes: {place: {value: mass}}
"""

ARM = """\
sinew: 1
gravity: 0
robot: {arm: {on: world, rod: {length: 1, section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre 5}}}}
loads: {push: {on: arm.tip, force: [0, 0 N, 0]}}
study: [static]
probes: {tip: {position: arm.tip}}
"""


class Commands(Case):
    def test_a_gradient_is_asked_in_the_file(self):
        self.write("s.yaml", SPRING + "commands: {gradient: {of: [place, mean(place^2)], by: [k, F], memory: 20, csv: off}}\n")
        self.write("p.yaml", SPRING)
        asked = self.succeeds("gradient", "s.yaml", "--json").json
        line = self.succeeds("gradient", "p.yaml", "--json", "--of", "place", "--of", "mean(place^2)", "--by", "k,F").json
        self.assertEqual(asked["scalars"], line["scalars"])
        # the command line replaces an option, and the others stay
        fewer = self.succeeds("gradient", "s.yaml", "--json", "--by", "F").json
        self.assertEqual([v["name"] for v in fewer["variables"]], ["F"])
        self.assertEqual(len(fewer["scalars"]), 2)
        self.succeeds("check", "s.yaml")
        self.succeeds("run", "s.yaml", "-q")

    def test_knots_of_a_law(self):
        # values of the law at its knots are variables, and begin as those of the file; a step of bdf2 reads its end: the
        # derivatives by all knots add up to that by a constant that is added to the law
        self.write("s.yaml", SPRING + "commands: {gradient: {of: place, by: F, knots: {motor.effort: [linear, 51, 0.5 s, N]}}}\n")
        j = self.succeeds("gradient", "s.yaml", "--json").json
        self.assertEqual(len(j["variables"]), 52)
        by = dict(zip((v["name"] for v in j["variables"]), j["scalars"][0]["derivative"]))
        self.assertAlmostEqual(sum(v for k, v in by.items() if k != "F"), by["F"], delta=1e-12)
        for k, v in enumerate(j["variables"][1:]):
            self.assertAlmostEqual(v["value"], 2 * math.sin(3 * 0.01 * k), delta=1e-14)
        # and those of whole runs
        few = ("gradient", "s.yaml", "--json", "--by", "k", "--knots", "motor.effort=smooth, 4, 500 ms, N")
        exact, runs = (self.succeeds(*few, "--method", m).json["scalars"][0]["derivative"] for m in ("adjoint", "differences"))
        for a, b in zip(exact, runs):
            self.assertAlmostEqual(a, b, delta=1e-10)
        for bad, why in (("motor.effort=cubic, 3, 1 s", "--knots takes"), ("motor.effort=linear, 1, 1 s", "--knots takes"),
                         ("motor.effort=linear, 3", "--knots takes"), ("motor.effort=linear, 3, -1 s", "must be positive"),
                         ("motor.effort=hold, 3, 1 kg", "kg"), ("motor.x=hold, 3, 1 s, N", "unknown key 'x'")):
            self.assertIn(why, self.fails(2, "gradient", "s.yaml", "--knots", bad).err)

    def test_maps_lists_and_ranges(self):
        self.write("a.yaml", ARM + """\
commands:
  solve: {target: {tip.y: 30 cm}, actuator: {push.fy: [0 N, 5 N]}}
  workspace: {input: {push.fy: [-1 N, 1 N]}, probe: [tip.x, tip.y], cells: 4, refine: 0}
  linearize: {at: start, input: push.fy, probe: tip.y}
""")
        self.write("b.yaml", ARM)
        pairs = ((("solve",), ("-t", "tip.y=30 cm", "-a", "push.fy=0 N..5 N")),
                 (("workspace",), ("-i", "push.fy=-1 N..1 N", "-p", "tip.x", "-p", "tip.y", "--cells", "4", "--refine", "0")))
        for command, options in pairs:
            self.assertEqual(self.succeeds(*command, "a.yaml", "--json").json, self.succeeds(*command, "b.yaml", *options, "--json").json)
        self.assertIn("no mass", self.fails(2, "linearize", "a.yaml").err)

    def test_files_are_relative_to_the_model(self):
        (self.folder / "sub").mkdir()
        self.write("sub/tip.csv", "t,place\n" + "".join(f"{0.01 * k:g},{0.05 + 0.001 * k:g}\n" for k in range(1, 21)))
        self.write("sub/s.yaml", SPRING + """\
commands:
  track: {targets: tip.csv, step: 10 ms, actuator: {motor: [-50 N, 50 N]}, at: start}
  estimate: {measured: tip.csv, noise: {place: 1 mm}, unknown: {motor: [0 N, 1 N, 1 N]}, process: {rates: 0.1}, moving: on}
  fit: {data: still.csv, find: {k: 30 N/m}, error: {place: 1 mm}, known: on, bound: {k: [10 N/m, 90 N/m]}, prior: {k: [40 N/m, 50 N/m]}}
""")
        self.write("sub/still.csv", "t,place\n0,0.06\n")
        self.succeeds("track", "sub/s.yaml", "--json")
        self.assertEqual([u["name"] for u in self.succeeds("estimate", "sub/s.yaml", "--json").json["unknown"]], ["motor"])
        fit = self.succeeds("fit", "sub/s.yaml", "--json").json["found"][0]
        self.assertAlmostEqual(fit["value"], 50, delta=0.1) # F/k = 0.06, the prior is weak
        self.assertIn("DATA.csv", self.fails(2, "fit", self.write("p.yaml", SPRING), "--find", "k").err)

    def test_data_choose_their_runs(self):
        text = SPRING.replace("study: [static, dynamic: {name: swing, for: 0.5 s, step: 10 ms, scheme: bdf2}]", "study: [static]")
        self.write("r.yaml", text + "runs: {light: {F: 2 N}, other: {}, heavy: {F: 4 N}}\n"
                   "commands: {fit: {data: {light: l.csv, heavy: h.csv}, find: k, error: {place: 1 mm}}}\n")
        self.write("l.csv", "t,place\n0,0.0401\n")
        self.write("h.csv", "t,place\n0,0.0799\n")
        j = self.succeeds("fit", "r.yaml", "--json").json
        self.assertEqual({c["run"] for c in j["columns"]}, {"light", "heavy"})
        # least squares of F/k: 1/k = sum F y/sum F^2
        self.assertAlmostEqual(j["found"][0]["value"], 20 / (2 * 0.0401 + 4 * 0.0799), delta=1e-6)
        self.assertIn("leave out --run", self.fails(2, "fit", "r.yaml", "--run", "light").err)

    def test_bad_blocks(self):
        for block, why in (("{gradiant: {of: place}}", "did you mean 'gradient'"),
                           ("{gradient: place}", "has options by name"),
                           ("{gradient: {off: place, by: k}}", "did you mean 'of'"),
                           ("{linearize: {input: push, output: x.h5}}", "belongs to the command line"),
                           ("{gradient: {of: {place: 1}, by: k}}", "is a text or a list"),
                           ("{gradient: {of: place, by: k, method: [adjoint]}}", "is one text"),
                           ("{gradient: {of: place, by: k, csv: maybe}}", "is on or off"),
                           ("{fit: {date: a.csv}}", "did you mean 'data'"),
                           ("{solve: {actuator: {push: {low: 0}}}}", "is a text")):
            self.write("b.yaml", SPRING + f"commands: {block}\n")
            r = self.fails(2, "check", "b.yaml")
            self.assertIn(why, r.err, block)
            self.assertRegex(r.err, r"b\.yaml:\d+:\d+")


if __name__ == "__main__":
    harness.main()
