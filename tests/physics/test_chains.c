// SPDX-License-Identifier: MIT
//
// Passive joints solved one by one and chains of a thousand modules, theory.md 6.8: against dense
// equations on random trees and against dynamic steps; constraint rows hold to rounding, memory is
// proportional to the number of bodies, straight initial configurations.
#include "executed.h"
#include "random_rod.h"

#include "constraint/locomotion.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- dense equations ----------------------------------------------------------------------------

typedef struct text {
    char at[8000];
    size_t n;
} text;
#define SAY(t, ...)                                                                                \
    (t)->n += (size_t)snprintf((t)->at + (t)->n, sizeof(t)->at - (t)->n, __VA_ARGS__)

// A floating tree of n bodies. Contacts on the first three bodies, whose joints are driven,
// determine the motion of the base. Most of the other joints are passive; as many wheels determine
// them, on the same bodies or on bodies that these carry.
static void random_followers(dice *d, int n, bool planar, text *t) {
    int parent[16] = {0};
    bool follows[16] = {0};
    t->n = 0;
    SAY(t, "sinew: 1\ngravity: 0\nrobot:\n");
    for (int i = 0; i < n; i++) {
        const double I = roll(d, 0.01, 0.05);
        parent[i] = i < 3 ? i - 1 : pick_int(d, i - 3, i - 1);
        follows[i] = i >= 3 && pick_int(d, 0, 4) > 0;
        SAY(t, "  b%d: {on: %s", i, i == 0 ? "world" : "b");
        if (i > 0) SAY(t, "%d", parent[i]);
        if (i == 0) {
            SAY(t, ", joint: %s", planar ? "planar" : "free");
        } else {
            SAY(t, ", pose: {xyz: [%g, %g, %g]}, joint: revolute", roll(d, 0.1, 0.3),
                roll(d, -0.2, 0.2), planar ? 0.0 : roll(d, -0.2, 0.2));
            if (!planar) SAY(t, ", axis: [%g, %g, 1]", roll(d, -1, 1), roll(d, -1, 1));
        }
        SAY(t, ", body: {mass: %g, com: [%g, %g, 0], inertia: [%g, %g, %g]}}\n", roll(d, 0.5, 2),
            roll(d, -0.1, 0.1), roll(d, -0.1, 0.1), I, 1.2 * I, 1.5 * I);
    }
    SAY(t, "actuators:\n");
    for (int i = 1; i < n; i++) {
        SAY(t, "  m%d: {joint: b%d, position: ", i, i);
        if (follows[i]) {
            SAY(t, "free}\n");
        } else {
            SAY(t, "%g*sin(%g*t + %g)}\n", roll(d, 0.2, 0.6), roll(d, 0.5, 2), roll(d, 0, 6));
        }
    }
    text sites = {.n = 0}, wheels = {.n = 0};
    for (int i = 0; i < n; i++) {
        if (i >= 3 && !follows[i]) continue;
        int on = i; // on itself or a descendant, possibly at that joint's axis: no lever
        for (int k = i + 1; k < n && i >= 3 && pick_int(d, 0, 1); k++)
            on = parent[k] == on ? k : on;
        const double away = on != i && pick_int(d, 0, 1) ? 0 : 1;
        SAY(&sites, "  s%d: {on: b%d, pose: {xyz: [%g, %g, 0]}}\n", i, on, away * roll(d, 0.1, 0.3),
            away * roll(d, -0.2, 0.2));
        SAY(&wheels, "  w%d: {wheel: {on: s%d, axis: [%g, 1, %g]}}\n", i, i, roll(d, -1, 1),
            planar ? 0.0 : roll(d, -1, 1));
    }
    SAY(t, "sites:\n%scontacts:\n%s", sites.at, wheels.at);
    if (!planar) SAY(t, "  r: {ring: {on: b0}}\n");
}

typedef struct dense {
    int nu, nr; // unknown rates, and as many rows of contacts
    int *dof, *pivot;
    double *C, *x, *rate;
    int nb;
    double B[6][30]; // Jacobian columns of the base
} dense;

