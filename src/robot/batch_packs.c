// SPDX-License-Identifier: MIT
//
// Robots of a batch in packs: which robots packs serve, their models in packs, and a step of a
// group. Robots keep their own state and history; a pack only solves the equations of their steps,
// so that any robot can leave it for a step.

#include "robot/batch_packs.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>

struct snw_batch_packs {
    const snw_pack_engine *engine;
    snw_robot *const *robot;
    int n, ngroup, nthread;
    snw_pack_model **own;    // ngroup: models of a group; NULL: the common one for all
    snw_pack_kept **kept;    // ngroup: matrices of a group; NULL: none yet
    snw_robot_model **model; // n: of each robot as last seen; references, so that addresses last
    snw_implicit **implicit; // n: likewise its integrator
    const char **why;        // n
    snw_robot_model *common; // the model of most robots; not a reference
    snw_model_stream *common_stream;
    snw_pack_order *order; // of the matrix of all models in packs
    snw_pack_model *common_model;
    snw_pack_work **work; // nthread
    double *memory;       // nthread x lanes x lane_memory
    size_t lane_memory;
};

snw_status snw_batch_packs_create(snw_robot *const *robot, int n, int threads,
                                  const snw_pack_engine *engine, snw_batch_packs **out) {
    *out = NULL;
    snw_batch_packs *p = snw_alloc(sizeof *p);
    if (!p) return SNW_E_MEMORY;
    p->engine = engine;
    p->robot = robot;
    p->n = n;
    p->ngroup = (n + engine->lanes - 1) / engine->lanes;
    p->nthread = threads;
    const size_t N = (size_t)n;
    p->own = snw_alloc((size_t)p->ngroup * sizeof(snw_pack_model *));
    p->kept = snw_alloc((size_t)p->ngroup * sizeof(snw_pack_kept *));
    p->model = snw_alloc(N * sizeof(snw_robot_model *));
    p->implicit = snw_alloc(N * sizeof(snw_implicit *));
    p->why = snw_alloc(N * sizeof(const char *));
    p->work = snw_alloc((size_t)threads * sizeof(snw_pack_work *));
    if (!p->own || !p->kept || !p->model || !p->implicit || !p->why || !p->work) {
        snw_batch_packs_destroy(p);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < n; i++) p->why[i] = "it has not started";
    *out = p;
    return SNW_OK;
}

void snw_batch_packs_destroy(snw_batch_packs *p) {
    if (!p) return;
    const snw_pack_engine *e = p->engine;
    for (int g = 0; p->own && g < p->ngroup; g++) e->model_destroy(p->own[g]);
    for (int g = 0; p->kept && g < p->ngroup; g++) e->kept_destroy(p->kept[g]);
    for (int i = 0; p->model && i < p->n; i++) snw_robot_model_close(p->model[i]);
    for (int i = 0; p->work && i < p->nthread; i++) e->work_destroy(p->work[i]);
    e->model_destroy(p->common_model);
    snw_model_stream_destroy(p->common_stream);
    snw_pack_order_destroy(p->order);
    snw_free(p->own);
    snw_free(p->kept);
    snw_free(p->model);
    snw_free(p->implicit);
    snw_free(p->why);
    snw_free(p->work);
    snw_free(p->memory);
    snw_free(p);
}

const snw_pack_engine *snw_batch_packs_engine(const snw_batch_packs *p) { return p->engine; }
const char *snw_batch_packs_why(const snw_batch_packs *p, int i) { return p->why[i]; }

// ---- models -------------------------------------------------------------------------------------

// Structure, numbers and scratch of the first model that packs serve.
static snw_status make_common(snw_batch_packs *p, const snw_robot *r) {
    const snw_pack_engine *e = p->engine;
    const snw_model_stream *stream[SNW_LANES_MOST];
    SNW_TRY(snw_model_stream_create(r->m, &p->common_stream));
    SNW_TRY(snw_pack_order_create(r->m, &p->order));
    for (int l = 0; l < e->lanes; l++) stream[l] = p->common_stream;
    p->common_model = e->model_create(stream, p->order);
    p->lane_memory = snw_pack_lane_memory(r->m);
    p->memory = snw_alloc((size_t)p->nthread * (size_t)e->lanes * p->lane_memory * sizeof(double));
    if (!p->common_model || !p->memory) return SNW_E_MEMORY;
    for (int i = 0; i < p->nthread; i++) {
        p->work[i] = e->work_create(p->common_model);
        if (!p->work[i]) return SNW_E_MEMORY;
    }
    p->common = r->model;
    return SNW_OK;
}

// *why <- whether packs serve robot r; *stream <- its model, unless it is the common one. The
// caller frees it.
static snw_status judge_robot(snw_batch_packs *p, const snw_robot *r, const char **why,
                              snw_model_stream **stream) {
    *stream = NULL;
    *why = "the scheme is not one of one implicit step";
    if (!r->integrator.implicit) return SNW_OK;
    *why = snw_packs_refuse(r->integrator.implicit, false);
    if (*why) return SNW_OK;
    if (!p->common) SNW_TRY(make_common(p, r));
    if (r->model == p->common) return SNW_OK;
    SNW_TRY(snw_model_stream_create(r->m, stream));
    if (!snw_model_stream_alike(*stream, p->common_stream))
        *why = "its parameters change the structure of the model";
    return SNW_OK;
}

