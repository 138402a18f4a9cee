// SPDX-License-Identifier: MIT
#include "study/motion_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/loop.h"
#include "solve/chord.h"
#include "solve/dense.h"
#include "study/assembly.h"
#include "study/memory.h"
#include "study/pace.h"
#include "study/pieces.h"
#include "study/switch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    INCREMENTS = 12, // kept by Broyden's method
    PATIENCE = 7     // iterations that cost what a new matrix does
};

static const double ROUNDING = 64 * DBL_EPSILON; // theory.md (6.13)
static const double SWALLOW = 0.1;               // theory.md (6.17)

snw_motion_opts snw_motion_defaults(void) {
    return (snw_motion_opts){.scheme = snw_scheme_make(SNW_SCHEME_GENERALIZED_ALPHA, 0.9, 0),
                             .chart = SNW_CHART_SE3,
                             .tolerance = 1e-10,
                             .max_iter = 30,
                             .torque = 1};
}

snw_status snw_motion_create(const snw_model *m, const snw_motion_opts *opts, snw_motion **out) {
    *out = NULL;
    snw_motion *mo = snw_alloc(sizeof *mo);
    if (!mo) return SNW_E_MEMORY;
    mo->m = m;
    mo->opts = *opts;
    const size_t nv = (size_t)m->nv, np = (size_t)snw_npower(m), nh = snw_history_doubles(m->nv);
    const size_t ns = (size_t)m->nsignal, n = nv + (size_t)m->nrow;
    mo->memory =
        snw_alloc((12 * nv + 2 * n + 3 * np + 2 * nh + 2 * ns + 108 * (size_t)m->ncurved + nh + nv +
                   18 * (size_t)m->nseg + 2 * snw_broyden_doubles((int)n, INCREMENTS)) *
                  sizeof(double));
    const bool assembled = (m->nrow == 0 && m->nswitch == 0) ||
                           (snw_assembly_create(m, &mo->assembly) == SNW_OK &&
                            snw_switches_create(m, mo->assembly, &mo->switches) == SNW_OK);
    if (!assembled || !mo->memory || snw_matrix_create(m, opts->algebra, &mo->T) != SNW_OK ||
        snw_work_create(m, &mo->w) != SNW_OK || snw_inputs_create(m, &mo->in) != SNW_OK ||
        snw_state_create(m, &mo->now) != SNW_OK || snw_state_create(m, &mo->trial) != SNW_OK ||
        snw_state_create(m, &mo->before) != SNW_OK ||
        snw_state_create(m, &mo->corrected.now) != SNW_OK ||
        snw_state_create(m, &mo->way) != SNW_OK || snw_inputs_create(m, &mo->of_T.in) != SNW_OK ||
        snw_state_create(m, &mo->of_T.at) != SNW_OK ||
        snw_inputs_create(m, &mo->within) != SNW_OK) {
        snw_motion_destroy(mo);
        return SNW_E_MEMORY;
    }
    mo->slips = -1;
    const double rho = opts->scheme.af / (1 - opts->scheme.af); // of generalized-alpha
    mo->swallow = SWALLOW + 1 - rho * rho;
    mo->keeps = snw_scheme_overshoot(&opts->scheme) == 0 && opts->scheme.order == 2;
    for (int i = 0; i < m->nloop; i++) mo->closed |= m->loop[i].nrow > 0 && !m->loop[i].grip;
    mo->share = mo->assembly ? snw_assembly_share(mo->assembly) : NULL;
    if (mo->share) snw_share_weigh(mo->share, opts->torque);
    double *at = mo->memory;
    double **const vectors[] = {&mo->d,    &mo->f,     &mo->g,     &mo->rate,  &mo->acc,
                                &mo->mass, &mo->scale, &mo->force, &mo->of_T.d};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = at, at += nv;
    double **const powers[] = {&mo->work, &mo->work_kept, &mo->power_within};
    for (size_t i = 0; i < 3; i++) *powers[i] = at, at += np;
    mo->past = snw_history_on(m->nv, at);
    mo->kept = snw_history_on(m->nv, at + nh);
    mo->source = at + 2 * nh;
    mo->source_kept = mo->source + ns;
    mo->scratch = mo->source_kept + ns;
    mo->columns = mo->scratch + 3 * nv;
    mo->dx = mo->columns + 108 * (size_t)m->ncurved;
    mo->typical = mo->dx + n;
    at = mo->typical + n;
    mo->broyden = snw_broyden_on((int)n, INCREMENTS, mo->typical, at);
    at += snw_broyden_doubles((int)n, INCREMENTS);
    mo->corrected.broyden = snw_broyden_on((int)n, INCREMENTS, mo->typical, at);
    at += snw_broyden_doubles((int)n, INCREMENTS);
    mo->corrected.past = snw_history_on(m->nv, at);
    mo->corrected.jerk = at + nh;
    mo->corrected.point = mo->corrected.jerk + nv;
    for (size_t i = 0; i < n; i++) mo->typical[i] = i < nv ? m->typical[i] : 1;
    *out = mo;
    return SNW_OK;
}

