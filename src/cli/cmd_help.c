// SPDX-License-Identifier: MIT
#include "cli/commands.h"
#include "cli/help.h"

static int run(const snw_args *args, snw_reply *reply) {
    const snw_command *c = NULL;
    if (snw_args_operands(args) > 0) {
        const char *name = snw_args_operand(args, 0);
        c = snw_command_find(name);
        if (!c) {
            snw_error err = {0};
            (void)snw_command_unknown(name, &err);
            snw_reply_fail(reply, &err);
            return SNW_EXIT_USAGE;
        }
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
    {"json", 0, NULL, false, "print the help of all commands as one JSON object"}, SNW_OPTION_END};

const snw_command snw_cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .brief = "what the commands do",
    .about = "Lists the commands, or says what one of them does and which options it has.",
    .option = options,
    .examples = "sinew help run",
    .run = run,
};
