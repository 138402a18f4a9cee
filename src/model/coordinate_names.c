// SPDX-License-Identifier: MIT
//
// Names of the coordinates of a model, for result files and the public API: link and coordinate of
// its joint, "hip.angle"; link, strain component and shape function, "arm.bend_y.0".
#include "model/model.h"

#include <string.h>

// "link.strain.k"; printf would take a tenth of the time of a row of a sweep.
static const char *function_name(snw_pool *pool, const char *link, const char *strain, int k) {
    const size_t a = strlen(link), b = strlen(strain);
    size_t digits = 1;
    for (int i = k; i >= 10; i /= 10) digits++;
    char *text = snw_pool_take(pool, a + b + digits + 3);
    if (!text) return NULL;
    memcpy(text, link, a);
    text[a] = text[a + 1 + b] = '.';
    memcpy(text + a + 1, strain, b);
    char *end = text + a + b + 2 + digits;
    *end = 0;
    for (size_t i = 0; i < digits; i++, k /= 10) *--end = (char)('0' + k % 10);
    return text;
}

// coordinates of the joint of link l
static void name_joint(const snw_model *m, int l, snw_pool *pool, const char **name) {
    static const char *const pose[7] = {"qw", "qx", "qy", "qz", "x", "y", "z"};
    const snw_link_desc *link = &m->desc->link[l];
    if (link->joint == SNW_JOINT_FIXED) return;
    const snw_block *b = &m->block[m->link_block[l]];
    int n = 0;
    const snw_joint_coordinate *c = snw_joint_coordinates(link->joint, &n);
    if (b->lie_block >= 0) n = b->n + 1;
    for (int k = 0; k < n; k++) {
        const char *coordinate = b->lie_block >= 0 ? pose[k] : c[k].name;
        name[b->q + k] = snw_pool_format(pool, "%s.%s", link->name, coordinate);
    }
}

static void name_rod(const snw_model *m, const snw_rod *rod, snw_pool *pool, const char **name) {
    const char *link = m->desc->link[rod->link].name;
    if (rod->feed >= 0) name[rod->feed_q] = snw_pool_format(pool, "%s.feed", link);
    for (int a = 0; a < rod->na; a++) {
        const char *strain = snw_rod_strain_name(rod, a);
        for (int k = 0; k < rod->nfun[a]; k++)
            name[rod->dof[a] + rod->shift + k] = function_name(pool, link, strain, k);
    }
}

const char **snw_coordinate_names(const snw_model *m, snw_pool *pool) {
    const char **name = snw_pool_array(pool, (size_t)m->nq + 1, sizeof *name);
    if (!name) return NULL;
    for (int l = 0; l < m->desc->nlink; l++) name_joint(m, l, pool, name);
    for (int i = 0; i < m->nrod; i++) name_rod(m, &m->rod[i], pool, name);
    for (int i = 0; i < m->nq; i++) {
        if (!name[i]) return NULL;
    }
    return name;
}
