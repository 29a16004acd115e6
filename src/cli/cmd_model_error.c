/* SPDX-License-Identifier: MIT
 *
 * Compares predictions with measured times.
 */

#include "cli.h"

enum status cmd_model_error(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct document document = {.arena = call->arena};
    struct judged_case *cases = NULL;
    size_t count = 0;
    session_catch_signals(1);
    for (size_t arg = 0; arg < options->arg_count; arg++) {
        const struct result *result = NULL;
        if (argument_result(&result, options->args[arg], true, call->arena, err))
            return err->status;
        if (result->predicted)
            return err_set(err, ERR_CONFIG, "%s is a prediction itself: nothing in it was measured",
                           options->args[arg]);
        const char *machine = result->machine.name[0] ? result->machine.name : result->device.name;
        FOR_EACH(const struct result_case, c, result->cases, result->case_count)
            if (result_case_counts(c) && !result_case_is_twin(c))
                ARENA_PUSH(call->arena, cases, count, (struct judged_case){c, machine, c->label ? c->label : c->id});
    }
    if (!count)
        return err_set(err, ERR_CONFIG, "%s has no case that was measured", options->args[0]);
    model_error_document(&document, cases, count);
    return cli_show_document(options, &document, false, err);
}
