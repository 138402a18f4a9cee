// SPDX-License-Identifier: MIT
//
// plot_bands.h: a quantity over a plane by its contours: the areas between neighbouring levels, in
// shades, and the lines at the levels. The plane is divided into triangles, along which the
// quantity is linear.
#pragma once

#include "base/pool.h"
#include "output/plot.h"
#include "output/plot_scale.h"

#include <stdint.h>

enum { SNW_BANDS = 9 }; // most levels

typedef struct snw_bands {
    snw_unit_scale scale; // of the unit in which levels are round
    int n;                // levels, of n + 1 bands
    double level[SNW_BANDS];
    bool log[2]; // are places along x and y logarithms?
} snw_bands;

// A point of the plane. Along a logarithmic axis its place is the logarithm, so that lines between
// points are straight in the figure.
typedef struct snw_band_point {
    double at[2], z;
} snw_band_point;

// scale, n, level <- round levels between the least and the largest of the values that are finite
void snw_bands_choose(int64_t n, const double *z, const char *unit, snw_bands *b);

// Band of a value, 0 to n; its colour, and its name: "below 1", "1 to 2", "above 2". NULL: no
// memory, or no level.
int snw_band_of(const snw_bands *b, double z);
unsigned snw_band_colour(const snw_bands *b, int band);
const char *snw_band_name(snw_pool *pool, const snw_bands *b, int band);

// Points, and gaps between outlines, are appended to curves; without arrays they are counted only.
void snw_band_add_point(const snw_bands *b, const double at[2], snw_curve *c);
void snw_band_add_gap(const snw_bands *b, snw_curve *c);
// The part of a triangle within a band: an outline with at most 5 points, and a gap.
void snw_band_add_triangle(const snw_bands *b, const snw_band_point corner[3], int band,
                           snw_curve *c);
// The line at a level through a triangle: 2 points and a gap, or nothing. Lines shorter than the
// part `least` of the triangle, where a corner is on the level, are left out.
void snw_band_add_contour(const snw_bands *b, const snw_band_point corner[3], int level,
                          double least, snw_curve *c);
