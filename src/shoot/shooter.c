// SPDX-License-Identifier: MIT
//
// Boundary-value engine on a model: rods and stations from the description, inputs at each instant,
// equilibria by continuation, and time steps. Uses boundary.c for one rod, platform.c for rods
// joined by a plate and tree.c for all others.

#include "shoot/shooter_private.h"

#include "shoot/pose_rate.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// ---- stations -----------------------------------------------------------------------------------

static snw_status add_station(snw_shooter_grid *s, double x, double L, const snw_step_desc *step,
                              snw_error *err) {
    const double same = 1e-9 * L;
    if (x <= same || x >= L - same)
        return SNW_OK; // the base is clamped, the tip is always a station
    int at = 0;
    while (at < s->nspan && s->x[at] < x - same) at++;
    if (at < s->nspan && fabs(s->x[at] - x) <= same) return SNW_OK;
    if (s->nspan == SNW_SHOOTER_STATIONS) {
        return snw_shooter_refuse(step, step->location, err,
                                  "so many points with loads and bodies on a rod", step->name);
    }
    memmove(s->x + at + 1, s->x + at, (size_t)(s->nspan - at) * sizeof *s->x);
    s->x[at] = x;
    s->nspan++;
    return SNW_OK;
}

// station of an attachment on a rod; on a variable-length rod it can only be at the tip, since the
// model refuses other positions
static snw_status add_attachment_station(snw_shooter *e, const snw_attachment *attachment,
                                         snw_error *err) {
    if (attachment->kind != SNW_ATTACHED_ROD) return SNW_OK;
    snw_shooter_leg *l = &e->leg[attachment->leg];
    return add_station(&l->grid, e->m->seg_x[attachment->section], l->rod->L, e->step, err);
}

static snw_status find_stations(snw_shooter *e, snw_error *err) {
    const snw_model *m = e->m;
    for (int i = 0; i < e->nleg; i++) {
        e->leg[i].grid = (snw_shooter_grid){.nspan = 1, .x = {e->leg[i].rod->L}};
    }
    for (int i = 1; i < m->nseg; i++) {
        if (m->seg[i].kind != SNW_SEG_POSE || !m->seg[i].has_mass) continue;
        const snw_attachment attachment = snw_shooter_attachment_of(e, i);
        if (attachment.kind != SNW_ATTACHED_WORLD && attachment.moves) {
            const snw_label *l = &m->label.link[m->seg[i].link];
            return snw_shooter_refuse(e->step, l->location, err,
                                      "bodies that move relative to a rod or to the common body",
                                      l->name);
        }
        SNW_TRY(add_attachment_station(e, &attachment, err));
    }
    for (int i = 0; i < m->nload_point; i++) {
        if (m->load[m->load_point[i].load].rod >= 0) continue;
        const snw_attachment attachment = snw_shooter_attachment_of(e, m->load_point[i].seg);
        SNW_TRY(add_attachment_station(e, &attachment, err));
    }
    for (int i = 0; i < e->nleg; i++) {
        const snw_attachment base = snw_shooter_attachment_of(e, e->leg[i].rod->root);
        SNW_TRY(add_attachment_station(e, &base, err));
    }
    SNW_TRY(snw_shooter_find_fields(e, add_attachment_station, err));
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon_desc *d = &m->desc->tendon[i];
        snw_shooter_leg *first = &e->leg[m->link_rod[d->link[0]]],
                        *last = &e->leg[m->link_rod[d->link[d->nlink - 1]]];
        SNW_TRY(add_station(&first->grid, d->from, first->rod->L, e->step, err));
        SNW_TRY(add_station(&last->grid, d->to, last->rod->L, e->step, err));
    }
    return SNW_OK;
}

int snw_shooter_station_at(const snw_shooter *e, const snw_attachment *attachment) {
    if (attachment->kind == SNW_ATTACHED_PLATE) return 0;
    if (attachment->kind == SNW_ATTACHED_WORLD) return -1;
    const snw_shooter_leg *l = &e->leg[attachment->leg];
    for (int i = 0; i < l->grid.nspan; i++) {
        if (fabs(l->grid.x[i] - e->m->seg_x[attachment->section]) <= 1e-9 * l->rod->L)
            return l->grid.end[i];
    }
    return -1;
}

