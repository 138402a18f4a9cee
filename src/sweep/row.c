// SPDX-License-Identifier: MIT
//
// Computes rows of a sweep. The file is parsed once; a row changes the tree, which is read and
// compiled again, since an override may change anything. Numbers of nodes along rods are taken from
// rows before where they must be the same (reuse.h), and so is what was found out about loops
// (constraint/closure_choice.h). Scalars are parsed again only where the
// columns of a row differ from those of the row before. Some rows are checked: their discretisation
// errors are estimated and their warnings kept. The others run side by side where packs serve their
// steps (study/together.h).
#include "sweep/row.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "job/choice.h"
#include "job/job.h"
#include "language/document.h"
#include "robot/gradient_scalar.h"
#include "study/run.h"
#include "study/series.h"
#include "study/together.h"
#include "sweep/reuse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const snw_sweep_row_state_name[SNW_SWEEP_ROW_STATE_COUNT] = {
#define X(state, name, meaning) name,
    SNW_SWEEP_ROW_STATES(X)
#undef X
};

enum { NAME = 256, MESSAGE = 512, UNIT = 48 };
static const size_t SCALARS_LIMIT = (size_t)64 << 20;

const char *const snw_sweep_engine_name[SNW_SWEEP_ENGINE_COUNT] = {
#define X(engine, name, meaning) name,
    SNW_SWEEP_ENGINES(X)
#undef X
};

// A row that is being computed.
typedef struct row_lane {
    snw_sweep_row_computer *of;
    int number; // of the lane
    snw_sweep_row *out;
    const char **set;   // overrides of the row: those of the plan, then one for each parameter
    char (*text)[NAME]; // those of the parameters
    double *value;      // nparameter
    double *result;     // nresult
    snw_series frames;
    double *numbers; // scratch of scalars, and the series
    size_t room;
    char message[MESSAGE];
    snw_status status;
    snw_error err;
    bool together; // its steps are offered to packs
} row_lane;

struct snw_sweep_row_computer {
    snw_sweep_plan *plan;
    snw_document *document;
    int run;
    char *model_text;
    uint64_t identity;
    // scalars, for runs with these columns
    snw_pool *pool;
    int ncolumn;
    char (*column)[NAME]; // names of the columns, then of the parameters as columns
    snw_scalar *scalar;
    char (*unit)[UNIT]; // of the results
    int nseries;        // columns of the series
    int *series;
    int nlane;
    row_lane *lane;
    snw_together *together; // NULL: rows are computed one after the other
    char alone[160];        // why
    snw_sweep_reuse *reuse;
    snw_run_loops *loops;     // loops of rows before
    bool (*stop)(void *user); // of the present rows
    void *stop_user;
    bool reuses; // the last row took numbers from rows before
    bool fresh;  // rows take nothing from rows before, and all are checked
};

// ---- overrides ----------------------------------------------------------------------------------

static void parameter_text(const snw_sweep_parameter *p, double value, char out[NAME]) {
    if (p->label) {
        (void)snprintf(out, NAME, "%s=%s", p->path, p->label[(int)value]);
    } else {
        (void)snprintf(out, NAME, "%s=%.17g %s", p->path, value, p->unit);
    }
}

static void write_overrides(row_lane *l) {
    const snw_sweep_plan *plan = l->of->plan;
    for (int i = 0; i < plan->nparameter; i++)
        parameter_text(&plan->parameter[i], l->value[i], l->text[i]);
}

// ---- scalars ------------------------------------------------------------------------------------

// Are the columns of a run those for which the scalars were parsed?
static bool same_columns(const snw_sweep_row_computer *c, const snw_run_info *info) {
    if (!c->pool || info->ncolumn != c->ncolumn) return false;
    char name[NAME];
    for (int i = 0; i < info->ncolumn; i++) {
        snw_column_name(&info->column[i], name, sizeof name);
        if (strcmp(name, c->column[i]) != 0) return false;
    }
    return true;
}

