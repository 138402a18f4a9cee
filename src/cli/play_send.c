// SPDX-License-Identifier: MIT
//
// Messages to the clients of a live simulation: a greeting with the model, the state, notes, and
// frames.
//
// A frame is a head of 40 bytes followed by numbers in single precision, both in the byte order of
// the machine, on which the page runs too:
//   head: double t; float speed, step; uint32 flags, serial; int32 node; float pulled (0 or 1),
//   wanted, and one unused
//   numbers: pose (7 per node: x y z qw qx qy qz), load, loop, contact (6 each), effort, present,
//   field (3 per point), columns, energy, controls, pulled point (3) and position of the mouse (3)
#include "cli/play_private.h"

#include "output/json_field.h"
#include "output/page.h"
#include "sinew/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- JSON messages -----------------------------------------------------------------------------

// JSON message written to a memory stream.
typedef struct message {
    FILE *stream;
    snw_json json;
} message;

static bool message_begin(message *k, char **text, size_t *size, const char *type) {
    free(*text);
    *text = NULL;
    k->stream = open_memstream(text, size);
    if (!k->stream) return false;
    snw_json_begin(&k->json, snw_sink_stream(k->stream));
    snw_field_object(&k->json, NULL);
    snw_field_text(&k->json, "type", type);
    return true;
}

static const char *message_end(message *k, char **text, const size_t *size, size_t *out) {
    snw_json_close(&k->json);
    const bool good = snw_json_finish(&k->json, NULL) == SNW_OK;
    if (fclose(k->stream) != 0 || !good) return NULL;
    *out = *size;
    return *text;
}

static void put_controls(snw_json *j, const snw_play *p) {
    snw_field_list(j, "controls");
    for (int i = 0; i < snw_live_controls(p->live); i++) {
        const snw_control *c = snw_live_control(p->live, i);
        snw_field_object(j, NULL);
        snw_field_text(j, "name", c->name);
        snw_field_text(j, "unit", c->unit);
        snw_field_number(j, "low", c->low);
        snw_field_number(j, "high", c->high);
        snw_field_bool(j, "guessed", c->guessed);
        snw_field_bool(j, "parameter", c->actuator < 0);
        snw_field_number(j, "value", snw_live_value(p->live, i));
        snw_json_close(j);
    }
    snw_json_close(j);
}

const char *snw_play_hello(snw_play *p, size_t *size) {
    message k;
    const snw_run_info *info = snw_live_describe(p->live);
    if (!message_begin(&k, &p->hello, &p->hello_size, "hello")) return NULL;
    snw_json *j = &k.json;
    const char *slash = strrchr(p->opts.path, '/');
    snw_field_text(j, "file", slash ? slash + 1 : p->opts.path);
    snw_field_text(j, "title", p->opts.title);
    snw_field_text(j, "run", p->opts.run);
    snw_field_text(j, "version", SNW_VERSION);
    snw_field_text(j, "model", p->text);
    snw_field_number(j, "step", snw_live_step_length(p->live));
    snw_field_integer(j, "rate", SNW_PLAY_RATE);
    snw_field_integer(j, "freedom", info->freedom);
    snw_page_run(j, info);
    put_controls(j, p);
    snw_field_text(j, "scene", p->scene);
    return message_end(&k, &p->hello, &p->hello_size, size);
}

const char *snw_play_state(snw_play *p, int client, size_t *size) {
    message k;
    int clients = 0;
    for (int i = 0; i < SNW_PLAY_CLIENTS; i++) clients += p->client[i].connected;
    if (!message_begin(&k, &p->message, &p->message_size, "state")) return NULL;
    snw_json *j = &k.json;
    snw_field_bool(j, "writer", client == p->writer);
    snw_field_integer(j, "clients", clients);
    snw_field_bool(j, "paused", p->paused);
    snw_field_bool(j, "failed", p->failed);
    snw_field_number(j, "speed", p->wanted);
    snw_field_text(j, "recording", p->record.file ? p->record.path : NULL);
    snw_field_list(j, "wanted");
    for (int i = 0; i < snw_live_controls(p->live); i++) {
        snw_json_number(j, snw_live_control(p->live, i)->wanted); // NaN becomes null
    }
    snw_json_close(j);
    return message_end(&k, &p->message, &p->message_size, size);
}

