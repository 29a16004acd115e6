/* SPDX-License-Identifier: MIT */
#include "gpu_collectives.h"

#include <dlfcn.h>

#include "ranks.h"

/* ---- libraries and their functions ---- */

/* Values of ncclDataType_t and ncclRedOp_t. */
static const struct {
    const char *name;
    int number;
    uint32_t bytes;
} types[] = {{"i8", 0, 1}, {"i32", 2, 4}, {"f16", 6, 2}, {"f32", 7, 4}, {"f64", 8, 8}, {"bf16", 9, 2}};
static const int reductions[] = {[LIBRARY_SUM] = 0, [LIBRARY_MAX] = 2};

static const struct library_symbol symbols[] = {
#define SYMBOL(member, name) LIBRARY_SYMBOL(struct collectives_api, member, name, REQUIRED)
    SYMBOL(version, "ncclGetVersion"),
    SYMBOL(text, "ncclGetErrorString"),
    SYMBOL(init_all, "ncclCommInitAll"),
    SYMBOL(unique_id, "ncclGetUniqueId"),
    SYMBOL(init_rank, "ncclCommInitRank"),
    SYMBOL(destroy, "ncclCommDestroy"),
    SYMBOL(group_start, "ncclGroupStart"),
    SYMBOL(group_end, "ncclGroupEnd"),
    SYMBOL(all_reduce, "ncclAllReduce"),
    SYMBOL(all_gather, "ncclAllGather"),
    SYMBOL(reduce_scatter, "ncclReduceScatter"),
    SYMBOL(broadcast, "ncclBroadcast"),
    SYMBOL(send, "ncclSend"),
    SYMBOL(recv, "ncclRecv"),
    {NULL, 0, 0},
};

static const struct known {
    const char *backend;
    struct library_place place;
} known[] = {
    {"hip",
     {"rccl", "ROOFTILE_RCCL",
      (const char *const[]){"$ROCM_PATH/lib/librccl.so.1*", "/opt/rocm/lib/librccl.so.1*", "librccl.so.1", NULL},
      symbols, RTLD_LOCAL}},
    {"cuda",
     {"nccl", "ROOFTILE_NCCL", (const char *const[]){"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2", NULL},
      symbols, RTLD_LOCAL}},
};

static enum status check(const struct gpu_collectives *library, int code, size_t offset, struct err *err)
{
    const struct library_symbol *symbol = symbols;
    if (!code)
        return STATUS_OK;
    while (symbol->offset != offset)
        symbol++;
    return err_set(err, ERR_DEVICE, "%s: %s (%d)", symbol->name, library->api.text(code), code);
}
#define TRY(library, err, member, ...)                                                                                 \
    check((library), (library)->api.member(__VA_ARGS__), offsetof(struct collectives_api, member), (err))

/* ---- communicators ---- */

static void forget(struct gpu_collectives *library, const struct gpu *gpu)
{
    for (size_t k = 0; k < GPU_MAX_DEVICES; k++) {
        if (library->comms[k])
            library->api.destroy(library->comms[k]);
        if (library->streams[k])
            gpu->api.stream_free(library->streams[k]);
        if (library->done[k])
            gpu->api.event_free(library->done[k]);
        library->comms[k] = NULL;
        library->streams[k] = NULL;
        library->done[k] = NULL;
    }
    library->devices = 0;
}

/* Returns how many of the devices belong to this process. */
static uint32_t members(const struct gpu *gpu, uint32_t devices)
{
    return gpu->ranks ? 1 : devices;
}

/* Streams and events belong to the device that is current when they are created. */
static enum status make_streams(struct gpu_collectives *library, struct gpu *gpu, uint32_t devices, struct err *err)
{
    enum status status = STATUS_OK;
    for (uint32_t k = 0; k < members(gpu, devices) && !status; k++) {
        struct gpu_stream *stream = NULL;
        struct gpu_event *event = NULL;
        status = gpu->vendor->enter(gpu, gpu->ranks ? gpu->index : (int)k, err);
        if (!status && k)
            status = GPU_TRY(gpu, err, stream_make, &stream, GPU_STREAM_NON_BLOCKING);
        library->streams[k] = status ? NULL : stream;
        if (!status)
            status = GPU_TRY(gpu, err, event_make, &event, 0);
        library->done[k] = status ? NULL : event;
    }
    return gpu_come_back(gpu, status, err);
}

static enum status init_rank(struct gpu_collectives *library, const struct gpu *gpu, struct err *err)
{
    const struct device_ranks *ranks = gpu->ranks;
    struct collectives_id id = {""};
    enum status status = library->absent.status;
    if (status)
        return err_set(err, status, "%s", library->absent.text);
    if (!ranks->rank)
        status = TRY(library, err, unique_id, &id);
    if (!status && (status = ranks_share(&id, sizeof(id), ranks, err)))
        library->absent = *err;
    if (!status)
        status = TRY(library, err, init_rank, &library->comms[0], (int)ranks->world, id, (int)ranks->rank);
    ranks_shared(ranks);
    return status;
}

