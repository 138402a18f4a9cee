// SPDX-License-Identifier: MIT
//
// sinew schema: writes the JSON Schema of the model language, for editors.
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/schema.h"

static snw_status schema_write_to(snw_sink sink, snw_error *err) {
    snw_json json;
    snw_json_begin(&json, sink);
    snw_schema_write(&json);
    return snw_json_finish(&json, err);
}

static int schema_run(const snw_args *args, snw_reply *reply) {
    const char *path = snw_args_value(args, "output");
    snw_error err = {0};
    snw_status status = SNW_OK;
    if (path) {
        snw_output out;
        status = snw_output_open(path, &out, &err);
        if (status == SNW_OK) {
            status = schema_write_to(snw_output_sink(&out), &err);
            status = snw_output_close(&out, status, &err);
        }
    } else {
        status = schema_write_to(snw_sink_stream(stdout), &err);
        (void)putchar('\n');
    }
    if (status == SNW_OK) return SNW_EXIT_DONE;
    snw_reply_fail(reply, &err);
    return snw_reply_exit_work(status);
}

static const snw_option options[] = {
    {"output", 'o', "FILE", false, "output file (default: standard output)"}, SNW_OPTION_END};

const snw_command snw_cmd_schema = {
    .name = "schema",
    .operands = "",
    .brief = "write the JSON Schema of the model language, for editors",
    .about = "Writes a JSON Schema (draft 7) of model files from the tables that the parser itself "
             "uses. Editors that know such schemas complete keys and words, show their meaning, "
             "and mark unknown keys while a file is typed.\n\n"
             "In an editor with the YAML language server, such as VS Code with its YAML extension, "
             "the first line of a model names the schema: "
             "'# yaml-language-server: $schema=sinew.schema.json'. The folder editors/vscode is an "
             "extension that does so for files *.sinew.yaml.\n\n"
             "The schema knows keys, words and the kinds of values. 'sinew check' knows all else: "
             "units, names, and what fits together.",
    .option = options,
    .examples = "sinew schema -o sinew.schema.json",
    .run = schema_run,
};