// stations of the branches; grids are known
static void place_branches(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) {
        if (e->leg[i].parent < 0) continue;
        const snw_attachment base = snw_shooter_attachment_of(e, e->leg[i].rod->root);
        snw_shooter_branch(e, i)->piece = snw_shooter_station_at(e, &base);
    }
}

snw_law snw_shooter_condition(const snw_model *m, int condition) {
    return condition < 0 ? NULL : m->signal[m->condition_signal[condition]].source;
}

void snw_shooter_place_bodies(snw_shooter *e) {
    const snw_model *m = e->m;
    e->nbody = 0;
    for (int i = 1; i < m->nseg; i++) {
        const snw_seg *s = &m->seg[i];
        // the body of the rod's own link is fixed to the section of its tip
        const bool own = s->kind == SNW_SEG_ROD && m->seg_w[i] == 0;
        if (!s->has_mass || s->condition == SNW_NEVER) continue;
        if (!own && s->kind != SNW_SEG_POSE && s->kind != SNW_SEG_FREE) continue;
        const snw_attachment attachment = snw_shooter_attachment_of(e, i);
        const int at = snw_shooter_station_at(e, &attachment);
        if (at < 0) continue;
        e->body[e->nbody++] = (snw_shooter_body){.leg = attachment.leg,
                                                 .station = at,
                                                 .when = snw_shooter_condition(m, s->condition),
                                                 .M = snw_inertia_seen(attachment.g, &s->M)};
    }
}

static snw_shoot_station *station_of(const snw_shooter *e, int leg, int at) {
    return leg < 0 ? &e->p->plate : &e->leg[leg].r->station[at];
}

static void clear_stations(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) {
        const snw_shoot_rod *r = e->leg[i].r;
        for (int k = 0; k < r->npiece; k++) {
            r->station[k].M = (snw_inertia){0};
            r->station[k].has_body = false;
            r->station[k].nload = 0;
        }
    }
    if (!e->p) return;
    e->p->plate.M = (snw_inertia){0};
    e->p->plate.has_body = false;
    e->p->plate.nload = 0;
}

// bodies present at time t
static void apply_bodies(snw_shooter *e, double t) {
    for (int i = 0; i < e->nbody; i++) {
        const snw_shooter_body *b = &e->body[i];
        if (b->when && snw_expr_value(b->when, (snw_at){.t = t}) == 0) continue;
        snw_shoot_station *st = station_of(e, b->leg, b->station);
        snw_inertia_add(&st->M, &b->M);
        st->has_body = true;
    }
}

static snw_status place_load_points(snw_shooter *e, snw_error *err) {
    const snw_model *m = e->m;
    for (int i = 0; i < m->nload_point; i++) {
        if (m->load[m->load_point[i].load].rod >= 0) continue;
        const snw_attachment attachment = snw_shooter_attachment_of(e, m->load_point[i].seg);
        const int at = snw_shooter_station_at(e, &attachment);
        if (at < 0) continue;
        if (attachment.moves) {
            const snw_label *l = &m->label.load[m->load_point[i].load];
            return snw_shooter_refuse(e->step, l->location, err,
                                      "loads on what moves relative to a rod or to the common body",
                                      l->name);
        }
        int count = 1;
        for (int k = 0; k < e->nload_point; k++) {
            count += e->load_point[k].leg == attachment.leg && e->load_point[k].station == at;
        }
        e->load_point[e->nload_point++] = (snw_shooter_load_point){
            .load_point = i, .leg = attachment.leg, .station = at, .g = attachment.g};
        if (count <= SNW_SHOOT_LOADS) continue;
        const snw_label *l = &m->label.load[m->load_point[i].load];
        return snw_shooter_refuse(e->step, l->location, err, "more than eight loads at one point",
                                  l->name);
    }
    return SNW_OK;
}

// ---- creation -----------------------------------------------------------------------------------

