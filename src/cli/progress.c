// SPDX-License-Identifier: MIT
//
// Progress line on the terminal.
#include "cli/progress.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double first_delay = 0.3,
                    interval = 0.1; // s: before the first update, between updates

snw_meter snw_meter_start(int nrun, bool quiet) {
    const char *terminal = getenv("TERM");
    const bool dumb = !terminal || !strcmp(terminal, "dumb");
    snw_meter m = {
        .on = !quiet && !dumb && isatty(STDERR_FILENO), .nrun = nrun, .start = snw_clock_seconds()};
    m.next = m.start + first_delay;
    return m;
}

void snw_meter_run(snw_meter *m, int run, const char *name) {
    m->run = run;
    m->name = name;
}

void snw_duration_text(double s, char *out, size_t size) {
    const long whole = s < 0 ? 0 : s > 1e8 ? 100000000 : (long)(s + 0.5);
    if (whole < 3600) {
        (void)snprintf(out, size, "%ld:%02ld", whole / 60, whole % 60);
    } else {
        (void)snprintf(out, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    }
}

// is it time for an update?
static bool is_due(snw_meter *m, double time) {
    if (time < m->next) return false;
    m->next = time + interval;
    return true;
}

static void draw(snw_meter *m, const char *line) {
    (void)fprintf(stderr, "\r%s\033[K", line);
    (void)fflush(stderr);
    m->drawn = true;
}

void snw_meter_text(snw_meter *m, const char *text) {
    if (m->on && is_due(m, snw_clock_seconds())) draw(m, text);
}

void snw_meter_show(snw_meter *m, const snw_progress *p) {
    if (!m->on) return;
    const double time = snw_clock_seconds();
    if (!is_due(m, time)) return;

    const double done = (m->run + p->fraction) / (m->nrun > 0 ? m->nrun : 1);
    char left[32] = "";
    if (done > 0.001) snw_duration_text((time - m->start) * (1 - done) / done, left, sizeof left);
    char line[160]; // names are truncated so that the line fits the terminal
    (void)snprintf(line, sizeof line, "%3.0f %%  %s%s  %.20s %.20s  t = %.4g s", 100 * done, left,
                   left[0] ? " left" : "", m->name, p->stage_name, p->t);
    draw(m, line);
}

void snw_meter_clear(snw_meter *m) {
    if (!m || !m->drawn) return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    m->drawn = false;
}
