// SPDX-License-Identifier: MIT
//
// Fields of a frame of results: names, widths, and their numbers. Independent of HDF5.
#include "results/result.h"

#include "base/fail.h"

#include <string.h>

const char *const snw_energy_name[SNW_ENERGIES] = {
#define X(name) #name,
    SNW_ENERGY_LIST(X)
#undef X
};

const char *const snw_stats_name[SNW_STATS] = {
#define X(name, meaning) #name,
    SNW_STATS_LIST(X)
#undef X
};

const char *snw_result_field_name(snw_result_field field) {
    static const char *const names[] = {
#define X(id, name, meaning) name,
        SNW_RESULT_FIELDS(X)
#undef X
    };
    SNW_ASSERT((int)field >= 0 && field < SNW_RESULT_NFIELD);
    return names[field];
}

const char *snw_result_state_name(snw_result_state state) {
    switch (state) {
#define X(id, word)                                                                                \
    case id:                                                                                       \
        return word;
        SNW_RESULT_STATES(X)
#undef X
    }
    return "unknown";
}

size_t snw_result_width(const snw_run_info *info, snw_result_field field) {
    switch (field) {
    case SNW_RESULT_T:
    case SNW_RESULT_STAGE:
        return 1;
    case SNW_RESULT_Q:
        return (size_t)info->nq;
    case SNW_RESULT_V:
        return (size_t)info->nv;
    case SNW_RESULT_POSE:
        return (size_t)info->nnode * SNW_RESULT_POSE_WIDTH;
    case SNW_RESULT_COLUMNS:
        return (size_t)info->ncolumn;
    case SNW_RESULT_ENERGY:
        return SNW_ENERGIES;
    case SNW_RESULT_STATS:
        return SNW_STATS;
    case SNW_RESULT_LOAD:
        return 6 * (size_t)info->nload;
    case SNW_RESULT_LOOP:
        return 6 * (size_t)info->nloop;
    case SNW_RESULT_CONTACT:
        return 6 * (size_t)info->ncontact;
    case SNW_RESULT_EFFORT:
        return (size_t)info->ntendon;
    case SNW_RESULT_PRESENT:
        return (size_t)info->ncondition;
    case SNW_RESULT_FORCE_FIELD:
        return 3 * (size_t)info->nforce_field_point;
    case SNW_RESULT_FOLD:
        return (size_t)info->nfold;
    case SNW_RESULT_NFIELD:
        break;
    }
    return 0;
}

void snw_result_rows(const snw_frame *f, const size_t width[SNW_RESULT_NFIELD],
                     double *const row[SNW_RESULT_NFIELD]) {
    const double t = f->t, stage = f->stage;
    const void *const source[SNW_RESULT_NFIELD] = {
        [SNW_RESULT_T] = &t,
        [SNW_RESULT_STAGE] = &stage,
        [SNW_RESULT_Q] = f->q,
        [SNW_RESULT_V] = f->v,
        [SNW_RESULT_COLUMNS] = f->column,
        [SNW_RESULT_ENERGY] = &f->energy,
        [SNW_RESULT_STATS] = &f->stats,
        [SNW_RESULT_LOAD] = f->load,
        [SNW_RESULT_LOOP] = f->loop,
        [SNW_RESULT_CONTACT] = f->contact,
        [SNW_RESULT_EFFORT] = f->effort,
        [SNW_RESULT_PRESENT] = f->present,
        [SNW_RESULT_FORCE_FIELD] = f->field,
        [SNW_RESULT_FOLD] = f->fold,
    };
    for (int i = 0; i < SNW_RESULT_NFIELD; i++) {
        if (source[i] && width[i] > 0) memcpy(row[i], source[i], width[i] * sizeof **row);
    }
    const size_t nnode = width[SNW_RESULT_POSE] / SNW_RESULT_POSE_WIDTH;
    for (size_t i = 0; i < nnode; i++) {
        snw_frame_pose(&f->pose[i], row[SNW_RESULT_POSE] + i * SNW_RESULT_POSE_WIDTH);
    }
}
