// SPDX-License-Identifier: MIT
//
// Balances on random rods: power and virtual work against differences of the energies, momentum
// against the applied forces, forward against inverse dynamics, and invariance of the results to
// changes that must have no effect.
#include "oracle/linear.h"

#include "near.h"
#include "random_trial.h"

#include <string.h>

enum { ROBOTS = 24, NODES = 12 };

// ---- derivatives along a curve ------------------------------------------------------------------

// quantities that depend on the state
typedef void state_fn(trial *t, double *out);

// Step of the differences, short enough that the accelerations do not make the kinetic energy much
// larger than it is: light stiff strains can accelerate at 1e7 1/s^2, and the rounding error of
// that energy would dominate.
static double step_for(trial *t) {
    const size_t n = (size_t)t->m->nv;
    double *M = oracle_alloc(n * n, sizeof *M), thrown = 0;
    snw_mass_matrix(t->m, t->in, t->s, t->w, M);
    for (size_t i = 0; i < n * n; i++) thrown += 0.5 * t->s->a[i / n] * M[i] * t->s->a[i % n];
    free(M);
    snw_kinematics(t->m, t->in, t->s, false, t->w);
    return fmin(1e-3, sqrt(snw_kinetic_energy(t->m, t->w) / thrown));
}

// rate <- time derivative of fn's quantities along the motion through t->s with its v and a:
// differences of order 6 along any curve with that tangent.
static void rate_of(trial *t, state_fn *fn, int n, double *rate) {
    const double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60}, h = step_for(t);
    const int nv = t->m->nv;
    double out[16];
    snw_state *here = NULL;
    assert_int_equal(snw_state_create(t->m, &here), SNW_OK);
    snw_state_copy(t->m, t->s, here);
    for (int i = 0; i < n; i++) rate[i] = 0;
    for (int k = 1; k <= 3; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const double e = sign * k * h;
            snw_move(t->m, here->q, e, here->v, t->s->q);
            for (int i = 0; i < nv; i++) t->s->v[i] = here->v[i] + e * here->a[i];
            trial_at(t, here->t + e);
            fn(t, out);
            for (int i = 0; i < n; i++) rate[i] += sign * weight[k - 1] * out[i] / h;
        }
    }
    snw_state_copy(t->m, here, t->s);
    trial_at(t, here->t);
    snw_state_destroy(here);
}

// ---- power --------------------------------------------------------------------------------------

static void energies(trial *t, double *out) {
    snw_kinematics(t->m, t->in, t->s, false, t->w);
    out[0] = snw_kinetic_energy(t->m, t->w);
    out[1] = snw_elastic_energy(t->m, t->s);
    out[2] = snw_gravity_energy(t->m, t->in, t->w);
}

static void check_power(uint64_t seed, snw_joint_kind joint, bool moving) {
    dice d = {seed};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, joint, moving, NODES);
        double rate[3], power[8], sum = 0, size = 0;
        trial_forward_dynamics(&t);
        rate_of(&t, energies, 3, rate);
        snw_residual(t.m, t.in, t.s, false, t.w);
        snw_load_power(t.m, t.in, t.s, t.w, power);
        for (int i = 0; i < r.desc.nload + 2; i++) {
            sum += power[i];
            size += fabs(power[i]);
        }
        const double heat = snw_dissipation(t.m, t.s->v);
        assert_true(heat >= 0);
        for (int i = 0; i < 3; i++) size += fabs(rate[i]);
        // differences: h^6 times the seventh derivative, and rounding over h
        assert_true(fabs(rate[0] + rate[1] + rate[2] - (sum - heat)) <= 1e-9 * size);
        close_random(&r, &t);
    }
}

static void power_balances_clamped(void **state) {
    (void)state;
    check_power(51, SNW_JOINT_FIXED, false);
}

static void power_balances_on_a_moving_base(void **state) {
    (void)state;
    check_power(52, SNW_JOINT_FIXED, true);
}

static void power_balances_free(void **state) {
    (void)state;
    check_power(53, SNW_JOINT_FREE, false);
}

