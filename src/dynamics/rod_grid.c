// SPDX-License-Identifier: MIT
//
// Motion, forces and tangent of rods on one Chebyshev grid, theory.md (3.1d) to (3.1f).
//
// At the m points j of a grid, with k = L (0, kappa)/2, and at a node with the weights r_j,
//   h_i = 1 + sum_j S_ij f_j,  f_j = h_j k_j,         at a node  h = 1 + sum_j r_j f_j,
//   rho_j = L R_j eps_j,  R_j of h_j/|h_j|,           at a node  p = sum_j r_j rho_j.
// Variations d and rates follow by the product rule; those of h solve the same linear system with
// other right-hand sides. With N = |h|^2 the body rotation is omega = 2 Im(conj(h) dh)/N, so that
// no normalisation is differentiated, and the body translation is R' dp. Rates are carried as
// values of three levels: value, first and second derivative by time.
//
// Wrenches (M, f) on the nodes go backward: phi_j = sum r_j 2 h M/N, psi_j = sum r_j R f over the
// nodes, Phi = L R' psi, m = eps x Phi, c = 2 h m/N + phi conj(k), lambda = phi + S' A^-T c; then
//   virtual work = sum_j Phi . d eps + <lambda, h dk>.
// Its second variation by b has, besides, at each point
//   <dh_a, 2 dh_b m/N + lambda conj(dk_b)> + <lambda, dh_b dk_a> + omega_a . (d eps_b x Phi - m
//   dN_b/N)
//   + (omega_a x eps + d eps_a) . (Phi x omega_b),
// and at each node <dh_a, 2 dh_b M/N> - omega_a . M dN_b/N + (R' dp_a) . (omega_b x f).
#include "dynamics/rod_grid.h"

#include "math/pose_grid.h"

#include <string.h>

enum { LEVELS = 3 };

// ---- three levels of small things ---------------------------------------------------------------

// level l of a product by Leibniz, with `times` and `plus` for its factors
#define LEIBNIZ(l, plus, times, zero)                                                              \
    ((l) == 0   ? plus(1, times(0, 0), zero)                                                       \
     : (l) == 1 ? plus(1, times(0, 1), plus(1, times(1, 0), zero))                                 \
                : plus(1, times(0, 2), plus(2, times(1, 1), plus(1, times(2, 0), zero))))

static snw_vec3 vec3_axpy(double s, snw_vec3 a, snw_vec3 b) { return snw_add(snw_scale(s, a), b); }

static snw_mat3 mat3_axpy(double s, snw_mat3 a, snw_mat3 b) {
    for (int i = 0; i < 9; i++) b.e[i / 3][i % 3] += s * a.e[i / 3][i % 3];
    return b;
}

// level l of h k, of R v, of R' v and of a x b
static snw_quat product_level(const snw_quat *h, const snw_quat *k, int l) {
    const snw_quat zero = {{0, 0, 0, 0}};
#define TIMES(a, b) snw_quat_mul(h[a], k[b])
    return LEIBNIZ(l, snw_quat_axpy, TIMES, zero);
#undef TIMES
}

static snw_vec3 rotate_level(const snw_mat3 *R, const snw_vec3 *v, int l) {
    const snw_vec3 zero = {{0, 0, 0}};
#define TIMES(a, b) snw_rotate(R[a], v[b])
    return LEIBNIZ(l, vec3_axpy, TIMES, zero);
#undef TIMES
}

static snw_vec3 rotate_back_level(const snw_mat3 *R, const snw_vec3 *v, int l) {
    const snw_vec3 zero = {{0, 0, 0}};
#define TIMES(a, b) snw_rotate_inv(R[a], v[b])
    return LEIBNIZ(l, vec3_axpy, TIMES, zero);
#undef TIMES
}

static snw_vec3 cross_level(const snw_vec3 *x, const snw_vec3 *y, int l) {
    const snw_vec3 zero = {{0, 0, 0}};
#define TIMES(a, b) snw_cross(x[a], y[b])
    return LEIBNIZ(l, vec3_axpy, TIMES, zero);
#undef TIMES
}

