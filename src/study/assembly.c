// SPDX-License-Identifier: MIT
#include "study/assembly.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

struct snw_assembly {
    const snw_model *m;
    snw_work *w;
    snw_state *trial;
    double *memory;
    double *M;    // nv x nv
    double *X;    // nv x nrow: inverse metric times C'
    double *S;    // nrow x nrow: C X
    double *side; // nrow
    double *dx;   // nv
    int *pivot;
};

// ---- rows that hold by themselves ------------------------------------------------------------------

enum { SAMPLES = 7 };

// numbers between -1 and 1, the same every time
static double roll(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / (double)(1ULL << 52) - 1;
}

// what raw row k is measured by: an angle of one radian or the size of the robot
static double row_size(const snw_model *m, const snw_loop *loop, int k) {
    const int turns =
        loop->nraw - (loop->joint == SNW_JOINT_PLANAR ? 1
                      : loop->joint == SNW_JOINT_PRISMATIC || loop->joint == SNW_JOINT_CYLINDRICAL
                          ? 2
                          : 3);
    return k < turns ? 1 : m->length;
}

// products of the rows' columns, in typical coordinates, and largest gaps, over random configurations
typedef struct survey {
    double G[36], gap[6];
} survey;

static void look_at(const snw_model *m, const snw_work *w, int i, survey *v) {
    const snw_loop *loop = &m->loop[i];
    const double *C = w->C + loop->store;
    for (int a = 0; a < loop->nraw; a++) {
        const double size = row_size(m, loop, a);
        v->gap[a] = fmax(v->gap[a], fabs(w->gap[loop->row + a]) / size);
        for (int b = 0; b < loop->nraw; b++) {
            double sum = 0;
            for (int j = 0; j < loop->ndof; j++) {
                const double t = m->typical[loop->dof[j]];
                sum += C[a * loop->ndof + j] * C[b * loop->ndof + j] * t * t;
            }
            v->G[6 * a + b] += sum / (size * row_size(m, loop, b));
        }
    }
}

static snw_status sample(const snw_model *m, survey *v) {
    snw_state *s = NULL;
    snw_inputs *in = NULL;
    snw_work *w = NULL;
    double *dx = snw_alloc((size_t)m->nv * sizeof *dx);
    snw_status status = SNW_E_MEMORY;
    if (dx && snw_state_create(m, &s) == SNW_OK && snw_inputs_create(m, &in) == SNW_OK &&
        snw_work_create(m, &w) == SNW_OK) {
        unsigned long long seed = 1;
        for (int n = 0; n < SAMPLES; n++) {
            for (int i = 0; i < m->nv; i++) dx[i] = 0.7 * m->typical[i] * roll(&seed);
            snw_move(m, m->q0, 1, dx, s->q);
            snw_inputs_at(m, 0, in);
            snw_residual(m, in, s, true, w);
            snw_tangent_sweep(m, NULL, w);
            snw_rows_columns(m, 0, w, NULL);
            for (int i = 0; i < m->nloop; i++) look_at(m, w, i, &v[i]);
        }
        status = SNW_OK;
    }
    snw_free(dx);
    snw_state_destroy(s);
    snw_inputs_destroy(in);
    snw_work_destroy(w);
    return status;
}

// eigenvalues of a symmetric n x n matrix, n <= 6, and vectors as columns of V, by Jacobi's rotations
static void eigen(int n, double A[6][6], double V[6][6]) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) V[i][j] = i == j;
    }
    for (int sweep = 0; sweep < 30; sweep++) {
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                if (A[p][q] == 0) continue;
                const double theta = 0.5 * (A[q][q] - A[p][p]) / A[p][q];
                const double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    const double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    const double x = A[p][k], y = A[q][k];
                    A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
                    const double u = V[k][p], v = V[k][q];
                    V[k][p] = c * u - s * v, V[k][q] = s * u + c * v;
                }
            }
        }
    }
}

