# SPDX-License-Identifier: MIT
"""Gradients of studies: derivatives of results by parameters, initial values and laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Union

import numpy as np

from ._core import OfThisProcess, c_text, doubles, new_error, raise_error, text
from ._errors import ArgumentError
from ._model import Model, model_of
from ._sinew import ffi, lib
from ._types import Array, Numbers, Overrides, Path


class Knots(NamedTuple):
    """A law of the file, replaced by the one through values at these times."""

    law: str
    """Its path, as `set` names it: "drive.effort"."""
    times: Numbers
    rule: str = "smooth"
    """Between knots: "hold", "linear" or "smooth" (poly5)."""
    unit: str = ""
    """Of the values."""


Variable = Union[str, Knots]
RULES = ("hold", "linear", "smooth")
METHODS = ("auto", "adjoint", "forward", "differences")


class GradientReport(NamedTuple):
    """Of the last evaluation."""

    method: str
    steps: int
    recomputed: int
    """Steps done again because of the bound on memory."""
    error: float
    """Largest estimated error of parameter times derivative, relative to the largest of these and of the scalars."""
    run_seconds: float
    gradient_seconds: float
    sampled: tuple[str, ...]
    """Variables by which each step was differentiated alone, at a cost of their own; all others cost nothing each."""
    sweeps: int
    """Over the run, back or forward."""
    models: int
    """Compiled besides that of the run, at other values of the variables."""
    differenced_steps: int = 0
    """Steps whose equations were differentiated by differences along all coordinates, which is dear."""
    differenced_results: int = 0
    """Instants at which results were."""
    cut_steps: int = 0
    """Steps whose lengths the motion chose (contacts, stops, starts, errors). These are of a fixed scale: results jump
    where a variable changes one, and derivatives are those between two jumps."""
    cut_effect: float = 0
    """Change of the derivatives of a scalar, relative to the largest, by other lengths of these steps; with
    `cut_effect=True`. NaN: there are none by these."""


class Gradient(OfThisProcess):
    """Scalars of a study and their derivatives by variables; `of` and `by` as those of `sinew gradient`.

    `of`: an expression or several, such as "end(tip.x)", "integral(tip.z^2)", "at(0.5, tip.x)". `by`: names of numbers of
    the file, "q(coordinate)" and "v(coordinate)" of the initial state, `Knots` of laws. `memory`: bytes for states of the
    run; beyond it steps are computed again. `cut_effect`: find that of the report, by the derivatives of a second run
    where there are cut steps.
    """

    _instead = "open it again in the other process"

    def __init__(self, model: Model | Path, of: str | Sequence[str], by: Variable | Sequence[Variable], *,
                 run: str | None = None, set: Overrides | None = None, method: str = "auto", memory: float = 256e6,
                 cut_effect: bool = False):  # fmt: skip
        self._model = model_of(model, run=run, set=set)
        scalars = [of] if isinstance(of, str) else list(of)
        variables = [by] if isinstance(by, (str, Knots)) else list(by)
        if method not in METHODS:
            raise ArgumentError(f"method is one of {', '.join(METHODS)}, not {method!r}")
        how, kept = ffi.new("snw_gradient_options *", lib.snw_gradient_defaults()), []
        names = [ffi.new("char[]", c_text(s, "a scalar")) for s in scalars]
        texts = ffi.new("const char *[]", names)  # kept until the call
        how.scalar, how.nscalar = texts, len(names)
        listed = ffi.new("snw_gradient_variable[]", max(len(variables), 1))
        for entry, variable in zip(listed, variables):
            path = variable.law if isinstance(variable, Knots) else variable
            kept.append(ffi.new("char[]", c_text(path, "a variable")))
            entry.name = kept[-1]
            if not isinstance(variable, Knots):
                continue
            if variable.rule not in RULES:
                raise ArgumentError(f"the rule of knots is one of {', '.join(RULES)}, not {variable.rule!r}")
            times = np.ascontiguousarray(variable.times, dtype=float).ravel()
            kept += [times, doubles(times), ffi.new("char[]", c_text(variable.unit, "the unit of knots"))]
            entry.nknot, entry.knot, entry.unit = len(times), kept[-2], kept[-1]
            entry.rule = RULES.index(variable.rule)
        how.variable, how.nvariable = listed, len(variables)
        how.method, how.memory, how.cut_effect = METHODS.index(method), memory, int(cut_effect)
        out, err = ffi.new("snw_gradient **"), new_error()
        if lib.snw_gradient_create(self._model._m, how, out, err) != lib.SNW_OK:
            raise_error(err)
        self._g = ffi.gc(out[0], lib.snw_gradient_close)
        self.scalars: tuple[str, ...] = tuple(scalars)
        size = lib.snw_gradient_size(self._g)
        self.variables: tuple[str, ...] = tuple(text(lib.snw_gradient_name(self._g, k)) for k in range(size))
        self.units: tuple[str, ...] = tuple(text(lib.snw_gradient_unit(self._g, k)) for k in range(size))

    @property
    def start(self) -> Array:
        """Values of the variables in the file, SI."""
        p, err = np.zeros(len(self.variables)), new_error()
        if lib.snw_gradient_start(self._g, doubles(p), err) != lib.SNW_OK:
            raise_error(err)
        return p

    def _values(self, p: Numbers | Mapping[str, float] | None) -> Array:
        if isinstance(p, Mapping):
            values = self.start
            for name, value in p.items():
                if name not in self.variables:
                    raise ArgumentError(f"there is no variable {name!r}; they are {', '.join(self.variables)}")
                values[self.variables.index(name)] = value
            return values
        values = self.start if p is None else np.array(p, dtype=float).ravel()
        if len(values) != len(self.variables):
            raise ArgumentError(f"p has {len(self.variables)} values, not {len(values)}")
        return values

    def value(self, p: Numbers | Mapping[str, float] | None = None) -> Array:
        """The scalars at p, SI, by a run of the study; the values of the file unless given."""
        values, J, err = self._values(p), np.zeros(len(self.scalars)), new_error()
        if lib.snw_gradient_evaluate(self._g, doubles(values), doubles(J), ffi.NULL, err) != lib.SNW_OK:
            raise_error(err)
        return J

    def __call__(self, p: Numbers | Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """The scalars at p and their derivatives, one row for each scalar."""
        values, J, err = self._values(p), np.zeros(len(self.scalars)), new_error()
        dJ = np.zeros((len(self.scalars), len(self.variables)))
        if lib.snw_gradient_evaluate(self._g, doubles(values), doubles(J), doubles(dJ), err) != lib.SNW_OK:
            raise_error(err)
        return J, dJ

    @property
    def report(self) -> GradientReport:
        """What the last evaluation did."""
        info = lib.snw_gradient_report(self._g)
        sampled = tuple(name for k, name in enumerate(self.variables) if lib.snw_gradient_sampled(self._g, k))
        return GradientReport(METHODS[info.method], info.steps, info.recomputed, info.error, info.run_seconds,
                              info.gradient_seconds, sampled, info.sweeps, info.models,
                              info.differenced_steps, info.differenced_results, info.cut_steps,
                              info.cut_effect)  # fmt: skip


def gradient(model: Model | Path, of: str | Sequence[str], by: Variable | Sequence[Variable], *, run: str | None = None,
             set: Overrides | None = None) -> tuple[Array, Array]:  # fmt: skip
    """Scalars of a study and their derivatives, at the values of the file: `Gradient(..)()`."""
    return Gradient(model, of, by, run=run, set=set)()
