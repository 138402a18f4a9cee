// SPDX-License-Identifier: MIT
//
// Comma-separated values of probe columns, and of node poses of an export.
#include "output/csv.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "output/export_parts.h"
#include "study/series.h"

#include <errno.h>
#include <string.h>

enum { BLOCK_NUMBERS = 64 * 1024, PIECE = 8 * 1024 };

// Buffered output.
typedef struct output {
    snw_sink sink;
    size_t used;
    bool failed;
    int reason; // errno of the failure, 0 when there is none
    char piece[PIECE];
} output;

static void csv_flush(output *o) {
    const size_t used = o->used;
    o->used = 0;
    if (o->failed || used == 0) return;
    errno = 0;
    o->failed = !o->sink.write(o->sink.user, o->piece, used);
    if (o->failed) o->reason = errno;
}

static void csv_put(output *o, const char *text, size_t size) {
    while (size > 0) {
        if (o->used == PIECE) csv_flush(o);
        const size_t n = size < PIECE - o->used ? size : PIECE - o->used;
        memcpy(o->piece + o->used, text, n);
        o->used += n;
        text += n;
        size -= n;
    }
}

// Flush the buffer; SNW_E_IO when the sink failed.
static snw_status csv_finish(output *o, snw_error *err) {
    csv_flush(o);
    if (!o->failed) return SNW_OK;
    char reason[128] = "the output accepts no more data";
    if (o->reason) (void)strerror_r(o->reason, reason, sizeof reason);
    return snw_fail(err, SNW_E_IO, "cannot write values: %s", reason);
}

static void put_name(output *o, const char *name) {
    const size_t n = strlen(name);
    const bool spaces = n > 0 && (name[0] == ' ' || name[n - 1] == ' ');
    if (!spaces && !strpbrk(name, ",\"\r\n")) {
        csv_put(o, name, n);
        return;
    }
    csv_put(o, "\"", 1);
    for (const char *c = name; *c; c++) csv_put(o, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    csv_put(o, "\"", 1);
}

static void csv_put_number(output *o, double x) {
    char text[SNW_NUMBER_SIZE];
    snw_number_text(x, text);
    csv_put(o, text, strlen(text));
}

static void put_header(output *o, const snw_run_info *info, int n, const int *column) {
    csv_put(o, "t", 1);
    for (int i = 0; i < n; i++) {
        char name[512];
        snw_column_name(&info->column[column ? column[i] : i], name, sizeof name);
        csv_put(o, ",", 1);
        put_name(o, name);
    }
    csv_put(o, "\n", 1);
}

snw_status snw_csv_write(snw_result *r, int run, int ncolumn, const int *column, snw_sink sink,
                         snw_error *err) {
    const snw_run_info *info = snw_result_info(r, run);
    const int n = column ? ncolumn : info->ncolumn, width = info->ncolumn;
    for (int i = 0; column && i < n; i++) SNW_ASSERT(column[i] >= 0 && column[i] < width);
    const int nframe = snw_result_frames(r, run);
    const int fit = BLOCK_NUMBERS / (width + 1), block = fit > 0 ? fit : 1;
    output *o = snw_alloc(sizeof *o);
    double *t = snw_alloc((size_t)block * sizeof *t);
    double *value = snw_alloc((size_t)block * (size_t)width * sizeof *value);
    snw_status s = SNW_OK;
    if (!o || !t || !value) {
        s = snw_fail(err, SNW_E_MEMORY, "no memory to write %d columns", width);
        goto done;
    }
    o->sink = sink;
    put_header(o, info, n, column);
    for (int first = 0; first < nframe && !o->failed; first += block) {
        const int m = nframe - first < block ? nframe - first : block;
        s = snw_result_read(r, run, SNW_RESULT_T, first, m, t, err);
        if (s == SNW_OK) s = snw_result_read(r, run, SNW_RESULT_COLUMNS, first, m, value, err);
        if (s != SNW_OK) break;
        for (int k = 0; k < m; k++) {
            csv_put_number(o, t[k]);
            for (int i = 0; i < n; i++) {
                csv_put(o, ",", 1);
                csv_put_number(o,
                               value[(size_t)k * (size_t)width + (size_t)(column ? column[i] : i)]);
            }
            csv_put(o, "\n", 1);
        }
    }
    // lines before a damaged part of the file are written
    const snw_status ended = csv_finish(o, s == SNW_OK ? err : NULL);
    if (s == SNW_OK) s = ended;
done:
    snw_free(value);
    snw_free(t);
    snw_free(o);
    return s;
}

// ---- shapes ------------------------------------------------------------------------------------

snw_status snw_export_shapes(snw_export *e, snw_sink sink, snw_error *err) {
    static const char head[] = "t,link,x,px,py,pz,qw,qx,qy,qz\n";
    output *o = snw_alloc(sizeof *o);
    if (!o) return snw_export_fail_memory(err);
    o->sink = sink;
    csv_put(o, head, sizeof head - 1);
    const double *pose = e->pose;
    for (int k = 0; k < e->n && !o->failed; k++) {
        for (int i = 0; i < e->info->nnode; i++) {
            csv_put_number(o, e->t[k]);
            csv_put(o, ",", 1);
            put_name(o, e->info->node_link[i]);
            csv_put(o, ",", 1);
            csv_put_number(o, e->info->node_x[i]);
            for (int c = 0; c < SNW_RESULT_POSE_WIDTH; c++) {
                csv_put(o, ",", 1);
                csv_put_number(o, *pose++);
            }
            csv_put(o, "\n", 1);
        }
    }
    const snw_status s = csv_finish(o, err);
    snw_free(o);
    return s;
}
