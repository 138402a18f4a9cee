// SPDX-License-Identifier: MIT
//
// robot_model.h: the model behind the public API (sinew/model.h): description, compiled model and
// tables of parts; private to src/robot.
#pragma once

#include "base/pool.h"
#include "language/document.h"
#include "model/model.h"
#include "sinew/robot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

// A document that several models describe with different overrides. Describing locks it.
typedef struct snw_robot_source {
    atomic_int references;
    pthread_mutex_t lock;
    snw_document *document;
    int run;
    pthread_mutex_t loops_lock;       // a compilation that finds it locked does without
    struct snw_closure_choice *loops; // of models before
} snw_robot_source;

struct snw_robot_model {
    atomic_int references;
    snw_robot_source *source; // NULL: the description comes from elsewhere
    const snw_desc *desc;
    void (*release)(void *owner); // of a description from elsewhere; NULL: nothing to release
    void *owner;
    snw_pool *pool; // owns the members below
    int nset;
    const char **set;    // all overrides
    snw_model *compiled; // shared by all robots of the model
    int nphase;          // models after the changes of the study; 0: not compiled
    snw_model **phase;   // of a gradient only (gradient_phase.c)
    uint64_t identity;   // hash of text, run and overrides; 0: unknown
    int npart[SNW_PART_KINDS];
    const snw_part *part[SNW_PART_KINDS];
};

// A model of a description that must live until `release(owner)` is called (may be NULL), at the
// latest when this fails. It has no parts.
SNW_NODISCARD snw_status snw_robot_model_of_desc(const snw_desc *desc, void (*release)(void *owner),
                                                 void *owner, snw_robot_model **out,
                                                 snw_error *err);

// Numbers of the file with the overrides of the model, for many of them; then one as
// snw_robot_model_value.
SNW_NODISCARD snw_status snw_robot_model_numbers(const snw_robot_model *m,
                                                 snw_document_numbers **out, snw_error *err);
SNW_NODISCARD snw_status snw_robot_number(snw_document_numbers *numbers, const char *path,
                                          double *value, char unit[48], snw_error *err);

// m->npart, m->part <- tables of all parts.
SNW_NODISCARD snw_status snw_robot_model_list(snw_robot_model *m, snw_error *err);

// As snw_robot_model_change, without parts: description and compiled model only. `points` (NULL:
// none) is a compiled model of the robot whose nodes and points along rods it gets, whatever their
// errors.
SNW_NODISCARD snw_status snw_robot_model_sample(const snw_robot_model *m, int nset,
                                                const char *const *set, const snw_model *points,
                                                snw_robot_model **out, snw_error *err);
// The description alone, for a run, which compiles it: without parts and compiled model.
SNW_NODISCARD snw_status snw_robot_model_describe(const snw_robot_model *m, int nset,
                                                  const char *const *set, snw_robot_model **out,
                                                  snw_error *err);
