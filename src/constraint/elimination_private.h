// SPDX-License-Identifier: MIT
//
// elimination_private.h: state of an elimination; private to src/constraint/elimination*.c.
#pragma once

#include "base/arena.h"
#include "constraint/elimination.h"
#include "dynamics/segment_map.h"
#include "dynamics/tendon_friction.h"
#include "solve/block_sparse.h"

enum { SNW_ELIMINATION_STATE = 18 };

// Blocks of P that segments share, see `slot`.
enum { SNW_ELIMINATION_CHAIN, SNW_ELIMINATION_LEAF, SNW_ELIMINATION_SHARED };

// A segment: counts, and where its lists and numbers begin.
typedef struct snw_segment_plan {
    int n;       // coordinates z that move it
    int kept;    // coordinates y in use beyond it towards the root
    int leaving; // coordinates eliminated at it; y is the kept ones, then these
    size_t list; // dof (kept + leaving), before (kept + leaving), place (n)
    size_t sigma, lu, gain, back;
    size_t map; // S, S', S'' and K of the last product
    size_t pivot;
} snw_segment_plan;

// Linear form in states and coordinates: component `at` of the state of segment seg, or coordinate
// `at` (seg 0), times a value.
typedef struct snw_form_entry {
    int seg, at;
    double value;
} snw_form_entry;

typedef struct snw_form {
    int n;
    snw_form_entry *entry;
} snw_form;

// Forms at a point of a tendon with friction: its length; the speed of that part, with cq and cv,
// such that the tendon slides with less the sum behind; angle per length and angle of the corner,
// with cq, the latter times its part of the loss.
enum { SNW_FORM_LENGTH, SNW_FORM_SPEED, SNW_FORM_TURN, SNW_FORM_CORNER, SNW_FORMS };

// Friction at a point, and its tension.
typedef struct snw_friction_at {
    snw_tendon_friction_point f;
    double T;
} snw_friction_at;

// Sums along a tendon with friction, at a point: variation of the sliding speed; of a winch the
// path beyond it with its rate, and the slack that the tension from here on would give.
typedef struct snw_friction_sum {
    double speed, path, rate, slack;
} snw_friction_sum;

// One unknown of the border: its forces U on the coordinates, and the row V by which it depends on
// them, theory.md (4.8). Both as wrenches or numbers by the states of up to two segments (0: none)
// and numbers by coordinates, or as forms.
typedef struct snw_border_unknown {
    int force_seg[2];
    snw_wrench force[2];
    int row_seg[2];
    double row[2][SNW_ELIMINATION_STATE];
    int n; // coordinates
    const int *dof;
    const double *value;
    double force_factor, row_factor;       // of `value` in U and in V
    double diagonal;                       // G
    int pair, end, component;              // -1: none; else its wrench
    double stiffness;                      // of a tendon
    const snw_form *force_form, *row_form; // NULL: none
} snw_border_unknown;

// Wrenches of a pair of segments: variation of end k by the state of end l, E[k][l] (6 x ns, by
// rows).
typedef struct snw_pair_matrix {
    int seg[2];
    bool acts;
    double E[2][2][6 * SNW_ELIMINATION_STATE];
} snw_pair_matrix;

// Variation of the wrenches on the four segments of two slices that touch by their states, 12
// numbers each: the pose and its first rate.
typedef struct snw_touch_matrix {
    int seg[4];
    bool is_border; // the order of the cells does not know it, or there are none
    double E[24][48];
} snw_touch_matrix;

// Stiffness of a straight segment of a tendon across its direction: forces on its two ends, three
// numbers each, by the displacements of both, each in the axes of its segment.
typedef struct snw_straight_matrix {
    int seg[2];
    bool acts;
    double E[6][6];
} snw_straight_matrix;

// The equations with states and wrenches as unknowns, theory.md (4.8a): a cell for each segment,
// with the coordinates of its joint, and one for the coordinates of a rod that are in use on the
// same slices.
typedef struct snw_mixed {
    snw_block_sparse *cells;
    int ns;                    // of the states in the cells
    int *cell_of_seg;          // -1: the world
    int *cell_of_dof, *at_dof; // cell of each coordinate, its place there
    int *columns_of_dof;       // unknowns of that cell
    int *pair, npair, room;    // couplings along the tree; room for others behind them
    double *x;
    double unit; // of the wrenches
} snw_mixed;

// Place of an unknown, or of a row, in the cells.
typedef struct snw_mixed_place {
    int cell, at, columns; // columns of the cell
} snw_mixed_place;

// Variations at a point of a tendon with friction by a coordinate with the function phi: w df/dxi
// phi, w (cq f'' xi' + cv df/dxi) phi, cq times that of the angle per length.
typedef struct snw_by_function {
    double stretch, speed, turn;
} snw_by_function;

