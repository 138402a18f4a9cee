// SPDX-License-Identifier: MIT
//
// Effective rows of loops, found when a model is compiled. Trivial rows, which hold at every
// configuration, and redundant rows, which other rows imply, are removed, so that the multipliers
// of the remaining rows are unique (theory.md 3.8).

#include "constraint/closure_choice_private.h"
#include "constraint/projection.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 7, TIMES = 4, LATER_TIMES = 8, MOTIONS = 8 };

// duration of the study, s; one second without a study
static double study_duration(const snw_desc *d) {
    double end = 0;
    for (int i = 0; i < d->nstep; i++) end += d->step[i].duration;
    return d->nstep > 0 ? end : 1;
}

// sample n of several times of the study; the first is 0
static double time_of(double end, int n) {
    return n % TIMES * (end > 0 ? end : 1) / TIMES * (n % TIMES == TIMES - 1 ? 1.1 : 1);
}

// The model under compilation, its arrays that hold rows, and properties of the study.
typedef struct editable_model {
    snw_model *m;
    double duration;       // of the study, s
    bool shares_reactions; // the study distributes and checks the reactions of contacts itself
    snw_model_rows rows;
    double *closed;  // nq: closed configuration at t = 0; NULL: not wanted
    bool has_closed; // it was found
    bool supposed;   // that no row is trivial, which the rank at the closed configuration must show
    bool refuted;    // it does not
} editable_model;

// number the rows: loops, then drives, then tendons and chambers of given length or volume
static void number_rows(editable_model *e) {
    snw_model *m = e->m;
    m->nconstraint = 0;
    for (int i = 0; i < m->nloop; i++) {
        e->rows.loop[i].row = m->nconstraint;
        m->nconstraint += m->loop[i].nrow;
    }
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0) e->rows.drive[i].row = m->nconstraint++;
    }
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row >= 0) e->rows.tendon[i].row = m->nconstraint++;
    }
}

// ---- trivial rows -------------------------------------------------------------------------------

// Gram matrix of the rates of a loop's rows over random motions in typical coordinates, and largest
// violations, over random configurations. One motion more than there are rows spans all of them and
// needs no Jacobian.
typedef struct survey {
    double G[36], violation[6];
    double moved; // sum of squared velocities of both sites, for the rounding of the rates
} survey;

// rate0 (nconstraint): rates of the rows at v = 0, which are the violation of nonholonomic rows
static void survey_violation(const snw_model *m, const snw_work *w, const double *rate0, int i,
                             survey *v) {
    const snw_loop *loop = &m->loop[i];
    for (int a = 0; a < loop->nraw; a++) {
        const double open = loop->nonholonomic ? rate0[loop->row + a] : w->violation[loop->row + a];
        v->violation[a] = fmax(v->violation[a], fabs(open) / snw_loop_row_size(m, loop, a));
    }
}

static void survey_rates(const snw_model *m, const snw_work *w, const double *rate0,
                         const double *rate, int i, survey *v) {
    const snw_loop *loop = &m->loop[i];
    double x[6];
    for (int a = 0; a < loop->nraw; a++) {
        x[a] = (rate[loop->row + a] - rate0[loop->row + a]) / snw_loop_row_size(m, loop, a);
    }
    for (int a = 0; a < loop->nraw; a++) {
        for (int b = 0; b < loop->nraw; b++) v->G[6 * a + b] += x[a] * x[b];
    }
    const snw_twist V[] = {w->V[loop->a], w->V[loop->b]};
    for (int k = 0; k < 2; k++) {
        v->moved += snw_dot(V[k].w, V[k].w) + snw_dot(V[k].v, V[k].v) / (m->length * m->length);
    }
}

// add the violations of the rows at s, found in w, and their rates in random motions
static void survey_at(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w,
                      double *rates, unsigned long long *seed, survey *v) {
    double *rate0 = rates, *rate = rates + m->nconstraint;
    for (int i = 0; i < m->nv; i++) s->v[i] = s->a[i] = 0;
    snw_kinematics(m, in, s, false, w);
    snw_constraints_rates(m, in, s, w, rate0, NULL);
    for (int i = 0; i < m->nloop; i++) survey_violation(m, w, rate0, i, &v[i]);
    for (int n = 0; n < MOTIONS; n++) {
        for (int i = 0; i < m->nv; i++) s->v[i] = m->typical[i] * snw_projection_random(seed);
        snw_kinematics(m, in, s, false, w);
        snw_constraints_rates(m, in, s, w, rate, NULL);
        for (int i = 0; i < m->nloop; i++) survey_rates(m, w, rate0, rate, i, &v[i]);
    }
}

