// SPDX-License-Identifier: MIT
//
// Table of the quantities of probes, with the names and dimensions of their columns.
#include "model/probe_kind.h"

#define DIM_LENGTH                                                                                 \
    { .m = 1 }
#define DIM_NONE                                                                                   \
    { 0 }
#define DIM_PER_LENGTH                                                                             \
    { .m = -1 }
#define DIM_SPEED                                                                                  \
    { .m = 1, .s = -1 }
#define DIM_RATE                                                                                   \
    { .s = -1 }
#define DIM_TORQUE                                                                                 \
    { .m = 2, .kg = 1, .s = -2 }
#define DIM_FORCE                                                                                  \
    { .m = 1, .kg = 1, .s = -2 }

#define COLUMN(column, ...)                                                                        \
    { .name = (column), .dim = __VA_ARGS__ }
#define ANGLE(column)                                                                              \
    { .name = (column), .angle = true }

#define POINT COLUMN("x", DIM_LENGTH), COLUMN("y", DIM_LENGTH), COLUMN("z", DIM_LENGTH)
#define QUATERNION                                                                                 \
    COLUMN("qw", DIM_NONE), COLUMN("qx", DIM_NONE), COLUMN("qy", DIM_NONE), COLUMN("qz", DIM_NONE)
#define VECTOR ANGLE("rx"), ANGLE("ry"), ANGLE("rz")
#define MATRIX                                                                                     \
    COLUMN("xx", DIM_NONE), COLUMN("xy", DIM_NONE), COLUMN("xz", DIM_NONE),                        \
        COLUMN("yx", DIM_NONE), COLUMN("yy", DIM_NONE), COLUMN("yz", DIM_NONE),                    \
        COLUMN("zx", DIM_NONE), COLUMN("zy", DIM_NONE), COLUMN("zz", DIM_NONE)
#define LINEAR_VELOCITY COLUMN("vx", DIM_SPEED), COLUMN("vy", DIM_SPEED), COLUMN("vz", DIM_SPEED)

static const snw_component point[] = {POINT};
static const snw_component rotation[] = {QUATERNION, VECTOR, MATRIX};
static const snw_component pose[] = {POINT, QUATERNION, VECTOR, MATRIX};
static const snw_component velocity[] = {LINEAR_VELOCITY};
static const snw_component twist[] = {COLUMN("wx", DIM_RATE), COLUMN("wy", DIM_RATE),
                                      COLUMN("wz", DIM_RATE), LINEAR_VELOCITY};
static const snw_component connection[] = {COLUMN("wx", DIM_NONE),   COLUMN("wy", DIM_NONE),
                                           COLUMN("wz", DIM_NONE),   COLUMN("vx", DIM_LENGTH),
                                           COLUMN("vy", DIM_LENGTH), COLUMN("vz", DIM_LENGTH)};
static const snw_component acceleration[] = {
    COLUMN("ax", {.m = 1, .s = -2}), COLUMN("ay", {.m = 1, .s = -2}),
    COLUMN("az", {.m = 1, .s = -2}), COLUMN("alx", {.s = -2}),
    COLUMN("aly", {.s = -2}),        COLUMN("alz", {.s = -2})};
static const snw_component strain[] = {
    COLUMN("twist", DIM_PER_LENGTH),  COLUMN("bend_y", DIM_PER_LENGTH),
    COLUMN("bend_z", DIM_PER_LENGTH), COLUMN("stretch", DIM_NONE),
    COLUMN("shear_y", DIM_NONE),      COLUMN("shear_z", DIM_NONE)};
static const snw_component wrench[] = {COLUMN("mx", DIM_TORQUE), COLUMN("my", DIM_TORQUE),
                                       COLUMN("mz", DIM_TORQUE), COLUMN("fx", DIM_FORCE),
                                       COLUMN("fy", DIM_FORCE),  COLUMN("fz", DIM_FORCE)};
static const snw_component contact[] = {COLUMN("fx", DIM_FORCE),      COLUMN("fy", DIM_FORCE),
                                        COLUMN("fz", DIM_FORCE),      COLUMN("gap", DIM_LENGTH),
                                        COLUMN("touching", DIM_NONE), POINT,
                                        COLUMN("slip", DIM_SPEED)};
static const snw_component tube[] = {ANGLE("angle"), COLUMN("twist", DIM_PER_LENGTH),
                                     COLUMN("torque", DIM_TORQUE)};
static const snw_component energy[] = {
    COLUMN("kinetic", DIM_TORQUE),    COLUMN("elastic", DIM_TORQUE), COLUMN("gravity", DIM_TORQUE),
    COLUMN("dissipated", DIM_TORQUE), COLUMN("work", DIM_TORQUE),    COLUMN("scheme", DIM_TORQUE),
    COLUMN("balance", DIM_TORQUE),    COLUMN("total", DIM_TORQUE)};
static const snw_component momentum[] = {
    COLUMN("lx", {.m = 2, .kg = 1, .s = -1}), COLUMN("ly", {.m = 2, .kg = 1, .s = -1}),
    COLUMN("lz", {.m = 2, .kg = 1, .s = -1}), COLUMN("px", {.m = 1, .kg = 1, .s = -1}),
    COLUMN("py", {.m = 1, .kg = 1, .s = -1}), COLUMN("pz", {.m = 1, .kg = 1, .s = -1})};
static const snw_component transport[] = {COLUMN("power", {.m = 2, .kg = 1, .s = -3}),
                                          COLUMN("speed", {.m = 1, .s = -1}),
                                          COLUMN("way", {.m = 1}), COLUMN("cost", {0})};
