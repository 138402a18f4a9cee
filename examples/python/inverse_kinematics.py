# Inverse kinematics by least squares: tensions that bring the tip of a tendon arm to a point.
#
# At an equilibrium r(q, T) = 0, so dq/dT = -K^-1 dr/dT, and the tip moves by J dq/dT: exact derivatives, few iterations.
import numpy as np

import sinew
from sinew.gym import MODELS

arm = sinew.Robot(MODELS / "reach.yaml")


def pull(tensions):
    """Set the tensions of the pairs along y and z of the arm; negative values pull the opposite tendon."""
    for k, T in enumerate((tensions[0], tensions[1], -tensions[0], -tensions[1])):
        arm.controls[k] = max(T, 0.0)


def force_of(k, tensions):
    """dr/dT of tendon pair k: the residual is linear in the tensions."""
    unit = np.eye(2)[k] * (1.0 if tensions[k] >= 0 else -1.0)
    pull(tensions)
    r0 = arm.inverse_dynamics()
    pull(tensions + unit)
    r1 = arm.inverse_dynamics()
    pull(tensions)
    return (r1 - r0) * unit[k]


target, tensions = np.array([0.08, -0.05]), np.array([-0.1, -0.1])
for iteration in range(12):
    pull(tensions)
    arm.equilibrium()
    error = arm.probe("tip")[:2] - target
    print(f"iteration {iteration}: {1e3 * np.linalg.norm(error):9.5f} mm, tensions {np.round(tensions, 4)} N")
    if np.linalg.norm(error) < 1e-9:
        break
    K = arm.tangent()[0]
    dq = -np.linalg.solve(K, np.column_stack([force_of(k, tensions) for k in range(2)]))
    J = arm.jacobian("arm.tip", frame="world")[3:5] @ dq
    tensions = tensions - np.linalg.lstsq(J, error, rcond=None)[0]

# the same by the library, which also knows limits: no tension above 4 N
found = sinew.Robot(MODELS / "reach.yaml").solve_inverse({"tip.x": target[0], "tip.y": target[1]})
print("solve_inverse:", found)
weak = sinew.Robot(MODELS / "reach.yaml").solve_inverse({"tip.x": target[0], "tip.y": target[1]},
                                                        limits={f"tendon({k})": (0, 4) for k in range(1, 5)})  # fmt: skip
print("with 4 N:", weak, "at limits:", [a.name for a in weak.active])
