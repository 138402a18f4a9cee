// SPDX-License-Identifier: MIT
//
// Loop closures and contacts without slip: rows, reaction wrenches, constraint Jacobian, geometric
// stiffness and rates, theory.md 3.8 and 3.15. Raw rows follow from the joint or contact kind; the
// rows of the model are combinations of them (loop->coefficient).

#include "dynamics/constraint.h"

#include "dynamics/contact.h"
#include "dynamics/tendon.h"
#include "dynamics/wheel.h"

#include <math.h>
#include <string.h>

// ---- raw rows of a joint ----------------------------------------------------

static const snw_row *closure_rows_of(const snw_loop *loop) {
    static const snw_row coupled = {.kind = SNW_ROW_COUPLED};
    if (loop->ncoupled > 0) return &coupled;
    return loop->nonholonomic ? snw_nonholonomic_table[loop->nonholonomic].row
                              : snw_joint_table[loop->joint].row;
}

// ---- row of a screw, theory.md (3.8.6) ---------------------------------------

// The angle about z of a rotation R: tan theta = s/d with s = R_10 - f R_01, d = R_00 + f R_11. f
// is 1, and -1 where the z axes are opposite: the screw fits the other way round, too. Under a
// rotation w in the axes of b, R_ij varies by w (e_j x u_i) with u_i row i of R, so s and d vary by
// w A and w B.
typedef struct screw_angle {
    double f, s, d;
    snw_vec3 A, B;
} screw_angle;

// A and B of two rows of a matrix: those of R, or their variations.
static void screw_axes(double f, snw_vec3 u0, snw_vec3 u1, snw_vec3 *A, snw_vec3 *B) {
    const snw_vec3 x = snw_unit_vector(0), y = snw_unit_vector(1);
    *A = snw_sub(snw_cross(x, u1), snw_scale(f, snw_cross(y, u0)));
    *B = snw_add(snw_cross(x, u0), snw_scale(f, snw_cross(y, u1)));
}

static screw_angle screw_angle_of(snw_mat3 R) {
    const double f = snw_select(R.e[2][2] < 0, -1, 1);
    screw_angle t = {.f = f, .s = R.e[1][0] - f * R.e[0][1], .d = R.e[0][0] + f * R.e[1][1]};
    screw_axes(f, snw_mat3_row(R, 0), snw_mat3_row(R, 1), &t.A, &t.B);
    return t;
}

// The thread of the row: a screw of pitch P is on all surfaces p_z = P (theta/2 pi + n) at once, so
// that the distance from the nearest one is the row, and turns need not be counted.
static double screw_value(double pitch, snw_se3 h) {
    const screw_angle t = screw_angle_of(h.R);
    const double turns = h.p.z / pitch - atan2(t.s, t.d) / (2 * M_PI);
    return pitch * (turns - floor(turns + 0.5));
}

// Derivative of the angle by a rotation.
static snw_vec3 screw_angle_d1(const screw_angle *t) {
    const double square = t->s * t->s + t->d * t->d;
    return snw_scale(1 / square, snw_sub(snw_scale(t->d, t->A), snw_scale(t->s, t->B)));
}

// Its variation under a rotation w.
static snw_vec3 screw_angle_d2(snw_mat3 R, snw_vec3 w) {
    const screw_angle t = screw_angle_of(R);
    const double square = t.s * t.s + t.d * t.d, ds = snw_dot(t.A, w), dd = snw_dot(t.B, w);
    snw_vec3 dA, dB;
    screw_axes(t.f, snw_cross(snw_mat3_row(R, 0), w), snw_cross(snw_mat3_row(R, 1), w), &dA, &dB);
    snw_vec3 sum = snw_sub(snw_scale(dd, t.A), snw_scale(ds, t.B));
    sum = snw_add(sum, snw_sub(snw_scale(t.d, dA), snw_scale(t.s, dB)));
    const double shrink = 2 * (t.s * ds + t.d * dd);
    return snw_scale(1 / square, snw_sub(sum, snw_scale(shrink, screw_angle_d1(&t))));
}

// ---- rows of all kinds -------------------------------------------------------

static double row_value(const snw_loop *loop, snw_row r, snw_se3 h) {
    switch (r.kind) {
    case SNW_ROW_LOG:
        return snw_so3_log(h.R).e[r.i];
    case SNW_ROW_TILT:
        return h.R.e[r.i][r.j];
    case SNW_ROW_MOVE:
        return h.p.e[r.i];
    case SNW_ROW_SCREW:
        return screw_value(loop->pitch, h);
    case SNW_ROW_SPIN:
    case SNW_ROW_SLIP:
    case SNW_ROW_AXLE:
    case SNW_ROW_ROLL:
        break; // nonholonomic
    case SNW_ROW_COUPLED:
        break; // closure_coupled
    }
    return 0;
}

// sum of factor x over the coordinates of a linear constraint, theory.md (3.8.5)
static double closure_coupled(const snw_loop *loop, const int *index, const double *x) {
    double sum = 0;
    for (int k = 0; k < loop->ncoupled; k++) sum += loop->factor[k] * x[index[k]];
    return sum;
}

// direction in which a wheel rolls, in its axes (axle z); with w its variation under a rotation w
static snw_vec3 rolling_direction(const snw_loop *loop, snw_se3 h, const snw_vec3 *w) {
    return snw_wheel_forward(snw_unit_vector(2), snw_rotate_inv(h.R, loop->normal), w);
}

