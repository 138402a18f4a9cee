# SPDX-License-Identifier: MIT
"""A flexible link on a motor, in the plane, written down separately: hub angle and a curvature with a few shape
functions, inextensible, no shear, no rotary inertia; mass along the link and at its tip. Virtual work with quadrature
along the link; motions by an explicit method of order 8 (scipy).

    theta(s) = q_0 + sum_i q_i F_i(s),  F_i the integral of the shape function phi_i
    p(s) = integral of (cos theta, sin theta);  weight along -direction of the angle 0
"""

import numpy as np


class Link:
    """L (m), EI (N m^2), rhoA (kg/m), tip mass (kg), hub inertia (kg m^2), weight g (m/s^2) against the angle 0, damping
    time tau (s) of the curvature, damping c of the hub (N m s); `functions`: Legendre polynomials of the curvature."""

    def __init__(self, L, EI, rhoA, tip, hub, g, functions, tau=0.0, c=0.0, points=60):
        self.L, self.EI, self.rhoA, self.tip, self.hub, self.g, self.tau, self.c = L, EI, rhoA, tip, hub, g, tau, c
        x, w = np.polynomial.legendre.leggauss(points)
        self.s, self.w = L * (x + 1) / 2, L * w / 2
        polynomials = [np.polynomial.legendre.Legendre.basis(i) for i in range(functions)]
        self.phi = np.array([p(2 * self.s / L - 1) for p in polynomials])
        self.stiffness = np.array([EI * np.sum(self.w * f * f) for f in self.phi])
        # angles F at any s, and integrals from the root by mapped quadrature
        self.integral = [(p.integ(lbnd=-1)) for p in polynomials]
        self.x, self.xw = x, w
        self.n = functions + 1

    def angles(self, s):
        """d theta/d q at s: (n, len(s))."""
        u = 2 * np.asarray(s) / self.L - 1
        return np.array([np.ones_like(u)] + [self.L / 2 * f(u) for f in self.integral])

    def columns(self, q, v, s):
        """Jacobian (2, n) of the point at s, and its rate times v (2,)."""
        at, w = s * (self.x + 1) / 2, s * self.xw / 2
        a = self.angles(at)
        theta, rate = q @ a, v @ a
        normal = np.array([-np.sin(theta), np.cos(theta)])
        J = np.einsum("ak,ik,k->ai", normal, a, w)
        bias = -np.einsum("ak,k,k->a", np.array([np.cos(theta), np.sin(theta)]), rate**2, w)
        return J, bias

    def acceleration(self, q, v, torque):
        M, f = np.zeros((self.n, self.n)), np.zeros(self.n)
        M[0, 0] += self.hub
        f[0] += torque - self.c * v[0]
        f[1:] -= self.stiffness * (q[1:] + self.tau * v[1:])
        masses = [(self.L, self.tip)] + [(s, self.rhoA * w) for s, w in zip(self.s, self.w) if self.rhoA]
        for s, mass in masses:
            J, bias = self.columns(q, v, s)
            M += mass * J.T @ J
            f -= mass * J.T @ (bias + np.array([self.g, 0.0]))
        return np.linalg.solve(M, f)

    def run(self, q, v, torque, times):
        """States (len(times), 2 n) under the torque(q, v)."""
        from scipy.integrate import solve_ivp

        def rate(_, y):
            q, v = y[: self.n], y[self.n :]
            return np.concatenate([v, self.acceleration(q, v, torque(q, v))])

        done = solve_ivp(rate, (0, times[-1]), np.concatenate([q, v]), "DOP853", times, rtol=1e-11, atol=1e-13)
        return done.y.T

    def linear(self, q, h=1e-4):
        """A and B about the equilibrium q, by differences of order 4."""
        n, zero = self.n, np.zeros(self.n)
        A, B = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
        A[:n, n:] = np.eye(n)

        def at(d):
            return self.acceleration(q + d[:n], d[n:], 0.0)

        for k in range(2 * n):
            e = np.eye(2 * n)[k] * h
            A[n:, k] = (8 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12 * h)
        B[n:] = self.acceleration(q, zero, 1.0) - self.acceleration(q, zero, 0.0)
        return A, B
