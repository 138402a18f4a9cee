// SPDX-License-Identifier: MIT
//
// Results by laws of other probes, l(y_1, y_2, .., t): the derivative of a scalar by l becomes one
// by each y that the law reads, whose derivatives by the state and by the numbers of the model are
// known. Numbers in the law itself are taken one by one; theory.md (7.5.1).
#include "robot/gradient_sweep.h"

#include "math/expr_op.h"
#include "study/model_outputs.h"
#include "study/model_surroundings.h"

#include <string.h>

bool gradient_law_is_chained(const snw_desc *d, const snw_adjoint_output *o) {
    const snw_probe_desc *p = &d->probe[o->probe];
    if (p->kind != SNW_PROBE_LAW || o->of_run < 0) return false;
    for (int k = 0; k < p->nread; k++) {
        if (p->read_probe[k] < 0) return false; // memory of a law
    }
    return true;
}

static int find_output(const gradient_sweep *s, int probe, int column) {
    for (int i = 0; i < s->noutput; i++) {
        if (s->output[i].probe == probe && s->output[i].column == column) return i;
    }
    return -1;
}

int gradient_law_reads(const gradient_sweep *s) {
    const snw_desc *d = s->model->desc;
    int n = 0;
    for (int i = 0; i < d->nprobe; i++)
        n += d->probe[i].kind == SNW_PROBE_LAW ? d->probe[i].nread : 0;
    return n;
}

void gradient_list_law_reads(gradient_sweep *s) {
    const snw_desc *d = s->model->desc;
    for (int i = 0, n = s->noutput; i < n && !s->forward; i++) {
        const snw_probe_desc *p = &d->probe[s->output[i].probe];
        if (!gradient_law_is_chained(d, &s->output[i])) continue;
        s->chains = true;
        for (int k = 0; k < p->nread; k++) {
            if (find_output(s, p->read_probe[k], p->read_column[k]) < 0)
                s->output[s->noutput++] =
                    (snw_adjoint_output){p->read_probe[k], p->read_column[k], -1};
        }
    }
}

const double *gradient_chain_laws(gradient_sweep *s, const snw_map *map) {
    const snw_desc *d = s->m->desc;
    const size_t ny = (size_t)s->noutput;
    double signal[SNW_SIGNALS_MAX + SNW_LAW_READS] = {0};
    if (!s->chains) return s->y_bar;
    memcpy(s->x_bar, s->y_bar, (size_t)s->nscalar * ny * sizeof *s->x_bar);
    s->sampler->m = s->m;
    snw_sampler_frame(s->sampler, s->adjoint, map, s->y);
    for (int i = 0; i < s->noutput; i++) {
        const snw_probe_desc *p = &d->probe[s->output[i].probe];
        if (!gradient_law_is_chained(d, &s->output[i])) continue;
        for (int k = 0; k < p->nread; k++)
            signal[p->read_slot[k]] = s->y[find_output(s, p->read_probe[k], p->read_column[k])];
        const snw_at at = {.t = map->t_laws, .signal = signal};
        for (int k = 0; k < p->nread; k++) {
            const size_t to = (size_t)find_output(s, p->read_probe[k], p->read_column[k]);
            const double slope = snw_expr_jet_signal(p->law, at, p->read_slot[k]).d;
            for (size_t j = 0; j < (size_t)s->nscalar; j++) {
                const double bar = s->y_bar[j * ny + (size_t)i];
                if (bar != 0) s->x_bar[j * ny + to] += bar * slope;
            }
        }
        for (size_t j = 0; j < (size_t)s->nscalar; j++) s->x_bar[j * ny + (size_t)i] = 0;
    }
    return s->x_bar;
}

bool gradient_outputs_are_same(const gradient_sweep *s, const snw_model *m,
                               const snw_model *other) {
    for (int i = 0; i < s->noutput; i++) {
        const int probe = s->output[i].probe;
        if (snw_output_use_of(m, &s->output[i]) == SNW_OUTPUT_CONTACT &&
            !snw_surroundings_same_contacts(m, other))
            return false;
        if (s->chains && gradient_law_is_chained(m->desc, &s->output[i]) &&
            !snw_expr_same(m->desc->probe[probe].law, other->desc->probe[probe].law))
            return false;
    }
    return true;
}
