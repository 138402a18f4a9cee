// SPDX-License-Identifier: MIT
//
// Reads the engine of a step and the options of the shooting engine.
#include "language/read.h"

#include "base/fail.h"

#define SHOOTING_KEYS(X)                                                                           \
    X(SHOOTING_POINTS, "points", "number", "along a rod, its ends included; 101 unless given")     \
    X(SHOOTING_ALONG, "along", "rk4, euler or dormand-prince",                                     \
      "integration along the rod, rk4 unless given")                                               \
    X(SHOOTING_ERROR, "error", "number",                                                           \
      "of dormand-prince: choose intervals by this error of each, in typical forces; points is "   \
      "the initial number")                                                                        \
    X(SHOOTING_HISTORY, "history", "cubic or linear",                                              \
      "interpolation of earlier steps between nodes, and with the material of variable-length "    \
      "rods; cubic unless given; linear is that of the paper, which keeps them at the points")     \
    X(SHOOTING_SOLVER, "solver", "banded, newton, levenberg or dogleg",                            \
      "solver for the boundary conditions at the tip, banded unless given")

enum { SHOOTING_KEYS(SNW_KEY_CODE) SHOOTING_N };
SNW_KEYS(shooting, "shooting", "options of the shooting engine", SHOOTING_KEYS);

enum { MOST_POINTS = 100000 };

#define X(code, name, meaning) name,
static const char *const engines[] = {SNW_ENGINE_LIST(X)};
static const char *const alongs[] = {SNW_SHOOT_ALONG_LIST(X)};
static const char *const histories[] = {SNW_SHOOT_HISTORY_LIST(X)};
static const char *const solvers[] = {SNW_SHOOT_SOLVER_LIST(X)};
#undef X
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static snw_status read_options(snw_reader *r, const snw_node *node, snw_shooting_desc *out) {
    const snw_entry *e[SHOOTING_N];
    SNW_TRY(snw_read_map(r, node, &snw_keys_shooting, e));
    if (e[SHOOTING_POINTS]) {
        SNW_TRY(
            snw_read_integer(r, e[SHOOTING_POINTS]->value, "points", 4, MOST_POINTS, &out->points));
    }
    int word = 0;
    if (e[SHOOTING_ALONG]) {
        SNW_TRY(snw_read_word(r, e[SHOOTING_ALONG]->value, "along", COUNT(alongs), alongs, &word));
        out->along = (snw_shoot_along)word;
    }
    if (e[SHOOTING_ERROR]) {
        if (out->along != SNW_SHOOT_DORMAND_PRINCE) {
            return snw_fail_at(
                r->err, e[SHOOTING_ERROR]->location,
                "'error' is for 'along: dormand-prince', which chooses its intervals");
        }
        SNW_TRY(snw_read_positive(r, e[SHOOTING_ERROR]->value, "error", SNW_DIM_NONE, &out->error));
        if (out->error < 1e-13 || out->error > 1e-2) {
            return snw_fail_at(r->err, e[SHOOTING_ERROR]->value->location,
                               "'error' must be from 1e-13 to 0.01, got %g", out->error);
        }
    }
    if (e[SHOOTING_HISTORY]) {
        SNW_TRY(snw_read_word(r, e[SHOOTING_HISTORY]->value, "history", COUNT(histories), histories,
                              &word));
        out->history = (snw_shoot_between)word;
    }
    if (e[SHOOTING_SOLVER]) {
        SNW_TRY(
            snw_read_word(r, e[SHOOTING_SOLVER]->value, "solver", COUNT(solvers), solvers, &word));
        out->solver = (snw_shoot_solver)word;
    }
    return SNW_OK;
}

snw_status snw_read_engine(snw_reader *r, const snw_entry *engine, const snw_entry *shooting,
                           snw_step_desc *out) {
    int word = 0;
    if (engine) {
        SNW_TRY(snw_read_word(r, engine->value, "engine", COUNT(engines), engines, &word));
    }
    out->engine = (snw_engine)word;
    out->shooting = (snw_shooting_desc){.points = SNW_SHOOT_POINTS};
    if (!shooting) return SNW_OK;
    if (out->engine != SNW_ENGINE_SHOOTING) {
        return snw_fail_at(r->err, shooting->location,
                           "'shooting' has options of the shooting engine; add 'engine: shooting'");
    }
    return read_options(r, shooting->value, &out->shooting);
}
