// SPDX-License-Identifier: MIT
//
// Followers one by one. A row of a contact below a following joint says how fast that joint turns,
// once the motion of what carries it is known: with c the row and X the joint's motion, both of the
// world, and V the motion of the joint's parent,
//   c X x = -(e + c V)
// so in a tree each follower that has such a row to itself is found from the next one towards the
// root, without a matrix. A row that has further followers on its way is freed of them from the
// leaves on, as by Gauss: c <- c - (c X)/(p X) p with p the row that leads the one in between,
// which p then no longer needs to know. Which row leads which joint is settled once, at a
// configuration chosen at random, so that no accident of the first one counts; rows that lead
// nobody and rates that nobody leads remain, mostly those of the base, and with followers that give
// way they are the small dense system of reduced.c. theory.md 6.8
#include "constraint/locomotion_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/projection.h"
#include "dynamics/closure.h"

#include <math.h>
#include <string.h>

// less of a lever than this part of the robot's size is none
static const double LEVER = 1e-8;

// ---- who leads whom
// --------------------------------------------------------------------------------

typedef struct plan {
    int n;         // followers, root to leaf
    int *unknown;  // n: which unknown
    int *up;       // n: the next one towards the root; -1: none
    int *lead;     // n: the row that leads it; -1: none
    int *first;    // n: rows that wait for it, a list
    int *next;     // rows
    int *at[2];    // rows: the last follower on the way to the first and to the second site
    int *of_dof;   // nv: follower; -1: none
    int *deep;     // nseg: the last follower on the way there
    snw_twist *X;  // n
    snw_wrench *c; // rows
    snw_inputs *in;
} plan;

static snw_status open_plan(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    const size_t nu = (size_t)lo->nu, nr = (size_t)lo->nr;
    int *memory = snw_alloc((4 * nu + 3 * nr + (size_t)m->nv + (size_t)m->nseg) * sizeof *memory);
    p->unknown = memory;
    p->X = snw_alloc(nu * sizeof *p->X);
    p->c = snw_alloc(nr * sizeof *p->c);
    if (!memory || !p->X || !p->c) return SNW_E_MEMORY;
    p->up = p->unknown + nu;
    p->lead = p->up + nu;
    p->first = p->lead + nu;
    p->next = p->first + nu;
    p->at[0] = p->next + nr;
    p->at[1] = p->at[0] + nr;
    p->of_dof = p->at[1] + nr;
    p->deep = p->of_dof + m->nv;
    return snw_inputs_create(m, &p->in);
}

static void close_plan(plan *p) {
    snw_inputs_destroy(p->in);
    snw_free(p->unknown);
    snw_free(p->X);
    snw_free(p->c);
}

// followers that are always there, and the last one on the way to each segment
static void find_followers(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->nv; i++) p->of_dof[i] = -1;
    for (int j = 0; j < lo->nu; j++) {
        const bool stays = m->seg[m->block[lo->block[j]].seg].condition == SNW_ALWAYS;
        if (lo->is_passive[j] && stays) p->of_dof[lo->dof[j]] = j;
    }
    p->deep[0] = -1;
    for (int i = 1; i < m->nseg; i++) {
        const snw_path *path = &m->path[m->seg[i].path];
        int last = p->deep[m->seg[i].parent];
        const bool moves = m->seg[i].path != m->seg[m->seg[i].parent].path;
        for (int k = path->own; moves && k < path->n; k++) {
            const int j = p->of_dof[path->dof[k]];
            if (j < 0) continue;
            p->unknown[p->n] = j;
            p->up[p->n] = last;
            last = p->n++;
        }
        p->deep[i] = last;
    }
}

// p->X and p->c at a configuration at random
static void passive_look(snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    unsigned long long seed = 5;
    memset(lo->v0, 0, (size_t)m->nv * sizeof *lo->v0);
    for (int i = 0; i < p->n; i++) {
        const int dof = lo->dof[p->unknown[i]];
        lo->v0[dof] = 0.3 * m->typical[dof] * snw_projection_random(&seed);
    }
    snw_inputs_at(m, 0, p->in);
    snw_move(m, m->q0, 1, lo->v0, lo->near->q);
    snw_locomotion_impose(lo, p->in, lo->near);
    snw_kinematics(m, p->in, lo->near, true, lo->w);
    for (int i = 0; i < p->n; i++) {
        const int j = p->unknown[i];
        p->X[i] = snw_locomotion_joint_twist(lo, lo->block[j], lo->dof[j]);
    }
    for (int k = 0; k < lo->nr; k++) {
        const snw_locomotion_row *row = &lo->row[k];
        if (row->loop >= 0) p->c[k] = snw_loop_row(m, lo->w, row->loop, row->r);
    }
}

