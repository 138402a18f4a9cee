// SPDX-License-Identifier: MIT
#include "language/element.h"

#include "base/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef SNW_EXPAT
#include <expat.h>

typedef struct element_reader {
    XML_Parser parser;
    snw_pool *pool;
    const char *path;
    snw_error *err;
    snw_status status;
    snw_element *open[SNW_ELEMENT_DEPTH]; // elements that have begun and not ended
    snw_element *last[SNW_ELEMENT_DEPTH]; // the last child of each
    struct {
        char *bytes; // text of each
        size_t size, room;
    } text[SNW_ELEMENT_DEPTH];
    int depth, count;
    snw_element *root;
} element_reader;

static void reader_stop(element_reader *r, snw_status s) {
    if (r->status != SNW_OK) return;
    r->status = s;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static int reader_line(const element_reader *r) { return (int)XML_GetCurrentLineNumber(r->parser); }

static void reader_refuse(element_reader *r, const char *reason) {
    if (r->status != SNW_OK) return;
    const snw_status s = snw_fail(r->err, SNW_E_PARSE, "%s", reason);
    reader_stop(r, snw_fail_at_location(r->err, s, r->path, reader_line(r), 1));
}

static char *reader_text(element_reader *r, const char *text) {
    return snw_pool_text(r->pool, text, strlen(text));
}

static void XMLCALL element_begins(void *user, const char *name, const char **attribute) {
    element_reader *r = user;
    if (r->status != SNW_OK) return;
    if (r->depth == SNW_ELEMENT_DEPTH) {
        reader_refuse(r, "elements are nested too deeply");
        return;
    }
    if (++r->count > SNW_ELEMENT_MOST) {
        reader_refuse(r, "too many elements");
        return;
    }
    snw_element *e = snw_pool_take(r->pool, sizeof *e);
    int n = 0;
    while (attribute[2 * n]) n++;
    snw_attribute *list = snw_pool_array(r->pool, (size_t)n, sizeof *list);
    if (!e || (n > 0 && !list)) {
        reader_stop(r, snw_fail_memory(r->err));
        return;
    }
    for (int i = 0; i < n; i++) {
        list[i].name = reader_text(r, attribute[2 * i]);
        list[i].value = reader_text(r, attribute[2 * i + 1]);
        if (!list[i].name || !list[i].value) reader_stop(r, snw_fail_memory(r->err));
    }
    *e = (snw_element){.name = reader_text(r, name),
                       .path = r->path,
                       .line = reader_line(r),
                       .nattribute = n,
                       .attribute = list,
                       .text = ""};
    if (!e->name) reader_stop(r, snw_fail_memory(r->err));
    if (r->depth == 0) {
        r->root = e;
    } else if (r->last[r->depth - 1]) {
        r->last[r->depth - 1]->next = e;
    } else {
        r->open[r->depth - 1]->child = e;
    }
    if (r->depth > 0) r->last[r->depth - 1] = e;
    r->open[r->depth] = e;
    r->last[r->depth] = NULL;
    r->text[r->depth].bytes = NULL;
    r->text[r->depth].size = r->text[r->depth].room = 0;
    r->depth++;
}

static void XMLCALL element_ends(void *user, const char *name) {
    (void)name;
    element_reader *r = user;
    r->depth--;
    if (r->text[r->depth].bytes) r->open[r->depth]->text = r->text[r->depth].bytes;
}

// Text comes in pieces; blanks at the beginning are left out.
static void XMLCALL element_text(void *user, const char *bytes, int length) {
    element_reader *r = user;
    if (r->status != SNW_OK || r->depth == 0 || length <= 0) return;
    const int d = r->depth - 1;
    size_t n = (size_t)length;
    while (!r->text[d].bytes && n > 0 && strchr(" \t\r\n", *bytes)) bytes++, n--;
    if (n == 0) return;
    if (r->text[d].size + n + 1 > r->text[d].room) {
        const size_t room = 2 * (r->text[d].size + n) + 32;
        char *more = snw_pool_take(r->pool, room); // zeroed
        if (!more) {
            reader_stop(r, snw_fail_memory(r->err));
            return;
        }
        if (r->text[d].size > 0) memcpy(more, r->text[d].bytes, r->text[d].size);
        r->text[d].bytes = more;
        r->text[d].room = room;
    }
    memcpy(r->text[d].bytes + r->text[d].size, bytes, n);
    r->text[d].size += n;
}

static void XMLCALL doctype_begins(void *user, const char *name, const char *system,
                                   const char *identifier, int internal) {
    (void)name, (void)system, (void)identifier, (void)internal;
    reader_refuse(user, "document type declarations (<!DOCTYPE ..>) are not read; remove it");
}

// Some libraries write encoding="ASCII", which expat knows by its other name only.
static int XMLCALL plain_ascii(void *user, const char *name, XML_Encoding *out) {
    (void)user;
    if (strcmp(name, "ASCII") != 0 && strcmp(name, "ascii") != 0) return XML_STATUS_ERROR;
    for (int i = 0; i < 256; i++) out->map[i] = i < 128 ? i : -1;
    out->data = NULL;
    out->convert = NULL;
    out->release = NULL;
    return XML_STATUS_OK;
}

snw_status snw_element_parse(snw_pool *pool, const char *path, const char *bytes, size_t length,
                             snw_element **root, snw_error *err) {
    element_reader r = {.pool = pool, .path = path, .err = err};
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser) return snw_fail_memory(err);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, element_begins, element_ends);
    XML_SetCharacterDataHandler(r.parser, element_text);
    XML_SetStartDoctypeDeclHandler(r.parser, doctype_begins);
    XML_SetUnknownEncodingHandler(r.parser, plain_ascii, NULL);
    if (XML_Parse(r.parser, bytes, (int)length, XML_TRUE) != XML_STATUS_OK && r.status == SNW_OK) {
        r.status =
            snw_fail(err, SNW_E_PARSE, "not XML: %s", XML_ErrorString(XML_GetErrorCode(r.parser)));
        r.status = snw_fail_at_location(err, r.status, path, reader_line(&r),
                                        (int)XML_GetCurrentColumnNumber(r.parser) + 1);
    }
    XML_ParserFree(r.parser);
    *root = r.root;
    return r.status;
}
#else
snw_status snw_element_parse(snw_pool *pool, const char *path, const char *bytes, size_t length,
                             snw_element **root, snw_error *err) {
    (void)pool, (void)path, (void)bytes, (void)length;
    *root = NULL;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "this sinew was built without expat and reads no XML; install libexpat1-dev "
                    "and build again");
}
#endif

