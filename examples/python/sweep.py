# How soft may a finger be? Tip deflection over Young's modulus, from one compiled model.
import numpy as np

import sinew
from sinew.gym import MODELS

arm = sinew.Robot(MODELS / "reach.yaml", set={"gravity": [4.0, 0, -9.81]})
modulus = np.geomspace(0.1e6, 5e6, 25)
tip = np.empty((modulus.size, 3))
for i, E in enumerate(modulus):
    arm.parameters["silicone.young"] = E  # keeps the state: the next equilibrium starts from this one
    arm.equilibrium()
    tip[i] = arm.probe("tip")
for E, x in zip(modulus[::6], tip[::6]):
    print(f"E = {E / 1e6:5.2f} MPa: tip at x = {1e3 * x[0]:6.2f} mm, z = {1e3 * x[2]:7.2f} mm")

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib draws the curve (Debian: python3-matplotlib)")
else:
    plt.semilogx(modulus / 1e6, 1e3 * tip[:, 0])
    plt.xlabel("Young's modulus [MPa]")
    plt.ylabel("sideways deflection of the tip [mm]")
    plt.savefig("sweep.png", dpi=120)
    print("sweep.png")
