// SPDX-License-Identifier: MIT
//
// A linear model as an HDF5 file: matrices A, B, C, D as data sets by rows, groups state, input and
// output with names, units and values, and poles. Written in memory, so that the caller writes the
// file at once or not at all.
#include "results/linear_file.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "results/result_file.h"

#include <hdf5.h>

static bool write_numbers(hid_t at, const char *name, int rank, const hsize_t *size,
                          const double *x) {
    const hid_t space = H5Screate_simple(rank, size, NULL);
    const hid_t set =
        H5Dcreate2(at, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = set >= 0;
    bool some = true;
    for (int i = 0; i < rank; i++) some = some && size[i] > 0;
    if (good && some)
        good = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    return good;
}

static bool write_texts(hid_t at, const char *name, int n, const char *const *text) {
    const hsize_t size = (hsize_t)n;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
    bool good =
        type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    const hid_t set = good
                          ? H5Dcreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                          : H5I_INVALID_HID;
    good = set >= 0;
    if (good && n > 0) good = H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

// by rows, from storage by columns
static bool write_matrix(hid_t at, const char *name, int rows, int columns, const double *x,
                         double *scratch) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            scratch[(size_t)i * (size_t)columns + (size_t)j] =
                x[(size_t)j * (size_t)rows + (size_t)i];
    }
    const hsize_t size[2] = {(hsize_t)rows, (hsize_t)columns};
    return write_numbers(at, name, 2, size, scratch);
}

static bool write_signals(hid_t file, const char *name, int n, const snw_linear_signal *signal,
                          double *scratch, const char **text) {
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return false;
    const hsize_t size = (hsize_t)n;
    for (int i = 0; i < n; i++) text[i] = signal[i].name;
    bool good = write_texts(group, "name", n, text);
    for (int i = 0; i < n; i++) text[i] = signal[i].unit;
    good = good && write_texts(group, "unit", n, text);
    for (int i = 0; i < n; i++) scratch[i] = signal[i].value;
    good = good && write_numbers(group, "value", 1, &size, scratch);
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
        good = good && write_numbers(group, column[k], 1, &size, scratch);
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
           write_numbers(file, "time", 1, &one, &m->time) &&
           write_numbers(file, "step", 1, &one, &m->step) &&
           write_signals(file, "state", m->nx, m->state, scratch, text) &&
           write_signals(file, "input", m->nu, m->input, scratch, text) &&
           write_signals(file, "output", m->ny, m->output, scratch, text) &&
           write_poles(file, m, scratch);
}

// *bytes <- the closed form of a file in memory
static bool take_image(hid_t file, void **bytes, size_t *size) {
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) return false;
    const ssize_t n = H5Fget_file_image(file, NULL, 0);
    if (n <= 0) return false;
    *bytes = snw_alloc((size_t)n);
    if (!*bytes || H5Fget_file_image(file, *bytes, (size_t)n) != n) return false;
    *size = (size_t)n;
    return true;
}

snw_status snw_linear_image(const snw_linear_model *m, void **bytes, size_t *size, snw_error *err) {
    enum { GROWTH = 1 << 16 };
    snw_file_silence_hdf5();
    *bytes = NULL;
    const size_t n = (size_t)(m->nx + m->nu + m->ny) + 1;
    double *scratch = snw_alloc(n * n * sizeof *scratch);
    const char **text = snw_alloc(n * sizeof *text);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    if (scratch && text && access >= 0 && H5Pset_fapl_core(access, GROWTH, false) >= 0)
        file = H5Fcreate("linear", H5F_ACC_TRUNC, H5P_DEFAULT, access); // no file of that name
    const bool good =
        file >= 0 && write_model(file, m, scratch, text) && take_image(file, bytes, size);
    if (file >= 0) (void)H5Fclose(file);
    if (access >= 0) (void)H5Pclose(access);
    snw_free(scratch);
    snw_free(text);
    if (good) return SNW_OK;
    snw_free(*bytes);
    *bytes = NULL;
    return snw_fail(err, SNW_E_IO,
                    "HDF5 could not write the linear model; memory may be exhausted");
}
