// SPDX-License-Identifier: MIT
//
// Steps with hard contacts, theory.md (7.5.25): with the contacts that act and their states
// (sticking, sliding, closing) held as they were, a step is a smooth implicit map. Its unknowns x
// and equations F(x; state before, t_0, h) = 0, in this order:
//
//     d            r(q_m, v_m, a_m, lambda) - G'P = 0
//     lambda       e(q_1) = 0
//     P            of closed contacts: g(q_1) = 0, then u_t = 0 or P_t + P_n mu^2 u_t/|mu u_t| = 0
//     h            of a step that ends where a contact closes: g(q_1) = 0
//     energies     work at the middle, of friction, energy at the start, of gaps there
//     s            E(q_1, v_a) = E_0 + work
//     v_a          = s v_1, or about the velocity of the centre of mass
//     S, P'        tangential forces in the world, along the axes at the end
//     A            approach of contacts that bounce
//     v_b, pi, p   M (v_b - v_a) - C'pi - G'(p - h P') = 0, e' = 0, velocities of closed contacts
//     s', v_c      the second scaling
//
// Each equation reads the laws at one time: of the middle, the end or the start of the step.
// Their derivatives are written (adjoint_hard_tangent.c), but for those of rates of constraints.
#include "study/adjoint_hard_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/chart.h"
#include "integrate/lie_block.h"
#include "math/se3_tangent.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

static const double move_length = 1e-3, // of the length of a step
    immobile = 1e-13;                   // of the length: displacement along a tangent

// ---- memory -------------------------------------------------------------------------------------

