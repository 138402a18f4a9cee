# SPDX-License-Identifier: MIT
"""Inverse statics and kinematics: inputs of actuators for desired values of probes in equilibrium."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Union

import numpy as np

from ._core import new_error, number, pair, raise_error, real, text
from ._errors import ArgumentError
from ._sinew import ffi, lib
from ._types import Array, Names, Numbers, Pointer

Limits = Mapping[str, tuple[Union[float, None], Union[float, None]]]
"""Lowest and highest value by the name of an actuator or input; None: no limit."""
Targets = Mapping[str, Numbers]
"""Desired values by the name of a probe or column."""
Named = Mapping[str, float]
"""Numbers by name."""


class Actuation(NamedTuple):
    """An input that was found."""

    name: str
    unit: str
    value: float
    before: float
    """At the call."""
    low: float
    high: float
    """Limits that held, with the rate."""
    limit: str
    """That it is at: "", "low", "high", or "fall", "rise" by its rate."""
    multiplier: float
    """Fall of the weighted distance per unit by which that limit is moved outwards; 0 when the target is reached."""
    goal: float
    """Fall of the second goal per unit, likewise."""
    unit_of_motion: float
    """In which the second goal measures it."""


class Target(NamedTuple):
    """A column of a probe with its desired value."""

    name: str
    unit: str
    target: float
    value: float
    error: float
    """value - target; of a rotation the vector of the rotation from the target."""
    weight: float
    """Per unit."""


@dataclass(frozen=True)
class InverseSolution:
    """Inputs for which probes are nearest to their targets in equilibrium, within limits."""

    reached: bool
    distance: float
    """sqrt(sum((weight error)^2))."""
    inputs: tuple[Actuation, ...]
    targets: tuple[Target, ...]
    gain: Array
    """Derivatives of the targets by the inputs, in equilibrium."""
    goal: float
    """Second goal: sum of the squares of (value - rest)/unit of motion."""
    stability: float
    """Of the equilibrium; 0: it is about to buckle."""
    dexterity: float
    """Smallest singular value of the weighted gain relative to the largest; 0: some target cannot be changed."""
    ended: bool
    """The search stopped where the branch of equilibria ends or becomes unstable, short of the target."""
    exact: bool
    """False: some derivatives are differences of order 6."""
    equilibria: int
    path: int
    """Parts into which the way to the target was divided."""

    @property
    def values(self) -> dict[str, float]:
        """Inputs by name, SI."""
        return {a.name: a.value for a in self.inputs}

    @property
    def active(self) -> tuple[Actuation, ...]:
        """Inputs at a limit."""
        return tuple(a for a in self.inputs if a.limit)

    def __repr__(self) -> str:
        found = "reached" if self.reached else f"not reached, {self.distance:.3g} away"
        return f"<sinew.InverseSolution: {found}; {', '.join(f'{k} = {v:.6g}' for k, v in self.values.items())}>"


_LIMITS = ("", "low", "high", "fall", "rise")


def with_limits(names: Names | Limits, limits: Limits) -> tuple[Names, Limits]:
    """Names and limits apart, where names may be given with their limits."""
    return (list(names), {**names, **limits}) if isinstance(names, Mapping) else (names, limits)


def choose_actuators(everything: list[str], names: Names | Limits, limits: Limits, rates: Mapping[str, float],
                     rest: Mapping[str, float]) -> list[tuple[str, float, float, float, float]]:  # fmt: skip
    """Name, low, high, rate, rest of the actuators and inputs that may change; `everything`: all actuators."""
    names, limits = with_limits(names, limits)
    chosen = [names] if isinstance(names, str) else list(everything if names is None else names)
    if names is not None and not chosen:
        raise ArgumentError("no actuators are given; None means all")
    own = []  # inputs of a chosen actuator with limits of their own
    for name in [*limits, *rates, *rest]:
        if name not in chosen and name.rpartition(".")[0] not in chosen:
            raise ArgumentError(f"'{name}' has a limit, rate or rest, but is not among the actuators {', '.join(chosen)}")
        if name not in chosen and name not in own:
            own.append(name)
    return [(name, *pair(limits.get(name, (None, None)), name), number(rates.get(name), name), number(rest.get(name), name))
            for name in chosen + own]  # fmt: skip


def solve_inverse(robot: Pointer, targets: Mapping[str, Numbers], weights: Mapping[str, float],
                  rows: list[tuple[str, float, float, float, float]], interval: float, time: float,
                  tolerance: float) -> InverseSolution:  # fmt: skip
    """The solution of a robot of the library."""
    err = new_error()
    if interval == 0 and any(not math.isnan(row[3]) for row in rows):
        raise ArgumentError("rates hold over a time: give interval, s")
    how = ffi.new("snw_inverse_options *", lib.snw_inverse_defaults())
    unknown = [name for name in weights if name not in targets]
    if unknown:
        raise ArgumentError(f"'{unknown[0]}' has a weight, but no target")
    kept: list[Pointer] = []
    wanted = ffi.new("snw_inverse_target[]", len(targets) or 1)
    for at, (name, given) in zip(wanted, targets.items()):
        values = np.atleast_1d(real(given, name)).astype(np.float64).ravel()
        kept += [ffi.new("char[]", name.encode()), ffi.new("double[]", values.tolist())]
        at.output, at.n, at.value = kept[-2], len(values), kept[-1]
        at.weight = number(weights.get(name), name)
    actuators = ffi.new("snw_inverse_actuator[]", len(rows) or 1)
    for to, (name, low, high, rate, rest) in zip(actuators, rows):
        kept.append(ffi.new("char[]", name.encode()))
        to.name, to.low, to.high, to.rate, to.rest = kept[-1], low, high, rate, rest
    how.ntarget, how.target = len(targets), wanted
    how.nactuator, how.actuator = len(rows), actuators
    how.interval, how.time, how.tolerance = interval, time, tolerance
    out = ffi.new("snw_inverse_result **")
    if lib.snw_robot_solve_inverse(robot, how, out, err) != lib.SNW_OK:
        raise_error(err)
    m = out[0]
    try:
        return copy_solution(m)
    finally:
        lib.snw_inverse_close(m)


def copy_solution(m: Pointer) -> InverseSolution:
    """A result of the library, which it may close afterwards."""
    inputs = tuple(
        Actuation(text(a.name), text(a.unit), a.value, a.before, a.low, a.high, _LIMITS[a.limit], a.multiplier,
                  a.goal, a.unit_of_motion)
        for a in m.input[0 : m.ninput]
    )  # fmt: skip
    outputs = tuple(
        Target(text(o.name), text(o.unit), o.target, o.value, o.error, o.weight) for o in m.output[0 : m.noutput]
    )
    numbers = np.frombuffer(ffi.buffer(m.gain, 8 * m.ninput * m.noutput), dtype=np.float64)
    gain = numbers.reshape((m.noutput, m.ninput), order="F").copy()
    return InverseSolution(bool(m.reached), m.distance, inputs, outputs, gain, m.goal, m.stability, m.dexterity,
                           bool(m.ended), bool(m.exact), m.equilibria, m.path)  # fmt: skip
