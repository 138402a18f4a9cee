// SPDX-License-Identifier: MIT
//
// Strain functions given by the user: values, breaks, degree, conditioning, richer sets.
//
// All integrals over [0, 1] are taken at Gauss points of each element. The conditioning follows
// from the singular values s of the matrix A of the values sqrt(w) f/|f|: the eigenvalues of the
// Gram matrix A'A, scaled to unit diagonal, are s^2, and the singular values are known to rounding
// where eigenvalues of A'A would be known to its square root only.
#include "math/function_set.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/quadrature.h"
#include "math/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS_WHOLE = 64, // Gauss points of a set without breaks, at least
    POINTS_PIECE = 16, // of an element of a set with breaks
    DEGREE_WHOLE = 48, // largest degree of polynomials that represent functions there
    DEGREE_PIECE = 12,
    SWEEPS = 60, // of Jacobi rotations
    MOST_ELEMENTS = 400
};

static const double SAME_BREAK = 1e-9; // distance of breaks that count as one
// Error of polynomials whose degree is high enough: products of two functions, which are
// integrated, err by its square. Error beyond which the rows of a cubic table are breaks.
static const double REPRESENTED = 1e-4, ROUGH = 1e-3;

// ---- values ------------------------------------------------------------------------------------

// Row i of a table with u(i) <= at < u(i + 1), or the first or last such row.
static int table_row(snw_table s, double at) {
    int lo = 0, hi = s.n - 1;
    while (hi - lo > 1) {
        const int mid = lo + (hi - lo) / 2;
        if (s.x[mid] <= at) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

// Value and derivative of a function in u = x/L, on the side of an element at its ends: laws are
// evaluated beside a break, tables of straight lines by the row that contains the element.
static snw_jet function_at(const snw_basis *b, int f, int element, double u) {
    const snw_function_set *s = b->set;
    const snw_shape_function *one = &s->function[f];
    const double from = snw_basis_break(b, element), to = snw_basis_break(b, element + 1);
    if (one->law) {
        const double beside = 1e-12 * (to - from);
        const double at = u == from && element > 0            ? u + beside
                          : u == to && element < b->nelem - 1 ? u - beside
                                                              : u;
        snw_jet y = snw_expr_jet_x(one->law, (snw_at){.x = at * s->L, .L = s->L});
        y.d *= s->L;
        return y;
    }
    if (one->spline) return snw_spline_jet(one->spline, u);
    const int i = table_row(one->samples, 0.5 * (from + to));
    const double *x = one->samples.x, *y = one->samples.y, h = x[i + 1] - x[i];
    const double slope = (y[i + 1] - y[i]) / h, t = (u - x[i]) / h;
    return (snw_jet){(1 - t) * y[i] + t * y[i + 1], slope, 0};
}

// y[f] <- values or derivatives of the functions of the user, then of the added ones.
static void set_values(const snw_basis *b, int element, double x, bool derivative, double *y) {
    const snw_function_set *s = b->set;
    for (int f = 0; f < s->n; f++) {
        const snw_jet v = function_at(b, f, element, x);
        y[f] = derivative ? v.d : v.v;
    }
    if (s->nadded == 0) return;
    double P[SNW_BASIS_MAX_FUNCTIONS];
    const snw_basis legendre = {.kind = SNW_BASIS_LEGENDRE, .nfun = s->nlegendre, .nelem = 1};
    if (derivative) {
        snw_basis_d1(&legendre, 0, x, P);
    } else {
        snw_basis_eval(&legendre, 0, x, P);
    }
    const double *c = s->added;
    for (int k = 0; k < s->nadded; k++) {
        double sum = 0;
        for (int f = 0; f < s->n; f++) sum += *c++ * y[f];
        for (int j = 0; j < s->nlegendre; j++) sum += *c++ * P[j];
        y[s->n + k] = sum;
    }
}

void snw_function_set_eval(const snw_basis *b, int element, double x, double *phi) {
    set_values(b, element, x, false, phi);
}

void snw_function_set_d1(const snw_basis *b, int element, double x, double *d) {
    set_values(b, element, x, true, d);
}

// ---- samples -----------------------------------------------------------------------------------

// Values of the functions of a basis at the Gauss points of its elements.
typedef struct set_samples {
    int per, m;    // points of an element and in all
    double *x, *w; // per: Gauss rule on [0, 1]
    double *A;     // m x nfun: values times the root of their weight
} set_samples;

static bool samples_take(const snw_basis *b, set_samples *s) {
    const int n = b->nfun;
    s->per = b->nelem == 1 ? POINTS_WHOLE + 2 * n : POINTS_PIECE + 2 * n / b->nelem;
    s->m = s->per * b->nelem;
    const size_t m = (size_t)s->m;
    s->x = snw_alloc((2 * (size_t)s->per + m * (size_t)n + (size_t)n) * sizeof *s->x);
    if (!s->x) return false;
    s->w = s->x + s->per;
    s->A = s->w + s->per;
    double *phi = s->A + m * (size_t)n;
    snw_gauss(s->per, s->x, s->w);
    for (int k = 0; k < s->m; k++) {
        const int e = k / s->per, i = k % s->per;
        const double a = snw_basis_break(b, e), h = snw_basis_break(b, e + 1) - a;
        snw_basis_eval(b, e, a + h * s->x[i], phi);
        for (int f = 0; f < n; f++) s->A[(size_t)f * m + (size_t)k] = sqrt(h * s->w[i]) * phi[f];
    }
    return true;
}

static void samples_free(set_samples *s) { snw_free(s->x); }

static double column_norm(int m, const double *a) { return sqrt(snw_vector_dot(m, a, a)); }

// ---- breaks ------------------------------------------------------------------------------------

// b->breaks, b->nelem <- 0, 1, the places where laws switch, the rows of tables of straight lines,
// and those of cubic tables if `rows`. SNW_E_PARSE: too many.
static snw_status set_breaks(snw_pool *pool, const snw_function_set *s, bool rows, snw_basis *b,
                             snw_error *err) {
    size_t most = 2;
    for (int f = 0; f < s->n; f++)
        most += s->function[f].law ? MOST_ELEMENTS : (size_t)s->function[f].samples.n;
    double *all = snw_pool_array(pool, most, sizeof *all);
    if (!all) return snw_fail_memory(err);
    int n = 0, count = 1;
    all[n++] = 0, all[n++] = 1;
    for (int f = 0; f < s->n; f++) {
        const snw_shape_function *one = &s->function[f];
        if (one->law) {
            const int more = snw_expr_breaks_x(one->law, s->L, all + n, MOST_ELEMENTS);
            for (int i = n; i < n + more; i++) all[i] /= s->L;
            n += more;
        }
        for (int i = 0; !one->law && (rows || !one->spline) && i < one->samples.n; i++)
            all[n++] = one->samples.x[i];
    }
    qsort(all, (size_t)n, sizeof *all, snw_compare_doubles);
    for (int i = 0; i < n; i++) {
        if (all[i] > all[count - 1] + SAME_BREAK && all[i] < 1 - SAME_BREAK) all[count++] = all[i];
        if (i == 0) all[0] = 0;
    }
    all[count] = 1;
    b->nelem = count;
    b->breaks = count > 1 ? all : NULL;
    if (count <= MOST_ELEMENTS) return SNW_OK;
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_PARSE,
                 "the functions of a strain have %d breaks along the rod, at most %d are possible; "
                 "give tables with fewer rows",
                 count - 1, MOST_ELEMENTS - 1),
        s->function[0].location.file, s->function[0].location.line, s->function[0].location.column);
}

