// SPDX-License-Identifier: MIT
//
// Reference of the model language in parts: one per map with its keys, and others for the words
// that may appear in values. Every part is a table of three columns, which text, JSON and the
// generator of docs/language share.
#include "cli/help_language.h"

#include "base/fail.h"
#include "cli/topics.h"
#include "language/language.h"
#include "language/node.h"
#include "model/desc.h" // also bases, functions and units

#include <stdio.h>
#include <string.h>

enum { NCOLUMN = 3, WIDTH = 100, INDENT = 2, GAP = 2, MIDDLE_MAX = 36 };

// ---- rows --------------------------------------------------------------------------------------

// Destination of rows: measurement of the widths, text, or JSON.
typedef struct writer {
    enum { MEASURE, PRINT, JSON } mode;
    int width[NCOLUMN]; // widths of the columns, after MEASURE
    snw_json *json;
    const char *find; // only rows that have this word; NULL: all
    bool in_texts;    // in any of their texts, else in their names
    int rows;         // number of rows written or measured
} writer;

// number of characters, not bytes
static int help_language_text_width(const char *text, size_t length) {
    int n = 0;
    for (size_t i = 0; i < length; i++) n += (text[i] & 0xC0) != 0x80;
    return n;
}

// number of bytes of `text` that fit into `width`, up to a blank if possible
static size_t line_length(const char *text, int width) {
    size_t best = 0;
    for (size_t i = 0;; i++) {
        const bool end = text[i] == '\0' || text[i] == ' ';
        if (end && (best == 0 || help_language_text_width(text, i) <= width)) best = i;
        if (text[i] == '\0' || (best > 0 && help_language_text_width(text, i) > width)) return best;
    }
}

// print the cells side by side, each wrapped in its column
static void print_row(const writer *w, const char *const cell[NCOLUMN]) {
    const char *rest[NCOLUMN];
    for (int k = 0; k < NCOLUMN; k++) rest[k] = cell[k];
    do {
        int at = 0, column = INDENT;
        for (int k = 0; k < NCOLUMN; k++) {
            const size_t length = line_length(rest[k], w->width[k]);
            if (length > 0) {
                printf("%*s%.*s", column - at, "", (int)length, rest[k]);
                at = column + help_language_text_width(rest[k], length);
            }
            rest[k] += length;
            rest[k] += *rest[k] == ' ';
            column += w->width[k] + GAP;
        }
        (void)putchar('\n');
    } while (*rest[0] || *rest[1] || *rest[2]);
}

static void help_language_row(writer *w, const char *first, const char *second, const char *third) {
    const char *const cell[NCOLUMN] = {first, second, third};
    const bool named = w->find && snw_text_has(first, w->find);
    const bool told = w->find && (snw_text_has(second, w->find) || snw_text_has(third, w->find));
    if (w->find && (w->in_texts ? named || !told : !named)) return;
    w->rows++;
    switch (w->mode) {
    case MEASURE:
        for (int k = 0; k < NCOLUMN; k++) {
            const int n = help_language_text_width(cell[k], strlen(cell[k]));
            if (n > w->width[k]) w->width[k] = n;
        }
        return;
    case PRINT:
        print_row(w, cell);
        return;
    case JSON:
        snw_field_list(w->json, NULL);
        for (int k = 0; k < NCOLUMN; k++) snw_field_text(w->json, NULL, cell[k]);
        snw_json_close(w->json);
        return;
    }
}

// ---- parts -------------------------------------------------------------------------------------

// A part of the language: the rows of a table of keys, or rows written by a function.
typedef struct part {
    const char *name, *about;
    const char *head[NCOLUMN];
    void (*rows)(writer *w);
    const snw_key_table *keys;
} part;

static void strain_rows(writer *w) {
    help_language_row(w, "rigid", "", "no strain changes; the rod keeps its rest shape");
    help_language_row(w, "kirchhoff", "a basis", "twist, bend_y, bend_z");
    help_language_row(w, "cosserat", "a basis", "all six components");
}

