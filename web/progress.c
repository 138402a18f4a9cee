// SPDX-License-Identifier: MIT
//
// Progress of a command, told to the page instead of a terminal.
#include "cli/progress.h"

#include "base/clock.h"

#include <emscripten.h>
#include <stdio.h>

static const double interval = 0.1; // s between reports

EM_JS(void, web_report, (double done, double total, const char *text), {
    if (Module.onProgress) Module.onProgress(done, total, UTF8ToString(text));
});

snw_meter snw_meter_start(int nrun, bool quiet) {
    const double now = snw_clock_seconds();
    return (snw_meter){.on = !quiet, .nrun = nrun, .start = now, .next = now + interval};
}

void snw_meter_run(snw_meter *m, int run, const char *name) {
    m->run = run;
    m->name = name;
}

static bool is_due(snw_meter *m) {
    const double now = snw_clock_seconds();
    if (!m->on || now < m->next) return false;
    m->next = now + interval;
    return true;
}

void snw_meter_text(snw_meter *m, const char *text) {
    if (is_due(m)) web_report(0, 0, text);
}

void snw_meter_show(snw_meter *m, const snw_progress *p) {
    if (!is_due(m)) return;
    char text[160];
    (void)snprintf(text, sizeof text, "%.40s %.40s  t = %.4g s", m->name, p->stage_name, p->t);
    web_report(m->run + p->fraction, m->nrun > 0 ? m->nrun : 1, text);
}

void snw_meter_clear(snw_meter *m) { (void)m; }