// ---- degree ------------------------------------------------------------------------------------

// s->degree, s->resolved <- from the decay of the Legendre coefficients of each function on each
// element, of the samples A.
static void set_degree(const snw_basis *b, const set_samples *samples, snw_function_set *s) {
    const int most = b->nelem == 1 ? DEGREE_WHOLE : DEGREE_PIECE, per = samples->per;
    double tail[DEGREE_WHOLE + 2] = {0}; // squared error of degree p, relative to the function
    double P[SNW_BASIS_MAX_FUNCTIONS], c[SNW_BASIS_MAX_FUNCTIONS];
    SNW_ASSERT(per <= SNW_BASIS_MAX_FUNCTIONS);
    const snw_basis legendre = {.kind = SNW_BASIS_LEGENDRE, .nfun = per, .nelem = 1};
    for (int f = 0; f < s->n; f++) {
        const double *a = samples->A + (size_t)f * (size_t)samples->m;
        const double norm = column_norm(samples->m, a);
        double own[DEGREE_WHOLE + 2] = {0};
        for (int e = 0; e < b->nelem; e++, a += per) {
            for (int k = 0; k < per; k++) c[k] = 0;
            for (int i = 0; i < per; i++) {
                snw_basis_eval(&legendre, 0, samples->x[i], P);
                for (int k = 0; k < per; k++)
                    c[k] += sqrt(samples->w[i] * (2 * k + 1)) * P[k] * a[i];
            }
            double sum = 0;
            for (int k = per - 1; k > 0; k--) {
                sum += c[k] * c[k];
                if (k - 1 <= most) own[k - 1] += sum;
            }
        }
        for (int p = 0; p <= most && norm > 0; p++) tail[p] = fmax(tail[p], own[p] / (norm * norm));
    }
    s->degree = 0;
    while (s->degree < most && !(tail[s->degree] <= REPRESENTED * REPRESENTED)) s->degree++;
    s->resolved = sqrt(tail[s->degree]);
}

