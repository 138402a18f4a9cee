// SPDX-License-Identifier: MIT
//
// Table of actuators: names, elements they act on, quantities that control them, drawing.
#include "model/actuator_kind.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIM_LENGTH                                                                                 \
    { .m = 1 }
#define DIM_VOLUME                                                                                 \
    { .m = 3 }
#define DIM_AMOUNT                                                                                 \
    { .mol = 1 }
#define DIM_FORCE                                                                                  \
    { .m = 1, .kg = 1, .s = -2 }
#define DIM_PRESSURE                                                                               \
    { .m = -1, .kg = 1, .s = -2 }

static bool is_positive(double value, double length) {
    (void)length;
    return value > 0;
}

static bool is_not_negative(double value, double length) {
    (void)length;
    return value >= 0;
}

static bool is_less_than_length(double value, double length) { return value < length; }

#define CONTROL(code, given_as, word)                                                              \
    { .key = (code), .given = (given_as), .name = (word) }
#define MOTOR_CONTROLS                                                                             \
    CONTROL(SNW_CONTROL_EFFORT, SNW_GIVEN_EFFORT, "effort"),                                       \
        CONTROL(SNW_CONTROL_POSITION, SNW_GIVEN_MOTION, "position"),                               \
        CONTROL(SNW_CONTROL_RATE, SNW_GIVEN_RATE, "rate"),                                         \
        CONTROL(SNW_CONTROL_HOLD, SNW_GIVEN_MOTION, "hold")

// McKibben muscle, theory.md (3.11.11) to (3.11.13). Keys: radius r0 (m), angle alpha0 of the
// threads to the axis (rad), length l0 of the braid (m; 0: all of the path). Law: A0 and A1 (m^2)
// in e = p (A0 (l/l0)^2 - A1), l = l0 - y; l0; the length of a thread along the axis (m); and, as
// given, whether it pushes beyond 54.7 deg.
enum { BRAID_A0, BRAID_A1, BRAID_LENGTH, BRAID_THREAD, BRAID_PUSHES };
enum { BRAID_RADIUS_KEY, BRAID_ANGLE_KEY, BRAID_LENGTH_KEY };

static const char *braid_prepare(double reference, double constant[SNW_ACTUATOR_CONSTANTS]) {
    const double r = constant[BRAID_RADIUS_KEY], angle = constant[BRAID_ANGLE_KEY];
    const double given = constant[BRAID_LENGTH_KEY], length = given > 0 ? given : reference;
    const double area = acos(-1.0) * r * r / (sin(angle) * sin(angle));
    constant[BRAID_A0] = 3 * area * cos(angle) * cos(angle);
    constant[BRAID_A1] = area;
    constant[BRAID_LENGTH] = length;
    constant[BRAID_THREAD] = length / cos(angle);
    return length <= reference * (1 + 1e-9) ? NULL : "its 'length' exceeds that of its path";
}

static snw_path_effort braid_effort(const double *constant, double p, double y) {
    const double s = 1 - y / constant[BRAID_LENGTH];
    const double area = constant[BRAID_A0] * s * s - constant[BRAID_A1];
    if (p <= 0 || (area <= 0 && constant[BRAID_PUSHES] == 0))
        return (snw_path_effort){0, 0, 0}; // slack
    return (snw_path_effort){p * area, area,
                             -2 * p * constant[BRAID_A0] * s / constant[BRAID_LENGTH]};
}

static const char *braid_exceeds(const double *constant, double y) {
    return constant[BRAID_LENGTH] - y > constant[BRAID_THREAD]
               ? "is stretched beyond the length of its threads, which would hold it there; give "
                 "it less load or a longer braid"
               : NULL;
}

static void braid_lengths(const double *constant, double *length, double *thread) {
    *length = constant[BRAID_LENGTH];
    *thread = constant[BRAID_THREAD];
}

