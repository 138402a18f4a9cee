// SPDX-License-Identifier: MIT
//
// Plans of sweeps: random numbers, Sobol' sequence, rows of each method. Rows that take numbers of
// nodes from rows before.
#include "near.h"

#include "sweep/plan.h"
#include "sweep/random.h"
#include "sweep/row.h"
#include "sweep/sobol_sequence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PARAMETERS = 3 };

// three parameters between 0 and 1
static snw_sweep_plan *unit_plan(snw_sweep_method method, int64_t count) {
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_sweep_plan *p = snw_pool_take(pool, sizeof *p);
    p->pool = pool;
    p->method = method;
    p->count = count;
    p->seed = 7;
    p->shifted = true;
    p->levels = 4;
    p->nparameter = PARAMETERS;
    p->parameter = snw_pool_array(pool, PARAMETERS, sizeof *p->parameter);
    for (int i = 0; i < PARAMETERS; i++)
        p->parameter[i] = (snw_sweep_parameter){
            .path = "p", .unit = "", .spread = SNW_SPREAD_UNIFORM, .b = 1, .high = 1};
    snw_error err = {0};
    assert_int_equal(snw_sweep_plan_complete(p, &err), SNW_OK);
    return p;
}

// known answers of the authors of Philox (Random123, kat_vectors: philox4x32 with 10 rounds)
static void philox_gives_the_published_numbers(void **state) {
    (void)state;
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        snw_philox(known[i], known[i] + 4, out);
        assert_memory_equal(out, known[i] + 6, sizeof out);
    }
}

static void a_permutation_has_each_number_once(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 5, 16, 17, 1000, 4097};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        bool *seen = calloc(sizes[k], sizeof *seen);
        uint64_t fixed = 0;
        for (uint64_t i = 0; i < sizes[k]; i++) {
            const uint64_t at = snw_random_permuted(3, 11, sizes[k], i);
            assert_true(at < sizes[k] && !seen[at]);
            seen[at] = true;
            fixed += at == i;
        }
        if (sizes[k] > 100) assert_true(fixed < 10); // one is expected
        free(seen);
    }
}

// points of the sequence by scipy 1.10 (qmc.Sobol, scramble=False), which has the same table
static void sobol_points_are_those_of_joe_and_kuo(void **state) {
    (void)state;
    static const int dimension[7] = {0, 1, 2, 9, 39, 99, 199};
    static const struct {
        uint64_t index;
        double x[7];
    } known[] = {{1, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}},
                 {2, {0.75, 0.25, 0.25, 0.75, 0.25, 0.75, 0.25}},
                 {1000,
                  {0.2197265625, 0.0966796875, 0.5185546875, 0.0693359375, 0.4794921875,
                   0.1865234375, 0.8427734375}},
                 {2047,
                  {0.00048828125, 0.62744140625, 0.93115234375, 0.44580078125, 0.67626953125,
                   0.86083984375, 0.09619140625}}};
    uint64_t direction[SNW_SOBOL_BITS];
    for (int d = 0; d < 7; d++) {
        snw_sobol_directions(dimension[d], direction);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            assert_true((double)snw_sobol_coordinate(direction, known[i].index) * 0x1p-52 ==
                        known[i].x[d]);
    }
}

// in every dimension each of 256 points lies in another interval of 1/256
static void sobol_points_fill_every_dimension(void **state) {
    (void)state;
    uint64_t direction[SNW_SOBOL_BITS];
    for (int d = 0; d < SNW_SOBOL_DIMENSIONS; d++) {
        bool seen[256] = {false};
        snw_sobol_directions(d, direction);
        for (uint64_t i = 256; i < 512; i++) {
            const uint64_t cell = snw_sobol_coordinate(direction, i) >> (SNW_SOBOL_BITS - 8);
            assert_false(seen[cell]);
            seen[cell] = true;
        }
    }
}

static void a_latin_hypercube_has_one_point_in_each_slice(void **state) {
    (void)state;
    enum { ROWS = 501 };
    snw_sweep_plan *p = unit_plan(SNW_SWEEP_LATIN, ROWS);
    assert_int_equal(p->rows, ROWS);
    bool seen[PARAMETERS][ROWS] = {{false}};
    double x[PARAMETERS], sum = 0;
    for (int64_t row = 0; row < ROWS; row++) {
        snw_sweep_plan_values(p, row, x);
        for (int i = 0; i < PARAMETERS; i++) {
            const int slice = (int)(x[i] * ROWS);
            assert_true(slice >= 0 && slice < ROWS && !seen[i][slice]);
            seen[i][slice] = true;
        }
        sum += (x[0] - 0.5) * (x[1] - 0.5);
    }
    assert_true(fabs(sum / ROWS) < 3 / 12.0 / sqrt(ROWS)); // independent, to three deviations
    snw_sweep_plan_destroy(p);
}

