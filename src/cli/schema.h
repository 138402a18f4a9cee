// SPDX-License-Identifier: MIT
//
// schema.h: JSON Schema of the model language, written from its key tables.
#pragma once

#include "output/json.h"

// Write the schema (draft 7) as one object. Every map of the language is a definition. Beside the
// standard keywords a value has `x-form`, the form of the value in words, and `x-names`, the things
// whose names it may be; validators ignore both, editors complete from them.
void snw_schema_write(snw_json *j);
