// SPDX-License-Identifier: MIT
//
// Linear models of random robots, theory.md 7.3: along every column the equations of motion and the
// constraints hold to first order, also while robots with loops move; the matrix is the derivative
// of forward dynamics; poles are those of the modes; steps of schemes have the roots of a
// published kind for an oscillator.
#include "random_closed.h"

#include "solve/linear_system.h"
#include "study/linear_private.h"
#include "study/modes.h"

#include "base/alloc.h"
#include "oracle/linear.h"
#include "oracle/trial.h"

#include "near.h"
#include "sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = AMONG(4, 24), CLOSED = AMONG(3, 16) };

// ---- columns

// Given coordinates of column k <- displaced.
static void displace_given(const snw_linear *l, int k, double step, snw_inputs *in) {
    const snw_model *m = l->m;
    const bool state = k < l->nx;
    const snw_linear_role role = state ? l->state[k].role : SNW_STATE_GIVEN;
    if (state && role != SNW_STATE_GIVEN && role != SNW_STATE_GIVEN_RATE) return;
    const snw_linear_input *input = &l->input[state ? l->state[k].index : l->of_input[k - l->nx]];
    if (input->kind != SNW_LINEAR_GIVEN) return;
    const int order = state ? role == SNW_STATE_GIVEN_RATE : l->derivative[k - l->nx];
    for (int i = 0; i < m->ndrive; i++) {
        snw_jet *j = &in->drive[i];
        if (m->drive[i].row == input->row)
            *(order == 0 ? &j->v : order == 1 ? &j->d : &j->dd) += step;
    }
    for (int i = 0; i < m->ntendon; i++) {
        snw_jet *j = &in->tendon[i];
        if (m->tendon[i].row == input->row)
            *(order == 0 ? &j->v : order == 1 ? &j->d : &j->dd) += step;
    }
}

// Residual, violations, their rates and second rates at a displaced state: nv + 3 nr numbers.
static void equations_at(const snw_linear *l, const snw_inputs *in0, const snw_state *s, int k,
                         double step, snw_state *to, snw_work *w, double *out) {
    const snw_model *m = l->m;
    snw_inputs *in;
    assert_int_equal(snw_inputs_create(m, &in), SNW_OK);
    snw_inputs_copy(in0, in);
    displace_given(l, k, step, in);
    const size_t at = (size_t)m->nv * (size_t)k;
    snw_state_copy(m, s, to);
    snw_move(m, s->q, step, l->x + at, to->q);
    for (int i = 0; i < m->nv; i++) {
        to->v[i] += step * l->dv[at + (size_t)i];
        to->a[i] += step * l->da[at + (size_t)i];
    }
    for (int i = 0; i < m->nconstraint; i++)
        to->lambda[i] += step * l->multiplier[(size_t)m->nconstraint * (size_t)k + (size_t)i];
    snw_residual(m, in, to, false, w);
    memcpy(out, w->r, (size_t)m->nv * sizeof *out);
    memcpy(out + m->nv, w->violation, (size_t)m->nconstraint * sizeof *out);
    snw_constraints_rates(m, in, to, w, out + m->nv + m->nconstraint,
                          out + m->nv + 2 * m->nconstraint);
    snw_inputs_destroy(in);
}

