// SPDX-License-Identifier: MIT
//
// part_number.h: numbers of options for parts of a model: NAME=VALUE and NAME=LOW..HIGH, in the
// units and parameters of the file.
#pragma once

#include "base/pool.h"
#include "cli/job.h"
#include "sinew/model.h"

// The file and the model of its run.
typedef struct snw_part_place {
    const snw_job *job;
    const snw_robot_model *model;
} snw_part_place;

// *out (*n) <- the texts of an option, of which NAME(k=1..3)=VALUE stands for the three
// NAME(1)=VALUE and so on, as lists of names do in model files. SNW_E_ARGUMENT: no such range.
SNW_NODISCARD snw_status snw_part_texts(const snw_args *args, const char *option, snw_pool *pool,
                                        int *n, const char *const **out, snw_error *err);
// *name, *value <- parts of NAME=VALUE in the pool; without '=', *value is NULL.
SNW_NODISCARD snw_status snw_part_split(snw_pool *pool, const char *text, char **name, char **value,
                                        snw_error *err);
// *out <- a number for the part `name`: a column, probe, input, actuator or component of a load.
// `per_second`: a rate of its quantity. SNW_E_ARGUMENT: it is not finite, or has another unit.
SNW_NODISCARD snw_status snw_part_number(const snw_part_place *at, const char *option,
                                         const char *name, const char *text, bool per_second,
                                         double *out, snw_error *err);
// *low, *high <- LOW..HIGH, where either may be missing and stays as it is; `range` is changed.
SNW_NODISCARD snw_status snw_part_range(const snw_part_place *at, const char *option,
                                        const char *name, char *range, double *low, double *high,
                                        snw_error *err);
// *out <- a time, s.
SNW_NODISCARD snw_status snw_part_time(const snw_job *job, const char *option, const char *text,
                                       double *out, snw_error *err);
