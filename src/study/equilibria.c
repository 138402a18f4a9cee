// SPDX-License-Identifier: MIT
//
// Paths of equilibria. The equations of statics at the parameter t for src/solve/arclength.h, the
// control of its steps, the test functions of special points and their location. theory.md 5.2
#include "study/equilibria_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/root.h"
#include "study/fold.h"

#include <math.h>
#include <string.h>

enum {
    MOST_COORDINATES = 800, // eigenvalues are computed at every point
    MOST_EVENTS = 32,       // special points between two points
    SECTIONS = 40,          // of a step, for the minimum of an eigenvalue
    DIFFERENCES = 2,        // pairs of evaluations of the derivative in t: fourth order
};

static const double FIRST_STEP = 0.02;
static const double SHORTEST = 1e-6;     // step on which special points must be found
static const double LOCATED = 1e-11;     // arc length to which special points are found
static const double SAME = 1e-6;         // part of a step within which roots count as one
static const double NEARLY = 0.2;        // eigenvalue that may touch zero between two points
static const double TOUCHES = 1e-8;      // that does
static const double ZERO = 1e-9;         // eigenvalue that counts as zero
static const double DEGENERATE = 1e-6;   // psi' r_t below which a turning point is a bifurcation
static const double GROWTH = 1e-7;       // damping ratio of a vibration that grows
static const double BEYOND_ONSET = 1e-8; // arc length at which a vibration surely grows
static const double SWITCH = 0.02;       // first step on another branch
static const double REGULAR = 1e-4;    // arc length from a bifurcation at which tangents are sharp
static const double ASTRAY = 0.999;    // cosine between a new branch and the path that it leaves
static const double IDLE = 1e-10;      // entries of a coordinate that nothing resists
static const double DIFFERENCE = 4e-6; // spacing of the differences in t, part of the interval

snw_equilibria_opts snw_equilibria_defaults(void) {
    return (snw_equilibria_opts){.low = -INFINITY,
                                 .high = INFINITY,
                                 .step = 0.2,
                                 .points = 500,
                                 .tolerance = snw_statics_defaults().tolerance};
}

// ---- equations

// Does the path vary a constant of the file instead of t?
static bool varies_constant(const snw_equilibria *eq) {
    return eq->opts->folds && eq->opts->folds->of >= 0;
}

// eq->st, eq->m <- the robot at the parameter p
static snw_status use_robot(snw_equilibria *eq, double p) {
    if (!varies_constant(eq)) return SNW_OK;
    const snw_path_desc *path = eq->opts->folds;
    const snw_status s = snw_member_at(path, path->of, p, eq->base, &eq->now, &eq->refused);
    eq->st = s == SNW_OK ? eq->now.st : eq->base;
    eq->m = eq->st->m;
    // a value that the file does not admit counts as a step that is too long
    return s == SNW_OK || s == SNW_E_MEMORY ? s : SNW_E_DIVERGED;
}

snw_status snw_equilibria_evaluate(snw_equilibria *eq, const double *x, double p, double *r) {
    SNW_TRY(use_robot(eq, p));
    const snw_model *m = eq->m;
    snw_statics *st = eq->st;
    const double t = varies_constant(eq) ? eq->t : p;
    snw_inputs_at(m, t, st->now);
    st->trial->t = t;
    if (m->nq) memcpy(st->trial->q, x, (size_t)m->nq * sizeof *x);
    if (m->nconstraint) memcpy(st->trial->lambda, x + m->nq, (size_t)m->nconstraint * sizeof *x);
    snw_residual(m, st->now, st->trial, true, st->w);
    if (m->nv) memcpy(r, st->w->r, (size_t)m->nv * sizeof *r);
    for (int i = 0; i < m->nconstraint; i++) r[m->nv + i] = -st->w->violation[i];
    return SNW_OK;
}

// r_p <- derivative of the residual by the parameter at a fixed configuration, by differences of
// fourth order in t, of second order in a constant, since each evaluation reads and compiles the
// robot. They decide how fast Newton's method converges and the length of tangents, not where
// equilibria and folds are. Spaced closely, so that corners of laws and forces on one side only
// (slack tendons) do not matter but there.
static snw_status equilibria_derivative(snw_equilibria *eq, const double *point, double *r_p) {
    static const double fourth[] = {2.0 / 3, -1.0 / 12}, second[] = {1.0 / 2};
    const int n = eq->problem.n, nx = eq->problem.nx;
    const int pairs = varies_constant(eq) ? 1 : DIFFERENCES;
    const double *weight = varies_constant(eq) ? second : fourth;
    const double h = DIFFERENCE * eq->size[n];
    memset(r_p, 0, (size_t)n * sizeof *r_p);
    for (int k = 1; k <= pairs; k++) {
        for (int side = -1; side <= 1; side += 2) {
            SNW_TRY(snw_equilibria_evaluate(eq, point, point[nx] + side * k * h, eq->r));
            for (int i = 0; i < n; i++) r_p[i] += side * weight[k - 1] / h * eq->r[i];
        }
    }
    return SNW_OK;
}

// Largest entry in the row and column of coordinate j, scaled.
static double resistance_of(const snw_equilibria *eq, const double *J, int j) {
    const size_t n = (size_t)eq->problem.n, at = (size_t)j;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double f = eq->size[j] / eq->scale[i], g = eq->size[i] / eq->scale[j];
        most = fmax(most, fmax(fabs(J[at * n + i]) * f, fabs(J[i * n + at]) * g));
    }
    return most;
}

