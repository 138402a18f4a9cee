// SPDX-License-Identifier: MIT
//
// Reads concentric tubes. A link with `tubes` becomes several links of the description (theory.md
// 3.18): its base at the exit, for each tube the straight part behind the exit with the joint that
// turns it, the centreline beyond it as the rod of the link itself, which is that of the innermost
// tube, and a rod that only twists for each other tube.
#include "language/read.h"

#include "base/fail.h"
#include "math/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONCENTRIC_TUBE_KEYS(X)                                                                    \
    X(TUBE_RADIUS, "radius", "m", "outer radius; inner is a radius too")                           \
    X(TUBE_DIAMETER, "diameter", "m", "outer diameter; inner is a diameter too")                   \
    X(TUBE_INNER, "inner", "m", "inner radius or diameter")                                        \
    X(TUBE_MATERIAL, "material", "a material's name", "its material")                              \
    X(TUBE_BENDING, "bending", "N m^2", "bending stiffness EI, instead of that of the material")   \
    X(TUBE_TORSION, "torsion", "N m^2", "torsional stiffness GJ, instead of that of the material") \
    X(TUBE_MASS, "mass", "kg/m", "mass per length, instead of that of the material")               \
    X(TUBE_STRAIGHT, "straight", "m",                                                              \
      "length of the straight part, from its base; 0 unless given")                                \
    X(TUBE_CURVED, "curved", "m", "length of the curved part behind it; 0 unless given")           \
    X(TUBE_CURVATURE, "curvature", "1/m",                                                          \
      "curvature of the curved part without stress, about local y; 0 unless given")                \
    X(TUBE_TRANSLATION, "translation", "m",                                                        \
      "position of its base along x, not beyond the exit at 0; 0 unless given")                    \
    X(TUBE_ROTATION, "rotation", "rad, law of t",                                                  \
      "angle of its base; 0 unless given or turned by an actuator")

enum { CONCENTRIC_TUBE_KEYS(SNW_KEY_CODE) TUBE_N };
SNW_KEYS(concentric_tube, "concentric_tube", "a concentric tube", CONCENTRIC_TUBE_KEYS);

enum {
    MOST_TUBES = 16,
    MOST_ELEMENTS = 100,
    DEGREE = 4,         // default of the strains in an element
    MOST_DEGREE = 5,    // the sixth-order rule along the centreline integrates its twist exactly
    BASE_FUNCTIONS = 3, // of the twist behind the exit, which is uniform without inertia
    MORE_NODES = 3      // nodes of an element, beyond the degree
};

// A tube as written, with what follows from section and material.
typedef struct tube_read {
    double radius, inner;                // m; 0: not given
    double mass, spin;                   // per length, kg/m; rotary inertia about y and z, kg m
    double straight, curved;             // m, from the base
    double translation;                  // m
    snw_source_location radius_location; // or of the tube
    const snw_material_desc *material;
} tube_read;

// Tubes of one robot.
typedef struct tube_set {
    int n;
    tube_read read[MOST_TUBES];
    snw_tube_desc *desc;                             // n
    double break_at[MOST_ELEMENTS + 2 * MOST_TUBES]; // ends of elements, m: all but the exit
    int nbreak;
    int degree; // of the strains in an element
} tube_set;

int snw_tubes_written(const snw_node *link) {
    const snw_node *tubes = snw_node_get(link, "tubes");
    return tubes && tubes->kind == SNW_NODE_MAP ? tubes->n : 0;
}

int snw_tubes_links(const snw_node *link) { return 2 * snw_tubes_written(link); }

// ---- one tube -----------------------------------------------------------------------------------

static snw_status material_constant(snw_reader *r, const snw_tube_desc *d, const char *material,
                                    const char *what, snw_law law, double *out) {
    *out = 0;
    if (!law || snw_law_constant(law, out)) return SNW_OK;
    return snw_fail_at(r->err, d->location,
                       "tube '%s' needs constants, and '%s' of material '%s' varies along it",
                       d->name, what, material);
}

