/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "list.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"

struct listed_suite {
    const char *name; /* as `rooftile run` takes it: the file's name without .json, or the path as given */
    const char *path;
    const struct suite *suite; /* NULL: it cannot be read, or was not (--names) */
    const char *problem;       /* why it cannot be read */
};

struct listing {
    struct arena *arena;
    struct catalog catalog;
    const struct manifest **kernels; /* chosen ones, by family and then by name */
    size_t kernel_count;
    struct listed_suite *suites;
    size_t suite_count;
    bool full; /* named one by one: show everything about them */
};

/* ---- what there is ---- */

/* ---- what was asked for ---- */

/* Of one family, or (NULL) of all. */
static void choose_kernels(struct listing *listing, const struct cli_options *options, const char *family)
{
    size_t count = 0;
    const struct manifest *const *all = catalog_all(&count, &listing->catalog);
    for (size_t k = 0; k < count; k++) {
        const char **texts = arena_array(listing->arena, all[k]->tag_count + 2, sizeof(*texts));
        texts[0] = all[k]->name;
        texts[1] = list_family(all[k]);
        for (size_t n = 0; n < all[k]->tag_count; n++)
            texts[n + 2] = all[k]->tags[n];
        if (text_filtered_any(options->filters, options->filter_count, texts, all[k]->tag_count + 2) &&
            (!family || !strcmp(texts[1], family)))
            ARENA_PUSH(listing->arena, listing->kernels, listing->kernel_count, all[k]);
    }
}

static enum status choose_named(struct listing *listing, const struct session *session, struct err *err)
{
    const struct cli_options *options = session->options;
    const struct listed_suite *all = listing->suites;
    const size_t count = listing->suite_count;
    listing->suites = NULL;
    listing->suite_count = 0;
    for (size_t k = 0; k < options->arg_count; k++) {
        const char *name = options->args[k];
        const struct manifest *manifest = catalog_find(&listing->catalog, name);
        const size_t before = listing->kernel_count;
        const struct listed_suite file = {.name = name, .path = name};
        const struct listed_suite *suite =
            strchr(name, '/') || text_ends(name, ".json") ? &file : FIND_ROW(all, count, name, name);
        const bool named = manifest || suite;
        if (manifest)
            ARENA_PUSH(listing->arena, listing->kernels, listing->kernel_count, manifest);
        else if (suite)
            ARENA_PUSH(listing->arena, listing->suites, listing->suite_count, *suite);
        else
            choose_kernels(listing, options, name);
        if (!named && listing->kernel_count == before)
            return argument_unknown(session, name, err);
        listing->full |= named;
    }
    return STATUS_OK;
}

static int by_family(const void *a, const void *b)
{
    const struct manifest *const *left = a, *const *right = b;
    return ORDER(session_is_helper(*left), session_is_helper(*right))
           ?: strcmp(list_family(*left), list_family(*right)) ?: strcmp((*left)->name, (*right)->name);
}

static enum status find_all(struct listing *listing, const struct cli_options *options, struct err *err)
{
    struct session session = {.options = options, .arena = listing->arena, .kernel_count = options->arg_count};
    session.kernels = arena_copy(listing->arena, options->args, (options->arg_count + 1) * sizeof(*options->args));
    const char *const *paths = NULL;
    size_t count = 0;
    if (session_go(&session, SESSION_CATALOG, err) || session_suites(&paths, &count, listing->arena, err))
        return err->status;
    for (size_t k = 0; k < count; k++)
        ARENA_PUSH(
            listing->arena, listing->suites, listing->suite_count,
            (struct listed_suite){.name = path_stem(path_base(paths[k]), ".json", listing->arena), .path = paths[k]});
    listing->catalog = session.catalog;
    if (options->arg_count && choose_named(listing, &session, err))
        return err->status;
    if (!options->arg_count)
        choose_kernels(listing, options, NULL);
    if (!options->arg_count && options->filter_count)
        listing->suite_count = 0;
    if (listing->kernel_count)
        qsort(listing->kernels, listing->kernel_count, sizeof(*listing->kernels), by_family);
    for (size_t k = 0; k < listing->suite_count && !options->names; k++) {
        struct listed_suite *listed = &listing->suites[k];
        struct measure_options measure;
        struct err why = {0};
        measure_defaults(&measure);
        if (!suite_read(&listed->suite, listed->path, &measure, listing->arena, &why))
            continue;
        listed->problem = arena_strdup(listing->arena, why.text);
        if (listing->full) {
            err_set(err, ERR_CONFIG, "%s", listed->problem);
            return argument_explain(err, listed->path, "a suite", listing->arena);
        }
    }
    return STATUS_OK;
}

/* ---- for people ---- */

