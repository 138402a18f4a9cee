# SPDX-License-Identifier: MIT
"""sinew new: models to begin with; sinew help language: words that are searched."""
import re

import harness

TREE = harness.SOURCE
FAST = ("arm", "pendulum", "tubes")  # under sanitizers


class New(harness.Case):
    def test_templates_are_listed_with_what_they_are(self):
        listed = {t["name"]: t["about"] for t in self.succeeds("new", "--json").json["templates"]}
        self.assertEqual(sorted(listed), sorted(p.stem for p in (TREE / "templates").glob("*.yaml")))
        text = self.succeeds("new").out
        for name, about in listed.items():
            self.assertIn(f"  {name} ", text)
            self.assertIn(about, text)

    def test_every_template_runs_without_a_warning_and_keeps_its_energy(self):
        for name in (t["name"] for t in self.succeeds("new", "--json").json["templates"]):
            if harness.SLOW and name not in FAST:
                continue
            with self.subTest(name):
                self.assertIn(f"sinew run {name}.yaml", self.succeeds("new", name).out)
                text = (self.folder / f"{name}.yaml").read_text()
                self.assertNotIn("NAME", text)
                self.assertIn(f"#   sinew run {name}.yaml", text)
                result = self.succeeds("run", f"{name}.yaml", "--json")
                self.assertEqual(result.err, "")
                for run in result.json["runs"]:
                    self.assertLess(abs(run.get("balance") or 0), 1e-6)

    def test_a_file_that_exists_is_kept(self):
        self.write("arm.yaml", "mine")
        self.assertIn("'arm.yaml' exists", self.fails(2, "new", "arm").err)
        self.assertEqual((self.folder / "arm.yaml").read_text(), "mine")
        self.succeeds("new", "arm", "--force")
        self.succeeds("new", "arm", "-o", "other.yaml")
        self.assertIn("sinew run other.yaml", (self.folder / "other.yaml").read_text())
        self.assertTrue(self.succeeds("new", "arm", "-o", "-").out.startswith("# A soft arm"))

    def test_wrong_names_and_folders_are_told(self):
        self.assertIn("(did you mean 'finger'?)", self.fails(2, "new", "fingr").err)
        self.assertIn("nowhere/arm.yaml", self.fails(2, "new", "arm", "-o", "nowhere/arm.yaml").err)


class Search(harness.Case):
    def find(self, *words):
        return self.succeeds("help", "language", *words, "--json").json

    def test_a_word_of_the_field_leads_to_keys_commands_and_an_existing_page(self):
        for words, answer in (
            ("inverse kinematics", "sinew solve"),
            ("ik", "sinew solve"),
            ("workspace", "sinew workspace"),
            ("concentric", "tubes:"),
            ("gravity", "gravity:"),
            ("Buckling", "path"),
            ("LQR", "sinew linearize"),
        ):
            with self.subTest(words):
                topics = self.find(*words.split())["topics"]
                self.assertTrue(any(answer in t["answer"] for t in topics), topics)
                for topic in topics:
                    self.assertTrue((TREE / topic["page"]).is_file(), topic["page"])

    def test_every_topic_names_a_page_and_commands_that_exist(self):
        commands = {c["name"] for c in self.succeeds("help", "--json").json["commands"]}
        seen = set()
        for letter in "abcdefghijklmnopqrstuvwxyz":
            result = self.sinew("help", "language", letter, "--json")
            for topic in result.json.get("topics", []) if result.code == 0 else []:
                seen.add(topic["words"])
                self.assertTrue((TREE / topic["page"]).is_file(), topic["page"])
                for call in topic["answer"].split("'sinew ")[1:]:
                    self.assertIn(re.match(r"\w+", call)[0], commands)
        self.assertGreater(len(seen), 50)

    def test_keys_are_found_by_name_and_by_description(self):
        parts = self.find("young")["parts"]
        self.assertIn("material", [p["name"] for p in parts])
        self.assertTrue(all(any("young" in " ".join(row).lower() for row in p["rows"]) for p in parts))
        self.assertIn("'gravity' in descriptions", self.succeeds("help", "language", "gravity").out)

    def test_a_part_is_followed_by_the_subject_and_by_keys_of_its_name(self):
        text = self.succeeds("help", "language", "friction").out
        for words in ("friction (a friction)", "friction, coulomb, stick, slip", "ground (a ground)"):
            self.assertIn(words, text)

    def test_a_word_found_nowhere_gets_the_nearest(self):
        self.assertIn("did you mean 'concentric'", self.fails(2, "help", "language", "concentrik").err)
        self.assertIn("shows all", self.fails(2, "help", "language", "zzzzz").err)


if __name__ == "__main__":
    harness.main()
