/* SPDX-License-Identifier: MIT */
#include "cli.h"
#include "rooftile/result.h"

int cmd_merge(const struct cli_options *options, struct arena *arena)
{
    struct err err = {0};
    struct result merged;
    const struct result **parts = arena_array(arena, options->arg_count, sizeof(const struct result *));
    enum status status = options->out ? STATUS_OK : err_set(&err, ERR_USAGE, "say with -o where to write the run");
    for (size_t k = 0; k < options->arg_count && !status; k++)
        status = result_read(&parts[k], options->args[k], arena, &err);
    if (!status)
        status = result_merge(&merged, parts, (const char *const *)options->args, options->arg_count, arena, &err);
    if (!status)
        status = result_write(&merged, options->out, &err);
    if (!status)
        log_info("%u trials of %zu cases in %s", merged.trials, merged.case_count, options->out);
    return status ? cli_fail(&err) : 0;
}
