// SPDX-License-Identifier: MIT
//
// Derivatives of mu'r by coefficients of contacts, fluids, force elements and stops: virtual
// velocity times the derivative of the force, theory.md (7.5.15).
#include "study/model_surroundings.h"

#include "dynamics/contact_span.h"
#include "dynamics/fluid.h"
#include "dynamics/tendon_friction.h"
#include "math/positive_part.h"
#include "model/convex_hull.h"
#include "model/distance_grid.h"
#include "model/height_field.h"
#include "study/model_shapes.h"

#include <math.h>
#include <string.h>

// Numbers of a contact and of a fluid point, in order.
enum { DAMPING, ALONG, ACROSS, CREEP, SMOOTH, RESTITUTION, CONTACT };
enum { STIFFNESS, SPRING_DAMPING, REST, WIDTH, AXES, AXIS_DAMPING = AXES + 6, ELEMENT = AXES + 12 };
enum { STOP_STIFFNESS, STOP_DAMPING, STOP_WIDTH, LOW, HIGH, STOP_RESTITUTION, STOP };
enum { FRICTION = 3 }; // of a tendon: friction, viscous friction, creep speed
enum { ADDED = 0, LINEAR = 6, SQUARE = 12, SIDE = 18, DISPLACED = 20, FLUX = 21, FLUID = 23 };

size_t snw_surroundings_size(const snw_model *m) {
    return CONTACT * (size_t)m->ncontact + (size_t)m->ncontact_point +
           FLUID * (size_t)m->nfluid_point + ELEMENT * (size_t)m->nforce_element +
           STOP * (size_t)m->nstop + FRICTION * (size_t)m->ntendon;
}

// A limit, or 0 where there is none.
static double limit_of(double x) { return isfinite(x) ? x : 0; }

bool snw_surroundings_same_contacts(const snw_model *m, const snw_model *other) {
    for (int i = 0; i < m->ncontact; i++) {
        const snw_contact *a = &m->contact[i], *b = &other->contact[i];
        if (a->damping != b->damping || a->along != b->along || a->across != b->across ||
            a->creep != b->creep || a->smooth != b->smooth)
            return false;
    }
    for (int i = 0; i < m->ncontact_point; i++) {
        if (m->contact_point[i].stiffness != other->contact_point[i].stiffness) return false;
    }
    return true;
}

void snw_surroundings_read(const snw_model *m, double *out) {
    for (int i = 0; i < m->ncontact; i++, out += CONTACT) {
        const snw_contact *c = &m->contact[i];
        out[DAMPING] = c->damping, out[ALONG] = c->along, out[ACROSS] = c->across;
        out[CREEP] = c->creep, out[SMOOTH] = c->smooth, out[RESTITUTION] = c->restitution;
    }
    for (int i = 0; i < m->ncontact_point; i++) *out++ = m->contact_point[i].stiffness;
    for (int i = 0; i < m->nfluid_point; i++, out += FLUID) {
        const snw_fluid_point *p = &m->fluid_point[i];
        memcpy(out + ADDED, p->added, sizeof p->added);
        memcpy(out + LINEAR, p->linear, sizeof p->linear);
        memcpy(out + SQUARE, p->square, sizeof p->square);
        memcpy(out + SIDE, p->across, sizeof p->across);
        out[DISPLACED] = p->displaced;
        memcpy(out + FLUX, p->flux, sizeof p->flux);
    }
    for (int i = 0; i < m->nforce_element; i++, out += ELEMENT) {
        const snw_force_element *e = &m->force_element[i];
        out[STIFFNESS] = e->stiffness, out[SPRING_DAMPING] = e->damping;
        out[REST] = e->rest, out[WIDTH] = e->smooth;
        memcpy(out + AXES, e->axis_stiffness, sizeof e->axis_stiffness);
        memcpy(out + AXIS_DAMPING, e->axis_damping, sizeof e->axis_damping);
    }
    for (int i = 0; i < m->nstop; i++, out += STOP) {
        const snw_stop *s = &m->stop[i];
        out[STOP_STIFFNESS] = s->stiffness, out[STOP_DAMPING] = s->damping;
        out[STOP_WIDTH] = s->smooth;
        out[LOW] = limit_of(s->low), out[HIGH] = limit_of(s->high);
        out[STOP_RESTITUTION] = s->restitution;
    }
    for (int i = 0; i < m->ntendon; i++, out += FRICTION) {
        const snw_tendon *t = &m->tendon[i];
        out[0] = t->friction, out[1] = t->viscous, out[2] = t->creep;
    }
}

