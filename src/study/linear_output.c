// SPDX-License-Identifier: MIT
//
// Outputs of a linear model: rows of probes, theory.md (3.7.1). Places, rotations, velocities,
// strains, coordinates and lengths of tendons have exact rows by x and x', energies, accelerations,
// reactions and wrenches by accelerations and multipliers, too (7.5.52). Any other probe is read
// along each column of the model, by differences of order 6 whose error is estimated.
#include "base/fail.h"
#include "math/vector.h"
#include "model/probe_kind.h"
#include "study/linear_private.h"
#include "study/probe.h"
#include "study/probe_row.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double sample_move = 1e-3, // of the coordinates in a sample, typical
    sample_rate = 1e-2,                 // of velocities or accelerations, typical values per s
    rounding = 1e-9,                    // change of an output that rounding may cause, relative
    smooth = 1e-6,                      // relative error estimate of a smooth output
    direct_rate = 1e-9;                 // part of a row that counts as zero
enum { SAMPLES = 3, SHORTER = 3 };      // on either side; shorter distances tried

static double *entry_of(snw_linear *l, int output, int column) {
    const size_t ny = (size_t)l->noutput;
    return column < l->nx ? l->outC + ny * (size_t)column + (size_t)output
                          : l->outD + ny * (size_t)(column - l->nx) + (size_t)output;
}

static snw_status fail_improper(const snw_linear *l, int output, int input, snw_error *err) {
    return snw_fail(err, SNW_E_MODEL,
                    "output '%s' reads the velocity of a motion without mass that input '%s' moves "
                    "directly: its response contains the rate of the input; give the link mass, or "
                    "leave one of them out",
                    l->m->desc->probe[l->output[output].probe].name, linear_input_name(l, input));
}

// Column k is an input that moves massless directions at once.
static bool moves_directly(const snw_linear *l, int k) {
    if (l->ns == 0 || k < l->nx || l->input[l->of_input[k - l->nx]].kind == SNW_LINEAR_GIVEN)
        return false;
    const double *x = l->x + (size_t)l->m->nv * (size_t)k;
    for (int i = 0; i < l->m->nv; i++) {
        if (x[i] != 0) return true;
    }
    return false;
}

static snw_status apply_row(snw_linear *l, int i, snw_error *err) {
    const int nv = l->m->nv;
    for (int k = 0; k < l->nx + l->nu; k++) {
        const double *x = l->x + (size_t)nv * (size_t)k, *x1 = l->x1 + (size_t)nv * (size_t)k;
        *entry_of(l, i, k) = snw_vector_dot(nv, l->row, x) + snw_vector_dot(nv, l->row + nv, x1);
        if (!moves_directly(l, k)) continue;
        double terms = 0;
        for (int j = 0; j < nv; j++) terms += fabs(l->row[nv + j] * x[j]);
        if (fabs(snw_vector_dot(nv, l->row + nv, x)) > direct_rate * terms)
            return fail_improper(l, i, l->of_input[k - l->nx], err);
    }
    return SNW_OK;
}

// Are the derivatives of output i by the state known, and does nothing else reach it? Massless
// motions that an input moves at once do, in velocities; so do forces of hard contacts.
static bool is_known(const snw_linear *l, int i) {
    const snw_probe_kind kind = l->m->desc->probe[l->output[i].probe].kind;
    if (!l->known[i]) return false;
    if (kind == SNW_PROBE_ENERGY && snw_has_interactions(l->m)) return false;
    return (l->ns == 0 && l->d->nheld == 0) || snw_probe_is_configuration(kind);
}

// Row of such an output, theory.md (7.5.52), times the columns.
static void apply_known(snw_linear *l, int i, const snw_inputs *in, const snw_state *s,
                        snw_work *w) {
    const int nv = l->m->nv, nr = l->m->nconstraint;
    const snw_state_bars row = {l->row, l->row + nv, l->row + 2 * nv, l->row + 3 * nv};
    double *y_bar = l->sample;
    memset(l->row, 0, (size_t)(3 * nv + nr) * sizeof *l->row);
    memset(y_bar, 0, (size_t)l->noutput * sizeof *y_bar);
    y_bar[i] = 1;
    snw_output_bars_add(l->output_bars, l->noutput, l->place_of, y_bar, in, s, w, &row);
    for (int k = 0; k < l->nx + l->nu; k++) {
        const size_t at = (size_t)nv * (size_t)k;
        double *to = entry_of(l, i, k);
        *to = snw_vector_dot(nv, row.place, l->x + at) + snw_vector_dot(nv, row.rate, l->dv + at) +
              snw_vector_dot(nv, row.acc, l->da + at);
        if (!l->full) *to += snw_vector_dot(nr, row.lambda, l->multiplier + (size_t)nr * (size_t)k);
        if (k < l->nx) continue;
        const snw_linear_input *input = &l->input[l->of_input[k - l->nx]];
        if (input->kind == SNW_LINEAR_LOAD)
            *to += snw_output_bars_by_load(l->output_bars, input->item, input->component, w);
    }
}