// Jacobian of the contact rows with respect to the unknown rates, from the columns of the tangent,
// factorised; false where it is close to singular.
static bool dense_open(const snw_model *m, snw_inputs *in, snw_state *s, snw_work *w, dense *e) {
    const size_t nv = (size_t)m->nv, rows = (size_t)m->nconstraint;
    *e = (dense){.dof = calloc(2 * nv, sizeof *e->dof)};
    e->C = calloc(nv * nv + nv + 2 * rows, sizeof *e->C);
    e->pivot = e->dof + nv;
    for (int i = 0; i < m->nv; i++) {
        bool driven = false;
        for (int k = 0; k < m->ndrive; k++) driven |= m->drive[k].dof == i && !m->drive[k].passive;
        if (!driven) e->dof[e->nu++] = i;
    }
    for (int i = 0; i < m->nloop; i++) e->nr += m->loop[i].nrow;
    assert_int_equal(e->nr, e->nu);
    e->x = e->C + nv * nv;
    e->rate = e->x + nv;
    snw_residual(m, in, s, false, w);
    snw_tangent_pass(m, NULL, w);
    snw_constraints_jacobian(m, w);
    for (int k = 0; k < e->nr; k++) {
        const snw_constraint row = snw_constraint_at(m, w, k);
        for (int j = 0; j < row.n; j++) {
            for (int u = 0; u < e->nu; u++) {
                if (e->dof[u] == row.dof[j]) e->C[u * e->nr + k] = row.C[j];
            }
        }
    }
    e->nb = m->block[0].n == 1 ? 3 : 6; // planar: three screws
    for (int b = 0; b < e->nb; b++) {
        assert_int_equal(e->dof[b], b);
        for (int k = 0; k < e->nr; k++) e->B[b][k] = e->C[b * e->nr + k];
    }
    if (snw_lu_factor(e->nu, e->C, e->pivot) != SNW_OK) return false;
    for (int u = 0; u < e->nu; u++) {
        if (fabs(e->C[u * (e->nr + 1)]) < 0.01) return false;
    }
    return true;
}

// what[unknown] <- solution of C what = -e, e the rates or accelerations of the rows when the
// unknowns are zero
static void dense_solve(const snw_model *m, snw_inputs *in, snw_state *s, snw_work *w, dense *e,
                        bool bend, double *what) {
    for (int u = 0; u < e->nu; u++) what[e->dof[u]] = 0;
    snw_kinematics(m, in, s, false, w);
    snw_constraints_rates(m, in, s, w, bend ? NULL : e->rate, bend ? e->rate : NULL);
    for (int k = 0; k < e->nr; k++) e->x[k] = -e->rate[k];
    snw_lu_solve(e->nu, e->C, e->pivot, e->x);
    for (int u = 0; u < e->nu; u++) what[e->dof[u]] = e->x[u];
}

static void compare(const char *what, int n, const double *a, const double *b) {
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
    for (int i = 0; i < n; i++) {
        if (!(fabs(a[i] - b[i]) <= 1e-9 * size)) fail_msg("%s %d: %g, not %g", what, i, a[i], b[i]);
    }
}

// The reactions have minimum norm among those that balance the base: they are a combination of its
// columns and have no component orthogonal to all of them.
static void shortest(const dense *e, const double *l) {
    double G[36], y[6] = {0}, size = 0;
    int pivot[6];
    for (int a = 0; a < e->nb; a++) {
        for (int k = 0; k < e->nr; k++) y[a] += e->B[a][k] * l[k];
        for (int b = 0; b < e->nb; b++) {
            G[b * e->nb + a] = 0;
            for (int k = 0; k < e->nr; k++) G[b * e->nb + a] += e->B[a][k] * e->B[b][k];
        }
    }
    assert_int_equal(snw_lu_factor(e->nb, G, pivot), SNW_OK);
    snw_lu_solve(e->nb, G, pivot, y);
    for (int k = 0; k < e->nr; k++) size = fmax(size, fabs(l[k]));
    for (int k = 0; k < e->nr; k++) {
        double sum = 0;
        for (int b = 0; b < e->nb; b++) sum += y[b] * e->B[b][k];
        assert_near(sum, l[k], 1e-9 * size);
    }
}

