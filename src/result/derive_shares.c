/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "derive_internal.h"
#include "rooftile/text.h"

/* The layer that a shape's name says: what stands before ".part". NULL: it names no part. */
static const char *layer_of(const char *shape, const struct suite_derive *spec, struct arena *arena)
{
    const char *dot = strrchr(shape, '.');
    for (size_t k = 0; dot && k < spec->part_count; k++)
        if (!strcmp(dot + 1, spec->parts[k].name)) {
            const char *layer = arena_printf(arena, "%.*s", (int)(dot - shape), shape);
            return text_matches(layer, spec->layers) ? layer : NULL;
        }
    return NULL;
}

void derive_layers(struct members *members, const struct result *result, const struct suite_derive *spec, size_t most,
                   struct arena *arena)
{
    *members = (struct members){.names = arena_array(arena, most, sizeof(char *))};
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        for (size_t t = 0; c->status != CASE_SKIPPED && t < c->tag_count; t++) {
            const char *layer = layer_of(c->tags[t], spec, arena);
            size_t at = 0;
            while (layer && at < members->group_count && strcmp(members->names[at], layer) != 0)
                at++;
            if (layer && at == members->group_count && at < most)
                members->names[members->group_count++] = layer;
        }
    }
}

static bool has_tag(const struct result_case *c, const char *tag)
{
    for (size_t k = 0; k < c->tag_count; k++)
        if (!strcmp(c->tags[k], tag))
            return true;
    return false;
}

/* The one measured case of a shape; NULL with the reason. */
static const struct result_case *find_part(const char **problem, const struct result *result, const char *shape,
                                           struct arena *arena)
{
    const struct result_case *found = NULL;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        if (!has_tag(c, shape))
            continue;
        if (found) {
            *problem = arena_printf(arena, "%s is both %s and %s", shape, found->id, c->id);
            return NULL;
        }
        found = c;
    }
    if (!found) {
        *problem = arena_printf(arena, "no case is %s", shape);
    } else if (!result_case_counts(found)) {
        *problem = arena_printf(arena, "%s (%s) %s: %s", shape, found->kernel, case_status_name(found->status),
                                found->reason ? found->reason : "");
        return NULL;
    }
    return found;
}

void derive_shares(struct json_out *out, const struct result *result, const struct suite_derive *spec,
                   const char *layer, struct arena *arena)
{
    const struct result_case **found = arena_array(arena, spec->part_count, sizeof(*found));
    const char *problem = NULL;
    double sum_ns = 0;
    for (size_t k = 0; k < spec->part_count && !problem; k++) {
        found[k] = find_part(&problem, result, arena_printf(arena, "%s.%s", layer, spec->parts[k].name), arena);
        if (found[k])
            sum_ns += (double)spec->parts[k].times * found[k]->stats.median;
    }
    if (problem) { /* a sum without one of its parts is no sum */
        json_out_string(out, "error", problem);
        return;
    }
    json_out_number(out, "sum_ns", sum_ns);
    json_out_array(out, "parts");
    for (size_t k = 0; k < spec->part_count; k++) {
        const double time_ns = found[k]->stats.median;
        json_out_object(out, NULL);
        json_out_string(out, "part", spec->parts[k].name);
        json_out_string(out, "kernel", found[k]->kernel);
        json_out_u64(out, "times", spec->parts[k].times);
        json_out_number(out, "time_ns", time_ns);
        json_out_number(out, "share", (double)spec->parts[k].times * time_ns / sum_ns);
        json_out_end(out);
    }
    json_out_end(out);
}
