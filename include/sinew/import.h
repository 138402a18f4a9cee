// SPDX-License-Identifier: MIT
//
// import.h: robots of URDF, MJCF and SDF files as texts of the model language.
//
//   snw_import_options how = snw_import_defaults();
//   snw_imported *arm;
//   if (snw_imported_open("arm.urdf", &how, &arm, &err) == SNW_OK) {
//       const char *text = snw_imported_text(arm);
//       status = snw_robot_parse("arm.urdf", text, strlen(text), NULL, 0, NULL, &robot, &err);
//       snw_imported_close(arm);
//   }
//
// What a model cannot have is left out and listed with its line and the reason.
#pragma once

#include "sinew/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_imported snw_imported;

typedef struct snw_import_options {
    int free;           // not 0: the root of a URDF file moves freely; otherwise it is fixed
    const char *shapes; // "both", "collision", "visual" or "none"; NULL: both
    int npackages;      // folders of package://NAME, each "NAME=FOLDER"
    const char *const *packages;
} snw_import_options;

SNW_API snw_import_options snw_import_defaults(void);

// Read a file; the element at its root tells the format. Meshes stay where they are and are named
// by their paths. `options` may be NULL. SNW_E_PARSE, SNW_E_MODEL: the file, with line and reason;
// SNW_E_ARGUMENT: an option, or the library was built without expat; SNW_E_IO: it cannot be read.
// On success *out belongs to the caller, who calls snw_imported_close.
SNW_API SNW_NODISCARD snw_status snw_imported_open(const char *path,
                                                   const snw_import_options *options,
                                                   snw_imported **out, snw_error *err);
SNW_API void snw_imported_close(snw_imported *m); // NULL is fine

// The model, as `sinew import` writes it. It belongs to m.
SNW_API const char *snw_imported_text(const snw_imported *m);
// Notes of what is not as in the file: their number, and the text of one, which belongs to m; *line (NULL:
// not wanted) <- its line in the file, 0: none. NULL: no such note.
SNW_API int snw_imported_notes(const snw_imported *m);
SNW_API const char *snw_imported_note(const snw_imported *m, int note, int *line);

#ifdef __cplusplus
}
#endif
