// SPDX-License-Identifier: MIT
//
// Steps of the conserving scheme (integrate/conserving.h, theory.md 6.3), solved by Broyden's
// method on the matrix of the initial guess, and the snw_integrator built on them.
#include "integrate/integrator_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/force_element.h"
#include "dynamics/rod_contact.h"
#include "dynamics/stop.h"
#include "dynamics/tube.h"
#include "integrate/checkpoint.h"
#include "integrate/conserving.h"
#include "integrate/gravity_change.h"
#include "integrate/lie_block.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { INCREMENTS = 12 }; // pairs kept by Broyden's method

// ---- a step

// Evaluates the violations at the end of the step, and applies an impulse C' mu there that projects
// the velocities onto the constraints. Without it, momentum components across the rows would
// alternate in sign and grow. Call after snw_conserving_velocities; false if rows are dependent.
static bool project_velocities(snw_conserving *c) {
    const snw_model *m = c->m;
    const size_t n = (size_t)m->nv, rows = (size_t)m->nconstraint;
    double *rate = c->S + rows * rows;
    snw_kinematics(m, c->last, c->end, false, c->w);
    snw_constraints_jacobian(m, c->w);
    snw_constraints_rates(m, c->last, c->end, c->w, rate, NULL);
    memset(c->Z, 0, n * rows * sizeof *c->Z);
    memset(c->S, 0, rows * rows * sizeof *c->S);
    for (size_t k = 0; k < rows; k++) { // columns of M^-1 C' and of C M^-1 C'
        double *z = c->Z + k * n;
        for (size_t i = 0; i < rows; i++) c->dx[i] = i == k;
        snw_constraints_apply_transpose(m, c->w, c->dx, z);
        snw_cholesky_solve(m->nv, c->M, z);
        snw_constraints_apply(m, c->w, z, c->S + k * rows);
        if (snw_constraint_at(m, c->w, (int)k).inactive)
            c->S[k * (rows + 1)] = 1; // inactive: its rate is zero
    }
    if (snw_cholesky_factor(m->nconstraint, c->S) != SNW_OK) return false;
    snw_cholesky_solve(m->nconstraint, c->S, rate);
    for (size_t k = 0; k < rows; k++) {
        for (size_t i = 0; i < n; i++) c->end->v[i] -= rate[k] * c->Z[k * n + i];
        rate[k] = -rate[k];
    }
    snw_constraints_apply_transpose(m, c->w, rate, c->p1);
    memcpy(c->end->lambda, c->mid->lambda, rows * sizeof *c->end->lambda);
    snw_constraints_add_forces(m, c->last, c->end, c->w);
    return true;
}

// c->correction <- W d, and forces of contacts against the motion of their sides; returns its work
// on d, J. The error of contacts vanishes with that motion.
static double correction_force(snw_conserving *c, double h) {
    const snw_model *m = c->m;
    double length = 0;
    for (int i = 0; i < m->nv; i++) {
        c->correction[i] = c->weight[i] * c->d[i];
        length += c->correction[i] * c->d[i];
    }
    return length + snw_conserving_contacts_correction(c, h, c->correction);
}

static double shortest_square(const snw_conserving *c) {
    const double force = snw_conserving_contacts_force(c);
    const double of_contacts = force * 1e-12 * c->m->length; // a millionth of the length
    return force > 0 ? fmin(c->shortest_square, of_contacts) : c->shortest_square;
}

// State at the end of the step, from d and the momenta of the middle, and Gonzalez' correction
// c->theta: energy gain of the uncorrected step over the weighted square of d. False if the mass
// matrix is singular.
static bool conserving_finish(snw_conserving *c, double h) {
    const snw_model *m = c->m;
    const int n = m->nv;
    c->length = correction_force(c, h); // c->w has the motion of the middle
    snw_move(m, c->now->q, 1, c->d, c->end->q);
    for (int i = 0; i < n; i++) c->p1[i] = 2 * c->P[i] - c->p0[i];
    // c->r <- change of the momenta, transported to the middle
    snw_transport_half(m, c->d, true, c->p1, c->r);
    snw_transport_half(m, c->d, false, c->p0, c->dx);
    for (int i = 0; i < n; i++) c->r[i] -= c->dx[i];
    // work of the momenta: T(p_1) - T(p_0) with the mass matrix of the middle is v (p_1 - p_0)
    double gain = -snw_vector_dot(n, c->d, c->r);
    if (!snw_conserving_velocities(c, c->p1, c->end)) return false;
    if (m->nconstraint && !project_velocities(c)) return false;
    c->theta = c->gain = 0;
    if (c->moving) return true;
    // c->w has the poses of the end
    const double E1 =
        0.5 * snw_vector_dot(n, c->p1, c->end->v) + snw_conserving_potential(c, c->end, c->w);
    gain =
        E1 - c->E0 + gain / h + snw_vector_dot(n, c->dT, c->d) - snw_vector_dot(n, c->force, c->d);
    for (int i = 0; i <= m->nload; i++) gain -= h * c->power[i]; // loads, active stress
    c->gain = gain;
    // the gain of an increment this short is below rounding
    if (c->length > shortest_square(c)) c->theta = gain / c->length;
    return true;
}

