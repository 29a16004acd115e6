/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "derived_text.h"
#include "report_internal.h"

enum { GAP = 2 };

const char *const share_heads[SHARE_COLUMNS] = {"part", "kernel", "time", "share"};

static double number_of(const struct json *part, const char *key)
{
    const struct json *number = json_member(part, key);
    return number && number->type == JSON_NUMBER ? number->number : NAN;
}

bool derived_shares(struct derived_shares *shares, const struct json *json)
{
    *shares = (struct derived_shares){.parts = json_member(json, "parts"), .sum_ns = number_of(json, "sum_ns")};
    return shares->parts && shares->parts->type == JSON_ARRAY && !shares->parts->packed && isfinite(shares->sum_ns);
}

/* "3 x 1.20 us" for a part that is there three times. */
static const char *part_time(char out[static UNITS_TEXT], const struct json *part)
{
    char time[UNITS_TEXT];
    const double times = number_of(part, "times");
    if (!(times > 1))
        return units_quantity(out, number_of(part, "time_ns"), "ns");
    snprintf(out, UNITS_TEXT, "%.0f x %s", times, units_quantity(time, number_of(part, "time_ns"), "ns"));
    return out;
}

const char *share_cell(char out[static UNITS_TEXT], const struct derived_shares *shares, size_t row, size_t column)
{
    const struct json *part = json_at(shares->parts, row);
    if (column < 2) {
        const struct json *word = json_member(part, share_heads[column]);
        return word && word->type == JSON_STRING ? word->string : "";
    }
    return column == 2 ? part_time(out, part) : units_percent(out, number_of(part, "share"));
}

void add_shares(struct text *out, const struct derived_shares *shares, unsigned indent, struct arena *arena)
{
    char text[UNITS_TEXT];
    size_t widths[SHARE_COLUMNS];
    const size_t rows = shares->parts->count;
    for (size_t column = 0; column < SHARE_COLUMNS; column++) {
        widths[column] = text_columns(share_heads[column]);
        for (size_t row = 0; row < rows; row++) {
            const size_t width = text_columns(share_cell(text, shares, row, column));
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    for (size_t row = 0; row <= rows; row++) { /* the head is row 0 */
        text_pad(out, indent, ' ');
        for (size_t column = 0; column < SHARE_COLUMNS; column++) {
            const char *cell = row ? share_cell(text, shares, row - 1, column) : share_heads[column];
            const size_t space = widths[column] - text_columns(cell);
            const bool words = column < 2;
            text_pad(out, (column ? GAP : 0) + (words ? 0 : space), ' ');
            text_add(out, printable(arena, cell));
            text_pad(out, words ? space : 0, ' ');
        }
        text_add(out, "\n");
    }
}
