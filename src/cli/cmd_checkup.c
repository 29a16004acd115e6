/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli.h"
#include "rooftile/checkup.h"

int cmd_checkup(const struct cli_options *options, struct arena *arena)
{
    struct checkup checkup;
    struct err err = {0};
    struct text text = {0};
    enum status status = checkup_read(&checkup, options->args[0], arena, &err);
    if (!status && options->html) {
        checkup_html(&text, &checkup, arena);
        status = cli_write(options->html, &text, &err);
        text_clear(&text);
    }
    if (!status && options->out) {
        status = checkup_json(&text, &checkup, arena, &err);
        if (!status)
            status = cli_write(options->out, &text, &err);
        text_clear(&text);
    }
    if (!status) {
        checkup_text(&text, &checkup);
        fputs(text.data, stdout);
    }
    text_release(&text);
    return status ? cli_fail(&err) : checkup_exit_code(checkup.word);
}
