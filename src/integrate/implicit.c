// SPDX-License-Identifier: MIT
//
// One step of the implicit schemes: predicts the increment d of the configuration, solves the
// residual for d and the Lagrange multipliers by chord Newton iterations with Broyden updates, and
// commits the result. theory.md 6.1
#include "integrate/implicit_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/impact.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/relaxation.h"
#include "dynamics/tube_slide.h"
#include "integrate/checkpoint.h"
#include "integrate/law_integrals.h"
#include "integrate/step_control.h"
#include "integrate/step_scale.h"
#include "math/vector.h"
#include "solve/chord.h"
#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { INCREMENTS = 12 }; // pairs kept by Broyden's method

static const double RESOLVED_LOSS = 0.1; // theory.md (6.17)

snw_scheme snw_implicit_scheme(snw_scheme_kind kind, double rho, double alpha) {
    const snw_scheme_info *row = &snw_scheme_table[kind];
    if (row->family == SNW_FAMILY_LEVELS)
        return snw_scheme_of_levels(snw_scheme_levels(kind, alpha));
    double am, af;
    row->weights(snw_scheme_rho(kind, rho), &am, &af);
    snw_scheme s = snw_scheme_of_weights(am, af);
    s.loss_known = row->loss_known;
    return s;
}

snw_implicit_opts snw_implicit_defaults(void) {
    return (snw_implicit_opts){.scheme = snw_implicit_scheme(SNW_SCHEME_GENERALIZED_ALPHA, 0.9, 0),
                               .chart = SNW_CHART_SE3,
                               .tolerance = 1e-10,
                               .max_iter = 30,
                               .length_part = 1,
                               .torque = 1};
}

static void implicit_place(void *object, snw_fields *f) {
    snw_implicit *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv, n = nv + (size_t)m->nconstraint, np = (size_t)snw_npower(m);
    const size_t ns = (size_t)m->nsignal, nh = snw_history_doubles(m->nv);
    const size_t nb = snw_broyden_doubles((int)n, INCREMENTS);
    IMPLICIT_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_implicit_create(const snw_model *m, const snw_implicit_opts *opts,
                               snw_implicit **out) {
    *out = NULL;
    snw_implicit *im = snw_alloc(sizeof *im);
    if (!im) return SNW_E_MEMORY;
    im->m = m;
    im->opts = *opts;
    im->block = snw_fields_create(implicit_place, im);
    const bool assembled = (m->nconstraint == 0 && m->ncondition == 0) ||
                           (snw_projection_create(m, &im->projection) == SNW_OK &&
                            snw_impacts_create(m, im->projection, &im->impacts) == SNW_OK);
    const bool jumps = snw_law_jump_create(m, im->projection, &im->law_jump) == SNW_OK;
    if (!assembled || !jumps || !im->block ||
        snw_bordered_matrix_create(m, opts->algebra, &im->T) != SNW_OK ||
        snw_work_create(m, &im->w) != SNW_OK || snw_inputs_create(m, &im->in) != SNW_OK ||
        snw_state_create(m, &im->now) != SNW_OK || snw_state_create(m, &im->trial) != SNW_OK ||
        snw_state_create(m, &im->before) != SNW_OK ||
        snw_state_create(m, &im->corrected.now) != SNW_OK ||
        snw_state_create(m, &im->scratch_state) != SNW_OK ||
        snw_inputs_create(m, &im->T_origin.in) != SNW_OK ||
        snw_state_create(m, &im->T_origin.at) != SNW_OK ||
        snw_inputs_create(m, &im->within) != SNW_OK) {
        snw_implicit_destroy(im);
        return SNW_E_MEMORY;
    }
    im->slipping = -1;
    const double rho =
        opts->scheme.af / (1 - opts->scheme.af); // spectral radius of generalized-alpha
    im->loss_limit = RESOLVED_LOSS + 1 - rho * rho;
    im->undamped = snw_scheme_overshoot(&opts->scheme) == 0 && opts->scheme.order == 2;
    for (int i = 0; i < m->nloop; i++)
        im->has_closures |= m->loop[i].nrow > 0 && !m->loop[i].nonholonomic;
    im->redundancy = im->projection ? snw_projection_redundancy(im->projection) : NULL;
    if (im->redundancy) snw_redundancy_weigh(im->redundancy, opts->torque);
    im->past = snw_history_on(m->nv, im->past_memory);
    im->past_kept = snw_history_on(m->nv, im->past_kept_memory);
    im->corrected.past = snw_history_on(m->nv, im->corrected_past_memory);
    const int n = m->nv + m->nconstraint;
    im->broyden = snw_broyden_on(n, INCREMENTS, im->typical, im->broyden_memory);
    im->corrected.broyden =
        snw_broyden_on(n, INCREMENTS, im->typical, im->corrected_broyden_memory);
    for (int i = 0; i < n; i++) im->typical[i] = i < m->nv ? m->typical[i] : 1;
    *out = im;
    return SNW_OK;
}

void snw_implicit_use(snw_implicit *im, const snw_model *m) {
    im->m = m;
    snw_elimination_use(im->T->local, m);
    if (im->projection) snw_projection_use(im->projection, m);
    if (im->impacts) snw_impacts_use(im->impacts, m);
    snw_law_jump_use(im->law_jump, m);
}

void snw_implicit_destroy(snw_implicit *im) {
    if (!im) return;
    snw_work_destroy(im->w);
    snw_inputs_destroy(im->in);
    snw_state_destroy(im->now);
    snw_state_destroy(im->trial);
    snw_state_destroy(im->before);
    snw_state_destroy(im->corrected.now);
    snw_state_destroy(im->scratch_state);
    snw_state_destroy(im->T_origin.at);
    snw_inputs_destroy(im->T_origin.in);
    snw_inputs_destroy(im->within);
    snw_law_jump_destroy(im->law_jump);
    snw_impacts_destroy(im->impacts);
    snw_projection_destroy(im->projection);
    snw_bordered_matrix_destroy(im->T);
    snw_free(im->block);
    snw_free(im);
}

snw_status snw_inputs_check(const snw_model *m, const snw_inputs *in, double t, snw_error *err) {
    for (int i = 0; i < m->nload_point; i++) {
        if (snw_vector_is_finite(6, in->load[i].e)) continue;
        return snw_fail(err, SNW_E_DIVERGED, "load '%s' has no finite value at t = %.9g s",
                        m->label.load[m->load_point[i].load].name, t);
    }
    if (!snw_vector_is_finite(m->nv, in->stress)) {
        return snw_fail(err, SNW_E_DIVERGED, "an active stress has no finite value at t = %.9g s",
                        t);
    }
    if (!snw_vector_is_finite(3, in->gravity.e)) {
        return snw_fail(err, SNW_E_DIVERGED, "gravity has no finite value at t = %.9g s", t);
    }
    for (int i = 0; i < m->npose; i++) {
        if (snw_vector_is_finite(3, in->pose[i].p.e) &&
            snw_vector_is_finite(9, &in->pose[i].R.e[0][0]) &&
            snw_vector_is_finite(6, in->pose_u[i].e) && snw_vector_is_finite(6, in->pose_du[i].e)) {
            continue;
        }
        return snw_fail(err, SNW_E_DIVERGED,
                        "a moving pose has no finite value or rate at t = %.9g s", t);
    }
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_vector_is_finite(3, &in->drive[i].v)) continue;
        return snw_fail(err, SNW_E_DIVERGED,
                        "actuator '%s' has no finite value or rate at t = %.9g s",
                        snw_drive_name(m, i), t);
    }
    for (int i = 0; m->nfeed && i < m->ndrive; i++) {
        for (int r = 0; r < m->nrod; r++) {
            const snw_rod *rod = &m->rod[r];
            if (rod->feed != m->drive[i].dof || m->drive[i].passive || m->drive[i].captured >= 0)
                continue;
            if (in->drive[i].v > 1e-9 * rod->L) continue;
            return snw_fail(err, SNW_E_DIVERGED, "actuator '%s' draws rod '%s' in completely",
                            snw_drive_name(m, i), m->label.link[rod->link].name);
        }
    }
    SNW_TRY(snw_tendons_check(m, in, t, err));
    SNW_TRY(snw_tubes_check(m, in, t, err));
    for (int i = 0; i < m->nfluid; i++) {
        if (snw_vector_is_finite(3, in->current[i].e) &&
            snw_vector_is_finite(3, in->current_rate[i].e))
            continue;
        return snw_fail(err, SNW_E_DIVERGED,
                        "the current of fluid '%s' has no finite value or rate at t = %.9g s",
                        m->label.fluid[i].name, t);
    }
    for (int i = 0; i < m->nfield; i++) {
        if (snw_vector_is_finite(6, in->xi[i].e) && snw_vector_is_finite(6, in->dxi[i].e) &&
            snw_vector_is_finite(6, in->ddxi[i].e))
            continue;
        return snw_fail(err, SNW_E_DIVERGED,
                        "a strain of rod '%s' has no finite value or rate at t = %.9g s",
                        m->label.link[m->rod[m->field[i].rod].link].name, t);
    }
    return SNW_OK;
}

