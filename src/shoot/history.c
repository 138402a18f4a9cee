// SPDX-License-Identifier: MIT
//
// Time discretisation of a rod: histories of strain, velocity and states z at nodes from the
// previous instants, interpolated to the points between nodes, and the compliance of sections for
// the present formula.

#include "shoot/rod.h"

#include "solve/dense.h"

#include <math.h>
#include <string.h>

// C <- (K + c0 B)^-1 on the active strains
static void set_compliance(const snw_shoot_rod *r, const double *K, double c0,
                           snw_shoot_section *s) {
    memset(s->C, 0, sizeof s->C);
    int n = 0, of[6];
    for (int i = 0; i < 6; i++) {
        if (r->active[i]) of[n++] = i;
    }
    if (r->diagonal) {
        for (int i = 0; i < n; i++) s->C[7 * of[i]] = 1 / (K[7 * of[i]] + c0 * s->B[7 * of[i]]);
        return;
    }
    double A[36], x[6];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            A[i * n + k] = K[6 * of[i] + of[k]] + c0 * s->B[6 * of[i] + of[k]];
        }
    }
    if (snw_cholesky_factor(n, A) != SNW_OK) {
        for (int i = 0; i < 36; i++) s->C[i] = NAN; // the solver reports divergence
        return;
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) x[i] = i == k;
        snw_cholesky_solve(n, A, x);
        for (int i = 0; i < n; i++) s->C[6 * of[i] + of[k]] = x[i];
    }
}

void snw_shoot_lagrange(int n, double x, double *w) {
    for (int i = 0; i < n; i++) {
        w[i] = 1;
        for (int k = 0; k < n; k++) {
            if (k != i) w[i] *= (x - k) / (i - k);
        }
    }
}

// interpolate values at nodes, `width` numbers each, to the points between
static void history_interpolate(const snw_shoot_rod *r, int width, const double *at_node,
                                double *at_point) {
    const snw_along *m = r->method;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        const double *x = at_node + (ptrdiff_t)piece->node * width;
        double *y = at_point + (ptrdiff_t)piece->point * width;
        const int most = r->interpolation == SNW_HISTORY_LINEAR ? 2 : 4;
        const int n = piece->n + 1 < most ? piece->n + 1 : most;
        for (int k = 1; k < m->np; k++) {
            double w[4];
            int was = -9;
            for (int j = 0; j < piece->n; j++) {
                int first = j - (n - 1) / 2; // symmetric about the interval where possible
                first = first < 0 ? 0 : (first + n > piece->n + 1 ? piece->n + 1 - n : first);
                if (j - first != was) snw_shoot_lagrange(n, j - first + m->c[k], w);
                was = j - first;
                const double *a = x + (ptrdiff_t)first * width;
                double *out = y + ((ptrdiff_t)j * m->np + k) * width;
                if (n == 4) {
                    for (int i = 0; i < width; i++) {
                        out[i] = w[0] * a[i] + w[1] * a[i + width] + w[2] * a[i + 2 * width] +
                                 w[3] * a[i + 3 * width];
                    }
                    continue;
                }
                for (int i = 0; i < width; i++) {
                    out[i] = 0;
                    for (int l = 0; l < n; l++) out[i] += w[l] * a[i + l * width];
                }
            }
        }
        for (int j = 0; j <= piece->n; j++) {
            memcpy(y + (ptrdiff_t)j * m->np * width, x + (ptrdiff_t)j * width,
                   (size_t)width * sizeof *x);
        }
    }
}

// out <- c1 a + c2 b + c3 c + d rate
static void history_combine(const snw_time_formula *f, ptrdiff_t n, const double *a,
                            const double *b, const double *c, const double *rate, double *out) {
    for (ptrdiff_t i = 0; i < n; i++) out[i] = f->c[1] * a[i];
    if (f->c[2] != 0) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] += f->c[2] * b[i];
    }
    if (f->c[3] != 0) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] += f->c[3] * c[i];
    }
    if (f->d != 0) {
        for (ptrdiff_t i = 0; i < n; i++) out[i] += f->d * rate[i];
    }
}

