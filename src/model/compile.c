// SPDX-License-Identifier: MIT
//
// Compiles a description to a model, for all engines. Two passes: the first lays out the nodes of
// the rods and counts, the second writes all arrays, link by link, parents before children. Parts
// of the model are written by compile_*.c.
#include "model/compile.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

static const size_t POOL_LIMIT = // bytes; half of the addresses where these have 32 bits
    sizeof(size_t) > 4 ? (size_t)1 << 33 : (size_t)1 << 30;

enum {
    MOST_COORDINATES = 4000,  // of a model that needs dense matrices
    MOST_OF_NETWORK = 100000, // of another one that is not local
    MOST_OF_ARRAY = 12000,    // of such a one whose tangent cannot be compressed
    MOST_OF_PATH = 400,       // of its paths
    MOST_SEGMENTS = 2000000,
    MOST_DENSE_SEGMENTS = 200000,
    MOST_BORDER = 200,      // unknowns of a local model beside its coordinates
    MOST_COLUMNS = 1 << 28, // doubles of the Jacobians of all segments
    MOST_STORE = 1 << 27    // doubles of the products of all paths, 1 GiB
};

snw_status snw_fail_desc(snw_error *err, snw_source_location at, snw_status s) {
    return snw_fail_at_location(err, s, at.file, at.line, at.column);
}

void *snw_build_array(snw_build *b, size_t n, size_t size) {
    void *p = snw_pool_array(b->m->pool, n ? n : 1, size);
    if (!p) b->memory_out = true;
    return p;
}

bool snw_reads_signals(int n, const snw_law *law) {
    for (int k = 0; k < n; k++) {
        if (law[k] && (snw_expr_vars(law[k]) & SNW_VAR_SIGNAL)) return true;
    }
    return false;
}

bool snw_exists(snw_law when) {
    return !when || snw_expr_vars(when) != 0 || snw_expr_value(when, (snw_at){0}) != 0;
}

snw_status snw_build_condition(snw_build *b, snw_law when, int *out, snw_error *err) {
    snw_model *m = b->m;
    *out = SNW_ALWAYS;
    if (!when || snw_expr_vars(when) == 0) return SNW_OK;
    for (int i = 0; i < m->desc->nsignal; i++) {
        if (m->desc->signal[i].kind != SNW_SIGNAL_CONDITION || !snw_expr_reads(when, i)) continue;
        *out = m->ncondition++;
        b->condition_signal[*out] = i;
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_MODEL,
                    "the condition of a link, loop or drive must be one of the model's signals");
}

// ---- paths and segments

// List with room for n coordinates behind those of the parent path: the parent's own list when its
// tail is unused, so that a chain needs one list in all; else a copy with twice the required size.
static int extended_list(snw_build *b, const snw_path *up, int parent_path, int n) {
    const int old = b->path_list[parent_path], total = up->n + n;
    if (b->list[old].used == up->n && b->list[old].room >= total) return old;
    int *dof = snw_build_array(b, 2 * (size_t)total, sizeof *dof);
    if (!dof) return -1;
    for (int i = 0; i < up->n; i++) dof[i] = up->dof[i];
    b->list[b->m->npath] = (snw_dof_list){.dof = dof, .room = 2 * total};
    return b->m->npath;
}

int snw_build_path(snw_build *b, int parent_path, int dof0, int n) {
    const snw_path *up = &b->path[parent_path];
    if (n == 0) return parent_path;
    const int at = extended_list(b, up, parent_path, n), total = up->n + n;
    if (at < 0) return parent_path;
    snw_dof_list *list = &b->list[at];
    for (int i = 0; i < n; i++) list->dof[up->n + i] = dof0 + i;
    list->used = total;
    b->path_list[b->m->npath] = at;
    b->path[b->m->npath] =
        (snw_path){.n = total, .ld = (total + 3) / 4 * 4, .own = up->n, .dof = list->dof};
    return b->m->npath++;
}

int snw_build_seg(snw_build *b, snw_seg_kind kind, int parent, int item, int link, int path) {
    const int s = b->m->nseg++;
    b->seg[s] = (snw_seg){.kind = kind,
                          .parent = parent,
                          .item = item,
                          .link = link,
                          .path = path,
                          .condition = s > 0 ? b->seg[parent].condition : SNW_ALWAYS};
    return s;
}

int snw_build_block(snw_build *b, snw_space space, int n) {
    snw_model *m = b->m;
    b->block[m->nblock] = (snw_block){.space = space,
                                      .q = m->nq,
                                      .dof = m->nv,
                                      .n = n,
                                      .seg = m->nseg,
                                      .lie_block = -1,
                                      .spring = -1,
                                      .stop = -1};
    if (space != SNW_SPACE_RN) b->block[m->nblock].lie_block = m->nlie_block++;
    if (space == SNW_SPACE_SE3) m->nfree++;
    m->nq += space == SNW_SPACE_RN ? n : n + 1;
    m->nv += n;
    return m->nblock++;
}

void snw_build_inertia(snw_build *b, int s, const snw_inertia *M) {
    snw_inertia_add(&b->seg[s].M, M);
    b->seg[s].has_mass = true;
}

int snw_build_pose(snw_build *b, const snw_pose_desc *pose, int parent, int link) {
    b->pose[b->m->npose] = *pose;
    return snw_build_seg(b, SNW_SEG_POSE, parent, b->m->npose++, link, b->seg[parent].path);
}