// The derivative along each column, by differences of order 6, is the force of the input, or zero.
static void columns_hold(const snw_linear *l, const snw_inputs *in, const snw_state *s, snw_work *w,
                         double tol) {
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    const snw_model *m = l->m;
    const int n = m->nv + 3 * m->nconstraint;
    snw_state *to;
    assert_int_equal(snw_state_create(m, &to), SNW_OK);
    double *sum = malloc(2 * (size_t)n * sizeof *sum), *sample = sum + n;
    for (int k = 0; k < l->nx + l->nu; k++) {
        double most = 0, force = 1,
               speed = 1; // units of the columns; forces of the robots are larger
        for (int i = 0; i < m->nv; i++) {
            const size_t at = (size_t)m->nv * (size_t)k + (size_t)i;
            most = fmax(most, fabs(l->x[at]));
            speed = fmax(speed, fabs(l->dv[at]) + fabs(l->x[at]));
        }
        const double h = most > 0 ? 5e-3 / most : 1e-2 / speed;
        memset(sum, 0, (size_t)n * sizeof *sum);
        for (int j = 1; j <= 3; j++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                equations_at(l, in, s, k, sign * j * h, to, w, sample);
                for (int i = 0; i < n; i++) sum[i] += sign * weight[j - 1] / h * sample[i];
            }
        }
        for (int j = 0; j < m->nv; j++) { // size of the terms
            double terms = 0;
            for (int i = 0; i < m->nv; i++) {
                const size_t at = (size_t)m->nv * (size_t)k + (size_t)i;
                terms += fabs(l->d->K[i * m->nv + j] * l->x[at]) +
                         fabs(l->d->D[i * m->nv + j] * l->dv[at]) +
                         fabs(l->d->M[i * m->nv + j] * l->da[at]);
            }
            force = fmax(force, terms);
        }
        for (int i = 0; i < m->nv; i++) {
            const double want =
                k < l->nx ? 0 : l->G[(size_t)m->nv * (size_t)l->of_input[k - l->nx] + (size_t)i];
            assert_near(sum[i] / force, want / force, tol);
        }
        const double *da = l->da + (size_t)m->nv * (size_t)k;
        double size = speed;
        for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(da[i]));
        for (int i = m->nv; i < n; i++) assert_near(sum[i] / size, 0, tol);
    }
    free(sum);
    snw_state_destroy(to);
}

// Linear model with a load in three components as inputs, without outputs.
static snw_linear *load_model(const snw_model *m) {
    static const snw_linear_input input[3] = {{.kind = SNW_LINEAR_LOAD, .component = 0},
                                              {.kind = SNW_LINEAR_LOAD, .component = 4},
                                              {.kind = SNW_LINEAR_LOAD, .item = 1, .component = 5}};
    snw_linear *l;
    assert_int_equal(snw_linear_create(m, m->nload > 1 ? 3 : 0, input, 0, NULL, false, true, &l),
                     SNW_OK);
    return l;
}

static void solve(snw_linear *l, const snw_inputs *in, const snw_state *s, snw_work *w) {
    snw_error err = {0};
    if (snw_linear_solve(l, in, s, NULL, w, &err) != SNW_OK) fail_msg("%s", err.text);
}

// ---- trees

// Moving trees with joints of every kind: columns, and A against forward dynamics.
static void a_tree_follows_its_model(void **state) {
    (void)state;
    dice d = {5};
    int full = 0;
    for (int i = 0; i < TREES; i++) {
        tree t;
        trial x;
        tree_random(&t, &d,
                    (tree_opts){.nlink = pick_int(&d, 2, 5),
                                .kind = (tree_kind)(i % 3),
                                .floating = i / 3 % 3 == 0});
        trial_open(&x, &t.r.desc);
        state_random(x.m, &d, x.s);
        trial_at(&x, x.s->t);
        trial_forward_dynamics(&x);
        snw_linear *l = load_model(x.m);
        if (x.m->nv > 0) {
            const size_t before = snw_alloc_count();
            solve(l, x.in, x.s, x.w);
            assert_int_equal(snw_alloc_count(), before); // no allocation
            full += l->full;
            assert_int_equal(l->nx, 2 * x.m->nv);
            columns_hold(l, x.in, x.s, x.w, 1e-8);
            for (int k = 0; k < l->nx; k++) { // rows of the accelerations are those of the columns
                for (int j = 0; j < x.m->nv; j++) {
                    assert_near(l->A[k * l->nx + x.m->nv + j], l->da[k * x.m->nv + j], 1e-12);
                }
            }
        }
        snw_linear_destroy(l);
        trial_close(&x);
        robot_free(&t.r);
    }
    assert_true(full >= TREES - 2);
}