static void rows_depend_on_seed_and_number_only(void **state) {
    (void)state;
    static const snw_sweep_method methods[] = {SNW_SWEEP_RANDOM, SNW_SWEEP_LATIN, SNW_SWEEP_SOBOL,
                                               SNW_SWEEP_SALTELLI, SNW_SWEEP_MORRIS};
    for (int k = 0; k < 5; k++) {
        snw_sweep_plan *p = unit_plan(methods[k], 40), *q = unit_plan(methods[k], 40);
        double x[PARAMETERS], y[PARAMETERS];
        snw_sweep_plan_values(p, 5, x);
        snw_sweep_plan_values(q, 17, y);
        snw_sweep_plan_values(q, 5, y);
        assert_memory_equal(x, y, sizeof x);
        q->seed = 8;
        snw_sweep_plan_values(q, 5, y);
        assert_true(memcmp(x, y, sizeof x) != 0);
        for (int i = 0; i < PARAMETERS; i++) assert_true(x[i] > 0 && x[i] < 1);
        snw_sweep_plan_destroy(p);
        snw_sweep_plan_destroy(q);
    }
}

static void a_block_of_saltelli_exchanges_one_parameter(void **state) {
    (void)state;
    snw_sweep_plan *p = unit_plan(SNW_SWEEP_SALTELLI, 16);
    assert_int_equal(p->rows, 16 * (PARAMETERS + 2));
    for (int64_t block = 0; block < 16; block++) {
        double a[PARAMETERS], b[PARAMETERS], x[PARAMETERS];
        snw_sweep_plan_values(p, block * (PARAMETERS + 2), a);
        snw_sweep_plan_values(p, block * (PARAMETERS + 2) + 1, b);
        for (int i = 0; i < PARAMETERS; i++) {
            snw_sweep_plan_values(p, block * (PARAMETERS + 2) + 2 + i, x);
            for (int k = 0; k < PARAMETERS; k++) assert_true(x[k] == (k == i ? b[k] : a[k]));
            assert_true(a[i] != b[i]);
        }
    }
    snw_sweep_plan_destroy(p);
}

static void a_path_of_morris_changes_each_parameter_once(void **state) {
    (void)state;
    snw_sweep_plan *p = unit_plan(SNW_SWEEP_MORRIS, 50);
    assert_int_equal(p->rows, 50 * (PARAMETERS + 1));
    int up = 0, first[PARAMETERS] = {0};
    for (int64_t path = 0; path < 50; path++) {
        bool changed[PARAMETERS] = {false};
        for (int j = 0; j < PARAMETERS; j++) {
            double x[PARAMETERS], y[PARAMETERS];
            int which = -1;
            snw_sweep_plan_values(p, path * (PARAMETERS + 1) + j, x);
            snw_sweep_plan_values(p, path * (PARAMETERS + 1) + j + 1, y);
            for (int i = 0; i < PARAMETERS; i++) {
                assert_true(x[i] > 0 && x[i] < 1);
                if (x[i] == y[i]) continue;
                assert_int_equal(which, -1);
                which = i;
                assert_near(fabs(y[i] - x[i]), 0.5, 1e-15);
                up += y[i] > x[i];
                if (j == 0) first[i]++;
            }
            assert_true(which >= 0 && !changed[which]);
            changed[which] = true;
        }
    }
    assert_true(up > 50 && up < 100); // of 150 steps
    for (int i = 0; i < PARAMETERS; i++) assert_true(first[i] > 5);
    snw_sweep_plan_destroy(p);
}

static void quantiles_are_those_of_the_distributions(void **state) {
    (void)state;
    const double at_one = 0.5 * erfc(-1 / sqrt(2)); // probability below one deviation
    const snw_sweep_parameter normal = {.spread = SNW_SPREAD_NORMAL, .a = 3, .b = 2, .high = 1},
                              log_normal = {.spread = SNW_SPREAD_LOG_NORMAL,
                                            .a = 3,
                                            .b = 0.1,
                                            .high = 1},
                              log_uniform = {.spread = SNW_SPREAD_LOGARITHM, .a = 1, .b = 100};
    assert_near(snw_sweep_quantile(&normal, at_one), 5, 1e-12);
    assert_near(snw_sweep_quantile(&normal, 0.5), 3, 1e-12);
    assert_near(snw_sweep_quantile(&log_normal, at_one), 3 * exp(0.1), 1e-12);
    assert_near(snw_sweep_quantile(&log_uniform, 0.25), sqrt(10), 1e-14);
    // cut off at one deviation on both sides
    const snw_sweep_parameter cut = {
        .spread = SNW_SPREAD_NORMAL, .a = 3, .b = 2, .low = 1 - at_one, .high = at_one};
    assert_near(snw_sweep_quantile(&cut, 1 - 1e-12), 5, 1e-10);
    assert_near(snw_sweep_quantile(&cut, 1e-12), 1, 1e-10);
    assert_near(snw_sweep_quantile(&cut, 0.5), 3, 1e-12);
}

