// SPDX-License-Identifier: MIT
//
// Reads the change steps of a study. The overrides of a change and of all changes before it are
// applied to the tree of the run, and the tree is read again. The generalised coordinates must stay
// the same, so that the state carries over; numbers may change.
#include "language/read.h"

#include "base/fail.h"
#include "language/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- change step --------------------------------------------------------------------------------

static bool is_path(const snw_entry *e) { return strcmp(e->key, "name") != 0; }

// "twist, arm.pose, ..", truncated to the buffer
static snw_status list_paths(snw_reader *r, const snw_node *node, const char **out) {
    char text[200] = "";
    size_t used = 0;
    for (int i = 0; i < node->n; i++) {
        if (!is_path(&node->entry[i])) continue;
        const size_t length = strlen(node->entry[i].key);
        const bool fits = used + length + 8 < sizeof text;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                                 fits ? node->entry[i].key : "..");
        if (!fits) break;
    }
    *out = snw_pool_text(r->pool, text, used);
    return *out ? SNW_OK : snw_read_memory(r);
}

snw_status snw_read_change(snw_reader *r, const snw_node *node, snw_step_desc *out) {
    static const char form[] = "a change is paths and values, e.g. 'change: {pull: off}'";
    if (node->kind != SNW_NODE_MAP) return snw_fail_at(r->err, out->location, "%s", form);
    const snw_node *name = snw_node_get(node, "name");
    if (name) SNW_TRY(snw_read_name(r, name, "name", &out->name));
    if (node->n == (name ? 1 : 0)) return snw_fail_at(r->err, out->location, "%s", form);
    SNW_TRY(snw_read_releases(r, node, out));
    return list_paths(r, node, &out->paths);
}

// ---- comparison of descriptions -----------------------------------------------------------------

static snw_status refuse_change(snw_reader *r, const snw_step_desc *s, const char *what,
                                const char *whose) {
    return snw_fail_at(r->err, s->location,
                       "step '%s' changes %s%s%s%s: coordinates are fixed during a study; make it "
                       "a run of its own",
                       s->name, what, whose ? " '" : "", whose ? whose : "", whose ? "'" : "");
}

// Elements that share no function may change their lengths, as tubes do that slide in each other:
// each keeps the strains at its nodes.
static bool same_basis(const snw_basis *a, const snw_basis *b) {
    if (a->kind != b->kind || a->nfun != b->nfun || a->nelem != b->nelem) return false;
    if (snw_basis_table[a->kind].separate) return true;
    if (a->set) return snw_function_set_same(a, b);
    for (int i = 0; i <= a->nelem; i++) {
        if (!(fabs(snw_basis_break(a, i) - snw_basis_break(b, i)) <= 1e-12)) return false;
    }
    return true;
}

static bool same_strains(const snw_rod_desc *a, const snw_rod_desc *b) {
    for (int i = 0; i < 6; i++) {
        if (a->active[i] != b->active[i]) return false;
        if (a->active[i] && !same_basis(&a->basis[i], &b->basis[i])) return false;
    }
    return true;
}

static snw_status check_link(snw_reader *r, const snw_step_desc *s, const snw_link_desc *a,
                             const snw_link_desc *b) {
    if (strcmp(a->name, b->name) != 0) return refuse_change(r, s, "the links", NULL);
    if (a->on.link != b->on.link) return refuse_change(r, s, "the parent of link", a->name);
    if (a->joint != b->joint) return refuse_change(r, s, "the joint of link", a->name);
    if (a->has_rod != b->has_rod)
        return refuse_change(r, s, "whether there is a rod in link", a->name);
    if (!a->has_rod) return SNW_OK;
    if (a->rod.variable_length != b->rod.variable_length)
        return refuse_change(r, s, "whether an actuator feeds rod", a->name);
    if (!same_strains(&a->rod, &b->rod))
        return refuse_change(r, s, "the strains or strain functions of rod", a->name);
    const int branches = a->rod.material ? a->rod.material->relaxation.n : 0;
    if (branches != (b->rod.material ? b->rod.material->relaxation.n : 0))
        return refuse_change(r, s, "the number of relaxation times of rod", a->name);
    if (a->rod.nodes != b->rod.nodes) return refuse_change(r, s, "the nodes of rod", a->name);
    const bool same = a->rod.magnus == b->rod.magnus && a->rod.integrator == b->rod.integrator &&
                      a->rod.points == b->rod.points && a->rod.tolerance == b->rod.tolerance;
    return same ? SNW_OK : refuse_change(r, s, "the integrator of rod", a->name);
}

