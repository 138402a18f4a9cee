# SPDX-License-Identifier: MIT
"""Maps of the workspace: equilibria within ranges of inputs, and their boundary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np
import numpy.typing as npt

from ._core import c_text, new_error, pair, raise_error, text
from ._errors import ArgumentError
from ._sinew import ffi, lib
from ._types import Array, Mask, Names, Pointer

Ranges = Mapping[str, tuple[float, float]]
"""Lowest and highest value by the name of an input or of a component of a load."""
Texts = npt.NDArray[np.str_]
"""An array of words."""
Cells = Union[int, Sequence[int]]
"""Cells of all inputs, or of each."""


@dataclass(frozen=True)
class Workspace:
    """Equilibria within ranges of inputs: the nodes of a cover, then points of their boundary."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    u: Array
    """Inputs (points, inputs), SI."""
    y: Array
    """Outputs (points, outputs), SI; NaN where the branch was lost."""
    kind: Texts
    """Of each point: inside, limit, unstable, lost (nodes); fold, bifurcation, rank, end (boundary)."""
    stability: Array
    """Distance to singularity; NaN where the branch was lost."""
    dexterity: Array
    """Smallest singular value of the gain relative to the largest; 0: the inputs lose a direction of the pose."""
    negative: Array
    """Unstable directions."""
    level: Array
    """Bisections of the cells to which a point belongs."""
    segments: npt.NDArray[np.int_]
    """Pairs of points (segments, 2) between which the boundary passes, of two inputs."""
    segment_kind: Texts
    triangles: npt.NDArray[np.int_]
    """Triangles of points (triangles, 3) that cover what is reached, of two inputs, as ``matplotlib.tri`` takes them."""
    sheets: int
    """Edges on which two ways lead to different equilibria; the map shows one of them."""
    full: bool
    """Refinement stopped at the number of nodes."""
    exact: bool
    """False: some gains are differences of order 6."""
    symmetric: bool
    """False: loads follow the robot; flutter is not looked for."""
    equilibria: int

    def of(self, *kinds: str) -> Mask:
        """Which points are of these kinds (booleans)."""
        unknown = set(kinds) - set(_KINDS)
        if unknown:
            raise ArgumentError(f"there is no kind '{sorted(unknown)[0]}'; kinds are {', '.join(_KINDS)}")
        return np.isin(self.kind, kinds)

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {k}" for k in _KINDS if (n := int(np.sum(self.kind == k))))
        return f"<sinew.Workspace of {', '.join(self.inputs)}: {counts}>"


_KINDS = tuple(text(lib.snw_map_kind_name(k)) for k in range(lib.SNW_MAP_KINDS))


def _numbers(at: Pointer, *shape: int) -> Array:
    return np.frombuffer(ffi.buffer(at, 8 * int(np.prod(shape))), dtype=np.float64).reshape(shape).copy()


def _read(m: Pointer) -> Workspace:
    n = m.npoint
    points = [m.point[i] for i in range(n)]
    kinds = np.array(_KINDS)
    pieces = [m.segment[i] for i in range(m.nsegment)]
    return Workspace(
        tuple(text(m.input[k].name) for k in range(m.ninput)),
        tuple(text(m.output[k].name) for k in range(m.noutput)),
        _numbers(m.u, n, m.ninput),
        _numbers(m.y, n, m.noutput),
        kinds[[p.kind for p in points]],
        np.array([p.stability for p in points]),
        np.array([p.dexterity for p in points]),
        np.array([p.negative for p in points]),
        np.array([p.level for p in points]),
        np.array([(s.point[0], s.point[1]) for s in pieces], dtype=int).reshape(-1, 2),
        kinds[np.array([s.kind for s in pieces], dtype=int)],
        np.array([[m.triangle[i].point[k] for k in range(3)] for i in range(m.ntriangle)], dtype=int).reshape(-1, 3),
        m.sheets, bool(m.full), bool(m.exact), bool(m.symmetric), m.equilibria,
    )  # fmt: skip


def workspace(robot: Pointer, ranges: Ranges, outputs: Names, cells: Cells, refine: int, near: float, time: float,
              most: int) -> Workspace:  # fmt: skip
    """The map of a robot of the library."""
    err = new_error()
    how = ffi.new("snw_workspace_options *", lib.snw_workspace_defaults())
    each = [cells] * len(ranges) if isinstance(cells, int) else list(cells)
    if len(each) != len(ranges):
        raise ArgumentError(f"'cells' has {len(each)} numbers for {len(ranges)} inputs")
    kept: list[Pointer] = []
    inputs = ffi.new("snw_workspace_input[]", len(ranges) or 1)
    for to, (name, range_), count in zip(inputs, ranges.items(), each):
        kept.append(ffi.new("char[]", c_text(name, "name")))
        if count < 1:
            raise ArgumentError(f"'cells' must be positive, got {count}")
        to.name, to.cells = kept[-1], count
        to.low, to.high = pair(range_, name)
    names = [] if outputs is None else [outputs] if isinstance(outputs, str) else list(outputs)
    kept += [ffi.new("char[]", c_text(name, "outputs")) for name in names]
    wanted = ffi.new("char *[]", kept[len(ranges) :] or 1)
    how.ninput, how.input = len(ranges), inputs
    how.noutput, how.output = len(names), wanted
    how.levels, how.near, how.time, how.most = refine, near, time, most
    out = ffi.new("snw_workspace **")
    if lib.snw_robot_workspace(robot, how, out, err) != lib.SNW_OK:
        raise_error(err)
    try:
        return _read(out[0])
    finally:
        lib.snw_workspace_close(out[0])