static snw_status read_radii(snw_reader *r, const snw_entry *const *e, const snw_tube_desc *d,
                             tube_read *t) {
    const snw_entry *outer = e[TUBE_RADIUS] ? e[TUBE_RADIUS] : e[TUBE_DIAMETER];
    if (e[TUBE_RADIUS] && e[TUBE_DIAMETER])
        return snw_fail_at(r->err, e[TUBE_DIAMETER]->location,
                           "give one of 'radius' and 'diameter', not both");
    if (!outer && !e[TUBE_INNER]) return SNW_OK;
    if (!outer || !e[TUBE_INNER])
        return snw_fail_at(r->err, d->location, "tube '%s' needs %s beside '%s'", d->name,
                           outer ? "'inner'" : "'diameter' or 'radius'",
                           outer ? outer->key : "inner");
    SNW_TRY(snw_read_positive(r, outer->value, outer->key, SNW_DIM_LENGTH, &t->radius));
    SNW_TRY(snw_read_nonnegative(r, e[TUBE_INNER], SNW_DIM_LENGTH, &t->inner));
    t->radius_location = outer->value->location;
    if (e[TUBE_DIAMETER]) t->radius /= 2, t->inner /= 2;
    if (t->inner < t->radius) return SNW_OK;
    return snw_fail_at(r->err, e[TUBE_INNER]->value->location,
                       "'inner' of tube '%s' must be below its outer %s", d->name, outer->key);
}

// stiffness, inertia and damping of section and material
static snw_status derive_stiffness(snw_reader *r, snw_tube_desc *d, tube_read *t) {
    const snw_material_desc *m = t->material;
    double young, poisson, shear, density;
    if (!m) return SNW_OK;
    SNW_TRY(material_constant(r, d, m->name, "young", m->young, &young));
    SNW_TRY(material_constant(r, d, m->name, "poisson", m->poisson, &poisson));
    SNW_TRY(material_constant(r, d, m->name, "shear", m->shear, &shear));
    SNW_TRY(material_constant(r, d, m->name, "density", m->density, &density));
    SNW_TRY(material_constant(r, d, m->name, "damping", m->damping, &d->damping));
    if (!(t->radius > 0)) return SNW_OK;
    const double R2 = t->radius * t->radius, r2 = t->inner * t->inner;
    const double area = M_PI * (R2 - r2), moment = 0.25 * area * (R2 + r2);
    if (!m->shear && m->poisson) shear = young / (2 * (1 + poisson));
    d->bending = young * moment;
    d->torsion = 2 * shear * moment;
    t->mass = density * area;
    t->spin = density * moment;
    return SNW_OK;
}

static snw_status need_stiffness(snw_reader *r, const snw_tube_desc *d, const char *which,
                                 const char *of) {
    return snw_fail_at(r->err, d->location,
                       "tube '%s' has no %s stiffness: give '%s', or 'diameter', 'inner' and a "
                       "'material' with %s",
                       d->name, which, which[0] == 'b' ? "bending" : "torsion", of);
}

