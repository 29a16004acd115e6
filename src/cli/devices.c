/* SPDX-License-Identifier: MIT
 *
 * Several devices side by side: `plan` and `run` with --device A,B. Each has its own session over the same suites and
 * kernels, and all share one table.
 */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/forecast.h"

/* ---- naming devices ---- */

/* Time that processes of a job wait for each other without a budget. */
#define RANKS_WAIT_NS 60e9

/* Splits at commas, except those inside a device: "cpu:wave=32,threads=1,sim:mi300x" names two. */
static size_t split(const char ***words, const char *text, struct arena *arena)
{
    size_t count = 0;
    *words = NULL;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        while (at[length]) {
            const char *next = at + length + 1;
            const size_t part = strcspn(next, ",");
            if (!memchr(next, '=', part) || memchr(next, ':', part))
                break;
            length += 1 + part;
        }
        ARENA_PUSH(arena, *words, count, arena_strndup(arena, at, length));
        if (!at[length])
            return count;
        at += length + 1;
    }
}

/* Expands "all" to the devices of the first GPU backend that has any, or of a named backend (for sim, all machine
 * files). Expands "local" to the device of this process's rank on its node, unless its launcher shows it only one
 * anyway. Any other word stands for itself. */
static enum status expand(const char ***words, size_t *count, const char *word, const struct result_job *job,
                          struct arena *arena, struct err *err)
{
    static const char *const gpus[] = {"hip", "cuda"};
    const bool local = !strcmp(word, "local"), all = !strcmp(word, "all");
    if (!local && !all && !text_ends(word, ":all")) {
        ARENA_PUSH(arena, *words, *count, word);
        return STATUS_OK;
    }
    if (!strcmp(word, "sim:all")) {
        char **paths = NULL;
        size_t path_count = 0;
        const enum status status = session_configs(&paths, &path_count, "machines", ".json", arena, err);
        for (size_t k = 0; k < path_count && !status; k++)
            ARENA_PUSH(arena, *words, *count,
                       arena_printf(arena, "sim:%s", path_stem(path_base(paths[k]), ".json", arena)));
        return status;
    }
    const char *const named = arena_strndup(arena, word, strcspn(word, ":"));
    const char *const *backends = local || all ? gpus : &named;
    struct text why = {0};
    int found = 0;
    size_t at = 0;
    for (; at < (local || all ? COUNT_OF(gpus) : 1) && !found; at++) {
        const struct device_ops *ops = device_backend(backends[at]);
        text_add(&why, why.length ? "; " : "");
        found = ops && ops->executes ? ops->count(&why) : 0;
    }
    const char *reason = text_take(&why, arena);
    if (found < 1)
        return err_set(err, ERR_DEVICE_LOST, "--device %s: there is none here ('rooftile devices' says why)%s%s", word,
                       *reason ? ": " : "", reason);
    if (local && found > 1 && job->local_rank >= (uint32_t)found)
        return err_set(err, ERR_USAGE, "--device local: this process is number %u of its node, but it has %d GPUs",
                       job->local_rank, found);
    const int from = local && found > 1 ? (int)job->local_rank : 0, to = local ? from + 1 : found;
    for (int k = from; k < to; k++)
        ARENA_PUSH(arena, *words, *count, arena_printf(arena, "%s:%d", backends[at - 1], k));
    return STATUS_OK;
}