// ---- loops

// Moving robots with loops, some floating, some with rods.
static void a_closed_robot_follows_its_model(void **state) {
    (void)state;
    dice d = {11};
    int turned = 0;
    for (int i = 0; i < CLOSED; i++) {
        graph g;
        cut c;
        graph_random(&g, &d, pick_int(&d, 3, 4), i % 2, i % 3 == 0 ? 0.5 : 0, i % 4 == 3);
        cut_open(&g, &d, i % 4 == 2, 0, &c);
        snw_error err = {0};
        for (int k = 0; k < c.c.m->nv; k++) c.c.s->v[k] = roll(&d, -1, 1);
        if (closed_robot_try(&c.c, 0.3, &err) == SNW_OK) {
            snw_linear *l = load_model(c.c.m);
            solve(l, c.c.in, c.c.s, c.c.w);
            turned += l->rows_turn;
            columns_hold(l, c.c.in, c.c.s, c.c.w, 1e-7);
            snw_linear_destroy(l);
        }
        cut_shut(&c);
    }
    assert_true(turned > CLOSED / 2);
}

// Loops, a driven joint, a tendon and a chamber of given length and volume, all moving by laws:
// each given coordinate moves its row by its unit and no other row, through both rates.
static void given_coordinates_move_their_rows(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100, damping: 10 ms}}\n"
        "robot:\n"
        "  crank: {on: world, joint: revolute, axis: y, body: {mass: 0.4, com: [0.3, 0, 0], "
        "inertia: "
        "[1e-3, 1e-3, 1e-3]}}\n"
        "  rod: {on: crank, pose: {xyz: [0.3, 0, 0]}, joint: revolute, axis: y, body: {mass: 0.6, "
        "com: "
        "[0.25, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "  slider: {on: world, joint: prismatic, axis: x, stiffness: 30, body: {mass: 0.8}}\n"
        "  turn: {on: slider, joint: revolute, axis: y, body: {mass: 0.2, inertia: [1e-3, 1e-3, "
        "1e-3]}}\n"
        "  arm: {on: turn, rod: {length: 0.3, section: {circle: {radius: 1 cm}}, material: rubber, "
        "strain: {bend_y: legendre 2, bend_z: legendre 2, stretch: legendre 2}}}\n"
        "sites: {end: {on: rod, pose: {xyz: [0.5, 0, 0]}}}\n"
        "loops: {pin: {join: [end, slider], as: revolute, axis: y}}\n"
        "initial: {crank: -1, rod: 1.4}\n"
        "actuators:\n"
        "  drive: {joint: turn, position: 0.3*sin(2*t)}\n"
        "  cord: {tendon: {along: arm, at: [0, 0, 8 mm]}, shortening: 2 mm*sin(3*t)}\n"
        "  bag: {chamber: {along: arm, at: [0, -4 mm, 0], area: 2e-5 m^2}, volume: 6e-6 m^3*(1 + "
        "0.05*sin(4*t))}\n";
    closed_robot c;
    closed_robot_open(&c, text);
    c.s->v[0] = 1.5;
    closed_robot_settle(&c, 0.2);
    const snw_model *m = c.m;
    const snw_linear_input input[3] = {
        {.kind = SNW_LINEAR_GIVEN, .row = m->drive[0].row, .unit = 1},
        {.kind = SNW_LINEAR_GIVEN, .row = m->tendon[0].row, .unit = m->tendon[0].unit},
        {.kind = SNW_LINEAR_GIVEN, .row = m->tendon[1].row, .unit = m->tendon[1].unit}};
    for (int three = 0; three < 2; three++) {
        snw_linear *l;
        assert_int_equal(snw_linear_create(m, 3, input, 0, NULL, three, false, &l), SNW_OK);
        solve(l, c.in, c.s, c.w);
        assert_true(l->rows_turn);
        assert_int_equal(l->nu, three ? 9 : 3);
        assert_int_equal(l->nx, 2 * l->n1 + (three ? 0 : 6));
        columns_hold(l, c.in, c.s, c.w, 1e-7);
        snw_linear_destroy(l);
    }
    closed_robot_close(&c);
}

