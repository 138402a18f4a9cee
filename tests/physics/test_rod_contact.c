// SPDX-License-Identifier: MIT
//
// Contact of rods with rods and with themselves: derivatives of the forces, momentum, energy, cost
// of the search, motion and messages.
#include "dynamics/rod_contact.h"
#include "dynamics/rod_gap.h"
#include "math/positive_part.h"
#include "random_tree.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>
#ifndef SNW_NUMBERS
#include "heap_calls.h"
#endif

// ---- derivatives --------------------------------------------------------------------------------

// Two robots that float: cones and tubes, that cross, lie side by side at all angles between, and
// meet with their ends. The force is in its smooth onset everywhere (smooth is a length of metres),
// so that all rods touch whatever their distance.
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 2, com: [0.02, 0.1, 0], inertia: [0.02, 0.03, "
    "0.04]}}\n"
    "  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm + 5 mm*x/L - 8 "
    "mm*(x/L)^2}}, material: rubber, strain: cosserat legendre 2, nodes: 3}}\n"
    "  other: {on: world, joint: free, body: {mass: 3, com: [0, 0.05, 0], inertia: [0.02, 0.03, "
    "0.04]}}\n"
    "  finger: {on: other, pose: {xyz: [0.1, 0, 0.2], rpy: [0.3, 0.1, 0]}, joint: revolute, rod: "
    "{length: 0.4, section: {tube: {radius: 15 mm, inner: 5 mm}}, material: rubber, strain: "
    "{bend_y: linear, bend_z: linear}, nodes: 3}}\n"
    "contacts:\n"
    "  rods: {rods: {between: [arm, finger], stiffness: 3 kPa, crossing: 90, damping: 0.05, "
    "friction: 0.6, creep: 0.7, smooth: 8}}\n";

// Places the second base at the distance `away` and with a rotation about the first rod's normal
// such that the rods make the angle `turn`.
static void place(rig *g, dice *d, double turn, double along, double away) {
    state_random(g->m, d, g->s);
    const int free[2] = {0, 1};
    for (int k = 0, f = 0; k < g->m->nblock; k++) {
        const snw_block *b = &g->m->block[k];
        if (b->space != SNW_SPACE_SE3) continue;
        const snw_vec3 small = roll_vec3(d, 0.05);
        const snw_mat3 R = snw_so3_exp(snw_add(small, (snw_vec3){{0, 0, free[f] ? turn : 0}}));
        const snw_vec3 p = f ? (snw_vec3){{along, 0.02, away}} : (snw_vec3){{0}};
        snw_se3_to_numbers((snw_se3){R, p}, g->s->q + b->q);
        f++;
    }
    // small strains
    for (int i = 0; i < g->m->nrod; i++) {
        const snw_rod *r = &g->m->rod[i];
        for (int k = 0; k < r->ndof; k++) g->s->q[r->dof0 + r->shift + k] *= 0.2;
    }
}

// Kinds of touches: crossings, sections, with ends and in between.
typedef struct kinds {
    int crossing, section, ends, blended;
} kinds;

static void count_kinds(const rig *g, kinds *k) {
    for (int i = 0; i < snw_ntouch(g->m, g->w); i++) {
        const snw_touch *t = &g->w->touch[i];
        k->crossing += t->crossing;
        k->section += !t->crossing;
        k->ends += t->crossing && !(t->is_free[0] && t->is_free[1]);
        const double full =
            t->stiffness * snw_positive_part(-t->gap, g->m->contact[t->contact].smooth);
        k->blended += t->elastic_force > 0.05 * full && t->elastic_force < 0.95 * full;
    }
}

enum { POSES = AMONG(12, 36) };

// Complex steps check derivatives. Differences would not: the Hessian jumps where a foot point
// passes a node. Doubles are compared with wide numbers.
#ifdef SNW_COMPLEX
// foot points are found to the rounding of their distance
static void check_derivatives(rig *g) { rig_check_within(g, 10 * LEFT); }
#else
static void check_derivatives(rig *g) { rig_compare(g); }
#endif

static void rod_contacts_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {311};
    kinds all = {0};
    setting s;
    setting_open(&s, robot_text);
    for (int k = 0; k < POSES; k++) {
        place(&s.g, &d, 0.05 + 1.5 * k / POSES, -0.2 + 0.4 * (k % 5) / 5, 0.2 + 0.1 * (k % 3));
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_true(s.g.w->ntouch > 0 && s.g.w->ntouch <= s.g.m->most_touch);
        count_kinds(&s.g, &all);
        check_derivatives(&s.g);
    }
    const int few = AMONG(2, 10);
    assert_true(all.crossing > few && all.section > few && all.ends > 0 && all.blended > few);
    setting_close(&s);
}

