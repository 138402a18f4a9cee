// SPDX-License-Identifier: MIT
//
// inverse_write.h: inputs found for desired values of probes, for `sinew solve` and `sinew run`.
#pragma once

#include "cli/reply.h"
#include "sinew/inverse.h"

const char *snw_limit_name(snw_limit limit); // "low", "rise"; "": none
// Tables of targets and inputs, and how near the point is.
void snw_inverse_print(const snw_inverse_result *r);
// The same as fields of the open object.
void snw_inverse_json(snw_json *j, const snw_inverse_result *r);