// First coordinate without a pivot of its own in the Cholesky factorisation of the mass matrix M.
static int massless_coordinate(int n, double *M) {
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

static snw_status fail_massless(const snw_model *m, int block, snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR,
                    "the mass matrix is singular: a coordinate of '%s' moves no mass here, or "
                    "depends linearly on those before it; give the rod density and rotary inertia "
                    "or more nodes, allow fewer strains, give the link behind a joint a body",
                    snw_block_link(m, block));
}

static snw_status implicit_massless(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                    snw_work *w, double *M, snw_error *err) {
    snw_mass_matrix(m, in, s, w, M);
    const int i = massless_coordinate(m->nv, M);
    int k = 0;
    while (i >= m->block[k].dof + m->block[k].n) k++;
    return fail_massless(m, k, err);
}

// Is the motion that the accelerations of s lead to finite?
static snw_status check_accelerations(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                      const snw_work *w, snw_error *err) {
    if (snw_vector_is_finite(m->nv, s->a)) return SNW_OK;
    SNW_TRY(snw_inputs_check(m, in, in->t, err));
    char why[300];
    snw_law_fault_describe(m, &w->law_fault, why, sizeof why);
    return snw_fail(err, SNW_E_DIVERGED, "the motion has diverged at t = %.9g s%s%s", in->t,
                    why[0] ? ": " : "", why);
}

// s->a <- -r(q, v, 0)
static void unbalanced_forces(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w) {
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    w->law_fault = (snw_law_fault){0};
    snw_residual(m, in, s, false, w);
    for (int i = 0; i < m->nv; i++) s->a[i] = -w->r[i];
}

snw_status snw_accelerations(const snw_model *m, const snw_inputs *in, snw_state *s, snw_work *w,
                             double *M, snw_error *err) {
    // M a = -r(q, v, 0)
    if (m->articulated) {
        unbalanced_forces(m, in, s, w);
        const int massless = snw_articulated_solve(m, w, s->a);
        if (massless >= 0) return fail_massless(m, massless, err);
    } else {
        snw_mass_matrix(m, in, s, w, M);
        if (snw_cholesky_factor(m->nv, M) != SNW_OK) return implicit_massless(m, in, s, w, M, err);
        unbalanced_forces(m, in, s, w);
        snw_cholesky_solve(m->nv, M, s->a);
    }
    return check_accelerations(m, in, s, w, err);
}

