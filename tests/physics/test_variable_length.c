// SPDX-License-Identifier: MIT
//
// Variable-length rods, theory.md 3.14: the tangent and the balances on random robots.
#ifndef SNW_NUMBERS
#include "oracle/linear.h"
#include "oracle/trial.h"
#endif

#include "dynamics/variable_length.h"
#include "random_tree.h"
// one of the trees that grow, of 32 coordinates, has rounding errors of 1.5e-13
#define RIG_ROUNDING 2e-13
#include "tangent_rig.h"

// This number of robots with uniform rods, then half as many with rods that vary along their
// material.
enum { ROBOTS = 24, MORE = 12 };

enum { VARYING_SECTION = 1, VARYING_REST = 2 };

// Sections, materials and rest strains that are functions of the material coordinate; polynomials,
// which piecewise interpolation represents exactly.
static void vary_along(tree *t, snw_link_desc *l, int how) {
    robot *r = &t->r;
    snw_rod_desc *rod = &l->rod;
    if (how & VARYING_SECTION) {
        rod->section.size[0] = law(r, "0.02 + 0.006*x - 0.004*x^2");
        rod->section.stiffness[1] = rod->section.stiffness[6] = law(r, "0.003*x");
    }
    if (how & VARYING_REST) {
        rod->rest[SNW_TWIST] = law(r, "0.6*x - x^4");
        rod->rest[SNW_BEND_Y] = law(r, "1 + 3*x - 2*x^2 + 4*x^3 - x^5");
        rod->rest[SNW_STRETCH] = law(r, "0.1*x^3");
        rod->rest[SNW_SHEAR_Z] = law(r, "0.2*x^2");
    }
}

static int how_of(int i) { return i < ROBOTS ? 0 : 1 + i % 3; }

// A random tree of variable-length rods, with loads along them; nothing is attached between their
// ends. They pass their root or, fixed there, their tip: those that vary grow there.
static void variable_length_tree(tree *t, dice *d, tree_opts o, int how) {
    tree_random(t, d, o);
    bool bears[sizeof t->link / sizeof t->link[0]] = {false};
    for (int i = 0; i < o.nlink; i++) {
        if (t->link[i].on.kind != SNW_SITE_WORLD) bears[t->link[i].on.link] = true;
    }
    if (how & VARYING_SECTION) {
        t->r.material.young = law(&t->r, "1e5*(1 + 0.4*x + 0.3*x^2)");
        t->r.material.density = law(&t->r, "1000*(1 + 0.5*x^3)");
        if (!o.conservative) t->r.material.damping = law(&t->r, "0.01*(1 + x)");
    }
    for (int i = 0; i < o.nlink; i++) {
        snw_link_desc *l = &t->link[i];
        if (l->on.kind == SNW_SITE_AT) l->on = link_end(l->on.link);
        l->rod.variable_length = l->has_rod;
        if (!l->has_rod) continue;
        // without a link on its tip its length moves no mass
        l->rod.fixed_root = bears[i] && i % 2 == 0;
        l->rod.grows = l->rod.fixed_root && how != 0;
        vary_along(t, l, how);
        const int magnus[] = {2, 4, 6};
        l->rod.magnus = magnus[pick_int(d, 0, 2)];
        l->rod.integrator = (snw_rule_kind)pick_int(d, SNW_RULE_MAGNUS, SNW_RULE_SPECTRAL);
        l->rod.points = l->rod.integrator == SNW_RULE_SPECTRAL ? pick_int(d, 2, 4) : 0;
        if (l->rod.active[SNW_BEND_Z] && pick_int(d, 0, 1)) {
            l->rod.basis[SNW_BEND_Z] =
                (snw_basis){.kind = SNW_BASIS_QUADRATIC, .nfun = 5, .nelem = 2};
        }
        if (o.conservative || t->r.desc.nload >= 5) continue;
        snw_load_desc *load = &t->r.load[t->r.desc.nload++];
        *load = (snw_load_desc){
            .name = "along", .along = true, .on = link_end(i), .body = pick_int(d, 0, 1)};
        for (int k = 0; k < 3; k++) {
            load->force[k] = number(&t->r, roll(d, -2, 2));
            load->torque[k] = law(&t->r, "0.3*sin(2*t + 1)");
        }
    }
}

// Random free lengths different from those in the model.
static void push(const snw_model *m, dice *d, snw_state *s) {
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed >= 0) s->q[m->rod[r].feed_q] = m->rod[r].L * roll(d, 0.6, 1.7);
    }
}

static void tangent_equals_differences(void **state) {
    (void)state;
    dice d = {1};
    for (int i = 0; i < ROBOTS + MORE; i++) {
        rig g;
        tree t;
        variable_length_tree(&t, &d,
                             (tree_opts){.nlink = pick_int(&d, 1, 5),
                                         .kind = i % 2 ? TREE_SOFT : TREE_MIXED,
                                         .floating = i % 3 == 0,
                                         .first_joints = true},
                             how_of(i));
        rig_open(&g, &t.r.desc);
        state_random(g.m, &d, g.s);
        push(g.m, &d, g.s);
        snw_inputs_at(g.m, g.s->t, g.in);
        rig_check(&g);
        rig_close(&g);
        robot_free(&t.r);
    }
}