static void wait(plan *p, int i, int row) {
    if (i < 0) return;
    p->next[row] = p->first[i];
    p->first[i] = row;
}

// rows that can lead: always there, and nobody follows on the way to their first site
static void passive_place_rows(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    for (int i = 0; i < p->n; i++) p->first[i] = -1;
    for (int k = 0; k < lo->nr; k++) {
        const snw_locomotion_row *row = &lo->row[k];
        p->at[0][k] = p->at[1][k] = -1;
        if (row->loop < 0) continue;
        const snw_loop *loop = &m->loop[row->loop];
        p->at[0][k] = p->deep[loop->a];
        p->at[1][k] = p->deep[loop->b];
        if (loop->condition == SNW_ALWAYS && p->at[0][k] < 0) wait(p, p->at[1][k], k);
    }
}

// the leaves choose first, the row with the longest lever; what is left waits for the next one
static void passive_choose(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    for (int i = p->n - 1; i >= 0; i--) {
        const double typical = m->typical[lo->dof[p->unknown[i]]];
        double most = LEVER;
        p->lead[i] = -1;
        for (int k = p->first[i]; k >= 0; k = p->next[k]) {
            const double lever = fabs(snw_power(p->c[k], p->X[i])) * typical / lo->row[k].size;
            if (lever > most) most = lever, p->lead[i] = k;
        }
        const int best = p->lead[i];
        for (int k = p->first[i], next; k >= 0; k = next) {
            next = p->next[k];
            if (k == best) continue;
            if (best >= 0) {
                const double part = snw_power(p->c[k], p->X[i]) / snw_power(p->c[best], p->X[i]);
                p->c[k] = snw_wrench_axpy(-part, p->c[best], p->c[k]);
            }
            wait(p, p->up[i], k);
        }
    }
}

// ---- the lists of the motion
// -----------------------------------------------------------------------

// the next follower that is led, from i on towards the root
static int led_from(const plan *p, const int *number, int i) {
    while (i >= 0 && p->lead[i] < 0) i = p->up[i];
    return i < 0 ? -1 : number[i];
}

// hands: rows that pass a follower on the way to the one that they lead. Counted, then written.
static snw_status list_hands(snw_locomotion *lo, const plan *p, const int *number) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->n; i++) {
            for (int k = p->lead[i] < 0 ? i : p->at[1][p->lead[i]]; k != i; k = p->up[k]) {
                if (p->lead[k] < 0) continue;
                snw_passive_joint *led = &lo->passive[number[k]];
                if (pass == 1) lo->lead[led->lead + led->nlead].leads = number[i];
                led->nlead++;
            }
        }
        if (pass == 1) return SNW_OK;
        int total = 0;
        for (int i = 0; i < lo->npassive; i++) {
            lo->passive[i].lead = total;
            total += lo->passive[i].nlead;
            lo->passive[i].nlead = 0;
        }
        lo->lead = snw_alloc((size_t)total * sizeof *lo->lead);
        if (!lo->lead) return SNW_E_MEMORY;
    }
    return SNW_OK;
}

// rows that lead come behind the others, in the order of those they lead; led rates leave the
// unknowns
static snw_status list_led(snw_locomotion *lo, const plan *p) {
    const size_t n = (size_t)p->n, nr = (size_t)lo->nr;
    int *number = snw_alloc(n * sizeof *number);
    snw_locomotion_row *all = snw_alloc(nr * sizeof *all);
    lo->passive = snw_alloc(n * sizeof *lo->passive);
    snw_status s = number && all && lo->passive ? SNW_OK : SNW_E_MEMORY;
    for (int i = 0; s == SNW_OK && i < p->n; i++) {
        if (p->lead[i] < 0) continue;
        number[i] = lo->npassive;
        const int j = p->unknown[i];
        lo->passive[lo->npassive++] = (snw_passive_joint){
            .dof = lo->dof[j], .block = lo->block[j], .up = led_from(p, number, p->up[i])};
    }
    if (s == SNW_OK) {
        int rest = 0, unknown = 0;
        for (int k = 0; k < lo->nr; k++) {
            lo->row[k].at[0] = led_from(p, number, p->at[0][k]);
            lo->row[k].at[1] = led_from(p, number, p->at[1][k]);
        }
        memcpy(all, lo->row, nr * sizeof *all);
        for (int i = 0; i < p->n; i++) {
            if (p->lead[i] < 0) continue;
            lo->row[lo->nr - lo->npassive + number[i]] = all[p->lead[i]];
            all[p->lead[i]].row = -1;
            lo->dof[p->unknown[i]] = -1;
        }
        for (int k = 0; k < lo->nr; k++) {
            if (all[k].row >= 0) lo->row[rest++] = all[k];
        }
        for (int j = 0; j < lo->nu; j++) {
            if (lo->dof[j] < 0) continue;
            lo->dof[unknown] = lo->dof[j];
            lo->block[unknown] = lo->block[j];
            lo->is_passive[unknown++] = lo->is_passive[j];
        }
        lo->nr = rest;
        lo->nu = unknown;
        s = list_hands(lo, p, number);
    }
    snw_free(number);
    snw_free(all);
    return s;
}