static bool set_is_continuous(const snw_basis *b) {
    const snw_function_set *s = b->set;
    for (int e = 1; e < b->nelem; e++) {
        const double u = snw_basis_break(b, e);
        for (int f = 0; f < s->n; f++) {
            const double left = function_at(b, f, e - 1, u).v, right = function_at(b, f, e, u).v;
            if (!(fabs(left - right) <= 1e-9 * s->size[f])) return false;
        }
    }
    return true;
}

// ---- conditioning ------------------------------------------------------------------------------

// One-sided Jacobi rotations (Hestenes): A (m x n) <- A V with orthogonal columns, V (n x n) the
// product of the rotations.
static void jacobi_columns(int m, int n, double *A, double *V) {
    for (int i = 0; i < n * n; i++) V[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double worst = 0;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                double *x = A + (size_t)p * (size_t)m, *y = A + (size_t)q * (size_t)m;
                const double a = snw_vector_dot(m, x, x), b = snw_vector_dot(m, y, y),
                             g = snw_vector_dot(m, x, y);
                if (g == 0 || !(a > 0 && b > 0)) continue;
                worst = fmax(worst, fabs(g) / sqrt(a * b));
                const double theta = 0.5 * (b - a) / g;
                const double sign = theta < 0 ? -1 : 1;
                const double t = sign / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < m; k++) {
                    const double u = x[k], v = y[k];
                    x[k] = c * u - s * v, y[k] = s * u + c * v;
                }
                for (int k = 0; k < n; k++) {
                    const double u = V[p * n + k], v = V[q * n + k];
                    V[p * n + k] = c * u - s * v, V[q * n + k] = s * u + c * v;
                }
            }
        }
        if (worst < 1e-15) return;
    }
}

// s->smallest, condition, dependent <- from the samples, whose columns are overwritten.
static bool set_conditioning(const set_samples *samples, snw_function_set *s) {
    const int n = s->n, m = samples->m;
    double *V = snw_alloc((size_t)n * (size_t)n * sizeof *V);
    if (!V) return false;
    for (int f = 0; f < n; f++) {
        double *a = samples->A + (size_t)f * (size_t)m;
        const double norm = column_norm(m, a);
        for (int k = 0; k < m; k++) a[k] /= norm;
    }
    jacobi_columns(m, n, samples->A, V);
    double least = INFINITY, most = 0;
    int of = 0;
    for (int f = 0; f < n; f++) {
        const double *a = samples->A + (size_t)f * (size_t)m, square = snw_vector_dot(m, a, a);
        if (square < least) least = square, of = f;
        most = fmax(most, square);
    }
    s->smallest = least;
    s->condition = most / least;
    s->dependent = 0;
    for (int f = 0; f < n; f++) {
        if (fabs(V[of * n + f]) > fabs(V[of * n + s->dependent])) s->dependent = f;
    }
    snw_free(V);
    return true;
}

