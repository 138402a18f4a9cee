// SPDX-License-Identifier: MIT
//
// Initial coordinates and velocities q0, v0: rods start at rest in their rest shape, joints at
// zero, unless `initial` says otherwise. Strain fields are projected on the bases by least squares
// along the rod. Driven coordinates start at the values of their laws.
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>

// f <- solution x of G x = f (n x n, symmetric) by Cholesky factorisation; overwrites G. Returns
// false when G is not positive definite.
static bool initial_solve(int n, double *G, double *f) {
    for (int j = 0; j < n; j++) {
        double d = G[j * n + j];
        for (int k = 0; k < j; k++) d -= G[j * n + k] * G[j * n + k];
        if (!(d > 0)) return false;
        d = sqrt(d);
        G[j * n + j] = d;
        for (int i = j + 1; i < n; i++) {
            double s = G[i * n + j];
            for (int k = 0; k < j; k++) s -= G[i * n + k] * G[j * n + k];
            G[i * n + j] = s / d;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) f[i] -= G[i * n + k] * f[k];
        f[i] /= G[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) f[i] -= G[k * n + i] * f[k];
        f[i] /= G[i * n + i];
    }
    return true;
}

// c <- coordinates of active component a whose field is nearest to the law; `value`: the law is a
// strain, from which the rest strain is subtracted, else a strain rate.
static snw_status initial_project(snw_build *b, const snw_rod *r, int a, snw_law law, bool value,
                                  double *c, snw_source_location location, snw_error *err) {
    const int n = r->nfun[a];
    double *G = snw_build_array(b, (size_t)n * (size_t)n, sizeof *G);
    if (!G) return SNW_E_MEMORY;
    // a part of a rod that slides through a loop: laws are of x and L of the whole rod
    const snw_link_desc *link = &b->m->desc->link[r->link];
    const bool is_beyond =
        link->on.link >= 0 && b->m->desc->link[link->on.link].beyond == 1 + r->link;
    const double start = is_beyond ? b->m->desc->link[link->on.link].rod.length : 0,
                 length = start + r->L +
                          (link->beyond ? b->m->desc->link[link->beyond - 1].rod.length : 0);
    for (int i = 0; i < n; i++) c[i] = 0;
    for (int p = r->point0; p < r->point0 + r->npoint; p++) {
        const snw_point *pt = &b->point[p];
        const double *phi = b->phi + pt->phi;
        for (int k = 0; k < a; k++) phi += pt->count[k];
        double f = snw_expr_value(law, (snw_at){.x = start + pt->x, .L = length});
        if (value) {
            const double rest = snw_rod_rest(r, pt->x).e[r->comp[a]];
            f -= r->comp[a] == SNW_STRETCH ? rest - 1 : rest; // stretch 0 is unstretched
        }
        if (!isfinite(f)) {
            return snw_fail_desc(err, location,
                                 snw_fail(err, SNW_E_MODEL,
                                          "initial %s is not a finite number at x = %g m",
                                          snw_strain_name[r->comp[a]], pt->x));
        }
        for (int i = 0; i < pt->count[a]; i++) {
            const int row = pt->first[a] + i;
            c[row] += pt->w * phi[i] * f;
            for (int j = 0; j < pt->count[a]; j++) {
                G[row * n + pt->first[a] + j] += pt->w * phi[i] * phi[j];
            }
        }
    }
    if (!initial_solve(n, G, c)) {
        return snw_fail_desc(
            err, location,
            snw_fail(err, SNW_E_MODEL,
                     "initial %s: the %d functions of its basis are not independent in "
                     "double precision; use legendre",
                     snw_strain_name[r->comp[a]], n));
    }
    return SNW_OK;
}

// Is the law not given, or the constant 0?
static bool initial_is_zero(snw_law law) {
    return !law || (snw_expr_vars(law) == 0 && snw_expr_value(law, (snw_at){0}) == 0);
}

// Strain coordinates and rates of a rod.
static snw_status initial_strain(snw_build *b, const snw_initial_desc *ini, const snw_rod *r,
                                 double *q0, double *v0, snw_error *err) {
    for (int i = 0; i < 6; i++) {
        int a = -1;
        for (int k = 0; k < r->na; k++) {
            if (r->comp[k] == i) a = k;
        }
        const bool zero = initial_is_zero(ini->strain[i]) && initial_is_zero(ini->rate[i]);
        if (a < 0 && zero) continue;
        if (a < 0) {
            return snw_fail_desc(
                err, ini->location,
                snw_fail(err, SNW_E_MODEL,
                         "initial %s of '%s': the rod does not allow this strain; add "
                         "it under strain:",
                         snw_strain_name[i], b->m->desc->link[ini->link].name));
        }
        if (ini->strain[i]) {
            SNW_TRY(initial_project(b, r, a, ini->strain[i], true, q0 + r->dof[a] + r->shift,
                                    ini->location, err));
        }
        if (ini->rate[i]) {
            SNW_TRY(
                initial_project(b, r, a, ini->rate[i], false, v0 + r->dof[a], ini->location, err));
        }
    }
    return SNW_OK;
}