static enum status connect(struct gpu_collectives *library, struct gpu *gpu, uint32_t devices, struct err *err)
{
    if (library->devices == devices)
        return STATUS_OK;
    if (gpu->ranks && devices != gpu->ranks->world)
        return err_set(err, ERR_UNSUPPORTED, "a collective of %u devices in a job of %u processes", devices,
                       gpu->ranks->world);
    if (!gpu->ranks && (gpu->index || !devices || devices > (uint32_t)gpu->count))
        return err_set(err, ERR_UNSUPPORTED, "the device has no collective of %u devices: it is number %d of %d",
                       (unsigned)devices, gpu->index, gpu->count);
    forget(library, gpu);
    int numbers[GPU_MAX_DEVICES];
    for (uint32_t k = 0; k < devices && !gpu->ranks; k++)
        numbers[k] = (int)k;
    enum status status = make_streams(library, gpu, devices, err);
    if (!status)
        status = gpu->ranks ? init_rank(library, gpu, err)
                            : TRY(library, err, init_all, library->comms, (int)devices, numbers);
    if (status)
        forget(library, gpu);
    else
        library->devices = devices;
    return gpu_come_back(gpu, status, err);
}

/* ---- a library ---- */

void collectives_close(struct gpu *gpu)
{
    if (gpu->collectives)
        forget(gpu->collectives, gpu);
    free(gpu->collectives);
    gpu->collectives = NULL;
}

enum status collectives_load(bool *is_known, struct device_module **module, struct gpu *gpu, const char *name,
                             struct err *err)
{
    const struct known *row = NULL;
    for (size_t k = 0; k < COUNT_OF(known) && !row; k++)
        if (!strcmp(known[k].place.name, name) && !strcmp(known[k].backend, gpu->device.ops->name))
            row = &known[k];
    *is_known = row != NULL;
    if (!row)
        return STATUS_OK;
    if (!gpu->collectives) {
        struct gpu_collectives *library = new_zeroed(1, sizeof(*library));
        int version = 0;
        library->ranks = gpu->ranks != NULL;
        if (library_open_named(&library->file, &library->api, &row->place, err) ||
            TRY(library, err, version, &version)) {
            free(library);
            return err->status;
        }
        SET_TEXT(library->file.says, "%s %d.%d.%d, %s", row->place.name, version / 10000, version / 100 % 100,
                 version % 100, library->file.path);
        gpu->collectives = library;
    }
    *module = new_zeroed(1, sizeof(**module));
    (*module)->collectives = gpu->collectives;
    return STATUS_OK;
}

/* ---- functions ---- */

/* The share of device `k`; a group merges the calls of all devices into one. */
struct part {
    const struct gpu_collectives *library;
    const struct library_collective *args;
    uint32_t k;
    uint64_t bytes; /* bytes of `count` elements */
    int type, op;
    const uint8_t *in; /* in place: that of the result */
    uint8_t *out;
    uint64_t own_bytes; /* in place: where its share begins, else 0 */
    void *comm;
    struct gpu_stream *stream;
};

static enum status all_reduce(const struct part *p, struct err *err)
{
    return TRY(p->library, err, all_reduce, p->in, p->out, p->args->count, p->type, p->op, p->comm, p->stream);
}

static enum status all_gather(const struct part *p, struct err *err)
{
    return TRY(p->library, err, all_gather, p->in + p->own_bytes, p->out, p->args->count, p->type, p->comm, p->stream);
}

static enum status reduce_scatter(const struct part *p, struct err *err)
{
    return TRY(p->library, err, reduce_scatter, p->in, p->out + p->own_bytes, p->args->count, p->type, p->op, p->comm,
               p->stream);
}

static enum status broadcast(const struct part *p, struct err *err)
{
    return TRY(p->library, err, broadcast, p->in, p->out, p->args->count, p->type, (int)p->args->root, p->comm,
               p->stream);
}

/* Sends a share to one device and receives that share of another's. */
static enum status exchange(const struct part *p, uint32_t share, uint32_t to, uint32_t from, struct err *err)
{
    const uint64_t at = share * p->bytes;
    const enum status status =
        TRY(p->library, err, send, p->in + at, p->args->count, p->type, (int)to, p->comm, p->stream);
    return status ? status
                  : TRY(p->library, err, recv, p->out + at, p->args->count, p->type, (int)from, p->comm, p->stream);
}

static enum status all_to_all(const struct part *p, struct err *err)
{
    enum status status = STATUS_OK;
    for (uint32_t k = 0; k < p->args->devices && !status; k++)
        status = exchange(p, k, k, k, err);
    return status;
}

