// SPDX-License-Identifier: MIT
//
// Gradients of studies, public calls: variables and scalars by their names, the model at other
// values of the variables, its run. theory.md 7.5
#include "robot/gradient_difference.h"
#include "robot/gradient_private.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "dynamics/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 28, MOST_ENTRIES = 1000000 };

static const double tight = 1e-13, // tolerance of steps
    difference_move = 1e-3;        // of a variable in differences of whole runs, relative

snw_gradient_options snw_gradient_defaults(void) { return (snw_gradient_options){.memory = 256e6}; }

// ---- variables ----------------------------------------------------------------------------------

static const char *const twist_name[6] = {"wx", "wy", "wz", "vx", "vy", "vz"};

// Velocity of this name: a coordinate, or a component of the twist of a spherical or free joint;
// -1: none. *unit <- of the coordinate.
static int find_dof(const snw_robot_model *model, const char *name, const char **unit) {
    const snw_model *m = model->compiled;
    const int part = snw_robot_model_find(model, SNW_PART_COORDINATE, name);
    if (part >= 0) {
        const snw_part *c = &model->part[SNW_PART_COORDINATE][part];
        *unit = c->unit;
        return c->v;
    }
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) continue;
        const char *link = m->label.link[m->seg[b->seg].link].name;
        const size_t n = strlen(link);
        if (strncmp(link, name, n) != 0 || name[n] != '.') continue;
        for (int i = 0; i < b->n; i++) {
            if (strcmp(name + n + 1, twist_name[i]) != 0) continue;
            *unit = i < 3 ? "" : "m";
            return b->dof + i;
        }
    }
    return -1;
}

// Value of an initial coordinate; 0 on spherical and free joints, which move from their pose.
static double initial_coordinate(const snw_model *m, int dof) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (dof < b->dof || dof >= b->dof + b->n) continue;
        return b->space == SNW_SPACE_RN ? m->q0[b->q + dof - b->dof] : 0;
    }
    return 0;
}

static const char *rate_unit(snw_pool *pool, const char *unit) {
    const char *text = snw_pool_format(pool, "%s/s", unit[0] ? unit : "1");
    return text ? text : "";
}

// "q(name)" or "v(name)"
static snw_status add_initial(snw_gradient *g, const char *name, gradient_entry *e,
                              snw_error *err) {
    const size_t n = strlen(name);
    const char *inner = snw_pool_text(g->pool, name + 2, n - 3), *unit = "";
    if (!inner) return snw_fail_memory(err);
    e->dof = find_dof(g->model, inner, &unit);
    if (e->dof < 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.100s': there is no coordinate '%.100s'; 'sinew check' lists them", name,
                        inner);
    const snw_model *m = g->model->compiled;
    e->kind = name[0] == 'q' ? GRADIENT_POSITION : GRADIENT_VELOCITY;
    e->unit = name[0] == 'q' ? unit : rate_unit(g->pool, unit);
    e->start = name[0] == 'q' ? initial_coordinate(m, e->dof) : m->v0[e->dof];
    return SNW_OK;
}

static bool is_initial(const char *name) {
    const size_t n = strlen(name);
    return n > 3 && (name[0] == 'q' || name[0] == 'v') && name[1] == '(' && name[n - 1] == ')';
}

static snw_status add_number(snw_gradient *g, snw_document_numbers *file, const char *name,
                             gradient_entry *e, snw_error *err) {
    char unit[48];
    e->kind = GRADIENT_NUMBER;
    SNW_TRY(snw_robot_number(file, name, &e->start, unit, err));
    e->unit = snw_pool_text(g->pool, unit, strlen(unit));
    return e->unit ? SNW_OK : snw_fail_memory(err);
}

