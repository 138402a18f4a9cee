// SPDX-License-Identifier: MIT
//
// Joints against closed forms, against integrated textbook equations and against equivalent chains
// of other joints.
#include "random_tree.h"

#include "described.h"
#include "integrate/explicit.h"
#include "oracle/closed.h"
#include "oracle/linear.h"
#include "oracle/ode.h"
#include "oracle/trial.h"
#include "study/run.h"
#include "study/series.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

static const snw_vec3 X = {{1, 0, 0}}, Y = {{0, 1, 0}}, Z = {{0, 0, 1}};

// A link on the world with the joint `joint` about `axis`.
static void one_link(tree *t, snw_joint_kind joint, snw_vec3 axis) {
    tree_init(t, 1);
    t->link[0].joint = joint;
    t->link[0].moves.axis = axis;
}

static void weight(tree *t, double g) { t->r.desc.gravity[2] = number(&t->r, -g); }

static void close(tree *t, trial *x) {
    trial_close(x);
    robot_free(&t->r);
}

// x->s <- the state at time t, by Runge-Kutta with tolerance 1e-12.
static void carry(trial *x, double t) {
    snw_explicit *e = NULL;
    snw_error err = {0};
    const snw_explicit_opts o = {.kind = SNW_ODE_RK87, .tolerance = 1e-12};
    if (snw_explicit_create(x->m, &o, &e, &err) != SNW_OK ||
        snw_explicit_start(e, x->s, &err) != SNW_OK ||
        snw_explicit_advance(e, t, INFINITY, &err) != SNW_OK) {
        fail_msg("%s", err.text);
    }
    snw_state_copy(x->m, snw_explicit_state(e), x->s);
    snw_explicit_destroy(e);
}

// ---- one axis -----------------------------------------------------------------------------------

// Period 4 sqrt(l/g) K(sin(angle/2)): after half of it the pendulum is at rest on the other side.
static void pendulum_swings_with_its_period(void **state) {
    (void)state;
    for (double angle = 0.5; angle < 3.1; angle += 0.6) {
        tree t;
        trial x;
        one_link(&t, SNW_JOINT_REVOLUTE, Y);
        weight(&t, 9.81);
        tree_body(&t, 0, 2, (snw_vec3){{0, 0, -0.7}}, (snw_vec3){{1, 0.3, 1}});
        trial_open(&x, &t.r.desc);
        x.s->q[0] = angle;
        // a compound pendulum has the period of a simple one of the reduced length
        const double l = (0.3 + 2 * 0.49) / (2 * 0.7);
        const double period = 4 * sqrt(l / 9.81) * oracle_elliptic_K(sin(angle / 2));
        carry(&x, period / 2);
        assert_near(x.s->q[0], -angle, 1e-9);
        assert_near(x.s->v[0], 0, 1e-9);
        carry(&x, period);
        assert_near(x.s->q[0], angle, 1e-9);
        close(&t, &x);
    }
}

static void mass_on_a_spring_with_damping(void **state) {
    (void)state;
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_PRISMATIC, (snw_vec3){{0.6, 0, 0.8}});
    weight(&t, 9.81);
    tree_body(&t, 0, 3, X, Y);
    snw_joint_desc *j = &t.link[0].moves;
    j->stiffness[0] = 40, j->damping[0] = 5, j->rest[0] = 0.1;
    trial_open(&x, &t.r.desc);
    x.s->q[0] = 0.3, x.s->v[0] = -1;
    const double rest = 0.1 - 3 * 9.81 * 0.8 / 40, d = 5 / 6.0, w = sqrt(40 / 3.0 - d * d);
    const double a = 0.3 - rest, b = (-1 + d * a) / w, time = 1.7;
    carry(&x, time);
    assert_near(x.s->q[0], rest + exp(-d * time) * (a * cos(w * time) + b * sin(w * time)), 1e-11);
    close(&t, &x);
}

