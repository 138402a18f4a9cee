// SPDX-License-Identifier: MIT
//
// sinew play: simulates a model in real time and serves it to a browser on this machine.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/play.h"
#include "cli/play_socket.h"
#include "cli/stop.h"
#include "language/text.h"

#include <stdlib.h>
#include <string.h>

// Objects of a live simulation.
typedef struct session {
    snw_document *document;
    snw_desc *desc;
    snw_live *live;
    snw_play *play;
    snw_reply *reply;
    const char *path;
    snw_pool *pool;
} session;

static void play_pass_warning(void *user, const char *message) {
    const session *s = user;
    snw_reply_warn(s->reply, s->path, message);
}

static snw_status play_find_run(const snw_document *d, const char *name, int *out, snw_error *err) {
    *out = 0;
    if (!name) return SNW_OK;
    for (*out = 0; *out < snw_document_runs(d); ++*out) {
        if (strcmp(snw_document_run_name(d, *out), name) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s'; the first is '%s'", name,
                    snw_document_run_name(d, 0));
}

// Read the numbers of a state, separated by white space.
static snw_status play_read_state(session *s, const char *path, snw_live_opts *how,
                                  snw_error *err) {
    const char *text;
    size_t length;
    if (!path) return SNW_OK;
    s->pool = snw_pool_create(8 * (size_t)SNW_TEXT_FILE_MAX);
    if (!s->pool) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    SNW_TRY(snw_text_read(s->pool, path, SNW_TEXT_FILE_MAX, &text, &length, err));
    // a number and the space before the next one take two characters at least
    double *state = snw_pool_array(s->pool, length / 2 + 1, sizeof *state);
    if (!state) return snw_fail(err, SNW_E_MEMORY, "out of memory");
    for (char *end;; text = end) {
        text += strspn(text, " \t\r\n");
        if (!*text) break;
        state[how->nstate] = strtod(text, &end);
        if (end == text) {
            const snw_status status = snw_fail(err, SNW_E_PARSE, "'%.20s' is no number", text);
            (void)snprintf(err->file, sizeof err->file, "%s", path);
            return status;
        }
        how->nstate++;
    }
    how->state = state;
    return SNW_OK;
}

static snw_status open_session(session *s, const snw_args *args, snw_play_opts *opts,
                               snw_error *err) {
    const snw_run_hooks hooks = {.user = s, .stop = snw_stop_hook, .warn = play_pass_warning};
    snw_live_opts how = {0};
    SNW_TRY(snw_args_number(args, "step", 1e-6, 1, &how.step, err));
    SNW_TRY(play_read_state(s, snw_args_value(args, "state"), &how, err));
    opts->nset = snw_args_values(args, "set", &opts->set);
    snw_stop_defer();
    SNW_TRY(snw_document_read(s->path, opts->nset, opts->set, &s->document, err));
    SNW_TRY(play_find_run(s->document, snw_args_value(args, "run"), &opts->run_index, err));
    SNW_TRY(snw_document_describe(s->document, opts->run_index, &s->desc, err));
    opts->path = s->path;
    opts->title = s->desc->title ? s->desc->title : "";
    opts->run = snw_document_run_name(s->document, opts->run_index);
    opts->output = snw_args_value(args, "output");
    opts->paused = snw_args_has(args, "paused");
    SNW_TRY(snw_stop_check(err));
    SNW_TRY(snw_live_create(s->desc, opts->run, &how, &hooks, &s->live, err));
    return snw_play_create(s->document, s->desc, s->live, opts, &s->play, err);
}

static snw_status close_session(session *s, snw_error *err) {
    const snw_status status = snw_play_close(s->play, err);
    snw_live_destroy(s->live);
    snw_desc_destroy(s->desc);
    snw_document_destroy(s->document);
    snw_pool_destroy(s->pool);
    return status;
}

static snw_status serve(session *s, const snw_args *args, const snw_viewer_pieces *page,
                        snw_error *err) {
    double port = 0;
    snw_socket *socket;
    SNW_TRY(snw_args_number(args, "port", 0, 65535, &port, err));
    SNW_TRY(snw_socket_open(s->play, page, (int)port, snw_args_has(args, "embed"), &socket, err));
    const char *address = snw_socket_address(socket);
    printf("%s is simulated live at\n  %s\nCtrl-C ends it\n", s->path, address);
    (void)fflush(stdout);
    if (snw_args_has(args, "open") && !snw_viewer_show(address, false)) {
        snw_reply_warn(s->reply, s->path, "no browser could be started");
    }
    snw_socket_serve(socket, snw_stop_asked);
    snw_socket_close(socket);
    return SNW_OK;
}

static void play_print_totals(const session *s) {
    const snw_play_totals t = snw_play_count(s->play);
    printf("%ld frames, %ld steps", t.frames, t.steps);
    if (t.steps > 0) printf(" of %.3g ms each", 1e3 * t.stepping / (double)t.steps);
    if (t.recordings > 0) printf(", %d recording%s", t.recordings, t.recordings > 1 ? "s" : "");
    printf("\n");
}

static int play_run(const snw_args *args, snw_reply *reply) {
    session s = {.reply = reply, .path = snw_args_operand(args, 0)};
    snw_play_opts opts = {0};
    snw_error err = {0};
    snw_viewer_pieces page;
    snw_status status = snw_socket_check(&err);
    if (status == SNW_OK && !snw_viewer_split(&page)) {
        status = snw_fail(&err, SNW_E_IO, "this sinew was built without its viewer: %s",
                          snw_viewer_missing);
    }
    if (status != SNW_OK) {
        snw_reply_fail(reply, &err);
        return SNW_EXIT_FAILED;
    }
    status = open_session(&s, args, &opts, &err);
    int exit_status = snw_reply_exit_input(status);
    if (status == SNW_OK) {
        status = serve(&s, args, &page, &err);
        exit_status = status == SNW_E_ARGUMENT ? SNW_EXIT_USAGE
                      : status == SNW_OK       ? SNW_EXIT_DONE
                                               : SNW_EXIT_FAILED;
        if (status == SNW_OK) play_print_totals(&s);
    }
    if (status != SNW_OK) {
        if (!err.file[0]) (void)snprintf(err.file, sizeof err.file, "%s", s.path);
        snw_reply_fail(reply, &err);
    }
    snw_error last = {0};
    if (close_session(&s, &last) != SNW_OK) {
        snw_reply_fail(reply, &last);
        exit_status = SNW_EXIT_FAILED;
    }
    return exit_status;
}

static const snw_option options[] = {
    {"open", 0, NULL, false, "show the page in a browser"},
    {"embed", 0, NULL, false,
     "let pages that this machine serves, such as a notebook, show the page in a frame"},
    {"paused", 0, NULL, false,
     "begin at rest on the clock: the page, or a controller that advances it, moves the robot"},
    {"port", 0, "N", false, "port of 127.0.0.1 to listen on (default: a free one)"},
    {"output", 'o', "OUT.h5", false,
     "file for recordings, the second one goes to OUT-2.h5 (default: FILE's name with .play.h5 in "
     "the current folder)"},
    {"step", 0, "SECONDS", false,
     "longest time step, at most 1/60 s (default: that of the study's first dynamic step)"},
    {"state", 0, "FILE", false,
     "begin from this state instead of running the study: the numbers t, q and v, separated by "
     "white space"},
    {"run", 0, "NAME", false, "the run of the file to simulate (default: the first)"},
    SNW_OPTION_SET,
    SNW_OPTION_END};

const snw_command snw_cmd_play = {
    .name = "play",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "simulate a model live, in a browser on this machine",
    .about =
        "Runs the study up to its first dynamic step and continues from there in real time, with "
        "the scheme of that step. A page shows the robot, with a slider for every actuator and for "
        "every parameter under 'live:'. The user can pull at the robot with the mouse, pause, "
        "advance step by step, reset and record the motion to a result file.\n\n"
        "Actuators follow their sliders smoothly, within some hundredths of a second, so that a "
        "jump of a slider causes no impact; a parameter changes the model between two steps, as a "
        "'change:' of a study does. The mouse acts through a spring and a damper that are part of "
        "the equations, at the point that is dragged. If a model is too slow for real time, the "
        "page shows the ratio and the clock is slowed down: steps are never made longer.\n\n"
        "The server accepts connections from this machine only, 127.0.0.1, and the address has a "
        "secret of 32 digits. The first window controls the robot, others only show it; when it is "
        "closed, the next one takes over. Ctrl-C ends the simulation and any recording.",
    .option = options,
    .examples = "sinew play examples/tendon/till_arm.yaml --open\n"
                "sinew play arm.yaml --set rubber.young='1 MPa' -o pulled.h5",
    .run = play_run,
};
