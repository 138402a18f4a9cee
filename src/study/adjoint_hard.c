// SPDX-License-Identifier: MIT
//
// Steps with hard contacts, theory.md (7.5.21): with the contacts that act and their states
// (sticking, sliding, closing) held as they were, a step is a smooth implicit map. Its unknowns x
// and equations F(x; state before, t_0, h) = 0, in this order:
//
//     d            r(q_m, v_m, a_m, lambda) - G'P = 0
//     lambda       e(q_1) = 0
//     P            of closed contacts: g(q_1) = 0, then u_t = 0 or P_t + P_n mu^2 u_t/|mu u_t| = 0
//     h            of a step that ends where a contact closes: g(q_1) = 0
//     energies     work at the middle, of gravity, of friction, energy at the start, of gaps there
//     s            E(q_1, v_a) = E_0 + work
//     v_a          = s v_1, or about the velocity of the centre of mass
//     S, P'        tangential forces in the world, along the axes at the end
//     A            approach of contacts that bounce
//     v_b, pi, p   M (v_b - v_a) - C'pi - G'(p - h P') = 0, e' = 0, velocities of closed contacts
//     s', v_c      the second scaling
//
// Each equation reads the laws at one time: of the middle, the end or the start of the step.
// Residuals have exact tangents; what contacts, energies and impulses add is differentiated along
// the coordinates by differences of order 6 at fixed states of the contacts.
#include "study/adjoint_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "integrate/hard_step.h"
#include "integrate/lie_block.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MIDDLE, END, START }; // time of the laws of an equation
enum { BY_MIDDLE, BY_GRAVITY, BY_FRICTION, BY_START, BY_GAP, ENERGIES };
enum { Q_MID, V_MID, A_MID, Q_END, V_END, A_END, OUTPUTS }; // of the path of a step
enum { BY_PLACE, BY_RATE, BY_D, INPUTS };

static const double move_place = 1e-3, move_rate = 1e-2, // of typical values
    move_length = 1e-3,                                  // of the length of a step
    singular = 1e-12,                                    // pivot of a scaled matrix
    compliance = 1e-8, // of contacts that hold the robot more than once, scaled
    immobile = 1e-13,  // of the length: displacement along a tangent
    same_axes = 0.9,   // cosine of the largest angle between tangents of near states
    consistent = 1e-7; // part of a right side that they do not allow
enum { REFINEMENTS = 30 };

// Places of the unknowns, and of the equations; -1: there is none.
typedef struct layout {
    int n;
    int nclosed, nturned, nbounce, nheld; // contacts closed in the step, .., in the impulse
    int d, lambda, P, h, energy, s, v, S, P1, A, v1, impulse, p, s2, v2;
} layout;

struct adjoint_hard {
    int room;       // unknowns
    size_t numbers; // of contact rows
    layout l;
    double h; // length of the step at which the equations are evaluated
    snw_state *mid, *end, *start, *moved;
    bool redundant; // contacts hold the robot more than once
    int off;        // equation that a redundant contact does not allow; -1: none
    double *J, *kept, *right, *F[OUTPUTS], *by_place, *by_rate, *by_h, *by_t, *x, *sample, *mu,
        *scale;
    double *G, *M, *lie, *acc_h, *line, *power;
    double *base;      // equations at the step taken
    double *value;     // of the unknowns S and A, by their places
    bool *idle;        // 2 for each contact: can the robot not move along the tangent?
    snw_vec3 *tangent; // first tangents of the contacts at the middle and at the end, in the world
    int *pivot;
    void *block;
};

// ---- memory -------------------------------------------------------------------------------------

static layout layout_of(const snw_model *m, const snw_hard_step *r) {
    layout l = {.h = -1, .energy = -1, .s = -1, .s2 = -1};
    bool closes = false;
    for (int i = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        l.nclosed += c->in_step != SNW_HARD_OPEN;
        l.nturned += c->in_step != SNW_HARD_OPEN && hypot(c->P[1], c->P[2]) > 0;
        l.nbounce += c->bounces;
        l.nheld += c->in_impulse != SNW_HARD_OPEN;
        closes = closes || c->closes;
    }
    int n = 0;
    l.d = n, n += m->nv;
    l.lambda = n, n += m->nconstraint;
    l.P = n, n += 3 * l.nclosed;
    if (closes) l.h = n++;
    if (r->scaling[0].free || r->scaling[1].free) l.energy = n, n += ENERGIES;
    if (r->scaling[0].free) l.s = n++;
    l.v = n, n += m->nv;
    l.S = n, n += 3 * l.nturned;
    l.P1 = n, n += 2 * l.nturned;
    l.A = n, n += l.nbounce;
    l.v1 = n, n += m->nv;
    l.impulse = n, n += m->nconstraint;
    l.p = n, n += 3 * l.nheld;
    if (r->scaling[1].free) l.s2 = n++;
    l.v2 = n, n += m->nv;
    l.n = n;
    return l;
}

int adjoint_hard_size(const snw_adjoint *a, const snw_map *map) {
    return layout_of(a->m, map->hard).n;
}

// Time of the laws of equation i.
static int time_of(const layout *l, const snw_map *map, int i) {
    if (i < l->lambda) return MIDDLE;
    if (i < l->P) return END;
    if (i < l->P + 3 * l->nclosed) return (i - l->P) % 3 == 0 ? END : MIDDLE;
    if (l->energy >= 0 && i >= l->energy && i < l->energy + ENERGIES)
        return i - l->energy == BY_START || i - l->energy == BY_GAP ? START : MIDDLE;
    if (i >= l->S && i < l->P1) return MIDDLE;
    if (i >= l->A && i < l->v1) {
        for (int k = 0, at = l->A; k < map->hard->n; k++) {
            const snw_hard_step_contact *c = &map->hard->contact[k];
            if (c->bounces && at++ == i) return c->closes ? END : START;
        }
    }
    return END;
}

int adjoint_hard_stage(const snw_adjoint *a, const snw_map *map, int i) {
    return time_of(&a->hard->l, map, i);
}

double adjoint_hard_time(const snw_map *map, int stage) {
    const double t0 = map->s.t - map->h;
    if (stage == START) return t0 + snw_time_resolution(t0);
    return stage == END ? map->t_laws : t0 + map->hard->theta * (map->t_laws - t0);
}

static snw_status hard_open(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, n = (size_t)adjoint_hard_size(a, map),
                 nr = (size_t)m->nconstraint;
    const size_t rows = 3 * (size_t)map->hard->n * (nv + 1) + 1; // also 2 n vectors
    adjoint_hard *x = a->hard;
    if (!x) {
        a->hard = x = snw_alloc(sizeof *x);
        if (!x) return SNW_E_MEMORY;
        SNW_TRY(snw_state_create(m, &x->mid));
        SNW_TRY(snw_state_create(m, &x->end));
        SNW_TRY(snw_state_create(m, &x->start));
        SNW_TRY(snw_state_create(m, &x->moved));
    }
    x->l = layout_of(m, map->hard);
    if ((int)n <= x->room && rows <= x->numbers) return SNW_OK;
    const size_t room = n + n / 4, numbers = rows + rows / 4, ns = (size_t)a->nscalar;
    snw_free(x->block);
    x->room = 0;
    x->block =
        snw_alloc((2 * room * room + room + (OUTPUTS + 2) * room * nv + (8 + ns) * room +
                   2 * numbers + (size_t)snw_npower(m) + nv * nv +
                   36 * OUTPUTS * INPUTS * (size_t)(m->nlie_block + 1) + 8 * nv + 2 * nr + 16) *
                      sizeof(double) +
                  room * sizeof(int) + numbers * sizeof(bool));
    if (!x->block) return SNW_E_MEMORY;
    double *at = x->block;
    x->J = at, at += room * room;
    x->kept = at, at += room * room;
    x->right = at, at += room;
    for (int k = 0; k < OUTPUTS; k++) x->F[k] = at, at += room * nv;
    x->by_place = at, at += room * nv;
    x->by_rate = at, at += room * nv;
    x->by_h = at, at += room;
    x->by_t = at, at += room;
    x->x = at, at += room;
    x->sample = at, at += room;
    x->value = at, at += room;
    x->base = at, at += room;
    x->power = at, at += snw_npower(m);
    x->scale = at, at += 2 * room;
    x->mu = at, at += ns * room;
    x->G = at, at += numbers;
    x->tangent = (snw_vec3 *)at, at += numbers;
    x->M = at, at += nv * nv;
    x->lie = at, at += 36 * OUTPUTS * INPUTS * (size_t)(m->nlie_block + 1);
    x->acc_h = at, at += nv;
    x->line = at, at += 7 * nv + 2 * nr + 16;
    x->pivot = (int *)at;
    x->idle = (bool *)(x->pivot + room);
    x->room = (int)room;
    x->numbers = numbers;
    return SNW_OK;
}

