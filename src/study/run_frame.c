// SPDX-License-Identifier: MIT
//
// Frames: evaluates the probes, forces and declared coordinates at a state, updates the totals and
// passes the frame to the recorders. Also the checks of limits at every instant.
#include "study/run_private.h"

#include "base/fail.h"
#include "constraint/locomotion_connection.h"
#include "dynamics/chamber.h"
#include "sinew/robot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Violation of redundant rows above which a warning is issued, in radians or relative to the
// robot's size.
static const double OPEN_LIMIT = 1e-4;

// Rows were left out because the others implied them at several times of the study. Where they are
// violated in between, the driven motion is incompatible with the loop closures.
static void check_redundant_rows(snw_run *r, const snw_frame_source *v) {
    const snw_model *m = r->now->model;
    int spare = 0, row = 0;
    for (int i = 0; i < m->nloop; i++) spare += m->loop[i].nredundant;
    if (spare == 0 || r->warned_open) return;
    snw_projection *pr = snw_statics_projection(r->now->statics);
    const double violation = snw_projection_violation(pr, v->in, v->state, &row);
    if (violation <= OPEN_LIMIT) return;
    const char *kind, *name;
    char by[64], text[400];
    snw_projection_explain_violation(pr, row, violation, by, sizeof by);
    (void)snw_projection_location_of(pr, row, &kind, &name);
    (void)snprintf(text, sizeof text,
                   "run '%.60s': %s '%.60s' is open by %s at t = %g s: rows of it were dropped as "
                   "redundant, which they are not there; check the drives",
                   r->info.run, kind, name, by, v->state->t);
    snw_run_warn(r, text);
    r->warned_open = true;
}

// r->declared_q, r->declared_v <- coordinates and velocities, or the mode of a special point, in
// the strain bases of the file
static void declared_coordinates(snw_run *r, const snw_frame_source *source) {
    const snw_model *m = r->now->model;
    const double *v = source->mode ? source->mode : source->state->v;
    memcpy(r->declared_q, source->state->q, (size_t)m->nq * sizeof *r->declared_q);
    memcpy(r->declared_v, v, (size_t)m->nv * sizeof *r->declared_v);
    for (int i = 0; i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        snw_rod_declare(m, rod, r->declared_q + rod->dof0 + rod->shift);
        snw_rod_declare(m, rod, r->declared_v + rod->dof0);
    }
}

// Warn of straight tendon segments of zero length: their direction is undefined and Newton's
// iteration may not converge.
static void warn_zero_length(snw_run *r, const snw_frame_source *v) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *x = &m->tendon[i];
        int part = 0;
        for (int k = x->point_adr; k < x->point_adr + x->npoint; k++) {
            if (m->tendon_point[k].segment < 0) continue;
            const snw_tendon_segment *p = &m->tendon_segment[m->tendon_point[k].segment];
            part++;
            const double f = snw_norm(snw_sub(v->w->g[p->b].p, v->w->g[p->a].p));
            if (r->warned_limit[m->nlink + i] || f > 1e-3 * x->reference) continue;
            char text[280];
            (void)snprintf(text, sizeof text,
                           "run '%s': straight segment %d of %s '%.60s' has zero length at t = "
                           "%g s and no direction; move its two sites apart, or pull less",
                           r->info.run, part, x->type->noun, x->name, v->state->t);
            snw_run_warn(r, text);
            r->warned_limit[m->nlink + i] = true;
        }
    }
}

// Rule that the area law of a chamber breaks at the present stretch and pressure; NULL: none.
static const char *area_rule(const snw_model *m, int i, const snw_work *w) {
    static const double tolerance = 1e-6;
    const snw_tendon *x = &m->tendon[i];
    for (int k = x->point_adr; k < x->point_adr + x->npoint && x->area->by_pressure; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        const double stretch = snw_chamber_stretch(p, w->tendon_point[k].xi);
        if (snw_chamber_force_error(x->area, p->x, m->rod[p->rod].L, stretch, w->tendon[i].effort) >
            tolerance)
            return "has an area that jumps or turns sharply as the pressure grows, so that its "
                   "force is inaccurate; give a smooth law";
    }
    return NULL;
}