// The columns of a run, and behind them the parameters that vary.
static snw_status extend_columns(const snw_sweep_plan *p, snw_pool *pool, const snw_run_info *info,
                                 snw_run_info *out, snw_error *err) {
    const int n = info->ncolumn + p->nparameter;
    snw_column *column = snw_pool_array(pool, (size_t)n + 1, sizeof *column);
    if (!column) return snw_fail_memory(err);
    for (int i = 0; i < info->ncolumn; i++) column[i] = info->column[i];
    for (int i = 0; i < p->nparameter; i++)
        column[info->ncolumn + i] =
            (snw_column){.probe = p->parameter[i].path, .component = "", .station = -1};
    *out = *info;
    out->ncolumn = n;
    out->column = column;
    return SNW_OK;
}

static snw_status parse_results(snw_sweep_row_computer *c, const snw_run_info *extended,
                                snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    const snw_scalar_columns columns = {.info = extended, .nconstant = p->nparameter};
    for (int i = 0; i < p->nresult; i++) {
        const snw_sweep_result *r = &p->result[i];
        const snw_status s = snw_scalar_parse(c->pool, r->text, &columns, &c->scalar[i], err);
        if (s == SNW_E_PARSE)
            return snw_fail_at_location(err, s, r->location.file, r->location.line,
                                        r->location.column);
        SNW_TRY(s);
    }
    return SNW_OK;
}

static snw_status parse_scalars(snw_sweep_row_computer *c, const snw_run_info *info,
                                snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    snw_pool_destroy(c->pool);
    c->pool = snw_pool_create(SCALARS_LIMIT);
    if (!c->pool) return snw_fail_memory(err);
    c->scalar = snw_pool_array(c->pool, (size_t)p->nresult, sizeof *c->scalar);
    c->column = snw_pool_array(c->pool, (size_t)info->ncolumn + 1, sizeof *c->column);
    c->series = snw_pool_array(c->pool, (size_t)info->ncolumn + 1, sizeof *c->series);
    if (!c->scalar || !c->column || !c->series) return snw_fail_memory(err);
    c->ncolumn = info->ncolumn;
    for (int i = 0; i < info->ncolumn; i++)
        snw_column_name(&info->column[i], c->column[i], sizeof *c->column);
    snw_run_info extended;
    SNW_TRY(extend_columns(p, c->pool, info, &extended, err));
    SNW_TRY(parse_results(c, &extended, err));
    c->nseries = 0;
    if (p->nseries == 0) return SNW_OK;
    const snw_status s =
        snw_choose_columns(info, p->nseries, p->series, c->series, &c->nseries, err);
    if (s == SNW_OK) return SNW_OK;
    const snw_source_location at = p->series_location;
    return snw_fail_at_location(err, s == SNW_E_ARGUMENT ? SNW_E_PARSE : s, at.file, at.line,
                                at.column);
}

// ---- the model ----------------------------------------------------------------------------------

