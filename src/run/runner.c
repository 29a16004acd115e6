/* SPDX-License-Identifier: MIT */
#include "rooftile/run.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rooftile/clock.h"
#include "rooftile/cpu_target.h"
#include "rooftile/log.h"
#include "rooftile/rng.h"
#include "run_internal.h"

enum { TICK_MS = 100, EMULATED_TIMES = 10 };
static const double open_timeout_ns = 60e9;

struct worker_command {
    uint32_t plan_index, order_index;
};

/* The parent's view of the worker process. */
struct child {
    pid_t pid;  /* 0: none */
    int socket; /* commands go out, answers come back */
};

struct supervisor {
    struct worker worker; /* what the child inherits */
    struct child child;
    struct run_shared *shared;
    bool calibrated;
    size_t done, total;
};

static const char *phase_now(struct run_shared *shared)
{
    static const char *const names[] = {
        [PHASE_IDLE] = "idle",          [PHASE_OPENING] = "opening the device", [PHASE_CALIBRATING] = "calibrating",
        [PHASE_FILLING] = "filling",    [PHASE_VERIFYING] = "verifying",        [PHASE_SENSING] = "sensing",
        [PHASE_WARMING] = "warming up", [PHASE_MEASURING] = "measuring",
    };
    return names[atomic_load(&shared->phase)];
}

/* ---- the worker process ---- */

static enum status open_devices(struct worker *worker, bool calibrated, struct err *err)
{
    const struct device_request *request = &worker->options->device;
    const struct device_ops *ops = device_backend(request->backend);
    if (!ops)
        return err_set(err, ERR_USAGE, "there is no device backend '%s'", request->backend);
    atomic_store(&worker->shared->phase, PHASE_OPENING);
    const char *arch = worker->options->arch;
    enum status status = ops->open(&worker->device, request, &worker->info, err);
    if (!status && arch && strcmp(worker->info.arch, arch) != 0)
        status = err_set(err, ERR_DEVICE_LOST, "%s is now %s (%s), but the code was compiled for %s", worker->info.id,
                         worker->info.name, worker->info.arch, arch);
    const bool own = !ops->executes || backend_is_cpu(worker->info.backend); /* references run on the CPU */
    if (!status && own)
        worker->reference_device = worker->device;
    else if (!status)
        status = device_cpu.open(&worker->reference_device, &(struct device_request){.backend = "cpu"},
                                 &(struct device_info){0}, err);
    if (!status && !calibrated) {
        atomic_store(&worker->shared->phase, PHASE_CALIBRATING);
        status = calibrate(worker, err);
    }
    if (!status) {
        worker->shared->info = worker->info;
        atomic_store(&worker->shared->phase, PHASE_IDLE);
    }
    return status;
}

/* Isolates kernels, which are foreign code: they inherit no open files of ours and read no input. Their output goes
 * to standard error, since standard output is reserved for the result. A profiler's library may have its own files
 * open. */
static void seal(int *commands, bool profile)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (profile)
        return;
    *commands = dup3(fcntl(*commands, F_DUPFD, 4), 3, O_CLOEXEC);
    closefrom(4);
}

/* Opens the device, answers with one byte ('o' or 'x' with shared->err), then runs the cases whose plan indices come
 * through `commands`, answering each with one byte. Never returns. */
_Noreturn static void worker_main(struct worker *worker, int commands, bool calibrated)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* lets the parent kill whatever kernels start */
    worker->pid = getpid();
    /* The whole process group may receive these signals; only the parent handles them. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    seal(&commands, worker->options->profile);
    struct err err = {0};
    char answer = 'o';
    if (open_devices(worker, calibrated, &err)) {
        worker->shared->err = err;
        answer = 'x';
    }
    struct worker_command command;
    while (write(commands, &answer, 1) == 1 && answer == 'o' &&
           read(commands, &command, sizeof(command)) == sizeof(command)) {
        worker->shared->measured.order_index = command.order_index;
        measure_case(worker, &worker->plan->cases[command.plan_index], worker->builds, worker->options->verify_only);
    }
    _exit(0); /* skips the parent's atexit handlers and the destructors of vendor libraries */
}

/* ---- the parent ---- */

