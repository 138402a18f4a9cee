// SPDX-License-Identifier: MIT
//
// A step of an implicit scheme as a linear map of its past, for derivatives of motions.

#include "solve/scheme.h"

#include <string.h>

snw_scheme_map snw_scheme_map_of(const snw_scheme *s, double h, double before, bool ends_anew) {
    snw_scheme_map c = {0};
    double memory[5];
    snw_history past = snw_history_on(1, memory);
    double *const part[SNW_PAST_PARTS] = {[SNW_PAST_RATE] = past.v,
                                          [SNW_PAST_ACCELERATION] = past.a,
                                          [SNW_PAST_PSEUDO] = past.pseudo,
                                          [SNW_PAST_INCREMENT] = past.d,
                                          [SNW_PAST_RATE_BEFORE] = past.vb};
    const double zero = 0, one = 1;
    // a unit of each part, then of the new acceleration
    for (int k = SNW_PAST_RATE; k <= SNW_PAST_PARTS; k++) {
        const bool is_new = k == SNW_PAST_PARTS;
        memset(memory, 0, sizeof memory);
        past.h = before;
        if (!is_new) *part[k] = 1;
        double f, g;
        snw_scheme_begin(s, &past, h, &c.a, &c.b, &f, &g);
        if (ends_anew) past.h = -1;
        snw_scheme_end(s, h, &zero, &zero, is_new ? &one : &zero, &past);
        if (is_new) {
            c.pseudo_acc = *past.pseudo;
        } else {
            c.f[k] = f, c.g[k] = g, c.pseudo[k] = *past.pseudo;
        }
    }
    return c;
}
