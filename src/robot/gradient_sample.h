// SPDX-License-Identifier: MIT
//
// gradient_sample.h: samples of laws as maps: z_i = S_i(probes, memory, earlier samples; t).
#pragma once

#include "study/tape.h"

// SNW_E_MODEL: the time of the samples depends on an event.
SNW_NODISCARD snw_status gradient_sample_check(const snw_map *map, snw_error *err);
// signal (nsignal: probes and memory at the state of the map) <- with the samples that are taken.
void gradient_sample_take(const snw_model *m, const snw_map *map, double *signal);
// Bars back through the samples: z (nsignal) of the memory, y of the outputs that output_of
// (nsignal) names, with the signals after them. Bars of the outputs are added.
void gradient_sample_back(const snw_model *m, const snw_map *map, const double *signal,
                          const int *output_of, double *z, double *y);
// Derivatives z of the memory <- through the samples: y of the outputs, `by` (nsignal) of the
// samples at a fixed state. scratch: nsignal
void gradient_sample_forward(const snw_model *m, const snw_map *map, const double *signal,
                             const int *output_of, const double *y, const double *by,
                             double *scratch, double *z);
