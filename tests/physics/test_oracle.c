// SPDX-License-Identifier: MIT
//
// The recursion against other methods for the same numbers: Lagrange matrices column by column from
// the inverse dynamics, and the rod's differential equations integrated along it by Runge-Kutta and
// by collocation. theory.md 2, 3
#include "oracle/columns.h"
#include "oracle/linear.h"
#include "oracle/strong.h"
#include "oracle/trial.h"

#include "near.h"
#include "random_rod.h"

#include <string.h>

// ---- matrices on the same nodes -----------------------------------------------------------------

static void check_columns(trial *t) {
    const size_t n = (size_t)t->m->nv;
    double *M = oracle_alloc(n * n, sizeof *M), *C = oracle_alloc(n * n, sizeof *C);
    double *velocity = oracle_alloc(n, sizeof *velocity), *rest = oracle_alloc(n, sizeof *rest);
    double *sum = oracle_alloc(n, sizeof *sum);
    oracle_columns(t->m, t->in, t->s, t->w, C, velocity, rest);

    // a column is a difference of residuals, so its rounding is that of the larger of the two
    const double noise = 1e-12 * fmax(oracle_size(n * n, C), oracle_size(n, rest));
    snw_mass_matrix(t->m, t->in, t->s, t->w, M);
    assert_true(oracle_distance(n * n, M, C) <= noise);
    double *T = trial_tangent(t, false, 0, 0, 1);
    assert_true(oracle_distance(n * n, T, M) <= 1e-12 * oracle_size(n * n, M));

    snw_residual(t->m, t->in, t->s, true, t->w);
    assert_true(oracle_distance(n, t->w->r, rest) <= 1e-12 * oracle_size(n, rest));

    // inverse dynamics is affine in the accelerations
    snw_residual(t->m, t->in, t->s, false, t->w);
    double largest = fmax(oracle_size(n, velocity), oracle_size(n, rest));
    for (size_t i = 0; i < n; i++) {
        sum[i] = velocity[i] + rest[i];
        for (size_t j = 0; j < n; j++) {
            sum[i] += M[j * n + i] * t->s->a[j];
            largest = fmax(largest, fabs(M[j * n + i] * t->s->a[j]));
        }
    }
    assert_true(oracle_distance(n, t->w->r, sum) <= 1e-12 * largest);
    free(M), free(C), free(T), free(velocity), free(rest), free(sum);
}

static void check_columns_on_random_rods(uint64_t seed, snw_joint_kind joint) {
    dice d = {seed};
    for (int i = 0; i < 24; i++) {
        robot r;
        trial t;
        robot_random(&r, &d, joint, false);
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        trial_at(&t, t.s->t);
        check_columns(&t);
        trial_close(&t);
        robot_free(&r);
    }
}

static void matrices_equal_those_column_by_column_clamped(void **state) {
    (void)state;
    check_columns_on_random_rods(11, SNW_JOINT_FIXED);
}

static void matrices_equal_those_column_by_column_free(void **state) {
    (void)state;
    check_columns_on_random_rods(12, SNW_JOINT_FREE);
}

// ---- differential equations, as nodes are refined -----------------------------------------------

typedef enum base_kind { CLAMPED, MOVING, FREE } base_kind;

// Motion of the root section of the robot of robot_random, with one turn instead of two, from the
// formulas.
static void root_motion(const trial *t, base_kind kind, oracle_rod *q) {
    const double time = t->s->t;
    switch (kind) {
    case CLAMPED:
        q->g = snw_se3_identity();
        break;
    case MOVING: {
        const snw_vec3 axis = {{0, 0.6, 0.8}};
        const double rate = 1 + 2 * time, c = cos(2 * time + 0.3), s = sin(2 * time + 0.3);
        const snw_vec3 v = {{0.6 * c, 0, -0.6 * sin(3 * time)}};
        const snw_vec3 a = {{-1.2 * s, 0, -1.8 * cos(3 * time)}};
        q->g.R = snw_so3_exp(snw_scale(time + time * time, axis));
        q->g.p = (snw_vec3){{0.3 * s, 0, 0.2 * cos(3 * time)}};
        q->V.w = snw_scale(rate, axis);
        q->dV.w = snw_scale(2, axis);
        // v_body = R' v, its rate R' a - w x v_body
        q->V.v = snw_rotate_inv(q->g.R, v);
        q->dV.v = snw_sub(snw_rotate_inv(q->g.R, a), snw_cross(q->V.w, q->V.v));
        break;
    }
    case FREE:
        q->g = snw_se3_from_numbers(t->s->q);
        memcpy(q->V.e, t->s->v, sizeof q->V.e);
        memcpy(q->dV.e, t->s->a, sizeof q->dV.e);
        break;
    }
}

static void robot_of(robot *r, dice *d, base_kind kind, int nodes) {
    robot_random_single(r, d, kind == FREE ? SNW_JOINT_FREE : SNW_JOINT_FIXED, kind == MOVING, 6,
                        nodes);
    if (kind == MOVING) {
        r->link[0].pose.nturn = 1;
        r->link[0].pose.turn[0] = r->link[0].pose.turn[1];
    }
}

typedef struct numbers {
    double r[128]; // rows of the base first when it is free, then coordinates
    snw_wrench root;
    snw_vec3 tip;
    snw_twist V;
    double kinetic, gravity;
} numbers;