static snw_status check_knots(const snw_gradient_variable *v, snw_error *err) {
    if (v->nknot < 0 || !v->knot || (v->rule != SNW_KNOTS_HOLD && v->nknot < 2))
        return snw_fail(err, SNW_E_ARGUMENT, "'%.100s' needs the times of two knots or more",
                        v->name);
    for (int k = 0; k < v->nknot; k++) {
        if (isfinite(v->knot[k]) && (k == 0 || v->knot[k] > v->knot[k - 1])) continue;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the times of the knots of '%.100s' do not rise at knot %d", v->name, k);
    }
    return SNW_OK;
}

static snw_status add_law(snw_gradient *g, snw_document_numbers *file,
                          const snw_gradient_variable *v, snw_error *err) {
    SNW_TRY(check_knots(v, err));
    double *knot = snw_pool_array(g->pool, (size_t)v->nknot, sizeof *knot);
    const char *unit = v->unit ? v->unit : "";
    gradient_law *law = &g->law[g->nlaw];
    *law = (gradient_law){.path = snw_pool_text(g->pool, v->name, strlen(v->name)),
                          .unit = snw_pool_text(g->pool, unit, strlen(unit)),
                          .first = g->nentry,
                          .n = v->nknot,
                          .knot = knot,
                          .rule = v->rule};
    if (!knot || !law->path || !law->unit) return snw_fail_memory(err);
    memcpy(knot, v->knot, (size_t)v->nknot * sizeof *knot);
    double *start = snw_pool_array(g->pool, (size_t)v->nknot, sizeof *start);
    snw_error none = {0};
    if (!start) return snw_fail_memory(err);
    if (snw_document_numbers_law(file, v->name, law->unit, v->nknot, knot, start, &none) != SNW_OK)
        memset(start, 0, (size_t)v->nknot * sizeof *start); // no law of time
    for (int k = 0; k < v->nknot; k++) {
        char number[32];
        (void)snprintf(number, sizeof number, "%d", k);
        gradient_entry *e = &g->entry[g->nentry++];
        *e = (gradient_entry){.kind = GRADIENT_KNOT,
                              .name = snw_pool_format(g->pool, "%s[%s]", law->path, number),
                              .path = law->path,
                              .unit = law->unit,
                              .law = g->nlaw,
                              .knot = k,
                              .start = isfinite(start[k]) ? start[k] : 0};
        if (!e->name) return snw_fail_memory(err);
    }
    g->nlaw++;
    return SNW_OK;
}

static snw_status add_variable(snw_gradient *g, snw_document_numbers *file,
                               const snw_gradient_variable *v, snw_error *err) {
    if (!v->name) return snw_fail(err, SNW_E_ARGUMENT, "the name of a variable is NULL");
    if (v->nknot != 0) return add_law(g, file, v, err);
    gradient_entry e = {.name = snw_pool_text(g->pool, v->name, strlen(v->name))};
    e.path = e.name;
    if (!e.name) return snw_fail_memory(err);
    SNW_TRY(is_initial(e.name) ? add_initial(g, e.name, &e, err)
                               : add_number(g, file, e.name, &e, err));
    g->entry[g->nentry++] = e;
    return SNW_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// SNW_E_ARGUMENT: a variable is given twice.
static snw_status check_twice(const snw_gradient *g, const snw_gradient_options *how,
                              snw_error *err) {
    const size_t n = (size_t)how->nvariable;
    const char **name = snw_pool_array(g->pool, n + 1, sizeof *name);
    if (!name) return snw_fail_memory(err);
    for (size_t i = 0; i < n; i++) name[i] = how->variable[i].name ? how->variable[i].name : "";
    qsort(name, n, sizeof *name, by_name);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(name[i - 1], name[i]) != 0 || !*name[i]) continue;
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.100s' is a variable twice; leave one of them out (a law through knots "
                        "takes the place of a number)",
                        name[i]);
    }
    return SNW_OK;
}