double snw_conserving_evaluate(snw_conserving *c, double h, bool factor) {
    const snw_model *m = c->m;
    const int n = m->nv;
    for (int i = 0; i < n; i++) c->mid->v[i] = c->d[i] / h, c->mid->a[i] = 0;
    memcpy(c->mid->lambda, c->d + n, (size_t)m->nconstraint * sizeof(double));
    snw_move(m, c->now->q, 0.5, c->d, c->mid->q);
    if (factor && !snw_conserving_factor(c, h)) return NAN;
    snw_conserving_contacts_mean(c);
    snw_conserving_forces(c);
    if (m->nnonholonomic) snw_constraints_rates(m, c->in, c->mid, c->w, c->rate, NULL);
    snw_load_power(m, c->in, c->mid, c->w, c->power);
    snw_damping_forces(m, c->mid->v, c->damping);
    (void)snw_conserving_damping(c, c->damping);
    if (!conserving_finish(c, h)) return NAN;
    double largest = 0;
    for (int i = 0; i < n; i++) {
        c->r[i] =
            c->r[i] / h - c->dT[i] + c->force[i] + c->damping[i] + c->theta * c->correction[i];
        const double x =
            fabs(c->r[i]) / (m->scale[i] + 1e-3 * c->mass[i] * m->typical[i] / (h * h));
        largest = snw_larger(largest, x);
    }
    for (int i = n; i < c->n; i++) c->r[i] = c->w->violation[i - n];
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = loop->row; loop->nonholonomic && k < loop->row + loop->nrow; k++) {
            c->r[n + k] = h * c->rate[k];
        }
    }
    for (int i = n; i < c->n; i++) {
        const double x = fabs(c->r[i]) / fmin(1, m->length);
        largest = snw_larger(largest, x);
    }
    return largest;
}

// Drops constraint rows that are redundant at the middle for this step and fits the multipliers of
// the others.
static void conserving_drop_redundant(snw_conserving *c) {
    const snw_model *m = c->m;
    const size_t bytes = (size_t)m->nnonholonomic * sizeof(double);
    memset(c->mid->dropped, 0, bytes);
    if (c->redundant != 0) {
        snw_move(m, c->now->q, 0.5, c->d, c->mid->q);
        memcpy(c->mid->lambda, c->d + m->nv, (size_t)m->nconstraint * sizeof(double));
        (void)snw_redundancy_drop(c->redundancy, c->in, c->mid);
        memcpy(c->d + m->nv, c->mid->lambda, (size_t)m->nconstraint * sizeof(double));
    }
    memcpy(c->end->dropped, c->mid->dropped, bytes);
}

