// SPDX-License-Identifier: MIT
//
// Parses tables of comma-separated values, caches them by path, and finds columns by name or
// number, for laws and for expectations against measured data.
#include "language/table.h"

#include "base/fail.h"
#include "language/node.h"
#include "language/text.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 1000 };

typedef enum csv_use {
    CSV_SERIES,   // the first column increases
    CSV_MEASURED, // fields may be blank (NaN), a time may be repeated
    CSV_MATRIX,   // any numbers
    CSV_ROWS      // any numbers, one column or more
} csv_use;

typedef struct csv {
    struct csv *next;
    csv_use use;
    const char *path;  // name under which it was opened
    int ncolumn, nrow; // nrow without the line of names
    const char **name; // ncolumn, NULL: the file has no names
    double *value;     // column by column, nrow each
    int *line;         // nrow, line numbers
} csv;

// A file as it is.
typedef struct raw_file {
    struct raw_file *next;
    snw_table_bytes is;
} raw_file;

struct snw_tables {
    snw_pool *pool;
    const char *model;
    const snw_source *source; // files of the model, may be NULL
    csv *first;
    raw_file *raw;
    void *made;
    uint64_t sum;
};

snw_tables *snw_tables_create(snw_pool *pool, const char *model, const snw_source *source) {
    snw_tables *t = snw_pool_take(pool, sizeof *t);
    if (!t) return NULL;
    t->pool = pool;
    t->source = source;
    t->model = snw_pool_text(pool, model, strlen(model));
    return t->model ? t : NULL;
}

// ---- lines and fields ---------------------------------------------------------------------------

// Position in the text.
typedef struct cursor {
    const char *at;   // start of the next line
    int line;         // number of the current line
    const char *text; // current line, without its end
    size_t length;
} cursor;

// advance to the next line that is neither blank nor a comment
static bool next_line(cursor *c) {
    while (*c->at) {
        const size_t length = strcspn(c->at, "\r\n");
        c->text = c->at;
        c->length = length;
        c->line++;
        c->at += length;
        if (*c->at == '\r') c->at++;
        if (*c->at == '\n') c->at++;
        const size_t blank = strspn(c->text, " \t,;");
        if (blank < length && c->text[blank] != '#') return true;
    }
    return false;
}

static bool separates(char c) { return c == ',' || c == ';' || c == '\t'; }

// field at *at without surrounding blanks and quotes; *at <- start of the next; false at the end
static bool next_field(const cursor *c, const char **at, const char **text, size_t *length) {
    const char *p = *at, *const end = c->text + c->length;
    if (p > end) return false;
    const char *last = p;
    while (last < end && !separates(*last)) last++;
    *at = last + 1;
    while (p < last && (*p == ' ' || *p == '"')) p++;
    while (last > p && (last[-1] == ' ' || last[-1] == '"')) last--;
    *text = p;
    *length = (size_t)(last - p);
    return true;
}

static int count_fields(const cursor *c) {
    int n = 1;
    for (size_t i = 0; i < c->length; i++) n += separates(c->text[i]);
    return n;
}

// parse a decimal number that takes up the whole field
static bool table_number(const char *text, size_t length, double *out) {
    char copy[64];
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strspn(copy, "0123456789+-.eE") != length) return false;
    char *end;
    *out = strtod(copy, &end);
    return *end == '\0' && isfinite(*out);
}

// ---- reading a file -----------------------------------------------------------------------------

static snw_status table_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "no memory for a table");
}

static snw_status read_names(snw_pool *pool, const cursor *c, csv *out, snw_error *err) {
    bool names = false;
    const char *text = NULL, *at = c->text;
    size_t length = 0;
    double value;
    while (next_field(c, &at, &text, &length)) names = names || !table_number(text, length, &value);
    if (!names) return SNW_OK;
    out->name = snw_pool_array(pool, (size_t)out->ncolumn, sizeof *out->name);
    if (!out->name) return table_no_memory(err);
    at = c->text;
    for (int k = 0; k < out->ncolumn; k++) {
        if (!next_field(c, &at, &text, &length)) length = 0;
        out->name[k] = snw_pool_text(pool, text, length);
        if (!out->name[k]) return table_no_memory(err);
    }
    return SNW_OK;
}

static snw_status table_read_row(const cursor *c, const char *path, int row, csv *out,
                                 snw_error *err) {
    snw_source_location location = {.file = path, .line = c->line, .column = 1};
    if (count_fields(c) != out->ncolumn) {
        return snw_fail_at(err, location, "this row has %d fields, the first one %d",
                           count_fields(c), out->ncolumn);
    }
    out->line[row] = c->line;
    const char *at = c->text;
    for (int k = 0; k < out->ncolumn; k++) {
        const char *text = NULL;
        size_t length = 0;
        double *value = &out->value[(size_t)k * (size_t)out->nrow + (size_t)row];
        const bool found = next_field(c, &at, &text, &length);
        if (found) location.column = (int)(text - c->text) + 1;
        if (found && length == 0 && out->use == CSV_MEASURED && k > 0) {
            *value = NAN;
            continue;
        }
        if (!found || !table_number(text, length, value)) {
            return snw_fail_at(err, location, "'%.*s' is not a number",
                               (int)(length < 40 ? length : 40), found ? text : "");
        }
        const bool rises =
            row == 0 || *value > value[-1] || (out->use == CSV_MEASURED && *value == value[-1]);
        if (k == 0 && !rises && out->use != CSV_MATRIX && out->use != CSV_ROWS) {
            return snw_fail_at(err, location, "the first column must increase, %g follows %g",
                               *value, value[-1]);
        }
    }
    return SNW_OK;
}