snw_pose_desc snw_build_constant_pose(snw_build *b, snw_se3 g) {
    snw_pose_desc p = snw_pose_desc_identity();
    p.R0 = g.R;
    for (int i = 0; i < 3; i++) {
        p.xyz[i] = snw_expr_constant(b->m->pool, g.p.e[i]);
        if (!p.xyz[i]) b->memory_out = true;
    }
    return p;
}

// Segment at arc length x of a rod, where the layout has a node.
static int seg_at(const snw_build *b, const snw_rod *rod, double x) {
    if (x <= 1e-12 * rod->L) return rod->root;
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        if (b->seg_w[s] == 0 && fabs(b->seg_x[s] - x) <= 1e-12 * rod->L) return s;
    }
    return rod->seg0 + rod->nseg - 1;
}

// Segment of a site without its offset.
static int seg_of_site(const snw_build *b, const snw_site *site) {
    switch (site->kind) {
    case SNW_SITE_WORLD:
        return 0;
    case SNW_SITE_BASE:
        return b->link_first[site->link];
    case SNW_SITE_END:
        return b->link_end[site->link];
    case SNW_SITE_ROOT:
        return b->rod[b->link_rod[site->link]].root;
    case SNW_SITE_AT:
        return seg_at(b, &b->rod[b->link_rod[site->link]], site->x);
    }
    return 0;
}

int snw_build_site(snw_build *b, const snw_site *site) {
    const int s = seg_of_site(b, site);
    if (!site->offset) return s;
    const snw_pose_desc p = snw_build_constant_pose(b, site->pose);
    return snw_build_pose(b, &p, s, site->link);
}

// ---- links

// A conditional link must have a body, a rod, a joint or a child.
static snw_status check_when(const snw_desc *d, int l, snw_error *err) {
    const snw_link_desc *link = &d->link[l];
    if (!link->when || link->has_body || link->has_rod || link->joint != SNW_JOINT_FIXED) {
        return SNW_OK;
    }
    for (int i = 0; i < d->nlink; i++) {
        if (d->link[i].on.kind != SNW_SITE_WORLD && d->link[i].on.link == l) return SNW_OK;
    }
    return snw_fail_desc(err, link->location,
                         snw_fail(err, SNW_E_MODEL,
                                  "link '%s' has a 'when', but no part that it could make "
                                  "inactive; give it a body, a rod or a joint, or leave 'when' out",
                                  link->name));
}

// Condition of segment s of link l: inherited from the parent, unless the link has another one,
// which implies that of the parent.
static snw_status set_link_condition(snw_build *b, int l, int s, snw_error *err) {
    const snw_link_desc *d = &b->m->desc->link[l];
    if (!snw_exists(d->when)) {
        b->seg[s].condition = SNW_NEVER;
        return SNW_OK;
    }
    const bool world = d->on.kind == SNW_SITE_WORLD;
    if (!d->when || (!world && b->m->desc->link[d->on.link].when == d->when)) return SNW_OK;
    return snw_build_condition(b, d->when, &b->seg[s].condition, err);
}

static snw_status add_link(snw_build *b, int l, snw_error *err) {
    const snw_link_desc *d = &b->m->desc->link[l];
    SNW_TRY(check_when(b->m->desc, l, err));
    const int parent = snw_build_site(b, &d->on);
    int s = snw_build_pose(b, &d->pose, parent, l);
    SNW_TRY(set_link_condition(b, l, s, err));
    b->link_first[l] = s;
    b->link_rod[l] = -1;
    s = snw_build_joint(b, l, s);
    if (d->has_rod) SNW_TRY(snw_build_rod(b, l, s, &s, err));
    b->link_end[l] = s;
    if (d->has_body) {
        const snw_inertia M = snw_inertia_of_body(d->body.mass, d->body.com, d->body.inertia);
        snw_build_inertia(b, s, &M);
    }
    return SNW_OK;
}

// Coordinates of conditional links and their conditions.
static snw_status list_conditional(snw_build *b) {
    snw_model *m = b->m;
    int *dof = snw_build_array(b, (size_t)m->nv, sizeof *dof);
    int *condition = snw_build_array(b, (size_t)m->nv, sizeof *condition);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *block = &b->block[k];
        const int own = b->seg[block->seg].condition;
        for (int i = block->dof; own != SNW_ALWAYS && i < block->dof + block->n; i++) {
            dof[m->nconditional] = i;
            condition[m->nconditional++] = own;
        }
    }
    m->conditional = dof;
    m->conditional_on = condition;
    return SNW_OK;
}

int snw_build_slice_seg(snw_build *b, int parent, int link, int path, double x, double w) {
    const int s = snw_build_seg(b, SNW_SEG_ROD, parent, b->m->nslice++, link, path);
    b->seg_x[s] = x;
    b->seg_w[s] = w;
    return s;
}

// ---- counting

// Arc lengths at which something is attached to the rods: those of link l from first[l] on.
typedef struct stations {
    int *first; // nlink + 1
    double *x;  // NULL: they are counted
} stations;

static void add_station(stations *s, const snw_site *on) {
    if (on->kind != SNW_SITE_AT) return;
    if (s->x) {
        s->x[s->first[on->link]++] = on->x;
    } else {
        s->first[on->link]++;
    }
}

