// SPDX-License-Identifier: MIT
//
// Observers placed on demand: twist, acceleration, Jacobian and its rate are derivatives of the
// pose and of each other, at nodes, sections and offsets; at a probe's station they are what the
// probe sees.
#include "dynamics/observer.h"
#include "robot_texts.h"
#include "setting.h"

#include <stdio.h>

static const char variable[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  cart: {on: world, pose: {xyz: [0.1*sin(2*t/(1 s)), 0, 0], rpy: [0, 0.4*t/(1 s), 0]}, joint: "
    "revolute, axis: y, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  arm: {on: cart, rod: {length: 0.6, section: {circle: {radius: 20 mm}}, material: rubber, "
    "rest: {bend_z: 0.8*x/L}, strain: cosserat legendre 2}}\n"
    "actuators: {out: {feed: arm, position: 0.6 m}}\n"
    "probes: {a: {twist: arm@37%}, b: {acceleration: arm@81%}}\n";

static const char grid[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  arm: {on: base, rod: {length: 0.6, section: {circle: {radius: 20 mm}}, material: rubber, "
    "rest: {bend_z: 0.8*x/L}, strain: {bend_y: legendre 3, stretch: legendre 1, "
    "twist: 0.3*sin(3*t)*x}, integrator: chebyshev 11}}\n"
    "  side: {on: arm@40%, pose: {rpy: [10 deg, 20 deg, 30 deg]}, rod: {length: 0.3, section: "
    "{circle: {radius: 20 mm}}, material: rubber, strain: cosserat legendre 2, integrator: "
    "chebyshev 9}}\n"
    "probes: {a: {twist: arm@37%}, b: {acceleration: side@81%}, c: {position: side@50%}}\n";

static const char *text_of(int which) {
    static char tree[3000];
    if (which == 1) return variable;
    if (which == 2) return grid;
    (void)snprintf(tree, sizeof tree,
                   SOFT_TREE "probes: {a: {twist: upper@37%%}, b: {acceleration: lower@81%%}, c: "
                             "{position: side@50%%}}\n");
    return tree;
}

static snw_se3 offset(void) {
    return snw_se3_exp((snw_twist){{.w = {{0.3, -0.2, 0.5}}, .v = {{0.02, 0.05, -0.03}}}});
}

// the k-th place of a robot: nodes, sections at nodes and between them, root and tip
static void place(const snw_model *m, snw_observer *o, int k) {
    const int rod = k % m->nrod;
    const double L = m->rod[rod].L, x[] = {0, 0.13, 0.5, 0.77, 1};
    const snw_se3 shift = k % 2 ? offset() : snw_se3_identity();
    if (k % 7 == 6) {
        snw_observer_at_seg(o, 1 + k % (m->nseg - 1), shift);
    } else {
        snw_observer_at_section(m, o, rod,
                                k % 7 == 5 ? m->seg_x[m->rod[rod].seg0 + 1] : x[k % 7] * L, shift);
    }
}

static void look(const rig *g, const snw_state *s, double t, snw_observer *o) {
    snw_inputs_at(g->m, t, g->in);
    snw_kinematics(g->m, g->in, s, false, g->w);
    snw_jacobian_pass(g->m, g->w);
    snw_observer_motion(g->m, g->in, s, g->w, o);
    snw_observer_jacobian(g->m, g->w, o);
}

// the state along the motion, to first order
static void along(const rig *g, double e) {
    const snw_model *m = g->m;
    snw_state_copy(m, g->s, g->moved);
    snw_move(m, g->s->q, e, g->s->v, g->moved->q);
    for (int i = 0; i < m->nv; i++) g->moved->v[i] += e * g->s->a[i];
}

// body twist of the derivative (dR, dp) of a pose
static snw_twist body(snw_se3 g, const snw_mat3 *dR, snw_vec3 dp) {
    snw_mat3 W;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            W.e[i][j] = 0;
            for (int k = 0; k < 3; k++) W.e[i][j] += g.R.e[k][i] * dR->e[k][j];
        }
    }
    snw_twist V;
    V.w = (snw_vec3){{W.e[2][1], W.e[0][2], W.e[1][0]}};
    V.v = snw_rotate_inv(g.R, dp);
    return V;
}

typedef struct derivative {
    snw_mat3 dR;
    snw_vec3 dp;
    snw_twist dV;
} derivative;

static void clear(derivative *d) { memset(d, 0, sizeof *d); }

// add the term of one point beside
static void add_point(int k, const snw_observer *o, derivative *d) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) d->dR.e[i][j] += slope_of(k, o->g.R.e[i][j]);
        d->dp.e[i] += slope_of(k, o->g.p.e[i]);
    }
    for (int i = 0; i < 6; i++) d->dV.e[i] += slope_of(k, o->V.e[i]);
}

static void assert_twist(snw_twist got, snw_twist want, double size) {
    for (int i = 0; i < 6; i++) assert_near(got.e[i] / size, want.e[i] / size, LEFT);
}

enum { PLACES = 21, ROBOTS = 3 };

static void open_moving(setting *s, int which, dice *d) {
    setting_random(s, text_of(which), d);
    const snw_model *m = s->g.m;
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed >= 0) s->g.s->q[m->rod[r].feed_q] = 1.2 * m->rod[r].L;
    }
}

