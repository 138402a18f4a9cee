// SPDX-License-Identifier: MIT
#include "io/language.h"

#include <string.h>

static const snw_key_table *const tables[] = {
#define X(symbol) &snw_keys_##symbol,
    SNW_KEY_TABLES(X)
#undef X
};

const snw_key_table *const *snw_language_tables(int *n) {
    *n = (int)(sizeof tables / sizeof tables[0]);
    return tables;
}

// What the language has and this version has not: the map or choice, and the word. A capability that
// arrives takes its lines out.
static const struct {
    const char *place, *word;
} later[] = {
    {"file", "loops"},
    {"file", "contacts"},
    {"file", "fluid"},
    {"link", "axis"},
    {"link", "stiffness"},
    {"link", "damping"},
    {"link", "friction"},
    {"link", "rest"},
    {"joint", "revolute"},
    {"joint", "prismatic"},
    {"joint", "cylindrical"},
    {"joint", "universal"},
    {"joint", "spherical"},
    {"joint", "planar"},
    {"actuator", "joint"},
    {"actuator", "rod"},
    {"actuator", "wheels"},
    {"actuator", "tendon"},
    {"actuator", "chamber"},
    {"actuator", "effort"},
    {"actuator", "position"},
    {"actuator", "rate"},
    {"actuator", "shortening"},
    {"actuator", "volume"},
    {"actuator", "gas"},
    {"actuator", "hold"},
    {"probe", "angle"},
    {"probe", "value"},
    {"probe", "effort"},
    {"probe", "length"},
    {"probe", "volume"},
    {"probe", "tension"},
    {"probe", "frequency"},
    {"study", "dynamic"},
    {"study", "kinematic"},
    {"study", "inverse"},
    {"study", "modes"},
    {"study", "linearize"},
    {"study", "change"},
    {"static", "engine"},
    {"static", "until"},
};

bool snw_language_later(const char *place, const char *word) {
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        if (strcmp(later[i].place, place) == 0 && strcmp(later[i].word, word) == 0) return true;
    }
    return false;
}
