// SPDX-License-Identifier: MIT
//
// device_motion.h: motions of robots on a graphics processor, by its program on the host, compared
// with those of robots stepped alone.
#pragma once

#include "sinew/sinew.h"

#include "near.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DEVICE_ROBOTS = 3 };

static snw_error err;

static inline void expect_ok(snw_status s) {
    if (s != SNW_OK) fail_msg("%s", err.text);
}

static inline snw_robot_model *open_model(const char *text) {
    snw_robot_model *m = NULL;
    expect_ok(snw_robot_model_parse("device", text, strlen(text), NULL, 0, NULL, &m, &err));
    return m;
}

// velocity k of robot i
static inline double pushed(int i, int k) { return 0.1 * i * sin(1.7 * i + 2.3 * k); }

// Largest difference of a coordinate between robots on the device and alone.
static inline double motion_difference(const char *text, const snw_robot_steps *how, int steps) {
    enum { N = DEVICE_ROBOTS };
    snw_robot_model *m = open_model(text);
    snw_device_batch *b;
    double most = 0;
    expect_ok(snw_device_batch_create(m, N, "host", &b, &err));
    const int nq = snw_device_batch_nq(b), nv = snw_device_batch_nv(b);
    for (int k = 0; k < nv; k++) {
        for (int i = 0; i < N; i++) snw_device_batch_v(b)[k * N + i] = pushed(i, k);
    }
    expect_ok(snw_device_batch_start(b, how, NULL, &err));
    expect_ok(snw_device_batch_step(b, how->step, steps / 2, &err));
    expect_ok(snw_device_batch_step(b, how->step, steps - steps / 2, &err));
    for (int i = 0; i < N; i++) {
        const int status = snw_device_batch_status(b)[i];
        snw_robot *r;
        if (status != 0) fail_msg("robot %d: %s", i, snw_device_batch_status_text(status));
        expect_ok(snw_robot_from_model(m, &r, &err));
        for (int k = 0; k < nv; k++) snw_robot_v(r)[k] = pushed(i, k);
        expect_ok(snw_robot_start(r, how, &err));
        expect_ok(snw_robot_advance(r, how->step, steps, NULL, &err));
        for (int k = 0; k < nq; k++)
            most = fmax(most, fabs(snw_device_batch_q(b)[k * N + i] - snw_robot_q(r)[k]));
        snw_robot_close(r);
    }
    snw_device_batch_close(b);
    snw_robot_model_close(m);
    return most;
}

// Is this a build with batches on a device?
static inline bool has_devices(const char *text) {
    snw_robot_model *m = open_model(text);
    snw_device_batch *b;
    const snw_status s = snw_device_batch_create(m, 1, "host", &b, &err);
    snw_robot_model_close(m);
    if (s == SNW_OK) {
        snw_device_batch_close(b);
        return true;
    }
    assert_non_null(strstr(err.text, "this build"));
    return false;
}
