// SPDX-License-Identifier: MIT
//
// probe_columns.h: columns of a probe: names, dimensions and order in which they are recorded.
//
//   position        x y z
//   rotation        qw qx qy qz, then rx ry rz (rotation vector, continuous in time), then
//                   xx xy xz yx yy yz zx zy zz (matrix: row, column)
//   pose            x y z, then as rotation
//   velocity        vx vy vz
//   twist           wx wy wz vx vy vz
//   acceleration    ax ay az (linear, of the point) alx aly alz (angular)
//   strain          twist bend_y bend_z stretch shear_y shear_z
//   wrench          mx my mz fx fy fz
//   reaction, pull  as wrench
//   angle, value, rate, effort
//                   by coordinate of the joint: one column without a name; cylindrical: angle
//                   slide; universal: first second; planar: x y angle; spherical: rx ry rz, wx wy
//                   wz, mx my mz; actuator of a rod: one column without a name per coordinate
//   energy          kinetic elastic gravity dissipated work scheme balance total
//   momentum        lx ly lz (angular, about the origin of the world) px py pz
//   center_of_mass  x y z
//   transport       power speed way cost
//   stability, law, power, length, tension, volume, pressure
//                   one column without a name; snw_probe_desc has the dimension of a law
//   frequency       1 2 .. 18: frequencies of the last modes step, Hz
#pragma once

#include "model/desc.h"

enum {
    SNW_PROBE_FREQUENCIES = 18,
    SNW_PROBE_WIDTH = 19 // most components of a quantity
};

typedef struct snw_component {
    const char *name; // empty for a single column
    snw_dim dim;
} snw_component;

const char *snw_probe_name(snw_probe_kind kind); // "position", ...
snw_reading snw_probe_reading(const snw_probe_desc *p);

// out <- components of a quantity at one station; returns their number. `joint` is used for joint
// quantities only; a fixed one stands for strain coordinates of a rod, one column each.
int snw_probe_components(snw_probe_kind kind, snw_joint_kind joint,
                         snw_component out[SNW_PROBE_WIDTH]);

// Number of columns of a probe: components times stations, by station.
int snw_probe_columns(const snw_probe_desc *p);

// *first, *count <- components that the name of a probe without a component denotes where it is
// compared with `nvalue` numbers. Rotation: the rotation vector, the quaternion for four numbers,
// the matrix for nine. Pose: x y z qw qx qy qz. Acceleration: linear. Frequency: the first nvalue.
// Others: all.
void snw_probe_primary(snw_probe_kind kind, snw_joint_kind joint, int nvalue, int *first,
                       int *count);