// A rod in the bore of another one, with either of them first in the model; nearly parallel, in the
// smooth onset of the force. Sections beyond the ends of the bore do not touch.
static const char inside_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 2, com: [0.02, 0.1, 0], inertia: [0.02, 0.03, "
    "0.04]}}\n"
    "  arm: {on: base, rod: {length: 0.5, section: {%s}, material: rubber, strain: cosserat "
    "legendre 2, nodes: 3}}\n"
    "  other: {on: world, joint: free, body: {mass: 3, com: [0, 0.05, 0], inertia: [0.02, 0.03, "
    "0.04]}}\n"
    "  finger: {on: other, pose: {xyz: [0.1, 0, 0.05]}, joint: revolute, rod: {length: 0.4, "
    "section: {%s}, material: rubber, strain: {bend_y: linear, bend_z: linear}, nodes: 3}}\n"
    "contacts:\n"
    "  rods: {rods: {%s, stiffness: 30 kPa, damping: 0.05, friction: 0.6, creep: 0.7, smooth: "
    "0.4}}\n";
#define WIRE "circle: {radius: 20 mm + 5 mm*x/L - 8 mm*(x/L)^2}"
#define PIPE "tube: {radius: 0.3, inner: 0.25}"

static void inside_open(setting *s, int way) {
    char text[2000];
    (void)snprintf(text, sizeof text, inside_text, way ? PIPE : WIRE, way ? WIRE : PIPE,
                   way ? "between: finger, inside: arm" : "between: arm, inside: finger");
    setting_open(s, text);
}

static void rods_in_a_bore_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {317};
    for (int way = 0; way < 2; way++) {
        setting s;
        int inside = 0, beyond = 0;
        inside_open(&s, way);
        for (int k = 0; k < POSES / 2; k++) {
            place(&s.g, &d, 0.02 * k, -0.3 + 0.1 * (k % 6), 0.08 + 0.05 * (k % 3));
            snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
            snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
            for (int i = 0; i < snw_ntouch(s.g.m, s.g.w); i++) {
                const snw_touch *t = &s.g.w->touch[i];
                inside += t->inside && t->elastic_force > 0;
                beyond += !t->is_free[0] && !t->is_free[1] && t->elastic_force > 0;
            }
            check_derivatives(&s.g);
#ifdef SNW_COMPLEX
            rig_check_energy(&s.g);
#endif
        }
        assert_true(inside > 50 && beyond < inside / 10);
        setting_close(&s);
    }
}

#ifdef SNW_COMPLEX
// A section just beyond the end of the other rod: the rods slide past each other until one is
// found.
static void fading_sections_have_exact_derivatives(void **state) {
    (void)state;
    setting s;
    int found = 0;
    setting_open(&s, robot_text);
    for (int k = 0; k < 400 && found < 2; k++) {
        dice d = {313};
        place(&s.g, &d, 0.2, -0.4 + 1e-4 * k, 0.2);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        snw_kinematics(s.g.m, s.g.in, s.g.s, false, s.g.w);
        bool fades = false;
        for (int i = 0; i < snw_ntouch(s.g.m, s.g.w); i++) {
            const snw_touch *t = &s.g.w->touch[i];
            const double full =
                t->stiffness * snw_positive_part(-t->gap, s.g.m->contact[t->contact].smooth);
            fades = fades || (t->fade > 0 && !t->is_free[0] && !t->is_free[1] &&
                              t->elastic_force > 0.1 * full && t->elastic_force < 0.9 * full);
        }
        if (!fades) continue;
        found++;
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        check_derivatives(&s.g);
    }
    assert_int_equal(found, 2);
    setting_close(&s);
}
#endif

