// SPDX-License-Identifier: MIT
//
// Loads, active stress and efforts of laws that read signals: probes of configuration and velocity,
// integrals of expressions, and values held between instants (theory.md 3.7).
//
// A probe p is a function of the pose g and the velocity V of one segment,
//   delta p = alpha zeta + beta delta V,   zeta = J x,   delta V = (dJ + ad_V J) x + J x',
// Each signal has one such row. A law L(p) adds J' L to the forces; its tangent is a sum of
// products, (J' dL/dp) (dp/d(q, v))', one per signal.

#include "dynamics/feedback.h"

#include "dynamics/law_state.h"
#include "dynamics/tendon.h"
#include "dynamics/variable_length.h"

#include <string.h>

// Value of a signal and its derivatives alpha by the pose and beta by the velocity of its segment.
typedef struct reading {
    double value, alpha[6], beta[6];
} reading;

static void store_vec3(double *out, snw_vec3 a) { out[0] = a.x, out[1] = a.y, out[2] = a.z; }

static snw_vec3 feedback_row(snw_mat3 R, int i) {
    return (snw_vec3){{R.e[i][0], R.e[i][1], R.e[i][2]}};
}

// position: p_i varies by (R zeta_v)_i
static reading of_position(snw_se3 g, int i) {
    reading r = {.value = g.p.e[i]};
    store_vec3(r.alpha + 3, feedback_row(g.R, i));
    return r;
}

// i: qw qx qy qz rx ry rz xx .. zz
static reading feedback_of_rotation(snw_mat3 R, int i) {
    reading r = {0};
    if (i < 4) { // h' = h (0, w)/2
        const snw_quat h = snw_quat_from_mat3(R);
        const double w = h.e[0], x = h.e[1], y = h.e[2], z = h.e[3];
        const double rate[4][3] = {{-x, -y, -z}, {w, -z, y}, {z, w, -x}, {-y, x, w}};
        r.value = h.e[i];
        for (int k = 0; k < 3; k++) r.alpha[k] = 0.5 * rate[i][k];
    } else if (i < 7) { // w = T(vector) vector'
        const snw_vec3 vector = snw_so3_log(R);
        r.value = vector.e[i - 4];
        store_vec3(r.alpha, feedback_row(snw_so3_tangent_inv(vector), i - 4));
    } else { // e_a R e_b varies by row_a . (zeta x e_b) = zeta . (e_b x row_a)
        const int a = (i - 7) / 3, b = (i - 7) % 3;
        snw_vec3 axis = {{0}};
        axis.e[b] = 1;
        r.value = R.e[a][b];
        store_vec3(r.alpha, snw_cross(axis, feedback_row(R, a)));
    }
    return r;
}

// component i of a velocity v, at index `at` of the body twist: in body axes, or of R v
static reading of_velocity(snw_mat3 R, snw_vec3 v, int at, bool body, int i) {
    reading r = {0};
    if (body) {
        r.value = v.e[i];
        r.beta[at + i] = 1;
        return r;
    }
    const snw_vec3 to_world = feedback_row(R, i);
    r.value = snw_dot(to_world, v);
    store_vec3(r.beta + at, to_world);
    store_vec3(r.alpha, snw_cross(v, to_world)); // row . (zeta x v)
    return r;
}

// probe of a frame with pose g and body twist V
static reading feedback_read_frame(const snw_signal *signal, snw_se3 g, snw_twist V) {
    const int i = signal->column;
    switch (signal->reading) {
    case SNW_READ_POSITION:
        return of_position(g, i);
    case SNW_READ_ROTATION:
        return feedback_of_rotation(g.R, i);
    case SNW_READ_POSE:
        return i < 3 ? of_position(g, i) : feedback_of_rotation(g.R, i - 3);
    case SNW_READ_VELOCITY:
        return of_velocity(g.R, V.v, 3, signal->body, i);
    case SNW_READ_TWIST:
        return i < 3 ? of_velocity(g.R, V.w, 0, signal->body, i)
                     : of_velocity(g.R, V.v, 3, signal->body, i - 3);
    case SNW_READ_STRAIN: // functions of the coordinates, see below
    case SNW_READ_COORDINATE:
    case SNW_READ_RATE:
    case SNW_READ_TENDON:
    case SNW_READ_TENDON_RATE:
    case SNW_READ_TENDON_EFFORT:
    case SNW_READ_LATER:
    case SNW_READ_NEVER:
        break;
    }
    return (reading){0};
}

