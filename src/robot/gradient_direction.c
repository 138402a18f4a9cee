// SPDX-License-Identifier: MIT
//
// Models at other values of the parameters and laws: the directions in which the products of the
// maps are differentiated by differences of order 6, theory.md 7.5.
#include "robot/gradient_sweep.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    AT_ONCE = 64, // parameters in one sweep
    SLOPES = 1000 // numbers of the file, taken one by one, whose arrays are kept at once
};
static const double resolved = 1e-9; // difference of orders 4 and 6 where samples suffice, relative

bool gradient_freeze_rows(const snw_model *m, snw_model *to) {
    snw_model_rows rows;
    if (!snw_model_alike(m, to) || m->nloop != to->nloop) return false;
    if (m->nloop == 0) return true;
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].nrow != to->loop[i].nrow || m->loop[i].row != to->loop[i].row) return false;
    }
    if (snw_model_edit_rows(to, &rows) != SNW_OK) return false;
    for (int i = 0; i < m->nloop; i++)
        memcpy(rows.loop[i].coefficient, m->loop[i].coefficient, sizeof m->loop[i].coefficient);
    return true;
}

// A model that differs from that of p in one number or law.
static snw_status variant(const gradient_sweep *s, const gradient_direction *d, double by,
                          snw_robot_model **out, snw_error *err) {
    const snw_gradient *g = s->g;
    char *set = NULL;
    size_t room = 256;
    if (d->entry >= 0) {
        const gradient_entry *e = &g->entry[d->entry];
        room += strlen(e->path) + strlen(e->unit);
        set = snw_alloc(room);
        if (!set) return snw_fail_memory(err);
        (void)snprintf(set, room, "%s=%.17g%s%s", e->path, s->p[d->entry] + by,
                       e->unit[0] ? " " : "", e->unit);
    } else {
        const gradient_law *law = &g->law[d->law];
        static const char *const power[] = {"", "*(t/(1 s) - (%.17g))", "*(t/(1 s) - (%.17g))^2/2"};
        char factor[80];
        (void)snprintf(factor, sizeof factor, power[d->power], d->t0);
        char *text = NULL;
        SNW_TRY(gradient_law_text(law, s->p + law->first, by, factor, &text, err));
        set = text;
    }
    const char *const sets[] = {set};
    s->g->info.models++;
    snw_status status = snw_robot_model_sample(s->model, 1, sets, s->phase[0].m, out, err);
    snw_free(set);
    if (status != SNW_OK) return status;
    return gradient_compile_phases(
        s, *out, d->entry >= 0 ? g->entry[d->entry].name : g->law[d->law].path, err);
}

snw_status gradient_open_samples(const gradient_sweep *s, gradient_direction *d, snw_error *err) {
    for (int i = 0; i < GRADIENT_VARIANTS; i++) {
        if (d->model[i]) continue;
        snw_error why = {0};
        const snw_status status =
            variant(s, d, gradient_sample_at(i) * d->step, &d->model[i], &why);
        if (status == SNW_OK) continue;
        if (d->entry < 0 || status == SNW_E_MEMORY || status == SNW_E_STOPPED) {
            if (err) *err = why;
            return status;
        }
        return snw_fail(err, status,
                        "there is no derivative by '%.100s' at %.10g, which needs values on both "
                        "sides of it: %.300s",
                        s->g->entry[d->entry].name, s->p[d->entry], why.text);
    }
    return SNW_OK;
}

snw_status gradient_open_fine(const gradient_sweep *s, gradient_direction *d, snw_error *err) {
    for (int i = 0; i < GRADIENT_VARIANTS; i++) {
        if (!d->fine[i])
            SNW_TRY(variant(s, d, gradient_fine_part * gradient_sample_at(i) * d->step, &d->fine[i],
                            err));
    }
    return SNW_OK;
}

void gradient_choose_estimates(int n, double *by, double *coarse, const double *fine,
                               const double *fine_coarse) {
    for (int i = 0; i < n; i++) {
        if (!(fabs(fine[i] - fine_coarse[i]) < fabs(by[i] - coarse[i]))) continue;
        by[i] = fine[i];
        coarse[i] = fine_coarse[i];
    }
}

