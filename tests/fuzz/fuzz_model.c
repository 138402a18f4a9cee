// SPDX-License-Identifier: MIT
//
// fuzz_model: the examples with damage: numbers that are huge, tiny or missing, excessive counts,
// keys and values exchanged, lines removed or repeated. Every text must be read, described and
// prepared for a run within a time limit, or refused with a message, which has a location when the
// text is the cause. Run as `fuzz_model [seed [count]]`; a timer ends a hang, and the text that
// caused it is left in fuzz_model.yaml.
#include "language/document.h"
#include "study/run.h"

#include "sanitized.h"

#include "draw.h"

#include <ctype.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIZE = 1 << 16, SECONDS = 20 };

static char text[SIZE + 1];
static size_t length;

// ---- mutations ----------------------------------------------------------------------------------

static const char *const hostile[] = {
    "0",
    "-1",
    "1e308",
    "-1e308",
    "1e-308",
    "5e-324",
    ".nan",
    ".inf",
    "1e400",
    "1000000000",
    "2147483648",
    "9223372036854775808",
    "10000",
    "7.5",
    "1/0",
    "t",
    "x",
    "sqrt(t - 0.01)",
    "1/t",
    "log(0)",
    "mod(t, 0)",
    "floor(t*1e9)",
    "[]",
    "{}",
    "~",
    "''",
    "on",
    "off",
    "at_closing",
    "free",
    "auto",
    "world",
    "[1, 2]",
    "{a: 1}",
    "1 m",
    "1 kg",
    "30 deg",
    "1e-9 s",
    "end",
    "once(t > 0)",
    "integral(t)",
    "sampled(t, 1e-12 s)",
    "a(1)",
    "[[1]]",
    "all",
    "linear(t, 1, 0)",
    "hat(t, 0, 0)",
    "cosserat legendre 400",
    "table(\".\", 1)",
    "x-x(k=1..1000000000)",
    "elements: 1000000000",
    "nodes: 10000",
};

static void replace(size_t at, size_t n, const char *by, size_t size) {
    if (length - n + size > SIZE) return;
    memmove(text + at + size, text + at + n, length - at - n);
    memcpy(text + at, by, size);
    length += size - n;
}

// the line, word or number around a position
static size_t begin_of(size_t at, bool (*in)(char)) {
    while (at > 0 && in(text[at - 1])) at--;
    return at;
}

static size_t size_of(size_t at, bool (*in)(char)) {
    size_t n = 0;
    while (at + n < length && in(text[at + n])) n++;
    return n;
}

static bool in_line(char c) { return c != '\n'; }
static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }
static bool in_value(char c) { return !strchr("\n,[]{}:", c); }

static void spoil(void) {
    if (length == 0) return;
    char copy[300];
    const uint32_t kind = draw(8);
    bool (*in)(char) = kind < 2 ? in_line : kind < 5 ? in_word : in_value;
    const size_t at = begin_of(draw(length), in), n = size_of(at, in);
    const size_t other = begin_of(draw(length), in), m = size_of(other, in);
    if (m > sizeof copy) return;
    memcpy(copy, text + other, m);
    if (kind == 0) { // remove a line
        replace(at, n + (at + n < length), "", 0);
    } else if (kind == 2 || kind == 5) { // replace by another part of the same file
        replace(at, n, copy, m);
    } else if (kind == 1) { // repeat it elsewhere
        replace(at, 0, "\n", 1);
        replace(at, 0, copy, m);
    } else {
        const char *by = hostile[draw(sizeof hostile / sizeof *hostile)];
        const bool number = n > 0 && (isdigit((unsigned char)text[at]) || kind >= 6);
        if (number) replace(at, n, by, strlen(by));
    }
}

static bool load(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    length = fread(text, 1, SIZE, f);
    return fclose(f) == 0;
}

// ---- contract -----------------------------------------------------------------------------------

static void keep_input(void) {
    FILE *f = fopen("fuzz_model.yaml", "wb");
    if (!f) return;
    (void)fwrite(text, 1, length, f);
    (void)fclose(f);
}

static void on_signal(int number) {
    keep_input(); // not safe in a signal handler, but the process is ending anyway
    (void)fprintf(stderr, "%s: see fuzz_model.yaml\n", number == SIGPROF ? "hang" : "crash");
    _exit(1);
}

static bool kept(snw_status s, const snw_error *err) {
    const bool placed = err->line > 0 && err->column > 0;
    if (s == SNW_OK || (err->text[0] && (placed || s != SNW_E_PARSE))) return true;
    keep_input();
    (void)fprintf(stderr, "status %d, '%s', at '%s' %d:%d: see fuzz_model.yaml\n", (int)s,
                  err->text, err->file, err->line, err->column);
    return false;
}

static bool try_model(long *good) {
    snw_document *d = NULL;
    snw_error err = {0};
    snw_status s = snw_document_parse("fuzz", text, length, 0, NULL, &d, &err);
    if (s != SNW_OK) return kept(s, &err);
    bool fine = true;
    for (int i = 0; i < snw_document_runs(d) && i < 2 && fine; i++) {
        snw_desc *desc = NULL;
        snw_run *run = NULL;
        err = (snw_error){0};
        s = snw_document_describe(d, i, &desc, &err);
        if (s == SNW_OK) s = snw_run_create(desc, "fuzz", &run, &err);
        *good += s == SNW_OK;
        fine = kept(s, &err);
        snw_run_destroy(run);
        snw_desc_destroy(desc);
    }
    snw_document_destroy(d);
    return fine;
}

int main(int argc, char **argv) {
    if (argc > 1) seed = strtoull(argv[1], NULL, 10);
    const long count = argc > 2 ? strtol(argv[2], NULL, 10) : AMONG(100, 600);
    glob_t example;
    if (glob(SNW_SOURCE_DIR "/examples/*/*.yaml", 0, NULL, &example) != 0) return 1;
    (void)signal(SIGPROF, on_signal);
    (void)signal(SIGSEGV, on_signal);
    (void)signal(SIGABRT, on_signal);
    long good = 0;
    for (long i = 0; i < count; i++) {
        if (!load(example.gl_pathv[draw(example.gl_pathc)])) return 1;
        for (uint32_t k = 1 + draw(3); k > 0; k--) spoil();
        text[length] = '\0';
        const struct itimerval limit = {
            .it_value.tv_sec = SECONDS}; // processor time, since the machine may be busy
        (void)setitimer(ITIMER_PROF, &limit, NULL);
        if (!try_model(&good)) return 1;
    }
    globfree(&example);
    (void)printf("%ld texts, %ld runs made ready\n", count, good);
    return 0;
}