static void basis_rows(writer *w) {
    for (int i = 0; i < SNW_BASIS_COUNT; i++) {
        const snw_basis_type *type = &snw_basis_table[i];
        char size[80];
        (void)snprintf(size, sizeof size, "%s%s%s", type->number ? type->number : "",
                       type->number && type->piecewise ? "; " : "",
                       type->piecewise ? "the rod's elements or breaks" : "");
        help_language_row(w, type->name, size, type->meaning);
    }
}

static void integrator_rows(writer *w) {
#define X(code, name, number, meaning) help_language_row(w, name, number, meaning);
    SNW_RULE_LIST(X)
#undef X
}

static void help_language_append(char *out, size_t size, const char *text) {
    const size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s", text);
}

// out <- coordinates of a joint: "angle, slide"
static void coordinates_text(const snw_joint_type *joint, char *out, size_t size) {
    (void)snprintf(out, size, "%s",
                   joint->dof == 0                 ? "none"
                   : joint->space == SNW_SPACE_SE3 ? "a pose, six"
                   : joint->space == SNW_SPACE_SO3 ? "a rotation, three"
                                                   : joint->coordinate[0].name);
    for (int i = 1; joint->space == SNW_SPACE_RN && i < joint->dof; i++) {
        help_language_append(out, size, ", ");
        help_language_append(out, size, joint->coordinate[i].name);
    }
}

static void joint_rows(writer *w) {
    for (int i = 0; i < SNW_JOINT_COUNT; i++) {
        char coordinates[80];
        coordinates_text(&snw_joint_table[i], coordinates, sizeof coordinates);
        help_language_row(w, snw_joint_table[i].name, coordinates, snw_joint_table[i].meaning);
    }
}

static void site_rows(writer *w) {
    help_language_row(w, "world", "", "the fixed frame");
    help_language_row(w, "arm", "any link", "its end; of a rod the tip");
    help_language_row(w, "arm.root, arm.tip", "a link with a rod", "the rod's ends");
    help_language_row(w, "arm@0.12 m, arm@L/3", "a link with a rod",
                      "the section at this arc length");
    help_language_row(w, "arm@50%", "a link with a rod", "the section at this part of the length");
    help_language_row(w, "camera", "a name under sites", "that frame");
}

static void study_rows(writer *w) {
    help_language_row(w, "static", "those of static",
                      "equilibria: at the current time, or along a path");
    help_language_row(w, "dynamic", "those of dynamic", "motion, from the current state");
    help_language_row(
        w, "kinematic", "those of kinematic",
        "locomotion: motion from prescribed shapes and contacts, then the required forces");
    help_language_row(w, "modes", "those of modes",
                      "frequencies, damping and shapes of small motions");
    help_language_row(
        w, "path", "those of path",
        "a path of equilibria through folds and bifurcations, with t as its parameter");
    help_language_row(w, "inverse", "those of inverse",
                      "the inputs of actuators for desired values of probes in equilibrium; the "
                      "following steps hold them");
    help_language_row(w, "linearize", "those of linearize",
                      "the linear model A, B, C, D about the present state, for control");
    help_language_row(w, "change", "paths and values",
                      "overrides values for the following steps; may have a name");
}

// keys of a scheme: "step or adapt, rho", "step, engine: shooting"
static void scheme_rows(writer *w) {
    for (int i = 0; i < SNW_SCHEME_COUNT; i++) {
        const snw_scheme_info *row = &snw_scheme_table[i];
        char keys[80];
        (void)snprintf(keys, sizeof keys, "%s%s%s%s",
                       row->chooses_steps                      ? "tolerance"
                       : row->options & SNW_SCHEME_TAKES_ADAPT ? "step or adapt"
                                                               : "step",
                       row->options & SNW_SCHEME_TAKES_RHO ? ", rho" : "",
                       row->options & SNW_SCHEME_TAKES_ALPHA ? ", alpha" : "",
                       row->works & SNW_SCHEME_ON_STRAIN ? "" : ", engine: shooting");
        help_language_row(w, row->name, keys, row->meaning);
    }
}

