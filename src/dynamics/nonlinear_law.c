// SPDX-License-Identifier: MIT
//
// Forces, tangent and energy by which nonlinear section laws exceed the linear law of the same rod
// without strain, theory.md (2.4.3):  sum over the points of w Phi' (stress(e) - H e), e = Phi q.
#include "dynamics/nonlinear_law.h"

#include <math.h>

// e <- strain at a point, from the coordinates of the rod; inactive components are at rest.
static void strain_at(const snw_model *m, const snw_rod *rod, const snw_point *p, const double *q,
                      double e[6]) {
    const double *phi = m->phi + p->phi;
    for (int i = 0; i < 6; i++) e[i] = 0;
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        const double *x = q + rod->dof[a] + rod->shift + p->first[a];
        double sum = 0;
        for (int j = 0; j < p->count[a]; j++) sum += phi[j] * x[j];
        e[rod->comp[a]] = sum;
    }
}

static void active_components(const snw_rod *rod, bool active[6]) {
    for (int i = 0; i < 6; i++) active[i] = false;
    for (int a = 0; a < rod->na; a++) active[rod->comp[a]] = true;
}

void snw_nonlinear_law_add(const snw_model *m, const snw_rod *rod, const double *q, double *r,
                           double *strain, snw_law_fault *fault) {
    bool active[6];
    active_components(rod, active);
    for (int k = 0; rod->law && k < rod->npoint; k++) {
        const snw_point *p = &m->point[rod->point0 + k];
        const snw_section_law_point *at = &rod->law_point[k];
        double e[6];
        snw_section_response s;
        snw_law_fault found = {.rod = (int)(rod - m->rod), .x = p->x};
        strain_at(m, rod, p, q, e);
        found.kind =
            snw_section_law_at(rod->law, at, active, e, 0, &s, &found.value, &found.component);
        if (found.kind != SNW_SECTION_OK && fault) *fault = found;
        for (int i = 0; strain && i < 6; i++) strain[6 * k + i] = e[i];
        const double *phi = m->phi + p->phi;
        for (int a = 0; a < rod->na; phi += p->count[a], a++) {
            const int i = rod->comp[a];
            if (!rod->law->covers[i]) continue;
            double excess = s.stress[i];
            for (int j = 0; j < 6; j++) excess -= at->H[6 * i + j] * e[j];
            double *to = r + rod->dof[a] + p->first[a];
            for (int j = 0; j < p->count[a]; j++) to[j] += p->w * excess * phi[j];
        }
    }
}

void snw_nonlinear_laws_add(const snw_model *m, const double *q, snw_work *w) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (rod->law)
            snw_nonlinear_law_add(m, rod, q, w->r, w->law_strain + (ptrdiff_t)6 * rod->law_adr,
                                  &w->law_fault);
    }
}

void snw_nonlinear_laws_tangent(const snw_model *m, double cq, const snw_work *w, snw_matrix T) {
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        bool active[6];
        active_components(rod, active);
        for (int k = 0; rod->law && k < rod->npoint; k++) {
            const snw_point *p = &m->point[rod->point0 + k];
            const snw_section_law_point *at = &rod->law_point[k];
            snw_section_response s;
            double value;
            int component;
            (void)snw_section_law_at(rod->law, at, active,
                                     w->law_strain + (ptrdiff_t)6 * (rod->law_adr + k),
                                     SNW_WANT_TANGENT, &s, &value, &component);
            const double *pa = m->phi + p->phi;
            for (int a = 0; a < rod->na; pa += p->count[a], a++) {
                const double *pb = m->phi + p->phi;
                for (int b = 0; b < rod->na; pb += p->count[b], b++) {
                    const int i = 6 * rod->comp[a] + rod->comp[b];
                    const double c = cq * p->w * (s.tangent[i] - at->H[i]);
                    if (c == 0) continue;
                    const int row = rod->dof[a] + p->first[a], column = rod->dof[b] + p->first[b];
                    for (int n = 0; n < p->count[b]; n++) {
                        snw_column_entries to = snw_matrix_column(T, column + n);
                        for (int l = 0; l < p->count[a]; l++)
                            *snw_column_at(&to, row + l) += c * pa[l] * pb[n];
                    }
                }
            }
        }
    }
}

// Response of the section at point k of a rod with a law, and its strain e. Faults of the law are
// reported by snw_nonlinear_law_add.
static snw_section_response response_at(const snw_model *m, const snw_rod *rod, int k,
                                        const bool active[6], const double *q, int want,
                                        double e[6]) {
    snw_section_response s;
    double value;
    int component;
    strain_at(m, rod, &m->point[rod->point0 + k], q, e);
    (void)snw_section_law_at(rod->law, &rod->law_point[k], active, e, want, &s, &value, &component);
    return s;
}

double snw_nonlinear_law_energy(const snw_model *m, const snw_rod *rod, const double *q) {
    bool active[6];
    double sum = 0;
    active_components(rod, active);
    for (int k = 0; rod->law && k < rod->npoint; k++) {
        double e[6];
        snw_section_response s = response_at(m, rod, k, active, q, SNW_WANT_ENERGY, e);
        const double *H = rod->law_point[k].H;
        for (int i = 0; i < 36; i++) s.energy -= 0.5 * e[i / 6] * H[i] * e[i % 6];
        sum += m->point[rod->point0 + k].w * s.energy;
    }
    return sum;
}

// ---- definiteness

snw_weakest_section snw_nonlinear_laws_weakest(const snw_model *m, const double *q) {
    snw_weakest_section out = {.eigenvalue = INFINITY};
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        bool active[6];
        active_components(rod, active);
        for (int k = 0; rod->law && k < rod->npoint; k++) {
            double e[6];
            const snw_section_response s = response_at(m, rod, k, active, q, SNW_WANT_TANGENT, e);
            const double least =
                snw_section_law_weakest(rod->law, active, rod->law_point[k].H, s.tangent);
            if (!(least < out.eigenvalue)) continue;
            const double x = m->point[rod->point0 + k].x;
            out = (snw_weakest_section){.eigenvalue = least, .rod = r, .x = x};
            for (int i = 0; i < 6; i++) out.strain[i] = e[i];
        }
    }
    return out;
}