static void twist_and_acceleration_are_derivatives(void **state) {
    (void)state;
    dice d = {7};
    for (int which = 0; which < ROBOTS; which++) {
        setting s;
        snw_observer *o = NULL;
        open_moving(&s, which, &d);
        assert_int_equal(snw_observer_create(s.g.m, &o), SNW_OK);
        for (int k = 0; k < PLACES; k++) {
            derivative dd;
            clear(&dd);
            place(s.g.m, o, k);
            for (int b = 0; b < BESIDE; b++) {
                along(&s.g, beside(b));
                look(&s.g, s.g.moved, s.g.s->t + beside(b), o);
                add_point(b, o, &dd);
            }
            look(&s.g, s.g.s, s.g.s->t, o);
            assert_twist(o->V, body(o->g, &dd.dR, dd.dp), 1);
            snw_twist A = o->A; // the recursion accelerates the world upward
            A.v = snw_add(A.v, snw_rotate_inv(o->g.R, s.g.in->gravity));
            assert_twist(A, dd.dV, 10);
        }
        snw_observer_destroy(o);
        setting_close(&s);
    }
}

static snw_twist column(const snw_observer *o, const double *J, int j) {
    snw_twist V;
    for (int i = 0; i < 6; i++) V.e[i] = J[i * o->path->ld + j];
    return V;
}

static void jacobian_is_the_derivative_of_the_pose(void **state) {
    (void)state;
    dice d = {8};
    for (int which = 0; which < ROBOTS; which++) {
        setting s;
        snw_observer *o = NULL;
        open_moving(&s, which, &d);
        assert_int_equal(snw_observer_create(s.g.m, &o), SNW_OK);
        double *x = calloc((size_t)s.g.m->nv, sizeof *x);
        for (int k = 0; k < PLACES; k++) {
            place(s.g.m, o, k);
            look(&s.g, s.g.s, s.g.s->t, o);
            const int n = o->path->n;
            for (int j = 0; j < n; j++) {
                derivative dd;
                clear(&dd);
                const int dof = o->path->dof[j];
                rig_direction(&s.g, dof, x);
                for (int b = 0; b < BESIDE; b++) {
                    snw_state_copy(s.g.m, s.g.s, s.g.moved);
                    snw_move(s.g.m, s.g.s->q, beside(b), x, s.g.moved->q);
                    look(&s.g, s.g.moved, s.g.s->t, o);
                    add_point(b, o, &dd);
                }
                look(&s.g, s.g.s, s.g.s->t, o);
                assert_twist(column(o, o->J, j), body(o->g, &dd.dR, dd.dp), 1);
            }
        }
        free(x);
        snw_observer_destroy(o);
        setting_close(&s);
    }
}

static void rate_of_the_jacobian_is_its_derivative_along_the_motion(void **state) {
    (void)state;
    dice d = {9};
    for (int which = 0; which < ROBOTS; which++) {
        setting s;
        snw_observer *o = NULL;
        open_moving(&s, which, &d);
        assert_int_equal(snw_observer_create(s.g.m, &o), SNW_OK);
        const size_t room = 6 * (size_t)(s.g.m->nv + 8);
        double *rate = calloc(room, sizeof *rate);
        for (int k = 0; k < PLACES; k++) {
            place(s.g.m, o, k);
            for (size_t i = 0; i < room; i++) rate[i] = 0;
            for (int b = 0; b < BESIDE; b++) {
                along(&s.g, beside(b));
                look(&s.g, s.g.moved, s.g.s->t + beside(b), o);
                for (int i = 0; i < 6 * o->path->ld; i++) rate[i] += slope_of(b, o->J[i]);
            }
            look(&s.g, s.g.s, s.g.s->t, o);
            for (int j = 0; j < o->path->n; j++)
                assert_twist(column(o, o->dJ, j), column(o, rate, j), 1);
        }
        free(rate);
        snw_observer_destroy(o);
        setting_close(&s);
    }
}

// where the model has a station of its own, bits are the same
static void an_observer_sees_what_a_probe_sees(void **state) {
    (void)state;
    dice d = {10};
    for (int which = 0; which < ROBOTS; which++) {
        setting s;
        snw_observer *o = NULL;
        open_moving(&s, which, &d);
        const snw_model *m = s.g.m;
        assert_int_equal(snw_observer_create(m, &o), SNW_OK);
        assert_true(m->nobs > 0);
        snw_kinematics(m, s.g.in, s.g.s, false, s.g.w);
        snw_observe(m, s.g.in, s.g.s, false, s.g.w);
        for (int i = 0; i < m->nstation; i++) {
            const snw_station *at = &m->station[i];
            snw_observer_at_section(m, o, at->rod, at->x, snw_se3_identity());
            snw_observer_motion(m, s.g.in, s.g.s, s.g.w, o);
            assert_memory_equal(&o->g, &s.g.w->g[at->seg], sizeof o->g);
            assert_memory_equal(&o->V, &s.g.w->V[at->seg], sizeof o->V);
            assert_memory_equal(&o->A, &s.g.w->A[at->seg], sizeof o->A);
        }
        snw_observer_destroy(o);
        setting_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twist_and_acceleration_are_derivatives),
        cmocka_unit_test(jacobian_is_the_derivative_of_the_pose),
        cmocka_unit_test(rate_of_the_jacobian_is_its_derivative_along_the_motion),
        cmocka_unit_test(an_observer_sees_what_a_probe_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
