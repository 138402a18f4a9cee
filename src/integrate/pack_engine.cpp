// SPDX-License-Identifier: MIT
//
// Implicit steps of SNW_LANES robots at once: sources of the recursion compiled with numbers that
// are packs (base/pack.hpp), and Newton's method with a decision for each lane. It is C++ only
// because numbers with operators are; nothing of its library is used. One object for each number of
// lanes of doubles and of floats, whose functions differ by their namespace.
#include "base/pack.hpp"

#include "integrate/pack_lane.h"
extern "C" {
#include "base/alloc.h"
#include "base/fields.h"
#include "base/scratch.h"
}

namespace SNW_PACK_PARTS {

// model_stream.h, whose numbers are doubles
struct snw_model_stream {
    size_t nwhole, nnumber;
    int *whole;
    narrow *number;
};
#define snw_model_stream snw_model_stream_of_packs_
#define double           pack
#define SNW_PACK_LAWS
#include "integrate/recursion_sources.inc"
#undef snw_model_stream

// ---- model --------------------------------------------------------------------------------------

// Reader of the list of model_stream.inc: numbers of all lanes, and one structure.
struct reader {
    const snw_model_stream *const *stream;
    size_t nwhole, nnumber;
    void **block; // all arrays, for the destroyer
    int nblock, room;
    bool no_memory;
};

static int get_whole(reader *s) { return s->stream[0]->whole[s->nwhole++]; }

static pack get_number(reader *s) {
    pack x;
    for (int l = 0; l < SNW_LANES; l++) x.x[l] = (element)s->stream[l]->number[s->nnumber];
    s->nnumber++;
    return x;
}

static void *get_memory(reader *s, size_t bytes) {
    if (s->nblock == s->room) {
        const int room = 2 * s->room + 16;
        void **block = (void **)snw_alloc((size_t)room * sizeof *block);
        if (block && s->nblock) memcpy(block, s->block, (size_t)s->nblock * sizeof *block);
        if (block) snw_free(s->block), s->block = block, s->room = room;
        s->no_memory |= !block;
    }
    void *p = s->no_memory ? NULL : snw_alloc(bytes + 1);
    s->no_memory |= !p;
    if (p) s->block[s->nblock++] = p;
    return p;
}

#include "integrate/pack_model.inc"

struct model_of_packs {
    snw_model m;
    const snw_pack_order *order; // of its matrix
    void **block;
    int nblock;
};

static void model_destroy(snw_pack_model *object) {
    model_of_packs *o = (model_of_packs *)object;
    if (!o) return;
    for (int i = 0; i < o->nblock; i++) snw_free(o->block[i]);
    snw_free(o->block);
    snw_free(o);
}

static snw_pack_model *model_create(const struct ::snw_model_stream *const *stream,
                                    const snw_pack_order *order) {
    model_of_packs *o = (model_of_packs *)snw_alloc(sizeof *o);
    if (!o) return NULL;
    reader s = {.stream = (const snw_model_stream *const *)stream};
    list_model(&s, &o->m);
    if (!s.no_memory) make_stores(&s, &o->m);
    o->order = order;
    o->block = s.block;
    o->nblock = s.nblock;
    if (s.no_memory) {
        model_destroy((snw_pack_model *)o);
        return NULL;
    }
    return (snw_pack_model *)o;
}

// ---- memory -------------------------------------------------------------------------------------

#include "integrate/pack_step.inc"

static void step_residual(step_of_packs *p) {
    snw_residual(p->m, &p->o->in, &p->o->s, false, p->o->w);
}

static void step_matrix(step_of_packs *p, bool rough) { exact_matrix(p, rough); }
static bool rough_matrix_is_cheaper(const step_of_packs *) { return true; }

// ---- laws that read signals ---------------------------------------------------------------------

static work_of_packs *work_of(const snw_inputs *in) {
    return (work_of_packs *)((char *)in - offsetof(work_of_packs, in));
}

// Laws are expressions with branches, whose numbers differ between robots: each robot evaluates its
// own, with the motion and the columns of segments that they read (packs.c).
static void give_lane(int l, size_t n, const void *from, narrow *to) {
    const element *x = (const element *)from + l;
    for (size_t i = 0; i < n; i++) to[i] = x[i * SNW_LANES];
}

void snw_feedback(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w) {
    work_of_packs *o = work_of(in);
    const snw_pack_order *order = o->order;
    memcpy(w->load, in->load, (size_t)m->nload_point * sizeof *w->load);
    memset(o->law, 0, (size_t)m->nv * sizeof *o->law);
    memset(o->effort, 0, (size_t)m->ntendon * sizeof *o->effort);
    for (int l = 0; l < SNW_LANES; l++) {
        if (!o->lane[l].active) continue;
        const snw_pack_laws *laws = &o->lane[l].laws;
        for (int i = 0; i < m->nq; i++) laws->q[i] = s->q[i].x[l];
        for (int i = 0; i < m->nv; i++) laws->v[i] = s->v[i].x[l];
        for (int k = 0; k < order->nframe; k++) {
            const int seg = order->frame[k].seg;
            give_lane(l, 12, &w->g[seg], laws->g + 12 * (size_t)seg);
            give_lane(l, 6, &w->V[seg], laws->V + 6 * (size_t)seg);
        }
        laws->forces(laws->robot, o->point, laws->q, laws->v, laws->r);
        for (int i = 0; i < m->nv; i++) o->law[i].x[l] = (element)laws->r[i];
        for (int k = 0; k < order->nload; k++) {
            const narrow *from = laws->load + 6 * (size_t)order->load[k];
            for (int i = 0; i < 6; i++) w->load[order->load[k]].e[i].x[l] = (element)from[i];
        }
        for (int k = 0; k < order->ntendon; k++)
            o->effort[order->tendon[k]].x[l] = (element)laws->effort[order->tendon[k]];
    }
    for (int i = 0; i < m->nv; i++) w->r[i] += o->law[i];
}

double snw_tendon_law(const snw_model *, int tendon, const snw_inputs *in, snw_at) {
    return work_of(in)->effort[tendon];
}

// Columns of a segment in lane l; without rates of columns (w->is_static) those are zero.
static void give_columns(const snw_model *m, int l, const snw_pack_frame *frame, const snw_work *w,
                         const snw_pack_laws *laws) {
    const snw_path *path = &m->path[m->seg[frame->seg].path];
    const size_t n = (size_t)path->n;
    for (size_t row = 0; n && row < 6; row++) {
        const size_t from = (size_t)m->seg_store[frame->seg] + row * (size_t)path->ld,
                     to = frame->at + row * (size_t)frame->ld;
        give_lane(l, n, w->J + from, laws->J + to);
        if (w->is_static) {
            memset(laws->dJ + to, 0, n * sizeof *laws->dJ);
        } else {
            give_lane(l, n, w->dJ + from, laws->dJ + to);
        }
    }
}

// At the state of the last snw_feedback.
void snw_feedback_tangent(const snw_model *m, const snw_inputs *in, double cq, double cv,
                          snw_work *w, size_t ld, double *T) {
    work_of_packs *o = work_of(in);
    for (int l = 0; l < SNW_LANES; l++) {
        if (!o->lane[l].active) continue;
        const snw_pack_laws *laws = &o->lane[l].laws;
        for (int k = 0; k < o->order->nframe; k++)
            give_columns(m, l, &o->order->frame[k], w, laws);
        laws->tangent(laws->robot, o->point, cq.x[l], cv.x[l], laws->T);
        for (int j = 0; j < m->nv; j++) {
            const narrow *from = laws->T + (size_t)j * m->nv;
            bool any = false; // laws read few joints
            for (int i = 0; i < m->nv; i++) any |= from[i] != 0;
            for (int i = 0; any && i < m->nv; i++) T[(size_t)j * ld + i].x[l] += (element)from[i];
        }
    }
}

double snw_feedback_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                          const snw_work *) {
    const work_of_packs *o = work_of(in);
    double power = 0;
    for (int i = 0; i < m->nv; i++) power -= o->law[i] * s->v[i];
    return power;
}