bool gradient_is_resolved(int n, const double *by, const double *coarse) {
    double most = 0, error = 0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(by[i]));
        error = fmax(error, fabs(by[i] - coarse[i]));
    }
    return error <= resolved * most;
}

// The far models, unless the parameter cannot have these values.
static void open_far(const gradient_sweep *s, gradient_direction *d) {
    snw_error none = {0};
    for (int k = 0; k < 2; k++) {
        if (variant(s, d, (k ? GRADIENT_FAR : -GRADIENT_FAR) * d->step, &d->far[k], &none) !=
            SNW_OK)
            d->curved = GRADIENT_LINEAR_TRIALS + 1;
    }
}

static snw_status open_direction(gradient_sweep *s, gradient_direction *d, snw_error *err) {
    if (s->forward) {
        SNW_TRY(gradient_open_samples(s, d, err));
    } else {
        open_far(s, d);
    }
    const size_t n = (size_t)s->nscalar;
    d->by = snw_alloc(4 * n * sizeof *d->by);
    if (!d->by) return snw_fail_memory(err);
    d->coarse = d->by + n;
    return SNW_OK;
}

// Do rates of the law act? At t0, where its value is unchanged, some input differs then. *gravity
// <- does its value change gravity?
static snw_status rates_act(gradient_sweep *s, gradient_direction *d, bool *out, bool *gravity,
                            snw_error *err) {
    snw_inputs *in = s->sampler->in;
    snw_robot_model *other = NULL;
    SNW_TRY(variant(s, d, d->step, &other, err));
    const size_t n = snw_inputs_doubles(s->m);
    double *kept = snw_alloc((n + 1) * sizeof *kept);
    if (kept) {
        snw_inputs_at(s->m, d->t0, in);
        memcpy(kept, in->block, n * sizeof *kept);
        snw_inputs_at(other->compiled, d->t0, in);
        *out = memcmp(kept, in->block, n * sizeof *kept) != 0;
        snw_inputs_at(s->m, d->t0 + 1, in);
        const snw_vec3 before = in->gravity;
        snw_inputs_at(other->compiled, d->t0 + 1, in);
        const snw_vec3 change = snw_sub(in->gravity, before);
        *gravity = snw_dot(change, change) > 0;
    }
    snw_free(kept);
    snw_robot_model_close(other);
    return kept ? SNW_OK : snw_fail_memory(err);
}

// A law: its value and, where they act, its rates.
static snw_status open_law(gradient_sweep *s, int i, snw_error *err) {
    const gradient_law *law = &s->g->law[i];
    double most = 0;
    for (int k = 0; k < law->n; k++) most = fmax(most, fabs(s->p[law->first + k]));
    bool act = true, gravity = false;
    for (int power = 0; power < 3 && act; power++) {
        gradient_direction d = {.entry = -1,
                                .law = i,
                                .power = power,
                                .step = s->move * (most > 0 ? most : 1),
                                .t0 = law->knot[0] + 0.37 * (law->knot[law->n - 1] - law->knot[0])};
        if (power == 1 && (s->nphase == 1 || s->conserving))
            SNW_TRY(rates_act(s, &d, &act, &gravity, err));
        if (power == 1 && s->conserving && (act || gravity))
            return snw_fail(err, SNW_E_MODEL,
                            "there is no derivative by the knots of '%s' through the conserving "
                            "scheme, which reads given motions and gravity at several times of a "
                            "step; use another scheme",
                            law->path);
        if (!act) break;
        s->direction[s->ndirection] = d;
        SNW_TRY(open_direction(s, &s->direction[s->ndirection++], err));
    }
    return SNW_OK;
}

static void close_direction(gradient_direction *d) {
    for (int i = 0; i < GRADIENT_VARIANTS; i++) snw_robot_model_close(d->model[i]);
    for (int i = 0; i < GRADIENT_VARIANTS; i++) snw_robot_model_close(d->fine[i]);
    for (int i = 0; i < 2; i++) snw_robot_model_close(d->far[i]);
    snw_free(d->by);
}

