// SPDX-License-Identifier: MIT
//
// Probes in expressions and expressions with memory: names, dimensions, refused texts and their
// locations.
#include "base/fail.h"
#include "expr_bench.h"

// ---- a source of signals ------------------------------------------------------------------------

enum { SLOTS = 20, WITH_PROBES = ALL | SNW_VAR_SIGNAL };

typedef struct source {
    int n;
    struct {
        snw_memory kind;
        char text[60];
        const snw_expr *law;
        double period;
    } kept[SLOTS];
} source;

// probes: tip (x m, v m/s), d(1), d(2) (w 1/s), e (one number), t (w 1/s, the same as d(1))
static const char *const names[] = {"tip", "d(1)", "d(2)", "e", "t"};

static const char *probe_name(void *user, int i) {
    (void)user;
    return i < 5 ? names[i] : NULL;
}

static snw_status find_probe(void *user, const char *name, const char *component, int *slot,
                             snw_dim *dim, snw_error *err) {
    (void)user;
    static const struct {
        const char *name, *component;
        snw_dim dim;
    } known[] = {{"tip", "x", {.m = 1}},
                 {"tip", "v", {.m = 1, .s = -1}},
                 {"d(1)", "w", {.s = -1}},
                 {"d(2)", "w", {.s = -1}},
                 {"e", "", {0}}};
    bool any = false;
    *slot = -1;
    if (strcmp(name, "t") == 0 && strcmp(component, "w") == 0) name = "d(1)";
    for (int i = 0; i < 5; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        any = true;
        if (strcmp(known[i].component, component) != 0) continue;
        *slot = i;
        *dim = known[i].dim;
    }
    return any && *slot < 0 ? snw_fail(err, SNW_E_PARSE, "'%s' has no '%s'", name, component)
                            : SNW_OK;
}

static snw_status find_memory(void *user, snw_memory kind, const char *text, const snw_expr *law,
                              double period, int *slot, snw_error *err) {
    source *s = user;
    if (s->n == 4) return snw_fail(err, SNW_E_PARSE, "too many");
    s->kept[s->n].kind = kind;
    s->kept[s->n].law = law;
    s->kept[s->n].period = period;
    (void)snprintf(s->kept[s->n].text, sizeof s->kept[0].text, "%s", text);
    *slot = 5 + s->n++;
    return SNW_OK;
}

typedef struct place {
    source s;
    snw_signal_source interface;
} place;

// the fixture with probes
static void give(bench *b, place *p) {
    *p = (place){0};
    p->interface = (snw_signal_source){
        .user = &p->s, .probe = find_probe, .memory = find_memory, .name = probe_name};
    snw_scope_signals(b->scope, &p->interface);
}

static const double values[SLOTS] = {2, 3, 5, 7, 11, 13, 17, 19, 1};

static double reads(bench *b, const char *text) {
    const snw_at at = {.t = 0.5, .x = 0.2, .L = 1, .signal = values};
    return snw_expr_value(parse(b, text, WITH_PROBES), at);
}

static void not_read(bench *b, const char *text, int column, const char *says) {
    refused_as(b, text, &(snw_expr_rules){.vars = WITH_PROBES}, column, says);
}

// ---- statements ---------------------------------------------------------------------------------

static void probes_are_read_by_name_index_and_component(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    define(b, "n", "2");
    define(b, "speed(k)", "d(k).w + tip.v");
    define(b, "part", "2*tip.x");
    assert_near(reads(b, "tip.x"), 2, 0);
    assert_near(reads(b, "-tip.v^2 + t"), -8.5, 0);
    assert_near(reads(b, "d(1).w*d(n).w + e"), 46, 0);
    assert_near(reads(b, "d(n-1).w"), 5, 0);
    assert_near(reads(b, "t.w*t"), 2.5, 0); // with a component t is the probe
    assert_near(reads(b, "speed(1) + speed(n)"), 18, 0);
    assert_near(reads(b, "part + max(tip.x, tip.v)"), 7, 0);
    assert_near(reads(b, "limit(d(2).w, -1, 6)"), 6, 0);
    assert_near(reads(b, "limit(-d(2).w, -1, 6)"), -1, 0);
    assert_near(reads(b, "limit(tip.x, -1, 6)"), 2, 0);
    snw_scope *inner = snw_scope_create(b->pool, b->scope);
    assert_int_equal(snw_scope_index(inner, "k", 2, &b->err), SNW_OK);
    b->scope = inner;
    assert_near(reads(b, "d(k).w"), 7, 0);
}