// A rod that is bent to a spiral touches itself, here at all distances below a large `smooth`.
static const char spiral_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  spiral: {on: world, joint: free, rod: {length: 1.2, section: {circle: {radius: 10 mm - 3 "
    "mm*x/L}}, material: rubber, strain: kirchhoff legendre 2, nodes: 12}}\n"
    "contacts:\n"
    "  itself: {rods: {between: spiral, stiffness: 3 kPa, crossing: 90, damping: 0.05, friction: "
    "0.6, creep: 0.7, smooth: 0.3}}\n";

static void spiral_random(setting *s, dice *d) {
    setting_random(s, spiral_text, d);
    const snw_rod *r = &s->g.m->rod[0];
    for (int k = 0; k < r->ndof; k++) s->g.s->q[r->dof0 + r->shift + k] *= 0.3;
    s->g.s->q[r->dof[0] + r->shift] += 2;  // twist
    s->g.s->q[r->dof[2] + r->shift] += 11; // 2.1 turns
}

static void self_contacts_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {314};
    for (int k = 0; k < 6; k++) {
        setting s;
        spiral_random(&s, &d);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_true(s.g.w->ntouch > 5 && s.g.w->ntouch <= s.g.m->most_touch);
        check_derivatives(&s.g);
        setting_close(&s);
    }
}

// A rod in the shape of a loose overhand knot, with noise.
static const char knot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  knot: {on: world, joint: free, rod: {length: 2, section: {circle: {radius: 12 mm - 3 "
    "mm*x/L}}, material: rubber, strain: {twist: legendre 2, bend_y: legendre 16, bend_z: legendre "
    "16}, nodes: 40}}\n"
    "contacts:\n"
    "  itself: {rods: {between: knot, stiffness: 3 kPa, crossing: 90, damping: 0.05, friction: "
    "0.6, creep: 0.7, smooth: 0.2}}\n";

static void knot_random(setting *s, dice *d) {
    static const double bend[2][16] = {{-2.7, 0.311, 5.17, -1.22, -3.75, 2.01, 0.379, -2.33, 3.47,
                                        1.99, -6.22, -1.13, 6.98, -0.0575, -5.28, 1.13},
                                       {2.62, 0.32, -5.03, -1.25, 3.64, 2.06, -0.369, -2.39, -3.38,
                                        2.05, 6.05, -1.16, -6.79, -0.0593, 5.14, 1.17}};
    setting_random(s, knot_text, d);
    const snw_rod *r = &s->g.m->rod[0];
    for (int k = 0; k < r->ndof; k++) s->g.s->q[r->dof0 + r->shift + k] *= 0.05;
    for (int c = 0; c < 2; c++) {
        for (int k = 0; k < 16; k++) s->g.s->q[r->dof[1 + c] + r->shift + k] += bend[c][k];
    }
}

static void knots_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {318};
    kinds all = {0};
    for (int k = 0; k < 3; k++) {
        setting s;
        knot_random(&s, &d);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_true(s.g.w->ntouch > 2 && s.g.w->ntouch <= s.g.m->most_touch);
        count_kinds(&s.g, &all);
        check_derivatives(&s.g);
        setting_close(&s);
    }
    if (!(all.crossing > 1 && all.section > 5))
        fail_msg("%d crossings, %d sections", all.crossing, all.section);
}

#ifdef SNW_COMPLEX
static void rod_contacts_store_the_energy_of_their_forces(void **state) {
    (void)state;
    dice d = {312};
    setting s;
    setting_open(&s, robot_text);
    for (int k = 0; k < POSES; k++) {
        place(&s.g, &d, 0.05 + 1.5 * k / POSES, -0.2 + 0.4 * (k % 5) / 5, 0.2 + 0.1 * (k % 3));
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        rig_check_stiffness_within(&s.g, 10 * LEFT);
        rig_check_energy(&s.g);
    }
    setting_close(&s);
}
#endif

#ifndef SNW_NUMBERS

// ---- momentum -----------------------------------------------------------------------------------

// Wrenches of touches have no resultant and no moment; their power is stored or becomes heat.
static void check_internal(rig *g) {
    snw_kinematics(g->m, g->in, g->s, false, g->w);
    for (int i = 0; i < g->m->nseg; i++) g->w->F[i] = snw_wrench_zero();
    snw_rod_contacts_add(g->m, g->w);
    snw_wrench sum = {0};
    double size = 0, power = 0;
    for (int i = 0; i < g->m->nseg; i++) {
        const snw_wrench F = snw_wrench_to_parent(g->w->g[i], g->w->F[i]);
        sum = snw_wrench_add(sum, F);
        size += snw_norm(F.f) + snw_norm(F.m);
        power -= snw_power(g->w->F[i], g->w->V[i]);
    }
    assert_true(size > 1);
    for (int i = 0; i < 6; i++) assert_near(sum.e[i] / size, 0, 1e-13);
    const double heat = snw_rod_contacts_heat(g->m, g->w);
    assert_near(power / size, (-heat - snw_rod_contacts_energy_rate(g->m, g->w)) / size, 1e-12);
    assert_true(heat >= 0);
    for (int i = 0; i < snw_ntouch(g->m, g->w); i++) { // each part of the heat, too
        const snw_touch *t = &g->w->touch[i];
        const snw_vec3 slip = snw_sub(t->v, snw_scale(t->rate, t->n));
        assert_true(snw_dot(t->f, slip) <= 0 && snw_dot(t->f, t->n) * t->rate <= 0);
    }
}

static void rod_contacts_keep_momentum(void **state) {
    (void)state;
    dice d = {315};
    setting s;
    setting_open(&s, robot_text);
    for (int k = 0; k < POSES; k++) {
        place(&s.g, &d, 0.05 + 1.5 * k / POSES, -0.2 + 0.4 * (k % 5) / 5, 0.2 + 0.1 * (k % 3));
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        check_internal(&s.g);
    }
    setting_close(&s);
    for (int k = 0; k < 6; k++) {
        spiral_random(&s, &d);
        check_internal(&s.g);
        setting_close(&s);
    }
}

static void rods_in_a_bore_keep_momentum(void **state) {
    (void)state;
    dice d = {318};
    int touched = 0;
    for (int way = 0; way < 2; way++) {
        setting s;
        inside_open(&s, way);
        for (int k = 0; k < POSES; k++) {
            place(&s.g, &d, 0.01 * k, -0.3 + 0.1 * (k % 6), 0.18);
            snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
            snw_kinematics(s.g.m, s.g.in, s.g.s, false, s.g.w);
            if (!(snw_rod_contacts_energy(s.g.m, s.g.w) > 0.1)) continue; // beside each other
            check_internal(&s.g);
            touched++;
        }
        setting_close(&s);
    }
    assert_true(touched > POSES / 2);
}

// Search, forces and tangent take no memory from the heap.
static void touches_take_no_memory(void **state) {
    (void)state;
    dice d = {317};
    setting s;
    spiral_random(&s, &d);
    const size_t n = (size_t)s.g.m->nv;
    double *T = malloc(n * n * sizeof *T);
    snw_touch where;
    const long before = heap_calls;
    snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
    snw_tangent_pass(s.g.m, NULL, s.g.w);
    snw_tangent_assemble(s.g.m, s.g.in, 1, 1, 1, s.g.w, T);
    (void)snw_rod_contact_nearest(s.g.m, s.g.w, 0, &where);
    (void)snw_contact_step_limit(s.g.m, s.g.w, 0.1);
    const long after = heap_calls;
    assert_true(s.g.w->ntouch > 5);
    assert_int_equal(after, before);
    free(T);
    setting_close(&s);
}

// ---- search -------------------------------------------------------------------------------------

// Rods in a row that touch their neighbours: the pairs of slices compared grow as the rods do.
static void search_of_row(int n, long *compared, int *touches) {
    char text[40000];
    int at = snprintf(text, sizeof text,
                      "sinew: 1\nmaterials: {m: {young: 1 MPa, density: 1000}}\nrobot:\n");
    for (int i = 0; i < n; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "  r%d: {on: world, pose: {xyz: [0, %g, 0], rpy: [0, 0, %g]}, rod: {length: "
                       "0.3, section: {circle: {radius: 10 mm}}, material: m, strain: {bend_y: "
                       "legendre 1}}}\n",
                       i, 0.0199 * i, 0.001 * (i % 2));
    }
    (void)snprintf(text + at, sizeof text - (size_t)at,
                   "contacts: {all: {rods: {between: all, self: true, stiffness: 1 kPa}}}\n");
    setting s;
    setting_open(&s, text);
    snw_inputs_at(s.g.m, 0, s.g.in);
    snw_kinematics(s.g.m, s.g.in, s.g.s, true, s.g.w);
    *compared = s.g.w->near_slices;
    *touches = s.g.w->ntouch;
    setting_close(&s);
}

static void the_search_is_linear(void **state) {
    (void)state;
    long few, many;
    int touches[2];
    search_of_row(10, &few, &touches[0]);
    search_of_row(100, &many, &touches[1]);
    assert_true(touches[0] > 9 && touches[1] > 99);
    assert_near((double)many / (double)few, 99.0 / 9, 0.1);
    assert_near((double)touches[1] / touches[0], 99.0 / 9, 0.1);
}

// The nearest sections of curved rods that do not touch, against all pairs of fine sections.
static void the_nearest_sections_are_found(void **state) {
    (void)state;
    dice d = {316};
    setting s;
    setting_open(&s, robot_text);
    for (int k = 0; k < AMONG(5, 20); k++) {
        place(&s.g, &d, 1.5 * k / 20, -0.2 + 0.4 * (k % 5) / 5, 0.2 + 0.1 * (k % 3));
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        snw_kinematics(s.g.m, s.g.in, s.g.s, true, s.g.w);
        snw_touch nearest;
        const double gap = snw_rod_contact_nearest(s.g.m, s.g.w, 0, &nearest);
        double least = INFINITY;
        const snw_touching_rod *r = s.g.m->touching_rod;
        for (int i = 0; i < 40 * r[0].nslice; i++) {
            for (int j = 0; j < 40 * r[1].nslice; j++) {
                const int slice[2] = {r[0].slice0 + i / 40, r[1].slice0 + j / 40};
                if (!(s.g.m->touching_slice[slice[0]].h > 0) ||
                    !(s.g.m->touching_slice[slice[1]].h > 0))
                    continue;
                const double u[2] = {i % 40 / 39.0, j % 40 / 39.0};
                const snw_rod_side side[2] = {snw_rod_side_of(s.g.m, s.g.w, slice[0]),
                                              snw_rod_side_of(s.g.m, s.g.w, slice[1])};
                snw_rod_gap g;
                snw_rod_gap_at(side, u, &g);
                least = fmin(least, g.gap);
            }
        }
        assert_near(gap, least, 1e-3); // m; the rods are half a metre apart, compared at sections
    }
    setting_close(&s);
}

// ---- motion -------------------------------------------------------------------------------------

#define STEEL "materials: {m: {young: 20 GPa, density: 1000}}\n"

// A thin rod falls across a thin fixed one with steps that would pass it: no scheme misses it.
static void long_steps_do_not_pass_a_rod(void **state) {
    (void)state;
    static const char *const scheme[] = {"generalized-alpha, step: 0.1 s", "bdf2, step: 0.1 s",
                                         "radau5, step: 0.1 s", "rk4, step: 0.1 s", "adaptive"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        char text[1200];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n" STEEL "robot:\n"
            "  bar: {on: world, pose: {xyz: [0, -0.1, 0], rpy: [0, 0, 90 deg]}, rod: {length: 0.2, "
            "section: {circle: {radius: 5 mm}}, material: m, strain: {bend_y: 0 1/m}}}\n"
            "  rod: {on: world, joint: free, rod: {length: 0.2, section: {circle: {radius: 5 mm}}, "
            "material: m, strain: {bend_y: 0 1/m}}}\n"
            "initial: {rod: {pose: {xyz: [-0.1, 0, 0.5]}}}\n"
            "contacts: {c: {rods: {between: [rod, bar], stiffness: 1 MPa, crossing: 2e4}}}\n"
            "study: [dynamic: {for: 0.45 s, scheme: %s}]\n"
            "probes: {z: {position: rod@50%%}, e: energy, c: {contact: c}}\n",
            scheme[i]);
        execute_ok(text, &o);
        const double z = last(&o, 2);
        if (!(z > 0.1)) fail_msg("%s: ends at %g m", scheme[i], z);
        assert_near(last(&o, 11 + 3), z - 0.01, 1e-6); // the gap
        snw_series_clear(&o.series);
    }
}

// A rod coiled to a helix whose tip, 8 cm above its root, is thrown at it with 20 m/s: a step of 10
// ms would take it 20 cm further, through itself.
static void a_rod_does_not_pass_itself(void **state) {
    (void)state;
    static const char *const contact[] = {
        "", "contacts: {c: {rods: {between: coil, radius: 4 mm, stiffness: 20 MPa}}}\n"};
    for (int k = 0; k < 2; k++) {
        char text[1200];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot:\n"
            "  coil: {on: world, rod: {length: 0.6, section: {stiffness: {twist: 1, bend_z: 5}, "
            "inertia: [1e-6, 1e-6, 1e-6, 0.05, 0.05, 0.05]}, rest: {bend_z: 11}, strain: {twist: "
            "legendre 1}, nodes: 24}}\n"
            "initial: {coil: {strain: {twist: 1.5}, rate: {twist: -400}}}\n"
            "%s"
            "study: [dynamic: {for: %s, scheme: bdf2, step: %s}]\n"
            "probes: {tip: {position: coil.tip}, near: {position: coil@4%%}%s}\n",
            contact[k], k ? "10 ms" : "6 ms", k ? "10 ms" : "1 ms", k ? ", c: {contact: c}" : "");
        execute_ok(text, &o);
        const double above = last(&o, 2) - last(&o, 5);
        if (k == 0 && !(above < 0)) fail_msg("without contact it does not pass: %g m", above);
        if (k == 1 && !(above > 0)) fail_msg("the tip is %g m above the root", above);
        snw_series_clear(&o.series);
    }
}

// ---- events -------------------------------------------------------------------------------------

#define FALLING                                                                                    \
    "  bar: {on: world, pose: {xyz: [0, -0.1, 0], rpy: [0, 0, 90 deg]}, rod: {length: 0.2, "       \
    "section: {circle: {radius: 5 mm}}, material: m, strain: {bend_y: 0 1/m}}}\n"                  \
    "  rod: {on: world, pose: {xyz: [-0.1, 0, 0.11]}, joint: prismatic, axis: z, rod: {length: "   \
    "0.2, section: {circle: {radius: 5 mm}}, material: m, strain: {bend_y: 0 1/m}}}\n"             \
    "initial: {rod: {rate: -1}}\n"                                                                 \
    "contacts: {c: {rods: {between: [rod, bar], stiffness: 1 MPa, crossing: 2e4, smooth: 0.1 "     \
    "um}}}\n"

// A motion ends where two rods touch, and the next where they part: after half a swing.
static void touch_and_release_of_two_rods_end_motions(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n" STEEL "robot:\n" FALLING "study:\n"
               "  - dynamic: {name: fall, for: 1 s, until: c.gap < 0, step: 1 ms}\n"
               "  - dynamic: {name: bounce, for: 1 s, until: c.gap > 0, step: 10 us}\n"
               "probes: {c: {contact: c}, v: {rate: rod}}\n",
               &o);
    const double mass = 1000 * M_PI * 5e-3 * 5e-3 * 0.2;
    assert_near(o.series.t[o.series.nframe - 1], 0.1 + M_PI * sqrt(mass / 2e4), 2e-6);
    assert_near(last(&o, 9), 1, 1e-3);
    snw_series_clear(&o.series);
}

// A brake that acts when rods come nearer than 1 mm.
static void a_load_waits_for_rods_to_come_near(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n" STEEL "robot:\n" FALLING
               "loads: {brake: {on: rod, force: [0, 0, 1000 m/s^2*1000 kg/m^3*pi*(5 mm)^2*20 cm], "
               "when: once(c.gap < 1 mm)}}\n"
               "study: [dynamic: {for: 99.5 ms, step: 10 ms}]\n"
               "probes: {c: {contact: c}, v: {rate: rod}}\n",
               &o);
    assert_near(last(&o, 9), -0.5, 1e-5); // v = -1 + 1000 (t - 0.099)
    snw_series_clear(&o.series);
}

// A rod is bent to a ring by a law: its ends touch where the chord is 2 r, and part again.
static void a_rod_touches_itself_and_parts(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\n"
        "robot: {ring: {on: world, rod: {length: 0.5, section: {stiffness: {twist: 1}, inertia: "
        "[1e-6, 1e-6, 1e-6, 0.01, 0.01, 0.01]}, strain: {twist: legendre 1, bend_z: "
        "\"12.5*hat(t, 0 s, 2 s)\"}, nodes: 40, magnus: 6}}}\n"
        "contacts: {c: {rods: {between: ring, radius: 10 mm, stiffness: 1 kPa, smooth: 1 um}}}\n"
        "study:\n"
        "  - dynamic: {name: close, for: 2 s, until: c.gap < 0, step: 20 ms}\n"
        "  - dynamic: {name: open, for: 2 s, until: c.gap > 0, step: 20 ms}\n"
        "probes: {c: {contact: c}}\n",
        &o);
    double low = 11, high = 12.5; // curvature with the chord (2/kappa) sin(kappa L/2) = 2 r
    for (int i = 0; i < 60; i++) {
        const double k = 0.5 * (low + high);
        if (2 / k * sin(0.25 * k) > 0.02) {
            low = k;
        } else {
            high = k;
        }
    }
    double closed = INFINITY;
    for (int i = 0; i < o.series.nframe; i++) {
        if (shown(&o, i, 3) < 1e-9) closed = fmin(closed, o.series.t[i]);
    }
    assert_near(closed, low / 12.5, 1e-5);
    assert_near(o.series.t[o.series.nframe - 1], 2 - low / 12.5, 1e-5);
    snw_series_clear(&o.series);
}

