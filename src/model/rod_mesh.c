// SPDX-License-Identifier: MIT
//
// Cells of a rod with a tolerance (theory.md 3.16): error estimates of a slice and of a cell, and
// the march along the rod that chooses the lengths of cells.
#include "model/rod_mesh.h"

#include "math/quadrature.h"
#include "math/se3_tangent.h"
#include "math/vector.h"

#include <math.h>

// Norm of a twist: angle plus translation over the length of the rod.
static double rod_mesh_norm(const snw_rod_mesh *c, snw_twist x) {
    return snw_norm(x.w) + snw_norm(x.v) / c->L;
}

// s <- motion of the section at b, from that at a.
static void rod_mesh_advance(const snw_rod_mesh *c, double a, double b, snw_section_motion *s) {
    snw_twist xi[3][SNW_MAGNUS_POINTS], W, dW, ddW, u, du;
    for (int i = 0; i < c->rule->nc; i++) {
        snw_twist at[3];
        c->strain(c->user, a + c->rule->c[i] * (b - a), 0.5 * (a + b), at);
        for (int l = 0; l < 3; l++) xi[l][i] = at[l];
    }
    if (c->is_static) {
        s->g = snw_se3_mul(s->g, snw_se3_exp(snw_rule_value(c->rule, b - a, xi[0])));
        return;
    }
    snw_lower T;
    snw_rule_rates(c->rule, b - a, xi[0], xi[1], xi[2], &W, &dW, &ddW);
    snw_se3_exp_rates(W, dW, ddW, &T, &u, &du);
    // as in dynamics/kinematics.c
    const snw_se3 h = snw_se3_exp(W);
    const snw_twist V = snw_twist_to_child(h, s->V), A = snw_twist_to_child(h, s->A);
    s->g = snw_se3_mul(s->g, h);
    s->V = snw_twist_add(V, u);
    s->A = snw_twist_add(snw_twist_sub(A, snw_ad(u, V)), du);
}

// Squares of position, velocity and acceleration.
static void rod_mesh_squares(const snw_section_motion *s, double out[3]) {
    out[0] = snw_dot(s->g.p, s->g.p);
    out[1] = snw_dot(s->V.v, s->V.v);
    out[2] = snw_dot(s->A.v, s->A.v);
}

void snw_rod_mesh_errors(snw_rod_mesh *c) {
    enum { PARTS = 12 }; // reference sizes need one digit only
    snw_section_motion s = {.g = snw_se3_identity()};
    const double h = c->L / PARTS;
    c->size[0] = 1;
    c->size[1] = c->size[2] = 0;
    for (int l = 0; l < 3; l++) c->whole[l] = 0;
    for (int i = 0; i < PARTS; i++) {
        snw_twist xi[3];
        double x[3];
        c->strain(c->user, (i + 0.5) * h, (i + 0.5) * h, xi);
        rod_mesh_advance(c, i * h, (i + 0.5) * h, &s);
        rod_mesh_squares(&s, x);
        rod_mesh_advance(c, (i + 0.5) * h, (i + 1) * h, &s);
        for (int l = 0; l < 3; l++) {
            if (l > 0) c->size[l] += h * rod_mesh_norm(c, xi[l]);
            c->whole[l] += h * x[l];
        }
    }
}

double snw_rod_mesh_quadrature(const snw_rod_mesh *c, double a, double b, snw_section_motion *s) {
    // Gauss-Kronrod pair with three and seven points (Kronrod 1965)
    static const double x[4] = {0.960491268708020283, 0.774596669241483377, 0.434243749346802558,
                                0};
    static const double w[4] = {0.104656226026467265, 0.268488089868333441, 0.401397414775962223,
                                0.450916538658474142};
    const double gauss[4] = {0, 5.0 / 9, 0, 8.0 / 9}, middle = 0.5 * (a + b), half = 0.5 * (b - a);
    double from = a, sum[3] = {0}, worst = 0;
    for (int i = 0; i < 7; i++) {
        const int k = i < 4 ? i : 6 - i;
        const double to = middle + (i < 3 ? -half : half) * x[k];
        double at[3];
        rod_mesh_advance(c, from, to, s);
        rod_mesh_squares(s, at);
        for (int l = 0; l < 3; l++) sum[l] += half * (gauss[k] - w[k]) * at[l];
        from = to;
    }
    rod_mesh_advance(c, from, b, s);
    for (int l = 0; l < 3; l++) {
        const double e = c->whole[l] > 0 ? fabs(sum[l]) / c->whole[l] : 0;
        worst = snw_larger(worst, e);
    }
    return worst;
}

