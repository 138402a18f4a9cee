# SPDX-License-Identifier: MIT
"""Meshes of glTF and COLLADA files: mass, centre and inertia of boxes that are placed, scaled and mirrored by nodes are those of the boxes. The
files are written here."""
import base64
import json
import math
import struct

import harness

CORNERS = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]


def gltf(index="I", interleaved=False, mode=4, nodes=None, uri=None):
    """The JSON and the buffer of a cube from (0, 0, 0) to (1, 1, 1); mode 5: one strip for each face."""
    pad = [9.0] if interleaved else []
    vertices = b"".join(struct.pack(f"<{3 + len(pad)}f", *c, *pad) for c in CORNERS)
    lists = [[k for t in TRIANGLES for k in t]] if mode == 4 else [[a, b, d, c] for a, b, c, d in QUADS]
    kind = {"B": 5121, "H": 5123, "I": 5125}[index]
    data, views, accessors = vertices, [{"buffer": 0, "byteLength": len(vertices)}], \
        [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 8}]
    if interleaved:
        views[0]["byteStride"] = 16
    for one in lists:
        data += b"\0" * (-len(data) % 4)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(one) * struct.calcsize(index)})
        accessors.append({"bufferView": len(views) - 1, "componentType": kind, "type": "SCALAR", "count": len(one)})
        data += struct.pack(f"<{len(one)}{index}", *one)
    primitives = [{"attributes": {"POSITION": 0}, "indices": k + 1, "mode": mode} for k in range(len(lists))]
    buffer = {"byteLength": len(data)}
    if uri:
        buffer["uri"] = uri
    document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes or [{"mesh": 0}],
                "meshes": [{"primitives": primitives}], "accessors": accessors, "bufferViews": views, "buffers": [buffer]}
    return document, data


def glb(document, data):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    return (struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data)) + struct.pack("<I4s", len(text), b"JSON") + text +
            struct.pack("<I4s", len(data), b"BIN\0") + data)