static void one_suite(struct document *document, const struct listed_suite *listed)
{
    const struct suite *suite = listed->suite;
    struct table *cases = list_items(document->arena);
    for (size_t k = 0; k < suite->case_count; k++)
        list_item(cases, suite->cases[k].kernel, list_sweeps(&suite->cases[k], document->arena));
    document_add(document, (struct section){.show = SHOW_PEOPLE,
                                            .title = listed->name,
                                            .text = arena_printf(document->arena, "%s\n%s",
                                                                 suite->summary ? suite->summary : "", listed->path)});
    list_part(document, "kernels and what is swept", cases);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "'rooftile plan %s' shows every case and how long it takes.",
                  listed->name);
}

static const char *heading_of(const struct manifest *manifest)
{
    if (list_is_reference(manifest))
        return "reference (compute what is right for the others)";
    return session_is_helper(manifest) ? "service (what a run needs beside its cases)" : list_family(manifest);
}

static void overview(struct document *document, const struct listing *listing)
{
    struct arena *arena = document->arena;
    struct table *table = NULL;
    const char *heading = "";
    for (size_t k = 0; k < listing->kernel_count; k++) {
        const struct manifest *manifest = listing->kernels[k];
        const char *tags = list_tags(manifest, arena), *summary = manifest->summary ? manifest->summary : "";
        const bool next = strcmp(heading_of(manifest), heading) != 0;
        heading = heading_of(manifest);
        if (next)
            table = list_items(arena);
        list_item(table, manifest->name, *tags ? arena_printf(arena, "%s [%s]", summary, tags) : summary);
        if (next)
            list_part(document, heading, table);
    }
    table = list_items(arena);
    FOR_EACH(const struct listed_suite, listed, listing->suites, listing->suite_count) {
        const char *summary = listed->suite ? listed->suite->summary : listed->problem;
        list_item(table, listed->name, summary ? summary : "");
    }
    list_part(document, "suites", table);
    table = table_list(arena);
    for (size_t k = 0; k < listing->catalog.count; k++)
        if (listing->catalog.entries[k].problem)
            table_item(table, listing->catalog.entries[k].problem);
    list_part(document, "problems", table);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%s",
                  listing->kernel_count + listing->suite_count
                      ? "'rooftile list NAME' shows one in full, 'rooftile run NAME' measures it."
                      : "nothing matches");
}

/* ---- for programs ---- */

static const struct table *suites_of(const struct listing *listing)
{
    static const struct table_column columns[] = {
        {.key = "name"}, {.key = "path"}, {.key = "summary"}, {.key = "problem"}, {.key = "kernels"}};
    struct table *table = TABLE(listing->arena, columns);
    FOR_EACH(const struct listed_suite, listed, listing->suites, listing->suite_count) {
        const struct suite *suite = listed->suite;
        struct table *kernels = table_list(listing->arena);
        for (size_t n = 0; suite && n < suite->case_count; n++)
            if (!FIND_ROW(suite->cases, n, kernel, suite->cases[n].kernel))
                table_item(kernels, suite->cases[n].kernel);
        table_add(table, (struct cell[]){
                             cell_text(listed->name), cell_text(listed->path), cell_text(suite ? suite->summary : NULL),
                             listed->problem ? cell_text(listed->problem) : (struct cell){0}, cell_table(kernels)});
    }
    return table;
}

static const struct table *problems_of(const struct listing *listing)
{
    static const struct table_column columns[] = {{.key = "name"}, {.key = "path"}, {.key = "text"}};
    struct table *table = TABLE(listing->arena, columns);
    FOR_EACH(const struct catalog_entry, entry, listing->catalog.entries, listing->catalog.count)
        if (entry->problem)
            table_add(table,
                      (struct cell[]){cell_text(entry->name), cell_text(entry->path), cell_text(entry->problem)});
    return table;
}

static void list_document(struct document *document, const struct listing *listing, bool data)
{
    if (data) {
        document_table(document, "kernels", NULL,
                       list_kernels(listing->kernels, listing->kernel_count, listing->arena));
        document_table(document, "suites", NULL, suites_of(listing));
        document_table(document, "problems", NULL, problems_of(listing));
    } else if (!listing->full) {
        overview(document, listing);
    } else {
        for (size_t k = 0; k < listing->kernel_count; k++)
            list_kernel(document, listing->kernels[k]);
        for (size_t k = 0; k < listing->suite_count; k++)
            one_suite(document, &listing->suites[k]);
    }
}

/* ---- targets ---- */

static const struct table_column target_columns[] = {
    {.key = "target", .title = "target"},
    {.key = "products", .title = "products"},
    {.title = "waves"},
    {.title = "needs"},
    {.title = "compiler at hand", .flags = COLUMN_PROSE},
    {.key = "needs_llvm"},
    {.key = "needs_cuda"},
    {.key = "wave32"},
    {.key = "wave64"},
    {.key = "wgp"},
    {.key = "compiler"},
    {.key = "llvm"},
    {.key = "problem"},
};

