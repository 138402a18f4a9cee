// SPDX-License-Identifier: MIT
//
// Concentric tubes that slide in each other (theory.md (3.19.5)): the pieces of their rods between
// places that move with the tubes, and the nodes, points and slices on them.
#include "model/compile.h"

#include "math/vector.h"
#include "model/tube_layout.h"

#include <math.h>
#include <stdlib.h>

// ---- pieces -------------------------------------------------------------------------------------

// Place where a tube ends or becomes curved.
typedef struct place {
    double at;
    int carrier;
} place;

static int compare_places(const void *a, const void *b) {
    return snw_compare_doubles(&((const place *)a)->at, &((const place *)b)->at);
}

// Places of the tubes from `first` on that share its centreline, sorted; returns their number.
// *last <- the tube behind the last of them.
static int tube_places(const snw_desc *d, int first, place *to, int *last) {
    int n = 0, i = first;
    for (; i < d->ntube && d->tube[i].host == d->tube[first].host; i++) {
        const snw_tube_desc *t = &d->tube[i];
        if (t->curvature != 0) to[n++] = (place){t->straight, t->bend_is_beyond ? i : -1};
        to[n++] = (place){t->length, i};
    }
    *last = i;
    qsort(to, (size_t)n, sizeof *to, compare_places);
    return n;
}

// Coordinates of one piece or of the rod behind the exit are those of that piece.
static void mark_coordinates(const snw_build *b, const snw_rod *rod, int *dof_piece) {
    for (int k = rod->point0; k < rod->point0 + rod->npoint; k++) {
        const snw_point *p = &b->point[k];
        double fraction;
        const int piece = snw_build_tube_piece(b, rod, p->x, p->x, &fraction);
        for (int a = 0; a < rod->na; a++) {
            for (int j = 0; j < p->count[a]; j++) dof_piece[rod->dof[a] + p->first[a] + j] = piece;
        }
    }
}

// Coordinates of pieces of no length, and of the twist behind the end of a tube: a motion leaves
// them as they are.
static snw_status freeze_coordinates(snw_build *b) {
    snw_model *m = b->m;
    const size_t n = (size_t)m->nv;
    bool *is_frozen = snw_build_array(b, n, sizeof *is_frozen);
    int *dof = snw_build_array(b, n, sizeof *dof), *on = snw_build_array(b, n, sizeof *on);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < m->nv; i++) {
        const int piece = m->tube_dof_piece[i];
        is_frozen[i] = piece && m->tube_piece[piece - 1].is_short;
    }
    for (int i = 0; i < m->ntube; i++) {
        const snw_rod *own = &b->rod[m->tube[i].own];
        if (m->tube[i].own == m->tube[i].host || !own->tube) continue;
        for (int k = own->dof0; k < own->dof0 + own->ndof; k++) {
            const snw_tube_piece *piece = &m->tube_piece[m->tube_dof_piece[k] - 1];
            if (0.5 * (piece->from + piece->to) > m->desc->tube[i].length) is_frozen[k] = true;
        }
    }
    int count = 0;
    for (int i = 0, k = 0; i < m->nv; i++) {
        const bool listed = k < m->nconditional && m->conditional[k] == i;
        if (!listed && !is_frozen[i]) continue;
        dof[count] = i;
        on[count++] = is_frozen[i] ? SNW_NEVER : m->conditional_on[k];
        k += listed;
    }
    m->nconditional = count;
    m->conditional = dof;
    m->conditional_on = on;
    return SNW_OK;
}

snw_status snw_build_tube_pieces(snw_build *b, snw_tube *tube) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    bool slides = false, moves = false;
    for (int i = 0; i < d->ntube; i++)
        slides = slides || d->tube[i].slides, moves = moves || d->tube[i].moves;
    int *dof_piece = snw_build_array(b, (size_t)m->nv, sizeof *dof_piece);
    snw_tube_piece *piece = snw_build_array(b, slides ? 3 * (size_t)d->ntube : 0, sizeof *piece);
    if (b->memory_out) return SNW_E_MEMORY;
    m->tube_dof_piece = dof_piece;
    m->tube_piece = piece;
    if (!slides) return SNW_OK;
    for (int first = 0, last; first < d->ntube; first = last) {
        place at[2 * SNW_TUBES_MOST];
        const int n = tube_places(d, first, at, &last);
        if (!d->tube[first].slides) continue;
        const double whole = d->tube[first].length;
        place from = {0, -1};
        b->rod[tube[first].host].piece0 = m->ntube_piece;
        for (int k = 0; k < n; from = at[k++]) {
            const bool is_short = at[k].at - from.at <= SNW_TUBES_SHORT * whole;
            piece[m->ntube_piece++] = (snw_tube_piece){
                from.at, at[k].at, {from.carrier, at[k].carrier}, first, whole, is_short};
        }
        for (int i = first; i < last; i++) {
            snw_rod *host = &b->rod[tube[i].host], *own = &b->rod[tube[i].own],
                    *base = &b->rod[tube[i].base];
            own->tube = base->tube = 1 + i;
            own->piece0 = host->piece0;
            own->npiece = host->npiece = n;
            base->piece0 = m->ntube_piece;
            base->npiece = 1;
            const double stock = d->tube[i].straight_part + d->tube[i].curved_part;
            piece[m->ntube_piece++] = (snw_tube_piece){
                -base->L, 0, {i, -1}, first, stock, base->L <= SNW_TUBES_SHORT * stock};
            tube[i].base_piece = m->ntube_piece;
        }
    }
    for (int r = 0; r < m->nrod; r++) {
        if (b->rod[r].tube) mark_coordinates(b, &b->rod[r], dof_piece);
    }
    return moves ? freeze_coordinates(b) : SNW_OK;
}

