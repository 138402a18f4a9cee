// SPDX-License-Identifier: MIT
#include "oracle/strong.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const snw_rod *rod_of(const oracle_rod *q) { return &q->m->rod[q->rod]; }

static const snw_link_desc *link_of(const oracle_rod *q) {
    return &q->m->desc->link[rod_of(q)->link];
}

static double value(snw_law law, snw_at at) { return law ? snw_expr_value(law, at) : 0; }

static snw_vec3 gravity(const oracle_rod *q) {
    snw_vec3 g;
    for (int i = 0; i < 3; i++) g.e[i] = value(q->m->desc->gravity[i], (snw_at){.t = q->s->t});
    return g;
}

static void add_load(const snw_load_desc *load, snw_at at, snw_wrench *F) {
    for (int i = 0; i < 3; i++) {
        F->m.e[i] += value(load->torque[i], at);
        F->f.e[i] += value(load->force[i], at);
    }
}

static bool on_rod(const oracle_rod *q, const snw_load_desc *load) {
    return load->on.link == rod_of(q)->link;
}

void oracle_fields_at(const oracle_rod *q, double x, double middle, oracle_fields *f) {
    const snw_rod *rod = rod_of(q);
    const snw_link_desc *link = link_of(q);
    const snw_at at = {.t = q->s->t, .x = x, .L = rod->L};
    *f = (oracle_fields){.xi = snw_rod_rest(rod, x)};

    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    if (snw_rod_basis(rod, x, middle, first, count, phi) > ORACLE_MOST_FUNCTIONS) abort();
    snw_twist strain = {0};
    for (int a = 0, k = 0; a < rod->na; a++) {
        for (int j = 0; j < count[a]; j++, k++) {
            const int dof = rod->dof[a] + first[a] + j, c = rod->comp[a];
            strain.e[c] += phi[k] * q->s->q[dof + rod->shift];
            f->dxi.e[c] += phi[k] * q->s->v[dof];
            f->ddxi.e[c] += phi[k] * q->s->a[dof];
            f->dof[k] = dof - rod->dof0;
            f->comp[k] = c;
            f->phi[k] = phi[k];
            f->n++;
        }
    }
    f->xi = snw_twist_add(f->xi, strain);

    double H[36], D[36];
    snw_error err = {0};
    if (snw_section_at(&link->rod, link->name, x, H, D, &f->M, &err) != SNW_OK) {
        fprintf(stderr, "oracle: %s\n", err.text);
        abort();
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            f->stress.e[i] += H[6 * i + j] * strain.e[j] + D[6 * i + j] * f->dxi.e[j];
        }
    }
    const snw_desc *d = q->m->desc;
    for (int k = 0; k < d->nstress; k++) {
        if (d->stress[k].link != rod->link) continue;
        for (int i = 0; i < 6; i++) f->stress.e[i] += value(d->stress[k].stress[i], at);
    }
    for (int k = 0; k < d->nload; k++) {
        if (!d->load[k].along || !on_rod(q, &d->load[k])) continue;
        add_load(&d->load[k], at, d->load[k].body ? &f->follow : &f->dead);
    }
}

// Station of a concentrated load on the rod, or -1.
static double station(const oracle_rod *q, const snw_load_desc *load) {
    if (load->along || !on_rod(q, load)) return -1;
    switch (load->on.kind) {
    case SNW_SITE_WORLD:
    case SNW_SITE_BASE:
    case SNW_SITE_ROOT:
        return -1;
    case SNW_SITE_END:
        return rod_of(q)->L;
    case SNW_SITE_AT:
        return load->on.x;
    }
    return -1;
}

