// SPDX-License-Identifier: MIT
//
// Reads a file of another format, chooses its reader, and mends what the model cannot have: names
// and moments of inertia.
#include "import/import.h"

#include "base/fail.h"
#include "import/importer.h"
#include "import/mjcf.h"
#include "import/sdf.h"
#include "import/urdf.h"
#include "language/source.h"
#include "language/text.h"
#include "math/expr.h"
#include "solve/dense.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FILE_MAX = 16 << 20 };

// ---- names --------------------------------------------------------------------------------------

// The words in use, by their hash: a file may have thousands of names that become the same word.
typedef struct word_set {
    const char **slot;
    uint32_t mask;
} word_set;

// Slot of a word, or the free one where it belongs.
static const char **find_word(const word_set *set, const char *word) {
    uint32_t h = 2166136261U; // FNV-1a
    for (const char *c = word; *c; c++) h = (h ^ (unsigned char)*c) * 16777619U;
    while (set->slot[h & set->mask] && strcmp(set->slot[h & set->mask], word) != 0) h++;
    return &set->slot[h & set->mask];
}

static bool is_taken(const word_set *set, const char *word) {
    return *find_word(set, word) || strcmp(word, "world") == 0 || snw_word_reserved(word);
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A name of the language made from a name: letters, digits and _, beginning with a letter;
// `joined`:
// - / and dots between them stay, but for a dot after a word of the language. NULL: no memory.
static char *word_from(snw_pool *pool, const char *name, bool joined) {
    enum { LONGEST = 60 };
    const bool digit = name[0] >= '0' && name[0] <= '9';
    char *word = snw_pool_format(pool, "%s%.*s", digit ? "_" : "", (int)LONGEST, name);
    for (char *c = word; c && *c; c++) {
        const bool joins =
            joined && strchr("-/.", *c) && c > word && is_word_char(c[-1]) && is_word_char(c[1]);
        if (is_word_char(*c) || (joins && *c != '.')) continue;
        const char was = *c;
        *c = '\0';
        const bool path = strcmp(word, "world") == 0 || snw_word_reserved(word) ||
                          snw_override_top_key(word, strlen(word));
        *c = joins && !path ? was : '_';
    }
    return word;
}

// Does a name with dots begin with another name and a dot? That would be a path.
static bool begins_with_name(const word_set *names, char *word) {
    bool found = false;
    for (char *dot = strchr(word, '.'); dot && !found; dot = strchr(dot + 1, '.')) {
        *dot = '\0';
        found = *find_word(names, word) != NULL;
        *dot = '.';
    }
    return found;
}

// *out <- the name of a part, unlike all others. names: those of all parts as they would be; NULL:
// a word for expressions, without - / and dots.
static snw_status name_part(snw_pool *pool, const word_set *names, word_set *set, const char *name,
                            const char *otherwise, const char **out, snw_error *err) {
    char *word = word_from(pool, name, names != NULL);
    if (word && names && begins_with_name(names, word)) word = word_from(pool, name, false);
    const char *use = word;
    for (int k = 1; use && is_taken(set, use); k++)
        use = k == 1 ? snw_pool_format(pool, "%s_%s", word, otherwise)
                     : snw_pool_format(pool, "%s_%s_%d", word, otherwise, k);
    if (!use) return snw_fail_memory(err);
    *out = *find_word(set, use) = use;
    return SNW_OK;
}

// names <- the name of a part as it would be, for begins_with_name
static snw_status collect_name(snw_pool *pool, const char *name, word_set *names, snw_error *err) {
    const char *word = word_from(pool, name, true);
    if (!word) return snw_fail_memory(err);
    *find_word(names, word) = word;
    return SNW_OK;
}

static snw_status collect_names(snw_imported_robot *r, word_set *names, snw_error *err) {
    for (int i = 0; i < r->nlink; i++) SNW_TRY(collect_name(r->pool, r->link[i].name, names, err));
    for (int i = 0; i < r->njoint; i++)
        SNW_TRY(collect_name(r->pool, r->joint[i].name, names, err));
    for (int i = 0; i < r->nactuator; i++)
        SNW_TRY(collect_name(r->pool, r->actuator[i].name, names, err));
    for (int i = 0; i < r->nloop; i++) SNW_TRY(collect_name(r->pool, r->loop[i].name, names, err));
    return SNW_OK;
}

// The word of a part for expressions: its name, if that is one.
static snw_status plain_part(snw_pool *pool, word_set *set, const char *word, const char **out,
                             snw_error *err) {
    *out = word;
    return strpbrk(word, "-/.") ? name_part(pool, NULL, set, word, "probe", out, err) : SNW_OK;
}

static snw_status name_parts(snw_imported_robot *r, snw_error *err) {
    word_set set = {.mask = 1023}, names;
    // at most half of it is used: loops take three words, joints and actuators two
    const uint32_t parts = (uint32_t)(r->nlink + 2 * r->njoint + 2 * r->nactuator + 3 * r->nloop);
    while (set.mask < 2 * parts) set.mask = 2 * set.mask + 1;
    names = set;
    set.slot = snw_pool_array(r->pool, (size_t)set.mask + 1, sizeof *set.slot);
    names.slot = snw_pool_array(r->pool, (size_t)set.mask + 1, sizeof *set.slot);
    if (!set.slot || !names.slot) return snw_fail_memory(err);
    SNW_TRY(collect_names(r, &names, err));
    for (int i = 0; i < r->nlink; i++)
        SNW_TRY(name_part(r->pool, &names, &set, r->link[i].name, "link", &r->link[i].word, err));
    for (int i = 0; i < r->njoint; i++)
        SNW_TRY(
            name_part(r->pool, &names, &set, r->joint[i].name, "joint", &r->joint[i].word, err));
    for (int i = 0; i < r->nactuator; i++)
        SNW_TRY(name_part(r->pool, &names, &set, r->actuator[i].name, "motor", &r->actuator[i].word,
                          err));
    for (int i = 0; i < r->nloop; i++)
        SNW_TRY(name_part(r->pool, &names, &set, r->loop[i].name, "loop", &r->loop[i].word, err));
    for (int i = 0; i < r->njoint; i++)
        SNW_TRY(plain_part(r->pool, &set, r->joint[i].word, &r->joint[i].plain, err));
    for (int i = 0; i < r->nactuator; i++)
        SNW_TRY(plain_part(r->pool, &set, r->actuator[i].word, &r->actuator[i].plain, err));
    return SNW_OK;
}

// ---- moments of inertia -------------------------------------------------------------------------

// The matrix of second moments, integral of x x' dm = tr(I)/2 - I, is positive semidefinite for
// every body. If it is not, its negative eigenvalues become zero, which is the nearest one that is.
static snw_status mend_inertia(snw_imported_robot *r, snw_imported_link *link, snw_error *err) {
    enum { SPACE = 4096 };
    static const double most = 1e30; // beyond, products overflow
    double space[SPACE];
    bool usual = link->mass < most;
    for (int i = 0; i < 9; i++)
        usual =
            usual && fabs(link->inertia.e[i / 3][i % 3]) < most && fabs(link->com[i % 3]) < most;
    if (!usual)
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "link '%.80s': its mass, centre or inertia is beyond %g, or no number",
                     link->name, most),
            r->path, link->line, 1);
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
    const snw_element here = {.path = r->path, .line = link->line};
    const bool noted = snw_imported_note_add(
        r, &here,
        "link '%.80s': no body has this inertia (a principal moment exceeds the sum of the others, "
        "or "
        "is negative); the nearest possible one is taken, diagonal %.6g, %.6g, %.6g kg m^2",
        link->name, mended.e[0][0], mended.e[1][1], mended.e[2][2]);
    return noted ? SNW_OK : snw_fail_memory(err);
}