double snw_rod_mesh_error(const snw_rod_mesh *c, double a, double b) {
    snw_twist xi[SNW_MAGNUS_POINTS], d[SNW_MAGNUS_POINTS], dd[SNW_MAGNUS_POINTS], E[3];
    for (int i = 0; i < c->rule->nc; i++) {
        snw_twist at[3];
        c->strain(c->user, a + c->rule->c[i] * (b - a), 0.5 * (a + b), at);
        xi[i] = at[0], d[i] = at[1], dd[i] = at[2];
    }
    snw_rule_errors(c->rule, b - a, xi, d, dd, E);
    double worst = 0;
    for (int l = 0; l < 3; l++) {
        if (c->size[l] == 0) continue;
        const double e = rod_mesh_norm(c, E[l]) / c->size[l];
        worst = snw_larger(worst, e);
    }
    return worst;
}

// Largest error estimate of a cell from a to b; *at <- motion at b.
static double cell_error(const snw_rod_mesh *c, const double *gauss, double a, double b,
                         snw_section_motion *at) {
    double worst = snw_rod_mesh_quadrature(c, a, b, at), from = a;
    for (int i = 0; i <= SNW_ROD_MESH_CELL_NODES; i++) {
        const double to = i < SNW_ROD_MESH_CELL_NODES ? a + gauss[i] * (b - a) : b;
        const double e = snw_rod_mesh_error(c, from, to);
        worst = snw_larger(worst, e);
        from = to;
    }
    return worst;
}

// Length of the next cell from length h and error over target of the last: the error is of fifth
// order in the length; at most doubled.
static double rod_mesh_next_length(double h, double excess) {
    return h * fmin(2, fmax(0.2, 0.9 / pow(fmax(excess, 1e-4), 0.2)));
}

int snw_rod_mesh_march(const snw_rod_mesh *c, int nelem, const double *breaks, int least,
                       double target, int room, double *cell) {
    double gauss[SNW_ROD_MESH_CELL_NODES], w[SNW_ROD_MESH_CELL_NODES];
    snw_gauss(SNW_ROD_MESH_CELL_NODES, gauss, w);
    int n = 0;
    double h = INFINITY;
    snw_section_motion s = {.g = snw_se3_identity()};
    cell[0] = 0;
    for (int e = 0; e < nelem; e++) {
        const double end = breaks[e + 1], most = (end - breaks[e]) / least;
        double x = breaks[e];
        h = fmin(h, most);
        while (x < end) {
            if (n == room) return 0;
            // divide the rest of the element evenly, to avoid a very short last cell
            const double parts = ceil((end - x) / fmin(h, most) - 1e-9);
            const bool last = parts <= 1;
            double to = last ? end : x + (end - x) / parts;
            snw_section_motion next = s;
            double excess = cell_error(c, gauss, x, to, &next) / target;
            while (excess > 1) {
                const double shorter = fmin(0.9, rod_mesh_next_length(1, excess)) * (to - x);
                if (!(shorter > 1e-9 * c->L)) return 0;
                to = x + shorter;
                next = s;
                excess = cell_error(c, gauss, x, to, &next) / target;
            }
            if (isnan(excess)) return 0;
            h = rod_mesh_next_length(to - x, excess);
            cell[++n] = to;
            s = next;
            x = to;
        }
    }
    return n;
}