static reading feedback_read_probe(const snw_model *m, const snw_signal *signal,
                                   const snw_work *w) {
    if (signal->station < 0) return (reading){0};
    const int seg = m->station[signal->station].seg;
    return feedback_read_frame(signal, w->g[seg], w->V[seg]);
}

static double feedback_strain(const snw_model *m, const snw_signal *signal, const snw_inputs *in,
                              const snw_state *s) {
    const snw_station *at = &m->station[signal->station];
    const snw_strain_table *table = signal->table;
    double strain = table ? table->rest : 0;
    for (int j = 0; table && j < table->count; j++) strain += table->phi[j] * s->q[table->q + j];
    if (!table) strain = snw_rod_strain(&m->rod[at->rod], s->q, in->t, at->x).e[signal->column];
    return strain - (signal->column == SNW_STRETCH);
}

// ---- values -----------------------------------------------------------------

static double tendon_signal_value(const snw_model *m, const snw_signal *signal,
                                  const snw_inputs *in, snw_work *w) {
    snw_tendon_evaluate(m, signal->tendon, in, w);
    const snw_tendon_work *now = &w->tendon[signal->tendon];
    if (signal->is_length) return m->tendon[signal->tendon].reference - now->value;
    const snw_reading r = signal->reading;
    return r == SNW_READ_TENDON ? now->value : r == SNW_READ_TENDON_RATE ? now->rate : now->effort;
}

static double signal_value(const snw_model *m, int i, const snw_inputs *in, const snw_state *s,
                           snw_work *w) {
    const snw_signal *signal = &m->signal[i];
    switch (signal->kind) {
    case SNW_SIGNAL_PROBE: {
        if (signal->tendon >= 0) return tendon_signal_value(m, signal, in, w);
        const snw_block *axis = signal->block >= 0 ? &m->block[signal->block] : NULL;
        if (axis && signal->reading == SNW_READ_RATE) return w->is_static ? 0 : s->v[axis->dof];
        if (axis) return s->q[axis->q];
        return signal->reading == SNW_READ_STRAIN ? feedback_strain(m, signal, in, s)
                                                  : feedback_read_probe(m, signal, w).value;
    }
    case SNW_SIGNAL_STATE: // all together, snw_law_states
        return w->signal[i];
    case SNW_SIGNAL_INTEGRAL:
        if (!signal->source || in->integral_step == 0) return s->z[i];
        return s->z[i] +
               in->integral_step *
                   snw_expr_value(signal->source, (snw_at){.t = in->t, .signal = w->signal});
    case SNW_SIGNAL_SAMPLED:
    case SNW_SIGNAL_ONCE:
    case SNW_SIGNAL_CONDITION:
    case SNW_SIGNAL_CAPTURED:
        return s->z[i];
    }
    return 0;
}

void snw_feedback(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w) {
    // probes and stored values, states that depend on these, integrals that depend on all
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < m->nlive; k++) {
            const bool integral = m->signal[m->live[k]].kind == SNW_SIGNAL_INTEGRAL;
            if (integral == (part == 1))
                w->signal[m->live[k]] = signal_value(m, m->live[k], in, s, w);
        }
        if (part == 0) snw_law_states(m, in, s, w);
    }
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nload_point; i++) {
        w->load[i] = in->load[i];
        if (!snw_load_reads_signals(m, in, m->load_point[i].load)) continue;
        w->load[i] = (snw_wrench){0};
        if (*in->signal_fraction == 0) continue; // not evaluated: it may have no finite value there
        snw_load_at(m, i, at, &w->load[i]);
        w->load[i] = snw_wrench_scale(*in->signal_fraction, w->load[i]);
    }
    for (int i = 0; i < m->nstress; i++) {
        // sign of a load: subtracted from the residual
        const double fraction = *in->signal_fraction * snw_activation(in, i);
        if (m->stress[i].reads_signals && fraction != 0) snw_stress_at(m, i, at, -fraction, w->r);
    }
    for (int i = 0; i < m->nmotor; i++) {
        if (snw_motor_reads_signals(m, in, i)) snw_effort_at(m, i, at, -*in->signal_fraction, w->r);
    }
}

