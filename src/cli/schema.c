// SPDX-License-Identifier: MIT
//
// Writes the JSON Schema of the model language. The keys and their texts come from the tables of
// the readers (language/language.h); the type of a value follows from the words of its form, by
// the table below. A value that only the reader can judge, such as an expression, is a number or a
// text in the schema.
#include "cli/schema.h"

#include "cli/args_file.h"
#include "language/language.h"
#include "model/desc.h" // also bases
#include "output/json_field.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Types that a value may have.
enum { TEXT = 1, NUMBER = 2, LIST = 4, SWITCH = 8, ANY_MAP = 16, NOTHING = 32 };
enum { QUANTITY = NUMBER | TEXT, VECTOR = LIST | TEXT, ARRAY = QUANTITY | LIST };

// Relation of a value to the map of a key table.
typedef enum table_use {
    NO_TABLE,
    ONE,     // such a map
    BY_NAME, // a map of them
    IN_LIST, // a list of them
    ENDS,    // a list of names or such maps
    STEPS,   // the steps of a study
    OPTIONS, // those of the command with the name of the key
    JOINTS,  // words of a table of kinds
    SCHEMES
} table_use;

static const char own[] = ""; // the table with the name of the key

// Type of the values whose form contains these words; the first row that fits is taken.
static const struct {
    const char *words;
    int types;
    table_use use;
    const char *table;
    const char *names; // things whose names the value may be
} forms[] = {
    {"links by name", NOTHING, BY_NAME, "link", NULL},
    {"materials by name", NOTHING, BY_NAME, "material", NULL},
    {"sites by name", NOTHING, BY_NAME, "site", NULL},
    {"loops by name", NOTHING, BY_NAME, "loop", NULL},
    {"actuators by name", NOTHING, BY_NAME, "actuator", NULL},
    {"loads by name", NOTHING, BY_NAME, "load", NULL},
    {"contacts by name", NOTHING, BY_NAME, "contact", NULL},
    {"springs by name", NOTHING, BY_NAME, "spring", NULL},
    {"fluids by name", NOTHING, BY_NAME, "fluid", NULL},
    {"fields by name", NOTHING, BY_NAME, "field", NULL},
    {"states by name", NOTHING, BY_NAME, "state", NULL},
    {"probes by name", NOTHING | TEXT, BY_NAME, "probe", NULL},
    {"concentric tubes by name", NOTHING, BY_NAME, "concentric_tube", NULL},
    {"by link", NOTHING | ARRAY, BY_NAME, "initial", NULL},
    {"variables by path", NOTHING, BY_NAME, "variable", NULL},
    {"options by command", NOTHING, ONE, own, NULL},
    {"options by name", NOTHING, OPTIONS, NULL, NULL},
    {"by name", NOTHING | ANY_MAP, NO_TABLE, NULL, NULL},
    {"by probe", ANY_MAP, NO_TABLE, NULL, NULL},
    {"limits by input", LIST | ANY_MAP, NO_TABLE, NULL, "actuator"},
    {"list of steps", NOTHING, STEPS, NULL, NULL},
    {"list of expectations", NOTHING, IN_LIST, "expect", NULL},
    {"list of constraints", NOTHING, IN_LIST, "subject", NULL},
    {"list of shapes", NOTHING, IN_LIST, "shapes", NULL},
    {"what to record", NOTHING, ONE, own, NULL},
    {"variables, cost", NOTHING, ONE, own, NULL},
    {"at_closing", TEXT, ONE, "pose", NULL},
    {"pose", 0, ONE, "pose", NULL},
    {"a rotation", 0, ONE, "pose", NULL},
    {"a map", 0, ONE, own, NULL},
    {"widths y", 0, ONE, own, NULL},
    {"{torque", 0, ONE, own, NULL},
    {"ratio", QUANTITY, ONE, own, NULL},
    {"{for, step}", QUANTITY, ONE, own, NULL},
    {"along and across", QUANTITY, ONE, own, NULL},
    {"by component", ARRAY, ONE, "components", NULL},
    {"as strain", ARRAY, ONE, "components", NULL},
    {"for each strain", QUANTITY, BY_NAME, "stress_table", NULL},
    {"by coordinate", ARRAY | ANY_MAP, NO_TABLE, NULL, NULL},
    {"{probe.component", ANY_MAP, NO_TABLE, NULL, NULL},
    {"a joint", 0, JOINTS, NULL, NULL},
    {"a scheme", 0, SCHEMES, NULL, NULL},
    {"on or off", SWITCH, NO_TABLE, NULL, NULL},
    {"true or false", SWITCH, NO_TABLE, NULL, NULL},
    {"material's name", TEXT, NO_TABLE, NULL, "material"},
    {"parameter's name", TEXT, NO_TABLE, NULL, "parameter"},
    {"names of parameters", VECTOR, NO_TABLE, NULL, "parameter"},
    {"step's name", TEXT, NO_TABLE, NULL, "step"},
    {"run's name", TEXT, NO_TABLE, NULL, "run"},
    {"rods' links and sites", VECTOR, NO_TABLE, NULL, "site"},
    {"rod's link, or a list", VECTOR, NO_TABLE, NULL, "rod"},
    {"rod's link", TEXT, NO_TABLE, NULL, "rod"},
    {"rod's station", TEXT, NO_TABLE, NULL, "rod"},
    {"joint's link, or a list", VECTOR, NO_TABLE, NULL, "link"},
    {"joint's link, an actuator or a spring", TEXT, NO_TABLE, NULL, "link actuator spring"},
    {"joint's link or an actuator", TEXT, NO_TABLE, NULL, "link actuator"},
    {"joint's link", TEXT, NO_TABLE, NULL, "link"},
    {"a list of links", VECTOR, NO_TABLE, NULL, "link"},
    {"a link, a loop", TEXT, NO_TABLE, NULL, "link loop spring contact"},
    {"a link, a layer", VECTOR, NO_TABLE, NULL, "link"},
    {"a link, or a list", VECTOR, NO_TABLE, NULL, "link"},
    {"pairs of links", LIST, NO_TABLE, NULL, "link"},
    {"a link", TEXT, NO_TABLE, NULL, "link"},
    {"two sites", VECTOR, NO_TABLE, NULL, "site"},
    {"a site and", VECTOR, NO_TABLE, NULL, "site actuator"},
    {"two ends", VECTOR, ENDS, "pose", "site"},
    {"a site", TEXT, NO_TABLE, NULL, "site"},
    {"a contact", TEXT, NO_TABLE, NULL, "contact"},
    {"an end of a tendon", TEXT, NO_TABLE, NULL, "actuator"},
    {"or a place on its path", TEXT, NO_TABLE, NULL, "actuator spring"},
    {"a tendon, or a spring", TEXT, NO_TABLE, NULL, "actuator spring"},
    {"a chamber", TEXT, NO_TABLE, NULL, "actuator"},
    {"an actuator", TEXT, NO_TABLE, NULL, "actuator"},
    {"a concentric tube", TEXT, NO_TABLE, NULL, NULL},
    {"a probe", VECTOR, NO_TABLE, NULL, "probe"},
    {"list of probes", VECTOR, NO_TABLE, NULL, "probe"},
    {"x y z", VECTOR, NO_TABLE, NULL, NULL},
    {"text", QUANTITY, NO_TABLE, NULL, NULL},
    {"an input", VECTOR, NO_TABLE, NULL, "actuator"},
    {"a bare word", TEXT | NOTHING, NO_TABLE, NULL, NULL},
    {"a condition", TEXT | SWITCH, NO_TABLE, NULL, NULL},
    {"0 or three", ARRAY, NO_TABLE, NULL, NULL},
    {"one or three", ARRAY, NO_TABLE, NULL, NULL},
    {"three", VECTOR, NO_TABLE, NULL, NULL},
    {"two", VECTOR, NO_TABLE, NULL, NULL},
    {"six", ARRAY, NO_TABLE, NULL, NULL},
    {"list", ARRAY, NO_TABLE, NULL, NULL},
    {"[from, to]", VECTOR, NO_TABLE, NULL, NULL},
    {"[0, y, z]", VECTOR, NO_TABLE, NULL, NULL},
    {"[low, high]", VECTOR, NO_TABLE, NULL, NULL},
    {"w, x, y, z", VECTOR, NO_TABLE, NULL, NULL},
    {"wx wy wz", VECTOR, NO_TABLE, NULL, NULL},
    {"laws of t", ARRAY, NO_TABLE, NULL, NULL},
};
enum { NFORM = sizeof forms / sizeof forms[0] };

