// SPDX-License-Identifier: MIT
//
// Tendons and chambers of the model on the single rod of a shooter: support checks, inputs, initial
// states, power and dissipation, results.

#include "shoot/shooter_private.h"

#include "base/fail.h"
#include "dynamics/chamber.h"

#include <math.h>
#include <string.h>

// ---- creation -----------------------------------------------------------------------------------

// may its condition ever hold?
static bool may_be_active(snw_law when) {
    return !when || snw_expr_vars(when) != 0 || snw_expr_value(when, (snw_at){0}) != 0;
}

snw_status snw_shooter_check_tendons(const snw_model *m, const snw_step_desc *step,
                                     snw_error *err) {
    const snw_desc *d = m->desc;
    int nz = 0;
    for (int i = 0; i < d->ntendon; i++) {
        const snw_tendon_desc *x = &d->tendon[i];
        const bool has_friction = x->friction > 0 || x->viscous > 0;
        if (x->nlink > 1 || x->nsegment > 0) {
            return snw_shooter_refuse(step, x->location, err, "tendons beyond one rod", x->name);
        }
        if (snw_actuator_table[x->kind].effort) {
            return snw_shooter_refuse(step, x->location, err,
                                      "actuators whose effort depends on their length", x->name);
        }
        if (i == SNW_SHOOT_TENDONS) {
            return snw_shooter_refuse(step, x->location, err, "more than 16 tendons and chambers",
                                      x->name);
        }
        if (may_be_active(x->when) && (!snw_gives_effort(x->given) || has_friction)) nz += 2;
        if (nz > SNW_SHOOT_Z) {
            return snw_shooter_refuse(
                step, x->location, err,
                "more than four tendons and chambers whose effort is unknown or falls by friction",
                x->name);
        }
    }
    return SNW_OK;
}

void snw_shooter_make_tendons(snw_shooter *e) {
    const snw_desc *d = e->m->desc;
    snw_shoot_tendons *c = &e->tendons;
    c->n = d->ntendon;
    for (int i = 0; i < c->n; i++) {
        const snw_tendon_desc *x = &d->tendon[i];
        const bool chamber = !snw_actuator_table[x->kind].is_length;
        snw_shoot_tendon_given given = SNW_SHOOT_TENDON_EFFORT;
        if (may_be_active(x->when)) {
            if (x->temperature) given = SNW_SHOOT_TENDON_GAS;
            if (snw_gives_motion(x->given)) {
                given = chamber ? SNW_SHOOT_TENDON_VOLUME : SNW_SHOOT_TENDON_LENGTH;
            }
        }
        c->tendon[i] = (snw_shoot_tendon){.chamber = chamber,
                                          .given = given,
                                          .extra = x->extra,
                                          .compliance = x->compliance,
                                          .friction = x->friction,
                                          .viscous = x->viscous,
                                          .creep = x->creep,
                                          .from = x->from,
                                          .to = x->to,
                                          .at = {x->at[0], x->at[1]},
                                          .area = x->area,
                                          .varies = e->m->tendon[i].area};
    }
    const snw_status s = snw_shoot_tendons_law(c);
    SNW_ASSERT(s == SNW_OK); // refused before
    (void)s;
}

// ---- inputs -------------------------------------------------------------------------------------

void snw_shooter_apply_tendon_inputs(snw_shooter *e, double t, double fraction) {
    for (int i = 0; i < e->tendons.n; i++) {
        const snw_tendon *d = &e->m->tendon[i];
        snw_shoot_tendon *c = &e->tendons.tendon[i];
        const double given = e->in->tendon[i].v, reference = d->reference;
        const bool manual = e->in->manual && e->in->manual->tendon_given[i];
        const bool active = !d->when || manual || snw_expr_value(d->when, (snw_at){.t = t}) != 0;
        c->ambient = e->in->ambient[i];
        c->rate = 0;
        c->sliding = d->sliding ? snw_expr_value(d->sliding, (snw_at){.t = t}) : 0;
        c->sliding = fmin(fmax(c->sliding, -1), 1);
        switch (c->given) {
        case SNW_SHOOT_TENDON_EFFORT:
            c->value = active && snw_gives_effort(d->given) ? fraction * given : 0;
            if (!c->chamber && c->value < 0) c->value = 0; // a tendon never pushes
            break;
        case SNW_SHOOT_TENDON_LENGTH:
            c->value = reference + d->extra - fraction * given;
            c->rate = -fraction * e->in->tendon[i].d;
            break;
        case SNW_SHOOT_TENDON_VOLUME:
            c->value = reference + fraction * (given - reference);
            break;
        case SNW_SHOOT_TENDON_GAS:
            c->value = c->ambient * reference + fraction * (given - c->ambient * reference);
            break;
        }
    }
    snw_shoot_tendons_base(&e->tendons, e->leg[0].r);
}

