// SPDX-License-Identifier: MIT
//
// Implicit steps of SNW_LANES robots at once: sources of the recursion compiled with numbers that
// are packs (base/pack.hpp), and Newton's method with a decision for each lane. It is C++ only
// because numbers with operators are; nothing of its library is used. One object for each number of
// lanes, whose functions differ by their namespace.
#include "base/pack.hpp"

#include "integrate/pack_lane.h"
extern "C" {
#include "base/alloc.h"
#include "base/fields.h"
}

#define SNW_JOIN_(a, b) a##b
#define SNW_JOIN(a, b)  SNW_JOIN_(a, b)
namespace SNW_JOIN(snw_packs_of_, SNW_LANES) {

// model_stream.h, whose numbers are doubles
struct snw_model_stream {
    size_t nwhole, nnumber;
    int *whole;
    narrow *number;
};
#define snw_model_stream snw_model_stream_of_packs_
#define double           pack
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/dynamics.h"
#include "dynamics/fluid.h"
#include "dynamics/force_element.h"
#include "dynamics/force_field.h"
#include "dynamics/jacobian_column.h"
#include "dynamics/joint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/observer.h"
#include "dynamics/relaxation.h"
#include "dynamics/rod_contact.h"
#include "dynamics/rod_grid.h"
#include "dynamics/segment_map.h"
#include "dynamics/slice.h"
#include "dynamics/sliding_station.h"
#include "dynamics/stop.h"
#include "dynamics/tendon.h"
#include "dynamics/tendon_point.h"
#include "dynamics/tendon_segment.h"
#include "dynamics/tendon_friction.h"
#include "dynamics/tendon_corner.h"
#include "dynamics/chamber.h"
#include "dynamics/tube.h"
#include "dynamics/tube_slide.h"
#include "dynamics/variable_length.h"
#include "dynamics/wrench_columns.h"
#include "integrate/step_account.h"
#include "math/fer.h"
#include "math/rule_blocks.h"
#undef snw_model_stream

// Parts of the library that no model on packs has (packs.c): never called.
struct absent {
    template <class T> operator T() const { __builtin_trap(); }
};
#include "integrate/pack_absent.inc"

#include "math/magnus.c"
#include "math/rule.c"
#include "math/se3_tangent.c"
#include "math/stumpff.c"

#include "dynamics/chart.c"
#include "dynamics/energy.c"
#include "dynamics/joint.c"
#include "dynamics/kinematics.c"
#include "dynamics/residual.c"
#include "dynamics/segment_map.c"
#include "dynamics/slice.c"
#include "dynamics/tangent.c"
#include "dynamics/tendon.c"
#include "dynamics/tendon_point.c"
#include "dynamics/tendon_segment.c"
#include "dynamics/work.c"
#include "dynamics/wrench_columns.c"

#include "integrate/step_account.c"
#include "integrate/step_path.c"

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
    for (int l = 0; l < SNW_LANES; l++) x.x[l] = s->stream[l]->number[s->nnumber];
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

#define STREAM    reader
#define WHOLE(x)  (x) = (__typeof__(x))get_whole(s)
#define NUMBER(x) (x) = get_number(s)
// without memory the loops behind an array must not run
#define ARRAY(p, n)                                                                                \
    do {                                                                                           \
        (p) = (__typeof__(p))get_memory(s, (size_t)(n) * sizeof *(p));                             \
        if (!(p)) return;                                                                          \
    } while (0)
#include "model/model_stream.inc"

struct model_of_packs {
    snw_model m;
    void **block;
    int nblock;
};

// Places in the stores of the tangent: paths without padding to whole vectors.
static void make_stores(reader *s, snw_model *m) {
    int *at;
    ARRAY(at, m->nseg);
    int *none;
    ARRAY(none, m->nseg + 1);
    m->fluid_point_of_seg = m->contact_point_of_seg = m->force_field_point_of_seg = none;
    for (int p = 0; p < m->npath; p++) {
        snw_path *path = (snw_path *)&m->path[p];
        path->ld = path->n;
        path->store = m->store_path;
        if (!m->subtree_tangent) m->store_path += (size_t)path->n * (size_t)path->n;
    }
    // tangents in one pass only: segments that are not kept share two places by turns
    int most = 0;
    for (int i = 0; i < m->nseg; i++) {
        const int n = m->path[m->seg[i].path].ld;
        most = most > n ? most : n;
    }
    m->store = 12 * (size_t)most;
    for (int i = 0; i < m->nseg; i++) {
        at[i] = i % 2 * 6 * most;
        if (!m->seg[i].kept && !m->subtree_tangent) continue;
        at[i] = (int)m->store;
        m->store += 6 * (size_t)m->path[m->seg[i].path].ld;
    }
    m->seg_store = m->seg_place = at;
    most = 0;
    for (int r = 0; r < m->nrod; r++) {
        ((snw_rod *)m->rod)[r].own_store = m->store_own;
        m->store_own += (size_t)m->rod[r].ndof * (size_t)m->rod[r].ndof;
    }
    for (int i = 0; i < m->nslice; i++) most = most > m->slice[i].ncol ? most : m->slice[i].ncol;
    m->store_slice = (size_t)SNW_MAGNUS_LD * (size_t)most;
    for (int i = 0; i < m->ntendon; i++) {
        const size_t n = (size_t)m->tendon[i].ndof;
        ((snw_tendon *)m->tendon)[i].store = m->store_tendon;
        m->store_tendon += n;
        if (m->most_tendon < n) m->most_tendon = n;
    }
}

static void model_destroy(snw_pack_model *object) {
    model_of_packs *o = (model_of_packs *)object;
    if (!o) return;
    for (int i = 0; i < o->nblock; i++) snw_free(o->block[i]);
    snw_free(o->block);
    snw_free(o);
}

static snw_pack_model *model_create(const struct ::snw_model_stream *const *stream) {
    model_of_packs *o = (model_of_packs *)snw_alloc(sizeof *o);
    if (!o) return NULL;
    reader s = {.stream = (const snw_model_stream *const *)stream};
    list_model(&s, &o->m);
    if (!s.no_memory) make_stores(&s, &o->m);
    o->block = s.block;
    o->nblock = s.nblock;
    if (s.no_memory) {
        model_destroy((snw_pack_model *)o);
        return NULL;
    }
    return (snw_pack_model *)o;
}

// ---- memory -------------------------------------------------------------------------------------

enum {
    PAIRS = 12,  // of Broyden's method for a lane
    ROUNDS = 40 // most corrections of a step, matrices made again included
};
static const narrow ROUNDING = 64 * 0x1p-52; // theory.md (6.13)

#define PACK_WORK_FIELDS(X)                                                                        \
    X(double, d, nv, "increment")                                                                  \
    X(double, f, nv, "of the scheme")                                                              \
    X(double, g, nv, "of the scheme")                                                              \
    X(double, rate, nv, "velocities in the chart")                                                 \
    X(double, acc, nv, "accelerations in the chart")                                               \
    X(double, scale, nv, "typical forces")                                                         \
    X(double, dx, nv, "correction")                                                                \
    X(double, old, nv, "increment before it")                                                      \
    X(double, q0, m->nq, "configuration at the beginning")                                         \
    X(double, q, m->nq, "at the end")                                                              \
    X(double, v, nv, "at the end")                                                                 \
    X(double, a, nv, "at the end")                                                                 \
    X(double, pair, ROUNDS *nv, "corrections, for Broyden's method")                               \
    X(double, chart, 108 * m->nlie_block, "Jacobian of the chart")                                 \
    X(double, T, nv *nv, "matrix being made, then its factors")                                    \
    X(double, A, nv *nv, "factors in use, by columns, pivots inverted")                            \
    X(double, chart_used, 108 * m->nlie_block, "Jacobian of the chart where they were made")                                                      \
    X(double, v0, nv, "velocities at the beginning")                                               \
    X(double, a0, nv, "accelerations there")                                                       \
    X(double, rate0, nv, "velocities there, in the chart")                                         \
    X(double, vb, nv, "before the step before")                                                    \
    X(double, point_q, m->nq, "state at a point of the energy account")                            \
    X(double, point_v, nv, "its velocities")                                                       \
    X(double, point_a, nv, "its accelerations")                                                    \
    X(double, scratch, 3 * nv, "of the energy account")                                            \
    X(double, power, snw_npower(m), "power of external actions")                                   \
    X(double, sums, snw_npower(m), "their work")

struct work_of_packs {
    snw_work *w;
    snw_inputs in;
    size_t ninput;
    snw_state s;
    PACK_WORK_FIELDS(SNW_FIELD_POINTER)
    void *block;
};

struct work_places {
    const snw_model *m;
    work_of_packs *o;
};

static void place_work(void *object, snw_fields *f) {
    const snw_model *m = ((work_places *)object)->m;
    work_of_packs *o = ((work_places *)object)->o;
    const size_t nv = (size_t)m->nv;
    PACK_WORK_FIELDS(SNW_FIELD_PLACE)
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
    work_places places = {m, o};
    o->in.model = m;
    o->block = snw_fields_create(place_work, &places);
    o->in.block = snw_fields_create_sized(place_inputs, &o->in, &o->in.bytes);
    if (!o->block || !o->in.block || snw_work_create(m, &o->w) != SNW_OK) {
        work_destroy((snw_pack_work *)o);
        return NULL;
    }
    o->ninput = o->in.bytes / sizeof(pack);
    o->s.q = o->q, o->s.v = o->v, o->s.a = o->a;
    return (snw_pack_work *)o;
}

// ---- Newton's method ----------------------------------------------------------------------------

// A step of all lanes; its numbers that are not arrays.
struct step_of_packs {
    const snw_model *m;
    work_of_packs *o;
    snw_mask known; // lanes that have a matrix of this step
    double a, b, tolerance, max_iter;
    double norm, iterations, tangents;
};

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
            x_.x[l_] = (narrow)lane[lane[l_].active ? l_ : spare].member;                          \
        x_;                                                                                        \
    })
