// SPDX-License-Identifier: MIT
//
// Inputs found for desired values of probes, as text and JSON.
#include "cli/inverse_write.h"

#include <stdio.h>

const char *snw_limit_name(snw_limit limit) {
    static const char *const name[] = {"", "low", "high", "fall", "rise"};
    return name[limit];
}

void snw_inverse_print(const snw_inverse_result *r) {
    printf("target                               wanted            found        error\n");
    for (int i = 0; i < r->noutput; i++) {
        const snw_inverse_output *o = &r->output[i];
        printf("  %-26s %15.9g  %15.9g  %11.3g %s\n", o->name, o->target, o->value, o->error,
               o->unit);
    }
    printf("\ninput                                 value           before\n");
    for (int i = 0; i < r->ninput; i++) {
        const snw_inverse_input *a = &r->input[i];
        printf("  %-26s %15.9g  %15.9g  %s", a->name, a->value, a->before, a->unit);
        if (a->limit == SNW_LIMIT_LOW || a->limit == SNW_LIMIT_HIGH)
            printf("  at its %s limit", snw_limit_name(a->limit));
        if (a->limit == SNW_LIMIT_FALL || a->limit == SNW_LIMIT_RISE)
            printf("  at the %s that its rate allows", snw_limit_name(a->limit));
        if (a->multiplier > 0)
            printf(": the distance falls by %.6g per %s beyond it", a->multiplier,
                   a->unit[0] ? a->unit : "unit");
        printf("\n");
    }
    if (r->reached) {
        printf("\nreached, weighted distance %.2g\n", r->distance);
    } else {
        printf("\nnot reached: this is the nearest that was found, weighted distance %.9g\n",
               r->distance);
    }
    if (r->ended) printf("the search stopped where equilibria end or become unstable\n");
    if (isnan(r->stability)) {
        printf("no free coordinate whose stability could be judged");
    } else {
        printf("stability of the equilibrium %.6g", r->stability);
    }
    printf(", dexterity %.6g; %d equilibria\n", r->dexterity, r->equilibria);
}

void snw_inverse_json(snw_json *j, const snw_inverse_result *r) {
    snw_field_bool(j, "reached", r->reached);
    snw_field_number(j, "distance", r->distance);
    snw_field_list(j, "targets");
    for (int i = 0; i < r->noutput; i++) {
        const snw_inverse_output *o = &r->output[i];
        snw_field_object(j, NULL);
        snw_field_text(j, "name", o->name);
        snw_field_text(j, "unit", o->unit);
        snw_field_number(j, "target", o->target);
        snw_field_number(j, "value", o->value);
        snw_field_number(j, "error", o->error);
        snw_field_number(j, "weight", o->weight);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "inputs");
    for (int i = 0; i < r->ninput; i++) {
        const snw_inverse_input *a = &r->input[i];
        snw_field_object(j, NULL);
        snw_field_text(j, "name", a->name);
        snw_field_text(j, "unit", a->unit);
        snw_field_number(j, "value", a->value);
        snw_field_number(j, "before", a->before);
        snw_field_number(j, "low", a->low);
        snw_field_number(j, "high", a->high);
        snw_field_text(j, "limit", snw_limit_name(a->limit));
        snw_field_number(j, "multiplier", a->multiplier);
        snw_field_number(j, "goal", a->goal);
        snw_field_number(j, "unit_of_motion", a->unit_of_motion);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_number(j, "goal", r->goal);
    snw_field_number(j, "stability", r->stability);
    snw_field_number(j, "dexterity", r->dexterity);
    snw_field_bool(j, "ended", r->ended);
    snw_field_bool(j, "exact", r->exact);
    snw_field_integer(j, "equilibria", r->equilibria);
    snw_field_integer(j, "path", r->path);
}
