// SPDX-License-Identifier: MIT
//
// Inputs of robots on a graphics processor: laws of time that the host evaluates, and actuators
// that the caller takes over.
#include "robot/device_batch_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/step_account.h"

#include <math.h>
#include <string.h>

// block <- gravity and inputs at time t; inputs that the caller gives are those in robot->u
static snw_status laws_at(snw_device_batch *b, double t, double *block, snw_error *err) {
    const snw_model *m = b->robot->m;
    SNW_TRY(snw_robot_apply_inputs(b->robot, err));
    snw_inputs_at(m, t, b->robot->in);
    b->robot->inputs_stale = true;
    memcpy(block, b->robot->in->gravity.e, 3 * sizeof *block);
    memcpy(block + 3, b->robot->in->block, snw_inputs_doubles(m) * sizeof *block);
    return SNW_OK;
}

static snw_status add_map(snw_device_batch *b, int input, int at, double by, snw_error *err) {
    if (b->nmap == b->map_room) {
        const int room = 2 * b->map_room + 16;
        snw_device_map *map = snw_alloc((size_t)room * sizeof *map);
        if (!map) return snw_fail_memory(err);
        if (b->nmap) memcpy(map, b->map, (size_t)b->nmap * sizeof *map);
        snw_free(b->map);
        b->map = map;
        b->map_room = room;
    }
    b->map[b->nmap++] = (snw_device_map){.input = input, .at = at, .by = by};
    return SNW_OK;
}

// Numbers of the inputs that change with input k of robot->u, which is 0, found by setting it to 1
// and to 2, now and later: they must be proportional to it and must not depend on time.
static snw_status map_input(snw_device_batch *b, int k, const char *name, snw_error *err) {
    const size_t n = snw_inputs_doubles(b->robot->m);
    for (int later = 0; later < 2; later++) {
        const double t = b->robot->s->t + 0.37 * later;
        for (int twice = 0; twice < 2; twice++) {
            b->robot->u[k] = 0;
            SNW_TRY(laws_at(b, t, b->block[0], err));
            b->robot->u[k] = 1 + twice;
            SNW_TRY(laws_at(b, t, b->block[1], err));
            b->robot->u[k] = 0;
            int found = 0;
            for (size_t i = 0; i < n; i++) {
                const double by = (b->block[1][3 + i] - b->block[0][3 + i]) / (1 + twice);
                double known = 0;
                for (int j = 0; j < b->nmap; j++) {
                    if (b->map[j].input == k && b->map[j].at == (int)i)
                        known = b->map[j].by, found++;
                }
                if (later == 0 && twice == 0) {
                    if (by != 0) SNW_TRY(add_map(b, k, (int)i, by, err));
                } else if (!(fabs(by - known) <= 1e-12 * fabs(known))) {
                    return snw_fail(err, SNW_E_ARGUMENT,
                                    "actuator '%s' cannot be taken over on the device: its action "
                                    "is not a constant times its input",
                                    name);
                }
            }
        }
    }
    return SNW_OK;
}

// To the device: motors and tendons whose laws do not act since the caller gives their inputs.
static snw_status send_taken(snw_device_batch *b, snw_error *err) {
    const snw_model *m = b->robot->m;
    const snw_manual_inputs *manual = b->robot->in->manual;
    const size_t nmotor = (size_t)m->nmotor, ntendon = (size_t)m->ntendon;
    const size_t ntaken = nmotor + ntendon + (size_t)m->nload, nzero = 18 + nmotor + 3 * ntendon;
    const size_t none = (size_t)(m->nstress > m->nforce_field ? m->nstress : m->nforce_field);
    bool *taken = snw_alloc(ntaken + 1);
    double *number = snw_alloc((nzero + none) * sizeof *number);
    snw_status s = taken && number ? SNW_OK : snw_fail_memory(err);
    for (size_t i = 0; s == SNW_OK && manual && i < nmotor + ntendon; i++)
        taken[i] = i < nmotor ? manual->motor_given[i] : manual->tendon_given[i - nmotor];
    for (size_t i = 0; s == SNW_OK && i < none; i++) { // in the precision of the device
        if (b->single) {
            const float one = 1;
            memcpy((float *)(number + nzero) + i, &one, sizeof one);
        } else {
            number[nzero + i] = 1;
        }
    }
    if (s == SNW_OK) s = snw_device_fill(b, &b->taken_laws, taken, ntaken, err);
    if (s == SNW_OK) s = snw_device_fill(b, &b->zero, number, nzero * sizeof *number, err);
    if (s == SNW_OK) s = snw_device_fill(b, &b->one, number + nzero, none * sizeof *number, err);
    snw_free(taken);
    snw_free(number);
    b->args.taken = b->taken_laws.at;
    b->args.zero = b->zero.at;
    b->args.one = b->one.at;
    return s;
}

// The inputs of all actuators that are taken, again.
static snw_status map_inputs(snw_device_batch *b, snw_error *err) {
    snw_robot *r = b->robot;
    b->nmap = 0;
    for (int a = 0, first = 0; a < snw_actuators(r->desc); a++) {
        const int size = snw_robot_actuator_size(r, a);
        for (int k = 0; k < size; k++) r->u[first + k] = b->taken[a] ? 0 : snw_input_law();
        if (!b->taken[a] && snw_actuator_at(r->desc, a).stress) r->u[first] = 1;
        first += size;
    }
    for (int a = 0, first = 0; a < snw_actuators(r->desc); a++) {
        const int size = snw_robot_actuator_size(r, a);
        for (int k = 0; b->taken[a] && k < size; k++)
            SNW_TRY(map_input(b, first + k, snw_actuator_at(r->desc, a).name, err));
        first += size;
    }
    SNW_TRY(snw_robot_apply_inputs(r, err));
    SNW_TRY(snw_device_fill(b, &b->maps, b->map, (size_t)b->nmap * sizeof *b->map, err));
    b->args.map = b->maps.at;
    b->args.nmap = b->nmap;
    return b->stream->laws ? send_taken(b, err) : SNW_OK;
}

