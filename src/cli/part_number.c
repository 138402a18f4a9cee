// SPDX-License-Identifier: MIT
//
// Numbers of options for parts of a model.
#include "cli/part_number.h"

#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// SI unit of a component of a load, "push.fy"; NULL: it is none
static const char *unit_of_load(const snw_robot_model *m, const char *name) {
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < snw_robot_model_parts(m, SNW_PART_LOAD); i++) {
        snw_part load;
        if (snw_robot_model_part(m, SNW_PART_LOAD, i, &load) != SNW_OK) continue;
        const size_t size = strlen(load.name);
        if (size != (size_t)(dot - name) || strncmp(load.name, name, size) != 0) continue;
        const bool along = strcmp(load.type, "distributed") == 0;
        return dot[1] == 't' ? (along ? "N" : "N*m") : (along ? "N/m" : "N");
    }
    return NULL;
}

// SI unit of a column, probe, input or actuator; NULL: there is none of that name, or several units
static const char *unit_of(const snw_robot_model *m, const char *name, bool *angle) {
    static const snw_part_kind kind[] = {SNW_PART_COLUMN, SNW_PART_PROBE, SNW_PART_INPUT,
                                         SNW_PART_ACTUATOR};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        snw_part part;
        const int i = snw_robot_model_find(m, kind[k], name);
        if (i < 0 || snw_robot_model_part(m, kind[k], i, &part) != SNW_OK) continue;
        *angle = kind[k] == SNW_PART_COLUMN && part.unit[0] == 0;
        return part.unit[0] || *angle ? part.unit : NULL;
    }
    return unit_of_load(m, name);
}

snw_status snw_part_number(const snw_part_place *at, const char *option, const char *name,
                           const char *text, bool per_second, double *out, snw_error *err) {
    snw_quantity_read q = {0}, unit = {0};
    const int run = at->job->run[0].index;
    SNW_TRY(snw_document_evaluate(at->job->document, run, text, option, &q, err));
    *out = q.value;
    if (!isfinite(q.value))
        return snw_fail(err, SNW_E_ARGUMENT, "%s: '%.60s' is not a finite number", option, text);
    bool angle = false;
    const char *own = unit_of(at->model, name, &angle);
    char of_file[48];
    double value;
    snw_error none;
    if (!own && snw_robot_model_value(at->model, name, &value, of_file, &none) == SNW_OK)
        own = of_file;
    if (!q.unit[0] || !own || (angle && strcmp(q.unit, "rad") == 0)) return SNW_OK;
    char one[80];
    (void)snprintf(one, sizeof one, "1 %.40s%s", own[0] ? own : "", per_second ? "/s" : "");
    SNW_TRY(snw_document_evaluate(at->job->document, run, one, option, &unit, err));
    if (strcmp(unit.unit, q.unit) == 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "%s: '%.60s' of '%.60s' is in %s, expected %s", option,
                    text, name, q.unit, own[0] ? one + 2 : "a plain number");
}

// The range "(k=1..3)" in a name: its bounds, where it begins and ends; false: there is none.
static bool index_range(const char *text, int *first, int *last, const char **from,
                        const char **to) {
    const char *equals = strchr(text, '='), *open = strchr(text, '(');
    if (!open || !equals || equals < open) return false;
    const size_t name = strspn(open + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    int used = 0;
    if (name == 0 || open + 1 + name != equals) return false;
    if (sscanf(equals + 1, "%d..%d)%n", first, last, &used) != 2 || used == 0) return false;
    *from = open + 1;
    *to = equals + used;
    return true;
}

snw_status snw_part_texts(const snw_args *args, const char *option, snw_pool *pool, int *n,
                          const char *const **out, snw_error *err) {
    enum { MOST_NAMES = 10000 };
    const char *const *given = NULL, *from, *to;
    const int ngiven = snw_args_values(args, option, &given);
    int first, last;
    size_t all = (size_t)ngiven;
    for (int i = 0; i < ngiven; i++) {
        if (!index_range(given[i], &first, &last, &from, &to)) continue;
        if (last < first || last >= first + (long long)MOST_NAMES)
            return snw_fail(err, SNW_E_ARGUMENT, "--%s: '%.60s' has no names, or more than %d",
                            option, given[i], MOST_NAMES);
        all += (size_t)(last - first);
    }
    const char **list = snw_pool_array(pool, all + 1, sizeof *list);
    if (!list) return snw_fail_memory(err);
    *n = 0;
    for (int i = 0; i < ngiven; i++) {
        if (!index_range(given[i], &first, &last, &from, &to)) {
            list[(*n)++] = given[i];
            continue;
        }
        for (int k = first; k <= last; k++) {
            list[*n] = snw_pool_format(pool, "%.*s%d%s", (int)(from - given[i]), given[i], k, to);
            if (!list[(*n)++]) return snw_fail_memory(err);
        }
    }
    *out = list;
    return SNW_OK;
}

snw_status snw_part_split(snw_pool *pool, const char *text, char **name, char **value,
                          snw_error *err) {
    *name = snw_pool_text(pool, text, strlen(text));
    if (!*name) return snw_fail_memory(err);
    *value = strchr(*name, '=');
    if (*value) *(*value)++ = 0;
    return SNW_OK;
}

snw_status snw_part_range(const snw_part_place *at, const char *option, const char *name,
                          char *range, double *low, double *high, snw_error *err) {
    char *end = strstr(range, "..");
    if (!end)
        return snw_fail(err, SNW_E_ARGUMENT, "%s takes NAME=LOW..HIGH, got '%.60s=%.60s'", option,
                        name, range);
    *end = 0;
    end += 2;
    if (range[0]) SNW_TRY(snw_part_number(at, option, name, range, false, low, err));
    return end[0] ? snw_part_number(at, option, name, end, false, high, err) : SNW_OK;
}

snw_status snw_part_time(const snw_job *job, const char *option, const char *text, double *out,
                         snw_error *err) {
    snw_quantity_read q = {0};
    char place[40];
    (void)snprintf(place, sizeof place, "--%s", option);
    SNW_TRY(snw_document_evaluate(job->document, job->run[0].index, text, place, &q, err));
    if (q.unit[0] && strcmp(q.unit, "s") != 0)
        return snw_fail(err, SNW_E_ARGUMENT, "--%s is a time, got '%.60s' in %s", option, text,
                        q.unit);
    *out = q.value;
    return SNW_OK;
}