static double error_of(const numbers *got, const numbers *want, int n) {
    double e = oracle_distance((size_t)n, got->r, want->r) / oracle_size((size_t)n, want->r);
    e = fmax(e, oracle_distance(6, got->root.e, want->root.e) / oracle_size(6, want->root.e));
    e = fmax(e, oracle_distance(3, got->tip.e, want->tip.e));
    e = fmax(e, oracle_distance(6, got->V.e, want->V.e) / oracle_size(6, want->V.e));
    e = fmax(e, fabs(got->kinetic - want->kinetic) / fabs(want->kinetic));
    return fmax(e, fabs(got->gravity - want->gravity) / fmax(1, fabs(want->gravity)));
}

static void ask(trial *t, int n, numbers *out) {
    snw_residual(t->m, t->in, t->s, false, t->w);
    assert_true(n <= (int)(sizeof out->r / sizeof out->r[0]));
    memcpy(out->r, t->w->r, (size_t)n * sizeof(double));
    const int root = t->m->rod[0].root, tip = t->m->link_end[0];
    out->root = snw_wrench_scale(-1, t->w->F[root]);
    out->tip = t->w->g[tip].p;
    out->V = t->w->V[tip];
    out->kinetic = snw_kinetic_energy(t->m, t->w);
    out->gravity = snw_gravity_energy(t->m, t->in, t->w);
}

typedef enum route { RUNGE_KUTTA, COLLOCATION, FACTOR } route;

static void ask_oracle(const trial *t, base_kind kind, route by, numbers *out) {
    oracle_rod q = {.m = t->m, .s = t->s};
    root_motion(t, kind, &q);
    const int base = kind == FREE ? 6 : 0;
    oracle_answer a = {.r = out->r + base};
    if (by == RUNGE_KUTTA) {
        oracle_by_runge_kutta(&q, 1e-13, &a);
    } else if (by == COLLOCATION) {
        oracle_by_collocation(&q, 28, &a);
    } else {
        oracle_by_factor(&q, 28, &a);
    }
    out->root = a.root;
    out->tip = a.tip.p;
    out->V = a.V;
    out->kinetic = a.kinetic;
    out->gravity = a.gravity;
    for (int i = 0; i < base; i++) out->r[i] = -a.root.e[i];
}

static void check_route(uint64_t seed, base_kind kind, route by) {
    for (uint64_t i = 0; i < 4; i++) {
        double error[3];
        const int nodes[3] = {24, 48, 96};
        for (int k = 0; k < 3; k++) {
            // the same seed for each number of nodes: the same rod in the same state
            dice d = {seed + 1000 * i};
            robot r;
            trial t;
            robot_of(&r, &d, kind, nodes[k]);
            trial_open(&t, &r.desc);
            state_random(t.m, &d, t.s);
            trial_at(&t, t.s->t);
            numbers ours = {0}, theirs = {0};
            ask(&t, t.m->nv, &ours);
            ask_oracle(&t, kind, by, &theirs);
            error[k] = error_of(&ours, &theirs, t.m->nv);
            trial_close(&t);
            robot_free(&r);
        }
        // order 6: halving the spacing divides the error by 64, down to the rounding of the sums
        assert_true(error[2] <= 1e-9);
        assert_true(error[1] <= error[0] / 32 || error[1] <= 1e-12);
        assert_true(error[2] <= error[1] / 32 || error[2] <= 1e-12);
    }
}

static void runge_kutta_along_a_clamped_rod_agrees(void **state) {
    (void)state;
    check_route(21, CLAMPED, RUNGE_KUTTA);
}

static void runge_kutta_along_a_rod_on_a_moving_base_agrees(void **state) {
    (void)state;
    check_route(22, MOVING, RUNGE_KUTTA);
}

static void runge_kutta_along_a_free_rod_agrees(void **state) {
    (void)state;
    check_route(23, FREE, RUNGE_KUTTA);
}

static void collocation_on_a_clamped_rod_agrees(void **state) {
    (void)state;
    check_route(31, CLAMPED, COLLOCATION);
}

static void collocation_on_a_rod_on_a_moving_base_agrees(void **state) {
    (void)state;
    check_route(32, MOVING, COLLOCATION);
}

static void collocation_on_a_free_rod_agrees(void **state) {
    (void)state;
    check_route(33, FREE, COLLOCATION);
}

static void integrating_factors_agree(void **state) {
    (void)state;
    check_route(41, CLAMPED, FACTOR);
    check_route(42, MOVING, FACTOR);
    check_route(43, FREE, FACTOR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_equal_those_column_by_column_clamped),
        cmocka_unit_test(matrices_equal_those_column_by_column_free),
        cmocka_unit_test(runge_kutta_along_a_clamped_rod_agrees),
        cmocka_unit_test(runge_kutta_along_a_rod_on_a_moving_base_agrees),
        cmocka_unit_test(runge_kutta_along_a_free_rod_agrees),
        cmocka_unit_test(collocation_on_a_clamped_rod_agrees),
        cmocka_unit_test(collocation_on_a_rod_on_a_moving_base_agrees),
        cmocka_unit_test(collocation_on_a_free_rod_agrees),
        cmocka_unit_test(integrating_factors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
