// SPDX-License-Identifier: MIT
#include "integrate/implicit_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/impact.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "integrate/checkpoint.h"
#include "integrate/law_integrals.h"
#include "integrate/step_control.h"
#include "solve/chord.h"
#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    INCREMENTS = 12, // kept by Broyden's method
    PATIENCE = 7     // iterations that cost what a new matrix does
};

static const double ROUNDING = 64 * DBL_EPSILON; // theory.md (6.13)
static const double SWALLOW = 0.1;               // theory.md (6.17)

snw_implicit_opts snw_implicit_defaults(void) {
    return (snw_implicit_opts){.scheme = snw_scheme_make(SNW_SCHEME_GENERALIZED_ALPHA, 0.9, 0),
                               .chart = SNW_CHART_SE3,
                               .tolerance = 1e-10,
                               .max_iter = 30,
                               .torque = 1};
}

snw_status snw_implicit_create(const snw_model *m, const snw_implicit_opts *opts,
                               snw_implicit **out) {
    *out = NULL;
    snw_implicit *im = snw_alloc(sizeof *im);
    if (!im) return SNW_E_MEMORY;
    im->m = m;
    im->opts = *opts;
    const size_t nv = (size_t)m->nv, np = (size_t)snw_npower(m), nh = snw_history_doubles(m->nv);
    const size_t ns = (size_t)m->nsignal, n = nv + (size_t)m->nconstraint;
    im->memory =
        snw_alloc((12 * nv + 2 * n + 3 * np + 2 * nh + 2 * ns + 108 * (size_t)m->nlie_block + nh +
                   nv + 18 * (size_t)m->nseg + 2 * snw_broyden_doubles((int)n, INCREMENTS)) *
                  sizeof(double));
    const bool assembled = (m->nconstraint == 0 && m->ncondition == 0) ||
                           (snw_projection_create(m, &im->projection) == SNW_OK &&
                            snw_impacts_create(m, im->projection, &im->impacts) == SNW_OK);
    if (!assembled || !im->memory ||
        snw_bordered_matrix_create(m, opts->algebra, &im->T) != SNW_OK ||
        snw_work_create(m, &im->w) != SNW_OK || snw_inputs_create(m, &im->in) != SNW_OK ||
        snw_state_create(m, &im->now) != SNW_OK || snw_state_create(m, &im->trial) != SNW_OK ||
        snw_state_create(m, &im->before) != SNW_OK ||
        snw_state_create(m, &im->corrected.now) != SNW_OK ||
        snw_state_create(m, &im->way) != SNW_OK || snw_inputs_create(m, &im->of_T.in) != SNW_OK ||
        snw_state_create(m, &im->of_T.at) != SNW_OK ||
        snw_inputs_create(m, &im->within) != SNW_OK) {
        snw_implicit_destroy(im);
        return SNW_E_MEMORY;
    }
    im->slips = -1;
    const double rho = opts->scheme.af / (1 - opts->scheme.af); // of generalized-alpha
    im->swallow = SWALLOW + 1 - rho * rho;
    im->keeps = snw_scheme_overshoot(&opts->scheme) == 0 && opts->scheme.order == 2;
    for (int i = 0; i < m->nloop; i++)
        im->closed |= m->loop[i].nrow > 0 && !m->loop[i].nonholonomic;
    im->redundancy = im->projection ? snw_projection_redundancy(im->projection) : NULL;
    if (im->redundancy) snw_redundancy_weigh(im->redundancy, opts->torque);
    double *at = im->memory;
    double **const vectors[] = {&im->d,    &im->f,     &im->g,     &im->rate,  &im->acc,
                                &im->mass, &im->scale, &im->force, &im->of_T.d};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = at, at += nv;
    double **const powers[] = {&im->work, &im->work_kept, &im->power_within};
    for (size_t i = 0; i < 3; i++) *powers[i] = at, at += np;
    im->past = snw_history_on(m->nv, at);
    im->kept = snw_history_on(m->nv, at + nh);
    im->source = at + 2 * nh;
    im->source_kept = im->source + ns;
    im->scratch = im->source_kept + ns;
    im->columns = im->scratch + 3 * nv;
    im->dx = im->columns + 108 * (size_t)m->nlie_block;
    im->typical = im->dx + n;
    at = im->typical + n;
    im->broyden = snw_broyden_on((int)n, INCREMENTS, im->typical, at);
    at += snw_broyden_doubles((int)n, INCREMENTS);
    im->corrected.broyden = snw_broyden_on((int)n, INCREMENTS, im->typical, at);
    at += snw_broyden_doubles((int)n, INCREMENTS);
    im->corrected.past = snw_history_on(m->nv, at);
    im->corrected.jerk = at + nh;
    im->corrected.point = im->corrected.jerk + nv;
    for (size_t i = 0; i < n; i++) im->typical[i] = i < nv ? m->typical[i] : 1;
    *out = im;
    return SNW_OK;
}

