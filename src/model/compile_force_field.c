// SPDX-License-Identifier: MIT
//
// Fields of force and magnetic fields: the points at which they act, the frames of dipoles, and
// their divergence and curl (theory.md 3.21).
#include "model/compile.h"

#include "base/fail.h"
#include "model/place_law.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_magnetic(snw_force_field_kind kind) {
    return kind == SNW_FORCE_FIELD_MAGNETIC || kind == SNW_FORCE_FIELD_DIPOLE;
}

static snw_status field_refuse(const snw_force_field_desc *d, const char *link, const char *why,
                               snw_error *err) {
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL, "field '%s' on link '%s': %s", d->name, link, why));
}

// ---- samples of a field ------------------------------------------------------------------------

// Relative size below which a derivative counts as rounding, and number of samples.
static const double ROUNDING = 1e-9;
enum { SAMPLES = 24 };

// Place and time of sample k: a sequence that fills a box of the size of the robot about the
// origin, and larger ones.
static snw_vec3 sample_place(double length, int k, double *t) {
    static const double step[4] = {0.8191725134, 0.6710436067, 0.5497004779, 0.2924};
    static const double size[3] = {2, 0.3, 15};
    snw_vec3 p;
    for (int i = 0; i < 3; i++)
        p.e[i] = size[k % 3] * length * (fmod(0.37 + step[i] * (k + 1), 1) - 0.5);
    *t = k % 4 == 0 ? 0 : step[3] * k;
    return p;
}

// G <- derivatives of the components of a field, by rows; returns their largest.
static double field_gradient(const snw_law law[3], double t, snw_vec3 p, snw_mat3 *G) {
    double most = 0;
    for (int i = 0; i < 3; i++) {
        snw_place_jet j;
        snw_place_law_at(law[i], t, p, 1, &j);
        for (int k = 0; k < 3; k++) {
            G->e[i][k] = j.d1.e[k];
            most = isfinite(j.d1.e[k]) ? fmax(most, fabs(j.d1.e[k])) : NAN;
            if (isnan(most)) return most;
        }
    }
    return most;
}

static double curl(const snw_mat3 *G) {
    double most = 0;
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3;
        most = fmax(most, fabs(G->e[i][k] - G->e[k][i]));
    }
    return most;
}

// Has the field of force a potential, which is finite on lines from the origin?
static bool has_potential(const snw_law law[3], double length) {
    int finite = 0;
    for (int k = 0; k < SAMPLES; k++) {
        double t;
        snw_mat3 G;
        const snw_vec3 p = sample_place(length, k, &t);
        const double size = field_gradient(law, t, p, &G);
        if (!isfinite(size)) continue;
        finite++;
        if (curl(&G) > ROUNDING * size) return false;
        if (k < 3 && !isfinite(snw_place_potential(law, t, p))) return false;
    }
    snw_place_jet at_origin;
    for (int i = 0; i < 3; i++) {
        snw_place_law_at(law[i], 0, (snw_vec3){{0}}, 0, &at_origin);
        if (!isfinite(at_origin.v)) return false;
    }
    return finite > 0;
}

void snw_force_field_describe(const snw_model *m, int i, char *text, size_t size) {
    const snw_force_field *f = &m->force_field[i];
    text[0] = '\0';
    if (f->kind != SNW_FORCE_FIELD_MAGNETIC) return;
    for (int k = 0; k < SAMPLES; k++) {
        double t;
        snw_mat3 G;
        const snw_vec3 p = sample_place(m->length, k, &t);
        const double most = field_gradient(f->law, t, p, &G);
        const double div = G.e[0][0] + G.e[1][1] + G.e[2][2], turn = curl(&G);
        const bool flows = fabs(div) > ROUNDING * most;
        if (!isfinite(most) || (!flows && !(turn > ROUNDING * most))) continue;
        (void)snprintf(text, size,
                       "magnetic field '%s' has a %s of %.3g T/m at (%.3g, %.3g, %.3g) m: no "
                       "magnets or currents outside of the robot make such a field; its force is "
                       "the gradient of m.B",
                       m->label.force_field[i].name, flows ? "divergence" : "curl",
                       flows ? (double)div : (double)turn, (double)p.x, (double)p.y, (double)p.z);
        return;
    }
}

// ---- points ------------------------------------------------------------------------------------

// *moment <- magnetic moment of a link at x, per length or of its body.
static snw_status magnetic_moment(const snw_force_field_desc *d, const snw_link_desc *link,
                                  double x, snw_vec3 *moment, snw_error *err) {
    const snw_at at = {.x = x, .L = link->has_rod ? link->rod.length : 0};
    for (int i = 0; i < 3; i++) {
        moment->e[i] = link->magnetic[i] ? snw_expr_value(link->magnetic[i], at) : 0;
        if (!isfinite(moment->e[i]))
            return field_refuse(d, link->name, "its magnetic moment must be a number at any x",
                                err);
    }
    return SNW_OK;
}

snw_status snw_force_field_density(const snw_desc *desc, int field, int l, double x,
                                   snw_force_field_point *p, snw_error *err) {
    const snw_force_field_desc *d = &desc->force_field[field];
    const snw_link_desc *link = &desc->link[l];
    *p = (snw_force_field_point){.field = field, .w = 1};
    if (is_magnetic(d->kind)) SNW_TRY(magnetic_moment(d, link, x, &p->moment, err));
    if (d->kind != SNW_FORCE_FIELD_ACCELERATION) return SNW_OK;
    double H[36], D[36];
    snw_inertia M;
    SNW_TRY(snw_section_at(&link->rod, link->name, x, H, D, &M, err));
    p->w = M.m;
    if (M.m > 0) p->centre = snw_scale(1 / M.m, M.mc);
    return SNW_OK;
}