static void engine_rows(writer *w) {
#define X(code, name, meaning) help_language_row(w, name, "engine", meaning);
    SNW_ENGINE_LIST(X)
#undef X
#define X(code, name, meaning) help_language_row(w, name, "along", meaning);
    SNW_SHOOT_ALONG_LIST(X)
#undef X
#define X(code, name, meaning) help_language_row(w, name, "history", meaning);
    SNW_SHOOT_HISTORY_LIST(X)
#undef X
#define X(code, name, meaning) help_language_row(w, name, "solver", meaning);
    SNW_SHOOT_SOLVER_LIST(X)
#undef X
}

enum { DIM_TEXT = 96 };

// out <- SI unit of a dimension, empty for a plain number
static void unit_text(snw_dim dim, char out[DIM_TEXT]) {
    snw_dim_text(dim, out, DIM_TEXT);
    char *open = strrchr(out, '(');
    if (open) {
        open[strcspn(open, ")")] = '\0';
        memmove(out, open + 1, strlen(open + 1) + 1);
    } else if (strchr(out, ' ')) {
        out[0] = '\0';
    }
}

// out <- components with units, "x y z (m)"; equal units are written once
static void components_text(snw_probe_kind kind, char *out, size_t size) {
    snw_component c[SNW_PROBE_WIDTH];
    const int n = snw_probe_components(kind, SNW_JOINT_REVOLUTE, c);
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (i > 0) help_language_append(out, size, " ");
        help_language_append(out, size, c[i].name);
        char unit[DIM_TEXT], next[DIM_TEXT] = "";
        unit_text(c[i].dim, unit);
        if (i + 1 < n) unit_text(c[i + 1].dim, next);
        if (unit[0] && (i + 1 == n || strcmp(unit, next) != 0)) {
            help_language_append(out, size, out[0] ? " (" : "(");
            help_language_append(out, size, unit);
            help_language_append(out, size, i + 1 == n ? ")" : "),");
        }
    }
}

// out <- components that the name of a probe without component denotes in `expect:`
static void bare_text(snw_probe_kind kind, char *out, size_t size) {
    int first = 0, count = 0;
    snw_component c[SNW_PROBE_WIDTH];
    const int n = snw_probe_components(kind, SNW_JOINT_REVOLUTE, c);
    snw_probe_primary(kind, SNW_JOINT_REVOLUTE, 0, &first, &count);
    (void)snprintf(out, size, "%s", n == 1 ? "the number" : count == n ? "all" : "");
    for (int i = first; count < n && i < first + count; i++) {
        if (i > first) help_language_append(out, size, " ");
        help_language_append(out, size, c[i].name);
    }
}

static void quantity_rows(writer *w) {
    for (int i = 0; i < SNW_PROBE_COUNT; i++) {
        char components[200], bare[80];
        components_text((snw_probe_kind)i, components, sizeof components);
        bare_text((snw_probe_kind)i, bare, sizeof bare);
        help_language_row(w, snw_probe_table[i].name, components, bare);
    }
}

static void expression_rows(writer *w) {
    help_language_row(w, "t", "s", "time");
    help_language_row(w, "x", "m", "arc length along a rod, from its root");
    help_language_row(w, "L", "m", "length of that rod");
    help_language_row(w, "pi", "number", "3.14159..");
    help_language_row(w, "on, off", "condition", "holds always, never");
    help_language_row(w, "or, and, not", "of conditions", "lowest precedence, in this order");
    help_language_row(w, "< <= > >= == !=", "of two alike",
                      "gives a condition; comparisons do not chain");
    help_language_row(w, "+ -", "of two alike", "sum, difference, sign");
    help_language_row(w, "* /", "of any", "product, quotient");
    help_language_row(w, "^", "any ^ number", "power; -2^2 is -4, 2^3^2 is 2^9");
    help_language_row(w, "5 mm, pi rad, (a + b) s", "number, then unit",
                      "units have the highest precedence");
}

