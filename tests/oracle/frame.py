# SPDX-License-Identifier: MIT
"""Small sag of a square net of rods welded at its nodes: stiffness method of frames.

Each rod is a beam of Euler and Bernoulli with the 12 x 12 stiffness matrix of its two ends (stretch, twist,
bending in two planes by cubic polynomials) and the end forces of its weight; unknowns are displacements and
rotations of the nodes. No strains, no loops, no recursion."""

from math import pi


def beam(axis, a, EA, EI, GJ, weight):
    """Stiffness matrix and end forces of a rod along x (axis 0) or y (1); an end has u_xyz, theta_xyz."""
    K = [[0.0] * 12 for _ in range(12)]
    f = [0.0] * 12
    across = 1 - axis

    def spring(i, j, k):
        for p, q, s in ((i, i, 1), (i, j, -1), (j, i, -1), (j, j, 1)):
            K[p][q] += s * k

    spring(axis, 6 + axis, EA / a)
    spring(3 + axis, 9 + axis, GJ / a)
    bend = [[12, 6 * a, -12, 6 * a], [6 * a, 4 * a * a, -6 * a, 2 * a * a],
            [-12, -6 * a, 12, -6 * a], [6 * a, 2 * a * a, -6 * a, 4 * a * a]]

    def plane(move, turn, sign):
        """Deflection `move` with the slope sign * rotation `turn`."""
        at, s = [move, turn, 6 + move, 6 + turn], [1, sign, 1, sign]
        for p in range(4):
            for q in range(4):
                K[at[p]][at[q]] += s[p] * s[q] * EI / a**3 * bend[p][q]

    up = -1 if axis == 0 else 1  # dz/dx = -theta_y, dz/dy = theta_x
    plane(2, 3 + across, up)
    plane(across, 5, -up)  # dy/dx = theta_z, dx/dy = -theta_z
    f[2] = f[8] = -weight * a / 2
    f[3 + across] = -up * weight * a * a / 12
    f[9 + across] = up * weight * a * a / 12
    return K, f


def solve_band(n, width, K, x):
    """x <- inv(K) x, K symmetric positive definite as rows {column: value}, |row - column| <= width."""
    for k in range(n):
        row = [(j, K[k][j]) for j in range(k + 1, min(n, k + width + 1)) if K[k].get(j, 0)]
        for i, v in row:
            f = v / K[k][k]
            for j, u in row:
                if j >= i:
                    K[i][j] = K[i].get(j, 0) - f * u
            x[i] -= f * x[k]
    for k in reversed(range(n)):
        for j in range(k + 1, min(n, k + width + 1)):
            if j in K[k]:
                x[k] -= K[k][j] * x[j]
        x[k] /= K[k][k]
    return x


def net(N, g, a=0.05, r=0.5e-3, E=40e9, poisson=0.3, density=1900.0, mass=1e-3):
    """Displacements and rotations of N x N nodes a apart, held at the corners, under the gravity g."""
    A, I = pi * r * r, pi * r**4 / 4
    G = E / (2 * (1 + poisson))
    n = 6 * N * N
    K = [{} for _ in range(n)]
    x = [0.0] * n
    for node in range(N * N):
        x[6 * node + 2] = -mass * g
    for axis in (0, 1):
        k, f = beam(axis, a, E * A, E * I, 2 * G * I, density * A * g)
        for node in range(N * N):
            if (node % N if axis == 0 else node // N) == N - 1:
                continue
            other = node + (1 if axis == 0 else N)
            dof = [6 * node + c for c in range(6)] + [6 * other + c for c in range(6)]
            for p in range(12):
                x[dof[p]] += f[p]
                for q in range(12):
                    if dof[q] >= dof[p] and k[p][q]:
                        K[dof[p]][dof[q]] = K[dof[p]].get(dof[q], 0) + k[p][q]
    for corner in (0, N - 1, N * (N - 1), N * N - 1):
        for c in range(3):
            i = 6 * corner + c
            for row in K[max(0, i - 6 * N - 6):i]:
                row.pop(i, None)
            K[i] = {i: 1.0}
            x[i] = 0.0
    return solve_band(n, 6 * N + 6, K, x)


if __name__ == "__main__":
    for N in (4, 9):
        x = net(N, 9.81e-3)
        middle = N * N // 2
        print(N, x[6 * middle + 2])
