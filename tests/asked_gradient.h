// SPDX-License-Identifier: MIT
//
// asked_gradient.h: gradients of studies given as texts, for tests.
#pragma once

#include "near.h"
#include "sinew/gradient.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64, TEXT = 6000 };

// Two links that hang and swing, with the numbers of a controller, and one more probe.
#define TWO_LINK_ARM(probe)                                                                        \
    "sinew: 1\n"                                                                                   \
    "parameters: {k: 1.5 N*m, m: 0.5 kg, l: 0.6 m, ref: 0.3, ki: 20 N*m/s, level: 0.1 m}\n"        \
    "gravity: [9.81 m/s^2, 0, 0]\n"                                                                \
    "robot:\n"                                                                                     \
    "  upper: {on: world, joint: revolute, axis: z, stiffness: k, damping: 0.05, body: {mass: "    \
    "0.8 kg, com: [l, 0, 0]}}\n"                                                                   \
    "  lower: {on: upper, pose: {xyz: [l, 0, 0]}, joint: revolute, axis: z, stiffness: 0.7, "      \
    "damping: 0.02, body: {mass: m, com: [0.4 m, 0, 0]}}\n"                                        \
    "sites: {bob: {on: lower, pose: {xyz: [0.4 m, 0, 0]}}}\n"                                      \
    "initial: {upper: {position: 0.4, rate: 0.5}, lower: {position: -0.3}}\n"                      \
    "probes: {bob: {position: bob}, v: {velocity: bob}, q: {angle: upper}, r: {rate: upper}, "     \
    "a: {acceleration: bob}, " probe "}\n"

// Values and derivatives of scalars by variables, at the values of the file.
typedef struct outcome {
    double p[MOST], J[MOST], dJ[MOST * MOST];
    snw_gradient_info info;
    snw_error err;
    snw_status status;
} outcome;

typedef struct question {
    const char *text;
    int nby, nof;
    const char *by[12], *of[6];
    const snw_gradient_variable *law; // in place of by
    const double *at;                 // values of the variables; NULL: of the file
    snw_gradient_method method;
    double memory;
    int value_only; // no derivatives
} question;

static inline void ask(const question *q, outcome *out) {
    *out = (outcome){0};
    snw_gradient_variable by[12] = {{0}};
    snw_gradient_options how = snw_gradient_defaults();
    for (int i = 0; i < q->nby; i++) by[i].name = q->by[i];
    how.nvariable = q->law ? 1 : q->nby;
    how.variable = q->law ? q->law : by;
    how.nscalar = q->nof;
    how.scalar = q->of;
    how.method = q->method;
    if (q->memory > 0) how.memory = q->memory;
    snw_robot_model *model = NULL;
    snw_gradient *g = NULL;
    snw_status s =
        snw_robot_model_parse("test", q->text, strlen(q->text), NULL, 0, NULL, &model, &out->err);
    if (s == SNW_OK) s = snw_gradient_create(model, &how, &g, &out->err);
    if (s == SNW_OK) s = snw_gradient_start(g, out->p, &out->err);
    if (s == SNW_OK) {
        assert_true(snw_gradient_size(g) <= MOST);
        for (int k = 0; q->at && k < snw_gradient_size(g); k++) out->p[k] = q->at[k];
        s = snw_gradient_evaluate(g, out->p, out->J, q->value_only ? NULL : out->dJ, &out->err);
        out->info = snw_gradient_report(g);
    }
    out->status = s;
    snw_gradient_close(g);
    snw_robot_model_close(model);
}

static inline void answer(const question *q, outcome *out) {
    ask(q, out);
    if (out->status != SNW_OK) print_error("%s\n%s\n", out->err.text, q->text);
    assert_int_equal(out->status, SNW_OK);
}

// out->dJ <- differences of order 6 of whole runs, with moves of this part of the variables: small
// enough that no event passes an instant of the time grid.
static inline void differences(const question *q, double move, outcome *out) {
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    static outcome at;
    double p[MOST];
    question moved = *q;
    moved.value_only = 1;
    answer(&moved, out);
    memset(out->dJ, 0, sizeof out->dJ);
    moved.at = p;
    for (int k = 0; k < q->nby; k++) {
        const double h = move * (out->p[k] != 0 ? fabs(out->p[k]) : 1);
        for (int j = -3; j <= 3; j++) {
            if (j == 0) continue;
            memcpy(p, out->p, sizeof p);
            p[k] += j * h;
            answer(&moved, &at);
            const double c = (j < 0 ? -weight[-j - 1] : weight[j - 1]) / h;
            for (int i = 0; i < q->nof; i++) out->dJ[i * q->nby + k] += c * at.J[i];
        }
    }
}

