/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdlib.h>

/* ---- the device ---- */

void gpu_close(struct device *device)
{
    struct gpu *gpu = (struct gpu *)device;
    if (!gpu)
        return;
    if (gpu->close_libraries)
        gpu->close_libraries(gpu);
    gpu_memory_free_all(gpu);
    for (size_t i = 0; i < DEVICE_MAX_MARKS; ++i)
        if (gpu->marks[i])
            gpu->vendor->api->event_free(gpu, gpu->marks[i]);
    for (size_t i = 0; i < DEVICE_MAX_STREAMS; ++i)
        if (gpu->streams[i])
            gpu->vendor->api->stream_free(gpu, gpu->streams[i]);
    if (gpu->capture)
        gpu->vendor->api->stream_free(gpu, gpu->capture);
    if (gpu->vendor->close)
        gpu->vendor->close(gpu);
    free(gpu);
}

static enum status start(struct gpu *gpu, struct device_info *info, int index, struct err *err)
{
    const struct gpu_api *api = gpu->vendor->api;
    enum status status = gpu_find_library(gpu, err);
    if (!status)
        status = gpu_start(gpu, err);
    if (!status && index >= gpu->count)
        status = err_set(err, ERR_DEVICE_LOST, "no device %s:%d: the library counts %d", gpu->device.ops->name, index,
                         gpu->count);
    gpu->index = index;
    if (!status)
        status = api->enter(gpu, index, err);
    for (size_t i = 0; i < DEVICE_MAX_MARKS && !status; ++i)
        status = api->event_make(&gpu->marks[i], gpu, err);
    return status ? status : gpu_describe(info, gpu, err);
}

enum status gpu_open(struct device **device, const struct gpu_vendor *vendor, const struct device_request *request,
                     struct device_info *info, struct err *err)
{
    struct device_info found;
    struct gpu *gpu = gpu_new(vendor);
    const enum status status = start(gpu, &found, request->index, err);
    if (status) {
        gpu_close(&gpu->device);
        return status;
    }
    gpu->lds_bytes = found.lds_bytes;
    *info = found;
    *device = &gpu->device;
    return STATUS_OK;
}

/* ---- streams and marks ---- */

enum status gpu_stream_of(struct gpu_stream **stream, struct gpu *gpu, uint32_t number, struct err *err)
{
    enum status status = STATUS_OK;
    if (number >= DEVICE_MAX_STREAMS)
        return err_set(err, ERR_DEVICE, "stream %u: there are %d", number, DEVICE_MAX_STREAMS);
    if (number && !gpu->streams[number])
        status = gpu->vendor->api->stream_make(&gpu->streams[number], gpu, err);
    if (!status)
        *stream = gpu->streams[number];
    return status;
}

enum status gpu_check_marks(uint32_t one, uint32_t other, struct err *err)
{
    if (one >= DEVICE_MAX_MARKS || other >= DEVICE_MAX_MARKS)
        return err_set(err, ERR_DEVICE, "mark %u: there are %d", one > other ? one : other, DEVICE_MAX_MARKS);
    return STATUS_OK;
}

enum status gpu_mark(struct device *device, uint32_t mark, uint32_t number, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    if (gpu_check_marks(mark, mark, err) || gpu_stream_of(&stream, gpu, number, err))
        return err->status;
    return gpu->vendor->api->event_record(gpu, gpu->marks[mark], stream, err);
}

enum status gpu_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    float time_ms = 0;
    if (gpu_check_marks(from, to, err) ||
        gpu->vendor->api->event_elapsed(&time_ms, gpu, gpu->marks[from], gpu->marks[to], err))
        return err->status;
    *time_ns = time_ms * 1e6;
    return STATUS_OK;
}

enum status gpu_wait_mark(struct device *device, uint32_t number, uint32_t mark, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    if (gpu_check_marks(mark, mark, err) || gpu_stream_of(&stream, gpu, number, err))
        return err->status;
    return gpu->vendor->api->stream_wait(gpu, stream, gpu->marks[mark], err);
}

enum status gpu_wait(struct device *device, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    return gpu->vendor->api->wait(gpu, err);
}

/* ---- around the work ---- */

enum status gpu_sense(struct device *device, struct device_sense *sense, bool quick, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    (void)quick; /* there are no reference rates to take: a card is not shared like a processor's cores */
    (void)err;
    *sense = device_sense_unknown;
    double load;
    if (getloadavg(&load, 1) == 1)
        sense->load_1min = load;
    gpu->vendor->sense(sense, gpu);
    return STATUS_OK;
}

enum status gpu_range(struct device *device, const char *name, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_ranges *ranges = &gpu->ranges;
    if (name && !ranges->tried) {
        ranges->tried = true;
        gpu->vendor->find_ranges(ranges);
    }
    if (name && !ranges->push)
        return err_set(err, ERR_UNSUPPORTED, "%s", gpu->vendor->no_ranges);
    if (name)
        ranges->push(name);
    else if (ranges->pop)
        ranges->pop();
    return STATUS_OK;
}
