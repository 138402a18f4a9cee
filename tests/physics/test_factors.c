// SPDX-License-Identifier: MIT
//
// Newton's matrix factorised by the sparsity pattern of tree and loops, against dense factors:
// single solves on random robots, whole motions, resumed motions, no heap allocation.
#include "described.h"
#include "limbs.h"
#include "random_closed.h"
#include "tangent_rig.h"

#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "integrate/implicit.h"
#include "study/statics.h"

#include "heap_calls.h"

#include <stdio.h>

// ---- one matrix ---------------------------------------------------------------------------------

// branches on a floating hull and on the ground, a branch on a branch, closed by loops of many
// kinds
static const char branches_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  hull: {on: world, joint: free, body: {mass: 2, inertia: [0.02, 0.03, 0.04]}}\n"
    "  leg(k=1..5): {on: hull, pose: {xyz: [0.1*k, 0.2, 0]}, joint: %s, rod: {length: 0.5, "
    "section: "
    "{circle: {radius: 20 mm}}, material: rubber, strain: cosserat legendre 2}}\n"
    "  mast(k=1..3): {on: world, pose: {xyz: [0.3*k, 0, 0.4]}, joint: universal, rod: {length: "
    "0.3, section: {circle: {radius: 20 mm}}, material: rubber, strain: kirchhoff legendre 2}}\n"
    "  hand(k=1..3): {on: mast(k), joint: revolute, axis: [1, 2, 3], body: {mass: 0.3, inertia: "
    "[1e-3, 2e-3, 3e-3]}}\n"
    "loops:\n"
    "  grip(k=1..3): {join: [leg(k).tip, hand(k)], as: %s%s}\n"
    "  pair: {join: [leg(4).tip, leg(5)@50%%], as: spherical}\n"
    "  ground: {join: [world, leg(5).tip], as: %s}\n";

// T <- Newton's matrix of the rig at its state
static void fill(const rig *g, double s, snw_bordered_matrix *T) {
    snw_bordered_matrix_clear(T);
    snw_residual(g->m, g->in, g->s, false, g->w);
    snw_tangent_pass(g->m, NULL, g->w);
    snw_tangent_add(g->m, g->in, 1, 200, 4e4, g->w, T->A);
    snw_constraints_place(g->m, g->w, s, T->A);
}

// The compressed matrix of the rig has the solution of `sparse`, its factors, with right side b, to
// the last bit.
static void compare_with_compressed(const rig *g, double s, snw_bordered_matrix *sparse, int n,
                                    const double *b) {
    snw_bordered_matrix *compressed = NULL;
    if (!snw_tangent_compresses(g->m)) return;
    assert_int_equal(snw_bordered_matrix_create(g->m, SNW_ALGEBRA_COMPRESSED, &compressed), SNW_OK);
    double *x = malloc(2 * (size_t)n * sizeof *x), *y = x + n;
    memcpy(x, b, (size_t)n * sizeof *x);
    memcpy(y, b, (size_t)n * sizeof *y);
    fill(g, s, compressed);
    assert_int_equal(snw_bordered_matrix_factor(compressed), SNW_OK);
    snw_bordered_matrix_solve(compressed, x);
    snw_bordered_matrix_solve(sparse, y);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
    free(x);
    snw_bordered_matrix_destroy(compressed);
}

// largest difference of the two solutions relative to the largest unknown, in typical units
static double difference_of_solves(const rig *g, dice *d, double s) {
    snw_bordered_matrix *dense = NULL, *sparse = NULL;
    assert_int_equal(snw_bordered_matrix_create(g->m, SNW_ALGEBRA_DENSE, &dense), SNW_OK);
    assert_int_equal(snw_bordered_matrix_create(g->m, SNW_ALGEBRA_SPARSE, &sparse), SNW_OK);
    assert_null(dense->sparse);
    assert_non_null(sparse->sparse);
    const int n = dense->n;
    double *x = malloc(2 * (size_t)n * sizeof *x), *y = x + n, worst = 0, largest = 0;
    for (int i = 0; i < n; i++) x[i] = y[i] = roll(d, -1, 1);
    fill(g, s, dense);
    fill(g, s, sparse);
    assert_int_equal(snw_bordered_matrix_factor(dense), SNW_OK);
    assert_int_equal(snw_bordered_matrix_factor(sparse), SNW_OK);
    assert_false(sparse->overwritten); // solved by the sparse factors, not by the fallback
    snw_bordered_matrix_solve(dense, x);
    compare_with_compressed(g, s, sparse, n, y);
    snw_bordered_matrix_solve(sparse, y);
    for (int i = 0; i < n; i++) {
        const double unit = i < g->m->nv ? g->m->typical[i] : 1;
        if (!(fabs(x[i] - y[i]) / unit <= worst)) worst = fabs(x[i] - y[i]) / unit;
        largest = fmax(largest, fabs(x[i]) / unit);
    }
    free(x);
    snw_bordered_matrix_destroy(dense);
    snw_bordered_matrix_destroy(sparse);
    return worst / largest;
}

