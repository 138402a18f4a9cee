// SPDX-License-Identifier: MIT
//
// function_set.h: strain functions given by the user (theory.md 2.1): laws of x and L, columns of
// tables. A set knows its breaks, the degree of polynomials that represent it, and the conditioning
// of its Gram matrix. Richer sets add Legendre polynomials, for error estimates.
#pragma once

#include "base/pool.h"
#include "base/source_location.h"
#include "math/basis.h"
#include "math/expr.h"
#include "math/expr_spline.h"

// One function: a law, a cubic spline or straight lines between the rows of a table. The samples of
// tables are those of x/L.
typedef struct snw_shape_function {
    const snw_expr *law;      // of x and L; NULL: a table
    const snw_spline *spline; // NULL: straight lines
    snw_table samples;        // of a table
    const char *text;         // as written, for messages
    snw_source_location location;
} snw_shape_function;

enum { SNW_FUNCTION_SET_MOST = 100 }; // functions of a set

// Smallest eigenvalues of the Gram matrix, scaled to unit diagonal, below which a set is refused
// and below which a warning is given.
#define SNW_FUNCTION_SET_DEPENDENT 1e-12
#define SNW_FUNCTION_SET_NEARLY    1e-8

typedef struct snw_function_set {
    int n;                              // functions of the user
    const snw_shape_function *function; // n
    double L;                           // length of the rod, m
    int degree;         // of polynomials that represent all functions on each element
    double resolved;    // largest error of these polynomials, relative to the function
    bool continuous;    // no function jumps
    double smallest;    // smallest eigenvalue of the Gram matrix scaled to unit diagonal
    double condition;   // its largest eigenvalue over the smallest
    int dependent;      // function with the largest part in the eigenvector of the smallest
    const double *size; // functions of the basis: root mean square of each
    // functions added to them: combinations of the n functions and of Legendre polynomials
    int nadded, nlegendre;
    const double *added; // nadded x (n + nlegendre)
} snw_function_set;

// *out <- basis of n functions on a rod of length L; it belongs to the pool, to which the functions
// belong as well. SNW_E_PARSE with the location of a function that is not finite, and, if the set
// stands `alone`, that is zero or depends on the others; strain: name of the component, for
// messages.
SNW_NODISCARD snw_status snw_function_set_create(snw_pool *pool, const char *strain, int n,
                                                 const snw_shape_function *function, double L,
                                                 bool alone, snw_basis *out, snw_error *err);

// Sets of strains that move together (nset, as many functions each, not `alone`): conditioning of
// all <- that of the sum of their Gram matrices, each over its largest diagonal entry. SNW_E_PARSE:
// a function is zero in all strains, or depends on the others in all.
SNW_NODISCARD snw_status snw_function_set_join(snw_pool *pool, int nset, const char *const *strain,
                                               snw_basis *const *basis, snw_error *err);

// *out <- basis with the functions of b, a set, and `more` others that are orthonormal and
// orthogonal to them on [0, 1], made of the first Legendre polynomials that b does not contain. It
// may have fewer when b contains most polynomials. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_function_set_enrich(snw_pool *pool, const snw_basis *b, int more,
                                                 snw_basis *out);

// Are these the same functions, at the points of a fine rule?
bool snw_function_set_same(const snw_basis *a, const snw_basis *b);

// See snw_basis_eval, snw_basis_d1.
void snw_function_set_eval(const snw_basis *b, int element, double x, double *phi);
void snw_function_set_d1(const snw_basis *b, int element, double x, double *d);
