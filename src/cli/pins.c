/* SPDX-License-Identifier: MIT */
#include "pins.h"

#include "rooftile/file.h"
#include "rooftile/json.h"

#define PINS_SCHEMA "https://rooftile.dev/schemas/pins/1/pins.schema.json"

/* ---- writing ---- */

static enum status write_pins(struct codediff *diff, const char *path, struct err *err)
{
    struct json_out *out = json_out_new();
    SCOPED(text_release) struct text text = {0};
    json_out_string(out, "schema", PINS_SCHEMA);
    json_out_string(out, "schema_version", "1.0.0");
    json_out_array(out, "kernels");
    FOR_EACH(const struct code_pair, pair, diff->pairs, diff->count) {
        json_out_object(out, NULL);
        json_out_string(out, "kernel", pair->label);
        json_out_string(out, "symbol", pair->name);
        json_out_string(out, "target", pair->target);
        json_out_object(out, "figures");
        for (int k = 0; k < CODE_METRICS; k++)
            json_out_number(out, code_metrics[k].key, pair->figures[1].value[k]);
        json_out_end(out);
        json_out_end(out);
    }
    json_out_end(out);
    json_out_finish(out, &text, true);
    text_add(&text, "\n");
    return file_write(path, text.data, text.length, err);
}

/* ---- reading ---- */

static bool is_of(const cJSON *pin, const char *key, const char *value)
{
    const cJSON *at = json_member(pin, key);
    return cJSON_IsString(at) && !strcmp(at->valuestring, value);
}

static const cJSON *pin_of(const cJSON *kernels, const struct code_pair *pair)
{
    const cJSON *pin = kernels->child;
    while (pin && !(is_of(pin, "kernel", pair->label) && is_of(pin, "symbol", pair->name) &&
                    is_of(pin, "target", pair->target)))
        pin = pin->next;
    return pin;
}

/* Figures of the loop are per pass of the first side, both here and in the file. */
static enum status apply(struct codediff *diff, struct code_pair *pair, const cJSON *pin, struct arena *arena,
                         struct err *err)
{
    const struct occupancy *occupancy = pair->after->occupancy_problem ? NULL : &pair->after->occupancy;
    struct code_figures accepted;
    SCOPED(text_release) struct text why = {0};
    const cJSON *at = json_member(pin, "figures");
    if (!cJSON_IsObject(at))
        return json_fail(pin, err, "the object 'figures' is missing");
    for (int k = 0; k < CODE_METRICS; k++) {
        const cJSON *number = json_member(at, code_metrics[k].key);
        accepted.value[k] = cJSON_IsNumber(number) ? number->valuedouble : (double)NAN;
    }
    if (code_figures_hurt(&why, &accepted, &pair->figures[1], occupancy)) {
        pair->verdict = CODE_HURT;
        pair->worse = arena_printf(arena, "%s, beyond what is accepted", why.data);
    } else if (pair->verdict == CODE_HURT) {
        pair->verdict = CODE_CHANGED;
        diff->accepted++;
    }
    return STATUS_OK;
}

enum status pins_apply(struct codediff *diff, const char *path, bool anew, struct arena *arena, struct err *err)
{
    const cJSON *kernels = NULL;
    if (anew || !file_exists(path)) {
        for (size_t k = 0; k < diff->count; k++)
            if (diff->pairs[k].verdict == CODE_HURT) {
                diff->pairs[k].verdict = CODE_CHANGED;
                diff->accepted++;
            }
        return write_pins(diff, path, err);
    }
    const cJSON *root = NULL;
    const char *schema = "";
    if (json_read(&root, path, arena, err) || json_get_string(&schema, root, "schema", JSON_REQUIRED, err))
        return err->status;
    if (strcmp(schema, PINS_SCHEMA) != 0)
        return json_fail(json_member(root, "schema"), err, "is no file of accepted figures (--pin writes one)");
    enum status status = json_get_array(&kernels, root, "kernels", JSON_REQUIRED, err);
    for (size_t k = 0; k < diff->count && !status; k++) {
        const cJSON *pin = pin_of(kernels, &diff->pairs[k]);
        if (pin)
            status = apply(diff, &diff->pairs[k], pin, arena, err);
    }
    return status;
}
