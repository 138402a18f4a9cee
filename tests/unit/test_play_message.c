// SPDX-License-Identifier: MIT
//
// Messages of a page to a live simulation: valid messages, and malformed ones.
#include "output/play_message.h"

#include "near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static snw_status read(const char *text, snw_play_message *out) {
    snw_error err = {0};
    const snw_status s = snw_play_read(text, strlen(text), out, &err);
    assert_true((s == SNW_OK) == (err.text[0] == '\0'));
    return s;
}

static void messages_are_read(void **state) {
    (void)state;
    snw_play_message m;
    assert_int_equal(read("{\"do\":\"set\",\"control\":2,\"value\":-1.5e-3}", &m), SNW_OK);
    assert_int_equal(m.verb, SNW_PLAY_SET);
    assert_int_equal(m.control, 2);
    assert_near(m.value, -1.5e-3, 0);
    assert_int_equal(read(" { \"to\" : [1,\t2,-3] "
                          ",\"at\":[0,0,0.25],\"strength\":4,\"do\":\"pull\",\n\"node\":17 } ",
                          &m),
                     SNW_OK);
    assert_int_equal(m.verb, SNW_PLAY_PULL);
    assert_int_equal(m.node, 17);
    assert_near(m.to[2], -3, 0);
    assert_near(m.at[2], 0.25, 0);
    assert_near(m.strength, 4, 0);
    assert_int_equal(read("{\"do\":\"pause\",\"on\":true}", &m), SNW_OK);
    assert_true(m.verb == SNW_PLAY_PAUSE && m.on);
    assert_int_equal(read("{\"do\":\"record\",\"on\":false}", &m), SNW_OK);
    assert_true(m.verb == SNW_PLAY_RECORD && !m.on);
    assert_int_equal(read("{\"do\":\"reset\"}", &m), SNW_OK);
    assert_int_equal(m.verb, SNW_PLAY_RESET);
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "}",
        "{}",
        "[]",
        "null",
        "1",
        "\"do\"",
        "{\"do\"}",
        "{\"do\":}",
        "{\"do\":\"set\"}",
        "{\"do\":\"fly\"}",
        "{\"do\":1}",
        "{\"do\":[1,2,3]}",
        "{\"do\":\"reset\",}",
        "{\"do\":\"reset\"}}",
        "{\"do\":\"reset\"} x",
        "{\"do\":\"reset\",\"do\":\"reset\"}",
        "{\"do\":\"reset\",\"on\":true}",
        "{do:\"reset\"}",
        "{'do':'reset'}",
        "{\"do\":\"res\\u0065t\"}",
        "{\"do\":\"reset",
        "{\"do\":\"set\",\"control\":1,\"value\":NaN}",
        "{\"do\":\"set\",\"control\":1,\"value\":1e999}",
        "{\"do\":\"set\",\"control\":1,\"value\":0x10}",
        "{\"do\":\"set\",\"control\":1,\"value\":01}",
        "{\"do\":\"set\",\"control\":1,\"value\":.5}",
        "{\"do\":\"set\",\"control\":1,\"value\":5.}",
        "{\"do\":\"set\",\"control\":1,\"value\":+5}",
        "{\"do\":\"set\",\"control\":1,\"value\":1e}",
        "{\"do\":\"set\",\"control\":1,\"value\":-}",
        "{\"do\":\"set\",\"control\":1,\"value\":\"1\"}",
        "{\"do\":\"set\",\"control\":1,\"value\":inf}",
        "{\"do\":\"set\",\"control\":1,\"value\":true}",
        "{\"do\":\"set\",\"control\":1.5,\"value\":1}",
        "{\"do\":\"set\",\"control\":-1,\"value\":1}",
        "{\"do\":\"set\",\"control\":1e300,\"value\":1}",
        "{\"do\":\"set\",\"control\":2147483647,\"value\":1}",
        "{\"do\":\"pull\",\"node\":1,\"at\":[0,0],\"to\":[0,0,0],\"strength\":1}",
        "{\"do\":\"pull\",\"node\":1,\"at\":[0,0,0,0],\"to\":[0,0,0],\"strength\":1}",
        "{\"do\":\"pull\",\"node\":1,\"at\":[[0,0,0]],\"to\":[0,0,0],\"strength\":1}",
        "{\"do\":\"pull\",\"node\":1,\"at\":[0,0,0],\"to\":[0,0,0]}",
        "{\"do\":\"pause\",\"on\":1}",
        "{\"do\":\"pause\",\"on\":truely}",
        "{\"do\":\"pause\"}",
        "{\"do\":\"a very long word indeed\"}",
        "{\"a very long key indeed\":1}",
        "\xff\xfe",
        "{\"\xc3\":1}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snw_play_message m;
        if (read(bad[i], &m) != SNW_E_PARSE) fail_msg("'%s' was taken for a message", bad[i]);
    }
    snw_play_message m;
    snw_error err = {0};
    const char hole[] = "{\"do\":\"reset\"\0}";
    assert_int_equal(snw_play_read(hole, sizeof hole - 1, &m, &err), SNW_E_PARSE);
    char longest[SNW_PLAY_LONGEST + 2];
    memset(longest, ' ', sizeof longest);
    memcpy(longest, "{\"do\":\"reset\"}", 14);
    assert_int_equal(snw_play_read(longest, SNW_PLAY_LONGEST, &m, &err), SNW_OK);
    assert_int_equal(snw_play_read(longest, SNW_PLAY_LONGEST + 1, &m, &err), SNW_E_PARSE);
}

static unsigned next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// random bytes, and messages with some bytes changed: accepted messages have finite numbers, and
// nothing is read beyond the end (found by the sanitizers: each text is copied to a block of its
// exact size)
static void noise_does_no_harm(void **state) {
    (void)state;
    static const char *const seeds[] = {
        "{\"do\":\"set\",\"control\":2,\"value\":-1.5e-3}",
        "{\"do\":\"pull\",\"node\":3,\"at\":[0,1,2],\"to\":[3,4e5,-5],\"strength\":1}",
        "{\"do\":\"pause\",\"on\":true}"};
    static const char letters[] = "{}[]\":,.-+eE0123456789 dotrufalsnevp\\\n\t\x80\xff";
    unsigned seed = 7;
    int taken = 0;
    for (int i = 0; i < 200000; i++) {
        char text[96];
        size_t n = next(&seed) % 80;
        if (i % 2) {
            n = (size_t)snprintf(text, sizeof text, "%s", seeds[next(&seed) % 3]);
            for (unsigned k = next(&seed) % 4; k < 4; k++) {
                text[next(&seed) % n] = letters[next(&seed) % (sizeof letters - 1)];
            }
            if (next(&seed) % 4 == 0) n = next(&seed) % n;
        } else {
            for (size_t k = 0; k < n; k++) text[k] = letters[next(&seed) % (sizeof letters - 1)];
        }
        char *own = malloc(n + !n);
        memcpy(own, text, n);
        snw_play_message m;
        snw_error err = {0};
        if (snw_play_read(own, n, &m, &err) == SNW_OK) {
            taken++;
            assert_true(isfinite(m.value) && isfinite(m.strength) && m.control >= 0 && m.node >= 0);
            for (int k = 0; k < 3; k++) assert_true(isfinite(m.at[k]) && isfinite(m.to[k]));
        }
        free(own);
    }
    assert_true(taken > 1000); // some of the changed texts are still messages
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(noise_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
