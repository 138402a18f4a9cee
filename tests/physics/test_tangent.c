// SPDX-License-Identifier: MIT
//
// The tangent is the derivative of the residual, on random rods and trees.
#include "random_tree.h"

#include "dynamics/chart.h"

#include "near.h"

#include <string.h>

enum { ROBOTS = 24 };

typedef struct rig {
    tree t;
    snw_model *m;
    snw_state *s, *moved;
    snw_inputs *in;
    snw_work *w;
} rig;

static void rig_compile(rig *g, dice *d) {
    snw_error err = {0};
    if (snw_model_compile(&g->t.r.desc, &g->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(g->m, &g->s), SNW_OK);
    assert_int_equal(snw_state_create(g->m, &g->moved), SNW_OK);
    assert_int_equal(snw_inputs_create(g->m, &g->in), SNW_OK);
    assert_int_equal(snw_work_create(g->m, &g->w), SNW_OK);
    state_random(g->m, d, g->s);
    snw_inputs_at(g->m, g->s->t, g->in);
}

static void rig_open(rig *g, dice *d, snw_joint_kind joint, bool moving) {
    robot_random(&g->t.r, d, joint, moving);
    rig_compile(g, d);
}

static void rig_close(rig *g) {
    snw_work_destroy(g->w);
    snw_inputs_destroy(g->in);
    snw_state_destroy(g->s);
    snw_state_destroy(g->moved);
    snw_model_destroy(g->m);
    robot_free(&g->t.r);
}

// coordinate j moved by the amounts (e, e', e'') of a variation and its rates. A free joint moves by
// delta g = g zeta^, so its twist and acceleration vary by zeta' + ad_V zeta and zeta'' + ad_V' zeta + ad_V zeta'
// (rods.md 3.4): exact to first order, which central differences in e turn into an error of e^2
static void vary(const rig *g, int j, double e, double de, double dde) {
    const snw_model *m = g->m;
    double *dx = calloc((size_t)m->nv, sizeof *dx);
    snw_state_copy(m, g->s, g->moved);
    dx[j] = e;
    snw_move(m, g->s->q, 1, dx, g->moved->q);
    free(dx);
    for (int f = 0; f < m->nblock; f++) {
        const int i = m->block[f].dof, size = m->block[f].n;
        if (m->block[f].curved < 0 || j < i || j >= i + size) continue;
        snw_twist z = {0}, dz = {0}, V = {0}, A = {0};
        z.e[j - i] = e, dz.e[j - i] = de;
        for (int k = 0; k < size; k++) V.e[k] = g->s->v[i + k], A.e[k] = g->s->a[i + k];
        const snw_twist av = snw_ad(V, z), aa = snw_twist_add(snw_ad(A, z), snw_ad(V, dz));
        for (int k = 0; k < size; k++) g->moved->v[i + k] += av.e[k], g->moved->a[i + k] += aa.e[k];
    }
    g->moved->v[j] += de;
    g->moved->a[j] += dde;
}

static void difference(const rig *g, int j, double e, double de, double dde, double *out) {
    const int n = g->m->nv;
    const double step[2] = {1, 2}, weight[2] = {8.0 / 12, -1.0 / 12};
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < 2; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const double c = step[k] * sign;
            vary(g, j, c * e, c * de, c * dde);
            snw_residual(g->m, g->in, g->moved, false, g->w);
            for (int i = 0; i < n; i++) out[i] += sign * weight[k] * g->w->r[i];
        }
    }
}

static double size_of(int n, const double *A) {
    double s = 0;
    for (int i = 0; i < n; i++) s = fmax(s, fabs(A[i]));
    return s;
}

// every column of dr/dq, dr/dv, dr/da against differences
static void check(rig *g) {
    const int n = g->m->nv;
    const size_t nn = (size_t)n * (size_t)n;
    double *T[3], *column = malloc((size_t)n * sizeof *column);
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_tangent_sweep(g->m, NULL, g->w);
    for (int k = 0; k < 3; k++) {
        T[k] = malloc(nn * sizeof(double));
        snw_tangent_assemble(g->m, g->in, k == 0, k == 1, k == 2, g->w, T[k]);
    }
    const double e = 1e-3;
    for (int k = 0; k < 3; k++) {
        const double size = size_of((int)nn, T[k]);
        for (int j = 0; j < n; j++) {
            difference(g, j, k == 0 ? e : 0, k == 1 ? e : 0, k == 2 ? e : 0, column);
            for (int i = 0; i < n; i++) {
                const double got = T[k][(size_t)j * (size_t)n + (size_t)i], want = column[i] / e;
                // fourth order differences: e^4 of the fifth derivative, and rounding over e
                if (!(fabs(got - want) <= 2e-8 * size)) {
                    fail_msg("part %d, row %d, column %d of %d: %.12g, differences %.12g, size %g",
                             k, i, j, n, got, want, size);
                }
            }
        }
    }
    for (int k = 0; k < 3; k++) free(T[k]);
    free(column);
}

