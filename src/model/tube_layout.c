// SPDX-License-Identifier: MIT
//
// Rods of concentric tubes at an instant: lengths, elements between the places where a tube ends or
// becomes curved, sections and poses (theory.md 3.19).
#include "model/tube_layout.h"

#include "base/fail.h"
#include "math/vector.h"

#include <math.h>
#include <stdlib.h>

enum {
    BASE_FUNCTIONS = 3, // of the twist behind the exit, which is uniform without inertia
    MORE_NODES = 3      // nodes of an element, beyond the degree
};

// Shortest piece while tubes slide, relative to the whole: shorter ones are widened, so that there
// are always as many.
static const double SHORTEST = 0.1 * SNW_TUBES_SHORT;

// Tubes of one robot.
typedef struct tube_set {
    int n;
    snw_tube_desc *tube; // n, from the inside out
    bool slides;
    double t;
    double break_at[SNW_TUBES_MOST_ELEMENTS]; // ends of elements, m: all but the exit
    int nbreak;
    snw_pool *pool;
    bool memory_out;
} tube_set;

static bool tube_slides(const snw_tube_desc *tube) {
    return tube->translation && snw_expr_vars(tube->translation) != 0;
}

bool snw_tubes_slide(const snw_desc *d) {
    bool any = false;
    for (int i = 0; i < d->ntube; i++) any = any || tube_slides(&d->tube[i]);
    return any;
}

static snw_status place_fail(snw_error *err, snw_source_location at, snw_status s) {
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

// ---- lengths

static snw_status place_lengths(const tube_set *s, snw_tube_desc *tube, snw_error *err) {
    const double whole = tube->straight_part + tube->curved_part;
    const double x = tube->translation ? snw_expr_value(tube->translation, (snw_at){.t = s->t}) : 0;
    if (!(x <= 0))
        return place_fail(err, tube->translation_location,
                          snw_fail(err, SNW_E_MODEL,
                                   "at t = %g s the base of tube '%s' is %g m beyond the exit; "
                                   "'translation' is at most 0, where the base is at the exit",
                                   s->t, tube->name, x));
    tube->slides = s->slides;
    tube->placed = x;
    tube->length = x + whole;
    tube->straight = fmax(0, x + tube->straight_part);
    tube->bend_is_beyond = x + tube->straight_part > 0;
    if (tube->curvature == 0 || tube->straight > tube->length) tube->straight = 0;
    if (tube->length > 1e-6 * whole) return SNW_OK;
    return place_fail(err, tube->translation_location,
                      snw_fail(err, SNW_E_MODEL,
                               "at t = %g s tube '%s' is retracted behind the exit: it is %g m "
                               "long, and its base is %g m behind the exit",
                               s->t, tube->name, whole, -x));
}

// each tube fits into the next, and none reaches farther than the innermost
static snw_status check_set(const tube_set *s, snw_error *err) {
    const snw_tube_desc *first = &s->tube[0];
    for (int i = 1; i < s->n; i++) {
        const snw_tube_desc *in = &s->tube[i - 1], *out = &s->tube[i];
        if (in->radius > 0 && out->radius > 0 && in->radius > out->inner * (1 + 1e-9))
            return place_fail(
                err, out->radius_location,
                snw_fail(err, SNW_E_MODEL,
                         "tube '%s', %g mm wide, does not fit into '%s' with a bore of %g mm: "
                         "tubes are listed from the inside out, and the clearance must not be "
                         "negative",
                         in->name, 2e3 * in->radius, out->name, 2e3 * out->inner));
        if (out->length <= first->length * (1 + 1e-9)) continue;
        return place_fail(
            err, out->location,
            snw_fail(err, SNW_E_MODEL,
                     "at t = %g s tube '%s' ends %g m beyond the exit, farther than the innermost "
                     "tube '%s', which ends at %g m; push '%s' out or retract '%s'",
                     s->t, out->name, out->length, first->name, first->length, first->name,
                     out->name));
    }
    return SNW_OK;
}

// ---- elements

// Rate at which the angles of two tubes change along them: sqrt(c), 1/m, alpha'' = c sin alpha.
static double pair_rate(const snw_tube_desc *a, const snw_tube_desc *b) {
    return sqrt(a->bending * b->bending / (a->bending + b->bending) *
                fabs(a->curvature * b->curvature) * (1 / a->torsion + 1 / b->torsion));
}

static bool is_curved_at(const snw_tube_desc *tube, double x) {
    return x > tube->straight && x < tube->length;
}

// Largest angle, in this measure, along the piece between two places; of tubes that slide along any
// piece, at any time.
static double piece_turn(const tube_set *s, double from, double to) {
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < i; k++) {
            const snw_tube_desc *a = &s->tube[i], *b = &s->tube[k];
            const double middle = 0.5 * (from + to);
            const bool both = is_curved_at(a, middle) && is_curved_at(b, middle);
            const double h = s->slides ? fmin(a->curved_part, b->curved_part)
                             : both    ? to - from
                                       : 0;
            most = fmax(most, h * pair_rate(a, b));
        }
    }
    return fmin(most, SNW_TUBES_MOST_ELEMENTS);
}