static snw_status update_group(snw_batch_packs *p, int g) {
    const snw_pack_engine *e = p->engine;
    snw_model_stream *own[SNW_LANES_MOST] = {0};
    const snw_model_stream *stream[SNW_LANES_MOST];
    bool differs = false;
    snw_status s = SNW_OK;
    for (int l = 0; l < e->lanes; l++) {
        const int i = g * e->lanes + l;
        if (i < p->n && s == SNW_OK) {
            s = judge_robot(p, p->robot[i], &p->why[i], &own[l]);
            differs |= !p->why[i] && own[l];
        }
    }
    e->model_destroy(p->own[g]);
    p->own[g] = NULL;
    for (int l = 0; l < e->lanes; l++) {
        const int i = g * e->lanes + l;
        stream[l] = i < p->n && own[l] && !p->why[i] ? own[l] : p->common_stream;
    }
    bool served = false;
    for (int i = g * e->lanes; i < p->n && i < (g + 1) * e->lanes; i++) served |= !p->why[i];
    if (s == SNW_OK && served && !p->kept[g] && !(p->kept[g] = e->kept_create(p->common_model)))
        s = SNW_E_MEMORY;
    if (s == SNW_OK && differs && !(p->own[g] = e->model_create(stream, p->order)))
        s = SNW_E_MEMORY;
    for (int l = 0; l < e->lanes; l++) snw_model_stream_destroy(own[l]);
    return s;
}

snw_status snw_batch_packs_update(snw_batch_packs *p) {
    const int lanes = p->engine->lanes;
    for (int g = 0; g < p->ngroup; g++) {
        bool changed = false;
        for (int i = g * lanes; i < p->n && i < (g + 1) * lanes; i++) {
            const snw_robot *r = p->robot[i];
            if (p->model[i] == r->model && p->implicit[i] == r->integrator.implicit &&
                r->integrator.close)
                continue;
            changed = true;
            p->implicit[i] = r->integrator.implicit;
            if (p->model[i] == r->model) continue;
            snw_robot_model_close(p->model[i]);
            p->model[i] = snw_robot_model_share(r->model);
        }
        if (changed) SNW_TRY(update_group(p, g));
    }
    return SNW_OK;
}

// ---- steps --------------------------------------------------------------------------------------

// A lane of a group under way: its step, which consists of parts, and steps that it has not begun.
typedef struct lane_steps {
    snw_robot_lane step;
    bool under_way;
    int left;
} lane_steps;

// Begins steps of robot i until one has a part for a pack, and opens that part.
static void open_lane(snw_batch_packs *p, const snw_batch_steps *steps, int i, double *memory,
                      lane_steps *at, snw_pack_lane *lane, unsigned char *failed,
                      snw_error *error) {
    snw_robot *r = p->robot[i];
    lane->active = false;
    while (!*failed) {
        if (!at->under_way) {
            if (at->left == 0 || !steps->goes_on(steps->user)) return;
            at->left--;
            if (p->why[i]) {
                *failed = snw_robot_step(r, steps->h, error) != SNW_OK;
                continue;
            }
            *failed = snw_robot_begin_step(r, steps->h, &at->step, error) != SNW_OK;
            at->under_way = !*failed;
            if (*failed) return;
        }
        snw_robot_open_lane(r, &at->step, p->engine->single, memory, lane);
        if (lane->active) return;
        at->under_way = false;
        *failed = snw_robot_finish_step(r, at->step.end, error) != SNW_OK;
    }
}

void snw_batch_packs_step(snw_batch_packs *p, int thread, int g, const snw_batch_steps *steps,
                          const unsigned char *takes, unsigned char *failed, snw_error *error) {
    const snw_pack_engine *e = p->engine;
    snw_pack_lane lane[SNW_LANES_MOST] = {{0}};
    lane_steps at[SNW_LANES_MOST] = {0};
    double *memory = p->memory + (size_t)thread * (size_t)e->lanes * p->lane_memory;
    const int first = g * e->lanes;
    for (int l = 0; l < e->lanes; l++) at[l].left = first + l < p->n && takes[l] ? steps->count : 0;
    // Steps and parts of different lengths are solved together, and no robot waits for another one.
    for (;;) {
        bool any = false;
        for (int l = 0; l < e->lanes; l++) {
            if (!at[l].under_way && at[l].left == 0) {
                lane[l].active = false;
                continue;
            }
            open_lane(p, steps, first + l, memory + (size_t)l * p->lane_memory, &at[l], &lane[l],
                      &failed[l], &error[l]);
            any |= lane[l].active;
        }
        if (!any) return;
        e->solve(p->own[g] ? p->own[g] : p->common_model, p->work[thread], p->kept[g], lane);
        for (int l = 0; l < e->lanes; l++) {
            if (!lane[l].active) continue;
            bool last = false;
            failed[l] = snw_robot_close_lane(p->robot[first + l], &at[l].step, &lane[l], &last,
                                             &error[l]) != SNW_OK;
            at[l].under_way = !last && !failed[l];
            if (failed[l]) at[l].left = 0;
        }
    }
}
