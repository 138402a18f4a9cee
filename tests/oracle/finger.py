# SPDX-License-Identifier: MIT
"""A tapered finger that a tendon bends in its plane, as a chain of rigid links: examples/reduced/finger.yaml.

The program knows no strains and none of the library's formulas. The finger does not stretch: n links of equal length h turn by
absolute angles a_i against each other's springs E I(x)/h with dampers of the same ratio tau; the spring at the clamp is that of half
a link. A tendon at the distance d of an axis that does not stretch pulls with the moment T d at every joint. Lagrange's equations of the chain,
integrated by Radau's formula of order five (scipy); the chain is of second order in h, so that two chains extrapolate to the rod.
"""
import sys

import numpy
from scipy.integrate import solve_ivp

L, E, RHO, TAU, G, D = 0.1, 300e3, 1100.0, 20e-3, 9.81, 4e-3


def radius(x):
    return 8e-3 - 3e-3 * x / L


class Chain:
    """The finger as n links; `pull` gives the tension of the tendon at a time."""

    def __init__(self, n, pull):
        self.h, self.pull = L / n, pull
        middle, joint = (numpy.arange(n) + 0.5) * self.h, numpy.arange(n) * self.h
        m = RHO * numpy.pi * radius(middle)**2 * self.h
        turning = RHO * numpy.pi / 4 * radius(middle)**4 * self.h + m * self.h**2 / 12
        self.k = E * numpy.pi / 4 * radius(joint)**4 / self.h
        self.k[0] *= 2  # half a link behind the clamp
        beyond = numpy.concatenate([numpy.cumsum(m[::-1])[::-1][1:], [0.0]])  # mass behind each link
        arm = self.h * (beyond + m / 2)  # of the weight, and of the inertia of links further out
        i, j = numpy.indices((n, n))
        self.A = self.h * arm[numpy.maximum(i, j)]
        numpy.fill_diagonal(self.A, self.h**2 * (beyond + m / 4) + turning)
        self.weight = G * arm

    def rate(self, t, y):
        a, v = numpy.split(y, 2)
        bend, speed = numpy.diff(a, prepend=0.0), numpy.diff(v, prepend=0.0)
        moment = self.pull(t) * D - self.k * (bend + TAU * speed)  # of each joint on the link beyond it
        force = moment - numpy.append(moment[1:], 0.0) - self.weight * numpy.cos(a)
        turn = a[:, None] - a[None, :]
        force -= (self.A * numpy.sin(turn)) @ (v * v)
        return numpy.concatenate([v, numpy.linalg.solve(self.A * numpy.cos(turn), force)])

    def rest(self):
        """Angles of the equilibrium at t = 0, by Newton's method with differences."""
        n = len(self.k)
        a = numpy.zeros(n)

        def balance(a):
            bend = numpy.diff(a, prepend=0.0)
            moment = self.pull(0.0) * D - self.k * bend
            return moment - numpy.append(moment[1:], 0.0) - self.weight * numpy.cos(a)
        for _ in range(50):
            J = numpy.column_stack([(balance(a + 1e-7 * e) - balance(a - 1e-7 * e)) / 2e-7 for e in numpy.eye(n)])
            step = numpy.linalg.solve(J, balance(a))
            a -= step
            if numpy.abs(step).max() < 1e-12:
                break
        return a

    def tips(self, times):
        """Positions of the tip at the times, from the equilibrium on."""
        a = self.rest()
        found = solve_ivp(self.rate, (0.0, times[-1]), numpy.concatenate([a, 0 * a]), "Radau", times, rtol=1e-9, atol=1e-10)
        angle = found.y[:len(a)]
        return self.h * numpy.array([numpy.cos(angle).sum(0), numpy.sin(angle).sum(0)]).T


def finger(pull, times, n=24):
    """Tip positions at the times: chains of n and 2n links, extrapolated; and the difference of the finer one."""
    coarse, fine = Chain(n, pull).tips(times), Chain(2 * n, pull).tips(times)
    return fine + (fine - coarse) / 3, numpy.abs(fine - coarse).max() / 3


def beats(t):
    """The motion that was not used for the functions: two strokes of the tendon a second."""
    return 1.5 * numpy.sin(2 * numpy.pi * 2 * t)**2


if __name__ == "__main__":
    times = numpy.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    for n in (12, 24, 48)[:int(sys.argv[1]) if sys.argv[1:] else 2]:
        tip, error = finger(beats, times, n)
        print(f"{n} and {2 * n} links, last correction {error:.1e} m")
        for t, (x, y) in zip(times, tip):
            print(f"  [{t:.1f} s, {x:.7f}, {y:.7f}]")
