// SPDX-License-Identifier: MIT
//
// Parser of command-line arguments, from the tables of the commands.
#include "cli/args.h"

#include "base/fail.h"
#include "base/pool.h"
#include "language/node.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 32, POOL_LIMIT = 64 << 20 };

struct snw_args {
    snw_pool *pool;
    const snw_command *command;
    int noperand, operand_room;
    const char **operand;
    int nvalue[MAX_OPTIONS]; // number of times each option is given
    int room[MAX_OPTIONS];   // of value
    const char **value[MAX_OPTIONS];
    int nplace[MAX_OPTIONS], place_room[MAX_OPTIONS];
    const char **place[MAX_OPTIONS]; // in a file, of each value; none: on the command line
};

static int option_index(const snw_command *c, const char *name, size_t length) {
    for (int i = 0; c->option[i].name; i++) {
        SNW_ASSERT(i < MAX_OPTIONS);
        if (strlen(c->option[i].name) == length && !strncmp(c->option[i].name, name, length)) {
            return i;
        }
    }
    return -1;
}

static int letter_index(const snw_command *c, char letter) {
    for (int i = 0; c->option[i].name; i++) {
        if (c->option[i].letter == letter) return i;
    }
    return -1;
}

static snw_status unknown_option(const snw_args *a, const char *name, snw_error *err) {
    const char *known[MAX_OPTIONS];
    int n = 0;
    for (; a->command->option[n].name; n++) known[n] = a->command->option[n].name;
    const char *near = snw_nearest(name, n, known);
    if (near) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s: unknown option '--%s' (did you mean '--%s'?)",
                        a->command->name, name, near);
    }
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%s: unknown option '--%s'; 'sinew help %s' lists the options",
                    a->command->name, name, a->command->name);
}

// value of option `index`: the part attached in the same argument, else the next argument
static snw_status store_value(snw_args *a, int index, const char *shown, const char *attached,
                              int argc, const char *const *argv, int *next, snw_error *err) {
    const snw_option *o = &a->command->option[index];
    const char *value = attached;
    if (!o->value && attached) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s: option '%s' takes no value, got '%s'",
                        a->command->name, shown, attached);
    }
    if (o->value && !attached) {
        if (*next >= argc) {
            return snw_fail(err, SNW_E_ARGUMENT, "%s: option '%s' needs a value, %s",
                            a->command->name, shown, o->value);
        }
        value = argv[(*next)++];
    }
    a->value[index][a->nvalue[index]++] = value;
    return SNW_OK;
}

static snw_status parse_long(snw_args *a, const char *arg, int argc, const char *const *argv,
                             int *next, snw_error *err) {
    const char *name = arg + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    char *shown = snw_pool_text(a->pool, arg, length + 2);
    if (!shown) return snw_fail_memory(err);
    const int index = option_index(a->command, name, length);
    if (index < 0) return unknown_option(a, shown + 2, err);
    return store_value(a, index, shown, equals ? equals + 1 : NULL, argc, argv, next, err);
}

// short options: -q, -o FILE, -oFILE, and several flags in one argument, -qh
static snw_status parse_short(snw_args *a, const char *arg, int argc, const char *const *argv,
                              int *next, snw_error *err) {
    for (const char *c = arg + 1; *c; c++) {
        const int index = letter_index(a->command, *c);
        if (index < 0) {
            return snw_fail(err, SNW_E_ARGUMENT,
                            "%s: unknown option '-%c'; 'sinew help %s' lists the options",
                            a->command->name, *c, a->command->name);
        }
        const char shown[] = {'-', *c, 0};
        const bool takes = a->command->option[index].value;
        const char *attached = takes && c[1] ? c + 1 : NULL;
        SNW_TRY(store_value(a, index, shown, attached, argc, argv, next, err));
        if (takes) return SNW_OK;
    }
    return SNW_OK;
}

static snw_status check_operands(const snw_args *a, int least, snw_error *err) {
    const snw_command *c = a->command;
    if (a->noperand < least) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s: %s is missing; usage: sinew %s [options] %s",
                        c->name, c->operands, c->name, c->operands);
    }
    if (a->noperand > c->max_operands) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s: unexpected '%s'; usage: sinew %s [options] %s",
                        c->name, a->operand[c->max_operands], c->name, c->operands);
    }
    return SNW_OK;
}

snw_status snw_args_check_operands(const snw_args *a, snw_error *err) {
    return check_operands(a, a->command->min_operands, err);
}

