// SPDX-License-Identifier: MIT
//
// A rod in the model: its strain coordinates, segments and slices, and its stiffness and damping
// matrices (theory.md 2, 3).
#include "model/compile.h"
#include "model/layout_reuse.h"
#include "model/relaxation_series.h"
#include "model/rod_quadrature.h"

#include "base/fail.h"
#include "math/pose_grid.h"
#include "math/quadrature.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

static snw_status rod_refuse(snw_error *err, snw_source_location at, const char *name,
                             const char *what) {
    return snw_fail_desc(err, at, snw_fail(err, SNW_E_MODEL, "rod '%s': %s", name, what));
}

// Check that section and material define the properties that the active strains need.
static snw_status check_rod(const snw_link_desc *link, snw_error *err) {
    const snw_rod_desc *d = &link->rod;
    const snw_section_desc *sec = &d->section;
    const snw_material_desc *mat = d->material;
    if (!(d->length > 0 && isfinite(d->length))) {
        return snw_fail_desc(err, d->length_location,
                             snw_fail(err, SNW_E_MODEL,
                                      "rod '%s': length must be positive, got %g m", link->name,
                                      d->length));
    }
    if (d->variable_length && d->tolerance > 0) {
        return rod_refuse(err, d->location, link->name,
                          "it has variable length, and rk45 does not place nodes along moving "
                          "material; use integrator: magnus 6");
    }
    if (d->variable_length && snw_rod_together(d)) {
        return rod_refuse(err, d->location, link->name,
                          "it has variable length, and its strains cannot move together; leave "
                          "'together' out");
    }
    if (sec->kind == SNW_SECTION_NONE && !sec->stiffness_given && !snw_rod_has_law(d)) {
        return rod_refuse(
            err, d->location, link->name,
            "needs a section: a shape such as {circle: {radius: 5 mm}}, or stiffness");
    }
    if (sec->kind == SNW_SECTION_NONE) return SNW_OK;
    if (!mat)
        return rod_refuse(err, d->location, link->name,
                          "its section has a shape, so it needs a material");
    for (int i = 0; i < 6; i++) {
        if (!d->active[i] || sec->stiffness[7 * i] || snw_section_law_gives(sec, i)) continue;
        const bool shear = i == SNW_TWIST || i >= SNW_SHEAR_Y;
        if (shear && !mat->shear && !mat->poisson) {
            return rod_refuse(err, mat->location, link->name,
                              "twist and shear need poisson or shear of its material");
        }
        if (!(shear && mat->shear) && !mat->young) {
            return rod_refuse(err, mat->location, link->name, "needs young of its material");
        }
    }
    if (!mat->density && !sec->inertia_given) {
        return rod_refuse(
            err, mat->location, link->name,
            "needs density of its material; write density: 0 if its mass does not matter");
    }
    return SNW_OK;
}

// Strains that move together have coordinates that stand for no strain by itself.
static snw_status check_together(const snw_desc *d, int l, snw_error *err) {
    const snw_link_desc *link = &d->link[l];
    if (!snw_rod_together(&link->rod)) return SNW_OK;
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].link != l || !d->motor[i].rod) continue;
        return rod_refuse(err, d->motor[i].location, link->name,
                          "its strains move together, so no actuator can act on their "
                          "coordinates; leave 'together' out");
    }
    for (int i = 0; i < d->ntube; i++) {
        if (d->tube[i].host != l && d->tube[i].base != l && d->tube[i].own != l) continue;
        return rod_refuse(err, link->rod.location, link->name,
                          "strains of concentric tubes cannot move together; leave 'together' out");
    }
    return SNW_OK;
}

// Why the rod cannot be collocated on one grid; NULL: it can.
static const char *not_on_grid(const snw_rod_desc *d, const snw_rod *r) {
    if (d->variable_length)
        return "it has variable length, and integrator: chebyshev is for rods of constant length; "
               "use magnus 6";
    if (r->together)
        return "its strains move together, and integrator: chebyshev is for strains with "
               "coordinates of their own; use magnus 6";
    for (int a = 0; a < r->na; a++) {
        const snw_basis *basis = &r->basis[a];
        if (snw_basis_piecewise(basis->kind) || basis->nelem > 1 ||
            snw_basis_table[basis->kind].separate)
            return "integrator: chebyshev has one grid for the whole rod, and a strain basis has "
                   "elements or breaks; use a basis on the whole rod such as legendre, or "
                   "integrator: magnus 6";
    }
    return NULL;
}

