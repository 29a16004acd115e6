/* SPDX-License-Identifier: MIT
 *
 * Notes on what the predictions of many cases rest on: each note once, with the kernels that it applies to.
 */

#include "report_internal.h"
#include "rooftile/forecast.h"

/* Ignores numbers and addresses: words that begin with a digit. */
static bool alike_but_for_numbers(const char *a, const char *b)
{
    while (*a && *b) {
        const bool number = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        const size_t long_a = text_word(a), long_b = text_word(b);
        if (!number && (long_a != long_b || memcmp(a, b, long_a ? long_a : 1) != 0))
            return false;
        a += long_a ? long_a : 1;
        b += long_b ? long_b : 1;
    }
    return !*a && !*b;
}

void forecast_note(struct forecast_notes *notes, const char *kernel, const char *text, struct arena *arena)
{
    size_t at = 0;
    while (at < notes->count && !alike_but_for_numbers(notes->items[at].text, text))
        at++;
    if (at == notes->count)
        ARENA_PUSH(arena, notes->items, notes->count, (struct forecast_note){.text = arena_strdup(arena, text)});
    struct forecast_note *note = &notes->items[at];
    if (!text_among(kernel, note->kernels, note->kernel_count))
        ARENA_PUSH(arena, note->kernels, note->kernel_count, kernel);
}

#define KERNELS_SHOWN 3

static const char *kernels_of(const struct forecast_note *note, struct arena *arena)
{
    return text_listed(arena, note->kernels, note->kernel_count,
                       note->kernel_count > KERNELS_SHOWN ? KERNELS_SHOWN - 1 : KERNELS_SHOWN);
}

void forecast_say_notes(struct document *document, const char *name, const struct forecast_notes *notes)
{
    for (size_t k = 0; k < notes->count; k++)
        document_text(document, SHOW_PEOPLE, TONE_DIM, "%s%s%s: %s", name ? name : "", name ? ": " : "",
                      kernels_of(&notes->items[k], document->arena), notes->items[k].text);
}
