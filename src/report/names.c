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
    LONG = 40, /* columns; a kernel whose names are all shorter keeps them unchanged */
    FIRST = 8, /* names whose words are examined */
    MOST_WORDS = 160,
    MOST_COMPARED = 2000 /* names of a kernel; with more, no parameter is compared with the others */
};

/* "SPLIT=1": the number of names that have it, and of those that have SPLIT with any value. */
struct usual {
    const char *word;
    size_t length, key_length;   /* the key includes its '='; for a word without '=' it is the whole word */
    size_t has, has_key, values; /* values: how many different ones the key has */
    bool follows;                /* another parameter determines the key's value */
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

/* At least three of four names have the word, and the others give another value. */
static bool is_usual(const struct kernel_words *kernel, const struct usual *usual)
{
    return usual->has_key == kernel->names && 4 * usual->has >= 3 * kernel->names;
}

static bool is_unusual(const char *word, size_t length, const void *context)
{
    const struct kernel_words *kernel = context;
    FOR_EACH(const struct usual, usual, kernel->words, kernel->count)
        if ((usual->follows && length >= usual->key_length && !memcmp(word, usual->word, usual->key_length)) ||
            (usual->length == length && !memcmp(usual->word, word, length) && is_usual(kernel, usual)))
            return false;
    return true;
}

/* ---- parameters that follow another one ---- */

struct value_pair {
    const char *value[2];
    size_t length[2];
};

static int by_values(const void *a, const void *b)
{
    const struct value_pair *x = a, *y = b;
    for (size_t k = 0; k < 2; k++) {
        const size_t length = x->length[k] < y->length[k] ? x->length[k] : y->length[k];
        const int order = length ? memcmp(x->value[k], y->value[k], length) : 0;
        if (order || x->length[k] != y->length[k])
            return order ? order : x->length[k] < y->length[k] ? -1 : 1;
    }
    return 0;
}

/* Counts the different pairs of values that names of the kernel give to two keys. */
static size_t values_of(const struct kernel_words *kernel, const char *const *names, size_t count,
                        const struct usual *const keys[static 2], struct value_pair *pairs)
{
    size_t all = 0, different = 0;
    for (size_t k = 0; k < count; k++) {
        if (strncmp(names[k], kernel->name, kernel->name_length) || !strchr(" ", names[k][kernel->name_length]))
            continue;
        struct value_pair *pair = &pairs[all++];
        *pair = (struct value_pair){.length = {0}};
        const char *at = names[k] + kernel->name_length;
        for (size_t length = 0; next_word(&at, &length);)
            for (size_t side = 0; side < 2; side++)
                if (length >= keys[side]->key_length && !memcmp(at, keys[side]->word, keys[side]->key_length)) {
                    pair->value[side] = at;
                    pair->length[side] = length;
                }
    }
    qsort(pairs, all, sizeof(*pairs), by_values);
    for (size_t k = 0; k < all; k++)
        different += !k || by_values(&pairs[k - 1], &pairs[k]);
    return different;
}

/* Finds the keys whose value the parameter with the most values determines, and which do not determine that one: the
 * name does not need them. */
static void find_followers(struct kernel_words *kernel, const char *const *names, size_t count, struct arena *arena)
{
    struct value_pair *pairs = arena_array(arena, count + 1, sizeof(*pairs));
    const struct usual *most = kernel->words;
    FOR_EACH(struct usual, key, kernel->words, kernel->count) {
        key->values = values_of(kernel, names, count, (const struct usual *const[]){key, key}, pairs);
        most = key->values > most->values ? key : most;
    }
    FOR_EACH(struct usual, key, kernel->words, kernel->count)
        key->follows = key->values < most->values &&
                       values_of(kernel, names, count, (const struct usual *const[]){most, key}, pairs) == most->values;
}

/* ---- names ---- */

const char *const *names_apart(const char *const *names, size_t count, struct arena *arena)
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
                           (struct usual){at, length, at[key] == '=' ? key + 1 : length, 0, 0, 0, false});
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
    for (size_t k = 0; k < known; k++)
        if (kernels[k].is_long && kernels[k].names > 1 && count <= MOST_COMPARED)
            find_followers(&kernels[k], names, count, arena);
    for (size_t k = 0; k < count; k++) {
        kernel = kernel_of(kernels, &known, names[k]);
        apart[k] = names[k];
        if (kernel->is_long && kernel->names > 1) {
            const char *rest = label_words(names[k] + kernel->name_length, is_unusual, kernel, arena);
            apart[k] = arena_printf(arena, "%.*s%s%s", (int)kernel->name_length, names[k], *rest ? " " : "", rest);
        }
    }
    return apart;
}

const char *const *table_names_apart(const struct table *t, struct arena *arena)
{
    const size_t rows = rows_shown(t);
    const char **names = arena_array(arena, rows + 1, sizeof(*names));
    bool cases = t->columns[0].title && !strcmp(t->columns[0].title, "case");
    for (size_t row = 0; row < rows; row++) {
        const struct table_row *at = table_at(t, row);
        cases |= at->keys != NULL && !at->keys->page;
        names[row] = at->cells[0].text ? at->cells[0].text : "";
    }
    return cases ? names_apart(names, rows, arena) : NULL;
}
