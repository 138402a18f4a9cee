// SPDX-License-Identifier: MIT
//
// States of robots as rows of numbers: a signature, what the mover needs to go on, what the caller
// holds in hand.
#include "robot/robot_private.h"

#include "base/fail.h"
#include "sinew/version.h"

#include <math.h>
#include <string.h>

enum { GRIP = 9 }; // segment, point, place, stiffness, damping

// What a row begins with. All are whole numbers that a double holds, so that a row may also be kept
// as text.
enum {
    SIGN_FORMAT, // of rows, and the version of Sinew
    SIGN_MODEL,  // which text the robot was read from, and its sizes
    SIGN_SCHEME, // by which it is moved
    SIGN_COUNT,  // of numbers in the row
    SIGN_SUM,    // over what follows
    SIGNATURE
};

static const char row_format[] = "sinew state 1, " SNW_VERSION;

// Fowler, Noll and Vo's hash of 64 bits
static uint64_t add_bytes(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ b[i]) * 0x100000001b3ULL;
    return h;
}

static const uint64_t hash_begin = 0xcbf29ce484222325ULL;

// 52 bits of a hash
static double robot_save_whole(uint64_t h) { return (double)((h ^ h >> 52) & 0xfffffffffffffULL); }

static double model_sign(const snw_robot *r) {
    const snw_model *m = r->m;
    const int size[] = {m->nq,          m->nv,           m->nseg,          m->nobs,
                        m->nconstraint, m->nsignal,      r->desc->nload,   r->desc->nmotor,
                        m->nrod,        r->desc->nprobe, r->desc->ntendon, r->desc->nstress};
    const uint64_t h = add_bytes(hash_begin, &r->identity, sizeof r->identity);
    return robot_save_whole(add_bytes(h, size, sizeof size));
}

static double scheme_sign(const snw_robot *r) {
    const snw_step_desc *how = &r->how;
    const int points = how->engine == SNW_ENGINE_SHOOTING ? how->shooting.points : 0;
    const int what[] = {(int)how->method, (int)how->engine, points};
    return robot_save_whole(add_bytes(hash_begin, what, sizeof what));
}

static double robot_save_sum_of(const snw_robot *r, const double *row) {
    const size_t n = snw_robot_saves(r) - SIGNATURE;
    return robot_save_whole(add_bytes(hash_begin, row + SIGNATURE, n * sizeof *row));
}

static void sign(const snw_robot *r, double *row) {
    row[SIGN_FORMAT] = robot_save_whole(add_bytes(hash_begin, row_format, sizeof row_format));
    row[SIGN_MODEL] = model_sign(r);
    row[SIGN_SCHEME] = scheme_sign(r);
    row[SIGN_COUNT] = (double)snw_robot_saves(r);
    row[SIGN_SUM] = robot_save_sum_of(r, row);
}

// is it a row of such a robot? What differs is said, the most general first
static snw_status check_sign(const snw_robot *r, const double *row) {
    static const char *const amiss[SIGNATURE] = {
        [SIGN_FORMAT] = "it is none that this version of Sinew has saved",
        [SIGN_MODEL] = "it is of a robot of another file, run or override",
        [SIGN_SCHEME] = "it is of a robot that was started with another scheme or engine",
        [SIGN_COUNT] = "it has another size",
        [SIGN_SUM] = "its numbers were changed since"};
    double want[SIGNATURE];
    want[SIGN_FORMAT] = robot_save_whole(add_bytes(hash_begin, row_format, sizeof row_format));
    want[SIGN_MODEL] = model_sign(r);
    want[SIGN_SCHEME] = scheme_sign(r);
    want[SIGN_COUNT] = (double)snw_robot_saves(r);
    for (int i = 0; i < SIGNATURE; i++) {
        // the sum only when all else fits: before, nobody knows how many numbers there are
        if (i == SIGN_SUM) want[i] = robot_save_sum_of(r, row);
        if (row[i] == want[i]) continue;
        return SNW_ROBOT_REFUSE(r, "the saved state `in` is refused: %s", amiss[i]);
    }
    return SNW_OK;
}

void snw_robot_identify(snw_robot *r, uint64_t identity) { r->identity = identity; }

// Inputs set by the caller, stored behind the integrator's numbers.
static size_t hand_saves(const snw_robot *r) {
    return 7 * (size_t)r->desc->nload + 4 + GRIP + 2 * (size_t)r->desc->nmotor +
           3 * r->ncoordinate + 5 * (size_t)r->desc->ntendon + (size_t)r->desc->nstress;
}

