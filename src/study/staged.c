// SPDX-License-Identifier: MIT
//
// Within a step x are the coordinates of its chart about the configuration at its start: the increment itself for rods and
// axes, g = g_0 exp(x) for balls and free joints. The unknowns are x'' at the s stages; their equations are S' r = 0 with S
// the chart's columns. With M_i, D_i, K_i the derivatives of the residual of stage i in x'', x', x Newton's matrix has the
// blocks
//
//     i j:  delta_ij M_i + h A_ij D_i + h^2 AA_ij K_i
//
// and lacks only what integrals read by laws add. It is kept over steps as long as it serves.
#include "study/staged_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/loop.h"
#include "study/path.h"
#include "study/pieces.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    INCREMENTS = 12, // kept by Broyden's method
    PATIENCE = 9,    // iterations that cost what a new matrix does
    MEAN = -1        // degree of a prediction by mean rates
};

// ---- what is kept, and saved -----------------------------------------------------------------------

enum { NKEPT = 10, NPIECE = NKEPT + 2 + 4 * SNW_STAGES, NSINGLE = 2 };

// The first NKEPT change with every step. The inputs are laws of their time.
static void list_pieces(const snw_staged *g, snw_piece piece[NPIECE]) {
    const size_t nv = (size_t)g->m->nv, np = (size_t)snw_npower(g->m);
    snw_staged *own = (snw_staged *)g;
    const snw_piece list[] = {{&g->now->t, 1},   snw_piece_state(g->m, g->now),
                              {&g->in->t, 1},    {&own->past_h, 1},
                              {&own->degree, 1}, {g->past, snw_staged_accelerations(g)},
                              {g->mean, nv},     {g->work, np},
                              {&own->heat, 1},   {&own->shares, 1},
                              {g->mass, nv},     {g->columns, snw_staged_columns(g->m, g->k.s)}};
    memcpy(piece, list, sizeof list);
    piece += sizeof list / sizeof list[0];
    memset(piece, 0, 4 * SNW_STAGES * sizeof *piece);
    for (int i = 0; i < g->k.s; i++) {
        snw_inputs *in = g->of_J.in[i];
        *piece++ = snw_piece_state(g->m, g->of_J.at[i]);
        *piece++ = (snw_piece){&in->t, 1};
        *piece++ = (snw_piece){in->gravity.e, 3};
        *piece++ = snw_piece_inputs(in);
    }
}

static size_t kept_doubles(const snw_model *m, int stages) {
    return 6 + snw_state_doubles(m) + (size_t)(stages + 1) * (size_t)m->nv + (size_t)snw_npower(m);
}

size_t snw_staged_saves(const snw_model *m, int stages) {
    const size_t matrix = snw_state_doubles(m) + 4 + snw_inputs_doubles(m);
    return kept_doubles(m, stages) + (size_t)m->nv + snw_staged_columns(m, stages) +
           (size_t)stages * matrix + NSINGLE;
}

static void save(const void *self, double *out) {
    const snw_staged *g = self;
    const double single[NSINGLE] = {g->of_J.known, g->of_J.h};
    snw_piece piece[NPIECE];
    list_pieces(g, piece);
    memcpy(snw_pieces_save(NPIECE, piece, out), single, sizeof single);
}

static void keep(snw_staged *g) {
    snw_piece piece[NPIECE];
    list_pieces(g, piece);
    (void)snw_pieces_save(NKEPT, piece, g->kept);
}

static void back(void *self) {
    snw_staged *g = self;
    snw_piece piece[NPIECE];
    list_pieces(g, piece);
    (void)snw_pieces_load(NKEPT, piece, g->kept);
    snw_inputs_at(g->m, g->in->t, g->in);
}

// ---- creation --------------------------------------------------------------------------------------

