/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <unistd.h>

#include "build_internal.h"
#include "rooftile/clock.h"
#include "rooftile/codeobj.h"
#include "rooftile/file.h"

/* The interval for looking at the compilers, the stop flag and another process's lock; progress is shown less often. */
#define POLL_NS UINT64_C(2000000)
#define PROGRESS_EVERY 50
#define MAX_JOBS 256u

enum state { NOT_LOOKED_AT, WAITING, FOLLOWING, RUNNING, SETTLED };

/* A request in progress. */
struct work {
    struct build_unit unit;
    enum state state;
    size_t leader; /* FOLLOWING: an earlier one with an equal unit, whose result also applies to this one */
};

struct choice {
    const struct build_target *target;
    unsigned min_llvm;
    enum status status;
    const char *message;
    struct compiler compiler;
};

struct job {
    struct build_child child;
    size_t work;
};

struct build {
    const struct build_options *options;
    const struct build_request *requests;
    struct build_result *results;
    struct arena *arena;
    struct build_cache cache;
    char *scratch;
    const char *include_dir;
    size_t count;
    size_t done;
    struct choice *choices;
    size_t choice_count;
    struct work *works;   /* one per request */
    size_t first_waiting; /* no earlier work is waiting */
    struct job *jobs;
    size_t running;
    size_t job_limit;
    size_t started, waits;
};

static bool is_stopped(const struct build *build)
{
    return build->options->stop && *build->options->stop;
}

static void settle_request(struct build *build, size_t index, const struct build_result *result)
{
    build->works[index].state = SETTLED;
    build->results[index] = *result;
    build->done++;
    if (build->options->progress)
        build->options->progress(build->options->context, build->done, build->count, &build->requests[index],
                                 &build->results[index]);
}

/* Records the result of this request and of all that share its unit. */
static void settle(struct build *build, size_t index, struct build_result *result)
{
    result->command = argv_quote(&build->works[index].unit.command);
    settle_request(build, index, result);
    if (result->state == BUILD_COMPILED) {
        result->state = BUILD_CACHED;
        result->compile_ns = 0;
    }
    for (size_t k = index + 1; k < build->count; k++)
        if (build->works[k].state == FOLLOWING && build->works[k].leader == index)
            settle_request(build, k, result);
}

/* ---- requests become units ---- */

static bool same_target(const struct build_target *a, const struct build_target *b)
{
    return a->kind == b->kind && a->wave == b->wave && a->cumode == b->cumode && strcmp(a->arch, b->arch) == 0;
}

static const struct choice *choose_compiler(struct build *build, const struct build_request *request)
{
    for (size_t i = 0; i < build->choice_count; i++)
        if (build->choices[i].min_llvm == request->min_llvm && same_target(build->choices[i].target, &request->target))
            return &build->choices[i];
    struct err err = {0};
    struct choice *choice = &build->choices[build->choice_count++];
    choice->target = &request->target;
    choice->min_llvm = request->min_llvm;
    choice->status = compiler_find(&choice->compiler, build->options->compiler, &request->target, request->min_llvm,
                                   build->arena, &err);
    choice->message = choice->status ? arena_strdup(build->arena, err.text) : NULL;
    return choice;
}

/* If there is no compiler for its target, a unit gets its cache paths but no command. */
static enum status prepare(struct build *build, struct build_unit *unit, struct err *err)
{
    if (!build->include_dir && command_include_dir(&build->include_dir, build->options->include_dir, build->arena, err))
        return err->status;
    if (unit_locate(unit, build->include_dir, build->arena, err))
        return err->status;
    const struct choice *choice = choose_compiler(build, unit->request);
    if (choice->status)
        return err_set(err, choice->status, "%s", choice->message);
    return unit_prepare(unit, &choice->compiler, build->arena, err);
}

/* Finds an object that was compiled ahead of time on another machine. */
static bool find_prebuilt(struct build_result *result, struct build *build, struct build_unit *unit)
{
    struct build_result found = {.state = BUILD_CACHED};
    if (unit->compiler || !unit->source || build->options->force || compiler_named(build->options->compiler))
        return false;
    cache_key(&build->cache, unit);
    if (!cache_find(&found, &build->cache, unit) ||
        (found.compiler->llvm && found.compiler->llvm < unit->request->min_llvm))
        return false;
    *result = found;
    return true;
}

/* ---- code that is already compiled ---- */

/* A shared library for the CPU may also contain GPU kernels; a code object alone is not a library. */
enum status build_image(const struct codeobj_file **file, const struct build_request *request, struct arena *arena,
                        struct err *err)
{
    const bool cpu = request->target.kind == BUILD_CPU;
    struct err none = {0};
    *file = NULL;
    if (cpu && !file_exists(request->image))
        return err_set(err, ERR_CONFIG, "%s: No such file or directory", request->image);
    if (codeobj_read(file, request->image, arena, cpu ? &none : err))
        return cpu ? STATUS_OK : err->status;
    const bool fits =
        cpu ? (*file)->container == CODEOBJ_EXECUTABLE : codeobj_for_target(*file, request->target.arch) != NULL;
    if (fits)
        return STATUS_OK;
    return err_set(err, ERR_UNSUPPORTED, "%s is for %s, this device is %s", request->image,
                   codeobj_targets(*file, arena), cpu ? "the CPU" : request->target.arch);
}

