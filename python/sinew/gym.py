# SPDX-License-Identifier: MIT
"""Tasks for learning, in the manner of Gymnasium, which is used where it is installed and not needed otherwise.

    env = sinew.gym.make("Reach")                   # or gymnasium.make("sinew/Reach-v0")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(action)

    envs = sinew.gym.make_vec("Reach", 64)          # 64 robots on all cores, arrays of shape (64, ..)

Tasks: `Reach` (a tendon arm brings its tip to a target), `SwingUp` (a soft pendulum with a weak motor), `Steer` (a snake
on wheels goes where it is told). Each has a baseline controller, `env.baseline()`, and `score(env, policy)` measures one.
"""

from __future__ import annotations

import enum
import functools
import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._batch import Batch
from ._core import real
from ._errors import ArgumentError, NotConverged
from ._model import Model
from ._robot import Robot, Simulation
from ._types import Array, Mask, Numbers, Overrides, Rows, Value

gymnasium: Any = None
_Base = object
_VectorBase = object
if not TYPE_CHECKING:  # types are the same whether Gymnasium is installed or not
    try:
        import gymnasium
        from gymnasium.spaces import Box
        from gymnasium.vector import AutoresetMode, VectorEnv as _VectorBase

        _Base = gymnasium.Env
    except ImportError:
        gymnasium, _VectorBase = None, object