static snw_status fail_massless_somewhere(snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR,
                    "the mass matrix is singular: give rods density and rotary inertia or more "
                    "nodes, allow fewer strains, give the link behind a joint a body");
}

// The same for a local model without constraint rows, by elimination, at im->w of the mass matrix.
static snw_status local_accelerations(snw_implicit *im, snw_error *err) {
    const snw_model *m = im->m;
    const snw_tangent_at mass = {.in = im->in, .ca = 1};
    snw_state *s = im->now;
    if (snw_bordered_matrix_eliminate(im->T, &mass, im->w) != SNW_OK)
        return fail_massless_somewhere(err);
    unbalanced_forces(m, im->in, s, im->w);
    snw_bordered_matrix_solve(im->T, s->a);
    return check_accelerations(m, im->in, s, im->w, err);
}

// im->mass <- diagonal of the mass matrix
static void implicit_mass(snw_implicit *im) {
    const snw_model *m = im->m;
    if (im->T->A.row) {
        snw_kinematics(m, im->in, im->now, true, im->w);
        snw_jacobian_pass(m, im->w);
        snw_bordered_matrix_clear(im->T);
        snw_tangent_add(m, im->in, 0, 0, 1, im->w, im->T->A);
        for (int i = 0; i < m->nv; i++) im->mass[i] = *snw_matrix_at(im->T->A, i, i);
        return;
    }
    double *M = im->T->A.entry;
    snw_bordered_matrix_invalidate(im->T);
    snw_mass_matrix(m, im->in, im->now, im->w, M);
    for (int i = 0; i < m->nv; i++) im->mass[i] = M[(size_t)i * (size_t)(m->nv + 1)];
}

// Accelerations without constraints, by the mass matrix in im->T where it is compressed.
static snw_status implicit_accelerations(snw_implicit *im, snw_error *err) {
    const snw_model *m = im->m;
    if (!im->T->A.row) return snw_accelerations(m, im->in, im->now, im->w, im->T->A.entry, err);
    if (snw_bordered_matrix_factor(im->T) != SNW_OK) return fail_massless_somewhere(err);
    unbalanced_forces(m, im->in, im->now, im->w);
    snw_bordered_matrix_solve(im->T, im->now->a);
    return check_accelerations(m, im->in, im->now, im->w, err);
}

static void copy_history(const snw_history *from, snw_history *to) {
    memcpy(to->v, from->v, snw_history_doubles(from->n) * sizeof(double));
    to->h = from->h;
}

void snw_implicit_note(const snw_implicit *im, snw_step_event event, double h,
                       const double *before) {
    static const snw_scheme euler = {.order = 1, .levels = {.past = 1}};
    if (!im->watch.note) return;
    const snw_step_report report = {.event = event,
                                    .s = im->now,
                                    .t_laws = im->in->t,
                                    .before = before,
                                    .scheme = im->took_euler ? &euler : &im->opts.scheme,
                                    .h = h,
                                    .history_h = im->history_h,
                                    .split = im->opts.chart == SNW_CHART_SO3R3,
                                    .no_past = im->took_euler,
                                    .d = im->d,
                                    .q0 = im->before->q,
                                    .relaxed0 = im->before->relaxed,
                                    .rest = im->opts.uniform_past,
                                    .past = &im->past_kept,
                                    .z0 = im->before->z,
                                    .integrand = im->source_kept};
    im->watch.note(im->watch.user, &report);
}

void snw_implicit_set_watch(snw_implicit *im, snw_step_watch watch) { im->watch = watch; }

snw_status snw_implicit_make_room(snw_implicit *im) {
    if (!im->m->local) return SNW_OK;
    const snw_status s = snw_elimination_make_room(im->T->local, im->w);
    if (snw_elimination_sign(im->T->local) == 0) im->T_origin.known = false;
    return s;
}