static const char *memory_takes(snw_memory memory) {
    switch (memory) {
    case SNW_MEMORY_INTEGRAL:
        return "any, gives it times s";
    case SNW_MEMORY_SAMPLED:
        return "any and a period, keeps it";
    case SNW_MEMORY_ONCE:
        return "a condition, gives one";
    }
    return "";
}

static const char *function_takes(const snw_function *f) {
    switch (f->kind) {
    case SNW_FUNCTION_NUMBER:
        return "a number or angle";
    case SNW_FUNCTION_KEEP:
        return "any, and keeps it";
    case SNW_FUNCTION_ROOT:
        return "any, gives its root";
    case SNW_FUNCTION_SIGN:
        return "any, gives a number";
    case SNW_FUNCTION_ALIKE:
        return "alike, and keeps it";
    case SNW_FUNCTION_RATIO:
        return "alike, gives a number";
    case SNW_FUNCTION_RISE:
        return "alike, a < b, gives a number";
    case SNW_FUNCTION_IF:
        return "a condition, two alike";
    case SNW_FUNCTION_LIMIT:
        return "alike, and keeps it";
    case SNW_FUNCTION_MEMORY:
        return memory_takes((snw_memory)f->op);
    case SNW_FUNCTION_TABLE:
        return "a file, a name or number, any";
    }
    return "";
}

static void function_rows(writer *w) {
    int n = 0;
    const snw_function *f = snw_functions(&n);
    for (int i = 0; i < n; i++) {
        char call[80];
        (void)snprintf(call, sizeof call, "%s(%s)", f[i].name, f[i].args);
        help_language_row(w, call, function_takes(&f[i]), f[i].meaning);
    }
}

static void unit_rows(writer *w) {
    int nunit = 0, nprefix = 0;
    const snw_unit *u = snw_units(&nunit);
    const snw_prefix *p = snw_prefixes(&nprefix);
    for (int i = 0; i < nunit; i++) {
        char prefixed[80] = "", dim[DIM_TEXT], meaning[160];
        for (int k = 0; k < nprefix; k++) {
            // of the three spellings of micro only the first is listed
            if (!strchr(u[i].prefixes, p[k].letter) || p[k].symbol[0] != p[k].letter) continue;
            if (prefixed[0]) help_language_append(prefixed, sizeof prefixed, " ");
            help_language_append(prefixed, sizeof prefixed, p[k].symbol);
            help_language_append(prefixed, sizeof prefixed, u[i].symbol);
        }
        snw_dim_text(u[i].dim, dim, sizeof dim);
        (void)snprintf(meaning, sizeof meaning, "%s; %s", u[i].name, dim);
        help_language_row(w, u[i].symbol, prefixed, meaning);
    }
}

static const part words[] = {
    {"sites", "frames on a robot", {"site", "of", "meaning"}, site_rows, NULL},
    {"joints", "how links move", {"joint", "coordinates", "meaning"}, joint_rows, NULL},
    {"strains", "all of a rod", {"strain", "followed by", "changes"}, strain_rows, NULL},
    {"bases", "shape functions of strains", {"basis", "size", "meaning"}, basis_rows, NULL},
    {"integrators", "along rods", {"integrator", "number", "meaning"}, integrator_rows, NULL},
    {"quantities", "of probes", {"quantity", "components", "bare name"}, quantity_rows, NULL},
    {"studies", "kinds of steps", {"step", "keys", "finds"}, study_rows, NULL},
    {"schemes", "of dynamic steps", {"scheme", "keys", "meaning"}, scheme_rows, NULL},
    {"engines", "of static and dynamic steps", {"word", "of", "meaning"}, engine_rows, NULL},
    {"expressions", "their words", {"word", "of", "meaning"}, expression_rows, NULL},
    {"functions", "in expressions", {"function", "takes", "meaning"}, function_rows, NULL},
    {"units", "behind numbers", {"unit", "with a prefix", "meaning"}, unit_rows, NULL},
};

enum { NWORDS = sizeof words / sizeof words[0], MOST_PARTS = 96 };

