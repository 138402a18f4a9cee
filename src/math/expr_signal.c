// SPDX-License-Identifier: MIT
//
// Signals in expressions: probes, and the memory functions integral, sampled and once.
#include "math/expr_parser.h"

#include "base/fail.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

const snw_signal_source *snw_parser_signals(const snw_parser *p) {
    const snw_scope *s = p->scope;
    while (s && !s->signals) s = s->outer;
    return s ? s->signals : NULL;
}

static snw_status make_signal(snw_parser *p, int slot, snw_quantity q, int at, snw_term *out) {
    SNW_TRY(snw_parser_spend(p));
    *out = (snw_term){.node = snw_expr_node_signal(p->pool, slot), .q = q, .at = at};
    return out->node ? SNW_OK : snw_parser_no_memory(p);
}

// ---- probes ------------------------------------------------------------------------------------

enum { NAME_MAX_BYTES = 200 };

// name <- `d(2)` from `d(k+1)`; *known is false when an index depends on an argument without a
// value
static snw_status read_indices(snw_parser *p, char *name, bool *known) {
    size_t used = strlen(name);
    char mark = '(';
    *known = true;
    for (bool more = true; more; mark = ',') {
        snw_term index = {0};
        long i = 0;
        SNW_TRY(snw_parse_argument(p, &index, &more));
        if (index.node->vars & SNW_VAR_ARG) {
            *known = false;
            continue;
        }
        SNW_TRY(snw_term_whole(p, &index, "an index", &i));
        const int wrote = snprintf(name + used, NAME_MAX_BYTES - used, "%c%ld", mark, i);
        used += (size_t)wrote;
        if (used + 2 > NAME_MAX_BYTES) return snw_parser_fail(p, index.at, "too many indices");
    }
    name[used++] = ')';
    name[used] = '\0';
    return SNW_OK;
}

// component <- `vx` of `.vx` after a name; "" when there is none
static void read_component(snw_parser *p, char *component, size_t size) {
    component[0] = '\0';
    if (*p->p != '.') return;
    const size_t length = snw_word_length(p->p + 1);
    if (length == 0 || length >= size) return;
    memcpy(component, p->p + 1, length);
    component[length] = '\0';
    p->p += 1 + length;
}

snw_status snw_parse_probe(snw_parser *p, size_t length, int at, const char *bracket, bool *found,
                           snw_term *out) {
    const snw_signal_source *source = snw_parser_signals(p);
    const char *before = p->p;
    *found = false;
    if (!source || length + 8 > NAME_MAX_BYTES) return SNW_OK;
    char name[NAME_MAX_BYTES], component[32], what[300];
    memcpy(name, p->text + at, length);
    name[length] = '\0';
    bool known = true;
    if (bracket) {
        // are there probes of this name with an index?
        bool family = false;
        for (int i = 0; !family && source->name(source->user, i); i++) {
            const char *probe = source->name(source->user, i);
            family = strncmp(probe, name, length) == 0 && probe[length] == '(';
        }
        if (!family) return SNW_OK;
        p->p = bracket + 1;
        SNW_TRY(read_indices(p, name, &known));
    }
    read_component(p, component, sizeof component);
    if (!known) {
        *found = true;
        *out = (snw_term){
            .node = snw_expr_node_variable(p->pool, SNW_OP_ARG), .q = snw_quantity_any(), .at = at};
        return out->node ? SNW_OK : snw_parser_no_memory(p);
    }
    int slot = -1;
    snw_dim dim = {0};
    snw_error why = {0};
    if (source->probe(source->user, name, component, &slot, &dim, &why) != SNW_OK) {
        return snw_parser_fail(p, at, "%.300s", why.text);
    }
    if (slot < 0 && bracket) return snw_parser_fail(p, at, "there is no probe '%.100s'", name);
    if (slot < 0) {
        p->p = before;
        return SNW_OK;
    }
    *found = true;
    (void)snprintf(what, sizeof what, "probe '%s'", name);
    SNW_TRY(snw_check_vars(p, at, SNW_VAR_SIGNAL, what));
    const snw_quantity q = source->strict ? snw_quantity_of(dim) : snw_quantity_signal(dim);
    return make_signal(p, slot, q, at, out);
}

// ---- memory ------------------------------------------------------------------------------------

// check the dimension of the argument; out->q <- that of the result
static snw_status memory_quantity(const snw_parser *p, snw_memory kind, const snw_term *arg,
                                  snw_term *out) {
    switch (kind) {
    case SNW_MEMORY_INTEGRAL:
        SNW_TRY(snw_want_value(p, arg));
        out->q = snw_quantity_times(arg->q, snw_quantity_var(SNW_VAR_T), 1);
        break;
    case SNW_MEMORY_SAMPLED:
        out->q = arg->q;
        break;
    case SNW_MEMORY_ONCE:
        SNW_TRY(snw_want_condition(p, arg));
        out->q = snw_quantity_truth();
        break;
    }
    return SNW_OK;
}

static snw_status read_period(const snw_parser *p, const snw_term *period, double *out) {
    const snw_dim second = {.s = 1};
    SNW_TRY(snw_want_value(p, period));
    if (!snw_quantity_fits(period->q, second)) {
        return snw_parser_fail(p, period->at, "a period is wanted here, e.g. 10 ms");
    }
    *out = period->node->value;
    // shorter periods are lost in the rounding of t
    if (snw_expr_node_is_constant(period->node) && *out >= 1e-9 && *out <= DBL_MAX) return SNW_OK;
    return snw_parser_fail(p, period->at, "a period must be constant and at least 1 ns");
}

snw_status snw_make_memory(snw_parser *p, snw_memory kind, int at, const snw_term *arg,
                           snw_term *out) {
    static const char *const words[] = {"integral", "sampled", "once"};
    const snw_signal_source *source = snw_parser_signals(p);
    *out = (snw_term){.at = at};
    SNW_TRY(memory_quantity(p, kind, &arg[0], out));
    if ((arg[0].node->vars | (arg[1].node ? arg[1].node->vars : 0)) & SNW_VAR_ARG) {
        out->node = snw_expr_node_variable(p->pool, SNW_OP_ARG);
        return out->node ? SNW_OK : snw_parser_no_memory(p);
    }
    if (!source) return snw_parser_fail(p, at, "%s(..) cannot be used here", words[kind]);
    if (arg[0].node->vars & (SNW_VAR_X | SNW_VAR_L)) {
        return snw_parser_fail(p, arg[0].at, "%s(..) is one number, it cannot depend on x or L",
                               words[kind]);
    }
    double period = 0;
    if (kind == SNW_MEMORY_SAMPLED) SNW_TRY(read_period(p, &arg[1], &period));
    const snw_expr *law = NULL;
    const size_t length = (size_t)(p->p - (p->text + at));
    const char *text = snw_pool_text(p->pool, p->text + at, length);
    if (!text) return snw_parser_no_memory(p);
    SNW_TRY(snw_expr_node_program(p->pool, arg[0].node, snw_parser_location(p, at), &law, p->err));
    int slot = -1;
    snw_error why = {0};
    if (source->memory(source->user, kind, text, law, period, &slot, &why) != SNW_OK) {
        return snw_parser_fail(p, at, "%.300s", why.text);
    }
    char what[64];
    (void)snprintf(what, sizeof what, "%s(..)", words[kind]);
    SNW_TRY(snw_check_vars(p, at, SNW_VAR_SIGNAL, what));
    return make_signal(p, slot, out->q, at, out);
}
