// SPDX-License-Identifier: MIT
//
// Rules along rods: their order, and every derivative by differences; functions made of brackets
// compared with those written out.
#include "math/rule.h"

#include "math/quadrature.h"
#include "near.h"
#include "poses.h"

#include <string.h>

enum { LD = SNW_MAGNUS_LD, POINTS = SNW_MAGNUS_POINTS };

typedef struct which {
    snw_rule_kind kind;
    int number, order;
} which;

static const which rules[] = {
    {SNW_RULE_MAGNUS, 2, 2},   {SNW_RULE_MAGNUS, 4, 4},   {SNW_RULE_MAGNUS, 6, 6},
    {SNW_RULE_RK4, 0, 4},      {SNW_RULE_SPECTRAL, 2, 4}, {SNW_RULE_SPECTRAL, 3, 6},
    {SNW_RULE_SPECTRAL, 4, 8}, {SNW_RULE_RK45, 0, 5},     {SNW_RULE_FER, 2, 2},
    {SNW_RULE_FER, 4, 4},      {SNW_RULE_FER, 6, 6},
};
enum { RULES = sizeof rules / sizeof *rules };

static snw_rule rule_of(snw_pool *pool, which w) {
    snw_rule r;
    assert_int_equal(snw_rule_make(pool, w.kind, w.number, &r), SNW_OK);
    assert_int_equal(r.order, w.order);
    return r;
}

// strains and rates of ordinary size, none of them special
static snw_twist strain(int level, int c) {
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = sin(1.3 + 2.1 * i + 1.7 * c + 0.9 * level + i * c * 0.3);
    return x;
}

static const snw_wrench probe = {.e = {0.7, -1.2, 0.5, 1.4, 0.3, -0.8}};
static const double h0 = 0.6;

static const double stencil[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60}; // order 6

// z0 + t z1 + t^2/2 z2
static void strains_at(double t, snw_twist *z, snw_twist *dz, snw_twist *ddz) {
    for (int c = 0; c < POINTS; c++) {
        const snw_twist a = strain(0, c), b = strain(1, c), d = strain(2, c);
        z[c] = snw_twist_axpy(0.5 * t * t, d, snw_twist_axpy(t, b, a));
        dz[c] = snw_twist_axpy(t, d, b);
        ddz[c] = d;
    }
}

// the strain field of the tests of order
static snw_twist varying(double s) {
    return (snw_twist){.e = {3 * sin(4 * s), 2 * cos(5 * s) + s, 4 * s * s - 1,
                             1 + 0.4 * sin(3 * s), 0.5 * cos(6 * s), 0.3 * s}};
}

static snw_se3 reconstruct(const snw_rule *rule, int nseg) {
    snw_se3 g = snw_se3_identity();
    const double h = 1.0 / nseg;
    for (int k = 0; k < nseg; k++) {
        snw_twist xi[POINTS];
        for (int i = 0; i < rule->nc; i++) xi[i] = varying(h * (k + rule->c[i]));
        g = snw_se3_mul(g, snw_se3_exp(snw_rule_value(rule, h, xi)));
    }
    return g;
}

// compared with Magnus of order 6, which tests/unit/test_magnus.c compares with an integrator that
// uses no exponentials
static void orders_are_those_claimed(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    const snw_rule fine = rule_of(pool, rules[2]);
    const snw_se3 exact = reconstruct(&fine, 2000);
    for (int k = 0; k < RULES; k++) {
        const snw_rule rule = rule_of(pool, rules[k]);
        const int n = rules[k].order == 8 ? 10 : rules[k].order == 6 ? 16 : 64;
        const double a = pose_distance(reconstruct(&rule, n), exact);
        const double b = pose_distance(reconstruct(&rule, 2 * n), exact);
        print_message("%s %d: %.2e %.2e, slope %.2f\n", snw_rule_name(rule.kind), rule.number, a, b,
                      log2(a / b));
        assert_near(log2(a / b), rules[k].order, 0.15); // the next term is h^2 smaller, for rk4 h
    }
    snw_pool_destroy(pool);
}

