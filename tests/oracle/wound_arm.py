#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tip of a tapered arm on a winding tendon at rest, by least potential energy: examples/reduced/arm.yaml.

The program has none of the library's formulas: six strains, constant in each of n equal elements, poses as products of exponentials of 4 x 4
matrices (scipy), elastic energy, weight, tension times the length of the tendon. Its gradient, checked by differences, is that of the
moments of the weights beyond; L-BFGS finds the minimum. The elements are of second order, so that two numbers of them extrapolate.
"""
import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize

L, E, NU, RHO, G = 0.15, 300e3, 0.45, 1100.0, np.array([0.0, -9.81, 0.0])


def hat(w, v):
    return np.array([[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]])


def properties(x):
    r = 8e-3 - 3e-3 * x / L
    A, inertia = np.pi * r**2, np.pi * r**4 / 4
    modulus = E / (2 * (1 + NU))
    return np.array([modulus * 2 * inertia, E * inertia, E * inertia, E * A, modulus * A, modulus * A]), RHO * A


def energy(q, n, tension):
    h = L / n
    xi = q.reshape(n, 6)
    x = (np.arange(n) + 0.5) * h
    g, total = np.eye(4), 0.0
    for i in range(n):
        K, mass = properties(x[i])
        total += 0.5 * h * np.dot(K, xi[i] ** 2)
        step = hat(xi[i, :3], xi[i, 3:] + np.array([1.0, 0, 0]))
        mid = g @ expm(0.5 * h * step)
        total -= mass * h * np.dot(G, mid[:3, 3])
        a = 3 * x[i] / L
        place = 4e-3 * np.array([0, np.cos(a), np.sin(a)])
        slope = 4e-3 * 3 / L * np.array([0, -np.sin(a), np.cos(a)])
        u = xi[i, 3:] + np.array([1.0, 0, 0]) + np.cross(xi[i, :3], place) + slope
        total += tension * h * np.linalg.norm(u)
        g = mid @ expm(0.5 * h * step)
    return total, g[:3, 3]


def energy_and_gradient(q, n, tension):
    """Energy and its gradient: the weight by wrenches from the tip to the root, at the middles of elements."""
    h = L / n
    xi = q.reshape(n, 6)
    x = (np.arange(n) + 0.5) * h
    e1 = np.array([1.0, 0, 0])
    total, grad = 0.0, np.zeros((n, 6))
    R, p = np.eye(3), np.zeros(3)
    mids, ends, force = [], [], []
    for i in range(n):
        K, mass = properties(x[i])
        total += 0.5 * h * np.dot(K, xi[i] ** 2)
        grad[i] += h * K * xi[i]
        a = 3 * x[i] / L
        place = 4e-3 * np.array([0, np.cos(a), np.sin(a)])
        slope = 4e-3 * 3 / L * np.array([0, -np.sin(a), np.cos(a)])
        u = xi[i, 3:] + e1 + np.cross(xi[i, :3], place) + slope
        size = np.linalg.norm(u)
        total += tension * h * size
        grad[i, 3:] += tension * h * u / size
        grad[i, :3] += tension * h * np.cross(place, u / size)
        w, v = xi[i, :3], xi[i, 3:] + e1
        half, whole = expm(0.5 * h * hat(w, v)), expm(h * hat(w, v))
        mids.append((R @ half[:3, :3], p + R @ half[:3, 3]))
        start = (R, p)
        p, R = p + R @ whole[:3, 3], R @ whole[:3, :3]
        ends.append((start, (R, p)))
        force.append(mass * h * G)
        total -= np.dot(force[-1], mids[-1][1])

    def left(W):  # integral of exp(s ad) over the element, by its series
        ad = np.zeros((6, 6))
        w, v = W[:3], W[3:]
        S = lambda a: np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        ad[:3, :3] = ad[3:, 3:] = S(w)
        ad[3:, :3] = S(v)
        T, term = np.eye(6), np.eye(6)
        for k in range(2, 14):
            term = -term @ ad / k
            T = T + term
        return T  # body twist at the end per variation of W

    f, m = np.zeros(3), np.zeros(3)  # world force and moment about the origin of all beyond
    for i in reversed(range(n)):
        w, v = xi[i, :3], xi[i, 3:] + e1
        for length, (Re, pe), F, M in ((h, ends[i][1], f, m), (0.5 * h, mids[i], force[i], np.cross(mids[i][1], force[i]))):
            moment = M - np.cross(pe, F)
            body = np.concatenate([Re.T @ moment, Re.T @ F])
            grad[i] -= length * left(length * np.concatenate([w, v])).T @ body
        f, m = f + force[i], m + np.cross(mids[i][1], force[i])
    return total, grad.ravel(), p


def tip(n, tension):
    scale = np.tile(np.array([1e2, 1e2, 1e2, 1, 1, 1]) ** 0.5, n)
    q = np.zeros(6 * n)
    for part in (0.25, 0.5, 0.75, 1.0):
        f = lambda y: (lambda t: (1e3 * t[0], 1e3 * t[1] * scale))(energy_and_gradient(y * scale, n, part * tension))
        found = minimize(f, q / scale, jac=True, method="L-BFGS-B", options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 60})
        q = found.x * scale
    return energy_and_gradient(q, n, tension)[2], np.abs(found.jac).max()


if __name__ == "__main__":
    rng = np.random.default_rng(1)  # the gradient against differences
    q = rng.normal(size=24) * np.tile([5, 5, 5, 0.1, 0.1, 0.1], 4)
    _, grad, _ = energy_and_gradient(q, 4, 1.2)
    d = [(energy_and_gradient(q + 1e-6 * e, 4, 1.2)[0] - energy_and_gradient(q - 1e-6 * e, 4, 1.2)[0]) / 2e-6 for e in np.eye(24)]
    print("gradient", np.abs(grad - d).max(), abs(energy_and_gradient(q, 4, 1.2)[0] - energy(q, 4, 1.2)[0]))
    for tension in (0.6, 1.2):
        coarse, r1 = tip(16, tension)
        fine, r2 = tip(32, tension)
        print(tension, coarse, fine, (4 * fine - coarse) / 3, r1, r2)
