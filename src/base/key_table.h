// SPDX-License-Identifier: MIT
//
// key_table.h: the keys of a map of the model language, with the texts of help and pages. Tables of
// kinds (model/section_kind.h) hold those of their maps, the readers (language/) all others.
#pragma once

typedef struct snw_key {
    const char *name;
    const char *form;    // form of the value: "m", "x y z or a vector", "a pose"
    const char *meaning; // one line
} snw_key;

typedef struct snw_key_table {
    const char *name;  // name of the map: "rod"
    const char *about; // one line
    int n;
    const snw_key *key;
} snw_key_table;
