// SPDX-License-Identifier: MIT
//
// Laws of a place. Derivatives are those of the expression along directions: the second derivative
// along a + b is d_aa + 2 d_ab + d_bb.
#include "model/place_law.h"

#include "math/quadrature.h"

enum { NSIGNAL = SNW_FIELD_Y + 2, POTENTIAL_DEPTH = 24 };

// Value of a variable of laws; `signal` (NSIGNAL) holds y and z.
static snw_at place_at(double t, snw_vec3 p, double *signal) {
    signal[SNW_FIELD_Y] = p.y;
    signal[SNW_FIELD_Y + 1] = p.z;
    return (snw_at){.t = t, .x = p.x, .signal = signal};
}

void snw_place_law_at(snw_law law, double t, snw_vec3 p, int order, snw_place_jet *out) {
    double signal[NSIGNAL];
    const snw_at at = place_at(t, p, signal);
    *out = (snw_place_jet){0};
    if (!law) return;
    if (order == 0 || !(snw_expr_vars(law) & (SNW_VAR_X | SNW_VAR_SIGNAL))) {
        out->v = snw_expr_value(law, at);
        return;
    }
    for (int i = 0; i < 3; i++) {
        const snw_jet j = snw_expr_jet_along(law, at, SNW_FIELD_Y, snw_unit_vector(i).e);
        out->v = j.v;
        out->d1.e[i] = j.d;
        out->d2.e[i][i] = j.dd;
    }
    for (int i = 0; order > 1 && i < 3; i++) {
        const int k = (i + 1) % 3;
        const snw_vec3 u = snw_add(snw_unit_vector(i), snw_unit_vector(k));
        const snw_jet j = snw_expr_jet_along(law, at, SNW_FIELD_Y, u.e);
        out->d2.e[i][k] = out->d2.e[k][i] = 0.5 * (j.dd - out->d2.e[i][i] - out->d2.e[k][k]);
    }
}

double snw_place_law_rate(snw_law law, double t, snw_vec3 p) {
    double signal[NSIGNAL];
    return law ? snw_expr_jet_t(law, place_at(t, p, signal)).d : 0;
}

// The line from the origin to p.
typedef struct line {
    const snw_law *f;
    double t;
    snw_vec3 p;
} line;

static double line_force(const void *user, double s) {
    const line *l = (const line *)user;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        snw_place_jet j;
        snw_place_law_at(l->f[i], l->t, snw_scale(s, l->p), 0, &j);
        sum -= j.v * l->p.e[i];
    }
    return sum;
}

static double line_force_rate(const void *user, double s) {
    const line *l = (const line *)user;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum -= snw_place_law_rate(l->f[i], l->t, snw_scale(s, l->p)) * l->p.e[i];
    return sum;
}

double snw_place_potential(const snw_law f[3], double t, snw_vec3 p) {
    const line l = {f, t, p};
    return snw_integrate(line_force, &l, 0, 1, POTENTIAL_DEPTH);
}

double snw_place_potential_rate(const snw_law f[3], double t, snw_vec3 p) {
    const line l = {f, t, p};
    return snw_integrate(line_force_rate, &l, 0, 1, POTENTIAL_DEPTH);
}
