// SPDX-License-Identifier: MIT
//
// Search for conditions that change and change back within a time step (theory.md (6.19)). A
// comparison f > g has the margin f - g. A step needs a closer look when a margin that has the same
// sign at both ends could reach zero between them, judged by its second difference over this step
// and the one before. Then the signals are evaluated at three points of the cubic path of the step
// and interpolated in time; where an extremum of a margin comes close to zero, the caller advances
// there. The difference between its signals and the interpolated ones corrects the interpolation,
// until the remaining error cannot change the sign.
#include "study/event_search.h"

#include "base/alloc.h"
#include "base/fields.h"
#include "integrate/step_path.h"
#include "study/memory.h"

#include <math.h>
#include <string.h>

enum {
    POINTS = 5,      // of the interpolation: ends and three points of the path, evenly spaced
    DENSE = 32,      // intervals in which extrema of margins are bracketed
    TRIALS = 8,      // instants proposed in one step
    GOLDEN = 40,     // iterations of golden section: 2/DENSE * 0.618^40 < 1e-9
    BISECTIONS = 25, // 2^-25/DENSE < 1e-9
    ZEROS = 64       // of margins in one step
};
// A margin is in reach of zero when it is smaller than REACH |second divided difference| h^2, eight
// times the distance of a parabola of that curvature from its chord.
static const double REACH = 2;
// Share of the deviation from the chord that is allowed for the error of an extremum before any
// instant was tried; later the last error of the interpolation is.
static const double SHARE = 0.5;
static const double SAME = 1e-6;  // of a step: instants that are not distinguished
static const double CLOSE = 0.05; // of a step: changes whose order the path may not show

// A condition with its comparisons.
typedef struct source {
    snw_law law;
    int signal;   // its index; -1: until
    int first, n; // its margins
    bool jumps;
} source;

typedef struct instant {
    double t; // NaN: unknown
    double *signal;
    snw_state *state;
    snw_energy energy;
} instant;

// n margins, nv coordinates, ns signals
#define EVENT_SEARCH_FIELDS(AT, PACK)                                                              \
    AT(double, margin_old, n, "margins at the start of the step before")                           \
    PACK(double, margin_from, n, "at the start of the last step")                                  \
    PACK(double, margin_to, n, "at its end")                                                       \
    PACK(double, margin, n, "at an instant within")                                                \
    PACK(double, error, n, "last error of a margin at an instant tried for it; -1: none")          \
    PACK(double, increment, nv, "path: increment of the coordinates")                              \
    PACK(double, scratch, 3 * nv, "path")                                                          \
    PACK(double, error0, nv, "path: error at the start")                                           \
    PACK(double, error1, nv, "path: error at the end")                                             \
    PACK(double, point, POINTS *ns, "signals at the points of the path")                           \
    PACK(double, dense, (DENSE + 1) * n, "margins along the path")                                 \
    PACK(double, correction, (TRIALS + 2) * ns,                                                    \
         "true minus interpolated signals at the instants tried")                                  \
    AT(snw_vec3, rotation, nseg, "path: rotations of the segments and observers")

struct snw_event_search {
    const snw_model *m;
    int nsource, n; // conditions, margins
    source *source;
    bool jumps;
    snw_law until;
    double *before;        // of the caller
    instant old, from, to; // start of the step before, start and end of the last step
    instant mark_from, mark_to;
    // path
    snw_state *within;
    snw_inputs *in;
    snw_work *w;
    double *z; // nsignal
    // instants tried in this step
    bool sampled; // point and dense are those of the last step
    int ntrial;
    double trial[TRIALS + 2]; // fractions of the step: 0, 1, then those tried
    int current;              // margin to which the next instant belongs; n: to a condition
    double window;            // fraction at which an interpolated condition differs; 0: none
    EVENT_SEARCH_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
};

// ---- creation ----------------------------------------------------------------------------------

// Does the law read a signal that varies within steps?
static bool varies(const snw_model *m, snw_law law) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_kind kind = m->signal[i].kind;
        if (kind != SNW_SIGNAL_PROBE && !snw_signal_grows(&m->signal[i])) continue;
        if (snw_expr_reads(law, i)) return true;
    }
    return false;
}

