// SPDX-License-Identifier: MIT
//
// Connection of a robot that moves by its shape: its columns are the twists that follow from rest
// when the rate of one driven coordinate jumps to one, snw_locomotion_impact, which satisfies the
// contacts and leaves the momenta along the open motions at zero.
#include "constraint/locomotion_connection.h"

#include "base/alloc.h"
#include "constraint/locomotion_private.h"

#include <math.h>
#include <string.h>

struct snw_connection {
    const snw_model *m;
    snw_locomotion *lo;
    snw_state *s;
    snw_inputs *in;
    bool started;
};

snw_status snw_connection_create(const snw_model *m, snw_connection **out, snw_error *err) {
    *out = NULL;
    const snw_locomotion_opts opts = {.torque = 1};
    snw_connection *c = snw_alloc(sizeof *c);
    if (!c) return SNW_E_MEMORY;
    c->m = m;
    snw_status status = snw_locomotion_create(m, &opts, &c->lo, err);
    if (status == SNW_OK) status = snw_state_create(m, &c->s);
    if (status == SNW_OK) status = snw_inputs_create(m, &c->in);
    if (status == SNW_OK) {
        *out = c;
    } else {
        snw_connection_destroy(c);
    }
    return status;
}

void snw_connection_destroy(snw_connection *c) {
    if (!c) return;
    snw_locomotion_destroy(c->lo);
    snw_state_destroy(c->s);
    snw_inputs_destroy(c->in);
    snw_free(c);
}

void snw_connection_use(snw_connection *c, const snw_model *m) {
    if (!c || c->m == m) return;
    c->m = m;
    snw_locomotion_use(c->lo, m);
}

bool snw_connection_has_curvature(const snw_connection *c) {
    const snw_model *m = c->m;
    if (c->lo->npassive > 0) return false;
    for (int j = 0; j < c->lo->nu; j++) {
        if (m->seg[m->block[c->lo->block[j]].seg].link != m->base_link) return false;
    }
    return true;
}

static snw_twist unknown_twist(void) {
    snw_twist x;
    for (int e = 0; e < 6; e++) x.e[e] = NAN;
    return x;
}

// Twist of a segment at the rate 1 of `dof` (-1: none), with the driven coordinate `moved` (-1:
// none) displaced by h; other driven rates are zero.
static snw_twist twist_at(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                          int dof, int moved, double h) {
    const snw_model *m = c->m;
    snw_error ignored = {0};
    snw_inputs_copy(in, c->in);
    snw_state_copy(m, s, c->s);
    for (int i = 0; i < m->nv; i++) c->s->v[i] = c->s->a[i] = 0;
    for (int i = 0; i < m->ndrive; i++) {
        c->in->drive[i].d = m->drive[i].dof == dof;
        c->in->drive[i].dd = 0;
        if (m->drive[i].dof == moved) c->in->drive[i].v += h;
    }
    c->lo->momentum = (snw_wrench){0};
    const snw_wrench none = {0};
    if (snw_locomotion_impact(c->lo, c->in, NULL, none, c->s, &ignored) != SNW_OK)
        return unknown_twist();
    snw_kinematics(m, c->in, c->s, false, c->lo->w);
    snw_observe(m, c->in, c->s, false, c->lo->w);
    return c->lo->w->V[seg];
}

// Column of `dof` at a displaced shape: laws of time besides the driven coordinates add a motion
// that does not belong to it.
static snw_twist column_at(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                           int dof, int moved, double h) {
    const snw_twist rest = twist_at(c, in, s, seg, -1, moved, h);
    return snw_twist_sub(rest, twist_at(c, in, s, seg, dof, moved, h));
}

static void connection_start(snw_connection *c, const snw_inputs *in, const snw_state *s) {
    snw_error ignored = {0};
    if (c->started) return;
    snw_inputs_copy(in, c->in);
    // a rank that is found too small at this configuration is corrected at later ones
    c->started = snw_locomotion_start(c->lo, c->in, s, s->t, &ignored) == SNW_OK;
}

void snw_connection_column(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                           int dof, snw_twist *out) {
    connection_start(c, in, s);
    *out = column_at(c, in, s, seg, dof, -1, 0);
}

// Derivative of column `dof` by the driven coordinate `by`: f' = sum w_k (f(k h) - f(-k h))/h.
static snw_twist column_d1(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                           int dof, int by) {
    static const double weight[] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    const double h = 5e-3 * c->m->typical[by];
    snw_twist sum = {0};
    for (int k = 1; k <= 3; k++) {
        const snw_twist up = column_at(c, in, s, seg, dof, by, k * h);
        const snw_twist down = column_at(c, in, s, seg, dof, by, -k * h);
        sum = snw_twist_axpy(weight[k - 1] / h, snw_twist_sub(up, down), sum);
    }
    return sum;
}

void snw_connection_curvature(snw_connection *c, const snw_inputs *in, const snw_state *s, int seg,
                              int dof_i, int dof_j, snw_twist *out) {
    connection_start(c, in, s);
    const snw_twist A_i = column_at(c, in, s, seg, dof_i, -1, 0);
    const snw_twist A_j = column_at(c, in, s, seg, dof_j, -1, 0);
    const snw_twist d = snw_twist_sub(column_d1(c, in, s, seg, dof_j, dof_i),
                                      column_d1(c, in, s, seg, dof_i, dof_j));
    *out = snw_twist_sub(d, snw_ad(A_i, A_j));
}
