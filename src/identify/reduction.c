// SPDX-License-Identifier: MIT
//
// Strain functions from snapshots. Snapshots are sampled at the points of the strain quadrature of
// the first run, with their weights times the stiffness of the section, and, without weight, at the
// rows of the table. So functions at the rows are the same combinations of snapshots, whatever the
// bases of the runs are.
#include "identify/reduction.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "identify/pod.h"
#include "math/expr_spline.h"
#include "math/vector.h"
#include "model/model.h"
#include "study/nested.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FINEST = 7, // rows of cubic tables: 2^FINEST + 1 at most
    COARSEST = 5,
    MOST_ROWS = 401
};

// Error of a table between its rows at which there are enough of them, in units of a function.
static const double ENOUGH = 1e-6;

typedef struct strain_data {
    snw_reduced_strain is;
    int rod, a; // of the model of the first run
    int point0; // first of its points
    int npoint; // points of the quadrature
    double L;   // m
    int group;  // to which it belongs
    int offset; // of its points and rows in the arrays of the group
} strain_data;

// Strains that are decomposed together: one, or all of a rod. Rows of its arrays are the npoint +
// nrow places of each.
typedef struct group_data {
    int first, n; // its strains
    int np;       // rows
    int rank, kept;
    double *w;     // np: weights; 0 at rows of the table
    double *e;     // np x room: snapshots
    double *C;     // nsnapshot x rank
    double *phi;   // np x kept: functions
    double *sigma; // rank
    double energy; // sum of all sigma^2
    double share;  // of it that the functions keep
} group_data;

struct snw_reduction {
    const snw_run *run;
    const snw_model *m;
    snw_pool *pool;
    int nstrain;
    strain_data *strain;
    int ngroup;
    group_data *group;
    bool together;
    int nrow;
    double *row; // x/L
    bool all_cubic;
    int stride; // of the rows written, where all tables are cubic
    double *written;
    int nwritten;
    int nsnapshot, room;
    int nleft;
    const char **left;
    double *scratch; // twice the rows of the largest group
};

struct snw_reduction_source {
    const snw_model *m;
    const snw_reduction *r;
    int *q0, *n;  // nstrain: first coordinate in q, functions
    double **Phi; // nstrain: (npoint + nrow) x n
};

// ---- rods that can be reduced -------------------------------------------------------------------

static bool is_smooth(const snw_basis *b) {
    if (b->set) return b->nelem == 1;
    return !snw_basis_piecewise(b->kind) ||
           (b->kind == SNW_BASIS_SPLINE && snw_basis_degree(b) >= 3);
}

// Reason why the rod of a link keeps its functions; NULL: none.
static const char *why_left(const snw_desc *d, int l) {
    const snw_rod_desc *rod = &d->link[l].rod;
    bool any = false;
    for (int i = 0; i < 6; i++) {
        any |= rod->active[i];
        if (rod->active[i] && !snw_basis_continuous(&rod->basis[i]))
            return "its basis jumps, which a table cannot; give the parent a continuous one";
    }
    if (!any) return "it has no strain coordinates";
    if (snw_rod_together(rod)) return "its strains move together already";
    if (rod->variable_length) return "it has variable length";
    for (int i = 0; i < d->ntube; i++) {
        if (d->tube[i].host == l || d->tube[i].base == l || d->tube[i].own == l)
            return "it is a concentric tube";
    }
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].rod && d->motor[i].link == l)
            return "an actuator acts on its strain coordinates";
    }
    return NULL;
}

// ---- creation -----------------------------------------------------------------------------------

// Adds the active strains of a rod.
static void add_rod(snw_reduction *r, int l) {
    const snw_link_desc *link = &r->m->desc->link[l];
    const snw_rod *rod = &r->m->rod[r->m->link_rod[l]];
    bool given = false;
    for (int i = 0; i < 6; i++) given |= link->rod.given[i] != NULL;
    for (int a = 0; a < rod->na; a++) {
        strain_data *s = &r->strain[r->nstrain++];
        const snw_basis *b = &link->rod.basis[rod->comp[a]];
        *s = (strain_data){.rod = r->m->link_rod[l],
                           .a = a,
                           .point0 = rod->point0,
                           .npoint = rod->npoint,
                           .L = rod->L};
        s->is = (snw_reduced_strain){.link = link->name,
                                     .strain = rod->comp[a],
                                     .parent = rod->nfun[a],
                                     .linear = !is_smooth(b),
                                     .given_beside = given};
        r->all_cubic &= !s->is.linear;
    }
}