static snw_status create_parts(snw_staged *g) {
    const snw_model *m = g->m;
    if (m->nrow > 0 || m->nswitch > 0) {
        SNW_TRY(snw_assembly_create(m, &g->assembly));
        SNW_TRY(snw_switches_create(m, g->assembly, &g->switches));
    }
    g->share = g->assembly ? snw_assembly_share(g->assembly) : NULL;
    g->row = snw_alloc((size_t)m->nrow * sizeof *g->row);
    if (!g->row) return SNW_E_MEMORY;
    for (int i = 0; i < m->nloop; i++) {
        for (int r = 0; r < m->loop[i].nrow; r++) g->row[g->ng++] = m->loop[i].row + r;
    }
    SNW_TRY(snw_inputs_create(m, &g->in));
    SNW_TRY(snw_state_create(m, &g->now));
    SNW_TRY(snw_state_create(m, &g->end));
    for (int i = 0; i < g->k.s; i++) {
        SNW_TRY(snw_inputs_create(m, &g->in_stage[i]));
        SNW_TRY(snw_state_create(m, &g->stage[i]));
        SNW_TRY(snw_inputs_create(m, &g->of_J.in[i]));
        SNW_TRY(snw_state_create(m, &g->of_J.at[i]));
        SNW_TRY(snw_work_create(m, &g->w[i]));
    }
    return SNW_OK;
}

static snw_status create_memory(snw_staged *g) {
    const snw_model *m = g->m;
    const size_t nv = (size_t)m->nv, all = snw_staged_unknowns(g), np = (size_t)snw_npower(m);
    const struct {
        double **at;
        size_t n;
    } list[] = {{&g->rate, nv},
                {&g->acc, nv},
                {&g->ddx, snw_staged_accelerations(g)},
                {&g->l, (size_t)g->k.s * (size_t)g->ng},
                {&g->dx, all},
                {&g->typical, all},
                {&g->x, nv},
                {&g->v, nv},
                {&g->a, nv},
                {&g->past, all},
                {&g->mean, nv},
                {&g->mass, nv},
                {&g->scale, nv},
                {&g->force, nv},
                {&g->grow, (size_t)g->k.s * (size_t)m->nsignal},
                {&g->columns, snw_staged_columns(m, g->k.s)},
                {&g->M, nv * nv},
                {&g->D, nv * nv},
                {&g->K, nv * nv},
                {&g->J, all * all},
                {&g->spare, 2 * all},
                {&g->gauge.row, all},
                {&g->gauge.column, all},
                {&g->work, np},
                {&g->power_stage, np},
                {&g->kept, kept_doubles(m, g->k.s)},
                {&g->broyden.s, snw_broyden_doubles((int)all, INCREMENTS)}};
    enum { LIST = sizeof list / sizeof list[0] };
    size_t sum = 0;
    for (int i = 0; i < LIST; i++) sum += list[i].n;
    g->memory = snw_alloc(sum * sizeof *g->memory);
    g->pivot = snw_alloc(all * sizeof *g->pivot);
    if (!g->memory || !g->pivot) return SNW_E_MEMORY;
    double *at = g->memory;
    for (int i = 0; i < LIST; i++) *list[i].at = at, at += list[i].n;
    g->gauge.n = (int)all;
    for (size_t i = 0; i < all; i++) {
        g->typical[i] = i < snw_staged_accelerations(g) ? m->typical[i % nv] : m->length;
    }
    g->bond = 1;
    g->broyden = snw_broyden_on((int)all, INCREMENTS, g->typical, g->broyden.s);
    return SNW_OK;
}

static void destroy(void *self) {
    snw_staged *g = self;
    for (int i = 0; i < SNW_STAGES; i++) {
        snw_inputs_destroy(g->in_stage[i]);
        snw_state_destroy(g->stage[i]);
        snw_inputs_destroy(g->of_J.in[i]);
        snw_state_destroy(g->of_J.at[i]);
        snw_work_destroy(g->w[i]);
    }
    snw_switches_destroy(g->switches);
    snw_assembly_destroy(g->assembly);
    snw_inputs_destroy(g->in);
    snw_state_destroy(g->now);
    snw_state_destroy(g->end);
    snw_free(g->memory);
    snw_free(g->pivot);
    snw_free(g->row);
    snw_free(g);
}

snw_status snw_staged_create(const snw_model *m, const snw_staged_opts *opts, snw_staged **out) {
    *out = NULL;
    snw_staged *g = snw_alloc(sizeof *g);
    if (!g) return SNW_E_MEMORY;
    g->m = m;
    g->opts = *opts;
    g->k = snw_collocation_gauss(opts->stages);
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *d = &m->desc->signal[i];
        g->grows |= d->kind == SNW_SIGNAL_INTEGRAL && d->source;
    }
    if (create_parts(g) != SNW_OK || create_memory(g) != SNW_OK) {
        destroy(g);
        return SNW_E_MEMORY;
    }
    *out = g;
    return SNW_OK;
}

