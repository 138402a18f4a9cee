// SPDX-License-Identifier: MIT
//
// Entry point of the command: dispatches to the subcommand, and checks that its output was written.
#include "base/fail.h"
#include "cli/args_file.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/stop.h"
#include "language/node.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const snw_command *const snw_commands[] = {&snw_cmd_run,
                                           &snw_cmd_verify,
                                           &snw_cmd_check,
                                           &snw_cmd_show,
                                           &snw_cmd_view,
                                           &snw_cmd_play,
                                           &snw_cmd_plot,
                                           &snw_cmd_export,
                                           &snw_cmd_sweep,
                                           &snw_cmd_fit,
                                           &snw_cmd_gradient,
                                           &snw_cmd_linearize,
                                           &snw_cmd_optimize,
                                           &snw_cmd_solve,
                                           &snw_cmd_workspace,
                                           &snw_cmd_track,
                                           &snw_cmd_estimate,
                                           &snw_cmd_reduce,
                                           &snw_cmd_new,
                                           &snw_cmd_import,
                                           &snw_cmd_schema,
                                           &snw_cmd_help,
                                           NULL};

const snw_command *snw_command_find(const char *name) {
    for (const snw_command *const *c = snw_commands; *c; c++) {
        if (!strcmp((*c)->name, name)) return *c;
    }
    return NULL;
}

snw_status snw_command_unknown(const char *name, snw_error *err) {
    const char *known[sizeof snw_commands / sizeof *snw_commands];
    int n = 0;
    for (; snw_commands[n]; n++) known[n] = snw_commands[n]->name;
    const char *near = snw_nearest(name, n, known);
    if (near) {
        return snw_fail(err, SNW_E_ARGUMENT, "unknown command '%s' (did you mean '%s'?)", name,
                        near);
    }
    return snw_fail(err, SNW_E_ARGUMENT, "unknown command '%s'; 'sinew help' lists the commands",
                    name);
}

// open closed standard streams, so that no file opened later gets descriptor 0, 1 or 2
static void open_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) {
            _exit(SNW_EXIT_FAILED);
        }
    }
}

#ifdef __has_feature // clang
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

// Limit memory to three quarters of that of the machine, so that a model that is too large fails
// with a message instead of the kernel killing processes. Not with sanitizers, which reserve much
// more memory than they use.
static void limit_memory(void) {
#if !defined(__SANITIZE_ADDRESS__) && !SANITIZED
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (pages <= 0 || size <= 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
    const rlim_t most = (rlim_t)pages / 4 * 3 * (rlim_t)size;
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= most) return;
    limit.rlim_cur = most;
    (void)setrlimit(RLIMIT_DATA, &limit);
#endif
}

// is --json given? Searched before parsing, since errors of arguments are reported as JSON too
static bool asks_json(int argc, const char *const *argv) {
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--json")) return true;
    }
    return false;
}

static int run_command(const snw_command *c, int argc, const char *const *argv, snw_reply *reply) {
    snw_args *args;
    snw_error err = {0};
    snw_status parsed = snw_args_parse(c, argc, argv, &args, &err);
    const bool help = parsed == SNW_OK && snw_args_has(args, "help");
    if (parsed == SNW_OK && !help) parsed = snw_args_read_file(args, &err);
    if (parsed != SNW_OK) {
        snw_reply_fail(reply, &err);
        snw_args_destroy(args);
        return snw_reply_exit_input(parsed);
    }
    int exit_status = SNW_EXIT_DONE;
    if (help) {
        if (reply->json) {
            snw_help_json(reply->json);
        } else {
            snw_help_command(c);
        }
    } else {
        exit_status = c->run(args, reply);
    }
    snw_args_destroy(args);
    return exit_status;
}

static int main_dispatch(int argc, const char *const *argv, snw_reply *reply) {
    if (!strcmp(argv[0], "--version")) {
        if (reply->json) {
            snw_version_json(reply->json);
        } else {
            snw_version_print();
        }
        return SNW_EXIT_DONE;
    }
    const bool help = !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h");
    const snw_command *c = help ? &snw_cmd_help : snw_command_find(argv[0]);
    if (!c) {
        snw_error err = {0};
        (void)snw_command_unknown(argv[0], &err);
        snw_reply_fail(reply, &err);
        return SNW_EXIT_USAGE;
    }
    return run_command(c, argc - 1, argv + 1, reply);
}

// the JSON object of a reply ends with the error and the exit status
static void end_json(snw_reply *reply, int exit_status) {
    snw_json *j = reply->json;
    while (j->depth > 1) snw_json_close(j);
    snw_reply_json_error(j, "error", &reply->error);
    snw_field_integer(j, "exit", exit_status);
    snw_json_close(j);
    snw_error err = {0};
    if (snw_json_finish(j, &err) != SNW_OK) snw_reply_unwritten(reply, &err);
}

static int main_answer(int argc, const char *const *argv) {
    snw_json json;
    snw_reply reply = {.json = asks_json(argc, argv) ? &json : NULL};
    if (reply.json) {
        snw_json_begin(&json, snw_sink_stream(stdout));
        snw_field_object(&json, NULL);
        snw_field_text(&json, "command", argv[0]);
    }
    const int exit_status = main_dispatch(argc, argv, &reply);
    if (reply.json) end_json(&reply, exit_status);
    if (!snw_reply_flush(&reply) && exit_status == SNW_EXIT_DONE) return SNW_EXIT_FAILED;
    return exit_status;
}

int main(int argc, char **argv) {
    open_standard_streams();
    limit_memory();
    snw_stop_install();
    if (argc < 2) {
        (void)fputs("usage: sinew COMMAND [options] ...; 'sinew help' lists the commands\n",
                    stderr);
        return SNW_EXIT_USAGE;
    }
    return main_answer(argc - 1, (const char *const *)(argv + 1));
}