const snw_actuator_type snw_actuator_table[SNW_ACTUATOR_COUNT] = {
    [SNW_ACTUATOR_JOINT] = {.name = "joint",
                            .noun = "joint",
                            .form = "joint: link",
                            .acts = SNW_ACTUATES_COORDINATES,
                            .element = "joint",
                            .ncontrol = 4,
                            .control = {MOTOR_CONTROLS}},
    [SNW_ACTUATOR_ROD] = {.name = "rod",
                          .noun = "rod",
                          .form = "rod: link",
                          .acts = SNW_ACTUATES_COORDINATES,
                          .element = "rod",
                          .strains = true,
                          .ncontrol = 4,
                          .control = {MOTOR_CONTROLS}},
    [SNW_ACTUATOR_FEED] = {.name = "feed",
                           .noun = "feed",
                           .form = "feed: link",
                           .acts = SNW_ACTUATES_COORDINATES,
                           .element = "feed",
                           .feeds = true,
                           .ncontrol = 4,
                           .control = {MOTOR_CONTROLS}},
    [SNW_ACTUATOR_GROW] = {.name = "grow",
                           .noun = "growth",
                           .form = "grow: link",
                           .acts = SNW_ACTUATES_COORDINATES,
                           .element = "growth",
                           .feeds = true,
                           .grows = true,
                           .ncontrol = 4,
                           .control = {MOTOR_CONTROLS}},
    [SNW_ACTUATOR_WHEELS] = {.name = "wheels",
                             .noun = "list of wheels",
                             .form = "wheels: [links]",
                             .acts = SNW_ACTUATES_COORDINATES,
                             .element = "joint",
                             .ncontrol = 4,
                             .control = {MOTOR_CONTROLS}},
    [SNW_ACTUATOR_TENDON] = {.name = "tendon",
                             .noun = "tendon",
                             .form = "tendon: {along: ..}",
                             .acts = SNW_ACTUATES_PATH,
                             .is_length = true,
                             .only_pulls = true,
                             .symbol = "line",
                             .ncontrol = 2,
                             .control = {{.key = SNW_CONTROL_EFFORT,
                                          .given = SNW_GIVEN_EFFORT,
                                          .name = "tension",
                                          .dim = DIM_FORCE,
                                          .positive = true},
                                         {.key = SNW_CONTROL_SHORTENING,
                                          .given = SNW_GIVEN_MOTION,
                                          .name = "shortening",
                                          .dim = DIM_LENGTH,
                                          .admissible = is_less_than_length,
                                          .rule = ", or more than its whole length"}}},
    [SNW_ACTUATOR_CHAMBER] = {.name = "chamber",
                              .noun = "chamber",
                              .form = "chamber: {along: ..}",
                              .acts = SNW_ACTUATES_PATH,
                              .symbol = "tube",
                              .ncontrol = 4,
                              .control = {{.key = SNW_CONTROL_PRESSURE,
                                           .given = SNW_GIVEN_EFFORT,
                                           .name = "pressure",
                                           .dim = DIM_PRESSURE,
                                           .positive = true},
                                          {.key = SNW_CONTROL_EFFORT,
                                           .given = SNW_GIVEN_EFFORT,
                                           .name = "pressure",
                                           .dim = DIM_PRESSURE,
                                           .positive = true},
                                          {.key = SNW_CONTROL_VOLUME,
                                           .given = SNW_GIVEN_MOTION,
                                           .name = "volume",
                                           .dim = DIM_VOLUME,
                                           .positive = true,
                                           .admissible = is_positive,
                                           .rule = ", or a volume that is not positive"},
                                          {.key = SNW_CONTROL_GAS,
                                           .given = SNW_GIVEN_GAS,
                                           .name = "gas",
                                           .about = "amount of gas",
                                           .dim = DIM_AMOUNT,
                                           .positive = true,
                                           .admissible = is_not_negative,
                                           .rule = ", or a negative one"}}},
    [SNW_ACTUATOR_MCKIBBEN] = {.name = "mckibben",
                               .noun = "McKibben muscle",
                               .form = "mckibben: {path: [..]}",
                               .acts = SNW_ACTUATES_PATH,
                               .is_length = true,
                               .only_pulls = true,
                               .symbol = "tube",
                               .prepare = braid_prepare,
                               .effort = braid_effort,
                               .exceeds = braid_exceeds,
                               .braid = braid_lengths,
                               .ncontrol = 1,
                               .control = {{.key = SNW_CONTROL_PRESSURE,
                                            .given = SNW_GIVEN_SOURCE,
                                            .name = "pressure",
                                            .dim = DIM_PRESSURE,
                                            .positive = true}}},
    [SNW_ACTUATOR_STRESS] = {.name = "stress",
                             .noun = "active stress",
                             .form = "stress: {along: .., bend_y: ..}",
                             .acts = SNW_ACTUATES_STRAIN,
                             .ncontrol = 1,
                             .control = {{.key = SNW_CONTROL_NO_KEY,
                                          .given = SNW_GIVEN_ACTIVATION,
                                          .name = "activation"}}},
};

const char *snw_control_name(snw_control_key key) {
    static const char *const names[] = {
#define X(code, name, form, meaning) name,
        SNW_CONTROL_LIST(X)
#undef X
    };
    return names[key];
}

const snw_control_type *snw_control_of(snw_actuator_kind kind, snw_given given) {
    const snw_actuator_type *type = &snw_actuator_table[kind];
    int k = 0;
    while (k < type->ncontrol - 1 && type->control[k].given != given) k++;
    return &type->control[k];
}

const snw_control_type *snw_control_by_key(snw_actuator_kind kind, snw_control_key key) {
    const snw_actuator_type *type = &snw_actuator_table[kind];
    for (int k = 0; k < type->ncontrol; k++) {
        if (type->control[k].key == key) return &type->control[k];
    }
    return NULL;
}

int snw_control_owner(snw_control_key key) {
    int owner = -1;
    for (int i = 0; i < SNW_ACTUATOR_COUNT; i++) {
        if (!snw_control_by_key((snw_actuator_kind)i, key)) continue;
        if (owner >= 0) return -1;
        owner = i;
    }
    return owner;
}

// Append entry i of n of an enumeration: its separator, then the entry.
static void append(int i, int n, const char *last, const char *text, char *out, size_t size) {
    const size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s%s", i == 0 ? "" : i == n - 1 ? last : ", ", text);
}

void snw_control_names(snw_actuator_kind kind, const char *last, char *out, size_t size) {
    const snw_actuator_type *type = &snw_actuator_table[kind];
    out[0] = '\0';
    for (int k = 0; k < type->ncontrol; k++) {
        const snw_control_type *c = &type->control[k];
        const char *key = snw_control_name(c->key);
        const bool same = strcmp(key, c->name) == 0;
        char text[80];
        (void)snprintf(text, sizeof text, same ? "'%s'" : "'%s' (its %s)", key, c->name);
        append(k, type->ncontrol, last, text, out, size);
    }
}

void snw_actuator_forms(char *out, size_t size) {
    out[0] = '\0';
    for (int i = 0; i < SNW_ACTUATOR_COUNT; i++) {
        char text[80];
        (void)snprintf(text, sizeof text, "'%s'", snw_actuator_table[i].form);
        append(i, SNW_ACTUATOR_COUNT, " or ", text, out, size);
    }
}

const char *snw_path_effort_unit(snw_actuator_kind kind) {
    return snw_actuator_table[kind].is_length ? "N" : "Pa";
}
