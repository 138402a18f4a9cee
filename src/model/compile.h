// SPDX-License-Identifier: MIT
//
// compile.h: the model under construction: shared by the files compile_*.c that write its parts.
// Private to src/model.
#pragma once

#include "model/layout.h"
#include "model/model.h"

// Array of coordinates shared by paths each of which begins with the previous one.
typedef struct snw_dof_list {
    int *dof;
    int room, used; // capacity and length
} snw_dof_list;

// A contact behind those of the description: solid `solid` of the body that is the obstacle of
// contact `against`, link -1; or solid `solid` of link `link`, which touches that obstacle.
typedef struct snw_pair {
    int against, link, solid;
} snw_pair;

typedef struct snw_build {
    snw_model *m;
    bool memory_out; // an allocation failed
    snw_model_use use;
    bool local;         // the model will be local
    snw_layout *layout; // nlink: nodes of the rod of each link
    snw_rod *draft;     // nlink: rod of each link before coordinates are numbered
    int most_phi;       // largest number of shape function values at one section, over all rods
    // arrays of the model, writable
    snw_seg *seg;
    snw_path *path;
    int *path_list;     // npath: list that holds its coordinates
    snw_dof_list *list; // npath: at most one list per path
    int *position;      // nv: position of each coordinate in a list, snw_build_positions
    int *order;         // 0, 1, 2, ..., up to the length of the longest path
    snw_pose_desc *pose;
    snw_block *block;
    snw_spring *spring;
    snw_stop *stop;
    snw_slice *slice;
    snw_rod *rod;
    snw_point *point;
    snw_load_point *load_point;
    snw_loop *loop;
    snw_contact *contact;
    int ncontact;   // with those behind the ones of the description,
    snw_pair *pair; // which are these
    snw_force_field *force_field;
    snw_drive *drive;
    snw_motor *motor;
    int *condition_signal;
    double *phi, *seg_x, *seg_w;
    snw_twist *xi0;
    int *link_first, *link_end, *link_rod, *link_block;
    int nphi;
    snw_field *field;
    snw_rod_grid *grid;
    snw_variable_length_node *variable_node;
    double *variable_phi;
    int nvariable_phi;
} snw_build;

// m->node_seg, m->node_of_seg.
SNW_NODISCARD snw_status snw_build_nodes(snw_build *b);

// Most unknowns beside the coordinates of a local model: multipliers of constraint rows, wrenches
// of force elements, efforts of tendons. A local model solves for each of them along the whole
// robot.
int snw_desc_border(const snw_desc *d);
// Name of something in the description that a local model cannot have; NULL: there is nothing.
const char *snw_desc_not_local(const snw_desc *d);
// For what the description needs whole matrices of all coordinates, or NULL: sparse ones suffice.
const char *snw_desc_needs_matrix(const snw_desc *d);

// Zeroed array from the pool of the model; on failure NULL and b->memory_out.
void *snw_build_array(snw_build *b, size_t n, size_t size);
// Segment of a site; an offset of the site gets a pose segment of its own.
int snw_build_site(snw_build *b, const snw_site *site);
// Add a pose segment, a path (that of the parent, then n coordinates from dof0 on), a segment, a
// rod segment with the next slice (arc length x, quadrature weight w). They return the new index.
int snw_build_pose(snw_build *b, const snw_pose_desc *pose, int parent, int link);
// Description of a constant pose; sets memory_out when memory is exhausted.
snw_pose_desc snw_build_constant_pose(snw_build *b, snw_se3 g);
int snw_build_path(snw_build *b, int parent_path, int dof0, int n);
int snw_build_seg(snw_build *b, snw_seg_kind kind, int parent, int item, int link, int path);
int snw_build_slice_seg(snw_build *b, int parent, int link, int path, double x, double w);
// Typical length of the robot, m; after all links.
double snw_build_length(const snw_build *b);
// Add the inertia M to segment s.
void snw_build_inertia(snw_build *b, int s, const snw_inertia *M);
// Add the position in the file to err; returns s.
snw_status snw_fail_desc(snw_error *err, snw_source_location at, snw_status s);

// Number of contacts that obstacle c of the description becomes, at most: each of its solids, and
// each solid of a link that touches one.
size_t snw_obstacle_contacts(const snw_desc *d, int c);

// Does one of n laws depend on signals?
bool snw_reads_signals(int n, const snw_law *law);
// Can the condition `when` be true at some time? And *out <- index of a condition that is a signal;
// SNW_ALWAYS when it is constant.
bool snw_exists(snw_law when);
SNW_NODISCARD snw_status snw_build_condition(snw_build *b, snw_law when, int *out, snw_error *err);

// Add a block of coordinates with n velocities for the next segment. Returns its index.
int snw_build_block(snw_build *b, snw_space space, int n);
// Add the segments of the joint of link l behind `parent`. Returns the last one.
int snw_build_joint(snw_build *b, int l, int parent);
// Arms of the stops of angles: the length of the robot.
void snw_build_stop_arms(snw_build *b);

// b->draft[l], b->layout[l] <- strain components, bases and nodes of the rod of link l; `station`:
// nstation arc lengths at which something is attached.
SNW_NODISCARD snw_status snw_build_draft(snw_build *b, int l, int nstation, const double *station,
                                         snw_error *err);
// Nonlinear law of a described rod, and its section at x; snw_rod_has_law.
snw_section_law snw_build_law(const snw_rod_desc *rod);
void snw_build_law_point(const snw_rod_desc *rod, const snw_section_law *law, double x,
                         snw_section_law_point *out);
