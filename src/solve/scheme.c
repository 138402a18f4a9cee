// SPDX-License-Identifier: MIT
//
// Coefficients of the implicit schemes for one step, and their histories, for the implicit
// integrator.

#include "solve/scheme.h"

#include <math.h>

snw_scheme snw_scheme_of_weights(double am, double af) {
    const double gamma = 0.5 - am + af, root = gamma + 0.5;
    return (snw_scheme){.order = 2, .am = am, .af = af, .gamma = gamma, .beta = 0.25 * root * root};
}

snw_scheme snw_scheme_of_levels(snw_levels levels) {
    return (snw_scheme){.order = levels.past == 1 && levels.alpha == 0 ? 1 : 2,
                        .levels = levels,
                        .e = snw_increment_formula_at(levels, 1, 1).d};
}

size_t snw_history_doubles(int n) { return 5 * (size_t)n; }

snw_history snw_history_on(int n, double *memory) {
    return (snw_history){.n = n,
                         .v = memory,
                         .a = memory + n,
                         .pseudo = memory + 2 * n,
                         .d = memory + 3 * n,
                         .vb = memory + 4 * n};
}

void snw_scheme_start(const snw_scheme *s, const double *v, const double *a, bool rest,
                      snw_history *past) {
    (void)s;
    past->h = 0;
    for (int i = 0; i < past->n; i++) {
        past->v[i] = v[i];
        past->a[i] = rest ? 0 : a[i];
        past->pseudo[i] = past->a[i];
    }
}

static void begin_levels(const snw_scheme *s, const snw_history *p, double h, double *a, double *b,
                         double *f, double *g) {
    const double hp = p->h > 0 ? p->h : h;
    const snw_increment_formula formula = snw_increment_formula_at(s->levels, h, hp);
    const double c0 = formula.c0, c2 = formula.c2, c1 = -c0 - c2;
    *a = c0;
    *b = c0 * c0;
    for (int i = 0; i < p->n; i++) {
        // before the first step: constant acceleration with its initial value
        const double d = p->h > 0 ? p->d[i] : h * (p->v[i] - 0.5 * h * p->a[i]);
        const double vb = p->h > 0 ? p->vb[i] : p->v[i] - h * p->a[i];
        f[i] = s->e * p->v[i] - c2 * d;
        g[i] = c0 * f[i] + c1 * p->v[i] + c2 * vb + s->e * p->a[i];
    }
}

// Arnold and Bruls, with the sign of (4.11) of Gotelli 2024 corrected
static void begin_alpha(const snw_scheme *s, const snw_history *p, double h, double *a, double *b,
                        double *f, double *g) {
    const double k = (1 - s->am) / (1 - s->af);
    *a = s->gamma / (h * s->beta);
    *b = k / (h * h * s->beta);
    const double fv = 1 - s->gamma / s->beta, fp = h * (1 - s->gamma / (2 * s->beta));
    const double gv = -k / (h * s->beta);
    const double gp = k * (1 - 1 / (2 * s->beta)) + s->am / (1 - s->af);
    const double ga = -s->af / (1 - s->af);
    for (int i = 0; i < p->n; i++) {
        f[i] = fv * p->v[i] + fp * p->pseudo[i];
        g[i] = gv * p->v[i] + gp * p->pseudo[i] + ga * p->a[i];
    }
}

void snw_scheme_begin(const snw_scheme *s, const snw_history *past, double h, double *a, double *b,
                      double *f, double *g) {
    if (past->h < 0) {
        const snw_scheme first = {.gamma = 1, .beta = 0.5}; // ignores past accelerations
        begin_alpha(&first, past, h, a, b, f, g);
    } else if (s->levels.past > 0) {
        begin_levels(s, past, h, a, b, f, g);
    } else {
        begin_alpha(s, past, h, a, b, f, g);
    }
}

void snw_scheme_end(const snw_scheme *s, double h, const double *d, const double *v,
                    const double *acc, snw_history *past) {
    for (int i = 0; i < past->n; i++) {
        const double pseudo =
            ((1 - s->af) * acc[i] + s->af * past->a[i] - s->am * past->pseudo[i]) / (1 - s->am);
        past->pseudo[i] = past->h < 0 ? acc[i] : pseudo;
        past->d[i] = d[i];
        past->vb[i] = past->v[i];
        past->v[i] = v[i];
        past->a[i] = acc[i];
    }
    past->h = h;
}

double snw_scheme_overshoot(const snw_scheme *s) {
    if (s->levels.past > 0) return s->levels.past == 2 ? 0.25 * (1 + s->e) : 0;
    return 1 - s->gamma / (2 * s->beta);
}

double snw_scheme_displacement(const snw_scheme *s) {
    if (s->levels.past > 0) return s->levels.past == 2 ? 0.5 * (1 + s->e) / (3 - s->e) : 0;
    return s->beta / s->gamma - 0.5;
}

double snw_scheme_error_factor(const snw_scheme *s) {
    if (s->order == 1) return 0.5;
    return s->levels.past > 0 ? 0.25 : fabs(s->beta - 1.0 / 6) + 0.5 * fabs(s->af - s->am);
}
