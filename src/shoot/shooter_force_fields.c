// SPDX-License-Identifier: MIT
//
// Fields of force and magnetic fields on the rods of a shooter and on the bodies at their stations
// (theory.md 3.21, 10.9): support checks, their wrenches, energies and powers.

#include "shoot/shooter_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>

// ---- supported models ---------------------------------------------------------------------------

snw_status snw_shooter_check_fields(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    bool joined = m->nloop > 0;
    for (int i = 1; i < m->nseg; i++) joined = joined || m->seg[i].kind == SNW_SEG_FREE;
    for (int i = 0; i < m->nforce_field; i++) {
        const snw_label *l = &m->label.force_field[i];
        if (joined)
            return snw_shooter_refuse(step, l->location, err, "fields on rods with a common body",
                                      l->name);
        for (int s = m->force_field[i].carrier; s > 0; s = m->seg[s].parent) {
            if (m->seg[s].kind == SNW_SEG_ROD)
                return snw_shooter_refuse(step, l->location, err, "dipoles that a rod carries",
                                          l->name);
        }
    }
    return SNW_OK;
}

// Does point k of the fields of the model belong to a body, and not to a node of a rod?
static bool is_on_body(const snw_model *m, int k) {
    const int s = m->force_field_point[k].seg;
    return m->seg[s].kind != SNW_SEG_ROD || m->seg_w[s] == 0;
}

snw_status snw_shooter_find_fields(snw_shooter *e,
                                   snw_status (*add)(snw_shooter *, const snw_attachment *,
                                                     snw_error *),
                                   snw_error *err) {
    const snw_model *m = e->m;
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        const snw_attachment at = snw_shooter_attachment_of(e, p->seg);
        if (!is_on_body(m, k) || at.kind != SNW_ATTACHED_ROD) continue;
        if (at.moves) {
            const snw_label *l = &m->label.force_field[p->field];
            return snw_shooter_refuse(e->step, l->location, err,
                                      "fields on what moves relative to a rod", l->name);
        }
        SNW_TRY(add(e, &at, err));
    }
    return SNW_OK;
}

// ---- wrenches -----------------------------------------------------------------------------------

// *W += wrench of a field at a point of a frame with pose g; A likewise, unless NULL
static void add_field(const snw_shooter *e, const snw_force_field_point *p, const snw_se3 *g,
                      snw_wrench *W, double *A) {
    const snw_shooter_field *at = &e->field[p->field];
    if (!at->on) return;
    const snw_force_field *f = &e->m->force_field[p->field];
    const snw_field_place place = {.t = e->field_t, .g = *g, .carrier = at->carrier};
    const double scale = e->field_fraction * at->factor;
    *W = snw_wrench_axpy(scale, snw_force_field_wrench(f, p, &place), *W);
    if (!A) return;
    double B[36];
    snw_force_field_derivative(f, p, &place, scale, B);
    for (int i = 0; i < 36; i++) A[i] += B[i];
}

static void begin_sum(snw_wrench *W, double *A) {
    *W = snw_wrench_zero();
    for (int i = 0; i < 36 && A; i++) A[i] = 0;
}

static void fields_along(void *user, int point, const snw_se3 *g, snw_wrench *W, double *A) {
    const snw_shooter_leg_fields *l = user;
    begin_sum(W, A);
    for (int i = 0; i < l->n; i++) add_field(l->e, &l->point[point * l->n + i], g, W, A);
}

static void fields_at_station(void *user, int piece, const snw_se3 *g, snw_wrench *W, double *A) {
    const snw_shooter_leg_fields *l = user;
    begin_sum(W, A);
    for (int i = 0; i < l->nbody; i++) {
        if (l->piece[i] == piece) add_field(l->e, &l->body[i], g, W, A);
    }
}

// fields of the model that act along the rod of a leg; at <- their indices, unless NULL
static int fields_of_leg(const snw_model *m, const snw_shooter_leg *l, int *at) {
    int n = 0;
    for (int i = 0; i < m->nforce_field; i++) {
        const snw_force_field_desc *d = &m->desc->force_field[i];
        for (int k = 0; k < d->nlink && m->force_field[i].condition != SNW_NEVER; k++) {
            if (d->link[k] != l->rod->link) continue;
            if (at) at[n] = i;
            n++;
        }
    }
    return n;
}

