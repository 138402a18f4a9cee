// SPDX-License-Identifier: MIT
//
// Nodes of a rod: quadrature points of the inertia, breaks of the strain bases, attachments and the
// tip; with `nodes: auto` their number, from errors predicted at a trial shape (theory.md 3).
#include "model/layout.h"

#include "base/fail.h"
#include "math/pose_grid.h"
#include "math/quadrature.h"
#include "math/vector.h"
#include "model/rod_mesh.h"
#include "model/rod_quadrature.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_NODES = 20000,
    MOST_PER_CELL = 16, // where there are many cells
    AUTO_MOST = 200,    // nodes chosen automatically
    PATIENCE = 32,      // nodes up to which refinement goes on although the error does not decrease
    MOST_CELLS = 400,
    GIVEN_DEGREE = 6 // polynomial degree assumed for strains given by laws
};

// Relative errors of tip and integrals at which `nodes: auto` stops.
static const double TIP_ERROR = 1e-6, INTEGRAL_ERROR = SNW_QUADRATURE_AIM;

// Relative weight of nodes in reserve (theory.md 3.16): negligible, but positive, which marks them
// as quadrature nodes.
static const double RESERVE_WEIGHT = 1e-100;

static int layout_compare_nodes(const void *a, const void *b) {
    const snw_node_at *p = a, *q = b;
    if (p->x != q->x) return p->x > q->x ? 1 : -1;
    return (p->w > 0) - (q->w > 0);
}

// out->breaks <- union of the breaks of all strain components, m.
static snw_status layout_gather_breaks(const snw_rod *rod, snw_pool *pool, snw_layout *out) {
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
    qsort(x, (size_t)n, sizeof *x, snw_compare_doubles);
    int count = 1;
    for (int i = 1; i < n; i++) {
        if (x[i] - x[count - 1] > 1e-12 * rod->L) x[count++] = x[i];
    }
    x[0] = 0, x[count - 1] = rod->L;
    out->breaks = x;
    out->nelem = count - 1;
    out->global = true;
    for (int a = 0; a < rod->na; a++) {
        const snw_basis *b = &rod->basis[a];
        out->global &= !snw_basis_piecewise(b->kind) && b->nelem == 1;
    }
    return SNW_OK;
}

// out->node <- Gauss points of the cells, reserve nodes at the root, breaks, tip and stations.
static snw_status place_nodes(const snw_rod *rod, int nstation, const double *station,
                              snw_pool *pool, snw_layout *out) {
    const int n = out->per_cell, spare = out->room > 0 ? out->room - out->ncell : 0;
    const int nquadrature = (out->ncell + spare) * n, most = nquadrature + out->nelem + nstation;
    snw_node_at *node = snw_pool_array(pool, (size_t)most, sizeof *node);
    double *x = snw_pool_array(pool, (size_t)n, sizeof *x);
    double *w = snw_pool_array(pool, (size_t)n, sizeof *w);
    if (!node || !x || !w) return SNW_E_MEMORY;
    if (rod->rule.kind == SNW_RULE_CHEBYSHEV) {
        snw_grid_quadrature(n + 2, x, w);
    } else {
        snw_gauss(n, x, w);
    }
    int k = 0;
    for (int e = 0; e < out->ncell; e++) {
        const double a = out->cell[e], b = out->cell[e + 1];
        for (int i = 0; i < n; i++) {
            node[k++] =
                (snw_node_at){.x = a + (b - a) * x[i], .w = (b - a) * w[i], .c = i, .element = e};
        }
    }
    while (k < nquadrature) node[k++] = (snw_node_at){.w = RESERVE_WEIGHT * rod->L, .c = -1};
    // breaks and tip, then stations that are not among them; a station at a quadrature point gets a
    // node of its own, so that a node is either a quadrature point or an attachment
    for (int e = 1; e <= out->nelem; e++) {
        node[k++] = (snw_node_at){.x = out->breaks[e], .c = -1, .element = e - 1};
    }
    for (int i = 0; i < nstation; i++) {
        bool found = station[i] <= 1e-12 * rod->L; // the root is the parent's frame
        for (int j = nquadrature; j < k && !found; j++) {
            found = fabs(node[j].x - station[i]) <= 1e-12 * rod->L;
        }
        if (!found) node[k++] = (snw_node_at){.x = station[i], .c = -1};
    }
    qsort(node, (size_t)k, sizeof *node, layout_compare_nodes);
    out->node = node;
    out->nnode = k;
    out->nodes = nquadrature;
    return SNW_OK;
}

