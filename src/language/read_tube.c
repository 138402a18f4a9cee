// SPDX-License-Identifier: MIT
//
// Reads concentric tubes. A link with `tubes` becomes several links of the description (theory.md
// 3.19): its base at the exit, for each tube the straight part behind the exit with the joint that
// turns it, the centreline beyond it as the rod of the link itself, which is that of the innermost
// tube, and a rod that only twists for each other tube. Their lengths and sections are those of
// model/tube_layout.h.
#include "language/read.h"

#include "base/fail.h"
#include "model/tube_layout.h"

#include <math.h>
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
    X(TUBE_TRANSLATION, "translation", "m, law of t",                                              \
      "position of its base along x, not beyond the exit at 0; 0 unless given")                    \
    X(TUBE_ROTATION, "rotation", "rad, law of t",                                                  \
      "angle of its base; 0 unless given or turned by an actuator")

enum { CONCENTRIC_TUBE_KEYS(SNW_KEY_CODE) TUBE_N };
SNW_KEYS(concentric_tube, "concentric_tube", "a concentric tube", CONCENTRIC_TUBE_KEYS);

enum { DEGREE = 4 }; // default of the strains in an element

int snw_tubes_written(const snw_node *link) {
    const snw_node *tubes = snw_node_get(link, "tubes");
    return tubes && tubes->kind == SNW_NODE_MAP ? tubes->n : 0;
}

int snw_tubes_links(const snw_node *link) { return 2 * snw_tubes_written(link); }

// ---- one tube -----------------------------------------------------------------------------------

static snw_status read_radii(snw_reader *r, const snw_entry *const *e, snw_tube_desc *d) {
    const snw_entry *outer = e[TUBE_RADIUS] ? e[TUBE_RADIUS] : e[TUBE_DIAMETER];
    if (e[TUBE_RADIUS] && e[TUBE_DIAMETER])
        return snw_fail_at(r->err, e[TUBE_DIAMETER]->location,
                           "give one of 'radius' and 'diameter', not both");
    if (!outer && !e[TUBE_INNER]) return SNW_OK;
    if (!outer || !e[TUBE_INNER])
        return snw_fail_at(r->err, d->location, "tube '%s' needs %s beside '%s'", d->name,
                           outer ? "'inner'" : "'diameter' or 'radius'",
                           outer ? outer->key : "inner");
    SNW_TRY(snw_read_positive(r, outer->value, outer->key, SNW_DIM_LENGTH, &d->radius));
    SNW_TRY(snw_read_nonnegative(r, e[TUBE_INNER], SNW_DIM_LENGTH, &d->inner));
    d->radius_location = outer->value->location;
    if (e[TUBE_DIAMETER]) d->radius /= 2, d->inner /= 2;
    if (d->inner < d->radius) return SNW_OK;
    return snw_fail_at(r->err, e[TUBE_INNER]->value->location,
                       "'inner' of tube '%s' must be below its outer %s", d->name, outer->key);
}

static snw_status material_constant(snw_reader *r, const snw_tube_desc *d, const char *what,
                                    snw_law law, double *out) {
    *out = 0;
    if (!law || snw_law_constant(law, out)) return SNW_OK;
    return snw_fail_at(r->err, d->location,
                       "tube '%s' needs constants, and '%s' of material '%s' varies along it",
                       d->name, what, d->material->name);
}

// stiffness, inertia and damping of section and material
static snw_status derive_stiffness(snw_reader *r, snw_tube_desc *d) {
    const snw_material_desc *m = d->material;
    double young, poisson, shear, density;
    if (!m) return SNW_OK;
    if (m->hyperelastic.n > 0 || m->relaxation.n > 0) {
        return snw_fail_at(r->err, d->location,
                           "tube '%s' needs a linear elastic material, and '%s' is %s; give young",
                           d->name, m->name,
                           m->relaxation.n > 0 ? "one that relaxes" : "hyperelastic");
    }
    SNW_TRY(material_constant(r, d, "young", m->young, &young));
    SNW_TRY(material_constant(r, d, "poisson", m->poisson, &poisson));
    SNW_TRY(material_constant(r, d, "shear", m->shear, &shear));
    SNW_TRY(material_constant(r, d, "density", m->density, &density));
    SNW_TRY(material_constant(r, d, "damping", m->damping, &d->damping));
    if (!(d->radius > 0)) return SNW_OK;
    const double outer = d->radius * d->radius, inner = d->inner * d->inner;
    const double area = M_PI * (outer - inner), moment = 0.25 * area * (outer + inner);
    if (!m->shear && m->poisson) shear = young / (2 * (1 + poisson));
    d->bending = young * moment;
    d->torsion = 2 * shear * moment;
    d->mass = density * area;
    d->rotary = density * moment;
    return SNW_OK;
}

