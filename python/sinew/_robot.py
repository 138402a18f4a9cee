# SPDX-License-Identifier: MIT
"""A robot: its state, kinematics, dynamics, equilibria and motion step by step."""

from __future__ import annotations

import html
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ._core import Exclusive, OfThisProcess, Parts, c_text, doubles, fill, new_error, override_list, raise_error, real, vector, view
from ._errors import ArgumentError, Error
from ._inverse import Named, InverseSolution, Limits, Targets, choose_actuators, solve_inverse, with_limits
from ._linear import LinearModel, linearize
from ._model import Coordinates, Model, model_of
from ._play import Play
from ._sinew import ffi, lib
from ._sketch import svg
from ._step_map import StepMap
from ._track import Tracking, track
from ._types import Array, Inputs, Names, Numbers, Overrides, Path, Pointer, Rows, Value
from ._units import Quantity, effort_of, inputs, seconds
from ._workspace import Cells, Ranges, Workspace, workspace

_step = lib.snw_robot_step
_AXES: dict[str, int] = {"body": lib.SNW_AXES_BODY, "world": lib.SNW_AXES_WORLD}


@dataclass(frozen=True)
class Energy:
    """Energies (J), dissipated power (W) and momentum of a robot."""

    kinetic: float
    elastic: float
    gravity: float
    dissipation: float
    """Dissipated power, W."""
    momentum: Array
    """Angular momentum about the origin (kg m^2/s), then linear momentum (kg m/s), world frame."""

    @property
    def total(self) -> float:
        """Kinetic, elastic and gravity energy, J."""
        return self.kinetic + self.elastic + self.gravity


class Modes(NamedTuple):
    """Modes of small vibrations, by rising frequency."""

    frequency: Array
    """Hz, undamped; 0: null motion, negative: grows with the rate 2 pi |f| 1/s."""
    damping: Array
    """Fraction of critical damping; NaN without vibration."""
    shape: Array
    """Displacements (nv, count) of unit modal mass."""


class Parameters(MutableMapping[str, Value]):
    """Values of the model by the paths of overrides: `robot.parameters["silicone.young"]`.

    Reading gives SI numbers that know their unit (`.unit`, `.to("MPa")`); numbers and texts with units ("2 MPa") may be
    set. A change keeps the state.
    """

    def __init__(self, robot: "Robot"):
        self._robot = robot

    def __getitem__(self, path: str) -> Quantity:
        return Quantity(*self._robot.model.quantity(path))

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._robot.model.has(path)

    def get(self, path: str, default: Any = None) -> Any:
        """The value of `path`, SI, or `default` where there is none."""
        return self[path] if path in self else default

    def unit(self, path: str) -> str:
        """SI unit of a value."""
        return self._robot.model.quantity(path)[1]

    def __setitem__(self, path: str, value: Value) -> None:
        self.update({path: value})

    def update(self, values: Overrides) -> None:  # type: ignore[override]  # values of a mapping only, all at once
        """Set several values at once; on an error none of them changes."""
        self._robot._set_parameters(values)

    def __delitem__(self, path: str) -> None:
        raise TypeError("values of a model cannot be removed")

    def __iter__(self) -> Iterator[str]:
        return iter(self._robot.model.parameter_parts)

    def __len__(self) -> int:
        return len(self._robot.model.parameter_parts)

    def __repr__(self) -> str:
        return repr(self._robot.model.parameter_parts)


Law = Callable[["Robot"], Inputs]
"""Inputs of an actuator as a function of the robot."""


