// SPDX-License-Identifier: MIT
//
// Preparation of an export: selection of frames, poses of nodes and of intermediate frames along
// rods, extent of the robot.
#include "output/export.h"

#include "base/fail.h"
#include "output/export_parts.h"
#include "output/frame_selection.h"

#include <errno.h>
#include <string.h>

static const double TURN = 0.12;             // largest rotation between neighbouring rings, rad
enum { MOST_CUTS = 32, SURVEY = 400 };       // rings of an interval; frames examined to choose them
static const size_t LIMIT = (size_t)1 << 30; // bytes of the pool
enum { POSE_WIDTH = SNW_RESULT_POSE_WIDTH };

snw_export_opts snw_export_defaults(void) {
    return (snw_export_opts){.frames = 1000, .bytes = (size_t)24 << 20};
}

snw_status snw_export_fail_memory(snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "out of memory: choose fewer frames with --frames");
}

snw_status snw_export_fail_sink(snw_error *err) {
    return snw_fail(err, SNW_E_IO, "cannot be written: %s",
                    errno == ENOSPC ? "no space left on the device"
                                    : "the output accepts no more data");
}

int snw_export_total(const snw_export *e) { return e->total; }
int snw_export_frames(const snw_export *e) { return e->n; }

// ---- frames ------------------------------------------------------------------------------------

// *frame (e->n) <- indices of the exported frames, mode shapes omitted
static snw_status choose_frames(snw_export *e, snw_result *r, int run, const snw_export_opts *opts,
                                int **frame, snw_error *err) {
    const size_t all = (size_t)snw_result_frames(r, run), width = SNW_STATS;
    double *t = snw_pool_array(e->pool, all, sizeof *t);
    double *stage = snw_pool_array(e->pool, all, sizeof *stage);
    double *stats = snw_pool_array(e->pool, all, sizeof(snw_stats));
    int *keep = snw_pool_array(e->pool, all, sizeof *keep);
    bool *mark = snw_pool_array(e->pool, all, sizeof *mark);
    *frame = snw_pool_array(e->pool, all, sizeof **frame);
    if (!t || !stage || !stats || !keep || !mark || !*frame) return snw_export_fail_memory(err);
    SNW_TRY(snw_result_read(r, run, SNW_RESULT_T, 0, (int)all, t, err));
    SNW_TRY(snw_result_read(r, run, SNW_RESULT_STAGE, 0, (int)all, stage, err));
    SNW_TRY(snw_result_read(r, run, SNW_RESULT_STATS, 0, (int)all, stats, err));
    for (size_t i = 0; i < all; i++) {
        snw_stats s;
        memcpy(&s, stats + i * width, sizeof s);
        if (s.mode > 0) continue;
        (*frame)[e->total] = (int)i;
        t[e->total] = t[i];
        stage[e->total++] = stage[i];
    }
    if (e->total == 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "there is no frame to write yet; wait for the run, or see 'sinew show'");
    }
    const size_t single = 4 * (size_t)(e->info->nnode + 1) * POSE_WIDTH, fit = opts->bytes / single;
    const int most = fit < 2 ? 2 : fit < (size_t)opts->frames ? (int)fit : opts->frames;
    snw_select_frames(e->total, t, stage, mark, most, keep, &e->n);
    for (int k = 0; k < e->n; k++) (*frame)[k] = (*frame)[keep[k]];
    return SNW_OK;
}

// Are all positions finite and all quaternions non-zero?
static bool poses_finite(const double *x, int nnode) {
    for (int i = 0; i < nnode; i++, x += POSE_WIDTH) {
        const double turn = x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6];
        if (!isfinite(x[0] + x[1] + x[2] + turn) || !(turn > 0)) return false;
    }
    return true;
}

