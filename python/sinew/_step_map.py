# SPDX-License-Identifier: MIT
"""The step of a robot as a map of points, with its exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._core import doubles, new_error, raise_error, vector
from ._linear import Signal, _matrix, _signals, options_of
from ._sinew import ffi, lib
from ._types import Array, Names, Numbers, Pointer

if TYPE_CHECKING:
    from ._robot import Robot


class StepMap:
    """x(n+1) = A x(n) + B u(n), y(n+1) = C x(n+1) + D u(n) for deviations x of points, by `robot.step_map`.

    A point is an array of `size` numbers: time, coordinates and the past that the scheme keeps. `step` takes a point and
    inputs to the next point and its outputs, in one step that is never divided. Deviations are body twists of spherical
    and free joints and differences of all other numbers: `difference`, `move`.
    """

    def __init__(self, robot: "Robot", inputs: Names, outputs: Names, step: float, scheme: str | None,
                 rho: float | None, alpha: float | None):  # fmt: skip
        self._err = new_error()
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

    def _check(self, status: int) -> None:
        if status != lib.SNW_OK:
            raise_error(self._err)

    def _inputs(self, u: Numbers) -> Array:
        return vector(u, self.nu, "u")

    def begin(self, robot: "Robot", u: Numbers) -> Array:
        """The point of a robot of the same model at its t, q and v, with accelerations that balance under u, SI."""
        point, u = np.empty(self.size), self._inputs(u)
        self._check(lib.snw_step_map_begin(self._map, robot._r, doubles(u), doubles(point), self._err))
        return point

    def step(self, point: Array, u: Numbers) -> tuple[Array, Array]:
        """Next point and its outputs, SI."""
        to, y, u = np.empty(self.size), np.empty(self.ny), self._inputs(u)
        self._check(lib.snw_step_map_step(self._map, doubles(point), doubles(u), 0, doubles(to), doubles(y), self._err))
        return to, y

    def _matrices(self) -> tuple[Array, Array, Array, Array]:
        m = self._model
        return (_matrix(m.A, m.nx, m.nx), _matrix(m.B, m.nx, m.nu), _matrix(m.C, m.ny, m.nx), _matrix(m.D, m.ny, m.nu))

    def linear_step(self, point: Array, u: Numbers) -> tuple[Array, Array, tuple[Array, Array, Array, Array]]:
        """Next point, its outputs, and (A, B, C, D) of this step, SI."""
        to, y, u = np.empty(self.size), np.empty(self.ny), self._inputs(u)
        self._check(lib.snw_step_map_step(self._map, doubles(point), doubles(u), 1, doubles(to), doubles(y), self._err))
        return to, y, self._matrices()

    def output(self, point: Array, u: Numbers) -> Array:
        """Outputs at a point, SI."""
        y, u = np.empty(self.ny), self._inputs(u)
        self._check(lib.snw_step_map_outputs(self._map, doubles(point), doubles(u), 0, doubles(y), self._err))
        return y

    def linear_output(self, point: Array, u: Numbers) -> tuple[Array, Array, Array]:
        """Outputs at a point, C and D there, SI."""
        y, u = np.empty(self.ny), self._inputs(u)
        self._check(lib.snw_step_map_outputs(self._map, doubles(point), doubles(u), 1, doubles(y), self._err))
        return (y, *self._matrices()[2:])

    def difference(self, start: Array, end: Array) -> Array:
        """Deviation (nx) of one point from another, SI; body twists of spherical and free joints."""
        x = np.empty(self.nx)
        self._check(lib.snw_step_map_difference(self._map, doubles(start), doubles(end), doubles(x), self._err))
        return x

    def move(self, point: Array, x: Numbers) -> Array:
        """The point that deviates by x (nx), SI."""
        to, x = np.empty(self.size), vector(x, self.nx, "x")
        self._check(lib.snw_step_map_move(self._map, doubles(point), doubles(x), doubles(to), self._err))
        return to

    def reset(self, correction: Numbers) -> Array:
        """Change of axes (nx, nx) of deviations by a correction (nx): the tangent map of the exponential on
        rotations, SI."""
        T, d = np.empty((self.nx, self.nx), order="F"), vector(correction, self.nx, "correction")
        self._check(lib.snw_step_map_reset(self._map, doubles(d), doubles(T), self._err))
        return T

    def project(self, point: Array) -> tuple[Array, Array | None]:
        """The nearby point at which loops are closed, and the projector (nx, nx) of deviations onto those that keep them
        closed, SI; None without loops."""
        if self._nr == 0:
            return point, None
        to, rows = np.empty(self.size), np.empty((self._nr, self._nv), order="F")
        self._check(lib.snw_step_map_project(self._map, doubles(point), doubles(to), doubles(rows), self._err))
        N = np.eye(self.nx)
        kept = np.eye(self._nv) - np.linalg.pinv(rows) @ rows
        N[: self._nv, : self._nv] = N[self._nv : 2 * self._nv, self._nv : 2 * self._nv] = kept
        return to, N

    def state(self, point: Array) -> tuple[float, Array, Array]:
        """Time (s), coordinates q and velocities v of a point, SI."""
        t, q, v = np.empty(1), np.empty(self._nq), np.empty(self._nv)
        self._check(lib.snw_step_map_state(self._map, doubles(point), doubles(t), doubles(q), doubles(v), self._err))
        return float(t[0]), q, v

    def __repr__(self) -> str:
        return f"<sinew.StepMap of {self.step_length:g} s: {self.nx} states, {self.nu} inputs, {self.ny} outputs>"
