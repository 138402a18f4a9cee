// SPDX-License-Identifier: MIT
//
// Steps of Gauss and Radau collocation. Within a step, x are the coordinates of its chart about the
// initial configuration: the increment itself for rods and axes, g = g_0 exp(x) for ball and free
// joints. The unknowns are x'' at the s stages, with equations S' r = 0, S the Jacobian of the
// chart. With M_i, D_i, K_i the derivatives of the residual of stage i in x'', x', x, Newton's
// matrix has the blocks
//
//     i j:  delta_ij M_i + h A_ij D_i + h^2 AA_ij K_i
//
// with those of Maxwell branches, which follow. It omits only the derivatives of integrals and
// states in laws. Its factors are reused over steps while the
// iteration converges fast. theory.md (6.8)
#include "integrate/collocation_step_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/relaxation.h"
#include "integrate/checkpoint.h"
#include "integrate/step_path.h"
#include "integrate/step_scale.h"
#include "math/quadrature.h"
#include "math/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    INCREMENTS = 12, // pairs kept by Broyden's method
    SLOW = 9,        // iterations that cost as much as a new matrix
    MEAN = -1,       // degree of a prediction by mean velocities
    UNIFORM = -2     // and of one without accelerations
};

// ---- undo and checkpoint

enum { NKEPT = 11, NBLOCK = NKEPT + 2 + 4 * SNW_STAGES, NSINGLE = 2 };

// The first NKEPT blocks change with every step and can be undone. Inputs follow from their time.
static void collocation_list_blocks(const snw_collocation_step *g,
                                    snw_checkpoint_block block[NBLOCK]) {
    const size_t nv = (size_t)g->m->nv, np = (size_t)snw_npower(g->m);
    snw_collocation_step *own = (snw_collocation_step *)g;
    const snw_checkpoint_block list[] = {
        {&g->now->t, 1},
        snw_checkpoint_state(g->m, g->now),
        {&g->in->t, 1},
        {&own->past_h, 1},
        {&own->degree, 1},
        {g->past, snw_collocation_step_accelerations(g)},
        {g->mean_rate, nv},
        {g->work, np},
        {&own->heat, 1},
        {&own->redundant, 1},
        {&own->scheme, g->k.ends},
        {g->mass, nv},
        {g->chart_jacobian, snw_collocation_step_jacobian_doubles(g->m, g->k.s)}};
    memcpy(block, list, sizeof list);
    block += sizeof list / sizeof list[0];
    memset(block, 0, 4 * SNW_STAGES * sizeof *block);
    for (int i = 0; i < g->k.s; i++) {
        snw_inputs *in = g->J_origin.in[i];
        *block++ = snw_checkpoint_state(g->m, g->J_origin.at[i]);
        *block++ = (snw_checkpoint_block){&in->t, 1};
        *block++ = (snw_checkpoint_block){in->gravity.e, 3};
        *block++ = snw_checkpoint_inputs(in);
    }
}

static size_t undo_doubles(const snw_model *m, const snw_collocation *k) {
    return 6 + k->ends + snw_state_doubles(m) + (size_t)(k->s + 1) * (size_t)m->nv +
           (size_t)snw_npower(m);
}

size_t snw_collocation_step_saves(const snw_model *m, const snw_collocation *points) {
    const int stages = points->s;
    const size_t matrix = snw_state_doubles(m) + 4 + snw_inputs_doubles(m);
    return undo_doubles(m, points) + (size_t)m->nv +
           snw_collocation_step_jacobian_doubles(m, stages) + (size_t)stages * matrix + NSINGLE;
}

static void collocation_save(const void *self, double *out) {
    const snw_collocation_step *g = self;
    const double single[NSINGLE] = {g->J_origin.known, g->J_origin.h};
    snw_checkpoint_block block[NBLOCK];
    collocation_list_blocks(g, block);
    memcpy(snw_checkpoint_save(NBLOCK, block, out), single, sizeof single);
}

static void collocation_keep_undo(snw_collocation_step *g) {
    snw_checkpoint_block block[NBLOCK];
    collocation_list_blocks(g, block);
    (void)snw_checkpoint_save(NKEPT, block, g->kept);
}

static void collocation_undo(void *self) {
    snw_collocation_step *g = self;
    snw_checkpoint_block block[NBLOCK];
    collocation_list_blocks(g, block);
    (void)snw_checkpoint_load(NKEPT, block, g->kept);
    snw_inputs_at(g->m, g->in->t, g->in);
}

// ---- creation

