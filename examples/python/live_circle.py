# The closed loop live: `sinew play` simulates a tendon arm with a page in a browser, and a program beside it sees four strain
# gauges, estimates state and payload by a Kalman filter, and sets the tensions by model predictive control, 100 times a second.
# The argument is the duration in s; 2 unless given.
import pathlib
import sys
import time

import numpy as np

import sinew
from sinew import control, estimate

file = pathlib.Path(__file__).resolve().parent.parent / "control" / "circle.yaml"
cords = ["across(1)", "across(2)", "forth(1)", "forth(2)"]
by_hand = {f"{c}.effort": "4 N" for c in cords}  # in place of the laws of the file
model = sinew.Robot(file, set=by_hand | {"load": "0 N"})
model.equilibrium()
duration = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0


def circle(t):
    """Target of the tip, m, and its velocity, m/s; begun smoothly."""
    u = min(t / 2, 1.0)
    size, rate = 0.05 * (u - np.sin(2 * np.pi * u) / (2 * np.pi)), 0.025 * (1 - np.cos(2 * np.pi * u)) * (u < 1)
    c, s = np.cos(np.pi / 2 * t), np.sin(np.pi / 2 * t)
    return np.array([size * c, size * s, rate * c - np.pi / 2 * size * s, rate * s + np.pi / 2 * size * c])


# horizon of 0.5 s in 25 steps; the filter knows steps of 0.01 s and a payload that it does not know
inputs = [*cords, "payload.fz"]
steps = model.step_map(0.02, cords, ["tip.x", "tip.y", "speed.vx", "speed.vy"], scheme="bdf2")
mpc = control.MPC(steps, 25, {"tip": 1e4, "speed": 20}, 1e-3, rest=[4] * 4, limits={c: (0, 15) for c in cords}, shift=0.5)
gauges = ["near.bend_y", "near.bend_z", "far.bend_y", "far.bend_z"]
small = model.step_map(0.01, inputs, gauges, scheme="bdf2")
rates = {s.name: 1e-4 for s in small.states if s.name.endswith(".rate")}
seen = estimate.KalmanFilter(small, small.begin(model, [4, 4, 4, 4, 0]), P=1e-8, W=rates, V=1e-6,
                             unknown={"payload.fz": 0.01}, initial={"payload.fz": (0, 0.05)})  # fmt: skip
state = model.copy()
u, missed, took, moved = np.full(4, 4.0), [], [], np.zeros(2)
with sinew.Play(file, set=by_hand | {"loaded": f"{duration / 2} s"}, paused=True) as play, play.link() as link:
    print("the robot is to be seen at", play.address)
    now, begun = link.advance("10 ms"), time.perf_counter()
    for k in range(round(100 * duration)):
        start = time.perf_counter()
        seen.update(u, [now.probes[g] for g in gauges])
        _, state.q[:], state.v[:] = small.state(seen.point)
        moved += 0.05 * (state.probe("tip")[:2] - circle(now.t)[:2])  # what the payload does, as it is seen
        target = np.array([circle(now.t + 0.02 * n) for n in range(1, 26)])
        target[:, :2] -= moved
        u = mpc.update(steps.begin(state, u), target)
        link.apply(dict(zip(cords, u)))
        now = link.advance("10 ms")
        missed.append(1e3 * np.hypot(*(np.array([now.probes["tip.x"], now.probes["tip.y"]]) - circle(now.t)[:2])))
        took.append(1e3 * (time.perf_counter() - start))
        time.sleep(max(0, begun + 0.01 * (k + 1) - time.perf_counter()))
    spent = time.perf_counter() - begun
print(f"{duration:g} s took {spent:.1f} s; {np.median(took):.1f} ms for measurement, filter, control and simulation")
print(f"tip {max(missed):.2f} mm off at most, {missed[-1]:.2f} mm at the end; payload {seen.values['payload.fz']:.4f} N +- {seen.deviations['payload.fz']:.4f} N")
