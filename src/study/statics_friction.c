// SPDX-License-Identifier: MIT
//
// Equilibria with dry friction of hard contacts, theory.md 5.4. Friction needs a history: each
// solve goes on from the equilibrium before, where contacts stuck, along the change of the loads.
// The law of Signorini and Coulomb holds for the gaps at the end and the slips since the last
// increment, by Newton's method on the projected equations of Alart and Curnier (1991).
#include "study/statics_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/hard_contact.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MOST = 200, ITERATIONS = 40, PATIENCE = 8, HALVINGS = 12 };

static const double CLOSED = 1e-10;   // of the length of the robot: gap and slip that are zero
static const double BALANCED = 1e-10; // of typical forces
static const double LOST = 0.1;       // of typical forces, after PATIENCE iterations
static const double NEAR = 1e-3;      // of the length: gaps of contacts that may close
static const double STAYS = 1e-9;     // of typical stiffness: forces that do not vary with gaps
static const double SOFT = 1e-9;      // of typical stiffness: of joints that nothing holds
static const double REDUNDANT = 1e-8; // of typical compliance: of contacts that hold one another
static const double AUGMENTED = 10;   // of typical stiffness: gaps and slips as forces,
static const double SOON = 1e-2;      // or of the largest force over this fraction of the length
static const double LIMIT = 1 - 1e-9; // of the largest friction: less sticks
static const double SLACK = 1e-5;     // of the length: contacts that touch at first
static const double LONGEST = 0.2;    // of typical coordinates: a Newton step

// State of a contact by its law.
typedef enum contact_state { OPEN, STICKS, SLIPS } contact_state;

// In the first iteration of an increment contacts with a force go on sticking or slipping; others
// stick or slide. Then the law decides.
typedef enum start { GO_ON, STICK, SLIDE } start;

typedef struct snw_static_friction {
    int n, most, nc, nc0;      // unknowns without contacts, room for contacts, contacts now, before
    double stiffness;          // typical, N/m
    snw_hard_contact *contact; // most
    contact_state *state;      // most
    double *P, *P0;            // 3 most: forces, now and at the last equilibrium
    double *u;                 // 3 most: gap and slips
    double *G;                 // 3 most columns of nv: their rows
    double *J, *M, *b;         // tangent; matrix and right side of a Newton step
    double *x0;                // last equilibrium
    int *pivot;
    snw_se3 *before;         // nseg: poses there
    snw_touch *near;         // contacts of rods, and limits of stops, that are near
    snw_hard_contact *limit; // 2 nstop
} snw_static_friction;

// ---- room

static bool has_friction(const snw_model *m) {
    for (int i = 0; i < m->ncontact; i++) {
        if (m->contact[i].hard && (m->contact[i].along > 0 || m->contact[i].across > 0))
            return true;
    }
    return false;
}

snw_status snw_statics_friction_create(snw_statics *st) {
    const snw_model *m = st->m;
    if (!m->hard || !has_friction(m)) return SNW_OK;
    snw_static_friction *f = snw_alloc(sizeof *f);
    if (!f) return SNW_E_MEMORY;
    st->friction = f;
    const int all = snw_hard_most(m);
    f->n = m->nv + m->nconstraint;
    f->most = all < MOST ? all : MOST;
    const size_t n = (size_t)f->n, nc = (size_t)f->most, size = n + 3 * nc;
    f->contact = snw_alloc((nc + 1) * sizeof *f->contact);
    f->state = snw_alloc((nc + 1) * sizeof *f->state);
    f->P = snw_alloc((9 * nc + 1) * sizeof(double));
    f->G = snw_alloc((3 * nc * (size_t)m->nv + 1) * sizeof(double));
    f->J = snw_alloc((n * n + 1) * sizeof(double));
    f->M = snw_alloc((size * size + 1) * sizeof(double));
    f->b = snw_alloc((size + n + (size_t)m->nq + 1) * sizeof(double));
    f->pivot = snw_alloc((size + 1) * sizeof *f->pivot);
    f->before = snw_alloc((size_t)m->nseg * sizeof *f->before);
    f->limit = snw_alloc((2 * (size_t)m->nstop + 1) * sizeof *f->limit);
    f->near = snw_alloc(((size_t)m->most_touch + 1) * sizeof *f->near);
    if (!f->contact || !f->state || !f->P || !f->G || !f->J || !f->M || !f->b || !f->pivot ||
        !f->before || !f->near || !f->limit)
        return SNW_E_MEMORY;
    f->P0 = f->P + 3 * nc;
    f->u = f->P0 + 3 * nc;
    f->x0 = f->b + size;
    double energy = 0;
    for (int i = 0; i < m->nv; i++) energy = fmax(energy, m->scale[i] * m->typical[i]);
    f->stiffness = energy / (m->length * m->length);
    return SNW_OK;
}

