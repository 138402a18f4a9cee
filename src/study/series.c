// SPDX-License-Identifier: MIT
//
// Series of probe columns in memory: recording, and values by linear interpolation in time.
#include "study/series.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void snw_series_init(snw_series *s, int ncolumn) {
    SNW_ASSERT(ncolumn >= 0);
    *s = (snw_series){.ncolumn = ncolumn};
}

void snw_series_clear(snw_series *s) {
    snw_free(s->t);
    snw_free(s->stage);
    snw_free(s->special);
    snw_free(s->value);
    snw_series_init(s, s->ncolumn);
}

// ---- recording ---------------------------------------------------------------------------------

// Double the capacity; on SNW_E_MEMORY the series is unchanged.
static snw_status series_grow(snw_series *s, snw_error *err) {
    const size_t row = (size_t)s->ncolumn * sizeof(double);
    const bool fits = s->capacity <= INT_MAX / 2;
    const int capacity = !fits ? INT_MAX : s->capacity ? 2 * s->capacity : 64;
    double *t = NULL, *value = NULL;
    int *stage = NULL, *special = NULL;
    if (fits && (row == 0 || (size_t)capacity <= SIZE_MAX / row)) {
        t = snw_alloc((size_t)capacity * sizeof *t);
        stage = snw_alloc((size_t)capacity * sizeof *stage);
        special = snw_alloc((size_t)capacity * sizeof *special);
        value = snw_alloc((size_t)capacity * row);
    }
    if (!t || !stage || !special || !value) {
        snw_free(t);
        snw_free(stage);
        snw_free(special);
        snw_free(value);
        return snw_fail(err, SNW_E_MEMORY, "no memory for more than %d frames of %d columns",
                        s->nframe, s->ncolumn);
    }
    if (s->nframe > 0) {
        memcpy(t, s->t, (size_t)s->nframe * sizeof *t);
        memcpy(stage, s->stage, (size_t)s->nframe * sizeof *stage);
        memcpy(special, s->special, (size_t)s->nframe * sizeof *special);
        memcpy(value, s->value, (size_t)s->nframe * row);
    }
    snw_free(s->t);
    snw_free(s->stage);
    snw_free(s->special);
    snw_free(s->value);
    s->t = t;
    s->stage = stage;
    s->special = special;
    s->value = value;
    s->capacity = capacity;
    return SNW_OK;
}

static snw_status series_record_frame(void *user, const snw_frame *f, snw_error *err) {
    snw_series *s = user;
    if (f->partial || f->stats.mode > 0) return SNW_OK;
    if (s->nframe == s->capacity) SNW_TRY(series_grow(s, err));
    s->t[s->nframe] = f->t;
    s->stage[s->nframe] = f->stage;
    s->special[s->nframe] = (int)f->stats.special;
    if (s->ncolumn > 0) {
        memcpy(s->value + (size_t)s->nframe * (size_t)s->ncolumn, f->column,
               (size_t)s->ncolumn * sizeof(double));
    }
    s->nframe++;
    return SNW_OK;
}

static snw_status series_record_end(void *user, snw_status status, const char *message,
                                    snw_error *err) {
    (void)message;
    (void)err;
    snw_series *s = user;
    s->status = status;
    return SNW_OK;
}

snw_recorder snw_series_recorder(snw_series *s) {
    const snw_recorder r = {s, series_record_frame, series_record_end};
    return r;
}

// ---- reading -----------------------------------------------------------------------------------

bool snw_series_at(const snw_series *s, int column, double t, double *value) {
    SNW_ASSERT(column >= 0 && column < s->ncolumn);
    const size_t n = (size_t)s->ncolumn;
    const double *v = s->value + column;
    double scale = 0;
    for (int i = 0; i < s->nframe; i++) scale = fmax(scale, fabs(s->t[i]));
    // the frame at t, the latest of the nearest
    int best = -1;
    double distance = 1e-9 * scale;
    for (int i = 0; i < s->nframe; i++) {
        if (fabs(s->t[i] - t) <= distance) {
            distance = fabs(s->t[i] - t);
            best = i;
        }
    }
    if (best >= 0) {
        *value = v[(size_t)best * n];
        return true;
    }
    // the latest pair around t
    for (int i = s->nframe - 1; i > 0; i--) {
        const double t0 = s->t[i - 1], t1 = s->t[i];
        if (!(t0 <= t && t <= t1)) continue;
        const double v0 = v[(size_t)(i - 1) * n], v1 = v[(size_t)i * n];
        *value = v0 + (v1 - v0) * ((t - t0) / (t1 - t0));
        return true;
    }
    return false;
}

int snw_series_last(const snw_series *s, int stage) {
    for (int i = s->nframe - 1; i >= 0; i--) {
        if (s->stage[i] == stage) return i;
    }
    return -1;
}

int snw_series_special(const snw_series *s, int kind, int number) {
    for (int i = 0; i < s->nframe; i++) {
        if (s->special[i] == kind && --number == 0) return i;
    }
    return -1;
}

void snw_column_name(const snw_column *c, char *name, size_t size) {
    char station[16] = "";
    if (c->station >= 0) (void)snprintf(station, sizeof station, "@%d", c->station);
    (void)snprintf(name, size, "%s%s%s%s", c->probe, station, c->component[0] ? "." : "",
                   c->component);
}
