# SPDX-License-Identifier: MIT
"""sinew import: robots of URDF, MJCF and SDF files. Random trees are moved along given laws; the efforts are compared with those of a
Newton-Euler recursion over the URDF file itself, written here."""
import math
import random
import re
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


def to_sdf(text, dice):
    """The robot of a URDF text as SDF: links at random places in the model, joints at random places in their children."""
    root = ET.fromstring(text)
    joints = {j.find("child").get("link"): j for j in root.findall("joint")}
    parts = ['<sdf version="1.9"><model name="random">']

    def pose(xyz, rpy, to=""):
        return f'<pose relative_to="{to}">{" ".join(map(repr, xyz + rpy))}</pose>'

    def words(element, name):
        return [float(x) for x in element.get(name, "0 0 0").split()] if element is not None else [0.0, 0.0, 0.0]

    for link in root.findall("link"):
        name, joint, inertial = link.get("name"), joints.get(link.get("name")), link.find("inertial")
        mass = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
        if inertial is not None:
            o = inertial.find("origin")
            terms = "".join(f"<{k}>{v}</{k}>" for k, v in inertial.find("inertia").items())
            mass = f"<inertial>{pose(words(o, 'xyz'), words(o, 'rpy'))}<mass>{inertial.find('mass').get('value')}</mass><inertia>{terms}</inertia></inertial>"
        # a frame of the joint in the parent; in the joint's axes the link is where it is in URDF
        at = pose([0.0] * 3, [0.0] * 3, f"at_{name}") if joint is not None else ""
        parts.append(f'<link name="{name}">{at}{mass}</link>')
        if joint is not None:
            o = joint.find("origin")
            parts.append(f'<frame name="at_{name}" attached_to="{joint.find("parent").get("link")}">{pose(words(o, "xyz"), words(o, "rpy"))}</frame>')
            axis, off = joint.find("axis").get("xyz"), [0.0, 0.0, 0.0]
            if joint.get("type") != "fixed":  # a hinge may be anywhere on its axis, a slide anywhere
                along = dice.uniform(-0.3, 0.3)
                off = [along * float(x) for x in axis.split()]
            parts.append(f'<joint name="{joint.get("name")}" type="{joint.get("type")}">{pose(off, [0.3, 0.2, -0.4])}<parent>{joint.find("parent").get("link")}</parent>'
                         f'<child>{name}</child><axis><xyz expressed_in="{name}">{axis}</xyz><limit><lower>-9</lower><upper>9</upper></limit>'
                         f'<dynamics><damping>{joint.find("dynamics").get("damping")}</damping></dynamics></axis></joint>')
    parts.append('<joint name="ground" type="fixed"><parent>world</parent><child>l0</child></joint>')
    return "\n".join(parts + ["</model></sdf>"])


MJCF = """\
<mujoco model="loop">
  <compiler angle="radian"/>
  <include file="defaults.xml"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="crank">
      <joint name="c" axis="0 1 0" class="rotor"/>
      <geom type="box" size="0.1 0.02 0.02" pos="0.1 0 0"/>
      <body name="rod" pos="0.2 0 0">
        <joint name="r" axis="0 1 0"/>
        <inertial pos="0.2 0 0" mass="0.5" fullinertia="0.001 0.004 0.004 0 0 0"/>
      </body>
    </body>
    <body name="follower" pos="0.6 0 0">
      <joint name="f" type="slide" axis="1 0 0"/>
      <geom size="0.05" density="500"/>
    </body>
    <body name="copy" pos="0 1 0">
      <joint name="d" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.2"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="c" kp="50" ctrlrange="-1 1"/></actuator>
  <equality><connect name="pin" body1="rod" body2="follower" anchor="0.4 0 0"/><joint joint1="d" joint2="c" polycoef="0 -2"/></equality>
  <sensor><jointpos joint="c"/></sensor>
</mujoco>
"""