snw_status snw_implicit_restart(snw_implicit *im, const double *z, snw_error *err) {
    const snw_model *m = im->m;
    double *before = im->scratch;
    memcpy(before, im->now->v, (size_t)m->nv * sizeof *before);
    snw_inputs_at(m, im->now->t + snw_time_resolution(im->now->t), im->in);
    snw_impact_energy impact = {0};
    if (im->impacts) {
        SNW_TRY(snw_impacts_apply(im->impacts, im->in, z, im->now, &impact, err));
        im->work[m->nload + 1] += impact.work;
        im->heat += impact.heat;
    } else if (z) {
        memcpy(im->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    im->T_origin.known = im->lane_keeps = false;
    if (m->local) {
        const snw_tangent_at mass = {.in = im->in, .ca = 1};
        snw_kinematics(m, im->in, im->now, true, im->w);
        snw_elimination_diagonal(im->T->local, &mass, im->w, im->mass);
    } else {
        implicit_mass(im);
    }
    if (im->projection) {
        SNW_TRY(snw_projection_accelerations(im->projection, im->in, im->now, err));
        im->redundant = im->redundancy && snw_redundancy_found(im->redundancy);
    } else if (m->local) {
        SNW_TRY(local_accelerations(im, err));
    } else {
        SNW_TRY(implicit_accelerations(im, err));
    }
    snw_chart_from_state(m, im->opts.chart, im->now, im->rate, im->acc);
    snw_scheme_start(&im->opts.scheme, im->rate, im->acc, im->opts.uniform_past, &im->past);
    snw_residual(m, im->in, im->now, false, im->w);
    SNW_TRY(snw_implicit_make_room(im));
    snw_law_integrals_finish(m, im->in, im->now, im->w, im->source);
    snw_state_copy(m, im->now, im->before);
    copy_history(&im->past, &im->past_kept);
    im->onset = (snw_onset){.checked_at = NAN};
    im->use_euler = false;
    snw_implicit_note(im, SNW_WATCH_RESTART, 0, before);
    snw_corrected_restart(im, before);
    return SNW_OK;
}

snw_status snw_implicit_jump(snw_implicit *im, const double *z, snw_error *err) {
    double work;
    bool jumped;
    snw_inputs_at(im->m, im->now->t + snw_time_resolution(im->now->t), im->in);
    SNW_TRY(snw_law_jump_apply(im->law_jump, im->in, im->now, &work, &jumped, err));
    im->work[im->m->nload + 1] += work;
    if (jumped) snw_implicit_note(im, SNW_WATCH_OTHER, 0, NULL);
    return snw_implicit_restart(im, z, err);
}

snw_status snw_implicit_start(snw_implicit *im, const snw_state *s, snw_error *err) {
    const snw_model *m = im->m;
    snw_state_copy(m, s, im->now);
    if (m->nbranch) snw_relaxation_fix(m, im->now);
    snw_state_clear_inactive(m, im->now);
    if (im->projection) {
        snw_projection_info info;
        snw_inputs_at(m, s->t + snw_time_resolution(s->t), im->in);
        SNW_TRY(snw_projection_close(im->projection, im->in, im->now, &info, err));
    }
    SNW_TRY(snw_implicit_restart(im, NULL, err));
    for (int i = 0; i < snw_npower(m); i++) im->work[i] = 0;
    im->heat = im->scheme = 0;
    im->impact = (snw_impact_monitor){0};
    snw_corrected_start(im);
    return SNW_OK;
}

// ---- a step

// Largest residual relative to `scale`, or violation relative to the size of its row; NaN is kept.
static double implicit_out_of_balance(const snw_implicit *im, const double *scale) {
    const snw_model *m = im->m;
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        const double r = fabs(im->w->r[i]) / scale[i];
        largest = snw_larger(largest, r);
    }
    for (int i = 0; i < m->nconstraint; i++) {
        const double r = fabs(im->w->violation[i]) / snw_constraint_at(m, im->w, i).size;
        largest = snw_larger(largest, r);
    }
    return largest;
}

void snw_implicit_place(snw_implicit *im) {
    const snw_model *m = im->m;
    for (int i = 0; i < m->nv; i++) {
        im->rate[i] = im->a * im->d[i] + im->f[i];
        im->acc[i] = im->b * im->d[i] + im->g[i];
    }
    snw_chart_to_state(m, im->opts.chart, im->now->q, im->d, im->rate, im->acc, im->trial);
    // driven velocities and accelerations come from their laws, not from the scheme; the tangent
    // needs no change, since the iteration starts with these rows satisfied
    snw_constraints_impose(m, im->in, im->trial);
}

// Residual at the increment d, relative to im->scale.
static double implicit_evaluate(void *self) {
    snw_implicit *im = self;
    snw_implicit_place(im);
    snw_residual(im->m, im->in, im->trial, false, im->w);
    return implicit_out_of_balance(im, im->scale);
}

// d <- exact increments of the driven coordinates, which lie in vector spaces.
static void impose_drives(snw_implicit *im) {
    for (int i = 0; i < im->m->ndrive; i++) {
        const snw_drive *to = &im->m->drive[i];
        if (!snw_drive_holds(im->m, im->now, i)) continue;
        im->d[to->dof] = snw_drive_target(im->m, im->in, im->now, i) - im->now->q[to->q];
    }
}

// im->constraint_scale of a local model: rows are scaled to the heaviest coordinate, which in a
// short step is also the stiffest.
static double local_row_scale(snw_implicit *im, double b) {
    const snw_model *m = im->m;
    im->constraint_scale = 0;
    for (int i = 0; m->nconstraint > 0 && i < m->nv; i++) {
        const double size = m->typical[i] / m->length;
        const double k = b * im->mass[i] + m->scale[i] / m->typical[i];
        im->constraint_scale = fmax(im->constraint_scale, k * size * size);
    }
    return im->constraint_scale;
}

snw_status snw_implicit_factor(snw_implicit *im, double a, double b) {
    const snw_model *m = im->m;
    if (m->nlie_block)
        snw_chart_jacobian(m, im->opts.chart, im->d, a, b, im->trial, im->chart_jacobian);
    const double *chart = m->nlie_block ? im->chart_jacobian : NULL;
    if (m->local) {
        const snw_tangent_at at = {.in = im->in,
                                   .chart = chart,
                                   .cq = 1,
                                   .cv = a,
                                   .ca = b,
                                   .rows = local_row_scale(im, b)};
        return snw_bordered_matrix_eliminate(im->T, &at, im->w);
    }
    snw_tangent_pass(m, chart, im->w);
    snw_bordered_matrix_clear(im->T);
    snw_tangent_add(m, im->in, 1, a, b, im->w, im->T->A);
    if (m->nconstraint) { // scale the rows to the stiffest coordinate of this step, so that
                          // pivoting loses no digits
        im->constraint_scale = 0;
        for (int i = 0; i < m->nv; i++) {
            const double k = fabs(*snw_matrix_at(im->T->A, i, i)) * m->typical[i];
            im->constraint_scale =
                fmax(im->constraint_scale, k * m->typical[i] / (m->length * m->length));
        }
        snw_constraints_place(m, im->w, im->constraint_scale, im->T->A);
    }
    return snw_bordered_matrix_factor(im->T);
}

// The rows of ball and free joints are multiplied by the transposed Jacobian of the chart.
void snw_implicit_project(const snw_implicit *im, double *x) {
    snw_chart_project(im->m, im->chart_jacobian, im->w->r, x);
    for (int i = 0; i < im->m->nconstraint; i++)
        x[im->m->nv + i] = -im->constraint_scale * im->w->violation[i];
}

// Moves d and the multipliers by a fraction of dx.
static void implicit_advance(void *self, double fraction) {
    snw_implicit *im = self;
    const snw_model *m = im->m;
    for (int i = 0; i < m->nv; i++) im->d[i] += fraction * im->dx[i];
    for (int i = 0; i < m->nconstraint; i++)
        im->trial->lambda[i] += fraction * im->constraint_scale * im->dx[m->nv + i];
}

static snw_status implicit_renew(void *self) {
    snw_implicit *im = self;
    SNW_TRY(snw_implicit_factor(im, im->a, im->b));
    im->T_origin.a = im->a, im->T_origin.b = im->b;
    snw_inputs_copy(im->in, im->T_origin.in);
    snw_state_copy(im->m, im->trial, im->T_origin.at);
    memcpy(im->matrix_d, im->d, (size_t)im->m->nv * sizeof *im->d);
    return SNW_OK;
}

static bool implicit_same(double x, double y) { return fabs(x - y) <= 1e-9 * fabs(x); }

static void implicit_correct(void *self) {
    snw_implicit *im = self;
    snw_implicit_project(im, im->dx);
    for (int i = 0; i < im->T->n; i++) im->dx[i] = -im->dx[i];
    snw_bordered_matrix_solve(im->T, im->dx);
}

// Is dx below the rounding error of coordinates and multipliers? theory.md (6.13)
static bool rounded(void *self) {
    const snw_implicit *im = self;
    const snw_model *m = im->m;
    double largest = 0;
    for (int i = 0; i < m->nconstraint; i++) largest = fmax(largest, fabs(im->trial->lambda[i]));
    for (int i = 0; i < m->nv; i++) {
        if (!(fabs(im->dx[i]) <= SNW_ROUNDING * m->typical[i])) return false;
    }
    for (int i = 0; i < m->nconstraint; i++) {
        if (!(im->constraint_scale * fabs(im->dx[m->nv + i]) <= SNW_ROUNDING * largest))
            return false;
    }
    return true;
}

static snw_status implicit_solve(snw_implicit *im, snw_chord_info *info) {
    if (!implicit_same(im->T_origin.a, im->a) || !implicit_same(im->T_origin.b, im->b))
        im->T_origin.known = false;
    const snw_chord chord = {.user = im,
                             .evaluate = implicit_evaluate,
                             .renew = implicit_renew,
                             .correct = implicit_correct,
                             .move = implicit_advance,
                             .rounded = rounded,
                             .dx = im->dx,
                             .broyden = &im->broyden,
                             .known = &im->T_origin.known,
                             .tolerance = im->opts.tolerance,
                             .max_iter = im->opts.max_iter};
    return snw_chord_solve(&chord, info);
}

void snw_implicit_first_guess(snw_implicit *im) {
    impose_drives(im);
    for (int i = 0; i < im->m->nconstraint; i++) im->trial->lambda[i] = im->now->lambda[i];
}

// Newton iteration from d and the previous multipliers. Constraint rows that are redundant at the
// end of the step are dropped, selected at the initial guess; their multipliers are recovered
// afterwards by minimum norm.
static snw_status implicit_attempt(snw_implicit *im, bool drop, snw_chord_info *info) {
    const snw_model *m = im->m;
    snw_implicit_first_guess(im);
    for (int i = 0; i < m->nnonholonomic; i++) im->trial->dropped[i] = 0;
    if (drop) {
        snw_chart_to_state(m, im->opts.chart, im->now->q, im->d, im->rate, im->acc, im->trial);
        im->redundant = snw_redundancy_drop(im->redundancy, im->in, im->trial) > 0 || im->redundant;
    }
    for (int i = 0; i < m->nnonholonomic; i++) {
        if (im->trial->dropped[i] != im->T_origin.at->dropped[i]) im->T_origin.known = false;
    }
    SNW_TRY(implicit_solve(im, info));
    if (!im->redundant) return SNW_OK;
    im->slipping = snw_redundancy_slips(im->redundancy, im->in, im->trial, &im->slip_speed);
    if (im->slipping >= 0) return SNW_E_MODEL;
    SNW_TRY(snw_redundancy_recover(im->redundancy, im->in, im->trial));
    snw_residual(m, im->in, im->trial, false, im->w);
    return SNW_OK;
}

bool snw_implicit_projects_end(const snw_implicit *im) {
    const bool begins = im->past.h < 0; // first step, with accelerations that it does not resolve
    const bool passes =
        im->impact.longest > 0 && !snw_touches(im->m); // short steps after long ones (6.17)
    return im->has_closures &&
           (begins || passes || (im->undamped && !im->opts.undamped_velocities));
}

// Makes the end of a step consistent where the scheme does not damp errors across the rows of loop
// closures, theory.md (6.11): projected velocities, then accelerations and multipliers. At a
// singular configuration the result of the scheme is kept.
static void implicit_project_end(snw_implicit *im) {
    const snw_model *m = im->m;
    snw_error err;
    im->settled = false;
    if (!snw_implicit_projects_end(im)) return;
    snw_state_copy(m, im->trial, im->scratch_state);
    if (snw_projection_velocities(im->projection, im->in, im->scratch_state, &err) != SNW_OK)
        return;
    if (snw_projection_accelerations(im->projection, im->in, im->scratch_state, &err) != SNW_OK)
        return;
    const size_t nv = (size_t)m->nv * sizeof(double);
    memcpy(im->unsettled, im->trial->v, nv);
    memcpy(im->unsettled + m->nv, im->trial->a, nv);
    memcpy(im->unsettled + 2 * m->nv, im->trial->lambda, (size_t)m->nconstraint * sizeof(double));
    snw_state_copy(m, im->scratch_state, im->trial);
    snw_chart_from_state(m, im->opts.chart, im->trial, im->rate, im->acc);
    snw_residual(m, im->in, im->trial, false, im->w);
    im->settled = true;
}

// Largest change of an acceleration times h^2 in the step. Driven coordinates have the
// accelerations of their laws and none of the scheme's noise (theory.md 6.6).
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

// Sets a, b, f, g of the scheme, rates = a d + f, accelerations = b d + g; inputs at the end of the
// step; d <- initial guess. im->past.h tells the scheme how much of the past it may use.
static void step_begin(snw_implicit *im, double h, double t_laws) {
    const snw_model *m = im->m;
    const snw_history *p = &im->past;
    if (p->h <= 0 || im->onset.longest > 0) {
        const bool resolved = snw_implicit_resolves(im, h);
        if (!resolved || p->h <= 0) im->past.h = resolved ? 0 : -1;
    }
    const snw_scheme euler = snw_scheme_of_levels((snw_levels){.past = 1});
    if (im->use_euler) im->past.h = fmax(im->past.h, 0);
    im->history_h = im->past.h;
    im->took_euler = im->use_euler;
    snw_scheme_begin(im->use_euler ? &euler : &im->opts.scheme, p, h, &im->a, &im->b, im->f, im->g);
    im->w->velocity_time = 1 / im->a; // nonholonomic rows in units of increments
    im->w->law_fault = (snw_law_fault){0};
    const snw_step_scale scale = {.h = h,
                                  .b = im->b,
                                  .order = im->opts.scheme.order,
                                  .tighten = im->opts.tighten,
                                  .tolerance = im->opts.tolerance,
                                  .mass = im->mass};
    snw_step_scale_set(m, im->now, &scale, im->force, im->scale);
    snw_inputs_at(m, t_laws, im->in);
    snw_law_integrals_predict(m, h, im->now, im->source, im->trial, im->in);
    snw_step_predict(p, h, im->d);
    if (im->guess) memcpy(im->d, im->guess, (size_t)m->nv * sizeof *im->d);
    if (m->nbranch) {
        const bool first_order = im->use_euler || im->opts.scheme.order == 1;
        snw_relaxation_begin(m, im->now, h, first_order, im->trial);
    }
}

// im->trial <- solution of the equations at the end of the step.
static snw_status step_solve(snw_implicit *im, snw_chord_info *info) {
    const bool known = im->T_origin.known && implicit_same(im->T_origin.a, im->a) &&
                       implicit_same(im->T_origin.b, im->b);
    snw_status s = implicit_attempt(im, im->redundant, info);
    if (s != SNW_OK) { // retry from the increment without a new acceleration
        im->T_origin.known = false;
        for (int i = 0; i < im->m->nv; i++) im->d[i] = -im->g[i] / im->b;
        s = implicit_attempt(im, im->redundancy, info);
    }
    if (s != SNW_OK || info->iterations > SNW_SLOW) im->T_origin.known = false;
    if (s != SNW_OK) return s;
    im->matrix_current = known || info->tangents > 0;
    info->residual = implicit_out_of_balance(im, im->force);
    return SNW_OK;
}

// Keeps the accounts of the end of the last step, for snw_implicit_undo.
static void keep_accounts(snw_implicit *im) {
    memcpy(im->work_kept, im->work, (size_t)snw_npower(im->m) * sizeof(double));
    im->heat_kept = im->heat;
    im->scheme_kept = im->scheme;
    im->impact_kept = im->impact;
    for (int i = 0; i < im->m->nsignal; i++) im->source_kept[i] = im->source[i];
}

// Energy account, history of the scheme and state <- the end of the step. `history_h`: past.h
// before the step.
static void step_accept(snw_implicit *im, double h, double history_h, const snw_step_sums *sums) {
    const snw_model *m = im->m;
    keep_accounts(im);
    if (im->corrected.active != 0 && m->nconstraint > 0)
        snw_constraints_rates(m, im->in, im->trial, im->w, NULL, im->corrected_rows);
    snw_law_integrals_finish(m, im->in, im->trial, im->w, im->source);
    if (m->nbranch) snw_relaxation_fix(m, im->trial);
    if (!im->opts.no_account) sums ? snw_implicit_book(im, h, sums) : snw_implicit_account(im, h);
    snw_state_copy(m, im->now, im->before);
    copy_history(&im->past, &im->past_kept);
    im->past_kept.h = history_h;
    im->jump = largest_jump(im, h);
    if (im->use_euler) im->past.h = -1; // its accelerations are not resolved
    snw_scheme_end(&im->opts.scheme, h, im->d, im->rate, im->acc, &im->past);
    im->trial->t = im->now->t + h;
    snw_state_copy(m, im->trial, im->now);
}

// Rates of driven coordinates <- those of their laws, for the energy account and the history. Those
// of the scheme oscillate (theory.md 6.6); in short steps after long ones they are far too large.
static void take_driven_rates(snw_implicit *im) {
    for (int i = 0; i < im->m->ndrive; i++) {
        const int dof = im->m->drive[i].dof;
        if (!snw_drive_holds(im->m, im->trial, i)) continue;
        im->rate[dof] = im->trial->v[dof];
        im->acc[dof] = im->trial->a[dof];
    }
}

void snw_implicit_begin(snw_implicit *im, double h, double t_laws) {
    im->begun_past_h = im->past.h;
    step_begin(im, h, t_laws);
}

void snw_implicit_end(snw_implicit *im, double h, const snw_step_sums *sums) {
    take_driven_rates(im);
    implicit_project_end(im);
    step_accept(im, h, im->begun_past_h, sums);
}

void snw_implicit_give_up(snw_implicit *im) {
    im->past.h = im->begun_past_h;
    snw_inputs_at(im->m, im->now->t, im->in);
}

snw_status snw_implicit_step(snw_implicit *im, double h, double t_laws, snw_chord_info *info) {
    *info = (snw_chord_info){0};
    im->lane_keeps = false;
    im->lane_tolerance = 0;
    snw_implicit_begin(im, h, t_laws);
    const snw_status s = step_solve(im, info);
    if (s == SNW_OK) {
        snw_implicit_end(im, h, NULL);
    } else {
        snw_implicit_give_up(im);
    }
    return s;
}

void snw_implicit_set_together(snw_implicit *im, snw_step_together together) {
    im->together = together;
    if (together.begin) together.begin(together.user, im->m, im);
}

snw_status snw_implicit_step_joined(snw_implicit *im, double h, double t_laws,
                                    snw_chord_info *info) {
    const snw_step_together *t = &im->together;
    if (t->step && t->step(t->user, im, h, t_laws, info)) return SNW_OK;
    return snw_implicit_step(im, h, t_laws, info);
}

void snw_implicit_leave_out_estimate(snw_implicit *im) { im->opts.estimate = false; }

void snw_implicit_project_start(snw_implicit *im) {
    const snw_model *m = im->m;
    snw_error err;
    snw_state_copy(m, im->now, im->scratch_state);
    if (snw_projection_velocities(im->projection, im->in, im->scratch_state, &err) != SNW_OK)
        return;
    if (snw_projection_accelerations(im->projection, im->in, im->scratch_state, &err) != SNW_OK)
        return;
    snw_state_copy(m, im->scratch_state, im->now);
    snw_chart_from_state(m, im->opts.chart, im->now, im->rate, im->acc);
    snw_scheme_start(&im->opts.scheme, im->rate, im->acc, false, &im->past);
    snw_implicit_note(im, SNW_WATCH_OTHER, 0, NULL);
    snw_corrected_settle_start(im);
}

snw_status snw_implicit_check(snw_implicit *im, double t, snw_error *err) {
    snw_inputs_at(im->m, t, im->within);
    SNW_TRY(snw_inputs_check(im->m, im->within, t, err));
    if (im->w->law_fault.kind != SNW_SECTION_OK) {
        char why[300];
        snw_law_fault_describe(im->m, &im->w->law_fault, why, sizeof why);
        return snw_fail(err, SNW_E_DIVERGED, "%s", why);
    }
    if (im->slipping < 0) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL, SNW_SLIP_MESSAGE, im->m->label.loop[im->slipping].name, t,
                    fabs(im->slip_speed));
}

