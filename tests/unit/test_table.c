// SPDX-License-Identifier: MIT
//
// Measured data from CSV files, as read by laws.
#include "language/document.h"
#include "language/table.h"
#include "near.h"

#include <stdio.h>
#include <string.h>

static const char *const path = "test_table.csv";

static void write_file(const char *name, const char *text) {
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static snw_status find(snw_pool *pool, const char *text, const char *column, snw_table *out,
                       snw_error *err) {
    write_file(path, text);
    snw_tables *t = snw_tables_create(pool, "model.yaml", NULL);
    assert_non_null(t);
    *err = (snw_error){0};
    return snw_tables_find(t, NULL, path, column, out, err);
}

static void columns_are_found(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_table t;
    snw_error err;
    const char *const named = "# measured\r\nt, \"a b\",c\r\n\r\n0,1,2\r\n1,3,4e1\r\n";
    assert_int_equal(find(pool, named, "a b", &t, &err), SNW_OK);
    assert_int_equal(t.n, 2);
    assert_near(t.x[1], 1, 0);
    assert_near(t.y[1], 3, 0);
    assert_int_equal(find(pool, named, "3", &t, &err), SNW_OK);
    assert_near(t.y[1], 40, 0);
    assert_int_equal(find(pool, "0;5\n1;6\n2;7", "2", &t, &err), SNW_OK); // no names, no newline
    assert_int_equal(t.n, 3);
    assert_near(t.y[2], 7, 0);
    snw_pool_destroy(pool);
    assert_int_equal(remove(path), 0);
}

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *column;
        int line, at;
        const char *fragment;
    } cases[] = {
        {"", "2", 0, 0, "empty"},
        {"# nothing\n", "2", 0, 0, "empty"},
        {"t,a\n", "a", 0, 0, "no numbers"},
        {"1\n2\n", "1", 0, 0, "1 columns"},
        {"t,torque\n0,1\n", "torqe", 0, 0, "did you mean 'torque'"},
        {"t,a\n0,1\n", "3", 0, 0, "the file has 2"},
        {"t,a\n0,1\n", "0", 0, 0, "no such column"},
        {"t,a\n0,1\n1,x\n", "a", 3, 3, "'x' is not a number"},
        {"t,a\n0,1\n1,0x1\n", "a", 3, 3, "'0x1' is not a number"},
        {"t,a\n0,1\n1,\n", "a", 3, 3, "'' is not a number"},
        {"t,a\n0,1\n1,2,3\n", "a", 3, 1, "3 fields"},
        {"t,a\n0,1\n1,2\n1,2\n", "a", 4, 1, "must increase"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snw_pool *pool = snw_pool_create(1 << 20);
        snw_table t;
        snw_error err;
        assert_int_not_equal(find(pool, cases[i].text, cases[i].column, &t, &err), SNW_OK);
        if (err.line != cases[i].line || err.column != cases[i].at ||
            !strstr(err.text, cases[i].fragment)) {
            print_error("case %d: %d:%d: %s\n", (int)i, err.line, err.column, err.text);
            fail();
        }
        snw_pool_destroy(pool);
    }
    assert_int_equal(remove(path), 0);
}

static void laws_read_tables(void **state) {
    (void)state;
    write_file(path, "t,f\n0,0\n1,10\n2,20\n");
    const char *const text = "sinew: 1\nrobot: {a: {on: world}}\n"
                             "loads: {p: {on: a, force: ['table(\"test_table.csv\", \"f\")', 0, "
                             "'2*table(\"test_table.csv\", 2)']}}\n";
    snw_document *doc = NULL;
    snw_desc *desc = NULL;
    snw_error err = {0};
    assert_int_equal(snw_document_parse("m.yaml", text, strlen(text), 0, NULL, &doc, &err), SNW_OK);
    if (snw_document_describe(doc, 0, &desc, &err) != SNW_OK) {
        print_error("%s:%d:%d: %s\n", err.file, err.line, err.column, err.text);
        fail();
    }
    assert_near(snw_expr_value(desc->load[0].force[0], (snw_at){.t = 1.5}), 15, 1e-14);
    assert_near(snw_expr_value(desc->load[0].force[2], (snw_at){.t = 0.5}), 10, 1e-14);
    snw_desc_destroy(desc);
    assert_int_equal(remove(path), 0);
    snw_document_destroy(doc);

    // a missing file is reported at the law
    assert_int_equal(snw_document_parse("m.yaml", text, strlen(text), 0, NULL, &doc, &err), SNW_OK);
    assert_int_not_equal(snw_document_describe(doc, 0, &desc, &err), SNW_OK);
    assert_string_equal(err.file, "m.yaml");
    assert_int_equal(err.line, 3);
    assert_non_null(strstr(err.text, "test_table.csv"));
    snw_document_destroy(doc);
}

// files of measurements: fields may be blank and times repeated, names are required
static void measurements_may_be_missing(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_data_table m;
    snw_error err = {0};
    write_file(path, "t, a, b\n# twice\n0, 1,\n0, ,2\n\n3, 4, 5\n");
    assert_int_equal(snw_measured_read(pool, path, &m, &err), SNW_OK);
    assert_int_equal(m.ncolumn, 3);
    assert_int_equal(m.nrow, 3);
    assert_string_equal(m.name[2], "b");
    const double want[] = {0, 0, 3, 1, NAN, 4, NAN, 2, 5};
    for (int i = 0; i < 9; i++) {
        assert_true(isnan(want[i]) ? isnan(m.value[i]) : m.value[i] == want[i]);
    }
    assert_int_equal(m.line[0], 3);
    assert_int_equal(m.line[2], 6);
    static const struct {
        const char *text;
        int line;
        const char *fragment;
    } cases[] = {{"", 1, "empty"},
                 {"1,2\n", 1, "must name the columns"},
                 {"t,a\n,1\n", 2, "not a number"},
                 {"t,a\n2,1\n1,1\n", 3, "must increase"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err = (snw_error){0};
        write_file(path, cases[i].text);
        assert_int_equal(snw_measured_read(pool, path, &m, &err), SNW_E_PARSE);
        assert_string_equal(err.file, path);
        assert_int_equal(err.line, cases[i].line);
        assert_non_null(strstr(err.text, cases[i].fragment));
    }
    snw_pool_destroy(pool);
    assert_int_equal(remove(path), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(laws_read_tables),
        cmocka_unit_test(measurements_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
