/* SPDX-License-Identifier: MIT
 *
 * Collectives of four devices through stand-ins, whose memory is the host's.
 */
#include "../../../src/device/gpu_collectives.h"
#include "../../double/fake_ccl.h"
#include "gpu_rig.h"

enum { DEVICES = 4, COUNT = 5, MOST = DEVICES * COUNT };

struct ring {
    struct device *device;
    struct device_module *module;
    float *in[DEVICES], *out[DEVICES];
};

static const char *name_of(const struct gpu_rig *rig)
{
    return rig == &hip_rig ? "rccl" : "nccl";
}

static struct fake_ccl_state *fake_ccl(void)
{
    struct fake_ccl_state *(*get)(void);
    void *handle = dlopen(fake_path("fake_ccl"), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    void *address = dlsym(handle, "fake_ccl_state");
    memcpy(&get, &address, sizeof(get));
    *get() = (struct fake_ccl_state){.live = get()->live};
    return get();
}

static void open_ring(struct ring *ring, const struct gpu_rig *rig, int index)
{
    struct device_info info;
    struct err err = {0};
    use_fake(rig, rig->full);
    tell_fake(rig, "DEVICES", "4");
    setenv(rig == &hip_rig ? "ROOFTILE_RCCL" : "ROOFTILE_NCCL", fake_path("fake_ccl"), 1);
    unsetenv("FAKE_CCL_FAIL");
    *ring = (struct ring){.device = open_numbered(rig, index, &info)};
    for (uint32_t k = 0; k < DEVICES; k++) {
        void *in = NULL, *out = NULL;
        if (rig->ops->alloc_peer(&in, ring->device, MOST * sizeof(float), k, &err) ||
            rig->ops->alloc_peer(&out, ring->device, MOST * sizeof(float), k, &err))
            fail_msg("%s", err.text);
        ring->in[k] = in;
        ring->out[k] = out;
        for (int i = 0; i < MOST; i++) {
            ring->in[k][i] = (float)(100 * k + (uint32_t)i);
            ring->out[k][i] = -1;
        }
    }
}

static void close_ring(struct ring *ring)
{
    if (ring->module)
        ring->device->ops->unload(ring->device, ring->module);
    ring->device->ops->close(ring->device);
    assert_int_equal(fake_ccl()->live, 0);
}

static enum status start(struct ring *ring, const struct gpu_rig *rig, const char *function, uint32_t reduction,
                         uint32_t in_place, struct err *err)
{
    void **out = (void **)ring->out;
    const void **in = (const void **)(void *)ring->in;
    uint64_t count = COUNT;
    uint32_t devices = DEVICES, root = 2;
    void *args[] = {&out, &in, &count, &devices, &root, &reduction, &in_place};
    struct kernel_info info;
    struct device_launch launch = {.args = args, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    enum status status =
        ring->module ? STATUS_OK : ring->device->ops->load_library(&ring->module, ring->device, name_of(rig), err);
    if (!status)
        status = ring->device->ops->kernel(&launch.kernel, &info, ring->device, ring->module, function, err);
    if (status)
        return status;
    assert_int_equal(info.arg_count, COUNT_OF(args));
    assert_true(info.args[0].is_pointer && !info.args[2].is_pointer);
    status = ring->device->ops->launch(ring->device, &launch, err);
    return status ? status : ring->device->ops->wait(ring->device, err);
}

/* Element i of device k's output: by what each collective is defined as. */
static float expected(const char *function, uint32_t k, int i)
{
    const int part = i / COUNT, j = i % COUNT, own = (int)k;
    const float sum = 4.0f * (float)i + 600; /* of 100 * device + i */
    if (text_starts(function, "all_reduce"))
        return part ? -1 : sum;
    if (text_starts(function, "reduce_scatter"))
        return part ? -1 : sum + (float)(4 * COUNT * k);
    if (text_starts(function, "all_gather"))
        return (float)(100 * part + j);
    if (text_starts(function, "broadcast"))
        return part ? -1 : (float)(200 + j);
    if (text_starts(function, "all_to_all"))
        return (float)(100 * part + own * COUNT + j);
    return part ? -1 : (float)(100 * ((own + DEVICES - 1) % DEVICES) + j); /* send_recv */
}

static const char *const functions[] = {"all_reduce_f32", "reduce_scatter_f32", "all_gather_f32",
                                        "broadcast_f32",  "all_to_all_f32",     "send_recv_f32"};

static void computes(void **state)
{
    const struct gpu_rig *rig = *state;
    for (size_t f = 0; f < COUNT_OF(functions); f++) {
        struct ring ring;
        struct err err = {0};
        open_ring(&ring, rig, 0);
        if (start(&ring, rig, functions[f], LIBRARY_SUM, 0, &err))
            fail_msg("%s: %s", functions[f], err.text);
        for (uint32_t k = 0; k < DEVICES; k++)
            for (int i = 0; i < MOST; i++)
                if (ring.out[k][i] != expected(functions[f], k, i))
                    fail_msg("%s: element %d of device %u is %g, not %g", functions[f], i, k, (double)ring.out[k][i],
                             (double)expected(functions[f], k, i));
        for (int k = 0; k < DEVICES; k++)
            assert_int_equal(fake_ccl()->devices[k],
                             0); /* forgotten by fake_ccl(); what counts is that all took part */
        close_ring(&ring);
    }
}

/* The maximum of what was there; all_gather's own share stays where it is. */
static void works_in_place(void **state)
{
    const struct gpu_rig *rig = *state;
    struct ring ring;
    struct err err = {0};
    open_ring(&ring, rig, 0);
    for (uint32_t k = 0; k < DEVICES; k++)
        memcpy(ring.out[k], ring.in[k], MOST * sizeof(float));
    assert_int_equal(start(&ring, rig, "all_gather_f32", LIBRARY_SUM, 1, &err), STATUS_OK);
    for (uint32_t k = 0; k < DEVICES; k++)
        for (int i = 0; i < MOST; i++)
            assert_true(ring.out[k][i] == (float)(100 * (i / COUNT) + i));
    assert_int_equal(start(&ring, rig, "reduce_scatter_f32", LIBRARY_MAX, 1, &err), STATUS_OK);
    assert_int_equal(start(&ring, rig, "all_reduce_f32", LIBRARY_MAX, 1, &err), STATUS_OK);
    assert_true(ring.out[1][0] == ring.out[3][0]);
    close_ring(&ring);
}

static void refuses(void **state)
{
    const struct gpu_rig *rig = *state;
    struct ring ring;
    struct err err = {0};
    open_ring(&ring, rig, 0);
    assert_int_equal(start(&ring, rig, "all_reduce_e4m3", LIBRARY_SUM, 0, &err), ERR_DEVICE);
    assert_non_null(strstr(err.text, "no function 'all_reduce_e4m3' of "));
    close_ring(&ring);
    open_ring(&ring, rig, 1); /* devices work together from number 0 */
    assert_int_equal(start(&ring, rig, "all_reduce_f32", LIBRARY_SUM, 0, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "the device has no collective of 4 devices: it is number 1 of 4"));
    close_ring(&ring);
    open_ring(&ring, rig, 0);
    setenv(rig == &hip_rig ? "ROOFTILE_RCCL" : "ROOFTILE_NCCL", "libm.so.6", 1);
    assert_int_equal(start(&ring, rig, "all_reduce_f32", LIBRARY_SUM, 0, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "lacks all functions of "));
    close_ring(&ring);
    open_ring(&ring, rig, 0);
    setenv(rig == &hip_rig ? "ROOFTILE_RCCL" : "ROOFTILE_NCCL", fake_path("fake_ccl_old"), 1);
    assert_int_equal(start(&ring, rig, "all_reduce_f32", LIBRARY_SUM, 0, &err), ERR_UNSUPPORTED);
    if (!strstr(err.text, "lacks ncclSend"))
        fail_msg("%s", err.text);
    close_ring(&ring);
}

/* Whatever fails is told by its name, leaves nothing behind, and does not keep the next one from working. */
static void passes_errors_on(void **state)
{
    static const char *const fails[] = {"ncclGetVersion", "ncclCommInitAll", "ncclGroupStart",    "ncclGroupEnd",
                                        "ncclAllReduce",  "ncclAllGather",   "ncclReduceScatter", "ncclBroadcast",
                                        "ncclSend",       "ncclRecv"};
    static const int calls[] = {0, 0, 0, 0, 0, 2, 1, 3, 4, 5}; /* the function that makes this call */
    const struct gpu_rig *rig = *state;
    for (size_t k = 0; k < COUNT_OF(fails); k++) {
        struct ring ring;
        struct err err = {0};
        char told[64];
        open_ring(&ring, rig, 0);
        fake_ccl();
        snprintf(told, sizeof(told), "%s:1:3", fails[k]);
        setenv("FAKE_CCL_FAIL", told, 1);
        if (start(&ring, rig, functions[calls[k]], LIBRARY_SUM, 0, &err) != ERR_DEVICE)
            fail_msg("%s: %s", fails[k], err.text);
        assert_non_null(strstr(err.text, fails[k]));
        unsetenv("FAKE_CCL_FAIL");
        if (start(&ring, rig, functions[calls[k]], LIBRARY_SUM, 0, &err))
            fail_msg("after %s: %s", fails[k], err.text);
        close_ring(&ring);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {ON_BOTH(computes), ON_BOTH(works_in_place), ON_BOTH(refuses),
                                       ON_BOTH(passes_errors_on)};
    clear_environment();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