// r->group <- strains by themselves, or those of each rod together.
static snw_status add_groups(snw_reduction *r, snw_error *err) {
    r->group = snw_pool_array(r->pool, (size_t)r->nstrain + 1, sizeof *r->group);
    if (!r->group) return snw_fail_memory(err);
    for (int k = 0; k < r->nstrain; k++) {
        strain_data *s = &r->strain[k];
        const bool joins = k > 0 && r->together && s->rod == r->strain[k - 1].rod;
        if (!joins) r->group[r->ngroup++] = (group_data){.first = k};
        group_data *g = &r->group[r->ngroup - 1];
        s->group = r->ngroup - 1;
        s->offset = g->np;
        s->is.first_together = g->first;
        g->np += s->npoint + r->nrow;
        g->n++;
    }
    return SNW_OK;
}

// Weights of the points: those of the quadrature times the stiffness.
static snw_status add_weights(snw_reduction *r, snw_error *err) {
    size_t most = 0;
    for (int i = 0; i < r->ngroup; i++) {
        group_data *g = &r->group[i];
        g->w = snw_pool_array(r->pool, (size_t)g->np, sizeof *g->w);
        if (!g->w) return snw_fail_memory(err);
        if ((size_t)g->np > most) most = (size_t)g->np;
    }
    for (int k = 0; k < r->nstrain; k++) {
        const strain_data *s = &r->strain[k];
        const snw_link_desc *link = &r->m->desc->link[r->m->rod[s->rod].link];
        double *w = r->group[s->group].w + s->offset;
        for (int p = 0; p < s->npoint; p++) {
            const snw_point *at = &r->m->point[s->point0 + p];
            double H[36], D[36];
            snw_inertia M;
            SNW_TRY(snw_section_at(&link->rod, link->name, at->x, H, D, &M, err));
            w[p] = at->w * H[7 * s->is.strain];
            if (w[p] > 0) continue;
            return snw_fail(err, SNW_E_ARGUMENT,
                            "rod '%s' has no stiffness against %s at x = %g m, so there is no "
                            "energy norm; leave the rod out by --rod",
                            link->name, snw_strain_name[s->is.strain], at->x);
        }
    }
    r->scratch = snw_pool_array(r->pool, 2 * most, sizeof *r->scratch);
    return r->scratch ? SNW_OK : snw_fail_memory(err);
}

// r->row <- rows of the table: a grid dense at both ends for cubic splines, whose halves are grids
// as well; the breaks of piecewise bases, divided where these are curved.
static snw_status add_rows(snw_reduction *r, snw_error *err) {
    size_t most = ((size_t)1 << FINEST) + 1;
    for (int k = 0; k < r->nstrain; k++) {
        const snw_rod_desc *d = &r->m->desc->link[r->m->rod[r->strain[k].rod].link].rod;
        most += 8 * (size_t)d->basis[r->strain[k].is.strain].nelem + 1;
    }
    double *x = snw_pool_array(r->pool, most, sizeof *x);
    if (!x) return snw_fail_memory(err);
    int n = 0, count = 1;
    bool grid = false;
    x[n++] = 0, x[n++] = 1;
    for (int k = 0; k < r->nstrain; k++) {
        const strain_data *s = &r->strain[k];
        const snw_rod_desc *d = &r->m->desc->link[r->m->rod[s->rod].link].rod;
        const snw_basis *b = &d->basis[s->is.strain];
        const int parts = snw_basis_degree(b) <= 1 ? 1 : 8;
        for (int i = 0; s->is.linear && i < b->nelem * parts; i++) {
            const double from = snw_basis_break(b, i / parts),
                         to = snw_basis_break(b, i / parts + 1);
            x[n++] = from + (to - from) * (i % parts) / parts;
        }
        for (int i = 1; !s->is.linear && !grid && i < 1 << FINEST; i++)
            x[n++] = 0.5 * (1 - cos(M_PI * i / (1 << FINEST)));
        grid |= !s->is.linear;
    }
    qsort(x, (size_t)n, sizeof *x, snw_compare_doubles);
    for (int i = 1; i < n; i++) {
        if (x[i] > x[count - 1] + 1e-9) x[count++] = x[i];
    }
    x[count - 1] = 1;
    r->row = x;
    r->nrow = count;
    if (count <= MOST_ROWS) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "the table would have %d rows, %d are possible; reduce the rods one by one, "
                    "--rod, or give the parent fewer elements",
                    count, (int)MOST_ROWS);
}

