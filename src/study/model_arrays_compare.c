// SPDX-License-Identifier: MIT
//
// Comparison of two models of one robot, apart from the arrays of model_arrays.h. Whatever the
// equations read is compared; what has no comparison here (tubes, rods of variable length,
// conditions, contacts without slip) counts as different.
#include "study/model_arrays_compare.h"

#include "math/expr_op.h"
#include "study/conserving_weights.h"
#include "study/model_arrays.h"
#include "study/model_geometry.h"
#include "study/model_laws.h"
#include "study/model_surroundings.h"
#include "study/part_model.h"

#include <math.h>
#include <string.h>

// A member added to the model must be compared below, or counted by has_others: a derivative would
// leave it out silently. Subtrees, places of Jacobians, how the mass matrix is computed, and the
// recorded nodes follow from segments and paths, the values of constant poses from the poses.
#ifdef __x86_64__
_Static_assert(sizeof(snw_model) == 1240, "compare the new member of the model here");
#endif

static bool same_law(snw_law a, snw_law b) { return a == b || (a && b && snw_expr_same(a, b)); }

// The same law, or one whose numbers are gathered.
static bool equal_laws(const snw_model *m, snw_law_kind kind, int of, snw_law a, snw_law b) {
    if (!snw_law_is_gathered(m, kind, of)) return same_law(a, b);
    return a == b || (a && b && snw_expr_alike(a, b));
}

static bool same_laws(int n, const snw_law *a, const snw_law *b) {
    for (int i = 0; i < n; i++) {
        if (!same_law(a[i], b[i])) return false;
    }
    return true;
}

static bool same_bytes(int n, size_t size, const void *a, const void *b) {
    return n <= 0 || memcmp(a, b, (size_t)n * size) == 0;
}
// The same but for rounding: shape functions are functions of x/L.
static bool near_numbers(int n, const double *a, const double *b) {
    for (int i = 0; i < n; i++) {
        if (!(fabs(a[i] - b[i]) <= 1e-12 * (1 + fabs(a[i])))) return false;
    }
    return true;
}
#define SAME(count, name) same_bytes(m->count, sizeof *m->name, m->name, o->name)

// Are the derivatives of energies by all numbers known, as steps with hard contacts need them? Not
// of compliant contacts.
static bool hard_is_known(const snw_model *m) {
    for (int i = 0; i < m->ncontact; i++) {
        if (!m->contact[i].hard) return false;
    }
    return snw_part_model_applies(m, false);
}

static bool has_others(const snw_model *m) {
    for (int i = 0; i < m->nlive; i++) { // an effort is a function of the numbers of its law
        const snw_signal *s = &m->signal[m->live[i]];
        if (s->reading != SNW_READ_TENDON_EFFORT) continue;
        const snw_tendon *t = &m->tendon[s->tendon];
        if (t->area || t->has_friction || t->row >= 0 || !t->law ||
            snw_expr_vars(t->law) & SNW_VAR_SIGNAL ||
            !snw_law_is_gathered(m, SNW_LAW_TENDON, s->tendon))
            return true;
    }
    return m->ntube > 0 || m->nfeed > 0 || m->nsliding_station > 0 || m->nlaw_point > 0 ||
           (m->hard && !hard_is_known(m));
}

static bool same_counts(const snw_model *m, const snw_model *o) {
    return m->nblock == o->nblock && m->nspring == o->nspring && m->nstop == o->nstop &&
           m->nrod == o->nrod && m->nload == o->nload && m->nstress == o->nstress &&
           m->nmotor == o->nmotor && m->ndrive == o->ndrive && m->nloop == o->nloop &&
           m->ntendon == o->ntendon && m->nsignal == o->nsignal && m->nlive == o->nlive &&
           m->nread == o->nread && m->ncondition == o->ncondition &&
           m->nconditional == o->nconditional && m->ntendon_corner == o->ntendon_corner;
}

