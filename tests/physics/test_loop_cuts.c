// SPDX-License-Identifier: MIT
//
// Random robots with closed loops, rigid, soft, mixed, grounded and floating, in motion: the motion
// does not depend on the joint at which a loop is cut or on the base; loops stay closed, and every
// part is in balance with the reactions of its joints.
#include "random_closed.h"

#include "integrate/integrator_private.h"
#include "oracle/linear.h"
#include "sanitized.h"

#include <stdio.h>

typedef struct family {
    const char *name;
    int parts, chords;
    double soft; // fraction of rods
    bool floating;
} family;

static const family families[] = {
    {"rigid ring", 4, 0, 0, false},   {"rigid, two loops", 5, 1, 0, false},
    {"soft ring", 4, 0, 1, false},    {"mixed, two loops", 5, 1, 0.5, false},
    {"floating ring", 4, 0, 0, true}, {"floating, mixed", 5, 1, 0.5, true},
};
enum { FAMILIES = sizeof families / sizeof families[0], CUTS = 3 };
enum { ROBOTS = AMONG(1, 6) * FAMILIES };

// A robot without redundant loop rows, cut in CUTS ways; the last has a platform as its base.
static void draw(const family *f, dice *d, graph *g, cut *c) {
    for (int tries = 0; tries < 20; tries++) {
        graph_random(g, d, f->parts, f->chords, f->soft, f->floating);
        bool fine = true;
        for (int k = 0; k < CUTS; k++) {
            cut_open(g, d, k == CUTS - 1, 0, &c[k]);
            const snw_model *m = c[k].c.m;
            fine &= m->singular == 0;
            for (int i = 0; i < m->nloop; i++) fine &= m->loop[i].nrow == m->loop[i].nraw;
            // closed by the projection
            const double gap = snw_projection_violation(c[k].c.as, c[k].c.in, c[k].c.s, NULL);
            if (!(gap < 1e-13)) fail_msg("%s, cut %d: open by %g", f->name, k, gap);
            assert_int_equal(m->freedom, c[0].c.m->freedom);
        }
        if (fine) return;
        for (int k = 0; k < CUTS; k++) cut_shut(&c[k]);
    }
    fail_msg("%s: none found", f->name);
}

// The generator covers all cases: every joint as a loop and in the tree, in both directions, and
// rods from either end.
static void the_cuts_have_everything(void **state) {
    (void)state;
    static cut c[CUTS];
    graph g;
    dice d = {71};
    int inner[SNW_JOINT_FREE][2] = {{0}}, loop[SNW_JOINT_FREE][2] = {{0}}, rod[2] = {0};
    for (int i = 0; i < 6 * FAMILIES; i++) {
        draw(&families[i % FAMILIES], &d, &g, c);
        for (int k = 0; k < CUTS; k++) {
            for (int j = 0; j < g.njoint; j++) {
                const snw_joint_kind kind = g.joint[j].kind;
                if (c[k].child[j] < 0) loop[kind][c[k].swapped[j]]++;
                if (c[k].child[j] >= 0) inner[kind][c[k].child[j]]++;
            }
            for (int p = 0; p < g.npart; p++) rod[c[k].turned[p]] += g.part[p].rod;
            cut_shut(&c[k]);
        }
    }
    for (int k = 0; k < SNW_JOINT_FREE; k++) {
        for (int n = 0; n < 2; n++) assert_true(inner[k][n] > 2 && loop[k][n] > 0);
    }
    assert_true(rod[0] > 5 && rod[1] > 5);
}

// ---- motions ------------------------------------------------------------------------------------

enum { NUMBERS = 12 * PARTS_MOST, FORCES = 6 * JOINTS_MOST };

// positions and orientations of the bodies, and reactions of the joints
typedef struct sight {
    double place[NUMBERS], reaction[FORCES];
} sight;

static void look(const graph *g, const cut *c, const snw_work *w, const snw_state *s, sight *o) {
    *o = (sight){{0}, {0}};
    for (int p = 0; p < g->npart; p++) {
        if (g->part[p].rod || c->link[p] < 0) continue;
        const snw_vec3 x = cut_centre(g, c, w, p);
        const snw_mat3 R = cut_turn(c, w, p);
        for (int k = 0; k < 3; k++) o->place[12 * p + k] = x.e[k];
        for (int k = 0; k < 9; k++) o->place[12 * p + 3 + k] = R.e[k / 3][k % 3];
    }
    for (int i = 0; i < g->njoint; i++) {
        const snw_wrench F = cut_reaction(g, c, w, s, i);
        for (int k = 0; k < 6; k++) o->reaction[6 * i + k] = F.e[k];
    }
}

