// SPDX-License-Identifier: MIT
//
// Comparison of all data that layout.c and rod_quadrature.c read of two descriptions.
#include "model/layout_reuse.h"

#include "math/expr_op.h"
#include "model/rod_quadrature.h"

#include <string.h>

static bool same_law(snw_law a, snw_law b) { return a == b || (a && b && snw_expr_same(a, b)); }

static bool same_laws(int n, const snw_law *a, const snw_law *b) {
    for (int i = 0; i < n; i++) {
        if (!same_law(a[i], b[i])) return false;
    }
    return true;
}

static bool same_basis(const snw_basis *a, const snw_basis *b) {
    if (a->kind != b->kind || a->nfun != b->nfun || a->nelem != b->nelem) return false;
    if (a->set || b->set || !a->breaks != !b->breaks) return false;
    return !a->breaks ||
           memcmp(a->breaks, b->breaks, ((size_t)a->nelem + 1) * sizeof *a->breaks) == 0;
}

// Functions given by the user are not compared.
static bool same_functions(const snw_rod *a, const snw_rod *b) {
    if (a->na != b->na) return false;
    for (int i = 0; i < a->na; i++) {
        if (a->comp[i] != b->comp[i] || !same_basis(&a->basis[i], &b->basis[i])) return false;
    }
    return true;
}

bool snw_rods_alike(const snw_rod *a, const snw_rod *b) {
    return a->rule.kind == b->rule.kind && a->rule.number == b->rule.number &&
           memcmp(&a->L, &b->L, sizeof a->L) == 0 && same_functions(a, b) &&
           same_laws(6, a->rest, b->rest) && same_laws(6, a->given, b->given);
}

static bool same_stiffness(const snw_rod_desc *a, const snw_rod_desc *b) {
    const snw_material_desc *m = a->material, *o = b->material;
    return !snw_rod_has_law(a) && same_laws(36, a->section.stiffness, b->section.stiffness) &&
           same_laws(36, a->section.damping, b->section.damping) &&
           (!m || (same_law(m->young, o->young) && same_law(m->poisson, o->poisson) &&
                   same_law(m->shear, o->shear) && same_law(m->damping, o->damping)));
}

static bool same_section(const snw_rod_desc *a, const snw_rod_desc *b) {
    const snw_section_desc *s = &a->section, *o = &b->section;
    if (s->kind != o->kind || s->polar_torsion != o->polar_torsion ||
        s->inertia_given != o->inertia_given || snw_rod_has_law(a) != snw_rod_has_law(b) ||
        !a->material != !b->material)
        return false;
    if (!same_laws(SNW_SECTION_SIZES, s->size, o->size) || !same_laws(36, s->inertia, o->inertia))
        return false;
    if (a->material && !same_law(a->material->density, b->material->density)) return false;
    return (!snw_rod_section_varies(a) && !snw_rod_section_varies(b)) || same_stiffness(a, b);
}

static bool same_rod(const snw_rod_desc *a, const snw_rod_desc *b) {
    if (a->tolerance > 0 || b->tolerance > 0 || a->strain_points > 0 || b->strain_points > 0)
        return false;
    if (memcmp(&a->length, &b->length, sizeof a->length) != 0 ||
        a->variable_length != b->variable_length || a->nodes != b->nodes ||
        a->integrator != b->integrator || a->magnus != b->magnus || a->points != b->points)
        return false;
    for (int i = 0; i < 6; i++) {
        if (a->active[i] != b->active[i]) return false;
        if (a->active[i] && !same_basis(&a->basis[i], &b->basis[i])) return false;
    }
    return same_laws(6, a->rest, b->rest) && same_laws(6, a->given, b->given) && same_section(a, b);
}

static bool lists_link(int n, const int *link, int l) {
    for (int i = 0; i < n; i++) {
        if (link[i] == l) return true;
    }
    return false;
}

static bool same_surroundings(const snw_desc *a, const snw_desc *b, int l) {
    if (a->nfluid != b->nfluid || a->ncontact != b->ncontact) return false;
    for (int i = 0; i < a->nfluid; i++) {
        const snw_fluid_desc *f = &a->fluid[i], *o = &b->fluid[i];
        const bool in = lists_link(f->nlink, f->link, l);
        if (in != lists_link(o->nlink, o->link, l)) return false;
        if (in && (!same_laws(6, f->linear, o->linear) || !same_laws(6, f->square, o->square) ||
                   !same_law(f->normal, o->normal) || !same_law(f->tangent, o->tangent)))
            return false;
    }
    for (int i = 0; i < a->ncontact; i++) {
        const snw_contact_desc *c = &a->contact[i], *o = &b->contact[i];
        if (!c->nonholonomic != !o->nonholonomic ||
            lists_link(c->nlink, c->link, l) != lists_link(o->nlink, o->link, l))
            return false;
    }
    return true;
}

static bool same_forces(const snw_desc *a, const snw_desc *b, int l) {
    if (a->nload != b->nload || a->nstress != b->nstress) return false;
    for (int i = 0; i < a->nload; i++) {
        const snw_load_desc *f = &a->load[i], *o = &b->load[i];
        const bool on = f->along && f->on.link == l;
        if (on != (o->along && o->on.link == l)) return false;
        if (on && (f->body != o->body || !same_laws(3, f->force, o->force) ||
                   !same_laws(3, f->torque, o->torque)))
            return false;
    }
    for (int i = 0; i < a->nstress; i++) {
        const snw_stress_desc *f = &a->stress[i], *o = &b->stress[i];
        if (f->link != o->link || (f->link == l && !same_laws(6, f->stress, o->stress)))
            return false;
    }
    return true;
}

static bool same_tendons(const snw_desc *a, const snw_desc *b, int l) {
    if (a->ntendon != b->ntendon) return false;
    for (int i = 0; i < a->ntendon; i++) {
        const snw_tendon_desc *t = &a->tendon[i], *o = &b->tendon[i];
        if (t->nlink != o->nlink ||
            memcmp(t->link, o->link, (size_t)t->nlink * sizeof *t->link) != 0)
            return false;
        if (!lists_link(t->nlink, t->link, l)) continue;
        if (t->kind != o->kind || memcmp(&t->from, &o->from, sizeof t->from) != 0 ||
            memcmp(&t->to, &o->to, sizeof t->to) != 0 || !same_laws(2, t->at, o->at) ||
            !same_law(t->area, o->area))
            return false;
    }
    return true;
}

// Times at which laws are evaluated.
static bool same_durations(const snw_desc *a, const snw_desc *b) {
    if (a->nstep != b->nstep) return false;
    for (int i = 0; i < a->nstep; i++) {
        if (memcmp(&a->step[i].duration, &b->step[i].duration, sizeof(double)) != 0) return false;
    }
    return true;
}

bool snw_layout_reusable(const snw_desc *a, const snw_desc *b, int l) {
    return a->nlink == b->nlink && a->link[l].has_rod && b->link[l].has_rod &&
           same_durations(a, b) && same_rod(&a->link[l].rod, &b->link[l].rod) &&
           same_surroundings(a, b, l) && same_forces(a, b, l) && same_tendons(a, b, l);
}
