/* SPDX-License-Identifier: MIT
 *
 * "extends": a manifest over another one of its folder. The trees are merged before anything is parsed; every value
 * keeps its place in its own file, so messages point there.
 */
#include <string.h>

#include "manifest_internal.h"
#include "rooftile/file.h"

#define MAX_CHAIN 8

/* Of a manifest that extends itself, by way of others too. */
struct chain {
    const char *path;
    const struct chain *below;
    size_t length;
};

static void append(struct json *object, const struct json *member, struct json **last, struct arena *arena)
{
    struct json *copy = arena_copy(arena, member, sizeof(*member));
    copy->next = NULL;
    copy->index = (uint32_t)object->count++;
    if (*last)
        (*last)->next = copy;
    else
        object->first = copy;
    *last = copy;
}

/* The members of `base` in their order, changed by those of the same key in `over`, then what only `over` has. */
static enum status merge(const struct json **merged, const struct json *base, const struct json *over,
                         struct arena *arena, struct err *err)
{
    struct json *made = arena_copy(arena, over, sizeof(*over));
    struct json *last = NULL;
    made->first = NULL;
    made->count = 0;
    for (const struct json *member = base->first; member; member = member->next) {
        const struct json *own = json_member(over, member->key);
        const bool both = own && own->type == JSON_OBJECT && member->type == JSON_OBJECT;
        const enum status status = both ? merge(&own, member, own, arena, err) : STATUS_OK;
        if (status)
            return status;
        if (!own || own->type != JSON_NULL)
            append(made, own ? own : member, &last, arena);
    }
    for (const struct json *own = over->first; own; own = own->next) {
        if (json_member(base, own->key))
            continue;
        if (own->type == JSON_NULL)
            return json_fail(own, err, "null takes a key away, but the manifest that is extended has no '%s' here",
                             own->key);
        append(made, own, &last, arena);
    }
    *merged = made;
    return STATUS_OK;
}

/* What is taken over from a manifest: all but its name and summary, and "extends", which is done with. */
static const struct json *without(const struct json *root, const char *const *keys, size_t count, struct arena *arena)
{
    struct json *made = arena_copy(arena, root, sizeof(*root));
    struct json *last = NULL;
    made->first = NULL;
    made->count = 0;
    for (const struct json *member = root->first; member; member = member->next) {
        bool skipped = false;
        for (size_t k = 0; k < count; k++)
            skipped = skipped || strcmp(member->key, keys[k]) == 0;
        if (!skipped)
            append(made, member, &last, arena);
    }
    return made;
}

static enum status check_chain(const struct json *at, const char *path, const struct chain *chain, struct err *err)
{
    for (const struct chain *below = chain; below; below = below->below)
        if (strcmp(below->path, path) == 0)
            return json_fail(at, err, "extends itself: %s", path);
    return chain && chain->length >= MAX_CHAIN
               ? json_fail(at, err, "more than %d manifests extend each other", MAX_CHAIN)
               : STATUS_OK;
}

static enum status extend(const struct json **merged, const struct json *root, const char *dir,
                          const struct chain *chain, struct arena *arena, struct err *err)
{
    const char *name = NULL;
    enum status status = json_get_string(&name, root, "extends", JSON_OPTIONAL, err);
    if (status || !name) {
        *merged = root;
        return status;
    }
    const struct json *at = json_member(root, "extends");
    const char *path = path_join(arena, dir, arena_printf(arena, "%s.json", name));
    const struct chain here = {path, chain, chain ? chain->length + 1 : 1};
    const struct json *base = NULL;
    if (!json_is_identifier(name))
        return json_fail(at, err, "must be the name of a manifest in the same folder");
    if (!file_exists(path))
        return json_fail(at, err, "there is no file %s", path);
    status = check_chain(at, path, chain, err);
    if (!status)
        status = json_read(&base, path, arena, err);
    if (!status && base->type != JSON_OBJECT)
        status = json_fail(base, err, "must be an object, not %s", json_type_name(base->type));
    if (!status)
        status = extend(&base, base, dir, &here, arena, err);
    if (status)
        return status;
    static const char *const own_keys[] = {"extends", "name", "summary"};
    return merge(merged, without(base, own_keys, COUNT_OF(own_keys), arena), without(root, own_keys, 1, arena), arena,
                 err);
}

enum status manifest_extend(const struct json **merged, const struct json *root, const char *dir, struct arena *arena,
                            struct err *err)
{
    return root->type == JSON_OBJECT ? extend(merged, root, dir, NULL, arena, err) : STATUS_OK;
}