// *out <- part i: tables of keys, then the others; false after the last one
static bool get_part(int i, part *out) {
    int n = 0;
    const snw_key_table *const *table = snw_language_tables(&n);
    SNW_ASSERT(n + NWORDS <= MOST_PARTS);
    if (i >= n + NWORDS) return false;
    if (i >= n) {
        *out = words[i - n];
    } else {
        *out = (part){.name = table[i]->name,
                      .about = table[i]->about,
                      .head = {"key", "value", "meaning"},
                      .keys = table[i]};
    }
    return true;
}

static void write_rows(const part *p, writer *w) {
    if (!p->keys) {
        p->rows(w);
        return;
    }
    for (int i = 0; i < p->keys->n; i++) {
        const snw_key *k = &p->keys->key[i];
        help_language_row(w, k->name, k->form, k->meaning);
    }
}

static void print_part(const part *p, const writer *choice) {
    writer w = *choice;
    w.mode = MEASURE;
    write_rows(p, &w);
    if (w.rows == 0) return;
    if (w.width[1] > MIDDLE_MAX) w.width[1] = MIDDLE_MAX;
    w.width[2] = WIDTH - INDENT - w.width[0] - w.width[1] - 2 * GAP;
    w.mode = PRINT;
    printf("\n%s (%s):\n", p->name, p->about);
    write_rows(p, &w);
}

static void write_part(const part *p, const writer *choice, snw_json *j) {
    writer w = *choice;
    w.mode = MEASURE;
    write_rows(p, &w);
    if (w.rows == 0) return;
    snw_field_object(j, NULL);
    snw_field_text(j, "name", p->name);
    snw_field_text(j, "about", p->about);
    snw_field_list(j, "head");
    for (int k = 0; k < NCOLUMN; k++) snw_field_text(j, NULL, p->head[k]);
    snw_json_close(j);
    snw_field_list(j, "rows");
    w.mode = JSON;
    w.json = j;
    write_rows(p, &w);
    snw_json_close(j);
    snw_json_close(j);
}

// ---- selection ---------------------------------------------------------------------------------

// a part named `rectangle, ellipse` is found by either word
static bool has_name(const part *p, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = p->name; *at;) {
        const size_t length = strcspn(at, ",");
        if (length == n && strncmp(at, word, n) == 0) return true;
        at += length;
        at += strspn(at, ", ");
    }
    return false;
}

static bool is_chosen(const part *p, int n, const char *const *word) {
    for (int i = 0; i < n; i++) {
        if (has_name(p, word[i])) return true;
    }
    return n == 0;
}

static bool is_part(const char *word) {
    part p;
    for (int i = 0; get_part(i, &p); i++) {
        if (has_name(&p, word)) return true;
    }
    return false;
}

static void write_parts(int n, const char *const *word, const writer *choice, snw_reply *reply) {
    part p;
    for (int i = 0; get_part(i, &p); i++) {
        if (!is_chosen(&p, n, word)) continue;
        if (reply->json) {
            write_part(&p, choice, reply->json);
        } else {
            print_part(&p, choice);
        }
    }
}

// ---- search ------------------------------------------------------------------------------------

// number of rows of all parts that a choice selects
static int count_rows(const writer *choice) {
    writer w = *choice;
    w.mode = MEASURE;
    part p;
    for (int i = 0; get_part(i, &p); i++) write_rows(&p, &w);
    return w.rows;
}

// topics by the words of the field that have the query
static void write_topics(const char *query, snw_reply *reply) {
    int n = 0;
    const snw_topic *topic = snw_topics(&n);
    writer w = {.width = {0, WIDTH - INDENT - GAP, 0}};
    if (reply->json) snw_field_list(reply->json, "topics");
    for (int i = 0; i < n; i++) {
        if (!snw_text_has(topic[i].words, query)) continue;
        if (reply->json) {
            snw_field_object(reply->json, NULL);
            snw_field_text(reply->json, "words", topic[i].words);
            snw_field_text(reply->json, "answer", topic[i].answer);
            snw_field_text(reply->json, "page", topic[i].page);
            snw_json_close(reply->json);
            continue;
        }
        printf("\n%s\n", topic[i].words);
        const char *const answer[NCOLUMN] = {"", topic[i].answer, ""};
        const char *const page[NCOLUMN] = {"", topic[i].page, ""};
        print_row(&w, answer);
        print_row(&w, page);
    }
    if (reply->json) snw_json_close(reply->json);
}

