// SPDX-License-Identifier: MIT
//
// Small vibrations x about an equilibrium or a steady motion obey
//
//     M x" + D x' + K x + C' lambda = 0,  C x = 0
//
// with the exact tangents K, D of the residual (including the multipliers) and the mass matrix M.
// Reduction to standard form in three steps:
//
//     constraints   x = N y, N an orthonormal basis of the null space of C, coordinates scaled by
//                   their own mass
//     mass          N'MN = U mu U'; directions with mu = 0 follow statically (static condensation),
//                   K00 y0 + K01 y1 = 0; those without stiffness are idle and left out
//     eigenvalues   A z = omega^2 z, symmetric if loads are conservative
//
// Damping follows to first order from the eigenvectors (theory.md 7). About a steady motion D has
// gyroscopic terms, which are not small: there the roots are those of z" + D z' + A z = 0 itself
// (theory.md 7.1). States of laws and strains of Maxwell branches are variables of first order;
// with them the roots are those of all equations together (theory.md 7.1, 7.5a).
#include "study/modes.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/relaxation.h"
#include "math/vector.h"
#include "solve/dense.h"
#include "study/closed_contacts.h"
#include "study/directions.h"
#include "study/linear_memory.h"
#include "study/statics.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 26 };

static const double no_stiffness = 1e-11, // of a motion, relative to the typical one
    cancelled = 1e-10,                    // x'K x relative to the sum of its terms in a null motion
    uncancelled = 0.1,                    // the same in a motion that is not null
    split = 1e-7,                         // relative distance of double roots by rounding
    skew = 1e-11,      // relative skew part of a stiffness that counts as symmetric
    shown_move = 0.05, // displacement of a shown shape, relative to the robot's size
    shown_turn = 0.5;  // rotation of a shown shape, rad

// An eigenvalue while sorting.
typedef struct root {
    snw_mode mode;
    int column; // column of x
    bool grows; // the growing one of two with the same frequency
    bool last;  // decays without vibrating, beside variables of first order
} root;

struct snw_modes {
    const snw_model *m;
    int count;
    bool steady;
    bool whole; // the roots are those of the equations themselves: steady, or with variables of
                // first order
    snw_pool *pool;
    snw_mode_table table;
    snw_mode *mode;          // nv
    const char **idle;       // nv
    int *group;              // nv: group of a coordinate: a rod's strain component, or itself
    const char **group_name; // nv
    const char **spin_name;  // nlink
    root *root;              // 2 nv
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_arena scratch;
    snw_closed_contacts *closed; // NULL: no hard contacts
    snw_directions *d;
    double *A, *B; // n x n
    double *U, *W; // n x n: right and left eigenvectors; 2 n x 2 n about a steady motion
    double *S, *I; // square, of all roots, for the equations themselves; otherwise NULL
    double *x,
        *y; // nv x n: right and left modes in coordinates; nv x roots of the equations themselves
    double *re, *im, *buffer; // roots
    snw_linear_memory memory; // variables of first order
    double *rows;             // 2 nlive x nv: rows of the signals by x and x'
    double *Fr, *Rr, *X0; // n x ny, ny x 2 n, nv x ny: their forces and rates in the directions,
                          // and massless directions that follow them
};

// ---- memory and names

// Groups: strain components of rods, single coordinates of joints.
static bool name_groups(snw_modes *mo) {
    static const char *const twist[6] = {"wx", "wy", "wz", "vx", "vy", "vz"};
    const snw_model *m = mo->m;
    int n = 0;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (m->seg[b->seg].kind == SNW_SEG_ROD) continue;
        const int l = m->seg[b->seg].link;
        int nc = 0;
        const snw_joint_coordinate *c = snw_joint_coordinates(m->link_joint[l], &nc);
        for (int i = 0; i < b->n; i++) {
            const char *name = b->feed                    ? "feed"
                               : b->space == SNW_SPACE_RN ? c[k - m->link_block[l] + i].name
                                                          : twist[i];
            mo->group[b->dof + i] = n;
            mo->group_name[n++] = snw_pool_format(mo->pool, "%s.%s", m->label.link[l].name, name);
        }
    }
    for (int k = 0; k < m->nrod; k++) {
        const snw_rod *rod = &m->rod[k];
        for (int a = 0; a < rod->na; a++) {
            if (snw_rod_owner(rod, a) != a) continue;
            for (int i = 0; i < rod->nfun[a]; i++) mo->group[rod->dof[a] + i] = n;
            mo->group_name[n++] = snw_pool_format(mo->pool, "%s.%s", m->label.link[rod->link].name,
                                                  snw_rod_strain_name(rod, a));
        }
    }
    for (int l = 0; l < m->nlink; l++) {
        mo->spin_name[l] =
            snw_pool_format(mo->pool, "%s spins about its axis", m->label.link[l].name);
        if (!mo->spin_name[l]) return false;
    }
    for (int i = 0; i < n; i++) {
        if (!mo->group_name[i]) return false;
    }
    return true;
}

