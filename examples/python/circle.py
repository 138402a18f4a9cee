# The tip of a tendon arm on a circle, under a load that the controller does not know: the gains of the law in
# examples/control/circle.yaml, and model predictive control in its place. Needs scipy for the gains.
import pathlib

import numpy as np

import sinew
from sinew import control

file = pathlib.Path(__file__).resolve().parent.parent / "control" / "circle.yaml"
cords = ["across(1)", "across(2)", "forth(1)", "forth(2)"]
by_hand = {f"{c}.effort": "4 N" for c in cords}  # in place of the laws of the file
known = sinew.Robot(file, set=by_hand | {"load": "0 N"})
known.equilibrium()
linear = known.linearize(outputs="tip")
gain = control.lqr(control.integrate(linear, ["tip.x", "tip.y"]), Q=[1e-2] * 4 + [1e-4] * 4 + [1e6] * 2, R=1.0)
print("gains of the file, k1 .. k5:", np.round(gain.K[0][[2, 3, 6, 7, 9]], 7))


def circle(t):
    """Target of the tip, m, and its velocity, m/s; begun smoothly, as in the file but within two seconds."""
    u = min(t / 2, 1.0)
    size, rate = 0.05 * (u - np.sin(2 * np.pi * u) / (2 * np.pi)), 0.025 * (1 - np.cos(2 * np.pi * u)) * (u < 1)
    c, s = np.cos(np.pi / 2 * t), np.sin(np.pi / 2 * t)
    return np.array([size * c, size * s, rate * c - np.pi / 2 * size * s, rate * s + np.pi / 2 * size * c])


# a horizon of 0.5 s in 25 steps, updated 100 times a second: a shift of half a step
steps = known.step_map(0.02, cords, ["tip.x", "tip.y", "speed.vx", "speed.vy"], scheme="bdf2")
mpc = control.MPC(steps, 25, {"tip": 1e4, "speed": 20}, 1e-3, rest=[4] * 4, limits={c: (0, 15) for c in cords}, shift=0.5)
arm = sinew.Robot(file, set=by_hand | {"loaded": "3 s"})
arm.equilibrium()
motion = arm.simulate(0.01)
u, missed, took, moved = np.full(4, 4.0), [], [], np.zeros(2)
for k in range(500):
    target = np.array([circle(arm.t + 0.02 * n) for n in range(1, 26)])
    target[:, :2] -= moved
    u = mpc.update(steps.begin(arm, u), target)
    arm.u[:] = u
    motion.step()
    error = arm.probe("tip")[:2] - circle(arm.t)[:2]
    moved += 0.05 * error  # by what the controller does not know
    missed.append(1e3 * np.linalg.norm(error))
    took.append(1e3 * mpc.seconds)
print(f"predictive control: {max(missed[200:300]):.1f} mm off at most before the load, {max(missed[400:]):.1f} mm with it; "
      f"an update takes {np.min(took):.1f} ms")  # fmt: skip
