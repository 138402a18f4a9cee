// SPDX-License-Identifier: MIT
//
// Right-hand side of the equations of motion for the ODE integrators. State vector y = (q, v, z,
// work, heat), z the signal memory of laws: integrals change, the rest is constant. The quaternion
// h of a ball or free joint obeys h' = h (0, w) / 2, which keeps its length up to the integration
// error; rates and results use h / |h|, which obeys the same equation, so y is never normalised and
// multistep methods keep their history.
#include "integrate/explicit.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/impact.h"
#include "constraint/law_jump.h"
#include "constraint/locomotion.h"
#include "constraint/projection.h"
#include "dynamics/contact.h"
#include "integrate/law_integrals.h"
#include "integrate/step_control.h"

#include <math.h>
#include <string.h>

struct snw_explicit {
    const snw_model *m;
    snw_ode *ode;
    snw_work *w;
    snw_inputs *in;
    snw_state *now, *trial, *before; // committed; of the right-hand side; before the last advance
    snw_state *mid;                  // for locomotion: halfway through an impact
    double *memory;                  // everything below
    double *M;                       // nv x nv: mass matrix and its factor
    snw_projection *projection;      // NULL: no constraints or conditions
    snw_impacts *impacts;   // of conditional elements and velocity jumps; NULL where projection is
    snw_law_jump *law_jump; // of given strains and moving poses; NULL: none
    snw_locomotion
        *locomotion; // prescribed shapes; replaces the dynamics, but not closing and conditions
    double duration;
    double *y, *y_before;
    double *y_kept, *dy_kept; // the last state and its rates, with which the next step begins,
    snw_inputs *in_kept;      // under these inputs
    bool kept;
    double h_before;
    bool moving;        // some pose or fluid depends on time
    double left, right; // inputs are evaluated between these times
    double left_before, right_before;
    snw_interrupt interrupt;
    snw_step_monitor monitor;
    bool ended;                   // the monitor ended the last advance
    const snw_model *own, *other; // `other` at times between, else `own`; NULL: m always
    double from, to;
    snw_explicit_stages *stages; // NULL: not kept
};

snw_explicit_opts snw_explicit_defaults(void) {
    return (snw_explicit_opts){.kind = SNW_ODE_RK54, .tolerance = 1e-6};
}

static int work_offset(const snw_model *m) { return m->nq + m->nv + m->nsignal; }
static int explicit_size(const snw_model *m) { return work_offset(m) + snw_npower(m) + 1; }

// ---- right-hand side

void snw_explicit_to_state(const snw_model *m, const double *y, snw_state *s) {
    memcpy(s->q, y, (size_t)m->nq * sizeof *y);
    memcpy(s->v, y + m->nq, (size_t)m->nv * sizeof *y);
    if (m->nsignal) memcpy(s->z, y + m->nq + m->nv, (size_t)m->nsignal * sizeof *y);
    for (int k = 0; k < m->nblock; k++) {
        if (m->block[k].lie_block < 0) continue;
        double *h = s->q + m->block[k].q;
        const double length = sqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2] + h[3] * h[3]);
        for (int i = 0; i < 4; i++) h[i] /= length;
    }
}

void snw_explicit_configuration_rates(const snw_model *m, const double *q, const snw_state *s,
                                      double *dq) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *j = &m->block[k];
        if (j->space == SNW_SPACE_RN) {
            for (int i = 0; i < j->n; i++) dq[j->q + i] = s->v[j->dof + i];
            continue;
        }
        const double *h = q + j->q, *w = s->v + j->dof;
        double *dh = dq + j->q;
        dh[0] = -0.5 * (h[1] * w[0] + h[2] * w[1] + h[3] * w[2]);
        dh[1] = 0.5 * (h[0] * w[0] + h[2] * w[2] - h[3] * w[1]);
        dh[2] = 0.5 * (h[0] * w[1] + h[3] * w[0] - h[1] * w[2]);
        dh[3] = 0.5 * (h[0] * w[2] + h[1] * w[1] - h[2] * w[0]);
        if (j->space == SNW_SPACE_SO3) continue;
        const snw_vec3 v = {{w[3], w[4], w[5]}};
        const snw_vec3 dp = snw_rotate(snw_se3_from_numbers(s->q + j->q).R, v);
        for (int i = 0; i < 3; i++) dh[4 + i] = dp.e[i];
    }
}

