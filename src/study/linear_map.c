// SPDX-License-Identifier: MIT
//
// Linear model of a step of the conserving scheme, of moreau, or of collocation about a moving
// point, theory.md (7.8b): the derivative of the map (q, v, memory) -> (q, v, memory) that the step
// is (study/step_tangent.h), carried along the columns of the states and inputs. About rest the
// states are those of the continuous model, (7.6): their columns begin as displacements N z and
// velocities N z', and the independent coordinates are read at the end. About a moving point all
// coordinates are states.
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "study/linear_private.h"

#include <string.h>

// ---- what has no model

static snw_status check_map(const snw_linear *l, snw_error *err) {
    if (l->n1 == 0 && l->ni == 0)
        return snw_fail(err, SNW_E_MODEL, "all coordinates are given, so a step has no states");
    if (l->ns + l->nd > 0)
        return snw_fail(err, SNW_E_MODEL,
                        "motions without mass have no linear model of a step of this scheme; use "
                        "bdf2 or generalized-alpha");
    for (int i = 0; i < l->ninput; i++) {
        if (l->input[i].kind != SNW_LINEAR_GIVEN) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "given coordinate '%s' is no input of a step of this scheme; use "
                        "generalized-alpha or bdf2, give its effort, or use the continuous model",
                        linear_input_name(l, i));
    }
    for (int i = 0; i < l->noutput; i++) {
        const snw_probe_desc *p = &l->m->desc->probe[l->output[i].probe];
        if (!linear_needs_balance(p->kind) || l->output[i].optional) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "probe '%s' reads accelerations or forces, so it is no output of a step of "
                        "this scheme: leave it out",
                        p->name);
    }
    return SNW_OK;
}

// ---- columns

// x->place, rate, z <- of state `column` before the step
static void set_state(const snw_linear *l, int column, const snw_step_direction *x) {
    const size_t nv = (size_t)l->m->nv, at = nv * (size_t)column;
    memcpy(x->place, l->x + at, nv * sizeof *x->place);
    memcpy(x->rate, l->dv + at, nv * sizeof *x->rate);
    const snw_linear_state s = l->state[column];
    if (s.role == SNW_STATE_INTEGRAL) x->z[s.index] = 1;
}

// to (nx) <- states after the step; end: its velocities
static void read_states(snw_linear *l, const snw_state *end, const snw_step_direction *x,
                        double *to) {
    double *turned = l->line;
    memset(turned, 0, (size_t)l->m->nv * sizeof *turned);
    if (!l->bordered) linear_adjoint(l->m, end->v, x->place, turned); // z' = dv - ad_v zeta
    for (int i = 0; i < l->n1; i++) {
        const int k = l->independent[i];
        to[i] = x->place[k];
        to[l->n1 + i] = x->rate[k] - turned[k];
    }
    for (int i = 0; i < l->ni; i++) to[2 * l->n1 + i] = x->z[l->memory_of[i].index];
}

// step_A
static snw_status state_columns(snw_linear *l, snw_step_tangent *t, snw_error *err) {
    for (int k = 0; k < l->nx; k++) {
        const snw_step_direction x = snw_step_tangent_clear(t);
        set_state(l, k, &x);
        SNW_TRY(snw_step_tangent_apply(t, err));
        read_states(l, snw_step_tangent_end(t), &x, snw_column_of(l->step_A, l->nx, k));
    }
    return SNW_OK;
}

// l->G <- forces of the inputs at a point of the step; w is overwritten
static void forces_at(snw_linear *l, const snw_step_tangent *t, int point, snw_work *w) {
    const snw_state *s = snw_step_tangent_point(t, point, l->in);
    snw_residual(l->m, l->in, s, false, w);
    snw_tangent_pass(l->m, NULL, w);
    snw_tangent_assemble(l->m, l->in, 1, 0, 0, w, l->K);
    linear_input_forces(l, l->in, w);
}

// step_B; w is overwritten
static snw_status input_columns(snw_linear *l, snw_step_tangent *t, snw_work *w, snw_error *err) {
    const int nv = l->m->nv, points = snw_step_tangent_points(t);
    if (l->nu == 0) return SNW_OK;
    forces_at(l, t, 0, w);
    for (int k = 0; k < l->nu; k++) {
        const int number = l->of_input[k];
        const snw_linear_input *input = &l->input[number];
        if (input->kind == SNW_LINEAR_OTHER && snw_step_tangent_settles(t))
            return snw_fail(err, SNW_E_MODEL,
                            "'%s' is no input of a step of this scheme with wheels, rings or "
                            "anchors, after which velocities are projected; use bdf2 or "
                            "generalized-alpha",
                            linear_input_name(l, number));
        const snw_step_direction x = snw_step_tangent_clear(t);
        if (input->kind == SNW_LINEAR_OTHER)
            memcpy(x.by, input->equation, (size_t)snw_step_tangent_size(t) * sizeof *x.by);
        for (int i = 0; i < points && input->kind != SNW_LINEAR_OTHER; i++) {
            if (points > 1) forces_at(l, t, i, w);
            snw_step_tangent_add_force(t, i, snw_column_of(l->G, nv, number), x.by);
        }
        SNW_TRY(snw_step_tangent_apply(t, err));
        read_states(l, snw_step_tangent_end(t), &x, snw_column_of(l->step_B, l->nx, k));
    }
    return SNW_OK;
}

// ---- the model

static void show_result(snw_linear *l) {
    l->result.nx = l->nx;
    l->result.nu = l->nu;
    l->result.ny = l->noutput;
    l->result.A = l->step_A;
    l->result.B = l->step_B;
    l->result.C = l->outC;
    l->result.D = l->outD;
    l->result.state = l->state;
    l->result.of_input = l->of_input;
    l->result.derivative = l->derivative;
}

snw_status snw_linear_map_outputs(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                  const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    l->bordered = l->mapped = true;
    const snw_status status = linear_tangents(l, in, s, w, err);
    l->mapped = false;
    SNW_TRY(status);
    l->full = true;
    l->n1 = l->m->nv;
    l->ns = l->nd = 0;
    l->result.nidle = l->d->nheld = 0;
    SNW_TRY(check_map(l, err));
    linear_all_columns(l, s);
    SNW_TRY(linear_outputs(l, in, s, rotation, w, err));
    show_result(l);
    return SNW_OK;
}

snw_status snw_linear_map_matrices(snw_linear *l, snw_step_tangent *t, snw_work *w,
                                   snw_error *err) {
    SNW_TRY(check_map(l, err));
    SNW_TRY(state_columns(l, t, err));
    SNW_TRY(input_columns(l, t, w, err));
    show_result(l);
    return SNW_OK;
}