// moves: the numbers of its laws are gathered
static bool same_pose(const snw_model *m, int i, const snw_pose_desc *b, bool geometry,
                      bool moves) {
    const snw_pose_desc *a = &m->pose[i];
    if (geometry && snw_pose_is_constant(a) && snw_pose_is_constant(b)) return true;
    if (snw_pose_is_constant(a) != snw_pose_is_constant(b) ||
        !same_bytes(1, sizeof a->R0, &a->R0, &b->R0) || a->nturn != b->nturn ||
        a->captured != b->captured)
        return false;
    for (int k = 0; k < 3 + a->nturn; k++) {
        const snw_law x = k < 3 ? a->xyz[k] : a->turn[k - 3].angle,
                      y = k < 3 ? b->xyz[k] : b->turn[k - 3].angle;
        if (k >= 3 && !same_bytes(3, sizeof(double), a->turn[k - 3].axis.e, b->turn[k - 3].axis.e))
            return false;
        if (!(moves ? equal_laws(m, SNW_LAW_POSE, i, x, y) : same_law(x, y))) return false;
    }
    return true;
}

static bool same_tree(const snw_model *m, const snw_model *o, bool geometry, bool motions) {
    for (int i = 0; i < m->nseg + m->nobs; i++) {
        const snw_seg *a = &m->seg[i], *b = &o->seg[i];
        if (a->kind != b->kind || a->parent != b->parent || a->item != b->item ||
            a->link != b->link || a->path != b->path || a->has_mass != b->has_mass ||
            a->condition != b->condition || a->variable_node != b->variable_node)
            return false;
    }
    for (int i = 0; i < m->npath; i++) {
        const snw_path *a = &m->path[i], *b = &o->path[i];
        if (a->n != b->n || !same_bytes(a->n, sizeof *a->dof, a->dof, b->dof)) return false;
    }
    for (int i = 0; i < m->npose; i++) {
        if (!same_pose(m, i, &o->pose[i], geometry, geometry && motions)) return false;
    }
    for (int i = 0; i < m->nblock; i++) {
        snw_block x = m->block[i], y = o->block[i];
        if (geometry) x.S = y.S = (snw_twist){0};
        if (!same_bytes(1, sizeof x, &x, &y)) return false;
    }
    for (int k = 0; k < 3; k++) {
        if (!equal_laws(m, SNW_LAW_GRAVITY, 0, m->gravity[k], o->gravity[k])) return false;
    }
    return geometry || same_bytes(m->nseg + m->nobs, sizeof *m->seg_x, m->seg_x, o->seg_x);
}

static int sum_of(int n, const int *x) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

// Is a law read at places along the rod, which must be the same then?
static bool reads_places(const snw_model *m, int rod) {
    if (m->rod[rod].grid) return true; // a section of a grid depends on the whole rod
    for (int k = 0; k < 6; k++) {
        if (m->rod[rod].given[k]) return true;
    }
    for (int i = 0; i < m->nstress; i++) {
        if (m->stress[i].rod == rod) return true;
    }
    return false;
}

// `free`: lengths along the rod and rest strains are gathered; `motions`: the numbers of given
// strains are
static bool same_rod(const snw_model *m, int i, const snw_model *o, bool free, bool motions) {
    const snw_rod *a = &m->rod[i], *b = &o->rod[i];
    if (a->link != b->link || (!free && a->L != b->L) || a->nc != b->nc || a->na != b->na ||
        a->dof0 != b->dof0 || a->ndof != b->ndof || a->shift != b->shift || a->root != b->root ||
        a->seg0 != b->seg0 || a->nseg != b->nseg || a->point0 != b->point0 ||
        a->npoint != b->npoint || a->rule.kind != b->rule.kind ||
        a->rule.number != b->rule.number || a->nbranch != b->nbranch ||
        a->branch_adr != b->branch_adr || a->branch_coordinate0 != b->branch_coordinate0)
        return false;
    if (!same_bytes(a->na, sizeof *a->comp, a->comp, b->comp) ||
        !same_bytes(a->na, sizeof *a->dof, a->dof, b->dof) ||
        !same_bytes(a->na, sizeof *a->nfun, a->nfun, b->nfun) || a->nelem != b->nelem)
        return false;
    if (free) return true; // points are those of stiffness and stress
    for (int k = a->point0; k < a->point0 + a->npoint; k++) {
        const snw_point *p = &m->point[k];
        const int n = sum_of(a->na, p->count);
        if (!same_bytes(1, sizeof *p, p, &o->point[k]) ||
            !same_bytes(n, sizeof *m->phi, m->phi + p->phi, o->phi + o->point[k].phi))
            return false;
    }
    for (int k = 0; k < 6; k++) {
        if (!(motions ? equal_laws(m, SNW_LAW_STRAIN, i, a->given[k], b->given[k])
                      : same_law(a->given[k], b->given[k])))
            return false;
    }
    return same_laws(6, a->rest, b->rest) &&
           same_bytes(a->nelem + 1, sizeof *a->breaks, a->breaks, b->breaks);
}

