// SPDX-License-Identifier: MIT
//
// Trivial and redundant rows and the closed configuration of a model, kept for others of the same
// kinematics. What is compared is written as one sequence of numbers for each part (the print).
#include "constraint/closure_choice_private.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <string.h>

typedef struct print {
    size_t n, room;
    double *x;
    bool out; // of memory
} print;

// The prints of the model that is compiled stand behind those of the kept one until it is kept.
struct snw_closure_choice {
    print print[SNW_CHOICE_PARTS], next[SNW_CHOICE_PARTS];
    bool known[SNW_CHOICE_PARTS];
    int nloop;
    snw_loop *rows, *loop; // nloop: after trivial rows were removed, and after redundant ones
    int nknown;            // loops of the last model
    int freedom, singular, singular_loop;
    double magnification;
    int nq;
    double *closed; // nq
    bool has_closed;
    int nv;
    snw_sparse *pattern; // of a model with nv coordinates; NULL: none
};

snw_status snw_closure_choice_create(snw_closure_choice **out) {
    *out = snw_alloc(sizeof **out);
    return *out ? SNW_OK : SNW_E_MEMORY;
}

void snw_closure_choice_destroy(snw_closure_choice *c) {
    if (!c) return;
    for (int i = 0; i < SNW_CHOICE_PARTS; i++) {
        snw_free(c->print[i].x);
        snw_free(c->next[i].x);
    }
    snw_free(c->rows);
    snw_free(c->loop);
    snw_free(c->closed);
    snw_sparse_destroy(c->pattern);
    snw_free(c);
}

const double *snw_closure_choice_closed(const snw_closure_choice *c) {
    return c && c->has_closed ? c->closed : NULL;
}

const snw_sparse *snw_closure_choice_pattern(const snw_closure_choice *c, const snw_model *m) {
    return c && c->nv == m->nv ? c->pattern : NULL;
}

snw_status snw_closure_choice_keep_pattern(snw_closure_choice *c, const snw_model *m,
                                           const snw_sparse *pattern) {
    if (!pattern) return SNW_OK;
    if (c->pattern && c->nv == m->nv && snw_sparse_same_pattern(c->pattern, pattern)) return SNW_OK;
    snw_sparse_destroy(c->pattern);
    c->pattern = NULL;
    c->nv = m->nv;
    return snw_sparse_create_like(pattern, NULL, &c->pattern);
}

// ---- prints -------------------------------------------------------------------------------------

static void print_add(print *p, size_t n, const double *x) {
    if (p->out || n == 0) return;
    if (p->n + n > p->room) {
        const size_t room = 2 * p->room + n + 256;
        double *larger = snw_alloc(room * sizeof *larger);
        if (!larger) {
            p->out = true;
            return;
        }
        if (p->n) memcpy(larger, p->x, p->n * sizeof *larger);
        snw_free(p->x);
        p->x = larger;
        p->room = room;
    }
    memcpy(p->x + p->n, x, n * sizeof *x);
    p->n += n;
}

static void print_number(print *p, double x) { print_add(p, 1, &x); }

static bool same_print(const print *a, const print *b) {
    return a->n == b->n && (a->n == 0 || memcmp(a->x, b->x, a->n * sizeof *a->x) == 0);
}

// Structure and sizes that the search for trivial rows reads.
static void print_structure(const snw_choice_key *k, print *p) {
    const snw_model *m = k->m;
    const int count[] = {m->nq,          m->nv,        m->nseg,     m->nobs,
                         m->npath,       m->npose,     m->nloop,    m->ndrive,
                         m->nconstraint, m->ntendon,   m->nrod,     m->nfield,
                         (int)m->local,  (int)m->bare, (int)k->use, (int)k->shares_reactions,
                         k->ntime};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) print_number(p, count[i]);
    print_add(p, (size_t)k->ntime, k->time);
    print_number(p, m->length);
    print_add(p, (size_t)m->nv, m->typical);
    print_add(p, (size_t)m->nq, m->q0);
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *l = &m->loop[i];
        const int of[] = {l->a,   l->b,    (int)l->joint, l->drive,
                          l->row, l->nraw, l->condition,  l->ndof};
        for (size_t j = 0; j < sizeof of / sizeof *of; j++) print_number(p, of[j]);
    }
}

static void print_rows(const snw_choice_key *k, int first, int end, print *p) {
    if (end <= first) return;
    print_add(p, (size_t)(end - first), k->w->violation + first);
    print_add(p, (size_t)(end - first), k->rate + first);
}

// Motions of poses and given strains, and those of drives, tendons and slides.
static void print_motions(const snw_choice_key *k, const snw_inputs *in, print *free,
                          print *driven) {
    const snw_model *m = k->m;
    enum {
        POSE = sizeof(snw_se3) / sizeof(double),
        TWIST = sizeof(snw_twist) / sizeof(double),
        JET = sizeof(snw_jet) / sizeof(double)
    };
    const size_t npose = (size_t)m->npose, nfield = (size_t)m->nfield;
    if (npose) {
        print_add(free, npose * POSE, (const double *)in->pose);
        print_add(free, npose * TWIST, (const double *)in->pose_u);
    }
    if (nfield) {
        print_add(free, nfield * TWIST, (const double *)in->xi);
        print_add(free, nfield * TWIST, (const double *)in->dxi);
    }
    if (m->ntube_piece) print_add(free, (size_t)m->ntube * JET, (const double *)in->slide);
    if (m->ndrive) print_add(driven, (size_t)m->ndrive * JET, (const double *)in->drive);
    if (m->ntendon) print_add(driven, (size_t)m->ntendon * JET, (const double *)in->tendon);
}

