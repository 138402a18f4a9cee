// SPDX-License-Identifier: MIT
//
// The elimination along the tree solves the equations of the dense tangent, on random rods and
// trees and on rods with local bases; its cost is linear in their length.
#include "base/alloc.h"
#include "constraint/elimination_private.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "executed.h"
#include "integrate/implicit.h"
#include "random_tree.h"
#include "solve/dense.h"
#include "study/statics.h"
#include "study/truncation.h"
#include "tangent_rig.h"

// Largest difference relative to the largest number.
static double differs(int n, const double *x, const double *y) {
    double most = 0, size = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return most / size;
}

// 1-norm condition number of A, n x n
static double condition(int n, const double *A, const double *LU, const int *pivot) {
    double *x = calloc((size_t)n, sizeof *x), norm = 0, inverse = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0, back = 0;
        for (int i = 0; i < n; i++)
            sum += fabs(A[(size_t)j * (size_t)n + (size_t)i]), x[i] = i == j;
        snw_lu_solve(n, LU, pivot, x);
        for (int i = 0; i < n; i++) back += fabs(x[i]);
        norm = fmax(norm, sum), inverse = fmax(inverse, back);
    }
    free(x);
    return norm * inverse;
}

static int condition_found; // so many were compared
static int mixed_found;     // and so many solved with states and wrenches as unknowns
static bool mixed_wanted;   // wherever rods touch

// Is the estimate of the condition number a tenth to ten times the quotient of the singular values
// of D A D, with rows of norm 1?
static void check_condition(snw_elimination *e, const snw_tangent_at *at, rig *g, size_t n,
                            const double *A) {
    double *scratch = calloc(4 * n, sizeof *scratch), *d = calloc(n, sizeof *d),
           *B = calloc(2 * n * n, sizeof *B), *C = B + n * n, *value = calloc(n, sizeof *value);
    for (size_t i = 0; i < n; i++)
        d[i] = (int)i < g->m->nv ? sqrt(g->m->typical[i] / g->m->scale[i]) : 1;
    for (int k = 0; k < 8; k++) {
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) sum += pow(A[j * n + i] * d[j], 2);
            scratch[i] = d[i] * sqrt(sum);
        }
        for (size_t i = 0; i < n; i++) d[i] /= sqrt(scratch[i]);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) B[j * n + i] = d[i] * A[j * n + i] * d[j];
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < n; k++) C[j * n + i] += B[i * n + k] * B[j * n + k];
        }
    }
    const size_t size = snw_eigen_symmetric_scratch((int)n);
    snw_arena arena = {.base = malloc(size), .size = size};
    for (size_t i = 0; i < n * n; i++) B[i] = i % (n + 1) == 0;
    assert_int_equal(snw_eigen_symmetric((int)n, C, B, false, &arena, value), SNW_OK);
    const double exact = sqrt(value[n - 1] / value[0]),
                 got = snw_elimination_condition(e, at, g->w, scratch);
    // squares of the singular values have half of the digits
    if (!isnan(got) && value[0] > 1e-12 * value[n - 1] && !(got > 0.1 * exact && got < 10 * exact))
        fail_msg("condition %g, estimate %g", exact, got);
    condition_found += !isnan(got) && value[0] > 1e-12 * value[n - 1];
    free(arena.base);
    free(scratch), free(d), free(B), free(value);
}

// The dense tangent at the state of g, bordered by its constraint rows, and what the elimination
// makes of it.
static void check_equations(rig *g, dice *d, bool is_static, double cq, double cv, double ca,
                            int *solved) {
    const snw_model *m = g->m;
    const int nv = m->nv, n = nv + m->nconstraint;
    const size_t N = (size_t)n;
    const double rows = cq > 0 ? 3 : 1e-4; // scale of the rows: of the size of masses in M
    if (n == 0) return;
    double *T = calloc(2 * N * N + 5 * N, sizeof *T), *LU = T + N * N, *x = LU + N * N, *y = x + n,
           *want = y + n, *b = want + n, *diagonal = b + n;
    int *pivot = calloc(N, sizeof *pivot);
    snw_elimination *e;
    assert_int_equal(snw_elimination_create(m, &e), SNW_OK);
    snw_residual(m, g->in, g->s, is_static, g->w);
    snw_tangent_pass(m, NULL, g->w);
    snw_tangent_assemble(m, g->in, cq, cv, ca, g->w, T);
    snw_constraints_border(m, g->w, rows, T);
    const snw_tangent_at at = {.in = g->in, .cq = cq, .cv = cv, .ca = ca, .rows = rows};

    for (int i = 0; i < nv; i++) x[i] = roll(d, -1, 1) * m->typical[i];
    for (int i = 0; i < nv; i++) {
        want[i] = 0;
        for (int j = 0; j < nv; j++) want[i] += T[j * n + i] * x[j];
    }
    snw_elimination_product(e, &at, g->w, x, y);
    assert_true(differs(nv, y, want) < 1e-12); // rounding of sums over some hundred terms

    snw_elimination_diagonal(e, &at, g->w, diagonal);
    for (int i = 0; i < nv; i++) want[i] = T[i * (n + 1)];
    if (m->nforce_element + m->nloop + m->ntendon == 0 || (cq == 0 && cv == 0))
        assert_true(differs(nv, diagonal, want) < 1e-12);

    memcpy(LU, T, N * N * sizeof *T);
    // equilibria of free robots and rods without rotary inertia are singular
    if (snw_lu_factor(n, LU, pivot) != SNW_OK || !(condition(n, T, LU, pivot) < 1e12)) goto done;
    (*solved)++;
    if (m->most_touch) e->along_tree = mixed_wanted ? 1e30 : -1e30; // what a border seems to cost
    assert_int_equal(snw_elimination_make_room(e, g->w), SNW_OK);
    assert_int_equal(snw_elimination_factor(e, &at, g->w), SNW_OK);
    mixed_found += e->is_mixed;
    assert_int_equal(snw_elimination_sign(e), snw_lu_sign(n, LU, pivot));
    for (int i = 0; i < n; i++) want[i] = b[i] = roll(d, -1, 1) * (i < nv ? m->scale[i] : 1);
    snw_lu_solve(n, LU, pivot, want);
    snw_elimination_solve(e, b);
    check_condition(e, &at, g, N, T);
    const double rounding = 1e-15 * condition(n, T, LU, pivot);
    if (!(differs(n, b, want) < 1e-12 + rounding))
        fail_msg("%g, rounding %g", differs(n, b, want), rounding);
done:
    snw_elimination_destroy(e);
    free(T);
    free(pivot);
}

