// SPDX-License-Identifier: MIT
#include "language/text.h"
#include "language/yaml.h"

#include "near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static snw_pool *pool;

static int set_up(void **state) {
    (void)state;
    pool = snw_pool_create((size_t)256 << 20);
    return pool ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    snw_pool_destroy(pool);
    return 0;
}

static snw_node *parsed_bytes(const char *text, size_t length) {
    snw_error err = {0};
    snw_node *root = NULL;
    if (snw_yaml_parse(pool, "m.yaml", text, length, &root, &err) != SNW_OK) {
        print_error("%s:%d:%d: %s\n", err.file, err.line, err.column, err.text);
        fail();
    }
    return root;
}

static snw_node *parsed(const char *text) { return parsed_bytes(text, strlen(text)); }

#define refused(text, line, column, part)                                                          \
    refused_(text, sizeof(text) - 1, line, column, part, __LINE__)

static void refused_(const char *text, size_t length, int line, int column, const char *part,
                     int caller) {
    snw_error err = {0};
    snw_node *root = NULL;
    const snw_status s = snw_yaml_parse(pool, "m.yaml", text, length, &root, &err);
    const bool good = s == SNW_E_PARSE && strcmp(err.file, "m.yaml") == 0 && err.line == line &&
                      err.column == column && strstr(err.text, part);
    if (good) return;
    print_error("line %d: status %d, %s:%d:%d: %s\n", caller, (int)s, err.file, err.line,
                err.column, err.text);
    print_error("        wanted %d:%d with '%s'\n", line, column, part);
    fail();
}

// ---- nodes --------------------------------------------------------------------------------------

static void nearest_word_forgives_slips_only(void **state) {
    (void)state;
    const char *const known[] = {"length", "material", NULL, "section", "on"};
    assert_string_equal(snw_nearest("lenght", 5, known), "length");
    assert_string_equal(snw_nearest("sektion", 5, known), "section");
    assert_string_equal(snw_nearest("materials", 5, known), "material");
    assert_string_equal(snw_nearest("no", 5, known), "on");
    assert_null(snw_nearest("colour", 5, known));
    assert_null(snw_nearest("", 5, known));
    assert_null(snw_nearest("x", 5, known));
}

static void places_and_kinds_are_kept(void **state) {
    (void)state;
    const snw_node *root = parsed("a: 1\n"
                                  "b: {r: 10 mm, \"q\": 'it''s'}\n"
                                  "é: [x, y: z, ~, \"\"]\n"
                                  "empty:\n");
    assert_int_equal(root->kind, SNW_NODE_MAP);
    assert_int_equal(root->n, 4);
    const snw_node *b = snw_node_get(root, "b");
    assert_int_equal(b->location.line, 2);
    assert_int_equal(b->location.column, 4);
    assert_string_equal(snw_node_get(b, "r")->text, "10 mm");
    assert_string_equal(snw_node_get(b, "q")->text, "it's");
    assert_true(snw_node_get(b, "q")->quoted && !snw_node_get(b, "r")->quoted);
    assert_int_equal(b->entry[1].location.column, 15); // quotes included
    assert_int_equal(b->entry[1].value->location.column, 20);
    const snw_node *list = snw_node_get(root, "é");
    assert_int_equal(list->n, 4);
    assert_int_equal(list->location.column, 4); // columns count characters
    assert_int_equal(list->entry[1].value->kind, SNW_NODE_MAP);
    assert_int_equal(list->entry[1].value->location.column, 8);
    assert_int_equal(list->entry[2].value->kind, SNW_NODE_NULL);
    assert_int_equal(list->entry[3].value->kind, SNW_NODE_TEXT); // quoted: a text
    assert_int_equal(snw_node_get(root, "empty")->kind, SNW_NODE_NULL);
    assert_string_equal(snw_node_get(root, "empty")->text, "");
    assert_null(snw_node_get(root, "no"));
    assert_null(snw_node_get(NULL, "a"));
    assert_null(snw_node_get(list, "a"));
    assert_string_equal(root->location.file, "m.yaml");
}

