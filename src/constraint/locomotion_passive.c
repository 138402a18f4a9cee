// SPDX-License-Identifier: MIT
//
// Rates of passive joints in a tree without a matrix (theory.md 6.8). A contact row below a passive
// joint determines its rate x once the twist V of its parent link is known: with c the row and X
// the joint twist, both in the world frame, and e the rate of the row while the joint is at rest,
//   c X x = -(e + c V)
// Each passive joint with a leading row of its own is solved from the root outwards. A row that has
// other passive joints on its path is first freed of them from the leaves inwards, as in Gaussian
// elimination: c <- c - (c X)/(p X) p, p the leading row of the joint in between. Leading rows are
// assigned once, at a random configuration, so that a special initial configuration does not
// matter. The other rows and unknowns, mostly those of the base, remain in the dense system of
// locomotion.c.

#include "constraint/locomotion_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"

#include <math.h>
#include <string.h>

// Lever, relative to the size of the row, below which a row does not determine a joint.
static const double MIN_LEVER = 1e-8;

// ---- assignment of leading rows -----------------------------------------------------------------

// nu unknowns, nr rows, nv coordinates, nseg segments
#define PLAN_FIELDS(AT, PACK)                                                                      \
    AT(int, unknown, nu, "index of each passive joint among the unknowns")                         \
    PACK(int, parent, nu, "next passive joint towards the root; -1: none")                         \
    PACK(int, leading_row, nu, "leading row of each passive joint; -1: none")                      \
    PACK(int, waiting, nu, "first of the rows that may lead it, a linked list")                    \
    PACK(int, next, nr, "next row in that list")                                                   \
    PACK(int, joint_a, nr, "last passive joint on the path to the first site of a row")            \
    PACK(int, joint_b, nr, "and to its second site")                                               \
    PACK(int, of_dof, nv, "unknown of the passive joint of a coordinate; -1: none")                \
    PACK(int, last_joint, nseg, "last passive joint on the path to a segment")                     \
    AT(snw_twist, X, nu, "joint twists")                                                           \
    AT(snw_wrench, c, nr, "rows as wrenches")

typedef struct plan {
    const snw_locomotion *lo;
    int n; // passive joints, root to leaf
    PLAN_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_inputs *in;
} plan;

