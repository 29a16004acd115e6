/* SPDX-License-Identifier: MIT */
#include "rooftile/import.h"

#include "cli.h"
#include "import_code.h"
#include "rooftile/demangle.h"
#include "rooftile/file.h"
#include "rooftile/report.h"
#include "rooftile/targets.h"

/* ---- the trace's own GPU ---- */

/* Keeps only letters, in lower case, and digits, so that "AMD Instinct MI300X VF" contains mi300x and "RTX 4090"
 * rtx4090. */
static const char *squeezed(const char *name, struct arena *arena)
{
    char *out = text_lower(name, arena);
    size_t length = 0;
    for (const char *at = out; *at; at++)
        if (isalnum((unsigned char)*at))
            out[length++] = *at;
    out[length] = '\0';
    return out;
}

/* Returns the machine with the longest name that the device's name contains; NULL if there is none. */
static const char *machine_of(const struct import *import, struct arena *arena)
{
    const char *device = squeezed(import->device, arena), *best = NULL;
    struct err ignored = {0};
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    char **paths = NULL;
    size_t count = 0;
    if (session_configs(&paths, &count, "machines", ".json", arena, &ignored))
        return NULL;
    for (size_t k = 0; k < count; k++) {
        const char *name = path_stem(path_base(paths[k]), ".json", arena);
        if (!strstr(device, squeezed(name, arena)) || (best && strlen(best) >= strlen(name)))
            continue;
        if (machine_read(machine, paths[k], &ignored))
            continue;
        if (machine->cus && import->cus && machine->cus != import->cus)
            log_warn("W008", "%s has %u compute units, %s has %u: no lower bounds; --machine names a machine file",
                     import->device, import->cus, machine->title, machine->cus);
        else
            best = name;
    }
    return best;
}

/* ---- lower bounds: the suite planned for that GPU ---- */

/* A trace has the times of kernels without launch overhead. */
static void take_bounds(struct import *import, const struct plan *plan, struct arena *arena)
{
    struct machine *machine = arena_copy(arena, plan->machine, sizeof(*machine));
    machine->launch_ns = 0;
    FOR_EACH(const struct plan_case, c, plan->cases, plan->count) {
        for (size_t tag = 0; tag < c->tag_count; tag++) {
            size_t row = 0;
            if (sscanf(c->tags[tag], "row%zu", &row) != 1 || !row || row > import->row_count)
                continue;
            struct import_row *out = &import->rows[row - 1];
            struct lower_bound bound;
            if (c->state != PLAN_READY || !(c->lower_bound.time_ns > 0) ||
                out->lower_bound_ns <= c->lower_bound.time_ns)
                continue;
            plan_case_bound(&bound, c, machine, out->median_ns, "");
            out->lower_bound_ns = bound.time_ns;
            out->bound = arena_strdup(arena, bound.bound);
            out->fraction = lower_bound_fraction(&bound, &c->resolved.work, out->median_ns);
        }
    }
}

/* Estimates the times of tuned kernels and lower bounds. The constants of element-wise and row kernels include the
 * launch as measured by events around a call. A kernel's time in a trace has no such part, so these are predicted
 * without it. All constants are of AMD's GPUs; others have no estimate. */
static enum status add_estimates(struct import *import, const struct machine *device, struct arena *arena,
                                 struct err *err)
{
    struct models models;
    struct prediction prediction;
    if (!target_is_amd(device->arch))
        return STATUS_OK;
    struct machine *machine = arena_copy(arena, device, sizeof(*device));
    struct machine_borrowed *borrowed = arena_alloc(arena, sizeof(*borrowed));
    if (models_read(&models, session_config(arena, "", "models"), NULL, arena, err) ||
        machine_complete(machine, session_config(arena, "", "machines"), borrowed, err))
        return err->status;
    FOR_EACH(struct import_row, row, import->rows, import->row_count) {
        const char *family = row->described.family;
        const double least_ns = *family ? described_least_ns(&row->described, machine, &models) : 0;
        /* What stands for a product may store wider results. */
        if (least_ns > 0 && (isnan(row->lower_bound_ns) || !strcmp(family, "gemm")))
            row->lower_bound_ns = fmin(row->lower_bound_ns, least_ns);
        /* Convolutions are described as MIOpen's naive kernels, which are not tuned. */
        if (!*family || !strcmp(family, "convolution") ||
            !describe_predict(&prediction, &row->described, machine, &models, strcmp(family, "gemm") != 0))
            continue;
        if (*prediction.constants)
            row->estimate_note = arena_printf(arena, "constants of %s", prediction.constants);
        row->estimate_ns = prediction.time_ns;
        row->worth_ns = row->total_ns > 0 ? fmax(0, row->total_ns - row->calls * row->estimate_ns) : NAN;
        row->estimate_low_ns = prediction.low_ns;
        row->estimate_high_ns = prediction.high_ns;
    }
    return STATUS_OK;
}

