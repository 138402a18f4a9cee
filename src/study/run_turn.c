// SPDX-License-Identifier: MIT
//
// Springs of spherical joints act along the rotation vector from rest, which is that of at most
// half a turn: where a motion passes half a turn it jumps to the opposite side, and the torque with
// it. A run says so, once a joint.
#include "study/run_private.h"

#include "dynamics/joint.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

static bool is_ball(const snw_model *m, const snw_spring *s) {
    return m->block[s->block].space == SNW_SPACE_SO3 && s->stiffness > 0;
}

// e <- rotation vector from rest
static void rotation_from_rest(const snw_model *m, const snw_spring *s, const double *q,
                               double e[3]) {
    snw_spring_force(m, s, q, NULL, e);
    for (int i = 0; i < 3; i++) e[i] /= s->stiffness;
}

static const char *turn_name_of(const snw_model *m, int block) {
    for (int l = 0; l < m->desc->nlink; l++) {
        if (m->link_block[l] == block) return m->desc->link[l].name;
    }
    return "";
}

void snw_run_turns_begin(snw_run *r) {
    const snw_model *m = r->now->model;
    for (int i = 0; i < m->nblock; i++) r->passed[i] = false;
    r->turned_stage = -1;
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *s = &m->spring[k];
        if (is_ball(m, s)) rotation_from_rest(m, s, r->state->q, r->turned[s->block].e);
    }
}

void snw_run_turns(snw_run *r, const snw_state *state) {
    const snw_model *m = r->now->model;
    // a step that begins elsewhere goes on from there, and a change may have moved the rest
    const int stage = r->here.stage;
    const bool anew =
        stage != r->turned_stage && stage > 0 && stage < r->desc->nstep &&
        (r->desc->step[stage].from >= 0 || r->desc->step[stage - 1].kind == SNW_STEP_CHANGE);
    r->turned_stage = stage;
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *s = &m->spring[k];
        if (!is_ball(m, s)) continue;
        snw_vec3 now, *before = &r->turned[s->block];
        rotation_from_rest(m, s, state->q, now.e);
        // opposite vectors, and the shorter way between them leads by half a turn, not by rest
        const bool passes = snw_dot(now, *before) < 0 && snw_norm(now) + snw_norm(*before) > PI;
        *before = now;
        if (!passes || anew || r->passed[s->block]) continue;
        r->passed[s->block] = true;
        char text[320];
        (void)snprintf(
            text, sizeof text,
            "run '%s': the spring of joint '%.60s' passes half a turn from its rest by t = %g s: "
            "its "
            "torque jumps there to the opposite side, by %.3g N*m, and the motion beyond is "
            "not that of a spring; keep it below, or move its 'rest'",
            r->info.run, turn_name_of(m, s->block), state->t, 2 * PI * s->stiffness);
        snw_run_warn(r, text);
    }
}
