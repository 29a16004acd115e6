/* SPDX-License-Identifier: MIT
 *
 * What AMD's runtime answers to each of its functions, seen on libamdhip64 7.2.4, and what the stand-in must therefore
 * answer too. ROOFTILE_TEST_HIP names another library, and ROOFTILE_TEST_HIP_CODE a code object for its device, with
 * the kernels store and launch_empty of the stand-in.
 */
#include "gpu_rig.h"

enum { INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, INVALID_DIRECTION = 21, INVALID_IMAGE = 200, NO_BINARY = 209 };
enum { NO_FILE = 301, INVALID_HANDLE = 400, ILLEGAL_STATE = 401, NOT_READY = 600, NO_CAPTURE = 900 };
enum { CAPTURE_INVALIDATED = 901, CAPTURE_IMPLICIT = 906, BYTES = 4096 };

static struct gpu_calls api;
static struct gpu_code *code;
static struct gpu_function *store, *empty;
static struct gpu_stream *stream;
static void *to, *from;
static char host[2 * BYTES], folder[] = "/tmp/rooftile-hip-XXXXXX";

static void is(gpu_error want, gpu_error got, const char *call, int line)
{
    if (want != got)
        fail_msg("line %d: %s is %u, not %u", line, call, got, want);
}
#define IS(want, ...) is((want), (__VA_ARGS__), #__VA_ARGS__, __LINE__)
#define WORKS(...) IS(GPU_SUCCESS, __VA_ARGS__)

