// SPDX-License-Identifier: MIT
//
// Studies side by side. A study is suspended within a step by exchanging contexts (ucontext.h of
// glibc), which takes less than a microsecond; threads that wait for each other take ten times
// that, more than a step in a pack.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS; NOLINT(bugprone-reserved-identifier)
#include "study/together.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/integrator.h"
#include "integrate/packs.h"

#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__

#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static const size_t STACK = (size_t)8 << 20; // bytes of a study, touched as far as they are used

// Models with the same structure, and what their steps need.
typedef struct pack {
    snw_model_stream *common; // numbers of lanes that are not in use; NULL: no pack yet
    snw_pack_order *order;
    snw_pack_work *work;
    snw_pack_kept *kept;
    snw_pack_model *model; // NULL: to be made anew
} pack;

// A study.
typedef struct lane {
    snw_together *of;
    ucontext_t context;
    void *stack;
    bool alive, waits;
    long steps;               // solved in packs
    int pack;                 // of its model; -1: it is stepped alone
    snw_model_stream *stream; // its model
    double *memory;           // of the step, snw_pack_lane_memory
    size_t room;
    snw_pack_lane step;
} lane;

struct snw_together {
    const snw_pack_engine *engine;
    ucontext_t main;
    void (*body)(void *user, int i);
    void *user;
    int begins;                // the lane that is being started
    int most;                  // lanes
    pack pack[SNW_LANES_MOST]; // in the order of their last use
    lane lane[SNW_LANES_MOST];
};

// ---- creation -----------------------------------------------------------------------------------