// Divides the piece from the last break to x into elements of equal length.
static snw_status add_piece(tube_set *s, double x, snw_error *err) {
    const double from = s->nbreak > 0 ? s->break_at[s->nbreak - 1] : 0, h = x - from;
    const int given = s->tube[0].elements, n = given > 0 ? given : 1 + (int)piece_turn(s, from, x);
    if (s->nbreak + n > SNW_TUBES_MOST_ELEMENTS)
        return place_fail(err, s->tube[0].location,
                          snw_fail(err, SNW_E_MODEL,
                                   "tube '%s' and those around it need more than %d elements",
                                   s->tube[0].name, SNW_TUBES_MOST_ELEMENTS));
    for (int i = 1; i <= n; i++) s->break_at[s->nbreak++] = i < n ? from + h * i / n : x;
    return SNW_OK;
}

static int compare_places(const void *a, const void *b) {
    return snw_compare_doubles(*(double *const *)a, *(double *const *)b);
}

// While tubes slide all pieces are kept: the places at[0..n-1], sorted, move apart.
static void spread_places(int n, double *const *at, double L) {
    const double least = SHORTEST * L;
    for (int i = 0; i < n; i++) *at[i] = fmax(*at[i], (i > 0 ? *at[i - 1] : 0) + least);
    for (int i = n - 1; i >= 0; i--) *at[i] = fmin(*at[i], (i + 1 < n ? *at[i + 1] : L) - least);
}

// Elements between the places where a tube ends or becomes curved; those that coincide are one.
static snw_status gather_breaks(tube_set *s, snw_error *err) {
    const double L = s->tube[0].length, slack = 1e-9 * L;
    double *at[2 * SNW_TUBES_MOST], last = 0;
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->tube[i].curvature != 0) at[n++] = &s->tube[i].straight;
        if (i > 0) at[n++] = &s->tube[i].length;
    }
    qsort(at, (size_t)n, sizeof(double *), compare_places);
    if (s->slides) spread_places(n, at, L);
    for (int i = 0; i < n; i++) {
        if (!(*at[i] > last + slack && *at[i] < L - slack)) continue;
        SNW_TRY(add_piece(s, *at[i], err));
        last = *at[i];
    }
    return add_piece(s, L, err);
}

// ---- rods

static snw_law number(tube_set *s, double value) {
    const snw_law law = snw_expr_constant(s->pool, value);
    if (!law) s->memory_out = true;
    return law;
}

