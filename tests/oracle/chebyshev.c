// SPDX-License-Identifier: MIT
#include "oracle/chebyshev.h"

#include <math.h>

void oracle_gauss(int m, double *x, double *w) {
    for (int i = 0; i < m; i++) {
        double z = cos(acos(-1.0) * (i + 0.75) / (m + 0.5)), d = 0;
        for (int k = 0; k < 100; k++) {
            double a = 1, b = z;
            for (int j = 2; j <= m; j++) {
                const double c = ((2 * j - 1) * z * b - (j - 1) * a) / j;
                a = b, b = c;
            }
            d = m * (z * b - a) / (z * z - 1);
            const double step = b / d;
            z -= step;
            if (fabs(step) < 1e-16) break;
        }
        x[m - 1 - i] = z, w[m - 1 - i] = 2 / ((1 - z * z) * d * d);
    }
}

void oracle_upto(int m, const double *x, const double *w, double *upto) {
    for (int a = 0; a < m; a++) {
        for (int b = 0; b < m; b++) {
            double sum = 0;
            // The same points scaled to [-1, x_a].
            for (int k = 0; k < m; k++) {
                const double z = -1 + (x[a] + 1) * (x[k] + 1) / 2;
                double l = 1;
                for (int j = 0; j < m; j++) {
                    if (j != b) l *= (z - x[j]) / (x[b] - x[j]);
                }
                sum += (x[a] + 1) / 2 * w[k] * l;
            }
            upto[a * m + b] = sum;
        }
    }
}

double oracle_chebyshev(int i, double x) { return cos(i * acos(fmax(-1, fmin(1, x)))); }

// Sum of i U_(i-1): T_i' = 2 i (T_(i-1) + T_(i-3) + ...), the last T_0 once.
double oracle_chebyshev_slope(int i, double x) {
    double sum = 0;
    for (int j = i - 1; j >= 0; j -= 2) sum += (j ? 2 : 1) * i * oracle_chebyshev(j, x);
    return sum;
}

double oracle_antiderivative(int i, double x) {
    if (i == 0) return x + 1;
    if (i == 1) return (x * x - 1) / 2;
    const double here = oracle_chebyshev(i + 1, x) / (i + 1) - oracle_chebyshev(i - 1, x) / (i - 1);
    const double sign = i % 2 ? 1 : -1; // T_(i+1)(-1)
    return (here - sign * (1.0 / (i + 1) - 1.0 / (i - 1))) / 2;
}