// symmetric bilinear form of the rotation matrix: R |h|^2 for a = b = h
static snw_mat3 rotation_form(snw_quat a, snw_quat b) {
    const double ww = a.w * b.w, xx = a.x * b.x, yy = a.y * b.y, zz = a.z * b.z;
    const double xy = a.x * b.y + a.y * b.x, yz = a.y * b.z + a.z * b.y, zx = a.z * b.x + a.x * b.z;
    const double wx = a.w * b.x + a.x * b.w, wy = a.w * b.y + a.y * b.w, wz = a.w * b.z + a.z * b.w;
    return (snw_mat3){{{ww + xx - yy - zz, xy - wz, zx + wy},
                       {xy + wz, ww - xx + yy - zz, yz - wx},
                       {zx - wy, yz + wx, ww - xx - yy + zz}}};
}

// f->N, f->R <- |h|^2 and rotation of the quaternion f->h
static void frame_rotation(int levels, snw_grid_frame *f) {
    const snw_mat3 zero = {{{0}}};
    for (int l = 0; l < levels; l++) {
#define TIMES(a, b) rotation_form(f->h[a], f->h[b])
        snw_mat3 Q = LEIBNIZ(l, mat3_axpy, TIMES, zero);
#undef TIMES
        f->N[l] = l == 0   ? snw_quat_dot(f->h[0], f->h[0])
                  : l == 1 ? 2 * snw_quat_dot(f->h[0], f->h[1])
                           : 2 * (snw_quat_dot(f->h[1], f->h[1]) + snw_quat_dot(f->h[0], f->h[2]));
        if (l > 0) Q = mat3_axpy(-l * f->N[1], f->R[l - 1], Q);
        if (l > 1) Q = mat3_axpy(-f->N[2], f->R[0], Q);
        f->R[l] = mat3_axpy(1 / f->N[0], Q, zero);
    }
}

// omega <- 2 Im(conj(h) dh)/N, the body rotation of the variation dh
static void frame_turn(const snw_grid_frame *f, const snw_quat *dh, int levels, snw_vec3 *omega) {
    const snw_quat zero = {{0, 0, 0, 0}};
    for (int l = 0; l < levels; l++) {
#define TIMES(a, b) snw_quat_mul(snw_quat_conj(f->h[a]), dh[b])
        snw_vec3 x = snw_scale(2, snw_quat_vector(LEIBNIZ(l, snw_quat_axpy, TIMES, zero)));
#undef TIMES
        if (l > 0) x = vec3_axpy(-l * f->N[1], omega[l - 1], x);
        if (l > 1) x = vec3_axpy(-f->N[2], omega[0], x);
        omega[l] = snw_scale(1 / f->N[0], x);
    }
}

// ---- motion -------------------------------------------------------------------------------------

// k, eps <- levels of k = L (0, kappa)/2 and of eps at the slice of a point
static void point_strain(double L, const snw_slice_work *s, int levels, snw_quat *k,
                         snw_vec3 *eps) {
    const snw_twist xi[LEVELS] = {s->xi[0], levels > 1 ? s->dxi[0] : s->xi[0],
                                  levels > 1 ? s->ddxi[0] : s->xi[0]};
    for (int l = 0; l < levels; l++) {
        k[l] = snw_quat_pure(snw_scale(0.5 * L, xi[l].w));
        eps[l] = xi[l].v;
    }
}

static void load_quat(const double *x, int ld, int c, snw_quat *out) {
    for (int e = 0; e < 4; e++) out->e[e] = x[e * ld + c];
}

static void store_quat(double *x, int ld, int c, snw_quat q) {
    for (int e = 0; e < 4; e++) x[e * ld + c] = q.e[e];
}

static snw_vec3 load_vec3(const double *x, int ld, int c) {
    return (snw_vec3){{x[c], x[ld + c], x[2 * ld + c]}};
}

static void store_vec3(double *x, int ld, int c, snw_vec3 v) {
    for (int e = 0; e < 3; e++) x[e * ld + c] = v.e[e];
}