static const char *compiler_words(const struct target *target, const struct compiler *compiler, struct arena *arena)
{
    if (compiler->is_nvcc)
        return arena_printf(arena, "%s (%s)", compiler->path, compiler->version);
    return arena_printf(arena, "%s%s%s", compiler->path,
                        compiler->llvm ? arena_printf(arena, " (LLVM %u)", compiler->llvm) : "",
                        target->cuda ? ", as PTX" : "");
}

static void add_target(struct table *table, const struct target *target, struct arena *arena)
{
    const struct target_modes modes = target_modes(target->arch);
    const struct build_target build = build_target_of(target->arch);
    struct compiler compiler;
    struct err err = {0};
    const enum status status = build_find_compiler(&compiler, &build, 0, arena, &err);
    const char *problem = status ? arena_strdup(arena, err.text) : NULL;
    const char *words = !status                     ? compiler_words(target, &compiler, arena)
                        : status == ERR_UNSUPPORTED ? "never compiled: no compiler at hand knows it"
                                                    : problem;
    table_add(table, (struct cell[]){
                         cell_text(target->arch), cell_text(target->products),
                         cell_text(modes.wave32 && modes.wave64 ? "32, 64"
                                   : modes.wave32               ? "32"
                                                                : "64"),
                         cell_text(target->cuda ? arena_printf(arena, "CUDA %s, LLVM %u", target->cuda, target->llvm)
                                                : arena_printf(arena, "LLVM %u", target->llvm)),
                         cell_text(words), cell_number(target->llvm), cell_text(target->cuda), cell_bool(modes.wave32),
                         cell_bool(modes.wave64), cell_bool(modes.wgp), cell_text(problem ? NULL : compiler.path),
                         cell_number(problem ? 0 : compiler.llvm), cell_text(problem)});
}

/* ---- the command ---- */

/* What --set may say of the kernels that are named, or of all: each once. Other words are passed over, so that a shell
 * may give all that stand on its line. */
static enum status add_params(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct session session = {.options = options, .arena = call->arena};
    enum status status = session_go(&session, SESSION_CATALOG, err);
    bool named = false;
    size_t count = 0;
    const struct manifest *const *all = status ? NULL : catalog_all(&count, &session.catalog);
    for (size_t k = 0; k < options->arg_count && !status; k++)
        named |= catalog_find(&session.catalog, options->args[k]) != NULL;
    for (size_t k = 0; k < count; k++) {
        const struct manifest *manifest = all[k];
        const bool wanted = !named || text_among(manifest->name, options->args, options->arg_count);
        for (size_t p = 0; p < manifest->param_count && wanted; p++) {
            const struct param *param = &manifest->params[p];
            for (size_t v = 0; v < (param->limit_count ? param->limit_count : 1); v++) {
                const char *value = param->limit_count ? param_text(call->arena, &param->limits[v]) : "";
                const char *line = arena_printf(call->arena, "%s=%s", param->name, value);
                if (!call->out.data || !text_has_word(call->out.data, "\n", line, strlen(line)))
                    text_addf(&call->out, "%s\n", line);
            }
        }
    }
    return status;
}

enum status cmd_list(struct call *call, struct err *err)
{
    const struct cli_options *options = call->options;
    struct document document = {.arena = call->arena};
    struct listing listing = {.arena = call->arena};
    if (options->params)
        return add_params(call, err);
    if (options->targets && options_check_count(options->arg_count, 0, 0, "list --targets", "", err))
        return err->status;
    if (!options->targets && find_all(&listing, options, err))
        return err->status;
    if (options->names) {
        for (size_t k = 0; k < listing.kernel_count; k++)
            if (!session_is_helper(listing.kernels[k]))
                text_addf(&call->out, "%s\n", listing.kernels[k]->name);
        for (size_t k = 0; k < listing.suite_count; k++)
            text_addf(&call->out, "%s\n", listing.suites[k].name);
        for (size_t k = 0; k < target_count && options->targets; k++)
            text_addf(&call->out, "%s\n", targets[k].arch);
        return STATUS_OK;
    }
    if (options->targets) {
        struct table *table = TABLE(call->arena, target_columns);
        table->indent = 2;
        for (size_t k = 0; k < target_count; k++)
            add_target(table, &targets[k], call->arena);
        document_table(&document, "targets", NULL, table);
        document_text(
            &document, SHOW_PEOPLE, TONE_PLAIN,
            "'rooftile build --arch TARGET' compiles for it. Where waves of 32 and 64 lanes are listed, --set "
            "wave=32,64 and --set cumode=0,1 compile every kernel each way. For NVIDIA either compiler will "
            "do: nvcc makes the code itself, clang PTX that the driver compiles.");
    } else {
        list_document(&document, &listing, cli_wants_json(options));
    }
    return cli_show_document(options, &document, false, err);
}