struct work_places {
    const snw_model *m;
    const snw_pack_order *order;
    work_of_packs *o;
};

struct kept_places {
    const snw_model *m;
    const snw_pack_order *order;
    kept_matrices *o;
};

static void place_work(void *object, snw_fields *f) {
    const snw_model *m = ((work_places *)object)->m;
    const snw_pack_order *order = ((work_places *)object)->order;
    work_of_packs *o = ((work_places *)object)->o;
    const size_t nv = (size_t)m->nv, n = nv + (size_t)m->nconstraint;
    PACK_WORK_FIELDS(SNW_FIELD_PLACE)
}

static void place_kept(void *object, snw_fields *f) {
    const snw_model *m = ((kept_places *)object)->m;
    const snw_pack_order *order = ((kept_places *)object)->order;
    kept_matrices *o = ((kept_places *)object)->o;
    PACK_KEPT_FIELDS(SNW_FIELD_PLACE)
}

static void kept_destroy(snw_pack_kept *object) {
    kept_matrices *o = (kept_matrices *)object;
    if (o) snw_free(o->block);
    snw_free(o);
}

static snw_pack_kept *kept_create(const snw_pack_model *model) {
    const model_of_packs *from = (const model_of_packs *)model;
    kept_matrices *o = (kept_matrices *)snw_alloc(sizeof *o);
    if (!o) return NULL;
    kept_places places = {&from->m, from->order, o};
    o->block = snw_fields_create(place_kept, &places);
    if (o->block) return (snw_pack_kept *)o;
    snw_free(o);
    return NULL;
}

