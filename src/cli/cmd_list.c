/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"
#include "rooftile/units.h"

#define VALUES_SHOWN 6u

/* Returns the folder of a kernel's manifest: "memory", "gemm". */
static const char *list_family(const struct manifest *manifest)
{
    return path_base(manifest->dir);
}

/* References compute the expected results of other kernels and are not measured. */
static bool list_is_reference(const struct manifest *manifest)
{
    return text_ends(manifest->name, "_reference");
}

/* ---- values ---- */

/* Writes large integers as one would type them: 64Mi. */
static const char *value_text(struct arena *arena, const struct param_value *value)
{
    char scaled[UNITS_TEXT];
    const char *plain = param_text(arena, value);
    double read_back = 0;
    if (value->kind != PARAM_NUMBER || fabs(value->number) < 0x1p16)
        return plain;
    units_count(scaled, value->number);
    const bool same = units_parse_number(&read_back, scaled) && read_back == value->number;
    return same && strlen(scaled) < strlen(plain) ? arena_strdup(arena, scaled) : plain;
}

static struct cell value_cell(struct arena *arena, const struct param_value *value)
{
    struct table *list = table_list(arena);
    struct cell cell = value->kind == PARAM_NUMBER  ? cell_number(value->number)
                       : value->kind == PARAM_DTYPE ? cell_text(dtype_name(value->dtype))
                       : value->kind == PARAM_LIST  ? cell_table(list)
                                                    : cell_text(value->string);
    for (size_t k = 0; value->kind == PARAM_LIST && k < value->count; k++)
        table_add(list, (struct cell[]){cell_number(value->list[k])});
    if (value->kind == PARAM_NUMBER || value->kind == PARAM_LIST)
        cell.text = value_text(arena, value);
    return cell;
}

static const char *fill_text(struct arena *arena, const struct fill_spec *fill)
{
    if (fill->kind == FILL_NONE)
        return "";
    if (fill->kind == FILL_EXPR)
        return arena_printf(arena, ": %s", expr_source(fill->expr));
    return arena_printf(arena, ": %s", generator_of(fill->kind)->name);
}

/* Appends "a=1 b=2" to the text. */
static void add_params(struct text *text, const struct param *params, size_t count, struct arena *arena)
{
    for (size_t k = 0; k < count; k++)
        text_addf(text, params[k].asks ? "%s%s={%s}" : "%s%s=%s", text->length ? " " : "", params[k].name,
                  params[k].asks ? expr_source(params[k].asks) : value_text(arena, &params[k].value));
}

/* Returns the tags that add to the family's name, separated by commas. */
static const char *list_tags(const struct manifest *manifest, struct arena *arena)
{
    struct text text = {0};
    for (size_t k = 0; k < manifest->tag_count; k++)
        if (strcmp(manifest->tags[k], list_family(manifest)) != 0)
            text_addf(&text, "%s%s", text.length ? ", " : "", manifest->tags[k]);
    return text_take(&text, arena);
}

/* Returns the parameters that a suite sets and sweeps for a kernel: "n=1,2,..,64 (7 values) dtype=f32". */
static const char *list_sweeps(const struct suite_case *entry, struct arena *arena)
{
    struct text text = {0};
    add_params(&text, entry->params + entry->default_count, entry->param_count - entry->default_count, arena);
    for (size_t s = 0; s < entry->sweep_count; s++) {
        text_addf(&text, "%s%s=", text.length ? " " : "", entry->sweeps[s].param);
        /* "a, b, c"; if there are many values, the first ones, the last and their number. */
        const struct param_value *values = entry->sweeps[s].values;
        const size_t count = entry->sweeps[s].count;
        for (size_t k = 0; k < (count > VALUES_SHOWN ? 3 : count); k++)
            text_addf(&text, "%s%s", k ? "," : "", value_text(arena, &values[k]));
        if (count > VALUES_SHOWN)
            text_addf(&text, ",..,%s (%zu values)", value_text(arena, &values[count - 1]), count);
    }
    for (size_t z = 0; z < entry->zip_count; z++)
        for (size_t name = 0; entry->zips[z][name]; name++)
            text_addf(&text, "%s%s%s", name ? "," : "; ", entry->zips[z][name],
                      entry->zips[z][name + 1] ? "" : " together");
    return text_take(&text, arena);
}

/* ---- parts of one kernel: tables for programs and people ---- */

/* Makes a table of two columns for people. */
static struct table *list_items(struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""}, {.title = "", .flags = COLUMN_PROSE}};
    return TABLE(arena, columns);
}

static void list_item(struct table *items, const char *left, const char *right)
{
    table_add(items, (struct cell[]){cell_text(left), cell_text(right)});
}

/* Adds a section with the table, unless it is empty. */
static void list_part(struct document *document, const char *title, struct table *table)
{
    if (!table->row_count || !table->column_count)
        return;
    table->indent = 2;
    document_add(document, (struct section){.show = SHOW_PEOPLE, .title = title, .table = table});
}