static const double DURATION = 0.3;

static double energy_of(const closed_robot *c, const snw_state *s, const snw_work *w) {
    return snw_kinetic_energy(c->m, w) + snw_elastic_energy(c->m, s) +
           snw_gravity_energy(c->m, c->in, w);
}

// *o <- the final state of an explicit motion; returns the energy not accounted for by the loads,
// relative to the kinetic energy and the work exchanged.
static double end_explicit(const graph *g, cut *c, sight *o) {
    snw_explicit *e = closed_robot_reference(&c->c, 1e-11);
    snw_error err = {0};
    const double first = energy_of(&c->c, snw_explicit_state(e), snw_explicit_work_at(e));
    if (snw_explicit_advance(e, DURATION, INFINITY, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_work *w = snw_explicit_work_at(e);
    look(g, c, w, snw_explicit_state(e), o);
    const snw_work_done done = snw_explicit_work_done(e);
    double left = energy_of(&c->c, snw_explicit_state(e), w) - first;
    double size = snw_kinetic_energy(c->c.m, w);
    for (int k = 0; k < done.n; k++) left -= done.work[k], size += fabs(done.work[k]);
    snw_explicit_destroy(e);
    return fabs(left) / size;
}

static double furthest(int n, const double *x) {
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    return largest;
}

// With any cut, and with the ground or any body as the base: the same motion and the same forces,
// to the tolerance of the integrator. The tolerance applies to coordinates (1e-11 a step); errors
// of forces are errors of coordinates times stiffness and mass.
static void robots_move_alike_however_they_are_cut(void **state) {
    (void)state;
    static cut c[CUTS];
    static sight first, other;
    graph g;
    dice d = {71};
    for (int i = 0; i < ROBOTS; i++) {
        const family *f = &families[i % FAMILIES];
        draw(f, &d, &g, c);
        double place = 0, force = 0, moved = 0, balance = 0;
        for (int k = 0; k < CUTS; k++) {
            sight start;
            snw_residual(c[k].c.m, c[k].c.in, c[k].c.s, true, c[k].c.w);
            look(&g, &c[k], c[k].c.w, c[k].c.s, &start);
            balance = fmax(balance, end_explicit(&g, &c[k], k ? &other : &first));
            if (k == 0) moved = oracle_distance(NUMBERS, start.place, first.place);
            if (k == 0) continue;
            place = fmax(place, oracle_distance(NUMBERS, other.place, first.place));
            force = fmax(force, oracle_distance(FORCES, other.reaction, first.reaction));
        }
        const double size = furthest(FORCES, first.reaction);
        printf("%-18s freedom %2d: places %.1e of %.2f, forces %.1e of %.1f, balance %.1e\n",
               f->name, c[0].c.m->freedom, place, moved, force, size, balance);
        if (!(place <= 1e-10 && force <= 1e-9 * size && balance <= 1e-9)) {
            fail_msg("%s, %d", f->name, i);
        }
        assert_true(moved > 0.02);
        for (int k = 0; k < CUTS; k++) cut_shut(&c[k]);
    }
}

// ---- balance ------------------------------------------------------------------------------------

// Newton-Euler equations of the part of a robot that is a link, about the world's origin, including
// its weight: for each mass, force m (a - g) at its centre, moment I w' + w x I w.
static snw_wrench inertia_force(const snw_model *m, const snw_work *w, int link) {
    snw_wrench sum = {0};
    for (int i = 1; i < m->nseg; i++) {
        if (m->seg[i].link != link || !m->seg[i].has_mass) continue;
        const snw_inertia *M = &m->seg[i].M;
        const snw_twist V = w->V[i], A = w->A[i];
        const snw_vec3 c = snw_scale(1 / M->m, M->mc);
        snw_vec3 a = snw_add(A.v, snw_cross(V.w, V.v)); // acceleration of the origin, less gravity
        const snw_vec3 turn =
            snw_add(snw_add(snw_inertia_rotate(M, A.w), snw_cross(V.w, snw_inertia_rotate(M, V.w))),
                    snw_cross(M->mc, a)); // about the origin of the frame
        a = snw_add(a, snw_add(snw_cross(A.w, c), snw_cross(V.w, snw_cross(V.w, c))));
        const snw_vec3 f = snw_rotate(w->g[i].R, snw_scale(M->m, a));
        sum.f = snw_add(sum.f, f);
        sum.m = snw_add(sum.m, snw_add(snw_rotate(w->g[i].R, turn), snw_cross(w->g[i].p, f)));
    }
    return sum;
}

// largest unbalanced force or moment about the origin, over all parts
static double out_of_balance(const graph *g, const cut *c, const snw_work *w, const snw_state *s) {
    double worst = 0;
    for (int p = 0; p < g->npart; p++) {
        if (c->link[p] < 0) continue;
        snw_wrench sum = snw_wrench_scale(-1, inertia_force(c->c.m, w, c->link[p]));
        for (int i = 0; i < g->njoint; i++) {
            const snw_wrench F = cut_reaction(g, c, w, s, i);
            if (g->joint[i].part[1] == p) sum = snw_wrench_add(sum, F);
            if (g->joint[i].part[0] == p) sum = snw_wrench_sub(sum, F);
        }
        for (int k = 0; k < 2; k++) {
            if (g->pushed[k] != p) continue;
            sum.f = snw_add(sum.f, g->force[k]);
            sum.m = snw_add(sum.m, snw_cross(cut_centre(g, c, w, p), g->force[k]));
        }
        for (int k = 0; k < 6; k++) worst = fmax(worst, fabs(sum.e[k]));
    }
    return worst;
}

// At every step of every scheme loops are closed, and every part, rods included, is in balance with
// the reactions of its joints in the tree and in loops.
static void loops_stay_closed_and_parts_in_balance(void **state) {
    (void)state;
    static const snw_scheme_kind kinds[] = {SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_BDF2,
                                            SNW_SCHEME_EULER, SNW_SCHEME_HHT};
    static cut c[CUTS];
    graph g;
    dice d = {72};
    double gap = 0, lack = 0;
    for (int i = 0; i < ROBOTS; i++) {
        const family *f = &families[i % FAMILIES];
        draw(f, &d, &g, c);
        for (int k = 0; k < CUTS; k++) {
            const snw_model *m = c[k].c.m;
            snw_implicit_opts o = snw_implicit_defaults();
            o.scheme = snw_implicit_scheme(kinds[(i + k) % 4], 0.8, 0);
            o.chart = i % 2 ? SNW_CHART_SE3 : SNW_CHART_SO3R3;
            o.tolerance = 1e-13;
            snw_implicit *im = closed_robot_motion(&c[k].c, &o);
            for (int n = 1; n <= 100; n++) {
                snw_chord_info info;
                assert_int_equal(snw_implicit_step(im, DURATION / 100, DURATION * n / 100, &info),
                                 SNW_OK);
                const snw_work *w = snw_implicit_work_at(im);
                for (int r = 0; r < m->nconstraint; r++) {
                    gap = fmax(gap, fabs(w->violation[r]) / snw_constraint_at(m, w, r).size);
                }
                lack = fmax(lack, out_of_balance(&g, &c[k], w, snw_implicit_state(im)));
            }
            snw_implicit_destroy(im);
            cut_shut(&c[k]);
        }
    }
    printf("gap %.1e, lacking %.1e\n", gap, lack);
    // Newton's tolerance is 1e-13 of the robot's size and of typical forces; masses that rotate
    // within a step make the latter 1e3 N
    assert_true(gap <= 1e-12 && lack <= 1e-9);
}

// ---- conservation -------------------------------------------------------------------------------

// Closed robots without external forces conserve energy and momentum: by the conserving scheme to
// Newton's tolerance.
static void floating_robots_keep_energy_and_momenta(void **state) {
    (void)state;
    static cut c;
    graph g;
    dice d = {74};
    for (int i = 0; i < ROBOTS; i++) {
        graph_random(&g, &d, 5, i % 2, i % 3 * 0.5, true);
        for (int k = 0; k < 3; k++) g.gravity[k] = 0;
        for (int k = 0; k < 2; k++) g.force[k] = (snw_vec3){{0}};
        cut_open(&g, &d, false, 0, &c);
        const snw_model *m = c.c.m;
        for (int k = 0; k < m->nv; k++) c.c.s->v[k] = roll(&d, -1, 1);
        closed_robot_settle(&c.c, 0);
        const snw_step_desc step = {.scheme = SNW_SCHEME_CONSERVING, .step = 2e-3};
        snw_integrator it = {0};
        snw_error err = {0};
        if (snw_integrator_open(m, &step, 0, &it, &err) != SNW_OK) fail_msg("%s", err.text);
        if (it.start(it.self, c.c.s, &err) != SNW_OK) fail_msg("%s", err.text);
        double first = 0, energy = 0, momentum = 0, gap = 0, size = 0;
        snw_wrench before = {0};
        for (int n = 0; n <= 200; n++) {
            snw_stats took = {0};
            if (n > 0 && it.advance(it.self, 2e-3 * n, INFINITY, &took, &err) != SNW_OK) {
                fail_msg("%d: %s", i, err.text);
            }
            const snw_work *w = it.work_at(it.self);
            const snw_state *s = it.state(it.self);
            const double now = snw_kinetic_energy(m, w) + snw_elastic_energy(m, s);
            const snw_wrench P = snw_momentum(m, w);
            if (n == 0) first = now, before = P;
            energy = fmax(energy, fabs(now - first));
            for (int k = 0; k < 6; k++) {
                momentum = fmax(momentum, fabs(P.e[k] - before.e[k]));
                size = fmax(size, fabs(before.e[k]));
            }
            for (int r = 0; r < m->nconstraint; r++) {
                gap = fmax(gap, fabs(w->violation[r]) / snw_constraint_at(m, w, r).size);
            }
        }
        printf("robot %2d, freedom %2d: energy %.1e of %.2f, momenta %.1e of %.2f, gap %.1e\n", i,
               m->freedom, energy, first, momentum, size, gap);
        assert_true(energy <= 1e-10 * first && momentum <= 1e-10 * size && gap <= 1e-10);
        it.close(it.self);
        cut_shut(&c);
    }
}

// ---- implicit steps -----------------------------------------------------------------------------

static void end_implicit(const graph *g, cut *c, int n, sight *o) {
    snw_implicit_opts opts = snw_implicit_defaults();
    opts.scheme = snw_implicit_scheme(SNW_SCHEME_GENERALIZED_ALPHA, 0.6, 0);
    opts.tolerance = 1e-13;
    snw_implicit *im = closed_robot_motion(&c->c, &opts);
    for (int i = 1; i <= n; i++) {
        snw_chord_info info;
        assert_int_equal(snw_implicit_step(im, DURATION / n, DURATION * i / n, &info), SNW_OK);
    }
    const snw_work *w = snw_implicit_work_at(im);
    look(g, c, w, snw_implicit_state(im), o);
    snw_implicit_destroy(im);
}

// Other coordinates have other errors in time: the results of cuts differ by these errors, and by a
// quarter of that with half the step.
static void steps_of_other_cuts_converge_together(void **state) {
    (void)state;
    static cut c[CUTS];
    static sight first[2], other[2];
    graph g;
    dice d = {73};
    for (int i = 0; i < FAMILIES; i++) {
        draw(&families[i], &d, &g, c);
        for (int k = 0; k < CUTS; k++) {
            for (int h = 0; h < 2; h++) {
                end_implicit(&g, &c[k], 150 << h, k ? &other[h] : &first[h]);
            }
            if (k == 0) continue;
            double place[2], force[2];
            for (int h = 0; h < 2; h++) {
                place[h] = oracle_distance(NUMBERS, other[h].place, first[h].place);
                force[h] = oracle_distance(FORCES, other[h].reaction, first[h].reaction);
            }
            printf("%-18s places %.1e %.1e, forces %.1e %.1e\n", families[i].name, place[0],
                   place[1], force[0], force[1]);
            // two cuts may have the same coordinates: they then differ by rounding only
            if (place[1] > 1e-9) assert_true(fabs(log2(place[0] / place[1]) - 2) < 0.2);
            if (force[1] > 1e-7) assert_true(fabs(log2(force[0] / force[1]) - 2) < 0.3);
        }
        for (int k = 0; k < CUTS; k++) cut_shut(&c[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cuts_have_everything),
        cmocka_unit_test(robots_move_alike_however_they_are_cut),
        cmocka_unit_test(loops_stay_closed_and_parts_in_balance),
        cmocka_unit_test(floating_robots_keep_energy_and_momenta),
        cmocka_unit_test(steps_of_other_cuts_converge_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
