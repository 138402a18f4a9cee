// SPDX-License-Identifier: MIT
//
// ode.h: adaptive Runge-Kutta integration for the oracles, by ARKODE of SUNDIALS.
#pragma once

// dy <- right-hand side at x, y.
typedef void oracle_rate(void *user, double x, const double *y, double *dy);

// y (n numbers at `from`) <- solution at `to`, which may be larger or smaller; Fehlberg's pair of
// orders 8 and 7, local errors below tol relative to max(1, |y_i|). Returns the number of
// evaluations. Failure ends the program; the equations of the oracles are smooth.
long oracle_ode(int n, oracle_rate *rate, void *user, double from, double to, double tol,
                double *y);
