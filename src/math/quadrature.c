// SPDX-License-Identifier: MIT
//
// Points and weights of Gauss-Legendre rules: roots of Legendre polynomials by Newton iteration
// from asymptotic guesses. The rule is symmetric, so half of the points are computed and mirrored.
#include "math/quadrature.h"

#include "base/fail.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

// p[0] <- P_n, p[1] <- P_{n-1} at t = 1 - minus; n >= 1. The recursion is in differences, which are
// accurate for t near 1: (k+1)(P_{k+1} - P_k) = (2k+1)(t - 1) P_k + k (P_k - P_{k-1}).
static void legendre_pair(int n, double minus, double p[2]) {
    double value = 1, diff = -minus;
    for (int k = 1; k < n; k++) {
        value += diff;
        diff = (k * diff - (2 * k + 1) * minus * value) / (k + 1);
    }
    p[0] = value + diff;
    p[1] = value;
}

// store the point with 1 - t = minus and its mirror image, scaled to [0, 1]
static void quadrature_store_pair(int n, int i, double minus, double weight, double *x, double *w) {
    x[i] = 0.5 * minus;
    x[n - 1 - i] = 1 - 0.5 * minus;
    w[i] = w[n - 1 - i] = 0.5 * weight;
}

void snw_gauss(int n, double *x, double *w) {
    SNW_ASSERT(n >= 1);
    for (int i = 0; i < (n + 1) / 2; i++) {
        // iterate on 1 - t, which is more accurate than t near the ends
        const double guess = sin(0.5 * pi * (i + 0.75) / (n + 0.5));
        double minus = 2 * guess * guess, derivative = 0;
        for (int it = 0; it < 20; it++) {
            double p[2];
            legendre_pair(n, minus, p);
            // (1 - t^2) P_n' = n (P_{n-1} - t P_n)
            derivative = n * (p[1] - (1 - minus) * p[0]) / (minus * (2 - minus));
            const double step = p[0] / derivative;
            minus += step;
            if (fabs(step) <= 1e-15 * minus) break;
        }
        if (2 * i + 1 == n) minus = 1;
        quadrature_store_pair(n, i, minus, 2 / (minus * (2 - minus) * derivative * derivative), x,
                              w);
    }
}

double snw_integrate(snw_integrand *f, const void *user, double a, double b, int depth) {
    static const double x[2] = {0.33998104358485626, 0.86113631159405258},
                        weight[2] = {0.65214515486254614, 0.34785484513745386};
    double part[3] = {0};
    for (int k = 0; k < 3; k++) { // the whole and both halves
        const double half = k ? 0.25 * (b - a) : 0.5 * (b - a),
                     mid = k == 0 ? 0.5 * (a + b) : a + (k == 1 ? 0.25 : 0.75) * (b - a);
        for (int i = 0; i < 4; i++)
            part[k] += half * weight[i / 2] * f(user, mid + (i & 1 ? half : -half) * x[i / 2]);
    }
    const double sum = part[1] + part[2];
    if (depth == 0 || !(fabs(sum - part[0]) > 1e-13 * (fabs(part[1]) + fabs(part[2])))) return sum;
    return snw_integrate(f, user, a, 0.5 * (a + b), depth - 1) +
           snw_integrate(f, user, 0.5 * (a + b), b, depth - 1);
}

double snw_lagrange_integral(int n, const double *c, int j, double x) {
    double t[64], w[64], sum = 0;
    SNW_ASSERT(n <= 64);
    snw_gauss(n, t, w);
    for (int k = 0; k < n; k++) {
        double value = x * w[k];
        for (int i = 0; i < n; i++) {
            if (i != j) value *= (x * t[k] - c[i]) / (c[j] - c[i]);
        }
        sum += value;
    }
    return sum;
}