static snw_status args_parse(snw_args *a, int argc, const char *const *argv, snw_error *err) {
    a->operand_room = argc + 1;
    a->operand = snw_pool_array(a->pool, (size_t)argc + 1, sizeof *a->operand);
    if (!a->operand) return snw_fail_memory(err);
    for (int i = 0; i == 0 || a->command->option[i - 1].name; i++) {
        a->room[i] = argc + 1;
        a->value[i] = snw_pool_array(a->pool, (size_t)argc + 1, sizeof *a->value[i]);
        if (!a->value[i]) return snw_fail_memory(err);
    }
    bool options = true;
    for (int next = 0; next < argc;) {
        const char *arg = argv[next++];
        if (!options || arg[0] != '-' || !arg[1]) {
            a->operand[a->noperand++] = arg;
        } else if (!strcmp(arg, "--")) {
            options = false;
        } else if (arg[1] == '-') {
            SNW_TRY(parse_long(a, arg, argc, argv, &next, err));
        } else {
            SNW_TRY(parse_short(a, arg, argc, argv, &next, err));
        }
    }
    if (snw_args_has(a, "help")) return SNW_OK;
    return check_operands(a, a->command->data ? 1 : a->command->min_operands, err);
}

snw_status snw_args_parse(const snw_command *command, int argc, const char *const *argv,
                          snw_args **out, snw_error *err) {
    *out = NULL;
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    if (!pool) return snw_fail_memory(err);
    snw_args *a = snw_pool_take(pool, sizeof *a);
    if (!a) {
        snw_pool_destroy(pool);
        return snw_fail_memory(err);
    }
    a->pool = pool;
    a->command = command;
    const snw_status status = args_parse(a, argc, argv, err);
    if (status != SNW_OK) {
        snw_pool_destroy(pool);
        return status;
    }
    *out = a;
    return SNW_OK;
}

void snw_args_destroy(snw_args *a) {
    if (a) snw_pool_destroy(a->pool);
}

// The list with a copy of one more text, in the pool.
static snw_status append(snw_pool *pool, const char *text, int *n, int *room, const char ***list,
                         snw_error *err) {
    const char *copy = snw_pool_text(pool, text, strlen(text));
    if (!copy) return snw_fail_memory(err);
    if (*n == *room) {
        const char **more = snw_pool_array(pool, 2 * (size_t)*room + 2, sizeof *more);
        if (!more) return snw_fail_memory(err);
        if (*n) memcpy(more, *list, (size_t)*n * sizeof *more);
        *room = 2 * *room + 2;
        *list = more;
    }
    (*list)[(*n)++] = copy;
    return SNW_OK;
}

snw_status snw_args_add(snw_args *a, int index, const char *value, const char *place,
                        snw_error *err) {
    SNW_TRY(append(a->pool, value, &a->nvalue[index], &a->room[index], &a->value[index], err));
    return append(a->pool, place, &a->nplace[index], &a->place_room[index], &a->place[index], err);
}

snw_status snw_args_add_operand(snw_args *a, const char *value, snw_error *err) {
    return append(a->pool, value, &a->noperand, &a->operand_room, &a->operand, err);
}

const snw_command *snw_args_command(const snw_args *a) { return a->command; }

int snw_args_operands(const snw_args *a) { return a->noperand; }

const char *snw_args_operand(const snw_args *a, int i) { return a->operand[i]; }

int snw_args_values(const snw_args *a, const char *option, const char *const **values) {
    const int index = option_index(a->command, option, strlen(option));
    SNW_ASSERT(index >= 0);
    if (values) *values = a->value[index];
    return a->nvalue[index];
}

bool snw_args_has(const snw_args *a, const char *option) {
    return snw_args_values(a, option, NULL) > 0;
}

const char *snw_args_place(const snw_args *a, const char *option, int i) {
    const int index = option_index(a->command, option, strlen(option));
    SNW_ASSERT(index >= 0);
    return i < a->nplace[index] ? a->place[index][i] : NULL;
}

const char *snw_args_value(const snw_args *a, const char *option) {
    const char *const *values;
    const int n = snw_args_values(a, option, &values);
    return n > 0 ? values[n - 1] : NULL;
}

snw_status snw_args_number(const snw_args *a, const char *option, double low, double high,
                           double *out, snw_error *err) {
    const char *text = snw_args_value(a, option);
    char *end;
    if (!text) return SNW_OK;
    const double x = strtod(text, &end);
    if (end == text || *end || !(x >= low && x <= high)) {
        return snw_fail(err, SNW_E_ARGUMENT, "--%s is a number from %.15g to %.15g, not '%s'",
                        option, low, high, text);
    }
    *out = x;
    return SNW_OK;
}
