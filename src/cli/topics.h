// SPDX-License-Identifier: MIT
//
// topics.h: subjects of the field, and where Sinew has them: keys, commands and pages. For readers
// who know the word of the field and not ours.
#pragma once

#include <stdbool.h>

typedef struct snw_topic {
    const char *words;  // names of the subject, "inverse kinematics, ik, reach"
    const char *answer; // the keys and commands for it, one sentence
    const char *page;   // the page that explains it, from the root of the sources
} snw_topic;

// All topics; *n is their number.
const snw_topic *snw_topics(int *n);

// True if `text` contains `query` at the beginning of a word; letters of both cases are alike.
bool snw_text_has(const char *text, const char *query);