// c: the row varies by c delta, theory.md (3.8.1)
static snw_wrench row_jacobian(const snw_loop *loop, snw_row r, snw_se3 h) {
    snw_wrench c = {0};
    switch (r.kind) {
    case SNW_ROW_LOG: // delta log R = T^-1 delta_w
        c.m = snw_mat3_row(snw_so3_tangent_inv(snw_so3_log(h.R)), r.i);
        break;
    case SNW_ROW_TILT: // e_i R (delta_w x e_j)
        c.m = snw_cross(snw_unit_vector(r.j), snw_mat3_row(h.R, r.i));
        break;
    case SNW_ROW_MOVE: // e_i R delta_v
        c.f = snw_mat3_row(h.R, r.i);
        break;
    case SNW_ROW_SCREW: { // e_z R delta_v - P/(2 pi) delta theta
        const screw_angle t = screw_angle_of(h.R);
        c.f = snw_mat3_row(h.R, r.i);
        c.m = snw_scale(-loop->pitch / (2 * M_PI), screw_angle_d1(&t));
        break;
    }
    case SNW_ROW_SPIN:
        c.m = snw_unit_vector(r.i);
        break;
    case SNW_ROW_SLIP:
        c.f = snw_unit_vector(r.i);
        break;
    case SNW_ROW_AXLE: // a (v + w x p), touching point p = -radius f x a
        c.f = snw_unit_vector(2);
        c.m = snw_scale(loop->radius, rolling_direction(loop, h, NULL));
        break;
    case SNW_ROW_ROLL: // f (v + w x p)
        c.f = rolling_direction(loop, h, NULL);
        c.m = snw_scale(-loop->radius, snw_unit_vector(2));
        break;
    case SNW_ROW_COUPLED:
        break; // no wrench: it acts on the coordinates
    }
    return c;
}

// variation of c under a rotation w: R' e_i varies by (R' e_i) x w
static snw_wrench row_jacobian_d1(const snw_loop *loop, snw_row r, snw_se3 h, snw_vec3 w) {
    snw_wrench d = {0};
    const snw_vec3 u = snw_mat3_row(h.R, r.i);
    switch (r.kind) {
    case SNW_ROW_LOG: { // c = T^-1(-theta) e_i, theta varies by T^-1(theta) w
        const snw_vec3 theta = snw_so3_log(h.R);
        const snw_vec3 turn = snw_rotate(snw_so3_tangent_inv(theta), w);
        d.m =
            snw_so3_tangent_inv_d1(snw_scale(-1, theta), snw_unit_vector(r.i), snw_scale(-1, turn));
        break;
    }
    case SNW_ROW_TILT:
        d.m = snw_cross(snw_unit_vector(r.j), snw_cross(u, w));
        break;
    case SNW_ROW_MOVE:
        d.f = snw_cross(u, w);
        break;
    case SNW_ROW_SCREW:
        d.f = snw_cross(u, w);
        d.m = snw_scale(-loop->pitch / (2 * M_PI), screw_angle_d2(h.R, w));
        break;
    case SNW_ROW_SPIN:
    case SNW_ROW_SLIP:
        break; // fixed to b
    case SNW_ROW_COUPLED:
        break;
    case SNW_ROW_AXLE:
        d.m = snw_scale(loop->radius, rolling_direction(loop, h, &w));
        break;
    case SNW_ROW_ROLL:
        d.f = rolling_direction(loop, h, &w);
        break;
    }
    return d;
}

// ---- a loop at the motion in w ----------------------------------------------

// the second site is a segment or a station that slides along a rod
static snw_se3 pose_b(const snw_work *w, const snw_loop *loop) {
    return loop->sliding_station ? w->sliding_station[loop->sliding_station - 1].g : w->g[loop->b];
}
static snw_twist velocity_b(const snw_work *w, const snw_loop *loop) {
    return loop->sliding_station ? w->sliding_station[loop->sliding_station - 1].V_row
                                 : w->V[loop->b];
}
static snw_twist acceleration_b(const snw_work *w, const snw_loop *loop) {
    return loop->sliding_station ? w->sliding_station[loop->sliding_station - 1].A_row
                                 : w->A[loop->b];
}

snw_se3 snw_loop_pose(const snw_model *m, const snw_work *w, int i) {
    return pose_b(w, &m->loop[i]);
}

static snw_se3 relative_pose(const snw_work *w, const snw_loop *loop) {
    return snw_se3_mul(snw_se3_inv(w->g[loop->a]), pose_b(w, loop));
}

// relative pose in the axes of the joint
static snw_se3 in_axes(const snw_loop *loop, snw_se3 h_ab) {
    const snw_mat3 Qt = snw_mat3_transpose(loop->Q);
    return (snw_se3){snw_mat3_mul(Qt, snw_mat3_mul(h_ab.R, loop->Q)), snw_rotate(Qt, h_ab.p)};
}

// multipliers of the raw rows
static void raw_multipliers(const snw_loop *loop, const double *lambda, double raw[6]) {
    for (int k = 0; k < loop->nraw; k++) {
        raw[k] = 0;
        for (int r = 0; r < loop->nrow; r++)
            raw[k] += loop->coefficient[r][k] * lambda[loop->row + r];
    }
}

static snw_wrench wrench_in_axes(const snw_loop *loop, snw_se3 h, const double raw[6]) {
    const snw_row *rows = closure_rows_of(loop);
    snw_wrench F = {0};
    for (int k = 0; k < loop->nraw; k++)
        F = snw_wrench_axpy(raw[k], row_jacobian(loop, rows[k], h), F);
    return F;
}

// Friction of a rod that slides through the loop, theory.md (3.18.3): the force
// friction normal direction resists the arc length at the loop.
typedef struct slip {
    double normal;    // N: force of the loop across the rod
    snw_vec3 across;  // its direction, in the axes of the joint; zero without force
    double direction; // rate/sqrt(rate^2 + creep^2), and its derivative by the rate, s/m
    double direction_d1;
} slip;

static slip closure_slip(const snw_work *w, const snw_loop *loop, snw_se3 h, const double raw[6]) {
    const snw_vec3 F = wrench_in_axes(loop, h, raw).f, along = snw_mat3_row(loop->Q, 0);
    const snw_vec3 side = snw_sub(F, snw_scale(snw_dot(F, along), along));
    const double rate = w->is_static ? 0 : w->feed[loop->through - 1].dl,
                 size = sqrt(rate * rate + loop->creep * loop->creep);
    slip x = {.normal = sqrt(snw_dot(side, side)),
              .direction = rate / size,
              .direction_d1 = loop->creep * loop->creep / (size * size * size)};
    x.across = snw_scale(snw_select(x.normal > 0, 1 / x.normal, 0), side);
    return x;
}

// a twist in the axes of the joint
static snw_twist closure_twist_in_axes(const snw_loop *loop, snw_twist u) {
    const snw_mat3 Qt = snw_mat3_transpose(loop->Q);
    return (snw_twist){{snw_rotate(Qt, u.w), snw_rotate(Qt, u.v)}};
}

static snw_wrench closure_wrench_from_axes(snw_mat3 Q, snw_wrench F) {
    return (snw_wrench){{snw_rotate(Q, F.m), snw_rotate(Q, F.f)}};
}

