// SPDX-License-Identifier: MIT
//
// Newton's equations of long rods that touch along their lengths: they cost in proportion to the
// length, whatever lies side by side, and their solutions are those with a border.
#include "base/alloc.h"
#include "constraint/elimination_private.h"
#include "constraint/projection.h"
#include "described.h"
#include "dynamics/rod_contact.h"
#include "integrate/implicit.h"
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bundle {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_elimination *e;
} bundle;

static const char head[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {n: %d, l: 20 mm*n}\n"
    "materials: {gel: {young: 5 MPa, poisson: 0.45, density: 1100, damping: 5 ms}}\n"
    "%s";
static const char rod_text[] = "rod: {length: l, section: {circle: {radius: 5 mm}}, material: gel,"
                               " strain: kirchhoff linear, elements: %d%s}";

// Two rods side by side, from the same end and from both ends, pressed into each other by 1 mm.
static const char together[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "  b: {on: world, pose: {xyz: [0, 9 mm, 0]}, %s}\n"
    "contacts: {touch: {rods: {between: [a, b], stiffness: 1 MPa, damping: 0.1, friction: 0.3,"
    " creep: 1 mm/s}}}\n";
// The same half a millimetre apart.
static const char swinging[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "  b: {on: world, pose: {xyz: [0, 10.5 mm, 0]}, %s}\n"
    "contacts: {touch: {rods: {between: [a, b], stiffness: 1 MPa, damping: 0.1}}}\n";
static const char opposite[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "  b: {on: world, pose: {xyz: [l, 9 mm, 0], axis: [0, 0, 1], angle: 180 deg}, %s}\n"
    "contacts: {touch: {rods: {between: [a, b], stiffness: 1 MPa, damping: 0.1}}}\n";
// A rod wound into a helix with coils that touch.
static const char wound[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "contacts: {touch: {rods: {between: a, stiffness: 1 MPa, smooth: 2 mm}}}\n";
static const char coils[] = ", rest: {twist: 15.2, bend_z: 100}";
// A rod between three others.
static const char several[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "  b: {on: world, pose: {xyz: [0, 9 mm, 0]}, %s}\n"
    "  c: {on: world, pose: {xyz: [0, -4.5 mm, 7.8 mm]}, %s}\n"
    "  d: {on: world, pose: {xyz: [l, -4.5 mm, -7.8 mm], axis: [0, 0, 1], angle: 180 deg},"
    " %s}\n"
    "contacts: {touch: {rods: {between: [a, b, c, d], stiffness: 1 MPa}}}\n";

// Tendons with friction along two rods, of given tension and of given length.
static const char drawn[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "  b: {on: a.tip, %s}\n"
    "actuators: {wire: {tendon: {along: [a, b], at: [0, 4 mm, 2 mm], friction: 0.3, creep: 1 mm/s},"
    " effort: 1 N},\n"
    "  drum: {tendon: {along: [a, b], at: [0, -4 mm, 2 mm], friction: 0.3, creep: 1 mm/s,"
    " compliance: 1e-2 1/N}, shortening: 4 mm - 50*t}}\n";

// Tendons from disc to disc, two elements apart: of given tension, on a winch, of given length.
static const char spanned[] =
    "robot:\n"
    "  a: {on: world, %s}\n"
    "sites:\n"
    "  top(k=0..n/2): {on: a@k*2*l/n, pose: {xyz: [0, 12 mm, 0]}}\n"
    "  left(k=0..n/2): {on: a@k*2*l/n, pose: {xyz: [0, -6 mm, 10 mm]}}\n"
    "  right(k=0..n/2): {on: a@k*2*l/n, pose: {xyz: [0, -6 mm, -10 mm]}}\n"
    "actuators:\n"
    "  one: {tendon: {path: [top(k=0..n/2)]}, effort: 2 N}\n"
    "  two: {tendon: {path: [left(k=0..n/2)], compliance: 1e-3 1/N}, shortening: 2 mm}\n"
    "  three: {tendon: {path: [right(k=0..n/2)]}, shortening: 0}\n";

static void bundle_open(bundle *b, const char *text, int elements, const char *more) {
    char all[3000], rods[2000], rod[300];
    (void)snprintf(rod, sizeof rod, rod_text, elements, more);
    (void)snprintf(rods, sizeof rods, text, rod, rod, rod, rod);
    (void)snprintf(all, sizeof all, head, elements, rods);
    snw_error err = {0};
    if (describe(all, &b->doc, &b->desc, &err) != SNW_OK ||
        snw_projection_compile_for(b->desc, SNW_USE_LOCAL, &b->m, &err) != SNW_OK)
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    assert_int_equal(snw_state_create(b->m, &b->s), SNW_OK);
    assert_int_equal(snw_inputs_create(b->m, &b->in), SNW_OK);
    assert_int_equal(snw_work_create(b->m, &b->w), SNW_OK);
    assert_int_equal(snw_elimination_create(b->m, &b->e), SNW_OK);
    memcpy(b->s->q, b->m->q0, (size_t)b->m->nq * sizeof(double));
    for (int i = 0; i < b->m->nv; i++) {
        if (b->m->nrod > 1) b->s->q[i] += 0.01 * sin(2.0 * i);
        b->s->v[i] = 0.01 * cos(3.0 * i);
    }
    snw_inputs_at(b->m, 0, b->in);
}

static void bundle_close(bundle *b) {
    snw_elimination_destroy(b->e);
    snw_work_destroy(b->w);
    snw_inputs_destroy(b->in);
    snw_state_destroy(b->s);
    snw_model_destroy(b->m);
    release(b->doc, b->desc);
}

static const double BORDER = -1e30, MIXED = 1e30; // what a solution along the tree seems to cost

static double largest(const bundle *b, const double *x, const double *size) {
    double most = 0;
    for (int i = 0; i < b->m->nv; i++) most = fmax(most, fabs(x[i]) / size[i]);
    return most;
}

// x <- solution with a right-hand side; what it leaves of the equations, relative to the size of
// the matrix times that of x
static double solve(bundle *b, bool is_static, double along_tree, double *x) {
    const int n = b->m->nv;
    const snw_tangent_at at = {
        .in = b->in, .cq = 1, .cv = is_static ? 0 : 40, .ca = is_static ? 0 : 900};
    double *y = calloc(2 * (size_t)n, sizeof *y), *z = y + n, norm = 0;
    snw_residual(b->m, b->in, b->s, is_static, b->w);
    b->e->along_tree = along_tree;
    assert_int_equal(snw_elimination_make_room(b->e, b->w), SNW_OK);
    assert_int_equal(snw_elimination_factor(b->e, &at, b->w), SNW_OK);
    assert_true(b->e->is_mixed == (along_tree > 0));
    for (int i = 0; i < n; i++) x[i] = sin(1.0 + i) * b->m->scale[i];
    snw_elimination_solve(b->e, x);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) z[i] = cos(7.0 * k + (k + 0.3) * i) * b->m->typical[i];
        snw_elimination_product(b->e, &at, b->w, z, y);
        norm = fmax(norm, largest(b, y, b->m->scale) / largest(b, z, b->m->typical));
    }
    snw_elimination_product(b->e, &at, b->w, x, y);
    for (int i = 0; i < n; i++) y[i] -= sin(1.0 + i) * b->m->scale[i];
    const double left = largest(b, y, b->m->scale) / (norm * largest(b, x, b->m->typical) + 1);
    free(y);
    return left;
}

// Both ways solve the same equations, and both leave rounding of them.
static void solutions_are_those_with_a_border(void **state) {
    (void)state;
    static const char *const text[] = {together, opposite, several, wound, spanned};
    for (int k = 0; k < 5; k++) {
        for (int is_static = 0; is_static < 2; is_static++) {
            bundle b;
            bundle_open(&b, text[k], 8, k == 3 ? coils : "");
            double *x = calloc(2 * (size_t)b.m->nv, sizeof *x), *y = x + b.m->nv;
            const double border = solve(&b, is_static, BORDER, x),
                         mixed = solve(&b, is_static, MIXED, y);
            for (int i = 0; i < b.m->nv; i++) x[i] -= y[i];
            print_message("left %.2g with a border, %.2g without; they differ by %.2g\n", border,
                          mixed, largest(&b, x, b.m->typical) / largest(&b, y, b.m->typical));
            assert_true(mixed < 1e-13 && border < 1e-13);
            // rounding times condition numbers up to 1e5
            assert_true(largest(&b, x, b.m->typical) < 1e-11 * largest(&b, y, b.m->typical));
            free(x);
            bundle_close(&b);
        }
    }
}

// Products do not change what the factors solve, not even where other places touch, or none.
static void products_keep_the_factors(void **state) {
    (void)state;
    static const char *const text[] = {together, several, wound};
    for (int k = 0; k < 3; k++) {
        for (int mixed = 0; mixed < 2; mixed++) {
            bundle b;
            bundle_open(&b, text[k], 8, k == 2 ? coils : "");
            const int n = b.m->nv;
            double *x = calloc(3 * (size_t)n, sizeof *x), *again = x + n, *y = again + n;
            const snw_tangent_at at = {.in = b.in, .cq = 1, .cv = 40, .ca = 900};
            (void)solve(&b, false, mixed ? MIXED : BORDER, x);
            const int touches = snw_ntouch(b.m, b.w);
            for (int part = 0; part < 2;
                 part++) { // after products at the same point, and elsewhere
                for (int i = 0; i < n; i++) again[i] = sin(1.0 + i) * b.m->scale[i];
                snw_elimination_solve(b.e, again);
                assert_memory_equal(again, x, (size_t)n * sizeof *x);
                for (int i = 0; i < n; i++) b.s->q[i] += 3.0 * cos(i);
                snw_residual(b.m, b.in, b.s, false, b.w);
                snw_elimination_product(b.e, &at, b.w, x, y);
            }
            print_message("%d touches, then %d\n", touches, snw_ntouch(b.m, b.w));
            assert_true(touches > 0 && snw_ntouch(b.m, b.w) != touches);
            free(x);
            bundle_close(&b);
        }
    }
}

// The pivots of both tell the same number of negative eigenvalues of the stiffness less a multiple
// of that of the unloaded rods.
static void inertia_is_that_with_a_border(void **state) {
    (void)state;
    static const char *const text[] = {together, opposite, wound};
    int most = 0;
    for (int k = 0; k < 3; k++) {
        bundle b;
        bundle_open(&b, text[k], 5, k == 2 ? coils : "");
        // friction has no potential
        memset(b.s->v, 0, (size_t)b.m->nv * sizeof *b.s->v);
        snw_residual(b.m, b.in, b.s, true, b.w);
        for (int i = 0; i < 4; i++) {
            static const double shift[] = {-2, 0.5, 1.5, 4};
            const snw_tangent_at at = {.in = b.in, .cq = 1, .shift = shift[i], .inertia = true};
            int negative[2];
            for (int mixed = 0; mixed < 2; mixed++) {
                b.e->along_tree = mixed ? MIXED : BORDER;
                assert_int_equal(snw_elimination_make_room(b.e, b.w), SNW_OK);
                assert_int_equal(snw_elimination_factor(b.e, &at, b.w), SNW_OK);
                assert_true(b.e->is_mixed == mixed);
                negative[mixed] = snw_elimination_negative(b.e);
            }
            print_message("shift %g: %d negative\n", shift[i], negative[0]);
            assert_int_equal(negative[1], negative[0]);
            most = negative[0] > most ? negative[0] : most;
        }
        bundle_close(&b);
    }
    assert_true(most > 3);
}

static void solve_sines(bundle *b, double *x) {
    for (int i = 0; i < b->m->nv; i++) x[i] = sin(1.0 + i) * b->m->scale[i];
    snw_elimination_solve(b->e, x);
}

// Slices that begin to touch after room was made are a border of the cells: nothing is allocated,
// and solutions are those with all of them in the order.
static void new_touches_allocate_nothing(void **state) {
    (void)state;
    static const char *const text[] = {together, several, wound};
    for (int k = 0; k < 3; k++) {
        bundle b;
        bundle_open(&b, text[k], 8, k == 2 ? coils : "");
        const snw_tangent_at at = {.in = b.in, .cq = 1, .cv = 40, .ca = 900};
        double *x = calloc(2 * (size_t)b.m->nv, sizeof *x), *y = x + b.m->nv;
        for (int i = 0; i < b.m->nv; i++) b.s->q[i] += 3.0 * cos(i); // few touch
        (void)solve(&b, false, MIXED, x);
        const int few = snw_ntouch(b.m, b.w);
        for (int i = 0; i < b.m->nv; i++) b.s->q[i] -= 3.0 * cos(i);
        snw_residual(b.m, b.in, b.s, false, b.w);
        b.e->along_tree = 1e9; // dear, but not so dear that a border of cells is, too
        const size_t allocated = snw_alloc_count();
        assert_int_equal(snw_elimination_factor(b.e, &at, b.w), SNW_OK);
        solve_sines(&b, x);
        assert_true(snw_alloc_count() == allocated);
        const int border = b.e->ntouched;
        assert_true(b.e->is_mixed && border > 0);
        assert_int_equal(snw_elimination_make_room(b.e, b.w), SNW_OK);
        assert_true(snw_alloc_count() > allocated);
        assert_int_equal(snw_elimination_factor(b.e, &at, b.w), SNW_OK);
        solve_sines(&b, y);
        assert_true(b.e->is_mixed && b.e->ntouched == 0);
        for (int i = 0; i < b.m->nv; i++) x[i] -= y[i];
        print_message("%d touches, then %d: %d segments in a border, %.2g apart\n", few,
                      snw_ntouch(b.m, b.w), border,
                      largest(&b, x, b.m->typical) / largest(&b, y, b.m->typical));
        assert_true(largest(&b, x, b.m->typical) < 1e-11 * largest(&b, y, b.m->typical));
        free(x);
        bundle_close(&b);
    }
}

// Steps of two rods that swing together from their tips on allocate nothing, though more and more
// slices touch within them.
static void steps_with_new_touches_allocate_nothing(void **state) {
    (void)state;
    bundle b;
    bundle_open(&b, swinging, 12, "");
    memset(b.s->q, 0, (size_t)b.m->nq * sizeof *b.s->q);
    memset(b.s->v, 0, (size_t)b.m->nv * sizeof *b.s->v);
    for (int r = 0; r < 2; r++) {
        const snw_rod *rod = &b.m->rod[r];
        for (int d = rod->dof[2]; d < rod->dof0 + rod->ndof; d++) b.s->v[d] = r ? -2 : 2; // bend_z
    }
    snw_error err = {0};
    snw_implicit *im;
    const snw_implicit_opts opts = snw_implicit_defaults();
    assert_int_equal(snw_implicit_create(b.m, &opts, &im), SNW_OK);
    assert_int_equal(snw_implicit_start(im, b.s, &err), SNW_OK);
    int grown = 0, touches = 0;
    for (int k = 1; k <= 20; k++) {
        snw_chord_info info;
        assert_int_equal(snw_implicit_make_room(im), SNW_OK);
        const size_t allocated = snw_alloc_count();
        assert_int_equal(snw_implicit_step(im, 1e-3, 1e-3 * k, &info), SNW_OK);
        assert_true(snw_alloc_count() == allocated);
        const int now = snw_ntouch(b.m, snw_implicit_work_at(im));
        grown += now > touches;
        touches = now;
    }
    print_message("more touched in %d steps of 20, %d at last\n", grown, touches);
    assert_true(grown > 5 && touches >= 16);
    snw_implicit_destroy(im);
    bundle_close(&b);
}

static void check_growth(const char *name, const char *text, const char *more, double most) {
    double operations[2];
    for (int k = 0; k < 2; k++) {
        bundle b;
        bundle_open(&b, text, k ? 80 : 20, more);
        double *x = calloc((size_t)b.m->nv, sizeof *x);
        const double left = solve(&b, false, MIXED, x);
        operations[k] = snw_elimination_operations(b.e);
        print_message(
            "%-9s %d elements: %d touches of %d segments, %.3g products (%.3g a segment), "
            "%.2g left\n",
            name, k ? 80 : 20, snw_ntouch(b.m, b.w), b.m->nseg, operations[k],
            operations[k] / b.m->nseg, left);
        assert_true(left < 1e-13);
        free(x);
        bundle_close(&b);
    }
    if (!(operations[1] < most * operations[0]))
        fail_msg("%s: %g times the operations", name, operations[1] / operations[0]);
}

// A helix with W slices a turn and T turns that touch is a strip of W by T slices: a segment takes
// products in proportion to the square of the smaller of both, so that they are constant from T = W
// on.
static void cost_along_wide_helices_is_linear_beyond_as_many_turns_as_slices_a_turn(void **state) {
    (void)state;
    double each[5];
    for (int k = 0; k < 5; k++) {
        const int elements = 20 << k;
        bundle b;
        bundle_open(&b, wound, elements, ", rest: {twist: 2.62, bend_z: 42}");
        snw_residual(b.m, b.in, b.s, false, b.w);
        b.e->along_tree = MIXED;
        assert_int_equal(snw_elimination_make_room(b.e, b.w), SNW_OK);
        each[k] = snw_block_sparse_products(b.e->mixed.cells) / b.m->nseg;
        print_message(
            "%d elements, %.3g turns: %d touches of %d segments, %.3g products a segment\n",
            elements, elements * 20e-3 * 42 / (2 * M_PI), snw_ntouch(b.m, b.w), b.m->nseg, each[k]);
        bundle_close(&b);
    }
    assert_true(each[2] < 8 * each[0] && each[3] < 1.5 * each[2] && each[4] < 1.2 * each[3]);
}

// Four times the length takes about four times the operations.
static void cost_is_linear_along_touching_rods(void **state) {
    (void)state;
    check_growth("together", together, "", 4.5);
    check_growth("opposite", opposite, "", 4.5);
    check_growth("several", several, "", 4.5);
    check_growth("wound", wound, coils, 4.5);
}

static void cost_is_linear_along_tendons_from_disc_to_disc(void **state) {
    (void)state;
    check_growth("spanned", spanned, "", 4.5);
}

static void cost_is_linear_along_tendons_from_rod_to_rod(void **state) {
    (void)state;
    check_growth("drawn", drawn, "", 4.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_those_with_a_border),
        cmocka_unit_test(products_keep_the_factors),
        cmocka_unit_test(inertia_is_that_with_a_border),
        cmocka_unit_test(new_touches_allocate_nothing),
        cmocka_unit_test(steps_with_new_touches_allocate_nothing),
        cmocka_unit_test(cost_is_linear_along_touching_rods),
        cmocka_unit_test(cost_along_wide_helices_is_linear_beyond_as_many_turns_as_slices_a_turn),
        cmocka_unit_test(cost_is_linear_along_tendons_from_rod_to_rod),
        cmocka_unit_test(cost_is_linear_along_tendons_from_disc_to_disc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
