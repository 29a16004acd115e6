/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_internal.h"
#include "rooftile/clock.h"
#include "rooftile/file.h"

/* How long a key that another process compiles, and the stop flag, may go unnoticed. */
#define BLOCKED_POLL_MS 20
#define POLL_MS 100
#define MAX_JOBS 256u

enum unit_state { UNIT_WAITING, UNIT_RUNNING, UNIT_SETTLED };

/* A unit and the requests that want it: a list of request numbers plus one. */
struct work {
    struct build_unit unit;
    enum unit_state state;
    size_t first_request;
    size_t last_request;
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
    struct work *work;
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
    struct work *works;
    size_t work_count;
    size_t *next_request; /* behind each request, the next of the same work, plus one */
    size_t *table;        /* works by key, open addressing: work number plus one */
    size_t table_size;    /* a power of two */
    size_t first_waiting; /* no work before this one waits */
    struct job *jobs;
    size_t running;
    size_t job_limit;
    size_t started;
};

static bool is_stopped(const struct build *build)
{
    return build->options->stop && *build->options->stop;
}

static void settle_request(struct build *build, size_t index, const struct build_result *result)
{
    build->results[index] = *result;
    build->done++;
    if (build->options->progress)
        build->options->progress(build->options->context, build->done, build->count, &build->requests[index],
                                 &build->results[index]);
}

static void settle_work(struct build *build, struct work *work, struct build_result *result)
{
    work->state = UNIT_SETTLED;
    result->command = argv_quote(&work->unit.command);
    for (size_t next = work->first_request; next; next = build->next_request[next - 1]) {
        settle_request(build, next - 1, result);
        if (result->state == BUILD_COMPILED) {
            result->state = BUILD_CACHED;
            result->compile_ns = 0;
        }
    }
}

static struct build_result settled(enum build_state state, const char *message)
{
    return (struct build_result){.state = state, .message = message};
}

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
    choice->status = build_find_compiler(&choice->compiler, &request->target, request->min_llvm, build->arena, &err);
    choice->message = choice->status ? arena_strdup(build->arena, err.text) : NULL;
    return choice;
}

/* A place in the table: that of an equal unit, or a free one. */
static size_t *find_slot(struct build *build, const struct build_unit *unit)
{
    size_t at = hash_u64(unit->key, strlen(unit->key)) & (build->table_size - 1);
    for (; build->table[at]; at = (at + 1) & (build->table_size - 1)) {
        const struct build_unit *other = &build->works[build->table[at] - 1].unit;
        if (strcmp(other->key, unit->key) == 0 && strcmp(other->source, unit->source) == 0)
            break;
    }
    return &build->table[at];
}

static void add_work(struct build *build, size_t index, const struct build_unit *unit)
{
    size_t *slot = find_slot(build, unit);
    if (*slot) {
        struct work *work = &build->works[*slot - 1];
        build->next_request[work->last_request - 1] = index + 1;
        work->last_request = index + 1;
        return;
    }
    build->works[build->work_count] =
        (struct work){.unit = *unit, .first_request = index + 1, .last_request = index + 1};
    *slot = ++build->work_count;
}

/* Without a compiler for its target a unit is only located. */
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

/* What a compiler of another machine made ahead of time. */
static bool find_prebuilt(struct build_result *result, struct build *build, struct build_unit *unit)
{
    const char *own = getenv("ROOFTILE_KERNEL_COMPILER");
    struct build_result found = {.state = BUILD_CACHED};
    if (unit->compiler || !unit->source || build->options->force || (own && *own))
        return false;
    cache_key(&build->cache, unit);
    if (!cache_find(&found, &build->cache, unit) ||
        (found.compiler->llvm && found.compiler->llvm < unit->request->min_llvm))
        return false;
    *result = found;
    return true;
}

/* The request becomes work, or is settled at once. */
static void admit(struct build *build, size_t index)
{
    const struct build_request *request = &build->requests[index];
    struct build_unit unit = {.request = request};
    struct err err = {0};
    struct build_result result = {0};
    if (request->library) {
        result = settled(BUILD_CACHED, arena_printf(build->arena, "it calls the library %s", request->library));
        result.object = "";
        result.library = request->library;
    } else if (!request->source) {
        if (image_use(&result, &build->cache, request, &err))
            result = settled(err.status == ERR_UNSUPPORTED ? BUILD_SKIPPED : BUILD_FAILED,
                             arena_strdup(build->arena, err.text));
    } else if (!prepare(build, &unit, &err)) {
        cache_key(&build->cache, &unit);
        add_work(build, index, &unit);
        return;
    } else if (!find_prebuilt(&result, build, &unit)) {
        result =
            settled(err.status == ERR_UNSUPPORTED ? BUILD_SKIPPED : BUILD_FAILED, arena_strdup(build->arena, err.text));
    }
    settle_request(build, index, &result);
}

static bool settle_cached(struct build *build, struct work *work)
{
    struct build_result result = {.state = BUILD_CACHED};
    if (build->options->force || !cache_find(&result, &build->cache, &work->unit))
        return false;
    settle_work(build, work, &result);
    return true;
}

