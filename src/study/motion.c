// SPDX-License-Identifier: MIT
#include "study/motion.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"
#include "study/memory.h"
#include "study/pieces.h"

#include <math.h>
#include <string.h>

struct snw_motion {
    const snw_model *m;
    snw_motion_opts opts;
    snw_work *w;
    snw_inputs *in;
    snw_state *now, *trial, *before; // committed, of the solver, before the last step
    snw_history past, kept;          // of the scheme, and before the last step
    double *memory;                  // everything below
    double *d, *f, *g, *rate, *acc, *dx, *mass, *scale;
    double *power, *work, *power_kept, *work_kept;
    double heat_power, heat, heat_power_kept, heat_kept;
    double *source, *source_kept; // nsignal: what integrals go on with
    double *columns;              // of the chart
    double *T;                    // Newton matrix and factors
    int *pivot;
    double jump; // change of acceleration in the last step, times h^2, relative
};

snw_motion_opts snw_motion_defaults(void) {
    return (snw_motion_opts){.scheme = snw_scheme_make(SNW_SCHEME_GENERALIZED_ALPHA, 0.9, 0),
                             .chart = SNW_CHART_SE3,
                             .tolerance = 1e-10,
                             .max_iter = 30};
}

static int npower(const snw_model *m) { return m->desc->nload + 2; }

snw_status snw_motion_create(const snw_model *m, const snw_motion_opts *opts, snw_motion **out) {
    *out = NULL;
    snw_motion *mo = snw_alloc(sizeof *mo);
    if (!mo) return SNW_E_MEMORY;
    mo->m = m;
    mo->opts = *opts;
    const size_t nv = (size_t)m->nv, np = (size_t)npower(m), nh = snw_history_doubles(m->nv);
    const size_t ns = (size_t)m->nsignal;
    mo->memory = snw_alloc(
        (8 * nv + 4 * np + 2 * nh + 2 * ns + 108 * (size_t)m->ncurved + nv * nv) * sizeof(double));
    mo->pivot = snw_alloc(nv * sizeof *mo->pivot);
    if (!mo->memory || !mo->pivot || snw_work_create(m, &mo->w) != SNW_OK ||
        snw_inputs_create(m, &mo->in) != SNW_OK || snw_state_create(m, &mo->now) != SNW_OK ||
        snw_state_create(m, &mo->trial) != SNW_OK || snw_state_create(m, &mo->before) != SNW_OK) {
        snw_motion_destroy(mo);
        return SNW_E_MEMORY;
    }
    double *at = mo->memory;
    double **const vectors[] = {&mo->d,   &mo->f,  &mo->g,    &mo->rate,
                                &mo->acc, &mo->dx, &mo->mass, &mo->scale};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) *vectors[i] = at, at += nv;
    double **const powers[] = {&mo->power, &mo->work, &mo->power_kept, &mo->work_kept};
    for (size_t i = 0; i < 4; i++) *powers[i] = at, at += np;
    mo->past = snw_history_on(m->nv, at);
    mo->kept = snw_history_on(m->nv, at + nh);
    mo->source = at + 2 * nh;
    mo->source_kept = mo->source + ns;
    mo->columns = mo->source_kept + ns;
    mo->T = mo->columns + 108 * (size_t)m->ncurved;
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
    snw_free(mo->pivot);
    snw_free(mo->memory);
    snw_free(mo);
}

snw_status snw_accelerations(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w,
                             double *M, snw_error *err) {
    snw_mass_matrix(m, in, s, w, M);
    if (snw_cholesky_factor(m->nv, M) != SNW_OK) {
        return snw_fail(err, SNW_E_SINGULAR,
                        "the mass matrix is singular: a coordinate moves no mass, or two move the "
                        "same; give the rod density and rotary inertia, or allow fewer strains");
    }
    // M a = - (forces needed without acceleration)
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    snw_residual(m, in, s, false, w);
    for (int i = 0; i < m->nv; i++) s->a[i] = -w->r[i];
    snw_cholesky_solve(m->nv, M, s->a);
    for (int i = 0; i < m->nv; i++) {
        if (isfinite(s->a[i])) continue;
        return snw_fail(
            err, SNW_E_DIVERGED,
            "the accelerations at t = %g s are not finite: a load, gravity or a pose has no value "
            "there, or the motion has run away",
            in->t);
    }
    return SNW_OK;
}

