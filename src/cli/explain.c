// SPDX-License-Identifier: MIT
//
// Summary of a model description: links, rods, joints, loops, actuators, contacts, fluids, probes
// and steps of the study, as text and as JSON.
#include "cli/explain.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/convex_hull.h"
#include "model/distance_grid.h"
#include "model/height_field.h"

#include <math.h>
#include <string.h>

enum { TEXT = 256, LONG_TEXT = 400 };

// ---- texts of parts ----------------------------------------------------------------------------

// out <- value of a constant law, else its variables: f(t), f(t, x, probes)
static void law_text(snw_law law, char *out, size_t size) {
    const int vars = law ? snw_expr_vars(law) : 0;
    if (!law) {
        (void)snprintf(out, size, "0");
    } else if (!vars) {
        (void)snprintf(out, size, "%.6g", snw_expr_value(law, (snw_at){0}));
    } else {
        const char *const t = vars & SNW_VAR_T ? "t" : "";
        const char *const x = vars & (SNW_VAR_X | SNW_VAR_L) ? "x" : "";
        const char *const p = vars & SNW_VAR_SIGNAL ? "probes" : "";
        (void)snprintf(out, size, "f(%s%s%s%s%s)", t, *t && *x ? ", " : "", x,
                       *p && (*t || *x) ? ", " : "", p);
    }
}

static void vector_text(const snw_law law[3], char *out, size_t size) {
    char part[3][32];
    for (int i = 0; i < 3; i++) law_text(law[i], part[i], sizeof part[i]);
    (void)snprintf(out, size, "[%s, %s, %s]", part[0], part[1], part[2]);
}

static bool any_given(const snw_law law[3]) { return law[0] || law[1] || law[2]; }

static void site_text(const snw_desc *d, const snw_site *s, char *out, size_t size) {
    const char *link = s->link >= 0 && s->link < d->nlink ? d->link[s->link].name : "world";
    const char *offset = s->offset ? " (displaced)" : "";
    switch (s->kind) {
    case SNW_SITE_WORLD:
        (void)snprintf(out, size, "world%s", offset);
        return;
    case SNW_SITE_BASE:
        (void)snprintf(out, size, "%s, before its joint", link);
        return;
    case SNW_SITE_END:
        (void)snprintf(out, size, "%s%s%s", link,
                       s->link >= 0 && d->link[s->link].has_rod ? ".tip" : "", offset);
        return;
    case SNW_SITE_ROOT:
        (void)snprintf(out, size, "%s.root%s", link, offset);
        return;
    case SNW_SITE_AT:
        (void)snprintf(out, size, "%s@%g m%s", link, s->x, offset);
        return;
    }
}

// "circle 0.01 m", "rectangle 0.0025 x f(x) m"
static void section_text(const snw_section_desc *s, char *out, size_t size) {
    const snw_section_type *type = &snw_section_table[s->kind];
    size_t used = (size_t)snprintf(out, size, "%s", type->label);
    for (int i = 0; type->shaped && i < type->nsize && used < size; i++) {
        char law[32];
        law_text(s->size[i], law, sizeof law);
        used += (size_t)snprintf(out + used, size - used, "%s %s%s", i > 0 ? " x" : "", law,
                                 i + 1 == type->nsize ? " m" : "");
    }
    const char *torsion = s->size[SNW_SECTION_TORSION] ? ", torsion constant given"
                          : s->polar_torsion           ? ", polar torsion constant"
                                                       : "";
    if (used < size) (void)snprintf(out + used, size - used, "%s", torsion);
}

// step size of a dynamic step: "steps of 0.005 s", "steps of at most 0.01 s for an error of 1e-06"
static void step_size_text(const snw_step_desc *s, char *out, size_t size) {
    const bool chosen = s->control || snw_scheme_table[s->scheme].chooses_steps;
    if (!chosen) {
        (void)snprintf(out, size, "steps of %g s", s->step);
    } else if (s->step > 0) {
        (void)snprintf(out, size, "steps of at most %g s for an error of %g", s->step,
                       s->tolerance);
    } else {
        (void)snprintf(out, size, "steps for an error of %g", s->tolerance);
    }
}

// "motion for 1 s, generalized-alpha with rho 0.9, steps of 0.005 s"
static void dynamic_text(const snw_step_desc *s, const char *start, char *out, size_t size) {
    char number[32] = "", step_size[96];
    const snw_scheme_info *scheme = &snw_scheme_table[s->scheme];
    if (scheme->options & SNW_SCHEME_TAKES_RHO) {
        (void)snprintf(number, sizeof number, " with rho %g", s->rho);
    } else if (scheme->options & SNW_SCHEME_TAKES_ALPHA) {
        (void)snprintf(number, sizeof number, " with alpha %g", s->alpha);
    }
    step_size_text(s, step_size, sizeof step_size);
    if (s->kinematic) {
        (void)snprintf(out, size, "locomotion with prescribed shapes for %s%g s%s, %s",
                       s->until ? "up to " : "", s->duration, start, step_size);
        return;
    }
    const bool shooting = s->engine == SNW_ENGINE_SHOOTING;
    (void)snprintf(out, size, "motion for %s%g s%s, %s%s, %s%s", s->until ? "up to " : "",
                   s->duration, start, scheme->name, number, step_size,
                   shooting ? ", by shooting" : "");
}

static void inverse_text(const snw_step_desc *s, const char *start, char *out, size_t size) {
    const snw_inverse_desc *d = &s->inverse;
    const size_t used = (size_t)snprintf(out, size, "inputs of %s for targets of %s%s",
                                         d->all           ? "all actuators"
                                         : d->ninput == 1 ? d->input[0].name
                                                          : "several actuators",
                                         d->target[0].name, d->ntarget > 1 ? " and others" : "");
    if (used < size && s->duration > 0)
        (void)snprintf(out + used, size - used, " for %g s in steps of %g s%s", s->duration,
                       s->step, start);
    if (used < size && !(s->duration > 0)) (void)snprintf(out + used, size - used, "%s", start);
}