static void plan_place(void *object, snw_fields *f) {
    plan *o = object;
    const snw_model *m = o->lo->m;
    const size_t nu = (size_t)o->lo->nu, nr = (size_t)o->lo->nr;
    const size_t nv = (size_t)m->nv, nseg = (size_t)m->nseg;
    PLAN_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static snw_status open_plan(const snw_locomotion *lo, plan *p) {
    p->lo = lo;
    p->block = snw_fields_create(plan_place, p);
    return p->block ? snw_inputs_create(lo->m, &p->in) : SNW_E_MEMORY;
}

static void close_plan(plan *p) {
    snw_inputs_destroy(p->in);
    snw_free(p->block);
}

// passive joints that are always active, and the last one on the path to each segment
static void find_passive_joints(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    for (int i = 0; i < m->nv; i++) p->of_dof[i] = -1;
    for (int j = 0; j < lo->nu; j++) {
        const bool stays = m->seg[m->block[lo->block[j]].seg].condition == SNW_ALWAYS;
        if (lo->is_passive[j] && stays) p->of_dof[lo->dof[j]] = j;
    }
    p->last_joint[0] = -1;
    for (int i = 1; i < m->nseg; i++) {
        const snw_path *path = &m->path[m->seg[i].path];
        int last = p->last_joint[m->seg[i].parent];
        const bool moves = m->seg[i].path != m->seg[m->seg[i].parent].path;
        for (int k = path->own; moves && k < path->n; k++) {
            const int j = p->of_dof[path->dof[k]];
            if (j < 0) continue;
            p->unknown[p->n] = j;
            p->parent[p->n] = last;
            last = p->n++;
        }
        p->last_joint[i] = last;
    }
}

// p->X, p->c <- joint twists and rows at a random configuration
static void evaluate_random(snw_locomotion *lo, plan *p) {
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

static void queue_row(plan *p, int i, int row) {
    if (i < 0) return;
    p->next[row] = p->waiting[i];
    p->waiting[i] = row;
}

// rows that can lead: always active, without a passive joint on the path to their first site
static void queue_rows(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    for (int i = 0; i < p->n; i++) p->waiting[i] = -1;
    for (int k = 0; k < lo->nr; k++) {
        const snw_locomotion_row *row = &lo->row[k];
        p->joint_a[k] = p->joint_b[k] = -1;
        if (row->loop < 0) continue;
        const snw_loop *loop = &m->loop[row->loop];
        p->joint_a[k] = p->last_joint[loop->a];
        p->joint_b[k] = p->last_joint[loop->b];
        if (loop->condition == SNW_ALWAYS && p->joint_a[k] < 0) queue_row(p, p->joint_b[k], k);
    }
}

// from the leaves on each joint takes the row with the longest lever; the others, freed of this
// joint, pass to the next joint towards the root
static void choose_leading_rows(const snw_locomotion *lo, plan *p) {
    const snw_model *m = lo->m;
    for (int i = p->n - 1; i >= 0; i--) {
        const double typical = m->typical[lo->dof[p->unknown[i]]];
        double most = MIN_LEVER;
        p->leading_row[i] = -1;
        for (int k = p->waiting[i]; k >= 0; k = p->next[k]) {
            const double lever = fabs(snw_power(p->c[k], p->X[i])) * typical / lo->row[k].size;
            if (lever > most) most = lever, p->leading_row[i] = k;
        }
        const int best = p->leading_row[i];
        for (int k = p->waiting[i], next; k >= 0; k = next) {
            next = p->next[k];
            if (k == best) continue;
            if (best >= 0) {
                const double part = snw_power(p->c[k], p->X[i]) / snw_power(p->c[best], p->X[i]);
                p->c[k] = snw_wrench_axpy(-part, p->c[best], p->c[k]);
            }
            queue_row(p, p->parent[i], k);
        }
    }
}

// ---- lists for the solution ---------------------------------------------------------------------

// index of the next joint with a leading row, from i towards the root
static int next_planned(const plan *p, const int *number, int i) {
    while (i >= 0 && p->leading_row[i] < 0) i = p->parent[i];
    return i < 0 ? -1 : number[i];
}

// eliminations of each joint: leading rows of other joints that have it on their path; counted in
// the first pass, written in the second
static snw_status list_eliminations(snw_locomotion *lo, const plan *p, const int *number) {
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->n; i++) {
            for (int k = p->leading_row[i] < 0 ? i : p->joint_b[p->leading_row[i]]; k != i;
                 k = p->parent[k]) {
                if (p->leading_row[k] < 0) continue;
                snw_passive_joint *joint = &lo->passive[number[k]];
                if (pass == 1)
                    lo->elimination[joint->elimination_adr + joint->nelimination].joint = number[i];
                joint->nelimination++;
            }
        }
        if (pass == 1) return SNW_OK;
        int total = 0;
        for (int i = 0; i < lo->npassive; i++) {
            lo->passive[i].elimination_adr = total;
            total += lo->passive[i].nelimination;
            lo->passive[i].nelimination = 0;
        }
        lo->elimination = snw_alloc((size_t)total * sizeof *lo->elimination);
        if (!lo->elimination) return SNW_E_MEMORY;
    }
    return SNW_OK;
}

// leading rows move behind the others, in the order of their joints; these joints leave the
// unknowns
static snw_status list_passive(snw_locomotion *lo, const plan *p) {
    const size_t n = (size_t)p->n, nr = (size_t)lo->nr;
    int *number = snw_alloc(n * sizeof *number);
    snw_locomotion_row *all = snw_alloc(nr * sizeof *all);
    lo->passive = snw_alloc(n * sizeof *lo->passive);
    snw_status s = number && all && lo->passive ? SNW_OK : SNW_E_MEMORY;
    for (int i = 0; s == SNW_OK && i < p->n; i++) {
        if (p->leading_row[i] < 0) continue;
        number[i] = lo->npassive;
        const int j = p->unknown[i];
        lo->passive[lo->npassive++] =
            (snw_passive_joint){.dof = lo->dof[j],
                                .block = lo->block[j],
                                .parent = next_planned(p, number, p->parent[i])};
    }
    if (s == SNW_OK) {
        int nrest = 0, unknown = 0;
        for (int k = 0; k < lo->nr; k++) {
            lo->row[k].joint[0] = next_planned(p, number, p->joint_a[k]);
            lo->row[k].joint[1] = next_planned(p, number, p->joint_b[k]);
        }
        memcpy(all, lo->row, nr * sizeof *all);
        for (int i = 0; i < p->n; i++) {
            if (p->leading_row[i] < 0) continue;
            lo->row[lo->nr - lo->npassive + number[i]] = all[p->leading_row[i]];
            all[p->leading_row[i]].row = -1;
            lo->dof[p->unknown[i]] = -1;
        }
        for (int k = 0; k < lo->nr; k++) {
            if (all[k].row >= 0) lo->row[nrest++] = all[k];
        }
        for (int j = 0; j < lo->nu; j++) {
            if (lo->dof[j] < 0) continue;
            lo->dof[unknown] = lo->dof[j];
            lo->block[unknown] = lo->block[j];
            lo->is_passive[unknown++] = lo->is_passive[j];
        }
        lo->nr = nrest;
        lo->nu = unknown;
        s = list_eliminations(lo, p, number);
    }
    snw_free(number);
    snw_free(all);
    return s;
}

