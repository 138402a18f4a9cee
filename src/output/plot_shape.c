// SPDX-License-Identifier: MIT
//
// Figures of shapes: rods, bodies and tendons of runs at some instants, projected to a plane.
#include "base/fail.h"
#include "math/se3.h"
#include "output/plot_data.h"
#include "output/plot_scene.h"
#include "output/scene_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROD = 0.55, RIGID = 0.35, THIN = 0.2; // widths of lines, mm
enum { PIECES = 16, ROUND = 60 };                         // segments between two nodes; of a circle

static snw_status plot_shape_no_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "out of memory: choose fewer instants");
}

// ---- instants ----------------------------------------------------------------------------------

// Frame nearest to a time; of equal distances the later, which shows the state after a change.
static int nearest(const snw_plot_frames *f, double t) {
    int best = 0;
    for (int i = 1; i < f->n; i++) {
        if (fabs(f->t[i] - t) <= fabs(f->t[best] - t)) best = i;
    }
    return best;
}

static snw_status choose_times(const snw_plot_frames *f, const snw_shape_opts *opts, int *n,
                               int *chosen, snw_error *err) {
    double lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < f->n; i++) {
        lo = fmin(lo, f->t[i]);
        hi = fmax(hi, f->t[i]);
    }
    *n = 0;
    for (int i = 0; i < opts->ntime; i++) {
        const double t = opts->time[i], slack = 1e-9 * fmax(fabs(lo), fabs(hi));
        if (!(t >= lo - slack && t <= hi + slack)) {
            return snw_fail(err, SNW_E_ARGUMENT,
                            "there is no shape at %g s; the run goes from %g to %g s", t, lo, hi);
        }
        chosen[(*n)++] = nearest(f, t);
    }
    for (int i = 0; opts->ntime == 0 && i < opts->count; i++) {
        const double fraction = opts->count > 1 ? (double)i / (opts->count - 1) : 1;
        const int k = f->timeless ? (int)lround(fraction * (f->n - 1))
                                  : nearest(f, lo + fraction * (hi - lo));
        if (*n == 0 || k != chosen[*n - 1]) chosen[(*n)++] = k;
    }
    return SNW_OK;
}

// ---- lines in space ----------------------------------------------------------------------------

typedef struct node {
    snw_vec3 p, tangent;
} node;

static node node_at(const double *pose, int i) {
    if (i < 0) return (node){.tangent = {.x = 1}};
    const double *p = pose + (size_t)i * SNW_RESULT_POSE_WIDTH;
    const double w = p[3], x = p[4], y = p[5], z = p[6];
    // normal of the section, first column of the rotation matrix
    return (node){{{p[0], p[1], p[2]}},
                  {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)}}};
}

// Point between two nodes. Where section normals and chord are nearly parallel, on the cubic
// Hermite curve along the normals with the length of the circular arc; otherwise (shear, a coarse
// mesh) on the chord.
static snw_vec3 interpolate_rod(const node *a, const node *b, double s) {
    const snw_vec3 chord = snw_sub(b->p, a->p);
    const double c = snw_norm(chord), least = 0.8 * c;
    if (s >= 1) return b->p;
    if (!(snw_dot(a->tangent, chord) > least) || !(snw_dot(b->tangent, chord) > least)) {
        return snw_add(a->p, snw_scale(s, chord));
    }
    const double turn = 2 * asin(fmin(1, snw_norm(snw_sub(b->tangent, a->tangent)) / 2));
    const double h = turn > 1e-6 ? c * (turn / 2) / sin(turn / 2) : c;
    const double s2 = s * s, s3 = s2 * s;
    snw_vec3 p = snw_add(a->p, snw_scale(3 * s2 - 2 * s3, chord));
    p = snw_add(p, snw_scale(h * (s3 - 2 * s2 + s), a->tangent));
    return snw_add(p, snw_scale(h * (s3 - s2), b->tangent));
}

