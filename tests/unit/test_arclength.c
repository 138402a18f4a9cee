// SPDX-License-Identifier: MIT
#include "solve/arclength.h"

#include "base/alloc.h"
#include "solve/root.h"

#include "near.h"

static _Alignas(64) unsigned char memory[1 << 16];

static snw_arena scratch(void) {
    assert_true(snw_arclength_scratch(2) <= sizeof memory);
    return (snw_arena){.base = memory, .size = sizeof memory};
}

static void move(void *user, const double *x, double step, const double *dx, double *out) {
    (void)user;
    out[0] = x[0] + step * dx[0];
}

static const double ones[3] = {1, 1, 1};

// x^2 + p^2 = 1: folds at p = 1 and -1
static snw_status circle(void *user, const double *point, double *r, double *J, double *r_p) {
    (void)user;
    r[0] = point[0] * point[0] + point[1] * point[1] - 1;
    if (J) J[0] = 2 * point[0];
    if (r_p) r_p[0] = 2 * point[1];
    return SNW_OK;
}

// x (x^2 - p) = 0: x = 0 crosses the parabola at p = 0
static snw_status pitchfork(void *user, const double *point, double *r, double *J, double *r_p) {
    (void)user;
    r[0] = point[0] * (point[0] * point[0] - point[1]);
    if (J) J[0] = 3 * point[0] * point[0] - point[1];
    if (r_p) r_p[0] = -point[0];
    return SNW_OK;
}

static snw_status nothing(void *user, const double *point, double *r, double *J, double *r_p) {
    (void)user, (void)point;
    r[0] = NAN;
    if (J) J[0] = 1;
    if (r_p) r_p[0] = 1;
    return SNW_OK;
}

static snw_path_problem problem_of(snw_status (*equations)(void *, const double *, double *,
                                                           double *, double *)) {
    return (snw_path_problem){.n = 1,
                              .nx = 1,
                              .equations = equations,
                              .move = move,
                              .scale = ones,
                              .size = ones,
                              .weight = ones};
}

// steps of any length go round a circle more than once, through all its folds
static void a_circle_is_followed_all_round(void **state) {
    (void)state;
    const snw_path_problem p = problem_of(circle);
    double a[2] = {1, 0}, b[2], ta[2], tb[2], step = 0.05, length, around = 0;
    const double up[2] = {0, 1};
    snw_arena s = scratch();
    assert_int_equal(snw_arclength_tangent(&p, a, up, &s, ta, NULL), SNW_OK);
    int folds = 0, n = 0;
    for (; n < 200 && around < 12; n++) {
        snw_arclength_info info;
        int sign;
        assert_int_equal(
            snw_arclength_advance(&p, a, ta, 0.5, 1e-14, &s, &step, &length, b, tb, &sign, &info),
            SNW_OK);
        assert_near(hypot(b[0], b[1]), 1, 1e-13);
        assert_near(tb[0], -b[1], 1e-12); // the tangent turns with the point
        assert_near(tb[1], b[0], 1e-12);
        folds += (ta[1] > 0) != (tb[1] > 0);
        around += acos(fmin(1, a[0] * b[0] + a[1] * b[1]));
        for (int i = 0; i < 2; i++) a[i] = b[i], ta[i] = tb[i];
    }
    assert_true(n < 200); // 15 degrees at most, and not much less
    assert_int_equal(folds, 4);
    assert_int_equal(s.used, 0);
}

// at a fold psi' r_p is not zero, at a pitchfork it is, and the other branch is orthogonal there
static void folds_differ_from_bifurcations(void **state) {
    (void)state;
    snw_arena s = scratch();
    double phi, psi, psi_p, other[2];
    const double fold[2] = {0, 1}, cross[2] = {0, 0}, along[2] = {0, 1};
    const snw_path_problem round = problem_of(circle), fork = problem_of(pitchfork);
    assert_int_equal(snw_arclength_null(&round, fold, &s, &phi, &psi, &psi_p), SNW_OK);
    assert_near(fabs(psi_p), 2, 1e-14);
    assert_int_equal(snw_arclength_null(&fork, cross, &s, &phi, &psi, &psi_p), SNW_OK);
    assert_near(psi_p, 0, 0);
    assert_int_equal(snw_arclength_switch(&fork, cross, along, &s, other), SNW_OK);
    assert_near(fabs(other[0]), 1, 1e-14);
    assert_near(other[1], 0, 1e-14);
}

// from a pitchfork a step along the other direction ends on the parabola, and the sign of the
// bordered determinant changes along the line it leaves
static void the_other_branch_is_the_parabola(void **state) {
    (void)state;
    snw_arena s = scratch();
    const snw_path_problem p = problem_of(pitchfork);
    double at[2] = {0.1, 0};
    const double across[2] = {1, 0}, along[2] = {0, 1};
    snw_arclength_info info;
    assert_int_equal(snw_arclength_correct(&p, across, 1e-15, &s, at, &info), SNW_OK);
    assert_near(at[0], 0.1, 0);
    assert_near(at[1], 0.01, 1e-14);
    double tangent[2];
    int before, after;
    const double below[2] = {0, -0.1}, above[2] = {0, 0.1};
    assert_int_equal(snw_arclength_tangent(&p, below, along, &s, tangent, &before), SNW_OK);
    assert_int_equal(snw_arclength_tangent(&p, above, along, &s, tangent, &after), SNW_OK);
    assert_int_equal(before * after, -1);
}

// a residual that is no number fails, at once and with its scratch given back
static void a_nan_diverges(void **state) {
    (void)state;
    snw_arena s = scratch();
    const snw_path_problem p = problem_of(nothing);
    double at[2] = {0, 0};
    const double along[2] = {0, 1};
    snw_arclength_info info;
    assert_int_equal(snw_arclength_correct(&p, along, 1e-12, &s, at, &info), SNW_E_DIVERGED);
    assert_int_equal(s.used, 0);
}

// ---- roots -------------------------------------------------------------------------------------

typedef struct calls {
    int n;
    double last;
} calls;

static snw_status cosine(void *user, double x, double *value) {
    calls *c = user;
    c->n++;
    c->last = x;
    *value = cos(x) - x;
    return SNW_OK;
}

static snw_status jump(void *user, double x, double *value) {
    calls *c = user;
    c->n++;
    c->last = x;
    *value = x > 0.3 ? 1 : -1;
    return SNW_OK;
}

static snw_status broken(void *user, double x, double *value) {
    (void)user, (void)x;
    *value = 0;
    return SNW_E_DIVERGED;
}

static void roots_are_found_to_their_tolerance(void **state) {
    (void)state;
    calls c = {0};
    double root;
    assert_int_equal(snw_find_root(cosine, &c, 0, 1, 1, cos(1) - 1, 1e-14, &root), SNW_OK);
    assert_near(root, 0.7390851332151607, 1e-14); // the Dottie number
    assert_true(c.n < 12);
    assert_near(c.last, root, 0);
    c = (calls){0};
    assert_int_equal(snw_find_root(jump, &c, 0, -1, 1, 1, 1e-9, &root), SNW_OK);
    assert_near(root, 0.3, 1e-9);
    assert_near(c.last, root, 0);
    assert_int_equal(snw_find_root(broken, NULL, 0, -1, 1, 1, 1e-9, &root), SNW_E_DIVERGED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_circle_is_followed_all_round),
        cmocka_unit_test(folds_differ_from_bifurcations),
        cmocka_unit_test(the_other_branch_is_the_parabola),
        cmocka_unit_test(a_nan_diverges),
        cmocka_unit_test(roots_are_found_to_their_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
