# SPDX-License-Identifier: MIT
"""sinew view: the page it writes, and its messages when it cannot. The page itself is tested in viewer/test."""
import base64
import json
import re
import struct
import unittest

import harness
from harness import ROLLED, Case, has_viewer

# a pendulum of many frames
MANY = """\
sinew: 1
title: Many
gravity: [0, 0, -9.81]
robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg, com: [1 m, 0, 0], inertia: [0, 0, 0]}}}
study: [{dynamic: {for: 5 s, step: 1 ms, scheme: rk4}}]
record: {every: 1 ms}
probes: {a: {angle: bob}}
"""


def head(page):
    """The JSON of a page."""
    return json.loads(re.search(r'id="sinew-data">(.*?)</script>', page, re.S)[1])


def numbers(page, name):
    """Its float64 array with that name."""
    data = base64.b64decode(re.search(rf'id="sinew-0-{name}">(.*?)</script>', page)[1])
    return struct.unpack(f"<{len(data) // 8}d", data)


class Missing(Case):
    @unittest.skipIf(has_viewer(), "this build has the viewer")
    def test_a_command_without_viewer_says_what_to_install(self):
        self.write("m.yaml", ROLLED)
        self.sinew("run", "m.yaml")
        r = self.sinew("view", "m.h5")
        self.assertEqual(r.code, 1, r)
        self.assertRegex(r.err, "without its viewer: .*make viewer")