// axis of the first site that axis i of the joint coincides with; 3 + i if the axes are not aligned
static int named_axis(const snw_loop *loop, int i) {
    int axis[3] = {-1, -1, -1};
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) {
            if (snw_all(fabs(loop->Q.e[k][j]) > 1 - 1e-9)) axis[j] = k;
        }
    }
    return axis[0] >= 0 && axis[1] >= 0 && axis[2] >= 0 ? axis[i] : 3 + i;
}

const char *snw_loop_row_name(const snw_loop *loop, int k) {
    static const char *const name[][6] = {
        {"turn x", "turn y", "turn z", "turn first across", "turn second across", "turn along"},
        {"tilt x", "tilt y", "tilt z", "tilt first across", "tilt second across", "tilt along"},
        {"move x", "move y", "move z", "move first across", "move second across", "move along"}};
    const snw_row r = closure_rows_of(loop)[k];
    const int axis = named_axis(loop, r.i);
    switch (r.kind) {
    case SNW_ROW_LOG:
    case SNW_ROW_SPIN:
        return name[0][axis];
    case SNW_ROW_TILT:
        return name[1][axis];
    case SNW_ROW_MOVE:
    case SNW_ROW_SLIP:
        return name[2][axis];
    case SNW_ROW_SCREW:
        return "screw";
    case SNW_ROW_AXLE:
        return "move along the axle";
    case SNW_ROW_ROLL:
        return "move across the axle";
    case SNW_ROW_COUPLED:
        return loop->keeps_length ? "length" : "coordinates";
    }
    return "";
}

double snw_loop_row_size(const snw_model *m, const snw_loop *loop, int k) {
    const snw_row_kind kind = closure_rows_of(loop)[k].kind;
    if (kind == SNW_ROW_COUPLED && !loop->keeps_length) return m->typical[loop->dof[0]];
    return kind == SNW_ROW_LOG || kind == SNW_ROW_TILT || kind == SNW_ROW_SPIN ? 1 : m->length;
}

bool snw_loop_row_is_moment(const snw_loop *loop, int r) {
    bool turns = true;
    for (int k = 0; k < loop->nraw; k++) {
        const snw_row_kind kind = closure_rows_of(loop)[k].kind;
        turns &= snw_all(loop->coefficient[r][k] == 0) || kind == SNW_ROW_LOG ||
                 kind == SNW_ROW_TILT || kind == SNW_ROW_SPIN;
    }
    return turns;
}

void snw_loop_closing(const snw_model *m, const snw_work *w, int i, double *rows) {
    const snw_loop *loop = &m->loop[i];
    const bool forbids_all =
        loop->nraw == 6 && loop->nonholonomic_index < 0 && snw_is_active(w, loop->condition);
    const snw_se3 h = in_axes(loop, relative_pose(w, loop));
    const snw_twist screw = snw_se3_log(h);
    for (int r = 0; r < loop->nrow; r++) {
        rows[r] = forbids_all ? 0 : w->violation[loop->row + r];
        for (int k = 0; forbids_all && k < 6 && snw_closure_row_is_active(loop, w, r); k++) {
            const snw_wrench c = row_jacobian(loop, closure_rows_of(loop)[k], h);
            rows[r] += loop->coefficient[r][k] * snw_power(c, screw);
        }
    }
}

// a single raw row has its own unit; combinations are of rows already divided by their units
double snw_loop_kept_size(const snw_model *m, const snw_loop *loop, int r) {
    int n = 0, k = 0;
    for (int a = 0; a < loop->nraw; a++) {
        if (snw_any(loop->coefficient[r][a] != 0)) n++, k = a;
    }
    return n == 1 && snw_all(loop->coefficient[r][k] == 1) ? snw_loop_row_size(m, loop, k) : 1;
}

snw_wrench snw_loop_row(const snw_model *m, const snw_work *w, int i, int r) {
    const snw_loop *loop = &m->loop[i];
    snw_wrench c = {0};
    if (!snw_is_active(w, loop->condition) || !snw_closure_row_is_active(loop, w, r)) return c;
    const snw_se3 h = in_axes(loop, relative_pose(w, loop));
    for (int k = 0; k < loop->nraw; k++) {
        if (snw_all(loop->coefficient[r][k] == 0)) continue;
        c = snw_wrench_axpy(loop->coefficient[r][k],
                            row_jacobian(loop, closure_rows_of(loop)[k], h), c);
    }
    return snw_wrench_to_parent(pose_b(w, loop), closure_wrench_from_axes(loop->Q, c));
}

void snw_loop_row_wrenches(const snw_model *m, const snw_work *w, int i, int r, snw_wrench on[2]) {
    const snw_loop *loop = &m->loop[i];
    const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
    snw_wrench c = {0};
    for (int k = 0; k < loop->nraw; k++)
        c = snw_wrench_axpy(loop->coefficient[r][k],
                            row_jacobian(loop, closure_rows_of(loop)[k], h), c);
    on[1] = closure_wrench_from_axes(loop->Q, c);
    on[0] = snw_wrench_scale(-1, snw_wrench_to_parent(h_ab, on[1]));
}

// Part of wrench component e that depends on raw multipliers outside the span of the active rows.
// The active rows are orthonormal when raw rows are scaled by their typical size.
static double undetermined_part(const snw_model *m, const snw_loop *loop, const snw_work *w,
                                const snw_wrench *jacobian, int e) {
    double remainder[6], sum = 0;
    for (int k = 0; k < loop->nraw; k++) {
        remainder[k] = jacobian[k].e[e] / snw_loop_row_size(m, loop, k);
    }
    for (int r = 0; r < loop->nrow; r++) {
        double dot = 0, square = 0, unit[6];
        if (!snw_closure_row_is_active(loop, w, r)) continue;
        for (int k = 0; k < loop->nraw; k++) {
            unit[k] = loop->coefficient[r][k] * snw_loop_row_size(m, loop, k);
            dot += unit[k] * remainder[k];
            square += unit[k] * unit[k];
        }
        for (int k = 0; k < loop->nraw; k++) remainder[k] -= dot / square * unit[k];
    }
    for (int k = 0; k < loop->nraw; k++) sum += fabs(remainder[k] * snw_loop_row_size(m, loop, k));
    return sum;
}

