// SPDX-License-Identifier: MIT
//
// Maps of the workspace of the public robot: equilibria at the nodes of an adaptive cover of the
// inputs, each followed from a neighbour, and the points of its boundary. theory.md 5.5
#include "sinew/workspace.h"

#include "robot/cover.h"
#include "robot/robot_follow.h"
#include "robot/robot_linear.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "solve/dense.h"
#include "solve/root.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    MOST_INPUTS = 3,
    MOST_CELLS = 1000,
    MOST_LEVELS = 10,
    CELLS = 12,    // default
    ATTEMPTS = 60, // equilibria on the way to a point of the boundary
    FIT = 3        // last of them through which a polynomial is laid
};

static const size_t POOL_LIMIT = // of bytes; half of the addresses where these have 32 bits
    SIZE_MAX > UINT32_MAX ? (size_t)(UINT64_C(1) << 32) : SIZE_MAX / 2;
static const double SAME = 1e-6, // distance of equilibria that are one, typical coordinates
    SMALLEST = 1e-2,             // increment of the way from node to node
    APPROACH = 0.3,              // of the stability from one equilibrium to the next
    REACHED = 1e-4,              // part of the stability from which the boundary is extrapolated
    SMALL = 1e-6,                // stability below which equilibria are not sought
    VANISHES = 0.02,             // stability that vanishes at the end of the edge
    SHORT = 1e-12,               // part of an edge that is not divided
    ROOT = 1e-10,                // part of an edge to which a loss of rank is located
    DISTINCT = 1e-7,             // singular value that is not zero, relative to the largest
    SINGULAR = 1e-5,             // dexterity at such a root
    LONG = 2,                    // way of the pose along an edge, over the mean
    STRAIGHT = 0.97;             // cosine of the bend of an edge at a limit, 14 degrees

// A node of the cover with its equilibrium.
typedef struct map_node {
    enum { NODE_OPEN, NODE_UNSTABLE, NODE_STABLE } is;
    snw_map_point judged;
    snw_state *s; // NULL: open
    double *y;    // outputs, weighted gain, its singular values
} map_node;

// An edge of the cover between its nodes 0 and 1.
typedef struct map_edge {
    bool tried[2]; // followed from node k to the other
    bool ends[2];  // the branch of node k does not lead to the other
    bool sound;    // both are on one branch
    bool located;  // `border` and `rank` are known
    int border[2]; // end of the branch of node k, as a number of `point`; -1: none
    int rank;
} map_edge;

// A point of the boundary.
typedef struct map_border {
    snw_map_point judged;
    double u[MOST_INPUTS];
    double *y;
} map_border;

typedef struct workspace_robot {
    snw_workspace view; // first: the public part
    snw_robot *r;
    const snw_workspace_options *how;
    snw_pool *pool;
    snw_linear_model *gain;
    snw_error *err;
    snw_arena scratch;
    snw_cover cover;
    int nu, ny;
    bool covered; // all nodes that can be reached are known
    int rank;     // of the gain, the largest that was seen
    snw_varied varied[MOST_INPUTS];
    double low[MOST_INPUTS], high[MOST_INPUTS];
    double *weight; // ny: of outputs
    double far;     // square of the way of a long edge
    map_node *node; // of the cover's
    map_edge *edge;
    int node_room, edge_room;
    map_border *border;
    int nborder, border_room;
    snw_map_segment *segment;
    int nsegment, segment_room;
    snw_map_triangle *triangle;
    int ntriangle, triangle_room;
    snw_map_point judged; // of the present equilibrium
    double *y;            // likewise
    snw_state *from, *to; // scratch
} workspace_robot;

snw_workspace_options snw_workspace_defaults(void) {
    return (snw_workspace_options){.levels = 2, .near = 0.02, .most = 100000};
}

const char *snw_map_kind_name(snw_map_kind kind) {
    static const char *const name[] = {
#define X(kind, name) name,
        SNW_MAP_LIST(X)
#undef X
    };
    return kind >= 0 && kind < SNW_MAP_KINDS ? name[kind] : "";
}

// ---- equilibria ---------------------------------------------------------------------------------

static bool has_ended(snw_status s) { return s == SNW_E_DIVERGED || s == SNW_E_SINGULAR; }

// u <- inputs at a place of the lattice
static void inputs_at(const workspace_robot *v, const int at[3], double *u) {
    for (int k = 0; k < v->nu; k++) {
        const double part = (double)at[k] / v->cover.size[k];
        u[k] = part == 1 ? v->high[k] : v->low[k] + part * (v->high[k] - v->low[k]);
    }
}

// u <- inputs at the fraction s of the way from node a to node b
static void inputs_between(const workspace_robot *v, int a, int b, double s, double *u) {
    double end[MOST_INPUTS];
    inputs_at(v, v->cover.node[a].at, u);
    inputs_at(v, v->cover.node[b].at, end);
    for (int k = 0; k < v->nu; k++) u[k] = s == 1 ? end[k] : u[k] + s * (end[k] - u[k]);
}

static void set_inputs(workspace_robot *v, const double *u) {
    for (int k = 0; k < v->nu; k++) snw_varied_set(v->r, &v->varied[k], u[k]);
}

// The robot is in the equilibrium s at the inputs u, from which others are followed.
static snw_status go_to(workspace_robot *v, const snw_state *s, const double *u) {
    snw_robot *r = v->r;
    snw_state_copy(r->m, s, r->s);
    set_inputs(v, u);
    SNW_TRY(snw_robot_check_state(r, v->err));
    snw_statics_assume(r->statics, v->how->time);
    r->inputs_stale = true;
    return SNW_OK;
}

// The equilibrium at the inputs u, followed from the present one.
static snw_status follow_to(workspace_robot *v, const double *u, snw_statics_info *info) {
    snw_error ended = {0};
    if (v->how->stop && v->how->stop(v->how->user))
        return snw_fail(v->err, SNW_E_STOPPED, "stopped after %d equilibria", v->view.equilibria);
    set_inputs(v, u);
    v->view.equilibria++;
    const snw_status s = snw_follow_equilibrium(v->r, v->how->time, false, SMALLEST, info, &ended);
    if (s != SNW_OK && !has_ended(s) && v->err) *v->err = ended;
    return s;
}

// Largest difference of two configurations in typical coordinates; rotations as quaternions.
static double distance_between(const snw_model *m, const double *a, const double *b) {
    double most = 0;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *block = &m->block[k];
        const bool group = block->space != SNW_SPACE_RN;
        double sign = 1; // a quaternion and its opposite are one rotation
        if (group) {
            double dot = 0;
            for (int i = block->q; i < block->q + 4; i++) dot += a[i] * b[i];
            sign = dot < 0 ? -1 : 1;
        }
        const int n = !group ? block->n : block->space == SNW_SPACE_SO3 ? 4 : 7;
        for (int i = 0; i < n; i++) {
            const double other = group && i < 4 ? sign * b[block->q + i] : b[block->q + i];
            const double typical = !group ? m->typical[block->dof + i] : i < 4 ? 1 : m->length;
            most = fmax(most, fabs(a[block->q + i] - other) / typical);
        }
    }
    return most;
}