static int point_count(const snw_plot_rod *r) { return r->rigid ? 2 : r->count * PIECES + 1; }

static void sample_rod(const snw_plot_rod *r, const double *pose, snw_vec3 *out) {
    node a = node_at(pose, r->root);
    int n = 0;
    out[n++] = a.p;
    for (int i = 0; i < r->count; i++) {
        const node b = node_at(pose, r->first + i);
        const int pieces = r->rigid ? 1 : PIECES;
        for (int k = 1; k <= pieces; k++) out[n++] = interpolate_rod(&a, &b, (double)k / pieces);
        a = b;
    }
}

static snw_vec3 point_in_world(const double *pose, const snw_scene_point *at) {
    if (at->node < 0) return at->at;
    const double *p = pose + (size_t)at->node * SNW_RESULT_POSE_WIDTH;
    const snw_mat3 R = snw_quat_to_mat3((snw_quat){{p[3], p[4], p[5], p[6]}});
    return snw_add((snw_vec3){{p[0], p[1], p[2]}}, snw_rotate(R, at->at));
}

// A sphere is drawn as three circles; one of them is its outline in any coordinate plane.
static int points_of_part(const snw_plot_part *part) {
    return part->point[0].radius > 0 && part->link ? 3 * ROUND : part->n;
}

static void sample_part(const snw_plot_part *part, const double *pose, snw_vec3 *out) {
    if (points_of_part(part) == part->n) {
        for (int i = 0; i < part->n; i++) out[i] = point_in_world(pose, &part->point[i]);
        return;
    }
    const snw_vec3 centre = point_in_world(pose, part->point);
    for (int i = 0; i < 3 * ROUND; i++) {
        const double a = 2 * 3.14159265358979323846 * i / ROUND, r = part->point->radius;
        const int e = i / ROUND;
        out[i] = centre;
        out[i].e[e] += r * cos(a);
        out[i].e[(e + 1) % 3] += r * sin(a);
    }
}

// Do the two nodes coincide?
static bool is_point(const snw_plot_rod *r, const double *pose) {
    const double least = 1e-9; // m
    return snw_norm(snw_sub(node_at(pose, r->first).p, node_at(pose, r->root).p)) < least;
}

// ---- which links -------------------------------------------------------------------------------

static bool wanted(const snw_shape_opts *opts, const char *link) {
    for (int i = 0; i < opts->nlink; i++) {
        if (strcmp(opts->link[i], link) == 0) return true;
    }
    return opts->nlink == 0;
}

static snw_status choose_links(const snw_shape_opts *opts, int *n, snw_plot_rod *rod, int *m,
                               snw_plot_part *part, snw_error *err) {
    for (int i = 0; i < opts->nlink; i++) {
        bool found = false;
        const char *names[64];
        int known = 0;
        for (int k = 0; k < *n + *m; k++) {
            const char *link = k < *n ? rod[k].link : part[k - *n].link;
            if (!link) continue;
            found = found || strcmp(link, opts->link[i]) == 0;
            if (known < 64) names[known++] = link;
        }
        if (found) continue;
        const char *near = snw_nearest(opts->link[i], known, names);
        return snw_fail(err, SNW_E_ARGUMENT, "there is no link '%s' that has a shape%s",
                        opts->link[i], snw_hint_text(near).text);
    }
    int kept = 0;
    for (int k = 0; k < *n; k++) {
        if (wanted(opts, rod[k].link)) rod[kept++] = rod[k];
    }
    *n = kept;
    kept = 0;
    for (int k = 0; k < *m; k++) {
        if (part[k].link ? wanted(opts, part[k].link) : opts->nlink == 0) part[kept++] = part[k];
    }
    *m = kept;
    if (*n + *m > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "there is neither rod nor rigid part to draw; give bodies a shape, e.g. "
                    "'sphere: {radius: 1 cm}'");
}

// ---- the figure --------------------------------------------------------------------------------

