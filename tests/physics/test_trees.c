// SPDX-License-Identifier: MIT
//
// Invariants of random trees of rigid bodies and rods with joints of every kind.
#include "random_tree.h"

#include "integrate/explicit.h"
#include "integrate/integrator_private.h"
#include "oracle/linear.h"
#include "oracle/trial.h"

#include "near.h"
#include "sanitized.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TREES = 24 };
enum {
    MOTIONS = AMONG(2, 12),
    MOVING = AMONG(0, 3)
}; // number of trees, and least number with a moving base

static void open(tree *t, trial *x, dice *d, tree_opts o) {
    tree_random(t, d, o);
    trial_open(x, &t->r.desc);
    state_random(x->m, d, x->s);
    trial_at(x, x->s->t);
}

// Rigid, soft and mixed trees in turn, some of each floating.
static tree_opts any(dice *d, int i, int most) {
    return (tree_opts){
        .nlink = pick_int(d, 2, most), .kind = (tree_kind)(i % 3), .floating = i / 3 % 3 == 0};
}

static void close(tree *t, trial *x) {
    trial_close(x);
    robot_free(&t->r);
}

// The generator makes every kind of joint, links without inertia, several roots, rods.
static void the_trees_have_everything(void **state) {
    (void)state;
    dice d = {21};
    int joints[SNW_JOINT_COUNT] = {0}, roots = 0, empty = 0, rods = 0;
    for (int i = 0; i < TREES; i++) {
        tree t;
        tree_random(&t, &d, (tree_opts){.nlink = 8});
        for (int l = 0; l < 8; l++) {
            const snw_link_desc *link = &t.link[l];
            joints[link->joint]++;
            roots += l > 0 && link->on.kind == SNW_SITE_WORLD;
            rods += link->has_rod;
            empty += !link->has_rod && !link->has_body;
        }
        robot_free(&t.r);
    }
    for (int k = 0; k < SNW_JOINT_COUNT; k++) assert_true(joints[k] > 2);
    assert_true(roots > 5 && empty > 5 && rods > 5);
}

// ---- mass ---------------------------------------------------------------------------------------

// Is M positive? Plain Cholesky factorisation.
static bool positive(int n, const double *M) {
    double *L = oracle_alloc((size_t)n * (size_t)n, sizeof *L);
    bool fine = true;
    for (int j = 0; fine && j < n; j++) {
        for (int i = j; i < n; i++) {
            double s = M[i * n + j];
            for (int k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
            if (i == j) fine = s > 0;
            L[i * n + j] = i == j ? sqrt(s) : s / L[j * n + j];
        }
    }
    free(L);
    return fine;
}

// The columns of M are inverse dynamics of unit accelerations, and T = v' M v / 2.
static void mass_is_symmetric_positive_and_that_of_inverse_dynamics(void **state) {
    (void)state;
    dice d = {22};
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x;
        open(&t, &x, &d, any(&d, i, 9));
        const int n = x.m->nv;
        double *M = oracle_alloc((size_t)n * (size_t)n, sizeof *M),
               *r = oracle_alloc((size_t)n, sizeof *r);
        snw_mass_matrix(x.m, x.in, x.s, x.w, M);
        const double size = oracle_size((size_t)n * (size_t)n, M);
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) assert_true(M[j * n + k] == M[k * n + j]);
        }
        assert_true(positive(n, M));
        for (int j = 0; j < n; j++) x.s->a[j] = 0;
        snw_residual(x.m, x.in, x.s, false, x.w);
        memcpy(r, x.w->r, (size_t)n * sizeof *r);
        const double force = oracle_size((size_t)n, r);
        for (int j = 0; j < n; j++) {
            x.s->a[j] = 1;
            snw_residual(x.m, x.in, x.s, false, x.w);
            x.s->a[j] = 0;
            for (int k = 0; k < n; k++) { // rounding of the subtracted forces
                assert_true(fabs(x.w->r[k] - r[k] - M[j * n + k]) <= 1e-13 * (size + force));
            }
        }
        // v' M v / 2 is the kinetic energy only where no base moves
        bool moving = false;
        for (int p = 0; p < x.m->npose; p++) moving |= snw_pose_desc_vars(&x.m->pose[p]) != 0;
        snw_kinematics(x.m, x.in, x.s, false, x.w);
        double T = 0;
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) T += 0.5 * x.s->v[j] * M[j * n + k] * x.s->v[k];
        }
        if (!moving) assert_near(snw_kinetic_energy(x.m, x.w) / T, 1, 1e-13);
        free(M);
        free(r);
        close(&t, &x);
    }
}

