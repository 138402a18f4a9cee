// SPDX-License-Identifier: MIT
//
// A static step by the strain engine: an equilibrium, or a path of equilibria at successive times,
// with their stability and the warnings about branches that end or become unstable.
#include "study/run_private.h"

#include "base/fail.h"
#include "dynamics/rod_contact.h"
#include "sinew/inverse.h"
#include "study/memory.h"

#include <math.h>
#include <stdio.h>

enum { MOST_EIGEN = 800, MOST_LEFT = 5 };

// out <- fraction of the load from which the branch is unstable; empty when not known.
static void format_load_fraction(const snw_statics_info *info, char *out, size_t size) {
    out[0] = 0;
    if (isfinite(info->left)) (void)snprintf(out, size, " from %.2g of the load on", info->left);
}

// Warn of loops closed with compliance (once) and of branches that were left (MOST_LEFT times).
static void warn_of_branch(snw_run *r, double t, const snw_statics_info *info) {
    char text[400], from[40];
    if (info->violation > 0 && !r->warned_violation) {
        r->warned_violation = true;
        (void)snprintf(
            text, sizeof text,
            "run '%s': at t = %g s loops nearly contradict each other and are closed only to %.2g "
            "m or rad. Use joints with more freedom in the loops, or remove some",
            r->info.run, t, info->violation);
        snw_run_warn(r, text);
    }
    const bool ended = info->branch == SNW_BRANCH_ENDED, left = info->branch == SNW_BRANCH_LEFT;
    const bool several = info->branch == SNW_BRANCH_OF_START;
    if (!(ended || left || several) || r->nbranch_left >= MOST_LEFT) return;
    r->nbranch_left++;
    format_load_fraction(info, from, sizeof from);
    if (ended) {
        (void)snprintf(
            text, sizeof text,
            "run '%s': at t = %g s the branch of equilibria ends at %.4g of the load (a limit "
            "point); the robot snapped to another stable equilibrium. 'branch: follow' stops there",
            r->info.run, t, info->left);
    } else if (several) {
        (void)snprintf(
            text, sizeof text,
            "run '%s': at t = %g s there are several stable equilibria; this is the one that the "
            "robot reaches from its initial shape, so another 'initial:' may choose another",
            r->info.run, t);
    } else {
        (void)snprintf(text, sizeof text,
                       "run '%s': at t = %g s the equilibrium on this branch is unstable%s; it was "
                       "left for a stable one nearby%s. 'branch: follow' keeps it",
                       r->info.run, t, from,
                       info->others ? ", of which there are two: a small load or 'initial:' "
                                      "chooses the other"
                                    : "");
    }
    snw_run_warn(r, text);
}

// Name of the loop of a constraint row, or of the row if it has none.
static const char *row_owner(const snw_model *m, int row) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (row >= loop->row && row < loop->row + loop->nrow) return m->label.loop[i].name;
    }
    return "a drive or a given length";
}

// Tell once what springs leave of the violation of loops, and rows without a multiplier of their
// own.
static void warn_of_loops(snw_run *r, double t, const snw_statics_opts *opts,
                          const snw_statics_info *info) {
    const snw_penalty_info *p = &info->penalty;
    char text[400];
    const bool springs = opts->penalty > 0 && r->now->model->nconstraint > 0;
    if (springs && opts->penalty_updates >= 0 && !r->warned_penalty) {
        r->warned_penalty = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': at t = %g s the loops are closed by a penalty to %.2g m after %d "
                       "updates of their multipliers; a further one multiplies this by %.3g",
                       r->info.run, t, p->violation, p->updates, p->contraction);
        snw_run_warn(r, text);
    }
    if (springs && p->needed > 0 && !r->warned_push) {
        r->warned_push = true;
        (void)snprintf(text, sizeof text,
                       "run '%s': at t = %g s the robot pushes against its loops beyond what it "
                       "carries without them: with a penalty below %.3g N/m updates of the "
                       "multipliers diverge",
                       r->info.run, t, p->needed);
        snw_run_warn(r, text);
    }
    if (info->dependent > 0 && !r->warned_dependent) {
        r->warned_dependent = true;
        (void)snprintf(
            text, sizeof text,
            "run '%s': at t = %g s %d rows of loops depend on others, the first of '%s'; "
            "their multipliers are not determined",
            r->info.run, t, info->dependent, row_owner(r->now->model, info->dependent_row));
        snw_run_warn(r, text);
    }
}

