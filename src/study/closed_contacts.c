// SPDX-License-Identifier: MIT
//
// Hard contacts that touch as rows that hold (study/closed_contacts.h).
#include "study/closed_contacts.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/coulomb.h"

#include <math.h>

enum { MOST = 200, LINE = 11 }; // LINE: numbers of a contact in `line`: b, p, u, mu

snw_status snw_closed_contacts_create(const snw_model *m, snw_closed_contacts **out) {
    *out = NULL;
    if (!m->hard) return SNW_OK;
    snw_closed_contacts *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    *out = c;
    const int all = snw_hard_most(m);
    c->m = m;
    c->most = all < MOST ? all : MOST;
    const size_t n = (size_t)c->most, nv = (size_t)m->nv;
    c->contact = snw_alloc((n + 1) * sizeof *c->contact);
    c->P = snw_alloc((3 * n + 1) * sizeof(double));
    c->G = snw_alloc((3 * n * nv + 1) * sizeof(double));
    c->W = snw_alloc((9 * n * n + 1) * sizeof(double));
    c->line = snw_alloc((LINE * n + 1) * sizeof(double));
    c->limit = snw_alloc((2 * (size_t)m->nstop + 1) * sizeof *c->limit);
    c->near = snw_alloc(((size_t)m->most_touch + 1) * sizeof *c->near);
    c->scratch.size = snw_coulomb_scratch(c->most);
    c->scratch.base = snw_alloc(c->scratch.size + 1);
    const bool done =
        c->contact && c->P && c->G && c->W && c->line && c->near && c->limit && c->scratch.base;
    return done ? SNW_OK : SNW_E_MEMORY;
}

void snw_closed_contacts_destroy(snw_closed_contacts *c) {
    if (!c) return;
    void *const parts[] = {c->contact,      c->P, c->G, c->W, c->line, c->near, c->limit,
                           c->scratch.base, c};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) snw_free(parts[i]);
}

static snw_status add_contact(snw_closed_contacts *c, snw_hard_contact at, const snw_state *s,
                              const char *what, const snw_work *w, snw_error *err) {
    const snw_model *m = c->m;
    if (c->n == c->most) {
        return snw_fail(err, SNW_E_MODEL,
                        "%s at t = %g s: more than %d hard contact points touch; give rods fewer "
                        "nodes, or the contacts a stiffness instead of 'hard'",
                        what, s->t, c->most);
    }
    (void)snw_hard_gap(m, w, &at);
    snw_hard_rows(m, w, &at, c->G + 3 * (size_t)c->n * (size_t)m->nv);
    c->contact[c->n++] = at;
    return SNW_OK;
}

// The contacts that touch, with their rows, from the residual in w
static snw_status find_contacts(snw_closed_contacts *c, const snw_state *s, const char *what,
                                snw_work *w, snw_error *err) {
    static const double CLOSED =
        1e-9; // of the length of the robot; equilibria and steps close to 1e-10
    const snw_model *m = c->m;
    c->n = 0;
    snw_jacobian_pass(m, w);
    for (int k = 0; k < m->ncontact_point; k++) {
        if (!snw_contact_is_hard(m, k) || !snw_contact_exists(m, w, k) ||
            w->contact_point[k].gap > CLOSED * m->length)
            continue;
        SNW_TRY(add_contact(c, snw_hard_point(k), s, what, w, err));
    }
    const int nlimit = snw_hard_limits_near(m, w, CLOSED * m->length, c->limit);
    for (int i = 0; i < nlimit; i++) SNW_TRY(add_contact(c, c->limit[i], s, what, w, err));
    if (!m->ntouching_rod) return SNW_OK;
    const int n = snw_hard_touches_near(m, w, CLOSED * m->length, m->most_touch, c->near);
    for (int i = 0; i < n && i < m->most_touch; i++)
        SNW_TRY(add_contact(c, snw_hard_rods(&c->near[i]), s, what, w, err));
    return SNW_OK;
}

