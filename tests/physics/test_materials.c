// SPDX-License-Identifier: MIT
//
// Materials of rods: nonlinear section laws and Prony series. Their forces are the derivative of
// their energy, and their tangent that of their forces.
#include "dynamics/nonlinear_law.h"
#include "dynamics/relaxation.h"
#include "setting.h"

// ---- derivatives --------------------------------------------------------------------------------

// One rod of each law in a tree, so that laws meet motion, gravity and other rods.
static const char robot_text[] =
    "sinew: 1\ngravity: [0, 0, -9.81]\n"
    "materials:\n"
    "  neo: {neo_hookean: 1e5, density: 1000, damping: 0.01}\n"
    "  mooney: {mooney_rivlin: [4e4, 1e4], density: 1000}\n"
    "  ogden: {ogden: {mu: [1.2e5, 200, -1.8e4], alpha: [1.3, 5, -2]}, density: 1000}\n"
    "  plain: {young: 1e6, poisson: 0.4, density: 1000}\n"
    "  gel: {young: 1e5, poisson: 0.4, density: 1000, relaxation: {of: instant, ratios: [0.3, "
    "0.2], times: [0.1, 2], shear_ratios: [0.1, 0.5]}}\n"
    "robot:\n"
    "  a: {on: world, rod: {length: 0.3, material: neo, section: {circle: {radius: 0.05}}, strain: "
    "cosserat legendre 2}}\n"
    "  b: {on: a.tip, rod: {length: 0.2, material: mooney, section: {rectangle: {y: 0.06, z: "
    "0.04}}, strain: cosserat legendre 2}}\n"
    "  c: {on: a.tip, rod: {length: 0.2, material: ogden, section: {elliptic_tube: {y: 0.06, z: "
    "0.04, inner: 0.03}}, strain: cosserat legendre 2}}\n"
    "  d: {on: b.tip, rod: {length: 0.2, material: plain, section: {circle: {radius: 0.02}, "
    "energy: 40 N*(stretch^2 + 0.2*stretch^3) + 0.02 N*m^2*(bend_y^2 + 2*bend_z^2)/(1 + "
    "stretch^2 + 0.1*bend_y*L) + 0.01 N*m^2*twist^2*exp(stretch)}, strain: cosserat legendre 2}}\n"
    "  e: {on: c.tip, rod: {length: 0.2, material: plain, section: {circle: {radius: 0.02}, "
    "stress: {bend_z: 0.1 N*m^2*bend_z + 0.05 N*m^4*bend_z^3 + 0.2 N*m^2*stretch*bend_z, "
    "stretch: 30 N*stretch + 0.1 N*m^2*bend_z^2}}, strain: cosserat legendre 2}}\n"
    "  f: {on: d.tip, rod: {length: 0.2, material: gel, section: {circle: {radius: 0.02}}, strain: "
    "cosserat legendre 2}}\n";

static void open_robot(setting *s, dice *d) {
    setting_random(s, robot_text, d);
    for (int i = 0; i < s->g.m->nv; i++) s->g.s->q[i] *= 0.3; // no fibre is crushed
    for (int i = 0; i < s->g.m->nbranch_coordinate; i++) s->g.s->relaxed[i] = roll(d, -0.5, 0.5);
}

static void laws_have_exact_tangents(void **state) {
    (void)state;
    dice d = {71};
    for (int k = 0; k < 2; k++) {
        setting s;
        open_robot(&s, &d);
        for (int i = 0; i < s.g.m->nbranch; i++) s.g.s->follow[i] = k ? roll(&d, 0, 1) : 0;
        assert_true(s.g.m->nlaw_point > 0 && s.g.m->nbranch == 2);
        rig_check(&s.g);
        assert_int_equal(s.g.w->law_fault.kind, SNW_SECTION_OK);
        setting_close(&s);
    }
}

#ifndef SNW_WIDE // it compares residuals only
static void forces_are_derivatives_of_the_energy(void **state) {
    (void)state;
    dice d = {72};
    setting s;
    open_robot(&s, &d);
    snw_state_copy(s.g.m, s.g.s, s.g.moved); // the strains of the branches, which stay
    rig_check_stiffness(&s.g);
    rig_check_energy(&s.g);
    setting_close(&s);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_have_exact_tangents),
#ifndef SNW_WIDE
        cmocka_unit_test(forces_are_derivatives_of_the_energy),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