static enum status send_recv(const struct part *p, struct err *err)
{
    const uint32_t devices = p->args->devices;
    return exchange(p, 0, (p->k + 1) % devices, (p->k + devices - 1) % devices, err);
}

static const struct {
    const char *name;
    enum status (*call)(const struct part *part, struct err *err);
} functions[] = {{"all_reduce", all_reduce}, {"all_gather", all_gather}, {"reduce_scatter", reduce_scatter},
                 {"broadcast", broadcast},   {"all_to_all", all_to_all}, {"send_recv", send_recv}};

enum status collectives_kernel(const struct device_kernel **kernel, struct kernel_info *info,
                               struct device_module *module, const char *symbol, struct err *err)
{
    for (unsigned function = 0; function < COUNT_OF(functions); function++)
        for (unsigned type = 0; type < COUNT_OF(types); type++) {
            char name[48];
            snprintf(name, sizeof(name), "%s_%s", functions[function].name, types[type].name);
            if (strcmp(name, symbol) != 0)
                continue;
            library_describe_collective(info, &module->collectives->file);
            info->ranks = module->collectives->ranks;
            *kernel = gpu_add_kernel(module, (struct device_kernel){.in = type, .out = function});
            return STATUS_OK;
        }
    return err_set(err, ERR_DEVICE, "no function '%s' of %s: they are called all_reduce_f32, send_recv_bf16, ...",
                   symbol, module->collectives->file.says);
}

/* The group is ended in every case; otherwise the library waits for its end forever. */
static enum status call_all(const struct gpu_collectives *library, const struct gpu *gpu,
                            const struct device_kernel *kernel, const struct library_collective *args,
                            struct gpu_stream *stream, struct err *err)
{
    struct err ignored = {0};
    enum status status = TRY(library, err, group_start);
    if (status)
        return status;
    for (uint32_t k = 0; k < members(gpu, args->devices) && !status; k++) {
        const uint32_t rank = gpu->ranks ? gpu->ranks->rank : k;
        const uint64_t bytes = args->count * types[kernel->in].bytes;
        const struct part part = {
            .library = library,
            .args = args,
            .k = rank,
            .bytes = bytes,
            .own_bytes = args->in_place ? rank * bytes : 0,
            .type = types[kernel->in].number,
            .op = reductions[args->reduction < COUNT_OF(reductions) ? args->reduction : LIBRARY_SUM],
            .in = args->in_place ? args->out[k] : args->in[k],
            .out = args->out[k],
            .comm = library->comms[k],
            .stream = k ? library->streams[k] : stream,
        };
        status = functions[kernel->out].call(&part, err);
    }
    const enum status ended = TRY(library, status ? &ignored : err, group_end);
    return status ? status : ended;
}

enum status collectives_launch(struct gpu *gpu, const struct device_kernel *kernel, void *const *args,
                               struct gpu_stream *stream, struct err *err)
{
    struct gpu_collectives *library = kernel->module->collectives;
    struct library_collective collective;
    library_read_collective(&collective, args);
    const uint32_t count = members(gpu, collective.devices);
    enum status status = connect(library, gpu, collective.devices, err);
    if (!status && count > 1)
        status = GPU_TRY(gpu, err, event_record, library->done[0], stream);
    for (uint32_t k = 1; k < count && !status; k++)
        status = GPU_TRY(gpu, err, stream_wait, library->streams[k], library->done[0], 0);
    if (!status)
        status = call_all(library, gpu, kernel, &collective, stream, err);
    for (uint32_t k = 1; k < count && !status; k++) {
        status = GPU_TRY(gpu, err, event_record, library->done[k], library->streams[k]);
        if (!status)
            status = GPU_TRY(gpu, err, stream_wait, stream, library->done[k], 0);
    }
    return status;
}

/* ---- agreement ---- */

enum { MOST_VALUES = 8, NCCL_F64 = 8, NCCL_MAX = 2 };

enum status collectives_agree(struct device *device, double *values, uint32_t count, struct err *err)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_collectives *library = gpu->collectives;
    const uint64_t size = count * sizeof(*values);
    if (!library || !gpu->ranks || count > MOST_VALUES)
        return err_set(err, ERR_UNSUPPORTED, "no library is loaded by which processes agree");
    enum status status = connect(library, gpu, gpu->ranks->world, err);
    if (!status && !library->agreed)
        status = gpu_alloc(&library->agreed, device, MOST_VALUES * sizeof(*values), SPACE_DEVICE, err);
    if (!status)
        status = device->ops->write(device, library->agreed, values, size, err);
    if (!status)
        status = TRY(library, err, all_reduce, library->agreed, library->agreed, count, NCCL_F64, NCCL_MAX,
                     library->comms[0], NULL);
    if (!status)
        status = gpu_wait(device, err);
    return status ? status : device->ops->read(device, values, library->agreed, size, err);
}
