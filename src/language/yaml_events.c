// SPDX-License-Identifier: MIT
//
// Events of libfyaml. Only events are used: the library then keeps no document, follows no alias
// and does not recurse.
#include "language/yaml_events.h"

#include "base/fail.h"

#include <string.h>

#include <libfyaml.h>

struct snw_yaml_events {
    snw_pool *pool;
    const char *file;
    struct fy_diag *diag;
    struct fy_parser *parser;
    struct fy_event *event; // current event
};

static snw_status events_no_memory(const snw_yaml_events *e, snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "no memory left to read '%s'", e->file);
}

// report the first error that libfyaml collected
static snw_status parser_error(const snw_yaml_events *e, snw_source_location last,
                               snw_source_location open, snw_error *err) {
    void *state = NULL;
    const struct fy_diag_error *d;
    while ((d = fy_diag_errors_iterate(e->diag, &state))) {
        if (d->type != FYET_ERROR || !d->msg) continue;
        const snw_source_location at = {.file = e->file, .line = d->line, .column = d->column};
        // for an unclosed bracket, report where it was opened, not the end of the file
        if (strstr(d->msg, "without a closing") && open.file) {
            return snw_fail_at(err, open, "%s", d->msg);
        }
        return snw_fail_at(err, at.line > 0 ? at : last, "%s", d->msg);
    }
    return snw_fail_at(err, last, "text is not valid YAML");
}

// text of a token, joined from its chunks: fy_token_get_text leaks memory for nested quotes
static snw_status token_text(const snw_yaml_events *e, struct fy_token *token, const char **out,
                             size_t *length, snw_error *err) {
    *out = NULL;
    *length = 0;
    if (!token) return SNW_OK;
    struct fy_token_iter *it = fy_token_iter_create(token);
    if (!it) return events_no_memory(e, err);
    int status = 0;
    size_t used = 0, room = 0;
    char *text = NULL;
    const struct fy_iter_chunk *chunk = NULL;
    while ((chunk = fy_token_iter_chunk_next(it, chunk, &status))) {
        if (used + chunk->len >= room) {
            room = 2 * room + chunk->len + 16;
            char *wide = snw_pool_take(e->pool, room);
            if (!wide) break;
            if (used) memcpy(wide, text, used);
            text = wide;
        }
        memcpy(text + used, chunk->str, chunk->len);
        used += chunk->len;
    }
    fy_token_iter_destroy(it);
    if (chunk || status < 0) return events_no_memory(e, err);
    if (!text) text = snw_pool_take(e->pool, 1);
    if (!text) return events_no_memory(e, err);
    text[used] = '\0';
    *out = text;
    *length = used;
    return SNW_OK;
}

static snw_yaml_kind kind_of(const struct fy_event *event) {
    switch (event->type) {
    case FYET_STREAM_END:
        return SNW_YAML_STREAM_END;
    case FYET_DOCUMENT_END:
        return SNW_YAML_DOCUMENT_END;
    case FYET_SCALAR:
        return SNW_YAML_SCALAR;
    case FYET_ALIAS:
        return SNW_YAML_ALIAS;
    case FYET_SEQUENCE_START:
        return SNW_YAML_LIST_START;
    case FYET_SEQUENCE_END:
        return SNW_YAML_LIST_END;
    case FYET_MAPPING_START:
        return SNW_YAML_MAP_START;
    case FYET_MAPPING_END:
        return SNW_YAML_MAP_END;
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_DOCUMENT_START:
        break;
    }
    return SNW_YAML_DOCUMENT_START;
}

static snw_status fill_event(const snw_yaml_events *e, snw_yaml_event *out, snw_error *err) {
    struct fy_event *event = e->event;
    size_t ignored;
    *out = (snw_yaml_event){.kind = kind_of(event)};
    const struct fy_mark *mark = fy_event_start_mark(event);
    if (mark) {
        out->line = mark->line + 1;
        out->column = mark->column + 1;
    }
    if (out->kind == SNW_YAML_SCALAR) {
        struct fy_token *token = event->scalar.value;
        const enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
        out->quoted = style != FYSS_PLAIN;
        // the mark of libfyaml is after the opening quote
        if (mark && (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)) out->column--;
        SNW_TRY(token_text(e, token, &out->text, &out->length, err));
    }
    if (out->kind == SNW_YAML_ALIAS) {
        return token_text(e, event->alias.anchor, &out->text, &out->length, err);
    }
    if (out->kind == SNW_YAML_LIST_START || out->kind == SNW_YAML_MAP_START) {
        out->flow = fy_event_get_node_style(event) == FYNS_FLOW;
    } else if (out->kind != SNW_YAML_SCALAR) {
        return SNW_OK;
    }
    SNW_TRY(token_text(e, fy_event_get_anchor_token(event), &out->anchor, &ignored, err));
    return token_text(e, fy_event_get_tag_token(event), &out->tag, &ignored, err);
}

snw_status snw_yaml_events_next(snw_yaml_events *e, snw_source_location last,
                                snw_source_location open, snw_yaml_event *out, snw_error *err) {
    do {
        if (e->event) fy_parser_event_free(e->parser, e->event);
        e->event = fy_parser_parse(e->parser);
        if (!e->event) return parser_error(e, last, open, err);
    } while (e->event->type == FYET_STREAM_START);
    return fill_event(e, out, err);
}

snw_status snw_yaml_events_open(snw_pool *pool, const char *file, const char *text, size_t length,
                                snw_yaml_events **out, snw_error *err) {
    snw_yaml_events *e = *out = snw_pool_take(pool, sizeof *e);
    if (!e) return snw_fail(err, SNW_E_MEMORY, "no memory left to read '%s'", file);
    e->pool = pool;
    e->file = file;
    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    e->diag = fy_diag_create(&quiet);
    if (!e->diag) return events_no_memory(e, err);
    fy_diag_set_collect_errors(e->diag, true);
    const struct fy_parse_cfg cfg = {
        .flags = (enum fy_parse_cfg_flags)(FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE),
        .diag = e->diag,
    };
    e->parser = fy_parser_create(&cfg);
    if (!e->parser || fy_parser_set_string(e->parser, text, length) != 0) {
        return events_no_memory(e, err);
    }
    return SNW_OK;
}

void snw_yaml_events_close(snw_yaml_events *e) {
    if (!e) return;
    if (e->event) fy_parser_event_free(e->parser, e->event);
    if (e->parser) fy_parser_destroy(e->parser);
    if (e->diag) fy_diag_destroy(e->diag);
}
