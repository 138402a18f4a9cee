# SPDX-License-Identifier: MIT
"""Names of things with -, / and dots: in sites, paths, overrides, changes, results and exports; a model with plain names is the same."""
import harness

MODEL = """\
sinew: 1
title: Names of other robots
materials: {soft-rubber.v2: {young: 2 MPa, poisson: 0.4, density: 1000}}
robot:
  base-link: {on: world, joint: revolute, axis: y, damping: 0.1, body: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}
  left/arm.v2:
    on: base-link
    pose: {xyz: [0.2, 0, 0]}
    rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: soft-rubber.v2, strain: kirchhoff legendre 3}
  tool.a/b: {on: left/arm.v2.tip, body: {mass: 0.05, inertia: [1e-5, 1e-5, 1e-5]}}
sites: {half-way: {on: left/arm.v2@50%}}
actuators:
  cord-1: {tendon: {along: left/arm.v2, at: [0, 0, 5 mm]}, effort: 1 N}
  hold.base: {joint: base-link, position: 0}
loads: {pull.x: {on: left/arm.v2@75%, force: [0, 0, 0.1]}}
study:
  - static:
  - change: {hold.base.position: 0.2, cord-1.effort: 2 N}
  - static:
probes:
  tip: {position: left/arm.v2.tip}
  mid: {position: half-way}
  tension: {tension: cord-1.tip}
  root: {reaction: left/arm.v2}
  tau: {effort: hold.base}
runs:
  plain: {}
  other: {left/arm.v2.rod.length: 0.4, robot.left/arm.v2.pose: {xyz: [0.3, 0, 0]}, soft-rubber.v2.young: 3 MPa, pull.x: off}
"""
PLAIN = {"left/arm.v2": "arm", "soft-rubber.v2": "rubber", "base-link": "base", "tool.a/b": "tool", "half-way": "half",
         "cord-1": "cord", "hold.base": "hold", "pull.x": "pull"}


class Names(harness.Case):
    def values(self, text, *options):
        self.write("robot.yaml", text)
        self.succeeds("run", "robot.yaml", "-o", "robot.h5", *options)
        return {run["run"]: run["last"] for run in self.succeeds("show", "robot.h5", "--json").json["runs"]}

    def test_other_names_are_the_same_robot(self):
        plain = MODEL
        for name, word in PLAIN.items():
            plain = plain.replace(name, word)
        expected, found = self.values(plain), self.values(MODEL)
        self.assertEqual(found, expected)
        self.assertNotEqual(found["plain"], found["other"])  # the overrides act
        for ending in ("usda", "glb", "pvd"):
            self.succeeds("export", "robot.h5", "--run", "plain", "-o", f"robot.{ending}")
        self.succeeds("view", "robot.h5", "-o", "robot.html")
        shorter = self.values(MODEL, "--set", "left/arm.v2.rod.length=0.25", "--run", "plain")
        self.assertEqual(shorter, self.values(plain, "--set", "arm.rod.length=0.25", "--run", "plain"))

    def test_a_name_that_would_be_a_path_is_refused(self):
        for name, begins in (("left/arm.v2.tip", "left/arm.v2"), ("robot.x", "robot"), ("world.x", "world")):
            self.write("robot.yaml", MODEL.replace("tool.a/b", name))
            self.assertIn(f"'{name}' begins with the name '{begins}' and a dot", self.fails(2, "check", "robot.yaml").err)
        for name in ("tool-", "tool..x", "-tool", "tool/", "tool x"):
            self.write("robot.yaml", MODEL.replace("tool.a/b", f'"{name}"'))
            self.assertIn(f"'{name}' is not a name", self.fails(2, "check", "robot.yaml").err)
        self.write("robot.yaml", MODEL.replace("  tip: {", "  tip-1: {"))  # probes are words of expressions
        self.assertIn("'tip-1' is not a name: letters, digits and _, beginning", self.fails(2, "check", "robot.yaml").err)


if __name__ == "__main__":
    harness.main()
