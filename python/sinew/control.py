# SPDX-License-Identifier: MIT
"""Control: optimal state feedback and Kalman filters of linear models, optimal inputs of robots (`ilqr`, `MPC`).

`lqr`, `kalman` and `zoh` need scipy.

    lin = robot.linearize(outputs="tip")
    gain = sinew.control.lqr(lin, Q={"hinge.angle": 100}, R=1).K       # u = -K x
    law = sinew.control.law(lin, gain, ["a", "w"])                     # of the probes a and w, for the model file
    controlled = sinew.Robot("arm.yaml", set={"motor.effort": law})
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import NamedTuple

import numpy as np

from ._errors import ArgumentError
from ._linear import LinearModel, Pole, Signal
from ._optimal import MPC, LinearSystem, Plan, System, ilqr
from ._types import Array, Roots
from ._weights import Limits, Weights, weight_matrix

__all__ = ["MPC", "Filter", "Limits", "LinearSystem", "Plan", "Regulator", "System", "Weights", "ilqr", "integrate", "kalman", "law", "lqr", "zoh"]


class Regulator(NamedTuple):
    """Optimal state feedback u = -K x."""

    K: Array
    P: Array
    """Cost x' P x of the state x."""
    poles: Roots
    """Of the closed loop, 1/s, or factors per step."""


class Filter(NamedTuple):
    """Stationary Kalman filter."""

    L: Array
    """Gain on the innovation: x' = .. + L (y - C x); of a discrete model the correction x += L (y - C x)."""
    P: Array
    """Covariance of the estimate, of a discrete model after the correction."""


def _persists(model: LinearModel, s: complex) -> bool:
    """Does a mode with this pole not decay by itself?"""
    return abs(s) >= 1 - 1e-9 if model.step else s.real >= -1e-9 * max(1.0, abs(s))


def _mode_name(model: LinearModel, s: complex) -> str:
    """The pole, and the state that moves most in its mode."""
    value, vector = np.linalg.eig(model.A)
    k = int(np.argmin(abs(value - s)))
    state = model.states[int(np.argmax(abs(vector[:, k])))].name
    return f"the mode with the pole {s:.6g} ('{state}')"


def _unseen(model: LinearModel, A: Array, C: Array) -> list[complex]:
    """Poles on the stability boundary that C does not see; A is that of the model, or its transpose."""
    found = []
    for s in model.poles():
        marginal = abs(abs(s) - 1) < 1e-7 if model.step else abs(s.real) < 1e-7 * max(1.0, abs(s))
        if not marginal:
            continue
        n = len(A)
        rows = np.vstack([s * np.eye(n) - A, C / (np.abs(C).max() or 1.0)])
        size = np.linalg.svd(rows, compute_uv=False)
        if size[-1] < 1e-9 * size[0]:
            found.append(s)
    return found


def lqr(model: LinearModel, Q: Weights, R: Weights) -> Regulator:
    """State feedback that minimises the integral (or sum over steps) of x'Q x + u'R u.

    A mode that does not decay must be reached by the inputs and, on the stability boundary, seen by Q; otherwise there
    is no such feedback, and the error names the mode.
    """
    linalg = import_module("scipy.linalg")
    weight = weight_matrix(Q, [s.name for s in model.states], "Q")
    effort = weight_matrix(R, [s.name for s in model.inputs], "R", positive=True)
    lost: list[Pole] = [p for p in model.modes if not p.controllable and _persists(model, p.s)]
    if lost:
        raise ArgumentError(f"no input reaches {_mode_name(model, lost[0].s)}, which does not decay")
    unseen = _unseen(model, model.A, weight)
    if unseen:
        raise ArgumentError(f"Q does not see {_mode_name(model, unseen[0])}, so no feedback is needed to keep it, and "
                            "none makes it decay; give one of its states a weight")  # fmt: skip
    A, B = model.A, model.B
    if model.step:
        P = linalg.solve_discrete_are(A, B, weight, effort)
        K = np.linalg.solve(effort + B.T @ P @ B, B.T @ P @ A)
    else:
        P = linalg.solve_continuous_are(A, B, weight, effort)
        K = np.linalg.solve(effort, B.T @ P)
    return Regulator(K, P, np.asarray(np.linalg.eigvals(A - B @ K), dtype=np.complex128))