// a parameter hides a probe of the same name
static void parameters_come_before_probes(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    define(b, "e", "100");
    assert_near(reads(b, "e"), 100, 0);
}

static void derivatives_in_a_signal_are_exact(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    const snw_at at = {.t = 0.5, .signal = values};
    const snw_expr *e = parse(b, "sin(t*tip.x)*tip.v^2 + integral(tip.x)", WITH_PROBES);
    assert_int_equal(snw_expr_vars(e), SNW_VAR_T | SNW_VAR_SIGNAL);
    assert_true(snw_expr_reads(e, 0) && snw_expr_reads(e, 1) && snw_expr_reads(e, 5));
    assert_false(snw_expr_reads(e, 2));
    assert_near(snw_expr_jet_signal(e, at, 0).d, 0.5 * cos(1) * 9, 1e-15);
    assert_near(snw_expr_jet_signal(e, at, 1).d, sin(1) * 6, 1e-15);
    assert_near(snw_expr_jet_signal(e, at, 1).dd, sin(1) * 2, 1e-15);
    assert_near(snw_expr_jet_signal(e, at, 5).d, 1, 0);
    assert_near(snw_expr_jet_signal(e, at, 2).d, 0, 0);
    assert_near(snw_expr_jet_t(e, at).d, 2 * cos(1) * 9, 1e-15);
    assert_near(snw_expr_jet_signal(e, at, 0).v, sin(1) * 9 + 13, 1e-15);
}

// a difference of a signal and a law of time that enters by sums, factors and limits is the control
// error of a control law
static void errors_of_control_laws_are_found(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    define(b, "r", "0.5 + t");
    define(b, "err", "r - tip.x");
    static const struct {
        const char *text;
        int n; // number of control errors; the fields below describe the first
        double sign, difference;
        bool limited;
    } cases[] = {
        {"20*(r - tip.x) - 4*tip.v", 1, -1, -1, false},
        {"-(tip.x - r)*tip.v/3 + 7", 1, 1, 1, false},
        {"tip.x + 0.25", 1, 1, 2.25, false},
        {"limit(3*err, -1, 1) - tip.v", 1, -1, -1, true},
        {"2*err + (tip.v - 1)", 2, -1, -1, false},
        {"-20*tip.x - 4*tip.v", 0, 0, 0, false}, // a spring
        {"5 - 3*tip.x", 0, 0, 0, false},         // a spring and a force
        {"(r - tip.x)^2", 0, 0, 0, false},
        {"1/(r - tip.x)", 0, 0, 0, false},
        {"err*sin(err)", 0, 0, 0, false},
        {"if(tip.x - r > 0, 1, 2)", 0, 0, 0, false},
        {"tip.x - tip.v", 0, 0, 0, false},
        {"sin(t)", 0, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snw_expr_error found[4];
        int n = -1;
        const snw_expr *e = parse(b, cases[i].text, WITH_PROBES);
        assert_int_equal(snw_expr_errors(b->pool, e, 4, found, &n), SNW_OK);
        if (n != cases[i].n) print_error("%s\n", cases[i].text);
        assert_int_equal(n, cases[i].n);
        if (n == 0) continue;
        assert_int_equal(found[0].slot, 0);
        assert_near(found[0].sign, cases[i].sign, 0);
        assert_int_equal(found[0].limited, cases[i].limited);
        assert_near(snw_expr_value(found[0].difference, (snw_at){.t = 0.5, .signal = values}),
                    cases[i].difference, 0);
    }
    assert_true(snw_expr_proportional(parse(b, "2 - 3*tip.x", WITH_PROBES), 0));
    assert_false(snw_expr_proportional(parse(b, "sin(tip.x)", WITH_PROBES), 0));
}

static void a_function_with_memory_has_its_law_text_and_period(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    define(b, "T", "20 ms");
    define(b, "held(u)", "sampled(u, T/2)");
    assert_near(reads(b, "3*integral( tip.x - t ) + 1"), 40, 0);
    assert_int_equal(p.s.n, 1);
    assert_int_equal(p.s.kept[0].kind, SNW_MEMORY_INTEGRAL);
    assert_string_equal(p.s.kept[0].text, "integral( tip.x - t )");
    assert_near(snw_expr_value(p.s.kept[0].law, (snw_at){.t = 0.5, .signal = values}), 1.5, 0);
    // nested expressions, the inner one first
    assert_near(reads(b, "sampled(integral(tip.v), T)"), 19, 0);
    assert_int_equal(p.s.n, 3);
    assert_string_equal(p.s.kept[1].text, "integral(tip.v)");
    assert_near(p.s.kept[2].period, 0.02, 0);
    assert_true(snw_expr_reads(p.s.kept[2].law, 6));
    // within a function, memory is made only at a call, with its argument
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_OK);
    assert_int_equal(p.s.n, 3);
    assert_near(reads(b, "held(2*tip.x)"), 1, 0);
    assert_int_equal(p.s.n, 4);
    assert_near(p.s.kept[3].period, 0.01, 0);
    assert_near(snw_expr_value(p.s.kept[3].law, (snw_at){.signal = values}), 4, 0);
}