snw_status snw_shooter_build_fields(snw_shooter *e, int leg, snw_error *err) {
    const snw_model *m = e->m;
    snw_shooter_leg *l = &e->leg[leg];
    snw_shooter_leg_fields *f = &l->fields;
    const int n = fields_of_leg(m, l, NULL), np = l->r->npoint;
    *f = (snw_shooter_leg_fields){.e = e, .n = n};
    if (m->nforce_field_point == 0) return SNW_OK;
    const size_t most = (size_t)m->nforce_field_point;
    f->point = snw_alloc(((size_t)n * (size_t)np + 1) * sizeof *f->point);
    f->body = snw_alloc(most * sizeof *f->body);
    f->piece = snw_alloc((most + (size_t)n) * sizeof *f->piece);
    if (!f->point || !f->body || !f->piece) return SNW_E_MEMORY;
    (void)fields_of_leg(m, l, f->piece + most);
    for (int p = 0; p < np; p++) {
        for (int i = 0; i < n; i++) {
            SNW_TRY(snw_force_field_density(m->desc, f->piece[most + (size_t)i], l->rod->link,
                                            snw_shoot_point_s(l->r, p), &f->point[p * n + i], err));
        }
    }
    for (int k = 0; k < m->nforce_field_point; k++) {
        const snw_force_field_point *p = &m->force_field_point[k];
        const snw_attachment at = snw_shooter_attachment_of(e, p->seg);
        if (!is_on_body(m, k) || at.kind != SNW_ATTACHED_ROD || at.leg != leg) continue;
        snw_force_field_point *to = &f->body[f->nbody];
        *to = *p;
        to->centre = snw_se3_point(at.g, p->centre);
        to->moment = snw_rotate(at.g.R, p->moment);
        f->piece[f->nbody++] = snw_shooter_station_at(e, &at);
    }
    f->call =
        (snw_shoot_force_field){.user = f, .along = fields_along, .at_station = fields_at_station};
    l->r->field = n > 0 || f->nbody > 0 ? &f->call : NULL;
    return SNW_OK;
}

void snw_shooter_release_fields(snw_shooter_leg_fields *f) {
    snw_free(f->point);
    snw_free(f->body);
    snw_free(f->piece);
    *f = (snw_shooter_leg_fields){0};
}

void snw_shooter_apply_fields(snw_shooter *e, double t, double fraction) {
    const snw_model *m = e->m;
    e->field_t = t;
    e->field_fraction = fraction;
    for (int i = 0; i < m->nforce_field; i++) {
        const snw_law when = snw_shooter_condition(m, m->force_field[i].condition);
        snw_shooter_field *f = &e->field[i];
        f->on = m->force_field[i].condition != SNW_NEVER &&
                (!when || snw_expr_value(when, (snw_at){.t = t}) != 0);
        f->factor = e->in->manual ? e->in->manual->field[i] : 1;
        snw_shooter_driven_pose(e, m->force_field[i].carrier, &f->carrier, &f->V);
    }
    for (int l = 0; l < e->nleg; l++) {
        const snw_shoot_rod *r = e->leg[l].r;
        for (int j = 0; j < r->nnode && r->field; j++) {
            snw_wrench W;
            const int point = snw_shoot_point_of(r, snw_shoot_piece_of(r, j), j);
            fields_along(&e->leg[l].fields, point, &r->g[j], &W, NULL);
            e->applied = fmax(e->applied, snw_norm(W.f) * r->length + snw_norm(W.m));
        }
    }
}

// ---- energies and powers ------------------------------------------------------------------------

// Potential energy of a field at a point, and, in *power, the power of what has none, of laws of t
// and of a dipole that moves.
static double field_energy(const snw_shooter *e, const snw_force_field_point *p, snw_se3 g,
                           snw_twist V, double *power) {
    const snw_shooter_field *at = &e->field[p->field];
    if (!at->on) return 0;
    const snw_force_field *f = &e->m->force_field[p->field];
    const snw_field_place place = {.t = e->field_t, .g = g, .carrier = at->carrier};
    const snw_wrench W = snw_wrench_scale(at->factor, snw_force_field_wrench(f, p, &place));
    const snw_se3 from = snw_se3_mul(snw_se3_inv(at->carrier), g);
    *power += f->has_energy ? at->factor * snw_force_field_potential_rate(f, p, &place) +
                                  snw_power(W, snw_twist_to_child(from, at->V))
                            : snw_power(W, V);
    return at->factor * snw_force_field_potential(f, p, &place);
}

double snw_shooter_fields_energy(const snw_shooter *e, double *power) {
    double sum = 0;
    *power = 0;
    for (int l = 0; l < e->nleg; l++) {
        const snw_shooter_leg_fields *f = &e->leg[l].fields;
        const snw_shoot_rod *r = e->leg[l].r;
        for (int p = 0; p < r->npiece && r->field; p++) {
            const snw_shoot_piece *piece = &r->piece[p];
            for (int j = 0; j <= piece->n; j++) {
                const int node = piece->node + j, point = piece->point + j * r->method->np;
                const double w = snw_shoot_weight(r, piece, j);
                double here = 0;
                for (int i = 0; i < f->n; i++) {
                    sum += w * field_energy(e, &f->point[point * f->n + i], r->g[node],
                                            r->level[0][node].V, &here);
                }
                *power += w * here;
            }
            const int end = piece->node + piece->n;
            for (int i = 0; i < f->nbody; i++) {
                if (f->piece[i] == p)
                    sum += field_energy(e, &f->body[i], r->g[end], r->level[0][end].V, power);
            }
        }
    }
    return sum;
}
