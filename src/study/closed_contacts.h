// SPDX-License-Identifier: MIT
//
// closed_contacts.h: hard contacts that touch at a configuration in balance, as rows that hold, for
// modes and linear models (theory.md 7).
#pragma once

#include "base/arena.h"
#include "dynamics/hard_contact.h"
#include "study/directions.h"

// All is filled by snw_closed_contacts_balance and _hold.
typedef struct snw_closed_contacts {
    const snw_model *m;
    int n, most;               // contacts that touch, room for them
    snw_hard_contact *contact; // most
    double *P;                 // 3 most: their forces
    double *G;                 // nv x 3 most: their rows
    double *W, *line;
    snw_touch *near;         // contacts of rods, and limits of stops, that touch
    snw_hard_contact *limit; // 2 nstop
    snw_arena scratch;
    int nholding, holding; // contacts that carry a force, the law of the first
    int ngrazing, grazing; // contacts that touch without force and count as open, likewise
} snw_closed_contacts;

// *out NULL: the model has no hard contacts.
SNW_NODISCARD snw_status snw_closed_contacts_create(const snw_model *m, snw_closed_contacts **out);
void snw_closed_contacts_destroy(snw_closed_contacts *c); // NULL is fine

// The forces of the contacts that touch at s, which balance its residual best, become multipliers
// of w: later residuals and tangents there contain them. `what`: for the message.
SNW_NODISCARD snw_status snw_closed_contacts_balance(snw_closed_contacts *c, const snw_inputs *in,
                                                     const snw_state *s, const char *what,
                                                     snw_work *w, snw_error *err);
// d->held <- rows of the contacts that carry a force: normal to the surface and, with friction,
// along it.
void snw_closed_contacts_hold(snw_closed_contacts *c, snw_directions *d);
// No multipliers in w.
void snw_closed_contacts_release(const snw_closed_contacts *c, snw_work *w);
