// SPDX-License-Identifier: MIT
#include "language/tree.h"

#include "near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static snw_pool *pool;
static snw_source *source;

static int set_up(void **state) {
    (void)state;
    pool = snw_pool_create((size_t)256 << 20);
    source = NULL;
    return pool ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    snw_pool_destroy(pool);
    snw_source_destroy(source);
    return 0;
}

static snw_status make(const char *text, const char *set, int run, snw_node **root,
                       snw_error *err) {
    snw_source_destroy(source);
    source = NULL;
    snw_status s = snw_source_parse("m.yaml", text, strlen(text), set ? 1 : 0, &set, &source, err);
    if (s == SNW_OK) s = snw_source_tree(source, run, pool, root, err);
    return s;
}

// the tree of run number `run` of a text, `set` NULL or an override of the command line
static snw_node *tree(const char *text, int run, const char *set) {
    snw_error err = {0};
    snw_node *root = NULL;
    if (make(text, set, run, &root, &err) != SNW_OK) {
        print_error("%s:%d:%d: %s\n", err.file, err.line, err.column, err.text);
        fail();
    }
    return root;
}

// the error of any run, or of reading
#define refused(text, set, file, line, column, part)                                               \
    refused_(text, set, file, line, column, part, __LINE__)

static void refused_(const char *text, const char *set, const char *file, int line, int column,
                     const char *part, int caller) {
    snw_error err = {0};
    snw_node *root = NULL;
    snw_status s = make(text, set, 0, &root, &err);
    for (int i = 1; s == SNW_OK && i < snw_source_runs(source); i++) {
        s = snw_source_tree(source, i, pool, &root, &err);
    }
    const bool good = s == SNW_E_PARSE && strcmp(err.file, file) == 0 && err.line == line &&
                      err.column == column && strstr(err.text, part);
    if (good) return;
    print_error("line %d: status %d, %s:%d:%d: %s\n", caller, (int)s, err.file, err.line,
                err.column, err.text);
    print_error("        wanted %s:%d:%d with '%s'\n", file, line, column, part);
    fail();
}

// the value behind keys separated by '/', items of lists by number from 0
static snw_node *at(snw_node *node, const char *path) {
    char key[200];
    while (node && *path) {
        const size_t n = strcspn(path, "/");
        assert_true(n < sizeof key);
        memcpy(key, path, n);
        key[n] = '\0';
        path += n + (path[n] == '/');
        if (node->kind == SNW_NODE_LIST) {
            const long i = strtol(key, NULL, 10);
            node = i < node->n ? node->entry[i].value : NULL;
        } else {
            node = snw_node_get(node, key);
        }
    }
    return node;
}

static const char *text_at(snw_node *root, const char *path) {
    const snw_node *n = at(root, path);
    if (!n || n->kind != SNW_NODE_TEXT) {
        print_error("no text at %s\n", path);
        fail();
        return "";
    }
    return n->text;
}

static double value_at(snw_node *root, const char *path) {
    const snw_node *n = at(root, path);
    assert_non_null(n);
    const snw_expr_rules rules = {0};
    const snw_expr *e;
    snw_error err = {0};
    if (snw_expr_parse(pool, n->scope, n->text, &rules, "m.yaml", 1, 1, &e, &err) != SNW_OK) {
        print_error("%s: %s\n", path, err.text);
        fail();
    }
    return snw_expr_value(e, (snw_at){0});
}

static const char *name_at(snw_node *root, const char *path) {
    const char *name = NULL;
    snw_error err = {0};
    const snw_node *n = at(root, path);
    assert_non_null(n);
    if (snw_name_resolve(n, pool, &name, &err) != SNW_OK) {
        print_error("%s: %s\n", path, err.text);
        fail();
    }
    return name;
}

// every node of the tree has a scope and a file
static void check_scopes(const snw_node *n) {
    assert_non_null(n->scope);
    assert_non_null(n->location.file);
    for (int i = 0; i < n->n; i++) check_scopes(n->entry[i].value);
}

// ---- sources ------------------------------------------------------------------------------------

static void version_is_asked_for(void **state) {
    (void)state;
    refused("title: x\n", NULL, "m.yaml", 1, 1, "'sinew: 1'");
    refused("title: x\nsinew: 2\n", NULL, "m.yaml", 2, 8, "reads version 1");
    refused("sinew: [1]\n", NULL, "m.yaml", 1, 8, "reads version 1");
    refused("[a]\n", NULL, "m.yaml", 1, 1, "a map");
    refused("just text\n", NULL, "m.yaml", 1, 1, "a map");
    refused("sinew: 1\na: [\n", NULL, "m.yaml", 2, 4, "");
}