// keep what means something: whole raw rows where that is possible, else combinations
static snw_status prune(snw_model *m, int i, const survey *v, snw_error *err) {
    snw_loop *loop = &m->loop[i];
    const int n = loop->nraw;
    double A[6][6], V[6][6], largest = 0, idle[6] = {0}, open = 0;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) A[a][b] = v->G[6 * a + b];
    }
    eigen(n, A, V);
    for (int k = 0; k < n; k++) largest = fmax(largest, A[k][k]);
    bool whole = true;
    int kept = 0;
    for (int k = 0; k < n; k++) {
        const bool holds = !(A[k][k] > 1e-18 * largest);
        kept += !holds;
        for (int a = 0; a < n && holds; a++) idle[a] += V[a][k] * V[a][k];
    }
    for (int a = 0; a < n; a++) {
        whole = whole && (idle[a] < 1e-9 || idle[a] > 1 - 1e-9);
        if (idle[a] > 1 - 1e-9) open = fmax(open, v->gap[a]);
    }
    if (open > 1e-9) {
        const snw_loop_desc *d = &m->desc->loop[i];
        return snw_fail_place(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "loop '%s' can never be closed: no coordinate moves it where it is open, by "
                     "%.3g of the robot's size; move a site or the pose, or allow more motion",
                     d->name, open),
            d->place.file, d->place.line, d->place.column);
    }
    memset(loop->mix, 0, sizeof loop->mix);
    loop->nrow = 0;
    for (int k = 0; k < n; k++) {
        if (whole && idle[k] < 0.5) loop->mix[loop->nrow++][k] = 1;
        if (whole || !(A[k][k] > 1e-18 * largest)) continue;
        for (int a = 0; a < n; a++) loop->mix[loop->nrow][a] = V[a][k] / row_size(m, loop, a);
        loop->nrow++;
    }
    SNW_ASSERT(loop->nrow == kept);
    return SNW_OK;
}

snw_status snw_assembly_compile(const snw_desc *desc, snw_model **out, snw_error *err) {
    SNW_TRY(snw_model_compile(desc, out, err));
    snw_model *m = *out;
    if (m->nloop == 0) return SNW_OK;
    survey *v = snw_alloc((size_t)m->nloop * sizeof *v);
    snw_status s = v ? sample(m, v) : SNW_E_MEMORY;
    m->nrow = 0;
    for (int i = 0; s == SNW_OK && i < m->nloop; i++) {
        s = prune(m, i, &v[i], err);
        m->loop[i].row = m->nrow;
        m->nrow += m->loop[i].nrow;
    }
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0) m->drive[i].row = m->nrow++;
    }
    snw_free(v);
    if (s == SNW_OK) return s;
    snw_model_destroy(m);
    *out = NULL;
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory while compiling the model") : s;
}

// ---- projections -----------------------------------------------------------------------------------

snw_status snw_assembly_create(const snw_model *m, snw_assembly **out) {
    *out = NULL;
    snw_assembly *as = snw_alloc(sizeof *as);
    if (!as) return SNW_E_MEMORY;
    as->m = m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nrow;
    as->memory = snw_alloc((nv * nv + nv * nr + nr * nr + nr + nv) * sizeof(double));
    as->pivot = snw_alloc(nr * sizeof *as->pivot);
    if (!as->memory || !as->pivot || snw_work_create(m, &as->w) != SNW_OK ||
        snw_state_create(m, &as->trial) != SNW_OK) {
        snw_assembly_destroy(as);
        return SNW_E_MEMORY;
    }
    as->M = as->memory;
    as->X = as->M + nv * nv;
    as->S = as->X + nv * nr;
    as->side = as->S + nr * nr;
    as->dx = as->side + nr;
    *out = as;
    return SNW_OK;
}

void snw_assembly_destroy(snw_assembly *as) {
    if (!as) return;
    snw_work_destroy(as->w);
    snw_state_destroy(as->trial);
    snw_free(as->memory);
    snw_free(as->pivot);
    snw_free(as);
}