// Reports why there are no accelerations: an input or the state is not finite, else `failure`.
static snw_status explicit_no_acceleration(const snw_explicit *e, double t, const snw_state *s,
                                           const snw_error *failure, snw_error *err) {
    const snw_model *m = e->m;
    SNW_TRY(snw_inputs_check(m, e->in, t, err));
    bool finite = true;
    for (int i = 0; i < m->nq; i++) finite &= isfinite(s->q[i]) != 0;
    for (int i = 0; i < m->nv; i++) finite &= isfinite(s->v[i]) != 0;
    if (!finite) {
        return snw_fail(err, SNW_E_DIVERGED, "the motion has diverged at t = %.9g s", t);
    }
    return snw_fail(err, failure->status, "at t = %.9g s %s", t, failure->text);
}

// The model of time t.
static void choose_model(snw_explicit *e, double t) {
    if (!e->other) return;
    const snw_model *m = t >= e->from && t <= e->to ? e->other : e->own;
    if (e->m != m) snw_explicit_use(e, m);
}

// s->a <- accelerations at (q, v) of s and time t.
static snw_status explicit_accelerate(snw_explicit *e, double t, snw_state *s, snw_error *err) {
    const snw_model *m = e->m;
    snw_inputs_at(m, fmin(fmax(t, e->right), e->left), e->in);
    snw_error failure = {0};
    const snw_status status =
        e->locomotion   ? snw_locomotion_motion(e->locomotion, e->in, s, &failure)
        : e->projection ? snw_projection_accelerations(e->projection, e->in, s, &failure)
                        : snw_accelerations(m, e->in, s, e->w, e->M, &failure);
    return status == SNW_OK ? SNW_OK : explicit_no_acceleration(e, t, s, &failure, err);
}

// dy <- rates of y at time t; e->trial <- the state and its accelerations
static snw_status explicit_evaluate(snw_explicit *e, double t, const double *y, double *dy,
                                    snw_error *err) {
    choose_model(e, t);
    const snw_model *m = e->m;
    snw_explicit_to_state(m, y, e->trial);
    SNW_TRY(explicit_accelerate(e, t, e->trial, err));
    // the powers of moving poses and fluids need the accelerations
    const snw_work *w = e->locomotion ? snw_locomotion_work(e->locomotion) : e->w;
    if (!e->locomotion && (e->moving || e->projection))
        snw_residual(m, e->in, e->trial, false, e->w);
    snw_explicit_configuration_rates(m, y, e->trial, dy);
    memcpy(dy + m->nq, e->trial->a, (size_t)m->nv * sizeof *dy);
    snw_law_integrals_finish(m, e->in, e->trial, w, dy + m->nq + m->nv);
    double *power = dy + work_offset(m);
    snw_load_power(m, e->in, e->trial, w, power);
    if (e->locomotion)
        power[m->nload + 1] += snw_locomotion_unbalanced_power(e->locomotion, e->trial);
    power[snw_npower(m)] = snw_dissipation(m, e->trial->v) + snw_other_heat(m, e->trial, w);
    return SNW_OK;
}

// Are the rates a function of time, y and the inputs alone?
static bool rates_can_be_kept(const snw_explicit *e) {
    const snw_manual_inputs *manual = e->in->manual; // may change between two steps
    return !e->projection && !e->locomotion && e->m->nbranch == 0 &&
           !(manual && (manual->drag_spring.seg || e->m->nlive > 0));
}

// Do the rates of the last state hold at time t for y? e->in <- inputs of that time
static bool rates_are_kept(snw_explicit *e, double t, const double *y) {
    const snw_inputs *in = e->in, *kept = e->in_kept;
    if (!e->kept || memcmp(y, e->y_kept, (size_t)explicit_size(e->m) * sizeof *y) != 0)
        return false;
    snw_inputs_at(e->m, fmin(fmax(t, e->right), e->left), e->in);
    return rates_can_be_kept(e) && in->t == kept->t &&
           memcmp(&in->gravity, &kept->gravity, sizeof in->gravity) == 0 &&
           memcmp(in->block, kept->block, in->bytes) == 0;
}

