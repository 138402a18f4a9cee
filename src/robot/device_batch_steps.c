// SPDX-License-Identifier: MIT
//
// Starts and steps of robots on a graphics processor.
#include "robot/device_batch_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

static const double SINGLE_TOLERANCE = 1e-6; // of residuals, near their rounding errors

snw_status snw_device_batch_start(snw_device_batch *b, const snw_robot_steps *how,
                                  const unsigned char *at, snw_error *err) {
    if (!b || !how) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", b ? "how" : "the batch");
    const double t = b->robot->s->t;
    SNW_TRY(snw_robot_start(b->robot, how, err));
    b->robot->s->t = t;
    const snw_implicit *im = b->robot->integrator.implicit;
    const char *why = im ? snw_device_refuses(im) : "schemes other than those of one implicit step";
    if (why)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "graphics processors do not compute %s; use a batch on the processor's "
                        "cores",
                        why);
    const snw_scheme backward_euler = snw_scheme_of_levels((snw_levels){.past = 1});
    _Static_assert(sizeof b->args.scheme == sizeof im->opts.scheme, "the same members");
    memcpy(&b->args.scheme, &im->opts.scheme, sizeof b->args.scheme);
    memcpy(&b->args.euler, &backward_euler, sizeof b->args.euler);
    b->args.patience = SNW_LIVE_PATIENCE;
    b->args.tighten = im->opts.tighten;
    b->args.tolerance = b->single ? fmax(im->opts.tolerance, SINGLE_TOLERANCE) : im->opts.tolerance;
    b->args.max_iter = im->opts.max_iter;
    b->args.longest = b->robot->how.step;
    b->args.loss_limit = im->loss_limit;
    b->args.project_end = im->undamped && !im->opts.undamped_velocities;
    b->args.account = b->account && !b->single &&
                      (snw_touches(im->m) ||
                       (im->opts.scheme.loss_known && snw_scheme_overshoot(&im->opts.scheme) > 0));
    b->started = true;
    return snw_device_batch_restart(b, at, err);
}

snw_status snw_device_batch_restart(snw_device_batch *b, const unsigned char *at, snw_error *err) {
    if (!b || !b->started)
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_device_batch_start first");
    SNW_TRY(snw_device_prepare(b, 0, 0, err));
    b->args.at = at;
    const snw_status s = snw_device_launch(b, SNW_DEVICE_START, err);
    b->args.at = NULL;
    return s;
}

snw_status snw_device_batch_reset(snw_device_batch *b, const unsigned char *at, int only_failed,
                                  snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    b->args.home = b->home;
    b->args.only_failed = only_failed != 0;
    const snw_status s = snw_device_batch_restart(b, at, err);
    b->args.home = NULL;
    b->args.only_failed = 0;
    return s;
}

void snw_device_batch_set_account(snw_device_batch *b, int account) {
    if (b) b->account = account != 0;
}

enum { LAW_NUMBERS = 1 << 25 }; // most in the rows of laws of a launch

// Steps in one launch, or in a launch each where `probes` take their values at its end.
static snw_status queue_steps(snw_device_batch *b, double h, int count, double *probes, int most,
                              const double *u, snw_error *err) {
    snw_status s = SNW_OK;
    const size_t row = (size_t)b->args.ncolumn * (size_t)b->n;
    if (probes) most = 1;
    if (u) b->args.u_step = (size_t)b->ninput * (size_t)b->n;
    for (int done = 0; s == SNW_OK && done < count;) {
        const int now = count - done < most ? count - done : most;
        if (u) b->args.u = u + (size_t)done * b->args.u_step;
        s = snw_device_prepare(b, h, now, err);
        if (s == SNW_OK) s = snw_device_launch(b, SNW_DEVICE_STEPS, err);
        for (int k = 0; s == SNW_OK && k < now; k++) b->robot->s->t = b->robot->s->t + h;
        if (probes && s == SNW_OK) {
            b->args.probe = probes + (size_t)done * row;
            s = snw_device_prepare(b, 0, 0, err);
            if (s == SNW_OK) s = snw_device_launch(b, SNW_DEVICE_POINTS, err);
        }
        done += now;
    }
    b->args.probe = b->probe.at;
    b->args.u = b->u;
    b->args.u_step = 0;
    return s;
}

snw_status snw_device_batch_step_probes(snw_device_batch *b, double h, int count, const double *u,
                                        double *probes, snw_error *err) {
    if (probes && b && b->args.ncolumn == 0)
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_device_batch_set_probes first");
    if (!b || !b->started)
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_device_batch_start before the first step");
    if (count < 0 || count > 1000000)
        return snw_fail(err, SNW_E_ARGUMENT, "count must be from 0 to 1000000, got %d", count);
    SNW_TRY(snw_robot_check_step(b->robot, h, err));
    const size_t fit = LAW_NUMBERS / (3 * snw_device_law_width(b));
    const int most = fit < 1 ? 1 : b->time_laws || fit > 1000000 ? 1000000 : (int)fit;
    return queue_steps(b, h, count, probes, most, u, err);
}

snw_status snw_device_batch_step_inputs(snw_device_batch *b, double h, int count, const double *u,
                                        snw_error *err) {
    return snw_device_batch_step_probes(b, h, count, u, NULL, err);
}

snw_status snw_device_batch_step(snw_device_batch *b, double h, int count, snw_error *err) {
    return snw_device_batch_step_inputs(b, h, count, NULL, err);
}

snw_status snw_device_batch_wait(snw_device_batch *b, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    return b->cuda ? snw_cuda_wait(b->cuda, err) : SNW_OK;
}

snw_status snw_device_batch_count(snw_device_batch *b, snw_device_batch_counts *out,
                                  snw_error *err) {
    if (!b || !out) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    const size_t n = (size_t)b->n;
    unsigned *x = snw_alloc(3 * n * sizeof *x);
    if (!x) return snw_fail_memory(err);
    snw_status s = snw_device_read(b, b->iterations, n * sizeof *x, x, err);
    if (s == SNW_OK) s = snw_device_read(b, b->tangents, n * sizeof *x, x + n, err);
    if (s == SNW_OK) s = snw_device_read(b, b->status, n * sizeof *x, x + 2 * n, err);
    *out = (snw_device_batch_counts){0};
    for (size_t i = 0; s == SNW_OK && i < n; i++) {
        out->iterations += x[i];
        out->tangents += x[n + i];
        out->failed += x[2 * n + i] > SNW_DEVICE_NOT_STARTED;
    }
    snw_free(x);
    return s;
}
