// SPDX-License-Identifier: MIT
//
// libFuzzer on the reader: every text is read, described and prepared for a run, or refused with a
// message, which has a location when the text is the cause.
#include "language/document.h"
#include "study/run.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void keep_promise(snw_status s, const snw_error *err) {
    const bool placed = err->line > 0 && err->column > 0;
    if (s != SNW_OK && !(err->text[0] && (placed || s != SNW_E_PARSE))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    snw_document *d = NULL;
    snw_error err = {0};
    snw_status s = snw_document_parse("fuzz", (const char *)data, size, 0, NULL, &d, &err);
    keep_promise(s, &err);
    for (int i = 0; s == SNW_OK && i < snw_document_runs(d) && i < 2; i++) {
        snw_desc *desc = NULL;
        snw_run *run = NULL;
        err = (snw_error){0};
        s = snw_document_describe(d, i, &desc, &err);
        if (s == SNW_OK) s = snw_run_create(desc, "fuzz", &run, &err);
        keep_promise(s, &err);
        snw_run_destroy(run);
        snw_desc_destroy(desc);
    }
    snw_document_destroy(d);
    return 0;
}
