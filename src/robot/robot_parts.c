// SPDX-License-Identifier: MIT
//
// Tables of the parts of a public model: names, kinds, units and index ranges of links, joints,
// rods, coordinates, nodes, sites, loops, actuators, loads, contacts, springs, probes, parameters,
// steps and runs, from its description and compiled model.

#include "robot/robot_model.h"

#include "base/fail.h"
#include "model/probe_kind.h"
#include "study/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- tables -------------------------------------------------------------------------------------

// A table being filled.
typedef struct list {
    snw_robot_model *m;
    bool memory_out;
} list;

static snw_part *new_parts(list *l, snw_part_kind kind, int n) {
    snw_part *part = snw_pool_array(l->m->pool, (size_t)n + 1, sizeof *part);
    l->m->npart[kind] = part ? n : 0;
    l->m->part[kind] = part;
    if (!part) l->memory_out = true;
    for (int i = 0; part && i < n; i++) {
        part[i] = (snw_part){.name = "",
                             .type = "",
                             .unit = "",
                             .link = -1,
                             .first = -1,
                             .q = -1,
                             .v = -1,
                             .node = -1,
                             .value = NAN};
    }
    return part;
}

static const char *kept_text(list *l, const char *text) {
    const char *copy = snw_pool_text(l->m->pool, text, strlen(text));
    if (!copy) l->memory_out = true;
    return copy ? copy : "";
}

static const char *dim_unit(list *l, snw_dim dim) {
    char unit[48];
    snw_dim_unit(dim, unit, sizeof unit);
    return kept_text(l, unit);
}

// coordinates of the joint of a link: all blocks of its joint
static void joint_range(const snw_model *m, int link, snw_part *out) {
    const snw_joint_kind joint = m->desc->link[link].joint;
    if (joint == SNW_JOINT_FIXED) return;
    const snw_block *b = &m->block[m->link_block[link]];
    out->q = b->q;
    out->v = b->dof;
    out->nv = snw_joint_dof(joint);
    out->nq = out->nv + (b->space != SNW_SPACE_RN);
}

static void node_range(const snw_model *m, int link, snw_part *out) {
    out->node = m->link_first[link] - 1;
    out->nnode = m->link_end[link] - m->link_first[link] + 1;
}

// strain coordinates of a rod, added to those in `out`
static void rod_range(const snw_rod *rod, snw_part *out) {
    const int first = rod->feed >= 0 ? rod->feed : rod->dof0;
    const int n = rod->dof0 + rod->ndof - first;
    if (n == 0) return;
    if (out->nq == 0) {
        out->q = first + rod->shift;
        out->v = first;
    }
    out->nq += n;
    out->nv += n;
}

static void list_links(list *l) {
    const snw_model *m = l->m->compiled;
    const snw_desc *d = m->desc;
    int njoint = 0, nrod = 0;
    for (int i = 0; i < d->nlink; i++) {
        njoint += d->link[i].joint != SNW_JOINT_FIXED;
        nrod += m->link_rod[i] >= 0;
    }
    snw_part *link = new_parts(l, SNW_PART_LINK, d->nlink);
    snw_part *joint = new_parts(l, SNW_PART_JOINT, njoint);
    snw_part *rod = new_parts(l, SNW_PART_ROD, nrod);
    for (int i = 0; !l->memory_out && i < d->nlink; i++, link++) {
        link->name = d->link[i].name;
        link->type = snw_joint_name(d->link[i].joint);
        link->link = i;
        joint_range(m, i, link);
        node_range(m, i, link);
        if (d->link[i].joint != SNW_JOINT_FIXED) *joint++ = *link;
        if (m->link_rod[i] < 0) continue;
        // rods of the model are in the order of their links
        const snw_rod *r = &m->rod[m->link_rod[i]];
        rod->name = link->name;
        rod->type = snw_section_name(d->link[i].rod.section.kind);
        rod->link = i;
        rod->node = r->seg0 - 1;
        rod->nnode = r->nseg;
        rod->value = d->link[i].rod.length;
        rod_range(r, rod++);
        rod_range(r, link);
    }
}

static void parts_list_coordinates(list *l) {
    const snw_model *m = l->m->compiled;
    snw_part *part = new_parts(l, SNW_PART_COORDINATE, m->nq);
    const char **name = snw_coordinate_names(m, l->m->pool);
    if (!name) l->memory_out = true;
    for (int k = 0; !l->memory_out && k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        const bool rotates = b->space != SNW_SPACE_RN;
        for (int i = 0; i < b->n + rotates; i++) {
            snw_part *c = &part[b->q + i];
            c->name = name[b->q + i];
            c->link = m->seg[b->seg].link;
            c->q = b->q + i;
            c->nq = 1;
            c->type = "rotation";
            if (rotates && i >= 4) c->type = "length", c->unit = "m";
            if (rotates) continue;
            c->v = b->dof + i;
            c->nv = 1;
            const bool turn = snw_norm(b->S.w) > 0; // a screw's coordinate is its angle
            c->type = turn ? "angle" : "length";
            c->unit = turn ? "rad" : "m";
        }
    }
    for (int r = 0; !l->memory_out && r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int a = 0; a < rod->na; a++) {
            for (int i = 0; i < rod->nfun[a]; i++) {
                snw_part *c = &part[rod->dof[a] + rod->shift + i];
                c->type = "strain";
                c->unit = rod->comp[a] < SNW_STRETCH ? "1/m" : "";
            }
        }
    }
}

