// SPDX-License-Identifier: MIT
//
// Compares a robot that was imported with the same robot in MuJoCo, at random configurations: poses
// of bodies, mass matrix, and generalised forces of gravity, velocities, springs, dampers and
// actuators. Built where libmujoco is installed.
//
// usage: compare_mujoco FILE FILE_OF_MUJOCO ..   pairs; "-": the same file
// Prints a line for each pair: name, verdict, and the largest relative differences. Verdicts:
//   same       compared
//   refused    Sinew refused the file, with the message
//   unread     MuJoCo refused the file, with the message
#include "import/importer.h"
#include "math/se3.h"
#include "sinew/robot.h"

#include <mujoco/mujoco.h>

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 5 };

typedef struct pair {
    snw_pool *pool;
    snw_imported_robot imported;
    snw_robot *robot;
    mjModel *m;
    mjData *d;
    int *of_dof; // velocity of Sinew for each of MuJoCo, -1: none
    bool floats;
} pair;

static uint64_t seed = 1;

static double draw(double size) {
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return size * (2 * (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0 - 1);
}

static jmp_buf on_error;
static char error_text[1000];
static void keep_error(const char *text) {
    (void)snprintf(error_text, sizeof error_text, "%.900s", text);
    longjmp(on_error, 1);
}
static void no_warning(const char *text) { (void)text; }

// ---- both robots --------------------------------------------------------------------------------

static bool open_sinew(pair *p, const char *path, snw_error *err) {
    const snw_import_opts opts = {.shapes = SNW_IMPORT_NO_SHAPES};
    const char *text;
    if (snw_import_file(p->pool, path, &opts, &p->imported, err) != SNW_OK) return false;
    if (snw_imported_write(&p->imported, &opts, NULL, &text, err) != SNW_OK) return false;
    return snw_robot_parse("imported.yaml", text, strlen(text), NULL, 0, NULL, &p->robot, err) ==
           SNW_OK;
}

// Imported joint of a joint of MuJoCo: by its name, or by its body where it has none.
static const snw_imported_joint *joint_of(const pair *p, int joint) {
    const char *name = mj_id2name(p->m, mjOBJ_JOINT, joint);
    if (name && *name) {
        const int i = snw_imported_find_joint(&p->imported, name);
        return i < 0 ? NULL : &p->imported.joint[i];
    }
    const char *body = mj_id2name(p->m, mjOBJ_BODY, p->m->jnt_bodyid[joint]);
    const int link = body ? snw_imported_find_link(&p->imported, body) : -1;
    return link < 0 || p->imported.link[link].joint < 0
               ? NULL
               : &p->imported.joint[p->imported.link[link].joint];
}

static bool part_of(const pair *p, const snw_imported_joint *j, snw_part *out) {
    const snw_robot_model *model = snw_robot_model_of(p->robot);
    const char *word = p->imported.link[j->child].word;
    const int i = snw_robot_model_find(model, SNW_PART_JOINT, word);
    return i >= 0 && snw_robot_model_part(model, SNW_PART_JOINT, i, out) == SNW_OK;
}

// Random values of a joint in both.
static bool set_joint(pair *p, int joint, bool moving) {
    const snw_imported_joint *j = joint_of(p, joint);
    snw_part part;
    if (!j || !part_of(p, j, &part)) return false;
    double *q = snw_robot_q(p->robot) + part.q, *v = snw_robot_v(p->robot) + part.v;
    mjtNum *mq = p->d->qpos + p->m->jnt_qposadr[joint];
    const int dof = p->m->jnt_dofadr[joint], type = p->m->jnt_type[joint];
    const int nv = type == mjJNT_FREE ? 6 : type == mjJNT_BALL ? 3 : 1;
    if (nv != part.nv) return false;
    for (int i = 0; i < nv; i++) {
        p->of_dof[dof + i] = part.v + i;
        v[i] = moving ? draw(1) : 0;
        p->d->qvel[dof + i] = v[i];
    }
    if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
        q[0] = draw(type == mjJNT_HINGE ? 2 : 0.3);
        mq[0] = q[0] + p->m->qpos0[p->m->jnt_qposadr[joint]];
        return true;
    }
    const snw_quat turn =
        snw_quat_normalise((snw_quat){{draw(1), draw(1), draw(1), draw(1) + 1e-3}});
    memcpy(q, turn.e, sizeof turn.e);
    if (type == mjJNT_BALL) {
        memcpy(mq, turn.e, sizeof turn.e);
        return true;
    }
    // a free joint of MuJoCo has the pose in the world, ours that relative to its own
    const snw_vec3 at = {{draw(1), draw(1), draw(1)}};
    memcpy(q + 4, at.e, sizeof at.e);
    const snw_se3 base = snw_imported_se3(&j->pose),
                  g = snw_se3_mul(base, (snw_se3){snw_quat_to_mat3(turn), at});
    memcpy(mq, g.p.e, sizeof g.p.e);
    memcpy(mq + 3, snw_quat_from_mat3(g.R).e, 4 * sizeof *mq);
    p->floats = true;
    // its velocities are those of the origin in the world, then the angular ones
    for (int i = 0; i < 3; i++) {
        p->of_dof[dof + i] = part.v + 3 + i;
        p->of_dof[dof + 3 + i] = part.v + i;
    }
    return true;
}