// Place an error that belongs to a name of the plan there.
static snw_status at_plan(snw_error *err, snw_status s, snw_source_location at) {
    err->status = s;
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

static snw_status choose_run(snw_sweep_row_computer *c, snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    const int n = snw_document_runs(c->document);
    if (!p->run && n > 1)
        return at_plan(err,
                       snw_fail(err, SNW_E_PARSE,
                                "the model has %d runs; name one of them by 'run', e.g. run: %s", n,
                                snw_document_run_name(c->document, 0)),
                       p->model_location);
    for (c->run = 0; p->run && c->run < n; c->run++) {
        if (strcmp(snw_document_run_name(c->document, c->run), p->run) == 0) return SNW_OK;
    }
    if (!p->run) return SNW_OK;
    return at_plan(err,
                   snw_fail(err, SNW_E_PARSE, "the model has no run '%s'; its first is '%s'",
                            p->run, snw_document_run_name(c->document, 0)),
                   p->run_location);
}

// A parameter must name a part of the model, and have its unit. *asks <- only the model knows.
static snw_status check_parameter(const snw_sweep_plan *p, snw_document_numbers *model,
                                  snw_sweep_parameter *x, bool *asks, snw_error *err) {
    bool given = false;
    snw_quantity_read now = {0};
    const snw_status s = snw_document_numbers_find(model, x->path, p->path, &given, &now, err);
    if (s == SNW_E_MEMORY) return s;
    if (s != SNW_OK && !given) return at_plan(err, s, x->location);
    *err = (snw_error){0};
    *asks = !given;
    if (x->label) return SNW_OK;
    const bool known = s == SNW_OK && given; // not a law, and given by the file
    if (!x->unit) {
        x->unit = known ? snw_pool_text(p->pool, now.unit, strlen(now.unit)) : "";
        return x->unit ? SNW_OK : snw_fail_memory(err);
    }
    if (!known || strcmp(now.unit, x->unit) == 0) return SNW_OK;
    *asks = !now.unit[0]; // `mass: 1` is in kg, which its reader knows
    if (*asks) return SNW_OK;
    return at_plan(err,
                   snw_fail(err, SNW_E_PARSE, "'%s' is in '%s' in the model, and in '%s' here",
                            x->path, now.unit[0] ? now.unit : "1", x->unit[0] ? x->unit : "1"),
                   x->location);
}

// A key that the file does not give may be one that it could, and a number without a unit may take
// one: the model must take the value of the first row or of the last. Other wrong values are those
// of rows.
static snw_status check_in_model(const snw_sweep_row_computer *c, int i, snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    const snw_sweep_parameter *x = &p->parameter[i];
    const int64_t row[2] = {0, p->rows - 1};
    double *value = snw_alloc((size_t)p->nparameter * sizeof *value);
    const char **set = snw_alloc(((size_t)p->nset + 1) * sizeof *set);
    snw_status s = value && set ? SNW_OK : snw_fail_memory(err);
    for (int k = 0; k < p->nset && set; k++) set[k] = p->set[k];
    for (int k = 0; k < 2 && value && set; k++) {
        char text[NAME];
        snw_desc *desc = NULL;
        *err = (snw_error){0};
        snw_sweep_plan_values(p, row[k], value);
        parameter_text(x, value[i], text);
        set[p->nset] = text;
        s = snw_document_describe_with(c->document, c->run, p->nset + 1, set, NULL, &desc, err);
        snw_desc_destroy(desc);
        if (s == SNW_OK || s == SNW_E_MEMORY) break;
    }
    snw_free(value);
    snw_free(set);
    if (s == SNW_OK || s == SNW_E_MEMORY) return s;
    char text[NAME];
    (void)snprintf(text, sizeof text, "the model does not take '%.60s': %.160s", x->path,
                   err->text);
    *err = (snw_error){0};
    return at_plan(err, snw_fail(err, SNW_E_PARSE, "%s", text), x->location);
}

static snw_status check_parameters(snw_sweep_row_computer *c, snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    snw_document_numbers *model;
    SNW_TRY(snw_document_numbers_open(c->document, c->run, p->nset, p->set, &model, err));
    snw_status s = SNW_OK;
    for (int i = 0; i < p->nparameter && s == SNW_OK; i++) {
        bool asks = false;
        s = check_parameter(p, model, &p->parameter[i], &asks, err);
        if (s == SNW_OK && asks) s = check_in_model(c, i, err);
    }
    snw_document_numbers_close(model);
    return s;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
    const unsigned char *b = bytes; // FNV-1a
    for (size_t i = 0; i < n; i++) hash = (hash ^ b[i]) * 0x100000001B3u;
    return hash;
}

static uint64_t identity_of(const snw_sweep_row_computer *c) {
    const snw_sweep_plan *p = c->plan;
    uint64_t hash = hash_bytes(0xCBF29CE484222325u, p->text, strlen(p->text) + 1);
    hash = hash_bytes(hash, c->model_text, strlen(c->model_text) + 1);
    for (int i = 0; i < p->nparameter; i++) {
        const snw_sweep_parameter *x = &p->parameter[i];
        if (x->spread != SNW_SPREAD_COLUMN) continue;
        hash = hash_bytes(hash, x->path, strlen(x->path) + 1);
        hash = hash_bytes(hash, x->value, (size_t)x->n * sizeof *x->value);
    }
    return hash;
}

// Can rows be stepped in packs? c->alone <- why not; empty: they can
static snw_status refuse_packs(snw_sweep_row_computer *c, const snw_desc *desc, const snw_run *run,
                               snw_error *err) {
    if (c->alone[0]) return SNW_OK; // asked for
    if (!c->together) {
        (void)snprintf(c->alone, sizeof c->alone, "this processor or build has no packs");
        return SNW_OK;
    }
    if (snw_together_refuse(desc, run, c->alone) != SNW_OK) return snw_fail_memory(err);
    if (!c->alone[0]) return SNW_OK;
    snw_together_destroy(c->together);
    c->together = NULL;
    return SNW_OK;
}

// kind (ncolumn) <- those of the columns of a run and, behind them, of the parameters
static void column_kinds(const snw_sweep_plan *p, const snw_desc *desc, const snw_run_info *info,
                         snw_component *kind) {
    for (int i = 0; i < info->ncolumn; i++) {
        const snw_column *c = &info->column[i];
        kind[i] = (snw_component){0};
        for (int k = 0; k < desc->nprobe; k++) {
            const snw_probe_desc *probe = &desc->probe[k];
            if (strcmp(probe->name, c->probe) != 0) continue;
            snw_component known[SNW_PROBE_WIDTH];
            const int n = snw_probe_components(probe->kind, probe->joint, known);
            for (int j = 0; j < n; j++) {
                if (strcmp(known[j].name, c->component) == 0) kind[i] = known[j];
            }
        }
    }
    for (int i = 0; i < p->nparameter; i++) {
        snw_component *of = &kind[info->ncolumn + i];
        snw_unit_value unit = {0};
        const char *text = p->parameter[i].unit;
        *of = (snw_component){.angle = p->parameter[i].angle};
        if (text && text[0] && snw_unit_read(text, &unit) == strlen(text)) of->dim = unit.dim;
    }
}

// Units of the results, from those of the columns that they read.
static snw_status find_units(snw_sweep_row_computer *c, const snw_desc *desc,
                             const snw_run_info *info, snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    snw_run_info extended;
    const size_t n = (size_t)(info->ncolumn + p->nparameter) + 1;
    snw_component *kind = snw_pool_array(c->pool, n, sizeof *kind);
    c->unit = snw_pool_array(p->pool, (size_t)p->nresult, sizeof *c->unit);
    if (!kind || !c->unit) return snw_fail_memory(err);
    SNW_TRY(extend_columns(p, c->pool, info, &extended, err));
    column_kinds(p, desc, info, kind);
    const snw_scalar_columns columns = {
        .info = &extended, .nconstant = p->nparameter, .kind = kind};
    for (int i = 0; i < p->nresult; i++)
        snw_scalar_unit(c->pool, p->result[i].text, &columns, c->unit[i], sizeof *c->unit);
    return SNW_OK;
}

// The model with the values of its file: it must be right, and have the results.
static snw_status check_model(snw_sweep_row_computer *c, snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    snw_desc *desc = NULL;
    snw_run *run = NULL;
    snw_status s =
        snw_document_describe_with(c->document, c->run, p->nset, p->set, NULL, &desc, err);
    if (s == SNW_OK) s = snw_run_create(desc, "sweep", &run, err);
    if (s == SNW_OK) s = parse_scalars(c, snw_run_describe(run), err);
    if (s == SNW_OK) s = find_units(c, desc, snw_run_describe(run), err);
    if (s == SNW_OK) s = refuse_packs(c, desc, run, err);
    snw_run_destroy(run);
    snw_desc_destroy(desc);
    return s;
}

static snw_status create_lanes(snw_sweep_row_computer *c, snw_error *err) {
    const snw_sweep_plan *p = c->plan;
    const size_t n = (size_t)(p->nset + p->nparameter) + 1;
    c->nlane = c->together ? snw_together_lanes(c->together) : 1;
    c->lane = snw_alloc((size_t)c->nlane * sizeof *c->lane);
    if (!c->lane) return snw_fail_memory(err);
    for (int i = 0; i < c->nlane; i++) {
        row_lane *l = &c->lane[i];
        l->of = c;
        l->number = i;
        l->set = snw_alloc(n * sizeof *l->set);
        l->text = snw_alloc(n * sizeof *l->text);
        l->value = snw_alloc(n * sizeof *l->value);
        l->result = snw_alloc((size_t)p->nresult * sizeof *l->result);
        if (!l->set || !l->text || !l->value || !l->result) return snw_fail_memory(err);
        for (int k = 0; k < p->nset; k++) l->set[k] = p->set[k];
        for (int k = 0; k < p->nparameter; k++) l->set[p->nset + k] = l->text[k];
    }
    if (snw_run_loops_create(&c->loops) != SNW_OK) return snw_fail_memory(err);
    return snw_sweep_reuse_create(c->nlane, &c->reuse, err);
}

static snw_status open_computer(snw_sweep_row_computer *c, snw_sweep_engine engine,
                                snw_error *err) {
    snw_sweep_plan *p = c->plan;
    if (engine == SNW_SWEEP_ALONE)
        (void)snprintf(c->alone, sizeof c->alone, "asked for");
    else if (snw_together_create(0, &c->together) != SNW_OK)
        return snw_fail_memory(err);
    snw_status s = snw_document_read(p->model, 0, NULL, &c->document, err);
    if (s == SNW_E_IO && strcmp(err->file, p->model) == 0) { // the file named by the plan
        char text[NAME];
        (void)snprintf(text, sizeof text, "%.100s: %.140s", p->model, err->text);
        return at_plan(err, snw_fail(err, s, "%s", text), p->model_location);
    }
    SNW_TRY(s);
    SNW_TRY(choose_run(c, err));
    SNW_TRY(check_parameters(c, err));
    SNW_TRY(check_model(c, err));
    SNW_TRY(create_lanes(c, err));
    SNW_TRY(snw_job_text(c->document, p->nset, p->set, &c->model_text, err));
    c->identity = identity_of(c);
    return SNW_OK;
}

snw_status snw_sweep_row_computer_open(snw_sweep_plan *plan, snw_sweep_engine engine,
                                       snw_sweep_row_computer **out, snw_error *err) {
    snw_sweep_row_computer *c = *out = snw_alloc(sizeof *c);
    if (!c) return snw_fail_memory(err);
    c->plan = plan;
    const snw_status s = open_computer(c, engine, err);
    if (s == SNW_OK) return SNW_OK;
    if (!err->file[0]) (void)snprintf(err->file, sizeof err->file, "%s", plan->model);
    snw_sweep_row_computer_close(c);
    *out = NULL;
    return s;
}

void snw_sweep_row_computer_close(snw_sweep_row_computer *c) {
    if (!c) return;
    for (int i = 0; c->lane && i < c->nlane; i++) {
        row_lane *l = &c->lane[i];
        snw_series_clear(&l->frames);
        snw_free(l->numbers);
        snw_free(l->set);
        snw_free(l->text);
        snw_free(l->value);
        snw_free(l->result);
    }
    snw_free(c->lane);
    snw_together_destroy(c->together);
    snw_pool_destroy(c->pool);
    snw_free(c->model_text);
    snw_sweep_reuse_destroy(c->reuse);
    snw_run_loops_destroy(c->loops);
    snw_document_destroy(c->document);
    snw_free(c);
}

int snw_sweep_row_columns(const snw_sweep_row_computer *c) { return c->nseries; }
const char *snw_sweep_row_column(const snw_sweep_row_computer *c, int i) {
    return c->column[c->series[i]];
}
const char *snw_sweep_row_unit(const snw_sweep_row_computer *c, int i) { return c->unit[i]; }
const snw_sweep_plan *snw_sweep_row_plan(const snw_sweep_row_computer *c) { return c->plan; }
const char *snw_sweep_row_model_text(const snw_sweep_row_computer *c) { return c->model_text; }
uint64_t snw_sweep_row_identity(const snw_sweep_row_computer *c) { return c->identity; }
int snw_sweep_row_lanes(const snw_sweep_row_computer *c) { return c->nlane; }
const char *snw_sweep_row_packs(const snw_sweep_row_computer *c, const char **why) {
    *why = c->alone;
    return c->together ? snw_together_engine(c->together) : NULL;
}

snw_status snw_sweep_row_refuse_output(const snw_sweep_row_computer *c, const char *output,
                                       snw_error *err) {
    SNW_TRY(snw_job_refuse_output("plan", c->plan->path, output, err));
    return snw_job_refuse_output_model(c->document, output, err);
}

// ---- rows ---------------------------------------------------------------------------------------

static snw_status row_room(row_lane *l, size_t n, snw_error *err) {
    if (n <= l->room) return SNW_OK;
    snw_free(l->numbers);
    l->room = 0;
    l->numbers = snw_alloc(n * sizeof *l->numbers);
    if (!l->numbers) return snw_fail_memory(err);
    l->room = n;
    return SNW_OK;
}

// Frames with the parameters behind the columns; whether each belongs to a motion.
static void extend_frames(const row_lane *l, const snw_desc *desc, double *y, bool *moves) {
    const snw_series *s = &l->frames;
    const size_t n = (size_t)s->ncolumn, k = (size_t)l->of->plan->nparameter;
    for (int i = 0; i < s->nframe; i++, y += n + k) {
        if (n > 0) memcpy(y, s->value + (size_t)i * n, n * sizeof *y);
        memcpy(y + n, l->value, k * sizeof *y);
        const bool motion = desc->step[s->stage[i]].kind == SNW_STEP_DYNAMIC;
        moves[i] = motion && i > 0 && s->stage[i - 1] == s->stage[i];
    }
}

static snw_status evaluate_results(row_lane *l, const snw_desc *desc, snw_error *err) {
    snw_sweep_row_computer *c = l->of;
    const snw_series *s = &l->frames;
    const size_t n = (size_t)s->nframe, width = (size_t)(s->ncolumn + c->plan->nparameter);
    int most = 1;
    for (int i = 0; i < c->plan->nresult; i++)
        most = c->scalar[i].nsum > most ? c->scalar[i].nsum : most;
    SNW_TRY(row_room(l, n * (width + 2) + (size_t)most, err));
    double *y = l->numbers, *weight = y + n * width, *by_sum = weight + n;
    bool *moves = (bool *)(by_sum + most);
    extend_frames(l, desc, y, moves);
    const snw_scalar_frames frames = {.n = s->nframe,
                                      .ncolumn = (int)width,
                                      .t = s->t,
                                      .y = y,
                                      .moves = moves,
                                      .special = s->special};
    for (int i = 0; i < c->plan->nresult; i++) {
        snw_error why = {0};
        if (snw_scalar_value(&c->scalar[i], &frames, weight, by_sum, &l->result[i], &why) == SNW_OK)
            continue;
        return snw_fail(err, why.status, "%s: %.400s", c->plan->result[i].name, why.text);
    }
    return SNW_OK;
}

// Series after the results were evaluated: time and the chosen columns of each frame.
static snw_status gather_series(row_lane *l, snw_error *err) {
    const snw_sweep_row_computer *c = l->of;
    const snw_series *s = &l->frames;
    const size_t width = (size_t)c->nseries + 1;
    if (c->nseries == 0) return SNW_OK;
    SNW_TRY(row_room(l, (size_t)s->nframe * width + 1, err));
    for (int i = 0; i < s->nframe; i++) {
        double *to = l->numbers + (size_t)i * width;
        to[0] = s->t[i];
        for (int k = 0; k < c->nseries; k++)
            to[1 + k] = s->value[(size_t)i * (size_t)s->ncolumn + (size_t)c->series[k]];
    }
    l->out->nframe = s->nframe;
    l->out->series = l->numbers;
    return SNW_OK;
}

// Keep the first warning of a checked row as its message.
static void row_warning(void *user, const char *message) {
    row_lane *l = user;
    if (!l->message[0]) (void)snprintf(l->message, sizeof l->message, "warning: %.480s", message);
}

static bool row_stop(void *user) {
    const snw_sweep_row_computer *c = ((const row_lane *)user)->of;
    return c->stop && c->stop(c->stop_user);
}

// Scalars and series for the columns of this run; another row may have other columns.
static snw_status choose_columns(snw_sweep_row_computer *c, const snw_run_info *info,
                                 snw_error *err) {
    return same_columns(c, info) ? SNW_OK : parse_scalars(c, info, err);
}

static snw_status execute_row(row_lane *l, const snw_desc *desc, snw_run *run, bool checked,
                              snw_error *err) {
    snw_sweep_row_computer *c = l->of;
    const snw_run_info *info = snw_run_describe(run);
    SNW_TRY(choose_columns(c, info, err));
    snw_series_clear(&l->frames);
    snw_series_init(&l->frames, info->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&l->frames);
    snw_run_hooks hooks = {.user = l,
                           .stop = row_stop,
                           .warn = checked ? row_warning : NULL,
                           .unchecked = !checked && !c->fresh};
    if (l->together) hooks.together = snw_together_hook(c->together, l->number);
    snw_run_totals totals;
    l->out->state = SNW_SWEEP_ROW_FAILED; // until it has succeeded
    SNW_TRY(snw_run_execute(run, 1, &recorder, &hooks, &totals, err));
    SNW_TRY(choose_columns(c, info, err));
    SNW_TRY(evaluate_results(l, desc, err));
    SNW_TRY(gather_series(l, err));
    l->out->state = SNW_SWEEP_ROW_DONE;
    return SNW_OK;
}

// With what rows before have found out about the loops, where it is the same.
static snw_status create_run(const snw_sweep_row_computer *c, const snw_desc *desc, snw_run **run,
                             snw_error *err) {
    return c->fresh ? snw_run_create(desc, "sweep", run, err)
                    : snw_run_create_like(desc, "sweep", c->loops, run, err);
}

// Compile a row, with numbers of rods from rows before where they are known. *known <- whether
// there is nothing to be remembered.
static snw_status create_row(row_lane *l, snw_desc *desc, bool reuses, snw_run **run, bool *known,
                             snw_error *err) {
    snw_sweep_row_computer *c = l->of;
    *known = false;
    const bool any = reuses && snw_sweep_reuse_take(c->reuse, l->number, desc, known);
    c->reuses = any;
    SNW_TRY(create_run(c, desc, run, err));
    if (!any || snw_sweep_reuse_holds(c->reuse, l->number, snw_run_model(*run))) return SNW_OK;
    snw_run_destroy(*run);
    *run = NULL;
    *known = c->reuses = false;
    snw_sweep_reuse_restore(c->reuse, l->number, desc);
    return create_run(c, desc, run, err);
}

// The message of a failed row, with the place in the model where it has one.
static void row_message(row_lane *l, const snw_error *err) {
    // a place within an override tells nothing
    if (err->line > 0 && strcmp(err->file, "--set") != 0) {
        (void)snprintf(l->message, sizeof l->message, "%.120s:%d:%d: %.360s", err->file, err->line,
                       err->column, err->text);
    } else {
        (void)snprintf(l->message, sizeof l->message, "%.500s", err->text);
    }
}

static bool is_checked(int64_t row) { return row % SNW_SWEEP_CHECKED == 0; }

static void compute_row(row_lane *l) {
    snw_sweep_row_computer *c = l->of;
    const snw_sweep_plan *p = c->plan;
    snw_desc *desc = NULL;
    snw_run *run = NULL;
    const bool checked = is_checked(l->out->row);
    bool known = false;
    snw_sweep_plan_values(p, l->out->row, l->value);
    write_overrides(l);
    snw_status s = snw_document_describe_with(c->document, c->run, p->nset + p->nparameter, l->set,
                                              NULL, &desc, &l->err);
    if (s == SNW_OK) s = create_row(l, desc, !checked && !c->fresh, &run, &known, &l->err);
    if (s == SNW_OK) s = execute_row(l, desc, run, checked, &l->err);
    if (desc) snw_sweep_reuse_restore(c->reuse, l->number, desc);
    const bool keeps = run && !known && !c->fresh;
    const bool kept = keeps && snw_sweep_reuse_keep(c->reuse, desc, snw_run_model(run));
    snw_run_destroy(run);
    if (!kept) snw_desc_destroy(desc);
    l->status = s;
    if (s == SNW_OK || s == SNW_E_STOPPED) return;
    for (int i = 0; i < p->nresult; i++) l->result[i] = NAN;
    row_message(l, &l->err);
}

static void begin_row(row_lane *l, int64_t row, bool together, snw_sweep_row *out) {
    *out = (snw_sweep_row){
        .row = row, .state = SNW_SWEEP_ROW_REFUSED, .result = l->result, .message = l->message};
    l->out = out;
    l->together = together;
    l->status = SNW_OK;
    l->err = (snw_error){0};
    l->message[0] = '\0';
    for (int i = 0; i < l->of->plan->nresult; i++) l->result[i] = NAN;
}

// Lane i of the rows that run side by side; those that are computed alone are left out.
static void compute_lane(void *user, int i) {
    snw_sweep_row_computer *c = user;
    if (c->lane[i].together) compute_row(&c->lane[i]);
}

static void compute_together(snw_sweep_row_computer *c, int n, snw_sweep_row *out) {
    const double start = snw_clock_seconds();
    int count = 0;
    for (int i = 0; i < n; i++) count += c->lane[i].together;
    if (count == 0) return;
    snw_together_execute(c->together, n, compute_lane, c);
    const double each = (snw_clock_seconds() - start) / count;
    for (int i = 0; i < n; i++) {
        if (!c->lane[i].together) continue;
        out[i].seconds = each;
        if (snw_together_steps(c->together, i) > 0) out[i].engine = SNW_SWEEP_PACKS;
    }
}

snw_status snw_sweep_rows_compute(snw_sweep_row_computer *c, int n, const int64_t *row,
                                  bool (*stop)(void *user), void *user, snw_sweep_row *out,
                                  snw_error *err) {
    SNW_ASSERT(n <= c->nlane);
    c->stop = stop;
    c->stop_user = user;
    for (int i = 0; i < n; i++) {
        const bool together = c->together && !is_checked(row[i]) && !c->fresh;
        begin_row(&c->lane[i], row[i], together, &out[i]);
    }
    for (int i = 0; i < n; i++) {
        if (c->lane[i].together) continue;
        const double start = snw_clock_seconds();
        compute_row(&c->lane[i]);
        out[i].seconds = snw_clock_seconds() - start;
    }
    compute_together(c, n, out);
    for (int i = 0; i < n; i++) {
        if (c->lane[i].status != SNW_E_STOPPED) continue;
        *err = c->lane[i].err;
        return SNW_E_STOPPED;
    }
    return SNW_OK;
}

void snw_sweep_row_computer_fresh(snw_sweep_row_computer *c) { c->fresh = true; }
bool snw_sweep_row_reuses(const snw_sweep_row_computer *c) { return c->reuses; }