// ---- creation ----------------------------------------------------------------------------------

static snw_status set_refuse(const snw_function_set *s, int f, snw_status status, snw_error *err) {
    const snw_source_location at = s->function[f].location;
    return snw_fail_at_location(err, status, at.file, at.line, at.column);
}

static snw_status set_check_finite(const char *strain, const snw_basis *b,
                                   const set_samples *samples, bool alone, snw_error *err) {
    const snw_function_set *s = b->set;
    for (int f = 0; f < s->n; f++) {
        for (int k = -2; k < samples->m; k++) {
            const int e = k < 0 ? 0 : k / samples->per;
            const double a = snw_basis_break(b, e), h = snw_basis_break(b, e + 1) - a;
            const double u = k < 0 ? k + 2 : a + h * samples->x[k % samples->per];
            const double v = k < 0 ? function_at(b, f, k + 2 == 0 ? 0 : b->nelem - 1, u).v
                                   : samples->A[(size_t)f * (size_t)samples->m + (size_t)k];
            if (isfinite(v)) continue;
            return set_refuse(s, f,
                              snw_fail(err, SNW_E_PARSE,
                                       "function %d of %s, %.80s, is not a finite number at x = %g "
                                       "m; it is needed on the whole rod, ends included",
                                       f + 1, strain, s->function[f].text, u * s->L),
                              err);
        }
        if (!alone || column_norm(samples->m, samples->A + (size_t)f * (size_t)samples->m) > 0)
            continue;
        return set_refuse(s, f,
                          snw_fail(err, SNW_E_PARSE,
                                   "function %d of %s, %.80s, is zero on the whole rod; leave it "
                                   "out",
                                   f + 1, strain, s->function[f].text),
                          err);
    }
    return SNW_OK;
}

static snw_status set_check_independent(const char *strain, const snw_function_set *s,
                                        snw_error *err) {
    if (s->smallest >= SNW_FUNCTION_SET_DEPENDENT) return SNW_OK;
    const int f = s->dependent;
    return set_refuse(s, f,
                      snw_fail(err, SNW_E_PARSE,
                               "function %d of %s, %.80s, depends on the others: the smallest "
                               "eigenvalue of the Gram matrix is %.1e of a unit diagonal, at least "
                               "%g is needed; leave it out",
                               f + 1, strain, s->function[f].text, s->smallest,
                               SNW_FUNCTION_SET_DEPENDENT),
                      err);
}

// Samples, degree, sizes and conditioning of a basis whose breaks are set.
static snw_status set_analyse(const char *strain, const snw_basis *b, bool alone, double *size,
                              snw_function_set *s, snw_error *err) {
    set_samples samples;
    if (!samples_take(b, &samples)) return snw_fail_memory(err);
    snw_status status = set_check_finite(strain, b, &samples, alone, err);
    if (status == SNW_OK) {
        for (int f = 0; f < s->n; f++)
            size[f] = column_norm(samples.m, samples.A + (size_t)f * (size_t)samples.m);
        set_degree(b, &samples, s);
        s->continuous = set_is_continuous(b);
        if (alone && !set_conditioning(&samples, s)) status = snw_fail_memory(err);
    }
    samples_free(&samples);
    return status == SNW_OK && alone ? set_check_independent(strain, s, err) : status;
}

static bool has_splines(const snw_function_set *s) {
    for (int f = 0; f < s->n; f++) {
        if (s->function[f].spline) return true;
    }
    return false;
}

snw_status snw_function_set_create(snw_pool *pool, const char *strain, int n,
                                   const snw_shape_function *function, double L, bool alone,
                                   snw_basis *out, snw_error *err) {
    SNW_ASSERT(n >= 1 && n <= SNW_FUNCTION_SET_MOST && L > 0);
    snw_function_set *s = snw_pool_take(pool, sizeof *s);
    double *size = snw_pool_array(pool, (size_t)n, sizeof *size);
    if (!s || !size) return snw_fail_memory(err);
    *s = (snw_function_set){.n = n, .function = function, .L = L, .size = size};
    *out = (snw_basis){.kind = SNW_BASIS_FUNCTIONS, .nfun = n, .nelem = 1, .set = s};
    SNW_TRY(set_breaks(pool, s, false, out, err));
    SNW_TRY(set_analyse(strain, out, alone, size, s, err));
    if (!has_splines(s) || s->resolved <= ROUGH) return SNW_OK;
    SNW_TRY(set_breaks(pool, s, true, out, err));
    return set_analyse(strain, out, alone, size, s, err);
}