// r->law, r->law_point <- the law and its points, after the points of the rod; it must be defined
// without strain and have a potential.
SNW_NODISCARD snw_status snw_build_rod_law(snw_build *b, snw_rod *r, snw_error *err);
// Laws of the section of a described rod.
snw_section_laws snw_build_section_laws(const snw_rod_desc *rod);
// Add the segments of the rod of link l behind `parent`; *end <- segment of its tip.
SNW_NODISCARD snw_status snw_build_rod(snw_build *b, int l, int parent, int *end, snw_error *err);
// Fill slice i: shape functions and rest strain at the Magnus points of [from, to].
void snw_build_slice(snw_build *b, int i, int rod, double from, double to);
// m->subtree, m->column_dof and how mass matrices, accelerations and tangents are computed.
SNW_NODISCARD snw_status snw_build_subtrees(snw_build *b);
// Allocate b->position and b->order, after all links have their coordinates.
SNW_NODISCARD snw_status snw_build_order(snw_build *b);
// Position in the list dof (*n) of each coordinate of a path; coordinates not in the list are
// appended. b->position holds the positions of those in the list.
const int *snw_build_positions(snw_build *b, const snw_path *path, int *dof, int *n);
// Position of a tendon or chamber in the section at p->x, with derivatives, and area; and the rest
// strain there.
SNW_NODISCARD snw_status snw_build_tendon_position(const snw_tendon_desc *d, const snw_rod *rod,
                                                   snw_tendon_point *p, snw_error *err);
void snw_build_tendon_rest_strain(const snw_build *b, snw_tendon_point *p);
// Add the corners between the points of a tendon from point0 on; dof and n as above.
SNW_NODISCARD snw_status snw_build_tendon_corners(snw_build *b, const snw_tendon_desc *d,
                                                  int point0, snw_tendon_point *point,
                                                  snw_tendon_corner *corner, double *phi, int *nphi,
                                                  int *dof, int *n, snw_error *err);
// Rods of variable length (compile_variable_length.c): check the description; add the coordinate of
// the free length behind `parent`, in front of the segments of the rod; add the data of its node s;
// and its damping matrices for constant sections.
SNW_NODISCARD snw_status snw_check_variable_length(const snw_desc *d, int l, snw_error *err);
int snw_build_feed(snw_build *b, int l, snw_rod *r, int parent);
void snw_build_variable_length_node(snw_build *b, const snw_rod *r, int rod, int s);
SNW_NODISCARD snw_status snw_build_variable_length_damping(snw_build *b, snw_rod *r,
                                                           const double D[36]);
// Data at its quadrature points instead of these matrices, for sections that vary.
SNW_NODISCARD snw_status snw_build_section_varies(snw_build *b, snw_rod *r);
// Loop closures and nonholonomic contacts, after all links.
SNW_NODISCARD snw_status snw_build_loops(snw_build *b, snw_error *err);
// Loads and active stresses, after all links; fills load_point and sorts it.
SNW_NODISCARD snw_status snw_build_loads(snw_build *b);
// Actuators on coordinates; rows of driven coordinates are behind those of the loops.
SNW_NODISCARD snw_status snw_build_motors(snw_build *b, snw_error *err);
void snw_build_servos(snw_build *b); // after the stations of probes
// Tendons and chambers; rows of given lengths and volumes are behind those of the drives.
SNW_NODISCARD snw_status snw_build_tendons(snw_build *b, snw_error *err);
// Points at which fluids act, after all dynamic segments.
SNW_NODISCARD snw_status snw_build_fluids(snw_build *b, snw_error *err);
// Obstacles and the segments of their frames, after all links; their contact points, after all
// dynamic segments.
SNW_NODISCARD snw_status snw_build_obstacles(snw_build *b);
SNW_NODISCARD snw_status snw_build_contacts(snw_build *b, snw_error *err);
// Contacts of rods with rods, after the other contacts.
SNW_NODISCARD snw_status snw_build_rod_contacts(snw_build *b, snw_error *err);
// Force elements between two sites, after all links.
SNW_NODISCARD snw_status snw_build_force_elements(snw_build *b, snw_error *err);
// Fields with the points at which they act, after all dynamic segments; the segments of the frames
// of dipoles, after all links.
SNW_NODISCARD snw_status snw_build_dipoles(snw_build *b, snw_error *err);
SNW_NODISCARD snw_status snw_build_force_fields(snw_build *b, snw_error *err);
// Concentric tubes, after all links.
SNW_NODISCARD snw_status snw_build_tubes(snw_build *b);
// Those that slide (compile_tube_slide.c): pieces of their rods and the piece of each strain
// coordinate; nodes, points and slices, after all slices. 1 + piece around `toward` on a rod, and
// the fraction of it at x; 0: none.
SNW_NODISCARD snw_status snw_build_tube_pieces(snw_build *b, snw_tube *tube);
SNW_NODISCARD snw_status snw_build_tube_nodes(snw_build *b);
int snw_build_tube_piece(const snw_build *b, const snw_rod *rod, double toward, double x,
                         double *fraction);
// Stations of probes: dynamic segments or observers.
SNW_NODISCARD snw_status snw_build_stations(snw_build *b, snw_error *err);
// Signals, and which of them enter forces; after the stations.
SNW_NODISCARD snw_status snw_build_signals(snw_build *b);
// Initial coordinates and velocities q0, v0.
SNW_NODISCARD snw_status snw_build_initial(snw_build *b, snw_error *err);