static void once_is_a_condition(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = WITH_PROBES, .condition = true};
    assert_int_equal(snw_expr_parse(b->pool, b->scope, "not once(tip.x > 1 m) or t > 2 s", &rules,
                                    NULL, 1, 1, &e, &b->err),
                     SNW_OK);
    assert_near(snw_expr_value(e, (snw_at){.t = 0, .signal = values}), 0, 0);
    assert_near(reads(b, "if(once(tip.v < 1 m/s), 4, 5)"), 4, 0);
    not_read(b, "once(tip.x)", 6, "condition");
    not_read(b, "once(tip.x > 1) + 1", 1, "");
    not_read(b, "integral(tip.x > 1)", 10, "");
}

// like t, a probe has its own dimension or is taken as a plain number
static void probes_have_dimensions(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    const snw_dim force = SNW_DIM_FORCE;
    const snw_expr_rules rules = {.dim = &force, .vars = WITH_PROBES};
    static const char *const fine[] = {"3*tip.x",
                                       "3 N/m*tip.x",
                                       "3 N*d(1).w/(2 1/s)",
                                       "2 N*e",
                                       "2 kg*integral(tip.x)/(1 s)^3",
                                       "5 N/m*limit(tip.x, -1 m, 1 m)"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        const snw_expr *e = NULL;
        p.s.n = 0;
        if (snw_expr_parse(b->pool, b->scope, fine[i], &rules, NULL, 1, 1, &e, &b->err) != SNW_OK)
            fail_msg("%s: %s", fine[i], b->err.text);
    }
    refused_as(b, "3 kg*tip.x", &rules, 0, "a force (N) is wanted here");
    refused_as(b, "3 N*tip.x + 1 s", &rules, 0, "");
    not_read(b, "sin(5 kg*tip.x)", 5, "");
    not_read(b, "3 m*tip.x + 1 kg", 0, "");
    not_read(b, "limit(2 kg*tip.x, 0 s, 1 s)", 0, "");
}

static void faults_have_a_place_and_a_remedy(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    not_read(b, "2*tpi.x", 3, "did you mean 'tip'");
    not_read(b, "1 + tip.q", 5, "'tip' has no 'q'");
    not_read(b, "1 + tip", 5, "'tip' has no ''");
    not_read(b, "d(3).w", 1, "there is no probe 'd(3)'");
    not_read(b, "d(1.5).w", 3, "an index must be a whole number");
    not_read(b, "d(tip.x).w", 3, "an index must be constant");
    not_read(b, "d(1, 1, 1).w", 1, "there is no probe");
    not_read(b, "sampled(tip.x)", 1, "");
    not_read(b, "sampled(tip.x, 0 s)", 16, "a period must be constant and at least 1 ns");
    not_read(b, "sampled(tip.x, -1 ms)", 16, "a period must be constant and at least 1 ns");
    not_read(b, "sampled(tip.x, 1e-18 s)", 16, "a period must be constant and at least 1 ns");
    not_read(b, "sampled(tip.x, t)", 16, "a period must be constant and at least 1 ns");
    not_read(b, "sampled(tip.x, 3 m)", 16, "a period is wanted here");
    not_read(b, "integral(x*tip.x)", 10, "it cannot depend on x or L");
    refused_as(b, "2*tip.x", &(snw_expr_rules){0}, 3, "this number must be constant");
    refused_as(b, "2*tip.x", &(snw_expr_rules){.vars = TIME}, 3, "only t may vary");
    refused_as(b, "once(t > 1)", &(snw_expr_rules){.vars = TIME, .condition = true}, 1,
               "only t may vary");
    p.s.n = 4;
    not_read(b, "integral(t)", 1, "too many");
}

