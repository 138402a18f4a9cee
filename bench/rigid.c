// SPDX-License-Identifier: MIT
//
// Rigid robots: inverse and forward dynamics, mass matrix, a step of Runge-Kutta's method and the
// position of the last link, of chains of hinges and of a humanoid of 29 degrees of freedom; where
// MuJoCo is installed, the same there, without contacts and constraints, in turn.
#include "bench.h"
#include "robots.h"

#ifdef BENCH_MUJOCO
#include <mujoco/mujoco.h>
#endif

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

// ---- the same robots in MuJoCo ------------------------------------------------------------------

#ifdef BENCH_MUJOCO
typedef struct rival {
    mjModel *m;
    mjData *d;
    double *M;
} rival;

static void rival_inverse(void *user) {
    const rival *k = user;
    mj_inverse(k->m, k->d);
}
static void rival_mass(void *user) {
    const rival *k = user;
    mj_kinematics(k->m, k->d);
    mj_comPos(k->m, k->d);
    mj_crb(k->m, k->d);
    mj_fullM(k->m, k->M, k->d->qM);
}
static void rival_forward(void *user) {
    const rival *k = user;
    mj_forward(k->m, k->d);
}
static void rival_tip(void *user) {
    const rival *k = user;
    mj_kinematics(k->m, k->d);
}
static void rival_step(void *user) {
    const rival *k = user;
    mj_step(k->m, k->d);
}

enum { XML_SIZE = 200000 };

static void add(char *xml, const char *format, ...) {
    va_list list;
    const size_t used = strlen(xml);
    va_start(list, format);
    (void)vsnprintf(xml + used, XML_SIZE - used, format, list);
    va_end(list);
}

static void add_chain(char *xml, int n) {
    for (int k = 1; k <= n; k++) {
        add(xml,
            "<body pos='%g 0 0'><joint axis='0 %d %d'/>"
            "<geom type='box' size='.05 .01 .01' pos='.05 0 0' mass='.1'/>",
            k > 1 ? 0.1 : 0.0, k % 2, 1 - k % 2);
    }
    for (int k = 0; k < n; k++) add(xml, "</body>");
}

static void add_limb(char *xml, const char *at, const char *axis, double length) {
    add(xml,
        "<body pos='%s'><joint axis='%s'/><geom type='box' size='.03 .03 %g' pos='0 0 %g' "
        "mass='2'/>",
        at, axis, length / 2, -length / 2);
}

static void add_humanoid(char *xml) {
    static const char *const x = "1 0 0", *const y = "0 1 0", *const z = "0 0 1",
                             *const here = "0 0 0";
    add(xml, "<body><freejoint/><geom type='box' size='.1 .15 .1' mass='10'/>");
    add_limb(xml, "0 0 .1", z, 0.05);
    add_limb(xml, "0 0 .05", y, 0.05);
    add_limb(xml, "0 0 .05", x, 0.4);
    for (int s = 0; s < 2; s++) {
        add_limb(xml, s ? "0 -.2 .4" : "0 .2 .4", y, 0.05);
        add_limb(xml, here, x, 0.3);
        add_limb(xml, "0 0 -.3", y, 0.3);
        add_limb(xml, "0 0 -.3", z, 0.1);
        add(xml, "</body></body></body></body>");
    }
    add(xml, "</body></body></body>");
    for (int s = 0; s < 2; s++) {
        add_limb(xml, s ? "0 -.1 0" : "0 .1 0", x, 0.05);
        add_limb(xml, here, y, 0.05);
        add_limb(xml, here, z, 0.4);
        add_limb(xml, "0 0 -.4", y, 0.4);
        add_limb(xml, "0 0 -.4", y, 0.04);
        add_limb(xml, here, x, 0.06);
        add(xml, "</body></body></body></body></body></body>");
    }
    add(xml, "</body>");
}

