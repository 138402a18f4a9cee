# An equilibrium as a function that PyTorch differentiates: tensions of a tendon arm to the position of its tip.
# r(q, T) = 0 at an equilibrium. For a cost with the gradient g of the tip, K^T y = J^T g and dcost/dT = -y . dr/dT.
import numpy as np

import sinew
from sinew.gym import MODELS

arm = sinew.Robot(MODELS / "reach.yaml")


def forces(tensions):
    """r(q, T) at the present q."""
    for k, tension in enumerate(tensions):
        arm.controls[k] = tension
    return arm.inverse_dynamics()


def tip_of(tensions):
    """Tip (m) at the equilibrium of tensions (N), and the function that takes dcost/dtip to dcost/dtensions."""
    forces(tensions)
    arm.equilibrium()
    K, J = arm.tangent()[0], arm.jacobian("arm.tip")[3:6]
    zero = forces(np.zeros(4))
    by_tension = np.column_stack([forces(e) - zero for e in np.eye(4)])  # r is linear in the tensions
    forces(tensions)
    return arm.probe("tip"), lambda g: -by_tension.T @ np.linalg.solve(K.T, J.T @ g)


tensions, g, h = np.array([1.0, 2.0, 0.5, 0.2]), np.array([0.3, -0.7, 0.2]), 1e-3  # N, any gradient, N
gradient = tip_of(tensions)[1](g)
central = [(tip_of(tensions + h * e)[0] - tip_of(tensions - h * e)[0]) @ g / (2 * h) for e in np.eye(4)]
print("gradient", np.round(1e3 * gradient, 6), "mm/N; differences agree to", f"{np.abs(gradient - central).max() * 1e3:.1e} mm/N")

try:
    import torch
except ImportError:
    print("PyTorch carries it through a network (Debian: python3-torch)")
else:
    class Tip(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensions):
            tip, ctx.back = tip_of(tensions.detach().numpy())
            return torch.from_numpy(np.array(tip))

        @staticmethod
        def backward(ctx, g):
            return torch.from_numpy(ctx.back(g.numpy()))

    T, target = torch.full((4,), 2.0).double().requires_grad_(), torch.tensor([0.03, 0.02]).double()  # x and y, m
    optimizer = torch.optim.LBFGS([T], line_search_fn="strong_wolfe", tolerance_grad=1e-12, tolerance_change=1e-15)

    def cost():
        optimizer.zero_grad()
        c = 1e4 * (Tip.apply(T)[:2] - target).square().sum()
        c.backward()
        return c

    optimizer.step(cost)
    print("tensions", np.round(T.detach().numpy(), 3), "N bring the tip to", np.round(tip_of(T.detach().numpy())[0], 4), "m")