static void add_all_stations(const snw_desc *d, stations *s) {
    for (int i = 0; i < d->nlink; i++) add_station(s, &d->link[i].on);
    for (int i = 0; i < d->nload; i++) {
        if (!d->load[i].along) add_station(s, &d->load[i].on);
    }
    for (int i = 0; i < d->nloop; i++) {
        add_station(s, &d->loop[i].a);
        add_station(s, &d->loop[i].b);
    }
    for (int i = 0; i < d->ncontact; i++) add_station(s, &d->contact[i].on);
    for (int i = 0; i < 2 * d->nforce_element; i++)
        add_station(s, &d->force_element[i / 2].end[i % 2]);
    for (int i = 0; i < d->nforce_field; i++) add_station(s, &d->force_field[i].on);
    for (int i = 0; i < d->ntendon; i++) {
        for (int k = 0; k < d->tendon[i].nsegment; k++) {
            add_station(s, &d->tendon[i].segment[k].a);
            add_station(s, &d->tendon[i].segment[k].b);
        }
    }
}

static snw_status find_stations(snw_build *b, stations *s) {
    const snw_desc *d = b->m->desc;
    *s = (stations){.first = snw_build_array(b, (size_t)d->nlink + 1, sizeof *s->first)};
    if (!s->first) return SNW_E_MEMORY;
    add_all_stations(d, s);
    int n = 0;
    for (int l = 0; l <= d->nlink; l++) {
        const int count = s->first[l];
        s->first[l] = n;
        n += count;
    }
    s->x = snw_build_array(b, (size_t)n, sizeof *s->x);
    if (!s->x) return SNW_E_MEMORY;
    add_all_stations(d, s); // moves each start to the end
    for (int l = d->nlink; l > 0; l--) s->first[l] = s->first[l - 1];
    s->first[0] = 0;
    return SNW_OK;
}

static bool has_two_sites(const snw_probe_desc *p) {
    return snw_probe_table[p->kind].subject == SNW_OF_SITES;
}

static snw_status check_station(const snw_desc *d, const snw_site *site, snw_error *err) {
    if (site->kind != SNW_SITE_AT && site->kind != SNW_SITE_ROOT) return SNW_OK;
    const snw_link_desc *l = &d->link[site->link];
    if (!l->has_rod) {
        return snw_fail_desc(
            err, site->location,
            snw_fail(err, SNW_E_MODEL, "'%s' has no rod to take a station of", l->name));
    }
    if (site->kind == SNW_SITE_AT && !(site->x >= 0 && site->x <= l->rod.length * (1 + 1e-12))) {
        return snw_fail_desc(err, site->location,
                             snw_fail(err, SNW_E_MODEL,
                                      "station %g m is outside of rod '%s' (0 to %g m)", site->x,
                                      l->name, l->rod.length));
    }
    return SNW_OK;
}

static snw_status check_sites(const snw_desc *d, snw_error *err) {
    for (int i = 0; i < d->nlink; i++) SNW_TRY(check_station(d, &d->link[i].on, err));
    for (int i = 0; i < d->nloop; i++) {
        SNW_TRY(check_station(d, &d->loop[i].a, err));
        SNW_TRY(check_station(d, &d->loop[i].b, err));
    }
    for (int i = 0; i < d->nload; i++) SNW_TRY(check_station(d, &d->load[i].on, err));
    for (int i = 0; i < d->ncontact; i++) SNW_TRY(check_station(d, &d->contact[i].on, err));
    for (int i = 0; i < 2 * d->nforce_element; i++)
        SNW_TRY(check_station(d, &d->force_element[i / 2].end[i % 2], err));
    for (int i = 0; i < d->nforce_field; i++) SNW_TRY(check_station(d, &d->force_field[i].on, err));
    for (int i = 0; i < d->nprobe; i++) {
        SNW_TRY(check_station(d, &d->probe[i].site, err));
        if (has_two_sites(&d->probe[i])) SNW_TRY(check_station(d, &d->probe[i].from, err));
    }
    return SNW_OK;
}

// b->local <- whether the model becomes local. Refuse sizes that dense matrices do not allow.
static snw_status choose_local(snw_build *b, size_t ncoord, size_t nseg, snw_error *err) {
    const snw_desc *d = b->m->desc;
    const char *why = snw_desc_not_local(d);
    const bool asked = b->use == SNW_USE_LOCAL;
    if (asked && why) return snw_fail(err, SNW_E_MODEL, "a local model cannot have %s", why);
    if (b->use != SNW_USE_STUDY && !asked && !why) why = "a use other than 'run'";
    if (!asked && !why && snw_desc_border(d) > fmin(MOST_BORDER, (double)ncoord / 40))
        why = "so many loops, force elements, tendons and driven joints";
    b->local = !why && (asked || ncoord > SNW_LOCAL_COORDINATES + 7 * (size_t)d->nlink);
    if (nseg > MOST_SEGMENTS) {
        return snw_fail(err, SNW_E_MODEL,
                        "the model has %zu segments, at most %d are possible. Use fewer functions, "
                        "elements or nodes",
                        nseg, MOST_SEGMENTS);
    }
    if (b->local) return SNW_OK;
    const char *matrix = snw_desc_needs_matrix(d);
    const int most = matrix ? MOST_COORDINATES : MOST_OF_NETWORK;
    if (matrix && d->nloop) why = matrix;
    if (ncoord > (size_t)most + 7 * (size_t)d->nlink || nseg > MOST_DENSE_SEGMENTS) {
        return snw_fail(
            err, SNW_E_MODEL,
            "the model has %zu coordinates and %zu segments; with %s at most %d and %d are "
            "possible. Use fewer functions, elements or nodes, or leave that out",
            ncoord, nseg, why, most, MOST_DENSE_SEGMENTS);
    }
    for (int l = 0; l < d->nlink; l++) {
        for (int a = 0; d->link[l].has_rod && a < b->draft[l].na; a++) {
            if (b->draft[l].nfun[a] <= SNW_BASIS_MAX_FUNCTIONS) continue;
            return snw_fail(err, SNW_E_MODEL,
                            "rod '%s' has %d functions of one strain; with %s at most %d are "
                            "possible. Use fewer elements, or leave that out",
                            d->link[l].name, b->draft[l].nfun[a],
                            why ? why : "so few coordinates in all", SNW_BASIS_MAX_FUNCTIONS);
        }
    }
    return SNW_OK;
}

