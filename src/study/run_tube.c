// SPDX-License-Identifier: MIT
//
// Concentric tubes that slide by laws of t (theory.md 3.19): before each equilibrium a model is
// compiled with the rods of that instant, and everything that holds the present model of the phase
// is told to use it. Coordinates and sizes are the same, so states and workspaces remain valid.
#include "study/run_private.h"

#include "base/fail.h"
#include "constraint/projection.h"
#include "model/tube_layout.h"

#include <string.h>

enum { POOL_LIMIT = 1 << 26 };

// e->desc, e->tube <- copies that can be modified
static snw_status own_tubes(snw_run *r, snw_phase *e) {
    SNW_TRY(snw_run_own_links(r, e));
    if (e->tube) return SNW_OK;
    const size_t n = (size_t)e->desc->ntube;
    snw_desc *own = snw_pool_array(r->pool, 1, sizeof *own);
    e->tube = snw_pool_array(r->pool, n, sizeof *e->tube);
    if (!own || !e->tube) return SNW_E_MEMORY;
    *own = *e->desc;
    memcpy(e->tube, own->tube, n * sizeof *e->tube);
    own->tube = e->tube;
    e->desc = own;
    return SNW_OK;
}

static snw_status compile_placed(snw_phase *e, double t, snw_pool *pool, snw_model **out,
                                 snw_error *err) {
    SNW_TRY(snw_tubes_place(e->desc, t, pool, e->link, e->tube, err));
    SNW_TRY(snw_projection_compile(e->desc, out, err));
    const snw_model *a = e->model, *b = *out;
    if (a->nq == b->nq && a->nseg == b->nseg && a->nobs == b->nobs && a->npoint == b->npoint &&
        a->ntube_point == b->ntube_point && a->nconstraint == b->nconstraint &&
        a->nload_point == b->nload_point && a->nstation == b->nstation &&
        a->ncontact_point == b->ncontact_point && a->store == b->store)
        return SNW_OK;
    const snw_source_location at = e->tube[0].location;
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "at t = %g s the end or the bend of a tube is just where something is attached to "
                 "the centreline; move the attachment, or take steps that do not meet it",
                 t),
        at.file, at.line, at.column);
}

snw_status snw_run_place_tubes(snw_run *r, double t, bool is_static, snw_error *err) {
    snw_phase *e = r->now;
    if (!snw_tubes_slide(e->desc)) return SNW_OK;
    const snw_step_desc *step = &r->desc->step[r->cursor.stage];
    if (!is_static && step->kinematic)
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "step '%s' is kinematic, and tubes slide by a law of t, which static and "
                     "dynamic steps follow; use one of these",
                     step->name),
            step->location.file, step->location.line, step->location.column);
    if (!is_static) SNW_TRY(snw_check_sliding_tubes(e->desc, err));
    if (r->mesh_adapts)
        return snw_fail(err, SNW_E_MODEL,
                        "tubes that slide, and rods that place their nodes (rk45), do not go "
                        "together in this version; use integrator: magnus 6");
    snw_status s = own_tubes(r, e);
    if (s != SNW_OK) return snw_fail_memory(err);
    for (int i = 0; i < e->desc->ntube; i++) e->tube[i].moves = !is_static;
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    snw_model *fresh = NULL;
    s = pool ? compile_placed(e, t, pool, &fresh, err) : snw_fail_memory(err);
    if (s == SNW_OK) s = snw_run_use_model(r, e, fresh);
    if (s != SNW_OK) {
        snw_model_destroy(fresh);
        snw_pool_destroy(pool);
        return s;
    }
    snw_model_destroy(e->remeshed);
    snw_pool_destroy(e->tube_pool);
    e->remeshed = fresh;
    e->tube_pool = pool;
    // its richer model is that of other lengths
    snw_truncation_destroy(e->truncation);
    e->truncation = NULL;
    e->truncation_tried = false;
    if (r->loads_applied) snw_statics_assume(e->statics, r->state->t);
    return SNW_OK;
}
