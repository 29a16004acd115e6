/* SPDX-License-Identifier: MIT
 *
 * The comparison for programs (configs/schema/compare.schema.json) and for CI systems. Nothing here depends on when or
 * where it was written: the same two results give the same bytes.
 */
#include <math.h>
#include <string.h>

#include "compare_internal.h"
#include "rooftile/json_out.h"

static void put_side(struct json_out *out, const char *key, const struct result *result)
{
    json_out_object(out, key);
    json_out_string(out, "run_id", result->run_id);
    json_out_string(out, "commit", result->commit && result->commit[0] ? result->commit : NULL);
    json_out_string(out, "started_at", result->started_at);
    json_out_number(out, "trials", result->trials ? result->trials : 1);
    json_out_string(out, "status", result->status);
    json_out_string(out, "fingerprint", result->fingerprint[0] ? result->fingerprint : NULL);
    json_out_end(out);
}

static void put_shift(struct json_out *out, const struct shift *shift, const char *verdict)
{
    json_out_string(out, "verdict", verdict);
    json_out_string(out, "verdict_reason", shift_reason_name(shift->reason));
    json_out_number(out, "ratio", shift->ratio);
    json_out_numbers(out, "ratio_ci", shift->ratio_ci, 2);
    json_out_number(out, "common_ratio", exp(shift->common));
    json_out_number(out, "p", shift->p);
    json_out_number(out, "q", shift->q);
    json_out_number(out, "sd", shift->sd);
    json_out_number(out, "mde", shift->mde);
    json_out_number(out, "suggested_trials", shift->suggested_trials);
}

static void put_case(struct json_out *out, const struct compare_case *c)
{
    json_out_object(out, NULL);
    json_out_string(out, "id", c->id);
    json_out_string(out, "class", c->class);
    json_out_string(out, "state", compare_state_name(c->state));
    json_out_string(out, "reason", c->reason[0] ? c->reason : NULL);
    if (c->state == COMPARE_JUDGED) {
        json_out_number(out, "base_ns", c->shift.base_ns);
        json_out_number(out, "new_ns", c->shift.new_ns);
        json_out_number(out, "base_trials", (double)c->shift.base_trials);
        json_out_number(out, "new_trials", (double)c->shift.new_trials);
        put_shift(out, &c->shift, shift_verdict_name(c->shift.verdict));
        json_out_string(out, "attribution", c->cause ? compare_cause_name(c->cause) : NULL);
        json_out_number(out, "cycles_ratio", c->cycles_ratio);
        json_out_bool(out, "same_code", c->same_code);
        json_out_number(out, "base_disturbed", (double)c->disturbed[0]);
        json_out_number(out, "new_disturbed", (double)c->disturbed[1]);
    }
    json_out_end(out);
}

static void put_classes(struct json_out *out, const struct comparison *comparison)
{
    json_out_array(out, "suite_shift");
    for (size_t k = 0; k < comparison->class_count; k++) {
        const struct compare_class *class = &comparison->classes[k];
        if (!class->group.shifted)
            continue;
        json_out_object(out, NULL);
        json_out_string(out, "class", class->name);
        json_out_number(out, "cases", (double)class->group.cases);
        json_out_number(out, "share", class->group.share);
        json_out_number(out, "class_ratio", exp(class->group.common));
        put_shift(out, &class->group.shift, shift_verdict_name(class->group.shift.verdict));
        json_out_end(out);
    }
    json_out_end(out);
}

static const char *kpi_verdict(enum shift_verdict verdict)
{
    return verdict == SHIFT_SLOWER ? "worse" : verdict == SHIFT_FASTER ? "better" : shift_verdict_name(verdict);
}

static void put_kpis(struct json_out *out, const struct comparison *comparison)
{
    json_out_array(out, "kpis");
    for (size_t k = 0; k < comparison->kpi_count; k++) {
        const struct compare_kpi *kpi = &comparison->kpis[k];
        json_out_object(out, NULL);
        json_out_string(out, "name", kpi->name);
        json_out_string(out, "unit", kpi->unit);
        json_out_string(out, "better", kpi->higher_is_better ? "higher" : "lower");
        json_out_number(out, "base", kpi->base);
        json_out_number(out, "new", kpi->now);
        json_out_string(out, "reason", kpi->reason && kpi->reason[0] ? kpi->reason : NULL);
        json_out_bool(out, "lost", kpi->lost);
        if (kpi->judged)
            put_shift(out, &kpi->shift, kpi_verdict(kpi->shift.verdict));
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_summary(struct json_out *out, const struct comparison *c)
{
    json_out_object(out, "summary");
    json_out_number(out, "cases", (double)c->case_count);
    json_out_number(out, "slower", (double)c->slower);
    json_out_number(out, "faster", (double)c->faster);
    json_out_number(out, "same", (double)c->same);
    json_out_number(out, "inconclusive", (double)c->inconclusive);
    json_out_number(out, "suspect", (double)c->suspect);
    json_out_number(out, "broken", (double)c->broken);
    json_out_number(out, "still_broken", (double)c->still_broken);
    json_out_number(out, "fixed", (double)c->fixed);
    json_out_number(out, "missing", (double)c->missing);
    json_out_number(out, "new", (double)c->added);
    json_out_number(out, "refused", (double)c->refused);
    json_out_number(out, "skipped", (double)c->skipped);
    json_out_number(out, "exit_code", compare_exit_code(c, false));
    json_out_number(out, "exit_code_strict", compare_exit_code(c, true));
    json_out_end(out);
}

static void put_advice(struct json_out *out, const struct comparison *comparison)
{
    struct arena arena = {0};
    const char *advice[COMPARE_ADVICE + 1];
    compare_advice(advice, comparison, &arena);
    json_out_array(out, "advice");
    for (size_t k = 0; advice[k]; k++)
        json_out_string(out, NULL, advice[k]);
    json_out_end(out);
    arena_release(&arena);
}

static void put_differences(struct json_out *out, const struct comparison *comparison)
{
    json_out_array(out, "differences");
    for (size_t k = 0; k < comparison->difference_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "what", comparison->differences[k].what);
        json_out_string(out, "base", comparison->differences[k].base);
        json_out_string(out, "new", comparison->differences[k].now);
        json_out_end(out);
    }
    json_out_end(out);
}

void compare_json(struct text *text, const struct comparison *comparison, bool color, unsigned columns)
{
    struct json_out *out = json_out_new();
    (void)color;
    (void)columns;
    json_out_string(out, "schema", "https://rooftile.dev/schemas/compare/1/compare.schema.json");
    json_out_string(out, "schema_version", "1.0.0");
    json_out_bool(out, "predicted", comparison->base->predicted);
    json_out_string(out, "device", comparison->now->device.name);
    put_side(out, "base", comparison->base);
    put_side(out, "new", comparison->now);
    json_out_bool(out, "same_fingerprint", comparison->same_fingerprint);
    json_out_bool(out, "learned_noise", comparison->learned_noise);
    json_out_number(out, "alpha", comparison->options.alpha);
    json_out_number(out, "delta", comparison->options.delta);
    json_out_number(out, "same_within", comparison->options.same);
    put_summary(out, comparison);
    put_advice(out, comparison);
    put_classes(out, comparison);
    put_kpis(out, comparison);
    put_differences(out, comparison);
    json_out_array(out, "cases");
    for (size_t k = 0; k < comparison->case_count; k++)
        put_case(out, &comparison->cases[k]);
    json_out_end(out);
    json_out_finish(out, text, true);
    text_add(text, "\n");
    json_out_free(out);
}
