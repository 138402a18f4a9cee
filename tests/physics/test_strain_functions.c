// SPDX-License-Identifier: MIT
//
// Rods on strain functions given by the user: exact derivatives with every kind of function, and
// the same residual and tangent as on the basis of the language that the functions spell out.
#include "random_rod.h"
#include "setting.h"

#include <stdio.h>

// A free arm whose functions vary smoothly, with kinks and with a jump, which carries another rod.
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm: {on: world, joint: free, rod: {length: 0.6, section: {circle: {radius: 20 mm}}, "
    "material: rubber, rest: {bend_y: 0.3*x/L}, integrator: %s, nodes: 8, strain: {%s}%s}}\n"
    "  hand: {on: arm@70%%, pose: {xyz: [0, 0.05, 0]}, rod: {length: 0.3, section: {circle: "
    "{radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 2}}}\n"
    "actuators: {pull: {tendon: {along: arm, at: [0, 1 cm, \"2 mm*x/L\"]}, effort: 2}}\n";

static const char *const rules[] = {"magnus 4", "magnus 6", "rk4", "spectral 3"};

static void arm_open(setting *s, const char *rule, const char *strain, const char *together) {
    char text[2000];
    (void)snprintf(text, sizeof text, robot_text, rule, strain, together);
    setting_open(s, text);
}

static void functions_leave_exact_derivatives(void **state) {
    (void)state;
    dice d = {43};
    for (int k = 0; k < 4; k++) {
        setting s;
        arm_open(&s, rules[k],
                 "bend_y: [1, exp(-x/L), sin(4*x/L)], bend_z: [1, \"abs(x - 0.2)\", \"step(x, "
                 "0.35)\"], stretch: [0.1*(x/L)^2], twist: legendre 2",
                 "");
        assert_int_equal(s.g.m->nv, 6 + 2 + 3 + 3 + 1 + 2);
        assert_int_equal(s.g.m->rod[0].nelem, 3);
        state_random(s.g.m, &d, s.g.s);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// 1, 2u - 1, 6u^2 - 6u + 1 are the first Legendre polynomials: residuals are the same numbers.
static void spelt_out_polynomials_are_those_of_the_language(void **state) {
    (void)state;
    static const char spelt[] = "bend_y: [1, 2*x/L - 1, 6*(x/L)^2 - 6*x/L + 1], stretch: [1]";
    for (int k = 0; k < 4; k++) {
        dice d = {44}, same = {44};
        setting a, b;
        arm_open(&a, rules[k], spelt, "");
        arm_open(&b, rules[k], "bend_y: legendre 3, stretch: legendre 1", "");
        assert_int_equal(a.g.m->nv, b.g.m->nv);
        assert_int_equal(a.g.m->nseg, b.g.m->nseg);
        state_random(a.g.m, &d, a.g.s);
        state_random(b.g.m, &same, b.g.s);
        snw_inputs_at(a.g.m, a.g.s->t, a.g.in);
        snw_inputs_at(b.g.m, b.g.s->t, b.g.in);
        snw_residual(a.g.m, a.g.in, a.g.s, false, a.g.w);
        snw_residual(b.g.m, b.g.in, b.g.s, false, b.g.w);
        for (int i = 0; i < a.g.m->nv; i++)
            assert_near(a.g.w->r[i], b.g.w->r[i], 1e-11 * (1 + fabs(b.g.w->r[i])));
        setting_close(&a);
        setting_close(&b);
    }
}

// Strains that move together, among them one whose functions depend on each other, between others.
static void strains_together_leave_exact_derivatives(void **state) {
    (void)state;
    dice d = {45};
    for (int k = 0; k < 4; k++) {
        setting s;
        arm_open(&s, rules[k],
                 "twist: [1], bend_y: [1, exp(-x/L), sin(4*x/L)], bend_z: [1, \"abs(x - 0.2)\", "
                 "x/L], stretch: [0.1, 0.1, 0], shear_y: linear",
                 ", together: [stretch, bend_y, bend_z], elements: 3");
        assert_int_equal(s.g.m->nv, 6 + 2 + 1 + 3 + 4);
        state_random(s.g.m, &d, s.g.s);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// to (with own coordinates of each strain) <- the motion of `from` (together).
static void spread(const snw_model *a, const double *from, const snw_model *b, double *to,
                   bool is_q) {
    const snw_rod *ra = &a->rod[0], *rb = &b->rod[0];
    const int sa = is_q ? ra->shift : 0, sb = is_q ? rb->shift : 0;
    for (int i = 0; i < ra->dof0 + sa; i++) to[i] = from[i];
    for (int c = 0; c < ra->na; c++) {
        for (int j = 0; j < ra->nfun[c]; j++) to[rb->dof[c] + sb + j] = from[ra->dof[c] + sa + j];
    }
    const int after = ra->dof0 + ra->ndof, n = a->nv - after;
    for (int j = 0; j < n; j++) to[rb->dof0 + rb->ndof + sb + j] = from[after + sa + j];
}

// The equations are those of a robot whose strains have coordinates of their own, summed over the
// strains: r_z = T'r(T z), q = T z.
static void strains_together_have_the_sum_of_the_forces(void **state) {
    (void)state;
    static const char strain[] =
        "bend_y: [1, x/L], bend_z: [x/L, 1 - 2*(x/L)^2], stretch: [0.1, 0.2*x/L]";
    for (int k = 0; k < 4; k++) {
        dice d = {46};
        setting z, q;
        arm_open(&z, rules[k], strain, ", together: [bend_y, bend_z, stretch]");
        arm_open(&q, rules[k], strain, "");
        const snw_model *a = z.g.m, *b = q.g.m;
        assert_int_equal(a->nv + 4, b->nv);
        state_random(a, &d, z.g.s);
        spread(a, z.g.s->q, b, q.g.s->q, true);
        spread(a, z.g.s->v, b, q.g.s->v, false);
        spread(a, z.g.s->a, b, q.g.s->a, false);
        q.g.s->t = z.g.s->t;
        snw_inputs_at(a, z.g.s->t, z.g.in);
        snw_inputs_at(b, q.g.s->t, q.g.in);
        snw_residual(a, z.g.in, z.g.s, false, z.g.w);
        snw_residual(b, q.g.in, q.g.s, false, q.g.w);
        for (int j = 0; j < 2; j++) {
            double sum = 0;
            for (int c = 0; c < 3; c++) sum += q.g.w->r[b->rod[0].dof[c] + j];
            assert_near(z.g.w->r[a->rod[0].dof0 + j], sum, 1e-10 * (1 + fabs(sum)));
        }
        for (int i = 0; i < a->rod[0].dof0; i++)
            assert_near(z.g.w->r[i], q.g.w->r[i], 1e-10 * (1 + fabs(q.g.w->r[i])));
        setting_close(&z);
        setting_close(&q);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_leave_exact_derivatives),
        cmocka_unit_test(spelt_out_polynomials_are_those_of_the_language),
        cmocka_unit_test(strains_together_leave_exact_derivatives),
        cmocka_unit_test(strains_together_have_the_sum_of_the_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