static snw_status export_read_frames(snw_export *e, snw_result *r, int run, const int *frame,
                                     snw_error *err) {
    const size_t n = (size_t)e->n, pose = (size_t)e->info->nnode * POSE_WIDTH,
                 present = (size_t)e->info->ncondition, effort = (size_t)e->info->ntendon;
    e->t = snw_pool_array(e->pool, n, sizeof *e->t);
    e->stage = snw_pool_array(e->pool, n, sizeof *e->stage);
    e->pose = snw_pool_array(e->pool, n * pose, sizeof *e->pose);
    e->present = snw_pool_array(e->pool, n * present, sizeof *e->present);
    e->effort = snw_pool_array(e->pool, n * effort, sizeof *e->effort);
    if (!e->t || !e->stage || !e->pose || !e->present || !e->effort)
        return snw_export_fail_memory(err);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const struct {
            snw_result_field field;
            double *to;
        } part[] = {{SNW_RESULT_T, e->t + k},
                    {SNW_RESULT_STAGE, e->stage + k},
                    {SNW_RESULT_POSE, e->pose + k * pose},
                    {SNW_RESULT_PRESENT, e->present + k * present},
                    {SNW_RESULT_EFFORT, e->effort + k * effort}};
        for (size_t p = 0; p < sizeof part / sizeof *part; p++) {
            if (snw_result_width(e->info, part[p].field) == 0) continue;
            SNW_TRY(snw_result_read(r, run, part[p].field, frame[i], 1, part[p].to, err));
        }
        if (poses_finite(e->pose + k * pose, e->info->nnode)) k++;
    }
    e->n = (int)k;
    if (k > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "no frame of run '%s' has finite poses", e->info->run);
}

// ---- poses -------------------------------------------------------------------------------------

snw_se3 snw_export_node(const snw_export *e, int frame, int node) {
    if (node < 0 || node >= e->info->nnode) return snw_se3_identity();
    const double *p =
        e->pose + ((size_t)frame * (size_t)e->info->nnode + (size_t)node) * POSE_WIDTH;
    const snw_quat q = snw_quat_normalise((snw_quat){{p[3], p[4], p[5], p[6]}});
    return (snw_se3){snw_quat_to_mat3(q), {{p[0], p[1], p[2]}}};
}

static snw_twist export_between(const snw_export *e, int frame, int a, int b) {
    return snw_se3_log(
        snw_se3_mul(snw_se3_inv(snw_export_node(e, frame, a)), snw_export_node(e, frame, b)));
}

snw_se3 snw_export_pose(const snw_export *e, int frame, int track) {
    const snw_track *k = &e->track[track];
    const snw_se3 g = snw_export_node(e, frame, k->a);
    if (k->fraction == 0) return g;
    return snw_se3_mul(
        g, snw_se3_exp(snw_twist_scale(k->fraction, export_between(e, frame, k->a, k->b))));
}

bool snw_export_is_active(const snw_export *e, int frame, int condition) {
    if (condition < 0) return true;
    return e->present[(size_t)frame * (size_t)e->info->ncondition + (size_t)condition] != 0;
}

// Index of the phase that a frame belongs to.
static int phase_at(const snw_export *e, int frame) {
    int phase = 0;
    while (phase + 1 < e->nphase && e->phase[phase + 1].stage <= e->stage[frame]) phase++;
    return phase;
}

const snw_scene_geometry *snw_export_geometry(const snw_export *e, int frame) {
    return &e->phase[phase_at(e, frame)].geometry;
}

bool snw_export_is_visible(const snw_export *e, int frame, const snw_mesh *m) {
    const int phase = phase_at(e, frame);
    return phase >= m->first && phase <= m->last && snw_export_is_active(e, frame, m->condition);
}

bool snw_export_same_pose(const snw_export *e, const snw_se3 *a, const snw_se3 *b) {
    if (snw_norm(snw_sub(a->p, b->p)) > 1e-7 * e->size) return false;
    for (int i = 0; i < 9; i++) {
        if (fabs(a->R.e[i / 3][i % 3] - b->R.e[i / 3][i % 3]) > 1e-7) return false;
    }
    return true;
}

