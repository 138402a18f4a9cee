// SPDX-License-Identifier: MIT
//
// Points of the model are p(q); with a free root they are moved as a whole, p -> G p. Derivatives are exact: the velocity of
// a point when one coordinate alone moves with rate one.
#include "study/shape.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/dynamics.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MAX_ITERATIONS = 60, MAX_HALVINGS = 20, ROOT = 6 };
static const double RANK = 1e-9; // relative to columns of length one

struct snw_shape {
    const snw_run *run;
    const snw_model *m;
    const snw_rod *rod;
    bool free, begun;
    int ncolumn, n; // unknowns
    snw_shape_column *column;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_se3 G;         // how the model's points are moved
    double *r, *trial; // ncolumn
    double *A, *x;     // ncolumn x n, and the larger of both
    double *size, *q;  // n; coordinates before a step
    snw_arena scratch;
};

// ---- making -------------------------------------------------------------------------------------

static snw_status prepare(snw_shape *s) {
    const size_t n = (size_t)s->n, m = (size_t)s->ncolumn, most = n > m ? n : m;
    s->r = snw_alloc((2 * m + m * n + most + 2 * n) * sizeof *s->r);
    s->scratch.size = snw_shortest_scratch(s->ncolumn, s->n);
    s->scratch.base = snw_alloc(s->scratch.size);
    if (!s->r || !s->scratch.base || !s->column) return SNW_E_MEMORY;
    s->trial = s->r + m;
    s->A = s->trial + m;
    s->x = s->A + m * n;
    s->size = s->x + most;
    s->q = s->size + n;
    SNW_TRY(snw_state_create(s->m, &s->s));
    SNW_TRY(snw_inputs_create(s->m, &s->in));
    return snw_work_create(s->m, &s->w);
}

snw_status snw_shape_create(const snw_run *run, int link, bool free, int ncolumn,
                            const snw_shape_column *column, snw_shape **out, snw_error *err) {
    snw_shape *s = snw_alloc(sizeof *s);
    if (!s) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    s->run = run;
    s->m = snw_run_model(run);
    SNW_ASSERT(s->m->link_rod[link] >= 0 && ncolumn > 0);
    s->rod = &s->m->rod[s->m->link_rod[link]];
    s->free = free;
    s->ncolumn = ncolumn;
    s->n = s->rod->ndof + (free ? ROOT : 0);
    s->G = snw_se3_identity();
    s->column = snw_alloc((size_t)ncolumn * sizeof *s->column);
    if (s->column) memcpy(s->column, column, (size_t)ncolumn * sizeof *column);
    const snw_status status = prepare(s);
    if (status != SNW_OK) {
        snw_shape_destroy(s);
        return snw_fail(err, status, "out of memory");
    }
    *out = s;
    return SNW_OK;
}

void snw_shape_destroy(snw_shape *s) {
    if (!s) return;
    snw_work_destroy(s->w);
    snw_inputs_destroy(s->in);
    snw_state_destroy(s->s);
    snw_free(s->scratch.base);
    snw_free(s->r);
    snw_free(s->column);
    snw_free(s);
}

int snw_shape_coordinates(const snw_shape *s) { return s->rod->ndof; }

const char *snw_shape_name(const snw_shape *s, int i) {
    return snw_run_describe(s->run)->q_name[s->rod->dof0 + s->rod->shift + i];
}

// ---- points -------------------------------------------------------------------------------------

static double *coordinates(snw_shape *s) { return s->s->q + s->rod->dof0 + s->rod->shift; }

static int segment_of(const snw_shape *s, int column) {
    return s->m->watch[s->m->probe_watch[s->column[column].probe]].seg;
}

static void move_robot(snw_shape *s) {
    snw_kinematics(s->m, s->in, s->s, false, s->w);
    snw_observe(s->m, s->in, s->s, false, s->w);
}

