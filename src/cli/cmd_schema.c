/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "options.h"
#include "rooftile/catalog.h"
#include "rooftile/file.h"

#define SUFFIX ".schema.json"

struct schema {
    const char *name, *path;
};

static enum status find_schemas(struct schema **schemas, size_t *count, struct arena *arena, struct err *err)
{
    char **paths = NULL;
    char *config = catalog_config_dir(arena);
    if (!config)
        return err_set(err, ERR_IO, "no configs folder found beside the program; set ROOFTILE_CONFIGS");
    enum status status = file_list(&paths, count, path_join(arena, config, "schema"), SUFFIX, arena, err);
    if (status)
        return status;
    const size_t files = *count;
    *schemas = arena_array(arena, files + 1, sizeof(**schemas));
    *count = 0;
    for (size_t k = 0; k < files; k++) {
        const char *base = path_base(paths[k]);
        const char *name = arena_strndup(arena, base, strlen(base) - strlen(SUFFIX));
        (*schemas)[(*count)++] = (struct schema){name, paths[k]};
    }
    return STATUS_OK;
}

static enum status add_schema(struct text *out, const struct schema *schemas, size_t count, const char *name,
                              struct arena *arena, struct err *err)
{
    const char **names = arena_array(arena, count + 1, sizeof(*names));
    for (size_t k = 0; k < count; k++) {
        char *data = NULL;
        size_t length = 0;
        names[k] = schemas[k].name;
        if (strcmp(schemas[k].name, name) != 0)
            continue;
        enum status status = file_read(&data, &length, schemas[k].path, FILE_LIMIT_BYTES, arena, err);
        if (!status)
            text_addn(out, data, length);
        return status;
    }
    err_set(err, ERR_USAGE, "unknown schema '%s'", name);
    return err_nearest(err, name, names, count, "'rooftile schema' lists them");
}

int cmd_schema(const struct cli_options *options, struct arena *arena)
{
    struct schema *schemas = NULL;
    size_t count = 0;
    struct err err = {0};
    struct text text = {0};
    enum status status = find_schemas(&schemas, &count, arena, &err);
    if (!status && options->arg_count)
        status = add_schema(&text, schemas, count, options->args[0], arena, &err);
    for (size_t k = 0; k < count && !status && !options->arg_count; k++)
        text_addf(&text, "%-10s %s\n", schemas[k].name, schemas[k].path);
    if (!status)
        status = cli_write(options->out, &text, &err);
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