#define FROM_ARRAY(n, member, to)                                                                  \
    for (size_t l_ = 0; l_ < SNW_LANES; l_++) {                                                    \
        const narrow *from_ = lane[lane[l_].active ? l_ : spare].member;                           \
        narrow *to_ = (narrow *)(pack *)(to) + l_;                                                         \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++) to_[i_ * SNW_LANES] = from_[i_];               \
    }
#define TO_ARRAY(n, from, member)                                                                  \
    for (size_t l_ = 0; l_ < SNW_LANES; l_++) {                                                    \
        if (!lane[l_].active || !lane[l_].solved) continue;                                        \
        const narrow *from_ = (const narrow *)(from) + l_;                                         \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++) lane[l_].member[i_] = from_[i_ * SNW_LANES];   \
    }

// Largest residual relative to the scale at the increments d; NaN is kept.
static void evaluate_residual(step_of_packs *p) {
    work_of_packs *o = p->o;
    const snw_model *m = p->m;
    for (int i = 0; i < m->nv; i++) {
        o->rate[i] = p->a * o->d[i] + o->f[i];
        o->acc[i] = p->b * o->d[i] + o->g[i];
    }
    snw_chart_to_state(m, SNW_CHART_SE3, o->q0, o->d, o->rate, o->acc, &o->s);
    snw_residual(m, &o->in, &o->s, false, o->w);
    double largest = 0;
    for (int i = 0; i < m->nv; i++) {
        const double r = fabs(o->w->r[i]) / o->scale[i];
        largest = snw_select(isnan(largest) | (r <= largest), largest, r);
    }
    p->norm = largest;
}