// Values of all sets at their points, one below the other, each over its largest root mean square.
static snw_status join_samples(int nset, snw_basis *const *basis, set_samples *all) {
    const int n = basis[0]->nfun;
    set_samples part[6];
    int taken = 0;
    *all = (set_samples){0};
    while (taken < nset && samples_take(basis[taken], &part[taken])) all->m += part[taken++].m;
    if (taken == nset) all->x = snw_alloc((size_t)all->m * (size_t)n * sizeof *all->x);
    all->A = all->x;
    int row = 0;
    for (int k = 0; all->x && k < nset; row += part[k++].m) {
        const size_t rows = (size_t)part[k].m, to = (size_t)all->m;
        double largest = 0;
        for (int f = 0; f < n; f++) largest = fmax(largest, basis[k]->set->size[f]);
        for (size_t f = 0; f < (size_t)n; f++) {
            for (size_t i = 0; i < rows; i++)
                all->A[f * to + (size_t)row + i] =
                    largest > 0 ? part[k].A[f * rows + i] / largest : 0;
        }
    }
    for (int k = 0; k < taken; k++) samples_free(&part[k]);
    return all->x ? SNW_OK : SNW_E_MEMORY;
}

snw_status snw_function_set_join(snw_pool *pool, int nset, const char *const *strain,
                                 snw_basis *const *basis, snw_error *err) {
    SNW_ASSERT(nset >= 1 && nset <= 6);
    snw_function_set joined = *basis[0]->set;
    for (int f = 0; f < joined.n; f++) {
        bool is_zero = true;
        for (int k = 0; k < nset; k++) is_zero &= basis[k]->set->size[f] == 0;
        if (!is_zero) continue;
        return set_refuse(&joined, f,
                          snw_fail(err, SNW_E_PARSE,
                                   "function %d of %s, %.80s, is zero on the whole rod, and those "
                                   "of the strains that move together with it are; leave it out",
                                   f + 1, strain[0], joined.function[f].text),
                          err);
    }
    set_samples all;
    snw_status status = join_samples(nset, basis, &all);
    if (status == SNW_OK && !set_conditioning(&all, &joined)) status = SNW_E_MEMORY;
    samples_free(&all);
    if (status != SNW_OK) return snw_fail_memory(err);
    SNW_TRY(set_check_independent(strain[0], &joined, err));
    for (int k = 0; k < nset; k++) {
        snw_function_set *s = snw_pool_take(pool, sizeof *s);
        if (!s) return snw_fail_memory(err);
        *s = *basis[k]->set;
        s->smallest = joined.smallest, s->condition = joined.condition;
        s->dependent = joined.dependent;
        basis[k]->set = s;
    }
    return SNW_OK;
}

bool snw_function_set_same(const snw_basis *a, const snw_basis *b) {
    double phi[SNW_BASIS_MAX_FUNCTIONS], psi[SNW_BASIS_MAX_FUNCTIONS];
    if (a->nfun != b->nfun || a->nelem != b->nelem) return false;
    for (int k = 0; k < POINTS_WHOLE * a->nelem; k++) {
        const int e = k / POINTS_WHOLE;
        const double from = snw_basis_break(a, e), to = snw_basis_break(a, e + 1);
        if (!(fabs(from - snw_basis_break(b, e)) <= SAME_BREAK)) return false;
        const double x = from + (to - from) * (k % POINTS_WHOLE + 0.5) / POINTS_WHOLE;
        snw_basis_eval(a, e, x, phi);
        snw_basis_eval(b, e, x, psi);
        for (int f = 0; f < a->nfun; f++) {
            if (!(fabs(phi[f] - psi[f]) <= 1e-9 * a->set->size[f])) return false;
        }
    }
    return true;
}

// ---- richer sets -------------------------------------------------------------------------------