// out_i <- sum_j S_ij in_j, blocks of `size` numbers
static void apply_rows(int m, const double *S, int size, const double *restrict in,
                       double *restrict out) {
    memset(out, 0, (size_t)m * (size_t)size * sizeof *out);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            const double s = S[i * m + j];
            const double *from = in + (ptrdiff_t)j * size;
            double *to = out + (ptrdiff_t)i * size;
            for (int e = 0; e < size; e++) to[e] += s * from[e];
        }
    }
}

static void grid_motion(const snw_model *m, const snw_rod_grid *g, int levels, snw_work *w) {
    const int n = g->n;
    const double L = m->rod[g->rod].L;
    snw_grid_point_work *p = w->grid_point + g->point0;
    snw_quat k[SNW_GRID_MOST][LEVELS], k0[SNW_GRID_MOST], b[SNW_GRID_MOST], y[SNW_GRID_MOST];
    snw_vec3 eps[LEVELS];
    for (int j = 0; j < n; j++) {
        point_strain(L, &w->slice[g->slice[j]], levels, k[j], eps);
        k0[j] = k[j][0];
    }
    snw_quat *a = w->grid_factor + g->factor;
    // a grid that is too coarse gives numbers that are not finite, which solvers refuse
    (void)snw_grid_factor(n, g->S, k0, a, w->grid_pivot + g->point0);
    for (int l = 0; l < levels; l++) {
        // level l of sum h k without h_l k_0
        for (int j = 0; j < n; j++) {
            p[j].at.h[l] = (snw_quat){{0, 0, 0, 0}};
            b[j] = product_level(p[j].at.h, k[j], l);
        }
        apply_rows(n, g->S, 4, (const double *)(const void *)b, (double *)(void *)y);
        for (int j = 0; j < n && l == 0; j++) y[j] = snw_quat_identity();
        snw_grid_solve(n, a, w->grid_pivot + g->point0, 1, (double *)(void *)y);
        for (int j = 0; j < n; j++) p[j].at.h[l] = y[j];
    }
    for (int j = 0; j < n; j++) {
        point_strain(L, &w->slice[g->slice[j]], levels, k[j], eps);
        p[j].kappa = w->slice[g->slice[j]].xi[0].w;
        frame_rotation(levels, &p[j].at);
        for (int l = 0; l < levels; l++) {
            p[j].f[l] = product_level(p[j].at.h, k[j], l);
            p[j].rho[l] = snw_scale(L, rotate_level(p[j].at.R, eps, l));
        }
    }
}

void snw_rod_grids_motion(const snw_model *m, bool is_static, snw_work *w) {
    for (int k = 0; k < m->ngrid; k++) grid_motion(m, &m->grid[k], is_static ? 1 : LEVELS, w);
}

// weights of the points in the integral up to the end of a slice: behind its shape functions
static const double *slice_row(const snw_model *m, const snw_slice *sl) {
    return m->phi + sl->phi + sl->ncol;
}

static const snw_rod_grid *grid_of(const snw_model *m, const snw_slice *sl) {
    return &m->grid[m->rod[sl->rod].grid - 1];
}

void snw_rod_grid_node(const snw_model *m, int i, bool is_static, snw_work *w, snw_se3 *h,
                       snw_twist *u, snw_twist *du) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod_grid *g = grid_of(m, sl);
    const snw_grid_point_work *p = w->grid_point + g->point0;
    const double *row = slice_row(m, sl);
    const int levels = is_static ? 1 : LEVELS;
    snw_grid_frame *at = &w->grid_node[i];
    snw_vec3 x[LEVELS], omega[LEVELS];
    snw_vec3 turn = {{0, 0, 0}};
    for (int l = 0; l < levels; l++) {
        at->h[l] = (snw_quat){{l == 0, 0, 0, 0}};
        x[l] = (snw_vec3){{0, 0, 0}};
        for (int j = 0; j < g->n; j++) {
            at->h[l] = snw_quat_axpy(row[j], p[j].f[l], at->h[l]);
            x[l] = vec3_axpy(row[j], p[j].rho[l], x[l]);
        }
    }
    for (int j = 0; j < g->n; j++) turn = vec3_axpy(m->rod[sl->rod].L * row[j], p[j].kappa, turn);
    frame_rotation(levels, at);
    *h = (snw_se3){at->R[0], x[0]};
    *u = *du = (snw_twist){0};
    w->slice[i].W = (snw_twist){{.w = turn}}; // by how much the section turns, for probes
    if (is_static) return;
    // of the motion itself, dh = h': conj(h') h' is real
    const snw_quat dh[2] = {at->h[1], at->h[2]};
    frame_turn(at, dh, 2, omega);
    u->w = omega[0];
    u->v = snw_rotate_inv(at->R[0], x[1]);
    du->w = omega[1];
    du->v = rotate_back_level(at->R, x + 1, 1);
}

