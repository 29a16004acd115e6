/* SPDX-License-Identifier: MIT
 *
 * How far a run's predictions were from what was measured, in a line.
 */

#include "report_internal.h"

void prediction_line(struct document *document, const struct result *result)
{
    SCOPED(arena_release) struct arena scratch = {0};
    double *errors = arena_array(&scratch, result->case_count + 1, sizeof(*errors));
    size_t count = 0, inside = 0, walked = 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const struct predicted *p = &c->prediction;
        if (!result_case_counts(c) || !isfinite(c->predicted_error))
            continue;
        errors[count++] = fabs(c->predicted_error);
        inside += p->low_ns <= result_case_time(c) && result_case_time(c) <= p->high_ns;
        walked += !strcmp(p->method, "walk");
    }
    const double median = median_of(errors, count); /* sorts them */
    if (count)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                      "predicted before they ran: %zu case%s, %zu from code, %zu by stated work; median error %s, "
                      "90th percentile %s, %s inside the 80 %% interval",
                      count, text_s(count), walked, count - walked, percent_words(median, &scratch),
                      percent_words(errors[(size_t)ceil(0.9 * (double)count) - 1], &scratch),
                      percent_words((double)inside / (double)count, &scratch));
}
