// SPDX-License-Identifier: MIT
//
// A soft arm reaches for a point: this program finds the tensions of two tendons that bring the tip
// of a hanging arm to a given place beside it. Each step of Newton's method takes the equilibrium,
// the Jacobian J of the tip and the stiffness K there. A tension T acts on the coordinates with the
// force g per newton, so K dq = g dT, and the tip moves by J K^-1 g dT. All derivatives are exact:
// five steps suffice.
//
//   cc reach.c $(pkg-config --cflags --libs sinew) -lm -o reach && ./reach
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "materials: {silicone: {young: 1 MPa, poisson: 0.48, density: 1100}}\n"
    "robot:\n"
    "  arm: {on: world, pose: {rpy: [0, 90 deg, 0]}, rod: {length: 0.3, section: {circle: {radius: "
    "10 mm}},\n"
    "        material: silicone, strain: {bend_y: legendre 3, bend_z: legendre 3}}}\n"
    "actuators:\n"
    "  front: {tendon: {along: arm, at: [0, 0, 8 mm]}, effort: 0 N}\n"
    "  side: {tendon: {along: arm, at: [0, 8 mm, 0]}, effort: 0 N}\n";

enum { TENDONS = 2, MOST = 16 };
static const double goal[TENDONS] = {0.06, 0.08}; // x and y of the tip, m

// x <- A^-1 x for the n x n matrix A, by columns; A is destroyed
static void solve(int n, double *A, double *x) {
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(A[n * k + i]) > fabs(A[n * k + pivot])) pivot = i;
        }
        for (int j = 0; j < n; j++) {
            const double held = A[n * j + k];
            A[n * j + k] = A[n * j + pivot], A[n * j + pivot] = held;
        }
        const double held = x[k];
        x[k] = x[pivot], x[pivot] = held;
        for (int i = k + 1; i < n; i++) {
            const double f = A[n * k + i] / A[n * k + k];
            for (int j = k; j < n; j++) A[n * j + i] -= f * A[n * j + k];
            x[i] -= f * x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) x[k] -= A[n * j + k] * x[j];
        x[k] /= A[n * k + k];
    }
}

// move (2) <- displacement of the tip for one more newton of this tendon, at tension T
static snw_status response(snw_robot *r, int tendon, double T, const double *J, double *move,
                           snw_error *err) {
    const int n = snw_robot_nv(r);
    double K[MOST * MOST], with[MOST], dq[MOST], more = T + 1;
    snw_status s = snw_robot_tangent(r, K, NULL, NULL);
    if (s == SNW_OK) s = snw_robot_inverse_dynamics(r, dq);
    if (s == SNW_OK) s = snw_robot_set_effort(r, tendon, &more, err);
    if (s == SNW_OK) s = snw_robot_inverse_dynamics(r, with);
    if (s == SNW_OK) s = snw_robot_set_effort(r, tendon, &T, err);
    if (s != SNW_OK) return s;
    for (int i = 0; i < n; i++) dq[i] -= with[i]; // force of one newton, which is linear in T
    solve(n, K, dq);
    for (int i = 0; i < 2; i++) {
        move[i] = 0;
        for (int j = 0; j < n; j++) move[i] += J[6 * j + 3 + i] * dq[j];
    }
    return SNW_OK;
}

static snw_status reach(snw_robot *r, double *missing, snw_error *err) {
    const char *const name[TENDONS] = {"front", "side"};
    double T[TENDONS] = {1, 1}, J[6 * MOST], A[TENDONS * TENDONS], pose[16], dT[TENDONS];
    snw_place tip;
    snw_status s = snw_robot_find_place(r, "arm.tip", &tip);
    for (int k = 0; s == SNW_OK && k < 8; k++) {
        for (int i = 0; s == SNW_OK && i < TENDONS; i++)
            s = snw_robot_set_effort(r, snw_robot_actuator(r, name[i]), &T[i], err);
        if (s == SNW_OK) s = snw_robot_equilibrium(r, 0, err);
        if (s == SNW_OK) s = snw_robot_pose(r, tip, pose);
        if (s == SNW_OK) s = snw_robot_jacobian(r, tip, SNW_AXES_WORLD, J, NULL);
        for (int i = 0; s == SNW_OK && i < TENDONS; i++)
            s = response(r, snw_robot_actuator(r, name[i]), T[i], J, A + TENDONS * i, err);
        if (s != SNW_OK) return s;
        for (int i = 0; i < TENDONS; i++) dT[i] = goal[i] - pose[12 + i];
        *missing = hypot(dT[0], dT[1]);
        printf("tensions %8.5f %8.5f N   tip at %8.5f %8.5f m   %.1e m to go\n", T[0], T[1],
               pose[12], pose[13], *missing);
        if (*missing < 1e-12) break;
        solve(TENDONS, A, dT);
        for (int i = 0; i < TENDONS; i++) T[i] += dT[i];
    }
    return s;
}

int main(void) {
    snw_error err = {0};
    snw_robot_model *m = NULL;
    snw_robot *r = NULL;
    double missing = INFINITY;
    snw_status s = snw_robot_model_parse("arm", arm, strlen(arm), NULL, 0, NULL, &m, &err);
    if (s == SNW_OK) s = snw_robot_from_model(m, &r, &err);
    for (int i = 0; s == SNW_OK && i < snw_robot_model_parts(m, SNW_PART_COORDINATE); i++) {
        snw_part q;
        s = snw_robot_model_part(m, SNW_PART_COORDINATE, i, &q);
        if (s == SNW_OK) printf("q[%d] %s, %s\n", i, q.name, q.unit);
    }
    if (s == SNW_OK && snw_robot_nv(r) <= MOST) s = reach(r, &missing, &err);
    if (s != SNW_OK) fprintf(stderr, "%s\n", err.text[0] ? err.text : snw_robot_error(r)->text);
    snw_robot_close(r);
    snw_robot_model_close(m);
    return !(missing < 1e-9);
}
