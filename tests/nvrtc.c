// SPDX-License-Identifier: MIT
//
// A library with the functions of NVRTC that are used, for tests where there is none: what it
// compiles are the options it is given, a line each. Its version is that of the environment
// variable NVRTC_VERSION, "13.0" unless given.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char image[20000];

int nvrtcVersion(int *major, int *minor);
int nvrtcCreateProgram(void **program, const char *text, const char *name, int nheader,
                       const char *const *header, const char *const *header_name);
int nvrtcDestroyProgram(void **program);
int nvrtcCompileProgram(void *program, int noption, const char *const *option);
int nvrtcGetProgramLogSize(void *program, size_t *bytes);
int nvrtcGetProgramLog(void *program, char *log);
int nvrtcGetCUBINSize(void *program, size_t *bytes);
int nvrtcGetCUBIN(void *program, char *cubin);

int nvrtcVersion(int *major, int *minor) {
    const char *given = getenv("NVRTC_VERSION");
    *major = 13, *minor = 0;
    return given && sscanf(given, "%d.%d", major, minor) != 2;
}

int nvrtcCreateProgram(void **program, const char *text, const char *name, int nheader,
                       const char *const *header, const char *const *header_name) {
    (void)text, (void)name, (void)nheader, (void)header, (void)header_name;
    *program = image;
    return 0;
}

int nvrtcDestroyProgram(void **program) {
    *program = NULL;
    return 0;
}

int nvrtcCompileProgram(void *program, int noption, const char *const *option) {
    size_t used = 0;
    (void)program;
    for (int i = 0; i < noption; i++) {
        const size_t n = strlen(option[i]);
        if (used + n + 2 > sizeof image) return 1;
        memcpy(image + used, option[i], n);
        image[used + n] = '\n';
        used += n + 1;
    }
    image[used] = 0;
    return 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *bytes) {
    (void)program;
    *bytes = 1;
    return 0;
}

int nvrtcGetProgramLog(void *program, char *log) {
    (void)program;
    *log = 0;
    return 0;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes) {
    (void)program;
    *bytes = strlen(image);
    return 0;
}

int nvrtcGetCUBIN(void *program, char *cubin) {
    (void)program;
    memcpy(cubin, image, strlen(image));
    return 0;
}
