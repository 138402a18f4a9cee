// SPDX-License-Identifier: MIT
#include "model/inertia.h"

snw_inertia snw_inertia_of_body(double mass, snw_vec3 com, snw_mat3 central) {
    const double x = com.x, y = com.y, z = com.z;
    return (snw_inertia){
        .m = mass,
        .mc = snw_scale(mass, com),
        .I = {central.e[0][0] + mass * (y * y + z * z), central.e[1][1] + mass * (z * z + x * x),
              central.e[2][2] + mass * (x * x + y * y),
              0.5 * (central.e[1][2] + central.e[2][1]) - mass * y * z,
              0.5 * (central.e[2][0] + central.e[0][2]) - mass * z * x,
              0.5 * (central.e[0][1] + central.e[1][0]) - mass * x * y},
    };
}
