// SPDX-License-Identifier: MIT
//
// image.h: HDF5 files that are written in memory, so that the caller writes the file at once or not
// at all: tables of numbers and texts.
#pragma once

#include <hdf5.h>
#include <stdbool.h>

// A new file in memory; negative: HDF5 failed. The caller closes it by H5Fclose.
hid_t snw_image_open(void);
// Data set `name` at `at`: an array of numbers, n texts. False: HDF5 failed.
bool snw_image_numbers(hid_t at, const char *name, int rank, const hsize_t *size, const double *x);
bool snw_image_texts(hid_t at, const char *name, int n, const char *const *text);
// *bytes (to be freed by snw_free), *size <- contents of the file.
bool snw_image_take(hid_t file, void **bytes, size_t *size);