void snw_implicit_destroy(snw_implicit *im) {
    if (!im) return;
    snw_work_destroy(im->w);
    snw_inputs_destroy(im->in);
    snw_state_destroy(im->now);
    snw_state_destroy(im->trial);
    snw_state_destroy(im->before);
    snw_state_destroy(im->corrected.now);
    snw_state_destroy(im->way);
    snw_state_destroy(im->of_T.at);
    snw_inputs_destroy(im->of_T.in);
    snw_inputs_destroy(im->within);
    snw_impacts_destroy(im->impacts);
    snw_projection_destroy(im->projection);
    snw_bordered_matrix_destroy(im->T);
    snw_free(im->memory);
    snw_free(im);
}

static bool finite(const double *x, int n) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

snw_status snw_inputs_check(const snw_model *m, const snw_inputs *in, double t, snw_error *err) {
    for (int i = 0; i < m->nload_point; i++) {
        if (finite(in->load[i].e, 6)) continue;
        return snw_fail(err, SNW_E_DIVERGED, "load '%s' has no finite value at t = %.9g s",
                        m->desc->load[m->load_point[i].load].name, t);
    }
    if (!finite(in->stress, m->nv)) {
        return snw_fail(err, SNW_E_DIVERGED, "an active stress has no finite value at t = %.9g s",
                        t);
    }
    if (!finite(in->gravity.e, 3)) {
        return snw_fail(err, SNW_E_DIVERGED, "gravity has no finite value at t = %.9g s", t);
    }
    for (int i = 0; i < m->npose; i++) {
        if (finite(in->pose[i].p.e, 3) && finite(&in->pose[i].R.e[0][0], 9) &&
            finite(in->pose_u[i].e, 6) && finite(in->pose_du[i].e, 6)) {
            continue;
        }
        return snw_fail(err, SNW_E_DIVERGED,
                        "a moving pose has no finite value or rate at t = %.9g s", t);
    }
    for (int i = 0; i < m->ndrive; i++) {
        if (finite(&in->drive[i].v, 3)) continue;
        return snw_fail(err, SNW_E_DIVERGED,
                        "actuator '%s' has no finite value or rate at t = %.9g s",
                        m->desc->motor[m->drive[i].motor].name, t);
    }
    SNW_TRY(snw_tendons_check(m, in, t, err));
    for (int i = 0; i < m->nfluid; i++) {
        if (finite(in->current[i].e, 3) && finite(in->current_rate[i].e, 3)) continue;
        return snw_fail(err, SNW_E_DIVERGED,
                        "the current of fluid '%s' has no finite value or rate at t = %.9g s",
                        m->desc->fluid[i].name, t);
    }
    for (int i = 0; i < m->nfield; i++) {
        if (finite(in->xi[i].e, 6) && finite(in->dxi[i].e, 6) && finite(in->ddxi[i].e, 6)) continue;
        return snw_fail(err, SNW_E_DIVERGED,
                        "a strain of rod '%s' has no finite value or rate at t = %.9g s",
                        m->desc->link[m->field[i].link].name, t);
    }
    return SNW_OK;
}