// *out <- law of x with one value in each element; it jumps where a tube ends or becomes curved
static snw_status piecewise(tube_set *s, const double *value, snw_law *out, snw_error *err) {
    double at[SNW_TUBES_MOST_ELEMENTS], kept[SNW_TUBES_MOST_ELEMENTS];
    int n = 0;
    for (int i = 0; i + 1 < s->nbreak; i++) {
        if (value[i] == value[i + 1]) continue;
        at[n] = s->break_at[i];
        kept[n++] = value[i];
    }
    kept[n] = value[s->nbreak - 1];
    return snw_expr_steps(s->pool, n, at, kept, out, err);
}

static size_t diagonal(int i) { return (size_t)i * 7; }

static double element_middle(const tube_set *s, int i) {
    return 0.5 * ((i > 0 ? s->break_at[i - 1] : 0) + s->break_at[i]);
}

// stiffness, damping and inertia of a tube by itself; shape: with its section
static void tube_section(tube_set *s, const snw_tube_desc *tube, bool shape, snw_rod_desc *rod) {
    static const snw_material_desc none = {.name = "none"};
    snw_section_desc *section = &rod->section;
    section->location = rod->location = rod->length_location = tube->location;
    rod->material = tube->material ? tube->material : &none;
    if (shape && tube->radius > 0) {
        section->kind = SNW_SECTION_TUBE;
        section->size[0] = number(s, tube->radius);
        section->size[1] = number(s, tube->inner);
    }
    const double H[3] = {tube->torsion, tube->bending, tube->bending}, I = tube->rotary;
    const double J[6] = {2 * I, I, I, tube->mass, tube->mass, tube->mass};
    for (int i = 0; i < 3; i++) {
        section->stiffness[diagonal(i)] = number(s, H[i]);
        section->damping[diagonal(i)] = number(s, tube->damping * H[i]);
    }
    for (int i = 0; i < 6; i++) section->inertia[diagonal(i)] = number(s, J[i]);
    section->stiffness_given = section->inertia_given = section->damping_given = true;
}

// strain basis on the elements up to `length`
static void element_basis(tube_set *s, double length, snw_basis *out) {
    double *breaks = snw_pool_array(s->pool, (size_t)s->nbreak + 1, sizeof *breaks);
    if (!breaks) {
        s->memory_out = true;
        return;
    }
    int n = 0;
    breaks[n++] = 0;
    for (int i = 0; i < s->nbreak && s->break_at[i] < length * (1 - 1e-9); i++)
        breaks[n++] = s->break_at[i] / length;
    breaks[n] = 1;
    *out = (snw_basis){.kind = SNW_BASIS_DISCONTINUOUS, .nelem = n, .breaks = breaks};
    out->nfun = snw_basis_size(out->kind, s->tube[0].degree, n);
}

// The straight part of a tube behind the exit.
static void place_base(tube_set *s, const snw_tube_desc *tube, snw_link_desc *link) {
    const double whole = tube->straight_part + tube->curved_part;
    double behind = whole - tube->length; // tube->length may have been moved by SHORTEST
    if (s->slides) behind = fmax(behind, SHORTEST * whole);
    link->pose.xyz[0] = number(s, -behind);
    link->has_rod = behind > 1e-9 * whole;
    if (!link->has_rod) return;
    snw_rod_desc *rod = &link->rod;
    rod->length = behind;
    rod->magnus = 4; // integrates the twist exactly
    rod->nodes = BASE_FUNCTIONS - 1 + MORE_NODES;
    rod->active[SNW_TWIST] = true;
    rod->basis[SNW_TWIST] =
        (snw_basis){.kind = SNW_BASIS_LEGENDRE, .nfun = BASE_FUNCTIONS, .nelem = 1};
    tube_section(s, tube, true, rod);
}