// Memory for looking at the robot in motion, before rows of loops are removed.
typedef struct sampler {
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    double *dx, *rates; // nv; 2 nconstraint
    bool *all;          // ncondition: all elements are active
} sampler;

static void sampler_free(sampler *x) {
    snw_free(x->dx);
    snw_free(x->all);
    snw_state_destroy(x->s);
    snw_inputs_destroy(x->in);
    snw_work_destroy(x->w);
}

// *x is released by sampler_free, on failure too
static snw_status sampler_create(const snw_model *m, sampler *x) {
    *x = (sampler){.dx = snw_alloc((size_t)(m->nv + 2 * m->nconstraint) * sizeof *x->dx),
                   .all = snw_alloc((size_t)m->ncondition * sizeof *x->all)};
    if (!x->dx || !x->all) return SNW_E_MEMORY;
    x->rates = x->dx + m->nv;
    SNW_TRY(snw_state_create(m, &x->s));
    SNW_TRY(snw_inputs_create(m, &x->in));
    SNW_TRY(snw_work_create(m, &x->w));
    for (int k = 0; k < m->ncondition; k++) x->all[k] = true, x->s->z[m->condition_signal[k]] = 1;
    return SNW_OK;
}

// The rolling direction of a wheel is perpendicular to its axle and to the normal of the ground.
// SNW_E_MODEL when a wheel has none at the initial configuration.
static snw_status check_rolling_directions(const snw_model *m, const sampler *x, snw_error *err) {
    bool any = false;
    for (int i = 0; i < m->nloop; i++) any |= m->loop[i].nonholonomic != SNW_NONHOLONOMIC_NONE;
    if (!any) return SNW_OK;
    for (int i = 0; i < m->nv; i++) x->dx[i] = 0;
    snw_move(m, m->q0, 0, x->dx, x->s->q);
    snw_inputs_at(m, 0, x->in);
    snw_kinematics(m, x->in, x->s, true, x->w);
    const snw_work *w = x->w;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const bool rolls = snw_nonholonomic_table[loop->nonholonomic].rolls;
        if (!rolls && !(loop->slip[0] > 0 || loop->slip[1] > 0)) continue;
        const snw_vec3 z = {{0, 0, 1}};
        const snw_vec3 axle = snw_rotate(w->g[loop->b].R, snw_rotate(loop->Q, z));
        const snw_vec3 up = snw_rotate(w->g[loop->a].R, snw_rotate(loop->Q, loop->normal));
        if (snw_norm(snw_cross(axle, up)) > 1e-9) continue;
        const snw_label *d = &m->label.loop[i];
        return snw_fail_at_location(
            err,
            snw_fail(
                err, SNW_E_MODEL,
                "wheel '%s' cannot roll: its axle is normal to the ground; give its 'axis' in the "
                "axes of its site (z unless given), e.g. 'axis: y', or the 'normal' of the ground",
                d->name),
            d->location.file, d->location.line, d->location.column);
    }
    return SNW_OK;
}

// An eigenvalue of a Gram matrix above this fraction of the largest one cannot become that of a
// trivial row, below 1e-18 of the largest, by the configurations that are added to the matrix.
static const double PLAINLY_EFFECTIVE = 1e-6;

static void jacobi_eigen(int n, double A[6][6], double V[6][6]);

// Eigenvalue of a loop's Gram matrix below which its combination of rows is trivial.
static double trivial_limit(const survey *v, double largest) {
    return fmax(1e-18 * largest, 1e-24 * v->moved);
}

// Is each row of a loop plainly effective, or (`trivial`) plainly effective or trivial by itself?
static bool rows_are_plain(const snw_loop *loop, const survey *v, bool trivial) {
    const int n = loop->nraw;
    double A[6][6], V[6][6], largest = 0, part[6] = {0};
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) A[a][b] = v->G[6 * a + b];
    }
    jacobi_eigen(n, A, V);
    for (int k = 0; k < n; k++) largest = fmax(largest, A[k][k]);
    for (int k = 0; k < n; k++) {
        if (A[k][k] > PLAINLY_EFFECTIVE * largest) continue;
        if (!trivial || !(A[k][k] <= trivial_limit(v, largest))) return false;
        for (int a = 0; a < n; a++) part[a] += V[a][k] * V[a][k];
    }
    for (int a = 0; a < n; a++) {
        if (!(part[a] < 1e-9 || part[a] > 1 - 1e-9)) return false;
    }
    return true;
}