static bool is_wanted(const char *name, int n, const char *const *link) {
    for (int i = 0; i < n; i++) {
        if (strcmp(link[i], name) == 0) return true;
    }
    return n == 0;
}

static snw_status choose_rods(snw_reduction *r, int nlink, const char *const *link,
                              snw_error *err) {
    const snw_desc *d = r->m->desc;
    for (int i = 0; i < nlink; i++) {
        int l = 0;
        while (l < d->nlink && (!d->link[l].has_rod || strcmp(d->link[l].name, link[i]) != 0)) l++;
        if (l == d->nlink)
            return snw_fail(err, SNW_E_ARGUMENT, "--rod %.80s: the robot has no such rod", link[i]);
    }
    for (int l = 0; l < d->nlink; l++) {
        if (!d->link[l].has_rod || !is_wanted(d->link[l].name, nlink, link)) continue;
        const char *why = why_left(d, l);
        if (!why) add_rod(r, l);
        if (!why) continue;
        if (nlink > 0)
            return snw_fail(err, SNW_E_ARGUMENT, "rod '%s' cannot be reduced: %s", d->link[l].name,
                            why);
        r->left[r->nleft] =
            snw_pool_format(r->pool, "rod '%.80s' keeps its functions: %s", d->link[l].name, why);
        if (!r->left[r->nleft++]) return snw_fail_memory(err);
    }
    if (r->nstrain > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "there is no rod to reduce%s%s", r->nleft ? ": " : "",
                    r->nleft ? r->left[0] : "");
}

snw_status snw_reduction_create(const snw_run *run, int nlink, const char *const *link,
                                bool together, snw_reduction **out, snw_error *err) {
    snw_reduction *r = snw_alloc(sizeof *r);
    *out = NULL;
    if (!r) return snw_fail_memory(err);
    *r = (snw_reduction){.run = run,
                         .m = snw_run_model(run),
                         .together = together,
                         .all_cubic = true,
                         .pool = snw_pool_create((size_t)1 << 30)};
    snw_status s = r->pool ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) {
        r->strain = snw_pool_array(r->pool, 6 * (size_t)r->m->nrod + 1, sizeof *r->strain);
        r->left = snw_pool_array(r->pool, (size_t)r->m->nlink + 1, sizeof *r->left);
        if (!r->strain || !r->left) s = snw_fail_memory(err);
    }
    if (s == SNW_OK) s = choose_rods(r, nlink, link, err);
    if (s == SNW_OK) s = add_rows(r, err);
    if (s == SNW_OK) s = add_groups(r, err);
    if (s == SNW_OK) s = add_weights(r, err);
    if (s != SNW_OK) {
        snw_reduction_destroy(r);
        return s;
    }
    *out = r;
    return SNW_OK;
}

void snw_reduction_destroy(snw_reduction *r) {
    if (!r) return;
    snw_pool_destroy(r->pool);
    snw_free(r);
}

const char *snw_reduction_left(const snw_reduction *r, int i) {
    return i < r->nleft ? r->left[i] : NULL;
}

// ---- strains of a run ---------------------------------------------------------------------------

// x/L of point k: of the quadrature, then of the rows.
static double place_of(const snw_reduction *r, const strain_data *s, int k) {
    return k < s->npoint ? r->m->point[s->point0 + k].x / s->L : r->row[k - s->npoint];
}

