// SPDX-License-Identifier: MIT
//
// Rods of variable length (theory.md 3.14): checks, the coordinate of the free length, and the
// shape functions and damping matrices needed because material moves through the nodes.
#include "model/compile.h"

#include "base/fail.h"
#include "model/material_law.h"
#include "model/tube_layout.h"

// Does the rest strain depend on x?
static bool variable_length_rest_varies(const snw_rod_desc *d) {
    for (int i = 0; i < 6; i++) {
        if (snw_law_varies(d->rest[i])) return true;
    }
    return false;
}

// Does the section or material depend on x?
static bool variable_length_section_varies(const snw_rod_desc *d) {
    const snw_section_desc *s = &d->section;
    const snw_material_desc *m = d->material;
    for (int i = 0; i < SNW_SECTION_SIZES; i++) {
        if (snw_law_varies(s->size[i])) return true;
    }
    for (int i = 0; i < 36; i++) {
        if (snw_law_varies(s->stiffness[i]) || snw_law_varies(s->inertia[i]) ||
            snw_law_varies(s->damping[i]))
            return true;
    }
    return m &&
           (snw_law_varies(m->young) || snw_law_varies(m->poisson) || snw_law_varies(m->shear) ||
            snw_law_varies(m->density) || snw_law_varies(m->damping));
}

static snw_status variable_length_refuse(snw_error *err, snw_source_location at, const char *rod,
                                         const char *what, const char *remedy) {
    return snw_fail_desc(err, at,
                         snw_fail(err, SNW_E_MODEL,
                                  "rod '%s' has variable length (feed, grow, a loop that it slides "
                                  "through, or tubes that slide in a motion), and %s; %s",
                                  rod, what, remedy));
}

// Is the site on the rod of link l, between its ends?
static bool variable_length_between(const snw_site *site, int l, double L) {
    return site->kind == SNW_SITE_AT && site->link == l && site->x > 1e-12 * L &&
           site->x < L * (1 - 1e-12);
}

// Nothing may be attached between the ends, since nodes are not material points there.
static snw_status check_attached(const snw_desc *d, int l, snw_error *err) {
    const char *name = d->link[l].name, *what = "something is attached between its ends",
               *remedy = "put it at the tip, or let the rod not slide";
    const double L = d->link[l].rod.length;
    for (int i = 0; i < d->nlink; i++) {
        if (variable_length_between(&d->link[i].on, l, L))
            return variable_length_refuse(err, d->link[i].on.location, name, what, remedy);
    }
    for (int i = 0; i < 2 * d->nloop; i++) {
        const snw_site *site = i % 2 ? &d->loop[i / 2].b : &d->loop[i / 2].a;
        if (variable_length_between(site, l, L))
            return variable_length_refuse(err, site->location, name, what, remedy);
    }
    for (int i = 0; i < d->ncontact; i++) {
        const snw_site *site = &d->contact[i].on;
        if (variable_length_between(site, l, L))
            return variable_length_refuse(err, site->location, name, what, remedy);
    }
    for (int i = 0; i < 2 * d->nforce_element; i++) {
        const snw_site *site = &d->force_element[i / 2].end[i % 2];
        if (variable_length_between(site, l, L))
            return variable_length_refuse(err, site->location, name, what, remedy);
    }
    for (int i = 0; i < d->nforce_field; i++) {
        const snw_site *site = &d->force_field[i].on;
        if (variable_length_between(site, l, L))
            return variable_length_refuse(err, site->location, name, what, remedy);
    }
    for (int i = 0; i < d->ntendon; i++) {
        for (int k = 0; k < d->tendon[i].nsegment; k++) {
            const snw_tendon_segment_desc *segment = &d->tendon[i].segment[k];
            if (variable_length_between(&segment->a, l, L) ||
                variable_length_between(&segment->b, l, L))
                return variable_length_refuse(err, d->tendon[i].location, name, what, remedy);
        }
    }
    for (int i = 0; i < d->nload; i++) {
        const snw_load_desc *load = &d->load[i];
        if (load->on.link != l) continue;
        if (!load->along && variable_length_between(&load->on, l, L))
            return variable_length_refuse(err, load->on.location, name, what, remedy);
        for (int k = 0; load->along && k < 3; k++) {
            if (!snw_law_varies(load->force[k]) && !snw_law_varies(load->torque[k])) continue;
            return variable_length_refuse(err, load->location, name,
                                          "a load along it varies with x",
                                          "make the load constant along it");
        }
    }
    return SNW_OK;
}

