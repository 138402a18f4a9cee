// SPDX-License-Identifier: MIT
//
// Gradients of a swinging soft arm: time of the derivatives over that of the run, by the number and
// the kind of the variables: knots of the law of a tendon, and numbers of the file of all kinds of
// tests/gradient_arm.h. `bench_gradient --csv FILE` adds the rows to a file.
#include "bench.h"
#include "gradient_arm.h"

#include "sinew/sinew.h"

enum { MOST = 1000, STEPS = 500 };

static void die(const snw_error *err) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static snw_robot_model *arm(arm_numbers kind, int n) {
    enum { ROOM = 300 * MOST };
    static char text[ROOM], sum[ROOM];
    const size_t size = arm_write(kind, n, STEPS, ROOM, text, sum);
    snw_error err = {0};
    snw_robot_model *m = NULL;
    if (snw_robot_model_parse("arm", text, size, NULL, 0, NULL, &m, &err) != SNW_OK) die(&err);
    return m;
}

// Smallest times of three evaluations: of the run, and of the derivatives.
static snw_gradient_info measure(snw_robot_model *m, arm_numbers kind, int n,
                                 const snw_gradient_variable *by) {
    static double p[MOST], dJ[MOST];
    const char *const of[] = {arm_result(kind)};
    snw_gradient_options how = snw_gradient_defaults();
    how.nvariable = n, how.variable = by;
    how.nscalar = 1, how.scalar = of;
    snw_gradient *g = NULL;
    snw_error err = {0};
    double J;
    if (snw_gradient_create(m, &how, &g, &err) != SNW_OK) die(&err);
    if (snw_gradient_start(g, p, &err) != SNW_OK) die(&err);
    for (int k = 0; k < snw_gradient_size(g) && by[0].nknot > 0; k++) p[k] = 1 + 0.001 * (k % 7);
    snw_gradient_info best = {.run_seconds = 1e9, .gradient_seconds = 1e9};
    for (int i = 0; i < 3; i++) {
        if (snw_gradient_evaluate(g, p, &J, dJ, &err) != SNW_OK) die(&err);
        const snw_gradient_info now = snw_gradient_report(g);
        if (now.run_seconds < best.run_seconds) best.run_seconds = now.run_seconds;
        if (now.gradient_seconds < best.gradient_seconds)
            best.gradient_seconds = now.gradient_seconds;
    }
    snw_gradient_close(g);
    return best;
}

static void print_row(bench_table *b, const char *kind, int n, snw_gradient_info t) {
    char row[64];
    const double ratio = t.gradient_seconds / t.run_seconds;
    printf("  %-22s %6d   %8.1f   %8.1f   %6.2f\n", kind, n, 1e3 * t.run_seconds,
           1e3 * t.gradient_seconds, ratio);
    (void)snprintf(row, sizeof row, "%s, %d", kind, n);
    bench_record(b, row, "derivatives over run", ratio);
}

int main(int argc, char **argv) {
    static double knot[MOST];
    static char name[MOST][16];
    static snw_gradient_variable by[MOST];
    bench_table b = bench_open("gradient", "gradients over runs of 500 steps", argc, argv);
    printf("  variables              number   run ms    derivatives ms   ratio\n");
    for (int n = 5; n <= 500; n *= 10) {
        for (int k = 0; k < n; k++) knot[k] = (double)k / (n - 1) * STEPS * 1e-3;
        const snw_gradient_variable law = {.name = "cable.effort",
                                           .nknot = n,
                                           .knot = knot,
                                           .rule = SNW_KNOTS_SMOOTH,
                                           .unit = "N"};
        snw_robot_model *m = arm(ARM_LOADS, 1);
        print_row(&b, "knots of a law", n, measure(m, ARM_LOADS, 1, &law));
        snw_robot_model_close(m);
    }
    static const struct {
        const char *label;
        arm_numbers kind;
        int most;
    } row[] = {{"loads", ARM_LOADS, 1000},
               {"coefficients of E", ARM_MODULI, 1000},
               {"coefs. of a tension", ARM_TENSIONS, 1000},
               {"coefs. of rest strain", ARM_RESTS, 1000},
               {"places of bodies", ARM_PLACES, 100},
               {"drag coefficients", ARM_DRAGS, 100},
               {"contact stiffness", ARM_GROUNDS, 100},
               {"coefs. of a given pose", ARM_MOTIONS, 1000},
               {"coefs. of given strain", ARM_STRAINS, 100},
               {"loads, with a change", ARM_CHANGES, 1000},
               {"places, of a reaction", ARM_FORCES, 100},
               {"E, integrals of forces", ARM_INTEGRALS, 1000},
               {"relaxing: coefs. of E", ARM_RELAXING, 1000},
               {"moreau: friction", ARM_HARD_GROUNDS, 100},
               {"moreau: coefs. of E", ARM_HARD_MODULI, 100},
               {"conserving: coefs. of E", ARM_CONSERVED, 1000},
               {"conserving, free body", ARM_CONSERVED_FREE, 100},
               {"conserving, a loop", ARM_CONSERVED_LOOP, 100},
               {"conserving, a wheel", ARM_CONSERVED_WHEEL, 100},
               {"conserving, a cable", ARM_CONSERVED_CABLE, 100},
               {"conserving, moved base", ARM_CONSERVED_BASE, 100},
               {"conserving, a link goes", ARM_CONSERVED_LINK, 100},
               {"rk4: coefs. of E", ARM_EXPLICIT, 1000},
               {"rk4, free body", ARM_EXPLICIT_FREE, 100},
               {"rk4, a loop", ARM_EXPLICIT_LOOP, 100},
               {"conserving, rods touch", ARM_TOUCHED, 100},
               {"gait of a swimmer", ARM_SWIMMER, 100},
               {"gait on wheels", ARM_BOARD, 100},
               {"held: coefs. of E", ARM_HELD, 1000}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        for (int n = 1; n <= row[i].most; n *= 10) {
            snw_robot_model *m = arm(row[i].kind, n);
            for (int k = 0; k < n; k++) {
                (void)snprintf(name[k], sizeof name[k], "f%d", k);
                by[k] = (snw_gradient_variable){.name = name[k]};
            }
            print_row(&b, row[i].label, n, measure(m, row[i].kind, n, by));
            snw_robot_model_close(m);
        }
    }
    bench_close(&b);
    return 0;
}