static snw_status add_variables(snw_gradient *g, const snw_gradient_options *how, snw_error *err) {
    size_t n = 1;
    for (int i = 0; i < how->nvariable; i++)
        n += how->variable[i].nknot > 0 ? (size_t)how->variable[i].nknot : 1;
    if (n > MOST_ENTRIES)
        return snw_fail(err, SNW_E_ARGUMENT, "more than %d variables", MOST_ENTRIES);
    SNW_TRY(check_twice(g, how, err));
    g->entry = snw_pool_array(g->pool, n, sizeof *g->entry);
    g->law = snw_pool_array(g->pool, (size_t)how->nvariable + 1, sizeof *g->law);
    if (!g->entry || !g->law) return snw_fail_memory(err);
    snw_document_numbers *file = NULL; // its tree is made once
    SNW_TRY(snw_robot_model_numbers(g->model, &file, err));
    snw_status status = SNW_OK;
    for (int i = 0; status == SNW_OK && i < how->nvariable; i++)
        status = add_variable(g, file, &how->variable[i], err);
    snw_document_numbers_close(file);
    return status;
}

// Rise of a law between two times: value, rate and acceleration.
static void rise(snw_knot_rule rule, double t, double from, double to, double out[3]) {
    const double h = to - from, u = fmin(fmax((t - from) / h, 0), 1);
    const bool within = t > from && t < to;
    if (rule == SNW_KNOTS_SMOOTH) {
        out[0] = u * u * u * (10 + u * (-15 + 6 * u));
        out[1] = 30 * u * u * (1 - u) * (1 - u) / h;
        out[2] = 60 * u * (1 - u) * (1 - 2 * u) / (h * h);
        return;
    }
    out[0] = u, out[1] = within ? 1 / h : 0, out[2] = 0;
}

void gradient_knot(const gradient_law *law, int knot, double t, double out[3]) {
    double up[3] = {1, 0, 0}, down[3] = {0};
    const double *x = law->knot;
    const bool last = knot + 1 == law->n;
    if (law->rule == SNW_KNOTS_HOLD) {
        up[0] = knot == 0 || t >= x[knot];
        down[0] = !last && t >= x[knot + 1];
    } else {
        if (knot > 0) rise(law->rule, t, x[knot - 1], x[knot], up);
        if (!last) rise(law->rule, t, x[knot], x[knot + 1], down);
    }
    for (int i = 0; i < 3; i++) out[i] = up[i] - down[i];
}

// ---- the model at p -----------------------------------------------------------------------------

// A number with the fewest digits that give it again.
static const char *short_number(double x, char out[32]) {
    for (int digits = 6; digits <= 17; digits += digits < 15 ? 9 : 1) {
        (void)snprintf(out, 32, "%.*g", digits, x);
        if (strtod(out, NULL) == x) break;
    }
    return out;
}

// Text of a law through its knots, linear in their values:
// u_0 + (u_1 - u_0) rise(t, t_0, t_1) + ..
snw_status gradient_law_text(const gradient_law *law, const double *u, double more,
                             const char *factor, char **out, snw_error *err) {
    static const char *const word[] = {"step", "linear", "poly5"};
    const size_t room = strlen(law->path) + 256 + 160 * (size_t)law->n;
    char *text = snw_alloc(room), a[32], b[32], c[32];
    *out = text;
    if (!text) return snw_fail_memory(err);
    size_t used = (size_t)snprintf(text, room, "%s=(%s", law->path, short_number(u[0], a));
    for (int k = 1; k < law->n; k++) {
        if (u[k] == u[k - 1]) continue;
        const bool hold = law->rule == SNW_KNOTS_HOLD;
        used += (size_t)snprintf(text + used, room - used, "+(%s)*%s(t,%s s%s%s%s)",
                                 short_number(u[k] - u[k - 1], a), word[law->rule],
                                 short_number(law->knot[hold ? k : k - 1], b), hold ? "" : ",",
                                 hold ? "" : short_number(law->knot[k], c), hold ? "" : " s");
    }
    if (more != 0) used += (size_t)snprintf(text + used, room - used, "+(%.17g)%s", more, factor);
    (void)snprintf(text + used, room - used, ")%s%s", law->unit[0] ? "*1 " : "", law->unit);
    return SNW_OK;
}

