// SPDX-License-Identifier: MIT
//
// The YAML reader of web/ gives the same trees as libfyaml, with the same locations.
#include "language/yaml.h"

#include "near.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 1000 };

// yaml.c over web/yaml_events.c; tests.cmake renames it
snw_status web_yaml_parse(snw_pool *pool, const char *name, const char *text, size_t length,
                          snw_node **root, snw_error *err);

static bool same_location(snw_source_location a, snw_source_location b) {
    return a.line == b.line && a.column == b.column;
}

// the first difference of two trees; NULL: none
static const snw_node *difference(const snw_node *a, const snw_node *b) {
    const bool same = a->kind == b->kind && a->quoted == b->quoted && a->n == b->n &&
                      strcmp(a->text, b->text) == 0 && same_location(a->location, b->location);
    if (!same) return a;
    for (int i = 0; i < a->n; i++) {
        const snw_entry *x = &a->entry[i], *y = &b->entry[i];
        const bool key = (!x->key && !y->key) || (x->key && y->key && strcmp(x->key, y->key) == 0);
        if (!key || !same_location(x->location, y->location)) return x->value;
        const snw_node *inner = difference(x->value, y->value);
        if (inner) return inner;
    }
    return NULL;
}

// Both readers accept a text, with the same tree, or both refuse it.
static bool agree(const char *name, const char *text, size_t length) {
    snw_pool *pool = snw_pool_create((size_t)256 << 20);
    assert_non_null(pool);
    snw_error err[2] = {{0}, {0}};
    snw_node *root[2] = {NULL, NULL};
    const snw_status ours = web_yaml_parse(pool, name, text, length, &root[0], &err[0]);
    const snw_status theirs = snw_yaml_parse(pool, name, text, length, &root[1], &err[1]);
    bool good = ours == theirs;
    if (!good) {
        print_error("%s: ours: %d %d:%d %s; libfyaml: %d %d:%d %s\n", name, (int)ours, err[0].line,
                    err[0].column, err[0].text, (int)theirs, err[1].line, err[1].column,
                    err[1].text);
    } else if (ours == SNW_OK) {
        const snw_node *n = difference(root[0], root[1]), *m = difference(root[1], root[0]);
        good = !n;
        if (n) {
            print_error("%s: ours: %d:%d kind %d n %d '%s'; libfyaml: %d:%d kind %d n %d '%s'\n",
                        name, n->location.line, n->location.column, (int)n->kind, n->n, n->text,
                        m->location.line, m->location.column, (int)m->kind, m->n, m->text);
        }
    }
    snw_pool_destroy(pool);
    return good;
}

static char *read_file(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    *length = fread(text, 1, (1 << 20) - 1, f);
    (void)fclose(f);
    return text;
}

static void examples_are_the_same_trees(void **state) {
    (void)state;
    glob_t files = {0};
    assert_int_equal(glob(EXAMPLES "/*/*.yaml", 0, NULL, &files), 0);
    (void)glob(EXAMPLES "/*/*/*.yaml", GLOB_APPEND, NULL, &files);
    assert_true(files.gl_pathc > 50);
    int misses = 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t length;
        char *text = read_file(files.gl_pathv[i], &length);
        misses += !agree(files.gl_pathv[i], text, length);
        free(text);
    }
    globfree(&files);
    assert_int_equal(misses, 0);
}

