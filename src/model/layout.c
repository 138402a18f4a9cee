// SPDX-License-Identifier: MIT
#include "model/layout.h"

#include "base/fail.h"
#include "math/quadrature.h"
#include "math/se3_tangent.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_NODES = 20000,
    AUTO_MOST = 200,
    GIVEN_DEGREE = 6
}; // the last: of strains given by laws, for want of a basis

static int rising(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int rising_node(const void *a, const void *b) {
    const snw_node_at *p = a, *q = b;
    if (p->x != q->x) return p->x > q->x ? 1 : -1;
    return (p->w > 0) - (q->w > 0);
}

// union of the components' breaks, in metres
static snw_status gather_breaks(const snw_rod *rod, snw_pool *pool, snw_layout *out) {
    int most = 2;
    for (int a = 0; a < rod->na; a++) most += rod->basis[a].nelem + 1;
    double *x = snw_pool_array(pool, (size_t)most, sizeof *x);
    if (!x) return SNW_E_MEMORY;
    int n = 0;
    x[n++] = 0, x[n++] = rod->L;
    for (int a = 0; a < rod->na; a++) {
        for (int i = 0; i <= rod->basis[a].nelem; i++) {
            x[n++] = rod->L * snw_basis_break(&rod->basis[a], i);
        }
    }
    qsort(x, (size_t)n, sizeof *x, rising);
    int kept = 1;
    for (int i = 1; i < n; i++) {
        if (x[i] - x[kept - 1] > 1e-12 * rod->L) x[kept++] = x[i];
    }
    x[0] = 0, x[kept - 1] = rod->L;
    out->breaks = x;
    out->nelem = kept - 1;
    out->global = true;
    for (int a = 0; a < rod->na; a++) out->global &= !snw_basis_piecewise(rod->basis[a].kind);
    return SNW_OK;
}

static snw_status place_nodes(const snw_rod *rod, int nstation, const double *station,
                              snw_pool *pool, snw_layout *out) {
    const int rules = out->global ? 1 : out->nelem, n = out->per_element;
    const int most = rules * n + out->nelem + nstation;
    snw_node_at *node = snw_pool_array(pool, (size_t)most, sizeof *node);
    double *x = snw_pool_array(pool, (size_t)n, sizeof *x);
    double *w = snw_pool_array(pool, (size_t)n, sizeof *w);
    if (!node || !x || !w) return SNW_E_MEMORY;
    snw_gauss(n, x, w);
    int k = 0;
    for (int e = 0; e < rules; e++) {
        const double a = out->global ? 0 : out->breaks[e];
        const double b = out->global ? rod->L : out->breaks[e + 1];
        for (int i = 0; i < n; i++) {
            node[k++] =
                (snw_node_at){.x = a + (b - a) * x[i], .w = (b - a) * w[i], .c = i, .element = e};
        }
    }
    // breaks and tip, then stations that are not already there; a station on a quadrature point becomes
    // a node of its own at the same place, so that a node is either a slice of the rod or an attachment
    for (int e = 1; e <= out->nelem; e++) {
        node[k++] = (snw_node_at){.x = out->breaks[e], .c = -1, .element = e - 1};
    }
    for (int i = 0; i < nstation; i++) {
        bool found = station[i] <= 1e-12 * rod->L; // the root is the parent's frame
        for (int j = rules * n; j < k && !found; j++) {
            found = fabs(node[j].x - station[i]) <= 1e-12 * rod->L;
        }
        if (!found) node[k++] = (snw_node_at){.x = station[i], .c = -1};
    }
    qsort(node, (size_t)k, sizeof *node, rising_node);
    out->node = node;
    out->nnode = k;
    out->nodes = rules * n;
    return SNW_OK;
}

// strain used to predict the geometry error: each allowed component bends, twists or stretches by a wave of the
// first and the last function, a half turn along the rod
static snw_twist trial_strain(const snw_rod_desc *d, const snw_rod *rod, double x, double toward,
                              double *phi) {
    int first[6], count[6];
    (void)snw_rod_basis(rod, x, toward, first, count, phi);
    snw_twist xi = snw_rod_rest(d, x);
    const double *at = phi;
    for (int a = 0; a < rod->na; a++) {
        const double size = rod->comp[a] < 3 ? M_PI / rod->L : 0.05;
        double v = 0;
        for (int j = 0; j < count[a]; j++) {
            const int f = first[a] + j;
            v += at[j] * (f == 0 ? 0.7 : f == rod->nfun[a] - 1 ? 0.5 : 0.2 / (1 + f));
        }
        xi.e[rod->comp[a]] += size * v;
        at += count[a];
    }
    return xi;
}

// tip position of the trial shape with every segment cut in `cuts`
static snw_vec3 trial_tip(const snw_rod_desc *d, const snw_rod *rod, const snw_layout *lay,
                          int cuts, double *phi) {
    const double *c = rod->rule.c;
    snw_se3 g = snw_se3_identity();
    double from = 0;
    for (int k = 0; k < lay->nnode; k++) {
        const double to = lay->node[k].x, h = (to - from) / cuts;
        for (int i = 0; i < cuts; i++) {
            const double a = from + i * h, middle = a + 0.5 * h;
            snw_twist xi[SNW_MAGNUS_POINTS];
            for (int j = 0; j < rod->nc; j++) {
                xi[j] = trial_strain(d, rod, a + c[j] * h, middle, phi);
            }
            g = snw_se3_mul(g, snw_se3_exp(snw_rule_value(&rod->rule, h, xi)));
        }
        from = to;
    }
    return g.p;
}

static snw_status predict(const snw_rod_desc *d, const snw_rod *rod, snw_pool *pool,
                          snw_layout *lay) {
    double *phi = snw_pool_array(pool, 6 * SNW_BASIS_MAX_FUNCTIONS, sizeof *phi);
    if (!phi) return SNW_E_MEMORY;
    const snw_vec3 coarse = trial_tip(d, rod, lay, 1, phi), fine = trial_tip(d, rod, lay, 4, phi);
    lay->geometry = snw_norm(snw_sub(coarse, fine)) / rod->L;
    return SNW_OK;
}

snw_status snw_layout_rod(const snw_rod_desc *d, const snw_rod *rod, const char *name, int nstation,
                          const double *station, snw_pool *pool, snw_layout *out, snw_error *err) {
    *out = (snw_layout){0};
    SNW_TRY(gather_breaks(rod, pool, out));
    const int rules = out->global ? 1 : out->nelem;
    SNW_ASSERT(rules > 0);
    int degree = 0;
    for (int a = 0; a < rod->na; a++) {
        const int p = snw_basis_degree(&rod->basis[a]);
        if (p > degree) degree = p;
    }
    if (d->nodes > 0) {
        out->per_element = (d->nodes + rules - 1) / rules;
        if (out->per_element > MOST_NODES / rules) {
            const snw_status s = snw_fail(err, SNW_E_MODEL, "rod '%s': %d nodes are more than %d",
                                          name, d->nodes, MOST_NODES);
            return snw_fail_place(err, s, d->nodes_place.file, d->nodes_place.line,
                                  d->nodes_place.column);
        }
        SNW_TRY(place_nodes(rod, nstation, station, pool, out));
        return predict(d, rod, pool, out);
    }
    if (snw_rod_given(d) && degree < GIVEN_DEGREE) degree = GIVEN_DEGREE;
    // auto: enough points to integrate the square of the basis twice over, then more until the trial shape's
    // tip is right to 1e-6 L
    int n = out->global ? 2 * degree + 4 : degree + 1;
    for (;;) {
        out->per_element = n;
        SNW_TRY(place_nodes(rod, nstation, station, pool, out));
        SNW_TRY(predict(d, rod, pool, out));
        if (out->geometry <= 1e-6 || out->nodes >= AUTO_MOST) return SNW_OK;
        n += (n + 3) / 4;
    }
}
