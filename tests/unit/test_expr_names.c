// SPDX-License-Identifier: MIT
//
// Names in expressions, refused expressions with their locations, and limits.
#include "math/expr.h"

#include "expr_bench.h"

// ---- names --------------------------------------------------------------------------------------

static void variables_are_allowed_or_not(void **state) {
    bench *b = *state;
    define(b, "law", "sin(t)*x");
    refused_as(b, "2*t", &(snw_expr_rules){0}, 3,
               "'t' cannot be used here: this number must be constant");
    refused_as(b, "1 + x", &(snw_expr_rules){.vars = TIME}, 5,
               "'x' cannot be used here: only t may vary");
    refused_as(b, "1 + t", &(snw_expr_rules){.vars = SNW_VAR_X | SNW_VAR_L}, 5,
               "'t' cannot be used here: only x and L may vary");
    refused_as(b, "3*law", &(snw_expr_rules){.vars = TIME}, 3,
               "'law' depends on t and x and cannot be used here: only t may vary");
    assert_int_equal(snw_expr_vars(parse(b, "3*law", ALL)), SNW_VAR_T | SNW_VAR_X);
    assert_int_equal(snw_expr_vars(parse(b, "3*2", ALL)), 0);
}

static void parameters_come_in_any_order(void **state) {
    bench *b = *state;
    define(b, "a", "2*c");
    define(b, "c", "d + 1");
    define(b, "d", "3 m");
    assert_near(value(b, "a"), 8, 0);
    assert_true(snw_scope_has(b->scope, "c") && !snw_scope_has(b->scope, "e"));
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_OK);
}

static void lists_and_functions_take_arguments(void **state) {
    bench *b = *state;
    const char *const text[] = {"0.2", "0.6 + t", "2*a(1)"};
    const char *const file[] = {"model.yaml", "model.yaml", "model.yaml"};
    const int line[] = {4, 4, 4}, column[] = {5, 10, 20};
    assert_int_equal(snw_scope_define_list(b->scope, "a", 3, text, file, line, column, &b->err),
                     SNW_OK);
    define(b, "r(j)", "a(j)*sin(t + j)");
    define(b, "g(p, q)", "p - q");
    define(b, "twice(u)", "2*u");
    snw_scope *inner = snw_scope_create(b->pool, b->scope);
    assert_int_equal(snw_scope_index(inner, "k", 2, &b->err), SNW_OK);
    b->scope = inner;
    assert_near(value(b, "a(1) + a(k) + a(k + 1)"), 0.2 + 0.9 + 0.4, 1e-15);
    assert_near(value(b, "r(2*k - 1)"), 0.4 * sin(3.3), 1e-15);
    assert_near(value(b, "g(k, g(1, 5))"), 6, 0);
    assert_near(value(b, "twice(twice(twice(k)))"), 16, 0);
    assert_near(value(b, "-(-1)^k * 50 mm"), -0.05, 1e-16);
    refused(b, "a(4)", 3, "'a' has entries 1 to 3, not 4");
    refused(b, "a(0)", 3, "'a' has entries 1 to 3, not 0");
    refused(b, "a(1.5)", 3, "an index must be a whole number, got 1.5");
    refused(b, "a(t)", 3, "an index must be constant");
    refused(b, "a", 1, "'a' is a list, write a(1)");
    refused(b, "r", 1, "'r' is a function, write r(..)");
    refused(b, "k(1)", 1, "'k' is neither a list nor a function");
    refused(b, "g(1)", 1, "'g' takes 2 arguments, got 1");
    refused(b, "twice(1, 2)", 1, "'twice' takes 1 argument, got 2");
    refused(b, "a(1, 2)", 1, "'a' takes one index");
}

static void inner_scopes_hide_outer_ones(void **state) {
    bench *b = *state;
    snw_scope *outer = snw_scope_create(b->pool, b->scope);
    snw_scope *inner = snw_scope_create(b->pool, outer);
    assert_int_equal(snw_scope_index(outer, "k", 10, &b->err), SNW_OK);
    assert_int_equal(snw_scope_index(inner, "k", 2, &b->err), SNW_OK);
    b->scope = outer;
    define(b, "p", "k + 1");
    b->scope = inner;
    assert_near(value(b, "k"), 2, 0);
    assert_near(value(b, "p"), 11, 0); // keeps the meaning of the scope in which it was written
    // an index that hides a parameter is refused: its number would replace the parameter silently
    assert_int_equal(snw_scope_index(inner, "p", 2, &b->err), SNW_E_PARSE);
}