static void json_and_block_text_are_yaml(void **state) {
    (void)state;
    const snw_node *j = parsed("{\"a\": [1, 2.5e-3, true, null], \"b\": {\"c\": \"\\u00e9\"}}");
    assert_int_equal(snw_node_get(j, "a")->n, 4);
    assert_string_equal(snw_node_get(snw_node_get(j, "b"), "c")->text, "é");
    const snw_node *y = parsed("a: |\n  one\n  two\nb: >-\n  one\n  two\nc: on\nd: 0x10\n");
    assert_string_equal(snw_node_get(y, "a")->text, "one\ntwo\n");
    assert_string_equal(snw_node_get(y, "b")->text, "one two");
    assert_string_equal(snw_node_get(y, "c")->text, "on");
    assert_string_equal(snw_node_get(y, "d")->text, "0x10");
}

static void byte_order_mark_and_line_ends_are_accepted(void **state) {
    (void)state;
    assert_int_equal(parsed("\xEF\xBB\xBF"
                            "a: 1\n")
                         ->entry[0]
                         .location.column,
                     1);
    assert_int_equal(parsed("a: 1\r\nb: 2\r\n")->entry[1].location.line, 2);
    assert_string_equal(snw_node_get(parsed("a: 1"), "a")->text, "1"); // no end of line
}

// ---- refused documents --------------------------------------------------------------------------

static void bytes_that_are_no_text_are_refused(void **state) {
    (void)state;
    refused("a: 1\nb: \xFF\n", 2, 4, "0xFF is not valid UTF-8");
    refused("a: \xC0\x80\n", 1, 4, "UTF-8");         // overlong NUL
    refused("a: \xE0\x80\xAF\n", 1, 4, "UTF-8");     // overlong slash
    refused("a: \xED\xA0\x80\n", 1, 4, "UTF-8");     // surrogate
    refused("a: \xF4\x90\x80\x80\n", 1, 4, "UTF-8"); // beyond U+10FFFF
    refused("a: \xF0\x80\x80\x80\n", 1, 4, "UTF-8"); // overlong in four bytes
    refused("é: \xE2\x82", 1, 4, "UTF-8");           // cut off
    refused("a: \x80\n", 1, 4, "UTF-8");             // lone continuation
    refused("\x25\x8B", 1, 2, "UTF-8");              // libfyaml does not terminate on this
    refused("a: x\0y\n", 1, 5, "U+0000");
    refused("a: \x1B[31m\n", 1, 4, "U+001B");
    refused("\xFF\xFE"
            "a\0",
            1, 1, "UTF-16");
    refused("a: \"\\0\"\n", 1, 4, "U+0000"); // written as an escape
    (void)parsed("a: \xF0\x9D\x84\x9E \xC3\xA9 \xE2\x82\xAC\n");
}

static void faults_of_form_have_a_place(void **state) {
    (void)state;
    refused("", 1, 1, "empty");
    refused("# nothing\n\n", 1, 1, "only blanks");
    refused("---\n", 1, 1, "only blanks");
    refused("a: 1\n---\nb: 2\n", 2, 1, "second document");
    refused("a: [1, 2\n", 1, 4, "closing");
    refused("a: \"x\n", 1, 5, "quote");
    refused("a: b: c\n", 1, 5, "nested");
    refused("a: 1\n b: 2\n", 1, 4, "");
    refused("%YAML 1.1\n---\na: 1\n", 1, 1, "directives");
    refused("a: 1\n? b\n: c\n", 2, 1, "'?'");
    refused("a: {? b : c}\n", 1, 5, "'?'");
    refused("[a, b]: 1\n", 1, 1, "key");
    refused(": 1\n", 1, 1, "key");
    refused("a: {\"\": 1}\n", 1, 5, "key");
    refused("a: !!binary x\n", 1, 13, "tag '!!binary'");
    refused("a: !mine x\n", 1, 10, "tag '!mine'");
    refused("a: !!map x\n", 1, 10, "tag '!!map'");
    refused("a: !!null x\n", 1, 11, "!!null");
    assert_true(snw_node_get(parsed("a: !!str 12\n"), "a")->quoted);
    assert_string_equal(snw_node_get(parsed("a: !!float 12\n"), "a")->text, "12");
    assert_string_equal(snw_node_get(parsed("a: really? yes\n"), "a")->text, "really? yes");
}