// Rounding times the condition number of the matrix, which combines forces and violations, rods and
// heavy bodies.
static const double CONDITION = 1e-9;

static void trees_solve_as_dense_ones(void **state) {
    (void)state;
    for (int k = 0; k < 24; k++) {
        dice d = {100 + (uint64_t)k};
        tree t;
        tree_random(&t, &d, (tree_opts){.nlink = k % 3 == 0 ? TREE_MOST : 10, .floating = k % 2});
        rig g;
        rig_open(&g, &t.r.desc);
        state_random(g.m, &d, g.s);
        snw_inputs_at(g.m, g.s->t, g.in);
        const double off = difference_of_solves(&g, &d, 0);
        if (!(off < CONDITION)) fail_msg("tree %d: %g", k, off);
        rig_close(&g);
        robot_free(&t.r);
    }
}

static void loops_solve_as_dense_ones(void **state) {
    (void)state;
    static const char *const joints[] = {"fixed",     "revolute",  "prismatic", "cylindrical",
                                         "universal", "spherical", "planar"};
    dice d = {7};
    for (int k = 0; k < 7; k++) {
        char text[4000];
        snw_document *doc;
        snw_desc *desc;
        snw_error err;
        const bool axis = k != 0 && k != 5;
        (void)snprintf(text, sizeof text, branches_text, joints[(k + 4) % 7], joints[k],
                       axis ? ", axis: [2, -1, 1]" : "", joints[(k + 2) % 7]);
        if (describe(text, &doc, &desc, &err) != SNW_OK) {
            fail_msg("%d:%d %s", err.line, err.column, err.text);
        }
        rig g;
        rig_open(&g, desc);
        state_random(g.m, &d, g.s);
        snw_inputs_at(g.m, g.s->t, g.in);
        for (int i = 0; i < g.m->nconstraint; i++) g.s->lambda[i] = roll(&d, -3, 3);
        // for any scaling of the rows
        const double scales[] = {1, 1e3, 1e6};
        for (int i = 0; i < 3; i++) {
            const double off = difference_of_solves(&g, &d, scales[i]);
            if (!(off < CONDITION)) fail_msg("%s, %g: %g", joints[k], scales[i], off);
        }
        rig_close(&g);
        release(doc, desc);
    }
}

// Branches that no joint and no loop connects, but springs and the field of a magnet on one of
// them.
static const char springs_text[] =
    "sinew: 1\n"
    "study: [static: {}]\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm(k=1..5): {on: world, pose: {xyz: [0, 0.1*k, 0]}, rod: {length: 0.3, section: {circle: "
    "{radius: 10 mm}}, material: rubber, strain: cosserat legendre 2, nodes: 4}}\n"
    "  magnet: {on: world, pose: {xyz: [0.2, 0.3, 0.2]}, joint: spherical, stiffness: 0.1, body: "
    "{mass: 0.1, inertia: [1e-4, 1e-4, 1e-4]}}\n"
    "  probe: {on: arm(2).tip, body: {mass: 0.01, inertia: [1e-6, 1e-6, 1e-6]}, magnetic_moment: "
    "[1 A*m^2, 0 A*m^2, 0 A*m^2]}\n"
    "springs:\n"
    "  between(k=1..3): {spring: [arm(k).tip, arm(k+1).tip], rest: 0.05, stiffness: 50, damping: "
    "2}\n"
    "  tie: {cable: [arm(5).tip, arm(1).tip], rest: 0.2, stiffness: 80}\n"
    "fields: {dipole_of_magnet: {dipole: [0 A*m^2, 0 A*m^2, 1 A*m^2], on: magnet}}\n";

static void springs_and_fields_between_branches_are_in_the_pattern(void **state) {
    (void)state;
    dice d = {19};
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    if (describe(springs_text, &doc, &desc, &err) != SNW_OK)
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    rig g;
    rig_open(&g, desc);
    assert_int_equal(g.m->nforce_element, 4);
    assert_true(g.m->nforce_field_point > 0);
    for (int k = 0; k < 5; k++) {
        state_random(g.m, &d, g.s);
        snw_inputs_at(g.m, g.s->t, g.in);
        const double off = difference_of_solves(&g, &d, 1);
        if (!(off < CONDITION)) fail_msg("state %d: %g", k, off);
    }
    rig_close(&g);
    release(doc, desc);
}

