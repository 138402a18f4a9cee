// SPDX-License-Identifier: MIT
#include "math/magnus.h"

#include "near.h"
#include "poses.h"

#include <string.h>

enum { LD = SNW_MAGNUS_LD, ORDERS = 3 };
static const int orders[ORDERS] = {2, 4, 6};

// strains and rates of ordinary size at three points, none of them special
static const snw_twist z0[3] = {
    {.e = {0.9, -1.3, 0.4, 1.1, 0.3, -0.2}},
    {.e = {-0.5, 0.8, 1.7, 0.9, -0.4, 0.6}},
    {.e = {1.2, 0.6, -0.7, 1.3, 0.2, 0.5}},
};
static const snw_twist z1[3] = {
    {.e = {0.3, 0.7, -1.1, 0.4, -0.8, 0.5}},
    {.e = {-1.4, 0.2, 0.6, -0.3, 0.9, 1.0}},
    {.e = {0.8, -0.6, 0.1, 0.7, 0.2, -1.2}},
};
static const snw_twist z2[3] = {
    {.e = {-0.2, 1.1, 0.5, 0.6, 0.3, -0.9}},
    {.e = {0.7, -0.4, 1.3, 1.2, -0.5, 0.1}},
    {.e = {-1.0, 0.9, 0.2, -0.7, 0.8, 0.4}},
};
static const snw_wrench probe = {.e = {0.7, -1.2, 0.5, 1.4, 0.3, -0.8}};
static const double h0 = 0.8;

// z0 + t z1 + t^2/2 z2: a motion with those rates at t = 0
static void strains_at(double t, snw_twist z[3]) {
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < 6; i++) {
            z[c].e[i] = z0[c].e[i] + t * z1[c].e[i] + 0.5 * t * t * z2[c].e[i];
        }
    }
}

// W is a polynomial of degree at most five in the strains (order 6: [P, Q] has P of degree 2 and Q
// of degree 3), so with the 7 points t = -3 .. 3 derivatives along a line in z are exact but for
// rounding
enum { STENCIL = 7 };
static const double first[STENCIL] = {-1.0 / 60, 0.15, -0.75, 0, 0.75, -0.15, 1.0 / 60};

// strong variation in every component, as in the measurement of the orders
static snw_twist varying(double s) {
    return (snw_twist){.e = {3 * sin(4 * s), 2 * cos(5 * s) + s, 4 * s * s - 1,
                             1 + 0.4 * sin(3 * s), 0.5 * cos(6 * s), 0.3 * s}};
}

static snw_se3 reconstruct(int order, int nseg) {
    snw_se3 g = snw_se3_exp((snw_twist){.e = {0}});
    const double h = 1.0 / nseg;
    const double *c = snw_magnus_abscissae(order);
    for (int k = 0; k < nseg; k++) {
        snw_twist xi[SNW_MAGNUS_POINTS];
        for (int i = 0; i < snw_magnus_points(order); i++) xi[i] = varying(h * (k + c[i]));
        g = snw_se3_mul(g, snw_se3_exp(snw_magnus(order, h, xi)));
    }
    return g;
}

// classical RK4 on the matrix g' = g xi^: uses neither exponentials nor commutators
static snw_se3 integrate(int nstep) {
    double g[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}; // rows (R p)
    const double h = 1.0 / nstep, a[4] = {0, 0.5, 0.5, 1}, b[4] = {1, 2, 2, 1};
    for (int k = 0; k < nstep; k++) {
        double slope[12] = {0}, total[12] = {0};
        for (int stage = 0; stage < 4; stage++) {
            const snw_twist x = varying(h * (k + a[stage]));
            double y[12];
            for (int i = 0; i < 12; i++) y[i] = g[i] + a[stage] * h * slope[i];
            for (int i = 0; i < 3; i++) {
                const snw_vec3 row = {{y[4 * i + 0], y[4 * i + 1], y[4 * i + 2]}};
                const snw_vec3 turned = snw_cross(row, x.w); // row of R w^
                for (int j = 0; j < 3; j++) slope[4 * i + j] = turned.e[j];
                slope[4 * i + 3] = snw_dot(row, x.v);
            }
            for (int i = 0; i < 12; i++) total[i] += b[stage] * slope[i];
        }
        for (int i = 0; i < 12; i++) g[i] += h / 6 * total[i];
    }
    snw_se3 out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out.R.e[i][j] = g[4 * i + j];
        out.p.e[i] = g[4 * i + 3];
    }
    return out;
}

// a wrong sign of one commutator would drop orders 4 and 6 to 2
static void orders_are_those_claimed(void **state) {
    (void)state;
    const snw_se3 exact = integrate(20000); // error h^4 is below 1e-13, rounding about as large
    for (int k = 0; k < ORDERS; k++) {
        // where the error is asymptotic and far above that of the reference
        const int nseg = orders[k] == 6 ? 16 : 64;
        const double coarse = pose_distance(reconstruct(orders[k], nseg), exact);
        const double fine = pose_distance(reconstruct(orders[k], 2 * nseg), exact);
        // the next term of the error is h^2 smaller: one or two percent of the observed order
        assert_near(log2(coarse / fine), orders[k], 0.02);
    }
}