// factors of the Gram matrices of the rod's strain bases
static snw_status factor_bases(const snw_model *m, snw_shooter_leg *l) {
    const snw_rod *rod = l->rod;
    size_t total = 1;
    for (int a = 0; a < rod->na; a++) total += (size_t)rod->nfun[a] * (size_t)rod->nfun[a];
    l->G = snw_alloc(total * sizeof *l->G);
    if (!l->G) return SNW_E_MEMORY;
    double *G = l->G;
    for (int a = 0; a < rod->na; a++) {
        const int n = rod->nfun[a];
        for (int p = rod->point0; p < rod->point0 + rod->npoint; p++) {
            const snw_point *pt = &m->point[p];
            const double *phi = m->phi + pt->phi;
            for (int k = 0; k < a; k++) phi += pt->count[k];
            for (int i = 0; i < pt->count[a]; i++) {
                for (int j = 0; j < pt->count[a]; j++) {
                    G[(pt->first[a] + i) * n + pt->first[a] + j] += pt->w * phi[i] * phi[j];
                }
            }
        }
        SNW_TRY(snw_cholesky_factor(n, G));
        G += (ptrdiff_t)n * n;
    }
    return SNW_OK;
}

static snw_status shooter_set_up(snw_shooter *e, snw_error *err) {
    const snw_model *m = e->m;
    SNW_TRY(snw_inputs_create(m, &e->in));
    snw_inputs_at(m, 0, e->in);
    e->leg = snw_alloc((size_t)m->nrod * sizeof *e->leg);
    e->body = snw_alloc((size_t)m->nseg * sizeof *e->body);
    e->load_point = snw_alloc(((size_t)m->nload_point + 1) * sizeof *e->load_point);
    e->branch = snw_alloc((size_t)m->nrod * sizeof *e->branch);
    e->field = snw_alloc(((size_t)m->nforce_field + 1) * sizeof *e->field);
    e->response = snw_alloc((size_t)m->nrod * sizeof *e->response);
    if (!e->leg || !e->load_point || !e->body || !e->branch || !e->response || !e->field)
        return SNW_E_MEMORY;
    e->nleg = m->nrod;
    for (int i = 0; i < e->nleg; i++) {
        snw_shooter_leg *l = &e->leg[i];
        l->rod = &m->rod[i];
        l->link = &m->desc->link[l->rod->link];
        l->feed = l->rod->feed < 0 ? -1 : snw_shooter_drive(m, l->rod->feed);
        for (int s = l->rod->root; s > 0 && m->seg[s].kind != SNW_SEG_ROD; s = m->seg[s].parent) {
            l->base_driven |= m->seg[s].kind == SNW_SEG_SCREW && !m->block[m->seg[s].item].feed;
        }
        SNW_TRY(factor_bases(m, l));
    }
    for (int i = 0; i < m->nload; i++) e->distributed = e->distributed || m->load[i].rod >= 0;
    SNW_TRY(snw_shooter_find_parents(e, err));
    SNW_TRY(snw_shooter_find_plate(e, err));
    SNW_TRY(find_stations(e, err));
    snw_shooter_make_tendons(e);
    snw_shooter_choose_grids(e);
    place_branches(e);
    SNW_TRY(snw_shooter_cross_tendons(e, err));
    SNW_TRY(snw_shooter_build(e, err));
    SNW_TRY(place_load_points(e, err));
    snw_shooter_reserve(e);
    return SNW_OK;
}

snw_status snw_shooter_create(const snw_model *m, const snw_step_desc *step, snw_shooter **out,
                              snw_error *err) {
    *out = NULL;
    SNW_TRY(snw_shooter_check(m, step, err));
    snw_shooter *e = snw_alloc(sizeof *e);
    if (!e) return SNW_E_MEMORY;
    e->m = m;
    e->step = step;
    const snw_status status = shooter_set_up(e, err);
    if (status == SNW_OK) {
        *out = e;
    } else {
        snw_shooter_destroy(e);
    }
    return status;
}

snw_status snw_shooter_copy(const snw_shooter *e, snw_shooter **out, snw_error *err) {
    SNW_TRY(snw_shooter_create(e->m, e->step, out, err));
    const snw_status status = snw_shooter_copy_fields(*out, e, err);
    if (status == SNW_OK) return status;
    snw_shooter_destroy(*out);
    *out = NULL;
    return status;
}

void snw_shooter_use(snw_shooter *e, const snw_model *m) {
    e->m = m;
    for (int i = 0; i < e->nleg; i++) e->leg[i].rod = &m->rod[i];
}

