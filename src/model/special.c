// SPDX-License-Identifier: MIT
//
// Names of the special points of paths of equilibria.
#include "model/special.h"

const char *snw_special_name(snw_special kind) {
    static const char *const names[] = {
#define X(code, name, meaning) name,
        SNW_SPECIAL_LIST(X)
#undef X
    };
    return names[kind];
}
