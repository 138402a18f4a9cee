// SPDX-License-Identifier: MIT
//
// Rigid robots: inverse and forward dynamics, mass matrix, a step of Runge-Kutta's method and the
// position of the last link, of chains of hinges and of a humanoid of 29 degrees of freedom.
#include "bench.h"
#include "robots.h"

typedef struct subject {
    snw_robot *r;
    double *tau, *M;
    snw_place tip;
    double x;
} subject;

static subject subject_open(const char *text, int n, const char *last) {
    subject k = {.r = robots_open(text, n)};
    const size_t nv = (size_t)snw_robot_nv(k.r);
    k.tau = calloc(nv, sizeof(double));
    k.M = calloc(nv * nv, sizeof(double));
    if (!k.tau || !k.M) abort();
    robots_must(snw_robot_find_place(k.r, last, &k.tip), snw_robot_error(k.r));
    return k;
}

static void subject_close(subject *k) {
    snw_robot_close(k->r);
    free(k->tau);
    free(k->M);
}

static void inverse(void *user) {
    subject *k = user;
    if (snw_robot_inverse_dynamics(k->r, k->tau) != SNW_OK) abort();
}
static void mass(void *user) {
    subject *k = user;
    if (snw_robot_mass(k->r, k->M) != SNW_OK) abort();
}
static void forward(void *user) {
    subject *k = user;
    snw_error err;
    if (snw_robot_forward_dynamics(k->r, &err) != SNW_OK) abort();
}
static void tip(void *user) {
    subject *k = user;
    double pose[16];
    snw_robot_q(k->r)[snw_robot_nq(k->r) - 1] += 1e-9; // a new configuration
    if (snw_robot_pose(k->r, k->tip, pose) != SNW_OK) abort();
    k->x += pose[3];
}
static void step(void *user) {
    subject *k = user;
    snw_error err;
    if (snw_robot_step(k->r, 1e-5, &err) != SNW_OK) abort();
}

static void report(const bench_table *b, const char *name, subject k) {
    const double a = 1e6 * bench_time(inverse, &k, 0.2), m = 1e6 * bench_time(mass, &k, 0.2),
                 f = 1e6 * bench_time(forward, &k, 0.2), p = 1e6 * bench_time(tip, &k, 0.2);
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(1e-5);
    how.scheme = "rk4";
    robots_must(snw_robot_start(k.r, &how, &err), &err);
    const double s = 1e6 * bench_time(step, &k, 0.3);
    printf("  %-10s   %7.2f   %7.2f   %7.2f   %8.2f   %7.2f\n", name, a, m, f, s, p);
    bench_record(b, name, "inverse dynamics us", a);
    bench_record(b, name, "mass matrix us", m);
    bench_record(b, name, "forward dynamics us", f);
    bench_record(b, name, "rk4 step us", s);
    bench_record(b, name, "position us", p);
    subject_close(&k);
}

int main(int argc, char **argv) {
    bench_table b = bench_open("rigid", "rigid robots, us", argc, argv);
    printf("  robot        inverse      mass   forward   rk4 step       tip\n");
    static const int lengths[] = {5, 20, 95, 380};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char name[32], last[32];
        snprintf(name, sizeof name, "chain %d", lengths[i]);
        snprintf(last, sizeof last, "link(%d)", lengths[i]);
        report(&b, name, subject_open(chain_text, lengths[i], last));
    }
    report(&b, "rod", subject_open(rod_text, 0, "arm"));
    report(&b, "humanoid", subject_open(humanoid_text, 0, "wrist_r"));
    bench_close(&b);
    return 0;
}
