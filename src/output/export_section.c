// SPDX-License-Identifier: MIT
//
// Strains, internal wrenches and stresses of rods from the poses of their nodes. The mean strain
// between two neighbouring nodes is log(g^-1 g')/h. Strains at the nodes are interpolated linearly
// from the midpoints of the two nearest intervals: exact where strain is linear in x, else of
// second order in the node distance. Wrenches and stresses are elastic; damping is omitted.
#include "output/export_parts.h"

// strain <- mean strain of interval p minus the rest strain
static void piece_strain(const snw_export *e, int frame, int r, int p, double strain[6]) {
    const snw_scene_rod *rod = &snw_export_geometry(e, frame)->rod[r];
    const int i = e->trace[r].from[p], a = i == 0 ? rod->root : rod->first + i - 1;
    const snw_twist x = snw_se3_log(snw_se3_mul(snw_se3_inv(snw_export_node(e, frame, a)),
                                                snw_export_node(e, frame, rod->first + i)));
    // nodes of a variable-length rod move apart with its free length: stretch is unknown, set to 0
    const double h = rod->variable_length ? snw_norm(x.v) : rod->x[i + 1] - rod->x[i];
    for (int k = 0; k < 6; k++) {
        strain[k] = x.e[k] / h - (rod->rest[i][k] + rod->rest[i + 1][k]) / 2;
    }
}

static double piece_middle(const snw_export *e, int frame, int r, int p) {
    const snw_scene_rod *rod = &snw_export_geometry(e, frame)->rod[r];
    const int i = e->trace[r].from[p];
    return (rod->x[i] + rod->x[i + 1]) / 2;
}

// b->normal, b->stress <- largest normal strain in a section, at the corner of a rectangle or on
// the rim of an ellipse, and the stress there with Young's modulus from the section stiffnesses.
static void section_normal_stress(const snw_scene_rod *rod, int station, snw_section_state *b) {
    const double y = rod->half[station][0], z = rod->half[station][1], hole = rod->hole[station];
    const double *k = rod->stiffness[station];
    const bool round = rod->section != SNW_SCENE_SQUARE;
    const double strain_y = b->strain[1] * z, strain_z = b->strain[2] * y, stretch = b->strain[3];
    const double bending = round ? hypot(strain_y, strain_z) : fabs(strain_y) + fabs(strain_z);
    const double area = (round ? M_PI * y * z : 4 * y * z) * (1 - hole * hole);
    const double second = (round ? M_PI / 4 : 4.0 / 3) * y * pow(z, 3) * (1 - pow(hole, 4));
    b->normal = y > 0 ? fabs(stretch) + bending : NAN;
    b->stress =
        area > 0 && second > 0 ? k[3] / area * fabs(stretch) + k[1] / second * bending : NAN;
}

static void station_state(const snw_export *e, int frame, int r, int station, int *piece,
                          snw_section_state *out) {
    const snw_scene_rod *rod = &snw_export_geometry(e, frame)->rod[r];
    const int n = e->trace[r].npiece;
    // the two intervals whose midpoints are nearest
    while (*piece + 2 < n && piece_middle(e, frame, r, *piece + 1) < rod->x[station]) (*piece)++;
    const int a = *piece, b = a + 1 < n ? a + 1 : a;
    double left[6], right[6];
    piece_strain(e, frame, r, a, left);
    piece_strain(e, frame, r, b, right);
    const double from = piece_middle(e, frame, r, a), to = piece_middle(e, frame, r, b);
    const double s = b > a ? (rod->x[station] - from) / (to - from) : 0;
    for (int k = 0; k < 6; k++) {
        out->strain[k] = (1 - s) * left[k] + s * right[k];
        out->force[k] = rod->elastic[k] ? rod->stiffness[station][k] * out->strain[k] : NAN;
    }
    section_normal_stress(rod, station, out);
}

static double mix(double s, double a, double b) { return s > 0 ? (1 - s) * a + s * b : a; }

void snw_export_section_states(const snw_export *e, int frame, int r, snw_section_state *station,
                               snw_section_state *out) {
    const snw_trace *t = &e->trace[r];
    int piece = 0;
    for (int i = 0; i <= e->geometry.rod[r].count; i++) {
        station_state(e, frame, r, i, &piece, &station[i]);
    }
    for (int k = 0; k < t->n; k++) {
        const snw_section_state *a = &station[t->station[k]];
        const snw_section_state *b = t->fraction[k] > 0 ? a + 1 : a;
        for (int i = 0; i < 6; i++) {
            out[k].strain[i] = mix(t->fraction[k], a->strain[i], b->strain[i]);
            out[k].force[i] = mix(t->fraction[k], a->force[i], b->force[i]);
        }
        out[k].normal = mix(t->fraction[k], a->normal, b->normal);
        out[k].stress = mix(t->fraction[k], a->stress, b->stress);
    }
}