// compare the named elements: a range with a parameter as bound may change their number
static snw_status check_elements(snw_reader *r, const snw_step_desc *s, const snw_desc *a,
                                 const snw_desc *b) {
    static const char form[] = "step '%s' changes which %s there are; make it a run of its own";
    bool same = a->nload == b->nload;
    for (int i = 0; same && i < a->nload; i++) same = !strcmp(a->load[i].name, b->load[i].name);
    if (!same) return snw_fail_at(r->err, s->location, form, s->name, "loads");
    same = a->nstress == b->nstress;
    for (int i = 0; same && i < a->nstress; i++) {
        same = !strcmp(a->stress[i].name, b->stress[i].name);
    }
    same = same && a->nmotor == b->nmotor;
    for (int i = 0; same && i < a->nmotor; i++) {
        const snw_motor_desc *p = &a->motor[i], *q = &b->motor[i];
        same = p->link == q->link && p->rod == q->rod && p->feed == q->feed &&
               !strcmp(p->name, q->name);
    }
    same = same && a->ntendon == b->ntendon;
    for (int i = 0; same && i < a->ntendon; i++) {
        const snw_tendon_desc *p = &a->tendon[i], *q = &b->tendon[i];
        same = p->kind == q->kind && !strcmp(p->name, q->name);
    }
    if (!same) return snw_fail_at(r->err, s->location, form, s->name, "actuators");
    same = a->nfluid == b->nfluid;
    for (int i = 0; same && i < a->nfluid; i++) same = !strcmp(a->fluid[i].name, b->fluid[i].name);
    if (!same) return snw_fail_at(r->err, s->location, form, s->name, "fluids");
    same = a->ncontact == b->ncontact;
    for (int i = 0; same && i < a->ncontact; i++) {
        same = !strcmp(a->contact[i].name, b->contact[i].name);
    }
    if (!same) return snw_fail_at(r->err, s->location, form, s->name, "contacts");
    same = a->nforce_element == b->nforce_element;
    for (int i = 0; same && i < a->nforce_element; i++) {
        same = !strcmp(a->force_element[i].name, b->force_element[i].name);
    }
    if (!same) return snw_fail_at(r->err, s->location, form, s->name, "springs");
    same = a->nforce_field == b->nforce_field;
    for (int i = 0; same && i < a->nforce_field; i++) {
        const snw_force_field_desc *p = &a->force_field[i], *q = &b->force_field[i];
        same = p->kind == q->kind && !strcmp(p->name, q->name);
    }
    if (!same) return snw_fail_at(r->err, s->location, form, s->name, "fields");
    same = a->nprobe == b->nprobe;
    for (int i = 0; same && i < a->nprobe; i++) {
        const snw_probe_desc *p = &a->probe[i], *q = &b->probe[i];
        same = p->kind == q->kind && p->joint == q->joint && p->along == q->along &&
               !strcmp(p->name, q->name);
    }
    return same ? SNW_OK : snw_fail_at(r->err, s->location, form, s->name, "probes");
}

static snw_status check_same_coordinates(snw_reader *r, const snw_step_desc *s, const snw_desc *a,
                                         const snw_desc *b) {
    if (a->nlink != b->nlink) return refuse_change(r, s, "the links", NULL);
    for (int i = 0; i < a->nlink; i++) SNW_TRY(check_link(r, s, &a->link[i], &b->link[i]));
    return check_elements(r, s, a, b);
}

// ---- changed descriptions -----------------------------------------------------------------------

static int last_line(const snw_node *node) {
    int line = node->location.line;
    for (int i = 0; i < node->n; i++) {
        const int inside = last_line(node->entry[i].value);
        if (inside > line) line = inside;
    }
    return line;
}

// if the fault is located outside the change, append the location of the change to the message
static void append_origin(snw_reader *r, const snw_step_desc *s, const snw_node *node) {
    snw_error *err = r->err;
    if (!err || !err->line || !s->location.file) return;
    const bool here = strcmp(err->file, s->location.file) == 0 && err->line >= s->location.line &&
                      err->line <= last_line(node);
    if (here) return;
    const size_t used = strlen(err->text);
    (void)snprintf(err->text + used, sizeof err->text - used, " (after the change in %s)",
                   snw_location_text(s->location, (snw_source_location){.file = err->file}).text);
}

static snw_status read_changed(snw_reader *r, int nchange, const snw_entry *change, snw_desc *out) {
    snw_node *root = NULL;
    SNW_TRY(snw_source_tree_changed(r->source, r->run, nchange, change, r->signals, r->pool, &root,
                                    r->err));
    snw_reader changed = {.pool = r->pool,
                          .desc = out,
                          .root = root,
                          .err = r->err,
                          .source = r->source,
                          .signals = r->signals,
                          .nrun = r->nrun,
                          .run_name = r->run_name,
                          .run = r->run};
    out->pool = r->pool;
    SNW_TRY(snw_read_model(&changed));
    out->signal_use = r->signals->use;
    const snw_desc *d = r->desc;
    out->nstep = d->nstep;
    out->step = d->step;
    out->record_every = d->record_every;
    out->nrecord = d->nrecord;
    out->record = d->record;
    return SNW_OK;
}