// Tip position of the trial shape with every segment divided into `cuts` parts.
static snw_vec3 trial_tip(snw_trial *trial, const snw_rod *rod, const snw_layout *lay, int cuts) {
    const double *c = rod->rule.c;
    snw_se3 g = snw_se3_identity();
    double from = 0;
    for (int k = 0; k < lay->nnode; k++) {
        const double to = lay->node[k].x, h = (to - from) / cuts;
        for (int i = 0; i < cuts; i++) {
            const double a = from + i * h, middle = a + 0.5 * h;
            snw_twist xi[SNW_MAGNUS_POINTS];
            for (int j = 0; j < rod->nc; j++) {
                xi[j] = snw_trial_strain(trial, a + c[j] * h, middle);
            }
            g = snw_se3_mul(g, snw_se3_exp(snw_rule_value(&rod->rule, h, xi)));
        }
        from = to;
    }
    return g.p;
}

// Trial shape for the prediction of the geometry error: half a turn along the rod in each active
// angular component, with weight on the first and the last shape function.
static snw_trial half_turn(const snw_desc *desc, const snw_rod *rod) {
    return (snw_trial){.desc = desc, .rod = rod, .bent = 1};
}

static snw_twist layout_trial_strain(const void *user, double x) {
    snw_trial t = *(const snw_trial *)user;
    return snw_trial_strain(&t, x, x);
}

// lay->geometry <- error of the tip of the trial shape, against segments divided into four.
static void layout_predict(const snw_desc *desc, const snw_rod *rod, snw_layout *lay) {
    snw_trial t = half_turn(desc, rod);
    if (rod->rule.kind == SNW_RULE_CHEBYSHEV) {
        lay->geometry = snw_grid_tip_error(rod->rule.number, rod->L, layout_trial_strain, &t);
        return;
    }
    const snw_vec3 coarse = trial_tip(&t, rod, lay, 1), fine = trial_tip(&t, rod, lay, 4);
    lay->geometry = snw_norm(snw_sub(coarse, fine)) / rod->L;
}

// ---- rods with a tolerance

static void trial_at(void *user, double x, double toward, snw_twist xi[3]) {
    xi[0] = snw_trial_strain(user, x, toward);
    xi[1] = xi[2] = (snw_twist){0};
}

// out->room <- four times the number of cells needed for the trial shape, or that of the given
// number of nodes; a multiple of the number of elements.
static snw_status layout_choose_room(const snw_desc *desc, const snw_rod *rod, snw_pool *pool,
                                     snw_layout *out) {
    const snw_rod_desc *d = &desc->link[rod->link].rod;
    snw_trial t = half_turn(desc, rod);
    double *cell = snw_pool_array(pool, MOST_CELLS + 1, sizeof *cell);
    if (!cell) return SNW_E_MEMORY;
    snw_rod_mesh c = {
        .rule = &rod->rule, .L = rod->L, .strain = trial_at, .user = &t, .is_static = true};
    snw_rod_mesh_errors(&c);
    const int least = out->least * out->nelem;
    int n = d->nodes / SNW_ROD_MESH_CELL_NODES;
    if (n == 0) {
        n = 4 * snw_rod_mesh_march(&c, out->nelem, out->breaks, out->least,
                                   SNW_ROD_MESH_AIM * d->tolerance, MOST_CELLS / 4, cell);
        if (n == 0) n = MOST_CELLS;
    }
    if (n < least) n = least;
    out->room = (n + out->nelem - 1) / out->nelem * out->nelem;
    return SNW_OK;
}

// out->cell <- cells of the description, or initially out->room cells of equal length per element.
static snw_status place_cells(const snw_rod_desc *d, snw_pool *pool, snw_layout *out) {
    out->per_cell = SNW_ROD_MESH_CELL_NODES;
    const int each = out->room / out->nelem;
    out->ncell = d->ncell > 0 ? d->ncell : out->room;
    double *cell = snw_pool_array(pool, (size_t)out->ncell + 1, sizeof *cell);
    if (!cell) return SNW_E_MEMORY;
    out->cell = cell;
    if (d->ncell > 0) {
        memcpy(cell, d->cell, ((size_t)d->ncell + 1) * sizeof *cell);
        return SNW_OK;
    }
    for (int i = 0; i < out->room; i++) {
        const double a = out->breaks[i / each], b = out->breaks[i / each + 1];
        cell[i] = a + (b - a) * (i % each) / each;
    }
    cell[out->room] = out->breaks[out->nelem];
    return SNW_OK;
}