// A ring: the ends that a loop joins are neighbours and do not touch each other, and the surface
// has no ends there, so that a rod across the joint touches it once.
static void welded_ends_are_neighbours(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[1000];
        setting s;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "robot:\n"
                       "  ring: {on: world, rod: {length: 1, section: {stiffness: {bend_z: 1}}, "
                       "rest: {bend_z: 2*pi}, strain: {bend_z: legendre 3}, nodes: 30}}\n"
                       "  bar: {on: world, pose: {xyz: [2 mm, 0, -0.1], x: z}, rod: {length: 0.2, "
                       "section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre 1}, nodes: "
                       "7}}\n"
                       "%s"
                       "contacts: {c: {rods: {between: [ring, bar], self: true, radius: 10 mm, "
                       "stiffness: 1e3}}}\n",
                       k ? "loops: {weld: {join: [ring.root, ring.tip], as: fixed, pose: {axis: x, "
                           "angle: 0}}}\n"
                         : "");
        setting_open(&s, text);
        snw_inputs_at(s.g.m, 0, s.g.in);
        snw_kinematics(s.g.m, s.g.in, s.g.s, true, s.g.w);
        int self = 0, other = 0;
        for (int i = 0; i < snw_ntouch(s.g.m, s.g.w); i++) {
            const snw_touching_slice *slice = s.g.m->touching_slice;
            const bool same =
                slice[s.g.w->touch[i].slice[0]].rod == slice[s.g.w->touch[i].slice[1]].rod;
            self += same;
            other += !same;
        }
        assert_int_equal(s.g.m->ntouching_joint, k);
        if (k == 0) assert_true(self > 0 && other > 1);
        if (k == 1) assert_true(self == 0 && other == 1);
        setting_close(&s);
    }
}