// T <- its factors without exchanges. Returns lanes in which all pivots keep enough digits.
static snw_mask factorise(int n, double *T) {
    snw_mask good = {~lane_bits{}};
    for (int k = 0; k < n; k++) {
        double *column = T + (size_t)k * n;
        // left-looking: column k minus L times its upper part
        const double own = column[k];
        for (int j = 0; j < k; j++) {
            const double u = column[j];
            const double *L = T + (size_t)j * n;
            for (int i = j + 1; i < n; i++) column[i] -= L[i] * u;
        }
        good = good & (fabs(column[k]) > 1e-12 * fabs(own));
        const double inverse = 1 / column[k];
        column[k] = inverse;
        for (int i = k + 1; i < n; i++) column[i] *= inverse;
    }
    return good;
}

static void solve_factors(int n, const double *T, double *x) {
    for (int j = 0; j < n; j++) {
        const double *L = T + (size_t)j * n;
        for (int i = j + 1; i < n; i++) x[i] -= L[i] * x[j];
    }
    for (int j = n - 1; j >= 0; j--) {
        const double *U = T + (size_t)j * n;
        x[j] *= U[j];
        for (int i = 0; i < j; i++) x[i] -= U[i] * x[j];
    }
}

// Newton's matrices of the lanes `which` <- those at the present increments. Returns lanes that
// could be factorised. `rough`: without the terms of velocities, which are a third of the work of
// the columns; Broyden's updates make up for them unless the motion is fast.
static snw_mask renew(step_of_packs *p, snw_mask which, bool rough) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    const int size = m->nv * m->nv;
    if (m->nlie_block) snw_chart_jacobian(m, SNW_CHART_SE3, o->d, p->a, p->b, &o->s, o->chart);
    o->w->is_static = rough;
    memset(o->T, 0, (size_t)size * sizeof *o->T);
    snw_tangent_once(m, &o->in, m->nlie_block ? o->chart : NULL, 1, p->a, p->b, o->w,
                     (size_t)m->nv, o->T);
    o->w->is_static = false;
    const snw_mask good = factorise(m->nv, o->T);
    for (int i = 0; i < size; i++) o->A[i] = snw_select(which, o->T[i], o->A[i]);
    for (int i = 0; i < 108 * m->nlie_block; i++)
        o->chart_used[i] = snw_select(which, o->chart[i], o->chart_used[i]);
    p->known = p->known | which;
    p->tangents += snw_select(which, 1, 0);
    return good;
}

