// SPDX-License-Identifier: MIT
//
// rk87.h: coefficients of the Runge-Kutta pair RK8(7)13M of Prince and Dormand, J. Comput. Appl.
// Math. 7 (1981), table 2, with a fourteenth stage at the end of the step, so that the last stage
// is the first of the next step.
#pragma once

enum { SNW_RK87_STAGES = 14 };

extern const double snw_rk87_c[SNW_RK87_STAGES];
extern const double snw_rk87_A[SNW_RK87_STAGES][SNW_RK87_STAGES];
extern const double snw_rk87_b[SNW_RK87_STAGES]; // order 8
extern const double snw_rk87_d[SNW_RK87_STAGES]; // order 7