// force on a wheel that may slip (wheel.c)
static snw_wrench slip_wrench(const snw_loop *loop, const snw_work *w) {
    return loop->contact_point ? snw_contact_point_wrench(w, loop->contact_point - 1)
                               : (snw_wrench){0};
}

snw_wrench snw_loop_known_wrench(const snw_model *m, const snw_work *w, int i) {
    const snw_loop *loop = &m->loop[i];
    double raw[6];
    if (!snw_is_active(w, loop->condition)) return (snw_wrench){0};
    raw_multipliers(loop, w->lambda, raw);
    const snw_wrench F = wrench_in_axes(loop, in_axes(loop, relative_pose(w, loop)), raw);
    return snw_wrench_add(closure_wrench_from_axes(loop->Q, F), slip_wrench(loop, w));
}

snw_wrench snw_loop_wrench(const snw_model *m, const snw_work *w, int i, const double *lambda) {
    const snw_loop *loop = &m->loop[i];
    if (!snw_is_active(w, loop->condition)) return (snw_wrench){0};
    const snw_se3 h = in_axes(loop, relative_pose(w, loop));
    double raw[6];
    raw_multipliers(loop, lambda, raw);
    snw_wrench F = closure_wrench_from_axes(loop->Q, wrench_in_axes(loop, h, raw)), jacobian[6];
    F = snw_wrench_add(F, slip_wrench(loop, w));
    int kept = 0;
    for (int r = 0; r < loop->nrow; r++) kept += snw_closure_row_is_active(loop, w, r);
    if (kept == loop->nraw) return F;
    for (int k = 0; k < loop->nraw; k++) {
        jacobian[k] =
            closure_wrench_from_axes(loop->Q, row_jacobian(loop, closure_rows_of(loop)[k], h));
    }
    for (int e = 0; e < 6; e++) {
        F.e[e] = snw_select(undetermined_part(m, loop, w, jacobian, e) > 1e-9, NAN, F.e[e]);
    }
    return F;
}

// velocity of b relative to a, in b's frame: V_b = A V_a + u
static snw_twist relative_velocity(const snw_work *w, const snw_loop *loop, snw_se3 h_ab) {
    return snw_twist_sub(velocity_b(w, loop), snw_twist_to_child(h_ab, w->V[loop->a]));
}

// velocity of the frame b relative to a: u, and at a sliding station the motion along the rod
static snw_twist frame_velocity(const snw_work *w, const snw_loop *loop, snw_twist u) {
    if (!loop->sliding_station) return u;
    const snw_sliding_station_work *at = &w->sliding_station[loop->sliding_station - 1];
    const snw_twist place = snw_twist_add(at->V, snw_twist_scale(at->x.d, at->here));
    return snw_twist_add(u, snw_twist_sub(place, at->V_row));
}

// Displacement of b relative to a since contacts were frozen: x is the twist of the screw between
// both poses, in the axes of the joint. For a rolling wheel x is that of its carrier, which points
// along f and does not turn about the axle; S are the axes of the carrier in those of the wheel,
// and spin is the rotation of the wheel relative to the carrier, at most half a turn. The forbidden
// components of x and spin replace the path integral of the rows to second order, theory.md (5.1).
typedef struct displacement {
    snw_mat3 S;
    snw_twist x;
    double spin;
} displacement;

static snw_mat3 carriage_axes(const snw_loop *loop, snw_se3 h) {
    if (loop->nonholonomic != SNW_NONHOLONOMIC_ROLL) return snw_mat3_identity();
    const snw_vec3 f = rolling_direction(loop, h, NULL), a = snw_unit_vector(2),
                   g = snw_cross(a, f);
    return (snw_mat3){{{f.x, g.x, a.x}, {f.y, g.y, a.y}, {f.z, g.z, a.z}}};
}

static displacement closure_displacement_of(const snw_work *w, const snw_loop *loop, snw_se3 h) {
    const snw_se3 from = in_axes(loop, w->frozen_pose[loop->nonholonomic_index]);
    const snw_mat3 S0 = carriage_axes(loop, from), S = carriage_axes(loop, h);
    const snw_se3 g0 = {snw_mat3_mul(from.R, S0), from.p}, g = {snw_mat3_mul(h.R, S), h.p};
    return (displacement){.S = S,
                          .x = snw_se3_log(snw_se3_mul(snw_se3_inv(g0), g)),
                          .spin = -snw_so3_log(snw_mat3_mul(snw_mat3_transpose(S0), S)).z};
}

// component of a displacement, or of its variation, that row r forbids
static double forbidden_component(const snw_loop *loop, snw_row r, snw_twist x, double spin) {
    switch (r.kind) {
    case SNW_ROW_SPIN:
        return x.w.e[r.i];
    case SNW_ROW_SLIP:
        return x.v.e[r.i];
    case SNW_ROW_AXLE:
        return x.v.z + loop->radius * x.w.x;
    case SNW_ROW_ROLL:
        return x.v.x - loop->radius * (x.w.z + spin);
    case SNW_ROW_LOG:
    case SNW_ROW_TILT:
    case SNW_ROW_MOVE:
    case SNW_ROW_SCREW:
    case SNW_ROW_COUPLED:
        break; // holonomic
    }
    return 0;
}

void snw_contacts_freeze(const snw_model *m, snw_work *w) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->nonholonomic_index >= 0)
            w->frozen_pose[loop->nonholonomic_index] = relative_pose(w, loop);
    }
    w->contacts_frozen = true;
}

double snw_loop_displacement(const snw_model *m, const snw_work *w, int i) {
    const snw_loop *loop = &m->loop[i];
    const snw_twist x = closure_displacement_of(w, loop, in_axes(loop, relative_pose(w, loop))).x;
    return snw_norm(x.v) + m->length * snw_norm(x.w);
}

double snw_slip_friction(const snw_model *m, const snw_work *w, int i, const double *lambda) {
    const snw_loop *loop = &m->loop[i];
    double raw[6];
    if (!snw_any(loop->friction > 0) || w->is_static || !snw_is_active(w, loop->condition))
        return 0;
    raw_multipliers(loop, lambda, raw);
    const slip x = closure_slip(w, loop, in_axes(loop, relative_pose(w, loop)), raw);
    return loop->friction * x.normal * x.direction;
}