/* Selects what the target can load: a library or a plain code object is used in place; the contents of a bundle or an
 * executable are extracted into the cache folder, because not every runtime opens every kind of bundle. */
static enum status use_image(struct build_result *result, struct build_cache *cache,
                             const struct build_request *request, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    const struct codeobj_file *file = NULL;
    if (build_image(&file, request, &arena, err))
        return err->status;
    result->object = request->image;
    if (request->target.kind == BUILD_CPU)
        return hash_sha256_file(result->sha256, request->image, err);
    const struct codeobj *object = codeobj_for_target(file, request->target.arch);
    hash_sha256(result->sha256, object->bytes, object->size_bytes);
    if (file->container == CODEOBJ_PLAIN || file->container == CODEOBJ_PTX)
        return STATUS_OK;
    return cache_keep(&result->object, cache, request->image, "hsaco", result->sha256, object->bytes,
                      object->size_bytes, err);
}

/* The keys of a prepared unit are known: it waits for its compiler, or follows an earlier equal unit. */
static void wait_in_line(struct build *build, size_t index)
{
    struct work *work = &build->works[index];
    cache_key(&build->cache, &work->unit);
    work->state = WAITING;
    for (size_t k = 0; k < index && work->state == WAITING; k++) {
        const struct work *other = &build->works[k];
        if (other->state != WAITING || strcmp(other->unit.key, work->unit.key) != 0 ||
            strcmp(other->unit.source, work->unit.source) != 0)
            continue;
        work->state = FOLLOWING;
        work->leader = k;
    }
}

/* Queues the request, or settles it at once. */
static void admit(struct build *build, size_t index)
{
    const struct build_request *request = &build->requests[index];
    struct build_unit *unit = &build->works[index].unit;
    struct build_result result = {.state = BUILD_CACHED};
    struct err err = {0};
    enum status status = STATUS_OK;
    unit->request = request;
    if (request->library) {
        result.message = arena_printf(build->arena, "it calls the library %s", request->library);
        result.object = "";
        result.library = request->library;
    } else if (!request->source) {
        status = use_image(&result, &build->cache, request, &err);
    } else if (!(status = prepare(build, unit, &err))) {
        wait_in_line(build, index);
        return;
    } else if (find_prebuilt(&result, build, unit)) {
        status = STATUS_OK;
    }
    if (status)
        result = (struct build_result){.state = status == ERR_UNSUPPORTED ? BUILD_SKIPPED : BUILD_FAILED,
                                       .message = arena_strdup(build->arena, err.text)};
    settle_request(build, index, &result);
}

/* ---- compiling units ---- */

static bool settle_cached(struct build *build, size_t index)
{
    struct build_result result = {.state = BUILD_CACHED};
    if (build->options->force || !cache_find(&result, &build->cache, &build->works[index].unit))
        return false;
    settle(build, index, &result);
    return true;
}

/* If another process holds the lock, the work stays waiting. */
static void start(struct build *build, size_t index)
{
    struct err err = {0};
    const struct build_unit *unit = &build->works[index].unit;
    if (settle_cached(build, index))
        return;
    if (build->options->cached_only) {
        settle(build, index, &(struct build_result){.state = BUILD_PENDING});
        return;
    }
    if (!cache_lock(&build->cache, unit->key, true))
        return;
    /* Another process may have finished it in the meantime. */
    struct job *job = &build->jobs[build->running];
    if (settle_cached(build, index)) {
        cache_lock(&build->cache, unit->key, false);
    } else if (child_start(&job->child, unit, build->scratch, build->started++, build->arena, &err)) {
        cache_lock(&build->cache, unit->key, false);
        settle(build, index,
               &(struct build_result){.state = BUILD_FAILED, .message = arena_strdup(build->arena, err.text)});
    } else {
        job->work = index;
        build->works[index].state = RUNNING;
        build->running++;
    }
}

/* Fills the free jobs; work that another process is compiling stays waiting. */
static void start_some(struct build *build)
{
    while (build->first_waiting < build->count && build->works[build->first_waiting].state != WAITING)
        build->first_waiting++;
    for (size_t i = build->first_waiting; i < build->count; i++) {
        if (build->running == build->job_limit || is_stopped(build))
            return;
        if (build->works[i].state == WAITING)
            start(build, i);
    }
}

/* Advice placed before a compiler's message that does not help by itself; the first match is used. */
#define KERNEL_HINT                                                                                                    \
    "a kernel begins with extern \"C\" __global__ (in plain HIP __global__ is enough) and is no template: make the "   \
    "template a __device__ function, which kernels call"