// ---- comparison ---------------------------------------------------------------------------------

typedef struct difference {
    double pose, mass, force;
} difference;

static double largest(double a, double b) { return !(b <= a) ? b : a; }

// Rows of a free joint of MuJoCo: T' M T with its velocity of the origin turned into the body.
static void turn_free(const pair *p, const double *R, int dof, double *rows, int n, int stride) {
    (void)p;
    for (int c = 0; c < n; c++) {
        double *x = rows + (size_t)dof * (size_t)stride + c, y[3];
        for (int i = 0; i < 3; i++)
            y[i] = R[i] * x[0] + R[3 + i] * x[stride] + R[6 + i] * x[2 * (size_t)stride];
        for (int i = 0; i < 3; i++) x[(size_t)i * (size_t)stride] = y[i];
    }
}

static void transpose(double *A, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            const double keep = A[i * n + j];
            A[i * n + j] = A[j * n + i];
            A[j * n + i] = keep;
        }
}

static void compare_dynamics(pair *p, difference *out) {
    const int n = p->m->nv, nv = snw_robot_nv(p->robot);
    double *M = malloc(((size_t)n * (size_t)n + 1) * sizeof *M),
           *own = malloc(((size_t)nv * (size_t)nv + 1) * sizeof *own),
           *h = malloc(((size_t)nv + 1) * sizeof *h), *f = malloc(((size_t)n + 1) * sizeof *f);
    if (!M || !own || !h || !f) abort();
    mj_fullM(p->m, M, p->d->qM);
    for (int i = 0; i < n; i++)
        f[i] = p->d->qfrc_bias[i] - p->d->qfrc_passive[i] - p->d->qfrc_actuator[i];
    for (int j = 0; j < p->m->njnt; j++) {
        if (p->m->jnt_type[j] != mjJNT_FREE) continue;
        const double *R = p->d->xmat + 9 * p->m->jnt_bodyid[j];
        const int dof = p->m->jnt_dofadr[j];
        turn_free(p, R, dof, M, n, n);
        transpose(M, n);
        turn_free(p, R, dof, M, n, n);
        transpose(M, n);
        turn_free(p, R, dof, f, 1, 1);
    }
    if (snw_robot_mass(p->robot, own) != SNW_OK || snw_robot_bias(p->robot, h) != SNW_OK) abort();
    double size, wrong = 0, force = 1e-300, off = 0;
    for (int i = 0; i < n; i++) {
        const int a = p->of_dof[i];
        force = fmax(force, fabs(f[i]));
        off = largest(off, fabs(f[i] - h[a]));
        for (int j = 0; j < n; j++) {
            // relative to the geometric mean of the diagonal, so that small links count
            size = sqrt(M[i * n + i] * M[j * n + j]);
            wrong = largest(wrong, fabs(M[i * n + j] - own[p->of_dof[j] * nv + a]) / size);
        }
    }
    out->mass = largest(out->mass, wrong);
    // of a robot in balance relative to its weight at a lever of a millimetre
    double weight = 0;
    for (int b = 0; b < p->m->nbody; b++) weight += 9.81 * p->m->body_mass[b];
    out->force = largest(out->force, off / fmax(force, 1e-3 * weight));
    free(M), free(own), free(h), free(f);
}

