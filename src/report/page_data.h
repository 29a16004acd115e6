/* SPDX-License-Identifier: MIT
 *
 * How a page holds the data it was made of, and names its script.
 */
#ifndef ROOFTILE_PAGE_DATA_H
#define ROOFTILE_PAGE_DATA_H

#include "rooftile/text.h"

/* Compressed by gzip, in base 64. */
void text_add_packed(struct text *out, const char *data, size_t length);
/* A source of a Content-Security-Policy: 'sha256-...' of an inline script. */
void text_add_script_hash(struct text *out, const char *script);

#endif