// ---- judgement ----------------------------------------------------------------------------------

static int least(int a, int b) { return a < b ? a : b; }

// S (MOST_INPUTS) <- singular values of the weighted gain J, then zeros; v->rank <- the largest
// seen
static void decompose(workspace_robot *v, const double *J, double *S) {
    const size_t nu = (size_t)v->nu, ny = (size_t)v->ny;
    const int n = least(v->nu, v->ny);
    memset(S, 0, MOST_INPUTS * sizeof *S);
    if (n == 0) return;
    double *A = snw_arena_doubles(&v->scratch, nu * ny);
    double *U = snw_arena_doubles(&v->scratch, ny * (size_t)n);
    double *V = snw_arena_doubles(&v->scratch, nu * nu);
    memcpy(A, J, nu * ny * sizeof *A);
    if (snw_svd(v->ny, v->nu, A, &v->scratch, U, S, V) != SNW_OK) S[0] = NAN;
    snw_arena_reset(&v->scratch, 0);
    while (v->rank < n && S[v->rank] > DISTINCT * S[0]) v->rank++;
}

// Singular values of the numbers of a point.
static double *singular_values(const workspace_robot *v, double *y) {
    return y + v->ny * (1 + v->nu);
}

// The last singular value that does not vanish everywhere, relative to the largest.
static double dexterity_of(const workspace_robot *v, const double *S) {
    if (v->rank == 0) return isnan(S[0]) ? NAN : 0;
    return S[0] > 0 ? S[v->rank - 1] / S[0] : S[0] == 0 ? 0 : NAN;
}

// v->judged, v->y <- of the equilibrium in which the robot is
static snw_status judge(workspace_robot *v) {
    const snw_stability now = snw_statics_stability(v->r->statics, v->r->s);
    SNW_TRY(snw_linear_static(v->gain, v->err));
    double *J = v->y + v->ny;
    for (int i = 0; i < v->ny; i++) {
        v->y[i] = v->gain->output[i].value;
        v->view.exact = v->view.exact && v->gain->output[i].exact;
        for (int j = 0; j < v->nu; j++) {
            const size_t at = (size_t)j * (size_t)v->ny + (size_t)i;
            J[at] = v->gain->D[at] * v->weight[i] * (v->high[j] - v->low[j]);
        }
    }
    double *S = singular_values(v, v->y);
    decompose(v, J, S);
    v->judged = (snw_map_point){.kind = SNW_MAP_INSIDE,
                                .negative = now.negative,
                                .stability = now.value,
                                .dexterity = dexterity_of(v, S)};
    if (!now.symmetric) v->view.symmetric = 0;
    return SNW_OK;
}

// determinant of a matrix of n <= 3
static double determinant(int n, const double A[9]) {
    if (n == 1) return A[0];
    if (n == 2) return A[0] * A[3] - A[1] * A[2];
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[3] * (A[1] * A[8] - A[2] * A[7]) +
           A[6] * (A[1] * A[5] - A[2] * A[4]);
}

// Do the gains Ja and Jb have the same orientation? det(Ja' Jb), or det(Ja Jb') where there are
// fewer outputs than inputs; its sign changes where the rank of Jb falls.
static double orientation(const workspace_robot *v, const double *Ja, const double *Jb) {
    const int n = least(v->nu, v->ny), sum = v->nu + v->ny - n;
    const bool wide = v->ny < v->nu;
    double A[9] = {0};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < sum; k++) {
                A[j * n + i] += wide ? Ja[k * v->ny + i] * Jb[k * v->ny + j]
                                     : Ja[i * v->ny + k] * Jb[j * v->ny + k];
            }
        }
    }
    return determinant(n, A);
}

// ---- nodes and edges ----------------------------------------------------------------------------

static size_t numbers_of(const workspace_robot *v) {
    return (size_t)v->ny * (1 + (size_t)v->nu) + MOST_INPUTS;
}

static snw_status larger(void **array, int n, int *room, size_t size) {
    if (n <= *room) return SNW_OK;
    int more = *room ? *room : 256;
    while (more < n) more *= 2;
    void *to = snw_alloc((size_t)more * size);
    if (!to) return SNW_E_MEMORY;
    if (*room) memcpy(to, *array, (size_t)*room * size);
    snw_free(*array);
    *array = to;
    *room = more;
    return SNW_OK;
}

// node, edge <- as many as the cover has
static snw_status match_cover(workspace_robot *v) {
    const int before = v->edge_room;
    void *nodes = v->node, *edges = v->edge;
    snw_status s = larger(&nodes, v->cover.nnode, &v->node_room, sizeof *v->node);
    v->node = nodes;
    if (s == SNW_OK) s = larger(&edges, v->cover.nedge, &v->edge_room, sizeof *v->edge);
    v->edge = edges;
    for (int i = before; s == SNW_OK && i < v->edge_room; i++)
        v->edge[i].border[0] = v->edge[i].border[1] = v->edge[i].rank = -1;
    return s == SNW_OK ? s : snw_fail_memory(v->err);
}

// node <- the present equilibrium
static snw_status keep_node(workspace_robot *v, int i) {
    map_node *node = &v->node[i];
    if (!node->y) node->y = snw_pool_array(v->pool, numbers_of(v), sizeof *node->y);
    if (!node->y || (!node->s && snw_state_create(v->r->m, &node->s) != SNW_OK))
        return snw_fail_memory(v->err);
    snw_state_copy(v->r->m, v->r->s, node->s);
    memcpy(node->y, v->y, numbers_of(v) * sizeof *node->y);
    node->judged = v->judged;
    node->is = v->judged.negative > 0 ? NODE_UNSTABLE : NODE_STABLE;
    return SNW_OK;
}

// *same <- does the way from the present equilibrium to the inputs u lead to the configuration q?
static snw_status leads_to(workspace_robot *v, const double *u, const double *q, bool *same) {
    snw_statics_info info;
    const snw_status s = follow_to(v, u, &info);
    *same = s == SNW_OK && distance_between(v->r->m, v->r->s->q, q) < SAME;
    return has_ended(s) ? SNW_OK : s;
}

