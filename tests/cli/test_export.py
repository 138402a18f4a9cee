# SPDX-License-Identifier: MIT
"""sinew export: files are read back by independent readers and compared with closed forms. The Khronos validator checks
glTF in viewer/test."""
import base64
import functools
import json
import math
import os
import re
import struct
import unittest
import xml.etree.ElementTree as ElementTree

import harness
from harness import ROLLED, Case

# a torque along a rod: its moment is c (L - x), independently of its shape
TWISTED = """\
sinew: 1
title: 'A "title" with <b>&amp; in it'
gravity: [0, 0, -1e-9]
materials: {rubber: {young: 2 MPa, poisson: 0.5, density: 1 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 0.5 m, section: {rectangle: {y: 20 mm, z: 10 mm}}, material: rubber, strain: {bend_y: legendre 3}}}
  hand: {on: arm.tip, body: {box: [20 mm, 30 mm, 40 mm], mass: 1 g}}
loads:
  turn: {along: arm, torque: [0, 1 mN*m/m*(1 + t/(1 s)), 0]}
actuators:
  cord: {tendon: {along: arm, at: [0, 0, 0]}, effort: 3 uN}
study:
  - static: {name: start}
  - static: {name: path, for: 1 s, step: 0.1 s}
probes: {tip: {position: arm.tip}}
"""
YOUNG, WIDE, THICK, LENGTH = 2e6, 0.02, 0.01, 0.5

# a link that becomes active at half time
COMES = """\
sinew: 1
title: Comes and goes
gravity: [0, 0, -9.81]
robot:
  bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg, com: [1 m, 0, 0], inertia: [0, 0, 0]}}
  bird: {on: bob, body: {sphere: {radius: 50 mm}, mass: 1 g}, when: t >= 0.5 s}
study: [{dynamic: {for: 1 s, step: 1 ms, scheme: rk4}}]
record: {every: 1 ms}
probes: {a: {angle: bob}}
"""


# a rod and a box that a change makes larger, and a sphere that stays
CHANGED = """\
sinew: 1
gravity: 0
parameters: {r: 10 mm, a: 40 mm}
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: r}}, material: rubber, strain: {bend_y: legendre 2}}}
  hand: {on: arm.tip, body: {box: [a, a, a], mass: 1 g}}
  ball: {on: arm.tip, body: {sphere: {radius: 30 mm}, mass: 1 g}}
study: [{static: {name: one}}, {change: {r: 30 mm, a: 80 mm}}, {static: {name: two}}]
"""


# a hollow ellipse bent by a couple at its tip
HOLLOW = """\
sinew: 1
gravity: 0
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot: {arm: {on: world, rod: {length: 0.5 m, section: {elliptic_tube: {y: 60 mm, z: 20 mm, inner: 45 mm}}, material: rubber, strain: {bend_y: legendre 1}}}}
loads: {couple: {on: arm.tip, torque: [0, 2 mN*m, 0], frame: body}}
study: [static]
"""


# a body of several shapes, and obstacles: solids, which have a volume, or a height field
SOLIDS = """\
sinew: 1
gravity: 0
robot:
  part:
    on: world
    pose: {rpy: [0.3, 0.2, 0.1]}
    joint: prismatic
    body:
      mass: 1
      shapes:
        - {shape: sphere, radius: 0.1}
        - {shape: capsule, radius: 0.1, length: 0.3, at: [1, 0, 0], axis: [1, 2, 2]}
        - {shape: box, size: [0.1, 0.2, 0.3], pose: {xyz: [2, 0, 0], rpy: [0.3, 0.1, 0]}}
        - {shape: cylinder, radius: 0.1, length: 0.3, at: [3, 0, 0], axis: y}
        - {shape: hull, rounding: 1 nm, corners: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]], at: [4, 0, 0]}
        - {shape: mesh, file: wedge.obj, at: [5, 0, 0]}
contacts:
  ring: {obstacle: {links: part, shape: torus, radius: 0.4, section: 0.1, at: [0, 3, 0], stiffness: 1}}
  rock: {obstacle: {links: part, shape: mesh, file: wedge.obj, at: [1, 3, 0], axis: x, stiffness: 1}}
  hull: {obstacle: {links: part, shape: hull, file: wedge.obj, rounding: 1 nm, at: [2, 3, 0], stiffness: 1}}
study: [{dynamic: {for: 1 s, step: 1 s}}]
"""
VOLUMES = [4 / 3 * math.pi * 1e-3, math.pi * 0.01 * 0.3 + 4 / 3 * math.pi * 1e-3, 6e-3, math.pi * 3e-3, 0.3 ** 3 / 6, 0.06,
           2 * math.pi ** 2 * 0.4 * 0.01, 0.06, 0.06]
