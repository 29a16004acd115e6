/* SPDX-License-Identifier: MIT */
#include "checkup_internal.h"
#include "rooftile/file.h"
#include "rooftile/json_out.h"

static void put_findings(struct json_out *out, const struct checkup_section *section)
{
    json_out_array(out, "findings");
    for (size_t k = 0; k < section->finding_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "what", section->findings[k].what);
        json_out_string(out, "word", section->findings[k].word);
        json_out_string(out, "why", section->findings[k].why);
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_skips(struct json_out *out, const struct checkup_section *section)
{
    json_out_array(out, "skipped");
    for (size_t k = 0; k < section->skip_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "reason", section->skips[k].reason);
        json_out_u64(out, "cases", section->skips[k].count);
        json_out_string(out, "names", section->skips[k].names);
        json_out_bool(out, "out_of_time", section->skips[k].late);
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_numbers(struct json_out *out, const struct checkup_section *section)
{
    json_out_array(out, "numbers");
    for (size_t k = 0; k < section->number_count; k++) {
        json_out_object(out, NULL);
        json_out_string(out, "name", section->numbers[k].name);
        json_out_number(out, "value", section->numbers[k].value);
        json_out_string(out, "unit", section->numbers[k].unit);
        json_out_end(out);
    }
    json_out_end(out);
}

static void put_section(struct json_out *out, const struct checkup_section *section)
{
    json_out_object(out, NULL);
    json_out_string(out, "name", section->name);
    json_out_string(out, "verdict", checkup_name(section->word));
    json_out_string(out, "headline", section->headline);
    json_out_u64(out, "exit_code", (uint64_t)section->exit_code);
    json_out_number(out, "seconds", section->seconds);
    json_out_number(out, "budget_s", section->budget_s);
    put_numbers(out, section);
    put_findings(out, section);
    put_skips(out, section);
    json_out_string(out, "log_tail", section->log);
    json_out_end(out);
}

/* A file that was read before and found to be whole, as it is. */
static enum status put_document(struct text *out, bool *first, const char *name, const char *path, struct arena *arena,
                                struct err *err)
{
    char *data = NULL;
    size_t length = 0;
    enum status status = file_read(&data, &length, path, FILE_LIMIT_BYTES, arena, err);
    if (status)
        return status;
    text_addf(out, "%s\"%s\":", *first ? "" : ",\n", name);
    text_addn(out, data, length);
    *first = false;
    return STATUS_OK;
}

static enum status put_documents(struct text *out, const struct checkup *checkup, struct arena *arena, struct err *err)
{
    bool first = true;
    enum status status = STATUS_OK;
    for (size_t k = 0; k < STEP_COUNT && !status; k++)
        if (checkup->sections[k].result)
            status = put_document(out, &first, checkup->sections[k].name, checkup->sections[k].result_path, arena, err);
    if (!status && checkup->machine)
        status = put_document(out, &first, "machine", checkup->machine_path, arena, err);
    if (!status && checkup->noise)
        status = put_document(out, &first, "noise_learned", checkup->noise_path, arena, err);
    return status;
}

enum status checkup_json(struct text *out, const struct checkup *checkup, struct arena *arena, struct err *err)
{
    struct json_out *json = json_out_new();
    struct text summary = {0};
    json_out_string(json, "schema", CHECKUP_SCHEMA_ID);
    json_out_string(json, "verdict", checkup_name(checkup->word));
    json_out_number(json, "exit_code", checkup_exit_code(checkup->word));
    json_out_string(json, "device", checkup->device);
    json_out_string(json, "device_name", checkup->facts ? checkup->facts->device.name : NULL);
    json_out_string(json, "started_at", checkup->started_at);
    json_out_number(json, "seconds", checkup->seconds);
    json_out_number(json, "budget_s", checkup->budget_s);
    json_out_array(json, "sections");
    for (size_t k = 0; k < STEP_COUNT; k++)
        if (checkup->sections[k].ran)
            put_section(json, &checkup->sections[k]);
    json_out_end(json);
    json_out_finish(json, &summary, false);
    json_out_free(json);
    text_addn(out, summary.data, summary.length - 1); /* without its closing brace */
    text_release(&summary);
    text_add(out, ",\n\"documents\":{\n");
    enum status status = put_documents(out, checkup, arena, err);
    text_add(out, "}}\n");
    return status;
}