// Follow edge e from its node k, which is stable, to the other one.
static snw_status follow_edge(workspace_robot *v, int e, int k) {
    map_edge *edge = &v->edge[e];
    const int a = v->cover.edge[e].node[k], b = v->cover.edge[e].node[1 - k];
    double here[MOST_INPUTS], there[MOST_INPUTS];
    inputs_at(v, v->cover.node[a].at, here);
    inputs_at(v, v->cover.node[b].at, there);
    edge->tried[k] = true;
    SNW_TRY(go_to(v, v->node[a].s, here));
    if (v->node[b].is == NODE_STABLE) {
        bool same;
        SNW_TRY(leads_to(v, there, v->node[b].s->q, &same));
        edge->sound = edge->sound || same;
        edge->ends[k] = !same;
        return SNW_OK;
    }
    snw_statics_info info;
    const snw_status s = follow_to(v, there, &info);
    edge->ends[k] = s != SNW_OK;
    if (s != SNW_OK) return has_ended(s) ? SNW_OK : s;
    SNW_TRY(judge(v));
    if (v->judged.negative > 0) {
        edge->ends[k] = true;
        return keep_node(v, b);
    }
    // a way that jumped to another branch does not lead back
    bool back;
    snw_state_copy(v->r->m, v->r->s, v->from);
    SNW_TRY(leads_to(v, here, v->node[a].s->q, &back));
    edge->sound = back;
    edge->ends[k] = !back;
    if (!back) return SNW_OK;
    snw_state_copy(v->r->m, v->from, v->r->s);
    return keep_node(v, b);
}

// Follow all edges that lead from stable nodes to others, until no more are reached; then compare
// the remaining neighbours.
static snw_status spread(workspace_robot *v) {
    bool more = true;
    while (more) {
        more = false;
        for (int e = 0; e < v->cover.nedge; e++) {
            for (int k = 0; k < 2; k++) {
                const int a = v->cover.edge[e].node[k], b = v->cover.edge[e].node[1 - k];
                if (v->edge[e].tried[k] || v->node[a].is != NODE_STABLE) continue;
                if (v->node[b].is == NODE_STABLE) continue;
                SNW_TRY(follow_edge(v, e, k));
                more = more || v->node[b].is == NODE_STABLE;
            }
        }
    }
    for (int e = 0; e < v->cover.nedge; e++) {
        const int *node = v->cover.edge[e].node;
        if (v->edge[e].sound || v->node[node[0]].is != NODE_STABLE ||
            v->node[node[1]].is != NODE_STABLE)
            continue;
        for (int k = 0; k < 2 && !v->edge[e].sound; k++) {
            if (!v->edge[e].tried[k]) SNW_TRY(follow_edge(v, e, k));
        }
    }
    return SNW_OK;
}

// Is the rank of the gain lost at a node itself?
static bool is_singular(const workspace_robot *v, const map_node *node) {
    return node->is == NODE_STABLE && dexterity_of(v, singular_values(v, node->y)) < SINGULAR;
}

// Does the rank of the gain fall between the nodes of a sound edge?
static bool turns_over(const workspace_robot *v, int e) {
    const map_node *a = &v->node[v->cover.edge[e].node[0]], *b = &v->node[v->cover.edge[e].node[1]];
    if (v->rank < least(v->nu, v->ny) || !v->edge[e].sound || is_singular(v, a) ||
        is_singular(v, b))
        return false;
    return orientation(v, a->y + v->ny, b->y + v->ny) < 0;
}

// Square of the way of the weighted pose along an edge; NaN where it does not lead.
static double way_along(const workspace_robot *v, int e) {
    const map_node *a = &v->node[v->cover.edge[e].node[0]], *b = &v->node[v->cover.edge[e].node[1]];
    double sum = 0;
    if (!v->edge[e].sound || a->is != NODE_STABLE || b->is != NODE_STABLE) return NAN;
    for (int i = 0; i < v->ny; i++) {
        const double d = v->weight[i] * (b->y[i] - a->y[i]);
        sum += d * d;
    }
    return sum;
}

// v->far <- square of the way beyond which edges are long, from those of the first cells
static void find_far(workspace_robot *v) {
    double sum = 0;
    int n = 0;
    for (int e = 0; e < v->cover.nedge; e++) {
        const double way = way_along(v, e);
        if (isnan(way)) continue;
        sum += sqrt(way);
        n++;
    }
    const double far = n > 0 ? LONG * sum / n : 0;
    v->far = far > 0 ? far * far : INFINITY;
}

// Does the way of the pose along an edge at a limit of two inputs bend, and is it not short?
static bool bends(const workspace_robot *v, int e) {
    const double way = way_along(v, e);
    if (v->nu != 2 || !snw_cover_outside(&v->cover, e)) return false;
    if (!(way > v->far / (16 * LONG * LONG)) || isinf(v->far)) return false;
    const int *node = v->cover.edge[e].node;
    const int axis = v->cover.node[node[0]].at[0] != v->cover.node[node[1]].at[0] ? 0 : 1;
    const double *a = v->node[node[0]].y + v->ny + axis * v->ny,
                 *b = v->node[node[1]].y + v->ny + axis * v->ny;
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < v->ny; i++) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
    return ab < STRAIGHT * sqrt(aa * bb);
}

// Does the boundary pass through a cell, or is it near, or is an edge long, or one at a limit bent?
static bool needs_more(const workspace_robot *v, const snw_cover_cell *cell) {
    int stable = 0;
    double closest = INFINITY;
    for (int k = 0; k < snw_cover_corners(&v->cover); k++) {
        const map_node *node = &v->node[cell->node[k]];
        if (node->is != NODE_STABLE) continue;
        stable++;
        closest = fmin(closest,
                       fmin(node->judged.stability, dexterity_of(v, singular_values(v, node->y))));
    }
    if (stable == 0) return false;
    if (stable < snw_cover_corners(&v->cover) || closest < v->how->near) return true;
    for (int k = 0; k < snw_cover_edges(&v->cover); k++) {
        if (!v->edge[cell->edge[k]].sound || turns_over(v, cell->edge[k])) return true;
        if (way_along(v, cell->edge[k]) > v->far || bends(v, cell->edge[k])) return true;
    }
    return false;
}

static snw_status refine(workspace_robot *v, int level) {
    const int ncell = v->cover.ncell;
    for (int i = 0; i < ncell; i++) {
        if (v->cover.cell[i].level != level || !needs_more(v, &v->cover.cell[i])) continue;
        if (v->cover.nnode >= v->how->most) {
            v->view.full = 1;
            return SNW_OK;
        }
        if (snw_cover_split(&v->cover, i) != SNW_OK) return snw_fail_memory(v->err);
        SNW_TRY(match_cover(v));
    }
    return SNW_OK;
}

// ---- the boundary -------------------------------------------------------------------------------

