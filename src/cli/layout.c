/* SPDX-License-Identifier: MIT */
#include "layout.h"

void layout_paragraph(struct text *out, const char *words, unsigned indent, unsigned width)
{
    text_pad(out, indent, ' ');
    text_add_wrapped(out, words, indent, indent, width);
    text_add(out, "\n");
}

void layout_item(struct text *out, unsigned indent, unsigned at, unsigned width, const char *left, const char *right)
{
    const size_t used = indent + text_columns(left);
    text_pad(out, indent, ' ');
    text_add(out, left);
    if (!*right) {
        text_add(out, "\n");
        return;
    }
    if (used + 2 > at) {
        text_add(out, "\n");
        layout_paragraph(out, right, at, width);
        return;
    }
    text_pad(out, at - used, ' ');
    text_add_wrapped(out, right, at, at, width);
    text_add(out, "\n");
}

void layout_heading(struct text *out, const char *heading, bool color)
{
    text_addf(out, color ? "\033[1m%s\033[0m\n" : "%s\n", heading);
}