int snw_build_tube_piece(const snw_build *b, const snw_rod *rod, double toward, double x,
                         double *fraction) {
    if (!rod->tube) return 0;
    const snw_tube_piece *piece = b->m->tube_piece + rod->piece0;
    const double root = rod->npiece == 1 && piece->to == 0 ? piece->from : 0;
    int k = 0;
    while (k + 1 < rod->npiece && root + toward > piece[k].to) k++;
    *fraction = (root + x - piece[k].from) / (piece[k].to - piece[k].from);
    return 1 + rod->piece0 + k;
}

// ---- nodes and points ---------------------------------------------------------------------------

// Arrays of all nodes and points, while they are counted (no arrays) and written.
typedef struct slide_list {
    snw_tube_node *node;
    snw_tube_mass *mass;
    snw_tube_damping *damping;
    double *phi;
    int nnode, nmass, ndamping, nphi;
} slide_list;

static snw_inertia section_inertia(double mass, double polar, double across) {
    return (snw_inertia){.m = mass, .I = {polar, across, across}};
}

// Mass of a tube per length at x of a rod; false: none.
static bool tube_mass(const snw_build *b, const snw_rod *rod, int i, double x, snw_inertia *M) {
    const snw_model *m = b->m;
    const snw_tube_desc *t = &m->desc->tube[i];
    const snw_tube *tube = &m->tube[i];
    const int r = (int)(rod - b->rod);
    const bool first = tube->own == tube->host;
    *M = (snw_inertia){0};
    if (r == tube->base) {
        *M = section_inertia(t->mass, 2 * t->rotary, t->rotary);
        return true;
    }
    if (x > t->length) return false;
    if (r == tube->host)
        *M = section_inertia(t->mass, first ? 2 * t->rotary : 0, t->rotary);
    else if (r == tube->own)
        *M = section_inertia(0, 2 * t->rotary, 0);
    return r == tube->host || r == tube->own;
}

static void add_node(snw_build *b, const snw_rod *rod, int s, double *scratch, slide_list *to) {
    const snw_model *m = b->m;
    const double x = b->seg_x[s];
    double *phi = to->phi ? to->phi + to->nphi : scratch;
    snw_tube_node node = {.seg = s,
                          .rod = (int)(rod - b->rod),
                          .phi = to->nphi,
                          .xi0 = snw_rod_rest(rod, x),
                          .mass0 = to->nmass};
    node.piece = snw_build_tube_piece(b, rod, x, x, &node.fraction) - 1;
    const int n = snw_rod_basis(rod, x, x, node.first, node.count, phi);
    (void)snw_rod_basis_d1(rod, x, phi + n);
    node.phi_d1 = to->nphi + n;
    to->nphi += 2 * n;
    for (int i = 0; i < m->ntube; i++) {
        snw_inertia M;
        if (!tube_mass(b, rod, i, x, &M)) continue;
        if (to->mass) to->mass[to->nmass] = (snw_tube_mass){i, snw_inertia_scale(b->seg_w[s], M)};
        to->nmass++;
    }
    node.nmass = to->nmass - node.mass0;
    if (to->node) {
        to->node[to->nnode] = node;
        b->seg[s].tube_node = 1 + to->nnode;
    }
    to->nnode++;
}

static void add_damping(const snw_build *b, const snw_rod *rod, double *scratch, slide_list *to) {
    if (b->m->tube[rod->tube - 1].damping == 0) return;
    for (int k = rod->point0; k < rod->point0 + rod->npoint; k++) {
        const snw_point *p = &b->point[k];
        snw_tube_damping at = {.rod = (int)(rod - b->rod), .point = k, .phi_d1 = to->nphi};
        at.piece = snw_build_tube_piece(b, rod, p->x, p->x, &at.fraction) - 1;
        to->nphi += snw_rod_basis_d1(rod, p->x, to->phi ? to->phi + to->nphi : scratch);
        if (to->damping) to->damping[to->ndamping] = at;
        to->ndamping++;
    }
}

snw_status snw_build_tube_nodes(snw_build *b) {
    snw_model *m = b->m;
    if (m->ntube_piece == 0) return SNW_OK;
    for (int i = 0; i < m->nslice; i++) {
        snw_slice *s = &b->slice[i];
        double fraction;
        s->piece = snw_build_tube_piece(b, &b->rod[s->rod], s->x + 0.5 * s->h, s->x, &fraction);
    }
    double *scratch = snw_build_array(b, 2 * (size_t)b->most_phi, sizeof *scratch);
    slide_list all = {0};
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            all = (slide_list){.node = snw_build_array(b, (size_t)all.nnode, sizeof *all.node),
                               .mass = snw_build_array(b, (size_t)all.nmass, sizeof *all.mass),
                               .damping =
                                   snw_build_array(b, (size_t)all.ndamping, sizeof *all.damping),
                               .phi = snw_build_array(b, (size_t)all.nphi, sizeof *all.phi)};
        if (b->memory_out) return SNW_E_MEMORY;
        for (int r = 0; r < m->nrod; r++) {
            const snw_rod *rod = &b->rod[r];
            if (!rod->tube) continue;
            for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
                if (b->seg_w[s] > 0) add_node(b, rod, s, scratch, &all);
                const int ld = b->path[b->seg[s].path].ld;
                if (ld > m->most_variable_columns) m->most_variable_columns = ld;
            }
            add_damping(b, rod, scratch, &all);
        }
    }
    m->ntube_node = all.nnode;
    m->tube_node = all.node;
    m->tube_mass = all.mass;
    m->ntube_damping = all.ndamping;
    m->tube_damping = all.damping;
    m->tube_phi = all.phi;
    return SNW_OK;
}