double snw_slip_heat(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; m->has_slip_friction && i < m->nloop; i++) {
        if (!snw_any(m->loop[i].friction > 0)) continue;
        sum += snw_slip_friction(m, w, i, w->lambda) * w->feed[m->loop[i].through - 1].dl;
    }
    return sum;
}

void snw_closures_add_forces(const snw_model *m, const snw_state *s, snw_work *w) {
    const double *lambda = s->lambda;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const snw_row *rows = closure_rows_of(loop);
        for (int r = 0; r < loop->nrow; r++) w->violation[loop->row + r] = 0;
        if (!snw_is_active(w, loop->condition)) continue;
        const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
        double raw[6];
        if (loop->nonholonomic && !w->is_static) {
            const snw_twist U = closure_twist_in_axes(loop, relative_velocity(w, loop, h_ab));
            for (int k = 0; k < loop->nraw; k++) {
                raw[k] = w->velocity_time * snw_power(row_jacobian(loop, rows[k], h), U);
            }
        } else if (loop->nonholonomic_index >= 0 && w->contacts_frozen) {
            const displacement x = closure_displacement_of(w, loop, h);
            for (int k = 0; k < loop->nraw; k++)
                raw[k] = forbidden_component(loop, rows[k], x.x, x.spin);
        } else {
            for (int k = 0; k < loop->nraw; k++) raw[k] = row_value(loop, rows[k], h);
            if (loop->ncoupled > 0)
                raw[0] = closure_coupled(loop, loop->coupled_q, s->q) - loop->offset;
        }
        for (int r = 0; r < loop->nrow; r++) {
            for (int k = 0; k < loop->nraw && snw_closure_row_is_active(loop, w, r); k++) {
                w->violation[loop->row + r] += loop->coefficient[r][k] * raw[k];
            }
        }
        raw_multipliers(loop, lambda, raw);
        for (int k = 0; k < loop->ncoupled; k++) w->r[loop->dof[k]] -= loop->factor[k] * raw[0];
        if (snw_any(loop->friction > 0))
            w->r[m->rod[loop->through - 1].feed] += snw_slip_friction(m, w, i, lambda);
        const snw_wrench F = closure_wrench_from_axes(loop->Q, wrench_in_axes(loop, h, raw));
        if (loop->sliding_station) {
            const snw_sliding_station_work *at = &w->sliding_station[loop->sliding_station - 1];
            w->F[at->below] = snw_wrench_sub(w->F[at->below], snw_wrench_to_parent(at->h, F));
        } else {
            w->F[loop->b] = snw_wrench_sub(w->F[loop->b], F);
        }
        w->F[loop->a] = snw_wrench_add(w->F[loop->a], snw_wrench_to_parent(h_ab, F));
    }
}

double snw_coupling_effort(const snw_model *m, const snw_work *w, int dof) {
    double sum = 0;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = 0; k < loop->ncoupled; k++) {
            double raw[6];
            if (loop->dof[k] != dof || !snw_is_active(w, loop->condition)) continue;
            if (loop->nrow == 0 || !snw_closure_row_is_active(loop, w, 0)) return NAN;
            raw_multipliers(loop, w->lambda, raw);
            sum += loop->factor[k] * raw[0];
        }
    }
    return sum;
}

// ---- Jacobian ---------------------------------------------------------------

// out (6 x ndof) += sign times the columns of a segment in `store` (w->J or a rate), transformed by
// *carry unless NULL, in the axes of the joint
static void closure_add_jacobian(const snw_model *m, const snw_loop *loop, int seg, const int *of,
                                 const double *store, const snw_se3 *carry, double sign,
                                 double *out) {
    const snw_path *path = &m->path[m->seg[seg].path];
    const double *J = path->n > 0 ? store + m->seg_store[seg] : NULL;
    const size_t n = (size_t)loop->ndof;
    for (int j = 0; j < path->n; j++) {
        snw_twist x;
        for (int i = 0; i < 6; i++) x.e[i] = J[i * path->ld + j];
        x = closure_twist_in_axes(loop, carry ? snw_twist_to_child(*carry, x) : x);
        for (size_t i = 0; i < 6; i++) out[i * n + (size_t)of[j]] += sign * x.e[i];
    }
}

// out <- columns of b minus those of a, from `store` (w->J or a rate)
static void closure_relative_jacobian(const snw_model *m, const snw_work *w, const snw_loop *loop,
                                      const double *store, snw_se3 h_ab, double *out) {
    const snw_sliding_station_work *at =
        loop->sliding_station ? &w->sliding_station[loop->sliding_station - 1] : NULL;
    memset(out, 0, 6 * (size_t)loop->ndof * sizeof *out);
    closure_add_jacobian(m, loop, at ? at->below : loop->b, loop->of_b, store, at ? &at->h : NULL,
                         1, out);
    closure_add_jacobian(m, loop, loop->a, loop->of_a, store, &h_ab, -1, out);
}

// D <- variation of b relative to a, A <- that of a in the frame of b; axes of the joint, 6 x ndof
static void closure_variations(const snw_model *m, const snw_work *w, const snw_loop *loop,
                               double *D, double *A) {
    const snw_se3 h_ab = relative_pose(w, loop);
    closure_relative_jacobian(m, w, loop, w->J, h_ab, D);
    memset(A, 0, 6 * (size_t)loop->ndof * sizeof *A);
    closure_add_jacobian(m, loop, loop->a, loop->of_a, w->J, &h_ab, 1, A);
}

static snw_twist closure_column(const double *D, size_t n, size_t j) {
    snw_twist x;
    for (size_t i = 0; i < 6; i++) x.e[i] = D[i * n + j];
    return x;
}

static void constraint_rows(const snw_loop *loop, const snw_work *w, snw_se3 h, const double *D,
                            double *C) {
    const snw_row *rows = closure_rows_of(loop);
    const size_t n = (size_t)loop->ndof;
    for (int r = 0; r < loop->nrow; r++) {
        snw_wrench c = {0};
        for (int k = 0; k < loop->nraw && snw_closure_row_is_active(loop, w, r); k++) {
            c = snw_wrench_axpy(loop->coefficient[r][k], row_jacobian(loop, rows[k], h), c);
        }
        for (size_t j = 0; j < n; j++) C[(size_t)r * n + j] = snw_power(c, closure_column(D, n, j));
        for (size_t j = 0; j < (size_t)loop->ncoupled; j++)
            C[(size_t)r * n + j] = loop->coefficient[r][0] * loop->factor[j];
    }
}

