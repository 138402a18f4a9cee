// SPDX-License-Identifier: MIT
#include "integrate/step_path.h"

#include "random_rod.h"

#include "near.h"

enum { MOST = 32 };

typedef struct step {
    robot r;
    snw_model *m;
    snw_step_path ends;
    double q0[MOST], d[MOST], rate0[MOST], rate1[MOST], scratch[3 * MOST];
} step;

// a free rod, increments of a radian
static void open_step(step *p, snw_chart chart) {
    *p = (step){0};
    robot_init(&p->r, 0.5, 0.02);
    robot_strain(&p->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    p->r.link[0].joint = SNW_JOINT_FREE;
    snw_error err = {0};
    if (snw_model_compile(&p->r.desc, &p->m, &err) != SNW_OK) fail_msg("%s", err.text);
    dice roller = {7};
    snw_state *s = NULL;
    assert_int_equal(snw_state_create(p->m, &s), SNW_OK);
    state_random(p->m, &roller, s);
    for (int i = 0; i < p->m->nq; i++) p->q0[i] = s->q[i];
    snw_state_destroy(s);
    for (int i = 0; i < p->m->nv; i++) {
        p->d[i] = roll(&roller, -0.8, 0.8);
        p->rate0[i] = roll(&roller, -3, 3);
        p->rate1[i] = roll(&roller, -3, 3);
    }
    p->ends = (snw_step_path){
        .chart = chart, .h = 0.4, .q0 = p->q0, .d = p->d, .rate0 = p->rate0, .rate1 = p->rate1};
}

static void close_step(step *p) {
    snw_model_destroy(p->m);
    robot_free(&p->r);
}

static void a_path_has_the_ends_of_its_step(void **state) {
    (void)state;
    for (int chart = SNW_CHART_SE3; chart <= SNW_CHART_SO3R3; chart++) {
        step p;
        open_step(&p, (snw_chart)chart);
        snw_state *at = NULL, *end = NULL;
        assert_int_equal(snw_state_create(p.m, &at), SNW_OK);
        assert_int_equal(snw_state_create(p.m, &end), SNW_OK);
        double rate[MOST], acc[MOST];
        snw_step_path_at(p.m, &p.ends, 0, p.scratch, at);
        snw_chart_from_state(p.m, (snw_chart)chart, at, rate, acc);
        for (int i = 0; i < p.m->nq; i++) assert_near(at->q[i], p.q0[i], 1e-14);
        for (int i = 0; i < p.m->nv; i++) assert_near(rate[i], p.rate0[i], 1e-13);
        snw_step_path_at(p.m, &p.ends, 1, p.scratch, at);
        snw_chart_to_state(p.m, (snw_chart)chart, p.q0, p.d, p.rate1, acc, end);
        for (int i = 0; i < p.m->nq; i++) assert_near(at->q[i], end->q[i], 1e-14);
        for (int i = 0; i < p.m->nv; i++) assert_near(at->v[i], end->v[i], 1e-13);
        snw_state_destroy(at);
        snw_state_destroy(end);
        close_step(&p);
    }
}

// differences of order 2 of configurations give its velocities, those of velocities its
// accelerations
static void velocities_and_accelerations_are_those_of_the_path(void **state) {
    (void)state;
    const double e = 1e-4;
    for (int chart = SNW_CHART_SE3; chart <= SNW_CHART_SO3R3; chart++) {
        step p;
        open_step(&p, (snw_chart)chart);
        snw_state *at = NULL, *a = NULL, *b = NULL;
        assert_int_equal(snw_state_create(p.m, &at), SNW_OK);
        assert_int_equal(snw_state_create(p.m, &a), SNW_OK);
        assert_int_equal(snw_state_create(p.m, &b), SNW_OK);
        const double over = 2 * e * p.ends.h;
        for (double s = 0.2; s < 1; s += 0.2) {
            snw_step_path_at(p.m, &p.ends, s - e, p.scratch, a);
            snw_step_path_at(p.m, &p.ends, s + e, p.scratch, b);
            snw_step_path_at(p.m, &p.ends, s, p.scratch, at);
            for (int i = 0; i < p.m->nv; i++)
                assert_near((b->v[i] - a->v[i]) / over, at->a[i], 1e-6);
            const snw_block *f = p.m->block;
            while (f->space != SNW_SPACE_SE3) f++;
            const snw_se3 ga = snw_se3_from_numbers(a->q + f->q);
            const snw_se3 gb = snw_se3_from_numbers(b->q + f->q);
            const snw_twist x = snw_se3_log(snw_se3_mul(snw_se3_inv(ga), gb));
            for (int k = 0; k < 6; k++) assert_near(x.e[k] / over, at->v[f->dof + k], 1e-6);
            const snw_rod *rod = &p.m->rod[0];
            for (int i = rod->dof0; i < rod->dof0 + rod->ndof; i++) {
                const int q = i + rod->shift;
                assert_near((b->q[q] - a->q[q]) / over, at->v[i], 1e-6);
            }
        }
        snw_state_destroy(at);
        snw_state_destroy(a);
        snw_state_destroy(b);
        close_step(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_the_ends_of_its_step),
        cmocka_unit_test(velocities_and_accelerations_are_those_of_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