WEDGE = "v 0 0 0\nv 0.6 0 0\nv 0.6 1 0\nv 0 1 0\nv 0 0 0.2\nv 0 1 0.2\nf 4 3 2 1\nf 1 2 5\nf 3 4 6\nf 2 3 6 5\nf 4 1 5 6\n"
FIELD = """\
sinew: 1
robot: {ball: {on: world, joint: free, body: {sphere: {radius: 10 mm}, mass: 1}}}
initial: {ball: {pose: {xyz: [0, 0, 0.5]}}}
contacts: {sea: {obstacle: {links: ball, shape: height, height: 0.1 m*sin(x/0.3 m)*cos(y/0.2 m), area: [1, 2], cells: 40, stiffness: 1}}}
study: [{dynamic: {for: 1 ms, step: 1 ms}}]
"""


class Glb:
    """A binary glTF: its JSON, its arrays, and the positions of its vertices at a time."""

    SIZE = {5121: ("B", 1), 5123: ("H", 2), 5125: ("I", 4), 5126: ("f", 4)}
    WIDTH = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}

    def __init__(self, data):
        magic, version, total, length, kind = struct.unpack_from("<IIIII", data)
        assert (magic, version, total, kind) == (0x46546C67, 2, len(data), 0x4E4F534A)
        self.json = json.loads(data[20:20 + length])
        size, kind = struct.unpack_from("<II", data, 20 + length)
        assert kind == 0x004E4942 and 28 + length + size == total
        self.bytes = data[28 + length:]

    @functools.lru_cache(maxsize=None)
    def array(self, i):
        a = self.json["accessors"][i]
        view = self.json["bufferViews"][a["bufferView"]]
        letter, size = self.SIZE[a["componentType"]]
        n = self.WIDTH[a["type"]]
        start, stride = view.get("byteOffset", 0) + a.get("byteOffset", 0), view.get("byteStride", n * size)
        return [struct.unpack_from(f"<{n}{letter}", self.bytes, start + k * stride) for k in range(a["count"])]

    def times(self):
        sampler = self.json["animations"][0]["samplers"][0]
        return [t for t, in self.array(sampler["input"])]

    def motion(self, node, path, key):
        """The value of a channel at one of its keys, or that of the node without animation."""
        for c in self.json["animations"][0]["channels"]:
            if c["target"] == {"node": node, "path": path}:
                return self.array(self.json["animations"][0]["samplers"][c["sampler"]]["output"])[key]
        return self.json["nodes"][node].get(path)

    def parent(self, node):
        return next((i for i, n in enumerate(self.json["nodes"]) if node in n.get("children", ())), None)

    def place(self, node, point, key):
        p, q = self.motion(node, "translation", key), self.motion(node, "rotation", key)
        out = [a + b for a, b in zip(p, rotate(q, point))] if p else point
        above = self.parent(node)
        if above is None:
            return out
        scale = self.motion(above, "scale", key) or (1, 1, 1)
        return [a * b for a, b in zip(out, scale)]

    def corners(self, name, key, material):
        """Vertices of a mesh in the scene, by its skin or its node."""
        found = []
        for i, node in enumerate(self.json["nodes"]):
            if node["name"] != name or "mesh" not in node:
                continue
            part = self.json["meshes"][node["mesh"]]["primitives"][0]
            if self.json["materials"][part["material"]]["name"] != material:
                continue
            points = self.array(part["attributes"]["POSITION"])
            if "skin" not in node:
                found += [self.place(i, p, key) for p in points]
                continue
            skin = self.json["skins"][node["skin"]]
            binds = self.array(skin["inverseBindMatrices"])
            joints, weights = self.array(part["attributes"]["JOINTS_0"]), self.array(part["attributes"]["WEIGHTS_0"])
            assert all(w == (255, 0, 0, 0) for w in weights)
            for p, j in zip(points, joints):
                b = binds[j[0]]
                local = [sum(b[4 * c + r] * p[c] for c in range(3)) + b[12 + r] for r in range(3)]
                found.append(self.place(skin["joints"][j[0]], local, key))
        return found


