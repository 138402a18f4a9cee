// SPDX-License-Identifier: MIT
//
// Points and probes of robots on a graphics processor.
#include "robot/device_batch_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "model/signal.h"

#include <string.h>

snw_status snw_device_batch_set_points(snw_device_batch *b, int npoint, const int *node,
                                       const double *at, double **out, snw_error *err) {
    if (!b || !node || !out || npoint < 1)
        return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL, or there is no point");
    const size_t n = (size_t)npoint;
    int *seg = snw_alloc(n * sizeof *seg);
    double *place = snw_alloc(3 * n * sizeof *place);
    double *none = snw_alloc(3 * n * (size_t)b->n * sizeof *none);
    snw_status s = seg && place && none ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; s == SNW_OK && i < npoint; i++) {
        if (node[i] < 0 || node[i] >= snw_robot_nodes(b->robot))
            s = snw_fail(err, SNW_E_ARGUMENT, "there is no node number %d, the robot has %d",
                         node[i], snw_robot_nodes(b->robot));
        seg[i] = node[i] + 1;
        for (int k = 0; k < 3; k++) place[3 * i + k] = at ? at[3 * i + k] : 0;
    }
    if (s == SNW_OK) s = snw_device_fill(b, &b->point_seg, seg, n * sizeof *seg, err);
    if (s == SNW_OK) s = snw_device_fill(b, &b->point_at, place, 3 * n * sizeof *place, err);
    if (s == SNW_OK)
        s = snw_device_fill(b, &b->point, none, 3 * n * (size_t)b->n * sizeof *none, err);
    if (s == SNW_OK)
        s = snw_device_fill(b, &b->point_rate, none, 3 * n * (size_t)b->n * sizeof *none, err);
    snw_free(seg);
    snw_free(place);
    snw_free(none);
    SNW_TRY(s);
    b->args.npoint = npoint;
    b->args.point_seg = b->point_seg.at;
    b->args.point_at = b->point_at.at;
    b->args.point_rate = b->point_rate.at;
    *out = b->args.point = b->point.at;
    return SNW_OK;
}

// ---- probes -------------------------------------------------------------------------------------

// Columns of probes while they are listed; without arrays they are counted.
typedef struct column_list {
    int n, nphi;
    snw_device_column *column;
    double *phi;
} column_list;

static snw_status refuse_probe(const char *name, const char *why, snw_error *err) {
    return snw_fail(err, SNW_E_ARGUMENT, "probe '%.100s' is not read on a device: %s", name, why);
}

// Component k of a strain at a station: its rest strain and shape functions.
static snw_status add_strain(const snw_model *m, const snw_station *at, int k, const char *name,
                             column_list *list, snw_device_column *column, snw_error *err) {
    const snw_rod *rod = &m->rod[at->rod];
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    if (rod->rest_varies || rod->together || rod->given[k])
        return refuse_probe(name, "the strain varies with the material or by a law", err);
    const double end = rod->L * (1 - 1e-15);
    (void)snw_rod_basis(rod, at->x, at->x < rod->L ? at->x : end, first, count, phi);
    column->phi = list->nphi;
    if (list->phi) list->phi[list->nphi] = snw_rod_rest(rod, at->x).e[k] - (k == SNW_STRETCH);
    list->nphi++;
    const double *from = phi;
    for (int a = 0; a < rod->na; from += count[a], a++) {
        if (rod->comp[a] != k) continue;
        column->of = rod->dof[a] + first[a] + rod->shift;
        column->count = count[a];
        for (int j = 0; j < count[a]; j++, list->nphi++) {
            if (list->phi) list->phi[list->nphi] = from[j];
        }
    }
    return SNW_OK;
}