void snw_implicit_undo(snw_implicit *im) {
    im->lane_keeps = false;
    snw_state_copy(im->m, im->before, im->now);
    copy_history(&im->past_kept, &im->past);
    const size_t np = (size_t)snw_npower(im->m) * sizeof(double);
    memcpy(im->work, im->work_kept, np);
    im->heat = im->heat_kept;
    im->scheme = im->scheme_kept;
    im->impact = im->impact_kept;
    for (int i = 0; i < im->m->nsignal; i++) im->source[i] = im->source_kept[i];
    snw_inputs_at(im->m, im->now->t, im->in);
}

double snw_implicit_condition(snw_implicit *im) {
    const snw_model *m = im->m;
    if (!m->local) return im->T_origin.known ? snw_bordered_matrix_condition(im->T) : NAN;
    snw_residual(m, im->in, im->now, false, im->w);
    double a = im->T_origin.a, b = im->T_origin.b;
    if (!im->T_origin.known) { // estimates of errors took other factors
        a = im->a, b = im->b;
        if (!(b > 0) || snw_implicit_factor(im, a, b) != SNW_OK) return NAN;
    }
    const snw_tangent_at at = {.in = im->in,
                               .chart = m->nlie_block ? im->chart_jacobian : NULL,
                               .cq = 1,
                               .cv = a,
                               .ca = b,
                               .rows = local_row_scale(im, b)};
    return snw_elimination_condition(im->T->local, &at, im->w, im->condition_scratch);
}