// Coordinates that nothing resists, from the start of the path on, stay where they are: their
// stiffness is a typical one.
static void hold_idle(const snw_equilibria *eq, double *J) {
    const snw_model *m = eq->m;
    const size_t n = (size_t)eq->problem.n;
    for (int j = 0; j < m->nv; j++) {
        if (eq->idle[j] != 0 && resistance_of(eq, J, j) < IDLE)
            J[(size_t)j * (n + 1)] = m->scale[j] / m->typical[j];
    }
}

snw_status snw_equilibria_equations(void *user, const double *point, double *r, double *J,
                                    double *r_p) {
    snw_equilibria *eq = user;
    if (r_p) SNW_TRY(equilibria_derivative(eq, point, r_p));
    SNW_TRY(snw_equilibria_evaluate(eq, point, point[eq->problem.nx], r));
    if (!J) return SNW_OK;
    snw_statics *st = eq->st;
    snw_tangent_pass(eq->m, NULL, st->w);
    snw_tangent_assemble(eq->m, st->now, 1, 0, 0, st->w, J);
    snw_constraints_border(eq->m, st->w, 1, J);
    hold_idle(eq, J);
    return SNW_OK;
}

void snw_equilibria_move(void *user, const double *x, double step, const double *dx, double *out) {
    const snw_model *m = ((const snw_equilibria *)user)->m;
    snw_move(m, x, step, dx, out);
    for (int i = 0; i < m->nconstraint; i++) out[m->nq + i] = x[m->nq + i] + step * dx[m->nv + i];
}

// ---- memory

static void equilibria_place(void *object, snw_fields *f) {
    snw_equilibria *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv, n = nv + (size_t)m->nconstraint;
    const size_t nx = (size_t)m->nq + (size_t)m->nconstraint;
    EQUILIBRIA_FIELDS(SNW_FIELD_PLACE)
}

snw_status snw_equilibria_create(snw_statics *st, snw_equilibria **out) {
    *out = NULL;
    snw_equilibria *eq = snw_alloc(sizeof *eq);
    if (!eq) return SNW_E_MEMORY;
    const snw_model *m = eq->m = st->m;
    eq->st = eq->base = st;
    const size_t n = (size_t)(m->nv + m->nconstraint), nx = (size_t)(m->nq + m->nconstraint);
    const size_t size = snw_arclength_scratch((int)n);
    eq->scratch = (snw_arena){.base = snw_alloc(size), .size = size};
    eq->block = snw_fields_create_sized(equilibria_place, eq, &eq->bytes);
    if (!eq->scratch.base || !eq->block || snw_state_create(m, &eq->state) != SNW_OK) {
        snw_equilibria_destroy(eq);
        return SNW_E_MEMORY;
    }
    double energy = 0;
    for (int i = 0; i < m->nv; i++) {
        eq->scale[i] = m->scale[i];
        eq->size[i] = m->typical[i];
        eq->weight[i] = 1;
        energy = fmax(energy, m->scale[i] * m->typical[i]);
    }
    for (int i = 0; i < m->nconstraint; i++) {
        const double row = snw_constraint_at(m, st->w, i).size;
        eq->scale[m->nv + i] = row;
        eq->size[m->nv + i] = energy / row;
        eq->weight[m->nv + i] = 0; // multipliers follow from the rest
    }
    eq->weight[n] = 1;
    for (size_t k = 0; k < NPOINT; k++) {
        eq->point[k] = (path_point){.x = eq->shifted + k * (nx + 1),
                                    .tangent = eq->tangents + k * (n + 1),
                                    .eigen = eq->eigen + k * (size_t)m->nv};
    }
    eq->problem = (snw_path_problem){.n = (int)n,
                                     .nx = (int)nx,
                                     .user = eq,
                                     .equations = snw_equilibria_equations,
                                     .move = snw_equilibria_move,
                                     .scale = eq->scale,
                                     .size = eq->size,
                                     .weight = eq->weight};
    *out = eq;
    return SNW_OK;
}

void snw_equilibria_destroy(snw_equilibria *eq) {
    if (!eq) return;
    snw_member_free(&eq->now);
    snw_modes_destroy(eq->modes);
    snw_state_destroy(eq->state);
    snw_free(eq->scratch.base);
    snw_free(eq->block);
    snw_free(eq);
}

// to <- from, whose arrays stay its own
static void copy_point(const snw_equilibria *eq, const path_point *from, path_point *to) {
    const path_point arrays = *to;
    *to = *from;
    to->x = arrays.x, to->tangent = arrays.tangent, to->eigen = arrays.eigen;
    memcpy(to->x, from->x, ((size_t)eq->problem.nx + 1) * sizeof *to->x);
    memcpy(to->tangent, from->tangent, ((size_t)eq->problem.n + 1) * sizeof *to->tangent);
    memcpy(to->eigen, from->eigen, (size_t)eq->m->nv * sizeof *to->eigen);
}

static double parameter_of(const snw_equilibria *eq, const path_point *p) {
    return p->x[eq->problem.nx];
}

// dt/d(arc length) in parts of the interval
static double slope_of(const snw_equilibria *eq, const path_point *p) {
    return p->tangent[eq->problem.n] / eq->size[eq->problem.n];
}

// ---- stability

// eq->state <- the point
static void take_state(snw_equilibria *eq, const path_point *p) {
    const snw_model *m = eq->m;
    snw_state *s = eq->state;
    if (m->nq) memcpy(s->q, p->x, (size_t)m->nq * sizeof *s->q);
    if (m->nconstraint) memcpy(s->lambda, p->x + m->nq, (size_t)m->nconstraint * sizeof *s->q);
    for (int i = 0; i < m->nv; i++) s->v[i] = s->a[i] = 0;
    s->t = varies_constant(eq) ? eq->t : parameter_of(eq, p);
}

