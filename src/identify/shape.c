// SPDX-License-Identifier: MIT
//
// Least-squares fit of strain coordinates to measured points, by Levenberg-Marquardt with exact
// derivatives (theory.md 9). Points of the model are p(q); a free root moves them as a rigid body,
// rotated by exp(w) about the root's last position c and translated by v:
//   p' = c + v + exp(w) (G p - c)
// The unknowns are q, scaled by the rod's length L to order one, w and v/L. The derivative in q is
// the velocity of a point at unit rate of one coordinate; in w it is exp(w) (T(w) dw x (G p - c)).

#include "identify/shape.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "dynamics/dynamics.h"
#include "solve/dense.h"
#include "solve/levenberg.h"

#include <math.h>
#include <string.h>

enum { ROOT = 6 };
static const double RANK_TOLERANCE = 1e-9; // relative to columns of unit length

// n unknowns, m measured columns, most: the larger of both
#define SHAPE_FIELDS(AT, PACK)                                                                     \
    AT(double, x, n, "unknowns")                                                                   \
    PACK(double, unit, n, "scale of each unknown")                                                 \
    PACK(double, r, m, "residuals")                                                                \
    PACK(double, rate0, m, "velocities at zero rates, from prescribed motion")                     \
    PACK(double, J, m *n, "Jacobian of the residuals")                                             \
    PACK(double, solution, most, "scratch")

struct snw_shape {
    const snw_run *run;
    const snw_model *m;
    const snw_rod *rod;
    bool free, started;
    int ncolumn, n; // measured columns, unknowns
    snw_shape_column *column;
    snw_state *s;
    snw_inputs *in;
    snw_work *work;
    snw_se3 G;  // rigid motion of the model's points before w and v
    snw_vec3 c; // centre of the rotation w
    snw_vec3 w, v;
    const double *measured; // ncolumn: values of the present time; NaN: none
    SHAPE_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_arena scratch;
};

// ---- creation -----------------------------------------------------------------------------------

// curvatures and twist have the scale 1/L, stretch and shear 1
static void set_units(const snw_shape *s) {
    const snw_rod *rod = s->rod;
    double *unit = s->unit;
    for (int j = 0; j < s->n; j++) unit[j] = j < rod->ndof + 3 ? 1 : rod->L;
    for (int a = 0; a < rod->na; a++) {
        for (int k = 0; k < rod->nfun[a] && snw_rod_is_curvature(rod, a); k++) {
            unit[rod->dof[a] - rod->dof0 + k] = 1 / rod->L;
        }
    }
}

