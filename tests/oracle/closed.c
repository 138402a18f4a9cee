// SPDX-License-Identifier: MIT
#include "oracle/closed.h"

#include <math.h>

snw_se3 oracle_helix(snw_twist xi, double s) {
    const double k = snw_norm(xi.w);
    if (!(k > 0)) return (snw_se3){snw_mat3_identity(), snw_scale(s, xi.v)};
    const snw_vec3 n = snw_scale(1 / k, xi.w);
    const double th = k * s, pitch = snw_dot(n, xi.v); // advance per length
    // Rodrigues' formula
    const double half = 2 * sin(th / 2) * sin(th / 2);
    const snw_mat3 N = snw_hat(n), NN = snw_mat3_mul(N, N);
    snw_se3 g;
    g.R = snw_mat3_add(snw_mat3_identity(),
                       snw_mat3_add(snw_mat3_scale(sin(th), N), snw_mat3_scale(half, NN)));
    // The axis passes through c = n x v / k; p = (1 - R) c + pitch s n
    const snw_vec3 c = snw_scale(1 / k, snw_cross(n, xi.v));
    g.p = snw_add(snw_sub(c, snw_rotate(g.R, c)), snw_scale(pitch * s, n));
    return g;
}

snw_vec3 oracle_circle(double k, double L) {
    if (k == 0) return (snw_vec3){{L, 0, 0}};
    const double half = sin(k * L / 2);
    return (snw_vec3){{sin(k * L) / k, 2 * half * half / k, 0}};
}

// Root of f in (a, b), where it changes sign once.
typedef double scalar(const void *user, double x);

static double bisect(scalar *f, const void *user, double a, double b) {
    const int sign = f(user, a) > 0;
    for (int i = 0; i < 200; i++) {
        const double c = 0.5 * (a + b);
        if (c == a || c == b) return c;
        if ((f(user, c) > 0) == sign) {
            a = c;
        } else {
            b = c;
        }
    }
    return 0.5 * (a + b);
}

// Root number i of f on (from, infinity), bracketed with a fixed step.
static double root(scalar *f, const void *user, int i, double from, double step) {
    for (int k = 0;; k++) {
        const double a = from + k * step, b = a + step;
        if ((f(user, a) > 0) != (f(user, b) > 0) && --i == 0) return bisect(f, user, a, b);
    }
}

static double clamped_free(const void *user, double b) {
    (void)user;
    return cos(b) + 1 / cosh(b);
}

double oracle_cantilever_beta(int i) { return root(clamped_free, 0, i, 0.1, 0.1); }

typedef struct timoshenko {
    double rr, ss; // squares of Huang's r and s
} timoshenko;

// b = omega sqrt(rho A L^4 / EI); valid below the second spectrum, b^2 r^2 s^2 < 1
static double huang(const void *user, double b) {
    const timoshenko *t = user;
    const double rr = t->rr, ss = t->ss, sum = rr + ss, dif = rr - ss;
    const double inner = sqrt(dif * dif + 4 / (b * b));
    const double al = sqrt(0.5 * (inner - sum)), be = sqrt(0.5 * (inner + sum));
    return 2 + (b * b * dif * dif + 2) * cosh(b * al) * cos(b * be) -
           b * sum / sqrt(1 - b * b * rr * ss) * sinh(b * al) * sin(b * be);
}

double oracle_timoshenko(int i, double L, double EI, double GA, double rhoA, double rhoI) {
    const timoshenko t = {rhoI / (rhoA * L * L), EI / (GA * L * L)};
    return root(huang, &t, i, 0.05, 0.05) * sqrt(EI / (rhoA * L * L * L * L));
}

double oracle_euler_load(void) { return M_PI * M_PI / 4; }

// J_(-1/3)(x) times a positive factor, by its power series.
static double bessel(const void *user, double x) {
    (void)user;
    double term = 1, sum = 1;
    for (int k = 1; k < 60; k++) {
        term *= -x * x / 4 / (k * (k - 1.0 / 3));
        sum += term;
    }
    return sum;
}

double oracle_self_weight(void) {
    const double j = root(bessel, 0, 1, 0.1, 0.1);
    return 9 * j * j / 4;
}

// Frequency equation of Beck's column, p the load, b the frequency.
static double beck(double p, double b) {
    const double inner = sqrt(p * p / 4 + b * b);
    const double k = sqrt(inner - p / 2), l = sqrt(inner + p / 2);
    return p * p + 2 * b * b * (1 + cosh(k) * cos(l)) + p * b * sinh(k) * sin(l);
}

// Lowest value of the frequency equation between its first two roots, by golden section.
static double beck_valley(double p, double *at) {
    const double ratio = 0.5 * (sqrt(5) - 1);
    double a = 4, b = 20;
    for (int i = 0; i < 100; i++) {
        const double c = b - ratio * (b - a), d = a + ratio * (b - a);
        if (beck(p, c) < beck(p, d)) {
            b = d;
        } else {
            a = c;
        }
    }
    *at = 0.5 * (a + b);
    return beck(p, *at);
}

static double beck_depth(const void *user, double p) {
    (void)user;
    double at;
    return beck_valley(p, &at);
}

double oracle_beck_load(double *omega) {
    const double p = bisect(beck_depth, 0, 15, 25);
    (void)beck_valley(p, omega);
    return p;
}

double oracle_elliptic_K(double k) {
    double a = 1, b = sqrt(1 - k * k);
    while (fabs(a - b) > 1e-15 * a) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return M_PI / (2 * a);
}

void oracle_jacobi(double u, double k, double *sn, double *cn, double *dn) {
    enum { STEPS = 10 }; // the mean doubles its digits in each
    double a[STEPS + 1] = {1}, c[STEPS + 1] = {k}, b = sqrt(1 - k * k), scale = 1;
    for (int i = 0; i < STEPS; i++) {
        a[i + 1] = 0.5 * (a[i] + b);
        c[i + 1] = 0.5 * (a[i] - b);
        b = sqrt(a[i] * b);
        scale *= 2;
    }
    double phi = scale * a[STEPS] * u;
    for (int i = STEPS; i > 0; i--) phi = 0.5 * (phi + asin(c[i] / a[i] * sin(phi)));
    *sn = sin(phi);
    *cn = cos(phi);
    *dn = sqrt(1 - k * k * *sn * *sn);
}
