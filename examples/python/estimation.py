# What does an arm carry? The load at its tip and its whole shape from two strain gauges, in motion by a Kalman filter on its
# steps, and at rest by equilibria; with standard deviations.
import pathlib

import numpy as np

import sinew
from sinew import estimate

file = pathlib.Path(__file__).resolve().parent.parent / "control" / "circle.yaml"
cords = ["across(1)", "across(2)", "forth(1)", "forth(2)"]
by_hand = {f"{c}.effort": "4 N" for c in cords} | {"load": "0 N"}
arm, model = (sinew.Robot(file, set=by_hand) for _ in range(2))
random = np.random.default_rng(1)
gauges = ["near.bend_y", "near.bend_z", "far.bend_y", "far.bend_z"]
noise = 0.02  # 1/m


def measured(robot):
    """The four strains, with noise."""
    return np.concatenate([robot.probe("near")[1:3], robot.probe("far")[1:3]]) + noise * random.standard_normal(4)


# in motion: the tendons swing the arm, and after a second it takes up 20 g
steps = model.step_map(0.01, [*cords, "payload.fz"], gauges, scheme="bdf2")
rates = {s.name: 1e-4 for s in steps.states if s.name.endswith(".rate")}
model.equilibrium()
seen = estimate.KalmanFilter(steps, steps.begin(model, [4, 4, 4, 4, 0]), P=1e-8, W=rates, V=noise**2,
                             unknown={"payload.fz": 0.01}, initial={"payload.fz": (0, 0.05)})  # fmt: skip
arm.equilibrium()
motion = arm.simulate(0.01, "bdf2")
for n in range(400):
    swing = 2 * np.sin(0.03 * n) * min(n / 50, 1)
    arm.u[:] = u = [4 + swing, 4 - swing, 4, 4]
    arm.set_load("payload", [0, 0, -0.2 if n >= 100 else 0])
    motion.step()
    seen.update(u, measured(arm))
    if n % 100 == 99:
        print(f"{arm.t:.0f} s: load {seen.values['payload.fz']:.3f} N, standard deviation {seen.deviations['payload.fz']:.3f} N")

# at rest, bent aside: a load of unknown direction
arm.u[:] = [6, 2, 4, 4]
arm.set_load("payload", [0.03, 0, -0.15])
arm.equilibrium()
model.u[:] = [6, 2, 4, 4]
still = estimate.StaticFilter(model, {"payload.fx": (0, 0.2), "payload.fz": (0, 0.2)}, gauges, V=noise**2)
for _ in range(10):
    still.update(measured(arm))
print("at rest:", {k: f"{v:.3f} +- {still.deviations[k]:.3f} N" for k, v in still.values.items()})
tip, spread = still.output("tip")
print(f"tip {1e3 * np.linalg.norm(tip - arm.probe('tip')):.1f} mm off, standard deviations {np.round(1e3 * np.sqrt(np.diag(spread)), 1)} mm")