static void constant_strain_is_exact(void **state) {
    (void)state;
    const snw_twist xi[3] = {z0[0], z0[0], z0[0]};
    for (int k = 0; k < ORDERS; k++) {
        const snw_twist W = snw_magnus(orders[k], h0, xi);
        for (int i = 0; i < 6; i++) assert_near(W.e[i], h0 * z0[0].e[i], 4e-16);
    }
}

static void abscissae_are_gauss_points(void **state) {
    (void)state;
    for (int k = 0; k < ORDERS; k++) {
        const double *c = snw_magnus_abscissae(orders[k]);
        const int n = snw_magnus_points(orders[k]);
        assert_int_equal(n, k + 1);
        for (int i = 0; i < n; i++) {
            const double x = 2 * c[i] - 1;
            const double P[3] = {x, 3 * x * x - 1, x * (5 * x * x - 3)}; // Legendre, up to a factor
            assert_near(P[k], 0, 1e-15);
            assert_near(c[i], 1 - c[n - 1 - i], 2e-16);
            assert_true(i == 0 || c[i] > c[i - 1]);
        }
    }
}

// order 6 is polynomial of degree ten in t here, so the stencil has an error t^6 besides rounding
static void rates_are_time_derivatives(void **state) {
    (void)state;
    const double dt = 1e-2;
    for (int k = 0; k < ORDERS; k++) {
        snw_twist W, dW, ddW, shifted[STENCIL], dshifted[STENCIL], unused, value;
        snw_magnus_rates(orders[k], h0, z0, z1, z2, &W, &dW, &ddW);
        for (int j = 0; j < STENCIL; j++) {
            const double t = (j - 3) * dt;
            snw_twist z[3], dz[3];
            strains_at(t, z);
            for (int c = 0; c < 3; c++) {
                for (int i = 0; i < 6; i++) dz[c].e[i] = z1[c].e[i] + t * z2[c].e[i];
            }
            shifted[j] = snw_magnus(orders[k], h0, z);
            snw_magnus_rates(orders[k], h0, z, dz, z2, &value, &dshifted[j], &unused);
            for (int i = 0; i < 6; i++) assert_near(value.e[i], shifted[j].e[i], 1e-15);
        }
        for (int i = 0; i < 6; i++) {
            double d = 0, dd = 0;
            for (int j = 0; j < STENCIL; j++) {
                d += first[j] * shifted[j].e[i] / dt;
                dd += first[j] * dshifted[j].e[i] / dt;
            }
            // rounding / dt and dt^6
            assert_near(dW.e[i], d, 1e-12);
            assert_near(ddW.e[i], dd, 1e-12);
        }
    }
}

static void jacobian_equals_differences(void **state) {
    (void)state;
    for (int k = 0; k < ORDERS; k++) {
        const int n = snw_magnus_points(orders[k]);
        double Y[6 * LD];
        snw_magnus_jacobian(orders[k], h0, z0, Y);
        for (int c = 0; c < n; c++) {
            for (int i = 0; i < 6; i++) {
                double d[6] = {0};
                for (int j = 0; j < STENCIL; j++) {
                    snw_twist z[3];
                    memcpy(z, z0, sizeof z);
                    z[c].e[i] += j - 3;
                    const snw_twist W = snw_magnus(orders[k], h0, z);
                    for (int r = 0; r < 6; r++) d[r] += first[j] * W.e[r];
                }
                for (int r = 0; r < 6; r++) assert_near(Y[r * LD + 6 * c + i], d[r], 1e-14);
            }
        }
    }
}

static void jacobian_rates_are_time_derivatives(void **state) {
    (void)state;
    const double dt = 1e-2;
    for (int k = 0; k < ORDERS; k++) {
        const int n = 6 * snw_magnus_points(orders[k]);
        double Y[6 * LD], dY[6 * LD], ddY[6 * LD], alone[6 * LD];
        double d[6 * LD] = {0}, dd[6 * LD] = {0};
        snw_magnus_jacobian_rates(orders[k], h0, z0, z1, z2, Y, dY, ddY);
        snw_magnus_jacobian(orders[k], h0, z0, alone);
        for (int j = 0; j < STENCIL; j++) {
            const double t = (j - 3) * dt;
            snw_twist z[3], dz[3];
            double Yt[6 * LD], dYt[6 * LD], unused[6 * LD];
            strains_at(t, z);
            for (int c = 0; c < 3; c++) {
                for (int i = 0; i < 6; i++) dz[c].e[i] = z1[c].e[i] + t * z2[c].e[i];
            }
            snw_magnus_jacobian_rates(orders[k], h0, z, dz, z2, Yt, dYt, unused);
            for (int r = 0; r < 6; r++) {
                for (int i = 0; i < n; i++) {
                    d[r * LD + i] += first[j] * Yt[r * LD + i] / dt;
                    dd[r * LD + i] += first[j] * dYt[r * LD + i] / dt;
                }
            }
        }
        for (int r = 0; r < 6; r++) {
            for (int i = 0; i < n; i++) {
                assert_near(alone[r * LD + i], Y[r * LD + i], 1e-15);
                assert_near(dY[r * LD + i], d[r * LD + i], 1e-12);
                assert_near(ddY[r * LD + i], dd[r * LD + i], 1e-12);
            }
        }
    }
}

