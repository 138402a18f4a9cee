// SPDX-License-Identifier: MIT
//
// What rods bear, by the poses of their nodes. The mean strain between two neighbours is log(g^-1
// g')/h; at the nodes, strains are laid on the straight line through the middles of the two pieces
// that are nearest: exact where strain is linear in x, else of second order in the distance of
// nodes. Forces and stresses are those of the sections' elasticity, losses left out.
#include "output/export_parts.h"

// the strain of piece p less that at rest
static void of_piece(const snw_export *e, int frame, int r, int p, double strain[6]) {
    const snw_look_rod *rod = &snw_export_look(e, frame)->rod[r];
    const int i = e->trace[r].from[p], a = i == 0 ? rod->root : rod->first + i - 1;
    const snw_twist x = snw_se3_log(snw_se3_mul(snw_se3_inv(snw_export_node(e, frame, a)),
                                                snw_export_node(e, frame, rod->first + i)));
    // stations of a fed rod move apart with its free length: what is left of stretch cannot be told
    const double h = rod->variable_length ? snw_norm(x.v) : rod->x[i + 1] - rod->x[i];
    for (int k = 0; k < 6; k++) {
        strain[k] = x.e[k] / h - (rod->rest[i][k] + rod->rest[i + 1][k]) / 2;
    }
}

static double middle(const snw_export *e, int frame, int r, int p) {
    const snw_look_rod *rod = &snw_export_look(e, frame)->rod[r];
    const int i = e->trace[r].from[p];
    return (rod->x[i] + rod->x[i + 1]) / 2;
}

// The largest normal strain in a section: in the corner of a rectangle, where the slopes add up in
// an ellipse; and the stress that goes with it, by the modulus that its stiffnesses tell.
static void bearing_of_section(const snw_look_rod *rod, int station, snw_bearing *b) {
    const double y = rod->half[station][0], z = rod->half[station][1], hole = rod->hole[station];
    const double *k = rod->stiffness[station];
    const bool round = rod->section != SNW_LOOK_SQUARE;
    const double bend_y = b->strain[1] * z, bend_z = b->strain[2] * y, stretch = b->strain[3];
    const double bend = round ? hypot(bend_y, bend_z) : fabs(bend_y) + fabs(bend_z);
    const double area = (round ? M_PI * y * z : 4 * y * z) * (1 - hole * hole);
    const double second = (round ? M_PI / 4 : 4.0 / 3) * y * pow(z, 3) * (1 - pow(hole, 4));
    b->normal = y > 0 ? fabs(stretch) + bend : NAN;
    b->stress = area > 0 && second > 0 ? k[3] / area * fabs(stretch) + k[1] / second * bend : NAN;
}

static void bearing_of_station(const snw_export *e, int frame, int r, int station, int *piece,
                               snw_bearing *out) {
    const snw_look_rod *rod = &snw_export_look(e, frame)->rod[r];
    const int n = e->trace[r].npiece;
    // the two pieces whose middles are nearest
    while (*piece + 2 < n && middle(e, frame, r, *piece + 1) < rod->x[station]) (*piece)++;
    const int a = *piece, b = a + 1 < n ? a + 1 : a;
    double left[6], right[6];
    of_piece(e, frame, r, a, left);
    of_piece(e, frame, r, b, right);
    const double from = middle(e, frame, r, a), to = middle(e, frame, r, b);
    const double s = b > a ? (rod->x[station] - from) / (to - from) : 0;
    for (int k = 0; k < 6; k++) {
        out->strain[k] = (1 - s) * left[k] + s * right[k];
        out->force[k] = rod->elastic[k] ? rod->stiffness[station][k] * out->strain[k] : NAN;
    }
    bearing_of_section(rod, station, out);
}

static double bearing_mix(double s, double a, double b) { return s > 0 ? (1 - s) * a + s * b : a; }

void snw_export_bearing(const snw_export *e, int frame, int r, snw_bearing *station,
                        snw_bearing *out) {
    const snw_trace *t = &e->trace[r];
    int piece = 0;
    for (int i = 0; i <= e->look.rod[r].count; i++) {
        bearing_of_station(e, frame, r, i, &piece, &station[i]);
    }
    for (int k = 0; k < t->n; k++) {
        const snw_bearing *a = &station[t->station[k]];
        const snw_bearing *b = t->share[k] > 0 ? a + 1 : a;
        for (int i = 0; i < 6; i++) {
            out[k].strain[i] = bearing_mix(t->share[k], a->strain[i], b->strain[i]);
            out[k].force[i] = bearing_mix(t->share[k], a->force[i], b->force[i]);
        }
        out[k].normal = bearing_mix(t->share[k], a->normal, b->normal);
        out[k].stress = bearing_mix(t->share[k], a->stress, b->stress);
    }
}
