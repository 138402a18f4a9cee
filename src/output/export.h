// SPDX-License-Identifier: MIT
//
// export.h: export of a run as animated glTF or USD, a series of VTK files, or node poses as CSV,
// with the geometry that the viewer draws (scene_read.h). Mode shapes are omitted, since they are
// not instants of a motion, and so are frames with non-finite poses.
//
// A section of a rod is a rigid disc. The surface of a rod therefore consists of rings, each of
// which moves with one frame exactly: the frame of a node, or one on the screw motion between two
// neighbouring nodes where their relative rotation is large.
#pragma once

#include "output/sink.h"
#include "results/result.h"

typedef struct snw_export_opts {
    int frames;   // largest number of frames exported, chosen by frame_selection.h
    size_t bytes; // limit on the poses in single precision; frames beyond it are omitted
} snw_export_opts;

snw_export_opts snw_export_defaults(void);

typedef struct snw_export snw_export; // a run prepared for export

// Prepare run `run` for export. SNW_E_ARGUMENT when it has no frame, or no scene (older versions).
// The file must stay open until the export is closed.
SNW_NODISCARD snw_status snw_export_open(snw_result *r, int run, const snw_export_opts *opts,
                                         snw_export **out, snw_error *err);
void snw_export_close(snw_export *e); // NULL is fine

int snw_export_total(const snw_export *e);  // frames of the run
int snw_export_frames(const snw_export *e); // frames exported

// glTF 2.0 in one file: glb when `binary`, else JSON with embedded base64 data. y is up.
SNW_NODISCARD snw_status snw_export_gltf(snw_export *e, bool binary, snw_sink sink, snw_error *err);

// Universal Scene Description as text (.usda): bodies as transforms with meshes, rods and cables as
// curves with widths, all with time samples, 60 time codes a second.
SNW_NODISCARD snw_status snw_export_usd(snw_export *e, snw_sink sink, snw_error *err);

// VTK XML PolyData, one file per part and frame.
#define SNW_VTK_PARTS(X)                                                                           \
    X(SNW_VTK_RODS, "rods")       /* centre lines: radius, strains, internal wrench */             \
    X(SNW_VTK_SURFACE, "surface") /* of rods, bodies and bars: strain and stress */                \
    X(SNW_VTK_TENDONS, "tendons") /* and chambers: tension or pressure */

typedef enum snw_vtk_part {
#define X(part, name) part,
    SNW_VTK_PARTS(X)
#undef X
        SNW_VTK_NPART
} snw_vtk_part;

const char *snw_vtk_part_name(snw_vtk_part part);
bool snw_vtk_has(const snw_export *e, snw_vtk_part part); // false: the run has no such part
SNW_NODISCARD snw_status snw_export_vtk(snw_export *e, snw_vtk_part part, int frame, snw_sink sink,
                                        snw_error *err);
// The .pvd collection with the times of the files, which are named `folder`/PART_NNNNN.vtp by
// snw_vtk_name.
SNW_NODISCARD snw_status snw_export_pvd(const snw_export *e, const char *folder, snw_sink sink,
                                        snw_error *err);
void snw_vtk_name(snw_vtk_part part, int frame, char *out, size_t size);

// CSV: one line per frame and node with t, link, x (arc length), position and quaternion as stored
// in the file.
SNW_NODISCARD snw_status snw_export_shapes(snw_export *e, snw_sink sink, snw_error *err);