void adjoint_hard_destroy(snw_adjoint *a) {
    adjoint_hard *x = a->hard;
    if (!x) return;
    snw_state_destroy(x->mid);
    snw_state_destroy(x->end);
    snw_state_destroy(x->start);
    snw_state_destroy(x->moved);
    snw_free(x->block);
    snw_free(x);
}

// ---- path ---------------------------------------------------------------------------------------

// mid, end <- states of the step of length h from `start` with the increment d; end->v are the
// velocities before the first scaling. rate, acc (nv): scratch
static void path_states(const snw_model *m, double theta, double h, const snw_state *start,
                        const double *d, double *scratch, snw_state *mid, snw_state *end) {
    double *rate0 = scratch, *x = rate0 + m->nv, *rate = x + m->nv, *acc = rate + m->nv;
    snw_chart_from_state(m, SNW_CHART_SO3R3, start, rate0, acc);
    for (int i = 0; i < m->nv; i++) {
        x[i] = theta * d[i];
        rate[i] = d[i] / h;
        acc[i] = (rate[i] - rate0[i]) / (theta * h);
    }
    snw_chart_to_state(m, SNW_CHART_SO3R3, start->q, x, rate, acc, mid);
    for (int i = 0; i < m->nv; i++) rate[i] = rate0[i] + h * acc[i];
    snw_chart_to_state(m, SNW_CHART_SO3R3, start->q, d, rate, acc, end);
}

// x->start, mid, end <- of a map with the length h
static void place_states(const snw_model *m, adjoint_hard *x, const snw_map *map, double h) {
    const snw_hard_step *r = map->hard;
    snw_state_copy(m, &map->s, x->start);
    memcpy(x->start->q, r->q0, (size_t)m->nq * sizeof(double));
    memcpy(x->start->v, r->v0, (size_t)m->nv * sizeof(double));
    snw_state_copy(m, x->start, x->mid);
    snw_state_copy(m, x->start, x->end);
    path_states(m, r->theta, h, x->start, map->d, x->line, x->mid, x->end);
    x->h = h;
}

// Derivatives of the path along coordinates that are no spherical and free joints.
static double plain_slope(double theta, double h, int out, int in) {
    const double a = 1 / (theta * h);
    const double slope[OUTPUTS][INPUTS] = {
        [Q_MID] = {1, 0, theta}, [V_MID] = {0, 0, 1 / h},         [A_MID] = {0, -a, a / h},
        [Q_END] = {1, 0, 1},     [V_END] = {0, 1 - 1 / theta, a}, [A_END] = {0, -a, a / h}};
    return slope[out][in];
}

static double *lie_matrix(const adjoint_hard *x, const snw_model *m, int out, int in, int block) {
    return x->lie + 36 * (size_t)((out * INPUTS + in) * m->nlie_block + block);
}

// Value of an output of the path on a block: configurations as displacements from `at`.
static void read_block(const snw_model *m, const snw_block *b, int out, const adjoint_hard *at,
                       const snw_state *mid, const snw_state *end, double *d, double *to) {
    const double *const value[OUTPUTS] = {
        [V_MID] = mid->v, [A_MID] = mid->a, [V_END] = end->v, [A_END] = end->a};
    if (out == Q_MID) snw_difference(m, at->mid->q, mid->q, d);
    if (out == Q_END) snw_difference(m, at->end->q, end->q, d);
    memcpy(to, (value[out] ? value[out] : d) + b->dof, (size_t)b->n * sizeof *to);
}

// x->lie <- derivatives of the path on spherical and free joints, all joints at once for each of
// their coordinates; x->acc_h.
static void find_path_slopes(snw_adjoint *a, const snw_map *map, snw_state *mid, snw_state *end) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const int nv = m->nv;
    double *moved = x->line + 4 * nv, *d = moved + nv, *difference = d + nv;
    snw_state *start = x->moved;
    memset(x->lie, 0, 36 * OUTPUTS * INPUTS * (size_t)m->nlie_block * sizeof *x->lie);
    memset(x->acc_h, 0, (size_t)nv * sizeof *x->acc_h);
    for (int in = 0; in < INPUTS && m->nlie_block > 0; in++) {
        for (int k = 0; k < 6; k++) {
            for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
                if (j == 0) continue;
                const double step = in == BY_RATE ? move_rate : move_place;
                const double weight =
                    (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
                memset(moved, 0, (size_t)nv * sizeof *moved);
                memcpy(d, map->d, (size_t)nv * sizeof *d);
                snw_state_copy(m, x->start, start);
                for (int f = 0; f < m->nlie_block; f++) {
                    const snw_block *b = snw_lie_block(m, f);
                    if (k >= b->n) continue;
                    if (in == BY_PLACE) moved[b->dof + k] = j * step;
                    if (in == BY_RATE) start->v[b->dof + k] += j * step;
                    if (in == BY_D) d[b->dof + k] += j * step;
                }
                if (in == BY_PLACE) snw_move(m, x->start->q, 1, moved, start->q);
                path_states(m, map->hard->theta, x->h, start, d, x->line, mid, end);
                for (int f = 0; f < m->nlie_block; f++) {
                    const snw_block *b = snw_lie_block(m, f);
                    double value[6];
                    for (int out = 0; out < OUTPUTS && k < b->n; out++) {
                        double *to = lie_matrix(x, m, out, in, f) + 6 * k;
                        read_block(m, b, out, x, mid, end, difference, value);
                        for (int i = 0; i < b->n; i++) to[i] += weight * value[i];
                    }
                }
            }
        }
    }
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double step = move_length * x->h;
        path_states(m, map->hard->theta, x->h + j * step, x->start, map->d, x->line, mid, end);
        for (int i = 0; i < nv; i++)
            x->acc_h[i] +=
                (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step * end->a[i];
    }
}

// to (rows x nv) += A (rows x nv) times the slope of the output by the input
static void add_chain(const snw_adjoint *a, const snw_map *map, int rows, const double *A, int out,
                      int in, double *to) {
    const snw_model *m = a->m;
    const adjoint_hard *x = a->hard;
    const double plain = plain_slope(map->hard->theta, x->h, out, in);
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        const bool is_plain = b->space == SNW_SPACE_RN;
        if (is_plain && plain == 0) continue;
        for (int k = 0; k < b->n; k++) {
            double *column = to + (size_t)rows * (size_t)(b->dof + k);
            for (int j = is_plain ? k : 0; j < (is_plain ? k + 1 : b->n); j++) {
                const double by =
                    is_plain ? plain : lie_matrix(x, m, out, in, b->lie_block)[6 * k + j];
                const double *from = A + (size_t)rows * (size_t)(b->dof + j);
                for (int i = 0; i < rows && by != 0; i++) column[i] += by * from[i];
            }
        }
    }
}

// ---- equations ----------------------------------------------------------------------------------

// A hard contact placed in w: gap, velocities, axes in the world, with tangents `near` unless NULL;
// rows G (3 nv) unless NULL, after snw_jacobian_pass
typedef struct contact_place {
    double gap, u[3];
    snw_vec3 axis[3];
} contact_place;