// Do the rows of loops depend on coordinates and not on time?
static bool rows_are_timeless(const snw_model *m) {
    bool fixed = m->nfield == 0 && m->ntube_piece == 0 && m->ncondition == 0;
    for (int i = 0; i < m->npose; i++) fixed = fixed && m->fixed_pose[i].is_fixed;
    for (int i = 0; i < m->nloop; i++)
        fixed = fixed && !m->loop[i].drive && m->loop[i].sliding_station == 0;
    return fixed;
}

// Can further configurations change nothing? After one where all rows are plainly effective; after
// two where some are trivial, which two random configurations show of rows that do not depend on
// time.
static bool survey_is_complete(const snw_model *m, const survey *v, int configurations) {
    const bool trivial = configurations >= 2 && rows_are_timeless(m);
    for (int i = 0; i < m->nloop; i++) {
        if (!rows_are_plain(&m->loop[i], &v[i], trivial)) return false;
    }
    return true;
}

static snw_status sample_rows(const snw_model *m, double duration, const sampler *x, survey *v,
                              snw_error *err) {
    unsigned long long seed = 1;
    SNW_TRY(check_rolling_directions(m, x, err));
    for (int n = 0; n < SAMPLES; n++) {
        for (int i = 0; i < m->nv; i++)
            x->dx[i] = 0.7 * m->typical[i] * snw_projection_random(&seed);
        snw_move(m, m->q0, 1, x->dx, x->s->q);
        snw_inputs_at(m, time_of(duration, n), x->in);
        snw_residual(m, x->in, x->s, true, x->w);
        if (n == 0 && m->ncondition) { // relative poses stored here stand for those of any
                                       // later activation
            snw_constraints_capture(m, x->in, x->s, x->w, x->all, x->s->z);
            snw_residual(m, x->in, x->s, true, x->w);
        }
        survey_at(m, x->in, x->s, x->w, x->rates, &seed, v);
        if (survey_is_complete(m, v, n + 1)) break;
    }
    return SNW_OK;
}

// eigenvalues of a symmetric n x n matrix, n <= 6, on the diagonal of A, and eigenvectors as
// columns of V, by Jacobi rotations
static void jacobi_eigen(int n, double A[6][6], double V[6][6]) {
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

// keep the effective rows of loop i: raw rows where possible, else combinations of them
static snw_status keep_effective_rows(editable_model *e, int i, const survey *v, snw_error *err) {
    const snw_model *m = e->m;
    snw_loop *loop = &e->rows.loop[i];
    const int n = loop->nraw;
    double A[6][6], V[6][6], largest = 0, trivial_part[6] = {0}, open = 0;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) A[a][b] = v->G[6 * a + b];
    }
    jacobi_eigen(n, A, V);
    for (int k = 0; k < n; k++) largest = fmax(largest, A[k][k]);
    const double threshold = trivial_limit(v, largest);
    bool whole = true;
    int kept = 0;
    for (int k = 0; k < n; k++) {
        const bool trivial = !(A[k][k] > threshold);
        kept += !trivial;
        for (int a = 0; a < n && trivial; a++) trivial_part[a] += V[a][k] * V[a][k];
    }
    for (int a = 0; a < n; a++) {
        whole = whole && (trivial_part[a] < 1e-9 || trivial_part[a] > 1 - 1e-9);
        if (trivial_part[a] > 1 - 1e-9) open = fmax(open, v->violation[a]);
    }
    if (open > 1e-9 && loop->nonholonomic) {
        const snw_label *d = &m->label.loop[i];
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "contact '%s' can never hold: no coordinate moves it, but a prescribed motion "
                     "does; let the base move, or remove the contact",
                     d->name),
            d->location.file, d->location.line, d->location.column);
    }
    if (open > 1e-9) {
        const snw_label *d = &m->label.loop[i];
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "loop '%s' can never be closed: no coordinate moves it where it is open, by "
                     "%.3g of the robot's size; move a site or the pose, or allow more motion",
                     d->name, open),
            d->location.file, d->location.line, d->location.column);
    }
    memset(loop->coefficient, 0, sizeof loop->coefficient);
    loop->nrow = 0;
    for (int k = 0; k < n; k++) {
        if (whole && trivial_part[k] < 0.5) loop->coefficient[loop->nrow++][k] = 1;
        if (whole || !(A[k][k] > threshold)) continue;
        for (int a = 0; a < n; a++)
            loop->coefficient[loop->nrow][a] = V[a][k] / snw_loop_row_size(m, loop, a);
        loop->nrow++;
    }
    SNW_ASSERT(loop->nrow == kept);
    loop->ntrivial = n - kept;
    for (int k = 0; k < n; k++) loop->trivial[k] = whole && trivial_part[k] > 0.5;
    return SNW_OK;
}

