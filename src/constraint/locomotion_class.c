// SPDX-License-Identifier: MIT
//
// Class of locomotion of a robot (theory.md 6.8): from the rank of the contact rows, and from the
// conditions under which the momentum of the base is conserved.

#include "constraint/locomotion_private.h"

#include "base/fail.h"
#include "dynamics/fluid.h"

#include <math.h>
#include <stdio.h>

// ---- symmetry -----------------------------------------------------------------------------------

// drag or propulsion, beside added mass
static bool resists(const snw_fluid_point *p) {
    bool any = p->across[0] != 0 || p->across[1] != 0 || p->flux[0] != 0 || p->flux[1] != 0;
    for (int i = 0; i < 6; i++) any = any || p->linear[i] != 0 || p->square[i] != 0;
    return any;
}

static bool has_external_force(const snw_locomotion *lo) {
    const snw_model *m = lo->m;
    if (m->nload || m->ncontact_point || m->nforce_element || m->nforce_field_point || m->flowing ||
        m->ncondition)
        return true;
    for (int k = 0; k < m->nfluid_point; k++) {
        if (resists(&m->fluid_point[k]) || m->fluid_point[k].displaced != 0) return true;
    }
    for (int k = 0; k < lo->nbase; k++) {
        const int j = lo->base[k];
        if (m->block[lo->block[j]].spring >= 0) return true;
        for (int i = 0; i < m->nmotor; i++) {
            const int at = lo->dof[j] - m->motor[i].dof;
            if (m->motor[i].law && at >= 0 && at < m->motor[i].n) return true;
        }
    }
    return false;
}

// does gravity do work on a motion of the base, or change with time?
static bool gravity_works(const snw_locomotion *lo, const snw_inputs *in) {
    const snw_model *m = lo->m;
    for (int i = 0; i < 3; i++) {
        const snw_law law = m->gravity[i];
        if (law && snw_expr_vars(law)) return true;
    }
    const double g = snw_norm(in->gravity);
    if (g == 0) return false;
    for (int k = 0; k < lo->nbase; k++) {
        const snw_block *b = &m->block[lo->block[lo->base[k]]];
        if (b->space != SNW_SPACE_RN) return true;
        const snw_twist X = snw_twist_to_parent(lo->w->g[b->seg], b->S);
        const double angular = snw_norm(X.w);
        if (angular == 0 && fabs(snw_dot(X.v, in->gravity)) > 1e-12 * g) return true;
        if (angular > 0 && snw_norm(snw_cross(X.w, in->gravity)) > 1e-12 * g) return true;
    }
    return false;
}

// lo->base <- unknowns of the only link on the world; false unless its motions form a Lie group and
// all are unknown
static bool list_base(snw_locomotion *lo) {
    const snw_model *m = lo->m;
    const int link = m->base_link;
    lo->nbase = 0;
    if (link < 0 || !snw_joint_table[m->link_joint[link]].group) return false;
    for (int j = 0; j < lo->nu; j++) {
        if (m->seg[m->block[lo->block[j]].seg].link != link) continue;
        if (lo->is_passive[j]) return false;
        lo->base[lo->nbase++] = j;
    }
    return lo->nbase > 0 && lo->nbase == snw_joint_dof(m->link_joint[link]);
}

// does a row depend on the motion of the base?
static bool base_is_constrained(const snw_locomotion *lo) {
    if (lo->has_servo) return true;
    for (int k = 0; k < lo->nr + lo->npassive; k++) {
        for (int b = 0; b < lo->nbase; b++) {
            const int j = lo->base[b], loop = lo->row[k].loop;
            if (loop >= 0 ? lo->sign[(size_t)loop * (size_t)lo->nu + (size_t)j] != 0
                          : lo->m->drive[lo->row[k].drive].dof == lo->dof[j])
                return true;
        }
    }
    return false;
}