static hard_layout layout_of(const snw_model *m, const snw_map *map) {
    const snw_hard_step *r = map->hard;
    hard_layout l = {.h = -1, .energy = -1, .s = -1, .s2 = -1};
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
    if (map->kind == SNW_MAP_STATIC) { // an equilibrium has these only
        l.v = l.S = l.P1 = l.A = l.v1 = l.impulse = l.p = l.v2 = l.n = n;
        return l;
    }
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

int adjoint_hard_size(const snw_adjoint *a, const snw_map *map) { return layout_of(a->m, map).n; }

// Time of the laws of equation i.
static int time_of(const hard_layout *l, const snw_map *map, int i) {
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
        *x = (adjoint_hard){.exact = snw_part_model_applies(m, false)};
        SNW_TRY(snw_state_create(m, &x->mid));
        SNW_TRY(snw_state_create(m, &x->end));
        SNW_TRY(snw_state_create(m, &x->start));
        SNW_TRY(snw_state_create(m, &x->moved));
        SNW_TRY(snw_inputs_create(m, &x->part_in));
        SNW_TRY(snw_work_create(m, &x->part_w));
        SNW_TRY(snw_part_model_create(m, SNW_PART_CONSERVATIVE, &x->conservative));
        SNW_TRY(snw_part_model_create(m, SNW_PART_IMPULSE, &x->impulse));
        const size_t frames = (size_t)(m->nseg + m->nobs);
        x->twist = snw_alloc(frames * sizeof *x->twist);
        x->place = snw_alloc((3 * (size_t)m->ncontact_point + 1) * sizeof *x->place);
        if (!x->twist || !x->place) return SNW_E_MEMORY;
        memset(x->twist, 0, frames * sizeof *x->twist);
    }
    x->l = layout_of(m, map);
    if ((int)n <= x->room && rows <= x->numbers) return SNW_OK;
    const size_t room = n + n / 4, numbers = rows + rows / 4, ns = (size_t)a->nscalar;
    snw_free(x->memory);
    x->room = 0;
    x->memory =
        snw_alloc((5 * room * room + room + (OUTPUTS + 2) * room * nv + (10 + ns) * room +
                   room * (size_t)m->nsignal + 2 * numbers + (size_t)snw_npower(m) + nv * nv +
                   36 * OUTPUTS * INPUTS * (size_t)(m->nlie_block + 1) + 10 * nv + 2 * nr + 16) *
                      sizeof(double) +
                  2 * room * sizeof(int) + numbers * sizeof(bool));
    if (!x->memory) return SNW_E_MEMORY;
    double *at = x->memory;
    x->J = at, at += room * room;
    for (int k = 0; k < 2; k++) {
        x->block[k].A = at, at += room * room;
        x->block[k].kept = at, at += room * room;
        x->block[k].rows = at, at += room;
        x->block[k].columns = at, at += room;
    }
    x->right = at, at += room;
    for (int k = 0; k < OUTPUTS; k++) x->F[k] = at, at += room * nv;
    x->by_place = at, at += room * nv;
    x->by_rate = at, at += room * nv;
    x->by_z = at, at += room * (size_t)m->nsignal;
    x->by_h = at, at += room;
    x->by_t = at, at += room;
    x->x = at, at += room;
    x->sample = at, at += room;
    x->value = at, at += room;
    x->base = at, at += room;
    x->power = at, at += snw_npower(m);
    x->mu = at, at += ns * room;
    x->G = at, at += numbers;
    x->tangent = (snw_vec3 *)at, at += numbers;
    x->M = at, at += nv * nv;
    x->lie = at, at += 36 * OUTPUTS * INPUTS * (size_t)(m->nlie_block + 1);
    x->acc_h = at, at += nv;
    x->row = at, at += 2 * nv;
    x->line = at, at += 7 * nv + 2 * nr + 16;
    x->block[0].pivot = (int *)at;
    x->block[1].pivot = x->block[0].pivot + room;
    x->idle = (bool *)(x->block[1].pivot + room);
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
    snw_inputs_destroy(x->part_in);
    snw_work_destroy(x->part_w);
    snw_part_model_destroy(x->conservative);
    snw_part_model_destroy(x->impulse);
    snw_free(x->twist);
    snw_free(x->place);
    snw_free(x->memory);
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

// Variations of a block: of its pose before the step (own axes), of its velocity there, of d, and
// the variations of its pose in the middle (at = 0) and at the end (1) that these cause, own axes.
typedef struct block_variation {
    snw_twist zeta, v, d;
} block_variation;

static snw_twist twist_of(const snw_block *b, const double *x) {
    snw_twist t = {0};
    for (int i = 0; i < b->n; i++) t.e[i] = x[b->dof + i];
    return t;
}

// out <- variations of pose, velocity and acceleration of a free or spherical joint: R = R_0 exp(c
// d_w), p = p_0 + c d_v, with rate and acceleration in the chart and V = R'p', V' = R'p'' - w x V.
static void vary_block(const snw_model *m, const adjoint_hard *x, const snw_map *map,
                       const snw_block *b, const block_variation *by, int at, snw_twist out[3]) {
    const double theta = map->hard->theta, h = x->h, c = at ? 1 : theta;
    const snw_state *s = at ? x->end : x->mid;
    const bool moves = b->space == SNW_SPACE_SE3;
    const snw_twist d = twist_of(b, map->d), V = twist_of(b, s->v), A = twist_of(b, s->a),
                    V0 = twist_of(b, x->start->v);
    const snw_mat3 R0 = snw_so3_from_numbers(x->start->q + b->q),
                   R = snw_so3_from_numbers(s->q + b->q);
    const snw_vec3 turn = snw_scale(c, d.w);
    // in the chart: rates of rotation in body axes, of the position in the world
    snw_twist rate0 = {{.w = by->v.w}}, rate, acc, dx = snw_twist_scale(c, by->d);
    (void)m;
    rate0.v = snw_rotate(R0, snw_add(by->v.v, snw_cross(by->zeta.w, V0.v)));
    acc = snw_twist_scale(1 / (theta * h), snw_twist_sub(snw_twist_scale(1 / h, by->d), rate0));
    rate = at ? snw_twist_add(rate0, snw_twist_scale(h, acc)) : snw_twist_scale(1 / h, by->d);
    out[0] = (snw_twist){{.w = snw_add(snw_rotate(snw_so3_tangent(turn), dx.w),
                                       snw_rotate_inv(snw_so3_exp(turn), by->zeta.w))}};
    out[1] = (snw_twist){{.w = rate.w}};
    out[2] = (snw_twist){{.w = acc.w}};
    if (!moves) return;
    const snw_vec3 turned = out[0].w, own = snw_add(A.v, snw_cross(V.w, V.v)); // R'p''
    out[0].v = snw_rotate_inv(R, snw_add(snw_rotate(R0, by->zeta.v), dx.v));
    out[1].v = snw_add(snw_rotate_inv(R, rate.v), snw_cross(V.v, turned));
    out[2].v = snw_add(snw_rotate_inv(R, acc.v), snw_cross(own, turned));
    out[2].v = snw_sub(out[2].v, snw_add(snw_cross(rate.w, V.v), snw_cross(V.w, out[1].v)));
}

// x->lie <- derivatives of the path on spherical and free joints; x->acc_h: of the acceleration by
// the length of the step.
static void find_path_slopes(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const double theta = map->hard->theta, h = x->h;
    for (int i = 0; i < m->nv; i++) x->acc_h[i] = 0;
    snw_chart_from_state(m, SNW_CHART_SO3R3, x->start, x->line, x->line + m->nv);
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        double rate[6] = {0}, acc[6] = {0}; // by the length, in the chart
        for (int k = 0; k < b->n && k < 6; k++) {
            const double d = map->d[b->dof + k];
            rate[k] = -d / (theta * h * h);
            acc[k] = (x->line[b->dof + k] - 2 * d / h) / (theta * h * h);
        }
        for (int k = 0; k < b->n && b->space == SNW_SPACE_RN; k++)
            x->acc_h[b->dof + k] =
                (x->line[b->dof + k] - 2 * map->d[b->dof + k] / h) / (theta * h * h);
        if (b->space == SNW_SPACE_RN) continue;
        for (int k = 0; k < 3; k++) x->acc_h[b->dof + k] = acc[k];
        if (b->space == SNW_SPACE_SE3) {
            const snw_mat3 R = snw_so3_from_numbers(x->end->q + b->q);
            const snw_twist V = twist_of(b, x->end->v);
            const snw_vec3 dw = {{rate[0], rate[1], rate[2]}}, dv = {{rate[3], rate[4], rate[5]}},
                           da = {{acc[3], acc[4], acc[5]}};
            const snw_vec3 own =
                snw_sub(snw_rotate_inv(R, da),
                        snw_add(snw_cross(dw, V.v), snw_cross(V.w, snw_rotate_inv(R, dv))));
            for (int k = 0; k < 3; k++) x->acc_h[b->dof + 3 + k] = own.e[k];
        }
        for (int in = 0; in < INPUTS; in++) {
            for (int k = 0; k < b->n; k++) {
                block_variation by = {0};
                snw_twist out[6];
                (in == BY_PLACE ? &by.zeta : in == BY_RATE ? &by.v : &by.d)->e[k] = 1;
                vary_block(m, x, map, b, &by, 0, out);
                vary_block(m, x, map, b, &by, 1, out + 3);
                for (int i = 0; i < OUTPUTS; i++)
                    memcpy(lie_matrix(x, m, i, in, b->lie_block) + 6 * k, out[i].e,
                           6 * sizeof(double));
            }
        }
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

// ---- times and axes ---------------------------------------------------------------------------

// by_h, by_t <- derivatives of the equations by the length of the step and by time, by differences
static void find_times(hard_evaluation *e) {
    adjoint_hard *x = e->x;
    const double time = 0.05 * e->map->h, length = move_length * e->map->h;
    memset(x->by_h, 0, (size_t)x->l.n * sizeof *x->by_h);
    memset(x->by_t, 0, (size_t)x->l.n * sizeof *x->by_t);
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double weight = j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1];
        e->shift = j * time;
        hard_all_rows(e, x->sample);
        e->shift = 0;
        for (int i = 0; i < x->l.n; i++) x->by_t[i] += weight / time * x->sample[i];
        e->h = e->map->h + j * length;
        place_states(e->m, x, e->map, e->h);
        hard_all_rows(e, x->sample);
        for (int i = 0; i < x->l.n; i++) x->by_h[i] += weight / length * x->sample[i];
        e->h = e->map->h;
        place_states(e->m, x, e->map, e->h);
    }
}