def dae(primitive="triangles", unit=1, up="Z_UP", node="", scene=True):
    floats = " ".join(f"{x}" for c in CORNERS for x in c)
    inputs = '<input semantic="NORMAL" source="#n" offset="0"/><input semantic="VERTEX" source="#v" offset="1"/>'
    pairs = lambda corners: " ".join(f"0 {k}" for k in corners)  # noqa: E731
    body = {"triangles": "<p>" + " ".join(pairs(t) for t in TRIANGLES) + "</p>",
            "polylist": "<vcount>" + "4 " * 6 + "</vcount><p>" + " ".join(pairs(q) for q in QUADS) + "</p>",
            "polygons": "".join(f"<p>{pairs(q)}</p>" for q in QUADS),
            "tristrips": "".join(f"<p>{pairs((a, b, d, c))}</p>" for a, b, c, d in QUADS),
            "trifans": "".join(f"<p>{pairs(q)}</p>" for q in QUADS)}[primitive]
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter="{unit}"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="f" count="24">{floats}</float_array><technique_common><accessor source="#f" count="8" stride="3"/>
</technique_common></source><vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<{primitive} count="6">{inputs}{body}</{primitive}>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="vs"><node>{node}<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
{'<scene><instance_visual_scene url="#vs"/></scene>' if scene else ''}
</COLLADA>
"""


def box(low, high):
    """Mass and centre of a box of density 1000."""
    mass = 1000 * math.prod(b - a for a, b in zip(low, high))
    return mass, [(a + b) / 2 for a, b in zip(low, high)]


class Meshes(harness.Case):
    def weighs(self, file, low, high, scale="1 m"):
        """The body of the file is the box: its centre, and its moments of inertia by springs about each axis."""
        mass, centre = box(low, high)
        sides = [b - a for a, b in zip(low, high)]
        periods = ""
        for axis in "xyz":
            periods += (f"  turn_{axis}: {{on: world, joint: revolute, axis: {axis}, stiffness: 1, body: {{density: 1000, shapes: "
                        f"[{{shape: mesh, file: {file}, scale: {scale}}}]}}}}\n")
        self.write("robot.yaml", f"sinew: 1\ngravity: 0\nrobot:\n{periods}study: [static:, modes: {{count: 3}}]\n"
                                 "probes: {f: frequency, c: center_of_mass}\n")
        self.succeeds("run", "robot.yaml", "-o", "robot.h5")
        last = self.succeeds("show", "robot.h5", "--json").json["runs"][0]["last"]
        for k, axis in enumerate("xyz"):
            self.assertAlmostEqual(last[f"c.{axis}"], centre[k], delta=1e-6 * max(sides), msg=file)
        inertia = [mass * sum(sides[j] ** 2 / 12 + centre[j] ** 2 for j in range(3) if j != k) for k in range(3)]
        found = sorted((last[f"f.{i}"] * 2 * math.pi) ** -2 for i in (1, 2, 3))
        for wanted, got in zip(sorted(inertia), found):
            self.assertAlmostEqual(got / wanted, 1, delta=1e-5, msg=file)

    def test_binary_gltf_with_nodes(self):
        # y upwards: x, y, z of the file are x, z, -y of the model
        self.write("a.glb", glb(*gltf()))
        self.weighs("a.glb", (0, -1, 0), (1, 0, 1))
        half = math.sqrt(0.5)
        nodes = [{"children": [1], "translation": [1, 2, 3]},
                 {"mesh": 0, "rotation": [0, 0, half, half], "scale": [0.5, 2, 3]}]  # x to y, y to -x
        self.write("b.glb", glb(*gltf(index="B", interleaved=True, nodes=nodes)))
        self.weighs("b.glb", (1 - 2, -3 - 3, 2), (1, -3, 2 + 0.5))
        mirror = [{"mesh": 0, "matrix": [-1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0.25, 0, 0, 1]}]
        self.write("c.glb", glb(*gltf(index="H", mode=5, nodes=mirror)))
        self.weighs("c.glb", (0.25 - 1, -1, 0), (0.25, 0, 2))
        self.weighs("c.glb", (-0.075, -0.1, 0), (0.025, 0, 0.2), scale="0.1 m")

    def test_gltf_with_buffers_within_and_beside(self):
        document, data = gltf(uri="cube%20one.bin")
        self.write("d.gltf", json.dumps(document, indent=1))
        self.write("cube one.bin", data)
        self.weighs("d.gltf", (0, -1, 0), (1, 0, 1))
        document, data = gltf(index="H")
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        self.write("e.gltf", json.dumps(document))
        self.weighs("e.gltf", (0, -1, 0), (1, 0, 1))

    def test_collada(self):
        for primitive in ("triangles", "polylist", "polygons", "tristrips", "trifans"):
            self.write("a.dae", dae(primitive))
            self.weighs("a.dae", (0, 0, 0), (1, 1, 1))
        self.write("a.dae", dae(unit=0.1, up="Y_UP", node="<translate>1 0 0</translate><scale>1 2 3</scale>"))
        self.weighs("a.dae", (0.1, -0.3, 0), (0.2, 0, 0.2))
        self.write("a.dae", dae(up="X_UP", node='<rotate sid="r">0 0 1 90</rotate><scale>1 2 -3</scale>'))
        # turned: x from -2 to 0, y from 0 to 1, z from -3 to 0; x up: -y, -z, x
        self.weighs("a.dae", (-1, 0, -2), (0, 3, 0))
        self.write("a.dae", dae(node="<matrix>0 1 0 5 1 0 0 0 0 0 1 0 0 0 0 1</matrix>"))
        self.weighs("a.dae", (5, 0, 0), (6, 1, 1))
        self.write("a.dae", dae(scene=False))
        self.weighs("a.dae", (0, 0, 0), (1, 1, 1))

    def refuses(self, name, content, says):
        self.write(name, content)
        self.write("robot.yaml", "sinew: 1\nrobot: {a: {on: world, joint: revolute, body: {density: 1000, shapes: [{shape: mesh, "
                                 f"file: {name}}}]}}}}}}\nstudy: [static:]\n")
        self.assertIn(says, self.fails(2, "check", "robot.yaml").err)

    def test_what_is_not_read_is_named(self):
        document, data = gltf()
        self.refuses("x.glb", glb(dict(document, extensionsRequired=["KHR_draco_mesh_compression"]), data),
                     "the extension 'KHR_draco_mesh_compression' is not supported")
        self.refuses("x.glb", glb(dict(document, nodes=[{"mesh": 0, "skin": 0}]), data), "node 0 has a skin")
        self.refuses("x.glb", glb(dict(document, nodes=[{"children": [0]}]), data), "node 0 is in the scene twice")
        self.refuses("x.glb", glb(document, data)[:-30], "cut off")
        self.refuses("x.glb", glb(document, data[:-10]), "reaches beyond its buffer")
        self.refuses("x.gltf", json.dumps(gltf(uri="../secret.bin")[0]), "is no file beside this one")
        self.refuses("x.gltf", json.dumps(gltf(uri="gone.bin")[0]), "gone.bin")
        self.refuses("x.gltf", '{"asset": {"version": "2.0"}, "scenes": [}', "a value is missing in the JSON")
        self.refuses("x.dae", dae().replace("<p>0 0", "<p>0 99"), "an index is beyond the positions")
        self.refuses("x.dae", dae(node="<skew>1 2 3 4 5 6 7</skew>"), "<skew>: this transform is not read")
        self.refuses("x.dae", dae().replace("instance_geometry", "instance_controller"), "skins and morphs are not read")
        self.refuses("x.dae", dae()[:700], "x.dae")

    def test_imported_robots_bring_their_meshes(self):
        document, data = gltf(uri="cube.bin")
        self.write("a.gltf", json.dumps(document))
        self.write("cube.bin", data)
        self.write("b.glb", glb(*gltf()))
        self.write("c.DAE", dae())
        shapes = "".join(f'<{kind}><geometry><mesh filename="{name}"/></geometry></{kind}>'
                         for kind, name in (("collision", "a.gltf"), ("visual", "b.glb"), ("visual", "c.DAE")))
        self.write("robot.urdf", f'<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" '
                                 f'ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link></robot>')
        reply = self.succeeds("import", "robot.urdf", "-o", "below.yaml", "--json").json
        self.assertEqual((reply["meshes"], reply["notes"]), (3, []))
        (self.folder / "cube.bin").unlink()
        self.succeeds("check", "below.yaml")


if __name__ == "__main__":
    harness.main()
