# SPDX-License-Identifier: MIT
"""sinew plot: its figures, and its messages when it cannot draw."""
import math
import csv
import re
import struct
import unittest
import xml.etree.ElementTree as ET
import zlib

import harness
from harness import ROLLED, Case, has_cairo

SVG = "{http://www.w3.org/2000/svg}"

# a pendulum of rigid bob and soft rod, two runs of it
SWING = """\
sinew: 1
title: A rod & a <bob>
gravity: [0, 0, -9.81]
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 1 ms}}
robot:
  bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg, com: [1 m, 0, 0], inertia: [0, 0, 0]}}
  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 3}}}
study: [{dynamic: {for: 0.4 s, step: 10 ms}}]
probes: {a: {angle: bob}, tip: {pose: arm.tip}, speed: {velocity: arm.tip}, e: energy, clamp: {reaction: arm}}
runs: {light: {}, heavy: {bob.body.mass: 2 kg}}
"""

# the second run has a load without value and fails before its first frame
FAILING = """\
sinew: 1
gravity: 0
robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg, com: [1 m, 0, 0], inertia: [0, 0, 0]}}}
loads: {push: {on: bob, force: [0, 0, 1 N]}}
study: [{dynamic: {for: 0.1 s, step: 10 ms, scheme: rk4}}]
probes: {a: {angle: bob}}
runs: {good: {}, bad: {push.force: [0, 0, "1 N*sqrt(-1 - t/(1 s))"]}}
"""


# a ball and a box on a tendon over two eyes, in the plane of x and z, and a block above
ATWOOD = """\
sinew: 1
robot:
  a: {on: world, pose: {xyz: [0, 0, -1]}, joint: prismatic, body: {sphere: {radius: 50 mm}, mass: 2}}
  b: {on: world, pose: {xyz: [0.3, 0, -1], rpy: [0, 0.3, 0]}, joint: prismatic, axis: [-0.295520207, 0, 0.955336489], body: {box: [0.2, 0.3, 0.1], mass: 3}}
  top: {on: world, pose: {xyz: [0.15, 0, 0.2]}, body: {cylinder: {radius: 0.1, length: 0.6, axis: x}, mass: 1}}
sites: {eye(k=1..2): {on: world, pose: {xyz: [(k - 1)*0.3, 0, 0]}}}
actuators: {cord: {tendon: {path: [a, eye(1), eye(2), b]}, shortening: 0}}
study: [{dynamic: {for: 0.1 s, step: 5 ms}}]
"""


def texts(path):
    """All texts of an SVG, which must be well-formed."""
    return ["".join(t.itertext()) for t in ET.parse(path).iter(SVG + "text")]


def curves(path):
    """Points of its coloured lines, in mm, samples of the legend left out."""
    found = []
    for group in ET.parse(path).iter(SVG + "g"):
        for line in group.iter(SVG + "path"):
            points = [tuple(map(float, p.split())) for p in re.split("[ML]", line.get("d")) if p]
            found.append((line.get("stroke"), line.get("stroke-dasharray"), points))
    return found


def pixels(data, width, height):
    """Rows of a PNG, three bytes a pixel, as its filters say (RFC 2083, 6)."""
    packed, at = b"", 8
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at:at + 4]), data[at + 4:at + 8]
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw, wide, rows = zlib.decompress(packed), 3 * width, []
    above = bytearray(wide)
    for y in range(height):
        sort, row = raw[y * (wide + 1)], bytearray(raw[y * (wide + 1) + 1:(y + 1) * (wide + 1)])
        for i in range(wide) if sort else ():
            a, b, c = (row[i - 3], above[i], above[i - 3]) if i >= 3 else (0, above[i], 0)
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[sort]) & 255
        rows.append(row)
        above = row
    return rows


