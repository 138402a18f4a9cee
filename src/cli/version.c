// SPDX-License-Identifier: MIT
//
// Version, compiler and libraries of this build. CMakeLists.txt defines the names in capitals.
#include "sinew/version.h"
#include "cli/help.h"

#if defined(__clang__)
static const char compiler[] = "clang " __clang_version__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

void snw_version_print(void) {
    printf("sinew %s (%s build)\n", SNW_VERSION, BUILD_TYPE);
    printf("compiler   %s\n", compiler);
    printf("libraries  HDF5 %s, libfyaml %s, OpenBLAS %s (serial), SUNDIALS %s\n", HDF5_VERSION,
           FYAML_VERSION, OPENBLAS_VERSION, SUNDIALS_VERSION);
}

void snw_version_json(snw_json *j) {
    snw_field_text(j, "version", SNW_VERSION);
    snw_field_text(j, "build", BUILD_TYPE);
    snw_field_text(j, "compiler", compiler);
    snw_field_object(j, "libraries");
    snw_field_text(j, "hdf5", HDF5_VERSION);
    snw_field_text(j, "libfyaml", FYAML_VERSION);
    snw_field_text(j, "openblas", OPENBLAS_VERSION);
    snw_field_text(j, "sundials", SUNDIALS_VERSION);
    snw_json_close(j);
}