static bool same_slice(const snw_model *m, int i, const snw_model *o, bool free) {
    snw_slice a = m->slice[i], b = o->slice[i];
    const int n = a.ncol * m->rod[a.rod].nc;
    if (free) {
        if ((a.h == 0) != (b.h == 0)) return false;
        a.x = b.x = a.h = b.h = 0;
    } else if (!same_bytes(SNW_MAGNUS_POINTS, sizeof *m->xi0, m->xi0 + i * SNW_MAGNUS_POINTS,
                           o->xi0 + i * SNW_MAGNUS_POINTS)) {
        return false;
    }
    return same_bytes(1, sizeof a, &a, &b) && near_numbers(n, m->phi + a.phi, o->phi + a.phi);
}

static bool same_rods(const snw_model *m, const snw_model *o, bool geometry, bool motions) {
    if (!SAME(nfield, field)) return false;
    for (int i = 0; i < m->nrod; i++) {
        if (!same_rod(m, i, o, geometry && !reads_places(m, i), geometry && motions)) return false;
    }
    for (int i = 0; i < m->nslice; i++) {
        if (!same_slice(m, i, o, geometry && !reads_places(m, m->slice[i].rod))) return false;
    }
    return true;
}

static bool same_joints(const snw_model *m, const snw_model *o) {
    for (int i = 0; i < m->nspring; i++) {
        const snw_spring *a = &m->spring[i], *b = &o->spring[i];
        if (a->block != b->block || a->friction != b->friction || a->creep != b->creep ||
            !same_bytes(4, sizeof *a->rest, a->rest, b->rest))
            return false;
    }
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element *a = &m->force_element[i], *b = &o->force_element[i];
        if (a->kind != b->kind || a->end[0] != b->end[0] || a->end[1] != b->end[1] ||
            a->condition != b->condition || !same_law(a->force, b->force) ||
            !a->coupling != !b->coupling ||
            (a->coupling && !same_bytes(36, sizeof(double), a->coupling, b->coupling)) ||
            (a->force && a->rest != b->rest)) // the law reads the rest length, too
            return false;
    }
    return true; // stops: by snw_surroundings_alike
}

static bool same_loops(const snw_model *m, const snw_model *o) {
    for (int i = 0; i < m->nloop; i++) {
        snw_loop a = m->loop[i], b = o->loop[i];
        if (a.ndof != b.ndof || !same_bytes(a.ndof, sizeof *a.dof, a.dof, b.dof)) return false;
        if (a.ncoupled != b.ncoupled ||
            !same_bytes(a.ncoupled, sizeof *a.coupled_q, a.coupled_q, b.coupled_q) ||
            !same_bytes(a.ncoupled, sizeof *a.factor, a.factor, b.factor))
            return false;
        a.coupled_q = b.coupled_q = NULL;
        a.factor = b.factor = NULL;
        a.dof = b.dof = a.of_a = b.of_a = a.of_b = b.of_b = NULL;
        if (!same_bytes(1, sizeof a, &a, &b)) return false;
    }
    return true;
}

// motions: the numbers of laws of drives that move are gathered
static bool same_motors(const snw_model *m, const snw_model *o, bool motions) {
    for (int i = 0; i < m->nmotor; i++) {
        const snw_motor *a = &m->motor[i], *b = &o->motor[i];
        if (a->dof != b->dof || a->n != b->n || !a->law != !b->law || !same_law(a->when, b->when) ||
            a->same != b->same)
            return false;
        for (int k = 0; a->law && k < a->n; k++) {
            if (!equal_laws(m, SNW_LAW_MOTOR, i, a->law[k], b->law[k])) return false;
        }
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *a = &m->drive[i], *b = &o->drive[i];
        if (a->motor != b->motor || a->q != b->q || a->dof != b->dof || a->row != b->row ||
            a->condition != b->condition || a->captured != b->captured ||
            a->passive != b->passive || !equal_laws(m, SNW_LAW_DRIVE, i, a->law, b->law) ||
            (!motions && !snw_drive_is_fixed(m, i) && !same_law(a->law, b->law)) ||
            !a->rate_integral != !b->rate_integral)
            return false;
    }
    return true;
}