double snw_implicit_error(const snw_implicit *im) {
    return snw_scheme_error_factor(&im->opts.scheme) * im->jump;
}

const snw_state *snw_implicit_state(const snw_implicit *im) { return im->now; }
void snw_implicit_set_manual(snw_implicit *im, const snw_manual_inputs *manual) {
    im->in->manual = im->within->manual = im->T_origin.in->manual = manual;
}
void snw_implicit_guess(snw_implicit *im, const double *d) { im->guess = d; }
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

// ---- the past

size_t snw_implicit_past_size(const snw_model *m) {
    return 2 + (size_t)m->nq + 5 * (size_t)m->nv + (size_t)m->nconstraint;
}

snw_past snw_past_at(const snw_model *m, double *numbers) {
    return (snw_past){.t = numbers,
                      .h = numbers + 1,
                      .q = numbers + 2,
                      .history = numbers + 2 + m->nq,
                      .lambda = numbers + 2 + m->nq + 5 * m->nv};
}

void snw_implicit_read_past(const snw_implicit *im, double *out) {
    const snw_model *m = im->m;
    const snw_past p = snw_past_at(m, out);
    *p.t = im->now->t;
    *p.h = im->past.h;
    memcpy(p.q, im->now->q, (size_t)m->nq * sizeof *p.q);
    memcpy(p.history, im->past.v, snw_history_doubles(m->nv) * sizeof *p.history);
    memcpy(p.lambda, im->now->lambda, (size_t)m->nconstraint * sizeof *p.lambda);
}