static snw_status remove_trivial_rows(editable_model *e, const sampler *x, snw_error *err) {
    const snw_model *m = e->m;
    survey *v = snw_alloc((size_t)m->nloop * sizeof *v);
    snw_status s = v ? sample_rows(m, e->duration, x, v, err) : SNW_E_MEMORY;
    for (int i = 0; s == SNW_OK && i < m->nloop; i++) s = keep_effective_rows(e, i, &v[i], err);
    snw_free(v);
    number_rows(e);
    return s;
}

// ---- redundant rows -----------------------------------------------------------------------------

// The closed robot, at which and near which rows are compared.
typedef struct closed_robot {
    editable_model *e;
    const snw_model *m;
    snw_projection *projection;
    bool driven;
    snw_model undriven;                  // the model without drives
    snw_projection *undriven_projection; // of that model, or `projection`; NULL: not needed so far
    snw_inputs *in;
    snw_state *s, *near;
    bool *kept, *most; // nconstraint: independent at s; at the configuration of largest rank
} closed_robot;

static bool projection_compile_moves(const snw_loop *loop, int dof) {
    for (int j = 0; j < loop->ndof; j++) {
        if (loop->dof[j] == dof) return true;
    }
    return false;
}

// names of the actuators that drive coordinates of a loop, as many as fit
static void name_drives(const snw_model *m, const snw_loop *loop, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int i = 0, last = -1; i < m->ndrive && used + 60 < size; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->motor == last || !projection_compile_moves(loop, d->dof)) continue;
        last = d->motor;
        used += (size_t)snprintf(out + used, size - used, "%s'%.40s'", used ? ", " : "",
                                 m->label.motor[d->motor].name);
    }
}

// message for loops that can be closed, but not with the driven coordinates; `row` is violated
static snw_status projection_compile_contradict(const closed_robot *c, int row, double violation,
                                                snw_error *err) {
    const snw_model *m = c->m;
    int i = snw_projection_loop_of(c->projection, row);
    char by[64], names[200];
    snw_projection_explain_violation(c->projection, row, violation, by, sizeof by);
    if (i == m->nloop) { // the violated row is that of a drive: name the first loop that it moves
        int k = 0;
        while (k < m->ndrive && m->drive[k].row != row) k++;
        for (i = 0; k < m->ndrive && i + 1 < m->nloop &&
                    !projection_compile_moves(&m->loop[i], m->drive[k].dof);)
            i++;
        if (k == m->ndrive) i = 0; // row of a given length or volume
    }
    name_drives(m, &m->loop[i], names, sizeof names);
    const snw_label *d = &m->label.loop[i];
    *err = (snw_error){0};
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "loop '%.60s' and its drives (%s) contradict each other at t = %g s: one stays "
                 "open by %s. Change a law, leave a coordinate free, or give initial: values "
                 "nearer to the closed robot",
                 d->name, names, c->in->t, by),
        d->location.file, d->location.line, d->location.column);
}

static snw_status prepare_undriven(closed_robot *c) {
    return c->undriven_projection
               ? SNW_OK
               : snw_projection_create_like(&c->undriven, NULL, &c->undriven_projection);
}

// close the loops of s with driven coordinates on their laws; c->near is overwritten on failure
static snw_status close_driven(closed_robot *c, snw_state *s, snw_error *err) {
    snw_projection_info info, alone;
    snw_error failure = {0};
    const snw_status status = snw_projection_close(c->projection, c->in, s, &info, &failure);
    if (status == SNW_OK) return status;
    snw_state_copy(c->m, s, c->near);
    if (c->driven && status == SNW_E_DIVERGED) {
        SNW_TRY(prepare_undriven(c));
        if (snw_projection_close(c->undriven_projection, c->in, c->near, &alone, &failure) ==
            SNW_OK)
            return projection_compile_contradict(c, info.row, info.violation, err);
    }
    *err = failure;
    return err->status = status == SNW_E_DIVERGED ? SNW_E_MODEL : status;
}