static void keep_stage(snw_explicit *e, const double *dy) {
    const snw_model *m = e->m;
    const size_t nv = (size_t)m->nv;
    if (e->stages->n++ >= e->stages->room) return;
    double *to = e->stages->of + (e->stages->n - 1) * snw_explicit_stage_size(m);
    *to++ = e->in->t;
    memcpy(to, e->trial->v, nv * sizeof *to);
    memcpy(to + nv, dy + m->nq, (nv + (size_t)m->nsignal) * sizeof *to);
    to += 2 * nv + (size_t)m->nsignal;
    memcpy(to, e->trial->lambda, (size_t)m->nconstraint * sizeof *to);
}

static snw_status explicit_rates(void *user, double t, const double *y, double *dy,
                                 snw_error *err) {
    snw_explicit *e = user;
    if (snw_interrupted(e->interrupt)) {
        return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", e->now->t);
    }
    if (rates_are_kept(e, t, y)) {
        memcpy(dy, e->dy_kept, (size_t)explicit_size(e->m) * sizeof *dy);
        memcpy(e->trial->v, y + e->m->nq, (size_t)e->m->nv * sizeof *y);
    } else {
        SNW_TRY(explicit_evaluate(e, t, y, dy, err));
    }
    if (e->stages) keep_stage(e, dy);
    return SNW_OK;
}

// ---- creation

// Typical magnitudes of the entries of y.
static void typical_values(const snw_model *m, double *y) {
    double energy = INFINITY;
    for (int i = 0; i < m->nv; i++) {
        y[m->nq + i] = m->typical[i]; // per second
        const double e = m->scale[i] * m->typical[i];
        if (e > 0) energy = fmin(energy, e);
    }
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        double *q = y + b->q;
        if (b->space == SNW_SPACE_RN) {
            for (int i = 0; i < b->n; i++) q[i] = m->typical[b->dof + i];
        } else {
            for (int i = 0; i <= b->n; i++) q[i] = i < 4 ? 1 : m->length;
        }
    }
    // integrals of lengths and angles over a second
    for (int i = m->nq + m->nv; i < work_offset(m); i++) y[i] = fmin(1, m->length);
    for (int i = 0; i < m->nsignal; i++) {
        const double initial = fabs(m->signal[i].initial);
        if (initial > 0) y[m->nq + m->nv + i] = initial;
    }
    for (int i = work_offset(m); i < explicit_size(m); i++) y[i] = isfinite(energy) ? energy : 1;
}