static void copy_history(const snw_history *from, snw_history *to) {
    memcpy(to->v, from->v, snw_history_doubles(from->n) * sizeof(double));
    to->h = from->h;
}

static void measure_power(snw_motion *mo, const snw_state *s) {
    snw_load_power(mo->m, mo->in, s, mo->w, mo->power);
    mo->heat_power = snw_dissipation(mo->m, s->v);
}

snw_status snw_motion_restart(snw_motion *mo, snw_error *err) {
    const snw_model *m = mo->m;
    snw_inputs_at(m, mo->now->t, mo->in);
    snw_mass_matrix(m, mo->in, mo->now, mo->w, mo->T);
    for (int i = 0; i < m->nv; i++) mo->mass[i] = mo->T[(size_t)i * (size_t)(m->nv + 1)];
    SNW_TRY(snw_accelerations(m, mo->in, mo->now, mo->w, mo->T, err));
    snw_chart_from_state(m, mo->opts.chart, mo->now, mo->rate, mo->acc);
    snw_scheme_start(&mo->opts.scheme, mo->rate, mo->acc, mo->opts.rest, &mo->past);
    snw_residual(m, mo->in, mo->now, false, mo->w);
    snw_memory_settle(m, mo->in, mo->now, mo->w, mo->source);
    measure_power(mo, mo->now);
    snw_state_copy(m, mo->now, mo->before);
    copy_history(&mo->past, &mo->kept);
    return SNW_OK;
}

snw_status snw_motion_start(snw_motion *mo, const snw_state *s, snw_error *err) {
    snw_state_copy(mo->m, s, mo->now);
    for (int i = 0; i < npower(mo->m); i++) mo->work[i] = 0;
    mo->heat = 0;
    return snw_motion_restart(mo, err);
}

// ---- a step ----------------------------------------------------------------------------------------

// residual at the increment d; the largest in typical forces, NaN kept
static double evaluate(snw_motion *mo, double a, double b) {
    const snw_model *m = mo->m;
    for (int i = 0; i < m->nv; i++) {
        mo->rate[i] = a * mo->d[i] + mo->f[i];
        mo->acc[i] = b * mo->d[i] + mo->g[i];
    }
    snw_chart_to_state(m, mo->opts.chart, mo->now->q, mo->d, mo->rate, mo->acc, mo->trial);
    snw_residual(m, mo->in, mo->trial, false, mo->w);
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        const double r = fabs(mo->w->r[i]) / mo->scale[i];
        if (!(r <= largest)) largest = r;
    }
    return largest;
}

static snw_status factor(snw_motion *mo, double a, double b) {
    const snw_model *m = mo->m;
    if (m->ncurved) snw_chart_columns(m, mo->opts.chart, mo->d, a, b, mo->trial, mo->columns);
    snw_tangent_sweep(m, m->ncurved ? mo->columns : NULL, mo->w);
    snw_tangent_assemble(m, mo->in, 1, a, b, mo->w, mo->T);
    return snw_lu_factor(m->nv, mo->T, mo->pivot);
}

// the residual as the rows of the Newton matrix have it: those of balls and free joints go along the columns of
// the chart
static void project(const snw_motion *mo, double *x) {
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
}