static void add_source(snw_event_search *e, snw_law law, int signal) {
    if (!law || !varies(e->m, law)) return;
    for (int i = 0; i < e->m->nsignal; i++) e->z[i] = 0;
    const int n = snw_expr_margins(law, (snw_at){.signal = e->z}, NULL, 0);
    const bool jumps = snw_expr_margins_jump(law);
    if (n == 0 && !jumps) return;
    e->source[e->nsource++] = (source){law, signal, e->n, n, jumps};
    e->n += n;
    e->jumps = e->jumps || jumps;
}

static void list_sources(snw_event_search *e) {
    for (int i = 0; i < e->m->nsignal; i++) {
        const snw_signal *d = &e->m->signal[i];
        const bool changes = d->kind == SNW_SIGNAL_ONCE || d->kind == SNW_SIGNAL_CONDITION;
        if (changes) add_source(e, d->source, i);
    }
    add_source(e, e->until, -1);
}

static bool create_instant(const snw_model *m, bool state, instant *p) {
    p->t = NAN;
    p->signal = snw_alloc((size_t)(m->nsignal + 1) * sizeof(double));
    return p->signal && (!state || snw_state_create(m, &p->state) == SNW_OK);
}

static void destroy_instant(instant *p) {
    snw_free(p->signal);
    snw_state_destroy(p->state);
}

static void event_search_place(void *object, snw_fields *f) {
    snw_event_search *o = object;
    const snw_model *m = o->m;
    const size_t n = (size_t)o->n, nv = (size_t)m->nv, ns = (size_t)m->nsignal;
    const size_t nseg = (size_t)(m->nseg + m->nobs);
    EVENT_SEARCH_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static bool create_arrays(snw_event_search *e) {
    const snw_model *m = e->m;
    e->block = snw_fields_create(event_search_place, e);
    return e->block && create_instant(m, false, &e->old) && create_instant(m, true, &e->from) &&
           create_instant(m, true, &e->to) && create_instant(m, true, &e->mark_from) &&
           create_instant(m, true, &e->mark_to) && snw_state_create(m, &e->within) == SNW_OK &&
           snw_inputs_create(m, &e->in) == SNW_OK && snw_work_create(m, &e->w) == SNW_OK;
}

snw_status snw_event_search_create(const snw_model *m, snw_law until,
                                   const snw_manual_inputs *manual, double *before,
                                   snw_event_search **out) {
    *out = NULL;
    snw_event_search *e = snw_alloc(sizeof *e);
    if (!e) return SNW_E_MEMORY;
    *e = (snw_event_search){.m = m, .until = until, .before = before};
    e->source = snw_alloc((size_t)(m->nsignal + 1) * sizeof *e->source);
    e->z = snw_alloc((size_t)(m->nsignal + 1) * sizeof(double));
    bool made = e->source && e->z;
    if (made) list_sources(e);
    const bool needed = made && e->nsource > 0;
    made = made && (!needed || create_arrays(e));
    if (made && needed) {
        e->in->manual = manual;
        *out = e;
        return SNW_OK;
    }
    snw_event_search_destroy(e);
    return made ? SNW_OK : SNW_E_MEMORY;
}

void snw_event_search_use(snw_event_search *e, const snw_model *m) { e->m = m; }

void snw_event_search_destroy(snw_event_search *e) {
    if (!e) return;
    instant *const all[] = {&e->old, &e->from, &e->to, &e->mark_from, &e->mark_to};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) destroy_instant(all[i]);
    snw_state_destroy(e->within);
    snw_inputs_destroy(e->in);
    snw_work_destroy(e->w);
    snw_free(e->block);
    snw_free(e->source);
    snw_free(e->z);
    snw_free(e);
}

bool snw_event_search_jumps(const snw_event_search *e, const char **text) {
    for (int i = 0; i < e->nsource; i++) {
        if (!e->source[i].jumps) continue;
        *text = e->source[i].signal < 0 ? NULL : e->m->signal[e->source[i].signal].text;
        return true;
    }
    return false;
}