class Controls(MutableMapping[str, "Inputs | Law"]):
    """Inputs of the actuators: `controls["cord(1)"] = 2.0`, by the name of the actuator or its number.

    The value, a number or a text with a unit ("3 N"), replaces the law of the file: an effort (N, N m), a tension (N), a
    pressure (Pa), a position (m, rad), a shortening (m), a volume (m^3), an amount of gas (mol) or the activation factor
    of a muscle, as the file prescribes it. It is used, and refused if it is not valid, by the next computation or step.
    A function of the robot is evaluated at the beginning of each step: `controls["cord(1)"] = lambda robot: ...`.
    `del controls[name]` returns to the law of the file. The same numbers as an array are `robot.u`.
    """

    def __init__(self, robot: "Robot"):
        self._robot = robot
        self._u = ffi.cast("double *", ffi.from_buffer(robot._u)) if robot._u.size else ffi.NULL
        self._slots: dict[str | int, tuple[int, int, int]] = {}  # index of the actuator, first of its inputs, their number
        self._laws: dict[int, tuple[Law, int, int]] = {}  # of actuators: function, first input, number of inputs

    def _slot(self, name: str | int) -> tuple[int, int, int]:
        part = self._robot.model.actuators[name]
        slot = self._slots[name] = part.index, part.numbers.start, part.size
        return slot

    def __setitem__(self, name: str | int, value: Inputs | Law) -> None:
        index, first, size = self._slots.get(name) or self._slot(name)
        if callable(value):
            self._laws[index] = value, first, size
            return
        if size == 1 and isinstance(value, float) and type(value) is not Quantity:
            self._u[first] = value
        else:
            self._write(name, first, size, value)
        if self._laws:
            self._laws.pop(index, None)

    def _write(self, name: str | int, first: int, size: int, value: Inputs) -> None:
        part = self._robot.model.actuators[name]
        self._robot._u[first : first + size] = vector(inputs(part, value), size, part.name)

    def move(self, name: str | int, position: Inputs, rate: Numbers | None = None, acceleration: Numbers | None = None) -> None:
        """Prescribe position, rate and acceleration of an actuator whose motion the file gives, from now on, SI; the
        position may be a text with a unit."""
        index, _, size = self._slots.get(name) or self._slot(name)
        robot = self._robot
        position = inputs(robot.model.actuators[name], position)
        arrays = [None if x is None else vector(x, size, name) for x in (position, rate, acceleration)]
        pointers = [ffi.NULL if x is None else doubles(x) for x in arrays]
        if lib.snw_robot_set_motion(robot._r, index, *pointers, robot._err) != lib.SNW_OK:
            raise_error(robot._err)

    def __getitem__(self, name: str | int) -> Quantity | Any:  # Array where it has several inputs
        """Present effort with its `.unit`: N, N*m, tension (N) or gauge pressure (Pa); activation factor of a muscle."""
        index, _, size = self._slots.get(name) or self._slot(name)
        out = np.empty(size)
        self._robot._check(lib.snw_robot_effort(self._robot._r, index, doubles(out)))
        return effort_of(self._robot.model.actuators[name], out[0]) if size == 1 else out

    def limits(self, name: str | int) -> tuple[str, ...]:
        """Limits of the file that an actuator has reached at present: "effort", cut off or, of a given motion, exceeded; "rate"."""
        index, _, _ = self._slots.get(name) or self._slot(name)
        reached = lib.snw_robot_limits(self._robot._r, index)
        if reached < 0:
            self._robot._check(lib.SNW_E_ARGUMENT)
        return tuple(word for bit, word in ((lib.SNW_LIMIT_EFFORT, "effort"), (lib.SNW_LIMIT_RATE, "rate")) if reached & bit)

    def unit(self, name: str | int) -> str:
        """SI unit in which an actuator is prescribed; empty for plain numbers and several units."""
        return self._robot.model.actuators[name].unit

    def __delitem__(self, name: str | int) -> None:
        index, _, _ = self._slots.get(name) or self._slot(name)
        self._laws.pop(index, None)
        self._robot._check(lib.snw_robot_unset_actuator(self._robot._r, index))

    def clear(self) -> None:
        """Return to the laws of the file for all actuators."""
        for name in self:
            del self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._robot.model.actuators)

    def __len__(self) -> int:
        return len(self._robot.model.actuators)

    def __repr__(self) -> str:
        return repr(self._robot.model.actuators)

    def _apply_laws(self) -> None:
        robot = self._robot
        for index, (law, first, size) in tuple(self._laws.items()):  # a law may set and remove laws
            value = law(robot)
            if size == 1 and isinstance(value, float) and type(value) is not Quantity:
                self._u[first] = value
            else:
                self._write(index, first, size, value)