// ---- joints that move nothing -------------------------------------------------------------------

// Is the joint the end of a gear, of an actuator or of a loop?
static bool is_joined(const snw_imported_robot *r, int joint) {
    if (r->joint[joint].mimics >= 0) return true;
    for (int i = 0; i < r->njoint; i++) {
        if (r->joint[i].mimics == joint) return true;
    }
    for (int i = 0; i < r->nactuator; i++) {
        if (r->actuator[i].joint == joint) return true;
    }
    for (int i = 0; i < r->nloop; i++) {
        for (int k = 0; k < 2; k++) {
            if (r->loop[i].link[k] == r->joint[joint].child) return true;
        }
    }
    return false;
}

// A joint that moves no mass has no equation of motion: it becomes fixed, with a note.
static snw_status fix_massless(snw_imported_robot *r, snw_error *err) {
    bool *moves = snw_pool_array(r->pool, (size_t)r->nlink + 1, sizeof *moves);
    if (!moves) return snw_fail_memory(err);
    for (int i = 0; i < r->nlink; i++) {
        if (!(r->link[i].has_mass && r->link[i].mass > 0)) continue;
        for (int l = i; l >= 0 && !moves[l];) {
            moves[l] = true;
            l = r->link[l].joint >= 0 ? r->joint[r->link[l].joint].parent : -1;
        }
    }
    for (int i = 0; i < r->njoint; i++) {
        snw_imported_joint *j = &r->joint[i];
        if (j->kind == SNW_IMPORTED_FIXED || moves[j->child] || j->armature > 0 || is_joined(r, i))
            continue;
        const snw_element here = {.path = r->path, .line = j->line};
        if (!snw_imported_note_add(
                r, &here, "joint '%.80s' is fixed here: nothing that it moves has a mass", j->name))
            return snw_fail_memory(err);
        j->kind = SNW_IMPORTED_FIXED;
    }
    return SNW_OK;
}

// ---- the file -----------------------------------------------------------------------------------

static snw_status read_root(snw_element *root, const snw_import_opts *opts, snw_imported_robot *r,
                            snw_error *err) {
    if (strcmp(root->name, "robot") == 0) return snw_urdf_read(root, opts, r, err);
    if (strcmp(root->name, "mujoco") == 0) return snw_mjcf_read(root, opts, r, err);
    if (strcmp(root->name, "sdf") == 0) return snw_sdf_read(root, opts, r, err);
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "<%.60s> is no robot; the root of URDF is <robot>, of MJCF <mujoco>, of SDF <sdf>",
                 root->name),
        r->path, root->line, 1);
}

snw_status snw_import_bytes(snw_pool *pool, const char *path, const char *bytes, size_t length,
                            const snw_import_opts *opts, snw_imported_robot *out, snw_error *err) {
    *out = (snw_imported_robot){.pool = pool, .path = path};
    snw_element *root;
    SNW_TRY(snw_element_parse(pool, path, bytes, length, &root, err));
    SNW_TRY(read_root(root, opts, out, err));
    for (int i = 0; i < out->nlink; i++) {
        if (out->link[i].has_mass) SNW_TRY(mend_inertia(out, &out->link[i], err));
    }
    SNW_TRY(fix_massless(out, err));
    return name_parts(out, err);
}

snw_status snw_import_file(snw_pool *pool, const char *path, const snw_import_opts *opts,
                           snw_imported_robot *out, snw_error *err) {
    const char *bytes;
    size_t length;
    SNW_TRY(snw_text_read(pool, path, FILE_MAX, &bytes, &length, err));
    return snw_import_bytes(pool, path, bytes, length, opts, out, err);
}
