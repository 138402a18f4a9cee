// SPDX-License-Identifier: MIT
//
// model.h: a model: one run of a model file, read and checked; the names, kinds, units and index
// ranges of its parts. Robots (robot.h) are made from it.
//
// A model is immutable. Threads may share it: each function here may be called by several threads
// at once with the same model, each thread with its own robots. References are counted: the model
// is freed when the last reference is closed, those of its robots included.
//
// Text is the only form in which a model is given. The model language is YAML, and JSON is YAML, so
// that a program builds a robot by writing its lists and maps as JSON. Units, expressions, checks
// and messages with line and column are then those of files.
#pragma once

#include "sinew/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_robot_model snw_robot_model;

// Read a model file. `run`: name of one of its runs, NULL for the first. `set`: nset overrides
// "path=value", as --set of the command. On success *out is a reference of the caller, who calls
// snw_robot_model_close.
SNW_API SNW_NODISCARD snw_status snw_robot_model_open(const char *path, const char *run, int nset,
                                                      const char *const *set, snw_robot_model **out,
                                                      snw_error *err);
// The same from `length` bytes of text in memory; `name` is used in messages in place of the path.
SNW_API SNW_NODISCARD snw_status snw_robot_model_parse(const char *name, const char *text,
                                                       size_t length, const char *run, int nset,
                                                       const char *const *set,
                                                       snw_robot_model **out, snw_error *err);
// *out <- the model with other values, without reading files again: the overrides `set` are added
// to those of m, and replace those with the same path. Links, joints, strain bases, loads,
// actuators, probes and laws with memory must stay the same, so that the state of a robot of m fits
// the new model (SNW_E_PARSE otherwise, err tells what differs).
SNW_API SNW_NODISCARD snw_status snw_robot_model_change(const snw_robot_model *m, int nset,
                                                        const char *const *set,
                                                        snw_robot_model **out, snw_error *err);
// Another reference, which is to be closed too; returns m. NULL gives NULL.
SNW_API snw_robot_model *snw_robot_model_share(snw_robot_model *m);
// Close a reference; NULL is fine.
SNW_API void snw_robot_model_close(snw_robot_model *m);

// ---- parts

// Kinds of parts. Parts of one kind are numbered from 0 in the order of the file, except where the
// list tells another order.
#define SNW_PART_LIST(X)                                                                           \
    X(SNW_PART_LINK, "link")   /* parents before children */                                       \
    X(SNW_PART_JOINT, "joint") /* of links whose joint is not fixed; named as the link */          \
    X(SNW_PART_ROD, "rod")     /* of links with a rod; named as the link */                        \
    X(SNW_PART_COORDINATE, "coordinate") /* entries of q: "hip.angle", "arm.bend_y.0" */           \
    X(SNW_PART_NODE, "node")             /* frames of a result file; named as their link */        \
    X(SNW_PART_SITE, "site")             /* named sites */                                         \
    X(SNW_PART_LOOP, "loop")             /* loop closures, contacts without slip, ball drives */   \
    X(SNW_PART_ACTUATOR, "actuator")     /* on coordinates; tendons and chambers; muscles */       \
    X(SNW_PART_INPUT, "input")           /* prescribed numbers of actuators, by actuator */        \
    X(SNW_PART_LOAD, "load")                                                                       \
    X(SNW_PART_CONTACT, "contact")                                                                 \
    X(SNW_PART_SPRING, "spring") /* springs, cables, dampers and bushings between two sites */     \
    X(SNW_PART_PROBE, "probe")                                                                     \
    X(SNW_PART_COLUMN, "column") /* numbers of probes, by probe: "tip.x", "wire@3.my" */           \
    X(SNW_PART_PARAMETER, "parameter")                                                             \
    X(SNW_PART_STEP, "step") /* of the study */                                                    \
    X(SNW_PART_RUN, "run")   /* of the file */

typedef enum snw_part_kind {
#define X(kind, name) kind,
    SNW_PART_LIST(X)
#undef X
        SNW_PART_KINDS
} snw_part_kind;

// A part of a model. Texts belong to the model. An index that does not apply is -1, a count 0, a
// text empty, a value NaN.
//
//   link, joint      type of the joint; q, v: coordinates of the joint, of a link with its rod's;
//                    node: of the link
//   rod              type of its section; q, v: strain coordinates; node: its sections except the
//                    root; value: length, m
//   coordinate       type "angle", "length", "strain" or "rotation" (quaternion); q; v unless it
//                    belongs to a spherical or free joint, whose velocities are body twists
//   node             value: arc length on the rod of its link, m; 0 on other links
//   site             link to which it is fixed; -1: the world
//   loop             type of its joint, or of the contact; first, size: constraint rows
//   actuator         type: the prescribed quantity, "effort", "position", "rate", "tension",
//                    "shortening", "pressure", "volume", "gas" or "activation"; first, size:
//                    inputs; q, v: coordinates of one on coordinates
//   load             type "force" or, along a rod, "distributed"; link
//   spring           type "spring", "cable", "damper" or "bushing"; link of its second end; value:
//                    rest length, m, of a spring or cable
//   probe            type: the measured quantity; first, size: columns
//   input, column    first: its actuator or probe; type, link and, of an input, q and v as there
//   parameter        type "number", "law", "list" or "function"; unit and value of a number
//   step             type "static", "dynamic", "modes" or "change"; value: duration, s
typedef struct snw_part {
    const char *name; // unique within its kind, except for nodes and for parts that the file names
                      // together: wheels with a common effort, rings along a rod
    const char *type;
    const char *unit; // SI unit in the form that may follow a number: "N*m", "rad"; empty: a plain
                      // number, or several numbers of different units
    int link;         // link to which it belongs
    int first, size;  // its numbers: inputs, columns or constraint rows; count of numbers
    int q, nq;        // its coordinates in q: first index, count
    int v, nv;        // its velocities in v: first index, count
    int node, nnode;  // its nodes: first index, count
    double value;
} snw_part;

// Number of parts of a kind; 0 when m is NULL.
SNW_API int snw_robot_model_parts(const snw_robot_model *m, snw_part_kind kind);
// Part `index` of a kind. SNW_E_ARGUMENT: no such part; *out is then unchanged.
SNW_API snw_status snw_robot_model_part(const snw_robot_model *m, snw_part_kind kind, int index,
                                        snw_part *out);
// Index of the first part of that name; -1: none.
SNW_API int snw_robot_model_find(const snw_robot_model *m, snw_part_kind kind, const char *name);

// Value in the model of what an override `path` would replace, such as "silicone.young": SI, and
// its unit (48 bytes; NULL: not wanted). SNW_E_PARSE: the path names nothing, or no constant
// number. SNW_E_ARGUMENT: the file does not give it. Allocates.
SNW_API SNW_NODISCARD snw_status snw_robot_model_value(const snw_robot_model *m, const char *path,
                                                       double *value, char unit[48],
                                                       snw_error *err);

// Title of the file, and the name of the run; they belong to the model.
SNW_API const char *snw_robot_model_title(const snw_robot_model *m);
SNW_API const char *snw_robot_model_run(const snw_robot_model *m);

#ifdef __cplusplus
}
#endif