void snw_shooter_destroy(snw_shooter *e) {
    if (!e) return;
    snw_shooter_destroy_rods(e);
    for (int i = 0; i < e->nleg; i++) snw_free(e->leg[i].G);
    snw_inputs_destroy(e->in);
    snw_free(e->branch);
    snw_free(e->response);
    snw_free(e->field);
    snw_free(e->leg);
    snw_free(e->load_point);
    snw_free(e->body);
    snw_free(e);
}

void snw_shooter_set_manual_inputs(snw_shooter *e, const snw_manual_inputs *manual) {
    e->in->manual = manual;
}

// ---- inputs -------------------------------------------------------------------------------------

void snw_shooter_driven_pose(const snw_shooter *e, int seg, snw_se3 *g, snw_twist *V) {
    const snw_model *m = e->m;
    *g = snw_se3_identity(); // pose of seg relative to the segment reached by the loop
    *V = snw_twist_zero();
    for (int i = seg; i > 0 && m->seg[i].kind != SNW_SEG_ROD; i = m->seg[i].parent) {
        const int item = m->seg[i].item;
        snw_se3 h = snw_se3_identity();
        snw_twist u = snw_twist_zero();
        if (m->seg[i].kind == SNW_SEG_POSE) {
            h = e->in->pose[item], u = e->in->pose_u[item];
        } else if (!m->block[item].feed) {
            const snw_jet q = e->in->drive[snw_shooter_drive(m, m->block[item].dof)];
            h = snw_se3_exp(snw_twist_scale(q.v, m->block[item].S));
            u = snw_twist_scale(q.d, m->block[item].S);
        }
        *V = snw_twist_add(*V, snw_twist_to_child(*g, u));
        *g = snw_se3_mul(h, *g);
    }
}

// Prescribed pose and velocity of the base of a leg: in the world, or on the section that carries
// it.
typedef struct leg_base {
    snw_se3 *g;
    snw_twist *V;
} leg_base;

static leg_base base_of(const snw_shooter *e, int leg) {
    const snw_shooter_leg *l = &e->leg[leg];
    if (l->parent < 0) return (leg_base){&l->r->base, &l->r->base_V};
    snw_shoot_branch *b = snw_shooter_branch(e, leg);
    return (leg_base){&b->g, &b->u};
}

// Pose and velocity of the base, and free length. A length that is not positive becomes NaN: the
// solver then reports that it finds no solution.
static void apply_base_motion(const snw_shooter *e, int leg) {
    const snw_shooter_leg *l = &e->leg[leg];
    const leg_base base = base_of(e, leg);
    snw_shooter_driven_pose(e, l->rod->root, base.g, base.V);
    if (l->feed >= 0) {
        const double out = e->in->drive[l->feed].v;
        snw_shoot_set_length(l->r, out > 0 ? out : NAN);
    }
}

static double shooter_law_at(snw_law law, snw_at at) { return law ? snw_expr_value(law, at) : 0; }

static void apply_distributed_loads(snw_shooter *e, snw_shooter_leg *leg, double t,
                                    double fraction) {
    const snw_model *m = e->m;
    snw_shoot_rod *r = leg->r;
    memset(r->density, 0, (size_t)r->npoint * sizeof *r->density);
    for (int i = 0; i < m->nload; i++) {
        const snw_load *l = &m->load[i];
        if (l->rod < 0 || leg->rod != &m->rod[l->rod]) continue;
        if (l->when && snw_expr_value(l->when, (snw_at){.t = t}) == 0) continue;
        const bool given = e->in->manual && e->in->manual->load_given[i];
        for (int p = 0; p < r->npoint; p++) {
            const snw_at at = {.t = t, .x = snw_shoot_point_s(r, p), .L = leg->rod->L};
            snw_wrench W;
            for (int k = 0; k < 3; k++) {
                W.m.e[k] = fraction * shooter_law_at(l->torque[k], at);
                W.f.e[k] = fraction * shooter_law_at(l->force[k], at);
            }
            if (given) W = snw_wrench_scale(fraction, e->in->manual->load[i]);
            snw_shoot_density *to = &r->density[p];
            if (l->body) {
                to->body = snw_wrench_add(to->body, W);
            } else {
                to->force = snw_add(to->force, W.f);
                to->torque = snw_add(to->torque, W.m);
            }
            e->applied = fmax(e->applied, snw_norm(W.f) * leg->rod->L + snw_norm(W.m));
        }
    }
}

