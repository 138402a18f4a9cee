// SPDX-License-Identifier: MIT
//
// section_law.h: nonlinear elastic laws of a section, theory.md 2.4. Stress, tangent and energy per
// reference length as functions of the strain e, counted from the rest strain:
//   - hyperelastic fibres: the energy of incompressible material in uniaxial stress, integrated
//     over the reference section,
//   - an energy density w(e) given as an expression, with stress dw/de,
//   - stresses given one by one, as expressions of the strain or as tables.
// Components that a law does not cover stay linear.
#pragma once

#include "math/monotone_cubic.h"
#include "model/section_kind.h"

enum { SNW_OGDEN_TERMS = 6, SNW_SECTION_FIBRES = 20, SNW_SECTION_PLANE = 16 };

// Terms of Ogden's energy W = sum mu/alpha (l^alpha + 2 l^(-alpha/2) - 3) of a fibre with the
// stretch l. Neo-Hookean: alpha 2; Mooney-Rivlin: alpha 2 and -2, mu 2 C1 and -2 C2.
typedef struct snw_hyperelastic {
    int n; // 0: linear material
    double mu[SNW_OGDEN_TERMS], alpha[SNW_OGDEN_TERMS];
} snw_hyperelastic;

// Energy, nominal stress and its derivative of a fibre with the stretch l > 0.
typedef struct snw_fibre {
    double W, P, dP;
} snw_fibre;
snw_fibre snw_hyperelastic_at(const snw_hyperelastic *h, double l);
// Young's modulus without strain, 3/2 sum mu alpha; the shear modulus is a third of it.
double snw_hyperelastic_young(const snw_hyperelastic *h);

// Law of a section; its expressions read the six strains as signals 0 to 5, and x and L.
typedef struct snw_section_law {
    bool covers[6];         // components of the strain that it determines
    snw_hyperelastic fibre; // n > 0: fibres of this material
    bool rectangle;         // fibres: the section is a rectangle, else an ellipse
    bool exact_twist;       // fibres: neo-Hookean and round, whose torsion depends on the stretch
    const snw_expr *energy; // J/m
    const snw_expr *stress[6]; // N m and N
    const snw_monotone_cubic *table[6];
    // Gauss points and weights on [0, 1]: across the section, in two directions at once, along
    // the path of work; by snw_section_law_prepare.
    double fine[2][SNW_SECTION_FIBRES], plane[2][SNW_SECTION_PLANE];
} snw_section_law;
void snw_section_law_prepare(snw_section_law *law);

// Section at a quadrature point.
typedef struct snw_section_law_point {
    double x, L;
    double half[2], hole; // fibres: half widths along y and z, m, and width of the bore over them
    double torsion;       // exact_twist: polar second moment of area, m^4
    double H[36];         // tangent without strain; rows of other components are zero
} snw_section_law_point;

// Energy per length, J/m, stress and tangent (by rows) of the components it covers; others zero.
typedef struct snw_section_response {
    double energy, stress[6], tangent[36];
} snw_section_response;

// Faults of a strain: the response is then NaN.
typedef enum snw_section_fault {
    SNW_SECTION_OK,
    SNW_SECTION_CRUSHED,  // a fibre has no length left
    SNW_SECTION_OUTSIDE,  // a strain lies outside its table
    SNW_SECTION_UNDEFINED // an expression is not finite
} snw_section_fault;

// Bits of the parts of a response that are wanted besides the stress.
enum { SNW_WANT_ENERGY = 1, SNW_WANT_TANGENT = 2 };

// *out <- response to the strain e; active: components that vary, whose tangent is wanted.
// *value <- the stretch of the shortest fibre, or the strain outside its table; *component <- its
// component (stretch for fibres).
snw_section_fault snw_section_law_at(const snw_section_law *law, const snw_section_law_point *p,
                                     const bool active[6], const double e[6], int want,
                                     snw_section_response *out, double *value, int *component);

// Smallest eigenvalue of the tangent C relative to the stiffnesses on the diagonal of H, over the
// active components that have some; INFINITY: none has.
double snw_section_law_weakest(const snw_section_law *law, const bool active[6], const double H[36],
                               const double C[36]);
