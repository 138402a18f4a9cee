// SPDX-License-Identifier: MIT
//
// Gradients of a swinging soft arm: time of the derivatives over that of the run, by the number and
// the kind of the variables: knots of the law of a tendon, and numbers of the file: loads,
// coefficients of Young's modulus along the arm, of its rest strain and of the tension over time,
// places of bodies, drag in fluids, stiffness of grounds that it touches, coefficients of the given
// motion of its base; loads of a study that changes the arm; friction of hard grounds and Young's
// modulus of an arm on one through `moreau`, Young's modulus through `conserving`.
#include "bench.h"

#include "sinew/sinew.h"

#include <stdarg.h>

enum { MOST = 1000, STEPS = 500 };

static void die(const snw_error *err) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

typedef enum numbers {
    LOADS,
    MODULI,
    TENSIONS,
    RESTS,
    PLACES,
    DRAGS,
    GROUNDS,
    MOTIONS,
    CHANGES,
    HARD_GROUNDS,
    HARD_MODULI,
    CONSERVED_MODULI
} numbers;

// Text of the file, as it grows.
typedef struct page {
    char *text;
    size_t used, room;
} page;

static void put(page *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    p->used += (size_t)vsnprintf(p->text + p->used, p->room - p->used, format, list);
    va_end(list);
}

// An arm with n numbers f0, f1, .. of a kind.
static snw_robot_model *arm(numbers kind, int n) {
    static char text[300 * MOST], sum[60 * MOST];
    static const char *const start[] = {"10 uN",     "0.001",  "0.001", "0.001", "0.1 mm", "0.01",
                                        "100 N/m^2", "0.0001", "10 uN", "0.3",   "0.001",  "0.001"};
    const bool hard = kind == HARD_GROUNDS || kind == HARD_MODULI;
    const bool moduli = kind == MODULI || kind == HARD_MODULI || kind == CONSERVED_MODULI;
    const char *scheme = hard                       ? "scheme: moreau"
                         : kind == CONSERVED_MODULI ? "scheme: conserving"
                                                    : "shorten: off, scheme: bdf2";
    page p = {text, 0, sizeof text}, law = {sum, 0, sizeof sum};
    put(&law, "(1");
    for (int i = 0; i < n; i++)
        put(&law, kind == TENSIONS || kind == MOTIONS ? "+f%d*cos(%d*t/(1 s))" : "+f%d*cos(%d*x/L)",
            i, i + 1);
    put(&law, ")");
    put(&p, "sinew: 1\nparameters: {E: 0.5 MPa");
    for (int i = 0; i < n; i++) put(&p, ", f%d: %s", i, start[kind]);
    put(&p,
        "}\nmaterials: {soft: {young: E*%s, poisson: 0.45, density: 1100, damping: 8 ms}}\n"
        "robot:\n  arm: {on: world, pose: {axis: y, angle: 0.1*%s}, rod: {length: 0.3, section: "
        "{circle: {radius: 1 cm}}, "
        "material: "
        "soft, strain: {bend_y: legendre 4, bend_z: legendre 4, twist: legendre 3}, rest: {bend_y: "
        "0.1*%s}, nodes: 12}}\n",
        moduli ? sum : "1", kind == MOTIONS ? sum : "0", kind == RESTS ? sum : "1");
    for (int i = 0; i < n && kind == PLACES; i++)
        put(&p, "  b%d: {on: arm.tip, pose: {xyz: [1 cm, f%d, 0]}, body: {mass: 1 mg}}\n", i, i);
    if (kind != CONSERVED_MODULI) // that scheme has no tendons
        put(&p, "actuators: {cable: {tendon: {along: arm, at: [0, 5 mm, 2 mm]}, effort: 1 N*%s}}\n",
            kind == TENSIONS ? sum : "1");
    put(&p,
        "study:\n  - dynamic: {for: %d ms, step: 1 ms, %s}\n%s"
        "probes: {tip: {position: arm.tip}}\nloads:\n  none: {on: arm.tip, force: [0, 0, 0]}\n",
        kind == CHANGES ? STEPS / 2 : STEPS, scheme,
        kind == CHANGES ? "  - change: {soft.young: 2*E}\n"
                          "  - dynamic: {for: 250 ms, step: 1 ms, shorten: off, scheme: bdf2}\n"
                        : "");
    for (int i = 0; i < n && (kind == LOADS || kind == CHANGES); i++)
        put(&p, "  l%d: {on: arm.tip, force: [0, f%d, 0]}\n", i, i);
    if (kind == DRAGS) put(&p, "fluid:\n");
    for (int i = 0; i < n && kind == DRAGS; i++)
        put(&p, "  w%d: {on: arm, drag: {linear: f%d}}\n", i, i);
    if (kind == GROUNDS || hard) put(&p, "contacts:\n");
    if (kind == HARD_MODULI)
        put(&p, "  c0: {ground: {on: arm, at: [0, 0, -0.05], hard: true, friction: 0.3}}\n");
    for (int i = 0; i < n && kind == HARD_GROUNDS; i++)
        put(&p, "  c%d: {ground: {on: arm, at: [0, 0, -%.4f], hard: true, friction: f%d}}\n", i,
            0.05 + 0.002 * i, i);
    for (int i = 0; i < n && kind == GROUNDS; i++)
        put(&p,
            "  c%d: {ground: {on: arm, normal: z, at: [0, 0, -%.4f], stiffness: f%d, friction: "
            "0.2}}\n",
            i, 0.02 + 0.1 * i / n, i);
    snw_error err = {0};
    snw_robot_model *m = NULL;
    if (snw_robot_model_parse("arm", text, p.used, NULL, 0, NULL, &m, &err) != SNW_OK) die(&err);
    return m;
}

// Smallest times of three evaluations: of the run, and of the derivatives.
static snw_gradient_info measure(snw_robot_model *m, int n, const snw_gradient_variable *by) {
    static double p[MOST], dJ[MOST];
    static const char *const of[] = {"integral(tip.x^2 + tip.y)"};
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
        snw_robot_model *m = arm(LOADS, 1);
        print_row(&b, "knots of a law", n, measure(m, 1, &law));
        snw_robot_model_close(m);
    }
    static const struct {
        const char *label;
        numbers kind;
        int most;
    } row[] = {{"loads", LOADS, 1000},
               {"coefficients of E", MODULI, 1000},
               {"coefs. of a tension", TENSIONS, 1000},
               {"coefs. of rest strain", RESTS, 1000},
               {"places of bodies", PLACES, 100},
               {"drag coefficients", DRAGS, 100},
               {"contact stiffness", GROUNDS, 100},
               {"coefs. of a given pose", MOTIONS, 1000},
               {"loads, with a change", CHANGES, 1000},
               {"moreau: friction", HARD_GROUNDS, 100},
               {"moreau: coefs. of E", HARD_MODULI, 100},
               {"conserving: coefs. of E", CONSERVED_MODULI, 1000}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        for (int n = 1; n <= row[i].most; n *= 10) {
            snw_robot_model *m = arm(row[i].kind, n);
            for (int k = 0; k < n; k++) {
                (void)snprintf(name[k], sizeof name[k], "f%d", k);
                by[k] = (snw_gradient_variable){.name = name[k]};
            }
            print_row(&b, row[i].label, n, measure(m, n, by));
            snw_robot_model_close(m);
        }
    }
    bench_close(&b);
    return 0;
}