static int rows_of_loops(const snw_model *m) {
    int n = 0;
    for (int i = 0; i < m->nloop; i++) n += m->loop[i].nraw;
    return n;
}

snw_status snw_closure_choice_look(snw_closure_choice *c, const snw_choice_key *k, snw_inputs *in,
                                   bool part[SNW_CHOICE_PARTS]) {
    const snw_model *m = k->m;
    print *rows = &c->next[SNW_CHOICE_ROWS], *closed = &c->next[SNW_CHOICE_CLOSED];
    const int of_loops = rows_of_loops(m);
    enum { POSE = sizeof(snw_se3) / sizeof(double), TWIST = sizeof(snw_twist) / sizeof(double) };
    rows->n = closed->n = 0;
    print_structure(k, rows);
    print_add(rows, (size_t)m->nseg * POSE, (const double *)k->w->g);
    print_add(rows, (size_t)m->nseg * TWIST, (const double *)k->w->V);
    print_rows(k, 0, of_loops, rows);
    print_rows(k, of_loops, m->nconstraint, closed);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        const int of[] = {d->row, d->dof, d->passive, d->condition};
        for (size_t j = 0; j < sizeof of / sizeof *of; j++) print_number(closed, of[j]);
    }
    for (int i = 0; i < m->ntendon; i++) print_number(closed, m->tendon[i].row);
    for (int n = 0; n < k->ntime; n++) {
        snw_inputs_at(m, k->time[n], in);
        print_motions(k, in, rows, closed);
    }
    if (rows->out || closed->out) return SNW_E_MEMORY;
    part[SNW_CHOICE_ROWS] =
        c->known[SNW_CHOICE_ROWS] && same_print(rows, &c->print[SNW_CHOICE_ROWS]);
    part[SNW_CHOICE_CLOSED] = part[SNW_CHOICE_ROWS] && c->known[SNW_CHOICE_CLOSED] &&
                              same_print(closed, &c->print[SNW_CHOICE_CLOSED]);
    return SNW_OK;
}

// ---- rows ---------------------------------------------------------------------------------------

// Copies the decisions on a loop; the places of its rows are numbered again.
static void copy_decision(const snw_loop *from, snw_loop *to) {
    to->nrow = from->nrow;
    to->ntrivial = from->ntrivial;
    to->nredundant = from->nredundant;
    to->nkept_redundant = from->nkept_redundant;
    memcpy(to->trivial, from->trivial, sizeof to->trivial);
    memcpy(to->coefficient, from->coefficient, sizeof to->coefficient);
}

bool snw_closure_choice_had_all_rows(const snw_closure_choice *c, const snw_model *m) {
    bool all = c->known[SNW_CHOICE_CLOSED] && c->nknown == m->nloop;
    for (int i = 0; i < m->nloop && all; i++)
        all = c->loop[i].nrow == c->loop[i].nraw && c->loop[i].nraw == m->loop[i].nraw;
    return all;
}

void snw_closure_choice_take_rows(const snw_closure_choice *c, const snw_model *m, snw_loop *loop) {
    for (int i = 0; i < m->nloop; i++) copy_decision(&c->rows[i], &loop[i]);
}

void snw_closure_choice_take_closed(const snw_closure_choice *c, snw_model *m, snw_loop *loop) {
    for (int i = 0; i < m->nloop; i++) copy_decision(&c->loop[i], &loop[i]);
    m->freedom = c->freedom;
    m->singular = c->singular;
    m->singular_loop = c->singular_loop;
    m->magnification = c->magnification;
}

static void take_print(snw_closure_choice *c, snw_choice_part part) {
    const print old = c->print[part];
    c->print[part] = c->next[part];
    c->next[part] = old;
    c->known[part] = true;
}

snw_status snw_closure_choice_keep_rows(snw_closure_choice *c, const snw_model *m) {
    if (m->nloop > c->nloop) {
        snw_free(c->rows);
        snw_free(c->loop);
        c->nloop = 0;
        c->rows = snw_alloc((size_t)m->nloop * sizeof *c->rows);
        c->loop = snw_alloc((size_t)m->nloop * sizeof *c->loop);
        if (!c->rows || !c->loop) return SNW_E_MEMORY;
        c->nloop = m->nloop;
    }
    memcpy(c->rows, m->loop, (size_t)m->nloop * sizeof *c->rows);
    c->nknown = m->nloop;
    take_print(c, SNW_CHOICE_ROWS);
    c->known[SNW_CHOICE_CLOSED] = c->has_closed = false;
    return SNW_OK;
}

snw_status snw_closure_choice_keep_closed(snw_closure_choice *c, const snw_model *m,
                                          const double *closed) {
    SNW_ASSERT(m->nloop <= c->nloop);
    c->known[SNW_CHOICE_CLOSED] = c->has_closed = false;
    if (closed && m->nq > c->nq) {
        snw_free(c->closed);
        c->closed = snw_alloc((size_t)m->nq * sizeof *c->closed);
        c->nq = c->closed ? m->nq : 0;
        if (!c->closed) return SNW_E_MEMORY;
    }
    memcpy(c->loop, m->loop, (size_t)m->nloop * sizeof *c->loop);
    c->freedom = m->freedom;
    c->singular = m->singular;
    c->singular_loop = m->singular_loop;
    c->magnification = m->magnification;
    c->has_closed = closed != NULL;
    if (closed && m->nq) memcpy(c->closed, closed, (size_t)m->nq * sizeof *closed);
    take_print(c, SNW_CHOICE_CLOSED);
    return SNW_OK;
}
