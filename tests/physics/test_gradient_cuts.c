// SPDX-License-Identifier: MIT
//
// Gradients of motions whose steps are cut at contacts, stops and cables or chosen by their error
// (theory.md 6.16a): the lengths do not follow the variables, so that the derivatives are those of
// whole runs in which no length changes.
#include "asked_gradient.h"

#include "integrate/step_lengths.h"

#include <stdio.h>
#include <stdlib.h>

// ---- the scale ----------------------------------------------------------------------------------

static void lengths_are_of_the_scale(void **state) {
    (void)state;
    const double longest = 2e-3;
    srand(5);
    for (int i = 0; i < 2000; i++) {
        const double h = longest * pow(2, -20.0 * rand() / RAND_MAX);
        const double x = snw_step_length(h, longest), k = 4 * log2(longest / x);
        assert_true(x <= h * (1 + 1e-9) && x > h * pow(2, -0.25) * (1 - 1e-9));
        assert_near(k, round(k), 1e-9);
        assert_true(snw_step_length(x, longest) == x); // its own length, to the last bit
        assert_true(snw_step_length(x / 2, longest) == x / 2);
    }
    assert_true(snw_step_length(longest, longest) == longest);
    assert_true(snw_step_length(3, INFINITY) == 2 * 1.4142135623730950488);
    assert_true(isnan(snw_step_length(NAN, longest)));
    assert_true(snw_step_length(0, longest) == 0);
    assert_true(snw_step_cut(1e-3, 1e-3, 1e-9, longest) == 1e-3); // not cut
    assert_true(snw_step_cut(1e-3, 0.9e-3, 1e-9, longest) < 0.9e-3);
    assert_true(snw_step_cut(1e-3, 1e-12, 1e-5, longest) == 1e-5);
}

// ---- random robots ------------------------------------------------------------------------------

typedef struct robot {
    const char *name, *text; // parameters by %s, scheme by %s
    int nby;
    struct {
        const char *name, *unit;
        double low, high;
    } by[6];
} robot;

static const robot robots[] = {
    {"a ball that falls with a spin",
     "sinew: 1\n"
     "parameters: {%s}\n"
     "robot: {ball: {on: world, joint: free, pose: {xyz: [0, 0, h]}, body: {sphere: {radius: 20 "
     "mm}, mass: m}}}\n"
     "initial: {ball: {twist: [2, 1, 0, v, 0, 0]}}\n"
     "contacts: {floor: {ground: {on: ball, stiffness: k, damping: 0.3, friction: mu}}}\n"
     "probes: {p: {position: ball}}\n"
     "study: [dynamic: {for: 0.15 s, step: 5 ms, %s}]\n",
     5,
     {{"k", "", 1e4, 4e4},
      {"m", "kg", 0.1, 0.3},
      {"h", "m", 0.04, 0.08},
      {"mu", "", 0.2, 0.6},
      {"v", "m/s", 0.2, 0.8}}},
    {"a soft arm on a joint with stops",
     "sinew: 1\n"
     "parameters: {%s}\n"
     "gravity: [0, -9.81 m/s^2, 0]\n"
     "materials: {rubber: {young: 3 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
     "robot:\n"
     "  arm: {on: world, joint: revolute, axis: z, stiffness: k, damping: 1e-3 N*m*s, limits: "
     "[-0.4, "
     "1.2], stop: {stiffness: ks, damping: 0.3}, body: {mass: m, com: [l, 0, 0]}}\n"
     "  soft: {on: arm, pose: {xyz: [l, 0, 0]}, rod: {length: 0.2, section: {circle: {radius: 4 "
     "mm}}, material: rubber, strain: {bend_z: legendre 2}, nodes: 8}}\n"
     "initial: {arm: {position: q}}\n"
     "probes: {p: {position: soft.tip}}\n"
     "study: [dynamic: {for: 0.3 s, step: 10 ms, %s}]\n",
     5,
     {{"k", "N*m", 0.2, 0.8},
      {"m", "kg", 0.2, 0.4},
      {"l", "m", 0.25, 0.35},
      {"ks", "N*m", 20, 80},
      {"q", "", 0.3, 0.9}}},
    {"a mass caught by a cable",
     "sinew: 1\n"
     "parameters: {%s}\n"
     "gravity: [0, 0, -9.81 m/s^2]\n"
     "robot: {bob: {on: world, joint: free, pose: {xyz: [d, 0, -0.15]}, body: {sphere: {radius: 1 "
     "cm}, mass: m}}}\n"
     "springs: {rope: {cable: [{xyz: [0, 0, 0]}, bob], stiffness: k, rest: l, damping: c}}\n"
     "probes: {p: {position: bob}}\n"
     "study: [dynamic: {for: 0.35 s, step: 5 ms, %s}]\n",
     5,
     {{"k", "N/m", 1000, 6000},
      {"m", "kg", 0.1, 0.3},
      {"l", "m", 0.25, 0.35},
      {"c", "s/m", 0.1, 0.5},
      {"d", "m", 0.02, 0.06}}},
};

// Derivatives by variable k of all results by differences of order 6 of runs; false: a length has
// changed between them, as far as the numbers of steps show.
static bool differ(const question *q, const outcome *at, int k, double move, double *out) {
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    static outcome moved;
    double p[MOST];
    question one = *q;
    one.value_only = 1;
    one.at = p;
    bool same = true;
    for (int i = 0; i < q->nof; i++) out[i] = 0;
    for (int j = -3; j <= 3; j++) {
        if (j == 0) continue;
        memcpy(p, at->p, sizeof p);
        p[k] *= 1 + j * move;
        answer(&one, &moved);
        same = same && moved.info.steps == at->info.steps &&
               moved.info.cut_steps == at->info.cut_steps;
        const double c = (j < 0 ? -weight[-j - 1] : weight[j - 1]) / (move * at->p[k]);
        for (int i = 0; i < q->nof; i++) out[i] += c * moved.J[i];
    }
    return same;
}