static snw_status create_parts(snw_collocation_step *g) {
    const snw_model *m = g->m;
    if (m->nconstraint > 0 || m->ncondition > 0) {
        SNW_TRY(snw_projection_create(m, &g->projection));
        SNW_TRY(snw_impacts_create(m, g->projection, &g->impacts));
    }
    SNW_TRY(snw_law_jump_create(m, g->projection, &g->law_jump));
    g->redundancy = g->projection ? snw_projection_redundancy(g->projection) : NULL;
    g->row = snw_alloc((size_t)m->nconstraint * sizeof *g->row);
    if (!g->row) return SNW_E_MEMORY;
    for (int i = 0; i < m->nloop; i++) {
        for (int r = 0; r < m->loop[i].nrow; r++) g->row[g->ng++] = m->loop[i].row + r;
    }
    SNW_TRY(snw_inputs_create(m, &g->in));
    SNW_TRY(snw_state_create(m, &g->now));
    SNW_TRY(snw_state_create(m, &g->end));
    for (int i = 0; i < g->k.s; i++) {
        SNW_TRY(snw_inputs_create(m, &g->in_stage[i]));
        SNW_TRY(snw_state_create(m, &g->stage[i]));
        SNW_TRY(snw_inputs_create(m, &g->J_origin.in[i]));
        SNW_TRY(snw_state_create(m, &g->J_origin.at[i]));
        SNW_TRY(snw_work_create(m, &g->w[i]));
    }
    return SNW_OK;
}

static void collocation_place(void *object, snw_fields *f) {
    snw_collocation_step *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv, s = (size_t)o->k.s, np = (size_t)snw_npower(m);
    const size_t ns = snw_collocation_step_accelerations(o), all = snw_collocation_step_unknowns(o);
    const size_t nb = snw_broyden_doubles((int)all, INCREMENTS);
    size_t nstate = 0;
    for (int i = 0; i < m->nsignal; i++) nstate += m->signal[i].kind == SNW_SIGNAL_STATE;
    COLLOCATION_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static snw_status create_memory(snw_collocation_step *g) {
    const snw_model *m = g->m;
    const size_t nv = (size_t)m->nv, all = snw_collocation_step_unknowns(g);
    g->block = snw_fields_create(collocation_place, g);
    if (!g->block) return SNW_E_MEMORY;
    g->equilibration = (snw_equilibration){
        .n = (int)all, .row = g->equilibration_row, .column = g->equilibration_column};
    for (size_t i = 0; i < all; i++) {
        g->typical[i] = i < snw_collocation_step_accelerations(g) ? m->typical[i % nv] : m->length;
    }
    g->constraint_scale = 1;
    g->broyden = snw_broyden_on((int)all, INCREMENTS, g->typical, g->broyden_memory);
    return SNW_OK;
}

static void collocation_destroy(void *self) {
    snw_collocation_step *g = self;
    for (int i = 0; i < SNW_STAGES; i++) {
        snw_inputs_destroy(g->in_stage[i]);
        snw_state_destroy(g->stage[i]);
        snw_inputs_destroy(g->J_origin.in[i]);
        snw_state_destroy(g->J_origin.at[i]);
        snw_work_destroy(g->w[i]);
    }
    snw_law_jump_destroy(g->law_jump);
    snw_impacts_destroy(g->impacts);
    snw_projection_destroy(g->projection);
    snw_inputs_destroy(g->in);
    snw_state_destroy(g->now);
    snw_state_destroy(g->end);
    snw_free(g->block);
    snw_free(g->row);
    snw_free(g);
}

snw_status snw_collocation_step_create(const snw_model *m, const snw_collocation_step_opts *opts,
                                       snw_collocation_step **out) {
    *out = NULL;
    snw_collocation_step *g = snw_alloc(sizeof *g);
    if (!g) return SNW_E_MEMORY;
    g->m = m;
    g->opts = *opts;
    g->k = opts->points;
    if (g->k.ends) {
        double c[SNW_STAGES], b[SNW_STAGES];
        snw_gauss(g->k.s + 1, c, b);
        for (int i = 0; i <= g->k.s; i++)
            g->work_point[i] = (snw_work_point){c[i], b[i], snw_collocation_at(&g->k, c[i])};
    }
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *d = &m->signal[i];
        g->has_integrals |= snw_signal_grows(d);
    }
    if (create_parts(g) != SNW_OK || create_memory(g) != SNW_OK) {
        collocation_destroy(g);
        return SNW_E_MEMORY;
    }
    *out = g;
    return SNW_OK;
}

// ---- start

// Consistent accelerations and multipliers at s under the present inputs, and the residual.
static snw_status collocation_accelerations(snw_collocation_step *g, snw_state *s, snw_error *err) {
    const snw_model *m = g->m;
    snw_work *w = g->w[0];
    if (g->projection) {
        SNW_TRY(snw_projection_accelerations(g->projection, g->in, s, err));
    } else {
        SNW_TRY(snw_accelerations(m, g->in, s, w, g->M, err));
    }
    snw_residual(m, g->in, s, false, w);
    return SNW_OK;
}