static void private_keys_are_dropped_anywhere(void **state) {
    (void)state;
    snw_node *root = tree("sinew: 1\nx-base: &b {on: world, x-note: 1}\n"
                          "robot: {a: {<<: *b, x-more: {y: 1}}, x-b: 2}\n",
                          0, NULL);
    assert_null(at(root, "x-base"));
    assert_int_equal(at(root, "robot")->n, 1);
    assert_int_equal(at(root, "robot/a")->n, 1);
    assert_string_equal(text_at(root, "robot/a/on"), "world");
    assert_string_equal(snw_source_run_name(source, 0), "main");
    assert_int_equal(snw_source_runs(source), 1);
    check_scopes(root);
}

// ---- includes -----------------------------------------------------------------------------------

static char folder[] = "/tmp/sinew-tree-XXXXXX";

static void put(const char *name, const char *text) {
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static snw_status load(const char *name, snw_node **root, snw_error *err) {
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    snw_source_destroy(source);
    source = NULL;
    snw_status s = snw_source_read(path, 0, NULL, &source, err);
    if (s == SNW_OK) s = snw_source_tree(source, 0, pool, root, err);
    return s;
}

static void load_refused(const char *name, const char *file, int line, int column,
                         const char *part) {
    snw_error err = {0};
    snw_node *root = NULL;
    assert_int_equal(load(name, &root, &err), SNW_E_PARSE);
    const char *slash = strrchr(err.file, '/');
    const bool good = slash && strcmp(slash + 1, file) == 0 && err.line == line &&
                      err.column == column && strstr(err.text, part);
    if (!good) print_error("%s:%d:%d: %s\n", err.file, err.line, err.column, err.text);
    assert_true(good);
}

static void including_files_have_priority(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    char sub[300];
    (void)snprintf(sub, sizeof sub, "%s/lib", folder);
    assert_int_equal(mkdir(sub, 0700), 0);
    put("a.yaml", "sinew: 1\ninclude: [lib/b.yaml, c.yaml]\nrobot: {arm: {rod: {length: 2}}}\n"
                  "study: [static]\nloads:\n");
    put("lib/b.yaml", "include: d.yaml\ngravity: 1\nrobot:\n  arm: {on: world, rod: {length: 1, "
                      "nodes: 5}}\nstudy: [dynamic, static]\n");
    put("lib/d.yaml", "sinew: 1\ngravity: 0\nloads: {w: {on: arm}}\n");
    put("c.yaml", "gravity: 3\n");
    snw_error err = {0};
    snw_node *root = NULL;
    assert_int_equal(load("a.yaml", &root, &err), SNW_OK);
    assert_string_equal(text_at(root, "robot/arm/rod/length"), "2");
    assert_string_equal(text_at(root, "robot/arm/rod/nodes"), "5");
    assert_string_equal(text_at(root, "gravity"), "3"); // the later include has precedence
    assert_int_equal(at(root, "study")->n, 1);          // lists are replaced
    assert_string_equal(text_at(root, "loads/w/on"), "arm");
    assert_null(at(root, "include"));
    assert_non_null(strstr(at(root, "robot/arm/rod/nodes")->location.file, "lib/b.yaml"));
    assert_true(strncmp(snw_source_text(source), "sinew: 1\ninclude", 16) == 0);
    assert_non_null(strstr(snw_source_text(source), "# ---- included: "));
    assert_non_null(strstr(snw_source_text(source), "lib/d.yaml\nsinew: 1"));

    // `~` removes a key, at any depth; an empty value does not
    put("less.yaml",
        "sinew: 1\ninclude: a.yaml\nrobot: {arm: {rod: {nodes: ~}}}\nloads: {w: null}\n"
        "gravity: ~\nstudy:\nprobes: {a: ~}\n"
        "x-p: &p {k: 1, l: 2}\nfluid: {f: {<<: [{m: 3}, *p], k: ~, l: 5, n: ~}}\n");
    assert_int_equal(load("less.yaml", &root, &err), SNW_OK);
    assert_string_equal(text_at(root, "robot/arm/rod/length"), "2");
    assert_null(at(root, "robot/arm/rod/nodes"));
    assert_non_null(at(root, "loads"));
    assert_null(at(root, "loads/w"));
    assert_null(at(root, "gravity"));
    assert_non_null(at(root, "probes/a")); // there was none to remove
    assert_null(at(root, "fluid/f/k"));
    assert_string_equal(text_at(root, "fluid/f/l"), "5");
    assert_string_equal(text_at(root, "fluid/f/m"), "3");
    assert_non_null(at(root, "fluid/f/n"));

    put("self.yaml", "sinew: 1\ninclude: self.yaml\n");
    load_refused("self.yaml", "self.yaml", 2, 10, "includes itself");
    put("p.yaml", "sinew: 1\ninclude: [q.yaml]\n");
    put("q.yaml", "include: ./p.yaml\n");
    load_refused("p.yaml", "q.yaml", 1, 10, "includes itself by way of others");
    put("gone.yaml", "sinew: 1\ninclude:\n  - none.yaml\n");
    load_refused("gone.yaml", "gone.yaml", 3, 5, "No such file");
    put("dir.yaml", "sinew: 1\ninclude: lib\n");
    load_refused("dir.yaml", "dir.yaml", 2, 10, "a folder");
    put("bad.yaml", "sinew: 1\ninclude: {a: 1}\n");
    load_refused("bad.yaml", "bad.yaml", 2, 10, "file names");
    put("v2.yaml", "sinew: 1\ninclude: v.yaml\n");
    put("v.yaml", "sinew: 2\n");
    load_refused("v2.yaml", "v.yaml", 1, 8, "version 1");
    for (int i = 0; i < 20; i++) {
        char name[20], text[60];
        (void)snprintf(name, sizeof name, "n%d.yaml", i);
        (void)snprintf(text, sizeof text, "sinew: 1\ninclude: n%d.yaml\n", i + 1);
        put(name, text);
    }
    load_refused("n0.yaml", "n16.yaml", 2, 10, "16 deep");

    assert_int_equal(load("nowhere.yaml", &root, &err), SNW_E_IO);
    assert_non_null(strstr(err.file, "nowhere.yaml"));
    char command[320];
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

// ---- parameters ---------------------------------------------------------------------------------

static void parameters_make_a_scope(void **state) {
    (void)state;
    snw_node *root = tree("sinew: 1\nparameters:\n  C: 2 N\n  a: [1, 2*n, '7']\n  B(u): u^2 + n\n"
                          "  n: 3\n  law: sin(t)*x/L\ngravity: [C, a(2), B(4)]\n",
                          0, NULL);
    assert_near(value_at(root, "gravity/0"), 2, 0);
    assert_near(value_at(root, "gravity/1"), 6, 0);
    assert_near(value_at(root, "gravity/2"), 19, 0);
    assert_true(root->scope && snw_scope_has(root->scope, "law"));
    refused("sinew: 1\nparameters: {C: 2 +* 3}\n", NULL, "m.yaml", 2, 20, "");
    refused("sinew: 1\nparameters: {C: \"2 + nope\"}\n", NULL, "m.yaml", 2, 22, "nope");
    refused("sinew: 1\nparameters: {C: D, D: C}\n", NULL, "m.yaml", 2, 23, "depends on itself");
    refused("sinew: 1\nparameters: {C: }\n", NULL, "m.yaml", 2, 14, "no value");
    refused("sinew: 1\nparameters: {C: {a: 1}}\n", NULL, "m.yaml", 2, 14, "not a map");
    refused("sinew: 1\nparameters: {C: []}\n", NULL, "m.yaml", 2, 17, "empty");
    refused("sinew: 1\nparameters: {C: [1, [2]]}\n", NULL, "m.yaml", 2, 18, "not both");
    refused("sinew: 1\nparameters: {a(k=1..2): 1}\n", NULL, "m.yaml", 2, 14, "name");
    refused("sinew: 1\nparameters: [1]\n", NULL, "m.yaml", 2, 13, "a map");
    refused("sinew: 1\nparameters: {t: 1}\n", NULL, "m.yaml", 2, 17, "'t'");
}

static void lists_stand_for_their_names(void **state) {
    (void)state;
    snw_node *root = tree("sinew: 1\nparameters: {v: [1, 2, n], e: [[1, 0], [0, n]], n: 4}\n"
                          "robot:\n  m(k=1..2): {on: world, axis: e(k), xyz: v, w: 'v(k)'}\n"
                          "title: v\n",
                          0, NULL);
    assert_near(value_at(root, "robot/m(2)/axis/1"), 4, 0);
    assert_near(value_at(root, "robot/m(1)/xyz/2"), 4, 0);
    assert_near(value_at(root, "robot/m(2)/w"), 2, 0); // an item stays an expression
    assert_string_equal(text_at(root, "title"), "v");
    check_scopes(root);
    refused("sinew: 1\nparameters: {e: [[1], [2]]}\nrobot: {a: {axis: e(3)}}\n", NULL, "m.yaml", 3,
            19, "no row 3");
}

// ---- repetitions --------------------------------------------------------------------------------

static void repetitions_are_written_out(void **state) {
    (void)state;
    snw_node *root = tree("sinew: 1\nparameters: {n: 3, m(j): j^2}\nrobot:\n"
                          "  leg(0): {on: world}\n"
                          "  leg(k=1..n): {on: leg(k-1).tip, mass: 2*k, sub(j=k..k): {on: k + j}}\n"
                          "  a(i=1..2, j=1..i): {on: \"leg(i + j).tip\"}\n"
                          "  c( 2*n ): {on: world}\n  none(k=1..0): {}\n"
                          "probes: {d(k=2..3): {position: leg(k)}}\n"
                          "study: [{inverse: {find: leg(k=1..2).rod.length}}]\n"
                          "actuators: {drive: {wheels: [b, leg(k=2..n), c], hold: {d(n).x: 0}}}\n",
                          0, NULL);
    assert_int_equal(at(root, "robot")->n, 8);
    assert_string_equal(name_at(root, "robot/leg(1)/on"), "leg(0).tip");
    assert_string_equal(name_at(root, "robot/leg(3)/on"), "leg(2).tip");
    assert_near(value_at(root, "robot/leg(3)/mass"), 6, 0);
    assert_near(value_at(root, "robot/leg(3)/sub(3)/on"), 6, 0);
    assert_non_null(at(root, "robot/a(1,1)"));
    assert_null(at(root, "robot/a(1,2)"));
    assert_string_equal(name_at(root, "robot/a(2,1)/on"), "leg(3).tip");
    assert_non_null(at(root, "robot/c(6)"));
    assert_string_equal(name_at(root, "probes/d(3)/position"), "leg(3)");
    assert_string_equal(text_at(root, "study/0/inverse/find/1"), "leg(2).rod.length");
    assert_int_equal(at(root, "actuators/drive/wheels")->n, 4);
    assert_string_equal(text_at(root, "actuators/drive/wheels/2"), "leg(3)");
    assert_non_null(at(root, "actuators/drive/hold/d(3).x"));
    check_scopes(root);
}

static void faulty_repetitions_have_a_place(void **state) {
    (void)state;
    refused("sinew: 1\nrobot:\n  a(k=1..2): {}\n  a(2): {}\n", NULL, "m.yaml", 4, 3,
            "'a(2)' is given twice, first in line 3");
    refused("sinew: 1\nrobot:\n  a(k=1..q): {}\n", NULL, "m.yaml", 3, 10, "q");
    refused("sinew: 1\nrobot:\n  a(k=1..2.5): {}\n", NULL, "m.yaml", 3, 10, "whole number");
    refused("sinew: 1\nrobot:\n  a(k=1..t): {}\n", NULL, "m.yaml", 3, 10, "t");
    refused("sinew: 1\nrobot:\n  a(k=1..30000): {}\n", NULL, "m.yaml", 3, 3, "20000");
    refused("sinew: 1\nrobot:\n  a(k=1..: {}\n", NULL, "m.yaml", 3, 5, "')' is missing");
    refused("sinew: 1\nrobot:\n  a(): {}\n", NULL, "m.yaml", 3, 5, "index is missing");
    refused("sinew: 1\nrobot:\n  a(t=1..2): {}\n", NULL, "m.yaml", 3, 5, "t");
    refused("sinew: 1\nx: {'a(i=1..99,j=1..99)': {b(k=1..99): {}}}\n", NULL, "m.yaml", 2, 28,
            "20000");
}

static void names_resolve_their_indices_only(void **state) {
    (void)state;
    snw_node *root = tree("sinew: 1\nparameters: {n: 4}\nrobot:\n"
                          "  s(k=2..2): {a: \"snake@(mod(k*L, 2))\", b: leg(k)@50%,\n"
                          "    c: limb(ceil(k/2)).root, d: world, e: 'q(k, n-1)', f: leg(k/4)}\n",
                          0, NULL);
    assert_string_equal(name_at(root, "robot/s(2)/a"), "snake@(mod(k*L, 2))");
    assert_string_equal(name_at(root, "robot/s(2)/b"), "leg(2)@50%");
    assert_string_equal(name_at(root, "robot/s(2)/c"), "limb(1).root");
    assert_string_equal(name_at(root, "robot/s(2)/d"), "world");
    assert_string_equal(name_at(root, "robot/s(2)/e"), "q(2,3)");
    const char *name;
    snw_error err = {0};
    assert_int_equal(snw_name_resolve(at(root, "robot/s(2)/f"), pool, &name, &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "whole number"));
    assert_int_equal(err.line, 5);
    assert_int_equal(err.column, 63);
}

// ---- runs ---------------------------------------------------------------------------------------

static void runs_are_planned(void **state) {
    (void)state;
    snw_node *root = tree("sinew: 1\nparameters: {C: 1, D: 2, n: 2}\ngravity: [C, D]\nruns:\n"
                          "  plain:\n  empty: {}\n  one(k=1..n): {C: 10*k, gravity.2: k}\n"
                          "  load: {C: {each: [5, 6]}, gravity: {each: [C, [C, D], 3]}}\n"
                          "  many(k=1..1): {D: {each: [1, 2]}}\n",
                          2, NULL);
    static const char *const names[] = {"plain",  "empty",  "one(1)",    "one(2)",
                                        "load.1", "load.2", "load.3",    "load.4",
                                        "load.5", "load.6", "many(1).1", "many(1).2"};
    assert_int_equal(snw_source_runs(source), 12);
    for (int i = 0; i < 12; i++) assert_string_equal(snw_source_run_name(source, i), names[i]);
    assert_null(at(root, "runs"));
    assert_near(value_at(root, "gravity/0"), 10, 0);
    assert_near(value_at(root, "gravity/1"), 1, 0);
    snw_error err = {0};
    assert_int_equal(snw_source_tree(source, 8, pool, &root, &err), SNW_OK); // load.5: 6, [C, D]
    assert_near(value_at(root, "gravity/0"), 6, 0);
    assert_near(value_at(root, "gravity/1"), 2, 0);
    assert_int_equal(snw_source_tree(source, 6, pool, &root, &err), SNW_OK); // load.3: 5, 3
    assert_string_equal(text_at(root, "gravity"), "3");
}

static void faulty_runs_have_a_place(void **state) {
    (void)state;
    refused("sinew: 1\nruns: [a]\n", NULL, "m.yaml", 2, 7, "a map");
    refused("sinew: 1\nruns: {a: 3}\n", NULL, "m.yaml", 2, 11, "overrides");
    refused("sinew: 1\nruns: {a b: {}}\n", NULL, "m.yaml", 2, 8, "not a name");
    refused("sinew: 1\nruns: {a(k=1..2): , a(1): }\n", NULL, "m.yaml", 2, 21, "twice");
    refused("sinew: 1\nruns: {a: {gravity: {each: []}}}\n", NULL, "m.yaml", 2, 28, "list");
    refused("sinew: 1\nruns: {a(k=1..1001): }\n", NULL, "m.yaml", 2, 8, "1000 runs");
    refused("sinew: 1\nparameters: {k: 1}\nruns: {a(k=1..2): }\n", NULL, "m.yaml", 3, 10,
            "the name of a parameter");
    refused(
        "sinew: 1\nruns: {a: {gravity: {each: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}, title: {each: "
        "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, about: {each: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}}}\n",
        NULL, "m.yaml", 2, 8, "1000 runs");
}

// ---- overrides ----------------------------------------------------------------------------------

static const char arm[] = "sinew: 1\n"
                          "parameters: {C: 2 N*m, a: [1, 2], B(u): u}\n"
                          "robot:\n"
                          "  arm: {on: world, rod: {length: 1, strain: {bend_y: legendre 3}}}\n"
                          "  limb(k=1..2): {on: world, rod: {length: k}}\n"
                          "loads: {twist: {on: arm.tip, torque: [0, C, 0], when: t < 1}}\n"
                          "study:\n"
                          "  - static\n"
                          "  - dynamic: {name: fall, step: 1}\n"
                          "  - static: {tolerance: 1}\n"
                          "  - change: {B(v): 3, limb(k=1..2): off, a(2): 1}\n";

static void overrides_reach_everything(void **state) {
    (void)state;
    assert_near(value_at(tree(arm, 0, "C=3 N*m"), "loads/twist/torque/1"), 3, 0);
    assert_near(value_at(tree(arm, 0, "a=[5, 6]"), "parameters/a/1"), 6, 0);
    assert_near(value_at(tree(arm, 0, "a(2)=7"), "parameters/a/1"), 7, 0);
    assert_near(value_at(tree(arm, 0, "a.1=8"), "parameters/a/0"), 8, 0);
    assert_non_null(at(tree(arm, 0, "B(w)=2*w"), "parameters/B(w)"));
    snw_node *root = tree(arm, 0, "arm.rod.strain={bend_z: legendre 3}");
    assert_string_equal(text_at(root, "robot/arm/rod/strain/bend_z"), "legendre 3");
    assert_null(at(root, "robot/arm/rod/strain/bend_y"));
    assert_string_equal(text_at(tree(arm, 0, "limb(2).rod.length=9"), "robot/limb(2)/rod/length"),
                        "9");
    assert_near(value_at(tree(arm, 0, "limb(k=1..2).rod.length=k + 4"), "robot/limb(2)/rod/length"),
                6, 0);
    assert_string_equal(text_at(tree(arm, 0, "twist=off"), "loads/twist/when"), "off");
    assert_string_equal(text_at(tree(arm, 0, "limb(1)=on"), "robot/limb(1)/when"), "on");
    assert_string_equal(text_at(tree(arm, 0, "twist.torque.2=7"), "loads/twist/torque/1"), "7");
    assert_null(at(tree(arm, 0, "arm.rod.strain=off"), "robot/arm/rod/strain"));
    assert_string_equal(text_at(tree(arm, 0, "gravity=0"), "gravity"), "0");
    assert_string_equal(text_at(tree(arm, 0, "record.every=5 ms"), "record/every"), "5 ms");
    assert_string_equal(text_at(tree(arm, 0, "arm.body.mass=1 kg"), "robot/arm/body/mass"), "1 kg");
    assert_string_equal(text_at(tree(arm, 0, "fall.step=2"), "study/1/dynamic/step"), "2");
    assert_string_equal(text_at(tree(arm, 0, "static.step=2"), "study/0/static/step"), "2");
    assert_string_equal(text_at(tree(arm, 0, "static.2.tolerance=4"), "study/2/static/tolerance"),
                        "4");
    root = tree(arm, 0, "robot.arm.on=limb(1)");
    assert_string_equal(text_at(root, "robot/arm/on"), "limb(1)");
    // overrides of a change step are kept as written
    assert_int_equal(at(root, "study/3/change")->n, 3);
    assert_non_null(at(root, "study/3/change/B(v)"));
    assert_non_null(at(root, "study/3/change/limb(k=1..2)"));
    check_scopes(root);
    // and can be overridden themselves, path by path
    root = tree(arm, 0, "change.twist=off");
    assert_string_equal(text_at(root, "study/3/change/twist"), "off");
    assert_string_equal(text_at(root, "loads/twist/when"), "t < 1");
    assert_int_equal(at(tree(arm, 0, "change.arm.rod.length=1 m"), "study/3/change")->n, 4);
}

static void changes_have_priority_over_all(void **state) {
    (void)state;
    snw_node *root = tree(arm, 0, "C=3 N*m");
    const snw_node *first = at(root, "study/3/change");
    assert_non_null(first);
    snw_error err = {0};
    snw_node *changed = NULL;
    assert_int_equal(
        snw_source_tree_changed(source, 0, first->n, first->entry, NULL, pool, &changed, &err),
        SNW_OK);
    assert_string_equal(text_at(changed, "robot/limb(2)/when"), "off");
    assert_near(value_at(changed, "parameters/a/1"), 1, 0);
    assert_non_null(at(changed, "parameters/B(v)"));
    assert_near(value_at(changed, "loads/twist/torque/1"), 3, 0); // from the command line
    assert_null(at(root, "robot/limb(2)/when"));                  // the original tree is unchanged
    check_scopes(changed);
    snw_node value = {.kind = SNW_NODE_TEXT, .text = "5 N*m", .location = {"m.yaml", 30, 9}};
    snw_entry over = {.key = "C", .location = {"m.yaml", 30, 5}, .value = &value};
    assert_int_equal(snw_source_tree_changed(source, 0, 1, &over, NULL, pool, &changed, &err),
                     SNW_OK);
    assert_near(value_at(changed, "loads/twist/torque/1"), 5, 0);
    over.key = "fall.step";
    assert_int_equal(snw_source_tree_changed(source, 0, 1, &over, NULL, pool, &changed, &err),
                     SNW_E_PARSE);
    assert_int_equal(err.line, 30);
    assert_non_null(strstr(err.text, "'fall' is a step"));
}

static void command_line_wins_over_the_run(void **state) {
    (void)state;
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "%sruns: {r: {C: 5 N*m, gravity: 1, twist: off, record: 1}}\n", arm);
    snw_node *root = tree(text, 0, NULL);
    assert_near(value_at(root, "loads/twist/torque/1"), 5, 0);
    assert_string_equal(text_at(root, "gravity"), "1");
    assert_string_equal(text_at(root, "loads/twist/when"), "off");
    assert_near(value_at(tree(text, 0, "C=6 N*m"), "loads/twist/torque/1"), 6, 0);
    assert_string_equal(text_at(tree(text, 0, "gravity=2"), "gravity"), "2");
}

// the scheme of the step in the `study` that a run or the command line provides
static const char *scheme_of(const char *overrides, const char *set) {
    static char text[1000];
    (void)snprintf(text, sizeof text,
                   "%sx-base: &base {study: [dynamic: {scheme: bdf2}]}\nruns: {r: {%s}}\n", arm,
                   overrides);
    return text_at(tree(text, 0, set), "study/0/dynamic/scheme");
}

static void overrides_do_not_depend_on_their_order(void **state) {
    (void)state;
    static const char *const all[] = {
        "dynamic.scheme: euler, study: [dynamic: {scheme: bdf2}]",
        "study: [dynamic: {scheme: bdf2}], dynamic.scheme: euler",
        "dynamic.scheme: euler, <<: *base",
        "<<: *base, dynamic.scheme: euler",
        "dynamic.scheme: {each: [euler, rk4]}, study: [dynamic: {scheme: bdf2}]",
        "dynamic.scheme: euler, study.1: {dynamic: {scheme: bdf2}}",
        "dynamic.scheme: euler, study.1.dynamic: {scheme: bdf2}, study: [dynamic: {}]",
        "dynamic.name: swing, dynamic.scheme: euler, study: [dynamic]",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_string_equal(scheme_of(all[i], NULL), "euler");
    }
    // the run's keys apply also inside a part that the command line replaces, and the other way
    // round
    assert_string_equal(scheme_of("dynamic.scheme: euler", "study=[dynamic: {scheme: bdf2}]"),
                        "euler");
    assert_string_equal(scheme_of("study: [dynamic: {scheme: bdf2}]", "dynamic.scheme=euler"),
                        "euler");
    assert_string_equal(scheme_of("<<: *base, dynamic.scheme: euler", "dynamic.scheme=rk4"), "rk4");
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "%sruns:\n  r: {limb(2).rod.length: 5, limb(k=1..2).rod.length: 7, a(2): 9, a: "
                   "[3, 4], twist: off, loads.twist: {on: arm.tip, when: on}}\n",
                   arm);
    snw_node *root = tree(text, 0, NULL);
    assert_string_equal(text_at(root, "robot/limb(2)/rod/length"), "5");
    assert_string_equal(text_at(root, "robot/limb(1)/rod/length"), "7");
    assert_near(value_at(root, "parameters/a/0"), 3, 0);
    assert_near(value_at(root, "parameters/a/1"), 9, 0);
    assert_string_equal(text_at(root, "loads/twist/when"), "off");
    assert_near(value_at(tree(text, 0, "a=[1, 2]"), "parameters/a/1"), 9, 0);
}

