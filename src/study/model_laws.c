// SPDX-License-Identifier: MIT
//
// Derivatives of mu'r - nu'e by the numbers in laws, theory.md (7.5.14): the derivative by the
// value of a law, times those of the value by its numbers (math/expr_constants.c).
#include "study/model_laws.h"

#include "base/alloc.h"
#include "dynamics/fluid.h"
#include "dynamics/tendon_friction.h"
#include "math/expr_op.h"
#include "solve/dense.h"
#include "study/model_geometry.h"

#include <math.h>
#include <string.h>

// A law with its first number.
typedef struct law_slot {
    snw_law_kind kind;
    int of, component;
    size_t first;
} law_slot;

struct snw_model_laws {
    const snw_model *m;
    int n;
    law_slot *slot;
    size_t size;
    double *scratch;
    double *z;                 // nsignal
    int *load_point, *of_load; // load points by load; nload + 1: first of each load
};

// ---- list ---------------------------------------------------------------------------------------

static bool is_fixed(snw_law law) {
    return !law || (snw_expr_vars(law) & (SNW_VAR_T | SNW_VAR_SIGNAL)) == 0;
}

bool snw_load_is_constant(const snw_load *load) {
    for (int k = 0; k < 3; k++) {
        if (!is_fixed(load->force[k]) || !is_fixed(load->torque[k])) return false;
    }
    return !load->when;
}

static bool pose_is_gathered(const snw_pose_desc *pose) {
    if (snw_pose_is_constant(pose) || pose->captured > 0) return false;
    for (int k = 0; k < 3; k++) {
        if (pose->xyz[k] && !snw_expr_has_jet_slopes(pose->xyz[k])) return false;
    }
    for (int k = 0; k < pose->nturn; k++) {
        if (!snw_expr_has_jet_slopes(pose->turn[k].angle)) return false;
    }
    return true;
}

// Are given strains of a rod seen by the motion of its sections alone? Not on Chebyshev grids, by
// tendons, by fluids past sections that stretch, nor where strains or wrenches are results.
static bool strains_are_gathered(const snw_model *m, int rod) {
    if (m->rod[rod].grid) return false;
    for (int i = 0; i < 6; i++) {
        if (m->rod[rod].given[i] && !snw_expr_has_jet_slopes(m->rod[rod].given[i])) return false;
    }
    for (int i = 0; i < m->ntendon_point; i++) {
        if (m->tendon_point[i].rod == rod) return false;
    }
    for (int i = 0; i < m->nfluid_point; i++) {
        if (m->fluid_point[i].phi >= 0 && m->fluid_point[i].rod == rod) return false;
    }
    for (int i = 0; i < m->desc->nprobe; i++) {
        const snw_probe_kind kind = m->desc->probe[i].kind;
        if ((kind == SNW_PROBE_STRAIN || kind == SNW_PROBE_WRENCH) &&
            m->station[m->probe_station[i]].rod == rod)
            return false;
    }
    return true;
}

bool snw_drive_is_fixed(const snw_model *m, int drive) { return is_fixed(m->drive[drive].law); }

bool snw_law_is_gathered(const snw_model *m, snw_law_kind kind, int of) {
    switch (kind) {
    case SNW_LAW_GRAVITY:
    case SNW_LAW_STRESS:
    case SNW_LAW_MOTOR:
        return true;
    case SNW_LAW_FORCE:
    case SNW_LAW_TORQUE:
        return !snw_load_is_constant(&m->load[of]);
    case SNW_LAW_TENDON:
    case SNW_LAW_AMBIENT:
    case SNW_LAW_TEMPERATURE: {
        const snw_tendon *t = &m->tendon[of];
        if (t->given == SNW_GIVEN_RATE || t->given == SNW_GIVEN_ACTIVATION ||
            (t->has_friction && t->given != SNW_GIVEN_EFFORT))
            return false;
        return t->given != SNW_GIVEN_MOTION || is_fixed(t->law);
    }
    case SNW_LAW_DRIVE: {
        const snw_drive *d = &m->drive[of];
        return d->row >= 0 && !d->passive && !d->rate_integral &&
               (is_fixed(d->law) || snw_expr_has_jet_slopes(d->law));
    }
    case SNW_LAW_SOURCE: {
        const snw_signal_kind is = m->signal[of].kind;
        return (is == SNW_SIGNAL_INTEGRAL || is == SNW_SIGNAL_SAMPLED || is == SNW_SIGNAL_STATE) &&
               m->signal[of].source;
    }
    case SNW_LAW_STRAIN:
        return snw_geometry_is_gathered(m) && strains_are_gathered(m, of);
    case SNW_LAW_POSE:
        return snw_geometry_is_gathered(m) && pose_is_gathered(&m->pose[of]);
    case SNW_LAW_KINDS:
        break;
    }
    return false;
}