static void list_nodes(list *l) {
    const snw_model *m = l->m->compiled;
    snw_part *part = new_parts(l, SNW_PART_NODE, m->nseg - 1);
    for (int i = 1; !l->memory_out && i < m->nseg; i++, part++) {
        part->link = m->seg[i].link;
        part->name = part->link >= 0 ? m->label.link[part->link].name : "world";
        part->node = i - 1;
        part->nnode = 1;
        part->value = m->seg_x[i];
    }
}

static void list_sites(list *l) {
    const snw_desc *d = l->m->desc;
    snw_part *part = new_parts(l, SNW_PART_SITE, d->nnamed);
    for (int i = 0; !l->memory_out && i < d->nnamed; i++, part++) {
        part->name = d->named[i].name;
        part->link = d->named[i].site.link;
    }
}

static void list_loops(list *l) {
    const snw_model *m = l->m->compiled;
    snw_part *part = new_parts(l, SNW_PART_LOOP, m->nloop);
    for (int i = 0; !l->memory_out && i < m->nloop; i++, part++) {
        const snw_loop_desc *d = &m->desc->loop[i];
        part->name = d->name;
        part->type = d->nonholonomic   ? snw_nonholonomic_table[d->nonholonomic].symbol
                     : d->ncoupled > 0 ? "mimic"
                                       : snw_joint_name(d->joint);
        part->first = m->loop[i].row;
        part->size = m->loop[i].nrow;
        part->link = d->b.link;
    }
}

// is it on a joint whose position is a quaternion?
static bool turns_a_ball(const snw_model *m, int motor) {
    const snw_motor_desc *d = &m->desc->motor[motor];
    return !d->rod && !d->feed && m->block[m->link_block[d->link]].space != SNW_SPACE_RN;
}

static void list_actuators(list *l) {
    const snw_model *m = l->m->compiled;
    const snw_desc *d = m->desc;
    const int n = snw_actuators(d);
    int ninput = 0;
    for (int i = 0; i < n; i++) ninput += snw_actuator_at(d, i).n;
    snw_part *part = new_parts(l, SNW_PART_ACTUATOR, n);
    snw_part *input = new_parts(l, SNW_PART_INPUT, ninput);
    int first = 0;
    for (int i = 0; !l->memory_out && i < n; i++, part++) {
        const snw_actuator a = snw_actuator_at(d, i);
        part->name = a.name;
        part->type = a.control->name;
        part->first = first;
        part->size = a.n;
        if (a.motor) {
            part->link = a.motor->link;
            part->q = m->motor[i].q;
            part->v = m->motor[i].dof;
            part->nv = m->motor[i].n;
            part->nq = part->nv + turns_a_ball(m, i);
        }
        for (int k = 0; k < part->size; k++, first++, input++) {
            char unit[48];
            snw_actuator_unit(d, i, k, unit);
            *input = *part;
            if (part->size > 1)
                input->name = snw_pool_format(l->m->pool, "%s.%d", part->name, k + 1);
            if (!input->name) l->memory_out = true;
            input->unit = kept_text(l, unit);
            input->first = i;
            input->size = 1;
            input->q = part->nq == part->nv && part->nq > 0 ? part->q + k : -1;
            input->v = part->nv > 0 ? part->v + k : -1;
            input->nq = input->q >= 0;
            input->nv = input->v >= 0;
        }
        part->unit = input[-1].unit;
        for (int k = 1; k <= part->size; k++) {
            if (strcmp(input[-k].unit, part->unit) != 0) part->unit = "";
        }
    }
}

static void list_loads(list *l) {
    const snw_desc *d = l->m->desc;
    snw_part *part = new_parts(l, SNW_PART_LOAD, d->nload);
    for (int i = 0; !l->memory_out && i < d->nload; i++, part++) {
        part->name = d->load[i].name;
        part->type = d->load[i].along ? "distributed" : "force";
        part->link = d->load[i].on.link;
        part->size = 6;
    }
    part = new_parts(l, SNW_PART_CONTACT, d->ncontact);
    for (int i = 0; !l->memory_out && i < d->ncontact; i++, part++) {
        part->name = d->contact[i].name;
        part->type = d->contact[i].nonholonomic ? "no slip"
                     : d->contact[i].is_obstacle
                         ? snw_obstacle_table[d->contact[i].obstacle.kind].name
                     : d->contact[i].is_rods ? "rods"
                                             : "ground";
        part->size = 6;
    }
    part = new_parts(l, SNW_PART_SPRING, d->nforce_element);
    for (int i = 0; !l->memory_out && i < d->nforce_element; i++, part++) {
        const snw_force_element_desc *e = &d->force_element[i];
        const snw_force_element_type *type = &snw_force_element_table[e->kind];
        part->name = e->name;
        part->type = type->name;
        part->link = e->end[1].link;
        if (type->options & SNW_ELEMENT_TAKES_REST) part->value = e->rest;
    }
}