// Robots without rods, for which there are several ways to matrices and accelerations.
static tree_opts rigid(dice *d, int i) {
    return (tree_opts){.nlink = pick_int(d, 2, 12), .kind = TREE_RIGID, .floating = i / 3 % 3 == 0};
}

// The other ways than those that the model chooses, which depend on the number of coordinates.
static void choose_ways(trial *x, bool composite, bool articulated) {
    x->m->composite = composite;
    x->m->articulated = articulated;
    snw_work_destroy(x->w);
    assert_int_equal(snw_work_create(x->m, &x->w), SNW_OK);
}

// Products of paths and composite bodies, theory.md (4.1.1) and (4.1.2), give one matrix.
static void both_ways_to_the_mass_matrix_agree(void **state) {
    (void)state;
    dice d = {31};
    int chosen = 0;
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x;
        open(&t, &x, &d, rigid(&d, i));
        const int n = x.m->nv;
        chosen += x.m->composite;
        double *M = oracle_alloc((size_t)n * (size_t)n, sizeof *M),
               *C = oracle_alloc((size_t)n * (size_t)n, sizeof *C);
        choose_ways(&x, false, false);
        snw_mass_matrix(x.m, x.in, x.s, x.w, M);
        choose_ways(&x, true, false);
        snw_mass_matrix(x.m, x.in, x.s, x.w, C);
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                const double size = sqrt(M[j * n + j] * M[k * n + k]);
                assert_true(fabs(C[j * n + k] - M[j * n + k]) <= 1e-13 * size);
                assert_true(C[j * n + k] == C[k * n + j]);
            }
        }
        free(M);
        free(C);
        close(&t, &x);
    }
    assert_true(chosen > 0 && chosen < TREES);
}

// Accelerations by articulated bodies, theory.md (4.1.3) to (4.1.5), leave nothing out of balance.
static void articulated_bodies_answer_all_forces(void **state) {
    (void)state;
    dice d = {32};
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x;
        open(&t, &x, &d, rigid(&d, i));
        const int n = x.m->nv;
        choose_ways(&x, false, true);
        for (int j = 0; j < n; j++) x.s->a[j] = 0;
        snw_residual(x.m, x.in, x.s, false, x.w);
        const double force = oracle_size((size_t)n, x.w->r);
        for (int j = 0; j < n; j++) x.s->a[j] = -x.w->r[j];
        assert_int_equal(snw_articulated_solve(x.m, x.w, x.s->a), -1);
        snw_residual(x.m, x.in, x.s, false, x.w);
        for (int j = 0; j < n; j++) assert_true(fabs(x.w->r[j]) <= 1e-11 * force);
        close(&t, &x);
    }
}