// Eigenvalues of a tangent that is not symmetric need a matrix.
static void note_untested(snw_run *r) {
    if (!r->now->model->local || r->noted_local || snw_statics_negative(r->now->statics) >= 0)
        return;
    char text[300];
    r->noted_local = true;
    (void)snprintf(
        text, sizeof text,
        "run '%s': the model has %d coordinates, which are eliminated along its rods, and loads "
        "without potential (follower loads, a field, or friction of tendons that slide); its "
        "equilibria are not tested for stability. Test them with fewer elements",
        r->info.run, r->now->model->nv);
    snw_run_note(r, text);
}

// Warn once, unless the study records the stability or computes modes.
static void static_run_warn_unstable(snw_run *r, double stability, const snw_statics_info *info) {
    char text[300], from[40];
    if (!(stability < SNW_UNSTABLE) || r->warned_unstable || r->reads_stability) return;
    for (int i = 0; i < r->desc->nstep; i++) {
        if (r->desc->step[i].kind == SNW_STEP_MODES) return;
    }
    r->warned_unstable = true;
    format_load_fraction(info, from, sizeof from);
    (void)snprintf(text, sizeof text,
                   "run '%s': the equilibrium at t = %g s is unstable%s; see the probe "
                   "'stability', or start elsewhere (initial:)",
                   r->info.run, r->state->t, from);
    snw_run_warn(r, text);
}

// Stability of a model that is too large for eigenvalues, by the signs of the pivots. Told once.
static void tell_pivots(snw_run *r, const snw_statics_info *info) {
    char text[300];
    if (info->unstable == 0 || r->warned_unstable) return;
    r->warned_unstable = true;
    if (info->unstable > 0) {
        (void)snprintf(text, sizeof text,
                       "run '%s': the equilibrium at t = %g s is unstable: it is no minimum of the "
                       "energy in %d directions; start elsewhere (initial:)",
                       r->info.run, r->state->t, info->unstable);
        snw_run_warn(r, text);
        return;
    }
    (void)snprintf(text, sizeof text,
                   "run '%s': the stability of equilibria is not known: the model has %d "
                   "coordinates, too many for eigenvalues, and its loads have no energy, or "
                   "factors of its tangent need exchanges of rows",
                   r->info.run, r->now->model->nv);
    snw_run_note(r, text);
}

snw_status snw_run_equilibrium_frame(snw_run *r, int stage, const snw_statics_info *info, bool last,
                                     snw_error *err) {
    const snw_model *m = r->now->model;
    const snw_inverse_result *found = snw_run_inverse_found(r, stage);
    // friction has no energy whose minimum is stable, and a flow passes through no equilibria
    const bool unchecked = r->hooks && r->hooks->unchecked;
    // a local model is tested by its pivots: its eigenvalues are computed where they are recorded
    // or show why it is unstable
    const bool tested = m->local ? snw_statics_negative(r->now->statics) > 0 : m->nv <= MOST_EIGEN;
    const bool eigen = (r->reads_stability || (tested && !unchecked)) &&
                       !r->desc->step[stage].friction && !r->desc->step[stage].march_flow;
    const snw_stability st =
        eigen ? snw_statics_stability(r->now->statics, r->state) : (snw_stability){.value = NAN};
    r->totals.stability = st.value;
    r->totals.follower = !st.symmetric;
    if (!(info->reached < 1)) static_run_warn_unstable(r, st.value, info);
    note_untested(r);
    if (!eigen && m->nv > MOST_EIGEN && !m->local && !(info->reached < 1)) tell_pivots(r, info);
    snw_run_warn_indefinite(r, r->state);
    snw_stats stats = {.iterations = info->iterations,
                       .increments = info->increments,
                       .load = info->reached,
                       .residual = info->residual,
                       .condition = info->condition,
                       .stability = st.value,
                       .geometry = snw_geometry_error(m, r->state->q, r->state->t),
                       .truncation = NAN,
                       .distance = found ? found->distance : 0};
    if (snw_run_error_estimate_due(r, last) && !(info->reached < 1)) {
        const bool steady = r->desc->step[stage].steady;
        snw_run_estimate_errors(r, r->state, steady ? SNW_TRUNCATION_STEADY : SNW_TRUNCATION_REST,
                                &stats);
        if (m->local) stats.condition = snw_statics_condition(r->now->statics, r->state);
    }
    const snw_work *w = snw_statics_work_at(r->now->statics, r->state);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    if (!(info->reached < 1) && !r->desc->step[stage].steady) snw_run_warn_contact_friction(r, w);
    const snw_frame_source view = {
        .state = r->state,
        .in = in,
        .w = w,
        .partial = info->reached < 1,
        .energy = {.kinetic = r->desc->step[stage].steady ? snw_kinetic_energy(m, w) : 0,
                   .elastic = snw_stored_energy(m, r->state, w),
                   .gravity = snw_gravity_energy(m, in, w),
                   .dissipated = r->heat,
                   .work = r->work,
                   .scheme = r->scheme,
                   .balance = r->balance},
        .stats = stats};
    return snw_run_frame(r, stage, &view, err);
}

