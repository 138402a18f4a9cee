// SPDX-License-Identifier: MIT
//
// Tensions of tendons with friction that vary: products of the tangent, and the border of elastic
// tendons of given length, theory.md (4.7b). A winch adds three numbers to what (4.7a) has: the
// variations p of the whole path c and sigma of its rate, by which the tendon slides at each point
//   d(nu_k) = N_k + r b (c_k' - b c' c_k) p + b c_k sigma,
//   p = cq sum_k dl_k,   sigma = -N_0,
// and epsilon = d(ln T_0). With the compliance k and the lengths l_k of the parts it follows from
//   sum_k l_k/(1 + k T_k) + extra/(1 + k T_0) = length paid out,
//   slope epsilon + sum_k cq dl_k/(1 + k T_k) - sum_k kappa_k d(ln T_k/T_0) = 0,
//   kappa_k = l_k k T_k/(1 + k T_k)^2,   slope = -sum_k kappa_k - extra k T_0/(1 + k T_0)^2.
// Forces are sum_k T_k (dl_k/dq)' (epsilon + d(ln T_k/T_0)). In statics nothing slides: p and sigma
// have no part.

#include "constraint/elimination_private.h"

#include "base/alloc.h"

enum { EPSILON, PATH, RATE, UNKNOWNS };
// Forms at each point in the row of epsilon: its own, and the rows of p and sigma. Others have one.
enum { OF_EPSILON = SNW_FORMS + 2 };

static bool is_winch(const snw_tendon *t) {
    return t->has_friction && snw_gives_motion(t->given) && t->row < 0;
}

// Tension that the winch would have at the full load, times the compliance.
static double elastic_strain(const snw_model *m, int tendon, const snw_work *w) {
    const snw_tendon_work *now = &w->tendon[tendon];
    return m->tendon[tendon].compliance * now->effort / now->fraction;
}

// e->along <- the path beyond each point with its rate, and sum_(j >= k) kappa_j; returns the
// slope.
static double winch_sums(snw_elimination *e, int tendon, const snw_work *w) {
    const snw_model *m = e->m;
    const snw_tendon *t = &m->tendon[tendon];
    const double strain = elastic_strain(m, tendon, w);
    snw_friction_sum sum = {0};
    for (int k = t->point_adr + t->npoint - 1; k >= t->point_adr; k--) {
        const snw_tendon_point_work *at = &w->tendon_point[k];
        const double own = strain * at->tension_fraction, length = m->tendon_point[k].w * at->f;
        sum.path += length;
        sum.rate += m->tendon_point[k].w * at->df;
        sum.slack += length * own / ((1 + own) * (1 + own));
        e->along[k] = sum;
    }
    return -sum.slack - t->extra * strain / ((1 + strain) * (1 + strain));
}

// ---- product ------------------------------------------------------------------------------------

static void tendon_friction_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                                    int tendon, const double *x, double *y) {
    const snw_model *m = e->m;
    const snw_form *of = e->form;
    const snw_tendon *t = &m->tendon[tendon];
    const bool winch = is_winch(t);
    const int end = t->point_adr + t->npoint;
    const double slope = winch ? winch_sums(e, tendon, w) : 0,
                 strain = winch ? elastic_strain(m, tendon, w) : 0;
    const snw_tendon_slide sl = snw_tendon_slide_at(m, tendon, w);
    double speed = 0, path = 0, left = 0; // left: sum_k cq dl_k/(1 + k T_k)
    for (int k = end - 1; k >= t->point_adr; k--) {
        (void)snw_friction_forms(e, at, w, tendon, k);
        speed -= snw_form_times(e, &of[SNW_FORM_SPEED], x);
        e->along[k].speed = speed;
        if (!winch) continue;
        const double length = at->cq * snw_form_times(e, &of[SNW_FORM_LENGTH], x);
        path += length;
        left += length / (1 + strain * w->tendon_point[k].tension_fraction);
    }
    // winch: once without epsilon, whose equation needs all tensions, and once with it
    double epsilon = 0;
    for (int pass = winch ? 0 : 1; pass < 2; pass++) {
        double tension = 0;
        for (int k = t->point_adr; k < end; k++) {
            const snw_friction_at p = snw_friction_forms(e, at, w, tendon, k);
            const double turn = snw_form_times(e, &of[SNW_FORM_TURN], x);
            const snw_friction_sum *sum = &e->along[k];
            double sliding = sum->speed;
            if (winch)
                sliding += sl.r * sl.b * (sum->rate - sl.b * sl.rate * sum->path) * path -
                           sl.b * sum->path * speed;
            tension -= p.f.by_speed * sliding + p.f.before * turn +
                       snw_form_times(e, &of[SNW_FORM_CORNER], x);
            if (pass == 0) {
                const double behind = k + 1 < end ? e->along[k + 1].slack : 0;
                left -= (sum->slack - behind) * tension;
            } else {
                snw_form_push(e, &of[SNW_FORM_LENGTH], p.T * (epsilon + tension),
                              p.T * (epsilon + tension), y);
            }
            tension -= p.f.after * turn;
        }
        if (pass == 0) epsilon = -left / slope;
    }
}

void snw_friction_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                          const double *x, double *y) {
    for (int i = 0; i < e->m->ntendon; i++) {
        if ((at->cq != 0 || at->cv != 0) && snw_tendon_friction_acts(e->m, i, w))
            tendon_friction_product(e, at, w, i, x, y);
    }
}

