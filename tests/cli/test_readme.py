# SPDX-License-Identifier: MIT
"""The commands of README.md work as printed."""
import re
import shlex

import harness


class Readme(harness.Case):
    def test_the_first_robot(self):
        text = (harness.SOURCE / "README.md").read_text()
        model = re.search(r"```yaml\n(.*?)```", text, re.S)[1]
        commands = [line.split("#")[0] for line in re.findall(r"^build/sinew (.*)$", text, re.M)]
        self.assertGreater(len(commands), 2)
        self.write("arm.yaml", model)
        for command in commands:
            with self.subTest(command=command):
                # no test opens a browser, and a command built without Node has no page to show
                args = [a for a in shlex.split(command) if a != "--open"]
                if args[0] != "view" or harness.has_viewer():
                    self.succeeds(*args)

    def test_pages_it_points_to_exist(self):
        for name in ("README.md", "CONTRIBUTING.md"):
            for target in re.findall(r"\]\(([^)#]+)\)", (harness.SOURCE / name).read_text()):
                with self.subTest(page=name, target=target):
                    self.assertTrue((harness.SOURCE / target).exists())


if __name__ == "__main__":
    harness.main()