// Coordinates and velocities of a joint.
static void initial_joint_state(const snw_model *m, const snw_initial_desc *ini, double *q0,
                                double *v0) {
    const snw_joint_kind kind = m->desc->link[ini->link].joint;
    if (kind == SNW_JOINT_FIXED) return;
    const snw_block *block = &m->block[m->link_block[ini->link]];
    switch (block->space) {
    case SNW_SPACE_RN: // one block for each coordinate
        for (int i = 0; i < snw_joint_dof(kind); i++) {
            q0[block[i].q] = ini->position[i];
            v0[block[i].dof] = ini->speed[i];
        }
        break;
    case SNW_SPACE_SO3:
        if (ini->has_pose) snw_so3_to_numbers(ini->pose.R, q0 + block->q);
        break;
    case SNW_SPACE_SE3:
        if (ini->has_pose) snw_se3_to_numbers(ini->pose, q0 + block->q);
        break;
    }
    for (int i = 0; block->lie_block >= 0 && i < block->n; i++)
        v0[block->dof + i] = ini->twist.e[i];
}

// ---- driven coordinates

// Largest difference between a value under `initial` and the law of its drive, in typical values.
static const double DIFFERENCE = 1e-4;

// Is this the description of a change step? Its initial state is never used.
static bool is_later_description(const snw_desc *d) {
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].changed == d) return true;
    }
    return false;
}

// Is there a law for the strain component of coordinate dof of a rod?
static bool strain_given(const snw_rod *r, int dof, const snw_law law[6]) {
    for (int a = 0; a < r->na; a++) {
        if (dof >= r->dof[a] && dof < r->dof[a] + r->nfun[a]) return law[r->comp[a]] != NULL;
    }
    return false;
}

// Error: an initial value contradicts the law of a drive.
static snw_status initial_contradiction(const snw_model *m, const snw_drive *d,
                                        const snw_initial_desc *ini, const char *what, double is,
                                        double law, snw_error *err) {
    const snw_motor_desc *motor = &m->desc->motor[d->motor];
    return snw_fail_desc(
        err, ini->location,
        snw_fail(
            err, SNW_E_MODEL,
            "initial %s %g of coordinate %d of '%s' contradicts actuator '%s', which gives %g at t "
            "= 0 s; leave it out here (driven coordinates start at their law), or change the law",
            what, is, d->dof - m->motor[d->motor].dof + 1, m->desc->link[ini->link].name,
            motor->name, law));
}

// Are there loop closures? Then the initial configuration is an initial guess for the projection.
static bool is_approximate(const snw_desc *d) {
    for (int i = 0; i < d->nloop; i++) {
        if (!d->loop[i].drive && !d->loop[i].nonholonomic) return true;
    }
    return false;
}

// Coordinates with an unconditional drive start at the values of its law.
static snw_status initial_drives(const snw_build *b, double *q0, double *v0, snw_error *err) {
    const snw_model *m = b->m;
    const bool checks = !is_later_description(m->desc), approximate = is_approximate(m->desc);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition >= 0 || d->passive) continue;
        const snw_motor_desc *motor = &m->desc->motor[d->motor];
        const bool by_position = !snw_gives_rate(motor->given);
        const snw_jet at = snw_expr_jet_t(d->law, (snw_at){0});
        const double rate = by_position ? at.d : at.v, most = DIFFERENCE * m->typical[d->dof];
        for (int k = 0; checks && k < m->desc->ninitial; k++) {
            const snw_initial_desc *ini = &m->desc->initial[k];
            if (ini->link != motor->link || motor->feed) continue;
            const snw_rod *rod = motor->rod ? &b->rod[b->link_rod[ini->link]] : NULL;
            const bool has_value = rod ? strain_given(rod, d->dof, ini->strain) : ini->has_position;
            const bool has_rate = rod ? strain_given(rod, d->dof, ini->rate) : ini->has_speed;
            if (by_position && has_value && !approximate && fabs(q0[d->q] - at.v) > most) {
                return initial_contradiction(m, d, ini, "value", q0[d->q], at.v, err);
            }
            if (has_rate && fabs(v0[d->dof] - rate) > most) {
                return initial_contradiction(m, d, ini, "rate", v0[d->dof], rate, err);
            }
        }
        if (by_position) q0[d->q] = at.v;
        v0[d->dof] = rate;
    }
    return SNW_OK;
}