void snw_export_playback_times(const snw_export *e, double fraction, double repeat, double *out) {
    double duration = 0;
    for (int k = 1; k < e->n; k++) duration += fmax(e->t[k] - e->t[k - 1], 0);
    out[0] = 0;
    for (int k = 1; k < e->n; k++) {
        const double dt = e->t[k] - e->t[k - 1];
        out[k] = out[k - 1] + (dt > 0 ? dt : duration > 0 ? fraction * duration : repeat);
    }
}

// ---- tracks ------------------------------------------------------------------------------------

static int node_of(const snw_scene_rod *r, int station) {
    return station == 0 ? r->root : r->first + station - 1;
}

// Number of rings between nodes a and b for relative rotations of at most TURN.
static int ring_count(const snw_export *e, int a, int b) {
    const int step = e->n > SURVEY ? e->n / SURVEY : 1;
    double most = 0;
    for (int k = 0; k < e->n; k += step) most = fmax(most, snw_norm(export_between(e, k, a, b).w));
    const int n = (int)ceil(most / TURN);
    return n < 1 ? 1 : n > MOST_CUTS ? MOST_CUTS : n;
}

static int add_track(snw_export *e, int a, int b, double fraction) {
    if (fraction == 0) return a < 0 ? e->info->nnode : a;
    e->track[e->ntrack] = (snw_track){a, b, fraction};
    return e->ntrack++;
}

static void put_ring(snw_export *e, const snw_scene_rod *r, snw_trace *t, int station,
                     double fraction) {
    const int b = fraction > 0 ? node_of(r, station + 1) : -1;
    t->track[t->n] = add_track(e, node_of(r, station), b, fraction);
    t->station[t->n] = station;
    t->fraction[t->n++] = fraction;
}

static snw_status trace_rod(snw_export *e, const snw_scene_rod *r, snw_trace *t, snw_error *err) {
    const size_t most = (size_t)r->count * MOST_CUTS + 1;
    *t = (snw_trace){.track = snw_pool_array(e->pool, most, sizeof *t->track),
                     .station = snw_pool_array(e->pool, most, sizeof *t->station),
                     .fraction = snw_pool_array(e->pool, most, sizeof *t->fraction),
                     .from = snw_pool_array(e->pool, (size_t)r->count, sizeof *t->from)};
    if (!t->track || !t->station || !t->fraction || !t->from) return snw_export_fail_memory(err);
    const double least_length = 1e-9 * r->x[r->count];
    for (int i = 0; i < r->count; i++) {
        if (r->x[i + 1] - r->x[i] > least_length) t->from[t->npiece++] = i;
    }
    for (int p = 0; p < t->npiece; p++) {
        const int i = t->from[p], n = ring_count(e, node_of(r, i), node_of(r, i + 1));
        for (int c = 0; c < n; c++) put_ring(e, r, t, i, (double)c / n);
    }
    if (t->npiece > 0) put_ring(e, r, t, t->from[t->npiece - 1] + 1, 0);
    return SNW_OK;
}

static snw_status lay_tracks(snw_export *e, snw_error *err) {
    size_t most = (size_t)e->info->nnode + 1;
    for (int i = 0; i < e->geometry.nrod; i++)
        most += (size_t)e->geometry.rod[i].count * MOST_CUTS + 1;
    e->track = snw_pool_array(e->pool, most, sizeof *e->track);
    e->trace = snw_pool_array(e->pool, (size_t)e->geometry.nrod, sizeof *e->trace);
    if (!e->track || !e->trace) return snw_export_fail_memory(err);
    for (; e->ntrack <= e->info->nnode; e->ntrack++) {
        e->track[e->ntrack] = (snw_track){e->ntrack < e->info->nnode ? e->ntrack : -1, -1, 0};
    }
    for (int i = 0; i < e->geometry.nrod; i++) {
        SNW_TRY(trace_rod(e, &e->geometry.rod[i], &e->trace[i], err));
    }
    return SNW_OK;
}