class Robot(OfThisProcess):
    """A robot made from a model: state, kinematics, dynamics, statics and motion.

    `model`: a model file, or a `Model`; or `text`: the text of a model. `run`, `set`: see `Model`. SI units and radians;
    twists and wrenches have the angular part first, quaternions w first. A robot is used by one thread at a time.

    >>> arm = sinew.Robot("arm.yaml", set={"silicone.young": "2 MPa"})
    >>> arm.equilibrium()
    >>> arm.pose("arm.tip")[:3, 3]
    """

    _instead = "use its copy(), or open its model again in the other process and give it q, v and u"

    def __init__(self, model: Path | Model | None = None, *, text: str | None = None,
                 run: str | None = None, set: Overrides | None = None):  # fmt: skip
        if isinstance(model, Robot):
            raise TypeError("robot.copy() is another robot in the same state, Robot(robot.model) one in the initial state")
        model = model_of(model, text=text, run=run, set=set)
        out, self._err = ffi.new("snw_robot **"), new_error()
        if lib.snw_robot_from_model(model._m, out, self._err) != lib.SNW_OK:
            raise_error(self._err)
        self._take(out[0], model)

    def _take(self, pointer: Pointer, model: Model, owner: Pointer = None, exclusive: Exclusive | None = None) -> None:
        """Use a robot of the library. It is closed with this object, unless its owner, such as a batch, is given."""
        self._r = pointer if owner is not None else ffi.gc(pointer, lib.snw_robot_close)
        self._owner = owner = self._r if owner is None else owner
        self._model = model
        self._exclusive = exclusive or Exclusive()
        self._acquire, self._release = self._exclusive._lock.acquire, self._exclusive._lock.release
        self._place = ffi.new("snw_place *")
        self._places: dict[str, Pointer] = {}  # name -> snw_place
        self._probes: dict[str, tuple[Pointer, int, Array, Pointer]] = {}  # name -> text for C, size, array, its address
        self._matrix = np.empty((4, 4))  # results of calls, before they are copied
        self._matrix_at = doubles(self._matrix)
        self.nq: int = lib.snw_robot_nq(self._r)
        """Number of coordinates."""
        self.nv: int = lib.snw_robot_nv(self._r)
        """Number of velocities."""
        self._columns = np.empty((self.nv, 6))
        self._columns_at = doubles(self._columns)
        self._q = view(lib.snw_robot_q(self._r), (self.nq,), owner)
        self._v = view(lib.snw_robot_v(self._r), (self.nv,), owner)
        self._a = view(lib.snw_robot_a(self._r), (self.nv,), owner)
        self._u = view(lib.snw_robot_u(self._r), (lib.snw_robot_inputs(self._r),), owner)
        self._controls, self._parameters = Controls(self), Parameters(self)
        self._motion: weakref.ref[Simulation] | None = None  # the one that was started last

    @classmethod
    def from_dict(cls, tree: Mapping[str, object], *, run: str | None = None, set: Overrides | None = None) -> "Robot":
        """A robot from dictionaries and lists with the keys of the model language."""
        return cls(Model.from_dict(tree, run=run, set=set))

    def copy(self) -> "Robot":
        """A robot in the same state on the same model; a motion that was started goes on with the same bits."""
        out, err = ffi.new("snw_robot **"), new_error()
        with self._exclusive:
            if lib.snw_robot_copy(self._r, out, err) != lib.SNW_OK:
                raise_error(err)
        twin = Robot.__new__(type(self))
        twin._err = err
        twin._take(out[0], self._model)
        twin._controls._laws = dict(self._controls._laws)
        return twin

    def __copy__(self) -> "Robot":
        return self.copy()

    def __deepcopy__(self, _memo: object) -> "Robot":
        return self.copy()

    def _check(self, status: int) -> None:
        """Raise the error of a call without an `err` parameter."""
        if status != lib.SNW_OK:
            raise_error(lib.snw_robot_error(self._r))

    def _set_parameters(self, values: Overrides) -> None:
        with self._exclusive:
            self._change(values)

    def _change(self, values: Overrides) -> None:
        count, texts, _kept = override_list(values)
        if lib.snw_robot_set_parameters(self._r, count, texts, self._err) != lib.SNW_OK:
            raise_error(self._err, values)
        source = self._model._source and self._model._source.changed(values)
        self._model = Model._of(lib.snw_robot_model_share(lib.snw_robot_model_of(self._r)), source)

    # ---- parts

    @property
    def model(self) -> Model:
        """The model, with the values set by `parameters`."""
        return self._model

    @property
    def links(self) -> Parts:
        """Links, parents before children."""
        return self._model.links

    @property
    def joints(self) -> Parts:
        """Joints that move, named as their links."""
        return self._model.joints

    @property
    def rods(self) -> Parts:
        """Rods, named as their links."""
        return self._model.rods

    @property
    def nodes(self) -> Parts:
        """Nodes, by number, in the order of the frames of result files."""
        return self._model.nodes

    @property
    def sites(self) -> Parts:
        """Named sites."""
        return self._model.sites

    @property
    def loops(self) -> Parts:
        """Loop closures and contacts without slip."""
        return self._model.loops

    @property
    def actuators(self) -> Parts:
        """Actuators; `type` is the prescribed quantity."""
        return self._model.actuators

    @property
    def loads(self) -> Parts:
        """Loads."""
        return self._model.loads

    @property
    def contacts(self) -> Parts:
        """Grounds."""
        return self._model.contacts

    @property
    def springs(self) -> Parts:
        """Springs, cables, dampers and bushings."""
        return self._model.springs

    @property
    def probes(self) -> Parts:
        """Probes of the file."""
        return self._model.probes

    @property
    def coordinates(self) -> Coordinates:
        """Where coordinates are in `q`: by name of a coordinate (index) or of a link (slice)."""
        return self._model.coordinates

    @property
    def controls(self) -> Controls:
        """Inputs of the actuators, see `Controls`."""
        return self._controls

    @property
    def parameters(self) -> Parameters:
        """Values of the model by path, SI, see `Parameters`."""
        return self._parameters

    # ---- state

    @property
    def q(self) -> Array:
        """Coordinates (nq), a view to read and write; `coordinates` tells their order and units, SI."""
        return self._q

    @q.setter
    def q(self, value: Numbers) -> None:
        fill(self._q, value, "q")

    @property
    def v(self) -> Array:
        """Velocities (nv), SI, a view to read and write."""
        return self._v

    @v.setter
    def v(self, value: Numbers) -> None:
        fill(self._v, value, "v")

    @property
    def a(self) -> Array:
        """Accelerations (nv), SI, a view to read and write."""
        return self._a

    @a.setter
    def a(self, value: Numbers) -> None:
        fill(self._a, value, "a")

    @property
    def u(self) -> Array:
        """Inputs of all actuators, SI, a view to read and write, in the order of `actuators` (`actuators[name].numbers`).

        NaN where the law of the file holds; `del controls[name]` returns to it. Numbers are used from the next
        computation or step on, which refuses those that are not finite.
        """
        return self._u

    @u.setter
    def u(self, value: Numbers) -> None:
        fill(self._u, value, "u")

    @property
    def t(self) -> float:
        """Time at which laws are evaluated, s."""
        return lib.snw_robot_time(self._r)

    @t.setter
    def t(self, value: float) -> None:
        self._check(lib.snw_robot_set_time(self._r, value))

    def move(self, dx: Numbers) -> None:
        """Move q by an increment (nv): a sum for rods and axes, body rotations and twists for ball and free joints."""
        dx = vector(dx, self.nv, "dx")
        self._check(lib.snw_robot_move(self._r, doubles(dx)))

    class _At:
        """Another state for one computation; the robot has its own again afterwards."""

        def __init__(self, robot: "Robot", q: Numbers | None, v: Numbers | None, a: Numbers | None):
            self._pairs: list[tuple[Array, Array, Array]] = []  # array of the robot, other value, own value
            for array, value, name in ((robot.q, q, "q"), (robot.v, v, "v"), (robot.a, a, "a")):
                if value is not None:
                    self._pairs.append((array, vector(value, array.size, name), array.copy()))

        def __enter__(self) -> None:
            for array, value, _ in self._pairs:
                array[:] = value

        def __exit__(self, *_: object) -> None:
            for array, _value, old in self._pairs:
                array[:] = old

    # ---- kinematics

    def _at(self, place: str, x: float | None) -> Pointer:
        if x is not None:
            out = self._place
            out.kind, out.index, out.x = lib.SNW_PLACE_ROD, self._model.rods[place].index, x
            return out[0]
        found = self._places.get(place)
        if found is None:
            at = ffi.new("snw_place *")
            self._check(lib.snw_robot_find_place(self._r, c_text(place, "a place"), at))
            found = self._places[place] = at[0]
        return found

    def _enter(self) -> None:
        """As `with self._exclusive`, at less cost: the caller releases."""
        if not self._acquire(False):
            self._exclusive.__enter__()

    def pose(self, place: str, x: float | None = None) -> Array:
        """Pose in the world, 4 x 4, of a link's end ("hand"), "arm.root", "arm.tip", a named site, or, with `x`, of the
        section of a rod at arc length x (m)."""
        at = self._at(place, x)
        self._enter()
        try:
            if lib.snw_robot_pose(self._r, at, self._matrix_at):
                raise_error(lib.snw_robot_error(self._r))
            return self._matrix.T.copy()
        finally:
            self._release()

    def poses(self, link: str | None = None) -> Array:
        """World poses of all nodes, (nodes, 4, 4), or of those of one link; positions in m."""
        out = np.empty((lib.snw_robot_nodes(self._r), 4, 4))
        with self._exclusive:
            self._check(lib.snw_robot_poses(self._r, doubles(out)))
        out = out.transpose(0, 2, 1)
        return out if link is None else out[self._model.links[link].nodes]

    def _axes(self, frame: str) -> int:
        try:
            return _AXES[frame]
        except KeyError:
            raise ArgumentError(f"frame is 'body' or 'world', not '{frame}'") from None

    def twist(self, place: str, x: float | None = None, *, frame: str = "world") -> Array:
        """Angular velocity (rad/s) and velocity (m/s) of a frame, (6,), in world or body axes."""
        out = np.empty(6)
        with self._exclusive:
            self._check(lib.snw_robot_twist(self._r, self._at(place, x), self._axes(frame), doubles(out)))
        return out

    def acceleration(self, place: str, x: float | None = None, *, frame: str = "world") -> Array:
        """Time derivative of `twist` at (q, v, a), (6,); in world axes it contains the acceleration of the point."""
        out = np.empty(6)
        with self._exclusive:
            self._check(lib.snw_robot_acceleration(self._r, self._at(place, x), self._axes(frame), doubles(out)))
        return out

    def jacobian(self, place: str, x: float | None = None, *, frame: str = "world") -> Array:
        """Jacobian (6, nv) of a frame: twist = J v + part of motion given by laws."""
        at, axes = self._at(place, x), self._axes(frame)
        self._enter()
        try:
            if lib.snw_robot_jacobian(self._r, at, axes, self._columns_at, ffi.NULL):
                raise_error(lib.snw_robot_error(self._r))
            return self._columns.T.copy()
        finally:
            self._release()

    def jacobian_rate(self, place: str, x: float | None = None, *, frame: str = "world") -> Array:
        """Time derivative (6, nv) of `jacobian` along (q, v)."""
        out, rate = np.empty((6, self.nv), order="F"), np.empty((6, self.nv), order="F")
        with self._exclusive:
            self._check(lib.snw_robot_jacobian(self._r, self._at(place, x), self._axes(frame), doubles(out),
                                               doubles(rate)))  # fmt: skip
        return rate

    def strain(self, rod: str, x: float) -> Array:
        """Twist, bend_y, bend_z (1/m), stretch, shear_y, shear_z of a rod at arc length x (m), (6,)."""
        out = np.empty(6)
        with self._exclusive:
            self._check(lib.snw_robot_strain(self._r, self._model.rods[rod].index, x, doubles(out)))
        return out

    def wrench(self, rod: str, x: float) -> Array:
        """Internal moment (N m) and force (N) at arc length x (m), (6,), section axes, by the tip side on the root side."""
        out = np.empty(6)
        with self._exclusive:
            self._check(lib.snw_robot_wrench(self._r, self._model.rods[rod].index, x, doubles(out)))
        return out

    def probe(self, name: str) -> Array | Any:  # float where it has one column, which only the file tells
        """Present value of a probe of the file, SI; a number where it has one column."""
        key, size, out, address = self._probes.get(name) or self._find_probe(name)
        self._enter()
        try:
            if lib.snw_robot_probe(self._r, key, size, address) != size:
                raise_error(lib.snw_robot_error(self._r))
            return float(out[0]) if size == 1 else out.copy()
        finally:
            self._release()

    def _find_probe(self, name: str) -> tuple[Pointer, int, Array, Pointer]:
        size = self._model.probes[name].size
        out = np.empty(size)
        found = self._probes[name] = ffi.new("char[]", c_text(name, "a probe")), size, out, doubles(out)
        return found

    # ---- dynamics

    def inverse_dynamics(self, a: Numbers | None = None, *, q: Numbers | None = None, v: Numbers | None = None) -> Array:
        """Generalised forces (nv), SI, needed for the motion (q, v, a) in addition to those of the model."""
        out = np.empty(self.nv)
        with self._exclusive, self._At(self, q, v, a):
            self._check(lib.snw_robot_inverse_dynamics(self._r, doubles(out)))
        return out

    def forward_dynamics(self, tau: Numbers | None = None, *, q: Numbers | None = None,
                         v: Numbers | None = None) -> Array:  # fmt: skip
        """Accelerations (nv), SI, at (q, v) under forces tau in addition to those of the model, constraints included."""
        force = None if tau is None else vector(tau, self.nv, "tau")
        old = self.a.copy()
        with self._exclusive, self._At(self, q, v, None):
            status = lib.snw_robot_accelerate(self._r, ffi.NULL if force is None else doubles(force), self._err)
            out = self.a.copy()
            self.a[:] = old
        if status != lib.SNW_OK:
            raise_error(self._err)
        return out

    def bias(self, *, q: Numbers | None = None, v: Numbers | None = None) -> Array:
        """Bias forces h (nv), SI: the inverse dynamics is M a + h."""
        out = np.empty(self.nv)
        with self._exclusive, self._At(self, q, v, None):
            self._check(lib.snw_robot_bias(self._r, doubles(out)))
        return out

    def mass(self, *, q: Numbers | None = None) -> Array:
        """Mass matrix (nv, nv) at q."""
        out = np.empty((self.nv, self.nv), order="F")
        with self._exclusive, self._At(self, q, None, None):
            self._check(lib.snw_robot_mass(self._r, doubles(out)))
        return out

    def mass_solve(self, b: Rows, *, q: Numbers | None = None) -> Array:
        """M^-1 b for a vector (nv) or a matrix (nv, n)."""
        x = np.array(real(b, "b"), dtype=np.float64, order="F")
        if x.ndim not in (1, 2) or x.shape[0] != self.nv:
            raise ArgumentError(f"'b' needs {self.nv} rows, but has shape {x.shape}")
        columns = 1 if x.ndim == 1 else x.shape[1]
        with self._exclusive, self._At(self, q, None, None):
            status = lib.snw_robot_mass_solve(self._r, columns, doubles(x), doubles(x), self._err)
        if status != lib.SNW_OK:
            raise_error(self._err)
        return x

    def tangent(self, *, q: Numbers | None = None, v: Numbers | None = None,
                a: Numbers | None = None) -> tuple[Array, Array, Array]:  # fmt: skip
        """K, C, M (nv, nv): derivatives of the inverse dynamics with respect to q, v and a."""
        K, C, M = (np.empty((self.nv, self.nv), order="F") for _ in range(3))
        with self._exclusive, self._At(self, q, v, a):
            self._check(lib.snw_robot_tangent(self._r, doubles(K), doubles(C), doubles(M)))
        return K, C, M

    def energy(self) -> Energy:
        """Energies (J), dissipated power (W) and momentum at (q, v)."""
        out = ffi.new("snw_robot_energies *")
        with self._exclusive:
            self._check(lib.snw_robot_energy(self._r, out))
        return Energy(out.kinetic, out.elastic, out.gravity, out.dissipation, np.array(list(out.momentum)))

    def link_energies(self) -> dict[str, Array]:
        """Kinetic, elastic and gravity energy of each link, J."""
        out = np.empty((len(self._model.links), 3))
        with self._exclusive:
            self._check(lib.snw_robot_link_energies(self._r, doubles(out)))
        return dict(zip(self._model.links, out))

    # ---- constraints

    @property
    def nconstraints(self) -> int:
        """Number of constraint rows."""
        return lib.snw_robot_constraints(self._r)

    def constraint_jacobian(self) -> tuple[Array, Array]:
        """Constraint Jacobian (rows, nv) and violation of the rows (rows,), m and rad."""
        n = self.nconstraints
        C, violation = np.empty((n, self.nv), order="F"), np.empty(n)
        with self._exclusive:
            self._check(lib.snw_robot_constraint_jacobian(self._r, doubles(C), doubles(violation)))
        return C, violation

    def multipliers(self) -> tuple[Array, Array]:
        """Lagrange multipliers (rows,) of the last computation, N and N m, and their generalised forces (nv,)."""
        out, force = np.empty(self.nconstraints), np.empty(self.nv)
        with self._exclusive:
            self._check(lib.snw_robot_multipliers(self._r, doubles(out), doubles(force)))
        return out, force

    def loop_wrench(self, loop: str) -> Array:
        """Torque (N m) and force (N) that a loop exerts on its second site, world axes, (6,)."""
        out = np.empty(6)
        with self._exclusive:
            self._check(lib.snw_robot_loop_wrench(self._r, self._model.loops[loop].index, doubles(out)))
        return out

    # ---- loads

    def set_load(self, name: str, force: Numbers | None = None, torque: Numbers | None = None) -> None:
        """Replace the laws of a load by a constant force (N) and torque (N m), in the axes that the file gives."""
        arrays = [None if x is None else vector(x, 3, n) for x, n in ((force, "force"), (torque, "torque"))]
        pointers = [ffi.NULL if x is None else doubles(x) for x in arrays]
        self._check(lib.snw_robot_set_load(self._r, self._model.loads[name].index, *pointers))

    def unset_load(self, name: str) -> None:
        """Return to the laws of the file."""
        self._check(lib.snw_robot_unset_load(self._r, self._model.loads[name].index))

    def set_translation(self, tube: str, position: float | None = None, rate: float = 0, acceleration: float = 0) -> None:
        """Slide the base of a concentric tube whose `translation` is a law of t: position along x (m), rate and
        acceleration from now on. None: return to the law."""
        motion = ffi.NULL if position is None else doubles(vector([position, rate, acceleration], 3, tube))
        if lib.snw_robot_set_translation(self._r, tube.encode(), motion, self._err) != lib.SNW_OK:
            raise_error(self._err)

    def set_gravity(self, gravity: Numbers | None = None) -> None:
        """Replace gravity (m/s^2, world frame); None: that of the file."""
        g = None if gravity is None else vector(gravity, 3, "gravity")
        self._check(lib.snw_robot_set_gravity(self._r, ffi.NULL if g is None else doubles(g)))

    def set_field(self, name: str, factor: float = 1) -> None:
        """Multiply the laws of a field of the file by a factor from now on, as the current of coils does."""
        if lib.snw_robot_set_field(self._r, name.encode(), factor, self._err) != lib.SNW_OK:
            raise_error(self._err)

    def field_factor(self, name: str) -> float:
        """Present factor of a field, 1 unless set."""
        factor = ffi.new("double *")
        if lib.snw_robot_field(self._r, name.encode(), ffi.NULL, factor, ffi.NULL, self._err) != lib.SNW_OK:
            raise_error(self._err)
        return factor[0]

    def field(self, name: str, place: Numbers) -> Array:
        """Field at a place of the world (m) at the present time, with its factor: flux density of magnetic fields and
        dipoles (T), force per length (N/m) or on a body (N), or acceleration (m/s^2)."""
        value = np.empty(3)
        with self._exclusive:
            status = lib.snw_robot_field(self._r, name.encode(), doubles(vector(place, 3, "place")), ffi.NULL,
                                         doubles(value), self._err)  # fmt: skip
        if status != lib.SNW_OK:
            raise_error(self._err)
        return value

    # ---- statics

    def equilibrium(self, t: float | None = None) -> None:
        """Move to a stable equilibrium under the loads at time t (now unless given); v and a become 0.

        Raises `NotConverged`, whose text tells the fraction of the load reached; q is then the last equilibrium found.
        """
        with self._exclusive:
            if lib.snw_robot_equilibrium(self._r, self.t if t is None else t, self._err) != lib.SNW_OK:
                raise_error(self._err)

    @property
    def stability(self) -> float:
        """Smallest eigenvalue of the static tangent stiffness relative to the unloaded one: 1 unloaded, 0 at buckling."""
        with self._exclusive:
            return lib.snw_robot_stability(self._r)

    def modes(self, count: int | None = None) -> Modes:
        """Frequencies (Hz), damping ratios and shapes of small vibrations about the present configuration at rest.

        `count`: how many, all unless given. The configuration should be an equilibrium; loops stay closed.
        """
        most = self.nv if count is None else min(count, self.nv)
        if most < 0:
            raise ArgumentError(f"the number of modes must not be negative, but is {count}")
        frequency, damping, found = np.empty(most), np.empty(most), ffi.new("int *")
        shape = np.empty((self.nv, most), order="F")
        with self._exclusive:
            status = lib.snw_robot_modes(self._r, most, doubles(frequency), doubles(damping), doubles(shape), found,
                                         self._err)  # fmt: skip
        if status != lib.SNW_OK:
            raise_error(self._err)
        n = found[0]
        return Modes(frequency[:n], damping[:n], shape[:, :n])

    def linearize(self, inputs: Names = None, outputs: Names = None, *, three_inputs: bool = False, step: float | str = 0.0,
                  scheme: str | None = None, rho: float | None = None, alpha: float | None = None,
                  reduce: bool = False) -> LinearModel:  # fmt: skip
        """Linear model about the present state: an equilibrium, a steady motion or a moving point.

        `inputs`: names of actuators, loads or their components ("push.fy") and numbers of the file ("silicone.young"), or
        "t", a shift of the time of all laws (`difference` estimates the error of these two);
        all actuators unless given, none for []. `outputs`: names of probes or their columns; all probes unless given. Given
        coordinates enter with their acceleration, value and rate are states; `three_inputs`: all three are inputs.
        `step`: the discrete model of a step of that length of the implicit `scheme` with `rho` or `alpha`; `reduce`:
        with displacements and rates as the only states, for schemes of one step. Loops stay closed; the state of the
        robot does not change.
        """
        with self._exclusive:
            return linearize(self._r, inputs, outputs, three_inputs, seconds(step, "step"), scheme, rho, alpha, reduce)

    def static_gain(self, inputs: Names = None, outputs: Names = None) -> LinearModel:
        """`D`: derivatives of the outputs by constant inputs in equilibrium, in which the robot is; a model without states.

        Names as in `linearize`, without numbers of the file. Robots without mass have gains too.
        """
        with self._exclusive:
            return linearize(self._r, inputs, outputs, False, 0.0, None, None, None, False, statics=True)

    def step_map(self, step: float | str, inputs: Names = None, outputs: Names = None, *, scheme: str = "trapezoidal",
                 rho: float | None = None, alpha: float | None = None) -> StepMap:  # fmt: skip
        """The map of one step of the implicit `scheme`, with its exact derivatives, for `sinew.control` and
        `sinew.estimate`. `inputs`, `outputs`: as in `linearize`; other inputs stay as they are now."""
        with self._exclusive:
            return StepMap(self, inputs, outputs, seconds(step, "step"), scheme, rho, alpha)

    def solve_inverse(self, targets: Targets, actuators: Names | Limits = None, *, limits: Limits = {}, rates: Named = {},
                      interval: float = 0, rest: Named = {}, weights: Named = {}, t: float | None = None,
                      tolerance: float = 1e-9) -> InverseSolution:  # fmt: skip
        """Inputs of actuators for desired values of probes in equilibrium; the robot is then in that equilibrium.

        `targets`: values by the names of probes or columns, such as {"tip": [0.1, 0, 0.2], "turn.rz": 0.3}; a rotation
        is a rotation vector. `actuators`: names of actuators, inputs or loads ("push.fy") that may change; all
        actuators unless given. `limits`: (low, high) by name, None for no limit; tensions are not negative unless stated;
        `actuators` may be such limits themselves. `rates`: largest change per second, which holds over `interval`
        seconds. Among several solutions the one next to `rest` (0 unless given) is chosen, inputs measured by the range
        of their limits. `weights` per unit: 1 for angles, 1/length of the robot
        for lengths unless given. A target that cannot be reached gives the nearest point, with the limits that hold it.
        """
        chosen = choose_actuators(list(self.actuators), actuators, limits, rates, rest)
        with self._exclusive:
            return solve_inverse(self._r, targets, weights, chosen, interval, self.t if t is None else t, tolerance)

    def workspace(self, ranges: Ranges, outputs: Names = None, *, cells: Cells = 12, refine: int = 2, near: float = 0.02,
                  t: float | None = None, most: int = 100000) -> Workspace:  # fmt: skip
        """Map of the equilibria within ranges of one to three inputs, and its boundary; the robot stays as it is.

        `ranges`: (low, high) by the name of an input, such as {"motor": (-0.5, 0.5)}, or of a component of a load
        ("push.fy"). `outputs`: probes or columns of the pose that count for the dexterity; all probes of positions
        unless given. `cells`: of each range at first; those through which the boundary passes, or with a stability
        below `near`, are bisected `refine` times. Each node is followed from a neighbour and back: the map is that of
        one branch. Points of the boundary are folds, bifurcations, losses of rank and limits of the ranges.
        """
        with self._exclusive:
            return workspace(self._r, ranges, outputs, cells, refine, near, self.t if t is None else t, most)

    def track(self, outputs: Names, targets: Rows, step: float | str, inputs: Names | Limits = None, *,
              weights: Numbers | None = None, effort: float = 1e-9, smooth: float = 0.0, first: Rows | None = None,
              iterations: int = 100, tolerance: float = 1e-10, limits: Limits | None = None,
              rates: Mapping[str, float] | None = None) -> Tracking:  # fmt: skip
        """Inputs for which outputs follow a desired motion from the present state: inverse dynamics over a horizon.

        `outputs`: probes or columns of places, angles and velocities; `targets`: a row for the end of each step of
        `step` s, SI, NaN where an output is free, as before and after the motion proper, where the inputs prepare and
        end it. `inputs`: actuators or components of loads, all actuators unless given, constant over each step.
        `weights` of outputs per unit: 1 for angles, 1/length of the robot for lengths unless given; `effort`: weight of
        the inputs, relative to what each does in the first step alone; `smooth`: that of their changes from step to step
        while there are targets, 1e-6 where inputs alternate, as over short steps; `first`: inputs from which the
        search begins. `limits`: lowest and highest values of inputs by name, which `inputs` may be themselves; tensions
        are not negative. `rates`: their largest changes per second. The robot stays as it is.
        """
        names, within = with_limits(inputs, limits or {})
        with self._exclusive:
            return track(self._r, outputs, targets, seconds(step, "step"), names, weights, effort, smooth, first,
                         iterations, tolerance, within, rates or {})  # fmt: skip

    # ---- motion

    def simulate(self, step: float | str, scheme: str | None = None, *, rho: float | None = None, alpha: float | None = None,
                 tolerance: float | None = None, engine: str | None = None, points: int = 0) -> "Simulation":  # fmt: skip
        """Start a motion from the present state; `step` is the largest step, s, or a text such as "5 ms".

        Steps go on from the end of the last one: after writing t, q or v, or an equilibrium, start a motion anew.
        `scheme`, `rho`, `alpha`, `tolerance`, `engine`, `points` are those of the model language
        (`sinew help language`). Memory is allocated here; steps allocate none.
        """
        return Simulation(self, step, scheme, rho, alpha, tolerance, engine, points)

    def play(self, *, state: bool = True, step: float | str | None = None, output: Path | None = None) -> Play:
        """Simulate the robot live in a browser, or inline in a notebook (`sinew play`); returns the `Play`.

        It begins from the present t, q and v, with the parameters set so far; `state=False`: as the study of the file
        does. Controls and loads set in Python are not passed on: actuators begin with the laws of the file. `step`: the
        longest step, s. `output`: file for recordings.
        """
        return Play.of(self._model, state=(self.t, self.q, self.v) if state else None, step=step, output=output)

    def _repr_html_(self) -> str:
        return f"<div><code>{html.escape(repr(self))}</code><br>{svg(self.poses()[:, :3, 3], self._model.links)}</div>"

    def __repr__(self) -> str:
        return f"<sinew.Robot '{self._model.title or self._model.run}' at t = {self.t:g} s: nq {self.nq}, nv {self.nv}>"


