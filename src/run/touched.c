/* SPDX-License-Identifier: MIT
 *
 * Checks which memory timed launches touch, on devices that can report it. A kernel that writes only wrong elements, or
 * reads only one period of its inputs, has right outputs but does less work than it claims.
 */
#include <math.h>
#include <string.h>

#include "rooftile/units.h"
#include "run_internal.h"

/* Number of pages watched per buffer, and allowance for touched pages that were not watched. */
enum { MOST_PAGES = 64, UNSEEN = 3 };
static const double agrees_within = 1.5;

struct touched {
    struct device_page *pages;
    size_t count;
    struct of_buffer {
        size_t first, count; /* range in `pages` */
    } * buffers;
};

static enum status launch_watched(const struct checking *checking, const struct touched *touched, const uint8_t *poison,
                                  struct err *err)
{
    struct checking watching = *checking;
    watching.pages = touched->pages;
    watching.page_count = touched->count;
    checking->out->launches++;
    return launch_again(&watching, poison, err);
}

/* ---- outputs ---- */

/* Every page that a launch writes over poison must also be written if it is right already. */
static enum status check_writes(const struct checking *checking, struct touched *touched, struct arena *arena,
                                struct err *err)
{
    static const uint8_t poison = 0xff;
    const struct resolved *resolved = checking->ready->resolved;
    const struct device_page *found_right = arena_copy(arena, touched->pages, touched->count * sizeof(*touched->pages));
    const bool all = !COUNT_WHERE(page, touched->pages, touched->count, page->writes && !page->touched);
    enum status status = all ? STATUS_OK : launch_watched(checking, touched, &poison, err);
    for (size_t k = 0; k < resolved->buffer_count && !all && !status; k++) {
        const struct of_buffer *of = &touched->buffers[k];
        size_t left = 0;
        for (size_t n = of->first; n < of->first + of->count; n++)
            left += touched->pages[n].writes && touched->pages[n].touched && !found_right[n].touched;
        if (!left)
            continue;
        verification_fail(checking->out,
                          "'%.60s' is written only where it is not right already: launches that are timed leave %zu of "
                          "%zu pages as they find them",
                          resolved->buffers[k].spec->name, left, of->count);
        return STATUS_OK;
    }
    return status;
}

/* ---- inputs ---- */

/* Without a footprint, each launch reads its share once. With one, a launch touches no more of it than the bytes that
 * it moves. Outputs that are rewritten count on neither side. */
static void check_reads(const struct checking *checking, const struct touched *touched)
{
    const struct resolved *resolved = checking->ready->resolved;
    const struct work *work = &resolved->work;
    const bool whole = resolved->manifest->footprint != NULL;
    const double moved = (work->read_bytes + (whole ? work->write_bytes : 0)) / fmax(1, plan_launches(resolved));
    char says[UNITS_TEXT], sees[UNITS_TEXT];
    double seen = 0, outputs = 0;
    for (size_t k = 0; k < resolved->buffer_count; k++) {
        const struct of_buffer *of = &touched->buffers[k];
        const size_t count = of->count,
                     pages = COUNT_WHERE(page, touched->pages + of->first, count, page->touched) + UNSEEN;
        const double share = !is_input(checking->ready, k) || pages >= count ? 1 : (double)pages / (double)count;
        *(resolved->buffers[k].spec->role == ROLE_OUT ? &outputs : &seen) +=
            share * (double)resolved->buffers[k].size_bytes;
    }
    const double claimed = whole ? fmin(work->footprint_bytes, moved) - outputs : moved;
    if (work->read_bytes > 0 && claimed > agrees_within * seen)
        verification_fail(
            checking->out,
            "\"work\" says that a launch goes over %s of its buffers, but it touches at most %s: the rest "
            "is never read",
            units_bytes(says, claimed), units_bytes(sees, seen));
}

enum status check_touched(const struct checking *checking, struct err *err)
{
    struct ready *ready = checking->ready;
    if (!ready->device->ops->watch || !ready->resolved->timing.stream_launches)
        return STATUS_OK;
    SCOPED(arena_release) struct arena arena = {0};
    const size_t count = ready->resolved->buffer_count;
    struct touched touched = {.pages = arena_array(&arena, count * MOST_PAGES + 1, sizeof(*touched.pages)),
                              .buffers = arena_array(&arena, count + 1, sizeof(*touched.buffers))};
    for (size_t k = 0; k < count; k++) { /* evenly spread pages that lie entirely within a buffer */
        const struct resolved_buffer *buffer = &ready->resolved->buffers[k];
        const uintptr_t begin = (uintptr_t)ready_buffer(ready, k, checking->rotation), page = DEVICE_PAGE_BYTES;
        const uintptr_t first = (begin + page - 1) / page, last = (begin + buffer->size_bytes) / page;
        const size_t all = last > first ? last - first : 0, own = all < MOST_PAGES ? all : MOST_PAGES;
        if (buffer->space != BUFFER_DEVICE || !(is_input(ready, k) || is_overwritten(ready, k)))
            continue;
        touched.buffers[k] = (struct of_buffer){touched.count, own};
        for (size_t n = 0; n < own; n++)
            touched.pages[touched.count++] = (struct device_page){
                .at = (void *)((first + (2 * n + 1) * all / (2 * own)) * page), .writes = !is_input(ready, k)};
    }
    if (!touched.count)
        return STATUS_OK;
    const enum status status = launch_watched(checking, &touched, NULL, err);
    if (status)
        return status;
    check_reads(checking, &touched);
    return checking->out->verdict == VERIFY_FAIL ? STATUS_OK : check_writes(checking, &touched, &arena, err);
}
