/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "manifest_internal.h"

static const char *const role_names[] = {
    [ROLE_IN] = "in",
    [ROLE_OUT] = "out",
    [ROLE_INOUT] = "inout",
    [ROLE_TEMP] = "temp",
};
static const char *const reset_names[] = {
    [RESET_NONE] = "none",
    [RESET_ZERO] = "zero",
    [RESET_FILL] = "fill",
};
const char *const buffer_space_names[BUFFER_SPACES] = {
    [BUFFER_DEVICE] = "device",   [BUFFER_PINNED] = "pinned", [BUFFER_PAGEABLE] = "pageable",
    [BUFFER_MANAGED] = "managed", [BUFFER_FINE] = "fine",     [BUFFER_PEER] = "peer",
    [BUFFER_PINNED_COARSE] = "pinned_coarse",
};

static enum status choices_parse(struct manifest_buffer *buffer, const struct json *object, struct err *err)
{
    int role = 0;
    int reset = RESET_NONE;
    enum status status = get_choice(&role, object, "role", JSON_REQUIRED, role_names, COUNT_OF(role_names), err);
    if (!status)
        status = get_choice(&reset, object, "reset", JSON_OPTIONAL, reset_names, COUNT_OF(reset_names), err);
    buffer->role = (enum buffer_role)role;
    buffer->reset = (enum buffer_reset)reset;
    return status;
}

/* A word is checked here; what has placeholders, when its case is bound. */
static enum status space_parse(struct manifest_buffer *buffer, const struct manifest_parser *parser,
                               const struct json *object, struct err *err)
{
    int space = BUFFER_DEVICE;
    const struct json *at = json_member(object, "space");
    enum status status = get_template(&buffer->space, parser, object, "space", JSON_OPTIONAL, err);
    const bool varies = !status && at && strchr(at->string, '{');
    if (!status && at && !varies)
        status = get_choice(&space, object, "space", JSON_OPTIONAL, buffer_space_names, BUFFER_SPACES, err);
    if (!status)
        status = get_expr(&buffer->device, parser, object, "device", JSON_OPTIONAL, SCOPE_PLAIN, err);
    if (!status && buffer->device && !varies && space != BUFFER_PEER)
        status = json_fail_key(json_member(object, "device"), err, "only memory of the space 'peer' names its device");
    return status;
}

static enum status buffer_parse(struct manifest_buffer *buffer, const struct manifest_parser *parser,
                                const struct json *object, struct err *err)
{
    static const char *const keys[] = {"type", "count", "role", "reset", "space", "device", "fill", "align_offset"};
    *buffer = (struct manifest_buffer){.name = object->key, .at = object};
    enum status status = json_check_keys(object, keys, COUNT_OF(keys), err);
    if (!status)
        status = get_type(&buffer->type, parser, object, "type", err);
    if (!status)
        status = get_expr(&buffer->count, parser, object, "count", JSON_REQUIRED, SCOPE_PLAIN, err);
    if (!status)
        status = choices_parse(buffer, object, err);
    if (!status)
        status = space_parse(buffer, parser, object, err);
    if (!status)
        status = get_expr(&buffer->align_offset, parser, object, "align_offset", JSON_OPTIONAL, SCOPE_PLAIN, err);
    const struct json *fill = json_member(object, "fill");
    if (!status && fill)
        status = fill_parse(&buffer->fill, parser, fill, err);
    if (!status && buffer->reset == RESET_FILL && !fill)
        status = json_fail(json_member(object, "reset"), err, "there is no fill to reset to");
    return status;
}

enum status buffers_parse(struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct json *object = NULL;
    enum status status = json_get_object(&object, root, "buffers", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = check_entry_names(object, "buffer", err);
    if (status)
        return status;
    struct manifest_buffer *buffers = arena_array(parser->arena, entry_count(object), sizeof(*buffers));
    size_t count = 0;
    for (const struct json *member = entry_first(object); member; member = entry_next(member)) {
        status = buffer_parse(&buffers[count++], parser, member, err);
        if (status)
            return status;
    }
    parser->buffer_names = entry_names(object, parser->arena);
    parser->manifest->buffers = buffers;
    parser->manifest->buffer_count = count;
    return STATUS_OK;
}

int find_buffer(const struct manifest *manifest, const char *name)
{
    for (size_t i = 0; i < manifest->buffer_count; i++)
        if (strcmp(name, manifest->buffers[i].name) == 0)
            return (int)i;
    return -1;
}

enum status get_buffer_value(int *out, const struct manifest_parser *parser, const struct json *at, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    if (at->type != JSON_STRING)
        return json_fail(at, err, "must be the name of a buffer, not %s", json_type_name(at->type));
    const int found = find_buffer(manifest, at->string);
    if (found >= 0) {
        *out = found;
        return STATUS_OK;
    }
    return fail_unknown(at, err, "unknown buffer", at->string, parser->buffer_names, manifest->buffer_count);
}

enum status get_buffer(int *out, const struct manifest_parser *parser, const struct json *object, const char *key,
                       struct err *err)
{
    const struct json *member = json_member(object, key);
    if (!member)
        return json_fail(object, err, "the key '%s' is missing", key);
    return get_buffer_value(out, parser, member, err);
}