// Without the numbers; those of compliant rods that touch rods stay.
static snw_contact bare_contact(const snw_model *m, int i, bool shapes) {
    snw_contact c = m->contact[i];
    if (shapes) c = snw_shapes_bare_contact(c);
    if (c.hard) { // rough or not
        c.along = c.along > 0, c.across = c.across > 0;
        c.restitution = c.restitution > 0;
    } else if (m->ntouching_rod == 0) {
        c.damping = c.along = c.across = c.creep = c.smooth = 0;
    }
    return c;
}

static snw_fluid_point bare_fluid_point(const snw_model *m, int i) {
    snw_fluid_point p = m->fluid_point[i];
    memset(p.added, 0, sizeof p.added);
    memset(p.linear, 0, sizeof p.linear);
    memset(p.square, 0, sizeof p.square);
    memset(p.across, 0, sizeof p.across);
    memset(p.flux, 0, sizeof p.flux);
    p.displaced = p.displaced > 0; // acts, or not
    return p;
}

static bool same_grid(const snw_spline_grid *a, const snw_spline_grid *b) {
    size_t n = 1;
    for (int k = 0; k < 3; k++) {
        if (a->n[k] != b->n[k] || a->first[k] != b->first[k] || a->step[k] != b->step[k])
            return false;
        n *= a->n[k] == 1 ? 1 : (size_t)a->n[k] + 2;
    }
    return memcmp(a->c, b->c, n * sizeof *a->c) == 0;
}

static bool same_mesh(const snw_triangle_mesh *a, const snw_triangle_mesh *b) {
    return a->nvertex == b->nvertex && a->nface == b->nface &&
           memcmp(a->vertex, b->vertex, (size_t)a->nvertex * sizeof *a->vertex) == 0 &&
           memcmp(a->face, b->face, (size_t)a->nface * sizeof *a->face) == 0;
}

// b's own surface (height field, mesh, hull) is that of a if it equals it, which follows from its
// samples or vertices; else it counts as different.
static void share_surface(const snw_obstacle *a, snw_obstacle *b) {
    if (a->height && b->height && same_grid(&a->height->h, &b->height->h)) b->height = a->height;
    if (a->hull && b->hull && same_mesh(&a->hull->mesh, &b->hull->mesh)) b->hull = a->hull;
    if (a->grid && b->grid && same_grid(&a->grid->grid, &b->grid->grid) &&
        same_mesh(&a->grid->mesh, &b->grid->mesh))
        b->grid = a->grid;
}

bool snw_surroundings_alike(const snw_model *m, const snw_model *o, bool shapes) {
    for (int i = 0; i < m->ncontact; i++) {
        const snw_contact a = bare_contact(m, i, shapes);
        snw_contact b = bare_contact(o, i, shapes);
        share_surface(&a.obstacle, &b.obstacle);
        if (memcmp(&a, &b, sizeof a) != 0) return false;
    }
    for (int i = 0; i < m->ncontact_point; i++) {
        snw_contact_point a = m->contact_point[i], b = o->contact_point[i];
        if (!(a.stiffness > 0) != !(b.stiffness > 0)) return false;
        a.stiffness = b.stiffness = 0;
        if (shapes) a = snw_shapes_bare_point(a), b = snw_shapes_bare_point(b);
        if (memcmp(&a, &b, sizeof a) != 0) return false;
    }
    for (int i = 0; i < m->nfluid_point; i++) {
        const snw_fluid_point a = bare_fluid_point(m, i), b = bare_fluid_point(o, i);
        if (memcmp(&a, &b, sizeof a) != 0) return false;
    }
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop *a = &m->stop[i], *b = &o->stop[i];
        if (a->block != b->block || a->hard != b->hard || isfinite(a->low) != isfinite(b->low) ||
            isfinite(a->high) != isfinite(b->high))
            return false;
    }
    return true;
}