// r <- measured less model, zero where nothing was measured; returns the sum of squares
static double compare(snw_shape *s, const double *measured, double *r) {
    double sum = 0;
    move_robot(s);
    for (int i = 0; i < s->ncolumn; i++) {
        const snw_vec3 p = snw_se3_point(s->G, s->w->g[segment_of(s, i)].p);
        r[i] = isnan(measured[i]) ? 0 : measured[i] - p.e[s->column[i].axis];
        sum += r[i] * r[i];
    }
    return sum;
}

// velocity of a measured component in the motion that s->w holds
static double velocity(const snw_shape *s, int i) {
    const int seg = segment_of(s, i);
    const snw_vec3 v = snw_rotate(s->w->g[seg].R, s->w->V[seg].v);
    return snw_rotate(s->G.R, v).e[s->column[i].axis];
}

// A <- d(model)/d(unknowns) at the motion of the last compare, which left v at zero
static void differentiate(snw_shape *s, const double *measured) {
    const int m = s->ncolumn, ndof = s->rod->ndof;
    const snw_vec3 centre = snw_se3_point(s->G, s->w->g[s->rod->root].p);
    for (int i = 0; i < m; i++) {
        const snw_vec3 p = snw_se3_point(s->G, s->w->g[segment_of(s, i)].p);
        const int axis = s->column[i].axis;
        s->trial[i] = velocity(s, i); // what moves by itself
        for (int k = 0; s->free && k < 3; k++) {
            snw_vec3 e = {{0}};
            e.e[k] = 1;
            s->A[(size_t)(ndof + k) * (size_t)m + (size_t)i] =
                snw_cross(e, snw_sub(p, centre)).e[axis];
            s->A[(size_t)(ndof + 3 + k) * (size_t)m + (size_t)i] = e.e[axis];
        }
    }
    for (int j = 0; j < ndof; j++) {
        double *column = s->A + (size_t)j * (size_t)m;
        s->s->v[s->rod->dof0 + j] = 1;
        move_robot(s);
        for (int i = 0; i < m; i++) column[i] = velocity(s, i) - s->trial[i];
        s->s->v[s->rod->dof0 + j] = 0;
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; isnan(measured[i]) && j < s->n; j++) s->A[(size_t)j * (size_t)m + (size_t)i] = 0;
    }
}

// ---- steps --------------------------------------------------------------------------------------

// x <- shortest step that takes the residuals away to first order, in units in which every unknown moves the points alike
static snw_status newton_step(snw_shape *s, const double *r, int *rank) {
    const int m = s->ncolumn;
    double largest = 0;
    for (int j = 0; j < s->n; j++) {
        double sum = 0;
        for (int i = 0; i < m; i++) sum += s->A[(size_t)j * (size_t)m + (size_t)i] * s->A[(size_t)j * (size_t)m + (size_t)i];
        s->size[j] = sqrt(sum);
        largest = fmax(largest, s->size[j]);
    }
    for (int j = 0; j < s->n; j++) {
        // what hardly moves the points is not blown up to the size of the others
        s->size[j] = fmax(s->size[j], RANK * largest);
        for (int i = 0; i < m; i++) s->A[(size_t)j * (size_t)m + (size_t)i] /= s->size[j];
    }
    memcpy(s->x, r, (size_t)m * sizeof *r);
    SNW_TRY(snw_shortest(m, s->n, s->A, RANK, &s->scratch, s->x, rank));
    for (int j = 0; j < s->n; j++) s->x[j] /= s->size[j];
    return SNW_OK;
}

// go `share` of the step from q and G
static void take_step(snw_shape *s, const snw_se3 *G, double share) {
    const int ndof = s->rod->ndof;
    for (int j = 0; j < ndof; j++) coordinates(s)[j] = s->q[j] + share * s->x[j];
    if (!s->free) return;
    const double *x = s->x + ndof;
    // turned about where the root is
    const snw_vec3 turn = snw_scale(share, (snw_vec3){{x[0], x[1], x[2]}});
    const snw_vec3 shift = snw_scale(share, (snw_vec3){{x[3], x[4], x[5]}});
    const snw_vec3 centre = snw_se3_point(*G, s->w->g[s->rod->root].p);
    const snw_mat3 R = snw_so3_exp(turn);
    s->G.R = snw_mat3_mul(R, G->R);
    s->G.p = snw_add(shift, snw_add(centre, snw_rotate(R, snw_sub(G->p, centre))));
}

