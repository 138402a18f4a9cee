// SPDX-License-Identifier: MIT
//
// bench.h: smallest time of many short repetitions, and a table that says where it was measured.
//
// A repetition lasts tens of microseconds, so that on a busy machine some of them run undisturbed.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void bench_fn(void *user);

static inline double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Of this process alone: what others do beside it disturbs less.
static inline double bench_processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double bench_once(bench_fn *fn, void *user, int calls) {
    const double start = bench_now();
    for (int i = 0; i < calls; i++) fn(user);
    return (bench_now() - start) / calls;
}

// Seconds of one call of fn: the smallest mean over repetitions of about 50 us (or one call), for a
// time of `seconds` in all and 20 repetitions at least.
static inline double bench_time(bench_fn *fn, void *user, double seconds) {
    double best = bench_once(fn, user, 1);
    for (int i = 0; i < 5; i++) {
        const double t = bench_once(fn, user, 1);
        best = t < best ? t : best;
    }
    const int calls = best > 50e-6 ? 1 : (int)(50e-6 / best) + 1;
    const double start = bench_now();
    for (int i = 0; i < 20 || bench_now() - start < seconds; i++) {
        const double t = bench_once(fn, user, calls);
        best = t < best ? t : best;
    }
    return best;
}

// ---- tables
// -----------------------------------------------------------------------------------------

typedef struct bench_table {
    FILE *csv; // NULL: none
    const char *name;
} bench_table;

static inline void bench_machine(char *out, size_t size) {
    snprintf(out, size, "unknown machine");
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(out, size, "%s", colon + 2);
        break;
    }
    if (f) fclose(f);
}

// Says what is measured, where and with which compiler. `--csv FILE` adds the rows to FILE;
// anything else ends the program with usage.
static inline bench_table bench_open(const char *name, const char *what, int argc, char **argv) {
    bench_table t = {.name = name};
    const bool csv = argc == 3 && strcmp(argv[1], "--csv") == 0;
    if (argc != 1 && !csv) {
        fprintf(stderr, "usage: bench_%s [--csv FILE]\n", name);
        exit(2);
    }
    char machine[256];
    bench_machine(machine, sizeof machine);
#ifdef __clang__
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    printf("\n%s\n%s, one core, %s; smallest of many repetitions\n\n", what, machine, compiler);
    if (csv) {
        t.csv = fopen(argv[2], "a");
        if (!t.csv) {
            perror(argv[2]);
            exit(1);
        }
    }
    return t;
}

// One row of the CSV: table, row, figure, value.
static inline void bench_record(const bench_table *t, const char *row, const char *figure,
                                double value) {
    if (t->csv) fprintf(t->csv, "%s,%s,%s,%.6g\n", t->name, row, figure, value);
}

static inline void bench_close(bench_table *t) {
    if (t->csv && fclose(t->csv) != 0) {
        perror("csv");
        exit(1);
    }
}
