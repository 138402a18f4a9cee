// SPDX-License-Identifier: MIT
//
// Writes the parts of an imported robot as a model that a person would edit: links in the order of
// the tree, the joint of each with its name, an actuator for each joint that holds it at zero, or
// in the middle of its range.
#include "import/importer.h"

#include "base/fail.h"
#include "output/sink.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_SIZE = 2000 };

typedef struct model_writer {
    const snw_imported_robot *r;
    const snw_import_opts *opts;
    const char *folder;
    bool overflow; // a number became infinite
    snw_sink sink;
} model_writer;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
put(model_writer *w, const char *format, ...) {
    char line[LINE_SIZE];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    const size_t size = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    (void)w->sink.write(w->sink.user, line, size);
}

static void put_number(model_writer *w, double x) {
    char text[SNW_NUMBER_SIZE];
    w->overflow = w->overflow || !isfinite(x);
    snw_number_text(x == 0 ? 0 : x, text); // without the sign of zero
    put(w, "%s", text);
}

static void put_list(model_writer *w, int n, const double *x) {
    put(w, "[");
    for (int i = 0; i < n; i++) {
        if (i > 0) put(w, ", ");
        put_number(w, x[i]);
    }
    put(w, "]");
}

static bool is_zero(const double *x) { return x[0] == 0 && x[1] == 0 && x[2] == 0; }

// {xyz: .., rpy: ..}, or with a quaternion
static void put_pose(model_writer *w, const snw_imported_pose *p) {
    put(w, "{");
    if (!is_zero(p->xyz)) {
        put(w, "xyz: ");
        put_list(w, 3, p->xyz);
    }
    if (!is_zero(p->by_quat ? &p->quat.e[1] : p->rpy)) {
        put(w, "%s%s: ", is_zero(p->xyz) ? "" : ", ", p->by_quat ? "quat" : "rpy");
        put_list(w, p->by_quat ? 4 : 3, p->by_quat ? p->quat.e : p->rpy);
    }
    put(w, "}");
}

static void put_pose_key(model_writer *w, const char *before, const snw_imported_pose *p,
                         const char *after) {
    if (snw_imported_pose_none(p)) return;
    put(w, "%s", before);
    put_pose(w, p);
    put(w, "%s", after);
}

// `    key: x`, unless it is zero
static void put_value(model_writer *w, const char *key, double x) {
    if (x == 0) return;
    put(w, "    %s: ", key);
    put_number(w, x);
    put(w, "\n");
}