void snw_statics_friction_reset(snw_statics *st) {
    if (st->friction) st->friction->nc = 0;
}

void snw_statics_friction_destroy(snw_statics *st) {
    snw_static_friction *f = st->friction;
    if (!f) return;
    void *const parts[] = {f->contact, f->state, f->P,      f->G,    f->J,     f->M,
                           f->b,       f->pivot, f->before, f->near, f->limit, f};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) snw_free(parts[i]);
    st->friction = NULL;
}

// ---- contacts

// Forces of hard contacts in st->w <- P
static void give_forces(snw_statics *st) {
    const snw_static_friction *f = st->friction;
    snw_work *w = st->w;
    snw_hard_release(st->m, w);
    for (int i = 0; i < f->nc; i++) {
        const double *P = f->P + 3 * (ptrdiff_t)i;
        if (P[0] > 0) snw_hard_give(&f->contact[i], P, w);
    }
}

static void add_contact(snw_static_friction *f, const snw_model *m, snw_hard_contact c) {
    for (int i = 0; i < f->nc; i++) {
        if (snw_hard_is_same(m, &f->contact[i], &c)) return;
    }
    if (f->nc == f->most) return;
    for (int j = 0; j < 3; j++) f->P[3 * f->nc + j] = 0;
    f->contact[f->nc++] = c;
}

// Contacts of st->w that are near join the others.
static void find_contacts(snw_statics *st) {
    const snw_model *m = st->m;
    const snw_work *w = st->w;
    snw_static_friction *f = st->friction;
    const double near = NEAR * m->length;
    for (int k = 0; k < m->ncontact_point; k++) {
        if (snw_contact_is_hard(m, k) && snw_contact_exists(m, w, k) &&
            w->contact_point[k].gap < near)
            add_contact(f, m, snw_hard_point(k));
    }
    const int nlimit = snw_hard_limits_near(m, w, near, f->limit);
    for (int i = 0; i < nlimit; i++) add_contact(f, m, f->limit[i]);
    if (!m->ntouching_rod) return;
    const int n = snw_hard_touches_near(m, w, near, m->most_touch, f->near);
    for (int i = 0; i < n && i < m->most_touch; i++) add_contact(f, m, snw_hard_rods(&f->near[i]));
}

// Does the contact exist in the present conditions?
static bool exists(const snw_statics *st, const snw_hard_contact *c) {
    if (c->limit >= 0) {
        const snw_model *m = st->m;
        return snw_seg_is_active(m, st->w, m->block[m->stop[c->limit / 2].block].seg);
    }
    if (c->point >= 0) return snw_contact_exists(st->m, st->w, c->point);
    return snw_is_active(st->w, st->m->contact[c->touch.contact].condition);
}

// Contacts without force are forgotten.
static void keep_loaded(const snw_statics *st) {
    snw_static_friction *f = st->friction;
    int n = 0;
    for (int i = 0; i < f->nc; i++) {
        if (!(f->P[3 * i] > 0) || !exists(st, &f->contact[i])) continue;
        f->contact[n] = f->contact[i];
        for (int j = 0; j < 3; j++) f->P[3 * n + j] = f->P[3 * i + j];
        n++;
    }
    f->nc = n;
}

// ---- a Newton step

static double *entry(const snw_static_friction *f, int row, int column) {
    return f->M + (size_t)column * (size_t)(f->n + 3 * f->nc) + (size_t)row;
}