void snw_shoot_set_length(snw_shoot_rod *r, double length) {
    r->free_length[0] = r->length = length;
    r->piece[0].h = length / r->piece[0].n;
}

bool snw_shoot_root_depends_on_wrench(const snw_shoot_rod *r) {
    return r->feed_rate != 0 && r->interpolation == SNW_HISTORY_CUBIC;
}

// elastic strain of a section without law
static snw_twist strain_from_wrench(const snw_shoot_section *s, snw_wrench F, snw_twist eh) {
    snw_twist e;
    double d[6];
    for (int i = 0; i < 6; i++) {
        d[i] = F.e[i];
        for (int k = 0; k < 6; k++) d[i] -= s->B[6 * i + k] * eh.e[k];
    }
    for (int i = 0; i < 6; i++) {
        e.e[i] = 0;
        for (int k = 0; k < 6; k++) e.e[i] += s->C[6 * i + k] * d[k];
    }
    return e;
}

snw_twist snw_shoot_root_V(const snw_shoot_rod *r, snw_wrench F) {
    if (r->feed_rate == 0) return r->base_V;
    snw_twist xi = r->section[0].rest;
    if (snw_shoot_root_depends_on_wrench(r)) {
        xi = snw_twist_add(xi, strain_from_wrench(&r->section[0], F, r->history[0].e));
    } else {
        xi.w = (snw_vec3){{0}}; // as in Till 2019
    }
    return snw_twist_axpy(r->feed_rate, xi, r->base_V);
}

static double feed_rate_by_formula(const snw_shoot_rod *r) {
    const snw_time_formula *f = &r->formula;
    double rate = f->d * r->free_length_rate;
    // differences: the rate of a constant length is zero to the last bit
    for (int k = 0; k <= SNW_TIME_LEVELS; k++)
        rate += f->c[k] * (r->free_length[k] - r->free_length[1]);
    return rate;
}

// out += c times a field at nodes, of an instant at which the free length was `length`, evaluated
// where the material of node j was then. Material that was inside the base gets the extrapolated
// field, since rates at the base are one-sided: cubic, or linear beyond one interval.
static void add_material_history(const snw_shoot_rod *r, int j, double c, double length,
                                 const snw_shoot_history *field, snw_shoot_history *out) {
    const int n = r->piece[0].n;
    const double at = n - (n - j) * r->free_length[0] / length;
    const int nodes = at < -1 ? 2 : (n < 3 ? n + 1 : 4);
    const int first = (int)fmin(fmax(floor(at) - 1, 0), n + 1 - nodes);
    double w[4];
    snw_shoot_lagrange(nodes, at - first, w);
    for (int k = 0; k < nodes; k++) {
        out->e = snw_twist_axpy(c * w[k], field[first + k].e, out->e);
        out->V = snw_twist_axpy(c * w[k], field[first + k].V, out->V);
    }
}

// histories at nodes of the material that is there at the end of the step
static void combine_material_histories(snw_shoot_rod *r) {
    const snw_time_formula *f = &r->formula;
    for (int j = 0; j < r->nnode; j++) {
        snw_shoot_history *h = &r->node_history[j];
        *h = (snw_shoot_history){.e = snw_twist_zero(), .V = snw_twist_zero()};
        for (int k = 1; k <= SNW_TIME_LEVELS; k++) {
            if (f->c[k] != 0)
                add_material_history(r, j, f->c[k], r->free_length[k], r->level[k - 1], h);
        }
        if (f->d != 0) add_material_history(r, j, f->d, r->free_length[1], r->rate, h);
    }
}

static bool length_changed(const snw_shoot_rod *r) {
    bool changed = false;
    for (int k = 1; k <= SNW_TIME_LEVELS; k++)
        changed = changed || r->free_length[k] != r->free_length[0];
    return changed && r->interpolation == SNW_HISTORY_CUBIC;
}

