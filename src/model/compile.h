// SPDX-License-Identifier: MIT
//
// compile.h: the model under construction. Private to src/model.
#pragma once

#include "model/layout.h"
#include "model/model.h"

// Coordinates of paths of which each begins with the one before.
typedef struct snw_dof_list {
    int *dof;
    int room, used;
} snw_dof_list;

typedef struct snw_build {
    snw_model *m;
    bool memory_out;
    snw_layout *layout; // of each link's rod
    snw_rod *draft;     // of each link's rod, before its coordinates have numbers
    int most_phi;       // most values of all components at one station, over all rods
    // arrays of the model while they are written
    snw_seg *seg;
    snw_path *path;
    int *path_list;     // of each path: the list that it stands in
    snw_dof_list *list; // as many
    int *place;         // nv: where coordinates stand, snw_build_places
    int *order;         // 0, 1, 2 ...: as many as the longest path has
    snw_pose_desc *pose;
    snw_block *block;
    snw_spring *spring;
    snw_slice *slice;
    snw_rod *rod;
    snw_point *point;
    snw_load_point *load_point;
    double *phi, *seg_x, *seg_w;
    snw_twist *xi0;
    int *link_first, *link_end, *link_rod, *link_block;
    int nphi;
    snw_field *field;
    snw_variable_length_node *variable_node;
    double *variable_phi;
    int nvariable_phi;
} snw_build;

void *snw_build_array(snw_build *b, size_t n, size_t size);
int snw_build_site(snw_build *b, const snw_site *site); // segment at a site, offset included
int snw_build_pose(snw_build *b, const snw_pose_desc *pose, int parent, int link);
int snw_build_path(snw_build *b, int parent_path, int dof0, int n);
int snw_build_seg(snw_build *b, snw_seg_kind kind, int parent, int item, int link, int path);
int snw_build_slice_seg(snw_build *b, int parent, int link, int path, double x, double w);
void snw_build_inertia(snw_build *b, int s, const snw_inertia *M);
snw_status snw_fail_desc(snw_error *err, snw_source_location at, snw_status s);

// Does a condition ever hold? And the switch of one that comes and goes; -1: it is constant.
bool snw_exists(snw_law when);
SNW_NODISCARD snw_status snw_build_condition(snw_build *b, snw_law when, int *out, snw_error *err);

// New coordinates: a block of this space with n velocities, moving the next segment.
int snw_build_block(snw_build *b, snw_space space, int n);
// The segments of link l's joint on `parent`; returns the last one.
int snw_build_joint(snw_build *b, int l, int parent);

// Coordinates, bases and node layout of link l's rod, from its description and attachments.
SNW_NODISCARD snw_status snw_build_draft(snw_build *b, int l, int nstation, const double *station,
                                         snw_error *err);
// Its segments on `parent`; `end` is its tip.
SNW_NODISCARD snw_status snw_build_rod(snw_build *b, int l, int parent, int *end, snw_error *err);
// The functions at the Magnus points of [from, to]; fills slice number `i`.
void snw_build_slice(snw_build *b, int i, int rod, double from, double to);
// b->place and b->order, when all links have their coordinates.
SNW_NODISCARD snw_status snw_build_order(snw_build *b);
// Where each column of a path stands among the n coordinates dof; new ones are added behind.
// b->place says where those that are there already stand.
const int *snw_build_places(snw_build *b, const snw_path *path, int *dof, int *n);
// Where a tendon or chamber is in the section of its spot, and the strain that its coordinates add
// to.
SNW_NODISCARD snw_status snw_build_place(const snw_tendon_desc *d, const snw_rod *rod,
                                         snw_tendon_point *p, snw_error *err);
void snw_build_reference(const snw_build *b, snw_tendon_point *p);
// Kinks between the spots of a tendon from spot0 on, behind m->ntendon_corner others; dof as above.
SNW_NODISCARD snw_status snw_build_tendon_corners(snw_build *b, const snw_tendon_desc *d, int spot0,
                                                  snw_tendon_point *point,
                                                  snw_tendon_corner *corner, double *phi, int *nphi,
                                                  int *dof, int *n, snw_error *err);
// Of a rod that is fed, compile_feed.c: can it be? The coordinate of its free length on `parent`,
// in front of its segments; what its node s needs; and how its damping sees the feed.
SNW_NODISCARD snw_status snw_check_variable_length(const snw_desc *d, int l, snw_error *err);
int snw_build_feed(snw_build *b, int l, snw_rod *r, int parent);
void snw_build_variable_length_node(snw_build *b, const snw_rod *r, int rod, int s);
SNW_NODISCARD snw_status snw_build_variable_length_damping(snw_build *b, snw_rod *r,
                                                           const double D[36]);
// What it needs instead when its section varies.
SNW_NODISCARD snw_status snw_build_section_varies(snw_build *b, snw_rod *r);
// Closures, behind all links.
SNW_NODISCARD snw_status snw_build_loops(snw_build *b, snw_error *err);
// Actuators on coordinates; the rows of driven ones come behind those of the loops.
SNW_NODISCARD snw_status snw_build_motors(snw_build *b, snw_error *err);
// Tendons and chambers; the rows of given volumes come behind those of the drives.
SNW_NODISCARD snw_status snw_build_tendons(snw_build *b, snw_error *err);
// What fluids act on, behind all segments of the physics.
SNW_NODISCARD snw_status snw_build_fluids(snw_build *b, snw_error *err);
// What touches the ground, likewise.
SNW_NODISCARD snw_status snw_build_contacts(snw_build *b, snw_error *err);
// Stations of the probes, as segments or observers.
SNW_NODISCARD snw_status snw_build_stations(snw_build *b, snw_error *err);
snw_status snw_build_signals(snw_build *b); // after the watches
// q0, v0 from the description's initial state.
SNW_NODISCARD snw_status snw_build_initial(snw_build *b, snw_error *err);