// A number of the file that moves the jumps of laws or the lengths of steps has no derivative.
static snw_status check_jumps(const gradient_sweep *s, gradient_direction *d, snw_error *err) {
    double moved;
    if (d->entry < 0) return SNW_OK;
    if (!d->far[1]) SNW_TRY(gradient_open_samples(s, d, err));
    const snw_robot_model *other = d->far[1] ? d->far[1] : d->model[GRADIENT_VARIANTS - 1];
    const gradient_held held = gradient_held_moved(s->model->desc, other->desc);
    if (held.key) {
        s->g->holds = true;
        return snw_fail(err, SNW_E_MODEL,
                        "there is no derivative by '%.100s' through the steps taken: it changes "
                        "'%s' of '%.100s', which these derivatives hold; differences of whole runs "
                        "have it",
                        s->g->entry[d->entry].name, held.key, held.of);
    }
    SNW_TRY(gradient_jumps_moved(&s->jumps, other->desc, &moved, err));
    if (isnan(moved)) return SNW_OK;
    return snw_fail(err, SNW_E_MODEL,
                    "there is no derivative by '%s': it moves the time t = %g s at which a law "
                    "jumps; let a condition of a probe switch instead, or use differences",
                    s->g->entry[d->entry].name, moved);
}

snw_status gradient_open_directions(gradient_sweep *s, int *entry, snw_error *err) {
    snw_gradient *g = s->g;
    if (!s->direction)
        s->direction =
            snw_alloc(((size_t)g->nentry + 3 * (size_t)g->nlaw + 1) * sizeof *s->direction);
    if (!s->direction) return snw_fail_memory(err);
    for (int i = 0; *entry == 0 && i < g->nlaw; i++) SNW_TRY(open_law(s, i, err));
    if (s->arrays && *entry == 0) SNW_TRY(gradient_find_slopes(s, err));
    for (; *entry < g->nentry && (s->forward || (s->ndirection < AT_ONCE && s->nlone < SLOPES));
         ++*entry) {
        const int k = *entry;
        if (g->entry[k].kind != GRADIENT_NUMBER || (s->arrays && s->has_slope[k])) continue;
        gradient_direction *d = &s->direction[s->ndirection++];
        *d = (gradient_direction){.entry = k, .step = s->move * (s->p[k] != 0 ? fabs(s->p[k]) : 1)};
        SNW_TRY(open_direction(s, d, err));
        bool enough = false;
        if (s->arrays) SNW_TRY(gradient_find_slope(s, d, &enough, err));
        g->entry[k].sampled = !enough && !s->forward;
        if (enough) {
            close_direction(&s->direction[--s->ndirection]);
        } else {
            SNW_TRY(check_jumps(s, d, err));
        }
    }
    return SNW_OK;
}

void gradient_close_directions(gradient_sweep *s) {
    for (int k = 0; k < s->ndirection; k++) close_direction(&s->direction[k]);
    for (int k = 0; k < s->nslope; k++) gradient_slope_close(&s->slope[k]);
    s->ndirection = s->nslope = s->nlone = 0;
}

int gradient_directions_of_law(const gradient_sweep *s, int first) {
    const gradient_direction *d = &s->direction[first];
    int used = 1;
    while (first + used < s->ndirection && d[used].entry < 0 && d[used].law == d->law) used++;
    return used;
}

int gradient_add_direction(gradient_sweep *s, gradient_direction *d, double t) {
    const snw_gradient *g = s->g;
    const size_t n = (size_t)g->nentry;
    if (d->entry >= 0) {
        for (int j = 0; j < s->nscalar; j++) s->dJ[(size_t)j * n + (size_t)d->entry] += d->by[j];
        return 1;
    }
    const gradient_law *law = &g->law[d->law];
    const int used = gradient_directions_of_law(s, (int)(d - s->direction));
    const double u = t - d->t0;
    for (int j = 0; j < s->nscalar; j++) { // c (t - t0) moves value and rate, ..
        const double by_value = d[0].by[j];
        const double by_rate = used > 1 ? d[1].by[j] - u * by_value : 0;
        const double by_acc = used > 2 ? d[2].by[j] - u * by_rate - 0.5 * u * u * by_value : 0;
        if (by_value == 0 && by_rate == 0 && by_acc == 0) continue;
        for (int k = 0; k < law->n; k++) {
            double f[3];
            gradient_knot(law, k, t, f);
            s->dJ[(size_t)j * n + (size_t)(law->first + k)] +=
                by_value * f[0] + by_rate * f[1] + by_acc * f[2];
        }
    }
    return used;
}