// `nodes: auto`: increase the number of points from `enough` until the errors of the tip and of the
// integrals at trial shapes are below TIP_ERROR and INTEGRAL_ERROR. Where data are discontinuous
// along the rod, stop when more points do not reduce the error.
static snw_status layout_choose(const snw_desc *desc, const snw_rod *rod, int nstation,
                                const double *station, int enough, snw_rod_quadrature *q,
                                snw_pool *pool, snw_layout *out) {
    double before = INFINITY;
    int n = enough;
    for (;;) {
        out->per_cell = n;
        SNW_TRY(place_nodes(rod, nstation, station, pool, out));
        layout_predict(desc, rod, out);
        out->quadrature = snw_rod_quadrature_error(q, out);
        const bool helps = out->nodes < PATIENCE || out->quadrature < 0.7 * before;
        const bool inaccurate = out->quadrature > INTEGRAL_ERROR && helps;
        const bool many =
            out->nodes >= AUTO_MOST && n > 1; // many elements may need two points each
        if ((out->geometry <= TIP_ERROR && !inaccurate) || many) return SNW_OK;
        before = out->quadrature;
        n += (n + 3) / 4;
    }
}

// Nodes by the number in the description; their errors unless q is NULL.
static snw_status given_nodes(const snw_desc *desc, const snw_rod *rod, int nstation,
                              const double *station, snw_rod_quadrature *q, snw_pool *pool,
                              snw_layout *out, snw_error *err) {
    const snw_link_desc *link = &desc->link[rod->link];
    const snw_rod_desc *d = &link->rod;
    const int rules = out->ncell;
    const int most = rules > MOST_NODES / MOST_PER_CELL ? MOST_PER_CELL * rules : MOST_NODES;
    out->per_cell = (d->nodes + rules - 1) / rules;
    // the points of one grid between its ends
    if (rod->rule.kind == SNW_RULE_CHEBYSHEV) out->per_cell = rod->rule.number - 2;
    if (out->per_cell > most / rules) {
        const snw_status s = snw_fail(err, SNW_E_MODEL, "rod '%s': %d nodes are more than %d",
                                      link->name, d->nodes, most);
        return snw_fail_at_location(err, s, d->nodes_location.file, d->nodes_location.line,
                                    d->nodes_location.column);
    }
    SNW_TRY(place_nodes(rod, nstation, station, pool, out));
    if (!q) return SNW_OK;
    layout_predict(desc, rod, out);
    out->quadrature = snw_rod_quadrature_error(q, out);
    return SNW_OK;
}

snw_status snw_layout_rod(const snw_desc *desc, const snw_rod *rod, int nstation,
                          const double *station, snw_pool *pool, snw_layout *out, snw_error *err) {
    const snw_rod_desc *d = &desc->link[rod->link].rod;
    *out = (snw_layout){0};
    SNW_TRY(layout_gather_breaks(rod, pool, out));
    out->ncell = out->global ? 1 : out->nelem;
    double *whole = snw_pool_array(pool, 2, sizeof *whole);
    if (!whole) return SNW_E_MEMORY;
    whole[1] = rod->L;
    out->cell = out->global ? whole : out->breaks;
    SNW_ASSERT(out->ncell > 0);
    int degree = 0;
    for (int a = 0; a < rod->na; a++) {
        const int p = snw_basis_degree(&rod->basis[a]);
        if (p > degree) degree = p;
    }
    // stresses of nonlinear laws are no polynomials in the strains: twice the points
    const int strain = (out->global ? 2 * degree + 16 : degree + 4) * (snw_rod_has_law(d) ? 2 : 1);
    if (snw_rod_given(d) && degree < GIVEN_DEGREE) degree = GIVEN_DEGREE;
    // twice the points needed to integrate products of two shape functions
    const int enough = out->global ? 2 * degree + 4 : degree + 1;
    if (d->tolerance > 0) {
        out->least = (enough + SNW_ROD_MESH_CELL_NODES - 1) / SNW_ROD_MESH_CELL_NODES;
        SNW_TRY(layout_choose_room(desc, rod, pool, out));
        SNW_TRY(place_cells(d, pool, out));
        SNW_TRY(place_nodes(rod, nstation, station, pool, out));
        layout_predict(desc, rod, out);
    } else if (d->strain_points > 0) {
        out->strain_points = d->strain_points;
        return given_nodes(desc, rod, nstation, station, NULL, pool, out, err);
    } else {
        snw_rod_quadrature *q;
        SNW_TRY(snw_rod_quadrature_create(desc, rod, out, &q));
        const snw_status s =
            d->nodes > 0 || rod->rule.kind == SNW_RULE_CHEBYSHEV
                ? given_nodes(desc, rod, nstation, station, q, pool, out, err)
                : layout_choose(desc, rod, nstation, station, enough, q, pool, out);
        snw_rod_quadrature_destroy(q);
        SNW_TRY(s);
    }
    // at least as many as nodes, so that more nodes refine all integrals
    const int points = snw_rod_strain_points(desc, rod, out, strain);
    out->strain_points = points > out->per_cell ? points : out->per_cell;
    return SNW_OK;
}