// Lines in space, before projection.
typedef struct line_set {
    int room, n;
    snw_curve *curve;
    snw_vec3 **point; // of each curve
    bool *solid;      // drawn as the convex outline of its points
} line_set;

// *point <- array for the n points of a new line
static snw_status plot_shape_add_line(snw_pool *pool, int n, snw_pen pen, bool solid,
                                      const char *name, line_set *out, snw_vec3 **point,
                                      snw_error *err) {
    SNW_ASSERT(out->n < out->room);
    snw_curve *c = &out->curve[out->n];
    const size_t room = (size_t)n + 1; // a closed outline has one more point
    *c = (snw_curve){.name = name,
                     .n = n,
                     .x = snw_pool_array(pool, room, sizeof *c->x),
                     .y = snw_pool_array(pool, room, sizeof *c->y),
                     .pen = pen};
    *point = out->point[out->n] = snw_pool_array(pool, (size_t)n, sizeof **out->point);
    if (!c->x || !c->y || !*point) return plot_shape_no_memory(err);
    out->solid[out->n++] = solid;
    return SNW_OK;
}

static snw_status add_room(snw_pool *pool, int more, line_set *out, snw_error *err) {
    const line_set old = *out;
    out->room = old.n + more;
    out->curve = snw_pool_array(pool, (size_t)out->room, sizeof *out->curve);
    out->point = snw_pool_array(pool, (size_t)out->room, sizeof *out->point);
    out->solid = snw_pool_array(pool, (size_t)out->room, sizeof *out->solid);
    if (!out->curve || !out->point || !out->solid) return plot_shape_no_memory(err);
    if (old.n > 0) {
        memcpy(out->solid, old.solid, (size_t)old.n * sizeof *old.solid);
        memcpy(out->curve, old.curve, (size_t)old.n * sizeof *old.curve);
        memcpy(out->point, old.point, (size_t)old.n * sizeof *old.point);
    }
    return SNW_OK;
}

// Parts and instants of one run to be drawn.
typedef struct shape_run {
    const snw_run_info *info;
    snw_plot_frames f;
    int nrod, npart, ninstant;
    snw_plot_rod *rod;
    snw_plot_part *part;
    int *instant;           // indices into f.frame
    double *stage;          // of all frames
    double *pose, *present; // of one frame
} shape_run;

static snw_status open_shape_run(snw_pool *pool, const snw_plot_run *run,
                                 const snw_shape_opts *opts, shape_run *s, snw_error *err) {
    const int nframe = snw_result_frames(run->file, run->run),
              most = opts->ntime > 0 ? opts->ntime : opts->count;
    snw_node *scene;
    s->info = snw_result_info(run->file, run->run);
    SNW_TRY(snw_plot_frames_read(pool, run, &s->f, err));
    SNW_TRY(snw_scene_tree(pool, s->info, &scene, err));
    if (!scene) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "run '%s' was written by an older sinew that did not store which links are "
                        "rods; run the model again",
                        s->info->run);
    }
    snw_scene_geometry geometry;
    SNW_TRY(snw_scene_read(pool, s->info, scene, &geometry, err));
    SNW_TRY(snw_plot_rods(&geometry, pool, &s->nrod, &s->rod, err));
    SNW_TRY(snw_plot_parts(&geometry, pool, &s->npart, &s->part, err));
    SNW_TRY(choose_links(opts, &s->nrod, s->rod, &s->npart, s->part, err));
    const size_t width = SNW_RESULT_POSE_WIDTH * sizeof(double);
    s->instant = snw_pool_array(pool, (size_t)most, sizeof *s->instant);
    s->stage = snw_pool_array(pool, (size_t)nframe, sizeof *s->stage);
    s->pose = snw_pool_array(pool, (size_t)s->info->nnode, width);
    s->present = snw_pool_array(pool, (size_t)s->info->ncondition, sizeof *s->present);
    if (!s->instant || !s->stage || !s->pose || !s->present) return plot_shape_no_memory(err);
    SNW_TRY(snw_result_read(run->file, run->run, SNW_RESULT_STAGE, 0, nframe, s->stage, err));
    return choose_times(&s->f, opts, &s->ninstant, s->instant, err);
}

