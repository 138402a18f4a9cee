# SPDX-License-Identifier: MIT
"""Names of types that many signatures use."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
"""An array of numbers."""
Roots = npt.NDArray[np.complex128]
"""An array of complex numbers."""
Names = Union[str, Sequence[str], None]
"""A name, several, or none."""
Mask = npt.NDArray[np.bool_]
"""An array of booleans."""
Numbers = Union[float, Sequence[float], Array]
"""What may be given where numbers are wanted."""
Rows = Union[Numbers, Sequence[Sequence[float]]]
"""What may be given where numbers or a matrix are wanted."""
Inputs = Union[Numbers, str, Sequence[Union[float, str]]]
"""What may be given where texts with units are read too."""
Value = Union[float, str, Sequence[Union[float, str]]]
"""Value of an override: a number (int and bool count as such), a text, with a unit or not, or a list of these."""
Overrides = Mapping[str, Value]
"""Values by the paths of the model language."""
Path = Union[str, "os.PathLike[str]"]
"""A path of a file."""
Pointer = Any
"""A pointer, structure or array of CFFI, which gives no types to them."""
