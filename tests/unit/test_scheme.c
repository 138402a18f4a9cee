// SPDX-License-Identifier: MIT
//
// Time schemes on scalar equations: their order, also with uneven steps where it is claimed; their
// damping of motion much faster than the step; motions that they reproduce exactly.
#include "integrate/implicit.h"

#include "near.h"

typedef struct named {
    const char *name;
    snw_scheme_kind kind;
    double rho, alpha;
} named;

static const named schemes[] = {
    {"newmark", SNW_SCHEME_NEWMARK, 0, 0},
    {"hht 0.5", SNW_SCHEME_HHT, 0.5, 0},
    {"hht 0.8", SNW_SCHEME_HHT, 0.8, 0},
    {"hht 1", SNW_SCHEME_HHT, 1, 0},
    {"wbz 0", SNW_SCHEME_WBZ, 0, 0},
    {"wbz 0.6", SNW_SCHEME_WBZ, 0.6, 0},
    {"wbz 1", SNW_SCHEME_WBZ, 1, 0},
    {"generalized-alpha 0", SNW_SCHEME_GENERALIZED_ALPHA, 0, 0},
    {"generalized-alpha 0.5", SNW_SCHEME_GENERALIZED_ALPHA, 0.5, 0},
    {"generalized-alpha 0.9", SNW_SCHEME_GENERALIZED_ALPHA, 0.9, 0},
    {"generalized-alpha 1", SNW_SCHEME_GENERALIZED_ALPHA, 1, 0},
    {"euler", SNW_SCHEME_EULER, 0, 0},
    {"trapezoidal", SNW_SCHEME_TRAPEZOIDAL, 0, 0},
    {"bdf2", SNW_SCHEME_BDF2, 0, 0},
    {"bdf-alpha -0.2", SNW_SCHEME_BDF_ALPHA, 0, -0.2},
    {"bdf-alpha -0.48", SNW_SCHEME_BDF_ALPHA, 0, -0.48},
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static snw_scheme scheme_of(const named *k) {
    return snw_implicit_scheme(k->kind, k->rho, k->alpha);
}

// ---- an oscillator ------------------------------------------------------------------------------

// x'' + 2 z w x' + w^2 x = p sin(t)
typedef struct oscillator {
    double w, z, p;
    double t, x, v, a;
    snw_scheme s;
    double memory[5];
    snw_history past;
} oscillator;

static double force(const oscillator *o, double t) { return o->p * sin(t); }

static void begin(oscillator *o, const snw_scheme *s) {
    o->s = *s;
    o->t = 0;
    o->a = force(o, 0) - 2 * o->z * o->w * o->v - o->w * o->w * o->x;
    assert_int_equal(snw_history_doubles(1), sizeof o->memory / sizeof o->memory[0]);
    o->past = snw_history_on(1, o->memory);
    snw_scheme_start(s, &o->v, &o->a, false, &o->past);
}

static void go(oscillator *o, double h) {
    double a, b, f, g;
    snw_scheme_begin(&o->s, &o->past, h, &a, &b, &f, &g);
    o->t += h;
    const double w2 = o->w * o->w, c = 2 * o->z * o->w;
    // b d + g + c (a d + f) + w^2 (x + d) = p sin(t)
    const double d = (force(o, o->t) - g - c * f - w2 * o->x) / (b + c * a + w2);
    o->x += d;
    o->v = a * d + f;
    o->a = b * d + g;
    snw_scheme_end(&o->s, h, &d, &o->v, &o->a, &o->past);
}

// ---- order --------------------------------------------------------------------------------------

// error of x and v at t = 2 of the forced oscillator without damping, in n steps; uneven: lengths
// in the ratio 1, 1.6, 0.7, ..
static double error_after(const named *k, int n, bool uneven) {
    static const double share[] = {1, 1.6, 0.7, 1.1, 0.6};
    const snw_scheme s = scheme_of(k);
    oscillator o = {.w = 2.5, .p = 1, .x = 0.4, .v = -0.3};
    begin(&o, &s);
    for (int i = 0; i < n; i++) go(&o, 2.0 / n * (uneven ? share[i % 5] : 1));
    assert_near(o.t, 2, 1e-12);
    const double w = o.w, P = o.p / (w * w - 1), B = (-0.3 - P) / w;
    const double x = 0.4 * cos(w * 2) + B * sin(w * 2) + P * sin(2);
    const double v = -0.4 * w * sin(w * 2) + B * w * cos(w * 2) + P * cos(2);
    return hypot(o.x - x, (o.v - v) / w);
}

static void check_order(const named *k, bool uneven) {
    const double coarse = error_after(k, 800, uneven), fine = error_after(k, 1600, uneven);
    const double slope = log2(coarse / fine);
    if (!(fabs(slope - scheme_of(k).order) < 0.05)) {
        fail_msg("%s%s: errors %.3g and %.3g, slope %.3f", k->name, uneven ? ", uneven steps" : "",
                 coarse, fine, slope);
    }
}

static void errors_fall_with_the_order(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) check_order(&schemes[i], false);
}

