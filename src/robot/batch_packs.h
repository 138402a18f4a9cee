// SPDX-License-Identifier: MIT
//
// batch_packs.h: robots of a batch stepped in packs (integrate/packs.h); private to src/robot.
// Group g consists of the robots g * lanes, g * lanes + 1, ...
#pragma once

#include "robot/robot_private.h"

typedef struct snw_batch_packs snw_batch_packs;

// Packs of this engine for n robots and as many threads.
SNW_NODISCARD snw_status snw_batch_packs_create(snw_robot *const *robot, int n, int threads,
                                                const snw_pack_engine *engine,
                                                snw_batch_packs **out);
void snw_batch_packs_destroy(snw_batch_packs *p); // NULL is fine

const snw_pack_engine *snw_batch_packs_engine(const snw_batch_packs *p);
// Why robot i is stepped alone; NULL: it is not.
const char *snw_batch_packs_why(const snw_batch_packs *p, int i);

// Take over models and integrators of the robots where they have changed. Before the steps of a
// call; allocates only then.
SNW_NODISCARD snw_status snw_batch_packs_update(snw_batch_packs *p);

// Steps of a call.
typedef struct snw_batch_steps {
    double h; // s
    int count;
    bool (*goes_on)(void *user); // false: no robot begins another step
    void *user;
} snw_batch_steps;

// `count` steps of the robots of group g for which takes[l] is 1. failed[l] <- 1 and error[l] for
// robots that failed, which stop there; the others are not changed.
void snw_batch_packs_step(snw_batch_packs *p, int thread, int g, const snw_batch_steps *steps,
                          const unsigned char *takes, unsigned char *failed, snw_error *error);