// Phi ((npoint + nrow) x n) <- functions of the basis of the file.
static void fill_functions(const snw_reduction *r, const strain_data *s, const snw_basis *b,
                           double *Phi) {
    double phi[SNW_BASIS_MAX_FUNCTIONS];
    const int np = s->npoint + r->nrow;
    for (int k = 0; k < np; k++) {
        const double u = place_of(r, s, k);
        int first, count;
        const int e = snw_nested_element(b, u);
        snw_basis_support(b, e, &first, &count);
        snw_basis_eval(b, e, u, phi);
        for (int j = 0; j < count; j++) Phi[(size_t)(first + j) * (size_t)np + (size_t)k] = phi[j];
    }
}

// *rod, *a <- rod and active component of a strain in another model; *a is -1 when it has none.
static snw_status find_strain(const snw_model *m, const strain_data *s, const char *name,
                              const snw_rod **rod, int *a, snw_error *err) {
    int l = 0;
    while (l < m->nlink && strcmp(m->desc->link[l].name, s->is.link) != 0) l++;
    if (l == m->nlink || m->link_rod[l] < 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%.100s is a run of another robot: it has no rod '%s'; reduce runs of one "
                        "robot together",
                        name, s->is.link);
    }
    *rod = &m->rod[m->link_rod[l]];
    if (!(fabs((*rod)->L - s->L) <= 1e-9 * s->L)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%.100s is a run of another robot: its rod '%s' has a length of %g m, that "
                        "of the first run %g m",
                        name, s->is.link, (*rod)->L, s->L);
    }
    *a = (*rod)->na - 1;
    while (*a >= 0 && (*rod)->comp[*a] != s->is.strain) (*a)--;
    return SNW_OK;
}

static snw_status source_fill(snw_reduction_source *o, const char *name, bool reduced,
                              snw_error *err) {
    const snw_reduction *r = o->r;
    for (int k = 0; k < r->nstrain; k++) {
        const strain_data *s = &r->strain[k];
        const snw_rod *rod = NULL;
        int a = -1;
        SNW_TRY(find_strain(o->m, s, name, &rod, &a, err));
        if (a < 0 && !reduced) {
            return snw_fail(err, SNW_E_ARGUMENT,
                            "%.100s is a run of another robot: %s of its rod '%s' has no "
                            "coordinates",
                            name, snw_strain_name[s->is.strain], s->is.link);
        }
        if (a < 0) continue;
        const snw_basis *b = &o->m->desc->link[rod->link].rod.basis[s->is.strain];
        o->n[k] = rod->nfun[a];
        o->q0[k] = rod->dof[a] + rod->shift;
        o->Phi[k] = snw_alloc((size_t)(s->npoint + r->nrow) * (size_t)o->n[k] * sizeof **o->Phi);
        if (!o->Phi[k]) return snw_fail_memory(err);
        memset(o->Phi[k], 0, (size_t)(s->npoint + r->nrow) * (size_t)o->n[k] * sizeof **o->Phi);
        fill_functions(r, s, b, o->Phi[k]);
    }
    return SNW_OK;
}

snw_status snw_reduction_open(snw_reduction *r, const snw_run *run, const char *name, bool reduced,
                              snw_reduction_source **out, snw_error *err) {
    const size_t n = (size_t)r->nstrain;
    snw_reduction_source *o = snw_alloc(sizeof *o);
    *out = NULL;
    if (!o) return snw_fail_memory(err);
    *o = (snw_reduction_source){.m = snw_run_model(run), .r = r};
    o->q0 = snw_alloc(2 * n * sizeof *o->q0);
    o->Phi = snw_alloc(n * sizeof *o->Phi);
    snw_status s = o->q0 && o->Phi ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) {
        o->n = o->q0 + n;
        for (size_t k = 0; k < n; k++) o->n[k] = 0, o->Phi[k] = NULL;
        s = source_fill(o, name, reduced, err);
    }
    if (s != SNW_OK) {
        snw_reduction_close(o);
        return s;
    }
    *out = o;
    return SNW_OK;
}

