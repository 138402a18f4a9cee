// SPDX-License-Identifier: MIT
//
// Equilibria of the public robot that are followed while inputs of actuators or loads vary.
#include "robot/robot_follow.h"

#include "base/fail.h"
#include "study/linear_inputs.h"

#include <string.h>

void snw_robot_take_snapshot(const snw_robot *r, snw_snapshot *p) {
    snw_snapshot_take(r->statics, r->s, p);
}

void snw_robot_restore_snapshot(const snw_snapshot *p, snw_robot *r) {
    snw_snapshot_restore(p, r->statics, r->s);
    r->inputs_stale = true;
}

snw_status snw_varied_find(const snw_robot *r, const char *name, snw_varied *out, snw_error *err) {
    *out = (snw_varied){.input = snw_robot_model_find(r->model, SNW_PART_INPUT, name), .load = -1};
    if (out->input >= 0) return SNW_OK;
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < r->desc->nload; i++) {
        const char *own = r->desc->load[i].name;
        if (strlen(own) != (size_t)(dot - name) || strncmp(own, name, strlen(own)) != 0) continue;
        for (int k = 0; k < 6; k++) {
            if (strcmp(dot + 1, snw_load_component[k]) != 0) continue;
            out->load = i;
            out->component = k;
            return SNW_OK;
        }
    }
    return snw_fail(err, SNW_E_ARGUMENT,
                    "'%.100s' is no input of an actuator and no component of a load", name);
}

void snw_varied_hold(snw_robot *r, const snw_varied *x, double value) {
    if (x->input >= 0) {
        r->u[x->input] = value;
        return;
    }
    snw_held_keep_load(&r->held, r->m, x->load, r->in, r->w);
    r->inputs_stale = true;
}

void snw_varied_set(snw_robot *r, const snw_varied *x, double value) {
    if (x->input >= 0) {
        r->u[x->input] = value;
        return;
    }
    r->held.load[x->load].e[x->component] = value;
    r->held.load_given[x->load] = true;
    r->inputs_stale = true;
}

size_t snw_given_size(const snw_robot *r) {
    return r->held.bytes + 2 * (size_t)r->ninput * sizeof *r->u;
}

void snw_given_save(const snw_robot *r, void *to) {
    char *at = to;
    const size_t u = (size_t)r->ninput * sizeof *r->u;
    memcpy(at, r->held.block, r->held.bytes);
    memcpy(at + r->held.bytes, r->u, u);
    memcpy(at + r->held.bytes + u, r->u_applied, u);
}

void snw_given_restore(snw_robot *r, const void *from) {
    const char *at = from;
    const size_t u = (size_t)r->ninput * sizeof *r->u;
    memcpy(r->held.block, at, r->held.bytes);
    memcpy(r->u, at + r->held.bytes, u);
    memcpy(r->u_applied, at + r->held.bytes + u, u);
    r->inputs_stale = true;
}

snw_status snw_follow_equilibrium(snw_robot *r, double t, bool anywhere, double smallest,
                                  snw_statics_info *info, snw_error *err) {
    snw_statics_opts opts = snw_statics_defaults();
    opts.smallest = smallest;
    opts.follow = !anywhere;
    *info = (snw_statics_info){0};
    SNW_TRY(snw_robot_check_state(r, err));
    snw_robot_initialise_signals(r);
    const snw_status s = snw_statics_solve(r->statics, t, &opts, r->s, info, err);
    r->inputs_stale = true;
    return s;
}