static void step_text(const snw_desc *d, const snw_step_desc *s, char *out, size_t size) {
    const char *steady = s->steady ? ", rates included" : s->follow ? ", on its branch" : "";
    char start[64] = "", march[80] = "";
    if (s->from >= 0)
        (void)snprintf(start, sizeof start, " from where '%s' ended", d->step[s->from].name);
    if (s->march > 0)
        (void)snprintf(march, sizeof march, " by damped pseudo-time integration of %g s", s->march);
    if (s->march_flow)
        (void)snprintf(march, sizeof march, ", the damped flow in steps of %g s", s->march_step);
    if (s->kind == SNW_STEP_STATIC && s->penalty > 0)
        (void)snprintf(march, sizeof march, ", loops closed by a penalty of %g N/m", s->penalty);
    switch (s->kind) {
    case SNW_STEP_STATIC:
        if (s->duration > 0) {
            (void)snprintf(out, size, "static path for %g s in steps of %g s%s%s%s", s->duration,
                           s->step, steady, start, march);
        } else {
            (void)snprintf(out, size, "static equilibrium%s%s%s", steady, start, march);
        }
        return;
    case SNW_STEP_DYNAMIC:
        dynamic_text(s, start, out, size);
        return;
    case SNW_STEP_MODES:
        (void)snprintf(out, size, "the first %d modes%s%s", s->count, steady, start);
        return;
    case SNW_STEP_PATH:
        (void)snprintf(out, size, "path of equilibria for %s from %g to %g%s",
                       s->path.of < 0 ? "t" : s->path.family.parameter[s->path.of].name,
                       s->path.low, s->path.high, start);
        return;
    case SNW_STEP_INVERSE:
        inverse_text(s, start, out, size);
        return;
    case SNW_STEP_LINEARIZE:
        if (s->step > 0) {
            (void)snprintf(out, size, "linear model of a step of %g s, %s%s", s->step,
                           snw_scheme_table[s->scheme].name, start);
        } else {
            (void)snprintf(out, size, "linear model%s", start);
        }
        return;
    case SNW_STEP_CHANGE:
        (void)snprintf(out, size, "change of %s", s->paths ? s->paths : "the model");
        return;
    }
}

static bool explain_of_link(snw_probe_kind kind) {
    const snw_subject of = snw_probe_table[kind].subject;
    return of == SNW_OF_LINK || of == SNW_OF_JOINT;
}

// object or site that a probe refers to
static void probe_text(const snw_desc *d, const snw_probe_desc *p, char *out, size_t size) {
    const bool tip = p->kind == SNW_PROBE_PULL ? p->tied : p->fraction >= 1;
    if (p->kind == SNW_PROBE_PULL || (p->kind == SNW_PROBE_TENSION && tip)) {
        (void)snprintf(out, size, "%s.%s", d->tendon[p->item].name, tip ? "tip" : "root");
    } else if (p->kind == SNW_PROBE_TENSION && p->fraction > 0) {
        (void)snprintf(out, size, "%s@%g%%", d->tendon[p->item].name, 100 * p->fraction);
    } else if (p->of != SNW_PROBE_OF_LINK) {
        (void)snprintf(out, size, "%s",
                       p->of == SNW_PROBE_OF_MOTOR           ? d->motor[p->item].name
                       : p->of == SNW_PROBE_OF_STRESS        ? d->stress[p->item].name
                       : p->of == SNW_PROBE_OF_TENDON        ? d->tendon[p->item].name
                       : p->of == SNW_PROBE_OF_CONTACT       ? d->contact[p->item].name
                       : p->of == SNW_PROBE_OF_FORCE_ELEMENT ? d->force_element[p->item].name
                       : p->of == SNW_PROBE_OF_TUBE          ? d->tube[p->item].name
                                                             : d->loop[p->item].name);
    } else if (snw_probe_table[p->kind].subject == SNW_OF_SITES) {
        char from[TEXT], to[TEXT];
        site_text(d, &p->from, from, sizeof from);
        site_text(d, &p->site, to, sizeof to);
        (void)snprintf(out, size, "%.120s in %.120s", to, from);
    } else if (explain_of_link(p->kind) && p->site.link >= 0) {
        (void)snprintf(out, size, "%s", d->link[p->site.link].name);
    } else {
        site_text(d, &p->site, out, size);
    }
}

// does a probe refer to a site, or to the whole robot?
static bool probe_has_site(snw_probe_kind kind) {
    const snw_subject of = snw_probe_table[kind].subject;
    return of != SNW_OF_ROBOT && of != SNW_OF_PROBES;
}

// Links of a description by what they carry: first link on each and the next one on the same (-1:
// none), and nodes of each. Robots may have thousands of them.
typedef struct link_table {
    int *first, *next, *nodes;
} link_table;

static void link_table_free(link_table *t) { snw_free(t->first); }

static snw_status link_table_create(const snw_desc *d, const snw_run_info *info, link_table *t) {
    const size_t n = (size_t)d->nlink + 1;
    t->first = snw_alloc(3 * n * sizeof *t->first);
    if (!t->first) return SNW_E_MEMORY;
    t->next = t->first + n;
    t->nodes = t->next + n;
    for (int i = 0; i < d->nlink; i++) t->first[i] = t->next[i] = -1;
    for (int i = d->nlink - 1; i >= 0; i--) {
        const snw_site *on = &d->link[i].on;
        if (on->kind == SNW_SITE_WORLD || on->link >= i) continue;
        t->next[i] = t->first[on->link];
        t->first[on->link] = i;
    }
    int at = 0; // nodes of a link follow each other, mostly in the order of the links
    for (int k = 0; k < info->nnode; k++) {
        int tried = 0;
        while (tried < d->nlink && strcmp(d->link[at].name, info->node_link[k]) != 0)
            at = at + 1 < d->nlink ? at + 1 : 0, tried++;
        if (tried < d->nlink) t->nodes[at]++;
    }
    return SNW_OK;
}

// ---- text --------------------------------------------------------------------------------------

// "magnus 4", "rk4", "rk45 to 1e-06"
static const char *rule_text(const snw_rod_desc *r, char *out, size_t size) {
    const int number = snw_rod_rule_number(r);
    const char *name = snw_rule_name(r->integrator);
    if (r->tolerance > 0) {
        (void)snprintf(out, size, "%s to %g", name, r->tolerance);
    } else {
        (void)snprintf(out, size, number ? "%s %d" : "%s", name, number);
    }
    return out;
}