def rotate(q, v):
    x, y, z, w = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]


def vtp(path):
    """A .vtp: points, cells as lists of points, and fields by name."""
    root = ElementTree.parse(path).getroot()
    piece = root.find("PolyData/Piece")

    def numbers(array):
        data = base64.b64decode(array.text)
        letter = {"Float32": "f", "Int32": "i"}[array.get("type")]
        assert struct.unpack_from("<I", data)[0] == len(data) - 4
        flat = struct.unpack_from(f"<{(len(data) - 4) // 4}{letter}", data, 4)
        n = int(array.get("NumberOfComponents", 1))
        return [flat[i:i + n] for i in range(0, len(flat), n)] if n > 1 else list(flat)

    points = numbers(piece.find("Points/DataArray"))
    kind = "Lines" if int(piece.get("NumberOfLines")) else "Polys"
    corner, end = (numbers(a) for a in piece.findall(f"{kind}/DataArray"))
    fields = {a.get("Name"): numbers(a) for a in piece.findall("PointData/DataArray")}
    assert len(points) == int(piece.get("NumberOfPoints")) and all(len(f) == len(points) for f in fields.values())
    assert len(end) == int(piece.get(f"NumberOf{kind}")) == len(numbers(piece.find("CellData/DataArray")))
    assert end[-1] == len(corner) and max(corner) < len(points)
    cells = [corner[a:b] for a, b in zip([0, *end], end)]
    names = root.find("PolyData/FieldData/DataArray").text.split()
    links = bytes(map(int, names)).decode().split("\0")[:-1]
    return points, cells, fields, links


