// SPDX-License-Identifier: MIT
//
// fuzz_yaml: sample models, mutated, and random noise; for every input, reading ends within a time
// limit with a tree or with a message that has a location. Run as `fuzz_yaml [seed [count]]`; a
// timer ends a hang and the input that caused it is printed.
#include "language/text.h"
#include "language/tree.h"
#include "language/yaml.h"

#include "draw.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIZE = 6000, SECONDS = 10 };

static char input[SIZE + 1];
static size_t length;

static const char *const sample[] = {
    "sinew: 1\ntitle: arm\ngravity: 0\nparameters: {C: 2.3 N*m, n: 3, a: [1, 2, 3], B(u): u^2}\n"
    "robot:\n  arm: {on: world, rod: {length: 1 m, strain: {bend_y: chebyshev 5}}}\n"
    "  leg(k=1..n): {on: leg(k-1).tip, pose: {xyz: [a(k), 0, 0]}}\n  leg(0): {on: world}\n"
    "loads:\n  twist: {on: arm.tip, torque: [0, C, 0], frame: body}\n"
    "study:\n  - static: {name: rolled}\n  - change: {twist: off}\n  - dynamic: {for: 1 s, step: 1 "
    "ms}\n"
    "runs: {text: {}, weak: {C: 0.8 N*m}, fine(k=1..2): {arm.rod.length: k*1 m},\n"
    "  many: {C: {each: [1, 2]}, n: {each: [1, 2, 3]}}}\n"
    "expect:\n  - {probe: tip.x, value: 0.07, source: \"L sin(kL)/(kL)\"}\n",
    "sinew: 1\nx-base: &base\n  on: world\n  body: {mass: 1 kg}\nrobot:\n  a:\n    <<: *base\n"
    "    joint: free\n  b: {<<: [*base, {on: a}], joint: 'fixed'}\n  g(i=1..2, j=1..i): *base\n"
    "about: |\n  several\n   lines\n\n  of text\nnote: >-\n  folded\n  text\n"
    "parameters:\n  v: [[0, 1], [2, 3]]\n  k: 1\nloads:\n  p: {on: a, force: v(k)}\n",
    "sinew: 1\nparameters: {e: tip.x - r, r: 0.1 m, u(k): limit(d(k).vz, -1, 1)}\nrobot:\n  arm: "
    "{on: "
    "world}\nloads:\n  pi: {on: arm, force: [-2*e - integral(e), \"sampled(e, 10 ms)\", u(1)], "
    "when: once(tip.z < 0)}\nprobes:\n  tip: {position: arm}\n  d(k=1..2): {velocity: arm}\n"
    "study:\n  - dynamic: {for: 1 s, step: 1 ms, until: d(1).vz > 0}\n  - change: {r: 0}\n",
    "{\"sinew\": 1, \"robot\": {\"a\": {\"on\": \"world\", \"l\": [1, 2.5e-3, true, null, "
    "\"\\u00e9\"]}}}\n",
    "? a\n: - b\n  - - c\n    - d: e\n      f: g\n---\n...\n# comment\n!!str x: !!map "
    "{}\n\"q\\tz\": 'it''s'\n",
};

static const char *const token[] = {
    "[",
    "]",
    "{",
    "}",
    ": ",
    "- ",
    "? ",
    ", ",
    "&a ",
    "*a",
    "<<: ",
    "|",
    ">",
    "|2-",
    ">+",
    "'",
    "\"",
    "\\",
    "#",
    "%",
    "---",
    "...",
    "\n",
    "\n  ",
    "\t",
    " ",
    "!!",
    "!",
    "!<",
    "!!str ",
    "~",
    "@",
    "`",
    "\r",
    "\r\n",
    "(k=1..",
    "..2)",
    "..",
    "(",
    ")",
    "=",
    "off",
    "x-",
    "include: ",
    ":",
    "\n\n\n",
    "é",
    "€",
    "𝄞",
    "\\x",
    "\\u12",
    "\\UFFFF",
    "\n-",
    "\n? ",
    "each: ",
    "-",
    "\xC2\x85",
    "\xE2\x80\xA8",
    "\xEF\xBB\xBF",
    "k=",
    "1..3",
    "sinew: 1\n",
    "%YAML 1.2\n",
    "%TAG ! x\n",
};

static void insert(size_t at, const char *text, size_t n) {
    if (n > SIZE - length) n = SIZE - length;
    memmove(input + at + n, input + at, length - at);
    memcpy(input + at, text, n);
    length += n;
}

static void erase(size_t at, size_t n) {
    if (n > length - at) n = length - at;
    memmove(input + at, input + at + n, length - at - n);
    length -= n;
}