bool snw_model_laws_read_signals(const snw_model *m) {
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (t->sliding || (t->law && snw_expr_vars(t->law) & SNW_VAR_SIGNAL &&
                           !snw_law_is_gathered(m, SNW_LAW_TENDON, i)))
            return false;
    }
    return true;
}

static int count_of(const snw_model *m, snw_law_kind kind) {
    const int n[SNW_LAW_KINDS] = {
        [SNW_LAW_GRAVITY] = 1,          [SNW_LAW_FORCE] = m->nload,
        [SNW_LAW_TORQUE] = m->nload,    [SNW_LAW_STRESS] = m->nstress,
        [SNW_LAW_MOTOR] = m->nmotor,    [SNW_LAW_TENDON] = m->ntendon,
        [SNW_LAW_AMBIENT] = m->ntendon, [SNW_LAW_TEMPERATURE] = m->ntendon,
        [SNW_LAW_DRIVE] = m->ndrive,    [SNW_LAW_SOURCE] = m->nsignal,
        [SNW_LAW_STRAIN] = m->nrod,     [SNW_LAW_POSE] = m->npose};
    return n[kind];
}

static int components_of(const snw_model *m, snw_law_kind kind, int of) {
    switch (kind) {
    case SNW_LAW_GRAVITY:
    case SNW_LAW_FORCE:
    case SNW_LAW_TORQUE:
        return 3;
    case SNW_LAW_STRESS:
    case SNW_LAW_STRAIN:
        return 6;
    case SNW_LAW_MOTOR:
        return m->motor[of].law ? m->motor[of].n : 0;
    case SNW_LAW_POSE:
        return 3 + m->pose[of].nturn;
    case SNW_LAW_TENDON:
    case SNW_LAW_AMBIENT:
    case SNW_LAW_TEMPERATURE:
    case SNW_LAW_DRIVE:
    case SNW_LAW_SOURCE:
    case SNW_LAW_KINDS:
        break;
    }
    return 1;
}

static snw_law law_of(const snw_model *m, const law_slot *s) {
    switch (s->kind) {
    case SNW_LAW_GRAVITY:
        return m->gravity[s->component];
    case SNW_LAW_FORCE:
        return m->load[s->of].force[s->component];
    case SNW_LAW_TORQUE:
        return m->load[s->of].torque[s->component];
    case SNW_LAW_STRESS:
        return m->stress[s->of].stress[s->component];
    case SNW_LAW_MOTOR:
        return m->motor[s->of].law[s->component];
    case SNW_LAW_TENDON:
        return m->tendon[s->of].law;
    case SNW_LAW_AMBIENT:
        return m->tendon[s->of].ambient;
    case SNW_LAW_TEMPERATURE:
        return m->tendon[s->of].temperature;
    case SNW_LAW_DRIVE:
        return m->drive[s->of].law;
    case SNW_LAW_SOURCE:
        return m->signal[s->of].source;
    case SNW_LAW_STRAIN:
        return m->rod[s->of].given[s->component];
    case SNW_LAW_POSE:
        return s->component < 3 ? m->pose[s->of].xyz[s->component]
                                : m->pose[s->of].turn[s->component - 3].angle;
    case SNW_LAW_KINDS:
        break;
    }
    return NULL;
}

// The laws with numbers, into a->slot unless it is NULL.
static void list_laws(snw_model_laws *a, size_t *scratch) {
    a->n = 0;
    a->size = *scratch = 0;
    for (int kind = 0; kind < SNW_LAW_KINDS; kind++) {
        for (int of = 0; of < count_of(a->m, (snw_law_kind)kind); of++) {
            if (!snw_law_is_gathered(a->m, (snw_law_kind)kind, of)) continue;
            for (int k = 0; k < components_of(a->m, (snw_law_kind)kind, of); k++) {
                const law_slot s = {(snw_law_kind)kind, of, k, a->size};
                const snw_law law = law_of(a->m, &s);
                if (!law) continue;
                if (a->slot) a->slot[a->n] = s;
                a->n++;
                a->size += (size_t)snw_expr_constants(law);
                const size_t need = snw_expr_slope_scratch(law);
                if (need > *scratch) *scratch = need;
            }
        }
    }
}