static void tangent_equals_differences_clamped(void **state) {
    (void)state;
    dice d = {1};
    for (int i = 0; i < ROBOTS; i++) {
        rig g;
        rig_open(&g, &d, SNW_JOINT_FIXED, false);
        check(&g);
        rig_close(&g);
    }
}

static void tangent_equals_differences_on_a_moving_base(void **state) {
    (void)state;
    dice d = {2};
    for (int i = 0; i < ROBOTS; i++) {
        rig g;
        rig_open(&g, &d, SNW_JOINT_FIXED, true);
        check(&g);
        rig_close(&g);
    }
}

static void tangent_equals_differences_free(void **state) {
    (void)state;
    dice d = {3};
    for (int i = 0; i < ROBOTS; i++) {
        rig g;
        rig_open(&g, &d, SNW_JOINT_FREE, i % 2 == 0);
        check(&g);
        rig_close(&g);
    }
}

static void tangent_equals_differences_on_trees(void **state) {
    (void)state;
    dice d = {4};
    for (int i = 0; i < ROBOTS; i++) {
        rig g;
        tree_random(&g.t, &d, (tree_opts){.nlink = pick_int(&d, 2, 8), .floating = i % 3 == 0});
        rig_compile(&g, &d);
        check(&g);
        rig_close(&g);
    }
}

// the Newton matrix of a step: increments d in a chart, rates a d + f, accelerations b d + g; the rows of balls and free
// joints go along the columns of the chart
static void check_chart(rig *g, dice *d, snw_chart chart) {
    const snw_model *m = g->m;
    const int n = m->nv;
    const double a = 3, b = 7, e = 1e-3;
    const double step[2] = {1, 2}, weight[2] = {8.0 / 12, -1.0 / 12};
    double *x = calloc((size_t)(6 * n + 108 * m->ncurved + n * n), sizeof *x), *f = x + n;
    double *acc = f + n, *rate = acc + n, *da = rate + n, *column = da + n, *S = column + n,
           *T = S + 108 * m->ncurved;
    for (int i = 0; i < n; i++) {
        x[i] = roll(d, -0.4, 0.4), f[i] = roll(d, -1, 1), acc[i] = roll(d, -1, 1);
    }
    for (int j = -1; j < n; j++) { // -1: the point itself
        memset(column, 0, (size_t)n * sizeof *column);
        for (int k = 0; k < 4; k++) {
            const int sign = k % 2 ? 1 : -1;
            const double move = j < 0 ? 0 : step[k / 2] * sign * e;
            if (j >= 0) x[j] += move;
            for (int i = 0; i < n; i++) rate[i] = a * x[i] + f[i], da[i] = b * x[i] + acc[i];
            snw_chart_to_state(m, chart, g->s->q, x, rate, da, g->moved);
            if (j >= 0) x[j] -= move;
            snw_residual(m, g->in, g->moved, false, g->w);
            for (int i = 0; i < n; i++) column[i] += sign * weight[k / 2] * g->w->r[i] / e;
        }
        if (j < 0) {
            snw_chart_columns(m, chart, x, a, b, g->moved, S);
            snw_tangent_sweep(m, m->ncurved ? S : NULL, g->w);
            snw_tangent_assemble(m, g->in, 1, a, b, g->w, T);
            continue;
        }
        for (int k = 0; k < m->nblock; k++) {
            const snw_block *block = &m->block[k];
            if (block->curved < 0) continue;
            double row[6] = {0};
            for (int i = 0; i < block->n; i++) {
                for (int l = 0; l < block->n; l++) {
                    row[i] += S[108 * block->curved + 6 * l + i] * column[block->dof + l];
                }
            }
            for (int i = 0; i < block->n; i++) column[block->dof + i] = row[i];
        }
        const double size = size_of(n * n, T);
        for (int i = 0; i < n; i++) {
            const double got = T[(size_t)j * (size_t)n + (size_t)i];
            if (!(fabs(got - column[i]) <= 2e-8 * size)) {
                fail_msg("chart %d, row %d, column %d of %d: %.12g, differences %.12g, size %g",
                         (int)chart, i, j, n, got, column[i], size);
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
        tree_random(&g.t, &d, (tree_opts){.nlink = pick_int(&d, 2, 8), .floating = i % 2 == 0});
        rig_compile(&g, &d);
        check_chart(&g, &d, i % 4 < 2 ? SNW_CHART_SE3 : SNW_CHART_SO3R3);
        rig_close(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_equals_differences_clamped),
        cmocka_unit_test(tangent_equals_differences_on_a_moving_base),
        cmocka_unit_test(tangent_equals_differences_free),
        cmocka_unit_test(tangent_equals_differences_on_trees),
        cmocka_unit_test(tangent_of_a_step_equals_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
