// SPDX-License-Identifier: MIT
//
// Which of the classes of locomotion a robot belongs to, theory.md 6.8.
#include "study/reduced_private.h"

#include "base/fail.h"
#include "dynamics/fluid.h"

#include <math.h>
#include <stdio.h>

// ---- symmetry --------------------------------------------------------------------------------------

// a joint whose motions form a group
static bool is_group(snw_joint_kind kind) {
    return kind != SNW_JOINT_FIXED && kind != SNW_JOINT_UNIVERSAL;
}

// a fluid that does more than to follow
static bool resists(const snw_wet *p) {
    bool any = p->across[0] != 0 || p->across[1] != 0 || p->flux[0] != 0 || p->flux[1] != 0;
    for (int i = 0; i < 6; i++) any = any || p->linear[i] != 0 || p->square[i] != 0;
    return any;
}

static bool pushed(const snw_reduced *red) {
    const snw_model *m = red->m;
    const snw_desc *d = m->desc;
    if (d->nload || m->ntouch || m->flowing || m->nswitch) return true;
    for (int k = 0; k < m->nwet; k++) {
        if (resists(&m->wet[k]) || m->wet[k].displaced != 0) return true;
    }
    for (int k = 0; k < red->nbase; k++) {
        const int j = red->base[k];
        if (m->block[red->block[j]].spring >= 0) return true;
        for (int i = 0; i < d->nmotor; i++) {
            const int at = red->dof[j] - m->motor[i].dof;
            if (d->motor[i].kind == SNW_MOTOR_EFFORT && at >= 0 && at < m->motor[i].n) return true;
        }
    }
    return false;
}

// a weight that works on no motion of the base
static bool heavy(const snw_reduced *red, const snw_inputs *in) {
    const snw_model *m = red->m;
    for (int i = 0; i < 3; i++) {
        const snw_law law = m->desc->gravity[i];
        if (law && snw_expr_vars(law)) return true;
    }
    const double g = snw_norm(in->gravity);
    if (g == 0) return false;
    for (int k = 0; k < red->nbase; k++) {
        const snw_block *b = &m->block[red->block[red->base[k]]];
        if (b->space != SNW_SPACE_RN) return true;
        const snw_twist X = snw_twist_to_parent(red->w->g[b->seg], b->S);
        const double turn = snw_norm(X.w);
        if (turn == 0 && fabs(snw_dot(X.v, in->gravity)) > 1e-12 * g) return true;
        if (turn > 0 && snw_norm(snw_cross(X.w, in->gravity)) > 1e-12 * g) return true;
    }
    return false;
}

// red->base <- unknowns of the one link on the world, if its motions form a group and all are open
static bool list_base(snw_reduced *red) {
    const snw_model *m = red->m;
    int link = -1;
    red->nbase = 0;
    for (int i = 0; i < m->desc->nlink; i++) {
        if (m->desc->link[i].on.kind != SNW_SITE_WORLD) continue;
        if (link >= 0) return false;
        link = i;
    }
    if (link < 0 || !is_group(m->desc->link[link].joint)) return false;
    if (snw_pose_desc_vars(&m->desc->link[link].pose)) return false;
    for (int j = 0; j < red->nu; j++) {
        if (m->seg[m->block[red->block[j]].seg].link != link) continue;
        if (red->follows[j]) return false;
        red->base[red->nbase++] = j;
    }
    return red->nbase > 0 && red->nbase == snw_joint_dof(m->desc->link[link].joint);
}

// does a row move with the base?
static bool held(const snw_reduced *red) {
    if (red->holds) return true;
    for (int k = 0; k < red->nr + red->nled; k++) {
        for (int b = 0; b < red->nbase; b++) {
            const int j = red->base[b], loop = red->row[k].loop;
            if (loop >= 0 ? red->sign[(size_t)loop * (size_t)red->nu + (size_t)j] != 0
                          : red->m->drive[red->row[k].drive].dof == red->dof[j])
                return true;
        }
    }
    return false;
}

// Is the momentum along the motions of the base kept? One base on the world, all its motions open, rows only within the robot, which
// determine the rest, and nothing from outside.
static bool symmetric(snw_reduced *red, const snw_inputs *in) {
    return list_base(red) && !held(red) && !pushed(red) && red->nominal == red->nu - red->nbase &&
           !heavy(red, in);
}

// ---- classes ---------------------------------------------------------------------------------------

