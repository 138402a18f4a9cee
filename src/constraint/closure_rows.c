// SPDX-License-Identifier: MIT
//
// A model with its own loops, and the choice of their rows as numbers.
#include "constraint/closure_rows.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

snw_status snw_closure_rows_create(const snw_model *compiled, snw_closure_rows **out) {
    int spare = 0;
    *out = NULL;
    for (int i = 0; i < compiled->nloop; i++) spare += compiled->loop[i].nredundant;
    if (spare == 0) return SNW_OK;
    snw_closure_rows *rows = snw_alloc(sizeof *rows);
    if (!rows) return SNW_E_MEMORY;
    rows->loop = snw_alloc((size_t)compiled->nloop * sizeof *rows->loop);
    if (!rows->loop) {
        snw_free(rows);
        return SNW_E_MEMORY;
    }
    rows->compiled = compiled;
    rows->model = *compiled;
    rows->model.loop = rows->loop;
    snw_closure_rows_reset(rows);
    *out = rows;
    return SNW_OK;
}

void snw_closure_rows_destroy(snw_closure_rows *rows) {
    if (!rows) return;
    snw_free(rows->loop);
    snw_free(rows);
}

void snw_closure_rows_reset(snw_closure_rows *rows) {
    const snw_model *m = rows->compiled;
    memcpy(rows->loop, m->loop, (size_t)m->nloop * sizeof *rows->loop);
}

static bool same_coefficients(const double a[6], const double b[6]) {
    for (int i = 0; i < 6; i++) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

int snw_closure_row_of(const snw_loop *now, int r, const snw_loop *of, int n) {
    int k = 0;
    while (k < n - 1 && !same_coefficients(now->coefficient[r], of->coefficient[k])) k++;
    return k;
}

// Index in the compiled model of active or spare row r of a loop.
static int compiled_row(const snw_loop *now, const snw_loop *compiled, int r) {
    return snw_closure_row_of(now, r, compiled, now->nrow + now->nredundant);
}

// Do both loops have the same rows, in any order?
static bool has_same_rows(const snw_loop *a, const snw_loop *b) {
    if (a->nrow != b->nrow || a->nredundant != b->nredundant) return false;
    for (int r = 0; r < a->nrow + a->nredundant; r++) {
        if (!same_coefficients(a->coefficient[r], b->coefficient[compiled_row(a, b, r)]))
            return false;
    }
    return true;
}

void snw_closure_rows_copy(const snw_closure_rows *from, snw_closure_rows *to) {
    for (int i = 0; i < to->model.nloop; i++) {
        if (has_same_rows(&from->loop[i], &to->loop[i]))
            memcpy(to->loop[i].coefficient, from->loop[i].coefficient,
                   sizeof to->loop[i].coefficient);
    }
}

// digits in base six: index of the row at position r, less r
double snw_closure_rows_choice(const snw_closure_rows *rows, int i) {
    const snw_loop *loop = &rows->loop[i];
    double code = 0;
    for (int r = loop->nrow + loop->nredundant - 1; r >= 0 && loop->nredundant > 0; r--) {
        code = 6 * code + (compiled_row(loop, &rows->compiled->loop[i], r) - r + 6) % 6;
    }
    return code;
}

bool snw_closure_rows_set_choice(snw_closure_rows *rows, int i, double choice) {
    snw_loop *loop = &rows->loop[i];
    const int n = loop->nredundant > 0 ? loop->nrow + loop->nredundant : 0;
    if (!(choice >= 0 && choice < 46656 && choice == floor(choice))) return false; // 6^6
    int code = (int)choice, row[6];
    bool seen[6] = {false};
    for (int r = 0; r < n; r++, code /= 6) {
        row[r] = (r + code % 6) % 6;
        if (row[r] >= n || seen[row[r]]) return false;
        seen[row[r]] = true;
    }
    if (code != 0) return false;
    for (int r = 0; r < n; r++)
        memcpy(loop->coefficient[r], rows->compiled->loop[i].coefficient[row[r]],
               sizeof loop->coefficient[r]);
    return true;
}