// ---- poles

// moduli of the poles with im >= 0, rising; returns their number
static int pole_sizes(int n, const double *A, double *out) {
    snw_arena scratch = {.size = snw_system_scratch(n, 1)};
    scratch.base = snw_alloc(scratch.size);
    double *re = malloc(2 * (size_t)n * sizeof *re), *im = re + n;
    bool *lost = malloc(2 * (size_t)n * sizeof *lost);
    assert_int_equal(snw_system_analyse(n, A, 0, NULL, 0, NULL, &scratch, re, im, lost, lost + n),
                     SNW_OK);
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (im[i] >= 0) out[k++] = hypot(re[i], im[i]);
    }
    free(re);
    free(lost);
    snw_free(scratch.base);
    return k;
}

// Poles at rest, with damping, are the roots of `modes: {steady: on}`, which solves the quadratic
// problem.
static void poles_are_those_of_the_modes(void **state) {
    (void)state;
    dice d = {29};
    int compared = 0;
    for (int i = 0; i < CLOSED; i++) {
        graph g;
        cut c;
        graph_random(&g, &d, pick_int(&d, 3, 4), 0, i % 2 ? 0.6 : 0, false);
        cut_open(&g, &d, false, i % 3 == 0, &c);
        const snw_model *m = c.c.m;
        snw_error err = {0};
        closed_robot_settle(&c.c, 0);
        memset(c.c.s->v, 0, (size_t)m->nv * sizeof *c.c.s->v);
        memset(c.c.s->a, 0, (size_t)m->nv * sizeof *c.c.s->a);
        snw_inputs_at(m, 0, c.c.in);
        for (int k = 0; k < m->ndrive; k++) c.c.in->drive[k].d = c.c.in->drive[k].dd = 0;
        snw_linear *l;
        assert_int_equal(snw_linear_create(m, 0, NULL, 0, NULL, false, false, &l), SNW_OK);
        solve(l, c.c.in, c.c.s, c.c.w);
        snw_modes *mo;
        assert_int_equal(snw_modes_create(m, 2 * m->nv, true, &mo), SNW_OK);
        const bool driven = m->ndrive > 0; // laws have velocities, which modes would impose
        if (!driven) {
            assert_int_equal(snw_modes_solve(mo, c.c.s, &err), SNW_OK);
            const snw_mode_table *table = snw_modes_table(mo);
            double *size = malloc((size_t)l->nx * sizeof *size);
            const int n = pole_sizes(l->nx, l->A, size);
            const double fast = size[n - 1];
            for (int k = 0; k < table->n; k++) {
                const double want = 2 * M_PI * fabs(table->mode[k].frequency);
                if (want < 1e-5 * fast) continue;
                bool found = false;
                for (int e = 0; e < n; e++) found = found || fabs(size[e] - want) < 1e-7 * fast;
                assert_true(found);
                compared++;
            }
            free(size);
        }
        snw_modes_destroy(mo);
        snw_linear_destroy(l);
        cut_shut(&c);
    }
    assert_true(compared > CLOSED / 2);
}

// ---- steps of an oscillator

typedef struct step_roots {
    snw_scheme_kind scheme;
    double parameter;
    int n;                               // roots with im >= 0
    double undamped[2][2], damped[2][2]; // principal, parasitic: re, im
} step_roots;