// m v' = - mu v/sqrt(v^2 + c^2) leaves s - c log((c + s)/v) + mu t/m unchanged, s = sqrt(v^2 +
// c^2).
static void dry_friction_brakes(void **state) {
    (void)state;
    const double c = 1e-3, mu = 0.4, m = 2;
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_PRISMATIC, X);
    tree_body(&t, 0, m, Y, Y);
    t.link[0].moves.friction[0] = mu; // creep: 1e-3 m/s unless given
    trial_open(&x, &t.r.desc);
    x.s->v[0] = 1;
    double first = 0;
    const double times[] = {0, 2.5, 4.9, 5.02}; // sliding, and finally creeping
    for (int i = 0; i < 4; i++) {
        const double time = times[i];
        if (i > 0) carry(&x, time);
        const double v = x.s->v[0], s = sqrt(v * v + c * c);
        const double kept = s - c * log((c + s) / v) + mu * time / m;
        if (i == 0) first = kept;
        assert_near(kept, first, 1e-9);
    }
    assert_true(x.s->v[0] > 0 && x.s->v[0] < c);
    close(&t, &x);
}

// No force along and no moment about the axis: a point of the body moves on a helix.
static void cylindrical_joint_draws_a_helix(void **state) {
    (void)state;
    tree t;
    trial x;
    const snw_vec3 axis = snw_normalise((snw_vec3){{1, 2, -2}});
    one_link(&t, SNW_JOINT_CYLINDRICAL, axis);
    tree_body(&t, 0, 2, Y, (snw_vec3){{0.1, 0.2, 0.3}});
    t.r.desc.nlink = 2; // a point off the axis
    t.link[1] = t.link[0];
    t.link[1].on = link_end(0);
    t.link[1].joint = SNW_JOINT_FIXED;
    t.link[1].has_body = false;
    tree_place(&t, 1, (snw_se3){snw_mat3_identity(), {{0.3, 0.1, -0.2}}});
    trial_open(&x, &t.r.desc);
    x.s->v[0] = 3, x.s->v[1] = 0.2;
    carry(&x, 1.5);
    const snw_twist screw = {{snw_scale(3, axis), snw_scale(0.2, axis)}};
    const snw_vec3 want = snw_se3_point(oracle_helix(screw, 1.5), (snw_vec3){{0.3, 0.1, -0.2}});
    assert_near(snw_norm(snw_sub(trial_end(&x, 1).p, want)), 0, 1e-10);
    close(&t, &x);
}

// ---- two pendulums ------------------------------------------------------------------------------

// The textbook equations in absolute angles; y = (angles, rates).
static void double_pendulum(void *user, double time, const double *y, double *dy) {
    (void)user, (void)time;
    const double m1 = 1.2, m2 = 0.7, l1 = 0.6, l2 = 0.9, g = 9.81;
    const double c = cos(y[0] - y[1]), s = sin(y[0] - y[1]);
    const double a11 = (m1 + m2) * l1, a12 = m2 * l2 * c, a21 = l1 * c, a22 = l2;
    const double b1 = -m2 * l2 * y[3] * y[3] * s - (m1 + m2) * g * sin(y[0]);
    const double b2 = l1 * y[2] * y[2] * s - g * sin(y[1]), det = a11 * a22 - a12 * a21;
    dy[0] = y[2], dy[1] = y[3];
    dy[2] = (b1 * a22 - a12 * b2) / det;
    dy[3] = (a11 * b2 - a21 * b1) / det;
}

static void double_pendulum_moves_as_in_the_textbook(void **state) {
    (void)state;
    tree t;
    trial x;
    tree_init(&t, 2);
    weight(&t, 9.81);
    for (int i = 0; i < 2; i++) {
        t.link[i].joint = SNW_JOINT_REVOLUTE;
        t.link[i].moves.axis = Y;
        tree_body(&t, i, i ? 0.7 : 1.2, (snw_vec3){{0, 0, i ? -0.9 : -0.6}}, (snw_vec3){{0}});
    }
    t.link[1].on = link_end(0);
    tree_place(&t, 1, (snw_se3){snw_mat3_identity(), {{0, 0, -0.6}}});
    trial_open(&x, &t.r.desc);
    double y[4] = {1.5, 0.4, 0, 1};
    x.s->q[0] = 1.5, x.s->q[1] = 0.4 - 1.5, x.s->v[0] = 0, x.s->v[1] = 1;
    (void)oracle_ode(4, double_pendulum, NULL, 0, 2, 1e-13, y);
    carry(&x, 2);
    assert_near(x.s->q[0], y[0], 1e-9);
    assert_near(x.s->q[0] + x.s->q[1], y[1], 1e-9);
    assert_near(x.s->v[0] + x.s->v[1], y[3], 1e-8);
    close(&t, &x);
}