static void shape_place(void *object, snw_fields *f) {
    snw_shape *o = object;
    const size_t n = (size_t)o->n, m = (size_t)o->ncolumn, most = n > m ? n : m;
    SHAPE_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static snw_status shape_prepare(snw_shape *s) {
    s->block = snw_fields_create(shape_place, s);
    const size_t rank = snw_minimum_norm_scratch(s->ncolumn, s->n);
    s->scratch.size = snw_levenberg_scratch(s->n, s->ncolumn);
    if (rank > s->scratch.size) s->scratch.size = rank;
    s->scratch.base = snw_alloc(s->scratch.size);
    if (!s->block || !s->scratch.base || !s->column) return SNW_E_MEMORY;
    set_units(s);
    SNW_TRY(snw_state_create(s->m, &s->s));
    SNW_TRY(snw_inputs_create(s->m, &s->in));
    return snw_work_create(s->m, &s->work);
}

snw_status snw_shape_create(const snw_run *run, int link, bool free, int ncolumn,
                            const snw_shape_column *column, snw_shape **out, snw_error *err) {
    snw_shape *s = snw_alloc(sizeof *s);
    if (!s) return snw_fail_memory(err);
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
    const snw_status status = shape_prepare(s);
    if (status != SNW_OK) {
        snw_shape_destroy(s);
        return snw_fail(err, status, "out of memory");
    }
    *out = s;
    return SNW_OK;
}

void snw_shape_destroy(snw_shape *s) {
    if (!s) return;
    snw_work_destroy(s->work);
    snw_inputs_destroy(s->in);
    snw_state_destroy(s->s);
    snw_free(s->scratch.base);
    snw_free(s->block);
    snw_free(s->column);
    snw_free(s);
}

int snw_shape_coordinates(const snw_shape *s) { return s->rod->ndof; }

const char *snw_shape_name(const snw_shape *s, int i) {
    return snw_run_describe(s->run)->q_name[s->rod->dof0 + s->rod->shift + i];
}

// ---- points -------------------------------------------------------------------------------------

static double *shape_coordinates(const snw_shape *s) {
    return s->s->q + s->rod->dof0 + s->rod->shift;
}

static int segment_of(const snw_shape *s, int column) {
    return s->m->station[s->m->probe_station[s->column[column].probe]].seg;
}

static void move_robot(const snw_shape *s) {
    snw_kinematics(s->m, s->in, s->s, false, s->work);
    snw_observe(s->m, s->in, s->s, false, s->work);
}

static void shape_set_unknowns(snw_shape *s, const double *x) {
    const int ndof = s->rod->ndof;
    for (int j = 0; j < ndof; j++) shape_coordinates(s)[j] = x[j] * s->unit[j];
    for (int k = 0; s->free && k < 3; k++) {
        s->w.e[k] = x[ndof + k];
        s->v.e[k] = x[ndof + 3 + k] * s->rod->L;
    }
    move_robot(s);
}

// position of a point relative to c, before w and v
static snw_vec3 arm_of(const snw_shape *s, snw_vec3 p) {
    return snw_sub(snw_se3_point(s->G, p), s->c);
}

static snw_se3 root_transform(const snw_shape *s) {
    const snw_mat3 R = snw_so3_exp(s->w);
    const snw_vec3 p = snw_rotate(R, snw_sub(s->G.p, s->c));
    return (snw_se3){snw_mat3_mul(R, s->G.R), snw_add(s->c, snw_add(s->v, p))};
}

// residuals relative to the rod's length; zero where there is no measurement
static snw_status shape_residual(void *user, const double *x, double *r) {
    snw_shape *s = user;
    shape_set_unknowns(s, x);
    const snw_se3 g = root_transform(s);
    for (int i = 0; i < s->ncolumn; i++) {
        const snw_vec3 p = snw_se3_point(g, s->work->g[segment_of(s, i)].p);
        r[i] = isnan(s->measured[i]) ? 0 : (p.e[s->column[i].axis] - s->measured[i]) / s->rod->L;
    }
    return SNW_OK;
}

// velocity of a measured component, from the last move_robot
static double component_velocity(const snw_shape *s, const snw_mat3 *R, int i) {
    const int seg = segment_of(s, i);
    const snw_vec3 v = snw_rotate(s->work->g[seg].R, s->work->V[seg].v);
    return snw_rotate(*R, v).e[s->column[i].axis];
}

static void root_jacobian(const snw_shape *s, double *J) {
    const size_t m = (size_t)s->ncolumn;
    const snw_mat3 R = snw_so3_exp(s->w), T = snw_so3_tangent(s->w);
    for (int i = 0; i < s->ncolumn; i++) {
        const snw_vec3 arm = arm_of(s, s->work->g[segment_of(s, i)].p);
        const int axis = s->column[i].axis;
        for (size_t k = 0; k < 3; k++) {
            const snw_vec3 turn = {{T.e[0][k], T.e[1][k], T.e[2][k]}};
            J[k * m + (size_t)i] = snw_rotate(R, snw_cross(turn, arm)).e[axis] / s->rod->L;
            J[(3 + k) * m + (size_t)i] = axis == (int)k;
        }
    }
}

static snw_status shape_derivative(void *user, const double *x, double *J) {
    snw_shape *s = user;
    const int m = s->ncolumn, ndof = s->rod->ndof;
    double *v = s->s->v + s->rod->dof0;
    shape_set_unknowns(s, x);
    const snw_mat3 R = root_transform(s).R;
    for (int i = 0; i < m; i++) s->rate0[i] = component_velocity(s, &R, i);
    if (s->free) root_jacobian(s, J + (size_t)ndof * (size_t)m);
    for (int j = 0; j < ndof; j++) {
        double *column = J + (size_t)j * (size_t)m;
        v[j] = 1;
        move_robot(s);
        v[j] = 0;
        for (int i = 0; i < m; i++) {
            column[i] = (component_velocity(s, &R, i) - s->rate0[i]) * s->unit[j] / s->rod->L;
        }
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; isnan(s->measured[i]) && j < s->n; j++) {
            J[(size_t)j * (size_t)m + (size_t)i] = 0;
        }
    }
    return SNW_OK;
}

// ---- initial guess of a free root ---------------------------------------------------------------

