# SPDX-License-Identifier: MIT
"""The reference docs/language is correct: its examples run, and the reader accepts the words of its tables."""
import re
import shlex
import sys

import harness

sys.path.insert(0, str(harness.SOURCE / "tools"))
import pages  # noqa: E402

PAGES = sorted((harness.SOURCE / "docs/language").glob("*.md"))

# path to a map of the language in an otherwise valid model; KEY stands for one of its keys and a value
REACHED = {
    "file": "KEY",
    "material": "materials: {silicone: {KEY}}",
    "ogden": "materials: {rubber: {ogden: {KEY}}}",
    "relaxation": "materials: {gel: {young: 1, relaxation: {KEY}}}",
    "stress_table": "robot: {more: {on: world, rod: {length: 1, section: {stress: {bend_z: {KEY}}}}}}",
    "link": "robot: {more: {KEY}}",
    "pose": "robot: {more: {pose: {KEY}, on: world}}",
    "rod": "robot: {more: {on: world, rod: {KEY}}}",
    "section": "robot: {more: {on: world, rod: {length: 1, section: {KEY}}}}",
    "circle": "robot: {more: {on: world, rod: {length: 1, section: {circle: {KEY}}}}}",
    "tube": "robot: {more: {on: world, rod: {length: 1, section: {tube: {KEY}}}}}",
    "rectangle": "robot: {more: {on: world, rod: {length: 1, section: {rectangle: {KEY}}}}}",
    "ellipse": "robot: {more: {on: world, rod: {length: 1, section: {ellipse: {KEY}}}}}",
    "elliptic_tube": "robot: {more: {on: world, rod: {length: 1, section: {elliptic_tube: {KEY}}}}}",
    "components": "robot: {more: {on: world, rod: {length: 1, rest: {KEY}}}}",
    "function": "robot: {more: {on: world, rod: {length: 1, strain: {bend_z: [{KEY}]}}}}",
    "concentric_tube": "robot: {more: {on: world, tubes: {inmost: {KEY}}}}",
    "body": "robot: {more: {on: world, body: {KEY}}}",
    "shapes": "robot: {more: {on: world, body: {mass: 1, shapes: [{KEY}]}}}",
    "cylinder": "robot: {more: {on: world, body: {mass: 1, cylinder: {KEY}}}}",
    "sphere": "robot: {more: {on: world, body: {mass: 1, sphere: {KEY}}}}",
    "site": "sites: {more: {KEY}}",
    "loop": "loops: {more: {KEY}}",
    "load": "loads: {more: {KEY}}",
    "actuator": "actuators: {more: {KEY}}",
    "servo": "robot: {more: {on: world, joint: revolute, body: {mass: 1}}}\nactuators: {turn: {joint: more, servo: {position: 0, stiffness: 0, KEY}}}",
    "stress": "actuators: {more: {stress: {KEY}}}",
    "tendon": "actuators: {more: {tendon: {KEY}}}",
    "chamber": "actuators: {more: {chamber: {KEY}}}",
    "mckibben": "actuators: {more: {mckibben: {KEY}}}",
    "gas": "actuators: {more: {chamber: {along: arm, area: 1 mm^2}, gas: {KEY}}}",
    "contact": "contacts: {more: {KEY}}",
    "wheel": "contacts: {more: {wheel: {KEY}}}",
    "ring": "contacts: {more: {ring: {KEY}}}",
    "anchor": "contacts: {more: {anchor: {KEY}}}",
    "ground": "contacts: {more: {ground: {KEY}}}",
    "obstacle": "contacts: {more: {obstacle: {KEY}}}",
    "rods": "contacts: {more: {rods: {KEY}}}",
    "restitution": "contacts: {more: {ground: {on: arm, stiffness: 1, restitution: {KEY}}}}",
    "friction": "contacts: {more: {ground: {on: arm, stiffness: 1, friction: {KEY}}}}",
    "spring": "springs: {more: {KEY}}",
    "armature": "robot: {more: {on: world, joint: revolute, body: {mass: 1}, armature: {KEY}}}",
    "mimic": "robot: {more: {on: world, joint: revolute, body: {mass: 1}, mimic: {KEY}}}",
    "stop": "robot: {more: {on: world, joint: revolute, limits: [-1, 1], body: {mass: 1}, stop: {KEY}}}",
    "fluid": "fluid: {more: {KEY}}",
    "state": "states: {more: {KEY}}",
    "field": "fields: {more: {KEY}}",
    "drag": "fluid: {more: {on: arm, drag: {KEY}}}",
    "initial": "initial: {arm: {KEY}}",
    "probe": "probes: {more: {KEY}}",
    "static": "study: [static: {KEY}]",
    "march": "study: [static: {march: {KEY}}]",
    "penalty": "loops: {l: {join: [world, arm.tip], as: fixed}}\nstudy: [static: {penalty: {KEY}}]",
    "dynamic": "study: [dynamic: {KEY}]",
    "kinematic": "study: [kinematic: {KEY}]",
    "reactions": "study: [kinematic: {for: 1 s, step: 10 ms, reactions: {KEY}}]",
    "shooting": "study: [static: {engine: shooting, shooting: {KEY}}]",
    "modes": "study: [modes: {KEY}]",
    "path": "study: [path: {range: [0 s, 1 s], KEY}]",
    "folds": "study: [path: {range: [0 s, 1 s], folds: {KEY}}]",
    "inverse": "study: [inverse: {target: {tip.z: 0}, KEY}]",
    "linearize": "study: [linearize: {KEY}]",
    "inverse_limits": "loads: {push: {on: arm, force: [0, 0, 1]}}\nstudy: [inverse: {target: {tip.z: 0}, actuators: {push: {KEY}}}]",
    "record": "record: {KEY}",
    "expect": "expect: [{KEY}]",
    "optimize": "optimize: {KEY}",
    "variable": "optimize: {variables: {E: {KEY}}, minimise: end(tip.x)}",
    "subject": "optimize: {variables: {E: {}}, minimise: end(tip.x), subject: [{KEY}]}",
    "commands": "commands: {KEY}",
}