// ---- tops ---------------------------------------------------------------------------------------

// Landau and Lifshitz, Mechanics, 37: body rates in Jacobi's functions, for energy and momentum
// beyond those of the middle axis.
static void free_top_turns_by_jacobis_functions(void **state) {
    (void)state;
    const double I[3] = {0.2, 0.3, 0.45}, w0[3] = {0.9, 0, 1.4};
    double E2 = 0, M2 = 0;
    for (int i = 0; i < 3; i++) E2 += I[i] * w0[i] * w0[i], M2 += I[i] * I[i] * w0[i] * w0[i];
    const double rate = sqrt((I[2] - I[1]) * (M2 - E2 * I[0]) / (I[0] * I[1] * I[2]));
    const double k = sqrt((I[1] - I[0]) * (E2 * I[2] - M2) / ((I[2] - I[1]) * (M2 - E2 * I[0])));
    const double middle = sqrt((E2 * I[2] - M2) / (I[1] * (I[2] - I[1])));
    for (int kind = 0; kind < 2; kind++) { // on a spherical joint, and free
        tree t;
        trial x;
        one_link(&t, kind ? SNW_JOINT_FREE : SNW_JOINT_SPHERICAL, Z);
        tree_body(&t, 0, 1, (snw_vec3){{0}}, (snw_vec3){{I[0], I[1], I[2]}});
        trial_open(&x, &t.r.desc);
        for (int i = 0; i < 3; i++) x.s->v[i] = w0[i];
        for (double time = 1; time < 8; time += 2.3) {
            carry(&x, time);
            double sn, cn, dn;
            oracle_jacobi(rate * time, k, &sn, &cn, &dn);
            assert_near(x.s->v[0], w0[0] * cn, 1e-9);
            assert_near(x.s->v[1], middle * sn, 1e-9);
            assert_near(x.s->v[2], w0[2] * dn, 1e-9);
        }
        // momentum in the world frame
        snw_kinematics(x.m, x.in, x.s, false, x.w);
        const snw_wrench P = snw_momentum(x.m, x.w);
        for (int i = 0; i < 3; i++) assert_near(P.m.e[i], I[i] * w0[i], 1e-9);
        close(&t, &x);
    }
}

// A heavy top inclined by theta precesses at the rate W where W (C s - A W cos(theta)) = m g l,
// with s the spin about its axis.
static void heavy_top_precesses_steadily(void **state) {
    (void)state;
    const double m = 0.5, l = 0.3, A = 0.08, C = 0.02, g = 9.81, theta = 0.6, W = 1.7;
    const double s = (m * g * l / W + A * W * cos(theta)) / C;
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_SPHERICAL, Z);
    weight(&t, g);
    tree_body(&t, 0, m, (snw_vec3){{0, 0, l}}, (snw_vec3){{A - m * l * l, A - m * l * l, C}});
    trial_open(&x, &t.r.desc);
    const snw_mat3 lean = snw_so3_exp((snw_vec3){{0, theta, 0}});
    snw_so3_to_numbers(lean, x.s->q);
    x.s->v[0] = -W * sin(theta), x.s->v[2] = s;
    const double time = 2.5;
    carry(&x, time);
    const snw_mat3 want =
        snw_mat3_mul(snw_so3_exp(snw_scale(W * time, Z)),
                     snw_mat3_mul(lean, snw_so3_exp(snw_scale((s - W * cos(theta)) * time, Z))));
    const snw_mat3 R = trial_end(&x, 0).R;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) assert_near(R.e[i][j], want.e[i][j], 1e-8);
    }
    close(&t, &x);
}

