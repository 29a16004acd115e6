/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <string.h>

#include "rooftile/arena.h"

static size_t current_column(const struct text *out)
{
    const char *line = out->data ? strrchr(out->data, '\n') : NULL;
    return out->data ? text_columns(line ? line + 1 : out->data) : 0;
}

static size_t columns_of(const char *word, size_t length)
{
    struct arena arena = {0};
    const size_t columns = text_columns(arena_strndup(&arena, word, length));
    arena_release(&arena);
    return columns;
}

void layout_wrap(struct text *out, const char *words, unsigned indent, unsigned width)
{
    size_t column = current_column(out);
    bool first = true;
    for (const char *word = words; *word;) {
        const size_t length = strcspn(word, " ");
        const size_t columns = columns_of(word, length);
        if (!first && column + 1 + columns > width) {
            text_add(out, "\n");
            text_pad(out, indent, ' ');
            column = indent;
        } else if (!first) {
            text_add(out, " ");
            column++;
        }
        text_addn(out, word, length);
        column += columns;
        word += length;
        word += strspn(word, " ");
        first = false;
    }
    text_add(out, "\n");
}

void layout_paragraph(struct text *out, const char *words, unsigned indent, unsigned width)
{
    text_pad(out, indent, ' ');
    layout_wrap(out, words, indent, width);
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
    if (used + 2 > at)
        text_add(out, "\n");
    text_pad(out, used + 2 > at ? at : at - used, ' ');
    layout_wrap(out, right, at, width);
}

void layout_heading(struct text *out, const char *heading, bool color)
{
    text_addf(out, color ? "\033[1m%s\033[0m\n" : "%s\n", heading);
}