static void compare_poses(pair *p, difference *out) {
    double wrong = 0, size = 1;
    for (int b = 1; b < p->m->nbody; b++) {
        const char *name = mj_id2name(p->m, mjOBJ_BODY, b);
        const int link = name ? snw_imported_find_link(&p->imported, name) : -1;
        snw_place at;
        double pose[16];
        if (link < 0) continue;
        if (snw_robot_find_place(p->robot, p->imported.link[link].word, &at) != SNW_OK ||
            snw_robot_pose(p->robot, at, pose) != SNW_OK)
            abort();
        for (int i = 0; i < 3; i++) {
            size = fmax(size, fabs(p->d->xpos[3 * b + i]));
            wrong = largest(wrong, fabs(pose[12 + i] - p->d->xpos[3 * b + i]));
            for (int k = 0; k < 3; k++)
                wrong = largest(wrong, fabs(pose[4 * k + i] - p->d->xmat[9 * b + 3 * i + k]));
        }
    }
    out->pose = largest(out->pose, wrong / size);
}

static const char *compare_all(pair *p, difference *out) {
    const int n = p->m->nv;
    bool friction = false;
    for (int i = 0; i < n; i++) friction = friction || p->m->dof_frictionloss[i] > 0;
    p->of_dof = calloc((size_t)n + 1, sizeof *p->of_dof);
    if (!p->of_dof) abort();
    for (int i = 0; i < p->m->nu; i++) p->m->actuator_ctrllimited[i] = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        for (int j = 0; j < p->m->njnt; j++) {
            // velocities of free joints have other axes, and dry friction is a constraint there
            if (!set_joint(p, j, trial > 0 && !p->floats && !friction))
                return "a joint has no partner";
        }
        if (p->floats) {
            memset(p->d->qvel, 0, (size_t)n * sizeof *p->d->qvel);
            memset(snw_robot_v(p->robot), 0, (size_t)snw_robot_nv(p->robot) * sizeof(double));
        }
        mj_forward(p->m, p->d);
        compare_poses(p, out);
        if (n > 0) compare_dynamics(p, out);
    }
    return NULL;
}

static int compare_pair(const char *ours, const char *theirs) {
    pair p = {.pool = snw_pool_create((size_t)256 << 20)};
    snw_error err = {0};
    difference worst = {0, 0, 0};
    const char *problem = NULL;
    char text[1000] = "";
    int status = 0;
    if (!p.pool) abort();
    if (!open_sinew(&p, ours, &err)) {
        printf("%s\trefused\t%s\n", ours, err.text);
    } else if (setjmp(on_error) != 0) {
        printf("%s\tunread\t%s\n", ours, error_text);
        p.m = NULL, p.d = NULL;
    } else if (!(p.m = mj_loadXML(theirs, NULL, text, sizeof text))) {
        for (char *c = text; *c; c++) *c = *c == '\n' ? ' ' : *c;
        printf("%s\tunread\t%s\n", ours, text);
    } else {
        p.d = mj_makeData(p.m);
        problem = compare_all(&p, &worst);
        if (problem)
            printf("%s\tunlike\t%s\n", ours, problem);
        else
            printf("%s\tsame\t%d\t%.2e\t%.2e\t%.2e\n", ours, (int)p.m->nv, worst.pose, worst.mass,
                   worst.force);
        status = problem != NULL || !(worst.pose < 1e-6);
    }
    if (p.d) mj_deleteData(p.d);
    if (p.m) mj_deleteModel(p.m);
    free(p.of_dof);
    snw_robot_close(p.robot);
    snw_pool_destroy(p.pool);
    return status;
}

int main(int argc, char **argv) {
    int failed = 0;
    mju_user_error = keep_error;
    mju_user_warning = no_warning;
    for (int i = 1; i + 1 < argc; i += 2)
        failed |= compare_pair(argv[i], strcmp(argv[i + 1], "-") == 0 ? argv[i] : argv[i + 1]);
    return failed;
}