// n links of the chain; 0: the humanoid
static rival rival_open(int n) {
    char *xml = calloc(XML_SIZE, 1), error[300] = "";
    if (!xml) abort();
    add(xml, "<mujoco><option timestep='1e-5' integrator='RK4'><flag contact='disable' "
             "constraint='disable'/></option><worldbody>");
    if (n > 0) {
        add_chain(xml, n);
    } else {
        add_humanoid(xml);
    }
    add(xml, "</worldbody></mujoco>");
    static mjVFS files;
    mj_defaultVFS(&files);
    if (mj_makeEmptyFileVFS(&files, "robot.xml", (int)strlen(xml)) != 0) abort();
    memcpy(files.filedata[0], xml, strlen(xml));
    rival k = {.m = mj_loadXML("robot.xml", &files, error, sizeof error)};
    mj_deleteVFS(&files);
    free(xml);
    if (!k.m) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    k.d = mj_makeData(k.m);
    k.M = calloc((size_t)(k.m->nv * k.m->nv), sizeof *k.M);
    if (!k.d || !k.M) abort();
    for (int i = 0; i < k.m->nv; i++) {
        if (n > 0) k.d->qpos[i] = 0.3 * sin(3 * i + 1);
        k.d->qvel[i] = 0.2 * cos(2 * i);
        k.d->qacc[i] = 0.4 * sin(5 * i);
    }
    return k;
}

// Are both the same robot? Compares the accelerations of a chain.
static void must_agree(snw_robot *r, const rival *k) {
    snw_error err;
    robots_must(snw_robot_forward_dynamics(r, &err), &err);
    mj_forward(k->m, k->d);
    double most = 0, size = 0;
    for (int i = 0; i < k->m->nv; i++) {
        most = fmax(most, fabs(k->d->qacc[i] - snw_robot_a(r)[i]));
        size = fmax(size, fabs(snw_robot_a(r)[i]));
    }
    if (!(most < 1e-6 * size)) {
        fprintf(stderr, "the chain of MuJoCo is another one: %g of %g\n", most, size);
        exit(1);
    }
}

static void report_rival(const bench_table *b, const char *name, int n, snw_robot *r) {
    rival k = rival_open(n);
    if (n > 0) must_agree(r, &k);
    // forward dynamics first: mj_inverse needs its accelerations
    const double f = 1e6 * bench_time(rival_forward, &k, 0.2),
                 a = 1e6 * bench_time(rival_inverse, &k, 0.2),
                 m = 1e6 * bench_time(rival_mass, &k, 0.2),
                 p = 1e6 * bench_time(rival_tip, &k, 0.2),
                 s = 1e6 * bench_time(rival_step, &k, 0.3);
    printf("  %-10s   %7.2f   %7.2f   %7.2f   %8.2f   %7.2f\n", "  MuJoCo", a, m, f, s, p);
    char of[40];
    (void)snprintf(of, sizeof of, "%s, MuJoCo", name);
    bench_record(b, of, "inverse dynamics us", a);
    bench_record(b, of, "mass matrix us", m);
    bench_record(b, of, "forward dynamics us", f);
    bench_record(b, of, "rk4 step us", s);
    bench_record(b, of, "position us", p);
    mj_deleteData(k.d);
    mj_deleteModel(k.m);
    free(k.M);
}
#else
static void report_rival(const bench_table *b, const char *name, int n, snw_robot *r) {
    (void)b, (void)name, (void)n, (void)r;
}
#endif

// n links of the chain, of which MuJoCo reads some hundred; 0: the humanoid; -1: not in MuJoCo
static void report(const bench_table *b, const char *name, int n, subject k) {
    if (n >= 0 && n < 100) report_rival(b, name, n, k.r);
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
        report(&b, name, lengths[i], subject_open(chain_text, lengths[i], last));
    }
    report(&b, "rod", -1, subject_open(rod_text, 0, "arm"));
    report(&b, "humanoid", 0, subject_open(humanoid_text, 0, "wrist_r"));
    bench_close(&b);
    return 0;
}