// text of a comment, in one line
static void put_comment(model_writer *w, const char *text) {
    for (; *text; text++) put(w, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
}

// A text of three parts in quotes.
static void put_quoted(model_writer *w, const char *a, const char *b, const char *c) {
    const char *part[] = {a, b, c};
    put(w, "\"");
    for (int i = 0; i < 3; i++) {
        for (const char *at = part[i]; *at; at++)
            put(w, "%s%c", *at == '"' || *at == '\\' ? "\\" : "",
                (unsigned char)*at < ' ' ? ' ' : *at);
    }
    put(w, "\"");
}

// ---- links --------------------------------------------------------------------------------------

static void put_shape(model_writer *w, const snw_imported_shape *s) {
    put(w, "        - {shape: ");
    switch (s->kind) {
    case SNW_IMPORTED_BOX:
        put(w, "box, size: ");
        put_list(w, 3, s->size);
        break;
    case SNW_IMPORTED_CYLINDER:
    case SNW_IMPORTED_CAPSULE:
        put(w, "%s, radius: ", s->kind == SNW_IMPORTED_CAPSULE ? "capsule" : "cylinder");
        put_number(w, s->size[0]);
        put(w, ", length: ");
        put_number(w, s->size[1]);
        break;
    case SNW_IMPORTED_SPHERE:
        put(w, "sphere, radius: ");
        put_number(w, s->size[0]);
        break;
    case SNW_IMPORTED_MESH:
    case SNW_IMPORTED_HULL:
        put(w, "%s, file: ", s->kind == SNW_IMPORTED_MESH ? "mesh" : "hull");
        if (w->folder)
            put_quoted(w, *w->folder ? w->folder : ".", "/", s->beside);
        else
            put_quoted(w, s->found, "", "");
        if (s->scale != 1) {
            put(w, ", scale: ");
            put_number(w, s->scale);
        }
        break;
    }
    put_pose_key(w, ", pose: ", &s->pose, "");
    put(w, "}\n");
}

static void put_inertia(model_writer *w, const snw_mat3 *I) {
    const bool diagonal = I->e[0][1] == 0 && I->e[0][2] == 0 && I->e[1][2] == 0;
    put(w, "      inertia:");
    if (diagonal) {
        const double own[3] = {I->e[0][0], I->e[1][1], I->e[2][2]};
        put(w, " ");
        put_list(w, 3, own);
    } else {
        put(w, "\n");
        for (int i = 0; i < 3; i++) {
            put(w, "        - ");
            put_list(w, 3, I->e[i]);
            if (i < 2) put(w, "\n");
        }
    }
    put(w, "\n");
}

// Shapes that touch, or those that are only drawn.
static void put_shapes(model_writer *w, const snw_imported_link *link, bool touch,
                       const char *key) {
    int n = 0;
    for (int i = 0; i < link->nshape; i++) {
        if (link->shape[i].collision != touch) continue;
        if (n++ == 0) put(w, "      %s:\n", key);
        put_shape(w, &link->shape[i]);
    }
}

static void put_body(model_writer *w, const snw_imported_link *link) {
    if (!link->has_mass && link->nshape == 0) return;
    put(w, "    body:\n      mass: ");
    put_number(w, link->has_mass ? link->mass : 0);
    put(w, "\n");
    if (link->has_mass) {
        put(w, "      com: ");
        put_list(w, 3, link->com);
        put(w, "\n");
        put_inertia(w, &link->inertia);
    }
    put_shapes(w, link, true, "shapes");
    put_shapes(w, link, false, "visual");
}

static const char *joint_word(snw_imported_joint_kind kind) {
    switch (kind) {
    case SNW_IMPORTED_REVOLUTE:
        return "revolute";
    case SNW_IMPORTED_PRISMATIC:
        return "prismatic";
    case SNW_IMPORTED_SPHERICAL:
        return "spherical";
    case SNW_IMPORTED_UNIVERSAL:
        return "universal";
    case SNW_IMPORTED_SCREW:
        return "screw";
    case SNW_IMPORTED_PLANAR:
        return "planar";
    case SNW_IMPORTED_FREE:
        return "free";
    case SNW_IMPORTED_FIXED:
        break;
    }
    return "fixed";
}

static bool has_axis(snw_imported_joint_kind kind) {
    return kind != SNW_IMPORTED_FIXED && kind != SNW_IMPORTED_FREE &&
           kind != SNW_IMPORTED_SPHERICAL;
}

static bool has_one_coordinate(const snw_imported_joint *j) {
    return j->kind == SNW_IMPORTED_REVOLUTE || j->kind == SNW_IMPORTED_PRISMATIC ||
           j->kind == SNW_IMPORTED_SCREW;
}

// x, -y or [..]
static void put_direction(model_writer *w, const double *axis) {
    static const char name[] = "xyz";
    for (int i = 0; i < 3; i++) {
        if (axis[i] == 0 || axis[(i + 1) % 3] != 0 || axis[(i + 2) % 3] != 0) continue;
        put(w, "%s%c", axis[i] < 0 ? "-" : "", name[i]);
        return;
    }
    put_list(w, 3, axis);
}

static void put_axis(model_writer *w, snw_imported_joint_kind kind, const double *axis,
                     const double *axis2) {
    if (kind == SNW_IMPORTED_UNIVERSAL) {
        put(w, "    axes: [");
        put_direction(w, axis);
        put(w, ", ");
        put_direction(w, axis2);
        put(w, "]\n");
    } else if (has_axis(kind)) {
        put(w, "    axis: ");
        put_direction(w, axis);
        put(w, "\n");
    }
}

static const char *link_word(const model_writer *w, int link) {
    return link < 0 ? "world" : w->r->link[link].word;
}

static void put_limit(model_writer *w, double x) {
    if (isfinite(x))
        put_number(w, x);
    else
        put(w, "free");
}

static void put_mimic(model_writer *w, const snw_imported_joint *j) {
    if (j->mimics < 0) return;
    put(w, "    mimic: {joint: %s, ratio: ", w->r->link[w->r->joint[j->mimics].child].word);
    put_number(w, j->ratio);
    if (j->offset != 0) {
        put(w, ", offset: ");
        put_number(w, j->offset);
    }
    put(w, "}\n");
}

static void put_joint(model_writer *w, const snw_imported_joint *j) {
    put(w, "    on: %s\n", link_word(w, j->parent));
    put_pose_key(w, "    pose: ", &j->pose, "\n");
    if (j->kind == SNW_IMPORTED_FIXED) return;
    put(w, "    joint: %s    # ", joint_word(j->kind));
    put_comment(w, j->name);
    put(w, "\n");
    put_axis(w, j->kind, j->axis, j->axis2);
    if (j->kind == SNW_IMPORTED_SCREW) put_value(w, "pitch", j->pitch);
    if (!has_one_coordinate(j) && j->kind != SNW_IMPORTED_SPHERICAL) return;
    if (j->limited) {
        put(w, "    limits: [");
        put_limit(w, j->low);
        put(w, ", ");
        put_limit(w, j->high);
        put(w, "]\n");
    }
    put_value(w, "stiffness", j->stiffness);
    put_value(w, "rest", j->rest);
    put_value(w, "damping", j->damping);
    put_value(w, "friction", j->friction);
    put_value(w, "armature", j->armature);
    put_mimic(w, j);
}

static void put_link(model_writer *w, int i) {
    const snw_imported_link *link = &w->r->link[i];
    put(w, "  %s:", link->word);
    if (strcmp(link->word, link->name) != 0) {
        put(w, "    # ");
        put_comment(w, link->name);
    }
    put(w, "\n");
    if (link->joint >= 0) {
        put_joint(w, &w->r->joint[link->joint]);
    } else {
        put(w, "    on: world\n");
        if (w->opts->free) put(w, "    joint: free\n");
    }
    put_body(w, link);
}

// Parents before children, children in the order of the file: without recursion, since a chain may
// have any length.
static void put_links(model_writer *w) {
    const snw_imported_robot *r = w->r;
    for (int root = 0; root < r->nlink; root++) {
        if (r->link[root].joint >= 0 && r->joint[r->link[root].joint].parent >= 0) continue;
        put_link(w, root);
        int parent = root, from = 0;
        for (;;) {
            int j = from;
            while (j < r->njoint && r->joint[j].parent != parent) j++;
            if (j < r->njoint) {
                parent = r->joint[j].child, from = 0;
                put_link(w, parent);
                continue;
            }
            if (parent == root) break;
            from = r->link[parent].joint + 1;
            parent = r->joint[r->link[parent].joint].parent;
        }
    }
}

// ---- actuators ----------------------------------------------------------------------------------

// Where the joint is held: at zero, or in the middle of its range.
static double held_at(const snw_imported_joint *j) {
    if (!j->limited || (j->low <= 0 && j->high >= 0)) return 0;
    const double middle = 0.5 * (j->low + j->high);
    return isfinite(middle) ? middle : isfinite(j->low) ? j->low : j->high;
}

// A joint that follows another one by a gear is held by that.
static bool is_held(const snw_imported_joint *j) {
    return j->held && j->mimics < 0 && has_one_coordinate(j);
}

static void put_held(model_writer *w, const snw_imported_joint *j) {
    put(w, "  %s: {joint: %s, position: ", j->word, w->r->link[j->child].word);
    put_number(w, held_at(j));
    if (j->effort > 0) {
        put(w, ", effort_limit: ");
        put_number(w, j->effort);
    }
    if (j->velocity > 0) {
        put(w, ", rate_limit: ");
        put_number(w, j->velocity);
    }
    put(w, "}\n");
}

// + x*name, unless x is zero
static void put_term(model_writer *w, double x, const char *name, const char *end) {
    if (x == 0) return;
    put(w, " %c ", x < 0 ? '-' : '+');
    put_number(w, fabs(x));
    if (name) put(w, "*%s%s", name, end);
}

static void put_motor(model_writer *w, const snw_imported_actuator *a) {
    const snw_imported_joint *j = &w->r->joint[a->joint];
    const bool even = a->bounded && a->force[0] == -a->force[1];
    put(w, "  %s: {joint: %s, effort: \"", a->word, w->r->link[j->child].word);
    if (a->bounded && !even) put(w, "min(max(");
    put_number(w, a->gain);
    put(w, "*%s_control", a->plain);
    put_term(w, a->bias[0], NULL, "");
    put_term(w, a->bias[1], a->plain, "_q");
    put_term(w, a->bias[2], a->plain, "_v");
    if (a->bounded && !even) {
        put(w, ", ");
        put_number(w, a->force[0]);
        put(w, "), ");
        put_number(w, a->force[1]);
        put(w, ")");
    }
    put(w, "\"");
    if (even) {
        put(w, ", effort_limit: ");
        put_number(w, a->force[1]);
    }
    put(w, "}\n");
}

static void put_controls(model_writer *w) {
    const snw_imported_robot *r = w->r;
    if (r->nactuator == 0) return;
    put(w, "parameters:    # controls of the actuators\n");
    for (int i = 0; i < r->nactuator; i++) put(w, "  %s_control: 0\n", r->actuator[i].plain);
}

static void put_live(model_writer *w) {
    const snw_imported_robot *r = w->r;
    put(w, "live:    # sliders of sinew play\n");
    for (int i = 0; i < r->njoint; i++) {
        const snw_imported_joint *j = &r->joint[i];
        if (!is_held(j)) continue;
        const bool both = j->limited && isfinite(j->low) && isfinite(j->high);
        const double whole[2] = {-3.14, 3.14}, limits[2] = {j->low, j->high};
        put(w, "  %s: ", j->word);
        put_list(w, 2, both ? limits : whole);
        put(w, "\n");
    }
    for (int i = 0; i < r->nactuator; i++) {
        const double whole[2] = {-1, 1};
        put(w, "  %s_control: ", r->actuator[i].plain);
        put_list(w, 2, r->actuator[i].ranged ? r->actuator[i].range : whole);
        put(w, "\n");
    }
}

static void put_actuators(model_writer *w) {
    const snw_imported_robot *r = w->r;
    int held = 0;
    for (int i = 0; i < r->njoint; i++) held += is_held(&r->joint[i]);
    if (held + r->nactuator == 0) return;
    put_controls(w);
    put(w, "actuators:");
    if (held > 0)
        put(w, "    # each holds its joint; 'effort' instead of 'position' makes it a motor");
    put(w, "\n");
    for (int i = 0; i < r->njoint; i++) {
        if (is_held(&r->joint[i])) put_held(w, &r->joint[i]);
    }
    for (int i = 0; i < r->nactuator; i++) put_motor(w, &r->actuator[i]);
    put(w, "probes:\n");
    for (int i = 0; i < r->njoint; i++) {
        if (is_held(&r->joint[i]))
            put(w, "  %s: {effort: %s}\n", r->joint[i].plain, r->joint[i].word);
    }
    for (int i = 0; i < r->nactuator; i++) {
        const snw_imported_actuator *a = &r->actuator[i];
        const char *link = r->link[r->joint[a->joint].child].word;
        put(w, "  %s: {effort: %s}\n  %s_q: {value: %s}\n  %s_v: {rate: %s}\n", a->plain, a->word,
            a->plain, link, a->plain, link);
    }
    put_live(w);
}

// ---- loops --------------------------------------------------------------------------------------

static void put_loops(model_writer *w) {
    const snw_imported_robot *r = w->r;
    if (r->nloop == 0) return;
    put(w, "sites:    # ends of loops\n");
    for (int i = 0; i < r->nloop; i++) {
        const snw_imported_loop *l = &r->loop[i];
        for (int k = 0; k < 2; k++) {
            put(w, "  %s_end_%d: {on: %s", l->word, k + 1, link_word(w, l->link[k]));
            put_pose_key(w, ", pose: ", &l->pose[k], "");
            put(w, "}\n");
        }
    }
    put(w, "loops:\n");
    for (int i = 0; i < r->nloop; i++) {
        const snw_imported_loop *l = &r->loop[i];
        put(w, "  %s:    # ", l->word);
        put_comment(w, l->name);
        put(w, "\n    join: [%s_end_1, %s_end_2]\n    as: %s\n", l->word, l->word,
            joint_word(l->kind));
        put_axis(w, l->kind, l->axis, l->axis2);
        if (l->kind == SNW_IMPORTED_SCREW) put_value(w, "pitch", l->pitch);
    }
}

// ---- the whole ----------------------------------------------------------------------------------

static void put_model(model_writer *w) {
    const snw_imported_robot *r = w->r;
    const char *slash = strrchr(r->path, '/');
    put(w, "# ");
    put_comment(w, slash ? slash + 1 : r->path);
    put(w,
        " as a model, by sinew import: %d links, %d joints. Lengths in m, angles in rad, masses in "
        "kg.\n",
        r->nlink, r->njoint);
    put(w, "# Put soft parts on any link: 'finger: {on: %s, rod: {..}}'.\n",
        r->link[r->nlink - 1].word);
    if (r->nnote > 0) put(w, "#\n# Not as in the file:\n");
    for (int i = 0; i < r->nnote; i++) {
        put(w, "# - ");
        if (r->note[i].path) {
            put_comment(w, r->note[i].path);
            put(w, ", ");
        }
        if (r->note[i].line > 0) put(w, "line %d: ", r->note[i].line);
        put_comment(w, r->note[i].text);
        put(w, "\n");
    }
    put(w, "sinew: 1\ntitle: ");
    put_quoted(w, r->name, "", ""); // since a name may have any characters
    put(w, "\n");
    if (r->has_gravity) {
        put(w, "gravity: ");
        put_list(w, 3, r->gravity);
        put(w, "\n");
    }
    put(w, "robot:\n");
    put_links(w);
    put_loops(w);
    put_actuators(w);
    bool free = w->opts->free;
    for (int i = 0; i < r->njoint; i++) free = free || r->joint[i].kind == SNW_IMPORTED_FREE;
    put(w, free ? "study:\n  - dynamic: {for: 1 s, step: 5 ms}\n" : "study:\n  - static:\n");
}

snw_status snw_imported_write(const snw_imported_robot *r, const snw_import_opts *opts,
                              const char *folder, const char **text, snw_error *err) {
    snw_buffer buffer = {0};
    model_writer w = {.r = r, .opts = opts, .folder = folder, .sink = snw_sink_buffer(&buffer)};
    put_model(&w); // counts
    if (w.overflow)
        return snw_fail_at_location(
            err, snw_fail(err, SNW_E_MODEL, "numbers of the file are too large to be multiplied"),
            r->path, 0, 0);
    buffer.text = snw_pool_take(r->pool, buffer.size + 1);
    if (!buffer.text) return snw_fail_memory(err);
    buffer.size = 0;
    put_model(&w);
    *text = buffer.text;
    return SNW_OK;
}
