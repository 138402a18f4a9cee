# SPDX-License-Identifier: MIT
"""The code of docs/python.md and of the tutorial runs, in its order, with the model that the page gives."""

import contextlib
import io
import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "python.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    import sinew

    text = PAGE.read_text()
    monkeypatch.chdir(tmp_path)
    pathlib.Path("arm.yaml").write_text(re.search(r"```yaml\n(.*?)```", text, re.S).group(1))
    # smaller numbers, so that the test is short
    names = {"q0": sinew.Robot("arm.yaml").q.copy(), "tensions": [1.0] * 4}
    said = io.StringIO()
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        code = block.replace("4096", "4").replace("count=200", "count=2").replace('"count": 256', '"count": 4')
        with contextlib.redirect_stdout(said):
            try:
                exec(compile(code, str(PAGE), "exec"), names)
            except sinew.Error as failure:
                if "was built without" in str(failure) or "libcuda" in str(failure):
                    continue  # no live simulation, no graphics processor here
                pytest.fail(f"{failure} in\n{block}")
    # what the page says that it prints
    assert "<sinew.Robot 'A soft arm on a shoulder' at t = 0 s: nq 13, nv 13>" in said.getvalue()
    assert "'cord(1)' is in N, but '3 m' is in m" in said.getvalue()


def test_the_tutorial_runs(tmp_path, monkeypatch):
    text = (DOCS / "tutorials" / "python.md").read_text()
    monkeypatch.chdir(tmp_path)
    pathlib.Path("arm.yaml").write_text(re.search(r"```yaml live\n(.*?)```", text, re.S).group(1))
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, "tutorials/python.md", "exec"), names)  # it asserts its own statements