// Warn of actuators beyond the range of the law of their effort.
static void warn_law_range(snw_run *r, const snw_frame_source *v) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *x = &m->tendon[i];
        if ((!x->type->exceeds && !x->area) || r->warned_limit[m->desc->nlink + i]) continue;
        const char *rule =
            x->area ? area_rule(m, i, v->w) : x->type->exceeds(x->constant, v->w->tendon[i].value);
        if (!rule) continue;
        char text[280];
        (void)snprintf(text, sizeof text, "run '%s': %s '%.60s' %s, first seen at t = %g s",
                       r->info.run, x->type->noun, x->name, rule, v->state->t);
        snw_run_warn(r, text);
        r->warned_limit[m->desc->nlink + i] = true;
    }
}

// Warn of motors at the limit of their effort, beyond it, or faster than the limit of their rate.
static void warn_motor_limits(snw_run *r, const snw_frame_source *v) {
    const snw_model *m = r->now->model;
    const int first = m->desc->nlink + m->ntendon + m->nforce_element;
    for (int i = 0; i < m->nmotor; i++) {
        const snw_motor_desc *d = &m->desc->motor[i];
        bool *warned = &r->warned_limit[first + 2 * i];
        for (int k = 0; k < d->n; k++) {
            char text[320];
            const double rate = v->state->v[m->motor[i].dof + k];
            const int reached = snw_motor_limits(m, i, k, v->in, v->state, v->w);
            if ((reached & SNW_LIMIT_EFFORT) && !warned[0]) {
                const bool cut = snw_gives_effort(d->given);
                const double e = snw_motor_effort(m, i, k, v->in, v->w), most = d->effort_limit[k];
                warned[0] = true;
                (void)snprintf(text, sizeof text,
                               cut ? "run '%s': actuator '%.60s' is at its limit of effort at t = "
                                     "%g s: %g of at most %g; it is asked for as much or more"
                                   : "run '%s': actuator '%.60s' needs more than its limit of "
                                     "effort at t = %g s: %g of at most %g; a slower motion needs "
                                     "less, and a law of its 'effort' would be cut off",
                               r->info.run, d->name, v->state->t, e, most);
                snw_run_warn(r, text);
            }
            if (!(reached & SNW_LIMIT_RATE) || warned[1]) continue;
            warned[1] = true;
            (void)snprintf(text, sizeof text,
                           "run '%s': actuator '%.60s' is faster than its limit of rate at t = %g "
                           "s: %g of at most %g",
                           r->info.run, d->name, v->state->t, rate, d->rate_limit[k]);
            snw_run_warn(r, text);
        }
    }
}

// Warn of force elements along a line without length, which has no direction, and of bushings near
// half a turn, where the rotation vector jumps to the opposite side.
static void warn_degenerate_elements(snw_run *r, const snw_frame_source *v) {
    const snw_model *m = r->now->model;
    static const double NEAR_HALF_TURN = 0.95 * 3.14159265358979323846;
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element *e = &m->force_element[i];
        const snw_force_element_work *at = &v->w->force_element[i];
        const snw_force_element_type *type = &snw_force_element_table[e->kind];
        bool *warned = &r->warned_limit[m->desc->nlink + m->ntendon + i];
        const bool regular = e->kind == SNW_ELEMENT_SPRING && e->rest == 0 && !e->force;
        const bool turned = type->frames && snw_norm(at->turn) > NEAR_HALF_TURN;
        const bool short_line =
            !type->frames && !regular && at->length < 1e-3 * fmax(e->rest, 1e-3 * m->length);
        if (*warned || !at->acts || (!turned && !short_line)) continue;
        char text[280];
        (void)snprintf(text, sizeof text, "run '%s': %s '%.60s' %s at t = %g s; %s", r->info.run,
                       type->name, m->desc->force_element[i].name,
                       turned ? "is turned by almost half a turn, beyond which its moment jumps"
                              : "has zero length and no direction",
                       v->state->t,
                       turned ? "keep the rotation smaller, or turn one of its sites"
                              : "move its ends apart");
        snw_run_warn(r, text);
        *warned = true;
    }
}

// r->fold <- derivatives of the fold that the frame shows; NaN: none
static void copy_fold(snw_run *r, int stage, const double *derivative) {
    for (int i = 0, k = 0; i < r->info.nfold; i++) {
        const bool own = derivative && r->info.fold[i].stage == stage;
        r->fold[i] = own ? derivative[k++] : NAN;
    }
}

