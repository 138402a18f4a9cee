// SPDX-License-Identifier: MIT
//
// Tables of joints and nonholonomic constraints: names, options, screws, constraint rows, symbols.
#include "model/joint_kind.h"

#define AXIS (SNW_JOINT_TAKES_AXIS | SNW_JOINT_TAKES_SPRING | SNW_JOINT_TAKES_LIMITS)

#define LOG_XYZ                                                                                    \
    {SNW_ROW_LOG, 0, 0}, {SNW_ROW_LOG, 1, 0}, { SNW_ROW_LOG, 2, 0 }
#define TILT_XY                                                                                    \
    {SNW_ROW_TILT, 0, 2}, { SNW_ROW_TILT, 1, 2 }
#define MOVE_X                                                                                     \
    { SNW_ROW_MOVE, 0, 0 }
#define MOVE_Y                                                                                     \
    { SNW_ROW_MOVE, 1, 0 }
#define MOVE_Z                                                                                     \
    { SNW_ROW_MOVE, 2, 0 }
#define SLIP_YZ                                                                                    \
    {SNW_ROW_SLIP, 1, 0}, { SNW_ROW_SLIP, 2, 0 }

const snw_joint_type snw_joint_table[SNW_JOINT_COUNT] = {
    [SNW_JOINT_FIXED] = {.name = "fixed",
                         .meaning = "clamped to its parent, in the given pose; the default",
                         .row = {LOG_XYZ, MOVE_X, MOVE_Y, MOVE_Z},
                         .at_tip = true,
                         .symbol = "clamp"},
    [SNW_JOINT_REVOLUTE] = {.name = "revolute",
                            .meaning = "rotates about its axis",
                            .options = AXIS,
                            .dof = 1,
                            .coordinate = {{"angle", true, SNW_AXIS_FIRST, false}},
                            .group = true,
                            .row = {TILT_XY, MOVE_X, MOVE_Y, MOVE_Z},
                            .at_tip = true,
                            .tip_turns = {false, false, true},
                            .symbol = "pin"},
    [SNW_JOINT_PRISMATIC] = {.name = "prismatic",
                             .meaning = "slides along its axis",
                             .options = AXIS,
                             .dof = 1,
                             .coordinate = {{"slide", false, SNW_AXIS_FIRST, false}},
                             .group = true,
                             .row = {LOG_XYZ, MOVE_X, MOVE_Y},
                             .symbol = "rail",
                             .slides = true},
    [SNW_JOINT_CYLINDRICAL] = {.name = "cylindrical",
                               .meaning = "rotates about its axis and slides along it",
                               .options = AXIS,
                               .dof = 2,
                               .coordinate = {{"angle", true, SNW_AXIS_FIRST, false},
                                              {"slide", false, SNW_AXIS_FIRST, false}},
                               .group = true,
                               .row = {TILT_XY, MOVE_X, MOVE_Y},
                               .symbol = "pin",
                               .slides = true},
    [SNW_JOINT_UNIVERSAL] = {.name = "universal",
                             .meaning = "rotates about its axis, then about a second one",
                             .options = AXIS | SNW_JOINT_TAKES_AXES,
                             .dof = 2,
                             .coordinate = {{"first", true, SNW_AXIS_FIRST, false},
                                            {"second", true, SNW_AXIS_SECOND, false}},
                             .axis_is_x = true,
                             .row = {{SNW_ROW_TILT, 0, 1}, MOVE_X, MOVE_Y, MOVE_Z},
                             .symbol = "ball"},
    [SNW_JOINT_SPHERICAL] = {.name = "spherical",
                             .meaning = "rotates about a point",
                             .options = SNW_JOINT_TAKES_SPRING | SNW_JOINT_TAKES_LIMITS,
                             .space = SNW_SPACE_SO3,
                             .dof = 3,
                             .coordinate = {{"x", true, SNW_AXIS_FIRST, false},
                                            {"y", true, SNW_AXIS_FIRST, false},
                                            {"z", true, SNW_AXIS_FIRST, false}},
                             .group = true,
                             .row = {MOVE_X, MOVE_Y, MOVE_Z},
                             .at_tip = true,
                             .tip_turns = {true, true, true},
                             .symbol = "ball"},
    [SNW_JOINT_PLANAR] = {.name = "planar",
                          .meaning =
                              "slides normal to its axis in two directions, then rotates about it",
                          .options = AXIS,
                          .dof = 3,
                          .coordinate = {{"x", false, SNW_AXIS_SECOND, false},
                                         {"y", false, SNW_AXIS_THIRD, false},
                                         {"angle", true, SNW_AXIS_FIRST, false}},
                          .group = true,
                          .row = {TILT_XY, MOVE_Z},
                          .symbol = "",
                          .roams = true},
    [SNW_JOINT_FREE] = {.name = "free",
                        .meaning = "moves freely; a static step needs other elements that hold it",
                        .space = SNW_SPACE_SE3,
                        .dof = 6,
                        .group = true,
                        .symbol = "",
                        .roams = true},
    [SNW_JOINT_SCREW] = {.name = "screw",
                         .meaning =
                             "rotates about its axis and moves along it by its pitch per turn",
                         .options = AXIS | SNW_JOINT_TAKES_PITCH,
                         .dof = 1,
                         .coordinate = {{"angle", true, SNW_AXIS_FIRST, true}},
                         .group = true,
                         .row = {TILT_XY, MOVE_X, MOVE_Y, {SNW_ROW_SCREW, 2, 0}},
                         .symbol = "pin",
                         .slides = true},
    [SNW_JOINT_PIN_SLOT] = {
        .name = "pin_slot",
        .meaning = "slides along a slot normal to its axis, then rotates about the axis",
        .options = AXIS | SNW_JOINT_TAKES_AXES,
        .dof = 2,
        .coordinate = {{"slide", false, SNW_AXIS_SECOND, false},
                       {"angle", true, SNW_AXIS_FIRST, false}},
        .row = {TILT_XY, MOVE_Y, MOVE_Z},
        .symbol = "pin",
        .slides = true}};