static bool reactions_are_shared(const editable_model *e, const snw_loop *loop) {
    return loop->nonholonomic && e->shares_reactions;
}

// Dependent rows become spare rows behind the active ones. Rows of contacts stay active; their
// multipliers are those of minimum norm (redundancy.h).
static void projection_compile_drop_redundant(editable_model *e, const bool *stay) {
    for (int i = 0; i < e->m->nloop; i++) {
        snw_loop *loop = &e->rows.loop[i];
        double coefficient[6][6] = {{0}};
        if (loop->condition >= 0) continue;
        int n = 0, at = 0;
        for (int r = 0; r < loop->nrow; r++) n += stay[loop->row + r];
        if (loop->nonholonomic) {
            loop->nkept_redundant = loop->nrow - n;
            continue;
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int r = 0; r < loop->nrow; r++) {
                if (stay[loop->row + r] == (pass == 0)) {
                    memcpy(coefficient[at++], loop->coefficient[r], sizeof coefficient[0]);
                }
            }
        }
        memcpy(loop->coefficient, coefficient, sizeof coefficient);
        loop->nredundant = loop->nrow - n;
        loop->nrow = n;
    }
    number_rows(e);
}

// dependent contact rows must be consistent with the driven motion
static snw_status check_slip(const closed_robot *c, snw_error *err) {
    int i = -1;
    double left;
    if (c->m->nnonholonomic == 0) return SNW_OK;
    SNW_TRY(snw_projection_find_slip(c->m, c->in, c->s, &i, &left));
    if (i < 0) return SNW_OK;
    const snw_label *d = &c->m->label.loop[i];
    return snw_fail_at_location(
        err, snw_fail(err, SNW_E_MODEL, SNW_SLIP_MESSAGE, d->name, c->in->t, left),
        d->location.file, d->location.line, d->location.column);
}

// removed rows must hold at later times, too, when poses and drives have moved
static snw_status check_later_times(closed_robot *c, snw_error *err) {
    for (int n = 1; n <= LATER_TIMES; n++) {
        snw_inputs_at(c->m, c->e->duration * n / LATER_TIMES, c->in);
        SNW_TRY(close_driven(c, c->s, err));
        SNW_TRY(check_slip(c, err));
    }
    return SNW_OK;
}

// Pivot below which forces are magnified so much that the run warns. Those of regular robots are
// above 5e-3; straight inextensible legs that lock each other, in a file with four digits, have
// 1e-3 to 1e-5.
static const double NEARLY_DEPENDENT = 1e-3;

static snw_status find_redundant_rows(closed_robot *c, snw_error *err) {
    snw_model *m = c->e->m;
    memcpy(c->s->q, m->q0, (size_t)m->nq * sizeof *m->q0);
    snw_inputs_at(m, 0, c->in);
    SNW_TRY(close_driven(c, c->s, err));
    if (c->e->closed && m->nq) memcpy(c->e->closed, c->s->q, (size_t)m->nq * sizeof *m->q0);
    c->e->has_closed = c->e->closed != NULL;
    int here = 0;
    snw_projection_pivot pivot;
    if (m->nv > SNW_MOST_DENSE && !snw_projection_plainly_independent(c->projection, c->in, c->s)) {
        return snw_fail(err, SNW_E_MODEL,
                        "loops of the network imply each other, or nearly so: with more than %d "
                        "coordinates all constraint rows must be independent. Remove loops, or let "
                        "rods stretch and twist",
                        SNW_MOST_DENSE);
    }
    int rank = snw_projection_rank(c->projection, c->undriven_projection, c->in, c->s,
                                   m->nconstraint, c->kept, c->most, &pivot);
    if (c->e->supposed) {
        bool independent = rank == m->nconstraint && pivot.value >= NEARLY_DEPENDENT;
        for (int k = 0; k < m->nconstraint; k++) independent = independent && c->kept[k];
        c->e->refuted = !independent;
        if (c->e->refuted) return SNW_OK;
    }
    if (rank < 0) {
        SNW_TRY(prepare_undriven(c));
        rank = snw_projection_rank(c->projection, c->undriven_projection, c->in, c->s,
                                   m->nconstraint, c->kept, c->most, &pivot);
    }
    for (int k = 0; k < m->nconstraint; k++) here += c->kept[k];
    m->freedom = m->nv - here;
    if (rank > here) {
        m->singular = rank - here;
        int row = 0;
        while (!c->most[row] || c->kept[row]) row++;
        m->singular_loop = snw_projection_loop_of(c->projection, row);
    } else if (pivot.value < NEARLY_DEPENDENT) {
        m->magnification = 1 / pivot.value;
        m->singular_loop = pivot.loop;
    }
    // conditional loops are compared when they become active
    bool all = true;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const bool kept = loop->condition >= 0 || reactions_are_shared(c->e, loop);
        for (int k = 0; k < loop->nrow && !kept; k++) all = all && c->most[loop->row + k];
    }
    if (all) return SNW_OK;
    SNW_TRY(check_later_times(c, err));
    projection_compile_drop_redundant(c->e, c->most);
    return SNW_OK;
}