// ---- begin -----------------------------------------------------------------------------------------

// accelerations, multipliers and powers at s under the inputs of the last instant
static snw_status settle(snw_staged *g, snw_state *s, snw_error *err) {
    const snw_model *m = g->m;
    snw_work *w = g->w[0];
    if (g->assembly) {
        SNW_TRY(snw_assembly_accelerations(g->assembly, g->in, s, err));
    } else {
        SNW_TRY(snw_accelerations(m, g->in, s, w, g->M, err));
    }
    snw_residual(m, g->in, s, false, w);
    return SNW_OK;
}

static snw_status restart(void *self, const double *z, snw_error *err) {
    snw_staged *g = self;
    const snw_model *m = g->m;
    snw_inputs_at(m, g->now->t + snw_grain(g->now->t), g->in);
    if (g->switches) {
        snw_blow blow = {0};
        SNW_TRY(snw_switches_throw(g->switches, g->in, z, g->now, &blow, err));
        g->work[m->desc->nload + 1] += blow.work;
        g->heat += blow.heat;
    } else if (z) {
        memcpy(g->now->z, z, (size_t)m->nsignal * sizeof *z);
    }
    snw_mass_matrix(m, g->in, g->now, g->w[0], g->M);
    for (int i = 0; i < m->nv; i++) g->mass[i] = g->M[(size_t)i * (size_t)(m->nv + 1)];
    SNW_TRY(settle(g, g->now, err));
    g->shares = g->share && snw_share_rests(g->share);
    g->of_J.known = false;
    g->past_h = 0;
    keep(g);
    return SNW_OK;
}

static snw_status start(void *self, const snw_state *s, snw_error *err) {
    snw_staged *g = self;
    snw_state_copy(g->m, s, g->now);
    snw_state_rest(g->m, g->now);
    if (g->assembly) {
        snw_assembly_info info;
        snw_inputs_at(g->m, s->t + snw_grain(s->t), g->in);
        SNW_TRY(snw_assembly_close(g->assembly, g->in, g->now, &info, err));
    }
    SNW_TRY(restart(g, NULL, err));
    for (int i = 0; i < snw_npower(g->m); i++) g->work[i] = 0;
    g->heat = 0;
    return SNW_OK;
}

// ---- stages ----------------------------------------------------------------------------------------

// g->x, g->v <- coordinates and rates of the chart where its accelerations weigh w and ww and its rate c
static void integrate(snw_staged *g, double c, const double *w, const double *ww) {
    const int n = g->m->nv;
    const double h = g->h;
    for (int i = 0; i < n; i++) {
        double dv = 0, d = 0;
        for (int j = 0; j < g->k.s; j++) {
            dv += w[j] * g->ddx[j * n + i];
            d += ww[j] * g->ddx[j * n + i];
        }
        g->v[i] = g->rate[i] + h * dv;
        g->x[i] = h * (c * g->rate[i] + h * d);
    }
}

// where drives hold, s has what their laws say
static void impose(const snw_model *m, const snw_inputs *in, snw_state *s) {
    for (int i = 0; i < m->ndrive; i++) {
        if (!snw_drive_holds(m, s, i)) continue;
        s->q[m->drive[i].q] = snw_drive_target(m, in, s, i);
    }
    snw_rows_impose(m, in, s);
}

// the residual at a stage; drives exert what is needed there
static void evaluate_stage(snw_staged *g, int i) {
    const snw_model *m = g->m;
    const size_t nv = (size_t)m->nv, ns = (size_t)m->nsignal;
    snw_state *s = g->stage[i];
    snw_work *w = g->w[i];
    integrate(g, g->k.c[i], g->k.A[i], g->k.AA[i]);
    memcpy(g->a, g->ddx + (size_t)i * nv, nv * sizeof *g->a);
    snw_path_state(m, g->opts.chart, g->now->q, g->x, g->v, g->a, s);
    for (size_t k = 0; k < ns; k++) {
        s->z[k] = g->now->z[k];
        for (int j = 0; j < g->k.s && g->grows; j++)
            s->z[k] += g->h * g->k.A[i][j] * g->grow[(size_t)j * ns + k];
    }
    impose(m, g->in_stage[i], s);
    snw_staged_grip(g, i, s);
    snw_residual(m, g->in_stage[i], s, false, w);
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (!snw_drive_holds(m, s, k)) continue;
        w->l[d->row] = s->l[d->row] = w->r[d->dof];
        w->r[d->dof] = 0;
    }
}

