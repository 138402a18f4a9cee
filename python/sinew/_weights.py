# SPDX-License-Identifier: MIT
"""Weights, covariances and limits by names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional, Union

import numpy as np

from ._errors import ArgumentError
from ._types import Array

Weights = Union[float, Mapping[str, float], Sequence[float], Array]
"""A number for all, {name: weight}, a diagonal or a matrix. The name of a probe stands for all its columns."""
Limits = Optional[Mapping[str, "tuple[float | None, float | None]"]]
"""(low, high) by name; None: no limit."""


def _named(name: str, names: Sequence[str], what: str) -> list[int]:
    """Numbers of the signals that a name denotes: one, or all columns of a probe."""
    found = [i for i, n in enumerate(names) if n == name] or [i for i, n in enumerate(names) if n.rsplit(".", 1)[0] == name]
    if not found:
        raise ArgumentError(f"{what}: there is no '{name}' among {', '.join(names)}")
    return found


def weight_matrix(weights: Weights, names: Sequence[str], what: str, positive: bool = False) -> Array:
    """The matrix (n, n) that weights by names mean: symmetric, without negative eigenvalues, `positive`: nor zero ones."""
    matrix = _matrix(weights, names, what)
    if not np.isfinite(matrix).all():
        raise ArgumentError(f"{what} has a number that is not finite")
    size = float(np.abs(matrix).max()) if matrix.size else 0.0
    if np.abs(matrix - matrix.T).max(initial=0.0) > 1e-9 * size:
        raise ArgumentError(f"{what} must be symmetric")
    least = float(np.linalg.eigvalsh(matrix)[0]) if matrix.size else 1.0
    if least < -1e-9 * size or (positive and least <= 1e-15 * size):
        raise ArgumentError(f"{what} must {'be positive definite' if positive else 'not be negative'}; its least eigenvalue is {least:.3g}")
    return matrix


def _matrix(weights: Weights, names: Sequence[str], what: str) -> Array:
    n = len(names)
    if isinstance(weights, Mapping):
        diagonal = np.zeros(n)
        for name, value in weights.items():
            diagonal[_named(name, names, what)] = float(value)
        return np.diag(diagonal)
    array = np.asarray(weights, dtype=np.float64)
    array = np.diag(np.full(n, float(array))) if array.ndim == 0 else np.diag(array) if array.ndim == 1 else array
    if array.shape != (n, n):
        raise ArgumentError(f"{what} needs {n} weights or a matrix ({n}, {n}), but has shape {array.shape}")
    return array


def limits_of(limits: Limits, names: Sequence[str]) -> tuple[Array, Array]:
    """Lowest and highest values (n,) that limits by names mean."""
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for name, (least, most) in (limits or {}).items():
        at = _named(name, names, "limits")
        low[at] = -np.inf if least is None else least
        high[at] = np.inf if most is None else most
    if (low > high).any():
        bad = names[int(np.argmax(low > high))]
        raise ArgumentError(f"limits: the lowest value of '{bad}' is above the highest")
    return low, high