// ---- forces -------------------------------------------------------------------------------------

void snw_rod_grid_pull(const snw_model *m, int k, snw_work *w) {
    const snw_rod_grid *g = &m->grid[k];
    const snw_rod *rod = &m->rod[g->rod];
    const int n = g->n;
    snw_grid_point_work *p = w->grid_point + g->point0;
    snw_quat c[SNW_GRID_MOST];
    snw_vec3 psi[SNW_GRID_MOST];
    for (int j = 0; j < n; j++) {
        p[j].lambda = (snw_quat){{0, 0, 0, 0}};
        psi[j] = (snw_vec3){{0, 0, 0}};
    }
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        const snw_slice *sl = &m->slice[m->seg[s].item];
        const snw_grid_frame *at = &w->grid_node[m->seg[s].item];
        const double *row = slice_row(m, sl);
        const snw_quat M = snw_quat_mul(at->h[0], snw_quat_pure(w->F[s].m));
        const snw_vec3 f = snw_rotate(at->R[0], w->F[s].f);
        for (int j = 0; j < n; j++) {
            p[j].lambda = snw_quat_axpy(2 * row[j] / at->N[0], M, p[j].lambda);
            psi[j] = vec3_axpy(row[j], f, psi[j]);
        }
    }
    for (int j = 0; j < n; j++) {
        const snw_twist xi = w->slice[g->slice[j]].xi[0];
        const snw_quat kj = snw_quat_pure(snw_scale(0.5 * rod->L, xi.w));
        p[j].pull.f = snw_scale(rod->L, snw_rotate_inv(p[j].at.R[0], psi[j]));
        const snw_quat moment = snw_quat_pure(snw_cross(xi.v, p[j].pull.f));
        c[j] = snw_quat_axpy(2 / p[j].at.N[0], snw_quat_mul(p[j].at.h[0], moment),
                             snw_quat_mul(p[j].lambda, snw_quat_conj(kj)));
    }
    snw_grid_solve_transposed(n, w->grid_factor + g->factor, w->grid_pivot + g->point0, c);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) p[j].lambda = snw_quat_axpy(g->S[i * n + j], c[i], p[j].lambda);
        p[j].pull.m = snw_scale(
            0.5 * rod->L, snw_quat_vector(snw_quat_mul(snw_quat_conj(p[j].at.h[0]), p[j].lambda)));
    }
}

void snw_rod_grids_project(const snw_model *m, snw_work *w, double *r) {
    for (int k = 0; k < m->ngrid; k++) {
        const snw_rod_grid *g = &m->grid[k];
        const snw_rod *rod = &m->rod[g->rod];
        snw_rod_grid_pull(m, k, w);
        for (int j = 0; j < g->n; j++) {
            const snw_slice *sl = &m->slice[g->slice[j]];
            const double *phi = m->phi + sl->phi;
            for (int a = 0; a < rod->na; a++) {
                const double f = w->grid_point[g->point0 + j].pull.e[rod->comp[a]];
                double *to = r + rod->dof[a] + sl->first[a];
                for (int i = 0; i < sl->count[a]; i++) to[i] += phi[i] * f;
                phi += sl->count[a];
            }
        }
    }
}