static void place_inputs(void *object, snw_fields *f) {
    snw_inputs *o = (snw_inputs *)object;
    const snw_model *m = o->model;
    SNW_INPUTS_FIELDS(SNW_FIELD_PACK)
}

static void work_destroy(snw_pack_work *object) {
    work_of_packs *o = (work_of_packs *)object;
    if (!o) return;
    snw_work_destroy(o->w);
    snw_free(o->in.block);
    snw_free(o->block);
    snw_free(o);
}

static snw_pack_work *work_create(const snw_pack_model *model) {
    const snw_model *m = &((const model_of_packs *)model)->m;
    work_of_packs *o = (work_of_packs *)snw_alloc(sizeof *o);
    if (!o) return NULL;
    work_places places = {m, ((const model_of_packs *)model)->order, o};
    o->in.model = m;
    o->order = places.order;
    o->block = snw_fields_create(place_work, &places);
    o->in.block = snw_fields_create_sized(place_inputs, &o->in, &o->in.bytes);
    if (!o->block || !o->in.block || snw_work_create(m, &o->w) != SNW_OK) {
        work_destroy((snw_pack_work *)o);
        return NULL;
    }
    o->ninput = o->in.bytes / sizeof(pack);
    o->s.q = o->q, o->s.v = o->v, o->s.a = o->a, o->s.lambda = o->lambda;
    o->s.dropped = o->dropped, o->s.relaxed = o->relaxed, o->s.follow = o->follow;
    return (snw_pack_work *)o;
}

// ---- steps ------------------------------------------------------------------------------------

// The lane whose numbers an inactive one gets.
static int first_active(const snw_pack_lane *lane) {
    int l = 0;
    while (l < SNW_LANES - 1 && !lane[l].active) l++;
    return l;
}

#define FROM(member)                                                                               \
    ({                                                                                             \
        pack x_;                                                                                   \
        for (int l_ = 0; l_ < SNW_LANES; l_++)                                                     \
            x_.x[l_] = (element)lane[lane[l_].active ? l_ : spare].member;                          \
        x_;                                                                                        \
    })
