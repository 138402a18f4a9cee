// SPDX-License-Identifier: MIT
//
// Initial coordinates and rates: rods start at rest in their reference shape unless `initial` gives
// strain fields; those are projected on the bases (least squares over the rod, rule of the strain
// points).
#include "model/compile.h"

#include "base/fail.h"

#include <math.h>

// solve the small symmetric positive definite system G c = f in place, by Cholesky; false when it
// is not
static bool solve_spd(int n, double *G, double *f) {
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

// c <- coordinates of component a whose field is nearest to the law (minus the reference when a
// value)
static snw_status initial_project(snw_build *b, const snw_rod *r, int a, snw_law law, bool value,
                                  double *c, snw_source_location location, snw_error *err) {
    const int n = r->nfun[a];
    double *G = snw_build_array(b, (size_t)n * (size_t)n, sizeof *G);
    if (!G) return SNW_E_MEMORY;
    const snw_rod_desc *d = &b->m->desc->link[r->link].rod;
    for (int i = 0; i < n; i++) c[i] = 0;
    for (int p = r->point0; p < r->point0 + r->npoint; p++) {
        const snw_point *pt = &b->point[p];
        const double *phi = b->phi + pt->phi;
        for (int k = 0; k < a; k++) phi += pt->count[k];
        double f = snw_expr_value(law, (snw_at){.x = pt->x, .L = r->L});
        if (value) {
            const double rest = snw_rod_rest(d, pt->x).e[r->comp[a]];
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
    if (!solve_spd(n, G, c)) {
        return snw_fail_desc(
            err, location,
            snw_fail(err, SNW_E_MODEL,
                     "initial %s: the %d functions of its basis are not independent in "
                     "double precision; use legendre",
                     snw_strain_name[r->comp[a]], n));
    }
    return SNW_OK;
}

// not given, or the constant 0, which fits any strain
static bool is_zero(snw_law law) {
    return !law || (snw_expr_vars(law) == 0 && snw_expr_value(law, (snw_at){0}) == 0);
}

static snw_status initial_strain_of(snw_build *b, const snw_initial_desc *ini, const snw_rod *r,
                                    double *q0, double *v0, snw_error *err) {
    for (int i = 0; i < 6; i++) {
        int a = -1;
        for (int k = 0; k < r->na; k++) {
            if (r->comp[k] == i) a = k;
        }
        const bool zero = is_zero(ini->strain[i]) && is_zero(ini->rate[i]);
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

// position and velocity of a joint
static void joint_of(const snw_model *m, const snw_initial_desc *ini, double *q0, double *v0) {
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
// ----------------------------------------------------------------------------

// how far a value under `initial` may be from the law that drives it, in typical values
static const double APART = 1e-4;

// a description that holds from a change on; its initial state is never used
static bool changed(const snw_desc *d) {
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].changed == d) return true;
    }
    return false;
}

// is a strain component given that coordinate dof of a rod belongs to?
static bool strain_given(const snw_rod *r, int dof, const snw_law law[6]) {
    for (int a = 0; a < r->na; a++) {
        if (dof >= r->dof[a] && dof < r->dof[a] + r->nfun[a]) return law[r->comp[a]] != NULL;
    }
    return false;
}

// the file says where a coordinate begins, and a law of it says otherwise
static snw_status disagree(const snw_model *m, const snw_drive *d, const snw_initial_desc *ini,
                           const char *what, double is, double law, snw_error *err) {
    const snw_motor_desc *motor = &m->desc->motor[d->motor];
    return snw_fail_desc(
        err, ini->location,
        snw_fail(err, SNW_E_MODEL,
                 "initial %s %g of coordinate %d of '%s' contradicts actuator '%s', which gives %g "
                 "at t = 0 s; leave it out here (what is driven begins where it is driven to), or "
                 "change the law",
                 what, is, d->dof - m->motor[d->motor].dof + 1, m->desc->link[ini->link].name,
                 motor->name, law));
}

// where there are loops, the initial configuration is a rough one from which they are closed
static bool is_rough(const snw_desc *d) {
    for (int i = 0; i < d->nloop; i++) {
        if (!d->loop[i].drive && !d->loop[i].nonholonomic) return true;
    }
    return false;
}

// coordinates that are always driven begin where they are driven to
static snw_status drives_of(const snw_build *b, double *q0, double *v0, snw_error *err) {
    const snw_model *m = b->m;
    const bool first = !changed(m->desc), rough = is_rough(m->desc);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || d->condition >= 0 || d->passive) continue;
        const snw_motor_desc *motor = &m->desc->motor[d->motor];
        const bool placed = motor->kind == SNW_MOTOR_POSITION;
        const snw_jet at = snw_expr_jet_t(d->law, (snw_at){0});
        const double rate = placed ? at.d : at.v, far = APART * m->typical[d->dof];
        for (int k = 0; first && k < m->desc->ninitial; k++) {
            const snw_initial_desc *ini = &m->desc->initial[k];
            if (ini->link != motor->link || motor->feed) continue;
            const snw_rod *rod = motor->rod ? &b->rod[b->link_rod[ini->link]] : NULL;
            const bool put = rod ? strain_given(rod, d->dof, ini->strain) : ini->has_position;
            const bool fast = rod ? strain_given(rod, d->dof, ini->rate) : ini->has_speed;
            if (placed && put && !rough && fabs(q0[d->q] - at.v) > far) {
                return disagree(m, d, ini, "value", q0[d->q], at.v, err);
            }
            if (fast && fabs(v0[d->dof] - rate) > far) {
                return disagree(m, d, ini, "rate", v0[d->dof], rate, err);
            }
        }
        if (placed) q0[d->q] = at.v;
        v0[d->dof] = rate;
    }
    return SNW_OK;
}

// balls begin as they are turned
static snw_status turns_of(const snw_model *m, double *q0, snw_error *err) {
    const snw_desc *d = m->desc;
    const bool first = !changed(d) && !is_rough(d);
    for (int i = 0; i < d->nmotor; i++) {
        const snw_motor_desc *motor = &d->motor[i];
        const snw_loop *loop = &m->loop[motor->loop];
        if (!motor->turns || loop->joint == SNW_JOINT_FREE || loop->condition >= 0) continue;
        const snw_mat3 R = snw_pose_desc_at(&d->loop[motor->loop].pose, 0).R;
        for (int k = 0; first && k < d->ninitial; k++) {
            const snw_initial_desc *ini = &d->initial[k];
            if (ini->link != motor->link || !ini->has_pose) continue;
            const double apart =
                snw_norm(snw_so3_log(snw_mat3_mul(snw_mat3_transpose(R), ini->pose.R)));
            if (apart <= APART) continue;
            return snw_fail_desc(
                err, ini->location,
                snw_fail(err, SNW_E_MODEL,
                         "initial rotation of '%s' contradicts actuator '%s', by %.3g degrees at t "
                         "= 0 s; leave it out here (what is driven begins where it is driven to), "
                         "or change the law",
                         d->link[ini->link].name, motor->name, apart * 57.295779513082321));
        }
        snw_so3_to_numbers(R, q0 + m->motor[i].q);
    }
    return SNW_OK;
}

snw_status snw_build_initial(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    double *q0 = snw_build_array(b, (size_t)m->nq, sizeof *q0);
    double *v0 = snw_build_array(b, (size_t)m->nv, sizeof *v0);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int k = 0; k < m->nblock; k++) {
        if (m->block[k].lie_block >= 0) q0[m->block[k].q] = 1; // the identity
    }
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed >= 0) q0[m->rod[r].feed_q] = m->rod[r].L;
    }
    for (int i = 0; i < d->ninitial; i++) {
        const snw_initial_desc *ini = &d->initial[i];
        const int r = b->link_rod[ini->link];
        if (r >= 0) SNW_TRY(initial_strain_of(b, ini, &b->rod[r], q0, v0, err));
        joint_of(m, ini, q0, v0);
    }
    SNW_TRY(drives_of(b, q0, v0, err));
    SNW_TRY(turns_of(m, q0, err));
    m->q0 = q0;
    m->v0 = v0;
    return SNW_OK;
}
