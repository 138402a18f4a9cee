// SPDX-License-Identifier: MIT
//
// Figures from result files: probes over time, phase plots, energies; with names and pens of
// curves.
#include "output/plot_data.h"

#include "base/fail.h"
#include "language/text.h"
#include "model/special.h"
#include "output/plot_scene.h"
#include "output/scene_read.h"
#include "study/series.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double WIDTH = 0.38; // of a curve, mm
enum { MOST_APART = 6 };          // columns of a family, each with a panel of its own

static snw_status plot_data_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "out of memory: choose fewer runs or probes");
}

// ---- frames ------------------------------------------------------------------------------------

// out (n) <- entry `which` of a field in each frame
static snw_status read_one(const snw_plot_run *run, snw_result_field field, int which, int n,
                           double *out, snw_error *err) {
    enum { BLOCK = 256, WIDEST = 32 };
    double block[BLOCK * WIDEST];
    const size_t width = snw_result_width(snw_result_info(run->file, run->run), field);
    SNW_ASSERT(width <= WIDEST && (size_t)which < width);
    for (int first = 0; first < n; first += BLOCK) {
        const int count = n - first < BLOCK ? n - first : BLOCK;
        SNW_TRY(snw_result_read(run->file, run->run, field, first, count, block, err));
        for (int i = 0; i < count; i++) out[first + i] = block[(size_t)i * width + (size_t)which];
    }
    return SNW_OK;
}

snw_status snw_plot_frames_read(snw_pool *pool, const snw_plot_run *run, snw_plot_frames *out,
                                snw_error *err) {
    const int n = snw_result_frames(run->file, run->run);
    const int mode = (int)(offsetof(snw_stats, mode) / sizeof(double));
    const int path = (int)(offsetof(snw_stats, path) / sizeof(double));
    double *shape = snw_pool_array(pool, (size_t)n, sizeof *shape);
    double *of = snw_pool_array(pool, (size_t)n, sizeof *of);
    *out = (snw_plot_frames){.frame = snw_pool_array(pool, (size_t)n, sizeof *out->frame),
                             .t = snw_pool_array(pool, (size_t)n, sizeof *out->t)};
    if (!shape || !of || !out->frame || !out->t) return plot_data_no_memory(err);
    SNW_TRY(snw_result_read(run->file, run->run, SNW_RESULT_T, 0, n, out->t, err));
    SNW_TRY(read_one(run, SNW_RESULT_STATS, mode, n, shape, err));
    SNW_TRY(read_one(run, SNW_RESULT_STATS, path, n, of, err));
    for (int i = 0; i < n; i++) {
        if (shape[i] > 0) continue;
        // the first point of another path, which the one before contains, is a gap between them
        if (i > 0 && of[i] > 0 && of[i] != of[i - 1] && of[i - 1] > 0) out->t[i] = NAN;
        out->frame[out->n] = i;
        out->t[out->n++] = out->t[i];
    }
    if (out->n == 0) {
        return snw_fail(err, SNW_E_ARGUMENT, "run '%s' contains only shapes of modes",
                        snw_result_info(run->file, run->run)->run);
    }
    out->timeless = true;
    for (int i = 1; i < out->n; i++) {
        if (out->t[i] != out->t[0]) out->timeless = false;
    }
    return SNW_OK;
}

snw_status snw_plot_value(snw_pool *pool, const snw_plot_run *run, const char *column,
                          const double *at, double *out, snw_error *err) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    const int n = snw_result_frames(run->file, run->run);
    int k = 0;
    for (; k < info->ncolumn; k++) {
        char name[256];
        snw_column_name(&info->column[k], name, sizeof name);
        if (strcmp(name, column) == 0) break;
    }
    if (k == info->ncolumn)
        return snw_fail(err, SNW_E_ARGUMENT, "run '%s' has no probe '%s'", info->run, column);
    snw_plot_frames f;
    SNW_TRY(snw_plot_frames_read(pool, run, &f, err));
    double *value = snw_pool_array(pool, (size_t)n, sizeof *value);
    if (!value) return plot_data_no_memory(err);
    SNW_TRY(snw_result_read_column(run->file, run->run, k, 0, n, value, err));
    for (int i = 0; i < f.n; i++) value[i] = value[f.frame[i]];
    *out = value[f.n - 1];
    const snw_series s = {.nframe = f.n, .ncolumn = 1, .t = f.t, .value = value};
    if (!at || snw_series_at(&s, 0, *at, out)) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "run '%s' has no frame at %g s; it goes from %g to %g s",
                    info->run, *at, f.t[0], f.t[f.n - 1]);
}

