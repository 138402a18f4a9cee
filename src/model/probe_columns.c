// SPDX-License-Identifier: MIT
//
// Tables of the columns of probes: names and dimensions, by quantity and joint.
#include "model/probe_columns.h"

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

#define POINT                                                                                      \
    {"x", DIM_LENGTH}, {"y", DIM_LENGTH}, { "z", DIM_LENGTH }
#define QUATERNION                                                                                 \
    {"qw", DIM_NONE}, {"qx", DIM_NONE}, {"qy", DIM_NONE}, { "qz", DIM_NONE }
#define VECTOR                                                                                     \
    {"rx", DIM_NONE}, {"ry", DIM_NONE}, { "rz", DIM_NONE }
#define MATRIX                                                                                     \
    {"xx", DIM_NONE}, {"xy", DIM_NONE}, {"xz", DIM_NONE}, {"yx", DIM_NONE}, {"yy", DIM_NONE},      \
        {"yz", DIM_NONE}, {"zx", DIM_NONE}, {"zy", DIM_NONE}, {                                    \
        "zz", DIM_NONE                                                                             \
    }
#define LINEAR_VELOCITY                                                                            \
    {"vx", DIM_SPEED}, {"vy", DIM_SPEED}, { "vz", DIM_SPEED }

static const snw_component point[] = {POINT};
static const snw_component rotation[] = {QUATERNION, VECTOR, MATRIX};
static const snw_component pose[] = {POINT, QUATERNION, VECTOR, MATRIX};
static const snw_component velocity[] = {LINEAR_VELOCITY};
static const snw_component twist[] = {
    {"wx", DIM_RATE}, {"wy", DIM_RATE}, {"wz", DIM_RATE}, LINEAR_VELOCITY};
static const snw_component acceleration[] = {{"ax", {.m = 1, .s = -2}}, {"ay", {.m = 1, .s = -2}},
                                             {"az", {.m = 1, .s = -2}}, {"alx", {.s = -2}},
                                             {"aly", {.s = -2}},        {"alz", {.s = -2}}};
static const snw_component strain[] = {{"twist", DIM_PER_LENGTH},  {"bend_y", DIM_PER_LENGTH},
                                       {"bend_z", DIM_PER_LENGTH}, {"stretch", DIM_NONE},
                                       {"shear_y", DIM_NONE},      {"shear_z", DIM_NONE}};
static const snw_component wrench[] = {{"mx", DIM_TORQUE}, {"my", DIM_TORQUE}, {"mz", DIM_TORQUE},
                                       {"fx", DIM_FORCE},  {"fy", DIM_FORCE},  {"fz", DIM_FORCE}};
static const snw_component energy[] = {{"kinetic", DIM_TORQUE}, {"elastic", DIM_TORQUE},
                                       {"gravity", DIM_TORQUE}, {"dissipated", DIM_TORQUE},
                                       {"work", DIM_TORQUE},    {"scheme", DIM_TORQUE},
                                       {"balance", DIM_TORQUE}, {"total", DIM_TORQUE}};
static const snw_component momentum[] = {
    {"lx", {.m = 2, .kg = 1, .s = -1}}, {"ly", {.m = 2, .kg = 1, .s = -1}},
    {"lz", {.m = 2, .kg = 1, .s = -1}}, {"px", {.m = 1, .kg = 1, .s = -1}},
    {"py", {.m = 1, .kg = 1, .s = -1}}, {"pz", {.m = 1, .kg = 1, .s = -1}}};
static const snw_component transport[] = {{"power", {.m = 2, .kg = 1, .s = -3}},
                                          {"speed", {.m = 1, .s = -1}},
                                          {"way", {.m = 1}},
                                          {"cost", {0}}};
static const snw_component frequency[SNW_PROBE_FREQUENCIES] = {
    {"1", DIM_RATE},  {"2", DIM_RATE},  {"3", DIM_RATE},  {"4", DIM_RATE},  {"5", DIM_RATE},
    {"6", DIM_RATE},  {"7", DIM_RATE},  {"8", DIM_RATE},  {"9", DIM_RATE},  {"10", DIM_RATE},
    {"11", DIM_RATE}, {"12", DIM_RATE}, {"13", DIM_RATE}, {"14", DIM_RATE}, {"15", DIM_RATE},
    {"16", DIM_RATE}, {"17", DIM_RATE}, {"18", DIM_RATE}};
static const snw_component power[] = {{"", {.m = 2, .kg = 1, .s = -3}}};
static const snw_component length[] = {{"", DIM_LENGTH}}, tension[] = {{"", DIM_FORCE}},
                           volume[] = {{"", {.m = 3}}},
                           pressure[] = {{"", {.m = -1, .kg = 1, .s = -2}}};
static const snw_component scalar[] = {{"", DIM_NONE}};

// Component k of a joint; order 0: position, 1: rate, 2: effort.
static snw_component joint_component(snw_joint_kind kind, int order, int k) {
    static const snw_dim turn[] = {DIM_NONE, DIM_RATE, DIM_TORQUE};
    static const snw_dim slide[] = {DIM_LENGTH, DIM_SPEED, DIM_FORCE};
    static const char *const rotation_name[3][3] = {
        {"rx", "ry", "rz"}, {"wx", "wy", "wz"}, {"mx", "my", "mz"}};
    const snw_joint_type *joint = &snw_joint_table[kind];
    const snw_joint_coordinate *c = &joint->coordinate[k];
    const char *name = joint->space == SNW_SPACE_SO3 ? rotation_name[order][k] : c->name;
    return (snw_component){joint->dof > 1 ? name : "", c->turn ? turn[order] : slide[order]};
}

