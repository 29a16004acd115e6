/* SPDX-License-Identifier: MIT
 *
 * A librccl and a libnccl of host memory, for tests: collectives that are computed for true, when the group ends in
 * which every rank called, in one process or, through memory that they share, in as many as there are ranks. Who waits
 * for a rank that does not call waits for ever. What it is told through the environment:
 *
 *   FAKE_CCL_FAIL=function:nth:code  the nth call of the function in a process returns that code
 *   FAKE_CCL_WRONG=1                 the last element of the last rank's output is one too many, of more than 64 bytes
 *   FAKE_CCL_TIME=file               each collective notes itself there: "all_reduce ranks bytes"
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_ccl.h"

enum { MAX_RANKS = 64, MAX_CALLS = 8192, SLOT_CALLS = 64, SLOT_BYTES = 1 << 22 };
enum { SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum kind { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, SEND, RECV };

struct shared;
struct comm {
    int rank, ranks;
    struct shared *shared; /* NULL: all ranks are in this process */
};
struct call {
    enum kind kind;
    const uint8_t *in;
    uint8_t *out;
    size_t count;
    int type, op, peer; /* or the root */
    const struct comm *comm;
    int done;
};

/* What a rank puts in: its calls, whose inputs lie one behind the other. */
struct slot {
    int count;
    struct call calls[SLOT_CALLS];
    uint8_t data[SLOT_BYTES];
};
struct shared {
    _Atomic int arrived, round;
    struct slot slots[MAX_RANKS];
};
struct collectives_id {
    char bytes[128];
};

static struct fake_ccl_state state;
static struct call calls[MAX_CALLS];
static int call_count, depth;

struct fake_ccl_state *fake_ccl_state(void)
{
    return &state;
}

#define FAKE_FAIL_VARIABLE "FAKE_CCL_FAIL"
#include "fake_fail.h"

/* ---- elements, by the numbers of ncclDataType_t ---- */

static size_t bytes_of(int type)
{
    static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return bytes[type];
}

static double load(const uint8_t *base, int type, size_t i)
{
    uint32_t bits;
    float wide;
    switch (type) {
    case 0:
        return ((const int8_t *)base)[i];
    case 2:
        return ((const int32_t *)(const void *)base)[i];
    case 6:
        return (double)((const _Float16 *)(const void *)base)[i];
    case 7:
        return (double)((const float *)(const void *)base)[i];
    case 8:
        return ((const double *)(const void *)base)[i];
    default: /* bf16 */
        bits = (uint32_t)((const uint16_t *)(const void *)base)[i] << 16;
        memcpy(&wide, &bits, sizeof(wide));
        return (double)wide;
    }
}

static void store(uint8_t *base, int type, size_t i, double value)
{
    const float wide = (float)value;
    uint32_t bits;
    memcpy(&bits, &wide, sizeof(bits));
    switch (type) {
    case 0:
        ((int8_t *)base)[i] = (int8_t)value;
        break;
    case 2:
        ((int32_t *)(void *)base)[i] = (int32_t)value;
        break;
    case 6:
        ((_Float16 *)(void *)base)[i] = (_Float16)value;
        break;
    case 7:
        ((float *)(void *)base)[i] = wide;
        break;
    case 8:
        ((double *)(void *)base)[i] = value;
        break;
    default:
        ((uint16_t *)(void *)base)[i] = (uint16_t)(bits >> 16); /* whole numbers below 256 are exact */
    }
}

/* ---- what a group does ---- */

static const struct call *of_rank(enum kind kind, int rank)
{
    for (int k = 0; k < call_count; k++)
        if (calls[k].kind == kind && calls[k].comm->rank == rank)
            return &calls[k];
    return NULL;
}

/* Elements from `first` on of all ranks' inputs in one. */
static void reduce(uint8_t *to, const struct call *call, size_t first)
{
    const uint8_t *in[MAX_RANKS];
    for (int rank = 0; rank < call->comm->ranks; rank++)
        in[rank] = of_rank(call->kind, rank)->in;
    for (size_t i = 0; i < call->count; i++) {
        double total = load(in[0], call->type, first + i);
        for (int rank = 1; rank < call->comm->ranks; rank++) {
            const double value = load(in[rank], call->type, first + i);
            total = call->op == 0 ? total + value : value > total ? value : total;
        }
        store(to, call->type, i, total);
    }
}

/* Outputs may be inputs of others: all are computed before any is written. */
static void collect(uint8_t *to, const struct call *call)
{
    const size_t bytes = bytes_of(call->type);
    const int ranks = call->comm->ranks;
    switch (call->kind) {
    case ALL_REDUCE:
        reduce(to, call, 0);
        break;
    case REDUCE_SCATTER:
        reduce(to, call, (size_t)call->comm->rank * call->count);
        break;
    case ALL_GATHER:
        for (int rank = 0; rank < ranks; rank++)
            memcpy(to + (size_t)rank * call->count * bytes, of_rank(ALL_GATHER, rank)->in, call->count * bytes);
        break;
    case BROADCAST:
        memcpy(to, of_rank(BROADCAST, call->peer)->in, call->count * bytes);
        break;
    case SEND:
    case RECV:
        break;
    }
}

