# SPDX-License-Identifier: MIT
"""Strain functions from results, by the command `sinew`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

from . import _command

Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]


class ReducedStrain(NamedTuple):
    """The functions of one strain of one rod."""

    rod: str
    strain: str
    parent: int
    """Functions of the parent."""
    functions: int
    """Functions kept."""
    energy: float
    """Share of the energy of this strain that they keep."""
    sigma: list[float]
    """Singular values, sqrt(J)."""
    interpolation: float
    """Largest error of the table between its rows, relative to a function."""


class ReductionTest(NamedTuple):
    """Errors on a run that was not used: largest value, mean and number of frames; None: not computed."""

    file: str
    run: str
    projection: dict[str, float] | None
    """Of strains less their projection on the functions."""
    strain: dict[str, float] | None
    """Of strains of the reduced simulation."""
    tip: dict[str, float] | None
    """Of tips of the reduced simulation, relative to the length of the rod."""


@dataclass(frozen=True)
class Reduction:
    """Strain functions that represent runs of a robot best."""

    functions: int
    """In all."""
    parent: int
    """Coordinates of the same rods of the parent."""
    snapshots: int
    energy: float
    """Share of the elastic energy of the snapshots that the functions keep."""
    strains: tuple[ReducedStrain, ...]
    tests: tuple[ReductionTest, ...]
    strain: dict[str, str]
    """Text of `strain` of each rod for a model that reads the table; empty without `output`."""
    together: dict[str, str]
    """Text of `together` of each rod whose strains share coordinates."""
    reply: dict[str, Any]
    """All that `sinew reduce --json` says."""


def _files(given: Paths) -> list[str]:
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(f) for f in given]


def reduce(
    results: Paths,
    *,
    functions: int | None = None,
    energy: float | None = None,
    together: bool = False,
    test: Paths = (),
    simulate: bool = False,
    rods: Sequence[str] = (),
    runs: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
) -> Reduction:
    """Strain functions from the frames of result files, by proper orthogonal decomposition in the energy norm.

    `functions`: their number in all; `energy`: instead the share of the elastic energy to keep. `together`: one
    coordinate for functions of all strains of a rod, instead of coordinates of each strain. `test`: results of the same robot that
    were not used; `simulate`: also compare simulations with the functions. `rods`, `runs`: only these. `output`: table of the
    functions, which a model reads.
    """
    args = ["reduce", *_files(results)]
    args += [] if functions is None else ["--functions", str(functions)]
    args += [] if energy is None else ["--energy", f"{energy:.17g}"]
    args += ["--together"] if together else []
    for option, values in (("test", _files(test)), ("rod", rods), ("run", runs)):
        args += [word for value in values for word in (f"--{option}", value)]
    args += (["--simulate"] if simulate else []) + ([] if output is None else ["-o", os.fspath(output)])
    reply = _command.call(*args)
    return Reduction(
        reply["functions"], reply["parent"], reply["snapshots"], reply["energy"],
        tuple(ReducedStrain(*(s[key] for key in ReducedStrain._fields)) for s in reply["strains"]),
        tuple(ReductionTest(*(t.get(key) for key in ReductionTest._fields)) for t in reply["tests"]),
        reply.get("strain", {}), reply.get("together", {}), reply)  # fmt: skip