static double inner(const snw_model *m, const double *x, const double *y) {
    double sum = 0;
    for (int i = 0; i < m->nv; i++) sum += x[i] * y[i] / (m->typical[i] * m->typical[i]);
    return sum;
}

// o->dx <- correction of round k with Broyden's update (solve/broyden.c) from the pairs of rounds
// `first` on, which differ between lanes. Returns lanes in which it exists.
static snw_mask correct(step_of_packs *p, int k, double first, double *size) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    const int nv = m->nv;
    double *y = o->pair + (size_t)k * nv;
    if (m->nlie_block) {
        snw_chart_project(m, o->chart_used, o->w->r, y);
    } else {
        memcpy(y, o->w->r, (size_t)nv * sizeof *y);
    }
    for (int i = 0; i < nv; i++) y[i] = -y[i];
    solve_factors(nv, o->A, y);
    for (int j = 0; j + 1 < k; j++) {
        const snw_mask used = first <= j;
        if (!snw_any(used)) continue;
        const double *s = o->pair + (size_t)j * nv;
        const double w = snw_select(used, inner(m, s, y) / size[j], 0);
        for (int i = 0; i < nv; i++) y[i] += w * s[nv + i];
    }
    snw_mask good = k - first < PAIRS;
    if (k > 0) {
        const double *s = y - nv, w = 1 - inner(m, s, y) / size[k - 1];
        const snw_mask used = first < k;
        good = good & (!used | (fabs(w) > 1e-3));
        const double divisor = snw_select(used, w, 1);
        for (int i = 0; i < nv; i++) y[i] = snw_select(used, y[i] / divisor, y[i]);
    }
    size[k] = inner(m, y, y);
    memcpy(o->dx, y, (size_t)nv * sizeof *y);
    return good;
}

