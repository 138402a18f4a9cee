# SPDX-License-Identifier: MIT
"""Robots with loops at the command: what check says of them, what a run warns of."""
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
        self.assertIn("1 degrees of freedom (4 coordinates, 2 loops)", out)
        self.assertIn("revolute z: 5 rows, 3 hold by themselves: tilt x, tilt y, move z; their reactions", out)
        self.assertIn("1 implied by other loops", out)
        told = self.succeeds("check", "bars.yaml", "--json").json["runs"][0]
        self.assertEqual((told["degrees_of_freedom"], told["coordinates"]), (1, 4))
        self.assertEqual(list(told["loops"]), ["close", "brace"])

    def test_a_run_says_what_it_moved_and_left_out(self):
        self.write("bars.yaml", PARALLEL)
        err = self.succeeds("run", "bars.yaml", "-q").err
        self.assertIn("loop 'brace' says in 1 of its rows what others say already", err)
        self.assertEqual(err.count("the robot was moved to close it"), 1)

    def test_check_names_what_turns_freely(self):
        self.write("pin.yaml", PIN)
        self.assertIn("plate: turns freely, nothing moves it or is moved by it", self.succeeds("check", "pin.yaml").out)
        self.assertEqual(self.succeeds("run", "pin.yaml", "-q").err, "")


if __name__ == "__main__":
    harness.main()