// Graphs of bodies and rods with two or three loops, cut at random, some joints driven: rows of
// loops and drives together.
static void random_loops_and_drives_solve_as_dense_ones(void **state) {
    (void)state;
    static cut c;
    dice d = {8};
    int drives = 0, loops = 0, tried = 0;
    for (int k = 0; k < 40; k++) {
        graph x;
        graph_random(&x, &d, 8, 1 + k % 2, 0.4, k % 3 == 0);
        cut_open(&x, &d, k % 4 == 1, 2, &c);
        const snw_model *m = c.c.m;
        // loops may contradict driven joints: these models are refused
        snw_error err = {0};
        if (m->singular == 0 && closed_robot_try(&c.c, 0, &err) == SNW_OK) {
            const rig g = {.m = c.c.m, .s = c.c.s, .in = c.c.in, .w = c.c.w};
            for (int n = 0; n < 2; n++) { // projected, then at random
                if (n) state_random(m, &d, g.s);
                snw_inputs_at(m, g.s->t, g.in);
                for (int i = 0; i < m->nconstraint; i++) g.s->lambda[i] = roll(&d, -3, 3);
                const double off = difference_of_solves(&g, &d, n ? 1e4 : 1);
                if (!(off < CONDITION)) fail_msg("robot %d, %d: %g", k, n, off);
            }
            drives += m->ndrive, loops += m->nloop, tried++;
        }
        cut_shut(&c);
    }
    printf("%d robots, %d drives, %d loops\n", tried, drives, loops);
    assert_true(tried > 25 && drives > 40 && loops > 60);
}

// ---- motions ------------------------------------------------------------------------------------

typedef struct scene {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
} scene;

static void scene_open_text(scene *c, const char *text, const char *n) {
    snw_error err = {0};
    const char *const set[] = {n};
    if (snw_document_parse("limbs", text, strlen(text), 1, set, &c->doc, &err) ||
        snw_document_describe(c->doc, 0, &c->desc, &err) ||
        snw_projection_compile(c->desc, &c->m, &err)) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    assert_int_equal(snw_state_create(c->m, &c->s), SNW_OK);
}

static void scene_open(scene *c, const char *n) { scene_open_text(c, limbs_text, n); }

static void scene_close(scene *c) {
    snw_state_destroy(c->s);
    snw_model_destroy(c->m);
    release(c->doc, c->desc);
}

