// SPDX-License-Identifier: MIT
//
// Areas between contours, and contours, by triangles.
#include "output/plot_bands.h"

#include <math.h>
#include <string.h>

enum { OUTLINE = 5 };             // most corners of a triangle between two levels
static const double APART = 1e-6; // of levels from the least and the largest value, of their range

// ---- bands --------------------------------------------------------------------------------------

void snw_bands_choose(int64_t n, const double *z, const char *unit, snw_bands *b) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(z[i])) continue;
        least = fmin(least, z[i]);
        most = fmax(most, z[i]);
    }
    b->n = 0;
    b->scale = (snw_unit_scale){.size = 1, .unit = ""};
    if (!(most > least)) return;
    b->scale = snw_unit_scale_make(unit, fmax(fabs(least), fabs(most)));
    const double size = b->scale.size, apart = APART * (most - least);
    const snw_ticks ticks = snw_ticks_make(least / size, most / size, SNW_BANDS - 1);
    for (int i = 0; i < ticks.n && b->n < SNW_BANDS; i++) {
        const double at = snw_tick_value(&ticks, i) * size;
        if (at > least + apart && at < most - apart) b->level[b->n++] = at;
    }
}

int snw_band_of(const snw_bands *b, double z) {
    int k = 0;
    while (k < b->n && z >= b->level[k]) k++;
    return k;
}

unsigned snw_band_colour(const snw_bands *b, int band) {
    return snw_plot_gradient(b->n ? (double)band / b->n : 0.5);
}

const char *snw_band_name(snw_pool *pool, const snw_bands *b, int band) {
    char low[SNW_TICK_SIZE] = "", high[SNW_TICK_SIZE] = "";
    if (b->n == 0) return NULL;
    if (band > 0) snw_shown_number(b->level[band - 1] / b->scale.size, low);
    if (band < b->n) snw_shown_number(b->level[band] / b->scale.size, high);
    if (band == 0) return snw_pool_format(pool, "below %s", high);
    if (band == b->n) return snw_pool_format(pool, "above %s", low);
    return snw_pool_format(pool, "%s to %s", low, high);
}

// ---- triangles ----------------------------------------------------------------------------------

void snw_band_add_point(const snw_bands *b, const double at[2], snw_curve *c) {
    if (c->x) {
        c->x[c->n] = b->log[0] ? exp(at[0]) : at[0];
        c->y[c->n] = b->log[1] ? exp(at[1]) : at[1];
    }
    c->n++;
}

void snw_band_add_gap(const snw_bands *b, snw_curve *c) {
    snw_band_add_point(b, (const double[2]){NAN, NAN}, c);
}

// out <- the part of an outline of n points where sign*(z - level) >= 0; returns its points
static int clip_outline(int n, const snw_band_point *in, double level, double sign,
                        snw_band_point *out) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const snw_band_point *p = &in[i], *q = &in[(i + 1) % n];
        const double here = sign * (p->z - level), next = sign * (q->z - level);
        if (here >= 0) out[count++] = *p;
        if ((here >= 0) == (next >= 0)) continue;
        const double part = here / (here - next);
        out[count++] = (snw_band_point){.at = {p->at[0] + part * (q->at[0] - p->at[0]),
                                               p->at[1] + part * (q->at[1] - p->at[1])},
                                        .z = level};
    }
    return count;
}

void snw_band_add_triangle(const snw_bands *b, const snw_band_point corner[3], int band,
                           snw_curve *c) {
    snw_band_point above[OUTLINE], within[OUTLINE];
    int n = 3;
    memcpy(within, corner, 3 * sizeof *corner);
    if (band > 0) {
        memcpy(above, within, 3 * sizeof *above);
        n = clip_outline(n, above, b->level[band - 1], 1, within);
    }
    if (band < b->n) {
        memcpy(above, within, sizeof above);
        n = clip_outline(n, above, b->level[band], -1, within);
    }
    if (n < 3) return;
    for (int i = 0; i < n; i++) snw_band_add_point(b, within[i].at, c);
    snw_band_add_gap(b, c);
}

void snw_band_add_contour(const snw_bands *b, const snw_band_point corner[3], int level,
                          double least, snw_curve *c) {
    const snw_band_point *p = corner;
    const double z = b->level[level];
    double at[2][2], extent[2];
    int n = 0;
    for (int i = 0; i < 3 && n < 2; i++) {
        const int k = (i + 1) % 3;
        if ((p[i].z < z) == (p[k].z < z)) continue;
        const double part = (z - p[i].z) / (p[k].z - p[i].z);
        for (int a = 0; a < 2; a++) at[n][a] = p[i].at[a] + part * (p[k].at[a] - p[i].at[a]);
        n++;
    }
    if (n < 2) return;
    for (int a = 0; a < 2; a++)
        extent[a] = fabs(p[1].at[a] - p[0].at[a]) + fabs(p[2].at[a] - p[0].at[a]);
    if (fabs(at[1][0] - at[0][0]) < least * extent[0] &&
        fabs(at[1][1] - at[0][1]) < least * extent[1])
        return;
    for (int i = 0; i < 2; i++) snw_band_add_point(b, at[i], c);
    snw_band_add_gap(b, c);
}
