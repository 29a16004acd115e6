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

/* The help of an option; if `brief`, without what follows a semicolon or stands in brackets. */
static const char *help_of(const struct option_row *row, const struct command *command, bool brief, struct arena *arena)
{
    const char *names = command->formats, *end = strstr(row->help, "; "), *bracket = strstr(row->help, " (");
    if (strcmp(row->name, "format") != 0 || (!brief && !names)) {
        end = !end || (bracket && bracket < end) ? bracket : end;
        return brief && end ? arena_strndup(arena, row->help, (size_t)(end - row->help)) : row->help;
    }
    for (size_t k = 0; report_format_names[k] && !command->formats; k++)
        names = names ? arena_printf(arena, "%s, %s", names, report_format_names[k]) : report_format_names[k];
    return arena_printf(arena, "how to show it: %s", names);
}

static void add_option(struct text *out, const struct option_row *row, const char *help,
                       const struct report_options *look)
{
    SCOPED(text_release) struct text left = {0};
    if (row->key)
        text_addf(&left, "-%c, ", row->key);
    else
        text_pad(&left, 4, ' ');
    text_addf(&left, "--%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
    add_item(out, TEXT_COLUMN, left.data, help, look);
}

void help_command(struct text *out, const struct command *command, const struct report_options *look)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct option_row *rows[MOST_OPTIONS];
    const size_t count = options_of(rows, command), own = count - COMMON_COUNT;
    add_heading(out, "Examples:", look);
    text_addf(out, "%s\n\n", command->examples);
    SCOPED(text_release) struct text usage = {0}, more = {0};
    text_addf(&usage, "Usage: rooftile %s [OPTION]...%s%s", command->name, *command->args ? " " : "", command->args);
    text_add_wrapped(out, usage.data, 0, 7, columns_of(look));
    text_add(out, "\n");
    const size_t sentence = out->length;
    add_paragraph(out, command->summary, 0, look);
    out->data[sentence] = (char)toupper((unsigned char)out->data[sentence]);
    text_add(out, own ? "\nOptions:\n" : "");
    for (size_t k = 0; k < count; k++) {
        if (look->verbose && k == own)
            text_add(out, "\nCommon options:\n");
        if (look->verbose || k < command->main_options)
            add_option(out, rows[k], help_of(rows[k], command, !look->verbose, &arena), look);
        else
            text_addf(&more, "%s--%s", more.length ? " " : "", rows[k]->name);
    }
    if (!look->verbose) {
        add_item(out, TEXT_COLUMN, "    and", more.data, look);
        text_addf(out, "\n'rooftile %s --help --verbose' explains all of them%s.\n", command->name,
                  command->details ? ", and more" : "");
    }
    for (const char *at = look->verbose ? command->details : NULL; at && *at; at += strspn(at, "\n")) {
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
    add_paragraph(out,
                  "'rooftile COMMAND --help' shows a command's examples and main options, with --verbose all of them; "
                  "'man rooftile' has everything.",
                  0, look);
}