static void power_balances_free_on_a_moving_frame(void **state) {
    (void)state;
    check_power(54, SNW_JOINT_FREE, true);
}

// ---- virtual work -------------------------------------------------------------------------------

// a configuration displaced from t's along dx: poses of all segments and the potentials
typedef struct side {
    snw_se3 *g;
    double potential;
} side;

static void look(trial *t, const double *q, double e, const double *dx, side *out) {
    snw_move(t->m, q, e, dx, t->s->q);
    snw_kinematics(t->m, t->in, t->s, true, t->w);
    memcpy(out->g, t->w->g, (size_t)t->m->nseg * sizeof *out->g);
    out->potential = snw_elastic_energy(t->m, t->s) + snw_gravity_energy(t->m, t->in, t->w);
}

// residual . dx = change of the potentials less the work of loads and stress on the displacements
// of the poses; the derivative by central differences of orders 2 at h and 2h, extrapolated.
static void forces_do_the_work_of_the_loads(void **state) {
    (void)state;
    dice d = {55};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, false, NODES);
        const snw_model *m = t.m;
        const size_t nv = (size_t)m->nv, nseg = (size_t)m->nseg;
        double *dx = oracle_alloc(nv, sizeof *dx), *q = oracle_alloc((size_t)m->nq, sizeof *q);
        for (size_t i = 0; i < nv; i++) dx[i] = roll(&d, -1, 1);
        memcpy(q, t.s->q, (size_t)m->nq * sizeof *q);
        snw_residual(m, t.in, t.s, true, t.w);
        double want = 0, got = 0, size = 0;
        for (size_t i = 0; i < nv; i++) {
            want += t.w->r[i] * dx[i];
            size += fabs(t.w->r[i] * dx[i]);
        }
        snw_se3 *here = oracle_alloc(nseg, sizeof *here);
        memcpy(here, t.w->g, nseg * sizeof *here);
        const double h = 1e-3;
        for (int level = 1; level <= 2; level++) {
            const double e = level * h, share = level == 1 ? 4.0 / 3 : -1.0 / 3;
            side a = {.g = oracle_alloc(nseg, sizeof(snw_se3))};
            side b = {.g = oracle_alloc(nseg, sizeof(snw_se3))};
            look(&t, q, -e, dx, &a);
            look(&t, q, e, dx, &b);
            got += share * (b.potential - a.potential) / (2 * e);
            for (int i = 0; i < m->nload_point; i++) {
                const int s = m->load_point[i].seg;
                // displacement in the segment's own frame, from here to the displaced configuration
                const snw_twist to = snw_se3_log(snw_se3_mul(snw_se3_inv(here[s]), b.g[s]));
                const snw_twist fro = snw_se3_log(snw_se3_mul(snw_se3_inv(here[s]), a.g[s]));
                const snw_twist z = snw_twist_scale(share / (2 * e), snw_twist_sub(to, fro));
                snw_wrench F = t.in->load[i];
                if (!r.desc.load[m->load_point[i].load].body) {
                    F.m = snw_rotate_inv(here[s].R, F.m);
                    F.f = snw_rotate_inv(here[s].R, F.f);
                }
                got -= snw_power(F, z);
            }
            free(a.g);
            free(b.g);
        }
        for (size_t i = 0; i < nv; i++) got -= t.in->stress[i] * dx[i];
        // fourth order: h^4 times the fifth derivative, and rounding over h
        assert_true(fabs(got - want) <= 1e-9 * size);
        free(here);
        free(dx);
        free(q);
        close_random(&r, &t);
    }
}

// ---- forward after inverse ----------------------------------------------------------------------

