# SPDX-License-Identifier: MIT
"""Sinew: soft, continuum, parallel and hybrid robots.

    import sinew

    arm = sinew.Robot("arm.yaml")            # a robot: state, kinematics, dynamics, equilibria, motion
    arm.equilibrium()
    arm.pose("arm.tip")

    result = sinew.run("arm.yaml")           # the study of a file: frames and probes
    result["tip"]

SI units and radians; twists and wrenches have the angular part first, quaternions w first.
"""

from ._batch import Batch
from ._device_array import DeviceArray
from ._device_batch import DeviceBatch, DeviceParameters, compile_kernels
from ._command import path as command_path
from ._errors import ArgumentError, Error, FileError, ModelError, NotConverged, SingularError, Stopped
from ._gradient import Gradient, GradientReport, Knots, gradient
from ._import import Imported, ImportNote, from_mjcf, from_sdf, from_urdf, import_text
from ._inverse import Actuation, InverseSolution, Target
from ._linear import LinearModel, Pole, Signal
from ._model import Model
from ._link import Link, Sample
from ._play import Play
from ._reduce import Reduction, ReducedStrain, ReductionTest, reduce
from ._result import Page, Result, Run
from ._robot import Energy, Modes, Robot, Simulation
from ._search import Best, Fit, Found, Limit, Optimum, fit, optimize
from ._special import SpecialPoint
from ._step_map import StepMap
from ._study import SinewWarning, Study, run
from ._sweep import Sweep, sweep
from ._track import Tracking
from ._units import Quantity
from ._workspace import Workspace
from ._core import Part, Parts
from ._sinew import ffi as _ffi, lib as _lib

__version__: str = _ffi.string(_lib.snw_version()).decode()

__all__ = [
    "Actuation", "ArgumentError", "Batch", "Best", "DeviceArray", "DeviceBatch", "DeviceParameters", "Energy", "Error", "FileError", "Fit", "Found", "Gradient", "GradientReport", "ImportNote", "Imported", "InverseSolution", "Knots", "Limit",
    "LinearModel", "Link", "Model", "ModelError", "Modes", "NotConverged", "Optimum", "Page", "Part", "Parts", "Play", "Pole", "Quantity", "ReducedStrain", "Reduction", "ReductionTest", "Result",
    "Robot", "Run", "Sample", "Signal", "Simulation", "SinewWarning", "SingularError", "SpecialPoint", "StepMap", "Stopped", "Study", "Sweep", "Target", "Tracking", "Workspace", "command_path", "compile_kernels", "fit",
    "from_mjcf", "from_sdf", "from_urdf", "gradient", "import_text", "optimize", "reduce", "run", "sweep",
]  # fmt: skip