// The most roots.
static int modes_room(const snw_modes *mo) {
    const snw_model *m = mo->m;
    return mo->whole ? 2 * m->nv + snw_linear_memory_room(m) : m->nv;
}

static size_t modes_scratch_size(const snw_modes *mo) {
    const snw_model *m = mo->m;
    const size_t parts[] = {snw_project_scratch(m->nv, m->nv), snw_eigen_symmetric_scratch(m->nv),
                            snw_eigen_general_scratch(modes_room(mo))};
    size_t most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        most = parts[i] > most ? parts[i] : most;
    return most + (size_t)modes_room(mo) * sizeof(int) + 2 * (size_t)m->nv * sizeof(int) + 128;
}

// Memory for variables of first order.
static snw_status memory_prepare(snw_modes *mo) {
    const snw_model *m = mo->m;
    const size_t nv = (size_t)m->nv, n = (size_t)snw_linear_memory_room(m);
    if (!snw_linear_memory_acts(m)) return SNW_OK;
    double **const part[] = {&mo->memory.F, &mo->memory.R, &mo->memory.Q, &mo->rows,
                             &mo->Fr,       &mo->Rr,       &mo->X0};
    const size_t size[] = {nv * n, 2 * nv * n, n * n,     2 * (size_t)m->nlive * nv,
                           nv * n, 2 * nv * n, 2 * nv * n};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        *part[i] = snw_pool_array(mo->pool, size[i] + 1, sizeof **part[i]);
        if (!*part[i]) return SNW_E_MEMORY;
    }
    mo->memory.of = snw_pool_array(mo->pool, n + 1, sizeof *mo->memory.of);
    return mo->memory.of ? SNW_OK : SNW_E_MEMORY;
}

static snw_status modes_prepare(snw_modes *mo) {
    const snw_model *m = mo->m;
    mo->whole = mo->steady || snw_linear_memory_acts(m);
    const size_t nv = (size_t)m->nv, roots = (size_t)modes_room(mo);
    mo->pool = snw_pool_create(POOL_LIMIT);
    if (!mo->pool) return SNW_E_MEMORY;
    SNW_TRY(memory_prepare(mo));
    const size_t size = modes_scratch_size(mo);
    mo->scratch = (snw_arena){.base = snw_alloc(size), .size = size};
    double **square[] = {&mo->A, &mo->B, &mo->U, &mo->W, &mo->x, &mo->y};
    for (size_t i = 0; i < sizeof square / sizeof square[0]; i++) {
        *square[i] = snw_alloc((i < 2 ? nv * nv : roots * roots) * sizeof(double));
        if (!*square[i]) return SNW_E_MEMORY;
    }
    if (mo->whole) mo->S = snw_alloc(roots * roots * sizeof(double));
    if (mo->whole) mo->I = snw_alloc(roots * roots * sizeof(double));
    if (mo->whole && (!mo->S || !mo->I)) return SNW_E_MEMORY;
    SNW_TRY(snw_closed_contacts_create(m, &mo->closed));
    double **line[] = {&mo->re, &mo->im, &mo->buffer};
    for (size_t i = 0; i < sizeof line / sizeof line[0]; i++) {
        *line[i] = snw_pool_array(mo->pool, roots + 1, sizeof(double));
        if (!*line[i]) return SNW_E_MEMORY;
    }
    mo->mode = snw_pool_array(mo->pool, roots + 1, sizeof *mo->mode);
    mo->idle = snw_pool_array(mo->pool, nv + 1, sizeof *mo->idle);
    mo->root = snw_pool_array(mo->pool, 2 * nv + roots + 1, sizeof *mo->root);
    mo->group = snw_pool_array(mo->pool, nv + 1, sizeof *mo->group);
    mo->group_name = snw_pool_array(mo->pool, nv + 1, sizeof *mo->group_name);
    mo->spin_name = snw_pool_array(mo->pool, (size_t)m->nlink + 1, sizeof *mo->spin_name);
    if (!mo->scratch.base || !mo->mode || !mo->idle || !mo->root || !mo->group || !mo->group_name ||
        !mo->spin_name || !name_groups(mo)) {
        return SNW_E_MEMORY;
    }
    SNW_TRY(snw_directions_create(m, mo->closed ? 3 * mo->closed->most : 0, &mo->d));
    SNW_TRY(snw_state_create(m, &mo->s));
    SNW_TRY(snw_inputs_create(m, &mo->in));
    return snw_work_create(m, &mo->w);
}

snw_status snw_modes_create(const snw_model *m, int count, bool steady, snw_modes **out) {
    *out = NULL;
    snw_modes *mo = snw_alloc(sizeof *mo);
    if (!mo) return SNW_E_MEMORY;
    mo->m = m;
    mo->count = count;
    mo->steady = steady;
    const snw_status s = modes_prepare(mo);
    if (s != SNW_OK) {
        snw_modes_destroy(mo);
        return s;
    }
    mo->table.mode = mo->mode;
    mo->table.idle = mo->idle;
    *out = mo;
    return SNW_OK;
}