// p->growth, p->frequency, p->negative <- motions that grow
static snw_status judge_vibrations(snw_equilibria *eq, path_point *p) {
    if (!eq->modes) {
        const snw_status s = snw_modes_create(eq->m, eq->m->nv, false, &eq->modes);
        if (s != SNW_OK) return snw_fail_memory(eq->err);
    }
    snw_modes_use(eq->modes, eq->m);
    p->growth = 0;
    p->negative = 0;
    snw_error unknown = {0};
    if (snw_modes_solve(eq->modes, eq->state, &unknown) != SNW_OK) {
        eq->info->unjudged = true; // a robot without mass, for instance
        while (p->negative < p->neigen && p->eigen[p->negative] < -ZERO) p->negative++;
        return SNW_OK;
    }
    const snw_mode_table *table = snw_modes_table(eq->modes);
    for (int i = 0; i < table->n; i++) {
        const snw_mode *mode = &table->mode[i];
        if (mode->null) continue;
        const bool grows = mode->frequency > 0 && mode->damping < -GROWTH;
        p->negative += mode->frequency < 0 || grows;
        if (!grows || -mode->damping < p->growth) continue;
        p->growth = -mode->damping;
        p->frequency = mode->frequency;
    }
    return SNW_OK;
}

// Eigenvalues and stability of a point whose configuration is known.
static snw_status judge_point(snw_equilibria *eq, path_point *p) {
    take_state(eq, p);
    SNW_TRY(use_robot(eq, parameter_of(eq, p)));
    snw_inputs_at(eq->m, eq->state->t, eq->st->now);
    p->neigen = snw_statics_spectrum(eq->st, eq->state, p->eigen, &p->symmetric);
    p->stability = p->neigen > 0 ? p->eigen[0] : NAN;
    p->growth = p->frequency = 0;
    if (!p->symmetric) return judge_vibrations(eq, p);
    p->negative = 0;
    while (p->negative < p->neigen && p->eigen[p->negative] < -ZERO) p->negative++;
    return SNW_OK;
}

// ---- points

// Arc length and work of a point c found beyond a.
static void take_numbers(snw_equilibria *eq, const path_point *a, double distance,
                         const snw_arclength_info *info, path_point *c) {
    c->arc = a->arc + distance;
    c->iterations = info->iterations;
    c->residual = info->residual;
    eq->info->iterations += info->iterations;
}

// c <- point of the path at the arc length `distance` beyond a; with tangent, and eigenvalues if
// `judge`.
static snw_status point_beyond(snw_equilibria *eq, const path_point *a, double distance, bool judge,
                               path_point *c) {
    const snw_path_problem *pb = &eq->problem;
    snw_arclength_info info;
    snw_arclength_move(pb, a->x, distance, a->tangent, c->x);
    SNW_TRY(snw_arclength_correct(pb, a->tangent, eq->opts->tolerance, &eq->scratch, c->x, &info));
    SNW_TRY(snw_arclength_tangent(pb, c->x, a->tangent, &eq->scratch, c->tangent, &c->sign));
    take_numbers(eq, a, distance, &info, c);
    return judge ? judge_point(eq, c) : SNW_OK;
}

static snw_status give(snw_equilibria *eq, const path_point *p, snw_special special,
                       int multiplicity, const double *mode, const double *derivative, bool saves) {
    take_state(eq, p);
    SNW_TRY(use_robot(eq, parameter_of(eq, p)));
    eq->info->points++;
    eq->refused.text[0] = 0;
    if (special != SNW_SPECIAL_NONE) eq->info->special[special]++;
    const snw_equilibrium e = {.state = eq->state,
                               .parameter = parameter_of(eq, p),
                               .statics = varies_constant(eq) ? eq->st : NULL,
                               .path = eq->path,
                               .arc = p->arc,
                               .special = special,
                               .number = special ? eq->info->special[special] : 0,
                               .multiplicity = multiplicity,
                               .mode = mode,
                               .derivative = derivative,
                               .slope = p->tangent[eq->problem.n],
                               .stability = p->stability,
                               .negative = p->negative,
                               .symmetric = p->symmetric,
                               .frequency = p->frequency,
                               .iterations = p->iterations,
                               .residual = p->residual,
                               .saves = saves};
    return eq->receive(eq->user, &e, eq->err);
}

// Hand a point to the caller; `mode` NULL: none.
static snw_status give_point(snw_equilibria *eq, const path_point *p, snw_special special,
                             int multiplicity, const double *mode, const double *derivative) {
    return give(eq, p, special, multiplicity, mode, derivative, false);
}

// The same for a point from which the path can be continued.
static snw_status give_saved_point(snw_equilibria *eq, const path_point *p) {
    return give(eq, p, SNW_SPECIAL_NONE, 1, NULL, NULL, true);
}

// ---- checkpoints

// Numbers of a point beside its arrays: type, field.
#define POINT_NUMBERS(X)                                                                           \
    X(int, neigen)                                                                                 \
    X(bool, symmetric)                                                                             \
    X(int, sign)                                                                                   \
    X(double, growth)                                                                              \
    X(double, frequency)                                                                           \
    X(double, stability)                                                                           \
    X(int, negative)                                                                               \
    X(double, arc)                                                                                 \
    X(int, iterations)                                                                             \
    X(double, residual)
// The same of the path.
#define PATH_NUMBERS(X)                                                                            \
    X(int, nbifurcation)                                                                           \
    X(bool, has_fold)                                                                              \
    X(int, path)                                                                                   \
    X(int, branch)                                                                                 \
    X(double, side)                                                                                \
    X(int, next)                                                                                   \
    X(double, step)                                                                                \
    X(int, info->points)                                                                           \
    X(int, info->iterations)                                                                       \
    X(int, info->paths)                                                                            \
    X(bool, info->left)                                                                            \
    X(bool, info->unjudged)

