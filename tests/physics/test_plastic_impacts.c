// SPDX-License-Identifier: MIT
//
// Plastic impacts on random trees, against their conservation laws: invariants and losses when a
// loop closes, bodies picked up, releases, and the motion between, by implicit steps and by
// Runge-Kutta.
#include "near.h"
#include "random_tree.h"

#include "constraint/impact.h"
#include "integrate/explicit.h"
#include "integrate/implicit.h"
#include "sanitized.h"

#include <stdlib.h>
#include <string.h>

// Signals of one loop that stores its pose when it becomes active: its condition, then the pose.
static const double shut[8] = {1}, open_[8] = {0};

typedef struct closing {
    tree t;
    snw_signal_desc signal[8];
    snw_loop_desc loop;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
} closing;

static void setup(closing *c, dice *d, bool floating) {
    const tree_opts o = {.nlink = pick_int(d, 4, 8),
                         .floating = floating,
                         .conservative = true,
                         .weightless = floating,
                         .first_joints = true}; // resolved by the steps below
    snw_error err = {0};
    memset(c, 0, sizeof *c);
    tree_random(&c->t, d, o);
    snw_desc *desc = &c->t.r.desc;
    for (int i = 0; i < 8; i++) {
        c->signal[i] = (snw_signal_desc){.kind = i ? SNW_SIGNAL_CAPTURED : SNW_SIGNAL_CONDITION,
                                         .text = "now and then",
                                         .source = law(&c->t.r, "t")};
    }
    static const snw_joint_kind joints[] = {SNW_JOINT_FIXED,       SNW_JOINT_REVOLUTE,
                                            SNW_JOINT_PRISMATIC,   SNW_JOINT_SPHERICAL,
                                            SNW_JOINT_CYLINDRICAL, SNW_JOINT_PLANAR};
    const int b = o.nlink - 1;
    int a = pick_int(d, 0, o.nlink - 2);
    c->loop = (snw_loop_desc){.name = "latch",
                              .a = link_end(a),
                              .b = link_end(b),
                              .joint = joints[pick_int(d, 0, 5)],
                              .axis = roll_unit(d),
                              .pose = snw_pose_desc_identity(),
                              .when = snw_expr_signal(c->t.r.pool, 0)};
    c->loop.pose.captured = 2;
    desc->signal = c->signal;
    desc->nsignal = 8;
    desc->loop = &c->loop;
    desc->nloop = 1;
    if (snw_projection_compile(desc, &c->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(c->m, &c->s), SNW_OK);
    assert_int_equal(snw_inputs_create(c->m, &c->in), SNW_OK);
    assert_int_equal(snw_work_create(c->m, &c->w), SNW_OK);
    snw_inputs_at(c->m, 0, c->in);
    for (int i = 0; i < c->m->nv; i++) c->s->v[i] = roll(d, -1, 1) * c->m->typical[i];
}

static void teardown(closing *c) {
    snw_state_destroy(c->s);
    snw_inputs_destroy(c->in);
    snw_work_destroy(c->w);
    snw_model_destroy(c->m);
    robot_free(&c->t.r);
}

// Rows that are singular at the state are no part of this test.
static bool singular(const snw_error *err) { return strstr(err->text, "singular") != NULL; }

// Largest violation of the closed loop at s.
static double gap_at(closing *c, const snw_state *s) {
    double largest = 0;
    snw_residual(c->m, c->in, s, false, c->w);
    for (int k = 0; k < c->m->nconstraint; k++) largest = fmax(largest, fabs(c->w->violation[k]));
    return largest;
}

// The impulse M (v+ - v-) does no work on motions that the loop allows, the loss is the kinetic
// energy of the velocities lost, a floating tree keeps its momentum, and opening the loop changes
// nothing.
static void an_impact_conserves_momentum_along_free_motions(void **state) {
    (void)state;
    dice d = {71};
    int done = 0;
    for (int n = 0; n < AMONG(12, 60); n++) {
        closing c;
        snw_impact_energy impact;
        snw_error err = {0};
        snw_projection *pr = NULL;
        snw_impacts *ip = NULL;
        setup(&c, &d, n % 2 == 0);
        const snw_model *m = c.m;
        const size_t nv = (size_t)m->nv;
        assert_int_equal(snw_projection_create(m, &pr), SNW_OK);
        assert_int_equal(snw_impacts_create(m, pr, &ip), SNW_OK);
        double *v = calloc(4 * nv + nv * nv, sizeof *v), *dp = v + nv, *u = dp + nv,
               *M = u + 2 * nv;
        memcpy(v, c.s->v, nv * sizeof *v);
        snw_kinematics(m, c.in, c.s, false, c.w);
        const snw_wrench before = snw_momentum(m, c.w);
        const double T = snw_kinetic_energy(m, c.w);
        const snw_status ok = snw_impacts_apply(ip, c.in, shut, c.s, &impact, &err);
        if (ok == SNW_OK && m->nconstraint > 0) {
            done++;
            snw_kinematics(m, c.in, c.s, false, c.w);
            const snw_wrench after = snw_momentum(m, c.w);
            const double lost = T - snw_kinetic_energy(m, c.w);
            for (int i = 0; i < 6 && n % 2 == 0; i++) {
                assert_near(after.e[i], before.e[i], 1e-10 * (1 + fabs(before.e[i])));
            }
            snw_mass_matrix(m, c.in, c.s, c.w, M);
            double square = 0;
            for (size_t i = 0; i < nv; i++) {
                dp[i] = 0;
                for (size_t j = 0; j < nv; j++) dp[i] += M[j * nv + i] * (c.s->v[j] - v[j]);
                square += 0.5 * dp[i] * (c.s->v[i] - v[i]);
            }
            assert_near(impact.heat, square, 1e-10 * T);
            assert_near(impact.heat, lost, 1e-10 * T);
            assert_near(impact.work, 0, 1e-10 * T);
            assert_true(impact.heat > 0 && impact.heat <= T * (1 + 1e-12));
            // a velocity that the loop allows is unchanged by the impact
            memcpy(v, c.s->v, nv * sizeof *v);
            for (size_t i = 0; i < nv; i++) c.s->v[i] = roll(&d, -1, 1) * m->typical[i];
            assert_int_equal(snw_projection_velocities(pr, c.in, c.s, &err), SNW_OK);
            double work = 0, size = 0;
            for (size_t i = 0; i < nv; i++) {
                work += c.s->v[i] * dp[i];
                size += fabs(c.s->v[i] * dp[i]);
            }
            assert_near(work, 0, 1e-9 * size + 1e-12 * T);
            memcpy(c.s->v, v, nv * sizeof *v);
            // the release
            memcpy(u, c.s->q, (size_t)m->nq * sizeof *u);
            assert_int_equal(snw_impacts_apply(ip, c.in, open_, c.s, &impact, &err), SNW_OK);
            assert_memory_equal(c.s->v, v, nv * sizeof *v);
            assert_memory_equal(c.s->q, u, (size_t)m->nq * sizeof *u);
            assert_true(impact.heat == 0 && impact.work == 0);
        } else if (ok != SNW_OK && !singular(&err)) {
            fail_msg("%s", err.text);
        }
        free(v);
        snw_impacts_destroy(ip);
        snw_projection_destroy(pr);
        teardown(&c);
    }
    assert_true(done > AMONG(5, 40));
}

// Bodies at rest that a floating tree picks up take part of its momentum, one after the other or at
// once, also while a loop closes.
static void a_body_at_rest_brings_no_momentum(void **state) {
    (void)state;
    dice d = {73};
    for (int n = 0; n < 20; n++) {
        tree t;
        snw_model *m = NULL;
        snw_state *s = NULL;
        snw_inputs *in = NULL;
        snw_work *w = NULL;
        snw_projection *pr = NULL;
        snw_impacts *ip = NULL;
        snw_error err = {0};
        const tree_opts o = {.nlink = pick_int(&d, 3, 6),
                             .floating = true,
                             .conservative = true,
                             .weightless = true};
        tree_random(&t, &d, o);
        snw_signal_desc signal[2];
        for (int i = 0; i < 2; i++) { // loads on two links
            signal[i] = (snw_signal_desc){
                .kind = SNW_SIGNAL_CONDITION, .text = "at times", .source = law(&t.r, "t")};
            const int l = t.r.desc.nlink++;
            t.link[l] = (snw_link_desc){.name = "load",
                                        .on = link_end(pick_int(&d, 0, o.nlink - 1)),
                                        .pose = snw_pose_desc_identity(),
                                        .when = snw_expr_signal(t.r.pool, i)};
            tree_place(&t, l, (snw_se3){snw_so3_exp(roll_vec3(&d, 1)), roll_vec3(&d, 0.4)});
            tree_body(&t, l, roll(&d, 0.1, 1), roll_vec3(&d, 0.3),
                      (snw_vec3){{roll(&d, 0.05, 0.1), roll(&d, 0.05, 0.1), roll(&d, 0.05, 0.1)}});
        }
        t.r.desc.signal = signal;
        t.r.desc.nsignal = 2;
        if (snw_projection_compile(&t.r.desc, &m, &err) != SNW_OK) fail_msg("%s", err.text);
        assert_int_equal(snw_state_create(m, &s), SNW_OK);
        assert_int_equal(snw_inputs_create(m, &in), SNW_OK);
        assert_int_equal(snw_work_create(m, &w), SNW_OK);
        assert_int_equal(snw_projection_create(m, &pr), SNW_OK);
        assert_int_equal(snw_impacts_create(m, pr, &ip), SNW_OK);
        snw_inputs_at(m, 0, in);
        for (int i = 0; i < m->nv; i++) s->v[i] = roll(&d, -1, 1) * m->typical[i];
        snw_kinematics(m, in, s, false, w);
        const snw_wrench P = snw_momentum(m, w);
        const double T = snw_kinetic_energy(m, w);
        const double one[2] = {1, 0}, both[2] = {1, 1};
        snw_impact_energy first = {0}, second;
        if (n % 2) assert_int_equal(snw_impacts_apply(ip, in, one, s, &first, &err), SNW_OK);
        assert_int_equal(snw_impacts_apply(ip, in, both, s, &second, &err), SNW_OK);
        snw_kinematics(m, in, s, false, w);
        const snw_wrench now = snw_momentum(m, w);
        for (int i = 0; i < 6; i++) assert_near(now.e[i], P.e[i], 1e-10 * (1 + fabs(P.e[i])));
        const double heat = first.heat + second.heat;
        assert_true(heat > 0);
        assert_near(snw_kinetic_energy(m, w) + heat, T, 1e-11 * T);
        assert_near(first.work, 0, 1e-11 * T);
        assert_near(second.work, 0, 1e-11 * T);
        snw_impacts_destroy(ip);
        snw_projection_destroy(pr);
        snw_work_destroy(w);
        snw_inputs_destroy(in);
        snw_state_destroy(s);
        snw_model_destroy(m);
        robot_free(&t.r);
    }
}

// Implicit steps and Runge-Kutta agree through a closing and an opening; the loop stays closed in
// between, and the energy balance closes.
static void both_ways_agree_on_random_trees(void **state) {
    (void)state;
    dice d = {72};
    int done = 0;
    for (int n = 0; n < AMONG(2, 8); n++) {
        closing c;
        snw_error err = {0};
        snw_implicit *im = NULL;
        snw_explicit *ex = NULL;
        setup(&c, &d, n % 2 == 0);
        const snw_model *m = c.m;
        snw_implicit_opts mopts = snw_implicit_defaults();
        snw_explicit_opts eopts = snw_explicit_defaults();
        mopts.tolerance = 1e-12;
        mopts.algebra = n < 4 ? SNW_ALGEBRA_SPARSE : SNW_ALGEBRA_AUTO;
        eopts.kind = SNW_ODE_RK87, eopts.tolerance = 1e-11;
        const double h = 1e-5;
        assert_int_equal(snw_implicit_create(m, &mopts, &im), SNW_OK);
        assert_int_equal(snw_explicit_create(m, &eopts, &ex, &err), SNW_OK);
        snw_status ok = snw_implicit_start(im, c.s, &err);
        if (ok == SNW_OK) ok = snw_explicit_start(ex, c.s, &err);
        snw_kinematics(m, c.in, c.s, false, c.w);
        const double start = snw_kinetic_energy(m, c.w) + snw_elastic_energy(m, c.s) +
                             snw_gravity_energy(m, c.in, c.w);
        double gap = 0, exgap = 0;
        for (int i = 0; i < 400 && ok == SNW_OK; i++) {
            snw_chord_info info;
            if (i % 200 == 50) {
                ok = snw_implicit_restart(im, shut, &err);
                if (ok == SNW_OK) ok = snw_explicit_restart(ex, shut, &err);
            }
            if (i == 150) {
                ok = snw_implicit_restart(im, open_, &err);
                if (ok == SNW_OK) ok = snw_explicit_restart(ex, open_, &err);
            }
            if (ok == SNW_OK) ok = snw_implicit_step(im, h, (i + 1) * h, &info);
            if (ok == SNW_OK) ok = snw_explicit_advance(ex, (i + 1) * h, INFINITY, &err);
            if (ok != SNW_OK) break;
            gap = fmax(gap, gap_at(&c, snw_implicit_state(im)));
            exgap = fmax(exgap, gap_at(&c, snw_explicit_state(ex)));
        }
        if (ok == SNW_OK && m->nconstraint > 0) {
            done++;
            const snw_state *a = snw_implicit_state(im), *b = snw_explicit_state(ex);
            // compared by kinetic energy: rates of light and stiff parts have the rounding of their
            // forces
            double *M = calloc((size_t)m->nv * (size_t)m->nv, sizeof *M), moves = 0, differs = 0;
            snw_mass_matrix(m, c.in, b, c.w, M);
            for (int i = 0; i < m->nv * m->nv; i++) {
                const int k = i % m->nv, l = i / m->nv;
                moves += M[i] * b->v[k] * b->v[l];
                differs += M[i] * (a->v[k] - b->v[k]) * (a->v[l] - b->v[l]);
            }
            free(M);
            if (!(sqrt(differs) < 2e-6 * sqrt(moves)))
                fail_msg("tree %d: rates differ by %g", n, sqrt(differs / moves));
            assert_true(gap < 1e-10 && exgap < 1e-10);
            const snw_work_done did = snw_explicit_work_done(ex);
            const snw_work *w = snw_explicit_work_at(ex);
            double end = snw_kinetic_energy(m, w) + snw_elastic_energy(m, b) +
                         snw_gravity_energy(m, c.in, w) + did.heat;
            for (int i = 0; i < did.n; i++) end -= did.work[i];
            assert_near(end, start, 1e-8 * (1 + fabs(start)));
            assert_near(snw_implicit_work_done(im).heat, did.heat, 1e-4 * (1 + did.heat));
        } else if (ok != SNW_OK && !singular(&err)) {
            fail_msg("tree %d: %s", n, err.text);
        }
        snw_implicit_destroy(im);
        snw_explicit_destroy(ex);
        teardown(&c);
    }
    assert_true(done >= AMONG(1, 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_impact_conserves_momentum_along_free_motions),
        cmocka_unit_test(a_body_at_rest_brings_no_momentum),
        cmocka_unit_test(both_ways_agree_on_random_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