// the 24 rotations of a cube
static snw_mat3 cube_rotation(int k) {
    static const double quarter = M_PI / 2;
    const snw_vec3 face[6] = {{{0, 0, 0}},           {{0, 0, quarter}},
                              {{0, 0, 2 * quarter}}, {{0, 0, -1 * quarter}},
                              {{0, quarter, 0}},     {{0, -1 * quarter, 0}}};
    const snw_vec3 roll = {{k % 4 * quarter, 0, 0}};
    return snw_mat3_mul(snw_so3_exp(face[k / 4]), snw_so3_exp(roll));
}

// remove the mean residual along each axis
static void shift_onto(snw_shape *s) {
    double sum[3] = {0};
    int count[3] = {0};
    for (int i = 0; i < s->ncolumn; i++) {
        if (isnan(s->measured[i])) continue;
        sum[s->column[i].axis] += s->r[i] * s->rod->L;
        count[s->column[i].axis]++;
    }
    for (int a = 0; a < 3; a++) s->G.p.e[a] -= count[a] ? sum[a] / count[a] : 0;
}

// the rotation of a cube with the smallest sum of squares
static void guess_root(snw_shape *s) {
    snw_se3 best = s->G;
    double least = INFINITY;
    for (int k = 0; k < 24; k++) {
        s->G = (snw_se3){.R = cube_rotation(k)};
        (void)shape_residual(s, s->x, s->r);
        shift_onto(s);
        (void)shape_residual(s, s->x, s->r);
        double cost = 0;
        for (int i = 0; i < s->ncolumn; i++) cost += s->r[i] * s->r[i];
        if (cost < least * (1 - 1e-9)) {
            least = cost;
            best = s->G;
        }
    }
    s->G = best;
}

// ---- fit at one time ----------------------------------------------------------------------------

// number of combinations of the unknowns that the points determine, from columns of unit length
static int shape_rank_of(snw_shape *s) {
    const size_t m = (size_t)s->ncolumn;
    double largest = 0;
    int rank;
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < s->n; j++) {
            double sum = 0, *column = s->J + (size_t)j * m;
            for (size_t i = 0; i < m; i++) sum += column[i] * column[i];
            largest = fmax(largest, sqrt(sum));
            for (size_t i = 0; pass == 1 && i < m; i++)
                column[i] /= fmax(sqrt(sum), RANK_TOLERANCE * largest);
        }
    }
    memset(s->solution, 0, m * sizeof *s->solution);
    return snw_minimum_norm(s->ncolumn, s->n, s->J, RANK_TOLERANCE, &s->scratch, s->solution,
                            &rank) == SNW_OK
               ? rank
               : 0;
}

static void shape_begin(snw_shape *s, double t) {
    memset(s->s->v, 0, (size_t)s->m->nv * sizeof *s->s->v);
    s->s->t = t;
    snw_inputs_at(s->m, t, s->in);
    for (int j = 0; j < s->rod->ndof; j++) s->x[j] = shape_coordinates(s)[j] / s->unit[j];
    for (int j = s->rod->ndof; j < s->n; j++) s->x[j] = 0;
    s->w = s->v = s->c = (snw_vec3){{0}};
    if (s->free && !s->started) guess_root(s);
    s->started = true;
    move_robot(s);
    s->c = snw_se3_point(s->G, s->work->g[s->rod->root].p);
}

snw_status snw_shape_fit(snw_shape *s, double t, const double *measured, double *q, snw_se3 *root,
                         snw_shape_info *info) {
    const snw_least_squares problem = {s->n, s->ncolumn, s, shape_residual, shape_derivative};
    snw_levenberg_opts opts = snw_levenberg_defaults();
    snw_levenberg_info search;
    opts.tol = 1e-11;
    opts.gain = 1e-10;                // unknowns to about 1e-5 of their errors
    opts.enough = s->ncolumn * 1e-28; // rounding
    *info = (snw_shape_info){.unknown = s->n};
    for (int i = 0; i < s->ncolumn; i++) info->values += !isnan(measured[i]);
    s->measured = measured;
    shape_begin(s, t);
    const snw_status status =
        snw_levenberg(&problem, &opts, &s->scratch, s->x, s->r, s->J, &search);
    if (status != SNW_OK && search.evaluations < 2) return status;
    info->settled = status == SNW_OK;
    info->rms = info->values ? s->rod->L * sqrt(search.last / info->values) : 0;
    info->rank = shape_rank_of(s);
    shape_set_unknowns(s, s->x);
    s->G = root_transform(s);
    memcpy(q, shape_coordinates(s), (size_t)s->rod->ndof * sizeof *q);
    snw_rod_declare(s->m, s->rod, q);
    *root = snw_se3_mul(s->G, s->work->g[s->rod->root]);
    return SNW_OK;
}