static bool one_tree(dice *d, int n, bool planar) {
    text *t = malloc(sizeof *t);
    snw_error err;
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_inputs *in;
    snw_state *s, *mine;
    snw_work *w;
    snw_locomotion *lo;
    dense e;
    random_followers(d, n, planar, t);
    if (describe(t->at, &doc, &desc, &err) != SNW_OK) fail_msg("%s\n%s", t->at, err.text);
    assert_int_equal(snw_model_compile(desc, &m, &err), SNW_OK);
    assert_int_equal(snw_inputs_create(m, &in), SNW_OK);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    assert_int_equal(snw_state_create(m, &mine), SNW_OK);
    assert_int_equal(snw_work_create(m, &w), SNW_OK);
    const snw_locomotion_opts opts = {.torque = 1};
    assert_int_equal(snw_locomotion_create(m, &opts, &lo, &err), SNW_OK);
    state_random(m, d, s);
    s->t = 0.3;
    if (snw_locomotion_start(lo, in, s, 1.3, &err) != SNW_OK) fail_msg("%s", err.text);
    snw_inputs_at(m, 0.3, in);
    const snw_status status = snw_locomotion_motion(lo, in, s, &err);
    snw_state_copy(m, s, mine);
    snw_constraints_impose(m, in, mine);
    const bool sound = dense_open(m, in, mine, w, &e);
    if (sound) {
        if (status != SNW_OK) fail_msg("%s\n%s", t->at, err.text);
        dense_solve(m, in, mine, w, &e, false, mine->v);
        dense_solve(m, in, mine, w, &e, true, mine->a);
        compare("velocity", m->nv, s->v, mine->v);
        compare("acceleration", m->nv, s->a, mine->a);
        // with reactions and efforts all coordinates are in balance
        double force = 0;
        snw_residual(m, in, s, false, w);
        for (int i = 0; i < m->nconstraint; i++) force = fmax(force, fabs(s->lambda[i]));
        for (int i = 0; i < m->nv; i++) assert_near(w->r[i], 0, 1e-10 * force);
        shortest(&e, s->lambda);
    }
    free(e.dof);
    free(e.C);
    snw_locomotion_destroy(lo);
    snw_work_destroy(w);
    snw_state_destroy(mine);
    snw_state_destroy(s);
    snw_inputs_destroy(in);
    snw_model_destroy(m);
    release(doc, desc);
    free(t);
    return sound;
}

// velocities and accelerations agree with the simultaneous solution of all rows
static void passive_joints_move_as_dense_equations_say(void **state) {
    (void)state;
    dice d = {19};
    int met = 0;
    for (int k = 0; k < 60; k++) met += one_tree(&d, 5 + k % 8, k % 2 == 0);
    if (met < 30) fail_msg("only %d of 60 robots are far from singular", met);
}

// ---- chains -------------------------------------------------------------------------------------

// n modules with axles at their middle, the first three on wheels; `more`: further sections of the
// file
static void chain(int n, const char *laws, const char *others, const char *more, text *t) {
    t->n = 0;
    SAY(t, "sinew: 1\ngravity: 0\nparameters: {n: %d, l: 0.1, %s}\nrobot:\n", n, laws);
    SAY(t,
        "  link(1): {on: world, joint: planar, body: {mass: 0.3, inertia: [1e-3, 1e-3, 1e-3]}}\n");
    SAY(t, "  link(2): {on: link(1), pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 0.3, "
           "com: [l, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n");
    SAY(t,
        "  link(k=3..n): {on: link(k-1), pose: {xyz: [2*l, 0, 0]}, joint: revolute, body: {mass: "
        "0.3, com: [l, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n");
    SAY(t, "sites:\n  axle(1): {on: link(1)}\n  axle(k=2..n): {on: link(k), pose: {xyz: [l, 0, "
           "0]}}\n");
    SAY(t, "actuators:\n  bend(k=2..3): {joint: link(k), position: r(k)}\n");
    SAY(t, "  bend(k=4..n): {joint: link(k), position: %s}\n", others);
    SAY(t, "contacts:\n  wheel(k=1..3): {wheel: {on: axle(k), axis: y}}\n%s", more);
}