// Returns the number of systems solved, of three. Joints without springs may have no pivots of
// their own in equilibrium: `springs` tells that there are none of them.
static int check_state(rig *g, dice *d, bool springs) {
    int solved = 0;
    state_random(g->m, d, g->s);
    for (int i = 0; i < g->m->nconstraint; i++) g->s->lambda[i] = roll(d, -1, 1);
    snw_inputs_at(g->m, g->s->t, g->in);
    if (springs) check_equations(g, d, true, 1, 0, 0, &solved);
    check_equations(g, d, false, 1, 40, 900, &solved);
    check_equations(g, d, false, 0, 0, 1, &solved);
    return solved;
}

static void equations_of_random_rods(void **state) {
    (void)state;
    dice d = {31};
    int solved = 0;
    for (int i = 0; i < 24; i++) {
        robot r;
        rig g;
        robot_random(&r, &d, i % 3 == 0 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, i % 2 == 0);
        rig_open(&g, &r.desc);
        solved += check_state(&g, &d, true);
        rig_close(&g);
        robot_free(&r);
    }
    assert_true(solved > 40);
    assert_true(condition_found > 40);
}

static void equations_of_random_trees(void **state) {
    (void)state;
    dice d = {32};
    int solved = 0;
    for (int i = 0; i < 24; i++) {
        rig g;
        tree t;
        tree_random(&t, &d,
                    (tree_opts){.nlink = pick_int(&d, 2, 8),
                                .kind = (tree_kind)(i % 3),
                                .floating = i / 3 % 3 == 0});
        rig_open(&g, &t.r.desc);
        solved += check_state(&g, &d, false);
        rig_close(&g);
        robot_free(&t.r);
    }
    assert_true(solved > 30);
}

// ---- local models -------------------------------------------------------------------------------

