// SPDX-License-Identifier: MIT
//
// Concentric tubes: quadrature points of the bending of the outer ones, with the coordinates that
// move them (theory.md 3.19).
#include "model/compile.h"

#include "base/fail.h"
#include "math/quadrature.h"
#include "math/vector.h"

#include <math.h>
#include <stdlib.h>

enum { MORE_POINTS = 6 }; // Gauss points of an interval beyond the degree of its polynomials

// Points and terms of all tubes while they are counted (b is NULL) and written.
typedef struct tube_list {
    snw_tube_point *point;
    snw_tube_term *term;
    int npoint, nterm;
} tube_list;

// Largest polynomial degree among the strain bases of a rod.
static int rod_degree(const snw_rod *rod) {
    int most = 0;
    for (int a = 0; a < rod->na; a++) {
        const int degree = snw_basis_degree(&rod->basis[a]);
        if (degree > most) most = degree;
    }
    return most;
}

static void add_term(tube_list *to, const snw_tube_term *term) {
    bool any = false;
    for (int i = 0; i < 3; i++) any = any || term->c[i] != 0 || term->d[i] != 0;
    if (!any) return;
    if (to->term) to->term[to->nterm] = *term;
    to->nterm++;
}

// Active component of a rod, -1: none.
static int active_component(const snw_rod *rod, int component) {
    for (int a = 0; a < rod->na; a++) {
        if (rod->comp[a] == component) return a;
    }
    return -1;
}

// psi += sign times the rotation at x of a rod relative to its root. `slope`: its twist there is
// needed, too. Room for the functions of the rod at the end of the scratch.
static void add_twist(const snw_build *b, const snw_rod *rod, double x, double toward, double sign,
                      bool slope, double *scratch, tube_list *to) {
    const int n = snw_rod_twist_integrals(rod, x, scratch), a = active_component(rod, SNW_TWIST);
    double *phi = scratch + n;
    int first[6], count[6], skip = 0;
    (void)snw_rod_basis(rod, x, toward, first, count, phi);
    for (int k = 0; k < a; k++) skip += count[k];
    for (int j = 0; j < n; j++) {
        const int dof = rod->dof[a] + j, at = j - first[a];
        const bool here = slope && at >= 0 && at < count[a];
        const snw_tube_term term = {.dof = dof,
                                    .q = dof + rod->shift,
                                    .c = {0, 0, sign * scratch[j]},
                                    .d = {0, 0, here ? sign * phi[skip + at] : 0},
                                    .piece = b->m->tube_dof_piece[dof]};
        add_term(to, &term);
    }
}

// psi += sign times the angle of a tube at x beyond the exit.
static void add_angle(const snw_build *b, const snw_tube *tube, double x, double toward,
                      double sign, double *scratch, tube_list *to) {
    const int block = b->link_block[b->m->desc->tube[tube - b->m->tube].base];
    const snw_tube_term joint = {.dof = b->block[block].dof, .q = tube->q, .c = {0, 0, sign}};
    add_term(to, &joint);
    if (tube->base >= 0) {
        const snw_rod *base = &b->rod[tube->base];
        add_twist(b, base, base->L, base->L, sign, false, scratch, to);
    }
    add_twist(b, &b->rod[tube->own], x, toward, sign, tube->base_piece > 0, scratch, to);
}

// Bends of the host at x; with their derivatives where tubes slide.
static void add_bends(const snw_build *b, const snw_rod *host, double x, double toward,
                      double *scratch, tube_list *to) {
    int first[6], count[6];
    const int n = snw_rod_basis(host, x, toward, first, count, scratch);
    const double *phi = scratch, *d1 = scratch + n;
    for (int i = 0; i < n; i++) scratch[n + i] = 0;
    if (b->m->ntube_piece) (void)snw_rod_basis_d1(host, x, scratch + n);
    for (int a = 0; a < host->na; phi += count[a], d1 += count[a], a++) {
        if (host->comp[a] != SNW_BEND_Y && host->comp[a] != SNW_BEND_Z) continue;
        const int bend = host->comp[a] - SNW_BEND_Y;
        for (int j = 0; j < count[a]; j++) {
            const int dof = host->dof[a] + first[a] + j;
            snw_tube_term term = {.dof = dof, .q = dof + host->shift};
            term.c[bend] = phi[j], term.d[bend] = d1[j];
            add_term(to, &term);
        }
    }
}

// Ends of the intervals on which all fields of a tube are smooth; returns their number. Where tubes
// slide they go on behind the end of the tube, so that there are always as many. x: room for the
// breaks of both rods and two more.
static int tube_intervals(const snw_rod *host, const snw_rod *own, const snw_tube_desc *d,
                          double *x) {
    const double slack = 1e-9 * host->L;
    int n = 0;
    for (int i = 0; i <= host->nelem; i++) x[n++] = host->breaks[i];
    for (int i = 0; i <= own->nelem; i++) x[n++] = own->breaks[i];
    x[n++] = d->straight;
    x[n++] = d->length;
    qsort(x, (size_t)n, sizeof *x, snw_compare_doubles);
    int kept = 1; // x[0] is the exit
    for (int i = 1; i < n; i++) {
        if (x[i] - x[kept - 1] > slack && x[i] <= own->L + slack) x[kept++] = x[i];
    }
    return kept;
}