// For rotation about one axis, in any direction, the spring of a spherical joint is that of a
// hinge.
static void ball_swings_on_its_spring(void **state) {
    (void)state;
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_SPHERICAL, Z);
    const snw_vec3 n = snw_normalise((snw_vec3){{1, -2, 0.5}});
    snw_joint_desc *j = &t.link[0].moves;
    j->stiffness[0] = 3, j->damping[0] = 0.2;
    j->has_rest_turn = true;
    j->rest_turn = snw_so3_exp((snw_vec3){{0.4, 0.2, -0.3}});
    tree_body(&t, 0, 1, (snw_vec3){{0}}, (snw_vec3){{0.5, 0.5, 0.5}});
    trial_open(&x, &t.r.desc);
    snw_so3_to_numbers(snw_mat3_mul(j->rest_turn, snw_so3_exp(snw_scale(1.2, n))), x.s->q);
    assert_near(snw_elastic_energy(x.m, x.s), 0.5 * 3 * 1.2 * 1.2, 1e-14);
    const double time = 2, d = 0.2, w = sqrt(6 - d * d);
    carry(&x, time);
    const double angle = 1.2 * exp(-d * time) * (cos(w * time) + d / w * sin(w * time));
    const snw_vec3 e =
        snw_so3_log(snw_mat3_mul(snw_mat3_transpose(j->rest_turn), snw_so3_from_numbers(x.s->q)));
    for (int i = 0; i < 3; i++) assert_near(e.e[i], angle * n.e[i], 1e-10);
    close(&t, &x);
}

// ---- joints as chains of simple joints ----------------------------------------------------------

// One joint and a chain of simple joints with massless links have the same forces and the same
// mass.
static void joints_are_chains_of_simple_ones(void **state) {
    (void)state;
    const struct {
        snw_joint_kind joint, part[3];
        snw_vec3 axis, along[3];
        int n;
    } cases[] = {
        {SNW_JOINT_CYLINDRICAL, {SNW_JOINT_REVOLUTE, SNW_JOINT_PRISMATIC}, X, {X, X}, 2},
        {SNW_JOINT_UNIVERSAL, {SNW_JOINT_REVOLUTE, SNW_JOINT_REVOLUTE}, Y, {Y, Z}, 2},
        {SNW_JOINT_PLANAR,
         {SNW_JOINT_PRISMATIC, SNW_JOINT_PRISMATIC, SNW_JOINT_REVOLUTE},
         X,
         {Y, Z, X},
         3},
        {SNW_JOINT_PIN_SLOT, {SNW_JOINT_PRISMATIC, SNW_JOINT_REVOLUTE}, Y, {Z, Y}, 2},
    };
    dice d = {31};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        tree one, many;
        trial x, y;
        tree_init(&one, 2);
        tree_init(&many, cases[k].n + 1);
        const int n = cases[k].n;
        // a heavy link below, so that the joint itself moves
        for (int i = 0; i < 2; i++) {
            tree *t = i ? &many : &one;
            weight(t, 9.81);
            t->link[0].joint = SNW_JOINT_REVOLUTE;
            t->link[0].moves.axis = snw_normalise((snw_vec3){{1, 2, 3}});
            tree_body(t, 0, 1, X, (snw_vec3){{0.1, 0.2, 0.3}});
        }
        const snw_se3 g = {snw_so3_exp(roll_vec3(&d, 1)), roll_vec3(&d, 0.5)};
        one.link[1].on = link_end(0);
        one.link[1].joint = cases[k].joint;
        one.link[1].moves.axis = cases[k].axis;
        tree_place(&one, 1, g);
        tree_body(&one, 1, 1.3, (snw_vec3){{0.1, 0.2, -0.3}}, (snw_vec3){{0.1, 0.2, 0.3}});
        for (int i = 0; i < n; i++) {
            snw_link_desc *l = &many.link[1 + i];
            l->on = link_end(i);
            l->joint = cases[k].part[i];
            l->moves.axis = cases[k].along[i];
            one.link[1].moves.stiffness[i] = l->moves.stiffness[0] = 2 + i;
            one.link[1].moves.friction[i] = l->moves.friction[0] = 0.2 + i;
        }
        tree_place(&many, 1, g);
        tree_body(&many, n, 1.3, (snw_vec3){{0.1, 0.2, -0.3}}, (snw_vec3){{0.1, 0.2, 0.3}});
        trial_open(&x, &one.r.desc);
        trial_open(&y, &many.r.desc);
        assert_int_equal(x.m->nv, y.m->nv);
        state_random(x.m, &d, x.s);
        snw_state_copy(x.m, x.s, y.s);
        snw_residual(x.m, x.in, x.s, false, x.w);
        snw_residual(y.m, y.in, y.s, false, y.w);
        for (int i = 0; i < x.m->nv; i++) assert_near(x.w->r[i], y.w->r[i], 1e-13);
        close(&one, &x);
        close(&many, &y);
    }
}

