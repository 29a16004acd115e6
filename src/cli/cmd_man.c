/* SPDX-License-Identifier: MIT */
#include "man.h"

int cmd_man(const struct cli_options *options, struct arena *arena)
{
    struct err err = {0};
    struct text text = {0};
    (void)arena;
    man_page(&text);
    const enum status status = cli_write(options->out, &text, &err);
    text_release(&text);
    return status ? cli_fail(&err) : 0;
}