// R <- derivatives of nonholonomic rows, velocity_time (cq d/dq + cv d/dv) c u, theory.md (3.15.1).
// With delta = D x the variation of b relative to a, u varies by D' x + ad_u D x + D x',
// D' = J_b' - Ad J_a' + ad_u Ad J_a; c varies with the rotation of b. E: 6 x ndof of scratch.
static void velocity_rows_jacobian(const snw_model *m, const snw_work *w, const snw_loop *loop,
                                   double cq, double cv, const double *D, const double *A,
                                   double *E, double *R) {
    const snw_row *rows = closure_rows_of(loop);
    const size_t n = (size_t)loop->ndof;
    const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
    const snw_twist U = closure_twist_in_axes(loop, relative_velocity(w, loop, h_ab));
    // a sliding station moves with the material, through the slice from the node below:
    // J' = Ad J_below' - ad_u Ad J_below
    const snw_sliding_station_work *at =
        loop->sliding_station ? &w->sliding_station[loop->sliding_station - 1] : NULL;
    snw_twist V = U;
    if (at) {
        const snw_twist carried = snw_twist_to_child(h_ab, w->V[loop->a]);
        V = closure_twist_in_axes(loop, snw_twist_sub(snw_twist_sub(at->V, at->u), carried));
    }
    closure_relative_jacobian(m, w, loop, w->dJ, h_ab, E);
    for (size_t j = 0; j < n; j++) {
        const snw_twist x = closure_column(D, n, j);
        snw_twist dx = snw_twist_add(closure_column(E, n, j), snw_ad(V, closure_column(A, n, j)));
        dx = snw_twist_add(dx, snw_ad(V, x));
        for (int r = 0; r < loop->nrow; r++) {
            double sum = 0;
            for (int k = 0; k < loop->nraw && snw_closure_row_is_active(loop, w, r); k++) {
                const snw_wrench c = row_jacobian(loop, rows[k], h);
                const snw_wrench dc = row_jacobian_d1(loop, rows[k], h, x.w);
                sum += loop->coefficient[r][k] *
                       (cq * (snw_power(c, dx) + snw_power(dc, U)) + cv * snw_power(c, x));
            }
            R[(size_t)r * n + j] = w->velocity_time * sum;
        }
    }
}

// R <- derivatives of the forbidden displacement of frozen contacts: x varies by T(x)^-1 delta,
// with delta in the axes of the carrier of the wheel, which rotates by -d spin relative to the
// wheel
static void frozen_rows_jacobian(const snw_work *w, const snw_loop *loop, const double *D,
                                 double *R) {
    const snw_row *rows = closure_rows_of(loop);
    const size_t n = (size_t)loop->ndof;
    const snw_se3 h = in_axes(loop, relative_pose(w, loop));
    const displacement at = closure_displacement_of(w, loop, h);
    const snw_lower T = snw_se3_tangent_inv(at.x);
    const snw_vec3 across = snw_rotate(at.S, snw_unit_vector(1));
    for (size_t j = 0; j < n; j++) {
        const snw_twist x = closure_column(D, n, j);
        snw_twist c = {{snw_rotate_inv(at.S, x.w), snw_rotate_inv(at.S, x.v)}};
        double spin = 0;
        if (loop->nonholonomic == SNW_NONHOLONOMIC_ROLL)
            spin = -snw_dot(across, rolling_direction(loop, h, &x.w));
        c.w.z -= spin;
        c = snw_lower_apply(&T, c);
        for (int r = 0; r < loop->nrow; r++) {
            double sum = 0;
            for (int k = 0; k < loop->nraw && snw_closure_row_is_active(loop, w, r); k++) {
                sum += loop->coefficient[r][k] * forbidden_component(loop, rows[k], c, spin);
            }
            R[(size_t)r * n + j] = sum;
        }
    }
}

// Geometric stiffness, theory.md (3.8.2). The wrench F of a loop acts on b and, transformed, on a.
// Under delta = D x, F varies by N delta and the transformation to a rotates it: dW_b = -N delta,
// dW_a = N delta - ad_delta' F, both in the frame of b. Hence
//   T -= cq (D' N D + A' coad(F) D)
static void closure_add_stiffness(const snw_loop *loop, snw_se3 h, const double raw[6], double cq,
                                  const double *D, const double *A, snw_matrix T) {
    const snw_row *rows = closure_rows_of(loop);
    const size_t n = (size_t)loop->ndof;
    const snw_wrench F = wrench_in_axes(loop, h, raw);
    for (size_t j = 0; j < n; j++) {
        const snw_twist x = closure_column(D, n, j);
        snw_wrench f = {0};
        for (int k = 0; k < loop->nraw; k++) {
            f = snw_wrench_axpy(raw[k], row_jacobian_d1(loop, rows[k], h, x.w), f);
        }
        const snw_wrench carried = snw_coad(F, x);
        snw_column_entries to = snw_matrix_column(T, loop->dof[j]);
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < 6; k++) {
                sum += D[k * n + i] * f.e[k] + A[k * n + i] * carried.e[k];
            }
            *snw_column_at(&to, loop->dof[i]) -= cq * sum;
        }
    }
}

// As closure_add_stiffness, in the frames of the two segments.
void snw_loop_variation(const snw_model *m, const snw_work *w, int i, const snw_twist zeta[2],
                        snw_wrench d[2]) {
    const snw_loop *loop = &m->loop[i];
    const snw_row *rows = closure_rows_of(loop);
    const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
    const snw_twist delta =
        closure_twist_in_axes(loop, snw_twist_sub(zeta[1], snw_twist_to_child(h_ab, zeta[0])));
    double raw[6];
    raw_multipliers(loop, w->lambda, raw);
    snw_wrench f = {0}; // N delta
    for (int k = 0; k < loop->nraw; k++)
        f = snw_wrench_axpy(raw[k], row_jacobian_d1(loop, rows[k], h, delta.w), f);
    const snw_wrench turned = snw_wrench_sub(f, snw_coad(wrench_in_axes(loop, h, raw), delta));
    d[1] = snw_wrench_scale(-1, closure_wrench_from_axes(loop->Q, f));
    d[0] = snw_wrench_to_parent(h_ab, closure_wrench_from_axes(loop->Q, turned));
}

