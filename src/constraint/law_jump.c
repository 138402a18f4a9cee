// SPDX-License-Identifier: MIT
//
// Impulses of given strains and moving poses whose rates jump. The residual is linear in their
// accelerations, r = M a + G u' + .., so the jump of their rates is the impulse
//   M (v+ - v-) = -G (u+ - u-) + C'p,   C v+ = given rates,
// and G (u+ - u-) is the difference of the residuals with accelerations u+ - u- and 0. It contains
// every inertia that the recursion knows, added mass included.
#include "constraint/law_jump.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/dynamics.h"

#include <math.h>
#include <string.h>

struct snw_law_jump {
    const snw_model *m;
    snw_projection *projection, *own; // own: where the integrator has none
    snw_inputs *before, *after;
    snw_work *w;
    snw_state *s;
    double *f, *v; // nv: impulse; velocities after the last jump
    double t;      // its time
};

// Are there strains given by laws of time, or poses that move?
static bool has_laws(const snw_model *m) {
    bool any = m->nfield > 0;
    for (int i = 0; i < m->npose; i++) any |= (snw_pose_desc_vars(&m->pose[i]) & SNW_VAR_T) != 0;
    return any;
}

snw_status snw_law_jump_create(const snw_model *m, snw_projection *projection, snw_law_jump **out) {
    *out = NULL;
    if ((m->bare && !m->local) || m->nv == 0 || !has_laws(m)) return SNW_OK;
    snw_law_jump *j = snw_alloc(sizeof *j);
    if (!j) return SNW_E_MEMORY;
    *j = (snw_law_jump){.m = m, .projection = projection, .t = NAN};
    j->f = snw_alloc(2 * (size_t)m->nv * sizeof *j->f);
    if (!j->f || snw_inputs_create(m, &j->before) != SNW_OK ||
        snw_inputs_create(m, &j->after) != SNW_OK || snw_work_create(m, &j->w) != SNW_OK ||
        snw_state_create(m, &j->s) != SNW_OK ||
        (!projection && snw_projection_create(m, &j->own) != SNW_OK)) {
        snw_law_jump_destroy(j);
        return SNW_E_MEMORY;
    }
    j->v = j->f + m->nv;
    if (!projection) j->projection = j->own;
    *out = j;
    return SNW_OK;
}

void snw_law_jump_destroy(snw_law_jump *j) {
    if (!j) return;
    snw_projection_destroy(j->own);
    snw_inputs_destroy(j->before);
    snw_inputs_destroy(j->after);
    snw_work_destroy(j->w);
    snw_state_destroy(j->s);
    snw_free(j->f);
    snw_free(j);
}

void snw_law_jump_use(snw_law_jump *j, const snw_model *m) {
    if (!j) return;
    j->m = m;
    if (j->own) snw_projection_use(j->own, m);
}

// to[i] <- after[i] - before[i] where rates jump, else 0; the rest of a difference is that of
// smooth rates over twice the resolution of time. Returns whether any jumps.
static bool find_jumps(int n, const snw_twist *before, const snw_twist *after,
                       const snw_twist *second, double resolution, snw_twist *to) {
    bool any = false;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 6; k++) {
            const double a = before[i].e[k], b = after[i].e[k], d = b - a;
            const double smooth =
                1e-9 * (fabs(a) + fabs(b)) + 100 * resolution * fabs(second[i].e[k]);
            to[i].e[k] = fabs(d) > smooth ? d : 0;
            any = any || to[i].e[k] != 0;
        }
    }
    return any;
}

// j->f <- -G (u+ - u-), with the accelerations of j->after.
static void find_impulse(snw_law_jump *j, const snw_state *s) {
    const snw_model *m = j->m;
    snw_state_copy(m, s, j->s);
    for (int i = 0; i < m->nv; i++) j->s->a[i] = 0;
    j->after->inertia_only = true;
    snw_residual(m, j->after, j->s, false, j->w);
    memcpy(j->f, j->w->r, (size_t)m->nv * sizeof *j->f);
    memset(j->after->ddxi, 0, (size_t)m->nfield * sizeof *j->after->ddxi);
    memset(j->after->pose_du, 0, (size_t)m->npose * sizeof *j->after->pose_du);
    snw_residual(m, j->after, j->s, false, j->w);
    for (int i = 0; i < m->nv; i++) j->f[i] = j->w->r[i] - j->f[i];
}

static double kinetic_energy(snw_law_jump *j, const snw_inputs *in, const snw_state *s) {
    snw_kinematics(j->m, in, s, false, j->w);
    return snw_kinetic_energy(j->m, j->w);
}

snw_status snw_law_jump_apply(snw_law_jump *j, const snw_inputs *in, snw_state *s, double *work,
                              bool *jumped, snw_error *err) {
    *work = 0, *jumped = false;
    if (!j) return SNW_OK;
    const snw_model *m = j->m;
    const size_t nv = (size_t)m->nv;
    if (s->t == j->t && memcmp(s->v, j->v, nv * sizeof *j->v) == 0) return SNW_OK;
    const double resolution = snw_time_resolution(s->t);
    j->before->manual = in->manual;
    snw_inputs_at(m, s->t - resolution, j->before);
    snw_inputs_copy(in, j->after);
    const bool strains =
        find_jumps(m->nfield, j->before->dxi, in->dxi, in->ddxi, resolution, j->after->ddxi);
    const bool poses = find_jumps(m->npose, j->before->pose_u, in->pose_u, in->pose_du, resolution,
                                  j->after->pose_du);
    if (!strains && !poses) return SNW_OK;
    find_impulse(j, s);
    bool any = false;
    for (int i = 0; i < m->nv; i++) any = any || j->f[i] != 0;
    const double before = kinetic_energy(j, j->before, s);
    if (any) SNW_TRY(snw_projection_impact(j->projection, in, j->f, s, NULL, err));
    *work = kinetic_energy(j, in, s) - before;
    *jumped = true;
    j->t = s->t;
    memcpy(j->v, s->v, nv * sizeof *j->v);
    return SNW_OK;
}