// Elements along the rod that do not support moving material.
static snw_status check_along(const snw_desc *d, int l, snw_error *err) {
    const char *name = d->link[l].name, *remedy = "leave one of the two out";
    for (int i = 0; i < d->nstress; i++) {
        if (d->stress[i].link == l)
            return variable_length_refuse(err, d->stress[i].location, name, "has active stress",
                                          remedy);
    }
    for (int i = 0; i < d->ntendon; i++) {
        for (int k = 0; k < d->tendon[i].nlink; k++) {
            if (d->tendon[i].link[k] == l) {
                return variable_length_refuse(err, d->tendon[i].location, name,
                                              "a tendon or chamber runs along it", remedy);
            }
        }
    }
    for (int i = 0; i < d->nfluid; i++) {
        for (int k = 0; k < d->fluid[i].nlink; k++) {
            if (d->fluid[i].link[k] == l)
                return variable_length_refuse(err, d->fluid[i].location, name,
                                              "a fluid surrounds it", remedy);
        }
    }
    for (int i = 0; i < d->nforce_field; i++) {
        for (int k = 0; k < d->force_field[i].nlink; k++) {
            if (d->force_field[i].link[k] == l)
                return variable_length_refuse(err, d->force_field[i].location, name,
                                              "a field acts on it", remedy);
        }
    }
    for (int i = 0; i < d->ncontact; i++) {
        for (int k = 0; k < d->contact[i].nlink; k++) {
            if (d->contact[i].link[k] == l) {
                if (d->contact[i].is_rods)
                    return variable_length_refuse(err, d->contact[i].location, name,
                                                  "it is in contact with other rods", remedy);
                return variable_length_refuse(
                    err, d->contact[i].location, name, "it is in contact with the ground",
                    "attach a link with a body to its tip and give that the contact");
            }
        }
        for (int k = 0; k < d->contact[i].nagainst; k++) {
            if (d->contact[i].against[k] == l)
                return variable_length_refuse(err, d->contact[i].location, name,
                                              "it is in contact with other rods", remedy);
        }
    }
    return SNW_OK;
}

// A rod that slides through a loop is uniform: laws of x would have to know both of its parts.
static snw_status check_part(const snw_desc *d, int l, snw_error *err) {
    const snw_link_desc *link = &d->link[l];
    if (!link->rod.fixed_root || link->rod.grows) return SNW_OK;
    if (variable_length_rest_varies(&link->rod) || variable_length_section_varies(&link->rod)) {
        return snw_fail_desc(
            err, link->rod.location,
            snw_fail(err, SNW_E_MODEL,
                     "rod '%s' slides through a loop, and its section, material or rest strain "
                     "varies with x; in this version such a rod must be uniform",
                     link->name));
    }
    return SNW_OK;
}

snw_status snw_check_variable_length(const snw_desc *d, int l, snw_error *err) {
    const snw_link_desc *link = &d->link[l];
    for (int k = l; k >= 0; k = d->link[k].on.link) {
        if (!d->link[k].when) continue;
        return variable_length_refuse(
            err, d->link[k].location, link->name, "its link is conditional",
            "make the link permanent and hold it by a loop with that 'when'");
    }
    for (int i = 0; i < 6; i++) {
        if (link->rod.given[i]) {
            return variable_length_refuse(err, link->rod.location, link->name,
                                          "a law gives one of its strains",
                                          "give that strain a basis");
        }
        if (link->rod.active[i] && !snw_basis_continuous(&link->rod.basis[i])) {
            return variable_length_refuse(err, link->rod.location, link->name,
                                          "its strain basis is discontinuous",
                                          "material would change its strain suddenly as it passes; "
                                          "use a continuous basis, such as 'linear' or 'legendre'");
        }
    }
    SNW_TRY(check_part(d, l, err));
    SNW_TRY(check_attached(d, l, err));
    return check_along(d, l, err);
}

snw_status snw_check_sliding_tubes(const snw_desc *d, snw_error *err) {
    for (int i = 0; i < d->ntube; i++) {
        const int l = d->tube[i].host;
        if (!d->tube[i].slides || (i > 0 && d->tube[i - 1].host == l)) continue;
        const char *name = d->link[l].name;
        for (int k = l; k >= 0; k = d->link[k].on.link) {
            if (!d->link[k].when) continue;
            return variable_length_refuse(err, d->link[k].location, name, "its link is conditional",
                                          "make the link permanent");
        }
        for (int k = 0; k < d->nload; k++) {
            if (d->load[k].along && d->load[k].on.link == l)
                return variable_length_refuse(err, d->load[k].location, name,
                                              "a load acts along it", "put it at the tip");
        }
        SNW_TRY(check_attached(d, l, err));
        SNW_TRY(check_along(d, l, err));
    }
    return SNW_OK;
}

