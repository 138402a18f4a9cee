// SPDX-License-Identifier: MIT
#include "near.h"
#include "sinew/optimize.h"
#include "solve/nonlinear_program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// a slider on a spring that follows a law
static const char text[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {u: 0 N, k: 1}\n"
    "robot: {slider: {on: world, joint: prismatic, axis: x, stiffness: k*(4 N/m), body: {mass: 1 "
    "kg}}}\n"
    "actuators: {push: {joint: slider, effort: u}}\n"
    "study: [dynamic: {for: 1 s, step: 50 ms, scheme: %s}]\n"
    "probes: {place: {value: slider}, rate: {rate: slider}}\n"
    "optimize:\n"
    "  variables: {u: {law: %s, knots: 6, until: 1 s, unit: N, effort: 0.5}}\n"
    "  subject: [{value: end(place), is: 1}, {value: end(rate), is: 0}]\n";

static snw_robot_model *model_with(const char *scheme, const char *rule) {
    char file[1200];
    (void)snprintf(file, sizeof file, text, scheme, rule);
    snw_robot_model *m = NULL;
    snw_error err = {0};
    const snw_status s = snw_robot_model_parse("text", file, strlen(file), NULL, 0, NULL, &m, &err);
    if (s != SNW_OK) print_error("%s\n", err.text);
    assert_int_equal(s, SNW_OK);
    return m;
}

// Effort of a law by the midpoint rule.
static double effort_of(snw_knot_rule rule, const double *u) {
    enum { MANY = 60000 };
    double sum = 0;
    for (int i = 0; i < MANY; i++) {
        const double t = (i + 0.5) / MANY, at = t * (rule == SNW_KNOTS_HOLD ? 6 : 5);
        const int k = (int)at;
        const double s = at - k, p5 = s * s * s * (10 + s * (-15 + 6 * s));
        const double v = rule == SNW_KNOTS_HOLD
                             ? u[k]
                             : u[k] + (u[k + 1] - u[k]) * (rule == SNW_KNOTS_LINEAR ? s : p5);
        sum += v * v / MANY;
    }
    return sum;
}

static void laws_of_least_effort_obey_their_conditions(void **state) {
    (void)state;
    if (!snw_program_available()) skip();
    static const char *const rule[] = {"hold", "linear", "smooth"};
    for (int trial = 0; trial < 6; trial++) {
        const int r = trial % 3;
        snw_robot_model *m = model_with(trial < 3 ? "trapezoidal" : "gauss6", rule[r]);
        const snw_optimize_options *block = snw_robot_model_optimize(m);
        assert_non_null(block);
        assert_int_equal(block->variable[0].of.nknot, 6);
        snw_optimize_result *best = NULL;
        snw_error err = {0};
        assert_int_equal(snw_optimize_run(m, block, &best, &err), SNW_OK);
        assert_int_equal(best->nvariable, 6);
        assert_int_equal(best->gradient.method, SNW_GRADIENT_ADJOINT);
        double u[7];
        for (int k = 0; k < 6; k++) u[k] = best->variable[k].value;
        u[6] = u[5];
        assert_near(best->cost, 0.5 * effort_of((snw_knot_rule)r, u), 1e-7);
        assert_near(best->constraint[0].value, 1, 1e-9);
        // the cost is a quadratic form of the distance
        assert_near(best->constraint[0].price, 2 * best->cost, 1e-7);
        assert_true(best->optimality < 1e-7);
        // differences find the same
        snw_optimize_options other = *block;
        other.gradient = SNW_GRADIENT_DIFFERENCES;
        snw_optimize_result *again = NULL;
        assert_int_equal(snw_optimize_run(m, &other, &again, &err), SNW_OK);
        assert_near(again->cost, best->cost, 1e-10);
        assert_true(again->gradient.error > 0 && again->gradient.error < 1e-6);
        // and the overrides bring the model there
        assert_int_equal(best->nset, 1);
        snw_robot_model *there = NULL;
        assert_int_equal(snw_robot_model_change(m, best->nset, best->set, &there, &err), SNW_OK);
        snw_robot_model_close(there);
        snw_optimize_close(again);
        snw_optimize_close(best);
        snw_robot_model_close(m);
    }
}

typedef struct stops {
    int calls, at;
} stops;

static snw_status stop_at(void *user, const snw_optimize_evaluation *e) {
    stops *s = user;
    assert_int_equal(e->number, ++s->calls);
    return s->calls == s->at ? SNW_E_STOPPED : SNW_OK;
}

// largest and smallest scalar of the last evaluation, after the cost
typedef struct parts {
    int n;
    double most, least;
} parts;

static snw_status look_at_parts(void *user, const snw_optimize_evaluation *e) {
    parts *p = user;
    *p = (parts){.n = e->nscalar, .most = -INFINITY, .least = INFINITY};
    for (int i = 1; i < e->nscalar; i++) {
        p->most = fmax(p->most, e->J[i]);
        p->least = fmin(p->least, e->J[i]);
    }
    return SNW_OK;
}

// a limit of max(e) is one of each of 100 parts of the run, of which the largest is max(e)
static void limits_of_extremes_are_those_of_parts(void **state) {
    (void)state;
    if (!snw_program_available()) skip();
    snw_robot_model *m = model_with("trapezoidal", "hold");
    snw_optimize_options o = *snw_robot_model_optimize(m);
    o.cost = "end(place^2)", o.evaluations = 3;
    parts seen = {0};
    o.user = &seen, o.evaluated = look_at_parts;
    const struct {
        snw_optimize_constraint limit;
        int n;
    } trial[] = {{{" max( place) ", NAN, 50}, 100}, {{"min(place)", -50, NAN}, 100},
                 {{"max(place)", -50, 50}, 1},      {{"max(place)", 1, NAN}, 1},
                 {{"2*max(place)", NAN, 50}, 1},    {{"max(place, 3)", NAN, 50}, 1}};
    for (size_t k = 0; k < sizeof trial / sizeof *trial; k++) {
        o.nconstraint = 1, o.constraint = &trial[k].limit;
        assert_int_equal(snw_optimize_scalars(&o), 1 + trial[k].n);
        snw_optimize_result *best = NULL;
        snw_error err = {0};
        const snw_status s = snw_optimize_run(m, &o, &best, &err);
        assert_true(s == SNW_OK || s == SNW_E_DIVERGED); // a few evaluations only
        assert_non_null(best);
        assert_int_equal(seen.n, 1 + trial[k].n);
        const bool lowest = trial[k].limit.value[0] == 'm' && trial[k].limit.value[1] == 'i';
        if (trial[k].n > 1)
            assert_true(best->constraint[0].value == (lowest ? seen.least : seen.most));
        snw_optimize_close(best);
    }
    assert_int_equal(snw_optimize_scalars(NULL), 0);
    snw_robot_model_close(m);
}

static void wrong_options_and_stops_are_told(void **state) {
    (void)state;
    if (!snw_program_available()) skip();
    snw_robot_model *m = model_with("trapezoidal", "hold");
    snw_optimize_options o = *snw_robot_model_optimize(m);
    snw_optimize_result *best = NULL;
    snw_error err = {0};
    stops s = {.at = 2};
    o.user = &s, o.evaluated = stop_at;
    assert_int_equal(snw_optimize_run(m, &o, &best, &err), SNW_E_STOPPED);
    assert_non_null(best);
    snw_optimize_close(best);
    o.evaluated = NULL;
    const snw_optimize_variable start = {.of.name = "v(slider)", .low = NAN, .high = NAN};
    snw_optimize_options wrong = o;
    wrong.variable = &start, wrong.cost = "end(place)";
    assert_int_equal(snw_optimize_run(m, &wrong, &best, &err), SNW_E_ARGUMENT);
    assert_null(best);
    wrong = o;
    wrong.cost = "end(nothing)";
    assert_int_equal(snw_optimize_run(m, &wrong, &best, &err), SNW_E_PARSE);
    wrong = snw_optimize_defaults();
    assert_int_equal(snw_optimize_run(m, &wrong, &best, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_optimize_run(NULL, &o, &best, &err), SNW_E_ARGUMENT);
    assert_null(snw_robot_model_optimize(NULL));
    snw_optimize_close(NULL);
    snw_robot_model_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_of_least_effort_obey_their_conditions),
        cmocka_unit_test(limits_of_extremes_are_those_of_parts),
        cmocka_unit_test(wrong_options_and_stops_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