// "0.3 of 3.14 rad from 0.1 m to 0.2 m, beyond the bound"
static void print_slice_bound(const snw_slice_bound *s, double bound, const char *unit) {
    printf("%.3g of %.3g%s", s->value, bound, unit);
    if (s->value > 0) printf(" (slice from %.4g m to %.4g m)", s->from, s->to);
    if (!(s->value < bound)) printf(", beyond the bound");
}

// The largest integrals over a slice at rest, and lengths of slices for curvatures up to beta, if
// it is positive; theory.md (3.1c).
static void print_step_bound(const snw_rod_desc *r, const snw_step_bound *s, double beta,
                             int indent) {
    const snw_rule_kind kind = r->integrator;
    if (kind == SNW_RULE_CHEBYSHEV) return;        // no expansion along slices
    if (s->turn.value == 0 && !(beta > 0)) return; // straight at rest
    printf("%*s  convergence along slices, at rest: turn ", indent, "");
    print_slice_bound(&s->turn, snw_rule_turn_bound(kind), " rad");
    printf(", norm ");
    print_slice_bound(&s->frobenius, snw_rule_norm_bound(kind), "");
    printf("\n");
    if (!(beta > 0)) return;
    const double turn = snw_step_bound_turn(kind, beta), norm = snw_step_bound_norm(kind, beta);
    printf("%*s  for curvatures up to %g 1/m: slices shorter than %.6g m (norm: %.6g m), the "
           "longest, from %.4g m to %.4g m, has %.4g m%s\n",
           indent, "", beta, turn, norm, s->length.from, s->length.to, s->length.value,
           s->length.value < norm   ? ""
           : s->length.value < turn ? ", beyond the bound by the norm"
                                    : ", beyond both bounds: give more nodes");
}

static void print_rod(const snw_rod_desc *r, const char *link, int nodes, const double error[2],
                      const snw_step_bound *step, double beta, int indent) {
    char section[TEXT], rule[TEXT];
    section_text(&r->section, section, sizeof section);
    printf("%*srod %g m%s, %s%s%s, %s%d nodes%s, %s\n", indent, "", r->length,
           r->grows             ? ", grows at its tip"
           : r->fixed_root      ? ", slides through a loop"
           : r->variable_length ? ", variable length (feed)"
                                : "",
           section, r->material ? ", " : "", r->material ? r->material->name : "",
           r->tolerance > 0 ? "at most " : "", nodes, r->nodes ? "" : " (auto)",
           rule_text(r, rule, sizeof rule));
    if (r->tolerance == 0) {
        printf("%*s  geometry error %.1e, quadrature error %.1e\n", indent, "", error[0], error[1]);
    }
    print_step_bound(r, step, beta, indent);
    int functions = 0;
    for (int i = 0; i < 6; i++) {
        if (!r->active[i]) continue;
        const snw_basis *b = &r->basis[i];
        functions += b->nfun;
        printf("%*s  %-8s %s, %d function%s%s", indent, "", snw_strain_name[i],
               snw_basis_name(b->kind), b->nfun, b->nfun == 1 ? "" : "s",
               r->together[i] ? " together" : "");
        if (b->nelem > 1 && b->set) printf(", %d break%s", b->nelem - 1, b->nelem == 2 ? "" : "s");
        if (b->nelem > 1 && !b->set) printf(" on %d elements", b->nelem);
        printf("\n");
        if (!b->set) continue;
        char warning[LONG_TEXT];
        printf("%*s           Gram matrix: smallest eigenvalue %.2e, condition %.2e\n", indent, "",
               b->set->smallest, b->set->condition);
        snw_rod_describe_functions(r, link, i, warning, sizeof warning);
        if (warning[0]) printf("%*s  warning: %s\n", indent, "", warning);
    }
    if (!functions) printf("%*s  rigid\n", indent, "");
}

static void print_axis(snw_vec3 a) {
    for (int i = 0; i < 3; i++) {
        if (fabs(a.e[i]) == 1) printf(" %s%c", a.e[i] < 0 ? "-" : "", 'x' + i);
        if (fabs(a.e[i]) == 1) return;
    }
    printf(" [%g, %g, %g]", a.x, a.y, a.z);
}

static void print_joint_axes(snw_joint_kind joint, snw_vec3 axis, snw_vec3 second) {
    const int options = snw_joint_table[joint].options;
    if (options & SNW_JOINT_TAKES_AXIS) print_axis(axis);
    if (options & SNW_JOINT_TAKES_AXES) print_axis(second);
}

// revolute about z, 1 degree of freedom, warns outside of angle [-1, 1]
static void print_joint(const snw_link_desc *l) {
    int n = 0, nlimit = 0;
    const snw_joint_coordinate *c = snw_joint_coordinates(l->joint, &n);
    const snw_joint_desc *j = &l->moves;
    printf("%s", snw_joint_name(l->joint));
    print_joint_axes(l->joint, l->moves.axis, l->moves.second);
    const int dof = snw_joint_dof(l->joint);
    if (dof > 0) printf(", %d degree%s of freedom", dof, dof == 1 ? "" : "s");
    for (int i = 0; i < n; i++) {
        if (!j->limited[i]) continue;
        printf("%s %s [%g, %g]",
               nlimit++                   ? ","
               : j->stop_hard             ? ", hard stops at"
               : j->stop_stiffness[i] > 0 ? ", stops at"
                                          : ", warns outside",
               c[i].name, j->low[i], j->high[i]);
    }
    if (j->stop_hard && j->stop_restitution > 0) printf(", restitution %g", j->stop_restitution);
    for (int i = 0; i < n; i++) {
        if (j->armature[i] > 0)
            printf(", armature %g %s", j->armature[i], c[i].turn ? "kg m^2" : "kg");
    }
}

// , mimics hip by -1.5 and knee by 2, offset 0.2
static void print_mimic(const snw_desc *d, int link) {
    for (int i = 0; i < d->nloop; i++) {
        const snw_loop_desc *l = &d->loop[i];
        if (l->ncoupled == 0 || l->coupled[0].link != link) continue;
        for (int k = 1; k < l->ncoupled; k++)
            printf("%s %s by %g", k > 1 ? " and" : ", mimics", d->link[l->coupled[k].link].name,
                   -l->coupled[k].factor);
        if (l->offset != 0) printf(", offset %g", l->offset);
    }
}

