/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "inspect.h"
#include "rooftile/file.h"

/* What looks like a path, or is a file and no suite, is a file of somebody's; everything else is a name of the catalog.
 */
static bool is_path(const char *argument)
{
    if (text_ends(argument, ".json"))
        return false;
    return strchr(argument, '/') || strchr(argument, '.') || (file_exists(argument) && !file_is_dir(argument));
}

static enum status inspect_argument(struct inspection **list, size_t *count, const char *argument,
                                    const struct cli_options *options, struct arena *arena, struct err *err)
{
    const struct inspect_choice choice = {.options = options};
    if (!is_path(argument))
        return inspect_catalog(list, count, argument, options, arena, err);
    if (options->ir)
        return err_set(err, ERR_USAGE, "--ir needs the source: %s is compiled; give a kernel of 'rooftile list'",
                       argument);
    struct inspection *grown = arena_array(arena, *count + 1, sizeof(*grown));
    if (*count)
        memcpy(grown, *list, *count * sizeof(*grown));
    *list = grown;
    return inspect_file(&grown[(*count)++], argument, &choice, arena, err);
}

int cmd_inspect(const struct cli_options *options, struct arena *arena)
{
    struct inspection *list = NULL;
    size_t count = 0;
    struct text text = {0};
    struct err err = {0};
    enum status status = STATUS_OK;
    for (size_t k = 0; k < options->arg_count && !status; k++)
        status = inspect_argument(&list, &count, options->args[k], options, arena, &err);
    if (!status && options->json)
        inspect_json(&text, list, count);
    else if (!status)
        inspect_text(&text, list, count, options, arena);
    if (!status)
        status = cli_write(options->json, &text, &err);
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