static snw_status add_border(workspace_robot *v, const double *u, const snw_map_point *judged,
                             const double *y, int *out) {
    void *array = v->border;
    const snw_status s = larger(&array, v->nborder + 1, &v->border_room, sizeof *v->border);
    v->border = array;
    double *own = snw_pool_array(v->pool, (size_t)v->ny + 1, sizeof *own);
    if (s != SNW_OK || !own) return snw_fail_memory(v->err);
    memcpy(own, y, (size_t)v->ny * sizeof *own);
    *out = v->nborder;
    v->border[v->nborder] = (map_border){.judged = *judged, .y = own};
    memcpy(v->border[v->nborder++].u, u, (size_t)v->nu * sizeof *u);
    return SNW_OK;
}

// Equilibria on the way to the end of a branch: the last ones, by falling stability.
typedef struct way {
    int a, b, n;
    double low, high;      // fractions of the edge: stable, beyond the end
    double s[FIT], l[FIT]; // fraction and stability
    double *y[FIT];        // outputs
    snw_map_kind kind;     // by which it ended
    double dexterity;      // of the last
    double trial;          // next fraction
} way;

// Polynomial through the points of the way at the stability l: weights of the points.
static void interpolate(const way *w, double l, double weight[FIT]) {
    for (int i = 0; i < w->n; i++) {
        weight[i] = 1;
        for (int j = 0; j < w->n; j++) {
            if (j != i) weight[i] *= (l - w->l[j]) / (w->l[i] - w->l[j]);
        }
    }
}

static double fraction_at(const way *w, double l) {
    double weight[FIT], sum = 0;
    interpolate(w, l, weight);
    for (int i = 0; i < w->n; i++) sum += weight[i] * w->s[i];
    return sum;
}

// the present equilibrium joins the way at the fraction s
static void join_way(workspace_robot *v, way *w, double s) {
    const double l = v->judged.stability;
    while (w->n > 0 && !(w->l[w->n - 1] > l)) w->n--; // stability must fall
    if (w->n == FIT) {
        double *first = w->y[0];
        for (int i = 1; i < FIT; i++)
            w->s[i - 1] = w->s[i], w->l[i - 1] = w->l[i], w->y[i - 1] = w->y[i];
        w->y[FIT - 1] = first;
        w->n--;
    }
    w->s[w->n] = s;
    w->l[w->n] = l;
    memcpy(w->y[w->n++], v->y, (size_t)v->ny * sizeof *v->y);
    w->low = s;
    w->dexterity = v->judged.dexterity;
}

// *good <- is the equilibrium at the inputs `there`, followed from v->from at `here`, stable, and
// does the way lead back? v->to, v->judged, v->y <- of it, if it was reached.
static snw_status try_inputs(workspace_robot *v, const double *here, const double *there,
                             snw_statics_info *info, bool *good) {
    v->judged.negative = 0;
    SNW_TRY(go_to(v, v->from, here));
    const snw_status s = follow_to(v, there, info);
    *good = false;
    if (s != SNW_OK) return has_ended(s) ? SNW_OK : s;
    SNW_TRY(judge(v));
    if (v->judged.negative > 0) return SNW_OK;
    snw_state_copy(v->r->m, v->r->s, v->to);
    return leads_to(v, here, v->from->q, good);
}

// The fraction w->trial of the edge is tried from the last equilibrium, v->from; then the next one
// is chosen.
static snw_status try_way(workspace_robot *v, way *w) {
    double here[MOST_INPUTS], there[MOST_INPUTS];
    const double s = w->trial;
    snw_statics_info info;
    bool good;
    inputs_between(v, w->a, w->b, w->low, here);
    inputs_between(v, w->a, w->b, s, there);
    SNW_TRY(try_inputs(v, here, there, &info, &good));
    if (good) {
        snw_state_copy(v->r->m, v->to, v->from);
        join_way(v, w, s);
        const double next = w->n > 1 ? fraction_at(w, APPROACH * w->l[w->n - 1]) : NAN;
        w->trial = next > w->low && next < w->high ? next : 0.5 * (w->low + w->high);
        return SNW_OK;
    }
    const bool unstable = v->judged.negative > 0;
    double part = unstable ? info.left : info.reached; // up to there it is stable
    if (!(part > 0.01 && part < 0.99)) part = 0.5;
    w->kind = unstable ? SNW_MAP_BIFURCATION : SNW_MAP_FOLD;
    w->high = s;
    w->trial = w->low + 0.98 * part * (s - w->low);
    return SNW_OK;
}

// *out <- the point where the branch of node k of an edge ends: equilibria of falling stability,
// from which fraction and outputs are extrapolated to zero.
static snw_status find_end(workspace_robot *v, int e, int k, int *out) {
    const int a = v->cover.edge[e].node[k], b = v->cover.edge[e].node[1 - k];
    way w = {.a = a, .b = b, .high = 1, .trial = 1, .kind = SNW_MAP_END};
    double *memory = snw_alloc((FIT + 1) * numbers_of(v) * sizeof *memory);
    if (!memory) return snw_fail_memory(v->err);
    for (int i = 0; i < FIT; i++) w.y[i] = memory + (size_t)i * numbers_of(v);
    double *y = memory + FIT * numbers_of(v), u[MOST_INPUTS], weight[FIT];
    snw_state_copy(v->r->m, v->node[a].s, v->from);
    memcpy(v->y, v->node[a].y, numbers_of(v) * sizeof *v->y);
    v->judged = v->node[a].judged;
    join_way(v, &w, 0);
    snw_status s = SNW_OK;
    const double reached = fmax(SMALL, REACHED * w.l[0]);
    for (int n = 0; n < ATTEMPTS && s == SNW_OK && w.l[w.n - 1] > reached &&
                    w.high - w.low > SHORT && w.low < 1;
         n++)
        s = try_way(v, &w);
    const bool vanishes = w.l[w.n - 1] < fmin(VANISHES, 0.5 * v->node[a].judged.stability);
    if (!vanishes || w.n < 2) { // no sign of a singularity
        w.kind = SNW_MAP_END;
        w.s[0] = w.s[w.n - 1], w.l[0] = w.l[w.n - 1], w.y[0] = w.y[w.n - 1];
        w.n = 1;
    }
    interpolate(&w, 0, weight);
    double at = fmax(fraction_at(&w, 0), w.low);
    if (w.kind != SNW_MAP_END) at = fmin(at, w.high);
    for (int i = 0; i < v->ny; i++) {
        y[i] = 0;
        for (int j = 0; j < w.n; j++) y[i] += weight[j] * w.y[j][i];
    }
    inputs_between(v, a, b, at, u);
    const snw_map_point judged = {.kind = w.kind,
                                  .level = v->cover.edge[e].level,
                                  .stability = w.kind == SNW_MAP_END ? w.l[0] : 0,
                                  .dexterity = w.dexterity};
    // w.low == 1: it leads there after all, in shorter steps
    if (s == SNW_OK && w.low < 1) s = add_border(v, u, &judged, y, out);
    snw_free(memory);
    return s;
}

// Search for a loss of rank along a sound edge.
typedef struct rank_search {
    workspace_robot *v;
    int a, b;
    bool ended;
} rank_search;

