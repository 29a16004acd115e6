/* SPDX-License-Identifier: MIT
 *
 * Layout: text for a terminal of a given width.
 */
#ifndef ROOFTILE_LAYOUT_H
#define ROOFTILE_LAYOUT_H

#include "rooftile/text.h"

/* `words` broken at spaces so that no line passes `width` (a word that is longer stands alone), every line at column
 * `indent`. Ends with a newline. */
void layout_paragraph(struct text *out, const char *words, unsigned indent, unsigned width);

/* A line "left   right", with left at column `indent` and right wrapped at column `at`, on the next line when left is
 * too long. An empty right is skipped. */
void layout_item(struct text *out, unsigned indent, unsigned at, unsigned width, const char *left, const char *right);

/* A heading line, bold where colour is wanted. */
void layout_heading(struct text *out, const char *heading, bool color);

#endif