static void put(size_t at, char c) {
    if (at < length) input[at] = c;
}

static void mutate(void) {
    const size_t at = draw((uint32_t)length + 1);
    const char *t = token[draw(sizeof token / sizeof *token)];
    char again[200];
    switch (draw(7)) {
    case 0:
        put(at, (char)draw(256));
        break;
    case 1:
        put(at, (char)(32 + draw(95)));
        break;
    case 2:
        erase(at, 1 + draw(12));
        break;
    case 3: { // repeat a piece
        size_t n = 1 + draw(sizeof again - 1);
        if (n > length - at) n = length - at;
        memcpy(again, input + at, n);
        insert(draw((uint32_t)length + 1), again, n);
        break;
    }
    case 4: // truncate
        if (draw(8) == 0) length = at;
        break;
    default:
        for (uint32_t i = 1 + (draw(10) ? 0 : draw(40)); i > 0; i--) insert(at, t, strlen(t));
        break;
    }
}

static void make_input(void) {
    length = 0;
    const uint32_t kind = draw(12);
    if (kind == 0) { // bytes
        length = draw(64);
        for (size_t i = 0; i < length; i++) input[i] = (char)draw(256);
    } else if (kind < 4) { // tokens
        for (uint32_t i = draw(30); i > 0; i--) {
            const char *t = token[draw(sizeof token / sizeof *token)];
            insert(draw(4) ? length : draw((uint32_t)length + 1), t, strlen(t));
        }
    } else { // a mutated model
        const char *s = sample[draw(sizeof sample / sizeof *sample)];
        insert(0, s, strlen(s));
        for (uint32_t i = 1 + draw(draw(2) ? 3 : 12); i > 0; i--) mutate();
    }
    input[length] = '\0';
}

// ---- contract -----------------------------------------------------------------------------------

static void report(const char *what) {
    (void)fprintf(stderr, "%s on %zu bytes:\n", what, length);
    for (size_t i = 0; i < length; i++) (void)fprintf(stderr, "\\x%02x", (unsigned char)input[i]);
    (void)fprintf(stderr, "\n");
}

static void on_signal(int number) {
    report(number == SIGPROF
               ? "hang"
               : "crash"); // not safe in a signal handler, but the process is ending anyway
    _exit(1);
}

static int check(snw_status s, const snw_error *err) {
    if (s == SNW_OK) return 0;
    if (s == SNW_E_PARSE && err->text[0] && err->file[0] && err->line > 0 && err->column > 0) {
        return 0;
    }
    report(err->text[0] ? err->text : "failure without text");
    (void)fprintf(stderr, "status %d at '%s' %d:%d\n", (int)s, err->file, err->line, err->column);
    return 1;
}

static int try_yaml(void) {
    snw_pool *pool = snw_pool_create((size_t)64 << 20);
    snw_error err = {0};
    snw_node *root = NULL;
    const int bad = check(snw_yaml_parse(pool, "fuzz", input, length, &root, &err), &err);
    snw_pool_destroy(pool);
    return bad;
}

// the whole chain up to the trees, with part of the input as an override; files are never included
static int try_tree(void) {
    if (strstr(input, "include")) return 0;
    const char *set = input + draw((uint32_t)length + 1);
    snw_error err = {0};
    snw_source *source = NULL;
    snw_status s = snw_source_parse("fuzz", input, length, draw(4) == 0, &set, &source, &err);
    if (s != SNW_OK) return check(s, &err);
    int bad = 0;
    for (int i = 0; i < snw_source_runs(source) && i < 5 && !bad; i++) {
        snw_pool *pool = snw_pool_create((size_t)256 << 20);
        snw_node *root = NULL;
        snw_signals *signals = draw(4) ? snw_signals_create(pool) : NULL;
        bad = check(snw_source_tree_changed(source, i, 0, NULL, signals, pool, &root, &err), &err);
        snw_pool_destroy(pool);
    }
    snw_source_destroy(source);
    return bad;
}

int main(int argc, char **argv) {
    if (argc > 1) seed = strtoull(argv[1], NULL, 10);
    const long count = argc > 2 ? strtol(argv[2], NULL, 10) : 20000;
    (void)signal(SIGPROF, on_signal);
    (void)signal(SIGSEGV, on_signal);
    (void)signal(SIGABRT, on_signal);
    for (long i = 0; i < count; i++) {
        make_input();
        const struct itimerval limit = {
            .it_value.tv_sec = SECONDS}; // processor time, since the machine may be busy
        (void)setitimer(ITIMER_PROF, &limit, NULL);
        if (draw(3) ? try_tree() : try_yaml()) return 1;
    }
    (void)printf("%ld inputs\n", count);
    return 0;
}