static snw_status orientation_at(void *user, double s, double *value) {
    rank_search *x = user;
    workspace_robot *v = x->v;
    double here[MOST_INPUTS], there[MOST_INPUTS];
    inputs_at(v, v->cover.node[x->a].at, here);
    inputs_between(v, x->a, x->b, s, there);
    SNW_TRY(go_to(v, v->node[x->a].s, here));
    snw_statics_info info;
    const snw_status status = follow_to(v, there, &info);
    x->ended = has_ended(status);
    if (status != SNW_OK) return status;
    SNW_TRY(judge(v));
    *value = orientation(v, v->node[x->a].y + v->ny, v->y + v->ny);
    return SNW_OK;
}

// *out <- the point of a sound edge where the rank of the gain falls; unchanged: it does not
static snw_status find_rank_loss(workspace_robot *v, int e, int *out) {
    rank_search x = {.v = v, .a = v->cover.edge[e].node[0], .b = v->cover.edge[e].node[1]};
    const double *Ja = v->node[x.a].y + v->ny, *Jb = v->node[x.b].y + v->ny;
    double at, u[MOST_INPUTS];
    const snw_status s = snw_find_root(orientation_at, &x, 0, orientation(v, Ja, Ja), 1,
                                       orientation(v, Ja, Jb), ROOT, &at);
    if (s != SNW_OK) return x.ended ? SNW_OK : s;
    // a surface that turns by more than a right angle changes the sign as well
    if (!(v->judged.dexterity < SINGULAR)) return SNW_OK;
    inputs_between(v, x.a, x.b, at, u);
    v->judged.kind = SNW_MAP_RANK;
    v->judged.level = v->cover.edge[e].level;
    return add_border(v, u, &v->judged, v->y, out);
}

// border, rank <- points of the boundary on an edge
static snw_status locate(workspace_robot *v, int e) {
    map_edge *edge = &v->edge[e];
    if (edge->located) return SNW_OK;
    edge->located = true;
    for (int k = 0; k < 2 && !edge->sound; k++) {
        if (edge->ends[k] && v->node[v->cover.edge[e].node[k]].is == NODE_STABLE)
            SNW_TRY(find_end(v, e, k, &edge->border[k]));
    }
    return turns_over(v, e) ? find_rank_loss(v, e, &edge->rank) : SNW_OK;
}

// ---- segments -----------------------------------------------------------------------------------

// points of the map: nodes, then those of the boundary
static int border_number(const workspace_robot *v, int border) { return v->cover.nnode + border; }

static snw_status add_segment(workspace_robot *v, int a, int b, snw_map_kind kind) {
    void *array = v->segment;
    const snw_status s = larger(&array, v->nsegment + 1, &v->segment_room, sizeof *v->segment);
    v->segment = array;
    if (s != SNW_OK) return snw_fail_memory(v->err);
    v->segment[v->nsegment++] = (snw_map_segment){.point = {a, b}, .kind = kind};
    return SNW_OK;
}

// the part of an edge at a limit that can be reached
static snw_status limit_segments(workspace_robot *v, int e) {
    const int *node = v->cover.edge[e].node;
    const map_edge *edge = &v->edge[e];
    if (edge->sound) return add_segment(v, node[0], node[1], SNW_MAP_LIMIT);
    for (int k = 0; k < 2; k++) {
        if (edge->border[k] >= 0)
            SNW_TRY(add_segment(v, node[k], border_number(v, edge->border[k]), SNW_MAP_LIMIT));
    }
    return SNW_OK;
}

// list <- points of the boundary on a cell: ends of branches, folds and bifurcations alike, since
// the boundary passes from one to the other; or losses of rank, at corners too. Returns their
// number.
static int points_of_cell(const workspace_robot *v, const snw_cover_cell *cell, bool rank,
                          int list[2 * SNW_COVER_EDGES]) {
    int n = 0;
    for (int k = 0; k < snw_cover_edges(&v->cover); k++) {
        const map_edge *edge = &v->edge[cell->edge[k]];
        for (int j = 0; j < (rank ? 1 : 2); j++) {
            const int point = rank ? edge->rank : edge->border[j];
            if (point >= 0) list[n++] = border_number(v, point);
        }
    }
    for (int k = 0; rank && k < snw_cover_corners(&v->cover); k++) {
        if (is_singular(v, &v->node[cell->node[k]])) list[n++] = cell->node[k];
    }
    return n;
}

// The points of the boundary on a cell are joined in pairs.
static snw_status cell_segments(workspace_robot *v, const snw_cover_cell *cell) {
    for (int rank = 0; rank < 2; rank++) {
        int list[2 * SNW_COVER_EDGES];
        const int n = points_of_cell(v, cell, rank, list);
        for (int i = 0; i + 1 < n; i += 2) {
            const int last = list[i + 1] - v->cover.nnode;
            const snw_map_kind kind = rank ? SNW_MAP_RANK : v->border[last].judged.kind;
            SNW_TRY(add_segment(v, list[i], list[i + 1], kind));
        }
    }
    return SNW_OK;
}

// ---- triangles ----------------------------------------------------------------------------------

// The reached part of a cell of two inputs: the points around it.
typedef struct map_face {
    int n;
    bool whole;         // all of them are of one branch
    int *point;         // 3 for each edge of the outline at most, and room for as many
    double (*at)[2];    // their inputs, in ranges
    int nfold, fold[2]; // places of those where the rank is lost
    int *edge;          // outline of the cell
    bool *backward;
} map_face;

static void add_corner(const workspace_robot *v, int point, bool fold, map_face *f) {
    const int border = point - v->cover.nnode;
    double u[MOST_INPUTS];
    if (border < 0) {
        inputs_at(v, v->cover.node[point].at, u);
    } else {
        memcpy(u, v->border[border].u, sizeof u);
    }
    for (int k = 0; k < 2; k++) f->at[f->n][k] = (u[k] - v->low[k]) / (v->high[k] - v->low[k]);
    if (fold && f->nfold < 2) f->fold[f->nfold] = f->n;
    f->nfold += fold;
    f->point[f->n++] = point;
}

// The points of an edge of the outline, but for its last node.
static void walk_outline(const workspace_robot *v, int e, bool backward, map_face *f) {
    const map_edge *edge = &v->edge[e];
    const int *node = v->cover.edge[e].node, a = node[backward], b = node[!backward];
    const bool from = v->node[a].is == NODE_STABLE, to = v->node[b].is == NODE_STABLE;
    if (from) add_corner(v, a, is_singular(v, &v->node[a]), f);
    if (edge->sound) {
        if (edge->rank >= 0) add_corner(v, border_number(v, edge->rank), true, f);
        return;
    }
    for (int k = 0; k < 2; k++) { // the end of the branch of a, then of that of b
        const int border = edge->border[k == 0 ? backward : !backward];
        if (border >= 0) add_corner(v, border_number(v, border), false, f);
    }
    // nothing between two branches: their equilibria are not neighbours
    f->whole = f->whole && !(from && to && edge->border[0] < 0 && edge->border[1] < 0);
}