// as->X <- C', dense, from the columns in as->w
static void transpose_rows(snw_assembly *as) {
    const snw_model *m = as->m;
    const size_t nv = (size_t)m->nv;
    memset(as->X, 0, nv * (size_t)m->nrow * sizeof *as->X);
    for (int k = 0; k < m->nrow; k++) {
        const snw_row row = snw_row_at(m, as->w, k);
        for (int j = 0; j < row.n; j++) as->X[(size_t)k * nv + (size_t)row.dof[j]] = row.C[j];
    }
}

// dx <- X inv(C X) side: the shortest way, in the metric of X, to change the rows by `side`
static snw_status shortest(snw_assembly *as) {
    const snw_model *m = as->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nrow;
    for (size_t k = 0; k < nr; k++) {
        memset(as->S + k * nr, 0, nr * sizeof *as->S);
        snw_rows_push(m, as->w, as->X + k * nv, as->S + k * nr);
    }
    if (snw_lu_factor(m->nrow, as->S, as->pivot) != SNW_OK) return SNW_E_SINGULAR;
    snw_lu_solve(m->nrow, as->S, as->pivot, as->side);
    for (size_t i = 0; i < nv; i++) {
        as->dx[i] = 0;
        for (size_t k = 0; k < nr; k++) as->dx[i] += as->X[k * nv + i] * as->side[k];
    }
    return SNW_OK;
}

static double largest_gap(const snw_assembly *as, int *which) {
    double largest = 0;
    for (int k = 0; k < as->m->nrow; k++) {
        const double gap = fabs(as->w->gap[k]) / snw_row_at(as->m, as->w, k).size;
        if (!(gap <= largest)) largest = gap, *which = k;
    }
    return largest;
}

// what a row belongs to
static snw_place place_of(const snw_model *m, int row, const char **kind, const char **name) {
    *kind = "loop";
    for (int i = 0; i < m->nloop; i++) {
        const int r = row - m->loop[i].row;
        *name = m->desc->loop[i].name;
        if (r >= 0 && r < m->loop[i].nrow) return m->desc->loop[i].place;
    }
    int i = 0;
    while (m->drive[i].row != row) i++;
    *kind = "actuator";
    *name = m->desc->motor[m->drive[i].motor].name;
    return m->desc->motor[m->drive[i].motor].place;
}

enum { CLOSE_ITERATIONS = 200 };

snw_status snw_assembly_close(snw_assembly *as, const snw_inputs *in, snw_state *s,
                              snw_assembly_info *info, snw_error *err) {
    const snw_model *m = as->m;
    *info = (snw_assembly_info){.rank = m->nrow};
    snw_state_copy(m, s, as->trial);
    snw_residual(m, in, as->trial, true, as->w);
    double gap = largest_gap(as, &info->row);
    bool stuck = false;
    while (!(gap <= 1e-14) && !stuck && info->iterations < CLOSE_ITERATIONS) {
        info->iterations++;
        snw_tangent_sweep(m, NULL, as->w);
        snw_rows_columns(m, 0, as->w, NULL);
        transpose_rows(as);
        for (int k = 0; k < m->nrow; k++) {
            double *x = as->X + (size_t)k * (size_t)m->nv;
            for (int i = 0; i < m->nv; i++) x[i] *= m->typical[i] * m->typical[i];
            as->side[k] = as->w->gap[k];
        }
        if (shortest(as) != SNW_OK) break;
        // at most about a third of a radian at once, and always nearer
        double most = 0, step = 1;
        for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(as->dx[i]) / m->typical[i]);
        if (most > 0.3) step = 0.3 / most;
        const double was = gap;
        snw_state_copy(m, as->trial, s);
        for (stuck = true; stuck && step > 1e-6; step *= 0.5) {
            snw_move(m, s->q, -step, as->dx, as->trial->q);
            snw_residual(m, in, as->trial, true, as->w);
            gap = largest_gap(as, &info->row);
            stuck = !(gap < was * (1 - 1e-3 * step));
        }
        // at the level of rounding nothing falls any more
        if (stuck && was <= 1e-12) gap = was;
    }
    info->gap = gap;
    if (gap <= 1e-12) {
        snw_state_copy(m, as->trial, s);
        return SNW_OK;
    }
    const char *kind, *name;
    const snw_place at = place_of(m, info->row, &kind, &name);
    return snw_fail_place(
        err,
        snw_fail(err, SNW_E_DIVERGED,
                 "%s '%s' cannot be satisfied from the initial configuration: %.3g of the robot's "
                 "size remain open. Give initial: values nearer to the closed robot, or check "
                 "lengths, poses and what is driven",
                 kind, name, gap),
        at.file, at.line, at.column);
}

