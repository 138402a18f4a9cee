// SPDX-License-Identifier: MIT
//
// Rods whose strains stay in a plane are computed with constants for the strains that are zero
// (dynamics/plane_motion.c): the same numbers as for any rod, bit for bit, on random rods that bend
// about either axis, with stretch, shear and curved rest shapes, on bases and under loads that
// leave the plane.
#include "near.h"
#include "random_trial.h"

enum { ROBOTS = 40 };

// Strains and rest shape in the plane of one bending, by the fourth order of Magnus.
static void keep_in_plane(robot *r, dice *d) {
    for (int l = 0; l < r->desc.nlink; l++) {
        snw_rod_desc *rod = &r->link[l].rod;
        const int bend = pick_int(d, SNW_BEND_Y, SNW_BEND_Z),
                  shear = bend == SNW_BEND_Y ? SNW_SHEAR_Z : SNW_SHEAR_Y;
        for (int i = 0; i < 6; i++) {
            rod->active[i] = false;
            rod->rest[i] = NULL;
        }
        rod->magnus = 4;
        robot_strain(r, l, bend, SNW_BASIS_LEGENDRE, pick_int(d, 1, 4));
        if (pick_int(d, 0, 1)) robot_strain(r, l, SNW_STRETCH, SNW_BASIS_LEGENDRE, 2);
        if (pick_int(d, 0, 1)) robot_strain(r, l, shear, SNW_BASIS_LEGENDRE, 1);
        if (pick_int(d, 0, 1)) rod->rest[bend] = law(r, "1 - 2*x");
        if (pick_int(d, 0, 1)) rod->rest[shear] = number(r, 0.05);
    }
}

// Equal as numbers: the sign of a zero may differ.
static void assert_same(size_t n, const double *a, const double *b) {
    for (size_t i = 0; i < n; i++) {
        if (!(a[i] == b[i])) fail_msg("number %zu: %.17g, not %.17g", i, a[i], b[i]);
    }
}

static void check(uint64_t seed, snw_joint_kind joint, bool moving) {
    dice d = {seed};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        robot_random(&r, &d, joint, moving);
        keep_in_plane(&r, &d);
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        trial_at(&t, t.s->t);
        snw_model any = *t.m;
        snw_rod rod[4];
        for (int i = 0; i < any.nrod; i++) {
            assert_int_not_equal(t.m->rod[i].plane, 0);
            rod[i] = t.m->rod[i];
            rod[i].plane = 0;
        }
        any.rod = rod;
        snw_work *w = NULL;
        assert_int_equal(snw_work_create(&any, &w), SNW_OK);
        const size_t n = (size_t)any.nv, nseg = (size_t)any.nseg;
        double *T = oracle_alloc(2 * n * n, sizeof *T);
        for (int still = 0; still < 2; still++) {
            snw_residual(t.m, t.in, t.s, still, t.w);
            snw_residual(&any, t.in, t.s, still, w);
            assert_same(n, t.w->r, w->r);
            assert_same(6 * nseg, t.w->F[0].e, w->F[0].e);
            assert_same(6 * nseg, t.w->V[0].e, w->V[0].e);
            assert_same(6 * nseg, t.w->A[0].e, w->A[0].e);
            assert_same(12 * nseg, &t.w->g[0].R.e[0][0], &w->g[0].R.e[0][0]);
            assert_same(12 * nseg, &t.w->h[0].R.e[0][0], &w->h[0].R.e[0][0]);
            snw_tangent_pass(t.m, NULL, t.w);
            snw_tangent_assemble(t.m, t.in, 1, 2, 3, t.w, T);
            snw_tangent_pass(&any, NULL, w);
            snw_tangent_assemble(&any, t.in, 1, 2, 3, w, T + n * n);
            assert_same(n * n, T, T + n * n);
        }
        free(T);
        snw_work_destroy(w);
        close_random(&r, &t);
    }
}

static void clamped_rods_have_the_numbers_of_any_rod(void **state) {
    (void)state;
    check(81, SNW_JOINT_FIXED, true);
}

static void free_rods_have_the_numbers_of_any_rod(void **state) {
    (void)state;
    check(82, SNW_JOINT_FREE, false);
}

// Any strain out of the plane, at rest or given, makes it a rod as any other.
static void strains_out_of_the_plane_are_found(void **state) {
    (void)state;
    for (int k = 0; k < 5; k++) {
        robot r;
        trial t;
        robot_init(&r, 0.5, 0.01);
        r.link[0].rod.nodes = 8;
        robot_strain(&r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
        if (k == 1) robot_strain(&r, 0, SNW_SHEAR_Y, SNW_BASIS_LEGENDRE, 1);
        if (k == 2) r.link[0].rod.rest[SNW_TWIST] = law(&r, "x");
        if (k == 3) r.link[0].rod.given[SNW_BEND_Z] = law(&r, "sin(t)");
        if (k == 4) robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 1);
        trial_open(&t, &r.desc);
        assert_int_equal(t.m->rod[0].plane, k == 0 ? SNW_BEND_Y : 0);
        close_random(&r, &t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamped_rods_have_the_numbers_of_any_rod),
        cmocka_unit_test(free_rods_have_the_numbers_of_any_rod),
        cmocka_unit_test(strains_out_of_the_plane_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