// Broyden's method on the matrix of the initial guess, from the part `by` of the accelerations.
static snw_status conserving_solve(snw_conserving *c, double h, double by, snw_stats *took) {
    const size_t n = (size_t)c->n, nv = (size_t)c->m->nv;
    for (size_t i = 0; i < nv; i++) c->d[i] = h * (c->now->v[i] + 0.5 * h * by * c->now->a[i]);
    for (size_t i = nv; i < n; i++) c->d[i] = c->now->lambda[i - nv];
    if (c->redundancy) conserving_drop_redundant(c);
    double norm = snw_conserving_evaluate(c, h, true), before = INFINITY, least = INFINITY;
    int stuck = 0;
    snw_broyden_reset(&c->broyden);
    for (int k = 0; k < 60 && !(norm <= c->tolerance) && stuck < 3; k++) {
        if (!isfinite(norm)) return SNW_E_DIVERGED;
        for (size_t i = 0; i < n; i++) c->dx[i] = -c->r[i];
        snw_lu_solve(c->n, c->A, c->pivot, c->dx);
        if (!snw_broyden_next(&c->broyden, c->dx)) { // restart with a new matrix
            snw_broyden_reset(&c->broyden);
            norm = snw_conserving_evaluate(c, h, true);
            continue;
        }
        for (size_t i = 0; i < n; i++) c->d[i] += c->dx[i];
        before = norm;
        norm = snw_conserving_evaluate(c, h, false);
        took->iterations++;
        if (!(norm < 1e3 * before)) return SNW_E_DIVERGED;
        // at rounding level the norm fluctuates; keep the best iterate
        if (norm > 1e3 * c->tolerance) continue;
        if (norm >= before) stuck++;
        if (norm >= least) continue;
        least = norm;
        memcpy(c->best, c->d, n * sizeof *c->best);
    }
    if (norm > least) {
        memcpy(c->d, c->best, n * sizeof *c->best);
        norm = snw_conserving_evaluate(c, h, false);
    }
    took->residual = norm;
    return norm <= 1e3 * c->tolerance ? SNW_OK : SNW_E_DIVERGED;
}

// Adds work, heat and the change of the reference energy, which excludes errors of the iteration so
// that they do not accumulate. Uses the state left by snw_conserving_evaluate.
void snw_conserving_account(snw_conserving *c, double h) {
    const snw_model *m = c->m;
    // the reaction of a moving pose includes the mean acceleration
    for (int i = 0; i < m->nv; i++) c->mid->a[i] = (c->end->v[i] - c->now->v[i]) / h;
    snw_residual(m, c->in, c->mid, false, c->w);
    snw_load_power(m, c->in, c->mid, c->w, c->power);
    snw_conserving_contacts_apply(c);
    const double heat = h * (snw_dissipation(m, c->mid->v) + snw_stops_heat(m, c->w) +
                             snw_force_elements_heat(m, c->w) + snw_tubes_heat(m, c->w) +
                             snw_contact_heat(m, c->w) + snw_rod_contacts_heat(m, c->w));
    for (int i = 0; i < snw_npower(m); i++) {
        c->work[i] += h * c->power[i];
        c->E0 += h * c->power[i];
    }
    c->heat += heat;
    c->E0 -= heat;
}

void snw_conserving_begin(snw_conserving *c, double h, double t_laws) {
    const snw_model *m = c->m;
    // inputs at the middle of the interval before a discontinuity
    snw_inputs_at(m, 0.5 * (c->now->t + t_laws), c->in);
    snw_inputs_at(m, t_laws, c->last);
    // reference energy under the gravity of this step: its change is not an error of the scheme
    c->E0 += snw_gravity_change(m, c->in, c->now, c->w, &c->gravity);
    snw_conserving_contacts_begin(c);
    // laws read an integral at the middle, extrapolated by its integrand
    c->in->integral_step = 0.5 * h;
    memcpy(c->mid->z, c->now->z, (size_t)m->nsignal * sizeof(double));
    memcpy(c->end->z, c->now->z, (size_t)m->nsignal * sizeof(double));
    c->end->t = c->now->t + h;
}

void snw_conserving_advance_memory(snw_conserving *c) {
    for (int i = 0; i < c->m->nsignal; i++) { // midpoint rule: twice the change up to the middle
        const bool grows = snw_signal_grows(&c->m->signal[i]);
        c->end->z[i] = grows ? 2 * c->w->signal[i] - c->now->z[i] : c->now->z[i];
    }
}

// Reports the step from c->now to c->end.
static void note_step(const snw_conserving *c, double h, double t_laws, double energy) {
    if (!c->watch.note) return;
    const snw_step_report report = {.event =
                                        c->redundant != 0 ? SNW_WATCH_OTHER : SNW_WATCH_CONSERVED,
                                    .s = c->end,
                                    .t_laws = t_laws,
                                    .h = h,
                                    .d = c->d,
                                    .start = c->now,
                                    .energy = energy,
                                    .start_laws = c->start_laws,
                                    .gravity_laws = c->gravity_laws};
    c->watch.note(c->watch.user, &report);
}

