// SPDX-License-Identifier: MIT
//
// Interval arithmetic of the exponents of dimensions, for the checks of the expression parser.
#include "math/expr_quantity.h"

#include <math.h>
#include <stdio.h>

static const float SLACK = 1e-3F; // exponents such as 1/3 are rounded

snw_quantity snw_quantity_plain(void) { return (snw_quantity){.plain = true}; }

snw_quantity snw_quantity_truth(void) { return (snw_quantity){.truth = true}; }

snw_quantity snw_quantity_any(void) {
    snw_quantity q = {0};
    for (int i = 0; i < SNW_NDIM; i++) {
        q.lo[i] = -INFINITY;
        q.hi[i] = INFINITY;
    }
    return q;
}

snw_quantity snw_quantity_of(snw_dim d) {
    const signed char e[SNW_NDIM] = {d.m, d.kg, d.s, d.A, d.K, d.mol};
    snw_quantity q = {0};
    for (int i = 0; i < SNW_NDIM; i++) q.lo[i] = q.hi[i] = q.nominal[i] = e[i];
    return q;
}

snw_quantity snw_quantity_signal(snw_dim d) {
    snw_quantity q = snw_quantity_of(d);
    q.plain = true;
    for (int i = 0; i < SNW_NDIM; i++) {
        q.lo[i] = fminf(q.lo[i], 0);
        q.hi[i] = fmaxf(q.hi[i], 0);
    }
    return q;
}

snw_quantity snw_quantity_var(snw_var v) {
    return snw_quantity_signal(v == SNW_VAR_T ? SNW_DIM_TIME : SNW_DIM_LENGTH);
}

snw_quantity snw_quantity_times(snw_quantity a, snw_quantity b, int sign) {
    snw_quantity q = {.plain = a.plain && b.plain};
    for (int i = 0; i < SNW_NDIM; i++) {
        q.lo[i] = a.lo[i] + (sign > 0 ? b.lo[i] : -b.hi[i]);
        q.hi[i] = a.hi[i] + (sign > 0 ? b.hi[i] : -b.lo[i]);
        q.nominal[i] = a.nominal[i] + (float)sign * b.nominal[i];
    }
    return q;
}

snw_quantity snw_quantity_power(snw_quantity a, double exponent) {
    if (exponent == 0) return snw_quantity_plain();
    snw_quantity q = {.plain = a.plain};
    const float p = (float)exponent;
    for (int i = 0; i < SNW_NDIM; i++) {
        q.lo[i] = p * (p > 0 ? a.lo[i] : a.hi[i]);
        q.hi[i] = p * (p > 0 ? a.hi[i] : a.lo[i]);
        q.nominal[i] = p * a.nominal[i];
    }
    return q;
}

bool snw_quantity_join(snw_quantity a, snw_quantity b, snw_quantity *out) {
    if (a.plain && b.plain) {
        // t + 1 may still count as a time or as a number
        *out = a;
        for (int i = 0; i < SNW_NDIM; i++) {
            out->lo[i] = fminf(a.lo[i], b.lo[i]);
            out->hi[i] = fmaxf(a.hi[i], b.hi[i]);
            if (fabsf(b.nominal[i]) > fabsf(a.nominal[i])) out->nominal[i] = b.nominal[i];
        }
        return true;
    }
    *out = a.plain ? b : a;
    if (a.plain || b.plain) return true;
    for (int i = 0; i < SNW_NDIM; i++) {
        out->lo[i] = fmaxf(a.lo[i], b.lo[i]);
        out->hi[i] = fminf(a.hi[i], b.hi[i]);
        if (!(out->lo[i] <= out->hi[i] + SLACK)) return false;
        if (out->lo[i] > out->hi[i]) out->hi[i] = out->lo[i];
        out->nominal[i] = fminf(fmaxf(a.nominal[i], out->lo[i]), out->hi[i]);
    }
    return true;
}

bool snw_quantity_fits(snw_quantity q, snw_dim d) {
    snw_quantity ignored;
    return q.plain || snw_quantity_join(q, snw_quantity_of(d), &ignored);
}

static bool whole_dim(snw_quantity q, snw_dim *out) {
    signed char e[SNW_NDIM];
    for (int i = 0; i < SNW_NDIM; i++) {
        const float r = roundf(q.nominal[i]);
        if (!(fabsf(r) <= 100 && fabsf(r - q.nominal[i]) <= SLACK)) return false;
        e[i] = (signed char)r;
    }
    *out = (snw_dim){e[0], e[1], e[2], e[3], e[4], e[5]};
    return true;
}

snw_dim snw_quantity_dim(snw_quantity q) {
    snw_dim dim;
    return !q.truth && !q.plain && whole_dim(q, &dim) ? dim : SNW_DIM_NONE;
}

void snw_quantity_phrase(snw_quantity q, char *out, size_t size) {
    if (q.truth || q.plain) {
        (void)snprintf(out, size, "%s", q.truth ? "a condition" : "a plain number");
        return;
    }
    snw_dim dim;
    if (whole_dim(q, &dim)) {
        snw_dim_phrase(dim, out, size);
        return;
    }
    static const char *const name[SNW_NDIM] = {"m", "kg", "s", "A", "K", "mol"};
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < SNW_NDIM; i++) {
        if (fabsf(q.nominal[i]) <= SLACK || used >= size) continue;
        const int n = snprintf(out + used, size - used, "%s%s^%.3g", used ? "*" : "", name[i],
                               (double)q.nominal[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}