class Usda:
    """A text layer of Universal Scene Description: prims by path, each with its type and attributes. Values are numbers,
    texts, tuples, lists, or maps from time codes to these."""

    def __init__(self, text):
        head, _, body = text.partition("\n")
        assert head == "#usda 1.0"
        self.token = re.findall(r'"(?:[^"\\]|\\.)*"|<[^>]*>|[A-Za-z_][\w:.\[\]]*|-?[0-9][-+0-9.e]*|[(){}\[\]=,:]', body)
        assert re.sub(r"\s", "", body) == re.sub(r"\s", "", "".join(self.token)), "characters that are no part of the grammar"
        self.at, self.prim = 0, {}
        self.head = self.metadata() if self.peek() == "(" else {}
        while self.at < len(self.token):
            self.definition("")

    def peek(self):
        return self.token[self.at]

    def take(self, expected=None):
        self.at += 1
        got = self.token[self.at - 1]
        assert expected in (None, got), f"{got} for {expected}"
        return got

    def items(self, close):
        out = []
        while self.peek() != close:
            out.append(self.value())
            if self.peek() != close:
                self.take(",")
        self.take(close)
        return out

    def value(self):
        t = self.take()
        if t == "(":
            return tuple(self.items(")"))
        if t == "[":
            return self.items("]")
        if t == "{":
            out = {}
            while self.peek() != "}":
                key = float(self.take())
                self.take(":")
                out[key] = self.value()
                self.take(",")
            self.take("}")
            return out
        if t[0] == '"':
            return re.sub(r"\\(.)", r"\1", t[1:-1])
        return t if t[0] == "<" else float(t)

    def metadata(self):
        out = {}
        self.take("(")
        while self.peek() != ")":
            words = [self.take()]
            while self.peek() != "=":
                words.append(self.take())
            self.take("=")
            out[words[-1]] = self.dictionary() if self.peek() == "{" else self.value()
        self.take(")")
        return out

    def dictionary(self):
        out = {}
        self.take("{")
        while self.peek() != "}":
            self.take()
            key = self.take()
            self.take("=")
            out[key] = self.value()
        self.take("}")
        return out

    def definition(self, above):
        self.take("def")
        kind, name = self.take(), self.take()[1:-1]
        path = f"{above}/{name}"
        assert re.fullmatch(r"[A-Za-z_]\w*", name) and path not in self.prim, path
        prim = self.prim[path] = {"schema": kind, "about": self.metadata() if self.peek() == "(" else {}}
        self.take("{")
        while self.peek() != "}":
            if self.peek() == "def":
                self.definition(path)
                continue
            words = [self.take()]
            while self.peek() not in ("=", "}") and (len(words) < 2 or words[0] in ("uniform", "rel") and len(words) < 3):
                words.append(self.take())
            if self.peek() == "=":
                self.take("=")
                prim[words[-1]] = self.value()
            if self.peek() == "(":
                self.metadata()
        self.take("}")