static void without_probes_there_is_nothing_to_read(void **state) {
    bench *b = *state;
    not_read(b, "tip.x", 1, "");
    not_read(b, "integral(t)", 1, "integral(..) cannot be used here");
}

// a law of t and probes has breaks only at those of its functions of t
static void breaks_do_not_depend_on_signals(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    double out[8];
    const snw_expr *e = parse(b, "step(t, 1)*tip.x + if(tip.x > t, 1, hat(t, 2, 4))", WITH_PROBES);
    assert_int_equal(snw_expr_breaks_t(e, 0, 10, out, 8), 4);
    for (int i = 0; i < 4; i++) assert_near(out[i], i + 1, 1e-14);
}

static const snw_expr *condition(bench *b, const char *text) {
    const snw_expr *e = NULL;
    const snw_expr_rules rules = {.vars = WITH_PROBES, .condition = true};
    if (snw_expr_parse(b->pool, b->scope, text, &rules, NULL, 1, 1, &e, &b->err) != SNW_OK) {
        fail_msg("%s: %s", text, b->err.text);
    }
    return e;
}

static void margins_are_those_of_the_comparisons(void **state) {
    bench *b = *state;
    place p;
    give(b, &p);
    const double signal[SLOTS] = {3, 2, 5, 7, 11};
    const snw_at at = {.t = 0.5, .signal = signal};
    double out[4] = {0};
    // those of time alone are not counted
    const snw_expr *e =
        condition(b, "not (tip.x > 1 m) and t < 1 s or 4 m/s <= 3*tip.v or abs(d(1).w) >= 9 rad/s");
    assert_int_equal(snw_expr_margins(e, at, out, 4), 3);
    assert_near(out[0], 2, 0);
    assert_near(out[1], -2, 0);
    assert_near(out[2], -4, 0);
    out[1] = 0;
    assert_int_equal(snw_expr_margins(e, at, out, 1), 3); // no more than there is room for
    assert_near(out[1], 0, 0);
    assert_int_equal(snw_expr_margins(condition(b, "t < 1 s"), at, out, 4), 0);
    static const char *const smooth[] = {"tip.x > 1 m and not e < 2", "max(abs(tip.x), 1 m) > 2 m",
                                         "e > step(t, 1)", "once(mod(e, 2) > 1) and e > 2"};
    static const char *const jumping[] = {"mod(e, 2) > 1", "floor(e)*tip.x < 1 m", "e == 2",
                                          "if(e > 2, tip.x, 0 m) > 1 m", "1 - sign(e) > 0.5"};
    for (int i = 0; i < 4; i++) assert_false(snw_expr_margins_jump(condition(b, smooth[i])));
    for (int i = 0; i < 5; i++) assert_true(snw_expr_margins_jump(condition(b, jumping[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(probes_are_read_by_name_index_and_component),
        TEST(parameters_come_before_probes),
        TEST(derivatives_in_a_signal_are_exact),
        TEST(errors_of_control_laws_are_found),
        TEST(a_function_with_memory_has_its_law_text_and_period),
        TEST(once_is_a_condition),
        TEST(probes_have_dimensions),
        TEST(faults_have_a_place_and_a_remedy),
        TEST(without_probes_there_is_nothing_to_read),
        TEST(breaks_do_not_depend_on_signals),
        TEST(margins_are_those_of_the_comparisons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