static snw_status table_read_rows(snw_pool *pool, const char *text, const char *path, csv *out,
                                  snw_error *err) {
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; // mark of UTF-8 that spreadsheets write
    cursor c = {.at = text};
    if (!next_line(&c)) return snw_fail(err, SNW_E_PARSE, "the file is empty");
    out->ncolumn = count_fields(&c);
    const int least = out->use == CSV_ROWS ? 1 : 2;
    if (out->ncolumn < least || out->ncolumn > MAX_COLUMNS) {
        return snw_fail(err, SNW_E_PARSE, "the file has %d columns, %d to %d are possible",
                        out->ncolumn, least, MAX_COLUMNS);
    }
    SNW_TRY(read_names(pool, &c, out, err));
    out->nrow = out->name ? 0 : 1;
    for (cursor count = c; next_line(&count);) out->nrow++;
    if (out->nrow == 0) return snw_fail(err, SNW_E_PARSE, "the file has no numbers");
    out->value = snw_pool_array(pool, (size_t)out->nrow * (size_t)out->ncolumn, sizeof(double));
    out->line = snw_pool_array(pool, (size_t)out->nrow, sizeof *out->line);
    if (!out->value || !out->line) return table_no_memory(err);
    c = (cursor){.at = text};
    if (out->name) (void)next_line(&c);
    for (int row = 0; next_line(&c); row++) SNW_TRY(table_read_row(&c, path, row, out, err));
    return SNW_OK;
}

// A path as a folder, including its slash, and a file relative to it.
typedef struct table_path {
    const char *folder;
    size_t length; // length of the folder
    const char *file;
} table_path;

// Resolve `file` against the file that names it, unless it is absolute. Included files are known by
// the names under which they were opened. The first file may be a text in memory whose name is not
// a path, so the folder of the model is used for it.
static table_path resolve_table_path(const snw_tables *t, const char *from, const char *file) {
    const char *beside = t->model;
    const int n = t->source && from ? snw_source_files(t->source) : 0;
    for (int i = 1; i < n; i++) {
        if (strcmp(from, snw_source_file(t->source, i)) == 0) beside = from;
    }
    const char *slash = file[0] == '/' ? NULL : strrchr(beside, '/');
    return (table_path){
        .folder = beside, .length = slash ? (size_t)(slash - beside) + 1 : 0, .file = file};
}

static bool is_path(const char *path, const table_path *at) {
    return strncmp(path, at->folder, at->length) == 0 && strcmp(path + at->length, at->file) == 0;
}

// FNV-1a
static uint64_t hash_bytes(const char *text, size_t length) {
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211U;
    return hash;
}

uint64_t snw_tables_sum(const snw_tables *t) { return t->sum; }

snw_pool *snw_tables_pool(void *user) { return ((snw_tables *)user)->pool; }

void **snw_tables_made(void *user) { return &((snw_tables *)user)->made; }

const char *snw_tables_file(const snw_tables *t, int i) {
    const csv *table = t->first;
    for (; table && i > 0; i--) table = table->next;
    if (table) return table->path;
    const raw_file *raw = t->raw;
    for (; raw && i > 0; i--) raw = raw->next;
    return raw ? raw->is.path : NULL;
}

static snw_status read_file(snw_tables *t, const table_path *at, csv_use use, csv **out,
                            snw_error *err) {
    csv *table = snw_pool_take(t->pool, sizeof *table);
    const char *path = snw_pool_format(t->pool, "%.*s%s", (int)at->length, at->folder, at->file);
    const char *text = NULL;
    size_t length = 0;
    if (!table || !path) return table_no_memory(err);
    table->use = use;
    SNW_TRY(snw_text_read(t->pool, path, SNW_TEXT_FILE_MAX, &text, &length, err));
    SNW_TRY(snw_text_check(path, text, length, err));
    SNW_TRY(table_read_rows(t->pool, text, path, table, err));
    t->sum += hash_bytes(text, length);
    table->path = path;
    table->next = t->first;
    t->first = table;
    *out = table;
    return SNW_OK;
}

