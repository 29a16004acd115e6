/* SPDX-License-Identifier: MIT */

#include "cli.h"

#define TEXT_COLUMN 26u /* where descriptions start */

const char overview_summary[] =
    "rooftile measures GPU kernels and says how far each is from the ceiling of the machine "
    "in front of you. Without a GPU it "
    "measures the host's own cores.";

const char overview_examples[] = "  rooftile run quick                   one minute on any machine\n"
                                 "  rooftile run stream_triad --set n=1Mi..64Mi*4 --set dtype=f32,f64\n"
                                 "  rooftile roofline                    measure the machine's ceilings, keep them\n"
                                 "  rooftile list gemm_buffered          what a kernel does, and its parameters\n"
                                 "  rooftile run quick -o out.json       keep the result for dashboards\n";

/* ---- layout ---- */

/* Narrow terminals get narrow help; on wide ones lines stay comfortable to read. */
static unsigned columns_of(const struct report_options *look)
{
    return look->columns && look->columns < HELP_COLUMNS ? look->columns : HELP_COLUMNS;
}

/* Adds words wrapped at `indent`, as a paragraph. */
static void add_paragraph(struct text *out, const char *words, unsigned indent, const struct report_options *look)
{
    text_pad(out, indent, ' ');
    text_add_wrapped(out, words, indent, indent, columns_of(look));
    text_add(out, "\n");
}

/* Adds a line "left   right". The right side starts at column `at`, on the next line if the left one is too long. */
static void add_item(struct text *out, unsigned at, const char *left, const char *right,
                     const struct report_options *look)
{
    text_addf(out, "  %s", left);
    if (text_columns(left) + 4 > at) {
        text_add(out, "\n");
        add_paragraph(out, right, at, look);
        return;
    }
    text_pad(out, at - 2 - text_columns(left), ' ');
    text_add_wrapped(out, right, at, at, columns_of(look));
    text_add(out, "\n");
}

static void add_heading(struct text *out, const char *heading, const struct report_options *look)
{
    text_add_toned(out, look->color, TONE_BOLD, heading);
    text_add(out, "\n");
}

/* ---- one command ---- */

void help_command(struct text *out, const struct command *command, const struct report_options *look)
{
    const struct option_row *rows[MOST_OPTIONS];
    const size_t count = options_of(rows, command), own = count - COMMON_COUNT;
    add_heading(out, "Examples:", look);
    text_addf(out, "%s\n\n", command->examples);
    SCOPED(text_release) struct text usage = {0};
    text_addf(&usage, "Usage: rooftile %s [OPTION]...%s%s", command->name, *command->args ? " " : "", command->args);
    text_add_wrapped(out, usage.data, 0, 7, columns_of(look));
    text_add(out, "\n");
    const size_t sentence = out->length;
    add_paragraph(out, command->summary, 0, look);
    out->data[sentence] = (char)toupper((unsigned char)out->data[sentence]);
    for (size_t k = 0; k < count; k++) {
        if (k == 0 || k == own) {
            text_add(out, "\n");
            add_heading(out, k == own ? "Common options:" : "Options:", look);
        }
        SCOPED(text_release) struct text left = {0};
        if (rows[k]->key)
            text_addf(&left, "-%c, ", rows[k]->key);
        else
            text_pad(&left, 4, ' ');
        text_addf(&left, "--%s%s%s", rows[k]->name, rows[k]->argument ? " " : "",
                  rows[k]->argument ? rows[k]->argument : "");
        add_item(out, TEXT_COLUMN, left.data, rows[k]->help, look);
    }
    for (const char *at = command->details; at && *at; at += strspn(at, "\n")) {
        SCOPED(text_release) struct text paragraph = {0};
        text_addn(&paragraph, at, strcspn(at, "\n"));
        text_add(out, "\n");
        add_paragraph(out, paragraph.data, 0, look);
        at += strcspn(at, "\n");
    }
}

void help_overview(struct text *out, const struct report_options *look)
{
    add_paragraph(out, overview_summary, 0, look);
    text_add(out, "\n");
    add_heading(out, "Examples:", look);
    text_addf(out, "%s\n", overview_examples);
    add_heading(out, "Commands:", look);
    for (const struct command *command = command_table(); command->name; command++)
        add_item(out, 14, command->name, command->summary, look);
    text_add(out, "\n");
    add_paragraph(out, "'rooftile COMMAND --help' shows a command's examples and options, 'man rooftile' everything.",
                  0, look);
}