enum {
#define X(type, field) +1
    NPOINT_NUMBER = POINT_NUMBERS(X),
    NPATH_NUMBER = PATH_NUMBERS(X)
#undef X
};

size_t snw_equilibria_saves(const snw_equilibria *eq) {
    return NPOINT * NPOINT_NUMBER + NPATH_NUMBER + SNW_SPECIAL_COUNT + eq->bytes / sizeof(double);
}

void snw_equilibria_save(const snw_equilibria *eq, double *row) {
#define X(type, field) *row++ = (double)p->field;
    for (int i = 0; i < NPOINT; i++) {
        const path_point *p = &eq->point[i];
        POINT_NUMBERS(X)
    }
    const snw_equilibria *p = eq;
    PATH_NUMBERS(X)
#undef X
    for (int i = 0; i < SNW_SPECIAL_COUNT; i++) *row++ = eq->info->special[i];
    memcpy(row, eq->block, eq->bytes);
}

static void load_path(snw_equilibria *eq, const double *row) {
#define X(type, field) p->field = (type)*row++;
    for (int i = 0; i < NPOINT; i++) {
        path_point *p = &eq->point[i];
        POINT_NUMBERS(X)
    }
    snw_equilibria *p = eq;
    PATH_NUMBERS(X)
#undef X
    for (int i = 0; i < SNW_SPECIAL_COUNT; i++) eq->info->special[i] = (int)*row++;
    memcpy(eq->block, row, eq->bytes);
}

// ---- special points

// Search of a root along the step from a.
typedef struct path_search {
    snw_equilibria *eq;
    const path_point *a;
    path_point *c;
    int k;        // eigenvalue
    double bound; // of t
} path_search;

static snw_status slope_beyond(void *user, double distance, double *value) {
    path_search *s = user;
    SNW_TRY(point_beyond(s->eq, s->a, distance, false, s->c));
    *value = slope_of(s->eq, s->c);
    return SNW_OK;
}

static snw_status eigenvalue_beyond(void *user, double distance, double *value) {
    path_search *s = user;
    SNW_TRY(point_beyond(s->eq, s->a, distance, true, s->c));
    if (s->c->neigen <= s->k) return SNW_E_DIVERGED;
    *value = s->c->eigen[s->k];
    return SNW_OK;
}

static snw_status sign_beyond(void *user, double distance, double *value) {
    path_search *s = user;
    SNW_TRY(point_beyond(s->eq, s->a, distance, false, s->c));
    *value = s->c->sign;
    return SNW_OK;
}

static snw_status growth_beyond(void *user, double distance, double *value) {
    path_search *s = user;
    SNW_TRY(point_beyond(s->eq, s->a, distance, true, s->c));
    *value = s->c->growth > 0 ? 1 : -1;
    return SNW_OK;
}

static snw_status excess_beyond(void *user, double distance, double *value) {
    path_search *s = user;
    SNW_TRY(point_beyond(s->eq, s->a, distance, false, s->c));
    *value = parameter_of(s->eq, s->c) - s->bound;
    return SNW_OK;
}

// A special point at an arc length beyond the last point.
typedef struct path_event {
    double distance;
    snw_special kind;
    int multiplicity;
} path_event;

typedef struct path_events {
    int n;
    path_event event[MOST_EVENTS];
} path_events;

static void add_event(path_events *list, double distance, snw_special kind) {
    if (list->n == MOST_EVENTS) return;
    int i = list->n++;
    for (; i > 0 && list->event[i - 1].distance > distance; i--)
        list->event[i] = list->event[i - 1];
    list->event[i] = (path_event){.distance = distance, .kind = kind, .multiplicity = 1};
}

// *root <- root of a test function between a and b; the end with the smaller value if it has the
// same sign at both
static snw_status find_event(path_search *s, snw_root_function *f, double fa, double fb,
                             double length, double *root) {
    if ((fa > 0) == (fb > 0)) {
        *root = fabs(fa) < fabs(fb) ? 0 : length;
        return SNW_OK;
    }
    return snw_find_root(f, s, 0, fa, length, fb, LOCATED, root);
}

// Does the turning point at `distance` have a path of another kind through it: psi' r_t = 0?
static snw_status turns_at_bifurcation(path_search *s, double distance, bool *out) {
    snw_equilibria *eq = s->eq;
    double psi_p;
    SNW_TRY(point_beyond(eq, s->a, distance, false, s->c));
    SNW_TRY(snw_arclength_null(&eq->problem, s->c->x, &eq->scratch, eq->phi, eq->psi, &psi_p));
    *out = fabs(psi_p) * eq->size[eq->problem.n] < DEGENERATE;
    return SNW_OK;
}

// Folds where t turns back, unless that happens at a bifurcation reached along its other branch.
static snw_status find_folds(path_search *s, const path_point *b, double length,
                             path_events *list) {
    const double sa = slope_of(s->eq, s->a), sb = slope_of(s->eq, b);
    if ((sa > 0) == (sb > 0)) return SNW_OK;
    double at;
    bool bifurcation;
    SNW_TRY(find_event(s, slope_beyond, sa, sb, length, &at));
    SNW_TRY(turns_at_bifurcation(s, at, &bifurcation));
    add_event(list, at, bifurcation ? SNW_SPECIAL_BRANCH : SNW_SPECIAL_FOLD);
    return SNW_OK;
}