// The twist of a tube beyond the exit: inertia about the tangent only. While tubes slide it goes on
// to the tip, without twist and inertia behind the end of the tube, so that it always has as many
// elements.
static snw_status place_twist(tube_set *s, const snw_tube_desc *tube, snw_link_desc *link,
                              snw_error *err) {
    snw_rod_desc *rod = &link->rod;
    rod->length = s->slides ? s->tube[0].length : tube->length;
    rod->magnus = 4; // integrates the twist exactly
    rod->active[SNW_TWIST] = true;
    element_basis(s, rod->length, &rod->basis[SNW_TWIST]);
    rod->nodes = rod->basis[SNW_TWIST].nelem * (s->tube[0].degree + MORE_NODES);
    tube_section(s, tube, false, rod);
    for (int k = 1; k < 6; k++) rod->section.inertia[diagonal(k)] = NULL;
    if (!s->slides) return SNW_OK;
    double polar[SNW_TUBES_MOST_ELEMENTS];
    for (int i = 0; i < s->nbreak; i++)
        polar[i] = element_middle(s, i) < tube->length ? 2 * tube->rotary : 0;
    return piecewise(s, polar, &rod->section.inertia[0], err);
}

// The common centreline: stiffness of the innermost tube, mass and outer radius of all.
static snw_status place_centreline(tube_set *s, snw_rod_desc *rod, snw_error *err) {
    enum { MOST = SNW_TUBES_MOST_ELEMENTS };
    const snw_tube_desc *first = &s->tube[0];
    double mass[MOST] = {0}, rotary[MOST] = {0}, radius[MOST] = {0}, bend[MOST] = {0};
    tube_section(s, first, true, rod);
    rod->length = first->length;
    rod->magnus = 6; // integrates the twist exactly up to SNW_TUBES_MOST_DEGREE
    rod->nodes = s->nbreak * (first->degree + MORE_NODES);
    for (int k = SNW_TWIST; k <= SNW_BEND_Z; k++) {
        rod->active[k] = true;
        element_basis(s, first->length, &rod->basis[k]);
    }
    for (int i = 0; i < s->nbreak; i++) {
        const double x = element_middle(s, i);
        bend[i] = x > first->straight ? first->curvature : 0;
        for (int k = 0; k < s->n; k++) {
            if (x > s->tube[k].length) continue;
            mass[i] += s->tube[k].mass;
            rotary[i] += s->tube[k].rotary;
            radius[i] = fmax(radius[i], s->tube[k].radius);
        }
    }
    SNW_TRY(piecewise(s, bend, &rod->rest[SNW_BEND_Y], err));
    if (rod->section.kind == SNW_SECTION_TUBE)
        SNW_TRY(piecewise(s, radius, &rod->section.size[0], err));
    for (int k = 1; k < 6; k++)
        SNW_TRY(piecewise(s, k < 3 ? rotary : mass, &rod->section.inertia[diagonal(k)], err));
    return SNW_OK;
}

// ---- all robots

static snw_status place_set(tube_set *s, snw_link_desc *link, snw_error *err) {
    for (int i = 0; i < s->n; i++) SNW_TRY(place_lengths(s, &s->tube[i], err));
    SNW_TRY(check_set(s, err));
    SNW_TRY(gather_breaks(s, err));
    for (int i = 0; i < s->n; i++) {
        const snw_tube_desc *tube = &s->tube[i];
        place_base(s, tube, &link[tube->base]);
        if (tube->own != tube->host) SNW_TRY(place_twist(s, tube, &link[tube->own], err));
    }
    SNW_TRY(place_centreline(s, &link[s->tube[0].host].rod, err));
    return s->memory_out ? snw_fail_memory(err) : SNW_OK;
}

snw_status snw_tubes_place(const snw_desc *d, double t, snw_pool *pool, snw_link_desc *link,
                           snw_tube_desc *tube, snw_error *err) {
    for (int i = 0; i < d->ntube;) {
        tube_set s = {.tube = &tube[i], .t = t, .pool = pool};
        for (; i < d->ntube && tube[i].host == s.tube[0].host; i++, s.n++)
            s.slides = s.slides || tube_slides(&tube[i]);
        SNW_TRY(place_set(&s, link, err));
    }
    return SNW_OK;
}