static snw_status add_column(const snw_model *m, int probe, int station, int component,
                             column_list *list, snw_error *err) {
    const snw_probe_desc *p = &m->desc->probe[probe];
    const snw_signal signal = snw_signal_of_probe(m, probe, component);
    snw_device_column column = {.reading = signal.reading, .column = component};
    if (signal.reading == SNW_READ_LATER || signal.reading == SNW_READ_NEVER)
        return refuse_probe(p->name, "only poses, velocities, strains, coordinates and tendons are",
                            err);
    if (signal.tendon >= 0) {
        column.of = signal.tendon;
        column.flag = signal.is_length;
    } else if (signal.block >= 0) {
        const snw_block *block = &m->block[signal.block];
        column.of = signal.reading == SNW_READ_RATE ? block->dof : block->q;
    } else {
        const snw_station *at = &m->station[m->probe_station[probe] + station];
        if (signal.reading == SNW_READ_STRAIN) {
            SNW_TRY(add_strain(m, at, component, p->name, list, &column, err));
        } else {
            int depth = 0;
            for (int seg = at->seg; seg >= m->nseg; seg = m->seg[seg].parent) depth++;
            if (depth > 8) return refuse_probe(p->name, "its frame has more than 8 others", err);
            column.of = at->seg;
            column.flag = signal.body;
        }
    }
    if (list->column) list->column[list->n] = column;
    list->n++;
    return SNW_OK;
}

static snw_status list_columns(const snw_model *m, int nprobe, const char *const *probe,
                               column_list *list, snw_error *err) {
    list->n = list->nphi = 0;
    for (int i = 0; i < nprobe; i++) {
        int at = 0;
        while (at < m->desc->nprobe && strcmp(m->desc->probe[at].name, probe[i]) != 0) at++;
        if (at == m->desc->nprobe)
            return snw_fail(err, SNW_E_ARGUMENT, "there is no probe '%.100s'", probe[i]);
        const snw_probe_desc *p = &m->desc->probe[at];
        const int nstation = p->along > 0 ? p->along : 1;
        if (nstation > 1 && p->of == SNW_PROBE_OF_TENDON)
            return refuse_probe(p->name, "it has values along a tendon", err);
        for (int k = 0; k < snw_probe_columns(p); k++) {
            const int width = snw_probe_columns(p) / nstation;
            SNW_TRY(add_column(m, at, k / width, k % width, list, err));
        }
    }
    return SNW_OK;
}

snw_status snw_device_batch_set_probes(snw_device_batch *b, int nprobe, const char *const *probe,
                                       double **out, snw_error *err) {
    if (!b || (nprobe > 0 && !probe) || !out || nprobe < 0)
        return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL, or the number is negative");
    const snw_model *m = b->robot->m;
    column_list list = {0};
    SNW_TRY(list_columns(m, nprobe, probe, &list, err));
    list.column = snw_alloc(((size_t)list.n + 1) * sizeof *list.column);
    list.phi = snw_alloc(((size_t)list.nphi + 1) * sizeof *list.phi);
    const size_t numbers = (size_t)list.n * (size_t)b->n;
    double *none = snw_alloc((numbers + 1) * sizeof *none);
    snw_status s = list.column && list.phi && none ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) s = list_columns(m, nprobe, probe, &list, err);
    if (s == SNW_OK)
        s = snw_device_fill(b, &b->columns, list.column, (size_t)list.n * sizeof *list.column, err);
    if (s == SNW_OK)
        s = snw_device_fill(b, &b->column_phi, list.phi, (size_t)list.nphi * sizeof *list.phi, err);
    if (s == SNW_OK) s = snw_device_fill(b, &b->probe, none, numbers * sizeof *none, err);
    snw_free(list.column);
    snw_free(list.phi);
    snw_free(none);
    SNW_TRY(s);
    b->args.ncolumn = list.n;
    b->args.column = b->columns.at;
    b->args.column_phi = b->column_phi.at;
    *out = b->args.probe = b->probe.at;
    return SNW_OK;
}

int snw_device_batch_columns(const snw_device_batch *b) { return b ? b->args.ncolumn : 0; }

double *snw_device_batch_point_rates(snw_device_batch *b) { return b ? b->point_rate.at : NULL; }

snw_status snw_device_batch_update_points(snw_device_batch *b, snw_error *err) {
    if (!b || b->args.npoint + b->args.ncolumn == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "call snw_device_batch_set_points or snw_device_batch_set_probes first");
    SNW_TRY(snw_device_prepare(b, 0, 0, err));
    return snw_device_launch(b, SNW_DEVICE_POINTS, err);
}
