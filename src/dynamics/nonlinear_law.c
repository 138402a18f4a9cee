// SPDX-License-Identifier: MIT
//
// Forces, tangent and energy by which nonlinear section laws exceed the linear law of the same rod
// without strain, theory.md (2.4.3):  sum over the points of w Phi' (stress(e) - H e), e = Phi q.
#include "dynamics/nonlinear_law.h"

#include <math.h>
#include <stdio.h>

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
        found.kind = snw_section_law_at(rod->law, at, active, e, 0, &s, &found.value,
                                        &found.component);
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

void snw_nonlinear_laws_tangent(const snw_model *m, double cq, const snw_work *w, size_t ld,
                                double *T) {
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
                    const size_t row = (size_t)(rod->dof[a] + p->first[a]),
                                 column = (size_t)(rod->dof[b] + p->first[b]);
                    for (int n = 0; n < p->count[b]; n++) {
                        double *to = T + (column + (size_t)n) * ld + row;
                        for (int l = 0; l < p->count[a]; l++) to[l] += c * pa[l] * pb[n];
                    }
                }
            }
        }
    }
}

double snw_nonlinear_law_energy(const snw_model *m, const snw_rod *rod, const double *q) {
    bool active[6];
    double sum = 0;
    active_components(rod, active);
    for (int k = 0; rod->law && k < rod->npoint; k++) {
        const snw_point *p = &m->point[rod->point0 + k];
        const snw_section_law_point *at = &rod->law_point[k];
        double e[6], value;
        int component;
        snw_section_response s;
        strain_at(m, rod, p, q, e);
        (void)snw_section_law_at(rod->law, at, active, e, SNW_WANT_ENERGY, &s, &value, &component);
        for (int i = 0; i < 36; i++) s.energy -= 0.5 * e[i / 6] * at->H[i] * e[i % 6];
        sum += p->w * s.energy;
    }
    return sum;
}

// ---- definiteness

// Smallest x'Ax / x'Bx of symmetric n x n matrices, n <= 6, rows of 6, B with positive diagonal:
// A scaled by the diagonal of B, then Jacobi's rotations.
static double smallest_eigenvalue(int n, double A[36]) {
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, size = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) *(i == j ? &size : &off) += A[6 * i + j] * A[6 * i + j];
        }
        if (!(off > 1e-26 * size)) break;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) {
                if (A[6 * i + j] == 0) continue;
                const double angle = 0.5 * atan2(2 * A[6 * i + j], A[7 * i] - A[7 * j]);
                const double c = cos(angle), s = sin(angle);
                for (int k = 0; k < n; k++) { // columns i and j
                    const double x = A[6 * k + i], y = A[6 * k + j];
                    A[6 * k + i] = c * x + s * y, A[6 * k + j] = c * y - s * x;
                }
                for (int k = 0; k < n; k++) { // rows i and j
                    const double x = A[6 * i + k], y = A[6 * j + k];
                    A[6 * i + k] = c * x + s * y, A[6 * j + k] = c * y - s * x;
                }
            }
        }
    }
    double least = A[0];
    for (int i = 1; i < n; i++) least = fmin(least, A[7 * i]);
    return least;
}

snw_weakest_section snw_nonlinear_laws_weakest(const snw_model *m, const double *q) {
    snw_weakest_section out = {.eigenvalue = INFINITY};
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        bool active[6];
        active_components(rod, active);
        for (int k = 0; rod->law && k < rod->npoint; k++) {
            const snw_point *p = &m->point[rod->point0 + k];
            const snw_section_law_point *at = &rod->law_point[k];
            double e[6], value, A[36] = {0};
            int component, n = 0, of[6];
            snw_section_response s;
            strain_at(m, rod, p, q, e);
            (void)snw_section_law_at(rod->law, at, active, e, SNW_WANT_TANGENT, &s, &value,
                                     &component);
            for (int a = 0; a < rod->na; a++) {
                const int i = rod->comp[a];
                if (rod->law->covers[i] && at->H[7 * i] > 0) of[n++] = i;
            }
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++)
                    A[6 * i + j] = s.tangent[6 * of[i] + of[j]] /
                                   sqrt(at->H[7 * of[i]] * at->H[7 * of[j]]);
            }
            const double least = n > 0 ? smallest_eigenvalue(n, A) : INFINITY;
            if (!(least < out.eigenvalue)) continue;
            out = (snw_weakest_section){.eigenvalue = least, .rod = r, .x = p->x};
            for (int i = 0; i < 6; i++) out.strain[i] = e[i];
        }
    }
    return out;
}

void snw_weakest_section_describe(const snw_model *m, const snw_weakest_section *w, char *text,
                                  size_t size) {
    const double *e = w->strain;
    (void)snprintf(text, size,
                   "the law of rod '%.60s' at x = %.4g m has a smallest stiffness of %.3g of that "
                   "without strain (twist %.3g, bend_y %.3g, bend_z %.3g 1/m, stretch %.3g, "
                   "shear_y %.3g, shear_z %.3g)",
                   m->label.link[m->rod[w->rod].link].name, w->x, w->eigenvalue, e[0], e[1], e[2],
                   e[3], e[4], e[5]);
}

void snw_law_fault_describe(const snw_model *m, const snw_law_fault *fault, char *text,
                            size_t size) {
    const char *rod = m->label.link[m->rod[fault->rod].link].name;
    text[0] = '\0';
    switch (fault->kind) {
    case SNW_SECTION_OK:
        break;
    case SNW_SECTION_CRUSHED:
        (void)snprintf(text, size,
                       "a fibre of rod '%.60s' would be crushed at x = %.4g m (its stretch would be "
                       "%.3g, and must stay positive)",
                       rod, fault->x, fault->value);
        break;
    case SNW_SECTION_OUTSIDE:
        (void)snprintf(text, size,
                       "%s of rod '%.60s' would leave its table at x = %.4g m with %.4g; give a "
                       "longer table",
                       snw_strain_name[fault->component], rod, fault->x, fault->value);
        break;
    case SNW_SECTION_UNDEFINED:
        (void)snprintf(text, size,
                       "the law of rod '%.60s' would have no finite value at x = %.4g m", rod,
                       fault->x);
        break;
    }
}
