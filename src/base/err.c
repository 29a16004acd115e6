/* SPDX-License-Identifier: MIT */

#include "rooftile/base.h"

#define ERR_TEXT sizeof(((struct err *)0)->text)

/* Ends a truncated text with "...", without leaving part of a UTF-8 character before it. */
static void mark_cut(char *text)
{
    size_t end = ERR_TEXT - sizeof("...");
    while (end > 0 && ((unsigned char)text[end] & 0xC0u) == 0x80u)
        end--;
    memcpy(text + end, "...", sizeof("..."));
}

static void print(char text[static ERR_TEXT], const char *format, va_list args)
{
    const int length = vsnprintf(text, ERR_TEXT, format, args);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= ERR_TEXT)
        mark_cut(text);
}

enum status err_set(struct err *err, enum status status, const char *format, ...)
{
    /* The arguments may point into err->text, so it is replaced only after the new text is complete. */
    char text[ERR_TEXT];
    va_list args;
    va_start(args, format);
    print(text, format, args);
    va_end(args);
    memcpy(err->text, text, strlen(text) + 1);
    err->status = status;
    return status;
}

enum status err_within(struct err *err, const char *format, ...)
{
    char where[ERR_TEXT];
    va_list args;
    va_start(args, format);
    print(where, format, args);
    va_end(args);
    return err_set(err, err->status, "%s: %s", where, err->text);
}

enum status err_no_match(struct err *err, const char *const *filters, size_t count)
{
    const char *inner = filters[0] + strspn(filters[0], "*");
    size_t length = strlen(inner);
    while (length && inner[length - 1] == '*')
        length--;
    return err_set(err, ERR_USAGE, "no case matches the filter '%s'%s; it is a pattern of the whole id, as in '*%.*s*'",
                   filters[0], count > 1 ? " and the others" : "", (int)length, inner);
}

enum status err_nearest(struct err *err, const char *word, const char *const *candidates, size_t count,
                        const char *otherwise)
{
    const char *near = text_nearest(word, candidates, count);
    if (near)
        return err_set(err, err->status, "%s; did you mean '%s'?", err->text, near);
    return otherwise ? err_set(err, err->status, "%s; %s", err->text, otherwise) : err->status;
}

int err_exit_code(enum status status)
{
    static const int codes[] = {
        [STATUS_OK] = 0,   [ERR_USAGE] = 2,       [ERR_CONFIG] = 2,        [ERR_IO] = 3,
        [ERR_BUILD] = 3,   [ERR_DEVICE] = 3,      [ERR_DEVICE_MEMORY] = 3, [ERR_DEVICE_LOST] = 3,
        [ERR_TIMEOUT] = 3, [ERR_UNSUPPORTED] = 3, [ERR_INTERRUPTED] = 130,
    };
    return codes[status];
}