// value <- values of the selected frames, from values of all frames; NaN in gaps
static void select_values(const snw_plot_frames *f, double *value) {
    for (int i = 0; i < f->n; i++) value[i] = isnan(f->t[i]) ? NAN : value[f->frame[i]];
}

// ---- curves ------------------------------------------------------------------------------------

const char *snw_plot_text(snw_pool *pool, const char *text) {
    const size_t n = strlen(text);
    const bool sound = snw_text_check("", text, n, NULL) == SNW_OK;
    char *copy = snw_pool_text(pool, text, n);
    for (char *c = copy; c && *c; c++) {
        const unsigned char u = (unsigned char)*c;
        if (u < 0x20 || u == 0x7f) *c = ' ';
        if (u >= 0x80 && !sound) *c = '?';
    }
    return copy;
}

// "tip.x", "tip.x, fast" or, with one such curve per run, "fast".
static const char *curve_name(snw_pool *pool, const char *what, const char *run, bool alone) {
    if (!run) return snw_plot_text(pool, what);
    if (alone) return snw_plot_text(pool, run);
    char *both = snw_pool_format(pool, "%s, %s", what, run);
    return both ? snw_plot_text(pool, both) : NULL;
}

// Next curve of a panel; the first call allocates `most`.
static snw_curve *next_curve(snw_pool *pool, snw_panel *p, int most) {
    if (!p->curve) p->curve = snw_pool_array(pool, (size_t)most, sizeof *p->curve);
    return p->curve ? &p->curve[p->ncurve++] : NULL;
}

snw_panel *snw_plot_panel(snw_figure *f, const char *quantity, const char *unit) {
    for (int i = 0; i < f->npanel; i++) {
        if (strcmp(f->panel[i].quantity, quantity) == 0 && strcmp(f->panel[i].unit, unit) == 0) {
            return &f->panel[i];
        }
    }
    f->panel[f->npanel] = (snw_panel){.quantity = quantity, .unit = unit};
    return &f->panel[f->npanel++];
}

// Dashed curves are darker, so that they are visible on a solid one.
static snw_pen pen_of(int colour, int dash) {
    const unsigned own = snw_plot_colour(colour);
    return (snw_pen){dash > 0 ? snw_plot_darker(own, 0.45) : own, WIDTH, dash};
}

// Assign pens: colours distinguish the columns and dashes the runs; when no run has two curves in a
// panel, colours distinguish the runs. On entry pen.dash is the index of the run, and the curves of
// a run are adjacent.
static void assign_pens(snw_figure *f) {
    bool several = false;
    for (int p = 0; p < f->npanel; p++) {
        const snw_panel *panel = &f->panel[p];
        for (int c = 1; c < panel->ncurve; c++) {
            several = several || panel->curve[c].pen.dash == panel->curve[c - 1].pen.dash;
        }
    }
    for (int p = 0; p < f->npanel; p++) {
        snw_panel *panel = &f->panel[p];
        for (int c = 0, what = 0, before = -1; c < panel->ncurve; c++) {
            const int run = panel->curve[c].pen.dash;
            what = run == before ? what + 1 : 0;
            before = run;
            // beyond the palette, dashes distinguish curves
            panel->curve[c].pen = several ? pen_of(what, run + what / SNW_PLOT_COLOURS)
                                          : pen_of(run, run / SNW_PLOT_COLOURS);
        }
    }
}

static snw_status time_axis(snw_pool *pool, const snw_plot_frames *f, double **x, snw_error *err) {
    *x = f->t;
    if (!f->timeless) return SNW_OK;
    *x = snw_pool_array(pool, (size_t)f->n, sizeof **x);
    if (!*x) return plot_data_no_memory(err);
    for (int i = 0; i < f->n; i++) (*x)[i] = i + 1;
    return SNW_OK;
}

// Frames of every run; the x axis is the frame number when no run has different times.
static snw_status plot_data_read_frames(snw_pool *pool, int nrun, const snw_plot_run *run,
                                        snw_plot_frames *f, snw_figure *out, snw_error *err) {
    bool timeless = true;
    for (int i = 0; i < nrun; i++) {
        SNW_TRY(snw_plot_frames_read(pool, &run[i], &f[i], err));
        timeless = timeless && f[i].timeless;
    }
    for (int i = 0; i < nrun; i++) f[i].timeless = timeless;
    *out = (snw_figure){.quantity = timeless ? "frame" : "time",
                        .unit = timeless ? "" : "s",
                        .tight = true,
                        .counted = timeless};
    return SNW_OK;
}

