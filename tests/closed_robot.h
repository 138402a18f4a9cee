// SPDX-License-Identifier: MIT
//
// closed_robot.h: a robot with loops or drives, compiled from a text or a description and projected
// onto its constraints, for tests of its motion.
#pragma once

#include "described.h"

#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "integrate/explicit.h"

typedef struct closed_robot {
    snw_document *doc; // NULL: the caller owns the description
    snw_desc *desc;
    snw_model *m;
    snw_state *s; // closed, velocities, accelerations and multipliers consistent
    snw_inputs *in;
    snw_work *w;
    snw_projection *as;
} closed_robot;

// Project s onto the constraints at time t: the nearest closed configuration, the nearest
// consistent velocities, then accelerations and multipliers.
static inline snw_status closed_robot_try(closed_robot *c, double t, snw_error *err) {
    snw_projection_info info;
    c->s->t = t;
    snw_inputs_at(c->m, t, c->in);
    snw_status s = snw_projection_close(c->as, c->in, c->s, &info, err);
    if (s == SNW_OK) s = snw_projection_velocities(c->as, c->in, c->s, err);
    return s == SNW_OK ? snw_projection_accelerations(c->as, c->in, c->s, err) : s;
}

static inline void closed_robot_settle(closed_robot *c, double t) {
    snw_error err = {0};
    if (closed_robot_try(c, t, &err) != SNW_OK) fail_msg("%s", err.text);
}

// Compile; the state is the initial state of the description and is not yet closed.
static inline void closed_robot_compile(closed_robot *c, const snw_desc *desc) {
    snw_error err = {0};
    if (snw_projection_compile(desc, &c->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(c->m, &c->s), SNW_OK);
    assert_int_equal(snw_inputs_create(c->m, &c->in), SNW_OK);
    assert_int_equal(snw_work_create(c->m, &c->w), SNW_OK);
    assert_int_equal(snw_projection_create(c->m, &c->as), SNW_OK);
}

static inline void closed_robot_open(closed_robot *c, const char *text) {
    snw_error err;
    *c = (closed_robot){0};
    if (describe(text, &c->doc, &c->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    closed_robot_compile(c, c->desc);
    closed_robot_settle(c, 0);
}

static inline void closed_robot_close(closed_robot *c) {
    snw_projection_destroy(c->as);
    snw_work_destroy(c->w);
    snw_inputs_destroy(c->in);
    snw_state_destroy(c->s);
    snw_model_destroy(c->m);
    if (c->doc) release(c->doc, c->desc);
    *c = (closed_robot){0};
}

// Implicit integrator that starts from the state of the robot.
static inline snw_implicit *closed_robot_motion(const closed_robot *c, const snw_implicit_opts *o) {
    snw_implicit *im = NULL;
    snw_error err = {0};
    assert_int_equal(snw_implicit_create(c->m, o, &im), SNW_OK);
    if (snw_implicit_start(im, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
    return im;
}

// Explicit integrator of order eight, as a reference.
static inline snw_explicit *closed_robot_reference(const closed_robot *c, double tolerance) {
    snw_explicit *e = NULL;
    snw_error err = {0};
    const snw_explicit_opts o = {.kind = SNW_ODE_RK87, .tolerance = tolerance};
    if (snw_explicit_create(c->m, &o, &e, &err) != SNW_OK ||
        snw_explicit_start(e, c->s, &err) != SNW_OK) {
        fail_msg("%s", err.text);
    }
    return e;
}
