/* SPDX-License-Identifier: MIT
 *
 * Text from outside on its way out: results, manifests and names come from anywhere, and what reads our output must not
 * take a part of them for its own.
 */
#include <string.h>

#include "rooftile/text.h"

/* U+FFFE and U+FFFF, which XML 1.0 forbids like the control characters. */
static bool is_nonchar(const char *utf8)
{
    const unsigned char *c = (const unsigned char *)utf8;
    return c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
}

void text_add_xml(struct text *text, const char *string)
{
    for (const char *c = string ? string : ""; *c; c++) {
        const char *reference = NULL;
        switch (*c) {
        case '&':
            reference = "&amp;";
            break;
        case '<':
            reference = "&lt;";
            break;
        case '>':
            reference = "&gt;";
            break;
        case '"':
            reference = "&quot;";
            break;
        case '\n':
            reference = "&#10;";
            break;
        default:
            break;
        }
        if (is_nonchar(c)) {
            reference = "?";
            c += 2;
        }
        if (reference)
            text_add(text, reference);
        else
            text_addn(text, (unsigned char)*c < 0x20 && *c != '\t' ? "?" : c, 1);
    }
}

void text_add_markdown(struct text *text, const char *string)
{
    for (const char *c = string ? string : ""; *c; c++) {
        if (*c == '&')
            text_add(text, "&amp;");
        else if (strchr("|\\`*_{}[]<>#~", *c))
            text_addf(text, "\\%c", *c);
        else
            text_addn(text, (unsigned char)*c < 0x20 ? " " : c, 1);
    }
}

/* Bytes of a control character: of either set, U+0000 to U+001F and U+007F to U+009F; else 0. */
static size_t control_length(const char *c)
{
    const unsigned char byte = (unsigned char)*c;
    if (byte == 0xc2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0)
        return 2;
    return byte < 0x20 || byte == 0x7f;
}

void text_add_printable(struct text *text, const char *string)
{
    for (const char *c = string ? string : ""; *c; c++) {
        const size_t control = control_length(c);
        text_addn(text, *c == '\n' || *c == '\t' ? " " : control ? "?" : c, 1);
        c += control ? control - 1 : 0;
    }
}

void text_add_wrapped(struct text *text, const char *prose, size_t at, size_t indent, size_t columns)
{
    for (const char *p = prose + strspn(prose, " "); *p;) {
        const size_t length = strcspn(p, " ");
        struct text word = {0};
        text_addn(&word, p, length);
        const size_t width = text_columns(word.data);
        text_release(&word);
        if (at > indent && at + 1 + width > columns) {
            text_add(text, "\n");
            text_pad(text, indent, ' ');
            at = indent;
        } else if (at > indent) {
            text_add(text, " ");
            at++;
        }
        text_addn(text, p, length);
        at += width;
        p += length + strspn(p + length, " ");
    }
}

void text_add_csv(struct text *text, const char *string)
{
    string = string ? string : "";
    const bool quoted = strpbrk(string, ",\"\r\n") != NULL;
    text_add(text, quoted ? "\"" : "");
    for (const char *c = string; *c; c++) {
        const size_t control = strchr("\r\n\t", *c) ? 0 : control_length(c);
        text_add(text, *c == '"' ? "\"" : "");
        text_addn(text, control ? "?" : c, 1);
        c += control ? control - 1 : 0;
    }
    text_add(text, quoted ? "\"" : "");
}