static snw_status remove_redundant_rows(editable_model *e, snw_error *err) {
    const snw_model *m = e->m;
    closed_robot c = {.e = e, .m = m, .undriven = *m};
    const size_t n = (size_t)m->nconstraint;
    snw_error local = {0};
    if (!err) err = &local;
    c.undriven.ndrive = c.undriven.ntendon = c.undriven.nconstraint = 0;
    for (int i = 0; i < m->nloop; i++) c.undriven.nconstraint += m->loop[i].nrow;
    c.kept = snw_alloc(2 * n * sizeof *c.kept);
    c.most = c.kept + n;
    snw_status s = SNW_E_MEMORY;
    if (c.kept && snw_state_create(m, &c.s) == SNW_OK && snw_state_create(m, &c.near) == SNW_OK &&
        snw_inputs_create(m, &c.in) == SNW_OK &&
        snw_projection_create_like(m, NULL, &c.projection) == SNW_OK) {
        c.driven = m->nconstraint > c.undriven.nconstraint;
        c.undriven_projection = c.driven ? NULL : c.projection;
        s = find_redundant_rows(&c, err);
        if (c.driven) snw_projection_destroy(c.undriven_projection);
    }
    snw_projection_destroy(c.projection);
    snw_inputs_destroy(c.in);
    snw_state_destroy(c.s);
    snw_state_destroy(c.near);
    snw_free(c.kept);
    return s;
}

// ---- compilation --------------------------------------------------------------------------------

// Rows of contacts and conditional elements are found each time.
static bool keeps_choice(const snw_model *m) {
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].nonholonomic != SNW_NONHOLONOMIC_NONE) return false;
    }
    return m->ncondition == 0 && m->nnonholonomic == 0;
}

// part <- parts of the choice that may be taken: those of a model with the same kinematics
static snw_status look_at_choice(const editable_model *e, snw_model_use use, const sampler *x,
                                 snw_closure_choice *choice, bool part[SNW_CHOICE_PARTS]) {
    const snw_model *m = e->m;
    double time[TIMES + LATER_TIMES];
    unsigned long long seed = 7;
    for (int n = 0; n < TIMES; n++) time[n] = time_of(e->duration, n);
    for (int n = 0; n < LATER_TIMES; n++) time[TIMES + n] = e->duration * (n + 1) / LATER_TIMES;
    for (int i = 0; i < m->nv; i++) x->dx[i] = 0.7 * m->typical[i] * snw_projection_random(&seed);
    snw_move(m, m->q0, 1, x->dx, x->s->q);
    for (int i = 0; i < m->nv; i++) {
        x->s->v[i] = m->typical[i] * snw_projection_random(&seed);
        x->s->a[i] = 0;
    }
    snw_inputs_at(m, time[0], x->in);
    snw_residual(m, x->in, x->s, false, x->w);
    snw_constraints_rates(m, x->in, x->s, x->w, x->rates, NULL);
    const snw_choice_key key = {.m = m,
                                .use = use,
                                .shares_reactions = e->shares_reactions,
                                .ntime = TIMES + LATER_TIMES,
                                .time = time,
                                .w = x->w,
                                .rate = x->rates};
    return snw_closure_choice_look(choice, &key, x->in, part);
}

// The same where a model before had no trivial rows, as if neither had this one: rows that are
// plainly independent where the robot is closed are no trivial ones. False: they are not, or the
// robot does not close; nothing is changed then.
static bool suppose_all_rows(editable_model *e) {
    snw_error ignored = {0};
    e->supposed = true;
    const snw_status s = remove_redundant_rows(e, &ignored);
    e->supposed = false;
    if (s == SNW_OK && !e->refuted) return true;
    e->refuted = e->has_closed = false;
    return false;
}