double snw_rod_grids_given_power(const snw_model *m, const snw_inputs *in, const snw_work *w) {
    double power = 0;
    for (int k = 0; k < m->ngrid; k++) {
        const snw_rod_grid *g = &m->grid[k];
        for (int j = 0; j < g->n; j++) {
            const int field = m->slice[g->slice[j]].field;
            if (field >= 0) power += snw_power(w->grid_point[g->point0 + j].pull, in->dxi[field]);
        }
    }
    return power;
}

// ---- tangent ------------------------------------------------------------------------------------

// Columns of grid g in w->grid_column, each with nd numbers per component: dh (4), f (4), rho (3)
// and omega (3) of each point, level by level.
typedef struct grid_columns {
    int nd;
    double *h[LEVELS], *f[LEVELS], *rho[LEVELS], *omega[LEVELS], *rhs;
} grid_columns;

static grid_columns columns_of(const snw_model *m, const snw_rod_grid *g, const snw_work *w) {
    const int nd = m->rod[g->rod].ndof;
    const size_t size = (size_t)g->n * (size_t)nd;
    grid_columns c = {.nd = nd};
    double *at = w->grid_column + g->column;
    for (int l = 0; l < LEVELS; l++) {
        c.h[l] = at, at += 4 * size;
        c.f[l] = at, at += 4 * size;
        c.rho[l] = at, at += 3 * size;
        c.omega[l] = at, at += 3 * size;
    }
    c.rhs = at;
    return c;
}

// component and value of the shape function of each coordinate of the rod at a point
typedef struct shape_column {
    int component;
    double phi;
} shape_column;

static void point_shapes(const snw_model *m, const snw_rod *rod, int slice, shape_column *out) {
    const snw_slice *sl = &m->slice[slice];
    const double *phi = m->phi + sl->phi;
    for (int a = 0; a < rod->na; a++) {
        for (int i = 0; i < sl->count[a]; i++)
            out[rod->dof[a] - rod->dof0 + sl->first[a] + i] = (shape_column){rod->comp[a], *phi++};
    }
}

// strain of one coordinate: dk, deps
static void shape_strain(double L, shape_column s, snw_quat *dk, snw_vec3 *deps) {
    *dk = (snw_quat){{0, 0, 0, 0}};
    *deps = (snw_vec3){{0, 0, 0}};
    if (s.component < 3) {
        dk->e[1 + s.component] = 0.5 * L * s.phi;
    } else {
        deps->e[s.component - 3] = s.phi;
    }
}

// c->h of level l: the solution of A dh = S (level l of dh k + h dk, without dh_l k_0)
static void solve_level(const snw_model *m, const snw_rod_grid *g, int l, const grid_columns *c,
                        const snw_work *w) {
    const snw_rod *rod = &m->rod[g->rod];
    const snw_grid_point_work *p = w->grid_point + g->point0;
    shape_column shape[SNW_GRID_COLUMNS];
    for (int j = 0; j < g->n; j++) {
        const ptrdiff_t at = (ptrdiff_t)4 * j * c->nd;
        snw_quat k[LEVELS], dk;
        snw_vec3 eps[LEVELS], deps;
        point_strain(rod->L, &w->slice[g->slice[j]], l + 1 > 1 ? LEVELS : 1, k, eps);
        point_shapes(m, rod, g->slice[j], shape);
        for (int a = 0; a < c->nd; a++) {
            snw_quat dh[LEVELS] = {0};
            for (int i = 0; i < l; i++) load_quat(c->h[i] + at, c->nd, a, &dh[i]);
            shape_strain(rod->L, shape[a], &dk, &deps);
            const snw_quat b =
                snw_quat_axpy(1, product_level(dh, k, l), snw_quat_mul(p[j].at.h[l], dk));
            store_quat(c->rhs + at, c->nd, a, b);
        }
    }
    apply_rows(g->n, g->S, 4 * c->nd, c->rhs, c->h[l]);
    snw_grid_solve(g->n, w->grid_factor + g->factor, w->grid_pivot + g->point0, c->nd, c->h[l]);
}

