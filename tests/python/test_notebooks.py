# SPDX-License-Identifier: MIT
"""Every notebook of examples/python/notebooks is executed without a browser."""

import json
import pathlib
import subprocess
import sys

import pytest

NOTEBOOKS = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples" / "python" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(path, tmp_path):
    for module, package in (("nbconvert", "jupyter-nbconvert"), ("ipykernel", "python3-ipykernel"), ("matplotlib", "python3-matplotlib")):
        pytest.importorskip(module, reason=f"notebooks are not run: {package} is not installed")
    plain = json.loads(path.read_text())
    assert all(not c.get("outputs") for c in plain["cells"]), "notebooks are kept without their outputs"
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", tmp_path, path],
                          cwd=tmp_path, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads((tmp_path / path.name).read_text())["cells"]
    outputs = [o for c in cells for o in c.get("outputs", [])]
    assert any("image/png" in o.get("data", {}) for o in outputs), "a notebook has curves"
