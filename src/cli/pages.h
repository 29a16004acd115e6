/* SPDX-License-Identifier: MIT
 *
 * Pages: what is generated from the tables of commands and options. Help, the man page rooftile(1) and the completion
 * scripts of shells are one walk (page_walk) with a few writers for each format.
 */
#ifndef ROOFTILE_PAGES_H
#define ROOFTILE_PAGES_H

#include "options.h"

#define HELP_COLUMNS 80

struct page {
    struct text *out;
    bool color;
    /* Each may be NULL. */
    void (*begin)(const struct page *page, const struct command *command);
    /* `index` is 0 for the first of the command's own options, and again for the first common one. */
    void (*option)(const struct page *page, const struct command *command, const struct option_row *row, bool common,
                   size_t index);
    void (*end)(const struct page *page, const struct command *command);
};

/* Writes one command, or all of them (NULL). */
void page_walk(const struct page *page, const struct command *only);

extern const char overview_summary[];  /* one sentence */
extern const char overview_examples[]; /* lines like those of a command */

/* What `rooftile COMMAND --help` and `rooftile` alone print: examples first, HELP_COLUMNS at most. */
void help_command(struct text *out, const struct command *command, bool color);
void help_overview(struct text *out, bool color);

/* mdoc source. */
void man_page(struct text *out);

/* Names of kernels, suites and devices are asked of the program itself when they are needed. */
struct completion_shell {
    const char *name;
    void (*write)(struct text *out);
};
extern const struct completion_shell completion_shells[]; /* ends with name == NULL */

#endif