// the columns that follow from those of h at point j
static void point_columns(const snw_model *m, const snw_rod_grid *g, int j, int levels,
                          const grid_columns *c, const snw_work *w) {
    const snw_rod *rod = &m->rod[g->rod];
    const snw_grid_point_work *p = w->grid_point + g->point0 + j;
    const ptrdiff_t four = (ptrdiff_t)4 * j * c->nd, three = (ptrdiff_t)3 * j * c->nd;
    shape_column shape[SNW_GRID_COLUMNS];
    snw_quat k[LEVELS], dk, dh[LEVELS];
    snw_vec3 eps[LEVELS], deps, omega[LEVELS], along[LEVELS];
    point_strain(rod->L, &w->slice[g->slice[j]], levels, k, eps);
    point_shapes(m, rod, g->slice[j], shape);
    for (int a = 0; a < c->nd; a++) {
        shape_strain(rod->L, shape[a], &dk, &deps);
        for (int l = 0; l < levels; l++) load_quat(c->h[l] + four, c->nd, a, &dh[l]);
        frame_turn(&p->at, dh, levels, omega);
        for (int l = 0; l < levels; l++) {
            along[l] = cross_level(omega, eps, l);
            if (l == 0) along[l] = snw_add(along[l], deps);
            const snw_quat f =
                snw_quat_axpy(1, product_level(dh, k, l), snw_quat_mul(p->at.h[l], dk));
            const snw_vec3 rho = snw_scale(rod->L, rotate_level(p->at.R, along, l));
            store_quat(c->f[l] + four, c->nd, a, f);
            store_vec3(c->rho[l] + three, c->nd, a, rho);
            store_vec3(c->omega[l] + three, c->nd, a, omega[l]);
        }
    }
}

// K += the part of point j in the second variation of the virtual work
static void point_curvature(const snw_model *m, const snw_rod_grid *g, int j, const grid_columns *c,
                            const snw_work *w, double *K) {
    const snw_rod *rod = &m->rod[g->rod];
    const snw_grid_point_work *p = w->grid_point + g->point0 + j;
    const snw_vec3 eps = w->slice[g->slice[j]].xi[0].v, Phi = p->pull.f;
    const snw_vec3 moment = snw_cross(eps, Phi);
    const int nd = c->nd;
    const double *h = c->h[0] + (ptrdiff_t)4 * j * nd, *turn = c->omega[0] + (ptrdiff_t)3 * j * nd;
    const double scale = 1 / p->at.N[0];
    shape_column shape[SNW_GRID_COLUMNS];
    point_shapes(m, rod, g->slice[j], shape);
    for (int b = 0; b < nd; b++) {
        snw_quat dk, dh;
        snw_vec3 deps;
        load_quat(h, nd, b, &dh);
        shape_strain(rod->L, shape[b], &dk, &deps);
        const snw_vec3 omega = load_vec3(turn, nd, b);
        const snw_quat X = snw_quat_axpy(2 * scale, snw_quat_mul(dh, snw_quat_pure(moment)),
                                         snw_quat_mul(p->lambda, snw_quat_conj(dk)));
        const snw_vec3 Z = snw_cross(Phi, omega);
        // of omega_a, that in omega_a x eps included
        const snw_vec3 Y = snw_add(
            vec3_axpy(-2 * scale * snw_quat_dot(p->at.h[0], dh), moment, snw_cross(deps, Phi)),
            snw_cross(eps, Z));
        const snw_vec3 T =
            snw_scale(0.5 * rod->L, snw_quat_vector(snw_quat_mul(snw_quat_conj(dh), p->lambda)));
        for (int a = 0; a < nd; a++) {
            const shape_column s = shape[a];
            const double own = s.component < 3 ? T.e[s.component] : Z.e[s.component - 3];
            K[a * nd + b] += h[a] * X.w + h[nd + a] * X.x + h[2 * nd + a] * X.y +
                             h[3 * nd + a] * X.z + turn[a] * Y.x + turn[nd + a] * Y.y +
                             turn[2 * nd + a] * Y.z + s.phi * own;
        }
    }
}