// Newton on d with one factorised matrix as long as it serves; a new one when the residual does not fall to a
// tenth, halved increments when it does not fall at all
static snw_status solve(snw_motion *mo, double a, double b, snw_motion_info *info) {
    const int n = mo->m->nv;
    double norm = evaluate(mo, a, b);
    bool fresh = false, factored = false;
    while (!(norm <= mo->opts.tolerance)) {
        info->residual = norm; // also of a solve that fails
        if (info->iterations++ == mo->opts.max_iter) return SNW_E_DIVERGED;
        if (!factored) {
            if (!isfinite(norm) || factor(mo, a, b) != SNW_OK) return SNW_E_DIVERGED;
            info->tangents++;
            fresh = factored = true;
        }
        project(mo, mo->dx);
        snw_lu_solve(n, mo->T, mo->pivot, mo->dx);
        double step = 1, was = norm;
        for (int i = 0; i < n; i++) mo->d[i] -= mo->dx[i];
        norm = evaluate(mo, a, b);
        while (!(norm < was) && step > 1e-3) {
            if (!fresh) break;
            // at the level of rounding nothing falls any more
            if (was <= 1e3 * mo->opts.tolerance) {
                for (int i = 0; i < n; i++) mo->d[i] += step * mo->dx[i];
                norm = evaluate(mo, a, b);
                info->residual = norm;
                return SNW_OK;
            }
            for (int i = 0; i < n; i++) mo->d[i] += 0.5 * step * mo->dx[i];
            step *= 0.5;
            norm = evaluate(mo, a, b);
        }
        if (!(norm < was)) {
            if (fresh) return SNW_E_DIVERGED;
            for (int i = 0; i < n; i++) mo->d[i] += mo->dx[i];
            norm = evaluate(mo, a, b);
            factored = false;
            continue;
        }
        fresh = false;
        if (norm > 0.1 * was) factored = false;
    }
    info->residual = norm;
    return SNW_OK;
}

// typical forces: elastic, and a thousandth of what the mass resists to a typical change within the step
static void set_scale(snw_motion *mo, double b) {
    const snw_model *m = mo->m;
    for (int i = 0; i < m->nv; i++)
        mo->scale[i] = m->scale[i] + 1e-3 * b * mo->mass[i] * m->typical[i];
}

snw_status snw_motion_step(snw_motion *mo, double h, double t_laws, snw_motion_info *info) {
    const snw_model *m = mo->m;
    const snw_history *p = &mo->past;
    *info = (snw_motion_info){0};
    double a, b;
    snw_scheme_begin(&mo->opts.scheme, p, h, &a, &b, mo->f, mo->g);
    set_scale(mo, b);
    snw_inputs_at(m, t_laws, mo->in);
    snw_memory_lead(m, h, mo->now, mo->source, mo->trial, mo->in);
    for (int i = 0; i < m->nv; i++) mo->d[i] = h * (p->v[i] + 0.5 * h * p->a[i]);
    snw_status s = solve(mo, a, b, info);
    if (s != SNW_OK) { // once more, from where the last step would go with no new acceleration
        for (int i = 0; i < m->nv; i++) mo->d[i] = -mo->g[i] / b;
        s = solve(mo, a, b, info);
    }
    if (s != SNW_OK) {
        snw_inputs_at(m, mo->now->t, mo->in);
        return s;
    }
    // commit
    snw_state_copy(m, mo->now, mo->before);
    copy_history(&mo->past, &mo->kept);
    const size_t np = (size_t)npower(m) * sizeof(double);
    memcpy(mo->power_kept, mo->power, np);
    memcpy(mo->work_kept, mo->work, np);
    mo->heat_kept = mo->heat;
    mo->heat_power_kept = mo->heat_power;
    mo->jump = 0;
    for (int i = 0; i < m->nv; i++) {
        mo->jump = fmax(mo->jump, h * h * fabs(mo->acc[i] - p->a[i]) / m->typical[i]);
    }
    snw_scheme_end(&mo->opts.scheme, h, mo->d, mo->rate, mo->acc, &mo->past);
    mo->trial->t = mo->now->t + h;
    for (int i = 0; i < m->nsignal; i++) mo->source_kept[i] = mo->source[i];
    snw_memory_settle(m, mo->in, mo->trial, mo->w, mo->source);
    snw_state_copy(m, mo->trial, mo->now);
    measure_power(mo, mo->now);
    for (int i = 0; i < npower(m); i++) mo->work[i] += 0.5 * h * (mo->power_kept[i] + mo->power[i]);
    // by the mean rate d/h: the trapezoidal rule would count a boundary layer many times over
    for (int i = 0; i < m->nv; i++) mo->dx[i] = mo->d[i] / h;
    mo->heat += h * snw_dissipation(m, mo->dx);
    return SNW_OK;
}

