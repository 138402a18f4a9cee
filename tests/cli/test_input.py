# SPDX-License-Identifier: MIT
"""Every malformed or inconsistent model gets a message with location, cause and remedy, exit 2, and nothing is
written."""
import harness

# text of the valid model, its replacement, the location and words of the message
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
    ("gravity: 0", "gravity: 9.81", "3:10", "e.g. [0, 0, -9.81]"),
    ("gravity: 0", "gravity: -9.81", "3:10", "e.g. [0, 0, -9.81]"),
    ("gravity: 0", "gravity: [0, 0]", "3:10", "list of 3"),
    ("[0, C, 0]", "[0, D, 0]", "9:35", "unknown name 'D'"),
    ("[0, C, 0]", "[0, C*1 m, 0]", "9:35", "torque"),
    ("parameters: {C: 1 N*m}", "parameters: {C: 2*C}", "4:19", "depends on itself"),
    ("C: 1 N*m}", "C: 1 N*m, t: 3}", "4:27", "word of the language"),
    # sites, loads, probes
    ("on: arm.tip", "on: am.tip", "9:14", "did you mean 'arm'"),
    ("on: arm.tip", "on: arm.tpi", "9:14", "is not a site"),
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
    ("value: 0.7508843574, ", "", "15:5", "needs 'value', which is missing"),
    ("within: 1e-9, source: closed form}\n  - {probe: tip.x, run: more", "source: x}\n  - {probe: tip.x, run: more", "15:5",
     "tolerance is missing"),
    ("at: end", "at: 5 kg", "16:35", "time (s)"),
)

BODY = "body: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}"
HINGE = f"sinew: 1\nrobot:\n  a: {{on: world, joint: revolute, {BODY}}}\n"
RUBBER = "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
WHIP = f"""sinew: 1
{RUBBER}robot:
  a: {{on: world, rod: {{length: 1, section: {{circle: {{radius: 1 cm}}}}, material: rubber, strain: {{bend_y: STRAIN}}}}}}
"""
PIN = "sites: {e: {on: a, pose: {xyz: [1, 0, 0]}}}\nloops: {pin: {join: [world, e], as: spherical, pose: {xyz: [1, 0, 0]}}}\n"
MOVE = "study: [dynamic: {for: 0.1 s, step: 1 ms}]\n"