// has the link a condition of its own, other than that of its parent, that is not always true?
static bool own_condition(const snw_desc *d, const snw_link_desc *l) {
    const bool world = l->on.kind == SNW_SITE_WORLD;
    if (!l->when || (!world && d->link[l->on.link].when == l->when)) return false;
    return snw_expr_vars(l->when) != 0 || snw_expr_value(l->when, (snw_at){0}) == 0;
}

static void print_link(const snw_desc *d, const link_table *t, int index, const snw_run_info *info,
                       double beta, int depth) {
    const snw_link_desc *l = &d->link[index];
    char site[TEXT];
    site_text(d, &l->on, site, sizeof site);
    const int indent = 2 + 2 * depth;
    printf("%*s%s  on %s, ", indent, "", l->name, site);
    if (own_condition(d, l)) printf("%s, ", snw_expr_vars(l->when) ? "at times" : "off");
    print_joint(l);
    print_mimic(d, index);
    printf("\n");
    if (l->has_rod) {
        print_rod(&l->rod, l->name, t->nodes[index], info->rod_error + 2 * index,
                  info->rod_step + index, beta, indent + 4);
    }
    if (l->has_body) printf("%*sbody %g kg\n", indent + 4, "", l->body.mass);
    for (int i = t->first[index]; i >= 0; i = t->next[i])
        print_link(d, t, i, info, beta, depth + 1);
}

// Is it written under loops?
static bool is_loop(const snw_loop_desc *l) {
    return !l->drive && !l->nonholonomic && !snw_loop_couples(l);
}

// brace  arm.tip to rod.tip, revolute z: 5 rows, 3 hold by themselves: tilt x, tilt y, move z; ...
static void print_loop(const snw_desc *d, int i, const snw_run_info *info) {
    const snw_loop_desc *l = &d->loop[i];
    char a[TEXT], b[TEXT];
    site_text(d, &l->a, a, sizeof a);
    site_text(d, &l->b, b, sizeof b);
    printf("  %s  %s to %s, %s", l->name, a, b, snw_joint_name(l->joint));
    print_joint_axes(l->joint, l->axis, l->second);
    printf("%s%s: %s\n", l->slides ? ", slides" : "", l->when ? ", at times" : "",
           info->loop_note[i]);
    if (info->loop_warning[i][0]) printf("    warning: %s\n", info->loop_warning[i]);
}

static void print_load(const snw_desc *d, const snw_load_desc *l) {
    char site[TEXT], force[TEXT], torque[TEXT];
    site_text(d, &l->on, site, sizeof site);
    vector_text(l->force, force, sizeof force);
    vector_text(l->torque, torque, sizeof torque);
    if (l->along) {
        printf("  %s  along %s", l->name, d->link[l->on.link].name);
    } else {
        printf("  %s  on %s", l->name, site);
    }
    if (any_given(l->force)) printf(", force %s %s", force, l->along ? "N/m" : "N");
    if (any_given(l->torque)) printf(", torque %s %s", torque, l->along ? "N" : "N m");
    printf(", %s frame%s\n", l->body ? "body" : "world", l->when ? ", at times" : "");
}

static void print_motor(const snw_desc *d, int motor) {
    const snw_motor_desc *a = &d->motor[motor];
    const snw_actuator_type *type = &snw_actuator_table[a->kind];
    int n = 0;
    const snw_joint_coordinate *c = snw_joint_coordinates(d->link[a->link].joint, &n);
    if (a->holds) {
        char text[64];
        const snw_probe_desc *p = &d->probe[a->probe];
        snw_component known[SNW_PROBE_WIDTH];
        (void)snw_probe_components(p->kind, p->joint, known);
        const char *part = known[a->component].name;
        law_text(a->target, text, sizeof text);
        printf("  %s  joint %s, effort holds %s%s%s: %s\n", a->name, d->link[a->link].name, p->name,
               part[0] ? "." : "", part, text);
        return;
    }
    if (a->passive && a->same) {
        printf("  %s  joint %s, same effort\n", a->name, d->link[a->link].name);
        return;
    }
    printf("  %s  %s of %s %s given:", a->name, snw_control_of(a->kind, a->given)->name,
           type->element, d->link[a->link].name);
    if (a->turns) {
        const bool moves = snw_pose_desc_vars(&d->loop[a->loop].pose) != 0;
        printf(" a rotation%s", moves ? " f(t)" : "");
    }
    for (int k = 0; k < a->n && !a->turns; k++) {
        char text[64] = "free", unit[48] = "";
        if (a->law[k] || snw_gives_effort(a->given)) {
            law_text(a->law[k], text, sizeof text);
            snw_actuator_unit(d, motor, k, unit);
        }
        const bool named = !a->rod && !a->feed;
        printf("%s %s%s%s%s%s", k ? "," : "", named ? c[k].name : "", named ? " " : "", text,
               unit[0] ? " " : "", unit);
    }
    double on = 1;
    const bool fixed = !a->when || snw_expr_vars(a->when) == 0;
    if (fixed && a->when) on = snw_expr_value(a->when, (snw_at){0});
    printf("%s\n", !fixed ? ", at times" : on != 0 ? "" : ", off");
}

static const char *tendon_given(const snw_tendon_desc *a) {
    const snw_control_type *c = snw_control_of(a->kind, a->given);
    return c->about ? c->about : c->name;
}

static void print_tendon(const snw_desc *d, const snw_tendon_desc *a) {
    printf("  %s  %s", a->name, snw_actuator_table[a->kind].name);
    for (int k = 0; k < a->nlink; k++) {
        printf("%s %s", k ? "," : " along", d->link[a->link[k]].name);
    }
    if (a->nsegment > 0) {
        printf("%s %d straight segment%s", a->nlink > 0 ? "," : " of", a->nsegment,
               a->nsegment == 1 ? "" : "s");
    }
    char text[64], unit[48];
    law_text(a->law, text, sizeof text);
    snw_dim_unit(snw_control_of(a->kind, a->given)->dim, unit, sizeof unit);
    printf(", %s given %s %s%s\n", tendon_given(a), text, unit, a->when ? ", at times" : "");
}

static bool fluid_resists(const snw_fluid_desc *f) {
    bool any = f->normal || f->tangent;
    for (int i = 0; i < 6; i++) any = any || f->linear[i] || f->square[i];
    return any;
}