// Under delta, h varies by h delta: F by N delta, and the relative virtual twist u = eta_b -
// Ad(h)^-1 eta_a by ad_delta Ad(h)^-1 eta_a.
void snw_loop_bars(const snw_model *m, const snw_work *w, int i, const double *lambda,
                   const double *nu, const snw_twist eta[2], snw_wrench *a, snw_wrench *b) {
    const snw_loop *loop = &m->loop[i];
    const snw_row *rows = closure_rows_of(loop);
    if (!snw_is_active(w, loop->condition)) return;
    const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
    const snw_twist carried = snw_twist_to_child(h_ab, eta[0]);
    const snw_twist u = closure_twist_in_axes(loop, snw_twist_sub(eta[1], carried)),
                    on_a = closure_twist_in_axes(loop, carried);
    double raw[6], raw_nu[6] = {0};
    raw_multipliers(loop, lambda, raw);
    if (nu) raw_multipliers(loop, nu, raw_nu);
    const snw_wrench F = wrench_in_axes(loop, h, raw), by_rows = wrench_in_axes(loop, h, raw_nu);
    snw_wrench bar = {0};
    for (int j = 0; j < 6; j++) {
        snw_twist delta = {0};
        delta.e[j] = 1;
        snw_wrench f = {0};
        for (int k = 0; k < loop->nraw; k++)
            f = snw_wrench_axpy(raw[k], row_jacobian_d1(loop, rows[k], h, delta.w), f);
        bar.e[j] = -snw_power(f, u) - snw_power(F, snw_ad(delta, on_a)) - by_rows.e[j];
    }
    bar = closure_wrench_from_axes(loop->Q, bar);
    *b = snw_wrench_add(*b, bar);
    *a = snw_wrench_sub(*a, snw_wrench_to_parent(h_ab, bar));
}

// T += derivatives of the friction, w->slip_column <- those by the multipliers
static void closure_add_slip(const snw_model *m, snw_work *w, const snw_loop *loop, snw_se3 h,
                             double cq, double cv, const double *D, snw_matrix T) {
    const snw_row *rows = closure_rows_of(loop);
    const size_t n = (size_t)loop->ndof;
    const int feed = m->rod[loop->through - 1].feed;
    double raw[6];
    raw_multipliers(loop, w->lambda, raw);
    const slip x = closure_slip(w, loop, h, raw);
    const snw_vec3 by_force = snw_scale(loop->friction * x.direction, x.across);
    for (int r = 0; r < loop->nrow; r++) {
        double sum = 0;
        for (int k = 0; k < loop->nraw; k++)
            sum += loop->coefficient[r][k] * snw_dot(by_force, row_jacobian(loop, rows[k], h).f);
        w->slip_column[loop->row + r] = sum;
    }
    if (snw_any(cv != 0))
        *snw_matrix_at(T, feed, feed) += cv * loop->friction * x.normal * x.direction_d1;
    for (size_t j = 0; j < n && snw_any(cq != 0); j++) {
        snw_vec3 f = {{0, 0, 0}};
        for (int k = 0; k < loop->nraw; k++) {
            const snw_wrench dc = row_jacobian_d1(loop, rows[k], h, closure_column(D, n, j).w);
            f = snw_add(f, snw_scale(raw[k], dc.f));
        }
        *snw_matrix_at(T, feed, loop->dof[j]) += cq * snw_dot(by_force, f);
    }
}

void snw_constraints_add_tangent(const snw_model *m, double cq, double cv, snw_work *w,
                                 snw_matrix T) {
    if (m->ntendon) snw_tendons_jacobian(m, w);
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const size_t size = 6 * (size_t)loop->ndof;
        double *D = w->loop_variation, *A = D + size, raw[6];
        if (!snw_is_active(w, loop->condition)) {
            memset(w->C + loop->store, 0, size * sizeof *w->C);
            if (loop->nonholonomic) memset(w->R + loop->store, 0, size * sizeof *w->R);
            for (int r = 0; snw_any(loop->friction > 0) && r < loop->nrow; r++)
                w->slip_column[loop->row + r] = 0;
            continue;
        }
        const snw_se3 h = in_axes(loop, relative_pose(w, loop));
        closure_variations(m, w, loop, D, A);
        constraint_rows(loop, w, h, D, w->C + loop->store);
        if (loop->nonholonomic_index >= 0 && snw_any(cq != 0) && w->is_static &&
            w->contacts_frozen) {
            frozen_rows_jacobian(w, loop, D, w->R + loop->store);
        } else if (loop->nonholonomic && (snw_all(cq == 0) || w->is_static)) {
            memcpy(w->R + loop->store, w->C + loop->store, size * sizeof *w->R);
        } else if (loop->nonholonomic) {
            velocity_rows_jacobian(m, w, loop, cq, cv, D, A, A + size, w->R + loop->store);
        }
        if (snw_any(loop->friction > 0))
            closure_add_slip(m, w, loop, h, cq, w->is_static ? 0 : cv, D, T);
        if (snw_all(cq == 0)) continue;
        raw_multipliers(loop, w->lambda, raw);
        closure_add_stiffness(loop, h, raw, cq, D, A, T);
    }
}

void snw_constraints_jacobian(const snw_model *m, snw_work *w) {
    snw_constraints_add_tangent(m, 0, 0, w, snw_matrix_dense(0, NULL));
}

// ---- rates ------------------------------------------------------------------

