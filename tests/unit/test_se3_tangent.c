// SPDX-License-Identifier: MIT
#include "math/se3_tangent.h"

#include "near.h"

#include <complex.h>
#include <float.h>
#include <stdlib.h>

// ---- the reference: T as the series of ad, in complex extended precision -----------------------
//
// Complex steps give first derivatives without cancellation; a second derivative is a difference of
// sixth order of such a first derivative.

typedef long double complex number;
typedef struct vec6 {
    number e[6];
} vec6;
typedef struct mat6 {
    number e[6][6];
} mat6;

static vec6 vec6_of(const double *x) {
    vec6 y;
    for (int i = 0; i < 6; i++) y.e[i] = x[i];
    return y;
}

// x + s y
static vec6 vec6_axpy(number s, vec6 y, vec6 x) {
    for (int i = 0; i < 6; i++) x.e[i] += s * y.e[i];
    return x;
}

static vec6 mat6_apply(mat6 A, vec6 x) {
    vec6 y;
    for (int i = 0; i < 6; i++) {
        y.e[i] = 0;
        for (int j = 0; j < 6; j++) y.e[i] += A.e[i][j] * x.e[j];
    }
    return y;
}

// ad = [w^ 0; u^ w^]
static mat6 mat6_ad(vec6 x) {
    mat6 A = {{{0}}};
    const number *w = x.e, *u = x.e + 3;
    for (int b = 0; b < 6; b += 3) {
        A.e[b][b + 1] = -w[2], A.e[b][b + 2] = w[1], A.e[b + 1][b + 2] = -w[0];
        A.e[b + 1][b] = w[2], A.e[b + 2][b] = -w[1], A.e[b + 2][b + 1] = w[0];
    }
    A.e[3][1] = -u[2], A.e[3][2] = u[1], A.e[4][2] = -u[0];
    A.e[4][0] = u[2], A.e[5][0] = -u[1], A.e[5][1] = u[0];
    return A;
}

// sum of (-ad)^k / (k+1)!, 60 terms
static mat6 series(vec6 x) {
    const mat6 A = mat6_ad(x);
    mat6 sum = {{{0}}}, term = {{{0}}};
    for (int i = 0; i < 6; i++) sum.e[i][i] = term.e[i][i] = 1;
    for (int k = 1; k < 60; k++) {
        mat6 next;
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                number s = 0;
                for (int m = 0; m < 6; m++) s += term.e[i][m] * A.e[m][j];
                next.e[i][j] = -s / (k + 1);
                sum.e[i][j] += next.e[i][j];
            }
        }
        term = next;
    }
    return sum;
}

// A^-1 b by elimination with pivots
static vec6 mat6_solve(mat6 A, vec6 b) {
    for (int k = 0; k < 6; k++) {
        int pivot = k;
        for (int i = k + 1; i < 6; i++) {
            if (cabsl(A.e[i][k]) > cabsl(A.e[pivot][k])) pivot = i;
        }
        for (int j = 0; j < 6; j++) {
            const number t = A.e[k][j];
            A.e[k][j] = A.e[pivot][j], A.e[pivot][j] = t;
        }
        const number t = b.e[k];
        b.e[k] = b.e[pivot], b.e[pivot] = t;
        for (int i = k + 1; i < 6; i++) {
            const number f = A.e[i][k] / A.e[k][k];
            for (int j = k; j < 6; j++) A.e[i][j] -= f * A.e[k][j];
            b.e[i] -= f * b.e[k];
        }
    }
    for (int i = 5; i >= 0; i--) {
        for (int j = i + 1; j < 6; j++) b.e[i] -= A.e[i][j] * b.e[j];
        b.e[i] /= A.e[i][i];
    }
    return b;
}

// A vector function of a twist, with a constant vector v as parameter.
typedef vec6 vector_fn(vec6 x, vec6 v);

static vec6 series_apply(vec6 x, vec6 v) { return mat6_apply(series(x), v); }
static vec6 series_solve(vec6 x, vec6 v) { return mat6_solve(series(x), v); }
static vec6 series_pull(vec6 x, vec6 p) {
    const mat6 T = series(x);
    vec6 y;
    for (int i = 0; i < 6; i++) {
        y.e[i] = 0;
        for (int j = 0; j < 6; j++) y.e[i] += T.e[j][i] * p.e[j];
    }
    return y;
}