static void apply_load(snw_shooter *e, const snw_shooter_load_point *a, double fraction) {
    const bool body = e->m->load[e->m->load_point[a->load_point].load].body;
    snw_wrench W = snw_wrench_scale(fraction, e->in->load[a->load_point]);
    if (body) {
        W.f = snw_rotate(a->g.R, W.f);
        W.m = snw_rotate(a->g.R, W.m);
    }
    snw_shoot_station *st = station_of(e, a->leg, a->station);
    const double size = snw_norm(W.f) + snw_norm(W.m) / e->leg[a->leg < 0 ? 0 : a->leg].rod->L;
    e->applied = fmax(e->applied, size);
    if (size == 0) return; // loads that are zero cost nothing
    SNW_ASSERT(st->nload < SNW_SHOOT_LOADS);
    st->load[st->nload++] = (snw_shoot_load){.body = body, .arm = a->g.p, .W = W};
}

void snw_shooter_apply_inputs(snw_shooter *e, double t, double fraction) {
    snw_inputs_at(e->m, t, e->in);
    clear_stations(e);
    for (int i = 0; i < e->nload_point; i++) apply_load(e, &e->load_point[i], fraction);
    apply_bodies(e, t);
    for (int i = 0; i < e->nleg; i++) {
        apply_base_motion(e, i);
        e->leg[i].r->gravity = snw_scale(fraction, e->in->gravity);
        if (e->distributed) apply_distributed_loads(e, &e->leg[i], t, fraction);
    }
    snw_shooter_apply_tendon_inputs(e, t, fraction);
    snw_shooter_apply_fields(e, t, fraction);
    for (int i = 0; i < e->nleg; i++) {
        const snw_status ready = snw_shoot_ready(e->leg[i].r, e->applied);
        SNW_ASSERT(ready == SNW_OK); // rods without stiffness are refused on creation
        (void)ready;
    }
    if (e->p) snw_platform_ready(e->p);
    if (e->tree) snw_tree_ready(e->tree);
}

// ---- solvers of one rod or several --------------------------------------------------------------

// take the next initial guess from the nodes
static void shooter_reset_guess(snw_shooter *e) {
    if (e->p) {
        snw_platform_reset_guess(e->p);
    } else if (e->tree) {
        snw_tree_reset_guess(e->tree);
    } else {
        snw_boundary_reset_guess(e->b);
    }
}

// is a joint below the base driven by manual inputs?
static bool base_driven_manually(const snw_shooter *e, int seg) {
    const snw_model *m = e->m;
    bool given = false;
    for (; seg > 0 && m->seg[seg].kind != SNW_SEG_ROD; seg = m->seg[seg].parent) {
        if (m->seg[seg].kind != SNW_SEG_SCREW || m->block[m->seg[seg].item].feed) continue;
        const int drive = snw_shooter_drive(m, m->block[m->seg[seg].item].dof);
        given = given || e->in->manual->motor_given[m->drive[drive].motor];
    }
    return given;
}

// Manual inputs give positions only, so the velocity of the base follows by the time formula, as
// for free lengths; laws provide their own rates.
static void set_base_velocities(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) {
        const snw_shooter_leg *l = &e->leg[i];
        if (!l->base_driven || !e->in->manual || !base_driven_manually(e, l->rod->root)) continue;
        const leg_base base = base_of(e, i);
        *base.V = snw_pose_rate(&l->r->formula, *base.g, l->base_past, l->base_V_past, NULL);
    }
}

static void store_bases(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) {
        snw_shooter_leg *l = &e->leg[i];
        const leg_base base = base_of(e, i);
        for (int k = SNW_TIME_LEVELS - 1; k > 0; k--) l->base_past[k] = l->base_past[k - 1];
        l->base_past[0] = *base.g;
        l->base_V_past = *base.V;
    }
}

