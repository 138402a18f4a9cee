// SPDX-License-Identifier: MIT
//
// Linear models in a result file. A file that is read while it grows takes no new objects, so that
// all datasets exist from the start, without contents, and grow when the model is known.
#include "results/result_linear.h"

#include "base/alloc.h"
#include "results/result_layout.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 16, ABOUT = 5, POLE = 7, MOST_PIECES = 32 };

// A dataset: numbers by rows, or texts.
typedef struct piece {
    const char *group, *name; // group NULL: of the step
    int rank;
    hsize_t size[2];
    double *number;
    const char **text;
} piece;

// All datasets of a model; the numbers are in `memory`.
typedef struct linear_pieces {
    int n;
    piece piece[MOST_PIECES];
    double *memory, *next;
    const char **texts, **next_text;
} linear_pieces;

static piece *add_piece(linear_pieces *p, const char *group, const char *name, int rank, int rows,
                        int columns) {
    piece *x = &p->piece[p->n++];
    *x = (piece){.group = group,
                 .name = name,
                 .rank = rank,
                 .size = {(hsize_t)rows, (hsize_t)columns},
                 .number = p->next};
    p->next += (size_t)rows * (size_t)columns;
    return x;
}

static void add_matrix(linear_pieces *p, const char *name, int rows, int columns,
                       const double *by_columns) {
    double *to = add_piece(p, NULL, name, 2, rows, columns)->number;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) *to++ = by_columns[(size_t)j * (size_t)rows + (size_t)i];
    }
}

static void add_signals(linear_pieces *p, const char *group, int n,
                        const snw_linear_signal *signal) {
    static const char *const name[] = {"name", "unit"};
    for (int k = 0; k < 2; k++) {
        piece *x = add_piece(p, group, name[k], 1, n, 1);
        p->next = x->number;
        x->number = NULL;
        x->text = p->next_text;
        for (int i = 0; i < n; i++) *p->next_text++ = k == 0 ? signal[i].name : signal[i].unit;
    }
    double *value = add_piece(p, group, "value", 1, n, 1)->number;
    double *exact = add_piece(p, group, "exact", 1, n, 1)->number;
    for (int i = 0; i < n; i++) {
        value[i] = signal[i].value;
        exact[i] = signal[i].exact;
    }
}

static const char *const about_name[ABOUT] = {"moving", "residual", "difference", "idle", "held"};
static const char *const pole_name[POLE] = {"re",           "im",         "frequency", "damping",
                                            "controllable", "observable", "parasitic"};

static bool list_pieces(const snw_linear_model *m, linear_pieces *p) {
    const size_t x = (size_t)m->nx + 1, u = (size_t)m->nu + 1, y = (size_t)m->ny + 1;
    *p = (linear_pieces){0};
    p->memory = p->next =
        snw_alloc(((x + y) * (x + u) + 2 * (x + u + y) + POLE * x + 16) * sizeof(double));
    p->texts = p->next_text = snw_alloc(2 * (x + u + y) * sizeof *p->texts);
    if (!p->memory || !p->texts) return false;
    add_matrix(p, "A", m->nx, m->nx, m->A);
    add_matrix(p, "B", m->nx, m->nu, m->B);
    add_matrix(p, "C", m->ny, m->nx, m->C);
    add_matrix(p, "D", m->ny, m->nu, m->D);
    const int one = m->nx + m->nu + m->ny > 0; // an empty group has no values
    add_piece(p, NULL, "time", 1, one, 1)->number[0] = m->time;
    add_piece(p, NULL, "step", 1, one, 1)->number[0] = m->step;
    const double about[ABOUT] = {m->moving, m->residual, m->difference, m->nidle, m->nheld};
    for (int k = 0; k < ABOUT; k++)
        add_piece(p, NULL, about_name[k], 1, one, 1)->number[0] = about[k];
    add_signals(p, "state", m->nx, m->state);
    add_signals(p, "input", m->nu, m->input);
    add_signals(p, "output", m->ny, m->output);
    for (int k = 0; k < POLE; k++) {
        double *to = add_piece(p, "pole", pole_name[k], 1, m->npole, 1)->number;
        for (int i = 0; i < m->npole; i++) {
            const snw_linear_pole *q = &m->pole[i];
            const double of[POLE] = {q->re,           q->im,         q->frequency, q->damping,
                                     q->controllable, q->observable, q->parasitic};
            to[i] = of[k];
        }
    }
    return true;
}