/* Writes a code object with these flags, which name its target: the beginning of this file, or an empty one's. */
static const char *write_code(const char *name, const char *like, unsigned char flags)
{
    static char path[64];
    static unsigned char bytes[1 << 16] = "\177ELF\2\1\1@";
    size_t size = 64;
    FILE *file = like ? fopen(like, "rb") : NULL;
    bytes[18] = 224;
    if (file) {
        size = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
    }
    bytes[48] = flags;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static int set_up(void **state)
{
    const char *library = getenv("ROOFTILE_TEST_HIP"), *object = getenv("ROOFTILE_TEST_HIP_CODE");
    struct gpu *gpu = gpu_new(&hip_vendor);
    struct err err = {0};
    (void)state;
    use_fake(&hip_rig, hip_rig.full);
    if (library)
        setenv(hip_vendor.place.variable, library, 1);
    assert_non_null(mkdtemp(folder));
    if (gpu_find_library(gpu, &err))
        fail_msg("%s", err.text);
    api = gpu->api;
    free(gpu);
    WORKS(api.init(0));
    WORKS(api.hipSetDevice(0));
    WORKS(api.alloc(&to, BYTES));
    WORKS(api.alloc(&from, BYTES));
    WORKS(api.stream_make(&stream, GPU_STREAM_NON_BLOCKING));
    WORKS(api.hipModuleLoad(&code, object ? object : write_code("gfx942", NULL, 0x4c)));
    WORKS(api.find(&store, code, "store"));
    WORKS(api.find(&empty, code, "launch_empty"));
    return 0;
}

static void devices(void **state)
{
    char name[256];
    int value = 0;
    (void)state;
    IS(GPU_INVALID_DEVICE, api.hipSetDevice(-1));
    IS(GPU_INVALID_DEVICE, api.hipSetDevice(99));
    IS(GPU_INVALID_DEVICE, api.name(name, sizeof(name), 99));
    IS(GPU_INVALID_DEVICE, api.attribute(&value, 87, 99));
    IS(GPU_INVALID_DEVICE, api.attribute(&value, 87, -1));
    IS(INVALID_VALUE, api.attribute(&value, 123456, 0));
    IS(INVALID_VALUE, api.pci_bus_id(name, 5, 0));
    WORKS(api.can_reach(&value, 0, 0));
    assert_int_equal(value, 0);
    IS(GPU_INVALID_DEVICE, api.can_reach(&value, 0, 99));
    IS(GPU_INVALID_DEVICE, api.hipDeviceEnablePeerAccess(0, 0));
    IS(INVALID_VALUE, api.hipDeviceEnablePeerAccess(0, 1));
}

static void memory(void **state)
{
    void *made = NULL;
    (void)state;
    IS(GPU_OUT_OF_MEMORY, api.alloc(&made, (size_t)1 << 60));
    IS(GPU_OUT_OF_MEMORY, api.host_alloc(&made, (size_t)1 << 60, 0));
    IS(INVALID_VALUE, api.managed_alloc(&made, 0, 1));
    IS(INVALID_VALUE, api.managed_alloc(&made, 64, 3));
    IS(INVALID_VALUE, api.hipExtMallocWithFlags(&made, 64, 64));
    IS(INVALID_VALUE, api.host_alloc(&made, 64, 0xc0000000));
    IS(INVALID_VALUE, api.free(host));
    WORKS(api.free(NULL));
    WORKS(api.hipMemcpy(to, host, BYTES, HIP_MEMCPY_DEFAULT));
    WORKS(api.hipMemcpy(to, host, 0, HIP_MEMCPY_DEFAULT));
    IS(INVALID_VALUE, api.hipMemcpy(to, host, 2 * BYTES, HIP_MEMCPY_DEFAULT));
    IS(INVALID_VALUE, api.hipMemcpy(NULL, host, 16, HIP_MEMCPY_DEFAULT));
    IS(INVALID_VALUE, api.hipMemcpy(to, NULL, 16, HIP_MEMCPY_DEFAULT));
    IS(INVALID_DIRECTION, api.hipMemcpy(to, host, 16, 99));
    IS(INVALID_VALUE, api.hipMemcpyAsync(to, host, 2 * BYTES, HIP_MEMCPY_DEFAULT, stream));
    IS(INVALID_DIRECTION, api.hipMemcpyAsync(to, host, 16, 99, stream));
    WORKS(api.fill(to, 1, BYTES, stream));
    WORKS(api.fill(to, 1, 0, stream));
    IS(INVALID_VALUE, api.fill(to, 1, 2 * BYTES, stream));
    IS(INVALID_VALUE, api.fill(host, 1, 16, stream)); /* no memory of the library's */
    WORKS(api.wait());
}

static void modules(void **state)
{
    struct gpu_function *found = NULL;
    struct gpu_code *loaded = NULL;
    (void)state;
    IS(NO_FILE, api.hipModuleLoad(&loaded, "/nonexistent"));
    IS(INVALID_IMAGE, api.hipModuleLoad(&loaded, "/dev/null"));
    IS(INVALID_IMAGE, api.hipModuleLoad(&loaded, "/etc/passwd"));
    IS(INVALID_VALUE, api.hipModuleLoad(&loaded, ""));
    IS(INVALID_VALUE, api.hipModuleLoad(&loaded, folder));
    IS(NO_BINARY, api.hipModuleLoad(&loaded, write_code("gfx1100", getenv("ROOFTILE_TEST_HIP_CODE"), 0x41)));
    IS(GPU_NOT_FOUND, api.find(&found, code, "nothing"));
    IS(INVALID_VALUE, api.find(&found, code, ""));
    IS(INVALID_HANDLE, api.find(&found, NULL, "store"));
    IS(INVALID_HANDLE, api.unload(NULL));
}

static void launches(void **state)
{
    uint32_t value = 7;
    void *args[] = {&to, &value};
    static const struct {
        gpu_error answer;
        uint32_t grid[3], block[3], lds_bytes;
    } shapes[] = {
        {GPU_SUCCESS, {1, 1, 1}, {64, 1, 1}, 65536},
        {INVALID_VALUE, {1, 1, 1}, {64, 1, 1}, 65537},
        {INVALID_VALUE, {0, 1, 1}, {64, 1, 1}, 0},
        {INVALID_VALUE, {1, 1, 1}, {64, 1, 0}, 0},
        {INVALID_VALUE, {1, 1, 1}, {2048, 1, 1}, 0},
        {INVALID_VALUE, {1, 1, 1}, {64, 64, 1}, 0},
        {INVALID_VALUE, {1, 65537, 1}, {64, 1, 1}, 0},
        {INVALID_VALUE, {1u << 26, 1, 1}, {64, 1, 1}, 0}, /* 2^32 work-items */
        {INVALID_VALUE, {1u << 31, 1, 1}, {64, 1, 1}, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const uint32_t *grid = shapes[i].grid, *block = shapes[i].block;
        IS(shapes[i].answer, api.launch(store, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                        shapes[i].lds_bytes, stream, args, NULL));
    }
    IS(INVALID_HANDLE, api.launch(NULL, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
    IS(INVALID_VALUE, api.launch(store, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    IS(INVALID_VALUE, api.launch(store, 1, 1, 1, 64, 1, 1, 0, stream, args, args));
    WORKS(api.launch_together(empty, 1, 1, 1, 64, 1, 1, 0, stream, args));
    IS(GPU_COOPERATIVE_LAUNCH_TOO_LARGE, api.launch_together(empty, 1u << 20, 1, 1, 64, 1, 1, 0, stream, args));
    IS(INVALID_VALUE, api.launch_together(empty, 0, 1, 1, 64, 1, 1, 0, stream, args));
    WORKS(api.wait());
}

static void launches_with_events(void **state)
{
    uint32_t value = 7;
    void *args[] = {&to, &value};
    struct gpu_event *one = NULL, *other = NULL;
    static const struct {
        gpu_error answer;
        uint32_t work, block;
    } shapes[] = {{GPU_SUCCESS, 64, 64},
                  {INVALID_VALUE, 65, 64},
                  {INVALID_CONFIGURATION, 0, 64},
                  {INVALID_CONFIGURATION, 64, 0},
                  {INVALID_CONFIGURATION, 2048, 2048}};
    (void)state;
    WORKS(api.event_make(&one, 0));
    WORKS(api.event_make(&other, 0));
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        IS(shapes[i].answer, api.hipExtModuleLaunchKernel(store, shapes[i].work, 1, 1, shapes[i].block, 1, 1, 0, stream,
                                                          args, NULL, one, other, 0));
    WORKS(api.wait());
    WORKS(api.event_free(one));
    WORKS(api.event_free(other));
}

static void events(void **state)
{
    uint32_t value = 7;
    void *args[] = {&to, &value};
    struct gpu_event *one = NULL, *other = NULL;
    struct gpu_stream *made = NULL;
    float time_ms = -1;
    (void)state;
    IS(INVALID_VALUE, api.stream_make(&made, 99));
    IS(INVALID_HANDLE, api.stream_free(NULL));
    IS(INVALID_VALUE, api.event_make(&one, 0x1000));
    IS(INVALID_HANDLE, api.event_free(NULL));
    WORKS(api.event_make(&one, 0));
    WORKS(api.event_make(&other, 0));
    IS(INVALID_HANDLE, api.event_elapsed(&time_ms, one, other)); /* neither was recorded */
    WORKS(api.stream_wait(stream, one, 0));                      /* ... which is nothing to wait for */
    IS(INVALID_VALUE, api.stream_wait(stream, one, 7));
    IS(INVALID_HANDLE, api.stream_wait(stream, NULL, 0));
    IS(INVALID_HANDLE, api.event_record(NULL, stream));
    WORKS(api.event_record(one, stream));
    IS(INVALID_HANDLE, api.event_elapsed(&time_ms, one, other));
    WORKS(api.launch(store, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
    WORKS(api.event_record(other, stream));
    IS(NOT_READY, api.event_elapsed(&time_ms, one, other)); /* nobody waited for them yet */
    WORKS(api.wait());
    WORKS(api.event_elapsed(&time_ms, one, other));
    assert_true(time_ms >= 0);
    IS(INVALID_HANDLE, api.event_elapsed(&time_ms, NULL, other));
    WORKS(api.event_free(one));
    WORKS(api.event_free(other));
}

static void graphs(void **state)
{
    uint32_t value = 7;
    void *args[] = {&to, &value}, *made = NULL;
    struct gpu_captured *graph = NULL;
    struct gpu_instance *instance = NULL;
    (void)state;
    IS(NO_CAPTURE, api.capture_begin(NULL, GPU_CAPTURE_THREAD_LOCAL));
    IS(INVALID_VALUE, api.capture_begin(stream, 99));
    IS(ILLEGAL_STATE, api.capture_end(stream, &graph));
    WORKS(api.capture_begin(stream, GPU_CAPTURE_THREAD_LOCAL));
    IS(ILLEGAL_STATE, api.capture_begin(stream, GPU_CAPTURE_THREAD_LOCAL));
    WORKS(api.launch(store, 1, 1, 1, 64, 1, 1, 0, stream, args, NULL));
    WORKS(api.capture_end(stream, &graph));
    IS(INVALID_VALUE, api.instance_make(&instance, NULL, 0));
    WORKS(api.instance_make(&instance, graph, 0));
    WORKS(api.instance_launch(instance, stream));
    IS(INVALID_VALUE, api.instance_launch(NULL, stream));
    WORKS(api.wait());
    WORKS(api.instance_free(instance));
    IS(INVALID_VALUE, api.instance_free(NULL));
    WORKS(api.captured_free(graph));
    IS(INVALID_VALUE, api.captured_free(NULL));
    /* What ends a capture, whoever asks for it. */
    WORKS(api.capture_begin(stream, GPU_CAPTURE_THREAD_LOCAL));
    IS(NO_CAPTURE, api.wait());
    IS(NO_CAPTURE, api.alloc(&made, 64));
    IS(CAPTURE_IMPLICIT, api.hipMemcpy(to, host, 64, HIP_MEMCPY_DEFAULT));
    IS(CAPTURE_INVALIDATED, api.capture_end(stream, &graph));
    WORKS(api.wait());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices),
        cmocka_unit_test(memory),
        cmocka_unit_test(modules),
        cmocka_unit_test(launches),
        cmocka_unit_test(launches_with_events),
        cmocka_unit_test(events),
        cmocka_unit_test(graphs),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