static snw_status shooter_solve(snw_shooter *e, snw_levels levels, double h,
                                snw_boundary_info *info) {
    snw_boundary_info now = {0};
    snw_status status;
    if (e->p) {
        snw_platform_formula(e->p, levels, h);
        set_base_velocities(e);
        status = snw_platform_solve(e->p, &now);
    } else if (e->tree) {
        snw_tree_formula(e->tree, levels, h);
        set_base_velocities(e);
        status = snw_tree_solve(e->tree, &now);
    } else {
        snw_shoot_formula(e->leg[0].r, levels, h);
        set_base_velocities(e);
        status = snw_boundary_solve(e->b, &now);
    }
    info->iterations += now.iterations;
    info->marches += now.marches;
    info->tangents += now.tangents;
    info->residual = now.residual;
    return status;
}

static void shooter_accept(snw_shooter *e, double h) {
    store_bases(e);
    if (e->p) {
        snw_platform_accept(e->p, h);
        return;
    }
    if (e->tree) {
        snw_tree_accept(e->tree, h);
        return;
    }
    snw_shoot_accept(e->leg[0].r, h);
    snw_boundary_accept(e->b, h);
}

void snw_shooter_restart(snw_shooter *e, bool rest, double h) {
    for (int i = 0; i < e->nleg; i++) {
        snw_shooter_leg *l = &e->leg[i];
        const leg_base base = base_of(e, i);
        l->base_V_past = rest ? snw_twist_zero() : *base.V;
        for (int k = 0; k < SNW_TIME_LEVELS; k++) {
            const snw_twist back = snw_twist_scale(-k * h, l->base_V_past);
            l->base_past[k] = snw_se3_mul(*base.g, snw_se3_exp(back));
        }
    }
    if (e->p) {
        snw_platform_begin(e->p, rest, h);
        return;
    }
    if (e->tree) {
        snw_tree_begin(e->tree, rest, h);
        return;
    }
    snw_shoot_begin(e->leg[0].r, rest, h);
    snw_boundary_reset_guess(e->b);
}

enum { MOST_EQUILIBRIA = 200 }; // of a platform in one continuation
static const double MORE_DAMPING = 1e-4;

// ---- steps --------------------------------------------------------------------------------------

static void save_leg(const snw_shooter_leg *l) {
    const snw_shoot_rod *r = l->r;
    const int nz = snw_shoot_nz(r);
    for (int i = 0; i < r->nnode; i++) {
        snw_shooter_node *to = &l->saved[i];
        to->g = r->g[i], to->V = r->V[i], to->F = r->F[i];
        for (int k = 0; k < nz; k++) to->z[k] = r->z[i * nz + k];
    }
}

static void save_nodes(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) save_leg(&e->leg[i]);
}

static void restore_nodes(snw_shooter *e) {
    for (int l = 0; l < e->nleg; l++) {
        snw_shoot_rod *r = e->leg[l].r;
        const int nz = snw_shoot_nz(r);
        for (int i = 0; i < r->nnode; i++) {
            const snw_shooter_node *from = &e->leg[l].saved[i];
            r->g[i] = from->g, r->V[i] = from->V, r->F[i] = from->F;
            for (int k = 0; k < nz; k++) r->z[i * nz + k] = from->z[k];
        }
        if (e->leg[l].feed >= 0) snw_shoot_set_length(r, r->free_length[1]);
    }
    shooter_reset_guess(e);
}

// from the saved nodes, which are restored on failure
static snw_status balance_once(snw_shooter *e, double t, double fraction, snw_boundary_info *info) {
    snw_shooter_apply_inputs(e, t, fraction);
    shooter_reset_guess(e);
    const snw_status status = shooter_solve(e, (snw_levels){0}, 1, info);
    if (status != SNW_OK) restore_nodes(e);
    return status;
}

// equilibrium from the present nodes, which are unchanged on failure; for a plate with little
// stiffness it is repeated with more damping
static snw_status shooter_balance(snw_shooter *e, double t, double fraction,
                                  snw_boundary_info *info) {
    save_nodes(e);
    snw_status status = balance_once(e, t, fraction, info);
    if (status == SNW_OK || !e->p) return status;
    e->p->damping = MORE_DAMPING;
    status = balance_once(e, t, fraction, info);
    e->p->damping = SNW_PLATFORM_DAMPING;
    return status;
}

