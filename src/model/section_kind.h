// SPDX-License-Identifier: MIT
//
// section_kind.h: kinds of cross-sections, one row of a table each. Reader, help, check, matrices,
// contacts, fluids, tendons, scene, exports and viewer read these rows; a new section is a line of
// SNW_SECTION_LIST and a row in section_kind.c.
#pragma once

#include "base/key_table.h"
#include "math/jet.h"

#include <stdbool.h>

// Sections with a shape: enumerator, name in the model language, form and meaning of the key.
#define SNW_SECTION_LIST(X)                                                                        \
    X(SNW_SECTION_CIRCLE, "circle", "a circle", "solid round section")                             \
    X(SNW_SECTION_TUBE, "tube", "a tube", "hollow round section")                                  \
    X(SNW_SECTION_RECTANGLE, "rectangle", "widths y, z", "solid rectangle")                        \
    X(SNW_SECTION_ELLIPSE, "ellipse", "widths y, z", "solid ellipse")                              \
    X(SNW_SECTION_ELLIPTIC_TUBE, "elliptic_tube", "widths y, z, inner",                            \
      "ellipse with a bore similar to it")

typedef enum snw_section_kind {
    SNW_SECTION_NONE, // stiffness given
#define X(code, name, form, meaning) code,
    SNW_SECTION_LIST(X)
#undef X
        SNW_SECTION_GIVEN, // area and second moments of area given
    SNW_SECTION_COUNT
} snw_section_kind;

enum {
    SNW_SECTION_SHAPES = SNW_SECTION_GIVEN - 1, // lines of SNW_SECTION_LIST
    SNW_SECTION_KEYS = 4,                       // largest number of keys
    SNW_SECTION_TORSION = 4,                    // sizes come before; here a given torsion constant
    SNW_SECTION_SIZES
};

// Area, second moments of area about x, y and z, and torsion constant, m^2 and m^4, with
// derivatives along the rod.
typedef struct snw_section_moments {
    snw_jet A, I[3], torsion;
} snw_section_moments;

// Outer contour: an ellipse or a rectangle. A bore is similar to it.
typedef struct snw_section_contour {
    double half[2]; // half widths along y and z, m
    double hole;    // width of the bore over that of the contour, 0: none
} snw_section_contour;

// A key of a section, and the size that it gives.
typedef struct snw_section_key {
    int size;          // index
    bool doubled;      // it gives twice the size, as a diameter does
    bool as_the_first; // `doubled` is that of the key that gave the first size
} snw_section_key;

typedef struct snw_section_type {
    const char *label;                       // for output
    snw_key_table keys;                      // name and keys in the model language; n = 0: no map
    snw_section_key gives[SNW_SECTION_KEYS]; // by key; two keys of one size are alternatives
    int nsize;
    bool shaped;    // its contour is known: contacts, fluids and tendons may ask for it
    bool rectangle; // its contour is a rectangle; else an ellipse
    // *out <- area and moments; that about x follows from the others where there is a shape.
    void (*moments)(const snw_jet *size, snw_section_moments *out);
    // Saint-Venant's torsion constant; NULL: the second moment about x.
    snw_jet (*torsion)(const snw_jet *size);
    // Rule that the sizes violate, with the index of the wrong one; NULL: none.
    const char *(*fault)(const double *size, int *wrong);
    // Contour; of a section without shape the circle of the same area, for drawing. NULL: unknown.
    void (*contour)(const double *size, snw_section_contour *out);
} snw_section_type;

extern const snw_section_type snw_section_table[SNW_SECTION_COUNT];

// Name in the model language; "given" and "none" for sections without shape.
const char *snw_section_name(snw_section_kind kind);

// Area and moments of a section with these sizes.
snw_section_moments snw_section_moments_of(snw_section_kind kind, const snw_jet *size);

// Contour; half widths are zero where it is unknown.
snw_section_contour snw_section_contour_of(snw_section_kind kind, const double *size);

// Is the point (y, z) inside the contour, up to rounding?
bool snw_section_contains(snw_section_kind kind, const double *size, double y, double z);