// P <- forces in the cones of friction with the least residual r - G P in coordinates scaled by
// their typical sizes: law (6.50) with W = G'SG, b = -G'S r
static void find_forces(snw_closed_contacts *c, const snw_work *w) {
    const snw_model *m = c->m;
    const int n = 3 * c->n;
    double *b = c->line, *p = b + n, *u = p + n, *mu = u + n;
    static const double ACCEPTED = 1e-3; // where many contacts hold one another
    snw_coulomb_info info;
    for (int j = 0; j < n; j++) {
        const double *G = c->G + (size_t)j * (size_t)m->nv;
        for (int i = 0; i < n; i++) {
            const double *H = c->G + (size_t)i * (size_t)m->nv;
            double sum = 0;
            for (int l = 0; l < m->nv; l++) sum += G[l] * H[l] * m->typical[l] / m->scale[l];
            c->W[(size_t)j * (size_t)n + (size_t)i] = sum;
        }
        b[j] = c->P[j] = 0;
        for (int l = 0; l < m->nv; l++) b[j] -= G[l] * w->r[l] * m->typical[l] / m->scale[l];
    }
    for (int i = 0; i < c->n; i++) {
        snw_hard_friction(m, &c->contact[i], mu + 2 * (ptrdiff_t)i);
    }
    const snw_coulomb_problem problem = {.n = c->n, .W = c->W, .b = b, .mu = mu};
    if (c->n == 0) return;
    // a residual that these forces do not balance is reported as such
    const snw_status status = snw_coulomb_solve(&problem, 1e-12, &c->scratch, p, u, &info);
    if (status != SNW_OK && !(info.residual <= ACCEPTED)) return;
    for (int i = 0; i < n; i++) c->P[i] = p[i];
}

void snw_closed_contacts_release(const snw_closed_contacts *c, snw_work *w) {
    snw_hard_release(c->m, w);
    w->hard_stiffness = w->hard_smooth = 0;
    w->hard_holds = false;
}

snw_status snw_closed_contacts_balance(snw_closed_contacts *c, const snw_inputs *in,
                                       const snw_state *s, const char *what, snw_work *w,
                                       snw_error *err) {
    static const double STAYS = 1e-9; // of typical stiffness: forces that do not vary
    const snw_model *m = c->m;
    snw_closed_contacts_release(c, w);
    w->hard_stiffness = STAYS * m->scale[0] * m->typical[0] / (m->length * m->length);
    w->hard_smooth = STAYS * m->length;
    w->hard_holds = true;
    snw_residual(m, in, s, false, w);
    SNW_TRY(find_contacts(c, s, what, w, err));
    find_forces(c, w);
    for (int i = 0; i < c->n; i++) snw_hard_give(&c->contact[i], c->P + 3 * (ptrdiff_t)i, w);
    return SNW_OK;
}

void snw_closed_contacts_hold(snw_closed_contacts *c, snw_directions *d) {
    static const double CARRIES = 1e-8; // of the largest force, or of a typical one
    const snw_model *m = c->m;
    double largest = 0;
    for (int i = 0; i < m->nv; i++)
        largest = fmax(largest, m->scale[i] * m->typical[i] / m->length);
    d->nheld = c->nholding = c->ngrazing = 0;
    for (int i = 0; i < c->n; i++) largest = fmax(largest, c->P[3 * i]);
    for (int i = 0; i < c->n; i++) {
        const int contact = snw_hard_law(m, &c->contact[i]);
        if (!(c->P[3 * i] > CARRIES * largest)) {
            if (c->ngrazing++ == 0) c->grazing = contact;
            continue;
        }
        if (c->nholding++ == 0) c->holding = contact;
        double mu[2];
        snw_hard_friction(m, &c->contact[i], mu);
        const int n = mu[0] > 0 && mu[1] > 0 ? 3 : 1;
        for (int j = 0; j < n; j++) {
            double *row = snw_column_of(d->held, m->nv, d->nheld++);
            const double *G = c->G + (size_t)(3 * i + j) * (size_t)m->nv;
            for (int l = 0; l < m->nv; l++) row[l] = G[l];
        }
    }
}