void snw_reduced_classify(snw_reduced *red, int rank) {
    red->nominal = rank;
    if (red->nu + red->nled == 0) {
        red->class = red->nr > 0 ? SNW_REDUCED_OVER : SNW_REDUCED_DRIVEN;
    } else if (rank == red->nu) {
        red->class = red->nr > rank ? SNW_REDUCED_OVER : SNW_REDUCED_FULL;
    } else {
        red->class = rank + red->nled > 0 ? SNW_REDUCED_UNDER : SNW_REDUCED_FREE;
    }
}

// largest rank of the rows with what is driven at several times, the rest as in s
static snw_status most(snw_reduced *red, snw_inputs *in, const snw_state *s, int *out) {
    static const double part[] = {0, 0.0731, 0.2173, 0.3919, 0.6311};
    *out = 0;
    for (size_t i = 0; i < sizeof part / sizeof part[0] && red->nr > 0; i++) {
        int rank = 0;
        snw_state_copy(red->m, s, red->near);
        const double t = s->t + part[i] * (red->until - s->t);
        snw_inputs_at(red->m, t + snw_grain(t), in);
        snw_reduced_impose(red, in, red->near);
        snw_reduced_at(red, in, red->near);
        const snw_status status = snw_reduced_decompose(red, &rank);
        if (status == SNW_E_SINGULAR) continue;
        SNW_TRY(status);
        if (rank > *out) *out = rank;
    }
    return SNW_OK;
}

static bool told(const snw_reduced *red, const snw_state *s) {
    const snw_desc *d = red->m->desc;
    const int link = red->m->seg[red->m->block[red->block[red->base[0]]].seg].link;
    for (int i = 0; i < d->ninitial; i++) {
        if (d->initial[i].link == link) return true;
    }
    for (int k = 0; k < red->nbase; k++) {
        if (s->v[red->dof[red->base[k]]] != 0) return true;
    }
    return false;
}

snw_status snw_reduced_start(snw_reduced *red, snw_inputs *in, const snw_state *s, double until,
                             snw_error *err) {
    int rank = 0;
    red->until = until > s->t ? until : s->t + 1;
    if (most(red, in, s, &rank) != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "a law has no finite value after t = %.9g s", s->t);
    }
    snw_reduced_classify(red, rank);
    snw_inputs_at(red->m, s->t + snw_grain(s->t), in);
    snw_state_copy(red->m, s, red->near);
    snw_reduced_impose(red, in, red->near);
    snw_reduced_at(red, in, red->near);
    if (!symmetric(red, in)) return SNW_OK;
    red->class = SNW_REDUCED_SYMMETRIC;
    red->momentum = (snw_wrench){0};
    if (!told(red, s)) return SNW_OK;
    // as it moves now, what rows ask for included
    int ignored;
    red->class = SNW_REDUCED_UNDER;
    SNW_TRY(snw_reduced_velocities(red, in, red->near, &ignored, err));
    red->class = SNW_REDUCED_SYMMETRIC;
    snw_reduced_at(red, in, red->near);
    red->momentum = snw_momentum(red->m, red->w);
    if (red->m->nwet) {
        red->momentum = snw_wrench_add(red->momentum, snw_fluid_momentum(red->m, red->w));
    }
    return SNW_OK;
}

snw_reduced_class snw_reduced_class_of(const snw_reduced *red) { return red->class; }

void snw_reduced_describe(const snw_reduced *red, char *out, size_t size) {
    const int open = red->nu - red->nominal, nr = red->nr + red->nled, nu = red->nu + red->nled;
    int nfree = 0;
    for (int j = 0; j < red->nu; j++) nfree += !red->follows[j];
    switch (red->class) {
    case SNW_REDUCED_DRIVEN:
        (void)snprintf(out, size, "driven: every coordinate is given, efforts follow");
        return;
    case SNW_REDUCED_FULL:
        (void)snprintf(out, size, "fully constrained: %d rows determine %d rates, reactions %s", nr,
                       nu, nr > nfree ? "are shared by least norm" : "are unique");
        return;
    case SNW_REDUCED_OVER:
        (void)snprintf(out, size,
                       "over-constrained: %d rows for %d rates must agree, reactions are shared by "
                       "least norm",
                       nr, nu);
        return;
    case SNW_REDUCED_UNDER:
        (void)snprintf(out, size,
                       "under-constrained: %d rows for %d rates leave %d motion%s to the reduced "
                       "dynamics",
                       nr, nu, open, open == 1 ? "" : "s");
        return;
    case SNW_REDUCED_FREE:
        (void)snprintf(out, size, "unconstrained: %d rates follow from the dynamics of the whole",
                       nu);
        return;
    case SNW_REDUCED_SYMMETRIC:
        (void)snprintf(out, size,
                       "symmetric: momentum is kept and determines %d rate%s of the base",
                       red->nbase, red->nbase == 1 ? "" : "s");
        return;
    }
}