static snw_status read_stiffness(snw_reader *r, const snw_entry *const *e, snw_tube_desc *d,
                                 tube_read *t) {
    const snw_dim stiffness = {.m = 3, .kg = 1, .s = -2}, per_length = {.m = -1, .kg = 1};
    if (e[TUBE_MATERIAL]) {
        const snw_node *node = e[TUBE_MATERIAL]->value;
        const char *name = "";
        int i = 0;
        SNW_TRY(snw_read_name(r, node, "material", &name));
        SNW_TRY(snw_find_thing(r, node, name, SNW_THING_MATERIAL, &i));
        t->material = &r->material[i];
    }
    SNW_TRY(derive_stiffness(r, d, t));
    if (e[TUBE_BENDING])
        SNW_TRY(snw_read_positive(r, e[TUBE_BENDING]->value, "bending", stiffness, &d->bending));
    if (e[TUBE_TORSION])
        SNW_TRY(snw_read_positive(r, e[TUBE_TORSION]->value, "torsion", stiffness, &d->torsion));
    if (e[TUBE_MASS]) SNW_TRY(snw_read_nonnegative(r, e[TUBE_MASS], per_length, &t->mass));
    if (!(d->bending > 0)) return need_stiffness(r, d, "bending", "young");
    if (!(d->torsion > 0)) return need_stiffness(r, d, "torsional", "poisson or shear");
    const bool known = e[TUBE_MASS] || (t->material && t->material->density && t->radius > 0);
    if (known || r->weightless) return SNW_OK;
    return snw_fail_at(r->err, d->location,
                       "tube '%s' has weight or moves: give 'mass', or a density of its material "
                       "(0 for none)",
                       d->name);
}

static snw_status read_lengths(snw_reader *r, const snw_entry *const *e, snw_tube_desc *d,
                               tube_read *t) {
    if (e[TUBE_STRAIGHT])
        SNW_TRY(snw_read_nonnegative(r, e[TUBE_STRAIGHT], SNW_DIM_LENGTH, &t->straight));
    if (e[TUBE_CURVED])
        SNW_TRY(snw_read_nonnegative(r, e[TUBE_CURVED], SNW_DIM_LENGTH, &t->curved));
    if (e[TUBE_CURVATURE])
        SNW_TRY(snw_read_constant(r, e[TUBE_CURVATURE]->value, "curvature", SNW_DIM_CURVATURE,
                                  &d->curvature));
    if (e[TUBE_TRANSLATION])
        SNW_TRY(snw_read_constant(r, e[TUBE_TRANSLATION]->value, "translation", SNW_DIM_LENGTH,
                                  &t->translation));
    const double whole = t->straight + t->curved;
    if (!(whole > 0))
        return snw_fail_at(r->err, d->location,
                           "tube '%s' has no length: give 'straight', 'curved' or both", d->name);
    const snw_source_location at =
        e[TUBE_TRANSLATION] ? e[TUBE_TRANSLATION]->value->location : d->location;
    if (t->translation > 0)
        return snw_fail_at(r->err, at,
                           "the base of tube '%s' is %g m beyond the exit; 'translation' is at "
                           "most 0, where the base is at the exit",
                           d->name, t->translation);
    d->length = t->translation + whole;
    if (!(d->length > 1e-9 * whole))
        return snw_fail_at(r->err, at,
                           "tube '%s' is retracted behind the exit: it is %g m long, and its base "
                           "is %g m behind the exit",
                           d->name, whole, -t->translation);
    d->straight = fmax(0, t->translation + t->straight);
    return SNW_OK;
}

static snw_status read_tube(snw_reader *r, const snw_entry *entry, snw_tube_desc *d, tube_read *t) {
    const snw_entry *e[TUBE_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_concentric_tube, e));
    d->name = entry->key;
    d->location = entry->location;
    SNW_TRY(read_radii(r, e, d, t));
    SNW_TRY(read_stiffness(r, e, d, t));
    SNW_TRY(read_lengths(r, e, d, t));
    if (!e[TUBE_ROTATION]) return SNW_OK;
    return snw_read_law(r, e[TUBE_ROTATION]->value, "rotation", SNW_DIM_NONE, SNW_VAR_T,
                        &d->rotation);
}

// ---- all tubes ----------------------------------------------------------------------------------