// ---- forms --------------------------------------------------------------------------------------

// true if the form contains the words, beginning and ending with whole words
static bool contains(const char *form, const char *words) {
    const size_t n = strlen(words);
    for (const char *at = form; (at = strstr(at, words)); at++) {
        const bool begins = at == form || !isalnum((unsigned char)at[-1]);
        const bool ends = !isalnum((unsigned char)at[n]) && at[n] != '\'';
        if (begins && ends) return true;
    }
    return false;
}

static int schema_find_form(const char *form) {
    int i = 0;
    while (i < NFORM && !contains(form, forms[i].words)) i++;
    return i;
}

static const snw_key_table *schema_find_table(const char *name) {
    int n = 0;
    const snw_key_table *const *table = snw_language_tables(&n);
    for (int i = 0; i < n; i++) {
        if (strcmp(table[i]->name, name) == 0) return table[i];
    }
    return NULL;
}

// true if the value of a key is the map of its own name: `rod: a rod`, `stress: active stress`
static bool is_own_map(const snw_key *key) {
    const snw_key_table *table = schema_find_table(key->name);
    if (!table) return false;
    const size_t about = strlen(table->about), form = strlen(key->form);
    return form <= about && strcmp(table->about + about - form, key->form) == 0;
}

enum { WORD_SIZE = 32, MOST_WORDS = 16 };

