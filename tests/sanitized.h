// SPDX-License-Identifier: MIT
//
// sanitized.h: sanitizers check lines of code, not digits. Where many trials or long motions
// execute the same lines, a sanitized build runs fewer of them: AMONG(few, all), numbers or texts.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AMONG(few, all) few
#else
#define AMONG(few, all) all
#endif

// First line of a test about digits, such as an order of convergence, whose lines of code other
// tests execute: a sanitized build skips it.
#define ONLY_DIGITS()                                                                              \
    do {                                                                                           \
        if (AMONG(1, 0)) skip();                                                                   \
    } while (0)