static void forward_after_inverse_dynamics_is_the_identity(void **state) {
    (void)state;
    dice d = {56};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, k % 4 >= 2, NODES);
        const size_t n = (size_t)t.m->nv;
        double *a = oracle_alloc(n, sizeof *a), *force = oracle_alloc(n, sizeof *force);
        memcpy(a, t.s->a, n * sizeof *a);
        snw_residual(t.m, t.in, t.s, false, t.w);
        memcpy(force, t.w->r, n * sizeof *force);
        // the forces that the motion needs in addition to the loads are added to them
        for (size_t i = 0; i < n; i++) t.in->stress[i] += force[i];
        trial_forward_dynamics(&t);
        // the forces are recovered to rounding, the accelerations to rounding times the condition
        // of the mass matrix
        double *M = oracle_alloc(n * n, sizeof *M), size = 0, error = 0;
        snw_mass_matrix(t.m, t.in, t.s, t.w, M);
        for (size_t i = 0; i < n; i++) {
            double e = 0;
            for (size_t j = 0; j < n; j++) {
                e += M[j * n + i] * (t.s->a[j] - a[j]);
                size = fmax(size, fabs(M[j * n + i] * a[j]));
            }
            error = fmax(error, fabs(e));
            size = fmax(size, fabs(force[i]));
        }
        assert_true(error <= 1e-12 * size);
        free(M);
        free(a);
        free(force);
        close_random(&r, &t);
    }
}

// ---- momentum -----------------------------------------------------------------------------------

static void momenta(trial *t, double *out) {
    snw_kinematics(t->m, t->in, t->s, false, t->w);
    const snw_wrench P = snw_momentum(t->m, t->w);
    memcpy(out, P.e, sizeof P.e);
}

static void momentum_of_a_free_rod_changes_by_the_external_wrenches(void **state) {
    (void)state;
    dice d = {57};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, SNW_JOINT_FREE, k % 2, NODES);
        trial_forward_dynamics(&t);
        double rate[6];
        rate_of(&t, momenta, 6, rate);
        snw_kinematics(t.m, t.in, t.s, false, t.w);
        // gravity acts at the centre of mass, loads at their points; internal stress and damping do
        // not contribute
        snw_vec3 c;
        const double mass = snw_center_of_mass(t.m, t.w, &c);
        snw_wrench sum;
        sum.f = snw_scale(mass, t.in->gravity);
        sum.m = snw_cross(c, sum.f);
        double size = oracle_size(6, sum.e);
        for (int i = 0; i < t.m->nload_point; i++) {
            const snw_se3 g = t.w->g[t.m->load_point[i].seg];
            snw_wrench F = t.in->load[i];
            if (r.desc.load[t.m->load_point[i].load].body) {
                F.m = snw_rotate(g.R, F.m);
                F.f = snw_rotate(g.R, F.f);
            }
            F.m = snw_add(F.m, snw_cross(g.p, F.f));
            sum = snw_wrench_add(sum, F);
            size += oracle_size(6, F.e);
        }
        assert_true(oracle_distance(6, rate, sum.e) <= 1e-9 * size); // as for the power
        close_random(&r, &t);
    }
}

// ---- invariance ---------------------------------------------------------------------------------

// The whole robot is displaced by a fixed frame at its base; gravity and dead loads are rotated
// with it.
static void carry(robot *r, snw_se3 g) {
    const snw_link_desc frame = {.name = "frame",
                                 .on = {.kind = SNW_SITE_WORLD, .link = -1},
                                 .pose = snw_pose_desc_identity()};
    for (int l = r->desc.nlink; l > 0; l--) {
        r->link[l] = r->link[l - 1];
        r->link[l].on = l == 1 ? link_end(0) : r->link[l].on;
        if (l > 1) r->link[l].on.link++;
    }
    r->link[0] = frame;
    r->link[0].pose.R0 = g.R;
    for (int i = 0; i < 3; i++) r->link[0].pose.xyz[i] = number(r, g.p.e[i]);
    r->desc.nlink++;
    for (int i = 0; i < r->desc.nload; i++) r->load[i].on.link++;
    for (int i = 0; i < r->desc.nstress; i++) r->stress[i].link++;
}

