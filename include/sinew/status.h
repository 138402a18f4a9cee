// SPDX-License-Identifier: MIT
//
// status.h: how functions of the library say that they could not do what was asked.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// On every function whose result must be looked at.
#if defined(__GNUC__)
#define SNW_NODISCARD __attribute__((warn_unused_result))
#else
#define SNW_NODISCARD
#endif

// One line per outcome. The list is the only place a code is named.
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

// Detail of a failure, owned by the caller, always NUL terminated.
typedef struct snw_error {
    snw_status status;
    char file[256];   // input document, empty when there is none
    int line, column; // position in it, 0 when there is none
    char text[512];   // one line: the thing, the rule, the value, what to try
} snw_error;

// Static text for a status code; never NULL.
const char *snw_status_text(snw_status s);

#ifdef __cplusplus
}
#endif