static const snw_node *change_of(const snw_node *study, int step) {
    return study->entry[step].value->entry[0].value;
}

snw_status snw_read_changes(snw_reader *r) {
    const snw_desc *d = r->desc;
    const snw_node *study = snw_node_get(r->root, "study");
    int total = 0, steps = 0;
    for (int i = 0; i < d->nstep; i++) {
        if (d->step[i].kind != SNW_STEP_CHANGE) continue;
        total += change_of(study, i)->n;
        if (++steps > SNW_CHANGES_MAX) {
            return snw_fail_at(r->err, d->step[i].location, "more than %d changes",
                               SNW_CHANGES_MAX);
        }
    }
    snw_entry *change = snw_pool_array(r->pool, (size_t)total + 1, sizeof *change);
    if (!change) return snw_read_memory(r);
    int n = 0;
    for (int i = 0; i < d->nstep; i++) {
        snw_step_desc *s = &d->step[i];
        if (s->kind != SNW_STEP_CHANGE) continue;
        const snw_node *node = change_of(study, i);
        const int before = n;
        for (int k = 0; k < node->n; k++) {
            if (is_path(&node->entry[k])) change[n++] = node->entry[k];
        }
        snw_override_sort(snw_node_get(r->root, "parameters"), n - before, change + before);
        snw_desc *changed = snw_pool_take(r->pool, sizeof *changed);
        if (!changed) return snw_read_memory(r);
        const snw_status status = read_changed(r, n, change, changed);
        if (status != SNW_OK) append_origin(r, s, node);
        SNW_TRY(status);
        SNW_TRY(check_same_coordinates(r, s, d, changed));
        s->changed = changed;
    }
    return SNW_OK;
}

// ---- changes by the caller, outside of a study --------------------------------------------------

static snw_status change_parse_set(snw_pool *pool, const char *text, snw_entry *out,
                                   snw_error *err) {
    const snw_source_location at = {.file = "live", .line = 1, .column = 1};
    const char *equals = snw_set_equals(text);
    if (!equals) return snw_fail_at(err, at, "'%s' is not of the form path=value", text);
    snw_node *value = snw_pool_take(pool, sizeof *value);
    const char *path = snw_pool_text(pool, text, (size_t)(equals - text));
    const char *what = snw_pool_text(pool, equals + 1, strlen(equals + 1));
    if (!value || !path || !what) return snw_fail_memory(err);
    *value = (snw_node){.kind = SNW_NODE_TEXT, .location = at, .text = what};
    *out = (snw_entry){.key = path, .location = at, .value = value};
    return SNW_OK;
}

snw_status snw_read_overrides(const snw_source *source, int run, int until, int nset,
                              const char *const *set, snw_pool *pool, int *n, const snw_entry **out,
                              snw_error *err) {
    snw_node *root = NULL;
    SNW_TRY(snw_source_tree(source, run, pool, &root, err));
    const snw_node *study = snw_node_get(root, "study");
    int total = nset;
    for (int pass = 0; pass < 2; pass++) {
        snw_entry *list = pass ? snw_pool_array(pool, (size_t)total + 1, sizeof *list) : NULL;
        if (pass && !list) return snw_fail_memory(err);
        *n = 0;
        for (int i = 0; study && i < until && i < study->n; i++) {
            const snw_node *change = snw_node_get(study->entry[i].value, "change");
            const int before = *n;
            for (int k = 0; change && k < change->n; k++) {
                if (!is_path(&change->entry[k])) continue;
                if (pass) list[*n] = change->entry[k];
                ++*n;
            }
            if (pass) {
                snw_override_sort(snw_node_get(root, "parameters"), *n - before, list + before);
            }
        }
        if (!pass) total += *n;
        for (int i = 0; pass && i < nset; i++)
            SNW_TRY(change_parse_set(pool, set[i], &list[(*n)++], err));
        *out = list;
    }
    return SNW_OK;
}

snw_status snw_check_change(const snw_desc *a, const snw_desc *b, const char *by, snw_error *err) {
    snw_reader r = {.err = err};
    const snw_step_desc change = {.name = by, .location = {.file = by, .line = 1, .column = 1}};
    SNW_TRY(check_same_coordinates(&r, &change, a, b));
    bool same = a->nsignal == b->nsignal && a->nloop == b->nloop && a->nstep == b->nstep;
    for (int i = 0; same && i < a->nsignal; i++) same = a->signal[i].kind == b->signal[i].kind;
    return same ? SNW_OK
                : snw_fail_at(err, change.location,
                              "it changes which loops, steps or laws there are; start again");
}