@unittest.skipUnless(has_viewer(), "built without Node: there is no viewer")
class View(Case):
    def run_model(self, text):
        self.write("m.yaml", text)
        r = self.sinew("run", "m.yaml")
        self.assertEqual(r.code, 0, r)

    def test_a_page_holds_all_runs_in_one_file(self):
        self.run_model(ROLLED)
        r = self.sinew("view", "m.h5")
        self.assertEqual((r.code, r.out), (0, "page in m.html\n"), r)
        page = (self.folder / "m.html").read_text()
        data = head(page)
        self.assertEqual([x["name"] for x in data["runs"]], ["text", "more"])
        self.assertEqual([f["name"] for f in data["files"]], ["m.h5"])
        # closed form: x = sin(k)/k, k = C/EI of the file
        self.assertAlmostEqual(numbers(page, "columns")[0], 0.7508843574, 9)
        self.assertNotRegex(page, r"""(src|href)\s*=\s*["']?https?:""")
        scene = json.loads(data["runs"][0]["scene"])
        self.assertEqual(scene["links"][0]["name"], "arm")
        self.assertAlmostEqual(scene["links"][0]["rod"]["half"][0][0], 0.01)

    def test_one_run_elsewhere(self):
        self.run_model(ROLLED)
        r = self.sinew("view", "m.h5", "--run", "more", "-o", "p.html", "--json")
        self.assertEqual(r.code, 0, r)
        self.assertEqual(r.json["runs"], [{"run": "more", "frames": 1, "kept": 1}])
        self.assertEqual([x["name"] for x in head((self.folder / "p.html").read_text())["runs"]], ["more"])

    def test_runs_of_several_files_are_told_apart(self):
        self.run_model(ROLLED)
        self.write("p.yaml", MANY)
        (self.folder / "old").mkdir()
        self.sinew("run", "p.yaml")
        self.sinew("run", "m.yaml", "-o", "old/m.h5")
        r = self.sinew("view", "m.h5", "p.h5", "old/m.h5", "--json")
        self.assertEqual((r.code, r.json["page"]), (0, "m.html"), r)
        data = head((self.folder / "m.html").read_text())
        self.assertEqual([f["name"] for f in data["files"]], ["m.h5", "p.h5", "old/m.h5"])
        self.assertEqual([f["model"] for f in data["files"]], [ROLLED, MANY, ROLLED])
        self.assertEqual([(x["file"], x["name"]) for x in data["runs"]], [(0, "text"), (0, "more"), (1, "main"), (2, "text"), (2, "more")])
        self.assertEqual([(x["file"], x["run"]) for x in r.json["runs"]][2:4], [("p.h5", "main"), ("old/m.h5", "text")])
        # the same run of all files that have it
        r = self.sinew("view", "m.h5", "p.h5", "old/m.h5", "--run", "more", "-o", "more.html")
        self.assertEqual(r.code, 0, r)
        data = head((self.folder / "more.html").read_text())
        self.assertEqual([(x["file"], x["name"]) for x in data["runs"]], [(0, "more"), (1, "more")])
        self.assertEqual([f["name"] for f in data["files"]], ["m.h5", "old/m.h5"])
        r = self.sinew("view", "p.h5", "m.h5", "-o", "two.html")
        self.assertRegex(r.out, "^p.h5: run 'main': 3000 of 5001 frames are shown")
        for args, text in (
            (["m.h5", "m.h5"], "'m.h5' is given twice; two runs of one file"),
            (["m.h5", "none.h5"], "none.h5.*no such file"),
            (["m.h5", "p.h5", "-o", "p.h5"], "would overwrite the results 'p.h5'"),
            (["m.h5", "p.h5", "--run", "les"], "there is no run 'les'"),
        ):
            r = self.sinew("view", *args)
            self.assertEqual(r.code, 2, r)
            self.assertRegex(r.err, text)

    def test_measurements_belong_to_columns_of_their_runs(self):
        self.run_model(ROLLED)
        self.write("a.csv", "t,tip.x,other.x,tip.z\n0,0.75,1,\n1,0.8,2,-0.1\n")
        self.write("b.csv", "t,nothing.x\n0,1\n")
        measured = lambda page: [r["measured"] for r in head((self.folder / page).read_text())["runs"]]
        r = self.sinew("view", "m.h5", "--data", "a.csv")
        self.assertEqual(r.code, 0, r)
        columns = [{"column": 0, "value": [0.75, 0.8]}, {"column": 2, "value": [None, -0.1]}]
        self.assertEqual(measured("m.html"), 2 * [[{"file": "a.csv", "t": [0, 1], "columns": columns}]])
        # as many files as runs: one each
        r = self.sinew("view", "m.h5", "--data", "a.csv", "--data", "a.csv", "-o", "two.html")
        self.assertEqual([len(m) for m in measured("two.html")], [1, 1], r)
        r = self.sinew("view", "m.h5", "--data", "b.csv", "-o", "no.html")
        self.assertEqual(r.code, 2, r)
        self.assertRegex(r.err, "'b.csv' has no column of the probes shown, its first is 'nothing.x'")
        self.assertFalse((self.folder / "no.html").exists())

    def test_thinned_runs_keep_extremes_and_say_so(self):
        self.run_model(MANY)
        r = self.sinew("view", "m.h5")
        self.assertRegex(r.out, r"run 'main': 3000 of 5001 frames are shown; curves keep all extremes")
        page = (self.folder / "m.html").read_text()
        shown = self.sinew("show", "m.h5", "--csv", "--probe", "a")
        angles = [float(line.split(",")[1]) for line in shown.out.splitlines()[1:]]
        self.assertEqual(min(numbers(page, "columns-low")), min(angles))
        self.assertEqual(max(numbers(page, "columns-high")), max(angles))
        t = numbers(page, "t")
        self.assertEqual((t[0], t[-1]), (0, 5))

    def test_results_without_frames_are_reported(self):
        self.run_model(ROLLED)
        self.write("not.h5", "no results\n")
        for args, text in (
            (["none.h5"], "none.h5.*no such file"),
            (["not.h5"], "not an HDF5 file"),
            (["m.h5", "--run", "les"], "les"),
            (["m.h5", "-o", "m.h5"], "would overwrite the results"),
            (["m.h5", "-o", "no/such/folder/p.html"], "does the folder exist"),
        ):
            r = self.sinew("view", *args)
            self.assertEqual(r.code, 2, r)
            self.assertRegex(r.err, text)
        self.assertEqual([p.name for p in self.folder.glob("*.html*")], [])

    def test_damaged_results_are_refused(self):
        self.run_model(ROLLED)
        whole = (self.folder / "m.h5").read_bytes()
        for size in (40, 1000, len(whole) // 2):
            self.write("cut.h5", whole[:size])
            r = self.sinew("view", "cut.h5")
            self.assertEqual(r.code, 2, r)
            self.assertIn("cut.h5", r.err)


if __name__ == "__main__":
    harness.main()