// Tangents turned such that the first one is the nearest to `near`: where a contact point chooses
// other axes beyond some angle, those of the step taken go on.
static void keep_tangents(snw_vec3 near, int nv, contact_place *at, double *G) {
    const double x = snw_dot(near, at->axis[1]), y = snw_dot(near, at->axis[2]), r = hypot(x, y);
    if (!(r > 0) || x > same_axes * r) return;
    const double c = x / r, s = y / r;
    const snw_vec3 a = at->axis[1], b = at->axis[2];
    const double u[2] = {at->u[1], at->u[2]};
    at->axis[1] = snw_add(snw_scale(c, a), snw_scale(s, b));
    at->axis[2] = snw_sub(snw_scale(c, b), snw_scale(s, a));
    at->u[1] = c * u[0] + s * u[1];
    at->u[2] = c * u[1] - s * u[0];
    for (int i = 0; G && i < nv; i++) {
        const double g = G[nv + i], h = G[2 * nv + i];
        G[nv + i] = c * g + s * h;
        G[2 * nv + i] = c * h - s * g;
    }
}

static contact_place place_contact(const snw_model *m, const snw_work *w,
                                   const snw_hard_contact *at, const snw_vec3 *near, double *G) {
    contact_place out;
    snw_hard_contact c = *at;
    out.gap = snw_hard_gap(m, w, &c);
    snw_hard_velocity(m, w, &c, out.u);
    if (G) snw_hard_rows(m, w, &c, G);
    const int seg = snw_hard_axes(m, w, &c, out.axis);
    for (int j = 0; j < 3; j++) out.axis[j] = snw_rotate(w->g[seg].R, out.axis[j]);
    if (near) keep_tangents(*near, m->nv, &out, G);
    return out;
}

// A model that evaluates the equations, with its inputs at the time of a stage.
typedef struct evaluation {
    const snw_model *m;
    snw_inputs *in;
    snw_work *w;
    snw_state *still;
    adjoint_hard *x;
    const snw_map *map;
    double shift, h; // of times; length of the step
    bool slips;      // tangential equations of contacts are the slip velocities alone
    snw_vec3 gravity;
} evaluation;

static void inputs_at(evaluation *e, int stage) {
    double t = adjoint_hard_time(e->map, stage);
    if (stage != START) t += (e->h - e->map->h) * (stage == END ? 1 : e->map->hard->theta);
    snw_inputs_at(e->m, t + e->shift, e->in);
    if (stage == MIDDLE) e->gravity = e->in->gravity;
    e->in->gravity = e->gravity; // energies have that of the middle
}

static const double *friction_of(const snw_model *m, const snw_hard_contact *c, double mu[2]) {
    const snw_contact *law = &m->contact[snw_hard_law(m, c)];
    mu[0] = law->along, mu[1] = law->across;
    return mu;
}

// out (2) <- the tangential equations of a closed contact with force f and slip u; by_u (2 x 2)
// unless NULL. The force along a tangent in which the robot cannot move is idle.
static void friction_rows(snw_hard_state state, const bool idle[2], const double mu[2],
                          const double f[3], const double *u, double *out, double by_u[2][2]) {
    const double size = hypot(mu[0] * u[0], mu[1] * u[1]);
    for (int j = 0; j < 2; j++) {
        const double c = size > 0 ? f[0] * mu[j] * mu[j] / size : 0;
        const bool sticks = state == SNW_HARD_STICKS && mu[j] > 0 && !idle[j];
        out[j] = sticks ? u[j] : f[1 + j] + c * u[j];
        for (int l = 0; l < 2 && by_u; l++) {
            const double turn = size > 0 ? u[j] * mu[l] * mu[l] * u[l] / (size * size) : 0;
            by_u[j][l] = sticks ? (j == l) : c * ((j == l) - turn);
        }
    }
}

static void add_rows(int nv, double c, const double *G, const double f[3], double *out) {
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < nv; i++) out[i] += c * f[j] * G[(size_t)j * (size_t)nv + (size_t)i];
    }
}

// out += equations at the middle of the step, s; `all`: with the residual.
static void middle_rows(evaluation *e, const snw_state *s, bool all, double *out) {
    const snw_model *m = e->m;
    const layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    snw_work *w = e->w;
    if (all || l->energy >= 0) {
        snw_residual(m, e->in, s, false, w);
    } else {
        snw_kinematics(m, e->in, s, false, w);
    }
    for (int i = 0; i < m->nv && all; i++) out[l->d + i] += w->r[i];
    if (l->energy >= 0) {
        double given = -snw_dissipation(m, s->v) - snw_other_heat(m, s, w);
        snw_load_power(m, e->in, s, w, e->x->power);
        for (int i = 0; i < snw_npower(m); i++) given += e->x->power[i];
        out[l->energy + BY_MIDDLE] -= e->h * given;
    }
    if (r->n > 0) snw_jacobian_pass(m, w);
    for (int i = 0, k = 0, turned = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        double mu[2];
        const contact_place at = place_contact(m, w, &c->at, &e->x->tangent[2 * i], e->x->G);
        add_rows(m->nv, -1, e->x->G, c->P, out + l->d);
        double row[2];
        friction_rows(c->in_step, &e->x->idle[2 * i], friction_of(m, &c->at, mu), c->P, at.u + 1,
                      row, NULL);
        for (int j = 0; j < 2; j++) out[l->P + 3 * k + 1 + j] += e->slips ? at.u[1 + j] : row[j];
        if (l->energy >= 0)
            out[l->energy + BY_FRICTION] -= e->h * (c->P[1] * at.u[1] + c->P[2] * at.u[2]);
        k++;
        if (!(hypot(c->P[1], c->P[2]) > 0)) continue;
        for (int j = 0; j < 3; j++)
            out[l->S + 3 * turned + j] -= c->P[1] * at.axis[1].e[j] + c->P[2] * at.axis[2].e[j];
        turned++;
    }
}

// Kinetic and stored energy at s.
static double energy_of(const evaluation *e, const snw_state *s) {
    snw_kinematics(e->m, e->in, s, false, e->w);
    return snw_kinetic_energy(e->m, e->w) + snw_stored_energy(e->m, s, e->w);
}

// out (nv) += c times the velocities with which the robot at s is carried along (6.53)
static void add_carried(const evaluation *e, const snw_state *s, double c, double *out) {
    const snw_model *m = e->m;
    snw_vec3 centre;
    snw_kinematics(m, e->in, s, false, e->w);
    const double mass = snw_center_of_mass(m, e->w, &centre);
    const snw_vec3 v = snw_scale(1 / mass, snw_momentum(m, e->w).f);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const snw_vec3 u = snw_rotate_inv(e->w->g[b->seg].R, v);
        for (int k = 0; k < 3; k++) out[b->dof + 3 + k] += c * u.e[k];
    }
}

// out (nv) -= the velocities `v` of the state s scaled; s->v is set
static void subtract_scaled(const evaluation *e, snw_state *s, const double *v,
                            const snw_hard_scaling *by, double *out) {
    memcpy(s->v, v, (size_t)e->m->nv * sizeof *v);
    for (int i = 0; i < e->m->nv; i++) out[i] -= by->factor * v[i];
    if (by->carried) add_carried(e, s, by->factor - 1, out);
}

// out (2) <- tangential forces along the axes at the end of the step, of the force S in the world
static void turned_force(const contact_place *at, const double *S, double size, double out[2]) {
    const snw_vec3 slip = {{S[0], S[1], S[2]}};
    for (int j = 0; j < 2; j++) out[j] = snw_dot(at->axis[1 + j], slip);
    const double turned = hypot(out[0], out[1]);
    for (int j = 0; j < 2 && turned > 0; j++) out[j] *= size / turned;
}

