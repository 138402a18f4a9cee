// SPDX-License-Identifier: MIT
//
// Lists all key tables, the words reserved for later versions, retired keys, and synonyms that
// messages suggest keys for.
#include "language/language.h"

#include "model/section_kind.h"

#include <string.h>

static const snw_key_table *const tables[] = {
#define X(symbol)                        &snw_keys_##symbol,
#define SHAPE(code, name, form, meaning) &snw_section_table[code].keys,
    SNW_KEY_TABLES(X, SNW_SECTION_LIST(SHAPE))
#undef SHAPE
#undef X
};

const snw_key_table *const *snw_language_tables(int *n) {
    *n = (int)(sizeof tables / sizeof tables[0]);
    return tables;
}

static bool has_word(const char *words, const char *word) {
    const size_t n = strlen(word);
    if (n == 0) return false;
    for (const char *at = words; (at = strstr(at, word)); at += n) {
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    }
    return false;
}

// Keys of earlier versions that no key replaces, and the advice given for them.
static const struct {
    const char *map, *word, *advice;
} retired[] = {
    {"kinematic", "torques",
     "efforts follow from the reactions, whose form is 'reactions: {form: projective}'; leave it "
     "out for efforts in balance"},
    {"shooting", "replica",
     "the march of Till 2019 is part of the tests, not of the language; leave it out"},
};

const char *snw_language_retired(const char *map, const char *word) {
    for (size_t i = 0; i < sizeof retired / sizeof retired[0]; i++) {
        if (strcmp(retired[i].map, map) == 0 && strcmp(retired[i].word, word) == 0) {
            return retired[i].advice;
        }
    }
    return NULL;
}

// Synonyms from textbooks and other programs.
static const struct {
    const char *map, *words, *key;
} meant[] = {
    {"actuator", "tension force torque", "effort"},
    {"actuator", "motor", "joint"},
    {"actuator", "muscle", "stress"},
    {"actuator", "cable cord wire", "tendon"},
    {"actuator", "angle", "position"},
    {"actuator", "speed velocity", "rate"},
    {"contact", "floor plane table", "ground"},
    {"dynamic", "duration time", "for"},
    {"dynamic", "dt timestep", "step"},
    {"dynamic", "loops", "loop_velocities"},
    {"dynamic", "share", "reactions"},
    {"kinematic", "duration time", "for"},
    {"kinematic", "dt timestep", "step"},
    {"kinematic", "share", "reactions"},
    {"link", "parent", "on"},
    {"load", "moment", "torque"},
    {"loop", "joint type", "as"},
    {"material", "E modulus", "young"},
    {"material", "nu", "poisson"},
    {"material", "rho", "density"},
    {"wheel", "axle", "axis"},
};

const char *snw_language_meant(const char *map, const char *word) {
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++) {
        if (strcmp(meant[i].map, map) == 0 && has_word(meant[i].words, word)) {
            return meant[i].key;
        }
    }
    return NULL;
}