static snw_status number_text(const gradient_entry *e, double value, char **out, snw_error *err) {
    const size_t room = strlen(e->path) + strlen(e->unit) + 64;
    *out = snw_alloc(room);
    if (!*out) return snw_fail_memory(err);
    (void)snprintf(*out, room, "%s=%.17g%s%s", e->path, value, e->unit[0] ? " " : "", e->unit);
    return SNW_OK;
}

snw_status gradient_sets(const snw_gradient *g, const double *p, char **set, int *n,
                         snw_error *err) {
    for (int k = 0; k < g->nentry; k++) {
        if (g->entry[k].kind == GRADIENT_NUMBER)
            SNW_TRY(number_text(&g->entry[k], p[k], &set[(*n)++], err));
    }
    for (int i = 0; i < g->nlaw; i++)
        SNW_TRY(gradient_law_text(&g->law[i], p + g->law[i].first, 0, "", &set[(*n)++], err));
    return SNW_OK;
}

// Steps are solved to rounding, and every one has a frame.
static void tighten(const snw_gradient *g, snw_desc *d) {
    const double tolerance = g->how.tolerance > 0 ? g->how.tolerance : tight;
    d->record_every = 0;
    for (int i = 0; i < d->nstep; i++) {
        snw_step_desc *step = &d->step[i];
        step->length_part = g->length_part;
        if (step->kind == SNW_STEP_DYNAMIC && !step->control &&
            (!(step->tolerance > 0) || step->tolerance > tolerance))
            step->tolerance = tolerance;
    }
}

snw_status gradient_model_at(const snw_gradient *g, const double *p, const snw_model *points,
                             snw_robot_model **out, snw_error *err) {
    char **set = snw_alloc(((size_t)g->nentry + (size_t)g->nlaw + 1) * sizeof *set);
    int n = 0;
    if (!set) return snw_fail_memory(err);
    snw_status s = gradient_sets(g, p, set, &n, err);
    if (s == SNW_OK)
        s = snw_robot_model_sample(g->model, n, (const char *const *)set, points, out, err);
    for (int i = 0; i < n; i++) snw_free(set[i]);
    snw_free(set);
    if (s == SNW_OK) tighten(g, (snw_desc *)(*out)->desc); // described for this gradient only
    return s;
}

// Coordinates that are not moved: those of the model.
void gradient_initial(const snw_gradient *g, const double *p, const snw_model *m, double *q,
                      double *v) {
    memcpy(q, m->q0, (size_t)m->nq * sizeof *q);
    memset(v, 0, (size_t)m->nv * sizeof *v);
    for (int k = 0; k < g->nentry; k++) { // v: displacement
        const gradient_entry *e = &g->entry[k];
        if (e->kind == GRADIENT_POSITION) v[e->dof] = p[k] - initial_coordinate(m, e->dof);
    }
    snw_move(m, q, 1, v, q);
    memcpy(v, m->v0, (size_t)m->nv * sizeof *v);
    for (int k = 0; k < g->nentry; k++) {
        if (g->entry[k].kind == GRADIENT_VELOCITY) v[g->entry[k].dof] = p[k];
    }
}

snw_status gradient_run_at(const snw_gradient *g, const double *p, const snw_robot_model *model,
                           snw_run **out, snw_error *err) {
    SNW_TRY(snw_run_create_whole(model->desc, snw_robot_model_run(g->model), out, err));
    const snw_model *m = snw_run_model(*out);
    double *q = snw_alloc(((size_t)m->nq + (size_t)m->nv + 1) * sizeof *q), *v = q + m->nq;
    if (!q) return snw_fail_memory(err);
    gradient_initial(g, p, m, q, v);
    const snw_status s = snw_run_start_from(*out, q, v, err);
    snw_free(q);
    return s;
}

