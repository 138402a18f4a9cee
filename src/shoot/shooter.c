// SPDX-License-Identifier: MIT
#include "shoot/shooter_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// ---- what it can do ---------------------------------------------------------------------------------

static snw_status cannot(const snw_step_desc *step, snw_place at, snw_error *err, const char *what,
                         const char *name) {
    if (!at.file) at = step->place;
    const snw_status s =
        snw_fail(err, SNW_E_MODEL,
                 "the shooting engine cannot do %s ('%s'); it knows one clamped rod "
                 "with bodies, loads, tendons and chambers. Use 'engine: strain'",
                 what, name);
    return snw_fail_place(err, s, at.file, at.line, at.column);
}

snw_status snw_shooter_cannot(const snw_step_desc *step, snw_place at, snw_error *err,
                              const char *what, const char *name) {
    return cannot(step, at, err, what, name);
}

static snw_status check_fluids(const snw_desc *d, const snw_step_desc *step, snw_error *err) {
    for (int i = 0; i < d->nfluid; i++) {
        const snw_fluid_desc *f = &d->fluid[i];
        bool more = f->density > 0 || f->buoyancy || f->added != SNW_ADDED_NONE || f->normal ||
                    f->tangent || f->when;
        for (int k = 0; k < 6; k++) more = more || f->linear[k];
        for (int k = 0; k < 3; k++) more = more || f->current[k] || f->square[k];
        for (int k = 0; k < f->nlink; k++) more = more || !d->link[f->link[k]].has_rod;
        if (more)
            return cannot(step, f->place, err, "fluids other than square drag on rods", f->name);
    }
    return SNW_OK;
}

static snw_status check_links(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    const snw_desc *d = m->desc;
    int rods = 0;
    for (int i = 0; i < d->nlink; i++) {
        const snw_link_desc *l = &d->link[i];
        if (l->joint != SNW_JOINT_FIXED)
            return cannot(step, l->place, err, "joints that move", l->name);
        if (!l->has_rod) continue;
        if (l->when) return cannot(step, l->place, err, "rods that come and go", l->name);
        if (rods++) return cannot(step, l->place, err, "more than one rod", l->name);
        if (l->rod.fed) return cannot(step, l->place, err, "rods that are fed", l->name);
        if (snw_rod_given(&l->rod)) return cannot(step, l->place, err, "given strains", l->name);
    }
    if (rods == 0) return cannot(step, step->place, err, "a robot without rods", step->name);
    return SNW_OK;
}

static snw_status check(const snw_model *m, const snw_step_desc *step, snw_error *err) {
    const snw_desc *d = m->desc;
    SNW_TRY(check_links(m, step, err));
    SNW_TRY(check_fluids(d, step, err));
    if (d->nloop) return cannot(step, d->loop[0].place, err, "loops", d->loop[0].name);
    if (d->nstress) return cannot(step, d->stress[0].place, err, "muscles", d->stress[0].name);
    if (d->nmotor) return cannot(step, d->motor[0].place, err, "motors", d->motor[0].name);
    SNW_TRY(snw_shooter_check_cords(d, step, err));
    if (d->ncontact) return cannot(step, d->contact[0].place, err, "contacts", d->contact[0].name);
    for (int i = 0; i < m->nsignal; i++) {
        // bodies come and go with time
        const snw_signal_desc *x = &d->signal[i];
        const bool gate = x->kind == SNW_SIGNAL_GATE;
        if (gate && (!x->source || !(snw_expr_vars(x->source) & ~SNW_VAR_T))) continue;
        return cannot(step, step->place, err, "laws and conditions that read probes",
                      x->text ? x->text : step->name);
    }
    return SNW_OK;
}

// ---- stations ---------------------------------------------------------------------------------------

// The rod's section that segment i hangs on, -1: none; g <- the segment in its frame, for poses as the laws are at t = 0.
static int section_of(const snw_shooter *e, int i, snw_se3 *g, bool *moves) {
    const snw_model *m = e->m;
    *g = snw_se3_identity();
    *moves = false;
    while (i > 0 && m->seg[i].kind != SNW_SEG_ROD) {
        const int pose = m->seg[i].item;
        *moves = *moves || snw_pose_desc_vars(&m->pose[pose]) != 0;
        *g = snw_se3_mul(e->in->pose[pose], *g);
        i = m->seg[i].parent;
    }
    return i > 0 ? i : -1;
}