static size_t output_bytes(const struct call *call)
{
    return call->count * bytes_of(call->type) * (call->kind == ALL_GATHER ? (size_t)call->comm->ranks : 1);
}

static int run_collective(const struct call *first)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast"};
    const int ranks = first->comm->ranks;
    uint8_t *outputs[MAX_RANKS];
    const char *notes = getenv("FAKE_CCL_TIME");
    FILE *file = notes ? fopen(notes, "a") : NULL;
    for (int rank = 0; rank < ranks; rank++)
        if (!of_rank(first->kind, rank))
            return INVALID_USAGE; /* a real one waits for ever */
    for (int rank = 0; rank < ranks; rank++) {
        const struct call *call = of_rank(first->kind, rank);
        if (!call->out)
            continue; /* of another process */
        outputs[rank] = malloc(output_bytes(call) + 1);
        collect(outputs[rank], call);
    }
    for (int rank = 0; rank < ranks; rank++) {
        const struct call *call = of_rank(first->kind, rank);
        if (!call->out)
            continue;
        memcpy(call->out, outputs[rank], output_bytes(call));
        if (rank == ranks - 1 && output_bytes(call) > 64 && getenv("FAKE_CCL_WRONG")) {
            const size_t last = output_bytes(call) / bytes_of(call->type) - 1;
            store(call->out, call->type, last, load(call->out, call->type, last) + 1);
        }
        free(outputs[rank]);
    }
    state.collectives++;
    if (file) {
        fprintf(file, "%s %d %zu\n", names[first->kind], ranks, output_bytes(first));
        fclose(file);
    }
    return 0;
}

static int exchange(void)
{
    for (int k = 0; k < call_count; k++) {
        if (calls[k].kind != SEND)
            continue;
        int to = 0;
        while (to < call_count && (calls[to].kind != RECV || calls[to].done || calls[to].comm->rank != calls[k].peer ||
                                   calls[to].peer != calls[k].comm->rank))
            to++;
        if (to == call_count || calls[to].count != calls[k].count || calls[to].type != calls[k].type)
            return INVALID_USAGE;
        if (calls[to].out)
            memcpy(calls[to].out, calls[k].in, calls[k].count * bytes_of(calls[k].type));
        calls[to].done = 1;
    }
    state.collectives++;
    return 0;
}

/* Until all are here. */
static void meet(const struct comm *comm)
{
    struct shared *shared = comm->shared;
    const int round = atomic_load(&shared->round);
    if (atomic_fetch_add(&shared->arrived, 1) + 1 == comm->ranks) {
        atomic_store(&shared->arrived, 0);
        atomic_store(&shared->round, round + 1);
    }
    while (atomic_load(&shared->round) == round)
        usleep(50);
}

static size_t input_bytes(const struct call *call)
{
    const size_t parts = call->kind == REDUCE_SCATTER ? (size_t)call->comm->ranks : 1;
    return call->in ? parts * call->count * bytes_of(call->type) : 0;
}

static int put_calls(struct slot *own)
{
    size_t used = 0;
    for (int k = 0; k < call_count; k++) {
        const size_t bytes = input_bytes(&calls[k]);
        if (call_count > SLOT_CALLS || used + bytes > SLOT_BYTES)
            return SYSTEM_ERROR;
        own->calls[k] = calls[k];
        memcpy(own->data + used, calls[k].in ? calls[k].in : own->data, bytes);
        used += bytes;
    }
    own->count = call_count;
    return 0;
}

/* Those of all other ranks, without outputs. */
static void add_calls(const struct comm *own)
{
    static struct comm comms[MAX_RANKS];
    for (int rank = 0; rank < own->ranks; rank++) {
        struct slot *slot = &own->shared->slots[rank];
        size_t used = 0;
        comms[rank] = (struct comm){rank, own->ranks, NULL};
        for (int k = 0; k < slot->count && rank != own->rank; k++) {
            struct call *call = &calls[call_count++];
            *call = slot->calls[k];
            call->comm = &comms[rank];
            call->out = NULL;
            call->in = call->in ? slot->data + used : NULL;
            used += input_bytes(call);
        }
    }
}