// Words of a form such as `rk4, euler or dormand-prince`; their number, 0 when the form is no list
// of words.
static int form_words(const char *form, char word[MOST_WORDS][WORD_SIZE]) {
    if (contains(form, "number") || contains(form, "list") || contains(form, "law")) return 0;
    int n = 0;
    for (const char *at = form; *at;) {
        size_t length = strcspn(at, ", ");
        if (n == MOST_WORDS || length < 2 || length >= WORD_SIZE) return 0;
        for (size_t i = 0; i < length; i++) {
            const unsigned char c = (unsigned char)at[i];
            if (!islower(c) && !isdigit(c) && c != '-' && c != '_') return 0;
        }
        (void)snprintf(word[n++], WORD_SIZE, "%.*s", (int)length, at);
        at += length;
        if (strncmp(at, " or ", 4) == 0) {
            at += 4;
        } else if (strncmp(at, ", or", 4) == 0) {
            return 0;
        } else if (strncmp(at, ", ", 2) == 0) {
            at += 2;
        } else if (*at) {
            return 0;
        }
    }
    return n >= 2 ? n : 0;
}

// ---- values -------------------------------------------------------------------------------------

// types of a key; null removes a key of an included file
static void write_types(snw_json *j, int types) {
    static const struct {
        int type;
        const char *name;
    } name[] = {{TEXT, "string"},
                {NUMBER, "number"},
                {LIST, "array"},
                {ANY_MAP, "object"},
                {NOTHING, "null"}};
    snw_field_list(j, "type");
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        if ((types | NOTHING) & name[i].type) snw_json_text(j, name[i].name);
    }
    snw_json_close(j);
}

static void write_ref(snw_json *j, const char *table) {
    char ref[80];
    (void)snprintf(ref, sizeof ref, "#/definitions/%s", table);
    snw_field_text(j, "$ref", ref);
}

// a map of the table, or a value of one of the types
static void write_map_or(snw_json *j, const char *table, int types) {
    if (!types) {
        write_ref(j, table);
        return;
    }
    snw_field_list(j, "anyOf");
    snw_field_object(j, NULL);
    write_ref(j, table);
    snw_json_close(j);
    snw_field_object(j, NULL);
    write_types(j, types);
    snw_json_close(j);
    snw_json_close(j);
}

// keys that must be in every map of the table. Only elements of lists are complete: other maps may
// get keys from an included file.
static void write_required(snw_json *j, const snw_key_table *table) {
    snw_field_list(j, "required");
    for (int i = 0; i < table->n; i++) {
        const char *meaning = table->key[i].meaning;
        if (contains(meaning, "required") && !contains(meaning, "required unless") &&
            !contains(meaning, "required for")) {
            snw_json_text(j, table->key[i].name);
        }
    }
    snw_json_close(j);
}