// forms that the examples may not have
static void forms_are_the_same_trees(void **state) {
    (void)state;
    static const char *const text[] = {
        "a: 1",
        "a: 1\nb:\n- x\n- y\nc: ~\n",
        "a:\n  - - 1\n    - 2\n  -\n    - 3\n  - b: 1\n    c: 2\n",
        "a: one\n  two\n\n  three # four\nb: 5\n",
        "a: 'it''s'\nb: \"x\\ty \\u00e9 \\\n   z\"\nc: 'one\n  two\n\n  three'\n",
        ("a: |\n  one\n   two\n\n  three\n\nb: >-\n  one\n  two\n\n  three\n   four\n  five\nc: "
         "|+\n  x\n\nd: 1\n"),
        "a: >\n  one\n  two\n\n\n  three\n\nb: |2\n   x\n  y\n",
        "a: &x {b: 1, c: [1, 2]}\nd: *x\ne:\n  <<: *x\n  c: 5\n",
        "a: &x\n  b: 1\nd:\n  - *x\n  - <<: *x\n    e: 2\n",
        "a: !!str 12\nb: !!int 12\nc: !!map\n  d: 1\ne: !!seq [1]\n",
        "{a: 1, \"b\":2, c, d: , e: [x: 1, {y: 2}, z]}\n",
        "a: [1,\n  2,  # two\n  3]\nb: {x: 1,\n    y: 2}\n",
        "a: [\n  1,\n  2\n]\nb: {\n  x: 1\n}\n",
        "--- # head\na: 1\n...\n",
        "---\na: 1\n",
        "a: x:y\nb: http://x/y#z\nc: -1\nd: -x\ne: :x\n",
        "\"a b\": 1\n'c': 2\nd e: 3\n",
        "a: \"x\": 1\n",
        "a: b: c\n",
        "a: 1\n b: 2\n",
        "  a: 1\n b: 2\n",
        "a:\n\t- 1\n",
        "a: [1, 2\n",
        "a: {b: 1\nc: 2\n",
        "a: 'x\n",
        "a: \"x\\q\"\n",
        "a: [1,,2]\n",
        "a: [,1]\n",
        "a: [1,]\n",
        "a: @x\n",
        "a: `x\n",
        "a: %x\n",
        "a: *x\n",
        "a: &x\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\n...\nb: 2\n",
        "- a\n- b: 1\n  c:\n  - 2\n-\n- ~\n",
        "- a\nb: 1\n",
        "a: 1\n- b\n",
        "just text\n",
        "'just text'\n",
        "[1, 2, {a: b}]\n",
        "a: - 1\n",
        "a: 1 # x\n# y\nb: 2 #z\nc: 3#4\n",
        "a:   \n  b:   \n    c: 1   \n",
        "é: ü\nb: [é, ü]\nc: {ö: 1, d: é}\n",
        "a: {b: 1}\n  c: 2\n",
        "a: [1] x\n",
        "a: 'x' y\n",
        "a: ''\nb: \"\"\nc: []\nd: {}\n",
        "a: |\n\nb: 1\n",
        "a: >\n\n  x\nb: 1\n",
        "a\n",
        ": 1\n",
        "a: 1\n: 2\n",
        "{: 1}\n",
        "[a]: 1\n",
        "{a: b}: 1\n",
        "a: 1\r\nb:\r\n  - 2\r\n",
        "a: &x &y 1\n",
        "&x a: 1\nb: *x\n",
        "*x : 1\n",
        "a: {b: c: d}\n",
        "a: [b: c: d]\n",
        "a: [x y, z w]\nb: {x y: z w}\n",
        "a: {x: 'y', \"z\": w}\n",
        "a: [a\n  b, c]\n",
        "a:\n    - 1\n  - 2\n",
        "a:\n  - 1\n - 2\n",
        "a: ]\n",
        "a: }\n",
        "a: ,\n",
        "a: x, y\nb: x] y\n",
        "a: x #\nb: '#'\n",
        "a: [\n1]\n",
        "a: [1,\n2]\n",
        "a: [1\n, 2]\n",
        "a: [x\ny]\n",
        "a: {x: 1,\ny: 2}\n",
        "a: {x:\n1}\n",
        "a:\n  b: [1,\n  2]\n",
        "a:\n  b: [1,\n  2\n  ]\n",
        "a:\n- [1,\n2]\n",
        "[1,\n2\n]\n",
        "a: [[1,\n  2\n]]\n",
        "a: 'x\ny'\n",
        "a: \"x\ny\"\n",
        "a:\n  'x'\n",
        "a:\n  x\n y\nb: 1\n",
        "a:\n  b: 'x\n  y'\n",
    };
    int misses = 0;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "form %d", (int)i);
        const bool good = agree(name, text[i], strlen(text[i]));
        if (!good) print_error("%s\n", text[i]);
        misses += !good;
    }
    assert_int_equal(misses, 0);
}

static unsigned draw(unsigned *seed, unsigned below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

// replace, insert or remove a few characters, those of YAML's grammar above all
static size_t spoil(char *text, size_t length, unsigned *seed) {
    static const char marks[] = "{}[],:&*!|>'\"-?#~ \n\t%@a1";
    for (unsigned n = 1 + draw(seed, 3); n > 0 && length > 1; n--) {
        const size_t at = draw(seed, (unsigned)length);
        const char c = marks[draw(seed, sizeof marks - 1)];
        switch (draw(seed, 3)) {
        case 0:
            text[at] = c;
            break;
        case 1:
            memmove(text + at + 1, text + at, length++ - at);
            text[at] = c;
            break;
        default:
            memmove(text + at, text + at + 1, --length - at);
            break;
        }
    }
    text[length] = '\0';
    return length;
}

// Spoilt texts: no crash, and texts that both readers accept have the same tree. One of them may be
// stricter where the text is not YAML.
static void spoilt_texts_are_read_alike(void **state) {
    (void)state;
    unsigned seed = 7;
    int accepted = 0, stricter = 0, looser = 0;
    static const char *const files[] = {"/rods/boyer1_moment.yaml", "/tendon/till_arm.yaml",
                                        "/hybrid/four_bar.yaml", "/contact/bowl.yaml"};
    for (int i = 0; i < TRIALS; i++) {
        char path[512];
        (void)snprintf(path, sizeof path, EXAMPLES "%s", files[i % 4]);
        size_t length;
        char *text = read_file(path, &length);
        length = spoil(text, length, &seed);
        snw_pool *pool = snw_pool_create((size_t)256 << 20);
        snw_error err[2] = {{0}, {0}};
        snw_node *root[2] = {NULL, NULL};
        const bool ours = web_yaml_parse(pool, "m", text, length, &root[0], &err[0]) == SNW_OK;
        const bool theirs = snw_yaml_parse(pool, "m", text, length, &root[1], &err[1]) == SNW_OK;
        accepted += ours && theirs;
        stricter += !ours && theirs;
        looser += ours && !theirs;
        if (ours && theirs && difference(root[0], root[1])) {
            (void)agree(path, text, length);
            fail_msg("trees differ:\n%s", text);
        }
        snw_pool_destroy(pool);
        free(text);
    }
    assert_true(accepted > TRIALS / 10);
    assert_in_range(stricter, 0, TRIALS / 100);
    assert_in_range(looser, 0, TRIALS / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_the_same_trees),
        cmocka_unit_test(forms_are_the_same_trees),
        cmocka_unit_test(spoilt_texts_are_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