# impossible robots, the location and words of the message
ROBOTS = (
    # trees
    (f"sinew: 1\nrobot:\n  a: {{on: world}}\n  b: {{on: world}}\n  c: {{on: [a, b], {BODY}}}\n", "5:11",
     "link 'c' has one parent, found a list of 2; put it on one and join it to the other by a loop"),
    ("sinew: 1\nrobot:\n  a: {on: world}\n  c: {on: a, on: world}\n", "4:14", "key 'on' is given twice"),
    ("sinew: 1\nrobot:\n  a: {on: c}\n  b: {on: a}\n  c: {on: b}\n", "3:3",
     "a on c on b on a; one must be on world, and a loop closes the ring, 'loops: {ring: {join: [c, a]"),
    # axes
    (HINGE.replace("revolute", "revolute, axis: [0, 0, 0]"), "3:41", "'axis' has no direction, its length is 0; give x, y"),
    (HINGE.replace("revolute", "universal, axes: [x, [0, 0, 0]]"), "3:46", "'axes' has no direction"),
    (HINGE.replace("revolute", "prismatic, axis: q"), "3:42", "'axis' is x, y, z or a vector, found 'q'"),
    (HINGE + "loops: {l: {join: [world, a], as: planar, axis: [0, 0, 0]}}\n", "4:49", "'axis' has no direction"),
    # motions without mass
    ("sinew: 1\nrobot:\n  ball: {on: world, joint: free}\n" + MOVE, "3:3",
     "link 'ball' can move without moving any mass (ball.wx, ball.wy, ball.wz, ball.vx, ball.vy, ball.vz)"),
    ("sinew: 1\nrobot:\n  ball: {on: world, joint: free, body: {mass: 1}}\n" + MOVE, "3:3",
     "(ball.wx, ball.wy, ball.wz), so its acceleration is not determined; its body is a point mass: give it 'inertia'"),
    (HINGE + "  tip: {on: a, joint: revolute, stiffness: 1}\n" + MOVE, "4:3",
     "link 'tip' can move without moving any mass (tip.angle), so its acceleration is not determined; give it a body"),
    (HINGE + "  s: {on: a, pose: {xyz: [1, 0, 0]}, joint: spherical, body: {mass: 1, com: [0, 0, 1]}}\n" + MOVE,
     "4:3", "(s.wz), so its acceleration is not determined; its body is a point mass"),
    (HINGE.replace(BODY, "x-none: 0") + f"  tip: {{on: a, joint: revolute, {BODY}}}\n" + MOVE, "4:3",
     "(a.angle, tip.angle), so its acceleration is not determined; these joints move the same: leave one out"),
    (WHIP.replace("STRAIN", "legendre 2").replace("density: 1000", "density: 0") + MOVE, "4:3",
     "(a.strains), so its acceleration is not determined; give its rod a density"),
    # loops that contradict each other, or their drives
    (HINGE + "loops:\n  l1: {join: [world, a], as: fixed}\n  l2: {join: [world, a], as: fixed, pose: {rpy: [0, 0, 0.5]}}\n",
     "6:3", "loop 'l2' cannot be closed together with loop 'l1'"),
    (HINGE + PIN + "actuators: {m: {joint: a, position: 1 rad}}\n", "5:9",
     "loop 'pin' and its drives ('m') contradict each other at t = 0 s"),
    (HINGE + PIN + 'actuators: {m: {joint: a, position: "poly5(t, 0 s, 0.1 s)"}}\n' + MOVE, "5:9",
     "loop 'pin' and its drives ('m') contradict each other at t = 0.0125 s"),
    # laws that contradict each other
    (HINGE + "actuators:\n  m: {joint: a, position: 1 rad}\n  n: {joint: a, rate: 1 rad/s}\n", "6:3",
     "actuators 'm' and 'n' both drive coordinate 1 of joint 'a'; switch one off"),
    (WHIP.replace("STRAIN", "sin(t)") + "actuators: {m: {rod: a, position: [1]}}\n", "5:22",
     "'bend_y' of rod 'a' follows a law already and cannot be driven as well"),
    (WHIP.replace("STRAIN", "sin(t), twist: linear") + "actuators: {m: {rod: a, position: [1, 1, 1]}}\n", "5:35",
     "'bend_y' of rod 'a' follows a law already and cannot be driven as well; it has no coordinates, the others of the rod have 2"),
    (HINGE + "actuators: {m: {joint: a, position: 1 rad}}\ninitial: {a: 0.5 rad}\n", "5:11",
     "initial value 0.5 of coordinate 1 of 'a' contradicts actuator 'm', which gives 1 at t = 0 s; leave it out here"),
    (HINGE + "actuators: {m: {joint: a, rate: 1 rad/s}}\ninitial: {a: {rate: 0.5 rad/s}}\n", "5:11",
     "initial rate 0.5 of coordinate 1 of 'a' contradicts actuator 'm', which gives 1"),
    (HINGE.replace("revolute", "spherical") + "actuators: {m: {joint: a, position: {axis: x, angle: t}}}\ninitial: {a: {position: {axis: x, angle: 30 deg}}}\n",
     "5:11", "initial rotation of 'a' contradicts actuator 'm', by 30 degrees at t = 0 s"),
    (HINGE.replace("revolute", "spherical") + "actuators: {m: {joint: a, position: [0, 0, t]}}\n", "4:37",
     "the position of a spherical joint is a rotation"),
    (HINGE.replace("revolute", "spherical") + "actuators: {m: {joint: a, rate: [0, 0, t]}}\n", "4:24",
     "the joint of link 'a' is spherical and takes an 'effort' or a 'position'"),
    (WHIP.replace("STRAIN", "legendre 2") + "actuators: {m: {rod: a, position: [1, 0]}}\ninitial: {a: {strain: {bend_y: 2}}}\n",
     "6:11", "initial value 2 of coordinate 1 of 'a' contradicts actuator 'm', which gives 1"),
)

