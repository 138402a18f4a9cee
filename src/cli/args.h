// SPDX-License-Identifier: MIT
//
// args.h: commands and their options as tables; parsing, help and documentation are written from
// them.
#pragma once

#include "cli/reply.h"

#include <stdbool.h>

typedef struct snw_option {
    const char *name;  // long name, without dashes; NULL ends a table
    char letter;       // short name, 0: none
    const char *value; // what it takes, for help, e.g. "FILE"; NULL: nothing
    bool repeats;      // may be given several times; otherwise the last one counts
    const char *help;  // what it does
} snw_option;

typedef struct snw_args snw_args;

typedef struct snw_command {
    const char *name;
    const char *operands; // as shown, e.g. "FILE..."
    int min_operands, max_operands;
    const char *brief;        // one line, no full stop
    const char *about;        // paragraphs, separated by an empty line
    const snw_option *option; // ends with SNW_OPTION_END
    const char *examples;     // one command a line, indented by nothing
    // Does it; returns the exit status.
    int (*run)(const snw_args *args, snw_reply *reply);
} snw_command;

// Options several commands have.
#define SNW_OPTION_RUN                                                                             \
    {                                                                                              \
        "run", 0, "NAME", true,                                                                    \
            "only this run; the name before the dot chooses all runs of an `each`. May be "        \
            "repeated"                                                                             \
    }
#define SNW_OPTION_SET                                                                             \
    {                                                                                              \
        "set", 0, "PATH=VALUE", true,                                                              \
            "override a value of the file, e.g. --set arm.rod.length='0.5 m'. May be repeated"     \
    }
#define SNW_OPTION_JSON                                                                            \
    { "json", 0, NULL, false, "print one JSON object, for programs" }
#define SNW_OPTION_END                                                                             \
    {"help", 'h', NULL, false, "print this text"}, { NULL, 0, NULL, false, NULL }

// All commands, in the order of the help; NULL ends.
extern const snw_command *const snw_commands[];
const snw_command *snw_command_find(const char *name); // NULL: there is none

// Always SNW_E_ARGUMENT: there is no command of that name, and which one may be meant.
snw_status snw_command_unknown(const char *name, snw_error *err);

// Read the arguments after the command's name. `argv` must outlive the result. SNW_E_ARGUMENT says
// what is wrong with them; the number of operands is not looked at when help is asked for.
SNW_NODISCARD snw_status snw_args_parse(const snw_command *command, int argc,
                                        const char *const *argv, snw_args **out, snw_error *err);
void snw_args_destroy(snw_args *a); // NULL is fine

int snw_args_operands(const snw_args *a);
const char *snw_args_operand(const snw_args *a, int i);

// Of an option that is in the command's table: was it given, its last value (NULL: not given), all
// values.
bool snw_args_has(const snw_args *a, const char *option);
const char *snw_args_value(const snw_args *a, const char *option);
int snw_args_values(const snw_args *a, const char *option, const char *const **values);
// *out <- its last value, a number within these bounds; unchanged when it was not given.
SNW_NODISCARD snw_status snw_args_number(const snw_args *a, const char *option, double low,
                                         double high, double *out, snw_error *err);
