// SPDX-License-Identifier: MIT
//
// Reads a file of another format, chooses its reader, and mends what the model cannot have: names
// and moments of inertia.
#include "import/import.h"

#include "base/fail.h"
#include "import/element.h"
#include "import/urdf.h"
#include "language/text.h"
#include "math/expr.h"
#include "solve/dense.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NOTES_AT_FIRST = 16, NOTE_SIZE = 400, FILE_MAX = 16 << 20 };

bool snw_imported_note_add(snw_imported_robot *r, int line, const char *format, ...) {
    if (r->nnote == r->most_notes) {
        const int most = r->most_notes ? 2 * r->most_notes : NOTES_AT_FIRST;
        snw_imported_note *grown = snw_pool_array(r->pool, (size_t)most, sizeof *grown);
        if (!grown) return false;
        if (r->nnote > 0) memcpy(grown, r->note, (size_t)r->nnote * sizeof *grown);
        r->note = grown;
        r->most_notes = most;
    }
    char text[NOTE_SIZE];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    snw_text_clean(text);
    const char *kept = snw_pool_text(r->pool, text, strlen(text));
    if (kept) r->note[r->nnote++] = (snw_imported_note){line, kept};
    return kept != NULL;
}

// ---- names --------------------------------------------------------------------------------------

static bool is_taken(const snw_imported_robot *r, const char *word) {
    for (int i = 0; i < r->nlink; i++) {
        if (r->link[i].word && strcmp(r->link[i].word, word) == 0) return true;
    }
    for (int i = 0; i < r->njoint; i++) {
        if (r->joint[i].word && strcmp(r->joint[i].word, word) == 0) return true;
    }
    return strcmp(word, "world") == 0 || snw_word_reserved(word);
}

// A word of the language made from a name: letters, digits and _, beginning with a letter, and
// unlike all others. NULL when out of memory.
static const char *word_of(const snw_imported_robot *r, const char *name, const char *otherwise) {
    char *word =
        snw_pool_format(r->pool, "%s%s", name[0] >= '0' && name[0] <= '9' ? "_" : "", name);
    for (char *c = word; c && *c; c++) {
        const bool kept = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                          (*c >= '0' && *c <= '9') || *c == '_';
        if (!kept) *c = '_';
    }
    if (!word || !is_taken(r, word)) return word;
    char *other = snw_pool_format(r->pool, "%s_%s", word, otherwise);
    for (int k = 2; other && is_taken(r, other); k++)
        other = snw_pool_format(r->pool, "%s_%s_%d", word, otherwise, k);
    return other;
}

static snw_status name_parts(snw_imported_robot *r, snw_error *err) {
    for (int i = 0; i < r->nlink; i++) {
        r->link[i].word = word_of(r, r->link[i].name, "link");
        if (!r->link[i].word) return snw_fail_memory(err);
    }
    for (int i = 0; i < r->njoint; i++) {
        r->joint[i].word = word_of(r, r->joint[i].name, "joint");
        if (!r->joint[i].word) return snw_fail_memory(err);
    }
    return SNW_OK;
}

// ---- moments of inertia -------------------------------------------------------------------------

// The matrix of second moments, integral of x x' dm = tr(I)/2 - I, is positive semidefinite for
// every body. If it is not, its negative eigenvalues become zero, which is the nearest one that is.
static snw_status mend_inertia(snw_imported_robot *r, snw_imported_link *link, snw_error *err) {
    enum { SPACE = 4096 };
    double space[SPACE];
    snw_arena scratch = {.base = (void *)space, .size = sizeof space};
    SNW_ASSERT(snw_eigen_symmetric_scratch(3) <= sizeof space);
    const double half =
        0.5 * (link->inertia.e[0][0] + link->inertia.e[1][1] + link->inertia.e[2][2]);
    double S[9], one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, lambda[3];
    for (int i = 0; i < 9; i++) S[i] = (i % 4 == 0 ? half : 0) - link->inertia.e[i / 3][i % 3];
    SNW_TRY(snw_eigen_symmetric(3, S, one, true, &scratch, lambda));
    // rounded data are accepted, as the language does
    if (lambda[0] >= -1e-6 * fabs(half)) return SNW_OK;
    double trace = 0;
    snw_mat3 mended = {0};
    for (int k = 0; k < 3; k++) {
        trace += fmax(lambda[k], 0);
        for (int i = 0; i < 9; i++)
            mended.e[i / 3][i % 3] -= fmax(lambda[k], 0) * S[3 * k + i / 3] * S[3 * k + i % 3];
    }
    for (int i = 0; i < 3; i++) mended.e[i][i] += trace;
    link->inertia = mended;
    const bool noted = snw_imported_note_add(
        r, link->line,
        "link '%s': no body has this inertia (a principal moment exceeds the sum of the others, or "
        "is negative); the nearest possible one is taken, diagonal %.6g, %.6g, %.6g kg m^2",
        link->name, mended.e[0][0], mended.e[1][1], mended.e[2][2]);
    return noted ? SNW_OK : snw_fail_memory(err);
}

// ---- the file -----------------------------------------------------------------------------------

static snw_status read_root(const snw_element *root, const snw_import_opts *opts,
                            snw_imported_robot *r, snw_error *err) {
    if (strcmp(root->name, "robot") == 0) return snw_urdf_read(root, opts, r, err);
    const char *known = strcmp(root->name, "mujoco") == 0 ? "MJCF"
                        : strcmp(root->name, "sdf") == 0  ? "SDF"
                                                          : NULL;
    const snw_status s =
        known ? snw_fail(err, SNW_E_MODEL, "%s files are not read; convert it to URDF", known)
              : snw_fail(err, SNW_E_MODEL, "<%s> is no robot; a URDF file has the root <robot>",
                         root->name);
    return snw_fail_at_location(err, s, r->path, root->line, 1);
}

snw_status snw_import_file(snw_pool *pool, const char *path, const snw_import_opts *opts,
                           snw_imported_robot *out, snw_error *err) {
    *out = (snw_imported_robot){.pool = pool, .path = path};
    const char *bytes;
    size_t length;
    const snw_element *root;
    SNW_TRY(snw_text_read(pool, path, FILE_MAX, &bytes, &length, err));
    SNW_TRY(snw_element_parse(pool, path, bytes, length, &root, err));
    SNW_TRY(read_root(root, opts, out, err));
    for (int i = 0; i < out->nlink; i++) {
        if (out->link[i].has_mass) SNW_TRY(mend_inertia(out, &out->link[i], err));
    }
    return name_parts(out, err);
}