#define FROM_ARRAY(n, member, to)                                                                  \
    for (size_t l_ = 0; l_ < SNW_LANES; l_++) {                                                    \
        const narrow *from_ = lane[lane[l_].active ? l_ : spare].member;                           \
        element *to_ = (element *)(pack *)(to) + l_;                                               \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++) to_[i_ * SNW_LANES] = (element)from_[i_];      \
    }
#define TO_ARRAY(n, from, member)                                                                  \
    for (size_t l_ = 0; l_ < SNW_LANES; l_++) {                                                    \
        if (!lane[l_].active || !lane[l_].solved) continue;                                        \
        const element *from_ = (const element *)(from) + l_;                                         \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++) lane[l_].member[i_] = from_[i_ * SNW_LANES];   \
    }

static void load_lanes(step_of_packs *p, const snw_pack_lane *lane) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    const int spare = first_active(lane);
    o->lane = lane;
    o->point = -1;
    p->a = FROM(a);
    p->b = FROM(b);
    p->tolerance = FROM(tolerance);
    p->max_iter = FROM(max_iter);
    FROM_ARRAY(m->nv, scale, o->scale)
#ifdef SNW_SINGLE
    for (int l = 0; l < SNW_LANES; l++) {
        const snw_pack_lane *from = &lane[lane[l].active ? l : spare];
        for (int i = 0; i < m->nv; i++) {
            o->predicted[i].x[l] = (element)from->d[i];
            o->f[i].x[l] = (element)(from->a * from->d[i] + from->f[i]);
            o->g[i].x[l] = (element)(from->b * from->d[i] + from->g[i]);
            o->move[i].x[l] = 0;
        }
    }
#else
    FROM_ARRAY(m->nv, f, o->f)
    FROM_ARRAY(m->nv, g, o->g)
    FROM_ARRAY(m->nv, d, o->d)
#endif
    FROM_ARRAY(m->nq, q, o->q0)
    FROM_ARRAY(m->nbranch_coordinate, relaxed, o->relaxed)
    FROM_ARRAY(m->nbranch, follow, o->follow)
    FROM_ARRAY(m->nconstraint, lambda, o->lambda)
    FROM_ARRAY(3, gravity, o->in.gravity.e)
    FROM_ARRAY(o->ninput, inputs, o->in.block)
    o->w->velocity_time = 1 / p->a; // as for a robot alone
    for (int i = 0; i < p->order->n; i++) o->typical[i] = i < m->nv ? m->typical[i] : double(1);
    for (int i = 0; i < m->nconstraint; i++)
        o->row_size[i] = snw_constraint_at(m, o->w, i).size;
}

// Rates of driven coordinates <- those of their laws, as at the end of a step of one robot.
static void take_driven_rates(step_of_packs *p) {
    for (int i = 0; i < p->m->ndrive; i++) {
        const int dof = p->m->drive[i].dof;
        if (!snw_drive_holds(p->m, &p->o->s, i)) continue;
        p->o->rate[dof] = p->o->v[dof];
        p->o->acc[dof] = p->o->a[dof];
    }
}

