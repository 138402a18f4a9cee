# 4096 tendon arms with random tensions, stepped as one batch: where their tips come to rest, and how fast that is.
import sys
import time

import numpy as np

import sinew

n = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
arm = sinew.Robot.from_dict({
    "gravity": [0, 0, -9.81],
    "materials": {"silicone": {"young": "1 MPa", "poisson": 0.5, "density": 1000, "damping": "50 ms"}},
    "robot": {"arm": {"on": "world", "pose": {"x": "-z"},
                      "rod": {"length": "0.3 m", "section": {"circle": {"radius": "10 mm"}}, "material": "silicone",
                              "nodes": 8, "strain": "kirchhoff legendre 3"}}},
    "actuators": {"cord(1)": {"tendon": {"along": "arm", "at": [0, "7 mm", 0]}, "effort": 0},
                  "cord(2)": {"tendon": {"along": "arm", "at": [0, 0, "7 mm"]}, "effort": 0},
                  "cord(3)": {"tendon": {"along": "arm", "at": [0, "-7 mm", 0]}, "effort": 0},
                  "cord(4)": {"tendon": {"along": "arm", "at": [0, 0, "-7 mm"]}, "effort": 0}},
    "probes": {"tip": {"position": "arm.tip"}},
})  # fmt: skip

batch = sinew.Batch(arm, n)
batch.start(step=5e-3)
batch.u[:] = np.random.default_rng(1).uniform(0, 5, (n, 4))  # N
steps, wall, used = 200, time.perf_counter(), time.process_time()
batch.step(count=steps)
wall, used = time.perf_counter() - wall, time.process_time() - used
tip = batch.probe("tip")
name, why = batch.engine(0)
print(f"{n} arms, {batch.failed.sum()} failed; {name} {why}".rstrip())
print(f"{steps} steps of 5 ms in {wall:.1f} s: {n * steps / wall:.0f} steps a second, {n * steps / used:.0f} a core")
print(f"tips: x {tip[:, 0].min():.3f} to {tip[:, 0].max():.3f} m, z {tip[:, 2].min():.3f} to {tip[:, 2].max():.3f} m")

try:
    import matplotlib
except ImportError:
    sys.exit()
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

figure, axes = pyplot.subplots(figsize=(6, 5), layout="constrained")
axes.grid(color="0.92")
axes.set_axisbelow(True)
points = axes.scatter(1e3 * tip[:, 0], 1e3 * tip[:, 1], s=4, c=1e3 * tip[:, 2], linewidths=0)
axes.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", title=f"tips of {n} arms, seen from above")
figure.colorbar(points, label="height z (mm)")
figure.savefig("many_arms.png", dpi=150)