// Upper bounds of all counts, and the arrays.
static snw_status compile_reserve(snw_build *b, snw_error *err) {
    const snw_desc *d = b->m->desc;
    b->layout = snw_build_array(b, (size_t)d->nlink, sizeof *b->layout);
    b->draft = snw_build_array(b, (size_t)d->nlink, sizeof *b->draft);
    b->condition_signal =
        snw_build_array(b,
                        (size_t)(d->nlink + d->nloop + d->nmotor + d->nfluid + d->ncontact +
                                 d->nforce_element + d->nforce_field),
                        sizeof(int));
    b->m->condition_signal = b->condition_signal;
    if (b->memory_out) return SNW_E_MEMORY;
    size_t npose = 2 * (size_t)d->nlink + 3 * (size_t)d->nloop + (size_t)d->nload +
                   2 * (size_t)d->nprobe + 4 * (size_t)d->nforce_element +
                   2 * (size_t)d->nforce_field;
    for (int i = 0; i < d->ncontact; i++)
        npose += d->contact[i].is_obstacle ? 1 + snw_obstacle_contacts(d, i) : 0;
    for (int i = 0; i < d->ntendon; i++) npose += 2 * (size_t)d->tendon[i].nsegment;
    size_t nseg = 1 + npose, nslice = 0, nfield = 0;
    size_t ncoord = 0, npoint = 0, nphi = 0, nrod = 0, nvariable = 0,
           nload_point = (size_t)d->nload;
    stations at;
    SNW_TRY(find_stations(b, &at));
    for (int l = 0; l < d->nlink; l++) {
        nseg += SNW_JOINT_MOST + 1; // joint axes and a free length
        ncoord += 7;
        if (!d->link[l].has_rod) continue;
        SNW_TRY(snw_build_draft(b, l, at.first[l + 1] - at.first[l], at.x + at.first[l], err));
        const snw_rod *r = &b->draft[l];
        const snw_layout *lay = &b->layout[l];
        size_t nobs = 0;
        for (int i = 0; i < d->nprobe; i++) {
            if (d->probe[i].site.link == l)
                nobs += d->probe[i].along > 0 ? (size_t)d->probe[i].along : 1;
            if (has_two_sites(&d->probe[i]) && d->probe[i].from.link == l) nobs++;
        }
        nrod++;
        nslice += (size_t)lay->nnode + nobs;
        if (snw_rod_given(&d->link[l].rod)) nfield += ((size_t)lay->nnode + nobs) * (size_t)r->nc;
        nphi += ((size_t)lay->nnode + nobs) * (size_t)r->nc * (size_t)b->most_phi;
        if (r->rule.kind == SNW_RULE_CHEBYSHEV)
            nphi += ((size_t)lay->nnode + nobs) * (size_t)r->rule.number;
        ncoord += (size_t)r->ndof;
        if (d->link[l].rod.variable_length) nvariable += (size_t)lay->nodes;
        npoint += (size_t)r->npoint;
        nphi += (size_t)r->npoint * (size_t)b->most_phi;
        for (int i = 0; i < d->nload; i++) {
            const int link = d->load[i].on.link;
            if (!d->load[i].along || (link != l && d->link[link].beyond != 1 + l)) continue;
            nload_point += (size_t)lay->nnode;
        }
    }
    nseg += nslice;
    SNW_TRY(choose_local(b, ncoord, nseg, err));
    b->seg = snw_build_array(b, nseg, sizeof *b->seg);
    b->seg_x = snw_build_array(b, nseg, sizeof *b->seg_x);
    b->seg_w = snw_build_array(b, nseg, sizeof *b->seg_w);
    const size_t nblock = (SNW_JOINT_MOST + 2) * (size_t)d->nlink; // joint axes, free length, rod
    b->path = snw_build_array(b, 1 + nblock, sizeof *b->path);
    b->path_list = snw_build_array(b, 1 + nblock, sizeof *b->path_list);
    b->list = snw_build_array(b, 1 + nblock, sizeof *b->list);
    b->pose = snw_build_array(b, npose, sizeof *b->pose);
    b->block = snw_build_array(b, nblock, sizeof *b->block);
    b->spring = snw_build_array(b, nblock, sizeof *b->spring);
    b->stop = snw_build_array(b, nblock, sizeof *b->stop);
    b->slice = snw_build_array(b, nslice, sizeof *b->slice);
    b->field = snw_build_array(b, nfield, sizeof *b->field);
    b->xi0 = snw_build_array(b, nslice * SNW_MAGNUS_POINTS, sizeof *b->xi0);
    b->phi = snw_build_array(b, nphi, sizeof *b->phi);
    b->point = snw_build_array(b, npoint, sizeof *b->point);
    b->rod = snw_build_array(b, nrod, sizeof *b->rod);
    b->grid = snw_build_array(b, nrod, sizeof *b->grid);
    b->variable_node = snw_build_array(b, nvariable, sizeof *b->variable_node);
    b->variable_phi =
        snw_build_array(b, 2 * nvariable * (size_t)b->most_phi, sizeof *b->variable_phi);
    b->load_point = snw_build_array(b, nload_point, sizeof *b->load_point);
    b->link_first = snw_build_array(b, (size_t)d->nlink, sizeof(int));
    b->link_end = snw_build_array(b, (size_t)d->nlink, sizeof(int));
    b->link_rod = snw_build_array(b, (size_t)d->nlink, sizeof(int));
    b->link_block = snw_build_array(b, (size_t)d->nlink, sizeof(int));
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

// ---- stores and scales

// Bending of a rod whose strains stay in a plane, or 0.
static int plane_of(const snw_rod *r) {
    int plane = 0;
    for (int a = 0; a < r->na; a++) {
        if (r->comp[a] == SNW_BEND_Y || r->comp[a] == SNW_BEND_Z) plane = r->comp[a];
    }
    if (plane == 0 || r->rule.kind != SNW_RULE_MAGNUS || r->feed >= 0 || r->npiece > 0) return 0;
    const int shear = plane == SNW_BEND_Y ? SNW_SHEAR_Z : SNW_SHEAR_Y;
    for (int a = 0; a < r->na; a++) {
        if (r->comp[a] != plane && r->comp[a] != SNW_STRETCH && r->comp[a] != shear) return 0;
    }
    for (int e = 0; e < 6; e++) {
        const bool within = e == plane || e == SNW_STRETCH || e == shear;
        if (r->given[e] || (r->rest[e] && !within)) return 0;
    }
    return plane;
}

// Jacobians of slices are kept where something reads them after a tangent in one pass, or another
// segment than the next: at branches, at ends of loops and of straight tendons.
static void choose_kept(snw_build *b) {
    const snw_model *m = b->m;
    const bool all = m->ncontact_point > 0 || m->ntouching_rod > 0 || m->nlive > 0 ||
                     m->nforce_element > 0 || m->nforce_field_point > 0 || m->nnonholonomic > 0 ||
                     m->nsliding_station > 0 || m->nvariable_node > 0 || m->ntube_node > 0 ||
                     m->ntendon_corner > 0 || m->ngrid > 0;
    for (int s = 0; s < m->nseg; s++) {
        b->seg[s].kept = all || b->seg[s].kind != SNW_SEG_ROD;
        if (s > 0 && b->seg[s].parent != s - 1) b->seg[b->seg[s].parent].kept = true;
    }
    for (int i = 0; i < m->nloop; i++) b->seg[m->loop[i].a].kept = b->seg[m->loop[i].b].kept = true;
    for (int i = 0; i < m->ntendon_point; i++) {
        if (m->tendon_point[i].segment < 0) continue;
        const snw_tendon_segment *t = &m->tendon_segment[m->tendon_point[i].segment];
        b->seg[t->a].kept = b->seg[t->b].kept = true;
    }
}

// place (nseg) <- stores of the segments that are kept; of the others those with even and those
// with odd numbers share that of the one with most columns, since the parent of each is the segment
// before it.
static void share_places(const snw_model *m, const int *store, int *place) {
    int widest[2] = {-1, -1};
    for (int s = 0; s < m->nseg; s++) {
        int *most = &widest[s % 2];
        if (m->seg[s].kept) continue;
        if (*most < 0 || m->path[m->seg[s].path].ld > m->path[m->seg[*most].path].ld) *most = s;
    }
    for (int s = 0; s < m->nseg; s++) place[s] = store[m->seg[s].kept ? s : widest[s % 2]];
}

// Offsets in and sizes of the arrays of the tangent. m->bare: they are not needed, or would be too
// large; workspaces then hold no Jacobians and take memory linear in the number of segments.
static snw_status assign_stores(snw_build *b) {
    snw_model *m = b->m;
    const int nseg = m->nseg + m->nobs;
    int *at = snw_build_array(b, (size_t)nseg, sizeof *at);
    int *place = snw_build_array(b, (size_t)m->nseg, sizeof *place);
    if (!at || !place) return SNW_E_MEMORY;
    m->local = b->local;
    size_t n = 0;
    for (int s = 0, r = 0; s < nseg; s++) {
        at[s] = -1;
        if (m->local) continue;
        if (s >= m->nseg && (r == m->nread || m->read[r] != s)) continue;
        if (s >= m->nseg) r++;
        at[s] = (int)n;
        n += 6 * (size_t)b->path[b->seg[s].path].ld;
        if (n > MOST_COLUMNS) break; // too large: the model becomes bare
    }
    m->seg_store = at;
    m->store = n;
    choose_kept(b);
    share_places(m, at, place);
    m->seg_place = place;
    for (int r = 0; r < m->nrod; r++) {
        b->rod[r].plane = plane_of(&b->rod[r]);
        b->rod[r].own_store = m->store_own;
        if (!m->local) m->store_own += (size_t)b->rod[r].ndof * (size_t)b->rod[r].ndof;
        b->rod[r].feed_store = m->store_feed;
        if (b->rod[r].feed >= 0) m->store_feed += snw_feed_parts(b->rod[r].ndof);
    }
    m->store_slice = (size_t)SNW_MAGNUS_LD * (size_t)b->most_phi;
    for (int p = 0; p < m->npath && !m->subtree_tangent; p++) {
        b->path[p].store = m->store_path;
        m->store_path += (size_t)b->path[p].n * (size_t)b->path[p].ld;
    }
    m->bare = m->local || n > MOST_COLUMNS || m->store_path > MOST_STORE ||
              (b->use == SNW_USE_KINEMATIC && snw_model_needs_no_jacobian(m));
    if (m->bare) m->store = m->store_path = m->store_loop = 0, m->articulated = false;
    return SNW_OK;
}

bool snw_model_needs_no_jacobian(const snw_model *m) {
    bool any =
        m->nconstraint == 0 || m->ncondition > 0 || m->ntendon > 0 || m->nlive > 0 || m->nfeed > 0;
    for (int i = 0; i < m->nloop; i++) any |= m->loop[i].nrow > 0 && !m->loop[i].nonholonomic;
    for (int i = 0; i < m->nrod; i++) any |= m->rod[i].ndof > 0;
    return !any;
}

// Typical coordinate of function f of active component a: that of a strain of one radian along the
// rod, or of a stretch of one. Only functions given by the user differ much from size one.
static double typical_strain(const snw_rod *rod, int a, int f) {
    double least = INFINITY; // of strains that move together
    for (int b = 0; b < rod->na; b++) {
        const snw_function_set *set = rod->basis[b].set;
        if (rod->dof[b] != rod->dof[a] || (set && set->size[f] == 0)) continue;
        least = fmin(least, (rod->comp[b] < 3 ? 1 / rod->L : 1) / (set ? set->size[f] : 1));
    }
    return least;
}

// Is coordinate i of a joint block an angle?
static bool compile_is_angle(const snw_block *block, int i) {
    return block->space == SNW_SPACE_RN ? snw_dot(block->S.w, block->S.w) > 0 : i < 3;
}

// Is a site fixed to the world?
static bool is_grounded(const snw_desc *d, const snw_site *on) {
    while (on->kind != SNW_SITE_WORLD) {
        const snw_link_desc *link = &d->link[on->link];
        if (link->joint != SNW_JOINT_FIXED || link->has_rod) return false;
        on = &link->on;
    }
    return true;
}

// Typical length of the robot: sum of rod lengths and of the offsets of rigid links; poses fixed to
// the world do not count.
double snw_build_length(const snw_build *b) {
    const snw_desc *d = b->m->desc;
    double sum = 0;
    for (int r = 0; r < b->m->nrod; r++) sum += b->rod[r].L;
    for (int l = 0; l < d->nlink; l++) {
        if (!is_grounded(d, &d->link[l].on))
            sum += snw_norm(snw_pose_desc_at(&d->link[l].pose, 0).p);
        if (d->link[l].has_body) sum += snw_norm(d->link[l].body.com);
    }
    return sum > 0 && isfinite(sum) ? sum : 1;
}

// Typical energy: of the stiffest rod bent by one radian, else of the weight over the typical
// length, else of the stiffest joint spring, else of the stiffest force element, else 1 J.
static double compile_typical_energy(const snw_build *b) {
    const snw_model *m = b->m;
    double energy = 0, mass = 0, g = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &b->rod[r];
        for (int a = 0; a < rod->na; a++) {
            const int i = rod->dof[a] - rod->dof0;
            const double k = snw_rod_diagonal(rod, rod->K, i);
            if (rod->comp[a] < 3) energy = fmax(energy, k / (rod->L * rod->L));
        }
    }
    if (energy > 0) return energy;
    for (int s = 0; s < m->nseg; s++) mass += b->seg[s].M.m;
    for (int i = 0; i < 3; i++) {
        if (m->gravity[i]) g = fmax(g, fabs(snw_expr_value(m->gravity[i], (snw_at){0})));
    }
    energy = mass * g * m->length;
    if (energy > 0) return energy;
    for (int i = 0; i < m->nspring; i++) {
        const double one = compile_is_angle(&b->block[b->spring[i].block], 0) ? 1 : m->length;
        energy = fmax(energy, b->spring[i].stiffness * one * one);
    }
    if (energy > 0) return energy;
    for (int i = 0; i < m->nforce_element; i++) {
        const snw_force_element *e = &m->force_element[i];
        energy = fmax(energy, e->stiffness * m->length * m->length);
        for (int k = 0; k < 6; k++)
            energy = fmax(energy, e->axis_stiffness[k] * (k < 3 ? 1 : m->length * m->length));
    }
    return energy > 0 ? energy : 1;
}