static void overrides_that_contradict_are_refused(void **state) {
    (void)state;
    static const char *const all[] = {
        "arm.rod.length: 2, robot.arm.rod.length: 3",
        "robot.arm.rod.length: 3, arm.rod.length: 2",
        "robot.arm.rod: off, arm.rod: {length: 2}",
        "a(2): 1, a.2: 3",
        "twist: off, twist.when: on",
        "fall.step: 3, study.2.dynamic.step: 4",
        "limb(k=1..2).on: arm, limb(j=2..2).on: world",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[1000];
        (void)snprintf(text, sizeof text, "%sruns:\n  r: {%s}\n", arm, all[i]);
        snw_error err = {0};
        snw_node *root = NULL;
        assert_int_equal(make(text, NULL, 0, &root, &err), SNW_E_PARSE);
        assert_int_equal(err.line, 13);
        assert_non_null(strstr(err.text, "override the same value"));
    }
    static const char *const twice[] = {"C=1 N*m", "C=2 N*m"};
    snw_error err = {0};
    snw_node *root = NULL;
    snw_source_destroy(source);
    assert_int_equal(snw_source_parse("m.yaml", arm, strlen(arm), 2, twice, &source, &err), SNW_OK);
    assert_int_equal(snw_source_tree(source, 0, pool, &root, &err), SNW_E_PARSE);
    assert_string_equal(err.file, "--set");
}

