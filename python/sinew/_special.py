# SPDX-License-Identifier: MIT
"""Special points of paths of equilibria."""

from typing import NamedTuple


class SpecialPoint(NamedTuple):
    """A fold, a bifurcation, the onset of flutter, or a cusp of a curve of folds, found by a `path` step."""

    step: str
    """Name of the step."""
    kind: str
    """`fold`, `branch`, `flutter` or `cusp`."""
    number: int
    """Which of its kind in the step, from 1."""
    path: int
    """1 for the first path, then other branches and curves of folds."""
    t: float
    """The parameter of the path: time, s, or a constant of the file, SI units."""
    arc: float
    """Arc length from the start of its path."""
    multiplicity: int
    """Eigenvalues that vanish together at a bifurcation; else 1."""
    unstable: int
    """Unstable directions there, besides those that vanish."""
    frequency: float
    """Of flutter, Hz; else NaN."""
    by: dict[str, float]
    """Of a fold: derivatives dt/dm by the constants that its step names under `by`, SI units."""


KINDS = ("", "fold", "branch", "flutter", "cusp")
