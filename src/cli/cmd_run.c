/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "rooftile/clock.h"
#include "rooftile/file.h"
#include "rooftile/journal.h"
#include "rooftile/render.h"

/* ---- run ---- */

/* Writes the result. If only the file failed after a complete measurement, the journals still have it. If they failed
 * too (on the same full disk), the result goes to a new file elsewhere. */
static enum status write_or_save(const struct result *result, struct session *session, struct err *err)
{
    const char *path = session->options->out, *dir = getenv("TMPDIR");
    enum status status = result_write(result, path, err);
    struct err ignored = {0};
    bool whole = session->journal_count > 0;
    for (size_t k = 0; k < session->journal_count; k++)
        whole = whole && journal_kept(session->journals[k]) == journal_cases(session->journals[k]);
    if (!status || !strcmp(path, "-"))
        return status;
    char *rescue = arena_printf(session->arena, "%s/rooftile-XXXXXX.json", dir && *dir ? dir : "/tmp");
    const int fd = whole ? -1 : mkostemps(rescue, strlen(".json"), O_CLOEXEC); /* the result takes over its mode */
    if (fd < 0)
        return status;
    close(fd);
    if (result_write(result, rescue, &ignored)) {
        unlink(rescue);
        return status;
    }
    execute_journals_done(session);
    return err_set(err, status, "%s; the result was saved as %s", err->text, rescue);
}

static void print_report(const struct result *result, const struct cli_options *options)
{
    const char *name = options->format ? options->format : "table";
    const struct report_options look = cli_look(options, NULL);
    struct text text = {0};
    if (!strcmp(name, "jsonl") || (options->out && !strcmp(options->out, "-")))
        return; /* standard output is reserved for the events or the result */
    report_write(&text, report_format_find(name), result, &look);
    cli_print(&text);
}

/* Waits until every device of the node has its code. */
static enum status begin_together(struct session *session, struct err *err)
{
    const struct duration *budget = &session->options->budget;
    if (!session->together.shared)
        return STATUS_OK;
    if (session->info.predicted)
        return err_set(err, ERR_USAGE, "nothing is executed on sim: its devices are never measured together");
    session->job.started_together_ns =
        run_together_ready(&session->together, session->plan, budget->text ? budget->ns / 3 : 60e9);
    return STATUS_OK;
}

static enum status measure(struct result *result, struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    const struct result *old = NULL;
    struct result *kept = arena_alloc(session->arena, sizeof(*kept));
    struct trials run = {.session = session, .title = "run", .out = options->out};
    struct result_job job; /* if a launcher started this process together with others */
    if (result_job_find(&job, session->arena, err))
        return err->status;
    job.devices = session->job.devices;
    if (*job.engine || options->out_dir)
        session->job = job;
    /* The journal of a killed run is newer than the result that the run was to replace. */
    const char *journal = options->resume ? journal_of(options->resume, session->arena) : NULL;
    const char *earlier = journal && file_exists(journal) ? journal : options->resume;
    if ((options->trials > 1 ? trials_check(options, "--trials", session->arena, err)
                             : cli_check_output(options->out, session->arena, err)) ||
        session_go(session, SESSION_PREPARE | SESSION_VALID, err) ||
        (earlier &&
         (argument_result(&old, earlier, false, session->arena, err) || execute_check_place(old, session, err))))
        return err->status;
    if (!session->machine.path[0])
        log_warn("W001",
                 "no ceiling is known for %s, so nothing can be set against one; 'rooftile roofline' measures them",
                 session->info.name);
    enum status status = session_go(session, SESSION_CODE | SESSION_PREDICT, err);
    if (!status && old) {
        execute_resume(kept, old, session);
        run.resumed = kept;
    }
    if (!status)
        status = begin_together(session, err);
    const uint32_t least = old && old->trials > 1 ? old->trials : 1;
    if (!status)
        status = trials_measure(result, &run, options->trials > least ? options->trials : least, err);
    /* If the trials cannot be joined, each is saved separately. */
    for (size_t k = 0; status && !result->cases && k < run.count && options->out && strcmp(options->out, "-"); k++) {
        struct err ignored = {0};
        char *name =
            arena_printf(session->arena, "%s.trial%zu.json", path_stem(options->out, ".json", session->arena), k + 1);
        if (!result_write(&run.parts[k], name, &ignored))
            log_info("trial %zu was saved as %s", k + 1, name);
    }
    return status;
}

/* ---- on several devices, one after the other ---- */

static enum status check_sides(const struct cli_options *options, struct err *err)
{
    const char *format = options->format;
    if (options->resume || options->ab[0] || options->profile)
        return err_set(err, ERR_USAGE, "--resume, --ab and --profile are for one device: give one to --device");
    if (options->out && options->out_dir)
        return err_set(err, ERR_USAGE, "give -o or --out-dir, not both");
    if (options->together > TOGETHER_ALONE && (!options->out_dir || options->trials > 1))
        return err_set(err, ERR_USAGE, "--together %s needs --out-dir, and no --trials: start it as often as you like",
                       together_names[options->together]);
    if (options->out && !strcmp(options->out, "-"))
        return err_set(err, ERR_USAGE,
                       "several devices have a result each, and standard output takes one: give "
                       "-o FILE.json for FILE.DEVICE.json");
    if (format && strcmp(format, "table") && strcmp(format, "markdown"))
        return err_set(err, ERR_USAGE,
                       "--format %s shows one device: give -o FILE.json, then 'rooftile report "
                       "FILE.DEVICE.json --format %s'",
                       format, format);
    return STATUS_OK;
}