void snw_run_remember(snw_run *r) {
    const snw_model *m = r->now->model;
    if (!snw_memory_has_events(m)) return;
    snw_work *w = (snw_work *)snw_statics_work_at_time(r->now->statics, r->state, r->cursor.t0);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    const snw_energy e = {.elastic = snw_stored_energy(m, r->state, w),
                          .gravity = snw_gravity_energy(m, in, w)};
    for (int i = 0; i < m->nsignal; i++) r->never_sampled[i] = true;
    (void)snw_memory_update(m, in, r->state, &e, r->never_sampled, r->rotation_scratch, w, r->z);
    snw_impacts *ip = snw_statics_impacts(r->now->statics);
    if (ip) {
        snw_impacts_set_conditions(ip, in, r->z, r->state);
        snw_impacts_drop_redundant(ip, in, r->state);
        snw_run_warn_dropped_rows(r, r->state);
    }
    for (int i = 0; !ip && i < m->nsignal; i++) r->state->z[i] = r->z[i];
}

snw_status snw_run_refuse_nonholonomic(const snw_run *r, const snw_step_desc *step,
                                       snw_error *err) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nloop; i++) {
        if (!m->loop[i].sliding_station || m->loop[i].nrow == 0) continue;
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "contact '%s' moves along a rod and constrains the velocity of passing "
                     "material, so the equilibrium of step '%s' is not determined; switch it off "
                     "(when: off), use a fixed station, or use a kinematic step",
                     m->label.loop[i].name, step->name),
            step->location.file, step->location.line, step->location.column);
    }
    return SNW_OK;
}

snw_status snw_run_refuse_relaxation(const snw_run *r, const snw_step_desc *step, const char *what,
                                     snw_error *err) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].nbranch == 0) continue;
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "step '%s': %s do not support the relaxation of rod '%s' in this version; "
                     "leave 'relaxation' of its material out, or use static and dynamic steps",
                     step->name, what, m->label.link[m->rod[i].link].name),
            step->location.file, step->location.line, step->location.column);
    }
    return SNW_OK;
}

// Newton's method may find an equilibrium on the other side of an obstacle.
static void warn_passed(snw_run *r, double t) {
    const snw_model *m = r->now->model;
    const snw_work *w = snw_statics_work_at(r->now->statics, r->state);
    const int k = snw_contact_passed(m, w, r->contact_place);
    snw_touch rods;
    const bool passed = snw_rod_contacts_passed(m, w, r->contact_place, &rods);
    if ((k < 0 && !passed) || r->warned_passed) return;
    const char *link =
        passed ? snw_touch_link(m, &rods, 0) : m->label.link[m->contact_point[k].link].name;
    const char *other = passed ? snw_touch_link(m, &rods, 1)
                               : m->label.contact[m->contact[m->contact_point[k].contact].of].name;
    char text[400];
    r->warned_passed = true;
    (void)snprintf(
        text, sizeof text,
        "at t = %g s link '%.60s' may have passed through %s '%.60s' on its way to "
        "the equilibrium; let loads and drives grow along a path (static: {for, step})%s",
        t, link, passed ? "rod" : "obstacle", other, r->loads_applied ? " with shorter steps" : "");
    snw_run_warn(r, text);
}

// Equilibrium at time t. sum: solver statistics since the last frame.
static snw_status static_run_solve(snw_run *r, double t, const snw_statics_opts *opts,
                                   snw_statics_info *sum, snw_error *err) {
    snw_statics_info info;
    const bool curved = snw_contact_has_curved(r->now->model);
    if (curved)
        snw_contact_places(r->now->model,
                           snw_statics_work_at_time(r->now->statics, r->state, r->state->t),
                           r->contact_place);
    const snw_status s = snw_statics_solve(r->now->statics, t, opts, r->state, &info, err);
    if (s == SNW_OK && curved) warn_passed(r, t);
    sum->iterations += info.iterations;
    sum->increments += info.increments;
    sum->residual = info.residual;
    sum->reached = info.reached;
    sum->condition = info.condition;
    if (s == SNW_OK) warn_of_branch(r, t, &info), warn_of_loops(r, t, opts, &info);
    if (info.branch == SNW_BRANCH_UNSTABLE) sum->left = info.left;
    r->totals.iterations += info.iterations;
    r->totals.increments += info.increments;
    if (!(info.residual <= r->totals.worst_residual)) r->totals.worst_residual = info.residual;
    return s;
}