// out += equations of the impulse: momentum, rows of constraints and contacts
static void impulse_rows(evaluation *e, snw_state *s, double *out) {
    const snw_model *m = e->m;
    const layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    snw_state *still = e->still;
    if (!r->velocities) {
        for (int i = 0; i < m->nv; i++) out[l->v1 + i] += r->v1[i] - r->v[i];
        return;
    }
    snw_state_copy(m, s, still);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < m->nv; i++) still->v[i] = 0, still->a[i] = k ? 0 : r->v1[i] - r->v[i];
        for (int i = 0; i < m->nconstraint; i++) still->lambda[i] = k ? 0 : r->impulse[i];
        snw_residual(m, e->in, still, false, e->w);
        for (int i = 0; i < m->nv; i++) out[l->v1 + i] += (k ? -1 : 1) * e->w->r[i];
    }
    memcpy(s->v, r->v1, (size_t)m->nv * sizeof *s->v);
    snw_kinematics(m, e->in, s, false, e->w);
    if (m->nconstraint > 0) {
        double *rate = e->x->line;
        snw_constraints_rates(m, e->in, s, e->w, rate, NULL);
        for (int i = 0; i < m->nconstraint; i++) out[l->impulse + i] += rate[i];
    }
    snw_jacobian_pass(m, e->w);
    for (int i = 0, k = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const contact_place at = place_contact(m, e->w, &c->at, &e->x->tangent[2 * i + 1], e->x->G);
        double f[3], mu[2], row[2];
        for (int j = 0; j < 3; j++) f[j] = c->p[j] - e->h * c->P1[j];
        add_rows(m->nv, -1, e->x->G, f, out + l->v1);
        const double restitution = m->contact[snw_hard_law(m, &c->at)].restitution;
        const double approach = c->bounces ? e->x->value[l->A + bounced++] : 0;
        if (c->in_impulse == SNW_HARD_OPEN) continue;
        friction_rows(c->in_impulse, &e->x->idle[2 * i], friction_of(m, &c->at, mu), c->p, at.u + 1,
                      row, NULL);
        double *to = out + l->p + 3 * k++;
        to[0] += at.u[0] + restitution * approach;
        for (int j = 0; j < 2; j++) to[1 + j] += e->slips ? at.u[1 + j] : row[j];
    }
}

// out += energies of the scalings at the end of the step
static void energy_rows(evaluation *e, snw_state *s, double gaps, double *out) {
    const layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    const size_t size = (size_t)e->m->nv * sizeof *s->v;
    memcpy(s->v, r->v, size);
    const double before = energy_of(e, s);
    out[l->energy + BY_GRAVITY] += snw_gravity_energy(e->m, e->in, e->w);
    if (l->s >= 0) out[l->s] += before - gaps;
    if (l->s2 < 0) return;
    memcpy(s->v, e->map->s.v, size);
    out[l->s2] += energy_of(e, s);
    if (!r->taken) return;
    memcpy(s->v, r->v1, size);
    out[l->s2] -= energy_of(e, s) - before + gaps;
}

// out += equations at the end of the step, s with the velocities before the first scaling. s->v is
// changed.
static void end_rows(evaluation *e, snw_state *s, double *out) {
    const snw_model *m = e->m;
    const layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    double *v = e->x->line, gaps = 0;
    memcpy(v, s->v, (size_t)m->nv * sizeof *v);
    subtract_scaled(e, s, v, &r->scaling[0], out + l->v);
    memcpy(s->v, r->v, (size_t)m->nv * sizeof *v);
    snw_kinematics(m, e->in, s, false, e->w);
    for (int i = 0, k = 0, turned = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const contact_place at = place_contact(m, e->w, &c->at, &e->x->tangent[2 * i + 1], NULL);
        if (c->bounces && c->closes) out[l->A + bounced] -= at.u[0];
        bounced += c->bounces;
        if (c->closes) out[l->h] += at.gap;
        if (c->in_step == SNW_HARD_OPEN) continue;
        out[l->P + 3 * k++] += at.gap;
        gaps += c->P[0] * at.gap;
        const double size = hypot(c->P[1], c->P[2]);
        if (!(size > 0)) continue;
        double f[2];
        turned_force(&at, e->x->value + l->S + 3 * turned, size, f);
        for (int j = 0; j < 2; j++) out[l->P1 + 2 * turned + j] -= f[j];
        turned++;
    }
    if (m->nconstraint > 0) {
        snw_constraints_add_forces(m, e->in, s, e->w);
        for (int i = 0; i < m->nconstraint; i++) out[l->lambda + i] += e->w->violation[i];
    }
    impulse_rows(e, s, out);
    if (l->energy >= 0) energy_rows(e, s, gaps, out);
    subtract_scaled(e, s, r->v1, &r->scaling[1], out + l->v2);
}

// out += equations at the start of the step, s
static void start_rows(const evaluation *e, const snw_state *s, double *out) {
    const snw_model *m = e->m;
    const layout *l = &e->x->l;
    const snw_hard_step *r = e->map->hard;
    if (l->energy < 0 && l->nbounce == 0) return;
    const double energy = energy_of(e, s);
    if (l->energy >= 0) {
        out[l->energy + BY_START] -= energy;
        out[l->energy + BY_GRAVITY] -= snw_gravity_energy(m, e->in, e->w);
    }
    for (int i = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const contact_place at = place_contact(m, e->w, &c->at, NULL, NULL);
        if (c->bounces && !c->closes) out[l->A + bounced] -= at.u[0];
        bounced += c->bounces;
        if (l->energy >= 0 && c->in_step != SNW_HARD_OPEN)
            out[l->energy + BY_GAP] -= c->P[0] * at.gap;
    }
}

// out (n) <- all equations, at the states in x
static void all_rows(evaluation *e, double *out) {
    adjoint_hard *x = e->x;
    memset(out, 0, (size_t)x->l.n * sizeof *out);
    inputs_at(e, MIDDLE);
    middle_rows(e, x->mid, true, out);
    inputs_at(e, END);
    snw_state_copy(e->m, x->end, x->moved);
    end_rows(e, x->moved, out);
    inputs_at(e, START);
    start_rows(e, x->start, out);
}

// ---- derivatives --------------------------------------------------------------------------------

static double *entry(const adjoint_hard *x, double *A, int row, int column) {
    return A + (size_t)x->l.n * (size_t)column + (size_t)row;
}

// Derivatives of the equations at a state along its configuration (of = 0), or of the work there
// along velocities (1), by differences; to (n x nv) += them. stage: which equations
static void add_differences(evaluation *e, int stage, const snw_state *at, int of, double *to) {
    const snw_model *m = e->m;
    adjoint_hard *x = e->x;
    double *unit = x->line + 4 * m->nv, *out = x->sample;
    snw_state *s = x->moved;
    inputs_at(e, stage);
    e->slips = true;
    for (int k = 0; k < m->nv; k++) {
        const double step = (of ? move_rate : move_place) * m->typical[k];
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            const double weight = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
            snw_state_copy(m, at, s);
            memset(unit, 0, (size_t)m->nv * sizeof *unit);
            unit[k] = j * step;
            if (of == 0) snw_move(m, at->q, 1, unit, s->q);
            if (of == 1) s->v[k] += unit[k];
            memset(out, 0, (size_t)x->l.n * sizeof *out);
            if (stage == MIDDLE) middle_rows(e, s, false, out);
            if (stage == END) end_rows(e, s, out);
            if (stage == START) start_rows(e, s, out);
            double *column = entry(x, to, 0, k);
            for (int i = 0; i < x->l.n; i++) {
                if (of == 0 || i == x->l.energy + BY_MIDDLE) column[i] += weight * out[i];
            }
        }
    }
    e->slips = false;
}

// Rows `row`, `row` + 1 of A (n x nv) <- by_u times them
static void turn_rows(const adjoint_hard *x, int nv, int row, double by_u[2][2], double *A) {
    for (int k = 0; k < nv; k++) {
        double *at = entry(x, A, row, k);
        const double u[2] = {at[0], at[1]};
        for (int j = 0; j < 2; j++) at[j] = by_u[j][0] * u[0] + by_u[j][1] * u[1];
    }
}

