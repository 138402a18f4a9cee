# SPDX-License-Identifier: MIT
"""Optimal control on maps of steps: iterated linear-quadratic regulators with limits, model predictive control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol, Union

import numpy as np

from ._core import vector
from ._errors import ArgumentError, NotConverged
from ._linear import LinearModel, Signal
from ._types import Array, Mask, Numbers
from ._weights import Limits, Weights, limits_of, weight_matrix

Matrices = tuple[Array, Array, Array, Array]
Target = Union[Numbers, Callable[[int], Numbers]]
"""Desired outputs: the same at all steps (ny), one row per step (N, ny), or a function of the number of the step from 1."""


class System(Protocol):
    """A discrete system: `StepMap` of a robot, or `LinearSystem`."""

    nx: int
    nu: int
    ny: int
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]

    def step(self, point: Array, u: Numbers) -> tuple[Array, Array]: ...
    def linear_step(self, point: Array, u: Numbers) -> tuple[Array, Array, Matrices]: ...
    def linear_output(self, point: Array, u: Numbers) -> tuple[Array, Array, Array]: ...
    def difference(self, start: Array, end: Array) -> Array: ...
    def move(self, point: Array, x: Numbers) -> Array: ...
    def reset(self, correction: Numbers) -> Array: ...
    def project(self, point: Array) -> tuple[Array, Array | None]: ...


class LinearSystem:
    """A discrete linear model as a system: points are states x, inputs and outputs deviations from the operating point."""

    def __init__(self, model: LinearModel):
        if not model.step:
            raise ArgumentError("the model is continuous: make it discrete, by `zoh` or by a step")
        self._m = model
        self.nx, self.nu, self.ny = len(model.A), model.B.shape[1], len(model.C)
        self.states, self.inputs, self.outputs = model.states, model.inputs, model.outputs

    def linear_step(self, point: Array, u: Numbers) -> tuple[Array, Array, Matrices]:
        """Next state, its outputs, and the matrices."""
        m, u = self._m, vector(u, self.nu, "u")
        to = m.A @ point + m.B @ u
        return to, m.C @ to + m.D @ u, (m.A, m.B, m.C, m.D)

    def step(self, point: Array, u: Numbers) -> tuple[Array, Array]:
        """Next state and its outputs."""
        return self.linear_step(point, u)[:2]

    def linear_output(self, point: Array, u: Numbers) -> tuple[Array, Array, Array]:
        """Outputs at a state, C and D."""
        return self._m.C @ point + self._m.D @ vector(u, self.nu, "u"), self._m.C, self._m.D

    def difference(self, start: Array, end: Array) -> Array:
        """end - start."""
        return end - start

    def move(self, point: Array, x: Numbers) -> Array:
        """point + x."""
        to: Array = point + np.asarray(x)
        return to

    def reset(self, correction: Numbers) -> Array:
        """The unit matrix."""
        return np.eye(self.nx)

    def project(self, point: Array) -> tuple[Array, Array | None]:
        """The state itself."""
        return point, None


class _Changing:
    """A system whose points also have the last input and its change, which is a further output.

    Point: (that of the system, u, change of u). The deviations from it are those of the three parts, one behind the
    other, so that weights of the change are weights of outputs.
    """

    def __init__(self, system: System):
        self._s = system
        self.nx, self.nu, self.ny = system.nx + 2 * system.nu, system.nu, system.ny + system.nu
        self.inputs, self.outputs = system.inputs, (*system.outputs, *system.inputs)

    def begin(self, point: Array, before: Array) -> Array:
        """The point before which the inputs `before` acted."""
        return np.concatenate([point, before, np.zeros(self.nu)])

    def plain(self, point: Array) -> Array:
        """The part of the system itself."""
        return point[: len(point) - 2 * self.nu]

    def linear_step(self, point: Array, u: Numbers) -> tuple[Array, Array, Matrices]:
        u, n, k = vector(u, self.nu, "u"), self._s.nx, self.nu
        last = point[len(point) - 2 * k : len(point) - k]
        to, y, (A, B, C, D) = self._s.linear_step(self.plain(point), u)
        I, wide = np.eye(k), np.zeros((self.nx, self.nx))
        wide[:n, :n], wide[n + k :, n : n + k] = A, -I
        rows = np.zeros((self.ny, self.nx))
        rows[: self._s.ny, :n], rows[self._s.ny :, n + k :] = C, I
        direct = np.vstack([D, np.zeros((k, k))])
        change = u - last
        return np.concatenate([to, u, change]), np.concatenate([y, change]), (wide, np.vstack([B, I, I]), rows, direct)

    def difference(self, start: Array, end: Array) -> Array:
        tail = 2 * self.nu
        return np.concatenate([self._s.difference(self.plain(start), self.plain(end)), end[-tail:] - start[-tail:]])

    def move(self, point: Array, x: Numbers) -> Array:
        x, tail = np.asarray(x), 2 * self.nu
        return np.concatenate([self._s.move(self.plain(point), x[: self._s.nx]), point[-tail:] + x[-tail:]])


@dataclass
class Plan:
    """A trajectory with its inputs and the feedback along it; made by `ilqr`."""

    inputs: Array
    """(N, nu): u(n) acts in step n."""
    points: list[Array]
    """N + 1, from the first."""
    outputs: Array
    """(N, ny): at the end of each step."""
    gains: Array
    """(N, nu, nx): u = u(n) + gain (deviation from the point before step n); zero where a limit holds."""
    cost: float
    iterations: int
    converged: bool
    reason: str
    """Why the iteration ended, in words."""
    decrease: float
    """Decrease of the cost that the last model promised, relative to the cost: what is left to gain."""
    costs: list[float] = field(default_factory=list)
    """After each iteration, from that of the first guess."""
    held: Mask = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """(N, nu): inputs that a limit holds."""

    def feedback(self, system: System | _Changing, n: int, point: Array, limits: tuple[Array, Array] | None = None) -> Array:
        """The input of step n at a point off the trajectory."""
        u: Array = self.inputs[n] + self.gains[n] @ system.difference(self.points[n], point)
        return u if limits is None else np.clip(u, *limits)


def box_minimum(H: Array, g: Array, low: Array, high: Array, guess: Array) -> tuple[Array, Mask]:
    """x that minimises x'H x/2 + g'x with low <= x <= high, and which components are free; H is positive definite.

    Projected Newton: bounds that the gradient pushes against are held, a Newton step is taken in the others, and the
    step is cut at the bounds until the function has decreased enough.
    """
    inside = -np.linalg.solve(H, g)
    if (inside >= low).all() and (inside <= high).all():
        return inside, np.ones(len(g), dtype=bool)
    x = np.minimum(np.maximum(guess, low), high)
    free = np.ones(len(x), dtype=bool)
    for _ in range(100):
        slope = H @ x + g
        free = ~(((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() <= 1e-13 * (np.abs(g).max() + np.abs(H @ x).max()):
            break
        d = np.zeros(len(x))
        d[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        now, length = 0.5 * x @ H @ x + g @ x, 1.0
        while True:
            trial = np.minimum(np.maximum(x + length * d, low), high)
            change = trial - x
            value = 0.5 * trial @ H @ trial + g @ trial
            if value <= now + 0.1 * slope @ change or length < 1e-10:
                break
            length *= 0.5
        if np.array_equal(trial, x):
            break
        x = trial
    return x, free


class _Problem:
    """Cost and limits along a horizon of N steps."""

    def __init__(self, system: System, N: int, target: Target, weights: Weights, effort: Weights, final: Weights | None,
                 rest: Numbers | None, limits: Limits, change: Weights | None = None):  # fmt: skip
        names = [s.name for s in system.outputs]
        self.system: System | _Changing = system
        self.N, self.ny = N, system.ny
        self.W = weight_matrix(weights, names, "weights")
        self.Wf = self.W if final is None else weight_matrix(final, names, "final")
        self.R = weight_matrix(effort, [s.name for s in system.inputs], "effort", positive=True)
        self.rest = np.zeros(system.nu) if rest is None else vector(rest, system.nu, "rest")
        self.low, self.high = limits_of(limits, [s.name for s in system.inputs])
        self.bounded = bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())
        if change is not None:
            self._weigh_changes(system, change)
        self.shift = np.zeros(self.system.ny)  # of the last target
        self.set_target(target)

    def _weigh_changes(self, system: System, change: Weights) -> None:
        V = weight_matrix(change, [s.name for s in system.inputs], "change")
        self.system = _Changing(system)
        zero = np.zeros((system.ny, system.nu))
        self.W, self.Wf = (np.block([[M, zero], [zero.T, V]]) for M in (self.W, self.Wf))

    def begin(self, point: Array, before: Array) -> Array:
        """The first point; `before`: the inputs that acted before it."""
        return self.system.begin(point, before) if isinstance(self.system, _Changing) else point

    def plain(self, plan: Plan, nx: int) -> Plan:
        """A plan in the points and outputs of the system itself."""
        if not isinstance(self.system, _Changing):
            return plan
        points = [self.system.plain(p) for p in plan.points]
        return replace(plan, points=points, outputs=plan.outputs[:, : self.ny], gains=plan.gains[:, :, :nx])

    def set_target(self, target: Target) -> None:
        """Rows (N, ny) of desired outputs."""
        if callable(target):
            rows = np.array([np.asarray(target(n), dtype=np.float64) for n in range(1, self.N + 1)])
        else:
            rows = np.asarray(target, dtype=np.float64)
        if rows.ndim <= 1:
            rows = np.tile(vector(rows, self.ny, "target"), (self.N, 1))
        if rows.shape != (self.N, self.ny):
            raise ArgumentError(f"target needs the shape ({self.N}, {self.ny}), but has {rows.shape}")
        self.target = np.pad(rows, ((0, 0), (0, self.system.ny - self.ny)))

    def within(self, u: Array) -> Array:
        """The inputs, cut at their limits."""
        return np.minimum(np.maximum(u, self.low), self.high) if self.bounded else u

    def weight(self, n: int) -> Array:
        return self.Wf if n == self.N - 1 else self.W

    def error(self, n: int, y: Array) -> Array:
        """Of the outputs at the end of step n."""
        e: Array = y - self.target[n]
        return e - self.shift if n == self.N - 1 else e

    def stage(self, n: int, y: Array, u: Array) -> float:
        e, d = self.error(n, y), u - self.rest
        return 0.5 * float(e @ self.weight(n) @ e + d @ self.R @ d)


@dataclass
class _Rollout:
    points: list[Array]
    outputs: Array
    inputs: Array
    matrices: list[Matrices]
    cost: float


def _roll(problem: _Problem, point: Array, law: Callable[[int, Array], Array]) -> _Rollout | None:
    """The motion under a law of the inputs, with the derivatives of its steps; None: a step was not solved."""
    points, outputs, inputs, matrices, cost = [point], [], [], [], 0.0
    for n in range(problem.N):
        u = problem.within(law(n, points[-1]))
        try:
            to, y, M = problem.system.linear_step(points[-1], u)
        except NotConverged:
            return None
        points.append(to)
        outputs.append(y)
        inputs.append(u)
        matrices.append(M)
        cost += problem.stage(n, y, u)
    return _Rollout(points, np.array(outputs), np.array(inputs), matrices, cost)


@dataclass
class _Law:
    k: Array  # (N, nu)
    K: Array  # (N, nu, nx)
    held: Mask
    promise: tuple[float, float]  # of the change of cost, linear and quadratic in the length of the step


def _backward(problem: _Problem, at: _Rollout, more: float, before: Array | None) -> _Law:
    """Riccati recursion along a motion, with limits; `more`: times R, added to it."""
    s = problem.system
    k, K = np.zeros((problem.N, s.nu)), np.zeros((problem.N, s.nu, s.nx))
    held = np.zeros((problem.N, s.nu), dtype=bool)
    p, P = np.zeros(s.nx), np.zeros((s.nx, s.nx))
    linear = quadratic = 0.0
    R = problem.R
    for n in reversed(range(problem.N)):
        A, B, C, D = at.matrices[n]
        W = problem.weight(n)
        we = W @ problem.error(n, at.outputs[n])
        PA, PB = P @ A, P @ B
        CA, G = C @ A, C @ B + D
        WG = W @ G
        Qx = A.T @ p + CA.T @ we
        Qu = B.T @ p + G.T @ we + R @ (at.inputs[n] - problem.rest)
        Quu = B.T @ PB + G.T @ WG + R
        Qux = B.T @ PA + WG.T @ CA
        damped = Quu + more * R if more else Quu
        if problem.bounded:
            guess = np.zeros(s.nu) if before is None else before[n]
            step, free = box_minimum(damped, Qu, problem.low - at.inputs[n], problem.high - at.inputs[n], guess)
            k[n], held[n] = step, ~free
            if free.all():
                K[n] = -np.linalg.solve(damped, Qux)
            elif free.any():
                K[n][free] = -np.linalg.solve(damped[np.ix_(free, free)], Qux[free])
        else:
            both = -np.linalg.solve(damped, np.column_stack([Qu, Qux]))
            k[n], K[n] = both[:, 0], both[:, 1:]
        linear += float(k[n] @ Qu)
        quadratic += 0.5 * float(k[n] @ Quu @ k[n])
        p = Qx + K[n].T @ (Quu @ k[n] + Qu) + Qux.T @ k[n]
        M = Qux.T @ K[n]
        P = A.T @ PA + CA.T @ (W @ CA) + K[n].T @ Quu @ K[n] + M + M.T
        P = 0.5 * (P + P.T)
    return _Law(k, K, held, (linear, quadratic))


def _forward(problem: _Problem, at: _Rollout, law: _Law, length: float) -> _Rollout | None:
    def u(n: int, point: Array) -> Array:
        out: Array = at.inputs[n] + length * law.k[n] + law.K[n] @ problem.system.difference(at.points[n], point)
        return out

    return _roll(problem, at.points[0], u)


def _iterate(problem: _Problem, at: _Rollout, iterations: int, tolerance: float,
             least: int) -> tuple[_Rollout, _Law, bool, str, float, list[float]]:  # fmt: skip
    """Iterations from a motion, `least` at least: (motion, law, converged, reason, promise left, costs)."""
    more, costs, promise = 0.0, [at.cost], np.inf
    law: _Law | None = None
    for _ in range(iterations):
        law = _backward(problem, at, more, None if law is None else law.k)
        promise = -(law.promise[0] + law.promise[1]) / max(abs(at.cost), 1e-300)
        if promise <= tolerance and len(costs) > least:
            return at, law, True, "the cost cannot decrease further", promise, costs
        length, found = 1.0, None
        while length >= 1e-4:
            trial = _forward(problem, at, law, length)
            expected = length * law.promise[0] + length * length * law.promise[1]
            if trial is not None and trial.cost - at.cost <= 0.1 * expected + 1e-14 * abs(at.cost):  # rounding
                found = trial
                break
            length *= 0.5
        if found is None:
            if more > 1e6:
                return at, law, False, "no step along the descent lowers the cost", promise, costs
            more = max(10 * more, 1e-3)
            continue
        if length == 1:
            more = more / 10 if more > 1e-6 else 0.0
        at = found
        costs.append(at.cost)
    law = _backward(problem, at, 0.0, None if law is None else law.k)
    promise = -(law.promise[0] + law.promise[1]) / max(abs(at.cost), 1e-300)
    if promise <= tolerance:
        return at, law, True, "the cost cannot decrease further", promise, costs
    return at, law, False, f"{iterations} iterations were not enough", promise, costs


def ilqr(system: System, point: Array, inputs: Numbers, target: Target, weights: Weights, effort: Weights, *,
         final: Weights | None = None, rest: Numbers | None = None, limits: Limits = None, exactly: Numbers | None = None,
         change: Weights | None = None, before: Numbers | None = None, iterations: int = 100,
         tolerance: float = 1e-10) -> Plan:  # fmt: skip
    """Inputs over N steps that minimise the sum of (y - target)'W (y - target)/2 + (u - rest)'R (u - rest)/2.

    `inputs`: first guess (N, nu). `weights` W of the outputs at the end of each step, `final` those of the last (as W
    unless given), `effort` R. `change`: weights of (u(n) - u(n-1))^2/2, that of the first step from `before`, or `rest`.
    `limits`: {name: (low, high)} of inputs. `exactly`: tolerance, in the units of the outputs;
    the last outputs that have a final weight are then reached to it, by shifts of the last target, which are multipliers
    of the condition. Each iteration takes the exact derivatives of the steps along the motion, a Riccati recursion with
    the limits, and a search along its inputs and feedback. `tolerance`: of the decrease of the cost still promised,
    relative. The result says whether that was reached.
    """
    guess = np.array(inputs, dtype=np.float64)
    if guess.ndim != 2 or guess.shape[1] != system.nu or len(guess) == 0:
        raise ArgumentError(f"inputs need the shape (steps, {system.nu}), but have {guess.shape}")
    problem = _Problem(system, len(guess), target, weights, effort, final, rest, limits, change)
    if exactly is not None and not np.abs(problem.Wf[: problem.ny]).any():
        raise ArgumentError("exactly is for outputs with a weight at the end, and all are zero: give weights, or final")

    def guessed(n: int, _: Array) -> Array:
        u: Array = guess[n]
        return u

    at = _roll(problem, problem.begin(point, problem.rest if before is None else vector(before, system.nu, "before")), guessed)
    if at is None:
        raise NotConverged("a step under the first guess of the inputs was not solved; use shorter steps or another guess")
    costs: list[float] = []
    done = 0
    while True:
        at, law, converged, reason, promise, more = _iterate(problem, at, iterations - done, tolerance, 1 if costs else 0)
        costs += more
        done += len(more) - 1
        if exactly is None or not converged:
            break
        miss = (at.outputs[-1] - problem.target[-1]) * (np.abs(problem.Wf).sum(axis=1) > 0)
        miss[system.ny :] = 0  # changes of inputs
        if np.abs(miss).max() <= float(np.asarray(exactly)):
            break
        if done >= iterations:
            converged, reason = False, f"after {done} iterations the last outputs miss their target by {np.abs(miss).max():.3g}"
            break
        problem.shift -= miss
        at.cost = sum(problem.stage(n, at.outputs[n], at.inputs[n]) for n in range(problem.N))
    problem.shift[:] = 0
    cost = sum(problem.stage(n, at.outputs[n], at.inputs[n]) for n in range(problem.N))
    plan = Plan(at.inputs, at.points, at.outputs, law.K, cost, done, converged, reason, promise, costs, law.held)
    return problem.plain(plan, system.nx)


class MPC:
    """Model predictive control: at each instant the inputs of a horizon from the present point, of which the first acts.

        mpc = MPC(system, 50, weights={"tip": 1e4}, effort=0.1, limits={"cord(1)": (0, 20)})
        u = mpc.update(system.begin(robot, u), target)

    Each update starts from the inputs before, shifted by `shift` steps, with their feedback, and does `iterations`
    iterations of `ilqr` without a search: for one iteration a motion over the horizon with its derivatives and one Riccati
    recursion. `change`: weights of the changes of inputs from step to step, from those that `update` returned last; inputs
    then move smoothly. `plan` is the last horizon, `seconds` what the update took.
    """

    def __init__(self, system: System, horizon: int, weights: Weights, effort: Weights, *, final: Weights | None = None,
                 rest: Numbers | None = None, limits: Limits = None, change: Weights | None = None, shift: float = 1.0,
                 iterations: int = 1):  # fmt: skip
        if horizon < 1 or iterations < 1 or shift < 0:
            raise ArgumentError("a horizon has one step or more, an update one iteration or more, and a shift is not negative")
        self.system, self.horizon, self.iterations, self.shift = system, horizon, iterations, shift
        self._problem = _Problem(system, horizon, np.zeros(system.ny), weights, effort, final, rest, limits, change)
        self._before = self._problem.within(self._problem.rest)
        self._last: Plan | None = None  # in the points of the problem
        self.plan: Plan | None = None
        self.seconds = 0.0
        """Of the last update."""

    def _shifted(self) -> Callable[[int, Array], Array]:
        """The inputs of the last plan at later instants, by linear interpolation; whole shifts with its feedback."""
        if self._last is None:
            first = self._problem.within(self._problem.rest)
            return lambda n, _: first
        plan, N, s = self._last, self.horizon, self.shift
        whole = float(s).is_integer()

        def law(n: int, point: Array) -> Array:
            at = n + s
            if whole and at < N:
                return plan.feedback(self._problem.system, int(at), point)
            low = min(int(at), N - 1)
            high, part = min(low + 1, N - 1), at - int(at)
            u: Array = (1 - part) * plan.inputs[low] + part * plan.inputs[high]
            return u

        return law

    def _corrected(self, at: _Rollout, law: _Law) -> tuple[Array, list[Array], Array]:
        """Inputs, points and outputs after the last correction, by the linear models of the steps."""
        system = self._problem.system
        x, inputs, points, outputs = np.zeros(system.nx), at.inputs.copy(), [at.points[0]], at.outputs.copy()
        for n, (A, B, C, D) in enumerate(at.matrices):
            inputs[n] = self._problem.within(at.inputs[n] + law.k[n] + law.K[n] @ x)
            du = inputs[n] - at.inputs[n]
            x = A @ x + B @ du
            outputs[n] += C @ x + D @ du
            points.append(system.move(at.points[n + 1], x))
        return inputs, points, outputs

    def update(self, point: Array, target: Target) -> Array:
        """Inputs that act from now on."""
        start = perf_counter()
        self._problem.set_target(target)
        point = self._problem.begin(point, self._before)
        at = _roll(self._problem, point, self._shifted())
        if at is None:  # begin again from constant inputs
            self._last = self.plan = None
            at = _roll(self._problem, point, self._shifted())
        if at is None:
            raise NotConverged("the steps of the horizon were not solved; use shorter steps")
        law: _Law | None = None
        for _ in range(self.iterations):
            if law is not None:
                trial = _forward(self._problem, at, law, 1.0)
                at = trial if trial is not None and trial.cost <= at.cost else at
            law = _backward(self._problem, at, 0.0, None if law is None else law.k)
        assert law is not None
        promise = -(law.promise[0] + law.promise[1]) / max(abs(at.cost), 1e-300)
        inputs, points, outputs = self._corrected(at, law)
        self._last = Plan(inputs, points, outputs, law.K, at.cost, self.iterations, promise < 1e-6,
                          "iterations of an update are given", promise, [at.cost], law.held)  # fmt: skip
        self.plan = self._problem.plain(self._last, self.system.nx)
        self.seconds = perf_counter() - start
        first: Array = inputs[0]
        self._before = first.copy()
        return first