void snw_reduction_close(snw_reduction_source *s) {
    if (!s) return;
    for (int k = 0; s->Phi && k < s->r->nstrain; k++) snw_free(s->Phi[k]);
    snw_free(s->Phi);
    snw_free(s->q0);
    snw_free(s);
}

// e (npoint + nrow) <- strain k, less its rest value, for the coordinates q.
static void strain_at(const snw_reduction_source *o, int k, const double *q, double *e) {
    const int np = o->r->strain[k].npoint + o->r->nrow;
    for (int p = 0; p < np; p++) e[p] = 0;
    for (int j = 0; j < o->n[k]; j++) {
        const double c = q[o->q0[k] + j], *phi = o->Phi[k] + (size_t)j * (size_t)np;
        for (int p = 0; p < np; p++) e[p] += c * phi[p];
    }
}

// ---- snapshots ----------------------------------------------------------------------------------

snw_status snw_reduction_room(snw_reduction *r, int most, snw_error *err) {
    r->room = most;
    for (int i = 0; i < r->ngroup; i++) {
        group_data *g = &r->group[i];
        g->e = snw_pool_array(r->pool, (size_t)g->np * (size_t)most, sizeof *g->e);
        if (g->e) continue;
        return snw_fail(err, SNW_E_MEMORY,
                        "no memory for %d snapshots of %d strains; give fewer files, or choose "
                        "rods by --rod",
                        most, r->nstrain);
    }
    return SNW_OK;
}

// e (np) <- strains of a group, less their rest value, for the coordinates q.
static void group_at(const snw_reduction_source *o, const group_data *g, const double *q,
                     double *e) {
    for (int k = g->first; k < g->first + g->n; k++) strain_at(o, k, q, e + o->r->strain[k].offset);
}

void snw_reduction_add(snw_reduction *r, const snw_reduction_source *s, const double *q) {
    SNW_ASSERT(r->nsnapshot < r->room);
    for (int i = 0; i < r->ngroup; i++) {
        const group_data *g = &r->group[i];
        group_at(s, g, q, g->e + (size_t)r->nsnapshot * (size_t)g->np);
    }
    r->nsnapshot++;
}

// ---- decomposition ------------------------------------------------------------------------------

static snw_status decompose(snw_reduction *r, group_data *g, snw_error *err) {
    const int least = g->np < r->nsnapshot ? g->np : r->nsnapshot;
    g->sigma = snw_pool_array(r->pool, (size_t)least, sizeof *g->sigma);
    g->C = snw_pool_array(r->pool, (size_t)least * (size_t)r->nsnapshot, sizeof *g->C);
    if (!g->sigma || !g->C) return snw_fail_memory(err);
    const snw_status status = snw_pod(g->np, g->w, r->nsnapshot, g->e, g->sigma, g->C, &g->rank);
    if (status == SNW_E_MEMORY) return snw_fail_memory(err);
    if (status != SNW_OK)
        return snw_fail(err, status, "the strains of rod '%s' are not finite",
                        r->strain[g->first].is.link);
    if (g->rank > SNW_FUNCTION_SET_MOST) g->rank = SNW_FUNCTION_SET_MOST;
    for (int i = 0; i < least; i++) g->energy += g->sigma[i] * g->sigma[i];
    return SNW_OK;
}

// Group with the largest singular value that is not kept yet and counts against all energy; NULL:
// none.
static group_data *next_group(snw_reduction *r, double total) {
    group_data *best = NULL;
    double most = 1e-20 * total;
    for (int i = 0; i < r->ngroup; i++) {
        group_data *g = &r->group[i];
        if (g->kept >= g->rank) continue;
        const double square = g->sigma[g->kept] * g->sigma[g->kept];
        if (square > most) most = square, best = g;
    }
    return best;
}

static double total_energy(const snw_reduction *r) {
    double sum = 0;
    for (int i = 0; i < r->ngroup; i++) sum += r->group[i].energy;
    return sum;
}