void snw_shoot_formula(snw_shoot_rod *r, snw_levels levels, double h) {
    const double steps[SNW_TIME_LEVELS] = {h, r->step[0], r->step[1]};
    const double before = r->formula.c[0], compliance_before = r->stretch_compliance_used;
    r->stretch_compliance_used = r->stretch_compliance;
    r->formula = snw_time_formula_at(levels, steps);
    r->feed_rate = feed_rate_by_formula(r);
    if (r->formula.c[0] != before || r->stretch_compliance_used != compliance_before ||
        r->section[0].C[7] == 0) {
        const int ns = r->uniform ? 1 : r->npoint;
        for (int i = 0; i < ns; i++) {
            set_compliance(r, r->K + 36 * (ptrdiff_t)i, r->formula.c[0], &r->section[i]);
            if (!r->active[3]) r->section[i].C[21] = r->stretch_compliance_used;
        }
    }
    const int nz = snw_shoot_nz(r);
    const double *x[SNW_TIME_LEVELS];
    for (int i = 0; i < SNW_TIME_LEVELS; i++) x[i] = (const double *)(const void *)r->level[i];
    if (length_changed(r) && r->formula.c[0] > 0) {
        combine_material_histories(r);
    } else {
        history_combine(&r->formula, 12 * (ptrdiff_t)r->nnode, x[0], x[1], x[2],
                        (const double *)(const void *)r->rate, (double *)(void *)r->node_history);
    }
    history_interpolate(r, 12, (const double *)(const void *)r->node_history,
                        (double *)(void *)r->history);
    if (snw_shoot_integrates_strain(r)) {
        history_combine(&r->formula, 6 * (ptrdiff_t)r->nnode, r->strain_d1[0]->e,
                        r->strain_d1[1]->e, r->strain_d1[2]->e, r->strain_d1_rate->e,
                        r->strain_d1_node->e);
        history_interpolate(r, 6, r->strain_d1_node->e, r->strain_d1_history->e);
    }
    if (nz == 0) return;
    history_combine(&r->formula, (ptrdiff_t)nz * r->nnode, r->zlevel[0], r->zlevel[1], r->zlevel[2],
                    r->zrate, r->znode);
    history_interpolate(r, nz, r->znode, r->zh);
}

// elastic strain at a node from its wrench
static snw_twist history_strain(const snw_shoot_rod *r, int piece, int node) {
    const int p = snw_shoot_point_of(r, piece, node), nz = snw_shoot_nz(r);
    const snw_shoot_section *s = r->uniform ? r->section : r->section + p;
    const snw_twist eh = r->history[p].e;
    if (r->law) {
        const snw_law_in in = {.point = p,
                               .c0 = r->formula.c[0],
                               .F = r->F[node],
                               .eh = eh,
                               .z = r->z + (ptrdiff_t)node * nz,
                               .zh = r->zh + (ptrdiff_t)p * nz,
                               .section = s};
        snw_law_out out;
        r->law->strain(r->law->user, &in, false, &out);
        return out.e;
    }
    return strain_from_wrench(s, r->F[node], eh);
}

static void rotate_levels(snw_shoot_rod *r, double h) {
    snw_shoot_history *oldest = r->level[SNW_TIME_LEVELS - 1];
    snw_twist *oldest_d1 = r->strain_d1[SNW_TIME_LEVELS - 1];
    double *zoldest = r->zlevel[SNW_TIME_LEVELS - 1];
    for (int i = SNW_TIME_LEVELS - 1; i > 0; i--) {
        r->level[i] = r->level[i - 1];
        r->zlevel[i] = r->zlevel[i - 1];
        r->strain_d1[i] = r->strain_d1[i - 1];
        r->step[i] = r->step[i - 1];
    }
    r->level[0] = oldest;
    r->zlevel[0] = zoldest;
    r->strain_d1[0] = oldest_d1;
    r->step[0] = h;
    for (int i = SNW_TIME_LEVELS; i > 0; i--) r->free_length[i] = r->free_length[i - 1];
    r->free_length_rate = r->feed_rate;
}

