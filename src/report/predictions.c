/* SPDX-License-Identifier: MIT
 *
 * Which predictions come from code, and how far the predictions of a run were from its measurements.
 */

#include "report_internal.h"
#include "rooftile/forecast.h"

static bool is_described(const char *method)
{
    return method && !strcmp(method, "description");
}

struct cell cell_predicted(double time_ns, const char *method, struct arena *arena)
{
    struct cell cell = cell_positive(time_ns);
    if (cell.kind == CELL_NUMBER && is_described(method))
        cell.text = arena_printf(arena, "~%s", quantity_words(time_ns, UNIT_TIME, arena));
    return cell;
}

void document_described(struct document *document, size_t described, size_t count)
{
    if (described)
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "~: predicted by the work that the manifest states, not from code (%zu of %zu case%s)", described,
                      count, text_s(count));
}

void prediction_line(struct document *document, const struct result *result)
{
    SCOPED(arena_release) struct arena scratch = {0};
    double *errors = arena_array(&scratch, result->case_count + 1, sizeof(*errors));
    size_t count = 0, inside = 0, described = 0;
    FOR_EACH(const struct result_case, c, result->cases, result->case_count) {
        const struct predicted *p = &c->prediction;
        if (!result_case_counts(c) || !isfinite(c->predicted_error))
            continue;
        errors[count++] = fabs(c->predicted_error);
        inside += p->low_ns <= result_case_time(c) && result_case_time(c) <= p->high_ns;
        described += is_described(p->method);
    }
    if (result->predicted)
        document_described(document,
                           COUNT_WHERE(c, result->cases, result->case_count,
                                       result_case_timed(c) && is_described(c->prediction.method)),
                           COUNT_WHERE(c, result->cases, result->case_count, result_case_timed(c)));
    const double median = median_of(errors, count); /* sorts them */
    if (count)
        document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                      "predicted before they ran: %zu case%s, %zu from code, %zu by stated work (~); median error %s, "
                      "90th percentile %s, %s inside the 80 %% interval",
                      count, text_s(count), count - described, described, percent_words(median, &scratch),
                      percent_words(errors[(size_t)ceil(0.9 * (double)count) - 1], &scratch),
                      percent_words((double)inside / (double)count, &scratch));
}