static snw_status sort_load_points(snw_model_laws *a) {
    const snw_model *m = a->m;
    a->load_point = snw_alloc(((size_t)m->nload_point + 1) * sizeof *a->load_point);
    a->of_load = snw_alloc(((size_t)m->nload + 2) * sizeof *a->of_load);
    if (!a->load_point || !a->of_load) return SNW_E_MEMORY;
    int *next = a->of_load + 1; // place of the next point of each load, its end at last
    memset(a->of_load, 0, ((size_t)m->nload + 2) * sizeof *a->of_load);
    for (int i = 0; i < m->nload_point; i++) next[m->load_point[i].load + 1]++;
    for (int i = 0; i < m->nload; i++) next[i + 1] += next[i];
    for (int i = 0; i < m->nload_point; i++) a->load_point[next[m->load_point[i].load]++] = i;
    return SNW_OK;
}

snw_status snw_model_laws_create(const snw_model *m, snw_model_laws **out) {
    snw_model_laws *a = snw_alloc(sizeof *a);
    *out = a;
    if (!a) return SNW_E_MEMORY;
    size_t scratch;
    *a = (snw_model_laws){.m = m};
    list_laws(a, &scratch);
    a->slot = snw_alloc(((size_t)a->n + 1) * sizeof *a->slot);
    a->scratch = snw_alloc((scratch + 1) * sizeof *a->scratch);
    a->z = snw_alloc(((size_t)m->nsignal + 1) * sizeof *a->z);
    if (!a->slot || !a->scratch || !a->z) return SNW_E_MEMORY;
    list_laws(a, &scratch);
    return sort_load_points(a);
}

void snw_model_laws_destroy(snw_model_laws *a) {
    if (!a) return;
    snw_free(a->slot);
    snw_free(a->scratch);
    snw_free(a->z);
    snw_free(a->load_point);
    snw_free(a->of_load);
    snw_free(a);
}

size_t snw_model_laws_size(const snw_model_laws *a) { return a->size; }

void snw_model_laws_read(const snw_model_laws *a, const snw_model *m, double *out) {
    for (int i = 0; i < a->n; i++)
        snw_expr_read_constants(law_of(m, &a->slot[i]), out + a->slot[i].first);
}

// ---- products -----------------------------------------------------------------------------------

// Force on gravity: gravity is an upward acceleration of the world, A_0, theory.md (3.2).
static snw_vec3 by_gravity(const snw_model *m, const snw_product *x) {
    snw_vec3 sum = {{0}};
    for (int i = 0; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, x->w, i)) continue;
        const snw_wrench P = snw_inertia_apply(&m->seg[i].M, x->at_mu->V[i]);
        sum = snw_sub(sum, snw_rotate(x->w->g[i].R, P.f));
    }
    for (int k = 0; k < m->nfluid_point; k++) { // buoyancy
        const snw_fluid_point *p = &m->fluid_point[k];
        if (!(p->displaced > 0) || !snw_fluid_point_is_active(x->w, p)) continue;
        const snw_twist eta = x->at_mu->V[p->seg];
        const snw_vec3 v = snw_add(eta.v, snw_cross(eta.w, p->centre));
        sum = snw_add(sum, snw_scale(p->displaced, snw_rotate(x->w->g[p->seg].R, v)));
    }
    return sum;
}

double snw_product_path_rate(const snw_model *m, int i, const snw_product *x) {
    const snw_tendon *t = &m->tendon[i];
    const double *G = x->w->G + t->store;
    double sum = 0;
    for (int j = 0; j < t->ndof; j++) sum += G[j] * x->mu[t->dof[j]];
    for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
        const double part =
            snw_tendon_friction_acts(m, i, x->w) ? x->w->tendon_point[k].tension_fraction : 1;
        if (m->tendon_point[k].segment >= 0)
            sum += part * t->sign * m->tendon_point[k].w * x->at_mu->tendon_point[k].df;
    }
    return sum;
}