static snw_status add_station(snw_shooter_grid *s, double x, double L, const snw_step_desc *step,
                              snw_error *err) {
    const double same = 1e-9 * L;
    if (x <= same || x >= L - same) return SNW_OK; // the root is held, the tip is there
    int at = 0;
    while (at < s->nspan && s->x[at] < x - same) at++;
    if (at < s->nspan && fabs(s->x[at] - x) <= same) return SNW_OK;
    if (s->nspan == SNW_SHOOTER_STATIONS) {
        return cannot(step, step->place, err, "so many places with loads and bodies on a rod",
                      step->name);
    }
    memmove(s->x + at + 1, s->x + at, (size_t)(s->nspan - at) * sizeof *s->x);
    s->x[at] = x;
    s->nspan++;
    return SNW_OK;
}

static snw_status find_stations(const snw_shooter *e, const snw_step_desc *step,
                                snw_shooter_grid *s, snw_error *err) {
    const snw_model *m = e->m;
    const double L = e->rod->L;
    *s = (snw_shooter_grid){.nspan = 1, .x = {L}};
    snw_se3 g;
    bool moves;
    for (int i = 1; i < m->nseg; i++) {
        const bool acts = m->seg[i].kind == SNW_SEG_POSE && m->seg[i].heavy;
        const int section = acts ? section_of(e, i, &g, &moves) : -1;
        if (section < 0) continue;
        if (moves) {
            const snw_link_desc *l = &m->desc->link[m->seg[i].link];
            return cannot(step, l->place, err, "bodies that move on a rod", l->name);
        }
        SNW_TRY(add_station(s, m->seg_x[section], L, step, err));
    }
    for (int i = 0; i < m->nact; i++) {
        if (m->desc->load[m->act[i].load].along) continue;
        const int section = section_of(e, m->act[i].seg, &g, &moves);
        if (section >= 0) SNW_TRY(add_station(s, m->seg_x[section], L, step, err));
    }
    for (int i = 0; i < m->nmeasure; i++) {
        SNW_TRY(add_station(s, m->desc->measure[i].from, L, step, err));
        SNW_TRY(add_station(s, m->desc->measure[i].to, L, step, err));
    }
    return SNW_OK;
}

// the piece that ends at x, -1: none
static int station_at(const snw_shooter_grid *s, double x, double L) {
    for (int i = 0; i < s->nspan; i++) {
        if (fabs(s->x[i] - x) <= 1e-9 * L) return s->end[i];
    }
    return -1;
}

// when a segment is there
static snw_law presence(const snw_model *m, int gate) {
    return gate == SNW_ALWAYS ? NULL : m->desc->signal[m->switch_signal[gate]].source;
}

void snw_shooter_place(snw_shooter *e) {
    const snw_shooter_grid *s = &e->grid;
    const snw_model *m = e->m;
    e->nbody = 0;
    for (int i = 1; i < m->nseg; i++) {
        // the body of the rod's own link sits on its tip's section
        const bool own = m->seg[i].kind == SNW_SEG_ROD && m->seg[i].heavy && m->seg_w[i] == 0;
        if (!own && !(m->seg[i].kind == SNW_SEG_POSE && m->seg[i].heavy)) continue;
        snw_se3 g;
        bool moves;
        const int section = section_of(e, i, &g, &moves);
        const int at = section < 0 ? -1 : station_at(s, m->seg_x[section], e->rod->L);
        if (at < 0) continue;
        if (m->seg[i].gate == SNW_NEVER) continue;
        e->body[e->nbody++] = (snw_shooter_body){.station = at,
                                                 .when = presence(m, m->seg[i].gate),
                                                 .M = snw_inertia_seen(g, &m->seg[i].M)};
    }
}

// those that are there at time t
static void put_bodies(snw_shooter *e, double t) {
    for (int i = 0; i < e->r->npiece; i++) {
        e->r->station[i].M = (snw_inertia){0};
        e->r->station[i].has_body = false;
    }
    for (int i = 0; i < e->nbody; i++) {
        const snw_shooter_body *b = &e->body[i];
        if (b->when && snw_expr_value(b->when, (snw_at){.t = t}) == 0) continue;
        snw_inertia_add(&e->r->station[b->station].M, &b->M);
        e->r->station[b->station].has_body = true;
    }
}