static snw_status plot_data_read_column(snw_pool *pool, const snw_plot_run *run, int column,
                                        const snw_plot_frames *f, double **out, snw_error *err) {
    const int n = snw_result_frames(run->file, run->run);
    *out = snw_pool_array(pool, (size_t)n, sizeof **out);
    if (!*out) return plot_data_no_memory(err);
    SNW_TRY(snw_result_read_column(run->file, run->run, column, 0, n, *out, err));
    select_values(f, *out);
    return SNW_OK;
}

// ---- probes over time --------------------------------------------------------------------------

// Add all curves of run i to their panels, each with room for `room` curves. `apart`: each column
// has a panel of its own, and the first one the names of the runs.
static snw_status plot_data_add_run(snw_pool *pool, int i, const snw_plot_run *run,
                                    const snw_plot_frames *f, int room, bool apart, snw_figure *out,
                                    snw_error *err) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    snw_node *scene;
    double *x;
    SNW_TRY(snw_scene_tree(pool, info, &scene, err));
    SNW_TRY(time_axis(pool, f, &x, err));
    for (int k = 0; k < run->ncolumn; k++) {
        const snw_column *column = &info->column[run->column[k]];
        const char *quantity, *unit;
        snw_plot_quantity(scene, column, &quantity, &unit);
        char name[256];
        snw_column_name(column, name, sizeof name);
        const char *probe = snw_pool_text(pool, name, strlen(name));
        if (!probe) return plot_data_no_memory(err);
        snw_curve *c = next_curve(pool, snw_plot_panel(out, apart ? probe : quantity, unit), room);
        if (!c) return plot_data_no_memory(err);
        *c = (snw_curve){.name = curve_name(pool, name, run->name, apart || run->ncolumn == 1),
                         .probe = probe,
                         .n = f->n,
                         .x = x,
                         .pen.dash = i};
        if (!c->name) return plot_data_no_memory(err);
        if (apart && k > 0) c->name = NULL;
        SNW_TRY(plot_data_read_column(pool, run, run->column[k], f, &c->y, err));
    }
    return SNW_OK;
}

// Pens of a family where each panel has one curve of a run; pen.dash is the index of the run.
static void family_pens(const snw_plot_run *run, snw_figure *f) {
    for (int p = 0; p < f->npanel; p++) {
        for (int c = 0; c < f->panel[p].ncurve; c++) {
            snw_pen *pen = &f->panel[p].curve[c].pen;
            const snw_plot_run *of = &run[pen->dash];
            *pen = (snw_pen){snw_plot_gradient(of->shade), WIDTH, of->dash};
        }
    }
    f->listed = true;
}

snw_status snw_plot_probes(snw_pool *pool, int nrun, const snw_plot_run *run, snw_figure *out,
                           snw_error *err) {
    int room = 0, most = 0;
    bool family = true;
    for (int i = 0; i < nrun; i++) {
        room += run[i].ncolumn;
        most = run[i].ncolumn > most ? run[i].ncolumn : most;
        family = family && run[i].family;
    }
    // dashes alone do not tell many runs apart
    const bool apart = family && most > 1 && most <= MOST_APART;
    family = family && (apart || most == 1);
    snw_plot_frames *f = snw_pool_array(pool, (size_t)nrun, sizeof *f);
    if (!f) return plot_data_no_memory(err);
    SNW_TRY(plot_data_read_frames(pool, nrun, run, f, out, err));
    out->panel = snw_pool_array(pool, (size_t)room, sizeof *out->panel);
    if (!out->panel) return plot_data_no_memory(err);
    for (int i = 0; i < nrun; i++)
        SNW_TRY(plot_data_add_run(pool, i, &run[i], &f[i], room, apart, out, err));
    family ? family_pens(run, out) : assign_pens(out);
    return SNW_OK;
}

// ---- paths of equilibria -----------------------------------------------------------------------

// Add point k of a curve to a part of it, after a gap unless the part ends there.
static void join_point(const snw_curve *whole, int k, int *last, snw_curve *part) {
    if (*last == k) return;
    if (part->n > 0 && *last != k - 1) part->x[part->n] = part->y[part->n] = NAN, part->n++;
    part->x[part->n] = whole->x[k];
    part->y[part->n++] = whole->y[k];
    *last = k;
}

static bool curve_memory(snw_pool *pool, int n, snw_curve *c) {
    c->x = snw_pool_array(pool, (size_t)n + 1, sizeof *c->x);
    c->y = snw_pool_array(pool, (size_t)n + 1, sizeof *c->y);
    return c->x && c->y;
}

// Columns of the statistics of all frames.
typedef struct path_frames {
    int n;
    double *path, *negative, *special, *stability;
} path_frames;