// ---- contacts -----------------------------------------------------------------------------------

// Velocity of the touching point relative to the obstacle when the rates are mu, axes of its
// segment.
static snw_vec3 virtual_velocity(const snw_contact *c, const snw_contact_point *p,
                                 const snw_contact_point_work *at, const snw_work *at_mu) {
    if (p->span > 0) return snw_contact_span_velocity(c, p, at, at_mu);
    snw_twist eta = at_mu->V[p->seg];
    if (c->seg) {
        const snw_se3 G = snw_se3_mul(snw_se3_inv(at_mu->g[c->seg]), at_mu->g[p->seg]);
        eta = snw_twist_sub(eta, snw_twist_to_child(G, at_mu->V[c->seg]));
    }
    return snw_add(eta.v, snw_cross(eta.w, at->s));
}

// Derivative of the positive part by its width.
static double positive_part_by_width(double u, double e) {
    const double s = u / e + 0.5;
    if (s <= 0 || s >= 1) return 0;
    return s * s * (s * (1 - 0.5 * s) - (3 - 2 * s) * (s - 0.5));
}

// The same of its integral.
static double integral_by_width(double u, double e) {
    const double s = u / e + 0.5;
    if (s <= 0) return 0;
    if (s >= 1) return 0.05 * e;
    const double s3 = s * s * s;
    return e * (0.5 * s * s3 - 0.2 * s * s * s3 - (s3 - 0.5 * s * s3) * (s - 0.5));
}

// The force f = N d - N/size T of a contact (3.13.3) by its numbers, times the virtual velocity v.
static void subtract_contact(const snw_contact *c, const snw_contact_point_work *at, snw_vec3 v,
                             bool is_static, double *bar, double *stiffness) {
    const double work = snw_dot(v, at->f);
    *stiffness += work / at->stiffness;
    const double elastic = snw_positive_part(at->depth, at->smooth);
    if (elastic > 0) bar[SMOOTH] += work / elastic * positive_part_by_width(at->depth, at->smooth);
    if (is_static) return;
    const double z = 1 - c->damping * at->rate, e = SNW_HUNT_CROSSLEY_WIDTH,
                 normal = at->elastic_force * at->gradient, N = normal * snw_positive_part(z, e);
    const snw_vec3 u = snw_sub(at->v, snw_scale(snw_dot(at->d, at->v), at->d));
    const snw_vec3 axis = snw_sub(at->axis, snw_scale(snw_dot(at->axis, at->d), at->d));
    const double size = sqrt(snw_dot(u, u) + c->creep * c->creep), au = snw_dot(axis, u);
    const double by_along = au * snw_dot(axis, v), by_across = snw_dot(u, v) - by_along;
    const double T = c->along * by_along + c->across * by_across; // times v
    bar[DAMPING] -= normal * snw_positive_part_d1(z, e) * at->rate * (snw_dot(at->d, v) - T / size);
    bar[ALONG] -= N / size * by_along;
    bar[ACROSS] -= N / size * by_across;
    bar[CREEP] += N * c->creep / (size * size * size) * T;
}

// ---- fluids -------------------------------------------------------------------------------------

static snw_twist about_centre(const snw_fluid_point *p, snw_twist x) {
    return (snw_twist){{.w = x.w, .v = snw_add(x.v, snw_cross(x.w, p->centre))}};
}

// Rates of stretch and shear at a point when the rates are mu.
static snw_vec3 stretch_rates(const snw_model *m, const snw_fluid_point *p, const double *mu) {
    const snw_rod *rod = &m->rod[p->rod];
    const double *phi = m->fluid_phi + p->phi;
    snw_vec3 sum = {{0}};
    for (int a = 0; a < rod->na; phi += p->count[a], a++) {
        if (rod->comp[a] < 3) continue;
        const double *rate = mu + rod->dof[a] + p->first[a];
        for (int j = 0; j < p->count[a]; j++) sum.e[rod->comp[a] - 3] += phi[j] * rate[j];
    }
    return sum;
}

