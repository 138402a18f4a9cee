// SPDX-License-Identifier: MIT
//
// setting.h: the model of a text with inputs and work memory for its residual, projected onto its
// constraints.
#pragma once

#include "random_rod.h"
#include "tangent_rig.h"
#ifdef SNW_NUMBERS // the recursion alone
#include "described.h"
#else
#include "constraint/projection.h"
#include "executed.h"
#endif

typedef struct setting {
    snw_document *doc;
    snw_desc *desc;
    rig g;
} setting;

static inline void setting_open(setting *s, const char *text) {
    snw_error err;
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
#ifdef SNW_NUMBERS
    rig_open(&s->g, s->desc);
#else
    // Without the rows that are always satisfied.
    if (snw_projection_compile(s->desc, &s->g.m, &err) != SNW_OK) fail_msg("%s", err.text);
    rig_around(&s->g);
#endif
}

// The same in a random state.
static inline void setting_random(setting *s, const char *text, dice *d) {
    setting_open(s, text);
    state_random(s->g.m, d, s->g.s);
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
}

static inline void setting_close(setting *s) {
    rig_close(&s->g);
    release(s->doc, s->desc);
}

#ifndef SNW_NUMBERS
// g->s <- configuration, velocities, accelerations and multipliers that satisfy all rows at time t,
// near the present ones.
static inline void put_together(rig *g, double t) {
    snw_projection *pr = NULL;
    snw_projection_info info;
    snw_error err = {0};
    assert_int_equal(snw_projection_create(g->m, &pr), SNW_OK);
    g->s->t = t;
    snw_inputs_at(g->m, t, g->in);
    if (snw_projection_close(pr, g->in, g->s, &info, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_projection_velocities(pr, g->in, g->s, &err), SNW_OK);
    assert_int_equal(snw_projection_accelerations(pr, g->in, g->s, &err), SNW_OK);
    snw_projection_destroy(pr);
}
#endif