// "0.25 s"; for equilibria at equal times the name of their step.
static const char *instant_name(snw_pool *pool, const shape_run *s, int k) {
    const int i = s->instant[k], stage = (int)s->stage[s->f.frame[i]];
    if (!s->f.timeless) {
        double largest = 0;
        for (int n = 0; n < s->f.n; n++) largest = fmax(largest, fabs(s->f.t[n]));
        const snw_unit_scale scale = snw_unit_scale_make("s", largest);
        // four digits of the largest time
        const double resolution = pow(10, floor(log10(largest / scale.size)) - 3),
                     shown = round(s->f.t[i] / scale.size / resolution) * resolution;
        return snw_pool_format(pool, "%.6g %s", shown == 0 ? 0 : shown, scale.unit);
    }
    const bool named = stage >= 0 && stage < s->info->nstage && s->info->stage[stage][0];
    return named ? snw_plot_text(pool, s->info->stage[stage])
                 : snw_pool_format(pool, "frame %d", i + 1);
}

// Add the active parts at instant k; the first line has the name.
static snw_status add_instant(snw_pool *pool, const snw_plot_run *run, const shape_run *s, int k,
                              unsigned colour, const char *name, line_set *out, snw_error *err) {
    const int frame = s->f.frame[s->instant[k]];
    SNW_TRY(snw_result_read(run->file, run->run, SNW_RESULT_POSE, frame, 1, s->pose, err));
    SNW_TRY(snw_result_read(run->file, run->run, SNW_RESULT_PRESENT, frame, 1, s->present, err));
    for (int r = 0; r < s->nrod; r++) {
        if (s->rod[r].condition >= 0 && s->present[s->rod[r].condition] == 0) continue;
        if (s->rod[r].rigid && is_point(&s->rod[r], s->pose)) continue;
        const snw_pen pen = {.colour = colour, .width = s->rod[r].rigid ? RIGID : ROD};
        snw_vec3 *point;
        SNW_TRY(
            plot_shape_add_line(pool, point_count(&s->rod[r]), pen, false, name, out, &point, err));
        sample_rod(&s->rod[r], s->pose, point);
        name = NULL;
    }
    for (int i = 0; i < s->npart; i++) {
        const snw_plot_part *part = &s->part[i];
        if (part->condition >= 0 && s->present[part->condition] == 0) continue;
        const snw_pen pen = {.colour = colour, .width = THIN};
        snw_vec3 *point;
        SNW_TRY(plot_shape_add_line(pool, points_of_part(part), pen, part->link != NULL, name, out,
                                    &point, err));
        sample_part(part, s->pose, point);
        name = NULL;
    }
    return SNW_OK;
}

// Add the shapes of run i of nrun. With one run colours distinguish the instants; with several they
// distinguish the runs and become stronger with time.
static snw_status add_shapes(snw_pool *pool, int i, int nrun, const snw_plot_run *run,
                             const snw_shape_opts *opts, line_set *out, snw_error *err) {
    shape_run s = {0};
    SNW_TRY(open_shape_run(pool, run, opts, &s, err));
    SNW_TRY(add_room(pool, s.ninstant * (s.nrod + s.npart), out, err));
    for (int k = 0; k < s.ninstant; k++) {
        const double fraction = s.ninstant > 1 ? (double)k / (s.ninstant - 1) : 1;
        const bool last = k + 1 == s.ninstant;
        const char *name = nrun == 1 ? instant_name(pool, &s, k)
                           : last    ? snw_plot_text(pool, run->name)
                                     : NULL;
        if (!name && (last || nrun == 1)) return plot_shape_no_memory(err);
        const unsigned own = snw_plot_paler(snw_plot_colour(i), 0.7 * (1 - fraction));
        SNW_TRY(add_instant(pool, run, &s, k, nrun == 1 ? snw_plot_gradient(fraction) : own, name,
                            out, err));
    }
    return SNW_OK;
}