// by_z <- derivatives of the equations by samples of laws, which stay in the step, by differences
static void find_memory(const snw_adjoint *a, hard_evaluation *e) {
    adjoint_hard *x = e->x;
    const snw_model *m = e->m;
    for (int k = 0; k < m->nsignal; k++) {
        double *column = hard_entry(x, x->by_z, 0, k);
        const double z = e->map->s.z[k], move = 1e-2 * adjoint_memory_size(a, e->map, k);
        memset(column, 0, (size_t)x->l.n * sizeof *column);
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES && adjoint_is_memory(m, k); j++) {
            if (j == 0) continue;
            const double weight = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / move;
            x->mid->z[k] = x->end->z[k] = x->start->z[k] = z + j * move;
            hard_all_rows(e, x->sample);
            for (int i = 0; i < x->l.n; i++) column[i] += weight * x->sample[i];
        }
        x->mid->z[k] = x->end->z[k] = x->start->z[k] = z;
    }
}

// x->tangent, x->idle <- those of the step taken
static void find_tangents(hard_evaluation *e) {
    adjoint_hard *x = e->x;
    const int nv = e->m->nv;
    for (int i = 0; i < 2 * e->map->hard->n; i++) x->idle[i] = true;
    for (int stage = MIDDLE; stage <= END; stage++) {
        hard_inputs_at(e, stage);
        snw_kinematics(e->m, e->in, stage == MIDDLE ? x->mid : x->end, false, e->w);
        snw_jacobian_pass(e->m, e->w);
        for (int i = 0; i < e->map->hard->n; i++) {
            const snw_hard_contact *c = &e->map->hard->contact[i].at;
            x->tangent[2 * i + stage] = hard_place_contact(e->m, e->w, c, NULL, x->G).axis[1];
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
                    map->s.t, snw_hard_law_name(m, snw_hard_law(m, c)), snw_hard_link(m, c, 0),
                    why);
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
        if (c->closes && map->end == SNW_END_EVENT)
            return refuse(a, map, &c->at, "closes at the same instant as a condition changes", err);
    }
    return SNW_OK;
}