void snw_modes_set_manual(snw_modes *mo, const snw_manual_inputs *manual) {
    mo->in->manual = manual;
}

void snw_modes_use(snw_modes *mo, const snw_model *m) {
    mo->m = mo->d->m = m;
    if (mo->closed) mo->closed->m = m;
}

void snw_modes_destroy(snw_modes *mo) {
    if (!mo) return;
    double *const block[] = {mo->A, mo->B, mo->U, mo->W, mo->x, mo->y, mo->S, mo->I};
    for (size_t i = 0; i < sizeof block / sizeof block[0]; i++) snw_free(block[i]);
    snw_directions_destroy(mo->d);
    snw_closed_contacts_destroy(mo->closed);
    snw_free(mo->scratch.base);
    snw_state_destroy(mo->s);
    snw_inputs_destroy(mo->in);
    snw_work_destroy(mo->w);
    snw_pool_destroy(mo->pool);
    snw_free(mo);
}

const snw_mode_table *snw_modes_table(const snw_modes *mo) { return &mo->table; }

const double *snw_modes_vector(const snw_modes *mo, int i) {
    return mo->x + (size_t)mo->m->nv * (size_t)mo->root[i].column;
}

void snw_modes_set_truncation(snw_modes *mo, int i, double error, snw_truncation_gap gap) {
    mo->mode[i].truncation = error;
    mo->mode[i].gap = gap;
}

// ---- helpers

// x'A y.
static double modes_form(int n, const double *A, const double *x, const double *y) {
    double sum = 0;
    for (int j = 0; j < n; j++) {
        if (y[j] != 0) sum += y[j] * snw_vector_dot(n, A + (size_t)n * (size_t)j, x);
    }
    return sum;
}

static bool symmetrise(int n, double *A) {
    double largest = 0, difference = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) {
            const double a = snw_column_of(A, n, j)[i], b = snw_column_of(A, n, i)[j];
            difference = fmax(difference, fabs(a - b));
            largest = fmax(largest, fabs(a) + fabs(b));
        }
    }
    if (!(difference <= skew * largest)) return false;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++) {
            const double mean = 0.5 * (snw_column_of(A, n, j)[i] + snw_column_of(A, n, i)[j]);
            snw_column_of(A, n, j)[i] = snw_column_of(A, n, i)[j] = mean;
        }
    }
    return true;
}

static snw_status modes_not_finite(const snw_modes *mo, snw_error *err) {
    return snw_fail(err, SNW_E_DIVERGED,
                    "modes at t = %g s: mass or stiffness is not a number; check the loads and the "
                    "configuration there",
                    mo->s->t);
}

// ---- reduction to standard form

// ---- linearisation

// M, K, D and constraint rows at s, at rest with resting bases; or, if steady, with velocities and
// zero accelerations.
static snw_status linearise(snw_modes *mo, const snw_state *s, snw_error *err) {
    const snw_model *m = mo->m;
    snw_state_copy(m, s, mo->s);
    snw_relaxation_fix(m, mo->s);
    snw_inputs_at(m, s->t, mo->in);
    if (mo->steady) snw_constraints_impose(m, mo->in, mo->s);
    for (int i = 0; i < m->nv; i++) {
        mo->s->a[i] = 0;
        if (!mo->steady) mo->s->v[i] = 0;
    }
    for (int i = 0; i < m->npose; i++) {
        mo->in->pose_du[i] = (snw_twist){0};
        if (!mo->steady) mo->in->pose_u[i] = (snw_twist){0};
    }
    for (int i = 0; i < m->nfluid; i++) mo->in->current_rate[i] = (snw_vec3){{0}};
    snw_mass_matrix(m, mo->in, mo->s, mo->w, mo->d->M);
    if (mo->closed)
        SNW_TRY(snw_closed_contacts_balance(mo->closed, mo->in, mo->s, "modes", mo->w, err));
    snw_residual(m, mo->in, mo->s, false, mo->w);
    mo->table.residual = snw_out_of_balance(m, mo->w);
    snw_tangent_pass(m, NULL, mo->w);
    const size_t live = mo->rows ? (size_t)m->nlive * (size_t)m->nv : 0;
    snw_tangent_assemble(m, mo->in, 1, 0, 0, mo->w, mo->d->K);
    if (live) memcpy(mo->rows, mo->w->signal_jacobian, live * sizeof *mo->rows);
    snw_tangent_assemble(m, mo->in, 0, 1, 0, mo->w, mo->d->D);
    if (live) memcpy(mo->rows + live, mo->w->signal_jacobian, live * sizeof *mo->rows);
    if (mo->rows) snw_linear_memory_find(m, mo->in, mo->w, mo->rows, false, &mo->memory);
    if (mo->closed) {
        snw_closed_contacts_hold(mo->closed, mo->d);
        mo->table.ngrazing = mo->closed->ngrazing;
        mo->table.grazing = mo->closed->grazing;
    }
    return SNW_OK;
}