// plane <- the two axes of largest extent, in alphabetical order
static void widest_plane(const line_set *s, int plane[2]) {
    double lo[3], hi[3];
    for (int e = 0; e < 3; e++) {
        lo[e] = INFINITY;
        hi[e] = -INFINITY;
        for (int c = 0; c < s->n; c++) {
            for (int i = 0; i < s->curve[c].n; i++) {
                lo[e] = fmin(lo[e], s->point[c][i].e[e]);
                hi[e] = fmax(hi[e], s->point[c][i].e[e]);
            }
        }
    }
    int least = 1; // y is dropped first
    if (hi[0] - lo[0] < hi[least] - lo[least]) least = 0;
    if (hi[2] - lo[2] < hi[least] - lo[least]) least = 2;
    plane[0] = least == 0 ? 1 : 0;
    plane[1] = least == 2 ? 1 : 2;
}

// ---- outlines ----------------------------------------------------------------------------------

typedef struct point2 {
    double x, y;
} point2;

static int compare_points(const void *a, const void *b) {
    const point2 *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

// Does the path a, b, c turn right or continue straight?
static bool is_right_turn(point2 a, point2 b, point2 c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) <= 0;
}

// c <- closed convex hull of its points (Andrew 1979)
static snw_status outline(snw_pool *pool, snw_curve *c, snw_error *err) {
    point2 *p = snw_pool_array(pool, (size_t)c->n, sizeof *p),
           *h = snw_pool_array(pool, 2 * (size_t)c->n + 1, sizeof *h);
    if (!p || !h) return plot_shape_no_memory(err);
    for (int i = 0; i < c->n; i++) p[i] = (point2){c->x[i], c->y[i]};
    qsort(p, (size_t)c->n, sizeof *p, compare_points);
    int n = 0;
    for (int i = 0; i < c->n; i++) {
        while (n >= 2 && is_right_turn(h[n - 2], h[n - 1], p[i])) n--;
        h[n++] = p[i];
    }
    const int below = n + 1;
    for (int i = c->n - 2; i >= 0; i--) {
        while (n >= below && is_right_turn(h[n - 2], h[n - 1], p[i])) n--;
        h[n++] = p[i];
    }
    c->n = n;
    for (int i = 0; i < n; i++) c->x[i] = h[i].x, c->y[i] = h[i].y;
    return SNW_OK;
}

snw_status snw_plot_shape(snw_pool *pool, int nrun, const snw_plot_run *run,
                          const snw_shape_opts *opts, snw_figure *out, snw_error *err) {
    static const char *const axis[] = {"x", "y", "z"};
    line_set s = {0};
    for (int i = 0; i < nrun; i++) {
        SNW_TRY(add_shapes(pool, i, nrun, &run[i], opts, &s, err));
    }
    int plane[2] = {opts->plane[0], opts->plane[1]};
    if (plane[0] < 0) widest_plane(&s, plane);
    for (int c = 0; c < s.n; c++) {
        for (int i = 0; i < s.curve[c].n; i++) {
            s.curve[c].x[i] = s.point[c][i].e[plane[0]];
            s.curve[c].y[i] = s.point[c][i].e[plane[1]];
        }
        if (s.solid[c]) SNW_TRY(outline(pool, &s.curve[c], err));
    }
    *out = (snw_figure){.quantity = axis[plane[0]], .unit = "m", .npanel = 1, .equal = true};
    out->panel = snw_pool_take(pool, sizeof *out->panel);
    if (!out->panel) return plot_shape_no_memory(err);
    *out->panel =
        (snw_panel){.quantity = axis[plane[1]], .unit = "m", .ncurve = s.n, .curve = s.curve};
    return SNW_OK;
}