/* Ends the worker and returns its status from waitpid. */
static int child_close(struct child *child, bool kill_it)
{
    int wait_status = 0;
    siginfo_t ended;
    if (!child->pid)
        return 0;
    if (kill_it)
        kill(child->pid, SIGKILL);
    close(child->socket);
    while (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    kill(-child->pid, SIGKILL); /* its process id cannot be reused before waitpid */
    while (waitpid(child->pid, &wait_status, 0) < 0 && errno == EINTR)
        ;
    *child = (struct child){0};
    return wait_status;
}

static enum status child_start(struct supervisor *supervisor, struct err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return err_set(err, ERR_IO, "cannot make a socket: %s", strerror(errno));
    fflush(NULL);
    const pid_t pid = fork();
    const int cause = errno;
    if (pid == 0) {
        close(ends[0]);
        worker_main(&supervisor->worker, ends[1], supervisor->calibrated);
    }
    close(ends[1]);
    supervisor->child = (struct child){.pid = pid > 0 ? pid : 0, .socket = ends[0]};
    if (pid > 0)
        return STATUS_OK;
    close(ends[0]);
    return err_set(err, ERR_IO, "cannot start a worker process: %s", strerror(cause));
}

enum answer { ANSWER_DONE, ANSWER_REFUSED, ANSWER_DIED, ANSWER_TIMEOUT, ANSWER_STOPPED };

static bool stopped(const struct supervisor *supervisor)
{
    const struct run_options *options = supervisor->worker.options;
    return options->stop && *options->stop;
}

static void tick(struct supervisor *supervisor, const struct plan_case *plan_case)
{
    const struct run_options *options = supervisor->worker.options;
    if (options->tick && plan_case)
        options->tick(options->context, plan_case, phase_now(supervisor->shared), supervisor->done, supervisor->total);
}

/* Reads how long the worker's threads ran, and how long they were ready without a processor. Returns the number of
 * threads; 0 if unknown. */
static size_t read_threads(double *ran_ns, double *starved_ns, const struct child *child)
{
    char path[64];
    glob_t threads;
    double ran = 0, starved = 0;
    snprintf(path, sizeof(path), "/proc/%d/task/*/schedstat", (int)child->pid);
    *ran_ns = *starved_ns = 0;
    if (glob(path, GLOB_NOSORT, NULL, &threads))
        return 0;
    const size_t count = threads.gl_pathc;
    for (size_t k = 0; k < count; k++) {
        FILE *file = fopen(threads.gl_pathv[k], "re");
        if (file && fscanf(file, "%lf %lf", &ran, &starved) == 2) {
            *ran_ns += ran;
            *starved_ns += starved;
        }
        if (file)
            fclose(file);
    }
    globfree(&threads);
    return count;
}

static enum answer await(struct supervisor *supervisor, double timeout_ns, const struct plan_case *plan_case)
{
    const uint64_t start_ns = clock_now_ns();
    double ran_before_ns, starved_before_ns, ran_ns, starved_ns;
    read_threads(&ran_before_ns, &starved_before_ns, &supervisor->child);
    struct pollfd watch = {.fd = supervisor->child.socket, .events = POLLIN};
    for (;;) {
        const int ready = poll(&watch, 1, TICK_MS);
        char answer = 0;
        if (ready > 0) {
            const ssize_t got = read(watch.fd, &answer, 1);
            if (got == 1)
                return answer == 'o' ? ANSWER_DONE : ANSWER_REFUSED;
            if (got == 0)
                return ANSWER_DIED;
        }
        if (stopped(supervisor))
            return ANSWER_STOPPED;
        const double gone_ns = (double)(clock_now_ns() - start_ns);
        if (gone_ns > timeout_ns) {
            /* Excludes the time without a processor. With several threads at once, counts at least their mean running
             * time. */
            const size_t threads = read_threads(&ran_ns, &starved_ns, &supervisor->child);
            const double each_ns = threads ? (ran_ns - ran_before_ns) / (double)threads : gone_ns;
            if (fmax(gone_ns - (starved_ns - starved_before_ns), each_ns) > timeout_ns)
                return ANSWER_TIMEOUT;
        }
        tick(supervisor, plan_case);
    }
}

/* Starts a worker and waits until its device is open and calibrated. */
static enum status open_worker(struct supervisor *supervisor, struct err *err)
{
    enum status status = child_start(supervisor, err);
    if (status)
        return status;
    const double timeout_ns = supervisor->worker.options->profile ? INFINITY : open_timeout_ns;
    const enum answer answer = await(supervisor, timeout_ns, NULL);
    const char *phase = phase_now(supervisor->shared);
    switch (answer) {
    case ANSWER_DONE:
        return STATUS_OK;
    case ANSWER_REFUSED:
        *err = supervisor->shared->err;
        status = err->status == ERR_USAGE ? ERR_USAGE : ERR_DEVICE_LOST;
        err->status = status;
        break;
    case ANSWER_TIMEOUT:
        status = err_set(err, ERR_DEVICE_LOST, "no answer after %.0f s while %s", timeout_ns / 1e9, phase);
        break;
    case ANSWER_STOPPED:
        status = err_set(err, ERR_INTERRUPTED, "interrupted");
        break;
    case ANSWER_DIED:
        status = err_set(err, ERR_DEVICE_LOST, "the worker process died while %s", phase);
        break;
    }
    child_close(&supervisor->child, true);
    return status;
}

/* If calibration kills its process, the run continues without calibration. */
static enum status start_worker(struct supervisor *supervisor, struct err *err)
{
    const struct run_options *options = supervisor->worker.options;
    const bool first = !supervisor->calibrated;
    enum status status = open_worker(supervisor, err);
    if (status && status != ERR_INTERRUPTED && atomic_load(&supervisor->shared->phase) == PHASE_CALIBRATING) {
        log_warn("W013", "%s: what a launch costs stays unknown, and so does whether launches dominate a case",
                 err->text);
        *err = (struct err){0};
        supervisor->calibrated = true;
        status = open_worker(supervisor, err);
    }
    if (status)
        return status;
    supervisor->calibrated = true;
    if (first && options->opened)
        options->opened(options->context, &supervisor->shared->info, &supervisor->shared->calibration);
    return STATUS_OK;
}

/* ---- cases ---- */

static enum status run_in_worker(struct supervisor *supervisor, const struct plan_case *plan_case, uint32_t order,
                                 struct err *err)
{
    struct measurement *measured = &supervisor->shared->measured;
    const struct worker_command command = {.plan_index = (uint32_t)plan_case->index, .order_index = order};
    if (!supervisor->child.pid) {
        if (start_worker(supervisor, err))
            return err->status;
    }
    const bool sent = write(supervisor->child.socket, &command, sizeof(command)) == sizeof(command);
    const double timeout_ns =
        plan_case->measure.timeout_ns * (supervisor->worker.options->patient ? EMULATED_TIMES : 1);
    switch (sent ? await(supervisor, timeout_ns, plan_case) : ANSWER_DIED) {
    case ANSWER_DONE:
        if (supervisor->shared->device_lost)
            child_close(&supervisor->child, true);
        supervisor->shared->device_lost = false;
        return STATUS_OK;
    case ANSWER_TIMEOUT:
        snprintf(measured->reason, sizeof(measured->reason), "no answer after %.0f s while %s: killed",
                 timeout_ns / 1e9, phase_now(supervisor->shared));
        measured->status = CASE_TIMEOUT;
        measured->sample_count = 0;
        child_close(&supervisor->child, true);
        return STATUS_OK;
    case ANSWER_STOPPED:
        child_close(&supervisor->child, true);
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    default:
        break;
    }
    const char *phase = phase_now(supervisor->shared);
    const int wait_status = child_close(&supervisor->child, false);
    measured->status = CASE_CRASHED;
    measured->sample_count = 0;
    if (WIFSIGNALED(wait_status))
        snprintf(measured->reason, sizeof(measured->reason), "the worker process died of SIG%s (%s) while %s",
                 sigabbrev_np(WTERMSIG(wait_status)), sigdescr_np(WTERMSIG(wait_status)), phase);
    else
        snprintf(measured->reason, sizeof(measured->reason), "the worker process ended with exit code %d while %s",
                 WEXITSTATUS(wait_status), phase);
    return STATUS_OK;
}

/* Settles cases that need no worker because they cannot run. */
static bool settle_without_running(const struct plan_case *plan_case, const struct worker *worker,
                                   struct measurement *measured)
{
    const struct build_result *builds = worker->builds;
    const char *const *refused = worker->options->refused, *error = NULL;
    if (plan_case->state != PLAN_READY) {
        measured->status = plan_case->state == PLAN_SKIPPED ? CASE_SKIPPED : CASE_ERROR;
        snprintf(measured->reason, sizeof(measured->reason), "%s", plan_case->reason);
        return true;
    }
    const struct build_result *build = unbuilt_code(&plan_case->resolved, builds);
    if (!build && plan_case->variant) /* its repeat counts may allow more launches */
        build = unbuilt_code(plan_case->variant, builds);
    if (build) {
        measured->status = build->state == BUILD_SKIPPED ? CASE_SKIPPED : CASE_ERROR;
        /* Without a command line nothing was compiled, and the message is complete. Lists show only its first line. */
        for (error = strstr(build->message, "error: "); error && error > build->message && error[-1] != '\n';)
            error--;
        error = error ? error : build->message;
        const int length = (int)strcspn(error, "\n");
        if (build->state == BUILD_FAILED && build->command)
            snprintf(measured->reason, sizeof(measured->reason), "does not compile: %.*s%s%s", length, error,
                     build->message[length] ? "\n" : "", build->message[length] ? build->message : "");
        else
            snprintf(measured->reason, sizeof(measured->reason), "%s", build->message);
        return true;
    }
    if (!refused || !refused[plan_case->index])
        return false;
    measured->status = CASE_FAILED;
    snprintf(measured->reason, sizeof(measured->reason), "%s", refused[plan_case->index]);
    return true;
}

static size_t *case_order(size_t *count, const struct plan *plan, const struct run_options *options)
{
    size_t *order = new_zeroed(plan->count + 1, sizeof(*order));
    *count = 0;
    for (size_t k = 0; k < plan->count; k++)
        if (!options->skip || !options->skip[k])
            order[(*count)++] = k;
    struct rng rng;
    rng_init(&rng, rng_derive(options->order_seed ? options->order_seed : options->seed, "case order"));
    for (size_t k = *count; k > 1 && !options->keep_order; k--) {
        const size_t other = (size_t)rng_below(&rng, k);
        const size_t kept = order[k - 1];
        order[k - 1] = order[other];
        order[other] = kept;
    }
    return order;
}

static struct run_shared *share(void)
{
    struct run_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        arena_out_of_memory(sizeof(*shared));
    return shared;
}

enum status run_device_info(struct device_info *info, struct calibration *calibration,
                            const struct device_request *request, struct err *err)
{
    const struct run_options options = {.device = *request};
    struct supervisor supervisor = {.shared = share(), .calibrated = !calibration};
    supervisor.worker = (struct worker){.options = &options, .shared = supervisor.shared};
    enum status status = start_worker(&supervisor, err);
    if (!status) {
        *info = supervisor.shared->info;
        if (calibration)
            *calibration = supervisor.shared->calibration;
    }
    child_close(&supervisor.child, false);
    munmap(supervisor.shared, sizeof(*supervisor.shared));
    return status;
}

static enum status run_cases(struct supervisor *supervisor, const size_t *order, struct err *err)
{
    const struct worker *worker = &supervisor->worker;
    const struct run_options *options = worker->options;
    struct measurement *measured = &supervisor->shared->measured;
    for (size_t k = 0; k < supervisor->total; k++) {
        const struct plan_case *plan_case = &worker->plan->cases[order[k]];
        if (stopped(supervisor))
            return err_set(err, ERR_INTERRUPTED, "interrupted");
        memset(measured, 0, offsetof(struct measurement, samples_ns));
        measured->overhead_ns = measured->cross_ns = measured->core_hz_before = measured->core_hz_after = NAN;
        for (size_t m = 0; m < MEASUREMENT_MAX_METRICS; m++)
            measured->metrics[m] = NAN;
        measured->order_index = (uint32_t)k;
        if (!settle_without_running(plan_case, worker, measured)) {
            if (run_in_worker(supervisor, plan_case, (uint32_t)k, err))
                return err->status;
        }
        supervisor->done = k + 1;
        options->case_done(options->context, plan_case, measured, &supervisor->shared->machine, supervisor->done,
                           supervisor->total);
    }
    return STATUS_OK;
}

enum status run_plan(const struct plan *plan, const struct build_result *builds, struct machine *machine,
                     struct calibration *calibration, const struct run_options *options, struct err *err)
{
    struct supervisor supervisor = {.shared = share()};
    supervisor.worker =
        (struct worker){.plan = plan, .builds = builds, .options = options, .shared = supervisor.shared};
    supervisor.shared->machine = *machine;
    signal(SIGPIPE, SIG_IGN); /* a dead worker shows as a failed write */
    size_t *order = case_order(&supervisor.total, plan, options);
    enum status status = run_cases(&supervisor, order, err);
    child_close(&supervisor.child, status != STATUS_OK);
    const uint32_t apart = run_together_apart(&options->together);
    if (apart)
        log_warn("W020", "%u time%s this device began without all of the others", apart, text_s(apart));
    free(order);
    *machine = supervisor.shared->machine;
    *calibration = supervisor.shared->calibration;
    munmap(supervisor.shared, sizeof(*supervisor.shared));
    return status;
}
