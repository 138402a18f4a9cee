# SPDX-License-Identifier: MIT
"""sinew verify: expected values, passed and missed."""
import math

import harness


class Verify(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("arm.yaml", harness.ROLLED)

    def test_met_expectations_are_listed_with_their_source(self):
        result = self.succeeds("verify", "arm.yaml")
        self.assertEqual(result.out.count("  ok "), 2)
        for word in ("tip.x", "after rolled", "end", "closed form", "1 file, 2 values, 0 missed"):
            self.assertIn(word, result.out)
        self.assertEqual(self.files(), ["arm.yaml"])

    def test_a_miss_is_exit_1_and_named(self):
        self.write("wrong.yaml", harness.ROLLED.replace("0.7508843574", "0.75088"))
        result = self.sinew("verify", "wrong.yaml")
        self.assertEqual(result.code, 1)
        self.assertEqual(result.out.count("MISS"), 1)
        self.assertIn("1 missed", result.out)

    def test_json_of_hits_and_misses(self):
        self.write("wrong.yaml", harness.ROLLED.replace("0.7508843574", "0.75088"))
        reply = self.sinew("verify", "arm.yaml", "wrong.yaml", "--json").json
        self.assertEqual((reply["exit"], reply["values"], reply["misses"]), (1, 4, 1))
        miss = [v for v in reply["files"][1]["values"] if not v["ok"]]
        self.assertEqual(len(miss), 1)
        self.assertAlmostEqual(miss[0]["got"], 0.7508843574, 9)

    def test_a_file_without_expectations_says_so(self):
        self.write("bare.yaml", harness.ROLLED.split("expect:")[0])
        self.assertIn("has no 'expect:'", self.succeeds("verify", "bare.yaml").out)

    def test_one_bad_file_does_not_hide_the_others(self):
        self.write("bad.yaml", harness.ROLLED.replace("length", "lenght"))
        result = self.fails(2, "verify", "bad.yaml", "arm.yaml")
        self.assertIn("bad.yaml:7:", result.err)
        self.assertEqual(result.out.count("  ok "), 2)

    def test_only_the_chosen_run_is_judged(self):
        self.assertIn("1 value,", self.succeeds("verify", "arm.yaml", "--run", "more").out)

    def test_every_form_of_expectation(self):
        self.write("forms.yaml", harness.ROLLED.split("study:")[0].replace("C: 1 N*m", "C: 1 N*m*t/(1 s)") + """\
study:
  - static: {name: path, for: 2 s, step: 0.5 s}
probes: {tip: {position: arm.tip}}
expect:
  - {probe: tip.x, at: 1 s, value: 0.7508843574, relative: 1e-8}
  - {probe: tip, after: path, value: [0.2201482043, 0, -0.7178872], within: 1e-6}
  - {probe: tip.x, rows: [[1, 0.7508843574], [2, 0.2201482043]], within: 1e-9}
  - {probe: [tip.x, tip.y], at: end, value: [0.2201482043, 0], within: 1e-9}
  - {probe: tip.x, over: all, is: max, value: 1, within: 1e-9}
  - {probe: tip.x, over: [1 s, 2 s], is: min, value: 0.2201482043, within: 1e-9}
  - {probe: tip.x, over: all, is: range, value: 0.7798517957, within: 1e-9}
  - {probe: tip.y, over: all, is: size, below: 1e-9}
  - {probe: tip.x, at: 2 s, above: 0.2}
""")
        result = self.succeeds("verify", "forms.yaml")
        self.assertNotIn("MISS", result.out)

    def table(self, head, *rows, beside="within: 1e-9"):
        text = harness.ROLLED.split("expect:")[0] + f"expect:\n  - {beside}\n    table:\n"
        return self.write("table.yaml", text + "".join(f"      - {row}\n" for row in (head, *rows)))

    def test_rows_of_a_table_are_expectations(self):
        self.table("[probe, run, after, at, value]", "[tip.x, text, rolled, ~, 0.7508843574]",
                   "[[tip.x, tip.y], text, ~, end, [0.7508843574, 0]]", "[tip.x, more, ~, end, 0.3]")
        result = self.sinew("verify", "table.yaml", "--json")
        values = result.json["files"][0]["values"]
        self.assertEqual([v["ok"] for v in values], [True, True, True, False])
        self.assertEqual(result.code, 1)

    def test_a_table_that_is_none_is_refused_with_its_place(self):
        for head, rows, message in (
            ("[probe, at, value]", ["[tip.x, end]"], "a row of the table is a list of 3, as its head"),
            ("[probe, at, within]", ["[tip.x, end, 1]"], "'within' is given beside the table too"),
            ("[probe, at, valu]", ["[tip.x, end, 1]"], "unknown key 'valu' (did you mean 'value'?)"),
            ("[probe, at, table]", ["[tip.x, end, 1]"], "'table' is given beside the table too"),
            ("[probe, at, value]", [], "'table' is a list of rows, the first with names of keys"),
            ("probe", ["[tip.x]"], "'table' is a list of rows, the first with names of keys"),
        ):
            with self.subTest(message):
                self.table(head, *rows)
                self.assertIn(message, self.fails(2, "verify", "table.yaml").err)

    def test_probes_by_laws_of_other_probes(self):
        # the rolled rod again: chords of an arc with k = 1/EI, and of its last quarter by the difference of two
        # positions
        self.write("law.yaml", harness.ROLLED.split("runs:")[0].replace("probes: {tip: {position: arm.tip}, e: energy}", """\
probes:
  tip: {position: arm.tip}
  at(k=1..3): {position: arm@k*25%}
  e: energy
  chord: {law: "sqrt((tip.x - at(3).x)^2 + (tip.z - at(3).z)^2)"}
  turned: {law: s*e.elastic + 0*t}
  beside: {law: tip.x - x0}
record: {only: [chord, turned, beside]}""").replace("parameters: {", "parameters: {s: 2, x0: 5 cm, ") + """\
expect:
  - {probe: chord, at: end, value: "2*sin(0.125*4/pi)/(4/pi)", within: 1e-9, source: chord of an arc}
  - {probe: turned, at: end, value: 4/pi, within: 1e-9, source: "twice C^2 L/(2 EI)"}
  - {probe: beside, at: end, value: 0.7508843574 m - 5 cm, within: 1e-9, source: closed form}
""")
        self.assertIn("3 values, 0 missed", self.succeeds("verify", "law.yaml").out)
        text = (self.folder / "law.yaml").read_text()
        for law, words in (("tip.q", "probe 'tip' has no 'q'"), ("tip", "a probe of several numbers"), ("chord + 1", "by a law itself"),
                           ("integral(tip.x)", "has memory"), ("tipp.x", "unknown name 'tipp'")):
            self.write("bad.yaml", text.replace("tip.x - x0", law))
            self.assertRegex(self.fails(2, "check", "bad.yaml").err, f"^bad.yaml:\\d+:1[0-9]: .*{words}")
        # laws of the robot cannot read them
        self.write("law2.yaml", text.replace("tip.x - x0", "tip.x").replace("loads:", "loads:\n  more: {on: arm.tip, force: [0, 0, beside*1 N/m]}"))
        self.assertIn("laws and conditions cannot read probe 'beside'", self.fails(2, "check", "law2.yaml").err)

    def test_a_run_is_compared_with_measurements(self):
        # a mass on a spring, x = cos t, measured in mm and ms with a clock that started half a second later, 2 mm
        # offset
        self.write("spring.yaml", """\
            sinew: 1
            gravity: 0
            robot: {m: {on: world, joint: prismatic, axis: x, stiffness: 1 N/m, body: {mass: 1 kg}}}
            initial: {m: 1 m}
            study: [dynamic: {for: 2 s, step: 1 ms, scheme: trapezoidal}]
            probes: {x: {value: m}, p: {position: m}}
            expect:
              - {probe: x, data: clock.csv, columns: seen, clock: 1 ms, shift: 0.5 s, factor: 1 mm, offset: -2 mm, within: 4 mm, rms: 2 mm}
              - {probe: [p.x, p.y], data: plain.csv, rms: 1e-6, over: [0.25 s, 1 s]}
            """)
        lines = ["ms; seen"] + [f"{100 * k}; {1000 * math.cos(0.5 + 0.1 * k) + 2 + (3 if k % 4 == 0 else -1)}" for k in range(16)]
        self.write("clock.csv", "\n".join(lines) + "\n")
        self.write("plain.csv", "t, p.x, p.y\n" + "".join(f"{t}, {math.cos(t)}, {'' if t < 0.6 else 0}\n" for t in (-1, 0, 0.25, 0.5, 0.75, 1, 7)))
        result = self.succeeds("verify", "spring.yaml")
        for words in ("rms of 16 rows of clock.csv", "max, t = ", "rms of 4 rows of plain.csv", "6 values, 0 missed"):
            self.assertIn(words, result.out)
        values = self.succeeds("verify", "spring.yaml", "--json").json["files"][0]["values"]
        want = math.sqrt((4 * 3**2 + 12 * 1**2) / 16) * 1e-3  # 3 mm at every fourth, 1 mm at the others
        self.assertAlmostEqual(values[0]["error"], want, 6)
        self.assertEqual((values[0]["how"], values[1]["how"]), ("rms", "max"))
        self.assertAlmostEqual(values[1]["error"], 3e-3, 6)
        # the largest error decides as well
        self.write("tight.yaml", (self.folder / "spring.yaml").read_text().replace("within: 4 mm", "within: 2.9 mm"))
        self.assertIn("MISS", self.sinew("verify", "tight.yaml").out)
        for old, new, words in (
            ("columns: seen", "columns: sen", "did you mean 'seen'"),
            ("over: [0.25 s, 1 s]", "source: x", "-1 s is outside"),
            ("within: 4 mm, rms: 2 mm", "source: x", "a tolerance is missing: 'within' for the maximum"),
            ("data: clock.csv", "data: cloc.csv", "cloc.csv, column seen: cannot be read"),
            ("rms: 2 mm", "value: 3", "the values are the file's"),
            ("data: clock.csv, columns: seen", "at: end, value: 1", "'shift' belongs to 'data'"),
            ("columns: seen", "columns: [seen, seen]", "'columns' needs 1 names"),
        ):
            self.write("bad.yaml", (self.folder / "spring.yaml").read_text().replace(old, new))
            self.assertIn(words, self.fails(2, "verify", "bad.yaml").err, old)


if __name__ == "__main__":
    harness.main()
