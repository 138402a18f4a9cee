# SPDX-License-Identifier: MIT
"""Estimation of states, loads and inputs from measurements: extended Kalman filters, moving horizons, equilibria.

    steps = robot.step_map(0.01, ["motor", "payload.fz"], ["gauge", "angle"], scheme="euler")
    seen = sinew.estimate.KalmanFilter(steps, steps.begin(robot, [0, 0]), P=1e-4, W={"motor.angle.rate": 1e-6}, V=1e-6,
                                       unknown={"payload.fz": 0.1})
    seen.update([u], y)                         # one step under the known inputs, then the measurement at its end
    seen.values["payload.fz"], seen.deviations["payload.fz"]

Deviations of points are body twists of spherical and free joints and differences of all other states; covariances are
those of deviations from the estimate, in its body axes. Equations in docs/theory.md 7.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._core import vector
from ._errors import ArgumentError
from ._optimal import LinearSystem, System
from ._types import Array, Mask, Numbers
from ._weights import Weights, weight_matrix

__all__ = ["KalmanFilter", "LinearSystem", "MovingHorizon", "StaticFilter"]


def _eigen(P: Array) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix, and the rows of its eigenvectors."""
    value, vector = np.linalg.eigh(P)
    return value, vector.T


@dataclass
class _Belief:
    """A point, unknown inputs w beside it, and the covariance of the deviations of both."""

    point: Array
    w: Array
    P: Array


class _Augmented:
    """A system whose unknown inputs are random walks: states (x, w)."""

    def __init__(self, system: System, unknown: Mapping[str, float], initial: Mapping[str, float]):
        names = [s.name for s in system.inputs]
        for name in [*unknown, *initial]:
            if name not in names:
                raise ArgumentError(f"unknown: there is no input '{name}' among {', '.join(names)}")
        self.system = system
        self.unknown = [names.index(name) for name in unknown]
        self.known = [i for i in range(len(names)) if i not in self.unknown]
        self.names = list(unknown)
        self.walk = np.array([float(v) ** 2 for v in unknown.values()])  # per step
        self.w = np.array([float(initial.get(name, 0.0)) for name in unknown])
        self.n, self.nw = system.nx, len(unknown)

    def inputs(self, u: Numbers, w: Array) -> Array:
        both = np.empty(len(self.known) + self.nw)
        both[self.known] = vector(u, len(self.known), "u")
        both[self.unknown] = w
        return both

    def step(self, point: Array, w: Array, u: Numbers) -> tuple[Array, Array, Array, Array]:
        """Next point, its outputs, A and C of (x, w)."""
        to, y, (A, B, C, D) = self.system.linear_step(point, self.inputs(u, w))
        return to, y, np.block([[A, B[:, self.unknown]], [np.zeros((self.nw, self.n)), np.eye(self.nw)]]), self.rows(C, D)

    def rows(self, C: Array, D: Array) -> Array:
        return np.hstack([C, D[:, self.unknown]])

    def output(self, point: Array, w: Array, u: Numbers) -> tuple[Array, Array]:
        y, C, D = self.system.linear_output(point, self.inputs(u, w))
        return y, self.rows(C, D)

    def move(self, at: _Belief, d: Array) -> tuple[Array, Array]:
        return self.system.move(at.point, d[: self.n]), at.w + d[self.n :]

    def difference(self, point: Array, w: Array, to: _Belief) -> Array:
        return np.concatenate([self.system.difference(point, to.point), to.w - w])

    def widen(self, M: Array) -> Array:
        """A matrix of x as one of (x, w)."""
        out = np.eye(self.n + self.nw)
        out[: self.n, : self.n] = M
        return out