static snw_status iterate(snw_shape *s, const double *measured, double *cost, snw_shape_info *info) {
    const int ndof = s->rod->ndof;
    for (int k = 0; k < MAX_ITERATIONS && !info->settled; k++) {
        differentiate(s, measured);
        SNW_TRY(newton_step(s, s->r, &info->rank));
        double longest = 0; // how far the points go
        for (int j = 0; j < s->n; j++) longest = fmax(longest, fabs(s->x[j]) * s->size[j]);
        const snw_se3 G = s->G;
        memcpy(s->q, coordinates(s), (size_t)ndof * sizeof *s->q);
        double share = 1, reached = INFINITY;
        for (int h = 0; h < MAX_HALVINGS; h++, share /= 2) {
            take_step(s, &G, share);
            reached = compare(s, measured, s->trial);
            if (reached < *cost) break;
        }
        if (reached < *cost) {
            memcpy(s->r, s->trial, (size_t)s->ncolumn * sizeof *s->r);
            info->settled = longest < 1e-11 * s->rod->L || *cost - reached < 1e-14 * *cost;
            *cost = reached;
        } else {
            // no way down is left within rounding
            take_step(s, &G, 0);
            (void)compare(s, measured, s->r);
            info->settled = true;
        }
    }
    return SNW_OK;
}

// ---- a first guess of a free root ---------------------------------------------------------------

// rotations of a cube, from which every other is at most some 63 degrees away
static snw_mat3 cube_rotation(int k) {
    const snw_vec3 axis[6] = {{{0, 0, 0}}, {{0, 0, M_PI / 2}}, {{0, 0, M_PI}}, {{0, 0, -M_PI / 2}}, {{0, M_PI / 2, 0}}, {{0, -M_PI / 2, 0}}};
    const snw_vec3 roll = {{k % 4 * M_PI / 2, 0, 0}};
    return snw_mat3_mul(snw_so3_exp(axis[k / 4]), snw_so3_exp(roll));
}

// residuals taken off by a shift along each axis
static void shift_onto(snw_shape *s, const double *measured) {
    double sum[3] = {0};
    int count[3] = {0};
    (void)compare(s, measured, s->trial);
    for (int i = 0; i < s->ncolumn; i++) {
        if (isnan(measured[i])) continue;
        sum[s->column[i].axis] += s->trial[i];
        count[s->column[i].axis]++;
    }
    for (int a = 0; a < 3; a++) s->G.p.e[a] += count[a] ? sum[a] / count[a] : 0;
}

static void guess_root(snw_shape *s, const double *measured) {
    snw_se3 best = s->G;
    double least = INFINITY;
    for (int k = 0; k < 24; k++) {
        s->G = (snw_se3){.R = cube_rotation(k)};
        shift_onto(s, measured);
        const double cost = compare(s, measured, s->trial);
        if (cost < least * (1 - 1e-9)) {
            least = cost;
            best = s->G;
        }
    }
    s->G = best;
}

snw_status snw_shape_fit(snw_shape *s, double t, const double *measured, double *q, snw_se3 *root,
                         snw_shape_info *info) {
    *info = (snw_shape_info){.unknown = s->n};
    for (int i = 0; i < s->ncolumn; i++) info->values += !isnan(measured[i]);
    memset(s->s->v, 0, (size_t)s->m->nv * sizeof *s->s->v);
    s->s->t = t;
    snw_inputs_at(s->m, t, s->in);
    if (s->free && !s->begun) guess_root(s, measured);
    s->begun = true;
    double cost = compare(s, measured, s->r);
    if (!isfinite(cost)) return SNW_E_DIVERGED;
    SNW_TRY(iterate(s, measured, &cost, info));
    info->rms = info->values ? sqrt(cost / info->values) : 0;
    memcpy(q, coordinates(s), (size_t)s->rod->ndof * sizeof *q);
    *root = snw_se3_mul(s->G, s->w->g[s->rod->root]);
    return SNW_OK;
}