// ---- differences

// l->s, l->in <- state and inputs displaced by `step` along column k.
static void displace(snw_linear *l, const snw_inputs *in, const snw_state *s, int k, double step) {
    const snw_model *m = l->m;
    const size_t at = (size_t)m->nv * (size_t)k;
    snw_state_copy(m, s, l->s);
    snw_inputs_copy(in, l->in);
    l->in->manual = in->manual;
    snw_move(m, s->q, step, l->x + at, l->s->q);
    for (int i = 0; i < m->nv; i++) {
        l->s->v[i] += step * l->dv[at + (size_t)i];
        l->s->a[i] += step * l->da[at + (size_t)i];
    }
    const double *multiplier = l->multiplier + (size_t)m->nconstraint * (size_t)k;
    for (int i = 0; i < m->nconstraint && !l->full; i++) l->s->lambda[i] += step * multiplier[i];
    if (k < l->nx) {
        if (l->state[k].role == SNW_STATE_INTEGRAL) l->s->z[l->state[k].index] += step;
        if (l->state[k].role == SNW_STATE_BRANCH) l->s->relaxed[l->state[k].index] += step;
        return;
    }
    const int number = l->of_input[k - l->nx];
    const snw_linear_input *input = &l->input[number];
    const double *Q = l->G + (size_t)m->nv * (size_t)number;
    switch (input->kind) {
    case SNW_LINEAR_EFFORT:
    case SNW_LINEAR_ACTIVATION:
        for (int i = 0; i < m->nv; i++) l->in->stress[i] += step * Q[i];
        break;
    case SNW_LINEAR_TENDON: {
        const snw_tendon *tendon = &m->tendon[input->item];
        const double unit =
            tendon->given != SNW_GIVEN_GAS
                ? 1
                : SNW_GAS_CONSTANT * snw_expr_value(tendon->temperature, (snw_at){.t = in->t});
        l->in->tendon[input->item].v += step * unit;
        break;
    }
    case SNW_LINEAR_LOAD:
        for (int i = 0; i < m->nload_point; i++) {
            if (m->load_point[i].load == input->item)
                l->in->load[i].e[input->component] += step * m->load_point[i].w;
        }
        break;
    case SNW_LINEAR_GIVEN:
    case SNW_LINEAR_OTHER:
        break;
    }
}

static void evaluate_at(snw_linear *l, const snw_inputs *in, const snw_state *s,
                        const snw_vec3 *rotation, snw_work *w) {
    const snw_model *m = l->m;
    snw_residual(m, in, s, false, w);
    snw_observe(m, in, s, false, w);
    memcpy(l->rotation, rotation, (size_t)(m->nseg + m->nobs) * sizeof *rotation);
    snw_rotations_update(m, w, l->rotation);
}

// Value of output i after evaluate_at; l->reading has the probe of the output before.
static double output_value(snw_linear *l, int i, int before, const snw_inputs *in,
                           const snw_state *s, const snw_work *w) {
    const snw_model *m = l->m;
    if (before < 0 || l->output[before].probe != l->output[i].probe) {
        const snw_readings more = {
            .energy = {.kinetic = snw_kinetic_energy(m, w),
                       .elastic = snw_stored_energy(m, s, w),
                       .gravity = snw_gravity_energy(m, in, w)},
            .stability = NAN,
            .rotation = l->rotation,
        };
        snw_probe_read(m, l->output[i].probe, in, s, w, &more, l->reading);
    }
    return l->reading[l->output[i].column];
}