// Two rods collide in free flight and twirl: momentum, moment of momentum and energy are kept.
static void colliding_rods_keep_momentum_and_energy(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\n"
        "materials: {m: {young: 5 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  a: {on: world, joint: free, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, "
        "material: m, strain: kirchhoff legendre 2}}\n"
        "  b: {on: world, joint: free, rod: {length: 0.2, section: {circle: {radius: 8 mm - 2 "
        "mm*x/L}}, material: m, strain: kirchhoff legendre 2}}\n"
        "initial: {a: {pose: {xyz: [-0.1, 0, 0.03]}, twist: [0, 0, 0, 0, 0, -1]}, b: {pose: "
        "{xyz: [0, -0.05, 0], rpy: [0, 0, 60 deg]}, twist: [1, 0, 0, 0, 0, 0.5]}}\n"
        "contacts: {c: {rods: {between: [a, b], stiffness: 100 kPa, friction: 0.4, damping: "
        "0.1}}}\n"
        "study: [dynamic: {for: 60 ms, scheme: adaptive, tolerance: 1e-8}]\nrecord: {every: 2 "
        "ms}\n"
        "probes: {p: momentum, e: energy, c: {contact: c}}\n",
        &o);
    double pressed = 0;
    for (int k = 0; k < o.series.nframe; k++) {
        for (int i = 0; i < 6; i++) assert_near(shown(&o, k, i), shown(&o, 0, i), 1e-6);
        pressed = fmax(pressed, fabs(shown(&o, k, 14 + 2)));
    }
    assert_true(pressed > 1);              // N
    assert_true(last(&o, 6 + 3) > 1e-3);   // heat, J
    assert_near(last(&o, 6 + 6), 0, 1e-7); // balance, J
    snw_series_clear(&o.series);
}