static void choose_functions(snw_reduction *r, int functions, double energy) {
    const double total = total_energy(r);
    double kept = 0;
    for (int n = 0; functions > 0 ? n < functions : kept < energy * total; n++) {
        group_data *g = next_group(r, total);
        if (!g) break;
        const double square = g->sigma[g->kept] * g->sigma[g->kept];
        kept += square;
        g->share += square / g->energy;
        g->kept++;
    }
}

// Has a strain any part in the functions of its group?
static bool takes_part(const snw_reduction *r, const strain_data *s) {
    const group_data *g = &r->group[s->group];
    double own = 0, all = 0;
    for (int i = 0; i < g->kept; i++) {
        const double *phi = g->phi + (size_t)i * (size_t)g->np;
        for (int k = 0; k < g->np; k++) {
            const double square = g->w[k] * phi[k] * phi[k];
            all += square;
            own += k >= s->offset && k < s->offset + s->npoint ? square : 0;
        }
    }
    return own > 1e-20 * all;
}

// Values told of each strain: those of its group.
static void tell_strains(snw_reduction *r) {
    for (int k = 0; k < r->nstrain; k++) {
        strain_data *s = &r->strain[k];
        const group_data *g = &r->group[s->group];
        s->is.rank = g->rank;
        s->is.sigma = g->sigma;
        s->is.energy = g->energy;
        s->is.kept = g->share;
        s->is.n = takes_part(r, s) ? g->kept : 0;
    }
}

// Function i of a strain at its points, then at its rows.
static const double *function_of(const snw_reduction *r, const strain_data *s, int i) {
    const group_data *g = &r->group[s->group];
    return g->phi + (size_t)i * (size_t)g->np + s->offset;
}

// Largest error of cubic splines through every `stride`th row, in units of a function.
static snw_status spline_error(const snw_reduction *r, const strain_data *s, int stride,
                               double *worst) {
    const int n = (r->nrow - 1) / stride + 1;
    const double *w = r->group[s->group].w + s->offset;
    snw_pool *pool = snw_pool_create(1 << 22);
    double *x = pool ? snw_pool_array(pool, 2 * (size_t)n, sizeof *x) : NULL;
    snw_status status = x ? SNW_OK : SNW_E_MEMORY;
    for (int i = 0; status == SNW_OK && i < s->is.n; i++) {
        const double *phi = function_of(r, s, i);
        for (int k = 0; k < n; k++)
            x[k] = r->row[k * stride], x[n + k] = phi[s->npoint + k * stride];
        snw_spline *spline = NULL;
        snw_error ignored = {0};
        status = snw_spline_create(pool, (snw_table){n, x, x + n}, &spline, &ignored);
        double sum = 0;
        for (int k = 0; status == SNW_OK && k < s->npoint; k++) {
            const double d = snw_spline_value(spline, place_of(r, s, k)) - phi[k];
            sum += w[k] * d * d;
        }
        *worst = fmax(*worst, sqrt(sum));
    }
    snw_pool_destroy(pool);
    return status;
}