// an expression that a comma of {} or [] splits; texts with unmatched brackets and quoted ones are
// allowed
static void a_torn_expression_asks_for_quotes(void **state) {
    (void)state;
    refused("p: {M: 3*ramp(t, 0 s, 1 s), b: 1}\n", 1, 8, "'3*ramp(t' ends at the comma");
    refused("f: [0, 1, min(t, 2)]\n", 1, 11, "needs quotes: \"min(t, ..)\"");
    refused("a: {when: max(t, 2) > 1}\n", 1, 11, "needs quotes");
    (void)parsed(
        "p: {M: \"3*ramp(t, 0 s, 1 s)\", b: (1 + 2), c: d)}\nq: f(t, 2)\nr: {a: see (b, c: 1}\n");
}

static void duplicate_keys_name_both_lines(void **state) {
    (void)state;
    refused("a: 1\nb: 2\nc: 3\nb: 4\na: 5\n", 4, 1, "key 'b' is given twice, first in line 2");
    refused("x: {k: 1, k: 2}\n", 1, 11, "key 'k' is given twice, first in line 1");
}

// ---- aliases and merges -------------------------------------------------------------------------

static void aliases_become_copies(void **state) {
    (void)state;
    const snw_node *root = parsed("a: &x {k: 1}\nb: *x\nc: &x 7\nd: *x\n");
    const snw_node *a = snw_node_get(root, "a"), *b = snw_node_get(root, "b");
    assert_true(a != b);
    assert_string_equal(snw_node_get(b, "k")->text, "1");
    assert_int_equal(b->location.line, 1);                   // where it was written
    assert_string_equal(snw_node_get(root, "d")->text, "7"); // the latest anchor applies
    refused("a: *x\n", 1, 5, "no anchor '&x'");
    refused("a: &x [1, *x]\n", 1, 12, "inside its own anchor");
}

static void merges_leave_own_keys(void **state) {
    (void)state;
    const snw_node *root = parsed("a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\n"
                                  "c: {<<: [*a, *b], x: 9}\nd:\n  <<: *a\n  y: 7\ne: {'<<': 1}\n");
    const snw_node *c = snw_node_get(root, "c"), *d = snw_node_get(root, "d");
    assert_int_equal(c->n, 3);
    assert_string_equal(snw_node_get(c, "x")->text, "9");
    assert_string_equal(snw_node_get(c, "y")->text, "2"); // the earlier map has precedence
    assert_string_equal(snw_node_get(c, "z")->text, "4");
    assert_string_equal(snw_node_get(d, "y")->text, "7");
    assert_string_equal(snw_node_get(d, "x")->text, "1");
    assert_non_null(snw_node_get(snw_node_get(root, "e"), "<<")); // quoted: a key
    refused("a: {<<: 3}\n", 1, 5, "'<<' takes a map");
    refused("a: &a {}\nb: {<<: *a, <<: *a}\n", 2, 13, "'<<' is given twice");
}

// ---- bombs --------------------------------------------------------------------------------------

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void bomb(const char *text, size_t length, const char *part) {
    snw_error err = {0};
    snw_node *root = NULL;
    const double start = seconds();
    assert_int_equal(snw_yaml_parse(pool, "m.yaml", text, length, &root, &err), SNW_E_PARSE);
    if (!strstr(err.text, part)) print_error("got: %s\n", err.text);
    assert_non_null(strstr(err.text, part));
    assert_true(err.line > 0);
    assert_true(seconds() - start < 1);
}

