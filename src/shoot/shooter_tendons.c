// SPDX-License-Identifier: MIT
//
// Tendons and chambers of the model on the rods of a shooter: support checks, inputs, initial
// states, power and dissipation, results. Each rod has all of them; one that does not run along it
// has no points there, and its states are constant.

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
        if (x->nlink <= 1 && x->nsegment > 0) {
            return snw_shooter_refuse(step, x->location, err,
                                      "tendons with straight parts beside a rod", x->name);
        }
        if (x->nlink > 1 && has_friction) {
            return snw_shooter_refuse(step, x->location, err,
                                      "tendons with friction along several rods", x->name);
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

// Part of a tendon along the rod of a leg; *from > *to: none.
static void part_on_leg(const snw_shooter_leg *l, const snw_tendon_desc *d, double *from,
                        double *to) {
    *from = INFINITY, *to = -INFINITY;
    for (int k = 0; k < d->nlink; k++) {
        if (d->link[k] != l->rod->link) continue;
        *from = k == 0 ? d->from : 0;
        *to = k == d->nlink - 1 ? d->to : l->rod->L;
    }
}

static snw_shoot_tendon tendon_on_leg(const snw_shooter *e, const snw_shooter_leg *l, int i) {
    const snw_tendon_desc *x = &e->m->desc->tendon[i];
    const bool chamber = !snw_actuator_table[x->kind].is_length;
    snw_shoot_tendon_given given = SNW_SHOOT_TENDON_EFFORT;
    double from, to;
    part_on_leg(l, x, &from, &to);
    if (may_be_active(x->when)) {
        if (x->temperature) given = SNW_SHOOT_TENDON_GAS;
        if (snw_gives_motion(x->given)) {
            given = chamber ? SNW_SHOOT_TENDON_VOLUME : SNW_SHOOT_TENDON_LENGTH;
        }
    }
    return (snw_shoot_tendon){.chamber = chamber,
                              .given = given,
                              .extra = x->extra,
                              .compliance = x->compliance,
                              .friction = x->friction,
                              .viscous = x->viscous,
                              .creep = x->creep,
                              .from = from,
                              .to = to,
                              .at = {x->at[0], x->at[1]},
                              .area = x->area,
                              .varies = e->m->tendon[i].area};
}

// leg of the k-th rod of a tendon
static int leg_of(const snw_shooter *e, const snw_tendon_desc *d, int k) {
    return e->m->link_rod[d->link[k]];
}

// conditions that the tendons fulfil at the tip of this leg: those that end on it
static void find_conditions(const snw_shooter *e, int leg, snw_shoot_tendons *c) {
    int row = 0;
    for (int i = 0; i < c->n; i++) {
        const snw_tendon_desc *d = &e->m->desc->tendon[i];
        if (c->tendon[i].z < 0) continue;
        const int rows = c->tendon[i].given == SNW_SHOOT_TENDON_LENGTH ? 2 : 1;
        for (int k = 0; k < rows; k++) c->law.closes[row++] = leg_of(e, d, d->nlink - 1) == leg;
    }
}

void snw_shooter_make_tendons(snw_shooter *e) {
    e->ntendon = e->m->desc->ntendon;
    for (int l = 0; l < e->nleg; l++) {
        snw_shoot_tendons *c = &e->leg[l].tendons;
        bool here = false;
        c->n = e->ntendon;
        for (int i = 0; i < c->n; i++) {
            c->tendon[i] = tendon_on_leg(e, &e->leg[l], i);
            here = here || c->tendon[i].from < c->tendon[i].to;
        }
        const snw_status s = snw_shoot_tendons_law(c);
        SNW_ASSERT(s == SNW_OK); // refused before
        (void)s;
        find_conditions(e, l, c);
        if (!here && c->law.nz == 0) c->n = 0; // no law
    }
}

// Straight part of tendon i, whose ends are the segments a and b, between the k-th rod and the
// next: *length. Both ends must be on the rigid piece between them.
static bool cross_straight(const snw_shooter *e, const snw_tendon_segment *part, int next,
                           double *length) {
    const snw_attachment a = snw_shooter_attachment_of(e, part->a),
                         b = snw_shooter_attachment_of(e, part->b),
                         base = snw_shooter_attachment_of(e, e->leg[next].rod->root);
    const bool rigid = a.kind == SNW_ATTACHED_ROD && a.section == b.section &&
                       a.section == base.section && !a.moves && !b.moves;
    *length = snw_norm(snw_sub(a.g.p, b.g.p));
    return rigid;
}

static snw_status cross_tendon(snw_shooter *e, int i, snw_error *err) {
    const snw_model *m = e->m;
    const snw_tendon_desc *d = &m->desc->tendon[i];
    for (int k = 1; k < d->nlink; k++) {
        const int before = leg_of(e, d, k - 1), leg = leg_of(e, d, k);
        const snw_shooter_grid *grid = &e->leg[before].grid;
        if (e->leg[leg].parent == before &&
            snw_shooter_branch(e, leg)->piece == grid->end[grid->nspan - 1])
            continue;
        return snw_shooter_refuse(
            e->step, d->location, err,
            "tendons and chambers between rods of which one is not on the tip of the other",
            d->name);
    }
    int rods = 0, was = -1;
    for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint; k++) {
        const snw_tendon_point *p = &m->tendon_point[k];
        double length;
        if (p->segment < 0) {
            rods += p->rod != was;
            was = p->rod;
            continue;
        }
        if (rods == 0 || rods == d->nlink ||
            !cross_straight(e, &m->tendon_segment[p->segment], leg_of(e, d, rods), &length)) {
            return snw_shooter_refuse(
                e->step, d->location, err,
                "straight parts of tendons other than through the rigid piece between two rods",
                d->name);
        }
        snw_shoot_branch *b = snw_shooter_branch(e, leg_of(e, d, rods));
        const snw_shoot_tendon *c = &e->leg[0].tendons.tendon[i];
        e->leg[leg_of(e, d, rods)].tendons.tendon[i].straight += length;
        if (c->z < 0) continue;
        bool known = false;
        for (int s = 0; s < b->nstraight; s++) {
            if (b->straight[s].z != c->z) continue;
            b->straight[s].length += length;
            known = true;
        }
        if (!known)
            b->straight[b->nstraight++] =
                (snw_shoot_straight){.z = c->z, .length = length, .compliance = c->compliance};
    }
    return SNW_OK;
}

