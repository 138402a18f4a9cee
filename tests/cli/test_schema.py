# SPDX-License-Identifier: MIT
"""The JSON Schema of the language accepts every example, knows all keys of the help, and refuses spoilt files.

The files are read by YAML 1.2's rules (Debian's python3-yaml, other words than true, false and null being texts) and
judged by the validator below, which knows the keywords that the schema uses.
"""
import json
import re
import unittest

import harness

try:
    import yaml
except ImportError:
    yaml = None

TYPES = {"string": str, "number": (int, float), "array": list, "object": dict, "boolean": bool, "null": type(None)}
NOTES = {"$schema", "title", "description", "markdownDescription", "markdownEnumDescriptions", "examples", "definitions",
         "x-form", "x-names"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and not (name == "number" and isinstance(value, bool))


def faults(schema, value, root, at="file"):
    """Where and why a value does not fit; empty when it does."""
    out = []
    for word, given in schema.items():
        if word == "$ref":
            out += faults(root["definitions"][given.removeprefix("#/definitions/")], value, root, at)
        elif word == "type":
            names = given if isinstance(given, list) else [given]
            if not any(is_type(value, name) for name in names):
                out.append(f"{at}: {value!r} is none of {', '.join(names)}")
        elif word == "enum":
            if not any(value == e and isinstance(value, bool) == isinstance(e, bool) for e in given):
                out.append(f"{at}: {value!r} is none of {given}")
        elif word == "const":
            if value != given:
                out.append(f"{at}: {value!r} is not {given}")
        elif word in ("anyOf", "allOf"):
            each = [faults(part, value, root, at) for part in given]
            out += min(each, key=len) if word == "anyOf" else sum(each, [])
        elif word == "items":
            for i, e in enumerate(value if isinstance(value, list) else []):
                out += faults(given, e, root, f"{at}[{i}]")
        elif word == "properties":
            for key, e in value.items() if isinstance(value, dict) else []:
                if key in given:
                    out += faults(given[key], e, root, f"{at}.{key}")
        elif word == "additionalProperties":
            for key, e in value.items() if isinstance(value, dict) else []:
                if key in schema.get("properties", {}) or any(re.search(p, key) for p in schema.get("patternProperties", {})):
                    continue
                out += [f"{at}: unknown key {key}"] if given is False else faults(given, e, root, f"{at}.{key}")
        elif word == "required":
            out += [f"{at}: {key} is missing" for key in given if isinstance(value, dict) and key not in value]
        elif word in ("minProperties", "maxProperties"):
            n = len(value) if isinstance(value, dict) else given
            if (n < given) if word == "minProperties" else (n > given):
                out.append(f"{at}: {n} keys, {word} is {given}")
        else:
            assert word in NOTES or word == "patternProperties", word
    return out


def loader():
    """YAML 1.2's core schema; `on`, dates and the like are texts."""

    class Core(yaml.SafeLoader):
        yaml_implicit_resolvers = {}

    for tag, pattern, first in (
        ("bool", r"true|false", "tf"),
        ("null", r"~|null|", ["~", "n", ""]),
        ("int", r"[-+]?[0-9]+", "-+0123456789"),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
        ("merge", r"<<", "<"),
    ):
        Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), first)
    Core.add_constructor("tag:yaml.org,2002:float", lambda self, node: float(self.construct_scalar(node)))
    return Core