static void moving_the_whole_robot_changes_no_generalised_force(void **state) {
    (void)state;
    for (uint64_t k = 0; k < ROBOTS; k++) {
        const snw_joint_kind joint = k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED;
        robot r[2];
        trial t[2];
        dice turn = {500 + k};
        snw_twist x;
        for (int i = 0; i < 6; i++) x.e[i] = roll(&turn, -2, 2);
        const snw_se3 g = snw_se3_exp(x);
        for (int i = 0; i < 2; i++) {
            dice d = {600 + k};
            robot_random(&r[i], &d, joint, k % 4 >= 2);
            if (i == 1) carry(&r[i], g);
            trial_open(&t[i], &r[i].desc);
            state_random(t[i].m, &d, t[i].s);
            trial_at(&t[i], t[i].s->t);
        }
        // the laws are unchanged: vectors in world axes are rotated in the inputs
        t[1].in->gravity = snw_rotate(g.R, t[0].in->gravity);
        for (int i = 0; i < t[1].m->nload_point; i++) {
            if (r[1].desc.load[t[1].m->load_point[i].load].body) continue;
            t[1].in->load[i].m = snw_rotate(g.R, t[1].in->load[i].m);
            t[1].in->load[i].f = snw_rotate(g.R, t[1].in->load[i].f);
        }
        const size_t n = (size_t)t[0].m->nv;
        assert_int_equal(t[1].m->nv, n);
        for (int part = 0; part < 3; part++) {
            double *A = trial_tangent(&t[0], false, part == 0, part == 1, part == 2);
            double *B = trial_tangent(&t[1], false, part == 0, part == 1, part == 2);
            // a rotation of the whole system: only rounding
            assert_true(oracle_distance(n, t[0].w->r, t[1].w->r) <=
                        1e-13 * oracle_size(n, t[0].w->r));
            assert_true(oracle_distance(n * n, A, B) <= 1e-13 * oracle_size(n * n, A));
            free(A);
            free(B);
        }
        for (int i = 0; i < 2; i++) close_random(&r[i], &t[i]);
    }
}

static void observers_change_no_bit_of_residual_and_tangent(void **state) {
    (void)state;
    for (uint64_t k = 0; k < ROBOTS; k++) {
        robot r[2];
        trial t[2];
        for (int i = 0; i < 2; i++) {
            dice d = {700 + k};
            robot_random(&r[i], &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, k % 3 == 0);
            if (i == 1) {
                const double L = r[i].link[0].rod.length;
                const snw_probe_desc all[] = {
                    {.name = "along", .kind = SNW_PROBE_POSE, .site = rod_at(0, 0), .along = 7},
                    {.name = "wrench", .kind = SNW_PROBE_WRENCH, .site = rod_at(0, 0.37 * L)},
                    {.name = "tip", .kind = SNW_PROBE_TWIST, .site = link_end(0)},
                };
                r[i].desc.nprobe = 3;
                memcpy(r[i].probe, all, sizeof all);
            }
            trial_open(&t[i], &r[i].desc);
            state_random(t[i].m, &d, t[i].s);
            trial_at(&t[i], t[i].s->t);
        }
        const size_t n = (size_t)t[0].m->nv;
        double *A = trial_tangent(&t[0], false, 1, 0.1, 0.01);
        double *B = trial_tangent(&t[1], false, 1, 0.1, 0.01);
        snw_observe(t[1].m, t[1].in, t[1].s, false, t[1].w);
        assert_true(t[1].m->nobs > t[0].m->nobs);
        assert_memory_equal(t[0].w->r, t[1].w->r, n * sizeof(double));
        assert_memory_equal(A, B, n * n * sizeof(double));
        free(A);
        free(B);
        for (int i = 0; i < 2; i++) close_random(&r[i], &t[i]);
    }
}