// Typical change of a free length: a quarter of the initial one.
static double typical_free_length(const snw_build *b, int block) {
    for (int r = 0; r < b->m->nrod; r++) {
        if (b->rod[r].feed == b->block[block].dof) return 0.25 * b->rod[r].L;
    }
    return 1;
}

// m->typical, m->scale <- typical coordinates, and typical generalised forces: the elastic force of
// the typical coordinate, else typical energy over typical coordinate.
static snw_status typical_forces(snw_build *b) {
    snw_model *m = b->m;
    double *scale = snw_build_array(b, (size_t)m->nv, sizeof *scale);
    double *typical = snw_build_array(b, (size_t)m->nv, sizeof *typical);
    if (b->memory_out) return SNW_E_MEMORY;
    m->length = snw_build_length(b);
    const double energy = compile_typical_energy(b);
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &b->rod[r];
        for (int a = 0; a < rod->na; a++) {
            for (int j = 0; j < rod->nfun[a]; j++) {
                const int i = rod->dof[a] - rod->dof0 + j;
                const double k = snw_rod_diagonal(rod, rod->K, i);
                const double strain = typical_strain(rod, a, j);
                typical[rod->dof0 + i] = strain;
                scale[rod->dof0 + i] = k > 0 ? k * strain : energy / strain;
            }
        }
    }
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *block = &b->block[k];
        if (b->seg[block->seg].kind == SNW_SEG_ROD) continue;
        const double stiffness = block->spring >= 0 ? b->spring[block->spring].stiffness : 0;
        for (int i = 0; i < block->n; i++) {
            const double one = compile_is_angle(block, i) ? 1
                               : block->feed              ? typical_free_length(b, k)
                                                          : m->length;
            typical[block->dof + i] = one;
            scale[block->dof + i] = stiffness > 0 ? stiffness * one : energy / one;
        }
    }
    m->typical = typical;
    m->scale = scale;
    return SNW_OK;
}