// Three hinges with a common point are equivalent to a spherical joint away from their singularity.
static void three_hinges_are_a_ball(void **state) {
    (void)state;
    tree ball, hinges;
    trial x, y;
    const snw_vec3 axes[3] = {Z, Y, X};
    one_link(&ball, SNW_JOINT_SPHERICAL, Z);
    tree_init(&hinges, 3);
    for (int i = 0; i < 3; i++) {
        if (i > 0) hinges.link[i].on = link_end(i - 1);
        hinges.link[i].joint = SNW_JOINT_REVOLUTE;
        hinges.link[i].moves.axis = axes[i];
    }
    tree_body(&ball, 0, 1, (snw_vec3){{0.3, 0, -0.2}}, (snw_vec3){{0.1, 0.2, 0.3}});
    tree_body(&hinges, 2, 1, (snw_vec3){{0.3, 0, -0.2}}, (snw_vec3){{0.1, 0.2, 0.3}});
    weight(&ball, 5), weight(&hinges, 5);
    trial_open(&x, &ball.r.desc);
    trial_open(&y, &hinges.r.desc);
    const double q[3] = {0.4, -0.3, 0.8}, v[3] = {1, 0.5, -2};
    for (int i = 0; i < 3; i++) y.s->q[i] = q[i], y.s->v[i] = v[i];
    snw_kinematics(y.m, y.in, y.s, false, y.w);
    snw_so3_to_numbers(y.w->g[y.m->link_end[2]].R, x.s->q);
    for (int i = 0; i < 3; i++) x.s->v[i] = y.w->V[y.m->link_end[2]].e[i];
    carry(&x, 1);
    carry(&y, 1);
    assert_true(fabs(y.s->q[1]) < 1.4);
    const snw_mat3 R = trial_end(&x, 0).R, want = trial_end(&y, 2).R;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) assert_near(R.e[i][j], want.e[i][j], 1e-9);
    }
    close(&ball, &x);
    close(&hinges, &y);
}

// ---- rods and rigid links -----------------------------------------------------------------------

// Tip of a heavy rod on a hinge after 0.3 s; young 0: a rigid link.
static snw_vec3 rod_on_a_hinge(double young) {
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_REVOLUTE, Y);
    weight(&t, 9.81);
    t.link[0].has_rod = true;
    t.link[0].rod = t.r.link[0].rod;
    t.link[0].rod.nodes = 6;
    t.r.material.young = number(&t.r, young);
    if (young > 0) {
        t.link[0].rod.active[SNW_BEND_Y] = true;
        t.link[0].rod.basis[SNW_BEND_Y] =
            (snw_basis){.kind = SNW_BASIS_LEGENDRE, .nfun = 2, .nelem = 1};
    }
    trial_open(&x, &t.r.desc);
    carry(&x, 0.3);
    const snw_vec3 p = trial_end(&x, 0).p;
    close(&t, &x);
    return p;
}

// The deflection by bending is proportional to the inverse of the stiffness.
static void a_stiff_rod_is_a_rigid_link(void **state) {
    (void)state;
    const snw_vec3 rigid = rod_on_a_hinge(0);
    assert_true(rigid.z < -0.3);
    const double a = snw_norm(snw_sub(rod_on_a_hinge(1e9), rigid)),
                 b = snw_norm(snw_sub(rod_on_a_hinge(1e11), rigid));
    assert_true(a < 1e-2);
    assert_true(b < a / 30); // a factor of a hundred but for the phase of the vibration
}

// ---- equilibrium --------------------------------------------------------------------------------

// A horizontal arm on a hinge with a spring sinks to the equilibrium k q = m g l cos(q).
static void hinge_sinks_to_its_equilibrium(void **state) {
    (void)state;
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_REVOLUTE, Y);
    weight(&t, 9.81);
    tree_body(&t, 0, 0.5, (snw_vec3){{0.4, 0, 0}}, Y);
    t.link[0].moves.stiffness[0] = 2;
    trial_open(&x, &t.r.desc);
    (void)trial_settle(&x);
    const double q = x.s->q[0];
    assert_true(q > 0.3);
    assert_near(2 * q, 0.5 * 9.81 * 0.4 * cos(q), 1e-13);
    // the parent carries the whole weight
    const snw_wrench F =
        snw_wrench_to_parent(x.w->g[x.m->link_first[0]], x.w->F[x.m->link_first[0]]);
    assert_near(F.f.z, 0.5 * 9.81, 1e-13);
    close(&t, &x);
}

