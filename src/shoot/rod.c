// SPDX-License-Identifier: MIT
//
// Memory layout, node and point coordinates, and classification of a rod; growth of disturbances
// along it, from which the shooting segments are chosen.

#include "shoot/rod.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"

#include <math.h>
#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

typedef struct rod_arrays {
    snw_shoot_rod *r;
    bool loads; // there are distributed loads
} rod_arrays;

static void *rod_array(snw_fields *f, size_t count, size_t size) {
    return snw_fields_next(f, count, size, SNW_FIELD_BOUNDARY);
}

static void rod_place(void *object, snw_fields *f) {
    snw_shoot_rod *r = ((rod_arrays *)object)->r;
    const bool loads = ((rod_arrays *)object)->loads;
    const size_t nn = (size_t)r->nnode, np = (size_t)r->npoint, nz = (size_t)snw_shoot_nz(r);
    const size_t ns = r->uniform ? 1 : np;
    r->piece = rod_array(f, (size_t)r->npiece, sizeof *r->piece);
    r->station = rod_array(f, (size_t)r->npiece, sizeof *r->station);
    r->section = rod_array(f, ns, sizeof *r->section);
    r->K = rod_array(f, 36 * ns, sizeof *r->K);
    r->density = loads ? rod_array(f, np, sizeof *r->density) : NULL;
    r->history = rod_array(f, np, sizeof *r->history);
    r->zh = rod_array(f, np * nz, sizeof *r->zh);
    r->g = rod_array(f, nn, sizeof *r->g);
    r->V = rod_array(f, nn, sizeof *r->V);
    r->F = rod_array(f, nn, sizeof *r->F);
    r->z = rod_array(f, nn * nz, sizeof *r->z);
    r->W = rod_array(f, nn, sizeof *r->W);
    for (int i = 0; i < SNW_TIME_LEVELS; i++) {
        r->level[i] = rod_array(f, nn, sizeof *r->level[i]);
        r->zlevel[i] = rod_array(f, nn * nz, sizeof *r->zlevel[i]);
    }
    r->rate = rod_array(f, nn, sizeof *r->rate);
    r->zrate = rod_array(f, nn * nz, sizeof *r->zrate);
    r->node_history = rod_array(f, nn, sizeof *r->node_history);
    r->znode = rod_array(f, nn * nz, sizeof *r->znode);
    const size_t derivative_nodes = r->law && r->law->depends_on_strain ? nn : 0;
    for (int i = 0; i < SNW_TIME_LEVELS; i++)
        r->strain_d1[i] = rod_array(f, derivative_nodes, sizeof **r->strain_d1);
    r->strain_d1_rate = rod_array(f, derivative_nodes, sizeof *r->strain_d1_rate);
    r->strain_d1_node = rod_array(f, derivative_nodes, sizeof *r->strain_d1_node);
    r->strain_d1_history = rod_array(f, derivative_nodes ? np : 0, sizeof *r->strain_d1_history);
}

snw_status snw_shoot_create(const snw_shoot_opts *opts, const snw_shoot_law *law, bool uniform,
                            bool loads, snw_shoot_rod **out) {
    *out = NULL;
    snw_shoot_rod *r = snw_alloc(sizeof *r);
    if (!r) return SNW_E_MEMORY;
    r->method = snw_along_of(opts->along);
    r->interpolation = opts->interpolation;
    r->law = law;
    r->uniform = uniform;
    r->npiece = opts->npiece;
    for (int i = 0; i < opts->npiece; i++) {
        r->nnode += opts->intervals[i] + 1;
        r->npoint += opts->intervals[i] * r->method->np + 1;
        r->length += opts->length[i];
    }
    rod_arrays arrays = {r, loads};
    r->block = snw_fields_create(rod_place, &arrays);
    if (!r->block) {
        snw_free(r);
        return SNW_E_MEMORY;
    }
    int node = 0, point = 0;
    double s = 0;
    for (int i = 0; i < opts->npiece; i++) {
        const int n = opts->intervals[i];
        r->piece[i] = (snw_shoot_piece){
            .node = node, .n = n, .point = point, .s = s, .h = opts->length[i] / n};
        node += n + 1, point += n * r->method->np + 1, s += opts->length[i];
    }
    for (int i = 0; i < 6; i++) r->active[i] = true;
    r->base = snw_se3_identity();
    for (int k = 0; k <= SNW_TIME_LEVELS; k++) r->free_length[k] = r->length;
    *out = r;
    return SNW_OK;
}

void snw_shoot_destroy(snw_shoot_rod *r) {
    if (!r) return;
    snw_free(r->block);
    snw_free(r);
}

// ---- nodes and points ---------------------------------------------------------------------------

int snw_shoot_piece_of(const snw_shoot_rod *r, int node) {
    int i = 0;
    while (i < r->npiece - 1 && node >= r->piece[i + 1].node) i++;
    return i;
}

double snw_shoot_node_s(const snw_shoot_rod *r, int node) {
    const snw_shoot_piece *p = &r->piece[snw_shoot_piece_of(r, node)];
    return p->s + p->h * (node - p->node);
}