static void list_probes(list *l) {
    const snw_desc *d = l->m->desc;
    int ncolumn = 0;
    for (int i = 0; i < d->nprobe; i++) ncolumn += snw_probe_columns(&d->probe[i]);
    snw_part *part = new_parts(l, SNW_PART_PROBE, d->nprobe);
    snw_part *column = new_parts(l, SNW_PART_COLUMN, ncolumn);
    int first = 0;
    for (int i = 0; !l->memory_out && i < d->nprobe; i++, part++) {
        const snw_probe_desc *p = &d->probe[i];
        part->name = p->name;
        part->type = snw_probe_name(p->kind);
        part->link = p->site.link;
        part->first = first;
        part->size = snw_probe_columns(p);
        snw_component c[SNW_PROBE_WIDTH];
        const int n = snw_probe_components(p->kind, p->joint, c);
        bool same = true;
        for (int k = 0; k < part->size; k++, first++, column++) {
            const snw_dim dim = p->kind == SNW_PROBE_LAW ? p->dim : c[k % n].dim;
            const snw_column named = {
                .probe = p->name, .component = c[k % n].name, .station = p->along > 0 ? k / n : -1};
            char name[200];
            snw_column_name(&named, name, sizeof name);
            *column = *part;
            column->name = kept_text(l, name);
            column->unit = dim_unit(l, dim);
            column->first = i;
            column->size = 1;
            same = same && strcmp(column->unit, column[-k].unit) == 0;
        }
        if (same && part->size > 0) part->unit = column[-1].unit;
    }
}

static void list_study(list *l) {
    static const char *const kind[] = {
        [SNW_STEP_STATIC] = "static",      [SNW_STEP_DYNAMIC] = "dynamic",
        [SNW_STEP_MODES] = "modes",        [SNW_STEP_CHANGE] = "change",
        [SNW_STEP_PATH] = "path",          [SNW_STEP_INVERSE] = "inverse",
        [SNW_STEP_LINEARIZE] = "linearize"};
    const snw_desc *d = l->m->desc;
    const snw_document *document = l->m->source->document;
    snw_part *part = new_parts(l, SNW_PART_STEP, d->nstep);
    for (int i = 0; !l->memory_out && i < d->nstep; i++, part++) {
        part->name = d->step[i].name;
        part->type = kind[d->step[i].kind];
        part->value = d->step[i].duration;
    }
    const int nrun = snw_document_runs(document);
    part = new_parts(l, SNW_PART_RUN, nrun);
    for (int i = 0; !l->memory_out && i < nrun; i++, part++)
        part->name = snw_document_run_name(document, i);
}

static snw_status parts_list_parameters(list *l, snw_error *err) {
    snw_robot_source *s = l->m->source;
    int n = 0;
    const snw_parameter_read *read = NULL;
    (void)pthread_mutex_lock(&s->lock);
    const snw_status status = snw_document_parameters(s->document, s->run, l->m->nset, l->m->set,
                                                      l->m->pool, &n, &read, err);
    (void)pthread_mutex_unlock(&s->lock);
    if (status != SNW_OK) return status;
    snw_part *part = new_parts(l, SNW_PART_PARAMETER, n);
    for (int i = 0; !l->memory_out && i < n; i++, part++) {
        part->name = read[i].name;
        part->type = read[i].kind;
        part->unit = read[i].number.unit;
        part->value = read[i].number.value;
    }
    return SNW_OK;
}

snw_status snw_robot_model_list(snw_robot_model *m, snw_error *err) {
    list l = {.m = m};
    list_links(&l);
    parts_list_coordinates(&l);
    list_nodes(&l);
    list_sites(&l);
    list_loops(&l);
    list_actuators(&l);
    list_loads(&l);
    list_probes(&l);
    list_study(&l);
    SNW_TRY(parts_list_parameters(&l, err));
    return l.memory_out ? snw_fail_memory(err) : SNW_OK;
}

// ---- public calls -------------------------------------------------------------------------------

static bool is_kind(snw_part_kind kind) { return (int)kind >= 0 && kind < SNW_PART_KINDS; }

int snw_robot_model_parts(const snw_robot_model *m, snw_part_kind kind) {
    return m && is_kind(kind) ? m->npart[kind] : 0;
}

snw_status snw_robot_model_part(const snw_robot_model *m, snw_part_kind kind, int index,
                                snw_part *out) {
    if (!out || index < 0 || index >= snw_robot_model_parts(m, kind)) return SNW_E_ARGUMENT;
    *out = m->part[kind][index];
    return SNW_OK;
}

int snw_robot_model_find(const snw_robot_model *m, snw_part_kind kind, const char *name) {
    const int n = name ? snw_robot_model_parts(m, kind) : 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(m->part[kind][i].name, name) == 0) return i;
    }
    return -1;
}