static void note_event(const snw_conserving *c, snw_step_event event, const double *before) {
    const snw_step_report report = {
        .event = event, .s = c->now, .t_laws = c->in->t, .before = before};
    if (c->watch.note) c->watch.note(c->watch.user, &report);
}

static snw_status one_step(snw_conserving *c, double h, double t_laws, snw_stats *took) {
    const snw_model *m = c->m;
    const double energy = c->E0;
    snw_conserving_begin(c, h, t_laws);
    snw_status s = conserving_solve(c, h, 1, took);
    // where an effort jumps on stiff light bodies, their accelerations lead far from the step
    if (s != SNW_OK) s = conserving_solve(c, h, 0, took);
    if (s != SNW_OK) return s;
    if (c->redundant != 0) {
        c->slipping = snw_redundancy_slips(c->redundancy, c->last, c->end, &c->slip_speed);
        if (c->slipping >= 0) return SNW_E_MODEL;
        memset(c->end->dropped, 0, (size_t)m->nnonholonomic * sizeof(double));
    }
    snw_conserving_account(c, h);
    snw_conserving_advance_memory(c);
    // mean accelerations: only the initial guess of the next step
    for (int i = 0; i < m->nv; i++) c->end->a[i] = (c->end->v[i] - c->now->v[i]) / h;
    memcpy(c->end->lambda, c->mid->lambda, (size_t)m->nconstraint * sizeof(double));
    memcpy(c->p0, c->p1, (size_t)m->nv * sizeof *c->p0);
    note_step(c, h, t_laws, energy);
    c->start_laws = t_laws;
    c->gravity_laws = c->in->t;
    c->shown = false;
    snw_state_copy(m, c->end, c->now);
    took->increments++;
    return SNW_OK;
}

// Does a force element connect a descendant of the root b with the world, or a field act on one?
static bool is_tied(const snw_model *m, const snw_block *b) {
    for (int i = 0; i < m->nforce_field_point; i++) {
        const snw_path *path = &m->path[m->seg[m->force_field_point[i].seg].path];
        if (path->n > 0 && path->dof[0] == b->dof) return true;
    }
    for (int i = 0; i < m->nforce_element; i++) {
        const int *end = m->force_element[i].end;
        for (int k = 0; k < 2; k++) {
            const snw_path *path = &m->path[m->seg[end[k]].path];
            const bool world = m->path[m->seg[end[1 - k]].path].n == 0;
            if (world && path->n > 0 && path->dof[0] == b->dof) return true;
        }
    }
    return false;
}

// Does an active nonholonomic constraint act on a descendant of the root b?
static bool conserving_root_is_held(const snw_conserving *c, const snw_block *b) {
    const snw_model *m = c->m;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const snw_path *path = &m->path[m->seg[loop->b].path];
        const bool on = loop->condition < 0 || c->now->z[m->condition_signal[loop->condition]] != 0;
        if (loop->nonholonomic_index >= 0 && on && path->n > 0 && path->dof[0] == b->dof)
            return true;
    }
    return false;
}

void snw_conserving_set_weights(snw_conserving *c) {
    const snw_model *m = c->m;
    memcpy(c->typical, m->typical, (size_t)m->nv * sizeof *c->typical);
    for (int i = m->nv; i < c->n; i++) {
        c->typical[i] = m->scale[0] * m->typical[0] / m->length;
    }
    for (int i = 0; i < m->nv; i++) c->weight[i] = m->scale[i] / m->typical[i];
    // forces on an unsupported root would change the total momentum
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b) || b->spring >= 0 || is_tied(m, b) ||
            conserving_root_is_held(c, b))
            continue;
        memset(c->weight + b->dof, 0, (size_t)b->n * sizeof *c->weight);
    }
    c->shortest_square = INFINITY;
    for (int i = 0; i < m->nv; i++) {
        const double small = 1e-6 * m->typical[i];
        if (c->weight[i] > 0)
            c->shortest_square = fmin(c->shortest_square, c->weight[i] * small * small);
    }
}

// ---- integrator

enum { NBLOCK = 11 };