static bool same_tendon(const snw_model *m, int i, const snw_tendon *b, bool geometry) {
    const snw_tendon *a = &m->tendon[i];
    return a->type == b->type && a->control == b->control && a->given == b->given &&
           a->sign == b->sign && equal_laws(m, SNW_LAW_TENDON, i, a->law, b->law) &&
           same_law(a->when, b->when) &&
           equal_laws(m, SNW_LAW_TEMPERATURE, i, a->temperature, b->temperature) &&
           equal_laws(m, SNW_LAW_AMBIENT, i, a->ambient, b->ambient) &&
           same_law(a->area ? a->area->law : NULL, b->area ? b->area->law : NULL) &&
           same_law(a->sliding, b->sliding) && a->extra == b->extra &&
           a->compliance == b->compliance && a->has_friction == b->has_friction &&
           !(a->friction > 0) == !(b->friction > 0) &&
           (snw_law_is_gathered(m, SNW_LAW_TENDON, i) ||
            (a->friction == b->friction && a->viscous == b->viscous && a->creep == b->creep)) &&
           a->npoint == b->npoint && a->point_adr == b->point_adr && a->ndof == b->ndof &&
           ((geometry && !a->has_friction) || a->reference == b->reference) && a->row == b->row &&
           a->unit == b->unit &&
           same_bytes(SNW_ACTUATOR_CONSTANTS, sizeof *a->constant, a->constant, b->constant) &&
           same_bytes(a->ndof, sizeof *a->dof, a->dof, b->dof) && !a->jacobian == !b->jacobian &&
           (!a->jacobian || same_bytes(a->ndof, sizeof *a->jacobian, a->jacobian, b->jacobian));
}

// Shape functions at a point of a tendon, and their derivatives where there is friction.
static bool same_shapes(const snw_model *m, const snw_tendon_point *p, const snw_model *o) {
    const int n = p->rod < 0 ? 0 : sum_of(m->rod[p->rod].na, p->count);
    return near_numbers(n, m->tendon_phi + p->phi, o->tendon_phi + p->phi) &&
           (m->most_friction == 0 || same_bytes(n, sizeof *m->tendon_dphi, m->tendon_dphi + p->phi,
                                                o->tendon_dphi + p->phi));
}

// Without the numbers that are gathered.
static snw_tendon_point bare_point(const snw_model *m, int i, bool geometry) {
    snw_tendon_point p = m->tendon_point[i];
    if (!geometry || p.rod < 0 || reads_places(m, p.rod)) return p;
    p.x = p.w = p.y = p.z = p.dy = p.dz = p.area = p.before = p.after = p.ddy = p.ddz = 0;
    p.xi0 = p.dxi0 = (snw_twist){0};
    return p;
}

static bool same_tendons(const snw_model *m, const snw_model *o, bool geometry) {
    for (int i = 0; i < m->ntendon; i++) {
        if (!same_tendon(m, i, &o->tendon[i], geometry)) return false;
    }
    for (int i = 0; i < m->ntendon_corner; i++) {
        const snw_tendon_corner *a = &m->tendon_corner[i], *b = &o->tendon_corner[i];
        for (int k = 0; k < 2; k++) {
            const snw_duct *x = &a->duct[k], *y = &b->duct[k];
            if (!same_bytes(1, sizeof x->end, &x->end, &y->end) || x->seg != y->seg ||
                x->skip != y->skip || !same_shapes(m, &x->end, o))
                return false;
        }
    }
    for (int i = 0; i < m->ntendon_segment; i++) {
        const snw_tendon_segment *a = &m->tendon_segment[i], *b = &o->tendon_segment[i];
        if (a->a != b->a || a->b != b->b) return false;
    }
    for (int k = 0; k < m->ntendon; k++) {
        const snw_tendon *t = &m->tendon[k];
        const bool free = geometry && !t->has_friction; // with it, paths are not gathered
        for (int i = t->point_adr; i < t->point_adr + t->npoint; i++) {
            const snw_tendon_point a = bare_point(m, i, free), b = bare_point(o, i, free);
            if (!same_bytes(1, sizeof a, &a, &b) || !same_shapes(m, &m->tendon_point[i], o))
                return false;
        }
    }
    return true;
}