static void names_of_the_language_are_refused(void **state) {
    bench *b = *state;
    const char *const bad[] = {"t",   "x",     "L",    "pi",     "sin", "and", "or", "not", "on",
                               "off", "table", "f(t)", "f(a,a)", "f()", "1a",  "",   "a b", "f(a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (snw_scope_define(b->scope, bad[i], "1", NULL, 1, 1, &b->err) != SNW_E_PARSE) {
            fail_msg("'%s' was accepted", bad[i]);
        }
    }
    define(b, "m", "3"); // names of units are allowed
    define(b, "N", "4");
    assert_near(value(b, "2 N*m"), 2, 0);
    assert_near(value(b, "2*N*m"), 24, 0);
    assert_int_equal(snw_scope_define(b->scope, "m", "4", "f", 9, 2, &b->err), SNW_E_PARSE);
    assert_non_null(strstr(b->err.text, "'m' is defined twice"));
    assert_int_equal(b->err.line, 9);
}

static void cycles_name_the_way_round(void **state) {
    bench *b = *state;
    define(b, "a", "b0 + 1");
    define(b, "b0", "2*f(3)");
    define(b, "f(u)", "u*a");
    define(b, "self", "1 + self");
    define(b, "g(u)", "g(u - 1)");
    refused(b, "1 + a", 12, "'a' depends on itself: a -> b0 -> f -> a (in f, called at 3:12)");
    assert_string_equal(b->err.file, "model.yaml");
    assert_int_equal(b->err.line, 3);
    refused(b, "self", 14, "'self' depends on itself: self -> self");
    refused(b, "g(1)", 10, "'g' depends on itself: g -> g");
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_E_PARSE);
}

static void unused_parameters_are_checked(void **state) {
    bench *b = *state;
    define(b, "good(u)", "if(abs(u) < 2 s, exp(u^2/(u^2 - (2 s)^2)), 0)");
    define(b, "fine(k, c)", "if(c, (-1)^k*3 m, 2 m)");
    define(b, "at(k)", "good(t - k)");
    if (snw_scope_check(b->scope, &b->err) != SNW_OK) fail_msg("%s", b->err.text);
    define(b, "bad(u)", "u + 1 m + 2 s");
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_E_PARSE);
    assert_int_equal(b->err.column, 10 + 10);
}

static void an_unused_constant_is_checked(void **state) {
    bench *b = *state;
    define(b, "a", "0");
    define(b, "c", "2 + 1/a");
    assert_int_equal(snw_scope_check(b->scope, &b->err), SNW_E_PARSE);
    assert_int_equal(b->err.column, 10 + 5);
    assert_non_null(strstr(b->err.text, "not a finite number"));
}

// ---- errors -------------------------------------------------------------------------------------

