// SPDX-License-Identifier: MIT
//
// workspace.h: map of the equilibria that a robot reaches as one to three inputs vary: poses,
// stability, distance to singularity, and the kinds of its boundary. Equations in docs/theory.md
// 5.5.
//
//   snw_workspace_options o = snw_workspace_defaults();
//   const snw_workspace_input in[2] = {{"motor(1)", 0.7, 2.4, 0}, {"motor(2)", 0.7, 2.4, 0}};
//   o.ninput = 2, o.input = in;
//   snw_workspace *map;
//   if (snw_robot_workspace(arm, &o, &map, &err) == SNW_OK) {
//       printf("%d folds\n", map->count[SNW_MAP_FOLD]);
//       snw_workspace_close(map);
//   }
#pragma once

#include "sinew/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

// An input that varies over a range.
typedef struct snw_workspace_input {
    const char *name; // an input of an actuator ("motor", "drive.2"), or a component of a load
                      // ("push.fy")
    double low, high; // SI
    int cells;        // into which the range is divided at first; 0: default
} snw_workspace_input;

typedef struct snw_workspace_options {
    int ninput; // 1 to 3
    const snw_workspace_input *input;
    int noutput; // names of probes or columns, the pose that counts for the dexterity. None: all
                 // probes of positions
    const char *const *output;
    int levels;  // times that cells at the boundary are bisected, 0 to 10; default 2
    double near; // cells with a smaller stability or dexterity are bisected too, default 0.02
    double time; // of the laws of the file, s; default 0
    int most;    // nodes at which refinement stops, default 100000
    int (*stop)(void *user); // not 0: stop with SNW_E_STOPPED; NULL: never
    void *user;
} snw_workspace_options;

SNW_API snw_workspace_options snw_workspace_defaults(void);

// Kinds of points: nodes of the cover, then points of the boundary, on edges between nodes.
#define SNW_MAP_LIST(X)                                                                            \
    X(SNW_MAP_INSIDE, "inside")           /* node: stable, reached */                              \
    X(SNW_MAP_LIMIT, "limit")             /* node: the same, some input is at the end of its range \
                                           */                                                      \
    X(SNW_MAP_UNSTABLE, "unstable")       /* node: reached, unstable; not followed further */      \
    X(SNW_MAP_LOST, "lost")               /* node: the branch ends before it, from all sides */    \
    X(SNW_MAP_FOLD, "fold")               /* the branch ends here, its stability is zero */        \
    X(SNW_MAP_BIFURCATION, "bifurcation") /* it goes on from here, unstable */                     \
    X(SNW_MAP_RANK, "rank") /* stable, but the inputs lose a direction of the pose; nodes too */   \
    X(SNW_MAP_END, "end")   /* it could not be followed further, though stable */

typedef enum snw_map_kind {
#define X(kind, name) kind,
    SNW_MAP_LIST(X)
#undef X
        SNW_MAP_KINDS
} snw_map_kind;

typedef struct snw_map_point {
    snw_map_kind kind;
    int level;        // bisections of the cells to which it belongs
    int negative;     // unstable directions
    double stability; // smallest eigenvalue, as by snw_robot_stability: the distance to
                      // singularity; NaN: lost
    double dexterity; // smallest singular value of the gain relative to the largest, of poses in
                      // lengths of the robot and radians, inputs in their ranges; those that are
                      // zero everywhere do not count; NaN: lost
} snw_map_point;

// Piece of the boundary between two points, of a map of two inputs.
typedef struct snw_map_segment {
    int point[2];
    snw_map_kind kind; // SNW_MAP_LIMIT, or that of its points
} snw_map_segment;

// Triangle between points of a map of two inputs. All of them cover what is reached, up to the
// boundary: two cells of the map share the points between them, and no triangle reaches over a loss
// of rank.
typedef struct snw_map_triangle {
    int point[3];
} snw_map_triangle;

typedef struct snw_map_column {
    const char *name, *unit;
    double low, high; // range of an input; NaN for an output
} snw_map_column;

// All belongs to the map.
typedef struct snw_workspace {
    int ninput, noutput;
    const snw_map_column *input, *output;
    int npoint;
    const snw_map_point *point;
    const double *u; // npoint rows of inputs
    const double *y; // npoint rows of outputs; NaN: lost
    int nsegment;
    const snw_map_segment *segment;
    int ntriangle;
    const snw_map_triangle *triangle;
    int count[SNW_MAP_KINDS]; // of points
    int sheets;     // edges whose ends belong to different branches: two ways lead to different
                    // equilibria, and the map shows one of them
    int full;       // 1: refinement stopped at the number of nodes
    int exact;      // 0: some gains are differences of order 6
    int symmetric;  // 0: follower loads; flutter is not looked for
    int equilibria; // computed
} snw_workspace;

// The map of the branch on which the robot is in equilibrium at its present inputs; each node is
// followed from a neighbour and back again. The robot stays as it is. On success *out belongs to
// the caller, who calls snw_workspace_close. Allocates memory. SNW_E_ARGUMENT: a name or a number
// is wrong; SNW_E_STOPPED: *out is the map so far, of the points that were reached, or NULL before
// there is one; SNW_E_DIVERGED, SNW_E_SINGULAR, SNW_E_MODEL: no equilibrium at the start, or no way
// from there into the ranges; err says why.
SNW_API SNW_NODISCARD snw_status snw_robot_workspace(snw_robot *r, const snw_workspace_options *how,
                                                     snw_workspace **out, snw_error *err);
SNW_API void snw_workspace_close(snw_workspace *map); // NULL is fine
// Name of a kind.
SNW_API const char *snw_map_kind_name(snw_map_kind kind);

#ifdef __cplusplus
}
#endif