// each tube fits into the next, and none reaches farther than the innermost
static snw_status check_set(snw_reader *r, const tube_set *s) {
    for (int i = 1; i < s->n; i++) {
        const tube_read *in = &s->read[i - 1], *out = &s->read[i];
        const char *inside = s->desc[i - 1].name, *outside = s->desc[i].name;
        if (in->radius > 0 && out->radius > 0 && in->radius > out->inner)
            return snw_fail_at(r->err, out->radius_location,
                               "tube '%s', %g mm wide, does not fit into '%s' with a bore of %g "
                               "mm: tubes are listed from the inside out, and the clearance must "
                               "not be negative",
                               inside, 2e3 * in->radius, outside, 2e3 * out->inner);
        if (s->desc[i].length <= s->desc[0].length * (1 + 1e-9)) continue;
        return snw_fail_at(r->err, s->desc[i].location,
                           "tube '%s' ends %g m beyond the exit, farther than the innermost tube "
                           "'%s', which ends at %g m; push '%s' out or retract '%s'",
                           outside, s->desc[i].length, s->desc[0].name, s->desc[0].length,
                           s->desc[0].name, outside);
    }
    return SNW_OK;
}

// Rate at which angles of tubes change along a piece around x: the largest sqrt(c), 1/m, of two of
// them alone, alpha'' = c sin alpha.
static double piece_rate(const tube_set *s, double x) {
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < i; k++) {
            const snw_tube_desc *a = &s->desc[i], *b = &s->desc[k];
            if (x < a->straight || x > a->length || x < b->straight || x > b->length) continue;
            const double c = a->bending * b->bending / (a->bending + b->bending) *
                             fabs(a->curvature * b->curvature) * (1 / a->torsion + 1 / b->torsion);
            most = fmax(most, c);
        }
    }
    return sqrt(most);
}

// Divides the piece from the last break to x into `elements` equal ones; 0: as many as its rate
// needs.
static snw_status add_piece(snw_reader *r, tube_set *s, double x, int elements) {
    const double from = s->nbreak > 0 ? s->break_at[s->nbreak - 1] : 0, h = x - from;
    const double turns = h * piece_rate(s, from + 0.5 * h);
    const int n = elements > 0 ? elements : 1 + (int)fmin(turns, MOST_ELEMENTS);
    if (s->nbreak + n > MOST_ELEMENTS)
        return snw_fail_at(r->err, s->desc[0].location,
                           "tube '%s' and those around it would need more than %d elements",
                           s->desc[0].name, MOST_ELEMENTS);
    for (int i = 1; i <= n; i++) s->break_at[s->nbreak++] = i < n ? from + h * i / n : x;
    return SNW_OK;
}

// Elements between the places where a tube ends or becomes curved; those that coincide are one.
static snw_status gather_breaks(snw_reader *r, int elements, tube_set *s) {
    const double L = s->desc[0].length, slack = 1e-9 * L;
    double all[2 * MOST_TUBES], last = 0;
    int n = 0;
    for (int i = 0; i < s->n; i++) {
        if (s->desc[i].curvature != 0) all[n++] = s->desc[i].straight;
        if (i > 0) all[n++] = s->desc[i].length;
    }
    qsort(all, (size_t)n, sizeof *all, snw_compare_doubles);
    for (int i = 0; i < n; i++) {
        if (!(all[i] > last + slack && all[i] < L - slack)) continue;
        SNW_TRY(add_piece(r, s, all[i], elements));
        last = all[i];
    }
    return add_piece(r, s, L, elements);
}

// ---- descriptions -------------------------------------------------------------------------------

static snw_law number(snw_reader *r, double value) { return snw_expr_constant(r->pool, value); }

