# SPDX-License-Identifier: MIT
"""Searches over runs of a study: fits to measurements and optimisation, by the command `sinew`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

from . import _command

Paths = Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]]
Starts = Union[str, Iterable[str], Mapping[str, Union[str, float, None]]]


class Found(NamedTuple):
    """A value that was fitted."""

    path: str
    unit: str
    value: float
    standard_error: float | None
    """None: at a bound, or unknown."""
    low: float | None
    high: float | None
    """Confidence interval."""
    bound: str
    """That it is at: "", "low" or "high"."""


@dataclass(frozen=True)
class Fit:
    """Values of a model that fit measurements best."""

    found: tuple[Found, ...]
    reached: bool
    """False: the best fit misses a column."""
    chi2: float
    """Sum of the squares of (model - measured)/error."""
    variance: float
    """Of a residual: 1 if errors are known, else estimated."""
    intervals: str
    """Origin of the intervals, in words."""
    unobservable: tuple[dict[str, float], ...]
    """Relative changes of the values that no measurement shows."""
    reply: dict[str, Any]
    """All that `sinew fit --json` says."""

    @property
    def values(self) -> dict[str, float]:
        """By path, SI."""
        return {f.path: f.value for f in self.found}


class Best(NamedTuple):
    """A variable of an optimisation, or the value of a law at a knot."""

    name: str
    unit: str
    value: float
    start: float
    bound: str
    """That it is at: "", "low" or "high"."""
    price: float
    """Change of the least cost per unit by which that bound is moved."""
    idle: bool
    """Neither cost nor a constraint changes with it."""


class Limit(NamedTuple):
    """A constraint of an optimisation."""

    name: str
    value: float
    active: bool
    price: float
    """Change of the least cost per unit by which its limit is moved."""


@dataclass(frozen=True)
class Optimum:
    """A minimum of the cost of a study."""

    cost: float
    variables: tuple[Best, ...]
    constraints: tuple[Limit, ...]
    evaluations: int
    violation: float
    optimality: float
    """What remains of the gradient, relative to that at the start."""
    gradient: str
    """Its source: adjoint, forward or differences."""
    gradient_error: float
    """Estimated, relative."""

    @property
    def values(self) -> dict[str, float]:
        """By name, SI."""
        return {v.name: v.value for v in self.variables}


def _sets(option: str, given: Mapping[str, Any] | None) -> list[str]:
    return [word for path, value in (given or {}).items() for word in (f"--{option}", f"{path}={value}")]


def fit(
    model: str | os.PathLike[str],
    data: Paths = (),
    find: Starts = (),
    *,
    errors: Mapping[str, str | float] | None = None,
    known: bool = False,
    priors: Mapping[str, tuple[str | float, str | float]] | None = None,
    bounds: Mapping[str, tuple[str | float | None, str | float | None]] | None = None,
    robust: float | None = None,
    confidence: float | None = None,
    profile: bool = False,
    runs: Sequence[str] = (),
    set: Mapping[str, str | float] | None = None,
    output: str | os.PathLike[str] | None = None,
) -> Fit:
    """Values of a model file for which its study fits measurements best.

    `find`: paths as of overrides, with their starts if not those of the file. `errors`: by column or probe; `known`:
    they are standard deviations. `priors`: value and standard deviation by path. `bounds`: lowest and highest value,
    None for none. `robust`: residuals beyond so many errors count linearly. `confidence`: of the intervals, percent, 95
    unless given; `profile`: by profile likelihood. What is not given here the block `commands` of the file may have. A fit
    that misses the data raises `NotConverged`, whose `result` is that fit.
    """
    files = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    args = ["fit", os.fspath(model), *(os.fspath(f) for f in files)]
    starts = {find: None} if isinstance(find, str) else find if isinstance(find, Mapping) else dict.fromkeys(find)
    for path, start in starts.items():
        args += ["--find", path if start is None else f"{path}={start}"]
    args += _sets("error", errors) + _sets("set", set)
    args += _sets("prior", {p: f"{value} +- {sigma}" for p, (value, sigma) in (priors or {}).items()})
    ends = {p: tuple("" if e is None else e for e in pair) for p, pair in (bounds or {}).items()}
    args += _sets("bound", {p: f"{low}..{high}" for p, (low, high) in ends.items()})
    args += [word for run in runs for word in ("--run", run)]
    args += (["--known"] if known else []) + (["--profile"] if profile else [])
    args += [] if confidence is None else ["--confidence", f"{confidence:.17g}"]
    args += [] if robust is None else ["--robust", f"{robust:.17g}"]
    args += [] if output is None else ["-o", os.fspath(output)]
    return _fit(_command.call(*args, read=_fit, key="found"))


def _fit(reply: dict[str, Any]) -> Fit:
    return Fit(
        tuple(Found(*(f[key] for key in Found._fields)) for f in reply["found"]), reply["reached"], reply["chi2"],
        reply["variance"], reply["intervals"], tuple(reply["unobservable"]), reply)  # fmt: skip


def optimize(
    model: str | os.PathLike[str],
    *,
    run: str | None = None,
    set: Mapping[str, str | float] | None = None,
    gradient: str | None = None,
    evaluations: int | None = None,
    output: str | os.PathLike[str] | None = None,
    result: str | os.PathLike[str] | None = None,
    log: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Optimum:
    """The variables of the block `optimize` of a model file for which its cost is least.

    `gradient`: adjoint, forward or differences instead of the choice of the command. `output`: a model file with the
    values; `result`: result file of the run with them. `log`: table of all evaluations, from which `resume` goes on
    with an interrupted search. A search that finds no minimum raises `NotConverged`, whose `result` is the
    last point.
    """
    args = ["optimize", os.fspath(model), *_sets("set", set)]
    for option, value in (("run", run), ("gradient", gradient), ("evaluations", evaluations)):
        args += [] if value is None else [f"--{option}", str(value)]
    for option, file in (("output", output), ("result", result), ("log", log)):
        args += [] if file is None else [f"--{option}", os.fspath(file)]
    return _optimum(_command.call(*args, *(["--resume"] if resume else []), read=_optimum, key="variables"))


def _optimum(reply: dict[str, Any]) -> Optimum:
    return Optimum(
        reply["cost"], tuple(Best(*(v[key] for key in Best._fields)) for v in reply["variables"]),
        tuple(Limit(c["value_of"], c["value"], c["active"], c["price"]) for c in reply["constraints"]),
        *(reply[key] for key in ("evaluations", "violation", "optimality", "gradient", "gradient_error")))  # fmt: skip