void snw_motion_destroy(snw_motion *mo) {
    if (!mo) return;
    snw_work_destroy(mo->w);
    snw_inputs_destroy(mo->in);
    snw_state_destroy(mo->now);
    snw_state_destroy(mo->trial);
    snw_state_destroy(mo->before);
    snw_state_destroy(mo->corrected.now);
    snw_state_destroy(mo->way);
    snw_state_destroy(mo->of_T.at);
    snw_inputs_destroy(mo->of_T.in);
    snw_inputs_destroy(mo->within);
    snw_switches_destroy(mo->switches);
    snw_assembly_destroy(mo->assembly);
    snw_matrix_destroy(mo->T);
    snw_free(mo->memory);
    snw_free(mo);
}

static bool finite(const double *x, int n) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

snw_status snw_inputs_check(const snw_model *m, const snw_inputs *in, double t, snw_error *err) {
    for (int i = 0; i < m->nact; i++) {
        if (finite(in->load[i].e, 6)) continue;
        return snw_fail(err, SNW_E_DIVERGED, "load '%s' has no finite value at t = %.9g s",
                        m->desc->load[m->act[i].load].name, t);
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
    SNW_TRY(snw_measures_check(m, in, t, err));
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

// the first coordinate that moves no mass but what those before it move, by Cholesky's method on the mass matrix M
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

static snw_status massless(const snw_model *m, const snw_inputs *in, const snw_state *s,
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
    if (snw_cholesky_factor(m->nv, M) != SNW_OK) return massless(m, in, s, w, M, err);
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

snw_status snw_motion_restart(snw_motion *mo, const double *z, snw_error *err) {
    const snw_model *m = mo->m;
    snw_inputs_at(m, mo->now->t + snw_grain(mo->now->t), mo->in);
    snw_blow blow = {0};
    if (mo->switches) {
        SNW_TRY(snw_switches_throw(mo->switches, mo->in, z, mo->now, &blow, err));
        mo->work[m->desc->nload + 1] += blow.work;
        mo->heat += blow.heat;
    } else if (z) {
        memcpy(mo->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    mo->of_T.known = false;
    snw_matrix_spoil(mo->T);
    snw_mass_matrix(m, mo->in, mo->now, mo->w, mo->T->A);
    for (int i = 0; i < m->nv; i++) mo->mass[i] = mo->T->A[(size_t)i * (size_t)(m->nv + 1)];
    if (mo->assembly) {
        SNW_TRY(snw_assembly_accelerations(mo->assembly, mo->in, mo->now, err));
        mo->shares = mo->share && snw_share_rests(mo->share);
    } else {
        SNW_TRY(snw_accelerations(m, mo->in, mo->now, mo->w, mo->T->A, err));
    }
    snw_chart_from_state(m, mo->opts.chart, mo->now, mo->rate, mo->acc);
    snw_scheme_start(&mo->opts.scheme, mo->rate, mo->acc, mo->opts.rest, &mo->past);
    snw_residual(m, mo->in, mo->now, false, mo->w);
    snw_memory_settle(m, mo->in, mo->now, mo->w, mo->source);
    snw_state_copy(m, mo->now, mo->before);
    copy_history(&mo->past, &mo->kept);
    mo->onset = (snw_onset){.looked = NAN};
    mo->soft = false;
    snw_corrected_restart(mo);
    return SNW_OK;
}

snw_status snw_motion_start(snw_motion *mo, const snw_state *s, snw_error *err) {
    const snw_model *m = mo->m;
    snw_state_copy(m, s, mo->now);
    snw_state_rest(m, mo->now);
    if (mo->assembly) {
        snw_assembly_info info;
        snw_inputs_at(m, s->t + snw_grain(s->t), mo->in);
        SNW_TRY(snw_assembly_close(mo->assembly, mo->in, mo->now, &info, err));
    }
    SNW_TRY(snw_motion_restart(mo, NULL, err));
    for (int i = 0; i < snw_npower(m); i++) mo->work[i] = 0;
    mo->heat = mo->scheme = 0;
    mo->impact = (snw_impact){0};
    snw_corrected_start(mo);
    return SNW_OK;
}

// ---- a step ----------------------------------------------------------------------------------------

// the largest force out of balance, measured by `scale`, or row that is open; NaN kept
static double out_of_balance(const snw_motion *mo, const double *scale) {
    const snw_model *m = mo->m;
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        const double r = fabs(mo->w->r[i]) / scale[i];
        if (!(r <= largest)) largest = r;
    }
    for (int i = 0; i < m->nrow; i++) {
        const double r = fabs(mo->w->gap[i]) / snw_row_at(m, mo->w, i).size;
        if (!(r <= largest)) largest = r;
    }
    return largest;
}

// residual at the increment d, measured by mo->scale
static double evaluate(void *self) {
    snw_motion *mo = self;
    const snw_model *m = mo->m;
    for (int i = 0; i < m->nv; i++) {
        mo->rate[i] = mo->a * mo->d[i] + mo->f[i];
        mo->acc[i] = mo->b * mo->d[i] + mo->g[i];
    }
    snw_chart_to_state(m, mo->opts.chart, mo->now->q, mo->d, mo->rate, mo->acc, mo->trial);
    // what is given is not left to the scheme; nor to Newton's matrix, since the steps begin with these rows kept
    snw_rows_impose(m, mo->in, mo->trial);
    snw_residual(m, mo->in, mo->trial, false, mo->w);
    return out_of_balance(mo, mo->scale);
}

// driven coordinates, which are numbers, go where they are driven to
static void drive(snw_motion *mo) {
    for (int i = 0; i < mo->m->ndrive; i++) {
        const snw_drive *to = &mo->m->drive[i];
        if (!snw_drive_holds(mo->m, mo->now, i)) continue;
        mo->d[to->dof] = snw_drive_target(mo->m, mo->in, mo->now, i) - mo->now->q[to->q];
    }
}

snw_status snw_motion_factor(snw_motion *mo, double a, double b) {
    const snw_model *m = mo->m;
    if (m->ncurved) snw_chart_columns(m, mo->opts.chart, mo->d, a, b, mo->trial, mo->columns);
    snw_tangent_sweep(m, m->ncurved ? mo->columns : NULL, mo->w);
    const size_t n = (size_t)mo->T->n;
    snw_matrix_clear(mo->T);
    snw_tangent_add(m, mo->in, 1, a, b, mo->w, n, mo->T->A);
    if (m->nrow) { // loops as stiff as the stiffest coordinate is in this step, so that nothing is lost by pivoting
        mo->bond = 0;
        for (int i = 0; i < m->nv; i++) {
            const double k = fabs(mo->T->A[(size_t)i * (n + 1)]) * m->typical[i];
            mo->bond = fmax(mo->bond, k * m->typical[i] / (m->length * m->length));
        }
        snw_rows_place(m, mo->w, mo->bond, mo->T->A);
    }
    return snw_matrix_factor(mo->T);
}

// the residual as the rows of the Newton matrix have it: those of balls and free joints go along the columns of
// the chart
void snw_motion_project(const snw_motion *mo, double *x) {
    memcpy(x, mo->w->r, (size_t)mo->m->nv * sizeof *x);
    for (int f = 0; f < mo->m->nblock; f++) {
        const snw_block *b = &mo->m->block[f];
        if (b->curved < 0) continue;
        const int dof = b->dof;
        const double *S = mo->columns + 108 * b->curved;
        for (int k = 0; k < b->n; k++) {
            x[dof + k] = 0;
            for (int i = 0; i < b->n; i++) x[dof + k] += S[6 * i + k] * mo->w->r[dof + i];
        }
    }
    for (int i = 0; i < mo->m->nrow; i++) x[mo->m->nv + i] = -mo->bond * mo->w->gap[i];
}

// d and the multipliers moved by a part of dx
static void advance(void *self, double part) {
    snw_motion *mo = self;
    const snw_model *m = mo->m;
    for (int i = 0; i < m->nv; i++) mo->d[i] += part * mo->dx[i];
    for (int i = 0; i < m->nrow; i++) mo->trial->l[i] += part * mo->bond * mo->dx[m->nv + i];
}

static snw_status renew(void *self) {
    snw_motion *mo = self;
    SNW_TRY(snw_motion_factor(mo, mo->a, mo->b));
    mo->of_T.a = mo->a, mo->of_T.b = mo->b;
    snw_inputs_copy(mo->in, mo->of_T.in);
    snw_state_copy(mo->m, mo->trial, mo->of_T.at);
    memcpy(mo->of_T.d, mo->d, (size_t)mo->m->nv * sizeof *mo->d);
    return SNW_OK;
}

static bool same(double x, double y) { return fabs(x - y) <= 1e-9 * fabs(x); }

static void correct(void *self) {
    snw_motion *mo = self;
    snw_motion_project(mo, mo->dx);
    for (int i = 0; i < mo->T->n; i++) mo->dx[i] = -mo->dx[i];
    snw_matrix_solve(mo->T, mo->dx);
}

// What dx changes is below the rounding of places and multipliers. theory.md (6.13)
static bool rounded(void *self) {
    const snw_motion *mo = self;
    const snw_model *m = mo->m;
    double largest = 0;
    for (int i = 0; i < m->nrow; i++) largest = fmax(largest, fabs(mo->trial->l[i]));
    for (int i = 0; i < m->nv; i++) {
        if (!(fabs(mo->dx[i]) <= ROUNDING * m->typical[i])) return false;
    }
    for (int i = 0; i < m->nrow; i++) {
        if (!(mo->bond * fabs(mo->dx[m->nv + i]) <= ROUNDING * largest)) return false;
    }
    return true;
}

static snw_status solve(snw_motion *mo, snw_chord_info *info) {
    if (!same(mo->of_T.a, mo->a) || !same(mo->of_T.b, mo->b)) mo->of_T.known = false;
    const snw_chord chord = {.user = mo,
                             .evaluate = evaluate,
                             .renew = renew,
                             .correct = correct,
                             .move = advance,
                             .rounded = rounded,
                             .dx = mo->dx,
                             .broyden = &mo->broyden,
                             .known = &mo->of_T.known,
                             .tolerance = mo->opts.tolerance,
                             .max_iter = mo->opts.max_iter};
    return snw_chord_solve(&chord, info);
}

// mo->force <- typical forces: elastic, and a thousandth of what the mass resists to a typical change within the step; mo->scale <-
// the same, or less where errors of the step itself are smaller than what they would leave, down to rounding. theory.md (6.13)
static void set_scale(snw_motion *mo, double h, double b) {
    static const double part = 0.01;
    const snw_model *m = mo->m;
    const double quick = h * snw_quickness(m, mo->now);
    const double error = part * pow(quick, mo->opts.scheme.order + 2);
    for (int i = 0; i < m->nv; i++) {
        const double inertia = b * mo->mass[i] * m->typical[i];
        mo->scale[i] = mo->force[i] = m->scale[i] + 1e-3 * inertia;
        if (!mo->opts.own) continue;
        const double least = ROUNDING * (m->scale[i] + quick * inertia);
        mo->scale[i] = fmin(mo->scale[i], fmax(error * inertia, least) / mo->opts.tolerance);
    }
}

// d <- where to begin: the mean rate of the step before, changed as the rates at its ends did. Of the same order as uniform
// acceleration, and better where steps do not resolve the swing of a stiff rod.
static void predict(snw_motion *mo, double h) {
    const snw_history *p = &mo->past;
    for (int i = 0; i < mo->m->nv; i++) {
        mo->d[i] = p->h > 0 ? h / p->h * (p->d[i] + 0.5 * (h + p->h) * (p->v[i] - p->vb[i]))
                            : h * (p->v[i] + (p->h < 0 ? 0 : 0.5 * h * p->a[i]));
    }
}

// Newton's method from d and the multipliers of the step before. Contacts that say the same at the end of the step rest, by choice at the
// configuration it begins from, and share afterwards.
static snw_status attempt(snw_motion *mo, bool share, snw_chord_info *info) {
    const snw_model *m = mo->m;
    drive(mo);
    for (int i = 0; i < m->nrow; i++) mo->trial->l[i] = mo->now->l[i];
    for (int i = 0; i < m->ngrip; i++) mo->trial->rest[i] = 0;
    if (share) {
        snw_chart_to_state(m, mo->opts.chart, mo->now->q, mo->d, mo->rate, mo->acc, mo->trial);
        mo->shares = snw_share_choose(mo->share, mo->in, mo->trial) > 0 || mo->shares;
    }
    for (int i = 0; i < m->ngrip; i++) {
        if (mo->trial->rest[i] != mo->of_T.at->rest[i]) mo->of_T.known = false;
    }
    SNW_TRY(solve(mo, info));
    if (!mo->shares) return SNW_OK;
    mo->slips = snw_share_slips(mo->share, mo->in, mo->trial, &mo->slip);
    if (mo->slips >= 0) return SNW_E_MODEL;
    SNW_TRY(snw_share_spread(mo->share, mo->in, mo->trial));
    snw_residual(m, mo->in, mo->trial, false, mo->w);
    return SNW_OK;
}

// The end of a step made consistent where the scheme would let errors across the rows of loops go on, theory.md (6.11): velocities that keep
// them, accelerations and multipliers that follow. A singular configuration stays as the scheme has it.
static void settle(snw_motion *mo) {
    const snw_model *m = mo->m;
    snw_error err;
    const bool begins = mo->past.h < 0; // with accelerations that it does not resolve
    const bool passes =
        mo->impact.longest > 0 && m->ntouch == 0; // short steps behind long ones (6.17)
    if (!mo->closed || !(begins || passes || (mo->keeps && !mo->opts.plain))) return;
    snw_state_copy(m, mo->trial, mo->way);
    if (snw_assembly_velocities(mo->assembly, mo->in, mo->way, &err) != SNW_OK) return;
    if (snw_assembly_accelerations(mo->assembly, mo->in, mo->way, &err) != SNW_OK) return;
    snw_state_copy(m, mo->way, mo->trial);
    snw_chart_from_state(m, mo->opts.chart, mo->trial, mo->rate, mo->acc);
    snw_residual(m, mo->in, mo->trial, false, mo->w);
}

// h^2 times the largest change of an acceleration in the step; what is driven has the one of its law, and none of the scheme's noise
// (theory.md 6.6)
static double largest_jump(const snw_motion *mo, double h) {
    const snw_model *m = mo->m;
    double *change = mo->scratch, largest = 0;
    for (int i = 0; i < m->nv; i++) change[i] = fabs(mo->acc[i] - mo->past.a[i]) / m->typical[i];
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, mo->trial, i)) change[m->drive[i].dof] = 0;
    }
    for (int i = 0; i < m->nv; i++) largest = fmax(largest, h * h * change[i]);
    return largest;
}

snw_status snw_motion_step(snw_motion *mo, double h, double t_laws, snw_chord_info *info) {
    const snw_model *m = mo->m;
    const snw_history *p = &mo->past;
    *info = (snw_chord_info){0};
    const double before = p->h;
    if (p->h <= 0 || mo->onset.longest > 0) {
        const bool sound = snw_motion_resolves(mo, h);
        if (!sound || p->h <= 0) mo->past.h = sound ? 0 : -1;
    }
    const snw_scheme euler = snw_scheme_make(SNW_SCHEME_EULER, 0, 0);
    if (mo->soft) mo->past.h = fmax(mo->past.h, 0);
    mo->begun = mo->past.h;
    snw_scheme_begin(mo->soft ? &euler : &mo->opts.scheme, p, h, &mo->a, &mo->b, mo->f, mo->g);
    mo->w->pace = 1 / mo->a; // rows of velocities as if they were of increments
    set_scale(mo, h, mo->b);
    snw_inputs_at(m, t_laws, mo->in);
    snw_memory_lead(m, h, mo->now, mo->source, mo->trial, mo->in);
    predict(mo, h);
    const bool known = mo->of_T.known && same(mo->of_T.a, mo->a) && same(mo->of_T.b, mo->b);
    snw_status s = attempt(mo, mo->shares, info);
    if (s != SNW_OK) { // once more, from where the last step would go with no new acceleration
        mo->of_T.known = false;
        for (int i = 0; i < m->nv; i++) mo->d[i] = -mo->g[i] / mo->b;
        s = attempt(mo, mo->share, info);
    }
    if (s != SNW_OK || info->iterations > PATIENCE) mo->of_T.known = false;
    if (s != SNW_OK) {
        mo->past.h = before;
        snw_inputs_at(m, mo->now->t, mo->in);
        return s;
    }
    mo->fits = known || info->tangents > 0;
    info->residual = out_of_balance(mo, mo->force);
    settle(mo);
    // commit
    const size_t np = (size_t)snw_npower(m) * sizeof(double);
    memcpy(mo->work_kept, mo->work, np);
    mo->heat_kept = mo->heat;
    mo->scheme_kept = mo->scheme;
    mo->impact_kept = mo->impact;
    for (int i = 0; i < m->nsignal; i++) mo->source_kept[i] = mo->source[i];
    snw_memory_settle(m, mo->in, mo->trial, mo->w, mo->source);
    snw_motion_account(mo, h);
    snw_state_copy(m, mo->now, mo->before);
    copy_history(&mo->past, &mo->kept);
    mo->kept.h = before;
    mo->jump = largest_jump(mo, h);
    if (mo->soft) mo->past.h = -1; // its accelerations are the scheme's from now on
    snw_scheme_end(&mo->opts.scheme, h, mo->d, mo->rate, mo->acc, &mo->past);
    mo->trial->t = mo->now->t + h;
    snw_state_copy(m, mo->trial, mo->now);
    return SNW_OK;
}

void snw_motion_settle_start(snw_motion *mo) {
    const snw_model *m = mo->m;
    snw_error err;
    snw_state_copy(m, mo->now, mo->way);
    if (snw_assembly_velocities(mo->assembly, mo->in, mo->way, &err) != SNW_OK) return;
    if (snw_assembly_accelerations(mo->assembly, mo->in, mo->way, &err) != SNW_OK) return;
    snw_state_copy(m, mo->way, mo->now);
    snw_chart_from_state(m, mo->opts.chart, mo->now, mo->rate, mo->acc);
    snw_scheme_start(&mo->opts.scheme, mo->rate, mo->acc, false, &mo->past);
}

snw_status snw_motion_check(snw_motion *mo, double t, snw_error *err) {
    snw_inputs_at(mo->m, t, mo->within);
    SNW_TRY(snw_inputs_check(mo->m, mo->within, t, err));
    if (mo->slips < 0) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL, SNW_SLIPS, mo->m->desc->loop[mo->slips].name, t,
                    fabs(mo->slip));
}

