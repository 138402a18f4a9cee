# SPDX-License-Identifier: MIT
"""sinew import: robots of URDF files. Random trees are moved along given laws; the efforts are compared with those of a
Newton-Euler recursion over the URDF file itself, written here."""
import math
import random
import xml.etree.ElementTree as ET

import harness

ARM = """\
<?xml version="1.0"?>
<robot name="two-link arm">
  <link name="base-link"><visual><geometry><box size="0.2 0.2 0.1"/></geometry></visual></link>
  <link name="upper">
    <inertial><mass value="2"/><origin xyz="0 0 0.2"/><inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="package://arm/meshes/upper.STL" scale="0.001 0.001 0.001"/></geometry></collision>
  </link>
  <joint name="upper" type="revolute">
    <parent link="base-link"/><child link="upper"/><axis xyz="0 -1 0"/>
    <limit lower="0.5" upper="1.5" effort="40" velocity="2"/><mimic joint="other"/>
  </joint>
</robot>
"""
TETRAHEDRON = """\
solid t
facet normal 0 0 0
outer loop
vertex 0 0 0
vertex 0 100 0
vertex 100 0 0
endloop
endfacet
facet normal 0 0 0
outer loop
vertex 0 0 0
vertex 100 0 0
vertex 0 0 100
endloop
endfacet
facet normal 0 0 0
outer loop
vertex 0 0 0
vertex 0 0 100
vertex 0 100 0
endloop
endfacet
facet normal 0 0 0
outer loop
vertex 100 0 0
vertex 0 100 0
vertex 0 0 100
endloop
endfacet
endsolid t
"""


# ---- three vectors and matrices

def add(*v):
    return [sum(x) for x in zip(*v)]


def scale(s, v):
    return [s * x for x in v]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def times(A, B):
    return [[dot(row, column) for column in zip(*B)] for row in A]


def apply(A, v):
    return [dot(row, v) for row in A]


def transpose(A):
    return [list(row) for row in zip(*A)]


