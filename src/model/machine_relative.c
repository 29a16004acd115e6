/* SPDX-License-Identifier: MIT
 *
 * Completes a machine, for predictions only, with values from its nearest relative.
 */

#include "rooftile/machine.h"

/* Limit on the chain of relatives. */
#define DEEPEST 6

struct borrowing {
    struct machine *to;
    const struct machine *from;
    struct machine_borrowed *borrowed;
    double clocks;  /* the relative's clock over this one's; caches take the same number of cycles */
    double compute; /* compute units x clock of this one over the relative's; each unit does the same per clock */
};

static void note(const struct borrowing *with, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(const struct borrowing *with, const char *format, ...)
{
    struct machine_borrowed *borrowed = with->borrowed;
    if (borrowed->count == MACHINE_MAX_BORROWED)
        return;
    char *what = borrowed->what[borrowed->count++];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(what, sizeof(borrowed->what[0]), format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof(borrowed->what[0]))
        snprintf(what + length, sizeof(borrowed->what[0]) - (size_t)length, " from %s", with->from->name);
}

/* Returns the corresponding level: the nearest, the memory, or one of the same name. */
static const struct machine_level *counterpart(const struct machine *machine, uint32_t k, const struct machine *from)
{
    if (!from->level_count)
        return NULL;
    if (k == 0 || k + 1 == machine->level_count)
        return k ? &from->levels[from->level_count - 1] : &from->levels[0];
    for (uint32_t other = 1; other + 1 < from->level_count; other++)
        if (!strcmp(machine->levels[k].name, from->levels[other].name))
            return &from->levels[other];
    return NULL;
}

/* Transfers the share of the peak, or if the peak is unknown here, the bandwidth per compute unit. No cache is slower
 * than the memory behind it, which fewer units share on a smaller relative. */
static void borrow_bandwidth(const struct borrowing *with, struct machine_level *level,
                             const struct machine_level *other)
{
    struct ceiling *own = &level->bandwidth;
    const struct ceiling *theirs = &other->bandwidth;
    const double expected = ceiling_expected(theirs);
    const double memory_rate = ceiling_expected(&with->to->levels[with->to->level_count - 1].bandwidth);
    if (own->measured > 0 || own->effective > 0 || expected <= 0 || (own->vendor > 0 && theirs->effective <= 0))
        return;
    own->effective = own->vendor > 0 && theirs->vendor > 0 ? own->vendor * theirs->effective / theirs->vendor
                                                           : fmax(expected * with->compute, memory_rate);
    snprintf(own->effective_source, sizeof(own->effective_source), "as %s", with->from->name);
    note(with, "%s bandwidth", level->name);
}

static void borrow_number(const struct borrowing *with, double *to, double from, double factor, const char *what)
{
    if (*to > 0 || from <= 0)
        return;
    *to = from * factor;
    note(with, "%s", what);
}

void machine_borrow(struct machine *machine, const struct machine *relative, struct machine_borrowed *borrowed)
{
    const bool clocks = machine->core_hz > 0 && relative->core_hz > 0;
    const bool units = clocks && machine->cus && relative->cus;
    const struct borrowing with = {.to = machine,
                                   .from = relative,
                                   .borrowed = borrowed,
                                   .clocks = clocks ? relative->core_hz / machine->core_hz : 1,
                                   .compute =
                                       units ? machine->cus * machine->core_hz / relative->cus / relative->core_hz : 1};
    for (uint32_t k = 0; k < machine->level_count; k++) {
        struct machine_level *level = &machine->levels[k];
        const struct machine_level *other = counterpart(machine, k, relative);
        if (!other)
            continue;
        borrow_bandwidth(&with, level, other);
        if (level->latency_ns > 0 || other->latency_ns <= 0)
            continue;
        level->latency_ns = other->latency_ns * (k + 1 == machine->level_count ? 1 : with.clocks);
        snprintf(level->latency_source, sizeof(level->latency_source), "as %s", relative->name);
        note(&with, "%s latency", level->name);
    }
    borrow_number(&with, &machine->launch_ns, relative->launch_ns, 1, "launch time");
    borrow_number(&with, &machine->launch_next_ns, relative->launch_next_ns, 1, "time of a launch behind another");
    borrow_number(&with, &machine->lds_latency_ns, relative->lds_latency_ns, with.clocks, "LDS latency");
    borrow_number(&with, &machine->dispatch_hz, relative->dispatch_hz,
                  machine->xccs && relative->xccs ? (double)machine->xccs / relative->xccs : 1, "dispatch rate");
    FOR_EACH(const struct machine_figure, figure, relative->figures, relative->figure_count) {
        if (machine_figure(machine, figure->name) || machine->figure_count == MACHINE_MAX_FIGURES)
            continue;
        machine->figures[machine->figure_count++] = *figure;
        note(&with, "%s", figure->name);
    }
}

enum status machine_complete(struct machine *machine, const char *folder, struct machine_borrowed *borrowed,
                             struct err *err)
{
    char next[sizeof(machine->relative)];
    struct machine relative;
    memcpy(next, machine->relative, sizeof(next));
    for (int depth = 0; depth < DEEPEST && next[0] && strcmp(next, machine->name) != 0; depth++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s.json", folder, next);
        if (machine_read(&relative, path, err))
            return err_within(err, "%s names %s as its relative", machine->name, next);
        machine_borrow(machine, &relative, borrowed);
        memcpy(next, relative.relative, sizeof(next));
    }
    return STATUS_OK;
}