struct snw_elimination {
    const snw_model *m;
    int ns;           // 6 or 18
    int sign;         // of det T
    int negative;     // negative eigenvalues, if T is symmetric
    bool is_definite; // no pivot is zero
    int most;         // largest number of coordinates in use
    int most_n;       // largest number of coordinates of a segment
    snw_segment_plan *plan;
    int *list, *pivot;
    double *number;
    // tendons with friction: unknowns behind the coordinates, theory.md (4.7a)
    int nfriction;
    int *friction; // of each point of a tendon: its unknowns, the speed and then the tension; -1:
                   // none; NULL: no tendon has friction
    double *extended;      // nv + nfriction: of a solution
    int *near, *component; // scratch: coordinates at a point, their strains
    snw_by_function *by_near;
    double *maps;              // of all segments at the point of the last product
    int *point_of_seg, *point; // nseg + 1: points of tendons on each slice
    // of the last factorisation
    snw_se3 *h;
    snw_twist *u, *du;
    int *slot, nslot; // nseg: block of P of a segment; CHAIN: its only child is the next one, whose
                      // block serves both; LEAF: it has none and the block is zero
    double *P;        // nslot x 6 x ns: variation of the wrenches from what lies behind
    double *state;    // nseg x ns
    snw_wrench *f;    // nseg
    double *W, *carried, *small, *map, *unit, *block, *flux;
    snw_arena scratch; // to count negative eigenvalues
    // forces between distant segments and constraint rows
    int most_border, nborder; // room, and unknowns of the last factorisation: first the rows
    bool has_rows;            // it has the constraint rows
    snw_border_unknown *border;
    snw_pair_matrix *pair; // snw_segment_pairs
    double *schur;         // most_border^2, factorised
    double *gram;          // 6 most_border^2: of the forces, to count negative eigenvalues
    double *border_rhs;    // 2 most_border
    int *border_pivot;
    double *value; // numbers by coordinates of the unknowns, `nvalue` in use
    size_t nvalue;
    double *x; // nv, of a solution without the border
    // contact of rods with rods
    int most_touched, most_straight;   // touched segments, and straight ones of tendons, for which
                                       // the border has room
    int ntouch, ntouched, touch_first; // pairs of slices; segments touched by those of the border,
                                       // their first unknown
    snw_touch_matrix *touch;
    int *touched, *touched_of_seg; // their segments; place of each segment among them, -1: none
    // tendons with friction along several rods or through the air, elimination_sliding.c
    int *sliding, nsliding; // of each point of a tendon: its number among these points, -1: none
    // tendons with friction, elimination_form.c and elimination_winch.c
    snw_form form[SNW_FORMS]; // scratch, of one point
    snw_form_entry *form_entry;
    snw_friction_sum *along; // scratch, of each point
    snw_form *winch_form;    // of each one: forces and rows of its unknowns
    snw_form_entry *winch_entry;
    bool *touch_seen;  // scratch, nseg
    double along_tree; // multiplications of a solution along the tree
    snw_mixed mixed;
    bool is_mixed; // the last factorisation is
};

// ---- elimination.c

// x <- inv(T0) x with the wrenches -e->f on the segments, T0 the tangent without the border;
// e->state <- states of the segments.
void snw_elimination_solve_tree(snw_elimination *e, double *x);

// Begins a factorisation: motion of the segments, e->P <- wrenches of pairs by their own segments.
void snw_elimination_begin(snw_elimination *e, const snw_tangent_at *at, snw_work *w);
// e->W <- terms of segment i by its own states and the coordinates in use, without its map, which
// is returned.
snw_segment_map snw_elimination_own(snw_elimination *e, const snw_tangent_at *at, int i,
                                    snw_work *w);
// to <- Phi of segment i times the state `from` of its parent.
void snw_elimination_state(const snw_elimination *e, int i, const double *from, double *to);

// y (nv + rows) <- the whole matrix times x, with `added` and the rows of the last factorisation.
void snw_elimination_product_bordered(snw_elimination *e, const snw_tangent_at *at, snw_work *w,
                                      const double *x, double *y);

// ---- elimination_friction.c

// Unknowns of the tendons with friction: e->friction, e->nfriction.
SNW_NODISCARD snw_status snw_friction_create(snw_elimination *e);
// Slice in which point k of the tendons lies.
int snw_slice_of_tendon_point(const snw_model *m, int k);
// first, last <- slices in which each unknown is in use.
void snw_friction_use(const snw_elimination *e, int *first, int *last);
// Appends the unknowns that come into use at slice i, whose last slice is `last`, to the n of dof.
int snw_friction_enter(const snw_elimination *e, int i, const int *last, int n, int *dof);
// W += rows of the unknowns of the points on slice i, and the forces of their tensions.
void snw_friction_add(snw_elimination *e, const snw_tangent_at *at, int i, const snw_work *w);

// ---- elimination_form.c