static void faulty_overrides_have_a_place(void **state) {
    (void)state;
    refused(arm, "CC=1", "--set", 1, 1, "did you mean 'C'?");
    refused(arm, "limb.rod=1", "--set", 1, 1, "did you mean 'limb(1)'?");
    refused(arm, "nonsense.rod=1", "--set", 1, 1, "'nonsense' names no");
    refused(arm, "limb(3).rod=1", "--set", 1, 1, "'limb(3)'");
    refused(arm, "arm.rod.length.x=1", "--set", 1, 1, "no key 'x'");
    refused(arm, "twist.torque.4=1", "--set", 1, 1, "no item '4'");
    refused(arm, "gravity", "--set", 1, 1, "path=value");
    refused(arm, "=3", "--set", 1, 1, "path=value");
    refused(arm, "gravity=", "--set", 1, 9, "no value");
    refused(arm, "gravity=[1, 2", "--set", 1, 9, "closing");
    refused(arm, "C={each: [1]}", "--set", 1, 3, "'each'");
    refused(arm, "C=3 *", "--set", 1, 6, "");
    refused(arm, "static=off", "--set", 1, 1, "cannot be switched off");
    refused(arm, "gravity=off", "--set", 1, 1, "cannot be switched off");
    refused(arm, "B=3", "--set", 1, 1, "'B(u)'");
    refused(arm, "B(u, v)=3", "--set", 1, 1, "'B(u)'");
    refused(arm, "C(1)=3", "--set", 1, 1, "not a list");
    refused(arm, "a(3)=3", "--set", 1, 1, "items 1 to 2");
    refused(arm, "C.x=3", "--set", 1, 1, "no keys");
    refused(arm, "arm..rod=3", "--set", 1, 1, "not a path");
    refused(arm, "parameters.C=3", "--set", 1, 1, "name the parameter itself");
    refused("sinew: 1\nruns: {a: {grafity: 1}}\n", NULL, "m.yaml", 2, 12,
            "did you mean 'gravity'?");
    refused("sinew: 1\nrobot: {a: {}}\nloads: {a: {}}\nruns: {r: {a: off}}\n", NULL, "m.yaml", 4,
            12, "ambiguous: it names a link and a load");
}

