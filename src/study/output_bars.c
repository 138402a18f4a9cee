// SPDX-License-Identifier: MIT
//
// Derivatives of outputs by the state, theory.md (7.5.52). Motions and energies begin the recursion
// of model_geometry.c with bars of their own; reactions of joints and wrenches within rods are
// products of all forces with a virtual motion, whose derivatives it has, too.
#include "study/output_bars.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/joint.h"
#include "model/probe_kind.h"
#include "study/probe_row.h"

#include <string.h>

struct snw_output_bars {
    const snw_model *m;
    snw_model_geometry *geometry;
    snw_work *at_mu; // virtual twists of the segments; all else is zero
    snw_twist *V;    // nseg
    double *zero;    // nv
    double *elastic; // nv
    double *row;     // nconstraint
    bool has_forces; // was a virtual motion in the last call?
};

snw_status snw_output_bars_create(const snw_model *m, snw_output_bars **out) {
    snw_output_bars *b = snw_alloc(sizeof *b);
    *out = b;
    if (!b) return SNW_E_MEMORY;
    *b = (snw_output_bars){.m = m};
    const size_t nv = (size_t)m->nv;
    b->V = snw_alloc((size_t)m->nseg * sizeof *b->V);
    b->zero = snw_alloc((2 * nv + (size_t)m->nconstraint + 1) * sizeof *b->zero);
    if (!b->V || !b->zero) return SNW_E_MEMORY;
    memset(b->zero, 0, nv * sizeof *b->zero);
    b->elastic = b->zero + nv, b->row = b->elastic + nv;
    SNW_TRY(snw_work_create(m, &b->at_mu));
    memset(b->at_mu->u, 0, (size_t)m->nseg * sizeof *b->at_mu->u);
    return snw_model_geometry_create(m, false, &b->geometry);
}

void snw_output_bars_destroy(snw_output_bars *b) {
    if (!b) return;
    snw_model_geometry_destroy(b->geometry);
    snw_work_destroy(b->at_mu);
    snw_free(b->V);
    snw_free(b->zero);
    snw_free(b);
}

// Does the recursion know all forces on segments, and none but of the state?
static bool knows_forces(const snw_model *m) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *l = &m->loop[i];
        if (l->nonholonomic || l->through || l->friction != 0) return false;
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        if (m->contact_point[k].wheel) return false;
    }
    return !m->hard && !m->flowing && m->nlive == 0 && m->ntendon_segment == 0 &&
           m->ntendon_corner == 0 && m->nforce_field == 0 && m->ntouching_rod == 0;
}

bool snw_has_interactions(const snw_model *m) {
    return m->ncontact_point + m->ntouching_rod + m->nforce_element + m->nstop + m->ntube +
               m->nforce_field_point >
           0;
}

static bool knows_energies(const snw_model *m) {
    for (int i = 0; i < m->nrod; i++) {
        if (m->rod[i].section_varies) return false;
    }
    return m->nfluid_point == 0 && m->nbranch == 0;
}

static bool is_frame(snw_reading r) {
    return r == SNW_READ_POSITION || r == SNW_READ_ROTATION || r == SNW_READ_POSE ||
           r == SNW_READ_VELOCITY || r == SNW_READ_TWIST;
}

bool snw_output_bars_know(const snw_model *m, const snw_adjoint_output *o) {
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    if (m->nfeed + m->ntube + m->ngrid + m->nsliding_station + m->ncondition > 0) return false;
    if (p->kind == SNW_PROBE_MOMENTUM || p->kind == SNW_PROBE_CENTER_OF_MASS) return true;
    if (p->of == SNW_PROBE_OF_CONTACT) return snw_output_is_contact_force(m, o);
    const snw_output_use use = snw_output_use_of(m, o);
    const double one = 1;
    snw_energy_weights weights;
    if (p->kind == SNW_PROBE_ACCELERATION) return true;
    if (p->kind == SNW_PROBE_RELATIVE) return m->probe_count[o->probe] == 1;
    if (p->of == SNW_PROBE_OF_FORCE_ELEMENT && p->kind != SNW_PROBE_REACTION)
        return use != SNW_OUTPUT_OTHER;
    if (p->kind == SNW_PROBE_ENERGY)
        return knows_energies(m) && snw_energy_weights_of(m, 1, o, &one, &weights);
    if (p->kind == SNW_PROBE_REACTION && p->of == SNW_PROBE_OF_LOOP) {
        const snw_loop *l = &m->loop[p->item];
        return use == SNW_OUTPUT_STATE && !l->nonholonomic && !l->through;
    }
    if (p->kind == SNW_PROBE_REACTION) return use == SNW_OUTPUT_JOINT && knows_forces(m);
    if (p->kind == SNW_PROBE_WRENCH) return use == SNW_OUTPUT_WRENCH && knows_forces(m);
    const snw_signal signal = snw_probe_signal(m, o->probe, o->column);
    return use == SNW_OUTPUT_MOTION && is_frame(signal.reading) && signal.station >= 0;
}