SNW_NODISCARD snw_status snw_forms_create(snw_elimination *e);
// e->form <- variations at point k of a tendon at which friction acts.
snw_friction_at snw_friction_forms(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                                   int tendon, int k);
// f times x, with the states e->state of x.
double snw_form_times(const snw_elimination *e, const snw_form *f, const double *x);
// Forces of a form: y += factor times those by coordinates, e->f += on_segments times the others.
void snw_form_push(snw_elimination *e, const snw_form *f, double factor, double on_segments,
                   double *y);
// to += factor times f, behind its entries
void snw_form_add(snw_form *to, const snw_form *f, double factor);
// Entries of the forms at point k at most.
int snw_form_room(const snw_model *m, int k);

// ---- elimination_winch.c

// Room for the border of elastic tendons of given length with friction.
SNW_NODISCARD snw_status snw_winch_create(snw_elimination *e);
void snw_winch_destroy(snw_elimination *e);
// Unknowns of the border for which there must be room.
int snw_winch_room(const snw_model *m);
// e->border <- unknowns of the winches whose friction acts.
void snw_winch_list(snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
// y, e->f += forces of the tensions with friction that x changes, with the states e->state.
void snw_friction_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                          const double *x, double *y);

// ---- elimination_mixed.c

void snw_mixed_destroy(snw_mixed *x);
// e->is_mixed <- the equations are factorised with states and wrenches as unknowns, because that
// takes less than a border and there is room. SNW_E_SINGULAR: they are not, and a border has no
// room for the touches.
SNW_NODISCARD snw_status snw_mixed_factor(snw_elimination *e, const snw_tangent_at *at,
                                          snw_work *w);
// Are the cells in use, with an order that couples four segments?
bool snw_mixed_has(const snw_elimination *e, const int seg[4]);
// The same as snw_elimination_solve_tree, with the last factors.
void snw_mixed_solve(snw_elimination *e, double *x);

// Places of coordinate d, component k of the state of segment i, row of component k of its wrench,
// and of the speed (0) or tension (1) at a point of a tendon.
snw_mixed_place snw_mixed_dof(const snw_elimination *e, int d);
snw_mixed_place snw_mixed_state(const snw_elimination *e, int i, int k);
snw_mixed_place snw_mixed_wrench_row(const snw_elimination *e, int i, int k);
snw_mixed_place snw_mixed_point(const snw_elimination *e, int point, int k);
// Entry of a row and an unknown += a; pair n of the couplings.
void snw_mixed_add(snw_elimination *e, snw_mixed_place row, snw_mixed_place column, double a);
void snw_mixed_pair(snw_elimination *e, int n, int a, int b);

// ---- elimination_sliding.c

// Is tendon i one with friction that leaves its rod, or passes a corner?
bool snw_tendon_is_sliding(const snw_model *m, int i);
SNW_NODISCARD snw_status snw_sliding_create(snw_elimination *e);
// Does the friction of one of them act?
bool snw_sliding_acts(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
// Their entries; pairs of cells from number n on, returns the next number.
void snw_sliding_add(snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
int snw_sliding_pairs(snw_elimination *e, int n);

// ---- elimination_touch.c

// Room for pairs of slices that touch, for segments of them in a border, and in all.
void snw_touch_room(const snw_model *m, int *pairs, int *segments, int *all);
// e->touch <- variations of the wrenches of all touches, which the factors keep.
void snw_touch_take(snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
// e->P += what the wrench of a segment takes from its own state, which e->touch loses.
void snw_touch_add_own(snw_elimination *e);
// e->f += wrenches of the touches of w with the states e->state; e->touch stays.
void snw_touch_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
// e->border <- six unknowns for each touched segment, from touch_first on.
void snw_touch_list(snw_elimination *e);
// rows (6 ntouched) <- V times the states e->state, of these unknowns.
void snw_touch_rows(const snw_elimination *e, double *rows);
// Pi (columns ld apart) += stiffness by which they act on each other, symmetric.
void snw_touch_stiffness(const snw_elimination *e, size_t ld, double *Pi);

// ---- elimination_border.c

SNW_NODISCARD snw_status snw_border_create(snw_elimination *e);
void snw_border_destroy(snw_elimination *e);
// e->pair <- variations of the wrenches of all pairs; e->P += those of a segment by its own state.
void snw_border_add_own(snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
// Straight segments of tendons under tension; that at point k of tendon i.
int snw_count_straight(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w);
void snw_straight_take(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w, int i,
                       int k, snw_straight_matrix *out);
// e->f += wrenches of all pairs with the states e->state; y += rank-one stiffness of tendons.
void snw_border_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                        const double *x, double *y);
// Constraint rows of the last factorisation: e->f, y += forces of the multipliers; out <- rows of
// the matrix times x, with the states e->state of x.
void snw_border_add_rows(snw_elimination *e, const double *lambda, double *y);
void snw_border_rows(const snw_elimination *e, const double *x, double *out);
// After the elimination of the tree.
SNW_NODISCARD snw_status snw_border_factor(snw_elimination *e, const snw_tangent_at *at,
                                           snw_work *w);
// b (nv + rows) <- solution.
void snw_border_solve(snw_elimination *e, double *b);
