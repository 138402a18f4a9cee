// SPDX-License-Identifier: MIT
//
// Lists of parts of an imported robot, notes, poses and masses: common to the readers of formats.
#include "import/importer.h"

#include "base/fail.h"
#include "language/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOTES_AT_FIRST = 16, NOTES_MOST = 2000, NOTE_SIZE = 400 };

bool snw_imported_note_add(snw_imported_robot *r, const snw_element *e, const char *format, ...) {
    if (r->nnote == NOTES_MOST) return true; // bounds the list
    if (r->nnote == r->most_notes) {
        const int most = r->most_notes ? 2 * r->most_notes : NOTES_AT_FIRST;
        snw_import_remark *grown = snw_pool_array(r->pool, (size_t)most, sizeof *grown);
        if (!grown) return false;
        if (r->nnote > 0) memcpy(grown, r->note, (size_t)r->nnote * sizeof *grown);
        r->note = grown;
        r->most_notes = most;
    }
    char text[NOTE_SIZE];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snw_text_clean(text);
    const char *kept = snw_pool_text(r->pool, text, strlen(text));
    if (!kept) return false;
    snw_import_remark *note = &r->note[r->nnote++];
    *note = (snw_import_remark){.text = kept};
    if (e) {
        note->line = e->line;
        note->path = strcmp(e->path, r->path) == 0 ? NULL : e->path;
    }
    return true;
}

// ---- parts --------------------------------------------------------------------------------------

snw_status snw_import_room(snw_importer *u, const snw_element *root, int n) {
    snw_imported_robot *r = u->r;
    if (n > SNW_IMPORT_PARTS)
        return SNW_IMPORT_FAIL(u, root, "the robot has %d links and joints; at most %d are read", n,
                               (int)SNW_IMPORT_PARTS);
    r->link = snw_pool_array(r->pool, (size_t)n + 1, sizeof *r->link);
    r->joint = snw_pool_array(r->pool, (size_t)n + 1, sizeof *r->joint);
    return r->link && r->joint ? SNW_OK : snw_fail_memory(u->err);
}

snw_imported_link *snw_import_link(snw_importer *u, const snw_element *e, const char *name) {
    snw_imported_link *link = &u->r->link[u->r->nlink++];
    *link = (snw_imported_link){.name = name, .line = e->line, .joint = -1};
    return link;
}

snw_imported_joint *snw_import_joint(snw_importer *u, const snw_element *e, const char *name) {
    snw_imported_joint *j = &u->r->joint[u->r->njoint++];
    *j = (snw_imported_joint){.name = name, .line = e->line, .parent = -1, .mimics = -1};
    return j;
}

int snw_imported_find_link(const snw_imported_robot *r, const char *name) {
    for (int i = 0; i < r->nlink; i++) {
        if (strcmp(r->link[i].name, name) == 0) return i;
    }
    return -1;
}

int snw_imported_find_joint(const snw_imported_robot *r, const char *name) {
    for (int i = 0; i < r->njoint; i++) {
        if (strcmp(r->joint[i].name, name) == 0) return i;
    }
    return -1;
}

static int parent_of(const snw_imported_robot *r, int link) {
    return r->link[link].joint < 0 ? -1 : r->joint[r->link[link].joint].parent;
}

snw_status snw_import_check_tree(snw_importer *u, const snw_element *root) {
    const snw_imported_robot *r = u->r;
    for (int i = 0; i < r->nlink; i++) {
        int at = i, steps = 0;
        while (at >= 0 && steps++ <= r->nlink) at = parent_of(r, at);
        if (at < 0) continue;
        const snw_element here = {.path = root->path, .line = r->link[i].line};
        return SNW_IMPORT_FAIL(
            u, &here, "link '%.80s' is its own ancestor; joints must form a tree", r->link[i].name);
    }
    return SNW_OK;
}

static bool has_one_axis(const snw_imported_joint *j) {
    return j->kind == SNW_IMPORTED_REVOLUTE || j->kind == SNW_IMPORTED_PRISMATIC;
}