// Bifurcations of conservative loads, by the eigenvalues that change their sign other than at a
// fold; equal ones are one bifurcation.
static snw_status find_crossings(path_search *s, const path_point *b, double length,
                                 path_events *list) {
    const path_point *a = s->a;
    const int from = a->negative < b->negative ? a->negative : b->negative;
    const int to = a->negative < b->negative ? b->negative : a->negative;
    const int folds = list->n;
    for (int k = from; k < to && k < a->neigen && k < b->neigen; k++) {
        double at;
        s->k = k;
        SNW_TRY(find_event(s, eigenvalue_beyond, a->eigen[k], b->eigen[k], length, &at));
        bool known = false;
        for (int i = 0; i < list->n && !known; i++) {
            path_event *e = &list->event[i];
            known = fabs(e->distance - at) < SAME * length;
            if (known && folds == 0) e->multiplicity++;
        }
        if (!known) add_event(list, at, SNW_SPECIAL_BRANCH);
    }
    return SNW_OK;
}

// *least, *at <- smallest |eigenvalue k| on the step and its arc length, by golden sections, with
// the sign that it has at a as positive: negative where it has crossed zero in between
static snw_status find_least(path_search *s, double length, double sign, double *least,
                             double *at) {
    static const double golden = 0.6180339887498949;
    double low = 0, high = length, x[2], f[2];
    x[0] = high - golden * length, x[1] = golden * length;
    for (int i = 0; i < 2; i++) SNW_TRY(eigenvalue_beyond(s, x[i], &f[i]));
    for (int n = 0; n < SECTIONS && sign * f[0] > 0 && sign * f[1] > 0; n++) {
        const int keep = sign * f[0] < sign * f[1] ? 0 : 1;
        if (keep == 0) high = x[1];
        if (keep == 1) low = x[0];
        x[1 - keep] = x[keep], f[1 - keep] = f[keep];
        x[keep] = keep == 0 ? high - golden * (high - low) : low + golden * (high - low);
        SNW_TRY(eigenvalue_beyond(s, x[keep], &f[keep]));
    }
    const int best = sign * f[0] < sign * f[1] ? 0 : 1;
    *at = x[best];
    *least = sign * f[best];
    return SNW_OK;
}

// Bifurcations where an eigenvalue touches zero, or crosses it twice between a and b: as many are
// negative at both. Looked for where the parabola through the last three points has its extreme
// there.
static snw_status find_touching(path_search *s, const path_point *p, const path_point *b,
                                double length, path_events *list) {
    const path_point *a = s->a;
    if (!p || !p->symmetric || p->arc >= a->arc || a->negative != b->negative) return SNW_OK;
    for (int k = a->negative - 1; k <= a->negative; k++) {
        if (k < 0 || k >= a->neigen || k >= b->neigen || k >= p->neigen) continue;
        const double before = (a->eigen[k] - p->eigen[k]) / (a->arc - p->arc);
        const double after = (b->eigen[k] - a->eigen[k]) / length;
        const double bend = (after - before) / (b->arc - p->arc); // half the second derivative
        const double slope = after - bend * length, sign = a->eigen[k] > 0 ? 1 : -1;
        const double extreme = -slope / (2 * bend);
        const bool near = fmin(fabs(a->eigen[k]), fabs(b->eigen[k])) < NEARLY;
        if (!(sign * bend > 0) || !(extreme > 0 && extreme < length) || !near) continue;
        double least, at, root;
        s->k = k;
        SNW_TRY(find_least(s, length, sign, &least, &at));
        if (fabs(least) < TOUCHES) {
            add_event(list, at, SNW_SPECIAL_BRANCH);
        } else if (least < 0) {
            const double middle = sign * least;
            SNW_TRY(
                snw_find_root(eigenvalue_beyond, s, 0, a->eigen[k], at, middle, LOCATED, &root));
            add_event(list, root, SNW_SPECIAL_BRANCH);
            SNW_TRY(snw_find_root(eigenvalue_beyond, s, at, middle, length, b->eigen[k], LOCATED,
                                  &root));
            add_event(list, root, SNW_SPECIAL_BRANCH);
        }
    }
    return SNW_OK;
}

// All special points between a and b, in order. p: the point before a; NULL: none.
static snw_status find_events(snw_equilibria *eq, const path_point *p, const path_point *a,
                              const path_point *b, path_events *list) {
    const double length = b->arc - a->arc;
    path_search s = {.eq = eq, .a = a, .c = &eq->point[POINT_C]};
    list->n = 0;
    SNW_TRY(find_folds(&s, b, length, list));
    double at;
    if (a->symmetric && b->symmetric) {
        SNW_TRY(find_crossings(&s, b, length, list));
        return list->n == 0 ? find_touching(&s, p, b, length, list) : SNW_OK;
    }
    if (a->sign * b->sign < 0) {
        SNW_TRY(find_event(&s, sign_beyond, a->sign, b->sign, length, &at));
        add_event(list, at, SNW_SPECIAL_BRANCH);
    }
    if (!(a->growth > 0) && b->growth > 0) {
        SNW_TRY(find_event(&s, growth_beyond, -1, 1, length, &at));
        add_event(list, at, SNW_SPECIAL_FLUTTER);
    }
    return SNW_OK;
}

