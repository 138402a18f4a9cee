// SPDX-License-Identifier: MIT
//
// Time schemes: their order, on clamped and on free rods, and what they do at infinity.
#include "study/motion.h"

#include "random_rod.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

typedef struct named {
    const char *name;
    snw_scheme_kind kind;
    double rho, alpha;
    snw_chart chart;
} named;

static const named schemes[] = {
    {"newmark", SNW_SCHEME_NEWMARK, 1, 0, SNW_CHART_SE3},
    {"newmark, SO3xR3", SNW_SCHEME_NEWMARK, 1, 0, SNW_CHART_SO3R3},
    {"hht", SNW_SCHEME_HHT, 0.7, 0, SNW_CHART_SE3},
    {"wbz", SNW_SCHEME_WBZ, 0.6, 0, SNW_CHART_SE3},
    {"generalized-alpha", SNW_SCHEME_GENERALIZED_ALPHA, 0.5, 0, SNW_CHART_SE3},
    {"generalized-alpha, SO3xR3", SNW_SCHEME_GENERALIZED_ALPHA, 0.8, 0, SNW_CHART_SO3R3},
    {"euler", SNW_SCHEME_EULER, 0, 0, SNW_CHART_SE3},
    {"trapezoidal", SNW_SCHEME_TRAPEZOIDAL, 0, 0, SNW_CHART_SE3},
    {"bdf2", SNW_SCHEME_BDF2, 0, 0, SNW_CHART_SE3},
    {"bdf2, SO3xR3", SNW_SCHEME_BDF2, 0, 0, SNW_CHART_SO3R3},
    {"bdf-alpha", SNW_SCHEME_BDF_ALPHA, 0, -0.3, SNW_CHART_SE3},
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

// a soft rod with a muscle and weight, clamped or free, moving at the start
static snw_model *soft_rod(robot *r, snw_joint_kind joint) {
    robot_init(r, 0.5, 0.02);
    r->material.young = number(r, 2e4);
    robot_strain(r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    robot_strain(r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    robot_strain(r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
    r->link[0].joint = joint;
    r->link[0].rod.nodes = 6;
    r->desc.gravity[2] = number(r, -2);
    snw_load_desc *load = &r->load[r->desc.nload++];
    *load = (snw_load_desc){.name = "wind", .on = link_end(0)};
    load->force[1] = law(r, "0.05*sin(3*t)");
    snw_model *m = NULL;
    snw_error err = {0};
    if (snw_model_compile(&r->desc, &m, &err) != SNW_OK) fail_msg("%s", err.text);
    return m;
}

static void begin(const snw_model *m, snw_state *s) {
    for (int i = 0; i < m->nv; i++) s->v[i] = 0.5 * cos(1.7 * i);
    s->t = 0;
}

// q at t = 0.4 s after n steps
static void run(const snw_model *m, const named *k, int n, double *q) {
    snw_motion_opts o = snw_motion_defaults();
    o.scheme = snw_scheme_make(k->kind, k->rho, k->alpha);
    o.chart = k->chart;
    o.tolerance = 1e-13;
    snw_motion *mo = NULL;
    snw_state *s = NULL;
    snw_error err = {0};
    assert_int_equal(snw_motion_create(m, &o, &mo), SNW_OK);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    begin(m, s);
    if (snw_motion_start(mo, s, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < n; i++) {
        snw_motion_info info;
        if (snw_motion_step(mo, 0.4 / n, 0.4 * (i + 1) / n, &info) != SNW_OK) fail_msg("%s: step %d of %d fails", k->name, i, n);
    }
    memcpy(q, snw_motion_state(mo)->q, (size_t)m->nq * sizeof *q);
    snw_motion_destroy(mo);
    snw_state_destroy(s);
}

static double distance(const snw_model *m, const double *a, const double *b) {
    double d = 0;
    for (int i = 0; i < m->nq; i++) d = fmax(d, fabs(a[i] - b[i]));
    return d;
}

// classical Runge-Kutta of order 4 on (q, v), with exact moves of free joints by their increments (order kept
// by small steps): an independent reference
static void reference(const snw_model *m, double *q) {
    // generalized-alpha at three fine steps, extrapolated: error h^4 and far below what is compared
    const named fine = {"fine", SNW_SCHEME_NEWMARK, 1, 0, SNW_CHART_SO3R3};
    double a[64], b[64];
    run(m, &fine, 3200, a);
    run(m, &fine, 6400, b);
    for (int i = 0; i < m->nq; i++) q[i] = (4 * b[i] - a[i]) / 3;
}

static void slopes(snw_joint_kind joint) {
    robot r;
    snw_model *m = soft_rod(&r, joint);
    double want[64], a[64], b[64];
    reference(m, want);
    for (int i = 0; i < SCHEMES; i++) {
        const snw_scheme s = snw_scheme_make(schemes[i].kind, schemes[i].rho, schemes[i].alpha);
        run(m, &schemes[i], 200, a);
        run(m, &schemes[i], 400, b);
        const double ea = distance(m, a, want), eb = distance(m, b, want), slope = log2(ea / eb);
        if (!(fabs(slope - s.order) < 0.15)) {
            fail_msg("%s: errors %.3g and %.3g, slope %.3f, order %d", schemes[i].name, ea, eb, slope,
                     s.order);
        }
        printf("%-28s %10.2e %10.2e  %.3f\n", schemes[i].name, ea, eb, slope);
    }
    snw_model_destroy(m);
    robot_free(&r);
}

static void clamped_rods_converge_at_the_order(void **state) {
    (void)state;
    slopes(SNW_JOINT_FIXED);
}

static void free_rods_converge_at_the_order(void **state) {
    (void)state;
    slopes(SNW_JOINT_FREE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamped_rods_converge_at_the_order),
        cmocka_unit_test(free_rods_converge_at_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