static void print_fluid(const snw_desc *d, const snw_fluid_desc *f) {
    printf("  %s  on", f->name);
    for (int k = 0; k < f->nlink; k++) printf("%s %s", k ? "," : "", d->link[f->link[k]].name);
    if (f->density > 0) printf(", %g kg/m^3", f->density);
    if (f->added) printf(", added mass");
    if (f->buoyancy) printf(", buoyancy");
    if (fluid_resists(f)) printf(", drag");
    if (f->current[0]) printf(", current");
    const bool fixed = !f->when || snw_expr_vars(f->when) == 0;
    const bool on = !fixed || !f->when || snw_expr_value(f->when, (snw_at){0}) != 0;
    printf("%s\n", !fixed ? ", at times" : on ? "" : ", off");
}

static bool at_times(snw_law when) { return when && snw_expr_vars(when) != 0; }

static void print_nonholonomic(const snw_desc *d, int i, const snw_run_info *info) {
    const snw_loop_desc *l = &d->loop[i];
    char site[TEXT];
    if (l->b.sliding) {
        (void)snprintf(site, sizeof site, "%s at f(t)", d->link[l->b.link].name);
    } else {
        site_text(d, &l->b, site, sizeof site);
    }
    printf("  %s  %s on %s, %s%s\n", l->name, snw_nonholonomic_table[l->nonholonomic].name, site,
           info->loop_note[i], at_times(l->when) ? ", at times" : "");
    if (info->loop_warning[i][0]) printf("    %s\n", info->loop_warning[i]);
}

// Sizes of a surface that is data, and its error of interpolation.
static void print_surface(const snw_obstacle *o) {
    if (o->height) {
        const snw_height_field *f = o->height;
        printf("    heights from %g to %g m in %d x %d cells of %.3g x %.3g m, ", f->lowest,
               f->highest, f->h.n[0] - 1, f->h.n[1] - 1, f->h.step[0], f->h.step[1]);
        if (f->of_formula) printf("off the formula by at most %.2g m, ", f->error);
        printf("radii of curvature from %.3g m in hollows, %.3g m on humps\n", f->hollow, f->hump);
    }
    if (o->grid) {
        const snw_distance_grid *g = o->grid;
        printf(
            "    %d faces, volume %.4g m^3; distance on %d x %d x %d samples %.3g m apart, off by "
            "at most %.2g m, %.2g m from a cell away on, %.2g m in the mean\n",
            g->mesh.nface, snw_mesh_volume(&g->mesh), g->grid.n[0], g->grid.n[1], g->grid.n[2],
            g->grid.step[0], g->error, g->error_beyond, g->mean);
    }
    if (o->hull) {
        printf("    %d corners, %d faces, volume %.4g m^3 without the rounding of %.3g m\n",
               o->hull->mesh.nvertex, o->hull->mesh.nface, snw_mesh_volume(&o->hull->mesh),
               o->rounding);
    }
}

static void print_contact(const snw_desc *d, const snw_contact_desc *c, const snw_run_info *info) {
    if (c->nnonholonomic > 1) {
        const snw_loop_desc *l = &d->loop[c->nonholonomic - 1];
        printf("  %s  ring along %s at %d stations%s, the first: %s\n", c->name,
               d->link[l->b.link].name, c->nnonholonomic, at_times(l->when) ? ", at times" : "",
               info->loop_note[c->nonholonomic - 1]);
        return;
    }
    if (c->nonholonomic) {
        print_nonholonomic(d, c->nonholonomic - 1, info);
        return;
    }
    if (c->is_obstacle) {
        char site[TEXT];
        site_text(d, &c->on, site, sizeof site);
        printf("  %s  %s%s on %s%s, touched by", c->name, c->obstacle.inside ? "inside of a " : "",
               snw_obstacle_table[c->obstacle.kind].name, site,
               snw_pose_desc_vars(&c->pose) ? ", moving" : "");
    } else if (c->is_rods) {
        printf("  %s  contact of rods%s%s", c->name, c->self ? ", each also with itself" : "",
               c->nagainst ? " with" : "");
        for (int k = 0; k < c->nagainst; k++)
            printf("%s %s", k ? "," : "", d->link[c->against[k]].name);
        printf(":");
    } else {
        printf("  %s  ground under", c->name);
    }
    for (int k = 0; k < c->nlink; k++) printf("%s %s", k ? "," : "", d->link[c->link[k]].name);
    if (c->hard) {
        printf(", hard, restitution %g", c->restitution);
    } else {
        printf(", stiffness %g", c->stiffness);
        if (c->damping > 0) printf(", damping %g s/m", c->damping);
    }
    if (c->along != c->across) printf(", friction %g along, %g across", c->along, c->across);
    if (c->along == c->across && c->along > 0) printf(", friction %g", c->along);
    const bool fixed = !c->when || snw_expr_vars(c->when) == 0;
    const bool on = !fixed || !c->when || snw_expr_value(c->when, (snw_at){0}) != 0;
    printf("%s\n", !fixed ? ", at times" : on ? "" : ", off");
    print_surface(&c->obstacle);
    const char *warning = info->contact_warning[c - d->contact];
    if (warning[0]) printf("    warning: %s\n", warning);
}

static void print_force_element(const snw_desc *d, const snw_force_element_desc *e) {
    const snw_force_element_type *type = &snw_force_element_table[e->kind];
    char end[2][TEXT];
    for (int k = 0; k < 2; k++) {
        site_text(d, &e->end[k], end[k], sizeof end[k]);
        if (e->has_pose[k])
            (void)snprintf(end[k], sizeof end[k], "a %s of the world",
                           snw_pose_desc_vars(&e->pose[k]) ? "moving point" : "point");
    }
    printf("  %s  %s between %s and %s", e->name, type->name, end[0], end[1]);
    if (type->options & SNW_ELEMENT_TAKES_REST) printf(", rest %g m", e->rest);
    if (e->stiffness > 0) printf(", stiffness %g N/m", e->stiffness);
    if (e->force) printf(", tension f(x)");
    if (e->damping > 0) printf(", damping %g %s", e->damping, type->one_sided ? "s/m" : "N s/m");
    printf("%s\n", at_times(e->when) ? ", at times" : "");
}