class Plot(Case):
    def run_model(self, text=SWING, name="m"):
        self.write(f"{name}.yaml", text)
        self.succeeds("run", f"{name}.yaml")

    def plot(self, *args):
        self.succeeds("plot", *args)
        return self.folder / "m.svg"

    def test_probes_over_time_have_a_panel_a_quantity(self):
        self.run_model()
        path = self.plot("m.h5", "--run", "light", "--probe", "tip.x,tip.z", "--probe", "speed.vz", "--size", "120x80")
        seen = texts(path)
        for text in ("time (ms)", "position (mm)", "tip.x", "tip.z", "speed.vz", "300"):
            self.assertIn(text, seen)
        self.assertTrue(any(t.startswith("velocity (") for t in seen), seen)
        root = ET.parse(path).getroot()
        self.assertEqual((root.get("width"), root.get("height")), ("120mm", "80mm"))
        self.assertEqual(root.find(SVG + "title").text, "A rod & a <bob>")
        lines = curves(path)
        self.assertEqual(len(lines), 3)
        self.assertEqual(len({colour for colour, _, _ in lines[:2]}), 2)

    def test_curves_go_through_the_values(self):
        self.run_model()
        path = self.plot("m.h5", "--run", "light", "--probe", "tip.z")
        (_, _, points), = curves(path)
        shown = self.sinew("show", "m.h5", "--run", "light", "--csv", "--probe", "tip.z").out.splitlines()[1:]
        t, z = zip(*(map(float, line.split(",")) for line in shown))
        # drawn points are an affine map of t and z, determined by the ends of the curve and its lowest value
        low = min(range(len(z)), key=lambda i: z[i])
        ends = [points[0], points[-1]]
        scale = (ends[1][0] - ends[0][0]) / (t[-1] - t[0])
        lowest = max(points, key=lambda p: p[1])
        self.assertAlmostEqual(lowest[0], ends[0][0] + scale * (t[low] - t[0]), delta=0.1)
        rise = (lowest[1] - ends[0][1]) / (z[low] - z[0])
        self.assertAlmostEqual(ends[1][1], ends[0][1] + rise * (z[-1] - z[0]), delta=0.1)

    def test_measurements_are_dots_in_the_panel_of_their_probe(self):
        self.run_model()
        rows = list(csv.DictReader(self.succeeds("show", "m.h5", "--run", "light", "--csv").out.splitlines()))
        name = next(k for k in rows[0] if k != "t")
        seen = rows[::max(1, len(rows) // 5)]
        self.write("seen.csv", f"t, {name}, else\n" + "".join(f"{r['t']}, {r[name]}, 1\n" for r in seen) + f"{rows[-1]['t']}, , 1\n")
        self.succeeds("plot", "m.h5", "--run", "light", "--probe", name, "--data", "seen.csv", "-o", "d.svg")
        text = (self.folder / "d.svg").read_text()
        self.assertEqual(text.count("<circle"), len(seen) + 1, "one a row that is not blank, and the legend's")
        self.assertIn(f"{name}, seen.csv", text)

        # dots have a darker shade of their own curve's colour, and another one for each file
        def shades(*args):
            self.succeeds("plot", "m.h5", "--run", "light", "--data", "seen.csv", *args, "-o", "d.svg")
            text = (self.folder / "d.svg").read_text()
            return set(re.findall(r'<circle[^>]* fill="#([0-9a-f]{6})"', text)), set(re.findall(r'stroke="#([0-9a-f]{6})"', text))

        (dot,), curves = shades("--probe", name)
        darker = {"".join(f"{round(0.6*int(c[i:i + 2], 16)):02x}" for i in (0, 2, 4)) for c in curves}
        self.assertTrue(any(all(abs(int(dot[i:i + 2], 16) - int(c[i:i + 2], 16)) <= 1 for i in (0, 2, 4)) for c in darker), (dot, darker))
        self.write("more.csv", (self.folder / "seen.csv").read_text())
        self.assertEqual(len(shades("--probe", name, "--data", "more.csv")[0]), 2)
        self.write("other.csv", "t, nothing\n0, 1\n")
        self.assertIn("its first is 'nothing'", self.fails(2, "plot", "m.h5", "--data", "other.csv", "-o", "d.svg").err)
        self.assertIn("needs probes over time", self.fails(2, "plot", "m.h5", "--energy", "--data", "seen.csv", "-o", "d.svg").err)

    def test_runs_are_laid_over_each_other(self):
        self.run_model()
        path = self.plot("m.h5", "--probe", "clamp.fz")
        self.assertEqual([dash for _, dash, _ in curves(path)], [None, None])
        self.assertEqual(len({colour for colour, _, _ in curves(path)}), 2)
        self.assertLessEqual({"light", "heavy"}, set(texts(path)))
        path = self.plot("m.h5", "--probe", "tip.x,tip.z")
        self.assertLessEqual({"tip.x, light", "tip.z, heavy"}, set(texts(path)))
        self.assertEqual(sum(dash is None for _, dash, _ in curves(path)), 2)
        self.write("other.yaml", SWING)
        self.succeeds("run", "other.yaml", "--set", "bob.body.mass='3 kg'")
        path = self.plot("m.h5", "other.h5", "--run", "light", "--probe", "a")
        self.assertLessEqual({"m", "other"}, set(texts(path)))
        path = self.plot("m.h5", "other.h5", "--probe", "a")
        self.assertLessEqual({"m light", "other heavy"}, set(texts(path)))

    def test_runs_of_an_each_are_named_by_their_values(self):
        self.run_model(SWING.replace("runs: {light: {}, heavy: {bob.body.mass: 2 kg}}", "runs: {by: {bob.body.mass: "
                       "{each: [2 kg, 0.5 kg]}, arm.rod.length: {each: [0.2 m, 0.3 m]}}, heavy: {bob.body.mass: 3 kg}}"))
        masses, lengths = ("2 kg", "0.5 kg"), ("200 mm", "300 mm")
        names = [f"mass = {m}, length = {n}" for m in masses for n in lengths]
        path = self.plot("m.h5", "--run", "by", "--probe", "a")
        self.assertEqual([t for t in texts(path) if "=" in t], names)  # listed in the order of the runs
        pens = [(colour, dash) for colour, dash, _ in curves(path)]
        self.assertEqual([c for c, _ in pens], [pens[0][0]] * 2 + [pens[2][0]] * 2)  # shades by the mass
        self.assertEqual([d is None for _, d in pens], [True, False] * 2)  # dashes by the length
        self.assertEqual(pens[2][0], "#7ad151")  # the gradient begins with the smallest
        # several columns: a panel for each, one legend
        path = self.plot("m.h5", "--run", "by", "--probe", "tip.x,tip.z")
        self.assertEqual([t for t in texts(path) if "=" in t], names)
        self.assertLessEqual({"tip.x (mm)", "tip.z (mm)"}, set(texts(path)))
        self.assertEqual(len(curves(path)), 8)
        # beside others they keep the name before the dot
        seen = texts(self.plot("m.h5", "--probe", "a"))
        self.assertLessEqual({"heavy", "by: mass = 2 kg, length = 200 mm"}, set(seen))
        self.assertEqual([t for t in texts(self.plot("m.h5", "--run", "by.1", "--probe", "a")) if "=" in t], [])

    def test_runs_over_the_values_in_which_they_differ(self):
        # x = F/k: lines over F, whose rises are as 1/k; over both a map
        self.run_model("sinew: 1\ngravity: 0\nparameters: {F: 1 N, k: 1 N/m}\n"
                       "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {mass: 1}}}\n"
                       "actuators: {push: {joint: cart, effort: F}}\nstudy: [static]\nprobes: {cart: {position: cart}}\n"
                       "runs: {by: {F: {each: [1 N, 2 N, 3 N]}, k: {each: [1 N/m, 2 N/m]}}, other: {F: 4 N, k: 4 N/m}}\n")
        path = self.plot("m.h5", "--run", "by", "--over", "F", "--probe", "cart.x")
        self.assertLessEqual({"F (N)", "cart.x (m)", "k = 1 N/m", "k = 2 N/m"}, set(texts(path)))
        rises = []
        for _, _, points in curves(path):
            self.assertEqual(len(points), 3)
            rises.append(points[0][1] - points[2][1])
        self.assertAlmostEqual(rises[0]/rises[1], 2, delta=0.01)
        report = self.succeeds("plot", "m.h5", "--over", "F,k", "--probe", "cart.x", "--json").json
        self.assertEqual([p["axis"] for p in report["panels"]], ["k (N/m)"])
        for options, says in ((["--over", "G"], "there is no parameter 'G'; the first is 'F'"),
                              (["--over", "F", "--energy"], "--over takes --probe, --at, --run and --size, not --energy"),
                              (["--over", "F", "--at", "0,1"], "--over takes one time, --at has 2"),
                              (["--over", "F", "--at", "1"], "run 'by.1' has no frame at 1 s"),
                              (["--over", "F", "--run", "other"], "these differ in none")):
            self.assertIn(says, self.fails(2, "plot", "m.h5", "--probe", "cart.x", *options).err)

    def test_bare_probes_leave_out_what_repeats(self):
        self.run_model()
        seen = texts(self.plot("m.h5", "--run", "light", "--probe", "tip"))
        self.assertIn("tip.ry", seen)
        self.assertIn("rotation vector (rad)", seen)
        self.assertNotIn("tip.qw", seen)
        seen = texts(self.plot("m.h5", "--run", "light", "--probe", "tip.qw"))
        self.assertIn("quaternion", seen)

    def test_phase_shape_energy(self):
        self.run_model()
        seen = texts(self.plot("m.h5", "--run", "light", "--phase", "tip.x,tip.z"))
        self.assertLessEqual({"tip.x (mm)", "tip.z (mm)"}, set(seen))
        path = self.plot("m.h5", "--run", "light", "--shape", "--link", "arm", "--at", "0,0.2,0.4")
        self.assertLessEqual({"x (mm)", "z (mm)", "0 ms", "200 ms", "400 ms"}, set(texts(path)))
        lines = curves(path)
        self.assertEqual(len(lines), 3)
        # the rod is straight to begin with, 0.3 m along x: as many mm as 300 mm of the axis
        first = lines[0][2]
        self.assertAlmostEqual(first[0][1], first[-1][1], places=3)
        seen = texts(self.plot("m.h5", "--shape", "--count", "2", "--plane", "yz"))
        self.assertLessEqual({"y (mm)", "light", "heavy"}, set(seen))
        seen = texts(self.plot("m.h5", "--run", "light", "--energy"))
        self.assertLessEqual({"kinetic", "elastic", "gravity", "dissipated", "balance"}, set(seen))
        self.assertTrue(any(t.startswith("energy (") and t.endswith("J)") for t in seen), seen)

    def test_shapes_are_those_of_the_closed_form(self):
        self.run_model(ROLLED)
        (_, _, points), = curves(self.plot("m.h5", "--run", "text", "--shape"))
        # an arc of length L and curvature k = C/EI: of radius 1/k, its chord 2/k sin(kL/2); kL = 4/pi
        (ax, ay), (bx, by), (cx, cy) = points[0], points[len(points) // 2], points[-1]
        d = 2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by))
        a, b, c = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
        x = (a * (by - cy) + b * (cy - ay) + c * (ay - by)) / d
        y = (a * (cx - bx) + b * (ax - cx) + c * (bx - ax)) / d
        radius = math.hypot(ax - x, ay - y)
        for p in points:
            self.assertAlmostEqual(math.hypot(p[0] - x, p[1] - y), radius, delta=5e-3)
        self.assertAlmostEqual(math.dist(points[0], points[-1]) / radius, 2 * math.sin(2 / math.pi), delta=1e-4)

    def test_bodies_have_their_outline_and_tendons_their_path(self):
        self.run_model(ATWOOD)
        around = curves(self.plot("m.h5", "--shape", "--count", "1"))
        self.assertEqual(len(around), 4)  # two rigid bodies, a block, a tendon
        ball, box, block, cord = (points for _, _, points in around)
        self.assertEqual((len(ball), len(box), len(cord)), (61, 5, 4))
        middle = [sum(p[i] for p in ball[:-1]) / 60 for i in (0, 1)]
        radii = [math.dist(p, middle) for p in ball]
        self.assertLess(max(radii) - min(radii), 2e-3)
        # widths of 0.2 and 0.1 m beside a radius of 50 mm, for any rotation of the box about y
        sides = sorted(math.dist(p, q) / radii[0] for p, q in zip(box, box[1:]))
        for side, wanted in zip(sides, (2, 2, 4, 4)):
            self.assertAlmostEqual(side, wanted, delta=1e-2)
        wide = max(p[0] for p in block) - min(p[0] for p in block)
        self.assertAlmostEqual(wide / radii[0], 0.6 / 0.05, delta=1e-2)
        self.assertAlmostEqual(math.dist(cord[1], cord[2]) / radii[0], 0.3 / 0.05, delta=1e-2)
        only = curves(self.plot("m.h5", "--shape", "--link", "a"))
        self.assertEqual(len({tuple(c[2]) for c in only}), len(only))
        self.assertTrue(all(len(points) == 61 for _, _, points in only))

    def test_equilibria_without_time_are_counted(self):
        self.run_model(ROLLED)
        r = self.succeeds("plot", "m.h5", "--shape", "--json").json
        self.assertEqual((r["figure"], r["runs"], r["panels"][0]["curves"]), ("m.svg", 2, 2))
        self.assertIn("tip.x, text", texts(self.plot("m.h5", "--probe", "tip")))

    def test_impossible_figures_are_reported(self):
        self.run_model()
        self.write("not.h5", "no results\n")
        for args, text in (
            (["none.h5"], "none.h5.*no such file"),
            (["not.h5"], "not an HDF5 file"),
            (["m.h5", "--probe", "tip.u"], "no probe 'tip.u'.*did you mean 'tip.x'"),
            (["m.h5", "--run", "lihgt"], "no run 'lihgt'.*did you mean 'light'"),
            (["m.h5", "--phase", "tip.x"], "two probes"),
            (["m.h5", "--phase", "tip,tip.x"], "'tip' has .* components"),
            (["m.h5", "--shape", "--energy"], "one of --probe"),
            (["m.h5", "--shape", "--link", "amr"], "no link 'amr'.*did you mean 'arm'"),
            (["m.h5", "--shape", "--at", "1"], "no shape at 1 s; the run goes from 0 to 0.4 s"),
            (["m.h5", "--shape", "--at", "end"], "times in seconds"),
            (["m.h5", "--shape", "--count", "0"], "from 1 to 100"),
            (["m.h5", "--shape", "--plane", "xx"], "two of x, y and z"),
            (["m.h5", "--probe", "a", "--size", "20"], "--size takes width x height"),
            (["m.h5", "--probe", "a", "--size", "20x20"], "too small"),
            (["m.h5", "--probe", "a", "-o", "f.gif"], "svg, .png or .pdf"),
            (["m.h5", "--probe", "a", "-o", "no/such/folder/f.svg"], "does the folder exist"),
        ):
            r = self.fails(2, "plot", *args)
            self.assertRegex(r.err, text)
        self.assertEqual(self.files(), ["m.h5", "m.yaml", "not.h5"])

    def test_a_run_without_frames_is_reported(self):
        self.write("m.yaml", FAILING)
        self.assertEqual(self.sinew("run", "m.yaml").code, 1)
        self.assertRegex(self.fails(2, "plot", "m.h5", "--run", "bad").err, "no frame to show")


class Missing(Case):
    @unittest.skipIf(has_cairo(), "this build has cairo")
    def test_a_command_without_cairo_says_what_to_install(self):
        self.write("m.yaml", ROLLED)
        self.sinew("run", "m.yaml")
        r = self.sinew("plot", "m.h5", "-o", "m.png")
        self.assertEqual(r.code, 1, r)
        self.assertRegex(r.err, "libcairo2-dev.*SVG")
        self.assertEqual(self.files(), ["m.h5", "m.yaml"])


@unittest.skipUnless(has_cairo(), "built without cairo")
class Cairo(Case):
    def setUp(self):
        super().setUp()
        self.write("m.yaml", SWING)
        self.succeeds("run", "m.yaml")

    def test_png_has_its_size_and_curves_in_their_place(self):
        self.succeeds("plot", "m.h5", "--run", "light", "--probe", "tip.z", "--size", "85x60", "-o", "f.png")
        data = (self.folder / "f.png").read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height, bits, colour = struct.unpack(">IIBB", data[16:26])
        self.assertEqual((width, height), (round(85 / 25.4 * 300), round(60 / 25.4 * 300)))
        self.assertEqual((bits, colour), (8, 2))
        # pixels per metre, so that it is printed at its size
        at = data.index(b"pHYs")
        self.assertEqual(struct.unpack(">IIB", data[at + 4:at + 13]), (11811, 11811, 1))
        self.assertEqual(struct.unpack(">I", data[at + 13:at + 17])[0], zlib.crc32(data[at:at + 13]))
        rows = pixels(data, width, height)
        # curves stay between the axes, and texts are grey: so nothing coloured is outside
        coloured = [(x, y) for y in range(height) for x in range(width)
                    if max(rows[y][3 * x:3 * x + 3]) - min(rows[y][3 * x:3 * x + 3]) > 60]
        mm = 300 / 25.4
        self.assertGreater(len(coloured), 500)
        self.assertGreater(min(x for x, _ in coloured), 8 * mm)
        self.assertLess(max(y for _, y in coloured), (60 - 8) * mm)
        self.assertLess(max(x for x, _ in coloured), 85 * mm)

    def test_pdf_has_its_size(self):
        self.succeeds("plot", "m.h5", "--shape", "--size", "120x80", "-o", "f.pdf")
        data = (self.folder / "f.pdf").read_bytes()
        self.assertEqual(data[:5], b"%PDF-")
        self.assertTrue(data.rstrip().endswith(b"%%EOF"))
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", data)
        self.assertAlmostEqual(float(box[1]), 120 * 72 / 25.4, 3)
        self.assertAlmostEqual(float(box[2]), 80 * 72 / 25.4, 3)

    def test_a_full_disk_leaves_nothing_behind(self):
        before = self.files()
        r = self.fails(1, "plot", "m.h5", "--energy", "-o", "f.png", preexec_fn=harness.limit_file_size(4096))
        self.assertIn("writ", r.err)
        self.assertEqual(self.files(), before)


# Newmark's scheme is of second order in its step
STEPS = """\
sinew: 1
title: Steps
gravity: [0, 0, -9.81]
robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg, com: [1 m, 0, 0], inertia: [0, 0, 0]}}}
study: [{dynamic: {name: swing, for: 0.8 s, step: 10 ms, scheme: newmark}}]
probes: {a: {value: bob}, w: {rate: bob}, p: {position: bob}}
runs: {by: {swing.step: {each: [80 ms, 40 ms, 20 ms, 10 ms, 1 ms]}}}
"""


class Convergence(Case):
    def setUp(self):
        super().setUp()
        self.write("m.yaml", STEPS)
        self.succeeds("run", "m.yaml")

    def test_errors_fall_with_the_order_of_the_scheme(self):
        r = self.succeeds("plot", "m.h5", "--convergence", "swing.step", "--json", "-o", "f.svg")
        self.assertEqual([x["x"] for x in r.json["convergence"]], [0.08, 0.04, 0.02, 0.01, 0.001])
        self.assertIsNone(r.json["convergence"][-1]["a"])
        # computed from the differences in the file itself
        end = {x["run"]: x["values"] for x in self.succeeds("show", "m.h5", "--at", "end", "--json").json["runs"]}
        for x in r.json["convergence"][:-1]:
            self.assertAlmostEqual(x["a"], abs(end[x["run"]]["a"] - end["by.5"]["a"]), 12)
        for probe in "aw":
            self.assertAlmostEqual(r.json["slopes"][probe], 2, delta=0.05)
        # `value` of a hinge is an angle; where all runs agree (the hinge rests) there is no panel
        self.assertEqual([p["axis"] for p in r.json["panels"]], ["error of angle (mrad)", "error of angular velocity (mrad/s)"])
        shown = texts(self.folder / "f.svg")
        self.assertTrue({"swing.step (ms)", "10", "20", "50"} <= set(shown), shown)
        self.assertTrue(any(re.fullmatch(r"a, slope 2\.0\d|a, slope 1\.9\d", t) for t in shown), shown)
        # on logarithmic axes a power is a straight line
        _, _, points = next(c for c in curves(self.folder / "f.svg") if len(c[2]) == 4)
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[1:])]
        self.assertLess(max(slopes) - min(slopes), 0.05 * abs(min(slopes)))

    def test_a_table(self):
        r = self.succeeds("plot", "m.h5", "--convergence", "swing.step", "--probe", "a", "-o", "f.svg")
        rows = [line.split() for line in r.out.splitlines()]
        self.assertEqual(r.out.splitlines()[0].split(), ["run", "swing.step", "(s)", "error", "of", "a", "slope"])
        self.assertEqual([row[1] for row in rows[1:6]], ["0.08", "0.04", "0.02", "0.01", "0.001"])
        self.assertAlmostEqual(float(rows[4][3]), 2, delta=0.1)

    def test_numbers_said_and_what_is_right(self):
        given = self.succeeds("plot", "m.h5", "--convergence", "h=8,4,2,1,0.1", "--probe", "a", "--against", "by.4", "-o", "f.svg", "--json").json
        self.assertEqual(given["convergence"][3]["a"], None)
        self.assertGreater(given["convergence"][4]["a"], 0)
        end = self.succeeds("plot", "m.h5", "--convergence", "swing.step", "--probe", "a", "--against", "1.5", "--at", "0.4", "-o", "f.svg", "--json").json
        self.assertTrue(all(0 < x["a"] < 1.5 for x in end["convergence"]))

    def test_runs_with_other_names_before_the_dot_are_other_curves(self):
        two = "runs: {by: {swing.step: {each: [80 ms, 40 ms]}}, to: {swing.step: {each: [20 ms, 10 ms]}}, fine: {swing.step: 1 ms}}\n"
        self.write("two.yaml", re.sub(r"runs: .*\n", two, STEPS))
        self.succeeds("run", "two.yaml")
        r = self.succeeds("plot", "two.h5", "--convergence", "swing.step", "--probe", "a", "-o", "f.svg", "--json")
        self.assertIsNone(r.json["slopes"]["a"])  # there are two
        shown = texts(self.folder / "f.svg")
        for name in ("by", "to"):
            self.assertTrue(any(re.fullmatch(rf"{name}: a, slope (2\.0\d|1\.9\d)", t) for t in shown), shown)
        # the table has no slope from one curve to the other
        rows = [line.split() for line in self.succeeds("plot", "two.h5", "--convergence", "swing.step", "--probe", "a", "-o", "f.svg").out.splitlines()]
        self.assertEqual([row[3][0].isdigit() for row in rows[1:6]], [False, True, False, True, False])

    def test_overrides_of_the_command_line_count(self):
        self.succeeds("run", "m.yaml", "-o", "s.h5", "--set", "swing.step=5 ms", "--run", "by.1")
        self.succeeds("run", "m.yaml", "-o", "t.h5", "--set", "swing.step=25 ms", "--run", "by.1")
        r = self.succeeds("plot", "t.h5", "s.h5", "m.h5", "--run", "by.1", "--convergence", "swing.step", "--probe", "a", "-o", "f.svg", "--json")
        self.assertEqual([x["x"] for x in r.json["convergence"]], [0.025, 0.005, 0.08])

    def test_a_model_that_includes_others_is_read_from_the_results(self):
        (self.folder / "deep/er").mkdir(parents=True)
        self.write("deep/er/base.yaml", STEPS)
        self.write("deep/mid.yaml", "include: er/base.yaml\n")
        self.write("deep/m.yaml", "sinew: 1\ninclude: mid.yaml\n")
        self.succeeds("run", "deep/m.yaml", "-o", "i.h5")
        (self.folder / "deep/er/base.yaml").unlink()
        want = self.succeeds("plot", "m.h5", "--convergence", "swing.step", "-o", "f.svg").out
        got = self.succeeds("plot", "i.h5", "--convergence", "swing.step", "-o", "f.svg").out
        self.assertEqual(got, want)
        # a number that no run overrides is found only in the text of the model
        r = self.succeeds("plot", "i.h5", "--convergence", "swing.for", "-o", "f.svg")
        self.assertIn("swing.for (s)", r.out)

    def test_impossible_comparisons_are_reported(self):
        for args, text in (
            (["--convergence", "swing.stepp"], "swing.stepp|stepp"),
            (["--convergence", "h=1,2"], "give one number for each of the 5 runs"),
            (["--convergence", "h=1,2,3,4,x"], "give one number for each of the 5 runs"),
            (["--convergence", "swing.step", "--against", "best"], "--against takes one of the runs"),
            (["--convergence", "swing.step", "--against", "1"], "a reference for one probe, and there are"),
            (["--convergence", "swing.step", "--run", "by.1,by.2"], "at least three"),
            (["--convergence", "swing.step", "--energy"], "--convergence takes only --probe"),
            (["--convergence", "swing.step", "--at", "9"], "has no frame at 9 s"),
            (["--convergence", "swing.step", "--probe", "p"], "there is no error to show"),
        ):
            r = self.fails(2, "plot", "m.h5", *args, "-o", "f.svg")
            self.assertRegex(r.err, text)
        self.assertNotIn("f.svg", self.files())


if __name__ == "__main__":
    harness.main()