// derivative along d by a complex step
static vec6 step_d1(vector_fn *f, vec6 x, vec6 v, vec6 d) {
    const long double h = 1e-30L;
    vec6 y = f(vec6_axpy(h * (number)_Complex_I, d, x), v);
    for (int i = 0; i < 6; i++) y.e[i] = cimagl(y.e[i]) / h;
    return y;
}

static const long double weights[3] = {45 / 60.0L, -9 / 60.0L, 1 / 60.0L};

// ---- probes and tolerances ---------------------------------------------------------------------

// numbers in (-1, 1), reproducible
static double noise(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 8388608.0 - 1;
}

static snw_twist noise_twist(unsigned *seed) {
    snw_twist x;
    for (int i = 0; i < 6; i++) x.e[i] = noise(seed);
    return x;
}

static snw_twist noise_turn(unsigned *seed, double angle) {
    snw_twist x = noise_twist(seed);
    x.w = snw_scale(angle, snw_normalise(x.w));
    return x;
}

// from zero to beyond pi, with both sides of the seams of the Stumpff numbers: 0.3, 9, 25
static const double angles[] = {0,   1e-9, 1e-6, 1e-3, 0.03,  0.2,   0.5, 0.5477,         0.5478,
                                0.8, 1,    2,    2.9,  2.999, 3.001, 3.1, 3.141592653589, 3.5,
                                4.2, 5};
static const double beyond[] = {5.001, 5.5, 6, 6.2};
enum { NANGLES = sizeof angles / sizeof *angles, NBEYOND = sizeof beyond / sizeof *beyond };

static double angle_at(int i) { return i < NANGLES ? angles[i] : beyond[i - NANGLES]; }

// Rounding: some ten operations on numbers of size one, and the rounding error of z = w.w; the
// reference loses e^6 of extended precision.
static const double rounding = 16 * DBL_EPSILON + 1e3 * (double)LDBL_EPSILON;
// Differences of step 0.01: 0.01^6/140 of a seventh derivative, and the rounding error of the
// reference over the step.
static const double difference = 1e-14 + 1e5 * (double)LDBL_EPSILON;

// growth of T^-1 towards 2 pi, per derivative
static double pole(double angle) { return 2 * 3.1416 / (2 * 3.1415926 - angle); }

static void assert_vec6(const double *got, vec6 want, double tol) {
    for (int i = 0; i < 6; i++) assert_near(got[i], (double)creall(want.e[i]), tol);
}

static void assert_twist(snw_twist got, snw_twist want, double tol) {
    for (int i = 0; i < 6; i++) assert_near(got.e[i], want.e[i], tol);
}

static double lower_entry(const snw_lower *M, int i, int j) {
    if (i < 3) return j < 3 ? M->A.e[i][j] : 0;
    return j < 3 ? M->B.e[i - 3][j] : M->A.e[i - 3][j - 3];
}

static void assert_column(const snw_lower *M, int j, vec6 want, double tol) {
    for (int i = 0; i < 6; i++) assert_near(lower_entry(M, i, j), (double)creall(want.e[i]), tol);
}

static vec6 unit(int j) {
    vec6 e = {{0}};
    e.e[j] = 1;
    return e;
}

// ---- values ------------------------------------------------------------------------------------

static void apply_and_pull_are_the_matrix_and_its_transpose(void **state) {
    (void)state;
    unsigned seed = 1;
    snw_lower M;
    for (int i = 0; i < 9; i++) M.A.e[i / 3][i % 3] = noise(&seed), M.B.e[i / 3][i % 3] = i;
    const snw_twist x = noise_twist(&seed);
    const snw_wrench f = {.e = {1, -2, 3, 0.5, -0.25, 4}};
    const snw_twist y = snw_lower_apply(&M, x);
    for (int i = 0; i < 6; i++) {
        double want = 0, pulled = 0;
        for (int j = 0; j < 6; j++) want += lower_entry(&M, i, j) * x.e[j];
        for (int j = 0; j < 6; j++) pulled += lower_entry(&M, j, i) * f.e[j];
        assert_near(y.e[i], want, 8 * DBL_EPSILON);
        assert_near(snw_lower_pull(&M, f).e[i], pulled, 8 * DBL_EPSILON);
    }
}

