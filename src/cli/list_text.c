/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "layout.h"
#include "list_view.h"
#include "session.h"

#define WIDEST_NAME 28u   /* longer names get a line of their own */
#define WIDEST_TABLE 100u /* long lines are hard to read on any terminal */

static unsigned name_column(const struct listing *listing)
{
    size_t widest = 8;
    for (size_t k = 0; k < listing->kernel_count; k++) {
        const size_t columns = text_columns(listing->kernels[k]->name);
        widest = columns > widest && columns <= WIDEST_NAME ? columns : widest;
    }
    return (unsigned)widest + 4;
}

static void kernel_line(const struct list_view *view, const struct manifest *manifest, unsigned at)
{
    const char *tags = list_tags(view->arena, manifest);
    const char *summary = manifest->summary ? manifest->summary : "";
    layout_item(view->out, 2, at, view->columns, manifest->name,
                *tags ? arena_printf(view->arena, "%s [%s]", summary, tags) : summary);
}

static const char *heading_of(const struct manifest *manifest, const char *family)
{
    if (list_is_oracle(manifest))
        return "oracle (compute what is right for the others)";
    return session_is_helper(manifest) ? "service (what a run needs beside its cases)" : family;
}

static void kernel_lines(const struct list_view *view, const struct listing *listing, unsigned at)
{
    const char *family = "";
    for (size_t k = 0; k < listing->kernel_count; k++) {
        const struct manifest *manifest = listing->kernels[k];
        if (strcmp(list_family(manifest), family) != 0) {
            family = list_family(manifest);
            text_add(view->out, k ? "\n" : "");
            layout_heading(view->out, heading_of(manifest, family), view->color);
        }
        kernel_line(view, manifest, at);
    }
}

static void suite_lines(const struct list_view *view, const struct listing *listing, unsigned at)
{
    if (!listing->suite_count)
        return;
    text_add(view->out, listing->kernel_count ? "\n" : "");
    layout_heading(view->out, "suites", view->color);
    for (size_t k = 0; k < listing->suite_count; k++) {
        const struct listed_suite *listed = &listing->suites[k];
        const char *summary = listed->suite ? listed->suite->summary : listed->problem;
        layout_item(view->out, 2, at, view->columns, listed->name, summary ? summary : "");
    }
}

static void problem_lines(const struct list_view *view, const struct catalog *catalog)
{
    if (!catalog->problem_count)
        return;
    text_add(view->out, "\n");
    layout_heading(view->out, "problems", view->color);
    for (size_t k = 0; k < catalog->problem_count; k++)
        layout_paragraph(view->out, catalog->problems[k].text, 2, view->columns);
}

static void overview(const struct list_view *view, const struct listing *listing)
{
    const unsigned at = name_column(listing);
    kernel_lines(view, listing, at);
    suite_lines(view, listing, at);
    problem_lines(view, &listing->catalog);
    if (listing->kernel_count + listing->suite_count)
        text_add(view->out, "\n'rooftile list NAME' shows one in full, 'rooftile run NAME' measures it.\n");
    else
        text_add(view->out, "nothing matches\n");
}

void list_text(struct text *out, const struct listing *listing, unsigned columns, bool color)
{
    const struct list_view view = {.out = out,
                                   .arena = listing->arena,
                                   .columns = columns < WIDEST_TABLE ? columns : WIDEST_TABLE,
                                   .color = color};
    if (!listing->full) {
        overview(&view, listing);
        return;
    }
    for (size_t k = 0; k < listing->kernel_count; k++) {
        text_add(out, k ? "\n" : "");
        list_kernel(&view, listing->kernels[k]);
    }
    for (size_t k = 0; k < listing->suite_count; k++) {
        text_add(out, listing->kernel_count + k ? "\n" : "");
        list_suite(&view, &listing->suites[k]);
    }
}
