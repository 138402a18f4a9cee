// SPDX-License-Identifier: MIT
//
// yaml_events.h: YAML text as a sequence of events, without documents, aliases or tags being
// resolved. Implemented by libfyaml in yaml_events.c, and by a reader of our own in
// web/yaml_events.c, where libfyaml is not available.
#pragma once

#include "language/node.h"

typedef enum snw_yaml_kind {
    SNW_YAML_STREAM_END,
    SNW_YAML_DOCUMENT_START,
    SNW_YAML_DOCUMENT_END,
    SNW_YAML_SCALAR,
    SNW_YAML_ALIAS,
    SNW_YAML_LIST_START,
    SNW_YAML_LIST_END,
    SNW_YAML_MAP_START,
    SNW_YAML_MAP_END
} snw_yaml_kind;

typedef struct snw_yaml_event {
    snw_yaml_kind kind;
    int line, column;         // of the first character, from 1; 0: it has none, as an empty value
    const char *text;         // of a scalar, or name of an alias; NULL: an empty value
    size_t length;            // of the text
    bool quoted;              // scalar in quotes, or block text
    bool flow;                // list or map in brackets
    const char *anchor, *tag; // NULL: none; tags in full, "tag:yaml.org,2002:int"
} snw_yaml_event;

typedef struct snw_yaml_events snw_yaml_events;

// `text` ends with a line end and outlives the events; `file` is the name in locations. Texts of
// events are in the pool.
SNW_NODISCARD snw_status snw_yaml_events_open(snw_pool *pool, const char *file, const char *text,
                                              size_t length, snw_yaml_events **out, snw_error *err);

// *out <- the next event. `last` and `open` are the locations of the last event and of the
// innermost open bracket (file NULL: none), for messages.
SNW_NODISCARD snw_status snw_yaml_events_next(snw_yaml_events *e, snw_source_location last,
                                              snw_source_location open, snw_yaml_event *out,
                                              snw_error *err);
void snw_yaml_events_close(snw_yaml_events *e); // NULL is fine