class Import(harness.Case):
    def moved(self, name, text, joints, dice):
        """Efforts of joints {name: prismatic?} of an imported file along random laws, and their values at the end."""
        self.write(name, text)
        self.succeeds("import", name, "--force", "-o", "moved.yaml")
        model = (self.folder / "moved.yaml").read_text()
        motion = {joint: [dice.uniform(-1, 1) for _ in range(3)] for joint in joints}
        for joint, (q, v, a) in motion.items():
            law = f"(({q!r}) + ({v!r})*t/(1 s) + ({a!r})*(t/(1 s))^2/2)*1 {'m' if joints[joint] else 'rad'}"
            model, n = re.subn(rf"(  {joint}: {{joint: \w+, position: )0([,}}])", rf'\1"{law}"\2', model)
            self.assertEqual(n, 1, joint)
        self.write("moved.yaml", re.sub("  - (static|dynamic):.*", "  - dynamic: {for: 0.5 s, step: 0.25 s}", model))
        run = self.succeeds("run", "moved.yaml", "-o", "moved.h5")
        self.assertNotIn("warning", run.err)
        shown = self.succeeds("show", "moved.h5", "--probe", ",".join(joints), "--csv").out.split()
        at = dict(zip(shown[0].split(","), (float(x) for x in shown[-1].split(","))))
        t = 0.5
        return at, {n: (q + v * t + a * t * t / 2, v + a * t, a) for n, (q, v, a) in motion.items()}

    def test_an_sdf_file_of_the_same_robot_takes_the_same_efforts(self):
        for seed in harness.few(range(6), 2):
            dice = random.Random(seed)
            text = random_urdf(dice, dice.randrange(1, 7))
            joints = {j.get("name"): j.get("type") == "prismatic" for j in ET.fromstring(text).findall("joint") if j.get("type") != "fixed"}
            at, motion = self.moved("tree.sdf", to_sdf(text, dice), joints, dice)
            wanted = efforts(text, motion)
            size = max(abs(wanted[n]) for n in joints)
            for name in joints:
                with self.subTest(seed=seed, joint=name):
                    self.assertLess(abs(at[name] - wanted[name]), 1e-11 * size)

    def test_an_mjcf_file_with_a_loop_a_gear_and_a_servo(self):
        self.write("defaults.xml", '<mujoco><default><default class="rotor"><joint armature="0.01" range="-2 2"/></default></default></mujoco>')
        self.write("loop.xml", MJCF)
        notes = self.succeeds("import", "loop.xml", "--json").json["notes"]
        self.assertEqual([n["line"] for n in notes], [5, 25])
        self.assertIn("give the ground under 'contacts'", notes[0]["text"])
        text = (self.folder / "loop.yaml").read_text()
        for part in ("armature: 0.01", "limits: [-2, 2]", "as: spherical", "mimic: {joint: crank, ratio: -2}",
                     'effort: "50*servo_control - 50*servo_q"', "servo_control: [-1, 1]", "shape: capsule, radius: 0.01, length: 0.1"):
            self.assertIn(part, text)
        # 2 x 2 x 20 cm of 1000 kg/m^3, and a ball of 500 kg/m^3
        self.assertAlmostEqual(float(re.search(r"crank:.*?mass: (\S+)", text, re.S)[1]), 0.32, 12)
        self.assertAlmostEqual(float(re.search(r"follower:.*?mass: (\S+)", text, re.S)[1]), 500 * 4 / 3 * math.pi * 0.05**3, 12)
        self.succeeds("run", "loop.yaml")

    def test_circles_and_missing_files_are_refused(self):
        for text, message in [
            ('<mujoco><include file="bad.xml"/></mujoco>', "they include each other"),
            ('<mujoco><include file="none.xml"/></mujoco>', "'none.xml' was not found"),
            ('<mujoco><worldbody><body><joint class="x"/></body></worldbody></mujoco>', "there is no default class 'x'"),
            ('<mujoco><worldbody><body name="a"/><body name="a"/></worldbody></mujoco>', "two bodies with the name 'a'"),
            ('<mujoco><compiler coordinate="global"/><worldbody/></mujoco>', "is not read; local is"),
            ('<sdf version="1.9"><model name="m"><link name="a"><pose relative_to="a">0 0 0 0 0 0</pose></link></model></sdf>', "relative to itself"),
            ('<sdf version="1.9"><model name="m"><link name="a"/><model name="n"/></model></sdf>', "a nested <model> is not read"),
            ('<sdf version="1.9"><model name="m"><link name="a"/><joint name="j" type="x"><parent>world</parent><child>a</child></joint></model></sdf>', "joint type 'x' is not known"),
        ]:
            with self.subTest(message):
                self.write("bad.xml", text)
                self.assertIn(message, self.fails(2, "import", "bad.xml").err)

    def test_a_loop_of_sdf_is_closed(self):
        link = "<inertial><mass>1</mass><inertia><ixx>1e-3</ixx><iyy>1e-3</iyy><izz>1e-3</izz></inertia></inertial>"
        self.write("bar.sdf", f"""<sdf version="1.9"><model name="bar">
<link name="a">{link}</link><link name="b"><pose>0 0 1 0 0 0</pose>{link}</link><link name="c"><pose>1 0 0 0 0 0</pose>{link}</link>
<joint name="ja" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="jc" type="revolute"><parent>world</parent><child>c</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="jb" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="close" type="revolute"><pose relative_to="b">1 0 0 0 0 0</pose><parent>c</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>""")
        self.succeeds("import", "bar.sdf")
        text = (self.folder / "bar.yaml").read_text()
        self.assertIn("as: revolute\n    axis: y", text)
        # a parallelogram: both cranks have the same angle, the coupler the opposite one
        text = re.sub(r"actuators:.*", "actuators: {ja: {joint: a, position: 0.3*t}}\nprobes: {b: {angle: b}, c: {angle: c}}\n"
                      "study: [dynamic: {for: 1 s, step: 50 ms}]\n", text, flags=re.S)
        self.write("bar.yaml", text)
        run = self.succeeds("run", "bar.yaml", "--json").json
        self.assertAlmostEqual(run["runs"][0]["last"]["c"], 0.3, 9)
        self.assertAlmostEqual(run["runs"][0]["last"]["b"], -0.3, 9)

    def test_random_trees_take_the_efforts_of_newton_and_euler(self):
        for seed in harness.few(range(12), 4):
            dice = random.Random(seed)
            text = random_urdf(dice, dice.randrange(1, 9))
            joints = {j.get("name"): j.get("type") == "prismatic" for j in ET.fromstring(text).findall("joint") if j.get("type") != "fixed"}
            at, motion = self.moved("tree.urdf", text, joints, dice)
            wanted = efforts(text, motion)
            size = max(abs(wanted[n]) for n in joints)
            for name in joints:
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
        self.assertIn("  base-link:\n", text)
        self.assertIn("    on: base-link\n", text)
        self.assertIn("upper_joint: {joint: upper, position: 1, effort_limit: 40, rate_limit: 2}", text)
        self.assertIn("axis: -y", text)
        self.assertTrue((self.folder / "arm_meshes/1_upper.STL").exists())
        self.assertEqual(self.succeeds("run", "arm.yaml").err, "")

    def test_an_inertia_that_no_body_has_becomes_the_nearest_one(self):
        bad = ARM.replace('izz="0.025"', 'izz="0.06"')
        self.write("arm.urdf", bad)
        note = self.succeeds("import", "arm.urdf", "--shapes", "none", "--json").json["notes"][-1]
        # second moments (Iy + Iz - Ix, ..)/2 = 0.035, 0.025, -0.005; the last becomes zero
        self.assertIn("diagonal 0.025, 0.035, 0.06", note["text"])

    def test_the_examples_are_what_the_command_writes(self):
        for name, options in (("arm6", ()), ("gripper", ()), ("hand", ()), ("quadruped", ("--free",))):
            self.succeeds("import", str(harness.SOURCE / f"examples/imported/{name}.urdf"), *options)
            self.assertEqual((self.folder / f"{name}.yaml").read_text(), (harness.SOURCE / f"examples/imported/as_imported/{name}.yaml").read_text())

    def test_meshes_that_enclose_nothing_are_drawn_or_become_a_hull(self):
        self.write("open.stl", TETRAHEDRON[:TETRAHEDRON.rindex("facet normal")] + "endsolid t\n")
        self.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        mesh = '<geometry><mesh filename="{}"/></geometry>'
        self.write("shapes.urdf", "<robot><link name='a'>" + "".join(
            f"<{kind}>{mesh.format(file)}</{kind}>" for kind in ("visual", "collision") for file in ("open.stl", "flat.obj")) + "</link></robot>")
        notes = self.succeeds("import", "shapes.urdf", "--json").json["notes"]
        self.assertEqual(len(notes), 2)
        self.assertIn("'open.stl' is no solid, its convex hull is taken: 3 faces enclose no solid", notes[0]["text"])
        self.assertIn("'flat.obj' does not touch and is only drawn", notes[1]["text"])
        text = (self.folder / "shapes.yaml").read_text()
        self.assertIn("shapes:\n        - {shape: hull", text)
        self.assertEqual(text.count("shape: mesh"), 3)
        self.succeeds("run", "shapes.yaml")

    def test_what_other_writers_do_is_read(self):
        # the world as a parent that is no link, and another name of ASCII
        self.write("arm.urdf", ARM.replace('parent link="base-link"', 'parent link="world"').replace('version="1.0"', 'version="1.0" encoding="ASCII"'))
        self.succeeds("import", "arm.urdf", "--shapes", "none")
        self.assertIn("  upper:\n    on: world\n", (self.folder / "arm.yaml").read_text())
        # a joint without anything to move is fixed, and the model can be used
        self.write("leaf.urdf", ARM.replace("</robot>", '<link name="eye"/><joint name="blink" type="continuous"><parent link="upper"/>'
                                            '<child link="eye"/></joint></robot>'))
        notes = self.succeeds("import", "leaf.urdf", "--shapes", "none", "--json").json["notes"]
        self.assertIn("joint 'blink' is fixed here: nothing that it moves has a mass", [n["text"] for n in notes])
        self.succeeds("check", "leaf.yaml")

    def test_a_screw_of_sdf_closes_a_loop(self):
        inertia = "<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>"
        joint = '<joint name="{}" type="{}"><parent>{}</parent><child>{}</child><axis><xyz>0 0 1</xyz></axis>{}</joint>'
        self.write("lift.sdf", '<sdf version="1.9"><model name="lift">' + "".join(f'<link name="{n}">{inertia}</link>' for n in "ab") +
                   joint.format("turn", "revolute", "world", "a", "") + joint.format("slide", "prismatic", "world", "b", "") +
                   joint.format("thread", "screw", "b", "a", "<screw_thread_pitch>0.01</screw_thread_pitch>") + "</model></sdf>")
        self.succeeds("import", "lift.sdf")
        text = (self.folder / "lift.yaml").read_text()
        self.assertIn("    as: screw\n    axis: z\n    pitch: 0.01\n", text)
        self.write("fall.yaml", "sinew: 1\ninclude: lift.yaml\nactuators: {turn: ~, slide: ~}\nprobes: {turn: ~, slide: ~, z: {value: b}}\n"
                                "live: ~\nstudy: [dynamic: {for: 1 s, step: 1 ms}]\n")
        self.succeeds("run", "fall.yaml", "-o", "fall.h5")
        z = self.succeeds("show", "fall.h5", "--json").json["runs"][0]["last"]["z"]
        self.assertAlmostEqual(z, -9.81 / 2 / (1 + 0.01 / (0.01 / (2 * math.pi)) ** 2), delta=1e-8)

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
        self.assertIn("they are both, collision, visual or none", self.fails(2, "import", "arm.urdf", "--shapes", "x").err)


if __name__ == "__main__":
    harness.main()