snw_status snw_import_mimic(snw_importer *u, const snw_element *e, snw_imported_joint *j, int of) {
    const snw_imported_robot *r = u->r;
    bool circle = false;
    int at = of;
    for (int i = 0; at >= 0 && i <= r->njoint; i++) {
        circle = circle || &r->joint[at] == j;
        at = r->joint[at].mimics;
    }
    const char *why = of < 0                                             ? "there is none"
                      : circle                                           ? "it follows itself"
                      : j->ratio == 0                                    ? "the ratio is zero"
                      : !has_one_axis(j) || !has_one_axis(&r->joint[of]) ? "not both have one axis"
                                                                         : NULL;
    if (!why) {
        j->mimics = of;
        return SNW_OK;
    }
    SNW_IMPORT_NOTE(u, e, "joint '%.80s' follows another one in the file, here it does not: %s",
                    j->name, why);
    return SNW_OK;
}

// ---- poses --------------------------------------------------------------------------------------

snw_mat3 snw_rpy_matrix(const double *rpy) {
    const double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]),
                 cy = cos(rpy[2]), sy = sin(rpy[2]);
    return (snw_mat3){{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                       {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                       {-sp, cp * sr, cp * cr}}};
}

snw_se3 snw_imported_se3(const snw_imported_pose *p) {
    return (snw_se3){p->by_quat ? snw_quat_to_mat3(p->quat) : snw_rpy_matrix(p->rpy),
                     {{p->xyz[0], p->xyz[1], p->xyz[2]}}};
}

snw_imported_pose snw_imported_pose_of(snw_se3 g) {
    snw_imported_pose p = {.by_quat = true, .quat = snw_quat_from_mat3(g.R)};
    memcpy(p.xyz, g.p.e, sizeof p.xyz);
    // rounding errors of a product of inverse rotations
    if (fabs(p.quat.x) < 1e-15 && fabs(p.quat.y) < 1e-15 && fabs(p.quat.z) < 1e-15)
        p.quat = snw_quat_identity();
    return p;
}

bool snw_imported_pose_none(const snw_imported_pose *p) {
    const double *a = p->by_quat ? &p->quat.e[1] : p->rpy;
    return p->xyz[0] == 0 && p->xyz[1] == 0 && p->xyz[2] == 0 && a[0] == 0 && a[1] == 0 &&
           a[2] == 0;
}

snw_mat3 snw_turn_inertia(snw_mat3 R, snw_mat3 I) {
    snw_mat3 out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) sum += R.e[i][a] * I.e[a][b] * R.e[j][b];
            out.e[i][j] = out.e[j][i] = sum;
        }
    }
    return out;
}

snw_se3 snw_imported_link_pose(const snw_imported_robot *r, int link) {
    snw_se3 g = snw_se3_identity();
    for (int i = 0; link >= 0 && i <= r->nlink; i++) {
        if (r->link[link].joint >= 0)
            g = snw_se3_mul(snw_imported_se3(&r->joint[r->link[link].joint].pose), g);
        link = parent_of(r, link);
    }
    return g;
}

// ---- masses -------------------------------------------------------------------------------------

// m (d'd 1 - d d'), of a mass at d
static snw_mat3 steiner(double mass, snw_vec3 d) {
    return snw_mat3_scale(mass, snw_mat3_add(snw_mat3_scale(snw_dot(d, d), snw_mat3_identity()),
                                             snw_mat3_scale(-1, snw_outer(d, d))));
}

void snw_imported_add_mass(snw_imported_link *link, double mass, snw_vec3 com, snw_mat3 inertia) {
    const snw_vec3 old = {{link->com[0], link->com[1], link->com[2]}};
    const double all = link->mass + mass;
    if (!(all > 0)) return;
    const snw_vec3 c =
        snw_scale(1 / all, snw_add(snw_scale(link->mass, old), snw_scale(mass, com)));
    const snw_mat3 I = snw_mat3_add(
        snw_mat3_add(link->inertia, inertia),
        snw_mat3_add(steiner(link->mass, snw_sub(old, c)), steiner(mass, snw_sub(com, c))));
    // symmetric in every bit
    link->inertia = snw_mat3_scale(0.5, snw_mat3_add(I, snw_mat3_transpose(I)));
    link->mass = all;
    memcpy(link->com, c.e, sizeof link->com);
    link->has_mass = true;
}