// Row `row` of A (n x nv) += c x
static void add_row(const adjoint_hard *x, int nv, int row, double c, const double *from,
                    double *A) {
    for (int k = 0; k < nv; k++) *entry(x, A, row, k) += c * from[k];
}

// F of the middle by its configuration, rates and accelerations, with the tangents of the residual;
// columns of J by lambda and P.
static void find_middle(snw_adjoint *a, evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    a->half = 0;
    adjoint_tangents(a, adjoint_hard_time(e->map, MIDDLE), x->mid, false);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, a->w, k);
        for (int i = 0; i < nv; i++)
            *entry(x, x->J, l->d + i, l->lambda + k) -= a->C[(size_t)nv * (size_t)k + (size_t)i];
        if (c.slip_dof >= 0) *entry(x, x->J, l->d + c.slip_dof, l->lambda + k) += c.slip;
    }
    adjoint_fix_rates(a, x->mid);
    for (int k = 0; k < nv; k++) {
        const size_t at = (size_t)nv * (size_t)k;
        for (int i = 0; i < nv; i++) {
            *entry(x, x->F[Q_MID], l->d + i, k) += a->K[at + (size_t)i];
            *entry(x, x->F[V_MID], l->d + i, k) += a->D[at + (size_t)i];
            *entry(x, x->F[A_MID], l->d + i, k) += a->M[at + (size_t)i];
        }
    }
    if (l->nclosed > 0 || l->energy >= 0) add_differences(e, MIDDLE, x->mid, 0, x->F[Q_MID]);
    if (l->energy >= 0) add_differences(e, MIDDLE, x->mid, 1, x->F[V_MID]); // works
    inputs_at(e, MIDDLE);
    snw_kinematics(m, e->in, x->mid, false, e->w);
    snw_jacobian_pass(m, e->w);
    for (int i = 0, k = 0, turned = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->in_step == SNW_HARD_OPEN) continue;
        const contact_place at = place_contact(m, e->w, &c->at, &x->tangent[2 * i], x->G);
        double mu[2], row[2], by_u[2][2];
        const int P = l->P + 3 * k++;
        friction_rows(c->in_step, &e->x->idle[2 * i], friction_of(m, &c->at, mu), c->P, at.u + 1,
                      row, by_u);
        for (int j = 0; j < 3; j++) {
            for (int n = 0; n < nv; n++) *entry(x, x->J, l->d + n, P + j) -= x->G[j * nv + n];
        }
        for (int j = 0; j < 2; j++) {
            for (int n = 0; n < 2; n++)
                add_row(x, nv, P + 1 + j, by_u[j][n], x->G + (1 + n) * nv, x->F[V_MID]);
            if (c->in_step == SNW_HARD_STICKS && mu[j] > 0 && !x->idle[2 * i + j]) continue;
            *entry(x, x->J, P + 1 + j, P + 1 + j) += 1;
            *entry(x, x->J, P + 1 + j, P) += (row[j] - c->P[1 + j]) / c->P[0];
        }
        turn_rows(x, nv, P + 1, by_u, x->F[Q_MID]);
        for (int j = 1; j < 3 && l->energy >= 0; j++) {
            *entry(x, x->J, l->energy + BY_FRICTION, P + j) -= e->h * at.u[j];
            add_row(x, nv, l->energy + BY_FRICTION, -e->h * c->P[j], x->G + j * nv, x->F[V_MID]);
        }
        if (!(hypot(c->P[1], c->P[2]) > 0)) continue;
        for (int j = 0; j < 3; j++) {
            *entry(x, x->J, l->S + 3 * turned + j, l->S + 3 * turned + j) += 1;
            for (int n = 1; n < 3; n++)
                *entry(x, x->J, l->S + 3 * turned + j, P + n) -= at.axis[n].e[j];
        }
        turned++;
    }
}

// Row of an energy by velocities v: c M v
static void add_momentum(const adjoint_hard *x, int nv, int row, double c, const double *v,
                         int column) {
    for (int k = 0; k < nv; k++)
        *entry(x, x->J, row, column + k) +=
            c * snw_vector_dot(nv, x->M + (size_t)nv * (size_t)k, v);
}

// Columns of J of the turned forces P', S and of P in their equations
static void turned_columns(const adjoint_hard *x, const contact_place *at,
                           const snw_hard_step_contact *c, int P, int turned) {
    const layout *l = &x->l;
    const double *S = x->value + l->S + 3 * turned, size = hypot(c->P[1], c->P[2]);
    double f[2], raw[2];
    turned_force(at, S, size, f);
    for (int j = 0; j < 2; j++)
        raw[j] =
            at->axis[1 + j].e[0] * S[0] + at->axis[1 + j].e[1] * S[1] + at->axis[1 + j].e[2] * S[2];
    const double length = hypot(raw[0], raw[1]);
    for (int j = 0; j < 2; j++) {
        const int row = l->P1 + 2 * turned + j;
        *entry(x, x->J, row, row) += 1;
        for (int n = 0; n < 3; n++) { // size raw/|raw|
            double by = 0;
            for (int i = 0; i < 2; i++)
                by += ((i == j) - f[j] * f[i] / (size * size)) * at->axis[1 + i].e[n];
            *entry(x, x->J, row, l->S + 3 * turned + n) -= size / length * by;
        }
        for (int n = 1; n < 3; n++) *entry(x, x->J, row, P + n) -= f[j] / size * c->P[n] / size;
    }
}

// Columns of J of contacts at the end of the step, their rows in e->w.
static void contact_columns(const snw_adjoint *a, evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    for (int i = 0, closed = 0, held = 0, turned = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const contact_place at = place_contact(m, e->w, &c->at, &x->tangent[2 * i + 1], x->G);
        const double restitution = m->contact[snw_hard_law(m, &c->at)].restitution;
        const bool is_closed = c->in_step != SNW_HARD_OPEN;
        const bool is_turned = is_closed && hypot(c->P[1], c->P[2]) > 0;
        const int P = l->P + 3 * closed, A = l->A + bounced;
        for (int n = 0; n < nv && is_closed; n++) {
            *entry(x, x->J, l->v1 + n, P) += e->h * x->G[n];
            for (int j = 0; j < 2 && is_turned; j++)
                *entry(x, x->J, l->v1 + n, l->P1 + 2 * turned + j) += e->h * x->G[(1 + j) * nv + n];
        }
        if (is_turned) turned_columns(x, &at, c, P, turned++);
        closed += is_closed;
        if (c->bounces) {
            *entry(x, x->J, A, A) += 1;
            for (int n = 0; n < nv && c->closes; n++) *entry(x, x->J, A, l->v + n) -= x->G[n];
            bounced++;
        }
        if (c->in_impulse == SNW_HARD_OPEN) continue;
        const int p = l->p + 3 * held++;
        double mu[2], row[2], by_u[2][2];
        friction_rows(c->in_impulse, &e->x->idle[2 * i], friction_of(m, &c->at, mu), c->p, at.u + 1,
                      row, by_u);
        for (int j = 0; j < 3; j++) {
            for (int n = 0; n < nv; n++) *entry(x, x->J, l->v1 + n, p + j) -= x->G[j * nv + n];
        }
        for (int n = 0; n < nv; n++) *entry(x, x->J, p, l->v1 + n) += x->G[n];
        if (c->bounces) *entry(x, x->J, p, A) += restitution;
        turn_rows(x, nv, p + 1, by_u, x->F[Q_END]);
        for (int j = 0; j < 2; j++) {
            for (int k = 0; k < 2; k++) {
                for (int n = 0; n < nv; n++)
                    *entry(x, x->J, p + 1 + j, l->v1 + n) += by_u[j][k] * x->G[(1 + k) * nv + n];
            }
            if (c->in_impulse == SNW_HARD_STICKS && mu[j] > 0 && !x->idle[2 * i + j]) continue;
            *entry(x, x->J, p + 1 + j, p + 1 + j) += 1;
            *entry(x, x->J, p + 1 + j, p) += (row[j] - c->p[1 + j]) / c->p[0];
        }
    }
}