// What integrals grow by, at the stages just evaluated; false when it is what they were evaluated with.
static bool grow(snw_staged *g) {
    bool changed = false;
    const size_t ns = (size_t)g->m->nsignal;
    for (int i = 0; i < g->k.s; i++) {
        double *own = g->grow + (size_t)i * ns;
        for (size_t k = 0; k < ns; k++) {
            const snw_signal_desc *d = &g->m->desc->signal[k];
            if (d->kind != SNW_SIGNAL_INTEGRAL || !d->source) continue;
            const double e = snw_expr_value(
                d->source, (snw_at){.t = g->in_stage[i]->t, .signal = g->w[i]->signal});
            changed |= !(e == own[k]) && !(isnan(e) && isnan(own[k]));
            own[k] = e;
        }
    }
    return changed;
}

// the largest force out of balance at the stages, measured by `scale`, or contact that slips; NaN kept
static double out_of_balance(const snw_staged *g, const double *scale) {
    double largest = 0;
    for (int i = 0; i < g->k.s; i++) {
        for (int k = 0; k < g->m->nv; k++) {
            const double r = fabs(g->w[i]->r[k]) / scale[k];
            if (!(r <= largest)) largest = r;
        }
        const double slip = snw_staged_slip(g, i);
        if (!(slip <= largest)) largest = slip;
    }
    return largest;
}

// residuals of all stages, measured by g->scale
static double evaluate(void *self) {
    snw_staged *g = self;
    const snw_model *m = g->m;
    // a source reads integrals that stand before it only, so this comes to rest
    for (int pass = 0; pass <= m->nsignal + 1; pass++) {
        for (int i = 0; i < g->k.s; i++) evaluate_stage(g, i);
        if (!g->grows || !grow(g)) break;
    }
    return out_of_balance(g, g->scale);
}

// ---- Newton's matrix -------------------------------------------------------------------------------

static snw_status renew(void *self) {
    snw_staged *g = self;
    const snw_model *m = g->m;
    g->of_J.h = g->h;
    for (int i = 0; i < g->k.s; i++) {
        if (m->ncurved) {
            integrate(g, g->k.c[i], g->k.A[i], g->k.AA[i]);
            snw_chart_jets(m, g->opts.chart, g->x, g->v, g->ddx + i * m->nv, g->stage[i],
                           g->columns + snw_staged_columns(m, i));
        }
        snw_inputs_copy(g->in_stage[i], g->of_J.in[i]);
        snw_state_copy(m, g->stage[i], g->of_J.at[i]);
        snw_staged_place(g, i, g->w[i]);
    }
    return snw_staged_factor(g);
}

static void load(void *self, const double *in) {
    snw_staged *g = self;
    snw_piece piece[NPIECE];
    list_pieces(g, piece);
    const double *single = snw_pieces_load(NPIECE, piece, in);
    g->of_J.known = single[0] != 0;
    g->of_J.h = single[1];
    for (int i = 0; i < g->k.s && g->of_J.known; i++) {
        g->of_J.in[i]->lead = 0;
        snw_residual(g->m, g->of_J.in[i], g->of_J.at[i], false, g->w[i]);
        snw_staged_place(g, i, g->w[i]);
    }
    if (g->of_J.known) g->of_J.known = snw_staged_factor(g) == SNW_OK;
    snw_inputs_at(g->m, g->in->t, g->in);
    keep(g);
}

static double condition(void *self) {
    snw_staged *g = self;
    if (!g->of_J.known) return NAN;
    if (isnan(g->condition)) {
        g->condition = snw_gauge_condition(&g->gauge, g->J, g->pivot, NULL, g->spare);
    }
    return g->condition;
}