// ---- names and shapes

// Largest displacement and rotation of a node per unit of x, and the link that rotates most.
typedef struct displacement {
    double move, turn;
    int link;
} displacement;

static displacement modes_displacement_of(const snw_modes *mo, const double *x) {
    const snw_model *m = mo->m;
    displacement out = {.link = -1};
    for (int i = 1; i < m->nseg; i++) {
        if (m->seg_store[i] < 0) continue;
        const snw_path *p = &m->path[m->seg[i].path];
        const double *J = mo->w->J + m->seg_store[i];
        snw_twist d = {0};
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < p->n; j++) d.e[k] += J[k * p->ld + j] * x[p->dof[j]];
        }
        const double turn = snw_norm(d.w);
        out.move = fmax(out.move, snw_norm(d.v));
        if (turn > out.turn) out.turn = turn, out.link = m->seg[i].link;
    }
    return out;
}

// Diagonal of the bounding box of all nodes.
static double modes_size_of(const snw_modes *mo) {
    snw_vec3 low = {{INFINITY, INFINITY, INFINITY}}, high = snw_scale(-1, low);
    for (int i = 1; i < mo->m->nseg; i++) {
        for (int k = 0; k < 3; k++) {
            low.e[k] = fmin(low.e[k], mo->w->g[i].p.e[k]);
            high.e[k] = fmax(high.e[k], mo->w->g[i].p.e[k]);
        }
    }
    const double size = snw_norm(snw_sub(high, low));
    return size > 0 && isfinite(size) ? size : mo->m->length;
}

static bool is_spin(const snw_modes *mo, displacement r) {
    return r.link >= 0 && r.move <= 1e-6 * mo->m->length * r.turn;
}

static const char *modes_name_of(const snw_modes *mo, const double *x, bool free_motion) {
    const snw_model *m = mo->m;
    const displacement r = modes_displacement_of(mo, x);
    if (free_motion && is_spin(mo, r)) return mo->spin_name[r.link];
    double *fraction = mo->buffer;
    for (int i = 0; i < m->nv; i++) fraction[i] = 0;
    int most = 0;
    for (int i = 0; i < m->nv; i++) {
        const double amplitude = x[i] / m->typical[i];
        fraction[mo->group[i]] += amplitude * amplitude;
    }
    for (int i = 1; i < m->nv; i++) most = fraction[i] > fraction[most] ? i : most;
    return mo->group_name[most];
}

void snw_modes_shape(const snw_modes *mo, int i, double *q) {
    const snw_model *m = mo->m;
    const double *x = snw_modes_vector(mo, i);
    const displacement r = modes_displacement_of(mo, x);
    const double step = fmin(shown_move * modes_size_of(mo) / r.move, shown_turn / r.turn);
    snw_move(m, mo->s->q, isfinite(step) ? step : 0, x, q);
}

// Makes the largest coordinate positive, so that signs do not depend on the eigenvalue library.
static void orient(const snw_model *m, double *x) {
    int most = 0;
    for (int i = 1; i < m->nv; i++) {
        // of equal ones the first
        if (fabs(x[i] / m->typical[i]) > (1 + 1e-6) * fabs(x[most] / m->typical[most])) most = i;
    }
    const double sign = x[most] < 0 ? -1 : 1;
    for (int i = 0; i < m->nv; i++) x[i] *= sign;
}

// ---- eigenvalues

// x'K x of typical stiffness.
static double typical_form(const snw_model *m, const double *x) {
    double sum = 0;
    for (int j = 0; j < m->nv; j++) sum += x[j] * x[j] * m->scale[j] / m->typical[j];
    return sum;
}

// Does x'K x vanish up to rounding? `largest`: largest omega^2.
static bool is_null_motion(const snw_modes *mo, int n, double square, double largest,
                           const double *x) {
    const int nv = mo->m->nv;
    if (fabs(square) <= 8 * n * DBL_EPSILON * largest) return true;
    if (fabs(square) <= DBL_EPSILON * typical_form(mo->m, x)) return true;
    if (fabs(square) > 1e-4 * largest) return false;
    double terms = 0;
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < nv; i++) terms += fabs(x[i] * snw_column_of(mo->d->K, nv, j)[i] * x[j]);
    }
    return fabs(square) <= cancelled * terms;
}