// Displacement along column k for which coordinates, or else velocities or accelerations, move by a
// small part of their typical values.
static double sample_step(const snw_linear *l, int k) {
    const snw_model *m = l->m;
    const double *const part[] = {l->x, l->dv, l->da};
    for (int j = 0; j < 3; j++) {
        double most = 0;
        for (int i = 0; i < m->nv; i++)
            most = fmax(most, fabs(part[j][(size_t)m->nv * (size_t)k + (size_t)i]) / m->typical[i]);
        if (most > 0) return (j == 0 ? sample_move : sample_rate) / most;
    }
    return 1;
}

// Direct part of an effort of a motor, which probes read from its law.
static double own_effort(const snw_linear *l, const snw_probe_desc *p, int column, int input,
                         const snw_state *s) {
    const snw_linear_input *in = &l->input[input];
    if (in->kind != SNW_LINEAR_EFFORT || p->of != SNW_PROBE_OF_MOTOR || p->item != in->item)
        return 0;
    if (p->kind == SNW_PROBE_EFFORT) return column == in->component;
    return p->kind == SNW_PROBE_POWER ? s->v[l->m->motor[in->item].dof + in->component] : 0;
}

// slope, error (noutput) <- derivatives of the outputs along column k by samples `h` apart, and
// their estimated errors.
static void differences_at(snw_linear *l, const snw_inputs *in, const snw_state *s,
                           const snw_vec3 *rotation, snw_work *w, int k, double h, double *slope,
                           double *error) {
    static const double weight[2][SAMPLES] = {{3.0 / 4, -3.0 / 20, 1.0 / 60},
                                              {2.0 / 3, -1.0 / 12, 0}}; // orders 6 and 4
    for (int i = 0; i < l->noutput; i++) slope[i] = error[i] = 0;
    for (int j = 1; j <= SAMPLES; j++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            displace(l, in, s, k, sign * j * h);
            evaluate_at(l, l->in, l->s, rotation, w);
            for (int i = 0, before = -1; i < l->noutput; i++) {
                if (l->output[i].exact) continue;
                const double y = output_value(l, i, before, l->in, l->s, w);
                before = i;
                slope[i] += sign * weight[0][j - 1] / h * y;
                error[i] += sign * (weight[0][j - 1] - weight[1][j - 1]) / h * y;
            }
        }
    }
    for (int i = 0; i < l->noutput; i++) error[i] = fabs(error[i]);
}

// Is the derivative of output i not smooth between samples h apart?
static bool is_rough(const snw_linear *l, int i, double h, double slope, double error) {
    return !l->output[i].exact && error > smooth * fabs(slope) &&
           error * h > rounding * fabs(l->output[i].value);
}

// Column k of the outputs without exact rows; most, largest (noutput) <- largest estimated error
// and largest change in a sample so far.
static void difference_column(snw_linear *l, const snw_inputs *in, const snw_state *s,
                              const snw_vec3 *rotation, snw_work *w, int k, double *most,
                              double *largest) {
    const int ny = l->noutput;
    double *slope = l->sample, *error = slope + ny, *next = slope + 2 * ny, *other = slope + 3 * ny;
    const double first = sample_step(l, k);
    double h = first;
    differences_at(l, in, s, rotation, w, k, h, slope, error);
    // a tendon may become slack, a contact open between the samples: closer ones
    for (int n = 0; n < SHORTER; n++) {
        bool rough = false;
        for (int i = 0; i < ny; i++) rough = rough || is_rough(l, i, h, slope[i], error[i]);
        if (!rough) break;
        h *= 0.1;
        differences_at(l, in, s, rotation, w, k, h, next, other);
        for (int i = 0; i < ny; i++) {
            if (is_rough(l, i, 10 * h, slope[i], error[i]) && other[i] < error[i])
                slope[i] = next[i], error[i] = other[i];
        }
    }
    for (int i = 0; i < ny; i++) {
        if (l->output[i].exact) continue;
        double direct = 0;
        if (k >= l->nx)
            direct = own_effort(l, &l->m->desc->probe[l->output[i].probe], l->output[i].column,
                                l->of_input[k - l->nx], s);
        *entry_of(l, i, k) = slope[i] + direct;
        most[i] = fmax(most[i], error[i] * first);
        largest[i] = fmax(largest[i], fabs(slope[i]) * first);
    }
}

