// SPDX-License-Identifier: MIT
//
// Writer of the data elements of the viewer page, from result files.
#include "output/page.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "output/base64.h"
#include "output/frame_selection.h"
#include "output/json_field.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PAGE_VERSION = 2, BLOCK_NUMBERS = 1 << 17 };

snw_page_opts snw_page_defaults(void) {
    return (snw_page_opts){.bytes = (size_t)24 << 20, .frames = 3000};
}

// A run to be written.
typedef struct page_run {
    const snw_page_source *source;
    const snw_run_info *info;
    int file; // number of its file in the page
    int nframe, nkept;
    int *keep;
    double *t, *stage; // nframe
    double offset[3];  // origin of the positions in the page, m
} page_run;

typedef struct page {
    const snw_page_opts *opts;
    snw_sink sink;
    double *block; // BLOCK_NUMBERS, or one frame where that is more
    size_t room;   // numbers in it
    int n;
    page_run *run;
    bool failed;
} page;

// ---- text --------------------------------------------------------------------------------------

static void page_put(page *p, const char *bytes, size_t size) {
    if (!p->failed && size > 0) p->failed = !p->sink.write(p->sink.user, bytes, size);
}

static void page_put_text(page *p, const char *text) { page_put(p, text, strlen(text)); }

// Sink that writes '<' as an escape. In JSON it occurs within texts only; escaped it can neither
// end the element nor begin another.
static bool put_json_text(void *user, const char *bytes, size_t size) {
    page *p = user;
    for (size_t i = 0, from = 0; i <= size; i++) {
        if (i < size && bytes[i] != '<') continue;
        page_put(p, bytes + from, i - from);
        if (i < size) page_put_text(p, "\\u003c");
        from = i + 1;
    }
    return !p->failed;
}

// ---- arrays ------------------------------------------------------------------------------------

// Sink for base64 text.
static bool put_base64(void *user, const char *bytes, size_t size) {
    page *p = user;
    page_put(p, bytes, size);
    return !p->failed;
}

static void begin_array(snw_base64 *e, page *p, int run, const char *name) {
    char tag[128];
    snw_base64_begin(e, (snw_sink){p, put_base64});
    (void)snprintf(tag, sizeof tag, "<script type=\"application/base64\" id=\"sinew-%d-%s\">", run,
                   name);
    page_put_text(p, tag);
}

static void end_array(snw_base64 *e, page *p) {
    (void)snw_base64_end(e); // p->failed has the failure
    page_put_text(p, "</script>\n");
}

static void encode(snw_base64 *e, double x, bool is_double) {
    if (is_double) {
        snw_base64_double(e, x);
    } else {
        snw_base64_float(e, x);
    }
}

static snw_status page_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "no memory to write the page");
}

// p->block <- the next *n frames of a field, from *first on; *n is 0 after the last one. *first and
// *n are those of the block before.
static snw_status next_block(page *p, const page_run *d, snw_result_field field, int *first, int *n,
                             snw_error *err) {
    const size_t width = snw_result_width(d->info, field);
    *first += *n;
    const size_t fit = p->room / (width > 0 ? width : 1);
    const int left = d->nframe - *first;
    *n = (size_t)left < fit ? left : (int)fit;
    if (*n == 0) return SNW_OK;
    return snw_result_read(d->source->file, d->source->run, field, *first, *n, p->block, err);
}

// The selected frames of a field; positions relative to the offset.
static snw_status write_selected(page *p, const page_run *d, snw_result_field field,
                                 const char *name, bool is_double, snw_error *err) {
    snw_base64 e;
    const size_t width = snw_result_width(d->info, field);
    begin_array(&e, p, (int)(d - p->run), name);
    int first = 0, n = 0;
    for (int k = 0; k < d->nkept && width > 0;) {
        SNW_TRY(next_block(p, d, field, &first, &n, err));
        for (; k < d->nkept && d->keep[k] < first + n; k++) {
            const double *row = p->block + (size_t)(d->keep[k] - first) * width;
            for (size_t i = 0; i < width; i++) {
                const bool position = field == SNW_RESULT_POSE && i % SNW_RESULT_POSE_WIDTH < 3;
                encode(&e, position ? row[i] - d->offset[i % SNW_RESULT_POSE_WIDTH] : row[i],
                       is_double);
            }
        }
    }
    end_array(&e, p);
    return SNW_OK;
}

static void update_extremes(double *extreme, size_t width, const double *row, bool high) {
    for (size_t i = 0; i < width; i++) {
        // NaN is replaced by any number
        const bool take = high ? !(extreme[i] >= row[i]) : !(extreme[i] <= row[i]);
        if (take && !isnan(row[i])) extreme[i] = row[i];
    }
}