void snw_motion_back(snw_motion *mo) {
    snw_state_copy(mo->m, mo->before, mo->now);
    copy_history(&mo->kept, &mo->past);
    const size_t np = (size_t)snw_npower(mo->m) * sizeof(double);
    memcpy(mo->work, mo->work_kept, np);
    mo->heat = mo->heat_kept;
    mo->scheme = mo->scheme_kept;
    mo->impact = mo->impact_kept;
    for (int i = 0; i < mo->m->nsignal; i++) mo->source[i] = mo->source_kept[i];
    snw_inputs_at(mo->m, mo->now->t, mo->in);
}

double snw_motion_condition(snw_motion *mo) {
    return mo->of_T.known ? snw_matrix_condition(mo->T) : NAN;
}

double snw_motion_error(const snw_motion *mo) {
    return snw_scheme_error_factor(&mo->opts.scheme) * mo->jump;
}

const snw_state *snw_motion_state(const snw_motion *mo) { return mo->now; }
void snw_motion_hold(snw_motion *mo, const snw_hand *hand) {
    mo->in->hand = mo->within->hand = mo->of_T.in->hand = hand;
}
const snw_inputs *snw_motion_inputs(const snw_motion *mo) { return mo->in; }

const snw_work *snw_motion_look(snw_motion *mo) {
    snw_residual(mo->m, mo->in, mo->now, false, mo->w);
    snw_observe(mo->m, mo->in, mo->now, false, mo->w);
    return mo->w;
}

