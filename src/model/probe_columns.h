// SPDX-License-Identifier: MIT
//
// probe_columns.h: which numbers a probe yields, by name, in the order in which they are recorded.
//
//   position        x y z
//   rotation        qw qx qy qz, then rx ry rz (rotation vector, continuous in time), then the
//   matrix
//                   xx xy xz yx yy yz zx zy zz (row, column)
//   pose            x y z, then as rotation
//   velocity        vx vy vz
//   twist           wx wy wz vx vy vz
//   acceleration    ax ay az of the point, then alx aly alz, the angular acceleration
//   strain          twist bend_y bend_z stretch shear_y shear_z
//   wrench          mx my mz fx fy fz
//   reaction        as wrench
//   angle, value, rate, effort   the coordinates of the joint: one number without a name, angle
//   slide, first second, x y
//                   angle; of a spherical joint rx ry rz, wx wy wz, mx my mz; of an actuator's rod
//                   one number without a name for each coordinate
//   energy          kinetic elastic gravity dissipated work scheme balance total
//   momentum        lx ly lz (angular, about the origin of the world) px py pz
//   center_of_mass  x y z
//   stability, law  one number without a name; the dimension of a law's is in its description
//   frequency       1 2 .. 18, of the modes found last, Hz
#pragma once

#include "model/desc.h"

enum { SNW_PROBE_FREQUENCIES = 18 };

typedef struct snw_component {
    const char *name; // "" for the only number of a scalar probe
    snw_dim dim;
} snw_component;

const char *snw_probe_name(snw_probe_kind kind); // "position", ...
snw_reading snw_probe_reading(const snw_probe_desc *p);

// The components of a quantity at one station, static. `joint` is read for quantities of joints
// only.
const snw_component *snw_probe_components(snw_probe_kind kind, snw_joint_kind joint, int *n);

// Columns of a probe: components times stations, all components of station 0 first.
int snw_probe_columns(const snw_probe_desc *p);

// What the bare name of a probe stands for beside a list of `nvalue` numbers: components first,
// ..., first + count - 1. A rotation is its rotation vector, beside four numbers its quaternion,
// beside nine its matrix; a pose is x y z qw qx qy qz; an acceleration that of the point;
// frequencies are as many as there are numbers; all else everything.
void snw_probe_primary(snw_probe_kind kind, snw_joint_kind joint, int nvalue, int *first,
                       int *count);