// ---- frames -------------------------------------------------------------------------------------

static snw_status frames_room(gradient_frames *f) {
    if (f->n < f->room) return SNW_OK;
    const int room = f->room > 0 ? 2 * f->room : 256;
    const size_t n = (size_t)room, width = (size_t)f->ncolumn, used = (size_t)f->n;
    double *t = snw_alloc(n * sizeof *t), *y = snw_alloc((n * width + 1) * sizeof *y);
    bool *moves = snw_alloc(n * sizeof *moves);
    int *special = snw_alloc(n * sizeof *special);
    if (!t || !y || !moves || !special) {
        snw_free(t), snw_free(y), snw_free(moves), snw_free(special);
        return SNW_E_MEMORY;
    }
    if (used > 0) {
        memcpy(t, f->t, used * sizeof *t);
        memcpy(y, f->y, used * width * sizeof *y);
        memcpy(moves, f->moves, used * sizeof *moves);
        memcpy(special, f->special, used * sizeof *special);
    }
    snw_free(f->t), snw_free(f->y), snw_free(f->moves), snw_free(f->special);
    f->t = t, f->y = y, f->moves = moves, f->special = special, f->room = room;
    return SNW_OK;
}

// Frames of a run with the kinds of its steps.
typedef struct receiver {
    gradient_frames *frames;
    const snw_desc *desc;
} receiver;

static snw_status take_frame(void *user, const snw_frame *frame, snw_error *err) {
    const receiver *r = user;
    gradient_frames *f = r->frames;
    const snw_step_kind kind = r->desc->step[frame->stage].kind;
    const bool shows = kind == SNW_STEP_STATIC || kind == SNW_STEP_DYNAMIC ||
                       kind == SNW_STEP_INVERSE || kind == SNW_STEP_PATH;
    if (frame->partial || !shows) return SNW_OK;
    if (frames_room(f) != SNW_OK) return snw_fail_memory(err);
    const size_t width = (size_t)f->ncolumn;
    f->t[f->n] = frame->t;
    memcpy(f->y + (size_t)f->n * width, frame->column, width * sizeof *f->y);
    f->moves[f->n] = kind == SNW_STEP_DYNAMIC && f->n > 0 && f->stage == frame->stage;
    f->special[f->n] = (int)frame->stats.special;
    f->stage = frame->stage;
    f->n++;
    return SNW_OK;
}

static snw_status take_end(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user, (void)status, (void)message, (void)err;
    return SNW_OK;
}

snw_status gradient_run_frames(snw_gradient *g, const snw_robot_model *model, snw_run *run,
                               const snw_run_hooks *hooks, snw_error *err) {
    g->frames.n = 0;
    g->frames.stage = -1;
    receiver to = {&g->frames, model->desc};
    const snw_recorder recorder = {.user = &to, .frame = take_frame, .end = take_end};
    return snw_run_execute(run, 1, &recorder, hooks, NULL, err);
}

snw_scalar_frames gradient_frames_of(const snw_gradient *g) {
    return (snw_scalar_frames){.n = g->frames.n,
                               .ncolumn = g->frames.ncolumn,
                               .t = g->frames.t,
                               .y = g->frames.y,
                               .moves = g->frames.moves,
                               .special = g->frames.special};
}

snw_status gradient_scalars(const snw_gradient *g, double *J, snw_error *err) {
    const snw_scalar_frames f = gradient_frames_of(g);
    double *weight = snw_alloc(((size_t)f.n + 64) * sizeof *weight);
    if (!weight) return snw_fail_memory(err);
    snw_status s = SNW_OK;
    for (int i = 0; s == SNW_OK && i < g->nscalar; i++)
        s = snw_scalar_value(&g->scalar[i], &f, weight, weight + f.n, &J[i], err);
    snw_free(weight);
    return s;
}

