// SPDX-License-Identifier: MIT
//
// Errors from targets, and their derivatives.
#include "study/target_error.h"

static snw_vec3 vector_at(const double *x) { return (snw_vec3){{x[0], x[1], x[2]}}; }

snw_mat3 snw_target_rotation(int n, const double *x) {
    return n == 4 ? snw_so3_from_numbers(x) : snw_so3_exp(vector_at(x));
}

void snw_target_columns(int n, snw_mat3 R, double *x) {
    if (n == 4) {
        const snw_quat q = snw_quat_from_mat3(R);
        for (int k = 0; k < 4; k++) x[k] = q.e[k];
    } else {
        const snw_vec3 turn = snw_so3_log(R);
        for (int k = 0; k < 3; k++) x[k] = turn.e[k];
    }
}

snw_vec3 snw_target_turn(snw_mat3 A, snw_mat3 B) {
    return snw_so3_log(snw_mat3_mul(snw_mat3_transpose(A), B));
}

// Body rotation by a change dx of the n columns x: T(x) dx, or twice the vector of x^-1 dx.
static snw_vec3 body_turn(int n, const double *x, const double *dx) {
    if (n == 3) return snw_rotate(snw_so3_tangent(vector_at(x)), vector_at(dx));
    const snw_vec3 v = vector_at(x + 1), dv = vector_at(dx + 1);
    const snw_vec3 sum = snw_sub(snw_scale(x[0], dv), snw_scale(dx[0], v));
    return snw_scale(2, snw_sub(sum, snw_cross(v, dv)));
}

void snw_target_errors(int n, const int *turns, const double *aim, const double *y, double *e) {
    for (int i = 0; i < n; i++) {
        const int k = turns[i];
        e[i] = y[i] - aim[i];
        if (k == 0) continue;
        const snw_vec3 turn =
            snw_target_turn(snw_target_rotation(k, aim + i), snw_target_rotation(k, y + i));
        for (int j = 0; j < k; j++) e[i + j] = j < 3 ? turn.e[j] : 0;
        i += k - 1;
    }
}

// Change of the error of the rotation that begins at i.
static snw_vec3 turn_along(int k, const double *aim, const double *y, const double *dy) {
    const snw_vec3 error = snw_target_turn(snw_target_rotation(k, aim), snw_target_rotation(k, y));
    return snw_rotate(snw_so3_tangent_inv(error), body_turn(k, y, dy));
}

void snw_target_errors_along(int n, const int *turns, const double *aim, const double *y,
                             const double *dy, double *de) {
    for (int i = 0; i < n; i++) {
        const int k = turns[i];
        de[i] = dy[i];
        if (k == 0) continue;
        const snw_vec3 d = turn_along(k, aim + i, y + i, dy + i);
        for (int j = 0; j < k; j++) de[i + j] = j < 3 ? d.e[j] : 0;
        i += k - 1;
    }
}

void snw_target_errors_back(int n, const int *turns, const double *aim, const double *y,
                            const double *e_bar, double *y_bar) {
    for (int i = 0; i < n; i++) {
        const int k = turns[i];
        if (k == 0) {
            y_bar[i] += e_bar[i];
            continue;
        }
        for (int j = 0; j < k; j++) {
            double unit[4] = {0};
            unit[j] = 1;
            y_bar[i + j] += snw_dot(vector_at(e_bar + i), turn_along(k, aim + i, y + i, unit));
        }
        i += k - 1;
    }
}