# steps that need options
STEPS = {"path": "path: {range: [0 s, 1 s]}", "dynamic": "dynamic: {for: 1 s, step: 10 ms}", "kinematic": "kinematic: {for: 1 s, step: 10 ms}", "change": "change: {gravity: 0}", "inverse": "inverse: {target: {tip.z: 0}, actuators: [push]}"}

# arguments for a call of any function
ARGUMENTS = {"t": "t", "a": "0.25", "b": "0.75", "c": "t < 1 s", "e": "tip.x", "T": "10 ms", "lo": "0", "hi": "1", "x": "2", "y": "1", "..": "1", '"file"': '"pull.csv"', "column": "2", "at": "t - 1 s"}


def blocks():
    """Code blocks of all pages: language, mark, text, and the name of its file, if it has one."""
    for page in PAGES:
        yield from pages.blocks(page)


class Pages(harness.Case):
    """Examples of the pages. A block that begins with `# name` is that file; the others, on any page, find it by it."""

    def setUp(self):
        super().setUp()
        self.models, self.included = [], set()
        for number, (kind, mark, text, name) in enumerate(blocks()):
            if kind not in ("yaml", "csv") or mark:
                continue
            name = name or f"block{number}.yaml"
            self.assertFalse((self.folder / name).exists(), f"two blocks are {name}")
            self.write(name, text)
            self.included |= set(re.findall(r"[\w.]+\.yaml", " ".join(re.findall(r"^include: (.*)$", text, re.M))))
            if kind == "yaml" and "\nmodel: " not in text:  # a plan of a sweep is checked by its commands
                self.models.append(name)

    def test_every_model_is_read_and_shows_what_it_expects(self):
        self.assertGreater(len(self.models), 20)
        for name in self.models:
            with self.subTest(model=name):
                if "sinew: 1" not in (self.folder / name).read_text():
                    self.assertIn(name, self.included, "neither a whole model nor part of one")
                    continue
                for command in ("verify",) if harness.SLOW else ("check", "verify"):  # verify includes check
                    self.assertEqual(self.succeeds(command, name).err, "")

    def test_every_command_works(self):
        commands = [line for kind, _, text, _ in blocks() if kind == "sh" for line in text.replace("\\\n", " ").splitlines()]
        self.assertGreater(len(commands), 4)
        for line in commands:
            with self.subTest(command=line):
                words = shlex.split(line, comments=True)
                self.assertEqual(words[0], "sinew")
                self.succeeds(*words[1:])

    def test_every_mistake_gets_the_message_shown(self):
        found = list(blocks())
        mistakes = [i for i, (_, mark, _, _) in enumerate(found) if mark == "wrong"]
        self.assertGreater(len(mistakes), 2)
        for i in mistakes:
            _, _, text, name = found[i]
            self.write(name, text)
            with self.subTest(mistake=text):
                self.assertEqual(found[i + 1][0], "text")
                self.assertEqual(self.fails(2, "check", name).err, found[i + 1][2])