class Export(Case):
    def run_model(self, text):
        self.write("m.yaml", text)
        self.succeeds("run", "m.yaml")

    def near(self, got, want, slack):
        for a, b in zip(got, want, strict=True):
            self.assertLess(abs(a - b), slack, f"{got} is not {want}")

    def test_rings_of_a_skin_are_where_the_closed_form_puts_them(self):
        self.run_model(ROLLED)
        r = self.succeeds("export", "m.h5", "--run", "more", "-o", "m.glb")
        self.assertEqual(r.out, "robot in m.glb\n")
        glb = Glb((self.folder / "m.glb").read_bytes())
        self.assertNotIn("animations", glb.json)  # one frame
        glb.json["animations"] = [{"channels": [], "samplers": []}]
        # k = C/EI; the arm bends in x and z, of which z is up: y in glTF
        k, radius = 2 / (100e6 * math.pi / 4 * 0.01 ** 4), 0.01
        points = glb.corners("arm", 0, "rod")
        self.assertGreater(len(points), 20 * k / 0.12)
        for x, y, z in points[:-42]:  # vertices of the sides: their distance from the centre line, an arc about (0, -1/k), is the radius
            self.assertAlmostEqual(math.hypot(math.hypot(x, y + 1 / k) - 1 / k, z), radius, 6)

    def test_a_hollow_ellipse_has_its_rim_and_its_stress(self):
        self.run_model(HOLLOW)
        self.succeeds("export", "m.h5", "-o", "m.glb")
        glb = Glb((self.folder / "m.glb").read_bytes())
        glb.json["animations"] = [{"channels": [], "samplers": []}]
        root = [p for p in glb.corners("arm", 0, "rod") if abs(p[0]) < 1e-9]  # z is up: y in glTF
        self.assertGreater(len(root), 8)
        rim = [p for p in root if math.hypot(p[1], p[2]) > 1e-6]  # without the centre of the end
        for _, z, y in rim:
            self.assertAlmostEqual((y / 0.03) ** 2 + (z / 0.01) ** 2, 1, 5)
        self.succeeds("export", "m.h5", "-o", "m.pvd")
        _, _, fields, _ = vtp(next(self.folder.glob("m/rods_*.vtp")))
        second = math.pi / 4 * 0.03 * 0.01 ** 3 * (1 - 0.75 ** 4)
        for stress in fields["stress"]:
            self.assertAlmostEqual(stress / (2e-3 * 0.01 / second), 1, 5)

    def test_what_moves_follows_its_frames(self):
        self.run_model(TWISTED)
        self.succeeds("export", "m.h5", "-o", "m.glb")
        self.succeeds("export", "m.h5", "-o", "m.gltf")
        glb = Glb((self.folder / "m.glb").read_bytes())
        text = json.loads((self.folder / "m.gltf").read_text())
        self.assertEqual(base64.b64decode(text["buffers"][0]["uri"].split(",")[1]), glb.bytes)
        self.assertEqual(glb.json["asset"]["extras"]["title"], 'A "title" with <b>&amp; in it')
        shown = self.succeeds("show", "m.h5", "--csv", "--probe", "tip").out.splitlines()[1:]
        t = glb.times()
        self.assertEqual(len(t), len(shown))
        self.assertTrue(all(b > a for a, b in zip(t, t[1:])))
        for key in (0, 5, len(t) - 1):
            x, y, z = (float(v) for v in shown[key].split(",")[1:])
            hand = glb.corners("hand", key, "body")
            self.near([sum(p[i] for p in hand) / len(hand) for i in range(3)], [x, z, -y], 2e-7)
            cord = glb.corners("cord", key, "tendon")[-9:]  # the last ring and its centre
            self.near(cord[0], [x, z, -y], 2e-7)

    def test_inactive_parts_are_scaled_to_zero(self):
        self.run_model(COMES)
        r = self.succeeds("export", "m.h5", "-o", "m.glb", "--frames", 100, "--json")
        self.assertEqual((r.json["kept"] <= 100, r.json["frames"] > 1000), (True, True), r)
        glb = Glb((self.folder / "m.glb").read_bytes())
        t = glb.times()
        for key, now in enumerate(t):
            points = glb.corners("bird", key, "body")
            size = max(math.dist(points[0], p) for p in points)
            if abs(now - 0.5) > 0.02:
                self.assertAlmostEqual(size, 0.1 if now > 0.5 else 0, 3)

    def test_changes_are_seen_from_their_step_on(self):
        self.run_model(CHANGED)
        self.succeeds("export", "m.h5", "-o", "m.glb")
        glb = Glb((self.folder / "m.glb").read_bytes())
        self.assertEqual(len(glb.times()), 2)
        names = sorted(m["name"] for m in glb.json["meshes"])
        self.assertEqual(names, ["arm", "arm", "ball", "hand", "hand"])
        for key, radius, side in ((0, 0.01, 0.04), (1, 0.03, 0.08)):
            def high(name, material):
                return max(p[1] for p in glb.corners(name, key, material))
            # inactive parts are collapsed to a point at the origin
            self.assertAlmostEqual(high("arm", "rod"), radius, 6)
            self.assertAlmostEqual(high("hand", "body"), side / 2, 6)
            self.assertAlmostEqual(high("ball", "body"), 0.03, 6)
        self.succeeds("export", "m.h5", "-o", "m.pvd")
        for key, radius in enumerate((0.01, 0.03)):
            _, _, fields, _ = vtp(self.folder / f"m/rods_{key:05d}.vtp")
            self.assertTrue(all(abs(r - radius) < 1e-9 for r in fields["radius"]))
        counts = [len(vtp(self.folder / f"m/surface_{key:05d}.vtp")[1]) for key in range(2)]
        self.assertEqual(counts[0], counts[1])

    def test_thinned_runs_say_so(self):
        self.run_model(COMES)
        r = self.succeeds("export", "m.h5", "-o", "m.glb")
        self.assertRegex(r.out, r"^1000 of 100\d frames are written, even in time; --frames changes the number\n")
        glb = Glb((self.folder / "m.glb").read_bytes())
        self.assertEqual((glb.times()[0], len(glb.times())), (0, 1000))

    def test_vtk_has_the_moment_and_stress_of_the_closed_form(self):
        self.run_model(TWISTED)
        self.succeeds("export", "m.h5", "-o", "m.pvd")
        sets = ElementTree.parse(self.folder / "m.pvd").getroot().findall("Collection/DataSet")
        frames = len(self.succeeds("show", "m.h5", "--csv").out.splitlines()) - 1
        self.assertEqual([s.get("name") for s in sets[:3]], ["rods", "surface", "tendons"])
        self.assertEqual(len(sets), 3 * frames)
        times = [float(s.get("timestep")) for s in sets[::3]]
        self.assertTrue(all(b > a for a, b in zip(times, times[1:])))
        for s in sets:
            self.assertTrue((self.folder / s.get("file")).exists())
        self.assertEqual(len(os.listdir(self.folder / "m")), len(sets))
        points, cells, fields, links = vtp(self.folder / sets[-3].get("file"))
        self.assertEqual((links, len(cells)), (["arm"], 1))
        x, c, section = 0, 2e-3, WIDE * THICK ** 3 / 12
        for i, bend in enumerate(fields["curvature"]):
            if i > 0:
                x += math.dist(points[i], points[i - 1])  # chords of an arc: shorter by (angle between rings)^2/24
            moment = c * (LENGTH - x)
            self.assertAlmostEqual(fields["moment"][i][1], moment, delta=2e-3 * c * LENGTH)
            self.assertAlmostEqual(bend[1], fields["moment"][i][1] / (YOUNG * section), 5)
            self.assertAlmostEqual(fields["stress"][i], abs(fields["moment"][i][1]) * THICK / 2 / section, delta=0.5)
            self.assertTrue(math.isnan(fields["force"][i][0]))  # it is inextensible: the force does not follow from elasticity
        # at the clamp exactly: the strain is linear in x
        self.assertAlmostEqual(fields["moment"][0][1], c * LENGTH, 9)
        self.assertAlmostEqual(fields["largest_strain"][0], fields["stress"][0] / YOUNG, 7)

    def test_vtk_surfaces_and_tendons(self):
        self.run_model(TWISTED)
        self.succeeds("export", "m.h5", "-o", "m.pvd")
        last = max(int(n[5:10]) for n in os.listdir(self.folder / "m") if n.startswith("rods"))
        points, cells, fields, _ = vtp(self.folder / f"m/surface_{last:05d}.vtp")
        self.assertTrue(all(len(c) == 3 for c in cells))
        for a, b, c in cells:  # triangles are oriented outwards, and normals agree
            u, v = ([q - p for p, q in zip(points[a], points[k])] for k in (b, c))
            n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
            self.assertGreater(sum(p * q for p, q in zip(n, fields["Normals"][a])), 0)
        points, cells, fields, links = vtp(self.folder / f"m/tendons_{last:05d}.vtp")
        self.assertEqual(links, ["cord"])
        self.assertTrue(all(abs(f - 3e-6) < 1e-12 for f in fields["tension"]))
        tip = [float(v) for v in self.succeeds("show", "m.h5", "--csv").out.splitlines()[-1].split(",")[1:]]
        self.near(points[-1], tip, 1e-7)

    def test_solids_have_their_volumes(self):
        """Bodies of several shapes and obstacles: closed surfaces, oriented outwards."""
        self.write("wedge.obj", WEDGE)
        self.run_model(SOLIDS)
        self.succeeds("export", "m.h5", "-o", "m.pvd")
        points, cells, fields, _ = vtp(self.folder / "m/surface_00001.vtp")
        volume = 0
        for cell in cells:
            a, b, c = (points[i] for i in cell)
            n = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]]
            volume += sum(x * y for x, y in zip(a, n)) / 6
        bar = 0.01  # between the end of the link and the centre of mass of the body, of the thickness of the picture
        self.assertLess(abs(volume - sum(VOLUMES)), 0.01 * sum(VOLUMES) + bar)
        self.succeeds("export", "m.h5", "-o", "m.glb")
        glb = Glb((self.folder / "m.glb").read_bytes())
        glb.json.setdefault("animations", [{"channels": [], "samplers": []}])  # nothing moves
        self.assertEqual(len([m for m in glb.json["meshes"] if m["name"] == "part"]), 7)  # with the bar
        wedge = glb.corners("hull", 0, "body")  # y is up
        self.near([max(p[i] for p in wedge) for i in range(3)], [2.6, 0.2, -3], 1e-6)
        self.near([min(p[i] for p in wedge) for i in range(3)], [2, 0, -4], 1e-6)

    def test_a_height_field_is_a_surface(self):
        self.run_model(FIELD)
        self.succeeds("export", "m.h5", "-o", "m.glb")
        glb = Glb((self.folder / "m.glb").read_bytes())
        glb.json.setdefault("animations", [{"channels": [], "samplers": []}])
        sea = glb.corners("sea", 0, "body")
        self.assertEqual(len(sea), 41 * 21)
        for x, y, z in sea:
            self.assertAlmostEqual(y, 0.1 * math.sin(x / 0.3) * math.cos(-z / 0.2), 6)

    def test_csv(self):
        self.run_model(ROLLED)
        self.succeeds("export", "m.h5", "--run", "text", "-o", "p.csv")
        self.assertEqual((self.folder / "p.csv").read_text(), self.succeeds("show", "m.h5", "--run", "text", "--csv").out)
        r = self.succeeds("export", "m.h5", "--run", "text", "--shape", "-o", "s.csv")
        self.assertEqual(r.out, "shapes in s.csv\n")
        head, *rows = [line.split(",") for line in (self.folder / "s.csv").read_text().splitlines()]
        self.assertEqual(head, "t,link,x,px,py,pz,qw,qx,qy,qz".split(","))
        k = 1 / (100e6 * math.pi / 4 * 0.01 ** 4)
        for row in rows:
            x = float(row[2])
            self.assertEqual(row[1], "arm")
            self.near([float(v) for v in row[3:6]], [math.sin(k * x) / k, 0, (math.cos(k * x) - 1) / k], 1e-12)

    def test_what_cannot_be_written_is_reported_and_leaves_nothing(self):
        self.run_model(ROLLED)
        self.write("not.h5", "no results\n")
        (self.folder / "kept").mkdir()
        self.write("kept/mine.txt", "mine")
        before = self.files()
        one = ["m.h5", "--run", "text"]
        for args, text in (
            (["m.h5"], "give the output with -o"),
            ([*one, "-o", "m.stl"], "ending of -o gives the format: .glb"),
            (["m.h5", "-o", "m.glb"], "there are 2; choose, e.g. --run text"),
            (["none.h5", "-o", "m.glb"], "no such file"),
            (["not.h5", "-o", "m.glb"], "not an HDF5 file"),
            ([*one, "-o", "no/such/m.glb"], "does the folder exist"),
            ([*one, "-o", "no/such/m.pvd"], "does the folder exist"),
            ([*one, "-o", "kept.pvd"], "contains other files than frames; give another -o"),
            ([*one, "-o", "m.glb", "--frames", "1"], "--frames takes a number from 2"),
            ([*one, "-o", "m.glb", "--shape"], "--shape is for .csv"),
        ):
            r = self.fails(2, "export", *args)
            self.assertRegex(r.err, text)
        for name in ("m.glb", "m.gltf", "m.pvd"):
            r = self.fails(1, "export", *one, "-o", name, preexec_fn=harness.limit_file_size(4096))
            self.assertRegex(r.err, "cannot be written|accepts no more|too large")
        self.assertEqual(self.files(), before)
        self.assertEqual((self.folder / "kept/mine.txt").read_text(), "mine")

    def test_a_series_replaces_an_older_one(self):
        self.run_model(TWISTED)
        self.succeeds("export", "m.h5", "-o", "m.pvd")
        more = len(os.listdir(self.folder / "m"))
        self.succeeds("export", "m.h5", "-o", "m.pvd", "--frames", 4)
        self.assertLess(len(os.listdir(self.folder / "m")), more)
        self.assertEqual(self.files(), ["m", "m.h5", "m.pvd", "m.yaml"])

    def test_usd_has_curves_and_bodies_where_the_closed_form_puts_them(self):
        self.run_model(TWISTED)
        self.succeeds("export", "m.h5", "-o", "m.usda")
        scene = Usda((self.folder / "m.usda").read_text())
        self.assertEqual((scene.head["doc"], scene.head["upAxis"], scene.head["metersPerUnit"]), ('A "title" with <b>&amp; in it', "Z", 1))
        arm, hand = scene.prim["/robot/arm"], scene.prim["/robot/hand"]
        self.assertEqual((arm["schema"], hand["schema"], arm["purpose"]), ("BasisCurves", "Xform", "guide"))
        # the shape at t: curvature c (L - x)/(E I), so the angle is c (L x - x^2/2)/(E I), about y
        samples = arm["points.timeSamples"]
        code = sorted(samples)
        self.assertEqual(code, sorted(hand["xformOp:translate.timeSamples"]))
        self.assertEqual(code[-1], scene.head["endTimeCode"])
        stiff = YOUNG * WIDE * THICK ** 3 / 12
        for key in (0, len(code) - 1):
            c = 1e-3 * (1 + (key > 0))
            tip = [0.0, 0.0]
            for i in range(2000):
                x = LENGTH * (i + 0.5) / 2000
                angle = c * (LENGTH * x - x * x / 2) / stiff
                tip[0] += math.cos(angle) * LENGTH / 2000
                tip[1] -= math.sin(angle) * LENGTH / 2000
            self.near(samples[code[key]][-1], [tip[0], 0, tip[1]], 1e-6)
            self.near(hand["xformOp:translate.timeSamples"][code[key]], [tip[0], 0, tip[1]], 1e-6)
            half = c * LENGTH ** 2 / 2 / stiff / 2
            q = hand["xformOp:orient.timeSamples"][code[key]]
            self.near([abs(x) for x in q], [math.cos(half), 0, abs(math.sin(half)), 0], 1e-6)
        self.assertEqual(len(arm["widths"]), int(arm["curveVertexCounts"][0]))
        surface = scene.prim["/robot/arm_surface"]
        self.assertEqual(3 * len(surface["faceVertexCounts"]), len(surface["faceVertexIndices"]))
        self.assertEqual(max(surface["faceVertexIndices"]) + 1, len(surface["points.timeSamples"][0]))
        box = scene.prim["/robot/hand/shape"]
        self.near(box["extent"][1], [0.01, 0.015, 0.02], 1e-7)
        for prim in (arm, surface, box, scene.prim["/robot/cord"]):
            self.assertIn(prim["material:binding"][1:-1], scene.prim)

    def test_usd_shows_conditional_parts_and_changes_by_visibility(self):
        self.run_model(COMES)
        self.succeeds("export", "m.h5", "-o", "m.usda", "--frames", 100)
        scene = Usda((self.folder / "m.usda").read_text())
        bird = next(p for p in scene.prim.values() if "visibility.timeSamples" in p)
        for code, word in bird["visibility.timeSamples"].items():
            self.assertEqual(word, "inherited" if code >= 30 - 1e-6 else "invisible")  # 60 codes a second, from 0.5 s on
        self.run_model(CHANGED)
        self.succeeds("export", "m.h5", "-o", "m.usda")
        scene = Usda((self.folder / "m.usda").read_text())
        widths = {name: p["widths"][0] for name, p in scene.prim.items() if p["schema"] == "BasisCurves"}
        self.assertEqual(sorted(widths), ["/robot/arm", "/robot/arm_2"])
        self.near(sorted(widths.values()), [0.02, 0.06], 1e-8)


if __name__ == "__main__":
    harness.main()
