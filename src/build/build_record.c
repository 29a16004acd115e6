/* SPDX-License-Identifier: MIT */

#include "build_internal.h"
#include "rooftile/file.h"

/* A record:
 *     rooftile build record 2
 *     object <sha256> <file name>
 *     compiler Debian clang version 19.1.7 (3)
 *     input <hash> include/portable.h
 *     input <hash> /usr/lib/llvm-19/lib/clang/19/include/stddef.h
 *     absent source/portable.h
 *     end
 * Locks do not cover readers and nothing is flushed to the disk, so a record without its last line is invalid. */
#define RECORD_HEAD "rooftile build record 2"
#define RECORD_LIMIT_BYTES (1024u * 1024u)

/* Returns the part of `path` below `dir`, or NULL if it is elsewhere. */
static const char *below(const char *path, const char *dir)
{
    const size_t length = strlen(dir);
    return strncmp(path, dir, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* If one folder contains the other, the path is relative to the inner one. */
static char *shorten(const struct build_unit *unit, const char *path, struct arena *arena)
{
    const char *in_source = below(path, unit->source_dir);
    const char *in_include = below(path, unit->include_dir);
    if (in_source && !(in_include && strlen(unit->source_dir) <= strlen(unit->include_dir)))
        return arena_printf(arena, "source/%s", in_source);
    return in_include ? arena_printf(arena, "include/%s", in_include) : arena_strdup(arena, path);
}

static const char *lengthen(const struct build_unit *unit, const char *path, struct arena *arena)
{
    if (text_starts(path, "source/"))
        return path_join(arena, unit->source_dir, path + strlen("source/"));
    if (text_starts(path, "include/"))
        return path_join(arena, unit->include_dir, path + strlen("include/"));
    return path;
}

char *record_shadow(const struct build_unit *unit, const char *path, struct arena *arena)
{
    const char *in_include = below(path, unit->include_dir);
    if (!in_include || strcmp(unit->source_dir, unit->include_dir) == 0)
        return NULL;
    return path_join(arena, unit->source_dir, in_include);
}

bool record_print(struct text *text, const struct build_record *record, const struct build_unit *unit)
{
    SCOPED(arena_release) struct arena arena = {0};
    bool ok = !strchr(record->object, '\n') && !strchr(record->compiler, '\n');
    text_addf(text, "%s\nobject %s %s\ncompiler %s\n", RECORD_HEAD, record->sha256, record->object, record->compiler);
    FOR_EACH(const struct build_input, input, record->inputs, record->input_count) {
        ok = ok && !strchr(input->path, '\n');
        const char *path = shorten(unit, input->path, &arena);
        if (input->digest)
            text_addf(text, "input %s %s\n", input->digest, path);
        else
            text_addf(text, "absent %s\n", path);
    }
    text_add(text, "end\n");
    return ok;
}

/* Cuts the word before the first blank off *line; NULL if there is none. */
static char *take_word(char **line)
{
    char *word = *line;
    char *blank = strchr(word, ' ');
    if (!blank)
        return NULL;
    *blank = '\0';
    *line = blank + 1;
    return word;
}

static bool read_line(struct build_record *record, const struct build_unit *unit, char *line, struct arena *arena)
{
    struct build_input input = {0};
    const char *head = take_word(&line);
    if (!head)
        return false;
    if (strcmp(head, "object") == 0) {
        record->sha256 = take_word(&line);
        record->object = line;
        /* Accepts only files directly in the cache folder. */
        return record->sha256 && strlen(record->sha256) < HASH_TEXT && *line && !strchr(line, '/');
    }
    if (strcmp(head, "compiler") == 0) {
        record->compiler = line;
        return true;
    }
    if (strcmp(head, "input") == 0)
        input.digest = take_word(&line);
    if (!input.digest && strcmp(head, "absent") != 0)
        return false;
    input.path = lengthen(unit, line, arena);
    ARENA_PUSH(arena, record->inputs, record->input_count, input);
    return true;
}

enum status record_read(struct build_record *record, const struct build_unit *unit, const char *path,
                        struct arena *arena, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    if (file_read(&data, &length, path, RECORD_LIMIT_BYTES, arena, err))
        return err->status;
    struct build_record read = {0};
    size_t number = 0;
    for (char *line = data, *end; (end = strchr(line, '\n')) != NULL; line = end + 1, number++) {
        *end = '\0';
        if (strcmp(line, "end") == 0 && read.object && read.compiler) {
            *record = read;
            return STATUS_OK;
        }
        if (number == 0 ? strcmp(line, RECORD_HEAD) != 0 : !read_line(&read, unit, line, arena))
            break;
    }
    return err_set(err, ERR_IO, "%s: not a build record", path);
}

/* Parses after a make rule's colon: blanks separate; "\ " and "\#" are literal, "$$" is "$", a backslash at the end of
 * a line joins lines. */
static char *next_prerequisite(char **at)
{
    char *from = *at;
    while (*from == ' ' || *from == '\n' || (*from == '\\' && from[1] == '\n'))
        from += *from == '\\' ? 2 : 1;
    char *word = from;
    char *to = from;
    for (; *from && *from != ' ' && *from != '\n'; from++) {
        if (*from == '\\' && from[1] == '\n')
            break;
        if ((*from == '\\' && (from[1] == ' ' || from[1] == '#')) || (*from == '$' && from[1] == '$'))
            from++;
        *to++ = *from;
    }
    *at = *from ? from + 1 : from;
    *to = '\0';
    return to > word ? word : NULL;
}

enum status depfile_read(const char ***paths, size_t *count, const char *path, struct arena *arena, struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    if (file_read(&data, &length, path, RECORD_LIMIT_BYTES, arena, err))
        return err->status;
    char *at = strchr(data, ':'); /* the target is a fixed word without a colon */
    if (!at)
        return err_set(err, ERR_IO, "%s: not a dependency file", path);
    at++;
    *paths = NULL;
    *count = 0;
    while (*at) {
        char *word = next_prerequisite(&at);
        if (word)
            ARENA_PUSH(arena, *paths, *count, word);
    }
    return STATUS_OK;
}
