/* SPDX-License-Identifier: MIT */
#include "manifest_internal.h"

static void note_steps(bool *seen, const struct manifest_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct manifest_step *step = &steps[i];
        if (step->to >= 0)
            seen[step->to] = true;
        if (step->from >= 0)
            seen[step->from] = true;
        for (size_t k = 0; k < step->launch.arg_count; k++)
            if (step->launch.args[k].buffer >= 0)
                seen[step->launch.args[k].buffer] = true;
        note_steps(seen, step->steps, step->step_count);
    }
}

static bool is_verified(const struct manifest *manifest, int buffer)
{
    for (size_t i = 0; i < manifest->check.expect_count; i++)
        if (manifest->check.expect[i].buffer == buffer)
            return true;
    for (size_t i = 0; i < manifest->metric_count; i++)
        if (manifest->metrics[i].buffer == buffer)
            return true;
    return manifest->check.oracle.kernel && manifest->check.oracle.output == buffer;
}

static bool needs_code(const struct manifest_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (steps[i].kind == STEP_LAUNCH || steps[i].kind == STEP_LOAD ||
            needs_code(steps[i].steps, steps[i].step_count))
            return true;
    return false;
}

/* A clock that a metric reads cannot be known beforehand, but some output must be. */
static enum status check_outputs(const struct manifest *manifest, const struct json *root, struct err *err)
{
    const bool none = !manifest->check.expect_count && !manifest->check.oracle.kernel;
    const struct json *check = json_member(root, "check");
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        const struct manifest_buffer *buffer = &manifest->buffers[i];
        if (buffer->role != ROLE_OUT && buffer->role != ROLE_INOUT)
            continue;
        if (none)
            return json_fail(check ? check : root, err,
                             "nothing verifies this kernel: output '%s' needs an expect or an oracle in /check",
                             buffer->name);
        if (!is_verified(manifest, (int)i))
            return json_fail_key(
                buffer->at, err,
                "nothing verifies this output: give it an expect, make it the oracle's output or a metric's "
                "buffer, or call it temp");
    }
    return STATUS_OK;
}

enum status manifest_check_whole(const struct manifest_parser *parser, const struct json *root, struct err *err)
{
    const struct manifest *manifest = parser->manifest;
    if (!manifest->source && !manifest->image && !manifest->library &&
        (needs_code(manifest->steps, manifest->step_count) || needs_code(manifest->setup, manifest->setup_count)))
        return json_fail(root, err, "the key 'code' is missing");
    bool *set_up = arena_array(parser->arena, manifest->buffer_count, sizeof(*set_up));
    bool *used = arena_array(parser->arena, manifest->buffer_count, sizeof(*used));
    note_steps(set_up, manifest->setup, manifest->setup_count);
    note_steps(used, manifest->setup, manifest->setup_count);
    note_steps(used, manifest->steps, manifest->step_count);
    for (size_t i = 0; i < manifest->buffer_count; i++) {
        const struct manifest_buffer *buffer = &manifest->buffers[i];
        const bool is_read = buffer->role == ROLE_IN || buffer->role == ROLE_INOUT;
        if (is_read && buffer->fill.kind == FILL_NONE && !set_up[i])
            return json_fail_key(buffer->at, err, "nothing fills this input: the key 'fill' is missing");
        /* An oracle may read buffers that the kernel itself does not. */
        if (!used[i] && !manifest->check.oracle.kernel)
            return json_fail_key(buffer->at, err, "no step uses this buffer");
    }
    return check_outputs(manifest, root, err);
}
