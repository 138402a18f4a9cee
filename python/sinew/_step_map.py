# SPDX-License-Identifier: MIT
"""The step of a robot as a map of points, with its exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._core import Exclusive, OfThisProcess, doubles, new_error, raise_error, vector
from ._linear import Signal, _matrix, _signals, options_of
from ._sinew import ffi, lib
from ._types import Array, Names, Numbers, Pointer

if TYPE_CHECKING:
    from ._robot import Robot


class StepMap(OfThisProcess):
    """x(n+1) = A x(n) + B u(n), y(n+1) = C x(n+1) + D u(n) for deviations x of points, by `robot.step_map`.

    A point is an array of `size` numbers: time, coordinates and the past that the scheme keeps. `step` takes a point and
    inputs to the next point and its outputs, in one step that is never divided. Deviations are body twists of spherical
    and free joints and differences of all other numbers: `difference`, `move`. A map is used by one thread at a time.
    """

    _instead = "make it again from a robot in the other process; points are arrays and go there"

    def __init__(self, robot: "Robot", inputs: Names, outputs: Names, step: float, scheme: str | None,
                 rho: float | None, alpha: float | None):  # fmt: skip
        self._err, self._exclusive = new_error(), Exclusive()
        options, _kept = options_of(inputs, outputs, False, step, scheme, rho, alpha, False)
        out = ffi.new("snw_step_map **")
        if lib.snw_robot_step_map(robot._r, options, out, self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._map: Pointer = ffi.gc(out[0], lib.snw_step_map_close)
        self._model: Pointer = lib.snw_step_map_model(self._map)
        m = self._model
        self.step_length = step
        """s"""
        self.nx: int = m.nx
        self.nu: int = m.nu
        self.ny: int = m.ny
        self.states: tuple[Signal, ...] = _signals(m.state, m.nx)
        self.inputs: tuple[Signal, ...] = _signals(m.input, m.nu)
        self.outputs: tuple[Signal, ...] = _signals(m.output, m.ny)
        self.size: int = lib.snw_step_map_points(self._map)
        """Numbers of a point."""
        self._nq, self._nv, self._nr = robot.nq, robot.nv, robot.nconstraints

    def _call(self, function: Callable[..., int], *arguments: Any) -> None:
        """A function of the library on this map; the error is raised."""
        with self._exclusive:
            if function(self._map, *arguments, self._err) != lib.SNW_OK:
                raise_error(self._err)

    def _point(self, point: Array) -> Pointer:
        return doubles(vector(point, self.size, "point"))

    def _inputs(self, u: Numbers) -> Array:
        return vector(u, self.nu, "u")

    def begin(self, robot: "Robot", u: Numbers) -> Array:
        """The point of a robot of the same model at its t, q and v, with accelerations that balance under u, SI."""
        point, u = np.empty(self.size), self._inputs(u)
        self._call(lib.snw_step_map_begin, robot._r, doubles(u), doubles(point))
        return point

    def step(self, point: Array, u: Numbers) -> tuple[Array, Array]:
        """Next point and its outputs, SI."""
        to, y, u = np.empty(self.size), np.empty(self.ny), self._inputs(u)
        self._call(lib.snw_step_map_step, self._point(point), doubles(u), 0, doubles(to), doubles(y))
        return to, y

    def _matrices(self) -> tuple[Array, Array, Array, Array]:
        m = self._model
        return (_matrix(m.A, m.nx, m.nx), _matrix(m.B, m.nx, m.nu), _matrix(m.C, m.ny, m.nx), _matrix(m.D, m.ny, m.nu))

    def linear_step(self, point: Array, u: Numbers) -> tuple[Array, Array, tuple[Array, Array, Array, Array]]:
        """Next point, its outputs, and (A, B, C, D) of this step, SI."""
        to, y, u = np.empty(self.size), np.empty(self.ny), self._inputs(u)
        self._call(lib.snw_step_map_step, self._point(point), doubles(u), 1, doubles(to), doubles(y))
        return to, y, self._matrices()

    def output(self, point: Array, u: Numbers) -> Array:
        """Outputs at a point, SI."""
        y, u = np.empty(self.ny), self._inputs(u)
        self._call(lib.snw_step_map_outputs, self._point(point), doubles(u), 0, doubles(y))
        return y

    def linear_output(self, point: Array, u: Numbers) -> tuple[Array, Array, Array]:
        """Outputs at a point, C and D there, SI."""
        y, u = np.empty(self.ny), self._inputs(u)
        self._call(lib.snw_step_map_outputs, self._point(point), doubles(u), 1, doubles(y))
        return (y, *self._matrices()[2:])

    def difference(self, start: Array, end: Array) -> Array:
        """Deviation (nx) of one point from another, SI; body twists of spherical and free joints."""
        x = np.empty(self.nx)
        self._call(lib.snw_step_map_difference, self._point(start), self._point(end), doubles(x))
        return x

    def move(self, point: Array, x: Numbers) -> Array:
        """The point that deviates by x (nx), SI."""
        to, x = np.empty(self.size), vector(x, self.nx, "x")
        self._call(lib.snw_step_map_move, self._point(point), doubles(x), doubles(to))
        return to

    def reset(self, correction: Numbers) -> Array:
        """Change of axes (nx, nx) of deviations by a correction (nx): the tangent map of the exponential on
        rotations, SI."""
        T, d = np.empty((self.nx, self.nx), order="F"), vector(correction, self.nx, "correction")
        self._call(lib.snw_step_map_reset, doubles(d), doubles(T))
        return T

    def project(self, point: Array) -> tuple[Array, Array | None]:
        """The nearby point at which loops are closed, and the projector (nx, nx) of deviations onto those that keep them
        closed, SI; None without loops."""
        if self._nr == 0:
            return point, None
        to, rows = np.empty(self.size), np.empty((self._nr, self._nv), order="F")
        self._call(lib.snw_step_map_project, self._point(point), doubles(to), doubles(rows))
        N = np.eye(self.nx)
        kept = np.eye(self._nv) - np.linalg.pinv(rows) @ rows
        N[: self._nv, : self._nv] = N[self._nv : 2 * self._nv, self._nv : 2 * self._nv] = kept
        return to, N

    def state(self, point: Array) -> tuple[float, Array, Array]:
        """Time (s), coordinates q and velocities v of a point, SI."""
        t, q, v = np.empty(1), np.empty(self._nq), np.empty(self._nv)
        self._call(lib.snw_step_map_state, self._point(point), doubles(t), doubles(q), doubles(v))
        return float(t[0]), q, v

    def __repr__(self) -> str:
        return f"<sinew.StepMap of {self.step_length:g} s: {self.nx} states, {self.nu} inputs, {self.ny} outputs>"
