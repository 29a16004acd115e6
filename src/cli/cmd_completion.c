/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "completion.h"
#include "options.h"

static enum status find_shell(const struct completion_shell **shell, const char *name, struct err *err)
{
    const char *names[8];
    size_t count = 0;
    for (*shell = completion_shells; (*shell)->name && count < sizeof(names) / sizeof(names[0]); (*shell)++) {
        if (!strcmp((*shell)->name, name))
            return STATUS_OK;
        names[count++] = (*shell)->name;
    }
    const char *near = suggest(name, names, count);
    if (near)
        return err_set(err, ERR_USAGE, "unknown shell '%s'; did you mean '%s'?", name, near);
    return err_set(err, ERR_USAGE, "unknown shell '%s'; there are bash, zsh and fish", name);
}

int cmd_completion(const struct cli_options *options, struct arena *arena)
{
    const struct completion_shell *shell = NULL;
    struct err err = {0};
    struct text text = {0};
    (void)arena;
    enum status status = find_shell(&shell, options->args[0], &err);
    if (!status) {
        shell->write(&text);
        status = cli_write(options->out, &text, &err);
    }
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