// Reports the velocities and accelerations of the present state.
static void collocation_note_restart(const snw_collocation_step *g, const double *before) {
    const snw_step_report report = {
        .event = SNW_WATCH_RESTART, .s = g->now, .t_laws = g->in->t, .before = before};
    if (g->watch.note) g->watch.note(g->watch.user, &report);
}

static void collocation_accept(void *self, double h) {
    const snw_collocation_step *g = self;
    const snw_step_report report = {.event = SNW_WATCH_STAGES,
                                    .s = g->now,
                                    .t_laws = g->in->t,
                                    .h = h,
                                    .points = &g->k,
                                    .q0 = g->kept + 1, // time, then the state
                                    .v0 = g->rate,
                                    .ddx = g->ddx,
                                    .z0 = g->kept + 1 + g->m->nq + 2 * g->m->nv,
                                    .relaxed0 =
                                        g->kept + 1 + g->m->nq + 2 * g->m->nv + g->m->nsignal,
                                    .before = g->ng ? g->free : NULL,
                                    .stage_lambda = g->ng ? g->lambda : NULL,
                                    .stage_dropped = g->stage[0]->dropped,
                                    .lambda_scale = g->constraint_scale,
                                    .integrand = g->integrand};
    if (g->watch.note) g->watch.note(g->watch.user, &report);
    collocation_note_restart(g, g->ng ? g->free : g->now->v);
}

static void collocation_set_watch(void *self, snw_step_watch watch) {
    ((snw_collocation_step *)self)->watch = watch;
}

