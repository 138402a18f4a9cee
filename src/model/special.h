// SPDX-License-Identifier: MIT
//
// special.h: kinds of special points of paths of equilibria. theory.md 5.2
#pragma once

// Enumerator, name, meaning.
#define SNW_SPECIAL_LIST(X)                                                                        \
    X(SNW_SPECIAL_NONE, "", "none")                                                                \
    X(SNW_SPECIAL_FOLD, "fold", "t turns back: a limit point")                                     \
    X(SNW_SPECIAL_BRANCH, "branch", "another path crosses: a bifurcation")                         \
    X(SNW_SPECIAL_FLUTTER, "flutter", "a vibration begins to grow")                                \
    X(SNW_SPECIAL_CUSP, "cusp", "two folds meet on a curve of folds")

typedef enum snw_special {
#define X(code, name, meaning) code,
    SNW_SPECIAL_LIST(X)
#undef X
        SNW_SPECIAL_COUNT
} snw_special;

// Static text.
const char *snw_special_name(snw_special kind);