// ---- border -------------------------------------------------------------------------------------

int snw_winch_room(const snw_model *m) {
    int n = 0;
    for (int i = 0; i < m->ntendon; i++) n += is_winch(&m->tendon[i]) ? UNKNOWNS : 0;
    return n;
}

// Entries of one form of all points of a tendon at most.
static size_t winch_entries(const snw_model *m, const snw_tendon *t) {
    size_t n = 0;
    for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) n += (size_t)snw_form_room(m, k);
    return n;
}

snw_status snw_winch_create(snw_elimination *e) {
    const snw_model *m = e->m;
    const int n = snw_winch_room(m) / UNKNOWNS;
    if (n == 0) return SNW_OK;
    size_t room = 0;
    for (int i = 0; i < m->ntendon; i++)
        room += is_winch(&m->tendon[i]) ? winch_entries(m, &m->tendon[i]) : 0;
    room *= 2 * UNKNOWNS - 1 + OF_EPSILON;
    e->winch_form = snw_alloc((size_t)n * 2 * UNKNOWNS * sizeof *e->winch_form);
    e->winch_entry = snw_alloc(room * sizeof *e->winch_entry);
    if (!e->winch_form || !e->winch_entry) return SNW_E_MEMORY;
    snw_form *form = e->winch_form;
    snw_form_entry *entry = e->winch_entry;
    for (int i = 0; i < m->ntendon; i++) {
        const size_t one = is_winch(&m->tendon[i]) ? winch_entries(m, &m->tendon[i]) : 0;
        for (int k = 0; one > 0 && k < 2 * UNKNOWNS; k++) {
            (form++)->entry = entry;
            entry += k == UNKNOWNS + EPSILON ? OF_EPSILON * one : one;
        }
    }
    return SNW_OK;
}

void snw_winch_destroy(snw_elimination *e) {
    snw_free(e->winch_form);
    snw_free(e->winch_entry);
}

// form[0 .. UNKNOWNS) <- forces, then rows; G = 1 with these
static void winch_take(snw_elimination *e, const snw_tangent_at *at, const snw_work *w, int tendon,
                       snw_form *form) {
    const snw_model *m = e->m;
    const snw_tendon *t = &m->tendon[tendon];
    const int end = t->point_adr + t->npoint;
    const double slope = winch_sums(e, tendon, w), strain = elastic_strain(m, tendon, w);
    const snw_tendon_slide sl = snw_tendon_slide_at(m, tendon, w);
    snw_form *row = form + UNKNOWNS;
    for (int k = 0; k < 2 * UNKNOWNS; k++) form[k].n = 0;
    // loss of tension up to a point by p, sigma, and by N of the points before, weighed by the
    // slack
    double by_path = 0, by_rate = 0, by_speed = 0, of_path = 0, of_rate = 0;
    for (int k = t->point_adr; k < end; k++) {
        const snw_friction_at p = snw_friction_forms(e, at, w, tendon, k);
        const snw_form *of = e->form, *length = &of[SNW_FORM_LENGTH];
        const snw_friction_sum *sum = &e->along[k];
        const double behind = k + 1 < end ? e->along[k + 1].slack : 0;
        const double path = p.f.by_speed * sl.r * sl.b * (sum->rate - sl.b * sl.rate * sum->path),
                     rate = p.f.by_speed * sl.b * sum->path;
        by_path += path, by_rate += rate;
        of_path += sum->slack * path, of_rate += sum->slack * rate;
        by_speed += sum->slack * p.f.by_speed;
        snw_form_add(&form[EPSILON], length, p.T);
        snw_form_add(&form[PATH], length, -p.T * by_path);
        snw_form_add(&form[RATE], length, -p.T * by_rate);
        snw_form_add(&row[PATH], length, -at->cq);
        snw_form_add(&row[RATE], &of[SNW_FORM_SPEED], -1);
        const double elastic = at->cq / (1 + strain * w->tendon_point[k].tension_fraction);
        snw_form_add(&row[EPSILON], length, elastic / slope);
        snw_form_add(&row[EPSILON], &of[SNW_FORM_SPEED], -by_speed / slope);
        snw_form_add(&row[EPSILON], &of[SNW_FORM_TURN],
                     (sum->slack * p.f.before + behind * p.f.after) / slope);
        snw_form_add(&row[EPSILON], &of[SNW_FORM_CORNER], sum->slack / slope);
    }
    // p and sigma in the row of epsilon are their own rows
    snw_form_add(&row[EPSILON], &row[PATH], -of_path / slope);
    snw_form_add(&row[EPSILON], &row[RATE], -of_rate / slope);
}

void snw_winch_list(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    snw_form *form = e->winch_form;
    for (int i = 0; e->winch_form && i < m->ntendon; i++) {
        if (!is_winch(&m->tendon[i])) continue;
        const bool acts = (at->cq != 0 || at->cv != 0) && snw_tendon_friction_acts(m, i, w);
        if (acts) winch_take(e, at, w, i, form);
        for (int k = 0; acts && k < (w->is_static ? PATH : UNKNOWNS); k++)
            e->border[e->nborder++] = (snw_border_unknown){
                .diagonal = 1, .pair = -1, .force_form = &form[k], .row_form = &form[UNKNOWNS + k]};
        form += 2 * UNKNOWNS;
    }
}