// Newton's method in one static solve does not end on the other side of a rod: cantilevers that
// cross, docs/references.md C3, and two in a plane.
static void equilibria_do_not_pass_a_rod(void **state) {
    (void)state;
    static const char crossing[] =
        "sinew: 1\ngravity: 0\n"
        "robot:\n"
        "  A: {on: world, pose: {xyz: [0.5, -0.5, 0.05], rpy: [0, 0, 90 deg]}, rod: {length: 1, "
        "section: {stiffness: {twist: 1/1.3, bend_y: 1, bend_z: 1}}, strain: {twist: quadratic, "
        "bend_y: quadratic, bend_z: quadratic}, elements: 8}}\n"
        "  B: {on: world, rod: {length: 0.8, section: {stiffness: {twist: 2/1.3, bend_y: 2, "
        "bend_z: "
        "2}}, strain: {twist: quadratic, bend_y: quadratic, bend_z: quadratic}, elements: 8}}\n"
        "contacts: {c: {rods: {between: [A, B], radius: 10 mm, stiffness: 1e7, crossing: 1e6, "
        "smooth: 1 um}}}\n"
        "loads: {press: {on: A.tip, force: [0, 0, -2]}}\nstudy: [static:]\n"
        "probes: {a: {position: A.tip}}\n";
    static const char planar[] =
        "sinew: 1\ngravity: 0\n"
        "robot:\n"
        "  A: {on: world, pose: {xyz: [0, 0, 0.05]}, rod: {length: 1, section: {stiffness: "
        "{bend_y: "
        "1}}, strain: {bend_y: quadratic}, elements: 8}}\n"
        "  B: {on: world, rod: {length: 0.6, section: {stiffness: {bend_y: 2}}, strain: {bend_y: "
        "quadratic}, elements: 8}}\n"
        "contacts: {c: {rods: {between: [A, B], radius: 10 mm, stiffness: 1e8, crossing: 2e6, "
        "smooth: 1 um}}}\n"
        "loads: {press: {on: A.tip, force: [0, 0, -3]}}\nstudy: [static:]\n"
        "probes: {a: {position: A.tip}}\n";
    outcome o;
    execute_ok(crossing, &o);
    assert_near(last(&o, 2), -0.2818174024, 2e-5);
    snw_series_clear(&o.series);
    execute_ok(planar, &o);
    assert_near(last(&o, 2), -0.3143829163, 2e-5);
    snw_series_clear(&o.series);
}

// A bar that rests across a fixed one swings on the stiffness of the contact.
static void a_bar_on_a_bar_has_the_frequency_of_its_contact(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\n" STEEL "robot:\n"
        "  bar: {on: world, pose: {xyz: [0, -0.1, 0], rpy: [0, 0, 90 deg]}, rod: {length: 0.2, "
        "section: {circle: {radius: 5 mm}}, material: m, strain: {bend_y: 0 1/m}}}\n"
        "  rod: {on: world, pose: {xyz: [-0.1, 0, 0.01]}, joint: prismatic, axis: z, rod: "
        "{length: 0.2, section: {circle: {radius: 5 mm}}, material: m, strain: {bend_y: 0 "
        "1/m}}}\n"
        "contacts: {c: {rods: {between: [rod, bar], stiffness: 1 MPa, crossing: 2e4, smooth: "
        "0.1 um}}}\n"
        "study: [static:, modes: {count: 1}]\n"
        "probes: {z: {position: rod}, f: frequency}\n",
        &o);
    const double mass = 1000 * M_PI * 5e-3 * 5e-3 * 0.2;
    assert_near(last(&o, 2), 0.01 - mass * 9.81 / 2e4, 1e-9);
    assert_near(last(&o, 3), sqrt(2e4 / mass) / (2 * M_PI), 1e-6);
    snw_series_clear(&o.series);
}