// Orthonormal columns with their coefficients in the candidates.
typedef struct set_columns {
    int m, n, ncandidate;
    double *Q; // m x n
    double *c; // ncandidate x n
} set_columns;

// Adds column a (m, unit length, overwritten), candidate j over `length`, when more than `least` of
// it is orthogonal to the columns there are.
static bool columns_add(set_columns *s, double *a, int j, double length, double least) {
    const size_t m = (size_t)s->m, nc = (size_t)s->ncandidate;
    double *c = s->c + (size_t)s->n * nc;
    for (size_t k = 0; k < nc; k++) c[k] = k == (size_t)j ? 1 / length : 0;
    for (int pass = 0; pass < 2; pass++) { // twice, against rounding
        for (int i = 0; i < s->n; i++) {
            const double *q = s->Q + (size_t)i * m, *ci = s->c + (size_t)i * nc;
            const double part = snw_vector_dot(s->m, q, a);
            for (size_t k = 0; k < m; k++) a[k] -= part * q[k];
            for (size_t k = 0; k < nc; k++) c[k] -= part * ci[k];
        }
    }
    const double norm = column_norm(s->m, a);
    if (!(norm > least)) return false;
    for (size_t k = 0; k < m; k++) s->Q[(size_t)s->n * m + k] = a[k] / norm;
    for (size_t k = 0; k < nc; k++) c[k] /= norm;
    s->n++;
    return true;
}

snw_status snw_function_set_enrich(snw_pool *pool, const snw_basis *b, int more, snw_basis *out) {
    const snw_function_set *s = b->set;
    const int n = s->n, nl = more + 2 * n + 4, nc = n + nl;
    const double least = 0.05; // part of a polynomial that must be new
    // values of the functions, and of Legendre polynomials at the same points
    double *identity = snw_pool_array(pool, (size_t)nl * (size_t)nc, sizeof *identity);
    snw_function_set *all = snw_pool_take(pool, sizeof *all);
    double *size = snw_pool_array(pool, (size_t)(n + more), sizeof *size);
    double *added = snw_pool_array(pool, (size_t)more * (size_t)nc, sizeof *added);
    if (!identity || !all || !size || !added) return SNW_E_MEMORY;
    for (int j = 0; j < nl; j++) identity[(size_t)j * (size_t)nc + (size_t)(n + j)] = 1;
    *all = *s;
    all->nadded = all->nlegendre = nl;
    all->added = identity;
    const snw_basis candidates = {.kind = SNW_BASIS_FUNCTIONS,
                                  .nfun = nc,
                                  .nelem = b->nelem,
                                  .breaks = b->breaks,
                                  .set = all};
    set_samples samples;
    if (!samples_take(&candidates, &samples)) return SNW_E_MEMORY;
    set_columns c = {.m = samples.m, .ncandidate = nc};
    const size_t room = (size_t)(n + more + 1);
    c.Q = snw_alloc(room * (size_t)(samples.m + nc) * sizeof *c.Q);
    if (c.Q) {
        c.c = c.Q + room * (size_t)samples.m;
        int last = 0; // Legendre polynomials in use
        for (int j = 0; j < nc && c.n < n + more; j++) {
            double *a = samples.A + (size_t)j * (size_t)samples.m;
            const double length = column_norm(samples.m, a);
            for (int k = 0; k < samples.m; k++) a[k] /= length;
            if (columns_add(&c, a, j, length, j < n ? 0 : least) && j >= n) last = j - n + 1;
        }
        all->nadded = c.n - n;
        all->nlegendre = last;
        for (int k = 0; k < all->nadded; k++)
            memcpy(added + (size_t)k * (size_t)(n + last), c.c + (size_t)(n + k) * (size_t)nc,
                   (size_t)(n + last) * sizeof *added);
        all->added = added;
        for (int f = 0; f < n + more; f++) size[f] = f < n ? s->size[f] : 1;
        all->size = size;
        if (last - 1 > all->degree) all->degree = last - 1;
        *out = *b;
        out->nfun = n + all->nadded;
        out->set = all;
    }
    samples_free(&samples);
    const bool done = c.Q != NULL;
    snw_free(c.Q);
    return done ? SNW_OK : SNW_E_MEMORY;
}