// Keeps the bifurcation c at `distance` beyond a of the first path for later. Its tangent is that
// of a point just beyond it: at the bifurcation the bordered matrix is singular, and errors of r_p
// turn the tangent into the direction of the other branch.
static snw_status keep_bifurcation(snw_equilibria *eq, const path_point *a, double distance,
                                   path_point *c) {
    if (eq->path > 0 || eq->nbifurcation == SNW_BIFURCATIONS) return SNW_OK;
    const size_t k = (size_t)eq->nbifurcation++;
    const size_t nx = (size_t)eq->problem.nx + 1, n = (size_t)eq->problem.n + 1;
    memcpy(eq->bifurcation + k * nx, c->x, nx * sizeof *c->x);
    if (point_beyond(eq, a, distance + REGULAR, false, c) != SNW_OK)
        SNW_TRY(point_beyond(eq, a, distance - REGULAR, false, c));
    memcpy(eq->bifurcation_tangent + k * n, c->tangent, n * sizeof *c->tangent);
    return point_beyond(eq, a, distance, true, c);
}

// phi <- of typical size one, its largest coordinate positive
static void orient_mode(const snw_equilibria *eq, double *phi) {
    double most = 0;
    for (int i = 0; i < eq->m->nv; i++) {
        const double a = phi[i] / eq->size[i];
        if (fabs(a) > (1 + 1e-6) * fabs(most)) most = a;
    }
    for (int i = 0; i < eq->m->nv && most != 0; i++) phi[i] /= most;
}

// *derivative <- those of the fold c, with the null vector eq->psi; keeps the first fold for its
// curve.
static snw_status judge_fold(snw_equilibria *eq, const path_point *c, double psi_t,
                             const double **derivative) {
    const snw_path_desc *folds = eq->opts->folds;
    if (!folds || folds->family.nparameter == 0 || varies_constant(eq)) return SNW_OK;
    if (!eq->has_fold) memcpy(eq->fold, c->x, ((size_t)eq->problem.nx + 1) * sizeof *c->x);
    eq->has_fold = true;
    SNW_TRY(snw_fold_derivatives(eq, folds, c->x, eq->psi, psi_t, eq->derivative, eq->err));
    *derivative = eq->derivative;
    return SNW_OK;
}

static snw_status give_events(snw_equilibria *eq, const path_point *a, const path_events *list) {
    path_point *c = &eq->point[POINT_C];
    for (int i = 0; i < list->n; i++) {
        const path_event *e = &list->event[i];
        SNW_TRY(point_beyond(eq, a, e->distance, true, c));
        if (e->kind == SNW_SPECIAL_BRANCH) SNW_TRY(keep_bifurcation(eq, a, e->distance, c));
        // eigenvalues that vanish there are none of its unstable ones
        if (c->symmetric)
            while (c->negative > 0 && !(c->eigen[c->negative - 1] < SNW_UNSTABLE)) c->negative--;
        if (e->kind == SNW_SPECIAL_FLUTTER && !(c->growth > 0)) {
            // the frequency of the vibration, just beyond its onset
            SNW_TRY(point_beyond(eq, a, e->distance + BEYOND_ONSET, true, c));
            const double frequency = c->frequency;
            SNW_TRY(point_beyond(eq, a, e->distance, true, c));
            c->frequency = frequency;
        }
        const double *mode = NULL, *derivative = NULL;
        if (e->kind != SNW_SPECIAL_FLUTTER) {
            double psi_t;
            SNW_TRY(snw_arclength_null(&eq->problem, c->x, &eq->scratch, eq->phi, eq->psi, &psi_t));
            if (e->kind == SNW_SPECIAL_FOLD) SNW_TRY(judge_fold(eq, c, psi_t, &derivative));
            orient_mode(eq, eq->phi);
            mode = eq->phi;
        }
        SNW_TRY(give_point(eq, c, e->kind, e->multiplicity, mode, derivative));
    }
    return SNW_OK;
}

// ---- paths

static const char *parameter_name(const snw_equilibria *eq) {
    return varies_constant(eq) ? eq->opts->folds->family.parameter[eq->opts->folds->of].name : "t";
}

static snw_status path_failed(snw_equilibria *eq, const path_point *a, snw_status s) {
    if (s != SNW_E_DIVERGED && s != SNW_E_SINGULAR) return s;
    if (eq->refused.text[0]) {
        return snw_fail(eq->err, s, "the path of equilibria ends at %s = %.9g, after %d points: %s",
                        parameter_name(eq), parameter_of(eq, a), eq->info->points,
                        eq->refused.text);
    }
    return snw_fail(eq->err, s,
                    "the path of equilibria could not be continued beyond %s = %.9g, after %d "
                    "points; the last one is kept. Try a smaller 'step', more nodes or functions, "
                    "laws without jumps, or contacts that set in more softly",
                    parameter_name(eq), parameter_of(eq, a), eq->info->points);
}

// b <- next point beyond a; *step: in, the length tried; out, that of the next step
static snw_status next_point(snw_equilibria *eq, const path_point *a, double *step, path_point *b) {
    snw_arclength_info info;
    double length;
    const snw_status s =
        snw_arclength_advance(&eq->problem, a->x, a->tangent, eq->opts->step, eq->opts->tolerance,
                              &eq->scratch, step, &length, b->x, b->tangent, &b->sign, &info);
    if (s != SNW_OK) return path_failed(eq, a, s);
    take_numbers(eq, a, length, &info, b);
    return judge_point(eq, b);
}

static bool outside(const snw_equilibria *eq, double t) {
    return t < eq->opts->low || t > eq->opts->high;
}

// b <- the point between a and b where t has the value of the bound that b exceeds
static snw_status end_at_bound(snw_equilibria *eq, const path_point *a, path_point *b) {
    path_search s = {.eq = eq, .a = a, .c = &eq->point[POINT_C]};
    const double t = parameter_of(eq, b), length = b->arc - a->arc;
    s.bound = t > eq->opts->high ? eq->opts->high : eq->opts->low;
    double at;
    SNW_TRY(find_event(&s, excess_beyond, parameter_of(eq, a) - s.bound, t - s.bound, length, &at));
    SNW_TRY(point_beyond(eq, a, at, true, s.c));
    s.c->x[eq->problem.nx] = s.bound; // to rounding
    copy_point(eq, s.c, b);
    return SNW_OK;
}

