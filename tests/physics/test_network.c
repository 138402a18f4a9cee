// SPDX-License-Identifier: MIT
//
// Nets of rods welded at their nodes: sparse factors and rows compared by C C' give what dense
// factors and orthogonalised rows give, and their operations grow with the net as claimed.
#include "constraint/bordered_matrix.h"
#include "constraint/projection.h"
#include "constraint/row_gram.h"
#include "dynamics/constraint.h"
#include "language/document.h"
#include "solve/dense.h"
#include "study/statics.h"

#include "near.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static const char net_text[] =
    "sinew: 1\n"
    "study: [static: {}]\n"
    "parameters: {N: 4, a: 5 cm}\n"
    "materials: {glass_fibre: {young: 40 GPa, poisson: 0.3, density: 1900 kg/m^3}}\n"
    "robot:\n"
    "  node(k=0..N^2-1): {on: world, pose: {xyz: [\"a*mod(k, N)\", a*floor(k/N), 0]}, joint: free, "
    "body: {mass: 1 g, inertia: [1e-8, 1e-8, 1e-8]}}\n"
    "  weft(k=0..N*(N-1)-1): {on: node(k + floor(k/(N-1))), rod: &rod {length: a, section: "
    "{circle: {radius: 0.5 mm}}, material: glass_fibre, "
    "strain: {twist: constant, bend_y: legendre 2, bend_z: legendre 2, stretch: constant}, nodes: "
    "3}}\n"
    "  warp(k=0..N*(N-1)-1): {on: node(k), pose: {axis: z, angle: 90 deg}, rod: *rod}\n"
    "sites: {post(k=0..3): {on: world, pose: {xyz: [\"a*(N-1)*mod(k, 2)\", a*(N-1)*floor(k/2), "
    "0]}}}\n"
    "loops:\n"
    "  along(k=0..N*(N-1)-1): {join: [weft(k).tip, node(k + floor(k/(N-1)) + 1)], as: fixed}\n"
    "  across(k=0..N*(N-1)-1): {join: [warp(k).tip, node(k+N)], as: fixed, pose: {axis: z, angle: "
    "-90 deg}}\n"
    "  corner(k=0..3): {join: [post(k), \"node((N-1)*(mod(k, 2) + N*floor(k/2)))\"], as: "
    "spherical}\n";

// A plate on N legs: its coordinates are in the rows of all loops.
static const char plate_text[] =
    "sinew: 1\n"
    "study: [static: {}]\n"
    "parameters: {N: 4, R: 20 cm}\n"
    "materials: {steel: {young: 207 GPa, poisson: 0.3, density: 8000}}\n"
    "robot:\n"
    "  leg(k=1..N): {on: world, pose: {xyz: [R*cos(2*pi*k/N), R*sin(2*pi*k/N), 0], x: z},"
    " rod: {length: 0.5, section: {circle: {radius: 1 mm}}, material: steel,"
    " strain: cosserat legendre 2, nodes: 2}}\n"
    "  plate: {on: world, pose: {xyz: [0, 0, 0.5]}, joint: free, body: {mass: 0.1, inertia: [2e-4,"
    " 2e-4, 4e-4]}}\n"
    "sites: {hole(k=1..N): {on: plate, pose: {xyz: [R*cos(2*pi*k/N), R*sin(2*pi*k/N), 0], x: z}}}\n"
    "loops:\n"
    "  clamp(k=1..N): {join: [leg(k).tip, hole(k)], as: fixed}\n";

typedef struct net {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    double *size;
} net;

// `more` is written behind the loops
static net open_model(const char *first, int N, const char *more) {
    net x = {0};
    char text[4000];
    snprintf(text, sizeof text, "%s%s", first, more);
    snw_error err = {0};
    char set[16];
    snprintf(set, sizeof set, "N=%d", N);
    const char *const sets[] = {set};
    assert_int_equal(snw_document_parse("net", text, strlen(text), 1, sets, &x.doc, &err), SNW_OK);
    assert_int_equal(snw_document_describe(x.doc, 0, &x.desc, &err), SNW_OK);
    assert_int_equal(snw_projection_compile(x.desc, &x.m, &err), SNW_OK);
    assert_int_equal(snw_state_create(x.m, &x.s), SNW_OK);
    assert_int_equal(snw_inputs_create(x.m, &x.in), SNW_OK);
    assert_int_equal(snw_work_create(x.m, &x.w), SNW_OK);
    x.size = snw_alloc((size_t)x.m->nconstraint * sizeof *x.size);
    for (int k = 0; k < x.m->nconstraint; k++) x.size[k] = x.m->length;
    return x;
}