#define WAVE   "r(k): 0.4*sin(t - 0.35*k)"
#define WHEELS "  wheel(k=4..n): {wheel: {on: axle(k), axis: y}}\n"
#define PROBES "probes: {head: {position: link(1)}, slip(k=1..n): {velocity: axle(k), in: body}}\n"

// largest lateral velocity of the first `wheels` axles
static double slip(const outcome *o, int wheels) {
    double most = 0;
    for (int f = 0; f < o->series.nframe; f++) {
        for (int k = 0; k < wheels; k++) most = fmax(most, fabs(shown(o, f, 3 + 3 * k + 1)));
    }
    return most;
}

// A thousand modules, driven or passive: no axle slips, and the head, which the first three axles
// determine, moves as in a chain of four modules.
static void a_thousand_modules_do_not_slip(void **state) {
    (void)state;
    static const char *const others[2] = {"r(k)", "free"}, *const wheels[2] = {"", WHEELS};
    for (int kind = 0; kind < 2; kind++) {
        outcome o[2];
        for (int i = 0; i < 2; i++) {
            text t;
            char more[400];
            (void)snprintf(
                more, sizeof more,
                "%sstudy: [kinematic: {for: 20 ms, step: 5 ms}]\nrecord: {every: 5 ms}\n%s",
                wheels[kind], PROBES);
            chain(i ? 1024 : 4, WAVE, others[kind], more, &t);
            execute_ok(t.at, &o[i]);
        }
        for (int c = 0; c < 3; c++) assert_near(last(&o[1], c), last(&o[0], c), 1e-12);
        const double most = slip(&o[1], kind ? 1024 : 3);
        if (!(most < 1e-10)) fail_msg("an axle slips with %g m/s", most);
        for (int i = 0; i < 2; i++) snw_series_clear(&o[i].series);
    }
}

// 64 modules by the recursion and by the equations with multipliers, explicit and implicit; the
// error of the implicit steps falls with the square of the step.
static void a_chain_moves_as_constrained_equations_say(void **state) {
    (void)state;
    static const char *const study[4] = {
        "kinematic: {for: 40 ms, step: 2 ms}",
        "dynamic: {for: 40 ms, scheme: adaptive, tolerance: 1e-10}",
        "dynamic: {for: 40 ms, scheme: generalized-alpha, rho: 0.8, step: 4 ms}",
        "dynamic: {for: 40 ms, scheme: generalized-alpha, rho: 0.8, step: 2 ms}"};
    outcome o[4];
    double away[4] = {0};
    for (int i = 0; i < 4; i++) {
        text t;
        char more[400];
        (void)snprintf(more, sizeof more,
                       "study: [%s]\nrecord: {every: 4 ms}\nprobes: {head: {pose: link(1)}, tail: "
                       "{position: link(n)}}\n",
                       study[i]);
        chain(64, WAVE, "r(k)", more, &t);
        execute_ok(t.at, &o[i]);
        for (int c = 0; c < 9; c++) away[i] = fmax(away[i], fabs(last(&o[i], c) - last(&o[0], c)));
    }
    assert_true(away[1] < 1e-8);
    if (!(away[3] < 1e-4 && log2(away[2] / away[3]) > 1.8)) {
        fail_msg("implicit steps miss by %g and %g", away[2], away[3]);
    }
    for (int i = 0; i < 4; i++) snw_series_clear(&o[i].series);
}

// ---- straight initial configurations ------------------------------------------------------------

// All axles are parallel: no constraint row determines the velocity along them. If the angles of
// the first joints are opposite to first order, that velocity has a limit; the motion then
// continues through the singular configuration with velocities that are continuous there. Otherwise
// no finite velocity exists.
static void straight_initial_shapes_are_distinguished(void **state) {
    (void)state;
    static const char *const laws = "r(k): 0.4*sin(t)*(5 - 2*k) + 0.3*sin(t)^2*(k - 2)";
    static const char *const worse = "r(k): 0.2*sin(t)*(4 - k)";
    text t;
    outcome o;
    chain(32, laws, "free",
          WHEELS "study: [kinematic: {for: 20 ms, step: 1 ms}]\nrecord: {every: 1 ms}\n" PROBES,
          &t);
    execute_ok(t.at, &o);
    assert_true(slip(&o, 32) < 1e-10);
    const int forward = 3; // velocity of the first axle
    const double v0 = shown(&o, 0, forward), v1 = shown(&o, 1, forward), v2 = shown(&o, 2, forward);
    assert_true(fabs(v0) > 0.01);
    assert_near(v0, 2 * v1 - v2, 1e-4 * fabs(v0)); // second order in the step
    snw_series_clear(&o.series);
    chain(32, worse, "free",
          WHEELS "study: [kinematic: {for: 20 ms, step: 1 ms}]\nrecord: {every: 1 ms}\n", &t);
    execute(t.at, &o);
    assert_int_equal(o.status, SNW_E_SINGULAR);
    assert_non_null(strstr(o.err.text, "singular"));
    snw_series_clear(&o.series);
}