enum status devices_of(struct per_device **sides, size_t *count, const struct cli_options *options, struct arena *arena,
                       struct err *err)
{
    const char **devices = NULL, **machines = NULL;
    size_t device_count = options->device ? split(&devices, options->device, arena) : 0;
    for (size_t k = 0; k < device_count && device_count > 1; k++)
        if (!*devices[k])
            return err_set(err, ERR_USAGE, "--device %s: no device %s comma", options->device,
                           k + 1 < device_count ? "before a" : "after the last");
    const bool one_file = !options->machine || file_exists(options->machine);
    const size_t machine_count = one_file ? 0 : split(&machines, options->machine, arena);
    const size_t word_count = device_count;
    const char **words = devices;
    struct result_job job = {0};
    if (device_count && result_job_find(&job, arena, err))
        return err->status;
    devices = NULL;
    device_count = 0;
    for (size_t k = 0; k < word_count; k++)
        if (expand(&devices, &device_count, words[k], &job, arena, err))
            return err->status;
    const size_t most = device_count > machine_count ? device_count : machine_count;
    *count = most > 1 ? most : 1;
    if (device_count > 1 && machine_count > 1 && device_count != machine_count)
        return err_set(err, ERR_USAGE,
                       "--device names %zu and --machine %zu: give one machine for all, or one for each", device_count,
                       machine_count);
    for (size_t k = 0; k<device_count && * count> 1; k++) {
        if (device_parse(&(struct device_request){0}, devices[k], err))
            return err->status;
        for (size_t n = 0; n < k; n++)
            if (!strcmp(devices[n], devices[k]))
                return err_set(err, ERR_USAGE, "'%s' is named twice", devices[k]);
    }
    /* The processes of a job that share a folder each use one device. */
    struct device_ranks ranks = {0};
    if (device_count && options->out_dir && !strcmp(options->device, "local") && job.world >= 2)
        ranks = (struct device_ranks){job.rank, job.world, options->out_dir, job.id,
                                      options->budget.text ? options->budget.ns / 3 : RANKS_WAIT_NS};
    struct per_device *made = arena_array(arena, *count, sizeof(*made));
    for (size_t k = 0; k < *count; k++) {
        struct per_device *side = &made[k];
        side->options = *options;
        if (device_count)
            side->options.device = devices[device_count > 1 ? k : 0];
        if (machine_count > 1)
            side->options.machine = machines[k];
        side->name = device_count > 1 || !machines ? side->options.device : path_base(side->options.machine);
        side->session = (struct session){.options = &side->options, .arena = arena, .ranks = ranks};
    }
    *sides = made;
    return STATUS_OK;
}

enum status devices_suites(struct per_device *sides, size_t count, struct err *err)
{
    const struct session *first = &sides[0].session;
    const enum status status = session_go(&sides[0].session, SESSION_SUITES | SESSION_CATALOG, err);
    for (size_t k = 1; k < count && !status; k++) {
        struct session *session = &sides[k].session;
        session->args = first->args;
        session->arg_count = first->arg_count;
        session->suites = first->suites;
        session->suite_count = first->suite_count;
        session->catalog = first->catalog;
        session->guess = first->guess;
    }
    return status;
}

char *device_file(const char *path, const struct per_device *side, struct arena *arena)
{
    char *name = arena_strdup(arena, side->name);
    for (char *p = name; *p; p++)
        *p = isalnum((unsigned char)*p) || *p == '=' || *p == '.' ? *p : '-';
    return arena_printf(arena, "%s.%s.json", path_stem(path, ".json", arena), name);
}

/* ---- one table ---- */

/* One device's case for a combination of values that the suites request. */
struct asked {
    const struct plan_case *plan_case; /* NULL: no such case on this device */
    const struct result_case *result;  /* NULL: not run */
};

static double time_of(const struct asked *a)
{
    if (a->result)
        return a->result->status == CASE_OK ? result_case_time(a->result) : NAN;
    return a->plan_case && a->plan_case->prediction ? a->plan_case->prediction->time_ns : NAN;
}

/* Returns "" for a measured time. */
static const char *method_of(const struct asked *a)
{
    if (a->result)
        return a->result->timer == TIMED_SIM ? a->result->prediction.method : "";
    return a->plan_case && a->plan_case->prediction ? a->plan_case->prediction->method : "";
}

static const char *reason_of(const struct asked *a)
{
    const char *reason = a->result && a->result->status != CASE_OK ? a->result->reason : NULL;
    return reason ? reason : a->plan_case && a->plan_case->state != PLAN_READY ? a->plan_case->reason : NULL;
}