double snw_feedback_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                          const snw_work *w) {
    double *Q = w->signal_jacobian + (size_t)m->nlive * (size_t)m->nv, power = 0;
    const snw_at at = {.t = in->t, .signal = w->signal};
    for (int i = 0; i < m->nv; i++) Q[i] = 0;
    for (int i = 0; i < m->nstress; i++) {
        if (m->stress[i].reads_signals)
            snw_stress_at(m, i, at, *in->signal_fraction * snw_activation(in, i), Q);
    }
    for (int i = 0; i < m->nmotor; i++) {
        if (snw_motor_reads_signals(m, in, i)) snw_effort_at(m, i, at, *in->signal_fraction, Q);
    }
    for (int i = 0; i < m->nv; i++) power += Q[i] * s->v[i];
    return power;
}

// ---- derivatives ------------------------------------------------------------

void snw_signal_strain_row(const snw_model *m, const snw_signal *signal, const snw_work *w,
                           double cq, double *jacobian) {
    const snw_station *at = &m->station[signal->station];
    const snw_rod *rod = &m->rod[at->rod];
    const snw_strain_table *table = signal->table;
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    for (int j = 0; table && j < table->count; j++) jacobian[table->dof + j] = cq * table->phi[j];
    if (table) return;
    (void)snw_rod_basis(rod, at->x, at->x, first, count, phi);
    const double *p = phi;
    for (int a = 0; a < rod->na; p += count[a], a++) {
        if (rod->comp[a] != signal->column) continue;
        for (int j = 0; j < count[a]; j++) jacobian[rod->dof[a] + first[a] + j] = cq * p[j];
    }
    if (!rod->rest_varies) return;
    snw_twist rest[4];
    snw_variable_length_rest(rod, w->feed[at->rod].l, snw_rod_passing(rod, at->x), rest, NULL);
    jacobian[rod->feed] = cq * rest[1].e[signal->column];
}

void snw_signal_frame_row(const snw_signal *signal, const snw_signal_frame *at, double cq,
                          double cv, double *jacobian) {
    const snw_path *path = at->path;
    const size_t ld = (size_t)path->ld;
    const reading r = feedback_read_frame(signal, at->g, at->V);
    if (path->n == 0) return;
    const bool is_static = at->dJ == NULL;
    // coefficients of J: beta ad_V x = (ad_V' beta) x
    snw_wrench beta;
    for (int i = 0; i < 6; i++) beta.e[i] = r.beta[i];
    const snw_wrench turned = snw_ad_pull(at->V, beta);
    double a[6], b[6];
    for (int i = 0; i < 6; i++) {
        a[i] = cq * (r.alpha[i] + (is_static ? 0 : turned.e[i])) + cv * r.beta[i];
        b[i] = is_static ? 0 : cq * r.beta[i];
    }
    for (int j = 0; j < path->n; j++) {
        double sum = 0;
        for (size_t i = 0; i < 6; i++) sum += a[i] * at->J[i * ld + (size_t)j];
        for (size_t i = 0; i < 6 && !is_static; i++) sum += b[i] * at->dJ[i * ld + (size_t)j];
        jacobian[path->dof[j]] = sum;
    }
}

static void probe_jacobian(const snw_model *m, const snw_signal *signal, const snw_work *w,
                           double cq, double cv, double *jacobian) {
    if (signal->station < 0) return;
    const int seg = m->station[signal->station].seg;
    const snw_path *path = &m->path[m->seg[seg].path];
    if (path->n == 0) return;
    const snw_signal_frame at = {w->g[seg], w->V[seg], path, w->J + m->seg_store[seg],
                                 w->is_static ? NULL : w->dJ + m->seg_store[seg]};
    snw_signal_frame_row(signal, &at, cq, cv, jacobian);
}

