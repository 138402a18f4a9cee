// SPDX-License-Identifier: MIT
//
// Random and damaged expressions: none may crash, hang or violate the contract of expr.h.
//
// usage: fuzz_expr [seed [count]]
#include "base/fail.h"
#include "math/expr.h"

#include "draw.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT = 4096, SIGNALS = 40, ALL = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L | SNW_VAR_SIGNAL };

// ---- texts --------------------------------------------------------------------------------------

typedef struct text {
    char s[TEXT];
    size_t n;
} text;

static void put(text *out, const char *s) {
    const size_t n = strlen(s);
    if (out->n + n >= TEXT) return;
    memcpy(out->s + out->n, s, n + 1);
    out->n += n;
}

static const char *const atoms[] = {
    "t",      "x",      "L",      "pi",     "1",      "2.5",    "0",      "1e-3",
    "1e300",  "3 m",    "30 deg", "2 s",    "7 kg",   "10 1/m", "on",     "off",
    "a",      "law",    "c(1)",   "c(2)",   "k",      "m",      "5 N*m",  "1 m/s",
    "2 mm^2", ".5",     "5 min",  "p9",     "loop",   "f(2)",   "9 m^-2", "1e5 Pa",
    "c(k)",   "g(1,2)", "tip.x",  "tip.vx", "d(k).w", "d(2).w", "tip",    "sampled(tip.x, 1 ms)"};
static const char *const infix[] = {"+",   "-",    "*",    "/",    "^",     " < ",  " <= ",
                                    " > ", " >= ", " == ", " != ", " and ", " or ", " + ",
                                    " - ", " * ",  " / ",  "",     " "};
static const char *const scraps[] = {
    "(", ")",  ",",  "\"",   "'",         ".",  "..",   "e",     "0x",    "^",        "*",
    "/", "\n", "\t", "\x80", "\xc2\xb5m", "1/", " ",    "1e999", "not",   "and",      "=",
    "$", "m^", "-",  "if(",  "table(",    ".x", "tip.", "d(",    "once(", "integral("};

#define PICK(list) list[draw(sizeof list / sizeof list[0])]

static void grow(text *out, int depth) {
    int n;
    const snw_function *f = snw_functions(&n);
    switch (depth <= 0 ? 0 : draw(9)) {
    case 0:
    case 1:
        put(out, PICK(atoms));
        break;
    case 2:
    case 3:
    case 4:
        grow(out, depth - 1);
        put(out, PICK(infix));
        grow(out, depth - 1);
        break;
    case 5:
        put(out, draw(8) ? "(" : "-(");
        grow(out, depth - 1);
        put(out, draw(8) ? ")" : ") m");
        break;
    case 6: {
        f += draw((uint32_t)n);
        put(out, f->name);
        const int args = draw(10) ? (f->max_args ? f->max_args : 3) : (int)draw(5);
        for (int i = 0; i < args; i++) {
            put(out, i ? ", " : "(");
            grow(out, depth - 1);
        }
        put(out, ")");
        break;
    }
    case 7:
        put(out, draw(2) ? "f(" : "g(1, ");
        grow(out, depth - 1);
        put(out, ")");
        break;
    default:
        put(out, draw(2) ? "not " : "-");
        grow(out, depth - 1);
    }
}

static void damage(text *s) {
    for (uint32_t i = draw(4); i > 0 && s->n > 0; i--) {
        const size_t at = draw((uint32_t)s->n + 1);
        if (draw(2)) {
            const char *scrap = PICK(scraps);
            const size_t n = strlen(scrap);
            if (s->n + n >= TEXT) continue;
            memmove(s->s + at + n, s->s + at, s->n - at + 1);
            memcpy(s->s + at, scrap, n);
            s->n += n;
        } else if (at < s->n) {
            const size_t n = 1 + draw(3);
            const size_t cut = n > s->n - at ? s->n - at : n;
            memmove(s->s + at, s->s + at + cut, s->n - at - cut + 1);
            s->n -= cut;
        }
    }
}

static void noise(text *s) {
    s->n = draw(60);
    for (size_t i = 0; i < s->n; i++) s->s[i] = (char)(1 + draw(draw(4) ? 126 : 254));
    s->s[s->n] = '\0';
}

// ---- contract -----------------------------------------------------------------------------------

static int faults;

static void promise(bool kept, const char *what, const char *s) {
    if (kept) return;
    faults++;
    (void)fprintf(stderr, "%s: %s\n", what, s);
}

static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static double signals[SIGNALS];

static void evaluate(const snw_expr *e, int vars, const char *s) {
    promise((snw_expr_vars(e) & ~vars) == 0, "depends on what is not allowed", s);
    for (int i = 0; i < 4; i++) {
        const snw_at at = {.t = 0.7 * i, .x = 0.3 * i - 0.2, .L = 1.5, .signal = signals};
        const double v = snw_expr_value(e, at);
        promise(same(v, snw_expr_jet_t(e, at).v), "value and jet in t differ", s);
        promise(same(v, snw_expr_jet_x(e, at).v), "value and jet in x differ", s);
        const snw_jet jet = snw_expr_jet_signal(e, at, i);
        promise(same(v, jet.v), "value and jet in a signal differ", s);
        promise(!(fabs(jet.d) > 0) || snw_expr_reads(e, i), "a signal matters that is not read", s);
        if (snw_expr_vars(e) == 0) promise(isfinite(v), "constant is not finite", s);
    }
    double out[8];
    const int n = snw_expr_breaks_t(e, 0, 3, out, 8);
    promise(n >= 0 && n <= 8, "number of breaks", s);
    for (int i = 0; i < n; i++) {
        promise(out[i] > (i ? out[i - 1] : 0) && out[i] <= 3, "breaks do not rise", s);
    }
}

