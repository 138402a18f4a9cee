# SPDX-License-Identifier: MIT
"""A model: one run of a model file, read and checked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from ._core import OfThisProcess, Part, Parts, c_text, file_name, file_path, new_error, override_list, plain, raise_error, text
from ._errors import ArgumentError, ModelError
from ._sinew import ffi, lib
from ._types import Overrides, Path, Pointer, Value


class Coordinates(Mapping[str, "int | slice"]):
    """Where coordinates are in `q`: the name of a coordinate gives its index, the name of a link its slice."""

    def __init__(self, coordinates: Parts, links: Parts):
        self._coordinates, self._links = coordinates, links

    def __getitem__(self, name: str) -> int | Any:  # slice where it is a link, which only the file tells
        if name in self._links and name not in self._coordinates:
            return self._links[name].q
        return self._coordinates[name].index

    def info(self, name: str) -> Part:
        """Kind, unit and indices of a coordinate."""
        return self._coordinates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._coordinates)

    def __len__(self) -> int:
        return len(self._coordinates)

    def __repr__(self) -> str:
        return repr(self._coordinates)


class Source(NamedTuple):
    """What a model was read from, so that the command can read it again."""

    path: str | None
    text: str | None
    run: str | None
    set: dict[str, Value]

    def changed(self, set: Overrides) -> "Source":
        """The same with further overrides."""
        return self._replace(set={**self.set, **set})


def dict_text(tree: Mapping[str, Any]) -> str:
    """Dictionaries and lists with the keys of the model language as the text of a model."""
    if not isinstance(tree, Mapping):
        raise TypeError(f"a model is a dictionary with the keys of the model language, not {type(tree).__name__}")
    return json.dumps({"sinew": 1, **tree}, default=plain)


class Model(OfThisProcess):
    """One run of a model file, read and checked. It never changes; robots and threads may share it.

    `path`: a model file; or `text`: its text (YAML or JSON). `run`: the name of one of its runs, the first unless
    given. `set`: overrides {path: value}, such as {"silicone.young": "2 MPa"}; numbers without a unit are SI. `name`: what
    messages call a text.
    """

    _instead = "it never changes, so share it, or open its file again in the other process"

    def __init__(self, path: Path | None = None, *, text: str | None = None, run: str | None = None,
                 set: Overrides | None = None, name: str | None = None):  # fmt: skip
        if (path is None) == (text is None):
            raise TypeError("give either the path of a model file or text=")
        if path is not None and name is not None:
            raise TypeError("a file has its name already; name= is for a text")
        out, err = ffi.new("snw_robot_model **"), new_error()
        count, values, _kept = override_list(set)
        run_name = c_text(run, "run") if run is not None else ffi.NULL
        if path is not None:
            status = lib.snw_robot_model_open(file_path(path), run_name, count, values, out, err)
        else:
            if not isinstance(text, str):
                raise TypeError(f"text is a text, not {type(text).__name__}")
            data, called = text.encode(), c_text("model" if name is None else name, "name")
            status = lib.snw_robot_model_parse(called, data, len(data), run_name, count, values, out, err)
        if status != lib.SNW_OK:
            raise_error(err, set or ())
        self._set(out[0], Source(None if path is None else file_name(path), text, run, dict(set or {})))

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, _memo: object) -> "Model":
        return self

    def _set(self, pointer: Pointer, source: Source | None) -> None:
        self._m = ffi.gc(pointer, lib.snw_robot_model_close)
        self._source = source

    @classmethod
    def _of(cls, pointer: Pointer, source: Source | None = None) -> "Model":
        """A model object for a reference that it then owns."""
        model = cls.__new__(cls)
        model._set(pointer, source)
        return model

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], *, run: str | None = None, set: Overrides | None = None,
                  name: str | None = None) -> "Model":  # fmt: skip
        """A model from dictionaries and lists with the keys of the model language."""
        return cls(text=dict_text(tree), run=run, set=set, name=name)

    def changed(self, set: Overrides) -> "Model":
        """The model with other values of parameters; its structure must stay the same."""
        out, err = ffi.new("snw_robot_model **"), new_error()
        count, values, _kept = override_list(set)
        if lib.snw_robot_model_change(self._m, count, values, out, err) != lib.SNW_OK:
            raise_error(err, set)
        return Model._of(out[0], self._source and self._source.changed(set))

    @property
    def title(self) -> str:
        """Title of the model file."""
        return text(lib.snw_robot_model_title(self._m))

    @property
    def run(self) -> str:
        """Name of the run."""
        return text(lib.snw_robot_model_run(self._m))

    def value(self, path: str) -> float:
        """Value in SI units of what an override of `path` would replace."""
        return self.quantity(path)[0]

    def quantity(self, path: str) -> tuple[float, str]:
        """Value and SI unit of what an override of `path` would replace."""
        value, unit, err = ffi.new("double *"), ffi.new("char[48]"), new_error()
        if lib.snw_robot_model_value(self._m, c_text(path, "the path of a value"), value, unit, err) != lib.SNW_OK:
            raise_error(err, [path])
        return value[0], text(unit)

    def has(self, path: str) -> bool:
        """Does the file give a value that an override of `path` would replace?"""
        try:
            self.quantity(path)
        except (ModelError, ArgumentError):
            return False
        return True

    def _parts(self, kind: str) -> Parts:
        return Parts(self._m, kind)

    @cached_property
    def links(self) -> Parts:
        """Links, parents before children."""
        return self._parts("link")

    @cached_property
    def joints(self) -> Parts:
        """Joints that move, named as their links."""
        return self._parts("joint")

    @cached_property
    def rods(self) -> Parts:
        """Rods, named as their links."""
        return self._parts("rod")

    @cached_property
    def nodes(self) -> Parts:
        """Nodes, in the order of the frames of result files; by number, since nodes of a link share its name."""
        return self._parts("node")

    @cached_property
    def sites(self) -> Parts:
        """Named sites."""
        return self._parts("site")

    @cached_property
    def loops(self) -> Parts:
        """Loop closures and contacts without slip."""
        return self._parts("loop")

    @cached_property
    def actuators(self) -> Parts:
        """Actuators; `type` is the prescribed quantity: effort, position, tension, shortening, pressure, .."""
        return self._parts("actuator")

    @cached_property
    def loads(self) -> Parts:
        """Loads."""
        return self._parts("load")

    @cached_property
    def contacts(self) -> Parts:
        """Grounds."""
        return self._parts("contact")

    @cached_property
    def springs(self) -> Parts:
        """Springs, cables, dampers and bushings; `type` says which, `value` is the rest length."""
        return self._parts("spring")

    @cached_property
    def probes(self) -> Parts:
        """Probes of the file; `numbers` are their columns."""
        return self._parts("probe")

    @cached_property
    def columns(self) -> Parts:
        """Columns of the probes, such as `tip.x`."""
        return self._parts("column")

    @cached_property
    def parameter_parts(self) -> Parts:
        """Parameters of the section `parameters:`."""
        return self._parts("parameter")

    @cached_property
    def steps(self) -> Parts:
        """Steps of the study."""
        return self._parts("step")

    @cached_property
    def runs(self) -> Parts:
        """Runs of the file."""
        return self._parts("run")

    @cached_property
    def coordinates(self) -> Coordinates:
        """Where coordinates are in `q`: by name of a coordinate (index) or of a link (slice)."""
        return Coordinates(self._parts("coordinate"), self.links)

    def __repr__(self) -> str:
        return (f"<sinew.Model '{self.title or self.run}': {len(self.links)} links, {len(self.coordinates)} coordinates, "
                f"{len(self.actuators)} actuators, {len(self.probes)} probes>")  # fmt: skip


def model_of(given: Model | Path | None, *, text: str | None = None, run: str | None = None,
             set: Overrides | None = None) -> Model:  # fmt: skip
    """The model of a constructor that takes a model file, its text, or a `Model` with or without further overrides."""
    if not isinstance(given, Model):
        return Model(given, text=text, run=run, set=set)
    if text is not None or run is not None:
        raise TypeError("a Model has its text and its run already: leave out text= and run=, or give the path of its file")
    return given.changed(set) if set else given