#ifndef SNW_NUMBERS // the other derivatives are checked above; wide and complex builds have none

// Statics: the tangent against differences of the residual at rest.
static void static_tangent_equals_differences(void **state) {
    (void)state;
    dice d = {2};
    for (int i = 0; i < ROBOTS + MORE; i++) {
        trial t;
        tree of;
        variable_length_tree(&of, &d, (tree_opts){.nlink = pick_int(&d, 1, 4), .kind = TREE_SOFT},
                             how_of(i));
        trial_open(&t, &of.r.desc);
        state_random(t.m, &d, t.s);
        push(t.m, &d, t.s);
        trial_at(&t, t.s->t);
        const int n = t.m->nv;
        double *T = trial_tangent(&t, true, 1, 0, 0), *q = malloc((size_t)t.m->nq * sizeof *q),
               *dx = calloc((size_t)n, sizeof *dx), *column = calloc((size_t)n, sizeof *column);
        memcpy(q, t.s->q, (size_t)t.m->nq * sizeof *q);
        const double size = size_of(n * n, T), e = 1e-3, step[2] = {1, 2},
                     weight[2] = {8.0 / 12, -1.0 / 12};
        for (int j = 0; j < n; j++) {
            memset(column, 0, (size_t)n * sizeof *column);
            dx[j] = 1;
            for (int k = 0; k < 4; k++) {
                const int sign = k % 2 ? 1 : -1;
                snw_move(t.m, q, sign * step[k / 2] * e, dx, t.s->q);
                snw_residual(t.m, t.in, t.s, true, t.w);
                for (int r = 0; r < n; r++) column[r] += sign * weight[k / 2] * t.w->r[r] / e;
            }
            dx[j] = 0;
            for (int r = 0; r < n; r++) {
                const double got = T[(size_t)j * (size_t)n + (size_t)r];
                if (!(fabs(got - column[r]) <= 2e-8 * size))
                    fail_msg("robot %d row %d column %d of %d: %.12g, %.12g, size %g", i, r, j, n,
                             got, column[r], size);
            }
        }
        free(T), free(q), free(dx), free(column);
        trial_close(&t);
        robot_free(&of.r);
    }
}

// ---- balances -----------------------------------------------------------------------------------

// A tree of variable-length rods in motion under all loads, with enough nodes for a regular mass
// matrix.
static void open_moving(tree *of, trial *t, dice *d, tree_opts o, int how) {
    for (;;) {
        variable_length_tree(of, d, o, how);
        for (int i = 0; i < o.nlink; i++) {
            of->link[i].rod.nodes = 12;
            // a variable-length rod in a free frame without mass does not determine the motion of
            // the frame
            if (of->link[i].joint == SNW_JOINT_FREE) of->link[i].rod.variable_length = false;
        }
        trial_open(t, &of->r.desc);
        if (t->m->nfeed > 0) break;
        trial_close(t);
        robot_free(&of->r);
    }
    state_random(t->m, d, t->s);
    push(t->m, d, t->s);
    trial_at(t, t->s->t);
    trial_forward_dynamics(t);
}

static double energy(trial *t) {
    snw_kinematics(t->m, t->in, t->s, false, t->w);
    return snw_kinetic_energy(t->m, t->w) + snw_elastic_energy(t->m, t->s) +
           snw_gravity_energy(t->m, t->in, t->w);
}

// Rate of the energy along the motion through t->s, differences of order 6.
static double energy_rate(trial *t, double h) {
    const double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    snw_state *here = NULL;
    double rate = 0;
    assert_int_equal(snw_state_create(t->m, &here), SNW_OK);
    snw_state_copy(t->m, t->s, here);
    for (int k = 0; k < 6; k++) {
        const double e = (k % 2 ? 1 : -1) * (k / 2 + 1) * h;
        snw_move(t->m, here->q, e, here->v, t->s->q);
        for (int i = 0; i < t->m->nv; i++) t->s->v[i] = here->v[i] + e * here->a[i];
        trial_at(t, here->t + e);
        rate += (k % 2 ? 1 : -1) * weight[k / 2] * energy(t) / h;
    }
    snw_state_copy(t->m, here, t->s);
    trial_at(t, here->t);
    snw_state_destroy(here);
    return rate;
}