snw_status snw_explicit_create(const snw_model *m, const snw_explicit_opts *opts,
                               snw_explicit **out, snw_error *err) {
    *out = NULL;
    snw_status status = SNW_E_MEMORY;
    snw_explicit *e = snw_alloc(sizeof *e);
    if (!e) return snw_fail(err, SNW_E_MEMORY, "no memory for the motion");
    e->m = m;
    const size_t n = (size_t)explicit_size(m), nv = (size_t)m->nv;
    const size_t square = opts->locomotion ? 0 : nv * nv;
    e->memory = snw_alloc((square + 4 * n) * sizeof(double));
    bool closes = m->ncondition > 0; // holonomic loop closures and conditional elements
    for (int i = 0; i < m->nloop; i++) closes |= m->loop[i].nrow > 0 && !m->loop[i].nonholonomic;
    const snw_locomotion_opts locomotion = {
        .torque = opts->torque, .least_efforts = opts->least_efforts, .form = opts->form};
    if (opts->locomotion) {
        status = snw_locomotion_create(m, &locomotion, &e->locomotion, err);
        if (status == SNW_E_MEMORY) status = snw_fail(err, status, "no memory for the motion");
        if (status != SNW_OK) goto failed;
    }
    e->duration = opts->duration;
    const bool assembled = (m->nconstraint == 0 && m->ncondition == 0) ||
                           (opts->locomotion && !closes) ||
                           (snw_projection_create(m, &e->projection) == SNW_OK &&
                            snw_impacts_create(m, e->projection, &e->impacts) == SNW_OK);
    if (!assembled || !e->memory ||
        (!e->locomotion && snw_law_jump_create(m, e->projection, &e->law_jump) != SNW_OK) ||
        snw_work_create(m, &e->w) != SNW_OK || snw_inputs_create(m, &e->in) != SNW_OK ||
        snw_inputs_create(m, &e->in_kept) != SNW_OK || snw_state_create(m, &e->now) != SNW_OK ||
        snw_state_create(m, &e->trial) != SNW_OK || snw_state_create(m, &e->before) != SNW_OK ||
        (e->locomotion && snw_state_create(m, &e->mid) != SNW_OK)) {
        status = snw_fail(err, SNW_E_MEMORY, "no memory for the motion");
        goto failed;
    }
    snw_redundancy *redundancy = e->projection ? snw_projection_redundancy(e->projection) : NULL;
    if (redundancy && opts->torque > 0) snw_redundancy_weigh(redundancy, opts->torque);
    e->M = e->memory;
    e->y = e->M + square;
    e->y_before = e->y + n;
    e->y_kept = e->y_before + n;
    e->dy_kept = e->y_kept + n;
    e->moving = m->flowing;
    for (int i = 0; i < m->npose; i++)
        e->moving |= m->nfield > 0 || (snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0;
    typical_values(m, e->y);
    for (size_t i = 0; i < n; i++) e->y[i] *= opts->tolerance;
    const snw_ode_opts o = {.kind = opts->kind,
                            .rtol = opts->tolerance,
                            .atol = e->y,
                            .step = opts->step,
                            .nquad = snw_npower(m) + 1,
                            .max_steps =
                                opts->max_steps ? opts->max_steps : snw_ode_defaults().max_steps};
    status = snw_ode_create((int)n, explicit_rates, e, &o, &e->ode, err);
    if (status != SNW_OK) goto failed;
    *out = e;
    return SNW_OK;
failed:
    snw_explicit_destroy(e);
    return status;
}

void snw_explicit_use(snw_explicit *e, const snw_model *m) {
    e->m = m;
    e->kept = false;
    if (e->projection) snw_projection_use(e->projection, m);
    if (e->impacts) snw_impacts_use(e->impacts, m);
    snw_law_jump_use(e->law_jump, m);
    if (e->locomotion) snw_locomotion_use(e->locomotion, m);
}

void snw_explicit_destroy(snw_explicit *e) {
    if (!e) return;
    snw_ode_destroy(e->ode);
    snw_locomotion_destroy(e->locomotion);
    snw_law_jump_destroy(e->law_jump);
    snw_impacts_destroy(e->impacts);
    snw_projection_destroy(e->projection);
    snw_work_destroy(e->w);
    snw_inputs_destroy(e->in);
    snw_inputs_destroy(e->in_kept);
    snw_state_destroy(e->now);
    snw_state_destroy(e->trial);
    snw_state_destroy(e->before);
    snw_state_destroy(e->mid);
    snw_free(e->memory);
    snw_free(e);
}

// ---- advance

// State and accelerations from y; inputs with the one-sided limits that are set.
static snw_status explicit_set_state(snw_explicit *e, double t, snw_error *err) {
    choose_model(e, t);
    e->kept = false;
    e->trial->t = t;
    if (rates_can_be_kept(e)) {
        SNW_TRY(explicit_evaluate(e, t, e->y, e->dy_kept, err));
        memcpy(e->y_kept, e->y, (size_t)explicit_size(e->m) * sizeof *e->y);
        snw_inputs_copy(e->in, e->in_kept);
        e->kept = true;
    } else {
        snw_explicit_to_state(e->m, e->y, e->trial);
        SNW_TRY(explicit_accelerate(e, t, e->trial, err));
    }
    snw_state_copy(e->m, e->trial, e->now);
    return SNW_OK;
}

static void explicit_keep(snw_explicit *e) {
    snw_state_copy(e->m, e->now, e->before);
    memcpy(e->y_before, e->y, (size_t)explicit_size(e->m) * sizeof *e->y);
    e->h_before = snw_ode_step(e->ode);
    e->left_before = e->left, e->right_before = e->right;
}

// Kinetic energy, before or after an impact, J.
static double explicit_kinetic(snw_explicit *e, const snw_state *s) {
    snw_kinematics(e->m, e->in, s, false, e->w);
    return snw_kinetic_energy(e->m, e->w);
}

static double explicit_stored(snw_explicit *e, const snw_state *s) {
    const double T = explicit_kinetic(e, s);
    return T + snw_gravity_energy(e->m, e->in, e->w) + snw_stored_energy(e->m, s, e->w);
}

// explicit_project for locomotion. Constraints that become active dissipate the energy of the
// velocity jump, dv'M dv/2 (Carnot), the second difference of the kinetic energy; the remaining
// change is work of the driven coordinates.
static snw_status project_locomotion(snw_explicit *e, double t, const double *z, snw_error *err) {
    const snw_model *m = e->m;
    snw_projection_info info;
    snw_explicit_to_state(m, e->y, e->trial);
    e->trial->t = t;
    snw_inputs_at(m, fmin(fmax(t, e->right), e->left), e->in);
    double jump = 0; // of the energy by links that disappear; links that appear add gravitational
                     // and elastic energy
    const double *impulse = NULL;
    snw_wrench missing = {0};
    if (z && e->impacts) {
        jump = -explicit_stored(e, e->trial);
        snw_impacts_set_conditions(e->impacts, e->in, z, e->trial);
        jump += explicit_stored(e, e->trial);
        impulse = snw_impacts_activated_momentum(e->impacts, e->in, e->trial, &missing);
        SNW_TRY(snw_locomotion_start(e->locomotion, e->in, e->trial, t + e->duration, err));
    } else if (z) {
        memcpy(e->trial->z, z, (size_t)m->nsignal * sizeof *z);
    }
    if (e->projection) SNW_TRY(snw_projection_close(e->projection, e->in, e->trial, &info, err));
    const double before = explicit_kinetic(e, e->trial);
    snw_state_copy(m, e->trial, e->mid);
    SNW_TRY(snw_locomotion_impact(e->locomotion, e->in, impulse, missing, e->trial, err));
    const double after = explicit_kinetic(e, e->trial),
                 taken = impulse ? snw_impacts_activated_loss(e->impacts, e->w) : 0;
    for (int i = 0; i < m->nv; i++) e->mid->v[i] = 0.5 * (e->mid->v[i] + e->trial->v[i]);
    const double lost = z ? 2 * (before + after - 2 * explicit_kinetic(e, e->mid)) + taken : 0;
    e->y[work_offset(m) + snw_npower(m)] += lost;
    e->y[work_offset(m) + m->nload + 1] += after - before + lost + jump;
    memcpy(e->y, e->trial->q, (size_t)m->nq * sizeof *e->y);
    memcpy(e->y + m->nq, e->trial->v, (size_t)m->nv * sizeof *e->y);
    if (m->nsignal) {
        memcpy(e->y + m->nq + m->nv, e->trial->z, (size_t)m->nsignal * sizeof *e->y);
    }
    snw_ode_start(e->ode, t, e->y, snw_ode_step(e->ode));
    return SNW_OK;
}

// Projects y onto the constraints: the integrator satisfies them at acceleration level only and
// lets them drift, and a prescribed velocity may jump. z (NULL: unchanged) is the signal memory
// from now on. The energy change is added to work and heat.
static snw_status explicit_project(snw_explicit *e, double t, const double *z, snw_error *err) {
    choose_model(e, t);
    const snw_model *m = e->m;
    snw_projection_info info;
    snw_impact_energy impact;
    if (e->locomotion) return project_locomotion(e, t, z, err);
    if (!e->projection) {
        if (z) memcpy(e->y + m->nq + m->nv, z, (size_t)m->nsignal * sizeof *z);
        return SNW_OK;
    }
    snw_explicit_to_state(m, e->y, e->trial);
    e->trial->t = t;
    snw_inputs_at(m, fmin(fmax(t, e->right), e->left), e->in);
    if (m->nconstraint) SNW_TRY(snw_projection_close(e->projection, e->in, e->trial, &info, err));
    SNW_TRY(snw_impacts_apply(e->impacts, e->in, z, e->trial, &impact, err));
    e->y[work_offset(m) + m->nload + 1] += impact.work;
    e->y[work_offset(m) + snw_npower(m)] += impact.heat;
    memcpy(e->y, e->trial->q, (size_t)m->nq * sizeof *e->y);
    memcpy(e->y + m->nq, e->trial->v, (size_t)m->nv * sizeof *e->y);
    if (z) memcpy(e->y + m->nq + m->nv, e->trial->z, (size_t)m->nsignal * sizeof *z);
    snw_ode_start(e->ode, t, e->y, snw_ode_step(e->ode));
    return SNW_OK;
}

snw_status snw_explicit_start(snw_explicit *e, const snw_state *s, snw_error *err) {
    const snw_model *m = e->m;
    memset(e->y, 0, (size_t)explicit_size(m) * sizeof *e->y);
    snw_state_copy(m, s, e->trial);
    snw_state_clear_inactive(m, e->trial);
    memcpy(e->y, s->q, (size_t)m->nq * sizeof *e->y);
    memcpy(e->y + m->nq, e->trial->v, (size_t)m->nv * sizeof *e->y);
    if (m->nsignal) memcpy(e->y + m->nq + m->nv, s->z, (size_t)m->nsignal * sizeof *e->y);
    e->right = s->t + snw_time_resolution(s->t);
    e->left = INFINITY;
    snw_ode_start(e->ode, s->t, e->y, 0);
    if (e->locomotion) {
        SNW_TRY(snw_locomotion_start(e->locomotion, e->in, e->trial, s->t + e->duration, err));
    }
    SNW_TRY(explicit_project(e, s->t, NULL, err));
    e->y[work_offset(m) + m->nload + 1] = 0; // work counts from here on
    snw_ode_start(e->ode, s->t, e->y, 0);
    SNW_TRY(explicit_set_state(e, s->t, err));
    explicit_keep(e);
    return SNW_OK;
}

snw_status snw_explicit_restart(snw_explicit *e, const double *z, snw_error *err) {
    const double t = e->now->t;
    e->right = t + snw_time_resolution(t);
    e->left = INFINITY;
    if (e->law_jump) {
        double work;
        bool jumped;
        snw_explicit_to_state(e->m, e->y, e->trial);
        e->trial->t = t;
        snw_inputs_at(e->m, e->right, e->in);
        SNW_TRY(snw_law_jump_apply(e->law_jump, e->in, e->trial, &work, &jumped, err));
        if (jumped) memcpy(e->y + e->m->nq, e->trial->v, (size_t)e->m->nv * sizeof *e->y);
        e->y[work_offset(e->m) + e->m->nload + 1] += work;
    }
    snw_ode_start(e->ode, t, e->y, 0);
    SNW_TRY(explicit_project(e, t, z, err));
    snw_ode_start(e->ode, t, e->y, 0);
    return explicit_set_state(e, t, err);
}

static snw_status explicit_advance_part(snw_explicit *e, double t, double limit, snw_error *err) {
    const double from = e->now->t;
    // a discontinuity has just been passed
    if (from >= e->left) {
        e->right = from + snw_time_resolution(from);
        snw_ode_start(e->ode, from, e->y, 0);
    }
    e->left = isfinite(limit) ? limit - snw_time_resolution(limit) : INFINITY;
    e->ended = false;
    snw_status s = snw_ode_advance(e->ode, t, limit, err);
    if (s == SNW_OK && e->ended) return SNW_OK;
    if (s == SNW_OK) {
        memcpy(e->y, snw_ode_y(e->ode), (size_t)explicit_size(e->m) * sizeof *e->y);
        s = explicit_project(e, t, NULL, err);
    }
    if (s == SNW_OK) s = explicit_set_state(e, t, err);
    return s;
}

snw_status snw_explicit_advance(snw_explicit *e, double t, double limit, snw_error *err) {
    SNW_ASSERT(t >= e->now->t && limit >= t);
    if (e->stages) e->stages->n = 0;
    if (!(t > e->now->t)) return SNW_OK;
    explicit_keep(e);
    snw_status s = SNW_OK;
    if (e->locomotion || !snw_contact_has_curved(e->m)) {
        s = explicit_advance_part(e, t, limit, err);
    } else {
        // in parts so short that nothing passes through an obstacle unnoticed
        const double least = 1e-6 * (t - e->now->t) + 1e-14 * fabs(t);
        e->ended = false;
        while (s == SNW_OK && t > e->now->t && !e->ended) {
            const double from = e->now->t;
            const snw_work *w = snw_explicit_work_at(e);
            const double h = fmax(least, snw_contact_step_limit(e->m, w, t - from));
            s = snw_step_check_depth(e->m, w, from, err);
            if (s != SNW_OK) break;
            const bool whole = from + h >= t;
            s = explicit_advance_part(e, whole ? t : from + h, whole ? limit : from + h, err);
        }
    }
    if (s != SNW_OK) snw_explicit_undo(e);
    return s;
}

void snw_explicit_set_interrupt(snw_explicit *e, snw_interrupt interrupt) {
    e->interrupt = interrupt;
}

// State at the end of a step within an advance, for the monitor.
static bool explicit_step_done(void *user, double t, const double *y) {
    snw_explicit *e = user;
    snw_error failure = {0};
    memcpy(e->y, y, (size_t)explicit_size(e->m) * sizeof *y);
    e->ended = explicit_set_state(e, t, &failure) == SNW_OK && snw_monitor_stops(e->monitor);
    return e->ended;
}

void snw_explicit_set_monitor(snw_explicit *e, snw_step_monitor monitor) {
    e->monitor = monitor;
    snw_ode_set_monitor(e->ode, monitor.step ? explicit_step_done : NULL, e);
}

void snw_explicit_undo(snw_explicit *e) {
    snw_state_copy(e->m, e->before, e->now);
    memcpy(e->y, e->y_before, (size_t)explicit_size(e->m) * sizeof *e->y);
    e->left = e->left_before, e->right = e->right_before;
    snw_inputs_at(e->m, fmin(fmax(e->now->t, e->right), e->left), e->in);
    snw_ode_start(e->ode, e->now->t, e->y, e->h_before);
}

// ---- derivatives

void snw_explicit_place(snw_explicit *e, const snw_state *s) {
    choose_model(e, s->t);
    const snw_model *m = e->m;
    snw_state_copy(m, s, e->now);
    memset(e->y, 0, (size_t)explicit_size(m) * sizeof *e->y);
    memcpy(e->y, s->q, (size_t)m->nq * sizeof *e->y);
    memcpy(e->y + m->nq, s->v, (size_t)m->nv * sizeof *e->y);
    if (m->nsignal) memcpy(e->y + m->nq + m->nv, s->z, (size_t)m->nsignal * sizeof *e->y);
    e->right = s->t + snw_time_resolution(s->t);
    e->left = INFINITY;
    e->kept = false;
    snw_ode_start(e->ode, s->t, e->y, 0);
    snw_inputs_at(m, e->right, e->in);
    if (e->locomotion) snw_locomotion_continue(e->locomotion, e->in, s);
}

int snw_explicit_stage_size(const snw_model *m) {
    return 1 + 2 * m->nv + m->nsignal + m->nconstraint;
}

const snw_locomotion *snw_explicit_locomotion(const snw_explicit *e) { return e->locomotion; }

void snw_explicit_keep_stages(snw_explicit *e, snw_explicit_stages *stages) { e->stages = stages; }

int snw_explicit_steps(const snw_explicit_opts *opts, double span) {
    return (int)fmin(snw_ode_equal_steps(opts->step, span), 1e6);
}

void snw_explicit_use_between(snw_explicit *e, const snw_model *other, double from, double to) {
    if (e->other) snw_explicit_use(e, e->own);
    e->own = e->m;
    e->other = other;
    e->from = from;
    e->to = to;
}

// ---- queries

const snw_model *snw_explicit_model(const snw_explicit *e) { return e->m; }
const snw_state *snw_explicit_state(const snw_explicit *e) { return e->now; }
void snw_explicit_set_manual(snw_explicit *e, const snw_manual_inputs *manual) {
    e->in->manual = manual;
}
const snw_inputs *snw_explicit_inputs(const snw_explicit *e) { return e->in; }

const snw_work *snw_explicit_work_at(snw_explicit *e) {
    snw_residual(e->m, e->in, e->now, false, e->w);
    snw_observe(e->m, e->in, e->now, false, e->w);
    return e->w;
}

snw_work_done snw_explicit_work_done(const snw_explicit *e) {
    const double *work = e->y + work_offset(e->m);
    return (snw_work_done){.n = snw_npower(e->m), .work = work, .heat = work[snw_npower(e->m)]};
}

snw_ode_stats snw_explicit_statistics(const snw_explicit *e) { return snw_ode_statistics(e->ode); }
