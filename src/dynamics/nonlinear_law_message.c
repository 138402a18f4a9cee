// SPDX-License-Identifier: MIT
//
// Messages about nonlinear section laws: where one loses its definiteness, and strains outside its
// range.
#include "dynamics/nonlinear_law.h"

#include <stdio.h>
#include <string.h>

void snw_weakest_section_describe(const snw_model *m, const snw_weakest_section *w, char *text,
                                  size_t size) {
    (void)snprintf(text, size,
                   "the material of rod '%.60s' at x = %.4g m has a stiffness of %.3g of that "
                   "without strain, at",
                   m->label.link[m->rod[w->rod].link].name, w->x, w->eigenvalue);
    const char *comma = "";
    for (int i = 0; i < 6; i++) {
        const size_t used = strlen(text);
        if (w->strain[i] == 0) continue;
        (void)snprintf(text + used, size - used, "%s %s %.4g%s", comma, snw_strain_name[i],
                       w->strain[i], i < SNW_STRETCH ? " 1/m" : "");
        comma = ",";
    }
}

void snw_law_fault_describe(const snw_model *m, const snw_law_fault *fault, char *text,
                            size_t size) {
    const char *rod = m->label.link[m->rod[fault->rod].link].name;
    text[0] = '\0';
    switch (fault->kind) {
    case SNW_SECTION_OK:
        break;
    case SNW_SECTION_CRUSHED:
        (void)snprintf(
            text, size,
            "a fibre of rod '%.60s' would be crushed at x = %.4g m (its stretch would be "
            "%.3g, and must stay positive)",
            rod, fault->x, fault->value);
        break;
    case SNW_SECTION_OUTSIDE:
        (void)snprintf(text, size,
                       "%s of rod '%.60s' would leave its table at x = %.4g m with %.4g; give a "
                       "longer table",
                       snw_strain_name[fault->component], rod, fault->x, fault->value);
        break;
    case SNW_SECTION_UNDEFINED:
        (void)snprintf(text, size,
                       "the law of rod '%.60s' would have no finite value at x = %.4g m", rod,
                       fault->x);
        break;
    }
}
