/* SPDX-License-Identifier: MIT
 *
 * JSON of any size, cut into pieces: the values at some paths are handed out as text, one at a time, and nothing else
 * is kept. What reads a piece may parse it (json.h) or walk over its members (cut_member), which builds nothing.
 *
 * A path is the keys on the way joined with '.', "[]" behind the key of an array whose elements are meant:
 * "traceEvents[]", or "[]" where the document is an array. Damage (no comma, a value that is none, an end too early) is
 * counted with its first place, and reading goes on behind it.
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
};

void json_cut(struct source *source, const struct cut_path *paths, size_t count, void *context,
              struct cut_damage *damage);

/* What is between the brackets of an object or array, for these two; nothing of another value. */
struct slice cut_inside(struct slice container);
/* The next member, element; false at the end. */
bool cut_member(struct slice *left, struct slice *key, struct slice *value);
bool cut_element(struct slice *left, struct slice *value);

/* Is the string (with its quotes, or a key without) this word? */
bool slice_is(struct slice slice, const char *word);
/* A number, also one in quotes; `otherwise` where there is none. */
double slice_number(struct slice slice, double otherwise);
/* A string without quotes and escapes, appended to nothing: `room` is overwritten. Other values as they stand. */
struct text;
const char *slice_text(struct slice slice, struct text *room);

#endif