// Inputs are evaluated again by the next query or step.
static void conserving_list_blocks(const snw_conserving *c, snw_checkpoint_block block[NBLOCK]) {
    const size_t nv = (size_t)c->m->nv;
    snw_conserving *own = (snw_conserving *)c;
    const snw_checkpoint_block list[NBLOCK] = {{&c->now->t, 1},
                                               snw_checkpoint_state(c->m, c->now),
                                               {c->p0, nv},
                                               {c->mass, nv},
                                               {c->work, (size_t)snw_npower(c->m)},
                                               {&own->heat, 1},
                                               {&own->E0, 1},
                                               {own->gravity.e, 3},
                                               {&own->redundant, 1},
                                               {&own->start_laws, 1},
                                               {&own->gravity_laws, 1}};
    memcpy(block, list, sizeof list);
}

size_t snw_integrator_conserving_saves(const snw_model *m) {
    return 1 + snw_state_doubles(m) + 2 * (size_t)m->nv + (size_t)snw_npower(m) + 8;
}

static void conserving_save(const void *self, double *out) {
    snw_checkpoint_block block[NBLOCK];
    conserving_list_blocks(self, block);
    (void)snw_checkpoint_save(NBLOCK, block, out);
}

static snw_status conserving_load(void *self, const double *in, snw_error *err) {
    (void)err;
    snw_checkpoint_block block[NBLOCK];
    conserving_list_blocks(self, block);
    (void)snw_checkpoint_load(NBLOCK, block, in);
    ((snw_conserving *)self)->shown = false;
    return SNW_OK;
}

static void conserving_undo(void *self) {
    (void)conserving_load(self, ((snw_conserving *)self)->saved, NULL);
}
static snw_status conserving_accelerations(snw_conserving *c, snw_error *err) {
    if (c->projection) return snw_projection_accelerations(c->projection, c->in, c->now, err);
    return snw_accelerations(c->m, c->in, c->now, c->w, c->M, err);
}

// Reports why no step is short enough.
static snw_status conserving_give_up(const snw_conserving *c, double h, snw_error *err) {
    snw_error why = {0};
    if (snw_inputs_check(c->m, c->in, c->in->t, &why) != SNW_OK)
        return snw_fail(err, SNW_E_DIVERGED, SNW_NO_LAW, c->now->t, why.text);
    if (c->slipping >= 0) {
        return snw_fail(err, SNW_E_MODEL, SNW_SLIP_MESSAGE, c->m->label.loop[c->slipping].name,
                        c->now->t, fabs(c->slip_speed));
    }
    return snw_fail(err, SNW_E_DIVERGED,
                    "no motion found beyond t = %g s (steps down to %.2g s); the results so far "
                    "are kept. Try a smaller step, or scheme: generalized-alpha",
                    c->now->t, h);
}

