# A flexible link: the gains that damp it, written as a law of its motor, and a turn from rest to rest without vibration,
# with the torque found by iterated linear-quadratic regulators. Needs scipy for the gains.
import pathlib

import numpy as np

import sinew
from sinew import control

file = pathlib.Path(__file__).resolve().parent.parent / "control" / "flexible_link.yaml"
link = sinew.Robot(file, run="free")
link.q[:] = 0
linear = link.linearize(outputs="angle")
gain = control.lqr(linear, Q=[10, 2, 0.1, 0.2, 0.05, 0.01], R=10)
states = ["angle", "(far.bend_y + near.bend_y)/2", "(far.bend_y - near.bend_y)/2", "rate",
          "(tip_spin.wy - rate)/(0.6 m)", "(2*(tip_spin.wy + rate) - 4*middle.wy)/(0.6 m)"]  # fmt: skip
law = control.law(linear, gain.K, states)
for name, effort in (("free", "0 N*m"), ("damped", law)):
    robot = sinew.Robot(file, run="free", set={"motor.effort": effort})
    motion = robot.simulate(2e-3)
    motion.step(count=1500)
    print(f"{name}: energy after {robot.t:.0f} s {1e3 * robot.energy().total:.3g} mJ")

# half a turn in a second: hub angle, strains and rates at the end are those of rest, with the least torque squared
N, seconds, angle = 100, 1.0, np.pi
outputs = ["angle", "rate", "near.bend_y", "far.bend_y", "middle.wy", "tip_spin.wy"]
steps = link.step_map(seconds / N, ["motor"], outputs, scheme="trapezoidal")
target = [angle, 0, 0, 0, 0, 0]
plan = control.ilqr(steps, steps.begin(link, [0]), np.zeros((N, 1)), target, weights=0.0, effort=1.0, final=1e4, exactly=1e-8)
print(f"turn by {np.degrees(angle):.0f} degrees: converged {plan.converged}, {plan.iterations} iterations, "
      f"largest torque {np.abs(plan.inputs).max():.2f} N m")  # fmt: skip

# the torque, piece by piece, on the robot; and a torque that only turns a rigid link by the same angle
rigid = np.sign(np.arange(N) - N / 2 + 0.5)
inertia = link.mass()[0, 0]
for name, torque in (("planned", plan.inputs[:, 0]), ("bang-bang", -rigid * 4 * angle * inertia / seconds**2)):
    robot = sinew.Robot(file, run="free")
    robot.q[:] = 0
    motion = robot.simulate(seconds / N, "trapezoidal")
    for u in torque:
        robot.controls["motor"] = u
        motion.step()
    robot.controls["motor"] = 0.0
    motion = robot.simulate(seconds / N, "trapezoidal")  # anew, since the torque jumps
    bends = []
    for _ in range(100):
        motion.step()
        bends.append(robot.probe("near")[1])
    print(f"{name}: hub at {np.degrees(robot.probe('angle')):.2f} degrees, strain at the hub afterwards {np.abs(bends).max():.2g} 1/m")
