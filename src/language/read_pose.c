// SPDX-License-Identifier: MIT
//
// Reads poses: `{xyz: [..], rpy: [..]}`, or the rotation by a quaternion, by axis and angle, or by
// the directions of axes.
#include "language/read.h"

#include "base/fail.h"

#include <math.h>

#define POSE_KEYS(X)                                                                               \
    X(POSE_XYZ, "xyz", "three lengths, m, laws of t", "position of the origin")                    \
    X(POSE_RPY, "rpy", "three angles, rad, laws of t", "about x, then y, then z of the parent")    \
    X(POSE_QUAT, "quat", "w, x, y, z", "unit quaternion")                                          \
    X(POSE_AXIS, "axis", "x y z or a vector", "axis of the turn by angle")                         \
    X(POSE_ANGLE, "angle", "rad, law of t", "turn about axis")                                     \
    X(POSE_X, "x", "x y z or a vector", "direction of the local x axis in the parent")             \
    X(POSE_Y, "y", "x y z or a vector", "direction of the local y axis")                           \
    X(POSE_Z, "z", "x y z or a vector", "direction of the local z axis")

enum { POSE_KEYS(SNW_KEY_CODE) POSE_N };
SNW_KEYS(pose, "pose", "a pose", POSE_KEYS);

static const double LOOSE = 1e-3; // tolerance on the norm of a quaternion
static const double SQUARE =
    1e-6; // tolerance on the dot product of two axes that must be perpendicular

// R = Rz(yaw) Ry(pitch) Rx(roll)
static snw_status read_rpy(snw_reader *r, const snw_node *node, snw_pose_desc *out) {
    snw_law angle[3];
    SNW_TRY(snw_read_laws(r, node, "rpy", SNW_DIM_NONE, SNW_VAR_T, angle));
    for (int i = 2; i >= 0; i--) {
        double value = 0;
        if (snw_law_constant(angle[i], &value) && value == 0) continue;
        snw_turn *turn = &out->turn[out->nturn++];
        *turn = (snw_turn){.angle = angle[i]};
        turn->axis.e[i] = 1;
    }
    return SNW_OK;
}

