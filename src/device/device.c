/* SPDX-License-Identifier: MIT */
#include "device_internal.h"
#include "rooftile/cpu_target.h"

#include <strings.h>

const struct device_ops *const device_backends[] = {&device_hip, &device_cuda, &device_cpu, &device_sim, NULL};

const struct device_sense device_sense_unknown = {.stream_bps = NAN,
                                                  .fma_flops = NAN,
                                                  .core_hz = NAN,
                                                  .steal_fraction = NAN,
                                                  .load_1min = NAN,
                                                  .involuntary_switches = UINT64_MAX,
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
                                                  .violation_prochot = NAN,
                                                  .throttle_bits = UINT64_MAX};

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
    SCOPED(text_release) struct text missing = {0};
    for (size_t i = 0; device_backends[i]; ++i) {
        SCOPED(text_release) struct text why = {0};
        const struct device_ops *ops = device_backends[i];
        const bool chosen = ops != &device_sim && ops->count(&why) > 0;
        if (chosen) {
            SET_TEXT(request->backend, "%s", ops->name);
            text_addf(reason, "%s: %s", ops->name, missing.length ? missing.data : ops->summary);
        } else if (ops != &device_sim) {
            text_addf(&missing, "%s%s: %s", missing.length ? ", " : "", ops->name, why.length ? why.data : "none");
        }
        if (chosen)
            break;
    }
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

/* Options of the CPU device. Each function reads its value and returns false if the value is not valid for it. */
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

static bool parse_level(struct device_request *request, const char *value)
{
    SET_TEXT(request->level, "%.15s", value);
    return cpu_target_is_level(value);
}

static const struct {
    const char *name;
    bool (*parse)(struct device_request *request, const char *value);
    const char *values;
} options[] = {
    {"wave", parse_wave, "64 or 32"},
    {"threads", parse_threads, "a number of cores"},
    {"pages", parse_pages, "huge or normal"},
    {"level", parse_level, "a level of the architecture, such as x86-64-v3"},
};

static enum status parse_option(struct device_request *request, char *option, struct err *err)
{
    char *equals = strchr(option, '=');
    if (equals)
        *equals = '\0';
    const char *names[COUNT_OF(options)];
    for (size_t i = 0; i < COUNT_OF(options); ++i) {
        names[i] = options[i].name;
        if (strcmp(names[i], option) != 0)
            continue;
        if (equals && options[i].parse(request, equals + 1))
            return STATUS_OK;
        return err_set(err, ERR_USAGE, "device option %s=%s: it takes %s", option, equals ? equals + 1 : "",
                       options[i].values);
    }
    err_set(err, ERR_USAGE, "unknown device option '%s'", option);
    return err_nearest(err, option, names, COUNT_OF(options), "there are wave=, threads=, pages= and level=");
}

/* Parses what follows the colon: an index, options separated by commas, or both. */
static enum status parse_rest(struct device_request *request, char *rest, struct err *err)
{
    for (char *word = rest; word;) {
        char *comma = strchr(word, ',');
        if (comma)
            *comma = '\0';
        uint32_t index;
        if (word == rest && parse_count(&index, word)) {
            request->index = (int)index;
        } else if (!backend_is_cpu(request->backend)) {
            return err_set(err, ERR_USAGE, "device %s:%s: expected a number", request->backend, word);
        } else {
            if (parse_option(request, word, err))
                return err->status;
        }
        word = comma ? comma + 1 : NULL;
    }
    return STATUS_OK;
}

static enum status unknown_backend(const char *name, struct err *err)
{
    const char *names[COUNT_OF(device_backends) + 2] = {NULL};
    char counted[64]; /* "gpu:0" for "gpu0" */
    const size_t letters = strcspn(name, "0123456789");
    SCOPED(text_release) struct text list = {0};
    bool known = letters == 3 && !strncasecmp(name, "gpu", letters);
    for (size_t i = 0; device_backends[i]; ++i) {
        names[i + 1] = device_backends[i]->name;
        known |= strlen(names[i + 1]) == letters && !strncasecmp(name, names[i + 1], letters);
        text_addf(&list, "%s%s", i ? ", " : "this build has ", names[i + 1]);
    }
    SET_TEXT(counted, "%.*s:%s", (int)letters, name, name + letters);
    names[0] = known ? counted : NULL;
    err_set(err, ERR_USAGE, "unknown device '%s'", name);
    err_nearest(err, name, names, COUNT_OF(names), list.data);
    return ERR_USAGE;
}

/* Finds a backend by name, in any case, or by common synonyms; a bare number is a GPU, numbered as by HIP and CUDA. */
static enum status find_backend(const struct device_ops **ops, const char *name, struct err *err)
{
    static const struct {
        const char *name;
        const struct device_ops *ops;
    } names[] = {{"amd", &device_hip}, {"rocm", &device_hip}, {"nvidia", &device_cuda}, {"host", &device_cpu}};
    *ops = NULL;
    for (size_t i = 0; device_backends[i] && !*ops; ++i)
        *ops = strcasecmp(device_backends[i]->name, name) ? NULL : device_backends[i];
    for (size_t i = 0; i < COUNT_OF(names) && !*ops; ++i)
        *ops = strcasecmp(names[i].name, name) ? NULL : names[i].ops;
    if (*ops)
        return STATUS_OK;
    if (strcasecmp(name, "gpu") != 0)
        return unknown_backend(name, err);
    static const struct device_ops *const gpus[] = {&device_hip, &device_cuda};
    for (size_t i = 0; i < COUNT_OF(gpus) && !*ops; ++i) {
        SCOPED(text_release) struct text why = {0};
        *ops = gpus[i]->count(&why) > 0 ? gpus[i] : NULL;
    }
    return *ops ? STATUS_OK
                : err_set(err, ERR_DEVICE_LOST,
                          "there is no GPU here ('rooftile devices' says why); --device cpu runs on this machine's "
                          "cores, --device sim:mi300x predicts");
}

enum status device_parse(struct device_request *request, const char *text, struct err *err)
{
    char copy[256];
    uint32_t index;
    if (strlen(text) >= sizeof(copy))
        return err_set(err, ERR_USAGE, "unknown device '%.40s...'", text);
    SET_TEXT(copy, "%s%s", parse_count(&index, text) ? "gpu:" : "", text);
    char *colon = strchr(copy, ':');
    if (colon)
        *colon = '\0';
    const struct device_ops *ops = NULL;
    if (find_backend(&ops, copy, err))
        return err->status;
    struct device_request parsed = *request;
    SET_TEXT(parsed.backend, "%s", ops->name);
    const char *rest = colon ? colon + 1 : "";
    if (ops == &device_sim && !*rest)
        return err_set(err, ERR_USAGE, "sim needs a machine, for example sim:mi300x");
    if (ops == &device_sim && strlen(rest) >= sizeof(parsed.model))
        return err_set(err, ERR_USAGE, "no machine '%.40s...': the name is too long", rest);
    if (ops == &device_sim)
        SET_TEXT(parsed.model, "%s", rest);
    else if (colon && parse_rest(&parsed, colon + 1, err))
        return err->status;
    *request = parsed;
    return STATUS_OK;
}