// A file with a line of names.
static snw_status read_named(snw_pool *pool, const char *path, csv_use use, size_t limit,
                             const char *example, snw_data_table *out, snw_error *err) {
    const char *text = NULL;
    size_t length = 0;
    csv table = {.use = use};
    SNW_TRY(snw_text_read(pool, path, limit, &text, &length, err));
    SNW_TRY(snw_text_check(path, text, length, err));
    snw_status status = table_read_rows(pool, text, path, &table, err);
    if (status == SNW_OK && !table.name) {
        status =
            snw_fail(err, SNW_E_PARSE, "the first line must name the columns, e.g. '%s'", example);
    }
    if (status != SNW_OK && err && !err->file[0])
        return snw_fail_at_location(err, status, path, 1, 1);
    *out = (snw_data_table){.ncolumn = table.ncolumn,
                            .nrow = table.nrow,
                            .name = table.name,
                            .value = table.value,
                            .line = table.line};
    return status;
}

snw_status snw_measured_read(snw_pool *pool, const char *path, snw_data_table *out,
                             snw_error *err) {
    return read_named(pool, path, CSV_MEASURED, SNW_TEXT_FILE_MAX, "t, tip.x, tip.z", out, err);
}

snw_status snw_rows_read(snw_pool *pool, const char *path, size_t limit, snw_data_table *out,
                         snw_error *err) {
    return read_named(pool, path, CSV_ROWS, limit, "silicone.young, load", out, err);
}

// ---- finding a column ---------------------------------------------------------------------------

// column number from 1; 0 when the word is not a number
static int column_number(const char *word) {
    int n = 0;
    if (!*word) return 0;
    for (; *word; word++) {
        if (!isdigit((unsigned char)*word) || n > MAX_COLUMNS) return 0;
        n = 10 * n + (*word - '0');
    }
    return n;
}

// The file as a table, read now unless it has been.
static snw_status table_of(snw_tables *t, const table_path *at, csv_use use, csv **out,
                           snw_error *err) {
    csv *table = t->first;
    while (table && (table->use != use || !is_path(table->path, at))) table = table->next;
    *out = table;
    return table ? SNW_OK : read_file(t, at, use, out, err);
}

static snw_status table_find(snw_tables *t, const table_path *at, csv_use use, const char *column,
                             snw_table *out, snw_error *err) {
    csv *table = NULL;
    SNW_TRY(table_of(t, at, use, &table, err));
    int k = 0;
    while (table->name && k < table->ncolumn && strcmp(table->name[k], column) != 0) k++;
    if (!table->name || k == table->ncolumn) {
        k = column_number(column) - 1;
        if (k < 0 || k >= table->ncolumn) {
            const char *near =
                table->name ? snw_nearest(column, table->ncolumn, table->name) : NULL;
            return snw_fail(err, SNW_E_PARSE, "there is no such column, the file has %d%s",
                            table->ncolumn, snw_hint_text(near).text);
        }
    }
    out->n = table->nrow;
    out->x = table->value;
    out->y = table->value + (size_t)k * (size_t)table->nrow;
    return SNW_OK;
}

snw_status snw_tables_find(void *user, const char *from, const char *file, const char *column,
                           snw_table *out, snw_error *err) {
    const table_path at = resolve_table_path(user, from, file);
    return table_find(user, &at, CSV_SERIES, column, out, err);
}

snw_status snw_tables_columns(void *user, const char *from, const char *file, int *n,
                              const char *const **name, snw_error *err) {
    const table_path at = resolve_table_path(user, from, file);
    csv *table = NULL;
    SNW_TRY(table_of(user, &at, CSV_SERIES, &table, err));
    *n = table->ncolumn;
    *name = table->name;
    return SNW_OK;
}

snw_status snw_tables_measured(void *user, const char *from, const char *file, const char *column,
                               snw_table *out, snw_error *err) {
    const table_path at = resolve_table_path(user, from, file);
    return table_find(user, &at, CSV_MEASURED, column, out, err);
}

// ---- whole files --------------------------------------------------------------------------------

snw_status snw_tables_matrix(void *user, const char *from, const char *file, snw_matrix_table *out,
                             snw_error *err) {
    const table_path at = resolve_table_path(user, from, file);
    csv *table = NULL;
    SNW_TRY(table_of(user, &at, CSV_MATRIX, &table, err));
    *out = (snw_matrix_table){table->ncolumn, table->nrow, table->value};
    return SNW_OK;
}

snw_status snw_tables_bytes(void *user, const char *from, const char *file, size_t limit,
                            snw_table_bytes *out, snw_error *err) {
    snw_tables *t = user;
    const table_path at = resolve_table_path(t, from, file);
    raw_file *raw = t->raw;
    while (raw && !is_path(raw->is.path, &at)) raw = raw->next;
    if (!raw) {
        raw = snw_pool_take(t->pool, sizeof *raw);
        if (!raw) return table_no_memory(err);
        raw->is.path = snw_pool_format(t->pool, "%.*s%s", (int)at.length, at.folder, at.file);
        if (!raw->is.path) return table_no_memory(err);
        SNW_TRY(snw_text_read(t->pool, raw->is.path, limit, &raw->is.bytes, &raw->is.length, err));
        t->sum += hash_bytes(raw->is.bytes, raw->is.length);
        raw->next = t->raw;
        t->raw = raw;
    }
    *out = raw->is;
    return SNW_OK;
}
