/* SPDX-License-Identifier: MIT
 *
 * What a page has besides its sections: the data it was made of, and its script.
 */
#ifndef ROOFTILE_PAGE_DATA_H
#define ROOFTILE_PAGE_DATA_H

#include "rooftile/text.h"

/* Both may be NULL. */
struct page_data {
    const char *json; /* one document */
    const char *csv;
};

/* Compressed, as base64. */
void text_add_packed(struct text *out, const char *data, size_t length);
/* A source of a Content-Security-Policy: 'sha256-...' of an inline script. */
void text_add_script_hash(struct text *out, const char *script);

#endif