// Does a motion that counts as null have stiffness, x'K x that its terms do not cancel and that is
// no rounding error of typical stiffness? Then it is slow beyond the rounding of the fastest mode.
static bool is_hidden(const snw_modes *mo, const double *x) {
    const snw_model *m = mo->m;
    const int nv = m->nv;
    double terms = 0, sum = 0;
    const double typical = typical_form(m, x);
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < nv; i++) {
            const double term = x[i] * snw_column_of(mo->d->K, nv, j)[i] * x[j];
            terms += fabs(term), sum += term;
        }
    }
    return sum > fmax(uncancelled * terms, no_stiffness * typical);
}

// Eigenvalue omega^2 = square, damping to first order: omega zeta = y'D x / 2 with y'M x = 1.
static root real_root(const snw_modes *mo, int col, double square, double decay, bool null) {
    const double omega = sqrt(fabs(square)), pi = acos(-1.0);
    root r = {.column = col};
    r.mode.null = null;
    r.mode.damping = NAN;
    if (!null) r.mode.frequency = (square < 0 ? -omega : omega) / (2 * pi);
    if (!null && square > 0) r.mode.damping = decay / (2 * omega);
    r.mode.moves = modes_name_of(mo, snw_column_of(mo->x, mo->m->nv, col), null);
    return r;
}

// Pair omega^2 = re +- i im: two motions of one frequency, one of which grows.
static int complex_roots(const snw_modes *mo, int col, double re, double im, double decay,
                         root *out) {
    const double size = hypot(re, im), omega = sqrt(size), pi = acos(-1.0);
    // s^2 = -omega^2: the real part of s is +- growth
    const double growth = sqrt(0.5 * fmax(size - re, 0));
    for (int k = 0; k < 2; k++) {
        out[k] = (root){.column = col + k, .grows = k == 0};
        out[k].mode.frequency = omega / (2 * pi);
        out[k].mode.damping = ((k == 0 ? -growth : growth) + 0.5 * decay) / omega;
        out[k].mode.moves = modes_name_of(mo, snw_column_of(mo->x, mo->m->nv, col + k), false);
    }
    return 2;
}

// Real part of (y* D x) / (y* M x); columns col and col + 1 are the real and imaginary parts.
static double decay_of_pair(const snw_modes *mo, int col) {
    const int nv = mo->m->nv;
    const double *xr = snw_column_of(mo->x, nv, col), *xi = snw_column_of(mo->x, nv, col + 1);
    const double *yr = snw_column_of(mo->y, nv, col), *yi = snw_column_of(mo->y, nv, col + 1);
    const double dr = modes_form(nv, mo->d->D, yr, xr) + modes_form(nv, mo->d->D, yi, xi);
    const double di = modes_form(nv, mo->d->D, yr, xi) - modes_form(nv, mo->d->D, yi, xr);
    const double mr = modes_form(nv, mo->d->M, yr, xr) + modes_form(nv, mo->d->M, yi, xi);
    const double mi = modes_form(nv, mo->d->M, yr, xi) - modes_form(nv, mo->d->M, yi, xr);
    return (dr * mr + di * mi) / (mr * mr + mi * mi);
}

// x <- modes, y <- left modes (the same if the stiffness is symmetric); re, im <- omega^2.
static snw_status solve_standard(snw_modes *mo, int n0, int n1) {
    const int nv = mo->m->nv;
    const double *with_mass = snw_column_of(mo->d->P, nv, n0);
    snw_identity(n1, mo->B);
    mo->table.conservative = symmetrise(n1, mo->A);
    if (mo->table.conservative) {
        SNW_TRY(snw_eigen_symmetric(n1, mo->A, mo->B, true, &mo->scratch, mo->re));
        for (int i = 0; i < n1; i++) mo->im[i] = 0;
        snw_combine_columns(nv, n1, with_mass, n1, mo->A, mo->x);
        snw_combine_columns(nv, n1, with_mass, n1, mo->A, mo->y);
        return SNW_OK;
    }
    SNW_TRY(
        snw_eigen_general_vectors(n1, mo->A, mo->B, &mo->scratch, mo->re, mo->im, mo->W, mo->U));
    snw_combine_columns(nv, n1, with_mass, n1, mo->U, mo->x);
    snw_combine_columns(nv, n1, with_mass, n1, mo->W, mo->y);
    return SNW_OK;
}

