/* SPDX-License-Identifier: MIT */
#include "rooftile/sides.h"

#include <unistd.h>

#include "rooftile/file.h"
#include "rooftile/spawn.h"

static const char *const kind_words[] = {"a folder of kernels", "a compiler", "a code object"};

/* Splits the flags off a compiler's name at blanks. A name that contains blanks must be an existing path. */
static const char *split(struct side_word *side, const char *word, struct arena *arena)
{
    const char *name = word;
    if (file_exists(word))
        return word;
    for (const char *at = word; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        const char *part = arena_strndup(arena, at, length);
        if (at == word)
            name = part;
        else
            ARENA_PUSH(arena, side->flags, side->flag_count, part);
        at += length;
    }
    return name;
}

/* A folder contains kernels; an executable file that is not a library is a compiler; any other file is a code
 * object. */
enum status side_find(struct side_word *side, const char *word, const char *asker, struct arena *arena, struct err *err)
{
    word += strspn(word, " ");
    *side = (struct side_word){.word = word};
    const char *name = split(side, word, arena);
    const char *program = strchr(name, '/') || file_exists(name) ? NULL : spawn_which(arena, name);
    const char *dot = strrchr(name, '.');
    const bool named_object = dot && (!strcmp(dot, ".co") || !strcmp(dot, ".hsaco") || !strcmp(dot, ".so"));
    side->path = program ? program : name;
    if (file_is_dir(side->path))
        side->kind = SIDE_KERNELS;
    else if (access(side->path, R_OK))
        return err_set(err, ERR_USAGE, "%s: there is no folder, compiler or code object '%s'", asker, name);
    else
        side->kind = !named_object && !access(side->path, X_OK) ? SIDE_COMPILER : SIDE_OBJECT;
    if (side->flag_count && side->kind != SIDE_COMPILER)
        return err_set(err, ERR_USAGE, "%s: '%s' is %s, only a compiler takes flags", asker, name,
                       kind_words[side->kind]);
    return STATUS_OK;
}

enum status sides_check(const struct side_word *a, const struct side_word *b, const char *asker, struct err *err)
{
    if (a->kind == b->kind)
        return STATUS_OK;
    return err_set(err, ERR_USAGE, "%s: '%s' is %s and '%s' is %s; give two of a kind", asker, a->word,
                   kind_words[a->kind], b->word, kind_words[b->kind]);
}

void side_use(struct session *session, const struct side_word *side)
{
    session->kernel_dir = side->kind == SIDE_KERNELS ? side->path : NULL;
    session->compiler = side->kind == SIDE_COMPILER ? side->path : NULL;
    session->flags = side->flags;
    session->flag_count = side->flag_count;
}
