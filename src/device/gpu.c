/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdlib.h>

/* ---- errors ---- */

static enum status status_of(gpu_error code)
{
    switch (code) {
    case GPU_SUCCESS:
        return STATUS_OK;
    case GPU_OUT_OF_MEMORY:
        return ERR_DEVICE_MEMORY;
    case GPU_NOT_SUPPORTED:
        return ERR_UNSUPPORTED;
    case GPU_DEINITIALIZED:
    case GPU_NO_DEVICE:
    case GPU_INVALID_CONTEXT:
    case GPU_ECC_UNCORRECTABLE:
    case GPU_NVLINK_UNCORRECTABLE:
    case GPU_CONTAINED:
    case GPU_ILLEGAL_ADDRESS:
    case GPU_LAUNCH_TIMEOUT:
    case GPU_CONTEXT_IS_DESTROYED:
    case GPU_ASSERT:
    case GPU_HARDWARE_STACK_ERROR:
    case GPU_ILLEGAL_INSTRUCTION:
    case GPU_MISALIGNED_ADDRESS:
    case GPU_INVALID_ADDRESS_SPACE:
    case GPU_INVALID_PC:
    case GPU_LAUNCH_FAILED:
    case GPU_TENSOR_MEMORY_LEAK:
    case GPU_MPS_CLIENT_TERMINATED:
    case GPU_EXTERNAL_DEVICE:
        return ERR_DEVICE_LOST;
    default:
        return ERR_DEVICE;
    }
}

enum status gpu_check(const struct gpu *gpu, gpu_error code, size_t offset, struct err *err)
{
    const enum status status = status_of(code);
    const struct library_symbol *symbol = gpu->vendor->symbols;
    const char *text = NULL;
    if (!status)
        return STATUS_OK;
    while (symbol->offset != offset)
        ++symbol;
    const char *name = gpu->vendor->error_name(&text, gpu, code);
    if (!name)
        return err_set(err, status, "%s: error %u", symbol->name, code);
    return err_set(err, status, "%s: %s (%u)%s%s", symbol->name, name, code, text ? ": " : "", text ? text : "");
}

/* ---- the device ---- */

void gpu_close(struct device *device)
{
    struct gpu *gpu = (struct gpu *)device;
    if (!gpu)
        return;
    gpu_blas_close(gpu);
    while (gpu->allocations)
        gpu_free(device, gpu->allocations->pointer);
    for (size_t i = 0; i < DEVICE_MAX_MARKS; ++i)
        if (gpu->marks[i])
            gpu->api.event_free(gpu->marks[i]);
    for (size_t i = 0; i < DEVICE_MAX_STREAMS; ++i)
        if (gpu->streams[i])
            gpu->api.stream_free(gpu->streams[i]);
    if (gpu->capture)
        gpu->api.stream_free(gpu->capture);
    if (gpu->vendor->close)
        gpu->vendor->close(gpu);
    free(gpu);
}

static enum status start(struct gpu *gpu, struct device_info *info, int index, struct err *err)
{
    enum status status = gpu_find_library(gpu, err);
    if (!status)
        status = gpu_start(gpu, err);
    if (!status && index >= gpu->count)
        status = err_set(err, ERR_DEVICE_LOST, "no device %s:%d: the library counts %d", gpu->device.ops->name, index,
                         gpu->count);
    gpu->index = index;
    if (!status)
        status = gpu->vendor->enter(gpu, index, err);
    for (size_t i = 0; i < DEVICE_MAX_MARKS && !status; ++i) {
        struct gpu_event *made = NULL;
        status = GPU_TRY(gpu, err, event_make, &made, 0);
        gpu->marks[i] = status ? NULL : made;
    }
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
    struct gpu_stream *made = NULL;
    if (number >= DEVICE_MAX_STREAMS)
        return err_set(err, ERR_DEVICE, "stream %u: there are %d", number, DEVICE_MAX_STREAMS);
    if (number && !gpu->streams[number]) {
        if (GPU_TRY(gpu, err, stream_make, &made, GPU_STREAM_NON_BLOCKING))
            return err->status;
        gpu->streams[number] = made;
    }
    *stream = gpu->streams[number];
    return STATUS_OK;
}

enum status gpu_mark(struct device *device, uint32_t mark, uint32_t number, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    if (check_marks(mark, mark, err) || gpu_stream_of(&stream, gpu, number, err))
        return err->status;
    return GPU_TRY(gpu, err, event_record, gpu->marks[mark], stream);
}

enum status gpu_elapsed(double *time_ns, struct device *device, uint32_t from, uint32_t to, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    float time_ms = 0;
    if (check_marks(from, to, err) || GPU_TRY(gpu, err, event_elapsed, &time_ms, gpu->marks[from], gpu->marks[to]))
        return err->status;
    *time_ns = time_ms * 1e6;
    return STATUS_OK;
}

enum status gpu_wait_mark(struct device *device, uint32_t number, uint32_t mark, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_stream *stream = NULL;
    if (check_marks(mark, mark, err) || gpu_stream_of(&stream, gpu, number, err))
        return err->status;
    return GPU_TRY(gpu, err, stream_wait, stream, gpu->marks[mark], 0);
}

enum status gpu_wait(struct device *device, struct err *err)
{
    const struct gpu *gpu = (const struct gpu *)device;
    return GPU_TRY(gpu, err, wait);
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