snw_status snw_locomotion_plan_passive(snw_locomotion *lo) {
    plan p = {0};
    bool any = false;
    for (int j = 0; j < lo->nu; j++) any |= lo->is_passive[j];
    // what is held asks of followers together what no single row of one says; so do wheels with one
    // effort
    for (int j = 0; j < lo->nu; j++) any &= lo->same[j] == 0;
    if (!any || lo->nr == 0 || lo->holds) return SNW_OK;
    snw_status s = open_plan(lo, &p);
    if (s == SNW_OK) {
        find_followers(lo, &p);
        passive_look(lo, &p);
        passive_place_rows(lo, &p);
        passive_choose(lo, &p);
        s = list_led(lo, &p);
    }
    close_plan(&p);
    return s;
}

// ---- motion
// ----------------------------------------------------------------------------------------

snw_status snw_locomotion_factor_passive(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    for (int i = 0; i < lo->npassive; i++) {
        lo->passive[i].X = snw_locomotion_joint_twist(lo, lo->passive[i].block, lo->passive[i].dof);
        lo->passive[i].c = lo->c[lo->nr + i];
    }
    for (int i = lo->npassive - 1; i >= 0; i--) {
        snw_passive_joint *led = &lo->passive[i];
        led->lever = snw_power(led->c, led->X);
        const double size = lo->row[lo->nr + i].size;
        if (!(fabs(led->lever) * m->typical[led->dof] > LEVER * size)) {
            lo->stuck = i;
            return isfinite(led->lever) ? SNW_E_SINGULAR : SNW_E_DIVERGED;
        }
        for (int k = led->lead; k < led->lead + led->nlead; k++) {
            snw_passive_joint *other = &lo->passive[lo->lead[k].leads];
            lo->lead[k].part = snw_power(other->c, led->X) / led->lever;
            other->c = snw_wrench_axpy(-lo->lead[k].part, led->c, other->c);
        }
    }
    return SNW_OK;
}

void snw_locomotion_solve_passive(snw_locomotion *lo, double *e) {
    for (int i = lo->npassive - 1; i >= 0; i--) {
        const snw_passive_joint *led = &lo->passive[i];
        for (int k = led->lead; k < led->lead + led->nlead; k++) {
            e[lo->lead[k].leads] -= lo->lead[k].part * e[i];
        }
    }
    for (int i = 0; i < lo->npassive; i++) {
        snw_passive_joint *led = &lo->passive[i];
        led->V = led->up < 0 ? (snw_twist){0} : lo->passive[led->up].V;
        led->x = -(e[i] + snw_power(led->c, led->V)) / led->lever;
        led->V = snw_twist_axpy(led->x, led->X, led->V);
    }
}

double snw_locomotion_passive_rate(const snw_locomotion *lo, int k) {
    const snw_locomotion_row *row = &lo->row[k];
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (row->at[side] < 0) continue;
        sum += (side ? 1 : -1) * snw_power(lo->c[k], lo->passive[row->at[side]].V);
    }
    return sum;
}

snw_status snw_locomotion_fail_lever(const snw_locomotion *lo, double t, snw_error *err) {
    const snw_model *m = lo->m;
    const snw_passive_joint *led = &lo->passive[lo->stuck];
    const snw_locomotion_row *row = &lo->row[lo->nr + lo->stuck];
    return snw_fail(err, SNW_E_SINGULAR,
                    "the contacts are in a singular position at t = %.9g s: '%s' has no lever on "
                    "the joint of '%s', which follows it (position: free); choose a gait that "
                    "stays away, or put the contact elsewhere",
                    t, m->desc->loop[row->loop].name,
                    m->desc->link[m->seg[m->block[led->block].seg].link].name);
}
