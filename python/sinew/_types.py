# SPDX-License-Identifier: MIT
"""Names of types that many signatures use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
"""An array of numbers."""
Numbers = Union[float, Sequence[float], Array]
"""What may be given where numbers are wanted."""
Path = Union[str, "os.PathLike[str]"]
"""A path of a file."""