void snw_motion_back(snw_motion *mo) {
    snw_state_copy(mo->m, mo->before, mo->now);
    copy_history(&mo->kept, &mo->past);
    const size_t np = (size_t)npower(mo->m) * sizeof(double);
    memcpy(mo->power, mo->power_kept, np);
    memcpy(mo->work, mo->work_kept, np);
    mo->heat = mo->heat_kept;
    mo->heat_power = mo->heat_power_kept;
    for (int i = 0; i < mo->m->nsignal; i++) mo->source[i] = mo->source_kept[i];
    snw_inputs_at(mo->m, mo->now->t, mo->in);
}

double snw_motion_error(const snw_motion *mo) {
    return snw_scheme_error_factor(&mo->opts.scheme) * mo->jump;
}

const snw_state *snw_motion_state(const snw_motion *mo) { return mo->now; }
void snw_motion_hold(snw_motion *mo, const snw_hand *hand) { mo->in->hand = hand; }
double *snw_motion_memory(snw_motion *mo) { return mo->now->z; }
const snw_inputs *snw_motion_inputs(const snw_motion *mo) { return mo->in; }

const snw_work *snw_motion_look(snw_motion *mo) {
    snw_residual(mo->m, mo->in, mo->now, false, mo->w);
    snw_observe(mo->m, mo->in, mo->now, false, mo->w);
    return mo->w;
}

snw_work_done snw_motion_work(const snw_motion *mo) {
    return (snw_work_done){.n = npower(mo->m),
                           .power = mo->power,
                           .work = mo->work,
                           .heat_power = mo->heat_power,
                           .heat = mo->heat};
}

// ---- saving ----------------------------------------------------------------------------------------

enum { NPIECE = 10 };

// the inputs are laws of their time
static void list_pieces(const snw_motion *mo, snw_piece piece[NPIECE]) {
    const size_t nv = (size_t)mo->m->nv, np = (size_t)npower(mo->m);
    snw_motion *own = (snw_motion *)mo;
    const snw_piece list[NPIECE] = {{&mo->now->t, 1},  snw_piece_state(mo->m, mo->now),
                                    {&own->past.h, 1}, {mo->past.v, snw_history_doubles(mo->m->nv)},
                                    {mo->mass, nv},    {mo->power, np},
                                    {mo->work, np},    {&own->heat_power, 1},
                                    {&own->heat, 1},   {mo->source, (size_t)mo->m->nsignal}};
    memcpy(piece, list, sizeof list);
}

size_t snw_motion_saves(const snw_model *m) {
    const size_t nv = (size_t)m->nv, state = 1 + snw_state_doubles(m);
    return state + 1 + snw_history_doubles(m->nv) + nv + 2 * (size_t)npower(m) + 2 +
           (size_t)m->nsignal + 1;
}

void snw_motion_save(const snw_motion *mo, double *out) {
    snw_piece piece[NPIECE];
    list_pieces(mo, piece);
    *snw_pieces_save(NPIECE, piece, out) = mo->in->t;
}

void snw_motion_load(snw_motion *mo, const double *in) {
    snw_piece piece[NPIECE];
    list_pieces(mo, piece);
    snw_inputs_at(mo->m, *snw_pieces_load(NPIECE, piece, in), mo->in);
    snw_state_copy(mo->m, mo->now, mo->before);
    copy_history(&mo->past, &mo->kept);
}