static void correct(void *self) { snw_staged_correct(self); }

static void move(void *self, double part) {
    snw_staged *g = self;
    const size_t n = snw_staged_accelerations(g);
    for (size_t i = 0; i < n; i++) g->ddx[i] += part * g->dx[i];
    for (size_t i = n; i < snw_staged_unknowns(g); i++) g->l[i - n] += part * g->dx[i];
}

// ---- a step ----------------------------------------------------------------------------------------

// out (nv) <- accelerations at stage i, of bodies, as those of the step before go on: a polynomial through the last of its
// stages and its end
static void extrapolate(const snw_staged *g, int degree, int i, double *out) {
    const int n = g->m->nv, s = g->k.s;
    double c[SNW_STAGES + 1], l[SNW_STAGES + 1];
    memcpy(c, g->k.c, sizeof g->k.c);
    c[s] = 1;
    const int first = s - degree;
    if (degree < 0) { // displacements go on at the mean rate of the step before
        for (int k = 0; k < n; k++) out[k] = g->k.turn[i] / g->h * (g->mean[k] - g->rate[k]);
        return;
    }
    const double at = degree > 0 ? 1 + g->k.c[i] * g->h / g->past_h : 1;
    snw_lagrange(degree + 1, c + first, at, l);
    for (int k = 0; k < n; k++) {
        out[k] = l[degree] * g->acc[k];
        for (int j = first; j < s; j++) out[k] += l[j - first] * g->past[j * n + k];
    }
}

// Of what degree they should have gone on to where the step just taken has them, dx (s nv). High where steps resolve the
// motion, low where they do not.
static int best_degree(snw_staged *g) {
    const int n = g->m->nv;
    double least = INFINITY;
    int best = 0;
    for (int degree = MEAN; degree <= g->k.s; degree++) {
        double largest = 0;
        for (int i = 0; i < g->k.s; i++) {
            extrapolate(g, degree, i, g->x);
            for (int k = 0; k < n; k++) {
                largest = fmax(largest, fabs(g->x[k] - g->dx[i * n + k]) / g->m->typical[k]);
            }
        }
        if (largest < least) best = degree, least = largest;
    }
    return best;
}

// unknowns to begin with
static void predict(snw_staged *g, int degree) {
    const snw_model *m = g->m;
    const int n = m->nv, s = g->k.s;
    for (int i = 0; i < s; i++) extrapolate(g, degree, i, g->ddx + i * n);
    if (m->ncurved && degree != MEAN) { // from those of bodies to those of the chart
        for (int i = 0; i < s; i++) {
            integrate(g, g->k.c[i], g->k.A[i], g->k.AA[i]);
            snw_path_accelerations(m, g->opts.chart, g->x, g->v, g->ddx + i * n, g->dx + i * n);
        }
        memcpy(g->ddx, g->dx, snw_staged_accelerations(g) * sizeof *g->ddx);
    }
    for (int k = 0; k < m->ndrive; k++) {
        if (!snw_drive_holds(m, g->now, k)) continue;
        for (int i = 0; i < s; i++) g->ddx[i * n + m->drive[k].dof] = g->in_stage[i]->drive[k].dd;
    }
    if (g->ng == 0) return;
    integrate(g, g->k.c[s / 2], g->k.A[s / 2], g->k.AA[s / 2]);
    memset(g->a, 0, (size_t)n * sizeof *g->a);
    snw_state *at = g->stage[s / 2];
    snw_path_state(m, g->opts.chart, g->now->q, g->x, g->v, g->a, at);
    memcpy(at->z, g->now->z, (size_t)m->nsignal * sizeof *at->z);
    impose(m, g->in_stage[s / 2], at);
    snw_staged_let_rest(g, g->in_stage[s / 2], at);
}