snw_status snw_shooter_cross_tendons(snw_shooter *e, snw_error *err) {
    for (int i = 0; i < e->ntendon; i++) {
        if (e->m->desc->tendon[i].nlink > 1) SNW_TRY(cross_tendon(e, i, err));
    }
    return SNW_OK;
}

void snw_shooter_join_tendons(snw_shooter *e) {
    for (int i = 0; i < e->ntendon && e->nleg > 1; i++) {
        const snw_tendon_desc *d = &e->m->desc->tendon[i];
        const double typical = e->leg[leg_of(e, d, 0)].tendons.tendon[i].typical;
        double reference = 0;
        for (int l = 0; l < e->nleg; l++) {
            if (e->leg[l].tendons.n == 0) continue;
            const snw_shoot_tendon *c = &e->leg[l].tendons.tendon[i];
            reference += c->straight + (c->from < c->to ? c->reference : 0);
        }
        for (int l = 0; l < e->nleg; l++) {
            snw_shoot_tendons *c = &e->leg[l].tendons;
            if (c->n > 0) snw_shoot_tendon_scale(c, i, reference, typical);
        }
    }
}

// ---- inputs -------------------------------------------------------------------------------------

static void apply_to_leg(const snw_shooter *e, snw_shoot_tendons *tendons, double t,
                         double fraction) {
    for (int i = 0; i < tendons->n; i++) {
        const snw_tendon *d = &e->m->tendon[i];
        snw_shoot_tendon *c = &tendons->tendon[i];
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
}

void snw_shooter_apply_tendon_inputs(snw_shooter *e, double t, double fraction) {
    for (int l = 0; l < e->nleg; l++) {
        snw_shooter_leg *leg = &e->leg[l];
        apply_to_leg(e, &leg->tendons, t, fraction);
        if (leg->parent < 0) snw_shoot_tendons_base(&leg->tendons, leg->r);
    }
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

static void copy_states(snw_shoot_rod *r, const snw_shoot_rod *from) {
    const int nz = snw_shoot_nz(r);
    if (nz == 0 || nz != snw_shoot_nz(from)) return;
    for (int j = 0; j < r->nnode; j++) {
        double *z = r->zlevel[0] + (ptrdiff_t)j * nz, *rate = r->zrate + (ptrdiff_t)j * nz;
        const double x = snw_shoot_node_s(r, j);
        interpolate_states(from, from->zlevel[0], x, z);
        interpolate_states(from, from->zrate, x, rate);
        memcpy(r->z + (ptrdiff_t)j * nz, z, (size_t)nz * sizeof *z);
    }
}

void snw_shooter_copy_tendons(snw_shooter *e, const snw_shooter *other) {
    for (int l = 0; l < e->nleg; l++) copy_states(e->leg[l].r, other->leg[l].r);
}

void snw_shooter_regrid_tendons(snw_shooter *e, const snw_shooter_leg *from) {
    snw_shoot_rod *r = e->leg[0].r;
    const int nz = snw_shoot_nz(r);
    if (e->ntendon == 0) return;
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
        e->leg[0].tendons.guess[p] =
            snw_shooter_interpolate(from->r, from->r->level[0], snw_shoot_point_s(r, p)).e;
    }
}

// length or volume of tendon i on one leg, 0 if it does not run there
static double value_on_leg(const snw_shooter *e, int l, int i) {
    const snw_shoot_tendons *c = &e->leg[l].tendons;
    return c->n > 0 && c->tendon[i].from < c->tendon[i].to ? snw_shoot_tendon_length_or_volume(c, i)
                                                           : 0;
}

static double whole_value(const snw_shooter *e, int i) {
    double sum = 0;
    for (int l = 0; l < e->nleg; l++) {
        const double straight = e->leg[l].tendons.n > 0 ? e->leg[l].tendons.tendon[i].straight : 0;
        sum += value_on_leg(e, l, i) + straight;
    }
    return sum;
}

// Initial states of tendon i on leg l, with length or volume `at` at its base: tension or pressure
// T without friction, length or volume proportional to arc length, which suffices for an initial
// guess.
static void set_states(snw_shooter *e, int l, int i, double T, double stretch, double at) {
    snw_shoot_rod *r = e->leg[l].r;
    const int nz = snw_shoot_nz(r), z = e->leg[l].tendons.tendon[i].z;
    const double here = value_on_leg(e, l, i);
    for (int j = 0; j < r->nnode; j++) {
        const ptrdiff_t to = (ptrdiff_t)j * nz + z;
        r->z[to] = r->zlevel[0][to] = T;
        r->z[to + 1] = r->zlevel[0][to + 1] = at;
        r->zrate[to] = r->zrate[to + 1] = 0;
        if (j + 1 < r->nnode) {
            at +=
                (snw_shoot_node_s(r, j + 1) - snw_shoot_node_s(r, j)) / r->length * here / stretch;
        }
    }
}

void snw_shooter_set_tendon_state(snw_shooter *e) {
    for (int i = 0; i < e->ntendon; i++) {
        const snw_tendon_desc *d = &e->m->desc->tendon[i];
        const snw_shoot_tendon *c = &e->leg[leg_of(e, d, 0)].tendons.tendon[i];
        if (c->z < 0) continue;
        const double total = whole_value(e, i);
        double T = c->given == SNW_SHOOT_TENDON_EFFORT ? c->value : 0, at = 0;
        if (c->given == SNW_SHOOT_TENDON_LENGTH && c->compliance > 0) {
            T = fmax(((total + c->extra) / c->value - 1) / c->compliance, 0);
        }
        const double stretch = 1 + c->compliance * T;
        if (c->given == SNW_SHOOT_TENDON_LENGTH) at = c->extra / stretch;
        if (c->given == SNW_SHOOT_TENDON_EFFORT) at = -total / stretch;
        for (int l = 0; l < e->nleg; l++) {
            if (e->tree) snw_tree_carry(e->tree, l);
            const bool carried = e->leg[l].parent >= 0;
            set_states(e, l, i, T, stretch, carried ? e->leg[l].r->base_z[c->z + 1] : at);
        }
    }
}

// ---- results ------------------------------------------------------------------------------------

// rate of the length or volume on one leg; *power += power of the effort on the rod, W
static double rate_on_leg(const snw_shooter *e, int l, int i, double *power) {
    const snw_shoot_rod *r = e->leg[l].r;
    const snw_tendon *tendon = &e->m->tendon[i];
    const snw_shoot_tendons *tendons = &e->leg[l].tendons;
    double sum = 0, on_rod = 0;
    for (int p = 0; p < r->npiece && tendons->n > 0; p++) {
        const snw_shoot_piece *piece = &r->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j, point = piece->point + j * r->method->np;
            const snw_tendon_point *tp = &tendons->tendon[i].point[point];
            if (!(tp->w > 0)) break;
            const snw_twist rest = (r->uniform ? r->section : r->section + point)->rest;
            double d1[6], x = 0;
            const double effort = snw_shoot_tendon_effort_at(tendons, i, node);
            const snw_twist xi = snw_twist_add(rest, r->level[0][node].e);
            const double weight = snw_shoot_weight(r, piece, j);
            if (tendon->area) {
                const snw_twist v = r->rate[node].e;
                const double rate = snw_chamber_stretch(tp, v);
                const snw_chamber_section at = snw_chamber_section_at(
                    tendon->area, tp->x, r->length, snw_chamber_stretch(tp, xi), effort);
                sum += weight * at.a_l * rate;
                on_rod += weight * at.force * rate;
                continue;
            }
            (void)snw_tendon_point_density(tendon, tp, xi, d1);
            for (int k = 0; k < 6; k++) x += d1[k] * r->rate[node].e.e[k];
            x *= weight;
            sum += x;
            on_rod += x * effort;
        }
    }
    *power += tendon->type->is_length ? -on_rod : on_rod;
    return sum;
}