snw_status snw_build_draft(snw_build *b, int l, int nstation, const double *station,
                           snw_error *err) {
    const snw_link_desc *link = &b->m->desc->link[l];
    const snw_rod_desc *d = &link->rod;
    SNW_TRY(check_rod(link, err));
    SNW_TRY(check_together(b->m->desc, l, err));
    if (d->variable_length) SNW_TRY(snw_check_variable_length(b->m->desc, l, err));
    snw_rod *r = &b->draft[l];
    *r = (snw_rod){.link = l, .L = d->length, .fluid = -1, .feed = -1};
    memcpy(r->rest, d->rest, sizeof r->rest);
    memcpy(r->given, d->given, sizeof r->given);
    SNW_TRY(snw_rule_make(b->m->pool, d->integrator, snw_rod_rule_number(d), &r->rule));
    r->nc = r->rule.nc;
    int most = 0, shared = -1; // first component of those that move together
    for (int i = 0; i < 6; i++) {
        if (!d->active[i]) continue;
        const bool has_own = !d->together[i] || shared < 0;
        r->comp[r->na] = i;
        r->basis[r->na] = snw_basis_well_conditioned(&d->basis[i]);
        r->nfun[r->na] = d->basis[i].nfun;
        // relative to the rod; snw_build_rod adds the first index
        r->dof[r->na] = has_own ? r->ndof : r->dof[shared];
        if (has_own) r->ndof += d->basis[i].nfun;
        if (d->together[i] && has_own) shared = r->na;
        r->together |= !has_own;
        int first, count;
        snw_basis_support(&d->basis[i], 0, &first, &count);
        most += count;
        r->na++;
    }
    for (int k = 0; k < r->nc; k++) {
        for (int a = 0; a < r->na; a++) r->z[r->nz++] = 6 * k + r->comp[a];
    }
    if (most > b->most_phi) b->most_phi = most;
    if (r->rule.kind == SNW_RULE_CHEBYSHEV) {
        const char *why = not_on_grid(d, r);
        if (why) return rod_refuse(err, d->location, link->name, why);
    }
    SNW_TRY(snw_layout_rod(b->m->desc, r, nstation, station, b->m->pool, &b->layout[l], err));
    r->nodes = b->layout[l].nodes;
    r->geometry = b->layout[l].geometry;
    r->quadrature = b->layout[l].quadrature;
    r->tolerance = d->tolerance;
    r->per_cell = b->layout[l].per_cell;
    r->ncell = b->layout[l].ncell;
    r->cell = b->layout[l].cell;
    r->room = b->layout[l].room;
    r->least = b->layout[l].least;
    r->nelem = b->layout[l].nelem;
    r->breaks = b->layout[l].breaks;
    r->npoint = b->layout[l].nelem * b->layout[l].strain_points;
    return SNW_OK;
}

// Its rod, and its points at which strains are given.
static void finish_slice(snw_build *b, int i, int rod, double from, double to) {
    const snw_rod *r = &b->rod[rod];
    b->slice[i].rod = rod;
    if (!snw_rod_given(&b->m->desc->link[r->link].rod)) return;
    b->slice[i].field = b->m->nfield;
    for (int k = 0; k < r->nc; k++) {
        b->field[b->m->nfield++] = (snw_field){.rod = rod, .x = from + r->rule.c[k] * (to - from)};
    }
}

void snw_build_slice(snw_build *b, int i, int rod, double from, double to) {
    snw_slice *s = &b->slice[i];
    const int n = snw_rod_slice(&b->rod[rod], from, to, s, b->phi + b->nphi,
                                b->xi0 + (ptrdiff_t)i * SNW_MAGNUS_POINTS);
    s->phi = b->nphi;
    b->nphi += n;
    finish_slice(b, i, rod, from, to);
}

// A section must not couple active components with given ones: the stress of a given component is
// not computed.
static snw_status check_given(const snw_link_desc *link, const double H[36], const double D[36],
                              snw_error *err) {
    for (int i = 0; i < 36; i++) {
        const int a = i / 6, g = i % 6;
        if (!link->rod.active[a] || !link->rod.given[g] || (H[i] == 0 && D[i] == 0)) continue;
        return snw_fail_desc(
            err, link->rod.section.location,
            snw_fail(err, SNW_E_MODEL,
                     "rod '%s': its section couples %s with %s, which a law gives; in this version "
                     "a given strain must not be coupled to others by stiffness",
                     link->name, snw_strain_name[a], snw_strain_name[g]));
    }
    return SNW_OK;
}