snw_status snw_run_frame(snw_run *r, int stage, const snw_frame_source *v, snw_error *err) {
    const snw_model *m = r->now->model;
    snw_rotations_update(m, v->w, r->rotation);
    snw_connection_use(r->now->connection, m);
    const snw_readings readings = {.energy = v->energy,
                                   .stability = v->stats.stability,
                                   .frequency = r->frequency,
                                   .pole = r->pole,
                                   .start = r->start,
                                   .rotation = r->rotation,
                                   .fields = v->fields,
                                   .connection = r->now->connection};
    for (int i = 0; i < r->desc->nprobe; i++) {
        if (r->column_first[i] < 0) continue;
        snw_probe_read(m, i, v->in, v->state, v->w, &readings, r->column + r->column_first[i]);
    }
    snw_run_forces(r, v, r->forces);
    copy_fold(r, stage, v->fold);
    check_redundant_rows(r, v);
    declared_coordinates(r, v);
    warn_zero_length(r, v);
    warn_law_range(r, v);
    warn_degenerate_elements(r, v);
    warn_motor_limits(r, v);
    r->totals.frames++;
    if (!(v->stats.geometry <= r->totals.worst_geometry)) {
        r->totals.worst_geometry = v->stats.geometry;
    }
    if (!(v->stats.quadrature <= r->totals.worst_quadrature)) {
        r->totals.worst_quadrature = v->stats.quadrature;
    }
    // of a mode it is the error of its frequency
    if (v->stats.mode == 0 && v->stats.truncation >= 0 &&
        !(v->stats.truncation <= r->totals.worst_truncation)) {
        r->totals.worst_truncation = v->stats.truncation;
    }
    if (v->stats.condition > r->totals.worst_condition) {
        r->totals.worst_condition = v->stats.condition;
    }
    const double *loop = r->forces + 6 * (size_t)r->info.nload;
    const double *contact = loop + 6 * (size_t)r->info.nloop;
    const double *effort = contact + 6 * (size_t)r->info.ncontact;
    const bool saves = !v->partial && !v->unsaved && !(r->hooks && r->hooks->unchecked);
    const snw_frame f = {.stage = stage,
                         .t = v->state->t,
                         .partial = v->partial,
                         .q = r->declared_q,
                         .v = r->declared_v,
                         .pose = snw_run_frame_poses(r, v),
                         .column = r->column,
                         .load = r->forces,
                         .loop = loop,
                         .contact = contact,
                         .effort = effort,
                         .present = effort + r->info.ntendon,
                         .field = effort + r->info.ntendon + r->info.ncondition,
                         .fold = r->fold,
                         .linear = v->linear,
                         .energy = v->energy,
                         .stats = v->stats,
                         .save = saves ? snw_run_checkpoint_save(r, v) : NULL};
    if (r->hooks && r->hooks->state) {
        const snw_step_kind kind = r->desc->step[stage].kind;
        const snw_run_state at = {.stage = stage,
                                  .m = m,
                                  .s = v->state,
                                  .in = v->in,
                                  .moves = v->integrator != NULL,
                                  .shown = v->partial || (v->mode && !v->of_path) ||
                                           kind == SNW_STEP_MODES || kind == SNW_STEP_LINEARIZE,
                                  .save = f.save,
                                  .relaxation = r->desc->step[stage].relaxation,
                                  .steady = r->desc->step[stage].steady,
                                  .place = v->place,
                                  .w = v->w};
        SNW_TRY(r->hooks->state(r->hooks->user, &at, err));
    }
    for (int i = 0; i < r->nrecorder; i++) {
        const snw_status s = r->recorder[i].frame(r->recorder[i].user, &f, err);
        if (s != SNW_OK) return s;
    }
    return SNW_OK;
}

bool snw_run_frame_due(snw_run *r, double t, bool last) {
    const double every = r->desc->record_every;
    if (!(every > 0) || last || t >= r->next_frame - 1e-9 * every) {
        if (every > 0) r->next_frame = (floor(t / every + 1e-9) + 1) * every;
        return true;
    }
    return false;
}

// Warn of tendons of given length whose tension is negative.
static void warn_pushing_tendons(snw_run *r, const snw_state *s) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *x = &m->tendon[i];
        const bool length = x->type->only_pulls && x->row >= 0;
        // -1e-9 N: rounding
        if (!length || r->warned_limit[m->nlink + i] || !(s->lambda[x->row] < -1e-9)) continue;
        char text[280];
        (void)snprintf(
            text, sizeof text,
            "run '%s': %s '%.60s' would have to push at t = %g s: its tension is %g N, and a "
            "%s can only pull; give it a 'compliance', so that it can be slack",
            r->info.run, x->type->noun, x->name, s->t, s->lambda[x->row], x->type->noun);
        snw_run_warn(r, text);
        r->warned_limit[m->nlink + i] = true;
    }
}