snw_status snw_device_batch_take(snw_device_batch *b, int actuator, int taken, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    SNW_TRY(snw_robot_check_actuator(b->robot, actuator, err));
    const snw_actuator a = snw_actuator_at(b->robot->desc, actuator);
    if (taken && (a.stress || a.control->given != SNW_GIVEN_EFFORT)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "actuator '%s' cannot be taken over on the device: only efforts, tensions "
                        "and pressures can",
                        a.name);
    }
    const bool before = b->taken[actuator];
    b->taken[actuator] = taken != 0;
    snw_status s = map_inputs(b, err);
    if (s != SNW_OK) {
        snw_error ignored = {0};
        b->taken[actuator] = before;
        (void)!map_inputs(b, &ignored);
    }
    return s;
}

// ---- laws of a call -----------------------------------------------------------------------------

size_t snw_device_law_width(const snw_device_batch *b) {
    return (size_t)b->args.nlaw * (b->args.own_laws ? (size_t)b->n : 1);
}

// row <- laws at time t, of each robot where some have laws of their own
static snw_status law_row(snw_device_batch *b, double t, double *row, snw_error *err) {
    if (!b->args.own_laws) return laws_at(b, t, row, err);
    const size_t n = (size_t)b->n, nlaw = (size_t)b->args.nlaw;
    const snw_model *m = b->robot->m;
    double *own = b->block[1];
    SNW_TRY(laws_at(b, t, b->block[0], err));
    b->own_in->manual = b->robot->in->manual;
    for (size_t i = 0; i < n; i++) {
        if (b->own[i]) {
            snw_inputs_at(b->own[i]->compiled, t, b->own_in);
            memcpy(own, b->own_in->gravity.e, 3 * sizeof *own);
            memcpy(own + 3, b->own_in->block, snw_inputs_doubles(m) * sizeof *own);
        }
        const double *from = b->own[i] ? own : b->block[0];
        for (size_t k = 0; k < nlaw; k++) row[k * n + i] = from[k];
    }
    return SNW_OK;
}

// Room for the rows of `count` steps, and one more.
static snw_status reserve_laws(snw_device_batch *b, int count, snw_error *err) {
    const size_t numbers = (size_t)(3 * count + 2) * snw_device_law_width(b);
    if (b->law_room[0] < numbers) {
        snw_free(b->law[0]);
        b->law_room[0] = 0;
        b->law[0] = snw_alloc(numbers * sizeof(double));
        if (!b->law[0]) return snw_fail_memory(err);
        b->law_room[0] = numbers;
    }
    if (b->steady_room < count + 1) {
        snw_free(b->steady);
        b->steady_room = 0;
        b->steady = snw_alloc((size_t)(count + 1));
        if (!b->steady) return snw_fail_memory(err);
        b->steady_room = count + 1;
    }
    return SNW_OK;
}

// Rows of laws of `count` steps of h seconds, and whether they are constant within each.
static snw_status set_laws(snw_device_batch *b, double h, int count, snw_error *err) {
    const size_t n = snw_device_law_width(b), row = n * sizeof(double);
    static const double within[] = {0.29, 0.53, 0.83};
    bool steady = true;
    double *const was = b->law[1];
    const size_t room = b->law_room[1], nsent = b->nsent;
    b->law[1] = b->law[0], b->law_room[1] = b->law_room[0]; // on the device
    b->law[0] = was, b->law_room[0] = room;
    b->nsent = 0;
    SNW_TRY(reserve_laws(b, count, err));
    double t = b->robot->s->t, *law = b->law[0];
    const size_t numbers = (size_t)(3 * count + 1) * n;
    SNW_TRY(law_row(b, t + snw_time_resolution(t), law, err));
    for (int k = 0; k < count; k++) {
        double *begin = law + 3 * (size_t)k * n, *end = begin + 3 * n;
        SNW_TRY(law_row(b, t + h, end, err));
        b->steady[k] = memcmp(end, begin, row) == 0;
        for (size_t j = 0; b->steady[k] && j < sizeof within / sizeof *within; j++) {
            SNW_TRY(law_row(b, t + within[j] * h, law + numbers, err));
            b->steady[k] = memcmp(end, law + numbers, row) == 0;
        }
        steady &= b->steady[k];
        for (size_t j = 0; j < SNW_ACCOUNT_POINTS; j++)
            SNW_TRY(law_row(b, t + snw_account_point[j] * h, begin + (1 + j) * n, err));
        t = t + h;
    }
    // copies to the device wait for the steps before: none where the laws are those of the last
    // call
    if (!steady || !b->steady_sent || nsent != numbers ||
        memcmp(law, b->law[1], numbers * sizeof *law) != 0) {
        SNW_TRY(snw_device_fill(b, &b->laws, law, numbers * sizeof *law, err));
        SNW_TRY(snw_device_fill(b, &b->steady_steps, b->steady, (size_t)count, err));
    }
    b->nsent = numbers;
    b->steady_sent = steady;
    b->args.law = b->laws.at;
    b->args.steady = b->steady_steps.at;
    return SNW_OK;
}

snw_status snw_device_prepare(snw_device_batch *b, double h, int count, snw_error *err) {
    if (b->models_stale) SNW_TRY(snw_device_make_models(b, b->n, err));
    b->args.t = b->robot->s->t;
    b->args.count = count;
    b->args.step = h;
    return b->time_laws ? SNW_OK : set_laws(b, h, count, err);
}
