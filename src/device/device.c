/* SPDX-License-Identifier: MIT */
#include "device_internal.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- for the backends ---- */

void *new_zeroed(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        arena_out_of_memory(count * size);
    return memory;
}

void allocation_add(struct allocation **list, void *pointer, uint64_t size_bytes, enum device_space space)
{
    struct allocation *added = new_zeroed(1, sizeof(*added));
    *added = (struct allocation){.next = *list, .pointer = pointer, .size_bytes = size_bytes, .space = space};
    *list = added;
}

bool allocation_take(struct allocation *taken, struct allocation **list, const void *pointer)
{
    for (struct allocation **at = list; *at; at = &(*at)->next) {
        struct allocation *found = *at;
        if (found->pointer != pointer)
            continue;
        *taken = *found;
        *at = found->next;
        free(found);
        return true;
    }
    return false;
}

enum status check_events(uint32_t one, uint32_t other, struct err *err)
{
    if (one >= DEVICE_MAX_EVENTS || other >= DEVICE_MAX_EVENTS)
        return err_set(err, ERR_DEVICE, "event %u: there are %d", one > other ? one : other, DEVICE_MAX_EVENTS);
    return STATUS_OK;
}

size_t sysfs_read(void *to, size_t size, const char *folder, const char *name)
{
    char path[512];
    size_t length = 0;
    if (!folder[0] || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return 0;
    for (ssize_t got = 1; got > 0 && length<size; length += got> 0 ? (size_t)got : 0)
        got = read(file, (char *)to + length, size - length);
    close(file);
    return length;
}

bool sysfs_text(char *text, size_t size, const char *folder, const char *name)
{
    size_t length = sysfs_read(text, size - 1, folder, name);
    text[length] = '\0';
    while (length && text[length - 1] == '\n')
        text[--length] = '\0';
    return length;
}

double sysfs_number(const char *folder, const char *name)
{
    char text[64];
    if (!sysfs_text(text, sizeof(text), folder, name))
        return NAN;
    char *end = NULL;
    const double value = strtod(text, &end);
    return end == text || !isfinite(value) ? NAN : value;
}
