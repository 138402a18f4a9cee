// SPDX-License-Identifier: MIT
//
// The tangent is the derivative of the residual, on random rods and trees.
#include "random_tree.h"
#include "tangent_rig.h"

#include "dynamics/chart.h"

enum { ROBOTS = 24 };

// Random state and inputs.
static void rig_random(rig *g, dice *d, const snw_desc *desc) {
    rig_open(g, desc);
    state_random(g->m, d, g->s);
    snw_inputs_at(g->m, g->s->t, g->in);
}

static void check_random(dice *d, snw_joint_kind joint, bool moving) {
    robot r;
    rig g;
    robot_random(&r, d, joint, moving);
    rig_random(&g, d, &r.desc);
    rig_check(&g);
    rig_close(&g);
    robot_free(&r);
}

// Rods integrated by every rule.
static void tangent_equals_differences_by_every_rule(void **state) {
    (void)state;
    static const struct {
        snw_rule_kind kind;
        int number;
    } rules[] = {{SNW_RULE_RK4, 0},      {SNW_RULE_FER, 2},      {SNW_RULE_FER, 4},
                 {SNW_RULE_FER, 6},      {SNW_RULE_SPECTRAL, 2}, {SNW_RULE_SPECTRAL, 3},
                 {SNW_RULE_SPECTRAL, 4}, {SNW_RULE_RK45, 0}};
    dice d = {5};
    for (int i = 0; i < 16; i++) {
        robot r;
        rig g;
        robot_random(&r, &d, i % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, i % 3 == 0);
        for (int l = 0; l < r.desc.nlink; l++) {
            const int k = (i + l) % (int)(sizeof rules / sizeof *rules);
            r.link[l].rod.integrator = rules[k].kind;
            r.link[l].rod.points = r.link[l].rod.magnus = rules[k].number;
        }
        rig_random(&g, &d, &r.desc);
        rig_check(&g);
        rig_close(&g);
        robot_free(&r);
    }
}

static void tangent_equals_differences_clamped(void **state) {
    (void)state;
    dice d = {1};
    for (int i = 0; i < ROBOTS; i++) check_random(&d, SNW_JOINT_FIXED, false);
}

static void tangent_equals_differences_on_a_moving_base(void **state) {
    (void)state;
    dice d = {2};
    for (int i = 0; i < ROBOTS; i++) check_random(&d, SNW_JOINT_FIXED, true);
}

static void tangent_equals_differences_free(void **state) {
    (void)state;
    dice d = {3};
    for (int i = 0; i < ROBOTS; i++) check_random(&d, SNW_JOINT_FREE, i % 2 == 0);
}

static void tangent_equals_differences_on_trees(void **state) {
    (void)state;
    dice d = {4};
    for (int i = 0; i < ROBOTS; i++) {
        rig g;
        tree t;
        tree_random(&t, &d,
                    (tree_opts){.nlink = pick_int(&d, 2, 8),
                                .kind = (tree_kind)(i % 3),
                                .floating = i / 3 % 3 == 0});
        rig_random(&g, &d, &t.r.desc);
        rig_check(&g);
        rig_close(&g);
        robot_free(&t.r);
    }
}