// place, rate += derivatives of the energies of rods, joints and armatures.
static void add_coordinate_energies(const snw_output_bars *b, const snw_energy_weights *c,
                                    const snw_state *s, const snw_state_bars *to) {
    const snw_model *m = b->m;
    snw_elastic_forces(m, s->q, b->elastic);
    for (int i = 0; i < m->nv; i++) to->place[i] += c->elastic * b->elastic[i];
    if (!m->has_armature) return;
    memset(b->elastic, 0, (size_t)m->nv * sizeof *b->elastic);
    snw_armature_add(m, s->v, b->elastic);
    for (int i = 0; i < m->nv; i++) to->rate[i] += c->kinetic * b->elastic[i];
}

// lambda += derivatives of the product of the forces of loops with the virtual twists.
static void add_multipliers(const snw_output_bars *b, const snw_state *s, snw_work *w,
                            double *lambda) {
    const snw_model *m = b->m;
    const size_t size = (size_t)m->nseg * sizeof *w->V;
    memcpy(b->V, w->V, size);
    memcpy(w->V, b->at_mu->V, size);
    snw_closures_rates(m, s, w, b->row, NULL);
    memcpy(w->V, b->V, size);
    for (int i = 0; i < m->nloop; i++) {
        for (int r = m->loop[i].row; r < m->loop[i].row + m->loop[i].nrow; r++)
            lambda[r] -= m->loop[i].ncoupled > 0 ? 0 : b->row[r];
    }
}

// lambda += c times the derivatives of a component of the wrench of a loop, which is linear in its
// multipliers.
static void add_loop_wrench(const snw_model *m, const snw_adjoint_output *o, double c,
                            const snw_work *w, double *lambda) {
    const snw_probe_desc *p = &m->desc->probe[o->probe];
    const snw_loop *loop = &m->loop[p->item];
    const snw_mat3 R = snw_loop_pose(m, w, p->item).R;
    for (int r = 0; r < loop->nrow; r++) {
        snw_wrench on[2];
        if (!snw_closure_row_is_active(loop, w, r)) continue;
        snw_loop_row_wrenches(m, w, p->item, r, on);
        if (!p->body) on[1].m = snw_rotate(R, on[1].m), on[1].f = snw_rotate(R, on[1].f);
        lambda[loop->row + r] += c * on[1].e[o->column];
    }
}

// b->at_mu <- the virtual motion of the reactions and wrenches among the outputs; false: none.
static bool find_virtual_motion(snw_output_bars *b, int noutput, const snw_adjoint_output *output,
                                const double *y_bar, const snw_work *w) {
    const snw_model *m = b->m;
    bool any = false;
    for (int i = 0; i < noutput; i++) {
        const snw_output_use use = snw_output_use_of(m, &output[i]);
        if (y_bar[i] == 0 || (use != SNW_OUTPUT_JOINT && use != SNW_OUTPUT_WRENCH)) continue;
        if (!any) memset(b->at_mu->V, 0, (size_t)m->nseg * sizeof *b->at_mu->V);
        any = true;
        snw_output_add_jumps(m, &output[i], y_bar[i], w, b->at_mu->V);
        snw_model_geometry_turn_jumps(b->geometry, &output[i], y_bar[i], w);
    }
    if (any) snw_output_carry_jumps(m, w, b->at_mu->V);
    return any;
}

void snw_output_bars_add(snw_output_bars *b, int noutput, const snw_adjoint_output *output,
                         const double *y_bar, const snw_inputs *in, const snw_state *s, snw_work *w,
                         const snw_state_bars *to) {
    const snw_model *m = b->m;
    const snw_product x = {.in = in, .s = s, .w = w, .at_mu = b->at_mu, .mu = b->zero};
    snw_energy_weights energy;
    b->has_forces = find_virtual_motion(b, noutput, output, y_bar, w);
    const bool stores = snw_energy_weights_of(m, noutput, output, y_bar, &energy);
    if (stores) add_coordinate_energies(b, &energy, s, to);
    energy.elastic = 0; // of force elements: they are interactions
    snw_model_geometry_by_state(b->geometry, b->has_forces ? &x : NULL, noutput, output, y_bar,
                                stores ? &energy : NULL, in, s, w, to);
    if (b->has_forces && m->nloop > 0) add_multipliers(b, s, w, to->lambda);
    for (int i = 0; i < noutput; i++) {
        const snw_probe_desc *p = &m->desc->probe[output[i].probe];
        if (y_bar[i] != 0 && p->kind == SNW_PROBE_REACTION && p->of == SNW_PROBE_OF_LOOP)
            add_loop_wrench(m, &output[i], y_bar[i], w, to->lambda);
    }
}

double snw_output_bars_by_load(const snw_output_bars *b, int load, int component,
                               const snw_work *w) {
    const snw_model *m = b->m;
    double sum = 0;
    for (int k = 0; k < m->nload_point && b->has_forces; k++) {
        const snw_load_point *at = &m->load_point[k];
        if (at->load != load) continue;
        const snw_mat3 R = w->g[at->seg].R;
        snw_twist V = b->at_mu->V[at->seg];
        if (!m->load[load].body) V.w = snw_rotate(R, V.w), V.v = snw_rotate(R, V.v);
        sum -= at->w * V.e[component];
    }
    return sum;
}