int snw_build_feed(snw_build *b, int l, snw_rod *r, int parent) {
    const int block = snw_build_block(b, SNW_SPACE_RN, 1);
    const snw_block *k = &b->block[block];
    b->block[block].feed = true;
    r->feed = k->dof;
    r->feed_q = k->q;
    r->fixed_root = b->m->desc->link[l].rod.fixed_root;
    r->rest_varies = variable_length_rest_varies(&b->m->desc->link[l].rod);
    r->section_varies = variable_length_section_varies(&b->m->desc->link[l].rod);
    b->m->rest_varies = b->m->rest_varies || r->rest_varies;
    b->m->nfeed++;
    const int path = snw_build_path(b, b->seg[parent].path, k->dof, 1);
    return snw_build_seg(b, SNW_SEG_SCREW, parent, block, l, path);
}

// out <- derivatives of the shape functions in x/L; returns their number.
static int basis_derivatives(const snw_rod *r, double x, double *out) {
    const int n = snw_rod_basis_d1(r, x, out);
    for (int i = 0; i < n; i++) out[i] *= r->L;
    return n;
}

void snw_build_variable_length_node(snw_build *b, const snw_rod *r, int rod, int s) {
    const double x = b->seg_x[s];
    snw_variable_length_node *n = &b->variable_node[b->m->nvariable_node++];
    *n = (snw_variable_length_node){.seg = s,
                                    .rod = rod,
                                    .y = snw_rod_passing(r, x),
                                    .phi = b->nvariable_phi,
                                    .xi0 = snw_rod_rest(r, x)};
    b->nvariable_phi +=
        snw_rod_basis(r, x, x, n->first, n->count, b->variable_phi + b->nvariable_phi);
    n->phi_d1 = b->nvariable_phi;
    b->nvariable_phi += basis_derivatives(r, x, b->variable_phi + b->nvariable_phi);
    b->seg[s].variable_node = b->m->nvariable_node;
    const int ld = b->path[b->seg[s].path].ld;
    if (ld > b->m->most_variable_columns) b->m->most_variable_columns = ld;
}

// Damping acts on the material derivative D/Dt = d/dt + (l'/l) (1 - x/L) d/d(x/L) of the strain, l
// the free length; r->DS, r->SS <- E and G of (3.14.4).
snw_status snw_build_variable_length_damping(snw_build *b, snw_rod *r, const double D[36]) {
    const size_t n = (size_t)r->ndof;
    bool damped = false;
    for (int i = 0; i < 36; i++) damped = damped || D[i] != 0;
    if (!damped) return SNW_OK;
    double *DS = snw_build_array(b, n * n, sizeof *DS);
    double *SS = snw_build_array(b, n * n, sizeof *SS);
    double *dphi = snw_build_array(b, (size_t)b->most_phi, sizeof *dphi);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int k = r->point0; k < r->point0 + r->npoint; k++) {
        const snw_point *p = &b->point[k];
        const double y = snw_rod_passing(r, p->x), *phi = b->phi + p->phi;
        (void)basis_derivatives(r, p->x, dphi);
        for (int a = 0, i = 0; a < r->na; i += p->count[a], a++) {
            for (int c = 0, j = 0; c < r->na; j += p->count[c], c++) {
                const double d = p->w * y * D[6 * r->comp[a] + r->comp[c]];
                for (int f = 0; d != 0 && f < p->count[a] * p->count[c]; f++) {
                    const int u = f / p->count[c], v = f % p->count[c];
                    const size_t at = (size_t)(r->dof[a] - r->dof0 + p->first[a] + u) * n +
                                      (size_t)(r->dof[c] - r->dof0 + p->first[c] + v);
                    DS[at] += d * phi[i + u] * dphi[j + v];
                    SS[at] += d * y * dphi[i + u] * dphi[j + v];
                }
            }
        }
    }
    r->DS = DS;
    r->SS = SS;
    return SNW_OK;
}

snw_status snw_build_section_varies(snw_build *b, snw_rod *r) {
    snw_section_laws *section = snw_build_array(b, 1, sizeof *section);
    double *dphi = snw_build_array(b, (size_t)r->npoint * (size_t)b->most_phi, sizeof *dphi);
    if (b->memory_out) return SNW_E_MEMORY;
    *section = snw_build_section_laws(&b->m->desc->link[r->link].rod);
    r->section = section;
    r->phi_d1 = dphi;
    r->section_adr = b->m->nsection_varies;
    b->m->nsection_varies += r->npoint;
    for (int k = r->point0; k < r->point0 + r->npoint; k++)
        dphi += basis_derivatives(r, b->point[k].x, dphi);
    return SNW_OK;
}