static snw_status conserving_restart(void *self, const double *z, snw_error *err) {
    snw_conserving *c = self;
    const snw_model *m = c->m;
    double *before = c->best;
    memcpy(before, c->now->v, (size_t)m->nv * sizeof *before);
    snw_inputs_at(m, c->now->t + snw_time_resolution(c->now->t), c->in);
    if (c->impacts) {
        snw_impact_energy impact;
        SNW_TRY(snw_impacts_apply(c->impacts, c->in, z, c->now, &impact, err));
        c->work[m->nload + 1] += impact.work;
        c->heat += impact.heat;
    } else if (z) {
        memcpy(c->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    snw_mass_matrix(m, c->in, c->now, c->w, c->M);
    for (int i = 0; i < m->nv; i++) c->mass[i] = c->M[(size_t)i * (size_t)(m->nv + 1)];
    snw_conserving_momenta(c, c->in, c->now, c->p0);
    SNW_TRY(conserving_accelerations(c, err));
    c->redundant = c->redundancy && snw_redundancy_found(c->redundancy);
    snw_conserving_set_weights(c);
    snw_residual(m, c->in, c->now, false, c->w);
    c->E0 = snw_kinetic_energy(m, c->w) + snw_conserving_potential(c, c->now, c->w);
    c->gravity = c->in->gravity;
    c->start_laws = c->gravity_laws = c->in->t;
    note_event(c, SNW_WATCH_RESTART, before);
    note_event(c, SNW_WATCH_ENERGY, NULL);
    c->shown = true;
    return SNW_OK;
}

static snw_status conserving_jump(void *self, const double *z, snw_error *err) {
    snw_conserving *c = self;
    double work;
    bool jumped;
    snw_inputs_at(c->m, c->now->t + snw_time_resolution(c->now->t), c->in);
    SNW_TRY(snw_law_jump_apply(c->law_jump, c->in, c->now, &work, &jumped, err));
    c->work[c->m->nload + 1] += work;
    const snw_step_report report = {.event = SNW_WATCH_OTHER, .s = c->now, .t_laws = c->in->t};
    if (jumped && c->watch.note) c->watch.note(c->watch.user, &report);
    return conserving_restart(c, z, err);
}

static snw_status conserving_start(void *self, const snw_state *s, snw_error *err) {
    snw_conserving *c = self;
    snw_state_copy(c->m, s, c->now);
    snw_state_clear_inactive(c->m, c->now);
    snw_inputs_at(c->m, c->now->t, c->in);
    if (c->projection) SNW_TRY(snw_projection_velocities(c->projection, c->in, c->now, err));
    for (int i = 0; i < snw_npower(c->m); i++) c->work[i] = 0;
    c->heat = 0;
    return conserving_restart(c, NULL, err);
}

static void conserving_set_interrupt(void *self, snw_interrupt interrupt) {
    ((snw_conserving *)self)->interrupt = interrupt;
}

static void conserving_set_watch(void *self, snw_step_watch watch) {
    ((snw_conserving *)self)->watch = watch;
}

static void conserving_set_monitor(void *self, snw_step_monitor monitor) {
    ((snw_conserving *)self)->monitor = monitor;
}

static snw_status conserving_advance(void *self, double to, double limit, snw_stats *took,
                                     snw_error *err) {
    const double t_laws = snw_before_jump(to, limit);
    snw_conserving *c = self;
    if (c->saved) conserving_save(c, c->saved);
    double h = to - c->now->t;
    const double shortest = 1e-6 * h;
    for (;;) {
        const double remaining = to - c->now->t;
        if (snw_interrupted(c->interrupt)) {
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", c->now->t);
        }
        if (c->patience > 0 && took->iterations > c->patience) return conserving_give_up(c, h, err);
        const bool last = h >= remaining * (1 - 1e-9);
        if (last) h = remaining;
        if (one_step(c, h, last ? t_laws : c->now->t + h, took) == SNW_OK) {
            if (last) c->now->t = to;
            if (last || snw_monitor_stops(c->monitor)) return SNW_OK;
            h *= 2;
            continue;
        }
        h *= 0.5;
        if (h < shortest) return conserving_give_up(c, h, err);
    }
}

static const snw_state *conserving_state(const void *self) {
    return ((const snw_conserving *)self)->now;
}
static const snw_inputs *conserving_inputs(const void *self) {
    return ((const snw_conserving *)self)->in;
}

void snw_conserving_use(snw_conserving *c, const snw_model *m) {
    c->m = m;
    if (c->projection) snw_projection_use(c->projection, m);
    if (c->impacts) snw_impacts_use(c->impacts, m);
    snw_law_jump_use(c->law_jump, m);
}

static void conserving_use(void *self, const snw_model *m) { snw_conserving_use(self, m); }

static void conserving_set_manual(void *self, const snw_manual_inputs *manual) {
    snw_conserving *c = self;
    c->in->manual = c->last->manual = manual;
}

static const snw_work *conserving_work_at(void *self) {
    snw_conserving *c = self;
    snw_error ignored;
    snw_inputs_at(c->m, c->start_laws, c->in); // those before a jump until the restart
    // the mass matrix was regular at the start of the step; if it is singular here, keep the mean
    // accelerations of the step
    if (conserving_accelerations(c, &ignored) != SNW_OK) {
        snw_inputs_at(c->m, c->start_laws, c->in);
    }
    snw_residual(c->m, c->in, c->now, false, c->w);
    snw_observe(c->m, c->in, c->now, false, c->w);
    if (!c->shown) note_event(c, SNW_WATCH_ACCELERATIONS, NULL);
    c->shown = true;
    return c->w;
}

static double conserving_condition(void *self) {
    snw_conserving *c = self;
    if (c->factored && isnan(c->condition)) {
        c->condition =
            snw_equilibration_condition(&c->equilibration, c->A, c->pivot, NULL, c->scratch);
    }
    return c->factored ? c->condition : NAN;
}

static snw_work_done conserving_work(const void *self) {
    const snw_conserving *c = self;
    return (snw_work_done){.n = snw_npower(c->m), .work = c->work, .heat = c->heat};
}

void snw_conserving_destroy(snw_conserving *c) {
    if (!c) return;
    snw_work_destroy(c->w);
    snw_law_jump_destroy(c->law_jump);
    snw_impacts_destroy(c->impacts);
    snw_projection_destroy(c->projection);
    snw_inputs_destroy(c->in);
    snw_inputs_destroy(c->unloaded);
    snw_inputs_destroy(c->last);
    snw_state_destroy(c->momentum_state);
    snw_state_destroy(c->now);
    snw_state_destroy(c->mid);
    snw_state_destroy(c->end);
    snw_free(c->block);
    snw_free(c->saved);
    snw_free(c);
}

static void conserving_close(void *self) { snw_conserving_destroy(self); }

static void conserving_place(void *object, snw_fields *f) {
    snw_conserving *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, n = nv + nr;
    const size_t np = (size_t)snw_npower(m), nb = snw_broyden_doubles((int)n, INCREMENTS),
                 points = (size_t)m->ncontact_point;
    CONSERVING_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_conserving_create(const snw_model *m, snw_conserving **out) {
    bool moving = false;
    for (int i = 0; i < m->npose; i++) moving |= (snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0;
    *out = NULL;
    snw_conserving *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    c->m = m;
    c->moving = moving;
    c->tolerance = 1e-12;
    c->n = m->nv + m->nconstraint;
    c->block = snw_fields_create(conserving_place, c);
    if (!c->block || snw_work_create(m, &c->w) != SNW_OK ||
        snw_inputs_create(m, &c->in) != SNW_OK || snw_inputs_create(m, &c->unloaded) != SNW_OK ||
        snw_inputs_create(m, &c->last) != SNW_OK ||
        snw_state_create(m, &c->momentum_state) != SNW_OK ||
        snw_state_create(m, &c->now) != SNW_OK || snw_state_create(m, &c->mid) != SNW_OK ||
        snw_state_create(m, &c->end) != SNW_OK) {
        snw_conserving_destroy(c);
        return SNW_E_MEMORY;
    }
    c->equilibration = (snw_equilibration){
        .n = c->n, .row = c->equilibration_row, .column = c->equilibration_column};
    c->A = m->nconstraint ? c->bordered : c->T;
    c->slipping = -1;
    c->broyden = snw_broyden_on(c->n, INCREMENTS, c->typical, c->broyden_memory);
    snw_conserving_set_weights(c);
    *out = c;
    return SNW_OK;
}

// Checkpoints, projections and impacts of a motion.
static snw_status conserving_prepare(snw_conserving *c, const snw_step_desc *step) {
    const snw_model *m = c->m;
    c->patience = step->patience;
    if (step->tolerance > 0) c->tolerance = step->tolerance;
    if (m->nsignal) {
        c->saved = snw_alloc(snw_integrator_conserving_saves(m) * sizeof(double));
        if (!c->saved) return SNW_E_MEMORY;
    }
    if (m->nloop + m->ncondition) SNW_TRY(snw_projection_create(m, &c->projection));
    if (m->ncondition) SNW_TRY(snw_impacts_create(m, c->projection, &c->impacts));
    SNW_TRY(snw_law_jump_create(m, c->projection, &c->law_jump));
    c->redundancy = c->projection ? snw_projection_redundancy(c->projection) : NULL;
    if (c->redundancy && step->torque > 0) snw_redundancy_weigh(c->redundancy, step->torque);
    return SNW_OK;
}

snw_status snw_integrator_conserving(const snw_model *m, const snw_step_desc *step,
                                     snw_integrator *out) {
    snw_conserving *c;
    SNW_TRY(snw_conserving_create(m, &c));
    if (conserving_prepare(c, step) != SNW_OK) {
        snw_conserving_destroy(c);
        return SNW_E_MEMORY;
    }
    *out = (snw_integrator){.self = c,
                            .grid = step->step,
                            .set_interrupt = conserving_set_interrupt,
                            .set_watch = conserving_set_watch,
                            .set_monitor = conserving_set_monitor,
                            .start = conserving_start,
                            .advance = conserving_advance,
                            .restart = conserving_jump,
                            .undo = conserving_undo,
                            .use = conserving_use,
                            .set_manual = conserving_set_manual,
                            .state = conserving_state,
                            .inputs = conserving_inputs,
                            .work_at = conserving_work_at,
                            .condition = conserving_condition,
                            .work = conserving_work,
                            .save = conserving_save,
                            .load = conserving_load,
                            .close = conserving_close};
    return SNW_OK;
}