const char *snw_play_note(snw_play *p, int client, size_t *size) {
    message k;
    if (!message_begin(&k, &p->message, &p->message_size, "note")) return NULL;
    snw_field_text(&k.json, "words", p->client[client].note);
    return message_end(&k, &p->message, &p->message_size, size);
}

const char *snw_play_sample(snw_play *p, size_t *size) {
    message k;
    if (!message_begin(&k, &p->message, &p->message_size, "sample")) return NULL;
    snw_json *j = &k.json;
    snw_field_number(j, "t", snw_live_time(p->live));
    snw_field_numbers(j, "columns", snw_live_describe(p->live)->ncolumn, p->column);
    snw_field_list(j, "controls");
    for (int i = 0; i < snw_live_controls(p->live); i++)
        snw_json_number(j, snw_live_value(p->live, i));
    snw_json_close(j);
    snw_field_bool(j, "failed", p->failed);
    return message_end(&k, &p->message, &p->message_size, size);
}

// ---- frames ------------------------------------------------------------------------------------

typedef struct head {
    double t;
    float speed, step; // multiple of real time; computing time of a step, s
    uint32_t flags, serial;
    int32_t node; // pulled by the mouse, -1: none
    float pulled, wanted, room;
} head;

enum { PAUSED = 1, RECORDING = 2, FAILED = 4 };

size_t snw_play_frame_size(const snw_play *p) {
    const snw_run_info *i = snw_live_describe(p->live);
    const size_t n = 7 * (size_t)i->nnode + 6 * (size_t)(i->nload + i->nloop + i->ncontact) +
                     (size_t)(i->ntendon + i->ncondition + i->ncolumn) +
                     3 * (size_t)i->nforce_field_point + SNW_ENERGIES +
                     (size_t)snw_live_controls(p->live) + 6;
    return sizeof(head) + n * sizeof(float);
}

static float *put_numbers(float *to, size_t n, const double *from) {
    for (size_t i = 0; i < n; i++) *to++ = (float)from[i];
    return to;
}

static float *put_pose(float *to, const snw_se3 *g) {
    double pose[SNW_RESULT_POSE_WIDTH];
    snw_frame_pose(g, pose);
    return put_numbers(to, SNW_RESULT_POSE_WIDTH, pose);
}

static snw_status write_frame(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    snw_play *p = user;
    const snw_run_info *i = snw_live_describe(p->live);
    double point[3] = {0}, target[3] = {0};
    int node = -1;
    const bool pulled = snw_live_pulled(p->live, &node, point, target);
    const head h = {.t = f->t,
                    .speed = (float)p->ratio,
                    .step = (float)p->step_time,
                    .flags = (p->paused ? PAUSED : 0u) | (p->record.file ? RECORDING : 0u) |
                             (p->failed ? FAILED : 0u),
                    .serial = (uint32_t)++p->frame,
                    .node = node,
                    .pulled = pulled,
                    .wanted = (float)p->wanted};
    memcpy(p->bytes, &h, sizeof h);
    float *to = (float *)(void *)(p->bytes + sizeof h);
    for (int k = 0; k < i->nnode; k++) to = put_pose(to, &f->pose[k]);
    to = put_numbers(to, 6 * (size_t)i->nload, f->load);
    to = put_numbers(to, 6 * (size_t)i->nloop, f->loop);
    to = put_numbers(to, 6 * (size_t)i->ncontact, f->contact);
    to = put_numbers(to, (size_t)i->ntendon, f->effort);
    to = put_numbers(to, (size_t)i->ncondition, f->present);
    to = put_numbers(to, 3 * (size_t)i->nforce_field_point, f->field);
    to = put_numbers(to, (size_t)i->ncolumn, f->column);
    if (i->ncolumn > 0) memcpy(p->column, f->column, (size_t)i->ncolumn * sizeof *p->column);
    double energy[SNW_ENERGIES];
    memcpy(energy, &f->energy, sizeof energy);
    to = put_numbers(to, SNW_ENERGIES, energy);
    for (int k = 0; k < snw_live_controls(p->live); k++) {
        *to++ = (float)snw_live_value(p->live, k);
    }
    to = put_numbers(to, 3, point);
    (void)put_numbers(to, 3, target);
    return SNW_OK;
}

snw_status snw_play_make_frame(snw_play *p, snw_error *err) {
    const snw_recorder r = {.user = p, .frame = write_frame};
    return snw_live_frame(p->live, &r, err);
}
