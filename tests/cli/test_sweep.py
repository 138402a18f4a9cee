# SPDX-License-Identifier: MIT
"""sinew sweep: plans, rows on processes, shards and ranks, results in one file, interruptions, bad input."""
import csv
import math
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import harness

# a cart on a spring: x = F/k with F = a + b^2; refused for k <= 0, and not an equilibrium for huge a
CART = """\
sinew: 1
gravity: 0
parameters: {a: 1, b: 2, F: (a + b^2)*1 N, k: 2 N/m}
robot:
  cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {sphere: {radius: 40 mm}, mass: 1}}
loads: {push: {on: cart, force: [F, 0 N, 0 N]}}
probes: {x: {position: cart}}
study: [static]
"""
GRID = """\
sinew: 1
model: cart.yaml
vary:
  a: {from: 0, to: 4, points: 5}
  k: [1 N/m, 2 N/m, 4 N/m]
keep: {x: end(x.x), force: end(k*x.x), square: max(x.x)^2}
"""
# a swinging cart with its whole series
SWING = """\
sinew: 1
model: swing.yaml
vary: {k: {uniform: [1 N/m, 4 N/m]}}
sample: {method: latin_hypercube, count: 60, seed: 5}
keep: {top: max(x.x), early: 'at(0.05, x.x)', late: end(x.x)}
series: [x.x]
"""
ROD = """\
sinew: 1
gravity: [0, 0, -9.81]
parameters: {n: 2, E: 1 MPa, F: 0.1 N, time: 0.1 s}
materials: {rubber: {young: E, poisson: 0.45, density: 1100 kg/m^3, damping: 20 ms}}
robot:
  rod: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: rubber, nodes: 8,
                         strain: {bend_y: legendre n, bend_z: legendre n}}}
loads: {push: {on: rod.tip, force: [0, F*sin(5*t), 0]}}
study: [dynamic: {for: time, step: 5 ms}]
probes: {tip: {position: rod.tip}, energy: energy}
"""
MPIRUN = shutil.which("mpirun")


def python_with_h5py():
    """A Python that has h5py and pandas; None: there is none."""
    for name in ("/usr/bin/python3", "python3"):
        if subprocess.run([name, "-c", "import h5py, pandas"], capture_output=True).returncode == 0:
            return name
    return None