// To the rounding of the runs over the moves, or to what Newton's method leaves in steps that are
// chosen by their error (1e-10 of typical forces, in a contact with friction). A length that
// changes between two runs is as rare as the moves are small, and is passed over by smaller ones.
static void follows_runs(const question *q, const outcome *got, bool adapts, const char *name) {
    static const double moves[2] = {1e-6, 1e-7}, rounding[2] = {1e-7, 1e-6};
    for (int k = 0; k < q->nby; k++) {
        bool right = false;
        for (int trial = 0; trial < 2 && !right; trial++) {
            double by[6];
            right = differ(q, got, k, moves[trial], by);
            for (int i = 0; i < q->nof; i++) {
                double size = fabs(got->J[i]);
                for (int n = 0; n < q->nby; n++)
                    size = fmax(size, fabs(got->dJ[i * q->nby + n] * got->p[n]));
                const double off = fabs((by[i] - got->dJ[i * q->nby + k]) * got->p[k]);
                right = right && off <= (adapts ? 1e-5 : rounding[trial]) * size;
                if (!right && trial == 1)
                    print_error("%s: %s by %s: %.12g, runs %.12g\n%s", name, q->of[i], q->by[k],
                                got->dJ[i * q->nby + k], by[i], i ? q->text : "");
            }
        }
        assert_true(right);
    }
}

static void derivatives_are_those_of_runs(void **state) {
    (void)state;
    static const char *const scheme[] = {"scheme: generalized-alpha", "scheme: bdf2", "rho: 0.5",
                                         "adapt: on, tolerance: 1e-4"};
    static outcome got, forward;
    srand(7);
    for (size_t r = 0; r < sizeof robots / sizeof *robots; r++) {
        for (size_t k = 0; k < sizeof scheme / sizeof *scheme; k++) {
            char parameters[400] = "", text[TEXT];
            question q = {.nof = 2, .of = {"end(p.x)", "integral(p.z + p.y)"}};
            q.nby = robots[r].nby;
            for (int i = 0; i < q.nby; i++) {
                const double u = (double)rand() / RAND_MAX, low = robots[r].by[i].low;
                const size_t used = strlen(parameters);
                q.by[i] = robots[r].by[i].name;
                (void)snprintf(parameters + used, sizeof parameters - used, "%s%s: %.4g %s",
                               i > 0 ? ", " : "", q.by[i], low + u * (robots[r].by[i].high - low),
                               robots[r].by[i].unit);
            }
            (void)snprintf(text, sizeof text, robots[r].text, parameters, scheme[k]);
            q.text = text;
            q.method = SNW_GRADIENT_ADJOINT;
            answer(&q, &got);
            if (got.info.cut_steps < 3) print_error("%s, %s\n", robots[r].name, text);
            assert_true(got.info.cut_steps >= 3 && got.info.cut_steps < got.info.steps);
            q.method = SNW_GRADIENT_FORWARD;
            answer(&q, &forward);
            assert_int_equal(forward.info.cut_steps, got.info.cut_steps);
            for (int i = 0; i < q.nof * q.nby; i++) {
                double size = 0;
                for (int n = 0; n < q.nby; n++)
                    size = fmax(size, fabs(got.dJ[i / q.nby * q.nby + n] * got.p[n]));
                assert_true(fabs((got.dJ[i] - forward.dJ[i]) * got.p[i % q.nby]) <= 1e-9 * size);
            }
            follows_runs(&q, &got, k == 3, robots[r].name);
        }
    }
}

// ---- what is told -------------------------------------------------------------------------------

static void cut_steps_are_told(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {h: 5 cm, k: 20000}\n"
        "robot: {ball: {on: world, joint: prismatic, axis: z, body: {sphere: {radius: 2 cm}, mass: "
        "0.1 kg}}}\n"
        "initial: {ball: {position: h}}\n"
        "contacts: {floor: {ground: {on: ball, stiffness: k, damping: 0.3}}}\n"
        "probes: {p: {position: ball}}\n"
        "study: [dynamic: {for: %s, step: 2 ms}]\n";
    // in the air, the steps are those asked for; the impact cuts some, also in differences of runs
    static outcome o;
    char full[1000];
    for (int k = 0; k < 2; k++) {
        (void)snprintf(full, sizeof full, text, k ? "0.12 s" : "0.06 s");
        for (int method = SNW_GRADIENT_ADJOINT; method <= SNW_GRADIENT_DIFFERENCES; method++) {
            answer(&(question){.text = full,
                               .nby = 1,
                               .by = {"k"},
                               .nof = 1,
                               .of = {"p.z"},
                               .method = (snw_gradient_method)method},
                   &o);
            if (k == 0) {
                assert_int_equal(o.info.cut_steps, 0);
                assert_int_equal(o.info.steps, 30);
            } else {
                assert_true(o.info.cut_steps > 3 && o.info.steps > 60);
                assert_true(o.info.cut_effect == 0); // not asked for
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_of_the_scale),
        cmocka_unit_test(derivatives_are_those_of_runs),
        cmocka_unit_test(cut_steps_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