// The energy changes by the power of the loads, minus heat, plus the energy of the material that
// enters.
static void power_balances(void **state) {
    (void)state;
    dice d = {3};
    for (int i = 0; i < ROBOTS + MORE; i++) {
        trial t;
        tree of;
        open_moving(&of, &t, &d,
                    (tree_opts){.nlink = pick_int(&d, 2, 4),
                                .kind = i % 2 ? TREE_SOFT : TREE_MIXED,
                                .floating = i % 3 == 0},
                    how_of(i));
        double fastest = 0, power[9], sum = 0, size = 0;
        for (int k = 0; k < t.m->nv; k++) fastest = fmax(fastest, fabs(t.s->a[k]));
        const double rate = energy_rate(&t, fmin(1e-3, 0.1 / fastest));
        snw_residual(t.m, t.in, t.s, false, t.w);
        snw_load_power(t.m, t.in, t.s, t.w, power);
        for (int k = 0; k < snw_npower(t.m); k++) sum += power[k], size += fabs(power[k]);
        const double heat =
            snw_dissipation(t.m, t.s->v) + snw_variable_length_heat(t.m, t.s->q, t.s->v);
        assert_true(heat >= 0);
        size += fabs(rate) + heat + fastest * fabs(energy(&t));
        if (!(fabs(rate - (sum - heat)) <= 1e-9 * size))
            fail_msg("robot %d: %.12g, %.12g, size %g", i, rate, sum - heat, size);
        trial_close(&t);
        robot_free(&of.r);
    }
}

// The inflow of the energy account is the energy of the material at the root per length times its
// rate: on many nodes.
static void entering_material_has_the_state_of_the_root(void **state) {
    (void)state;
    dice d = {5};
    for (int i = 0; i < ROBOTS + MORE; i++) {
        trial t;
        robot r;
        robot_init(&r, 0.5, 0.02);
        for (int c = 0; c < 6; c++) robot_strain(&r, 0, c, SNW_BASIS_LEGENDRE, 3);
        r.link[0].rod.variable_length = true;
        r.link[0].rod.nodes = 20;
        r.link[0].rod.magnus = 6;
        r.link[0].rod.rest[SNW_BEND_Y] = number(&r, 0.5);
        if (how_of(i) & VARYING_SECTION) r.link[0].rod.section.size[0] = law(&r, "0.02 + 0.006*x");
        if (how_of(i) & VARYING_SECTION) r.material.density = law(&r, "1000*(1 + 0.5*x^2)");
        if (how_of(i) & VARYING_REST) r.link[0].rod.rest[SNW_BEND_Z] = law(&r, "1 + 2*x - 3*x^2");
        r.link[0].pose.xyz[0] = law(&r, "0.3*sin(2*t)");
        r.link[0].pose.nturn = 1;
        r.link[0].pose.turn[0] = (snw_turn){{{0, 0.6, 0.8}}, law(&r, "t + t^2")};
        for (int c = 0; c < 3; c++) r.desc.gravity[c] = number(&r, roll(&d, -9, 9));
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        push(t.m, &d, t.s);
        trial_at(&t, t.s->t);
        snw_kinematics(t.m, t.in, t.s, false, t.w);
        double H[36], D[36];
        snw_inertia M;
        snw_error err = {0};
        const snw_rod *rod = &t.m->rod[0];
        const double x = rod->L - t.s->q[rod->feed_q]; // material coordinate at the root
        assert_int_equal(snw_section_at(&r.link[0].rod, "arm", x, H, D, &M, &err), SNW_OK);
        const double feed_rate = t.s->v[rod->feed];
        const snw_twist xi = snw_rod_strain(rod, t.s->q, t.s->t, 0),
                        V = snw_twist_add(t.w->V[rod->root], snw_twist_scale(feed_rate, xi));
        const double want = feed_rate * (0.5 * snw_power(snw_inertia_apply(&M, V), V) -
                                         M.m * snw_dot(t.in->gravity, t.w->g[rod->root].p));
        const double size = snw_kinetic_energy(t.m, t.w) + fabs(snw_gravity_energy(t.m, t.in, t.w));
        // 20 Gauss points, Magnus expansions of order 6 between them
        assert_near(snw_variable_length_inflow(t.m, t.in, t.w), want, 1e-6 * size);
        trial_close(&t);
        robot_free(&r);
    }
}

static void mass_matrix_is_symmetric_and_gives_the_kinetic_energy(void **state) {
    (void)state;
    dice d = {4};
    for (int i = 0; i < ROBOTS + MORE; i++) {
        trial t;
        tree of;
        open_moving(
            &of, &t, &d,
            (tree_opts){.nlink = pick_int(&d, 2, 4), .kind = TREE_SOFT, .conservative = true},
            how_of(i));
        const int n = t.m->nv;
        double *M = trial_tangent(&t, false, 0, 0, 1), sum = 0;
        for (int j = 0; j < n * n; j++) sum += 0.5 * t.s->v[j / n] * M[j] * t.s->v[j % n];
        for (int j = 0; j < n * n; j++) {
            assert_true(fabs(M[j] - M[j % n * n + j / n]) <= 1e-14 * size_of(n * n, M));
        }
        snw_kinematics(t.m, t.in, t.s, false, t.w);
        assert_near(snw_kinetic_energy(t.m, t.w), sum, 1e-13 * sum);
        free(M);
        trial_close(&t);
        robot_free(&of.r);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangent_equals_differences),
#ifndef SNW_NUMBERS
        cmocka_unit_test(static_tangent_equals_differences),
        cmocka_unit_test(power_balances),
        cmocka_unit_test(entering_material_has_the_state_of_the_root),
        cmocka_unit_test(mass_matrix_is_symmetric_and_gives_the_kinetic_energy),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
