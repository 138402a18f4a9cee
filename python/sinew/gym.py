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

import pathlib
from collections.abc import Callable

import numpy as np

from ._errors import NotConverged
from ._model import Model
from ._robot import Robot

try:
    import gymnasium
    from gymnasium.spaces import Box

    _Base = gymnasium.Env
except ImportError:
    gymnasium, _Base = None, object

    class Box:
        """Arrays between two bounds, as gymnasium.spaces.Box."""

        def __init__(self, low, high, shape=None, dtype=np.float64):
            self.dtype = np.dtype(dtype)
            self.shape = tuple(shape) if shape is not None else np.broadcast(low, high).shape
            self.low = np.broadcast_to(np.asarray(low, self.dtype), self.shape)
            self.high = np.broadcast_to(np.asarray(high, self.dtype), self.shape)
            self._random = np.random.default_rng()

        def seed(self, seed: int | None = None) -> None:
            self._random = np.random.default_rng(seed)

        def sample(self) -> np.ndarray:
            return self._random.uniform(self.low, self.high).astype(self.dtype)

        def contains(self, x) -> bool:
            x = np.asarray(x)
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

        def __repr__(self) -> str:
            return f"Box({self.low.min():g}, {self.high.max():g}, {self.shape}, {self.dtype})"


MODELS = pathlib.Path(__file__).parent / "models"


