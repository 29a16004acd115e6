/* SPDX-License-Identifier: MIT
 *
 * How a page holds the data it was made of, and names its script.
 */
#ifndef ROOFTILE_PAGE_DATA_H
#define ROOFTILE_PAGE_DATA_H

#include "rooftile/text.h"

/* Compressed, in the letters of text_add_letters. */
void text_add_packed(struct text *out, const char *data, size_t length);
/* A JSON document whose values stand by their keys, behind what it is without them ('#' for each): a key's values are
 * alike, and take half the room. Values end in a newline; keys, in the order of the document, begin with a form feed.
 * Fractions have nine digits: no measurement has more.
 */
void text_add_columns(struct text *out, const char *json);
/* Bytes as letters that a script element may hold, 13 bits in two of 91, and up to 6 in the last one. */
void text_add_letters(struct text *out, const unsigned char *data, size_t length);
/* A source of a Content-Security-Policy: 'sha256-...' of an inline script. */
void text_add_script_hash(struct text *out, const char *script);

#endif
