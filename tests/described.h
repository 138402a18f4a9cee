// SPDX-License-Identifier: MIT
//
// described.h: documents from memory, for tests of the reader.
#pragma once

#include "language/document.h"
#include "near.h"

#include <string.h>

// Read `text`, called m.yaml, and describe run 0.
static inline snw_status describe(const char *text, snw_document **doc, snw_desc **desc,
                                  snw_error *err) {
    *doc = NULL;
    *desc = NULL;
    *err = (snw_error){0};
    const snw_status s = snw_document_parse("m.yaml", text, strlen(text), 0, NULL, doc, err);
    return s == SNW_OK ? snw_document_describe(*doc, 0, desc, err) : s;
}

static inline void release(snw_document *doc, snw_desc *desc) {
    snw_desc_destroy(desc);
    snw_document_destroy(doc);
}

// Beginnings of documents.
#define HEAD      "sinew: 1\ngravity: 0\n"
#define ROD(keys) HEAD "robot: {arm: {on: world, rod: {length: 2, " keys "}}}\n"