void snw_rod_grids_columns(const snw_model *m, bool curvature, snw_work *w) {
    const int levels = w->is_static ? 1 : LEVELS;
    for (int k = 0; k < m->ngrid; k++) {
        const snw_rod_grid *g = &m->grid[k];
        const grid_columns c = columns_of(m, g, w);
        if (c.nd == 0) continue;
        for (int l = 0; l < levels; l++) solve_level(m, g, l, &c, w);
        for (int j = 0; j < g->n; j++) point_columns(m, g, j, levels, &c, w);
        if (!curvature) continue;
        snw_rod_grid_pull(m, k, w); // by the present w->F
        double *K = w->K + m->rod[g->rod].own_store;
        for (int j = 0; j < g->n; j++) point_curvature(m, g, j, &c, w, K);
    }
}

// out (size) <- sum over the points of row_j x_j
static void weigh(int n, const double *row, int size, const double *restrict x,
                  double *restrict out) {
    memset(out, 0, (size_t)size * sizeof *out);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < size; i++) out[i] += row[j] * x[(ptrdiff_t)j * size + i];
    }
}

// K += the part of a node in the second variation, from its columns dh, omega and v = R' dp
static void node_curvature(int nd, const snw_grid_frame *at, snw_wrench F, const double *h, int ld,
                           const double *S, int ldk, double *K) {
    const double scale = 1 / at->N[0];
    for (int b = 0; b < nd; b++) {
        snw_quat dh;
        load_quat(h, nd, b, &dh);
        const snw_quat X = snw_quat_mul(dh, snw_quat_pure(snw_scale(2 * scale, F.m)));
        const snw_vec3 Y = snw_scale(-2 * scale * snw_quat_dot(at->h[0], dh), F.m);
        const snw_vec3 Z = snw_cross(load_vec3(S, ld, b), F.f);
        for (int a = 0; a < nd; a++) {
            K[a * ldk + b] += h[a] * X.w + h[nd + a] * X.x + h[2 * nd + a] * X.y +
                              h[3 * nd + a] * X.z + S[a] * Y.x + S[ld + a] * Y.y +
                              S[2 * ld + a] * Y.z + S[3 * ld + a] * Z.x + S[4 * ld + a] * Z.y +
                              S[5 * ld + a] * Z.z;
        }
    }
}

void snw_rod_grid_jacobian(const snw_model *m, int i, int ld, const snw_wrench *F, snw_work *w,
                           snw_slice_jacobian to) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod_grid *g = grid_of(m, sl);
    const snw_grid_frame *at = &w->grid_node[i];
    const grid_columns c = columns_of(m, g, w);
    const int nd = c.nd, levels = w->is_static ? 1 : LEVELS;
    const double *row = slice_row(m, sl);
    double *const J[LEVELS] = {to.J, to.dJ, to.ddJ}, *h[LEVELS], *x[LEVELS];
    for (int l = 0; l < levels; l++) {
        h[l] = c.rhs + (ptrdiff_t)7 * l * nd;
        x[l] = h[l] + (ptrdiff_t)4 * nd;
        weigh(g->n, row, 4 * nd, c.f[l], h[l]);
        weigh(g->n, row, 3 * nd, c.rho[l], x[l]);
    }
    for (int a = 0; a < nd; a++) {
        snw_quat dh[LEVELS];
        snw_vec3 dp[LEVELS], omega[LEVELS];
        for (int l = 0; l < levels; l++) {
            load_quat(h[l], nd, a, &dh[l]);
            dp[l] = load_vec3(x[l], nd, a);
        }
        frame_turn(at, dh, levels, omega);
        for (int l = 0; l < levels; l++) {
            const snw_vec3 v = rotate_back_level(at->R, dp, l);
            for (int e = 0; e < 3; e++) {
                J[l][e * ld + a] += omega[l].e[e];
                J[l][(3 + e) * ld + a] += v.e[e];
                if (l == 0 && to.S) to.S[e * ld + a] = omega[l].e[e];
                if (l == 0 && to.S) to.S[(3 + e) * ld + a] = v.e[e];
            }
        }
    }
    if (F) node_curvature(nd, at, *F, h[0], ld, to.S ? to.S : to.J, to.ldk, to.K);
}
