// SPDX-License-Identifier: MIT
//
// Section of a chamber whose area varies: forces in closed form, and the work of a cycle of stretch
// and pressure.
#include "near.h"

#include "math/quadrature.h"
#include "model/chamber_area.h"

#include <string.h>

static const double A0 = 2e-5, PC = 1e5; // m^2, Pa

static snw_status variable(void *user, const char *name, const char *component, int *slot,
                           snw_dim *dim, snw_error *err) {
    (void)user, (void)component, (void)err;
    const bool stretch = strcmp(name, "stretch") == 0;
    *slot = stretch ? SNW_CHAMBER_STRETCH : SNW_CHAMBER_PRESSURE;
    *dim = stretch ? (snw_dim){0} : (snw_dim){.m = -1, .kg = 1, .s = -2};
    return SNW_OK;
}

static const char *no_name(void *user, int i) {
    (void)user, (void)i;
    return NULL;
}

static snw_chamber_area area_of(snw_pool *pool, const char *text) {
    static const snw_signal_source source = {.probe = variable, .name = no_name};
    const snw_expr_rules rules = {.vars = SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL};
    snw_scope *scope = snw_scope_create(pool, NULL);
    const snw_expr *law;
    snw_error err = {0};
    snw_scope_signals(scope, &source);
    assert_int_equal(snw_expr_parse(pool, scope, text, &rules, "test", 1, 1, &law, &err), SNW_OK);
    snw_chamber_area area;
    snw_chamber_area_prepare(law, &area);
    return area;
}

static const char WIDENS[] = "20 mm^2*(1 + pressure/(100 kPa))";

// Closed forms of the integral over the pressure, at random stretch and pressure.
static void forces_are_integrals_over_the_pressure(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 16);
    const snw_chamber_area widens = area_of(pool, WIDENS);
    const snw_chamber_area narrows = area_of(pool, "20 mm^2*stretch^-0.5");
    const snw_chamber_area neutral = area_of(pool, "20 mm^2/stretch");
    const snw_chamber_area both = area_of(pool, "20 mm^2*exp(pressure/(100 kPa))*stretch^2");
    for (int k = 0; k < 5; k++) {
        const double l = 0.8 + 0.1 * k, p = -2e4 + 2.1e4 * k;
        snw_chamber_section s = snw_chamber_section_at(&widens, 0, 1, l, p);
        assert_near(s.force, A0 * (p + p * p / (2 * PC)), 1e-15);
        assert_near(s.a, A0 * (1 + p / PC) * l, 1e-18);
        assert_near(s.a_p, A0 / PC * l, 1e-22);
        s = snw_chamber_section_at(&narrows, 0, 1, l, p);
        assert_near(s.force, 0.5 * p * A0 / sqrt(l), 1e-15);
        assert_near(s.force_l, -0.25 * p * A0 / (l * sqrt(l)), 1e-15);
        s = snw_chamber_section_at(&neutral, 0, 1, l, p);
        assert_near(s.force, 0, 1e-15);
        s = snw_chamber_section_at(&both, 0, 1, l, p);
        assert_near(s.force, 3 * A0 * PC * l * l * (exp(p / PC) - 1), 1e-14);
        assert_near(s.force_l, 6 * A0 * PC * l * (exp(p / PC) - 1), 1e-14);
        assert_true(snw_chamber_force_error(&both, 0, 1, l, p) < 1e-14);
    }
    snw_pool_destroy(pool);
}

// Integral of f over a path from (l0, p0) to (l1, p1): work of the fluid, p da, less that on the
// stretch; naive: with p A for the force.
static double work(const snw_chamber_area *c, double l0, double p0, double l1, double p1,
                   bool naive) {
    double x[8], w[8], sum = 0;
    snw_gauss(8, x, w);
    for (int k = 0; k < 8; k++) {
        const double l = l0 + x[k] * (l1 - l0), p = p0 + x[k] * (p1 - p0);
        const snw_chamber_section s = snw_chamber_section_at(c, 0, 1, l, p);
        const double da = s.a_l * (l1 - l0) + s.a_p * (p1 - p0);
        sum += w[k] * (p * da - (naive ? p * s.area : s.force) * (l1 - l0));
    }
    return sum;
}

static double cycle(const snw_chamber_area *c, bool naive) {
    const double at[][2] = {{1, 0}, {1, 4e4}, {1.2, 4e4}, {1.2, 0}, {1, 0}};
    double sum = 0;
    for (int k = 0; k < 4; k++)
        sum += work(c, at[k][0], at[k][1], at[k + 1][0], at[k + 1][1], naive);
    return sum;
}

// Per metre: pressure times area would make 0.032 J of nothing in each cycle.
static void a_cycle_does_no_work(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 16);
    const snw_chamber_area widens = area_of(pool, WIDENS);
    const snw_chamber_area both = area_of(pool, "20 mm^2*(1 + pressure/(100 kPa))^2*stretch^-0.5");
    assert_near(cycle(&widens, false), 0, 1e-15);
    assert_near(fabs(cycle(&widens, true)), 0.032, 1e-14);
    assert_near(cycle(&both, false), 0, 1e-9); // quadrature of the roots along the stretch
    snw_pool_destroy(pool);
}

// A law whose slope jumps at a pressure is not integrated accurately, and the error tells.
static void jumps_of_slope_are_seen(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 16);
    const snw_chamber_area bent = area_of(pool, "20 mm^2*(1 + max(pressure/(10 kPa) - 1.3, 0))");
    assert_true(snw_chamber_force_error(&bent, 0, 1, 1, 4e4) > 1e-6);
    assert_true(snw_chamber_force_error(&bent, 0, 1, 1, 1e4) < 1e-14);
    snw_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_integrals_over_the_pressure),
        cmocka_unit_test(a_cycle_does_no_work),
        cmocka_unit_test(jumps_of_slope_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