// the first coordinate that moves no mass but what those before it move, by Cholesky's method on
// the mass matrix M
static int idle_coordinate(int n, double *M) {
    const size_t N = (size_t)n;
    for (size_t j = 0; j < N; j++) {
        const double own = M[j * (N + 1)];
        double pivot = own;
        for (size_t k = 0; k < j; k++) pivot -= M[k * N + j] * M[k * N + j];
        if (!(pivot > 1e-13 * own)) return (int)j;
        M[j * (N + 1)] = sqrt(pivot);
        for (size_t i = j + 1; i < N; i++) {
            for (size_t k = 0; k < j; k++) M[j * N + i] -= M[k * N + i] * M[k * N + j];
            M[j * N + i] /= M[j * (N + 1)];
        }
    }
    return n - 1;
}

static snw_status implicit_massless(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                    snw_work *w, double *M, snw_error *err) {
    snw_mass_matrix(m, in, s, w, M);
    const int i = idle_coordinate(m->nv, M);
    int k = 0;
    while (i >= m->block[k].dof + m->block[k].n) k++;
    const char *name = m->desc->link[m->seg[m->block[k].seg].link].name;
    return snw_fail(
        err, SNW_E_SINGULAR,
        "the mass matrix is singular: a coordinate of '%s' moves no mass here, or the same as "
        "those before it; give the rod density and rotary inertia or allow fewer strains, "
        "give the link behind a joint a body",
        name);
}

snw_status snw_accelerations(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w,
                             double *M, snw_error *err) {
    snw_mass_matrix(m, in, s, w, M);
    if (snw_cholesky_factor(m->nv, M) != SNW_OK) return implicit_massless(m, in, s, w, M, err);
    // M a = - (forces needed without acceleration)
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    snw_residual(m, in, s, false, w);
    for (int i = 0; i < m->nv; i++) s->a[i] = -w->r[i];
    snw_cholesky_solve(m->nv, M, s->a);
    if (finite(s->a, m->nv)) return SNW_OK;
    SNW_TRY(snw_inputs_check(m, in, in->t, err));
    return snw_fail(err, SNW_E_DIVERGED, "the motion has run away at t = %.9g s", in->t);
}

static void copy_history(const snw_history *from, snw_history *to) {
    memcpy(to->v, from->v, snw_history_doubles(from->n) * sizeof(double));
    to->h = from->h;
}