// Row `row` of the step += factor times the variation of the gap or slip j of contact i
static void add_row(const snw_static_friction *f, int nv, int row, int i, int j, double factor) {
    const double *G = f->G + (size_t)(3 * i + j) * (size_t)nv;
    for (int l = 0; l < nv; l++) *entry(f, row, l) += factor * G[l];
}

// The row that closes the gap or holds the place: u + du = compliance dP
static void add_held(snw_static_friction *f, int nv, int i, int j) {
    const int row = f->n + 3 * i + j;
    add_row(f, nv, row, i, j, f->stiffness);
    *entry(f, row, row) = -REDUNDANT;
    f->b[row] = -f->stiffness * f->u[3 * i + j];
}

// Rows of the law of contact i, theory.md (5.17); returns its violation, relative to the length of
// the robot and to the force `large`. Gaps below `slack` of the length count as closed.
static double add_law(const snw_statics *st, int i, double large, double slack, start at) {
    snw_static_friction *f = st->friction;
    const snw_model *m = st->m;
    double mu[2];
    snw_hard_friction(m, &f->contact[i], mu);
    const double rho = AUGMENTED * fmax(f->stiffness, large / (SOON * m->length));
    const double *P = f->P + 3 * (ptrdiff_t)i, *u = f->u + 3 * (ptrdiff_t)i;
    const double length = fmin(1, m->length);
    // a contact that touches without force may hold
    const double normal = P[0] - rho * u[0];
    const int row = f->n + 3 * i;
    if (!(normal + rho * slack * length > 0)) {
        f->state[i] = OPEN;
        double worst = 0;
        for (int j = 0; j < 3; j++) {
            *entry(f, row + j, row + j) = 1;
            f->b[row + j] = -P[j];
            worst = fmax(worst, fabs(P[j]) / large);
        }
        return worst;
    }
    add_held(f, m->nv, i, 0);
    double p[2], s[2], tau[2], size = 0;
    for (int j = 0; j < 2; j++) {
        p[j] = mu[j] > 0 ? P[1 + j] / mu[j] : 0;
        s[j] = mu[j] * u[1 + j];
        tau[j] = p[j] - rho * s[j];
        size = hypot(size, tau[j]);
    }
    double worst = fabs(u[0]) / length;
    const double bound = LIMIT * (at == GO_ON ? fmax(normal, 0) : P[0]);
    const bool sticks = at == SLIDE && P[0] == 0 ? false : size <= bound;
    if (sticks && mu[0] > 0 && mu[1] > 0) {
        f->state[i] = STICKS;
        for (int j = 1; j < 3; j++) {
            add_held(f, m->nv, i, j);
            worst = fmax(worst, fabs(u[j]) / length);
        }
        return worst;
    }
    f->state[i] = SLIPS;
    for (int j = 0; j < 2; j++) {
        const int own = row + 1 + j;
        if (!(mu[j] > 0)) {
            *entry(f, own, own) = 1;
            f->b[own] = -P[1 + j];
            continue;
        }
        const double e = size > 0 ? tau[j] / size : 0, shrink = size > 0 ? normal / size : 0;
        f->b[own] = -(p[j] - normal * e);
        worst = fmax(worst, fabs(f->b[own]) / large);
        // across the slip the row vanishes where nothing moves that way
        *entry(f, own, own) += (1 + REDUNDANT) / mu[j];
        *entry(f, own, row) += -e;
        add_row(f, m->nv, own, i, 0, e * rho);
        for (int l = 0; l < 2; l++) {
            if (!(mu[l] > 0)) continue;
            const double el = size > 0 ? tau[l] / size : 0;
            const double across = shrink * ((j == l) - e * el);
            *entry(f, own, row + 1 + l) -= across / mu[l];
            add_row(f, m->nv, own, i, 1 + l, across * rho * mu[l]);
        }
    }
    return worst;
}