static const snw_component frequency[SNW_PROBE_FREQUENCIES] = {
    COLUMN("1", DIM_RATE),  COLUMN("2", DIM_RATE),  COLUMN("3", DIM_RATE),  COLUMN("4", DIM_RATE),
    COLUMN("5", DIM_RATE),  COLUMN("6", DIM_RATE),  COLUMN("7", DIM_RATE),  COLUMN("8", DIM_RATE),
    COLUMN("9", DIM_RATE),  COLUMN("10", DIM_RATE), COLUMN("11", DIM_RATE), COLUMN("12", DIM_RATE),
    COLUMN("13", DIM_RATE), COLUMN("14", DIM_RATE), COLUMN("15", DIM_RATE), COLUMN("16", DIM_RATE),
    COLUMN("17", DIM_RATE), COLUMN("18", DIM_RATE)};
static const snw_component poles[SNW_PROBE_POLES] = {
    COLUMN("re1", DIM_RATE), COLUMN("im1", DIM_RATE), COLUMN("re2", DIM_RATE),
    COLUMN("im2", DIM_RATE), COLUMN("re3", DIM_RATE), COLUMN("im3", DIM_RATE),
    COLUMN("re4", DIM_RATE), COLUMN("im4", DIM_RATE), COLUMN("re5", DIM_RATE),
    COLUMN("im5", DIM_RATE), COLUMN("re6", DIM_RATE), COLUMN("im6", DIM_RATE),
    COLUMN("re7", DIM_RATE), COLUMN("im7", DIM_RATE), COLUMN("re8", DIM_RATE),
    COLUMN("im8", DIM_RATE)};
static const snw_component power[] = {COLUMN("", {.m = 2, .kg = 1, .s = -3})};
static const snw_component length[] = {COLUMN("", DIM_LENGTH)}, tension[] = {COLUMN("", DIM_FORCE)},
                           volume[] = {COLUMN("", {.m = 3})},
                           pressure[] = {COLUMN("", {.m = -1, .kg = 1, .s = -2})};
static const snw_component scalar[] = {COLUMN("", DIM_NONE)};
static const snw_component joint_angle[] = {ANGLE("")};
static const snw_component joint_rate[] = {COLUMN("", DIM_RATE)},
                           joint_effort[] = {COLUMN("", DIM_TORQUE)};

const snw_probe_type snw_probe_table[SNW_PROBE_COUNT] = {
#define X(code, name, form, meaning, subject, axes, reading, columns, bare)                        \
    {name,                                                                                         \
     subject,                                                                                      \
     axes,                                                                                         \
     reading,                                                                                      \
     columns,                                                                                      \
     (int)(sizeof(columns) / sizeof((columns)[0])),                                                \
     bare ? bare : (int)(sizeof(columns) / sizeof((columns)[0]))},
    SNW_PROBE_LIST(X)
#undef X
};

// Component k of a joint; order 0: position, 1: rate, 2: effort.
static snw_component joint_component(snw_joint_kind kind, int order, int k) {
    static const snw_dim turn[] = {DIM_NONE, DIM_RATE, DIM_TORQUE};
    static const snw_dim slide[] = {DIM_LENGTH, DIM_SPEED, DIM_FORCE};
    static const char *const rotation_name[3][3] = {
        {"rx", "ry", "rz"}, {"wx", "wy", "wz"}, {"mx", "my", "mz"}};
    const snw_joint_type *joint = &snw_joint_table[kind];
    const snw_joint_coordinate *c = &joint->coordinate[k];
    const char *name = joint->space == SNW_SPACE_SO3 ? rotation_name[order][k] : c->name;
    return (snw_component){joint->dof > 1 ? name : "", c->turn ? turn[order] : slide[order],
                           c->turn && order == 0};
}

const char *snw_probe_name(snw_probe_kind kind) { return snw_probe_table[kind].name; }

bool snw_probe_is_configuration(snw_probe_kind kind) {
    const snw_reading r = snw_probe_table[kind].reading;
    return r == SNW_READ_POSITION || r == SNW_READ_ROTATION || r == SNW_READ_POSE ||
           r == SNW_READ_STRAIN || r == SNW_READ_COORDINATE || r == SNW_READ_TENDON;
}

int snw_probe_components(snw_probe_kind kind, snw_joint_kind joint,
                         snw_component out[SNW_PROBE_WIDTH]) {
    const snw_probe_type *type = &snw_probe_table[kind];
    int n = type->ncomponent;
    if (type->subject != SNW_OF_JOINT) {
        for (int k = 0; k < n; k++) out[k] = type->component[k];
        return n;
    }
    const int order = type->reading == SNW_READ_COORDINATE ? 0
                      : type->reading == SNW_READ_RATE     ? 1
                                                           : 2;
    (void)snw_joint_coordinates(joint, &n);
    for (int k = 0; k < n; k++) out[k] = joint_component(joint, order, k);
    if (joint == SNW_JOINT_FIXED) out[n++] = scalar[0];
    return n;
}

void snw_probe_primary(snw_probe_kind kind, snw_joint_kind joint, int nvalue, int *first,
                       int *count) {
    snw_component c[SNW_PROBE_WIDTH];
    *first = 0;
    *count = snw_probe_components(kind, joint, c);
    if (snw_probe_table[kind].subject != SNW_OF_JOINT) *count = snw_probe_table[kind].nbare;
    if (kind == SNW_PROBE_FREQUENCY && nvalue > 0 && nvalue < *count) *count = nvalue;
    if (kind == SNW_PROBE_ROTATION) {
        *first = nvalue == 4 ? 0 : nvalue == 9 ? 7 : 4;
        *count = nvalue == 4 || nvalue == 9 ? nvalue : 3;
    }
}