static snw_status read_quaternion(snw_reader *r, const snw_node *node, snw_pose_desc *out) {
    SNW_TRY(snw_read_list(r, node, "quat", 4));
    double q[4], sum = 0;
    for (int i = 0; i < 4; i++) {
        SNW_TRY(snw_read_constant(r, node->entry[i].value, "quat", SNW_DIM_NONE, &q[i]));
        sum += q[i] * q[i];
    }
    const double size = sqrt(sum);
    if (!(fabs(size - 1) <= LOOSE)) {
        return snw_fail_at(r->err, node->location, "'quat' must have length 1, this has %g", size);
    }
    const double w = q[0] / size, x = q[1] / size, y = q[2] / size, z = q[3] / size;
    out->R0 = (snw_mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                          {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                          {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
    return SNW_OK;
}

static snw_status read_axis_angle(snw_reader *r, const snw_entry *axis, const snw_entry *angle,
                                  snw_pose_desc *out) {
    if (!axis || !angle) {
        return snw_fail_at(r->err, (axis ? axis : angle)->location, "'%s' needs '%s' beside it",
                           (axis ? axis : angle)->key, axis ? "angle" : "axis");
    }
    SNW_TRY(snw_read_direction(r, axis->value, "axis", &out->turn[0].axis));
    SNW_TRY(snw_read_law(r, angle->value, "angle", SNW_DIM_NONE, SNW_VAR_T, &out->turn[0].angle));
    out->nturn = 1;
    return SNW_OK;
}

static void set_column(snw_mat3 *R, int j, snw_vec3 a) {
    for (int i = 0; i < 3; i++) R->e[i][j] = a.e[i];
}

// smallest rotation that takes the local axis e to direction d: with c = e . d and w = e x d, R = 1
// + [w] + [w]^2/(1 + c)
static snw_status align_axis(snw_reader *r, const snw_entry *e, int axis, snw_vec3 d,
                             snw_pose_desc *out) {
    snw_vec3 from = {{0, 0, 0}};
    from.e[axis] = 1;
    const double c = d.e[axis];
    if (1 + c < 1e-12) {
        return snw_fail_at(r->err, e->location,
                           "'%s' is turned by 180 degrees, about an axis that is not determined: "
                           "give the direction of a second axis",
                           e->key);
    }
    const snw_vec3 w = snw_cross(from, d);
    for (int j = 0; j < 3; j++) {
        snw_vec3 u = {{0, 0, 0}};
        u.e[j] = 1;
        const snw_vec3 wu = snw_cross(w, u);
        set_column(&out->R0, j, snw_add(u, snw_add(wu, snw_scale(1 / (1 + c), snw_cross(w, wu)))));
    }
    return SNW_OK;
}

static snw_status pose_read_axes(snw_reader *r, const snw_entry *const e[3], snw_pose_desc *out) {
    snw_vec3 d[3];
    int given = 0, first = -1, second = -1;
    for (int i = 0; i < 3; i++) {
        if (!e[i]) continue;
        SNW_TRY(snw_read_direction(r, e[i]->value, e[i]->key, &d[i]));
        given++;
        if (first < 0) {
            first = i;
        } else if (second < 0) {
            second = i;
        }
    }
    if (given == 1) return align_axis(r, e[first], first, d[first], out);
    if (!(fabs(snw_dot(d[first], d[second])) <= SQUARE)) {
        return snw_fail_at(r->err, e[second]->location, "'%s' and '%s' must be at a right angle",
                           e[first]->key, e[second]->key);
    }
    // orthogonalise, keeping the first axis
    d[second] = snw_add(d[second], snw_scale(-snw_dot(d[first], d[second]), d[first]));
    d[second] = snw_scale(1 / sqrt(snw_dot(d[second], d[second])), d[second]);
    const int third = 3 - first - second;
    const bool rising = (first + 1) % 3 == second;
    const snw_vec3 last = rising ? snw_cross(d[first], d[second]) : snw_cross(d[second], d[first]);
    if (given == 3 && !(snw_dot(last, d[third]) >= 1 - SQUARE)) {
        return snw_fail_at(r->err, e[third]->location,
                           "'%s' does not complete a right-handed frame; leave it out",
                           e[third]->key);
    }
    set_column(&out->R0, first, d[first]);
    set_column(&out->R0, second, d[second]);
    set_column(&out->R0, third, last);
    return SNW_OK;
}

snw_status snw_read_pose(snw_reader *r, const snw_node *node, snw_pose_desc *out) {
    const snw_entry *e[POSE_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_pose, e));
    *out = snw_pose_desc_identity();
    if (e[POSE_XYZ]) {
        SNW_TRY(snw_read_laws(r, e[POSE_XYZ]->value, "xyz", SNW_DIM_LENGTH, SNW_VAR_T, out->xyz));
    }
    const bool turned = e[POSE_AXIS] || e[POSE_ANGLE];
    const bool pointed = e[POSE_X] || e[POSE_Y] || e[POSE_Z];
    if ((e[POSE_RPY] ? 1 : 0) + (e[POSE_QUAT] ? 1 : 0) + turned + pointed > 1) {
        return snw_fail_at(
            r->err, node->location,
            "give the rotation of a pose in one way: rpy, or quat, or axis and angle, or x, y, z");
    }
    if (e[POSE_RPY]) return read_rpy(r, e[POSE_RPY]->value, out);
    if (e[POSE_QUAT]) return read_quaternion(r, e[POSE_QUAT]->value, out);
    if (turned) return read_axis_angle(r, e[POSE_AXIS], e[POSE_ANGLE], out);
    if (pointed) return pose_read_axes(r, &e[POSE_X], out);
    return SNW_OK;
}

snw_status snw_read_pose_constant(snw_reader *r, const snw_node *node, snw_se3 *out) {
    snw_pose_desc pose;
    SNW_TRY(snw_read_pose(r, node, &pose));
    if (snw_pose_desc_vars(&pose) != 0) {
        return snw_fail_at(r->err, node->location,
                           "this pose must be constant, it depends on t; the pose of a link may "
                           "move");
    }
    *out = snw_pose_desc_at(&pose, 0);
    return SNW_OK;
}