static struct table *params_of(const struct manifest *manifest, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "name", .title = ""},
                                                  {.key = "default", .title = ""},
                                                  {.key = "limits"},
                                                  {.key = "doc"},
                                                  {.title = "", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct param, param, manifest->params, manifest->param_count) {
        struct cell cells[] = {cell_text(param->name), {0}, {0}, {0}, {0}};
        cells[1] = param->asks ? cell_text(expr_source(param->asks)) : value_cell(arena, &param->value);
        struct table *limits = table_list(arena);
        struct text words = {0};
        for (size_t limit = 0; limit < param->limit_count; limit++) {
            const struct cell cell = value_cell(arena, &param->limits[limit]);
            table_add(limits, &cell);
            text_addf(&words, "%s%s", limit ? ", " : ": ", value_text(arena, &param->limits[limit]));
        }
        if (param->limits)
            cells[2] = cell_table(limits);
        cells[3] = param->doc ? cell_text(param->doc) : cell_absent();
        cells[4] = cell_text(arena_printf(arena, "%s%s",
                                          param->doc   ? param->doc
                                          : words.data ? "one of"
                                                       : "",
                                          text_or_empty(words.data)));
        text_release(&words);
        if (!param->implied)
            table_add(table, cells);
    }
    return table;
}

static struct table *variants_of(const struct manifest *manifest, struct arena *arena)
{
    struct table *table = list_items(arena);
    FOR_EACH(const struct manifest_variant, variant, manifest->variants, manifest->variant_count) {
        struct text left = {0}, right = {0};
        text_addf(&left, "on %s%s%s", variant->backend ? variant->backend : "",
                  variant->backend && variant->arch ? " " : "", variant->arch ? variant->arch : "");
        if (variant->wave)
            text_addf(&left, "%swave %u", variant->backend || variant->arch ? ", " : "", variant->wave);
        add_params(&right, variant->params, variant->param_count, arena);
        list_item(table, text_take(&left, arena), text_take(&right, arena));
    }
    return table;
}