// Parse one text; returns whether it was accepted.
static bool try_text(snw_pool *pool, const snw_scope *scope, const char *s) {
    const snw_dim dims[] = {SNW_DIM_NONE, SNW_DIM_LENGTH, SNW_DIM_FORCE};
    const snw_expr_rules rules = {.dim = draw(2) ? NULL : &dims[draw(3)],
                                  .vars = draw(4) ? ALL : (int)(draw(8) | draw(2) * SNW_VAR_SIGNAL),
                                  .condition = draw(4) == 0};
    snw_error err = {0};
    const snw_expr *e = NULL;
    const snw_status status = snw_expr_parse(pool, scope, s, &rules, "f", 1, 1, &e, &err);
    if (status == SNW_OK) {
        evaluate(e, rules.vars, s);
        return true;
    }
    promise(err.status == status && err.text[0] != '\0', "silent failure", s);
    promise(status == SNW_E_MEMORY || (err.line >= 1 && err.column >= 1), "failure nowhere", s);
    return false;
}

static snw_status read_table(void *user, const char *from, const char *file, const char *column,
                             snw_table *out, snw_error *err) {
    static const double x[] = {0, 0.5, 1, 2, 2.5}, y[] = {0, 1, -1, 3, 2};
    (void)user, (void)from, (void)file, (void)column, (void)err;
    *out = (snw_table){1 + (int)draw(5), x, y};
    return SNW_OK;
}

// ---- signals: two probes, one of them with an index; and expressions with memory ----------------

static const char *probe_name(void *user, int i) {
    static const char *const names[] = {"tip", "d(1)", "d(2)"};
    (void)user;
    return i < 3 ? names[i] : NULL;
}

static snw_status find_probe(void *user, const char *name, const char *component, int *slot,
                             snw_dim *dim, snw_error *err) {
    (void)user;
    *slot = -1;
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, probe_name(NULL, i)) != 0) continue;
        if (component[0] == '\0') return snw_fail(err, SNW_E_PARSE, "no component");
        *slot = i;
        *dim = (snw_dim){.m = 1, .s = component[0] == 'v' ? -1 : 0};
    }
    return SNW_OK;
}

static snw_status find_memory(void *user, snw_memory kind, const char *s, const snw_expr *law,
                              double period, int *slot, snw_error *err) {
    int *n = user;
    promise((kind == SNW_MEMORY_SAMPLED) == (period > 0), "a period", s);
    promise((snw_expr_vars(law) & (SNW_VAR_X | SNW_VAR_L)) == 0, "remembers x or L", s);
    if (*n == SIGNALS) return snw_fail(err, SNW_E_PARSE, "too many");
    *slot = (*n)++;
    return SNW_OK;
}

// Parameters, some of them random, some cyclic, some doubling.
static snw_scope *parameters(snw_pool *pool) {
    snw_scope *s = snw_scope_create(pool, NULL);
    static int nsignal;
    static const snw_signal_source source = {
        .user = &nsignal, .probe = find_probe, .memory = find_memory, .name = probe_name};
    nsignal = 3;
    snw_scope_tables(s, read_table, NULL);
    if (draw(8)) snw_scope_signals(s, &source);
    text law = {0}, body = {0};
    grow(&law, 4);
    grow(&body, 3);
    if (draw(2)) damage(&body);
    const char *const list[] = {"1 m", law.s}, *const file[] = {"f", "f"};
    const int at[] = {1, 1};
    const char *const pairs[][2] = {{"a", "2 m"},        {"m", "3"},      {"law", law.s},
                                    {"loop", "f(loop)"}, {"f(u)", "u*2"}, {"g(u, v)", body.s},
                                    {"p0", "t + x"}};
    snw_error err;
    snw_status status = snw_scope_define_list(s, "c", 2, list, file, at, at, &err);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && status == SNW_OK; i++) {
        status = snw_scope_define(s, pairs[i][0], pairs[i][1], "f", 1, 1, &err);
    }
    for (int i = 1; i < 10 && status == SNW_OK; i++) {
        char name[16], twice[32];
        (void)snprintf(name, sizeof name, "p%d", i);
        (void)snprintf(twice, sizeof twice, "p%d*p%d", i - 1, i - 1);
        status = snw_scope_define(s, name, twice, "f", 1, 1, &err);
    }
    if (status == SNW_OK) status = snw_scope_index(s, "k", 1 + (long)draw(3), &err);
    promise(status == SNW_OK, "parameters refused", err.text);
    if (draw(4) == 0) status = snw_scope_check(s, &err);
    return s;
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const long count = argc > 2 ? strtol(argv[2], NULL, 10) : 20000;
    long accepted = 0;
    double slowest = 0;
    for (int i = 0; i < SIGNALS; i++) signals[i] = 0.1 * i - 1;
    for (long i = 0; i < count && faults < 20; i += 10) {
        snw_pool *pool = snw_pool_create((size_t)64 << 20);
        const snw_scope *scope = parameters(pool);
        for (int k = 0; k < 10; k++) {
            text s = {0};
            if (draw(20) == 0) {
                noise(&s);
            } else {
                grow(&s, 1 + (int)draw(6));
                if (draw(3) == 0) damage(&s);
            }
            const clock_t before = clock();
            accepted += try_text(pool, scope, s.s);
            const double took = (double)(clock() - before) / CLOCKS_PER_SEC;
            if (took > slowest) slowest = took;
            promise(took < 2, "too slow", s.s);
        }
        snw_pool_destroy(pool);
    }
    (void)printf("%ld texts, %ld accepted, slowest %.3g s, %d faults\n", count, accepted, slowest,
                 faults);
    return faults > 0;
}