// Is the momentum along the motions of the base conserved? One base on the world, all its motions
// unknown, rows within the robot only, which determine the other unknowns, and no external force.
static bool locomotion_class_symmetric(snw_locomotion *lo, const snw_inputs *in) {
    return lo->class != SNW_LOCOMOTION_VISCOUS && list_base(lo) && !base_is_constrained(lo) &&
           !has_external_force(lo) && lo->nominal == lo->nu - lo->nbase && !gravity_works(lo, in);
}

// ---- classes ------------------------------------------------------------------------------------

// Is there no inertia at all, neither of the robot nor of fluid that moves with it?
static bool is_massless(const snw_model *m) {
    for (int i = 0; i < m->nseg; i++) {
        const snw_inertia *M = &m->seg[i].M;
        if (m->seg[i].has_mass && (M->m != 0 || M->I[0] + M->I[1] + M->I[2] != 0)) return false;
    }
    for (int k = 0; k < m->nfluid_point; k++) {
        const snw_fluid_point *p = &m->fluid_point[k];
        if (p->displaced != 0 || p->flux[0] != 0 || p->flux[1] != 0) return false;
        for (int i = 0; i < 6; i++) {
            if (p->added[i] != 0) return false;
        }
    }
    return true;
}

void snw_locomotion_classify(snw_locomotion *lo, int rank) {
    lo->nominal = rank;
    if (lo->nu + lo->npassive == 0) {
        lo->class = lo->nr > 0 ? SNW_LOCOMOTION_OVER : SNW_LOCOMOTION_DRIVEN;
    } else if (rank == lo->nu) {
        lo->class = lo->nr > rank ? SNW_LOCOMOTION_OVER : SNW_LOCOMOTION_FULL;
    } else if (is_massless(lo->m)) {
        lo->class = SNW_LOCOMOTION_VISCOUS;
    } else {
        lo->class = rank + lo->npassive > 0 ? SNW_LOCOMOTION_UNDER : SNW_LOCOMOTION_FREE;
    }
}

// *out <- largest rank of the rows with the driven coordinates at several times, the others as in s
static snw_status largest_rank(snw_locomotion *lo, snw_inputs *in, const snw_state *s, int *out) {
    static const double part[] = {0, 0.0731, 0.2173, 0.3919, 0.6311};
    *out = 0;
    for (size_t i = 0; i < sizeof part / sizeof part[0] && lo->nr > 0; i++) {
        int rank = 0;
        snw_state_copy(lo->m, s, lo->near);
        const double t = s->t + part[i] * (lo->until - s->t);
        snw_inputs_at(lo->m, t + snw_time_resolution(t), in);
        snw_locomotion_impose(lo, in, lo->near);
        snw_locomotion_kinematics(lo, in, lo->near);
        const snw_status status = snw_locomotion_decompose(lo, &rank);
        if (status == SNW_E_SINGULAR) continue;
        SNW_TRY(status);
        if (rank > *out) *out = rank;
    }
    return SNW_OK;
}

static bool base_motion_given(const snw_locomotion *lo, const snw_state *s) {
    if (lo->m->link_initial[lo->m->base_link]) return true;
    for (int k = 0; k < lo->nbase; k++) {
        if (s->v[lo->dof[lo->base[k]]] != 0) return true;
    }
    return false;
}

// Conserved momentum <- that of lo->near.
static void keep_momentum(snw_locomotion *lo, const snw_inputs *in) {
    snw_locomotion_kinematics(lo, in, lo->near);
    lo->momentum = snw_momentum(lo->m, lo->w);
    if (lo->m->nfluid_point)
        lo->momentum = snw_wrench_add(lo->momentum, snw_fluid_momentum(lo->m, lo->w));
}

