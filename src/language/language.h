// SPDX-License-Identifier: MIT
//
// language.h: tables of the keys of the model language. Readers, messages and the reference in
// docs/language are generated from the same tables.
#pragma once

#include "base/key_table.h"

#include <stdbool.h>

// The keys of a map are written once, as a list macro LIST(X) of X(code, name, form, meaning). It
// defines the indices, enum { LIST(SNW_KEY_CODE) }, and the table, SNW_KEYS(symbol, name, about,
// LIST).
#define SNW_KEY_CODE(code, name, form, meaning) code,
#define SNW_KEY_ROW(code, name, form, meaning)  {name, form, meaning},
#define SNW_KEYS(symbol, name, about, LIST)                                                        \
    static const snw_key symbol##_key[] = {LIST(SNW_KEY_ROW)};                                     \
    const snw_key_table snw_keys_##symbol = {                                                      \
        name, about, (int)(sizeof symbol##_key / sizeof symbol##_key[0]), symbol##_key}

// One line per table, in the order of the reference; SHAPES stands for those of the sections
// (model/section_kind.h).
#define SNW_KEY_TABLES(X, SHAPES)                                                                  \
    X(file)                                                                                        \
    X(material)                                                                                    \
    X(ogden)                                                                                       \
    X(relaxation)                                                                                  \
    X(link)                                                                                        \
    X(stop)                                                                                        \
    X(armature)                                                                                    \
    X(mimic)                                                                                       \
    X(pose)                                                                                        \
    X(rod)                                                                                         \
    X(section)                                                                                     \
    SHAPES                                                                                         \
    X(components)                                                                                  \
    X(stress_table)                                                                                \
    X(function)                                                                                    \
    X(concentric_tube)                                                                             \
    X(body)                                                                                        \
    X(body_shape)                                                                                  \
    X(cylinder)                                                                                    \
    X(sphere)                                                                                      \
    X(site)                                                                                        \
    X(loop)                                                                                        \
    X(load)                                                                                        \
    X(actuator)                                                                                    \
    X(servo)                                                                                       \
    X(stress)                                                                                      \
    X(tendon)                                                                                      \
    X(chamber)                                                                                     \
    X(gas)                                                                                         \
    X(mckibben)                                                                                    \
    X(contact)                                                                                     \
    X(wheel)                                                                                       \
    X(ring)                                                                                        \
    X(anchor)                                                                                      \
    X(ground)                                                                                      \
    X(obstacle)                                                                                    \
    X(rods)                                                                                        \
    X(restitution)                                                                                 \
    X(friction)                                                                                    \
    X(spring)                                                                                      \
    X(fluid)                                                                                       \
    X(drag)                                                                                        \
    X(field)                                                                                       \
    X(state)                                                                                       \
    X(initial)                                                                                     \
    X(probe)                                                                                       \
    X(static)                                                                                      \
    X(march)                                                                                       \
    X(penalty)                                                                                     \
    X(dynamic)                                                                                     \
    X(kinematic)                                                                                   \
    X(reactions)                                                                                   \
    X(shooting)                                                                                    \
    X(modes)                                                                                       \
    X(path)                                                                                        \
    X(folds)                                                                                       \
    X(inverse)                                                                                     \
    X(inverse_limits)                                                                              \
    X(linearize)                                                                                   \
    X(record)                                                                                      \
    X(expect)                                                                                      \
    X(optimize)                                                                                    \
    X(variable)                                                                                    \
    X(subject)                                                                                     \
    X(commands)

#define X(symbol) extern const snw_key_table snw_keys_##symbol;
SNW_KEY_TABLES(X, )
#undef X

// All tables, in the order of the reference.
const snw_key_table *const *snw_language_tables(int *n);

// Advice for the retired key `word` of `map`; NULL: it is no retired key.
const char *snw_language_retired(const char *map, const char *word);
// The key of `map` for which `word` is a common synonym, NULL: none.
const char *snw_language_meant(const char *map, const char *word);