static snw_status remove_chosen_rows(editable_model *e, snw_model_use use, const sampler *x,
                                     snw_closure_choice *choice, snw_error *err) {
    snw_model *m = e->m;
    bool part[SNW_CHOICE_PARTS] = {false}, any = false, done = false;
    if (choice) SNW_TRY(look_at_choice(e, use, x, choice, part));
    if (part[SNW_CHOICE_CLOSED]) {
        snw_closure_choice_take_closed(choice, m, e->rows.loop);
        number_rows(e);
        return SNW_OK;
    }
    if (part[SNW_CHOICE_ROWS]) {
        snw_closure_choice_take_rows(choice, m, e->rows.loop);
        number_rows(e);
    } else {
        done = choice && m->nconstraint > 0 && rows_are_timeless(m) &&
               snw_closure_choice_had_all_rows(choice, m) && suppose_all_rows(e);
        if (!done) SNW_TRY(remove_trivial_rows(e, x, err));
        if (choice) SNW_TRY(snw_closure_choice_keep_rows(choice, m));
    }
    // rows of drives are never removed
    for (int i = 0; i < m->nloop; i++)
        any |= m->loop[i].nrow > 0 && !reactions_are_shared(e, &m->loop[i]);
    if (m->nconstraint > 0 && any && !done) SNW_TRY(remove_redundant_rows(e, err));
    if (!choice) return SNW_OK;
    bool whole = e->has_closed;
    for (int i = 0; i < m->nloop; i++) whole = whole && m->loop[i].nredundant == 0;
    return snw_closure_choice_keep_closed(choice, m, whole ? e->closed : NULL);
}

static snw_status remove_rows(const snw_desc *desc, snw_model *m, snw_model_use use,
                              snw_closure_choice *choice, snw_error *err) {
    m->freedom = m->nv; // without loops: rows of drives are independent
    for (int i = 0; i < m->ndrive; i++)
        m->freedom -= m->drive[i].row >= 0 && !m->drive[i].passive && m->drive[i].condition < 0;
    for (int i = 0; i < m->ntendon; i++) m->freedom -= m->tendon[i].row >= 0;
    if (m->nloop == 0) return SNW_OK;
    editable_model e = {.m = m,
                        .duration = study_duration(desc),
                        .shares_reactions = snw_study_shares_reactions(desc)};
    SNW_TRY(snw_model_edit_rows(m, &e.rows));
    const bool keeps = choice && keeps_choice(m);
    sampler x;
    snw_status s = sampler_create(m, &x);
    if (s == SNW_OK && keeps) {
        e.closed = snw_alloc((size_t)m->nq * sizeof *e.closed);
        if (!e.closed) s = SNW_E_MEMORY;
    }
    if (s == SNW_OK) s = remove_chosen_rows(&e, use, &x, keeps ? choice : NULL, err);
    snw_free(e.closed);
    sampler_free(&x);
    return s;
}

