// SPDX-License-Identifier: MIT
//
// decay.h: the time constant of an amplitude from energies at even times, E = E0 exp(-2 t/tau).
#pragma once

#include <math.h>

// Sum of squared residuals of the fit E0 exp(-r t) with the best E0.
static inline double decay_misfit(int n, double h, const double *E, double r) {
    double ee = 0, ey = 0, yy = 0;
    for (int i = 0; i < n; i++) {
        const double e = exp(-r * i * h);
        ee += e * e, ey += e * E[i], yy += E[i] * E[i];
    }
    return yy - ey * ey / ee;
}

// Time constant by least squares of the energies, as in the paper.
static inline double decay_fit(int n, double h, const double *E) {
    double best = -0.2, least = decay_misfit(n, h, E, best);
    for (double r = -0.2; r < 60; r += r < 1 ? 1e-3 : 0.02) {
        const double m = decay_misfit(n, h, E, r);
        if (m < least) least = m, best = r;
    }
    const double golden = 0.5 * (sqrt(5) - 1), width = best < 1 ? 1e-3 : 0.02;
    double lo = best - width, hi = best + width;
    for (int i = 0; i < 60; i++) {
        const double a = hi - golden * (hi - lo), c = lo + golden * (hi - lo);
        if (decay_misfit(n, h, E, a) < decay_misfit(n, h, E, c)) {
            hi = c;
        } else {
            lo = a;
        }
    }
    return 4 / (lo + hi);
}

// Time constant by least squares of the logarithms of the energies.
static inline double decay_log(int n, double h, const double *E) {
    double t = 0, y = 0, tt = 0, ty = 0;
    for (int i = 0; i < n; i++) {
        const double x = i * h, l = log(E[i]);
        t += x, y += l, tt += x * x, ty += x * l;
    }
    return -2 * (n * tt - t * t) / (n * ty - t * y);
}