// The estimate is the difference to a formula of order 4, with the same power of the length: h^5
// within a segment, and its rates are those of that difference.
static void the_estimate_is_of_order_five_in_a_segment(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    const snw_rule rule = rule_of(pool, (which){SNW_RULE_RK45, 0, 5});
    double size[3][2];
    for (int k = 0; k < 2; k++) {
        const double h = 0.02 / (1 << k), e = 1e-2;
        snw_twist xi[POINTS], d[POINTS], dd[POINTS], E[3];
        for (int i = 0; i < 6; i++) {
            const double x = 0.3 + h * rule.c[i];
            xi[i] = varying(x), d[i] = varying(2 * x), dd[i] = varying(3 * x + 1);
        }
        snw_rule_errors(&rule, h, xi, d, dd, E);
        snw_twist first = {0}, second = {0};
        for (int j = -2; j <= 2; j++) {
            static const double w1[5] = {1.0 / 12, -8.0 / 12, 0, 8.0 / 12, -1.0 / 12};
            static const double w2[5] = {-1.0 / 12, 16.0 / 12, -30.0 / 12, 16.0 / 12, -1.0 / 12};
            snw_twist z[POINTS], at[3];
            for (int i = 0; i < 6; i++)
                z[i] =
                    snw_twist_axpy(0.5 * j * e * j * e, dd[i], snw_twist_axpy(j * e, d[i], xi[i]));
            snw_rule_errors(&rule, h, z, d, dd, at);
            first = snw_twist_axpy(w1[j + 2] / e, at[0], first);
            second = snw_twist_axpy(w2[j + 2] / (e * e), at[0], second);
        }
        for (int l = 0; l < 3; l++) size[l][k] = 0;
        for (int i = 0; i < 6; i++) {
            for (int l = 0; l < 3; l++) size[l][k] = fmax(size[l][k], fabs(E[l].e[i]));
            assert_near(E[1].e[i], first.e[i], 1e-6 * size[0][k] + 1e-15);
            assert_near(E[2].e[i], second.e[i], 1e-4 * size[0][k] + 1e-12);
        }
    }
    for (int l = 0; l < 3; l++) assert_near(log2(size[l][0] / size[l][1]), 5, 0.2);
    snw_pool_destroy(pool);
}

// a helix
static void constant_strain_is_exact(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_twist xi[POINTS];
    for (int c = 0; c < POINTS; c++) xi[c] = strain(0, 1);
    for (int k = 0; k < RULES; k++) {
        const snw_rule rule = rule_of(pool, rules[k]);
        const snw_twist W = snw_rule_value(&rule, h0, xi);
        // two exponentials and a logarithm round a few times more than sums
        const double tol = rule.kind == SNW_RULE_FER ? 2e-15 : 4e-16;
        for (int i = 0; i < 6; i++) assert_near(W.e[i], h0 * xi[0].e[i], tol);
    }
    snw_pool_destroy(pool);
}

static void derivatives_equal_differences(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    for (int k = 0; k < RULES; k++) {
        const snw_rule rule = rule_of(pool, rules[k]);
        const double e = 1e-2;
        snw_twist z[POINTS], dz[POINTS], ddz[POINTS], W, dW, ddW;
        double Y[6 * LD], dY[6 * LD], ddY[6 * LD], alone[6 * LD], G[LD * LD];
        strains_at(0, z, dz, ddz);
        snw_rule_rates(&rule, h0, z, dz, ddz, &W, &dW, &ddW);
        snw_rule_jacobian_rates(&rule, h0, z, dz, ddz, Y, dY, ddY);
        snw_rule_jacobian(&rule, h0, z, alone);
        snw_rule_hessian(&rule, h0, z, probe, G);
        // in time
        double d1[6] = {0}, d2[6] = {0}, y1[6 * LD] = {0}, y2[6 * LD] = {0};
        for (int j = -3; j <= 3; j++) {
            if (j == 0) continue;
            const double f = (j > 0 ? 1 : -1) * stencil[(j > 0 ? j : -j) - 1] / e;
            snw_twist a[POINTS], b[POINTS], c[POINTS], V, dV, ddV;
            double X[6 * LD], dX[6 * LD], ddX[6 * LD];
            strains_at(j * e, a, b, c);
            snw_rule_rates(&rule, h0, a, b, c, &V, &dV, &ddV);
            snw_rule_jacobian_rates(&rule, h0, a, b, c, X, dX, ddX);
            for (int i = 0; i < 6; i++) d1[i] += f * V.e[i], d2[i] += f * dV.e[i];
            for (int r = 0; r < 6; r++) {
                for (int i = 0; i < 6 * rule.nc; i++) {
                    y1[r * LD + i] += f * X[r * LD + i];
                    y2[r * LD + i] += f * dX[r * LD + i];
                }
            }
        }
        for (int i = 0; i < 6; i++) {
            assert_near(dW.e[i], d1[i], 1e-10); // e^6 and rounding over e
            assert_near(ddW.e[i], d2[i], 1e-10);
        }
        for (int r = 0; r < 6; r++) {
            for (int i = 0; i < 6 * rule.nc; i++) {
                assert_near(dY[r * LD + i], y1[r * LD + i], 1e-10);
                assert_near(ddY[r * LD + i], y2[r * LD + i], 1e-10);
                assert_near(alone[r * LD + i], Y[r * LD + i], 1e-15);
            }
        }
        // in the strains: columns of Y, and those of the pulled wrench
        snw_wrench p[POINTS];
        snw_rule_pull(&rule, h0, z, probe, p);
        for (int c = 0; c < rule.nc; c++) {
            for (int i = 0; i < 6; i++) {
                double col[6] = {0}, bend[LD] = {0}, pulled = 0;
                for (int j = -3; j <= 3; j++) {
                    if (j == 0) continue;
                    const double f = (j > 0 ? 1 : -1) * stencil[(j > 0 ? j : -j) - 1] / e;
                    snw_twist a[POINTS];
                    snw_wrench q[POINTS];
                    memcpy(a, z, sizeof a);
                    a[c].e[i] += j * e;
                    const snw_twist V = snw_rule_value(&rule, h0, a);
                    snw_rule_pull(&rule, h0, a, probe, q);
                    for (int r = 0; r < 6; r++) col[r] += f * V.e[r];
                    for (int b = 0; b < 6 * rule.nc; b++) bend[b] += f * q[b / 6].e[b % 6];
                }
                for (int r = 0; r < 6; r++) {
                    assert_near(Y[r * LD + 6 * c + i], col[r], 1e-10);
                    pulled += Y[r * LD + 6 * c + i] * probe.e[r];
                }
                assert_near(p[c].e[i], pulled, 1e-14);
                for (int b = 0; b < 6 * rule.nc; b++) {
                    assert_near(G[b * LD + 6 * c + i], bend[b], 1e-10);
                    assert_near(G[b * LD + 6 * c + i], G[(6 * c + i) * LD + b], 1e-15);
                }
            }
        }
    }
    snw_pool_destroy(pool);
}