static const char *notes_of(const struct asked *row, const struct per_device *sides, size_t count, struct arena *arena)
{
    const char *notes = NULL;
    for (size_t k = 0; k < count; k++) {
        const char *reason = reason_of(&row[k]);
        if (reason && *reason)
            notes = arena_printf(arena, "%s%s%s: %s", notes ? notes : "", notes ? "; " : "", sides[k].name, reason);
    }
    return notes;
}

/* Columns: the case, then these for each device. */
enum { TIME, BOUND, LAST, EACH };

/* The last column is the speed relative to the first device for a plan, the share of the device's own ceiling for a
 * run. */
static const struct table_column *columns_of(const struct per_device *sides, size_t count, struct arena *arena)
{
    struct table_column *columns = arena_array(arena, 1 + EACH * count, sizeof(*columns));
    columns[0] = (struct table_column){.title = "case", .flags = COLUMN_GROUP};
    for (size_t k = 0; k < count; k++) {
        struct table_column *own = &columns[1 + EACH * k];
        own[TIME] = (struct table_column){.title = sides[k].name, .unit = UNIT_TIME};
        own[BOUND] = (struct table_column){.title = "bound", .drop = 2};
        if (sides[k].result)
            own[LAST] = (struct table_column){.title = "% of roof", .unit = UNIT_PERCENT, .drop = 1};
        else if (k)
            own[LAST] = (struct table_column){.title = "speed", .unit = UNIT_NUMBER, .drop = 1};
    }
    return columns;
}

void devices_document(struct document *document, const struct per_device *sides, size_t count)
{
    struct arena *arena = document->arena;
    size_t rows = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; sides[k].session.plan && c < sides[k].session.plan->count; c++)
            if (sides[k].session.plan->cases[c].asked >= rows)
                rows = sides[k].session.plan->cases[c].asked + 1;
    struct asked *asked = arena_array(arena, rows * count + 1, sizeof(*asked)); /* [row * count + side] */
    struct table *table = table_new(arena, columns_of(sides, count, arena), 1 + EACH * count);
    const char *last = "";
    size_t described = 0;
    for (size_t k = 0; k < count; k++) {
        const struct plan *plan = sides[k].session.plan;
        size_t next = 0;
        for (size_t c = 0; plan && c < plan->count; c++)
            asked[plan->cases[c].asked * count + k] =
                (struct asked){&plan->cases[c], execute_find(sides[k].result, plan->cases[c].id, &next)};
    }
    for (size_t r = 0; r < rows; r++) {
        const struct asked *row = &asked[r * count];
        size_t named = 0;
        while (named < count && !row[named].plan_case)
            named++;
        if (named == count) /* excluded or filtered */
            continue;
        struct table_row *added = table_add(table, NULL);
        added->cells[0] = cell_text(row[named].plan_case->label);
        for (size_t k = 0; k < count; k++) {
            const struct asked *a = &row[k];
            const double time_ns = time_of(a), first_ns = time_of(&row[0]);
            const struct lower_bound *bound = a->result      ? &a->result->lower_bound
                                              : a->plan_case ? &a->plan_case->lower_bound
                                                             : NULL;
            struct cell *cells = &added->cells[1 + EACH * k];
            cells[TIME] = cell_predicted(time_ns, method_of(a), arena);
            cells[BOUND] = isnan(time_ns) || !bound ? cell_unknown(NULL) : cell_known(bound->bound);
            if (a->result)
                cells[LAST] = cell_positive(isnan(time_ns) ? NAN : a->result->fraction);
            else if (k)
                cells[LAST] =
                    cell_text(first_ns > 0 && time_ns > 0 ? arena_printf(arena, "%.3gx", first_ns / time_ns) : NULL);
            described += cells[TIME].text != NULL;
        }
        const char *notes = notes_of(row, sides, count, arena);
        added->note = notes && !strcmp(notes, last) ? "for the same reason" : notes;
        last = notes ? notes : "";
    }
    document_table(document, NULL, NULL, table)->show = SHOW_PEOPLE;
    document_described(document, described, table->row_count * count);
}