static net open_net(int N) { return open_model(net_text, N, ""); }

static void close_net(net *x) {
    snw_free(x->size);
    snw_work_destroy(x->w);
    snw_inputs_destroy(x->in);
    snw_state_destroy(x->s);
    snw_model_destroy(x->m);
    snw_desc_destroy(x->desc);
    snw_document_destroy(x->doc);
}

// configuration near the flat one, all coordinates moved; residual, tangent and rows in x->w
static void move_net(net *x) {
    const snw_model *m = x->m;
    double *dx = snw_alloc((size_t)m->nv * sizeof *dx);
    unsigned long long seed = 11;
    for (int i = 0; i < m->nv; i++) dx[i] = 1e-3 * m->typical[i] * snw_projection_random(&seed);
    snw_move(m, m->q0, 1, dx, x->s->q);
    snw_inputs_at(m, 0, x->in);
    snw_residual(m, x->in, x->s, true, x->w);
    snw_tangent_pass(m, NULL, x->w);
    snw_constraints_jacobian(m, x->w);
    snw_free(dx);
}

// A <- [T -C'; -C 0]
static void fill(const net *x, snw_bordered_matrix *b) {
    snw_bordered_matrix_clear(b);
    snw_tangent_add(x->m, x->in, 1, 0, 0, x->w, b->A);
    snw_constraints_place(x->m, x->w, 1, b->A);
}

// Factors without row exchanges solve the equations of a net as LAPACK does, and the signs of their
// pivots are those of the eigenvalues: as many negative ones as rows where it is stable.
static void factors_are_those_of_lapack(void **state) {
    (void)state;
    net x = open_net(6);
    const snw_model *m = x.m;
    move_net(&x);
    snw_bordered_matrix *sparse, *dense;
    assert_int_equal(snw_bordered_matrix_create(m, SNW_ALGEBRA_AUTO, &sparse), SNW_OK);
    assert_int_equal(snw_bordered_matrix_create(m, SNW_ALGEBRA_DENSE, &dense), SNW_OK);
    assert_non_null(sparse->sparse);
    fill(&x, sparse);
    fill(&x, dense);
    snw_arena scratch = {.size = snw_negative_scratch(dense->n)};
    scratch.base = snw_alloc(scratch.size);
    const size_t n = (size_t)dense->n;
    double *copy = snw_alloc(n * n * sizeof *copy), *a = snw_alloc(2 * n * sizeof *a), *b = a + n;
    memcpy(copy, dense->A.entry, n * n * sizeof *copy);
    unsigned long long seed = 3;
    for (size_t i = 0; i < n; i++) a[i] = b[i] = snw_projection_random(&seed);
    assert_int_equal(snw_bordered_matrix_factor(sparse), SNW_OK);
    assert_int_equal(snw_bordered_matrix_factor(dense), SNW_OK);
    assert_false(sparse->overwritten); // the factors fit in their room
    snw_bordered_matrix_solve(sparse, a);
    snw_bordered_matrix_solve(dense, b);
    // residuals of both relative to the terms of each row: backward errors
    double worst[2] = {0};
    for (size_t i = 0; i < n; i++) {
        seed = i == 0 ? 3 : seed;
        const double side = snw_projection_random(&seed);
        double sum[2] = {-side, -side}, terms[2] = {fabs(side), fabs(side)};
        for (size_t j = 0; j < n; j++) {
            const double *solution[] = {a, b};
            for (int k = 0; k < 2; k++) {
                sum[k] += copy[j * n + i] * solution[k][j];
                terms[k] += fabs(copy[j * n + i] * solution[k][j]);
            }
        }
        for (int k = 0; k < 2; k++) worst[k] = fmax(worst[k], fabs(sum[k]) / terms[k]);
    }
    print_message("backward errors: %.1e, of LAPACK %.1e\n", worst[0], worst[1]);
    // units make entries differ by 1e7, and neither scales them: LAPACK is the measure
    assert_true(worst[0] < 10 * worst[1] && worst[0] < 1e-10);
    int negative;
    assert_int_equal(snw_count_negative((int)n, copy, &scratch, &negative), SNW_OK);
    assert_int_equal(snw_sparse_negative(sparse->sparse), negative);
    snw_free(scratch.base);
    snw_free(copy);
    snw_free(a);
    snw_bordered_matrix_destroy(sparse);
    snw_bordered_matrix_destroy(dense);
    close_net(&x);
}