def steps_options(step: float | str, scheme: str | None = None, rho: float | None = None, alpha: float | None = None,
                  tolerance: float | None = None, engine: str | None = None,
                  points: int = 0) -> tuple[Pointer, list[Pointer]]:  # fmt: skip
    """Options of a motion as C takes them, and what keeps them alive."""
    how = ffi.new("snw_robot_steps *", lib.snw_robot_steps_defaults(seconds(step, "step")))
    kept = [None if name is None else ffi.new("char[]", c_text(name, what))
            for name, what in ((scheme, "scheme"), (engine, "engine"))]  # fmt: skip
    if scheme is not None:
        how.scheme = kept[0]
    if engine is not None:
        how.engine = kept[1]
    if rho is not None:
        how.rho = rho
    if alpha is not None:
        how.alpha = alpha
    if tolerance is not None:
        how.tolerance = tolerance
    how.points = points
    return how, kept


class Simulation(OfThisProcess):
    """A motion of a robot, step by step: `sim.step()`. The state is the robot's: `robot.q`, `robot.probe("tip")`."""

    _instead = "copy its robot, or save() and restore() its state"

    def __init__(self, robot: Robot, step: float | str, scheme: str | None, rho: float | None, alpha: float | None,
                 tolerance: float | None, engine: str | None, points: int):  # fmt: skip
        self.robot, self.dt = robot, seconds(step, "step")
        how, _kept = steps_options(self.dt, scheme, rho, alpha, tolerance, engine, points)
        with robot._exclusive:
            if lib.snw_robot_start(robot._r, how, robot._err) != lib.SNW_OK:
                raise_error(robot._err)
        self._r: Pointer = robot._r
        self._err, self._owner = robot._err, robot._owner
        earlier = robot._motion() if robot._motion is not None else None
        if earlier is not None:
            earlier._r = ffi.NULL  # its steps would be those of this motion
        robot._motion = weakref.ref(self)
        self._acquire, self._release = robot._acquire, robot._release
        self._laws = robot._controls._laws
        self._chunk = 1  # steps in one call that take about 20 ms, so that Ctrl-C has an effect

    @property
    def controls(self) -> Controls:
        """Inputs of the actuators."""
        return self.robot._controls

    @property
    def t(self) -> float:
        """Present time, s."""
        return self.robot.t

    def _fail(self) -> NoReturn:
        self._check_last()
        raise_error(self._err)

    def _check_last(self) -> None:
        if not self._r:
            raise ArgumentError("this motion has ended, since another one of the robot was started: use that Simulation")

    def step(self, dt: float | None = None, count: int = 1) -> None:
        """Advance by `count` steps of dt (the step of the simulation unless given), s.

        Raises `NotConverged` when a step cannot be done; the state is then that before the failed step.
        """
        h = self.dt if dt is None else dt
        if count != 1:
            self._several(h, count)
            return
        if self._laws:
            self.robot._controls._apply_laws()
        if not self._acquire(False):
            self.robot._exclusive.__enter__()
        try:
            status = _step(self._r, h, self._err)
        finally:
            self._release()
        if status:
            self._fail()

    def _several(self, h: float, count: int) -> None:
        if count < 0:
            raise ArgumentError(f"the number of steps must not be negative, but is {count}")
        if self._laws:
            for _ in range(count):
                self.step(h)
            return
        while count > 0:
            n, start = min(count, self._chunk), perf_counter()
            with self.robot._exclusive:
                status = lib.snw_robot_advance(self._r, h, n, ffi.NULL, self._err)
            if status:
                self._fail()
            count -= n
            took = (perf_counter() - start) / n
            self._chunk = max(1, min(2 * n, int(0.02 / took))) if took > 0 else 2 * n

    @property
    def scheme_energy(self) -> float:
        """Energy removed by the numerical damping of the scheme since the start, J."""
        return lib.snw_robot_scheme_energy(self._r)

    def pull(self, node: int, to: Numbers, stiffness: float, damping: float = 0.0, at: Numbers | None = None) -> None:
        """Pull a node towards a point of the world (m) by a spring (N/m) and a damper (N s/m)."""
        to = vector(to, 3, "to")
        point = None if at is None else vector(at, 3, "at")
        if lib.snw_robot_pull(self._r, node, ffi.NULL if point is None else doubles(point), doubles(to), stiffness,
                              damping, self._err) != lib.SNW_OK:  # fmt: skip
            self._fail()

    def let_go(self) -> None:
        """Remove the spring of `pull`."""
        lib.snw_robot_let_go(self._r)

    def save(self) -> Array:
        """All numbers on which the following steps depend."""
        self._check_last()
        count = lib.snw_robot_saves(self._r)
        if count == 0:
            raise Error("this scheme has no checkpoints")
        out = np.empty(count)
        self.robot._check(lib.snw_robot_save(self._r, doubles(out)))
        return out

    def restore(self, state: Numbers) -> None:
        """Return to a saved state; the steps that follow have the same bits."""
        self._check_last()
        numbers = vector(state, lib.snw_robot_saves(self._r), "state")
        self.robot._check(lib.snw_robot_restore(self._r, doubles(numbers)))

    def __repr__(self) -> str:
        return f"<sinew.Simulation of {self.robot!r}, step {self.dt:g} s>"
