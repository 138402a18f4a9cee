// SPDX-License-Identifier: MIT
//
// twins.h: a live robot, and a second one that resumes from the saved state of the first.
#pragma once

#include "near.h"
#include "sinew/sinew.h"

#include <stdlib.h>
#include <string.h>

typedef struct twins {
    snw_robot *a, *b;
    double *save;
} twins;

static inline void twins_open(twins *t, const char *text, const char *scheme) {
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    how.scheme = scheme;
    const size_t n = strlen(text);
    assert_int_equal(snw_robot_parse("a", text, n, NULL, 0, NULL, &t->a, &err), SNW_OK);
    assert_int_equal(snw_robot_parse("b", text, n, NULL, 0, NULL, &t->b, &err), SNW_OK);
    assert_int_equal(snw_robot_start(t->a, &how, &err), SNW_OK);
    assert_int_equal(snw_robot_start(t->b, &how, &err), SNW_OK);
    t->save = calloc(snw_robot_saves(t->a), sizeof *t->save);
}

static inline void twin_steps(snw_robot *r, int n) {
    snw_error err = {0};
    for (int i = 0; i < n; i++) {
        if (snw_robot_step(r, 1e-3, &err) != SNW_OK) fail_msg("%s", err.text);
    }
}

// The second robot resumes from the saved state; after n steps both have the same bits.
static inline void twins_meet(twins *t, int n) {
    snw_robot_restore(t->b, t->save);
    twin_steps(t->b, n);
    assert_memory_equal(snw_robot_q(t->a), snw_robot_q(t->b),
                        (size_t)snw_robot_nq(t->a) * sizeof(double));
    assert_memory_equal(snw_robot_v(t->a), snw_robot_v(t->b),
                        (size_t)snw_robot_nv(t->a) * sizeof(double));
}

static inline void twins_close(twins *t) {
    free(t->save);
    snw_robot_close(t->a);
    snw_robot_close(t->b);
}