static void *stack_create(void) {
    void *p = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (p == MAP_FAILED) return NULL;
    // an overflow ends the process instead of writing into other memory
    (void)mprotect(p, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
    return p;
}

snw_status snw_together_create(int most, snw_together **out) {
    *out = NULL;
    const snw_pack_engine *engine = snw_packs(most, false);
    if (!engine) return SNW_OK;
    snw_together *t = snw_alloc(sizeof *t);
    if (!t) return SNW_E_MEMORY;
    t->engine = engine;
    t->most = engine->lanes;
    for (int i = 0; i < t->most; i++) {
        t->lane[i].of = t;
        t->lane[i].pack = -1;
        t->lane[i].stack = stack_create();
        if (t->lane[i].stack) continue;
        snw_together_destroy(t);
        return SNW_E_MEMORY;
    }
    *out = t;
    return SNW_OK;
}

static void pack_clear(const snw_pack_engine *e, pack *p) {
    e->model_destroy(p->model);
    e->kept_destroy(p->kept);
    e->work_destroy(p->work);
    snw_pack_order_destroy(p->order);
    snw_model_stream_destroy(p->common);
    *p = (pack){0};
}

void snw_together_destroy(snw_together *t) {
    if (!t) return;
    for (int i = 0; i < SNW_LANES_MOST; i++) {
        pack_clear(t->engine, &t->pack[i]);
        if (t->lane[i].stack) (void)munmap(t->lane[i].stack, STACK);
        snw_model_stream_destroy(t->lane[i].stream);
        snw_free(t->lane[i].memory);
    }
    snw_free(t);
}

int snw_together_lanes(const snw_together *t) { return t->most; }
const char *snw_together_engine(const snw_together *t) { return t->engine->name; }
long snw_together_steps(const snw_together *t, int i) { return t->lane[i].steps; }

// ---- packs --------------------------------------------------------------------------------------

// Does a study that is under way have this pack?
static bool pack_in_use(const snw_together *t, int k) {
    for (int i = 0; i < t->most; i++) {
        if (t->lane[i].alive && t->lane[i].pack == k) return true;
    }
    return false;
}

// A pack of models like the one of `stream`; -1: no memory.
static int find_pack(snw_together *t, const snw_model *m, const snw_model_stream *stream) {
    int unused = -1;
    for (int k = 0; k < t->most; k++) {
        if (t->pack[k].common && snw_model_stream_alike(stream, t->pack[k].common)) return k;
        if (unused < 0 && !pack_in_use(t, k)) unused = k;
    }
    pack *p = &t->pack[unused]; // there are as many packs as studies
    pack_clear(t->engine, p);
    if (snw_model_stream_create(m, &p->common) == SNW_OK &&
        snw_pack_order_create(m, &p->order) == SNW_OK)
        return unused;
    pack_clear(t->engine, p);
    return -1;
}

static void lane_begin(void *user, const snw_model *m, const snw_implicit *im) {
    lane *l = user;
    const size_t room = snw_pack_lane_memory(m);
    snw_model_stream_destroy(l->stream);
    l->stream = NULL;
    l->pack = -1;
    if (snw_packs_refuse(im, false)) return;
    if (room > l->room) {
        snw_free(l->memory);
        l->memory = snw_alloc(room * sizeof *l->memory);
        l->room = l->memory ? room : 0;
    }
    // without memory the study goes on alone
    if (!l->memory || snw_model_stream_create(m, &l->stream) != SNW_OK) return;
    l->pack = find_pack(l->of, m, l->stream);
    if (l->pack < 0) return;
    pack *p = &l->of->pack[l->pack];
    l->of->engine->model_destroy(p->model);
    p->model = NULL;
}

// The model of all lanes of pack k; false: no memory.
static bool complete_pack(snw_together *t, int k) {
    pack *p = &t->pack[k];
    const snw_model_stream *stream[SNW_LANES_MOST];
    for (int i = 0; i < t->most; i++) {
        const lane *l = &t->lane[i];
        stream[i] = l->alive && l->pack == k ? l->stream : p->common;
    }
    if (!p->model) p->model = t->engine->model_create(stream, p->order);
    if (p->model && !p->work) p->work = t->engine->work_create(p->model);
    if (p->model && !p->kept) p->kept = t->engine->kept_create(p->model);
    return p->model && p->work && p->kept;
}

// Solve the steps of the studies of pack k that wait. Without memory they are not solved, and each
// does its step alone.
static void solve_pack(snw_together *t, int k) {
    snw_pack_lane step[SNW_LANES_MOST] = {{0}};
    bool any = false;
    for (int i = 0; i < t->most; i++) {
        lane *l = &t->lane[i];
        if (!l->waits || l->pack != k) continue;
        step[i] = l->step;
        any = true;
    }
    if (!any || !complete_pack(t, k)) return;
    t->engine->solve(t->pack[k].model, t->pack[k].work, t->pack[k].kept, step);
    for (int i = 0; i < t->most; i++) {
        if (step[i].active) t->lane[i].step = step[i];
    }
}

// ---- studies ------------------------------------------------------------------------------------

static bool lane_step(void *user, snw_implicit *im, double h, double t_laws, snw_chord_info *info) {
    lane *l = user;
    if (l->pack < 0 || !snw_implicit_fits_lane(im)) return false;
    snw_implicit_open_lane(im, h, t_laws, false, l->memory, &l->step);
    l->waits = true;
    (void)swapcontext(&l->context, &l->of->main);
    *info = (snw_chord_info){.iterations = l->step.iterations,
                             .tangents = l->step.tangents,
                             .residual = l->step.residual};
    if (!snw_implicit_end_lane(im, h, &l->step)) return false;
    l->steps++;
    return true;
}

snw_step_together snw_together_hook(snw_together *t, int i) {
    return (snw_step_together){.begin = lane_begin, .step = lane_step, .user = &t->lane[i]};
}

// First function on the stack of a study. Its argument is in two parts, since those of makecontext
// are of type int.
static void lane_main(unsigned high, unsigned low) {
    snw_together *t = (snw_together *)(((uintptr_t)high << 32) | (uintptr_t)low); // NOLINT
    const int i = t->begins;
    t->body(t->user, i);
    t->lane[i].alive = false;
}

static void lane_prepare(snw_together *t, int i) {
    lane *l = &t->lane[i];
    const uintptr_t at = (uintptr_t)t;
    l->waits = false;
    l->steps = 0;
    l->pack = -1;
    l->alive = getcontext(&l->context) == 0;
    if (!l->alive) return;
    l->context.uc_stack.ss_sp = l->stack;
    l->context.uc_stack.ss_size = STACK;
    l->context.uc_link = &t->main;
    makecontext(&l->context, (void (*)(void))lane_main, 2, (unsigned)(at >> 32),
                (unsigned)(at & 0xffffffffu));
}

void snw_together_execute(snw_together *t, int n, void (*body)(void *user, int i), void *user) {
    t->body = body;
    t->user = user;
    for (int i = 0; i < n; i++) lane_prepare(t, i);
    for (int alive = n; alive > 0;) {
        alive = 0;
        for (int i = 0; i < n; i++) {
            lane *l = &t->lane[i];
            l->waits = false;
            if (!l->alive) continue;
            t->begins = i;
            (void)swapcontext(&t->main, &l->context);
            alive += l->alive;
        }
        for (int k = 0; alive > 0 && k < t->most; k++) solve_pack(t, k);
    }
}

#else // no contexts that can be exchanged

struct snw_together {
    int none;
};

snw_status snw_together_create(int most, snw_together **out) {
    (void)most;
    *out = NULL;
    return SNW_OK;
}
void snw_together_destroy(snw_together *t) { (void)t; }
int snw_together_lanes(const snw_together *t) { return t->none; }
const char *snw_together_engine(const snw_together *t) { return t ? "packs" : ""; }
long snw_together_steps(const snw_together *t, int i) { return t->none + i; }

snw_step_together snw_together_hook(snw_together *t, int i) {
    (void)t, (void)i;
    return (snw_step_together){0};
}

void snw_together_execute(snw_together *t, int n, void (*body)(void *user, int i), void *user) {
    (void)t;
    for (int i = 0; i < n; i++) body(user, i);
}

#endif

// ---- refusal ------------------------------------------------------------------------------------

// why <- why packs do not serve this step; empty: they do
static snw_status refuse_step(const snw_desc *d, const snw_model *m, const snw_step_desc *step,
                              char why[160]) {
    if (step->engine == SNW_ENGINE_SHOOTING || step->kinematic) {
        (void)snprintf(why, 160, "packs do not serve %s",
                       step->kinematic ? "kinematic steps" : "the shooting engine");
        return SNW_OK;
    }
    snw_integrator it = {0};
    snw_error err = {0};
    const snw_status s = snw_integrator_open(m, step, d->record_every, &it, &err);
    if (s == SNW_E_MEMORY) return s;
    why[0] = '\0';
    if (s != SNW_OK || !it.implicit) {
        (void)snprintf(why, 160, "the scheme %s is not one of one implicit step%s",
                       snw_scheme_table[step->scheme].name,
                       step->control ? ", or its steps are controlled by their error" : "");
    } else {
        snw_implicit_leave_out_estimate(it.implicit);
        const char *what = snw_packs_refuse(it.implicit, false);
        if (what) (void)snprintf(why, 160, "packs do not serve %s", what);
    }
    if (it.close) it.close(it.self);
    return SNW_OK;
}

snw_status snw_together_refuse(const snw_desc *desc, const snw_run *run, char why[160]) {
    (void)snprintf(why, 160, "the study has no dynamic step");
    for (int i = 0; i < desc->nstep; i++) {
        const snw_step_desc *step = &desc->step[i];
        if (step->kind != SNW_STEP_DYNAMIC) continue;
        SNW_TRY(refuse_step(desc, snw_run_model_at(run, i), step, why));
        if (!why[0]) return SNW_OK;
    }
    return SNW_OK;
}