static snw_status read_path(snw_pool *pool, const snw_plot_run *run, path_frames *out,
                            snw_error *err) {
    const int n = snw_result_frames(run->file, run->run);
    double *a = snw_pool_array(pool, 4 * (size_t)n + 1, sizeof *a);
    *out = (path_frames){n, a, a + n, a + 2 * n, a + 3 * n};
    if (!a) return plot_data_no_memory(err);
    const struct {
        size_t at;
        double *to;
    } column[] = {{offsetof(snw_stats, path), out->path},
                  {offsetof(snw_stats, negative), out->negative},
                  {offsetof(snw_stats, special), out->special},
                  {offsetof(snw_stats, stability), out->stability}};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        SNW_TRY(read_one(run, SNW_RESULT_STATS, (int)(column[k].at / sizeof(double)), n,
                         column[k].to, err));
    return SNW_OK;
}

// The only curve of a panel, if it is a path of equilibria: its unstable parts become a dashed
// curve, the curve of its folds one of their colour, its special points dots. *done: it is one.
static snw_status split_path(snw_pool *pool, const snw_plot_run *run, const snw_plot_frames *f,
                             snw_panel *panel, bool *done, snw_error *err) {
    enum { DOTS = SNW_SPECIAL_COUNT - 1, STABLE = 0, UNSTABLE, FOLDS, FIRST_DOT };
    path_frames p;
    SNW_TRY(read_path(pool, run, &p, err));
    *done = false;
    for (int i = 0; i < p.n; i++)
        *done = *done || (p.path[i] > 0 && (p.negative[i] > 0 || p.special[i] > 0));
    if (!*done) return SNW_OK;
    // first points of further paths, too, which are those from which they leave
    snw_plot_frames all = *f;
    all.t = snw_pool_array(pool, (size_t)f->n, sizeof *all.t);
    if (!all.t) return plot_data_no_memory(err);
    snw_curve whole = panel->curve[0];
    SNW_TRY(plot_data_read_column(pool, run, run->column[0], &all, &whole.x, err));
    SNW_TRY(plot_data_read_column(pool, run, run->column[1], &all, &whole.y, err));
    snw_curve part[FIRST_DOT + DOTS] = {
        {.name = "stable"}, {.name = "unstable"}, {.name = "curve of folds"}};
    for (int k = 0; k < FIRST_DOT + DOTS; k++) {
        if (!curve_memory(pool, 3 * whole.n, &part[k])) return plot_data_no_memory(err);
        const int colour = k < FOLDS ? 0 : k == FOLDS ? SNW_SPECIAL_FOLD : k - FIRST_DOT + 1;
        part[k].pen = (snw_pen){snw_plot_colour(colour), WIDTH, k == UNSTABLE};
        part[k].marks = part[k].bare = k >= FIRST_DOT;
        if (k >= FIRST_DOT) part[k].name = snw_special_name((snw_special)(k - FIRST_DOT + 1));
    }
    int last[FIRST_DOT] = {-1, -1, -1};
    for (int k = 0; k < whole.n; k++) {
        const int i = f->frame[k];
        const int kind = (int)p.special[i];
        if (kind > 0 && kind <= DOTS && !isnan(whole.x[k])) {
            snw_curve *to = &part[FIRST_DOT + kind - 1];
            to->x[to->n] = whole.x[k];
            to->y[to->n++] = whole.y[k];
        }
        if (k + 1 == whole.n || isnan(whole.x[k]) || isnan(whole.x[k + 1])) continue;
        const int next = f->frame[k + 1];
        if (p.path[i] > 0 && p.path[next] > 0 && p.path[i] != p.path[next]) {
            for (int of = 0; of < FIRST_DOT; of++) last[of] = -2; // a gap
            continue;
        }
        // at a special point an eigenvalue is zero: the other end of the piece tells; on a curve of
        // folds it is at all points
        const int other = p.special[i] > 0 ? next : i;
        const int of = p.path[next] > 1 && p.stability[i] == 0 && p.stability[next] == 0 ? FOLDS
                       : p.negative[other] > 0                                           ? UNSTABLE
                                                                                         : STABLE;
        join_point(&whole, k, &last[of], &part[of]);
        join_point(&whole, k + 1, &last[of], &part[of]);
    }
    panel->curve = snw_pool_array(pool, FIRST_DOT + DOTS, sizeof *panel->curve);
    if (!panel->curve) return plot_data_no_memory(err);
    panel->ncurve = 0;
    for (int k = 0; k < FIRST_DOT + DOTS; k++)
        if (part[k].n > 0) panel->curve[panel->ncurve++] = part[k];
    return SNW_OK;
}