static snw_implicit *begin(const scene *c, snw_algebra algebra) {
    snw_implicit *im = NULL;
    snw_error err = {0};
    snw_implicit_opts o = snw_implicit_defaults();
    o.algebra = algebra;
    assert_int_equal(snw_implicit_create(c->m, &o, &im), SNW_OK);
    if (snw_implicit_start(im, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
    return im;
}

// steps first .. last of 5 ms
static void go(snw_implicit *im, int first, int last) {
    for (int i = first; i <= last; i++) {
        snw_chord_info info;
        assert_int_equal(snw_implicit_step(im, 0.005, 0.005 * i, &info), SNW_OK);
    }
}

// Both satisfy the same tolerance, 1e-10 of typical forces; positions differ by the effect of that
// tolerance.
static void motions_agree(void **state) {
    (void)state;
    scene c;
    scene_open(&c, "n=6");
    snw_implicit *dense = begin(&c, SNW_ALGEBRA_DENSE), *sparse = begin(&c, SNW_ALGEBRA_SPARSE);
    go(dense, 1, 60);
    go(sparse, 1, 60);
    const double *x = snw_implicit_state(dense)->q, *y = snw_implicit_state(sparse)->q;
    double moved = 0;
    for (int i = 0; i < c.m->nq; i++) {
        assert_near(y[i], x[i], 1e-8);
        moved = fmax(moved, fabs(x[i] - c.s->q[i]));
    }
    assert_true(moved > 0.1);
    snw_implicit_destroy(dense);
    snw_implicit_destroy(sparse);
    scene_close(&c);
}

// the same for random robots with loops and drives; light rods between heavy bodies
static void motions_of_random_robots_agree(void **state) {
    (void)state;
    static cut c;
    dice d = {9};
    int tried = 0;
    for (int k = 0; k < 12; k++) {
        graph x;
        graph_random(&x, &d, 8, 1 + k % 2, 0.4, k % 3 == 0);
        cut_open(&x, &d, k % 4 == 1, 2, &c);
        const snw_model *m = c.c.m;
        snw_error err = {0};
        if (m->singular == 0 && closed_robot_try(&c.c, 0, &err) == SNW_OK) {
            snw_implicit *im[2];
            for (int n = 0; n < 2; n++) {
                snw_implicit_opts o = snw_implicit_defaults();
                o.algebra = n ? SNW_ALGEBRA_SPARSE : SNW_ALGEBRA_DENSE;
                im[n] = closed_robot_motion(&c.c, &o);
                go(im[n], 1, 30);
            }
            const snw_state *u = snw_implicit_state(im[0]), *y = snw_implicit_state(im[1]);
            for (int i = 0; i < m->nq; i++) assert_near(y->q[i], u->q[i], 1e-8);
            for (int i = 0; i < m->ndrive; i++) {
                const snw_drive *to = &m->drive[i];
                assert_near(y->q[to->q], snw_expr_value(to->law, (snw_at){.t = 0.15}), 1e-12);
            }
            for (int n = 0; n < 2; n++) snw_implicit_destroy(im[n]);
            tried++;
        }
        cut_shut(&c);
    }
    assert_true(tried > 8);
}

static void continued_motions_have_the_same_bits(void **state) {
    (void)state;
    scene c;
    scene_open(&c, "n=6");
    const size_t size = snw_implicit_saves(c.m);
    double *saved = malloc(3 * size * sizeof *saved), *one = saved + size, *two = one + size;
    for (int at = 5; at <= 20; at += 3) {
        snw_implicit *whole = begin(&c, SNW_ALGEBRA_SPARSE), *rest = begin(&c, SNW_ALGEBRA_SPARSE);
        go(rest, 1, 2); // an earlier motion must have no effect
        go(whole, 1, at);
        snw_implicit_save(whole, saved);
        snw_implicit_load(rest, saved);
        go(whole, at + 1, 25);
        go(rest, at + 1, 25);
        snw_implicit_save(whole, one);
        snw_implicit_save(rest, two);
        assert_memory_equal(one, two, size * sizeof *one);
        snw_implicit_destroy(whole);
        snw_implicit_destroy(rest);
    }
    free(saved);
    scene_close(&c);
}

static void steps_do_not_touch_the_heap(void **state) {
    (void)state;
    count_heap_calls();
    scene c;
    scene_open(&c, "n=6");
    const snw_algebra algebras[] = {SNW_ALGEBRA_SPARSE, SNW_ALGEBRA_DENSE};
    for (int k = 0; k < 2; k++) {
        snw_implicit *im = begin(&c, algebras[k]);
        snw_chord_info info;
        snw_error err = {0};
        const long before = heap_calls;
        snw_status s = SNW_OK;
        int matrices = 0;
        for (int i = 1; s == SNW_OK && i <= 20; i++) {
            s = snw_implicit_step(im, 0.005, 0.005 * i, &info);
            matrices += info.tangents;
            if (s == SNW_OK && i == 10) s = snw_implicit_restart(im, NULL, &err);
        }
        const long after = heap_calls;
        assert_int_equal(s, SNW_OK);
        assert_true(matrices > 2);
        assert_true(after == before);
        snw_implicit_destroy(im);
    }
    scene_close(&c);
}

// Accelerations, multipliers and velocities by bordered sparse factors satisfy their equations.
static void accelerations_keep_loops_closed(void **state) {
    (void)state;
    scene c;
    scene_open(&c, "n=12");
    snw_projection *pr = NULL;
    snw_inputs *in = NULL;
    snw_work *w = NULL;
    snw_error err = {0};
    assert_int_equal(snw_projection_create(c.m, &pr), SNW_OK);
    assert_int_equal(snw_inputs_create(c.m, &in), SNW_OK);
    assert_int_equal(snw_work_create(c.m, &w), SNW_OK);
    double *rate = malloc(2 * (size_t)c.m->nconstraint * sizeof *rate),
           *bend = rate + c.m->nconstraint;
    dice d = {5};
    for (int i = 0; i < c.m->nv; i++) c.s->v[i] = roll(&d, -0.3, 0.3);
    c.s->t = 0.4;
    snw_inputs_at(c.m, c.s->t, in);
    double *v = malloc((size_t)c.m->nv * sizeof *v);
    memcpy(v, c.s->v, (size_t)c.m->nv * sizeof *v);
    assert_int_equal(snw_projection_velocities(pr, in, c.s, &err), SNW_OK);
    assert_int_equal(snw_projection_accelerations(pr, in, c.s, &err), SNW_OK);
    snw_residual(c.m, in, c.s, false, w);
    snw_constraints_rates(c.m, in, c.s, w, rate, bend);
    double largest = 0;
    for (int i = 0; i < c.m->nv; i++) largest = fmax(largest, fabs(c.s->a[i]));
    assert_true(largest > 1);
    // forces in balance: to 1e-9 of those that accelerations of this size need
    for (int i = 0; i < c.m->nv; i++) {
        assert_true(fabs(w->r[i]) * c.m->typical[i] < 1e-9);
    }
    for (int i = 0; i < c.m->nconstraint; i++) {
        assert_near(rate[i], 0, 1e-12);
        assert_near(bend[i], 0, 1e-11 * largest);
    }
    // the nearest velocities: the difference is orthogonal in the mass matrix to all velocities
    // that keep the loops closed, hence to the projected velocities themselves: T(v) = T(v1) + T(v
    // - v1)
    double energy[3];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < c.m->nv; i++) {
            const double v1 = c.s->v[i];
            c.s->a[i] = k == 0 ? v[i] : k == 1 ? v1 : v[i] - v1;
        }
        double *swap = c.s->v;
        c.s->v = c.s->a;
        snw_kinematics(c.m, in, c.s, false, w);
        c.s->v = swap;
        energy[k] = snw_kinetic_energy(c.m, w);
    }
    assert_near(energy[0], energy[1] + energy[2], 1e-12);
    assert_true(energy[2] > 1e-3 * energy[0]);
    free(v);
    free(rate);
    snw_work_destroy(w);
    snw_inputs_destroy(in);
    snw_projection_destroy(pr);
    scene_close(&c);
}

