/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "json_internal.h"
#include "rooftile/file.h"

struct json_long {
    struct arena arena; /* the text and the root */
    struct json_scan scan;
    struct json_builder elements;
    const struct json *list; /* NULL: the document has none */
    uint32_t index;          /* of the next element */
};

/* The place of the root's member `key` when it is an array. */
static uint32_t find_list(const struct json_scan *scan, const struct json_file *file, const char *key)
{
    const size_t length = strlen(key);
    for (uint32_t k = 1; k < scan->count; k++) {
        const struct json_place *place = &scan->places[k];
        if (place->parent || place->key_offset == JSON_NOWHERE || place->packed != JSON_NOWHERE)
            continue;
        const char *name = file->text + place->key_offset + 1;
        if (file->text[place->offset] == '[' && strncmp(name, key, length) == 0 && name[length] == '"')
            return k;
    }
    return JSON_NOWHERE;
}

static const struct json *member_at(const struct json *root, const struct json_place *place)
{
    const struct json *member = root->first;
    while (member && member->offset != place->offset)
        member = member->next;
    return member;
}

/* Takes `text`, which lies in the document's arena. */
static enum status open_text(struct json_long *d, const struct json **root, const char *name, const char *text,
                             size_t length, const char *list, const char *const *packed, struct err *err)
{
    struct json *value = NULL;
    const struct json_file *file = json_file_new(&d->arena, name, text, length);
    d->scan.packed = packed;
    enum status status = json_scan_file(&d->scan, file, err);
    if (status)
        return status;
    const uint32_t at = find_list(&d->scan, file, list);
    struct json_builder builder = {file, d->scan.places, d->scan.count, 0, at, &d->arena, err};
    status = json_build(&value, &builder, NULL, 0);
    if (status)
        return status;
    if (at != JSON_NOWHERE)
        d->list = member_at(value, &d->scan.places[at]);
    d->elements = builder;
    d->elements.next = (size_t)at + 1;
    *root = value;
    return STATUS_OK;
}

static struct json_long *new_long(void)
{
    struct json_long *d = calloc(1, sizeof(*d));
    if (!d)
        arena_out_of_memory(sizeof(*d));
    return d;
}

enum status json_long_open(struct json_long **out, const struct json **root, const char *path, size_t limit_bytes,
                           const char *list, const char *const *packed, struct err *err)
{
    struct json_long *d = new_long();
    char *text;
    size_t length;
    enum status status = file_read(&text, &length, path, limit_bytes, &d->arena, err);
    if (!status)
        status = open_text(d, root, path, text, length, list, packed, err);
    if (status)
        json_long_free(d);
    else
        *out = d;
    return status;
}

enum status json_long_parse(struct json_long **out, const struct json **root, const char *name, const char *text,
                            size_t length, const char *list, const char *const *packed, struct err *err)
{
    struct json_long *d = new_long();
    char *copy = arena_alloc(&d->arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    const enum status status = open_text(d, root, name, copy, length, list, packed, err);
    if (status)
        json_long_free(d);
    else
        *out = d;
    return status;
}

void json_long_free(struct json_long *document)
{
    if (!document)
        return;
    json_scan_release(&document->scan);
    arena_release(&document->arena);
    free(document);
}

enum status json_long_next(const struct json **element, struct json_long *d, struct arena *arena, struct err *err)
{
    struct json *value = NULL;
    if (!d->list || d->index == d->list->count) {
        *element = NULL;
        return STATUS_OK;
    }
    d->elements.arena = arena;
    d->elements.err = err;
    d->elements.list = JSON_NOWHERE;
    const enum status status = json_build(&value, &d->elements, d->list, d->index);
    if (status)
        return status;
    d->index++;
    *element = value;
    return STATUS_OK;
}