// ---- instants ----------------------------------------------------------------------------------

static void copy_signals(const snw_event_search *e, double t, const double *signal, instant *to) {
    to->t = t;
    memcpy(to->signal, signal, (size_t)e->m->nsignal * sizeof *signal);
}

static void copy_instant(const snw_event_search *e, const instant *from, instant *to) {
    copy_signals(e, from->t, from->signal, to);
    to->energy = from->energy;
    if (to->state) snw_state_copy(e->m, from->state, to->state);
}

static void set_instant(const snw_event_search *e, snw_event_instant at, instant *to) {
    copy_signals(e, at.state->t, at.signal, to);
    to->energy = *at.energy;
    snw_state_copy(e->m, at.state, to->state);
}

static void swap_instants(instant *a, instant *b) {
    const instant c = *a;
    *a = *b, *b = c;
}

void snw_event_search_begin(snw_event_search *e, snw_event_instant at) {
    const size_t ns = (size_t)e->m->nsignal;
    set_instant(e, at, &e->to);
    copy_signals(e, e->before[ns], e->before, &e->from);
    e->sampled = false;
}

void snw_event_search_mark(snw_event_search *e) {
    copy_instant(e, &e->from, &e->mark_from);
    copy_instant(e, &e->to, &e->mark_to);
}

void snw_event_search_return(snw_event_search *e) {
    copy_instant(e, &e->mark_from, &e->from);
    copy_instant(e, &e->mark_to, &e->to);
    e->sampled = false;
}

double snw_event_search_from(const snw_event_search *e) { return e->from.t; }

// ---- margins -----------------------------------------------------------------------------------

// A latch that is set does not change any more.
static bool is_latched(const snw_event_search *e, const source *c) {
    return c->signal >= 0 && e->m->signal[c->signal].kind == SNW_SIGNAL_ONCE &&
           e->from.state->z[c->signal] != 0;
}

static void margins_at(const snw_event_search *e, double t, const double *signal, double *margin) {
    for (int i = 0; i < e->nsource; i++) {
        const source *c = &e->source[i];
        (void)snw_expr_margins(c->law, (snw_at){.t = t, .signal = signal}, margin + c->first, c->n);
    }
}

// Does a condition differ from its memory, or the step end, with these signals in e->w->signal?
static bool differs_at(const snw_event_search *e, double t) {
    e->within->t = t;
    const bool ends =
        e->until && snw_expr_value(e->until, (snw_at){.t = t, .signal = e->w->signal}) != 0;
    return ends || snw_memory_switch(e->m, e->within, e->w, e->z);
}

// ---- first look: ends of steps -----------------------------------------------------------------

static double fraction_time(const snw_event_search *e, double s) {
    return e->from.t + s * (e->to.t - e->from.t);
}

// Does a condition differ within the step if the signals are linear in time?
static bool differs_linearly(snw_event_search *e) {
    snw_state_copy(e->m, e->from.state, e->within);
    for (int k = 1; k < DENSE; k++) {
        const double s = (double)k / DENSE;
        for (int i = 0; i < e->m->nsignal; i++) {
            const double a = e->from.signal[i], b = e->to.signal[i];
            e->w->signal[i] = a == b ? a : a + s * (b - a);
        }
        if (differs_at(e, fraction_time(e, s))) return true;
    }
    return false;
}

// Could margin j, with the same sign at both ends of the step, reach zero within it?
static bool in_reach(const snw_event_search *e, int j) {
    const double a = e->margin_from[j], b = e->margin_to[j], h = e->to.t - e->from.t;
    if (isnan(a) || isnan(b) || (a == 0 && b == 0)) return false;
    if (isnan(e->old.t)) return true;
    const double before = e->from.t - e->old.t;
    const double curvature = ((b - a) / h - (a - e->margin_old[j]) / before) /
                             (h + before); // half the second derivative
    return !(fmin(fabs(a), fabs(b)) > REACH * fabs(curvature) * h * h);
}