// The same law, one whose numbers are gathered, or one of constant loads, whose wrenches are.
static bool same_load_law(const snw_model *m, snw_law_kind kind, int i, snw_law a, snw_law b) {
    return equal_laws(m, kind, i, a, b) || snw_load_is_constant(&m->load[i]);
}

// Does a law of the load depend on the place along a rod?
static bool reads_station(const snw_load *load) {
    for (int k = 0; k < 3; k++) {
        const snw_law law[] = {load->force[k], load->torque[k]};
        for (int i = 0; i < 2; i++) {
            if (law[i] && (snw_expr_vars(law[i]) & (SNW_VAR_X | SNW_VAR_L)) != 0) return true;
        }
    }
    return false;
}

static bool same_loads(const snw_model *m, const snw_model *o) {
    for (int i = 0; i < m->nload; i++) {
        const snw_load *a = &m->load[i], *b = &o->load[i];
        if (a->rod != b->rod || a->body != b->body || a->reads_signals != b->reads_signals ||
            !same_law(a->when, b->when) || snw_load_is_constant(a) != snw_load_is_constant(b))
            return false;
        for (int k = 0; k < 3; k++) {
            if (!same_load_law(m, SNW_LAW_FORCE, i, a->force[k], b->force[k]) ||
                !same_load_law(m, SNW_LAW_TORQUE, i, a->torque[k], b->torque[k]))
                return false;
        }
    }
    for (int i = 0; i < m->nstress; i++) {
        const snw_stress *a = &m->stress[i], *b = &o->stress[i];
        if (a->rod != b->rod || !same_law(a->when, b->when)) return false;
        for (int k = 0; k < 6; k++) {
            if (!equal_laws(m, SNW_LAW_STRESS, i, a->stress[k], b->stress[k])) return false;
        }
    }
    for (int i = 0; i < m->nload_point; i++) {
        const snw_load_point *a = &m->load_point[i], *b = &o->load_point[i];
        if (a->seg != b->seg || a->load != b->load) return false;
        if (snw_load_is_constant(&m->load[a->load])) continue;
        if (a->w != b->w) return false;
        if (reads_station(&m->load[a->load]) && (a->x != b->x || a->L != b->L)) return false;
    }
    return true;
}

static bool same_signals(const snw_model *m, const snw_model *o) {
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *a = &m->signal[i], *b = &o->signal[i];
        if (a->kind != b->kind || a->period != b->period ||
            !equal_laws(m, SNW_LAW_SOURCE, i, a->source, b->source) || a->probe != b->probe ||
            a->column != b->column || a->reading != b->reading || a->station != b->station ||
            a->body != b->body || a->block != b->block || a->tendon != b->tendon ||
            a->is_length != b->is_length)
            return false;
    }
    return SAME(nlive, live) && SAME(nread, read) && SAME(ncondition, condition_signal) &&
           SAME(nconditional, conditional) && SAME(nconditional, conditional_on);
}

static bool same_fluids(const snw_model *m, const snw_model *o) {
    if (m->nfluid != o->nfluid || m->nfluid_point != o->nfluid_point) return false;
    for (int i = 0; i < m->nfluid; i++) {
        if (!same_laws(3, m->fluid[i].current, o->fluid[i].current) ||
            m->fluid[i].condition != o->fluid[i].condition)
            return false;
    }
    for (int i = 0; i < m->nfluid_point; i++) {
        const snw_fluid_point *p = &m->fluid_point[i];
        const int n = p->phi < 0 ? 0 : sum_of(m->rod[p->rod].na, p->count);
        if (n > 0 && !near_numbers(n, m->fluid_phi + p->phi, o->fluid_phi + p->phi)) return false;
    }
    return true;
}

// Fields of force, of which no number is gathered.
static bool same_force_fields(const snw_model *m, const snw_model *o) {
    if (m->nforce_field != o->nforce_field || m->nforce_field_point != o->nforce_field_point)
        return false;
    for (int i = 0; i < m->nforce_field; i++) {
        const snw_force_field *a = &m->force_field[i], *b = &o->force_field[i];
        if (a->kind != b->kind || a->condition != b->condition || a->carrier != b->carrier ||
            !same_laws(3, a->law, b->law))
            return false;
    }
    for (int i = 0; i < m->nforce_field_point; i++) {
        const snw_force_field_point *a = &m->force_field_point[i], *b = &o->force_field_point[i];
        if (a->seg != b->seg || a->field != b->field || a->w != b->w ||
            !same_bytes(3, sizeof(double), a->centre.e, b->centre.e) ||
            !same_bytes(3, sizeof(double), a->moment.e, b->moment.e))
            return false;
    }
    return true;
}