// velocity and acceleration of a station on a rod are the derivatives of its pose
static void observers_see_the_motion_of_the_rod(void **state) {
    (void)state;
    dice d = {58};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        robot_random(&r, &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, k % 3 == 0);
        r.probe[r.desc.nprobe++] =
            (snw_probe_desc){.name = "here",
                             .kind = SNW_PROBE_POSE,
                             .site = rod_at(0, roll(&d, 0.05, 0.95) * r.link[0].rod.length)};
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        trial_at(&t, t.s->t);
        const int o = t.m->station[0].seg;
        snw_kinematics(t.m, t.in, t.s, false, t.w);
        snw_observe(t.m, t.in, t.s, false, t.w);
        const snw_se3 g = t.w->g[o];
        const snw_twist V = t.w->V[o];
        double *q = oracle_alloc((size_t)t.m->nq, sizeof *q);
        memcpy(q, t.s->q, (size_t)t.m->nq * sizeof *q);
        const double h = 1e-3, time = t.s->t;
        snw_twist got = {0};
        const double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
        for (int j = 1; j <= 3; j++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                snw_move(t.m, q, sign * j * h, t.s->v, t.s->q);
                trial_at(&t, time + sign * j * h);
                snw_kinematics(t.m, t.in, t.s, false, t.w);
                snw_observe(t.m, t.in, t.s, false, t.w);
                const snw_twist z = snw_se3_log(snw_se3_mul(snw_se3_inv(g), t.w->g[o]));
                got = snw_twist_axpy(sign * weight[j - 1] / h, z, got);
            }
        }
        // differences of order 6
        assert_true(oracle_distance(6, got.e, V.e) <= 1e-10 * fmax(1, oracle_size(6, V.e)));
        free(q);
        close_random(&r, &t);
    }
}

static void the_static_path_equals_the_general_one_at_rest(void **state) {
    (void)state;
    dice d = {59};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, false, NODES);
        const size_t n = (size_t)t.m->nv;
        for (size_t i = 0; i < n; i++) t.s->v[i] = t.s->a[i] = 0;
        double *r0 = oracle_alloc(n, sizeof *r0);
        double *A = trial_tangent(&t, false, 1, 0, 0);
        memcpy(r0, t.w->r, n * sizeof *r0);
        double *B = trial_tangent(&t, true, 1, 0, 0);
        // zeros are added or not: only rounding
        assert_true(oracle_distance(n, r0, t.w->r) <= 1e-14 * oracle_size(n, r0));
        assert_true(oracle_distance(n * n, A, B) <= 1e-14 * oracle_size(n * n, A));
        free(A);
        free(B);
        free(r0);
        close_random(&r, &t);
    }
}

// The same laws hold for rods on one grid, whatever its number of points.
static int on_grids(void **state) {
    (void)state;
    random_grid_points = 14;
    return 0;
}
static int on_coarse_grids(void **state) {
    (void)state;
    random_grid_points = 9;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_balances_clamped),
        cmocka_unit_test(power_balances_on_a_moving_base),
        cmocka_unit_test(power_balances_free),
        cmocka_unit_test(power_balances_free_on_a_moving_frame),
        cmocka_unit_test(forces_do_the_work_of_the_loads),
        cmocka_unit_test(forward_after_inverse_dynamics_is_the_identity),
        cmocka_unit_test(momentum_of_a_free_rod_changes_by_the_external_wrenches),
        cmocka_unit_test(moving_the_whole_robot_changes_no_generalised_force),
        cmocka_unit_test(observers_change_no_bit_of_residual_and_tangent),
        cmocka_unit_test(observers_see_the_motion_of_the_rod),
        cmocka_unit_test(the_static_path_equals_the_general_one_at_rest),
        cmocka_unit_test_setup(power_balances_on_a_moving_base, on_coarse_grids),
        cmocka_unit_test_setup(power_balances_free, on_grids),
        cmocka_unit_test_setup(forces_do_the_work_of_the_loads, on_grids),
        cmocka_unit_test_setup(forward_after_inverse_dynamics_is_the_identity, on_grids),
        cmocka_unit_test_setup(momentum_of_a_free_rod_changes_by_the_external_wrenches,
                               on_coarse_grids),
        cmocka_unit_test_setup(moving_the_whole_robot_changes_no_generalised_force, on_grids),
        cmocka_unit_test_setup(observers_change_no_bit_of_residual_and_tangent, on_grids),
        cmocka_unit_test_setup(observers_see_the_motion_of_the_rod, on_grids),
        cmocka_unit_test_setup(the_static_path_equals_the_general_one_at_rest, on_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