// From eq->point[POINT_A], which has been given, to the end of its path, from point eq->next on.
// `first`: a begins at a bifurcation, whose crossing is not looked for again.
static snw_status follow_path(snw_equilibria *eq, bool first) {
    path_point *a = &eq->point[POINT_A], *b = &eq->point[POINT_B], *before = &eq->point[POINT_P];
    path_events list;
    while (eq->next < eq->opts->points) {
        const int k = eq->next;
        if (eq->opts->stop && eq->opts->stop(eq->opts->user))
            return snw_fail(eq->err, SNW_E_STOPPED, "stopped at %s = %g", parameter_name(eq),
                            parameter_of(eq, a));
        SNW_TRY(next_point(eq, a, &eq->step, b));
        const bool last = outside(eq, parameter_of(eq, b)), search = !(first && k == 1);
        const double length = b->arc - a->arc;
        snw_status s = last ? end_at_bound(eq, a, b) : SNW_OK;
        if (s == SNW_OK && search) s = find_events(eq, k > 1 ? before : NULL, a, b, &list);
        if (s == SNW_E_DIVERGED && length > SHORTEST) {
            // b is on another path: two that nearly meet were mistaken for one; or the bound is
            // beyond a corner of the laws
            eq->step = 0.5 * length;
            continue;
        }
        if (s == SNW_OK && search) s = give_events(eq, a, &list);
        if (s != SNW_OK) return eq->err->text[0] ? s : path_failed(eq, a, s);
        copy_point(eq, a, before);
        copy_point(eq, b, a);
        eq->next = last ? eq->opts->points : k + 1;
        if (last && eq->path == 0) eq->info->left = true;
        SNW_TRY(give_saved_point(eq, a));
    }
    return SNW_OK;
}

// eq->idle <- coordinates of joints that nothing resists and no load moves at the start
static snw_status find_idle(snw_equilibria *eq, const double *point) {
    const size_t n = (size_t)eq->problem.n, mark = snw_arena_mark(&eq->scratch);
    memset(eq->idle, 0, (size_t)eq->m->nv * sizeof *eq->idle);
    if (!eq->st->regularisation) return SNW_OK;
    double *J = snw_arena_doubles(&eq->scratch, n * n), *r = snw_arena_doubles(&eq->scratch, n),
           *r_p = snw_arena_doubles(&eq->scratch, n);
    const snw_status s = snw_equilibria_equations(eq, point, r, J, r_p);
    for (int j = 0; j < eq->m->nv && s == SNW_OK; j++) {
        const double load = fabs(r_p[j]) * eq->size[n] / eq->scale[j];
        eq->idle[j] = fmax(load, resistance_of(eq, J, j)) < IDLE;
    }
    snw_arena_reset(&eq->scratch, mark);
    return s;
}

// a <- the start: an equilibrium at s, with the tangent along which t rises or falls
static snw_status start_path(snw_equilibria *eq, const snw_state *s) {
    const snw_model *m = eq->m;
    const size_t n = (size_t)eq->problem.n;
    path_point *a = &eq->point[POINT_A];
    if (m->nq) memcpy(a->x, s->q, (size_t)m->nq * sizeof *a->x);
    if (m->nconstraint) memcpy(a->x + m->nq, s->lambda, (size_t)m->nconstraint * sizeof *a->x);
    const snw_path_desc *path = eq->opts->folds;
    a->x[eq->problem.nx] = varies_constant(eq) ? path->family.parameter[path->of].value : s->t;
    SNW_TRY(find_idle(eq, a->x));
    memset(eq->direction, 0, (n + 1) * sizeof *eq->direction);
    eq->direction[n] = eq->opts->down ? -eq->size[n] : eq->size[n];
    snw_arclength_info info;
    SNW_TRY(snw_arclength_correct(&eq->problem, eq->direction, eq->opts->tolerance, &eq->scratch,
                                  a->x, &info));
    SNW_TRY(snw_arclength_tangent(&eq->problem, a->x, eq->direction, &eq->scratch, a->tangent,
                                  &a->sign));
    a->arc = 0;
    a->iterations = info.iterations;
    a->residual = info.residual;
    return judge_point(eq, a);
}

// Follow the other branch of bifurcation k to one side.
static snw_status follow_branch(snw_equilibria *eq, int k, double side) {
    const snw_path_problem *pb = &eq->problem;
    const size_t nx = (size_t)pb->nx + 1, n = (size_t)pb->n + 1;
    const double *x = eq->bifurcation + (size_t)k * nx,
                 *from = eq->bifurcation_tangent + (size_t)k * n;
    path_point *a = &eq->point[POINT_A], *b = &eq->point[POINT_B];
    SNW_TRY(snw_arclength_switch(pb, x, from, &eq->scratch, eq->direction));
    for (size_t i = 0; i < n; i++) eq->direction[i] *= side;
    // the bifurcation itself begins the path
    memcpy(a->x, x, nx * sizeof *a->x);
    memcpy(a->tangent, eq->direction, n * sizeof *a->tangent);
    a->arc = 0;
    a->sign = 0;
    a->iterations = 0;
    SNW_TRY(judge_point(eq, a));
    eq->path++;
    eq->info->paths++;
    SNW_TRY(give_point(eq, a, SNW_SPECIAL_NONE, 1, NULL, NULL));
    snw_status s = SNW_E_DIVERGED;
    for (double step = SWITCH; s == SNW_E_DIVERGED && step > LOCATED; step *= 0.5) {
        s = point_beyond(eq, a, step, true, b);
        // back on the path that it leaves
        if (s == SNW_OK && fabs(snw_arclength_dot(pb, from, b->tangent)) > ASTRAY)
            s = SNW_E_DIVERGED;
    }
    if (s != SNW_OK) return path_failed(eq, a, s);
    if (outside(eq, parameter_of(eq, b))) return SNW_OK;
    SNW_TRY(give_point(eq, b, SNW_SPECIAL_NONE, 1, NULL, NULL));
    copy_point(eq, b, a);
    eq->next = 1;
    eq->step = SWITCH;
    return follow_path(eq, true);
}