static inline void near_all(int n, const double *got, const double *want, double tol) {
    for (int i = 0; i < n; i++) {
        const double error = fabs(got[i] - want[i]) / fmax(fabs(want[i]), 1e-3);
        if (error > tol) print_error("[%d] %.12g, want %.12g\n", i, got[i], want[i]);
        assert_true(error <= tol);
    }
}

// Robot, motor and probes of a slider-crank with the parameters k, c, m, tau.
#define SLIDER_CRANK                                                                               \
    "robot:\n"                                                                                     \
    "  crank: {on: world, joint: revolute, axis: z, body: {mass: 0.4 kg, com: [0.3, 0, 0], "       \
    "inertia: "                                                                                    \
    "[0, 0, 0]}}\n"                                                                                \
    "  rod: {on: crank, pose: {xyz: [0.3, 0, 0]}, joint: revolute, axis: z, body: {mass: m, com: " \
    "[0.25, 0, 0], inertia: [0, 0, 0]}}\n"                                                         \
    "  slider: {on: world, joint: prismatic, axis: x, stiffness: k, damping: c, body: {mass: 0.8 " \
    "kg}}\n"                                                                                       \
    "sites: {end: {on: rod, pose: {xyz: [0.5, 0, 0]}}}\n"                                          \
    "loops: {pin: {join: [end, slider], as: revolute, axis: z}}\n"                                 \
    "initial: {crank: 1, rod: -1.53, slider: 0.59}\n"                                              \
    "actuators: {motor: {joint: crank, effort: tau*sin(4*t/(1 s))}}\n"                             \
    "probes: {at: {value: slider}, v: {rate: slider}}\n"

// A study, its scheme left open (%s), with variables and scalars.
typedef struct problem {
    const char *name, *text;
    int nby, nof;
    const char *by[6], *of[4];
} problem;

// The sweep back equals sensitivities along the run, and differences of whole runs, with moves of
// this part of the variables. same: relative difference of the two methods
static inline void follow_moves(const problem *p, const char *scheme, double same, double move) {
    static outcome got, forward, want;
    char text[6000];
    (void)snprintf(text, sizeof text, p->text, scheme);
    question q = {.text = text, .nby = p->nby, .nof = p->nof};
    memcpy(q.by, p->by, sizeof p->by);
    memcpy(q.of, p->of, sizeof p->of);
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &forward);
    differences(&q, move, &want);
    for (int k = 0; k < p->nby * p->nof; k++) {
        const double a = got.dJ[k], f = forward.dJ[k], d = want.dJ[k];
        const int row = k / p->nby, col = k % p->nby;
        double size = 1e-3 * fabs(got.J[row]); // relative to the largest change
        for (int n = 0; n < p->nby; n++)
            size = fmax(size, fabs(want.dJ[row * p->nby + n] * want.p[n]));
        size /= fabs(want.p[col]);
        const bool right = fabs(a - f) <= same * size && fabs(a - d) <= 1e-8 * size;
        if (!right)
            print_error("%s, %s: %s by %s: %.13g, forward %.13g, differences %.13g\n", p->name,
                        scheme, p->of[row], p->by[col], a, f, d);
        assert_true(right);
    }
}

// The same with moves that are small enough for events.
static inline void follow_differences(const problem *p, const char *scheme, double same) {
    follow_moves(p, scheme, same, 3e-5);
}

// The sweep back has gathered all but `lone` numbers, and equals sensitivities along the run to
// `same` of the largest change.
static inline void gathers(const question *asked, int lone, double same) {
    static outcome got, want;
    question q = *asked;
    q.method = SNW_GRADIENT_ADJOINT;
    answer(&q, &got);
    if (got.info.gathered != q.nby - lone)
        print_error("gathered %d of %d\n%s\n", got.info.gathered, q.nby, q.text);
    assert_int_equal(got.info.gathered, q.nby - lone);
    q.method = SNW_GRADIENT_FORWARD;
    answer(&q, &want);
    for (int j = 0; j < q.nof; j++) {
        const double *a = got.dJ + q.nby * j, *f = want.dJ + q.nby * j;
        double size = 0;
        for (int k = 0; k < q.nby; k++) size = fmax(size, fabs(f[k] * want.p[k]));
        for (int k = 0; k < q.nby; k++) {
            const bool right = fabs((a[k] - f[k]) * want.p[k]) <= same * size;
            if (!right)
                print_error("%s by %s: %.13g, forward %.13g\n%s\n", q.of[j], q.by[k], a[k], f[k],
                            q.text);
            assert_true(right);
        }
    }
}