snw_status adjoint_hard_begin(snw_adjoint *a, const snw_map *map, snw_error *err) {
    if (hard_open(a, map) != SNW_OK) return snw_fail_memory(err);
    return check_contacts(a, map, err);
}

snw_status adjoint_hard_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    SNW_TRY(adjoint_hard_begin(a, map, err));
    adjoint_hard *x = a->hard;
    a->dear.steps += !x->exact;
    const hard_layout *l = &x->l;
    const size_t n = (size_t)l->n, nv = (size_t)m->nv;
    snw_sampler *own = &a->clock;
    hard_evaluation e = {
        .m = m, .in = own->in, .w = own->w, .still = own->still, .x = x, .map = map, .h = map->h};
    memset(x->J, 0, n * n * sizeof *x->J);
    for (int k = 0; k < OUTPUTS; k++) memset(x->F[k], 0, n * nv * sizeof(double));
    memset(x->by_place, 0, n * nv * sizeof(double));
    memset(x->by_rate, 0, n * nv * sizeof(double));
    memset(x->value, 0, n * sizeof(double));
    place_states(m, x, map, map->h);
    find_path_slopes(a, map);
    find_tangents(&e);
    e.keeps = true;
    hard_all_rows(&e, x->sample); // S and A
    e.keeps = false;
    e.holds = true;
    for (int i = l->S; i < l->P1; i++) x->value[i] = -x->sample[i];
    for (int i = l->A; i < l->v1; i++) x->value[i] = -x->sample[i];
    hard_all_rows(&e, x->base);
    hard_find_middle(a, &e);
    hard_find_end(a, &e);
    hard_find_start(a, &e);
    double *J_d = x->J; // columns of d come first
    for (int out = 0; out < A_END; out++) {
        add_chain(a, map, l->n, x->F[out], out, BY_D, J_d);
        add_chain(a, map, l->n, x->F[out], out, BY_PLACE, x->by_place);
        add_chain(a, map, l->n, x->F[out], out, BY_RATE, x->by_rate);
    }
    if (times_vary(x, map)) find_times(&e);
    if (a->remembers) find_memory(a, &e);
    for (int i = 0; i < l->n && l->h >= 0; i++) *hard_entry(x, x->J, i, l->h) = x->by_h[i];
    e.w->span_held = NULL;
    if (hard_factor(x, map)) return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the matrix of the step is singular",
                    map->s.t);
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