const char *snw_joint_name(snw_joint_kind kind) { return snw_joint_table[kind].name; }

int snw_joint_dof(snw_joint_kind kind) { return snw_joint_table[kind].dof; }

const snw_joint_coordinate *snw_joint_coordinates(snw_joint_kind kind, int *n) {
    const snw_joint_type *joint = &snw_joint_table[kind];
    *n = joint->space == SNW_SPACE_SE3 ? 0 : joint->dof;
    return joint->coordinate;
}

bool snw_joint_is_rotary(snw_joint_kind kind) {
    const snw_joint_type *joint = &snw_joint_table[kind];
    bool turns = joint->space == SNW_SPACE_RN && joint->dof > 0;
    for (int i = 0; turns && i < joint->dof; i++) turns = joint->coordinate[i].turn;
    return turns;
}

const snw_nonholonomic_type snw_nonholonomic_table[SNW_NONHOLONOMIC_COUNT] = {
    [SNW_NONHOLONOMIC_NONE] = {.name = "ground", .symbol = ""},
    [SNW_NONHOLONOMIC_WHEEL] = {.name = "wheel",
                                .symbol = "wheel",
                                .nrow = 1,
                                .row = {{SNW_ROW_SLIP, 2, 0}}},
    [SNW_NONHOLONOMIC_ROLL] = {.name = "rolling wheel",
                               .symbol = "wheel",
                               .nrow = 2,
                               .row = {{SNW_ROW_AXLE, 2, 0}, {SNW_ROW_ROLL, 0, 0}},
                               .rolls = true},
    [SNW_NONHOLONOMIC_TREAD] = {.name = "slipping wheel",
                                .symbol = "wheel",
                                .nrow = 1,
                                .row = {{SNW_ROW_ROLL, 0, 0}},
                                .rolls = true},
    [SNW_NONHOLONOMIC_EDGE] = {.name = "slipping wheel",
                               .symbol = "wheel",
                               .nrow = 1,
                               .row = {{SNW_ROW_AXLE, 2, 0}},
                               .rolls = true},
    [SNW_NONHOLONOMIC_SLIP] = {.name = "slipping wheel",
                               .symbol = "wheel",
                               .nrow = 0,
                               .rolls = true},
    [SNW_NONHOLONOMIC_RING] = {.name = "ring",
                               .symbol = "ring",
                               .nrow = 3,
                               .row = {{SNW_ROW_SPIN, 0, 0}, SLIP_YZ},
                               .section = true},
    [SNW_NONHOLONOMIC_ANCHOR] = {.name = "anchor",
                                 .symbol = "anchor",
                                 .nrow = 6,
                                 .row = {{SNW_ROW_SPIN, 0, 0},
                                         {SNW_ROW_SPIN, 1, 0},
                                         {SNW_ROW_SPIN, 2, 0},
                                         {SNW_ROW_SLIP, 0, 0},
                                         SLIP_YZ},
                                 .section = true},
    [SNW_NONHOLONOMIC_FOOT] = {.name = "anchor",
                               .symbol = "anchor",
                               .nrow = 4,
                               .row = {{SNW_ROW_SPIN, 0, 0}, {SNW_ROW_SLIP, 0, 0}, SLIP_YZ},
                               .section = true},
    [SNW_NONHOLONOMIC_PIVOT] = {.name = "anchor",
                                .symbol = "anchor",
                                .nrow = 3,
                                .row = {{SNW_ROW_SLIP, 0, 0}, SLIP_YZ},
                                .section = true}};
