/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <ctype.h>
#include <string.h>

#include "layout.h"
#include "options.h"

#define TEXT_COLUMN 26u /* where descriptions start */

const char overview_summary[] = "rooftile measures GPU kernels and says how far each is from the roof of the machine "
                                "in front of you. Without a GPU it "
                                "measures the host's own cores.";

const char overview_examples[] = "  rooftile run quick                   one minute on any machine\n"
                                 "  rooftile run stream_triad --set n=1Mi..64Mi*4 --set dtype=f32,f64\n"
                                 "  rooftile roofline                    measure the machine's roofs and keep them\n"
                                 "  rooftile list gemm_buffered          what a kernel does, and its parameters\n"
                                 "  rooftile run quick -o out.json       keep the result for dashboards\n";

static void option_item(struct text *out, const struct option_row *row)
{
    struct text left = {0};
    if (row->key)
        text_addf(&left, "-%c, ", row->key);
    else
        text_pad(&left, 4, ' ');
    text_addf(&left, "--%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
    layout_item(out, 2, TEXT_COLUMN, HELP_COLUMNS, left.data, row->help);
    text_release(&left);
}

static void options_part(struct text *out, const struct command *command, bool color)
{
    enum option_id ids[OPT_COUNT];
    const size_t count = options_of(ids, command);
    for (size_t k = 0; k < count; k++) {
        const bool common = k == count - COMMON_OPTIONS;
        if (k == 0 || common) {
            text_add(out, "\n");
            layout_heading(out, common ? "Common options:" : "Options:", color);
        }
        option_item(out, &option_rows[ids[k]]);
    }
}

void help_command(struct text *out, const struct command *command, bool color)
{
    struct text usage = {0};
    text_addf(&usage, "Usage: rooftile %s [OPTION]...%s%s", command->name, *command->args ? " " : "", command->args);
    layout_heading(out, "Examples:", color);
    text_add(out, command->examples);
    text_add(out, "\n");
    layout_wrap(out, usage.data, 7, HELP_COLUMNS);
    const size_t sentence = out->length;
    layout_wrap(out, command->summary, 0, HELP_COLUMNS);
    out->data[sentence] = (char)toupper((unsigned char)out->data[sentence]);
    options_part(out, command, color);
    for (const char *at = command->details; at && *at;) {
        struct text paragraph = {0};
        const size_t length = strcspn(at, "\n");
        text_addn(&paragraph, at, length);
        text_add(out, "\n");
        layout_wrap(out, paragraph.data, 0, HELP_COLUMNS);
        text_release(&paragraph);
        at += length + strspn(at + length, "\n");
    }
    text_release(&usage);
}

void help_overview(struct text *out, bool color)
{
    layout_wrap(out, overview_summary, 0, HELP_COLUMNS);
    text_add(out, "\n");
    layout_heading(out, "Examples:", color);
    text_add(out, overview_examples);
    text_add(out, "\n");
    layout_heading(out, "Commands:", color);
    for (const struct command *command = commands; command->name; command++)
        layout_item(out, 2, 14, HELP_COLUMNS, command->name, command->summary);
    text_add(out, "\n");
    layout_wrap(out, "'rooftile COMMAND --help' shows a command's examples and options, 'man rooftile' everything.", 0,
                HELP_COLUMNS);
}