static void levels_keep_their_order_with_steps_of_any_length(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        if (scheme_of(&schemes[i]).levels.past > 0) check_order(&schemes[i], true);
    }
}

static void only_euler_is_of_first_order(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        assert_int_equal(scheme_of(&schemes[i]).order, schemes[i].kind == SNW_SCHEME_EULER ? 1 : 2);
    }
}

// ---- at infinity --------------------------------------------------------------------------------

// Spectral radius for an oscillator with w h = 10^6: the mean growth of the state with its history
// over n steps, after n steps before. A double root grows by another factor n, which changes the
// mean by the factor 2^(1/n).
static double radius_at_infinity(const named *k) {
    const int n = 4000;
    const snw_scheme s = scheme_of(k);
    oscillator o = {.w = 1e6, .x = 1};
    begin(&o, &s);
    double growth = 0;
    for (int i = 0; i < 2 * n; i++) {
        go(&o, 1);
        // weighted as w x for rates and w^2 x for accelerations
        const double size = fmax(fabs(o.x), fmax(fabs(o.v), fabs(o.past.pseudo[0]) / o.w) / o.w);
        if (!(size > 1e-100)) return 0;
        if (i >= n) growth += log(size);
        // it is linear: rescale it
        o.x /= size, o.v /= size, o.a /= size;
        for (int j = 0; j < 5; j++) o.memory[j] /= size;
    }
    return exp(growth / n);
}

// theory.md 6.1; for bdf-alpha: the formula of the rates without its increments is v = e v_old
static double wanted_radius(const named *k) {
    const snw_scheme_info *row = &snw_scheme_table[k->kind];
    if (row->family == SNW_FAMILY_ALPHA)
        return row->options & SNW_SCHEME_TAKES_RHO ? k->rho : 1; // newmark
    if (k->kind == SNW_SCHEME_TRAPEZOIDAL) return 1;
    return fabs(k->alpha / (1 + k->alpha));
}

// the computed value of a root at zero is 1/(w h) to the power of one over its multiplicity: 10^-3
// for double ones
static void spectral_radius_at_infinity_is_the_one_asked_for(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        const double got = radius_at_infinity(&schemes[i]), want = wanted_radius(&schemes[i]);
        if (!(fabs(got - want) <= 2e-3))
            fail_msg("%s: %.6f, want %.6f", schemes[i].name, got, want);
    }
}

// w h from 10^-3 to 10^6: nothing grows, double roots on the unit circle included
static void no_step_is_too_long(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        const snw_scheme s = scheme_of(&schemes[i]);
        for (double w = 1e-3; w < 2e6; w *= 3) {
            oscillator o = {.w = w, .x = 1};
            begin(&o, &s);
            for (int k = 0; k < 2000; k++) go(&o, 1);
            // at first accelerations may oscillate as high as a double root allows
            if (!(fabs(o.x) <= 2.5))
                fail_msg("%s: x = %.3g after 2000 steps, w h = %g", schemes[i].name, o.x, w);
        }
    }
}

// ---- motions reproduced exactly -----------------------------------------------------------------