// ---- fields -------------------------------------------------------------------------------------

// z <- states of r, given at its nodes (nz each), at arc length x
static void interpolate_states(const snw_shoot_rod *r, const double *at_node, double x, double *z) {
    const int nz = snw_shoot_nz(r);
    int p = 0;
    while (p < r->npiece - 1 && x >= r->piece[p + 1].s) p++;
    const snw_shoot_piece *piece = &r->piece[p];
    const double at = fmin(fmax((x - piece->s) / piece->h, 0), piece->n);
    const int n = piece->n + 1 < 4 ? piece->n + 1 : 4;
    int first = (int)at - 1;
    first = first < 0 ? 0 : (first + n > piece->n + 1 ? piece->n + 1 - n : first);
    double w[4];
    snw_shoot_lagrange(n, at - first, w);
    for (int k = 0; k < nz; k++) {
        z[k] = 0;
        for (int l = 0; l < n; l++) {
            z[k] += w[l] * at_node[(ptrdiff_t)(piece->node + first + l) * nz + k];
        }
    }
}

void snw_shooter_copy_tendons(snw_shooter *e, const snw_shooter *other) {
    snw_shoot_rod *r = e->leg[0].r;
    const int nz = snw_shoot_nz(r);
    if (nz == 0 || nz != snw_shoot_nz(other->leg[0].r)) return;
    for (int j = 0; j < r->nnode; j++) {
        double *z = r->zlevel[0] + (ptrdiff_t)j * nz, *rate = r->zrate + (ptrdiff_t)j * nz;
        const double x = snw_shoot_node_s(r, j);
        interpolate_states(other->leg[0].r, other->leg[0].r->zlevel[0], x, z);
        interpolate_states(other->leg[0].r, other->leg[0].r->zrate, x, rate);
        memcpy(r->z + (ptrdiff_t)j * nz, z, (size_t)nz * sizeof *z);
    }
}

void snw_shooter_regrid_tendons(snw_shooter *e, const snw_shooter_leg *from) {
    snw_shoot_rod *r = e->leg[0].r;
    const int nz = snw_shoot_nz(r);
    if (e->tendons.n == 0) return;
    for (int j = 0; j < r->nnode; j++) {
        const double x = snw_shoot_node_s(r, j);
        const ptrdiff_t to = (ptrdiff_t)j * nz;
        for (int k = 0; k < SNW_TIME_LEVELS; k++) {
            interpolate_states(from->r, from->r->zlevel[k], x, r->zlevel[k] + to);
        }
        interpolate_states(from->r, from->r->zrate, x, r->zrate + to);
        interpolate_states(from->r, from->r->z, x, r->z + to);
    }
    for (int p = 0; p < r->npoint; p++) {
        e->tendons.guess[p] =
            snw_shooter_interpolate(from->r, from->r->level[0], snw_shoot_point_s(r, p)).e;
    }
}

// Initial states: tensions and pressures without friction, lengths and volumes of the strains.
void snw_shooter_set_tendon_state(snw_shooter *e) {
    snw_shoot_rod *r = e->leg[0].r;
    const int nz = snw_shoot_nz(r);
    for (int i = 0; i < e->tendons.n; i++) {
        const snw_shoot_tendon *c = &e->tendons.tendon[i];
        if (c->z < 0) continue;
        const double total = snw_shoot_tendon_length_or_volume(&e->tendons, i);
        double T = c->given == SNW_SHOOT_TENDON_EFFORT ? c->value : 0, at = 0;
        if (c->given == SNW_SHOOT_TENDON_LENGTH && c->compliance > 0) {
            T = fmax(((total + c->extra) / c->value - 1) / c->compliance, 0);
        }
        const double stretch = 1 + c->compliance * T;
        if (c->given == SNW_SHOOT_TENDON_LENGTH) at = c->extra / stretch;
        if (c->given == SNW_SHOOT_TENDON_EFFORT) at = -total / stretch;
        for (int j = 0; j < r->nnode; j++) {
            const ptrdiff_t to = (ptrdiff_t)j * nz + c->z;
            r->z[to] = r->zlevel[0][to] = T;
            r->z[to + 1] = r->zlevel[0][to + 1] = at;
            r->zrate[to] = r->zrate[to + 1] = 0;
            // proportional to arc length, which suffices for an initial guess
            if (j + 1 < r->nnode) {
                at += (snw_shoot_node_s(r, j + 1) - snw_shoot_node_s(r, j)) / r->length * total /
                      stretch;
            }
        }
    }
}