// Matrix and right side of a Newton step at st->x; *balance, *violation <- of forces and of the law
static snw_status assemble(snw_statics *st, double load, double slack, start at, double *balance,
                           double *violation) {
    const snw_model *m = st->m;
    snw_static_friction *f = st->friction;
    const snw_problem p = snw_statics_problem(st);
    const int n = f->n;
    give_forces(st);
    SNW_TRY(p.tangent(p.user, load, st->x, f->b, f->J));
    *balance = 0;
    for (int i = 0; i < n; i++) {
        const double x = fabs(f->b[i]) / st->scale[i];
        if (!(x <= *balance)) *balance = x;
    }
    find_contacts(st);
    const int size = n + 3 * f->nc;
    snw_contact_displace(m, f->before, st->w);
    double large = 0;
    for (int i = 0; i < f->nc; i++) {
        double *u = f->u + 3 * (ptrdiff_t)i;
        const double gap = snw_hard_gap(m, st->w, &f->contact[i]);
        snw_hard_rows(m, st->w, &f->contact[i], f->G + 3 * (size_t)i * (size_t)m->nv);
        snw_hard_velocity(m, st->w, &f->contact[i], u);
        u[0] = gap;
        large = fmax(large, f->P[3 * i]);
    }
    st->w->is_static = true;
    large = fmax(large, BALANCED * f->stiffness * m->length);
    memset(f->M, 0, (size_t)size * (size_t)size * sizeof *f->M);
    for (int j = 0; j < n; j++) {
        memcpy(entry(f, 0, j), f->J + (size_t)j * (size_t)n, (size_t)n * sizeof *f->J);
        if (j < m->nv) *entry(f, j, j) += SOFT * m->scale[j] / m->typical[j];
        f->b[j] = -f->b[j];
    }
    *violation = 0;
    for (int i = 0; i < f->nc; i++) {
        for (int j = 0; j < 3; j++) {
            const double *G = f->G + (size_t)(3 * i + j) * (size_t)m->nv;
            for (int l = 0; l < m->nv; l++) *entry(f, l, n + 3 * i + j) = -G[l];
        }
        const double off = add_law(st, i, large, slack, at);
        if (!(off <= *violation)) *violation = off;
    }
    return SNW_OK;
}

// ---- a solve

// One increment of the load from the last equilibrium to `load`. `slides`: new contacts slide at
// first, otherwise they stick.
static snw_status increment(snw_statics *st, double load, bool slides, snw_statics_info *info) {
    const snw_model *m = st->m;
    snw_static_friction *f = st->friction;
    const snw_problem p = snw_statics_problem(st);
    for (int k = 0; k < ITERATIONS; k++) {
        double balance, violation;
        SNW_TRY(assemble(st, load, CLOSED, GO_ON, &balance, &violation));
        info->residual = balance;
        if (!isfinite(balance) || !isfinite(violation)) return SNW_E_DIVERGED;
        if (balance <= BALANCED && violation <= CLOSED) return SNW_OK;
        if (k >= PATIENCE && balance > LOST) return SNW_E_DIVERGED;
        if (k == 0)
            SNW_TRY(assemble(st, load, SLACK, slides ? SLIDE : STICK, &balance, &violation));
        const int size = f->n + 3 * f->nc;
        if (snw_lu_factor(size, f->M, f->pivot) != SNW_OK) return SNW_E_SINGULAR;
        snw_lu_solve(size, f->M, f->pivot, f->b);
        info->iterations++;
        double most = 0;
        for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(f->b[i]) / m->typical[i]);
        const double part = most > LONGEST ? LONGEST / most : 1;
        if (p.move) {
            p.move(p.user, st->x, part, f->b, st->x);
        } else {
            for (int i = 0; i < f->n; i++) st->x[i] += part * f->b[i];
        }
        for (int i = 0; i < 3 * f->nc; i++) f->P[i] += part * f->b[f->n + i];
        for (int i = 0; i < f->nc; i++) f->P[3 * i] = fmax(f->P[3 * i], 0);
    }
    return SNW_E_DIVERGED;
}

