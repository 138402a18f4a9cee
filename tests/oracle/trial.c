// SPDX-License-Identifier: MIT
#include "oracle/trial.h"

#include "oracle/linear.h"

#include <stdio.h>
#include <stdlib.h>

static void must(snw_status s, const snw_error *err) {
    if (s == SNW_OK) return;
    fprintf(stderr, "trial: status %d: %s\n", (int)s, err ? err->text : "");
    abort();
}

void trial_open(trial *t, const snw_desc *desc) {
    snw_error err = {0};
    *t = (trial){.desc = desc};
    must(snw_model_compile(desc, &t->m, &err), &err);
    must(snw_state_create(t->m, &t->s), NULL);
    must(snw_inputs_create(t->m, &t->in), NULL);
    must(snw_work_create(t->m, &t->w), NULL);
    trial_at(t, 0);
}

void trial_close(trial *t) {
    snw_work_destroy(t->w);
    snw_inputs_destroy(t->in);
    snw_state_destroy(t->s);
    snw_model_destroy(t->m);
}

void trial_at(trial *t, double time) {
    t->s->t = time;
    snw_inputs_at(t->m, time, t->in);
}

void trial_forward_dynamics(trial *t) {
    const int n = t->m->nv;
    double *M = oracle_alloc((size_t)n * (size_t)n, sizeof *M);
    int *pivot = oracle_alloc((size_t)n, sizeof *pivot);
    snw_mass_matrix(t->m, t->in, t->s, t->w, M);
    for (int i = 0; i < n; i++) t->s->a[i] = 0;
    snw_residual(t->m, t->in, t->s, false, t->w);
    for (int i = 0; i < n; i++) t->s->a[i] = -t->w->r[i];
    oracle_factor(n, M, pivot); // symmetric: row by row is column by column
    oracle_solve(n, M, pivot, 1, t->s->a);
    free(M);
    free(pivot);
}

double *trial_tangent(trial *t, bool is_static, double cq, double cv, double ca) {
    double *T = oracle_alloc((size_t)t->m->nv * (size_t)t->m->nv, sizeof *T);
    snw_residual(t->m, t->in, t->s, is_static, t->w);
    snw_tangent_pass(t->m, NULL, t->w);
    snw_tangent_assemble(t->m, t->in, cq, cv, ca, t->w, T);
    return T;
}

snw_statics_info trial_settle(trial *t) {
    snw_statics *st = NULL;
    snw_error err = {0};
    snw_statics_opts opts = snw_statics_defaults();
    opts.tolerance = 1e-13; // or rounding, where Newton's method stops by itself
    snw_statics_info info = {0};
    must(snw_statics_create(t->m, &st), NULL);
    must(snw_statics_solve(st, t->s->t, &opts, t->s, &info, &err), &err);
    snw_statics_destroy(st);
    trial_at(t, t->s->t);
    snw_residual(t->m, t->in, t->s, true, t->w);
    snw_observe(t->m, t->in, t->s, true, t->w);
    return info;
}

snw_se3 trial_end(trial *t, int link) {
    snw_kinematics(t->m, t->in, t->s, true, t->w);
    return t->w->g[t->m->link_end[link]];
}