// First unknown of the force that frames show of contact i, which is its impulse over the length of
// the step, or its force in an equilibrium; -1: none. *held: contacts before it that have one
static int force_at(const adjoint_hard *x, const snw_map *map, int i, int *held) {
    const snw_hard_step_contact *c = &map->hard->contact[i];
    const bool step = map->kind == SNW_MAP_HARD;
    if ((step ? c->in_impulse : c->in_step) == SNW_HARD_OPEN) return -1;
    return (step ? x->l.p : x->l.P) + 3 * (*held)++;
}

double adjoint_hard_take_forces(const snw_adjoint *a, const snw_map *map, int scalar, double *mu) {
    double *touch = a->bars[scalar].touch, by_length = 0;
    const double h = map->kind == SNW_MAP_HARD ? map->h : 1;
    for (int i = 0, held = 0; i < map->hard->n; i++) {
        const int at = force_at(a->hard, map, i, &held);
        for (int j = 0; j < 3 && at >= 0; j++) {
            mu[at + j] += touch[3 * i + j] / h;
            by_length -= touch[3 * i + j] * map->hard->contact[i].p[j] / (h * h);
        }
    }
    memset(touch, 0, 3 * (size_t)snw_hard_most(a->m) * sizeof *touch);
    return by_length;
}

void adjoint_hard_keep_forces(const snw_adjoint *a, const snw_map *map, int k, double length) {
    double *touch = a->bars[k].touch;
    const double h = map->kind == SNW_MAP_HARD ? map->h : 1;
    for (int i = 0, held = 0; i < map->hard->n; i++) {
        const int at = force_at(a->hard, map, i, &held);
        for (int j = 0; j < 3; j++)
            touch[3 * i + j] =
                at < 0 ? 0 : a->hard->x[at + j] / h - length * map->hard->contact[i].p[j] / (h * h);
    }
}

static void back_scalar(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const int nv = m->nv;
    snw_bars *b = &a->bars[scalar];
    double *mu = x->mu + (size_t)scalar * (size_t)l->n, *t = b->time;
    double *place = x->line, *rate = place + nv;
    double by_acc = snw_vector_dot(nv, b->acc, x->acc_h);
    memset(mu, 0, (size_t)l->n * sizeof *mu);
    apply_path(a, map, Q_END, BY_D, true, b->place, mu + l->d);
    apply_path(a, map, A_END, BY_D, true, b->acc, mu + l->d);
    for (int i = 0; i < nv; i++) mu[l->v2 + i] = b->rate[i];
    for (int i = 0; i < m->nconstraint; i++) mu[l->lambda + i] = b->lambda[i];
    if (m->hard) by_acc += adjoint_hard_take_forces(a, map, scalar, mu);
    if (l->h >= 0) mu[l->h] = t[SNW_TIME_NOW] + by_acc;
    hard_solve_transposed(x, mu);
    memset(place, 0, 2 * (size_t)nv * sizeof *place);
    apply_path(a, map, Q_END, BY_PLACE, true, b->place, place);
    apply_path(a, map, A_END, BY_PLACE, true, b->acc, place);
    apply_path(a, map, A_END, BY_RATE, true, b->acc, rate);
    for (int k = 0; k < nv; k++) {
        b->place[k] = place[k] - snw_vector_dot(l->n, hard_entry(x, x->by_place, 0, k), mu);
        b->rate[k] = rate[k] - snw_vector_dot(l->n, hard_entry(x, x->by_rate, 0, k), mu);
    }
    for (int k = 0; k < m->nsignal && a->remembers; k++)
        b->z[k] -= snw_vector_dot(l->n, hard_entry(x, x->by_z, 0, k), mu);
    memset(b->acc, 0, 4 * (size_t)nv * sizeof *b->acc); // and the past
    memset(b->lambda, 0, (size_t)m->nconstraint * sizeof *b->lambda);
    if (!times_vary(x, map)) return;
    const double by_start = t[SNW_TIME_NOW] - snw_vector_dot(l->n, mu, x->by_t);
    const double by_length = t[SNW_TIME_NOW] + by_acc - snw_vector_dot(l->n, mu, x->by_h);
    const bool given = l->h < 0 && (map->end == SNW_END_TIME || map->end == SNW_END_GRID);
    t[SNW_TIME_NOW] = given ? by_start - by_length : by_start;
    if (given && map->end == SNW_END_GRID) t[SNW_TIME_START] += by_length;
    t[SNW_TIME_LENGTH] = 0;
    a->by_free[scalar] = by_length;
}

