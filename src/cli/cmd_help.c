// SPDX-License-Identifier: MIT
//
// sinew help: help on commands and on the model language.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/help_language.h"

#include <string.h>

enum { MOST_PARTS = 16 }; // parts of the language in one call

static int help_refuse(const snw_error *err, snw_reply *reply) {
    snw_reply_fail(reply, err);
    return SNW_EXIT_USAGE;
}

static int help_run(const snw_args *args, snw_reply *reply) {
    const int n = snw_args_operands(args);
    const char *name = n > 0 ? snw_args_operand(args, 0) : NULL;
    if (name && strcmp(name, "language") == 0) {
        const char *part[MOST_PARTS];
        for (int i = 1; i < n; i++) part[i - 1] = snw_args_operand(args, i);
        return snw_help_language(n - 1, part, reply);
    }
    const snw_command *c = name ? snw_command_find(name) : NULL;
    snw_error err = {0};
    if (name && !c) {
        (void)snw_command_unknown(name, &err);
        return help_refuse(&err, reply);
    }
    if (n > 1) {
        (void)snw_fail(&err, SNW_E_ARGUMENT, "help: unexpected '%s'; name one command",
                       snw_args_operand(args, 1));
        return help_refuse(&err, reply);
    }
    if (reply->json) {
        snw_help_json(reply->json);
    } else if (c) {
        snw_help_command(c);
    } else {
        snw_help_overview();
    }
    return SNW_EXIT_DONE;
}

static const snw_option options[] = {
    {"json", 0, NULL, false,
     "print the help of all commands, or of the language, as one JSON object"},
    SNW_OPTION_END};

const snw_command snw_cmd_help = {
    .name = "help",
    .operands = "[COMMAND | language [PART... | WORD...]]",
    .max_operands = 1 + MOST_PARTS,
    .brief = "describe the commands, or the keys and words of a model file",
    .about = "Lists the commands, or describes one of them and its options.\n\n"
             "'sinew help language' lists the keys and words of a model file, from the tables that "
             "the parser itself uses: the keys of every map, bases, quantities of probes, "
             "functions and units. Name parts to see only those. Any other words are searched: "
             "in subjects of the field, with the keys and commands that serve them, in the names "
             "of keys and in their descriptions.",
    .option = options,
    .examples = "sinew help run\nsinew help language\nsinew help language rod section units\n"
                "sinew help language gravity\nsinew help language inverse kinematics",
    .run = help_run,
};