// Forces of a fluid point (3.12.1) by its numbers, times the virtual twist eta about its centre.
static void subtract_fluid(const snw_model *m, int k, const snw_product *x, double *bar) {
    const snw_fluid_point *p = &m->fluid_point[k];
    const snw_fluid_point_work *at = &x->w->fluid_point[k];
    const snw_twist eta = about_centre(p, x->at_mu->V[p->seg]), V = at->V;
    const snw_vec3 rate = x->is_static ? (snw_vec3){{0}} : x->in->current_rate[p->fluid];
    const snw_vec3 up = snw_rotate_inv(x->w->g[p->seg].R, snw_sub(rate, x->in->gravity));
    if (p->displaced > 0) bar[DISPLACED] += snw_dot(eta.v, up);
    if (x->is_static && !m->flowing) return;
    const snw_twist turned = snw_ad(V, eta);
    for (int i = 0; i < 6; i++) {
        bar[ADDED + i] -= eta.e[i] * at->A.e[i] - turned.e[i] * V.e[i];
        bar[LINEAR + i] -= eta.e[i] * V.e[i];
        bar[SQUARE + i] -= eta.e[i] * fabs(V.e[i]) * V.e[i];
    }
    const double speed = hypot(V.v.y, V.v.z);
    bar[SIDE] -= eta.v.y * speed * V.v.y;
    bar[SIDE + 1] -= eta.v.z * speed * V.v.z;
    snw_vec3 against = snw_scale(-p->end, eta.v);
    if (p->phi >= 0) against = snw_add(against, stretch_rates(m, p, x->mu));
    for (int i = 0; i < 2; i++) {
        const double unit[2] = {i == 0, i == 1};
        bar[FLUX + i] -= snw_dot(against, snw_flux(unit, V.v));
    }
}

// ---- force elements -----------------------------------------------------------------------------

// bar += c times derivatives of the tension of a line (3.17) by its numbers.
static void add_line(const snw_force_element *e, const snw_force_element_work *at, bool is_static,
                     double c, double *bar) {
    const double over = at->length - e->rest;
    bar[REST] -= c * at->by_length;
    if (e->kind != SNW_ELEMENT_CABLE) {
        bar[STIFFNESS] += c * over;
        if (!is_static) bar[SPRING_DAMPING] += c * at->rate;
        return;
    }
    const double z = 1 + e->damping * at->rate, width = SNW_HUNT_CROSSLEY_WIDTH,
                 factor = is_static ? 1 : snw_positive_part(z, width);
    bar[STIFFNESS] += c * factor * snw_positive_part(over, e->smooth);
    bar[WIDTH] += c * factor * e->stiffness * positive_part_by_width(over, e->smooth);
    if (!is_static)
        bar[SPRING_DAMPING] += c * at->elastic * at->rate * snw_positive_part_d1(z, width);
}

// The tension times the rate of its length when the rates are mu.
static void subtract_line(const snw_force_element *e, const snw_force_element_work *at,
                          const snw_product *x, double *bar) {
    const int a = e->end[0], b = e->end[1];
    const snw_vec3 v = snw_sub(snw_rotate(x->w->g[b].R, x->at_mu->V[b].v),
                               snw_rotate(x->w->g[a].R, x->at_mu->V[a].v));
    add_line(e, at, x->is_static, -snw_dot(at->n, v), bar);
}

// The same of a bushing: its energy is half the sum of the stiffnesses times squares of rotation
// and position.
static void subtract_bushing(const snw_force_element *e, const snw_force_element_work *at,
                             const snw_product *x, double *bar) {
    const snw_twist carried = snw_twist_to_child(at->h, x->at_mu->V[e->end[0]]);
    const snw_twist delta = snw_twist_sub(x->at_mu->V[e->end[1]], carried);
    const snw_vec3 turned = snw_rotate(snw_so3_tangent_inv(at->turn), delta.w),
                   moved = snw_rotate(at->h.R, delta.v), rate = snw_rotate(at->h.R, at->V.v);
    for (int i = 0; i < 3; i++) {
        bar[AXES + i] -= at->turn.e[i] * turned.e[i];
        bar[AXES + 3 + i] -= at->h.p.e[i] * moved.e[i];
        if (x->is_static) continue;
        bar[AXIS_DAMPING + i] -= at->V.w.e[i] * delta.w.e[i];
        bar[AXIS_DAMPING + 3 + i] -= rate.e[i] * moved.e[i];
    }
}