// rate of the length or volume; *power <- power of the effort on the rods, W
static double rate_of(const snw_shooter *e, int i, double *power) {
    double sum = 0;
    *power = 0;
    for (int l = 0; l < e->nleg; l++) sum += rate_on_leg(e, l, i, power);
    return sum;
}

double snw_shooter_tendons_power(const snw_shooter *e) {
    double sum = 0;
    for (int i = 0; i < e->ntendon; i++) {
        double power;
        (void)rate_of(e, i, &power);
        sum += power;
    }
    return sum;
}

// dissipation by friction on one leg, W
static double heat_on_leg(const snw_shooter_leg *l) {
    const snw_shoot_rod *r = l->r;
    const int nz = snw_shoot_nz(r);
    double heat = 0;
    for (int i = 0; i < l->tendons.n; i++) {
        const snw_shoot_tendon *c = &l->tendons.tendon[i];
        if (c->z < 0 || c->chamber || !snw_shoot_tendon_has_friction(c)) continue;
        for (int p = 0; p < r->npiece; p++) {
            const snw_shoot_piece *piece = &r->piece[p];
            for (int j = piece->node; j < piece->node + piece->n; j++) {
                const double *rate = r->zrate + (ptrdiff_t)j * nz + c->z + 1;
                const double lost = snw_shoot_tendon_effort_at(&l->tendons, i, j) -
                                    snw_shoot_tendon_effort_at(&l->tendons, i, j + 1);
                heat += lost * (0.5 * (rate[0] + rate[nz]) - c->rate);
            }
        }
    }
    return heat;
}