def kalman(model: LinearModel, W: Weights, V: Weights) -> Filter:
    """Stationary Kalman filter for process noise of covariance W (per time, or per step) and measurement noise V.

    A mode that does not decay must be shown by the outputs and, on the stability boundary, be moved by W; otherwise there
    is no such filter, and the error names the mode.
    """
    linalg = import_module("scipy.linalg")
    process = weight_matrix(W, [s.name for s in model.states], "W")
    noise = weight_matrix(V, [s.name for s in model.outputs], "V", positive=True)
    lost = [p for p in model.modes if not p.observable and _persists(model, p.s)]
    if lost:
        raise ArgumentError(f"no output shows {_mode_name(model, lost[0].s)}, which does not decay")
    still = _unseen(model, model.A.T, process)
    if still:
        raise ArgumentError(f"W does not move {_mode_name(model, still[0])}, which does not decay, so that the filter would "
                            "trust it more and more without end; give one of its states noise")  # fmt: skip
    A, C = model.A, model.C
    if not model.step:
        P = linalg.solve_continuous_are(A.T, C.T, process, noise)
        return Filter(np.linalg.solve(noise, C @ P).T, P)
    P = linalg.solve_discrete_are(A.T, C.T, process, noise)
    L = np.linalg.solve(C @ P @ C.T + noise, C @ P).T
    return Filter(L, P - L @ C @ P)


def zoh(model: LinearModel, step: float) -> LinearModel:
    """The exact discrete model of a continuous one for inputs that are constant over each step, s."""
    if model.step:
        raise ArgumentError("the model is discrete already")
    if not step > 0:
        raise ArgumentError(f"step must be positive, got {step}")
    n, m = model.B.shape
    both = import_module("scipy.linalg").expm(np.block([[model.A, model.B], [np.zeros((m, n + m))]]) * step)
    modes = tuple(p._replace(s=complex(np.exp(p.s * step))) for p in model.modes)
    return replace(model, A=both[:n, :n], B=both[:n, n:], step=step, modes=modes)


def integrate(model: LinearModel, outputs: Sequence[str]) -> LinearModel:
    """The model with the integrals of these outputs as further states, "integral(tip.x)": a regulator of it removes the
    errors that constant loads would leave."""
    if model.step:
        raise ArgumentError("integrals are added to a continuous model; make that one discrete")
    rows = [model.index(name, "outputs") for name in outputs]
    n, k = len(model.A), len(rows)
    A = np.block([[model.A, np.zeros((n, k))], [model.C[rows], np.zeros((k, k))]])
    B, C = np.vstack([model.B, model.D[rows]]), np.hstack([model.C, np.zeros((len(model.C), k))])
    more = tuple(Signal(f"integral({s.name})", f"{s.unit or '1'}*s", 0.0, s.exact) for s in (model.outputs[i] for i in rows))

    def reached(s: complex, M: Array, by: Array) -> bool:  # Popov, Belevitch, Hautus
        size = np.linalg.svd(np.hstack([s * np.eye(n + k) - M, by / (np.abs(by).max() or 1.0)]), compute_uv=False)
        return bool(size[-1] > 1e-9 * size[0])

    poles = sorted((complex(s) for s in np.linalg.eigvals(A)), key=abs)
    modes = tuple(Pole(s, abs(s) / (2 * np.pi), -s.real / abs(s) if s else np.nan, reached(s, A, B), reached(s, A.T, C.T), False)
                  for s in poles)  # fmt: skip
    return replace(model, A=A, B=B, C=C, states=model.states + more, modes=modes)


def law(model: LinearModel, gain: Array, probes: Sequence[str], of: int = 0) -> str:
    """The feedback u = u_0 - gain (x - x_0) of input number `of` as the model language writes it, with units.

    `gain`: of all inputs (K), or of this one. `probes`: for each state the probe, its column or an expression of them
    that shows it: "hinge", "tip.wy", "(tip.wy - rate)/(0.4 m)". Operating values are those of the model.
    """
    row = np.atleast_2d(gain)[of if np.ndim(gain) == 2 else 0]
    if not len(row) == len(probes) == len(model.states):
        raise ArgumentError(f"{len(model.states)} states, but {len(row)} gains and {len(probes)} probes")

    def unit(text: str) -> str:
        return f"*(1 {text})" if text and text not in ("rad", "rad/s") else "*(1 1/s)" if text else ""

    effort = model.inputs[of]
    terms = []
    for k, probe, state in zip(row, probes, model.states):
        per = {"rad": "", "": "", "rad/s": "/(1 1/s)"}.get(state.unit, f"/(1 {state.unit})")
        at = "" if state.value == 0 else f" - ({float(state.value)!r}{'' if state.unit == 'rad' else unit(state.unit)})"
        terms.append(f"({float(k)!r})*({probe}{at}){per}")
    base = float(effort.value) + 0.0
    return f"({base!r} - ({' + '.join(terms)})){unit(effort.unit)}"