static bool needs_search(snw_event_search *e) {
    int nchanged = 0;
    bool needed = false;
    margins_at(e, e->from.t, e->from.signal, e->margin_from);
    margins_at(e, e->to.t, e->to.signal, e->margin_to);
    if (!isnan(e->old.t)) margins_at(e, e->old.t, e->old.signal, e->margin_old);
    for (int i = 0; i < e->nsource; i++) {
        const source *c = &e->source[i];
        if (is_latched(e, c)) continue;
        for (int j = c->first; j < c->first + c->n; j++) {
            const bool changed = e->margin_from[j] * e->margin_to[j] < 0;
            nchanged += changed;
            needed = needed || (!changed && in_reach(e, j));
        }
    }
    // two comparisons that change may hold together for a while; functions that jump have no margin
    // that announces it
    return needed || nchanged > 1 || (e->jumps && differs_linearly(e));
}

// ---- signals along the path --------------------------------------------------------------------

// increment <- coordinates of the end in the chart of the start
static void find_increment(snw_event_search *e) {
    const double *a = e->from.state->q, *b = e->to.state->q;
    for (int k = 0; k < e->m->nblock; k++) {
        const snw_block *c = &e->m->block[k];
        double *d = e->increment + c->dof;
        snw_twist x = {0};
        switch (c->space) {
        case SNW_SPACE_RN:
            for (int i = 0; i < c->n; i++) d[i] = b[c->q + i] - a[c->q + i];
            continue;
        case SNW_SPACE_SO3:
            x.w = snw_so3_log(snw_mat3_mul(snw_mat3_transpose(snw_so3_from_numbers(a + c->q)),
                                           snw_so3_from_numbers(b + c->q)));
            break;
        case SNW_SPACE_SE3:
            x = snw_se3_log(snw_se3_mul(snw_se3_inv(snw_se3_from_numbers(a + c->q)),
                                        snw_se3_from_numbers(b + c->q)));
            break;
        }
        for (int i = 0; i < c->n; i++) d[i] = x.e[i];
    }
}

// Integrals at the fraction s: cubic with their integrands at both ends.
static void integrals_at(const snw_event_search *e, double s, double *z) {
    const double h = e->to.t - e->from.t, r = 1 - s;
    for (int i = 0; i < e->m->nsignal; i++) {
        const snw_signal *d = &e->m->signal[i];
        if (!snw_signal_grows(d)) continue;
        const double za = e->from.state->z[i], zb = e->to.state->z[i];
        const double a = snw_expr_value(d->source, (snw_at){e->from.t, 0, 0, e->from.signal});
        const double b = snw_expr_value(d->source, (snw_at){e->to.t, 0, 0, e->to.signal});
        z[i] = za + s * s * (3 - 2 * s) * (zb - za) + h * s * r * (r * a - s * b);
    }
}

static snw_energy energy_within(const snw_event_search *e, double s) {
    snw_energy x = {0};
#define X(name) x.name = e->from.energy.name + s * (e->to.energy.name - e->from.energy.name);
    SNW_ENERGY_LIST(X)
#undef X
    x.kinetic = snw_kinetic_energy(e->m, e->w);
    x.elastic = snw_stored_energy(e->m, e->within, e->w);
    x.gravity = snw_gravity_energy(e->m, e->in, e->w);
    return x;
}

// Signals at the fraction s of the path: the cubic through configurations and velocities of both
// ends, with accelerations of the quintic that also has those of both ends.
static void path_signals(snw_event_search *e, const snw_step_path *path, double s, double *signal) {
    const snw_model *m = e->m;
    const double r = 1 - s;
    const double b0 = r * (1 - 8 * s + 10 * s * s), b1 = s * (1 - 8 * r + 10 * r * r);
    snw_state *x = e->within;
    snw_step_path_at(m, path, s, e->scratch, x);
    for (int i = 0; i < m->nv; i++) x->a[i] += b0 * e->error0[i] + b1 * e->error1[i];
    for (int i = 0; i < m->nconstraint; i++) {
        const double a = e->from.state->lambda[i];
        x->lambda[i] = a + s * (e->to.state->lambda[i] - a);
    }
    integrals_at(e, s, x->z);
    x->t = fraction_time(e, s);
    snw_inputs_at(m, x->t, e->in);
    snw_residual(m, e->in, x, false, e->w);
    snw_observe(m, e->in, x, false, e->w);
    const snw_energy energy = energy_within(e, s);
    snw_memory_read(m, e->in, x, &energy, e->rotation, e->w);
    memcpy(signal, e->w->signal, (size_t)m->nsignal * sizeof *signal);
}