// Stiffness, damping and inertia per length at the points of a rod: evaluated once, unless laws
// vary along it.
typedef struct rod_section {
    const snw_link_desc *link;
    bool constant, known;
    double H[36], D[36];
    snw_inertia M;
} rod_section;

static rod_section section_of(const snw_link_desc *link) {
    const bool constant = !snw_rod_varies(&link->rod) && !snw_rod_has_law(&link->rod);
    return (rod_section){.link = link, .constant = constant};
}

static snw_status find_section(rod_section *s, double x, snw_error *err) {
    if (s->known && s->constant) return SNW_OK;
    s->known = true;
    return snw_section_at(&s->link->rod, s->link->name, x, s->H, s->D, &s->M, err);
}

// ---- rods alike

enum { EARLIER = 4 }; // rods among which one alike is looked for

static bool same_nodes(const snw_layout *a, const snw_layout *b) {
    if (a->nnode != b->nnode || a->nelem != b->nelem || a->strain_points != b->strain_points)
        return false;
    for (int k = 0; k < a->nnode; k++) {
        if (memcmp(&a->node[k].x, &b->node[k].x, sizeof a->node[k].x) != 0) return false;
    }
    return memcmp(a->breaks, b->breaks, ((size_t)a->nelem + 1) * sizeof *a->breaks) == 0;
}

// A rod before that of link l with the same shape functions and rest strains at the same nodes,
// from which their values are copied; NULL: they are computed.
static const snw_rod *find_alike(const snw_build *b, int l) {
    for (int k = b->m->nrod - 1; k >= 0 && k >= b->m->nrod - EARLIER; k--) {
        const snw_rod *other = &b->rod[k];
        if (other->link >= 0 && b->link_rod[other->link] == k &&
            snw_rods_alike(other, &b->draft[l]) &&
            same_nodes(&b->layout[other->link], &b->layout[l]))
            return other;
    }
    return NULL;
}

// Slice i <- slice `from` of a rod alike.
static void copy_slice(snw_build *b, int from, int i) {
    const snw_slice *like = &b->slice[from];
    const snw_rod *r = &b->rod[like->rod];
    const int grid = r->rule.kind == SNW_RULE_CHEBYSHEV ? r->rule.number - 1 : 0;
    const int n = r->nc * like->ncol + grid;
    b->slice[i] = *like;
    b->slice[i].phi = b->nphi;
    b->slice[i].field = -1;
    memcpy(b->phi + b->nphi, b->phi + like->phi, (size_t)n * sizeof *b->phi);
    memcpy(b->xi0 + (ptrdiff_t)i * SNW_MAGNUS_POINTS, b->xi0 + (ptrdiff_t)from * SNW_MAGNUS_POINTS,
           (size_t)r->nc * sizeof *b->xi0);
    b->nphi += n;
}

// ---- stiffness and damping, theory.md (2.2)

// Where row i of the matrices of a rod has function 0 of component c, if it has it.
static size_t row_of(const snw_rod *r, int i, int c) {
    size_t at = r->row[i];
    for (int b = 0; b < c; b++) at += (size_t)r->near[i * r->na + b].count;
    return at - (size_t)r->near[i * r->na + c].first;
}

// K += w Phi'H Phi at a quadrature point.
static void compile_rod_add_outer(const snw_rod *r, const snw_point *p, const double *phi,
                                  const double H[36], double *K) {
    const double *pa = phi;
    for (int a = 0; a < r->na; a++) {
        const double *pb = phi;
        for (int c = 0; c < r->na; c++) {
            const double k = p->w * H[6 * r->comp[a] + r->comp[c]];
            for (int i = 0; k != 0 && i < p->count[a]; i++) {
                const int row = r->dof[a] - r->dof0 + p->first[a] + i;
                const size_t to = row_of(r, row, snw_rod_owner(r, c)) + (size_t)p->first[c];
                for (int j = 0; j < p->count[c]; j++) K[to + (size_t)j] += k * pa[i] * pb[j];
            }
            pb += p->count[c];
        }
        pa += p->count[a];
    }
}

double snw_rod_diagonal(const snw_rod *rod, const double *A, int i) {
    int a = 0;
    while (i < rod->dof[a] - rod->dof0 || i >= rod->dof[a] - rod->dof0 + rod->nfun[a]) a++;
    return A[row_of(rod, i, a) + (size_t)(i - (rod->dof[a] - rod->dof0))];
}