// The iteration of solve/chord.c for each lane, with a new matrix in each step. A matrix kept from
// the step before would be renewed at different times in different lanes, each time with the work
// of all of them; and it would make a step depend on more than the state. A lane that would need a
// shorter correction fails: the engine for one robot solves it.
static snw_mask iterate(step_of_packs *p, snw_mask live) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    const snw_mask none = {lane_bits{}};
    snw_mask solved = none, fresh = none;
    double first = 0, size[ROUNDS];
    for (int i = 0; i < m->nv; i++) o->old[i] = o->d[i];
    evaluate_residual(p);
    for (int k = 0; k < ROUNDS; k++) {
        const snw_mask now = live & (p->norm <= p->tolerance);
        solved = solved | now;
        live = live & !now & isfinite(p->norm) & (p->iterations < p->max_iter);
        if (!snw_any(live)) break;
        const snw_mask makes = live & !p->known;
        if (snw_any(makes)) {
            const snw_mask good = renew(p, makes, k == 0);
            live = live & (!makes | good);
            fresh = fresh | makes;
            first = snw_select(makes, k, first);
        }
        snw_mask moves = live & correct(p, k, first, size);
        p->known = p->known & !(live & !moves);
        p->iterations += snw_select(moves, 1, 0);
        const double was = p->norm;
        snw_mask tiny = fresh & moves;
        for (int i = 0; i < m->nv; i++) {
            tiny = tiny & (fabs(o->dx[i]) <= ROUNDING * m->typical[i]);
            o->old[i] = o->d[i];
            o->d[i] = snw_select(moves, o->d[i] + o->dx[i], o->d[i]);
        }
        evaluate_residual(p);
        // forces far stiffer than those in the norm: the residual is their rounding error
        const snw_mask rounded = tiny & (p->norm > 0.5 * was);
        const snw_mask worse = moves & !rounded & !(p->norm < was);
        // at rounding level the residual cannot fall further
        const snw_mask level = worse & fresh & (was <= 1e3 * p->tolerance);
        const snw_mask back = level | (worse & !fresh);
        solved = solved | rounded | level;
        live = live & !rounded & !level & !(worse & fresh);
        p->known = p->known & !(worse & !fresh) & !(moves & (p->norm > 0.5 * was));
        fresh = fresh & !(moves & !worse);
        if (!snw_any(back)) continue;
        for (int i = 0; i < m->nv; i++) o->d[i] = snw_select(back, o->old[i], o->d[i]);
        evaluate_residual(p);
    }
    return solved;
}

static void load_lanes(step_of_packs *p, const snw_pack_lane *lane) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    const int spare = first_active(lane);
    p->a = FROM(a);
    p->b = FROM(b);
    p->tolerance = FROM(tolerance);
    p->max_iter = FROM(max_iter);
    FROM_ARRAY(m->nv, f, o->f)
    FROM_ARRAY(m->nv, g, o->g)
    FROM_ARRAY(m->nv, scale, o->scale)
    FROM_ARRAY(m->nv, d, o->d)
    FROM_ARRAY(m->nq, q, o->q0)
    FROM_ARRAY(3, gravity, o->in.gravity.e)
    FROM_ARRAY(o->ninput, inputs, o->in.block)
}