class Task(_Base):
    """A robot with a task. Subclasses say what an action does, what is observed and what is rewarded."""

    metadata = {"render_modes": []}
    model_file = ""
    step_time = 0.01
    """Time step of the robot, s."""
    repeat = 2
    """Time steps in an action."""
    limit = 250
    """Actions in an episode."""
    render_mode = None

    def __init__(self, **overrides):
        self.robot = Robot(Model(MODELS / self.model_file, set={k.replace("__", "."): v for k, v in overrides.items()}))
        self._q0, self._v0 = self.robot.q.copy(), self.robot.v.copy()
        self._sim = None
        self._random = np.random.default_rng()
        self._count = 0
        size = self._observe_size()
        self.observation_space = Box(-np.inf, np.inf, (size,))
        self.action_space = Box(-1.0, 1.0, (self.actions,))

    # ---- what subclasses give

    actions = 1

    def _observe_size(self) -> int:
        raise NotImplementedError

    def _begin(self) -> None:
        """Choose the start and the target."""

    def _act(self, action: np.ndarray) -> None:
        """Set the inputs of the robot at the beginning of each time step."""
        raise NotImplementedError

    def _observe(self) -> np.ndarray:
        raise NotImplementedError

    def _reward(self, action: np.ndarray) -> float:
        raise NotImplementedError

    def baseline(self) -> Callable[[np.ndarray], np.ndarray]:
        """A simple controller: a function of the observation."""
        raise NotImplementedError

    # ---- Gymnasium's interface

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        if seed is not None:
            self._random = np.random.default_rng(seed)
        for name in self.robot.actuators:
            del self.robot.controls[name]
        self.robot.q[:], self.robot.v[:], self.robot.a[:], self.robot.t = self._q0, self._v0, 0, 0
        self._count = 0
        self._begin()
        self._sim = self.robot.simulate(self.step_time)
        return self._observe(), {}

    def step(self, action) -> tuple[np.ndarray, float, bool, bool, dict]:
        if self._sim is None:
            raise RuntimeError("call reset() before step()")
        action = np.clip(np.asarray(action, dtype=np.float64).reshape(self.actions), -1, 1)
        self._count += 1
        try:
            for _ in range(self.repeat):
                self._act(action)
                self._sim.step()
        except NotConverged as failure:
            return self._observe(), -10.0, True, False, {"failure": str(failure)}
        return self._observe(), self._reward(action), False, self._count >= self.limit, {}

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

    def _tensions(self, action) -> np.ndarray:
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

    def _act(self, action) -> None:
        for k, tension in enumerate(self._tensions(action)):
            self.robot.controls[k] = tension

    def _observe(self) -> np.ndarray:
        tip = self.robot.probe("tip")
        return np.concatenate([tip, self.robot.probe("speed"), self.target, tip - self.target])

    def _reward(self, action) -> float:
        return -float(np.linalg.norm(self.robot.probe("tip") - self.target)) / 0.25

    def baseline(self) -> Callable[[np.ndarray], np.ndarray]:
        """Proportional and integral control of both directions of bending, damped by the velocity of the tip."""
        state = np.zeros(2)

        def policy(observation: np.ndarray) -> np.ndarray:
            speed, error = observation[3:6], observation[9:12]
            # the arm hangs along -z of the world: its y is the world's y, its z the world's x
            bend, rate = error[[1, 0]], speed[[1, 0]]
            state[:] = np.clip(state - 0.5 * bend, -1, 1)
            return np.clip(state - 3.0 * bend - 0.3 * rate, -1, 1)

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

    def _act(self, action) -> None:
        self.robot.controls["motor"] = self.torque * float(action[0])

    def _observe(self) -> np.ndarray:
        r = self.robot
        tip = r.probe("tip")
        length = np.hypot(tip[0], tip[2])
        return np.concatenate([[tip[0] / length, tip[2] / length, r.probe("angle"), r.probe("rate")], tip, r.probe("speed")])

    def _reward(self, action) -> float:
        return float(self.robot.probe("tip")[2]) / 0.3 - 1e-3 * float(action[0]) ** 2

    def baseline(self) -> Callable[[np.ndarray], np.ndarray]:
        """Energy is pumped in along the motion until it suffices; near the top the joint is a damped spring."""

        def policy(observation: np.ndarray) -> np.ndarray:
            sine, cosine, _, rate, tip, speed = *observation[:4], observation[4:7], observation[7:10]
            angle = np.arctan2(sine, cosine)  # from the top
            turning = (tip[2] * speed[0] - tip[0] * speed[2]) / (tip[0] ** 2 + tip[2] ** 2)
            if abs(angle) < 0.4:
                torque = -1.2 * angle - 0.12 * turning - 0.02 * rate
            else:
                lacking = 9.81 / 0.25 * (1 - cosine) - 0.5 * turning**2  # energy over m l^2
                torque = 0.02 * lacking * np.sign(turning)
            return np.clip([torque / self.torque], -1, 1)

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

    def _joints(self) -> tuple[np.ndarray, np.ndarray]:
        return self.robot.q[3:], self.robot.v[3:]

    def _act(self, action) -> None:
        for k in range(5):  # the spring and the damper of the servo are part of the model, so that steps are implicit in them
            self.robot.controls[k] = self.stiffness * self.bend * action[k]

    def _observe(self) -> np.ndarray:
        pose, twist = self.robot.pose("link(1)"), self.robot.probe("speed")
        to = pose[:2, :2].T @ (self.target - pose[:2, 3])
        distance = np.linalg.norm(to)
        angle, rate = self._joints()
        return np.concatenate([[distance, to[1] / distance, to[0] / distance, twist[3], twist[4], twist[2]], angle, rate])

    def _reward(self, action) -> float:
        distance = float(np.linalg.norm(self.target - self.robot.pose("link(1)")[:2, 3]))
        nearer, self._before = self._before - distance, distance
        return nearer + (1.0 if distance < 0.2 else 0.0)

    def baseline(self) -> Callable[[np.ndarray], np.ndarray]:
        """A wave that runs from head to tail, bent towards the target."""
        phase = [0.0]

        def policy(observation: np.ndarray) -> np.ndarray:
            bearing = np.arctan2(observation[1], observation[2])
            phase[0] += 4.0 * self.step_time * self.repeat
            wave = 0.5 * np.sin(phase[0] - 0.9 * np.arange(5))
            return np.clip(wave - 0.4 * np.clip(bearing, -1, 1), -1, 1)

        return policy

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or self._before < 0.2, truncated, info


TASKS: dict[str, type[Task]] = {"Reach": Reach, "SwingUp": SwingUp, "Steer": Steer}


def make(task: str, **overrides) -> Task:
    """A task by name; further arguments override values of its model, `silicone__young="1 MPa"`."""
    try:
        return TASKS[task](**overrides)
    except KeyError:
        raise KeyError(f"no task '{task}'; there are {', '.join(TASKS)}") from None


def score(env: Task, policy: Callable[[np.ndarray], np.ndarray], episodes: int = 10, seed: int = 1) -> np.ndarray:
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


if gymnasium is not None:
    for _name, _task in TASKS.items():
        gymnasium.register(id=f"sinew/{_name}-v0", entry_point=f"sinew.gym:{_name}")