static void names_are_unique(void **state) {
    (void)state;
    refused("sinew: 1\nrobot: {a: {}}\nloads: {a: {}}\n", NULL, "m.yaml", 3, 9,
            "'a' is given twice: this load and the link in line 2");
    refused("sinew: 1\nrobot: {a: {}}\nstudy: [static: {name: a}]\n", NULL, "m.yaml", 3, 24,
            "step");
    refused("sinew: 1\nrobot: {static: {}}\nstudy: [static: {}]\n", NULL, "m.yaml", 3, 9, "step");
    refused("sinew: 1\nparameters: {a: 1}\nrobot: {a(1): {}}\n", NULL, "m.yaml", 3, 9,
            "name of a parameter, line 2");
    refused("sinew: 1\nparameters: {a: 1}\nprobes: {a: energy}\n", NULL, "m.yaml", 3, 10,
            "name of a parameter");
    refused("sinew: 1\nrobot: {gravity: {}}\n", NULL, "m.yaml", 2, 9, "key of the file");
    (void)tree("sinew: 1\nrobot: {a: {}, a(1): {}}\nprobes: {a: energy}\n"
               "study: [static: {}, static: {}, dynamic: {}]\n",
               0, NULL);
}

static snw_status straight(void *user, const char *from, const char *file, const char *column,
                           snw_table *out, snw_error *err) {
    static const double x[] = {0, 1}, y[] = {0, 2};
    (void)from, (void)file, (void)column, (void)err;
    *(int *)user += 1;
    *out = (snw_table){.n = 2, .x = x, .y = y};
    return SNW_OK;
}