snw_status snw_implicit_restart(snw_implicit *im, const double *z, snw_error *err) {
    const snw_model *m = im->m;
    snw_inputs_at(m, im->now->t + snw_grain(im->now->t), im->in);
    snw_impact_energy impact = {0};
    if (im->impacts) {
        SNW_TRY(snw_impacts_apply(im->impacts, im->in, z, im->now, &impact, err));
        im->work[m->desc->nload + 1] += impact.work;
        im->heat += impact.heat;
    } else if (z) {
        memcpy(im->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    im->of_T.known = false;
    snw_bordered_matrix_invalidate(im->T);
    snw_mass_matrix(m, im->in, im->now, im->w, im->T->A);
    for (int i = 0; i < m->nv; i++) im->mass[i] = im->T->A[(size_t)i * (size_t)(m->nv + 1)];
    if (im->projection) {
        SNW_TRY(snw_projection_accelerations(im->projection, im->in, im->now, err));
        im->redundant = im->redundancy && snw_redundancy_found(im->redundancy);
    } else {
        SNW_TRY(snw_accelerations(m, im->in, im->now, im->w, im->T->A, err));
    }
    snw_chart_from_state(m, im->opts.chart, im->now, im->rate, im->acc);
    snw_scheme_start(&im->opts.scheme, im->rate, im->acc, im->opts.uniform_past, &im->past);
    snw_residual(m, im->in, im->now, false, im->w);
    snw_law_integrals_settle(m, im->in, im->now, im->w, im->source);
    snw_state_copy(m, im->now, im->before);
    copy_history(&im->past, &im->kept);
    im->onset = (snw_onset){.looked = NAN};
    im->soft = false;
    snw_corrected_restart(im);
    return SNW_OK;
}

snw_status snw_implicit_start(snw_implicit *im, const snw_state *s, snw_error *err) {
    const snw_model *m = im->m;
    snw_state_copy(m, s, im->now);
    snw_state_clear_inactive(m, im->now);
    if (im->projection) {
        snw_projection_info info;
        snw_inputs_at(m, s->t + snw_grain(s->t), im->in);
        SNW_TRY(snw_projection_close(im->projection, im->in, im->now, &info, err));
    }
    SNW_TRY(snw_implicit_restart(im, NULL, err));
    for (int i = 0; i < snw_npower(m); i++) im->work[i] = 0;
    im->heat = im->scheme = 0;
    im->impact = (snw_impact){0};
    snw_corrected_start(im);
    return SNW_OK;
}

// ---- a step
// ----------------------------------------------------------------------------------------

// the largest force out of balance, measured by `scale`, or row that is open; NaN kept
static double implicit_out_of_balance(const snw_implicit *im, const double *scale) {
    const snw_model *m = im->m;
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        const double r = fabs(im->w->r[i]) / scale[i];
        if (!(r <= largest)) largest = r;
    }
    for (int i = 0; i < m->nconstraint; i++) {
        const double r = fabs(im->w->violation[i]) / snw_constraint_at(m, im->w, i).size;
        if (!(r <= largest)) largest = r;
    }
    return largest;
}

// residual at the increment d, measured by im->scale
static double implicit_evaluate(void *self) {
    snw_implicit *im = self;
    const snw_model *m = im->m;
    for (int i = 0; i < m->nv; i++) {
        im->rate[i] = im->a * im->d[i] + im->f[i];
        im->acc[i] = im->b * im->d[i] + im->g[i];
    }
    snw_chart_to_state(m, im->opts.chart, im->now->q, im->d, im->rate, im->acc, im->trial);
    // what is given is not left to the scheme; nor to Newton's matrix, since the steps begin with
    // these rows kept
    snw_constraints_impose(m, im->in, im->trial);
    snw_residual(m, im->in, im->trial, false, im->w);
    return implicit_out_of_balance(im, im->scale);
}

// driven coordinates, which are numbers, go where they are driven to
static void drive(snw_implicit *im) {
    for (int i = 0; i < im->m->ndrive; i++) {
        const snw_drive *to = &im->m->drive[i];
        if (!snw_drive_holds(im->m, im->now, i)) continue;
        im->d[to->dof] = snw_drive_target(im->m, im->in, im->now, i) - im->now->q[to->q];
    }
}

snw_status snw_implicit_factor(snw_implicit *im, double a, double b) {
    const snw_model *m = im->m;
    if (m->nlie_block) snw_chart_jacobian(m, im->opts.chart, im->d, a, b, im->trial, im->columns);
    snw_tangent_pass(m, m->nlie_block ? im->columns : NULL, im->w);
    const size_t n = (size_t)im->T->n;
    snw_bordered_matrix_clear(im->T);
    snw_tangent_add(m, im->in, 1, a, b, im->w, n, im->T->A);
    if (m->nconstraint) { // loops as stiff as the stiffest coordinate is in this step, so that
                          // nothing is lost by pivoting
        im->bond = 0;
        for (int i = 0; i < m->nv; i++) {
            const double k = fabs(im->T->A[(size_t)i * (n + 1)]) * m->typical[i];
            im->bond = fmax(im->bond, k * m->typical[i] / (m->length * m->length));
        }
        snw_constraints_place(m, im->w, im->bond, im->T->A);
    }
    return snw_bordered_matrix_factor(im->T);
}

// the residual as the rows of the Newton matrix have it: those of balls and free joints go along
// the columns of the chart
void snw_implicit_project(const snw_implicit *im, double *x) {
    memcpy(x, im->w->r, (size_t)im->m->nv * sizeof *x);
    for (int f = 0; f < im->m->nblock; f++) {
        const snw_block *b = &im->m->block[f];
        if (b->lie_block < 0) continue;
        const int dof = b->dof;
        const double *S = im->columns + 108 * b->lie_block;
        for (int k = 0; k < b->n; k++) {
            x[dof + k] = 0;
            for (int i = 0; i < b->n; i++) x[dof + k] += S[6 * i + k] * im->w->r[dof + i];
        }
    }
    for (int i = 0; i < im->m->nconstraint; i++) x[im->m->nv + i] = -im->bond * im->w->violation[i];
}

// d and the multipliers moved by a part of dx
static void implicit_advance(void *self, double part) {
    snw_implicit *im = self;
    const snw_model *m = im->m;
    for (int i = 0; i < m->nv; i++) im->d[i] += part * im->dx[i];
    for (int i = 0; i < m->nconstraint; i++)
        im->trial->lambda[i] += part * im->bond * im->dx[m->nv + i];
}

static snw_status implicit_renew(void *self) {
    snw_implicit *im = self;
    SNW_TRY(snw_implicit_factor(im, im->a, im->b));
    im->of_T.a = im->a, im->of_T.b = im->b;
    snw_inputs_copy(im->in, im->of_T.in);
    snw_state_copy(im->m, im->trial, im->of_T.at);
    memcpy(im->of_T.d, im->d, (size_t)im->m->nv * sizeof *im->d);
    return SNW_OK;
}

static bool implicit_same(double x, double y) { return fabs(x - y) <= 1e-9 * fabs(x); }

static void implicit_correct(void *self) {
    snw_implicit *im = self;
    snw_implicit_project(im, im->dx);
    for (int i = 0; i < im->T->n; i++) im->dx[i] = -im->dx[i];
    snw_bordered_matrix_solve(im->T, im->dx);
}

// What dx changes is below the rounding of places and multipliers. theory.md (6.13)
static bool rounded(void *self) {
    const snw_implicit *im = self;
    const snw_model *m = im->m;
    double largest = 0;
    for (int i = 0; i < m->nconstraint; i++) largest = fmax(largest, fabs(im->trial->lambda[i]));
    for (int i = 0; i < m->nv; i++) {
        if (!(fabs(im->dx[i]) <= ROUNDING * m->typical[i])) return false;
    }
    for (int i = 0; i < m->nconstraint; i++) {
        if (!(im->bond * fabs(im->dx[m->nv + i]) <= ROUNDING * largest)) return false;
    }
    return true;
}

static snw_status implicit_solve(snw_implicit *im, snw_chord_info *info) {
    if (!implicit_same(im->of_T.a, im->a) || !implicit_same(im->of_T.b, im->b))
        im->of_T.known = false;
    const snw_chord chord = {.user = im,
                             .evaluate = implicit_evaluate,
                             .renew = implicit_renew,
                             .correct = implicit_correct,
                             .move = implicit_advance,
                             .rounded = rounded,
                             .dx = im->dx,
                             .broyden = &im->broyden,
                             .known = &im->of_T.known,
                             .tolerance = im->opts.tolerance,
                             .max_iter = im->opts.max_iter};
    return snw_chord_solve(&chord, info);
}

// im->force <- typical forces: elastic, and a thousandth of what the mass resists to a typical
// change within the step; im->scale <- the same, or less where errors of the step itself are
// smaller than what they would leave, down to rounding. theory.md (6.13)
static void implicit_set_scale(snw_implicit *im, double h, double b) {
    static const double part = 0.01;
    const snw_model *m = im->m;
    const double quick = h * snw_fastest_rate(m, im->now);
    const double error = part * pow(quick, im->opts.scheme.order + 2);
    for (int i = 0; i < m->nv; i++) {
        const double inertia = b * im->mass[i] * m->typical[i];
        im->scale[i] = im->force[i] = m->scale[i] + 1e-3 * inertia;
        if (!im->opts.own) continue;
        const double least = ROUNDING * (m->scale[i] + quick * inertia);
        im->scale[i] = fmin(im->scale[i], fmax(error * inertia, least) / im->opts.tolerance);
    }
}

// d <- where to begin: the mean rate of the step before, changed as the rates at its ends did. Of
// the same order as uniform acceleration, and better where steps do not resolve the swing of a
// stiff rod.
static void implicit_predict(snw_implicit *im, double h) {
    const snw_history *p = &im->past;
    for (int i = 0; i < im->m->nv; i++) {
        im->d[i] = p->h > 0 ? h / p->h * (p->d[i] + 0.5 * (h + p->h) * (p->v[i] - p->vb[i]))
                            : h * (p->v[i] + (p->h < 0 ? 0 : 0.5 * h * p->a[i]));
    }
}

// Newton's method from d and the multipliers of the step before. Contacts that say the same at the
// end of the step rest, by choice at the configuration it begins from, and share afterwards.
static snw_status implicit_attempt(snw_implicit *im, bool share, snw_chord_info *info) {
    const snw_model *m = im->m;
    drive(im);
    for (int i = 0; i < m->nconstraint; i++) im->trial->lambda[i] = im->now->lambda[i];
    for (int i = 0; i < m->nnonholonomic; i++) im->trial->dropped[i] = 0;
    if (share) {
        snw_chart_to_state(m, im->opts.chart, im->now->q, im->d, im->rate, im->acc, im->trial);
        im->redundant = snw_redundancy_drop(im->redundancy, im->in, im->trial) > 0 || im->redundant;
    }
    for (int i = 0; i < m->nnonholonomic; i++) {
        if (im->trial->dropped[i] != im->of_T.at->dropped[i]) im->of_T.known = false;
    }
    SNW_TRY(implicit_solve(im, info));
    if (!im->redundant) return SNW_OK;
    im->slips = snw_redundancy_slips(im->redundancy, im->in, im->trial, &im->slip);
    if (im->slips >= 0) return SNW_E_MODEL;
    SNW_TRY(snw_redundancy_recover(im->redundancy, im->in, im->trial));
    snw_residual(m, im->in, im->trial, false, im->w);
    return SNW_OK;
}

// The end of a step made consistent where the scheme would let errors across the rows of loops go
// on, theory.md (6.11): velocities that keep them, accelerations and multipliers that follow. A
// singular configuration stays as the scheme has it.
static void implicit_settle(snw_implicit *im) {
    const snw_model *m = im->m;
    snw_error err;
    const bool begins = im->past.h < 0; // with accelerations that it does not resolve
    const bool passes =
        im->impact.longest > 0 && m->ncontact_point == 0; // short steps behind long ones (6.17)
    if (!im->closed || !(begins || passes || (im->keeps && !im->opts.undamped_velocities))) return;
    snw_state_copy(m, im->trial, im->way);
    if (snw_projection_velocities(im->projection, im->in, im->way, &err) != SNW_OK) return;
    if (snw_projection_accelerations(im->projection, im->in, im->way, &err) != SNW_OK) return;
    snw_state_copy(m, im->way, im->trial);
    snw_chart_from_state(m, im->opts.chart, im->trial, im->rate, im->acc);
    snw_residual(m, im->in, im->trial, false, im->w);
}

// h^2 times the largest change of an acceleration in the step; what is driven has the one of its
// law, and none of the scheme's noise (theory.md 6.6)
static double largest_jump(const snw_implicit *im, double h) {
    const snw_model *m = im->m;
    double *change = im->scratch, largest = 0;
    for (int i = 0; i < m->nv; i++) change[i] = fabs(im->acc[i] - im->past.a[i]) / m->typical[i];
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, im->trial, i)) change[m->drive[i].dof] = 0;
    }
    for (int i = 0; i < m->nv; i++) largest = fmax(largest, h * h * change[i]);
    return largest;
}