// to rounding, from the first step on; backward Euler is of order 1 and cannot
static void constant_acceleration_is_reproduced(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        const snw_scheme s = scheme_of(&schemes[i]);
        double memory[5], v = -0.7, x = 0.2, t = 0;
        const double a0 = 1.3;
        snw_history past = snw_history_on(1, memory);
        snw_scheme_start(&s, &v, &a0, false, &past);
        for (int k = 0; k < 40 && s.order == 2; k++) {
            const double h = s.levels.past > 0 ? 0.1 + 0.05 * cos(2.0 * k) : 0.1;
            double a, b, f, g;
            snw_scheme_begin(&s, &past, h, &a, &b, &f, &g);
            const double d = (a0 - g) / b;
            v = a * d + f;
            x += d;
            t += h;
            snw_scheme_end(&s, h, &d, &v, &a0, &past);
            assert_near(v, -0.7 + a0 * t, 1e-12);
            assert_near(x, 0.2 - 0.7 * t + 0.5 * a0 * t * t, 1e-12);
        }
    }
}

// with `rest` the first step starts from uniform motion
static void rest_forgets_the_first_acceleration(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        const snw_scheme s = scheme_of(&schemes[i]);
        double memory[5];
        const double v = 2, a0 = 5;
        snw_history past = snw_history_on(1, memory);
        snw_scheme_start(&s, &v, &a0, true, &past);
        double a, b, f, g;
        snw_scheme_begin(&s, &past, 0.1, &a, &b, &f, &g);
        const double d = -g / b; // no acceleration at its end
        assert_near(d, 0.2, 1e-14);
        assert_near(a * d + f, 2, 1e-13);
    }
}

// ---- limits -------------------------------------------------------------------------------------

static void check_same(const snw_scheme *one, const snw_scheme *two) {
    double left[10], right[10], v[2] = {0.3, -0.8}, a[2] = {1.7, 0.4};
    snw_history p = snw_history_on(2, left), q = snw_history_on(2, right);
    snw_scheme_start(one, v, a, false, &p);
    snw_scheme_start(two, v, a, false, &q);
    for (int k = 0; k < 6; k++) {
        const double h = 0.1 + 0.03 * k;
        double ca[2], cb[2], f[4], g[4];
        snw_scheme_begin(one, &p, h, &ca[0], &cb[0], f, g);
        snw_scheme_begin(two, &q, h, &ca[1], &cb[1], f + 2, g + 2);
        assert_near(ca[0], ca[1], 1e-14);
        assert_near(cb[0], cb[1], 1e-14);
        for (int i = 0; i < 2; i++) {
            assert_near(f[i], f[2 + i], 1e-13);
            assert_near(g[i], g[2 + i], 1e-13);
        }
        const double d[2] = {sin(k + 0.1), cos(3.0 * k)};
        for (int i = 0; i < 2; i++) v[i] = cos(k + i), a[i] = sin(2.0 * k - i);
        snw_scheme_end(one, h, d, v, a, &p);
        snw_scheme_end(two, h, d, v, a, &q);
    }
}

static void bdf_alpha_lies_between_bdf2_and_trapezoidal(void **state) {
    (void)state;
    const snw_scheme bdf2 = snw_implicit_scheme(SNW_SCHEME_BDF2, 0, 0),
                     zero = snw_implicit_scheme(SNW_SCHEME_BDF_ALPHA, 0, 0),
                     trapezoidal = snw_implicit_scheme(SNW_SCHEME_TRAPEZOIDAL, 0, 0),
                     half = snw_implicit_scheme(SNW_SCHEME_BDF_ALPHA, 0, -0.5);
    check_same(&bdf2, &zero);
    check_same(&trapezoidal, &half);
}

