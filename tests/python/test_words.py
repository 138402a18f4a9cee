# SPDX-License-Identifier: MIT
"""What a reader of the package meets: docstrings with units, and types."""

import ast
import inspect
import pathlib
import re
import shutil
import subprocess
from functools import cached_property

import pytest

import sinew
import sinew.gym
from sinew._sinew import ffi, lib

PACKAGE = pathlib.Path(sinew.__file__).parent
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "python" / "sinew"
# a unit in parentheses, at the end or before a comma, or a word that says there is none, or that it is a probe's
UNIT = re.compile(r"(?<![\w'.])(SI|m|mm|s|Hz|N|N m|N\*m|Pa|J|W|kg|rad|rad/s|m/s|1/m|m/s\^2|m\^3|mol|plain|number|numbers|fraction|ratio|ratios"
                  r"|matrix|derivative|derivatives|relative|factor|mask|probe|rewards|pixels|indices|index)\b")  # fmt: skip
QUANTITY = re.compile(r"float|Array|np.ndarray|Quantity|Energy|Modes|tuple.(Array|np.ndarray|float)|dict.str, (Array|np.ndarray|float)")

# methods that Gymnasium's own pages describe
GYMNASIUM = {"reset", "step", "close", "render", "seed", "sample", "contains"}


def public_names():
    """Names of the package and of `sinew.gym`, and what they are."""
    yield from ((f"sinew.{name}", getattr(sinew, name)) for name in sinew.__all__)
    for name, thing in vars(sinew.gym).items():
        if not name.startswith("_") and getattr(thing, "__module__", "") == "sinew.gym":
            yield f"sinew.gym.{name}", thing


def members():
    """The above, and the methods and properties of classes."""
    for name, thing in public_names():
        yield name, thing
        for base in thing.__mro__ if inspect.isclass(thing) else ():
            for member, value in vars(base).items() if base.__module__.startswith("sinew") else ():
                if member in GYMNASIUM and thing.__module__ == "sinew.gym":
                    continue
                if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, (property, cached_property))):
                    yield f"{name}.{member}", getattr(thing, member) if inspect.isroutine(value) else value


def result_of(thing):
    """Annotation of what a function or property returns."""
    function = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    return str(getattr(function, "__annotations__", {}).get("return", ""))


def test_every_public_name_has_a_docstring_with_units():
    faults = []
    for name, thing in members():
        text = inspect.getdoc(thing) or ""
        if not text.strip():
            faults.append(f"{name} has no docstring")
        elif QUANTITY.match(result_of(thing)) and not UNIT.search(text):
            faults.append(f"{name} returns {result_of(thing)}, but its docstring names no unit: {text}")
    assert not faults, "\n".join(faults)


def test_help_reads_well():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(sinew.Robot))
    assert "A robot made from a model" in text
    # what helps: the call with its arguments, then a sentence; nothing private, no memory addresses
    assert "pose(self, place: " in text and "equilibrium(self, t: " in text
    assert not re.search(r"0x[0-9a-f]{6}", text)
    # the longest call, track, has fifteen arguments with their types on one line
    assert max(len(line) for line in text.splitlines()) < 365


# a user's program, which the types must let pass as it stands
PROGRAM = """
import numpy as np
import sinew
from sinew import gym

arm = sinew.Robot("arm.yaml", set={"E": "2 MPa", "gravity": [0, 0, -9.81], "on": True})
arm.parameters["E"] = arm.parameters["E"].to("MPa") * 1e6
arm.q[[arm.coordinates["a"], arm.coordinates["b"]]] = 0.3
arm.q[arm.coordinates["arm"]] = [0.1, 0.2]
arm.controls["cord"] = "3 N"
arm.controls["pair"] = ["3 N", 2.0]
arm.controls["cord"] = lambda robot: 2.0 - robot.probe("tip")[0]
arm.controls.update({"cord": 2.0})
print(arm.controls["cord"].unit, arm.probe("tip")[0] + 1.0, arm.probe("angle") + 1.0, arm.energy().total)
batch = sinew.Batch(arm, 4)
batch.parameters["E"] = np.linspace(1e6, 2e6, 4)
batch.controls["pair"] = [[1.0, 2.0]] * 4
batch.controls["cord"] = "3 N"
batch.controls["cord"] = ["3 N", "2 N", "1 N", "4 N"]
batch.q = np.zeros((4, batch.nq))
arm.simulate("5 ms").step()
batch.start(5e-3, rho=0.9, at=~batch.failed)
print(sinew.run({"robot": {}}, progress=lambda step, t, fraction: None)["tip"][:, 0], batch.robots[1:3][0].q)
env = gym.make("Reach", silicone__young="1 MPa")
observation, info = env.reset(seed=1)
print(gym.score(env, env.baseline()), env.step(env.baseline()(observation)), env.action_space.sample())
"""


@pytest.mark.skipif(shutil.which("mypy") is None, reason="types are not checked: mypy is not installed")
def test_types(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    for what in ([], ["--no-warn-return-any", tmp_path / "program.py"]):
        done = subprocess.run([shutil.which("mypy"), "--cache-dir", tmp_path, *what], cwd=SOURCES.parents[1],
                              capture_output=True, text=True)  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_every_public_function_says_its_types():
    """What can be seen without mypy: each argument and each result of a public function has a type."""
    for path in sorted(SOURCES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                given = [a for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs if a.arg not in ("self", "cls")]
                bare = [a.arg for a in given if a.annotation is None]
                assert not bare and node.returns is not None, f"{path.name}:{node.lineno}: {node.name} {bare}"


def test_the_types_of_the_library_are_those_of_its_functions():
    """What _sinew.pyi says by hand against what CFFI read in the headers."""
    numbers = {"int": "int", "size_t": "int", "double": "float"}
    library = next(node for node in ast.parse((SOURCES / "_sinew.pyi").read_text()).body if getattr(node, "name", "") == "_Library")
    functions = [node for node in library.body if isinstance(node, ast.FunctionDef) and node.name != "__getattr__"]
    assert len(functions) > 10
    for node in functions:
        kind = ffi.typeof(getattr(lib, node.name))
        assert node.returns.id == numbers[kind.result.cname], node.name
        assert len(node.args.args) == 1 + len(kind.args), node.name


def test_the_types_are_installed_with_the_package():
    assert (PACKAGE / "py.typed").is_file() and (PACKAGE / "_sinew.pyi").is_file()
