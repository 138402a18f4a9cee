# State feedback for an inverted soft pendulum: linear model, regulator, and its gains in the law of the motor.
# examples/control/balance.yaml has the same gains. Needs scipy.
import pathlib

import numpy as np

import sinew
from sinew import control

model = pathlib.Path(__file__).resolve().parent.parent / "control" / "balance.yaml"
robot = sinew.Robot(model, run="open")
robot.q[:] = 0  # upright, where it is in balance without control
linear = robot.linearize(outputs="angle")
print("poles without control:", np.round(linear.poles(), 3))

gain = control.lqr(linear, Q=[20, 0.1, 0.5, 0.001], R=4)
print("gains:", np.round(gain.K[0], 4))
print("poles with control:", np.round(np.sort_complex(gain.poles), 3))

# the states in terms of probes: the rod has one strain function, so its ends give the rate of its curvature
law = control.law(linear, gain.K, ["angle", "bend.bend_y", "rate", "(spin.wy - rate)/(0.4 m)"])
balanced = sinew.Robot(model, run="open", set={"motor.effort": law})
motion = balanced.simulate(2e-3)
for _ in range(500):
    motion.step()
print(f"from 10 degrees, after {balanced.t:.1f} s: {np.degrees(balanced.q[0]):.3f} degrees")

# and that of the file, with four digits
same = sinew.Robot(model, run="balanced")
motion = same.simulate(2e-3)
for _ in range(500):
    motion.step()
print(f"with the gains of the file: {np.degrees(same.q[0]):.3f} degrees")