# similar robots that are valid
FINE = (
    # another link gives a link without mass its inertia
    "sinew: 1\nrobot:\n  a: {on: world, joint: revolute, axis: y}\n  b: {on: a, joint: revolute, axis: z}\n"
    "  c: {on: b, body: {mass: 1, com: [0.1, 0.1, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n" + MOVE,
    "sinew: 1\n" + RUBBER + "robot:\n  a: {on: world, joint: free}\n  b: {on: a, rod: {length: 1, section: {circle: {radius: 1 cm}}, "
    "material: rubber, strain: {bend_y: legendre 2}}}\n" + MOVE,
    HINGE + "  p: {on: world, joint: free}\nloops: {l: {join: [a, p], as: fixed}}\n" + MOVE,
    # statics has no accelerations
    HINGE + "  tip: {on: a, joint: revolute, stiffness: 1}\nstudy: [static:]\n",
    # a driven coordinate starts at the value of its law, also when the file states it; a motor that becomes active
    # later does not contradict
    HINGE + "actuators: {m: {joint: a, position: 0.5 + t}}\ninitial: {a: 0.5 rad}\n" + MOVE,
    HINGE.replace("revolute", "spherical") + "actuators: {m: {joint: a, position: {axis: x, angle: 1}, when: off}}\n"
    "initial: {a: {position: {axis: x, angle: 30 deg}}}\nstudy: [change: {m: on}, static:, change: {m: off}, dynamic: {for: 10 ms, step: 1 ms}]\n",
    HINGE + "actuators: {m: {joint: a, position: 0.5, when: off}}\ninitial: {a: 0.1 rad}\nstudy: [change: {m: on}, static:]\n",
)


