# SPDX-License-Identifier: MIT
"""No input crashes the command, hangs it, or exhausts the machine."""
import os
import random
import resource

import harness

SECONDS = 30  # s of processor time for each; also of sanitized builds
MEGABYTES = 1500


def rod(**changes):
    values = {"length": "1 m", "strain": "{bend_y: legendre 3}", "nodes": "auto", "radius": "10 mm", "top": "", **changes}
    return """sinew: 1
gravity: 0
materials: {{m: {{young: 1 MPa, poisson: 0.5, density: 1000}}}}
robot:
  arm: {{on: world, rod: {{length: {length}, section: {{circle: {{radius: {radius}}}}}, material: m, strain: {strain}, nodes: {nodes}}}}}
study: [static: {{}}]
probes: {{tip: {{position: arm.tip}}}}
{top}
""".format(**values)


class Hostile(harness.Case):
    def refused(self, text, words="", name="bad.yaml"):
        self.write(name, text)
        result = self.fails(2, "check", name, preexec_fn=harness.limit_work(SECONDS))
        self.assertLess(len(result.err), 2000, "one message")
        self.assertEqual(len(result.err.strip().splitlines()), 1, "one line")
        self.assertTrue(result.err.startswith(name + ":"), result)
        self.assertIn(words, result.err)
        self.assertEqual(self.files(), [name])

    def tearDown(self):
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        self.assertLess(peak, MEGABYTES, "memory")

    def test_the_model_these_are_made_from_is_good(self):
        self.write("good.yaml", rod())
        self.succeeds("check", "good.yaml")

    def test_bytes_that_hang_the_yaml_reader(self):
        self.refused(b"\x25\x8b")
        self.refused(b"sinew: 1\n%\x8b\n")

    def test_what_is_no_text(self):
        self.refused(b"\x00" * 1000)
        self.refused(b"\xff\xfe\xfd" * 100)
        self.refused(b"sinew: 1\ntitle: \xc3\x28\n")
        self.refused(os.urandom(5000))

    def test_empty_and_almost_empty(self):
        for text in ("", "\n", "---\n", "[]", "42", "sinew: 1", "sinew: 2\n" + rod()[9:], "null", "- sinew: 1\n"):
            with self.subTest(text=text[:20]):
                self.refused(text)

    def test_deep_nesting(self):
        for n in (100, 10_000, 1_000_000):
            with self.subTest(n=n):
                self.refused("sinew: 1\nx: " + "[" * n + "]" * n)
                self.refused("sinew: 1\nx: " + "{a: " * n + "1" + "}" * n)
        self.refused("sinew: 1\n" + "\n".join(" " * i + "a:" for i in range(1, 1500)))
        self.refused(rod(length='"' + "(" * 100_000 + "1" + ")" * 100_000 + ' m"'))
        self.refused(rod(length='"' + "-" * 100_000 + '1"'))

    def test_aliases_without_end(self):
        bomb = ["a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
        bomb += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]
        self.refused("sinew: 1\n" + "\n".join("x-" + line for line in bomb) + "\nrobot: *a19\n")
        self.refused("sinew: 1\n" + "\n".join(bomb) + "\n")
        self.refused("sinew: 1\nrobot: &r {a: *r}\n")
        merges = ["m0: &m0 {a: 1}"] + [f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}" for i in range(1, 20)]
        self.refused("sinew: 1\n" + "\n".join(merges) + "\n")

    def test_repetitions_without_end(self):
        self.refused(rod(top="loads: {'l(k=1..1000000000)': {on: arm.tip, force: [0, 0, 1]}}"))
        self.refused(rod(top="loads: {'l(k=1..2000, i=1..2000)': {on: arm.tip, force: [0, 0, 1]}}"))
        each = "{each: [" + ", ".join(map(str, range(100))) + "]}"
        self.refused(rod(top="parameters: {a: 1, b: 1, c: 1, d: 1}\nruns: {r: {a: %s, b: %s, c: %s, d: %s}}" % ((each,) * 4)))

    def test_parameters_that_grow(self):
        lines = ["parameters:", "  p0: 1"] + [f"  p{i}: p{i - 1} + p{i - 1}" for i in range(1, 200)]
        self.write("grows.yaml", rod(top="\n".join(lines), length="p199"))
        self.assertIn(self.sinew("check", "grows.yaml", preexec_fn=harness.limit_work(SECONDS)).code, (0, 2))
        cycle = "parameters: {a: b, b: c, c: a}"
        self.write("cycle.yaml", rod(top=cycle, length="a"))
        self.fails(2, "check", "cycle.yaml", preexec_fn=harness.limit_work(SECONDS))

    def test_huge_numbers(self):
        for changes in ({"length": "1e400"}, {"length": "-1 m"}, {"length": "0"}, {"length": ".nan"},
                        {"length": ".inf"}, {"nodes": "1000000000"}, {"nodes": "99999999999999999999"}, {"nodes": "-3"},
                        {"nodes": "2.5"}, {"strain": "{bend_y: legendre 1000000000}"}, {"strain": "{bend_y: legendre -1}"},
                        {"strain": "{bend_y: legendre 99999999999999999999}"}, {"radius": "-1 mm"},
                        {"strain": "{bend_y: linear, elements: 1000000000}"}):
            with self.subTest(**changes):
                self.refused(rod(**changes))

    def test_numbers_no_computer_can_hold(self):
        for changes in ({"length": "1e308 m"}, {"length": "1e-300 m"}, {"radius": "1e-150 m"}, {"radius": "1e100 m"}):
            with self.subTest(**changes):
                self.write("odd.yaml", rod(**changes))
                self.assertIn(self.sinew("run", "odd.yaml", preexec_fn=harness.limit_work(SECONDS)).code, (0, 1, 2))

    def test_a_rod_too_short_for_the_shooting_engine(self):
        text = rod(length="5e-324", strain="cosserat legendre 6").replace("static: {}", "static: {engine: shooting}")
        self.write("short.yaml", text)
        result = self.sinew("check", "short.yaml", preexec_fn=harness.limit_work(SECONDS))
        self.assertIn(result.code, (0, 1, 2))
        self.assertNotIn("success", result.err)

    def test_huge_files(self):
        self.refused("sinew: 1\n# " + "x" * 200_000_000 + "\n")
        self.refused("sinew: 1\n" + "".join(f"k{i}: {i}\n" for i in range(400_000)))
        self.refused("sinew: 1\ntitle: '" + "a" * 3_000_000 + "\n")

    def test_what_is_no_file(self):
        os.mkfifo(self.folder / "pipe.yaml")
        for name in ("pipe.yaml", ".", "/dev/zero", "/dev/null", "missing.yaml"):
            with self.subTest(name=name):
                self.fails(2, "check", name, preexec_fn=harness.limit_work(SECONDS))

    def test_tables_of_long_lines(self):
        """Time grows linearly with the size of a table, not quadratically."""
        self.write("wide.csv", ",".join(["a" * 4000] * 999) + "\n" + ",".join(["1"] * 999) + "\n")
        self.write("wide.yaml", rod(top="parameters: {p: 'table(\"wide.csv\", 2)'}\nloads: {l: {on: arm.tip, force: [0, 0, p]}}"))
        self.succeeds("check", "wide.yaml", preexec_fn=harness.limit_work(20 if harness.SLOW else 4))

    def test_includes_without_end(self):
        self.write("a.yaml", "sinew: 1\ninclude: [b.yaml]\n")
        self.write("b.yaml", "include: [a.yaml]\n")
        self.fails(2, "check", "a.yaml", preexec_fn=harness.limit_work(SECONDS))
        for i in range(30):
            self.write(f"w{i}.yaml", f"include: [{', '.join([f'w{i + 1}.yaml'] * 5)}]\n")
        self.write("w30.yaml", "x-a: 1\n")
        self.fails(2, "check", "w0.yaml", preexec_fn=harness.limit_work(SECONDS))
        self.write("dev.yaml", "sinew: 1\ninclude: [/dev/zero]\n")
        self.fails(2, "check", "dev.yaml", preexec_fn=harness.limit_work(SECONDS))

    def test_mutilated_models(self):
        """Valid models with bytes removed, doubled and exchanged: a result or a message every time, never a crash."""
        dice = random.Random(1)
        pieces = ["{", "}", "[", "]", ":", "- ", "&a ", "*a", "<<: ", "\n", "'", '"', "1e999", "(", ")", "@", "..", "!!", "|", ">", "%", "\t"]
        for _ in range(60):
            text = list(harness.ROLLED)
            for _ in range(dice.randint(1, 4)):
                at = dice.randrange(len(text))
                what = dice.randrange(3)
                if what == 0:
                    del text[at:at + dice.randint(1, 20)]
                elif what == 1:
                    text[at:at] = dice.choice(pieces)
                else:
                    other = dice.randrange(len(text))
                    text[at], text[other] = text[other], text[at]
            self.write("mutant.yaml", "".join(text))
            result = self.sinew("check", "mutant.yaml", preexec_fn=harness.limit_work(SECONDS))
            self.assertIn(result.code, (0, 2), "".join(text))


if __name__ == "__main__":
    harness.main()