void gradient_count_note(gradient_count *c, const snw_step_report *r) {
    const bool chooses = r->event == SNW_WATCH_STEP || r->event == SNW_WATCH_STAGES ||
                         r->event == SNW_WATCH_CONSERVED;
    const bool step =
        chooses || r->event == SNW_WATCH_HARD || (r->event == SNW_WATCH_EXPLICIT && r->h > 0);
    if (r->event == SNW_WATCH_UNDO) c->steps -= c->tried;
    if (r->event == SNW_WATCH_INSTANT && c->chosen > 1) c->cut += c->chosen - 1;
    if (r->event == SNW_WATCH_UNDO || r->event == SNW_WATCH_INSTANT) c->tried = c->chosen = 0;
    c->steps += step, c->tried += step, c->chosen += chooses;
}

static void count(void *user, const snw_step_report *r) { gradient_count_note(user, r); }

// J <- scalars of a run at p; a run that is watched locates events to rounding
static snw_status values_at(snw_gradient *g, const double *p, double *J, gradient_count *steps,
                            snw_error *err) {
    snw_robot_model *model = NULL;
    snw_run *run = NULL;
    *steps = (gradient_count){0};
    const snw_run_hooks hooks = {.watch = {.note = count, .user = steps}};
    snw_status s = gradient_model_at(g, p, NULL, &model, err);
    if (s == SNW_OK) s = gradient_run_at(g, p, model, &run, err);
    if (s == SNW_OK) s = gradient_run_frames(g, model, run, &hooks, err);
    if (s == SNW_OK) s = gradient_scalars(g, J, err);
    snw_run_destroy(run);
    snw_robot_model_close(model);
    return s;
}

// ---- differences of whole runs ------------------------------------------------------------------

// Differences of order 6 by all variables; those of order 4 tell the error, which is large where
// samples pass an event that the run does not, or an instant of its time grid.
static snw_status differences(snw_gradient *g, const double *p, const double *centre, double *dJ,
                              snw_error *err) {
    const int n = g->nentry;
    double *at = snw_alloc(((size_t)n + 2 * (size_t)g->nscalar + 1) * sizeof *at);
    if (!at) return snw_fail_memory(err);
    double *J = at + n, *coarse = J + g->nscalar, error = 0, size = 0;
    gradient_count steps;
    memset(dJ, 0, (size_t)g->nscalar * (size_t)n * sizeof *dJ);
    for (int i = 0; i < g->nscalar; i++) size = fmax(size, fabs(centre[i]));
    snw_status s = SNW_OK;
    for (int k = 0; s == SNW_OK && k < n; k++) {
        memcpy(at, p, (size_t)n * sizeof *at);
        const double move = p[k] != 0 ? fabs(p[k]) : 1, h = difference_move * move;
        memset(coarse, 0, (size_t)g->nscalar * sizeof *coarse);
        for (int j = 0; s == SNW_OK && j < GRADIENT_VARIANTS; j++) {
            at[k] = p[k] + gradient_sample_at(j) * h;
            s = values_at(g, at, J, &steps, err);
            for (int i = 0; s == SNW_OK && i < g->nscalar; i++) {
                dJ[i * n + k] += gradient_sample_weight(gradient_weight6, j) / h * J[i];
                coarse[i] += gradient_sample_weight(gradient_weight4, j) / h * J[i];
            }
        }
        for (int i = 0; i < g->nscalar; i++) {
            error = fmax(error, move * fabs(dJ[i * n + k] - coarse[i]));
            size = fmax(size, move * fabs(dJ[i * n + k]));
        }
    }
    g->info.error = size > 0 ? error / size : 0;
    snw_free(at);
    return s;
}

// ---- public calls -------------------------------------------------------------------------------