// *out <- law of x with one value in each element; it jumps where a tube ends or becomes curved
static snw_status piecewise(snw_reader *r, const tube_set *s, const double *value, snw_law *out) {
    char text[2 * MOST_TUBES * 64];
    size_t used = 0;
    int jumps = 0;
    for (int i = 0; i + 1 < s->nbreak; i++) {
        if (value[i] == value[i + 1]) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "if(x < %.17g, %.17g, ",
                                 s->break_at[i], value[i]);
        jumps++;
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "%.17g", value[s->nbreak - 1]);
    for (int i = 0; i < jumps; i++) used += (size_t)snprintf(text + used, sizeof text - used, ")");
    const char *kept = snw_pool_text(r->pool, text, used);
    if (!kept) return snw_read_memory(r);
    const snw_dim dim = SNW_DIM_NONE;
    const snw_expr_rules rules = {.dim = &dim, .vars = SNW_VAR_X | SNW_VAR_L};
    const snw_source_location at = s->desc[0].location;
    return snw_expr_parse(r->pool, r->root->scope, kept, &rules, at.file, at.line, at.column, out,
                          r->err);
}

static size_t diagonal(int i) { return (size_t)i * 7; }

// stiffness and damping of a tube, by itself
static snw_status tube_section(snw_reader *r, const snw_tube_desc *d, const tube_read *t,
                               bool shape, snw_rod_desc *rod) {
    static const snw_material_desc none = {.name = "none"};
    snw_section_desc *section = &rod->section;
    section->location = rod->location = rod->length_location = d->location;
    rod->material = t->material ? t->material : &none;
    if (shape && t->radius > 0) {
        section->kind = SNW_SECTION_TUBE;
        section->size[0] = number(r, t->radius);
        section->size[1] = number(r, t->inner);
    }
    const double H[3] = {d->torsion, d->bending, d->bending};
    const double J[6] = {2 * t->spin, t->spin, t->spin, t->mass, t->mass, t->mass};
    for (int i = 0; i < 3; i++) {
        section->stiffness[diagonal(i)] = number(r, H[i]);
        section->damping[diagonal(i)] = number(r, d->damping * H[i]);
        if (!section->stiffness[diagonal(i)] || !section->damping[diagonal(i)])
            return snw_read_memory(r);
    }
    for (int i = 0; i < 6; i++) {
        section->inertia[diagonal(i)] = number(r, J[i]);
        if (!section->inertia[diagonal(i)]) return snw_read_memory(r);
    }
    section->stiffness_given = section->inertia_given = section->damping_given = true;
    return SNW_OK;
}

// strain basis on the elements up to the end of a tube
static snw_status element_basis(snw_reader *r, const tube_set *s, double length, snw_basis *out) {
    double *breaks = snw_pool_array(r->pool, (size_t)s->nbreak + 1, sizeof *breaks);
    if (!breaks) return snw_read_memory(r);
    int n = 0;
    breaks[n++] = 0;
    for (int i = 0; i < s->nbreak && s->break_at[i] < length * (1 - 1e-9); i++)
        breaks[n++] = s->break_at[i] / length;
    breaks[n] = 1;
    *out = (snw_basis){.kind = SNW_BASIS_DISCONTINUOUS, .nelem = n, .breaks = breaks};
    out->nfun = snw_basis_size(out->kind, s->degree, n);
    if (out->nfun <= SNW_BASIS_MAX_FUNCTIONS) return SNW_OK;
    return snw_fail_at(r->err, s->desc[0].location,
                       "%d elements of degree %d make %d functions, at most %d are possible", n,
                       s->degree, out->nfun, SNW_BASIS_MAX_FUNCTIONS);
}

// The straight part of a tube behind the exit, with the joint that turns it.
static snw_status base_link(snw_reader *r, const tube_set *s, int i, int base, snw_link_desc *out) {
    const tube_read *t = &s->read[i];
    const snw_tube_desc *d = &s->desc[i];
    *out = (snw_link_desc){.name = d->name,
                           .location = d->location,
                           .on = {.kind = SNW_SITE_END,
                                  .link = base,
                                  .pose = snw_se3_identity(),
                                  .location = d->location},
                           .pose = snw_pose_desc_identity(),
                           .joint = SNW_JOINT_REVOLUTE,
                           .moves = {.axis = {{1, 0, 0}}}};
    out->pose.xyz[0] = number(r, t->translation);
    if (!out->pose.xyz[0]) return snw_read_memory(r);
    if (!(t->translation < -1e-9 * d->length)) return SNW_OK;
    out->has_rod = true;
    snw_rod_desc *rod = &out->rod;
    rod->length = -t->translation;
    rod->magnus = 4; // integrates the twist exactly
    rod->nodes = BASE_FUNCTIONS - 1 + MORE_NODES;
    rod->active[SNW_TWIST] = true;
    rod->basis[SNW_TWIST] =
        (snw_basis){.kind = SNW_BASIS_LEGENDRE, .nfun = BASE_FUNCTIONS, .nelem = 1};
    return tube_section(r, d, t, true, rod);
}