// Extend the range by n functions from `first` on.
static void extend(snw_rod_range *range, int first, int n) {
    const int end = range->first + range->count, to = first + n;
    if (range->count == 0) *range = (snw_rod_range){first, n};
    if (first < range->first) range->first = first;
    range->count = (to > end ? to : end) - range->first;
}

// r->near, r->row <- entries of the matrices: all, or in a local model those of functions that
// share a quadrature point.
static snw_status build_ranges(snw_build *b, snw_rod *r) {
    const size_t n = (size_t)r->ndof, na = (size_t)r->na;
    snw_rod_range *near = snw_build_array(b, n * na, sizeof *near);
    size_t *row = snw_build_array(b, n + 1, sizeof *row);
    if (b->memory_out) return SNW_E_MEMORY;
    for (size_t i = 0; !b->local && i < n * na; i++) {
        const int a = (int)(i % na);
        near[i] = (snw_rod_range){0, snw_rod_owner(r, a) == a ? r->nfun[a] : 0};
    }
    for (int k = r->point0; b->local && k < b->m->npoint; k++) {
        const snw_point *p = &b->point[k];
        for (int a = 0; a < r->na; a++) {
            const int first = r->dof[a] - r->dof0 + p->first[a];
            for (int i = first; i < first + p->count[a]; i++) {
                for (int c = 0; c < r->na; c++)
                    extend(&near[i * r->na + c], p->first[c], p->count[c]);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        row[i + 1] = row[i];
        for (size_t c = 0; c < na; c++) row[i + 1] += (size_t)near[i * na + c].count;
    }
    r->near = near;
    r->row = row;
    return SNW_OK;
}

// ---- relaxation, theory.md 2.5

// Fraction of the stiffness against a strain that branch k of a series carries.
static double branch_fraction(const snw_relaxation_series *series, int k, int component) {
    return series->fraction[snw_relaxes_as_shear(component)][k];
}

// A section must not couple components that relax differently.
static snw_status check_relaxation(const snw_link_desc *link, const double H[36], snw_error *err) {
    const snw_relaxation_series *series = &link->rod.material->relaxation;
    for (int i = 0; i < 36; i++) {
        for (int k = 0; k < series->n && H[i] != 0; k++) {
            if (branch_fraction(series, k, i / 6) == branch_fraction(series, k, i % 6)) continue;
            return snw_fail_desc(
                err, link->rod.section.location,
                snw_fail(err, SNW_E_MODEL,
                         "rod '%s': its section couples %s with %s, which relax differently; give "
                         "no 'shear_ratios', or no coupling",
                         link->name, snw_strain_name[i / 6], snw_strain_name[i % 6]));
        }
    }
    return SNW_OK;
}

// Add the section at a quadrature point to the stiffness matrices of the branches.
static void add_branches(const snw_rod *r, const snw_relaxation_series *series, const snw_point *p,
                         const double *phi, const double H[36], double *K) {
    for (int k = 0; k < r->nbranch; k++) {
        double part[36];
        for (int i = 0; i < 36; i++) part[i] = branch_fraction(series, k, i / 6) * H[i];
        compile_rod_add_outer(r, p, phi, part, K + (size_t)k * (size_t)r->ndof * (size_t)r->ndof);
    }
}

// The branches of a rod of a generalised Maxwell material; *K <- their matrices, zero.
static snw_status build_branches(snw_build *b, snw_rod *r, double **K, snw_error *err) {
    const snw_link_desc *link = &b->m->desc->link[r->link];
    const snw_relaxation_series *series = &link->rod.material->relaxation;
    const size_t n = (size_t)r->ndof;
    if (link->rod.variable_length) {
        return rod_refuse(err, series->location, link->name,
                          "it has variable length, and 'relaxation' needs a rod whose material "
                          "stays in place; leave 'relaxation' out");
    }
    double *time = snw_build_array(b, (size_t)series->n, sizeof *time);
    *K = snw_build_array(b, (size_t)series->n * n * n, sizeof **K);
    if (b->memory_out) return SNW_E_MEMORY;
    memcpy(time, series->time, (size_t)series->n * sizeof *time);
    r->nbranch = series->n;
    r->relaxation_time = time;
    r->branch_K = *K;
    r->branch_adr = b->m->nbranch;
    r->branch_coordinate0 = b->m->nbranch_coordinate;
    b->m->nbranch += series->n;
    b->m->nbranch_coordinate += series->n * r->ndof;
    return SNW_OK;
}

// b->point <- quadrature points of the strain rule, those of the rod `alike` unless it is NULL.
static snw_status build_points(snw_build *b, snw_rod *r, const snw_layout *lay,
                               const snw_rod *alike) {
    r->point0 = b->m->npoint;
    if (alike) {
        const snw_point *from = &b->point[alike->point0];
        for (int i = 0; i < r->npoint; i++) {
            snw_point *p = &b->point[b->m->npoint++];
            int n = 0;
            for (int a = 0; a < r->na; a++) n += from[i].count[a];
            *p = from[i];
            p->phi = b->nphi;
            memcpy(b->phi + p->phi, b->phi + from[i].phi, (size_t)n * sizeof *b->phi);
            b->nphi += n;
        }
        return SNW_OK;
    }
    const int ns = lay->strain_points;
    double *x = snw_build_array(b, (size_t)ns, sizeof *x);
    double *w = snw_build_array(b, (size_t)ns, sizeof *w);
    if (b->memory_out) return SNW_E_MEMORY;
    snw_gauss(ns, x, w);
    for (int e = 0; e < lay->nelem; e++) {
        const double from = lay->breaks[e], h = lay->breaks[e + 1] - from;
        for (int i = 0; i < ns; i++) {
            snw_point *p = &b->point[b->m->npoint++];
            *p = (snw_point){.x = from + h * x[i], .w = h * w[i], .phi = b->nphi};
            b->nphi += snw_rod_basis(r, p->x, p->x, p->first, p->count, b->phi + b->nphi);
        }
    }
    return SNW_OK;
}

// K, D <- matrices of the rod `alike`, if it has the same constant section. Returns whether.
static bool copy_stiffness(const snw_build *b, const snw_rod *r, const snw_rod *alike,
                           const rod_section *section, double *K, double *D) {
    if (!alike || !section->constant) return false;
    rod_section other = section_of(&b->m->desc->link[alike->link]);
    snw_error ignored = {0};
    if (!other.constant || find_section(&other, 0, &ignored) != SNW_OK ||
        memcmp(other.H, section->H, sizeof other.H) != 0 ||
        memcmp(other.D, section->D, sizeof other.D) != 0)
        return false;
    memcpy(K, alike->K, r->row[r->ndof] * sizeof *K);
    memcpy(D, alike->D, r->row[r->ndof] * sizeof *D);
    return true;
}

// r->K, r->D <- stiffness and damping matrices.
static snw_status compile_rod_add_stiffness(snw_build *b, snw_rod *r, const snw_layout *lay,
                                            const snw_rod *alike, rod_section *section,
                                            snw_error *err) {
    const snw_link_desc *link = section->link;
    SNW_TRY(build_points(b, r, lay, alike));
    SNW_TRY(build_ranges(b, r));
    double *K = snw_build_array(b, r->row[r->ndof], sizeof *K);
    double *D = snw_build_array(b, r->row[r->ndof], sizeof *D);
    if (b->memory_out) return SNW_E_MEMORY;
    double *branch_K = NULL;
    const bool relaxes = link->rod.material && link->rod.material->relaxation.n > 0;
    if (relaxes) SNW_TRY(build_branches(b, r, &branch_K, err));
    bool copied = false;
    for (int k = r->point0; k < b->m->npoint; k++) {
        const snw_point *p = &b->point[k];
        SNW_TRY(find_section(section, p->x, err));
        SNW_TRY(check_given(link, section->H, section->D, err));
        if (k == r->point0 && !relaxes) copied = copy_stiffness(b, r, alike, section, K, D);
        if (copied) break;
        compile_rod_add_outer(r, p, b->phi + p->phi, section->H, K);
        compile_rod_add_outer(r, p, b->phi + p->phi, section->D, D);
        if (!relaxes) continue;
        SNW_TRY(check_relaxation(link, section->H, err));
        add_branches(r, &link->rod.material->relaxation, p, b->phi + p->phi, section->H, branch_K);
    }
    r->K = K;
    r->D = D;
    if (snw_rod_has_law(&link->rod)) SNW_TRY(snw_build_rod_law(b, r, err));
    if (r->feed < 0) return SNW_OK;
    if (r->section_varies) return snw_build_section_varies(b, r);
    SNW_TRY(find_section(section, 0, err));
    return snw_build_variable_length_damping(b, r, section->D);
}

// Error: a function given by the user is not finite at a node or quadrature point; laws may have
// poles between the points at which they were read.
static snw_status check_functions(const snw_build *b, const snw_rod *r, int from, snw_error *err) {
    const snw_link_desc *link = &b->m->desc->link[r->link];
    for (int a = 0; a < r->na; a++) {
        if (!r->basis[a].set || snw_vector_is_finite(b->nphi - from, b->phi + from)) continue;
        const snw_source_location at = r->basis[a].set->function[0].location;
        return snw_fail_desc(
            err, at,
            snw_fail(err, SNW_E_MODEL,
                     "rod '%s': a function of %s is not finite at a node along the "
                     "rod; functions must not have poles",
                     link->name, snw_strain_name[r->comp[a]]));
    }
    return SNW_OK;
}

// ---- one grid

// The grid of rod `number`, after its segments; b->grid has room for one grid per rod.
static snw_status build_grid(snw_build *b, int number) {
    snw_model *m = b->m;
    const snw_rod *r = &b->rod[number];
    const int n = r->rule.number - 1;
    snw_grid *points = snw_build_array(b, 1, sizeof *points);
    int *slice = snw_build_array(b, (size_t)n, sizeof *slice);
    if (b->memory_out) return SNW_E_MEMORY;
    snw_grid_make(n + 1, points);
    int k = 0;
    for (int s = r->seg0; s < r->seg0 + r->nseg; s++) {
        if (b->seg_w[s] > 0) slice[k++] = b->seg[s].item;
    }
    SNW_ASSERT(k == n - 1);
    slice[k] = b->seg[r->seg0 + r->nseg - 1].item; // the tip
    b->grid[r->grid - 1] = (snw_rod_grid){.rod = number,
                                          .n = n,
                                          .point0 = m->ngrid_point,
                                          .slice = slice,
                                          .S = points->S,
                                          .factor = m->store_grid_factor,
                                          .column = m->store_grid_column};
    m->ngrid_point += n;
    m->store_grid_factor += (size_t)n * (size_t)n;
    m->store_grid_column += snw_grid_column_numbers(n, r->ndof);
    return SNW_OK;
}

// ---- segments

snw_status snw_build_rod(snw_build *b, int l, int parent, int *end, snw_error *err) {
    snw_model *m = b->m;
    const snw_link_desc *link = &m->desc->link[l];
    const snw_layout *lay = &b->layout[l];
    const snw_rod *alike = find_alike(b, l);
    const int number = m->nrod++;
    snw_rod *r = &b->rod[number];
    rod_section section = section_of(link);
    *r = b->draft[l];
    if (link->rod.variable_length) parent = snw_build_feed(b, l, r, parent);
    r->dof0 = m->nv;
    for (int a = 0; a < r->na; a++) r->dof[a] += m->nv;
    r->shift = m->nq - m->nv;
    (void)snw_build_block(b, SNW_SPACE_RN, r->ndof);
    b->link_rod[l] = number;

    r->root = parent;
    if (r->rule.kind == SNW_RULE_CHEBYSHEV) r->grid = ++m->ngrid;
    r->seg0 = m->nseg;
    r->nseg = lay->nnode;
    const int path = snw_build_path(b, b->seg[parent].path, r->dof0, r->ndof);
    const int phi0 = b->nphi;
    double from = 0;
    for (int k = 0; k < lay->nnode; k++) {
        const snw_node_at *node = &lay->node[k];
        if (r->grid) parent = r->root, from = 0;
        parent = snw_build_slice_seg(b, parent, l, path, node->x, node->w);
        const int slice = b->seg[parent].item;
        if (alike) {
            copy_slice(b, b->seg[alike->seg0 + k].item, slice);
            finish_slice(b, slice, number, from, node->x);
        } else {
            snw_build_slice(b, slice, number, from, node->x);
        }
        from = node->x;
        if (!(node->w > 0)) continue;
        SNW_TRY(find_section(&section, node->x, err));
        const snw_inertia M = snw_inertia_scale(node->w, section.M);
        snw_build_inertia(b, parent, &M);
        if (r->feed >= 0) snw_build_variable_length_node(b, r, number, parent);
    }
    *end = parent;
    if (r->grid) SNW_TRY(build_grid(b, number));
    SNW_TRY(compile_rod_add_stiffness(b, r, lay, alike, &section, err));
    return check_functions(b, r, phi0, err);
}