class _Estimator:
    """What filters and moving horizons share: system, noise, and the present belief."""

    def __init__(self, system: System, point: Array, P: Weights, W: Weights, V: Weights, unknown: Mapping[str, float],
                 initial: Mapping[str, tuple[float, float]]):  # fmt: skip
        states = [s.name for s in system.states]  # type: ignore[attr-defined]
        self._s = s = _Augmented(system, unknown, {k: v[0] for k, v in initial.items()})
        self._V = weight_matrix(V, [s.name for s in system.outputs], "V", positive=True)
        names = [s.name for s in system.outputs]
        self._turns = [k for k, name in enumerate(names) if name.endswith(".rx") and
                       names[k + 1 : k + 3] == [name[:-1] + c for c in "yz"]]  # fmt: skip
        self._W = np.zeros((s.n + s.nw, s.n + s.nw))
        self._W[: s.n, : s.n] = weight_matrix(W, states, "W")
        self._W[s.n :, s.n :] = np.diag(s.walk)
        first = np.zeros_like(self._W)
        first[: s.n, : s.n] = weight_matrix(P, states, "P")
        for name, (_, deviation) in initial.items():
            k = s.n + s.names.index(name)
            first[k, k] = float(deviation) ** 2
        self._first = np.diag(first)[s.n :].copy()  # variances of the unknown inputs
        point, N = system.project(point)
        if N is not None:
            N = s.widen(N)
            first = N @ first @ N.T
        self._belief = _Belief(point, s.w, first)
        self.log_likelihood = 0.0
        """Of all measurements so far."""
        self.surprise = np.nan
        """Of the last measurement: its squared innovation in units of its covariance; its mean is the number of outputs."""
        self._steps = 0

    @property
    def point(self) -> Array:
        """The estimate, a point of the system."""
        return self._belief.point

    @property
    def P(self) -> Array:
        """Covariance of deviations from the estimate: states, then unknown inputs."""
        return self._belief.P

    @property
    def values(self) -> dict[str, float]:
        """Estimates of the unknown inputs."""
        return dict(zip(self._s.names, (float(x) for x in self._belief.w)))

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviations of all states and unknown inputs."""
        names = [s.name for s in self._s.system.states] + self._s.names  # type: ignore[attr-defined]
        return dict(zip(names, (float(x) for x in np.sqrt(np.maximum(np.diag(self.P), 0)))))

    @property
    def unseen(self) -> list[dict[str, float]]:
        """Changes of the unknown inputs of which the measurements so far tell nothing: along them 99 % of the variance is
        left that first value and walk alone would give."""
        n, nw = self._s.n, self._s.nw
        alone = np.sqrt(self._first + self._steps * self._s.walk)
        unit = np.where(alone > 0, alone, np.inf)
        found = []
        for part, direction in zip(*_eigen(self.P[n:, n:] / np.outer(unit, unit))):
            if part > 0.99:
                direction = direction / direction[np.argmax(np.abs(direction))]
                found.append({name: float(d * a) for name, d, a in zip(self._s.names, direction, alone) if abs(d) > 1e-6})
        return found

    def output(self, u: Numbers) -> tuple[Array, Array]:
        """Outputs of the estimate, and their covariance without noise."""
        y, C = self._s.output(self._belief.point, self._belief.w, u)
        return y, C @ self.P @ C.T

    def _judge(self, e: Array, S: Array) -> None:
        self.surprise = float(e @ np.linalg.solve(S, e))
        self.log_likelihood -= 0.5 * (self.surprise + np.linalg.slogdet(2 * np.pi * S)[1])

    def _measured(self, y: Numbers, mean: Array) -> tuple[Array, Mask]:
        """Innovation, and which outputs were measured: those that are not NaN."""
        given = vector(y, len(mean), "y").copy()
        here = ~np.isnan(given)
        for k in self._turns:  # the rotation vector of the same rotation next to the estimate
            size = np.linalg.norm(given[k : k + 3])
            if size > 1e-9:
                turns = (given[k : k + 3] @ mean[k : k + 3] / size - size) / (2 * np.pi)
                given[k : k + 3] *= 1 + 2 * np.pi * np.round(turns) / size
        if np.isinf(given).any():
            raise ArgumentError("y: a measurement is a finite number, or NaN where there is none")
        e: Array = (given - mean)[here]
        return e, here

    def _settle(self, at: _Belief, d: Array, P: Array) -> _Belief:
        """The belief after a correction d, with covariance P in the axes before it: in those of the new estimate, with
        loops closed."""
        s = self._s
        T = s.widen(s.system.reset(d[: s.n]))
        point, w = s.move(at, d)
        point, N = s.system.project(point)
        if N is not None:
            T = s.widen(N) @ T
        P = T @ P @ T.T
        return _Belief(point, w, 0.5 * (P + P.T))


class KalmanFilter(_Estimator):
    """Extended Kalman filter on the steps of a system, a `StepMap` or a `LinearSystem`.

    `point`: first estimate; `P`: its covariance, `W`: that of the process noise of a step, `V`: that of measurements, by
    names, numbers or matrices (variances). `unknown`: inputs that are not known, with the standard deviation of their
    random walk in a step; `initial`: their first values and standard deviations. The past of the scheme among the states is
    carried, without noise of its own. Loops: covariance and estimate stay on them.
    """

    def __init__(self, system: System, point: Array, P: Weights, W: Weights, V: Weights, *,
                 unknown: Mapping[str, float] = {}, initial: Mapping[str, tuple[float, float]] = {}):  # fmt: skip
        super().__init__(system, point, P, W, V, unknown, initial)

    def predict(self, u: Numbers) -> None:
        """One step under the known inputs u, without a measurement."""
        at = self._belief
        self._steps += 1
        to, self._y, A, self._C = self._s.step(at.point, at.w, u)
        P = A @ at.P @ A.T + self._W
        self._belief = _Belief(to, at.w, 0.5 * (P + P.T))

    def correct(self, y: Numbers, u: Numbers | None = None) -> Array:
        """Take a measurement y (ny; NaN: not measured) at the present instant; returns the innovation. `u`: known inputs
        now, for a correction that does not follow a step."""
        if u is not None:
            self._y, self._C = self._s.output(self._belief.point, self._belief.w, u)
        elif not hasattr(self, "_y"):
            raise ArgumentError("give the known inputs u for a correction before the first step")
        e, here = self._measured(y, self._y)
        C, V, P = self._C[here], self._V[np.ix_(here, here)], self._belief.P
        if len(e) == 0:
            return e
        S = C @ P @ C.T + V
        K = np.linalg.solve(S, C @ P).T
        rest = np.eye(len(P)) - K @ C
        self._judge(e, S)
        self._belief = self._settle(self._belief, K @ e, rest @ P @ rest.T + K @ V @ K.T)
        del self._y
        return e

    def update(self, u: Numbers, y: Numbers) -> Array:
        """A step under the known inputs u, then the measurement y at its end; returns the innovation."""
        self.predict(u)
        return self.correct(y)


@dataclass
class _Instant:
    """Of a window: estimate, inputs of the step that led to it, and its measurement."""

    at: _Belief
    u: Array
    y: Array


class MovingHorizon(_Estimator):
    """Least squares over the last `horizon` steps: initial state, process noise and measurements, each in units of its
    covariance, with the covariance of all earlier measurements as the cost of arrival at the window.

    Each update does `iterations` Gauss-Newton steps over the window. A step is a Kalman filter along the trajectory and a
    smoother back (Bryson and Frazier), which factorises the block-tridiagonal normal equations and needs no inverse of the
    process noise, so that the past of a scheme may be without noise. On linear systems the last estimate and its
    covariance are those of the Kalman filter. Arguments as there.
    """

    def __init__(self, system: System, point: Array, P: Weights, W: Weights, V: Weights, *, horizon: int = 10,
                 iterations: int = 2, unknown: Mapping[str, float] = {},
                 initial: Mapping[str, tuple[float, float]] = {}):  # fmt: skip
        if horizon < 1 or iterations < 1:
            raise ArgumentError("a horizon has one step or more, and an update one iteration or more")
        super().__init__(system, point, P, W, V, unknown, initial)
        self.horizon, self.iterations = horizon, iterations
        self._arrival = self._belief
        self._start = _Belief(self._belief.point, self._belief.w, self._belief.P)  # estimate at the start of the window
        self._window: list[_Instant] = []

    def update(self, u: Numbers, y: Numbers) -> None:
        """A step under the known inputs u, then the measurement y (NaN: not measured) at its end."""
        s = self._s
        if len(self._window) == self.horizon:
            self._arrival, self._start = self._second, self._window.pop(0).at
        last = self._window[-1].at if self._window else self._start
        self._steps += 1
        u, y = vector(u, len(s.known), "u"), vector(y, s.system.ny, "y")
        to = s.system.step(last.point, s.inputs(u, last.w))[0]
        self._window.append(_Instant(_Belief(to, last.w, last.P), u, y))
        for k in range(self.iterations):
            self._iterate(last=k == self.iterations - 1)

    def _iterate(self, last: bool) -> None:
        """One Gauss-Newton step: a filter along the trajectory of the window, then a smoother back."""
        s, n = self._s, self._s.n + self._s.nw
        # the belief of arrival, about the present estimate of the start: log(exp(mean) exp(e)) = mean + T^-1 e
        first = mean = s.difference(self._start.point, self._start.w, self._arrival)
        T = np.linalg.inv(s.widen(s.system.reset(mean[: s.n])))
        spread = P = T @ self._arrival.P @ T.T
        before, sweeps = self._start, []
        for instant in self._window:
            at = instant.at
            to, _, A, _ = s.step(before.point, before.w, instant.u)
            # deviations are about the estimate `at`, which noise separates from the end of the step
            noise = s.difference(to, before.w, at)
            T = s.widen(s.system.reset(noise[: s.n]))
            P = T @ (A @ P @ A.T + self._W) @ T.T
            A = T @ A
            mean = A @ mean - noise
            y, C = s.output(at.point, at.w, instant.u)
            e, here = self._measured(instant.y, y)
            C, V = C[here], self._V[np.ix_(here, here)]
            e = e - C @ mean
            S = C @ P @ C.T + V
            K = np.linalg.solve(S, C @ P).T
            rest = np.eye(n) - K @ C
            sweeps.append((A, C, S, e, rest, mean, P))
            mean, P = mean + K @ e, rest @ P @ rest.T + K @ V @ K.T
            if len(sweeps) == 1:
                self._second = self._settle(at, mean, P)  # arrival at the next window
            before = at
        if last and len(e):
            self._judge(e, S)
        self._belief = self._settle(before, mean, P)
        slope, moves = np.zeros(n), []  # slope: of the cost of what follows
        for A, C, S, e, rest, mean, P in reversed(sweeps):
            slope = rest.T @ slope - C.T @ np.linalg.solve(S, e)
            moves.append(mean - P @ slope)
            slope = A.T @ slope
        self._start = self._moved(self._start, first - spread @ slope)
        for instant, d in zip(self._window, reversed(moves)):
            instant.at = self._moved(instant.at, d)

    def _moved(self, at: _Belief, d: Array) -> _Belief:
        point, w = self._s.move(at, d)
        return _Belief(self._s.system.project(point)[0], w, at.P)


class StaticFilter:
    """Loads and inputs of a robot in equilibrium from probes: a Kalman filter without dynamics.

    `unknown`: {name: (value, standard deviation)} of inputs, "payload.fz" or "cord(1)"; `outputs`: probes that are measured,
    `V` their covariance; `walk`: {name: standard deviation} of the change of an unknown input between measurements. Each
    measurement is taken in by Gauss-Newton iterations over equilibria, with the exact derivatives of the outputs by the
    inputs there; the robot is then in the equilibrium of the estimate, which shows its shape.
    """

    def __init__(self, robot: Any, unknown: Mapping[str, tuple[float, float]], outputs: Sequence[str] | str, V: Weights, *,
                 walk: Mapping[str, float] = {}):  # fmt: skip
        self.robot, self.names, self._outputs = robot, list(unknown), outputs
        self.w = np.array([float(v) for v, _ in unknown.values()])
        self.P = np.diag([float(d) ** 2 for _, d in unknown.values()])
        for name in walk:
            if name not in unknown:
                raise ArgumentError(f"walk: there is no unknown input '{name}' among {', '.join(self.names)}")
        self._walk = np.diag([float(walk.get(name, 0.0)) ** 2 for name in unknown])
        for name in self.names:
            if name not in robot.actuators and name.rpartition(".")[0] not in robot.loads:
                raise ArgumentError(f"unknown: '{name}' is no input; name each by itself, an actuator, or a component of a load "
                                    "such as 'payload.fz'")  # fmt: skip
        self._set(self.w)
        gain = robot.static_gain(self.names, outputs)
        if len(gain.inputs) != len(self.names):
            raise ArgumentError("unknown: name each input by itself, one of an actuator with several by its number")
        self.outputs = [s.name for s in gain.outputs]
        self._V = weight_matrix(V, self.outputs, "V", positive=True)
        self.iterations, self.surprise, self.converged = 0, np.nan, False

    def _set(self, w: Array) -> None:
        """The robot in equilibrium under the inputs w."""
        loads: dict[str, Array] = {}
        for name, value in zip(self.names, w):
            load, _, component = name.rpartition(".")
            if load in self.robot.loads:
                wrench = loads.setdefault(load, np.zeros(6))
                wrench[("tx", "ty", "tz", "fx", "fy", "fz").index(component)] = value
            else:
                self.robot.controls[name] = float(value)
        for load, wrench in loads.items():
            self.robot.set_load(load, wrench[3:], wrench[:3])
        self.robot.equilibrium()

    def _read(self) -> tuple[Array, Array]:
        gain = self.robot.static_gain(self.names, self._outputs)
        return np.array([s.value for s in gain.outputs]), gain.D

    def update(self, y: Numbers, most: int = 20, tolerance: float = 1e-9) -> Array:
        """Take a measurement y (NaN: not measured); returns the estimate of the unknown inputs.

        `most`: iterations; `tolerance`: of the last correction, in standard deviations. `iterations` tells how many it took, `converged` whether
        they were enough.
        """
        given = vector(y, len(self.outputs), "y")
        here = ~np.isnan(given)
        P = self.P + self._walk
        V = self._V[np.ix_(here, here)]
        size, axes = np.linalg.eigh(P)
        L = axes * np.sqrt(np.maximum(size, 0))  # P = L L'
        prior, w, self.converged = self.w, self.w, False
        for self.iterations in range(1, most + 1):
            value, D = self._read()
            D, e = D[here], (given - value)[here]
            if self.iterations == 1:
                self.surprise = float(e @ np.linalg.solve(D @ P @ D.T + V, e))
            # by information, which keeps its digits where measurements say far more than P
            G = np.linalg.solve(V, D @ L).T
            A = np.eye(len(w)) + G @ D @ L
            new = prior + L @ np.linalg.solve(A, G @ (e - D @ (prior - w)))
            change = np.abs(new - w) / np.sqrt(np.maximum(np.diag(P), 1e-300))
            w = new
            self._set(w)
            self.converged = bool(change.max(initial=0) <= tolerance)
            if self.converged:
                break
        self.w, self.P = w, L @ np.linalg.solve(A, L.T)
        return w

    @property
    def values(self) -> dict[str, float]:
        """Estimates of the unknown inputs."""
        return dict(zip(self.names, (float(x) for x in self.w)))

    @property
    def deviations(self) -> dict[str, float]:
        """Their standard deviations."""
        return dict(zip(self.names, (float(x) for x in np.sqrt(np.diag(self.P)))))

    def output(self, outputs: Sequence[str] | str) -> tuple[Array, Array]:
        """Any probes of the estimate, such as the shape along the robot, and their covariance."""
        gain = self.robot.static_gain(self.names, outputs)
        return np.array([s.value for s in gain.outputs]), gain.D @ self.P @ gain.D.T