// theory.md 6.1: rho 1 of HHT and WBZ is Newmark; of generalized-alpha the values of rho 0.5 and
// 0.6
static void alpha_family_has_the_parameters_of_the_source(void **state) {
    (void)state;
    const snw_scheme newmark = snw_implicit_scheme(SNW_SCHEME_NEWMARK, 0, 0),
                     hht = snw_implicit_scheme(SNW_SCHEME_HHT, 1, 0),
                     wbz = snw_implicit_scheme(SNW_SCHEME_WBZ, 1, 0),
                     half = snw_implicit_scheme(SNW_SCHEME_GENERALIZED_ALPHA, 0.5, 0),
                     more = snw_implicit_scheme(SNW_SCHEME_GENERALIZED_ALPHA, 0.6, 0);
    assert_near(newmark.gamma, 0.5, 0);
    assert_near(newmark.beta, 0.25, 0);
    check_same(&newmark, &hht);
    check_same(&newmark, &wbz);
    assert_near(half.am, 0, 1e-16);
    assert_near(half.af, 1.0 / 3, 1e-16);
    assert_near(half.gamma, 5.0 / 6, 1e-15);
    assert_near(half.beta, 4.0 / 9, 1e-15);
    assert_near(more.am, 0.125, 1e-15);
    assert_near(more.af, 0.375, 1e-15);
    assert_near(more.gamma, 0.75, 1e-15);
    assert_near(more.beta, 0.390625, 1e-15);
}

// what the code reads of a row by its family is there
static void every_row_is_complete(void **state) {
    (void)state;
    for (int i = 0; i < SNW_SCHEME_COUNT; i++) {
        const snw_scheme_info *row = &snw_scheme_table[i];
        assert_non_null(row->name);
        assert_non_null(row->meaning);
        assert_int_equal(snw_scheme_find(row->name), i);
        assert_true(row->works & (SNW_SCHEME_ON_STRAIN | SNW_SCHEME_ON_SHOOTING));
        assert_int_equal(row->weights != NULL, row->family == SNW_FAMILY_ALPHA);
        assert_int_equal(row->levels.past > 0, row->family == SNW_FAMILY_LEVELS);
        assert_int_equal(row->stages > 0, row->family == SNW_FAMILY_COLLOCATION);
        assert_int_equal(row->order == 0, row->chooses_steps);
        assert_false(row->chooses_steps && (row->options & SNW_SCHEME_TAKES_ADAPT));
        if (row->works & SNW_SCHEME_ON_SHOOTING) assert_true(row->levels.past > 0);
        if (row->options & SNW_SCHEME_TAKES_RHO) {
            assert_true(row->rho_min <= row->rho && row->rho <= 1);
            assert_false(snw_scheme_undamped((snw_scheme_kind)i, row->rho, 0));
            assert_true(snw_scheme_undamped((snw_scheme_kind)i, 1, 0));
        }
        // the order of the coefficients is the one of the row
        const bool one_step = row->family == SNW_FAMILY_ALPHA || row->family == SNW_FAMILY_LEVELS;
        if (one_step && (row->works & SNW_SCHEME_ON_STRAIN)) {
            const snw_scheme s = snw_implicit_scheme((snw_scheme_kind)i, row->rho, -0.2);
            assert_int_equal(s.order, row->order);
        }
    }
    assert_int_equal(snw_scheme_find("verlet"), -1);
}

static void names_are_listed_as_in_a_sentence(void **state) {
    (void)state;
    char text[100];
    snw_scheme_names(SNW_SCHEME_TAKES_RHO, 0, text, sizeof text);
    assert_string_equal(text, "generalized-alpha, hht and wbz");
    snw_scheme_names(SNW_SCHEME_TAKES_ALPHA, 0, text, sizeof text);
    assert_string_equal(text, "bdf-alpha");
    snw_scheme_names(0, SNW_SCHEME_ON_SHOOTING, text, sizeof text);
    assert_string_equal(text, "euler, trapezoidal, bdf2, bdf3 and bdf-alpha");
    snw_scheme_names(0, SNW_SCHEME_ON_SHOOTING, text, 8);
    assert_string_equal(text, "euler, ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_fall_with_the_order),
        cmocka_unit_test(levels_keep_their_order_with_steps_of_any_length),
        cmocka_unit_test(only_euler_is_of_first_order),
        cmocka_unit_test(spectral_radius_at_infinity_is_the_one_asked_for),
        cmocka_unit_test(no_step_is_too_long),
        cmocka_unit_test(constant_acceleration_is_reproduced),
        cmocka_unit_test(rest_forgets_the_first_acceleration),
        cmocka_unit_test(bdf_alpha_lies_between_bdf2_and_trapezoidal),
        cmocka_unit_test(alpha_family_has_the_parameters_of_the_source),
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(names_are_listed_as_in_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