static void find_extent(snw_export *e) {
    const size_t step = POSE_WIDTH, n = (size_t)e->n * (size_t)e->info->nnode;
    e->low = e->high = (snw_vec3){.e = {0}};
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            const double x = e->pose[i * step + (size_t)k];
            e->low.e[k] = i == 0 ? x : fmin(e->low.e[k], x);
            e->high.e[k] = i == 0 ? x : fmax(e->high.e[k], x);
        }
    }
    for (int i = 0; i < e->geometry.nbody; i++) {
        const snw_scene_body *b = &e->geometry.body[i];
        const double large = fmax(fmax(b->size[0], b->size[1]), fmax(b->size[2], snw_norm(b->com)));
        e->size = fmax(e->size, large);
    }
    for (int k = 0; k < 3; k++) e->size = fmax(e->size, e->high.e[k] - e->low.e[k]);
    e->size = fmax(e->size, 1e-6);
}

snw_vec3 snw_export_up(const snw_export *e) {
    const snw_vec3 g = e->geometry.gravity;
    int k = 2;
    for (int i = 0; i < 3; i++) k = fabs(g.e[i]) > fabs(g.e[k]) ? i : k;
    snw_vec3 up = {.e = {0}};
    up.e[k] = g.e[k] > 0 ? -1 : 1;
    if (snw_norm(g) > 0) return up;
    if (e->geometry.nground > 0) return snw_normalise(e->geometry.ground[0].normal);
    if (e->high.z - e->low.z < 1e-3 * e->size) return (snw_vec3){{0, 1, 0}};
    return up;
}

snw_mat3 snw_export_turn(snw_vec3 from, snw_vec3 to) {
    const snw_vec3 axis = snw_cross(from, to);
    const double s = snw_norm(axis), c = snw_dot(from, to);
    if (s < 1e-12) return snw_so3_exp((snw_vec3){{c > 0 ? 0 : M_PI, 0, 0}});
    return snw_so3_exp(snw_scale(atan2(s, c) / s, axis));
}

// ---- open and close ----------------------------------------------------------------------------

static snw_status export_prepare(snw_export *e, snw_result *r, int run, const snw_export_opts *opts,
                                 snw_error *err) {
    snw_scene_phase *phase;
    int *frame;
    SNW_TRY(snw_scene_phases(e->pool, e->info, &e->nphase, &phase, err));
    if (e->nphase == 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "run '%s' was written by an older sinew that did not store the robot's "
                        "appearance; run the model again",
                        e->info->run);
    }
    e->phase = phase;
    e->geometry = phase[0].geometry;
    SNW_TRY(choose_frames(e, r, run, opts, &frame, err));
    SNW_TRY(export_read_frames(e, r, run, frame, err));
    find_extent(e);
    SNW_TRY(lay_tracks(e, err));
    return snw_export_build_meshes(e, err);
}

snw_status snw_export_open(snw_result *r, int run, const snw_export_opts *opts, snw_export **out,
                           snw_error *err) {
    *out = NULL;
    snw_pool *pool = snw_pool_create(LIMIT);
    snw_export *e = pool ? snw_pool_take(pool, sizeof *e) : NULL;
    if (!e) {
        snw_pool_destroy(pool);
        return snw_export_fail_memory(err);
    }
    *e = (snw_export){
        .pool = pool, .info = snw_result_info(r, run), .version = snw_result_version(r)};
    const snw_status status = export_prepare(e, r, run, opts, err);
    if (status == SNW_OK) {
        *out = e;
    } else {
        snw_pool_destroy(pool);
    }
    return status;
}

void snw_export_close(snw_export *e) {
    if (e) snw_pool_destroy(e->pool); // e is allocated from its own pool
}