snw_status snw_implicit_step(snw_implicit *im, double h, double t_laws, snw_chord_info *info) {
    const snw_model *m = im->m;
    const snw_history *p = &im->past;
    *info = (snw_chord_info){0};
    const double before = p->h;
    if (p->h <= 0 || im->onset.longest > 0) {
        const bool sound = snw_implicit_resolves(im, h);
        if (!sound || p->h <= 0) im->past.h = sound ? 0 : -1;
    }
    const snw_scheme euler = snw_scheme_make(SNW_SCHEME_EULER, 0, 0);
    if (im->soft) im->past.h = fmax(im->past.h, 0);
    im->begun = im->past.h;
    snw_scheme_begin(im->soft ? &euler : &im->opts.scheme, p, h, &im->a, &im->b, im->f, im->g);
    im->w->velocity_time = 1 / im->a; // rows of velocities as if they were of increments
    implicit_set_scale(im, h, im->b);
    snw_inputs_at(m, t_laws, im->in);
    snw_law_integrals_lead(m, h, im->now, im->source, im->trial, im->in);
    implicit_predict(im, h);
    const bool known =
        im->of_T.known && implicit_same(im->of_T.a, im->a) && implicit_same(im->of_T.b, im->b);
    snw_status s = implicit_attempt(im, im->redundant, info);
    if (s != SNW_OK) { // once more, from where the last step would go with no new acceleration
        im->of_T.known = false;
        for (int i = 0; i < m->nv; i++) im->d[i] = -im->g[i] / im->b;
        s = implicit_attempt(im, im->redundancy, info);
    }
    if (s != SNW_OK || info->iterations > PATIENCE) im->of_T.known = false;
    if (s != SNW_OK) {
        im->past.h = before;
        snw_inputs_at(m, im->now->t, im->in);
        return s;
    }
    im->fits = known || info->tangents > 0;
    info->residual = implicit_out_of_balance(im, im->force);
    implicit_settle(im);
    // commit
    const size_t np = (size_t)snw_npower(m) * sizeof(double);
    memcpy(im->work_kept, im->work, np);
    im->heat_kept = im->heat;
    im->scheme_kept = im->scheme;
    im->impact_kept = im->impact;
    for (int i = 0; i < m->nsignal; i++) im->source_kept[i] = im->source[i];
    snw_law_integrals_settle(m, im->in, im->trial, im->w, im->source);
    snw_implicit_account(im, h);
    snw_state_copy(m, im->now, im->before);
    copy_history(&im->past, &im->kept);
    im->kept.h = before;
    im->jump = largest_jump(im, h);
    if (im->soft) im->past.h = -1; // its accelerations are the scheme's from now on
    snw_scheme_end(&im->opts.scheme, h, im->d, im->rate, im->acc, &im->past);
    im->trial->t = im->now->t + h;
    snw_state_copy(m, im->trial, im->now);
    return SNW_OK;
}