// Smallest or largest values from each selected frame up to the next one.
static snw_status write_extremes(page *p, const page_run *d, snw_result_field field,
                                 const char *name, bool high, snw_error *err) {
    snw_base64 e;
    const size_t width = snw_result_width(d->info, field);
    double *extreme = snw_alloc((width + 1) * sizeof *extreme);
    if (!extreme) return page_no_memory(err);
    begin_array(&e, p, (int)(d - p->run), name);
    int first = 0, n = 0, k = 0;
    snw_status s = SNW_OK;
    for (int i = 0; i < d->nframe && width > 0 && s == SNW_OK; i++) {
        if (i == first + n) s = next_block(p, d, field, &first, &n, err);
        if (s != SNW_OK) break;
        const double *row = p->block + (size_t)(i - first) * width;
        if (i == d->keep[k]) memcpy(extreme, row, width * sizeof *extreme);
        update_extremes(extreme, width, row, high);
        if (i + 1 < d->nframe && (k + 1 == d->nkept || i + 1 < d->keep[k + 1])) continue;
        for (size_t c = 0; c < width; c++) encode(&e, extreme[c], true);
        if (k + 1 < d->nkept) k++;
    }
    snw_free(extreme);
    SNW_TRY(s);
    end_array(&e, p);
    return SNW_OK;
}

static snw_status write_arrays(page *p, const page_run *d, snw_error *err) {
    static const struct {
        snw_result_field field;
        const char *name;
        bool is_double;
    } kept[] = {{SNW_RESULT_T, "t", true},
                {SNW_RESULT_STAGE, "stage", false},
                {SNW_RESULT_POSE, "pose", false},
                {SNW_RESULT_LOAD, "load", false},
                {SNW_RESULT_LOOP, "loop", false},
                {SNW_RESULT_CONTACT, "contact", false},
                {SNW_RESULT_EFFORT, "effort", false},
                {SNW_RESULT_PRESENT, "present", false},
                {SNW_RESULT_FORCE_FIELD, "field", false},
                {SNW_RESULT_COLUMNS, "columns", true},
                {SNW_RESULT_ENERGY, "energy", true},
                {SNW_RESULT_STATS, "stats", true}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        SNW_TRY(write_selected(p, d, kept[i].field, kept[i].name, kept[i].is_double, err));
    }
    snw_base64 e;
    begin_array(&e, p, (int)(d - p->run), "frame");
    for (int k = 0; k < d->nkept; k++) snw_base64_bits(&e, (uint64_t)d->keep[k], 4);
    end_array(&e, p);
    if (d->nkept == d->nframe) return SNW_OK;
    SNW_TRY(write_extremes(p, d, SNW_RESULT_COLUMNS, "columns-low", false, err));
    SNW_TRY(write_extremes(p, d, SNW_RESULT_COLUMNS, "columns-high", true, err));
    SNW_TRY(write_extremes(p, d, SNW_RESULT_ENERGY, "energy-low", false, err));
    return write_extremes(p, d, SNW_RESULT_ENERGY, "energy-high", true, err);
}

// ---- description -------------------------------------------------------------------------------

// Solver statistics of a stage.
typedef struct stage_total {
    int frames;
    double first, last;                      // s
    double iterations, tangents, increments; // sums
    double residual, condition, geometry;    // maxima
} stage_total;

static snw_status sum_stages(page *p, const page_run *d, int nstage, stage_total *total,
                             snw_error *err) {
    const int width = SNW_STATS;
    int first = 0, n = 0;
    for (int i = 0; i < d->nframe; i++) {
        if (i == first + n) SNW_TRY(next_block(p, d, SNW_RESULT_STATS, &first, &n, err));
        snw_stats s;
        memcpy(&s, p->block + (size_t)(i - first) * (size_t)width, sizeof s);
        if (!(d->stage[i] >= 0 && d->stage[i] < nstage)) continue;
        stage_total *to = &total[(int)d->stage[i]];
        if (to->frames++ == 0) to->first = d->t[i];
        to->last = d->t[i];
        to->iterations += isfinite(s.iterations) ? s.iterations : 0;
        to->tangents += isfinite(s.tangents) ? s.tangents : 0;
        to->increments += isfinite(s.increments) ? s.increments : 0;
        to->residual = fmax(to->residual, s.residual);
        to->condition = fmax(to->condition, s.condition);
        to->geometry = fmax(to->geometry, s.geometry);
    }
    return SNW_OK;
}