// Dissipation by friction, W: the loss of tension from node to node times the sliding speed there.
// By T' = -chi s(nu) T no term is negative. The tendon does this much more work than the rod
// receives.
double snw_shooter_tendons_heat(const snw_shooter *e) {
    double heat = 0;
    for (int l = 0; l < e->nleg; l++) heat += heat_on_leg(&e->leg[l]);
    return heat;
}

// fraction of the tension at the base that is left at arc length x of the rod it runs along
static double tension_fraction_at(const snw_shooter *e, int i, double x) {
    const snw_shooter_leg *l = &e->leg[leg_of(e, &e->m->desc->tendon[i], 0)];
    const int at = l->tendons.tendon[i].z;
    double z[SNW_SHOOT_Z];
    interpolate_states(l->r, l->r->zlevel[0], x, z);
    return l->r->zlevel[0][at] > 0 ? z[at] / l->r->zlevel[0][at] : 1;
}

void snw_shooter_get_tendons(const snw_shooter *e, snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 0; i < e->ntendon; i++) {
        const snw_shoot_tendons *first = &e->leg[leg_of(e, &m->desc->tendon[i], 0)].tendons;
        const snw_shoot_tendon *c = &first->tendon[i];
        const double value = whole_value(e, i);
        double power;
        const double rate = rate_of(e, i, &power);
        w->tendon[i].value = c->chamber ? value : m->tendon[i].reference - value;
        w->tendon[i].rate = c->chamber ? rate : -rate;
        w->tendon[i].effort = snw_shoot_tendon_effort(first, i);
        w->tendon[i].tied_fraction = 1;
        if (c->z < 0 || !snw_shoot_tendon_has_friction(c)) continue;
        w->tendon[i].tied_fraction = tension_fraction_at(e, i, m->desc->tendon[i].to);
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint;
             k++) {
            w->tendon_point[k].tension_fraction = tension_fraction_at(e, i, m->tendon_point[k].x);
        }
    }
}
