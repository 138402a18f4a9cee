// SPDX-License-Identifier: MIT
//
// basis.h: scalar shape functions of x = s/L in [0, 1] for the expansion of one strain component,
// theory.md (2.1). Kinds of bases are rows of one table, which reader, help, check, layout of nodes
// and error estimates read; a new basis is an enumerator here and a row in basis.c.
#pragma once

#include <stdbool.h>

typedef enum snw_basis_kind {
    SNW_BASIS_LEGENDRE,
    SNW_BASIS_CHEBYSHEV,
    SNW_BASIS_MONOMIAL,
    SNW_BASIS_FOURIER,
    SNW_BASIS_CONSTANT,
    SNW_BASIS_LINEAR,
    SNW_BASIS_QUADRATIC,
    SNW_BASIS_CUBIC,
    SNW_BASIS_SPLINE,
    SNW_BASIS_DISCONTINUOUS,
    SNW_BASIS_COUNT,                       // bases with a name in the model language
    SNW_BASIS_FUNCTIONS = SNW_BASIS_COUNT, // functions given by the user, function_set.h
    SNW_BASIS_KINDS
} snw_basis_kind;

// Per strain component; only piecewise bases in local models (model/local_model.c) have more, and
// never as many on one element.
enum { SNW_BASIS_MAX_FUNCTIONS = 400 };

// Global bases have `nfun` functions on all of [0, 1]: legendre P_j(2x-1), chebyshev T_j(2x-1),
// monomial x^j, fourier 1, sin 2 pi x, cos 2 pi x, sin 4 pi x, ... (any number of them). Piecewise
// bases live on elements between `breaks`: continuous nodal (Lagrange) functions of degree 1, 2, 3
// with equally spaced nodes in each element, numbered from left to right; the indicator function of
// each element; or B-splines of degree nfun - nelem with the breaks as simple knots and the ends
// repeated, hence with degree - 1 continuous derivatives; or nodal functions of any degree at the
// Gauss points of each element, which jump from one element to the next. Functions given by the
// user live on all of [0, 1]; the ends of their elements are places where some of them is not
// smooth.
typedef struct snw_basis {
    snw_basis_kind kind;
    int nfun;             // functions
    int nelem;            // elements, 1 for a global basis
    const double *breaks; // nelem + 1 ascending numbers from 0 to 1; NULL: equal elements
    const struct snw_function_set *set; // functions given by the user; else NULL
} snw_basis;

typedef struct snw_basis_type {
    const char *name, *meaning; // in the model language
    const char *number;         // the number behind its name: "number of functions"; NULL: none
    int most;                   // largest such number
    bool piecewise;             // lives on elements
    bool continuous;
    int degree;    // on an element, of a piecewise basis without a number
    int shift;     // functions by which the support moves from an element to the next; global: 0
    bool separate; // elements share no function: the support moves by all of them
    int well_conditioned;  // functions beyond which `richer` represents it; 0: any number
    snw_basis_kind richer; // kind of a richer basis that contains it, for error estimates
    // Degree of polynomials that represent nfun functions to rounding; NULL: they are polynomials.
    int (*polynomial_degree)(int nfun);
    // See snw_basis_eval, snw_basis_d1.
    void (*eval)(const snw_basis *b, int element, double x, double *phi);
    void (*d1)(const snw_basis *b, int element, double x, double *d);
    // Place in [0, 1] that belongs to function f of a piecewise basis on equal elements: a smooth
    // field has nearly its values there as coordinates. Global: NULL.
    double (*place)(const snw_basis *b, int f);
} snw_basis_type;

extern const snw_basis_type snw_basis_table[SNW_BASIS_KINDS];

// Largest number of monomials that are computed with as such. Beyond it their Gram matrix, and with
// it stiffness and mass matrix, is too ill-conditioned for double precision (13 functions: 1e18).
enum { SNW_BASIS_MONOMIALS = 8 };

// A well-conditioned basis of the same size and span: Legendre polynomials for more functions than
// `well_conditioned`, else b itself.
snw_basis snw_basis_well_conditioned(const snw_basis *b);

// x (n) <- coordinates in the monomial basis of the function with Legendre coordinates x.
void snw_basis_to_monomials(int n, double *x);

const char *snw_basis_name(snw_basis_kind kind);
bool snw_basis_piecewise(snw_basis_kind kind);
bool snw_basis_continuous(const snw_basis *b);

// Number of functions on nelem elements; number: the one behind the name, if there is one.
int snw_basis_size(snw_basis_kind kind, int number, int nelem);

// Polynomial degree on an element; for fourier the degree of polynomials that represent it to
// rounding, for the choice of quadrature.
int snw_basis_degree(const snw_basis *b);

double snw_basis_break(const snw_basis *b, int i); // end of an element, i = 0 .. nelem

// The functions that do not vanish on `element` are first, ..., first + count - 1.
void snw_basis_support(const snw_basis *b, int element, int *first, int *count);

// phi[0..count-1] <- values at x of the functions supported on `element`, which contains x. At a
// break the element selects the one-sided limit.
void snw_basis_eval(const snw_basis *b, int element, double x, double *phi);

// d[0..count-1] <- derivatives of these functions with respect to x.
void snw_basis_d1(const snw_basis *b, int element, double x, double *d);