void snw_implicit_settle_start(snw_implicit *im) {
    const snw_model *m = im->m;
    snw_error err;
    snw_state_copy(m, im->now, im->way);
    if (snw_projection_velocities(im->projection, im->in, im->way, &err) != SNW_OK) return;
    if (snw_projection_accelerations(im->projection, im->in, im->way, &err) != SNW_OK) return;
    snw_state_copy(m, im->way, im->now);
    snw_chart_from_state(m, im->opts.chart, im->now, im->rate, im->acc);
    snw_scheme_start(&im->opts.scheme, im->rate, im->acc, false, &im->past);
}

snw_status snw_implicit_check(snw_implicit *im, double t, snw_error *err) {
    snw_inputs_at(im->m, t, im->within);
    SNW_TRY(snw_inputs_check(im->m, im->within, t, err));
    if (im->slips < 0) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL, SNW_SLIP_MESSAGE, im->m->desc->loop[im->slips].name, t,
                    fabs(im->slip));
}

void snw_implicit_undo(snw_implicit *im) {
    snw_state_copy(im->m, im->before, im->now);
    copy_history(&im->kept, &im->past);
    const size_t np = (size_t)snw_npower(im->m) * sizeof(double);
    memcpy(im->work, im->work_kept, np);
    im->heat = im->heat_kept;
    im->scheme = im->scheme_kept;
    im->impact = im->impact_kept;
    for (int i = 0; i < im->m->nsignal; i++) im->source[i] = im->source_kept[i];
    snw_inputs_at(im->m, im->now->t, im->in);
}

