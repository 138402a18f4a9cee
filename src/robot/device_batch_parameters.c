// SPDX-License-Identifier: MIT
//
// Parameters of their own for robots on a graphics processor: a model each, of one structure.
#include "robot/device_batch_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/expr_op.h"

#include <string.h>

// Arrays of own numbers and models, with those of the model for all robots.
static snw_status create_own_models(snw_device_batch *b, snw_error *err) {
    const size_t n = (size_t)b->n, row = b->stream->nnumber * sizeof(double);
    void *number = NULL, *model = NULL;
    if (b->args.model_bytes) return SNW_OK;
    SNW_TRY(snw_device_check_room(b, b->model_bytes + row, 0, err));
    b->own = snw_alloc(n * sizeof *b->own);
    if (!b->own) return snw_fail_memory(err);
    snw_status s = snw_device_alloc(b, n * row, &number, err);
    if (s == SNW_OK) s = snw_device_alloc(b, n * b->model_bytes, &model, err);
    for (size_t i = 0; s == SNW_OK && i < n; i++)
        s = snw_device_write(b, b->stream->number, row, (char *)number + i * row, err);
    if (s != SNW_OK) {
        snw_device_free(b, number), snw_device_free(b, model);
        snw_free(b->own);
        b->own = NULL;
        return s;
    }
    snw_device_free(b, b->number), snw_device_free(b, b->model);
    b->bytes -= row + b->model_bytes;
    b->number = number, b->model = model;
    b->args.model = model;
    b->args.model_bytes = b->model_bytes;
    b->models_stale = true;
    return SNW_OK;
}

static bool same_law(snw_law a, snw_law b) { return a == b || (a && b && snw_expr_same(a, b)); }

static bool same_laws(int n, const snw_law *a, const snw_law *b) {
    bool same = true;
    for (int i = 0; i < n; i++) same &= same_law(a[i], b[i]);
    return same;
}

// Are gravity and inputs of both models, of one structure, the same at all times?
static bool same_inputs(const snw_model *a, const snw_model *b) {
    bool same = same_laws(3, a->gravity, b->gravity);
    for (int i = 0; i < a->npose; i++) {
        const snw_pose_desc *x = &a->pose[i], *y = &b->pose[i];
        same &= same_laws(3, x->xyz, y->xyz) && memcmp(&x->R0, &y->R0, sizeof x->R0) == 0;
        for (int k = 0; k < x->nturn; k++)
            same &= same_law(x->turn[k].angle, y->turn[k].angle) &&
                    memcmp(&x->turn[k].axis, &y->turn[k].axis, sizeof x->turn[k].axis) == 0;
    }
    for (int i = 0; i < a->nload; i++) {
        same &= same_laws(3, a->load[i].force, b->load[i].force) &&
                same_laws(3, a->load[i].torque, b->load[i].torque) &&
                same_law(a->load[i].when, b->load[i].when);
    }
    for (int i = 0; i < a->nload_point; i++)
        same &=
            a->load_point[i].w == b->load_point[i].w && a->load_point[i].x == b->load_point[i].x;
    for (int i = 0; i < a->nstress; i++) {
        same &= same_laws(6, a->stress[i].stress, b->stress[i].stress) &&
                same_law(a->stress[i].when, b->stress[i].when);
    }
    for (int i = 0; a->nstress && i < a->nrod; i++) same &= a->rod[i].L == b->rod[i].L;
    for (int i = 0; a->nstress && i < a->npoint; i++) same &= a->point[i].w == b->point[i].w;
    for (int i = 0; i < a->nmotor; i++) {
        const snw_motor *x = &a->motor[i], *y = &b->motor[i];
        same &= same_law(x->when, y->when) && !x->law == !y->law &&
                (!x->law || same_laws(x->n, x->law, y->law));
    }
    for (int i = 0; i < a->ntendon; i++) {
        const snw_tendon *x = &a->tendon[i], *y = &b->tendon[i];
        same &= same_law(x->law, y->law) && same_law(x->when, y->when) &&
                same_law(x->temperature, y->temperature) && same_law(x->ambient, y->ambient);
    }
    // laws of parts that the device refuses or that are rare are taken to differ
    return same && !a->ndrive && !a->nfield && !a->nfluid;
}

snw_status snw_device_batch_set_parameters(snw_device_batch *b, int robot, int nset,
                                           const char *const *set, snw_error *err) {
    if (!b || (nset > 0 && !set)) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    if (robot < 0 || robot >= b->n)
        return snw_fail(err, SNW_E_ARGUMENT, "there is no robot %d, the batch has %d", robot, b->n);
    if (b->robot->rows)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "robots whose loops have redundant rows have no parameters of their own on "
                        "a device");
    snw_robot_model *model = NULL;
    snw_model_stream *stream = NULL;
    const snw_model *base = b->robot->m;
    SNW_TRY(snw_robot_model_sample(b->robot->model, nset, set, base, &model, err));
    const snw_model *m = model->compiled;
    snw_status s = snw_model_stream_create(m, &stream);
    const bool alike = s == SNW_OK && snw_model_stream_alike(stream, b->stream);
    if (alike && !snw_model_stream_same_laws(b->stream, stream))
        s = snw_fail(err, SNW_E_ARGUMENT,
                     "these parameters change the operations of a law, the knots of a rate that is "
                     "integrated or the place of a probe, "
                     "which all robots of a batch have in common: a law that becomes constant, or "
                     "an exponent; choose values that only change numbers in it");
    if (s == SNW_OK && !alike)
        s = snw_fail(err, SNW_E_ARGUMENT,
                     "these parameters change the structure of the model, which all robots of a "
                     "batch have in common");
    if (s == SNW_OK) s = create_own_models(b, err);
    const size_t n = (size_t)b->n, i = (size_t)robot, row = b->stream->nnumber * sizeof(double);
    if (s == SNW_OK) s = snw_device_write(b, stream->number, row, (char *)b->number + i * row, err);
    for (int k = 0; s == SNW_OK && k < m->nq + m->nv; k++) {
        const double x = k < m->nq ? m->q0[k] : m->v0[k - m->nq];
        s = snw_device_write(b, &x, sizeof x, (double *)b->home + (size_t)k * n + i, err);
    }
    const int waits = SNW_DEVICE_NOT_STARTED;
    if (s == SNW_OK) s = snw_device_write(b, &waits, sizeof waits, (int *)b->status + i, err);
    snw_model_stream_destroy(stream);
    if (s != SNW_OK) {
        snw_robot_model_close(model);
        return s;
    }
    const bool same = b->time_laws || same_inputs(m, base); // as far as the host evaluates them
    b->nown += (same ? 0 : 1) - (b->own[i] ? 1 : 0);
    snw_robot_model_close(b->own[i]);
    b->own[i] = same ? NULL : model;
    if (same) snw_robot_model_close(model);
    b->args.own_laws = b->nown > 0;
    b->models_stale = true;
    return SNW_OK;
}