double snw_shoot_point_s(const snw_shoot_rod *r, int point) {
    int i = 0;
    while (i < r->npiece - 1 && point >= r->piece[i + 1].point) i++;
    const snw_shoot_piece *p = &r->piece[i];
    const int np = r->method->np, k = point - p->point;
    return p->s + p->h * (k / np + r->method->c[k % np]);
}

// ---- classification -----------------------------------------------------------------------------

static bool is_diagonal(const double A[36]) {
    for (int i = 0; i < 36; i++) {
        if (i % 7 != 0 && A[i] != 0) return false;
    }
    return true;
}

static bool is_principal(const snw_inertia *M) {
    return snw_dot(M->mc, M->mc) == 0 && M->I[3] == 0 && M->I[4] == 0 && M->I[5] == 0;
}

static bool loads_in_world(const snw_shoot_rod *r) {
    for (int i = 0; i < r->npiece; i++) {
        for (int k = 0; k < r->station[i].nload; k++) {
            if (!r->station[i].load[k].body) return true;
        }
    }
    for (int i = 0; r->density && i < r->npoint; i++) {
        const snw_shoot_density *d = &r->density[i];
        if (snw_dot(d->force, d->force) + snw_dot(d->torque, d->torque) > 0) return true;
    }
    return snw_dot(r->gravity, r->gravity) > 0;
}

static double rod_weight(const snw_shoot_rod *r) {
    double m = 0;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j < piece->n; j++) {
            m += piece->h * (r->uniform ? r->section
                                        : r->section + piece->point + (ptrdiff_t)j * r->method->np)
                                ->M.m;
        }
        if (r->station[p].has_body) m += r->station[p].M.m;
    }
    return m * snw_norm(r->gravity);
}

snw_status snw_shoot_ready(snw_shoot_rod *r, double applied) {
    r->diagonal = true;
    r->damped = r->drags = false;
    const int ns = r->uniform ? 1 : r->npoint;
    for (int i = 0; i < ns; i++) {
        const double *K = r->K + 36 * (ptrdiff_t)i, *B = r->section[i].B;
        r->diagonal =
            r->diagonal && is_diagonal(K) && is_diagonal(B) && is_principal(&r->section[i].M);
        for (int k = 0; k < 3; k++) r->drags = r->drags || r->section[i].drag[k] != 0;
        for (int k = 0; k < 6; k++) {
            if (r->active[k] && !(K[7 * k] > 0)) return SNW_E_SINGULAR;
            r->damped = r->damped || B[7 * k] != 0;
        }
    }
    r->placed = r->field != NULL;
    r->world = r->placed || loads_in_world(r);
    const double L = r->length, bending = fmax(r->K[7], r->K[14]);
    r->force = fmax(fmax(bending / (L * L), rod_weight(r)), applied);
    return SNW_OK;
}

double snw_shoot_growth(const snw_shoot_rod *r, double s) {
    const double c0 = r->formula.c[0];
    double most = 0;
    for (int i = 0; i < (r->uniform ? 1 : r->npoint); i++) {
        const snw_shoot_section *a = &r->section[i];
        const double bending = fmax(a->C[7], a->C[14]);
        // static rod under an axial force f: disturbances grow as exp(s sqrt(f/EI))
        if (c0 == 0) most = fmax(most, sqrt(r->force * bending));
        most = fmax(most, sqrt(c0 * sqrt(a->M.m * bending / 4)));
        most = fmax(most, c0 * sqrt(a->M.I[0] * a->C[0]));
        for (int k = 3; k < 6; k++) most = fmax(most, c0 * sqrt(a->M.m * a->C[7 * k]));
    }
    return s * most;
}

void snw_shoot_set_unstressed(snw_shoot_rod *r, snw_se3 base) {
    r->base = base;
    r->base_V = snw_twist_zero();
    for (int k = 0; k <= SNW_TIME_LEVELS; k++) r->free_length[k] = r->length;
    r->free_length_rate = r->feed_rate = 0;
    const size_t n = (size_t)r->nnode, nz = (size_t)snw_shoot_nz(r);
    memset(r->V, 0, n * sizeof *r->V);
    memset(r->F, 0, n * sizeof *r->F);
    memset(r->rate, 0, n * sizeof *r->rate);
    memset(r->z, 0, n * nz * sizeof *r->z);
    memset(r->zrate, 0, n * nz * sizeof *r->zrate);
    for (int k = 0; k < SNW_TIME_LEVELS; k++) {
        memset(r->level[k], 0, n * sizeof *r->level[k]);
        memset(r->zlevel[k], 0, n * nz * sizeof *r->zlevel[k]);
        r->step[k] = 1;
    }
    snw_shoot_derivatives(r);
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j < piece->n; j++) {
            const snw_shoot_section *s =
                r->uniform ? r->section : r->section + snw_shoot_point_of(r, p, piece->node + j);
            r->W[piece->node + j] = snw_twist_scale(piece->h, s->rest);
        }
    }
    snw_shoot_poses(r);
}

void snw_shoot_poses(snw_shoot_rod *r) {
    snw_se3 g = r->base;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = piece->node; j < piece->node + piece->n; j++) {
            r->g[j] = g;
            g = snw_se3_mul(g, snw_se3_exp(r->W[j]));
        }
        r->g[piece->node + piece->n] = g;
    }
}
