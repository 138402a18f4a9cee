# SPDX-License-Identifier: MIT
"""Bodies of several shapes through the command: what is refused, and what is told, names the body, the obstacle and the depth."""
import harness
from harness import Case

CUBE = "".join(f"v {x} {y} {z}\n" for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)) + \
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n"  # without the face x = 1
LAST = "f 2 4 8 6\n"
SHAPES = {
    "sphere": "radius: 0.1", "capsule": "radius: 0.1, length: 0.1", "box": "size: [0.2, 0.2, 0.2]",
    "cylinder": "radius: 0.1, length: 0.2", "hull": "file: cube.obj, scale: 0.1", "mesh": "file: cube.obj, scale: 0.1"}


def model(shape, law, obstacle="sphere, radius: 0.1", step="dynamic: {for: 1 us, step: 1 us}"):
    return f"""\
sinew: 1
robot: {{part: {{on: world, joint: free, body: {{mass: 1, shapes: [{{shape: {shape}, {SHAPES.get(shape, '')}}}]}}}}}}
initial: {{part: {{pose: {{xyz: [0, 0, 0.19]}}}}}}
contacts: {{rock: {{obstacle: {{links: part, shape: {obstacle}, {law}}}}}}}
study: [{{{step}}}]
"""


class Shapes(Case):
    def setUp(self):
        super().setUp()
        self.write("cube.obj", CUBE + LAST)

    def test_a_hard_contact_that_begins_inside_is_refused(self):
        for shape in SHAPES:
            self.write("m.yaml", model(shape, "hard: true"))
            r = self.fails(1, "run", "m.yaml")
            self.assertRegex(r.err, r"hard contact 'rock': at t = 0 s link 'part' starts 0\.0\d+ m inside")

    def test_a_compliant_one_is_told(self):
        for shape in SHAPES:
            self.write("m.yaml", model(shape, "stiffness: 1e4"))
            r = self.succeeds("run", "m.yaml")
            self.assertRegex(r.err, r"link 'part' begins 0\.0\d+ m deep in obstacle 'rock', which stores [\d.]+ J")

    def test_meshes_that_are_no_solid_are_refused(self):
        self.write("cube.obj", CUBE)
        self.write("m.yaml", model("mesh", "stiffness: 1e4"))
        r = self.fails(2, "run", "m.yaml")
        self.assertRegex(r.err, "cube.obj.*open")
        self.write("cube.obj", CUBE + LAST * 200001)
        for shape in ("mesh", "hull"):
            self.write("m.yaml", model(shape, "stiffness: 1e4"))
            r = self.fails(2, "run", "m.yaml")
            self.assertRegex(r.err, "cube.obj.*200000")

    def test_pairs_without_a_contact_are_refused_by_name(self):
        for shape in SHAPES:
            if shape == "sphere":
                continue
            self.write("m.yaml", model(shape, "stiffness: 1e4", obstacle="cylinder, radius: 0.1"))
            r = self.fails(2, "run", "m.yaml")
            self.assertIn(f"contact 'rock' on link 'part': a {shape} touches it, and its edges are endless", r.err)


if __name__ == "__main__":
    harness.main()
