// SPDX-License-Identifier: MIT
#include "math/units.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

static bool same(snw_dim a, snw_dim b) { return memcmp(&a, &b, sizeof a) == 0; }

static void units_read_to_si(void **state) {
    (void)state;
    const struct {
        const char *text;
        size_t length; // number of characters read
        double si;
        snw_dim dim;
    } cases[] = {
        {"m", 1, 1, {.m = 1}},
        {"mm", 2, 1e-3, {.m = 1}},
        {"um", 2, 1e-6, {.m = 1}},
        {"\xc2\xb5m", 3, 1e-6, {.m = 1}},
        {"\xce\xbcm", 3, 1e-6, {.m = 1}},
        {"cm^2", 4, 1e-4, {.m = 2}},
        {"kg", 2, 1, {.kg = 1}},
        {"g", 1, 1e-3, {.kg = 1}},
        {"mg", 2, 1e-6, {.kg = 1}},
        {"GPa", 3, 1e9, SNW_DIM_PRESSURE},
        {"hPa", 3, 100, SNW_DIM_PRESSURE},
        {"mbar", 4, 100, SNW_DIM_PRESSURE},
        {"N*m", 3, 1, SNW_DIM_TORQUE},
        {"N/m", 3, 1, {.kg = 1, .s = -2}},
        {"kg/m^3", 6, 1, SNW_DIM_DENSITY},
        {"1/m", 3, 1, SNW_DIM_CURVATURE},
        {"1/s^2", 5, 1, {.s = -2}},
        {"m*s^-2", 6, 1, SNW_DIM_ACCELERATION},
        {"m/s/s", 5, 1, SNW_DIM_ACCELERATION},
        {"N * m", 1, 1, SNW_DIM_FORCE},
        {"N*min(t, 1)", 1, 1, SNW_DIM_FORCE},
        {"N*q", 1, 1, SNW_DIM_FORCE},
        {"m/2", 1, 1, SNW_DIM_LENGTH},
        {"m/s*t", 3, 1, {.m = 1, .s = -1}},
        {"l/min", 5, 1e-3 / 60, {.m = 3, .s = -1}},
        {"ml", 2, 1e-6, {.m = 3}},
        {"mol/l", 5, 1000, {.m = -3, .mol = 1}},
        {"min", 3, 60, SNW_DIM_TIME},
        {"h", 1, 3600, SNW_DIM_TIME},
        {"rpm", 3, 0.10471975511965977, {.s = -1}},
        {"deg/s", 5, 0.017453292519943295, {.s = -1}},
        {"rev", 3, 6.283185307179586, {0}},
        {"mA", 2, 1e-3, {.A = 1}},
        {"K", 1, 1, {.K = 1}},
        {"kN*m", 4, 1e3, SNW_DIM_TORQUE},
        {"W", 1, 1, {.m = 2, .kg = 1, .s = -3}},
        {"kHz", 3, 1e3, {.s = -1}},
        {"m^2.5", 1, 1, SNW_DIM_LENGTH},
        {"m^k", 1, 1, SNW_DIM_LENGTH},
        {"m^12", 1, 1, SNW_DIM_LENGTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snw_unit_value u;
        const size_t n = snw_unit_read(cases[i].text, &u);
        if (n != cases[i].length || !same(u.dim, cases[i].dim)) {
            fail_msg("%s: %zu bytes", cases[i].text, n);
        }
        assert_near(u.num / u.den / cases[i].si, 1, 4e-16);
    }
}

static void other_words_are_no_units(void **state) {
    (void)state;
    const char *const words[] = {"",    "q",   "Nm",    "min(", "min (1)", "1",    "1/",
                                 "1/q", "1/2", "2/m",   "kkg",  "mmin",    "kdeg", "M",
                                 "k",   "*m",  "metre", "m_",   "m2",      "t"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snw_unit_value u;
        if (snw_unit_read(words[i], &u) != 0) fail_msg("'%s' was read as a unit", words[i]);
    }
}

static void absurd_exponents_do_not_overflow(void **state) {
    (void)state;
    char text[200] = "m^9";
    for (int i = 0; i < 30; i++) strncat(text, "*m^9", sizeof text - strlen(text) - 1);
    snw_unit_value u;
    const size_t n = snw_unit_read(text, &u);
    assert_true(n > 0 && n < strlen(text));
    assert_int_equal(u.dim.m, 54);
}

static void every_unit_of_the_table_reads_as_itself(void **state) {
    (void)state;
    int nunits, nprefixes;
    const snw_unit *units = snw_units(&nunits);
    const snw_prefix *prefixes = snw_prefixes(&nprefixes);
    for (int i = 0; i < nunits; i++) {
        snw_unit_value u;
        assert_int_equal(snw_unit_read(units[i].symbol, &u), strlen(units[i].symbol));
        assert_true(same(u.dim, units[i].dim) && u.num == units[i].num && u.den == units[i].den);
        for (int j = 0; j < nprefixes; j++) {
            if (!strchr(units[i].prefixes, prefixes[j].letter)) continue;
            char text[16];
            (void)snprintf(text, sizeof text, "%s%s", prefixes[j].symbol, units[i].symbol);
            assert_int_equal(snw_unit_read(text, &u), strlen(text));
            assert_true(same(u.dim, units[i].dim)); // no prefixed unit is read as another one
            const double want = prefixes[j].num / prefixes[j].den * units[i].num / units[i].den;
            assert_near(u.num / u.den / want, 1, 4e-16);
        }
    }
}

static void dimensions_have_names(void **state) {
    (void)state;
    char text[64];
    snw_dim_text(SNW_DIM_LENGTH, text, sizeof text);
    assert_string_equal(text, "length (m)");
    snw_dim_text(SNW_DIM_FORCE, text, sizeof text);
    assert_string_equal(text, "force (N)");
    snw_dim_text((snw_dim){.m = 2, .kg = 1, .s = -1}, text, sizeof text);
    assert_string_equal(text, "kg*m^2/s");
    snw_dim_text((snw_dim){.K = -1, .s = -3}, text, sizeof text);
    assert_string_equal(text, "1/s^3/K");
    snw_dim_phrase(SNW_DIM_ACCELERATION, text, sizeof text);
    assert_string_equal(text, "an acceleration (m/s^2)");
    snw_dim_phrase(SNW_DIM_NONE, text, sizeof text);
    assert_string_equal(text, "a number or angle");
    snw_dim_text(SNW_DIM_FORCE, text, 4);
    assert_string_equal(text, "for");
}

// the unit written after a number is read back as the same dimension, of size one
static void every_dimension_has_a_unit(void **state) {
    (void)state;
    for (int code = 0; code < 7 * 7 * 7 * 3; code++) {
        const snw_dim d = {.m = (signed char)(code % 7 - 3),
                           .kg = (signed char)(code / 7 % 7 - 3),
                           .s = (signed char)(code / 49 % 7 - 3),
                           .A = (signed char)(code / 343 - 1)};
        char text[48];
        snw_unit_value got = {1, 1, {0}};
        snw_dim_unit(d, text, sizeof text);
        assert_int_equal(snw_unit_read(text, &got), strlen(text));
        assert_near(got.num / got.den, 1, 0);
        assert_memory_equal(&got.dim, &d, sizeof d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_read_to_si),
        cmocka_unit_test(other_words_are_no_units),
        cmocka_unit_test(absurd_exponents_do_not_overflow),
        cmocka_unit_test(every_unit_of_the_table_reads_as_itself),
        cmocka_unit_test(dimensions_have_names),
        cmocka_unit_test(every_dimension_has_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