static snw_status check_start(const snw_equilibria *eq, const snw_state *s, snw_error *err) {
    const snw_model *m = eq->m;
    if (m->hard) return snw_fail(err, SNW_E_MODEL, SNW_HARD_STATICS);
    if (m->nnonholonomic) {
        return snw_fail(err, SNW_E_MODEL,
                        "a path of equilibria does not support wheels, rings and anchors, whose "
                        "equilibria depend on the way there; use a static step with 'for'");
    }
    if (m->nv == 0)
        return snw_fail(err, SNW_E_MODEL, "a path needs a robot that can deform or move");
    if (m->nv > MOST_COORDINATES) {
        return snw_fail(err, SNW_E_MODEL,
                        "a path computes eigenvalues at every point, for at most %d coordinates; "
                        "this robot has %d: use fewer functions",
                        MOST_COORDINATES, m->nv);
    }
    const double first =
        varies_constant(eq) ? eq->opts->folds->family.parameter[eq->opts->folds->of].value : s->t;
    if (outside(eq, first)) {
        return snw_fail(err, SNW_E_MODEL, "the path begins at %s = %g, outside of its range",
                        parameter_name(eq), first);
    }
    return SNW_OK;
}

// eq->point[POINT_A] <- the start, given to the caller.
static snw_status begin_first(snw_equilibria *eq, const snw_state *s) {
    const snw_status started = start_path(eq, s);
    if (started != SNW_OK) return path_failed(eq, &eq->point[POINT_A], started);
    eq->branch = -1;
    eq->next = 1;
    eq->step = fmin(FIRST_STEP, eq->opts->step);
    return give_point(eq, &eq->point[POINT_A], SNW_SPECIAL_NONE, 1, NULL, NULL);
}

// The first path, the branches, the curve of folds. s <- the last point of the first path, unless a
// constant was varied.
static snw_status follow_all(snw_equilibria *eq, snw_state *s) {
    const snw_equilibria_opts *opts = eq->opts;
    if (opts->from) {
        load_path(eq, opts->from);
    } else {
        SNW_TRY(begin_first(eq, s));
    }
    // the path that the call begins in: the first one, or a branch
    const int branch = eq->branch;
    const double side = eq->side;
    snw_status status = follow_path(eq, branch >= 0);
    if (branch < 0 && !varies_constant(eq)) {
        take_state(eq, &eq->point[POINT_A]);
        snw_state_copy(eq->m, eq->state, s);
    }
    for (int k = branch < 0 ? 0 : branch; k < eq->nbifurcation && k < opts->branches; k++) {
        for (int way = 1; way >= -1 && status == SNW_OK; way -= 2) {
            if (k == branch && way >= side) continue; // followed already
            eq->branch = k;
            eq->side = way;
            status = follow_branch(eq, k, way);
        }
    }
    if (status != SNW_OK || !opts->folds || opts->folds->curve < 0) return status;
    if (eq->has_fold) return snw_fold_curve(eq, opts->folds, eq->fold, eq->err);
    return snw_fail(eq->err, SNW_E_DIVERGED,
                    "the path has no fold, so there is no curve of folds to follow");
}

snw_status snw_equilibria_follow(snw_equilibria *eq, const snw_equilibria_opts *opts,
                                 snw_equilibrium_fn *point, void *user, snw_state *s,
                                 snw_equilibria_info *info, snw_error *err) {
    *info = (snw_equilibria_info){.paths = 1};
    eq->st = eq->base;
    eq->m = eq->st->m;
    eq->t = s->t;
    eq->opts = opts;
    eq->receive = point;
    eq->user = user;
    eq->info = info;
    eq->err = err;
    eq->path = eq->nbifurcation = 0;
    eq->has_fold = false;
    eq->refused = (snw_error){0};
    eq->size[eq->problem.n] = opts->high - opts->low;
    if (!opts->from) SNW_TRY(check_start(eq, s, err));
    if (eq->m->nsignal) {
        memcpy(eq->state->z, s->z, (size_t)eq->m->nsignal * sizeof *s->z);
        memcpy(eq->st->trial->z, s->z, (size_t)eq->m->nsignal * sizeof *s->z);
    }
    for (int i = 0; i < 2 && eq->m->nbranch; i++) { // branches follow as those of s do
        snw_state *to = i ? eq->state : eq->st->trial;
        memcpy(to->relaxed, s->relaxed, (size_t)eq->m->nbranch_coordinate * sizeof *s->relaxed);
        memcpy(to->follow, s->follow, (size_t)eq->m->nbranch * sizeof *s->follow);
    }
    memset(eq->st->trial->v, 0, (size_t)eq->m->nv * sizeof *s->v);
    memset(eq->st->trial->a, 0, (size_t)eq->m->nv * sizeof *s->a);
    const snw_status status = follow_all(eq, s);
    snw_member_free(&eq->now);
    eq->st = eq->base;
    eq->m = eq->st->m;
    eq->st->blended = NAN;
    return status;
}
