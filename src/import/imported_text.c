// SPDX-License-Identifier: MIT
//
// Writes the parts of an imported robot as a model that a person would edit: links in the order of
// the tree, the joint of each with its name, an actuator for each joint that holds it at zero, or
// in the middle of its range.
#include "import/import.h"

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

// {xyz: .., rpy: ..}
static void put_pose(model_writer *w, const double *xyz, const double *rpy) {
    put(w, "{");
    if (!is_zero(xyz)) {
        put(w, "xyz: ");
        put_list(w, 3, xyz);
    }
    if (!is_zero(rpy)) {
        put(w, "%srpy: ", is_zero(xyz) ? "" : ", ");
        put_list(w, 3, rpy);
    }
    put(w, "}");
}

// text of a comment, in one line
static void put_comment(model_writer *w, const char *text) {
    for (; *text; text++) put(w, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
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
        put(w, "cylinder, radius: ");
        put_number(w, s->size[0]);
        put(w, ", length: ");
        put_number(w, s->size[1]);
        break;
    case SNW_IMPORTED_SPHERE:
        put(w, "sphere, radius: ");
        put_number(w, s->size[0]);
        break;
    case SNW_IMPORTED_MESH:
        put(w, "mesh, file: \"%s%s%s\"", w->folder, *w->folder ? "/" : "", s->beside);
        if (s->scale != 1) {
            put(w, ", scale: ");
            put_number(w, s->scale);
        }
        break;
    }
    if (!is_zero(s->xyz) || !is_zero(s->rpy)) {
        put(w, ", pose: ");
        put_pose(w, s->xyz, s->rpy);
    }
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
    if (link->nshape > 0) put(w, "      shapes:\n");
    for (int i = 0; i < link->nshape; i++) put_shape(w, &link->shape[i]);
}

static const char *joint_word(snw_imported_joint_kind kind) {
    switch (kind) {
    case SNW_IMPORTED_REVOLUTE:
        return "revolute";
    case SNW_IMPORTED_PRISMATIC:
        return "prismatic";
    case SNW_IMPORTED_PLANAR:
        return "planar";
    case SNW_IMPORTED_FREE:
        return "free";
    case SNW_IMPORTED_FIXED:
        break;
    }
    return "fixed";
}

static bool has_one_coordinate(const snw_imported_joint *j) {
    return j->kind == SNW_IMPORTED_REVOLUTE || j->kind == SNW_IMPORTED_PRISMATIC;
}

static void put_axis(model_writer *w, const double *axis) {
    static const char name[] = "xyz";
    for (int i = 0; i < 3; i++) {
        if (fabs(axis[i]) == 0 || axis[(i + 1) % 3] != 0 || axis[(i + 2) % 3] != 0) continue;
        put(w, "    axis: %s%c\n", axis[i] < 0 ? "-" : "", name[i]);
        return;
    }
    put(w, "    axis: ");
    put_list(w, 3, axis);
    put(w, "\n");
}

static void put_joint(model_writer *w, const snw_imported_joint *j) {
    put(w, "    on: %s\n", w->r->link[j->parent].word);
    if (!is_zero(j->xyz) || !is_zero(j->rpy)) {
        put(w, "    pose: ");
        put_pose(w, j->xyz, j->rpy);
        put(w, "\n");
    }
    if (j->kind == SNW_IMPORTED_FIXED) return;
    put(w, "    joint: %s    # ", joint_word(j->kind));
    put_comment(w, j->name);
    put(w, "\n");
    if (j->kind != SNW_IMPORTED_FREE) put_axis(w, j->axis);
    if (!has_one_coordinate(j)) return;
    if (j->limited) {
        const double limits[2] = {j->low, j->high};
        put(w, "    limits: ");
        put_list(w, 2, limits);
        put(w, "\n");
    }
    if (j->damping > 0) {
        put(w, "    damping: ");
        put_number(w, j->damping);
        put(w, "\n");
    }
    if (j->friction > 0) {
        put(w, "    friction: ");
        put_number(w, j->friction);
        put(w, "\n");
    }
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
        if (r->link[root].joint >= 0) continue;
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
    return j->limited && (j->low > 0 || j->high < 0) ? 0.5 * (j->low + j->high) : 0;
}

static void put_actuators(model_writer *w) {
    const snw_imported_robot *r = w->r;
    int n = 0;
    for (int i = 0; i < r->njoint; i++) n += has_one_coordinate(&r->joint[i]);
    if (n == 0) return;
    put(w,
        "actuators:    # each holds its joint; 'effort' instead of 'position' makes it a motor\n");
    for (int i = 0; i < r->njoint; i++) {
        const snw_imported_joint *j = &r->joint[i];
        if (!has_one_coordinate(j)) continue;
        const bool turns = j->kind == SNW_IMPORTED_REVOLUTE;
        put(w, "  %s: {joint: %s, position: ", j->word, r->link[j->child].word);
        put_number(w, held_at(j));
        put(w, "}");
        if (j->effort > 0) put(w, "    # at most %g %s", j->effort, turns ? "N*m" : "N");
        if (j->effort > 0 && j->velocity > 0)
            put(w, ", %g %s", j->velocity, turns ? "rad/s" : "m/s");
        put(w, "\n");
    }
    put(w, "probes:\n");
    for (int i = 0; i < r->njoint; i++) {
        if (has_one_coordinate(&r->joint[i]))
            put(w, "  %s: {effort: %s}\n", r->joint[i].word, r->joint[i].word);
    }
    put(w, "live:    # sliders of sinew play\n");
    for (int i = 0; i < r->njoint; i++) {
        const snw_imported_joint *j = &r->joint[i];
        if (!has_one_coordinate(j)) continue;
        const double whole[2] = {-3.14, 3.14}, limits[2] = {j->low, j->high};
        put(w, "  %s: ", j->word);
        put_list(w, 2, j->limited ? limits : whole);
        put(w, "\n");
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
        if (r->note[i].line > 0) put(w, "line %d: ", r->note[i].line);
        put_comment(w, r->note[i].text);
        put(w, "\n");
    }
    put(w, "sinew: 1\ntitle: ");
    // quoted, since a name may have any characters
    put(w, "\"");
    for (const char *c = r->name; *c; c++)
        put(w, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", (unsigned char)*c < ' ' ? ' ' : *c);
    put(w, "\"\nrobot:\n");
    put_links(w);
    put_actuators(w);
    put(w, "study:\n  - static:\n");
}

snw_status snw_imported_write(const snw_imported_robot *r, const snw_import_opts *opts,
                              const char *folder, const char **text, snw_error *err) {
    snw_buffer buffer = {0};
    model_writer w = {.r = r, .opts = opts, .folder = folder, .sink = snw_sink_buffer(&buffer)};
    put_model(&w); // counts
    buffer.text = snw_pool_take(r->pool, buffer.size + 1);
    if (!buffer.text) return snw_fail_memory(err);
    buffer.size = 0;
    put_model(&w);
    *text = buffer.text;
    return SNW_OK;
}
