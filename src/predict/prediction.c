/* SPDX-License-Identifier: MIT */
#include "rooftile/prediction.h"

static const char *const term_names[] = {
    [TERM_MATRIX] = "matrix",   [TERM_VECTOR] = "vector",   [TERM_SCALAR] = "scalar",     [TERM_LDS] = "LDS",
    [TERM_L1] = "L1",           [TERM_L2] = "L2",           [TERM_MALL] = "MALL",         [TERM_MEMORY] = "memory",
    [TERM_LATENCY] = "latency", [TERM_ATOMICS] = "atomics", [TERM_DISPATCH] = "dispatch", [TERM_LAUNCH] = "launch",
};
_Static_assert(sizeof(term_names) / sizeof(term_names[0]) == TERM_COUNT, "every term has a name");

const char *prediction_term_name(enum prediction_term term)
{
    return term_names[term];
}

void prediction_note(struct prediction *prediction, const char *format, ...)
{
    char note[sizeof(prediction->notes[0])];
    va_list args;
    va_start(args, format);
    vsnprintf(note, sizeof(note), format, args);
    va_end(args);
    for (uint32_t k = 0; k < prediction->note_count; k++)
        if (!strcmp(prediction->notes[k], note))
            return;
    if (prediction->note_count < PREDICTION_NOTES)
        memcpy(prediction->notes[prediction->note_count++], note, sizeof(note));
}

static const char *const *keep_notes(const struct prediction *prediction, struct arena *arena)
{
    const char **notes = arena_array(arena, prediction->note_count + 1, sizeof(*notes));
    for (uint32_t k = 0; k < prediction->note_count; k++)
        notes[k] = arena_strdup(arena, prediction->notes[k]);
    return notes;
}

void prediction_keep(struct predicted *kept, const struct prediction *prediction, const struct predicted *like,
                     struct arena *arena)
{
    const bool known = prediction->time_ns > 0;
    *kept = (struct predicted){.time_ns = prediction->time_ns,
                               .low_ns = prediction->low_ns,
                               .high_ns = prediction->high_ns,
                               .method = prediction->method ? prediction->method : "",
                               .limiter = known ? term_names[prediction->limiter] : "",
                               .note_count = prediction->note_count,
                               .work_disagrees = prediction->work_disagrees};
    memcpy(kept->term_ns, prediction->term_ns, sizeof(kept->term_ns));
    kept->bound =
        like && !strcmp(like->bound, prediction->bound) ? like->bound : arena_strdup(arena, prediction->bound);
    bool same = like && like->note_count == prediction->note_count;
    for (uint32_t k = 0; k < prediction->note_count && same; k++)
        same = !strcmp(like->notes[k], prediction->notes[k]);
    kept->notes = same ? like->notes : keep_notes(prediction, arena);
}

/* Returns the name of the memory level behind a term, by its position, since machines call their nearest cache L0 or
 * L1. */
static const char *level_name(const struct machine *machine, enum prediction_term term)
{
    if (machine->level_count && term == TERM_MEMORY)
        return machine->levels[machine->level_count - 1].name;
    if (machine->level_count && term == TERM_L1)
        return machine->levels[0].name;
    return term_names[term];
}

void prediction_finish(struct prediction *prediction, const struct machine *machine, const char *compute,
                       struct prediction_spread spread)
{
    prediction->limiter = TERM_LAUNCH;
    for (int term = 0; term < TERM_COUNT; term++)
        if (prediction->term_ns[term] > prediction->term_ns[prediction->limiter])
            prediction->limiter = (enum prediction_term)term;
    prediction->low_ns = prediction->time_ns * spread.low;
    prediction->high_ns = prediction->time_ns * spread.high;
    if (!prediction->bound[0]) {
        const enum prediction_term term = prediction->limiter;
        const char *name =
            (term == TERM_MATRIX || term == TERM_VECTOR) && compute[0] ? compute : level_name(machine, term);
        snprintf(prediction->bound, sizeof(prediction->bound), "%s", name);
    }
}

double prediction_join(const struct prediction *prediction, double norm)
{
    double largest = 0, powers = 0, added = 0;
    for (int term = 0; term < TERM_COUNT; term++) {
        largest = fmax(largest, term < TERM_OVERLAPS ? prediction->term_ns[term] : 0);
        added += term < TERM_OVERLAPS ? 0 : prediction->term_ns[term];
    }
    for (int term = 0; term < TERM_OVERLAPS; term++)
        if (prediction->term_ns[term] > prediction->within_ns[term])
            powers += pow(prediction->term_ns[term] / largest, norm) - pow(prediction->within_ns[term] / largest, norm);
    return largest * pow(powers, 1 / norm) + added;
}

void prediction_conclude(struct prediction *prediction, const struct machine *machine, const char *compute, double norm,
                         struct prediction_spread spread)
{
    prediction->time_ns = prediction_join(prediction, norm);
    prediction_finish(prediction, machine, compute, spread);
}

void prediction_scale(struct prediction *prediction, double factor)
{
    prediction->time_ns *= factor;
    prediction->low_ns *= factor;
    prediction->high_ns *= factor;
    for (int term = 0; term < TERM_COUNT; term++)
        prediction->term_ns[term] *= factor, prediction->within_ns[term] *= factor;
}