// Fr <- forces of the variables of first order in the directions with mass, Rr (ny x 2 n1) <- their
// rates by these directions, Q <- by each other, with the massless directions X0 that follow.
static snw_status reduce_memory(snw_modes *mo, int n0, int n1) {
    const int nv = mo->m->nv, ny = mo->memory.n;
    double *with_mass = snw_column_of(mo->d->P, nv, n0);
    SNW_TRY(snw_directions_follow(mo->d, ny, mo->memory.F, mo->X0));
    double *f = mo->X0 + (size_t)nv * (size_t)ny;
    for (int j = 0; j < ny; j++) {
        const double *x0 = snw_column_of(mo->X0, nv, j);
        memcpy(f, snw_column_of(mo->memory.F, nv, j), (size_t)nv * sizeof *f);
        for (int k = 0; k < nv; k++) {
            const double *K = snw_column_of(mo->d->K, nv, k);
            for (int i = 0; i < nv && x0[k] != 0; i++) f[i] -= K[i] * x0[k];
        }
        const double *R = mo->memory.R + 2 * (size_t)nv * (size_t)j;
        for (int i = 0; i < n1; i++) {
            const double *moved = snw_column_of(with_mass, nv, i);
            snw_column_of(mo->Fr, n1, j)[i] = snw_vector_dot(nv, moved, f);
            mo->Rr[(size_t)i * (size_t)ny + (size_t)j] = snw_vector_dot(nv, R, moved);
            mo->Rr[(size_t)(n1 + i) * (size_t)ny + (size_t)j] = snw_vector_dot(nv, R + nv, moved);
        }
        for (int k = 0; k < ny; k++)
            mo->memory.Q[(size_t)k * (size_t)ny + (size_t)j] +=
                snw_vector_dot(nv, R, snw_column_of(mo->X0, nv, k));
    }
    return SNW_OK;
}

// Rows and columns of the variables of first order in S, n x n, behind 2 n1 others; each variable
// in a unit in which its force and its rate are of one size.
static void place_memory(snw_modes *mo, int n, int n1, double w) {
    const int ny = mo->memory.n;
    double *unit = mo->buffer;
    for (int j = 0; j < ny; j++) {
        double force = 0, rate = 0;
        for (int i = 0; i < n1; i++) {
            const double *R = mo->Rr + (size_t)i * (size_t)ny + (size_t)j;
            force = fmax(force, fabs(snw_column_of(mo->Fr, n1, j)[i]) / w);
            rate = fmax(rate, fmax(fabs(*R), w * fabs(R[(size_t)n1 * (size_t)ny])));
        }
        unit[j] = force > 0 && rate > 0 ? sqrt(rate / force) : force > 0 ? w / force : 1;
    }
    for (int j = 0; j < ny; j++) {
        double *column = snw_column_of(mo->S, n, 2 * n1 + j);
        for (int i = 0; i < n1; i++) {
            const double *R = mo->Rr + (size_t)i * (size_t)ny + (size_t)j;
            column[i] = 0;
            column[n1 + i] = snw_column_of(mo->Fr, n1, j)[i] * unit[j] / w;
            snw_column_of(mo->S, n, i)[2 * n1 + j] = *R / unit[j];
            snw_column_of(mo->S, n, n1 + i)[2 * n1 + j] = R[(size_t)n1 * (size_t)ny] * w / unit[j];
        }
        for (int i = 0; i < ny; i++)
            column[2 * n1 + i] =
                mo->memory.Q[(size_t)j * (size_t)ny + (size_t)i] * unit[j] / unit[i];
    }
}

// The equations themselves: re, im <- the roots s of (s^2 + s D + A) z = F y, s y = R z + .., from
// the matrix [0 w; -A/w -D] with w of the size of the fastest, bordered by the variables y of first
// order, theory.md (7.3), (7.5a); x <- modes.
static snw_status solve_whole(snw_modes *mo, int n0, int n1, double *fast) {
    const int nv = mo->m->nv, ny = mo->memory.n, n = 2 * n1 + ny;
    double *with_mass = snw_column_of(mo->d->P, nv, n0);
    double size = 0;
    snw_project(nv, mo->d->D, n1, with_mass, n1, with_mass, &mo->scratch, mo->B);
    for (int j = 0; j < n1; j++) {
        for (int i = 0; i < n1; i++) size = fmax(size, fabs(snw_column_of(mo->A, n1, j)[i]));
    }
    const double w = size > 0 ? sqrt(size) : 1;
    snw_identity(n, mo->I);
    for (int j = 0; j < n1; j++) {
        double *left = snw_column_of(mo->S, n, j), *right = snw_column_of(mo->S, n, n1 + j);
        for (int i = 0; i < n1; i++) {
            left[i] = 0, right[i] = i == j ? w : 0;
            left[n1 + i] = -snw_column_of(mo->A, n1, j)[i] / w;
            right[n1 + i] = -snw_column_of(mo->B, n1, j)[i];
        }
    }
    if (ny > 0) {
        SNW_TRY(reduce_memory(mo, n0, n1));
        place_memory(mo, n, n1, w);
    }
    SNW_TRY(snw_eigen_general_vectors(n, mo->S, mo->I, &mo->scratch, mo->re, mo->im, mo->W, mo->U));
    // first half of each vector; of a pair, whose columns have its real and its imaginary part, the
    // larger one first
    for (int j = 0; j < n; j++) {
        const double *z = snw_column_of(mo->U, n, j);
        const bool pair = mo->im[j] > 0;
        const double *next = pair ? snw_column_of(mo->U, n, j + 1) : NULL;
        const bool exchange = pair && snw_vector_dot(n1, next, next) > snw_vector_dot(n1, z, z);
        snw_combine_columns(nv, n1, with_mass, 1, exchange ? next : z, snw_column_of(mo->x, nv, j));
        if (!pair) continue;
        snw_combine_columns(nv, n1, with_mass, 1, exchange ? z : next,
                            snw_column_of(mo->x, nv, j + 1));
        // a double real root that rounding has made a pair
        if (mo->im[j] <= split * fabs(mo->re[j])) mo->im[j] = mo->im[j + 1] = 0;
        j++;
    }
    *fast = w;
    return SNW_OK;
}