snw_status snw_locomotion_plan_passive(snw_locomotion *lo) {
    plan p = {0};
    bool any = false;
    for (int j = 0; j < lo->nu; j++) any |= lo->is_passive[j];
    // servo rows and equal efforts couple passive joints, which then stay in the dense system
    for (int j = 0; j < lo->nu; j++) any &= lo->effort_group[j] == 0;
    if (!any || lo->nr == 0 || lo->has_servo) return SNW_OK;
    snw_status s = open_plan(lo, &p);
    if (s == SNW_OK) {
        find_passive_joints(lo, &p);
        evaluate_random(lo, &p);
        queue_rows(lo, &p);
        choose_leading_rows(lo, &p);
        s = list_passive(lo, &p);
    }
    close_plan(&p);
    return s;
}

// ---- solution -----------------------------------------------------------------------------------

snw_status snw_locomotion_factor_passive(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    for (int i = 0; i < lo->npassive; i++) {
        lo->passive[i].X = snw_locomotion_joint_twist(lo, lo->passive[i].block, lo->passive[i].dof);
        lo->passive[i].c = lo->c[lo->nr + i];
    }
    for (int i = lo->npassive - 1; i >= 0; i--) {
        snw_passive_joint *joint = &lo->passive[i];
        joint->lever = snw_power(joint->c, joint->X);
        const double size = lo->row[lo->nr + i].size;
        if (!(fabs(joint->lever) * m->typical[joint->dof] > MIN_LEVER * size)) {
            lo->singular_joint = i;
            return isfinite(joint->lever) ? SNW_E_SINGULAR : SNW_E_DIVERGED;
        }
        for (int k = joint->elimination_adr; k < joint->elimination_adr + joint->nelimination;
             k++) {
            snw_passive_joint *other = &lo->passive[lo->elimination[k].joint];
            lo->elimination[k].factor = snw_power(other->c, joint->X) / joint->lever;
            other->c = snw_wrench_axpy(-lo->elimination[k].factor, joint->c, other->c);
        }
    }
    return SNW_OK;
}

void snw_locomotion_solve_passive(snw_locomotion *lo, double *e) {
    for (int i = lo->npassive - 1; i >= 0; i--) {
        const snw_passive_joint *joint = &lo->passive[i];
        for (int k = joint->elimination_adr; k < joint->elimination_adr + joint->nelimination;
             k++) {
            e[lo->elimination[k].joint] -= lo->elimination[k].factor * e[i];
        }
    }
    for (int i = 0; i < lo->npassive; i++) {
        snw_passive_joint *joint = &lo->passive[i];
        joint->V = joint->parent < 0 ? (snw_twist){0} : lo->passive[joint->parent].V;
        joint->x = -(e[i] + snw_power(joint->c, joint->V)) / joint->lever;
        joint->V = snw_twist_axpy(joint->x, joint->X, joint->V);
    }
}

double snw_locomotion_passive_rate(const snw_locomotion *lo, int k) {
    const snw_locomotion_row *row = &lo->row[k];
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (row->joint[side] < 0) continue;
        sum += (side ? 1 : -1) * snw_power(lo->c[k], lo->passive[row->joint[side]].V);
    }
    return sum;
}

snw_status snw_locomotion_fail_lever(const snw_locomotion *lo, double t, snw_error *err) {
    const snw_model *m = lo->m;
    const snw_passive_joint *joint = &lo->passive[lo->singular_joint];
    const snw_locomotion_row *row = &lo->row[lo->nr + lo->singular_joint];
    return snw_fail(err, SNW_E_SINGULAR,
                    "the contacts are in a singular position at t = %.9g s: '%s' does not "
                    "constrain the joint of '%s', which it should determine (position: free); "
                    "choose a gait that avoids it, or move the contact",
                    t, m->label.loop[row->loop].name, snw_block_link(m, joint->block));
}
