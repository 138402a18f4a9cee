// SPDX-License-Identifier: MIT
//
// Memory of laws in the maps of a run, theory.md (7.5.18). A step of length h evaluates its
// equations with the integrals
//
//     z_1 = zhat + (h/2) E(g_1, v_1, z_1),   zhat = z_0 + (h/2) E_0
//
// eliminated: tangents and samples are taken at fixed zhat. Samples keep their value in a step.
// States are integrals whose integrands, the rates, read all states, but no integrals.
#include "study/adjoint_private.h"

#include "dynamics/feedback.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

bool adjoint_is_integral(const snw_model *m, int signal) {
    return snw_signal_grows(&m->signal[signal]);
}

bool adjoint_is_memory(const snw_model *m, int signal) {
    return adjoint_is_integral(m, signal) ||
           (m->signal[signal].kind == SNW_SIGNAL_SAMPLED && m->signal[signal].source);
}

snw_state adjoint_map_state(const snw_map *map) {
    snw_state s = map->s;
    if (map->z_from && map->kind != SNW_MAP_STAGES) s.z = (double *)map->z_from;
    if (map->branch_part) {
        s.relaxed = (double *)map->branch_part;
        s.follow = (double *)map->branch_follow;
    }
    return s;
}

double adjoint_half_step(const snw_map *map) {
    return map->z_from && map->kind != SNW_MAP_STAGES ? 0.5 * map->h : 0;
}

void adjoint_integrands(const snw_model *m, const snw_inputs *in, const snw_work *w, double *out) {
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nsignal; i++)
        out[i] = adjoint_is_integral(m, i) ? snw_expr_value(m->signal[i].source, at) : 0;
}

// ---- derivatives at a state
// ------------------------------------------------------------------------

void adjoint_find_memory(snw_adjoint *a, const snw_state *s) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, nz = (size_t)m->nsignal, live = (size_t)m->nlive * nv;
    const snw_at at = {.t = a->in->t, .signal = a->w->signal};
    adjoint_integrands(m, a->in, a->w, a->integrand);
    memset(a->integrand_row, 0, 2 * nv * nz * sizeof *a->integrand_row);
    memset(a->integrand_by, 0, nz * nz * sizeof *a->integrand_by);
    memset(a->memory_force, 0, nv * nz * sizeof *a->memory_force);
    for (size_t i = 0; i < nz; i++) {
        if (!adjoint_is_memory(m, (int)i)) continue;
        snw_feedback_force(m, a->in, a->w, (int)i, a->memory_force + i * nv);
        if (!adjoint_is_integral(m, (int)i)) continue;
        const snw_law source = m->signal[i].source;
        double *row = a->integrand_row + 2 * nv * i;
        for (size_t k = 0; k < (size_t)m->nlive; k++) { // integrals by zhat and half a step
            const double d = snw_expr_jet_signal(source, at, m->live[k]).d;
            for (size_t j = 0; j < nv && d != 0; j++) {
                row[j] += d * a->live_row[k * nv + j];
                row[nv + j] += d * a->live_row[live + k * nv + j];
            }
        }
        adjoint_fix_row(m, s, row);
        for (size_t j = 0; j < nz; j++) {
            if (adjoint_is_memory(m, (int)j))
                a->integrand_by[i * nz + j] = snw_expr_jet_signal(source, at, (int)j).d;
        }
    }
}

// ---- backward
// --------------------------------------------------------------------------------------

// Are the memory and the integrands after the map those of the projection that follows it?
static bool passes_on(const snw_map *map) { return map->kind == SNW_MAP_STEP && map->settles; }

// Is the rate of coordinate k after the map that of a law? Integrands depend on it as on the law.
static bool follows_law(const snw_adjoint *a, const snw_map *map, int k) {
    return map->kind == SNW_MAP_STEP && a->driven[k];
}

void adjoint_memory_begin(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    const int nv = m->nv;
    const snw_bars *b = &a->bars[scalar];
    double *c = a->covectors[scalar].integrand;
    if (!a->remembers || passes_on(map)) return;
    for (int i = 0; i < m->nsignal; i++) {
        if (!adjoint_is_integral(m, i)) continue;
        const double *row = a->integrand_row + 2 * nv * i;
        c[i] = b->integrand[i] + a->half * b->z[i];
        for (int k = 0; k < nv && c[i] != 0; k++) {
            b->place[k] += c[i] * row[k];
            if (!follows_law(a, map, k)) b->rate[k] += c[i] * row[nv + k];
        }
    }
}

static bool is_state(const snw_model *m, int signal) {
    return m->signal[signal].kind == SNW_SIGNAL_STATE && m->signal[signal].source;
}

// state (STATES) <- signals that are states; A (n x n, by columns) <- 1 - half G of them, factored,
// G the rates by the states. Returns n. Newton's method for them has the same matrix.
static int state_matrix(const snw_adjoint *a, int *state, double *A, int *pivot) {
    const int nz = a->m->nsignal;
    int n = 0;
    for (int i = 0; i < nz; i++) {
        if (is_state(a->m, i)) state[n++] = i;
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            A[j * n + i] = (i == j) - a->half * a->integrand_by[state[i] * nz + state[j]];
    }
    if (n > 0 && snw_lu_factor(n, A, pivot) != SNW_OK) A[0] = NAN; // so are the derivatives
    return n;
}

