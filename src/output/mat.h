// SPDX-License-Identifier: MIT
//
// mat.h: MATLAB files of version 5, which MATLAB, Octave and scipy.io.loadmat read: matrices of
// numbers and columns of texts.
#pragma once

#include "output/sink.h"

typedef struct snw_mat {
    snw_sink sink;
    bool failed; // a write failed; nothing more is written
} snw_mat;

// Begin a file with a text of at most 116 characters.
snw_mat snw_mat_begin(snw_sink sink, const char *text);
// A variable: real matrix (rows x columns, by columns), or complex with im not NULL. `name`:
// letter, then letters, digits and underscores, at most 31.
void snw_mat_matrix(snw_mat *m, const char *name, int rows, int columns, const double *re,
                    const double *im);
// A variable: column of n texts (cell array).
void snw_mat_texts(snw_mat *m, const char *name, int n, const char *const *text);