static snw_status put_stages(page *p, snw_json *j, const page_run *d, snw_error *err) {
    const snw_run_info *info = d->info;
    stage_total *total = snw_alloc((size_t)(info->nstage + 1) * sizeof *total);
    if (!total) return page_no_memory(err);
    const snw_status s = sum_stages(p, d, info->nstage, total, err);
    snw_field_list(j, "stages");
    for (int i = 0; i < info->nstage; i++) {
        snw_json_object(j);
        snw_field_text(j, "name", info->stage[i]);
        snw_field_integer(j, "frames", total[i].frames);
        const struct {
            const char *key;
            double value;
        } number[] = {{"first", total[i].first},           {"last", total[i].last},
                      {"iterations", total[i].iterations}, {"tangents", total[i].tangents},
                      {"increments", total[i].increments}, {"residual", total[i].residual},
                      {"condition", total[i].condition},   {"geometry", total[i].geometry}};
        for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
            snw_field_number(j, number[k].key, number[k].value);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_free(total);
    return s;
}

void snw_page_run(snw_json *j, const snw_run_info *info) {
    snw_field_integer(j, "nodes", info->nnode);
    snw_field_integer(j, "loads", info->nload);
    snw_field_integer(j, "loops", info->nloop);
    snw_field_integer(j, "contacts", info->ncontact);
    snw_field_integer(j, "measures", info->ntendon);
    snw_field_integer(j, "switches", info->ncondition);
    snw_field_integer(j, "fields", info->nforce_field_point);
    snw_field_texts(j, "node_link", info->nnode, info->node_link);
    snw_field_list(j, "columns");
    for (int i = 0; i < info->ncolumn; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "probe", info->column[i].probe);
        snw_field_text(j, "component", info->column[i].component);
        snw_field_integer(j, "station", info->column[i].station);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_texts(j, "energy", SNW_ENERGIES, snw_energy_name);
}

// Columns of measurements with names of columns of the run, after their times.
static void put_measured(page *p, snw_json *j, const page_run *d) {
    const snw_run_info *info = d->info;
    snw_field_list(j, "measured");
    for (int i = 0; i < p->opts->nmeasured; i++) {
        const snw_measured *m = &p->opts->measured[i];
        const snw_data_table *table = &m->table;
        if (m->run >= 0 && m->run != (int)(d - p->run)) continue;
        snw_json_object(j);
        snw_field_text(j, "file", m->file);
        snw_field_numbers(j, "t", table->nrow, table->value);
        snw_field_list(j, "columns");
        for (int k = 0; k < info->ncolumn; k++) {
            const int column = snw_measured_column(table, &info->column[k]);
            if (column == 0) continue;
            snw_json_object(j);
            snw_field_integer(j, "column", k);
            snw_field_numbers(j, "value", table->nrow,
                              table->value + (size_t)column * (size_t)table->nrow);
            snw_json_close(j);
        }
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// Overrides by which the run differs from its file.
static void put_overrides(snw_json *j, const snw_run_info *info) {
    snw_field_list(j, "overrides");
    for (int i = 0; i < info->noverride; i++) {
        const snw_override_desc *o = &info->override[i];
        snw_json_object(j);
        snw_field_text(j, "path", o->path);
        snw_field_text(j, "text", o->text);
        snw_field_number(j, "value", o->value);
        snw_field_text(j, "unit", o->unit);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static snw_status put_run(page *p, snw_json *j, const page_run *d, snw_error *err) {
    const snw_run_info *info = d->info;
    const char *message;
    const snw_result_state state = snw_result_state_of(d->source->file, d->source->run, &message);
    snw_json_object(j);
    snw_field_integer(j, "file", d->file);
    snw_field_text(j, "name", info->run);
    snw_field_text(j, "title", info->title);
    snw_field_text(j, "state", snw_result_state_name(state));
    snw_field_text(j, "message", message);
    snw_field_integer(j, "frames", d->nframe);
    snw_field_integer(j, "kept", d->nkept);
    snw_field_integer(j, "freedom", info->nv);
    snw_field_numbers(j, "offset", 3, d->offset);
    snw_page_run(j, info);
    put_overrides(j, info);
    snw_field_texts(j, "stats", SNW_STATS, snw_stats_name);
    snw_field_text(j, "scene", info->scene);
    if (p->opts->nmeasured > 0) put_measured(p, j, d);
    SNW_TRY(put_stages(p, j, d, err));
    snw_json_close(j);
    return SNW_OK;
}

static void put_file(snw_json *j, const snw_page_source *s) {
    snw_json_object(j);
    snw_field_text(j, "name", s->name);
    snw_field_text(j, "version", snw_result_version(s->file));
    snw_field_text(j, "created", snw_result_created(s->file));
    snw_field_text(j, "model", snw_result_model(s->file));
    snw_json_close(j);
}

// A parameter or result of a sweep with its values in the rows of the page.
static void put_sweep_column(snw_json *j, const snw_page_sweep *w, const snw_sweep_column *c,
                             bool varies, const double *all, double *value) {
    for (int i = 0; i < w->n; i++) value[i] = all[w->row[i]];
    snw_json_object(j);
    snw_field_text(j, "name", c->name);
    snw_field_text(j, "unit", c->unit);
    snw_field_text(j, "about", c->about);
    snw_field_bool(j, "varies", varies);
    snw_field_texts(j, "words", c->nlabel, c->label);
    snw_field_numbers(j, "value", w->n, value);
    snw_json_close(j);
}

static snw_status put_sweep(snw_json *j, const snw_page_sweep *w, snw_error *err) {
    const snw_sweep_table *t = w->table;
    const size_t rows = (size_t)t->head.rows;
    double *value = snw_alloc(((size_t)w->n + 1) * sizeof *value);
    if (!value) return page_no_memory(err);
    snw_field_object(j, "sweep");
    snw_field_text(j, "title", t->head.title);
    snw_field_text(j, "method", t->head.method);
    snw_field_number(j, "rows", (double)t->head.rows);
    snw_field_texts(j, "states", t->states.n, t->states.name);
    for (int i = 0; i < w->n; i++) value[i] = (double)w->row[i];
    snw_field_numbers(j, "row", w->n, value);
    for (int i = 0; i < w->n; i++) value[i] = t->state[w->row[i]];
    snw_field_numbers(j, "state", w->n, value);
    for (int i = 0; i < w->n; i++) value[i] = w->run[i];
    snw_field_numbers(j, "run", w->n, value);
    snw_field_list(j, "columns");
    for (int k = 0; k < t->head.nparameter; k++)
        put_sweep_column(j, w, &t->head.parameter[k], true, t->parameter + (size_t)k * rows, value);
    for (int k = 0; k < t->head.nresult; k++)
        put_sweep_column(j, w, &t->head.result[k], false, t->result + (size_t)k * rows, value);
    snw_json_close(j);
    snw_json_close(j);
    snw_free(value);
    return SNW_OK;
}

static snw_status page_write_head(page *p, snw_error *err) {
    snw_json j;
    page_put_text(p, "<script type=\"application/json\" id=\"sinew-data\">");
    snw_json_begin(&j, (snw_sink){p, put_json_text});
    snw_json_object(&j);
    snw_field_integer(&j, "page", PAGE_VERSION);
    snw_field_list(&j, "files");
    for (int i = 0; i < p->n; i++) {
        if (i == 0 || p->run[i].file != p->run[i - 1].file) put_file(&j, p->run[i].source);
    }
    snw_json_close(&j);
    snw_field_list(&j, "runs");
    for (int i = 0; i < p->n; i++) SNW_TRY(put_run(p, &j, &p->run[i], err));
    snw_json_close(&j);
    if (p->opts->sweep) SNW_TRY(put_sweep(&j, p->opts->sweep, err));
    snw_json_close(&j);
    const snw_status s = snw_json_finish(&j, err);
    page_put_text(p, "</script>\n");
    return s;
}

// ---- selection and output ----------------------------------------------------------------------

// Bytes of a frame in the page, before base64.
static size_t frame_bytes(const snw_run_info *info) {
    const size_t single =
        snw_result_width(info, SNW_RESULT_POSE) + snw_result_width(info, SNW_RESULT_LOAD) +
        snw_result_width(info, SNW_RESULT_LOOP) + snw_result_width(info, SNW_RESULT_CONTACT) +
        snw_result_width(info, SNW_RESULT_EFFORT) + snw_result_width(info, SNW_RESULT_PRESENT) + 2;
    const size_t is_double = 3 * (snw_result_width(info, SNW_RESULT_COLUMNS) +
                                  snw_result_width(info, SNW_RESULT_ENERGY)) +
                             snw_result_width(info, SNW_RESULT_STATS) + 1;
    return 4 * single + 8 * is_double;
}

// mark (nframe) <- mode shapes, which are selected with priority
static snw_status find_modes(page *p, const page_run *d, bool *mark, snw_error *err) {
    const size_t width = SNW_STATS;
    int first = 0, n = 0;
    for (int i = 0; i < d->nframe; i++) {
        if (i == first + n) SNW_TRY(next_block(p, d, SNW_RESULT_STATS, &first, &n, err));
        snw_stats s;
        memcpy(&s, p->block + (size_t)(i - first) * width, sizeof s);
        mark[i] = s.mode > 0;
    }
    return SNW_OK;
}

// Offset of the single-precision positions: the mean position in the first frame, so that a robot
// far from the origin keeps its precision.
static snw_status find_offset(page *p, page_run *d, snw_error *err) {
    const int nnode = d->info->nnode;
    if (d->nframe == 0 || nnode == 0) return SNW_OK;
    SNW_TRY(snw_result_read(d->source->file, d->source->run, SNW_RESULT_POSE, 0, 1, p->block, err));
    for (int i = 0; i < nnode; i++) {
        for (int k = 0; k < 3; k++) {
            const double x = p->block[(size_t)i * SNW_RESULT_POSE_WIDTH + (size_t)k] / nnode;
            if (isfinite(x)) d->offset[k] += x;
        }
    }
    return SNW_OK;
}

static snw_status page_prepare_run(page *p, page_run *d, snw_error *err) {
    const snw_run_info *info = d->info;
    d->nframe = snw_result_frames(d->source->file, d->source->run);
    const size_t n = (size_t)d->nframe + 1;
    d->keep = snw_alloc(n * sizeof *d->keep);
    d->t = snw_alloc(n * sizeof *d->t);
    d->stage = snw_alloc(n * sizeof *d->stage);
    bool *mark = snw_alloc(n * sizeof *mark);
    snw_status s = d->keep && d->t && d->stage && mark ? SNW_OK : page_no_memory(err);
    if (s == SNW_OK) {
        s = snw_result_read(d->source->file, d->source->run, SNW_RESULT_T, 0, d->nframe, d->t, err);
    }
    if (s == SNW_OK) {
        s = snw_result_read(d->source->file, d->source->run, SNW_RESULT_STAGE, 0, d->nframe,
                            d->stage, err);
    }
    if (s == SNW_OK) s = find_modes(p, d, mark, err);
    if (s == SNW_OK) s = find_offset(p, d, err);
    if (s == SNW_OK) {
        const size_t fit = p->opts->bytes / (size_t)p->n / frame_bytes(info);
        const int most = fit < 2 ? 2 : fit < (size_t)p->opts->frames ? (int)fit : p->opts->frames;
        snw_select_frames(d->nframe, d->t, d->stage, mark, most, d->keep, &d->nkept);
    }
    snw_free(mark);
    return s;
}

static snw_status write_all(page *p, const snw_page_source *source, snw_error *err) {
    for (int i = 0; i < p->n; i++) {
        page_run *d = &p->run[i];
        d->source = &source[i];
        d->info = snw_result_info(source[i].file, source[i].run);
        d->file = i == 0 ? 0 : d[-1].file + (source[i].file != source[i - 1].file);
        SNW_TRY(page_prepare_run(p, d, err));
    }
    SNW_TRY(page_write_head(p, err));
    for (int i = 0; i < p->n; i++) SNW_TRY(write_arrays(p, &p->run[i], err));
    if (!p->failed) return SNW_OK;
    return snw_fail(err, SNW_E_IO, "cannot write the page: %s",
                    errno == ENOSPC ? "no space left on the device"
                                    : "the output accepts no more data");
}

snw_status snw_page_write(int n, const snw_page_source *source, const snw_page_opts *opts,
                          snw_sink sink, snw_page_info *info, snw_error *err) {
    page p = {.opts = opts, .sink = sink, .n = n, .room = BLOCK_NUMBERS};
    for (int i = 0; i < n; i++) {
        const snw_run_info *shape = snw_result_info(source[i].file, source[i].run);
        for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
            const size_t width = snw_result_width(shape, (snw_result_field)f);
            if (width > p.room) p.room = width;
        }
    }
    p.block = snw_alloc(p.room * sizeof *p.block);
    p.run = snw_alloc((size_t)n * sizeof *p.run);
    const snw_status s = p.block && p.run ? write_all(&p, source, err) : page_no_memory(err);
    for (int i = 0; p.run && i < n; i++) {
        info[i] = (snw_page_info){p.run[i].nframe, p.run[i].nkept};
        snw_free(p.run[i].keep);
        snw_free(p.run[i].t);
        snw_free(p.run[i].stage);
    }
    snw_free(p.block);
    snw_free(p.run);
    return s;
}