// An equilibrium found with sparse tangents satisfies the equations, and Newton's method converges
// quadratically.
static void many_limbs_come_to_rest(void **state) {
    (void)state;
    scene c;
    char text[sizeof limbs_text]; // clamped, so that the platform has stiffness without loads
    memcpy(text, limbs_text, sizeof text);
    char *joint = strstr(text, "universal");
    assert_non_null(joint);
    memcpy(joint, "fixed    ", strlen("universal"));
    scene_open_text(&c, text, "n=12");
    snw_statics *st = NULL;
    snw_work *w = NULL;
    snw_error err = {0};
    snw_statics_info info;
    const snw_statics_opts o = snw_statics_defaults();
    assert_int_equal(snw_statics_create(c.m, &st), SNW_OK);
    assert_int_equal(snw_work_create(c.m, &w), SNW_OK);
    if (snw_statics_solve(st, 0.4, &o, c.s, &info, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_true(info.iterations <= 25);
    snw_residual(c.m, snw_statics_inputs(st), c.s, true, w);
    for (int i = 0; i < c.m->nv; i++) assert_near(w->r[i] / c.m->scale[i], 0, 1e-10);
    for (int i = 0; i < c.m->nconstraint; i++) assert_near(w->violation[i], 0, 1e-12);
    snw_work_destroy(w);
    snw_statics_destroy(st);
    scene_close(&c);
}

// ---- choice of the factorisation ----------------------------------------------------------------

static bool is_sparse(const snw_model *m) {
    snw_bordered_matrix *x = NULL;
    assert_int_equal(snw_bordered_matrix_create(m, SNW_ALGEBRA_AUTO, &x), SNW_OK);
    const bool sparse = x->sparse != NULL;
    snw_bordered_matrix_destroy(x);
    return sparse;
}

static void small_ones_and_those_with_feedback_are_dense(void **state) {
    (void)state;
    scene c;
    scene_open(&c, "n=2");
    assert_false(is_sparse(c.m));
    scene_close(&c);
    scene_open(&c, "n=12");
    assert_true(is_sparse(c.m));
    c.m->nlive = 1; // as if a law read a probe
    assert_false(is_sparse(c.m));
    c.m->nlive = 0;
    scene_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_solve_as_dense_ones),
        cmocka_unit_test(loops_solve_as_dense_ones),
        cmocka_unit_test(springs_and_fields_between_branches_are_in_the_pattern),
        cmocka_unit_test(random_loops_and_drives_solve_as_dense_ones),
        cmocka_unit_test(motions_agree),
        cmocka_unit_test(motions_of_random_robots_agree),
        cmocka_unit_test(continued_motions_have_the_same_bits),
        cmocka_unit_test(steps_do_not_touch_the_heap),
        cmocka_unit_test(accelerations_keep_loops_closed),
        cmocka_unit_test(many_limbs_come_to_rest),
        cmocka_unit_test(small_ones_and_those_with_feedback_are_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