static void exponential_aliases_end_soon(void **state) {
    (void)state;
    char text[4000];
    size_t n = (size_t)snprintf(text, sizeof text, "a: &a [x,x,x,x,x,x,x,x,x,x]\n");
    for (int c = 'b'; c < 'n'; c++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%c: &%c [", c, c);
        for (int i = 0; i < 10; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "*%c,", c - 1);
        n += (size_t)snprintf(text + n, sizeof text - n, "]\n");
    }
    bomb(text, n, "more than 200000 values");
}

static void deep_nesting_ends_soon(void **state) {
    (void)state;
    enum { N = 1000000 };
    static char text[N];
    static const struct {
        const char *head, *piece;
    } forms[] = {{"", "["}, {"", "{"}, {"a: ", "["}, {"", "- "}, {"", "[{a: "}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        const size_t head = strlen(forms[k].head), piece = strlen(forms[k].piece);
        memcpy(text, forms[k].head, head);
        for (size_t i = head; i < N; i++) text[i] = forms[k].piece[(i - head) % piece];
        bomb(text, N, "deep");
    }
}

static void wide_maps_end_soon(void **state) {
    (void)state;
    enum { KEYS = 12000, SIZE = KEYS * 10 };
    static char text[SIZE + 1];
    size_t n = 0;
    for (int i = 0; i < KEYS; i++) n += (size_t)snprintf(text + n, SIZE + 1 - n, "k%d: 1\n", i);
    bomb(text, n, "more than 10000 keys");
}

// ---- files --------------------------------------------------------------------------------------

static void file_refused(const char *path, const char *part) {
    const char *bytes;
    size_t length;
    snw_error err = {0};
    assert_int_equal(snw_text_read(pool, path, 100, &bytes, &length, &err), SNW_E_IO);
    assert_string_equal(err.file, path);
    assert_int_equal(err.line, 0);
    if (!strstr(err.text, part)) print_error("got: %s\n", err.text);
    assert_non_null(strstr(err.text, part));
}

static void write_file(const char *path, size_t n) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (size_t i = 0; i < n; i++) (void)fputc('x', f);
    assert_int_equal(fclose(f), 0);
}

static void only_regular_files_of_modest_size_are_read(void **state) {
    (void)state;
    char dir[] = "/tmp/sinew-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    file_refused(dir, "a folder");
    file_refused("/dev/null", "a device");
    file_refused("/nowhere/at/all", "No such file");
    (void)snprintf(path, sizeof path, "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    file_refused(path, "a pipe"); // without waiting for a writer
    assert_int_equal(unlink(path), 0);

    (void)snprintf(path, sizeof path, "%s/file", dir);
    write_file(path, 101);
    file_refused(path, "101 bytes, at most 100");
    write_file(path, 100);
    const char *bytes;
    size_t length;
    assert_int_equal(snw_text_read(pool, path, 100, &bytes, &length, NULL), SNW_OK);
    assert_int_equal(length, 100);
    assert_true(bytes[99] == 'x' && bytes[100] == '\0');
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(nearest_word_forgives_slips_only),
        TEST(places_and_kinds_are_kept),
        TEST(json_and_block_text_are_yaml),
        TEST(byte_order_mark_and_line_ends_are_accepted),
        TEST(bytes_that_are_no_text_are_refused),
        TEST(faults_of_form_have_a_place),
        TEST(a_torn_expression_asks_for_quotes),
        TEST(duplicate_keys_name_both_lines),
        TEST(aliases_become_copies),
        TEST(merges_leave_own_keys),
        TEST(exponential_aliases_end_soon),
        TEST(deep_nesting_ends_soon),
        TEST(wide_maps_end_soon),
        TEST(only_regular_files_of_modest_size_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
