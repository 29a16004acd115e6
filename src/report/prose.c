/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "report_internal.h"

const char *printable(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text ? text : "");
    for (unsigned char *p = (unsigned char *)copy; *p; p++) {
        if (*p == '\t')
            *p = ' ';
        else if ((*p < 0x20 && *p != '\n') || *p == 0x7f)
            *p = '?';
        else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) /* the second set of control characters, U+0080..U+009F */
            p[0] = p[1] = '?';
    }
    return copy;
}

void wrapped(struct text *out, const char *prose, unsigned indent, unsigned columns)
{
    text_pad(out, indent, ' ');
    text_add_wrapped(out, prose, indent, indent, columns);
    text_add(out, "\n");
}

void indented(struct text *out, const char *lines, unsigned indent, unsigned columns)
{
    const size_t length = strlen(lines);
    if (!strchr(lines, '\n')) {
        wrapped(out, lines, indent, columns);
        return;
    }
    for (const char *p = lines; p < lines + length;) {
        const size_t line = strcspn(p, "\n");
        text_pad(out, line ? indent : 0, ' ');
        text_addn(out, p, line);
        text_add(out, "\n");
        p += line + 1;
    }
}