static void write_text(const char *folder, const char *name, const char *text, char path[200]) {
    (void)snprintf(path, 200, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

// Two rods, of a global and of a piecewise basis, a tendon, a load, a section that varies if
// `taper` is not 0, a weight at a station. `nodes: auto`.
static const char robot[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {E: 1 MPa, r: 9 mm, T: 2 N, s: 0.12 m, w: 0.1 N/m, taper: 0}\n"
    "materials: {soft: {young: E, poisson: 0.5, density: 1000, damping: 0.02 s}}\n"
    "robot:\n"
    "  arm:\n"
    "    on: world\n"
    "    rod:\n"
    "      length: 0.2 m\n"
    "      section: {circle: {radius: r*(1 - taper*x/L)}}\n"
    "      material: soft\n"
    "      strain: kirchhoff legendre 3\n"
    "  hand: {on: arm.tip, rod: {length: 0.1 m, section: {circle: {radius: 6 mm}}, "
    "material: soft, elements: 3, strain: {bend_y: linear}}}\n"
    "  lamp: {on: arm@s, body: {mass: 5 g}}\n"
    "actuators: {pull: {tendon: {along: [arm, hand], at: [0, 4 mm, 0]}, effort: T}}\n"
    "loads: {wind: {along: arm, force: [0, w, 0]}}\n"
    "study: [static:, dynamic: {for: 0.02 s, step: 10 ms}]\n"
    "probes: {tip: {position: hand.tip}, bend: {strain: arm@0.1 m}}\n";

// Rows of a plan, `expected` of them with numbers of rows before, and by themselves: the same to
// the last bit.
static void compare_rows(const char *folder, const char *vary, int expected) {
    char path[200], text[400];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\nmodel: robot.yaml\n%s\n"
                   "keep: {x: end(tip.x), y: end(tip.y), z: end(tip.z), k: max(bend.bend_y)}\n",
                   vary);
    write_text(folder, "plan.yaml", text, path);
    snw_error err = {0};
    snw_sweep_plan *plan;
    assert_int_equal(snw_sweep_plan_read(path, &plan, &err), SNW_OK);
    int taken = 0;
    snw_sweep_row_computer *reuses, *fresh;
    assert_int_equal(snw_sweep_row_computer_open(plan, SNW_SWEEP_ALONE, &reuses, &err), SNW_OK);
    assert_int_equal(snw_sweep_row_computer_open(plan, SNW_SWEEP_ALONE, &fresh, &err), SNW_OK);
    snw_sweep_row_computer_fresh(fresh);
    for (int64_t i = 0; i < plan->rows; i++) {
        snw_sweep_row a, b;
        assert_int_equal(snw_sweep_rows_compute(reuses, 1, &i, NULL, NULL, &a, &err), SNW_OK);
        assert_int_equal(snw_sweep_rows_compute(fresh, 1, &i, NULL, NULL, &b, &err), SNW_OK);
        assert_int_equal(a.state, SNW_SWEEP_ROW_DONE);
        assert_int_equal(b.state, SNW_SWEEP_ROW_DONE);
        assert_memory_equal(a.result, b.result, (size_t)plan->nresult * sizeof *a.result);
        taken += snw_sweep_row_reuses(reuses);
        assert_false(snw_sweep_row_reuses(fresh));
    }
    assert_int_equal(taken, expected);
    snw_sweep_row_computer_close(reuses);
    snw_sweep_row_computer_close(fresh);
    snw_sweep_plan_destroy(plan);
}

static void rows_that_reuse_nodes_have_the_same_bits(void **state) {
    (void)state;
    char folder[] = "/tmp/snw_rows_XXXXXX", path[200];
    assert_non_null(mkdtemp(folder));
    write_text(folder, "robot.yaml", robot, path);
    // materials and efforts, the place of an attachment, sizes that come again
    compare_rows(folder, "vary: {E: [1 MPa, 1.7 MPa], T: [2 N, 3.1 N]}", 3);
    compare_rows(folder, "vary: {T: [2 N, 3 N], s: [0.12 m, 0.07 m]}", 1);
    compare_rows(folder, "vary: {E: [1 MPa, 2 MPa], r: [9 mm, 12 mm]}", 3);
    compare_rows(folder, "set: {taper: 0.4}\nvary: {E: [1 MPa, 1.1 MPa], w: [0.2 N/m, 0.3 N/m]}",
                 3);
    write_text(folder, "plan.yaml", "", path);
    assert_int_equal(unlink(path), 0);
    write_text(folder, "robot.yaml", "", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(a_permutation_has_each_number_once),
        cmocka_unit_test(sobol_points_are_those_of_joe_and_kuo),
        cmocka_unit_test(sobol_points_fill_every_dimension),
        cmocka_unit_test(a_latin_hypercube_has_one_point_in_each_slice),
        cmocka_unit_test(rows_depend_on_seed_and_number_only),
        cmocka_unit_test(a_block_of_saltelli_exchanges_one_parameter),
        cmocka_unit_test(a_path_of_morris_changes_each_parameter_once),
        cmocka_unit_test(quantiles_are_those_of_the_distributions),
        cmocka_unit_test(rows_that_reuse_nodes_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