// true for the keys of a kind of steps, "a static step"
static bool is_step(const snw_key_table *table) {
    const char *last = strrchr(table->about, ' ');
    return last && strcmp(last, " step") == 0;
}

static const char change[] = "change"; // the step whose keys are paths

// steps of a study: a word, or a map with one key, its kind
static void write_steps(snw_json *j) {
    int n = 0;
    const snw_key_table *const *table = snw_language_tables(&n);
    write_types(j, LIST | NOTHING);
    snw_field_object(j, "items");
    snw_field_list(j, "anyOf");
    snw_field_object(j, NULL);
    snw_field_list(j, "enum");
    for (int i = 0; i < n; i++) {
        if (is_step(table[i])) snw_json_text(j, table[i]->name);
    }
    snw_json_close(j);
    snw_json_close(j);
    snw_field_object(j, NULL);
    snw_field_text(j, "type", "object");
    snw_field_object(j, "properties");
    for (int i = 0; i < n; i++) {
        if (!is_step(table[i])) continue;
        snw_field_object(j, table[i]->name);
        snw_field_text(j, "description", table[i]->about);
        write_map_or(j, table[i]->name, NOTHING);
        snw_json_close(j);
    }
    snw_field_object(j, change);
    snw_field_text(j, "description", "paths and values: overrides for the following steps");
    write_types(j, ANY_MAP);
    snw_json_close(j);
    snw_json_close(j);
    snw_field_bool(j, "additionalProperties", false);
    snw_field_integer(j, "minProperties", 1);
    snw_field_integer(j, "maxProperties", 1);
    snw_json_close(j);
    snw_json_close(j);
    snw_json_close(j);
}

static void write_kinds(snw_json *j, int n, const char *(*name)(int), const char *(*meaning)(int)) {
    snw_field_list(j, "enum");
    for (int i = 0; i < n; i++) snw_json_text(j, name(i));
    snw_json_close(j);
    snw_field_list(j, "markdownEnumDescriptions");
    for (int i = 0; i < n; i++) snw_json_text(j, meaning(i));
    snw_json_close(j);
}

static const char *joint_name(int i) { return snw_joint_table[i].name; }
static const char *joint_meaning(int i) { return snw_joint_table[i].meaning; }
static const char *scheme_name(int i) { return snw_scheme_table[i].name; }
static const char *scheme_meaning(int i) { return snw_scheme_table[i].meaning; }

static void write_by_name(snw_json *j, const char *table, int types) {
    write_types(j, ANY_MAP | NOTHING);
    snw_field_object(j, "additionalProperties");
    write_map_or(j, table, types);
    snw_json_close(j);
}

static void write_list_of(snw_json *j, const char *table) {
    write_types(j, LIST | NOTHING);
    snw_field_object(j, "items");
    snw_field_list(j, "allOf");
    snw_field_object(j, NULL);
    write_ref(j, table);
    snw_json_close(j);
    snw_json_close(j);
    write_required(j, schema_find_table(table));
    snw_json_close(j);
}

static void write_switch(snw_json *j) {
    snw_field_list(j, "enum");
    snw_json_text(j, "on");
    snw_json_text(j, "off");
    snw_json_bool(j, true);
    snw_json_bool(j, false);
    snw_json_close(j);
}

static void write_words(snw_json *j, int n, char word[MOST_WORDS][WORD_SIZE]) {
    snw_field_list(j, "enum");
    for (int i = 0; i < n; i++) snw_json_text(j, word[i]);
    snw_json_close(j);
}

// all strains of a rod at once, with each basis
static void write_strain_examples(snw_json *j) {
    snw_field_list(j, "examples");
    for (int i = 0; i < SNW_BASIS_COUNT; i++) {
        char text[80];
        const snw_basis_type *basis = &snw_basis_table[i];
        (void)snprintf(text, sizeof text, "kirchhoff %s%s", basis->name, basis->number ? " 3" : "");
        snw_json_text(j, text);
    }
    snw_json_text(j, "cosserat legendre 4");
    snw_json_text(j, "rigid");
    snw_json_close(j);
}