/* Leaves the work waiting when another process has its lock. */
static void start(struct build *build, struct work *work)
{
    struct err err = {0};
    if (settle_cached(build, work))
        return;
    if (build->options->cached_only) {
        settle_work(build, work, &(struct build_result){.state = BUILD_PENDING});
        return;
    }
    if (!cache_lock(&build->cache, work->unit.key))
        return;
    /* Another process may have finished it since. */
    struct job *job = &build->jobs[build->running];
    if (settle_cached(build, work)) {
        cache_unlock(&build->cache, work->unit.key);
    } else if (child_start(&job->child, &work->unit, build->scratch, build->started++, build->arena, &err)) {
        struct build_result result = settled(BUILD_FAILED, arena_strdup(build->arena, err.text));
        cache_unlock(&build->cache, work->unit.key);
        settle_work(build, work, &result);
    } else {
        job->work = work;
        work->state = UNIT_RUNNING;
        build->running++;
    }
}

/* Fills the free jobs. True when works are left that another process is compiling. */
static bool start_some(struct build *build)
{
    while (build->first_waiting < build->work_count && build->works[build->first_waiting].state != UNIT_WAITING)
        build->first_waiting++;
    bool blocked = false;
    for (size_t i = build->first_waiting; i < build->work_count; i++) {
        if (build->running == build->job_limit || is_stopped(build))
            return blocked;
        if (build->works[i].state != UNIT_WAITING)
            continue;
        start(build, &build->works[i]);
        blocked = blocked || build->works[i].state == UNIT_WAITING;
    }
    return blocked;
}

static enum status finish(struct build *build, size_t number, struct err *err)
{
    struct job job = build->jobs[number];
    build->jobs[number] = build->jobs[--build->running];
    struct build_result result = {.state = BUILD_COMPILED};
    const struct build_child child = job.child; /* its paths, which finishing clears */
    enum status status = child_finish(&job.child, &result.message, build->arena);
    result.compile_ns = (double)(clock_now_ns() - child.started_ns);
    if (!status) {
        status = cache_store(&result, &build->cache, &job.work->unit, child.object, child.depfile, err);
        if (status && status != ERR_BUILD)
            return status;
        result.message = status ? arena_strdup(build->arena, err->text) : NULL;
    }
    if (status)
        result.state = BUILD_FAILED;
    unlink(child.object);
    cache_unlock(&build->cache, job.work->unit.key);
    settle_work(build, job.work, &result);
    return STATUS_OK;
}

static enum status wait_for_some(struct build *build, bool blocked, struct err *err)
{
    struct pollfd fds[MAX_JOBS];
    const size_t count = build->running;
    for (size_t i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = build->jobs[i].child.fd, .events = POLLIN};
    if (poll(fds, count, blocked ? BLOCKED_POLL_MS : POLL_MS) < 0) {
        /* Interrupted by a signal; the loop looks at the stop flag. */
        return errno == EINTR ? STATUS_OK : err_set(err, ERR_IO, "cannot wait for compilers: %s", strerror(errno));
    }
    /* Backwards: finish() moves the last job into the gap. */
    for (size_t i = count; i-- > 0;) {
        if (!fds[i].revents || child_read(&build->jobs[i].child))
            continue;
        const enum status status = finish(build, i, err);
        if (status)
            return status;
    }
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
        const bool blocked = start_some(build);
        const enum status status = build->done < build->count ? wait_for_some(build, blocked, err) : STATUS_OK;
        if (status)
            return status;
    }
    return STATUS_OK;
}

static size_t allowed_cores(void)
{
    cpu_set_t cores;
    return sched_getaffinity(0, sizeof(cores), &cores) ? 1 : (size_t)CPU_COUNT(&cores);
}

enum status build_all(struct build_result *results, const struct build_request *requests, size_t count,
                      const struct build_options *options, struct arena *arena, struct err *err)
{
    struct build build = {.options = options, .requests = requests, .results = results, .arena = arena, .count = count};
    const size_t wanted = options->jobs ? options->jobs : allowed_cores();
    build.job_limit = wanted < MAX_JOBS ? wanted : MAX_JOBS;
    build.jobs = arena_array(arena, build.job_limit, sizeof(*build.jobs));
    build.choices = arena_array(arena, count, sizeof(*build.choices));
    build.works = arena_array(arena, count, sizeof(*build.works));
    build.next_request = arena_array(arena, count, sizeof(*build.next_request));
    for (build.table_size = 16; build.table_size < 2 * count;)
        build.table_size *= 2;
    build.table = arena_array(arena, build.table_size, sizeof(*build.table));
    for (size_t i = 0; i < count; i++)
        results[i] = (struct build_result){.state = BUILD_PENDING};
    enum status status = cache_open(&build.cache, options->cache_dir, arena, err);
    if (status)
        goto out;
    status = scratch_make(&build.scratch, arena, err);
    if (status)
        goto out;
    status = run(&build, err);
out:
    for (size_t i = 0; i < build.running; i++)
        child_kill(&build.jobs[i].child);
    scratch_remove(build.scratch);
    cache_release(&build.cache);
    return status;
}