class Tables(harness.Case):
    """The words that `sinew help language` lists are those that the reader accepts."""

    def setUp(self):
        super().setUp()
        for kind, mark, text, name in blocks():
            if kind in ("yaml", "csv") and name and not mark:
                self.write(name, text)
        self.parts = {part["name"]: part for part in self.succeeds("help", "language", "--json").json["parts"]}

    def check(self, text):
        self.write("model.yaml", "sinew: 1\ninclude: arm.yaml\n" + text)
        return self.sinew("check", "model.yaml")

    def accepts(self, text):
        with self.subTest(text=text):
            result = self.check(text)
            self.assertEqual(result.code, 0, result)

    def test_every_key_is_known_in_its_map_and_no_other_word_is(self):
        maps = {name for name, part in self.parts.items() if part["head"][0] == "key"}
        self.assertEqual(maps, set(REACHED))
        for name in maps:
            with self.subTest(map=name, key="zzz"):
                self.assertIn("unknown key 'zzz'", self.check(REACHED[name].replace("KEY", "zzz: 1")).err)
            for key, _, _ in harness.few(self.parts[name]["rows"], 5):
                if (name, key) in (("file", "sinew"), ("file", "include")):
                    continue  # both are in the model already
                with self.subTest(map=name, key=key):
                    result = self.check(REACHED[name].replace("KEY", f"{key}: 1"))
                    self.assertNotIn("unknown key", result.err)

    def test_every_strain_basis_joint_and_step_is_read(self):
        for basis, size, _ in harness.few(self.parts["bases"]["rows"], 2):
            number = " 2" if size.startswith(("number", "degree")) else ""
            self.accepts(f"robot: {{arm: {{rod: {{strain: kirchhoff {basis}{number}}}}}}}")
        for strain, basis, _ in harness.few(self.parts["strains"]["rows"], 3):
            self.accepts(f"robot: {{arm: {{rod: {{strain: {strain}{' legendre 2' if basis else ''}}}}}}}")
        for joint, _, _ in self.parts["joints"]["rows"]:
            pitch = ", pitch: 1 mm" if joint == "screw" else ""
            self.accepts(f"robot: {{more: {{on: world, joint: {joint}{pitch}, body: {{mass: 1}}}}}}")
        for step, _, _ in self.parts["studies"]["rows"]:
            self.accepts(f"loads: {{push: {{on: arm, force: [0, 0, 1 mN]}}}}\nstudy: [{STEPS.get(step, step)}]")
        for scheme, keys, _ in self.parts["schemes"]["rows"]:
            step = ", step: 10 ms" if "step" in keys else ""
            engine = ", engine: shooting" if "engine" in keys else ""
            text = f"study: [dynamic: {{for: 1 s, scheme: {scheme}{step}{engine}}}]"
            if engine:
                self.assertNotIn("scheme", self.check(text).err)
            else:
                self.accepts(text)

    def test_every_function_and_unit_is_read(self):
        for call, _, _ in harness.few(self.parts["functions"]["rows"], 3):
            name, arguments = re.match(r"(\w+)\((.*)\)", call).groups()
            values = ", ".join(ARGUMENTS[a] for a in arguments.split(", "))
            self.accepts(f"parameters: {{p: '{name}({values})'}}")
        for unit, prefixed, _ in harness.few(self.parts["units"]["rows"], 5):
            self.accepts("parameters: {p: [" + ", ".join(f"2 {u}" for u in [unit, *prefixed.split()]) + "]}")

    def test_every_component_of_a_probe_can_be_expected(self):
        forms = {"a site": "{Q: arm.tip}", "two sites": "{Q: [arm.root, arm.tip]}", "a rod's station": "{Q: arm@50%}", "a link, a loop, a spring or a contact": "{Q: arm}",
                 "a contact with a ground or an obstacle": "{Q: floor}",
                 "a joint's link or an actuator": "{Q: hinge}", "a joint's link, an actuator or a spring": "{Q: hinge}",
                 "a tendon, or a spring": "{Q: cord}", "a tendon, or a place on its path; or a spring": "{Q: cord@50%}",
                 "an end of a tendon, 'cable.root' or 'cable.tip'": "{Q: cord.tip}", "a chamber": "{Q: air}", "a concentric tube, or its station": "{Q: inmost@50%}",
                 "an actuator": "{Q: turn}", "an expression of other probes": "{Q: tip.x}", "a bare word": "Q"}
        keys = {key: form for key, form, _ in self.parts["probe"]["rows"]}
        for quantity, components, _ in harness.few(self.parts["quantities"]["rows"], 2):
            names = re.sub(r"\(.*?\)|,", "", components).split()
            if quantity in ("connection", "curvature"):
                continue  # of robots whose shape is given: examples/locomotion/connection.yaml expects all components
            probe = forms[keys[quantity]].replace("Q", quantity)
            entries = "".join(f"  - {{probe: p{n}, at: end, below: 1e9}}\n" for n in ["", *("." + n for n in names)])
            self.accepts("robot: {hinge: {on: world, joint: revolute, body: {mass: 1}},\n"
                         "  more: {on: world, tubes: {inmost: {bending: 1, torsion: 1, mass: 1, curved: 1}}}}\n"
                         "actuators: {turn: {joint: hinge, effort: 1 N*m}, cord: {tendon: {along: arm}, effort: 1 N},\n"
                         "  air: {chamber: {along: arm, area: 1 mm^2}, effort: 1 Pa}}\n"
                         "contacts: {floor: {ground: {on: arm, stiffness: 1 kPa}}}\n"
                         f"probes: {{p: {probe}}}\nexpect:\n{entries}")

    def test_the_terminal_gets_the_same_in_100_columns(self):
        text = self.succeeds("help", "language").out
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        for name, part in harness.few(list(self.parts.items()), 5):
            self.assertIn(f"\n{name} ({part['about']}):\n", text)
            one = self.succeeds("help", "language", name.split(", ")[0]).out
            self.assertLessEqual(max(map(len, one.splitlines())), 100)
            head = f"\n{name} ({part['about']}):\n"
            table = head + text.split(head)[1].split("\n\n")[0]
            self.assertIn(table.rstrip(), one)
            for row in part["rows"]:
                for word in " ".join(row).split():
                    self.assertIn(word, one)

    def test_an_unknown_part_is_wrong_usage(self):
        self.assertIn("did you mean 'rod'", self.fails(2, "help", "language", "rodd").err)
        self.assertIn("no word 'rod frobnicate'", self.fails(2, "help", "language", "rod", "frobnicate").err)
        self.assertIn("unexpected 'show'", self.fails(2, "help", "run", "show").err)


if __name__ == "__main__":
    harness.main()