// ---- memory and limits --------------------------------------------------------------------------

static size_t room(int n) {
    text t;
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_model *m;
    snw_work *w;
    chain(n, WAVE, "free", WHEELS "study: [kinematic: {for: 1 s, step: 5 ms}]\n", &t);
    assert_int_equal(describe(t.at, &doc, &desc, &err), SNW_OK);
    assert_int_equal(snw_projection_compile_for(desc, SNW_USE_KINEMATIC, &m, &err), SNW_OK);
    assert_true(m->bare);
    assert_int_equal(snw_work_create(m, &w), SNW_OK);
    const size_t bytes = w->block_size;
    snw_work_destroy(w);
    snw_model_destroy(m);
    release(doc, desc);
    return bytes;
}

#define FALLING                                                                                    \
    "sinew: 1\nparameters: {n: 800, l: 0.1}\nrobot:\n"                                             \
    "  link(1): {on: world, joint: revolute, axis: y, body: {box: [l, 2 cm, 2 cm], mass: 0.1, "    \
    "com: [l/2, 0, 0]}}\n"                                                                         \
    "  link(k=2..n): {on: link(k-1), pose: {xyz: [l, 0, 0]}, joint: revolute, axis: y, body: "     \
    "{box: [l, 2 cm, 2 cm], mass: 0.1, com: [l/2, 0, 0]}}\n"

// A chain of 800 hinges let go from the horizontal: far from its hinge on the world nothing but
// gravity acts, so the tip falls freely. By articulated bodies, and by tangents along subtrees.
static void long_chains_fall(void **state) {
    (void)state;
    static const char *const scheme[] = {"rk4", "newmark"};
    for (int k = 0; k < 2; k++) {
        text t = {.n = 0};
        outcome o;
        SAY(&t,
            FALLING "study: [dynamic: {for: 2 ms, step: 1 ms, scheme: %s}]\n"
                    "probes: {tip: {position: link(n)}}\n",
            scheme[k]);
        execute_ok(t.at, &o);
        assert_near(last(&o, 2), -0.5 * 9.81 * 2e-3 * 2e-3, 1e-12);
        snw_series_clear(&o.series);
    }
}

// Steps that need no tangent need memory in proportion to the modules; steps that need products of
// whole paths are refused where these would not fit.
static void memory_grows_with_the_modules(void **state) {
    (void)state;
    assert_near((double)room(2000) / (double)room(1000), 2, 0.01);
    text t = {.n = 0};
    SAY(&t, FALLING "fluid: {water: {on: [link(1)], density: 1000, buoyancy: on}}\n"
                    "study: [dynamic: {for: 1 s, step: 5 ms}]\n");
    refuses(t.at, "too deep");
    // passive joints without contacts would need a simultaneous solution
    outcome o;
    chain(1500, WAVE, "free", "study: [kinematic: {for: 1 s, step: 5 ms}]\n", &t);
    execute(t.at, &o);
    assert_int_equal(o.status, SNW_E_MODEL);
    assert_non_null(strstr(o.err.text, "at most 1000"));
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passive_joints_move_as_dense_equations_say),
        cmocka_unit_test(a_thousand_modules_do_not_slip),
        cmocka_unit_test(a_chain_moves_as_constrained_equations_say),
        cmocka_unit_test(straight_initial_shapes_are_distinguished),
        cmocka_unit_test(long_chains_fall),
        cmocka_unit_test(memory_grows_with_the_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