/* `suite` may be NULL; then bounds follow from the work of the rows. */
static enum status add_bounds(struct import *import, const struct text *suite, const struct call *call, struct err *err)
{
    struct measure_options measure;
    struct cli_options options = *call->options;
    struct session *session = arena_alloc(call->arena, sizeof(*session));
    const struct suite *parsed = NULL;
    if (!import->machine)
        return STATUS_OK;
    options.device = arena_printf(call->arena, "sim:%s", import->machine);
    options.machine = NULL;
    measure_defaults(&measure);
    *session = (struct session){.options = &options, .arena = call->arena};
    /* The suite's folder of manifests is next to it. */
    const char *path = options.out && strcmp(options.out, "-") != 0 ? options.out : "imported suite";
    const unsigned plan = suite ? SESSION_CATALOG | SESSION_PLAN : 0;
    if (suite && suite_parse(&parsed, path, suite->data, suite->length, &measure, call->arena, err))
        return err->status;
    session->suites = arena_copy(call->arena, &parsed, sizeof(parsed));
    session->suite_count = suite != NULL;
    if (session_go(session, plan | SESSION_DEVICE | SESSION_MACHINE, err))
        return err->status;
    if (suite)
        take_bounds(import, session->plan, call->arena);
    return add_estimates(import, &session->machine, call->arena, err);
}

/* ---- the command ---- */

static struct import_options options_of_import(const struct cli_options *options, struct arena *arena)
{
    return (struct import_options){.batch = options->batch,
                                   .tokens = options->tokens,
                                   .tp = options->tp,
                                   .decode = options->decode,
                                   .demangler = demangle_tool(arena),
                                   .shapes = options->shapes,
                                   .shape_count = options->shape_count};
}

static enum status import_two(struct call *call, struct err *err)
{
    const struct import_options options = options_of_import(call->options, call->arena);
    struct import_changes changes;
    struct document document = {.arena = call->arena};
    if (import_read_two(&changes, call->options->diff, &options, call->arena, err))
        return err->status;
    import_diff_document(&document, &changes);
    return cli_show_document(call->options, &document, false, err);
}

/* Folders contain code of kernels; all other arguments are files to read. */
static void split_arguments(struct call *call, const char **files, size_t *file_count, const char **folders,
                            size_t *folder_count)
{
    for (size_t k = 0; k < call->options->arg_count; k++)
        if (file_is_dir(call->options->args[k]))
            folders[(*folder_count)++] = call->options->args[k];
        else
            files[(*file_count)++] = call->options->args[k];
}

/* Whether --out is a file for people; otherwise it is the suite's. */
static bool is_page(const struct cli_options *options)
{
    return options->format && strcmp(options->format, "json") != 0 && strcmp(options->out, "-") != 0 &&
           !text_ends(options->out, ".json");
}

enum status cmd_import(struct call *call, struct err *err)
{
    struct import_options wanted = options_of_import(call->options, call->arena);
    struct session *kernels = arena_alloc(call->arena, sizeof(*kernels));
    const char *out = call->options->out;
    const size_t args = call->options->arg_count;
    const char **files = arena_array(call->arena, args + 1, sizeof(*files)), *manifests = NULL;
    const char **folders = arena_array(call->arena, args + 1, sizeof(*folders));
    size_t file_count = 0, folder_count = 0;
    struct cli_options shown = *call->options; /* -o names the suite */
    struct document document = {.arena = call->arena};
    struct import import;
    SCOPED(text_release) struct text suite = {0};
    session_catch_signals(1); /* also ends the program that reads the files */
    if (call->options->diff[0])
        return call->options->arg_count ? err_set(err, ERR_USAGE, "--diff takes two files, and there are further ones")
                                        : import_two(call, err);
    if (!call->options->arg_count)
        return err_set(err, ERR_USAGE, "'rooftile import' expects a file, or --diff A B");
    *kernels = (struct session){.options = call->options, .arena = call->arena};
    split_arguments(call, files, &file_count, folders, &folder_count);
    if (!file_count)
        return err_set(err, ERR_USAGE, "%s is a folder: beside a trace it is searched for the code of its kernels",
                       folders[0]);
    if (folder_count && (!out || !strcmp(out, "-") || is_page(call->options)))
        return err_set(err, ERR_USAGE, "%s is a folder: the manifests of what is found in it go beside -o SUITE.json",
                       folders[0]);
    enum status status = cli_check_output(out, call->arena, err);
    if (!status)
        status = session_go(kernels, SESSION_CATALOG, err);
    wanted.kernels = &kernels->catalog;
    if (!status)
        status = import_read(&import, files, file_count, &wanted, call->arena, err);
    if (!status && folder_count)
        status = import_code(&import, folders, folder_count, out, &manifests, call->arena, err);
    if (status)
        return status;
    const char *name = path_base(files[0]);
    import.machine = call->options->machine ? call->options->machine : machine_of(&import, call->arena);
    const bool any = import_suite(&suite, &import, arena_strndup(call->arena, name, strcspn(name, ".")),
                                  manifests ? path_base(manifests) : NULL);
    status = add_bounds(&import, any ? &suite : NULL, call, err);
    const bool makes_suite = out && !is_page(call->options);
    if (!status && makes_suite)
        status = any ? cli_write(out, &suite, err)
                     : err_set(err, ERR_CONFIG, "there is no suite to write: no shape of a kernel of ours is known");
    if (makes_suite) { /* its name is the suite's and does not determine the table's format */
        shown.out = NULL;
        shown.format = shown.format && text_ends(out, shown.format) ? NULL : shown.format;
    }
    struct err ignored = {0}; /* show the table even if the suite failed */
    import_document(&document, &import, makes_suite && any ? out : NULL, call->options->verbose > 0);
    if (!makes_suite || strcmp(out, "-") != 0)
        status = cli_show_document(&shown, &document, false, status ? &ignored : err) && !status ? err->status : status;
    return status;
}