static struct table *buffers_of(const struct manifest *manifest, struct arena *arena)
{
    static const char *const roles[] = {
        [ROLE_IN] = "in", [ROLE_OUT] = "out", [ROLE_INOUT] = "inout", [ROLE_TEMP] = "temp"};
    static const struct table_column columns[] = {{.key = "name", .title = ""},
                                                  {.key = "role", .title = ""},
                                                  {.key = "type"},
                                                  {.key = "count"},
                                                  {.title = "", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct manifest_buffer, buffer, manifest->buffers, manifest->buffer_count) {
        const char *type = template_source(buffer->type), *count = expr_source(buffer->count);
        table_add(
            table,
            (struct cell[]){cell_text(buffer->name), cell_text(roles[buffer->role]), cell_text(type), cell_text(count),
                            cell_text(arena_printf(arena, "%s x %s%s", type, count, fill_text(arena, &buffer->fill)))});
    }
    return table;
}

static struct table *work_of(const struct manifest *manifest, struct arena *arena)
{
    const struct {
        const char *key, *title;
        const struct expr *expr;
    } work[] = {{"read", "bytes read", manifest->read_bytes},
                {"write", "bytes written", manifest->write_bytes},
                {"flops", "flops", manifest->flops},
                {"transcendentals", "of them transcendental", manifest->transcendentals},
                {"items", "items", manifest->items}};
    struct table *record = table_record(arena);
    for (size_t k = 0; k < sizeof(work) / sizeof(work[0]); k++)
        if (work[k].expr)
            table_member(record, work[k].key, work[k].title, cell_text(expr_source(work[k].expr)));
    if (manifest->unit)
        table_member(record, "unit", *template_source(manifest->unit) ? "unit" : NULL,
                     cell_text(template_source(manifest->unit)));
    for (size_t k = 0; k < manifest->metric_count; k++)
        table_member(record, NULL, manifest->metrics[k].name,
                     cell_text(arena_printf(arena, "from the kernel, in %s",
                                            manifest->metrics[k].unit ? manifest->metrics[k].unit : "plain numbers")));
    return record;
}

static struct table *lets_of(const struct manifest *manifest, struct arena *arena)
{
    struct table *record = table_record(arena);
    for (size_t k = 0; k < manifest->let_count; k++)
        table_member(record, manifest->lets[k].name, manifest->lets[k].name, cell_text(manifest->lets[k].text));
    return record;
}

static struct table *verified_by(const struct manifest *manifest, struct arena *arena)
{
    const struct manifest_check *check = &manifest->check;
    const struct manifest_buffer *buffers = manifest->buffers;
    struct table *table = list_items(arena);
    struct text params = {0};
    for (size_t k = 0; k < check->expect_count; k++) {
        const char *want = fill_text(arena, &check->expect[k].want);
        list_item(table, buffers[check->expect[k].buffer].name,
                  arena_printf(arena, "every element =%s", want[0] ? want + 1 : ""));
    }
    if (check->reference.kernel)
        list_item(table, buffers[check->reference.output].name,
                  arena_printf(arena, "%s: every element at the check size, %llu at the measured size",
                               check->reference.kernel, (unsigned long long)check->reference.samples));
    if (table->row_count)
        add_params(&params, check->params, check->param_count, arena);
    if (params.length)
        list_item(table, "check size", text_take(&params, arena));
    return table;
}

static struct cell check_cell(const struct manifest *manifest, struct arena *arena)
{
    const struct manifest_check *check = &manifest->check;
    struct table *record = table_record(arena), *params = table_record(arena), *expect = table_list(arena);
    for (size_t k = 0; k < check->param_count; k++)
        table_member(params, check->params[k].name, NULL, value_cell(arena, &check->params[k].value));
    for (size_t k = 0; k < check->expect_count; k++)
        table_item(expect, manifest->buffers[check->expect[k].buffer].name);
    table_member(record, "params", NULL, cell_table(params));
    table_member(record, "expect", NULL, cell_table(expect));
    if (check->reference.kernel)
        table_member(record, "reference", NULL, cell_text(check->reference.kernel));
    return cell_table(record);
}

/* ---- one kernel ---- */

/* Lists one kernel in full, for people. */
static void list_kernel(struct document *document, const struct manifest *manifest)
{
    struct arena *arena = document->arena;
    const char *tags = list_tags(manifest, arena);
    struct table *needs = table_list(arena);
    document_add(document,
                 (struct section){.show = SHOW_PEOPLE,
                                  .title = manifest->name,
                                  .text = arena_printf(arena, "%s\nfamily %s, class %s%s%s\n%s",
                                                       manifest->summary ? manifest->summary : "",
                                                       list_family(manifest), case_class_names[manifest->class],
                                                       *tags ? ", tags " : "", tags, manifest->path)});
    list_part(document, "parameters (--set NAME=VALUES) and their defaults", params_of(manifest, arena));
    list_part(document, "defaults that depend on the device", variants_of(manifest, arena));
    list_part(document, "buffers", buffers_of(manifest, arena));
    list_part(document, "work of one launch (the algorithm's least)", work_of(manifest, arena));
    list_part(document, "verified by", verified_by(manifest, arena));
    for (size_t k = 0; k < manifest->require_count; k++)
        table_item(needs, expr_source(manifest->require[k].expr));
    list_part(document, "needs", needs);
    list_part(document, "names used here", lets_of(manifest, arena));
}

/* Lists all facts about these kernels, for programs. */
static const struct table *list_kernels(const struct manifest *const *kernels, size_t count, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "name"},  {.key = "summary"},   {.key = "family"},
                                                  {.key = "class"}, {.key = "reference"}, {.key = "path"},
                                                  {.key = "tags"},  {.key = "params"},    {.key = "buffers"},
                                                  {.key = "let"},   {.key = "work"},      {.key = "check"}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < count; k++) {
        const struct manifest *manifest = kernels[k];
        struct table *tags = table_list(arena);
        for (size_t n = 0; n < manifest->tag_count; n++)
            table_item(tags, manifest->tags[n]);
        table_add(table, (struct cell[]){cell_text(manifest->name), cell_text(manifest->summary),
                                         cell_text(list_family(manifest)), cell_text(case_class_names[manifest->class]),
                                         cell_bool(list_is_reference(manifest)), cell_text(manifest->path),
                                         cell_table(tags), cell_table(params_of(manifest, arena)),
                                         cell_table(buffers_of(manifest, arena)), cell_table(lets_of(manifest, arena)),
                                         cell_table(work_of(manifest, arena)), check_cell(manifest, arena)});
    }
    return table;
}

/* ---- the listing ---- */

struct listed_suite {
    const char *name; /* as `rooftile run` accepts it: the file's name without .json, or the path as given */
    const char *path;
    const struct suite *suite; /* NULL: unreadable, or not read (--names) */
    const char *problem;       /* why it is unreadable */
};

struct listing {
    struct arena *arena;
    struct catalog catalog;
    const struct manifest **kernels; /* chosen ones, by family and then by name */
    size_t kernel_count;
    struct listed_suite *suites;
    size_t suite_count;
    bool full; /* named explicitly: show everything about them */
};

/* ---- finding suites and kernels ---- */

/* ---- choosing ---- */

/* Chooses kernels of one family, or (NULL) of all. */
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
        FOR_EACH(const struct listed_suite, listed, listing->suites, listing->suite_count) {
            const struct suite *suite = listed->suite;
            struct table *cases = list_items(document->arena);
            for (size_t k = 0; k < suite->case_count; k++)
                list_item(cases, suite->cases[k].kernel, list_sweeps(&suite->cases[k], document->arena));
            const char *text =
                arena_printf(document->arena, "%s\n%s", suite->summary ? suite->summary : "", listed->path);
            document_add(document, (struct section){.show = SHOW_PEOPLE, .title = listed->name, .text = text});
            list_part(document, "kernels and what is swept", cases);
            document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                          "'rooftile plan %s' shows every case and how long it takes.", listed->name);
        }
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

/* Lists the parameters that --set accepts for the named kernels, or for all, each once. Ignores other words, so that a
 * shell may pass its whole line. */
static enum status offer_params(struct call *call, struct err *err)
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
        return offer_params(call, err);
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
