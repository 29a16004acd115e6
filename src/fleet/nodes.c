/* SPDX-License-Identifier: MIT
 *
 * Parses node lists in the notation of Slurm and similar systems.
 */

#include "rooftile/fleet.h"

struct list {
    const char **names;
    size_t count;
    struct arena *arena;
};

static enum status expand(struct list *list, const char *before, const char *rest, struct err *err);

/* Expands "003-007" or "12" of `length` characters, each between `before` and `rest`. */
static enum status expand_range(struct list *list, const char *before, const char *range, size_t length,
                                const char *rest, struct err *err)
{
    const char *dash = memchr(range, '-', length), *to = dash ? dash + 1 : range;
    const size_t width = dash ? (size_t)(dash - range) : length, second = dash ? length - width - 1 : length;
    if (!width || !second || width > 9 || second > 9 || strspn(range, "0123456789") < width ||
        strspn(to, "0123456789") < second)
        return err_set(err, ERR_USAGE, "'%.*s' is no range of nodes, such as 001-064", (int)(length < 40 ? length : 40),
                       range);
    const unsigned long low = strtoul(range, NULL, 10), high = strtoul(to, NULL, 10);
    if (low > high)
        return err_set(err, ERR_USAGE, "the range of nodes %.*s ends before it begins", (int)length, range);
    enum status status = STATUS_OK;
    for (unsigned long k = low; k <= high && !status; k++) /* limited by FLEET_MAX_NODES, where expand fails */
        status = expand(list, arena_printf(list->arena, "%s%0*lu", before, (int)width, k), rest, err);
    return status;
}

/* `before` is final; `rest` may have brackets. */
static enum status expand(struct list *list, const char *before, const char *rest, struct err *err)
{
    const char *open = rest + strcspn(rest, "[]"), *close = *open ? strchr(open, ']') : NULL;
    if (*open == ']')
        return err_set(err, ERR_USAGE, "'%.60s' has a ] without its [", rest);
    if (!*open) {
        if (list->count == FLEET_MAX_NODES)
            return err_set(err, ERR_USAGE, "a list of nodes names more than %d of them", FLEET_MAX_NODES);
        ARENA_PUSH(list->arena, list->names, list->count, arena_printf(list->arena, "%s%s", before, rest));
        return STATUS_OK;
    }
    if (!close)
        return err_set(err, ERR_USAGE, "'%.60s' has a [ without its ]", rest);
    const char *settled = arena_printf(list->arena, "%s%.*s", before, (int)(open - rest), rest);
    enum status status = STATUS_OK;
    for (const char *at = open + 1; !status; at += strcspn(at, ",]") + 1) {
        const size_t length = strcspn(at, ",]");
        status = expand_range(list, settled, at, length, close + 1, err);
        if (at + length == close)
            break;
    }
    return status;
}

enum status fleet_node_list(const char ***names, size_t *count, const char *text, struct arena *arena, struct err *err)
{
    struct list list = {.arena = arena};
    enum status status = STATUS_OK;
    for (const char *at = text; *at && !status;) {
        size_t length = 0;
        bool inside = false;
        for (; at[length] && (inside || !strchr(", \t\r\n", at[length])); length++)
            inside = at[length] == '[' || (inside && at[length] != ']');
        if (length)
            status = expand(&list, "", arena_strndup(arena, at, length), err);
        at += length + (at[length] != 0);
    }
    if (status)
        return status;
    *names = list.names;
    *count = list.count;
    return STATUS_OK;
}
