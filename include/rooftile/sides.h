/* SPDX-License-Identifier: MIT
 *
 * The two sides of --ab and of codediff: folders of kernels, compilers with flags, code objects.
 */
#ifndef ROOFTILE_SIDES_H
#define ROOFTILE_SIDES_H

#include "rooftile/session.h"

enum side_kind { SIDE_KERNELS, SIDE_COMPILER, SIDE_OBJECT };

struct side_word {
    const char *word; /* as on the command line */
    enum side_kind kind;
    const char *path;   /* path of the folder, compiler or object; a compiler is searched for in PATH */
    const char **flags; /* a compiler's flags, following its name: "clang++-22 -mllvm -amdgpu-..." */
    size_t flag_count;
};

/* `asker`: "--ab" or "codediff", for messages. ERR_USAGE: there is no such folder, compiler or object. */
enum status side_find(struct side_word *side, const char *word, const char *asker, struct arena *arena,
                      struct err *err);
/* ERR_USAGE: the two are of different kinds. */
enum status sides_check(const struct side_word *a, const struct side_word *b, const char *asker, struct err *err);

/* Sets the sources, compiler and flags of the session's code. */
void side_use(struct session *session, const struct side_word *side);

#endif
