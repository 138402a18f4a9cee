# Identify Young's modulus and damping of an arm from a measured release: Gauss and Newton on runs of the model.
import numpy as np

import sinew
from sinew.gym import MODELS

model = sinew.Model(MODELS / "reach.yaml")
t = np.arange(0, 1.0, 0.01)


def release(young, damping):
    """Sideways motion of the tip (m) after a pull of 1 N on one tendon ends."""
    arm = sinew.Robot(model, set={"silicone.young": young, "silicone.damping": damping})
    arm.controls[1] = 1.0
    arm.equilibrium()
    arm.controls[1] = 0.0
    sim = arm.simulate(step=5e-3)
    x = [arm.probe("tip")[0]]
    for _ in t[1:]:
        sim.step(count=2)
        x.append(arm.probe("tip")[0])
    return np.array(x)


noise = np.random.default_rng(1).normal(0, 2e-4, t.size)
measured = release(0.43e6, 0.022) + noise
logs = np.log([0.6e6, 0.05])  # logarithms keep both values positive
for iteration in range(8):
    base = release(*np.exp(logs))
    columns = [(release(*np.exp(logs + 1e-4 * e)) - base) / 1e-4 for e in np.eye(2)]
    J = np.column_stack(columns)
    change = np.linalg.lstsq(J, measured - base, rcond=None)[0]
    logs += np.clip(change, -0.5, 0.5)
    print(f"E = {np.exp(logs[0]) / 1e6:.4f} MPa, damping {1e3 * np.exp(logs[1]):.2f} ms, "
          f"misfit {1e3 * np.sqrt(np.mean((measured - base) ** 2)):.3f} mm")  # fmt: skip
    if np.abs(change).max() < 1e-6:
        break
spread = np.sqrt(np.diag(np.linalg.inv(J.T @ J))) * 2e-4
print(f"within {196 * spread[0]:.2f} % and {196 * spread[1]:.2f} % (95 %)")
