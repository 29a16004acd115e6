/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "manifest_internal.h"

enum status defines_parse(const struct define **out, size_t *count, const struct manifest_parser *parser,
                          const struct json *parent, struct err *err)
{
    const struct json *object = NULL;
    enum status status = json_get_object(&object, parent, "defines", JSON_OPTIONAL, err);
    if (status || !object)
        return status;
    status = check_entry_names(object, "define", err);
    struct define *defines = arena_array(parser->arena, entry_count(object), sizeof(*defines));
    size_t filled = 0;
    for (const struct json *member = entry_first(object); member && !status; member = entry_next(member)) {
        defines[filled] = (struct define){.name = member->key, .at = member};
        status = get_template_value(&defines[filled++].value, parser, member, err);
    }
    *out = defines;
    *count = filled;
    return status;
}

static struct define *find_define(struct define *defines, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(defines[k].name, name) == 0)
            return &defines[k];
    return NULL;
}

enum status launch_defines_parse(struct manifest_launch *launch, const struct manifest_parser *parser,
                                 const struct json *object, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    const struct json *member = json_member(object, "defines");
    const struct define *own = NULL;
    size_t own_count = 0;
    launch->defines = manifest->defines;
    launch->define_count = manifest->define_count;
    if (member && (manifest->image || manifest->library))
        return json_fail_key(member, err, "%s is not compiled: this has no effect",
                             manifest->image ? "an image" : "a library");
    enum status status = defines_parse(&own, &own_count, parser, object, err);
    if (status || !own_count)
        return status;
    struct define *all = arena_array(parser->arena, manifest->define_count + own_count, sizeof(*all));
    if (manifest->define_count)
        memcpy(all, manifest->defines, manifest->define_count * sizeof(*all));
    size_t count = manifest->define_count;
    for (size_t k = 0; k < own_count; k++) {
        struct define *overridden = find_define(all, manifest->define_count, own[k].name);
        *(overridden ? overridden : &all[count++]) = own[k];
    }
    launch->defines = all;
    launch->define_count = count;
    return STATUS_OK;
}