static void compile_publish(snw_build *b) {
    snw_model *m = b->m;
    for (int k = 0; k < m->nblock; k++) m->has_armature |= b->block[k].armature > 0;
    m->seg = b->seg;
    m->seg_x = b->seg_x;
    m->seg_w = b->seg_w;
    m->path = b->path;
    m->pose = b->pose;
    m->block = b->block;
    m->spring = b->spring;
    m->stop = b->stop;
    snw_build_stop_arms(b);
    m->slice = b->slice;
    m->grid = b->grid;
    m->field = b->field;
    m->xi0 = b->xi0;
    m->phi = b->phi;
    m->point = b->point;
    m->rod = b->rod;
    m->variable_node = b->variable_node;
    m->variable_phi = b->variable_phi;
    m->nlink = m->desc->nlink;
    m->link_first = b->link_first;
    m->link_end = b->link_end;
    m->link_rod = b->link_rod;
    m->link_block = b->link_block;
}

// The only link on the world, if its pose is constant.
static int compile_base_link(const snw_desc *d) {
    int link = -1;
    for (int i = 0; i < d->nlink; i++) {
        if (d->link[i].on.kind != SNW_SITE_WORLD) continue;
        if (link >= 0) return -1;
        link = i;
    }
    return link >= 0 && snw_pose_desc_vars(&d->link[link].pose) ? -1 : link;
}