// Add node s of a rod.
static snw_status field_add_node(snw_build *b, int field, int l, int s, snw_force_field_point *p,
                                 snw_error *err) {
    SNW_TRY(snw_force_field_density(b->m->desc, field, l, b->seg_x[s], p, err));
    p->seg = s;
    p->w *= b->seg_w[s];
    p->moment = snw_scale(b->seg_w[s], p->moment);
    return SNW_OK;
}

static snw_status field_add_body(snw_build *b, int field, int l, snw_force_field_point *p,
                                 snw_error *err) {
    const snw_force_field_desc *d = &b->m->desc->force_field[field];
    const snw_link_desc *link = &b->m->desc->link[l];
    *p = (snw_force_field_point){.seg = b->link_end[l], .field = field, .w = 1};
    if (link->has_body) p->centre = link->body.com;
    if (d->kind == SNW_FORCE_FIELD_ACCELERATION) {
        if (!link->has_body) return field_refuse(d, link->name, "it has no mass", err);
        p->w = link->body.mass;
    }
    return is_magnetic(d->kind) ? magnetic_moment(d, link, 0, &p->moment, err) : SNW_OK;
}

static snw_status field_add_link(snw_build *b, int field, int l, snw_force_field_point *point,
                                 snw_error *err) {
    const snw_desc *d = b->m->desc;
    int *n = &b->m->nforce_field_point;
    const int r = b->link_rod[l];
    if (!snw_exists(d->link[l].when)) return SNW_OK;
    for (int i = 0; i < d->ntube; i++) {
        if (d->tube[i].host == l || d->tube[i].own == l || d->tube[i].base == l)
            return field_refuse(&d->force_field[field], d->link[l].name,
                                "fields do not act on concentric tubes; put a link with a body on "
                                "their tip, and the field on that",
                                err);
    }
    for (int s = r >= 0 ? b->rod[r].seg0 : 0; r >= 0 && s < b->rod[r].seg0 + b->rod[r].nseg; s++) {
        if (b->seg_w[s] > 0) SNW_TRY(field_add_node(b, field, l, s, &point[(*n)++], err));
    }
    const bool by_mass = d->force_field[field].kind == SNW_FORCE_FIELD_ACCELERATION;
    if (r >= 0 && !(by_mass && d->link[l].has_body)) return SNW_OK;
    return field_add_body(b, field, l, &point[(*n)++], err);
}

// Sort points by segment; stable, so that sums keep their order.
static snw_status field_sort(snw_build *b, const snw_force_field_point *point) {
    snw_model *m = b->m;
    const size_t n = (size_t)m->nforce_field_point;
    int *start = snw_build_array(b, (size_t)m->nseg + 1, sizeof *start);
    snw_force_field_point *sorted = snw_build_array(b, n, sizeof *sorted);
    if (b->memory_out) return SNW_E_MEMORY;
    int k = 0;
    for (int s = 0; s < m->nseg; s++) {
        start[s] = k;
        for (size_t i = 0; i < n; i++) {
            if (point[i].seg == s) sorted[k++] = point[i];
        }
    }
    start[m->nseg] = k;
    m->force_field_point = sorted;
    m->force_field_point_of_seg = start;
    return SNW_OK;
}

snw_status snw_build_dipoles(snw_build *b, snw_error *err) {
    const snw_desc *d = b->m->desc;
    b->force_field = snw_build_array(b, (size_t)d->nforce_field, sizeof *b->force_field);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nforce_field; i++) {
        const snw_force_field_desc *from = &d->force_field[i];
        snw_force_field *to = &b->force_field[i];
        *to = (snw_force_field){.kind = from->kind};
        memcpy(to->law, from->law, sizeof to->law);
        SNW_TRY(snw_build_condition(b, from->when, &to->condition, err));
        if (from->kind != SNW_FORCE_FIELD_DIPOLE) continue;
        const int site = snw_build_site(b, &from->on);
        to->carrier = snw_build_pose(b, &from->pose, site, from->on.link);
        to->coupled = b->path[b->seg[to->carrier].path].n > 0;
    }
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

snw_status snw_build_force_fields(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    size_t most = 0;
    for (int i = 0; i < d->nforce_field; i++) {
        for (int k = 0; k < d->force_field[i].nlink; k++) {
            const int rod = b->link_rod[d->force_field[i].link[k]];
            most += 1 + (rod >= 0 ? (size_t)b->rod[rod].nseg : 0);
        }
    }
    snw_force_field_point *point = snw_build_array(b, most, sizeof *point);
    if (b->memory_out) return SNW_E_MEMORY;
    const double length = snw_build_length(b);
    for (int i = 0; i < d->nforce_field; i++) {
        const snw_force_field_desc *from = &d->force_field[i];
        snw_force_field *to = &b->force_field[i];
        to->has_energy =
            (from->kind != SNW_FORCE_FIELD_FORCE && from->kind != SNW_FORCE_FIELD_ACCELERATION) ||
            has_potential(to->law, length);
        for (int k = 0; k < 3; k++)
            to->varies = to->varies || (to->law[k] && snw_expr_vars(to->law[k]) & SNW_VAR_T);
        if (!snw_exists(from->when)) continue;
        for (int k = 0; k < from->nlink; k++)
            SNW_TRY(field_add_link(b, i, from->link[k], point, err));
    }
    m->nforce_field = d->nforce_field;
    m->force_field = b->force_field;
    return field_sort(b, point);
}