// The step of C C' minimises |C x - e|^2 + mu |x|^2: its gradient C'(C x - e) + mu x vanishes.
static void check_step(const char *text, int N) {
    net x = open_model(text, N, "");
    const snw_model *m = x.m;
    move_net(&x);
    snw_row_gram *g;
    assert_int_equal(snw_row_gram_create(m, x.size, &g), SNW_OK);
    assert_non_null(g);
    const double mu = 1e-3;
    double *e = snw_alloc((size_t)(2 * m->nconstraint + 2 * m->nv) * sizeof *e);
    double *given = e + m->nconstraint, *step = given + m->nconstraint, *gradient = step + m->nv;
    unsigned long long seed = 5;
    for (int k = 0; k < m->nconstraint; k++) e[k] = given[k] = snw_projection_random(&seed);
    assert_int_equal(snw_row_gram_factor(g, x.w, mu), SNW_OK);
    snw_row_gram_step(g, x.w, e, step);
    for (int i = 0; i < m->nv; i++) gradient[i] = mu * step[i];
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, x.w, k);
        double left = -given[k];
        for (int j = 0; j < c.n; j++)
            left += c.C[j] * m->typical[c.dof[j]] / x.size[k] * step[c.dof[j]];
        for (int j = 0; j < c.n; j++)
            gradient[c.dof[j]] += c.C[j] * m->typical[c.dof[j]] / x.size[k] * left;
    }
    for (int i = 0; i < m->nv; i++) assert_near(gradient[i], 0, 1e-10);
    snw_free(e);
    snw_row_gram_destroy(g);
    close_net(&x);
}

static void steps_of_the_rows_are_least_squares(void **state) {
    (void)state;
    check_step(net_text, 5);
    check_step(plate_text, 36);
}

// A plate whose legs keep all their rows, and one with a leg that is held twice.
static void dependent_rows_of_plates_are_found(void **state) {
    (void)state;
    net x = open_model(plate_text, 40, "");
    assert_int_equal(x.m->nconstraint, 6 * 40);
    assert_int_equal(x.m->freedom, x.m->nv - 6 * 40);
    net twice = open_model(plate_text, 40, "  again: {join: [leg(7).tip, hole(7)], as: fixed}\n");
    assert_int_equal(twice.m->freedom, x.m->freedom);
    assert_int_equal(twice.m->nconstraint, x.m->nconstraint);
    assert_int_equal(twice.m->loop[twice.m->nloop - 1].nredundant, 6);
    close_net(&twice);
    close_net(&x);
}

// Rows of twice as many legs take twice the operations.
static void operations_grow_with_the_legs(void **state) {
    (void)state;
    double products[2];
    for (int k = 0; k < 2; k++) {
        net x = open_model(plate_text, k ? 96 : 48, "");
        snw_row_gram *g;
        assert_int_equal(snw_row_gram_create(x.m, x.size, &g), SNW_OK);
        assert_non_null(g);
        products[k] = snw_row_gram_operations(g);
        snw_row_gram_destroy(g);
        close_net(&x);
    }
    assert_true(products[1] < 2.01 * products[0]);
}

// Rows found independent by C C' leave the freedom of as many; a loop that is there twice is found,
// and its six rows are dropped.
static void dependent_rows_are_found(void **state) {
    (void)state;
    net x = open_net(6); // 180 + 180 rows and more: by C C'
    assert_true(x.m->nconstraint >= 200);
    assert_int_equal(x.m->freedom, x.m->nv - x.m->nconstraint);
    assert_int_equal(x.m->nconstraint, 6 * 2 * 6 * 5 + 3 * 4);
    assert_int_equal(x.m->singular, 0);
    net twice = open_model(net_text, 6, "  again: {join: [weft(7).tip, node(9)], as: fixed}\n");
    assert_int_equal(twice.m->freedom, x.m->freedom);
    assert_int_equal(twice.m->nconstraint, x.m->nconstraint);
    assert_int_equal(twice.m->loop[twice.m->nloop - 1].nredundant, 6);
    close_net(&twice);
    close_net(&x);
}