snw_status snw_locomotion_start(snw_locomotion *lo, snw_inputs *in, const snw_state *s,
                                double until, snw_error *err) {
    int rank = 0;
    lo->until = until > s->t ? until : s->t + 1;
    if (largest_rank(lo, in, s, &rank) != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED, "a law has no finite value after t = %.9g s", s->t);
    }
    snw_locomotion_classify(lo, rank);
    snw_inputs_at(lo->m, s->t + snw_time_resolution(s->t), in);
    snw_state_copy(lo->m, s, lo->near);
    snw_locomotion_impose(lo, in, lo->near);
    snw_locomotion_kinematics(lo, in, lo->near);
    if (!locomotion_class_symmetric(lo, in)) return SNW_OK;
    lo->class = SNW_LOCOMOTION_SYMMETRIC;
    lo->momentum = (snw_wrench){0};
    if (!base_motion_given(lo, s)) return SNW_OK;
    // the momentum of the initial velocities, projected onto the rows
    int ignored;
    lo->class = SNW_LOCOMOTION_UNDER;
    SNW_TRY(snw_locomotion_velocities(lo, in, lo->near, &ignored, err));
    lo->class = SNW_LOCOMOTION_SYMMETRIC;
    keep_momentum(lo, in);
    return SNW_OK;
}

void snw_locomotion_continue(snw_locomotion *lo, snw_inputs *in, const snw_state *s) {
    if (lo->class != SNW_LOCOMOTION_SYMMETRIC) return;
    snw_state_copy(lo->m, s, lo->near);
    snw_locomotion_impose(lo, in, lo->near);
    keep_momentum(lo, in);
}

snw_locomotion_class snw_locomotion_class_of(const snw_locomotion *lo) { return lo->class; }

bool snw_locomotion_is_shared(const snw_locomotion *lo) {
    bool shared = lo->nr > lo->nominal || lo->npassive > 0 || lo->has_servo;
    for (int j = 0; j < lo->nu; j++) shared = shared || lo->is_passive[j];
    return shared;
}

bool snw_locomotion_is_determined(const snw_locomotion *lo) {
    return lo->nominal == lo->nu && !lo->has_servo;
}

int snw_locomotion_base(const snw_locomotion *lo, int *dof) {
    if (lo->class != SNW_LOCOMOTION_SYMMETRIC) return 0;
    for (int k = 0; k < lo->nbase && dof; k++) dof[k] = lo->dof[lo->base[k]];
    return lo->nbase;
}

void snw_locomotion_describe(const snw_locomotion *lo, char *out, size_t size) {
    const int open = lo->nu - lo->nominal, nr = lo->nr + lo->npassive, nu = lo->nu + lo->npassive;
    int nfree = 0;
    for (int j = 0; j < lo->nu; j++) nfree += !lo->is_passive[j];
    switch (lo->class) {
    case SNW_LOCOMOTION_DRIVEN:
        (void)snprintf(out, size, "driven: every coordinate is prescribed, efforts are computed");
        return;
    case SNW_LOCOMOTION_FULL:
        (void)snprintf(out, size, "fully constrained: %d rows determine %d rates, reactions %s", nr,
                       nu, nr > nfree ? "have minimum norm" : "are unique");
        return;
    case SNW_LOCOMOTION_OVER:
        (void)snprintf(out, size,
                       "over-constrained: %d rows for %d rates must be consistent, reactions have "
                       "minimum norm",
                       nr, nu);
        return;
    case SNW_LOCOMOTION_UNDER:
        (void)snprintf(out, size,
                       "under-constrained: %d rows for %d rates leave %d motion%s to the reduced "
                       "dynamics",
                       nr, nu, open, open == 1 ? "" : "s");
        return;
    case SNW_LOCOMOTION_FREE:
        (void)snprintf(out, size,
                       "unconstrained: %d rates follow from the dynamics of the whole robot", nu);
        return;
    case SNW_LOCOMOTION_VISCOUS:
        (void)snprintf(out, size,
                       "viscous: without mass, the balance of resistance determines %d rate%s",
                       open, open == 1 ? "" : "s");
        return;
    case SNW_LOCOMOTION_SYMMETRIC:
        (void)snprintf(out, size,
                       "symmetric: momentum is conserved and determines %d rate%s of the base",
                       lo->nbase, lo->nbase == 1 ? "" : "s");
        return;
    }
}
