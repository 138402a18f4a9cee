// SPDX-License-Identifier: MIT
//
// Linear models of the public robot: names, units and values, arguments, update in place; poles and
// lost modes of small systems; MATLAB files byte by byte.
#include "base/alloc.h"
#include "output/mat.h"
#include "sinew/sinew.h"
#include "solve/linear_system.h"

#include "opened.h"

#include <string.h>

static const char text[] =
    "sinew: 1\ngravity: 0\nparameters: {k: 3}\nrobot:\n"
    "  a: {on: world, joint: prismatic, axis: x, stiffness: k, damping: 0.5, body: {mass: 2}}\n"
    "  b: {on: world, joint: spherical, body: {mass: 1, inertia: [1, 2, 3]}}\n"
    "actuators: {push: {joint: a, effort: 1.5}}\n"
    "loads: {wind: {on: a, force: [2 N, 0, 0]}}\n"
    "probes: {x: {value: a}, e: energy, f: {effort: push}}\n";

static void a_model_names_its_parts(void **state) {
    (void)state;
    snw_robot *r = opened(text);
    snw_linear_options how = snw_linear_defaults();
    static const char *const input[] = {"push", "wind.fx", "k"}, *const output[] = {"x", "f"};
    how.ninput = 3, how.input = input, how.noutput = 2, how.output = output;
    snw_robot_q(r)[0] = 0.25;
    snw_linear_model *m;
    snw_error err = {0};
    if (snw_robot_linearize(r, &how, &m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(m->nx, 8);
    assert_int_equal(m->nu, 3);
    assert_int_equal(m->ny, 2);
    assert_string_equal(m->state[0].name, "a.slide");
    assert_string_equal(m->state[1].name, "b.wx");
    assert_string_equal(m->state[4].name, "a.slide.rate");
    assert_string_equal(m->state[4].unit, "m/s");
    assert_string_equal(m->input[1].name, "wind.fx");
    assert_string_equal(m->input[1].unit, "N");
    assert_near(m->state[0].value, 0.25, 0);
    assert_near(m->input[0].value, 1.5, 0);
    assert_near(m->input[1].value, 2, 0);
    assert_near(m->input[2].value, 3, 0);
    assert_near(m->A[0 * 8 + 4], -1.5, 1e-14); // -k/m
    assert_near(m->A[4 * 8 + 4], -0.25, 1e-14);
    assert_near(m->B[0 * 8 + 4], 0.5, 1e-14);
    assert_near(m->B[1 * 8 + 4], 0.5, 1e-14);
    assert_near(m->B[2 * 8 + 4], -0.125, 1e-9); // -x/m, by differences
    assert_int_equal(m->input[2].exact, 0);
    assert_near(m->C[0 * 2 + 0], 1, 0);
    assert_near(m->D[0 * 2 + 1], 1, 1e-12); // the effort shows itself
    // again at another state, in place; the state of the robot stays
    how.ninput = 2;
    snw_linear_close(m);
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_OK);
    const size_t before = snw_alloc_count();
    snw_robot_q(r)[0] = 0.5;
    snw_robot_v(r)[2] = 2;
    assert_int_equal(snw_linear_update(m, &err), SNW_OK);
    assert_int_equal(snw_alloc_count(), before);
    assert_near(m->state[0].value, 0.5, 0);
    assert_int_equal(m->moving, 1);
    assert_near(snw_robot_a(r)[0], 0, 0);
    // zeta' = dv - ad_v zeta: about the axis y the rate of wx is -2 wz
    assert_near(m->A[3 * 8 + 1], -2, 1e-14);
    assert_int_equal(snw_linear_analyse(m, &err), SNW_OK);
    assert_int_equal(m->npole, 8);
    assert_int_equal(m->ncontrollable, 2);
    assert_int_equal(m->nobservable, 2);
    snw_linear_close(m);
    snw_robot_close(r);
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    snw_robot *r = opened(text);
    snw_linear_model *m = NULL;
    snw_error err = {0};
    snw_linear_options how = snw_linear_defaults();
    assert_int_equal(snw_robot_linearize(NULL, &how, &m, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_linearize(r, &how, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_linear_update(NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_linear_analyse(NULL, &err), SNW_E_ARGUMENT);
    snw_linear_close(NULL);
    static const char *const unknown[] = {"nothing"}, *const none[] = {NULL},
                             *const sums[] = {"e.work"}, *const axis[] = {"wind.qx"};
    how.ninput = 1, how.input = unknown;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    how.input = none;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    how.input = axis;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    how.input = NULL;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    how = snw_linear_defaults();
    how.noutput = 1, how.output = sums;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    how = snw_linear_defaults();
    how.step = -1;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    how.step = 0.1, how.scheme = "hht", how.rho = 0.1;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    assert_null(m);
    // a model of another robot's model cannot be updated
    how = snw_linear_defaults();
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_OK);
    static const char *const set[] = {"k=4"};
    assert_int_equal(snw_robot_set_parameters(r, 1, set, &err), SNW_OK);
    assert_int_equal(snw_linear_update(m, &err), SNW_E_ARGUMENT);
    snw_linear_close(m);
    snw_robot_q(r)[0] = NAN;
    assert_int_equal(snw_robot_linearize(r, &how, &m, &err), SNW_E_ARGUMENT);
    snw_robot_close(r);
}

static snw_linear_model *model_of(const char *model, snw_robot **r) {
    snw_error err = {0};
    snw_linear_model *m = NULL;
    const snw_linear_options how = snw_linear_defaults();
    *r = opened(model);
    if (snw_robot_linearize(*r, &how, &m, &err) != SNW_OK || snw_linear_analyse(m, &err) != SNW_OK)
        fail_msg("%s", err.text);
    return m;
}

// Free bodies: twelve poles at zero each, none reached; all coordinates given: only the states of
// the given ones.
static void rigid_and_given_robots_have_models(void **state) {
    (void)state;
    snw_robot *r;
    snw_linear_model *m =
        model_of("sinew: 1\ngravity: 0\nrobot:\n"
                 "  a: {on: world, joint: free, body: {mass: 1, inertia: [1, 2, 3]}}\n"
                 "  b: {on: world, joint: free, body: {mass: 2, inertia: [1, 2, 3]}}\n"
                 "  c: {on: b, joint: revolute, body: {mass: 2, inertia: [1, 2, 3]}}\n"
                 "actuators: {motor: {joint: c, effort: 0}}\nprobes: {p: {position: a}}\n",
                 &r);
    assert_int_equal(m->nx, 26);
    for (int i = 0; i < m->npole; i++) assert_near(hypot(m->pole[i].re, m->pole[i].im), 0, 1e-6);
    assert_int_equal(m->ncontrollable, 2); // the hinge against its two bodies
    assert_int_equal(m->nobservable, 6);   // place and velocity of the first body
    snw_linear_close(m);
    snw_robot_close(r);
    m = model_of("sinew: 1\nrobot: {a: {on: world, joint: revolute, axis: y, body: {mass: 1, com: "
                 "[1, 0, 0], inertia: [1, 1, 1]}}}\n"
                 "actuators: {motor: {joint: a, position: 0.3*sin(t)}}\n"
                 "probes: {effort: {effort: motor}, x: {position: a}}\n",
                 &r);
    assert_int_equal(m->nx, 2);
    assert_int_equal(m->nu, 1);
    assert_near(m->D[0], 2, 1e-9); // torque per angular acceleration
    assert_near(m->input[0].value, 0, 1e-12);
    assert_near(m->state[1].value, 0.3, 1e-12);
    snw_linear_close(m);
    snw_robot_close(r);
}

// Poles and lost modes of a system of n states.
static void lost_of(int n, const double *A, int nu, const double *B, int ny, const double *C,
                    int *unreached, int *unseen) {
    snw_arena scratch = {.size = snw_system_scratch(n, nu > ny ? nu : ny)};
    scratch.base = snw_alloc(scratch.size);
    double re[8], im[8];
    bool a[8], b[8];
    assert_int_equal(snw_system_analyse(n, A, nu, B, ny, C, &scratch, re, im, a, b), SNW_OK);
    *unreached = *unseen = 0;
    for (int i = 0; i < n; i++) *unreached += a[i], *unseen += b[i];
    snw_free(scratch.base);
}

static void lost_modes_are_counted(void **state) {
    (void)state;
    int unreached, unseen;
    // a free mass, states place and rate: a force reaches both; a rate does not show the place
    const double mass[4] = {0, 0, 1, 0}, force[2] = {0, 1}, kick[2] = {1, 0}, place[2] = {1, 0},
                 rate[2] = {0, 1};
    lost_of(2, mass, 1, force, 1, place, &unreached, &unseen);
    assert_int_equal(unreached, 0);
    assert_int_equal(unseen, 0);
    lost_of(2, mass, 1, kick, 1, rate, &unreached, &unseen);
    assert_int_equal(unreached, 1); // the rate
    assert_int_equal(unseen, 1);    // the place
    // two equal oscillators on one input: one combination is lost, with both poles
    const double twins[16] = {0, -4, 0, 0, 1, 0, 0, 0, 0, 0, 0, -4, 0, 0, 1, 0};
    const double both[4] = {0, 1, 0, 1}, one[4] = {1, 0, 0, 0};
    lost_of(4, twins, 1, both, 1, one, &unreached, &unseen);
    assert_int_equal(unreached, 2);
    assert_int_equal(unseen, 2);
    // stiff beside slow: scales do not decide
    const double wide[16] = {0, -1e12, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0};
    const double fast[4] = {0, 1e6, 0, 1e-3};
    lost_of(4, wide, 1, fast, 1, one, &unreached, &unseen);
    assert_int_equal(unreached, 0);
    assert_int_equal(unseen, 2);
}

static void a_matlab_file_has_its_layout(void **state) {
    (void)state;
    char bytes[1024] = {0};
    snw_buffer buffer = {.text = bytes};
    snw_mat m = snw_mat_begin(snw_sink_buffer(&buffer), "MATLAB 5.0 MAT-file");
    const double x[6] = {1, 2, 3, 4, 5, 6};
    const char *const names[] = {"ab", "\xce\xb1"}; // the second: one letter in two bytes
    snw_mat_matrix(&m, "A", 2, 3, x, NULL);
    snw_mat_texts(&m, "names", 2, names);
    assert_false(m.failed);
    assert_memory_equal(bytes, "MATLAB 5.0 MAT-file", 19);
    const unsigned short *version = (const unsigned short *)(bytes + 124);
    assert_int_equal(version[0], 0x0100);
    assert_int_equal(version[1], 0x4d49);
    const unsigned *words = (const unsigned *)(bytes + 128);
    assert_int_equal(words[0], 14);                // a matrix
    assert_int_equal(words[1], 16 + 16 + 16 + 56); // flags, dimensions, name, numbers
    assert_int_equal(words[4], 6);                 // of doubles
    assert_int_equal(words[8], 2);
    assert_int_equal(words[9], 3);
    assert_memory_equal(bytes + 128 + 8 + 40, "A", 2);
    assert_memory_equal(bytes + 128 + 8 + 48 + 8, x, sizeof x);
    assert_int_equal(buffer.size % 8, 0);
    const unsigned *cell = (const unsigned *)(bytes + 128 + 8 + 104);
    assert_int_equal(cell[0], 14);
    assert_int_equal(cell[4], 1); // cells
    assert_int_equal(buffer.size, 128 + 8 + 104 + 8 + cell[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_names_its_parts),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(rigid_and_given_robots_have_models),
        cmocka_unit_test(lost_modes_are_counted),
        cmocka_unit_test(a_matlab_file_has_its_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
