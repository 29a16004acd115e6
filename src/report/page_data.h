/* SPDX-License-Identifier: MIT
 *
 * Embeds data in a page, and identifies the page's script.
 */
#ifndef ROOFTILE_PAGE_DATA_H
#define ROOFTILE_PAGE_DATA_H

#include "rooftile/text.h"

/* Adds a JSON text with its fractions rounded to nine digits. */
void text_add_rounded(struct text *out, const char *json);
/* Adds the data, compressed by gzip, in base 64. */
void text_add_packed(struct text *out, const char *data, size_t length);
/* Adds a source for a Content-Security-Policy: 'sha256-...' of an inline script. */
void text_add_script_hash(struct text *out, const char *script);

#endif
