// SPDX-License-Identifier: MIT
//
// Strain field of a rod (theory.md (2.1)): shape functions at a section, and the strain for given
// coordinates.
#include "model/model.h"

#include "math/pose_grid.h"
#include "math/quadrature.h"

#include <math.h>

// Element of the basis that contains x in [0, 1], by bisection.
static int element_of(const snw_basis *b, double x) {
    int low = 0, high = b->nelem; // break(low) <= x < break(high)
    while (high - low > 1) {
        const int mid = (low + high) / 2;
        if (x < snw_basis_break(b, mid)) {
            high = mid;
        } else {
            low = mid;
        }
    }
    return low;
}

// u = x/L, clamped to its element against rounding.
static double rod_clamp(const snw_basis *b, int element, double u) {
    return fmin(fmax(u, snw_basis_break(b, element)), snw_basis_break(b, element + 1));
}

int snw_rod_basis(const snw_rod *rod, double x, double toward, int first[6], int count[6],
                  double *phi) {
    int n = 0;
    for (int a = 0; a < rod->na; a++) {
        const snw_basis *b = &rod->basis[a];
        const int e = element_of(b, toward / rod->L);
        snw_basis_support(b, e, &first[a], &count[a]);
        snw_basis_eval(b, e, rod_clamp(b, e, x / rod->L), phi + n);
        n += count[a];
    }
    return n;
}

int snw_rod_basis_d1(const snw_rod *rod, double x, double *d) {
    int n = 0;
    for (int a = 0; a < rod->na; a++) {
        const snw_basis *b = &rod->basis[a];
        const int e = element_of(b, x / rod->L);
        int first, count;
        snw_basis_support(b, e, &first, &count);
        snw_basis_d1(b, e, rod_clamp(b, e, x / rod->L), d + n);
        for (int j = 0; j < count; j++) d[n++] /= rod->L;
    }
    return n;
}

int snw_rod_slice(const snw_rod *rod, double from, double to, snw_slice *out, double *phi,
                  snw_twist *xi0) {
    const double h = to - from, *c = rod->rule.c;
    *out = (snw_slice){.x = from, .h = h, .field = -1};
    int n = 0;
    for (int k = 0; k < rod->nc; k++) {
        const double x = from + c[k] * h;
        n += snw_rod_basis(rod, x, from + 0.5 * h, out->first, out->count, phi + n);
        xi0[k] = snw_rod_rest(rod, x);
        // a given component is the total strain
        for (int e = 0; e < 6; e++) {
            if (rod->given[e]) xi0[k].e[e] = e == SNW_STRETCH;
        }
    }
    for (int a = 0; a < rod->na; a++) out->ncol += out->count[a];
    if (rod->rule.kind != SNW_RULE_CHEBYSHEV) return n;
    double points[SNW_GRID_MOST];
    snw_grid_points(rod->rule.number, points);
    snw_grid_row(rod->rule.number, points, to / rod->L, phi + n);
    return n + rod->rule.number - 1;
}

int snw_rod_twist_integrals(const snw_rod *rod, double x, double *c) {
    enum { MOST_POINTS = 200 };
    double at[MOST_POINTS], w[MOST_POINTS], phi[SNW_BASIS_MAX_FUNCTIONS];
    int a = 0;
    while (a < rod->na && rod->comp[a] != SNW_TWIST) a++;
    if (a == rod->na) return 0;
    const snw_basis *b = &rod->basis[a];
    const int exact = snw_basis_degree(b) / 2 + 1, n = exact < MOST_POINTS ? exact : MOST_POINTS;
    snw_gauss(n, at, w);
    for (int j = 0; j < b->nfun; j++) c[j] = 0;
    for (int e = 0; e < b->nelem && snw_basis_break(b, e) * rod->L < x; e++) {
        const double from = snw_basis_break(b, e), to = fmin(snw_basis_break(b, e + 1), x / rod->L);
        int first, count;
        snw_basis_support(b, e, &first, &count);
        for (int i = 0; i < n; i++) {
            snw_basis_eval(b, e, from + (to - from) * at[i], phi);
            for (int j = 0; j < count; j++) c[first + j] += rod->L * (to - from) * w[i] * phi[j];
        }
    }
    return b->nfun;
}

snw_twist snw_rod_strain(const snw_rod *rod, const double *q, double t, double x) {
    snw_twist rest[4], xi;
    if (rod->rest_varies)
        snw_rod_rest_material(rod, snw_rod_stock(rod, q[rod->feed_q], snw_rod_passing(rod, x)),
                              rest);
    xi = rod->rest_varies ? rest[0] : snw_rod_rest(rod, x);
    for (int i = 0; i < 6; i++) {
        if (!rod->given[i]) continue;
        const snw_at at = {.t = t, .x = x, .L = rod->L};
        xi.e[i] = snw_expr_value(rod->given[i], at) + (i == SNW_STRETCH);
    }
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    (void)snw_rod_basis(rod, x, x < rod->L ? x : rod->L * (1 - 1e-15), first, count, phi);
    const double *at = phi;
    for (int a = 0; a < rod->na; a++) {
        const double *c = q + rod->dof[a] + first[a] + rod->shift;
        for (int j = 0; j < count[a]; j++) xi.e[rod->comp[a]] += at[j] * c[j];
        at += count[a];
    }
    return xi;
}

// Is component a computed in another basis than that of the file?
static bool rod_basis_replaced(const snw_model *m, const snw_rod *rod, int a) {
    return m->desc->link[rod->link].rod.basis[rod->comp[a]].kind != rod->basis[a].kind;
}

bool snw_rod_as_declared(const snw_model *m, const snw_rod *rod) {
    for (int a = 0; a < rod->na; a++) {
        if (rod_basis_replaced(m, rod, a)) return false;
    }
    return true;
}

void snw_rod_declare(const snw_model *m, const snw_rod *rod, double *x) {
    for (int a = 0; a < rod->na; a++) {
        if (rod_basis_replaced(m, rod, a))
            snw_basis_to_monomials(rod->nfun[a], x + rod->dof[a] - rod->dof0);
    }
}