static void sample_path(snw_event_search *e) {
    const snw_model *m = e->m;
    const size_t ns = (size_t)m->nsignal;
    const snw_state *a = e->from.state, *b = e->to.state;
    find_increment(e);
    const snw_step_path path = {.chart = SNW_CHART_SE3,
                                .h = b->t - a->t,
                                .q0 = a->q,
                                .d = e->increment,
                                .rate0 = a->v,
                                .rate1 = b->v};
    snw_state_copy(m, a, e->within);
    snw_step_path_at(m, &path, 0, e->scratch, e->within);
    for (int i = 0; i < m->nv; i++) e->error0[i] = a->a[i] - e->within->a[i];
    snw_step_path_at(m, &path, 1, e->scratch, e->within);
    for (int i = 0; i < m->nv; i++) e->error1[i] = b->a[i] - e->within->a[i];
    memcpy(e->point, e->from.signal, ns * sizeof(double));
    for (size_t k = 1; k < POINTS - 1; k++) {
        path_signals(e, &path, (double)k / (POINTS - 1), e->point + k * ns);
    }
    memcpy(e->point + (POINTS - 1) * ns, e->to.signal, ns * sizeof(double));
}

// weight <- of the polynomial through values at n fractions `at`, at s
static void lagrange(int n, const double *at, double s, double *weight) {
    for (int i = 0; i < n; i++) {
        weight[i] = 1;
        for (int k = 0; k < n; k++) {
            if (k != i) weight[i] *= (s - at[k]) / (at[i] - at[k]);
        }
    }
}

// e->w->signal <- interpolated signals at the fraction s
static void interpolate(const snw_event_search *e, double s) {
    static const double even[POINTS] = {0, 0.25, 0.5, 0.75, 1};
    const int ns = e->m->nsignal;
    double path[POINTS], tried[TRIALS + 2];
    lagrange(POINTS, even, s, path);
    lagrange(e->ntrial + 2, e->trial, s, tried);
    for (int i = 0; i < ns; i++) {
        const snw_signal_kind kind = e->m->signal[i].kind;
        double sum = 0;
        for (int k = 0; k < POINTS; k++) sum += path[k] * e->point[k * ns + i];
        for (int k = 2; k < e->ntrial + 2; k++) sum += tried[k] * e->correction[k * ns + i];
        const bool moves = kind == SNW_SIGNAL_PROBE || snw_signal_grows(&e->m->signal[i]);
        e->w->signal[i] = moves ? sum : e->from.signal[i];
    }
}

// e->margin <- interpolated margins at the fraction s
static const double *margins_within(const snw_event_search *e, double s) {
    interpolate(e, s);
    margins_at(e, fraction_time(e, s), e->w->signal, e->margin);
    return e->margin;
}

static bool differs_within(const snw_event_search *e, double s) {
    interpolate(e, s);
    return differs_at(e, fraction_time(e, s));
}

// Fraction between a and b, of different signs of margin j, at which it is zero.
static double margin_zero(const snw_event_search *e, int j, double a, double b) {
    const bool positive = margins_within(e, a)[j] > 0;
    for (int i = 0; i < BISECTIONS; i++) {
        const double s = 0.5 * (a + b);
        if ((margins_within(e, s)[j] > 0) == positive) {
            a = s;
        } else {
            b = s;
        }
    }
    return 0.5 * (a + b);
}

// zero <- fractions at which margins change their sign, in rising order; returns their number.
static int margin_zeros(const snw_event_search *e, double zero[ZEROS]) {
    int n = 0;
    for (int k = 0; k < DENSE; k++) {
        for (int j = 0; j < e->n && n < ZEROS; j++) {
            const double a = e->dense[k * e->n + j], b = e->dense[(k + 1) * e->n + j];
            if (!(a * b < 0)) continue;
            const double s = margin_zero(e, j, (double)k / DENSE, (k + 1.0) / DENSE);
            int i = n++;
            for (; i > 0 && zero[i - 1] > s; i--) zero[i] = zero[i - 1];
            zero[i] = s;
        }
    }
    return n;
}