// Scales x to unit modal mass.
static void modes_normalise(const snw_modes *mo, double *x) {
    const double size = sqrt(modes_form(mo->m->nv, mo->d->M, x, x));
    for (int i = 0; i < mo->m->nv && size > 0; i++) x[i] /= size;
}

// A root s = re + i im, im >= 0, of the equations themselves.
static root whole_root(const snw_modes *mo, int col, double re, double im, double fast) {
    const double size = hypot(re, im), pi = acos(-1.0);
    root r = {.column = col, .grows = re > 0, .last = mo->memory.n > 0 && im == 0 && re <= 0};
    r.mode.frequency = (im == 0 && re > 0 ? -size : size) / (2 * pi);
    const bool none = fabs(re) <= fmax(1e-12 * fast, split * size); // of multiple roots by rounding
    r.mode.damping = im == 0 && re > 0 ? NAN : none ? 0 : -re / size;
    r.mode.moves = modes_name_of(mo, snw_column_of(mo->x, mo->m->nv, col), false);
    return r;
}

// Null motions may be combined arbitrarily; elimination gives each a coordinate that the others
// lack.
static void modes_separate(snw_modes *mo, int n, const int *col) {
    const snw_model *m = mo->m;
    const int nv = m->nv;
    for (int k = 0; k < n; k++) {
        int row = 0, best = k;
        double largest = -1;
        for (int j = k; j < n; j++) {
            for (int i = 0; i < nv; i++) {
                const double size = fabs(snw_column_of(mo->x, nv, col[j])[i] / m->typical[i]);
                if (size > largest) largest = size, row = i, best = j;
            }
        }
        double *own = snw_column_of(mo->x, nv, col[k]), *from = snw_column_of(mo->x, nv, col[best]);
        for (int i = 0; i < nv; i++) {
            const double x = own[i];
            own[i] = from[i], from[i] = x;
        }
        for (int j = 0; j < n; j++) {
            double *other = snw_column_of(mo->x, nv, col[j]);
            const double fraction = other[row] / own[row];
            for (int i = 0; i < nv && j != k; i++) other[i] -= fraction * own[i];
            if (j != k) other[row] = 0;
        }
    }
    for (int k = 0; k < n; k++) {
        double *x = snw_column_of(mo->x, nv, col[k]);
        const double size = sqrt(modes_form(nv, mo->d->M, x, x));
        for (int i = 0; i < nv; i++) x[i] /= size;
        orient(m, x);
    }
}

static bool root_precedes(const root *a, const root *b) {
    if (a->last != b->last) return b->last;
    if (a->mode.frequency != b->mode.frequency) return a->mode.frequency < b->mode.frequency;
    return a->grows && !b->grows;
}

// Sorts the roots by rising frequency.
static void sort_roots(snw_modes *mo, int total, int nnull) {
    for (int i = 1; i < total; i++) {
        for (int j = i; j > 0 && root_precedes(&mo->root[j], &mo->root[j - 1]); j--) {
            const root r = mo->root[j];
            mo->root[j] = mo->root[j - 1], mo->root[j - 1] = r;
        }
    }
    mo->table.nnull = nnull;
    mo->table.n = total < mo->count + nnull ? total : mo->count + nnull;
    for (int i = 0; i < mo->table.n; i++) {
        mo->mode[i] = mo->root[i].mode;
        mo->mode[i].truncation = NAN;
    }
}

// Subtracts the components of x along the columns col[0 .. k); returns the modal mass left.
static double orthogonalise(const snw_modes *mo, int k, const int *col, double *x) {
    const int nv = mo->m->nv;
    for (int j = 0; j < k; j++) {
        const double *y = snw_column_of(mo->x, nv, col[j]);
        const double fraction = modes_form(nv, mo->d->M, y, x);
        for (int i = 0; i < nv; i++) x[i] -= fraction * y[i];
    }
    return modes_form(nv, mo->d->M, x, x);
}

// Is a root of the equations themselves one of a null motion? A slow root of variables of first
// order is not: it strains the robot.
static bool is_whole_null(const snw_modes *mo, int n, double square, double fast, const double *x) {
    if (!is_null_motion(mo, n, square, fast * fast, x)) return false;
    return mo->memory.n == 0 ||
           fabs(modes_form(mo->m->nv, mo->d->K, x, x)) <= cancelled * typical_form(mo->m, x);
}

// Table of the roots of the equations themselves. A null motion is a double root zero. Rounding
// separates several of them, also into pairs, whose columns have the real and the imaginary part of
// a vector: both are null motions.
static void gather_whole(snw_modes *mo, int n, double fast) {
    const int nv = mo->m->nv;
    int *null = snw_arena_ints(&mo->scratch, (size_t)n), nnull = 0, total = 0;
    for (int i = 0; i < n; i++) {
        double *x = snw_column_of(mo->x, nv, i);
        const double square = mo->re[i] * mo->re[i] + mo->im[i] * mo->im[i];
        modes_normalise(mo, x);
        if (is_whole_null(mo, n, square, fast, x)) {
            if (!(orthogonalise(mo, nnull, null, x) > 1e-4)) continue;
            modes_normalise(mo, x);
            null[nnull++] = i;
            continue;
        }
        if (mo->im[i] < 0) continue;
        orient(mo->m, x);
        mo->root[total++] = whole_root(mo, i, mo->re[i], mo->im[i], fast);
    }
    modes_separate(mo, nnull, null);
    for (int i = 0; i < nnull; i++) mo->root[total++] = real_root(mo, null[i], 0, 0, true);
    sort_roots(mo, total, nnull);
}

// Table from the n eigenvalues in re and im.
static void modes_gather(snw_modes *mo, int n) {
    const int nv = mo->m->nv;
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, hypot(mo->re[i], mo->im[i]));
    const size_t mark = snw_arena_mark(&mo->scratch);
    int *null = snw_arena_ints(&mo->scratch, (size_t)n), nnull = 0;
    for (int i = 0; i < n; i++) {
        const double *x = snw_column_of(mo->x, nv, i);
        if (mo->im[i] != 0 || !is_null_motion(mo, n, mo->re[i], largest, x)) continue;
        null[nnull++] = i;
        mo->table.nhidden += is_hidden(mo, x);
    }
    modes_separate(mo, nnull, null);
    int total = 0, passed = 0;
    for (int i = 0; i < n; i++) {
        double *x = snw_column_of(mo->x, nv, i);
        const bool is_null = passed < nnull && null[passed] == i;
        passed += is_null;
        if (mo->im[i] != 0) {
            total +=
                complex_roots(mo, i, mo->re[i], mo->im[i], decay_of_pair(mo, i), mo->root + total);
            i++; // skip its conjugate
            continue;
        }
        const double *y = snw_column_of(mo->y, nv, i);
        const double decay =
            is_null ? 0 : modes_form(nv, mo->d->D, y, x) / modes_form(nv, mo->d->M, y, x);
        if (!is_null) orient(mo->m, x);
        mo->root[total++] = real_root(mo, i, mo->re[i], decay, is_null);
    }
    snw_arena_reset(&mo->scratch, mark);
    sort_roots(mo, total, nnull);
}

snw_status snw_modes_solve(snw_modes *mo, const snw_state *s, snw_error *err) {
    if (mo->m->hard && mo->steady) {
        return snw_fail(err, SNW_E_MODEL,
                        "modes about a steady motion do not support hard contacts; give the "
                        "contacts a stiffness instead of 'hard'");
    }
    const int nv = mo->m->nv;
    mo->table.n = mo->table.nnull = mo->table.nidle = mo->table.nhidden = mo->table.ngrazing = 0;
    mo->table.conservative = true;
    mo->table.coupled = false;
    mo->memory.n = 0;
    mo->table.residual = 0;
    SNW_TRY(linearise(mo, s, err));
    if (nv == 0) return SNW_OK;
    snw_status status = snw_directions_find(mo->d, mo->w);
    if (status == SNW_E_MODEL) {
        return snw_fail(err, SNW_E_MODEL,
                        "modes at t = %g s: the robot has no mass, so nothing vibrates; give its "
                        "materials a density or its links bodies",
                        s->t);
    }
    if (status == SNW_OK) status = snw_directions_condense(mo->d, mo->A);
    const int n = mo->d->n, n0 = mo->d->n0, nidle = mo->d->nidle;
    for (int i = 0; status == SNW_OK && i < nidle; i++) {
        mo->idle[mo->table.nidle++] = modes_name_of(mo, snw_column_of(mo->d->P, nv, i), true);
    }
    double fast = 0;
    if (status == SNW_OK) {
        status = mo->whole ? solve_whole(mo, n0, n - n0, &fast) : solve_standard(mo, n0, n - n0);
    }
    if (status != SNW_OK) return modes_not_finite(mo, err);
    const size_t mark = snw_arena_mark(&mo->scratch);
    if (mo->whole) {
        mo->table.coupled = mo->memory.n > 0;
        gather_whole(mo, 2 * (n - n0) + mo->memory.n, fast);
    } else {
        modes_gather(mo, n - n0);
    }
    snw_arena_reset(&mo->scratch, mark);
    return SNW_OK;
}