static bool same_contacts(const snw_model *m, const snw_model *o) {
    if (m->ncontact != o->ncontact || m->ncontact_point != o->ncontact_point ||
        m->ntouching_rod != o->ntouching_rod || m->ntouching_slice != o->ntouching_slice ||
        m->ntouching_joint != o->ntouching_joint || m->touch_smooth != o->touch_smooth)
        return false;
    return SAME(ntouching_rod, touching_rod) && SAME(ntouching_slice, touching_slice) &&
           SAME(ntouching_joint, touching_joint) &&
           same_bytes(m->ntouching_rod * m->ntouching_rod, sizeof *m->touching_contact,
                      m->touching_contact, o->touching_contact);
}

// Shape functions at stations of two rods are the same.
static bool same_basis(const snw_rod *a, double x, const snw_rod *b, double y) {
    enum { MOST = 400 };
    double phi[MOST], other[MOST];
    int first[6], count[6], first_b[6], count_b[6];
    if (a->ndof > MOST) return false;
    const int n = snw_rod_basis(a, x, x, first, count, phi);
    return snw_rod_basis(b, y, y, first_b, count_b, other) == n &&
           same_bytes(a->na, sizeof *first, first, first_b) &&
           same_bytes(a->na, sizeof *count, count, count_b) && near_numbers(n, phi, other);
}

static bool same_stations(const snw_model *m, const snw_model *o, bool geometry) {
    for (int i = 0; i < m->nstation; i++) {
        const snw_station *a = &m->station[i], *b = &o->station[i];
        if (a->seg != b->seg || a->rod != b->rod) return false;
        if (a->x == b->x && (a->rod < 0 || m->rod[a->rod].L == o->rod[a->rod].L)) continue;
        if (!geometry || !same_basis(&m->rod[a->rod], a->x, &o->rod[b->rod], b->x)) return false;
    }
    return true;
}

// Conditions at which steps of the study end.
static bool same_study(const snw_desc *a, const snw_desc *b) {
    if (a->nstep != b->nstep) return false;
    for (int i = 0; i < a->nstep; i++) {
        if (!same_law(a->step[i].until, b->step[i].until)) return false;
    }
    return true;
}

// Are the derivatives of steps of the conserving scheme by all numbers known? With contact points
// by those on which their forces at given places and velocities do not depend.
static bool conserving_is_known(const snw_model *m) {
    for (int k = 0; k < m->ncontact_point; k++) {
        if (m->contact_point[k].wheel) return false;
    }
    return m->nfield == 0 && snw_part_model_applies(m, true) && snw_conserving_weights_alike(m, m);
}

bool snw_model_arrays_apply(const snw_model *m, snw_arrays_schemes schemes) {
    return !has_others(m) && (!schemes.hard || hard_is_known(m)) &&
           (!schemes.collocation || m->nbranch == 0) &&
           (!schemes.conserving || conserving_is_known(m));
}

bool snw_models_differ_in_arrays(const snw_model *m, const snw_model *o, bool geometry,
                                 bool motions) {
    return same_study(m->desc, o->desc) && !has_others(m) && !has_others(o) &&
           snw_model_alike(m, o) && same_counts(m, o) && same_tree(m, o, geometry, motions) &&
           same_rods(m, o, geometry, motions) && same_joints(m, o) && same_loops(m, o) &&
           same_motors(m, o, motions) && same_tendons(m, o, geometry) && same_loads(m, o) &&
           same_stations(m, o, geometry) && same_signals(m, o) && same_fluids(m, o) &&
           same_force_fields(m, o) && same_contacts(m, o) && snw_surroundings_alike(m, o, geometry);
}

bool snw_models_touch_alike(const snw_model *m, const snw_model *o) {
    for (int i = 0; i < m->ncontact; i++) {
        const snw_contact *a = &m->contact[i], *b = &o->contact[i];
        if (a->damping != b->damping || a->along != b->along || a->across != b->across ||
            a->creep != b->creep || a->smooth != b->smooth || a->restitution != b->restitution ||
            a->line != b->line || a->crossing != b->crossing)
            return false;
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        if (m->contact_point[k].stiffness != o->contact_point[k].stiffness) return false;
    }
    return true;
}