static double area_between(const double a[2], const double b[2], const double c[2]) {
    return 0.5 * fabs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
}

// Triangles of n points around a part of a cell, from the one for which the smallest is largest.
static snw_status add_fan(workspace_robot *v, int n, const int *point, double (*at)[2]) {
    void *array = v->triangle;
    int best = 0;
    double largest = -1;
    if (n < 3) return SNW_OK;
    const snw_status s =
        larger(&array, v->ntriangle + n - 2, &v->triangle_room, sizeof *v->triangle);
    v->triangle = array;
    if (s != SNW_OK) return snw_fail_memory(v->err);
    for (int i = 0; i < n; i++) {
        double smallest = INFINITY;
        for (int k = 1; k + 1 < n; k++)
            smallest = fmin(smallest, area_between(at[i], at[(i + k) % n], at[(i + k + 1) % n]));
        if (smallest <= largest) continue;
        largest = smallest;
        best = i;
    }
    for (int k = 1; k + 1 < n; k++)
        v->triangle[v->ntriangle++] = (snw_map_triangle){
            .point = {point[best], point[(best + k) % n], point[(best + k + 1) % n]}};
    return SNW_OK;
}

// The part of a cell that is reached. A loss of rank divides it, since there the pose turns back.
static snw_status cell_triangles(workspace_robot *v, int cell, map_face *f) {
    f->n = f->nfold = 0;
    f->whole = true;
    const int edges = snw_cover_outline(&v->cover, cell, f->edge, f->backward);
    for (int k = 0; k < edges; k++) walk_outline(v, f->edge[k], f->backward[k], f);
    if (!f->whole) return SNW_OK;
    if (f->nfold != 2) return add_fan(v, f->n, f->point, f->at);
    const int i = f->fold[0], j = f->fold[1], n = f->n;
    memcpy(f->point + n, f->point, (size_t)n * sizeof *f->point); // behind the last is the first
    memcpy(f->at + n, f->at, (size_t)n * sizeof *f->at);
    SNW_TRY(add_fan(v, j - i + 1, f->point + i, f->at + i));
    return add_fan(v, n + i - j + 1, f->point + j, f->at + j);
}

// The triangles of all cells that are not divided; the points on their edges are known.
static snw_status find_triangles(workspace_robot *v) {
    const size_t most = (size_t)snw_cover_outline_most(&v->cover);
    map_face f = {.point = snw_alloc(6 * most * sizeof *f.point),
                  .at = snw_alloc(6 * most * sizeof *f.at),
                  .edge = snw_alloc(most * sizeof *f.edge),
                  .backward = snw_alloc(most * sizeof *f.backward)};
    snw_status s = f.point && f.at && f.edge && f.backward ? SNW_OK : snw_fail_memory(v->err);
    for (int i = 0; s == SNW_OK && i < v->cover.ncell; i++) {
        if (!v->cover.cell[i].split) s = cell_triangles(v, i, &f);
    }
    snw_free(f.point);
    snw_free(f.at);
    snw_free(f.edge);
    snw_free(f.backward);
    return s;
}

// The boundary in the cells that are not divided.
static snw_status find_boundary(workspace_robot *v) {
    for (int i = 0; i < v->cover.ncell; i++) {
        const snw_cover_cell cell = v->cover.cell[i];
        for (int k = 0; !cell.split && k < snw_cover_edges(&v->cover); k++) {
            const bool known = v->edge[cell.edge[k]].located;
            SNW_TRY(locate(v, cell.edge[k]));
            if (v->nu == 2 && !known && snw_cover_outside(&v->cover, cell.edge[k]))
                SNW_TRY(limit_segments(v, cell.edge[k]));
        }
        if (v->nu == 2 && !cell.split) SNW_TRY(cell_segments(v, &cell));
    }
    return v->nu == 2 ? find_triangles(v) : SNW_OK;
}

// ---- the result ---------------------------------------------------------------------------------

static snw_map_kind kind_of_node(const workspace_robot *v, int i) {
    if (v->node[i].is == NODE_OPEN) return SNW_MAP_LOST;
    if (v->node[i].is == NODE_UNSTABLE) return SNW_MAP_UNSTABLE;
    if (is_singular(v, &v->node[i])) return SNW_MAP_RANK;
    for (int k = 0; k < v->nu; k++) {
        const int at = v->cover.node[i].at[k];
        if (at == 0 || at == v->cover.size[k]) return SNW_MAP_LIMIT;
    }
    return SNW_MAP_INSIDE;
}

static snw_status publish(workspace_robot *v) {
    snw_workspace *out = &v->view;
    const int nnode = v->cover.nnode, n = nnode + v->nborder;
    const size_t nu = (size_t)v->nu, ny = (size_t)v->ny, rows = (size_t)n + 1;
    snw_map_point *point = snw_pool_array(v->pool, rows, sizeof *point);
    snw_map_segment *segment = snw_pool_array(v->pool, (size_t)v->nsegment + 1, sizeof *segment);
    snw_map_triangle *triangle =
        snw_pool_array(v->pool, (size_t)v->ntriangle + 1, sizeof *triangle);
    double *u = snw_pool_array(v->pool, rows * nu, sizeof *u);
    double *y = snw_pool_array(v->pool, rows * ny + 1, sizeof *y);
    if (!point || !segment || !triangle || !u || !y) return snw_fail_memory(v->err);
    int to = 0;
    for (int i = 0; i < n; i++) {
        const bool node = i < nnode;
        const map_border *border = node ? NULL : &v->border[i - nnode];
        const double *values = node ? v->node[i].y : border->y;
        if (node && !v->covered && v->node[i].is == NODE_OPEN) continue; // stopped before it
        snw_map_point *p = &point[to];
        if (node) {
            inputs_at(v, v->cover.node[i].at, u + (size_t)to * nu);
            *p = v->node[i].judged;
            p->kind = kind_of_node(v, i);
            p->level = v->cover.node[i].level;
            if (values) p->dexterity = dexterity_of(v, singular_values(v, v->node[i].y));
            if (v->node[i].is == NODE_OPEN) p->stability = p->dexterity = NAN;
        } else {
            memcpy(u + (size_t)to * nu, border->u, nu * sizeof *u);
            *p = border->judged;
        }
        for (size_t k = 0; k < ny; k++) y[(size_t)to * ny + k] = values ? values[k] : NAN;
        out->count[p->kind]++;
        to++;
    }
    if (v->nsegment) memcpy(segment, v->segment, (size_t)v->nsegment * sizeof *segment);
    if (v->ntriangle) memcpy(triangle, v->triangle, (size_t)v->ntriangle * sizeof *triangle);
    for (int e = 0; e < v->cover.nedge; e++) {
        const map_edge *edge = &v->edge[e];
        const int *ends = v->cover.edge[e].node;
        out->sheets += edge->located && !edge->sound && edge->border[0] < 0 &&
                       edge->border[1] < 0 && v->node[ends[0]].is == NODE_STABLE &&
                       v->node[ends[1]].is == NODE_STABLE;
    }
    out->ninput = v->nu;
    out->noutput = v->ny;
    out->npoint = to;
    out->point = point;
    out->u = u;
    out->y = y;
    out->nsegment = v->nsegment;
    out->segment = segment;
    out->ntriangle = v->ntriangle;
    out->triangle = triangle;
    return SNW_OK;
}