// Columns of J of a scaling: equations `row` of the velocities at `to`, from those at `from`, which
// are v; without a place they are those of the path, and to_path (n x nv) gets the columns.
static void scaling_columns(evaluation *e, const snw_hard_scaling *by, int factor, int to, int from,
                            const double *v, double *path) {
    const snw_model *m = e->m;
    const adjoint_hard *x = e->x;
    const int nv = m->nv;
    double *column = e->x->line + 4 * nv;
    for (int k = 0; k < nv; k++) *entry(x, x->J, to + k, to + k) += 1;
    for (int k = 0; k < nv; k++)
        *(path ? entry(x, path, to + k, k) : entry(x, x->J, to + k, from + k)) -= by->factor;
    snw_state *s = x->moved;
    snw_state_copy(m, x->end, s);
    for (int k = 0; k < nv && by->carried; k++) { // it is linear in the velocities
        memset(s->v, 0, (size_t)nv * sizeof *s->v);
        memset(column, 0, (size_t)nv * sizeof *column);
        s->v[k] = 1;
        add_carried(e, s, by->factor - 1, column);
        for (int i = 0; i < nv; i++)
            *(path ? entry(x, path, to + i, k) : entry(x, x->J, to + i, from + k)) += column[i];
    }
    if (factor < 0) return;
    memset(column, 0, (size_t)nv * sizeof *column);
    memcpy(s->v, v, (size_t)nv * sizeof *v);
    if (by->carried) add_carried(e, s, 1, column);
    for (int i = 0; i < nv; i++) *entry(x, x->J, to + i, factor) += column[i] - v[i];
}

// Columns of J of the energies in the equations of the factors
static void energy_columns(evaluation *e) {
    const adjoint_hard *x = e->x;
    const layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = e->m->nv, E = l->energy;
    for (int k = 0; k < ENERGIES; k++) *entry(x, x->J, E + k, E + k) += 1;
    if (l->s >= 0) {
        add_momentum(x, nv, l->s, 1, r->v, l->v);
        for (int k = 0; k < ENERGIES; k++) *entry(x, x->J, l->s, E + k) += k == BY_GAP ? 1 : -1;
    }
    if (l->s2 >= 0) {
        add_momentum(x, nv, l->s2, 1, e->map->s.v, l->v2);
        *entry(x, x->J, l->s2, E + BY_MIDDLE) -= 1;
        *entry(x, x->J, l->s2, E + BY_GRAVITY) -= 1;
        *entry(x, x->J, l->s2, E + BY_START) -= 1;
        if (r->taken) {
            *entry(x, x->J, l->s2, E + BY_FRICTION) -= 1;
            *entry(x, x->J, l->s2, E + BY_GAP) += 1;
            add_momentum(x, nv, l->s2, -1, r->v1, l->v1);
            add_momentum(x, nv, l->s2, 1, r->v, l->v);
        }
    }
}

// The gaps of closed contacts at both ends of the step in the energies, by P: g_1 is zero.
static void gap_columns(evaluation *e) {
    const adjoint_hard *x = e->x;
    const snw_hard_step *r = e->map->hard;
    inputs_at(e, START);
    snw_kinematics(e->m, e->in, x->start, false, e->w);
    for (int i = 0, k = 0; i < r->n; i++) {
        if (r->contact[i].in_step == SNW_HARD_OPEN) continue;
        const contact_place at = place_contact(e->m, e->w, &r->contact[i].at, NULL, NULL);
        *entry(x, x->J, x->l.energy + BY_GAP, x->l.P + 3 * k++) -= at.gap;
    }
}

// F of the end by its configuration and the velocities of the path; columns of J.
static void find_end(snw_adjoint *a, evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    add_differences(e, END, x->end, 0, x->F[Q_END]);
    inputs_at(e, END);
    scaling_columns(e, &r->scaling[0], l->s, l->v, -1, x->end->v, x->F[V_END]);
    scaling_columns(e, &r->scaling[1], l->s2, l->v2, l->v1, r->v1, NULL);
    snw_mass_matrix(m, e->in, x->end, e->w, x->M);
    if (l->energy >= 0) energy_columns(e);
    for (int k = 0; k < nv; k++) {
        for (int i = 0; i < nv; i++) {
            const double by = r->velocities ? x->M[nv * k + i] : (i == k);
            *entry(x, x->J, l->v1 + i, l->v1 + k) += by;
            *entry(x, x->J, l->v1 + i, l->v + k) -= by;
        }
    }
    if (!r->velocities) {
        return;
    }
    snw_state *s = x->moved;
    snw_state_copy(m, x->end, s);
    memcpy(s->v, r->v1, (size_t)nv * sizeof *s->v);
    snw_kinematics(m, e->in, s, false, e->w);
    snw_jacobian_pass(m, e->w);
    if (m->nconstraint > 0) snw_constraints_jacobian(m, e->w);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, e->w, k);
        for (int j = 0; j < c.n; j++) {
            *entry(x, x->J, l->impulse + k, l->v1 + c.dof[j]) += c.C[j];
            *entry(x, x->J, l->v1 + c.dof[j], l->impulse + k) -= c.C[j];
        }
    }
    contact_columns(a, e);
}

// by_place, by_rate: columns of the state before, directly
static void find_start(snw_adjoint *a, evaluation *e) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const snw_hard_step *r = e->map->hard;
    const int nv = m->nv;
    if (l->energy < 0 && l->nbounce == 0) return;
    add_differences(e, START, x->start, 0, x->by_place);
    inputs_at(e, START);
    if (l->energy >= 0) {
        snw_mass_matrix(m, e->in, x->start, e->w, x->M);
        for (int k = 0; k < nv; k++)
            *entry(x, x->by_rate, l->energy + BY_START, k) -=
                snw_vector_dot(nv, x->M + (size_t)nv * (size_t)k, x->start->v);
        gap_columns(e);
    }
    snw_kinematics(m, e->in, x->start, false, e->w);
    snw_jacobian_pass(m, e->w);
    for (int i = 0, bounced = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (!c->bounces) continue;
        const int A = l->A + bounced++;
        if (c->closes) continue;
        (void)place_contact(m, e->w, &c->at, NULL, x->G);
        add_row(x, nv, A, -1, x->G, x->by_rate);
    }
}

// by_h, by_t <- derivatives of the equations by the length of the step and by time, by differences
static void find_times(evaluation *e) {
    adjoint_hard *x = e->x;
    const double time = 0.05 * e->map->h, length = move_length * e->map->h;
    memset(x->by_h, 0, (size_t)x->l.n * sizeof *x->by_h);
    memset(x->by_t, 0, (size_t)x->l.n * sizeof *x->by_t);
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double weight = j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1];
        e->shift = j * time;
        all_rows(e, x->sample);
        e->shift = 0;
        for (int i = 0; i < x->l.n; i++) x->by_t[i] += weight / time * x->sample[i];
        e->h = e->map->h + j * length;
        place_states(e->m, x, e->map, e->h);
        all_rows(e, x->sample);
        for (int i = 0; i < x->l.n; i++) x->by_h[i] += weight / length * x->sample[i];
        e->h = e->map->h;
        place_states(e->m, x, e->map, e->h);
    }
}

