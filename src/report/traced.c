/* SPDX-License-Identifier: MIT
 *
 * Cases that represent operators of a trace (`rooftile import`): the time of each operator in the trace beside that of
 * its replacement here, summed over all its calls, so that the rows add up to the gain for the traced program.
 */

#include "report_internal.h"
#include "rooftile/cpu_target.h"

/* Cases of one operator have its number among their tags, and "library" if they are a library's. */
struct traced {
    size_t number;
    const struct result_case *ours, *library;
};

static struct traced *traced_operators(size_t *count, const struct result *result, struct arena *arena)
{
    struct traced *all = arena_array(arena, result->case_count + 1, sizeof(*all));
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const bool library = text_among("library", c->tags, c->tag_count);
        size_t number = 0, at = 0; /* of the first operator that the case represents; 0: none */
        for (size_t k = 0; k < c->tag_count && !number; k++)
            number = sscanf(c->tags[k], "row%zu", &number) == 1 ? number : 0;
        if (!number || !(c->weight > 0) || !(c->traced_ns > 0) || !result_case_counts(c) || result_case_is_twin(c))
            continue;
        while (at < *count && all[at].number != number)
            at++;
        *count += at == *count;
        all[at].number = number;
        *(library ? &all[at].library : &all[at].ours) = c;
    }
    return all;
}

/* Time of all its calls; NaN: not measured. */
static double calls_ns(const struct result_case *c)
{
    return c ? c->weight * result_case_time(c) : NAN;
}

void traced_section(struct document *document, const struct result *result)
{
    static const struct table_column columns[] = {
        {.title = "operator of the trace", .flags = COLUMN_CUT},
        {.title = "calls", .unit = UNIT_COUNT, .drop = 1},
        {.title = "traced", .unit = UNIT_TIME},
        {.title = "ours", .unit = UNIT_TIME},
        {.title = "library", .unit = UNIT_TIME},
        {.title = "lower bound", .unit = UNIT_TIME, .drop = 2},
        {.title = "worth", .unit = UNIT_CHANGE},
    };
    size_t count = 0;
    const struct traced *all = traced_operators(&count, result, document->arena);
    struct table *table = TABLE(document->arena, columns);
    double sums[5] = {0}; /* of our kernels and of the library's; each falls back to the other if it has no case */
    bool libraries = false;
    for (size_t k = 0; k < count; k++) {
        const struct result_case *c = all[k].ours ? all[k].ours : all[k].library;
        sums[0] += c->weight * c->traced_ns;
    }
    for (size_t k = 0; k < count; k++) {
        const struct result_case *c = all[k].ours ? all[k].ours : all[k].library;
        const double ours = calls_ns(all[k].ours), library = calls_ns(all[k].library), best = fmin(ours, library);
        const double values[] = {c->weight * c->traced_ns, ours, library, c->weight * c->lower_bound.time_ns};
        const double worth = (best - values[0]) / sums[0];
        table_add(table, (struct cell[]){cell_text(case_name(c)), cell_number(c->weight), cell_number(values[0]),
                                         cell_number(ours), cell_number(library), cell_positive(values[3]),
                                         cell_number(worth)});
        sums[1] += isnan(ours) ? library : ours;
        sums[2] += isnan(library) ? ours : library;
        libraries = libraries || !isnan(library);
        sums[3] += values[3] > 0 ? values[3] : NAN;
        sums[4] += worth;
    }
    if (count < 2)
        return;
    table_add(table,
              (struct cell[]){cell_text("all of these"), cell_absent(), cell_number(sums[0]), cell_number(sums[1]),
                              cell_number(libraries ? sums[2] : NAN), cell_positive(sums[3]), cell_number(sums[4])});
    document_table(
        document, NULL,
        arena_printf(document->arena,
                     "against the trace, all calls together%s; worth: how the faster of ours and the "
                     "library's changes the whole%s",
                     result->predicted ? " (predicted)" : "",
                     backend_is_cpu(result->device.backend) ? "; measured on a processor, not on a GPU" : ""),
        table);
}