// The equilibrium at st->x, from which slips are measured
static void remember(snw_statics *st) {
    const snw_model *m = st->m;
    snw_static_friction *f = st->friction;
    memcpy(f->before, st->w->g, (size_t)m->nseg * sizeof *f->before);
    memcpy(f->x0, st->x, (size_t)(m->nq + m->nconstraint) * sizeof *f->x0);
    keep_loaded(st);
    f->nc0 = f->nc;
    memcpy(f->P0, f->P, 3 * (size_t)f->nc * sizeof *f->P);
}

static void go_back(snw_statics *st) {
    const snw_model *m = st->m;
    snw_static_friction *f = st->friction;
    memcpy(st->x, f->x0, (size_t)(m->nq + m->nconstraint) * sizeof *f->x0);
    f->nc = f->nc0;
    memcpy(f->P, f->P0, 3 * (size_t)f->nc * sizeof *f->P);
    give_forces(st);
}

static snw_status explain(const snw_statics *st, double t, const snw_statics_info *info,
                          snw_error *err) {
    const snw_static_friction *f = st->friction;
    const snw_model *m = st->m;
    int slips = 0, first = -1;
    for (int i = 0; i < f->nc; i++) {
        if (f->state[i] != SLIPS) continue;
        if (slips++ == 0) first = i;
    }
    if (first < 0)
        return snw_fail(err, SNW_E_DIVERGED,
                        "static at t = %g s: no equilibrium with friction beyond %.6g of the load; "
                        "the last one is kept. Hard contacts must hold what nothing else holds, "
                        "from the start on: let it touch, use smaller steps, or a dynamic step",
                        t, info->reached);
    return snw_fail(
        err, SNW_E_DIVERGED,
        "static at t = %g s: no equilibrium with friction beyond %.6g of the load: %d contact%s "
        "slip%s, the first of '%s', link '%s'. The last one is kept. Use more friction or a "
        "larger force, smaller steps, or a dynamic step",
        t, info->reached, slips, slips > 1 ? "s" : "", slips > 1 ? "" : "s",
        snw_hard_law_name(m, snw_hard_law(m, &f->contact[first])),
        snw_hard_link(m, &f->contact[first], 0));
}

snw_status snw_statics_friction_solve(snw_statics *st, const snw_statics_opts *opts, double t,
                                      const snw_state *s, snw_statics_info *info, snw_error *err) {
    const snw_model *m = st->m;
    snw_static_friction *f = st->friction;
    (void)opts;
    st->w->hard_stiffness = STAYS * f->stiffness;
    st->w->hard_smooth = STAYS * m->length;
    st->w->hard_holds = true;
    // poses of the last equilibrium, at its time
    snw_inputs_at(m, s->t, st->now);
    snw_kinematics(m, st->now, s, true, st->w);
    st->blended = NAN;
    remember(st);
    // along the laws of t since then; at the same time the loads grow
    const double t0 = s->t;
    const bool along = t > t0;
    double done = 0, part = 1;
    int halvings = 0;
    while (done < 1) {
        const double to = fmin(1, done + part);
        if (along) {
            snw_inputs_at(m, to < 1 ? t0 + to * (t - t0) : t, st->after);
            st->blended = NAN;
        }
        snw_status status = increment(st, along ? 1 : to, false, info);
        if (status != SNW_OK && status != SNW_E_STOPPED) {
            go_back(st);
            status = increment(st, along ? 1 : to, true, info);
        }
        if (status == SNW_E_STOPPED)
            return snw_fail(err, status, "stopped at t = %g s, %.3g of the load", t, done);
        if (status == SNW_OK) {
            done = to;
            info->increments++;
            give_forces(st);
            snw_statics_evaluate(st, along ? 1 : to, st->x);
            remember(st);
            if (along) snw_inputs_copy(st->after, st->before);
            info->reached = done;
            if (halvings > 0) halvings--, part *= 2;
            continue;
        }
        info->reached = done;
        if (++halvings > HALVINGS) {
            const snw_status why = explain(st, t, info, err);
            go_back(st);
            if (along) snw_inputs_copy(st->before, st->after);
            return why;
        }
        part *= 0.5;
        go_back(st);
    }
    return SNW_OK;
}
