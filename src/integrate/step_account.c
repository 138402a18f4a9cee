// SPDX-License-Identifier: MIT
//
// Heat, work and the work of the residual along the path of an implicit step, theory.md 6.5, from
// the states at its ends and its increment.
#include "integrate/step_account.h"

#include "base/number.h"
#include "dynamics/dynamics.h"
#include "dynamics/joint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/relaxation.h"
#include "dynamics/variable_length.h"

#include <math.h>
#include <string.h>

const double snw_account_point[SNW_ACCOUNT_POINTS] = {0.21132486540518711775,
                                                      0.78867513459481288225};

// Power of the elastic and damping forces of rods and joints, W; of variable-length rods without
// damping.
static double internal_power(const snw_model *m, const snw_state *s, double *scratch) {
    double sum = snw_variable_length_energy_rate(m, s->q, s->v);
    if (m->nbranch) sum += snw_relaxation_power(m, s);
    if (m->nlaw_point) {
        memset(scratch, 0, (size_t)m->nv * sizeof *scratch);
        for (int r = 0; r < m->nrod; r++)
            snw_nonlinear_law_add(m, &m->rod[r], s->q, scratch, NULL, NULL);
        for (int i = 0; i < m->nv; i++) sum += scratch[i] * s->v[i];
    }
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double *q = s->q + rod->dof0 + rod->shift, *v = s->v + rod->dof0;
        for (int i = 0; rod->feed < 0 && i < rod->ndof; i++) {
            const double *K = rod->K + rod->row[i], *D = rod->D + rod->row[i];
            for (int b = 0; b < rod->na; b++) {
                const snw_rod_range at = rod->near[i * rod->na + b];
                const int from = rod->dof[b] - rod->dof0 + at.first;
                for (int j = 0; j < at.count; j++)
                    sum += v[i] * (K[j] * q[from + j] + D[j] * v[from + j]);
                K += at.count, D += at.count;
            }
        }
    }
    for (int k = 0; k < m->nspring; k++) {
        const snw_block *b = &m->block[m->spring[k].block];
        double f[3];
        snw_spring_force(m, &m->spring[k], s->q, s->v, f);
        for (int i = 0; i < b->n; i++) sum += f[i] * s->v[b->dof + i];
    }
    return sum;
}

// Heat of the step just solved, in closed form along its path: h (D[d/h] + D[v1 - v0]/12 + D[(v0 +
// v1)/2 - d/h]/5), theory.md (6.6). Where steps do not resolve the damped motion, the velocities at
// the ends are not representative and only the mean velocity d/h counts. This is detected by
// changes of velocity that differ from those of the previous step, or by large changes of
// acceleration. Dry friction of joints is not a quadratic form: its heat is that of the mean
// velocity, exact where the velocity keeps its sign.
static double damper_heat(const snw_step_account *o) {
    const snw_model *m = o->m;
    const double h = o->path.h, *d = o->path.d, *v0 = o->now->v, *v1 = o->trial->v;
    double *x = o->scratch;
    for (int i = 0; i < m->nv; i++) x[i] = v1[i] - v0[i];
    const double change = snw_viscous_dissipation(m, x);
    for (int i = 0; i < m->nv; i++) x[i] = 0.5 * h * (o->trial->a[i] - o->now->a[i]);
    double unresolved = snw_viscous_dissipation(m, x);
    const snw_mask follows = o->past_h > 0;
    if (snw_any(follows)) {
        const double ratio = h / o->past_h, *v = o->path.rate0, *vb = o->vb;
        for (int i = 0; i < m->nv; i++) x[i] = v1[i] - v0[i] - ratio * (v[i] - vb[i]);
        const double changed = fmax(unresolved, snw_viscous_dissipation(m, x));
        unresolved = snw_select(follows, changed, unresolved);
    }
    for (int i = 0; i < m->nv; i++) x[i] = d[i] / h;
    const double mean = h * snw_dissipation(m, x);
    const snw_mask resolved = unresolved < change;
    if (!snw_any(resolved)) return mean;
    for (int i = 0; i < m->nv; i++) x[i] = 0.5 * (v0[i] + v1[i]) - d[i] / h;
    const double fraction = 1 - pow(unresolved / change, 4);
    const double more = h * fraction * fraction * (change / 12 + snw_viscous_dissipation(m, x) / 5);
    return snw_select(resolved, mean + more, mean);
}

double snw_step_account_heat(const snw_step_account *a) {
    const snw_model *m = a->m;
    return damper_heat(a) + (m->nbranch ? snw_relaxation_heat(m, a->now, a->trial, a->path.h) : 0);
}

double snw_step_account_elastic(const snw_step_account *a) {
    return snw_elastic_energy(a->m, a->trial) - snw_elastic_energy(a->m, a->now);
}

void snw_step_account_state(const snw_step_account *a, int k) {
    const snw_model *m = a->m;
    const double point = snw_account_point[k];
    const snw_state *now = a->now, *trial = a->trial, *at = a->at;
    snw_step_path_at(m, &a->path, point, a->scratch, a->at);
    for (int i = 0; i < m->nsignal; i++) at->z[i] = now->z[i] + point * (trial->z[i] - now->z[i]);
    for (int i = 0; i < m->nconstraint; i++)
        at->lambda[i] = now->lambda[i] + point * (trial->lambda[i] - now->lambda[i]);
}

double snw_step_account_powers(const snw_step_account *a, const snw_inputs *in, double *work,
                               double *heat) {
    const snw_model *m = a->m;
    const snw_state *at = a->at;
    const double h = a->path.h;
    snw_load_power(m, in, at, a->w, a->power);
    for (int i = 0; i < snw_npower(m); i++) work[i] += 0.5 * h * a->power[i];
    *heat += 0.5 * h * snw_other_heat(m, at, a->w); // included in the residual below
    double sum = -internal_power(m, at, a->scratch) - snw_interaction_energy_rate(m, a->w);
    for (int i = 0; i < m->nv; i++) sum += a->w->r[i] * at->v[i];
    return 0.5 * h * sum;
}

double snw_step_account_at(const snw_step_account *a, int k, const snw_inputs *in, double *work,
                           double *heat) {
    snw_step_account_state(a, k);
    snw_residual(a->m, in, a->at, false, a->w);
    return snw_step_account_powers(a, in, work, heat);
}