// ---- the call -----------------------------------------------------------------------------------

static const char **probes_of_positions(const workspace_robot *v, int *n) {
    const snw_robot_model *model = v->r->model;
    const int all = model->npart[SNW_PART_PROBE];
    const char **name = snw_pool_array(v->pool, (size_t)all + 1, sizeof *name);
    *n = 0;
    for (int i = 0; name && i < all; i++) {
        const snw_part *probe = &model->part[SNW_PART_PROBE][i];
        if (strcmp(probe->type, "position") == 0) name[(*n)++] = probe->name;
    }
    return name;
}

static snw_status prepare_gain(workspace_robot *v) {
    const snw_workspace_options *how = v->how;
    const char *input[MOST_INPUTS];
    int n = how->noutput;
    const char **own = probes_of_positions(v, &n);
    if (!own) return snw_fail_memory(v->err);
    const bool given = how->noutput > 0;
    if (!given && n == 0)
        return snw_fail(
            v->err, SNW_E_ARGUMENT,
            "there is nothing to map: the file has no probe 'position'; name a probe or "
            "columns of one, such as plate.x and plate.y");
    for (int i = 0; i < how->ninput; i++) input[i] = how->input[i].name;
    snw_linear_options o = snw_linear_defaults();
    o.ninput = how->ninput;
    o.input = input;
    o.noutput = given ? how->noutput : n;
    o.output = given ? how->output : own;
    o.three_inputs = 1;
    SNW_TRY(snw_linear_prepare(v->r, &o, &v->gain, v->err));
    return SNW_OK;
}

// with texts of its own, since a map may outlive the robot
static snw_map_column column_of(const workspace_robot *v, const snw_linear_signal *s, double low,
                                double high) {
    return (snw_map_column){.name = snw_pool_text(v->pool, s->name, strlen(s->name)),
                            .unit = snw_pool_text(v->pool, s->unit, strlen(s->unit)),
                            .low = low,
                            .high = high};
}

// inputs with their ranges, outputs with their weights
static snw_status take_columns(workspace_robot *v) {
    const snw_workspace_options *how = v->how;
    const snw_linear_model *g = v->gain;
    v->ny = g->ny;
    for (int k = 0; k < g->nu && g->nu != v->nu; k++) { // an actuator or a load of several
        for (int i = 0; i < v->nu; i++) {
            const char *whole = how->input[i].name;
            const size_t size = strlen(whole);
            if (strncmp(g->input[k].name, whole, size) != 0 || g->input[k].name[size] != '.')
                continue;
            return snw_fail(v->err, SNW_E_ARGUMENT,
                            "'%.100s' has several inputs; name one of them, such as '%.100s'",
                            whole, g->input[k].name);
        }
    }
    if (g->nu != v->nu) return snw_fail(v->err, SNW_E_ARGUMENT, "an input is named twice");
    snw_map_column *input = snw_pool_array(v->pool, (size_t)v->nu, sizeof *input);
    snw_map_column *output = snw_pool_array(v->pool, (size_t)v->ny + 1, sizeof *output);
    v->weight = snw_pool_array(v->pool, (size_t)v->ny + 1, sizeof *v->weight);
    v->y = snw_pool_array(v->pool, numbers_of(v), sizeof *v->y);
    if (!input || !output || !v->weight || !v->y) return snw_fail_memory(v->err);
    for (int k = 0; k < v->nu; k++) {
        const snw_linear_signal *s = &g->input[k];
        SNW_TRY(snw_varied_find(v->r, s->name, &v->varied[k], v->err));
        v->low[k] = how->input[k].low;
        v->high[k] = how->input[k].high;
        input[k] = column_of(v, s, v->low[k], v->high[k]);
        if (!input[k].name || !input[k].unit) return snw_fail_memory(v->err);
    }
    for (int i = 0; i < v->ny; i++) {
        const snw_linear_signal *s = &g->output[i];
        output[i] = column_of(v, s, NAN, NAN);
        if (!output[i].name || !output[i].unit) return snw_fail_memory(v->err);
        const bool angle = strcmp(s->unit, "rad") == 0 || s->unit[0] == 0;
        const double size = fabs(s->value);
        v->weight[i] = angle                       ? 1
                       : strcmp(s->unit, "m") == 0 ? 1 / v->r->m->length
                       : size > 0                  ? 1 / size
                                                   : 1;
    }
    v->view.input = input;
    v->view.output = output;
    return SNW_OK;
}

// The robot follows its branch to the node nearest to its inputs, or to the next one.
static snw_status enter(workspace_robot *v, const double *u) {
    int first[MOST_INPUTS];
    const int h = 1 << v->cover.levels;
    for (int k = 0; k < v->nu; k++) {
        const double part = (u[k] - v->low[k]) / (v->high[k] - v->low[k]) * v->cover.size[k] / h;
        const int last = v->cover.size[k] / h;
        first[k] = h * (int)fmin(fmax(round(part), 0), last);
    }
    snw_snapshot start = {0};
    if (snw_snapshot_create(v->r->m, &start) != SNW_OK) {
        snw_snapshot_destroy(&start);
        return snw_fail_memory(v->err);
    }
    snw_robot_take_snapshot(v->r, &start);
    snw_status s = SNW_OK;
    bool entered = false;
    for (int n = 0; n < 2 * v->cover.nnode && s == SNW_OK && !entered; n++) {
        const int i = n % v->cover.nnode; // the nearest, then its neighbours
        int away = 0;
        double there[MOST_INPUTS];
        for (int k = 0; k < v->nu; k++) {
            const int d = v->cover.node[i].at[k] - first[k];
            away = d > away ? d : -d > away ? -d : away;
        }
        if (away != (n < v->cover.nnode ? 0 : h)) continue;
        snw_robot_restore_snapshot(&start, v->r);
        set_inputs(v, u);
        snw_statics_info info;
        inputs_at(v, v->cover.node[i].at, there);
        s = follow_to(v, there, &info);
        if (has_ended(s)) {
            s = SNW_OK;
            continue;
        }
        if (s == SNW_OK) s = judge(v);
        if (s != SNW_OK || v->judged.negative > 0) continue;
        s = keep_node(v, i);
        entered = true;
    }
    snw_snapshot_destroy(&start);
    if (s == SNW_OK && !entered)
        s = snw_fail(v->err, SNW_E_DIVERGED,
                     "no node of the map is reached from the equilibrium of the robot: its branch "
                     "ends or becomes unstable before; begin with inputs inside of the ranges");
    return s;
}

