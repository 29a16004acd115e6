/* SPDX-License-Identifier: MIT
 *
 * JSON of any size, cut into values: those at some paths are handed out as text, one at a time, and nothing else is
 * kept. The reader of a value may parse it (json.h) or walk over its members (cut_member), which builds nothing.
 *
 * A path is the keys on the way joined with '.', "[]" behind the key of an array whose elements are meant:
 * "traceEvents[]", or "[]" where the document is an array. Damage (no comma, an invalid value) is
 * counted, with the position of the first, and reading goes on behind it; an end too early is no such place, but
 * `cut`.
 */
#ifndef ROOFTILE_IMPORT_JSON_CUT_H
#define ROOFTILE_IMPORT_JSON_CUT_H

#include "source.h"

struct slice {
    const char *data;
    size_t length;
};

/* One value, from its first byte to its last; `offset` is where it stands in the file. */
typedef void cut_function(void *context, struct slice value, uint64_t offset);

struct cut_path {
    const char *path;
    cut_function *take;
};

struct cut_damage {
    uint64_t count, first; /* places, and the offset of the first one */
    bool cut;              /* the document does not end */
};

void json_cut(struct source *source, const struct cut_path *paths, size_t count, void *context,
              struct cut_damage *damage);

/* The text between the brackets of an object or array, for cut_member and cut_element; empty for other values. */
struct slice cut_inside(struct slice container);
/* The next member, element; false at the end. */
bool cut_member(struct slice *left, struct slice *key, struct slice *value);
bool cut_element(struct slice *left, struct slice *value);

/* Is the string (with its quotes, or a key without) this word? */
bool slice_is(struct slice slice, const char *word);
/* A number, also one in quotes; `otherwise` where there is none. */
double slice_number(struct slice slice, double otherwise);
/* A string without quotes and escapes, written over `room`; other values as they are. */
struct text;
const char *slice_text(struct slice slice, struct text *room);

#endif
