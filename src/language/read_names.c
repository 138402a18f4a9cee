// SPDX-License-Identifier: MIT
//
// Collects the names of all things and steps, checks that they are valid and unique, and finds
// things by name for the other readers.
#include "language/read.h"

#include "base/fail.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// sections whose entries are things, and their kinds
static const struct {
    const char *key;
    snw_thing kind;
} sections[] = {{"materials", SNW_THING_MATERIAL}, {"robot", SNW_THING_LINK},
                {"sites", SNW_THING_SITE},         {"loops", SNW_THING_LOOP},
                {"actuators", SNW_THING_ACTUATOR}, {"loads", SNW_THING_LOAD},
                {"contacts", SNW_THING_CONTACT},   {"fluid", SNW_THING_FLUID},
                {"springs", SNW_THING_SPRING},     {"fields", SNW_THING_FIELD}};

enum { NSECTION = sizeof sections / sizeof sections[0] };

static const char *thing_text(snw_thing kind) {
    switch (kind) {
    case SNW_THING_MATERIAL:
        return "a material";
    case SNW_THING_LINK:
        return "a link";
    case SNW_THING_SITE:
        return "a site";
    case SNW_THING_LOOP:
        return "a loop";
    case SNW_THING_LOAD:
        return "a load";
    case SNW_THING_ACTUATOR:
        return "an actuator";
    case SNW_THING_FLUID:
        return "a fluid";
    case SNW_THING_CONTACT:
        return "a contact";
    case SNW_THING_SPRING:
        return "a spring, cable, damper or bushing";
    case SNW_THING_FIELD:
        return "a field";
    case SNW_THING_STEP:
        return "a step of the study";
    }
    return "a thing";
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

// length of the name without its index; -1 when it is not a valid name. `joined`: words may be
// joined by one of -/. in names of at most JOINED_MOST characters.
static int stem_length(const char *name, bool joined) {
    enum { JOINED_MOST = 200 };
    int i = 0;
    joined = joined && strnlen(name, JOINED_MOST + 1) <= JOINED_MOST;
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') return -1;
    while (is_word_char(name[i]) ||
           (joined && name[i] && strchr("-/.", name[i]) && is_word_char(name[i + 1])))
        i++;
    const int stem = i;
    if (name[i] == '(') {
        i++;
        if (name[i] == '-') i++;
        if (!isdigit((unsigned char)name[i])) return -1;
        while (isdigit((unsigned char)name[i])) i++;
        if (name[i++] != ')') return -1;
    }
    return name[i] == '\0' ? stem : -1;
}

static snw_status check_any_name(snw_reader *r, const char *name, snw_source_location location,
                                 bool joined) {
    const int stem = stem_length(name, joined);
    if (stem < 0) {
        char *other = snw_pool_text(r->pool, name, strlen(name));
        if (!other) return snw_read_memory(r);
        for (char *c = other; *c; c++) {
            if (!isalnum((unsigned char)*c)) *c = '_';
        }
        const bool begins = isalpha((unsigned char)other[0]) || other[0] == '_';
        return snw_fail_at(r->err, location,
                           "'%s' is not a name: letters, digits and _%s, beginning with a letter; "
                           "e.g. '%s%s'",
                           name, joined ? ", and - / . between them" : "", begins ? "" : "_",
                           other);
    }
    const char *bare = snw_pool_text(r->pool, name, (size_t)stem);
    if (!bare) return snw_read_memory(r);
    if (r->root->scope && snw_scope_has(r->root->scope, bare)) {
        return snw_fail_at(r->err, location, "'%s' is already the name of a parameter", bare);
    }
    return SNW_OK;
}

snw_status snw_check_name(snw_reader *r, const char *name, snw_source_location location) {
    return check_any_name(r, name, location, false);
}

snw_status snw_check_thing_name(snw_reader *r, const char *name, snw_source_location location) {
    return check_any_name(r, name, location, true);
}

size_t snw_thing_stem(const snw_reader *r, const char *text) {
    enum { PATH_MOST = 1000 };
    const size_t stem = strcspn(text, ".@");
    size_t found = stem;
    for (size_t n = stem; text[n] == '.' && n < PATH_MOST;) { // names may have dots
        n += 1 + strcspn(text + n + 1, ".@");
        const char *name = snw_pool_text(r->pool, text, n);
        if (name && snw_names_find(&r->things, name)) found = n;
    }
    return found;
}

// No name with a dot begins with another name and a dot: `arm.tip` is a site of the rod `arm`.
static snw_status check_dotted_names(snw_reader *r) {
    for (int i = 0; i < r->things.n; i++) {
        const snw_name *own = &r->things.name[i];
        for (const char *dot = strchr(own->text, '.'); dot; dot = strchr(dot + 1, '.')) {
            const char *stem = snw_pool_text(r->pool, own->text, (size_t)(dot - own->text));
            if (!stem) return snw_read_memory(r);
            const snw_name *other = snw_names_find(&r->things, stem);
            bool taken = other || strcmp(stem, "world") == 0;
            for (int k = 0; k < snw_keys_file.n; k++)
                taken = taken || strcmp(snw_keys_file.key[k].name, stem) == 0;
            if (!taken) continue;
            return snw_fail_at(r->err, own->location,
                               "'%s' begins with the name '%s' and a dot, which is how paths are "
                               "written; give one of them another name",
                               own->text, stem);
        }
    }
    return SNW_OK;
}

snw_status snw_add_thing(snw_reader *r, const char *name, snw_source_location location,
                         snw_thing kind, int index) {
    SNW_TRY(check_any_name(r, name, location, kind != SNW_THING_STEP));
    if (strcmp(name, "world") == 0) {
        return snw_fail_at(r->err, location,
                           "'world' is the fixed frame and cannot be the name of %s",
                           thing_text(kind));
    }
    for (int i = 0; i < snw_keys_file.n; i++) {
        if (strcmp(snw_keys_file.key[i].name, name) == 0) {
            return snw_fail_at(r->err, location,
                               "'%s' is a key of the file and cannot be the name of %s", name,
                               thing_text(kind));
        }
    }
    const snw_name *old = snw_names_find(&r->things, name);
    if (old) {
        return snw_fail_at(r->err, location, "'%s' is already the name of %s (%s)", name,
                           thing_text((snw_thing)old->kind),
                           snw_location_text(old->location, location).text);
    }
    const snw_name named = {.text = name, .kind = (int)kind, .index = index, .location = location};
    snw_names_add(&r->things, named);
    return SNW_OK;
}

// map with the keys of a step, NULL when it is a bare word
static const snw_node *step_map(const snw_node *step) {
    if (step->kind != SNW_NODE_MAP || step->n < 1) return NULL;
    return step->entry[0].value;
}

static snw_status add_steps(snw_reader *r, const snw_node *study) {
    for (int i = 0; i < study->n; i++) {
        const snw_node *name = snw_node_get(step_map(study->entry[i].value), "name");
        if (!name) continue;
        const char *text = "";
        SNW_TRY(snw_read_name(r, name, "name", &text));
        SNW_TRY(snw_add_thing(r, text, name->location, SNW_THING_STEP, i));
    }
    return SNW_OK;
}

// names of concentric tubes: links behind those of the file, see snw_read_tubes
static snw_status add_tubes(snw_reader *r, const snw_node *robot, int nlink) {
    int extra = nlink;
    for (int i = 0; i < nlink; i++) {
        const snw_node *link = robot->entry[i].value;
        const int n = snw_tubes_written(link);
        for (int k = 0; k < n; k++) {
            const snw_entry *e = &snw_node_get(link, "tubes")->entry[k];
            SNW_TRY(snw_add_thing(r, e->key, e->location, SNW_THING_LINK, extra + 1 + k));
        }
        extra += snw_tubes_links(link);
    }
    return SNW_OK;
}

snw_status snw_read_names(snw_reader *r) {
    const snw_node *node[NSECTION];
    int count[NSECTION], total = 0;
    for (int s = 0; s < NSECTION; s++) {
        SNW_TRY(snw_read_section_entries(r, sections[s].key, &node[s], &count[s]));
        total += count[s];
    }
    const snw_node *robot = snw_node_get(r->root, "robot");
    const int nlink = robot && robot->kind == SNW_NODE_MAP ? robot->n : 0;
    // tubes, and the actuators that turn them
    for (int i = 0; i < nlink; i++) total += 2 * snw_tubes_written(robot->entry[i].value);
    const snw_node *study = snw_node_get(r->root, "study");
    const bool steps = study && study->kind == SNW_NODE_LIST;
    // room for all steps: those without a name are named in read_study.c
    if (!snw_names_init(&r->things, r->pool, total + (steps ? study->n : 0))) {
        return snw_read_memory(r);
    }
    for (int s = 0; s < NSECTION; s++) {
        for (int i = 0; i < count[s]; i++) {
            const snw_entry *e = &node[s]->entry[i];
            SNW_TRY(snw_add_thing(r, e->key, e->location, sections[s].kind, i));
        }
    }
    SNW_TRY(add_tubes(r, robot, nlink));
    SNW_TRY(check_dotted_names(r));
    return steps ? add_steps(r, study) : SNW_OK;
}

snw_status snw_find_thing(snw_reader *r, const snw_node *node, const char *name, snw_thing kind,
                          int *index) {
    const snw_name *found = snw_names_find(&r->things, name);
    if (found && found->kind == (int)kind) {
        *index = found->index;
        return SNW_OK;
    }
    // without the article: "no link 'arm'"
    const char *bare = strchr(thing_text(kind), ' ') + 1;
    if (found) {
        return snw_fail_at(r->err, node->location, "'%s' is %s, not %s", name,
                           thing_text((snw_thing)found->kind), thing_text(kind));
    }
    const char **known = snw_pool_array(r->pool, (size_t)r->things.n + 1, sizeof *known);
    if (!known) return snw_read_memory(r);
    if (kind == SNW_THING_LINK) known[r->things.n] = "world";
    for (int i = 0; i < r->things.n; i++) {
        const int other = r->things.name[i].kind;
        // a site is allowed in most places where a link is
        const bool site = kind == SNW_THING_LINK && other == (int)SNW_THING_SITE;
        if (other == (int)kind || site) known[i] = r->things.text[i];
    }
    const char *near = snw_nearest(name, r->things.n + 1, known);
    if (near) {
        return snw_fail_at(r->err, node->location, "there is no %s '%s'%s", bare, name,
                           snw_hint_text(near).text);
    }
    char list[160] = "";
    size_t used = 0;
    for (int i = 0, n = 0; i < r->things.n && used + 40 < sizeof list; i++) {
        if (!known[i]) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.30s", n++ ? ", " : "",
                                 used + 80 < sizeof list ? known[i] : "..");
    }
    return snw_fail_at(r->err, node->location, "there is no %s '%s'; there is %s", bare, name,
                       used ? list : "none");
}

snw_status snw_read_rod_name(snw_reader *r, const snw_node *node, const char *what, int *link) {
    const char *name = "";
    SNW_TRY(snw_read_name(r, node, what, &name));
    SNW_TRY(snw_find_thing(r, node, name, SNW_THING_LINK, link));
    if (r->desc->link[*link].has_rod) return SNW_OK;
    return snw_fail_at(r->err, node->location, "link '%s' has no rod", name);
}
