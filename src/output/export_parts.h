// SPDX-License-Identifier: MIT
//
// export_parts.h: data and functions shared by the writers of export.h; private to them.
#pragma once

#include "output/export.h"
#include "output/scene_read.h"

// A moving frame: a node, or a fraction of the screw motion from node a to node b.
typedef struct snw_track {
    int a, b; // nodes, -1: the world
    double fraction;
} snw_track;

// Rings of a rod: each has a track, at a station plus a fraction of the interval to the next one.
typedef struct snw_trace {
    int n;
    int *track, *station;
    double *fraction;
    int npiece; // intervals of non-zero length between stations
    int *from;  // npiece: station at which an interval begins; it ends at the next one
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

// Name of a paint and its colour, that of the viewer, in linear RGB with opacity.
typedef struct snw_paint_colour {
    const char *name;
    double rgba[4];
} snw_paint_colour;

// A section of a tube: its centre in the frame of a track, and the larger half width there, m.
typedef struct snw_tube_section {
    int track;
    snw_vec3 at;
    double radius;
} snw_tube_section;

// Triangle mesh; each vertex moves with one track.
typedef struct snw_mesh {
    const char *name;
    snw_paint paint;
    int condition;   // index of its condition in `present`, -1: always active
    int first, last; // phases in which it is valid
    int rod;         // index of the rod whose surface it is, -1: none
    int nvertex;
    snw_vec3 *at, *normal; // in the frame of the track
    int *track;
    int *ring; // nvertex: ring of the rod; NULL for other meshes
    int nindex;
    int *index;
    int nsection; // of a tube, 0 for other meshes
    snw_tube_section *section;
    bool circular; // the sections of the tube are circles
} snw_mesh;

struct snw_export {
    snw_pool *pool;
    const snw_run_info *info;
    int nphase;
    const snw_scene_phase *phase;
    snw_scene_geometry geometry; // of the phase being meshed, afterwards of the first
    const char *version;         // of the Sinew that wrote the file
    int total, n;
    double *t, *stage;
    double *pose;    // n x nodes x 7
    double *present; // n x ncondition
    double *effort;  // n x ntendon
    snw_vec3 low, high;
    double size;
    int ntrack; // nodes first, then the world, then intermediate frames
    snw_track *track;
    snw_trace *trace; // of each rod
    int nmesh;
    snw_mesh *mesh;
};

snw_se3 snw_export_node(const snw_export *e, int frame, int node);
snw_se3 snw_export_pose(const snw_export *e, int frame, int track);
bool snw_export_is_active(const snw_export *e, int frame, int condition);
// Geometry of the phase of a frame, and whether a mesh is visible in the frame.
const snw_scene_geometry *snw_export_geometry(const snw_export *e, int frame);
bool snw_export_is_visible(const snw_export *e, int frame, const snw_mesh *m);

// The track that all vertices of a mesh follow; -1: there are several.
int snw_export_only_track(const snw_mesh *m);
// Is a mesh visible in some frames only?
bool snw_export_is_conditional(const snw_export *e, const snw_mesh *m);
// Colour of a paint; rods are translucent where tendons or chambers run inside.
snw_paint_colour snw_export_colour(const snw_export *e, snw_paint paint);

// Upward direction: the axis nearest to the opposite of gravity; without gravity the ground's
// normal; without ground y for motion in the xy plane, else z.
snw_vec3 snw_export_up(const snw_export *e);
// Rotation of the unit vector `from` to `to`, which is normal to x.
snw_mat3 snw_export_turn(snw_vec3 from, snw_vec3 to);
// Are two poses the same to the digits of single precision?
bool snw_export_same_pose(const snw_export *e, const snw_se3 *a, const snw_se3 *b);

// Display time of frames with equal times: fraction of the duration, or s when the duration is 0.
static const double SNW_EXPORT_REPEAT_FRACTION = 1.0 / 80, SNW_EXPORT_REPEAT_TIME = 0.15;

// out (n) <- increasing playback times from 0. They advance with the times of the run; where these
// repeat or jump back, by `fraction` of the duration, or by `repeat` s when the duration is 0.
void snw_export_playback_times(const snw_export *e, double fraction, double repeat, double *out);

// e->mesh <- meshes of all phases.
SNW_NODISCARD snw_status snw_export_build_meshes(snw_export *e, snw_error *err);

// State of a section at one ring of a rod in one frame.
typedef struct snw_section_state {
    double strain[6]; // minus the rest strain
    double force[6];  // elastic moment and force, NaN where strains are given or inactive
    double normal;    // largest normal strain in the section
    double stress;    // the stress there, Pa; NaN where the section is not known
} snw_section_state;

// out <- states at the rings of rod r; station: scratch, count + 1.
void snw_export_section_states(const snw_export *e, int frame, int r, snw_section_state *station,
                               snw_section_state *out);

SNW_NODISCARD snw_status snw_export_fail_sink(snw_error *err); // the sink failed
SNW_NODISCARD snw_status snw_export_fail_memory(snw_error *err);
