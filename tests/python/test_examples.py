# SPDX-License-Identifier: MIT
"""Every example of examples/python runs through, and says what it found."""

import pathlib
import subprocess
import sys

import pytest

import sinew

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples" / "python").glob("*.py"))


# Numbers of robots, and a duration, that take less time than those of the example itself.
ARGUMENTS = {"many_arms": ["64"], "live_circle": ["0.5"]}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path, tmp_path):
    assert len(path.read_text().splitlines()) < 60
    if path.stem == "live_circle":
        without = subprocess.run([sinew.command_path(), "play", "/nonexistent.yaml"], capture_output=True, text=True)
        if "was built without" in without.stderr:
            pytest.skip("the command was built without libwebsockets or Node: no live simulation")
    done = subprocess.run([sys.executable, path, *ARGUMENTS.get(path.stem, [])], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