static void print_field(const snw_desc *d, const snw_force_field_desc *f,
                        const snw_run_info *info) {
    const int i = (int)(f - d->force_field);
    printf("  %s  %s", f->name, snw_force_field_name[f->kind]);
    if (f->kind == SNW_FORCE_FIELD_DIPOLE) {
        char site[TEXT];
        site_text(d, &f->on, site, sizeof site);
        printf(" carried by %s", site);
    }
    printf(", acts on");
    for (int k = 0; k < f->nlink; k++) printf("%s %s", k ? "," : "", d->link[f->link[k]].name);
    printf(", %s%s\n",
           info->field_has_energy[i] ? "has a potential" : "has no potential: its work is counted",
           at_times(f->when) ? ", at times" : "");
    if (info->field_warning[i][0]) printf("    warning: %s\n", info->field_warning[i]);
}

static void print_probe(const snw_desc *d, const snw_probe_desc *p) {
    char site[TEXT];
    probe_text(d, p, site, sizeof site);
    printf("  %s  %s", p->name, snw_probe_name(p->kind));
    if (p->along > 0 && p->site.link >= 0) {
        printf(" at %d stations along %s", p->along, d->link[p->site.link].name);
    } else if (probe_has_site(p->kind)) {
        printf(" of %s", site);
    }
    printf("%s\n", p->body ? ", body frame" : "");
}

static void print_components(const snw_desc *d, const snw_run_info *info) {
    if (d->nload + snw_actuators(d) > 0) printf("\nloads\n");
    for (int i = 0; i < d->nload; i++) print_load(d, &d->load[i]);
    for (int i = 0; i < d->nstress; i++) {
        printf("  %s  %s along %s\n", d->stress[i].name,
               snw_actuator_table[SNW_ACTUATOR_STRESS].noun, d->link[d->stress[i].link].name);
    }
    for (int i = 0; i < d->nmotor; i++) print_motor(d, i);
    for (int i = 0; i < d->ntendon; i++) print_tendon(d, &d->tendon[i]);
    if (d->ncontact > 0) printf("\ncontacts\n");
    for (int i = 0; i < d->ncontact; i++) print_contact(d, &d->contact[i], info);
    if (d->nforce_element > 0) printf("\nsprings\n");
    for (int i = 0; i < d->nforce_element; i++) print_force_element(d, &d->force_element[i]);
    if (info->locomotion) printf("\nlocomotion\n  %s\n", info->locomotion);
    if (d->nfluid > 0) printf("\nfluid\n");
    for (int i = 0; i < d->nfluid; i++) print_fluid(d, &d->fluid[i]);
    if (d->nforce_field > 0) printf("\nfields\n");
    for (int i = 0; i < d->nforce_field; i++) print_field(d, &d->force_field[i], info);
    if (d->nprobe > 0) printf("\nprobes\n");
    for (int i = 0; i < d->nprobe; i++) print_probe(d, &d->probe[i]);
    printf("\nstudy\n");
    for (int i = 0; i < d->nstep; i++) {
        char text[TEXT];
        step_text(d, &d->step[i], text, sizeof text);
        printf("  %s  %s\n", d->step[i].name, text);
    }
    if (d->nstep == 0) printf("  no steps\n");
}

snw_status snw_explain_print(const snw_desc *d, const snw_run_info *info, const bool *idle,
                             double curvature) {
    char gravity[TEXT];
    link_table table;
    SNW_TRY(link_table_create(d, info, &table));
    vector_text(d->gravity, gravity, sizeof gravity);
    printf("\nrobot: %d degree%s of freedom", info->freedom, info->freedom == 1 ? "" : "s");
    int nloop = 0;
    for (int i = 0; i < d->nloop; i++) nloop += is_loop(&d->loop[i]);
    if (nloop > 0 || info->driven > 0) printf(" (%d coordinates", info->nv);
    if (nloop > 0) printf(", %d loop%s", nloop, nloop == 1 ? "" : "s");
    if (info->driven > 0) printf(", %d driven", info->driven);
    if (nloop > 0 || info->driven > 0) printf(")");
    printf(", %d nodes, gravity %s m/s^2\n", info->nnode, gravity);
    for (int i = 0; i < d->nlink; i++) {
        if (d->link[i].on.kind == SNW_SITE_WORLD) print_link(d, &table, i, info, curvature, 0);
    }
    if (nloop > 0) printf("\nloops\n");
    for (int i = 0; i < d->nloop; i++) {
        if (is_loop(&d->loop[i])) print_loop(d, i, info);
    }
    for (int i = 0; i < d->nlink; i++) {
        if (!idle[i]) continue;
        printf("\n%s: %s freely, uncoupled from the rest of the robot\n", d->link[i].name,
               snw_joint_table[d->link[i].joint].coordinate[0].turn ? "turns" : "slides");
    }
    print_components(d, info);
    link_table_free(&table);
    return SNW_OK;
}

// ---- JSON --------------------------------------------------------------------------------------

static void json_law(snw_json *j, const char *key, snw_law law) {
    char text[64];
    if (law && snw_expr_vars(law)) {
        law_text(law, text, sizeof text);
        snw_field_text(j, key, text);
    } else {
        snw_field_number(j, key, law ? snw_expr_value(law, (snw_at){0}) : 0);
    }
}

static void json_vector(snw_json *j, const char *key, const snw_law law[3]) {
    snw_field_list(j, key);
    for (int i = 0; i < 3; i++) json_law(j, NULL, law[i]);
    snw_json_close(j);
}

static void json_slice_bound(snw_json *j, const char *key, const snw_slice_bound *s, double bound) {
    snw_field_object(j, key);
    snw_field_number(j, "largest", s->value);
    snw_field_number(j, "from", s->from);
    snw_field_number(j, "to", s->to);
    snw_field_number(j, "bound", bound);
    snw_json_close(j);
}

// the same as print_step_bound
static void json_step_bound(snw_json *j, const snw_rod_desc *r, const snw_step_bound *s,
                            double beta) {
    if (r->integrator == SNW_RULE_CHEBYSHEV) return;
    json_slice_bound(j, "slice_turn", &s->turn, snw_rule_turn_bound(r->integrator));
    json_slice_bound(j, "slice_norm", &s->frobenius, snw_rule_norm_bound(r->integrator));
    if (!(beta > 0)) return;
    snw_field_number(j, "curvature_bound", beta);
    json_slice_bound(j, "slice_length", &s->length, snw_step_bound_turn(r->integrator, beta));
    snw_field_number(j, "slice_length_by_norm", snw_step_bound_norm(r->integrator, beta));
}