// Fraction at which an interpolated condition differs from its memory; 0: none is found. Between
// two zeros of margins all comparisons keep their values. Before any instant was tried, the order
// of two zeros that lie close together is not known.
static double find_window(const snw_event_search *e) {
    double zero[ZEROS], close = 0;
    const int n = margin_zeros(e, zero);
    for (int i = 0; i + 1 < n; i++) {
        const double s = 0.5 * (zero[i] + zero[i + 1]);
        if (differs_within(e, s)) return s;
        if (zero[i + 1] - zero[i] < CLOSE) close = s;
    }
    for (int k = 1; e->jumps && k < DENSE; k++) {
        if (differs_within(e, (double)k / DENSE)) return (double)k / DENSE;
    }
    return e->ntrial == 0 ? close : 0;
}

// dense <- margins; window <- where an interpolated condition differs
static void sample_margins(snw_event_search *e) {
    for (int k = 0; k <= DENSE; k++) {
        memcpy(e->dense + (size_t)k * (size_t)e->n, margins_within(e, (double)k / DENSE),
               (size_t)e->n * sizeof(double));
    }
    e->window = find_window(e);
}

// ---- extrema of margins ------------------------------------------------------------------------

// Minimum of sign * margin j between fractions a and b, by golden section. *s <- where.
static double golden_minimum(const snw_event_search *e, int j, double sign, double a, double b,
                             double *s) {
    const double ratio = 0.61803398874989484820;
    double c = b - ratio * (b - a), d = a + ratio * (b - a);
    double at_c = sign * margins_within(e, c)[j], at_d = sign * margins_within(e, d)[j];
    for (int i = 0; i < GOLDEN; i++) {
        if (at_c <= at_d) {
            b = d, d = c, at_d = at_c;
            c = b - ratio * (b - a), at_c = sign * margins_within(e, c)[j];
        } else {
            a = c, c = d, at_c = at_d;
            d = a + ratio * (b - a), at_d = sign * margins_within(e, d)[j];
        }
    }
    *s = at_c <= at_d ? c : d;
    return fmin(at_c, at_d);
}

// Largest deviation of margin j from its chord.
static double deviation(const snw_event_search *e, int j) {
    double most = 0;
    for (int k = 1; k < DENSE; k++) {
        const double s = (double)k / DENSE;
        const double chord = e->margin_from[j] + s * (e->margin_to[j] - e->margin_from[j]);
        most = fmax(most, fabs(e->dense[k * e->n + j] - chord));
    }
    return most;
}

// Is the fraction s not an end of the step nor an instant tried before?
static bool is_untried(const snw_event_search *e, double s) {
    for (int k = 0; k < e->ntrial + 2; k++) {
        if (!(fabs(s - e->trial[k]) > SAME)) return false;
    }
    return s > 0 && s < 1;
}

// Next fraction to try for an extremum of margin j that is expected at s. An error d of a value
// near an extremum of curvature c comes from an error sqrt(2 d/c) of its place; another instant
// closer than that to one tried before would tell nothing.
static double beside_trial(const snw_event_search *e, int j, double sign, double least, double s) {
    const double a = fmin(s, 1 - s), width = fmin(a, 1.0 / DENSE);
    const double left = sign * margins_within(e, s - width)[j];
    const double right = sign * margins_within(e, s + width)[j];
    const double curvature = (left + right - 2 * least) / (width * width);
    const double place = fmin(sqrt(2 * e->error[j] / fmax(curvature, 1e-300)), 0.5 * a);
    for (int k = 2; k < e->ntrial + 2; k++) {
        if (fabs(s - e->trial[k]) > 0.25 * place) continue;
        const double on = e->trial[k] + place;
        return is_untried(e, on) ? on : e->trial[k] - place;
    }
    return s;
}

