# SPDX-License-Identifier: MIT
"""Robots with loops at the command: output of check, warnings of a run."""
import resource
import unittest

import harness

LINK = "body: {mass: 1, com: [0, 0.1, 0], inertia: [1e-3, 1e-3, 2e-3]}"
BAR = "body: {mass: 1, inertia: [1e-3, 1e-3, 2e-3]}"
PARALLEL = f"""sinew: 1
gravity: [0, -9.81, 0]
robot:
  left: {{on: world, joint: revolute, {LINK}}}
  mid: {{on: world, pose: {{xyz: [0.2, 0, 0]}}, joint: revolute, {LINK}}}
  right: {{on: world, pose: {{xyz: [0.5, 0, 0]}}, joint: revolute, {LINK}}}
  bar: {{on: left, pose: {{xyz: [0, 0.3, 0]}}, joint: revolute, {BAR}}}
sites:
  m: {{on: mid, pose: {{xyz: [0, 0.3, 0]}}}}
  r: {{on: right, pose: {{xyz: [0, 0.3, 0]}}}}
  bm: {{on: bar, pose: {{xyz: [0.2, 0, 0]}}}}
  br: {{on: bar, pose: {{xyz: [0.5, 0, 0]}}}}
loops:
  close: {{join: [br, r], as: revolute}}
  brace: {{join: [bm, m], as: revolute}}
initial: {{left: {{position: 0.4}}}}
study: [static:]
probes: {{left: {{angle: left}}}}
"""
PIN = """sinew: 1
gravity: [0, -9.81, 0]
robot:
  arm: {on: world, joint: revolute, stiffness: 1, body: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}
  plate: {on: arm, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 0.2}}
study: [static:]
probes: {arm: {angle: arm}}
"""


class Loops(harness.Case):
    def test_check_names_rows_and_freedom(self):
        self.write("bars.yaml", PARALLEL)
        out = self.succeeds("check", "bars.yaml").out
        self.assertIn("1 degree of freedom (4 coordinates, 2 loops)", out)
        self.assertIn("revolute z: 5 rows, 3 identically satisfied: tilt x, tilt y, move z; their reactions", out)
        self.assertIn("1 redundant", out)
        told = self.succeeds("check", "bars.yaml", "--json").json["runs"][0]
        self.assertEqual((told["degrees_of_freedom"], told["coordinates"]), (1, 4))
        self.assertEqual(list(told["loops"]), ["close", "brace"])

    def test_check_counts_what_is_driven(self):
        motors = "actuators: {one: {joint: left, position: 0.4 + 0.1*t}, two: {joint: mid, position: 0.4 + 0.1*t}, three: {joint: bar, rate: 1, when: off}}\n"
        self.write("bars.yaml", PARALLEL + motors)
        out = self.succeeds("check", "bars.yaml").out
        self.assertIn("0 degrees of freedom (4 coordinates, 2 loops, 2 driven)", out)
        self.assertIn("two  position of joint mid given: angle f(t) rad\n", out)
        self.assertIn("three  rate of joint bar given: angle 1 rad/s, off\n", out)
        self.assertIn("2 redundant: move x, move y; their", out)
        self.assertIn("    warning: loop 'brace': 2 of its constraint rows are redundant", out)
        told = self.succeeds("check", "bars.yaml", "--json").json["runs"][0]
        self.assertEqual((told["degrees_of_freedom"], told["driven"]), (0, 2))
        self.assertIn("2 of its constraint rows are redundant", told["loops"]["brace"]["warning"])
        self.assertIsNone(told["loops"]["close"]["warning"])
        self.assertIn("2 of its constraint rows", self.succeeds("run", "bars.yaml", "-q").err)

    def test_check_lists_limits(self):
        self.write("slide.yaml", "sinew: 1\nrobot:\n  s: {on: world, joint: cylindrical, limits: [[-1, 2], [0, 5 cm]], body: {mass: 1}}\n")
        out = self.succeeds("check", "slide.yaml").out
        self.assertIn("cylindrical z, 2 degrees of freedom, warns outside angle [-1, 2], slide [0, 0.05]\n", out)
        told = self.succeeds("check", "slide.yaml", "--json").json["runs"][0]["robot"]["s"]
        self.assertEqual(told["limits"], [[-1, 2], [0, 0.05]])

    def test_a_run_says_what_it_moved_and_left_out(self):
        self.write("bars.yaml", PARALLEL)
        err = self.succeeds("run", "bars.yaml", "-q").err
        self.assertIn("loop 'brace': 1 of its constraint rows is redundant", err)
        self.assertEqual(err.count("the initial configuration was changed to close it"), 1)

    def test_check_names_what_turns_freely(self):
        self.write("pin.yaml", PIN)
        self.assertIn("plate: turns freely, uncoupled from the rest of the robot", self.succeeds("check", "pin.yaml").out)
        self.assertEqual(self.succeeds("run", "pin.yaml", "-q").err, "")

    def test_what_all_runs_have_in_common_is_said_once(self):
        self.write("open.yaml", """sinew: 1
gravity: 0
parameters: {late: 1 s}
robot:
  a: {on: world, joint: revolute, axis: z, body: {mass: 1, inertia: [1, 1, 1]}}
  b: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 1]}}
sites: {end: {on: a, pose: {xyz: [1, 0, 0]}}}
loops: {pin: {join: [end, b], as: revolute}}
actuators:
  turn: {joint: a, position: "if(t < late, 0, (t - late)/(1 s))"}
study: [dynamic: {for: 2 s, step: 10 ms}]
probes: {turn: {rotation: a}}
runs: {one: {}, two: {}, three: {late: 0.5 s}}
""")
        said = self.succeeds("run", "open.yaml").err.splitlines()
        self.assertEqual(sum("was open by" in line for line in said), 1, said)
        self.assertEqual(sum("which causes an impact" in line for line in said), 3, "each run has its own")

    @unittest.skipIf(harness.SLOW, "sanitizers need memory of their own")
    def test_a_net_is_opened_in_memory_linear_in_its_rods(self):
        net = harness.SOURCE / "examples/parallel/net.yaml"
        peak = []
        for side in (2, 16, 32):  # 4, 480 and 1984 rods
            self.succeeds("check", net, "--run", "net", "--set", f"N={side}")
            peak.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        # 4.13 times the rods, 3.6 times the memory; 5.6 when each rod had room for the stations of all
        self.assertLess(peak[2] - peak[0], 4.5*(peak[1] - peak[0]), peak)


if __name__ == "__main__":
    harness.main()
