// SPDX-License-Identifier: MIT
//
// export.h: a run for other programs: animated glTF, a series of VTK files, shapes as CSV. They see
// what the viewer draws (look.h). Shapes of modes are left out, they are no instants of a motion;
// so is a frame with a number that is none.
//
// A section of a rod is a rigid disc, so the surface of a rod is made of rings each of which
// follows one frame exactly: that of a node, or one on the screw between two neighbours where these
// are turned too far against each other.
#pragma once

#include "output/sink.h"
#include "results/result.h"

typedef struct snw_export_opts {
    int frames;   // kept at most, even in time and with the ends of all stages (page_keep.h)
    size_t bytes; // of poses, as single numbers; more frames than fit are left out
} snw_export_opts;

snw_export_opts snw_export_defaults(void);

typedef struct snw_export snw_export; // a run with all that is needed to write it

// SNW_E_ARGUMENT when the run has no frame, or was written by a version that kept no scene. The
// file stays open meanwhile.
SNW_NODISCARD snw_status snw_export_open(snw_result *r, int run, const snw_export_opts *opts,
                                         snw_export **out, snw_error *err);
void snw_export_close(snw_export *e); // NULL is fine

int snw_export_total(const snw_export *e);  // instants of the run
int snw_export_frames(const snw_export *e); // those that are kept

// glTF 2.0, as one file: `binary` glb, else JSON with the numbers in it. y is up.
SNW_NODISCARD snw_status snw_export_gltf(snw_export *e, bool binary, snw_sink sink, snw_error *err);

// VTK's XML, a file a part and frame.
#define SNW_VTK_PARTS(X)                                                                           \
    X(SNW_VTK_RODS, "rods")       /* lines along rods: radius, strains, what they bear */          \
    X(SNW_VTK_SURFACE, "surface") /* of rods, bodies and what joins them: strain and stress */     \
    X(SNW_VTK_TENDONS, "tendons") /* and chambers: tension or pressure */

typedef enum snw_vtk_part {
#define X(part, name) part,
    SNW_VTK_PARTS(X)
#undef X
        SNW_VTK_NPART
} snw_vtk_part;

const char *snw_vtk_part_name(snw_vtk_part part);
bool snw_vtk_has(const snw_export *e, snw_vtk_part part); // else there is nothing of the kind
SNW_NODISCARD snw_status snw_export_vtk(snw_export *e, snw_vtk_part part, int frame, snw_sink sink,
                                        snw_error *err);
// The .pvd that tells their times; the name of a file is `folder`/PART_NNNN.vtp by snw_vtk_name.
SNW_NODISCARD snw_status snw_export_pvd(const snw_export *e, const char *folder, snw_sink sink,
                                        snw_error *err);
void snw_vtk_name(snw_vtk_part part, int frame, char *out, size_t size);

// CSV: a line a frame and node with t, link, x (arc length), position and quaternion as they are in
// the file.
SNW_NODISCARD snw_status snw_export_shapes(snw_export *e, snw_sink sink, snw_error *err);