// row k of the Jacobian of the live signals; those that its source reads are known
static void signal_jacobian(const snw_model *m, int k, const snw_inputs *in, double cq, double cv,
                            snw_work *w, double *jacobian) {
    const snw_signal *signal = &m->signal[m->live[k]];
    const size_t nv = (size_t)m->nv;
    double *own = jacobian + (size_t)k * nv;
    memset(own, 0, nv * sizeof *own);
    if (signal->tendon >= 0) {
        snw_tendon_jacobian(m, signal->tendon, signal->reading, cq, cv, w, own);
        for (size_t i = 0; signal->is_length && i < nv; i++) own[i] = -own[i];
    } else if (signal->block >= 0) {
        own[m->block[signal->block].dof] = signal->reading == SNW_READ_RATE ? cv : cq;
    } else if (signal->kind == SNW_SIGNAL_PROBE && signal->reading == SNW_READ_STRAIN) {
        snw_signal_strain_row(m, signal, w, cq, own);
    } else if (signal->kind == SNW_SIGNAL_PROBE) {
        probe_jacobian(m, signal, w, cq, cv, own);
    } else if (signal->kind == SNW_SIGNAL_INTEGRAL && signal->source && in->integral_step != 0) {
        const snw_at at = {.t = in->t, .signal = w->signal};
        for (int j = 0; j < m->nlive; j++) {
            if (j >= k && m->signal[m->live[j]].kind == SNW_SIGNAL_INTEGRAL) continue;
            const double d = snw_expr_jet_signal(signal->source, at, m->live[j]).d;
            if (d == 0) continue;
            for (size_t i = 0; i < nv; i++)
                own[i] += in->integral_step * d * jacobian[(size_t)j * nv + i];
        }
    } // signals held between instants are constant
}

// w->signal_jacobian <- cq d/dx + cv d/dx' of the live signals
static void live_jacobian(const snw_model *m, const snw_inputs *in, double cq, double cv,
                          snw_work *w) {
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < m->nlive; k++) {
            if ((m->signal[m->live[k]].kind == SNW_SIGNAL_INTEGRAL) == (part == 1))
                signal_jacobian(m, k, in, cq, cv, w, w->signal_jacobian);
        }
        if (part == 0) snw_law_states_jacobian(m, in, w, w->signal_jacobian);
    }
}

void snw_tendon_effort_row(const snw_model *m, int tendon, const snw_inputs *in, double cq,
                           double cv, snw_work *w, double *row) {
    const size_t nv = (size_t)m->nv;
    if (*in->signal_fraction == 0) return;
    live_jacobian(m, in, cq, cv, w);
    for (int k = 0; k < m->nlive; k++) {
        const double d = snw_tendon_effort_by(m, tendon, in, w, m->live[k]);
        const double *own = w->signal_jacobian + (size_t)k * nv;
        for (size_t j = 0; j < nv; j++) row[j] += d * own[j];
    }
}

static bool load_active(const snw_load *load, snw_at at) {
    return !load->when || snw_expr_value(load->when, at) != 0;
}

// Q += J' F of a wrench F at one load point, in the axes of the load
static void add_load_force(const snw_model *m, int point, snw_wrench F, const snw_work *w,
                           double *Q) {
    const snw_load_point *a = &m->load_point[point];
    const snw_path *path = &m->path[m->seg[a->seg].path];
    if (path->n == 0 || !snw_seg_is_active(m, w, a->seg)) return;
    if (!m->load[a->load].body) {
        F.m = snw_rotate_inv(w->g[a->seg].R, F.m);
        F.f = snw_rotate_inv(w->g[a->seg].R, F.f);
    }
    const double *J = w->J + m->seg_store[a->seg];
    for (int j = 0; j < path->n; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) sum += J[i * path->ld + j] * F.e[i];
        Q[path->dof[j]] += sum;
    }
}

void snw_load_force(const snw_model *m, int load, int component, const snw_work *w, double *Q) {
    for (int i = 0; i < m->nload_point; i++) {
        if (m->load_point[i].load != load) continue;
        snw_wrench F = {0};
        F.e[component] = m->load_point[i].w;
        add_load_force(m, i, F, w, Q);
    }
}

