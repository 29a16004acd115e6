/* SPDX-License-Identifier: MIT
 *
 * Shorter case names for lists: "gemm_matrix m=128 ... SPLIT=1" without the parameters that most gemm_matrix cases
 * share.
 */

#include "report_internal.h"

const char *device_title(const char *name, struct arena *arena)
{
    size_t length = strlen(name);
    while (length && name[length - 1] == ' ')
        length--;
    return length ? arena_strndup(arena, name, length) : "an unknown device";
}

enum {
    LONG = 40 /* columns; a kernel whose names are all shorter keeps them unchanged */,
    FIRST = 8,
    MOST_WORDS = 160
};

/* "SPLIT=1": the number of names that have it, and of those that have SPLIT with any value. */
struct usual {
    const char *word;
    size_t length, key_length; /* the key includes its '='; for a word without '=' it is the whole word */
    size_t has, has_key;
};

struct kernel_words {
    const char *name; /* the first word is the kernel's name */
    size_t name_length, names;
    bool is_long;
    struct usual *words;
    size_t count;
};

/* Searches from the end: cases of one kernel are mostly adjacent. */
static struct kernel_words *kernel_of(struct kernel_words *kernels, size_t *count, const char *name)
{
    const size_t length = strcspn(name, " ");
    for (size_t k = *count; k-- > 0;)
        if (kernels[k].name_length == length && !memcmp(kernels[k].name, name, length))
            return &kernels[k];
    kernels[*count] = (struct kernel_words){.name = name, .name_length = length};
    return &kernels[(*count)++];
}

static bool next_word(const char **at, size_t *length)
{
    *at += *length;
    *at += strspn(*at, " ");
    *length = strcspn(*at, " ");
    return *length > 0;
}

const char *label_words(const char *label, bool (*keeps)(const char *word, size_t length, const void *context),
                        const void *context, struct arena *arena)
{
    struct text kept = {0};
    size_t length = 0;
    for (const char *at = label; next_word(&at, &length);)
        if (keeps(at, length, context))
            text_addf(&kept, "%s%.*s", kept.length ? " " : "", (int)length, at);
    return text_take(&kept, arena);
}

/* At least three of four names have it, and the others give another value. */
static bool is_usual(const struct kernel_words *kernel, const struct usual *usual)
{
    return kernel->is_long && kernel->names > 1 && usual->has_key == kernel->names &&
           4 * usual->has >= 3 * kernel->names;
}

static bool is_unusual(const char *word, size_t length, const void *context)
{
    const struct kernel_words *kernel = context;
    return COUNT_WHERE(usual, kernel->words, kernel->count,
                       usual->length == length && !memcmp(usual->word, word, length) && is_usual(kernel, usual)) == 0;
}

/* "gemm_matrix, unless said: TA=0 TB=1", one line per kernel. */
static const char *words_usual(const struct kernel_words *kernels, size_t count, struct arena *arena)
{
    struct text said = {0};
    for (size_t k = 0; k < count; k++)
        for (size_t w = 0, before = 0; w < kernels[k].count; w++) {
            const struct usual *usual = &kernels[k].words[w];
            if (!is_usual(&kernels[k], usual))
                continue;
            if (!before++)
                text_addf(&said, "%s%.*s, unless said otherwise:", said.length ? "\n" : "", (int)kernels[k].name_length,
                          kernels[k].name);
            text_addf(&said, " %.*s", (int)usual->length, usual->word);
        }
    return text_take(&said, arena);
}

const char *const *names_apart(const char *const *names, size_t count, const char **usual, struct arena *arena)
{
    const char **apart = arena_array(arena, count + 1, sizeof(*apart));
    struct kernel_words *kernels = arena_array(arena, count + 1, sizeof(*kernels)), *kernel;
    size_t known = 0;
    for (size_t k = 0; k < count; k++) {
        kernel = kernel_of(kernels, &known, names[k]);
        kernel->is_long |= text_columns(names[k]) > LONG;
        const char *at = names[k] + kernel->name_length;
        for (size_t length = 0; kernel->names < FIRST && kernel->count < MOST_WORDS && next_word(&at, &length);) {
            const size_t key = strcspn(at, "= ");
            if (!COUNT_WHERE(word, kernel->words, kernel->count,
                             word->length == length && !memcmp(word->word, at, length)))
                ARENA_PUSH(arena, kernel->words, kernel->count,
                           (struct usual){at, length, at[key] == '=' ? key + 1 : length, 0, 0});
        }
        kernel->names++;
    }
    for (size_t k = 0; k < count; k++) {
        kernel = kernel_of(kernels, &known, names[k]);
        const char *at = names[k] + kernel->name_length;
        for (size_t length = 0; next_word(&at, &length);)
            FOR_EACH(struct usual, one, kernel->words, kernel->count) {
                const bool same_key = length >= one->key_length && !memcmp(at, one->word, one->key_length);
                one->has_key += same_key;
                one->has += same_key && length == one->length && !memcmp(at, one->word, length);
            }
    }
    for (size_t k = 0; k < count; k++) {
        kernel = kernel_of(kernels, &known, names[k]);
        apart[k] = names[k];
        if (kernel->is_long && kernel->names > 1) {
            const char *rest = label_words(names[k] + kernel->name_length, is_unusual, kernel, arena);
            apart[k] = arena_printf(arena, "%.*s%s%s", (int)kernel->name_length, names[k], *rest ? " " : "", rest);
        }
    }
    if (usual)
        *usual = words_usual(kernels, known, arena);
    return apart;
}

const char *const *table_names_apart(const struct table *t, const char **usual, struct arena *arena)
{
    const size_t rows = rows_shown(t);
    const char **names = arena_array(arena, rows + 1, sizeof(*names));
    bool cases = t->columns[0].title && !strcmp(t->columns[0].title, "case");
    for (size_t row = 0; row < rows; row++) {
        const struct table_row *at = table_at(t, row);
        cases |= at->keys != NULL && !at->keys->page;
        names[row] = at->cells[0].text ? at->cells[0].text : "";
    }
    return cases ? names_apart(names, rows, usual, arena) : NULL;
}
