# SPDX-License-Identifier: MIT
"""Linear models of a robot about a state: matrices, names, poles."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ._core import new_error, raise_error, text
from ._errors import ArgumentError
from ._sinew import ffi, lib
from ._types import Array, Names, Pointer, Roots


class Signal(NamedTuple):
    """A state, input or output of a linear model."""

    name: str
    unit: str
    """SI; empty for plain numbers."""
    value: float
    """At the operating point."""
    exact: bool
    """False: its derivatives are differences of order 6."""


class Pole(NamedTuple):
    """A root of A."""

    s: complex
    """1/s; of a discrete model the factor z per step."""
    frequency: float
    """Hz, undamped."""
    damping: float
    """Fraction of critical damping."""
    controllable: bool
    observable: bool
    parasitic: bool
    """Discrete model: a root of the time scheme, not of the robot."""


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B u, y = C x + D u of the deviations from a state of a robot; discrete where `step` is not 0:
    x(n+1) = A x(n) + B u(n), with u(n) the inputs at the end of the step."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[Signal, ...]
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    time: float
    """Of the operating point, s."""
    step: float
    """s; 0: continuous."""
    moving: bool
    """About a moving point: the model of that instant."""
    residual: float
    """Forces out of balance at the operating point, relative to typical ones."""
    difference: float
    """Largest relative error estimate of derivatives by differences; 0: all are exact."""
    idle: int
    """Motions without mass and stiffness, left out."""
    held: int
    """Samples and latches that laws read, held."""
    modes: tuple[Pole, ...]
    """Poles by rising modulus."""

    def poles(self) -> Roots:
        """Roots of A by rising modulus, 1/s; of a discrete model factors per step."""
        return np.array([p.s for p in self.modes], dtype=np.complex128)

    @property
    def controllability(self) -> int:
        """Number of poles that the inputs reach."""
        return sum(p.controllable for p in self.modes)

    @property
    def observability(self) -> int:
        """Number of poles that the outputs show."""
        return sum(p.observable for p in self.modes)

    def index(self, name: str, of: str = "states") -> int:
        """Number of the state, input or output of this name; `of`: "states", "inputs" or "outputs"."""
        names = [signal.name for signal in getattr(self, of)]
        if name not in names:
            raise ArgumentError(f"there is no '{name}' among the {of} {', '.join(names)}")
        return names.index(name)

    def transfer(self, s: complex) -> Roots:
        """C (s - A)^-1 B + D at s (1/s), SI; of a discrete model at the factor z = s."""
        n = len(self.A)
        return np.asarray(self.C @ np.linalg.solve(s * np.eye(n) - self.A, self.B) + self.D, dtype=np.complex128)

    def dc_gain(self) -> Array:
        """Outputs per constant unit input, SI."""
        return np.real(self.transfer(1.0 if self.step else 0.0))

    def state_space(self) -> Any:
        """As scipy.signal.StateSpace, with `dt` where it is discrete."""
        StateSpace = import_module("scipy.signal").StateSpace
        matrices = self.A, self.B, self.C, self.D
        return StateSpace(*matrices, dt=self.step) if self.step else StateSpace(*matrices)

    def control(self) -> Any:
        """As control.StateSpace of the package python-control, with names."""
        names = {k: [s.name for s in getattr(self, k)] for k in ("states", "inputs", "outputs")}
        return import_module("control").ss(self.A, self.B, self.C, self.D, self.step, **names)

    def __repr__(self) -> str:
        kind = f"step {self.step:g} s" if self.step else "continuous"
        return (f"<sinew.LinearModel at t = {self.time:g} s, {kind}: {len(self.states)} states, "
                f"{len(self.inputs)} inputs, {len(self.outputs)} outputs>")  # fmt: skip


def _matrix(pointer: Pointer, rows: int, columns: int) -> Array:
    if rows * columns == 0:
        return np.zeros((rows, columns))
    numbers = np.frombuffer(ffi.buffer(pointer, 8 * rows * columns), dtype=np.float64)
    return numbers.reshape((rows, columns), order="F").copy()


def _signals(pointer: Pointer, count: int) -> tuple[Signal, ...]:
    return tuple(Signal(text(s.name), text(s.unit), s.value, bool(s.exact)) for s in pointer[0:count])


def _names(names: Names) -> list[Pointer]:
    chosen = [names] if isinstance(names, str) else list(names or [])
    return [ffi.new("char[]", name.encode()) for name in chosen]


def options_of(inputs: Names, outputs: Names, three_inputs: bool, step: float, scheme: str | None, rho: float | None,
               alpha: float | None, reduce: bool, statics: bool = False) -> tuple[Pointer, list[Pointer]]:  # fmt: skip
    """Options of a linear model as C takes them, and what keeps them alive."""
    options = ffi.new("snw_linear_options *", lib.snw_linear_defaults())
    kept = [_names(inputs), _names(outputs)]
    arrays = [ffi.new("char *[]", names) if names else ffi.NULL for names in kept]
    none = inputs is not None and not isinstance(inputs, str) and len(kept[0]) == 0
    options.ninput, options.input = -1 if none else len(kept[0]), arrays[0]
    options.noutput, options.output = len(kept[1]), arrays[1]
    options.three_inputs = three_inputs
    options.step = step
    name = ffi.new("char[]", scheme.encode()) if scheme else ffi.NULL
    options.scheme = name
    options.reduce = reduce
    options.statics = statics
    if rho is not None:
        options.rho = rho
    if alpha is not None:
        options.alpha = alpha
    return options, [kept, arrays, name]


def copy_model(m: Pointer) -> LinearModel:
    """A linear model of the library, with its poles."""
    modes = tuple(
        Pole(complex(p.re, p.im), p.frequency, p.damping, bool(p.controllable), bool(p.observable), bool(p.parasitic))
        for p in m.pole[0 : m.npole]
    )
    return LinearModel(
        _matrix(m.A, m.nx, m.nx), _matrix(m.B, m.nx, m.nu), _matrix(m.C, m.ny, m.nx), _matrix(m.D, m.ny, m.nu),
        _signals(m.state, m.nx), _signals(m.input, m.nu), _signals(m.output, m.ny),
        m.time, m.step, bool(m.moving), m.residual, m.difference, m.nidle, m.nheld, modes)  # fmt: skip


def read_model(group: Any) -> LinearModel | None:
    """The linear model of a linearize step in a result file; None: the step has not been reached."""

    def texts(values: Any) -> list[str]:
        return [v.decode() if isinstance(v, bytes) else str(v) for v in values]

    def signals(name: str) -> tuple[Signal, ...]:
        g = group[name]
        return tuple(Signal(n, u, float(v), bool(e)) for n, u, v, e in
                     zip(texts(g["name"][:]), texts(g["unit"][:]), g["value"][:], g["exact"][:], strict=True))  # fmt: skip

    if group["time"].shape[0] == 0:
        return None
    p = {k: group["pole"][k][:] for k in group["pole"]}
    modes = tuple(
        Pole(complex(p["re"][i], p["im"][i]), float(p["frequency"][i]), float(p["damping"][i]),
             bool(p["controllable"][i]), bool(p["observable"][i]), bool(p["parasitic"][i]))
        for i in range(len(p["re"])))  # fmt: skip
    one = {k: group[k][0] for k in ("time", "step", "moving", "residual", "difference", "idle", "held")}
    return LinearModel(
        group["A"][:], group["B"][:], group["C"][:], group["D"][:], signals("state"), signals("input"), signals("output"),
        float(one["time"]), float(one["step"]), bool(one["moving"]), float(one["residual"]), float(one["difference"]),
        int(one["idle"]), int(one["held"]), modes)  # fmt: skip


def linearize(robot: Pointer, inputs: Names, outputs: Names, three_inputs: bool, step: float,
              scheme: str | None, rho: float | None, alpha: float | None, reduce: bool, statics: bool = False) -> LinearModel:  # fmt: skip
    """The linear model of a robot of the library."""
    err = new_error()
    options, _kept = options_of(inputs, outputs, three_inputs, step, scheme, rho, alpha, reduce, statics)
    out = ffi.new("snw_linear_model **")
    if lib.snw_robot_linearize(robot, options, out, err) != lib.SNW_OK:
        raise_error(err)
    m = out[0]
    try:
        if m.nx and lib.snw_linear_analyse(m, err) != lib.SNW_OK:
            raise_error(err)
        return copy_model(m)
    finally:
        lib.snw_linear_close(m)
