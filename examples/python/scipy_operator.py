# The tangent of a robot as a LinearOperator of SciPy: compliance of the tip by GMRES, lowest modes by Arnoldi.
import numpy as np

import sinew
from sinew.gym import MODELS

arm = sinew.Robot(MODELS / "reach.yaml")
arm.controls[1] = "2 N"
arm.equilibrium()
K, C, M = arm.tangent()
rest = arm.q.copy()


def stiffness_times(x, h=1e-3):
    """K x without K: the derivative of the forces along x, by differences of fourth order."""
    size, out = np.linalg.norm(x) or 1.0, 0.0
    for weight, s in ((8, h), (-8, -h), (-1, 2 * h), (1, -2 * h)):
        arm.q[:] = rest
        arm.move(s / size * np.ravel(x))
        out = out + weight * arm.inverse_dynamics()
    arm.q[:] = rest
    return out * size / (12 * h)


x = np.random.default_rng(1).normal(size=arm.nv)
print(f"K x with and without K differ by {np.abs(stiffness_times(x) - K @ x).max() / np.abs(K @ x).max():.1e} of it")

try:
    from scipy.sparse.linalg import LinearOperator, eigs, gmres
except ImportError:
    print("SciPy solves with it (Debian: python3-scipy)")
else:
    operator = LinearOperator((arm.nv, arm.nv), matvec=stiffness_times, dtype=float)
    scale = LinearOperator((arm.nv, arm.nv), matvec=lambda y: np.ravel(y) / np.diag(K), dtype=float)
    J = arm.jacobian("arm.tip")[3:6]
    compliance = np.empty((3, 3))
    for k in range(3):
        moved, failed = gmres(operator, J[k], M=scale, atol=1e-12 * np.abs(J[k]).max())
        assert failed == 0
        compliance[:, k] = J @ moved
    print("compliance of the tip [mm/N]:")
    print(np.round(1e3 * compliance, 3))
    print(f"  against dense K: {np.abs(compliance - J @ np.linalg.solve(K, J.T)).max() / np.abs(compliance).max():.1e} of it")
    # K^-1 M has the eigenvalues 1/omega^2; the largest ones are found first
    inverse = LinearOperator((arm.nv, arm.nv), matvec=lambda y: np.linalg.solve(K, M @ np.ravel(y)), dtype=float)
    omega = np.sort(1 / np.sqrt(eigs(inverse, k=4, return_eigenvectors=False).real))
    for f, own in zip(omega / (2 * np.pi), arm.modes(4).frequency):
        print(f"mode of {f:8.4f} Hz; Robot.modes has {own:8.4f} Hz")