// Does margin j have an extremum within the step that may be beyond zero? *s <- where, a fraction.
static bool may_cross(const snw_event_search *e, int j, double *s) {
    const double a = e->margin_from[j], b = e->margin_to[j];
    if (!(a * b >= 0) || (a == 0 && b == 0)) return false;
    const double sign = a + b > 0 ? 1 : -1;
    int best = 0;
    for (int k = 1; k <= DENSE; k++) {
        if (sign * e->dense[k * e->n + j] < sign * e->dense[best * e->n + j]) best = k;
    }
    if (best == 0 || best == DENSE) {
        // an extremum beside an end lies within the outermost interval
        const double low = best == 0 ? 0 : 1 - 1.0 / DENSE;
        const double least = golden_minimum(e, j, sign, low, low + 1.0 / DENSE, s);
        if (!(least < fmin(sign * a, sign * b)) || !(*s > SAME && *s < 1 - SAME)) return false;
        best = -1;
    }
    const double least =
        best < 0 ? sign * margins_within(e, *s)[j]
                 : golden_minimum(e, j, sign, (best - 1.0) / DENSE, (best + 1.0) / DENSE, s);
    const bool tried = e->error[j] >= 0;
    if (!(least <= (tried ? e->error[j] : SHARE * deviation(e, j)))) return false;
    if (tried) *s = beside_trial(e, j, sign, least, *s);
    return is_untried(e, *s);
}

// Source to which margin j belongs.
static const source *source_of(const snw_event_search *e, int j) {
    int i = 0;
    while (j >= e->source[i].first + e->source[i].n) i++;
    return &e->source[i];
}

// ---- interface ---------------------------------------------------------------------------------

bool snw_event_search_step(snw_event_search *e, snw_event_instant to, bool look) {
    const size_t ns = (size_t)e->m->nsignal;
    swap_instants(&e->from, &e->to);
    copy_signals(e, e->to.t, e->to.signal, &e->old); // the start of the step before
    set_instant(e, to, &e->to);
    memcpy(e->before, e->from.signal, ns * sizeof(double));
    e->before[ns] = e->from.t;
    e->sampled = false;
    if (!look || !(e->to.t > e->from.t) || !needs_search(e)) return false;
    sample_path(e);
    e->ntrial = 0;
    e->trial[0] = 0, e->trial[1] = 1;
    for (int j = 0; j < e->n; j++) e->error[j] = -1;
    sample_margins(e);
    e->current = 0;
    e->sampled = true;
    double t;
    return snw_event_search_next(e, &t);
}

bool snw_event_search_next(snw_event_search *e, double *t) {
    double s = 0;
    if (!e->sampled || e->ntrial == TRIALS) return false;
    for (; e->current < e->n; e->current++) {
        if (is_latched(e, source_of(e, e->current)) || !may_cross(e, e->current, &s)) continue;
        *t = fraction_time(e, s);
        return true;
    }
    *t = fraction_time(e, e->window);
    return is_untried(e, e->window);
}

void snw_event_search_reject(snw_event_search *e, const double *signal) {
    const int ns = e->m->nsignal;
    double t;
    if (!snw_event_search_next(e, &t)) return;
    const double s = (t - e->from.t) / (e->to.t - e->from.t);
    if (!signal) {
        e->sampled = false; // no motion there: nothing more can be said
        return;
    }
    const int trial = e->ntrial + 2;
    (void)margins_within(e, s);
    for (int i = 0; i < ns; i++) e->correction[trial * ns + i] = signal[i] - e->w->signal[i];
    if (e->current < e->n) {
        const double expected = e->margin[e->current];
        margins_at(e, t, signal, e->margin);
        e->error[e->current] = fabs(e->margin[e->current] - expected);
    }
    // corrections are added to the path, so that those of earlier instants count too
    double weight[TRIALS + 2];
    lagrange(trial, e->trial, s, weight);
    for (int i = 0; i < ns; i++) {
        for (int k = 2; k < trial; k++) {
            e->correction[trial * ns + i] += weight[k] * e->correction[k * ns + i];
        }
    }
    e->trial[trial] = s;
    e->ntrial++;
    sample_margins(e);
}
