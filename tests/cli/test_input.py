# SPDX-License-Identifier: MIT
"""Every malformed or inconsistent model gets its place, cause and remedy, exit 2, and nothing is written."""
import harness

# what stands in the good model, what we put there, the place and words of the complaint
CASES = (
    # keys and structure
    ("sinew: 1\n", "", "1:1", "begin the file with 'sinew: 1'"),
    ("sinew: 1", "sinew: 99", "1:8", "version 1"),
    ("title:", "titel:", "2:1", "did you mean 'title'"),
    ("gravity: 0", "gravity: 0\ngravity: 1", "4:1", "given twice"),
    ("title: Clamped", "title: [Clamped", "4:11", "comma"),
    ("rod: {length", "rod: [length", "7:121", "mismatched"),
    ("loads:\n", "loads:\n\troll2: 1\n", "9:1", "tab"),
    ("rubber, strain", "*nope, strain", "7:86", "no anchor '&nope'"),
    ("gravity: 0", "include: [nothing.yaml]", "3:11", "cannot be read"),
    # links
    ("on: world", "on: wrold", "7:13", "no link 'wrold'"),
    ("on: world", "on: arm", "7:3", "must be on world"),
    ("on: world, ", "", "7:3", "needs a parent"),
    ("length: 1 m", "lenght: 1 m", "7:26", "did you mean 'length'"),
    ("length: 1 m, ", "", "7:20", "needs a length"),
    ("length: 1 m", "length: -1 m", "7:34", "must be positive"),
    ("circle: {radius: 10 mm}", "cirle: {radius: 10 mm}", "7:49", "did you mean 'circle'"),
    ("radius: 10 mm", "radius: 10 mm, inner: 2 mm", "7:73", "unknown key 'inner'"),
    ("bend_y: legendre", "bend: legendre", "7:102", "bend_y bend_z"),
    ("legendre 3", "legndre 3", "7:110", "did you mean 'legendre'"),
    ("legendre 3", "legendre", "7:110", "needs a number of functions"),
    ("legendre 3", "legendre 0", "7:119", "from 1 to"),
    # materials
    ("material: rubber", "material: ruber", "7:85", "did you mean 'rubber'"),
    ("young: 100 MPa", "young: -1 MPa", "5:29", "must be positive"),
    ("young: 100 MPa, ", "", "5:13", "needs young"),
    ("poisson: 0.5", "poisson: 0.7", "5:47", "up to 0.5"),
    ("kg/m^3", "kg/m^3, colour: red", "5:74", "unknown key 'colour'"),
    # numbers, units and names
    ("length: 1 m", "length: 1 kg", "7:34", "length (m) is wanted here, got a mass (kg)"),
    ("length: 1 m", "length: 1 mm*", "7:39", "a value is missing"),
    ("kg/m^3", "kg/m", "5:61", "density (kg/m^3)"),
    ("gravity: 0", "gravity: 9.81 m", "3:10", "acceleration"),
    ("gravity: 0", "gravity: [0, 0]", "3:10", "list of 3"),
    ("[0, C, 0]", "[0, D, 0]", "9:35", "unknown name 'D'"),
    ("[0, C, 0]", "[0, C*1 m, 0]", "9:35", "torque"),
    ("parameters: {C: 1 N*m}", "parameters: {C: 2*C}", "4:19", "needs itself"),
    ("C: 1 N*m}", "C: 1 N*m, t: 3}", "4:27", "word of the language"),
    # sites, loads, probes
    ("on: arm.tip", "on: am.tip", "9:14", "did you mean 'arm'"),
    ("on: arm.tip", "on: arm.tpi", "9:14", "is no site"),
    ("on: arm.tip", "on: arm@2 m", "9:18", "outside of rod 'arm'"),
    ("frame: body", "frame: bdy", "9:49", "did you mean 'body'"),
    ("position: arm.tip", "positon: arm.tip", "12:16", "did you mean 'position'"),
    ("position: arm.tip", "position: leg.tip", "12:26", "no link 'leg'"),
    ("probes: {tip", "probes: {C", "12:10", "name of a parameter"),
    ("e: energy", "e: enrgy", "12:39", "did you mean 'energy'"),
    # study, runs, expectations
    ("- static:", "- statics:", "11:5", "did you mean 'static'"),
    ("{name: rolled}", "{name: rolled, for: 1 s}", "11:28", "needs 'step'"),
    ("{name: rolled}", "{name: rolled, from: nowhere}", "11:34", "'nowhere'"),
    ("{name: rolled}", "{name: rolled}\n  - dynamic: {step: 1 ms}", "12:5", "needs 'for'"),
    ("{name: rolled}", "{name: rolled}\n  - change: {rol: off}", "12:14", "did you mean 'roll'"),
    ("{name: rolled}", "{name: rolled}\n  - change: {arm.joint: free}", "12:5", "the joint of link 'arm'"),
    ("more: {C: 2 N*m}", "more: {D: 2 N*m}", "13:25", "'D'"),
    ("more: {C: 2 N*m}", "more: {arm.rod.lenght: 2 m}", "13:25", "did you mean 'length'"),
    ("probe: tip.x, run: text", "probe: tip.q, run: text", "15:13", "no 'q'"),
    ("probe: tip.x, run: text", "probe: top.x, run: text", "15:13", "did you mean 'tip'"),
    ("run: text, after", "run: txt, after", "15:25", "did you mean 'text'"),
    ("after: rolled", "after: roled", "15:38", "did you mean 'rolled'"),
    ("value: 0.7508843574, ", "", "15:5", "'value' is missing"),
    ("within: 1e-9, source: closed form}\n  - {probe: tip.x, run: more", "source: x}\n  - {probe: tip.x, run: more", "15:5",
     "tolerance is missing"),
    ("at: end", "at: 5 kg", "16:35", "time (s)"),
)