snw_work_done snw_motion_work(const snw_motion *mo) {
    return (snw_work_done){
        .n = snw_npower(mo->m), .work = mo->work, .heat = mo->heat, .scheme = mo->scheme};
}

// ---- saving ----------------------------------------------------------------------------------------

enum { NPIECE = 19, NSINGLE = 19 };

// the present inputs are laws of their time, the matrix follows from where it was made
static void list_pieces(const snw_motion *mo, snw_piece piece[NPIECE]) {
    const size_t nv = (size_t)mo->m->nv, np = (size_t)snw_npower(mo->m);
    snw_motion *own = (snw_motion *)mo;
    const snw_piece list[NPIECE] = {{&mo->now->t, 1},
                                    snw_piece_state(mo->m, mo->now),
                                    {&own->past.h, 1},
                                    {mo->past.v, snw_history_doubles(mo->m->nv)},
                                    {mo->mass, nv},
                                    {mo->work, np},
                                    {&own->heat, 1},
                                    {&own->scheme, 1},
                                    snw_piece_state(mo->m, mo->of_T.at),
                                    {mo->of_T.d, nv},
                                    {&mo->of_T.in->t, 1},
                                    {mo->of_T.in->gravity.e, 3},
                                    {&mo->of_T.in->lead, 1},
                                    snw_piece_inputs(mo->of_T.in),
                                    {mo->source, (size_t)mo->m->nsignal},
                                    snw_piece_state(mo->m, mo->corrected.now),
                                    {&own->corrected.past.h, 1},
                                    {mo->corrected.past.v, snw_history_doubles(mo->m->nv)},
                                    {mo->corrected.jerk, nv}};
    memcpy(piece, list, sizeof list);
}