// Check the section of a variable-length rod at the material coordinates of its present free length
// lambda; these are not known when the file is read.
static snw_status check_section(const snw_model *m, const snw_rod *rod, double lambda,
                                snw_error *err) {
    const snw_link_desc *link = &m->desc->link[rod->link];
    for (int k = -1; k < rod->nseg; k++) {
        const double y = k < 0 ? 1 : 1 - m->seg_x[rod->seg0 + k] / rod->L;
        double H[36], D[36];
        snw_inertia M;
        SNW_TRY(snw_section_at(&link->rod, link->name, rod->L - lambda * y, H, D, &M, err));
    }
    return SNW_OK;
}

// Error if rod i is a part of a rod that slides through a loop: its free length is used up.
static snw_status check_passed(const snw_model *m, int i, const snw_state *s, snw_error *err) {
    for (int k = 0; k < m->nloop; k++) {
        const snw_loop *loop = &m->loop[k];
        if (!loop->keeps_length || (loop->part[0] != i && loop->part[1] != i)) continue;
        const snw_rod *up_to = &m->rod[loop->part[0]], *beyond = &m->rod[loop->part[1]];
        int through = 0;
        while (m->loop[through].through != 1 + loop->part[0]) through++;
        return snw_fail(
            err, SNW_E_MODEL,
            "rod '%s' has left loop '%s' at t = %g s: the arc length at the loop is %g "
            "m, and the rod ends at %g m; end the step earlier ('until'), or let the loop "
            "open ('when')",
            m->label.link[up_to->link].name, m->label.loop[through].name, s->t, s->q[up_to->feed_q],
            i == loop->part[0] ? 0 : up_to->L + beyond->L);
    }
    return SNW_OK;
}

// Coordinate i of a joint; of a spherical joint the angle between the x axes of its two sides.
static double limited_coordinate(const snw_block *b, const snw_state *s, int i) {
    if (b->space == SNW_SPACE_RN) return s->q[b->q + i];
    const snw_mat3 R = snw_so3_from_numbers(s->q + b->q);
    return atan2(hypot(R.e[1][0], R.e[2][0]), R.e[0][0]);
}

snw_status snw_run_check_limits(snw_run *r, const snw_state *s, snw_error *err) {
    const snw_model *m = r->now->model;
    warn_pushing_tendons(r, s);
    snw_run_warn_spring_turns(r, s);
    for (int i = 0; m->nfeed && i < m->nrod; i++) {
        const snw_rod *rod = &m->rod[i];
        if (rod->section_varies) SNW_TRY(check_section(m, rod, s->q[rod->feed_q], err));
        if (rod->feed < 0 || s->q[rod->feed_q] > 1e-9 * rod->L) continue;
        SNW_TRY(check_passed(m, i, s, err));
        return snw_fail(err, SNW_E_MODEL,
                        "rod '%s' is completely drawn in at t = %g s: its free length is %g m; "
                        "change its feed, or end the step earlier",
                        m->label.link[rod->link].name, s->t, s->q[rod->feed_q]);
    }
    for (int l = 0; l < m->nlink; l++) {
        const snw_link_desc *link = &m->desc->link[l];
        int n = 0;
        const snw_joint_coordinate *c = snw_joint_coordinates(link->joint, &n);
        for (int i = 0; i < n && !r->warned_limit[l]; i++) {
            const bool stops = link->moves.stop_stiffness[i] > 0 || link->moves.stop_hard;
            if (!link->moves.limited[i] || stops) continue;
            const double q = limited_coordinate(&m->block[m->link_block[l]], s, i);
            const double low = link->moves.low[i], high = link->moves.high[i];
            if (q >= low && q <= high) continue;
            char text[240];
            (void)snprintf(
                text, sizeof text,
                "run '%s': joint '%.60s' is outside of its limits at t = %g s: %s %g %s, "
                "not in [%g, %g]; limits only warn, a 'stop' holds the joint",
                r->info.run, link->name, s->t, c[i].name, q, c[i].turn ? "rad" : "m", low, high);
            snw_run_warn(r, text);
            r->warned_limit[l] = true;
        }
    }
    return SNW_OK;
}