// as->M <- factor of the mass matrix, as->X <- inv(M) C', at s
static snw_status mass_rows(snw_assembly *as, const snw_inputs *in, const snw_state *s,
                            snw_error *err) {
    const snw_model *m = as->m;
    snw_mass_matrix(m, in, s, as->w, as->M);
    if (snw_cholesky_factor(m->nv, as->M) != SNW_OK) {
        return snw_fail(err, SNW_E_SINGULAR,
                        "the mass matrix is singular: a coordinate moves no mass, or two move the "
                        "same; give the rod density and rotary inertia, or allow fewer strains");
    }
    snw_rows_columns(m, 0, as->w, NULL);
    transpose_rows(as);
    for (int k = 0; k < m->nrow; k++) {
        snw_cholesky_solve(m->nv, as->M, as->X + (size_t)k * (size_t)m->nv);
    }
    return SNW_OK;
}

static snw_status dependent(const snw_model *m, snw_error *err) {
    (void)m;
    return snw_fail(err, SNW_E_SINGULAR,
                    "loops and drives are not independent of each other here: one says what others "
                    "say already; leave out what is redundant");
}

snw_status snw_assembly_velocities(snw_assembly *as, const snw_inputs *in, snw_state *s,
                                   snw_error *err) {
    const snw_model *m = as->m;
    if (m->nrow == 0) return SNW_OK;
    SNW_TRY(mass_rows(as, in, s, err));
    snw_state_copy(m, s, as->trial);
    for (int i = 0; i < m->nv; i++) as->trial->a[i] = 0;
    snw_kinematics(m, in, as->trial, false, as->w);
    snw_rows_rates(m, in, as->trial, as->w, as->side, NULL);
    if (shortest(as) != SNW_OK) return dependent(m, err);
    for (int i = 0; i < m->nv; i++) s->v[i] -= as->dx[i];
    return SNW_OK;
}

// M a - C' l = -r0, C a = -bend
snw_status snw_assembly_accelerations(snw_assembly *as, const snw_inputs *in, snw_state *s,
                                      snw_error *err) {
    const snw_model *m = as->m;
    SNW_TRY(mass_rows(as, in, s, err));
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    for (int i = 0; i < m->nrow; i++) s->l[i] = 0;
    snw_residual(m, in, s, false, as->w);
    for (int i = 0; i < m->nv; i++) s->a[i] = -as->w->r[i];
    snw_cholesky_solve(m->nv, as->M, s->a);
    if (m->nrow == 0) return SNW_OK;
    // rows' accelerations with these; then what multipliers must take away
    snw_kinematics(m, in, s, false, as->w);
    snw_rows_rates(m, in, s, as->w, NULL, as->side);
    if (shortest(as) != SNW_OK) return dependent(m, err);
    for (int i = 0; i < m->nv; i++) s->a[i] -= as->dx[i];
    for (int i = 0; i < m->nrow; i++) s->l[i] = -as->side[i];
    return SNW_OK;
}