// Products of paths and rows of own coordinates, theory.md (4.1.6), give one tangent.
static void both_ways_to_the_tangent_agree(void **state) {
    (void)state;
    dice d = {33};
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x;
        open(&t, &x, &d, rigid(&d, i));
        const bool is_static = i % 4 == 3;
        const int n = x.m->nv;
        double *T[2];
        for (int way = 0; way < 2; way++) {
            x.m->subtree_tangent = way == 1;
            if (x.m->store_path == 0) { // the model has chosen subtrees: no room for products
                snw_path *path = (snw_path *)(uintptr_t)x.m->path;
                for (int p = 0; p < x.m->npath; p++) {
                    path[p].store = x.m->store_path;
                    x.m->store_path += (size_t)path[p].n * (size_t)path[p].ld;
                }
            }
            snw_work_destroy(x.w);
            assert_int_equal(snw_work_create(x.m, &x.w), SNW_OK);
            snw_residual(x.m, x.in, x.s, is_static, x.w);
            T[way] = trial_tangent(&x, is_static, 1.3, is_static ? 0 : 0.7, 0.4);
        }
        const double size = oracle_size((size_t)n * (size_t)n, T[0]);
        for (int k = 0; k < n * n; k++) assert_true(fabs(T[0][k] - T[1][k]) <= 1e-13 * size);
        free(T[0]);
        free(T[1]);
        close(&t, &x);
    }
}

static void inverse_after_forward_dynamics_is_nothing(void **state) {
    (void)state;
    dice d = {23};
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x;
        open(&t, &x, &d, any(&d, i, 9));
        for (int j = 0; j < x.m->nv; j++) x.s->a[j] = 0;
        snw_residual(x.m, x.in, x.s, false, x.w);
        const double size = oracle_size((size_t)x.m->nv, x.w->r);
        trial_forward_dynamics(&x);
        snw_residual(x.m, x.in, x.s, false, x.w);
        assert_true(oracle_size((size_t)x.m->nv, x.w->r) <= 1e-11 * size);
        close(&t, &x);
    }
}

// ---- invariance under rigid motions -------------------------------------------------------------

static void moving_everything_changes_nothing(void **state) {
    (void)state;
    dice d = {24};
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x, y;
        open(&t, &x, &d, (tree_opts){.nlink = 7, .conservative = true});
        snw_residual(x.m, x.in, x.s, false, x.w);
        const snw_se3 G = {snw_so3_exp(roll_vec3(&d, 2)), roll_vec3(&d, 3)};
        tree moved = t;
        moved.r.desc.link = moved.link;
        snw_vec3 g;
        for (int k = 0; k < 3; k++) g.e[k] = snw_expr_value(t.r.desc.gravity[k], (snw_at){0});
        g = snw_rotate(G.R, g);
        for (int k = 0; k < 3; k++) moved.r.desc.gravity[k] = number(&t.r, g.e[k]);
        for (int l = 0; l < 7; l++) {
            if (t.link[l].on.kind != SNW_SITE_WORLD) continue;
            tree_place(&moved, l, snw_se3_mul(G, snw_pose_desc_at(&t.link[l].pose, 0)));
        }
        trial_open(&y, &moved.r.desc);
        snw_state_copy(x.m, x.s, y.s);
        snw_residual(y.m, y.in, y.s, false, y.w);
        const double size = oracle_size((size_t)x.m->nv, x.w->r);
        assert_true(oracle_distance((size_t)x.m->nv, x.w->r, y.w->r) <= 1e-12 * size);
        for (int l = 0; l < 7; l++) {
            const snw_se3 want = snw_se3_mul(G, x.w->g[x.m->link_end[l]]);
            assert_near(snw_norm(snw_sub(y.w->g[y.m->link_end[l]].p, want.p)), 0, 1e-13);
        }
        trial_close(&y);
        close(&t, &x);
    }
}

// ---- energy and momentum ------------------------------------------------------------------------

static double energy_of(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        const snw_work *w) {
    return snw_kinetic_energy(m, w) + snw_elastic_energy(m, s) + snw_gravity_energy(m, in, w);
}

static snw_explicit *start(const trial *x, double tolerance) {
    snw_explicit *e = NULL;
    snw_error err = {0};
    const snw_explicit_opts o = {.kind = SNW_ODE_RK87, .tolerance = tolerance};
    if (snw_explicit_create(x->m, &o, &e, &err) != SNW_OK) fail_msg("%s", err.text);
    if (snw_explicit_start(e, x->s, &err) != SNW_OK) fail_msg("%s", err.text);
    return e;
}

