// SPDX-License-Identifier: MIT
//
// Numbers of the file that a step varies: constants of `parameters`, or any number that an override
// may name. The description with other values is read again from the same source.
#include "language/read.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "language/source.h"

#include <stdio.h>
#include <string.h>

// Data for reading the model again with other values; the document must live as long.
typedef struct family_source {
    const snw_document *document;
    const snw_source *source;
    int run, until;
    const snw_desc *like;
    const snw_desc_family *family;
} family_source;

static snw_status family_at(void *user, int until, int n, const int *k, const double *value,
                            snw_desc **out, snw_error *err) {
    enum { SIZE = 240 };
    const family_source *f = user;
    char text[SNW_PARAMETERS][SIZE];
    const char *set[SNW_PARAMETERS];
    for (int i = 0; i < n; i++) {
        const snw_parameter_desc *p = &f->family->parameter[k[i]];
        char unit[48];
        snw_dim_unit(p->dim, unit, sizeof unit);
        (void)snprintf(text[i], SIZE, "%.120s=%.17g %s", p->name, value[i], unit);
        set[i] = text[i];
    }
    return snw_document_reread(f->document, f->source, f->run, until < 0 ? f->until : until, n, set,
                               f->like, out, err);
}

snw_status snw_read_family(snw_reader *r, int index, snw_desc_family *out) {
    snw_parameter_desc *list = snw_pool_array(r->pool, SNW_PARAMETERS, sizeof *list);
    family_source *family = snw_pool_take(r->pool, sizeof *family);
    if (!list || !family) return snw_read_memory(r);
    *family = (family_source){.document = r->document,
                              .source = r->source,
                              .run = r->run,
                              .until = index,
                              .like = r->desc,
                              .family = out};
    *out = (snw_desc_family){.parameter = list, .at = family_at, .user = family};
    return SNW_OK;
}

// A number that a change before step `until` sets has another value there than in the file.
static snw_status refuse_changed(snw_reader *r, const snw_node *node, const char *name, int until,
                                 const char *what) {
    const snw_node *study = snw_node_get(r->root, "study");
    for (int i = 0; i < until; i++) {
        const snw_node *change = snw_node_get(study->entry[i].value, "change");
        if (!change || !snw_node_get(change, name)) continue;
        return snw_fail_at(r->err, node->location,
                           "parameter '%s' is changed by step '%s' before %s; change another one "
                           "that it depends on, or make it a run of its own",
                           name, r->desc->step[i].name, what);
    }
    return SNW_OK;
}

// An inverse step before finds numbers of the file, which the description does not have.
static snw_status refuse_found(snw_reader *r, const snw_node *node, const char *name, int until) {
    for (int i = 0; i < until; i++) {
        const snw_step_desc *step = &r->desc->step[i];
        if (step->kind != SNW_STEP_INVERSE || step->inverse.family.nparameter == 0) continue;
        return snw_fail_at(
            r->err, node->location,
            "'%s' cannot vary after step '%s', which finds numbers of the file; make "
            "it a run of its own",
            name, step->name);
    }
    return SNW_OK;
}

// A number that is no parameter, by the path of an override.
static snw_status number_of_path(snw_reader *r, const snw_node *node, snw_parameter_desc *p) {
    const snw_node *found = NULL;
    SNW_TRY(snw_source_find(r->source, r->run, p->name, node->location, r->pool, &found, r->err));
    if (!found || found->kind == SNW_NODE_NULL)
        return snw_fail_at(r->err, node->location, "the file does not give '%s'", p->name);
    snw_error why = {0};
    if (found->kind == SNW_NODE_TEXT &&
        snw_expr_parse_constant(r->pool, found->scope, found->text, "number", 1, 1, &p->value,
                                &p->dim, &why) == SNW_OK)
        return SNW_OK;
    return snw_fail_at(r->err, node->location, "'%s' is not a constant number; name one that is",
                       p->name);
}

snw_status snw_read_family_add(snw_reader *r, const snw_node *node, const char *name, int index,
                               const char *what, snw_desc_family *out, int *k) {
    for (*k = 0; *k < out->nparameter; ++*k) {
        if (strcmp(out->parameter[*k].name, name) == 0) return SNW_OK;
    }
    SNW_TRY(refuse_changed(r, node, name, index, what));
    SNW_TRY(refuse_found(r, node, name, index));
    if (out->nparameter == SNW_PARAMETERS)
        return snw_fail_at(r->err, node->location, "at most %d parameters", SNW_PARAMETERS);
    snw_parameter_desc *p = (snw_parameter_desc *)&out->parameter[out->nparameter]; // of the pool
    *p = (snw_parameter_desc){.name = name};
    snw_error why = {0};
    if (!snw_parameters_find(snw_node_get(r->root, "parameters"), name)) {
        SNW_TRY(number_of_path(r, node, p));
    } else if (snw_expr_parse_constant(r->pool, r->root->scope, name, "by", 1, 1, &p->value,
                                       &p->dim, &why) != SNW_OK) {
        return snw_fail_at(r->err, node->location,
                           "parameter '%s' is not a constant number; name one that is", name);
    }
    out->nparameter++;
    return SNW_OK;
}