// Derivative of the effort of a tendon or chamber by the value of its law.
static double effort_by_law(const snw_model *m, int i, snw_law_kind kind, snw_at at,
                            const snw_work *w) {
    const snw_tendon *t = &m->tendon[i];
    const snw_tendon_work *now = &w->tendon[i];
    if (t->row >= 0 || (t->when && snw_expr_value(t->when, at) == 0)) return 0;
    switch (t->given) {
    case SNW_GIVEN_EFFORT:
        return t->type->only_pulls && now->effort <= 0 ? 0 : 1;
    case SNW_GIVEN_SOURCE:
        return now->gain;
    case SNW_GIVEN_MOTION:
        return t->area           ? now->gain
               : now->effort > 0 ? now->effort / now->paid_out + 1 / (now->paid_out * t->compliance)
                                 : 0;
    case SNW_GIVEN_GAS: {
        const double T = snw_expr_value(t->temperature, at);
        const double by = kind == SNW_LAW_AMBIENT ? -1
                          : kind == SNW_LAW_TENDON
                              ? SNW_GAS_CONSTANT * T / now->value
                              : SNW_GAS_CONSTANT * snw_expr_jet_t(t->law, at).v / now->value;
        return t->area && t->area->by_pressure ? by * now->gain * now->value : by;
    }
    case SNW_GIVEN_RATE:
    case SNW_GIVEN_ACTIVATION:
        break;
    }
    return 0;
}

// Derivative of the product by the value of the law of a tendon or chamber.
static double by_tendon(const snw_model *m, int i, snw_law_kind kind, snw_at at,
                        const snw_product *x) {
    const snw_tendon *t = &m->tendon[i];
    if (t->row >= 0) return x->nu && kind == SNW_LAW_TENDON ? x->nu[t->row] * t->unit : 0;
    const double by = effort_by_law(m, i, kind, at, x->w);
    return by != 0 ? -by * snw_product_path_rate(m, i, x) : 0;
}

void snw_model_laws_add_effort(snw_model_laws *a, int tendon, double c, const snw_inputs *in,
                               const snw_work *w, double *bar) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < a->n; i++) {
        const law_slot *s = &a->slot[i];
        if (s->of != tendon || (s->kind != SNW_LAW_TENDON && s->kind != SNW_LAW_AMBIENT &&
                                s->kind != SNW_LAW_TEMPERATURE))
            continue;
        if (s->kind == SNW_LAW_TENDON && snw_tendon_is_manual(in, tendon)) continue;
        const double by = c * effort_by_law(a->m, tendon, s->kind, at, w);
        if (by != 0) snw_expr_add_slopes(law_of(a->m, s), at, by, a->scratch, bar + s->first);
    }
}

void snw_model_laws_add_gravity(snw_model_laws *a, snw_vec3 c, const snw_inputs *in, double *bar) {
    for (int i = 0; i < a->n; i++) {
        const law_slot *s = &a->slot[i];
        if (s->kind == SNW_LAW_GRAVITY && c.e[s->component] != 0)
            snw_expr_add_slopes(law_of(a->m, s), (snw_at){.t = in->t}, c.e[s->component],
                                a->scratch, bar + s->first);
    }
}

static void subtract_law(const snw_model_laws *a, const law_slot *s, snw_at at, double by,
                         const snw_product *x, double *bar) {
    const snw_law law = law_of(a->m, s);
    if (by == 0) return;
    snw_expr_add_slopes(law, at, -by, a->scratch, bar + s->first);
    if ((snw_expr_vars(law) & SNW_VAR_SIGNAL) == 0) return;
    for (int k = 0; k < a->m->nsignal; k++) {
        if (snw_expr_reads(law, k)) x->by_signal[k] += by * snw_expr_jet_signal(law, at, k).d;
    }
}

