# SPDX-License-Identifier: MIT
"""Numbers with units: texts such as "2 MPa" are read by the library, with the units of the model language."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import cast

import numpy as np

from ._core import Part, real
from ._errors import ArgumentError, ModelError
from ._model import Model
from ._types import Inputs, Numbers, Rows


class Quantity(float):
    """A number in SI units that knows its unit: a `float`, with `unit` and `to("MPa")`."""

    unit: str
    """SI unit; empty for plain numbers."""

    def __new__(cls, value: float, unit: str = "") -> "Quantity":
        self = super().__new__(cls, value)
        self.unit = unit
        return self

    def to(self, unit: str) -> float:
        """The number in another unit of the same kind: `robot.parameters["E"].to("MPa")`."""
        factor, kind = read(f"1 {unit}")
        if kind != read(f"1 {self.unit}")[1]:
            raise ArgumentError(f"the value is in {self.unit or 'plain numbers'}, which is no multiple of '{unit}'")
        return float(self) / factor

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.unit

    def __repr__(self) -> str:
        return f"{float(self):g} {self.unit}".rstrip()

    __str__ = __repr__


@lru_cache(maxsize=1024)
def read(text: str) -> tuple[float, str]:
    """Value in SI units and SI unit of a text such as "2 MPa" or "3*2 N", as a model file would read it."""
    try:
        tree = {"sinew": 1, "robot": {"body": {"on": "world", "body": {"mass": 1}}}, "parameters": {"value": text}}
        return Model(text=json.dumps(tree), name="value").quantity("value")
    except ModelError as failure:
        raise ArgumentError(f"'{text}' is no number with a unit: {failure.text}") from None


def si(value: Inputs, unit: str | None, name: str) -> Numbers:
    """Numbers in SI units of what was given for `name`: numbers as they are, texts by their units, lists of both.

    `unit`: the unit that is wanted; None where the numbers have several units, so that a text cannot be checked.
    """
    if isinstance(value, Quantity):
        if unit is not None and value.unit and read(f"1 {value.unit}")[1] != read(f"1 {unit}")[1]:
            raise ArgumentError(f"'{name}' is in {unit or 'plain numbers'}, but {value} is given")
        return float(value)
    if isinstance(value, str):
        if unit is None:
            raise ArgumentError(f"the inputs of '{name}' have several units: give plain numbers in SI units, not '{value}'")
        number, given = read(value)
        if given != read(f"1 {unit}")[1] and not _plain(value):
            wanted = unit or "a plain number"
            raise ArgumentError(f"'{name}' is in {wanted}, but '{value}' is in {given or 'plain numbers or angles'}")
        return number
    if isinstance(value, (list, tuple)) and any(isinstance(x, (str, Quantity)) for x in value):
        return np.array([si(x, unit, name) for x in value], dtype=np.float64)
    return cast(Numbers, value)  # without texts


def seconds(value: float | str, name: str) -> float:
    """A time in s from a number or a text with a unit."""
    return float(real(si(value, "s", name), name))


def _plain(text: str) -> bool:
    """Is the text a number without a unit, which counts as SI?"""
    try:
        float(text)
    except ValueError:
        return False
    return True


def inputs(part: Part, value: Inputs) -> Numbers:
    """Inputs of an actuator in SI units, from numbers or texts with units."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        value = value.tolist()
    if not isinstance(value, (str, list, tuple, Quantity)):
        return cast(Numbers, value)
    return si(value, None if part.size > 1 and not part.unit else part.unit, part.name)


def rows(part: Part, value: Rows | Inputs) -> object:
    """Inputs of an actuator of several robots in SI units, from numbers, texts with units, or lists of lists of these."""
    if isinstance(value, (list, tuple)) and any(isinstance(row, (list, tuple)) for row in value):
        return [inputs(part, cast(Inputs, row)) for row in value]
    return inputs(part, cast(Inputs, value))


_OF_MOTION = {"shortening": "N", "volume": "Pa", "gas": "Pa", "rad": "N*m", "rad/s": "N*m", "m": "N", "m/s": "N"}


def effort_of(part: Part, value: float) -> Quantity:
    """Effort of an actuator with its unit, which is that of its inputs unless these prescribe a motion."""
    of_joint = part.type in ("position", "rate")
    return Quantity(value, _OF_MOTION.get(part.unit if of_joint else part.type, "" if of_joint else part.unit))
