// SPDX-License-Identifier: MIT
//
// Error estimates and mesh cells of rods with a tolerance at a state (theory.md 3.16,
// model/rod_mesh.h), for the placement of nodes between time steps.

#include "dynamics/dynamics.h"

#include "math/vector.h"
#include "model/rod_mesh.h"

typedef struct field {
    const snw_model *m;
    const snw_rod *rod;
    const snw_state *s;
    bool is_static;
} field;

static void mesh_error_add(const field *f, const double *phi, const int first[6],
                           const int count[6], const double *c, snw_twist *xi) {
    for (int a = 0; a < f->rod->na; a++) {
        const double *at = c + f->rod->dof[a] + first[a];
        for (int j = 0; j < count[a]; j++) xi->e[f->rod->comp[a]] += phi[j] * at[j];
        phi += count[a];
    }
}

static void mesh_error_strain_at(void *user, double x, double toward, snw_twist xi[3]) {
    const field *f = user;
    const snw_rod *rod = f->rod;
    xi[0] = snw_rod_rest(rod, x);
    xi[1] = xi[2] = (snw_twist){0};
    for (int i = 0; i < 6; i++) {
        if (!rod->given[i]) continue;
        const snw_jet law =
            snw_expr_jet_t(rod->given[i], (snw_at){.t = f->s->t, .x = x, .L = rod->L});
        xi[0].e[i] = law.v + (i == SNW_STRETCH);
        xi[1].e[i] = law.d, xi[2].e[i] = law.dd;
    }
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    (void)snw_rod_basis(rod, x, toward, first, count, phi);
    mesh_error_add(f, phi, first, count, f->s->q + rod->shift, &xi[0]);
    if (f->is_static) {
        xi[1] = xi[2] = (snw_twist){0};
    } else {
        mesh_error_add(f, phi, first, count, f->s->v, &xi[1]);
        mesh_error_add(f, phi, first, count, f->s->a, &xi[2]);
    }
}

static snw_rod_mesh mesh_of(field *f) {
    const snw_rod *rod = f->rod;
    snw_rod_mesh c = {.rule = &rod->rule,
                      .L = rod->L,
                      .strain = mesh_error_strain_at,
                      .user = f,
                      .is_static = f->is_static};
    snw_rod_mesh_errors(&c);
    return c;
}

double snw_rod_error(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static) {
    field f = {.m = m, .rod = rod, .s = s, .is_static = is_static};
    const snw_rod_mesh c = mesh_of(&f);
    double worst = 0, from = 0;
    for (int i = rod->seg0; i < rod->seg0 + rod->nseg; i++) {
        const double to = m->seg_x[i], e = to > from ? snw_rod_mesh_error(&c, from, to) : 0;
        worst = snw_larger(worst, e);
        from = to;
    }
    snw_section_motion at = {.g = snw_se3_identity()};
    for (int i = 0; i < rod->ncell; i++) {
        const double e = snw_rod_mesh_quadrature(&c, rod->cell[i], rod->cell[i + 1], &at);
        worst = snw_larger(worst, e);
    }
    return worst;
}

int snw_rod_mesh_cells(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static,
                       double *cell) {
    field f = {.m = m, .rod = rod, .s = s, .is_static = is_static};
    const snw_rod_mesh c = mesh_of(&f);
    return snw_rod_mesh_march(&c, rod->nelem, rod->breaks, rod->least,
                              SNW_ROD_MESH_AIM * rod->tolerance, rod->room, cell);
}

snw_se3 snw_rod_pose(const snw_model *m, const snw_rod *rod, const snw_state *s, const snw_se3 *g,
                     double x) {
    field f = {.m = m, .rod = rod, .s = s, .is_static = true};
    int below = rod->root;
    double from = 0;
    for (int i = rod->seg0; i < rod->seg0 + rod->nseg && m->seg_x[i] <= x; i++) {
        below = i, from = m->seg_x[i];
    }
    if (x == from) return g[below];
    snw_twist xi[SNW_MAGNUS_POINTS];
    for (int k = 0; k < rod->nc; k++) {
        snw_twist at[3];
        mesh_error_strain_at(&f, from + rod->rule.c[k] * (x - from), 0.5 * (from + x), at);
        xi[k] = at[0];
    }
    return snw_se3_mul(g[below], snw_se3_exp(snw_rule_value(&rod->rule, x - from, xi)));
}