// Rods that are too soft for the impact would pass through each other: the motion ends there.
static void rods_deep_in_each_other_end_the_motion(void **state) {
    (void)state;
    outcome o;
    execute("sinew: 1\ngravity: 0\n" STEEL "robot:\n"
            "  a: {on: world, joint: free, rod: {length: 0.2, section: {circle: {radius: 5 mm}}, "
            "material: m, strain: {bend_y: 0 1/m}}}\n"
            "  b: {on: world, pose: {xyz: [0.1, -0.1, 0], rpy: [0, 0, 90 deg]}, rod: {length: 0.2, "
            "section: {circle: {radius: 5 mm}}, material: m, strain: {bend_y: 0 1/m}}}\n"
            "initial: {a: {pose: {xyz: [0, 0, 0.05]}, twist: [0, 0, 0, 0, 0, -4]}}\n"
            "contacts: {c: {rods: {between: [a, b], stiffness: 1 kPa}}}\n"
            "study: [dynamic: {for: 50 ms, scheme: bdf2, step: 1 ms}]\n",
            &o);
    assert_int_equal(o.status, SNW_E_DIVERGED);
    if (!strstr(o.err.text, "rods 'a' and 'b' are")) fail_msg("%s", o.err.text);
    snw_series_clear(&o.series);
}

// A wire falls and slides out of a pipe that swings down: parts that have left it touch nothing,
// and all energy is accounted for.
static void a_wire_slides_out_of_a_pipe(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\nmaterials: {m: {young: 10 MPa, density: 1000, damping: 1 ms}}\nrobot:\n"
               "  pipe: {on: world, joint: revolute, axis: y, rod: {length: 0.4, section: {tube: "
               "{radius: 12 mm, inner: 8 mm}}, material: m, strain: {bend_y: legendre 4}, nodes: "
               "16}}\n"
               "  wire: {on: world, joint: free, rod: {length: 0.3, section: {circle: {radius: 4 "
               "mm}}, material: m, strain: {bend_y: legendre 4}, nodes: 16}}\n"
               "initial: {wire: {pose: {xyz: [0.05, 0, 0]}}}\n"
               "contacts: {bore: {rods: {between: wire, inside: pipe, stiffness: 1 MPa, damping: "
               "0.5, friction: 0.2}}}\n"
               "study: [dynamic: {for: 0.25 s, step: 1 ms}]\n"
               "probes: {gap: {law: c.gap}, c: {contact: bore}, wire: {relative: [pipe.tip, "
               "wire.tip]}, e: energy}\n",
               &o);
    double least = INFINITY;
    for (int k = 0; k < o.series.nframe; k++) least = fmin(least, shown(&o, k, 0));
    assert_true(least < -1e-6 && least > -1e-3); // it touches, no deeper than the stiffness lets it
    assert_true(last(&o, 10) > 0.05);            // its tip is out of the pipe
    assert_near(o.totals.balance, 0, 1e-7);
    snw_series_clear(&o.series);
}

// ---- which rods touch ---------------------------------------------------------------------------

#define CHAINS(keys)                                                                               \
    "sinew: 1\n" STEEL "robot:\n"                                                                  \
    "  a: {on: world, layer: left, rod: &rod {length: 1, section: {circle: {radius: 10 mm}}, "     \
    "material: m, strain: {bend_y: legendre 1}}}\n"                                                \
    "  b: {on: a.tip, layer: left, joint: spherical, rod: *rod}\n"                                 \
    "  block: {on: b.tip, layer: left, body: {mass: 1}}\n"                                         \
    "  c: {on: block, layer: [left, end], rod: *rod}\n"                                            \
    "  d: {on: world, layer: right, pose: {xyz: [0, 1, 0]}, rod: *rod}\n"                          \
    "  e: {on: d.tip, layer: right, rod: *rod}\n"                                                  \
    "contacts: {touch: {rods: {stiffness: 1, " keys "}}}\n"

