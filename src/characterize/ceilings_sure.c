/* SPDX-License-Identifier: MIT
 *
 * Finds ceilings on which two passes agree, and collects doubts about them.
 */

#include "ceilings_internal.h"

/* Two passes agree on a ceiling up to this relative difference. */
static const double moved_above = 0.1;
/* If interference affected a larger share of the cases, all ceilings are doubtful. */
static const double disturbed_above = 0.1;

enum { OF_LEVEL = 1 + TRAFFIC_COUNT };

/* Enumerates the ceilings of a machine; NULL after the last. */
static const struct ceiling *ceiling_at(const struct machine *machine, size_t k, const char **name)
{
    const size_t levels = machine->level_count * OF_LEVEL;
    if (k >= levels + machine->unit_count)
        return NULL;
    *name = k < levels ? machine->levels[k / OF_LEVEL].name : machine->units[k - levels].name;
    if (k >= levels)
        return &machine->units[k - levels].peak;
    const struct machine_level *level = &machine->levels[k / OF_LEVEL];
    return k % OF_LEVEL ? &level->traffic[k % OF_LEVEL - 1] : &level->bandwidth;
}

/* Returns the relative difference of the two passes over the case that set a ceiling; 1 if there was only one pass, 0
 * if no case set it. */
static double moved(size_t *which, const struct ceiling *ceiling, const struct result *result, const double *other_ns)
{
    for (*which = 0; *which < result->case_count; ++*which)
        if (ceiling->measured > 0 && text_starts(result->cases[*which].id, ceiling->measured_by))
            return 1 - result->cases[*which].stats.median / other_ns[*which];
    return 0;
}

/* Whether the level has a higher bandwidth than the previous level, which is nearer. */
static bool is_upside_down(const struct machine *machine, uint32_t level)
{
    return level && machine->levels[level].bandwidth.measured > machine->levels[level - 1].bandwidth.measured;
}

size_t ceilings_unsure(bool *again, const struct machine *machine, const struct result *result, const double *other_ns)
{
    const struct ceiling *ceiling;
    const char *name;
    size_t which;
    for (size_t k = 0; k < result->case_count; k++) {
        const struct result_case *c = &result->cases[k];
        const double footprint = c->work.footprint_bytes;
        again[k] = false;
        for (uint32_t n = 1; n < machine->level_count && ceilings_usable(c) && !strcmp(c->class, "memory"); n++) {
            const double low = n > 1 ? machine->levels[n - 2].capacity_bytes : 0;
            const double high = n + 1 < machine->level_count ? machine->levels[n].capacity_bytes : INFINITY;
            again[k] = again[k] || (is_upside_down(machine, n) && footprint >= low && footprint < high);
        }
    }
    for (size_t k = 0; (ceiling = ceiling_at(machine, k, &name)); k++)
        if (moved(&which, ceiling, result, other_ns) > moved_above)
            again[which] = true;
    size_t count = 0;
    for (size_t k = 0; k < result->case_count; k++)
        count += again[k];
    return count;
}

void ceilings_keep_better(struct result_case *cases, const struct result *before, const bool *again, double *other_ns)
{
    for (size_t k = 0; k < before->case_count; k++) {
        const struct result_case *old = &before->cases[k];
        const bool usable = ceilings_usable(&cases[k]);
        const double was = old->stats.median, is = cases[k].stats.median;
        if (again[k] && usable)
            other_ns[k] = fmin(other_ns[k], fmax(was, is));
        if (!again[k] || !usable || is > was)
            cases[k] = *old;
    }
}

#define DOUBT(...) text_append(machine->disturbed, sizeof(machine->disturbed), ", ", __VA_ARGS__)

void ceilings_doubt(struct machine *machine, const struct result *result, const double *other_ns)
{
    const struct ceiling *ceiling;
    const char *name;
    const size_t disturbed = COUNT_WHERE(c, result->cases, result->case_count, c->flags & FLAG_INTERFERENCE);
    if ((double)disturbed > disturbed_above * (double)result->case_count)
        DOUBT("%zu of %zu cases saw interference", disturbed, result->case_count);
    for (uint32_t k = 0; k < machine->level_count; k++)
        if (is_upside_down(machine, k))
            DOUBT("%s is faster than %s", machine->levels[k].name, machine->levels[k - 1].name);
    for (size_t k = 0; (ceiling = ceiling_at(machine, k, &name)); k++) {
        size_t which;
        const double by = moved(&which, ceiling, result, other_ns);
        const bool is_kind = k < machine->level_count * OF_LEVEL && k % OF_LEVEL;
        if (is_kind || by <= moved_above)
            continue;
        if (by < 1)
            DOUBT("%s moved by %.0f %% between two passes", name, by * 100);
        else
            DOUBT("%s was reached in one pass alone", name);
    }
}
