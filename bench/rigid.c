// SPDX-License-Identifier: MIT
//
// Rigid robots: inverse and forward dynamics, mass matrix, a step of Runge-Kutta's method and the
// position of the last link, of chains of hinges and of a humanoid of 29 degrees of freedom.
#include "bench.h"

#include <math.h>
#include <sinew/sinew.h>

static const char chain_text[] =
    "sinew: 1\n"
    "parameters: {n: 20}\n"
    "robot:\n"
    "  link(1): {on: world, joint: revolute, axis: y, body: {box: [10 cm, 2 cm, 2 cm], mass: 0.1 "
    "kg, com: [5 cm, 0, 0]}}\n"
    "  link(k=2..n): {on: link(k - 1), pose: {xyz: [10 cm, 0, 0]}, joint: revolute, axis: [0, k "
    "- 2*floor(k/2), 1 - k + 2*floor(k/2)], body: {box: [10 cm, 2 cm, 2 cm], mass: 0.1 kg, com: "
    "[5 cm, 0, 0]}}\n";

// six coordinates of the trunk, three of the waist, six of each leg, four of each arm
#define LIMB(name, on, xyz, axis, length)                                                          \
    "  " name ": {on: " on ", pose: {xyz: " xyz "}, joint: revolute, axis: " axis                  \
    ", body: {box: [6 cm, 6 cm, " length "], mass: 2 kg, com: [0, 0, -" length "/2]}}\n"
#define LEG(s, side)                                                                               \
    LIMB("hip_x" s, "trunk", "[0, " side "10 cm, 0]", "x", "5 cm")                                 \
    LIMB("hip_y" s, "hip_x" s, "[0, 0, 0]", "y", "5 cm")                                           \
    LIMB("hip_z" s, "hip_y" s, "[0, 0, 0]", "z", "40 cm")                                          \
    LIMB("knee" s, "hip_z" s, "[0, 0, -40 cm]", "y", "40 cm")                                      \
    LIMB("ankle" s, "knee" s, "[0, 0, -40 cm]", "y", "4 cm")                                       \
    LIMB("foot" s, "ankle" s, "[0, 0, 0]", "x", "6 cm")
#define ARM(s, side)                                                                               \
    LIMB("shoulder_y" s, "chest", "[0, " side "20 cm, 40 cm]", "y", "5 cm")                        \
    LIMB("shoulder_x" s, "shoulder_y" s, "[0, 0, 0]", "x", "30 cm")                                \
    LIMB("elbow" s, "shoulder_x" s, "[0, 0, -30 cm]", "y", "30 cm")                                \
    LIMB("wrist" s, "elbow" s, "[0, 0, -30 cm]", "z", "10 cm")
static const char humanoid_text[] =
    "sinew: 1\n"
    "robot:\n"
    "  trunk: {on: world, joint: free, body: {box: [20 cm, 30 cm, 20 cm], mass: 10 kg}}\n" LIMB(
        "waist_z", "trunk", "[0, 0, 10 cm]", "z", "5 cm")
        LIMB("waist_y", "waist_z", "[0, 0, 5 cm]", "y", "5 cm")
            LIMB("chest", "waist_y", "[0, 0, 5 cm]", "x", "40 cm") LEG("_l", "") LEG("_r", "-")
                ARM("_l", "") ARM("_r", "-");

typedef struct subject {
    snw_robot *r;
    double *tau, *M;
    snw_place tip;
    double x;
} subject;

static void must(snw_status s, const snw_error *err) {
    if (s == SNW_OK) return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static subject subject_open(const char *text, int n, const char *last) {
    char set[32];
    snprintf(set, sizeof set, "n=%d", n);
    const char *const list[] = {set};
    snw_error err = {0};
    subject k = {0};
    must(snw_robot_parse("bench", text, strlen(text), NULL, n > 0, list, &k.r, &err), &err);
    const int nv = snw_robot_nv(k.r);
    k.tau = calloc((size_t)nv, sizeof(double));
    k.M = calloc((size_t)nv * (size_t)nv, sizeof(double));
    if (!k.tau || !k.M) abort();
    must(snw_robot_find_place(k.r, last, &k.tip), snw_robot_error(k.r));
    for (int i = 0; i < nv; i++) {
        k.tau[i] = 0.3 * sin(3 * i + 1);
        snw_robot_v(k.r)[i] = 0.2 * cos(2 * i);
        snw_robot_a(k.r)[i] = 0.4 * sin(5 * i);
    }
    must(snw_robot_move(k.r, k.tau), snw_robot_error(k.r));
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
    must(snw_robot_start(k.r, &how, &err), &err);
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
    report(&b, "humanoid", subject_open(humanoid_text, 0, "wrist_r"));
    bench_close(&b);
    return 0;
}
