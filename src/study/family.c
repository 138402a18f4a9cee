// SPDX-License-Identifier: MIT
//
// Robots that differ in the value of one parameter of the file: read again by the language, which
// the description refers to, compiled, and given statics of their own.
#include "study/family.h"

#include "base/fail.h"
#include "constraint/projection.h"
#include "study/statics_private.h"

#include <string.h>

void snw_member_free(snw_member *member) {
    snw_statics_destroy(member->st);
    snw_model_destroy(member->model);
    if (member->desc) snw_pool_destroy(member->desc->pool);
    *member = (snw_member){0};
}

bool snw_same_unknowns(const snw_model *a, const snw_model *b) {
    return a->nq == b->nq && a->nv == b->nv && a->nconstraint == b->nconstraint &&
           a->nseg == b->nseg && a->nobs == b->nobs && a->nsignal == b->nsignal;
}

snw_status snw_member_compile(const snw_desc_family *family, int n, const int *k,
                              const double *value, const snw_model *like, snw_member *out,
                              snw_error *err) {
    SNW_TRY(family->at(family->user, -1, n, k, value, &out->desc, err));
    // the number of nodes does not follow the value
    for (int i = 0; i < like->nrod; i++) {
        snw_rod_desc *rod = &out->desc->link[like->rod[i].link].rod;
        if (rod->nodes == 0 && rod->tolerance == 0) rod->nodes = like->rod[i].nodes;
    }
    SNW_TRY(snw_projection_compile(out->desc, &out->model, err));
    if (snw_same_unknowns(like, out->model)) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "parameter '%s' changes the coordinates, nodes or constraints of the robot, "
                    "which stay; give the rods their 'nodes'",
                    family->parameter[k[0]].name);
}

snw_status snw_member_at(const snw_path_desc *path, int k, double value, const snw_statics *like,
                         snw_member *out, snw_error *err) {
    if (out->model && out->value == value) return SNW_OK;
    snw_member_free(out);
    out->value = value;
    const snw_model *m = like->m;
    snw_status s = snw_member_compile(&path->family, 1, &k, &value, m, out, err);
    if (s == SNW_OK && snw_statics_create(out->model, &out->st) != SNW_OK) s = snw_fail_memory(err);
    if (s == SNW_OK) {
        snw_statics_set_manual(out->st, like->now->manual);
        snw_state *to = out->st->trial;
        memset(to->v, 0, (size_t)m->nv * sizeof *to->v);
        memset(to->a, 0, (size_t)m->nv * sizeof *to->a);
        if (m->nsignal) memcpy(to->z, like->trial->z, (size_t)m->nsignal * sizeof *to->z);
    }
    if (s != SNW_OK) snw_member_free(out);
    return s;
}
