// SPDX-License-Identifier: MIT
//
// Writes the structure and the numbers of a compiled model, in the order of model_stream.inc: a
// first pass counts, a second one writes.
#include "model/model_stream.h"

#include "base/alloc.h"

#include <string.h>

static void put_whole(snw_model_stream *s, int x) {
    if (s->whole) s->whole[s->nwhole] = x;
    s->nwhole++;
}

static void put_number(snw_model_stream *s, double x) {
    if (s->number) s->number[s->nnumber] = x;
    s->nnumber++;
}

#define STREAM      snw_model_stream
#define WHOLE(x)    put_whole(s, (int)(x))
#define NUMBER(x)   put_number(s, x)
#define ARRAY(p, n) (void)(n)
#include "model/model_stream.inc"

snw_status snw_model_stream_create(const snw_model *m, snw_model_stream **out) {
    snw_model_stream *s = *out = snw_alloc(sizeof *s);
    if (!s) return SNW_E_MEMORY;
    list_model(s, (snw_model *)m); // the writer only reads it
    s->whole = snw_alloc(s->nwhole * sizeof *s->whole);
    s->number = snw_alloc(s->nnumber * sizeof *s->number);
    if (!s->whole || !s->number) {
        snw_model_stream_destroy(s);
        *out = NULL;
        return SNW_E_MEMORY;
    }
    s->nwhole = s->nnumber = 0;
    list_model(s, (snw_model *)m);
    return SNW_OK;
}

void snw_model_stream_destroy(snw_model_stream *s) {
    if (!s) return;
    snw_free(s->whole);
    snw_free(s->number);
    snw_free(s);
}

bool snw_model_stream_alike(const snw_model_stream *a, const snw_model_stream *b) {
    return a->nwhole == b->nwhole && a->nnumber == b->nnumber &&
           memcmp(a->whole, b->whole, a->nwhole * sizeof *a->whole) == 0;
}