// By names, layers and the word `all`; parents and children do not touch unless just they are
// named.
static void layers_touch_layers(void **state) {
    (void)state;
    static const struct {
        const char *text, *pairs;
    } cases[] = {
        {CHAINS("between: all"), " ac ad ae bd be cd ce"},
        {CHAINS("between: [a, b]"), " ab"},
        {CHAINS("between: [a, b, c]"), " ac"},
        {CHAINS("between: left"), " ac"},
        {CHAINS("between: right"), ""},
        {CHAINS("between: left, against: right"), " ad ae bd be cd ce"},
        {CHAINS("between: end, against: [right, a]"), " ac cd ce"},
        {CHAINS("between: all, except: [[left, right]]"), " ac"},
        {CHAINS("between: left, against: right, except: [[end, right], [a, d]]"), " ae bd be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setting s;
        char pairs[200] = "";
        setting_open(&s, cases[i].text);
        const snw_model *m = s.g.m;
        for (int a = 0; a < m->ntouching_rod; a++) {
            for (int b = a + 1; b < m->ntouching_rod; b++) {
                const size_t used = strlen(pairs);
                if (!m->touching_contact[a * m->ntouching_rod + b]) continue;
                (void)snprintf(pairs + used, sizeof pairs - used, " %s%s",
                               m->desc->link[m->rod[m->touching_rod[a].rod].link].name,
                               m->desc->link[m->rod[m->touching_rod[b].rod].link].name);
            }
        }
        assert_string_equal(pairs, cases[i].pairs);
        setting_close(&s);
    }
}

// ---- messages -----------------------------------------------------------------------------------

#define RODS(keys)                                                                                 \
    "sinew: 1\n" STEEL "robot: {a: {on: world, joint: free, rod: {length: 1, section: {circle: "   \
    "{radius: 10 mm}}, material: m, strain: {bend_y: legendre 1}}}, b: {on: a.tip, rod: {length: " \
    "1, section: {circle: {radius: 10 mm}}, material: m, strain: {bend_y: legendre 1}}}, c: {on: " \
    "world, pose: {xyz: [0.5, 0, 0.005]}, rod: {length: 1, section: {rectangle: {y: 1 cm, z: 2 "   \
    "cm}}, material: m, strain: {bend_y: legendre 1}}}, d: {on: world, pose: {xyz: [0.5, -0.5, "   \
    "0.015], rpy: [0, 0, 90 deg]}, rod: {length: 1, section: {stiffness: {bend_y: 1}, inertia: "   \
    "[0, 0, 0, 1, 1, 1]}, strain: {bend_y: legendre 1}}}, e: {on: world, body: {mass: 1}}, f: "    \
    "{on: world, rod: "                                                                            \
    "{length: 1, section: {tube: {radius: 12 mm, inner: 8 mm}}, material: m, strain: {bend_y: "    \
    "legendre 1}}}, g: {on: world, rod: {length: 1, section: {tube: {radius: 30 mm, inner: 20 mm " \
    "- 1 mm*x/L}}, material: m, strain: {bend_y: legendre 1}}}}\n"                                 \
    "contacts: {touch: {rods: {" keys "}}}\nstudy: [dynamic: {for: 1 us, step: 1 us}]\n"

static void impossible_contacts_of_rods_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {RODS("stiffness: 1"), "needs 'between'"},
        {RODS("between: [a, c]"), "needs 'stiffness'"},
        {RODS("between: [a, e], stiffness: 1"), "'e', which has no rod"},
        {RODS("between: [a, c], stiffness: 1"), "its section is not round"},
        {RODS("between: [a, d], stiffness: 1"), "its section has no shape; give 'radius'"},
        {RODS("between: a, self: false, stiffness: 1"), "names one rod"},
        {RODS("between: [a, b], stiffness: 1, radius: 0"), "radius"},
        {RODS("between: [a, b], stiffness: 1, friction: {along: 1, across: 2}"), "one number"},
        {RODS("between: [a, b], stiffness: 1, except: [a, b]"), "pairs of links"},
        {RODS("between: f, inside: a, stiffness: 1"), "its section has no bore"},
        {RODS("between: a, inside: f, stiffness: 1"), "leaves -0.002 m in the bore of 'f'"},
        {RODS("between: a, inside: f, bore: 10.01 mm, stiffness: 1"),
         "half of 'smooth', is needed"},
        {RODS("between: a, inside: f, bore: 1, stiffness: 1"), "wider than the rod itself"},
        {RODS("between: a, inside: g, stiffness: 1"), "its bore varies along it"},
        {RODS("between: [a, f], inside: f, stiffness: 1"), "not one of 'between'"},
        {RODS("between: a, inside: [f, g], stiffness: 1"), "'inside' is one link"},
        {RODS("between: a, inside: f, against: g, stiffness: 1"), "leave out 'against'"},
        {RODS("between: [a, b], bore: 1 cm, stiffness: 1"), "'bore' is that of the rod 'inside'"},
        {RODS("between: [a, b], stiffness: 1, damping: 1, restitution: {ratio: 0.5, speed: 1}"),
         "leave one out"},
        {RODS("between: [a, b], stiffness: 1}}, more: {rods: {between: [b, a], stiffness: 2"),
         "touches 'a' by contact 'touch' already"},
        {RODS("between: [a, b], stiffness: 1}}, more: {rods: {between: [b, d], stiffness: 2, "
              "radius: 1 cm"),
         "another radius"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuses(cases[i].text, cases[i].says);
}

static void rods_that_begin_in_each_other_are_reported(void **state) {
    (void)state;
    outcome o;
    execute_ok(RODS("between: [a, d], radius: 10 mm, stiffness: 1e5"), &o);
    if (!strstr(o.said, "rods 'a' and 'd' begin 0.005 m deep in each other at x = 0.5 m and 0.5 m"))
        fail_msg("%d warnings, the last: %s", o.warnings, o.said);
    snw_series_clear(&o.series);
}

#endif

int main(void) {
#ifndef SNW_NUMBERS
    count_heap_calls();
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rod_contacts_have_exact_derivatives),
        cmocka_unit_test(self_contacts_have_exact_derivatives),
        cmocka_unit_test(knots_have_exact_derivatives),
        cmocka_unit_test(rods_in_a_bore_have_exact_derivatives),
#ifdef SNW_COMPLEX
        cmocka_unit_test(fading_sections_have_exact_derivatives),
        cmocka_unit_test(rod_contacts_store_the_energy_of_their_forces),
#endif
#ifndef SNW_NUMBERS
        cmocka_unit_test(rod_contacts_keep_momentum),
        cmocka_unit_test(rods_in_a_bore_keep_momentum),
        cmocka_unit_test(touches_take_no_memory),
        cmocka_unit_test(the_search_is_linear),
        cmocka_unit_test(the_nearest_sections_are_found),
        cmocka_unit_test(long_steps_do_not_pass_a_rod),
        cmocka_unit_test(a_rod_does_not_pass_itself),
        cmocka_unit_test(touch_and_release_of_two_rods_end_motions),
        cmocka_unit_test(a_load_waits_for_rods_to_come_near),
        cmocka_unit_test(a_rod_touches_itself_and_parts),
        cmocka_unit_test(welded_ends_are_neighbours),
        cmocka_unit_test(colliding_rods_keep_momentum_and_energy),
        cmocka_unit_test(equilibria_do_not_pass_a_rod),
        cmocka_unit_test(a_bar_on_a_bar_has_the_frequency_of_its_contact),
        cmocka_unit_test(rods_deep_in_each_other_end_the_motion),
        cmocka_unit_test(a_wire_slides_out_of_a_pipe),
        cmocka_unit_test(layers_touch_layers),
        cmocka_unit_test(impossible_contacts_of_rods_are_refused),
        cmocka_unit_test(rods_that_begin_in_each_other_are_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