static snw_status place_acts(snw_shooter *e, const snw_step_desc *step, snw_error *err) {
    const snw_shooter_grid *s = &e->grid;
    const snw_model *m = e->m;
    int count[SNW_SHOOTER_STATIONS] = {0};
    for (int i = 0; i < m->nact; i++) {
        if (m->desc->load[m->act[i].load].along) continue;
        snw_se3 g;
        bool moves;
        const int section = section_of(e, m->act[i].seg, &g, &moves);
        const int at = section < 0 ? -1 : station_at(s, m->seg_x[section], e->rod->L);
        if (at < 0) continue;
        e->act[e->nact++] = (snw_shooter_act){.act = i, .station = at, .g = g};
        if (++count[at] <= SNW_SHOOT_LOADS) continue;
        const snw_load_desc *l = &m->desc->load[m->act[i].load];
        return cannot(step, l->place, err, "more than eight loads at one place", l->name);
    }
    return SNW_OK;
}

// ---- making -----------------------------------------------------------------------------------------

// factors of what the functions of the rod's bases give when multiplied and integrated
static snw_status factor_bases(snw_shooter *e) {
    const snw_rod *rod = e->rod;
    size_t total = 1;
    for (int a = 0; a < rod->na; a++) total += (size_t)rod->nfun[a] * (size_t)rod->nfun[a];
    e->G = snw_alloc(total * sizeof *e->G);
    if (!e->G) return SNW_E_MEMORY;
    double *G = e->G;
    for (int a = 0; a < rod->na; a++) {
        const int n = rod->nfun[a];
        for (int p = rod->point0; p < rod->point0 + rod->npoint; p++) {
            const snw_point *pt = &e->m->point[p];
            const double *phi = e->m->phi + pt->phi;
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

static snw_status make(snw_shooter *e, const snw_step_desc *step, snw_error *err) {
    const snw_model *m = e->m;
    SNW_TRY(snw_inputs_create(m, &e->in));
    snw_inputs_at(m, 0, e->in);
    for (int i = 0; i < m->desc->nload; i++) e->along = e->along || m->desc->load[i].along;
    SNW_TRY(find_stations(e, step, &e->grid, err));
    snw_shooter_make_cords(e);
    snw_shooter_cut(e);
    e->body = snw_alloc((size_t)m->nseg * sizeof *e->body);
    e->act = snw_alloc(((size_t)m->nact + 1) * sizeof *e->act);
    if (!e->act || !e->body) return SNW_E_MEMORY;
    SNW_TRY(snw_shooter_build(e, err));
    SNW_TRY(place_acts(e, step, err));
    snw_shooter_reserve(e);
    return factor_bases(e);
}

snw_status snw_shooter_create(const snw_model *m, const snw_step_desc *step, snw_shooter **out,
                              snw_error *err) {
    *out = NULL;
    SNW_TRY(check(m, step, err));
    snw_shooter *e = snw_alloc(sizeof *e);
    if (!e) return SNW_E_MEMORY;
    e->m = m;
    e->step = step;
    e->rod = &m->rod[0];
    e->link = &m->desc->link[e->rod->link];
    const snw_status status = make(e, step, err);
    if (status == SNW_OK) {
        *out = e;
    } else {
        snw_shooter_destroy(e);
    }
    return status;
}

snw_status snw_shooter_copy(const snw_shooter *e, snw_shooter **out, snw_error *err) {
    SNW_TRY(snw_shooter_create(e->m, e->step, out, err));
    snw_shooter *copy = *out;
    if (e->step->shooting.error > 0) {
        // on its grid, which may have changed
        const snw_status status = snw_shooter_rebuild(copy, &e->grid, err);
        if (status != SNW_OK) {
            snw_shooter_destroy(copy);
            *out = NULL;
            return status;
        }
    }
    snw_shooter_follow(copy, e);
    return SNW_OK;
}

void snw_shooter_destroy(snw_shooter *e) {
    if (!e) return;
    snw_boundary_destroy(e->b);
    snw_shoot_destroy(e->r);
    snw_inputs_destroy(e->in);
    snw_cords_release(&e->cords);
    snw_free(e->act);
    snw_free(e->body);
    snw_free(e->kept);
    snw_free(e->G);
    snw_free(e);
}

void snw_shooter_hold(snw_shooter *e, const snw_hand *hand) { e->in->hand = hand; }

// ---- laws -------------------------------------------------------------------------------------------

// pose and motion of the rod's root, from the poses that carry it
static void place_base(snw_shooter *e) {
    const snw_model *m = e->m;
    int chain[64], n = 0;
    for (int i = e->rod->root; i > 0 && n < 64; i = m->seg[i].parent) chain[n++] = i;
    snw_se3 g = snw_se3_identity();
    snw_twist V = snw_twist_zero();
    while (n-- > 0) {
        const int item = m->seg[chain[n]].item;
        g = snw_se3_mul(g, e->in->pose[item]);
        V = snw_twist_add(snw_twist_to_child(e->in->pose[item], V), e->in->pose_u[item]);
    }
    e->r->base = g;
    e->r->base_V = V;
}

static double law_at(snw_law law, snw_at at) { return law ? snw_expr_value(law, at) : 0; }

static void spread_loads(snw_shooter *e, double t, double share) {
    const snw_desc *d = e->m->desc;
    snw_shoot_rod *r = e->r;
    memset(r->density, 0, (size_t)r->npoint * sizeof *r->density);
    for (int i = 0; i < d->nload; i++) {
        const snw_load_desc *l = &d->load[i];
        if (!l->along || (l->when && snw_expr_value(l->when, (snw_at){.t = t}) == 0)) continue;
        const bool given = e->in->hand && e->in->hand->load_given[i];
        for (int p = 0; p < r->npoint; p++) {
            const snw_at at = {.t = t, .x = snw_shoot_point_s(r, p), .L = e->rod->L};
            snw_wrench W;
            for (int k = 0; k < 3; k++) {
                W.m.e[k] = share * law_at(l->torque[k], at);
                W.f.e[k] = share * law_at(l->force[k], at);
            }
            if (given) W = snw_wrench_scale(share, e->in->hand->load[i]);
            snw_shoot_density *to = &r->density[p];
            if (l->body) {
                to->body = snw_wrench_add(to->body, W);
            } else {
                to->force = snw_add(to->force, W.f);
                to->torque = snw_add(to->torque, W.m);
            }
            e->applied = fmax(e->applied, snw_norm(W.f) * e->rod->L + snw_norm(W.m));
        }
    }
}

static void put_load(snw_shooter *e, const snw_shooter_act *a, double share) {
    const bool body = e->m->desc->load[e->m->act[a->act].load].body;
    snw_wrench W = snw_wrench_scale(share, e->in->load[a->act]);
    if (body) {
        W.f = snw_rotate(a->g.R, W.f);
        W.m = snw_rotate(a->g.R, W.m);
    }
    snw_shoot_station *st = &e->r->station[a->station];
    const double size = snw_norm(W.f) + snw_norm(W.m) / e->rod->L;
    e->applied = fmax(e->applied, size);
    if (size == 0) return; // loads that are off cost nothing
    SNW_ASSERT(st->nload < SNW_SHOOT_LOADS);
    st->load[st->nload++] = (snw_shoot_load){.body = body, .arm = a->g.p, .W = W};
}

void snw_shooter_load(snw_shooter *e, double t, double share) {
    snw_inputs_at(e->m, t, e->in);
    place_base(e);
    e->r->gravity = snw_scale(share, e->in->gravity);
    for (int i = 0; i < e->r->npiece; i++) e->r->station[i].nload = 0;
    for (int i = 0; i < e->nact; i++) put_load(e, &e->act[i], share);
    put_bodies(e, t);
    snw_shooter_pull(e, t, share);
    if (e->along) spread_loads(e, t, share);
    const snw_status ready = snw_shoot_ready(e->r, e->applied);
    SNW_ASSERT(ready == SNW_OK); // a rod without stiffness was refused when it was made
    (void)ready;
}

// ---- steps ------------------------------------------------------------------------------------------

static void keep_nodes(snw_shooter *e) {
    const int nz = snw_shoot_nz(e->r);
    for (int i = 0; i < e->r->nnode; i++) {
        snw_shooter_node *to = &e->kept[i];
        to->g = e->r->g[i], to->V = e->r->V[i], to->F = e->r->F[i];
        for (int k = 0; k < nz; k++) to->z[k] = e->r->z[i * nz + k];
    }
}

static void bring_back(snw_shooter *e) {
    const int nz = snw_shoot_nz(e->r);
    for (int i = 0; i < e->r->nnode; i++) {
        e->r->g[i] = e->kept[i].g, e->r->V[i] = e->kept[i].V, e->r->F[i] = e->kept[i].F;
        for (int k = 0; k < nz; k++) e->r->z[i * nz + k] = e->kept[i].z[k];
    }
    snw_boundary_forget(e->b);
}

static snw_status balance(snw_shooter *e, double t, double share, snw_boundary_info *info) {
    snw_boundary_info now;
    snw_shooter_load(e, t, share);
    snw_shoot_formula(e->r, SNW_TIME_STATIC, 0, 1);
    snw_boundary_forget(e->b);
    const snw_status status = snw_boundary_solve(e->b, &now);
    info->iterations += now.iterations;
    info->marches += now.marches;
    info->tangents += now.tangents;
    info->residual = now.residual;
    return status;
}

// from the unloaded rod on
static snw_status build_up(snw_shooter *e, double t, snw_boundary_info *info, double *reached) {
    snw_shoot_rest(e->r, e->r->base);
    keep_nodes(e);
    double share = 0, by = 0.25;
    while (share < 1) {
        const double next = fmin(share + by, 1);
        if (balance(e, t, next, info) == SNW_OK) {
            share = next;
            by *= 2;
            keep_nodes(e);
            continue;
        }
        bring_back(e);
        by *= 0.5;
        if (by < 1e-4) break;
    }
    *reached = share;
    if (share == 1) return SNW_OK;
    snw_shooter_load(e, t, share);
    return SNW_E_DIVERGED;
}

snw_status snw_shooter_static(snw_shooter *e, double t, snw_boundary_info *info, double *reached) {
    *info = (snw_boundary_info){0};
    *reached = 1;
    memset(e->r->V, 0, (size_t)e->r->nnode * sizeof *e->r->V);
    snw_status status = balance(e, t, 1, info);
    if (status != SNW_OK) status = build_up(e, t, info, reached);
    for (bool again = true; status == SNW_OK && again;) {
        status = snw_shooter_refine(e, &again);
        if (status == SNW_OK && again) status = balance(e, t, 1, info);
    }
    e->r->base_V = snw_twist_zero();
    if (status == SNW_OK || *reached > 0) {
        snw_shoot_push(e->r, 1);
        snw_shoot_begin(e->r, true, 1);
        e->t = t;
    }
    return status;
}

void snw_shooter_begin(snw_shooter *e, double h) {
    snw_shoot_begin(e->r, false, h);
    snw_boundary_forget(e->b);
    e->books = (snw_shooter_books){0};
    e->h = h;
    snw_shooter_powers(e);
}

// solved, on a grid that is fine enough
static snw_status solve_step(snw_shooter *e, snw_time_kind kind, double alpha, double h,
                             double t_laws, snw_boundary_info *info) {
    for (bool again = true; again;) {
        snw_boundary_info now;
        keep_nodes(e);
        snw_shooter_load(e, t_laws, 1);
        snw_shoot_formula(e->r, kind, alpha, h);
        const snw_status status = snw_boundary_solve(e->b, &now);
        info->iterations += now.iterations;
        info->marches += now.marches;
        info->tangents += now.tangents;
        info->residual = now.residual;
        if (status != SNW_OK) return status;
        SNW_TRY(snw_shooter_refine(e, &again));
    }
    return SNW_OK;
}

snw_status snw_shooter_step(snw_shooter *e, snw_time_kind kind, double alpha, double h,
                            double t_laws, snw_boundary_info *info) {
    *info = (snw_boundary_info){0};
    // steps that differ by the rounding of instants are one: factors are kept from one to the next
    if (fabs(h - e->h) <= 1e-9 * h) h = e->h;
    e->h = h;
    const snw_status status = solve_step(e, kind, alpha, h, t_laws, info);
    if (status != SNW_OK) {
        bring_back(e);
        return status;
    }
    snw_shoot_push(e->r, h);
    snw_boundary_accept(e->b, h);
    // guesses of steps so much shorter than those to come are no loss
    if (e->b->segments->n > e->room) snw_boundary_forget(e->b);
    e->t += h;
    const double power = e->power, heat = e->heat;
    snw_shooter_powers(e);
    e->books.work += 0.5 * h * (power + e->power);
    e->books.heat += 0.5 * h * (heat + e->heat);
    return SNW_OK;
}

snw_shooter_books snw_shooter_work(const snw_shooter *e) { return e->books; }
