// SPDX-License-Identifier: MIT
//
// Reactions of the projective form (Ali 2011, 3.73 to 3.85; theory.md (6.8.4)): from the leaves to
// the root, the contacts of each body take the part of the wrench arriving there that lies in the
// span of their rows, and pass the rest on. For the balance of prescribed shapes, locomotion.c.
#include "constraint/locomotion_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

enum { MAX_ROWS = 24 }; // of one body: four anchors

// Segment on whose wrench a contact acts: sites without mass are rigidly attached to their body.
static int body_of_row(const snw_model *m, const snw_locomotion_row *row) {
    int seg = m->loop[row->loop].b;
    while (m->seg[seg].kind == SNW_SEG_POSE && !m->seg[seg].has_mass && m->seg[seg].parent > 0) {
        seg = m->seg[seg].parent;
    }
    return seg;
}

snw_status snw_locomotion_check_projective(const snw_locomotion *lo, snw_error *err) {
    const snw_model *m = lo->m;
    if (lo->opts.least_efforts) {
        return snw_fail(err, SNW_E_MODEL,
                        "'least: efforts' chooses all reactions and leaves none to the projective "
                        "form; remove one of 'least' and 'form'");
    }
    if (m->ngrid) {
        return snw_fail(err, SNW_E_MODEL,
                        "the projective form of reactions does not support rods on one grid (rod "
                        "'%s' has integrator: chebyshev); use 'form: distributive', or magnus 6",
                        m->label.link[m->rod[m->grid[0].rod].link].name);
    }
    for (int k = 0; k < lo->nr + lo->npassive; k++) {
        const snw_locomotion_row *row = &lo->row[k];
        const char *reason = row->servo || row->loop < 0 ? "motors with 'hold', 'same' or 'when'"
                             : !m->loop[row->loop].nonholonomic   ? "loops"
                             : m->loop[row->loop].sliding_station ? "contacts that slide"
                             : m->path[m->seg[m->loop[row->loop].a].path].n > 0
                                 ? "contacts between links"
                                 : NULL;
        int rows = 0;
        for (int i = 0; !reason && i < lo->nr + lo->npassive; i++)
            rows += lo->row[i].loop >= 0 && body_of_row(m, &lo->row[i]) == body_of_row(m, row);
        if (rows > MAX_ROWS) reason = "bodies with more than 24 rows of contacts";
        if (!reason) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "the projective form of reactions does not support %s ('%s'); use 'form: "
                        "distributive'",
                        reason, snw_locomotion_row_name(lo, k));
    }
    return SNW_OK;
}

// Rod with a segment among its nodes; -1: none.
static int rod_of(const snw_model *m, int seg) {
    for (int r = 0; r < m->nrod; r++) {
        if (seg >= m->rod[r].seg0 && seg < m->rod[r].seg0 + m->rod[r].nseg) return r;
    }
    return -1;
}

// Fractions of the row k in lo->beyond, as many as any rod has nodes.
static double *fractions_of(const snw_locomotion *lo, int k) {
    int nodes = 0;
    for (int r = 0; r < lo->m->nrod; r++) {
        if (lo->m->rod[r].nseg > nodes) nodes = lo->m->rod[r].nseg;
    }
    return lo->beyond + (size_t)k * (size_t)nodes;
}

void snw_locomotion_divide_nodes(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    const int n = lo->nr + lo->npassive;
    for (int k = 0; lo->beyond && k < n; k++) {
        const int body = body_of_row(m, &lo->row[k]), r = rod_of(m, body);
        if (r < 0) continue;
        snw_rod_beyond(m, &m->rod[r], m->seg_x[body], fractions_of(lo, n), fractions_of(lo, k));
    }
}

snw_status snw_locomotion_list_body_rows(snw_locomotion *lo) {
    const int n = lo->nr + lo->npassive;
    for (int k = n - 1; k >= 0; k--) {
        const int body = body_of_row(lo->m, &lo->row[k]);
        lo->next_row[k] = lo->body_row[body];
        lo->body_row[body] = 1 + k;
    }
    if (lo->m->nrod == 0) return SNW_OK;
    // behind the rows the scratch of snw_rod_beyond, four times the points of a cell
    lo->beyond =
        snw_alloc((size_t)(fractions_of(lo, n + 4) - fractions_of(lo, 0)) * sizeof *lo->beyond);
    if (!lo->beyond) return SNW_E_MEMORY;
    snw_locomotion_divide_nodes(lo);
    return SNW_OK;
}

size_t snw_locomotion_projective_scratch(void) { return snw_minimum_norm_scratch(6, MAX_ROWS); }

// Relative singular value below which the rows of one body count as dependent.
static const double DEPENDENT = 1e-9;

// lo->projective of the rows on body i <- least squares of the wrench F that arrives there, in the
// body frame: rows lambda ~ F; returns what they exert on the body.
static snw_status project_wrench(snw_locomotion *lo, int i, snw_wrench F, snw_wrench *exerted) {
    double A[6 * MAX_ROWS], x[MAX_ROWS];
    snw_wrench c[MAX_ROWS];
    int index[MAX_ROWS], n = 0, rank;
    *exerted = (snw_wrench){0};
    for (int k = lo->body_row[i] - 1; k >= 0; k = lo->next_row[k] - 1) {
        c[n] = snw_wrench_to_child(lo->w->g[i], lo->c[k]);
        for (int e = 0; e < 6; e++) A[6 * n + e] = c[n].e[e];
        index[n++] = k;
    }
    if (n == 0) return SNW_OK;
    for (int e = 0; e < 6; e++) x[e] = F.e[e];
    SNW_TRY(snw_minimum_norm(6, n, A, DEPENDENT, &lo->scratch, x, &rank));
    for (int k = 0; k < n; k++) {
        lo->projective[index[k]] = x[k];
        *exerted = snw_wrench_axpy(x[k], c[k], *exerted);
    }
    return SNW_OK;
}

// Wrench that segment i receives from its parent without contacts. In a rod the nodes are divided
// where the contact is, so that it is the internal wrench to the order of the quadrature.
static snw_wrench arriving_wrench(const snw_locomotion *lo, int i) {
    const snw_model *m = lo->m;
    const int r = lo->body_row[i] ? rod_of(m, i) : -1;
    if (r < 0) return lo->w->F[i];
    const snw_station at = {
        .seg = i, .rod = r, .x = m->seg_x[i], .beyond = fractions_of(lo, lo->body_row[i] - 1)};
    return snw_wrench_scale(-1, snw_internal_wrench(m, &at, lo->w));
}

snw_status snw_locomotion_projective(snw_locomotion *lo, double t, snw_error *err) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->nseg; i++) lo->passed[i] = (snw_wrench){0};
    for (int i = m->nseg - 1; i > 0; i--) {
        snw_wrench exerted;
        const snw_wrench F = snw_wrench_sub(arriving_wrench(lo, i), lo->passed[i]);
        if (project_wrench(lo, i, F, &exerted) != SNW_OK)
            return snw_fail(err, SNW_E_DIVERGED, "forces have diverged at t = %.9g s", t);
        lo->passed[i] = snw_wrench_add(lo->passed[i], exerted);
        snw_wrench *parent = &lo->passed[m->seg[i].parent];
        *parent = snw_wrench_add(*parent, snw_wrench_to_parent(lo->w->h[i], lo->passed[i]));
    }
    return SNW_OK;
}