static int run_group(void)
{
    const struct comm *comm = call_count ? calls[0].comm : NULL;
    const int is_shared = comm && comm->shared;
    int code = is_shared ? put_calls(&comm->shared->slots[comm->rank]) : 0;
    if (is_shared && !code) {
        meet(comm);
        add_calls(comm);
    }
    if (comm && !code)
        code = calls[0].kind == SEND || calls[0].kind == RECV ? exchange() : run_collective(&calls[0]);
    call_count = 0;
    if (is_shared)
        meet(comm); /* nobody's input changes before all have seen it */
    return code;
}

static int add(struct call call)
{
    if (!call.comm || call.type < 0 || call.type > 9 || call_count == MAX_CALLS)
        return INVALID_ARGUMENT;
    calls[call_count++] = call;
    return depth ? 0 : run_group();
}

/* ---- the interface ---- */

int ncclGetVersion(int *version);
const char *ncclGetErrorString(int code);
int ncclCommInitAll(void **comms, int count, const int *devices);
int ncclGetUniqueId(struct collectives_id *id);
int ncclCommInitRank(void **comm, int count, struct collectives_id id, int rank);
int ncclCommDestroy(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream);
int ncclAllGather(const void *in, void *out, size_t count, int type, void *comm, void *stream);
int ncclReduceScatter(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream);
int ncclBroadcast(const void *in, void *out, size_t count, int type, int root, void *comm, void *stream);
int ncclSend(const void *from, size_t count, int type, int to, void *comm, void *stream);
int ncclRecv(void *to, size_t count, int type, int from, void *comm, void *stream);

int ncclGetVersion(int *version)
{
    MAY_FAIL();
    *version = 22304;
    return 0;
}

const char *ncclGetErrorString(int code)
{
    return code == INVALID_ARGUMENT ? "invalid argument" : code == INVALID_USAGE ? "invalid usage" : "unhandled error";
}

int ncclCommInitAll(void **comms, int count, const int *devices)
{
    MAY_FAIL();
    if (count < 1 || count > MAX_RANKS)
        return INVALID_ARGUMENT;
    for (int rank = 0; rank < count; rank++) {
        struct comm *comm = malloc(sizeof(*comm));
        *comm = (struct comm){rank, count, NULL};
        state.devices[rank] = devices[rank];
        comms[rank] = comm;
        state.live++;
    }
    return 0;
}

int ncclGetUniqueId(struct collectives_id *id)
{
    MAY_FAIL();
    snprintf(id->bytes, sizeof(id->bytes), "%.100s/fake-ccl-XXXXXX", getenv("HOME")); /* a test's own folder */
    const int file = mkstemp(id->bytes);
    const int bad = file < 0 || ftruncate(file, sizeof(struct shared));
    close(file);
    return bad ? SYSTEM_ERROR : 0;
}

int ncclCommInitRank(void **out, int count, struct collectives_id id, int rank)
{
    MAY_FAIL();
    const int file = open(id.bytes, O_RDWR | O_CLOEXEC);
    struct shared *shared =
        file < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED || count > MAX_RANKS)
        return SYSTEM_ERROR;
    struct comm *comm = malloc(sizeof(*comm));
    *comm = (struct comm){rank, count, shared};
    meet(comm);
    if (!rank)
        unlink(id.bytes);
    *out = comm;
    state.live++;
    return 0;
}

int ncclCommDestroy(void *comm)
{
    if (((struct comm *)comm)->shared)
        munmap(((struct comm *)comm)->shared, sizeof(struct shared));
    state.live--;
    free(comm);
    return 0;
}

int ncclGroupStart(void)
{
    MAY_FAIL();
    depth++;
    return 0;
}

int ncclGroupEnd(void)
{
    const int failing = told_to_fail(__func__);
    depth--;
    if (failing) {
        call_count = 0;
        return failing;
    }
    return depth ? 0 : run_group();
}

int ncclAllReduce(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return add((struct call){ALL_REDUCE, in, out, count, type, op, 0, comm, 0});
}

int ncclAllGather(const void *in, void *out, size_t count, int type, void *comm, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return add((struct call){ALL_GATHER, in, out, count, type, 0, 0, comm, 0});
}

int ncclReduceScatter(const void *in, void *out, size_t count, int type, int op, void *comm, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return add((struct call){REDUCE_SCATTER, in, out, count, type, op, 0, comm, 0});
}

int ncclBroadcast(const void *in, void *out, size_t count, int type, int root, void *comm, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return add((struct call){BROADCAST, in, out, count, type, 0, root, comm, 0});
}

#ifndef FAKE_CCL_OLD
int ncclSend(const void *from, size_t count, int type, int to, void *comm, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return add((struct call){SEND, from, NULL, count, type, 0, to, comm, 0});
}

int ncclRecv(void *to, size_t count, int type, int from, void *comm, void *stream)
{
    MAY_FAIL();
    (void)stream;
    return add((struct call){RECV, NULL, to, count, type, 0, from, comm, 0});
}
#endif