static snw_status need_stiffness(snw_reader *r, const snw_tube_desc *d, const char *which,
                                 const char *key, const char *of) {
    return snw_fail_at(r->err, d->location,
                       "tube '%s' has no %s stiffness: give '%s', or 'diameter', 'inner' and a "
                       "'material' with %s",
                       d->name, which, key, of);
}

static snw_status read_stiffness(snw_reader *r, const snw_entry *const *e, snw_tube_desc *d) {
    const snw_dim stiffness = {.m = 3, .kg = 1, .s = -2}, per_length = {.m = -1, .kg = 1};
    if (e[TUBE_MATERIAL]) {
        const snw_node *node = e[TUBE_MATERIAL]->value;
        const char *name = "";
        int i = 0;
        SNW_TRY(snw_read_name(r, node, "material", &name));
        SNW_TRY(snw_find_thing(r, node, name, SNW_THING_MATERIAL, &i));
        d->material = &r->material[i];
    }
    SNW_TRY(derive_stiffness(r, d));
    if (e[TUBE_BENDING])
        SNW_TRY(snw_read_positive(r, e[TUBE_BENDING]->value, "bending", stiffness, &d->bending));
    if (e[TUBE_TORSION])
        SNW_TRY(snw_read_positive(r, e[TUBE_TORSION]->value, "torsion", stiffness, &d->torsion));
    if (e[TUBE_MASS]) SNW_TRY(snw_read_nonnegative(r, e[TUBE_MASS], per_length, &d->mass));
    if (!(d->bending > 0)) return need_stiffness(r, d, "bending", "bending", "young");
    if (!(d->torsion > 0))
        return need_stiffness(r, d, "torsional", "torsion", "young and poisson, or shear");
    const bool known = e[TUBE_MASS] || (d->material && d->material->density && d->radius > 0);
    if (known || r->weightless) return SNW_OK;
    return snw_fail_at(r->err, d->location,
                       "tube '%s' has weight or moves: give 'mass', or a density of its material "
                       "(0 for none)",
                       d->name);
}

static snw_status read_lengths(snw_reader *r, const snw_entry *const *e, snw_tube_desc *d) {
    if (e[TUBE_STRAIGHT])
        SNW_TRY(snw_read_nonnegative(r, e[TUBE_STRAIGHT], SNW_DIM_LENGTH, &d->straight_part));
    if (e[TUBE_CURVED])
        SNW_TRY(snw_read_nonnegative(r, e[TUBE_CURVED], SNW_DIM_LENGTH, &d->curved_part));
    if (e[TUBE_CURVATURE])
        SNW_TRY(snw_read_constant(r, e[TUBE_CURVATURE]->value, "curvature", SNW_DIM_CURVATURE,
                                  &d->curvature));
    if (d->curved_part == 0) d->curvature = 0;
    if (!(d->straight_part + d->curved_part > 0))
        return snw_fail_at(r->err, d->location,
                           "tube '%s' has no length: give 'straight', 'curved' or both", d->name);
    d->translation_location = d->location;
    if (!e[TUBE_TRANSLATION]) return SNW_OK;
    d->translation_location = e[TUBE_TRANSLATION]->value->location;
    return snw_read_law(r, e[TUBE_TRANSLATION]->value, "translation", SNW_DIM_LENGTH, SNW_VAR_T,
                        &d->translation);
}

static snw_status read_tube(snw_reader *r, const snw_entry *entry, snw_tube_desc *d) {
    const snw_entry *e[TUBE_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_concentric_tube, e));
    d->name = entry->key;
    d->location = entry->location;
    SNW_TRY(read_radii(r, e, d));
    SNW_TRY(read_stiffness(r, e, d));
    SNW_TRY(read_lengths(r, e, d));
    if (!e[TUBE_ROTATION]) return SNW_OK;
    return snw_read_law(r, e[TUBE_ROTATION]->value, "rotation", SNW_DIM_NONE, SNW_VAR_T,
                        &d->rotation);
}