// theory.md (3.8.3): with u the velocity of b relative to a in b's frame, V_b = A V_a + u and
// u' = V_b' - A V_a' + ad_u A V_a; the rates of a row are c u and c u' + c' u. At a sliding station
// the frame itself moves by f = u + xi x', and f takes the place of u where a and the axes turn in
// it.
void snw_closure_rates(const snw_model *m, const snw_state *s, const snw_work *w, int i,
                       double *rate, double *acceleration) {
    const snw_loop *loop = &m->loop[i];
    const snw_row *rows = closure_rows_of(loop);
    const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
    const snw_twist carried = snw_twist_to_child(h_ab, w->V[loop->a]);
    const snw_twist u = relative_velocity(w, loop, h_ab);
    const snw_twist du = snw_twist_add(
        snw_twist_sub(acceleration_b(w, loop), snw_twist_to_child(h_ab, w->A[loop->a])),
        snw_ad(frame_velocity(w, loop, u), carried));
    const snw_twist U = closure_twist_in_axes(loop, u), dU = closure_twist_in_axes(loop, du);
    const snw_twist f = closure_twist_in_axes(loop, frame_velocity(w, loop, u));
    double first[6], second[6];
    for (int k = 0; k < loop->nraw; k++) {
        const snw_wrench c = row_jacobian(loop, rows[k], h),
                         dc = row_jacobian_d1(loop, rows[k], h, f.w);
        first[k] = snw_power(c, U);
        second[k] = snw_power(c, dU) + snw_power(dc, U);
    }
    if (loop->ncoupled > 0) {
        first[0] = closure_coupled(loop, loop->dof, s->v);
        second[0] = closure_coupled(loop, loop->dof, s->a);
    }
    for (int r = 0; r < loop->nrow; r++) {
        double sum = 0, sum2 = 0;
        for (int k = 0; k < loop->nraw && snw_closure_row_is_active(loop, w, r); k++) {
            sum += loop->coefficient[r][k] * first[k];
            sum2 += loop->coefficient[r][k] * second[k];
        }
        if (rate) rate[loop->row + r] = sum;
        if (acceleration) acceleration[loop->row + r] = sum2;
    }
}

// Multipliers of the raw rows, of the rows in use.
static void active_multipliers(const snw_loop *loop, const snw_work *w, const double *lambda,
                               double raw[6]) {
    for (int k = 0; k < loop->nraw; k++) {
        raw[k] = 0;
        for (int r = 0; r < loop->nrow; r++) {
            if (snw_closure_row_is_active(loop, w, r))
                raw[k] += loop->coefficient[r][k] * lambda[loop->row + r];
        }
    }
}

// Variation of wrench_in_axes under a rotation x.
static snw_wrench wrench_in_axes_d1(const snw_loop *loop, snw_se3 h, const double raw[6],
                                    snw_vec3 x) {
    const snw_row *rows = closure_rows_of(loop);
    snw_wrench F = {0};
    for (int k = 0; k < loop->nraw; k++)
        F = snw_wrench_axpy(raw[k], row_jacobian_d1(loop, rows[k], h, x), F);
    return F;
}

// Derivative by rotations of F'(w) u, F'(w) the variation of F = wrench_in_axes under a rotation w:
// by differences of order 6.
static snw_vec3 second_variation(const snw_loop *loop, snw_se3 h, const double raw[6],
                                 snw_twist u) {
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    const double step = 1e-2;
    snw_vec3 sum = {{0}};
    for (int e = 0; e < 3; e++) {
        for (int k = -3; k <= 3; k++) {
            if (k == 0) continue;
            const snw_vec3 turn = snw_scale(k * step, snw_unit_vector(e));
            const snw_se3 turned = {snw_mat3_mul(h.R, snw_so3_exp(turn)), h.p};
            const double by = k < 0 ? -weight[-k - 1] : weight[k - 1];
            sum.e[e] += by / step * snw_power(wrench_in_axes_d1(loop, turned, raw, u.w), u);
        }
    }
    return sum;
}

// The way back through snw_closure_rates, theory.md (7.5.59): F and G are the wrenches of nu
// and z, first by u', u and the rotation in the axes of the joint, then by what these follow from.
void snw_closure_rates_bars(const snw_model *m, const snw_work *w, int i, const double *nu,
                            const double *z, snw_wrench by_g[2], snw_wrench by_V[2],
                            snw_wrench by_A[2]) {
    const snw_loop *loop = &m->loop[i];
    const snw_se3 h_ab = relative_pose(w, loop), h = in_axes(loop, h_ab);
    const snw_twist on_V = snw_twist_to_child(h_ab, w->V[loop->a]),
                    on_A = snw_twist_to_child(h_ab, w->A[loop->a]);
    const snw_twist u = snw_twist_sub(w->V[loop->b], on_V);
    const snw_twist du = snw_twist_add(snw_twist_sub(w->A[loop->b], on_A), snw_ad(u, on_V));
    const snw_twist U = closure_twist_in_axes(loop, u), dU = closure_twist_in_axes(loop, du);
    double raw[6], raw_z[6] = {0};
    active_multipliers(loop, w, nu, raw);
    if (z) active_multipliers(loop, w, z, raw_z);
    const snw_wrench F = wrench_in_axes(loop, h, raw);
    snw_wrench by_u =
        snw_wrench_add(wrench_in_axes(loop, h, raw_z), wrench_in_axes_d1(loop, h, raw, U.w));
    snw_wrench by_h = snw_wrench_zero();
    by_h.m = second_variation(loop, h, raw, U);
    for (int e = 0; e < 3; e++) {
        const snw_wrench d = wrench_in_axes_d1(loop, h, raw, snw_unit_vector(e));
        by_u.m.e[e] += snw_power(d, U);
        by_h.m.e[e] += snw_power(d, dU);
        if (z) by_h.m.e[e] += snw_power(wrench_in_axes_d1(loop, h, raw_z, snw_unit_vector(e)), U);
    }
    const snw_wrench by_du = closure_wrench_from_axes(loop->Q, F);
    by_h = closure_wrench_from_axes(loop->Q, by_h);
    // u' has ad(u) on_V, u = V_b - on_V
    by_u = snw_wrench_sub(closure_wrench_from_axes(loop->Q, by_u), snw_coad(by_du, on_V));
    const snw_wrench by_on = snw_wrench_sub(snw_coad(by_du, u), by_u);
    // on_V and on_A vary by ad(on_V) and ad(on_A) of the variation of h
    by_h = snw_wrench_add(by_h, snw_wrench_sub(snw_coad(by_on, on_V), snw_coad(by_du, on_A)));
    by_g[1] = by_h, by_V[1] = by_u, by_A[1] = by_du;
    by_g[0] = snw_wrench_scale(-1, snw_wrench_to_parent(h_ab, by_h));
    by_V[0] = snw_wrench_to_parent(h_ab, by_on);
    by_A[0] = snw_wrench_scale(-1, snw_wrench_to_parent(h_ab, by_du));
}

void snw_closures_rates(const snw_model *m, const snw_state *s, const snw_work *w, double *rate,
                        double *acceleration) {
    for (int i = 0; i < m->nloop; i++) snw_closure_rates(m, s, w, i, rate, acceleration);
}