static snw_status describe_links(snw_build *b) {
    const snw_desc *d = b->m->desc;
    snw_joint_kind *joint = snw_build_array(b, (size_t)d->nlink, sizeof *joint);
    double *mass = snw_build_array(b, (size_t)d->nlink, sizeof *mass);
    bool *initial = snw_build_array(b, (size_t)d->nlink, sizeof *initial);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < d->nlink; i++) {
        joint[i] = d->link[i].joint;
        mass[i] = d->link[i].has_body ? d->link[i].body.mass : 0;
    }
    for (int i = 0; i < d->ninitial; i++) initial[d->initial[i].link] = true;
    b->m->link_joint = joint;
    b->m->link_body_mass = mass;
    b->m->link_initial = initial;
    b->m->base_link = compile_base_link(d);
    return SNW_OK;
}

static snw_status build_labels(snw_build *b) {
    const snw_desc *d = b->m->desc;
    snw_label *label;
#define X(kind)                                                                                    \
    b->m->label.kind = label = snw_build_array(b, (size_t)d->n##kind, sizeof *label);              \
    for (int i = 0; label && i < d->n##kind; i++) {                                                \
        label[i] = (snw_label){d->kind[i].name, d->kind[i].location};                              \
    }
    SNW_LABEL_LIST(X)
#undef X
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}

// Models with more coordinates than dense matrices allow are local ones, or networks.
static snw_status check_coordinates(const snw_build *b, snw_error *err) {
    const snw_model *m = b->m;
    if (m->nv <= MOST_COORDINATES || b->local) return SNW_OK;
    const char *why = snw_desc_needs_matrix(m->desc);
    const bool array = m->nfeed + m->ntube > 0; // snw_tangent_compresses
    const int most = array ? MOST_OF_ARRAY : MOST_OF_NETWORK;
    if (m->nv > most)
        return snw_fail(err, SNW_E_MODEL, "the model has %d coordinates, at most %d are possible%s",
                        m->nv, most,
                        array ? " with rods of variable length or concentric tubes" : "");
    if (!why) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "the model has %d coordinates, at most %d are possible with %s", m->nv,
                    MOST_COORDINATES, why);
}

// The columns of a path couple with each other.
static snw_status check_paths(const snw_build *b, snw_error *err) {
    const snw_model *m = b->m;
    for (int p = 0; m->nv > MOST_COORDINATES && !b->local && p < m->npath; p++) {
        if (b->path[p].n <= MOST_OF_PATH) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "the model has %d coordinates, at most %d are possible where so many as %d "
                        "lie in series; put bodies of a network on the world by 'joint: free' and "
                        "close it by loops",
                        m->nv, MOST_COORDINATES, b->path[p].n);
    }
    return SNW_OK;
}

// Poses whose laws are constant are evaluated here, once.
static snw_status fix_poses(snw_build *b) {
    snw_model *m = b->m;
    snw_fixed_pose *fixed = snw_build_array(b, (size_t)m->npose, sizeof *fixed);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < m->npose; i++) {
        fixed[i].is_fixed = snw_pose_desc_vars(&m->pose[i]) == 0;
        if (fixed[i].is_fixed) fixed[i].h = snw_pose_desc_at(&m->pose[i], 0);
    }
    m->fixed_pose = fixed;
    return SNW_OK;
}