// Bars s of the rates and z of the memory of the states, which read each other: (1 - half G)' z = u
// + G' e, s = e + half z, e those of the rates after the map.
static void states_back(const snw_adjoint *a, const double *integrand, double *s, double *z) {
    const int nz = a->m->nsignal;
    int state[SNW_STATES_MAX], pivot[SNW_STATES_MAX];
    double A[SNW_STATES_MAX * SNW_STATES_MAX], x[SNW_STATES_MAX];
    const int n = state_matrix(a, state, A, pivot);
    if (n == 0) return;
    for (int j = 0; j < n; j++) {
        x[j] = z[state[j]];
        for (int i = 0; i < n && integrand; i++)
            x[j] += integrand[state[i]] * a->integrand_by[state[i] * nz + state[j]];
    }
    snw_lu_solve_transposed(n, A, pivot, x);
    for (int i = 0; i < n; i++) {
        s[state[i]] = (integrand ? integrand[state[i]] : 0) + a->half * x[i];
        z[state[i]] = x[i];
    }
    for (int j = 0; j < nz; j++) { // samples that the rates read
        for (int i = 0; i < n && !is_state(a->m, j); i++)
            z[j] += s[state[i]] * a->integrand_by[state[i] * nz + j];
    }
}

void adjoint_memory_back(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    const int nz = m->nsignal;
    snw_bars *b = &a->bars[scalar];
    const double *mu = a->covectors[scalar].mu, half = a->half;
    double *s = a->memory, *z = s + nz;
    if (!a->remembers) return;
    const bool later = passes_on(map), is_static = map->kind == SNW_MAP_STATIC;
    for (int j = 0; j < nz; j++) {
        const bool through = adjoint_is_memory(m, j);
        z[j] = later ? 0 : b->z[j];
        if (through) z[j] += snw_vector_dot(m->nv, a->memory_force + (size_t)j * (size_t)m->nv, mu);
    }
    // an integrand reads only signals before it
    for (int i = nz; i-- > 0;) {
        s[i] = 0;
        if (!adjoint_is_integral(m, i) || is_state(m, i) || is_static) continue;
        s[i] = (later ? 0 : b->integrand[i]) + half * z[i];
        for (int j = 0; j < i; j++) z[j] += s[i] * a->integrand_by[i * nz + j];
    }
    if (!is_static) states_back(a, later ? NULL : b->integrand, s, z);
    const bool moves = adjoint_moves(map), step = map->kind == SNW_MAP_STEP;
    for (int j = 0; j < nz; j++) {
        const bool grows = adjoint_is_integral(m, j);
        const double own = z[j]; // without what the projection passed on
        if (later) z[j] += b->z[j];
        if (grows && half > 0 && moves)
            *(step ? &a->by_own[scalar] : &b->time[SNW_TIME_LENGTH]) +=
                0.5 * own * a->integrand[j] + (step ? 0.5 * z[j] * map->integrand[j] : 0);
        b->z[j] = z[j];
        b->integrand[j] = grows && step ? half * z[j] : 0;
    }
}

// ---- forward
// ---------------------------------------------------------------------------------------

// integrand <- rates of the states by their memory and samples, which read each other: (1 - half G)
// e = G from.
static void states_force(const snw_adjoint *a, const double *from, double *integrand) {
    const int nz = a->m->nsignal;
    int state[SNW_STATES_MAX], pivot[SNW_STATES_MAX];
    double A[SNW_STATES_MAX * SNW_STATES_MAX], x[SNW_STATES_MAX];
    const int n = state_matrix(a, state, A, pivot);
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        for (int j = 0; j < nz; j++) x[i] += a->integrand_by[state[i] * nz + j] * from[j];
    }
    if (n > 0) snw_lu_solve(n, A, pivot, x);
    for (int i = 0; i < n; i++) integrand[state[i]] = x[i];
}

void adjoint_memory_force(snw_adjoint *a, const snw_map *map, int k, double length, double *x) {
    const snw_model *m = a->m;
    const int nz = m->nsignal, nv = m->nv;
    const snw_bars *b = &a->bars[k];
    double *from = a->memory, *integrand = from + nz;
    if (!a->remembers) return;
    for (int i = 0; i < nz; i++) {
        const bool grows = adjoint_is_integral(m, i) && a->half > 0;
        if (grows && map->kind == SNW_MAP_STEP)
            b->z[i] += a->half * b->integrand[i] + 0.5 * length * map->integrand[i];
        from[i] = b->z[i] + (grows ? 0.5 * length * a->integrand[i] : 0);
        integrand[i] = 0;
    }
    if (map->kind != SNW_MAP_STATIC) states_force(a, from, integrand);
    for (int i = 0; i < nz; i++) {
        if (!adjoint_is_memory(m, i)) continue;
        for (int j = 0; j < i && adjoint_is_integral(m, i) && !is_state(m, i); j++) {
            const double z = from[j] + a->half * integrand[j];
            integrand[i] += a->integrand_by[i * nz + j] * z;
        }
        const double z = from[i] + a->half * integrand[i];
        for (int j = 0; j < nv && z != 0; j++) x[j] += z * a->memory_force[i * nv + j];
    }
}

void adjoint_memory_apply(snw_adjoint *a, const snw_map *map, int k, const double *by) {
    const snw_model *m = a->m;
    const int nz = m->nsignal, nv = m->nv;
    const snw_bars *b = &a->bars[k];
    const double *from = a->memory, *integrand = from + nz;
    if (!a->remembers || passes_on(map)) return;
    for (int i = 0; i < nz; i++) {
        if (!adjoint_is_integral(m, i)) continue;
        const double *row = a->integrand_row + 2 * nv * i;
        b->integrand[i] = integrand[i] + by[i] + snw_vector_dot(nv, row, b->place);
        for (int j = 0; j < nv; j++) {
            if (!follows_law(a, map, j)) b->integrand[i] += row[nv + j] * b->rate[j];
        }
        b->z[i] = from[i] + a->half * b->integrand[i];
    }
}
