// SPDX-License-Identifier: MIT
//
// A linear model as an HDF5 file: matrices A, B, C, D as data sets by rows, groups state, input and
// output with names, units and values, and poles. Written in memory, so that the caller writes the
// file at once or not at all.
#include "results/linear_file.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "results/image.h"

// by rows, from storage by columns
static bool write_matrix(hid_t at, const char *name, int rows, int columns, const double *x,
                         double *scratch) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            scratch[(size_t)i * (size_t)columns + (size_t)j] =
                x[(size_t)j * (size_t)rows + (size_t)i];
    }
    const hsize_t size[2] = {(hsize_t)rows, (hsize_t)columns};
    return snw_image_numbers(at, name, 2, size, scratch);
}

static bool write_signals(hid_t file, const char *name, int n, const snw_linear_signal *signal,
                          double *scratch, const char **text) {
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    const hsize_t size = (hsize_t)n;
    for (int i = 0; i < n; i++) text[i] = signal[i].name;
    bool good = snw_image_texts(group, "name", n, text);
    for (int i = 0; i < n; i++) text[i] = signal[i].unit;
    good = good && snw_image_texts(group, "unit", n, text);
    for (int i = 0; i < n; i++) scratch[i] = signal[i].value;
    good = good && snw_image_numbers(group, "value", 1, &size, scratch);
    (void)H5Gclose(group);
    return good;
}

static bool write_poles(hid_t file, const snw_linear_model *m, double *scratch) {
    enum { COLUMNS = 7 };
    static const char *const column[COLUMNS] = {
        "re", "im", "frequency", "damping", "controllable", "observable", "parasitic"};
    const hid_t group = H5Gcreate2(file, "pole", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    bool good = true;
    const hsize_t size = (hsize_t)m->npole;
    for (int k = 0; k < COLUMNS; k++) {
        for (int i = 0; i < m->npole; i++) {
            const snw_linear_pole *p = &m->pole[i];
            const double of[COLUMNS] = {p->re,           p->im,         p->frequency, p->damping,
                                        p->controllable, p->observable, p->parasitic};
            scratch[i] = of[k];
        }
        good = good && snw_image_numbers(group, column[k], 1, &size, scratch);
    }
    (void)H5Gclose(group);
    return good;
}

static bool write_model(hid_t file, const snw_linear_model *m, double *scratch, const char **text) {
    const hsize_t one = 1;
    return write_matrix(file, "A", m->nx, m->nx, m->A, scratch) &&
           write_matrix(file, "B", m->nx, m->nu, m->B, scratch) &&
           write_matrix(file, "C", m->ny, m->nx, m->C, scratch) &&
           write_matrix(file, "D", m->ny, m->nu, m->D, scratch) &&
           snw_image_numbers(file, "time", 1, &one, &m->time) &&
           snw_image_numbers(file, "step", 1, &one, &m->step) &&
           write_signals(file, "state", m->nx, m->state, scratch, text) &&
           write_signals(file, "input", m->nu, m->input, scratch, text) &&
           write_signals(file, "output", m->ny, m->output, scratch, text) &&
           write_poles(file, m, scratch);
}

snw_status snw_linear_image(const snw_linear_model *m, void **bytes, size_t *size, snw_error *err) {
    *bytes = NULL;
    const size_t n = (size_t)(m->nx + m->nu + m->ny) + 1;
    double *scratch = snw_alloc(n * n * sizeof *scratch);
    const char **text = snw_alloc(n * sizeof *text);
    const hid_t file = scratch && text ? snw_image_open() : H5I_INVALID_HID;
    const bool good =
        file >= 0 && write_model(file, m, scratch, text) && snw_image_take(file, bytes, size);
    if (file >= 0) (void)H5Fclose(file);
    snw_free(scratch);
    snw_free(text);
    if (good) return SNW_OK;
    snw_free(*bytes);
    *bytes = NULL;
    return snw_fail(err, SNW_E_IO,
                    "HDF5 could not write the linear model; memory may be exhausted");
}