// The Newton matrix of a step: increments d in a chart, rates a d + f, accelerations b d + g; the
// rows of spherical and free joints are taken along the columns of the chart.
static void check_chart(rig *g, dice *d, snw_chart chart) {
    const snw_model *m = g->m;
    const int n = m->nv;
    const double a = 3, b = 7;
    double *x = calloc((size_t)(8 * n + 108 * m->nlie_block + n * n), sizeof *x), *f = x + n;
    double *acc = f + n, *rate = acc + n, *da = rate + n, *column = da + n, *dir = column + n,
           *at = dir + n, *S = at + n, *T = S + 108 * m->nlie_block;
    for (int i = 0; i < n; i++) {
        x[i] = roll(d, -0.4, 0.4), f[i] = roll(d, -1, 1), acc[i] = roll(d, -1, 1);
    }
    for (int j = -1; j < g->m->nv; j++) { // -1: the point itself
        if (j >= 0) rig_direction(g, j, dir);
        memset(column, 0, (size_t)n * sizeof *column);
        for (int k = 0; k < BESIDE; k++) {
            for (int i = 0; i < n; i++) {
                at[i] = x[i] + beside(k) * dir[i];
                rate[i] = a * at[i] + f[i], da[i] = b * at[i] + acc[i];
            }
            snw_chart_to_state(m, chart, g->s->q, at, rate, da, g->moved);
            snw_residual(m, g->in, g->moved, false, g->w);
            for (int i = 0; i < n; i++) column[i] += slope_of(k, g->w->r[i]);
        }
        if (j < 0) {
            snw_chart_jacobian(m, chart, x, a, b, g->moved, S);
            snw_tangent_pass(m, m->nlie_block ? S : NULL, g->w);
            snw_tangent_assemble(m, g->in, 1, a, b, g->w, T);
            continue;
        }
        for (int k = 0; k < m->nblock; k++) {
            const snw_block *block = &m->block[k];
            if (block->lie_block < 0) continue;
            double row[6] = {0};
            for (int i = 0; i < block->n; i++) {
                for (int l = 0; l < block->n; l++) {
                    row[i] += S[108 * block->lie_block + 6 * l + i] * column[block->dof + l];
                }
            }
            for (int i = 0; i < block->n; i++) column[block->dof + i] = row[i];
        }
        const double size = size_of(n * n, T);
        for (int i = 0; i < n; i++) {
            double got = 0;
            for (int k = 0; k < n; k++) got += T[(size_t)(k * n + i)] * dir[k];
            if (!(fabs(got - column[i]) <= LEFT * size)) {
                fail_msg("chart %d, row %d, direction %d of %d: %.12g, differences %.12g, size %g",
                         (int)chart, i, j, n, (narrow)got, (narrow)column[i], (narrow)size);
            }
        }
    }
    free(x);
}

static void tangent_of_a_step_equals_differences(void **state) {
    (void)state;
    dice d = {5};
    for (int i = 0; i < ROBOTS; i++) {
        rig g;
        tree t;
        tree_random(&t, &d, (tree_opts){.nlink = pick_int(&d, 2, 8), .floating = i % 2 == 0});
        rig_random(&g, &d, &t.r.desc);
        check_chart(&g, &d, i % 4 < 2 ? SNW_CHART_SE3 : SNW_CHART_SO3R3);
        rig_close(&g);
        robot_free(&t.r);
    }
}

// Sensitivity of the tests above: they detect an entry of the tangent that is wrong by ten times
// the error of the differences.
static void a_wrong_entry_shows(void **state) {
    (void)state;
    dice d = {6};
    rig g;
    tree t;
    tree_random(&t, &d, (tree_opts){.nlink = 5, .floating = true});
    rig_random(&g, &d, &t.r.desc);
    const int n = g.m->nv;
    double *T = malloc((size_t)(n * n) * sizeof *T);
    for (int part = 0; part < 3; part++) {
        int row, column;
        snw_residual(g.m, g.in, g.s, false, g.w);
        snw_tangent_pass(g.m, NULL, g.w);
        snw_tangent_assemble(g.m, g.in, part == 0, part == 1, part == 2, g.w, T);
        assert_true(rig_miss(&g, part, T, &row, &column) <= LEFT);
        T[n * (n / 2) + n / 3] += 10 * LEFT * size_of(n * n, T);
        assert_true(rig_miss(&g, part, T, &row, &column) > 8 * LEFT);
        assert_int_equal(row, n / 3);
        assert_int_equal(column, n / 2);
    }
    free(T);
    rig_close(&g);
    robot_free(&t.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_equals_differences_by_every_rule),
        cmocka_unit_test(tangent_equals_differences_clamped),
        cmocka_unit_test(tangent_equals_differences_on_a_moving_base),
        cmocka_unit_test(tangent_equals_differences_free),
        cmocka_unit_test(tangent_equals_differences_on_trees),
#ifndef SNW_WIDE
        cmocka_unit_test(tangent_of_a_step_equals_differences),
        cmocka_unit_test(a_wrong_entry_shows),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