static snw_status gradient_prepare(snw_gradient *g, const snw_gradient_options *how,
                                   snw_error *err) {
    SNW_TRY(add_variables(g, how, err));
    snw_run *run = NULL;
    SNW_TRY(snw_run_create(g->model->desc, snw_robot_model_run(g->model), &run, err));
    const snw_run_info *info = snw_run_describe(run);
    g->frames.ncolumn = info->ncolumn;
    g->scalar = snw_pool_array(g->pool, (size_t)how->nscalar + 1, sizeof *g->scalar);
    snw_status s = g->scalar ? SNW_OK : snw_fail_memory(err);
    const snw_scalar_columns columns = {.info = info};
    for (int i = 0; s == SNW_OK && i < how->nscalar; i++)
        s = snw_scalar_parse(g->pool, how->scalar[i], &columns, &g->scalar[i], err);
    g->nscalar = how->nscalar;
    snw_run_destroy(run);
    return s;
}

snw_status snw_gradient_create(snw_robot_model *m, const snw_gradient_options *how,
                               snw_gradient **out, snw_error *err) {
    if (!m || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !m ? "the model" : !how ? "how" : "out");
    *out = NULL;
    if (how->nvariable < 0 || how->nscalar < 1 || (how->nvariable > 0 && !how->variable) ||
        !how->scalar)
        return snw_fail(err, SNW_E_ARGUMENT, "there is no scalar, or a list is NULL");
    for (int i = 0; i < how->nscalar; i++) {
        if (!how->scalar[i]) return snw_fail(err, SNW_E_ARGUMENT, "scalar[%d] is NULL", i);
    }
    snw_gradient *g = snw_alloc(sizeof *g);
    if (!g) return snw_fail_memory(err);
    g->model = snw_robot_model_share(m);
    g->how = *how;
    g->how.variable = NULL;
    g->how.scalar = NULL;
    g->pool = snw_pool_create(POOL_LIMIT);
    const snw_status s = g->pool ? gradient_prepare(g, how, err) : snw_fail_memory(err);
    if (s == SNW_OK) {
        *out = g;
    } else {
        snw_gradient_close(g);
    }
    return s;
}

void snw_gradient_close(snw_gradient *g) {
    if (!g) return;
    snw_free(g->frames.t);
    snw_free(g->frames.y);
    snw_free(g->frames.moves);
    snw_free(g->frames.special);
    snw_robot_model_close(g->model);
    snw_pool_destroy(g->pool);
    snw_free(g);
}

int snw_gradient_size(const snw_gradient *g) { return g ? g->nentry : 0; }

const char *snw_gradient_name(const snw_gradient *g, int k) {
    return g && k >= 0 && k < g->nentry ? g->entry[k].name : NULL;
}

int snw_gradient_sampled(const snw_gradient *g, int k) {
    return g && k >= 0 && k < g->nentry && g->entry[k].sampled;
}

const char *snw_gradient_unit(const snw_gradient *g, int k) {
    return g && k >= 0 && k < g->nentry ? g->entry[k].unit : NULL;
}

snw_status snw_gradient_start(snw_gradient *g, double *p, snw_error *err) {
    if (!g || !p) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", g ? "p" : "the gradient");
    for (int k = 0; k < g->nentry; k++) p[k] = g->entry[k].start;
    return SNW_OK;
}

static snw_status evaluate(snw_gradient *g, const double *p, double *J, double *dJ,
                           snw_error *err) {
    const double begin = snw_clock_seconds();
    g->info = (snw_gradient_info){.method = g->how.method};
    // in kinematic studies, where differences of maps cost more than those of runs
    const bool impatient = g->how.method == SNW_GRADIENT_AUTO && gradient_is_kinematic(g);
    const bool whole =
        g->how.method == SNW_GRADIENT_DIFFERENCES ||
        (g->how.method == SNW_GRADIENT_AUTO && (g->holds || gradient_needs_differences(g)));
    bool abandoned = false;
    if (dJ && !whole) {
        const snw_status s = gradient_adjoint(g, p, impatient, J, dJ, &abandoned, err);
        const bool held = s == SNW_E_MODEL && g->holds && g->how.method == SNW_GRADIENT_AUTO;
        if (!abandoned && !held && !(impatient && (s == SNW_E_SINGULAR || s == SNW_E_MODEL)))
            return s;
        g->info = (snw_gradient_info){.method = SNW_GRADIENT_DIFFERENCES};
        for (int k = 0; k < g->nentry; k++) g->entry[k].sampled = false;
    }
    if (dJ) g->info.method = SNW_GRADIENT_DIFFERENCES;
    gradient_count steps;
    SNW_TRY(values_at(g, p, J, &steps, err));
    g->info.steps = steps.steps;
    g->info.cut_steps = steps.cut;
    const double ran = snw_clock_seconds();
    g->info.run_seconds = ran - begin;
    if (!dJ) return SNW_OK;
    const snw_status s = differences(g, p, J, dJ, err);
    g->info.gradient_seconds = snw_clock_seconds() - ran;
    return s;
}