// ---- phase plots -------------------------------------------------------------------------------

snw_status snw_plot_phase(snw_pool *pool, int nrun, const snw_plot_run *run, snw_figure *out,
                          snw_error *err) {
    *out = (snw_figure){.npanel = 1};
    out->panel = snw_pool_take(pool, sizeof *out->panel);
    if (!out->panel) return plot_data_no_memory(err);
    for (int i = 0; i < nrun; i++) {
        const snw_run_info *info = snw_result_info(run[i].file, run[i].run);
        snw_plot_frames f;
        snw_node *scene;
        SNW_TRY(snw_plot_frames_read(pool, &run[i], &f, err));
        SNW_TRY(snw_scene_tree(pool, info, &scene, err));
        snw_curve *c = next_curve(pool, out->panel, nrun);
        if (!c) return plot_data_no_memory(err);
        *c = (snw_curve){.n = f.n, .pen.dash = i};
        if (run[i].name) c->name = snw_plot_text(pool, run[i].name);
        SNW_TRY(plot_data_read_column(pool, &run[i], run[i].column[0], &f, &c->x, err));
        SNW_TRY(plot_data_read_column(pool, &run[i], run[i].column[1], &f, &c->y, err));
        // units and names are those of the first run
        if (i > 0) continue;
        const char *kind;
        char name[2][256];
        for (int k = 0; k < 2; k++) {
            snw_column_name(&info->column[run->column[k]], name[k], sizeof name[k]);
        }
        snw_plot_quantity(scene, &info->column[run->column[0]], &kind, &out->unit);
        snw_plot_quantity(scene, &info->column[run->column[1]], &kind, &out->panel->unit);
        out->quantity = snw_plot_text(pool, name[0]);
        out->panel->quantity = snw_plot_text(pool, name[1]);
        if (!out->quantity || !out->panel->quantity) return plot_data_no_memory(err);
    }
    // equal scales for a path in space
    out->equal = strcmp(out->unit, "m") == 0 && strcmp(out->panel->unit, "m") == 0;
    bool path = false;
    if (nrun == 1) {
        snw_plot_frames f;
        SNW_TRY(snw_plot_frames_read(pool, run, &f, err));
        SNW_TRY(split_path(pool, run, &f, out->panel, &path, err));
    }
    if (!path) run->family ? family_pens(run, out) : assign_pens(out);
    return SNW_OK;
}

// ---- energies ----------------------------------------------------------------------------------

static bool all_zero(int n, const double *value) {
    for (int i = 0; i < n; i++) {
        if (value[i] != 0) return false;
    }
    return true;
}

static snw_status add_energies(snw_pool *pool, int i, const snw_plot_run *run, int room,
                               const snw_plot_frames *f, snw_figure *out, snw_error *err) {
    double *x;
    SNW_TRY(time_axis(pool, f, &x, err));
    for (int k = 0; k < SNW_ENERGIES; k++) {
        const bool balance = strcmp(snw_energy_name[k], "balance") == 0;
        const int n = snw_result_frames(run->file, run->run);
        double *y = snw_pool_array(pool, (size_t)n, sizeof *y);
        if (!y) return plot_data_no_memory(err);
        SNW_TRY(read_one(run, SNW_RESULT_ENERGY, k, n, y, err));
        select_values(f, y);
        if (!balance && all_zero(f->n, y)) continue;
        snw_panel *panel = snw_plot_panel(out, balance ? "balance" : "energy", "J");
        snw_curve *c = next_curve(pool, panel, room * SNW_ENERGIES);
        if (!c) return plot_data_no_memory(err);
        *c = (snw_curve){.name = curve_name(pool, snw_energy_name[k], run->name, balance),
                         .n = f->n,
                         .x = x,
                         .y = y,
                         .pen = pen_of(k, i)};
        if (!c->name) return plot_data_no_memory(err);
    }
    return SNW_OK;
}

snw_status snw_plot_energy(snw_pool *pool, int nrun, const snw_plot_run *run, snw_figure *out,
                           snw_error *err) {
    snw_plot_frames *f = snw_pool_array(pool, (size_t)nrun, sizeof *f);
    if (!f) return plot_data_no_memory(err);
    SNW_TRY(plot_data_read_frames(pool, nrun, run, f, out, err));
    out->panel = snw_pool_array(pool, 2, sizeof *out->panel);
    if (!out->panel) return plot_data_no_memory(err);
    for (int i = 0; i < nrun; i++) {
        SNW_TRY(add_energies(pool, i, &run[i], nrun, &f[i], out, err));
    }
    return SNW_OK;
}