static void go(snw_explicit *e, double t) {
    snw_error err = {0};
    if (snw_explicit_advance(e, t, INFINITY, &err) != SNW_OK) fail_msg("%s", err.text);
}

// Without losses and loads the energy is constant, and without surroundings both momenta as well.
static void energy_and_momentum_stay(void **state) {
    (void)state;
    dice d = {25};
    for (int i = 0; i < 6; i++) {
        tree t;
        trial x;
        const bool alone = i % 2 == 0;
        open(&t, &x, &d,
             (tree_opts){.nlink = i / 2 % 3 == TREE_SOFT ? 3 : 6, // rods are stiff
                         .kind = (tree_kind)(i / 2 % 3),
                         .floating = alone,
                         .weightless = alone,
                         .conservative = true});
        for (int k = 0; k < x.m->nv; k++) x.s->v[k] *= 0.5;
        trial_at(&x, 0);
        const double tolerance = 1e-11;
        snw_explicit *e = start(&x, tolerance);
        const snw_work *w = snw_explicit_work_at(e);
        const double first = energy_of(x.m, x.in, x.s, w);
        const snw_wrench momentum = snw_momentum(x.m, w);
        double size = snw_kinetic_energy(x.m, w), push = 1;
        for (int k = 0; k < 6; k++) push = fmax(push, fabs(momentum.e[k]));
        for (int k = 1; k <= 3; k++) {
            go(e, 0.05 * k);
            w = snw_explicit_work_at(e);
            size = fmax(size, snw_kinetic_energy(x.m, w));
            const double now = energy_of(x.m, x.in, snw_explicit_state(e), w);
            // the error per step is the tolerance, of which a tenth accumulates
            const double bound = (10 + 0.1 * (double)snw_explicit_statistics(e).steps) * tolerance;
            assert_true(fabs(now - first) <= bound * (size + fabs(first)));
            const snw_wrench P = snw_momentum(x.m, w);
            for (int c = 0; alone && c < 6; c++) {
                assert_true(fabs(P.e[c] - momentum.e[c]) <= bound * push);
            }
        }
        snw_explicit_destroy(e);
        close(&t, &x);
    }
}

// Springs, damping, dry friction, loads, moving poses: the change of energy is the work done.
static void the_balance_closes(void **state) {
    (void)state;
    dice d = {26};
    double heat = 0;
    for (int i = 0; i < 6; i++) {
        tree t;
        trial x;
        open(&t, &x, &d,
             (tree_opts){.nlink = i / 2 % 3 == TREE_SOFT ? 3 : 6,
                         .kind = (tree_kind)(i / 2 % 3),
                         .floating = i % 2 == 0});
        for (int k = 0; k < x.m->nv; k++) x.s->v[k] *= 0.5;
        trial_at(&x, 0.1);
        snw_explicit *e = start(&x, 1e-11);
        const double first = energy_of(x.m, x.in, x.s, snw_explicit_work_at(e));
        go(e, 0.2);
        const snw_work *w = snw_explicit_work_at(e);
        const snw_work_done done = snw_explicit_work_done(e);
        double sum = energy_of(x.m, x.in, snw_explicit_state(e), w) - first + done.heat;
        double size = done.heat + fabs(first);
        for (int k = 0; k < done.n; k++) sum -= done.work[k], size += fabs(done.work[k]);
        assert_true(fabs(sum) <= 1e-9 * size);
        heat += done.heat;
        snw_explicit_destroy(e);
        close(&t, &x);
    }
    assert_true(heat > 0.1);
}

// ---- implicit schemes ---------------------------------------------------------------------------