// Rows of the outputs that are not exact.
static snw_status difference_rows(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                  const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    const int ny = l->noutput;
    double *most = l->sample + 4 * ny, *largest = l->sample + 5 * ny;
    bool some = false;
    for (int i = 0; i < ny; i++) {
        most[i] = 0;
        largest[i] = rounding * fabs(l->output[i].value);
        some = some || !l->output[i].exact;
        const snw_probe_kind kind = l->m->desc->probe[l->output[i].probe].kind;
        if (l->output[i].exact || snw_probe_is_configuration(kind)) continue;
        for (int k = l->nx; k < l->nx + l->nu; k++) {
            if (moves_directly(l, k)) return fail_improper(l, i, l->of_input[k - l->nx], err);
        }
    }
    for (int k = 0; some && k < l->nx + l->nu; k++)
        difference_column(l, in, s, rotation, w, k, most, largest);
    for (int i = 0; i < ny; i++) { // relative to the largest change of the probe
        double size = 0;
        for (int j = 0; j < ny; j++) {
            if (l->output[j].probe == l->output[i].probe) size = fmax(size, largest[j]);
        }
        if (!l->output[i].exact && size > 0)
            l->result.difference = fmax(l->result.difference, most[i] / size);
    }
    return SNW_OK;
}

// ---- all

int snw_linear_keep_outputs(snw_linear *l) {
    const int ny = l->noutput;
    int n = 0;
    for (int i = 0; i < ny; i++) n += !l->output[i].left;
    if (n == ny) return n;
    double *const matrix[] = {l->outC, l->outD};
    const int columns[] = {l->result.nx, l->result.nu};
    for (int a = 0; a < 2; a++) {
        double *to = matrix[a];
        for (int k = 0; k < columns[a]; k++) {
            for (int i = 0; i < ny; i++) {
                if (!l->output[i].left) *to++ = matrix[a][(size_t)k * (size_t)ny + (size_t)i];
            }
        }
    }
    return l->result.ny = n;
}

void snw_linear_read(snw_linear *l, const snw_inputs *in, const snw_state *s,
                     const snw_vec3 *rotation, const snw_work *w, double *y) {
    memcpy(l->rotation, rotation, (size_t)(l->m->nseg + l->m->nobs) * sizeof *rotation);
    snw_rotations_update(l->m, w, l->rotation);
    for (int i = 0; i < l->noutput; i++) y[i] = output_value(l, i, i - 1, in, s, w);
}

snw_status linear_outputs(snw_linear *l, const snw_inputs *in, const snw_state *s,
                          const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    l->result.difference = 0;
    if (l->noutput == 0) return SNW_OK;
    snw_observe(l->m, in, s, false, w);
    for (int i = 0; i < l->noutput; i++) {
        snw_linear_output *o = &l->output[i];
        const snw_probe_desc *p = &l->m->desc->probe[o->probe];
        o->left = o->optional && l->bordered && linear_needs_balance(p->kind);
        o->exact = true; // without differences
        if (o->left) continue;
        // an effort also follows its input directly: differences take both
        const bool effort =
            snw_probe_signal(l->m, o->probe, o->column).reading == SNW_READ_TENDON_EFFORT;
        l->output[i].exact = !effort && snw_probe_row(l->m, l->observer, o->probe, o->column, in, s,
                                                      rotation, w, l->row);
        if (l->output[i].exact) SNW_TRY(apply_row(l, i, err));
        if (l->output[i].exact || l->d->nheld == 0 || snw_probe_is_configuration(p->kind)) continue;
        if (o->optional) { // exact: without differences
            o->left = o->exact = true;
            continue;
        }
        return snw_fail(
            err, SNW_E_MODEL,
            "output '%s' may depend on the forces of hard contacts, which linear models "
            "do not have; choose probes of places and motions",
            p->name);
    }
    evaluate_at(l, in, s, rotation, w);
    for (int i = 0; i < l->noutput; i++) {
        l->output[i].value = output_value(l, i, i - 1, in, s, w);
    }
    for (int i = 0; i < l->noutput; i++) {
        if (l->output[i].exact || !is_known(l, i)) continue;
        apply_known(l, i, in, s, w);
        l->output[i].exact = true;
    }
    SNW_TRY(difference_rows(l, in, s, rotation, w, err));
    for (int i = 0; i < l->noutput; i++) {
        for (int k = 0; k < l->nu; k++) {
            const snw_linear_input *input = &l->input[l->of_input[k]];
            if (input->direct) *entry_of(l, i, l->nx + k) += input->direct[i];
        }
    }
    return SNW_OK;
}