// equilibrium under the inputs of an instant between that of the present fields and t
static snw_status balance_at_time(snw_shooter *e, double t, double fraction,
                                  snw_boundary_info *info) {
    return shooter_balance(e, e->t + fraction * (t - e->t), 1, info);
}

// continuation from 0 to 1 with adaptive increments, by `solve_at` at each fraction; for platforms
// the number of solutions is limited; returns the fraction reached
static double continuation(snw_shooter *e, double t, snw_boundary_info *info, double increment,
                           snw_status (*solve_at)(snw_shooter *e, double t, double fraction,
                                                  snw_boundary_info *info)) {
    double done = 0;
    for (int n = 0; done < 1 && increment >= 1e-4 && !(e->p && n >= MOST_EQUILIBRIA); n++) {
        const double next = fmin(done + increment, 1);
        const bool found = solve_at(e, t, next, info) == SNW_OK;
        if (found) done = next;
        increment *= found ? 2 : 0.5;
    }
    return done;
}

// Equilibrium with joints near the present tips, a supporting wrench on the plate and, for
// inextensible rods, an artificial stretch compliance, all of which vanish at fraction 1. A
// straight inextensible rod has no axial compliance.
static snw_status balance_supported(snw_shooter *e, double t, double fraction,
                                    snw_boundary_info *info) {
    for (int i = 0; i < e->nleg; i++) {
        snw_shoot_rod *r = e->leg[i].r;
        const snw_se3 plate_frame = snw_shooter_leg_end(e, i).plate_frame;
        e->p->leg[i].end.plate_frame = snw_se3_mul(
            plate_frame, snw_se3_exp(snw_twist_scale(1 - fraction, e->leg[i].joint_offset)));
        const double bending_compliance = r->length * r->length / fmin(r->K[7], r->K[14]);
        r->stretch_compliance = fraction < 1 && bending_compliance > 0
                                    ? 0.01 * bending_compliance * pow(1e-8, fraction)
                                    : 0;
    }
    e->p->support = snw_wrench_scale(1 - fraction, e->support);
    return shooter_balance(e, t, 1, info);
}

// equilibrium by continuation from legs that are in equilibrium one by one but not joined
static snw_status close_joints(snw_shooter *e, double t, snw_boundary_info *info, double *reached) {
    snw_shooter_apply_inputs(e, t, 1);
    snw_platform_formula(e->p, (snw_levels){0}, 1);
    *reached = 0;
    if (!isfinite(snw_platform_evaluate(e->p))) return SNW_E_DIVERGED;
    e->support = e->p->balance;
    for (int i = 0; i < e->nleg; i++) {
        const snw_leg *leg = &e->p->leg[i];
        const snw_se3 joint = snw_se3_mul(leg->g_pt, leg->end.tip_frame);
        e->leg[i].joint_offset = snw_se3_log(snw_se3_mul(snw_se3_inv(leg->end.plate_frame), joint));
    }
    *reached = continuation(e, t, info, 0.25, balance_supported);
    for (int i = 0; i < e->nleg; i++) {
        e->p->leg[i].end.plate_frame = snw_shooter_leg_end(e, i).plate_frame;
        e->leg[i].r->stretch_compliance = 0;
    }
    e->p->support = snw_wrench_zero();
    return *reached == 1 ? SNW_OK : SNW_E_DIVERGED;
}

// continuation in the loads from the unstressed rods
static snw_status increase_loads(snw_shooter *e, double t, snw_boundary_info *info,
                                 double *reached) {
    for (int i = 0; i < e->nleg; i++) {
        if (e->tree) snw_tree_carry(e->tree, i);
        snw_shoot_set_unstressed(e->leg[i].r, e->leg[i].r->base);
    }
    *reached = continuation(e, t, info, 0.25, shooter_balance);
    if (*reached == 1) return SNW_OK;
    snw_shooter_apply_inputs(e, t, *reached);
    return SNW_E_DIVERGED;
}