// The options of a command that a file may give.
static void write_options(snw_json *j, const char *name) {
    const snw_command *c = snw_command_find(name);
    write_types(j, ANY_MAP | NOTHING);
    snw_field_object(j, "properties");
    for (int i = 0; c && c->option[i].name; i++) {
        const snw_option *o = &c->option[i];
        if (!snw_args_file_has(c, i)) continue;
        snw_field_object(j, o->name);
        snw_field_text(j, "description", o->help);
        if (!o->value) {
            write_switch(j);
        } else {
            write_types(j, QUANTITY | (o->repeats ? LIST | ANY_MAP : 0));
        }
        snw_json_close(j);
    }
    if (c && c->data) {
        snw_field_object(j, c->data);
        write_types(j, TEXT | LIST | ANY_MAP);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_bool(j, "additionalProperties", false);
}

static void write_form(snw_json *j, const snw_key *key, int form) {
    const char *table = forms[form].table == own ? key->name : forms[form].table;
    const int types = forms[form].types;
    switch (forms[form].use) {
    case NO_TABLE:
        if (types == SWITCH) {
            write_switch(j);
        } else {
            write_types(j, types);
        }
        break;
    case ONE:
        write_map_or(j, table, types);
        break;
    case BY_NAME:
        write_by_name(j, table, types);
        break;
    case IN_LIST:
        write_list_of(j, table);
        break;
    case ENDS:
        write_types(j, types);
        snw_field_object(j, "items");
        write_map_or(j, table, TEXT);
        snw_json_close(j);
        break;
    case STEPS:
        write_steps(j);
        break;
    case OPTIONS:
        write_options(j, key->name);
        break;
    case JOINTS:
        write_kinds(j, SNW_JOINT_COUNT, joint_name, joint_meaning);
        break;
    case SCHEMES:
        write_kinds(j, SNW_SCHEME_COUNT, scheme_name, scheme_meaning);
        break;
    }
    if (forms[form].names) snw_field_text(j, "x-names", forms[form].names);
    if (strcmp(key->name, "strain") == 0 && contains(key->form, "all at once")) {
        write_strain_examples(j);
    }
}

static void write_value(snw_json *j, const snw_key *key) {
    char word[MOST_WORDS][WORD_SIZE], text[1024];
    snw_field_object(j, key->name);
    (void)snprintf(text, sizeof text, "%s\n\n*%s*", key->meaning, key->form);
    snw_field_text(j, "description", key->meaning);
    snw_field_text(j, "markdownDescription", text);
    snw_field_text(j, "x-form", key->form);
    const int form = schema_find_form(key->form), nword = form_words(key->form, word);
    if (strspn(key->form, "0123456789") == strlen(key->form)) {
        snw_field_integer(j, "const", strtol(key->form, NULL, 10));
    } else if (is_own_map(key)) {
        write_ref(j, key->name);
    } else if (form < NFORM) {
        write_form(j, key, form);
    } else if (nword > 0) {
        write_words(j, nword, word);
    } else {
        write_types(j, QUANTITY);
    }
    snw_json_close(j);
}

// ---- maps ---------------------------------------------------------------------------------------

// keys of a map; keys of users begin with x-, and << merges another map
static void write_map(snw_json *j, const snw_key_table *table) {
    snw_field_text(j, "description", table->about);
    snw_field_text(j, "type", "object");
    snw_field_object(j, "properties");
    for (int i = 0; i < table->n; i++) write_value(j, &table->key[i]);
    snw_field_object(j, "<<");
    snw_json_close(j);
    snw_json_close(j);
    snw_field_object(j, "patternProperties");
    snw_field_object(j, "^x-");
    snw_json_close(j);
    snw_json_close(j);
    snw_field_bool(j, "additionalProperties", false);
}

void snw_schema_write(snw_json *j) {
    int n = 0;
    const snw_key_table *const *table = snw_language_tables(&n);
    snw_json_object(j);
    snw_field_text(j, "$schema", "http://json-schema.org/draft-07/schema#");
    snw_field_text(j, "title", "Sinew model");
    write_map(j, table[0]);
    static const char *const required[] = {"sinew"};
    snw_field_texts(j, "required", 1, required);
    snw_field_object(j, "definitions");
    for (int i = 1; i < n; i++) {
        snw_field_object(j, table[i]->name);
        write_map(j, table[i]);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_json_close(j);
}