// x->tangent, x->idle <- those of the step taken
static void find_tangents(evaluation *e) {
    adjoint_hard *x = e->x;
    const int nv = e->m->nv;
    for (int i = 0; i < 2 * e->map->hard->n; i++) x->idle[i] = true;
    for (int stage = MIDDLE; stage <= END; stage++) {
        inputs_at(e, stage);
        snw_kinematics(e->m, e->in, stage == MIDDLE ? x->mid : x->end, false, e->w);
        snw_jacobian_pass(e->m, e->w);
        for (int i = 0; i < e->map->hard->n; i++) {
            const snw_hard_contact *c = &e->map->hard->contact[i].at;
            x->tangent[2 * i + stage] = place_contact(e->m, e->w, c, NULL, x->G).axis[1];
            for (int j = 0; j < 2; j++) {
                const double *G = x->G + (1 + j) * nv;
                double size = 0; // at typical velocities, of the length of the robot
                for (int k = 0; k < nv; k++) size += fabs(G[k]) * e->m->typical[k];
                if (size > immobile * e->m->length) x->idle[2 * i + j] = false;
            }
        }
    }
}

static bool times_vary(const adjoint_hard *x, const snw_map *map) {
    return x->l.h >= 0 || adjoint_moves(map);
}

// ---- matrix -------------------------------------------------------------------------------------

static snw_status refuse(const snw_adjoint *a, const snw_map *map, const snw_hard_contact *c,
                         const char *why, snw_error *err) {
    const snw_model *m = a->m;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the hard contact '%s' of link '%s' %s",
                    map->s.t, m->label.contact[m->contact[snw_hard_law(m, c)].of].name,
                    snw_hard_link(m, c, 0), why);
}

static snw_status check_contacts(const snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_hard_step *r = map->hard;
    int closing = 0;
    for (int i = 0; i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        if (c->unclear) return refuse(a, map, &c->at, c->unclear, err);
        closing += c->closes;
        if (closing > 1)
            return refuse(a, map, &c->at, "closes at the same instant as another", err);
    }
    return SNW_OK;
}

static bool is_regular(adjoint_hard *x) {
    bool ok = snw_lu_factor(x->l.n, x->J, x->pivot) == SNW_OK;
    for (int k = 0; k < x->l.n && ok; k++) ok = fabs(*entry(x, x->J, k, k)) > singular;
    return ok;
}

// J += a small compliance of closed contacts that stick, and of all normal forces
static void add_compliance(adjoint_hard *x, const snw_map *map) {
    int closed = 0, held = 0;
    for (int i = 0; i < map->hard->n; i++) {
        const snw_hard_step_contact *c = &map->hard->contact[i];
        for (int j = 0; j < 3 && c->in_step != SNW_HARD_OPEN; j++) {
            const int at = x->l.P + 3 * closed + j;
            if (j == 0 || c->in_step == SNW_HARD_STICKS) *entry(x, x->J, at, at) += compliance;
        }
        for (int j = 0; j < 3 && c->in_impulse != SNW_HARD_OPEN; j++) {
            const int at = x->l.p + 3 * held + j;
            if (j == 0 || c->in_impulse == SNW_HARD_STICKS) *entry(x, x->J, at, at) += compliance;
        }
        closed += c->in_step != SNW_HARD_OPEN;
        held += c->in_impulse != SNW_HARD_OPEN;
    }
}

// Factors of J with its rows and columns scaled
static snw_status factor(snw_adjoint *a, const snw_map *map, snw_error *err) {
    adjoint_hard *x = a->hard;
    const int n = x->l.n;
    double *rows = x->scale, *columns = x->scale + n;
    for (int i = 0; i < n; i++) rows[i] = 0;
    for (int k = 0; k < n; k++) {
        double most = 0;
        for (int i = 0; i < n; i++) most = fmax(most, fabs(*entry(x, x->J, i, k)));
        columns[k] = most > 0 ? 1 / most : 1;
        for (int i = 0; i < n; i++)
            rows[i] = fmax(rows[i], fabs(*entry(x, x->J, i, k)) * columns[k]);
    }
    for (int i = 0; i < n; i++) rows[i] = rows[i] > 0 ? 1 / rows[i] : 1;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) *entry(x, x->J, i, k) *= rows[i] * columns[k];
    }
    memcpy(x->kept, x->J, (size_t)n * (size_t)n * sizeof *x->J);
    x->off = -1;
    x->redundant = !is_regular(x);
    if (!x->redundant) return SNW_OK;
    memcpy(x->J, x->kept, (size_t)n * (size_t)n * sizeof *x->J);
    add_compliance(x, map);
    if (is_regular(x)) return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the matrix of the step is singular",
                    map->s.t);
}

snw_status adjoint_hard_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    if (hard_open(a, map) != SNW_OK) return snw_fail_memory(err);
    SNW_TRY(check_contacts(a, map, err));
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const size_t n = (size_t)l->n, nv = (size_t)m->nv;
    snw_sampler *own = &a->clock;
    evaluation e = {
        .m = m, .in = own->in, .w = own->w, .still = own->still, .x = x, .map = map, .h = map->h};
    memset(x->J, 0, n * n * sizeof *x->J);
    for (int k = 0; k < OUTPUTS; k++) memset(x->F[k], 0, n * nv * sizeof(double));
    memset(x->by_place, 0, n * nv * sizeof(double));
    memset(x->by_rate, 0, n * nv * sizeof(double));
    memset(x->value, 0, n * sizeof(double));
    place_states(m, x, map, map->h);
    find_path_slopes(a, map, own->s, own->still);
    find_tangents(&e);
    all_rows(&e, x->sample); // S and A
    for (int i = l->S; i < l->P1; i++) x->value[i] = -x->sample[i];
    for (int i = l->A; i < l->v1; i++) x->value[i] = -x->sample[i];
    all_rows(&e, x->base);
    find_middle(a, &e);
    find_end(a, &e);
    find_start(a, &e);
    double *J_d = x->J; // columns of d come first
    for (int out = 0; out < A_END; out++) {
        add_chain(a, map, l->n, x->F[out], out, BY_D, J_d);
        add_chain(a, map, l->n, x->F[out], out, BY_PLACE, x->by_place);
        add_chain(a, map, l->n, x->F[out], out, BY_RATE, x->by_rate);
    }
    if (times_vary(x, map)) find_times(&e);
    for (int i = 0; i < l->n && l->h >= 0; i++) *entry(x, x->J, i, l->h) = x->by_h[i];
    return factor(a, map, err);
}

// x <- inv(J') x
static void solve_transposed(const adjoint_hard *h, double *x) {
    const int n = h->l.n;
    const double *rows = h->scale, *columns = h->scale + n;
    for (int i = 0; i < n; i++) x[i] *= columns[i];
    snw_lu_solve_transposed(n, h->J, h->pivot, x);
    for (int i = 0; i < n; i++) x[i] *= rows[i];
}

// h->right <- b - J x, scaled; returns its largest entry, *worst <- which
static double remainder_of(adjoint_hard *h, const double *b, const double *x, int *worst) {
    const int n = h->l.n;
    double most = 0;
    memcpy(h->right, b, (size_t)n * sizeof *b);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) h->right[i] -= *entry(h, h->kept, i, k) * x[k];
    }
    for (int i = 0; i < n; i++) {
        if (!(fabs(h->right[i]) <= most)) most = fabs(h->right[i]), *worst = i;
    }
    return most;
}

// x <- inv(J) x. Of contacts that hold the robot more than once the forces are not unique: with a
// small compliance, whose effect is removed by refinement; h->off tells what they do not allow.
static void solve(adjoint_hard *h, double *x) {
    const int n = h->l.n;
    const double *rows = h->scale, *columns = h->scale + n;
    double *b = h->sample, size = 0;
    int worst = 0;
    for (int i = 0; i < n; i++) b[i] = x[i] * rows[i], x[i] = 0, size = fmax(size, fabs(b[i]));
    memcpy(h->right, b, (size_t)n * sizeof *b);
    double left = size;
    for (int k = 0; k < (h->redundant ? REFINEMENTS : 1) && left > 1e-14 * size; k++) {
        snw_lu_solve(n, h->J, h->pivot, h->right);
        for (int i = 0; i < n; i++) x[i] += h->right[i];
        if (h->redundant) left = remainder_of(h, b, x, &worst);
    }
    if (h->redundant && !(left <= consistent * size)) h->off = worst;
    for (int i = 0; i < n; i++) x[i] *= columns[i];
}