static snw_status fail_too_deep(const snw_desc *d, snw_error *err) {
    int i = 0;
    while (i < d->nstep && (d->step[i].kinematic || d->step[i].kind == SNW_STEP_CHANGE)) i++;
    const snw_source_location at =
        i < d->nstep ? d->step[i].location : d->link[d->nlink - 1].location;
    const snw_status s = snw_fail(
        err, SNW_E_MODEL,
        "the tree is too deep for tangents: with loops, contacts of wheels, rods that deform "
        "or fluids more than about 700 joints in series are supported only by kinematic "
        "steps, with driven or passive joints, wheels, rings and anchors; use fewer "
        "joints, or kinematic steps");
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

snw_status snw_projection_compile_choice(const snw_desc *desc, snw_model_use use,
                                         snw_closure_choice *choice, snw_model **out,
                                         snw_error *err) {
    SNW_TRY(snw_model_compile_for(desc, use, out, err));
    snw_model *m = *out;
    const bool given = use == SNW_USE_KINEMATIC;
    snw_status s = SNW_OK;
    if (m->bare && !m->local && !(given && snw_model_needs_no_jacobian(m)))
        s = fail_too_deep(desc, err);
    if (s == SNW_OK) s = remove_rows(desc, m, use, choice, err);
    if (s == SNW_OK) return s;
    snw_model_destroy(m);
    *out = NULL;
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory while compiling the model") : s;
}

snw_status snw_projection_compile_for(const snw_desc *desc, snw_model_use use, snw_model **out,
                                      snw_error *err) {
    return snw_projection_compile_choice(desc, use, NULL, out, err);
}

snw_status snw_projection_compile(const snw_desc *desc, snw_model **out, snw_error *err) {
    return snw_projection_compile_for(desc, SNW_USE_ANY, out, err);
}

void snw_projection_describe_redundant(const snw_model *m, int i, char *out, size_t size) {
    const snw_loop *loop = &m->loop[i];
    const char *name = m->label.loop[i].name;
    if (size > 0) out[0] = 0;
    if (loop->nonholonomic && loop->nraw > 0 && loop->nrow + loop->nredundant == 0) {
        (void)snprintf(out, size, "contact '%.80s' is satisfied identically: nothing can move it",
                       name);
    } else if (loop->nredundant > 0) {
        (void)snprintf(
            out, size,
            "%s '%.80s': %d of its constraint rows %s redundant and dropped; %s undetermined",
            loop->nonholonomic ? "contact" : "loop", name, loop->nredundant,
            loop->nredundant == 1 ? "is" : "are",
            loop->nredundant == 1 ? "its reaction is" : "their reactions are");
    }
}

void snw_projection_describe_singular(const snw_model *m, int i, char *out, size_t size) {
    if (size > 0) out[0] = 0;
    if ((m->singular == 0 && m->magnification == 0) || m->singular_loop != i) return;
    if (m->singular == 0) {
        (void)snprintf(out, size,
                       "the closed robot is near a singular configuration, in which %s '%.80s' "
                       "is redundant: forces, and with them errors of lengths and of rounding, are "
                       "magnified about %.0e times. Start farther from it (initial:), "
                       "or, where straight rods lock each other, add 'stretch', and 'twist' in "
                       "space, to their strain",
                       m->loop[i].nonholonomic ? "contact" : "loop", m->label.loop[i].name,
                       m->magnification);
        return;
    }
    (void)snprintf(
        out, size,
        "the closed robot is in a singular configuration: it has %d motion%s more than nearby, "
        "where %s '%.80s' would forbid %s. Forces and the direction of motion are not determined "
        "there, and rounding errors are amplified near it: start a little away from it (initial:), "
        "or, if straight rods are the cause, add 'stretch' to their strain",
        m->singular, m->singular == 1 ? "" : "s", m->loop[i].nonholonomic ? "contact" : "loop",
        m->label.loop[i].name, m->singular == 1 ? "it" : "them");
}

// the raw row that active or spare row r is; -1: a combination of several
static int whole_row(const snw_loop *loop, int r) {
    int n = 0, k = -1;
    for (int a = 0; a < loop->nraw; a++) {
        if (loop->coefficient[r][a] != 0) n++, k = a;
    }
    return n == 1 ? k : -1;
}

void snw_projection_describe(const snw_model *m, int i, char *out, size_t size) {
    const snw_loop *loop = &m->loop[i];
    char names[128] = "";
    for (int k = 0; k < loop->nraw; k++) {
        if (!loop->trivial[k]) continue;
        const size_t n = strlen(names);
        (void)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : ": ",
                       snw_loop_row_name(loop, k));
    }
    int n = snprintf(out, size, "%d row%s", loop->nraw, loop->nraw == 1 ? "" : "s");
    if (loop->ntrivial > 0 && (size_t)n < size) {
        n += snprintf(out + n, size - (size_t)n, ", %d identically satisfied%s", loop->ntrivial,
                      names);
    }
    names[0] = 0;
    for (int r = loop->nrow; r < loop->nrow + loop->nredundant; r++) {
        const int k = whole_row(loop, r);
        const size_t at = strlen(names);
        if (k < 0) continue;
        (void)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : ": ",
                       snw_loop_row_name(loop, k));
    }
    if (loop->nredundant > 0 && (size_t)n < size) {
        n += snprintf(out + n, size - (size_t)n, ", %d redundant%s", loop->nredundant, names);
    }
    if (loop->nkept_redundant > 0 && (size_t)n < size) {
        n += snprintf(out + n, size - (size_t)n, ", %d redundant together with other loops",
                      loop->nkept_redundant);
    }
    if (loop->ntrivial + loop->nredundant > 0 && (size_t)n < size) {
        (void)snprintf(out + n, size - (size_t)n, "; %s undetermined",
                       loop->ntrivial + loop->nredundant == 1 ? "its reaction is"
                                                              : "their reactions are");
    }
}