snw_status adjoint_hard_refuse_redundant(const snw_adjoint *a, const snw_map *map, snw_error *err) {
    if (!hard_is_redundant(a->hard)) return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s by the adjoint: hard contacts hold the "
                    "robot more than once, so that not all variables have one; use the "
                    "forward method, which tells",
                    map->s.t);
}

snw_status adjoint_hard_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(adjoint_hard_prepare(a, map, err));
    SNW_TRY(adjoint_hard_refuse_redundant(a, map, err));
    for (int i = 0; i < a->nscalar; i++) back_scalar(a, map, i);
    return SNW_OK;
}

// ---- forward ------------------------------------------------------------------------------------

double adjoint_hard_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                          double before, double length) {
    const snw_model *m = a->m;
    adjoint_hard *x = a->hard;
    const hard_layout *l = &x->l;
    const int nv = m->nv;
    snw_bars *b = &a->bars[k];
    double *d = x->x, *place = x->line, *acc = place + nv;
    for (int i = 0; i < l->n; i++) d[i] = -by[i];
    for (int j = 0; j < nv; j++) {
        const double *by_place = hard_entry(x, x->by_place, 0, j),
                     *by_rate = hard_entry(x, x->by_rate, 0, j);
        for (int i = 0; i < l->n; i++) d[i] -= by_place[i] * b->place[j] + by_rate[i] * b->rate[j];
    }
    for (int j = 0; j < m->nsignal && a->remembers; j++) {
        const double *by_z = hard_entry(x, x->by_z, 0, j);
        for (int i = 0; i < l->n && b->z[j] != 0; i++) d[i] -= by_z[i] * b->z[j];
    }
    for (int i = 0; i < l->n && times_vary(x, map); i++)
        d[i] -= x->by_t[i] * before + (l->h < 0 ? x->by_h[i] * length : 0);
    hard_solve(x, d);
    if (l->h >= 0) length = d[l->h];
    if (m->hard) adjoint_hard_keep_forces(a, map, k, length);
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

const snw_state *adjoint_hard_middle(const snw_adjoint *a) { return a->hard->mid; }

void adjoint_hard_add_force(const snw_adjoint *a, const snw_map *map, const double *G, double *by) {
    const adjoint_hard *x = a->hard;
    const int nv = a->m->nv;
    for (int i = 0; i < nv; i++) by[x->l.d + i] -= G[i];
    if (x->l.energy >= 0) by[x->l.energy + BY_MIDDLE] -= map->h * snw_vector_dot(nv, x->mid->v, G);
}

snw_status snw_sensitivity_check(const snw_adjoint *a, const snw_map *map, snw_error *err) {
    const adjoint_hard *x = a->hard;
    if (!map->hard || x->off < 0) return SNW_OK;
    const hard_layout *l = &x->l;
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
    hard_evaluation e = {.m = x->m,
                         .in = x->in,
                         .w = x->w,
                         .still = x->still,
                         .x = a->hard,
                         .map = map,
                         .h = map->h,
                         .shift = x->shift,
                         .holds = true};
    hard_all_rows(&e, out);
    // less those of the step taken: energies are large, and equations that do not change are zero
    for (int i = 0; i < a->hard->l.n; i++) out[i] -= a->hard->base[i];
}

void adjoint_hard_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value) {
    const hard_layout *l = &a->hard->l;
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
