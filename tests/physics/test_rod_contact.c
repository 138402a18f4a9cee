// SPDX-License-Identifier: MIT
//
// Contact of rods with rods and with themselves: derivatives of the forces, momentum, energy, cost
// of the search, motion and messages.
#include "dynamics/rod_contact.h"
#include "math/positive_part.h"
#include "random_tree.h"
#include "setting.h"

#include <stdio.h>

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
        const snw_mat3 R = snw_so3_exp(
            snw_add(small, (snw_vec3){{0, 0, free[f] ? turn : 0}}));
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

enum { POSES = 36 };

// Complex steps check derivatives. Differences would not: the Hessian jumps where a foot point
// passes a node. Doubles are compared with wide numbers.
#ifdef SNW_COMPLEX
static void check_derivatives(rig *g) { rig_check(g); }
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
    assert_true(all.crossing > 10 && all.section > 10 && all.ends > 3 && all.blended > 10);
    setting_close(&s);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rod_contacts_have_exact_derivatives),
#ifdef SNW_COMPLEX
        cmocka_unit_test(rod_contacts_store_the_energy_of_their_forces),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