class Schema(harness.Case):
    def setUp(self):
        super().setUp()
        self.schema = self.succeeds("schema").json

    def judged(self, text):
        return faults(self.schema, yaml.load(text, Loader=loader()), self.schema)

    def test_every_key_of_the_help_is_a_property_with_its_meaning(self):
        parts = self.succeeds("help", "language", "--json").json["parts"]
        maps = [p for p in parts if p["head"][0] == "key"]
        self.assertEqual({p["name"] for p in maps}, {"file", *self.schema["definitions"]})
        for p in maps:
            known = (self.schema if p["name"] == "file" else self.schema["definitions"][p["name"]])["properties"]
            self.assertEqual([row[0] for row in p["rows"]], [k for k in known if k != "<<"])
            for key, form, meaning in p["rows"]:
                self.assertEqual((known[key]["x-form"], known[key]["description"]), (form, meaning))

    def test_kinds_are_listed_with_their_meanings(self):
        for map_, key, word in (("link", "joint", "revolute"), ("dynamic", "scheme", "newmark")):
            kinds = self.schema["definitions"][map_]["properties"][key]
            self.assertIn(word, kinds["enum"])
            self.assertEqual(len(kinds["enum"]), len(kinds["markdownEnumDescriptions"]))
        self.assertEqual(self.schema["definitions"]["expect"]["properties"]["is"]["enum"], ["min", "max", "mean", "range", "period", "size"])

    @unittest.skipUnless(yaml, "needs Debian's python3-yaml")
    def test_every_example_is_accepted(self):
        for path in sorted((harness.SOURCE / "examples").glob("*/*.yaml")):  # below them are plans of sweeps
            with self.subTest(path.name):
                self.assertEqual(self.judged(path.read_text()), [])

    @unittest.skipUnless(yaml, "needs Debian's python3-yaml")
    def test_spoilt_files_are_refused(self):
        good = (
            "sinew: 1\n"
            "materials: {rubber: {young: 1 MPa, density: 1000 kg/m^3}}\n"
            "robot:\n"
            "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 1 cm}}, material: rubber, strain: kirchhoff legendre 3}}\n"
            "  hand: {on: arm.tip, joint: revolute, body: {mass: 1 kg}}\n"
            "study: [static: {}, dynamic: {for: 1 s, step: 10 ms, scheme: newmark, adapt: on}]\n"
            "probes: {tip: {position: arm.tip}, e: energy}\n"
            "expect: [{probe: tip.x, at: end, value: 1, within: 1e-3}]\n"
        )
        self.assertEqual(self.judged(good), [])
        for old, new in (
            ("sinew: 1\n", ""),  # a required key is missing
            ("sinew: 1", "sinew: 2"),
            ("length: 1 m", "lenght: 1 m"),
            ("materials:", "material:"),
            ("joint: revolute", "joint: hinge"),
            ("scheme: newmark", "scheme: newmarc"),
            ("adapt: on", "adapt: yes"),
            ("body: {mass: 1 kg}", "body: 1 kg"),
            ("{young: 1 MPa,", "{young: [1 MPa],"),
            ("on: world", "on: [world]"),
            ("dynamic: {for", "dynamics: {for"),
            ("[static: {},", "[{static: {}, modes: {}},"),
            ("study: [static: {}, dynamic: {for: 1 s, step: 10 ms, scheme: newmark, adapt: on}]", "study: {static: {}}"),
            ("{probe: tip.x, at", "{prob: tip.x, at"),
        ):
            with self.subTest(new or old):
                self.assertIn(old, good)
                self.assertNotEqual(self.judged(good.replace(old, new)), [])

    @unittest.skipUnless(yaml, "needs Debian's python3-yaml")
    def test_snippets_of_the_editor_are_models_and_parts_of_models(self):
        snippets = json.loads((harness.SOURCE / "editors/vscode/snippets.json").read_text())
        text = {}
        for snippet in snippets.values():
            body = re.sub(r"\$\{\d+\|(.*?),.*?\|\}", r"\1", "\n".join(snippet["body"]))
            text[snippet["prefix"]] = re.sub(r"\$\{\d+:(.*?)\}|\$0", lambda m: m[1] or "", body)

        def under(*prefixes):
            return "".join(f"  {line}\n" for p in prefixes for line in text[p].splitlines())

        head, study = text["sinew"].split("study:\n")
        study = re.sub(r"  - dynamic: .*\n", under("dynamic"), study)
        whole = (f"{head}{under('rod', 'link').replace('  arm:', '  second:')}actuators:\n{under('tendon', 'chamber')}"
                 f"loads:\n{under('load')}contacts:\n{under('ground')}study:\n{study}")
        for model in (text["sinew"], whole, whole + "expect:\n" + under("expect")):
            self.assertEqual(self.judged(model), [])
            self.write("model.yaml", model)
            self.succeeds("check", "model.yaml")

    def test_it_is_written_to_a_file(self):
        self.assertEqual(self.succeeds("schema", "-o", "sinew.schema.json").out, "")
        self.assertEqual(json.loads((self.folder / "sinew.schema.json").read_text()), self.schema)
        self.assertEqual(self.sinew("schema", "-o", "no/folder.json").code, 2)


if __name__ == "__main__":
    unittest.main()
