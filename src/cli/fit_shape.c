// SPDX-License-Identifier: MIT
#include "cli/fit.h"

int snw_fit_shape(const snw_args *args, snw_reply *reply) {
    (void)args, (void)reply;
    return SNW_EXIT_FAILED;
}