// ---- stops --------------------------------------------------------------------------------------

// The force of a stop (3.4a) by its numbers, times the rate of its gap when the rates are mu.
static void subtract_stop(const snw_model *m, int i, const snw_product *x, double *bar) {
    const snw_stop *s = &m->stop[i];
    const snw_block *b = &m->block[s->block];
    const snw_stop_work *at = &x->w->stop[i];
    if (at->elastic_force == 0 || s->hard) return;
    double rate = 0;
    for (int k = 0; k < b->n; k++) rate += at->way * at->n.e[k] * x->mu[b->dof + k];
    const double z = 1 - s->damping * at->rate, width = SNW_HUNT_CROSSLEY_WIDTH,
                 factor = x->is_static ? 1 : snw_positive_part(z, width);
    const double by_gap = s->stiffness * snw_positive_part_d1(-at->gap, s->smooth) * factor;
    bar[STOP_STIFFNESS] += snw_positive_part(-at->gap, s->smooth) * factor * rate;
    bar[STOP_WIDTH] += s->stiffness * positive_part_by_width(-at->gap, s->smooth) * factor * rate;
    if (at->way > 0) {
        bar[LOW] += by_gap * rate;
    } else {
        bar[HIGH] -= by_gap * rate;
    }
    if (!x->is_static)
        bar[STOP_DAMPING] -= at->elastic_force * at->rate * snw_positive_part_d1(z, width) * rate;
}

void snw_surroundings_subtract(const snw_model *m, const snw_product *x, double *bar) {
    double *stiffness = bar + CONTACT * (size_t)m->ncontact;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        const snw_contact_point_work *at = &x->w->contact_point[k];
        if (p->wheel || !at->in_contact || c->hard) continue;
        subtract_contact(c, at, virtual_velocity(c, p, at, x->at_mu), x->is_static,
                         bar + CONTACT * (size_t)p->contact, &stiffness[k]);
    }
    double *fluid = stiffness + m->ncontact_point;
    for (int k = 0; k < m->nfluid_point; k++) {
        if (snw_fluid_point_is_active(x->w, &m->fluid_point[k]))
            subtract_fluid(m, k, x, fluid + FLUID * (size_t)k);
    }
    double *element = fluid + FLUID * (size_t)m->nfluid_point;
    for (int k = 0; k < m->nforce_element; k++, element += ELEMENT) {
        const snw_force_element *e = &m->force_element[k];
        const snw_force_element_work *at = &x->w->force_element[k];
        if (!at->acts) continue;
        if (e->kind == SNW_ELEMENT_BUSHING) {
            subtract_bushing(e, at, x, element);
        } else {
            subtract_line(e, at, x, element);
        }
    }
    for (int k = 0; k < m->nstop; k++, element += STOP) subtract_stop(m, k, x, element);
    for (int k = 0; k < m->ntendon; k++, element += FRICTION) {
        double by[FRICTION];
        if (!snw_tendon_friction_acts(m, k, x->w)) continue;
        snw_tendon_friction_slopes(m, k, x->w, x->at_mu, by);
        for (int i = 0; i < FRICTION; i++) element[i] += by[i]; // r has minus the force
    }
}

// First number of stop i behind those of contacts, fluids and force elements.
static size_t stop_at(const snw_model *m, int i) {
    return CONTACT * (size_t)m->ncontact + (size_t)m->ncontact_point +
           FLUID * (size_t)m->nfluid_point + ELEMENT * (size_t)m->nforce_element + STOP * (size_t)i;
}

void snw_surroundings_subtract_limit(const snw_model *m, int limit, double k, double *bar) {
    bar += stop_at(m, limit / 2);
    k *= m->stop[limit / 2].arm;
    bar[limit % 2 ? HIGH : LOW] -= limit % 2 ? k : -k; // arm (q - low), arm (high - q)
}