// A chain with every kind of joint, starting at a free body, with springs, damping and friction,
// and weight.
static void chain(tree *t, bool floating, bool lossless) {
    const snw_joint_kind kinds[] = {floating ? SNW_JOINT_FREE : SNW_JOINT_UNIVERSAL,
                                    SNW_JOINT_REVOLUTE,
                                    SNW_JOINT_SPHERICAL,
                                    SNW_JOINT_PRISMATIC,
                                    SNW_JOINT_CYLINDRICAL,
                                    SNW_JOINT_PLANAR};
    tree_init(t, 6);
    for (int i = 0; i < 6; i++) {
        snw_link_desc *l = &t->link[i];
        l->joint = kinds[i];
        if (i > 0) l->on = link_end(i - 1);
        l->moves.axis = (snw_vec3){{i % 2 ? 0.6 : 0, i % 2 ? 0.8 : 0, i % 2 ? 0 : 1}};
        tree_place(t, i,
                   (snw_se3){snw_so3_exp((snw_vec3){{0.1 * i, -0.2, 0.3}}), {{0.1, 0.05, -0.2}}});
        tree_body(t, i, 1, (snw_vec3){{0.05, 0, -0.1}}, (snw_vec3){{0.02, 0.03, 0.04}});
        for (int k = 0; k < 3; k++) {
            l->moves.stiffness[k] = 5;
            l->moves.damping[k] = lossless ? 0 : 0.1;
            l->moves.friction[k] = lossless ? 0 : 0.2;
            l->moves.creep[k] = 0.5;
        }
    }
    t->r.desc.gravity[2] = lossless ? NULL : number(&t->r, -5);
}