if gymnasium is None:

    class AutoresetMode(enum.Enum):
        """When a robot of a vector environment begins its next episode, as gymnasium.vector.AutoresetMode."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"

    class Box:
        """Arrays between two bounds, as gymnasium.spaces.Box."""

        def __init__(self, low: npt.ArrayLike, high: npt.ArrayLike, shape: Sequence[int] | None = None,
                     dtype: npt.DTypeLike = np.float64):  # fmt: skip
            self.dtype = np.dtype(dtype)
            self.shape: tuple[int, ...] = tuple(shape) if shape is not None else np.broadcast(low, high).shape
            self.low = np.broadcast_to(np.asarray(low, self.dtype), self.shape)
            self.high = np.broadcast_to(np.asarray(high, self.dtype), self.shape)
            self._random = np.random.default_rng()

        def seed(self, seed: int | None = None) -> None:
            self._random = np.random.default_rng(seed)

        def sample(self) -> Array:
            return np.asarray(self._random.uniform(self.low, self.high)).astype(self.dtype)

        def contains(self, x: npt.ArrayLike) -> bool:
            given = np.asarray(x)
            return given.shape == self.shape and bool(np.all(given >= self.low) and np.all(given <= self.high))

        def __repr__(self) -> str:
            return f"Box({self.low.min():g}, {self.high.max():g}, {self.shape}, {self.dtype})"


Info = dict[str, Any]
"""Further results of `reset` and `step`, as Gymnasium has them."""
Policy = Callable[[Array], Array]
"""A controller: the action as a function of the observation."""
MODELS = pathlib.Path(__file__).parent / "models"


def _limited(action: npt.ArrayLike) -> Array:
    """An action between -1 and 1."""
    return np.asarray(np.clip(action, -1, 1))


def _actions(given: Rows, shape: tuple[int, ...]) -> Array:
    """Actions between -1 and 1 of this shape."""
    numbers = real(given, "actions")
    if numbers.size != np.prod(shape):
        raise ArgumentError(f"actions have the shape {shape}, but {numbers.shape} is given")
    return _limited(numbers.reshape(shape))


class Task(_Base):
    """A robot with a task. Subclasses say what an action does, what is observed and what is rewarded."""

    metadata: dict[str, Any] = {"render_modes": []}
    model_file = ""
    step_time = 0.01
    """Time step of the robot, s."""
    repeat = 2
    """Time steps in an action."""
    limit = 250
    """Actions in an episode."""
    render_mode: str | None = None
    np_random: np.random.Generator  # of Gymnasium's base, where it is installed

    def __init__(self, **overrides: Value):
        self._use(Robot(self._model(overrides)))

    @classmethod
    def _model(cls, overrides: Overrides) -> Model:
        return Model(MODELS / cls.model_file, set={k.replace("__", "."): v for k, v in overrides.items()})

    def _use(self, robot: Robot) -> None:
        self.robot = robot
        self._q0, self._v0 = robot.q.copy(), robot.v.copy()
        self._sim: Simulation | None = None
        self._random = np.random.default_rng()
        self._count = 0
        size = self._observe_size()
        self.observation_space = Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = Box(-1.0, 1.0, (self.actions,), np.float64)

    # ---- what subclasses give

    actions = 1

    def _observe_size(self) -> int:
        raise NotImplementedError

    def _begin(self) -> None:
        """Choose the start and the target."""

    def _act(self, action: Array) -> None:
        """Set the inputs of the robot for the time steps of an action."""
        raise NotImplementedError

    def _observe(self) -> Array:
        raise NotImplementedError

    def _reward(self, action: Array) -> float:
        raise NotImplementedError

    def _arrived(self) -> bool:
        """Is the task done? Asked after `_reward`."""
        return False

    def baseline(self) -> Policy:
        """A simple controller: a function of the observation."""
        raise NotImplementedError

    # ---- Gymnasium's interface

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, Info]:
        self._restart(seed)
        self._sim = self.robot.simulate(self.step_time)
        return self._observe(), {}

    def _restart(self, seed: int | None) -> None:
        """The state at the beginning of an episode."""
        if gymnasium is not None:
            gymnasium.Env.reset(self, seed=seed)  # its generator has the same numbers as that below
            self._random = self.np_random
        elif seed is not None:
            self._random = np.random.default_rng(seed)
        for name in self.robot.actuators:
            del self.robot.controls[name]
        self.robot.q[:], self.robot.v[:], self.robot.a[:], self.robot.t = self._q0, self._v0, 0, 0
        self._count = 0
        self._begin()

    def step(self, action: Numbers) -> tuple[Array, float, bool, bool, Info]:
        if self._sim is None:
            raise RuntimeError("call reset() before step()")
        action = _actions(action, (self.actions,))
        self._act(action)
        try:
            self._sim.step(count=self.repeat)
        except NotConverged as failure:
            return self._judge(action, failure.text)
        return self._judge(action)

    def _judge(self, action: Array, failure: str | None = None) -> tuple[Array, float, bool, bool, Info]:
        """What `step` returns after the time steps of an action; `failure`: why one of them could not be done."""
        self._count += 1
        if failure is not None:
            return self._observe(), -10.0, True, False, {"failure": failure}
        reward = self._reward(action)
        return self._observe(), reward, self._arrived(), self._count >= self.limit, {}

    def close(self) -> None:
        self._sim = None


class Reach(Task):
    """A hanging silicone arm brings its tip to a target by four tendons.

    Action: tensions of both antagonistic pairs and their common tension, scaled to [-1, 1]. Observation: tip (m), its
    velocity (m/s), target (m), tip less target (m). Reward: minus the distance in lengths of the arm.
    """

    model_file = "reach.yaml"
    actions = 2
    pull = 5.0
    """Largest tension, N."""

    def _observe_size(self) -> int:
        return 12

    def _tensions(self, action: Numbers) -> Array:
        y, z = self.pull * np.asarray(action)
        return np.array([max(y, 0), max(z, 0), max(-y, 0), max(-z, 0)])

    def _begin(self) -> None:
        # a target that some tensions hold: the tip at their equilibrium
        radius, angle = np.sqrt(self._random.uniform(0.05, 0.8)), self._random.uniform(-np.pi, np.pi)
        other = Robot(self.robot.model)
        for k, tension in enumerate(self._tensions([radius * np.cos(angle), radius * np.sin(angle)])):
            other.controls[k] = tension
        other.equilibrium()
        self.target = other.probe("tip")

    def _act(self, action: Array) -> None:
        for k, tension in enumerate(self._tensions(action)):
            self.robot.controls[k] = tension

    def _observe(self) -> Array:
        tip = self.robot.probe("tip")
        return np.concatenate([tip, self.robot.probe("speed"), self.target, tip - self.target])

    def _reward(self, action: Array) -> float:
        return -float(np.linalg.norm(self.robot.probe("tip") - self.target)) / 0.25

    def baseline(self) -> Policy:
        """Proportional and integral control of both directions of bending, damped by the velocity of the tip."""
        state = np.zeros(2)

        def policy(observation: Array) -> Array:
            speed, error = observation[3:6], observation[9:12]
            # the arm hangs along -z of the world: its y is the world's y, its z the world's x
            bend, rate = error[[1, 0]], speed[[1, 0]]
            state[:] = _limited(state - 0.5 * bend)
            return _limited(state - 3.0 * bend - 0.3 * rate)

        return policy


class SwingUp(Task):
    """A soft pendulum with a motor too weak to lift it at once is swung up and balanced.

    Action: torque, scaled to [-1, 1]. Observation: sine and cosine of the angle from the vertical of the line to the tip,
    angle of the joint (rad), its rate (rad/s), tip (m), its velocity (m/s). Reward: height of the tip in lengths, less a
    little for the torque.
    """

    model_file = "pendulum.yaml"
    step_time = 0.005
    repeat = 4
    limit = 500
    actions = 1
    torque = 0.1
    """Largest torque, N m; about half of what would hold the pendulum level."""

    def _observe_size(self) -> int:
        return 10

    def _begin(self) -> None:
        self.robot.q[self.robot.coordinates["arm.angle"]] = self._random.uniform(-0.1, 0.1)

    def _act(self, action: Array) -> None:
        self.robot.controls["motor"] = self.torque * float(action[0])

    def _observe(self) -> Array:
        r = self.robot
        tip = r.probe("tip")
        length = np.hypot(tip[0], tip[2])
        return np.concatenate([[tip[0] / length, tip[2] / length, r.probe("angle"), r.probe("rate")], tip, r.probe("speed")])

    def _reward(self, action: Array) -> float:
        return float(self.robot.probe("tip")[2]) / 0.3 - 1e-3 * float(action[0]) ** 2

    def baseline(self) -> Policy:
        """Energy is pumped in along the motion until it suffices; near the top the joint is a damped spring."""

        def policy(observation: Array) -> Array:
            sine, cosine, _, rate, tip, speed = *observation[:4], observation[4:7], observation[7:10]
            angle = np.arctan2(sine, cosine)  # from the top
            turning = (tip[2] * speed[0] - tip[0] * speed[2]) / (tip[0] ** 2 + tip[2] ** 2)
            if abs(angle) < 0.4:
                torque = -1.2 * angle - 0.12 * turning - 0.02 * rate
            else:
                lacking = 9.81 / 0.25 * (1 - cosine) - 0.5 * turning**2  # energy over m l^2
                torque = 0.02 * lacking * np.sign(turning)
            return _limited([torque / self.torque])

        return policy


class Steer(Task):
    """A snake on wheels goes to a target by moving its five joints.

    Action: targets of the joint angles, scaled to [-1, 1]. Observation: distance (m), sine and cosine of the bearing of
    the target from the head, velocity of the head (m/s, m/s, rad/s), joint angles (rad) and rates (rad/s). Reward: how
    much nearer the target the head came, m, and 1 on arrival.
    """

    model_file = "snake.yaml"
    step_time = 0.01
    repeat = 5
    limit = 400
    actions = 5
    bend = 0.8
    """Largest target of a joint angle, rad."""
    stiffness = 3.0
    """Of the servos of the joints, N m/rad, as in the model."""

    def _observe_size(self) -> int:
        return 16

    def _begin(self) -> None:
        angle = self._random.uniform(-np.pi / 2, np.pi / 2)
        self.target = 2.0 * np.array([np.cos(angle), np.sin(angle)])
        self._before = 2.0

    def _joints(self) -> tuple[Array, Array]:
        return self.robot.q[3:], self.robot.v[3:]

    def _act(self, action: Array) -> None:
        for k in range(5):  # the spring and the damper of the servo are part of the model, so that steps are implicit in them
            self.robot.controls[k] = self.stiffness * self.bend * action[k]

    def _observe(self) -> Array:
        pose, twist = self.robot.pose("link(1)"), self.robot.probe("speed")
        to = pose[:2, :2].T @ (self.target - pose[:2, 3])
        distance = np.linalg.norm(to)
        angle, rate = self._joints()
        return np.concatenate([[distance, to[1] / distance, to[0] / distance, twist[3], twist[4], twist[2]], angle, rate])

    def _reward(self, action: Array) -> float:
        distance = float(np.linalg.norm(self.target - self.robot.pose("link(1)")[:2, 3]))
        nearer, self._before = self._before - distance, distance
        return nearer + (1.0 if distance < 0.2 else 0.0)

    def baseline(self) -> Policy:
        """A wave that runs from head to tail, bent towards the target."""
        phase = [0.0]

        def policy(observation: Array) -> Array:
            bearing = np.arctan2(observation[1], observation[2])
            phase[0] += 4.0 * self.step_time * self.repeat
            wave = 0.5 * np.sin(phase[0] - 0.9 * np.arange(5))
            return _limited(wave - 0.4 * np.clip(bearing, -1, 1))

        return policy

    def _arrived(self) -> bool:
        return self._before < 0.2


TASKS: dict[str, type[Task]] = {"Reach": Reach, "SwingUp": SwingUp, "Steer": Steer}


def make(task: str, **overrides: Value) -> Task:
    """A task by name; further arguments override values of its model, `silicone__young="1 MPa"`."""
    return _find(task)(**overrides)


def _find(task: str) -> type[Task]:
    if task not in TASKS:
        raise KeyError(f"no task '{task}'; there are {', '.join(TASKS)}")
    return TASKS[task]


def score(env: Task, policy: Policy, episodes: int = 10, seed: int = 1) -> Array:
    """Sum of rewards of each episode under a policy."""
    out = np.zeros(episodes)
    for i in range(episodes):
        observation, _ = env.reset(seed=seed + i)
        over = False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            out[i] += reward
            over = terminated or truncated
    return out


class VectorTask(_VectorBase):
    """n robots with the same task, stepped together by a `Batch`: Gymnasium's interface of vector environments.

    Observations, rewards and flags are arrays over the robots, those of n single tasks: to the tolerance of steps where
    robots step in packs (`Batch`, also for `precision`), to the bit with `lanes=1`. `info["failure"]` has the messages of robots
    whose step did not converge, `info["_failure"]` their mask. A robot whose episode ends begins again, by `autoreset_mode`:

    - `NextStep`: in the next `step`, which ignores its action and gives its first observation and no reward;
    - `SameStep`: at once; `info["final_obs"]` and `info["final_info"]` have what the episode ended with;
    - `Disabled`: when `reset(options={"reset_mask": mask})` says so.
    """

    render_mode: str | None = None
    spec: object = None

    def __init__(self, task: type[Task], num_envs: int, *, autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
                 threads: int | None = None, lanes: int = 16, precision: str = "double", **overrides: Value):  # fmt: skip
        self.batch = Batch(task._model(overrides), num_envs, threads=threads, lanes=lanes, precision=precision)
        self.tasks: list[Task] = []
        """The single tasks; their robots are those of the batch."""
        for robot in self.batch.robots:
            one = task.__new__(task)
            one._use(robot)
            self.tasks.append(one)
        first = self.tasks[0]
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**task.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space = _repeated(first.observation_space, num_envs)
        self.action_space = _repeated(first.action_space, num_envs)
        self._over = np.ones(num_envs, dtype=bool)  # not begun, or ended
        self._begun = False

    def _restart(self, at: Mask, seeds: Sequence[int | None]) -> Array:
        """Begin episodes of the robots `at`; their observations, one row each."""
        batch = self.batch
        for i in np.flatnonzero(at):
            self.tasks[i]._restart(seeds[i])
            robot = self.tasks[i].robot
            batch.q[i], batch.v[i] = robot.q, robot.v
        batch.start(self.tasks[0].step_time, at=at)
        self._over[at] = False
        if batch.failed[at].any():
            raise NotConverged(f"an episode cannot begin: {batch.errors}")
        return np.array([self.tasks[i]._observe() for i in np.flatnonzero(at)])

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, Info]:  # fmt: skip
        """Begin all episodes, or those of the mask `options["reset_mask"]`; seeds are seed, seed + 1, .. or a list."""
        n = self.num_envs
        if seed is None or isinstance(seed, (int, np.integer)):
            seeds: list[int | None] = [None if seed is None else seed + i for i in range(n)]
        else:
            seeds = list(seed)
        mask = (options or {}).get("reset_mask", np.ones(n, dtype=bool))
        if len(seeds) != n:
            raise ValueError(f"reset needs {n} seeds, but has {len(seeds)}")
        if not isinstance(mask, np.ndarray) or mask.shape != (n,) or mask.dtype != bool or not mask.any():
            raise ValueError(f"reset_mask is an array of {n} booleans of which at least one is True")
        if not self._begun:
            if not mask.all():
                raise ValueError("the first reset begins all episodes")
            self._observation, self._begun = np.empty(self.observation_space.shape), True
        self._observation[mask] = self._restart(mask, seeds)
        return self._observation.copy(), {}

    def step(self, actions: Rows) -> tuple[Array, Array, Mask, Mask, Info]:
        if not self._begun:
            raise RuntimeError("call reset() before step()")
        if self._over.any() and self.autoreset_mode is AutoresetMode.DISABLED:
            raise RuntimeError("call reset(options={'reset_mask': ..}) for the episodes that have ended")
        n, nobody = self.num_envs, [None] * self.num_envs
        actions = _actions(actions, (n, self.tasks[0].actions))
        reward, terminated, truncated = np.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        info: Info = {}
        ended, moving = self._over.copy(), np.flatnonzero(~self._over)
        for i in moving:
            self.tasks[i]._act(actions[i])
        self.batch.step(count=self.tasks[0].repeat, at=~ended)
        if ended.any():
            self._observation[ended] = self._restart(ended, nobody)
        failed = self.batch.errors if self.batch.failed.any() else {}
        for i in moving:
            self._observation[i], reward[i], terminated[i], truncated[i], one = self.tasks[i]._judge(actions[i], failed.get(int(i)))
            _collect(info, one, int(i), n)
        self._over = terminated | truncated
        if self._over.any() and self.autoreset_mode is AutoresetMode.SAME_STEP:
            self._finish(info, self._over.copy())
        return self._observation.copy(), reward, terminated, truncated, info

    def _finish(self, info: Info, ended: Mask) -> None:
        """Put the end of episodes into `info` and begin new ones."""
        messages, masked = info.pop("failure", None), info.pop("_failure", None)
        for i in np.flatnonzero(ended):
            last = {"failure": messages[i]} if messages is not None and masked[i] else {}
            _collect(info, {"final_obs": self._observation[i].copy(), "final_info": last}, int(i), self.num_envs)
        self._observation[ended] = self._restart(ended, [None] * self.num_envs)

    def close(self, **_: object) -> None:
        """Nothing has to be closed."""

    def __repr__(self) -> str:
        return f"<sinew.gym.VectorTask of {self.num_envs} {type(self.tasks[0]).__name__}>"


def _collect(info: Info, one: Info, i: int, n: int) -> None:
    """Put the info of robot i into arrays of objects over n robots, with masks `_key`; dictionaries become dictionaries."""
    for key, value in one.items():
        mask = info.setdefault("_" + key, np.zeros(n, dtype=bool))
        mask[i] = True
        if isinstance(value, dict):
            _collect(info.setdefault(key, {}), value, i, n)
        else:
            info.setdefault(key, np.full(n, None, dtype=object))[i] = value


def _repeated(box: Box, n: int) -> Box:
    """The space of n arrays of a space."""
    return Box(np.repeat(box.low[None], n, axis=0), np.repeat(box.high[None], n, axis=0), (n, *box.shape), box.dtype)


def make_vec(task: str, num_envs: int = 1, *, autoreset_mode: AutoresetMode | str | None = None, threads: int | None = None,
             lanes: int = 16, precision: str = "double", device: str | None = None,
             **overrides: Value) -> Any:  # fmt: skip
    """n robots with a task by name; `autoreset_mode`, `threads`, `lanes`, `precision` and overrides of the model, see
    `VectorTask` and `make`.

    `device`: "cuda" gives a `DeviceVectorTask`, whose robots and arrays are on a graphics processor; "host" the same with
    NumPy, for tests.
    """
    if device is not None and device != "cpu":
        if precision != "double":
            raise ArgumentError("tasks on a device are computed with double precision")
        from ._device_gym import DeviceVectorTask

        return DeviceVectorTask(_find(task), num_envs, device=device, autoreset_mode=autoreset_mode or AutoresetMode.SAME_STEP,
                                **overrides)  # fmt: skip
    autoreset_mode = autoreset_mode or AutoresetMode.NEXT_STEP
    return VectorTask(_find(task), num_envs, autoreset_mode=autoreset_mode, threads=threads, lanes=lanes, precision=precision,
                      **overrides)  # fmt: skip


if gymnasium is not None:
    for _name in TASKS:
        gymnasium.register(id=f"sinew/{_name}-v0", entry_point=f"sinew.gym:{_name}",
                           vector_entry_point=functools.partial(make_vec, _name))  # fmt: skip