/* Returns the more serious of two exit codes. */
static int worse(int a, int b)
{
    static const int order[] = {130, 1, 2, 3, 4};
    for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
        if (a == order[k] || b == order[k])
            return order[k];
    return 0;
}

/* Returns the exit code; an error of one device affects no other device. */
static int run_side(struct per_device *side, struct arena *arena)
{
    struct err err = {0};
    struct result *result = arena_alloc(arena, sizeof(*result));
    log_clear_warnings();
    enum status status = measure(result, &side->session, &err);
    int code = status ? err_exit_code(status) : result_exit_code(result, side->options.strict);
    if (session_say_work(&side->session))
        code = worse(code, 1);
    if (result->cases && side->options.out && write_or_save(result, &side->session, &err))
        code = worse(code, err_exit_code(status = err.status));
    if (result->cases)
        side->result = result;
    if (!status || status == ERR_INTERRUPTED) {
        execute_journals_done(&side->session);
    } else {
        execute_journals_kept(&side->session, &err);
        log_error("%s: %s", side->name, err.text);
    }
    return code;
}

static enum status name_files(struct per_device *sides, size_t count, struct arena *arena, struct err *err)
{
    if (count && sides->options.out_dir)
        file_follow_no_link_in(sides->options.out_dir);
    FOR_EACH(struct per_device, side, sides, count) {
        struct result_job job;
        if (side->options.out_dir && result_job_find(&job, arena, err))
            return err->status;
        /* If there may be several processes on the node, each with its own devices, their numbers are added to the
         * name. */
        if (side->options.out_dir)
            side->options.out =
                path_join(arena, side->options.out_dir,
                          arena_printf(arena, job.local_rank ? "%s.%u.json" : "%s.json", job.node, job.local_rank));
        if (side->options.out && side->name)
            side->options.out = device_file(side->options.out, side, arena);
        side->session.job.devices = (uint32_t)count;
    }
    return STATUS_OK;
}

/* Time beyond its share of the budget, for writing the result. */
#define GRACE_NS 10000000000u

/* Starts a process of its own, so that a hanging device affects no other device. */
static void start_apart(struct per_device *side)
{
    struct err err = {0};
    fflush(NULL);
    side->pid = fork();
    if (!side->pid) {
        setpgid(0, 0);
        const int code = session_start_budget(&side->options.budget, &err) ? 3 : run_side(side, side->session.arena);
        fflush(NULL);
        _exit(code);
    }
    if (side->pid < 0)
        log_error("%s: no process can be started for it", side->name);
    else
        setpgid(side->pid, side->pid);
}

/* Runs with a share of the remaining time. */
static int run_apart(struct per_device *sides, size_t count, double left_ns)
{
    for (size_t k = 0; k < count; k++) {
        if (sides[k].options.budget.text)
            sides[k].options.budget.ns = fmax(1e9, left_ns);
        start_apart(&sides[k]);
    }
    /* Waits for the processes, and kills those that hang. Returns their exit code. */
    const double limit_ns = sides[0].options.budget.ns + (double)GRACE_NS;
    const uint64_t start_ns = clock_now_ns();
    bool killed = false;
    int code = 0, state = 0;
    for (size_t ended = 0; ended < count; clock_sleep_ns(ended < count ? 20000000 : 0)) {
        const bool late = sides[0].options.budget.text && !killed && (double)(clock_now_ns() - start_ns) > limit_ns;
        killed = killed || late;
        ended = 0;
        FOR_EACH(struct per_device, side, sides, count) {
            if (side->pid > 0 && session_stop == STOP_SIGNAL && !killed)
                kill(side->pid, SIGTERM);
            if (side->pid > 0 && late && !kill(-side->pid, SIGKILL))
                log_error("%s did not end within its share of the budget, and was killed", side->name);
            struct err err = {0};
            ended += !side->pid;
            if (!side->pid || (side->pid > 0 && !waitpid(side->pid, &state, WNOHANG)))
                continue;
            code = worse(code, side->pid < 0 ? 3 : WIFEXITED(state) ? WEXITSTATUS(state) : 1);
            if (side->session.together.shared)
                run_together_gone(&side->session.together);
            side->pid = 0;
            ended++;
            /* Reads the result back from its file. */
            if (file_exists(side->options.out) &&
                argument_result(&side->result, side->options.out, true, side->session.arena, &err))
                log_error("%s: %s", side->name, err.text);
        }
    }
    return code;
}