static void free_pieces(linear_pieces *p) {
    snw_free(p->memory);
    snw_free(p->texts);
}

// ---- creation -----------------------------------------------------------------------------------

static bool create_set(hid_t group, const piece *x, int text) {
    const hsize_t none[2] = {0, 0}, most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    const hsize_t chunk[2] = {CHUNK, CHUNK};
    const hid_t type = x->text ? snw_layout_text_type((size_t)text) : H5Tcopy(H5T_IEEE_F64LE);
    const hid_t space = H5Screate_simple(x->rank, none, most);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = H5I_INVALID_HID;
    if (type >= 0 && space >= 0 && H5Pset_chunk(plist, x->rank, chunk) >= 0)
        set = H5Dcreate2(group, x->name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    const bool good = set >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (plist >= 0) (void)H5Pclose(plist);
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

// The group of a piece in that of its step, opened, or created at its first piece.
static hid_t open_part(hid_t step, const piece *x, bool create) {
    if (!x->group) return H5Gopen2(step, ".", H5P_DEFAULT);
    if (create && H5Lexists(step, x->group, H5P_DEFAULT) <= 0)
        return H5Gcreate2(step, x->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return H5Gopen2(step, x->group, H5P_DEFAULT);
}

static bool create_step(hid_t group, const linear_pieces *p, int text) {
    bool good = group >= 0;
    for (int i = 0; good && i < p->n; i++) {
        const hid_t part = open_part(group, &p->piece[i], true);
        good = part >= 0 && create_set(part, &p->piece[i], text);
        if (part >= 0) (void)H5Gclose(part);
    }
    return good;
}

bool snw_layout_create_linear(hid_t run, const snw_run_info *info) {
    if (info->nlinear == 0) return true;
    const snw_linear_model empty = {0};
    linear_pieces p;
    bool good = list_pieces(&empty, &p);
    const hid_t all = H5Gcreate2(run, SNW_LAYOUT_LINEAR, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; good && all >= 0 && i < info->nlinear; i++) {
        char *name = snw_layout_group_name(info->stage[info->linear[i].stage]);
        const hid_t group =
            name ? H5Gcreate2(all, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
        good = create_step(group, &p, info->linear[i].text);
        if (group >= 0) (void)H5Gclose(group);
        snw_free(name);
    }
    free_pieces(&p);
    if (all >= 0) (void)H5Gclose(all);
    return good && all >= 0;
}

// ---- writing ------------------------------------------------------------------------------------

// The texts, padded with NUL to the size of the type.
static char *pack_texts(const piece *x, size_t size) {
    const size_t n = (size_t)x->size[0];
    char *packed = snw_alloc(n * size + 1);
    for (size_t i = 0; packed && i < n; i++)
        (void)snprintf(packed + i * size, size, "%s", x->text[i]);
    return packed;
}

static bool write_set(hid_t group, const piece *x) {
    const hid_t set = H5Dopen2(group, x->name, H5P_DEFAULT);
    if (set < 0) return false;
    const hid_t type = H5Dget_type(set);
    bool good = type >= 0 && H5Dset_extent(set, x->size) >= 0;
    const bool empty = x->size[0] == 0 || (x->rank == 2 && x->size[1] == 0);
    if (good && !empty && x->text) {
        char *packed = pack_texts(x, H5Tget_size(type));
        good = packed && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) >= 0;
        snw_free(packed);
    } else if (good && !empty) {
        good = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x->number) >= 0;
    }
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Dclose(set);
    return good;
}

bool snw_layout_write_linear(hid_t run, const char *step, const snw_linear_model *m) {
    char *name = snw_layout_group_name(step);
    linear_pieces p;
    bool good = list_pieces(m, &p) && name;
    const hid_t all = H5Gopen2(run, SNW_LAYOUT_LINEAR, H5P_DEFAULT);
    const hid_t group = good && all >= 0 ? H5Gopen2(all, name, H5P_DEFAULT) : H5I_INVALID_HID;
    good = good && group >= 0;
    for (int i = 0; good && i < p.n; i++) {
        const hid_t part = open_part(group, &p.piece[i], false);
        good = part >= 0 && write_set(part, &p.piece[i]);
        if (part >= 0) (void)H5Gclose(part);
    }
    if (group >= 0) (void)H5Gclose(group);
    if (all >= 0) (void)H5Gclose(all);
    free_pieces(&p);
    snw_free(name);
    return good;
}
