// SPDX-License-Identifier: MIT
//
// sinew new: writes a commented model to begin with, one of the files of templates/.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/template.h"
#include "language/node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 1024, MOST_TEMPLATES = 64 };

// the first line of a template without its comment sign
static int template_about(const snw_template *t, const char **out) {
    *out = t->text + strspn(t->text, "# ");
    return (int)strcspn(*out, "\n");
}

static int list_templates(snw_reply *reply) {
    if (reply->json) snw_field_list(reply->json, "templates");
    for (const snw_template *t = snw_templates; t->name; t++) {
        const char *about;
        const int length = template_about(t, &about);
        if (reply->json) {
            char text[200];
            (void)snprintf(text, sizeof text, "%.*s", length, about);
            snw_field_object(reply->json, NULL);
            snw_field_text(reply->json, "name", t->name);
            snw_field_text(reply->json, "about", text);
            snw_json_close(reply->json);
        } else {
            printf("  %-10s %.*s\n", t->name, length, about);
        }
    }
    if (reply->json) {
        snw_json_close(reply->json);
    } else {
        printf("'sinew new arm' writes arm.yaml, 'sinew new arm -o mine.yaml' another name.\n");
    }
    return SNW_EXIT_DONE;
}

static snw_status find_template(const char *name, const snw_template **out, snw_error *err) {
    const char *known[MOST_TEMPLATES];
    int n = 0;
    for (const snw_template *t = snw_templates; t->name && n < MOST_TEMPLATES; t++) {
        *out = t;
        if (strcmp(t->name, name) == 0) return SNW_OK;
        known[n++] = t->name;
    }
    const char *near = snw_nearest(name, n, known);
    return snw_fail(err, SNW_E_ARGUMENT, "there is no template '%s'%s; 'sinew new' lists them",
                    name, snw_hint_text(near).text);
}

// length of the name of the file in `path`, without folder and ending
static int stem(const char *path, const char **out) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    *out = name;
    return dot && dot > name ? (int)(dot - name) : (int)strlen(name);
}

// Write the text with the name of the file for NAME in its commands. A failed write is reported
// when the file is closed.
static void write_template(const snw_template *t, const char *path, FILE *file) {
    const char *name;
    const int length = stem(path, &name);
    for (const char *at = t->text;;) {
        const char *mark = strstr(at, "NAME");
        if (!mark) {
            (void)fputs(at, file);
            return;
        }
        (void)fprintf(file, "%.*s%.*s", (int)(mark - at), at, length, name);
        at = mark + strlen("NAME");
    }
}

static snw_status create_file(const snw_template *t, const char *path, bool force, snw_error *err) {
    if (!force && access(path, F_OK) == 0) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%s' exists; give another name by -o, or --force to replace it", path);
    }
    snw_output out;
    SNW_TRY(snw_output_open(path, &out, err));
    write_template(t, path, out.file);
    if (ferror(out.file)) out.reason = errno;
    return snw_output_close(&out, SNW_OK, err);
}

static int new_run(const snw_args *args, snw_reply *reply) {
    if (snw_args_operands(args) == 0) return list_templates(reply);
    const snw_template *t = NULL;
    snw_error err = {0};
    snw_status s = find_template(snw_args_operand(args, 0), &t, &err);
    char path[PATH_SIZE] = "";
    if (s == SNW_OK) {
        const char *given = snw_args_value(args, "output");
        if (given && strcmp(given, "-") == 0 && !reply->json) {
            write_template(t, t->name, stdout);
            return SNW_EXIT_DONE;
        }
        const int n = given ? snprintf(path, sizeof path, "%s", given)
                            : snprintf(path, sizeof path, "%s.yaml", t->name);
        if (n < 0 || (size_t)n >= sizeof path) {
            s = snw_fail(&err, SNW_E_ARGUMENT, "the name of the file is too long");
        }
    }
    if (s == SNW_OK) s = create_file(t, path, snw_args_has(args, "force"), &err);
    if (s != SNW_OK) {
        snw_reply_fail(reply, &err);
        return snw_reply_exit_input(s);
    }
    if (reply->json) {
        snw_field_text(reply->json, "file", path);
    } else {
        printf("%s is written; try\n  sinew run %s\n", path, path);
    }
    return SNW_EXIT_DONE;
}

static const snw_option options[] = {
    {"output", 'o', "FILE.yaml", false,
     "name of the file, that of the template unless given; - for standard output"},
    {"force", 0, NULL, false, "replace a file that exists"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_new = {
    .name = "new",
    .operands = "[TEMPLATE]",
    .max_operands = 1,
    .brief = "write a commented model to begin with",
    .about = "Writes a small model with comments, to be run at once and then changed: an arm, a "
             "finger, a parallel robot, a snake. Without a name it lists the templates. A file "
             "that exists is kept.",
    .option = options,
    .examples = "sinew new\nsinew new arm\nsinew new finger -o thumb.yaml",
    .run = new_run,
};
