// SPDX-License-Identifier: MIT
//
// status.h: status codes and error messages of the library.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Symbols that the shared library exports; everything else is hidden.
#if defined(__GNUC__)
#define SNW_API __attribute__((visibility("default")))
#else
#define SNW_API
#endif

// Marks functions whose result must be checked.
#if defined(__GNUC__)
#define SNW_NODISCARD __attribute__((warn_unused_result))
#else
#define SNW_NODISCARD
#endif

// Status codes with their texts. Enumerators and snw_status_text are generated from this list.
#define SNW_STATUS_LIST(X)                                                                         \
    X(SNW_OK, "success")                                                                           \
    X(SNW_E_ARGUMENT, "argument outside its documented domain")                                    \
    X(SNW_E_MEMORY, "out of memory")                                                               \
    X(SNW_E_IO, "file could not be read or written")                                               \
    X(SNW_E_PARSE, "input is not a well formed document")                                          \
    X(SNW_E_MODEL, "model is inconsistent")                                                        \
    X(SNW_E_SINGULAR, "matrix is singular to working precision")                                   \
    X(SNW_E_DIVERGED, "iteration did not converge")                                                \
    X(SNW_E_STOPPED, "stopped on request")

typedef enum snw_status {
#define X(code, text) code,
    SNW_STATUS_LIST(X)
#undef X
} snw_status;

// Details of a failure. Owned by the caller; strings are always NUL terminated.
typedef struct snw_error {
    snw_status status;
    char file[256];   // input file, empty when there is none
    int line, column; // position in it, from 1; 0 when there is none
    char text[512];   // message, one line: the object, the rule, the value, the remedy
} snw_error;

// Static text for a status code; never NULL.
SNW_API const char *snw_status_text(snw_status s);

#ifdef __cplusplus
}
#endif