// The same for straight lines.
static double line_error(const snw_reduction *r, const strain_data *s) {
    const double *w = r->group[s->group].w + s->offset;
    double worst = 0;
    for (int i = 0; i < s->is.n; i++) {
        const double *phi = function_of(r, s, i), *y = phi + s->npoint;
        double sum = 0;
        int row = 0;
        for (int k = 0; k < s->npoint; k++) {
            const double u = place_of(r, s, k);
            while (row + 2 < r->nrow && r->row[row + 1] <= u) row++;
            const double t = (u - r->row[row]) / (r->row[row + 1] - r->row[row]);
            const double d = (1 - t) * y[row] + t * y[row + 1] - phi[k];
            sum += w[k] * d * d;
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

// Chooses the rows to be written and fills the functions there.
static snw_status tabulate(snw_reduction *r, snw_error *err) {
    r->stride = r->all_cubic ? 1 << (FINEST - COARSEST) : 1;
    for (bool enough = false; !enough;) {
        enough = true;
        for (int k = 0; k < r->nstrain; k++) {
            strain_data *s = &r->strain[k];
            s->is.interpolation = 0;
            if (s->is.linear) {
                s->is.interpolation = line_error(r, s);
            } else if (spline_error(r, s, r->stride, &s->is.interpolation) != SNW_OK) {
                return snw_fail_memory(err);
            }
            enough &= s->is.interpolation <= ENOUGH;
        }
        if (enough || r->stride == 1) break;
        r->stride /= 2;
    }
    r->nwritten = (r->nrow - 1) / r->stride + 1;
    r->written = snw_pool_array(r->pool, (size_t)r->nwritten, sizeof *r->written);
    if (!r->written) return snw_fail_memory(err);
    for (int i = 0; i < r->nwritten; i++) r->written[i] = r->row[i * r->stride];
    for (int k = 0; k < r->nstrain; k++) {
        strain_data *s = &r->strain[k];
        const size_t rows = (size_t)r->nwritten;
        double *phi = snw_pool_array(r->pool, rows * (size_t)s->is.n + 1, sizeof *phi);
        if (!phi) return snw_fail_memory(err);
        for (size_t i = 0; i < (size_t)s->is.n; i++) {
            const double *from = function_of(r, s, (int)i) + s->npoint;
            for (size_t j = 0; j < rows; j++) phi[i * rows + j] = from[j * (size_t)r->stride];
        }
        s->is.phi = phi;
    }
    return SNW_OK;
}

snw_status snw_reduction_solve(snw_reduction *r, int functions, double energy, snw_error *err) {
    for (int i = 0; i < r->ngroup; i++) SNW_TRY(decompose(r, &r->group[i], err));
    if (!(total_energy(r) > 0))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the snapshots have no strain: the rods keep their rest shape");
    choose_functions(r, functions, energy);
    for (int i = 0; i < r->ngroup; i++) {
        group_data *g = &r->group[i];
        g->phi = snw_pool_array(r->pool, (size_t)g->np * (size_t)g->kept + 1, sizeof *g->phi);
        if (!g->phi) return snw_fail_memory(err);
        snw_pod_functions(g->np, r->nsnapshot, g->e, g->kept, g->C, g->phi);
    }
    tell_strains(r);
    return tabulate(r, err);
}

// ---- results ------------------------------------------------------------------------------------

int snw_reduction_strains(const snw_reduction *r) { return r->nstrain; }

const snw_reduced_strain *snw_reduction_strain(const snw_reduction *r, int i) {
    return &r->strain[i].is;
}

int snw_reduction_rows(const snw_reduction *r, const double **x) {
    *x = r->written;
    return r->nwritten;
}

int snw_reduction_functions(const snw_reduction *r) {
    int n = 0;
    for (int i = 0; i < r->ngroup; i++) n += r->group[i].kept;
    return n;
}

int snw_reduction_parent(const snw_reduction *r) {
    int n = 0;
    for (int k = 0; k < r->nstrain; k++) n += r->strain[k].is.parent;
    return n;
}

int snw_reduction_snapshots(const snw_reduction *r) { return r->nsnapshot; }

double snw_reduction_kept(const snw_reduction *r) {
    double kept = 0;
    for (int i = 0; i < r->ngroup; i++) kept += r->group[i].share * r->group[i].energy;
    return kept / total_energy(r);
}

void snw_reduction_project(const snw_reduction *r, const snw_reduction_source *s, const double *q,
                           double *missing, double *whole) {
    *missing = *whole = 0;
    for (int i = 0; i < r->ngroup; i++) {
        const group_data *g = &r->group[i];
        double lost, all;
        group_at(s, g, q, r->scratch);
        snw_pod_project(g->np, g->w, g->kept, g->phi, r->scratch, &lost, &all);
        *missing += lost, *whole += all;
    }
}

void snw_reduction_compare(const snw_reduction *r, const snw_reduction_source *a, const double *qa,
                           const snw_reduction_source *b, const double *qb, double *difference) {
    *difference = 0;
    for (int i = 0; i < r->ngroup; i++) {
        const group_data *g = &r->group[i];
        double *e = r->scratch, *f = e + g->np;
        group_at(a, g, qa, e);
        group_at(b, g, qb, f);
        for (int p = 0; p < g->np; p++) *difference += g->w[p] * (e[p] - f[p]) * (e[p] - f[p]);
    }
}