static snw_status fill_map(workspace_robot *v) {
    SNW_TRY(spread(v));
    find_far(v);
    for (int level = 0; level < v->how->levels && !v->view.full; level++) {
        SNW_TRY(refine(v, level));
        SNW_TRY(spread(v));
    }
    v->covered = true;
    return find_boundary(v);
}

static snw_status make_map(workspace_robot *v) {
    snw_robot *r = v->r;
    v->nu = v->how->ninput;
    v->view.exact = v->view.symmetric = 1;
    SNW_TRY(prepare_gain(v));
    snw_statics_info info;
    SNW_TRY(snw_follow_equilibrium(r, v->how->time, true, 0, &info, v->err));
    SNW_TRY(snw_linear_static(v->gain, v->err));
    SNW_TRY(take_columns(v));
    double u[MOST_INPUTS];
    for (int k = 0; k < v->nu; k++) u[k] = v->gain->input[k].value;
    for (int k = 0; k < v->nu; k++) snw_varied_hold(r, &v->varied[k], u[k]);
    SNW_TRY(snw_follow_equilibrium(r, v->how->time, true, 0, &info, v->err));
    const size_t svd = snw_svd_scratch(v->ny, v->nu) +
                       (2 * numbers_of(v) + (size_t)(v->nu * v->nu + v->nu)) * sizeof(double);
    v->scratch.size = svd + 1024;
    v->scratch.base = snw_alloc(v->scratch.size);
    if (!v->scratch.base || snw_state_create(r->m, &v->from) != SNW_OK ||
        snw_state_create(r->m, &v->to) != SNW_OK)
        return snw_fail_memory(v->err);
    int cells[MOST_INPUTS] = {0};
    for (int k = 0; k < v->nu; k++)
        cells[k] = v->how->input[k].cells ? v->how->input[k].cells : CELLS;
    if (snw_cover_create(v->nu, cells, v->how->levels, &v->cover) != SNW_OK)
        return snw_fail_memory(v->err);
    SNW_TRY(match_cover(v));
    SNW_TRY(enter(v, u));
    const snw_status s = fill_map(v);
    if (s != SNW_OK && s != SNW_E_STOPPED) return s;
    SNW_TRY(publish(v));
    return s;
}

static snw_status check_options(const snw_workspace_options *how, snw_error *err) {
    if (how->ninput < 1 || how->ninput > MOST_INPUTS || !how->input)
        return snw_fail(err, SNW_E_ARGUMENT, "a map has 1 to %d inputs, got %d", MOST_INPUTS,
                        how->ninput);
    if (how->noutput < 0 || (how->noutput && !how->output))
        return snw_fail(err, SNW_E_ARGUMENT, "the names of outputs are missing");
    if (how->levels < 0 || how->levels > MOST_LEVELS || !(how->near >= 0) || !isfinite(how->time) ||
        how->most < 1)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "levels must be 0 to %d, near not negative, time finite and most "
                        "positive, got %d, %g, %g and %d",
                        MOST_LEVELS, how->levels, how->near, how->time, how->most);
    double nodes = 1;
    for (int i = 0; i < how->ninput; i++) {
        const snw_workspace_input *x = &how->input[i];
        if (!x->name) return snw_fail(err, SNW_E_ARGUMENT, "input %d has no name", i);
        if (!isfinite(x->low) || !isfinite(x->high) || !(x->low < x->high))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "input '%.100s' needs a range, its low end below its high one; got %g "
                            "and %g",
                            x->name, x->low, x->high);
        if (x->cells < 0 || x->cells > MOST_CELLS)
            return snw_fail(err, SNW_E_ARGUMENT, "input '%.100s': cells must be 1 to %d, got %d",
                            x->name, MOST_CELLS, x->cells);
        for (int k = 0; k < i; k++) {
            if (strcmp(how->input[k].name, x->name) == 0)
                return snw_fail(err, SNW_E_ARGUMENT, "input '%.100s' is given twice", x->name);
        }
        nodes *= 1.0 + (x->cells ? x->cells : CELLS);
    }
    if (nodes > how->most)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the cells have %.0f nodes, more than %d; take fewer cells", nodes,
                        how->most);
    return SNW_OK;
}

snw_status snw_robot_workspace(snw_robot *r, const snw_workspace_options *how, snw_workspace **out,
                               snw_error *err) {
    if (!r || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !r ? "the robot" : !how ? "how" : "out");
    *out = NULL;
    SNW_TRY(check_options(how, err));
    SNW_TRY(snw_robot_check_forces(r, err));
    workspace_robot *v = snw_alloc(sizeof *v);
    if (!v) return snw_fail_memory(err);
    *v = (workspace_robot){.r = r, .how = how, .err = err};
    v->pool = snw_pool_create(POOL_LIMIT);
    void *given = snw_alloc(snw_given_size(r) + 1);
    snw_snapshot before = {0};
    snw_status s = v->pool && given ? snw_snapshot_create(r->m, &before) : SNW_E_MEMORY;
    if (s == SNW_OK) {
        snw_given_save(r, given);
        snw_robot_take_snapshot(r, &before);
        s = make_map(v);
        snw_given_restore(r, given);
        snw_robot_restore_snapshot(&before, r);
    } else {
        s = snw_fail_memory(err);
    }
    snw_snapshot_destroy(&before);
    snw_free(given);
    // the rest of the map may outlive the robot
    snw_linear_close(v->gain);
    v->gain = NULL;
    if (s == SNW_OK || (s == SNW_E_STOPPED && v->view.npoint > 0)) {
        *out = &v->view;
    } else {
        snw_workspace_close(&v->view);
    }
    return s;
}

void snw_workspace_close(snw_workspace *map) {
    workspace_robot *v = (workspace_robot *)map;
    if (!v) return;
    for (int i = 0; v->node && i < v->cover.nnode; i++) snw_state_destroy(v->node[i].s);
    snw_free(v->node);
    snw_free(v->edge);
    snw_free(v->border);
    snw_free(v->segment);
    snw_free(v->triangle);
    snw_cover_free(&v->cover);
    snw_state_destroy(v->from);
    snw_state_destroy(v->to);
    snw_linear_close(v->gain);
    snw_free(v->scratch.base);
    snw_pool_destroy(v->pool);
    snw_free(v);
}