static int rising(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int oracle_stretches(const oracle_rod *q, double x[], int most) {
    const snw_rod *rod = rod_of(q);
    const snw_desc *d = q->m->desc;
    int n = 0;
    for (int a = 0; a < rod->na; a++) {
        for (int i = 0; i <= rod->basis[a].nelem && n < most - 4; i++) {
            x[n++] = rod->L * snw_basis_break(&rod->basis[a], i);
        }
    }
    for (int k = 0; k < d->nload && n < most - 3; k++) {
        if (station(q, &d->load[k]) >= 0) x[n++] = station(q, &d->load[k]);
    }
    for (int k = 0; k < q->nwatch && n < most - 2; k++) x[n++] = q->watch[k];
    x[n++] = 0;
    x[n++] = rod->L;
    qsort(x, (size_t)n, sizeof *x, rising);
    int kept = 1;
    for (int i = 1; i < n; i++) {
        if (x[i] - x[kept - 1] > 1e-12 * rod->L) x[kept++] = x[i];
    }
    x[kept - 1] = rod->L;
    return kept;
}

// M V of a slice or body, written out as M = [I mc^; -mc^ m].
static snw_wrench momentum(const snw_inertia *M, snw_twist V) {
    const snw_mat3 I = {
        {{M->I[0], M->I[5], M->I[4]}, {M->I[5], M->I[1], M->I[3]}, {M->I[4], M->I[3], M->I[2]}}};
    snw_wrench P;
    P.m = snw_add(snw_rotate(I, V.w), snw_cross(M->mc, V.v));
    P.f = snw_sub(snw_scale(M->m, V.v), snw_cross(M->mc, V.w));
    return P;
}

snw_wrench oracle_inertia(const oracle_rod *q, const snw_inertia *M, snw_mat3 R, snw_twist V,
                          snw_twist dV) {
    const snw_twist fall = {{.v = snw_rotate_inv(R, gravity(q))}};
    snw_wrench F = momentum(M, snw_twist_sub(dV, fall));
    const snw_wrench P = momentum(M, V);
    // -ad_V' P, with ad_V' P = (m x w + f x v, f x w).
    F.m = snw_sub(F.m, snw_add(snw_cross(P.m, V.w), snw_cross(P.f, V.v)));
    F.f = snw_sub(F.f, snw_cross(P.f, V.w));
    return F;
}

double oracle_kinetic(const snw_inertia *M, snw_twist V) {
    return 0.5 * snw_power(momentum(M, V), V);
}

double oracle_potential(const oracle_rod *q, const snw_inertia *M, snw_se3 g) {
    const snw_vec3 first = snw_add(snw_scale(M->m, g.p), snw_rotate(g.R, M->mc));
    return -snw_dot(gravity(q), first);
}

const snw_inertia *oracle_body(const oracle_rod *q, snw_inertia *store) {
    const snw_link_desc *link = link_of(q);
    if (!link->has_body) return NULL;
    *store = snw_inertia_of_body(link->body.mass, link->body.com, link->body.inertia);
    return store;
}

snw_wrench oracle_lump(const oracle_rod *q, double x, snw_se3 g, snw_twist V, snw_twist dV) {
    const snw_rod *rod = rod_of(q);
    const snw_desc *d = q->m->desc;
    snw_wrench follow = {0}, dead = {0};
    for (int k = 0; k < d->nload; k++) {
        const double at = station(q, &d->load[k]);
        if (!(at >= 0) || fabs(at - x) > 1e-12 * rod->L) continue;
        add_load(&d->load[k], (snw_at){.t = q->s->t, .x = at, .L = rod->L},
                 d->load[k].body ? &follow : &dead);
    }
    snw_wrench F = follow;
    F.m = snw_add(F.m, snw_rotate_inv(g.R, dead.m));
    F.f = snw_add(F.f, snw_rotate_inv(g.R, dead.f));
    snw_inertia store;
    const snw_inertia *body = oracle_body(q, &store);
    if (body && x >= rod->L * (1 - 1e-12)) {
        F = snw_wrench_sub(F, oracle_inertia(q, body, g.R, V, dV));
    }
    return F;
}
