// SPDX-License-Identifier: MIT
//
// Single numbers of a model file, named by the paths of overrides.
#include "language/document.h"
#include "near.h"

#include <string.h>

static void numbers_are_found_where_an_override_would_put_them(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: 0\n"
        "parameters: {E: 2 MPa, part: [1 mm, 2 mm], f(u): 2*u, r: part(2)}\n"
        "materials: {rubber: {young: E, density: 1100 kg/m^3}}\n"
        "robot:\n"
        "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: r}}, material: rubber,\n"
        "    strain: {bend_y: legendre 1}}}\n"
        "loads: {push(k=1..2): {on: arm, force: [0, 0, k*1 N]}, law: {on: arm, force: [0, 0, 1 "
        "N*sin(t)]}}\n"
        "study: [static: {tolerance: 1e-9}]\n"
        "runs: {one: {E: 3 MPa}, two: {rubber.young: 7 kPa}}\n";
    snw_document *d;
    snw_error err = {0};
    assert_int_equal(snw_document_parse("m.yaml", text, strlen(text), 0, NULL, &d, &err), SNW_OK);
    const struct {
        int run;
        const char *path, *unit;
        double want;
    } cases[] = {{0, "E", "Pa", 3e6},
                 {1, "E", "Pa", 2e6},
                 {0, "part(2)", "m", 2e-3},
                 {0, "part.1", "m", 1e-3},
                 {0, "rubber.young", "Pa", 3e6},
                 {1, "rubber.young", "Pa", 7e3},
                 {0, "arm.rod.section.circle.radius", "m", 2e-3},
                 {0, "push(2).force.3", "N", 2}, // its value is the index in its name
                 {0, "static.tolerance", "", 1e-9},
                 {0, "gravity", "", 0}};
    bool given;
    snw_quantity_read q;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(
            snw_document_find(d, cases[i].run, cases[i].path, "--find", &given, &q, &err), SNW_OK);
        assert_true(given);
        assert_near(q.value, cases[i].want, 1e-15);
        assert_string_equal(q.unit, cases[i].unit);
    }
    static const char *const absent[] = {"rubber.damping", "part(3)", "part.7",
                                         "f(u)",           "E.young", "push(1).force.4"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        assert_int_equal(snw_document_find(d, 0, absent[i], "--find", &given, &q, &err), SNW_OK);
        assert_false(given);
    }
    static const struct {
        const char *path, *fragment;
        bool given;
    } bad[] = {{"rubbr.young", "did you mean 'rubber'", false},
               {"arm.rod", "is a map", true},
               {"part", "is a list", true},
               {"law.force.3", "not a constant number", true},
               {"arm.rod.material", "not a constant number", true},
               {"a..b", "a name is missing", false}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(snw_document_find(d, 0, bad[i].path, "--find", &given, &q, &err),
                         SNW_E_PARSE);
        assert_int_equal(given, bad[i].given);
        assert_string_equal(err.file, "--find");
        assert_non_null(strstr(err.text, bad[i].fragment));
    }
    assert_int_equal(snw_document_evaluate(d, 1, "2*r + 1 mm", "--error", &q, &err), SNW_OK);
    assert_near(q.value, 5e-3, 1e-15);
    assert_string_equal(q.unit, "m");
    snw_document_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found_where_an_override_would_put_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