// the expansion of order 6 as a list of steps equals the one written out
static void steps_equal_what_is_written_out(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_brackets p;
    assert_int_equal(snw_brackets_begin(pool, 3, 32, &p), SNW_OK);
    const double k2 = sqrt(15) / 3, k3 = 10.0 / 3;
    const int leaf[3] = {0, 1, 2};
    const int a1 = 1, a2 = snw_brackets_sum(&p, 3, leaf, (const double[]){-k2, 0, k2});
    const int a3 = snw_brackets_sum(&p, 3, leaf, (const double[]){k3, -2 * k3, k3});
    const int C = snw_brackets_bracket(&p, a2, a1);
    const int E = snw_brackets_sum(&p, 2, (const int[]){a3, C}, (const double[]){2, 1});
    const int P = snw_brackets_sum(&p, 3, (const int[]){a1, a3, C}, (const double[]){-20, -1, 1});
    const int D = snw_brackets_bracket(&p, a1, E);
    const int Q = snw_brackets_sum(&p, 2, (const int[]){a2, D}, (const double[]){1, 1.0 / 60});
    const int PQ = snw_brackets_bracket(&p, P, Q);
    (void)snw_brackets_sum(&p, 3, (const int[]){a1, a3, PQ},
                           (const double[]){1, 1.0 / 12, -1.0 / 240});
    snw_twist z[POINTS], dz[POINTS], ddz[POINTS], W[3], X[3];
    strains_at(0, z, dz, ddz);
    const snw_twist *const jets[3] = {z, dz, ddz};
    snw_brackets_rates(&p, 3, h0, jets, W);
    snw_magnus_rates(6, h0, z, dz, ddz, &X[0], &X[1], &X[2]);
    for (int l = 0; l < 3; l++) {
        for (int i = 0; i < 6; i++) assert_near(W[l].e[i], X[l].e[i], 1e-14);
    }
    double A[3][6 * LD], B[3][6 * LD], G[LD * LD], H[LD * LD];
    double *const to[3] = {A[0], A[1], A[2]};
    snw_brackets_jacobian(&p, 3, h0, jets, to);
    snw_magnus_jacobian_rates(6, h0, z, dz, ddz, B[0], B[1], B[2]);
    snw_brackets_hessian(&p, h0, z, probe, G);
    snw_magnus_hessian(6, h0, z, probe, H);
    for (int i = 0; i < 18; i++) {
        for (int r = 0; r < 6; r++) {
            for (int l = 0; l < 3; l++) assert_near(A[l][r * LD + i], B[l][r * LD + i], 1e-14);
        }
        for (int j = 0; j < 18; j++) assert_near(G[i * LD + j], H[i * LD + j], 1e-14);
    }
    snw_pool_destroy(pool);
}

static void others_do_not_exist(void **state) {
    (void)state;
    assert_false(snw_rule_exists(SNW_RULE_MAGNUS, 3));
    assert_false(snw_rule_exists(SNW_RULE_MAGNUS, 8));
    assert_false(snw_rule_exists(SNW_RULE_FER, 3));
    assert_false(snw_rule_exists(SNW_RULE_FER, 8));
    assert_false(snw_rule_exists(SNW_RULE_RK4, 4));
    assert_false(snw_rule_exists(SNW_RULE_RK45, 5));
    assert_false(snw_rule_exists(SNW_RULE_SPECTRAL, 1));
    assert_false(snw_rule_exists(SNW_RULE_SPECTRAL, 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_those_claimed),
        cmocka_unit_test(the_estimate_is_of_order_five_in_a_segment),
        cmocka_unit_test(constant_strain_is_exact),
        cmocka_unit_test(derivatives_equal_differences),
        cmocka_unit_test(steps_equal_what_is_written_out),
        cmocka_unit_test(others_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
