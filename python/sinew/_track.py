# SPDX-License-Identifier: MIT
"""Inverse dynamics over a horizon: inputs for which outputs follow a desired motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ._core import c_text, doubles, new_error, number, pair, raise_error, real, text
from ._errors import ArgumentError
from ._inverse import Limits
from ._sinew import ffi, lib
from ._types import Array, Names, Numbers, Pointer, Rows


@dataclass(frozen=True)
class Tracking:
    """Inputs for which the outputs of a robot are nearest to a desired motion."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    u: Array
    """Inputs (steps, inputs), SI, constant over each step."""
    y: Array
    """Outputs (steps, outputs), SI, at the ends of the steps."""
    error: float
    """Root of the mean square of the weighted errors."""
    largest: float
    """Largest weighted error."""
    cost: float
    """Half the sum of the squares of weighted errors and inputs."""
    squares: float
    """Integral of the squares of the inputs, SI."""
    iterations: int
    converged: bool
    limited: int = 0
    """Inputs of steps that a limit or a rate holds."""
    multiplier: Array | None = None
    """(steps, inputs): fall of the cost per unit by which the limit that holds an input is moved outwards."""
    rate_multiplier: Array | None = None
    """The same of the limits of changes from the step before."""
    alternation: float = 0.0
    """Part of the squares of the inputs, without their means, that alternates from step to step; see `smooth`."""

    start_moved: float = 0.0
    """By how much the start was moved to close its loops: largest change of a coordinate, or of a rate times the step, over a
    typical deformation (for joints 1 rad, or the length of the robot)."""

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return f"<sinew.Tracking of {', '.join(self.outputs)}: {state}, error {self.error:.3g}, largest {self.largest:.3g}>"


def _names(names: Names, what: str) -> tuple[Pointer, int, list[Pointer]]:
    chosen = [] if names is None else [names] if isinstance(names, str) else list(names)
    kept = [ffi.new("char[]", c_text(name, what)) for name in chosen]
    return ffi.new("char *[]", kept or 1), len(chosen), kept


def track(robot: Pointer, outputs: Names, targets: Rows, step: float, inputs: Names, weights: Numbers | None, effort: float,
          smooth: float, first: Rows | None, iterations: int, tolerance: float, limits: Limits, rates: Mapping[str, float]) -> Tracking:  # fmt: skip
    """The inputs of a robot of the library."""
    err = new_error()
    how = ffi.new("snw_track_options *", lib.snw_track_defaults())
    wanted = np.ascontiguousarray(real(targets, "targets"), dtype=np.float64)
    wanted = wanted[:, None] if wanted.ndim == 1 else wanted
    if wanted.ndim != 2 or wanted.size == 0:
        raise ArgumentError(f"'targets' needs a row of outputs for each step, but has shape {np.shape(targets)}")
    out_names, how.noutput, _kept = _names(outputs, "outputs")
    in_names, how.ninput, _kept_too = _names(inputs, "inputs")
    how.output, how.input = out_names, in_names
    how.nstep, how.step, how.target = len(wanted), step, doubles(wanted)
    model = columns(robot, how, err)
    if model[1] != wanted.shape[1]:
        raise ArgumentError(f"'targets' has {wanted.shape[1]} columns, but there are {model[1]} outputs")
    scale = None if weights is None else np.ascontiguousarray(np.atleast_1d(real(weights, "weights")), dtype=np.float64)
    if scale is not None:
        if scale.shape != (model[1],):
            raise ArgumentError(f"'weights' needs {model[1]} numbers, but has shape {scale.shape}")
        how.weight = doubles(scale)
    start = None if first is None else np.ascontiguousarray(real(first, "first"), dtype=np.float64).reshape(len(wanted), -1)
    if start is not None:
        if start.shape[1] != model[0]:
            raise ArgumentError(f"'first' needs {model[0]} columns, but has {start.shape[1]}")
        how.first = doubles(start)
    how.effort, how.smooth, how.iterations, how.tolerance = effort, smooth, iterations, tolerance
    names = list(dict.fromkeys([*limits, *rates]))
    limit = ffi.new("snw_track_limit[]", len(names) or 1)
    kept = [ffi.new("char[]", c_text(name, "limits")) for name in names]
    for to, name, own in zip(limit, names, kept):
        to.input = own
        to.low, to.high = pair(limits.get(name, (None, None)), name)
        to.rate = number(rates.get(name), name)
    how.nlimit, how.limit = len(names), limit
    out = ffi.new("snw_track_result **")
    if lib.snw_robot_track(robot, how, out, err) != lib.SNW_OK:
        raise_error(err)
    m = out[0]
    try:
        u, y = (
            np.frombuffer(ffi.buffer(at, 8 * m.nstep * n), dtype=np.float64).reshape(m.nstep, n).copy()
            for at, n in ((m.u, m.ninput), (m.y, m.noutput))
        )

        def held(at: Pointer) -> Array | None:
            if at == ffi.NULL:
                return None
            return np.frombuffer(ffi.buffer(at, 8 * m.nstep * m.ninput), dtype=np.float64).reshape(m.nstep, -1).copy()

        return Tracking(tuple(text(m.input[k].name) for k in range(m.ninput)),
                        tuple(text(m.output[k].name) for k in range(m.noutput)),
                        u, y, m.error, m.largest, m.cost, m.squares, m.iterations, bool(m.converged), m.limited,
                        held(m.multiplier), held(m.rate_multiplier), m.alternation, m.start_moved)  # fmt: skip
    finally:
        lib.snw_track_close(m)


def columns(robot: Pointer, how: Pointer, err: Pointer) -> tuple[int, int]:
    """Numbers of inputs and outputs that the names denote, by a linear model; of a robot that rolls, by one of a step."""
    o = ffi.new("snw_linear_options *", lib.snw_linear_defaults())
    o.ninput, o.input, o.noutput, o.output = how.ninput, how.input, how.noutput, how.output
    out = ffi.new("snw_linear_model **")
    if lib.snw_robot_linearize(robot, o, out, err) != lib.SNW_OK:
        scheme = ffi.new("char[]", b"conserving")
        o.step, o.scheme = how.step, scheme
        if lib.snw_robot_linearize(robot, o, out, new_error()) != lib.SNW_OK:
            raise_error(err)
    try:
        return out[0].nu, out[0].ny
    finally:
        lib.snw_linear_close(out[0])