const snw_element *snw_element_child(const snw_element *e, const char *name) {
    const snw_element *c = e->child;
    while (c && strcmp(c->name, name) != 0) c = c->next;
    return c;
}

const snw_element *snw_element_again(const snw_element *e) {
    const snw_element *c = e->next;
    while (c && strcmp(c->name, e->name) != 0) c = c->next;
    return c;
}

const char *snw_element_attribute(const snw_element *e, const char *name) {
    for (int i = 0; i < e->nattribute; i++) {
        if (strcmp(e->attribute[i].name, name) == 0) return e->attribute[i].value;
    }
    return NULL;
}

snw_status snw_element_required(const snw_element *e, const char *name, const char **out,
                                snw_error *err) {
    *out = snw_element_attribute(e, name);
    if (*out && **out) return SNW_OK;
    return snw_fail_at_location(
        err, snw_fail(err, SNW_E_PARSE, "<%.60s> needs the attribute '%s'", e->name, name), e->path,
        e->line, 1);
}

void snw_text_numbers(const char *text, int most, double *out, int *found) {
    *found = 0;
    for (const char *at = text;; (*found)++) {
        at += strspn(at, " \t\r\n");
        if (!*at) return;
        // digits only: neither nan nor hexadecimal
        const size_t length = strcspn(at, " \t\r\n");
        char *end;
        const double x = strtod(at, &end);
        if (*found == most || strspn(at, "0123456789+-.eE") < length || end != at + length ||
            !isfinite(x)) {
            *found = -1;
            return;
        }
        out[*found] = x;
        at = end;
    }
}

snw_status snw_element_numbers(const snw_element *e, const char *name, int n, double *out,
                               snw_error *err) {
    enum { MOST = 9 };
    const char *text = snw_element_attribute(e, name);
    if (!text) return SNW_OK;
    double x[MOST];
    int found = -1;
    SNW_ASSERT(n <= MOST);
    snw_text_numbers(text, n, x, &found);
    if (found == n) {
        memcpy(out, x, (size_t)n * sizeof *out);
        return SNW_OK;
    }
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_PARSE, "attribute '%s' of <%.60s>: '%.60s' is not %d finite number%s",
                 name, e->name, text, n, n == 1 ? "" : "s"),
        e->path, e->line, 1);
}

// without recursion over siblings; the depth of a file is bounded
int snw_element_count(const snw_element *e, const char *name) {
    int n = 0;
    for (const snw_element *c = e->child; c; c = c->next)
        n += (strcmp(c->name, name) == 0) + snw_element_count(c, name);
    return n;
}
