// SPDX-License-Identifier: MIT
//
// Help texts of the commands as text and as JSON, from their tables.
#include "cli/help.h"

#include <string.h>

enum { WIDTH = 96 };

// Meaning of the exit statuses.
static const char *const exit_text =
    "0  done\n1  computation failed or was stopped (results so far are kept), or an expected value "
    "was missed\n2  wrong usage or bad input";

static const char summary[] = "Sinew simulates soft, continuum, parallel and hybrid robots.";

// print text wrapped at WIDTH, with every line after the first indented; line breaks in the text
// are kept; at: current column
static void help_fold(const char *text, int indent, int at) {
    for (const char *word = text; *word;) {
        const size_t length = strcspn(word, " \n");
        if (at > indent && at + 1 + (int)length > WIDTH) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent && word > text && word[-1] == ' ') {
            (void)putchar(' ');
            at++;
        }
        printf("%.*s", (int)length, word);
        at += (int)length;
        word += length;
        for (; *word == '\n'; word++) {
            (void)putchar('\n');
            if (word[1] != '\n' && word[1]) printf("%*s", indent, "");
            at = indent;
        }
        word += *word == ' ';
    }
    (void)putchar('\n');
}

static int option_width(const snw_option *o) {
    return 8 + (int)strlen(o->name) + (o->value ? 1 + (int)strlen(o->value) : 0);
}

static void print_option(const snw_option *o, int column) {
    if (o->letter) {
        printf("  -%c, --%s", o->letter, o->name);
    } else {
        printf("      --%s", o->name);
    }
    if (o->value) printf(" %s", o->value);
    printf("%*s", column - option_width(o), "");
    help_fold(o->help, column, column);
}

void snw_help_command(const snw_command *c) {
    printf("usage: sinew %s [options] %s\n\n", c->name, c->operands);
    help_fold(c->about, 0, 0);
    printf("\nOptions:\n");
    int column = 0;
    for (const snw_option *o = c->option; o->name; o++) {
        if (option_width(o) + 2 > column) column = option_width(o) + 2;
    }
    for (const snw_option *o = c->option; o->name; o++) print_option(o, column);
    printf("\nExamples:\n  ");
    help_fold(c->examples, 2, 2);
    printf("\nExit status:\n  ");
    help_fold(exit_text, 2, 2);
}

void snw_help_overview(void) {
    printf("usage: sinew COMMAND [options] ...\n\n"
           "%s\n\n"
           "Commands:\n",
           summary);
    for (const snw_command *const *c = snw_commands; *c; c++) {
        printf("  %-9s %s\n", (*c)->name, (*c)->brief);
    }
    printf("\n'sinew help COMMAND' or 'sinew COMMAND --help' gives details; 'sinew --version' "
           "prints the version.\nSee README.md for a first robot and examples/ for more.\n");
}

void snw_help_json(snw_json *j) {
    snw_field_text(j, "summary", summary);
    snw_field_text(j, "exit_status", exit_text);
    snw_field_list(j, "commands");
    for (const snw_command *const *next = snw_commands; *next; next++) {
        const snw_command *c = *next;
        snw_field_object(j, NULL);
        snw_field_text(j, "name", c->name);
        snw_field_text(j, "operands", c->operands);
        snw_field_text(j, "brief", c->brief);
        snw_field_text(j, "about", c->about);
        snw_field_text(j, "examples", c->examples);
        snw_field_list(j, "options");
        for (const snw_option *o = c->option; o->name; o++) {
            const char letter[] = {o->letter, 0};
            snw_field_object(j, NULL);
            snw_field_text(j, "name", o->name);
            snw_field_text(j, "letter", o->letter ? letter : NULL);
            snw_field_text(j, "value", o->value);
            snw_field_bool(j, "repeats", o->repeats);
            snw_field_text(j, "help", o->help);
            snw_json_close(j);
        }
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}
