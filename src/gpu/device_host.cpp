// SPDX-License-Identifier: MIT
//
// The engine of graphics processors on the host: the same text, a loop instead of threads. For
// tests, and for the sizes that kernels need. It is C++ only because the recursion's text for the
// processor is. SNW_FLOATS: in single precision.
#include "gpu/device_engine.inc"

using snw_device::snw_device_args;
extern "C" {
#include "gpu/device_host.h"
#include "device_text.lists.h"

static size_t host_model(const int *whole, const narrow *number, bool has_laws,
                         unsigned char *memory, size_t room) {
    return snw_device::device_model(whole, number, has_laws, memory, room);
}

static size_t host_scratch(const void *model) {
    return snw_device::device_scratch((const snw_device::snw_model *)model);
}

static bool host_is_compact(const void *model) {
    return snw_device::is_compact((const snw_device::snw_model *)model);
}

static int host_lanes(const void *model) {
    const snw_device::snw_model *m = (const snw_device::snw_model *)model;
    int lanes = 1;
    while (snw_device::is_compact(m) && lanes < 32 && lanes < m->nv) lanes *= 2;
    return lanes;
}

// Constants of the text: name and value of each number of the model, and of those that all rods,
// and all slices, have in common.
static void host_constants(const void *model, void (*take)(void *user, const char *name, int value),
                           void *user) {
    const snw_device::snw_model *m = (const snw_device::snw_model *)model;
#define X(name) take(user, "SNW_MODEL_" #name, (int)m->name);
    SNW_MODEL_LIST(X)
#undef X
    // Blocks of 64 threads that a multiprocessor has at least at a time: 255 registers a thread, or
    // 128, the fastest of 128 to 255 on an H200 (docs/performance.md).
    const bool roomy = snw_device::is_compact(m) && m->nq + 3 * m->nv > 40;
    take(user, "SNW_BLOCKS", roomy ? 4 : 8);
#define ALIKE(count, list, prefix, name)                                                           \
    {                                                                                              \
        bool alike = m->count > 0;                                                                 \
        for (int i = 1; i < m->count; i++) alike &= m->list[i].name == m->list[0].name;            \
        if (alike) take(user, prefix #name, (int)m->list[0].name);                                 \
    }
#define ALIKE_SIX(count, list, prefix, name)                                                       \
    {                                                                                              \
        bool alike = m->count > 0;                                                                 \
        for (int i = 1; i < m->count; i++) {                                                       \
            for (int k = 0; k < 6; k++) alike &= m->list[i].name[k] == m->list[0].name[k];         \
        }                                                                                          \
        static const char *const names[6] = {prefix #name "_0", prefix #name "_1",                 \
                                             prefix #name "_2", prefix #name "_3",                 \
                                             prefix #name "_4", prefix #name "_5"};                \
        for (int k = 0; alike && k < 6; k++) take(user, names[k], m->list[0].name[k]);             \
    }
#define X(name) ALIKE(nrod, rod, "SNW_ROD_", name)
    SNW_ROD_LIST(X)
#undef X
#define X(name) ALIKE_SIX(nrod, rod, "SNW_ROD_", name)
    SNW_ROD_SIXES(X)
#undef X
#define X(name) ALIKE(nslice, slice, "SNW_SLICE_", name)
    SNW_SLICE_LIST(X)
#undef X
#define X(name) ALIKE_SIX(nslice, slice, "SNW_SLICE_", name)
    SNW_SLICE_SIXES(X)
#undef X
#define X(name)                                                                                    \
    {                                                                                              \
        bool alike = m->nrod > 0;                                                                  \
        for (int i = 1; i < m->nrod; i++) alike &= m->rod[i].rule.name == m->rod[0].rule.name;     \
        if (alike) take(user, "SNW_RULE_" #name, (int)m->rod[0].rule.name);                        \
    }
    SNW_RULE_LIST(X)
#undef X
}

#define CALL(name)                                                                                 \
    static void host_##name(const snw_device_args *args, int i, unsigned char *scratch) {          \
        snw_device::device_##name(args, snw_device::model_of(args, i), i,                          \
                                  snw_device::device_lanes{1, 0}, scratch, NULL);                \
    }
CALL(start)
CALL(steps)
CALL(points)

#ifdef SNW_FLOATS
#define ENGINE snw_device_single
#else
#define ENGINE snw_device_double
#endif
extern const snw_device_engine ENGINE;
const snw_device_engine ENGINE = {host_model,     host_scratch, host_is_compact,
                                  host_lanes,     host_constants,
                                  {host_start, host_steps, host_points}};
}
