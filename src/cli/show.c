/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <string.h>
#include <unistd.h>

#include "rooftile/render.h"

struct report_options show_options(const struct cli_options *options)
{
    return (struct report_options){
        .color = log_use_color(STDOUT_FILENO), .columns = cli_columns(STDOUT_FILENO), .verbose = options->verbose > 0};
}

enum status show_document(const struct document *document, const struct cli_options *options, bool both,
                          struct err *err)
{
    const struct report_options look = show_options(options);
    const bool text_too = !options->json || (both && strcmp(options->json, "-") != 0);
    enum status status = STATUS_OK;
    struct text text = {0};
    if (options->json) {
        render_json(&text, document, &look);
        status = cli_write(options->json, &text, err);
        text_clear(&text);
    }
    if (text_too && !status) {
        render_text(&text, document, &look);
        status = cli_write(NULL, &text, err);
    }
    text_release(&text);
    return status;
}