class Input(harness.Case):
    def test_each_mistake_has_its_place_and_its_words(self):
        for good, bad, place, words in CASES:
            with self.subTest(bad=bad):
                self.assertIn(good, harness.ROLLED)
                self.write("arm.yaml", harness.ROLLED.replace(good, bad, 1))
                for command in ("check", "run", "verify"):
                    result = self.fails(2, command, "arm.yaml")
                    self.assertTrue(result.err.startswith(f"arm.yaml:{place}: "), result)
                    self.assertIn(words, result.err)
                    self.assertEqual(len(result.err.splitlines()), 1, result)
                self.assertEqual(self.files(), ["arm.yaml"])

    def test_the_place_reaches_programs(self):
        self.write("arm.yaml", harness.ROLLED.replace("length:", "lenght:"))
        reply = self.fails(2, "run", "arm.yaml", "--json").json
        error = reply["error"]
        self.assertEqual((error["file"], error["line"], error["column"]), ("arm.yaml", 7, 26))
        self.assertEqual(reply["exit"], 2)

    def test_overrides_are_checked_like_the_file(self):
        self.write("arm.yaml", harness.ROLLED)
        for override, words in (
            ("arm.rod.lenght=1 m", "did you mean 'length'"),
            ("arm.rod.length=1 kg", "length (m)"),
            ("nothing=1", "nothing"),
            ("C", "="),
            ("=1", "="),
            ("arm.rod.length=", ""),
            ("arm.rod.length={", ""),
        ):
            with self.subTest(override=override):
                self.assertIn(words, self.fails(2, "check", "arm.yaml", "--set", override).err)

    def test_a_mistake_in_an_included_file_names_that_file(self):
        self.write("parts.yaml", "materials: {rubber: {yung: 1 MPa}}\n")
        self.write("arm.yaml", harness.ROLLED.replace("gravity: 0", "gravity: 0\ninclude: [parts.yaml]"))
        self.assertTrue(self.fails(2, "check", "arm.yaml").err.startswith("parts.yaml:1:22: "))


if __name__ == "__main__":
    harness.main()