static void motion(const snw_model *m, const snw_state *s, snw_scheme_kind kind, snw_chart chart,
                   int n, double *q) {
    snw_implicit_opts o = snw_implicit_defaults();
    o.scheme = snw_implicit_scheme(kind, 0.8, -0.3);
    o.chart = chart;
    o.tolerance = 1e-13;
    snw_implicit *im = NULL;
    snw_error err = {0};
    assert_int_equal(snw_implicit_create(m, &o, &im), SNW_OK);
    if (snw_implicit_start(im, s, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < n; i++) {
        snw_chord_info info;
        assert_int_equal(snw_implicit_step(im, 0.2 / n, 0.2 * (i + 1) / n, &info), SNW_OK);
        assert_true(info.iterations < 12);
    }
    memcpy(q, snw_implicit_state(im)->q, (size_t)m->nq * sizeof *q);
    snw_implicit_destroy(im);
}

static void collocated(const trial *x, snw_scheme_kind method, bool split, int n, double *q) {
    const snw_step_desc step = {
        .scheme = method, .step = 0.2 / n, .tolerance = 1e-13, .split = split};
    snw_integrator it;
    snw_error err = {0};
    snw_stats took = {0};
    if (snw_integrator_open(x->m, &step, 0, &it, &err) != SNW_OK) fail_msg("%s", err.text);
    if (it.start(it.self, x->s, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 1; i <= n; i++) {
        if (it.advance(it.self, 0.2 * i / n, INFINITY, &took, &err) != SNW_OK)
            fail_msg("%s", err.text);
    }
    assert_true(took.increments == n);
    memcpy(q, it.state(it.self)->q, (size_t)x->m->nq * sizeof *q);
    it.close(it.self);
}

static void implicit_schemes_converge_at_their_order(void **state) {
    (void)state;
    const snw_scheme_kind kinds[] = {
        SNW_SCHEME_NEWMARK, SNW_SCHEME_HHT,         SNW_SCHEME_WBZ,  SNW_SCHEME_GENERALIZED_ALPHA,
        SNW_SCHEME_EULER,   SNW_SCHEME_TRAPEZOIDAL, SNW_SCHEME_BDF2, SNW_SCHEME_BDF_ALPHA};
    for (int floating = 0; floating < 2; floating++) {
        tree t;
        trial x;
        chain(&t, floating, false);
        trial_open(&x, &t.r.desc);
        for (int i = 0; i < x.m->nv; i++) x.s->v[i] = 0.5 * cos(1.7 * i);
        double want[64], a[64], b[64];
        snw_explicit *e = start(&x, 1e-13);
        go(e, 0.2);
        memcpy(want, snw_explicit_state(e)->q, (size_t)x.m->nq * sizeof *want);
        snw_explicit_destroy(e);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            const snw_chart chart = k % 2 ? SNW_CHART_SO3R3 : SNW_CHART_SE3;
            motion(x.m, x.s, kinds[k], chart, 100, a);
            motion(x.m, x.s, kinds[k], chart, 200, b);
            const size_t nq = (size_t)x.m->nq;
            const double coarse = oracle_distance(nq, a, want), fine = oracle_distance(nq, b, want);
            const int order = snw_implicit_scheme(kinds[k], 0.8, -0.3).order;
            printf("scheme %d  %.2e  %.2e  %.3f\n", (int)k, coarse, fine, log2(coarse / fine));
            if (!(fabs(log2(coarse / fine) - order) < 0.15)) {
                fail_msg("scheme %d: errors %.3g, %.3g, order %d", (int)k, coarse, fine, order);
            }
        }
        for (int order = 4; order <= 6; order += 2) {
            const snw_scheme_kind method = order == 4 ? SNW_SCHEME_GAUSS4 : SNW_SCHEME_GAUSS6;
            const size_t nq = (size_t)x.m->nq;
            collocated(&x, method, order == 4, 96 / order, a);
            collocated(&x, method, order == 4, 192 / order, b);
            const double coarse = oracle_distance(nq, a, want), fine = oracle_distance(nq, b, want);
            printf("gauss%d  %.2e  %.2e  %.3f\n", order, coarse, fine, log2(coarse / fine));
            assert_true(fabs(log2(coarse / fine) - order) < 0.1 * order);
        }
        close(&t, &x);
    }
}

// ---- the conserving scheme ----------------------------------------------------------------------

typedef struct drift {
    double energy;     // not accounted for by work and heat
    double momentum;   // angular about the origin, then linear: largest change
    double upright;    // momentum about the vertical
    double end;        // distance to the end of the explicit motion
    double size;       // energy: the largest kinetic energy, and the energy exchanged
    double iterations; // most in a step
} drift;

static bool moves(const snw_model *m) {
    for (int i = 0; i < m->npose; i++) {
        if (snw_pose_desc_vars(&m->pose[i]) != 0) return true;
    }
    return false;
}

// The conserving scheme from x->s on in n steps; `want` is the end of an explicit motion, or NULL.
static drift conserve(const trial *x, const double *want, double time, int n) {
    const snw_step_desc step = {.scheme = SNW_SCHEME_CONSERVING, .step = time / n};
    snw_integrator it = {0};
    snw_error err = {0};
    if (snw_integrator_open(x->m, &step, 0, &it, &err) != SNW_OK) fail_msg("%s", err.text);
    if (it.start(it.self, x->s, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_work *w = it.work_at(it.self);
    const double first = energy_of(x->m, x->in, x->s, w), begin = x->s->t;
    const snw_wrench before = snw_momentum(x->m, w);
    drift worst = {0};
    for (int i = 1; i <= n; i++) {
        snw_stats took = {0};
        if (it.advance(it.self, begin + time * i / n, INFINITY, &took, &err) != SNW_OK) {
            fail_msg("%s", err.text);
        }
        worst.iterations = fmax(worst.iterations, (double)took.iterations);
        w = it.work_at(it.self);
        double gain = energy_of(x->m, x->in, it.state(it.self), w) - first;
        const snw_work_done done = it.work(it.self);
        double size = snw_kinetic_energy(x->m, w) + done.heat;
        for (int k = 0; k < done.n; k++) gain -= done.work[k], size += fabs(done.work[k]);
        worst.energy = fmax(worst.energy, fabs(gain + done.heat));
        worst.size = fmax(worst.size, size);
        const snw_wrench P = snw_momentum(x->m, w);
        for (int c = 0; c < 6; c++) {
            worst.momentum = fmax(worst.momentum, fabs(P.e[c] - before.e[c]));
        }
        worst.upright = fmax(worst.upright, fabs(P.m.z - before.m.z));
    }
    if (want) worst.end = oracle_distance((size_t)x->m->nq, it.state(it.self)->q, want);
    it.close(it.self);
    return worst;
}

static void end_of(const trial *x, double time, double *want) {
    snw_explicit *e = start(x, 1e-13);
    go(e, x->s->t + time);
    memcpy(want, snw_explicit_state(e)->q, (size_t)x->m->nq * sizeof *want);
    snw_explicit_destroy(e);
}

// Momentum and energy to Newton's tolerance, the motion with order two.
static void the_conserving_scheme_conserves(void **state) {
    (void)state;
    tree t;
    trial x;
    chain(&t, true, true);
    trial_open(&x, &t.r.desc);
    for (int i = 0; i < x.m->nv; i++) x.s->v[i] = 0.5 * cos(1.7 * i);
    double want[64];
    end_of(&x, 0.5, want);
    const drift a = conserve(&x, want, 0.5, 100), b = conserve(&x, want, 0.5, 200);
    printf("conserving: energy %.2e %.2e, momentum %.2e %.2e, end %.2e %.2e\n", a.energy, b.energy,
           a.momentum, b.momentum, a.end, b.end);
    assert_true(a.momentum <= 1e-11 && b.momentum <= 1e-11);
    assert_true(a.iterations <= 12 && b.iterations <= 12);
    assert_true(a.energy <= 1e-12 && b.energy <= 1e-12);
    assert_true(fabs(log2(a.end / b.end) - 2) < 0.15);
    close(&t, &x);
}

// All inner spherical joints of a tree, or every other one, become free joints.
static void set_free(tree *t, int every) {
    int seen = 0;
    for (int l = 0; l < t->r.desc.nlink; l++) {
        snw_link_desc *link = &t->link[l];
        if (link->on.kind == SNW_SITE_WORLD || link->joint != SNW_JOINT_SPHERICAL) continue;
        if (seen++ % every) continue;
        link->joint = SNW_JOINT_FREE;
        link->moves = (snw_joint_desc){.axis = link->moves.axis};
    }
}

// Without losses and loads the energy is constant, and without surroundings both momenta as well,
// wherever spherical and free joints are; with losses and loads the balance closes, unless laws
// move a base.
static void by_the_conserving_scheme_random_trees_keep_what_they_should(void **state) {
    (void)state;
    dice d = {27};
    int curved = 0, inner = 0;
    double worst = 0;
    for (int i = 0; i < 16; i++) {
        tree t;
        trial x;
        const bool alone = i % 2 == 0, conservative = i % 4 < 2;
        tree_random(&t, &d,
                    (tree_opts){.nlink = 6,
                                .floating = alone,
                                .weightless = alone,
                                .conservative = conservative,
                                .first_joints = true});
        if (i % 3 == 0) set_free(&t, 2);
        trial_open(&x, &t.r.desc);
        state_random(x.m, &d, x.s);
        for (int k = 0; k < x.m->nv; k++) x.s->v[k] *= 0.5;
        trial_at(&x, 0);
        if (!moves(x.m)) {
            const drift a = conserve(&x, NULL, 0.1, 100);
            curved += x.m->nlie_block, inner += x.m->nfree - alone;
            worst = fmax(worst, a.energy / a.size);
            if (!(a.energy <= 1e-11 * a.size)) {
                fail_msg("tree %d: energy %.3g of %.3g", i, a.energy, a.size);
            }
            if (alone && conservative && !(a.momentum <= 1e-10 * fmax(1, a.size))) {
                fail_msg("tree %d: momentum %.3g", i, a.momentum);
            }
        }
        close(&t, &x);
    }
    printf("random trees: balance %.1e; %d curved\n", worst, curved);
    assert_true(curved > 10 && inner > 2);
}

// Springs, damping, friction, loads, bases moved by laws; at a single instant an error may be small
// by chance.
static void by_the_conserving_scheme_random_trees_move_at_order_two(void **state) {
    (void)state;
    dice d = {28};
    int moving = 0;
    for (int i = 0; i < MOTIONS; i++) {
        tree t;
        trial x;
        // trees that the steps below resolve
        tree_random(&t, &d, (tree_opts){.nlink = 6, .first_joints = true});
        if (i % 3 == 0) set_free(&t, 2);
        trial_open(&x, &t.r.desc);
        state_random(x.m, &d, x.s);
        for (int k = 0; k < x.m->nv; k++) x.s->v[k] *= 0.5;
        trial_at(&x, x.s->t);
        double want[256];
        assert_true(x.m->nq <= 256);
        end_of(&x, 0.02, want);
        const drift a = conserve(&x, want, 0.02, 200), b = conserve(&x, want, 0.02, 400);
        const double slope = log2(a.end / b.end);
        printf("tree %d: %.2e %.2e, slope %.3f%s\n", i, a.end, b.end, slope,
               moves(x.m) ? ", moving" : "");
        if (!(slope > 1.8)) fail_msg("tree %d: slope %.3f", i, slope);
        moving += moves(x.m) && x.m->nlie_block;
        close(&t, &x);
    }
    assert_true(moving >= MOVING);
}

// n bodies hang on spherical joints from the world: no coordinate is a plain number. Energy and the
// momentum about the vertical are constant; one body is the heavy top, whose energy needs no
// correction.
static void chains_of_balls_keep_energy_and_the_momentum_about_the_vertical(void **state) {
    (void)state;
    for (int n = 1; n <= 3; n++) {
        tree t;
        trial x;
        tree_init(&t, n);
        for (int i = 0; i < n; i++) {
            t.link[i].joint = SNW_JOINT_SPHERICAL;
            if (i > 0) t.link[i].on = link_end(i - 1);
            if (i > 0) tree_place(&t, i, (snw_se3){snw_mat3_identity(), {{0.2, 0.1, -0.2}}});
            tree_body(&t, i, 1, (snw_vec3){{0.1, 0, -0.1}}, (snw_vec3){{0.02, 0.03, 0.04}});
        }
        t.r.desc.gravity[2] = number(&t.r, -9.81);
        trial_open(&x, &t.r.desc);
        for (int i = 0; i < x.m->nv; i++) x.s->v[i] = 3 * cos(1.7 * i);
        trial_at(&x, 0);
        double want[16];
        end_of(&x, 0.5, want);
        const drift a = conserve(&x, want, 0.5, 200), b = conserve(&x, want, 0.5, 400),
                    far = conserve(&x, NULL, 20, 2000);
        printf("%d balls: energy %.1e of %.1e, momentum %.1e, slope %.3f\n", n, far.energy,
               far.size, far.upright, log2(a.end / b.end));
        assert_true(far.energy <= 1e-11 * far.size && far.upright <= 1e-11);
        assert_true(fabs(log2(a.end / b.end) - 2) < 0.1);
        close(&t, &x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_trees_have_everything),
        cmocka_unit_test(mass_is_symmetric_positive_and_that_of_inverse_dynamics),
        cmocka_unit_test(both_ways_to_the_mass_matrix_agree),
        cmocka_unit_test(articulated_bodies_answer_all_forces),
        cmocka_unit_test(both_ways_to_the_tangent_agree),
        cmocka_unit_test(inverse_after_forward_dynamics_is_nothing),
        cmocka_unit_test(moving_everything_changes_nothing),
        cmocka_unit_test(energy_and_momentum_stay),
        cmocka_unit_test(the_balance_closes),
        cmocka_unit_test(implicit_schemes_converge_at_their_order),
        cmocka_unit_test(the_conserving_scheme_conserves),
        cmocka_unit_test(by_the_conserving_scheme_random_trees_keep_what_they_should),
        cmocka_unit_test(by_the_conserving_scheme_random_trees_move_at_order_two),
        cmocka_unit_test(chains_of_balls_keep_energy_and_the_momentum_about_the_vertical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
