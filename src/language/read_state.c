// SPDX-License-Identifier: MIT
//
// Reads states: numbers with an initial value and a rate that reads probes and states.
#include "language/read.h"

#include "base/fail.h"
#include "language/signals.h"

#define STATE_KEYS(X)                                                                              \
    X(STATE_INITIAL, "initial", "a constant", "value at the start, required; it has the unit")     \
    X(STATE_RATE, "rate", "per second, law of t, probes and states",                               \
      "its derivative by time, required; it may read the state itself")

enum { STATE_KEYS(SNW_KEY_CODE) STATE_N };
SNW_KEYS(state, "state", "a state", STATE_KEYS);

static snw_status read_state(snw_reader *r, const snw_entry *entry) {
    const snw_entry *e[STATE_N];
    snw_signals *signals = r->signals;
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_state, e));
    SNW_TRY(snw_check_name(r, entry->key, entry->location));
    if (snw_names_find(&r->probes, entry->key))
        return snw_fail_at(r->err, entry->location, "'%s' is already the name of a probe",
                           entry->key);
    for (int i = 0; i < STATE_N; i++) {
        if (!e[i])
            return snw_fail_at(r->err, entry->location, "state '%s' needs '%s', %s", entry->key,
                               snw_keys_state.key[i].name, snw_keys_state.key[i].meaning);
    }
    const char *text;
    int slot = -1;
    double initial = 0;
    snw_dim dim;
    SNW_TRY(snw_read_text(r, e[STATE_INITIAL]->value, "initial", &text));
    SNW_TRY(snw_signals_state(signals, entry->key, &slot, &initial, &dim, r->err));
    dim.s--;
    snw_law rate;
    SNW_TRY(snw_read_law(r, e[STATE_RATE]->value, "rate", dim, SNW_VAR_T | SNW_VAR_SIGNAL, &rate));
    for (int i = 0; i < signals->n; i++) {
        if (signals->slot[i].kind == SNW_SIGNAL_INTEGRAL && snw_expr_reads(rate, i))
            return snw_fail_at(r->err, e[STATE_RATE]->location,
                               "the rate of state '%s' reads '%.60s'; make that a state as well",
                               entry->key, signals->text[i]);
    }
    signals->use[slot] = (snw_signal_use){.source = rate, .initial = initial};
    return SNW_OK;
}

snw_status snw_read_states(snw_reader *r) {
    const snw_node *node;
    int n;
    SNW_TRY(snw_read_section_entries(r, "states", &node, &n));
    if (n > SNW_STATES_MAX)
        return snw_fail_at(r->err, node->location, "there are %d states, at most %d are possible",
                           n, SNW_STATES_MAX);
    for (int i = 0; i < n; i++) SNW_TRY(read_state(r, &node->entry[i]));
    return SNW_OK;
}
