// SPDX-License-Identifier: MIT
//
// Saved states of a robot as rows of doubles: a signature, the checkpoint of the integrator, inputs
// set by the caller, and the choice of redundant rows. For the public functions save and restore.

#include "robot/robot_private.h"

#include "base/fail.h"
#include "sinew/version.h"

#include <math.h>
#include <string.h>


// Signature of a row. Each entry is an integer that a double represents exactly, so a row can be
// stored as text.
enum {
    SIGN_FORMAT, // format of rows, and the version of Sinew
    SIGN_MODEL,  // identity of the model, and its sizes
    SIGN_SCHEME, // integrator
    SIGN_COUNT,  // doubles in the row
    SIGN_SUM,    // checksum of the entries behind the signature
    SIGNATURE
};

static const char row_format[] = "sinew state 1, " SNW_VERSION;

// FNV-1a hash, 64 bits
static uint64_t add_bytes(uint64_t h, const void *bytes, size_t n) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ b[i]) * 0x100000001b3ULL;
    return h;
}

static const uint64_t hash_begin = 0xcbf29ce484222325ULL;

// 52 bits of a hash, exact in a double
static double hash_to_double(uint64_t h) { return (double)((h ^ h >> 52) & 0xfffffffffffffULL); }

static double model_signature(const snw_robot *r) {
    const snw_model *m = r->m;
    const int size[] = {m->nq,          m->nv,           m->nseg,          m->nobs,
                        m->nconstraint, m->nsignal,      r->desc->nload,   r->desc->nmotor,
                        m->nrod,        r->desc->nprobe, r->desc->ntendon, r->desc->nstress};
    const uint64_t h = add_bytes(hash_begin, &r->model->identity, sizeof r->model->identity);
    return hash_to_double(add_bytes(h, size, sizeof size));
}

static double scheme_signature(const snw_robot *r) {
    const snw_step_desc *how = &r->how;
    const int points = how->engine == SNW_ENGINE_SHOOTING ? how->shooting.points : 0;
    const int what[] = {(int)how->scheme, (int)how->engine, points};
    return hash_to_double(add_bytes(hash_begin, what, sizeof what));
}

static double row_checksum(const snw_robot *r, const double *row) {
    const size_t n = snw_robot_saves(r) - SIGNATURE;
    return hash_to_double(add_bytes(hash_begin, row + SIGNATURE, n * sizeof *row));
}

static void write_signature(const snw_robot *r, double *row) {
    row[SIGN_FORMAT] = hash_to_double(add_bytes(hash_begin, row_format, sizeof row_format));
    row[SIGN_MODEL] = model_signature(r);
    row[SIGN_SCHEME] = scheme_signature(r);
    row[SIGN_COUNT] = (double)snw_robot_saves(r);
    row[SIGN_SUM] = row_checksum(r, row);
}

// is it a row of such a robot? the message names the first mismatch, the most general first
static snw_status check_signature(const snw_robot *r, const double *row) {
    static const char *const problem[SIGNATURE] = {
        [SIGN_FORMAT] = "this version of Sinew did not save it",
        [SIGN_MODEL] = "it belongs to another file, run or override",
        [SIGN_SCHEME] = "it belongs to a robot started with another scheme or engine",
        [SIGN_COUNT] = "it has another size",
        [SIGN_SUM] = "its numbers were changed"};
    double want[SIGNATURE];
    want[SIGN_FORMAT] = hash_to_double(add_bytes(hash_begin, row_format, sizeof row_format));
    want[SIGN_MODEL] = model_signature(r);
    want[SIGN_SCHEME] = scheme_signature(r);
    want[SIGN_COUNT] = (double)snw_robot_saves(r);
    for (int i = 0; i < SIGNATURE; i++) {
        // the checksum last: the length of the row must be right
        if (i == SIGN_SUM) want[i] = row_checksum(r, row);
        if (row[i] == want[i]) continue;
        return SNW_ROBOT_REFUSE(r, "the saved state is refused: %s", problem[i]);
    }
    return SNW_OK;
}

// Choices of redundant rows, one for each loop; none without redundant rows.
static size_t choice_saves(const snw_robot *r) { return r->rows ? (size_t)r->m->nloop : 0; }

size_t snw_robot_saves(const snw_robot *r) {
    const size_t n = r && r->integrator.close ? r->saves : 0;
    return n > 0 ? SIGNATURE + n + snw_held_doubles(&r->held) + choice_saves(r) : 0;
}

// can this robot be saved, and is there a row?
static snw_status check_row(const snw_robot *r, const char *name, const double *row) {
    if (!row) return SNW_ROBOT_REFUSE(r, "%s is NULL", name);
    if (snw_robot_saves(r) > 0) return SNW_OK;
    return SNW_ROBOT_REFUSE(r, "%s",
                            r->integrator.close
                                ? "the states of this scheme cannot be saved; use another one"
                                : "call snw_robot_start before saving states");
}

snw_status snw_robot_save(snw_robot *r, double *out) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(check_row(r, "out", out));
    SNW_TRY(snw_robot_apply_inputs(r, r->error));
    snw_robot_write_row(r, out);
    return SNW_OK;
}

void snw_robot_write_row(const snw_robot *r, double *out) {
    double *row = out;
    out += SIGNATURE;
    r->integrator.save(r->integrator.self, out);
    out += r->saves;
    out = snw_held_save(&r->held, out); // inputs set by the caller
    for (size_t i = 0; i < choice_saves(r); i++) *out++ = snw_closure_rows_choice(r->rows, (int)i);
    write_signature(r, row);
}

snw_status snw_robot_restore(snw_robot *r, const double *in) {
    if (!r) return SNW_E_ARGUMENT;
    SNW_TRY(check_row(r, "in", in));
    SNW_TRY(check_signature(r, in));
    const double *integrator = in + SIGNATURE;
    in = integrator + r->saves;
    in = snw_held_load(&r->held, in);
    for (size_t i = 0; i < choice_saves(r); i++) {
        if (snw_closure_rows_set_choice(r->rows, (int)i, *in++)) continue;
        return SNW_ROBOT_REFUSE(
            r, "the saved state `in` is refused: its constraint rows belong to other loops");
    }
    snw_robot_read_inputs(r);
    SNW_TRY(r->integrator.load(r->integrator.self, integrator, r->error));
    snw_robot_copy_motion(r);
    return SNW_OK;
}