size_t snw_motion_saves(const snw_model *m) {
    const size_t nv = (size_t)m->nv, state = snw_state_doubles(m);
    return 1 + 3 * state + 2 + 2 * snw_history_doubles(m->nv) + 3 * nv + (size_t)snw_npower(m) + 2 +
           (size_t)m->nsignal + 5 + snw_inputs_doubles(m) + NSINGLE;
}

void snw_motion_save(const snw_motion *mo, double *out) {
    const snw_onset *o = &mo->onset;
    const snw_impact *i = &mo->impact;
    const snw_corrected *c = &mo->corrected;
    const double single[NSINGLE] = {mo->in->t,  mo->of_T.known, mo->of_T.a, mo->of_T.b, mo->shares,
                                    o->longest, o->looked,      o->waits,   i->longest, i->gain,
                                    i->most,    i->since,       i->many,    c->on,      c->h,
                                    c->steps,   c->far,         c->worst,   c->t};
    snw_piece piece[NPIECE];
    list_pieces(mo, piece);
    memcpy(snw_pieces_save(NPIECE, piece, out), single, sizeof single);
}

void snw_motion_load(snw_motion *mo, const double *in) {
    snw_piece piece[NPIECE];
    list_pieces(mo, piece);
    const double *single = snw_pieces_load(NPIECE, piece, in);
    mo->of_T.known = single[1] != 0;
    mo->of_T.a = single[2], mo->of_T.b = single[3];
    mo->shares = single[4] != 0;
    mo->onset = (snw_onset){single[5], single[6], (int)single[7]};
    mo->impact = (snw_impact){single[8], single[9], single[10], single[11], single[12]};
    snw_corrected *c = &mo->corrected;
    c->on = single[13], c->h = single[14], c->steps = single[15];
    c->far = single[16], c->worst = single[17], c->t = single[18];
    c->now->t = mo->now->t;
    mo->soft = false;
    if (mo->of_T.known) {
        mo->w->pace = 1 / mo->of_T.a;
        snw_inputs_copy(mo->of_T.in, mo->in);
        snw_state_copy(mo->m, mo->of_T.at, mo->trial);
        memcpy(mo->d, mo->of_T.d, (size_t)mo->m->nv * sizeof *mo->d);
        snw_residual(mo->m, mo->in, mo->trial, false, mo->w);
        mo->of_T.known = snw_motion_factor(mo, mo->of_T.a, mo->of_T.b) == SNW_OK;
    }
    snw_inputs_at(mo->m, single[0], mo->in);
    snw_state_copy(mo->m, mo->now, mo->before);
    copy_history(&mo->past, &mo->kept);
}