// States of laws, whose rates read each other: with the derivatives c of the product by the rates
// at fixed states and G the rates by the states, (1 - half G)' f = half by_signal - c.
static void subtract_states(const snw_model_laws *a, snw_at at, const snw_product *x, double *bar) {
    const law_slot *state[SNW_STATES_MAX];
    int n = 0, pivot[SNW_STATES_MAX];
    double A[SNW_STATES_MAX * SNW_STATES_MAX], f[SNW_STATES_MAX];
    for (int i = 0; i < a->n && n < SNW_STATES_MAX; i++) {
        const law_slot *s = &a->slot[i];
        if (s->kind == SNW_LAW_SOURCE && a->m->signal[s->of].kind == SNW_SIGNAL_STATE)
            state[n++] = s;
    }
    if (n == 0 || x->is_static) return;
    for (int i = 0; i < n; i++) {
        const snw_law law = law_of(a->m, state[i]);
        f[i] =
            x->half * x->by_signal[state[i]->of] - (x->integrand ? x->integrand[state[i]->of] : 0);
        for (int j = 0; j < n; j++)
            A[j * n + i] = (i == j) - x->half * snw_expr_jet_signal(law, at, state[j]->of).d;
    }
    if (snw_lu_factor(n, A, pivot) != SNW_OK) A[0] = NAN; // so are the derivatives
    snw_lu_solve_transposed(n, A, pivot, f);
    for (int i = 0; i < n; i++) subtract_law(a, state[i], at, f[i], x, bar);
}

// Integrands: an integral is its value before the step plus half a step of the integrand, and reads
// only signals before it.
static void subtract_sources(const snw_model_laws *a, snw_at at, const snw_product *x,
                             double *bar) {
    for (int i = a->n; i-- > 0;) {
        const law_slot *s = &a->slot[i];
        if (s->kind != SNW_LAW_SOURCE || a->m->signal[s->of].kind != SNW_SIGNAL_INTEGRAL) continue;
        const double by = x->half * x->by_signal[s->of] - (x->integrand ? x->integrand[s->of] : 0);
        subtract_law(a, s, at, by, x, bar);
    }
    subtract_states(a, at, x, bar);
}

void snw_model_laws_sample(snw_model_laws *a, double t, const double *taken, const double *signal,
                           const double *z, double *bar) {
    const snw_at at = {.t = t, .signal = signal};
    const snw_model *m = a->m;
    for (int i = 0; i < m->nsignal; i++) a->z[i] = taken[i] != 0 ? z[i] : 0;
    for (int i = a->n; i-- > 0;) {
        const law_slot *s = &a->slot[i];
        if (s->kind != SNW_LAW_SOURCE || taken[s->of] == 0 || a->z[s->of] == 0) continue;
        const snw_law law = law_of(m, s);
        snw_expr_add_slopes(law, at, a->z[s->of], a->scratch, bar + s->first);
        for (int k = 0; k < s->of; k++) {
            if (taken[k] != 0) a->z[k] += a->z[s->of] * snw_expr_jet_signal(law, at, k).d;
        }
    }
}

static void subtract_load(const snw_model_laws *a, const law_slot *s, snw_at at,
                          const snw_product *x, double *bar) {
    const snw_model *m = a->m;
    const snw_load *load = &m->load[s->of];
    if (load->when && snw_expr_value(load->when, at) == 0) return;
    for (int i = a->of_load[s->of]; i < a->of_load[s->of + 1]; i++) {
        const snw_load_point *p = &m->load_point[a->load_point[i]];
        const snw_twist eta = x->at_mu->V[p->seg];
        const snw_vec3 own = s->kind == SNW_LAW_FORCE ? eta.v : eta.w;
        const snw_vec3 v = load->body ? own : snw_rotate(x->w->g[p->seg].R, own);
        at.x = p->x, at.L = p->L;
        subtract_law(a, s, at, -p->w * v.e[s->component], x, bar);
    }
}

static void subtract_stress(const snw_model_laws *a, const law_slot *s, snw_at at,
                            const snw_product *x, double *bar) {
    const snw_model *m = a->m;
    const snw_stress *d = &m->stress[s->of];
    const snw_rod *r = &m->rod[d->rod];
    if (d->when && snw_expr_value(d->when, at) == 0) return;
    for (int p = r->point0; p < r->point0 + r->npoint; p++) {
        const snw_point *pt = &m->point[p];
        const double *phi = m->phi + pt->phi;
        for (int c = 0; c < r->na; phi += pt->count[c], c++) {
            if (r->comp[c] != s->component) continue;
            double rate = 0;
            for (int j = 0; j < pt->count[c]; j++)
                rate += phi[j] * x->mu[r->dof[c] + pt->first[c] + j];
            at.x = pt->x, at.L = r->L;
            subtract_law(a, s, at, snw_activation(x->in, s->of) * pt->w * rate, x, bar);
        }
    }
}