// The twist of a tube beyond the exit: inertia about the tangent only.
static snw_status twist_link(snw_reader *r, const tube_set *s, int i, int base,
                             snw_link_desc *out) {
    const snw_tube_desc *d = &s->desc[i];
    tube_read light = s->read[i];
    *out = (snw_link_desc){.name = snw_pool_format(r->pool, "%s.twist", d->name),
                           .location = d->location,
                           .on = {.kind = SNW_SITE_END,
                                  .link = base,
                                  .pose = snw_se3_identity(),
                                  .location = d->location},
                           .pose = snw_pose_desc_identity(),
                           .has_rod = true,
                           .hidden = true};
    if (!out->name) return snw_read_memory(r);
    snw_rod_desc *rod = &out->rod;
    rod->length = d->length;
    rod->magnus = 4; // integrates the twist exactly
    rod->active[SNW_TWIST] = true;
    SNW_TRY(element_basis(r, s, d->length, &rod->basis[SNW_TWIST]));
    rod->nodes = rod->basis[SNW_TWIST].nelem * (s->degree + MORE_NODES);
    light.mass = 0;
    SNW_TRY(tube_section(r, d, &light, false, rod));
    for (int k = SNW_BEND_Y; k <= SNW_BEND_Z; k++) rod->section.inertia[diagonal(k)] = NULL;
    return SNW_OK;
}

// The common centreline: stiffness of the innermost tube, mass and outer radius of all.
static snw_status centreline(snw_reader *r, const tube_set *s, snw_rod_desc *rod) {
    const snw_tube_desc *first = &s->desc[0];
    double mass[MOST_ELEMENTS] = {0}, spin[MOST_ELEMENTS] = {0}, radius[MOST_ELEMENTS] = {0},
           bend[MOST_ELEMENTS] = {0};
    SNW_TRY(tube_section(r, first, &s->read[0], true, rod));
    rod->length = first->length;
    rod->magnus = 6;
    rod->nodes = s->nbreak * (s->degree + MORE_NODES);
    for (int k = 0; k < 3; k++) {
        rod->active[k] = true;
        SNW_TRY(element_basis(r, s, first->length, &rod->basis[k]));
    }
    for (int i = 0; i < s->nbreak; i++) {
        const double from = i > 0 ? s->break_at[i - 1] : 0, x = 0.5 * (from + s->break_at[i]);
        bend[i] = x > first->straight ? first->curvature : 0;
        for (int k = 0; k < s->n; k++) {
            if (x > s->desc[k].length) continue;
            mass[i] += s->read[k].mass;
            spin[i] += s->read[k].spin;
            radius[i] = fmax(radius[i], s->read[k].radius);
        }
    }
    SNW_TRY(piecewise(r, s, bend, &rod->rest[SNW_BEND_Y]));
    if (rod->section.kind == SNW_SECTION_TUBE)
        SNW_TRY(piecewise(r, s, radius, &rod->section.size[0]));
    for (int k = 1; k < 6; k++)
        SNW_TRY(piecewise(r, s, k < 3 ? spin : mass, &rod->section.inertia[diagonal(k)]));
    return SNW_OK;
}