static void tables_are_asked_of_the_caller(void **state) {
    (void)state;
    const char text[] = "sinew: 1\nparameters: {q: 'table(\"f.csv\", 2)'}\n";
    refused(text, NULL, "m.yaml", 2, 18, "");
    snw_error err = {0};
    snw_node *root = NULL;
    int asked = 0;
    snw_source_tables(source, straight, &asked);
    assert_int_equal(snw_source_tree(source, 0, pool, &root, &err), SNW_OK);
    assert_true(asked > 0);
}

static void trees_outlive_their_source(void **state) {
    (void)state;
    snw_node *root = tree(arm, 0, "gravity=3");
    snw_source_destroy(source);
    source = NULL;
    assert_string_equal(text_at(root, "gravity"), "3");
    assert_string_equal(root->location.file, "m.yaml");
    assert_near(value_at(root, "loads/twist/torque/1"), 2, 0);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(version_is_asked_for),
        TEST(private_keys_are_dropped_anywhere),
        TEST(including_files_have_priority),
        TEST(parameters_make_a_scope),
        TEST(lists_stand_for_their_names),
        TEST(repetitions_are_written_out),
        TEST(faulty_repetitions_have_a_place),
        TEST(names_resolve_their_indices_only),
        TEST(runs_are_planned),
        TEST(faulty_runs_have_a_place),
        TEST(overrides_reach_everything),
        TEST(changes_have_priority_over_all),
        TEST(command_line_wins_over_the_run),
        TEST(overrides_do_not_depend_on_their_order),
        TEST(overrides_that_contradict_are_refused),
        TEST(faulty_overrides_have_a_place),
        TEST(names_are_unique),
        TEST(tables_are_asked_of_the_caller),
        TEST(trees_outlive_their_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