// Scratch of one tube.
typedef struct tube_scratch {
    double *break_at, *phi, *x, *w;
} tube_scratch;

static void add_points(const snw_build *b, const snw_tube *first, const snw_tube *tube,
                       const tube_scratch *s, tube_list *to) {
    const snw_tube_desc *d = &b->m->desc->tube[tube - b->m->tube];
    const snw_rod *host = &b->rod[tube->host], *own = &b->rod[tube->own];
    const int most = rod_degree(host) > rod_degree(own) ? rod_degree(host) : rod_degree(own);
    const int n = most + MORE_POINTS, nend = tube_intervals(host, own, d, s->break_at);
    snw_gauss(n, s->x, s->w);
    for (int e = 0; e + 1 < nend; e++) {
        const double from = s->break_at[e], h = s->break_at[e + 1] - from, middle = from + 0.5 * h;
        for (int i = 0; i < n; i++) {
            const double x = from + h * s->x[i];
            const snw_twist rest = snw_rod_rest(host, x);
            const int term0 = to->nterm;
            add_bends(b, host, x, middle, s->phi, to);
            add_angle(b, tube, x, middle, 1, s->phi, to);
            add_angle(b, first, x, middle, -1, s->phi, to);
            if (to->point) {
                double fraction = 0;
                const int piece = snw_build_tube_piece(b, host, middle, x, &fraction);
                to->point[to->npoint] =
                    (snw_tube_point){.w = middle < d->length ? h * s->w[i] : 0,
                                     .kappa = middle > d->straight ? d->curvature : 0,
                                     .rest = {rest.e[SNW_BEND_Y], rest.e[SNW_BEND_Z]},
                                     .term0 = term0,
                                     .nterm = to->nterm - term0,
                                     .piece = piece,
                                     .fraction = fraction};
            }
            to->npoint++;
        }
    }
}

static const snw_tube *first_tube(const snw_tube *tube, int i) {
    const int host = tube[i].host;
    while (tube[i].own != host) i--;
    return &tube[i];
}

snw_status snw_build_tubes(snw_build *b) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    snw_tube *tube = snw_build_array(b, (size_t)d->ntube, sizeof *tube);
    int most_breaks = 2, most_functions = 1;
    for (int r = 0; r < m->nrod; r++) {
        if (b->rod[r].nelem + 1 > most_breaks) most_breaks = b->rod[r].nelem + 1;
        if (b->rod[r].ndof > most_functions) most_functions = b->rod[r].ndof;
    }
    enum { MOST_POINTS = SNW_BASIS_MAX_FUNCTIONS + MORE_POINTS };
    const tube_scratch s = {.break_at =
                                snw_build_array(b, 2 * (size_t)most_breaks + 2, sizeof(double)),
                            .phi = snw_build_array(b, 3 * (size_t)most_functions, sizeof(double)),
                            .x = snw_build_array(b, MOST_POINTS, sizeof(double)),
                            .w = snw_build_array(b, MOST_POINTS, sizeof(double))};
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->ntube; i++) {
        const snw_tube_desc *from = &d->tube[i];
        tube[i] = (snw_tube){.host = b->link_rod[from->host],
                             .base = b->link_rod[from->base],
                             .own = b->link_rod[from->own],
                             .q = b->block[b->link_block[from->base]].q,
                             .k = from->bending,
                             .damping = from->damping,
                             .torsion = from->torsion,
                             .name = from->name,
                             .location = from->translation_location,
                             .translation = from->translation,
                             .placed = from->placed,
                             .length = from->length,
                             .straight = from->straight,
                             .hidden = from->curvature != 0 && !from->bend_is_beyond
                                           ? -from->placed - from->straight_part
                                           : 0,
                             .pose = b->seg[b->link_first[from->base]].item};
    }
    m->tube = tube;
    m->ntube = d->ntube;
    SNW_TRY(snw_build_tube_pieces(b, tube));
    tube_list all = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (pass) {
            all = (tube_list){.point = snw_build_array(b, (size_t)all.npoint, sizeof *all.point),
                              .term = snw_build_array(b, (size_t)all.nterm, sizeof *all.term)};
            if (b->memory_out) return SNW_E_MEMORY;
        }
        for (int i = 0; i < d->ntube; i++) {
            if (tube[i].own == tube[i].host) continue;
            tube[i].point0 = all.npoint;
            add_points(b, first_tube(tube, i), &tube[i], &s, &all);
            tube[i].npoint = all.npoint - tube[i].point0;
        }
    }
    m->ntube_point = all.npoint;
    m->tube_point = all.point;
    m->tube_term = all.term;
    return SNW_OK;
}
