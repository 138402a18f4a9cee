# SPDX-License-Identifier: MIT
"""Every example of examples/python runs through, and says what it found."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples" / "python").glob("*.py"))


# Numbers of robots that take less time than those of the example itself.
ARGUMENTS = {"many_arms": ["64"]}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path, tmp_path):
    assert len(path.read_text().splitlines()) < 60
    done = subprocess.run([sys.executable, path, *ARGUMENTS.get(path.stem, [])], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout
