// SPDX-License-Identifier: MIT
//
// Null directions of the mass matrix at the initial configuration and at random ones nearby, from
// its eigenvalues, with a message that names the coordinates. For the check of a study before it
// runs.

#include "constraint/massless.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/fields.h"
#include "constraint/projection.h"
#include "dynamics/dynamics.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>

enum {
    CONFIGURATIONS = 3,
    MOST_COORDINATES = 400
}; // the work grows with the cube of the coordinates

// Eigenvalue, relative to the largest, of a direction without mass; each coordinate is scaled to
// unit mass.
static const double NO_MASS = 1e-13;
// Component of a direction, relative to the largest, from which on a coordinate is named.
static const double TAKES_PART = 0.1;

#define MASSLESS_FIELDS(AT, PACK)                                                                  \
    AT(double, M, nv *nv, "mass matrix, then directions without mass as columns")                  \
    PACK(double, identity, nv *nv, "identity matrix")                                              \
    PACK(double, unit, nv, "scale of each coordinate to unit mass")                                \
    PACK(double, eigenvalue, nv, "of the scaled mass matrix")                                      \
    PACK(double, dx, nv, "displacement from the initial configuration")

typedef struct massless_check {
    const snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_arena scratch;
    MASSLESS_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
} massless_check;

// M <- mass matrix with each coordinate scaled to unit mass
static void scaled_mass_matrix(massless_check *k) {
    const size_t nv = (size_t)k->m->nv;
    snw_mass_matrix(k->m, k->in, k->s, k->w, k->M);
    for (size_t i = 0; i < nv; i++) {
        const double own = k->M[i * (nv + 1)];
        k->unit[i] = own > 0 ? 1 / sqrt(own) : 1;
    }
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) k->M[j * nv + i] *= k->unit[i] * k->unit[j];
    }
}

// positive definite by a wide margin: the cheap test, which nearly all robots pass
static bool massless_definite(massless_check *k) {
    const size_t nv = (size_t)k->m->nv;
    scaled_mass_matrix(k);
    if (snw_cholesky_factor(k->m->nv, k->M) != SNW_OK) return false;
    for (size_t i = 0; i < nv; i++) {
        if (!(k->M[i * (nv + 1)] > 1e-5)) return false;
    }
    return true;
}

// M <- directions without mass as columns, in typical coordinates; *n <- their number
static snw_status directions(massless_check *k, int *n) {
    const snw_model *m = k->m;
    const size_t nv = (size_t)m->nv;
    scaled_mass_matrix(k);
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) k->identity[j * nv + i] = i == j;
    }
    SNW_TRY(snw_eigen_symmetric(m->nv, k->M, k->identity, true, &k->scratch, k->eigenvalue));
    *n = 0;
    while (*n < m->nv && !(k->eigenvalue[*n] > NO_MASS * fmax(1, k->eigenvalue[nv - 1]))) ++*n;
    for (size_t j = 0; j < (size_t)*n; j++) {
        for (size_t i = 0; i < nv; i++) k->M[j * nv + i] *= k->unit[i] / m->typical[i];
    }
    return SNW_OK;
}

// is coordinate i part of one of the first n directions?
static bool takes_part(const massless_check *k, int n, int i) {
    const size_t nv = (size_t)k->m->nv;
    for (size_t j = 0; j < (size_t)n; j++) {
        const double *x = k->M + j * nv;
        double largest = 0;
        for (size_t a = 0; a < nv; a++) largest = fmax(largest, fabs(x[a]));
        if (fabs(x[i]) > TAKES_PART * largest) return true;
    }
    return false;
}

static snw_status fail_massless(const massless_check *k, int n, snw_error *err) {
    static const char *const twist[6] = {"wx", "wy", "wz", "vx", "vy", "vz"};
    const snw_model *m = k->m;
    char names[200] = "";
    int first = -1, last = -1;
    size_t used = 0;
    for (int b = 0; b < m->nblock; b++) {
        const snw_block *block = &m->block[b];
        const bool rod = m->seg[block->seg].kind == SNW_SEG_ROD;
        const int l = m->seg[block->seg].link;
        int nc = 0;
        const snw_joint_coordinate *c = snw_joint_coordinates(m->link_joint[l], &nc);
        for (int i = 0; i < block->n; i++) {
            if (!takes_part(k, n, block->dof + i)) continue;
            if (used + 80 < sizeof names && !(rod && l == last)) {
                const char *name = rod                            ? "strains"
                                   : block->feed                  ? "feed"
                                   : block->space == SNW_SPACE_RN ? c[b - m->link_block[l]].name
                                                                  : twist[i];
                used += (size_t)snprintf(names + used, sizeof names - used, "%s%.40s.%s",
                                         used ? ", " : "", m->label.link[l].name, name);
            }
            last = l;
            if (first < 0) first = l;
        }
    }
    const int l = last < 0 ? 0 : last;
    const snw_label *link = &m->label.link[l];
    const bool point = m->link_body_mass[l] > 0;
    return snw_fail_at_location(
        err,
        snw_fail(
            err, SNW_E_MODEL,
            "link '%.60s' can move without moving any mass (%s), so its acceleration is not "
            "determined; %s",
            link->name, names,
            first != last ? "these joints move the same: leave one out, or put mass between them"
            : point       ? "its body is a point mass: give it 'inertia' or a shape"
            : m->link_rod[l] >= 0 ? "give its rod a density, or rotary inertia for twist"
                                  : "give it a body, attach one to it, or leave the joint out"),
        link->location.file, link->location.line, link->location.column);
}

// The initial configuration is checked last: directions that have no mass at one configuration only
// depend on the motion and are no error of the model.
static snw_status check_configurations(massless_check *k, snw_error *err) {
    const snw_model *m = k->m;
    unsigned long long seed = 11;
    snw_inputs_at(m, 0, k->in);
    for (int n = 0; n < CONFIGURATIONS; n++) {
        const int last = CONFIGURATIONS - 1;
        for (int i = 0; i < m->nv; i++) {
            k->dx[i] = 0.3 * (last - n) * m->typical[i] * snw_projection_random(&seed);
        }
        int none = 0;
        snw_move(m, m->q0, 1, k->dx, k->s->q);
        if (massless_definite(k)) return SNW_OK;
        SNW_TRY(directions(k, &none));
        if (none == 0) return SNW_OK;
        if (n == last) return fail_massless(k, none, err);
    }
    return SNW_OK;
}

static void massless_place(void *object, snw_fields *f) {
    massless_check *o = object;
    const size_t nv = (size_t)o->m->nv;
    MASSLESS_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_massless_check(const snw_model *m, snw_error *err) {
    if (m->nconstraint > 0 || m->nv == 0 || m->nv > MOST_COORDINATES || m->bare) return SNW_OK;
    massless_check k = {.m = m, .scratch = {.size = snw_eigen_symmetric_scratch(m->nv)}};
    k.scratch.base = snw_alloc(k.scratch.size);
    k.block = snw_fields_create(massless_place, &k);
    snw_status s = SNW_E_MEMORY;
    if (k.scratch.base && k.block && snw_state_create(m, &k.s) == SNW_OK &&
        snw_inputs_create(m, &k.in) == SNW_OK && snw_work_create(m, &k.w) == SNW_OK) {
        s = check_configurations(&k, err);
        for (int i = 0; i < m->ncondition; i++) k.s->z[m->condition_signal[i]] = 1;
        if (s == SNW_OK && m->nconditional)
            s = check_configurations(&k, err); // with all conditional links
        if (s == SNW_E_DIVERGED || s == SNW_E_SINGULAR)
            s = SNW_OK; // not finite: other checks report it
    }
    snw_free(k.scratch.base);
    snw_free(k.block);
    snw_state_destroy(k.s);
    snw_inputs_destroy(k.in);
    snw_work_destroy(k.w);
    return s;
}
