# A tendon arm follows a circle: a controller in Python, evaluated at every step of the simulation.
import time

import numpy as np

import sinew
from sinew.gym import MODELS

arm = sinew.Robot(MODELS / "reach.yaml")
state = np.zeros(2)


def target(t):
    """A circle of 60 mm radius about the vertical, once in four seconds, begun slowly; x and y in the world, m."""
    radius = 0.06 * min(t, 1.0)
    return radius * np.array([np.cos(0.5 * np.pi * t), np.sin(0.5 * np.pi * t)])


def control(robot):
    """Tensions (N) of the pairs along y and x: what holds the arm there, integral, proportional and derivative control."""
    error = robot.probe("tip")[:2] - target(robot.t)
    speed = robot.probe("speed")[:2] - (target(robot.t + 1e-4) - target(robot.t)) / 1e-4
    bend, rate = error[::-1], speed[::-1]
    state[:] -= 200.0 * bend * sim.dt
    pull = 60.0 * target(robot.t)[::-1] + state - 25.0 * bend - 2.0 * rate
    return [max(pull[0], 0), max(pull[1], 0), max(-pull[0], 0), max(-pull[1], 0)]


sim = arm.simulate(step=5e-3)
errors, begun = [], time.perf_counter()
for k in range(1600):
    for number, tension in enumerate(control(arm)):
        sim.controls[number] = tension
    sim.step()
    errors.append(np.linalg.norm(arm.probe("tip")[:2] - target(arm.t)))
spent = time.perf_counter() - begun
print(f"8 s of motion in {spent:.2f} s; error of the tip after 4 s: {1e3 * np.sqrt(np.mean(np.square(errors[800:]))):.1f} mm rms")