static snw_status solve(snw_staged *g, snw_chord_info *info) {
    const snw_chord chord = {.user = g,
                             .evaluate = evaluate,
                             .renew = renew,
                             .correct = correct,
                             .move = move,
                             .dx = g->dx,
                             .broyden = &g->broyden,
                             .known = &g->of_J.known,
                             .tolerance = g->opts.tolerance,
                             .max_iter = g->opts.max_iter};
    if (fabs(g->of_J.h - g->h) > 1e-9 * g->h) g->of_J.known = false;
    predict(g, g->past_h > 0 ? (int)g->degree : 0);
    snw_status s = snw_chord_solve(&chord, info);
    if (s != SNW_OK) {
        g->of_J.known = false;
        predict(g, g->past_h > 0 ? MEAN : 0);
        s = snw_chord_solve(&chord, info);
    }
    if (s != SNW_OK || info->iterations > PATIENCE) g->of_J.known = false;
    return s;
}

// Velocities of s <- the nearest that contacts allow. What drives and other given motion do in that blow is booked as theirs: all that it changes
// but for what any blow loses, the energy of the jump
static snw_status project(snw_staged *g, snw_state *s) {
    const snw_model *m = g->m;
    snw_work *w = g->w[0];
    double energy[3];
    snw_kinematics(m, g->in, s, false, w);
    energy[0] = snw_kinetic_energy(m, w);
    memcpy(g->v, s->v, (size_t)m->nv * sizeof *g->v);
    SNW_TRY(snw_assembly_velocities(g->assembly, g->in, s, &g->said));
    for (int pass = 1; pass < 3; pass++) { // after it, and in the middle
        memcpy(g->x, s->v, (size_t)m->nv * sizeof *g->x);
        for (int i = 0; i < m->nv && pass == 2; i++) s->v[i] = 0.5 * (g->x[i] + g->v[i]);
        snw_kinematics(m, g->in, s, false, w);
        energy[pass] = snw_kinetic_energy(m, w);
    }
    memcpy(s->v, g->x, (size_t)m->nv * sizeof *g->x);
    const double jump = 2 * (energy[0] + energy[1] - 2 * energy[2]);
    g->work[m->desc->nload + 1] += energy[1] - energy[0] + jump;
    return SNW_OK;
}

// g->end <- the state at the end of the step just solved
static snw_status finish(snw_staged *g, double t_laws) {
    const snw_model *m = g->m;
    snw_state *s = g->end;
    integrate(g, 1, g->k.b, g->k.bb);
    memset(g->a, 0, (size_t)m->nv * sizeof *g->a);
    memcpy(g->spare, g->x, (size_t)m->nv * sizeof *g->x);
    snw_path_state(m, g->opts.chart, g->now->q, g->x, g->v, g->a, s);
    s->t = g->now->t + g->h;
    for (int k = 0; k < m->nsignal; k++) {
        s->z[k] = g->now->z[k];
        for (int j = 0; j < g->k.s && g->grows; j++)
            s->z[k] += g->h * g->k.b[j] * g->grow[j * m->nsignal + k];
    }
    memcpy(s->l, g->now->l, (size_t)m->nrow * sizeof *s->l);
    snw_inputs_at(m, t_laws, g->in);
    impose(m, g->in, s);
    for (int k = 0; k < m->ngrip; k++) s->rest[k] = 0;
    g->said = (snw_error){0};
    snw_status status = g->ng ? project(g, s) : SNW_OK;
    if (status == SNW_OK) status = settle(g, s, &g->said);
    return status == SNW_OK ? SNW_OK : SNW_E_DIVERGED;
}

// works and heat of the step: sums over the stages
static void account(snw_staged *g) {
    const snw_model *m = g->m;
    for (int i = 0; i < g->k.s; i++) {
        const double weight = g->h * g->k.b[i];
        const snw_work *w = g->w[i];
        snw_load_power(m, g->in_stage[i], g->stage[i], w, g->power_stage);
        for (int k = 0; k < snw_npower(m); k++) g->work[k] += weight * g->power_stage[k];
        g->heat +=
            weight * (snw_dissipation(m, g->stage[i]->v) + snw_other_heat(m, g->stage[i], w));
    }
}

// by how much the acceleration at the start differs from that of the polynomial there
static double defect(const snw_staged *g) {
    const int n = g->m->nv;
    double l[SNW_STAGES], largest = 0;
    snw_lagrange(g->k.s, g->k.c, 0, l);
    for (int k = 0; k < n; k++) {
        double a = g->acc[k];
        for (int j = 0; j < g->k.s; j++) a -= l[j] * g->ddx[j * n + k];
        largest = fmax(largest, fabs(a) / g->m->typical[k]);
    }
    return largest;
}

