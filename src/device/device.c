/* SPDX-License-Identifier: MIT */
#include "rooftile/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct device_ops *const device_backends[] = {&device_hip, &device_cuda, &device_cpu, &device_sim, NULL};

const struct device_sense device_sense_unknown = {.stream_bps = NAN,
                                                  .fma_flops = NAN,
                                                  .core_hz = NAN,
                                                  .steal_fraction = NAN,
                                                  .load_1min = NAN,
                                                  .power_w = NAN,
                                                  .temp_c = NAN,
                                                  .memory_hz = NAN,
                                                  .vram_used_bytes = NAN,
                                                  .vram_own_bytes = NAN,
                                                  .other_processes = NAN,
                                                  .violation_power = NAN,
                                                  .violation_thermal = NAN,
                                                  .violation_hbm = NAN,
                                                  .violation_vr = NAN,
                                                  .violation_prochot = NAN};

const struct device_ops *device_backend(const char *name)
{
    for (size_t i = 0; device_backends[i]; ++i)
        if (strcmp(device_backends[i]->name, name) == 0)
            return device_backends[i];
    return NULL;
}

void device_default(struct device_request *request, struct text *reason)
{
    *request = (struct device_request){0};
    struct text missing = {0};
    for (size_t i = 0; device_backends[i]; ++i) {
        struct text why = {0};
        const struct device_ops *ops = device_backends[i];
        const bool chosen = ops != &device_sim && ops->count(&why) > 0;
        if (chosen) {
            snprintf(request->backend, sizeof(request->backend), "%s", ops->name);
            text_addf(reason, "%s: %s", ops->name, missing.length ? missing.data : ops->summary);
        } else if (ops != &device_sim) {
            text_addf(&missing, "%s%s: %s", missing.length ? ", " : "", ops->name, why.length ? why.data : "none");
        }
        text_release(&why);
        if (chosen)
            break;
    }
    text_release(&missing);
}

static bool parse_count(uint32_t *count, const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    const unsigned long value = strtoul(text, &end, 10);
    if (*end || value > 1000000)
        return false;
    *count = (uint32_t)value;
    return true;
}

/* Options of the CPU device: each reads its value, false when it is none of its. */
static bool parse_wave(struct device_request *request, const char *value)
{
    return parse_count(&request->wave, value) && (request->wave == 64 || request->wave == 32);
}

static bool parse_threads(struct device_request *request, const char *value)
{
    return parse_count(&request->threads, value) && request->threads > 0;
}

static bool parse_pages(struct device_request *request, const char *value)
{
    request->huge_pages = strcmp(value, "huge") == 0;
    return request->huge_pages || strcmp(value, "normal") == 0;
}

static const struct {
    const char *name;
    bool (*parse)(struct device_request *request, const char *value);
    const char *values;
} options[] = {
    {"wave", parse_wave, "64 or 32"},
    {"threads", parse_threads, "a number of cores"},
    {"pages", parse_pages, "huge or normal"},
};
enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

static enum status unknown_option(const char *name, struct err *err)
{
    const char *names[OPTION_COUNT];
    for (size_t i = 0; i < OPTION_COUNT; ++i)
        names[i] = options[i].name;
    const char *near = text_nearest(name, names, OPTION_COUNT);
    if (near)
        return err_set(err, ERR_USAGE, "unknown device option '%s', did you mean '%s'?", name, near);
    return err_set(err, ERR_USAGE, "unknown device option '%s': there are wave=, threads= and pages=", name);
}

static enum status parse_option(struct device_request *request, char *option, struct err *err)
{
    char *equals = strchr(option, '=');
    if (equals)
        *equals = '\0';
    for (size_t i = 0; i < OPTION_COUNT; ++i) {
        if (strcmp(options[i].name, option) != 0)
            continue;
        if (equals && options[i].parse(request, equals + 1))
            return STATUS_OK;
        return err_set(err, ERR_USAGE, "device option %s=%s: it takes %s", option, equals ? equals + 1 : "",
                       options[i].values);
    }
    return unknown_option(option, err);
}

/* What follows the colon: an index, or options separated by commas, or both. */
static enum status parse_rest(struct device_request *request, char *rest, struct err *err)
{
    for (char *word = rest; word;) {
        char *comma = strchr(word, ',');
        if (comma)
            *comma = '\0';
        uint32_t index;
        if (word == rest && parse_count(&index, word)) {
            request->index = (int)index;
        } else if (strcmp(request->backend, "cpu") != 0) {
            return err_set(err, ERR_USAGE, "device %s:%s: expected a number", request->backend, word);
        } else {
            const enum status status = parse_option(request, word, err);
            if (status)
                return status;
        }
        word = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

static enum status parse_model(struct device_request *request, const char *model, struct err *err)
{
    if (!*model)
        return err_set(err, ERR_USAGE, "sim needs a machine, for example sim:mi300x");
    if (strlen(model) >= sizeof(request->model))
        return err_set(err, ERR_USAGE, "no machine '%.40s...': the name is too long", model);
    snprintf(request->model, sizeof(request->model), "%s", model);
    return STATUS_OK;
}

static enum status unknown_backend(const char *name, struct err *err)
{
    const char *names[sizeof(device_backends) / sizeof(device_backends[0])];
    struct text list = {0};
    size_t count = 0;
    for (; device_backends[count]; ++count) {
        names[count] = device_backends[count]->name;
        text_addf(&list, "%s%s", count ? ", " : "", names[count]);
    }
    const char *near = text_nearest(name, names, count);
    if (near)
        err_set(err, ERR_USAGE, "unknown device '%s', did you mean '%s'?", name, near);
    else
        err_set(err, ERR_USAGE, "unknown device '%s': this build has %s", name, list.data);
    text_release(&list);
    return ERR_USAGE;
}

enum status device_parse(struct device_request *request, const char *text, struct err *err)
{
    char copy[256];
    if (strlen(text) >= sizeof(copy))
        return err_set(err, ERR_USAGE, "unknown device '%.40s...'", text);
    snprintf(copy, sizeof(copy), "%s", text);
    char *colon = strchr(copy, ':');
    if (colon)
        *colon = '\0';
    const struct device_ops *ops = device_backend(copy);
    if (!ops)
        return unknown_backend(copy, err);
    struct device_request parsed = *request;
    snprintf(parsed.backend, sizeof(parsed.backend), "%s", ops->name);
    enum status status = STATUS_OK;
    if (ops == &device_sim)
        status = parse_model(&parsed, colon ? colon + 1 : "", err);
    else if (colon)
        status = parse_rest(&parsed, colon + 1, err);
    if (!status)
        *request = parsed;
    return status;
}