static const struct {
    const char *words, *hint;
} hints[] = {
    {"expanded from macro '__global__'", KERNEL_HINT}, /* the macro adds what a kernel needs */
    {"<overloaded function type>", KERNEL_HINT},
    {"<<<", "rooftile launches kernels itself: put host code into another file, or between "
            "#ifndef __HIP_DEVICE_COMPILE__ and #endif"},
    {"identifier '__builtin_amdgcn_", "a CPU has no instructions of AMD's by name: put them between "
                                      "#if defined(__AMDGCN__) and #endif, or use what portable.h and tile.h have"},
    {"__host__ function", "GPUs have no such function: hip/hip_math.h lists those that they have"},
};

static enum status finish(struct build *build, size_t number, struct err *err)
{
    struct job job = build->jobs[number];
    const struct build_unit *unit = &build->works[job.work].unit;
    build->jobs[number] = build->jobs[--build->running];
    struct build_result result = {.state = BUILD_COMPILED};
    enum status status = child_finish(&job.child, &result.message, build->arena);
    result.compile_ns = (double)(clock_now_ns() - job.child.started_ns);
    if (!status) {
        status = cache_store(&result, &build->cache, unit, job.child.object, job.child.depfile, err);
        if (status && status != ERR_BUILD)
            return status;
        result.message = status ? arena_strdup(build->arena, err->text) : NULL;
    }
    if (status)
        result.state = BUILD_FAILED;
    for (size_t k = 0; status && result.message && k < COUNT_OF(hints); k++) {
        if (!strstr(result.message, hints[k].words))
            continue;
        result.message = arena_printf(build->arena, "%s\n%s", hints[k].hint, result.message);
        break;
    }
    unlink(job.child.object);
    cache_lock(&build->cache, unit->key, false);
    settle(build, job.work, &result);
    return STATUS_OK;
}

/* Finishes the jobs that ended; if there are none, waits a moment. */
static enum status wait_for_some(struct build *build, struct err *err)
{
    const size_t before = build->running;
    if (build->options->progress && before && build->waits++ % PROGRESS_EVERY == 0)
        build->options->progress(build->options->context, build->done, build->count,
                                 &build->requests[build->jobs[0].work], NULL);
    /* Iterates backwards, because finish() moves the last job into the gap. */
    for (size_t i = before; i-- > 0;)
        if (!child_is_running(&build->jobs[i].child) && finish(build, i, err))
            return err->status;
    if (build->running == before)
        clock_sleep_ns(POLL_NS);
    return STATUS_OK;
}

static enum status run(struct build *build, struct err *err)
{
    for (size_t i = 0; i < build->count && !is_stopped(build); i++)
        admit(build, i);
    while (build->done < build->count) {
        if (is_stopped(build))
            return err_set(err, ERR_INTERRUPTED, "interrupted with %zu of %zu kernels built", build->done,
                           build->count);
        start_some(build);
        if (build->done < build->count && wait_for_some(build, err))
            return err->status;
    }
    return STATUS_OK;
}

enum status build_all(struct build_result *results, const struct build_request *requests, size_t count,
                      const struct build_options *options, struct arena *arena, struct err *err)
{
    struct build build = {.options = options, .requests = requests, .results = results, .arena = arena, .count = count};
    cpu_set_t cores;
    const size_t allowed = sched_getaffinity(0, sizeof(cores), &cores) ? 1 : (size_t)CPU_COUNT(&cores);
    const size_t wanted = options->jobs ? options->jobs : allowed;
    build.job_limit = wanted < MAX_JOBS ? wanted : MAX_JOBS;
    build.jobs = arena_array(arena, build.job_limit, sizeof(*build.jobs));
    build.choices = arena_array(arena, count, sizeof(*build.choices));
    build.works = arena_array(arena, count, sizeof(*build.works));
    for (size_t i = 0; i < count; i++)
        results[i] = (struct build_result){.state = BUILD_PENDING};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && !status && !options->allow_flags && !options->cached_only; i++)
        status = flags_check(&requests[i], err);
    if (!status)
        status = cache_open(&build.cache, options->cache_dir, arena, err);
    if (!status)
        status = scratch_make(&build.scratch, arena, err);
    if (!status)
        status = run(&build, err);
    for (size_t i = 0; i < build.running; i++)
        spawn_end(&build.jobs[i].child.process);
    scratch_remove(build.scratch);
    cache_release(&build.cache);
    return status;
}

enum status build_ir(char **ir, const struct build_request *request, const struct build_options *options,
                     struct arena *arena, struct err *err)
{
    struct choice choice;
    struct build build = {.options = options, .arena = arena, .choices = &choice};
    struct build_unit unit = {.request = request};
    char *scratch = NULL;
    size_t length = 0;
    if (!request->source)
        return err_set(err, ERR_UNSUPPORTED, "%s comes compiled: there is no LLVM IR",
                       request->image ? request->image : request->library);
    if ((!options->allow_flags && flags_check(request, err)) || prepare(&build, &unit, err) ||
        scratch_make(&scratch, arena, err))
        return err->status;
    const char *output = path_join(arena, scratch, "kernel.ll");
    enum status status = command_write_ir(&unit, output, err);
    if (!status)
        status = file_read(ir, &length, output, FILE_LIMIT_BYTES, arena, err);
    scratch_remove(scratch);
    return status;
}