// g->force <- typical forces as in motion.c; g->scale <- the same, or less where errors of the step itself are smaller than what
// they would leave, down to rounding. theory.md (6.13)
static void set_scale(snw_staged *g) {
    static const double part = 0.01, rounding = 64 * DBL_EPSILON;
    const snw_model *m = g->m;
    const double quick = g->h * snw_quickness(m, g->now);
    const double error = part * pow(quick, 2 * g->k.s + 2);
    for (int i = 0; i < m->nv; i++) {
        const double inertia = g->mass[i] * m->typical[i] / (g->h * g->h);
        g->scale[i] = g->force[i] = m->scale[i] + 4e-3 * inertia;
        if (!g->opts.own) continue;
        const double least = rounding * (m->scale[i] + quick * quick * inertia);
        g->scale[i] = fmin(g->scale[i], fmax(error * inertia, least) / g->opts.tolerance);
    }
}

static snw_status step(void *self, double h, double t_laws, snw_chord_info *info) {
    snw_staged *g = self;
    const snw_model *m = g->m;
    *info = (snw_chord_info){0};
    g->h = h;
    set_scale(g);
    for (int i = 0; i < g->k.s; i++) snw_inputs_at(m, g->now->t + g->k.c[i] * h, g->in_stage[i]);
    snw_chart_from_state(m, g->opts.chart, g->now, g->rate, g->acc);
    snw_status s = solve(g, info);
    if (s == SNW_OK) info->residual = out_of_balance(g, g->force);
    keep(g);
    if (s == SNW_OK) account(g); // `finish` works where the first stage does
    if (s == SNW_OK) s = finish(g, t_laws);
    if (s != SNW_OK) {
        back(g);
        return s;
    }
    g->defect = h * h * g->k.within * defect(g);
    for (int i = 0; i < g->k.s; i++) {
        snw_chart_from_state(m, g->opts.chart, g->stage[i], g->v, g->dx + i * m->nv);
    }
    g->degree = g->past_h > 0 ? best_degree(g) : 0;
    memcpy(g->past, g->dx, snw_staged_accelerations(g) * sizeof *g->past);
    for (int i = 0; i < m->nv; i++) g->mean[i] = g->spare[i] / h;
    g->past_h = h;
    snw_state_copy(m, g->end, g->now);
    return SNW_OK;
}

// ---- looking ---------------------------------------------------------------------------------------

static double error(const void *self) { return ((const snw_staged *)self)->defect; }
static const snw_state *state(const void *self) { return ((const snw_staged *)self)->now; }
static const snw_inputs *inputs(const void *self) { return ((const snw_staged *)self)->in; }

static const snw_work *look(void *self) {
    snw_staged *g = self;
    snw_residual(g->m, g->in, g->now, false, g->w[0]);
    snw_observe(g->m, g->in, g->now, false, g->w[0]);
    return g->w[0];
}

static void hold(void *self, const snw_hand *hand) {
    snw_staged *g = self;
    g->in->hand = hand;
    for (int i = 0; i < g->k.s; i++) g->in_stage[i]->hand = g->of_J.in[i]->hand = hand;
}

static snw_work_done work(const void *self) {
    const snw_staged *g = self;
    return (snw_work_done){.n = snw_npower(g->m), .work = g->work, .heat = g->heat};
}

static snw_status check(void *self, double t, snw_error *err) {
    snw_staged *g = self;
    snw_inputs_at(g->m, t, g->in_stage[0]);
    SNW_TRY(snw_inputs_check(g->m, g->in_stage[0], t, err));
    if (g->said.status == SNW_E_MODEL) *err = g->said;
    return g->said.status == SNW_E_MODEL ? SNW_E_MODEL : SNW_OK;
}

const snw_stepper snw_staged_stepper = {
    .start = start,
    .step = step,
    .back = back,
    .restart = restart,
    .error = error,
    .check = check,
    .state = state,
    .inputs = inputs,
    .look = look,
    .hold = hold,
    .condition = condition,
    .work = work,
    .save = save,
    .load = load,
    .destroy = destroy,
    .advice = "'adapt: on', a smaller step, a scheme with damping (generalized-alpha), or more "
              "nodes"};