void snw_surroundings_subtract_hard(const snw_model *m, int contact, const double f[3],
                                    const double u[2], const double c[2], double restitution,
                                    double *bar) {
    if (contact < 0) { // a stop
        bar[stop_at(m, -1 - contact) + STOP_RESTITUTION] -= restitution;
        return;
    }
    const double mu[2] = {m->contact[contact].along, m->contact[contact].across};
    const double size = hypot(mu[0] * u[0], mu[1] * u[1]);
    bar += CONTACT * (size_t)contact;
    bar[RESTITUTION] -= restitution;
    for (int j = 0; j < 2 && size > 0; j++) { // c_j f_n mu_j^2 u_j/|mu u|
        for (int l = 0; l < 2; l++)
            bar[l ? ACROSS : ALONG] -= c[j] * f[0] * mu[j] * u[j] / size *
                                       (2 * (j == l) - mu[j] * mu[l] * u[l] * u[l] / (size * size));
    }
}

void snw_surroundings_subtract_momentum(const snw_model *m, const snw_work *y, const snw_work *j,
                                        double *bar) {
    bar += CONTACT * (size_t)m->ncontact + (size_t)m->ncontact_point;
    for (int k = 0; k < m->nfluid_point; k++, bar += FLUID) {
        const snw_fluid_point *p = &m->fluid_point[k];
        if (!snw_fluid_point_is_active(y, p)) continue;
        const snw_twist a = about_centre(p, y->V[p->seg]), b = about_centre(p, j->V[p->seg]);
        for (int i = 0; i < 6; i++) bar[ADDED + i] -= a.e[i] * b.e[i];
    }
}

void snw_surroundings_add_tension(const snw_model *m, int element, double c, const snw_work *w,
                                  double *bar) {
    bar += CONTACT * (size_t)m->ncontact + (size_t)m->ncontact_point +
           FLUID * (size_t)m->nfluid_point + ELEMENT * (size_t)element;
    if (w->force_element[element].acts)
        add_line(&m->force_element[element], &w->force_element[element], false, c, bar);
}

void snw_surroundings_add_energy(const snw_model *m, const snw_work *w, double c, double *bar) {
    bar +=
        CONTACT * (size_t)m->ncontact + (size_t)m->ncontact_point + FLUID * (size_t)m->nfluid_point;
    for (int k = 0; k < m->nforce_element; k++, bar += ELEMENT) {
        const snw_force_element *e = &m->force_element[k];
        const snw_force_element_work *at = &w->force_element[k];
        const double over = at->length - e->rest;
        if (!at->acts) continue;
        if (e->kind == SNW_ELEMENT_SPRING) {
            bar[STIFFNESS] += 0.5 * c * over * over;
            bar[REST] -= c * at->elastic;
        }
        if (e->kind == SNW_ELEMENT_CABLE) {
            bar[STIFFNESS] += c * snw_positive_part_integral(over, e->smooth);
            bar[REST] -= c * at->elastic;
            bar[WIDTH] += c * e->stiffness * integral_by_width(over, e->smooth);
        }
        for (int i = 0; i < 3 && e->kind == SNW_ELEMENT_BUSHING; i++) {
            bar[AXES + i] += 0.5 * c * at->turn.e[i] * at->turn.e[i];
            bar[AXES + 3 + i] += 0.5 * c * at->h.p.e[i] * at->h.p.e[i];
        }
    }
    for (int k = 0; k < m->nstop; k++, bar += STOP) {
        const snw_stop *s = &m->stop[k];
        const snw_stop_work *at = &w->stop[k];
        if (at->elastic_force == 0 || s->hard) continue;
        bar[STOP_STIFFNESS] += c * snw_positive_part_integral(-at->gap, s->smooth);
        bar[STOP_WIDTH] += c * s->stiffness * integral_by_width(-at->gap, s->smooth);
        bar[at->way > 0 ? LOW : HIGH] += (at->way > 0 ? c : -c) * at->elastic_force;
    }
}
