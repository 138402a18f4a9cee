// SPDX-License-Identifier: MIT
#include "output/measured.h"

#include "base/fail.h"
#include "study/series.h"

#include <string.h>

int snw_measured_column(const snw_data_table *m, const snw_column *column) {
    char name[256];
    snw_column_name(column, name, sizeof name);
    for (int k = 1; k < m->ncolumn; k++) {
        if (strcmp(m->name[k], name) == 0) return k;
    }
    return 0;
}

snw_status snw_measured_fail(const snw_data_table *m, const char *file, snw_error *err) {
    return snw_fail(err, SNW_E_ARGUMENT,
                    "'%.100s' has no column of the probes shown, its first is '%.100s'; columns "
                    "have names of probe components, as tip.x",
                    file, m->name[1]);
}