static void tangent_is_the_series_of_ad(void **state) {
    (void)state;
    unsigned seed = 2;
    for (int i = 0; i < 5 * (NANGLES + NBEYOND); i++) {
        const snw_twist W = noise_turn(&seed, angle_at(i / 5));
        const snw_lower T = snw_se3_tangent(W);
        for (int j = 0; j < 6; j++) {
            assert_column(&T, j, series_apply(vec6_of(W.e), unit(j)), rounding);
        }
    }
}

static void inverse_tangent_is_the_inverse_of_the_series(void **state) {
    (void)state;
    unsigned seed = 3;
    for (int i = 0; i < 5 * (NANGLES + NBEYOND); i++) {
        const double angle = angle_at(i / 5), far = pole(angle);
        const snw_twist W = noise_turn(&seed, angle);
        const snw_lower T_inv = snw_se3_tangent_inv(W);
        for (int j = 0; j < 6; j++) {
            assert_column(&T_inv, j, series_solve(vec6_of(W.e), unit(j)), rounding * far * far);
        }
    }
}

// exp(W)^-1 d exp(W) by differences of sixth order: relates T to exp, and its sign to the body
// frame
static void tangent_is_the_body_derivative_of_exp(void **state) {
    (void)state;
    unsigned seed = 4;
    for (int i = 0; i < NANGLES + NBEYOND; i++) {
        const snw_twist W = noise_turn(&seed, angle_at(i)), d = noise_twist(&seed);
        const snw_se3 g_inv = snw_se3_inv(snw_se3_exp(W));
        const double h = 0.01;
        snw_twist u = snw_twist_zero();
        for (int k = -3; k <= 3; k++) {
            if (k == 0) continue;
            const double c = (double)weights[abs(k) - 1] * (k > 0 ? 1 : -1) / h;
            // the weights leave the first-order term of the relative motion
            const snw_se3 g = snw_se3_mul(g_inv, snw_se3_exp(snw_twist_axpy(k * h, d, W)));
            const snw_twist part = {{.w = {{g.R.e[2][1], g.R.e[0][2], g.R.e[1][0]}}, .v = g.p}};
            u = snw_twist_axpy(c, part, u);
        }
        const snw_lower T = snw_se3_tangent(W);
        // 0.01^6/140 |d|^7 is below 1e-12, rounding 1e-16/h
        assert_twist(u, snw_lower_apply(&T, d), 2e-12);
    }
}

// the spatial tangent is the body tangent in the frame of the base: T(-W) = Ad(exp W) T(W)
static void tangent_of_minus_w_is_the_spatial_one(void **state) {
    (void)state;
    unsigned seed = 5;
    for (int i = 0; i < NANGLES + NBEYOND; i++) {
        const snw_twist W = noise_turn(&seed, angle_at(i)), d = noise_twist(&seed);
        const snw_lower T = snw_se3_tangent(W), S = snw_se3_tangent(snw_twist_scale(-1, W));
        assert_twist(snw_lower_apply(&S, d),
                     snw_twist_to_parent(snw_se3_exp(W), snw_lower_apply(&T, d)), rounding);
    }
}

// ---- derivatives -------------------------------------------------------------------------------

static void derivative_of_the_inverse_equals_complex_steps(void **state) {
    (void)state;
    unsigned seed = 6;
    for (int i = 0; i < 3 * (NANGLES + NBEYOND); i++) {
        const double angle = angle_at(i / 3), far = pole(angle);
        const snw_twist W = noise_turn(&seed, angle);
        const snw_twist v = noise_twist(&seed), d = noise_twist(&seed);
        const vec6 x = vec6_of(W.e), y = vec6_of(v.e), a = vec6_of(d.e);
        assert_vec6(snw_se3_tangent_inv_d1(W, v, d).e, step_d1(series_solve, x, y, a),
                    rounding * far * far * far);
    }
}

