// SPDX-License-Identifier: MIT
//
// export_parts.h: what the writers of export.h share. Private to them.
#pragma once

#include "output/export.h"
#include "output/look.h"

// A frame of reference that moves: a node, or a place on the screw from one to another.
typedef struct snw_track {
    int a, b; // nodes, -1: the world
    double share;
} snw_track;

// Where a rod is drawn: its tracks, each at a station or a share of the way to the next one.
typedef struct snw_trace {
    int n;
    int *track, *station;
    double *share;
    int npiece; // between stations that do not lie in one place
    int *from;  // station a piece begins at; it ends at the next one
} snw_trace;

typedef enum snw_paint {
    SNW_PAINT_ROD,
    SNW_PAINT_BODY,
    SNW_PAINT_STRUT,
    SNW_PAINT_TENDON,
    SNW_PAINT_CHAMBER,
    SNW_PAINT_GROUND,
    SNW_NPAINT
} snw_paint;

// Triangles whose corners each follow one track.
typedef struct snw_mesh {
    const char *name;
    snw_paint paint;
    int condition;   // place in `present`, -1: always there
    int first, last; // eras in which it looks so
    int rod;         // whose surface it is, -1: none's
    int nvertex;
    snw_vec3 *at, *normal; // in the frame of the track
    int *track;
    int *ring; // of the rod, NULL for other meshes
    int nindex;
    int *index;
} snw_mesh;

struct snw_export {
    snw_pool *pool;
    const snw_run_info *info;
    int nphase;
    const snw_look_phase *phase;
    snw_look look;       // of the era whose meshes are made, of the first one afterwards
    const char *version; // of the Sinew that made the file
    int total, n;
    double *t, *stage;
    double *pose;    // n x nodes x 7
    double *present; // n x switches
    double *effort;  // n x measures
    snw_vec3 low, high;
    double size;
    int ntrack; // the first are the nodes, then the world
    snw_track *track;
    snw_trace *trace; // of each rod
    int nmesh;
    snw_mesh *mesh;
};

snw_se3 snw_export_node(const snw_export *e, int frame, int node);
snw_se3 snw_export_pose(const snw_export *e, int frame, int track);
bool snw_export_there(const snw_export *e, int frame, int condition);
// What the robot looks like in a frame, and whether a mesh is seen.
const snw_look *snw_export_look(const snw_export *e, int frame);
bool snw_export_seen(const snw_export *e, int frame, const snw_mesh *m);

// out <- n times from 0 on that rise with the run's, and by `share` of the whole where these stand
// still or jump back; by `still` in a run that has but one.
void snw_export_clock(const snw_export *e, double share, double still, double *out);

// e->mesh <- all there is to see.
SNW_NODISCARD snw_status snw_export_build(snw_export *e, snw_error *err);

// What one ring of a rod bears at one frame.
typedef struct snw_bearing {
    double strain[6]; // less that at rest
    double force[6];  // of elasticity, NaN where it does not say
    double normal;    // largest normal strain in the section
    double stress;    // and what it takes, Pa; NaN where the section is not known
} snw_bearing;

// By the rings of rod r, which `out` has room for; `station` is scratch for its stations.
void snw_export_bearing(const snw_export *e, int frame, int r, snw_bearing *station,
                        snw_bearing *out);

SNW_NODISCARD snw_status snw_export_full(snw_error *err); // the failure of a sink
SNW_NODISCARD snw_status snw_export_memory(snw_error *err);
