// SPDX-License-Identifier: MIT
//
// Warnings about turns that rotations do not tell, one per joint. The torque of a spring of a
// spherical joint follows the rotation vector from rest, whose norm is at most pi: beyond half a
// turn the vector jumps to the opposite side, and the torque with it. A screw that closes a loop
// sees rotations up to whole turns, theory.md (3.8.6): where a joint makes more than half a turn
// between two instants it may be on another thread.
#include "study/run_private.h"

#include "dynamics/joint.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

static bool is_ball_spring(const snw_model *m, const snw_spring *s) {
    return m->block[s->block].space == SNW_SPACE_SO3 && s->stiffness > 0;
}

static bool is_angle(const snw_block *b) {
    return b->space == SNW_SPACE_RN && b->n == 1 && snw_norm(b->S.w) > 0;
}

// e <- rotation vector from rest, rad
static void rotation_from_rest(const snw_model *m, const snw_spring *s, const double *q,
                               double e[3]) {
    snw_spring_force(m, s, q, NULL, e);
    for (int i = 0; i < 3; i++) e[i] /= s->stiffness;
}

static const char *turn_name_of(const snw_model *m, int block) {
    for (int l = 0; l < m->nlink; l++) {
        if (m->link_block[l] == block) return m->label.link[l].name;
    }
    return "";
}

void snw_run_spring_turns_begin(snw_run *r) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nblock; i++) r->warned_half_turn[i] = false;
    r->spring_rotation_stage = -1;
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *s = &m->spring[k];
        if (is_ball_spring(m, s))
            rotation_from_rest(m, s, r->state->q, r->spring_rotation[s->block].e);
    }
    for (int i = 0; i < m->nblock; i++) {
        if (is_angle(&m->block[i])) r->spring_rotation[i].x = r->state->q[m->block[i].q];
    }
}

// Does the block move the loop?
static bool moves_loop(const snw_block *b, const snw_loop *loop) {
    for (int i = 0; i < loop->ndof; i++) {
        if (loop->dof[i] == b->dof) return true;
    }
    return false;
}

static void warn_screw_turns(snw_run *r, const snw_state *state, bool restarts) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nblock; i++) {
        if (!is_angle(&m->block[i])) continue;
        const double before = r->spring_rotation[i].x, now = state->q[m->block[i].q];
        r->spring_rotation[i].x = now;
        if (!(fabs(now - before) > PI) || restarts || r->warned_half_turn[i]) continue;
        for (int k = 0; k < m->nloop && !r->warned_half_turn[i]; k++) {
            const snw_loop *loop = &m->loop[k];
            if (!(loop->pitch != 0) || !moves_loop(&m->block[i], loop)) continue;
            r->warned_half_turn[i] = true;
            char text[320];
            (void)snprintf(text, sizeof text,
                           "run '%s': joint '%.60s' makes %.3g turns up to t = %g s in one step; "
                           "the screw '%.60s' sees the part beyond whole turns only and may be on "
                           "another thread: write a 'step' with less than half a turn",
                           r->info.run, turn_name_of(m, i), (now - before) / (2 * PI), state->t,
                           m->label.loop[k].name);
            snw_run_warn(r, text);
        }
    }
}

void snw_run_warn_spring_turns(snw_run *r, const snw_state *state) {
    const snw_model *m = r->now->model;
    // a step `from` another starts elsewhere, and a change may have moved the rest orientation
    const int stage = r->cursor.stage;
    const bool restarts =
        stage != r->spring_rotation_stage && stage > 0 && stage < r->desc->nstep &&
        (r->desc->step[stage].from >= 0 || r->desc->step[stage - 1].kind == SNW_STEP_CHANGE);
    r->spring_rotation_stage = stage;
    warn_screw_turns(r, state, restarts);
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *s = &m->spring[k];
        if (!is_ball_spring(m, s)) continue;
        snw_vec3 now, *before = &r->spring_rotation[s->block];
        rotation_from_rest(m, s, state->q, now.e);
        // opposite vectors, and the shorter path between them crosses half a turn, not rest
        const bool passes = snw_dot(now, *before) < 0 && snw_norm(now) + snw_norm(*before) > PI;
        *before = now;
        if (!passes || restarts || r->warned_half_turn[s->block]) continue;
        r->warned_half_turn[s->block] = true;
        char text[320];
        (void)snprintf(text, sizeof text,
                       "run '%s': the spring of joint '%.60s' is more than half a turn from its "
                       "rest angle by t = %g s: its torque jumps there by %.3g N*m to the opposite "
                       "sign; keep the angle smaller, or change its 'rest'",
                       r->info.run, turn_name_of(m, s->block), state->t, 2 * PI * s->stiffness);
        snw_run_warn(r, text);
    }
}