// ---- links --------------------------------------------------------------------------------------

static snw_site end_of(int link, snw_source_location at) {
    return (snw_site){
        .kind = SNW_SITE_END, .link = link, .pose = snw_se3_identity(), .location = at};
}

// The straight part behind the exit, with the joint that turns it.
static snw_link_desc base_link(const snw_tube_desc *d, int exit) {
    return (snw_link_desc){.name = d->name,
                           .location = d->location,
                           .on = end_of(exit, d->location),
                           .pose = snw_pose_desc_identity(),
                           .joint = SNW_JOINT_REVOLUTE,
                           .moves = {.axis = {{1, 0, 0}}}};
}

// The twist of a tube beyond the exit.
static snw_status twist_link(snw_reader *r, const snw_tube_desc *d, snw_link_desc *out) {
    *out = (snw_link_desc){.name = snw_pool_format(r->pool, "%s.twist", d->name),
                           .location = d->location,
                           .on = end_of(d->base, d->location),
                           .pose = snw_pose_desc_identity(),
                           .has_rod = true,
                           .hidden = true};
    return out->name ? SNW_OK : snw_read_memory(r);
}

snw_status snw_read_tubes(snw_reader *r, const snw_node *node, const snw_tube_keys *keys, int host,
                          int extra) {
    snw_desc *d = r->desc;
    snw_link_desc *link = &d->link[host];
    const int n = node->kind == SNW_NODE_MAP ? node->n : 0;
    int degree = DEGREE, elements = 0;
    if (n == 0)
        return snw_fail_at(r->err, node->location,
                           "'tubes' lists tubes by name, from the inside out: 'inner: {..}'");
    if (n > SNW_TUBES_MOST)
        return snw_fail_at(r->err, node->location, "%d tubes are more than %d", n, SNW_TUBES_MOST);
    if (keys->degree)
        SNW_TRY(
            snw_read_integer(r, keys->degree->value, "degree", 1, SNW_TUBES_MOST_DEGREE, &degree));
    if (keys->elements)
        SNW_TRY(snw_read_integer(r, keys->elements->value, "elements", 1, SNW_TUBES_MOST_ELEMENTS,
                                 &elements));
    d->link[extra] = (snw_link_desc){.name = snw_pool_format(r->pool, "%s.exit", link->name),
                                     .location = link->location,
                                     .pose = link->pose,
                                     .when = link->when};
    if (!d->link[extra].name) return snw_read_memory(r);
    for (int i = 0; i < n; i++) {
        snw_tube_desc *t = &d->tube[d->ntube++];
        *t = (snw_tube_desc){.host = host,
                             .base = extra + 1 + i,
                             .own = i > 0 ? extra + n + i : host,
                             .degree = degree,
                             .elements = elements,
                             .moves = true};
        SNW_TRY(read_tube(r, &node->entry[i], t));
        d->link[t->base] = base_link(t, extra);
        if (i > 0) SNW_TRY(twist_link(r, t, &d->link[t->own]));
    }
    link->pose = snw_pose_desc_identity();
    link->when = NULL;
    link->on = end_of(extra + 1, link->location);
    link->has_rod = true;
    return SNW_OK;
}

// ---- rotation -----------------------------------------------------------------------------------

static const snw_motor_desc *motor_of(const snw_desc *d, int link) {
    for (int i = 0; i < d->nmotor; i++) {
        if (d->motor[i].link == link && !d->motor[i].rod && !d->motor[i].feed) return &d->motor[i];
    }
    return NULL;
}

// inner_rotation of the tube inner, a_rotation(2) of the tube a(2)
static const char *rotation_name(snw_reader *r, const char *tube) {
    const int stem = (int)strcspn(tube, "(");
    return snw_pool_format(r->pool, "%.*s_rotation%s", stem, tube, tube + stem);
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
        law[0] = t->rotation ? t->rotation : snw_expr_constant(r->pool, 0);
        snw_motor_desc *m = &d->motor[d->nmotor++];
        *m = (snw_motor_desc){.name = rotation_name(r, t->name),
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