// Spherical joints with a given rotation start at it.
static snw_status initial_rotations(const snw_model *m, double *q0, snw_error *err) {
    const snw_desc *d = m->desc;
    const bool checks = !is_later_description(d) && !is_approximate(d);
    for (int i = 0; i < d->nmotor; i++) {
        const snw_motor_desc *motor = &d->motor[i];
        const snw_loop *loop = &m->loop[motor->loop];
        if (!motor->turns || loop->joint == SNW_JOINT_FREE || loop->condition >= 0) continue;
        const snw_mat3 R = snw_pose_desc_at(&d->loop[motor->loop].pose, 0).R;
        for (int k = 0; checks && k < d->ninitial; k++) {
            const snw_initial_desc *ini = &d->initial[k];
            if (ini->link != motor->link || !ini->has_pose) continue;
            const double difference =
                snw_norm(snw_so3_log(snw_mat3_mul(snw_mat3_transpose(R), ini->pose.R)));
            if (difference <= DIFFERENCE) continue;
            return snw_fail_desc(err, ini->location,
                                 snw_fail(err, SNW_E_MODEL,
                                          "initial rotation of '%s' contradicts actuator '%s', by "
                                          "%.3g degrees at t = 0 s; leave it out here (driven "
                                          "coordinates start at their law), or change the law",
                                          d->link[ini->link].name, motor->name,
                                          difference * 57.295779513082321));
        }
        snw_so3_to_numbers(R, q0 + m->motor[i].q);
    }
    return SNW_OK;
}

// Is an initial value of the link's joint given, or is it driven from the start?
static bool initial_is_given(const snw_model *m, int link, bool rate) {
    const snw_desc *d = m->desc;
    for (int i = 0; i < d->ninitial; i++) {
        const snw_initial_desc *ini = &d->initial[i];
        if (ini->link == link && (rate ? ini->has_speed : ini->has_position)) return true;
    }
    const int dof = m->block[m->link_block[link]].dof;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *drive = &m->drive[i];
        if (drive->dof == dof && drive->row >= 0 && drive->condition < 0 && !drive->passive)
            return true;
    }
    return false;
}

// A joint that mimics others starts where they put it, unless its own value is given. Chains are
// followed: as many passes as there are loops.
static void initial_coupled(const snw_model *m, double *q0, double *v0) {
    for (int pass = 0; pass < m->nloop; pass++) {
        for (int i = 0; i < m->nloop; i++) {
            const snw_loop *loop = &m->loop[i];
            if (loop->ncoupled == 0 || loop->keeps_length || loop->condition >= 0) continue;
            const int link = m->desc->loop[i].coupled[0].link;
            double q = loop->offset, v = 0;
            for (int k = 1; k < loop->ncoupled; k++) {
                q -= loop->factor[k] * q0[loop->coupled_q[k]];
                v -= loop->factor[k] * v0[loop->dof[k]];
            }
            if (!initial_is_given(m, link, false)) q0[loop->coupled_q[0]] = q / loop->factor[0];
            if (!initial_is_given(m, link, true)) v0[loop->dof[0]] = v / loop->factor[0];
        }
    }
}

snw_status snw_build_initial(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    double *q0 = snw_build_array(b, (size_t)m->nq, sizeof *q0);
    double *v0 = snw_build_array(b, (size_t)m->nv, sizeof *v0);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int k = 0; k < m->nblock; k++) {
        if (m->block[k].lie_block >= 0) q0[m->block[k].q] = 1; // identity quaternion
    }
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed >= 0) q0[m->rod[r].feed_q] = m->rod[r].L;
    }
    for (int i = 0; i < d->ninitial; i++) {
        const snw_initial_desc *ini = &d->initial[i];
        const int r = b->link_rod[ini->link];
        if (r >= 0) SNW_TRY(initial_strain(b, ini, &b->rod[r], q0, v0, err));
        const int beyond = d->link[ini->link].beyond;
        if (beyond) SNW_TRY(initial_strain(b, ini, &b->rod[b->link_rod[beyond - 1]], q0, v0, err));
        initial_joint_state(m, ini, q0, v0);
    }
    SNW_TRY(initial_drives(b, q0, v0, err));
    SNW_TRY(initial_rotations(m, q0, err));
    initial_coupled(m, q0, v0);
    m->q0 = q0;
    m->v0 = v0;
    return SNW_OK;
}