// T y = v differentiated, with y = T^-1 v: accurate up to the pole
static void derivative_of_the_inverse_undoes_that_of_the_tangent(void **state) {
    (void)state;
    unsigned seed = 8;
    for (int i = 0; i < 3 * (NANGLES + NBEYOND); i++) {
        const double angle = angle_at(i / 3), far = pole(angle);
        const snw_twist W = noise_turn(&seed, angle);
        const snw_twist v = noise_twist(&seed), d = noise_twist(&seed);
        const snw_lower T_inv = snw_se3_tangent_inv(W);
        snw_lower T, T_d, T_dd;
        snw_se3_tangent_jet(W, d, snw_twist_zero(), &T, &T_d, &T_dd);
        const snw_twist r = snw_twist_add(snw_lower_apply(&T, snw_se3_tangent_inv_d1(W, v, d)),
                                          snw_lower_apply(&T_d, snw_lower_apply(&T_inv, v)));
        assert_twist(r, snw_twist_zero(), rounding * far * far);
    }
}

static void so3_derivative_is_the_angular_part(void **state) {
    (void)state;
    unsigned seed = 10;
    const snw_twist W = noise_turn(&seed, 1.3), v = noise_twist(&seed), d = noise_twist(&seed);
    const snw_vec3 got = snw_so3_tangent_inv_d1(W.w, v.w, d.w);
    const snw_vec3 want = snw_se3_tangent_inv_d1(W, v, d).w;
    for (int i = 0; i < 3; i++) assert_near(got.e[i], want.e[i], rounding);
}

static void pull_gradient_equals_complex_steps(void **state) {
    (void)state;
    unsigned seed = 11;
    for (int i = 0; i < 3 * (NANGLES + NBEYOND); i++) {
        const snw_twist W = noise_turn(&seed, angle_at(i / 3)), p = noise_twist(&seed);
        snw_wrench f;
        for (int k = 0; k < 6; k++) f.e[k] = p.e[k];
        double N[36];
        snw_se3_tangent_pull_gradient(W, f, N);
        for (int j = 0; j < 6; j++) {
            const vec6 want = step_d1(series_pull, vec6_of(W.e), vec6_of(f.e), unit(j));
            for (int k = 0; k < 6; k++) {
                assert_near(N[6 * k + j], (double)creall(want.e[k]), rounding);
            }
        }
    }
}

// ---- along a motion ----------------------------------------------------------------------------

// d/dt of T(W + t dW + t^2/2 ddW) v at t, by a complex step
static vec6 series_rate(vec6 W, vec6 dW, vec6 ddW, long double t, vec6 v) {
    const vec6 x = vec6_axpy(t * t / 2, ddW, vec6_axpy(t, dW, W));
    return step_d1(series_apply, x, v, vec6_axpy(t, ddW, dW));
}

static vec6 series_rate_rate(vec6 W, vec6 dW, vec6 ddW, vec6 v) {
    const long double h = 0.005L;
    vec6 y = {{0}};
    for (int k = 1; k <= 3; k++) {
        const vec6 up = series_rate(W, dW, ddW, k * h, v);
        const vec6 down = series_rate(W, dW, ddW, -k * h, v);
        y = vec6_axpy(weights[k - 1] / h, vec6_axpy(-1, down, up), y);
    }
    return y;
}

static void jet_holds_the_time_derivatives_of_the_tangent(void **state) {
    (void)state;
    unsigned seed = 12;
    for (int i = 0; i < NANGLES + NBEYOND; i++) {
        const snw_twist W = noise_turn(&seed, angle_at(i));
        const snw_twist dW = noise_twist(&seed), ddW = noise_twist(&seed);
        const vec6 x = vec6_of(W.e), x1 = vec6_of(dW.e), x2 = vec6_of(ddW.e);
        snw_lower T, dT, ddT;
        snw_se3_tangent_jet(W, dW, ddW, &T, &dT, &ddT);
        for (int j = 0; j < 6; j++) {
            assert_column(&T, j, series_apply(x, unit(j)), rounding);
            assert_column(&dT, j, series_rate(x, x1, x2, 0, unit(j)), rounding);
            assert_column(&ddT, j, series_rate_rate(x, x1, x2, unit(j)), rounding + difference);
        }
    }
}