// Does a value that is given take the place of a law?
static bool is_replaced(const snw_model *m, const law_slot *s, const snw_inputs *in) {
    const snw_manual_inputs *manual = in->manual;
    if (!manual) return false;
    switch (s->kind) {
    case SNW_LAW_FORCE:
    case SNW_LAW_TORQUE:
        return manual->load_given[s->of];
    case SNW_LAW_MOTOR:
        return manual->motor_given[s->of];
    case SNW_LAW_DRIVE:
        return manual->motor_given[m->drive[s->of].motor];
    case SNW_LAW_TENDON:
        return manual->tendon_given[s->of];
    case SNW_LAW_GRAVITY:
        return manual->gravity_given;
    case SNW_LAW_STRESS: // a factor
    case SNW_LAW_AMBIENT:
    case SNW_LAW_TEMPERATURE:
    case SNW_LAW_SOURCE:
    case SNW_LAW_STRAIN:
    case SNW_LAW_POSE:
    case SNW_LAW_KINDS:
        break;
    }
    return false;
}

void snw_model_laws_subtract(snw_model_laws *a, const snw_product *x, double *bar) {
    const snw_model *m = a->m;
    const snw_at at = {.t = x->in->t, .signal = x->w->signal};
    snw_vec3 gravity = {{0}};
    memset(x->by_signal, 0, (size_t)m->nsignal * sizeof *x->by_signal);
    for (int i = 0; i < a->n; i++) {
        const law_slot *s = &a->slot[i];
        if (is_replaced(m, s, x->in)) continue;
        switch (s->kind) {
        case SNW_LAW_GRAVITY:
            if (i == 0) gravity = by_gravity(m, x);
            subtract_law(a, s, at, gravity.e[s->component], x, bar);
            break;
        case SNW_LAW_FORCE:
        case SNW_LAW_TORQUE:
            subtract_load(a, s, at, x, bar);
            break;
        case SNW_LAW_STRESS:
            subtract_stress(a, s, at, x, bar);
            break;
        case SNW_LAW_MOTOR: {
            const snw_motor *d = &m->motor[s->of];
            if (!d->when || snw_expr_value(d->when, at) != 0)
                subtract_law(a, s, at, -x->mu[d->dof + s->component], x, bar);
            break;
        }
        case SNW_LAW_TENDON:
        case SNW_LAW_AMBIENT:
        case SNW_LAW_TEMPERATURE:
            subtract_law(a, s, at, by_tendon(m, s->of, s->kind, at, x), x, bar);
            break;
        case SNW_LAW_DRIVE: // those that move: by snw_model_laws_add_drive
            if (x->nu && is_fixed(m->drive[s->of].law))
                subtract_law(a, s, at, x->nu[m->drive[s->of].row], x, bar);
            break;
        case SNW_LAW_SOURCE:
        case SNW_LAW_STRAIN:
        case SNW_LAW_POSE:
        case SNW_LAW_KINDS:
            break;
        }
    }
    subtract_sources(a, at, x, bar);
    for (int k = 0; k < m->nlive; k++) { // efforts that laws read
        const snw_signal *s = &m->signal[m->live[k]];
        if (s->reading == SNW_READ_TENDON_EFFORT && x->by_signal[m->live[k]] != 0)
            snw_model_laws_add_effort(a, s->tendon, -x->by_signal[m->live[k]], x->in, x->w, bar);
    }
}

// ---- given motions ------------------------------------------------------------------------------

static const law_slot *find_slot(const snw_model_laws *a, snw_law_kind kind, int of,
                                 int component) {
    for (int i = 0; i < a->n; i++) {
        const law_slot *s = &a->slot[i];
        if (s->kind == kind && s->of == of && s->component == component) return s;
    }
    return NULL;
}

void snw_model_laws_add_drive(snw_model_laws *a, int drive, double t, const double *w,
                              double *bar) {
    const law_slot *s = find_slot(a, SNW_LAW_DRIVE, drive, 0);
    if (!s) return;
    snw_expr_add_jet_slopes(law_of(a->m, s), (snw_at){.t = t}, w, a->scratch, bar + s->first);
}

