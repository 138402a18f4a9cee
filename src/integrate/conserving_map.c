// SPDX-License-Identifier: MIT
//
// A step of the conserving scheme as equations of its start and its unknowns, for derivatives
// (study/adjoint_conserving.c, theory.md 7.5): the residual, the parts of theta, and the state at
// the end, by the functions that the step itself uses.
#include "integrate/conserving.h"

#include <math.h>
#include <string.h>

snw_conserved_parts snw_conserving_parts(const snw_model *m) {
    const int nv = m->nv, n = nv + m->nconstraint;
    return (snw_conserved_parts){.residual = 0,
                                 .correction = n,
                                 .gain = n + nv,
                                 .length = n + nv + 1,
                                 .rate = n + nv + 2,
                                 .energy = n + 2 * nv + 2,
                                 .memory = n + 2 * nv + 3,
                                 .n = n + 2 * nv + 3 + m->nsignal};
}

static void set_start(snw_conserving *c, const double *q, const double *v, const double *z) {
    const snw_model *m = c->m;
    memcpy(c->now->q, q, (size_t)m->nq * sizeof *q);
    memcpy(c->now->v, v, (size_t)m->nv * sizeof *v);
    if (m->nsignal) memcpy(c->now->z, z, (size_t)m->nsignal * sizeof *z);
    memset(c->now->dropped, 0, (size_t)m->nnonholonomic * sizeof *c->now->dropped);
    memset(c->mid->dropped, 0, (size_t)m->nnonholonomic * sizeof *c->mid->dropped);
    memset(c->end->dropped, 0, (size_t)m->nnonholonomic * sizeof *c->end->dropped);
}

double snw_conserving_evaluate_step(snw_conserving *c, const snw_conserved_step *x, double *out) {
    const snw_model *m = c->m;
    const snw_conserved_parts at = snw_conserving_parts(m);
    const size_t nv = (size_t)m->nv;
    set_start(c, x->q, x->v, x->z);
    c->now->t = x->t;
    snw_conserving_set_weights(c);
    snw_inputs_at(m, x->start_laws, c->in);
    snw_conserving_momenta(c, c->in, c->now, c->p0);
    c->E0 = x->energy;
    snw_inputs_at(m, x->gravity_laws, c->in);
    c->gravity = c->in->gravity;
    snw_conserving_begin(c, x->h, x->t_laws);
    memcpy(c->d, x->d, (size_t)c->n * sizeof *c->d);
    if (isnan(snw_conserving_evaluate(c, x->h, false))) return NAN;
    for (int i = 0; i < c->n; i++)
        out[at.residual + i] = c->r[i] - (i < m->nv ? c->theta * c->correction[i] : 0);
    memcpy(out + at.correction, c->correction, nv * sizeof *out);
    out[at.gain] = c->gain;
    out[at.length] = c->length;
    memcpy(out + at.rate, c->end->v, nv * sizeof *out);
    // the change alone: small numbers of heat would drown in the rounding of the energy
    const double before = c->E0;
    c->E0 = 0;
    snw_conserving_account(c, x->h);
    out[at.energy] = before - x->energy + c->E0;
    c->E0 += before;
    snw_conserving_advance_memory(c);
    if (m->nsignal) memcpy(out + at.memory, c->end->z, (size_t)m->nsignal * sizeof *out);
    return c->theta;
}

double snw_conserving_energy(snw_conserving *c, const double *q, const double *v, const double *z,
                             double t_laws) {
    set_start(c, q, v, z);
    snw_inputs_at(c->m, t_laws, c->in);
    snw_kinematics(c->m, c->in, c->now, false, c->w);
    return snw_kinetic_energy(c->m, c->w) + snw_conserving_potential(c, c->now, c->w);
}
