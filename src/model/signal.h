// SPDX-License-Identifier: MIT
//
// signal.h: how a probe is read from the recursion, for laws and linear models.
#pragma once

#include "model/model.h"

// Reading of a column of a probe at its first station.
snw_signal snw_signal_of_probe(const snw_model *m, int probe, int column);
