// SPDX-License-Identifier: MIT
//
// device_host.h: the engine of graphics processors on the host, robot by robot (device_host.cpp).
#pragma once

#include "gpu/device_args.h"

#include <stdbool.h>
#include <stddef.h>

// memory <- model from its stream (model/model_stream.h), whose laws it has. Returns the bytes that it takes; 0:
// `room` bytes are too few.
size_t snw_device_host_model(const int *whole, const double *number, bool has_laws,
                             unsigned char *memory, size_t room);
// Bytes of scratch for a robot of the model.
size_t snw_device_host_scratch(const void *model);

// Threads that may share a robot of the model: a power of two, one for each column at most.
int snw_device_host_lanes(const void *model);

// Numbers of the model that may be constants of a kernel: calls take(user, macro, value) for each.
void snw_device_host_constants(const void *model,
                               void (*take)(void *user, const char *name, int value), void *user);

// Start, steps and points of robot i; scratch is aligned to 16 bytes.
void snw_device_host_start(const snw_device_args *args, int i, unsigned char *scratch);
void snw_device_host_steps(const snw_device_args *args, int i, unsigned char *scratch);
void snw_device_host_points(const snw_device_args *args, int i, unsigned char *scratch);
