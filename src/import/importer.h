// SPDX-License-Identifier: MIT
//
// importer.h: what the readers of all formats use: errors and notes with their line, poses, lists
// of parts, meshes.
#pragma once

#include "import/import.h"
#include "language/element.h"
#include "math/se3.h"

typedef struct snw_importer {
    const snw_import_opts *opts;
    snw_imported_robot *r;
    snw_error *err;
} snw_importer;

// `return SNW_IMPORT_FAIL(u, e, "..", ..)`: an error at an element.
#define SNW_IMPORT_FAIL(u, e, ...)                                                                 \
    snw_fail_at_location((u)->err, snw_fail((u)->err, SNW_E_MODEL, __VA_ARGS__), (e)->path,        \
                         (e)->line, 1)
// A note of something changed or not carried over; e may be NULL.
#define SNW_IMPORT_NOTE(u, e, ...)                                                                 \
    do {                                                                                           \
        if (!snw_imported_note_add((u)->r, e, __VA_ARGS__)) return snw_fail_memory((u)->err);      \
    } while (0)

// Adds a note, formatted as by printf; false when out of memory.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
bool
snw_imported_note_add(snw_imported_robot *r, const snw_element *e, const char *format, ...);

// Room for n links and n joints; error beyond SNW_IMPORT_PARTS.
SNW_NODISCARD snw_status snw_import_room(snw_importer *u, const snw_element *root, int n);
// Next link and next joint, set to their defaults.
snw_imported_link *snw_import_link(snw_importer *u, const snw_element *e, const char *name);
snw_imported_joint *snw_import_joint(snw_importer *u, const snw_element *e, const char *name);
int snw_imported_find_link(const snw_imported_robot *r, const char *name);  // -1: none
int snw_imported_find_joint(const snw_imported_robot *r, const char *name); // -1: none
// Error: links that are joined in a circle and so hang on no root.
SNW_NODISCARD snw_status snw_import_check_tree(snw_importer *u, const snw_element *root);

// Joint j follows joint `of` (-1: none of that name) with j->ratio and j->offset. Where no gear can
// do that, a note tells so.
SNW_NODISCARD snw_status snw_import_mimic(snw_importer *u, const snw_element *e,
                                          snw_imported_joint *j, int of);

// ---- poses

snw_mat3 snw_rpy_matrix(const double *rpy); // Rz(yaw) Ry(pitch) Rx(roll)
snw_se3 snw_imported_se3(const snw_imported_pose *p);
snw_imported_pose snw_imported_pose_of(snw_se3 g);
bool snw_imported_pose_none(const snw_imported_pose *p); // the identity
// R I R', symmetric in every bit
snw_mat3 snw_turn_inertia(snw_mat3 R, snw_mat3 I);
// Pose of a link in the world with all joints at zero.
snw_se3 snw_imported_link_pose(const snw_imported_robot *r, int link);

// ---- masses

// A part of a body: adds a mass with its centre and its inertia about it, all in the link's axes.
void snw_imported_add_mass(snw_imported_link *link, double mass, snw_vec3 com, snw_mat3 inertia);
// *mass <- of a shape, by density (kg/m^3), or by its own mass where that is above zero; centre and
// inertia about it in the link's axes. A mesh has the axes of `scale`. *solid <- false: it is a
// mesh without a volume.
SNW_NODISCARD snw_status snw_imported_shape_mass(snw_importer *u, const snw_imported_shape *s,
                                                 const double *scale, double density, double *mass,
                                                 snw_vec3 *com, snw_mat3 *inertia, bool *solid);

// ---- meshes

// Path of a file: package://NAME/REST, model://NAME/REST, file://PATH, absolute, or relative to the
// file of the robot or to one of the folders above it. NULL: not found.
const char *snw_import_find_file(snw_importer *u, const char *file);
// Can the mesh shape->file with the scales of its axes be a shape of the model? If so
// shape->found and scale are set, and the kind is a mesh, or a hull where it is not closed and
// touches; if not, a note says why. shape->collision is set.
SNW_NODISCARD snw_status snw_import_mesh(snw_importer *u, const snw_element *e, const char *link,
                                         const double scale[3], snw_imported_shape *shape,
                                         bool *use);
// Room for the shapes of a link.
SNW_NODISCARD snw_status snw_import_shapes(snw_importer *u, snw_imported_link *link, int most);
// Keep the shapes that the options want.
void snw_import_choose_shapes(const snw_importer *u, snw_imported_link *link);
