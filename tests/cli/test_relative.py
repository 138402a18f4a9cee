# SPDX-License-Identifier: MIT
"""The probe `relative`, the pose of a site in another one, compared with closed forms."""
import math

import harness

# a base that turns and travels by laws, so that nothing is at rest in the world
BASE = "base: {on: world, pose: {xyz: [0.3*t, 0.1, t^2], axis: [1, 2, 2], angle: 0.7 + 1.3*t}}"


def helix(k, length):
    """Pose at the end of a rod with constant strain (k, e_x): exp of the screw length*(k, e_x), by Rodrigues' formula."""
    size = math.sqrt(sum(x * x for x in k))
    n, angle = [x / size for x in k], size * length
    cross = [[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]]
    square = [[sum(cross[i][m] * cross[m][j] for m in range(3)) for j in range(3)] for i in range(3)]

    def series(a, b, c):
        return [[a * (i == j) + b * cross[i][j] + c * square[i][j] for j in range(3)] for i in range(3)]

    turn = series(1, math.sin(angle), 1 - math.cos(angle))
    move = series(length, (1 - math.cos(angle)) / size, length - math.sin(angle) / size)
    return [row[0] for row in move], [x for row in turn for x in row]


class Relative(harness.Case):
    def verify(self, text):
        self.write("robot.yaml", "sinew: 1\ngravity: 0\n" + text)
        return self.succeeds("verify", "robot.yaml")

    def test_the_tip_of_an_arc_and_of_a_helix_from_its_root(self):
        for k in ([0, 0, 2.5], [0, -4, 0], [3, 1.5, -2]):
            at, turn = helix(k, 0.4)
            rod = (f"arm: {{on: base, pose: {{xyz: [0, 0, 0.2], y: z}}, rod: {{length: 0.4 m, section: {{circle: {{radius: 5 mm}}}}, "
                   f"material: m, strain: {{twist: '{k[0]} 1/m', bend_y: '{k[1]} 1/m', bend_z: '{k[2]} 1/m'}}}}}}")
            self.verify(f"materials: {{m: {{young: 1 MPa, poisson: 0.5, density: 1000}}}}\nrobot:\n  {BASE}\n  {rod}\n"
                        "study: [dynamic: {for: 0.5 s, step: 10 ms}]\n"
                        "probes:\n  tip: {relative: [arm.root, arm.tip]}\n  back: {relative: [arm.tip, arm.root]}\n"
                        "  same: {relative: [arm@50%, arm@50%]}\n"
                        "  turned: {law: tip.xx*tip.x + tip.yx*tip.y + tip.zx*tip.z + back.x}\nexpect:\n"
                        f"  - {{probe: [tip.x, tip.y, tip.z], rows: [[0.5 s, {', '.join(map(repr, at))}]], within: 1e-12, source: helix}}\n"
                        f"  - {{probe: [tip.{', tip.'.join(a + b for a in 'xyz' for b in 'xyz')}], "
                        f"rows: [[0.5 s, {', '.join(map(repr, turn))}]], within: 1e-12, source: helix}}\n"
                        "  - {probe: same, at: 0.5 s, value: [0, 0, 0, 1, 0, 0, 0], within: 1e-15, source: the same site}\n"
                        "  - {probe: turned, at: 0.5 s, value: 0, within: 1e-12, source: the inverse pose}\n")

    def test_joints_between_the_sites_and_no_others_count(self):
        # two hinges: the hand in the base is that of a planar arm, whatever the base does
        self.verify(f"robot:\n  {BASE}\n  upper: {{on: base, joint: revolute, body: {{mass: 1, inertia: [1, 1, 1]}}}}\n"
                    "  fore: {on: upper, pose: {xyz: [0.4, 0, 0]}, joint: revolute, body: {mass: 1, inertia: [1, 1, 1]}}\n"
                    "sites: {hand: {on: fore, pose: {xyz: [0.3, 0, 0]}}}\n"
                    "actuators: {a: {joint: upper, position: 0.8*t}, b: {joint: fore, position: 2*t}}\n"
                    "study: [dynamic: {for: 0.5 s, step: 10 ms}]\nprobes: {h: {relative: [base, hand]}, w: {relative: [world, hand]}, p: {pose: hand}, "
                    "d: {law: abs(w.x - p.x) + abs(w.y - p.y) + abs(w.z - p.z)}, e: {law: abs(w.qw - p.qw) + abs(w.yz - p.yz)}}\n"
                    "expect:\n  - {probe: [h.x, h.y, h.z, h.rx, h.ry, h.rz], within: 1e-12, source: planar arm, "
                    "rows: [[0.5 s, 0.4*cos(0.4) + 0.3*cos(1.4), 0.4*sin(0.4) + 0.3*sin(1.4), 0, 0, 0, 1.4]]}\n"
                    "  - {probe: [d, e], over: all, is: size, below: 1e-15, source: pose is relative to the world}\n")

    def test_it_is_of_two_sites_and_in_the_axes_of_the_first(self):
        robot = "sinew: 1\nrobot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
        for probe, words in (("{relative: a}", "'relative' is of two sites, the second seen from the first"),
                             ("{relative: [world, a, a]}", "'relative' is of two sites"),
                             ("{relative: [world, b]}", "'b'"),
                             ("{relative: [world, a], in: body}", "'relative' is in the axes of the first site"),
                             ("{relative: [world, a], along: 3}", "'along' needs a quantity of a whole rod")):
            self.write("robot.yaml", robot + f"probes: {{p: {probe}}}\n")
            self.assertIn(words, self.fails(2, "check", "robot.yaml").err)
        self.write("robot.yaml", robot + "probes: {p: {relative: [world, a]}}\n")
        self.assertIn("relative of a in world", self.succeeds("check", "robot.yaml").out)
        self.write("robot.yaml", robot + "probes: {p: {relative: [world, a]}}\nloads: {l: {on: a, torque: [0, 0, -p.rz]}}\n")
        self.assertIn("a law reads probe 'p'", self.fails(2, "check", "robot.yaml").err)


if __name__ == "__main__":
    harness.main()
