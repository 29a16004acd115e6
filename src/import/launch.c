/* SPDX-License-Identifier: MIT
 *
 * Launches of kernels that Triton compiled: PyTorch's compiler gives its own operators the arguments, the number of
 * warps, and the name of the source, which a trace then has.
 */

#include "aggregate.h"
#include "operators.h"

/* Elements from the first to the last that the sizes and strides reach; 0: no tensor. */
static double reach(const struct operator_input *input)
{
    double last = 0, dense = 1;
    bool strides = false;
    for (size_t k = 0; k < input->rank; k++) {
        if (!(input->dims[k] > 0))
            return 0;
        strides = strides || input->strides[k] > 0;
        last += (input->dims[k] - 1) * input->strides[k];
        dense *= input->dims[k];
    }
    return !input->rank ? 0 : strides ? last + 1 : dense;
}

struct import_launch *launch_read(const char *signature, struct arena *arena)
{
    struct operator_inputs in = {0};
    const char *line = signature;
    for (size_t k = 0; k < SIGNATURE_TRITON && line; k++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line || !text_starts(line, "triton "))
        return NULL;
    operator_inputs_read(&in, signature, arena);
    struct import_launch *launch = arena_alloc(arena, sizeof(*launch));
    struct import_argument *args = arena_array(arena, in.count + 1, sizeof(*args));
    char *end = NULL;
    *launch = (struct import_launch){.kernel = in.name, .args = args, .arg_count = in.count};
    launch->warps = strtod(line + strlen("triton "), &end);
    launch->stages = strtod(end, &end);
    end += *end == ' ';
    launch->hash = arena_strndup(arena, end, strcspn(end, "\n"));
    for (size_t k = 0; k < in.count; k++)
        args[k] =
            (struct import_argument){in.items[k].rank ? in.items[k].dtype : "", reach(&in.items[k]), in.items[k].value};
    return launch;
}

void launch_set_grid(struct import_launch *launch, const char *named)
{
    const size_t length = strcspn(named, "\n");
    const char *at = named + length;
    if (!*at || strlen(launch->kernel) != length || memcmp(launch->kernel, named, length) != 0 || launch->grid[0] > 0)
        return;
    at++;
    launch_numbers(launch->grid, &at);
    launch_numbers(launch->block, &at);
}

void launch_numbers(double out[3], const char **at)
{
    for (size_t k = 0; k < 3; k++) {
        char *end = NULL;
        out[k] = strtod(*at, &end);
        *at = end + (*end == ',' || *end == ' ');
    }
}
