# Natural frequencies of a cantilever: from the tangent of the robot, against the closed form of Euler and Bernoulli.
import numpy as np

import sinew

L, radius, E, density = 0.5, 2e-3, 200e9, 7800.0
beam = sinew.Robot.from_dict({
    "gravity": 0,
    "materials": {"steel": {"young": E, "poisson": 0.3, "density": density}},
    "robot": {"beam": {"on": "world", "rod": {"length": L, "section": {"circle": {"radius": radius}},
                                              "material": "steel", "strain": {"bend_z": "legendre 8"}}}},
})  # fmt: skip
frequencies, _, shapes = beam.modes(4)

roots = np.array([1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349])  # cos x cosh x = -1
slenderness = np.sqrt(E * np.pi * radius**4 / 4 / (density * np.pi * radius**2))
exact = (roots / L) ** 2 * slenderness / (2 * np.pi)
for n, (f, e) in enumerate(zip(frequencies, exact), 1):
    print(f"mode {n}: {f:9.3f} Hz, thin beam {e:9.3f} Hz, {100 * (f / e - 1):+.3f} %")

# the tip's amplitude in each mode, for unit modal mass
tip = beam.jacobian("beam.tip", frame="world")[4] @ shapes
print("amplitude of the tip for unit modal mass:", np.round(np.abs(tip), 3))
