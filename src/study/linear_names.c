// SPDX-License-Identifier: MIT
//
// Names of components of loads, and probes that are outputs of linear models: all that the reader
// of model files needs of these.
#include "model/probe_kind.h"
#include "study/linear_inputs.h"
#include "study/linear_model.h"

const char *const snw_load_component[6] = {"tx", "ty", "tz", "fx", "fy", "fz"};

bool snw_linear_is_output(const snw_probe_desc *p, int column) {
    if (p->kind == SNW_PROBE_ENERGY) // dissipated, work, scheme, balance are sums over a run
        return column < 3 || column == 7;
    return p->kind != SNW_PROBE_STABILITY && p->kind != SNW_PROBE_FREQUENCY &&
           p->kind != SNW_PROBE_POLE && p->kind != SNW_PROBE_TRANSPORT;
}