enum { WORD = 32 }; // bytes of a word of a topic

// out <- the name of a part or the word of a topic nearest to a query; false: there is none
static bool near_word(const char *query, char out[WORD]) {
    int n = 0;
    part p;
    const snw_topic *topic = snw_topics(&n);
    for (int i = 0; get_part(i, &p); i++) {
        const char *near = snw_nearest(query, 1, &p.name);
        if (near) return (void)snprintf(out, WORD, "%s", near), true;
    }
    for (int i = 0; i < n; i++) {
        for (const char *at = topic[i].words; *at;) {
            const size_t length = strcspn(at, ", ");
            (void)snprintf(out, WORD, "%.*s", (int)length, at);
            const char *known = out;
            if (snw_nearest(query, 1, &known)) return true;
            at += length;
            at += strspn(at, ", ");
        }
    }
    return false;
}

// number of topics, names and descriptions that have the query
static int count_matches(const char *query) {
    const writer named = {.find = query}, told = {.find = query, .in_texts = true};
    int n = 0, found = count_rows(&named) + count_rows(&told);
    const snw_topic *topic = snw_topics(&n);
    for (int i = 0; i < n; i++) found += snw_text_has(topic[i].words, query);
    return found;
}

// topics, then keys and words with the query in their names, then those with it in descriptions
static void write_matches(const char *query, snw_reply *reply) {
    const writer named = {.find = query}, told = {.find = query, .in_texts = true};
    write_topics(query, reply);
    if (reply->json) snw_field_list(reply->json, "parts");
    write_parts(0, NULL, &named, reply);
    if (!reply->json && count_rows(&told) > 0) printf("\n'%s' in descriptions:\n", query);
    write_parts(0, NULL, &told, reply);
    if (reply->json) snw_json_close(reply->json);
}

static int refuse_query(const char *query, snw_reply *reply) {
    snw_error err = {0};
    char near[WORD];
    if (near_word(query, near)) {
        (void)snw_fail(&err, SNW_E_ARGUMENT, "the language has no word '%s' (did you mean '%s'?)",
                       query, near);
    } else {
        (void)snw_fail(&err, SNW_E_ARGUMENT,
                       "the language has no word '%s'; 'sinew help language' shows all", query);
    }
    snw_reply_fail(reply, &err);
    return SNW_EXIT_USAGE;
}

int snw_help_language(int n, const char *const *word, snw_reply *reply) {
    bool parts = true;
    char query[WIDTH] = "";
    for (int i = 0; i < n; i++) {
        parts = parts && is_part(word[i]);
        if (i > 0) help_language_append(query, sizeof query, " ");
        help_language_append(query, sizeof query, word[i]);
    }
    if (!parts) {
        if (count_matches(query) == 0) return refuse_query(query, reply);
        write_matches(query, reply);
        return SNW_EXIT_DONE;
    }
    if (reply->json) {
        snw_field_list(reply->json, "parts");
    } else if (n == 0) {
        printf("The keys and words of a model file; docs/language/ explains them with examples.\n"
               "'sinew help language rod' shows one part of it, 'sinew help language gravity' "
               "searches.\n");
    }
    const writer all = {0}, named = {.find = query};
    write_parts(n, word, &all, reply);
    if (reply->json) snw_json_close(reply->json);
    if (n != 1) return SNW_EXIT_DONE;
    // the word may also be a subject, and a key of other maps
    write_topics(query, reply);
    if (!reply->json) write_parts(0, NULL, &named, reply);
    return SNW_EXIT_DONE;
}
