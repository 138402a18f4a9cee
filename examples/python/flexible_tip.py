# The tip of a flexible link along a desired motion: its motor must pull back before the tip may move.
import pathlib

import numpy as np

import sinew

folder = pathlib.Path(__file__).parents[1] / "control"
link = sinew.Robot(folder / "flexible_link.yaml", run="free", set={"initial.arm.strain.bend_y": "0 1/m"})
link.controls["motor"] = 0.0

step, duration = 0.02, 0.6
for before in (0.4, 0.0):
    t = step * np.arange(1, round((before + duration + 0.6) / step) + 1) - before
    s = np.clip(t / duration, 0, 1)
    height = -0.3 * (35 * s**4 - 84 * s**5 + 70 * s**6 - 20 * s**7)
    found = link.track("tip.z", height, step, "motor", iterations=15)
    print(f"{before} s to prepare: the tip is within {1e3 * abs(found.y[:, 0] - height).max():.2g} mm, "
          f"the torque at most {abs(found.u).max():.2g} N m")  # fmt: skip
    if before:
        for k in range(0, len(t), 5):
            print(f"  t = {t[k]:5.2f} s   torque {found.u[k, 0]:8.4f} N m   tip {found.y[k, 0]:8.4f} m")