// ---- results ------------------------------------------------------------------------------------

// rate of the length or volume; *power <- power of the effort on the rod, W
static double rate_of(const snw_shooter *e, int i, double *power) {
    const snw_shoot_rod *r = e->leg[0].r;
    const snw_tendon *tendon = &e->m->tendon[i];
    double sum = 0;
    *power = 0;
    for (int p = 0; p < r->npiece; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j, point = piece->point + j * r->method->np;
            const snw_tendon_point *tp = &e->tendons.tendon[i].point[point];
            if (!(tp->w > 0)) break;
            const snw_twist rest = (r->uniform ? r->section : r->section + point)->rest;
            double d1[6], x = 0;
            const double effort = snw_shoot_tendon_effort_at(&e->tendons, i, node);
            const snw_twist xi = snw_twist_add(rest, r->level[0][node].e);
            const double weight = snw_shoot_weight(r, piece, j);
            if (tendon->area) {
                const snw_twist v = r->rate[node].e;
                const double rate = snw_chamber_stretch(tp, v);
                const snw_chamber_section at = snw_chamber_section_at(
                    tendon->area, tp->x, r->length, snw_chamber_stretch(tp, xi), effort);
                sum += weight * at.a_l * rate;
                *power += weight * at.force * rate;
                continue;
            }
            (void)snw_tendon_point_density(tendon, tp, xi, d1);
            for (int k = 0; k < 6; k++) x += d1[k] * r->rate[node].e.e[k];
            x *= weight;
            sum += x;
            *power += x * effort;
        }
    }
    if (tendon->type->is_length) *power = -*power;
    return sum;
}

double snw_shooter_tendons_power(const snw_shooter *e) {
    double sum = 0;
    for (int i = 0; i < e->tendons.n; i++) {
        double power;
        (void)rate_of(e, i, &power);
        sum += power;
    }
    return sum;
}

// Dissipation by friction, W: the loss of tension from node to node times the sliding speed there.
// By T' = -chi s(nu) T no term is negative. The tendon does this much more work than the rod
// receives.
double snw_shooter_tendons_heat(const snw_shooter *e) {
    const snw_shoot_rod *r = e->leg[0].r;
    const int nz = snw_shoot_nz(r);
    double heat = 0;
    for (int i = 0; i < e->tendons.n; i++) {
        const snw_shoot_tendon *c = &e->tendons.tendon[i];
        if (c->z < 0 || c->chamber || !snw_shoot_tendon_has_friction(c)) continue;
        for (int p = 0; p < r->npiece; p++) {
            const snw_shoot_piece *piece = &r->piece[p];
            for (int j = piece->node; j < piece->node + piece->n; j++) {
                const double *rate = r->zrate + (ptrdiff_t)j * nz + c->z + 1;
                const double lost = snw_shoot_tendon_effort_at(&e->tendons, i, j) -
                                    snw_shoot_tendon_effort_at(&e->tendons, i, j + 1);
                heat += lost * (0.5 * (rate[0] + rate[nz]) - c->rate);
            }
        }
    }
    return heat;
}

// fraction of the tension at the base that is left at arc length x
static double tension_fraction_at(const snw_shooter *e, int i, double x) {
    const snw_shoot_rod *r = e->leg[0].r;
    const int at = e->tendons.tendon[i].z;
    double z[SNW_SHOOT_Z];
    interpolate_states(r, r->zlevel[0], x, z);
    return r->zlevel[0][at] > 0 ? z[at] / r->zlevel[0][at] : 1;
}

void snw_shooter_get_tendons(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 0; i < e->tendons.n; i++) {
        const snw_shoot_tendon *c = &e->tendons.tendon[i];
        const double value = snw_shoot_tendon_length_or_volume(&e->tendons, i);
        double power;
        const double rate = rate_of(e, i, &power);
        w->tendon[i].value = c->chamber ? value : m->tendon[i].reference - value;
        w->tendon[i].rate = c->chamber ? rate : -rate;
        w->tendon[i].effort = snw_shoot_tendon_effort(&e->tendons, i);
        w->tendon[i].tied_fraction = 1;
        if (c->z < 0 || !snw_shoot_tendon_has_friction(c)) continue;
        w->tendon[i].tied_fraction = tension_fraction_at(e, i, m->desc->tendon[i].to);
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint;
             k++) {
            w->tendon_point[k].tension_fraction = tension_fraction_at(e, i, m->tendon_point[k].x);
        }
    }
}