// force_d1 += J' dL/dsignal at one load point
static void load_force_derivative(const snw_model *m, int point, const snw_inputs *in,
                                  const snw_work *w, int signal, double *force_d1) {
    const snw_load_point *a = &m->load_point[point];
    const snw_load *load = &m->load[a->load];
    const snw_at at = {.t = in->t, .x = a->x, .L = a->L, .signal = w->signal};
    if (!load_active(load, at)) return;
    snw_wrench F = {0};
    for (int k = 0; k < 3; k++) {
        if (load->torque[k]) F.m.e[k] = snw_expr_jet_signal(load->torque[k], at, signal).d;
        if (load->force[k]) F.f.e[k] = snw_expr_jet_signal(load->force[k], at, signal).d;
    }
    add_load_force(m, point, snw_wrench_scale(*in->signal_fraction * a->w, F), w, force_d1);
}

static void stress_force_derivative(const snw_model *m, int stress, const snw_inputs *in,
                                    const snw_work *w, int signal, double *force_d1) {
    const snw_stress *d = &m->stress[stress];
    const snw_rod *r = &m->rod[d->rod];
    snw_at at = {.t = in->t, .L = r->L, .signal = w->signal};
    if (d->when && snw_expr_value(d->when, at) == 0) return;
    const double fraction = *in->signal_fraction * snw_activation(in, stress);
    for (int p = r->point0; p < r->point0 + r->npoint; p++) {
        const snw_point *pt = &m->point[p];
        const double *phi = m->phi + pt->phi;
        at.x = pt->x;
        for (int a = 0; a < r->na; phi += pt->count[a], a++) {
            const snw_law law = d->stress[r->comp[a]];
            if (!law) continue;
            const double s = fraction * pt->w * snw_expr_jet_signal(law, at, signal).d;
            double *to = force_d1 + r->dof[a] + pt->first[a];
            for (int j = 0; j < pt->count[a]; j++) to[j] -= s * phi[j];
        }
    }
}

static void motor_force_derivative(const snw_model *m, int motor, const snw_inputs *in,
                                   const snw_work *w, int signal, double *force_d1) {
    const snw_motor *d = &m->motor[motor];
    const snw_at at = {.t = in->t, .signal = w->signal};
    if (d->when && snw_expr_value(d->when, at) == 0) return;
    for (int k = 0; k < d->n; k++) {
        if (!d->law[k]) continue;
        force_d1[d->dof + k] += *in->signal_fraction * snw_expr_jet_signal(d->law[k], at, signal).d;
    }
}

void snw_feedback_force(const snw_model *m, const snw_inputs *in, const snw_work *w, int signal,
                        double *Q) {
    for (int i = 0; i < m->nload_point; i++) {
        if (snw_load_reads_signals(m, in, m->load_point[i].load))
            load_force_derivative(m, i, in, w, signal, Q);
    }
    for (int i = 0; i < m->nstress; i++) {
        if (m->stress[i].reads_signals) stress_force_derivative(m, i, in, w, signal, Q);
    }
    for (int i = 0; i < m->nmotor; i++) {
        if (snw_motor_reads_signals(m, in, i)) motor_force_derivative(m, i, in, w, signal, Q);
    }
    snw_tendons_signal_derivative(m, in, w, signal, Q);
}

void snw_feedback_tangent(const snw_model *m, const snw_inputs *in, double cq, double cv,
                          snw_work *w, size_t ld, double *T) {
    const size_t nv = (size_t)m->nv;
    double *force_d1 = w->signal_jacobian + (size_t)m->nlive * nv;
    if (*in->signal_fraction == 0) return;
    live_jacobian(m, in, cq, cv, w);
    for (int k = 0; k < m->nlive; k++) {
        const snw_signal *signal = &m->signal[m->live[k]];
        if (signal->kind != SNW_SIGNAL_PROBE && !snw_signal_grows(signal)) continue;
        memset(force_d1, 0, nv * sizeof *force_d1);
        snw_feedback_force(m, in, w, m->live[k], force_d1);
        const double *jacobian = w->signal_jacobian + (size_t)k * nv;
        for (size_t j = 0; j < nv; j++) {
            if (jacobian[j] == 0) continue;
            for (size_t i = 0; i < nv; i++) T[j * ld + i] -= force_d1[i] * jacobian[j];
        }
    }
}