static snw_status build_all(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    SNW_TRY(check_sites(m->desc, err));
    SNW_TRY(compile_reserve(b, err));
    memcpy(m->gravity, m->desc->gravity, sizeof m->gravity);
    m->npath = 1;
    (void)snw_build_seg(b, SNW_SEG_WORLD, 0, 0, -1, 0);
    for (int l = 0; l < m->desc->nlink; l++) SNW_TRY(add_link(b, l, err));
    SNW_TRY(check_coordinates(b, err));
    SNW_TRY(list_conditional(b));
    SNW_TRY(snw_build_order(b));
    SNW_TRY(check_paths(b, err));
    SNW_TRY(snw_build_loops(b, err));
    SNW_TRY(snw_build_obstacles(b));
    SNW_TRY(snw_build_motors(b, err));
    SNW_TRY(snw_build_tendons(b, err));
    SNW_TRY(snw_build_force_elements(b, err));
    SNW_TRY(snw_build_dipoles(b, err));
    SNW_TRY(snw_build_tubes(b));
    SNW_TRY(snw_build_loads(b));
    SNW_TRY(snw_build_fluids(b, err));
    SNW_TRY(snw_build_force_fields(b, err));
    SNW_TRY(snw_build_contacts(b, err));
    SNW_TRY(snw_build_rod_contacts(b, err));
    SNW_TRY(typical_forces(b));
    compile_publish(b);
    SNW_TRY(snw_build_stations(b, err));
    SNW_TRY(snw_build_tube_nodes(b));
    SNW_TRY(snw_build_signals(b));
    SNW_TRY(fix_poses(b));
    SNW_TRY(snw_build_subtrees(b));
    SNW_TRY(assign_stores(b));
    SNW_TRY(snw_build_initial(b, err));
    snw_build_servos(b);
    SNW_TRY(snw_build_nodes(b));
    SNW_TRY(describe_links(b));
    return build_labels(b);
}

snw_status snw_model_compile_for(const snw_desc *desc, snw_model_use use, snw_model **out,
                                 snw_error *err) {
    *out = NULL;
    snw_model *m = snw_alloc(sizeof *m);
    if (!m) return snw_fail_memory(err);
    m->desc = desc;
    m->pool = snw_pool_create(POOL_LIMIT);
    snw_build b = {.m = m, .use = use};
    snw_status s = m->pool ? build_all(&b, err) : SNW_E_MEMORY;
    if (s == SNW_OK) {
        *out = m;
        return SNW_OK;
    }
    if (s == SNW_E_MEMORY) s = snw_fail(err, s, "out of memory while compiling the model");
    snw_model_destroy(m);
    return s;
}

snw_status snw_model_compile(const snw_desc *desc, snw_model **out, snw_error *err) {
    return snw_model_compile_for(desc, SNW_USE_ANY, out, err);
}

void snw_model_destroy(snw_model *m) {
    if (!m) return;
    snw_pool_destroy(m->pool);
    snw_free(m);
}

bool snw_model_alike(const snw_model *m, const snw_model *other) {
    const snw_model *const of[2] = {m, other};
    size_t size[2][32];
    for (int k = 0; k < 2; k++) {
        const snw_model *a = of[k];
        const size_t list[32] = {(size_t)a->nq,
                                 (size_t)a->nv,
                                 (size_t)a->nseg,
                                 (size_t)a->nobs,
                                 (size_t)a->nslice,
                                 (size_t)a->nload_point,
                                 (size_t)a->npoint,
                                 (size_t)a->nfield,
                                 (size_t)a->nstation,
                                 (size_t)a->nfluid_point,
                                 (size_t)a->nforce_field_point,
                                 (size_t)a->ncontact_point,
                                 (size_t)a->ntouching_slice,
                                 (size_t)a->most_touch,
                                 (size_t)a->nforce_element,
                                 (size_t)a->nstop,
                                 (size_t)a->ntube_point,
                                 (size_t)a->ntendon_point,
                                 (size_t)a->ntendon_segment,
                                 (size_t)a->ntendon_corner,
                                 (size_t)a->nconstraint,
                                 (size_t)a->npose,
                                 (size_t)a->npath,
                                 (size_t)a->nread,
                                 (size_t)a->nlive,
                                 (size_t)a->nlaw_point,
                                 (size_t)a->nbranch_coordinate,
                                 a->store,
                                 a->store_slice,
                                 a->store_path,
                                 a->store_loop,
                                 a->store_tendon};
        memcpy(size[k], list, sizeof list);
    }
    return memcmp(size[0], size[1], sizeof size[0]) == 0;
}

bool snw_model_fits(const snw_model *m, const snw_model *other) {
    return m->desc == other->desc && snw_model_alike(m, other);
}

static void *edit_array(snw_model *m, const void *from, int n, size_t size) {
    void *to = snw_pool_array(m->pool, n > 0 ? (size_t)n : 1, size);
    if (to && n > 0) memcpy(to, from, (size_t)n * size);
    return to;
}

snw_status snw_model_edit_rows(snw_model *m, snw_model_rows *out) {
    out->loop = edit_array(m, m->loop, m->nloop, sizeof *m->loop);
    out->drive = edit_array(m, m->drive, m->ndrive, sizeof *m->drive);
    out->tendon = edit_array(m, m->tendon, m->ntendon, sizeof *m->tendon);
    if (!out->loop || !out->drive || !out->tendon) return SNW_E_MEMORY;
    m->loop = out->loop;
    m->drive = out->drive;
    m->tendon = out->tendon;
    return SNW_OK;
}