// info.cut_effect <- by derivatives of a run whose chosen lengths lie between those of the scale.
static snw_status find_cut_effect(snw_gradient *g, const double *p, const double *dJ,
                                  snw_error *err) {
    snw_error none = {0};
    static const double between = 0.91700404320467122; // 2^(-1/8)
    const size_t n = (size_t)g->nentry, m = (size_t)g->nscalar;
    double *J = snw_alloc((m + m * n + 1) * sizeof *J), *other = J + m, effect = 0;
    if (!J) return snw_fail_memory(err);
    const snw_gradient_info info = g->info;
    g->length_part = between;
    const snw_status s = evaluate(g, p, J, other, &none);
    g->length_part = 0;
    g->info = info;
    for (size_t i = 0; i < m && s == SNW_OK; i++) {
        double most = 0, change = 0;
        for (size_t k = 0; k < n; k++) {
            const double move = p[k] != 0 ? fabs(p[k]) : 1, by = dJ[i * n + k];
            most = fmax(most, move * fabs(by));
            change = fmax(change, move * fabs(other[i * n + k] - by));
        }
        if (most > 0) effect = fmax(effect, change / most);
    }
    g->info.cut_effect = s == SNW_OK ? effect : NAN;
    snw_free(J);
    return SNW_OK;
}

snw_status snw_gradient_evaluate(snw_gradient *g, const double *p, double *J, double *dJ,
                                 snw_error *err) {
    if (!g || !J || (!p && g->nentry > 0))
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !g ? "the gradient" : !J ? "J" : "p");
    for (int k = 0; k < g->nentry; k++) {
        if (!isfinite(p[k]))
            return snw_fail(err, SNW_E_ARGUMENT, "'%.100s' is not finite", g->entry[k].name);
    }
    SNW_TRY(evaluate(g, p, J, dJ, err));
    if (!dJ || !g->how.cut_effect || g->info.cut_steps == 0) return SNW_OK;
    return find_cut_effect(g, p, dJ, err);
}

snw_status snw_gradient_cut_effect(snw_gradient *g, const double *p, int *steps, double *effect,
                                   snw_error *err) {
    if (!g || !steps || !effect)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !g ? "the gradient" : "a result");
    *steps = g->info.cut_steps, *effect = 0;
    if (*steps == 0) return SNW_OK;
    const size_t n = (size_t)g->nentry, m = (size_t)g->nscalar;
    const snw_gradient_info info = g->info;
    double *J = snw_alloc((m + m * n + 1) * sizeof *J);
    if (!J) return snw_fail_memory(err);
    g->how.cut_effect = 1;
    snw_error none = {0};
    const snw_status s = snw_gradient_evaluate(g, p, J, J + m, &none);
    g->how.cut_effect = 0;
    *steps = g->info.cut_steps, *effect = s == SNW_OK ? g->info.cut_effect : NAN;
    g->info = info;
    snw_free(J);
    return SNW_OK;
}

snw_gradient_info snw_gradient_report(const snw_gradient *g) {
    return g ? g->info : (snw_gradient_info){0};
}