static void json_rod(snw_json *j, const snw_rod_desc *r, const char *link, int nodes,
                     const double error[2], const snw_step_bound *step, double beta) {
    snw_field_object(j, "rod");
    snw_field_number(j, "length", r->length);
    snw_field_text(j, "section", snw_section_table[r->section.kind].label);
    snw_field_text(j, "material", r->material ? r->material->name : NULL);
    snw_field_integer(j, "nodes", nodes);
    if (r->tolerance == 0) {
        snw_field_number(j, "geometry_error", error[0]);
        snw_field_number(j, "quadrature_error", error[1]);
    }
    char rule[TEXT];
    snw_field_text(j, "integrator", rule_text(r, rule, sizeof rule));
    json_step_bound(j, r, step, beta);
    snw_field_object(j, "strain");
    for (int i = 0; i < 6; i++) {
        if (!r->active[i]) continue;
        snw_field_object(j, snw_strain_name[i]);
        snw_field_text(j, "basis", snw_basis_name(r->basis[i].kind));
        snw_field_integer(j, "functions", r->basis[i].nfun);
        if (r->together[i]) snw_field_bool(j, "together", true);
        snw_field_integer(j, "elements", r->basis[i].nelem);
        if (r->basis[i].set) {
            char warning[LONG_TEXT];
            snw_field_number(j, "smallest_eigenvalue", r->basis[i].set->smallest);
            snw_field_number(j, "condition", r->basis[i].set->condition);
            snw_rod_describe_functions(r, link, i, warning, sizeof warning);
            if (warning[0]) snw_field_text(j, "warning", warning);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_json_close(j);
}

static void json_mimic(snw_json *j, const snw_desc *d, int link) {
    for (int i = 0; i < d->nloop; i++) {
        const snw_loop_desc *l = &d->loop[i];
        if (l->ncoupled == 0 || l->coupled[0].link != link) continue;
        snw_field_object(j, "mimic");
        snw_field_object(j, "ratio");
        for (int k = 1; k < l->ncoupled; k++)
            snw_field_number(j, d->link[l->coupled[k].link].name, -l->coupled[k].factor);
        snw_json_close(j);
        snw_field_number(j, "offset", l->offset);
        snw_json_close(j);
    }
}

static void json_joint(snw_json *j, const snw_link_desc *l) {
    snw_field_text(j, "joint", snw_joint_name(l->joint));
    const int dof = snw_joint_dof(l->joint);
    bool geared = false;
    snw_field_integer(j, "degrees_of_freedom", dof);
    for (int i = 0; i < SNW_JOINT_MOST; i++) geared |= l->moves.armature[i] > 0;
    if (geared) {
        const bool ball = snw_joint_table[l->joint].space == SNW_SPACE_SO3;
        snw_field_numbers(j, "armature", ball ? 1 : dof, l->moves.armature);
    }
    if (!(snw_joint_table[l->joint].options & SNW_JOINT_TAKES_AXIS)) return;
    snw_field_list(j, "axis");
    for (int i = 0; i < 3; i++) snw_field_number(j, NULL, l->moves.axis.e[i]);
    snw_json_close(j);
    if (!l->moves.limited[0]) return;
    int n = 0;
    (void)snw_joint_coordinates(l->joint, &n);
    snw_field_list(j, "limits");
    for (int i = 0; i < n && l->moves.limited[i]; i++) {
        snw_field_list(j, NULL);
        snw_field_number(j, NULL, l->moves.low[i]);
        snw_field_number(j, NULL, l->moves.high[i]);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_links(snw_json *j, const snw_desc *d, const link_table *table,
                       const snw_run_info *info, double beta) {
    snw_field_object(j, "robot");
    for (int i = 0; i < d->nlink; i++) {
        const snw_link_desc *l = &d->link[i];
        char site[TEXT];
        site_text(d, &l->on, site, sizeof site);
        snw_field_object(j, l->name);
        snw_field_text(j, "on", site);
        json_joint(j, l);
        json_mimic(j, d, i);
        if (l->has_rod) {
            json_rod(j, &l->rod, l->name, table->nodes[i], info->rod_error + 2 * i,
                     info->rod_step + i, beta);
        }
        if (l->has_body) snw_field_number(j, "mass", l->body.mass);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_loops(snw_json *j, const snw_desc *d, const snw_run_info *info) {
    snw_field_object(j, "loops");
    for (int i = 0; i < d->nloop; i++) {
        const snw_loop_desc *l = &d->loop[i];
        char site[TEXT];
        if (!is_loop(l)) continue;
        snw_field_object(j, l->name);
        snw_field_list(j, "join");
        site_text(d, &l->a, site, sizeof site);
        snw_field_text(j, NULL, site);
        site_text(d, &l->b, site, sizeof site);
        snw_field_text(j, NULL, site);
        snw_json_close(j);
        snw_field_text(j, "as", snw_joint_name(l->joint));
        snw_field_text(j, "rows", info->loop_note[i]);
        snw_field_text(j, "warning", info->loop_warning[i][0] ? info->loop_warning[i] : NULL);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_loads(snw_json *j, const snw_desc *d) {
    snw_field_object(j, "loads");
    for (int i = 0; i < d->nload; i++) {
        const snw_load_desc *l = &d->load[i];
        char site[TEXT];
        site_text(d, &l->on, site, sizeof site);
        snw_field_object(j, l->name);
        snw_field_text(j, l->along ? "along" : "on", l->along ? d->link[l->on.link].name : site);
        json_vector(j, "force", l->force);
        json_vector(j, "torque", l->torque);
        snw_field_text(j, "frame", l->body ? "body" : "world");
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_motors(snw_json *j, const snw_desc *d) {
    snw_field_object(j, "motors");
    for (int i = 0; i < d->nmotor; i++) {
        const snw_motor_desc *a = &d->motor[i];
        snw_field_object(j, a->name);
        snw_field_text(j, snw_actuator_table[a->kind].element, d->link[a->link].name);
        snw_field_text(j, "given", a->holds ? "hold" : snw_control_of(a->kind, a->given)->name);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_tendons(snw_json *j, const snw_desc *d) {
    snw_field_object(j, "measures");
    for (int i = 0; i < d->ntendon; i++) {
        const snw_tendon_desc *a = &d->tendon[i];
        snw_field_object(j, a->name);
        snw_field_text(j, "kind", snw_actuator_table[a->kind].name);
        snw_field_text(j, "given", tendon_given(a));
        if (a->nsegment > 0) snw_field_number(j, "straight", a->nsegment);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_fluids(snw_json *j, const snw_desc *d) {
    snw_field_object(j, "fluid");
    for (int i = 0; i < d->nfluid; i++) {
        const snw_fluid_desc *f = &d->fluid[i];
        snw_field_object(j, f->name);
        snw_field_number(j, "density", f->density);
        snw_field_bool(j, "added", f->added != SNW_ADDED_NONE);
        snw_field_bool(j, "buoyancy", f->buoyancy);
        snw_field_bool(j, "drag", fluid_resists(f));
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_contacts(snw_json *j, const snw_desc *d, const snw_run_info *info) {
    snw_field_object(j, "contacts");
    for (int i = 0; i < d->ncontact; i++) {
        const snw_contact_desc *c = &d->contact[i];
        snw_field_object(j, c->name);
        const snw_nonholonomic_kind kind =
            c->nonholonomic ? d->loop[c->nonholonomic - 1].nonholonomic : SNW_NONHOLONOMIC_NONE;
        snw_field_text(j, "kind",
                       c->is_obstacle ? snw_obstacle_table[c->obstacle.kind].name
                       : c->is_rods   ? "rods"
                                      : snw_nonholonomic_table[kind].name);
        if (c->nnonholonomic > 1) snw_field_integer(j, "stations", c->nnonholonomic);
        if (c->nonholonomic) {
            snw_field_text(j, "rows", info->loop_note[c->nonholonomic - 1]);
            snw_json_close(j);
            continue;
        }
        if (c->hard) {
            snw_field_number(j, "restitution", c->restitution);
        } else {
            snw_field_number(j, "stiffness", c->stiffness);
            snw_field_number(j, "damping", c->damping);
        }
        snw_field_number(j, "along", c->along);
        snw_field_number(j, "across", c->across);
        if (c->obstacle.height) snw_field_number(j, "error", c->obstacle.height->error);
        if (c->obstacle.grid) {
            snw_field_number(j, "error", c->obstacle.grid->error);
            snw_field_number(j, "error_beyond", c->obstacle.grid->error_beyond);
            snw_field_number(j, "error_mean", c->obstacle.grid->mean);
        }
        const char *warning = info->contact_warning[i];
        if (warning[0]) snw_field_text(j, "warning", warning);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_force_elements(snw_json *j, const snw_desc *d) {
    snw_field_object(j, "springs");
    for (int i = 0; i < d->nforce_element; i++) {
        const snw_force_element_desc *e = &d->force_element[i];
        const snw_force_element_type *type = &snw_force_element_table[e->kind];
        char end[TEXT];
        snw_field_object(j, e->name);
        snw_field_text(j, "kind", type->name);
        snw_field_list(j, "between");
        for (int k = 0; k < 2; k++) {
            site_text(d, &e->end[k], end, sizeof end);
            snw_json_text(j, end);
        }
        snw_json_close(j);
        if (type->options & SNW_ELEMENT_TAKES_REST) snw_field_number(j, "rest", e->rest);
        if (!type->frames) {
            snw_field_number(j, "stiffness", e->stiffness);
            snw_field_number(j, "damping", e->damping);
        } else {
            snw_field_numbers(j, "stiffness", 6, e->axis_stiffness);
            snw_field_numbers(j, "damping", 6, e->axis_damping);
            if (e->coupling) snw_field_numbers(j, "coupling", 36, e->coupling);
        }
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_fields(snw_json *j, const snw_desc *d, const snw_run_info *info) {
    snw_field_object(j, "fields");
    for (int i = 0; i < d->nforce_field; i++) {
        const snw_force_field_desc *f = &d->force_field[i];
        snw_field_object(j, f->name);
        snw_field_text(j, "kind", snw_force_field_name[f->kind]);
        snw_field_list(j, "links");
        for (int k = 0; k < f->nlink; k++) snw_json_text(j, d->link[f->link[k]].name);
        snw_json_close(j);
        snw_field_bool(j, "potential", info->field_has_energy[i]);
        snw_field_text(j, "warning", info->field_warning[i][0] ? info->field_warning[i] : NULL);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_probes(snw_json *j, const snw_desc *d) {
    snw_field_object(j, "probes");
    for (int i = 0; i < d->nprobe; i++) {
        const snw_probe_desc *p = &d->probe[i];
        char site[TEXT];
        probe_text(d, p, site, sizeof site);
        snw_field_object(j, p->name);
        snw_field_text(j, "quantity", snw_probe_name(p->kind));
        snw_field_text(j, "of", probe_has_site(p->kind) ? site : NULL);
        snw_field_integer(j, "stations", p->along);
        snw_json_close(j);
    }
    snw_json_close(j);
}

snw_status snw_explain_json(snw_json *j, const snw_desc *d, const snw_run_info *info,
                            const bool *idle, double curvature) {
    link_table table;
    SNW_TRY(link_table_create(d, info, &table));
    snw_field_integer(j, "degrees_of_freedom", info->freedom);
    snw_field_integer(j, "coordinates", info->nv);
    snw_field_integer(j, "driven", info->driven);
    snw_field_integer(j, "nodes", info->nnode);
    json_vector(j, "gravity", d->gravity);
    json_links(j, d, &table, info, curvature);
    link_table_free(&table);
    json_loops(j, d, info);
    snw_field_list(j, "idle");
    for (int i = 0; i < d->nlink; i++) {
        if (idle[i]) snw_field_text(j, NULL, d->link[i].name);
    }
    snw_json_close(j);
    json_loads(j, d);
    json_motors(j, d);
    json_tendons(j, d);
    snw_field_text(j, "locomotion", info->locomotion);
    json_contacts(j, d, info);
    if (d->nforce_element > 0) json_force_elements(j, d);
    json_fluids(j, d);
    if (d->nforce_field > 0) json_fields(j, d, info);
    json_probes(j, d);
    snw_field_list(j, "study");
    for (int i = 0; i < d->nstep; i++) {
        char text[TEXT];
        step_text(d, &d->step[i], text, sizeof text);
        snw_field_object(j, NULL);
        snw_field_text(j, "name", d->step[i].name);
        snw_field_text(j, "does", text);
        snw_json_close(j);
    }
    snw_json_close(j);
    return SNW_OK;
}
