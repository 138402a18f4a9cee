// SPDX-License-Identifier: MIT
#include "output/json.h"

#include "near.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char bytes[4096];
    size_t used, limit;
} text;

static bool keep(void *user, const char *bytes, size_t size) {
    text *t = user;
    if (t->used + size > t->limit) return false;
    memcpy(t->bytes + t->used, bytes, size);
    t->used += size;
    t->bytes[t->used] = '\0';
    return true;
}

static snw_json start(text *t) {
    *t = (text){.limit = sizeof t->bytes - 1};
    snw_json j;
    snw_json_begin(&j, (snw_sink){t, keep});
    return j;
}

static void objects_and_arrays_nest(void **state) {
    (void)state;
    text t;
    snw_json j = start(&t);
    snw_json_object(&j);
    snw_json_key(&j, "run");
    snw_json_text(&j, "main");
    snw_json_key(&j, "empty");
    snw_json_array(&j);
    snw_json_close(&j);
    snw_json_key(&j, "list");
    snw_json_array(&j);
    snw_json_integer(&j, -3);
    snw_json_object(&j);
    snw_json_close(&j);
    snw_json_array(&j);
    snw_json_bool(&j, true);
    snw_json_null(&j);
    snw_json_close(&j);
    snw_json_close(&j);
    snw_json_key(&j, "last");
    snw_json_bool(&j, false);
    snw_json_close(&j);
    assert_int_equal(snw_json_finish(&j, NULL), SNW_OK);
    assert_string_equal(
        t.bytes, "{\"run\":\"main\",\"empty\":[],\"list\":[-3,{},[true,null]],\"last\":false}\n");
}

static void text_is_escaped(void **state) {
    (void)state;
    text t;
    snw_json j = start(&t);
    snw_json_array(&j);
    snw_json_text(&j, "a\"b\\c\n\t\r\b\f\x01\x1f/");
    snw_json_text(&j, NULL);
    snw_json_text(&j, "");
    snw_json_text(&j, "5 \xC2\xB5m \xF0\x9F\x90\x8D");
    snw_json_close(&j);
    assert_int_equal(snw_json_finish(&j, NULL), SNW_OK);
    assert_string_equal(t.bytes, "[\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001\\u001f/\",null,\"\","
                                 "\"5 \xC2\xB5m \xF0\x9F\x90\x8D\"]\n");
}

// a lone byte, an overlong slash, a surrogate, a truncated character at the end
static void bad_utf8_is_replaced(void **state) {
    (void)state;
    text t;
    snw_json j = start(&t);
    snw_json_text(&j, "a\xFF|\xC0\xAF|\xED\xA0\x80|\xE2\x82");
    assert_int_equal(snw_json_finish(&j, NULL), SNW_OK);
#define BAD "\xEF\xBF\xBD"
    assert_string_equal(t.bytes, "\"a" BAD "|" BAD BAD "|" BAD BAD BAD "|" BAD BAD "\"\n");
#undef BAD
}

static void numbers_read_back_exactly(void **state) {
    (void)state;
    const double probe[] = {0,       -0.0, 0.1,     1.0 / 3, 1e300 / 7,   5e-324, DBL_MAX,
                            DBL_MIN, 1e22, 123456., -2.5e-7, 3.14159e-10, 100};
    for (size_t i = 0; i < sizeof probe / sizeof *probe; i++) {
        char number[SNW_NUMBER_SIZE];
        snw_number_text(probe[i], number);
        const double back = strtod(number, NULL);
        assert_memory_equal(&back, &probe[i], sizeof back);
    }
    char number[SNW_NUMBER_SIZE];
    snw_number_text(0.1, number);
    assert_string_equal(number, "0.1");
    snw_number_text(-DBL_MAX, number);
    assert_string_equal(number, "-1.7976931348623157e+308");
    snw_number_text(-INFINITY, number);
    assert_string_equal(number, "-inf");
}

static void not_a_number_is_null(void **state) {
    (void)state;
    text t;
    snw_json j = start(&t);
    snw_json_array(&j);
    snw_json_number(&j, NAN);
    snw_json_number(&j, -INFINITY);
    snw_json_number(&j, 0.25);
    snw_json_close(&j);
    assert_int_equal(snw_json_finish(&j, NULL), SNW_OK);
    assert_string_equal(t.bytes, "[null,null,0.25]\n");
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8")) skip();
    char number[SNW_NUMBER_SIZE];
    snw_number_text(-1.5e-9, number);
    (void)setlocale(LC_NUMERIC, "C");
    assert_string_equal(number, "-1.5e-09");
}

static void a_full_sink_is_an_error(void **state) {
    (void)state;
    text t;
    snw_json j = start(&t);
    t.limit = 5;
    snw_json_array(&j);
    for (int i = 0; i < 10; i++) snw_json_integer(&j, i);
    snw_json_close(&j);
    snw_error err = {0};
    assert_int_equal(snw_json_finish(&j, &err), SNW_E_IO);
    assert_string_equal(t.bytes, "[0,1,");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_and_arrays_nest), cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(bad_utf8_is_replaced),    cmocka_unit_test(numbers_read_back_exactly),
        cmocka_unit_test(not_a_number_is_null),    cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(a_full_sink_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