void snw_implicit_write_past(snw_implicit *im, const double *in) {
    const snw_model *m = im->m;
    const snw_past p = snw_past_at(m, (double *)in);
    const size_t nv = (size_t)m->nv;
    im->lane_keeps = false;
    im->now->t = *p.t;
    im->past.h = *p.h;
    memcpy(im->now->q, p.q, (size_t)m->nq * sizeof *p.q);
    memcpy(im->past.v, p.history, snw_history_doubles(m->nv) * sizeof *p.history);
    memcpy(im->now->v, im->past.v, nv * sizeof *p.history);
    memcpy(im->now->a, im->past.a, nv * sizeof *p.history);
    memcpy(im->now->lambda, p.lambda, (size_t)m->nconstraint * sizeof *p.lambda);
    snw_inputs_at(m, im->now->t, im->in);
    snw_state_copy(m, im->now, im->before);
    copy_history(&im->past, &im->past_kept);
}

const double *snw_implicit_increment(const snw_implicit *im) { return im->d; }

// ---- checkpoint

enum { NBLOCK = 20, NSINGLE = 20 };

// Inputs follow from their time, and Newton's matrix from the state at which it was made.
static void implicit_list_blocks(const snw_implicit *im, snw_checkpoint_block block[NBLOCK]) {
    const size_t nv = (size_t)im->m->nv, np = (size_t)snw_npower(im->m);
    snw_implicit *own = (snw_implicit *)im;
    const snw_checkpoint_block list[NBLOCK] = {
        {&im->now->t, 1},
        snw_checkpoint_state(im->m, im->now),
        {&own->past.h, 1},
        {im->past.v, snw_history_doubles(im->m->nv)},
        {im->mass, nv},
        {im->work, np},
        {&own->heat, 1},
        {&own->scheme, 1},
        snw_checkpoint_state(im->m, im->T_origin.at),
        {im->matrix_d, nv},
        {&im->T_origin.in->t, 1},
        {im->T_origin.in->gravity.e, 3},
        {&im->T_origin.in->integral_step, 1},
        snw_checkpoint_inputs(im->T_origin.in),
        {im->source, (size_t)im->m->nsignal},
        snw_checkpoint_state(im->m, im->corrected.now),
        {&own->corrected.past.h, 1},
        {im->corrected.past.v, snw_history_doubles(im->m->nv)},
        {im->corrected_jerk, nv},
        {im->corrected_a, nv}};
    memcpy(block, list, sizeof list);
}

