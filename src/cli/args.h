// SPDX-License-Identifier: MIT
//
// args.h: tables of commands and their options, from which arguments are parsed and help and
// documentation are generated.
#pragma once

#include "cli/reply.h"

#include <stdbool.h>

typedef struct snw_option {
    const char *name;  // long name, without dashes; NULL ends a table
    char letter;       // short name, 0: none
    const char *value; // placeholder of its value in help, e.g. "FILE"; NULL: takes none
    bool repeats;      // may be given several times; otherwise the last one is used
    const char *help;  // description
} snw_option;

typedef struct snw_args snw_args;

typedef struct snw_command {
    const char *name;
    const char *operands; // as shown in help, e.g. "FILE..."
    int min_operands, max_operands;
    const char *brief;        // one line, no full stop
    const char *about;        // paragraphs, separated by an empty line
    const snw_option *option; // ends with SNW_OPTION_END
    const char *examples;     // one command per line, not indented
    // Execute the command; returns the exit status.
    int (*run)(const snw_args *args, snw_reply *reply);
    bool in_file; // the block `commands` of its first operand may have its options (args_file.h)
    const char *data; // there, the key of its further operands; NULL: it has none
} snw_command;

// Options shared by several commands.
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

// Last paragraph about a command that reads options from its file.
#define SNW_ABOUT_IN_FILE                                                                          \
    "\n\nThe block 'commands' of FILE may have these options; those of the command line replace "  \
    "them."

// All commands, in the order of the help, terminated by NULL.
extern const snw_command *const snw_commands[];
const snw_command *snw_command_find(const char *name); // NULL: unknown

// Report an unknown command with a suggestion. Always returns SNW_E_ARGUMENT.
snw_status snw_command_unknown(const char *name, snw_error *err);

// Parse the arguments after the name of the command. `argv` must outlive the result. Fails with
// SNW_E_ARGUMENT; the number of operands is not checked when --help is given, and that of `data` is
// not.
SNW_NODISCARD snw_status snw_args_parse(const snw_command *command, int argc,
                                        const char *const *argv, snw_args **out, snw_error *err);
void snw_args_destroy(snw_args *a); // NULL is fine

// Add a value of the option with this index in the table, with its place in a file
// (FILE:LINE:COLUMN), or an operand; all are copied. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_args_add(snw_args *a, int index, const char *value, const char *place,
                                      snw_error *err);
SNW_NODISCARD snw_status snw_args_add_operand(snw_args *a, const char *value, snw_error *err);
const snw_command *snw_args_command(const snw_args *a);
// SNW_E_ARGUMENT: fewer or more operands than the command has.
SNW_NODISCARD snw_status snw_args_check_operands(const snw_args *a, snw_error *err);

int snw_args_operands(const snw_args *a);
const char *snw_args_operand(const snw_args *a, int i);

// For an option in the table of the command: is it given; its last value, NULL when not given; all
// its values.
bool snw_args_has(const snw_args *a, const char *option);
const char *snw_args_value(const snw_args *a, const char *option);
int snw_args_values(const snw_args *a, const char *option, const char *const **values);
// Place of value i of the option in a file; NULL: it stands on the command line.
const char *snw_args_place(const snw_args *a, const char *option, int i);
// *out <- its last value, a number within these bounds; unchanged when the option is not given.
SNW_NODISCARD snw_status snw_args_number(const snw_args *a, const char *option, double low,
                                         double high, double *out, snw_error *err);