const char *snw_probe_name(snw_probe_kind kind) {
    switch (kind) {
#define X(code, name, reading)                                                                     \
    case code:                                                                                     \
        return name;
        SNW_PROBE_LIST(X)
#undef X
    }
    return "unknown";
}

snw_reading snw_probe_reading(const snw_probe_desc *p) {
    if (p->of == SNW_PROBE_OF_TENDON) {
        // tension along a path with friction is computed between steps only
        const bool placed = p->kind == SNW_PROBE_TENSION && p->fraction > 0;
        if (p->kind == SNW_PROBE_POWER || p->kind == SNW_PROBE_PULL || placed) {
            return SNW_READ_LATER;
        }
        if (p->kind == SNW_PROBE_RATE) return SNW_READ_TENDON_RATE;
        const bool where = p->kind == SNW_PROBE_LENGTH || p->kind == SNW_PROBE_VOLUME ||
                           p->kind == SNW_PROBE_VALUE;
        return where ? SNW_READ_TENDON : SNW_READ_TENDON_EFFORT;
    }
    // laws read the rotation of a spherical joint by the probes rotation and twist
    if (snw_joint_table[p->joint].space == SNW_SPACE_SO3) return SNW_READ_LATER;
    switch (p->kind) {
#define X(code, name, reading)                                                                     \
    case code:                                                                                     \
        return reading;
        SNW_PROBE_LIST(X)
#undef X
    }
    return SNW_READ_LATER;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define RETURN_COMPONENTS(array)                                                                   \
    *n = COUNT(array);                                                                             \
    return array

// Components of a quantity that is not one of a joint.
static const snw_component *components_of(snw_probe_kind kind, int *n) {
    switch (kind) {
    case SNW_PROBE_POSITION:
    case SNW_PROBE_CENTER_OF_MASS:
        RETURN_COMPONENTS(point);
    case SNW_PROBE_ROTATION:
        RETURN_COMPONENTS(rotation);
    case SNW_PROBE_POSE:
        RETURN_COMPONENTS(pose);
    case SNW_PROBE_VELOCITY:
        RETURN_COMPONENTS(velocity);
    case SNW_PROBE_TWIST:
        RETURN_COMPONENTS(twist);
    case SNW_PROBE_ACCELERATION:
        RETURN_COMPONENTS(acceleration);
    case SNW_PROBE_STRAIN:
        RETURN_COMPONENTS(strain);
    case SNW_PROBE_WRENCH:
    case SNW_PROBE_REACTION:
    case SNW_PROBE_PULL:
        RETURN_COMPONENTS(wrench);
    case SNW_PROBE_ANGLE:
    case SNW_PROBE_VALUE:
    case SNW_PROBE_RATE:
    case SNW_PROBE_EFFORT:
        break;
    case SNW_PROBE_POWER:
        RETURN_COMPONENTS(power);
    case SNW_PROBE_LENGTH:
        RETURN_COMPONENTS(length);
    case SNW_PROBE_TENSION:
        RETURN_COMPONENTS(tension);
    case SNW_PROBE_VOLUME:
        RETURN_COMPONENTS(volume);
    case SNW_PROBE_PRESSURE:
        RETURN_COMPONENTS(pressure);
    case SNW_PROBE_ENERGY:
        RETURN_COMPONENTS(energy);
    case SNW_PROBE_MOMENTUM:
        RETURN_COMPONENTS(momentum);
    case SNW_PROBE_STABILITY:
    case SNW_PROBE_LAW:
        RETURN_COMPONENTS(scalar);
    case SNW_PROBE_FREQUENCY:
        RETURN_COMPONENTS(frequency);
    case SNW_PROBE_TRANSPORT:
        RETURN_COMPONENTS(transport);
    }
    *n = 0;
    return scalar;
}

// Order of a joint quantity: 0 position, 1 rate, 2 effort; -1: no joint quantity.
static int joint_order(snw_probe_kind kind) {
    if (kind == SNW_PROBE_ANGLE || kind == SNW_PROBE_VALUE) return 0;
    return kind == SNW_PROBE_RATE ? 1 : kind == SNW_PROBE_EFFORT ? 2 : -1;
}

int snw_probe_components(snw_probe_kind kind, snw_joint_kind joint,
                         snw_component out[SNW_PROBE_WIDTH]) {
    int n = 0;
    const int order = joint_order(kind);
    if (order >= 0) {
        (void)snw_joint_coordinates(joint, &n);
        for (int k = 0; k < n; k++) out[k] = joint_component(joint, order, k);
        if (joint == SNW_JOINT_FIXED) out[n++] = scalar[0];
        return n;
    }
    const snw_component *c = components_of(kind, &n);
    for (int k = 0; k < n; k++) out[k] = c[k];
    return n;
}

int snw_probe_columns(const snw_probe_desc *p) {
    snw_component c[SNW_PROBE_WIDTH];
    return snw_probe_components(p->kind, p->joint, c) * (p->along > 0 ? p->along : 1);
}

void snw_probe_primary(snw_probe_kind kind, snw_joint_kind joint, int nvalue, int *first,
                       int *count) {
    snw_component c[SNW_PROBE_WIDTH];
    *first = 0;
    *count = snw_probe_components(kind, joint, c);
    if (kind == SNW_PROBE_POSE) *count = 7;
    if (kind == SNW_PROBE_ACCELERATION) *count = 3;
    if (kind == SNW_PROBE_FREQUENCY && nvalue > 0 && nvalue < *count) *count = nvalue;
    if (kind == SNW_PROBE_ROTATION) {
        *first = nvalue == 4 ? 0 : nvalue == 9 ? 7 : 4;
        *count = nvalue == 4 || nvalue == 9 ? nvalue : 3;
    }
}
