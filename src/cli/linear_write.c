// SPDX-License-Identifier: MIT
//
// Files of linear models. CSV: one table, a line for each state (A, B) and output (C, D), a column
// for each state and input.
#include "cli/linear_write.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "cli/cells.h"
#include "cli/output.h"
#include "output/mat.h"
#include "results/linear_file.h"

#include <string.h>

// ---- CSV ----------------------------------------------------------------------------------------

// state or input k
static const snw_linear_signal *column_at(const snw_linear_model *m, int k) {
    return k < m->nx ? &m->state[k] : &m->input[k - m->nx];
}

static void write_row(const snw_linear_model *m, const snw_sink *to,
                      const snw_linear_signal *signal, int rows, int i, const double *left,
                      const double *right) {
    snw_cell_text(to, signal->name);
    snw_cell_comma(to);
    snw_cell_text(to, signal->unit);
    snw_cell_number(to, signal->value);
    for (int k = 0; k < m->nx; k++) snw_cell_number(to, left[(size_t)k * (size_t)rows + (size_t)i]);
    for (int k = 0; k < m->nu; k++)
        snw_cell_number(to, right[(size_t)k * (size_t)rows + (size_t)i]);
    snw_cell_end(to);
}

static snw_status write_csv(const snw_linear_model *m, snw_sink to, snw_error *err) {
    (void)err;
    snw_cell_text(&to, "name");
    snw_cell_comma(&to);
    snw_cell_text(&to, "unit");
    snw_cell_comma(&to);
    snw_cell_text(&to, "value");
    for (int k = 0; k < m->nx + m->nu; k++)
        snw_cell_comma(&to), snw_cell_text(&to, column_at(m, k)->name);
    snw_cell_end(&to);
    (void)to.write(to.user, "unit,,", 6);
    for (int k = 0; k < m->nx + m->nu; k++)
        snw_cell_comma(&to), snw_cell_text(&to, column_at(m, k)->unit);
    snw_cell_end(&to);
    (void)to.write(to.user, "value,,", 7);
    for (int k = 0; k < m->nx + m->nu; k++) snw_cell_number(&to, column_at(m, k)->value);
    snw_cell_end(&to);
    for (int i = 0; i < m->nx; i++) write_row(m, &to, &m->state[i], m->nx, i, m->A, m->B);
    for (int i = 0; i < m->ny; i++) write_row(m, &to, &m->output[i], m->ny, i, m->C, m->D);
    return SNW_OK; // failures are kept by the output
}

// ---- MATLAB -------------------------------------------------------------------------------------

static void mat_signals(snw_mat *mat, const char *const name[3], int n,
                        const snw_linear_signal *signal, const char **text, double *value) {
    for (int i = 0; i < n; i++) text[i] = signal[i].name;
    snw_mat_texts(mat, name[0], n, text);
    for (int i = 0; i < n; i++) text[i] = signal[i].unit;
    snw_mat_texts(mat, name[1], n, text);
    for (int i = 0; i < n; i++) value[i] = signal[i].value;
    snw_mat_matrix(mat, name[2], n, 1, value, NULL);
}

static void mat_flags(snw_mat *mat, const snw_linear_model *m, double *value) {
    for (int i = 0; i < m->npole; i++) value[i] = m->pole[i].controllable;
    snw_mat_matrix(mat, "controllable", m->npole, 1, value, NULL);
    for (int i = 0; i < m->npole; i++) value[i] = m->pole[i].observable;
    snw_mat_matrix(mat, "observable", m->npole, 1, value, NULL);
    for (int i = 0; i < m->npole; i++) value[i] = m->pole[i].parasitic;
    snw_mat_matrix(mat, "parasitic", m->npole, 1, value, NULL);
}

static snw_status write_mat(const snw_linear_model *m, snw_sink to, snw_error *err) {
    static const char *const state[] = {"state_name", "state_unit", "state_value"},
                             *const input[] = {"input_name", "input_unit", "input_value"},
                             *const output[] = {"output_name", "output_unit", "output_value"};
    const size_t n = (size_t)(m->nx + m->nu + m->ny) + 1;
    double *value = snw_alloc(2 * n * sizeof *value);
    const char **text = snw_alloc(n * sizeof *text);
    if (!value || !text) {
        snw_free(value);
        snw_free(text);
        return snw_fail_memory(err);
    }
    snw_mat mat = snw_mat_begin(to, "MATLAB 5.0 MAT-file, linear model by Sinew");
    snw_mat_matrix(&mat, "A", m->nx, m->nx, m->A, NULL);
    snw_mat_matrix(&mat, "B", m->nx, m->nu, m->B, NULL);
    snw_mat_matrix(&mat, "C", m->ny, m->nx, m->C, NULL);
    snw_mat_matrix(&mat, "D", m->ny, m->nu, m->D, NULL);
    snw_mat_matrix(&mat, "dt", 1, 1, &m->step, NULL);
    snw_mat_matrix(&mat, "time", 1, 1, &m->time, NULL);
    mat_signals(&mat, state, m->nx, m->state, text, value);
    mat_signals(&mat, input, m->nu, m->input, text, value);
    mat_signals(&mat, output, m->ny, m->output, text, value);
    for (int i = 0; i < m->npole; i++)
        value[i] = m->pole[i].re, value[n + (size_t)i] = m->pole[i].im;
    snw_mat_matrix(&mat, "pole", m->npole, 1, value, value + n);
    mat_flags(&mat, m, value);
    snw_free(value);
    snw_free(text);
    return SNW_OK;
}

// ---- HDF5, and the choice -----------------------------------------------------------------------

static snw_status write_hdf5(const snw_linear_model *m, snw_sink to, snw_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    SNW_TRY(snw_linear_image(m, &bytes, &size, err));
    (void)to.write(to.user, bytes, size);
    snw_free(bytes);
    return SNW_OK;
}

typedef struct format {
    const char *ending;
    snw_status (*write)(const snw_linear_model *m, snw_sink to, snw_error *err);
} format;
static const format formats[] = {{".mat", write_mat}, {".h5", write_hdf5}, {".csv", write_csv}};

static const format *format_of(const char *path) {
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const size_t k = strlen(formats[i].ending);
        if (n > k && strcmp(path + n - k, formats[i].ending) == 0) return &formats[i];
    }
    return NULL;
}

snw_status snw_linear_format_check(const char *path, snw_error *err) {
    if (format_of(path)) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "'%.200s': the name of a linear model's file ends in .mat, .h5 or .csv", path);
}

snw_status snw_linear_write(const snw_linear_model *m, const char *path, snw_error *err) {
    SNW_TRY(snw_linear_format_check(path, err));
    snw_output out;
    SNW_TRY(snw_output_open(path, &out, err));
    return snw_output_close(&out, format_of(path)->write(m, snw_output_sink(&out), err), err);
}