size_t snw_implicit_saves(const snw_model *m) {
    const size_t nv = (size_t)m->nv, state = snw_state_doubles(m);
    return 1 + 3 * state + 2 + 2 * snw_history_doubles(m->nv) + 4 * nv + (size_t)snw_npower(m) + 2 +
           (size_t)m->nsignal + 5 + snw_inputs_doubles(m) + NSINGLE;
}

void snw_implicit_save(const snw_implicit *im, double *out) {
    const snw_onset *o = &im->onset;
    const snw_impact_monitor *i = &im->impact;
    const snw_corrected *c = &im->corrected;
    const double single[NSINGLE] = {
        im->in->t,  im->T_origin.known, im->T_origin.a,  im->T_origin.b, im->redundant,
        o->longest, o->checked_at,      o->waits,        i->longest,     i->gain,
        i->peak,    i->since,           i->short_steps,  c->active,      c->h,
        c->steps,   c->distance,        c->max_distance, c->t,           c->failed};
    snw_checkpoint_block block[NBLOCK];
    implicit_list_blocks(im, block);
    memcpy(snw_checkpoint_save(NBLOCK, block, out), single, sizeof single);
}

void snw_implicit_remake_matrix(snw_implicit *im) {
    if (!im->T_origin.known) return;
    im->w->velocity_time = 1 / im->T_origin.a;
    snw_inputs_copy(im->T_origin.in, im->in);
    snw_state_copy(im->m, im->T_origin.at, im->trial);
    memcpy(im->d, im->matrix_d, (size_t)im->m->nv * sizeof *im->d);
    snw_residual(im->m, im->in, im->trial, false, im->w);
    im->T_origin.known = snw_implicit_make_room(im) == SNW_OK &&
                         snw_implicit_factor(im, im->T_origin.a, im->T_origin.b) == SNW_OK;
}

void snw_implicit_load(snw_implicit *im, const double *in) {
    snw_checkpoint_block block[NBLOCK];
    implicit_list_blocks(im, block);
    const double *single = snw_checkpoint_load(NBLOCK, block, in);
    im->lane_keeps = false;
    im->T_origin.known = single[1] != 0;
    im->T_origin.a = single[2], im->T_origin.b = single[3];
    im->redundant = single[4] != 0;
    im->onset = (snw_onset){single[5], single[6], (int)single[7]};
    im->impact = (snw_impact_monitor){single[8], single[9], single[10], single[11], single[12]};
    snw_corrected *c = &im->corrected;
    c->active = single[13], c->h = single[14], c->steps = single[15];
    c->distance = single[16], c->max_distance = single[17], c->t = single[18];
    c->failed = single[19];
    c->now->t = im->now->t;
    im->use_euler = false;
    snw_implicit_remake_matrix(im);
    snw_inputs_at(im->m, single[0], im->in);
    snw_state_copy(im->m, im->now, im->before);
    copy_history(&im->past, &im->past_kept);
}
