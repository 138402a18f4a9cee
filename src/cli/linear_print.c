// SPDX-License-Identifier: MIT
//
// Linear models as text and as JSON.
#include "cli/linear_print.h"

#include <stdio.h>

// ---- text ---------------------------------------------------------------------------------------

static void print_signals(const char *title, int n, const snw_linear_signal *signal) {
    printf("\n%s\n", title);
    for (int i = 0; i < n; i++) {
        printf("  %3d  %-28s %14.9g %s%s\n", i + 1, signal[i].name, signal[i].value, signal[i].unit,
               signal[i].exact ? "" : "  (by differences)");
    }
    if (n == 0) printf("  none\n");
}

static void print_matrix(const char *name, int rows, int columns, const double *x) {
    enum { MOST = 24 };
    if (rows == 0 || columns == 0) return;
    printf("\n%s (%d x %d)\n", name, rows, columns);
    if (rows > MOST || columns > MOST) {
        printf("  too large to print; -o writes it\n");
        return;
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            printf(" %13.6g", x[(size_t)j * (size_t)rows + (size_t)i]);
        printf("\n");
    }
}

void snw_linear_print_poles(const snw_linear_model *m) {
    printf("\npoles%s\n", m->step > 0 ? ", factors per step" : ", 1/s");
    for (int i = 0; i < m->npole; i++) {
        const snw_linear_pole *p = &m->pole[i];
        if (p->im < 0) continue; // printed with its conjugate
        printf("  %16.9g", p->re);
        if (p->im > 0) printf(" +- %.9g i", p->im);
        if (p->parasitic) {
            printf("  parasitic: of the scheme");
        } else if (p->im > 0) {
            printf("  %.6g Hz, damping %.4g", p->frequency, p->damping);
        }
        if (!p->controllable && m->nu > 0) printf("  not controllable");
        if (!p->observable && m->ny > 0) printf("  not observable");
        printf("\n");
    }
    if (m->nu > 0) printf("controllable: %d of %d\n", m->ncontrollable, m->nx);
    if (m->ny > 0) printf("observable: %d of %d\n", m->nobservable, m->nx);
}

void snw_linear_print(const snw_linear_model *m) {
    printf("linear model at t = %g s%s", m->time, m->moving ? ", of that instant of a motion" : "");
    if (m->step > 0) printf(", of a step of %g s", m->step);
    printf("\n");
    if (m->residual > 1e-6)
        printf(
            "the robot is not in equilibrium: forces out of balance %.2g, accelerations follow\n",
            m->residual);
    if (m->difference > 0)
        printf("largest estimated error of derivatives by differences: %.1g\n", m->difference);
    if (m->nidle) printf("%d motions without mass and stiffness are left out\n", m->nidle);
    if (m->nheld) printf("%d samples or latches that laws read are held\n", m->nheld);
    if (m->nleft)
        printf("%d outputs and inputs that this model does not have are left out; name them to be "
               "told why\n",
               m->nleft);
    print_signals("states", m->nx, m->state);
    print_signals("inputs", m->nu, m->input);
    print_signals("outputs", m->ny, m->output);
    print_matrix("A", m->nx, m->nx, m->A);
    print_matrix("B", m->nx, m->nu, m->B);
    print_matrix("C", m->ny, m->nx, m->C);
    print_matrix("D", m->ny, m->nu, m->D);
    snw_linear_print_poles(m);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void json_signals(snw_json *j, const char *key, int n, const snw_linear_signal *signal) {
    snw_field_list(j, key);
    for (int i = 0; i < n; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "name", signal[i].name);
        snw_field_text(j, "unit", signal[i].unit);
        snw_field_number(j, "value", signal[i].value);
        snw_field_bool(j, "exact", signal[i].exact);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void json_matrix(snw_json *j, const char *key, int rows, int columns, const double *x) {
    snw_field_list(j, key);
    for (int i = 0; i < rows; i++) {
        snw_field_list(j, NULL);
        for (int k = 0; k < columns; k++)
            snw_field_number(j, NULL, x[(size_t)k * (size_t)rows + (size_t)i]);
        snw_json_close(j);
    }
    snw_json_close(j);
}

void snw_linear_json(snw_json *j, const snw_linear_model *m) {
    snw_field_number(j, "time", m->time);
    snw_field_number(j, "step", m->step);
    snw_field_bool(j, "moving", m->moving);
    snw_field_number(j, "residual", m->residual);
    snw_field_number(j, "difference", m->difference);
    snw_field_integer(j, "idle", m->nidle);
    snw_field_integer(j, "held", m->nheld);
    snw_field_integer(j, "left_out", m->nleft);
    json_signals(j, "states", m->nx, m->state);
    json_signals(j, "inputs", m->nu, m->input);
    json_signals(j, "outputs", m->ny, m->output);
    json_matrix(j, "A", m->nx, m->nx, m->A);
    json_matrix(j, "B", m->nx, m->nu, m->B);
    json_matrix(j, "C", m->ny, m->nx, m->C);
    json_matrix(j, "D", m->ny, m->nu, m->D);
    snw_field_list(j, "poles");
    for (int i = 0; i < m->npole; i++) {
        const snw_linear_pole *p = &m->pole[i];
        snw_field_object(j, NULL);
        snw_field_number(j, "re", p->re);
        snw_field_number(j, "im", p->im);
        snw_field_number(j, "frequency", p->frequency);
        snw_field_number(j, "damping", p->damping);
        snw_field_bool(j, "controllable", p->controllable);
        snw_field_bool(j, "observable", p->observable);
        snw_field_bool(j, "parasitic", p->parasitic);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_integer(j, "controllable", m->ncontrollable);
    snw_field_integer(j, "observable", m->nobservable);
}

// ---- of a step of a study -----------------------------------------------------------------------

void snw_linear_print_step(const snw_linear_model *m, const char *step) {
    printf("\n%s: linear model at t = %g s", step, m->time);
    if (m->step > 0) printf(", of a step of %g s", m->step);
    printf(": %d state%s, %d input%s, %d output%s\n", m->nx, m->nx == 1 ? "" : "s", m->nu,
           m->nu == 1 ? "" : "s", m->ny, m->ny == 1 ? "" : "s");
    snw_linear_print_poles(m);
}

void snw_linear_json_step(snw_json *j, const snw_linear_model *m, const char *step) {
    snw_field_object(j, NULL);
    snw_field_text(j, "step_name", step);
    snw_linear_json(j, m);
    snw_json_close(j);
}
