// SPDX-License-Identifier: MIT
//
// Rows of a sweep for the page: those of the chart and those with robots.
#include "cli/view_sweep.h"

#include "base/fail.h"
#include "cli/stop.h"
#include "sweep/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Robots that are computed unless --rows names them; most of them; rows of the chart.
enum { ROBOTS = 24, MOST_ROBOTS = 200, CHART = 2000 };

static const size_t POOL_LIMIT = (size_t)8 << 30;

static int compare_rows(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// v->robot <- rows of --rows: "3,17,40-43"
static snw_status read_rows(snw_view_sweep *v, const char *text, snw_error *err) {
    for (const char *p = text; *p;) {
        long long first = 0, last = 0;
        int used = 0;
        if (sscanf(p, "%lld%n", &first, &used) != 1) break;
        p += used;
        last = first;
        if (*p == '-') {
            if (sscanf(p + 1, "%lld%n", &last, &used) != 1) break;
            p += 1 + used;
        }
        if (first < 0 || last < first || last >= v->table.head.rows)
            return snw_fail(err, SNW_E_ARGUMENT, "--rows %.60s: the rows are 0 to %lld", text,
                            (long long)v->table.head.rows - 1);
        for (long long i = first; i <= last; i++) {
            if (v->nrobot == MOST_ROBOTS)
                return snw_fail(err, SNW_E_ARGUMENT, "--rows %.60s: at most %d rows have robots",
                                text, MOST_ROBOTS);
            v->robot[v->nrobot++] = i;
        }
        if (!*p) break;
        if (*p++ != ',' || !*p)
            return snw_fail(err, SNW_E_ARGUMENT, "--rows %.60s: rows are listed as 3,17,40-43",
                            text);
    }
    if (v->nrobot == 0)
        return snw_fail(err, SNW_E_ARGUMENT, "--rows %.60s: rows are listed as 3,17,40-43", text);
    qsort(v->robot, (size_t)v->nrobot, sizeof *v->robot, compare_rows);
    int n = 1;
    for (int i = 1; i < v->nrobot; i++) {
        if (v->robot[i] != v->robot[n - 1]) v->robot[n++] = v->robot[i];
    }
    v->nrobot = n;
    return SNW_OK;
}

// Rows of the chart: all, or those with robots and others at even distances; they rise.
static snw_status choose_chart(snw_view_sweep *v, snw_error *err) {
    const int64_t rows = v->table.head.rows;
    int64_t *row = snw_pool_array(v->pool, CHART + MOST_ROBOTS, sizeof *row);
    int *run = snw_pool_array(v->pool, CHART + MOST_ROBOTS, sizeof *run);
    if (!row || !run) return snw_fail_memory(err);
    int n = 0;
    const int64_t some = rows < CHART ? rows : CHART;
    for (int64_t i = 0, k = 0; i < some || k < v->nrobot;) {
        const int64_t next = i < some ? i * rows / some : rows;
        const bool robot = k < v->nrobot && v->robot[k] <= next;
        row[n] = robot ? v->robot[k] : next;
        run[n++] = robot ? (int)k : -1;
        if (!robot || v->robot[k] == next) i++;
        k += robot;
    }
    v->page = (snw_page_sweep){.table = &v->table, .n = n, .row = row, .run = run};
    return SNW_OK;
}

static snw_status compute_robots(snw_view_sweep *v, const char *path, snw_result **file,
                                 snw_error *err) {
    const char *folder = getenv("TMPDIR");
    char name[512];
    (void)snprintf(name, sizeof name, "%.400s/sinew_rows_XXXXXX",
                   folder && *folder ? folder : "/tmp");
    const int fd = mkstemp(name);
    if (fd < 0) return snw_fail(err, SNW_E_IO, "no temporary file can be written in '%s'", name);
    (void)close(fd);
    (void)unlink(name);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    snw_stop_defer();
    snw_stop_unfinished(name);
    snw_status s =
        snw_sweep_show_write(&v->table, path, v->nrobot, v->robot,
                             processors > 1 ? (int)processors : 1, snw_stop_hook, NULL, name, err);
    if (s == SNW_OK) s = snw_result_open(name, file, err);
    (void)unlink(name); // it is open
    snw_stop_unfinished(NULL);
    return s;
}

snw_status snw_view_sweep_open(snw_view_sweep *v, const char *path, const snw_args *args,
                               snw_result **file, snw_error *err) {
    v->pool = snw_pool_create(POOL_LIMIT);
    if (!v->pool) return snw_fail_memory(err);
    SNW_TRY(snw_sweep_table_read(path, v->pool, &v->table, err));
    v->robot = snw_pool_array(v->pool, MOST_ROBOTS, sizeof *v->robot);
    if (!v->robot) return snw_fail_memory(err);
    const char *rows = snw_args_value(args, "rows");
    if (rows) SNW_TRY(read_rows(v, rows, err));
    if (!rows) v->nrobot = snw_sweep_show_choose(&v->table, ROBOTS, v->robot);
    if (v->nrobot == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "no row of the sweep is done, so there is no robot to show; see 'sinew "
                        "sweep %.100s'",
                        path);
    SNW_TRY(choose_chart(v, err));
    return compute_robots(v, path, file, err);
}

void snw_view_sweep_close(snw_view_sweep *v) { snw_pool_destroy(v->pool); }