/* Returns the devices for a run of all at once, whose results are next to those of each alone. */
static struct per_device *together_of(const struct per_device *sides, size_t count, struct arena *arena)
{
    struct per_device *again = arena_copy(arena, sides, count * sizeof(*sides));
    struct run_meeting *shared = run_meeting_new((unsigned)count);
    for (size_t k = 0; k < count; k++) {
        struct session *session = &again[k].session;
        again[k].options.out = arena_printf(arena, "%s.together.json", path_stem(again[k].options.out, ".json", arena));
        session->options = &again[k].options;
        session->together = (struct run_together){shared, (unsigned)k};
    }
    return again;
}

static void say_sides(struct document *document, const struct per_device *sides, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (sides[k].result)
            document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%s: %s, %s%s%s%s",
                          sides[k].name ? sides[k].name : "default", sides[k].result->device.name,
                          result_kind(sides[k].result),
                          sides[k].session.together.shared ? " with all others at once" : "",
                          sides[k].options.out ? ", in " : "", sides[k].options.out ? sides[k].options.out : "");
}

static enum status run_sides(struct call *call, struct per_device *sides, size_t count, struct err *err)
{
    const struct report_options look = cli_look(call->options, NULL);
    struct document document = {.arena = call->arena};
    struct text text = {0};
    const double budget_end_ns = (double)clock_now_ns() + call->options->budget.ns;
    if (check_sides(call->options, err) || name_files(sides, count, call->arena, err) ||
        devices_suites(sides, count, err))
        return err->status;
    const struct session *first = &sides[0].session;
    const bool can = count >= 2 && count <= RUN_MAX_TOGETHER && call->options->out_dir;
    const enum together how = !can                                              ? TOGETHER_ALONE
                              : call->options->together >= 0                    ? (enum together)call->options->together
                              : first->suite_count && call->options->trials < 2 ? first->suites[0]->together
                                                                                : TOGETHER_ALONE;
    struct per_device *again = how == TOGETHER_ALONE ? NULL : together_of(sides, count, call->arena);
    for (size_t k = 0; k < count && session_stop != STOP_SIGNAL && how != TOGETHER_NODE; k++) {
        const double left_ns = (budget_end_ns - (double)clock_now_ns()) / (double)(count - k + (again != NULL));
        log_info("%s (%zu of %zu)", sides[k].name ? sides[k].name : "the default device", k + 1, count);
        call->code = worse(call->code, call->options->out_dir ? run_apart(&sides[k], 1, left_ns)
                                                              : run_side(&sides[k], call->arena));
    }
    if (again && session_stop != STOP_SIGNAL) {
        log_info("all %zu at once", count);
        call->code = worse(call->code, run_apart(again, count, budget_end_ns - (double)clock_now_ns()));
        run_meeting_free(again[0].session.together.shared);
    }
    if (!call->options->out_dir) /* otherwise the plans are in other processes */
        devices_document(&document, sides, count);
    say_sides(&document, sides, count);
    if (again)
        say_sides(&document, again, count);
    render_find(call->options->format ? call->options->format : "table")(&text, &document, &look);
    cli_print(&text);
    return STATUS_OK;
}

enum status cmd_run(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct session session = {.options = options, .arena = call->arena};
    struct result *result = arena_alloc(call->arena, sizeof(*result));
    if (options->dry_run) { /* the plan goes to the result's place */
        struct cli_options *planned = arena_copy(call->arena, options, sizeof(*options));
        planned->json = planned->out;
        planned->out = planned->format = NULL;
        call->options = planned;
        return cmd_plan(call, err);
    }
    struct per_device *sides = NULL;
    size_t count = 0;
    session_catch_signals(0);
    if (devices_of(&sides, &count, options, call->arena, err))
        return err->status;
    if (count > 1 || options->out_dir)
        return run_sides(call, sides, count, err);
    session.options = call->options = options = &sides[0].options;
    if (options->ab[0])
        return ab_run(call, err);
    enum status status = measure(result, &session, err);
    const bool interrupted = status == ERR_INTERRUPTED;
    if (status && !result->cases)
        return execute_journals_kept(&session, err);
    if (options->out && write_or_save(result, &session, err)) {
        print_report(result, options); /* shows the measurements even though the file failed */
        return execute_journals_kept(&session, err);
    }
    if (options->out)
        execute_journals_done(&session);
    if (status && !interrupted)
        return execute_journals_kept(&session, err);
    print_report(result, options);
    /* If the report is the run's only output and could not be printed, keep the journals. The program's end reports the
     * cause. */
    struct err unprinted = {.text = "the report is not whole"};
    if (!fflush(stdout) && !ferror(stdout)) {
        execute_journals_done(&session);
    } else if (session.journal_count) {
        execute_journals_kept(&session, &unprinted);
        log_error("%s", unprinted.text);
    }
    if (interrupted && options->trials > 1)
        log_info("interrupted: the result has what was measured of %u trials; --resume continues it", result->trials);
    else if (interrupted)
        log_info("interrupted: %zu of %zu case%s are in the result; --resume continues it", result->case_count,
                 session.plan->count, text_s(session.plan->count));
    call->code = interrupted ? 130 : result_exit_code(result, options->strict);
    if (session_say_work(&session))
        call->code = worse(call->code, 1);
    if (options->format && !strcmp(options->format, "nagios"))
        call->code = nagios_code(call->code);
    return STATUS_OK;
}