static void bad_texts_are_refused_where_they_go_wrong(void **state) {
    bench *b = *state;
    define(b, "stiffness", "3 N/m");
    define(b, "len", "1 m");
    const struct {
        const char *text;
        int column;
        const char *says;
    } cases[] = {
        {"", 1, "an expression is missing"},
        {"  ", 1, "an expression is missing"},
        {"1 +", 4, "a value is missing before the end"},
        {"* 2", 1, "a value is missing before '*'"},
        {"2 ** 3", 4, "a value is missing before '*'"},
        {"1 + )", 5, "a value is missing before ')'"},
        {"(1 + 2", 7, "')' is missing before the end"},
        {"1 + 2)", 6, "this ')' closes nothing"},
        {"1 2", 3, "an operator is missing before '2'"},
        {"2 t", 3, "an operator is missing before 't'"},
        {"2 len", 3, "an operator is missing before 'len'"},
        {"2 sin(t)", 3, "an operator is missing before 'sin'"},
        {"(1)(2)", 4, "an operator is missing before '('"},
        {"x 1/m", 3, "an operator is missing before '1'"},
        {"1 = 2", 3, "write '=='"},
        {"1 < 2 < 3", 7, "comparisons do not chain"},
        {"1e999", 1, "'1e999' is too large"},
        {"1e-999", 1, "'1e-999' is too small"},
        {"3 + 1..2", 5, "'1..2' is not a number"},
        {"1.2.3", 1, "'1.2.3' is not a number"},
        {"0x", 1, "'0x' is not a number"},
        {"0x10", 1, "'0x10' is not a number"},
        {"1e", 1, "'1e' is not a number"},
        {"1e+", 1, "'1e' is not a number"},
        {"2e3.5", 1, "'2e3.5' is not a number"},
        {"5 Nm", 3, "'Nm' is not a unit (did you mean 'N*m'?)"},
        {"5 MPA", 3, "'MPA' is not a unit (did you mean 'MPa'?)"},
        {"5 furlong", 3, "'furlong' is not a unit"},
        {"5 m^2.5", 4, "the exponent of a unit is a whole number"},
        {"5 s^(-1)", 4, "the exponent of a unit is a whole number"},
        {"5 m ^ 2", 5, "as in (5 m)^2"},
        {"5 m s", 5, "an operator is missing before 's'"},
        {"stifness*2", 1, "unknown name 'stifness' (did you mean 'stiffness'?)"},
        {"2*sinn(t)", 3, "unknown function 'sinn' (did you mean 'sin'?)"},
        {"2*T", 3, "unknown name 'T' (did you mean 't'?)"},
        {"3*kg", 3, "a unit only follows a number"},
        {"sin", 1, "sin is a function: sin(a)"},
        {"sin()", 5, "a value is missing before ')'"},
        {"sin(1, 2)", 1, "sin takes 1 argument, sin(a), got 2"},
        {"ramp(t, 0)", 1, "ramp takes 3 arguments, ramp(t, a, b), got 2"},
        {"ramp(t, 2 s, 1 s)", 14, "must be above"},
        {"linear(t, 1, 1)", 14, "must be above"},
        {"min()", 5, "a value is missing"},
        {"1/0", 2, "not a finite number"},
        {"3 + log(0)", 5, "not a finite number"},
        {"sqrt(-1)*t", 1, "not a finite number"},
        {"if(t < 1 s, 1/0, 2)", 14, "not a finite number"},
        {"1e308*1e308", 6, "not a finite number"},
        {"\"text\"", 1, "a text can only be an argument of table"},
        {"1 + $", 5, "a value is missing before '$'"},
        {"1 # 2", 3, "'#' cannot be used here"},
        {"len.x", 4, "names have no parts here"},
        {"len and", 8, "a value is missing before the end"},
        {"on(1)", 1, "unknown function 'on'"},
        {"table(\"f.csv\", 2)", 1, "tables cannot be read here"},
        {"table(f, 2)", 7, "a file name in quotes"},
        {"table(\"f.csv)", 7, "the closing quote is missing"},
        {"table(\"f.csv\")", 14, "a file, a column and optionally"},
        {"table(\"f.csv\", 0)", 16, "counted from 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused(b, cases[i].text, cases[i].column, cases[i].says);
    }
}

static void places_count_lines_and_letters(void **state) {
    bench *b = *state;
    define(b, "\xce\xbb", "2 m"); // lambda
    refused(b, "1 +\n  foo", 3, "unknown name 'foo'");
    assert_int_equal(b->err.line, 8);
    refused(b, "\xce\xbb + foo", 5, "unknown name 'foo'");
    assert_near(value(b, "3*\xce\xbb"), 6, 0);
    assert_string_equal(b->err.file, "model.yaml");
    assert_int_equal(b->err.status, SNW_E_PARSE);
}

static void faults_in_a_function_name_the_call(void **state) {
    bench *b = *state;
    define(b, "f(u)", "u + 1 m");
    refused(b, "2 m + f(3 s)", 14, "(in f, called at 7:7)");
    assert_int_equal(b->err.line, 3);
}

// a branch that is never taken may contain an expression without a value
static void the_branch_not_taken_does_no_harm(void **state) {
    bench *b = *state;
    define(b, "f(k)", "if(k > 1, 1/(k - 1), 0)");
    assert_near(value(b, "f(1) + f(3)"), 0.5, 0);
}

// ---- limits -------------------------------------------------------------------------------------

static void doubling_functions_end_quickly(void **state) {
    bench *b = *state;
    define(b, "f0(u)", "u + t");
    define(b, "g0(u)", "u");
    for (int i = 1; i < 60; i++) {
        char head[16], text[64];
        (void)snprintf(head, sizeof head, "f%d(u)", i);
        (void)snprintf(text, sizeof text, "f%d(u) + f%d(u)", i - 1, i - 1);
        define(b, head, text);
        (void)snprintf(head, sizeof head, "g%d(u)", i);
        (void)snprintf(text, sizeof text, "g%d(g%d(u))", i - 1, i - 1);
        define(b, head, text);
    }
    refused(b, "1 + f59(2)", 5, "more than 20000 operations");
    refused(b, "1 + g59(2)", 5, "more than 20000 operations");
    assert_near(value(b, "f5(1)"), 32 * 1.3, 1e-15);
}

// parameters are shared, so repeated doubling is cheap
static void doubling_parameters_is_cheap(void **state) {
    bench *b = *state;
    define(b, "p0", "t");
    for (int i = 1; i < 60; i++) {
        char head[16], text[64];
        (void)snprintf(head, sizeof head, "p%d", i);
        (void)snprintf(text, sizeof text, "p%d + p%d", i - 1, i - 1);
        define(b, head, text);
    }
    const snw_expr *e = parse(b, "p59", TIME);
    assert_near(snw_expr_value(e, (snw_at){.t = 0.5}), ldexp(1, 58), 0);
    assert_near(snw_expr_jet_t(e, (snw_at){.t = 0.5}).d, ldexp(1, 59), 0);
}

static char *repeat(bench *b, const char *open, const char *mid, const char *close, int n) {
    const size_t lo = strlen(open), lm = strlen(mid), lc = strlen(close);
    char *text = snw_pool_take(b->pool, (lo + lc) * (size_t)n + lm + 1);
    char *p = text;
    for (int i = 0; i < n; i++, p += lo) memcpy(p, open, lo);
    memcpy(p, mid, lm);
    p += lm;
    for (int i = 0; i < n; i++, p += lc) memcpy(p, close, lc);
    return text;
}

static void depth_and_length_have_limits(void **state) {
    bench *b = *state;
    define(b, "f(u)", "u");
    assert_near(value(b, repeat(b, "(", "1", ")", 190)), 1, 0);
    assert_near(value(b, repeat(b, "t+(", "1", ")", 190)), 58, 1e-13);
    assert_near(value(b, repeat(b, "t+", "1", "", 9000)), 2701, 1e-11);
    assert_near(value(b, repeat(b, "", "1", "-t", 9000)), -2699, 1e-11);
    refused(b, repeat(b, "(", "1", ")", 300), 201, "nested more than 200 deep");
    refused(b, repeat(b, "-", "1", "", 5000), 201, "nested more than 200 deep");
    refused(b, repeat(b, "2^", "1", "", 5000), 401, "nested more than 200 deep");
    refused(b, repeat(b, "not ", "on", "", 5000), 801, "nested more than 200 deep");
    refused(b, repeat(b, "sin(", "1", ")", 5000), 801, "nested more than 200 deep");
    refused(b, repeat(b, "f(", "1", ")", 5000), 401, "nested more than 200 deep");
    refused(b, repeat(b, "if(t<", "1", ",1,1)", 5000), 999, "nested more than 200 deep");
    refused(b, repeat(b, " ", "1", "", 70000), 1, "longer than 65536");
    refused(b, repeat(b, "t+", "1", "", 30000), 0, "more than 20000 operations");
}

static void a_long_chain_of_parameters_ends(void **state) {
    bench *b = *state;
    define(b, "c0", "t");
    for (int i = 1; i < 1000; i++) {
        char head[16], text[64];
        (void)snprintf(head, sizeof head, "c%d", i);
        (void)snprintf(text, sizeof text, "(c%d + 1)", i - 1);
        define(b, head, text);
    }
    const snw_expr *e = NULL;
    assert_int_equal(snw_expr_parse(b->pool, b->scope, "c999", &(snw_expr_rules){.vars = ALL}, NULL,
                                    1, 1, &e, &b->err),
                     SNW_E_PARSE);
    assert_non_null(strstr(b->err.text, "nested more than 200 deep"));
    assert_near(value(b, "c60"), 60.3, 1e-15);
}

static void a_small_pool_is_not_overrun(void **state) {
    bench *b = *state;
    snw_pool *tight = snw_pool_create(70000);
    snw_scope *scope = snw_scope_create(tight, NULL);
    const snw_expr *e = NULL;
    assert_int_equal(snw_expr_parse(tight, scope, repeat(b, "t+", "1", "", 9000),
                                    &(snw_expr_rules){.vars = ALL}, NULL, 1, 1, &e, &b->err),
                     SNW_E_MEMORY);
    snw_pool_destroy(tight);
}

static void evaluation_allocates_nothing(void **state) {
    bench *b = *state;
    const snw_expr *e = parse(b, "2 N*ramp(t, 0 s, 1 s)*sin(2*pi*(x/L - t))", ALL);
    const size_t before = snw_alloc_count();
    double out[4];
    (void)snw_expr_value(e, (snw_at){0.1, 0.2, 1, NULL});
    (void)snw_expr_jet_t(e, (snw_at){0.1, 0.2, 1, NULL});
    (void)snw_expr_breaks_t(e, 0, 1, out, 4);
    assert_int_equal(snw_alloc_count(), before);
}

static void constants_are_expressions_too(void **state) {
    bench *b = *state;
    const snw_expr *e = snw_expr_constant(b->pool, 2.5);
    assert_true(snw_expr_value(e, (snw_at){0}) == 2.5);
    assert_true(snw_expr_jet_t(e, (snw_at){0}).d == 0 && snw_expr_vars(e) == 0);
    assert_int_equal(snw_expr_breaks_t(e, 0, 1, NULL, 0), 0);
}

// each value up to its place, the last one beyond; one value alone is a constant
static void steps_jump_at_their_places(void **state) {
    bench *b = *state;
    static const double at[] = {0.1, 0.4, 0.9}, value[] = {3, -2, 0, 7};
    const snw_expr *e = NULL;
    for (int n = 0; n <= 3; n++) {
        assert_int_equal(snw_expr_steps(b->pool, n, at, value, &e, &b->err), SNW_OK);
        assert_int_equal(snw_expr_vars(e), n > 0 ? SNW_VAR_X : 0);
        for (int i = 0; i <= n; i++) {
            const double from = i > 0 ? at[i - 1] : 0, to = i < n ? at[i] : 1;
            assert_near(snw_expr_value(e, (snw_at){.x = from}), value[i], 0);
            assert_near(snw_expr_value(e, (snw_at){.x = 0.5 * (from + to)}), value[i], 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(variables_are_allowed_or_not),
        TEST(parameters_come_in_any_order),
        TEST(lists_and_functions_take_arguments),
        TEST(inner_scopes_hide_outer_ones),
        TEST(names_of_the_language_are_refused),
        TEST(cycles_name_the_way_round),
        TEST(unused_parameters_are_checked),
        TEST(an_unused_constant_is_checked),
        TEST(bad_texts_are_refused_where_they_go_wrong),
        TEST(places_count_lines_and_letters),
        TEST(faults_in_a_function_name_the_call),
        TEST(the_branch_not_taken_does_no_harm),
        TEST(doubling_functions_end_quickly),
        TEST(doubling_parameters_is_cheap),
        TEST(depth_and_length_have_limits),
        TEST(a_long_chain_of_parameters_ends),
        TEST(a_small_pool_is_not_overrun),
        TEST(evaluation_allocates_nothing),
        TEST(constants_are_expressions_too),
        TEST(steps_jump_at_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