// x" + 2 zeta x' + x = 0, step 1: characteristic polynomials of the schemes.
static const step_roots oscillator[] = {
    {SNW_SCHEME_EULER, 0, 1, {{0.5, 0.5}}, {{0.5, 0.452267017}}},
    {SNW_SCHEME_TRAPEZOIDAL, 0, 1, {{0.6, 0.8}}, {{0.555555556, 0.737027731}}},
    {SNW_SCHEME_NEWMARK, 0, 1, {{0.6, 0.8}}, {{0.555555556, 0.737027731}}},
    {SNW_SCHEME_BDF2,
     0,
     2,
     {{0.634135092, 0.684807187}, {0.288941831, 0.069422572}},
     {{0.609237905, 0.635111328}, {0.292170546, 0.074555026}}},
    {SNW_SCHEME_BDF_ALPHA,
     -0.2,
     2,
     {{0.628082803, 0.722288384}, {0.195951532, 0.061344178}},
     {{0.597430956, 0.669564621}, {0.199259351, 0.065829139}}},
    {SNW_SCHEME_HHT,
     0.9,
     2,
     {{0.603972616, 0.792395891}, {-0.009423464, 0}},
     {{0.561584576, 0.731304233}, {-0.006108623, 0}}},
    {SNW_SCHEME_WBZ,
     0.9,
     2,
     {{0.603993973, 0.791543556}, {0.039928720, 0}},
     {{0.561866844, 0.730496388}, {0.043029151, 0}}},
    {SNW_SCHEME_GENERALIZED_ALPHA,
     0.5,
     2,
     {{0.614596029, 0.775249321}, {-0.029192058, 0}},
     {{0.575359472, 0.717681736}, {-0.021771576, 0}}},
    {SNW_SCHEME_GAUSS4, 0, 1, {{NAN, NAN}}, {{0.49387566, 0.75883026}}},
    {SNW_SCHEME_GAUSS6, 0, 1, {{NAN, NAN}}, {{0.49270470, 0.75893532}}},
};

static void an_oscillator_has_the_roots_of_its_scheme(void **state) {
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        closed_robot c;
        char text[300];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nrobot: {m: {on: world, joint: prismatic, axis: x, "
                       "stiffness: 1, damping: %g, body: {mass: 1}}}\n",
                       damped ? 0.2 : 0.0);
        closed_robot_open(&c, text);
        snw_linear *l;
        assert_int_equal(snw_linear_create(c.m, 0, NULL, 0, NULL, true, true, &l), SNW_OK);
        for (size_t i = 0; i < sizeof oscillator / sizeof *oscillator; i++) {
            const step_roots *o = &oscillator[i];
            solve(l, c.in, c.s, c.w);
            snw_error err = {0};
            const snw_linear_step step = {
                .scheme = o->scheme, .rho = o->parameter, .alpha = o->parameter, .h = 1};
            if (snw_linear_discretise(l, &step, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
            const snw_linear_system *x = snw_linear_result(l);
            for (int k = 0; k < o->n; k++) {
                const double *want = damped ? o->damped[k] : o->undamped[k];
                if (isnan(want[0])) continue;
                // det(A - z) = 0 by the eigenvalues
                snw_arena scratch = {.size = snw_system_scratch(x->nx, 1)};
                scratch.base = snw_alloc(scratch.size);
                double re[8], im[8], least = INFINITY;
                bool lost[8], unseen[8];
                assert_int_equal(snw_system_analyse(x->nx, x->A, 0, NULL, 0, NULL, &scratch, re, im,
                                                    lost, unseen),
                                 SNW_OK);
                for (int e = 0; e < x->nx; e++)
                    least = fmin(least, hypot(re[e] - want[0], im[e] - want[1]));
                snw_free(scratch.base);
                assert_near(least, 0, o->scheme >= SNW_SCHEME_GAUSS4 ? 8e-9 : 1e-9); // digits given
            }
        }
        snw_linear_destroy(l);
        closed_robot_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_follows_its_model),
        cmocka_unit_test(a_closed_robot_follows_its_model),
        cmocka_unit_test(given_coordinates_move_their_rows),
        cmocka_unit_test(poles_are_those_of_the_modes),
        cmocka_unit_test(an_oscillator_has_the_roots_of_its_scheme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