// A branched robot with bases of every local kind: in water, on the ground, pushed at its tips.
static const char robot_text[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {gel: {young: 2 MPa, poisson: 0.45, density: 1200, damping: 4 ms}}\n"
    "robot:\n"
    "  trunk: {on: world, pose: {xyz: [0, 0, 5 cm]}, rod: {length: 40 cm,"
    " section: {circle: {radius: 8 mm}}, material: gel, strain: kirchhoff linear, elements: 6}}\n"
    "  elbow: {on: trunk.tip, joint: revolute, axis: y, stiffness: 0.1, damping: 0.01}\n"
    "  arm: {on: elbow, rod: {length: 30 cm, section: {circle: {radius: 6 mm}}, material: gel,"
    " strain: {bend_y: quadratic, bend_z: constant, twist: spline 2}, elements: 5}}\n"
    "  hand: {on: arm.tip, joint: spherical, stiffness: 0.05, damping: 0.002,"
    " body: {mass: 20 g, inertia: [1e-6, 2e-6, 3e-6], com: [5 mm, 0, 1 mm]}}\n"
    "  twig: {on: trunk@60%, rod: {length: 20 cm, section: {circle: {radius: 5 mm}},"
    " material: gel, strain: {bend_y: discontinuous 2, stretch: linear}, elements: 4}}\n"
    "loads:\n"
    "  push: {on: arm.tip, force: [20 mN*t, 30 mN, 0]}\n"
    "  pull: {on: twig.tip, force: [0, 0, 50 mN], frame: body}\n"
    "  wind: {along: trunk, force: [0, 0.1 N/m, 0]}\n"
    "actuators:\n"
    "  wire: {tendon: {along: trunk, at: [0, 4 mm, 2 mm + 3 mm*x/L]}, effort: 1 N}\n"
    "  line: {tendon: {along: twig, at: [0, 0, -3 mm]}, effort: 0.4 N}\n"
    "  bag: {chamber: {along: arm, at: [0, 0, 3 mm], area: 20 mm^2}, effort: 10 kPa}\n"
    "fluid: {water: {on: [trunk, arm, twig], density: 1000, added: auto, buoyancy: on,"
    " drag: {normal: 1.1, tangent: 0.02}}}\n"
    "contacts: {floor: {ground: {on: [trunk, arm], normal: [0, 0, 1], at: [0, 0, 0],"
    " stiffness: 2 kPa, damping: 1, friction: 0.3, creep: 0.01}}}\n";

// The same with everything that couples distant segments: springs, cables, dampers and bushings
// between links and to the world, loops of several kinds, given lengths and elastic tendons, a
// driven joint, a mimicking one, fields.
static const char coupled_text[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {gel: {young: 20 MPa, poisson: 0.45, density: 1200, damping: 4 ms}}\n"
    "robot:\n"
    "  trunk: {on: world, pose: {xyz: [0, 0, 5 cm]}, rod: {length: 40 cm, section: {circle:"
    " {radius: 8 mm}}, material: gel, strain: kirchhoff linear, elements: 6}}\n"
    "  elbow: {on: trunk.tip, joint: revolute, axis: y, stiffness: 0.1, damping: 0.01}\n"
    "  arm: {on: elbow, rod: {length: 30 cm, section: {circle: {radius: 6 mm}}, material:"
    " gel, strain: {bend_y: quadratic, bend_z: constant, twist: spline 2}, elements: 5}}\n"
    "  hand: {on: arm.tip, joint: spherical, stiffness: 0.05, damping: 0.002, body: {mass:"
    " 20 g, inertia: [1e-6, 2e-6, 3e-6], com: [5 mm, 0, 1 mm]}}\n"
    "  twig: {on: trunk@60%, rod: {length: 20 cm, section: {circle: {radius: 5 mm}},"
    " material: gel, strain: {bend_y: discontinuous 2, bend_z: linear, stretch: linear},"
    " elements: 4}}\n"
    "  leaf: {on: twig.tip, joint: revolute, axis: z, stiffness: 0.02, damping: 0.001, body:"
    " {mass: 5 g, inertia: [1e-6, 1e-6, 1e-6]}}\n"
    "springs:\n"
    "  inner: {spring: [trunk@30%, arm@70%], rest: 0.45, stiffness: 4, damping: 0.3}\n"
    "  outer: {spring: [{xyz: [0.2, 0.1, 0.3]}, hand], rest: 0.5, stiffness: 3}\n"
    "  stay: {cable: [twig.tip, arm@50%], rest: 0.05, stiffness: 6, damping: 0.05, smooth: 3"
    " cm}\n"
    "  dash: {damper: [trunk.tip, leaf], damping: 0.2}\n"
    "  mount: {bushing: [twig@50%, hand], stiffness: [3e-3, 5e-3, 7e-3, 0.3, 0.4, 0.5],"
    " damping: [2e-4, 3e-4, 4e-4, 0.3, 0.4, 0.5]}\n"
    "loops:\n"
    "  pin: {join: [world, twig@50%], as: spherical, pose: {xyz: [0.34, 5 mm, 6 cm]}}\n"
    "  weld: {join: [arm@20%, leaf], as: revolute, axis: y, pose: {xyz: [-2 cm, 4 mm, 3"
    " mm]}}\n"
    "actuators:\n"
    "  wire: {tendon: {along: trunk, at: [0, 4 mm, 2 mm + 3 mm*x/L]}, effort: 1 N}\n"
    "  line: {tendon: {along: [trunk, twig], at: [0, 3 mm, -3 mm]}, shortening: 0.5 mm}\n"
    "  winch: {tendon: {along: arm, at: [0, 2 mm, 2 mm], compliance: 3e-2 1/N}, shortening:"
    " 3 mm}\n"
    "  bag: {chamber: {along: arm, at: [0, 0, 3 mm], area: 20 mm^2}, effort: 10 kPa}\n"
    "fields:\n"
    "  push: {force: [0.1 N/m, 0.2 N/m*sin(y/(1 m)), 0 N/m], links: [trunk, twig]}\n";

// Stops of joints, tendons with straight segments of given tension, given length and compliance,
// and contact of the rods with each other and of one with itself, with friction and damping; wide
// onsets, so that all act everywhere.
static const char touching_text[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {gel: {young: 100 MPa, poisson: 0.45, density: 1200, damping: 4 ms}}\n"
    "robot:\n"
    "  trunk: {on: world, pose: {xyz: [0, 0, 5 cm]}, rod: {length: 40 cm, section: {circle:"
    " {radius: 8 mm}}, material: gel, strain: kirchhoff linear, elements: 2}}\n"
    "  elbow: {on: trunk.tip, joint: revolute, axis: y, stiffness: 0.1, damping: 0.01,"
    " limits: [-0.5, 0.2], stop: {stiffness: 0.3, damping: 0.1, smooth: 0.6}}\n"
    "  arm: {on: elbow, rod: {length: 30 cm, section: {circle: {radius: 6 mm}}, material:"
    " gel, strain: {bend_y: quadratic, bend_z: constant, twist: spline 2}, elements: 2}}\n"
    "  hand: {on: arm.tip, joint: spherical, stiffness: 0.05, damping: 0.002, limits: 20 deg,"
    " stop: {stiffness: 0.2, damping: 0.05, smooth: 0.3}, body: {mass:"
    " 20 g, inertia: [1e-6, 2e-6, 3e-6], com: [5 mm, 0, 1 mm]}}\n"
    "  twig: {on: trunk@60%, rod: {length: 20 cm, section: {circle: {radius: 5 mm}},"
    " material: gel, strain: {bend_y: discontinuous 2, bend_z: linear, stretch: linear},"
    " elements: 1}}\n"
    "sites:\n"
    "  winch: {on: world, pose: {xyz: [-5 cm, 3 cm, 10 cm]}}\n"
    "  eye: {on: arm@40%, pose: {xyz: [0, 3 cm, 2 cm]}}\n"
    "  hook: {on: hand, pose: {xyz: [2 cm, 4 cm, -3 cm]}}\n"
    "actuators:\n"
    "  through: {tendon: {path: [winch, trunk, eye, hook, twig], at: [0, 3 mm, 4 mm]}, effort: 0.1"
    " N}\n"
    "  line: {tendon: {path: [winch, eye, hook, twig.tip]}, shortening: 0.1 mm}\n"
    "  soft: {tendon: {path: [hook, twig, winch], at: [0, 2 mm, 2 mm], compliance: 3e-2 1/N},"
    " shortening: 1 mm}\n"
    "contacts:\n"
    "  rods: {rods: {between: [trunk, twig], stiffness: 30 Pa, crossing: 0.3, damping: 0.05,"
    " friction: 0.6, creep: 0.7, smooth: 20 cm}}\n"
    "  own: {rods: {between: arm, stiffness: 20 Pa, crossing: 0.2, damping: 0.04,"
    " friction: 0.3, creep: 0.5, smooth: 20 cm}}\n";

// Tendons with Coulomb's and with viscous friction, of given tension: along all of a rod, along a
// part of one, beside others without friction; also one whose rod has functions that jump. A spring
// and a loop are the border.
static const char rubbed_text[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {gel: {young: 20 MPa, poisson: 0.45, density: 1200, damping: 4 ms}}\n"
    "robot:\n"
    "  trunk: {on: world, pose: {xyz: [0, 0, 5 cm]}, rod: {length: 40 cm, section: {circle:"
    " {radius: 8 mm}}, material: gel, strain: kirchhoff linear, elements: 6,"
    " rest: {bend_y: 4, bend_z: 2*x/L}}}\n"
    "  elbow: {on: trunk.tip, joint: revolute, axis: y, stiffness: 0.1, damping: 0.01}\n"
    "  arm: {on: elbow, rod: {length: 30 cm, section: {circle: {radius: 6 mm}}, material:"
    " gel, strain: {bend_y: quadratic, bend_z: constant, twist: spline 2}, elements: 5,"
    " rest: {bend_z: -5}}}\n"
    "  twig: {on: trunk@60%, rod: {length: 20 cm, section: {circle: {radius: 5 mm}},"
    " material: gel, strain: {bend_y: discontinuous 2, stretch: linear}, elements: 4, rest: "
    "{bend_y: 6}}}\n"
    "springs:\n"
    "  inner: {spring: [trunk@30%, arm@70%], rest: 0.45, stiffness: 4, damping: 0.3}\n"
    "loops:\n"
    "  pin: {join: [world, twig@50%], as: spherical, pose: {xyz: [0.34, 5 mm, 6 cm]}}\n"
    "actuators:\n"
    "  wire: {tendon: {along: trunk, at: [0, 4 mm, 2 mm + 3 mm*x/L], friction: 0.3, creep: 1 mm/s,"
    " sliding: 0.8}, effort: 8 N}\n"
    "  oil: {tendon: {along: trunk, at: [0, -4 mm, 3 mm], from: 12 cm, to: 31 cm, viscous: 40 s/m},"
    " effort: 5 N}\n"
    "  both: {tendon: {along: arm, at: [0, 3 mm*sin(9*x/L), 3 mm*cos(9*x/L)], friction: 0.2, creep:"
    " 2 mm/s, viscous: 20 s/m, sliding: -1}, effort: 3 N}\n"
    "  line: {tendon: {along: arm, at: [0, 2 mm, 2 mm], compliance: 3e-2 1/N}, shortening: 5 mm}\n"
    "  short: {tendon: {along: twig, at: [0, 0, -3 mm], friction: 0.4, creep: 1 mm/s, sliding: 1},"
    " effort: 1 N}\n"
    "  winch: {tendon: {along: trunk, at: [0, 3 mm, -2 mm], friction: 0.4, creep: 2 mm/s, viscous:"
    " 10 s/m, sliding: -0.7, extra: 5 cm, compliance: 4e-3 1/N}, shortening: 8 mm + 0.1*t}\n"
    "  drum: {tendon: {along: arm, at: [0, -3 mm, 2 mm], friction: 0.3, creep: 1 mm/s, sliding: 1,"
    " compliance: 2e-2 1/N}, shortening: 9 mm + 0.05*t}\n";

// The same of tendons that pass from rod to rod, across a hinge and round corners in the air.
static const char roaming_text[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {gel: {young: 20 MPa, poisson: 0.45, density: 1200, damping: 4 ms}}\n"
    "robot:\n"
    "  trunk: {on: world, pose: {xyz: [0, 0, 5 cm]}, rod: {length: 40 cm, section: {circle:"
    " {radius: 8 mm}}, material: gel, strain: kirchhoff linear, elements: 5,"
    " rest: {bend_y: 4, bend_z: 2*x/L}}}\n"
    "  upper: {on: trunk.tip, rod: {length: 20 cm, section: {circle: {radius: 7 mm}},"
    " material: gel, strain: cosserat linear, elements: 3, rest: {bend_y: -3}}}\n"
    "  elbow: {on: upper.tip, joint: revolute, axis: y, stiffness: 0.1, damping: 0.01}\n"
    "  arm: {on: elbow, rod: {length: 30 cm, section: {circle: {radius: 6 mm}}, material: gel,"
    " strain: {bend_y: quadratic, bend_z: constant, twist: spline 2}, elements: 4,"
    " rest: {bend_z: -5}}}\n"
    "  hand: {on: arm.tip, joint: spherical, stiffness: 0.05, damping: 0.002, body: {mass:"
    " 20 g, inertia: [1e-6, 2e-6, 3e-6], com: [5 mm, 0, 1 mm]}}\n"
    "sites:\n"
    "  winch: {on: world, pose: {xyz: [-5 cm, 3 cm, 10 cm]}}\n"
    "  eye: {on: arm@40%, pose: {xyz: [0, 3 cm, 2 cm]}}\n"
    "  hook: {on: hand, pose: {xyz: [2 cm, 4 cm, -3 cm]}}\n"
    "actuators:\n"
    "  wire: {tendon: {along: [trunk, upper], at: [0, 4 mm, 2 mm], friction: 0.3, creep: 1 mm/s,"
    " sliding: 0.8}, effort: 6 N}\n"
    "  oil: {tendon: {along: [upper, arm], at: [0, -4 mm, 3 mm], viscous: 40 s/m}, effort: 5 N}\n"
    "  air: {tendon: {path: [winch, eye, hook], friction: 0.2, creep: 2 mm/s, sliding: 1},"
    " effort: 1 N}\n"
    "  both: {tendon: {path: [winch, trunk, eye, hook], at: [0, 3 mm, 4 mm], friction: 0.2, creep:"
    " 2 mm/s, viscous: 20 s/m, sliding: -1}, effort: 2 N}\n"
    "  own: {tendon: {along: trunk, at: [0, 0, -4 mm], friction: 0.2, creep: 2 mm/s, sliding: 1},"
    " effort: 3 N}\n"
    "  plain: {tendon: {path: [winch, eye, hook]}, effort: 0.1 N}\n"
    "  drum: {tendon: {path: [winch, trunk, eye, hook], at: [0, -3 mm, 2 mm], friction: 0.3, creep:"
    " 1 mm/s, viscous: 10 s/m, sliding: 0.9, extra: 10 cm, compliance: 3e-3 1/N},"
    " shortening: 10 mm + 0.1*t}\n"
    "  cord: {tendon: {along: [trunk, upper], at: [0, -4 mm, 2 mm], friction: 0.2, creep: 1 mm/s,"
    " sliding: -1, compliance: 1e-2 1/N}, shortening: 9 mm - 0.02*t}\n";

typedef struct pair {
    snw_document *doc;
    snw_desc *desc;
    snw_model *dense, *local;
} pair;

static void pair_open(pair *p, const char *text) {
    snw_error err = {0};
    if (describe(text, &p->doc, &p->desc, &err) != SNW_OK)
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    if (snw_projection_compile(p->desc, &p->dense, &err) != SNW_OK ||
        snw_projection_compile_for(p->desc, SNW_USE_LOCAL, &p->local, &err) != SNW_OK)
        fail_msg("%s", err.text);
    assert_true(p->local->local && !p->dense->local);
}

static void pair_close(pair *p) {
    snw_model_destroy(p->dense);
    snw_model_destroy(p->local);
    release(p->doc, p->desc);
}

// tangent of local bases, fluid and ground
static void equations_of_local_bases(void **state) {
    (void)state;
    dice d = {33};
    pair p;
    pair_open(&p, robot_text);
    rig g = {.m = p.dense};
    rig_around(&g);
    for (int i = 0; i < 4; i++) assert_int_equal(check_state(&g, &d, true), 3);
    g.m = NULL;
    rig_close(&g);
    pair_close(&p);
}

// tangent of forces between distant segments, with constraint rows
static void equations_of_coupled_segments(void **state) {
    (void)state;
    dice d = {34};
    pair p;
    pair_open(&p, coupled_text);
    rig g = {.m = p.dense};
    rig_around(&g);
    assert_true(p.dense->nconstraint >= 9);
    for (int i = 0; i < 4; i++) assert_int_equal(check_state(&g, &d, true), 3);
    g.m = NULL;
    rig_close(&g);
    pair_close(&p);
}

// tangent of stops, straight tendons and rods that touch
static void equations_of_touching_rods(void **state) {
    (void)state;
    dice d = {35};
    pair p;
    pair_open(&p, touching_text);
    rig g = {.m = p.dense};
    rig_around(&g);
    int touches = 0, stops = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(check_state(&g, &d, true), 3);
        touches += g.w->ntouch;
        for (int k = 0; k < p.dense->nstop; k++) stops += g.w->stop[k].elastic_force > 0;
    }
    if (!(touches > 20 && stops > 4)) fail_msg("%d touches, %d stops", touches, stops);
    // the same with states and wrenches as unknowns, beside a border of tendons
    mixed_found = 0;
    mixed_wanted = true;
    for (int i = 0; i < 4; i++) assert_int_equal(check_state(&g, &d, true), 3);
    mixed_wanted = false;
    assert_int_equal(mixed_found, 8);
    g.m = NULL;
    rig_close(&g);
    pair_close(&p);
}

// tangent of tendons with friction, also where it does not act
static void equations_of_tendons_with_friction(void **state) {
    (void)state;
    dice d = {36};
    pair p;
    pair_open(&p, rubbed_text);
    rig g = {.m = p.dense};
    rig_around(&g);
    int acting = 0, pulling = 0; // winches
    for (int i = 0; i < 4; i++) {
        assert_int_equal(check_state(&g, &d, true), 3);
        for (int k = 0; k < p.dense->ntendon; k++) {
            const snw_tendon *x = &p.dense->tendon[k];
            const double left = g.w->tendon_point[x->point_adr + x->npoint - 1].tension_fraction;
            acting += fabs(left - 1) > 0.01;
            pulling += x->row < 0 && snw_gives_motion(x->given) && x->has_friction &&
                       g.w->tendon[k].effort > 0.1 && fabs(left - 1) > 0.01;
        }
    }
    if (!(acting > 8 && pulling >= 4))
        fail_msg("friction changes the tension of %d tendons, %d winches", acting, pulling);
    g.m = NULL;
    rig_close(&g);
    pair_close(&p);
}

// tangent of those that leave their rods
static void equations_of_tendons_from_rod_to_rod(void **state) {
    (void)state;
    dice d = {37};
    pair p;
    pair_open(&p, roaming_text);
    rig g = {.m = p.dense};
    rig_around(&g);
    mixed_found = 0;
    int acting = 0, pulling = 0; // winches
    for (int i = 0; i < 4; i++) {
        assert_int_equal(check_state(&g, &d, true), 3);
        for (int k = 0; k < p.dense->ntendon; k++) {
            const snw_tendon *x = &p.dense->tendon[k];
            const double left = g.w->tendon_point[x->point_adr + x->npoint - 1].tension_fraction;
            acting += fabs(left - 1) > 0.01;
            pulling += x->row < 0 && snw_gives_motion(x->given) && x->has_friction &&
                       g.w->tendon[k].effort > 0.1 && fabs(left - 1) > 0.01;
        }
    }
    assert_int_equal(mixed_found, 8);
    if (!(acting > 12 && pulling >= 4))
        fail_msg("friction changes the tension of %d tendons, %d winches", acting, pulling);
    g.m = NULL;
    rig_close(&g);
    pair_close(&p);
}

// Increments of the load may differ: their length is measured by typical stiffnesses, not by the
// diagonal of the matrix.
static void compare_equilibria(const char *text, double most) {
    pair p;
    pair_open(&p, text);
    const snw_model *const of[2] = {p.dense, p.local};
    snw_state *at[2];
    snw_statics_info info[2];
    for (int k = 0; k < 2; k++) {
        snw_statics *st;
        snw_error err = {0};
        const snw_statics_opts opts = snw_statics_defaults();
        assert_int_equal(snw_statics_create(of[k], &st), SNW_OK);
        assert_int_equal(snw_state_create(of[k], &at[k]), SNW_OK);
        memcpy(at[k]->q, of[k]->q0, (size_t)of[k]->nq * sizeof(double));
        snw_statics_reset(st);
        if (snw_statics_solve(st, 0, &opts, at[k], &info[k], &err) != SNW_OK)
            fail_msg("%s", err.text);
        snw_statics_destroy(st);
    }
    assert_near(differs(p.dense->nq, at[1]->q, at[0]->q), 0, most);
    if (p.dense->nconstraint)
        assert_near(differs(p.dense->nconstraint, at[1]->lambda, at[0]->lambda), 0, 100 * most);
    snw_state_destroy(at[0]);
    snw_state_destroy(at[1]);
    pair_close(&p);
}

static void equilibria_are_those_of_the_matrix(void **state) {
    (void)state;
    compare_equilibria(robot_text, 1e-12);
    compare_equilibria(coupled_text, 1e-11); // residuals of both are below 1e-10 of typical forces
    compare_equilibria(touching_text, 1e-11);
    compare_equilibria(rubbed_text, 1e-11);
}

// Stability of the equilibria of a model that is local and dense.
static void compare_stability(const char *text, double most, int *unstable) {
    pair p;
    pair_open(&p, text);
    const snw_model *const of[2] = {p.dense, p.local};
    snw_stability found[2];
    double *dx[2];
    for (int k = 0; k < 2; k++) {
        snw_statics *st;
        snw_state *at;
        snw_error err = {0};
        snw_statics_info info;
        snw_statics_opts opts = snw_statics_defaults();
        opts.follow = true; // stay in unstable equilibria
        assert_int_equal(snw_statics_create(of[k], &st), SNW_OK);
        assert_int_equal(snw_state_create(of[k], &at), SNW_OK);
        dx[k] = calloc((size_t)of[k]->nv, sizeof *dx[k]);
        memcpy(at->q, of[k]->q0, (size_t)of[k]->nq * sizeof(double));
        snw_statics_reset(st);
        if (snw_statics_solve(st, 0, &opts, at, &info, &err) != SNW_OK) fail_msg("%s", err.text);
        const size_t count = snw_alloc_count();
        found[k] = snw_statics_stability(st, at);
        const snw_stability again = snw_statics_direction(st, at, dx[k]);
        assert_int_equal(again.negative, found[k].negative);
        assert_true(snw_alloc_count() == count);
        snw_state_destroy(at);
        snw_statics_destroy(st);
    }
    assert_int_equal(found[1].negative, found[0].negative);
    assert_near(found[1].value, found[0].value, most);
    if (found[0].negative > 0) // of an eigenvalue 1e-10 away; directions have its root
        assert_near(differs(p.dense->nv, dx[1], dx[0]), 0, 1e-4);
    *unstable = found[0].negative;
    free(dx[0]);
    free(dx[1]);
    pair_close(&p);
}

// Columns under their buckling load and above the first three ones, alone, propped by a spring,
// guided at a quarter by a loop; and a robot with everything.
static void stability_is_that_of_the_matrix(void **state) {
    (void)state;
    static const char column[] =
        "sinew: 1\ngravity: 0\n"
        "materials: {gel: {young: 2 MPa, poisson: 0.45, density: 1200}}\n"
        "robot:\n"
        "  column: {on: world, pose: {rpy: [0, -90 deg, 0]}, rod: {length: 40 cm,"
        " section: {rectangle: {y: 8 mm, z: 9 mm}}, material: gel,"
        " strain: {bend_y: linear, bend_z: linear, stretch: linear}, elements: 6}}\n"
        "loads: {weight: {on: column.tip, force: [0, 0, %g N]}}\n%s";
    static const char spring[] =
        "springs: {prop: {spring: [{xyz: [0.2, 0, 0.4]}, column.tip], rest: 0.2, stiffness: 2}}\n";
    static const char loop[] = "loops: {pin: {join: [world, column@25%], as: cylindrical, axis: x,"
                               " pose: {xyz: [0, 0, 0.1], rpy: [0, -90 deg, 0]}}}\n";
    static const char *const holds[] = {"", spring, loop};
    int most = 0;
    for (int i = 0; i < 9; i++) {
        char text[2000];
        int unstable;
        const double euler = 2e6 * 9e-3 * pow(8e-3, 3) / 12 * pow(1.5707963 / 0.4, 2);
        (void)snprintf(text, sizeof text, column,
                       -euler * (i % 3 == 0   ? 0.7
                                 : i % 3 == 1 ? 5
                                              : 12),
                       holds[i / 3]);
        compare_stability(text, 1e-8, &unstable);
        if (unstable > most) most = unstable;
        assert_true(i % 3 > 0 || unstable == 0);
    }
    assert_true(most >= 2);
    compare_stability(coupled_text, 1e-8, &most);
    compare_stability(touching_text, 1e-8, &most);
}

// Error of the bases of a robot of 200 to 600 coordinates, whose richer model has elements divided
// in two with a matrix and without: in equilibrium, and with its loop as a linear response to the
// forces of an instant (without loops the dense estimate fixes the present coordinates, and
// differs).
static void errors_of_bases_are_those_of_the_matrix(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: [0, 0, -9.81]\n"
        "materials: {gel: {young: 20 MPa, poisson: 0.45, density: 1200, damping: 4 ms}}\n"
        "robot:\n"
        "  arm: {on: world, rod: {length: 40 cm, section: {circle: {radius: 8 mm}}, material: gel,"
        " strain: {bend_y: linear, bend_z: %s}, elements: 60}}\n"
        "  elbow: {on: arm.tip, joint: revolute, axis: y, stiffness: 0.1, damping: 0.01}\n"
        "  hand: {on: elbow, rod: {length: 20 cm, section: {circle: {radius: 6 mm}}, material: gel,"
        " strain: {bend_y: spline 2, twist: discontinuous 1}, elements: 40}}\n"
        "loads: {push: {on: arm@41%%, force: [0, 2 N, 1 N]}, turn: {on: hand.tip, torque: [5 mN*m, "
        "0, 0]}}\n%s";
    static const char *const basis[] = {"linear", "constant"};
    static const char *const loops[] = {
        "", "loops: {pin: {join: [world, hand@37%], as: spherical, pose: {xyz: [0.45, 0, 0]}}}\n"};
    for (int k = 0; k < 4; k++) {
        char model[2000];
        (void)snprintf(model, sizeof model, text, basis[k % 2], loops[k / 2]);
        pair p;
        pair_open(&p, model);
        assert_true(p.dense->nv > 200);
        snw_state *at;
        snw_statics *st;
        snw_statics_info info;
        snw_error err = {0};
        const snw_statics_opts opts = snw_statics_defaults();
        assert_int_equal(snw_statics_create(p.local, &st), SNW_OK);
        assert_int_equal(snw_state_create(p.local, &at), SNW_OK);
        memcpy(at->q, p.local->q0, (size_t)p.local->nq * sizeof(double));
        snw_statics_reset(st);
        if (snw_statics_solve(st, 0, &opts, at, &info, &err) != SNW_OK) fail_msg("%s", err.text);
        snw_truncation *of[2];
        snw_truncation_gap gap;
        assert_int_equal(snw_truncation_create(p.dense, &of[0], &gap), SNW_OK);
        assert_int_equal(snw_truncation_create(p.local, &of[1], &gap), SNW_OK);
        assert_non_null(of[0]);
        assert_non_null(of[1]);
        snw_truncation_info found[2];
        for (int moves = 0; moves <= (k >= 2); moves++) {
            dice d = {91};
            for (int i = 0; moves && i < p.local->nv; i++) {
                at->v[i] = roll(&d, -1, 1) * p.local->typical[i];
                at->a[i] = 10 * roll(&d, -1, 1) * p.local->typical[i];
            }
            for (int i = 0; i < 2; i++)
                snw_truncation_estimate(of[i], at,
                                        moves ? SNW_TRUNCATION_MOTION : SNW_TRUNCATION_REST, false,
                                        &found[i]);
            print_message("%.8g %.8g of rod %d %d\n", found[0].relative, found[1].relative,
                          found[0].rod, found[1].rod);
            assert_true(found[0].relative > 1e-9 && !found[0].lower_bound && !found[1].lower_bound);
            // rounding of positions of half a metre by differences of 1e-16, and of solutions
            assert_near(found[1].relative, found[0].relative, 1e-5 * found[0].relative + 1e-12);
            assert_int_equal(found[1].rod, found[0].rod);
            for (int i = 0; i < 6; i++) assert_int_equal(found[1].strain[i], found[0].strain[i]);
        }
        snw_truncation_destroy(of[0]);
        snw_truncation_destroy(of[1]);
        snw_statics_destroy(st);
        snw_state_destroy(at);
        pair_close(&p);
    }
}

// steps from rest, with a chart of the spherical joint
static void compare_steps(const char *text, double h) {
    enum { STEPS = 12 };
    pair p;
    pair_open(&p, text);
    const snw_model *const of[2] = {p.dense, p.local};
    snw_implicit *im[2];
    snw_error err = {0};
    for (int k = 0; k < 2; k++) {
        snw_state *s;
        const snw_implicit_opts opts = snw_implicit_defaults();
        assert_int_equal(snw_implicit_create(of[k], &opts, &im[k]), SNW_OK);
        assert_int_equal(snw_state_create(of[k], &s), SNW_OK);
        memcpy(s->q, of[k]->q0, (size_t)of[k]->nq * sizeof(double));
        if (snw_implicit_start(im[k], s, &err) != SNW_OK) fail_msg("%s", err.text);
        snw_state_destroy(s);
    }
    assert_true(differs(p.dense->nv, snw_implicit_state(im[1])->a, snw_implicit_state(im[0])->a) <
                1e-9); // of the condition of the mass matrix
    for (int i = 0; i < STEPS; i++) {
        snw_chord_info info[2];
        for (int k = 0; k < 2; k++)
            assert_int_equal(snw_implicit_step(im[k], h, h * (i + 1), &info[k]), SNW_OK);
        assert_int_equal(info[0].iterations, info[1].iterations);
        assert_int_equal(info[0].tangents, info[1].tangents);
    }
    assert_true(differs(p.dense->nq, snw_implicit_state(im[1])->q, snw_implicit_state(im[0])->q) <
                1e-10); // what chord iterations leave
    snw_implicit_destroy(im[0]);
    snw_implicit_destroy(im[1]);
    pair_close(&p);
}

static void steps_are_those_of_the_matrix(void **state) {
    (void)state;
    compare_steps(robot_text, 2e-3);
    compare_steps(coupled_text, 2e-4);
    compare_steps(touching_text, 1e-4);
    compare_steps(rubbed_text, 2e-4);
    compare_steps(roaming_text, 2e-4);
}

// Ten times the elements, ten times the operations; also with a border, which grows with the number
// of its unknowns only.
static double operations_of(int elements, const char *more, int *border) {
    char text[2000];
    snw_error err = {0};
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_elimination *e;
    (void)snprintf(text, sizeof text,
                   "sinew: 1\nmaterials: {gel: {young: 2 MPa, poisson: 0.45, density: 1200}}\n"
                   "robot:\n  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 8 "
                   "mm}}, material: gel, nodes: %d, strain: kirchhoff linear, elements: %d}}\n%s",
                   3 * elements, elements, more);
    if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_model_compile_for(desc, SNW_USE_LOCAL, &m, &err), SNW_OK);
    assert_int_equal(snw_elimination_create(m, &e), SNW_OK);
    assert_true(m->rod[0].row[m->nv] < 40 * (size_t)m->nv); // entries of K
    const double operations = snw_elimination_operations(e);
    *border = m->nconstraint + 12 * m->nforce_element;
    snw_elimination_destroy(e);
    snw_model_destroy(m);
    release(doc, desc);
    return operations;
}

static void cost_is_linear(void **state) {
    (void)state;
    static const char all[] =
        "springs: {stay: {spring: [arm@30%, arm.tip], rest: 0.5, stiffness: 2}}\n"
        "loops: {pin: {join: [world, arm@80%], as: spherical, pose: {xyz: [0.8, 0, 0]}}}\n"
        "actuators: {wire: {tendon: {along: arm, at: [0, 4 mm, 0]}, shortening: 1 mm}}\n";
    static const char touching[] =
        "sites: {post: {on: world, pose: {xyz: [0.5, 0.1, 0.1]}}}\n"
        "actuators: {line: {tendon: {path: [arm, post, arm.tip], to: L/2}, effort: 1}}\n"
        "contacts: {own: {rods: {between: arm, stiffness: 1 kPa}}}\n";
    static const char rubbed[] =
        "actuators: {wire: {tendon: {along: arm, at: [0, 4 mm, 0], friction: 0.3}, effort: 1 N}}\n";
    static const char *const more[] = {"", all, touching, rubbed};
    for (int k = 0; k < 4; k++) {
        int border;
        const double few = operations_of(30, more[k], &border),
                     many = operations_of(300, more[k], &border);
        assert_int_equal(border, k == 1 ? 12 + 3 + 1 : 0);
        assert_true(many < 10.1 * few);
    }
}

// Studies of a rod with a matrix and of one with more elements, which is local: a column that
// buckles and is left for the bent shape, its stability, and its fall when the load is taken off.
static void studies_of_both_kinds_agree(void **state) {
    (void)state;
    outcome o[2];
    for (int k = 0; k < 2; k++) {
        char text[2000];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "materials: {gel: {young: 2 MPa, poisson: 0.45, density: 1200}}\n"
                       "robot:\n  column: {on: world, rod: {length: 40 cm, section: {circle:"
                       " {radius: 8 mm}}, material: gel, strain: {bend_z: linear}, elements: %d}}\n"
                       "loads: {push: {on: column.tip, force: [-0.25 N, 0, 0]}}\n"
                       "study: [static:, change: {push: off}, dynamic: {for: 3 ms, step: 1 ms}]\n"
                       "probes: {tip: {position: column.tip}, least: stability}\n",
                       k ? 320 : 80);
        execute_ok(text, &o[k]);
        assert_non_null(strstr(o[k].first, "left for a stable one"));
    }
    assert_int_equal(o[0].series.nframe, o[1].series.nframe);
    for (int c = 0; c < 2; c++) // error of 80 elements
        assert_near(last(&o[1], c), last(&o[0], c), 2e-7);
    assert_near(shown(&o[1], 0, 3), shown(&o[0], 0, 3), 1e-5);
    assert_true(shown(&o[1], 0, 3) > 0.1);
    // both have an estimate of the error of their bases, 16 times smaller with elements a quarter
    // as long
    assert_string_equal(o[0].noted, "");
    assert_string_equal(o[1].noted, "");
    print_message("error of 80 and 320 elements: %.3g, %.3g\n", o[0].totals.worst_truncation,
                  o[1].totals.worst_truncation);
    assert_true(o[1].totals.worst_truncation > 0);
    assert_true(o[1].totals.worst_truncation < 0.1 * o[0].totals.worst_truncation);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

// A winch shortens an elastic tendon with friction along a long rod that is straight without it.
// With the tension T along a planar rod EI kappa = T d and T' = -mu sigma kappa T, so that T =
// T_0/s with s = 1 + b x, b = mu sigma d T_0/EI; and the unstretched lengths sum to the length paid
// out,
//   int (1 - d kappa)/(1 + k T) dx = int (s - A)/(s + B) ds/b,   A = T_0 d^2/EI, B = k T_0.
static double paid_out_for(double T, double sigma) {
    const double d = 8e-3, EI = 0.02, k = 2e-3, L = 0.5, extra = 0.1, mu = 0.4;
    const double b = mu * sigma * d * T / EI, A = T * d * d / EI, B = k * T, end = 1 + b * L;
    return (b * L - (A + B) * log((end + B) / (1 + B))) / b + extra / (1 + B);
}

static void winches_with_friction_bend_long_rods(void **state) {
    (void)state;
    enum { TURN = 4, WINCH = 16, END = 17 };
    const double T = 4, d = 8e-3, EI = 0.02, L = 0.5, mu = 0.4;
    for (int k = 0; k < 2; k++) {
        const double sigma = k ? -0.6 : 1;
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot: {arm: {on: world, rod: {length: 0.5, section: {stiffness: {bend_y: "
                       "0.02}}, strain: {bend_y: linear}, elements: 500, nodes: 500}}}\n"
                       "actuators: {cord: {tendon: {along: arm, at: [0, 0, 8 mm], friction: 0.4, "
                       "sliding: %g, extra: 0.1, compliance: 2e-3 1/N}, shortening: %.17g}}\n"
                       "study: [static:]\n"
                       "probes: {rot: {rotation: arm.tip}, winch: {tension: cord}, end: {tension: "
                       "cord.tip}}\n",
                       sigma, 0.6 - paid_out_for(T, sigma));
        execute_ok(text, &o);
        const double s = mu * sigma, lost = s * d * T / EI;
        // the angle is rounded by 1e-5 rad on the whole path
        assert_near(last(&o, WINCH), T, 1e-5 * T);
        assert_near(last(&o, END), T / (1 + lost * L), 1e-5 * T);
        assert_near(last(&o, TURN + 1), -log(1 + lost * L) / s, 1e-5);
        snw_series_clear(&o.series);
    }
}

// A base that starts to move at once gives both the same impulse.
static void jumps_of_given_rates_act_on_both_kinds(void **state) {
    (void)state;
    outcome o[2];
    for (int k = 0; k < 2; k++) {
        char text[2000];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "materials: {gel: {young: 2 MPa, poisson: 0.45, density: 1200}}\n"
            "robot:\n  arm: {on: world, pose: {xyz: [0, \"1 m/s*max(t - 1 ms, 0 s)\", 0]},"
            " rod: {length: 40 cm, section: {circle: {radius: 8 mm}}, material: gel,"
            " strain: {bend_z: linear}, elements: %d}}\n"
            "study: [dynamic: {for: 3 ms, step: 0.5 ms, scheme: bdf2}]\n"
            "probes: {tip: {position: arm.tip}, middle: {position: arm@5%%},"
            " energy: energy}\n",
            k ? 320 : 80);
        execute_ok(text, &o[k]);
    }
    // the impulse makes waves as short as the elements, which both schemes damp
    for (int c = 0; c < 6; c++) assert_near(last(&o[1], c), last(&o[0], c), 3e-5);
    assert_true(fabs(last(&o[1], 4)) > 1e-4); // the arm has moved there
    assert_true(o[1].totals.worst_condition > 1);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

// Of a long rod some nodes are recorded, with its ends and the sections at which something is.
static void long_rods_have_few_nodes(void **state) {
    (void)state;
    snw_error err = {0};
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    const char text[] =
        "sinew: 1\nmaterials: {gel: {young: 2 MPa, poisson: 0.45, density: 1200}}\n"
        "robot:\n  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 8 mm}},"
        " material: gel, nodes: 9000, strain: kirchhoff linear, elements: 3000}}\n"
        "  tool: {on: arm@12.34567%, joint: revolute, axis: y, body: {mass: 1}}\n"
        "springs: {stay: {spring: [world, arm@77.7%], rest: 0.5, stiffness: 2}}\n";
    if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_model_compile_for(desc, SNW_USE_LOCAL, &m, &err), SNW_OK);
    if (!(m->nseg > 9000 && m->nnode > 900 && m->nnode < 1020))
        fail_msg("%d of %d", m->nnode, m->nseg);
    bool kept[2] = {false, false};
    for (int k = 0; k < m->nnode; k++) {
        const int i = m->node_seg[k];
        assert_int_equal(m->node_of_seg[i], k);
        assert_true(snw_node_parent(m, k) < k);
        kept[0] |= fabs(m->seg_x[i] - 0.1234567) < 1e-12 && m->seg[i].kind == SNW_SEG_ROD;
        kept[1] |= i == m->force_element[0].end[1];
    }
    assert_true(kept[0] && kept[1]);
    for (int i = 1; i < m->nseg; i++) assert_true(m->node_seg[m->node_of_seg[i]] >= i);
    assert_int_equal(m->node_seg[m->node_of_seg[m->link_end[0]]], m->link_end[0]);
    snw_model_destroy(m);
    release(doc, desc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_of_local_bases),
        cmocka_unit_test(equations_of_coupled_segments),
        cmocka_unit_test(equations_of_touching_rods),
        cmocka_unit_test(equations_of_tendons_with_friction),
        cmocka_unit_test(equations_of_tendons_from_rod_to_rod),
        cmocka_unit_test(equilibria_are_those_of_the_matrix),
        cmocka_unit_test(stability_is_that_of_the_matrix),
        cmocka_unit_test(errors_of_bases_are_those_of_the_matrix),
        cmocka_unit_test(steps_are_those_of_the_matrix),
        cmocka_unit_test(studies_of_both_kinds_agree),
        cmocka_unit_test(winches_with_friction_bend_long_rods),
        cmocka_unit_test(jumps_of_given_rates_act_on_both_kinds),
        cmocka_unit_test(cost_is_linear),
        cmocka_unit_test(long_rods_have_few_nodes),
        cmocka_unit_test(equations_of_random_rods),
        cmocka_unit_test(equations_of_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