size_t snw_model_laws_poses(const snw_model_laws *a) {
    for (int i = 0; i < a->n; i++) {
        if (a->slot[i].kind == SNW_LAW_STRAIN || a->slot[i].kind == SNW_LAW_POSE)
            return a->slot[i].first;
    }
    return a->size;
}

void snw_model_laws_add_strains(snw_model_laws *a, int field, double t, const snw_wrench *by,
                                double *bar) {
    const snw_field *f = &a->m->field[field];
    const snw_at at = {.t = t, .x = f->x, .L = a->m->rod[f->rod].L};
    for (int k = 0; k < 6; k++) {
        const law_slot *s = find_slot(a, SNW_LAW_STRAIN, f->rod, k);
        const double weight[3] = {by[0].e[k], by[1].e[k], by[2].e[k]};
        if (s) snw_expr_add_jet_slopes(law_of(a->m, s), at, weight, a->scratch, bar + s->first);
    }
}

// Twist Z of a pose by a value y of its laws, zeta = Z delta y, with its two rates in body axes: a
// direction that is fixed in a frame which turns with w, w' against the body.
static void turning_direction(snw_vec3 of, snw_vec3 w, snw_vec3 dw, snw_vec3 out[3]) {
    out[0] = of;
    out[1] = snw_cross(of, w);
    out[2] = snw_add(snw_cross(of, dw), snw_cross(out[1], w));
}

// weight (3) <- derivatives by value, rate and acceleration of a law with zeta = Z delta y: as
// mixed derivatives are equal, delta u = zeta' + ad_u zeta, delta u' = zeta" + ad_u zeta' + ad_u'
// zeta.
static void pose_weights(const snw_twist Z[3], snw_twist u, snw_twist du, const snw_wrench *by,
                         double *weight) {
    const snw_twist turned = snw_ad(u, Z[0]);
    weight[0] =
        snw_power(by[0], Z[0]) + snw_power(by[1], snw_twist_add(Z[1], turned)) +
        snw_power(by[2], snw_twist_add(Z[2], snw_twist_add(snw_ad(u, Z[1]), snw_ad(du, Z[0]))));
    weight[1] =
        snw_power(by[1], Z[0]) + snw_power(by[2], snw_twist_add(snw_twist_scale(2, Z[1]), turned));
    weight[2] = snw_power(by[2], Z[0]);
}

void snw_model_laws_add_pose(snw_model_laws *a, int pose, const snw_inputs *in,
                             const snw_wrench *by, double *bar) {
    const snw_pose_desc *d = &a->m->pose[pose];
    const snw_at at = {.t = in->t};
    const snw_twist u = in->pose_u[pose], du = in->pose_du[pose];
    // motion of the turns after one, in body axes, from the last to the first
    snw_vec3 w = {{0}}, dw = {{0}};
    snw_mat3 later = snw_mat3_identity();
    for (int k = 3 + d->nturn; k-- > 0;) {
        snw_twist Z[3] = {snw_twist_zero(), snw_twist_zero(), snw_twist_zero()};
        snw_vec3 z[3];
        const law_slot *s = find_slot(a, SNW_LAW_POSE, pose, k);
        if (k < 3) {
            const snw_vec3 e = {{k == 0, k == 1, k == 2}};
            turning_direction(snw_rotate_inv(in->pose[pose].R, e), u.w, du.w, z);
            for (int j = 0; j < 3; j++) Z[j].v = z[j];
        } else {
            turning_direction(snw_rotate_inv(later, d->turn[k - 3].axis), w, dw, z);
            for (int j = 0; j < 3; j++) Z[j].w = z[j];
            if (k == 3 && !s) continue; // no turn before it
            const snw_jet th = k > 3 ? snw_expr_jet_t(d->turn[k - 3].angle, at) : (snw_jet){0};
            // w = sum of th' Z_w over the later turns, w' with the rates of Z_w
            dw = snw_add(dw, snw_add(snw_scale(th.dd, z[0]), snw_scale(th.d, z[1])));
            w = snw_add(w, snw_scale(th.d, z[0]));
            later = snw_mat3_mul(snw_so3_exp(snw_scale(th.v, d->turn[k - 3].axis)), later);
        }
        if (!s) continue;
        double weight[3];
        pose_weights(Z, u, du, by, weight);
        snw_expr_add_jet_slopes(law_of(a->m, s), at, weight, a->scratch, bar + s->first);
    }
}