def turn(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    K = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    K2 = times(K, K)
    return [[(i == j) + s * K[i][j] + (1 - c) * K2[i][j] for j in range(3)] for i in range(3)]


def from_rpy(rpy):
    return times(turn([0, 0, 1], rpy[2]), times(turn([0, 1, 0], rpy[1]), turn([1, 0, 0], rpy[0])))


# ---- the file, and the efforts that move its robot

def numbers(element, name, otherwise):
    text = element.get(name) if element is not None else None
    return [float(x) for x in text.split()] if text else otherwise


def origin(element):
    o = element.find("origin")
    return numbers(o, "xyz", [0, 0, 0]), from_rpy(numbers(o, "rpy", [0, 0, 0]))


def efforts(text, motion):
    """Efforts of the joints in `motion`, {name: (q, v, a)}, by the equations of Newton and Euler in the axes of the world."""
    root = ET.fromstring(text)
    links = {link.get("name"): link for link in root.findall("link")}
    joints = root.findall("joint")
    children = {j.find("child").get("link") for j in joints}
    base = next(name for name in links if name not in children)
    force, about, own = {}, {}, {}
    # pose, velocities and accelerations of each link; gravity as an acceleration of the base upwards
    state = {base: ([0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0], [0, 0, 0], [0, 0, 9.81])}
    order = []
    left = list(joints)
    while left:
        j = next(j for j in left if j.find("parent").get("link") in state)
        left.remove(j)
        p0, R0, w0, dw0, acc0 = state[j.find("parent").get("link")]
        xyz, R = origin(j)
        arm = apply(R0, xyz)
        R = times(R0, R)
        axis = numbers(j.find("axis"), "xyz", [1, 0, 0])
        axis = scale(1 / math.sqrt(dot(axis, axis)), axis)
        q, v, a = motion.get(j.get("name"), (0, 0, 0))
        u = apply(R, axis)
        slide = j.get("type") == "prismatic"
        if j.get("type") in ("revolute", "continuous"):
            w, dw = add(w0, scale(v, u)), add(dw0, scale(a, u), cross(w0, scale(v, u)))
            R = times(R, turn(axis, q))
        else:
            w, dw = w0, dw0
        if slide:
            arm = add(arm, scale(q, u))
        acc = add(acc0, cross(dw0, arm), cross(w0, cross(w0, arm)))
        if slide:
            acc = add(acc, scale(2 * v, cross(w0, u)), scale(a, u))
        state[j.find("child").get("link")] = (add(p0, arm), R, w, dw, acc)
        order.append((j, u, slide))
    for name, (p, R, w, dw, acc) in state.items():
        inertial = links[name].find("inertial")
        force[name], about[name] = [0, 0, 0], [0, 0, 0]
        if inertial is None:
            continue
        com, C = origin(inertial)
        m = float(inertial.find("mass").get("value"))
        i = {k: float(x) for k, x in inertial.find("inertia").items()}
        I = [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
        C = times(R, C)
        I = times(C, times(I, transpose(C)))
        arm = apply(R, com)
        f = scale(m, add(acc, cross(dw, arm), cross(w, cross(w, arm))))
        force[name] = f
        about[name] = add(apply(I, dw), cross(w, apply(I, w)), cross(arm, f))
    for j, u, slide in reversed(order):
        name, parent = j.find("child").get("link"), j.find("parent").get("link")
        own[j.get("name")] = dot(u, force[name] if slide else about[name])
        v = motion.get(j.get("name"), (0, 0, 0))[1]
        own[j.get("name")] += float((j.find("dynamics").get("damping") if j.find("dynamics") is not None else 0) or 0) * v
        arm = add(state[name][0], scale(-1, state[parent][0]))
        force[parent] = add(force[parent], force[name])
        about[parent] = add(about[parent], about[name], cross(arm, force[name]))
    return own


def random_urdf(dice, n):
    """A tree of n links below its base: joints of all kinds with one coordinate, and fixed ones, axes and frames anywhere."""
    def few(k, size=1.0):
        return " ".join(repr(dice.uniform(-size, size)) for _ in range(k))
    parts = ['<robot name="random">', '<link name="l0"/>']
    for k in range(1, n + 1):
        side = [dice.uniform(0.05, 0.3) for _ in range(3)]
        m = dice.uniform(0.2, 3)
        ix, iy, iz = (m / 12 * (side[(i + 1) % 3] ** 2 + side[(i + 2) % 3] ** 2) for i in range(3))
        parts.append(f'<link name="l{k}"><inertial><origin xyz="{few(3, 0.2)}" rpy="{few(3, 3)}"/><mass value="{m!r}"/>'
                     f'<inertia ixx="{ix!r}" iyy="{iy!r}" izz="{iz!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>')
        kind = dice.choice(["revolute", "continuous", "prismatic", "fixed"] if k > 1 else ["revolute"])
        parts.append(f'<joint name="j{k}" type="{kind}"><parent link="l{dice.randrange(k)}"/><child link="l{k}"/>'
                     f'<origin xyz="{few(3, 0.4)}" rpy="{few(3, 3)}"/><axis xyz="{few(3)}"/>'
                     f'<limit lower="-9" upper="9"/><dynamics damping="{dice.uniform(0, 0.5)!r}"/></joint>')
    return "\n".join(parts + ["</robot>"])


class Import(harness.Case):
    def test_random_trees_take_the_efforts_of_newton_and_euler(self):
        for seed in harness.few(range(12), 4):
            dice = random.Random(seed)
            text = random_urdf(dice, dice.randrange(1, 9))
            self.write("tree.urdf", text)
            self.succeeds("import", "tree.urdf", "--force")
            model = (self.folder / "tree.yaml").read_text()
            joints = {j.get("name"): j.get("type") for j in ET.fromstring(text).findall("joint")}
            moving = {name: [dice.uniform(-1, 1) for _ in range(3)] for name, kind in joints.items() if kind != "fixed"}
            for name, (q, v, a) in moving.items():
                law = f"(({q!r}) + ({v!r})*t/(1 s) + ({a!r})*(t/(1 s))^2/2)*1 {'m' if joints[name] == 'prismatic' else 'rad'}"
                model = model.replace(f"  {name}: {{joint: l{name[1:]}, position: 0}}",
                                      f"  {name}: {{joint: l{name[1:]}, position: \"{law}\"}}")
            model = model.replace("  - static:", "  - dynamic: {for: 0.5 s, step: 0.25 s}")
            self.write("tree.yaml", model)
            run = self.succeeds("run", "tree.yaml", "-o", "tree.h5")
            self.assertNotIn("warning", run.err)
            shown = self.succeeds("show", "tree.h5", "--probe", ",".join(moving), "--csv").out.split()
            at = dict(zip(shown[0].split(","), (float(x) for x in shown[-1].split(","))))
            t = 0.5
            wanted = efforts(text, {n: (q + v * t + a * t * t / 2, v + a * t, a) for n, (q, v, a) in moving.items()})
            size = max(abs(wanted[n]) for n in moving)
            for name in moving:
                with self.subTest(seed=seed, joint=name):
                    self.assertLess(abs(at[name] - wanted[name]), 1e-11 * size)

    def test_meshes_lie_beside_the_model_and_notes_say_what_is_different(self):
        (self.folder / "arm/urdf").mkdir(parents=True)
        (self.folder / "arm/meshes").mkdir()
        self.write("arm/urdf/arm.urdf", ARM)
        self.write("arm/meshes/upper.STL", TETRAHEDRON)
        reply = self.succeeds("import", "arm/urdf/arm.urdf", "--json").json
        self.assertEqual((reply["links"], reply["joints"], reply["meshes"]), (2, 1, 1))
        self.assertEqual([n["line"] for n in reply["notes"]], [10])
        self.assertIn("joint 'upper' follows another one", reply["notes"][0]["text"])
        text = (self.folder / "arm.yaml").read_text()
        self.assertIn("# - line 10: joint 'upper' follows", text)
        self.assertIn("base_link:    # base-link", text)
        self.assertIn("upper_joint: {joint: upper, position: 1}    # at most 40 N*m, 2 rad/s", text)
        self.assertIn("axis: -y", text)
        self.assertTrue((self.folder / "arm_meshes/1_upper.STL").exists())
        self.assertEqual(self.succeeds("run", "arm.yaml").err, "")

    def test_an_inertia_that_no_body_has_becomes_the_nearest_one(self):
        bad = ARM.replace('izz="0.025"', 'izz="0.06"')
        self.write("arm.urdf", bad)
        note = self.succeeds("import", "arm.urdf", "--shapes", "none", "--json").json["notes"][-1]
        # second moments (Iy + Iz - Ix, ..)/2 = 0.035, 0.025, -0.005; the last becomes zero
        self.assertIn("diagonal 0.025, 0.035, 0.06", note["text"])

    def test_check_writes_nothing(self):
        self.write("arm.urdf", ARM)
        out = self.succeeds("import", "arm.urdf", "--check").out
        self.assertIn("line 6: link 'upper': mesh 'package://arm/meshes/upper.STL' is left out, the file was not found", out)
        self.assertFalse((self.folder / "arm.yaml").exists())

    def test_bad_files_are_refused_with_their_line(self):
        cases = [
            (ARM.replace("</robot>", ""), "not XML"),
            ("<!DOCTYPE robot [<!ENTITY a 'b'>]><robot/>", "bad.urdf:1:1: document type declarations"),
            ("<robot/>", "bad.urdf:1:1: the robot has no link"),
            ("<mujoco/>", "bad.urdf:1:1: the robot has no body"),
            ("<sdf version='1.9'/>", "the file has no <model>"),
            ("<html/>", "<html> is no robot"),
            ("<robot xmlns:xacro='x'><xacro:macro/></robot>", "macro of xacro"),
            (ARM.replace('child link="upper"', 'child link="uper"'), "bad.urdf:9:1: joint 'upper': there is no link 'uper'"),
            (ARM.replace('xyz="0 -1 0"', 'xyz="0 nan 0"'), "'0 nan 0' is not 3 finite numbers"),
            (ARM.replace('xyz="0 -1 0"', 'xyz="0 0 0"'), "its axis has no length"),
            (ARM.replace('type="revolute"', 'type="ball"'), "type 'ball' is not known"),
            (ARM.replace('<mass value="2"/>', '<mass value="-2"/>'), "must not be negative"),
            (ARM.replace('parent link="base-link"', 'parent link="upper"'), "is its own ancestor"),
            ("<robot>" + "<a>" * 70 + "</a>" * 70 + "</robot>", "nested too deeply"),
        ]
        for text, message in cases:
            with self.subTest(message):
                self.write("bad.urdf", text)
                self.assertIn(message, self.fails(2, "import", "bad.urdf").err)
        self.fails(2, "import", "missing.urdf")
        self.write("arm.urdf", ARM)
        self.assertIn("not NAME=FOLDER", self.fails(2, "import", "arm.urdf", "--package", "x").err)
        self.assertIn("it is collision, visual or none", self.fails(2, "import", "arm.urdf", "--shapes", "x").err)


if __name__ == "__main__":
    harness.main()
