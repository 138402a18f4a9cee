// SPDX-License-Identifier: MIT
//
// Writes the structure and the numbers of a compiled model, in the order of model_stream.inc: a
// first pass counts, a second one writes.
#include "model/model_stream.h"

#include "base/alloc.h"
#include "math/expr_op.h"
#include "model/distance_grid.h"
#include "model/height_field.h"

#include <string.h>

static void put_whole(snw_model_stream *s, int x) {
    if (s->whole) s->whole[s->nwhole] = x;
    s->nwhole++;
}

static void put_number(snw_model_stream *s, double x) {
    if (s->number) s->number[s->nnumber] = x;
    s->nnumber++;
}

#define STREAM      snw_model_stream
#define WHOLE(x)    put_whole(s, (int)(x))
#define NUMBER(x)   put_number(s, x)
#define ARRAY(p, n) (void)(n)
#define LAW_ROOM(law, x, n)
#define ADMITS(x)                    tendon_admits(x)
#define TAKE_ADMISSIBLE(control, of) (void)0

// Values that the quantity which controls a tendon may have: 0 any, 1 less than the length, 2
// positive, 3 not negative.
static int tendon_admits(const snw_tendon *x) {
    const double length = x->reference + x->extra;
    if (!x->control->admissible) return 0;
    if (!x->control->admissible(2 * length, length)) return 1;
    return x->control->admissible(0, length) ? 3 : 2;
}

#define SNW_STREAM_LAWS
#include "model/model_stream.inc"

static bool laws_vary(int n, const snw_law *law) {
    bool any = false;
    for (int i = 0; i < n; i++) any |= law[i] && (snw_expr_vars(law[i]) & SNW_VAR_T);
    return any;
}

bool snw_model_varies(const snw_model *m) {
    bool any = laws_vary(3, m->gravity);
    for (int i = 0; i < m->npose; i++) any |= !m->fixed_pose[i].is_fixed;
    for (int i = 0; i < m->nload; i++)
        any |= laws_vary(3, m->load[i].force) || laws_vary(3, m->load[i].torque) ||
               laws_vary(1, &m->load[i].when);
    for (int i = 0; i < m->nstress; i++)
        any |= laws_vary(6, m->stress[i].stress) || laws_vary(1, &m->stress[i].when);
    for (int i = 0; i < m->nmotor; i++)
        any |= m->motor[i].law &&
               (laws_vary(m->motor[i].n, m->motor[i].law) || laws_vary(1, &m->motor[i].when));
    for (int i = 0; i < m->ntendon; i++)
        any |= laws_vary(1, &m->tendon[i].law) || laws_vary(1, &m->tendon[i].ambient) ||
               laws_vary(1, &m->tendon[i].temperature) || laws_vary(1, &m->tendon[i].when);
    for (int i = 0; i < m->ndrive; i++)
        any |= m->drive[i].rate_integral || laws_vary(1, &m->drive[i].law);
    for (int i = 0; i < m->nfluid; i++) any |= laws_vary(3, m->fluid[i].current);
    for (int i = 0; m->nfield > 0 && i < m->nrod; i++) any |= laws_vary(6, m->rod[i].given);
    return any;
}

static void write_stream(snw_model_stream *s, snw_model *m) {
    s->nwhole = s->nnumber = 0;
    list_model(s, m);
    s->nstructure = s->nwhole, s->nown = s->nnumber;
    list_places(s, m);
    list_device(s, m);
    s->nplace = s->nwhole;
    if (s->laws) list_laws(s, m);
}

snw_status snw_model_stream_create(const snw_model *m, snw_model_stream **out) {
    snw_model_stream *s = *out = snw_alloc(sizeof *s);
    if (!s) return SNW_E_MEMORY;
    // fields are evaluated at the place and the time of the step
    s->laws = m->nlive + m->ncondition + m->nforce_field_point > 0 || snw_model_varies(m);
    write_stream(s, (snw_model *)m); // the writer only reads it
    s->whole = snw_alloc(s->nwhole * sizeof *s->whole);
    s->number = snw_alloc(s->nnumber * sizeof *s->number);
    if (!s->whole || !s->number) {
        snw_model_stream_destroy(s);
        *out = NULL;
        return SNW_E_MEMORY;
    }
    write_stream(s, (snw_model *)m);
    return SNW_OK;
}

void snw_model_stream_destroy(snw_model_stream *s) {
    if (!s) return;
    snw_free(s->whole);
    snw_free(s->number);
    snw_free(s);
}

bool snw_model_stream_alike(const snw_model_stream *a, const snw_model_stream *b) {
    return a->nstructure == b->nstructure && a->nown == b->nown &&
           memcmp(a->whole, b->whole, a->nstructure * sizeof *a->whole) == 0;
}

bool snw_model_stream_same_laws(const snw_model_stream *a, const snw_model_stream *b) {
    const bool same_sizes =
        a->laws ? a->nwhole == b->nwhole && a->nnumber == b->nnumber : a->nplace == b->nplace;
    return same_sizes &&
           memcmp(a->whole, b->whole, (a->laws ? a->nwhole : a->nplace) * sizeof *a->whole) == 0;
}