static snw_status collocation_restart(void *self, const double *z, snw_error *err) {
    snw_collocation_step *g = self;
    const snw_model *m = g->m;
    memcpy(g->v, g->now->v, (size_t)m->nv * sizeof *g->v);
    snw_inputs_at(m, g->now->t + snw_time_resolution(g->now->t), g->in);
    if (g->impacts) {
        snw_impact_energy impact = {0};
        SNW_TRY(snw_impacts_apply(g->impacts, g->in, z, g->now, &impact, err));
        g->work[m->nload + 1] += impact.work;
        g->heat += impact.heat;
    } else if (z) {
        memcpy(g->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    snw_mass_matrix(m, g->in, g->now, g->w[0], g->M);
    for (int i = 0; i < m->nv; i++) g->mass[i] = g->M[(size_t)i * (size_t)(m->nv + 1)];
    SNW_TRY(collocation_accelerations(g, g->now, err));
    g->redundant = g->redundancy && snw_redundancy_found(g->redundancy);
    g->J_origin.known = false;
    g->past_h = 0;
    collocation_keep_undo(g);
    collocation_note_restart(g, g->v);
    return SNW_OK;
}

static snw_status collocation_jump(void *self, const double *z, snw_error *err) {
    snw_collocation_step *g = self;
    double work;
    bool jumped;
    snw_inputs_at(g->m, g->now->t + snw_time_resolution(g->now->t), g->in);
    SNW_TRY(snw_law_jump_apply(g->law_jump, g->in, g->now, &work, &jumped, err));
    g->work[g->m->nload + 1] += work;
    const snw_step_report report = {.event = SNW_WATCH_OTHER, .s = g->now, .t_laws = g->in->t};
    if (jumped && g->watch.note) g->watch.note(g->watch.user, &report);
    return collocation_restart(g, z, err);
}

static snw_status collocation_start(void *self, const snw_state *s, snw_error *err) {
    snw_collocation_step *g = self;
    snw_state_copy(g->m, s, g->now);
    snw_relaxation_fix(g->m, g->now);
    snw_state_clear_inactive(g->m, g->now);
    if (g->projection) {
        snw_projection_info info;
        snw_inputs_at(g->m, s->t + snw_time_resolution(s->t), g->in);
        SNW_TRY(snw_projection_close(g->projection, g->in, g->now, &info, err));
    }
    SNW_TRY(collocation_restart(g, NULL, err));
    for (int i = 0; i < snw_npower(g->m); i++) g->work[i] = 0;
    g->heat = g->scheme = 0;
    return SNW_OK;
}

// ---- stages

// g->x, g->v <- chart coordinates and velocities with the quadrature weights w of the velocities
// and ww of the coordinates, at the fraction c of the step.
static void collocation_integrate(snw_collocation_step *g, double c, const double *w,
                                  const double *ww) {
    const int n = g->m->nv;
    const double h = g->h;
    for (int i = 0; i < n; i++) {
        double dv = 0, d = 0;
        for (int j = 0; j < g->k.s; j++) {
            dv += w[j] * g->ddx[j * n + i];
            d += ww[j] * g->ddx[j * n + i];
        }
        g->v[i] = g->rate[i] + h * dv;
        g->x[i] = h * (c * g->rate[i] + h * d);
    }
}

void snw_collocation_impose(const snw_model *m, const snw_inputs *in, snw_state *s) {
    for (int i = 0; i < m->ndrive; i++) {
        if (!snw_drive_holds(m, s, i)) continue;
        s->q[m->drive[i].q] = snw_drive_target(m, in, s, i);
    }
    snw_constraints_impose(m, in, s);
}

// Residual at the fraction c of the step, with accelerations g->a and quadrature weights A and AA;
// the multipliers of active drives are the efforts they need there, others are given.
static void evaluate_at(snw_collocation_step *g, double c, const double *A, const double *AA,
                        const snw_inputs *in, snw_state *s, snw_work *w) {
    const snw_model *m = g->m;
    const size_t ns = (size_t)m->nsignal;
    collocation_integrate(g, c, A, AA);
    snw_step_path_state(m, g->opts.chart, g->now->q, g->x, g->v, g->a, s);
    for (size_t k = 0; k < ns; k++) {
        s->z[k] = g->now->z[k];
        for (int j = 0; j < g->k.s && g->has_integrals; j++)
            s->z[k] += g->h * A[j] * g->integrand[(size_t)j * ns + k];
    }
    snw_collocation_step_relaxed(g, A, s);
    snw_collocation_impose(m, in, s);
    snw_residual(m, in, s, false, w);
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (!snw_drive_holds(m, s, k)) continue;
        w->lambda[d->row] = s->lambda[d->row] = w->r[d->dof];
        w->r[d->dof] = 0;
    }
}

static void evaluate_stage(snw_collocation_step *g, int i) {
    const size_t nv = (size_t)g->m->nv;
    memcpy(g->a, g->ddx + (size_t)i * nv, nv * sizeof *g->a);
    snw_collocation_step_nonholonomic(g, i, g->stage[i]);
    evaluate_at(g, g->k.c[i], g->k.A[i], g->k.AA[i], g->in_stage[i], g->stage[i], g->w[i]);
}

// Evaluates the integrands at the stages just computed; false if they equal those used before.
static bool collocation_integrands(snw_collocation_step *g) {
    bool changed = false;
    const size_t ns = (size_t)g->m->nsignal;
    for (int i = 0; i < g->k.s; i++) {
        double *own = g->integrand + (size_t)i * ns;
        for (size_t k = 0; k < ns; k++) {
            const snw_signal *d = &g->m->signal[k];
            if (d->kind != SNW_SIGNAL_INTEGRAL || !d->source) continue;
            const double e = snw_expr_value(
                d->source, (snw_at){.t = g->in_stage[i]->t, .signal = g->w[i]->signal});
            changed |= !(e == own[k]) && !(isnan(e) && isnan(own[k]));
            own[k] = e;
        }
    }
    return snw_collocation_step_solve_rates(g) || changed;
}

// Largest residual at the stages relative to `scale`, or violation of a nonholonomic row; NaN is
// kept.
static double collocation_out_of_balance(const snw_collocation_step *g, const double *scale) {
    double largest = 0;
    for (int i = 0; i < g->k.s; i++) {
        for (int k = 0; k < g->m->nv; k++) {
            const double r = fabs(g->w[i]->r[k]) / scale[k];
            largest = snw_larger(largest, r);
        }
        const double slip = snw_collocation_step_slip(g, i);
        largest = snw_larger(largest, slip);
    }
    return largest;
}

// Residuals of all stages, relative to g->scale.
static double collocation_evaluate(void *self) {
    snw_collocation_step *g = self;
    const snw_model *m = g->m;
    if (m->nbranch) snw_collocation_step_branches(g);
    // an integrand reads only integrals declared before it, states only probes and each other, so
    // this terminates
    for (int pass = 0; pass <= m->nsignal + 1; pass++) {
        for (int i = 0; i < g->k.s; i++) evaluate_stage(g, i);
        if (!g->has_integrals || !collocation_integrands(g)) break;
    }
    return collocation_out_of_balance(g, g->scale);
}

// ---- Newton's matrix

static snw_status collocation_renew(void *self) {
    snw_collocation_step *g = self;
    const snw_model *m = g->m;
    g->J_origin.h = g->h;
    for (int i = 0; i < g->k.s; i++) {
        if (m->nlie_block) {
            collocation_integrate(g, g->k.c[i], g->k.A[i], g->k.AA[i]);
            snw_chart_jets(m, g->opts.chart, g->x, g->v, g->ddx + i * m->nv, g->stage[i],
                           g->chart_jacobian + snw_collocation_step_jacobian_doubles(m, i));
        }
        snw_inputs_copy(g->in_stage[i], g->J_origin.in[i]);
        snw_state_copy(m, g->stage[i], g->J_origin.at[i]);
        snw_collocation_step_place(g, i, g->w[i]);
    }
    return snw_collocation_step_factor(g);
}

static void collocation_load(void *self, const double *in) {
    snw_collocation_step *g = self;
    snw_checkpoint_block block[NBLOCK];
    collocation_list_blocks(g, block);
    const double *single = snw_checkpoint_load(NBLOCK, block, in);
    g->J_origin.known = single[0] != 0;
    g->J_origin.h = single[1];
    for (int i = 0; i < g->k.s && g->J_origin.known; i++) {
        g->J_origin.in[i]->integral_step = 0;
        snw_residual(g->m, g->J_origin.in[i], g->J_origin.at[i], false, g->w[i]);
        snw_collocation_step_place(g, i, g->w[i]);
    }
    if (g->J_origin.known) g->J_origin.known = snw_collocation_step_factor(g) == SNW_OK;
    snw_inputs_at(g->m, g->in->t, g->in);
    collocation_keep_undo(g);
}

static double collocation_condition(void *self) {
    snw_collocation_step *g = self;
    if (!g->J_origin.known) return NAN;
    if (isnan(g->condition)) {
        g->condition =
            snw_equilibration_condition(&g->equilibration, g->J, g->pivot, NULL, g->scratch);
    }
    return g->condition;
}

static void collocation_correct(void *self) { snw_collocation_step_correct(self); }

static void collocation_move(void *self, double fraction) {
    snw_collocation_step *g = self;
    const size_t n = snw_collocation_step_accelerations(g);
    for (size_t i = 0; i < n; i++) g->ddx[i] += fraction * g->dx[i];
    for (size_t i = n; i < snw_collocation_step_unknowns(g); i++)
        g->lambda[i - n] += fraction * g->dx[i];
}

// ---- a step

// Largest degree of extrapolation: the number of stages before the end of a step.
static int collocation_last_degree(const snw_collocation_step *g) {
    return g->k.ends ? g->k.s - 1 : g->k.s;
}

// out (nv) <- body accelerations at stage i, extrapolated from the previous step by a polynomial
// through its end and its last `degree` stages before that.
static void collocation_extrapolate(const snw_collocation_step *g, int degree, int i, double *out) {
    const int n = g->m->nv, end = collocation_last_degree(g), first = end - degree;
    double c[SNW_STAGES + 1], basis[SNW_STAGES + 1];
    memcpy(c, g->k.c, sizeof g->k.c);
    c[end] = 1;
    if (degree == UNIFORM) {
        memset(out, 0, (size_t)n * sizeof *out);
        return;
    }
    if (degree == MEAN) { // continue at the mean velocity of the previous step
        for (int k = 0; k < n; k++) out[k] = g->k.turn[i] / g->h * (g->mean_rate[k] - g->rate[k]);
        return;
    }
    const double at = degree > 0 ? 1 + g->k.c[i] * g->h / g->past_h : 1;
    snw_lagrange(degree + 1, c + first, at, basis);
    for (int k = 0; k < n; k++) {
        out[k] = basis[degree] * g->acc[k];
        for (int j = first; j < end; j++) out[k] += basis[j - first] * g->past[j * n + k];
    }
}

// Degree of extrapolation that would have come closest to the step just taken, dx (s nv): high
// where steps resolve the motion, low where they do not.
static int best_degree(snw_collocation_step *g) {
    const int n = g->m->nv;
    double least = INFINITY;
    int best = 0;
    for (int degree = MEAN; degree <= collocation_last_degree(g); degree++) {
        double largest = 0;
        for (int i = 0; i < g->k.s; i++) {
            collocation_extrapolate(g, degree, i, g->x);
            for (int k = 0; k < n; k++) {
                largest = fmax(largest, fabs(g->x[k] - g->dx[i * n + k]) / g->m->typical[k]);
            }
        }
        if (largest < least) best = degree, least = largest;
    }
    return best;
}

// Initial guess of the unknowns.
static void collocation_predict(snw_collocation_step *g, int degree) {
    const snw_model *m = g->m;
    const int n = m->nv, s = g->k.s;
    for (int i = 0; i < s; i++) collocation_extrapolate(g, degree, i, g->ddx + i * n);
    if (m->nlie_block && degree >= 0) { // from body accelerations to those of the chart
        for (int i = 0; i < s; i++) {
            collocation_integrate(g, g->k.c[i], g->k.A[i], g->k.AA[i]);
            snw_step_path_accelerations(m, g->opts.chart, g->x, g->v, g->ddx + i * n,
                                        g->dx + i * n);
        }
        memcpy(g->ddx, g->dx, snw_collocation_step_accelerations(g) * sizeof *g->ddx);
    }
    for (int k = 0; k < m->ndrive; k++) {
        if (!snw_drive_holds(m, g->now, k)) continue;
        for (int i = 0; i < s; i++) g->ddx[i * n + m->drive[k].dof] = g->in_stage[i]->drive[k].dd;
    }
    if (g->ng == 0) return;
    collocation_integrate(g, g->k.c[s / 2], g->k.A[s / 2], g->k.AA[s / 2]);
    memset(g->a, 0, (size_t)n * sizeof *g->a);
    snw_state *at = g->stage[s / 2];
    snw_step_path_state(m, g->opts.chart, g->now->q, g->x, g->v, g->a, at);
    memcpy(at->z, g->now->z, (size_t)m->nsignal * sizeof *at->z);
    memcpy(at->relaxed, g->now->relaxed, (size_t)m->nbranch_coordinate * sizeof *at->relaxed);
    snw_collocation_impose(m, g->in_stage[s / 2], at);
    snw_collocation_step_drop_redundant(g, g->in_stage[s / 2], at);
}

static snw_status collocation_solve(snw_collocation_step *g, snw_chord_info *info) {
    const snw_chord chord = {.user = g,
                             .evaluate = collocation_evaluate,
                             .renew = collocation_renew,
                             .correct = collocation_correct,
                             .move = collocation_move,
                             .dx = g->dx,
                             .broyden = &g->broyden,
                             .known = &g->J_origin.known,
                             .tolerance = g->opts.tolerance,
                             .max_iter = g->opts.max_iter};
    if (fabs(g->J_origin.h - g->h) > 1e-9 * g->h) g->J_origin.known = false;
    collocation_predict(g, g->past_h > 0 ? (int)g->degree : 0);
    snw_status s = snw_chord_solve(&chord, info);
    if (s != SNW_OK) {
        g->J_origin.known = false;
        // a start with accelerations of motions far faster than the step, which a scheme that damps
        // ends at once
        const int start = g->k.ends ? UNIFORM : 0;
        collocation_predict(g, g->past_h > 0 ? MEAN : start);
        s = snw_chord_solve(&chord, info);
    }
    if (s != SNW_OK || info->iterations > SLOW) g->J_origin.known = false;
    return s;
}

// Projects the velocities of s onto the nonholonomic rows. The change of kinetic energy is work of
// drives and other given motion, except for the energy of the velocity jump, which any plastic
// impact loses.
static snw_status collocation_project(snw_collocation_step *g, snw_state *s) {
    const snw_model *m = g->m;
    snw_work *w = g->w[0];
    double energy[3];
    snw_kinematics(m, g->in, s, false, w);
    energy[0] = snw_kinetic_energy(m, w);
    memcpy(g->v, s->v, (size_t)m->nv * sizeof *g->v);
    SNW_TRY(snw_projection_velocities(g->projection, g->in, s, &g->failure));
    for (int pass = 1; pass < 3; pass++) { // after the projection, and halfway
        memcpy(g->x, s->v, (size_t)m->nv * sizeof *g->x);
        for (int i = 0; i < m->nv && pass == 2; i++) s->v[i] = 0.5 * (g->x[i] + g->v[i]);
        snw_kinematics(m, g->in, s, false, w);
        energy[pass] = snw_kinetic_energy(m, w);
    }
    memcpy(s->v, g->x, (size_t)m->nv * sizeof *g->x);
    const double jump = 2 * (energy[0] + energy[1] - 2 * energy[2]);
    g->work[m->nload + 1] += energy[1] - energy[0] + jump;
    return SNW_OK;
}

// g->end <- state at the end of the step just solved.
static snw_status collocation_finish(snw_collocation_step *g, double t_laws) {
    const snw_model *m = g->m;
    snw_state *s = g->end;
    collocation_integrate(g, 1, g->k.b, g->k.bb);
    memset(g->a, 0, (size_t)m->nv * sizeof *g->a);
    memcpy(g->scratch, g->x, (size_t)m->nv * sizeof *g->x);
    snw_step_path_state(m, g->opts.chart, g->now->q, g->x, g->v, g->a, s);
    s->t = g->now->t + g->h;
    for (int k = 0; k < m->nsignal; k++) {
        s->z[k] = g->now->z[k];
        for (int j = 0; j < g->k.s && g->has_integrals; j++)
            s->z[k] += g->h * g->k.b[j] * g->integrand[j * m->nsignal + k];
    }
    snw_collocation_step_relaxed(g, g->k.b, s);
    memcpy(s->lambda, g->now->lambda, (size_t)m->nconstraint * sizeof *s->lambda);
    snw_inputs_at(m, t_laws, g->in);
    snw_collocation_impose(m, g->in, s);
    for (int k = 0; k < m->nnonholonomic; k++) s->dropped[k] = 0;
    g->failure = (snw_error){0};
    if (g->ng) memcpy(g->free, s->v, (size_t)m->nv * sizeof *g->free);
    snw_status status = g->ng ? collocation_project(g, s) : SNW_OK;
    if (status == SNW_OK) status = collocation_accelerations(g, s, &g->failure);
    return status == SNW_OK ? SNW_OK : SNW_E_DIVERGED;
}

// Adds power and heat at a state, times a weight.
static void collocation_add_powers(snw_collocation_step *g, double weight, const snw_inputs *in,
                                   const snw_state *s, const snw_work *w) {
    const snw_model *m = g->m;
    snw_load_power(m, in, s, w, g->power_stage);
    for (int k = 0; k < snw_npower(m); k++) g->work[k] += weight * g->power_stage[k];
    g->heat += weight * (snw_dissipation(m, s->v) + snw_other_heat(m, s, w));
}

// Work, heat and the energy that the scheme removes, which is the work of the residual along the
// polynomial of the step: by Gauss quadrature with s + 1 points, exact for a linear robot, however
// fast it moves. theory.md (6.19). Overwrites g->end and g->in.
static void collocation_account_damped(snw_collocation_step *g) {
    const snw_model *m = g->m;
    snw_state *s = g->end;
    snw_work *w = g->w[0];
    w->velocity_time = 1 / g->h;
    for (int i = 0; i <= g->k.s; i++) {
        const snw_work_point *p = &g->work_point[i];
        const double weight = g->h * p->b;
        memset(s->lambda, 0, (size_t)m->nconstraint * sizeof *s->lambda);
        memset(g->a, 0, (size_t)m->nv * sizeof *g->a);
        for (int j = 0; j < g->k.s; j++) {
            for (int k = 0; k < m->nv; k++) g->a[k] += p->of.l[j] * g->ddx[j * m->nv + k];
            for (int k = 0; k < g->ng; k++)
                s->lambda[g->row[k]] += g->constraint_scale * p->of.l[j] * g->lambda[j * g->ng + k];
        }
        snw_inputs_at(m, g->now->t + p->c * g->h, g->in);
        evaluate_at(g, p->c, p->of.A, p->of.AA, g->in, s, w);
        collocation_add_powers(g, weight, g->in, s, w);
        for (int k = 0; k < m->nv; k++) g->scheme -= weight * w->r[k] * s->v[k];
        if (m->nbranch) snw_collocation_step_add_heat(g, weight, p->of.l, s);
    }
}

// Work and heat of the step: sums over the stages.
static void collocation_account(snw_collocation_step *g) {
    for (int i = 0; i < g->k.s; i++) {
        double own[SNW_STAGES] = {0};
        own[i] = 1;
        collocation_add_powers(g, g->h * g->k.b[i], g->in_stage[i], g->stage[i], g->w[i]);
        if (g->m->nbranch) snw_collocation_step_add_heat(g, g->h * g->k.b[i], own, g->stage[i]);
    }
}

// Largest difference between the acceleration at the start and that of the polynomial there,
// relative to typical values.
static double collocation_defect(const snw_collocation_step *g) {
    const int n = g->m->nv;
    double basis[SNW_STAGES], largest = 0;
    snw_lagrange(g->k.s, g->k.c, 0, basis);
    for (int k = 0; k < n; k++) {
        double a = g->acc[k];
        for (int j = 0; j < g->k.s; j++) a -= basis[j] * g->ddx[j * n + k];
        largest = fmax(largest, fabs(a) / g->m->typical[k]);
    }
    return largest;
}

// g->force <- typical forces as in implicit.c; g->scale <- the same, or less where the step's own
// error is smaller, down to rounding. theory.md (6.13)
static void collocation_set_scale(snw_collocation_step *g) {
    static const double fraction = 0.01, rounding = 64 * DBL_EPSILON;
    const snw_model *m = g->m;
    const double fastest = g->h * snw_fastest_rate(m, g->now);
    const double error = fraction * pow(fastest, g->k.order + 2);
    for (int i = 0; i < m->nv; i++) {
        const double inertia = g->mass[i] * m->typical[i] / (g->h * g->h);
        g->scale[i] = g->force[i] = m->scale[i] + 4e-3 * inertia;
        if (!g->opts.tighten) continue;
        const double least = rounding * (m->scale[i] + fastest * fastest * inertia);
        g->scale[i] = fmin(g->scale[i], fmax(error * inertia, least) / g->opts.tolerance);
    }
}

static snw_status collocation_step(void *self, double h, double t_laws, snw_chord_info *info) {
    snw_collocation_step *g = self;
    const snw_model *m = g->m;
    *info = (snw_chord_info){0};
    g->h = h;
    collocation_set_scale(g);
    for (int i = 0; i < g->k.s; i++) {
        const bool last = g->k.ends && i == g->k.s - 1;
        snw_inputs_at(m, last ? t_laws : g->now->t + g->k.c[i] * h, g->in_stage[i]);
    }
    snw_chart_from_state(m, g->opts.chart, g->now, g->rate, g->acc);
    if (g->has_integrals) snw_collocation_step_forget_rates(g);
    snw_status s = collocation_solve(g, info);
    if (s == SNW_OK) info->residual = collocation_out_of_balance(g, g->force);
    collocation_keep_undo(g);
    if (s == SNW_OK) { // before collocation_finish, which overwrites the first stage
        if (g->k.ends) {
            collocation_account_damped(g);
        } else {
            collocation_account(g);
        }
        s = collocation_finish(g, t_laws);
    }
    if (s != SNW_OK) {
        collocation_undo(g);
        return s;
    }
    g->defect = h * h * g->k.within * collocation_defect(g);
    for (int i = 0; i < g->k.s; i++) {
        snw_chart_from_state(m, g->opts.chart, g->stage[i], g->v, g->dx + i * m->nv);
    }
    g->degree = g->past_h > 0 ? best_degree(g) : 0;
    memcpy(g->past, g->dx, snw_collocation_step_accelerations(g) * sizeof *g->past);
    for (int i = 0; i < m->nv; i++) g->mean_rate[i] = g->scratch[i] / h;
    g->past_h = h;
    snw_state_copy(m, g->end, g->now);
    return SNW_OK;
}

// ---- queries

static double collocation_error(const void *self) {
    return ((const snw_collocation_step *)self)->defect;
}
static const snw_state *collocation_state(const void *self) {
    return ((const snw_collocation_step *)self)->now;
}
static const snw_inputs *collocation_inputs(const void *self) {
    return ((const snw_collocation_step *)self)->in;
}

static const snw_work *collocation_work_at(void *self) {
    snw_collocation_step *g = self;
    snw_residual(g->m, g->in, g->now, false, g->w[0]);
    snw_observe(g->m, g->in, g->now, false, g->w[0]);
    return g->w[0];
}

static void collocation_set_manual(void *self, const snw_manual_inputs *manual) {
    snw_collocation_step *g = self;
    g->in->manual = manual;
    for (int i = 0; i < g->k.s; i++) g->in_stage[i]->manual = g->J_origin.in[i]->manual = manual;
}

static void collocation_use(void *self, const snw_model *m) {
    snw_collocation_step *g = self;
    g->m = m;
    if (g->projection) snw_projection_use(g->projection, m);
    if (g->impacts) snw_impacts_use(g->impacts, m);
    snw_law_jump_use(g->law_jump, m);
}

static snw_work_done collocation_work(const void *self) {
    const snw_collocation_step *g = self;
    return (snw_work_done){
        .n = snw_npower(g->m), .work = g->work, .heat = g->heat, .scheme = g->scheme};
}

static snw_status collocation_check(void *self, double t, snw_error *err) {
    snw_collocation_step *g = self;
    snw_inputs_at(g->m, t, g->in_stage[0]);
    SNW_TRY(snw_inputs_check(g->m, g->in_stage[0], t, err));
    if (g->failure.status == SNW_E_MODEL) *err = g->failure;
    return g->failure.status == SNW_E_MODEL ? SNW_E_MODEL : SNW_OK;
}

const snw_stepper snw_collocation_stepper = {
    .start = collocation_start,
    .step = collocation_step,
    .undo = collocation_undo,
    .accept = collocation_accept,
    .set_watch = collocation_set_watch,
    .restart = collocation_jump,
    .error = collocation_error,
    .check = collocation_check,
    .state = collocation_state,
    .inputs = collocation_inputs,
    .work_at = collocation_work_at,
    .set_manual = collocation_set_manual,
    .use = collocation_use,
    .condition = collocation_condition,
    .work = collocation_work,
    .save = collocation_save,
    .load = collocation_load,
    .destroy = collocation_destroy,
    .advice = "'adapt: on', a smaller step, a scheme with damping (generalized-alpha), or more "
              "nodes"};
