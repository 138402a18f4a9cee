// SPDX-License-Identifier: MIT
//
// Reads `commands`: options that the file gives to commands. Which options a command has only the
// command knows; here the block is a map of maps.
#include "language/read.h"

#include "base/fail.h"

#define COMMANDS_KEYS(X)                                                                           \
    X(COMMANDS_GRADIENT, "gradient", "options by name",                                            \
      "of 'sinew gradient': of, by, knots, method, ..")                                            \
    X(COMMANDS_LINEARIZE, "linearize", "options by name",                                          \
      "of 'sinew linearize': at, input, probe, step, ..")                                          \
    X(COMMANDS_SOLVE, "solve", "options by name",                                                  \
      "of 'sinew solve': target, targets, actuator, rate, ..")                                     \
    X(COMMANDS_TRACK, "track", "options by name",                                                  \
      "of 'sinew track': targets, step, actuator, rate, ..")                                       \
    X(COMMANDS_WORKSPACE, "workspace", "options by name",                                          \
      "of 'sinew workspace': input, probe, cells, refine, ..")                                     \
    X(COMMANDS_ESTIMATE, "estimate", "options by name",                                            \
      "of 'sinew estimate': measured, noise, unknown, process, ..")                                \
    X(COMMANDS_FIT, "fit", "options by name",                                                      \
      "of 'sinew fit': data, find, error, bound, prior, ..; data is the list of measurements, or " \
      "a map of them by run")

enum { COMMANDS_KEYS(SNW_KEY_CODE) COMMANDS_N };
SNW_KEYS(commands, "commands", "options of commands", COMMANDS_KEYS);

snw_status snw_read_commands(snw_reader *r) {
    const snw_node *node = snw_node_get(r->root, "commands");
    const snw_entry *e[COMMANDS_N];
    if (!node) return SNW_OK;
    SNW_TRY(snw_read_map(r, node, &snw_keys_commands, e));
    for (int i = 0; i < COMMANDS_N; i++) {
        if (!e[i] || e[i]->value->kind == SNW_NODE_MAP) continue;
        return snw_fail_at(r->err, e[i]->value->location,
                           "'%s' has options by name, e.g. {of: end(tip.x)}; 'sinew help %s' lists "
                           "them",
                           e[i]->key, e[i]->key);
    }
    return SNW_OK;
}
