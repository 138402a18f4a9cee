# A soft arm bends under its own weight: build it from a dictionary, find its equilibrium, let it swing.
import numpy as np

import sinew

arm = sinew.Robot.from_dict({
    "gravity": [0, 0, -9.81],
    "materials": {"silicone": {"young": "1 MPa", "poisson": 0.48, "density": 1070, "damping": "20 ms"}},
    "robot": {"arm": {"on": "world", "rod": {"length": "0.25 m", "section": {"circle": {"radius": "1 cm"}},
                                             "material": "silicone", "strain": "kirchhoff legendre 5"}}},
    "probes": {"tip": {"position": "arm.tip"}},
})  # fmt: skip
print(arm)
print(arm.coordinates)

arm.equilibrium()
print("the tip hangs at", np.round(arm.pose("arm.tip")[:3, 3], 4), "m")
print("moment at the root", np.round(arm.wrench("arm", x=0.0)[:3], 5), "N m")

print("elastic energy", round(arm.energy().elastic, 6), "J, stability", round(arm.stability, 3))

arm.set_gravity([0, 0, 0])  # let go: the arm springs back and swings out
sim = arm.simulate(step=2e-3)
for k in range(5):
    sim.step(count=50)
    print(f"t = {sim.t:.2f} s: tip at {np.round(arm.probe('tip'), 4)} m")
