// SPDX-License-Identifier: MIT
//
// Spectral integration of the pose on one Chebyshev grid (theory.md 3.1d), against an independent
// program: points and differentiation matrix, errors and drift of the quaternion on a helix and on
// a polynomial field; pieces of a rod between breaks.
#include "study/rod_grid.h"

#include "described.h"

enum { MOST = SNW_GRID_MOST };

// Row and column 0 are those of the given end.
static void differentiation_matrix(int n, const double *x, double *D) {
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            if (i == j) continue;
            const double ci = (i == 0 || i == n - 1 ? 2 : 1) * (i % 2 ? -1.0 : 1.0);
            const double cj = (j == 0 || j == n - 1 ? 2 : 1) * (j % 2 ? -1.0 : 1.0);
            D[i * n + j] = ci / cj / (x[i] - x[j]);
            sum += D[i * n + j];
        }
        D[i * n + i] = -sum;
    }
}

static void integration_inverts_differentiation(void **state) {
    (void)state;
    static snw_grid grid;
    static double D[MOST * MOST];
    static const double x5[5] = {0, 0.1464466094, 0.5, 0.8535533906, 1};
    static const double D5[2][5] = {
        {-11, 13.6568542495, -4, 2.3431457505, -1},
        {-3.4142135624, 1.4142135624, 2.8284271247, -1.4142135624, 0.5857864376}};
    snw_grid_make(5, &grid);
    differentiation_matrix(5, grid.x, D);
    for (int i = 0; i < 10; i++) assert_near(D[i], D5[i / 5][i % 5], 1e-10);
    for (int i = 0; i < 5; i++) assert_near(grid.x[i], x5[i], 1e-10);
    static const double last[4] = {1.0 / 3, 1.0 / 3, 1.0 / 3, 0}; // the end has no weight
    for (int j = 0; j < 4; j++) assert_near(grid.S[12 + j], last[j], 1e-15);
    static const int sizes[] = {3, 5, 11, 21, 31, 41};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int n = sizes[k], m = n - 1;
        snw_grid_make(n, &grid);
        differentiation_matrix(n, grid.x, D);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < m; j++) {
                double sum = 0;
                for (int l = 0; l < m; l++) sum += grid.S[i * m + l] * D[(l + 1) * n + j + 1];
                assert_near(sum, i == j, 1e-16 * n * n * n + 1e-14); // D has entries of n^2
            }
        }
    }
}

static snw_twist helix(const void *user, double x) {
    (void)user, (void)x;
    return (snw_twist){.e = {2, 0, 5, 1, 0, 0}};
}

static snw_twist polynomial(const void *user, double s) {
    (void)user;
    return (snw_twist){.e = {1 - 2 * s, 4 * s * s - 1, 3 + 2 * s - 6 * s * s * s,
                             1 + 0.2 * s * (1 - s), 0.1 * s, -0.05 * s * s}};
}

static void errors_are_those_of_an_independent_program(void **state) {
    (void)state;
    static const snw_vec3 ends[2] = {{{0.0127315717897, 0.0649725267282, 0.3949073712841}},
                                     {{-0.0202619774124, 0.6980448356318, 0.0954176037110}}};
    static const struct {
        int n;
        double error[2], drift[2]; // helix, polynomial; 0: rounding
    } rows[] = {{5, {3.49e-2, 7.63e-3}, {8.77e-3, 9.01e-3}},
                {7, {1.68e-3, 1.83e-3}, {1.06e-4, 2.81e-4}},
                {9, {4.30e-5, 8.51e-5}, {6.60e-7, 5.61e-5}},
                {11, {7.16e-7, 2.89e-6}, {2.69e-9, 3.96e-9}},
                {15, {7.3e-11, 1.22e-8}, {0, 3.52e-9}},
                {21, {0, 1.2e-12}, {0, 1.3e-13}},
                {31, {0, 0}, {0, 0}}};
    static unsigned char block[1 << 19];
    static snw_grid grid;
    snw_arena arena = {.base = block, .size = sizeof block};
    assert_true(snw_grid_scratch(31) <= sizeof block);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int f = 0; f < 2; f++) {
            const int n = rows[r].n;
            snw_quat h[MOST];
            snw_vec3 p[MOST];
            snw_grid_make(n, &grid);
            assert_int_equal(
                snw_grid_integrate(&grid, 0, 1, f ? polynomial : helix, NULL, &arena, h, p),
                SNW_OK);
            double e = 0, size = 0;
            for (int i = 0; i < 3; i++) e = fmax(e, fabs(p[n - 1].e[i] - ends[f].e[i]));
            for (int i = 0; i < 4; i++) size += h[n - 1].e[i] * h[n - 1].e[i];
            const double drift = fabs(sqrt(size) - 1);
            assert_near(e, rows[r].error[f], 1e-2 * rows[r].error[f] + 2e-13);
            assert_near(drift, rows[r].drift[f], 1e-2 * rows[r].drift[f] + 1e-13);
        }
    }
    // replica digits on 11 points
    snw_quat h[MOST];
    snw_vec3 p[MOST];
    static const double want[7] = {-0.0202614037191, 0.6980477298563, 0.0954195876759,
                                   0.3414325654334,  -0.345451234361, -0.1721780442559,
                                   0.8569959025208};
    snw_grid_make(11, &grid);
    assert_int_equal(snw_grid_integrate(&grid, 0, 1, polynomial, NULL, &arena, h, p), SNW_OK);
    for (int i = 0; i < 3; i++) assert_near(p[10].e[i], want[i], 1e-12);
    for (int i = 0; i < 4; i++) assert_near(h[10].e[i], want[3 + i], 1e-12);
}

// A rod of two elements with a jump of its given curvature at their border has a grid for each, and
// arcs of circles are exact on fine ones.
static void pieces_are_split_at_breaks(void **state) {
    (void)state;
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_run *run;
    const char *text =
        "sinew: 1\ngravity: 0\nrobot: {arm: {on: world, rod: {length: 2, breaks: [0.5], "
        "section: {stiffness: {bend_z: 1}}, rest: {bend_y: 'if(x < 0.5, 1, -2)'}, "
        "strain: {bend_z: linear}}}}\nstudy: [static: ]\n";
    if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    if (snw_run_create(desc, "main", &run, &err) != SNW_OK) fail_msg("%s", err.text);
    snw_grid_info g;
    assert_int_equal(snw_run_grid(run, 0, 21, &g, &err), SNW_OK);
    assert_int_equal(g.pieces, 2);
    // arc of radius 1 through 0.5, then of radius 1/2 the other way through 3
    const double x = sin(0.5) + (sin(3 - 0.5) + sin(0.5)) / 2;
    const double z = -(1 - cos(0.5)) + (cos(0.5) - cos(3 - 0.5)) / 2;
    assert_near(g.tip.p.x, x, 1e-12);
    assert_near(g.tip.p.z, z, 1e-12);
    assert_true(g.drift < 1e-12 && g.difference < 1e-12);
    snw_run_destroy(run);
    release(doc, desc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integration_inverts_differentiation),
        cmocka_unit_test(errors_are_those_of_an_independent_program),
        cmocka_unit_test(pieces_are_split_at_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