static bool static_run_should_stop(void *user) { return snw_run_stopped(user); }

// A loop knows the angle of its law up to whole turns only: of more than half a turn between two
// equilibria one or more are lost. True: a warning was given.
static bool static_run_warn_turns(snw_run *r, double t0, double t1) {
    static const double PI = 3.14159265358979323846;
    for (int i = 0; i < r->desc->nloop; i++) {
        const snw_loop_desc *loop = &r->desc->loop[i];
        for (int k = 0; k < loop->pose.nturn; k++) {
            const snw_law angle = loop->pose.turn[k].angle;
            if (snw_expr_vars(angle) != SNW_VAR_T) continue;
            const double turn =
                snw_expr_value(angle, (snw_at){.t = t1}) - snw_expr_value(angle, (snw_at){.t = t0});
            if (!(fabs(turn) > PI)) continue;
            char text[300];
            (void)snprintf(text, sizeof text,
                           "loop '%.60s' is turned by %.3g turns between the equilibria at t = %g "
                           "s and %g s, of which it sees the part beyond whole turns only; write "
                           "a 'step' with less than half a turn",
                           loop->name, turn / (2 * PI), t0, t1);
            snw_run_warn(r, text);
            return true;
        }
    }
    return false;
}

snw_status snw_run_first_equilibrium(snw_run *r, snw_error *err) {
    snw_statics_opts opts = snw_statics_defaults();
    opts.assemble = true;
    opts.stop = static_run_should_stop, opts.user = r;
    snw_statics_info sum = {.left = NAN};
    SNW_TRY(static_run_solve(r, r->state->t, &opts, &sum, err));
    r->loads_applied = true;
    return SNW_OK;
}

snw_status snw_run_static(snw_run *r, int stage, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const snw_model *m = r->now->model;
    SNW_TRY(snw_run_refuse_nonholonomic(r, step, err));
    snw_statics_opts opts = snw_statics_defaults();
    if (step->tolerance > 0) opts.tolerance = step->tolerance;
    opts.march = step->march;
    opts.march_step = step->march_step;
    opts.march_gain = step->march_gain;
    opts.march_flow = step->march_flow;
    opts.penalty = step->penalty;
    opts.penalty_length = step->penalty_length;
    opts.penalty_updates = step->penalty_updates;
    opts.steady = step->steady;
    opts.follow = step->follow;
    opts.friction = step->friction;
    opts.relaxation = step->relaxation;
    if (m->nbranch && step->relaxation.kind == SNW_RELAXED_NOT_STATED) {
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "step '%s': an equilibrium of a material with 'relaxation' depends on how "
                     "long it has lasted; say 'relaxation: instant', 'relaxation: relaxed' or a "
                     "time",
                     step->name),
            step->location.file, step->location.line, step->location.column);
    }
    opts.stop = static_run_should_stop, opts.user = r;
    const double t0 = r->cursor.t0;
    const long path = snw_run_instants(step); // at most 1e7, checked when the file is read
    snw_statics_info sum = {.left = NAN};
    bool turned = false;
    if (!r->resuming) snw_run_remember(r);
    for (long k = r->resuming ? (long)r->cursor.k + 1 : 0; k <= path; k++) {
        const double t = snw_run_instant(step, t0, k);
        if (snw_run_stopped(r)) {
            return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", r->state->t);
        }
        SNW_TRY(snw_run_place_tubes(r, t, true, err));
        if (k > 0 && !turned) turned = static_run_warn_turns(r, r->state->t, t);
        bool changed = true;
        while (changed) { // until the mesh fits the shape found
            opts.assemble = !r->loads_applied;
            const snw_status s = static_run_solve(r, t, &opts, &sum, err);
            if (s != SNW_OK) {
                // record the last equilibrium reached, marked by its fraction of the load
                snw_error ignored = {0};
                if (sum.reached > 0 && sum.reached < 1)
                    (void)snw_run_equilibrium_frame(r, stage, &sum, true, &ignored);
                return s;
            }
            r->loads_applied = true;
            SNW_TRY(snw_run_mesh_adapt(r, r->state, true, false, &changed, err));
        }
        SNW_TRY(snw_run_check_limits(r, r->state, err));
        snw_run_report_progress(r, stage, t, t0, t0 + step->duration);
        if (!snw_run_frame_due(r, t, k == path)) continue;
        r->cursor.k = (double)k;
        SNW_TRY(snw_run_equilibrium_frame(r, stage, &sum, k == path, err));
        sum = (snw_statics_info){.left = NAN};
    }
    return SNW_OK;
}