// Energies of the step just solved, theory.md (6.5), of the lanes that ask for them.
static void account(step_of_packs *p, snw_pack_lane *all) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    snw_pack_lane lane[SNW_LANES];
    bool any = false;
    for (int l = 0; l < SNW_LANES; l++) {
        lane[l] = all[l];
        lane[l].active = all[l].active && all[l].account && all[l].solved;
        any |= lane[l].active;
    }
    if (!any) return;
    const int spare = first_active(lane), np = snw_npower(m);
    FROM_ARRAY(m->nv, v0, o->v0)
    FROM_ARRAY(m->nv, a0, o->a0)
    FROM_ARRAY(m->nv, rate0, o->rate0)
    FROM_ARRAY(m->nv, vb, o->vb)
    FROM_ARRAY(m->nconstraint, lambda0, o->lambda0)
    FROM_ARRAY(m->nbranch_coordinate, relaxed0, o->relaxed0)
    FROM_ARRAY(m->nbranch, follow0, o->follow0)
    const snw_state now = {.q = o->q0,
                           .v = o->v0,
                           .a = o->a0,
                           .relaxed = o->relaxed0,
                           .follow = o->follow0,
                           .lambda = o->lambda0,
                           .dropped = o->dropped};
    snw_state at = {.q = o->point_q,
                    .v = o->point_v,
                    .a = o->point_a,
                    .relaxed = o->relaxed,
                    .follow = o->follow,
                    .lambda = o->point_lambda,
                    .dropped = o->dropped};
    const snw_step_account a = {.m = m,
                                .path = {.chart = SNW_CHART_SE3,
                                         .h = FROM(h),
                                         .q0 = o->q0,
                                         .d = o->d,
                                         .rate0 = o->rate0,
                                         .rate1 = o->rate},
                                .now = &now,
                                .trial = &o->s,
                                .past_h = FROM(past_h),
                                .vb = o->vb,
                                .scratch = o->scratch,
                                .at = &at,
                                .w = o->w,
                                .power = o->power};
    const double heat = snw_step_account_heat(&a);
    double unbalanced = snw_step_account_elastic(&a), other = 0;
    memset(o->sums, 0, (size_t)np * sizeof *o->sums);
    snw_step_energies end[2] = {};
    if (snw_step_energies_count(m)) {
        const snw_state *state[2] = {&now, &o->s};
        for (int k = 0; k < 2; k++) {
            FROM_ARRAY(3, point_gravity[SNW_LANE_WITHIN + k], o->in.gravity.e)
            FROM_ARRAY(o->ninput, point_inputs[SNW_LANE_WITHIN + k], o->in.block)
            o->point = SNW_LANE_WITHIN + k;
            end[k] = snw_step_energies_at(m, &o->in, state[k], o->w);
        }
        unbalanced += end[1].interaction - end[0].interaction;
    }
    for (int k = 0; k < SNW_LANE_WITHIN; k++) {
        FROM_ARRAY(3, point_gravity[k], o->in.gravity.e)
        FROM_ARRAY(o->ninput, point_inputs[k], o->in.block)
        o->point = k;
        unbalanced += snw_step_account_at(&a, k, &o->in, o->sums, &other);
    }
    for (int l = 0; l < SNW_LANES; l++) {
        for (int k = 0; k < 2; k++) {
            const pack *from = &end[k].stored;
            for (int i = 0; i < SNW_LANE_ENERGIES; i++) all[l].energies[k][i] = from[i].x[l];
        }
        all[l].heat = heat.x[l];
        all[l].other_heat = other.x[l];
        all[l].unbalanced = unbalanced.x[l];
    }
    TO_ARRAY(np, o->sums, work)
}

static void solve_step(const snw_pack_model *model, snw_pack_work *work, snw_pack_kept *kept,
                       snw_pack_lane *lane) {
    step_of_packs p = {.m = &((const model_of_packs *)model)->m,
                       .order = ((const model_of_packs *)model)->order,
                       .o = (work_of_packs *)work,
                       .kept = (kept_matrices *)kept,
                       .known = snw_mask_from(false)};
    const snw_model *m = p.m;
    work_of_packs *o = p.o;
    snw_mask active, keeps;
    for (int l = 0; l < SNW_LANES; l++) {
        active.m[l] = lane[l].active ? -1 : 0;
        keeps.m[l] = lane[l].active && lane[l].keeps ? -1 : 0;
    }
    load_lanes(&p, lane);
    recall(&p, keeps);
    p.iterations = p.tangents = 0;
    const snw_mask solved = iterate(&p, active);
    const unsigned which = snw_mask_lanes(solved);
    for (int l = 0; l < SNW_LANES; l++) {
        lane[l].solved = which >> l & 1;
        lane[l].iterations = (int)p.iterations.x[l];
        lane[l].tangents = (int)p.tangents.x[l];
        lane[l].residual = p.norm.x[l];
    }
    take_driven_rates(&p);
    account(&p, lane);
    TO_ARRAY(m->nconstraint, o->lambda, lambda)
#ifdef SNW_SINGLE // the state follows from the increment, with all digits (packs.c)
    for (int l = 0; l < SNW_LANES; l++) {
        for (int i = 0; lane[l].solved && i < m->nv; i++) lane[l].d[i] += o->move[i].x[l];
    }
#else
    TO_ARRAY(m->nv, o->d, d)
    TO_ARRAY(m->nv, o->rate, rate)
    TO_ARRAY(m->nv, o->acc, acc)
    TO_ARRAY(m->nq, o->q, trial_q)
    TO_ARRAY(m->nv, o->v, trial_v)
    TO_ARRAY(m->nv, o->a, trial_a)
#endif
}

