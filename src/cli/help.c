/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "layout.h"
#include "pages.h"

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

void page_walk(const struct page *page, const struct command *only)
{
    for (const struct command *command = only ? only : commands; command->name; command++) {
        enum option_id ids[OPT_COUNT];
        const size_t count = options_of(ids, command), own = count - COMMON_OPTIONS;
        if (page->begin)
            page->begin(page, command);
        for (size_t k = 0; k < count && page->option; k++)
            page->option(page, command, &option_rows[ids[k]], k >= own, k >= own ? k - own : k);
        if (page->end)
            page->end(page, command);
        if (only)
            return;
    }
}

static void help_begin(const struct page *page, const struct command *command)
{
    struct text usage = {0};
    text_addf(&usage, "Usage: rooftile %s [OPTION]...%s%s", command->name, *command->args ? " " : "", command->args);
    layout_heading(page->out, "Examples:", page->color);
    text_add(page->out, command->examples);
    text_add(page->out, "\n");
    text_add_wrapped(page->out, usage.data, 0, 7, HELP_COLUMNS);
    text_add(page->out, "\n");
    const size_t sentence = page->out->length;
    layout_paragraph(page->out, command->summary, 0, HELP_COLUMNS);
    page->out->data[sentence] = (char)toupper((unsigned char)page->out->data[sentence]);
    text_release(&usage);
}

static void help_option(const struct page *page, const struct command *command, const struct option_row *row,
                        bool common, size_t index)
{
    struct text left = {0};
    (void)command;
    if (index == 0) {
        text_add(page->out, "\n");
        layout_heading(page->out, common ? "Common options:" : "Options:", page->color);
    }
    if (row->key)
        text_addf(&left, "-%c, ", row->key);
    else
        text_pad(&left, 4, ' ');
    text_addf(&left, "--%s%s%s", row->name, row->argument ? " " : "", row->argument ? row->argument : "");
    layout_item(page->out, 2, TEXT_COLUMN, HELP_COLUMNS, left.data, row->help);
    text_release(&left);
}

static void help_end(const struct page *page, const struct command *command)
{
    for (const char *at = command->details; at && *at;) {
        struct text paragraph = {0};
        const size_t length = strcspn(at, "\n");
        text_addn(&paragraph, at, length);
        text_add(page->out, "\n");
        layout_paragraph(page->out, paragraph.data, 0, HELP_COLUMNS);
        text_release(&paragraph);
        at += length + strspn(at + length, "\n");
    }
}

void help_command(struct text *out, const struct command *command, bool color)
{
    page_walk(&(struct page){out, color, help_begin, help_option, help_end}, command);
}

static void overview_begin(const struct page *page, const struct command *command)
{
    layout_item(page->out, 2, 14, HELP_COLUMNS, command->name, command->summary);
}

void help_overview(struct text *out, bool color)
{
    layout_paragraph(out, overview_summary, 0, HELP_COLUMNS);
    text_add(out, "\n");
    layout_heading(out, "Examples:", color);
    text_add(out, overview_examples);
    text_add(out, "\n");
    layout_heading(out, "Commands:", color);
    page_walk(&(struct page){.out = out, .begin = overview_begin}, NULL);
    text_add(out, "\n");
    layout_paragraph(out,
                     "'rooftile COMMAND --help' shows a command's examples and options, 'man rooftile' everything.", 0,
                     HELP_COLUMNS);
}