snw_status snw_shooter_static(snw_shooter *e, double t, snw_boundary_info *info, double *reached) {
    *info = (snw_boundary_info){0};
    *reached = 1;
    for (int i = 0; i < e->nleg; i++) {
        snw_shoot_rod *r = e->leg[i].r;
        memset(r->V, 0, (size_t)r->nnode * sizeof *r->V);
    }
    snw_status status = shooter_balance(e, t, 1, info);
    if (status != SNW_OK && t > e->t && continuation(e, t, info, 0.5, balance_at_time) == 1)
        status = SNW_OK;
    if (status != SNW_OK && e->p) status = close_joints(e, t, info, reached);
    if (status != SNW_OK && !e->p) status = increase_loads(e, t, info, reached);
    for (bool again = true; status == SNW_OK && again;) {
        status = snw_shooter_refine(e, &again);
        if (status == SNW_OK && again) status = shooter_balance(e, t, 1, info);
    }
    for (int i = 0; i < e->nleg; i++) {
        e->leg[i].r->base_V = snw_twist_zero();
        *base_of(e, i).V = snw_twist_zero();
    }
    if (status == SNW_OK || *reached > 0) {
        shooter_accept(e, 1);
        snw_shooter_restart(e, true, 1);
        e->t = t;
    }
    return status;
}

void snw_shooter_begin(snw_shooter *e, double h) {
    snw_shooter_restart(e, false, h);
    e->account = (snw_shooter_energy_account){0};
    e->h = h;
    e->t_laws = e->in->t;
    snw_shooter_powers(e);
}

// Energy of conditional bodies that appear between the last inputs and t, less that of bodies that
// disappear: kinetic and gravity energy at the pose and velocity of the section that carries them.
static double conditional_body_energy(const snw_shooter *e, double t) {
    double sum = 0;
    for (int i = 0; i < e->nbody; i++) {
        const snw_shooter_body *b = &e->body[i];
        if (!b->when) continue;
        const bool was = snw_expr_value(b->when, (snw_at){.t = e->t_laws}) != 0,
                   is = snw_expr_value(b->when, (snw_at){.t = t}) != 0;
        if (was == is) continue;
        const snw_shoot_rod *r = e->leg[b->leg < 0 ? 0 : b->leg].r;
        const snw_shoot_piece *piece = &r->piece[b->leg < 0 ? 0 : b->station];
        const int node = piece->node + piece->n;
        const snw_shoot_station body = {.has_body = true, .M = b->M};
        const snw_shoot_energy E =
            b->leg < 0 ? snw_station_energies(&body, r->gravity, e->p->g, e->p->V)
                       : snw_station_energies(&body, r->gravity, r->g[node], r->level[0][node].V);
        sum += (is ? 1 : -1) * (E.kinetic + E.gravity);
    }
    return sum;
}

// solve on a grid that is fine enough
static snw_status solve_step(snw_shooter *e, snw_levels levels, double h, double t_laws,
                             snw_boundary_info *info) {
    for (bool again = true; again;) {
        save_nodes(e);
        snw_shooter_apply_inputs(e, t_laws, 1);
        SNW_TRY(shooter_solve(e, levels, h, info));
        SNW_TRY(snw_shooter_refine(e, &again));
    }
    return SNW_OK;
}

snw_status snw_shooter_step(snw_shooter *e, snw_levels levels, double h, double t_laws,
                            snw_boundary_info *info) {
    *info = (snw_boundary_info){0};
    // lengths that differ by rounding of instants are made equal, so that factors are kept
    if (fabs(h - e->h) <= 1e-9 * h) h = e->h;
    e->h = h;
    const double change = conditional_body_energy(e, t_laws);
    const snw_status status = solve_step(e, levels, h, t_laws, info);
    if (status != SNW_OK) {
        restore_nodes(e);
        return status;
    }
    shooter_accept(e, h);
    // more segments than a checkpoint holds: continue from the nodes, so that a resumed run is the
    // same; steps so much shorter than usual lose little by it
    if (!snw_shooter_segments_fit(e)) shooter_reset_guess(e);
    e->t += h;
    e->t_laws = t_laws;
    const double power = e->power, heat = e->heat;
    snw_shooter_powers(e);
    e->account.work += change + 0.5 * h * (power + e->power);
    e->account.heat += 0.5 * h * (heat + e->heat);
    return SNW_OK;
}

snw_shooter_energy_account snw_shooter_work(const snw_shooter *e) { return e->account; }