class Sweep(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("cart.yaml", CART)
        self.write("swing.yaml", CART.replace("study: [static]", "study: [dynamic: {for: 0.2 s, step: 1 ms}]"))
        self.write("grid.yaml", GRID)
        self.write("many.yaml", SWING)

    def on_a_terminal(self, *args):
        """What a command writes to standard error where that is a terminal."""
        try:
            leader, follower = pty.openpty()
        except OSError:
            self.skipTest("no terminals here")
        process = subprocess.Popen([harness.SINEW, *args], cwd=self.folder, stderr=follower,
                                   stdout=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
        os.close(follower)
        shown = b""
        while True:
            try:
                more = os.read(leader, 4096)
            except OSError:
                break
            if not more:
                break
            shown += more
        os.close(leader)
        self.assertEqual(process.wait(), 0, shown)
        return shown.decode()

    def table(self, name):
        self.succeeds("sweep", name, "--csv", "rows.csv")
        with open(self.folder / "rows.csv", newline="") as file:
            return list(csv.DictReader(file))

    def refuses(self, *args, says, code=2):
        result = self.sinew("sweep", *args)
        self.assertEqual(result.code, code, result)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.err)
        return result

    def plan(self, text, says):
        self.write("p.yaml", text)
        self.refuses("p.yaml", says=says)
        self.assertEqual([f for f in self.files() if f.startswith("p.h5")], [])


class Rows(Sweep):
    def test_a_terminal_shows_rows_as_they_are_computed(self):
        shown = self.on_a_terminal("sweep", "grid.yaml", "-j", "1")
        lines = [line.split("\033[K")[-1].split() for line in shown.split("\r\n") if line.strip()]
        self.assertIn(["row", "state", "a", "k", "x", "force", "square"], lines)
        rows = [[float(x) for x in line[:1] + line[2:]] for line in lines if line[1:2] == ["done"]]
        self.assertEqual(rows[-1][0], 14)
        for number, a, k, x, force, square in rows:
            self.assertEqual((a, k), (number // 3, [1, 2, 4][int(number) % 3]))
            self.assertAlmostEqual(x, (a + 4) / k, 4)
            self.assertAlmostEqual(square, x * x, 3)
        result = self.sinew("sweep", "grid.yaml", "--force")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_a_grid(self):
        report = self.succeeds("sweep", "grid.yaml", "-j", "2", "--json").json
        self.assertEqual((report["rows"], report["done"], report["computed"]), (15, 15, 15))
        rows = self.table("grid.h5")
        self.assertEqual([(float(r["a"]), float(r["k"])) for r in rows],
                         [(a, k) for a in (0, 1, 2, 3, 4) for k in (1, 2, 4)])
        for r in rows:
            a, k, x = float(r["a"]), float(r["k"]), float(r["x"])
            self.assertAlmostEqual(x, (a + 4) / k, delta=1e-9)
            self.assertAlmostEqual(float(r["force"]), a + 4, delta=1e-8)
            self.assertAlmostEqual(float(r["square"]), x * x, delta=1e-8)
        self.assertEqual([f for f in self.files() if "parts" in f], [])

    def test_parameters_and_units_of_results(self):
        self.write("units.yaml", """\
            sinew: 1
            model: swing.yaml
            vary: {k: [1 N/m, 4 N/m], a: [1, 3]}
            keep: {x: end(x.x), force: max(x.x)*k, inside: max(x.x*k), way: integral(x.x), ratio: end(x.x)/max(x.x), root: sqrt(end(x.x)^2),
                   stiffness: k, mixed: max(x.x) - 0.5*a^2*k, rest: max(x.x) - 0.5}
            """)
        report = self.succeeds("sweep", "units.yaml") and self.succeeds("sweep", "units.h5", "--json").json
        units = {r["name"]: r["unit"] for r in report["results"]}
        self.assertEqual(units, {"x": "m", "force": "N", "inside": "N", "way": "m*s", "ratio": "", "root": "m", "stiffness": "N/m", "mixed": "", "rest": "m"})
        self.assertIn("x (m)", self.succeeds("sweep", "units.h5").out)
        # names of several words; a name within another is none
        self.write("deep_model.yaml", CART.replace("study: [static]", "study: [dynamic: {for: 0.1 s, step: 1 ms}]"))
        self.write("deep.yaml", "sinew: 1\nmodel: deep_model.yaml\nvary: {cart.body.mass: [1 kg, 3 kg], cart.stiffness: [1 N/m, 2 N/m], a: [1, 2]}\n"
                   "keep: {m: cart.body.mass, both: max(x.x)*cart.stiffness/cart.body.mass, in: max(x.x*cart.stiffness)/cart.body.mass, ca: a + cart.stiffness*0}\n")
        self.succeeds("sweep", "deep.yaml")
        for row in self.table("deep.h5"):
            self.assertEqual((row["m"], row["ca"]), (row["cart.body.mass"], row["a"]))
            self.assertAlmostEqual(float(row["both"]), float(row["in"]), delta=1e-14)
            self.assertGreater(float(row["both"]), 0)
        for row in self.table("units.h5"):
            k, a = float(row["k"]), float(row["a"])
            self.assertEqual(float(row["stiffness"]), k)
            self.assertAlmostEqual(float(row["force"]), float(row["inside"]), delta=1e-15)
            self.assertAlmostEqual(float(row["mixed"]), float(row["rest"]) + 0.5 - 0.5*a*a*k, delta=1e-12)

    def test_the_table_is_that_of_the_results(self):
        self.succeeds("sweep", "many.yaml", "--table", "plan.csv")
        with open(self.folder / "plan.csv", newline="") as file:
            plan = list(csv.DictReader(file))
        self.assertEqual(len(plan), 60)
        self.assertEqual([r["row"] for r in plan], [str(i) for i in range(60)])
        self.succeeds("sweep", "many.yaml", "-q")
        self.assertEqual([r["k"] for r in plan], [r["k"] for r in self.table("many.h5")])
        self.assertEqual(sorted(int((float(r["k"]) - 1) * 20) for r in plan), list(range(60)))

    def test_series_and_pandas_in_three_lines(self):
        python = python_with_h5py()
        if not python:
            self.skipTest("no h5py or pandas")
        self.succeeds("sweep", "many.yaml")
        program = """
import h5py, pandas as pd
with h5py.File("many.h5") as f:
    table = pd.DataFrame({k: f[g][k][:] for g in ("parameters", "results") for k in f[g]})
    s, i = f["series"], 7
    part = slice(s["first"][i], s["first"][i] + s["frames"][i])
    t, x = s["t"][part], s["value"][part, 0]
    assert list(f["state"][:]) == [1]*60 and f.attrs["rows"] == 60
    assert f["parameters/k"].attrs["unit"].decode() == "N/m", f["parameters/k"].attrs["unit"]
assert len(table) == 60 and table.isna().sum().sum() == 0
assert len(t) == 201 and t[0] == 0 and abs(t[-1] - 0.2) < 1e-12
w = table.k**0.5
# the cart leaves its place under a constant force: x = F/k (1 - cos(w t)), F = 5 N
import numpy as np
assert abs(x - 5/table.k[i]*(1 - np.cos(w[i]*t))).max() < 1e-5
late = 5/table.k*(1 - np.cos(w/5))
assert abs(table.late - late).max() < 1e-5
assert abs(table.early - 5/table.k*(1 - np.cos(w/20))).max() < 1e-5
"""
        done = subprocess.run([python, "-c", program], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_failed_rows_are_rows(self):
        self.write("bad.yaml", GRID.replace("[1 N/m, 2 N/m, 4 N/m]", "[1 N/m, -2 N/m]").replace("max(x.x)^2", "'at(3, x.x)'"))
        report = self.succeeds("sweep", "bad.yaml", "--json").json
        self.assertEqual((report["done"], report["refused"], report["failed"]), (0, 5, 5))
        text = self.succeeds("sweep", "bad.h5").out
        self.assertIn("5 failed, 5 refused", text)
        self.assertIn("the study has no state at t = 3 s", text)
        self.assertIn("cart.yaml:5", text)
        self.assertEqual([line.split()[1] for line in text.splitlines() if line.startswith("  row ")], [f"{i}:" for i in range(5)])
        self.assertEqual(report["first_bad"], 0)
        self.assertIn(report["message"], text)
        self.assertIn("row 0: " + report["message"], self.succeeds("sweep", "bad.yaml", "--force").out)

    def test_results_that_are_no_numbers(self):
        self.write("none.yaml", GRID.replace("max(x.x)^2", "sqrt(1 - max(x.x))"))
        self.succeeds("sweep", "none.yaml")
        text = self.succeeds("sweep", "none.h5").out
        wrong = sum((a + 4)/k > 1 for a in range(5) for k in (1, 2, 4))
        self.assertIn(f"square is not a number in {wrong} of the 15 rows that are done", text)
        self.assertNotIn("nan", text)
        self.succeeds("plot", "none.h5", "--probe", "x,square", "-o", "none.svg")
        self.assertEqual((self.folder / "none.svg").read_text().count(">no result</text>"), 1)
        self.write("none.yaml", GRID.replace("max(x.x)^2", "sqrt(-1 - max(x.x))"))
        self.succeeds("sweep", "none.yaml", "--force")
        self.assertNotIn("nan", self.succeeds("sweep", "none.h5").out)
        self.assertIn("no row has a number for 'square' yet", self.sinew("plot", "none.h5", "-o", "none.svg").err)

    def test_words_and_lists(self):
        self.write("words.yaml", """\
            sinew: 1
            model: swing.yaml
            vary:
              dynamic.scheme: [newmark, bdf2]
              dynamic.step: [2 ms, 4 ms]
            sample: {method: list}
            keep: {x: end(x.x)}
            """)
        self.succeeds("sweep", "words.yaml")
        rows = self.table("words.h5")
        self.assertEqual([(r["dynamic.scheme"], float(r["dynamic.step"])) for r in rows], [("newmark", 0.002), ("bdf2", 0.004)])
        self.assertNotEqual(rows[0]["x"], rows[1]["x"])

    def test_a_table_of_rows(self):
        self.write("rows.txt", "a,b\n1,0\n2,3\n-1,1\n")
        self.write("t.yaml", "sinew: 1\nmodel: cart.yaml\ntable: rows.txt\nkeep: {x: end(x.x)}\n")
        self.succeeds("sweep", "t.yaml", "-o", "t.h5")
        for row, x in zip(self.table("t.h5"), (0.5, 5.5, 0)):
            self.assertAlmostEqual(float(row["x"]), x, delta=1e-9)

    def test_pareto_and_correlation(self):
        self.succeeds("sweep", "grid.yaml")
        report = self.succeeds("sweep", "grid.h5", "--json", "--pareto", "x,-force").json
        # large force with little way: stiffest spring, all forces
        self.assertEqual(report["pareto"], [2, 5, 8, 11, 14])
        by = {s["result"]: {c["parameter"]: c for c in s["correlations"]} for s in report["sensitivity"]}
        self.assertAlmostEqual(by["force"]["a"]["correlation"], 1, places=9)
        self.assertAlmostEqual(by["force"]["k"]["correlation"], 0, places=7)
        self.assertLess(by["x"]["k"]["ranks"], -0.5)
        self.refuses("grid.h5", "--pareto", "x,forse", says="did you mean 'force'?")

    def test_a_quiet_report_is_what_options_ask_for(self):
        self.succeeds("sweep", "grid.yaml", "-q")
        whole = self.succeeds("sweep", "grid.h5", "--json", "--csv", "t.csv").json
        table = (self.folder / "t.csv").read_text()
        (self.folder / "t.csv").unlink()
        self.assertEqual(self.succeeds("sweep", "grid.h5", "-q", "--csv", "t.csv").out, "")
        self.assertEqual((self.folder / "t.csv").read_text(), table)
        self.assertEqual(self.succeeds("sweep", "grid.h5", "-q").out, "")
        front = self.succeeds("sweep", "grid.h5", "-q", "--pareto", "x,-force").out
        self.assertTrue(front.startswith("Pareto front, 5 rows\n"), front)
        self.assertNotIn("median", front)
        self.refuses("grid.h5", "-q", "--result", "forse", says="did you mean 'force'?")
        self.assertEqual(self.succeeds("sweep", "grid.h5", "-q", "--json", "--csv", "t.csv").json, whole)
        self.assertEqual(self.succeeds("sweep", "grid.yaml", "-q", "--table", "rows.csv").out, "")
        self.assertEqual(len((self.folder / "rows.csv").read_text().splitlines()), 16)
        self.assertEqual(self.succeeds("sweep", "grid.yaml", "-q", "-f", "--json").json["done"], 15)

    def test_statistics(self):
        self.write("some.csv", "a,b\n" + "".join(f"{a},0\n" for a in (8, 1, -3, 5, 2, 13, 0.5)))
        self.write("some.yaml", "sinew: 1\nmodel: cart.yaml\ntable: some.csv\nset: {k: 1 N/m}\nkeep: {x: end(x.x)}\n")
        self.succeeds("sweep", "some.yaml")
        found = self.succeeds("sweep", "some.h5", "--json").json["results"][0]
        # of -3, 0.5, 1, 2, 5, 8, 13: quantiles at 6*0.05 = 0.3 and 5.7 intervals
        for name, value in (("least", -3), ("q05", -3 + 0.3*3.5), ("median", 2), ("q95", 8 + 0.7*5), ("most", 13), ("mean", 26.5/7),
                            ("deviation", math.sqrt(sum((x - 26.5/7)**2 for x in (-3, 0.5, 1, 2, 5, 8, 13))/6))):
            self.assertAlmostEqual(found[name], value, delta=1e-9)

    @unittest.skipIf(harness.SLOW, "the same lines as others")
    def test_sobol_indices_of_ishigami(self):
        self.write("i.yaml", CART.replace("F: (a + b^2)*1 N", "c: 1, F: (sin(a) + 7*sin(b)^2 + 0.1*c^4*sin(a))*1 N").replace("2 N/m", "1 N/m"))
        self.write("ishigami.yaml", """\
            sinew: 1
            model: i.yaml
            vary: {a: {uniform: [-pi, pi]}, b: {uniform: [-pi, pi]}, c: {uniform: [-pi, pi]}}
            sample: {method: saltelli, count: 512}
            keep: {y: end(x.x)}
            """)
        self.succeeds("sweep", "ishigami.yaml")
        found = self.succeeds("sweep", "ishigami.h5", "--json").json["sensitivity"][0]
        self.assertEqual(found["pairs"], 512)
        # closed form: Ishigami and Homma 1990
        for s, first, total in zip(found["sobol"], (0.3139, 0.4424, 0), (0.5576, 0.4424, 0.2437)):
            self.assertLess(s["first_low"], first)
            self.assertGreater(s["first_high"], first)
            self.assertLess(s["total_low"], total)
            self.assertGreater(s["total_high"], total)


class Examples(Sweep):
    def example(self, name, *changes):
        """A plan of the examples with other numbers, as plan.yaml."""
        text = (harness.SOURCE / "examples/sweeps/plans" / name).read_text().replace("../../", f"{harness.SOURCE}/examples/")
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("plan.yaml", text)

    @unittest.skipIf(harness.SLOW, "the same lines as others")
    def test_indices_of_a_finger_are_those_of_a_product(self):
        self.example("finger.yaml", ("count: 512", "count: 128"))
        self.succeeds("sweep", "plan.yaml")
        found = {s["result"]: s["sobol"] for s in self.succeeds("sweep", "plan.h5", "--json").json["sensitivity"]}["k"]
        share = [math.exp((power * deviation) ** 2) - 1 for power, deviation in ((-1, 0.1), (-4, 0.04), (1, 0.08), (1, 0.05))]
        whole = math.prod(1 + c for c in share)
        for s, c in zip(found, share):
            first, total = c / (whole - 1), c / (1 + c) * whole / (whole - 1)
            self.assertLess(s["first_low"], first)
            self.assertGreater(s["first_high"], first)
            self.assertLess(s["total_low"], total)
            self.assertGreater(s["total_high"], total)

    @unittest.skipIf(harness.SLOW, "the same lines as others")
    def test_the_workspace_of_a_platform(self):
        self.example("three_rfr.yaml", ("points: 100", "points: 3"))
        report = self.succeeds("sweep", "plan.yaml", "--json").json
        self.assertEqual((report["rows"], report["done"]), (9, 9))
        # angles 0, 30 and 60 deg; the third motor has 30 deg, so exchanged angles are the same robot, turned
        rows = [{k: float(r[k]) for k in ("x", "y", "turn", "largest")} for r in self.table("plan.h5")]
        for a, b in ((1, 3), (5, 7)):
            self.assertAlmostEqual(rows[a]["turn"], rows[b]["turn"], places=8)
            self.assertAlmostEqual(rows[a]["largest"], rows[b]["largest"], places=8)
            self.assertAlmostEqual(math.hypot(rows[a]["x"], rows[a]["y"]), math.hypot(rows[b]["x"], rows[b]["y"]), places=8)
            self.assertGreater(abs(rows[a]["x"] - rows[b]["x"]), 1e-4)
        self.assertLess(math.hypot(rows[4]["x"], rows[4]["y"]), 1e-9)
        drawn = self.succeeds("plot", "plan.h5", "--probe", "turn,x", "-o", "map.svg", "--json").json
        self.assertEqual([p["axis"] for p in drawn["panels"]], ["motor(2).position (rad)"] * 2)


class Figures(Sweep):
    def test_lines_maps_and_scatters(self):
        self.succeeds("sweep", "grid.yaml")
        lines = self.succeeds("plot", "grid.h5", "--over", "a", "--probe", "x,force", "-o", "lines.svg", "--json").json
        self.assertEqual([(p["axis"], p["curves"]) for p in lines["panels"]], [("x (m)", 3), ("force (N)", 3)])
        text = (self.folder / "lines.svg").read_text()
        for k in ("1", "2", "4"):
            self.assertIn(f"k = {k} N/m", text)
        # many lines: shaded in the order of the other parameter, with some of their names
        self.write("fan.yaml", GRID.replace("[1 N/m, 2 N/m, 4 N/m]", "{from: 1 N/m, to: 4 N/m, points: 31}"))
        self.succeeds("sweep", "fan.yaml")
        fan = self.succeeds("plot", "fan.h5", "--over", "a", "--probe", "x", "-o", "fan.svg", "--json").json
        self.assertEqual(fan["panels"][0]["curves"], 31)
        self.assertEqual(re.findall(r"k = ([0-9.]+) N/m", (self.folder / "fan.svg").read_text()),
                         ["1", "1.5", "2", "2.5", "3", "3.5", "4"])
        maps = self.succeeds("plot", "grid.h5", "--probe", "x", "-o", "map.svg", "--json").json
        self.assertEqual(maps["panels"][0]["axis"], "k (N/m)")
        self.assertIn("above 7", (self.folder / "map.svg").read_text())
        self.write("three.yaml", GRID.replace("keep:", "  b: [1, 2]\nkeep:"))
        self.succeeds("sweep", "three.yaml")
        scatter = self.succeeds("plot", "three.h5", "-o", "three.svg", "--json").json
        self.assertEqual(len(scatter["panels"]), 9)  # three results over three parameters

    def test_the_bands_of_a_map_fill_it(self):
        # x = (a + 4)/k: the share of x < c is the area below a = c k - 4, k between 1 and 4 on a logarithmic axis
        self.write("fine.yaml", GRID.replace("points: 5", "points: 41").replace("[1 N/m, 2 N/m, 4 N/m]", "{from: 1 N/m, to: 4 N/m, points: 61, spacing: log}"))
        self.succeeds("sweep", "fine.yaml")
        self.succeeds("plot", "fine.h5", "--probe", "x", "-o", "map.svg")
        text = (self.folder / "map.svg").read_text()
        self.assertIn(">x (m)</text>", text)
        areas = []  # of the bands, from the highest values on; the last ones are the samples of the legend
        for path in re.findall(r'<path fill="#[0-9a-f]{6}" d="([^"]*)"', text):
            area = 0
            for outline in path.split("M")[1:]:
                p = [tuple(map(float, point.split())) for point in outline.split("L")]
                area += sum(a[0]*b[1] - b[0]*a[1] for a, b in zip(p, p[1:] + p[:1]))/2
            areas.append(abs(area))
        levels = [float(re.search(r">below ([0-9.]+)</text>", text)[1])]
        levels += [float(x) for x in reversed(re.findall(r">[0-9.]+ to ([0-9.]+)</text>", text))]
        areas = areas[: len(levels) + 1]

        def below(c):  # share of the map
            n = 20000
            return sum(min(1, max(0, (c*4**((i + 0.5)/n) - 4)/4)) for i in range(n))/n
        shares = [b - a for a, b in zip([0, *map(below, levels)], [*map(below, levels), 1])]
        for area, share in zip(reversed(areas), shares):
            self.assertAlmostEqual(area/sum(areas), share, delta=1e-3)

    def test_mistakes(self):
        self.succeeds("sweep", "grid.yaml")
        for options, says in ((["--over", "aa"], "no parameter 'aa'"), (["--probe", "forse"], "did you mean 'force'?"),
                              (["--energy"], "a sweep takes --probe"), (["--size", "20x20"], "side by side; give --size a larger width")):
            result = self.sinew("plot", "grid.h5", "-o", "f.svg", *options)
            self.assertEqual(result.code, 2 if "side by side; give --size a larger width" not in says else result.code, result)
            self.assertIn(says, result.err)
        self.succeeds("run", "cart.yaml", "-o", "run.h5")
        self.assertIn("draws runs over the values in which they differ", self.sinew("plot", "run.h5", "--over", "a").err)


class Interruptions(Sweep):
    whole = None  # bytes of the results of an uninterrupted sweep

    def complete(self, name, like):
        """The rows of a file are those of another to the last bit."""
        self.assertEqual(self.table(name), self.table(like))

    def test_shards(self):
        self.succeeds("sweep", "many.yaml", "-o", "all.h5")
        for i in (2, 3, 1):
            self.succeeds("sweep", "many.yaml", "-o", "s.h5", "--shard", f"{i}/3", "-j", "1")
        self.complete("s.h5", "all.h5")
        self.refuses("many.yaml", "-o", "s.h5", "--shard", "4/3", says="from 1 to the second")
        self.refuses("many.yaml", "-o", "s.h5", "--shard", "2 of 3", says="--shard takes i/n")

    def test_an_incomplete_division_is_resumed_by_one(self):
        self.succeeds("sweep", "many.yaml", "-o", "all.h5")
        report = self.succeeds("sweep", "many.yaml", "-o", "s.h5", "--shard", "2/3", "--json").json
        self.assertEqual((report["done"], report["waiting"]), (20, 40))
        self.refuses("many.yaml", "-o", "s.h5", "--shard", "2/3", says="--resume computes what is missing")
        report = self.succeeds("sweep", "many.yaml", "-o", "s.h5", "--resume", "--json").json
        self.assertEqual((report["computed"], report["done"]), (40, 60))
        self.complete("s.h5", "all.h5")

    def test_shards_of_another_division_are_told(self):
        self.succeeds("sweep", "many.yaml", "-o", "all.h5")
        shard = lambda which, *more: ("many.yaml", "-o", "s.h5", "--shard", which, *more)
        self.succeeds("sweep", *shard("1/2"))
        self.refuses(*shard("2/3"), says="'s.h5' was begun with --shard 1/2; --shard 2/3 divides the rows otherwise, and some rows are there already. "
                     "Go on as it was begun, or add --resume, which computes what is missing of shard 2/3")
        # one that was refused has not begun: the shard by itself again, where --force would not serve
        said = self.refuses(*shard("1/2"), says="has rows of shard 1/2; --resume computes what is missing of it. To compute all again, remove 's.h5'")
        self.assertNotIn("--force", said.err)
        self.refuses(*shard("1/2", "--force"), says="--force with --shard would remove rows of other shards")
        # as told, rows 1, 7, .. of 1, 4, 7, ..
        report = self.succeeds("sweep", *shard("2/3", "--resume"), "--json").json
        self.assertEqual((report["computed"], report["done"], report["waiting"]), (10, 40, 20))
        self.succeeds("sweep", *shard("2/2", "--resume"))
        self.complete("s.h5", "all.h5")

    def begin(self, *more):
        """Start a sweep and wait for its first rows."""
        process = self.start("sweep", "slow.yaml", "-o", "k.h5", *more)
        parts = self.folder / "k.h5.parts"
        self.wait_until(lambda: parts.exists() and sum(p.stat().st_size > 5000 for p in parts.glob("*.rows")) > 0, process, pause=0.002)
        return process

    def workers(self, process):
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
        return [int(pid) for pid in found.split()]

    def hold(self, process):
        """Stop a sweep where it is, so that it cannot end while it is looked at; its workers are returned."""
        process.send_signal(signal.SIGSTOP)
        workers = self.workers(process)
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        return workers

    def go_on(self, workers):
        for pid in workers:
            os.kill(pid, signal.SIGCONT)

    def slow(self):
        self.write("slow.yaml", SWING.replace("count: 60", "count: 150").replace("swing.yaml", "slow_swing.yaml"))
        # rows take milliseconds, so that a sweep does not end before it is interrupted
        self.write("slow_swing.yaml", (self.folder / "swing.yaml").read_text().replace("1 ms", "1 ms" if harness.SLOW else "0.2 ms"))
        if Interruptions.whole is None:
            self.succeeds("sweep", "slow.yaml", "-o", "all.h5")
            Interruptions.whole = (self.folder / "all.h5").read_bytes()
        self.write("all.h5", Interruptions.whole)

    def test_killed_workers_lose_nothing(self):
        self.slow()
        process = self.begin("-j", "2", "--json")
        workers = self.hold(process)
        os.kill(workers[0], signal.SIGKILL)
        self.go_on([process.pid, *workers[1:]])
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.complete("k.h5", "all.h5")

    def test_a_row_that_is_killed_is_tried_again(self):
        self.write("long.yaml", CART.replace("study: [static]", "study: [dynamic: {for: 3 s, step: 0.1 ms}]"))
        self.write("one.yaml", "sinew: 1\nmodel: long.yaml\nvary: {k: [1 N/m]}\nkeep: {x: end(x.x)}\n")
        process = self.start("sweep", "one.yaml", "--engine", "alone", "--json")
        killed = set()

        def kill_another():
            for pid in set(self.workers(process)) - killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
            return len(killed) >= 3
        self.wait_until(kill_another, process)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertIn('"done": 1', out.replace('":1', '": 1'))
        self.assertEqual(self.table("one.h5")[0]["state"], "done")

    def test_a_killed_sweep_is_resumed(self):
        self.slow()
        process = self.begin("-j", "2")
        workers = self.hold(process)
        for option in ([], ["--resume"], ["--force"]):
            self.refuses("slow.yaml", "-o", "k.h5", *option, says="the sweep is being computed by another process")
        self.assertIn("may be in 'k.h5.parts'", self.succeeds("sweep", "k.h5").out)
        self.refuses("slow.yaml", "-o", "k.h5", "--shard", "1/2", "--resume", says="of another division")
        process.kill()
        process.wait()
        self.go_on(workers)
        report = self.succeeds("sweep", "slow.yaml", "-o", "k.h5", "--resume", "--json").json
        self.assertEqual((report["rows"], report["done"]), (150, 150))
        self.assertLess(report["computed"], 150)
        self.complete("k.h5", "all.h5")

    def test_a_stopped_sweep_is_resumed(self):
        self.slow()
        process = self.begin("-j", "1")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("--resume computes the rest", err)
        self.assertIn("waiting", out)
        self.assertIn("waiting", self.succeeds("sweep", "k.h5").out)
        # a row that was cut off, and a part that was cut off at its beginning
        parts = self.folder / "k.h5.parts"
        part = next(parts.glob("*.rows"))
        part.write_bytes(part.read_bytes()[:-100])
        (parts / "part-0000001-9.rows").write_bytes(b"snwp")
        self.succeeds("sweep", "slow.yaml", "-o", "k.h5", "--resume")
        self.complete("k.h5", "all.h5")

    @unittest.skipUnless(MPIRUN, "no mpirun")
    @unittest.skipIf(harness.SLOW, "OpenMPI leaks memory")
    def test_ranks_of_mpi(self):
        self.slow()
        command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "4", harness.SINEW, "sweep", "slow.yaml", "-o", "m.h5"]
        quiet = dict(os.environ, OMPI_MCA_btl_base_warn_component_unused="0", OMPI_MCA_btl="self,vader")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=quiet)
        if "built without OpenMPI" in done.stderr:
            self.skipTest("built without OpenMPI")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("150 rows: 150 done"), 1, done.stdout)
        self.complete("m.h5", "all.h5")
        # the death of a rank ends the job; what it had done is kept
        job = subprocess.Popen(command[:-1] + ["k.h5"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=quiet)
        parts = self.folder / "k.h5.parts"
        self.wait_until(lambda: parts.exists() and sum(p.stat().st_size > 5000 for p in parts.glob("*.rows")) > 1, job)
        ranks = subprocess.run(["ps", "-o", "pid=", "--ppid", str(job.pid)], capture_output=True, text=True).stdout.split()
        os.kill(int(ranks[2]), signal.SIGKILL)
        job.communicate()
        self.assertNotEqual(job.returncode, 0)
        deadline = time.monotonic() + 60
        while any(pathlib.Path(f"/proc/{rank}").exists() for rank in ranks) and time.monotonic() < deadline:
            time.sleep(0.05)
        report = self.succeeds("sweep", "slow.yaml", "-o", "k.h5", "--resume", "--json").json
        self.assertEqual(report["done"], 150)
        self.assertLess(report["computed"], 150)
        self.complete("k.h5", "all.h5")


class Packs(Sweep):
    """Rows whose implicit steps are solved in packs, where this processor has them."""

    def setUp(self):
        super().setUp()
        self.write("rod.yaml", ROD)
        # the structure changes with n; rows 9, 10, 11 and so on are refused
        self.write("packs.yaml", "sinew: 1\nmodel: rod.yaml\n"
                   "vary: {n: [1, 2], time: [0.1 s, 0.15 s], E: [0.3 MPa, 1 MPa, -1 MPa], F: [0.1 N, 2 N, 0 N]}\n"
                   "keep: {x: end(tip.x), y: end(tip.y), top: max(tip.y), heat: end(energy.dissipated)}\nseries: [tip]\n")
        if "no packs" in self.succeeds("sweep", "packs.yaml", "--json").json["alone"]:
            self.skipTest("this processor or build has no packs")

    def test_rows_in_packs_are_those_of_single_runs(self):
        self.assertIn("in packs of", self.succeeds("sweep", "packs.yaml", "--force", "-j", "1").out)
        alone = self.succeeds("sweep", "packs.yaml", "-o", "alone.h5", "--engine", "alone", "--json").json
        self.assertEqual((alone["engine"], alone["packs"], alone["alone"]), ("alone", 0, "asked for"))
        report = self.succeeds("sweep", "packs.h5", "--json").json
        # every 256th row is checked, and so by itself
        self.assertEqual(report["engines"], {"alone": 13, "packs": 23})
        self.assertEqual(report["states"]["refused"], 12)
        before, now = self.table("alone.h5"), self.table("packs.h5")
        self.assertEqual([r["state"] for r in before], [r["state"] for r in now])
        for a, b in zip(before, now):
            for name in ("x", "y", "top", "heat"):
                if a["state"] == "done":
                    self.assertAlmostEqual(float(a[name]), float(b[name]), delta=1e-8)
        # bits depend neither on the number of workers nor on the rows beside
        self.succeeds("sweep", "packs.yaml", "-o", "two.h5", "-j", "2", "--engine", "packs")
        self.assertEqual(self.table("two.h5"), now)
        for i in (1, 2, 3):
            self.succeeds("sweep", "packs.yaml", "-o", "shards.h5", "--shard", f"{i}/3", "-j", "1")
        self.assertEqual(self.table("shards.h5"), now)

    def test_a_study_with_equilibria_and_several_motions(self):
        self.write("rod.yaml", ROD.replace("study: [", "study: [static, ").replace("dynamic: {for: time",
                   "dynamic: {for: 20 ms, step: 5 ms, scheme: bdf2}, change: {push: off}, dynamic: {for: time"))
        for engine in ("alone", "packs"):
            self.succeeds("sweep", "packs.yaml", "-o", engine + ".h5", "--engine", engine, "--force")
        for a, b in zip(self.table("alone.h5"), self.table("packs.h5")):
            self.assertEqual(a["state"], b["state"])
            if a["state"] == "done":
                self.assertAlmostEqual(float(a["x"]), float(b["x"]), delta=1e-8)

    def test_rows_under_control(self):
        # a tendon that follows the tip, its samples and a filter, and is pulled harder from an event on; wind against the tip
        self.write("rod.yaml", ROD.replace("loads: {", "loads: {wind: {on: rod.tip, force: [0, 0, -0.2 N*s/m*speed.vz]}, ")
                   .replace("study:", "states: {slow: {rate: (tip.z - slow)/(30 ms), initial: 0 m}}\n"
                            "actuators: {pull: {tendon: {along: rod, at: [0, 0, 7 mm]}, effort: \"F + 0.3 N - 3 N/m*slow - 2 N/m*sampled(tip.z, 8 ms) "
                            "+ if(once(tip.z < -3 cm), 0.3 N, 0 N)\"}}\nstudy:").replace("probes: {", "probes: {speed: {velocity: rod.tip}, "))
        self.succeeds("sweep", "packs.yaml", "-o", "alone.h5", "--engine", "alone")
        self.succeeds("sweep", "packs.yaml", "--force", "--engine", "packs")
        self.succeeds("sweep", "packs.yaml", "-o", "two.h5", "-j", "2", "--engine", "packs")
        report = self.succeeds("sweep", "packs.h5", "--json").json
        self.assertEqual(report["engines"], {"alone": 13, "packs": 23})
        now = self.table("packs.h5")
        self.assertEqual(self.table("two.h5"), now)
        for a, b in zip(self.table("alone.h5"), now):
            for name in ("x", "y", "top", "heat"):
                if a["state"] == "done":
                    self.assertAlmostEqual(float(a[name]), float(b[name]), delta=1e-8)

    def test_why_rows_are_computed_alone(self):
        self.assertIn("alone: the study has no dynamic step", self.succeeds("sweep", "grid.yaml").out)
        self.refuses("grid.yaml", "--engine", "packs", "--force", says="cannot be stepped in packs: the study has no dynamic step")
        self.refuses("grid.yaml", "--engine", "pack", "--force", says="there is no engine 'pack'; there are auto, packs, alone")
        self.write("rod.yaml", ROD.replace("step: 5 ms", "scheme: radau3, step: 5 ms"))
        self.refuses("packs.yaml", "--engine", "packs", "--force", says="the scheme radau3 is not one of one implicit step")
        self.write("rod.yaml", ROD.replace("study:", "contacts: {hill: {obstacle: {links: rod, shape: height, height: 1 cm*cos(x/0.1 m), "
                                            "area: [2 m, 2 m], at: [0, 0, -1 m], stiffness: 1000}}}\nstudy:"))
        self.assertIn("alone: packs do not serve contacts with terrain", self.succeeds("sweep", "packs.yaml", "--force").out)


class BadInput(Sweep):
    def test_plans(self):
        model, vary, keep = "sinew: 1\nmodel: cart.yaml\n", "vary: {a: [1, 2]}\n", "keep: {x: end(x.x)}\n"
        self.plan("model: cart.yaml\n" + vary + keep, "p.yaml:1:1: a plan has the version of its language, 'sinew: 1'")
        self.plan("sinew: 1\n" + vary + keep, "'model' is missing")
        self.plan(model + keep, "a plan has a 'vary' or 'table'")
        self.plan(model + vary, "'keep' names the numbers that are kept")
        self.plan("sinew: 1\nmodel: other.yaml\n" + vary + keep, ["p.yaml:2:8", "other.yaml"])
        self.plan(model + "vary: {A: [1, 2]}\n" + keep, ["p.yaml:3:8", "'A'"])
        self.plan(model + "vary: {kart.stiffness: [1, 2]}\n" + keep, ["p.yaml:3:8", "kart"])
        self.plan(model + "vary: {cart.bod.mass: [1 kg, 2 kg]}\n" + keep, ["p.yaml:3:8: the model does not take 'cart.bod.mass': unknown key 'bod'"])
        self.plan(model + "vary: {cart.body.mass: [1 m, 2 m]}\n" + keep, ["p.yaml:3:8: the model does not take 'cart.body.mass'"])
        self.plan(model + "vary: {k: [1 N/m, 2 m]}\n" + keep, "p.yaml:3:19: '2 m' is in 'm', but the number before it in 'N/m'")
        self.plan(model + "vary: {k: [1 N, 2 N]}\n" + keep, "'k' is in 'N/m' in the model, and in 'N' here")
        self.plan(model + "vary: {a: {from: 1, to: 2}}\n" + keep, "give 'values', or 'points' of a range")
        self.plan(model + "vary: {a: {from: 3, to: 2, points: 3}}\n" + keep, "must rise")
        self.plan(model + "vary: {a: {log_uniform: [0, 1]}}\n" + keep, "begins above 0")
        self.plan(model + "vary: {a: {normal: [1, 0]}}\n" + keep, "the deviation must be positive")
        self.plan(model + "vary: {a: {uniform: [0, 1], normal: [1, 2]}}\n" + keep, "more than one spread")
        self.plan(model + "vary: {a: {mean: 3}}\n" + keep, "p.yaml:3:12: unknown key 'mean'")
        self.plan(model + "vary: {a: 3}\n" + keep, "takes a list of values")
        self.plan(model + vary + "sample: {method: sobbol, count: 8}\n" + keep, "did you mean 'sobol'?")
        self.plan(model + vary + "sample: {method: sobol}\n" + keep, "needs a 'count'")
        self.plan(model + vary + "sample: {count: 3}\n" + keep, "leave out 'count'")
        self.plan(model + "vary: {a: [1, 2], b: [1, 2, 3]}\nsample: {method: list}\n" + keep, "side by side")
        self.plan(model + vary + "keep: {x: end(y.x)}\n", ["p.yaml:4:11", "scalar 'end(y.x)'"])
        self.plan(model + vary + keep + "series: [y]\n", ["p.yaml:5:9", "y"])
        self.plan(model + vary + "set: {a: 3}\n" + keep, "'a' is set and varies")
        self.plan(model + vary + "keep: {a: end(x.x)}\n", "'a' is a parameter that varies")
        self.plan(CART, "this is a model; a plan of a sweep is a file of its own")
        self.plan(model + "table: none.csv\n" + keep, "none.csv")
        self.write("t.csv", "a,b\n1,2\n3,\n")
        self.plan(model + "table: t.csv\n" + keep, "t.csv:3:3: '' is not a number")
        self.write("runs.yaml", CART + "runs: {one: {}, two: {a: 3}}\n")
        self.plan("sinew: 1\nmodel: runs.yaml\n" + vary + keep, "the model has 2 runs; name one of them by 'run'")
        self.plan("sinew: 1\nmodel: runs.yaml\nrun: three\n" + vary + keep, "p.yaml:3:6: the model has no run 'three'")
        self.refuses("none.yaml", says="none.yaml")
        self.refuses("grid.yaml", "-j", "0", says="--jobs")

    def test_tables(self):
        keep = "keep: {x: end(x.x)}\n"
        for text, says in (("a,b\n1,2\nnan,3\n", "t.csv:3:1: 'nan' is not a number"), ("a,b\n1,2\n2,inf\n", "t.csv:3:3: 'inf' is not a number"),
                           ("a,b\n1,2\n2\n", "t.csv:3:1: this row has 1 fields"), ("a,A\n1,2\n", "t.csv:1:1: 'A' names no parameter"),
                           ("a,a\n1,2\n", "t.csv:1:1: the table has two columns 'a'"), ("row\n0\n", "t.csv:1:1: the table has row numbers only"),
                           ("1,2\n3,4\n", "t.csv:1:1: the first line must name the columns"), ("a,b\n", "the file has no numbers"), ("", "the file is empty")):
            self.write("t.csv", text)
            self.plan("sinew: 1\nmodel: cart.yaml\ntable: t.csv\n" + keep, says)
        # as spreadsheets write it, with the row numbers of --table
        (self.folder / "t.csv").write_bytes(b"\xef\xbb\xbfrow;a;b\r\n0;1;0\r\n1;2;3\r\n")
        self.write("t.yaml", "sinew: 1\nmodel: cart.yaml\ntable: t.csv\n" + keep)
        self.succeeds("sweep", "t.yaml")
        self.assertEqual([float(r["x"]) for r in self.table("t.h5")], [0.5, 5.5])
        self.succeeds("sweep", "t.yaml", "--table", "again.csv")
        self.write("again.yaml", "sinew: 1\nmodel: cart.yaml\ntable: again.csv\n" + keep)
        self.succeeds("sweep", "again.yaml")
        self.assertEqual(self.table("again.h5"), self.table("t.h5"))

    def test_a_plan_without_room_is_refused_at_once(self):
        self.plan("sinew: 1\nmodel: cart.yaml\nvary: {a: {uniform: [0, 1]}}\nsample: {method: random, count: 1e12}\nkeep: {x: end(x.x)}\n",
                  ["1000000000000 rows need 74 TB at least", "take fewer rows"])
        self.refuses("p.yaml", "--table", "p.csv", says="1000000000000 rows need 4 TB at least")
        self.assertEqual([f for f in self.files() if f.startswith("p.csv")], [])

    def test_files_of_others_are_not_replaced(self):
        self.write("notes.h5", "not HDF5\n")
        for option in ([], ["--force"], ["--resume"]):
            self.refuses("grid.yaml", "-o", "notes.h5", *option, says="is not replaced")
        self.assertEqual((self.folder / "notes.h5").read_text(), "not HDF5\n")
        self.refuses("grid.yaml", "-o", "cart.yaml", says="would overwrite the model")
        self.refuses("grid.yaml", "-o", "no/folder/x.h5", says="no/folder", code=1)
        self.succeeds("sweep", "grid.yaml", "-o", "g.h5")
        before = (self.folder / "g.h5").read_bytes()
        self.write("grid.yaml", GRID.replace("points: 5", "points: 6"))
        self.refuses("grid.yaml", "-o", "g.h5", says="with another plan or model")
        self.refuses("grid.yaml", "-o", "g.h5", "--resume", says="with another plan or model")
        self.assertEqual((self.folder / "g.h5").read_bytes(), before)
        self.succeeds("sweep", "grid.yaml", "-o", "g.h5", "--force")
        self.assertEqual(len(self.table("g.h5")), 18)
        self.write("half.h5", before[: len(before) // 2])
        self.refuses("half.h5", says="no HDF5 file, or damaged")
        self.succeeds("run", "cart.yaml", "-o", "run.h5")
        self.refuses("run.h5", says="is not the file of a sweep")

    def test_options_of_the_wrong_kind(self):
        self.succeeds("sweep", "grid.yaml")
        self.refuses("grid.yaml", "--pareto", "x,y", says="is for the results of a sweep")
        self.refuses("grid.h5", "--resume", says="is for a plan")
        self.refuses("grid.yaml", "--resume", "--force", says="give one")
        self.refuses("grid.yaml", "--force", "--shard", "1/2", says="rows of other shards")

    def test_a_full_disk_keeps_the_rows(self):
        self.write("slow.yaml", (self.folder / "many.yaml").read_text())
        self.succeeds("sweep", "slow.yaml", "-o", "all.h5")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
        result = self.sinew("sweep", "slow.yaml", "-o", "k.h5", "-j", "1", preexec_fn=limit)
        self.assertEqual(result.code, 1, result)
        self.assertIn("cannot write", result.err)
        self.assertIn("the rows so far are kept, and --resume computes the rest", result.err)
        report = self.succeeds("sweep", "slow.yaml", "-o", "k.h5", "--resume", "--json").json
        self.assertEqual(report["done"], 60)
        self.assertLess(report["computed"], 60)
        self.assertEqual(self.table("k.h5"), self.table("all.h5"))


if __name__ == "__main__":
    unittest.main()