static void rates_are_those_of_the_jet(void **state) {
    (void)state;
    unsigned seed = 13;
    for (int i = 0; i < 3 * (NANGLES + NBEYOND); i++) {
        const snw_twist W = noise_turn(&seed, angle_at(i / 3));
        const snw_twist dW = noise_twist(&seed), ddW = noise_twist(&seed);
        const vec6 x = vec6_of(W.e), x1 = vec6_of(dW.e), x2 = vec6_of(ddW.e);
        snw_lower T;
        snw_twist u, du;
        snw_se3_exp_rates(W, dW, ddW, &T, &u, &du);
        for (int j = 0; j < 6; j++) assert_column(&T, j, series_apply(x, unit(j)), rounding);
        assert_vec6(u.e, series_apply(x, x1), rounding);
        assert_vec6(du.e, vec6_axpy(1, series_rate(x, x1, x2, 0, x1), series_apply(x, x2)),
                    rounding);
    }
}

// crossing a seam by one unit of rounding changes every result by no more than rounding
static void kernels_have_no_seams(void **state) {
    (void)state;
    const double seams[] = {0.3, 9, 25};
    for (int i = 0; i < 3; i++) {
        unsigned seed = 14;
        const snw_twist dW = noise_twist(&seed), ddW = noise_twist(&seed);
        const double angle = sqrt(seams[i]);
        snw_twist W = {{.w = {{angle * (1 - 4 * DBL_EPSILON), 0, 0}}, .v = {{0.3, -0.2, 0.9}}}};
        snw_lower below[3], above[3];
        snw_se3_tangent_jet(W, dW, ddW, &below[0], &below[1], &below[2]);
        W.w.x = angle * (1 + 4 * DBL_EPSILON);
        snw_se3_tangent_jet(W, dW, ddW, &above[0], &above[1], &above[2]);
        for (int k = 0; k < 3 * 36; k++) {
            const int m = k / 36, r = k % 36 / 6, c = k % 6;
            assert_near(above[m].A.e[r % 3][c % 3], below[m].A.e[r % 3][c % 3], 2 * rounding);
            assert_near(above[m].B.e[r % 3][c % 3], below[m].B.e[r % 3][c % 3], 2 * rounding);
        }
    }
}

static void nan_is_not_hidden_by_the_kernels(void **state) {
    (void)state;
    unsigned seed = 15;
    snw_twist W = noise_twist(&seed), u, du;
    const snw_twist dW = noise_twist(&seed), ddW = noise_twist(&seed);
    W.w.z = NAN;
    snw_lower T;
    snw_se3_exp_rates(W, dW, ddW, &T, &u, &du);
    for (int i = 0; i < 6; i++) assert_true(isnan(u.e[i]) && isnan(du.e[i]));
    assert_true(isnan(snw_se3_tangent_inv(W).A.e[0][0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apply_and_pull_are_the_matrix_and_its_transpose),
        cmocka_unit_test(tangent_is_the_series_of_ad),
        cmocka_unit_test(inverse_tangent_is_the_inverse_of_the_series),
        cmocka_unit_test(tangent_is_the_body_derivative_of_exp),
        cmocka_unit_test(tangent_of_minus_w_is_the_spatial_one),
        cmocka_unit_test(derivative_of_the_inverse_equals_complex_steps),
        cmocka_unit_test(derivative_of_the_inverse_undoes_that_of_the_tangent),
        cmocka_unit_test(so3_derivative_is_the_angular_part),
        cmocka_unit_test(pull_gradient_equals_complex_steps),
        cmocka_unit_test(jet_holds_the_time_derivatives_of_the_tangent),
        cmocka_unit_test(rates_are_those_of_the_jet),
        cmocka_unit_test(kernels_have_no_seams),
        cmocka_unit_test(nan_is_not_hidden_by_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