double snw_implicit_condition(snw_implicit *im) {
    return im->of_T.known ? snw_bordered_matrix_condition(im->T) : NAN;
}

double snw_implicit_error(const snw_implicit *im) {
    return snw_scheme_error_factor(&im->opts.scheme) * im->jump;
}

const snw_state *snw_implicit_state(const snw_implicit *im) { return im->now; }
void snw_implicit_set_manual(snw_implicit *im, const snw_manual_inputs *manual) {
    im->in->manual = im->within->manual = im->of_T.in->manual = manual;
}
const snw_inputs *snw_implicit_inputs(const snw_implicit *im) { return im->in; }

const snw_work *snw_implicit_work_at(snw_implicit *im) {
    snw_residual(im->m, im->in, im->now, false, im->w);
    snw_observe(im->m, im->in, im->now, false, im->w);
    return im->w;
}

snw_work_done snw_implicit_work_done(const snw_implicit *im) {
    return (snw_work_done){
        .n = snw_npower(im->m), .work = im->work, .heat = im->heat, .scheme = im->scheme};
}

// ---- saving
// ----------------------------------------------------------------------------------------

enum { NPIECE = 19, NSINGLE = 19 };

// the present inputs are laws of their time, the matrix follows from where it was made
static void implicit_list_pieces(const snw_implicit *im, snw_checkpoint_block piece[NPIECE]) {
    const size_t nv = (size_t)im->m->nv, np = (size_t)snw_npower(im->m);
    snw_implicit *own = (snw_implicit *)im;
    const snw_checkpoint_block list[NPIECE] = {
        {&im->now->t, 1},
        snw_checkpoint_state(im->m, im->now),
        {&own->past.h, 1},
        {im->past.v, snw_history_doubles(im->m->nv)},
        {im->mass, nv},
        {im->work, np},
        {&own->heat, 1},
        {&own->scheme, 1},
        snw_checkpoint_state(im->m, im->of_T.at),
        {im->of_T.d, nv},
        {&im->of_T.in->t, 1},
        {im->of_T.in->gravity.e, 3},
        {&im->of_T.in->lead, 1},
        snw_checkpoint_inputs(im->of_T.in),
        {im->source, (size_t)im->m->nsignal},
        snw_checkpoint_state(im->m, im->corrected.now),
        {&own->corrected.past.h, 1},
        {im->corrected.past.v, snw_history_doubles(im->m->nv)},
        {im->corrected.jerk, nv}};
    memcpy(piece, list, sizeof list);
}

