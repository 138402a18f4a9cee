// SPDX-License-Identifier: MIT
//
// Reads `restitution: {ratio, speed}` of a contact or stop as its Hunt-Crossley damping
// (math/restitution.h).
#include "language/read.h"

#include "base/fail.h"
#include "math/restitution.h"

#define RESTITUTION_KEYS(X)                                                                        \
    X(RESTITUTION_RATIO, "ratio", "0 to 1",                                                        \
      "speed after an impact over the speed before it; above 0, required")                         \
    X(RESTITUTION_SPEED, "speed", "m/s; of angles rad/s",                                          \
      "speed of approach at which the ratio holds; slower impacts lose less, required")

enum { RESTITUTION_KEYS(SNW_KEY_CODE) RESTITUTION_N };
SNW_KEYS(restitution, "restitution", "a restitution", RESTITUTION_KEYS);

snw_status snw_read_restitution(snw_reader *r, const snw_entry *entry, snw_dim speed,
                                double *damping) {
    const snw_entry *e[RESTITUTION_N];
    double ratio = 1, v = 1;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_restitution, e));
    for (int i = 0; i < RESTITUTION_N; i++) {
        if (e[i]) continue;
        return snw_fail_at(r->err, entry->location,
                           "'restitution' needs '%s', e.g. {ratio: 0.8, speed: 1}",
                           snw_keys_restitution.key[i].name);
    }
    SNW_TRY(snw_read_constant(r, e[RESTITUTION_RATIO]->value, "ratio", SNW_DIM_NONE, &ratio));
    SNW_TRY(snw_read_positive(r, e[RESTITUTION_SPEED]->value, "speed", speed, &v));
    if (!(ratio > 0 && ratio <= 1)) {
        return snw_fail_at(r->err, e[RESTITUTION_RATIO]->value->location,
                           "the 'ratio' of a restitution is above 0 and at most 1, got %g", ratio);
    }
    *damping = snw_restitution_damping(ratio, v);
    return SNW_OK;
}

snw_status snw_read_hard_restitution(snw_reader *r, const snw_entry *entry, double *ratio) {
    if (entry->value->kind == SNW_NODE_MAP)
        return snw_fail_at(r->err, entry->location,
                           "'restitution' of a hard contact or stop is one number, the same at "
                           "every speed, e.g. 'restitution: 0.5'");
    SNW_TRY(snw_read_nonnegative(r, entry, SNW_DIM_NONE, ratio));
    if (*ratio <= 1) return SNW_OK;
    return snw_fail_at(r->err, entry->location,
                       "'restitution' is between 0 and 1, got %g: an impact creates no energy",
                       *ratio);
}