// y (nv) += (slope of an output by an input)'x, or without transposition
static void apply_path(const snw_adjoint *a, const snw_map *map, int out, int in, bool transposed,
                       const double *x, double *y) {
    const snw_model *m = a->m;
    const double plain = plain_slope(map->hard->theta, a->hard->h, out, in);
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        for (int k = 0; k < b->n; k++) {
            if (b->space == SNW_SPACE_RN) {
                y[b->dof + k] += plain * x[b->dof + k];
                continue;
            }
            const double *S = lie_matrix(a->hard, m, out, in, b->lie_block);
            for (int j = 0; j < b->n; j++)
                y[b->dof + k] += (transposed ? S[6 * k + j] : S[6 * j + k]) * x[b->dof + j];
        }
    }
}

// ---- back ---------------------------------------------------------------------------------------

static void back_scalar(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const int nv = m->nv;
    snw_bars *b = &a->bars[scalar];
    double *mu = x->mu + (size_t)scalar * (size_t)l->n, *t = b->time;
    double *place = x->line, *rate = place + nv;
    const double by_acc = snw_vector_dot(nv, b->acc, x->acc_h);
    memset(mu, 0, (size_t)l->n * sizeof *mu);
    apply_path(a, map, Q_END, BY_D, true, b->place, mu + l->d);
    apply_path(a, map, A_END, BY_D, true, b->acc, mu + l->d);
    for (int i = 0; i < nv; i++) mu[l->v2 + i] = b->rate[i];
    for (int i = 0; i < m->nconstraint; i++) mu[l->lambda + i] = b->lambda[i];
    if (l->h >= 0) mu[l->h] = t[SNW_TIME_NOW] + by_acc;
    solve_transposed(x, mu);
    memset(place, 0, 2 * (size_t)nv * sizeof *place);
    apply_path(a, map, Q_END, BY_PLACE, true, b->place, place);
    apply_path(a, map, A_END, BY_PLACE, true, b->acc, place);
    apply_path(a, map, A_END, BY_RATE, true, b->acc, rate);
    for (int k = 0; k < nv; k++) {
        b->place[k] = place[k] - snw_vector_dot(l->n, entry(x, x->by_place, 0, k), mu);
        b->rate[k] = rate[k] - snw_vector_dot(l->n, entry(x, x->by_rate, 0, k), mu);
    }
    memset(b->acc, 0, 4 * (size_t)nv * sizeof *b->acc); // and the past
    memset(b->lambda, 0, (size_t)m->nconstraint * sizeof *b->lambda);
    if (!times_vary(x, map)) return;
    const double by_start = t[SNW_TIME_NOW] - snw_vector_dot(l->n, mu, x->by_t);
    const double by_length = t[SNW_TIME_NOW] + by_acc - snw_vector_dot(l->n, mu, x->by_h);
    const bool given = l->h < 0 && (map->end == SNW_END_TIME || map->end == SNW_END_GRID);
    t[SNW_TIME_NOW] = given ? by_start - by_length : by_start;
    if (given && map->end == SNW_END_GRID) t[SNW_TIME_START] += by_length;
    t[SNW_TIME_LENGTH] = 0;
}

snw_status adjoint_hard_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(adjoint_hard_prepare(a, map, err));
    if (a->hard->redundant)
        return snw_fail(err, SNW_E_SINGULAR,
                        "there is no derivative at t = %g s by the adjoint: hard contacts hold the "
                        "robot more than once, so that not all variables have one; use the "
                        "forward method, which tells",
                        map->s.t);
    for (int i = 0; i < a->nscalar; i++) back_scalar(a, map, i);
    return SNW_OK;
}

// ---- forward ------------------------------------------------------------------------------------

double adjoint_hard_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                          double before, double length) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const layout *l = &x->l;
    const int nv = m->nv;
    snw_bars *b = &a->bars[k];
    double *d = x->x, *place = x->line, *acc = place + nv;
    for (int i = 0; i < l->n; i++) d[i] = -by[i];
    for (int j = 0; j < nv; j++) {
        const double *by_place = entry(x, x->by_place, 0, j), *by_rate = entry(x, x->by_rate, 0, j);
        for (int i = 0; i < l->n; i++) d[i] -= by_place[i] * b->place[j] + by_rate[i] * b->rate[j];
    }
    for (int i = 0; i < l->n && times_vary(x, map); i++)
        d[i] -= x->by_t[i] * before + (l->h < 0 ? x->by_h[i] * length : 0);
    solve(x, d);
    if (l->h >= 0) length = d[l->h];
    memset(place, 0, 2 * (size_t)nv * sizeof *place);
    apply_path(a, map, Q_END, BY_PLACE, false, b->place, place);
    apply_path(a, map, Q_END, BY_D, false, d + l->d, place);
    apply_path(a, map, A_END, BY_PLACE, false, b->place, acc);
    apply_path(a, map, A_END, BY_RATE, false, b->rate, acc);
    apply_path(a, map, A_END, BY_D, false, d + l->d, acc);
    for (int i = 0; i < nv; i++) {
        b->place[i] = place[i];
        b->rate[i] = d[l->v2 + i];
        b->acc[i] = acc[i] + length * x->acc_h[i];
        b->pseudo[i] = b->increment[i] = b->old[i] = 0;
    }
    for (int i = 0; i < m->nconstraint; i++) b->lambda[i] = d[l->lambda + i];
    return length;
}

snw_status snw_sensitivity_check(const snw_adjoint *a, const snw_map *map, snw_error *err) {
    const adjoint_hard *x = a->hard;
    if (map->kind != SNW_MAP_HARD || x->off < 0) return SNW_OK;
    const layout *l = &x->l;
    const snw_hard_step *r = map->hard;
    const snw_hard_contact *at = r->n > 0 ? &r->contact[0].at : NULL;
    for (int i = 0, closed = 0, held = 0; i < r->n; i++) {
        const bool in_step = r->contact[i].in_step != SNW_HARD_OPEN;
        const bool in_impulse = r->contact[i].in_impulse != SNW_HARD_OPEN;
        if (in_step && (x->off - l->P) / 3 == closed && x->off >= l->P) at = &r->contact[i].at;
        if (in_impulse && (x->off - l->p) / 3 == held && x->off >= l->p) at = &r->contact[i].at;
        closed += in_step, held += in_impulse;
    }
    static const char why[] = "and others hold the robot more than once, and would open";
    if (at) return refuse(a, map, at, why, err);
    return snw_fail(err, SNW_E_SINGULAR, "there is no derivative at t = %g s", map->s.t);
}

// ---- samples ------------------------------------------------------------------------------------

void adjoint_hard_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *out) {
    evaluation e = {.m = x->m,
                    .in = x->in,
                    .w = x->w,
                    .still = x->still,
                    .x = a->hard,
                    .map = map,
                    .h = map->h,
                    .shift = x->shift};
    all_rows(&e, out);
    // less those of the step taken: energies are large, and equations that do not change are zero
    for (int i = 0; i < a->hard->l.n; i++) out[i] -= a->hard->base[i];
}

void adjoint_hard_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value) {
    const layout *l = &a->hard->l;
    double *out = a->hard->sample;
    adjoint_hard_equations(x, a, map, out);
    for (int j = 0; j < a->nscalar; j++) {
        const double *mu = a->hard->mu + (size_t)j * (size_t)l->n;
        value[j] = 0;
        for (int i = 0; i < l->n; i++) {
            if (x->stage == 0 || time_of(l, map, i) == x->stage - 1) value[j] += mu[i] * out[i];
        }
    }
}

double adjoint_hard_magnitude(const snw_adjoint *a, int scalar) {
    const double *mu = a->hard->mu + (size_t)scalar * (size_t)a->hard->l.n;
    double sum = 0;
    for (int i = 0; i < a->m->nv; i++) sum += fabs(mu[i]) * a->m->scale[i];
    return sum;
}
