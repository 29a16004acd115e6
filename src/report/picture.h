/* SPDX-License-Identifier: MIT
 *
 * Pictures: a chart with what it says in words, drawn for a page, for a phone, or as a file of its own.
 */
#ifndef ROOFTILE_PICTURE_H
#define ROOFTILE_PICTURE_H

#include "rooftile/result.h"
#include "rooftile/table.h"
#include "svg.h"

enum { PICTURE_WIDE = 880, PICTURE_NARROW = 380 };

struct picture {
    const char *name; /* a word, of its own in the document: "roofline" */
    const char *title, *desc;
    const void *data; /* what `draw` knows */
    void (*draw)(struct text *out, const struct picture *picture, double width, const struct svg_head *head);
};

/* A file of its own. */
void picture_alone(struct text *out, const struct picture *picture);
/* Adds a section with the picture, what it says, and its table. */
void document_picture(struct document *document, const struct picture *picture, struct table *table);

/* What a result can be drawn as; each adds nothing where there is nothing to draw. */
void picture_roofline(struct document *document, const struct result *result, const char *suffix);
void picture_kernels(struct document *document, const struct result *result, const char *suffix);
void picture_curves(struct document *document, const struct result *result, const char *suffix);
void picture_heat_maps(struct document *document, const struct result *result, const char *suffix);

#endif