#ifdef SNW_SINGLE
// Numbers below 1e-38, which floats meet more often than doubles, are zeros: processors take a
// hundred times as long for them.
static void solve(const snw_pack_model *model, snw_pack_work *work, snw_pack_kept *kept,
                  snw_pack_lane *lane) {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | _MM_FLUSH_ZERO_ON | 0x40 /* operands, too */);
    solve_step(model, work, kept, lane);
    _mm_setcsr(before);
}
#else
#define solve solve_step
#endif

static void evaluate(const snw_pack_model *model, snw_pack_work *work, const snw_pack_lane *lane,
                     const narrow *coefficient, narrow *const *residual, narrow *const *tangent) {
    const snw_model *m = &((const model_of_packs *)model)->m;
    work_of_packs *o = (work_of_packs *)work;
    const int spare = first_active(lane), nv = m->nv, n = nv + m->nconstraint;
    FROM_ARRAY(m->nq, trial_q, o->q)
    FROM_ARRAY(m->nbranch_coordinate, relaxed, o->relaxed)
    FROM_ARRAY(m->nbranch, follow, o->follow)
    FROM_ARRAY(nv, trial_v, o->v)
    FROM_ARRAY(nv, trial_a, o->a)
    FROM_ARRAY(m->nconstraint, lambda, o->lambda)
    FROM_ARRAY(3, gravity, o->in.gravity.e)
    FROM_ARRAY(o->ninput, inputs, o->in.block)
    o->lane = lane;
    o->point = -1;
    o->w->velocity_time = 1 / FROM(a);
    snw_residual(m, &o->in, &o->s, false, o->w);
    memset(o->J, 0, (size_t)n * n * sizeof *o->J);
    snw_tangent_once(m, &o->in, NULL, coefficient[0], coefficient[1], coefficient[2], o->w,
                     snw_matrix_dense(n, o->J));
    if (m->nconstraint) snw_constraints_place(m, o->w, 1, snw_matrix_dense(n, o->J));
    for (int l = 0; l < SNW_LANES; l++) {
        for (int i = 0; i < nv; i++) residual[l][i] = o->w->r[i].x[l];
        for (int i = nv; i < n; i++) residual[l][i] = o->w->violation[i - nv].x[l];
        for (int i = 0; i < n * n; i++) tangent[l][i] = o->J[i].x[l];
    }
    memset(o->J, 0, (size_t)n * n * sizeof *o->J);
}

#undef double
} // namespace

using namespace SNW_PACK_PARTS;
#ifdef SNW_SINGLE
#define ENGINE_NAME                                                                                \
    SNW_LANES == 8 ? "packs of 8, single precision (AVX2)"                                         \
                   : "packs of 16, single precision (AVX-512)"
static const bool is_single = true;
#else
#define ENGINE_NAME SNW_LANES == 4 ? "packs of 4 (AVX2)" : "packs of 8 (AVX-512)"
static const bool is_single = false;
#endif
extern "C" {
extern const snw_pack_engine SNW_PACK_ENGINE;
const snw_pack_engine SNW_PACK_ENGINE = {
    SNW_LANES, is_single, ENGINE_NAME, model_create, model_destroy, work_create, work_destroy,
    kept_create, kept_destroy, solve, evaluate};
}
