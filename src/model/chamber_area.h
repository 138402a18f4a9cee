// SPDX-License-Identifier: MIT
//
// chamber_area.h: area of a chamber that depends on the stretch of its centre line and on its
// pressure, theory.md 3.11. With the stretch l and the volume per length a = A l, the force that
// does work on l is
//   F(l, p) = int_0^p da/dl dp'                                                    (3.11.14)
// so that dF/dp = da/dl: pressure and stretch have a common potential.
#pragma once

#include "model/desc.h"

// Variables of the law beside x and L, numbers of its signals: stretch of the centre line (1) and
// gauge pressure (Pa).
enum { SNW_CHAMBER_STRETCH, SNW_CHAMBER_PRESSURE, SNW_CHAMBER_VARIABLES };
enum { SNW_CHAMBER_RULE = 16 }; // Gauss points of the integral over the pressure

typedef struct snw_chamber_area {
    snw_law law;
    bool by_pressure;
    double node[SNW_CHAMBER_RULE], weight[SNW_CHAMBER_RULE]; // on [0, 1]
} snw_chamber_area;

// A chamber at one section: area; volume per length a with its derivatives by stretch and pressure;
// force F with its derivative by the stretch.
typedef struct snw_chamber_section {
    double area, a, a_l, a_ll, a_p, force, force_l;
} snw_chamber_section;

// Does the area law read stretch or pressure?
bool snw_chamber_area_varies(snw_law law);
// Area at arc length x of a rod of length L without pressure, m^2; of any law.
double snw_chamber_area_made(snw_law law, double x, double L, double stretch);

void snw_chamber_area_prepare(snw_law law, snw_chamber_area *out);
snw_chamber_section snw_chamber_section_at(const snw_chamber_area *c, double x, double L,
                                           double stretch, double pressure);
// Volume per length, and its derivative by the pressure.
double snw_chamber_volume_at(const snw_chamber_area *c, double x, double L, double stretch,
                             double pressure, double *by_pressure);
// Difference of the force to the same integral on two halves of the pressure, relative to the
// pressure times da/dl: large where the law is not smooth in the pressure.
double snw_chamber_force_error(const snw_chamber_area *c, double x, double L, double stretch,
                               double pressure);