// Which rows of redundant loops are kept, a number each; none where all are.
static size_t choice_saves(const snw_robot *r) {
    return snw_projection_redundant(snw_statics_projection(r->statics)) ? (size_t)r->m->nloop : 0;
}

size_t snw_robot_saves(const snw_robot *r) {
    const size_t n = r && r->integrator.close ? r->saves : 0;
    return n > 0 ? SIGNATURE + n + hand_saves(r) + choice_saves(r) : 0;
}

// has it anything to save, and is there a row?
static snw_status check_row(const snw_robot *r, const char *name, const double *row) {
    if (!row) return SNW_ROBOT_REFUSE(r, "%s is NULL", name);
    if (snw_robot_saves(r) > 0) return SNW_OK;
    return SNW_ROBOT_REFUSE(r, "%s",
                            r->integrator.close
                                ? "the scheme has no states to save; use another one"
                                : "snw_robot_start comes before states are saved");
}

snw_status snw_robot_save(const snw_robot *r, double *out) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(check_row(r, "out", out));
    double *row = out;
    out += SIGNATURE;
    r->integrator.save(r->integrator.self, out);
    out += r->saves;
    *out++ = r->manual.gravity_given;
    for (int i = 0; i < 3; i++) *out++ = r->manual.gravity.e[i];
    const snw_drag_spring *drag_spring = &r->manual.drag_spring;
    *out++ = drag_spring->seg;
    for (int i = 0; i < 3; i++) *out++ = drag_spring->at.e[i];
    for (int i = 0; i < 3; i++) *out++ = drag_spring->to.e[i];
    *out++ = drag_spring->stiffness;
    *out++ = drag_spring->damping;
    for (int i = 0; i < r->desc->nload; i++) {
        *out++ = r->load_given[i];
        for (int k = 0; k < 6; k++) *out++ = r->load[i].e[k];
    }
    for (int i = 0; i < r->desc->nmotor; i++) {
        *out++ = r->motor_given[i];
        *out++ = r->motor_since[i];
    }
    for (int i = 0; i < r->desc->ntendon; i++) {
        *out++ = r->tendon_given[i];
        *out++ = r->tendon_since[i];
    }
    for (int i = 0; i < r->desc->nstress; i++) *out++ = r->activation[i];
    const size_t n = r->ncoordinate + (size_t)r->desc->ntendon; // one behind the other
    memcpy(out, r->motor, n * sizeof *r->motor);
    out += 3 * n;
    const snw_projection *pr = snw_statics_projection(r->statics);
    for (size_t i = 0; i < choice_saves(r); i++) *out++ = snw_projection_choice(pr, (int)i);
    sign(r, row);
    return SNW_OK;
}

snw_status snw_robot_restore(snw_robot *r, const double *in) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(check_row(r, "in", in));
    SNW_TRY(check_sign(r, in));
    const double *mover = in + SIGNATURE;
    in = mover + r->saves;
    r->manual.gravity_given = *in++ != 0;
    for (int i = 0; i < 3; i++) r->manual.gravity.e[i] = *in++;
    snw_drag_spring *drag_spring = &r->manual.drag_spring;
    drag_spring->seg = (int)*in++;
    for (int i = 0; i < 3; i++) drag_spring->at.e[i] = *in++;
    for (int i = 0; i < 3; i++) drag_spring->to.e[i] = *in++;
    drag_spring->stiffness = *in++;
    drag_spring->damping = *in++;
    for (int i = 0; i < r->desc->nload; i++) {
        r->load_given[i] = *in++ != 0;
        for (int k = 0; k < 6; k++) r->load[i].e[k] = *in++;
    }
    for (int i = 0; i < r->desc->nmotor; i++) {
        r->motor_given[i] = *in++ != 0;
        r->motor_since[i] = *in++;
    }
    for (int i = 0; i < r->desc->ntendon; i++) {
        r->tendon_given[i] = *in++ != 0;
        r->tendon_since[i] = *in++;
    }
    for (int i = 0; i < r->desc->nstress; i++) r->activation[i] = *in++;
    const size_t n = r->ncoordinate + (size_t)r->desc->ntendon;
    memcpy(r->motor, in, n * sizeof *r->motor);
    in += 3 * n;
    const snw_projection *pr = snw_statics_projection(r->statics);
    for (size_t i = 0; i < choice_saves(r); i++) {
        if (snw_projection_set_choice(pr, r->m, (int)i, *in++)) continue;
        return SNW_ROBOT_REFUSE(r, "the saved state `in` is refused: its rows are of other loops");
    }
    SNW_TRY(r->integrator.load(r->integrator.self, mover, r->error));
    snw_robot_copy_motion(r);
    return SNW_OK;
}