// Energies of the step just solved, theory.md (6.5).
static void account(step_of_packs *p, snw_pack_lane *lane) {
    const snw_model *m = p->m;
    work_of_packs *o = p->o;
    const int spare = first_active(lane), np = snw_npower(m);
    FROM_ARRAY(m->nv, v0, o->v0)
    FROM_ARRAY(m->nv, a0, o->a0)
    FROM_ARRAY(m->nv, rate0, o->rate0)
    FROM_ARRAY(m->nv, vb, o->vb)
    const snw_state now = {.q = o->q0, .v = o->v0, .a = o->a0};
    snw_state at = {.q = o->point_q, .v = o->point_v, .a = o->point_a};
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
    for (int k = 0; k < SNW_ACCOUNT_POINTS; k++) {
        FROM_ARRAY(3, point_gravity[k], o->in.gravity.e)
        FROM_ARRAY(o->ninput, point_inputs[k], o->in.block)
        unbalanced += snw_step_account_at(&a, k, &o->in, o->sums, &other);
    }
    for (int l = 0; l < SNW_LANES; l++) {
        lane[l].heat = heat.x[l];
        lane[l].other_heat = other.x[l];
        lane[l].unbalanced = unbalanced.x[l];
    }
    TO_ARRAY(np, o->sums, work)
}

static void solve(const snw_pack_model *model, snw_pack_work *work, snw_pack_lane *lane) {
    step_of_packs p = {.m = &((const model_of_packs *)model)->m,
                       .o = (work_of_packs *)work,
                       .known = {lane_bits{}}};
    const snw_model *m = p.m;
    work_of_packs *o = p.o;
    snw_mask active;
    for (int l = 0; l < SNW_LANES; l++) active.m[l] = lane[l].active ? -1 : 0;
    load_lanes(&p, lane);
    p.iterations = p.tangents = 0;
    const int spare = first_active(lane);
    const snw_mask solved = iterate(&p, active);
    const unsigned which = snw_mask_lanes(solved);
    for (int l = 0; l < SNW_LANES; l++) {
        lane[l].solved = which >> l & 1;
        lane[l].iterations = (int)p.iterations.x[l];
        lane[l].tangents = (int)p.tangents.x[l];
        lane[l].residual = p.norm.x[l];
    }
    if (lane[spare].account) account(&p, lane);
    TO_ARRAY(m->nv, o->d, d)
    TO_ARRAY(m->nv, o->rate, rate)
    TO_ARRAY(m->nv, o->acc, acc)
    TO_ARRAY(m->nq, o->q, trial_q)
    TO_ARRAY(m->nv, o->v, trial_v)
    TO_ARRAY(m->nv, o->a, trial_a)
}

static void evaluate(const snw_pack_model *model, snw_pack_work *work, const snw_pack_lane *lane,
                     const narrow *coefficient, narrow *const *residual, narrow *const *tangent) {
    const snw_model *m = &((const model_of_packs *)model)->m;
    work_of_packs *o = (work_of_packs *)work;
    const int spare = first_active(lane), nv = m->nv;
    FROM_ARRAY(m->nq, trial_q, o->q)
    FROM_ARRAY(nv, trial_v, o->v)
    FROM_ARRAY(nv, trial_a, o->a)
    FROM_ARRAY(3, gravity, o->in.gravity.e)
    FROM_ARRAY(o->ninput, inputs, o->in.block)
    snw_residual(m, &o->in, &o->s, false, o->w);
    memset(o->T, 0, (size_t)nv * (size_t)nv * sizeof *o->T);
    snw_tangent_once(m, &o->in, NULL, coefficient[0], coefficient[1], coefficient[2], o->w,
                     (size_t)nv, o->T);
    for (int l = 0; l < SNW_LANES; l++) {
        for (int i = 0; i < nv; i++) residual[l][i] = o->w->r[i].x[l];
        for (int i = 0; i < nv * nv; i++) tangent[l][i] = o->T[i].x[l];
    }
}

#undef double
} // namespace

using namespace SNW_JOIN(snw_packs_of_, SNW_LANES);
extern "C" {
extern const snw_pack_engine SNW_JOIN(snw_packs, SNW_LANES);
const snw_pack_engine SNW_JOIN(snw_packs, SNW_LANES) = {
    SNW_LANES, SNW_LANES == 4 ? "packs of 4 (AVX2)" : "packs of 8 (AVX-512)",
    model_create, model_destroy, work_create, work_destroy, solve, evaluate};
}
