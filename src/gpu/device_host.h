// SPDX-License-Identifier: MIT
//
// device_host.h: the engine of graphics processors on the host, robot by robot (device_host.cpp),
// in double and in single precision.
#pragma once

#include "gpu/device_args.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum snw_device_call {
    SNW_DEVICE_START,
    SNW_DEVICE_STEPS,
    SNW_DEVICE_POINTS,
    SNW_DEVICE_CALLS
} snw_device_call;

typedef struct snw_device_engine {
    // memory <- model from its stream (model/model_stream.h), whose laws it has. Returns the bytes
    // that it takes; 0: `room` bytes are too few.
    size_t (*model)(const int *whole, const narrow *number, bool has_laws, unsigned char *memory,
                    size_t room);
    // Bytes of scratch for a robot of the model.
    size_t (*scratch)(const void *model);
    // Is it a tree whose residual needs little memory (device_recursion.inc)?
    bool (*is_compact)(const void *model);
    // Threads that may share a robot of the model: a power of two, one for each column at most.
    int (*lanes)(const void *model);
    // Numbers of the model that may be constants of a kernel: calls take(user, macro, value).
    void (*constants)(const void *model, void (*take)(void *user, const char *name, int value),
                      void *user);
    // Start, steps and points of robot i; scratch is aligned to 16 bytes.
    void (*call[SNW_DEVICE_CALLS])(const snw_device_args *args, int i, unsigned char *scratch);
} snw_device_engine;

extern const snw_device_engine snw_device_double, snw_device_single;