// dW = Y dz and ddW = Y ddz + dY dz: two independent computations of the same numbers
static void rates_follow_from_the_jacobian(void **state) {
    (void)state;
    for (int k = 0; k < ORDERS; k++) {
        double Y[6 * LD], dY[6 * LD], ddY[6 * LD];
        snw_twist W, dW, ddW;
        snw_magnus_rates(orders[k], h0, z0, z1, z2, &W, &dW, &ddW);
        snw_magnus_jacobian_rates(orders[k], h0, z0, z1, z2, Y, dY, ddY);
        for (int r = 0; r < 6; r++) {
            double d = 0, dd = 0;
            for (int c = 0; c < snw_magnus_points(orders[k]); c++) {
                for (int i = 0; i < 6; i++) {
                    const int at = r * LD + 6 * c + i;
                    d += Y[at] * z1[c].e[i];
                    dd += Y[at] * z2[c].e[i] + dY[at] * z1[c].e[i];
                }
            }
            assert_near(dW.e[r], d, 4e-15);
            assert_near(ddW.e[r], dd, 4e-15);
        }
    }
}

static void pull_is_the_transposed_jacobian(void **state) {
    (void)state;
    for (int k = 0; k < ORDERS; k++) {
        double Y[6 * LD];
        snw_wrench p_c[3];
        snw_magnus_jacobian(orders[k], h0, z0, Y);
        snw_magnus_pull(orders[k], h0, z0, probe, p_c);
        for (int c = 0; c < snw_magnus_points(orders[k]); c++) {
            for (int i = 0; i < 6; i++) {
                double want = 0;
                for (int r = 0; r < 6; r++) want += Y[r * LD + 6 * c + i] * probe.e[r];
                assert_near(p_c[c].e[i], want, 4e-15);
            }
        }
    }
}

static void hessian_is_symmetric_and_equals_differences_of_pull(void **state) {
    (void)state;
    for (int k = 0; k < ORDERS; k++) {
        const int n = snw_magnus_points(orders[k]);
        double G[LD * LD];
        snw_magnus_hessian(orders[k], h0, z0, probe, G);
        for (int c = 0; c < n; c++) {
            for (int i = 0; i < 6; i++) {
                double d[3][6] = {0};
                for (int j = 0; j < STENCIL; j++) {
                    snw_twist z[3];
                    snw_wrench p_c[3];
                    memcpy(z, z0, sizeof z);
                    z[c].e[i] += j - 3;
                    snw_magnus_pull(orders[k], h0, z, probe, p_c);
                    for (int b = 0; b < n; b++) {
                        for (int r = 0; r < 6; r++) d[b][r] += first[j] * p_c[b].e[r];
                    }
                }
                for (int b = 0; b < n; b++) {
                    for (int r = 0; r < 6; r++) {
                        const int row = 6 * b + r, column = 6 * c + i;
                        assert_near(G[row * LD + column], d[b][r], 1e-14);
                        assert_true(G[row * LD + column] == G[column * LD + row]);
                    }
                }
            }
        }
    }
}

// callers keep other data in the columns of points that a lower order does not use
static void unused_columns_are_left_alone(void **state) {
    (void)state;
    for (int k = 0; k < ORDERS; k++) {
        double Y[6 * LD], dY[6 * LD], ddY[6 * LD], G[LD * LD];
        for (int i = 0; i < 6 * LD; i++) Y[i] = dY[i] = ddY[i] = 77;
        for (int i = 0; i < LD * LD; i++) G[i] = 77;
        snw_magnus_jacobian_rates(orders[k], h0, z0, z1, z2, Y, dY, ddY);
        snw_magnus_hessian(orders[k], h0, z0, probe, G);
        const int n = 6 * snw_magnus_points(orders[k]);
        for (int r = 0; r < LD; r++) {
            for (int i = 0; i < LD; i++) {
                const int at = r * LD + i;
                if (r < 6) assert_true((Y[at] == 77) == (i >= n));
                if (r < 6) assert_true((dY[at] == 77) == (i >= n));
                if (r < 6) assert_true((ddY[at] == 77) == (i >= n));
                assert_true((G[at] == 77) == (r >= n || i >= n));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_those_claimed),
        cmocka_unit_test(constant_strain_is_exact),
        cmocka_unit_test(abscissae_are_gauss_points),
        cmocka_unit_test(rates_are_time_derivatives),
        cmocka_unit_test(jacobian_equals_differences),
        cmocka_unit_test(jacobian_rates_are_time_derivatives),
        cmocka_unit_test(rates_follow_from_the_jacobian),
        cmocka_unit_test(pull_is_the_transposed_jacobian),
        cmocka_unit_test(hessian_is_symmetric_and_equals_differences_of_pull),
        cmocka_unit_test(unused_columns_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