snw_status snw_read_tubes(snw_reader *r, const snw_node *node, const snw_tube_keys *keys, int host,
                          int extra) {
    snw_desc *d = r->desc;
    snw_link_desc *link = &d->link[host], *base = &d->link[extra];
    tube_set s = {.n = node->kind == SNW_NODE_MAP ? node->n : 0, .degree = DEGREE};
    if (s.n == 0)
        return snw_fail_at(r->err, node->location,
                           "'tubes' lists tubes by name, from the inside out: 'inner: {..}'");
    if (s.n > MOST_TUBES)
        return snw_fail_at(r->err, node->location, "%d tubes are more than %d", s.n, MOST_TUBES);
    int elements = 0;
    if (keys->degree)
        SNW_TRY(snw_read_integer(r, keys->degree->value, "degree", 1, MOST_DEGREE, &s.degree));
    if (keys->elements)
        SNW_TRY(
            snw_read_integer(r, keys->elements->value, "elements", 1, MOST_ELEMENTS, &elements));
    s.desc = &d->tube[d->ntube];
    for (int i = 0; i < s.n; i++) SNW_TRY(read_tube(r, &node->entry[i], &s.desc[i], &s.read[i]));
    SNW_TRY(check_set(r, &s));
    SNW_TRY(gather_breaks(r, elements, &s));
    *base = (snw_link_desc){.name = snw_pool_format(r->pool, "%s.exit", link->name),
                            .location = link->location,
                            .pose = link->pose,
                            .when = link->when};
    if (!base->name) return snw_read_memory(r);
    link->pose = snw_pose_desc_identity();
    link->when = NULL;
    for (int i = 0; i < s.n; i++) {
        snw_tube_desc *t = &s.desc[i];
        t->host = host;
        t->base = extra + 1 + i;
        t->own = i > 0 ? extra + s.n + i : host;
        SNW_TRY(base_link(r, &s, i, extra, &d->link[t->base]));
        if (i > 0) SNW_TRY(twist_link(r, &s, i, t->base, &d->link[t->own]));
    }
    link->on = (snw_site){.kind = SNW_SITE_END,
                          .link = s.desc[0].base,
                          .pose = snw_se3_identity(),
                          .location = link->location};
    link->has_rod = true;
    d->ntube += s.n;
    return centreline(r, &s, &link->rod);
}

// ---- rotation -----------------------------------------------------------------------------------

static const snw_motor_desc *motor_of(const snw_desc *d, int link) {
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].link == link && !d->motor[i].rod && !d->motor[i].feed) return &d->motor[i];
    }
    return NULL;
}

snw_status snw_read_tube_rotations(snw_reader *r) {
    snw_desc *d = r->desc;
    for (int i = 0; i < d->ntube; i++) {
        const snw_tube_desc *t = &d->tube[i];
        const snw_motor_desc *other = motor_of(d, t->base);
        if (other && t->rotation)
            return snw_fail_at(r->err, t->location,
                               "tube '%s' has a 'rotation', and actuator '%s' turns it, too; give "
                               "one of them",
                               t->name, other->name);
        if (other) continue;
        snw_law *law = snw_pool_array(r->pool, 1, sizeof *law);
        if (!law) return snw_read_memory(r);
        law[0] = t->rotation ? t->rotation : number(r, 0);
        snw_motor_desc *m = &d->motor[d->nmotor++];
        *m = (snw_motor_desc){.name = snw_pool_format(r->pool, "%s_rotation", t->name),
                              .location = t->location,
                              .kind = SNW_ACTUATOR_JOINT,
                              .given = SNW_GIVEN_MOTION,
                              .link = t->base,
                              .n = 1,
                              .law = law};
        if (!m->name || !law[0]) return snw_read_memory(r);
        SNW_TRY(snw_add_thing(r, m->name, t->location, SNW_THING_ACTUATOR, d->nmotor - 1));
        SNW_TRY(snw_read_both(r, t->location, d->link[t->base].when, &m->when));
    }
    return SNW_OK;
}