// Columns that are clamped at their feet carry dead weights; a rod that a loop holds makes the
// model one with a matrix. Each column is unstable in both directions above Euler's load pi^2 EI/(4
// L^2), and in no second shape below nine times that.
static const char columns_text[] =
    "sinew: 1\n"
    "study: [static: {}]\n"
    "gravity: 0\n"
    "materials: {rubber: {young: 1 GPa, poisson: 0.4, density: 0}}\n"
    "parameters: {N: 340, a: 0.5 m, EI: 2 N*m^2, part: 1.5, P: part*pi^2*EI/(4*a^2)}\n"
    "robot:\n"
    "  column(k=1..N): {on: world, pose: {xyz: [0.1*k, 0, 0], x: z, y: x}, rod: {length: a, "
    "section: "
    "{stiffness: {bend_y: EI, bend_z: EI}}, strain: {bend_y: legendre 3, bend_z: legendre 3}, "
    "nodes: "
    "3}}\n"
    "  held: {on: world, rod: {length: a, section: {circle: {radius: 5 mm}}, material: rubber, "
    "strain: cosserat legendre 2}}\n"
    "loads: {push(k=1..N): {on: column(k).tip, force: [0, 0, -P]}}\n"
    "sites: {pin: {on: world, pose: {xyz: [a, 0, 0]}}}\n"
    "loops: {hold: {join: [pin, held.tip], as: spherical}}\n";

static int unstable_directions(const char *part, int *nv) {
    snw_document *doc;
    snw_desc *desc = NULL;
    snw_model *m = NULL;
    snw_state *s;
    snw_statics *st;
    snw_error err = {0};
    const char *const sets[] = {part};
    if (snw_document_parse("columns", columns_text, strlen(columns_text), 1, sets, &doc, &err) ||
        snw_document_describe(doc, 0, &desc, &err) || snw_projection_compile(desc, &m, &err))
        fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    assert_int_equal(snw_statics_create(m, &st), SNW_OK);
    const snw_statics_opts opts = snw_statics_defaults();
    snw_statics_info info;
    assert_int_equal(snw_statics_solve(st, 0, &opts, s, &info, &err), SNW_OK);
    *nv = m->nv;
    snw_statics_destroy(st);
    snw_state_destroy(s);
    snw_model_destroy(m);
    snw_desc_destroy(desc);
    snw_document_destroy(doc);
    return info.unstable;
}

static void pivots_count_the_unstable_directions(void **state) {
    (void)state;
    int nv;
    assert_int_equal(unstable_directions("part=0.9", &nv), 0);
    assert_true(nv > 2000); // compressed
    assert_int_equal(unstable_directions("part=1.1", &nv), 2 * 340);
}

// Multiplications of factors of plane nets grow like n^1.5 at best (nested dissection of a grid),
// of small ones faster, since few of their nodes are inner ones; the elimination of each rod's own
// coordinates is linear. From 112 to 480 rods; dense factors have the power 3.
static void operations_grow_with_the_net(void **state) {
    (void)state;
    double products[2], gram[2], unknowns[2];
    const int sizes[2] = {8, 16};
    for (int k = 0; k < 2; k++) {
        net x = open_net(sizes[k]);
        snw_sparse *sparse;
        snw_row_gram *g;
        assert_int_equal(snw_pattern_create(x.m, NULL, &sparse), SNW_OK);
        assert_int_equal(snw_row_gram_create(x.m, x.size, &g), SNW_OK);
        products[k] = snw_sparse_foresee(sparse).products;
        gram[k] = snw_row_gram_operations(g);
        unknowns[k] = x.m->nv + x.m->nconstraint;
        snw_sparse_destroy(sparse);
        snw_row_gram_destroy(g);
        close_net(&x);
    }
    const double growth = log(unknowns[1] / unknowns[0]);
    const double power = log(products[1] / products[0]) / growth;
    const double gram_power = log(gram[1] / gram[0]) / growth;
    print_message("factors: power %.2f, rows: power %.2f\n", power, gram_power);
    assert_true(power < 1.6);
    assert_true(gram_power < 1.9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_those_of_lapack),
        cmocka_unit_test(steps_of_the_rows_are_least_squares),
        cmocka_unit_test(dependent_rows_are_found),
        cmocka_unit_test(dependent_rows_of_plates_are_found),
        cmocka_unit_test(operations_grow_with_the_legs),
        cmocka_unit_test(pivots_count_the_unstable_directions),
        cmocka_unit_test(operations_grow_with_the_net),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