size_t snw_implicit_saves(const snw_model *m) {
    const size_t nv = (size_t)m->nv, state = snw_state_doubles(m);
    return 1 + 3 * state + 2 + 2 * snw_history_doubles(m->nv) + 3 * nv + (size_t)snw_npower(m) + 2 +
           (size_t)m->nsignal + 5 + snw_inputs_doubles(m) + NSINGLE;
}

void snw_implicit_save(const snw_implicit *im, double *out) {
    const snw_onset *o = &im->onset;
    const snw_impact *i = &im->impact;
    const snw_corrected *c = &im->corrected;
    const double single[NSINGLE] = {
        im->in->t, im->of_T.known, im->of_T.a, im->of_T.b, im->redundant, o->longest, o->looked,
        o->waits,  i->longest,     i->gain,    i->most,    i->since,      i->many,    c->on,
        c->h,      c->steps,       c->far,     c->worst,   c->t};
    snw_checkpoint_block piece[NPIECE];
    implicit_list_pieces(im, piece);
    memcpy(snw_checkpoint_save(NPIECE, piece, out), single, sizeof single);
}

void snw_implicit_load(snw_implicit *im, const double *in) {
    snw_checkpoint_block piece[NPIECE];
    implicit_list_pieces(im, piece);
    const double *single = snw_checkpoint_load(NPIECE, piece, in);
    im->of_T.known = single[1] != 0;
    im->of_T.a = single[2], im->of_T.b = single[3];
    im->redundant = single[4] != 0;
    im->onset = (snw_onset){single[5], single[6], (int)single[7]};
    im->impact = (snw_impact){single[8], single[9], single[10], single[11], single[12]};
    snw_corrected *c = &im->corrected;
    c->on = single[13], c->h = single[14], c->steps = single[15];
    c->far = single[16], c->worst = single[17], c->t = single[18];
    c->now->t = im->now->t;
    im->soft = false;
    if (im->of_T.known) {
        im->w->velocity_time = 1 / im->of_T.a;
        snw_inputs_copy(im->of_T.in, im->in);
        snw_state_copy(im->m, im->of_T.at, im->trial);
        memcpy(im->d, im->of_T.d, (size_t)im->m->nv * sizeof *im->d);
        snw_residual(im->m, im->in, im->trial, false, im->w);
        im->of_T.known = snw_implicit_factor(im, im->of_T.a, im->of_T.b) == SNW_OK;
    }
    snw_inputs_at(im->m, single[0], im->in);
    snw_state_copy(im->m, im->now, im->before);
    copy_history(&im->past, &im->kept);
}
