// SPDX-License-Identifier: MIT
//
// The engine of graphics processors on the host: the same text, a loop instead of threads. For
// tests, and for the sizes that kernels need. It is C++ only because the recursion's text for the
// processor is.
#include "gpu/device_engine.inc"

using snw_device::snw_device_args;
extern "C" {
#include "gpu/device_host.h"
#include "device_text.lists.h"

size_t snw_device_host_model(const int *whole, const double *number, unsigned char *memory,
                             size_t room) {
    return snw_device::device_model(whole, number, memory, room);
}

size_t snw_device_host_scratch(const void *model) {
    return snw_device::device_scratch((const snw_device::snw_model *)model);
}

// Constants of the text: name and value of each number of the model, and of those that all rods
// have in common.
void snw_device_host_constants(const void *model, void (*take)(void *user, const char *name, int value),
                               void *user) {
    const snw_device::snw_model *m = (const snw_device::snw_model *)model;
#define X(name) take(user, "SNW_MODEL_" #name, (int)m->name);
    SNW_MODEL_LIST(X)
#undef X
    bool alike;
#define X(name)                                                                                    \
    alike = m->nrod > 0;                                                                           \
    for (int i = 1; i < m->nrod; i++) alike &= m->rod[i].name == m->rod[0].name;                   \
    if (alike) take(user, "SNW_ROD_" #name, (int)m->rod[0].name);
    SNW_ROD_LIST(X)
#undef X
}

#define CALL(name)                                                                                 \
    void snw_device_host_##name(const snw_device_args *args, int i, unsigned char *scratch) {      \
        snw_device::device_##name(args, snw_device::model_of(args, i), i, scratch);                \
    }
CALL(start)
CALL(steps)
CALL(points)
}