class Input(harness.Case):
    def test_robots_that_cannot_be_have_their_place_and_words(self):
        for text, place, words in ROBOTS:
            with self.subTest(words=words):
                self.write("arm.yaml", text)
                for command in harness.few(("check", "run"), 2):
                    result = self.fails(2, command, "arm.yaml")
                    self.assertTrue(result.err.startswith(f"arm.yaml:{place}: "), result)
                    self.assertIn(words, result.err)
                    self.assertEqual(len(result.err.splitlines()), 1, result)
                self.assertEqual(self.files(), ["arm.yaml"])

    def test_robots_much_like_them_run(self):
        for text in FINE:
            with self.subTest(text=text):
                self.write("arm.yaml", text)
                self.succeeds("check", "arm.yaml")
                self.assertEqual(self.succeeds("run", "arm.yaml", "-q").err, "")

    def test_each_mistake_has_its_place_and_its_words(self):
        for good, bad, place, words in CASES:
            with self.subTest(bad=bad):
                self.assertIn(good, harness.ROLLED)
                self.write("arm.yaml", harness.ROLLED.replace(good, bad, 1))
                for command in harness.few(("check", "run", "verify"), 3):
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

    def test_places_in_included_files_have_their_file(self):
        self.write("base.yaml", harness.ROLLED)
        for text, place, words in (
            ("robot: {C: {on: world}}", "m.yaml:3:9:", "name of a parameter, line 4 of base.yaml"),
            ("sites: {arm: {on: world}}", "m.yaml:3:9:", "the link in line 7 of base.yaml"),
            ("robot: {arm: {rod: {length: 1 kg}}}", "m.yaml:3:29:", "length (m)"),
            ("parameters: {C: 1 m}", "base.yaml:9:35:", "torque"),
            ("runs: {more: {C: 1 m}}", "base.yaml:9:35:", "torque"),
        ):
            self.write("m.yaml", f"sinew: 1\ninclude: base.yaml\n{text}\n")
            result = self.fails(2, "run", "m.yaml")
            self.assertTrue(result.err.startswith(place), (text, result))
            self.assertIn(words, result.err)

    def nest(self):
        """A file that includes another, which includes a third, each in its own folder with its own g.csv."""
        for folder, weight in ((".", 1000), ("top", 1), ("top/mid", 10), ("top/mid/low", 100)):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
            self.write(f"{folder}/g.csv", f"t, g, x\n0, {weight}, {weight}\n1, {weight}, {weight}\n")
        self.write("top/mid/low/low.yaml", """\
            parameters:
              low: table("g.csv", "g")
              bent(k): k*table("g.csv", 2)
              rows: ['table("g.csv", 2)', 0]
            """)
        self.write("top/mid/mid.yaml", """\
            include: low/low.yaml
            parameters: {mid: 'table("g.csv", "g")', sum: mid}
            robot: {mass: {on: world, joint: prismatic, axis: x, stiffness: 1 N/m, body: {mass: 1 kg}}}
            loads: {pull: {on: mass, force: [sum, 0, 0]}}
            study: [static: {for: 1 s, step: 0.5 s}]
            probes: {x: {value: mass}}
            expect:
              - {probe: x, run: mid, data: g.csv, within: 1e-9}
            """)
        self.write("top/m.yaml", """\
            sinew: 1
            include: mid/mid.yaml
            gravity: 0
            parameters: {top: 'table("g.csv", "g")'}
            runs:
              all: {sum: low + 2*bent(2) + rows(1) + mid + top}
              mid: {}
              here: {mid: 'table("g.csv", 2)'}
            """)

    def test_files_are_sought_beside_the_file_that_names_them(self):
        self.nest()

        def ends(*args):
            self.succeeds("run", "top/m.yaml", "-o", "r.h5", "--force", *args)
            return {run["run"]: run["values"]["x"] for run in self.succeeds("show", "r.h5", "--at", "end", "--json").json["runs"]}

        self.assertEqual(ends(), {"all": 100 + 4*100 + 100 + 10 + 1, "mid": 10, "here": 1})
        # paths of the command line are relative to the first file
        self.assertEqual(ends("--set", 'mid=table("mid/low/g.csv", 2)')["mid"], 100)
        self.assertIn("2 values, 0 missed", self.succeeds("verify", "top/m.yaml", "--run", "mid").out)
        for args in (("run", "top/m.yaml", "-o", "top/mid/low/g.csv"), ("run", "top/m.yaml", "-o", "top/mid/g.csv")):
            self.assertIn("g.csv", self.fails(2, *args).err)
        # errors have the location of the text that names the file, errors inside it their own
        (self.folder / "top/mid/low/g.csv").unlink()
        self.assertRegex(self.fails(2, "check", "top/m.yaml").err, r"^top/mid/low/low\.yaml:2:8: .*g\.csv, column g: cannot be read")
        self.nest()
        self.write("top/mid/low/g.csv", "t, g\n0, 1\n1, one\n")
        self.assertRegex(self.fails(2, "check", "top/m.yaml").err, r"^top/mid/low/g\.csv:3:4: 'one' is not a number")
        self.nest()
        (self.folder / "top/mid/g.csv").unlink()
        self.assertRegex(self.fails(2, "verify", "top/m.yaml", "--run", "mid", "--set", "mid=5").err, r"^top/mid/mid\.yaml:8:32: g\.csv, column x: cannot be read")

    def test_a_step_that_fails_is_named_where_it_stands(self):
        self.write("base.yaml", """\
            robot: {a: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [1, 0, 0]}}}
            loads: {p: {on: a, force: [0, 0, sqrt(0.05 - t) N]}}
            study: [dynamic: {for: 0.1 s, step: 10 ms}]
            """.replace("sqrt(0.05 - t) N", "'(sqrt(0.05 - t/(1 s))) N'"))
        self.write("m.yaml", "sinew: 1\ninclude: base.yaml\n")
        self.assertRegex(self.fails(1, "run", "m.yaml").err, r"^base\.yaml:3:9: no motion found beyond t = 0.05 s")


if __name__ == "__main__":
    harness.main()