void snw_shoot_accept(snw_shoot_rod *r, double h) {
    const double c0 = r->formula.c[0];
    const int nz = snw_shoot_nz(r);
    rotate_levels(r, h);
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = piece->node; j <= piece->node + piece->n; j++) {
            const snw_shoot_history x = {history_strain(r, p, j), r->V[j]};
            const snw_shoot_history *H = &r->history[snw_shoot_point_of(r, p, j)];
            r->level[0][j] = x;
            r->rate[j].e = snw_twist_axpy(c0, x.e, H->e);
            r->rate[j].V = snw_twist_axpy(c0, x.V, H->V);
            if (!snw_shoot_integrates_strain(r)) continue;
            r->strain_d1[0][j] = r->form->strain_d1(r, snw_shoot_point_of(r, p, j), j);
            r->strain_d1_rate[j] = snw_twist_axpy(c0, r->strain_d1[0][j], r->strain_d1_node[j]);
        }
    }
    for (int i = 0; i < nz * r->nnode; i++) {
        r->zlevel[0][i] = r->z[i];
        r->zrate[i] = c0 * r->z[i] + r->znode[i];
    }
}

// w <- weights of the values at 0, 1, .. n - 1 in the derivative of their interpolation polynomial
// at node k
static void lagrange_d1(int n, int k, double *w) {
    w[k] = 0;
    for (int i = 0; i < n; i++) {
        if (i == k) continue;
        w[i] = 1.0 / (i - k);
        for (int l = 0; l < n; l++) {
            if (l != i && l != k) w[i] *= (double)(k - l) / (i - l);
        }
        w[k] += 1.0 / (k - i);
    }
}

void snw_shoot_derivatives(snw_shoot_rod *r) {
    if (!snw_shoot_integrates_strain(r)) return;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        const int n = piece->n < 3 ? piece->n + 1 : 4;
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j;
            const int first = (int)fmin(fmax(j - 1, 0), piece->n + 1 - n);
            double w[4];
            lagrange_d1(n, j - first, w);
            for (int k = 0; k <= SNW_TIME_LEVELS; k++) {
                const bool level = k < SNW_TIME_LEVELS;
                const snw_shoot_history *x = (level ? r->level[k] : r->rate) + piece->node + first;
                snw_twist s = snw_twist_zero();
                for (int i = 0; i < n; i++) s = snw_twist_axpy(w[i] / piece->h, x[i].e, s);
                (level ? r->strain_d1[k] : r->strain_d1_rate)[node] = s;
            }
        }
    }
}

static void uniform_past(ptrdiff_t n, double h, bool rest, double *const level[SNW_TIME_LEVELS],
                         double *rate) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (rest) rate[i] = 0;
        for (int k = 1; k < SNW_TIME_LEVELS; k++) level[k][i] = level[0][i] - k * h * rate[i];
    }
}

void snw_shoot_begin(snw_shoot_rod *r, bool rest, double h) {
    double *level[SNW_TIME_LEVELS];
    for (int k = 0; k < SNW_TIME_LEVELS; k++) {
        level[k] = (double *)(void *)r->level[k];
        r->step[k] = h;
    }
    if (rest) r->free_length_rate = 0;
    for (int k = 1; k <= SNW_TIME_LEVELS; k++)
        r->free_length[k] = r->free_length[0] - (k - 1) * h * r->free_length_rate;
    uniform_past(12 * (ptrdiff_t)r->nnode, h, rest, level, (double *)(void *)r->rate);
    uniform_past((ptrdiff_t)snw_shoot_nz(r) * r->nnode, h, rest, r->zlevel, r->zrate);
    if (!snw_shoot_integrates_strain(r)) return;
    for (int k = 0; k < SNW_TIME_LEVELS; k++) level[k] = r->strain_d1[k]->e;
    uniform_past(6 * (ptrdiff_t)r->nnode, h, rest, level, r->strain_d1_rate->e);
}