// The torque of the spring, along the rotation vector, balances the weight: k e = c x R' m g.
static void ball_sinks_to_its_equilibrium(void **state) {
    (void)state;
    tree t;
    trial x;
    const snw_vec3 c = {{0.4, 0.1, 0.2}};
    one_link(&t, SNW_JOINT_SPHERICAL, Z);
    weight(&t, 9.81);
    tree_body(&t, 0, 0.5, c, Y);
    t.link[0].moves.stiffness[0] = 2;
    trial_open(&x, &t.r.desc);
    (void)trial_settle(&x);
    const snw_mat3 R = trial_end(&x, 0).R;
    const snw_vec3 e = snw_so3_log(R);
    const snw_vec3 torque = snw_cross(c, snw_rotate_inv(R, (snw_vec3){{0, 0, -0.5 * 9.81}}));
    assert_true(snw_norm(e) > 0.3);
    for (int i = 0; i < 3; i++) assert_near(2 * e.e[i], torque.e[i], 1e-12);
    close(&t, &x);
}

// ---- probes -------------------------------------------------------------------------------------

// Every coordinate, rate and effort, by its column in the record.
static void probes_show_joints(void **state) {
    (void)state;
    const char *text = HEAD
        "robot:\n"
        "  a: {on: world, joint: planar, stiffness: [1, 2, 3], damping: [4, 5, 6], rest: [0, 0, "
        "1],\n"
        "      body: {mass: 1, inertia: [1, 1, 1]}}\n"
        "  b: {on: world, joint: spherical, stiffness: 2, damping: 3, rest: {axis: x, angle: "
        "0.2},\n"
        "      body: {mass: 1, inertia: [1, 1, 1]}}\n"
        "  c: {on: world, joint: prismatic, friction: 2, creep: 3, body: {mass: 1}}\n"
        "initial:\n"
        "  a: {position: [0.1, 0.2, 0.3], rate: [0.4, 0.5, 0.6]}\n"
        "  b: {position: {axis: x, angle: 0.5}, rate: [0, 0, 0.1]}\n"
        "  c: {rate: 4}\n"
        "study: [dynamic: {for: 1 ms, step: 1 ms}]\n"
        "probes: {av: {value: a}, ar: {rate: a}, ae: {effort: a}, bv: {value: b}, br: {rate: b},\n"
        "  be: {effort: b}, ce: {effort: c}}\n";
    const double want[] = {
        0.1,         0.2,        0.3,       0.4, 0.5, 0.6, // planar: position, rate,
        -0.1 - 1.6,  -0.4 - 2.5, 2.1 - 3.6,                // -k (q - rest) - d v
        0.5,         0,          0,         0,   0,   0.1, -2 * 0.3, 0, -0.3, // spherical joint
        -2 * 4 / 5.0};                                                        // v/sqrt(v^2 + c^2)
    const int n = (int)(sizeof want / sizeof want[0]);
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err;
    snw_series series;
    if (describe(text, &doc, &desc, &err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    const snw_run_info *info = snw_run_describe(run);
    assert_int_equal(info->ncolumn, n);
    assert_string_equal(info->q_name[2], "a.angle");
    assert_string_equal(info->q_name[3], "b.qw");
    assert_string_equal(info->q_name[7], "c.slide");
    snw_series_init(&series, n);
    const snw_recorder recorder = snw_series_recorder(&series);
    assert_int_equal(snw_run_execute(run, 1, &recorder, NULL, NULL, &err), SNW_OK);
    for (int i = 0; i < n; i++) assert_near(series.value[i], want[i], 1e-14);
    snw_series_clear(&series);
    snw_run_destroy(run);
    release(doc, desc);
}

// A torque by a law of angle and rate, with units, is equivalent to spring and damping in the
// joint, also for repeated links.
static void laws_of_coordinates_act_as_springs(void **state) {
    (void)state;
    const char *text =
        "sinew: 1\n"
        "parameters: {K: 2 N*m, C: 0.3 N*m*s}\n"
        "robot:\n"
        "  by(k=1..2): {on: world, joint: revolute, axis: y, stiffness: K*(k - 1), damping: C*(k - "
        "1),\n"
        "               body: {mass: 1, com: [0.3, 0, 0.4], inertia: [0.1, 0.1, 0.1]}}\n"
        "loads: {law: {on: by(1), torque: [0, -K*q(1) - C*r(1), 0]}}\n"
        "initial: {by(k=1..2): {position: 1, rate: -1}}\n"
        "study: [dynamic: {for: 2 s, step: 10 ms, scheme: generalized-alpha}]\n"
        "probes: {q(k=1..2): {angle: by(k)}, r(k=1..2): {rate: by(k)}}\n";
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err;
    snw_series series;
    if (describe(text, &doc, &desc, &err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    snw_series_init(&series, 4);
    const snw_recorder recorder = snw_series_recorder(&series);
    assert_int_equal(snw_run_execute(run, 1, &recorder, NULL, NULL, &err), SNW_OK);
    const double *end = series.value + (size_t)(series.nframe - 1) * 4;
    assert_true(fabs(end[0] - 1) > 0.1);
    assert_near(end[0], end[1], 1e-9); // both to the tolerance of Newton, in every step
    assert_near(end[2], end[3], 1e-9);
    snw_series_clear(&series);
    snw_run_destroy(run);
    release(doc, desc);
}

// A coordinate without inertia is refused with its name instead of a division by zero.
static void joints_without_mass_are_refused(void **state) {
    (void)state;
    tree t;
    trial x;
    one_link(&t, SNW_JOINT_SPHERICAL, Z); // a point mass on the axis has no inertia about it
    tree_body(&t, 0, 1, X, (snw_vec3){{0}});
    trial_open(&x, &t.r.desc);
    double M[9];
    snw_error err = {0};
    assert_int_equal(snw_accelerations(x.m, x.in, x.s, x.w, M, &err), SNW_E_SINGULAR);
    assert_non_null(strstr(err.text, "moves no mass"));
    close(&t, &x);
}

// ---- limits -------------------------------------------------------------------------------------

typedef struct heard {
    int n;
    char text[256];
} heard;

static void hear(void *user, const char *message) {
    heard *h = user;
    h->n++;
    (void)snprintf(h->text, sizeof h->text, "%s", message);
}

static void limits_warn_once(void **state) {
    (void)state;
    const char *text = HEAD "robot: {a: {on: world, joint: revolute, limits: [-1, 1], body: {mass: "
                            "1, inertia: [1, 1, 1]}},"
                            " b: {on: world, joint: prismatic, limits: [-1, 9], body: {mass: 1}}}\n"
                            "initial: {a: {rate: 2}, b: {rate: 2}}\n"
                            "study: [dynamic: {for: 2 s, step: 0.1 s, scheme: newmark}]\n";
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err;
    heard h = {0};
    if (describe(text, &doc, &desc, &err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    const snw_run_hooks hooks = {.user = &h, .warn = hear};
    for (int k = 1; k <= 2; k++) { // once in every execution
        assert_int_equal(snw_run_execute(run, 0, NULL, &hooks, NULL, &err), SNW_OK);
        assert_int_equal(h.n, k);
    }
    assert_non_null(
        strstr(h.text, "joint 'a' is outside of its limits at t = 0.6 s: angle 1.2 rad"));
    snw_run_destroy(run);
    release(doc, desc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_swings_with_its_period),
        cmocka_unit_test(mass_on_a_spring_with_damping),
        cmocka_unit_test(dry_friction_brakes),
        cmocka_unit_test(cylindrical_joint_draws_a_helix),
        cmocka_unit_test(double_pendulum_moves_as_in_the_textbook),
        cmocka_unit_test(free_top_turns_by_jacobis_functions),
        cmocka_unit_test(heavy_top_precesses_steadily),
        cmocka_unit_test(ball_swings_on_its_spring),
        cmocka_unit_test(joints_are_chains_of_simple_ones),
        cmocka_unit_test(three_hinges_are_a_ball),
        cmocka_unit_test(a_stiff_rod_is_a_rigid_link),
        cmocka_unit_test(hinge_sinks_to_its_equilibrium),
        cmocka_unit_test(ball_sinks_to_its_equilibrium),
        cmocka_unit_test(probes_show_joints),
        cmocka_unit_test(laws_of_coordinates_act_as_springs),
        cmocka_unit_test(joints_without_mass_are_refused),
        cmocka_unit_test(limits_warn_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
