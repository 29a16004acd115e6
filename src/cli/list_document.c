/* SPDX-License-Identifier: MIT
 *
 * Kernels, suites and targets as documents.
 */
#include <math.h>
#include <string.h>

#include "list.h"
#include "rooftile/build.h"
#include "rooftile/targets.h"
#include "rooftile/units.h"
#include "session.h"

#define VALUES_SHOWN 6u

/* ---- values ---- */

/* Large whole numbers as one would type them: 64Mi. */
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

/* The tags that say more than the family does, separated by commas. */
static const char *more_tags(const struct manifest *manifest, struct arena *arena)
{
    struct text text = {0};
    for (size_t k = 0; k < manifest->tag_count; k++)
        if (strcmp(manifest->tags[k], list_family(manifest)) != 0)
            text_addf(&text, "%s%s", text.length ? ", " : "", manifest->tags[k]);
    return text_take(&text, arena);
}

/* ---- parts of one kernel: tables for programs and people ---- */

static const struct table_column item_columns[] = {{.title = ""}, {.title = "", .flags = COLUMN_PROSE}};

static struct table *params_of(const struct manifest *manifest, struct arena *arena)
{
    static const struct table_column columns[] = {{.key = "name", .title = ""},
                                                  {.key = "default", .title = ""},
                                                  {.key = "limits"},
                                                  {.title = "", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < manifest->param_count; k++) {
        const struct param *param = &manifest->params[k];
        struct cell cells[] = {cell_text(param->name), value_cell(arena, &param->value), {0}, {0}};
        struct table *limits = table_list(arena);
        struct text words = {0};
        for (size_t limit = 0; limit < param->limit_count; limit++) {
            const struct cell cell = value_cell(arena, &param->limits[limit]);
            table_add(limits, &cell);
            text_addf(&words, "%s%s", limit ? ", " : "one of ", value_text(arena, &param->limits[limit]));
        }
        if (param->limits) {
            cells[2] = cell_table(limits);
            cells[3] = cell_text(text_take(&words, arena));
        }
        if (!param->implied)
            table_add(table, cells);
    }
    return table;
}

static struct table *variants_of(const struct manifest *manifest, struct arena *arena)
{
    struct table *table = TABLE(arena, item_columns);
    for (size_t k = 0; k < manifest->variant_count; k++) {
        const struct manifest_variant *variant = &manifest->variants[k];
        struct text left = {0}, right = {0};
        text_addf(&left, "on %s%s%s", variant->backend ? variant->backend : "",
                  variant->backend && variant->arch ? " " : "", variant->arch ? variant->arch : "");
        if (variant->wave)
            text_addf(&left, "%swave %u", variant->backend || variant->arch ? ", " : "", variant->wave);
        for (size_t p = 0; p < variant->param_count; p++)
            text_addf(&right, "%s%s=%s", p ? " " : "", variant->params[p].name,
                      value_text(arena, &variant->params[p].value));
        table_add(table, (struct cell[]){cell_text(text_take(&left, arena)), cell_text(text_take(&right, arena))});
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
    for (size_t k = 0; k < manifest->buffer_count; k++) {
        const struct manifest_buffer *buffer = &manifest->buffers[k];
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
    struct table *table = TABLE(arena, item_columns);
    struct text params = {0};
    for (size_t k = 0; k < check->expect_count; k++) {
        const struct expectation *expect = &check->expect[k];
        const char *want = fill_text(arena, &expect->want);
        table_add(table, (struct cell[]){cell_text(manifest->buffers[expect->buffer].name),
                                         cell_text(arena_printf(arena, "every element =%s", want[0] ? want + 1 : ""))});
    }
    if (check->reference.kernel)
        table_add(table, (struct cell[]){cell_text(manifest->buffers[check->reference.output].name),
                                         cell_text(arena_printf(
                                             arena, "%s: every element at the check size, %llu at the measured size",
                                             check->reference.kernel, (unsigned long long)check->reference.samples))});
    for (size_t k = 0; k < check->param_count && table->row_count; k++)
        text_addf(&params, "%s%s=%s", k ? " " : "", check->params[k].name, value_text(arena, &check->params[k].value));
    if (params.length)
        table_add(table, (struct cell[]){cell_text("check size"), cell_text(text_take(&params, arena))});
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

/* ---- one in full ---- */

static void part(struct document *document, const char *title, struct table *table)
{
    if (!table->row_count || !table->column_count)
        return;
    table->indent = 2;
    document_add(document, (struct section){.show = SHOW_PEOPLE, .title = title, .table = table});
}

static void one_kernel(struct document *document, const struct manifest *manifest)
{
    struct arena *arena = document->arena;
    const char *tags = more_tags(manifest, arena);
    struct table *needs = table_list(arena);
    document_add(document,
                 (struct section){.show = SHOW_PEOPLE,
                                  .title = manifest->name,
                                  .text = arena_printf(arena, "%s\nfamily %s, class %s%s%s\n%s",
                                                       manifest->summary ? manifest->summary : "",
                                                       list_family(manifest), case_class_name(manifest->class),
                                                       *tags ? ", tags " : "", tags, manifest->path)});
    part(document, "parameters (--set NAME=VALUES) and their defaults", params_of(manifest, arena));
    part(document, "defaults that depend on the device", variants_of(manifest, arena));
    part(document, "buffers", buffers_of(manifest, arena));
    part(document, "work of one launch (the algorithm's least)", work_of(manifest, arena));
    part(document, "verified by", verified_by(manifest, arena));
    for (size_t k = 0; k < manifest->require_count; k++)
        table_item(needs, expr_source(manifest->require[k].expr));
    part(document, "needs", needs);
    part(document, "names used here", lets_of(manifest, arena));
}

/* "a, b, c", and of many values the first ones, the last and their number. */
static void add_values(struct text *text, const struct param_value *values, size_t count, struct arena *arena)
{
    const bool cut = count > VALUES_SHOWN;
    for (size_t k = 0; k < (cut ? 3 : count); k++)
        text_addf(text, "%s%s", k ? "," : "", value_text(arena, &values[k]));
    if (cut)
        text_addf(text, ",..,%s (%zu values)", value_text(arena, &values[count - 1]), count);
}

static const char *sweeps_of(const struct suite_case *entry, struct arena *arena)
{
    struct text text = {0};
    for (size_t p = entry->default_count; p < entry->param_count; p++)
        text_addf(&text, "%s%s=%s", text.length ? " " : "", entry->params[p].name,
                  value_text(arena, &entry->params[p].value));
    for (size_t s = 0; s < entry->sweep_count; s++) {
        text_addf(&text, "%s%s=", text.length ? " " : "", entry->sweeps[s].param);
        add_values(&text, entry->sweeps[s].values, entry->sweeps[s].count, arena);
    }
    for (size_t z = 0; z < entry->zip_count; z++)
        for (size_t name = 0; entry->zips[z][name]; name++)
            text_addf(&text, "%s%s%s", name ? "," : "; ", entry->zips[z][name],
                      entry->zips[z][name + 1] ? "" : " together");
    return text_take(&text, arena);
}

static void one_suite(struct document *document, const struct listed_suite *listed)
{
    const struct suite *suite = listed->suite;
    struct table *cases = TABLE(document->arena, item_columns);
    for (size_t k = 0; k < suite->case_count; k++)
        table_add(cases, (struct cell[]){cell_text(suite->cases[k].kernel),
                                         cell_text(sweeps_of(&suite->cases[k], document->arena))});
    document_add(document, (struct section){.show = SHOW_PEOPLE,
                                            .title = listed->name,
                                            .text = arena_printf(document->arena, "%s\n%s",
                                                                 suite->summary ? suite->summary : "", listed->path)});
    part(document, "kernels and what is swept", cases);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "'rooftile plan %s' shows every case and how long it takes.",
                  listed->name);
}

/* ---- the overview ---- */

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
        const char *tags = more_tags(manifest, arena), *summary = manifest->summary ? manifest->summary : "";
        const bool next = strcmp(heading_of(manifest), heading) != 0;
        heading = heading_of(manifest);
        if (next)
            table = TABLE(arena, item_columns);
        table_add(table, (struct cell[]){cell_text(manifest->name),
                                         cell_text(*tags ? arena_printf(arena, "%s [%s]", summary, tags) : summary)});
        if (next)
            part(document, heading, table);
    }
    table = TABLE(arena, item_columns);
    for (size_t k = 0; k < listing->suite_count; k++) {
        const struct listed_suite *listed = &listing->suites[k];
        const char *summary = listed->suite ? listed->suite->summary : listed->problem;
        table_add(table, (struct cell[]){cell_text(listed->name), cell_text(summary ? summary : "")});
    }
    part(document, "suites", table);
    table = table_list(arena);
    for (size_t k = 0; k < listing->catalog.problem_count; k++)
        table_item(table, listing->catalog.problems[k].text);
    part(document, "problems", table);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "%s",
                  listing->kernel_count + listing->suite_count
                      ? "'rooftile list NAME' shows one in full, 'rooftile run NAME' measures it."
                      : "nothing matches");
}

/* ---- for programs ---- */

static const struct table *kernels_of(const struct listing *listing)
{
    static const struct table_column columns[] = {{.key = "name"},  {.key = "summary"},   {.key = "family"},
                                                  {.key = "class"}, {.key = "reference"}, {.key = "path"},
                                                  {.key = "tags"},  {.key = "params"},    {.key = "buffers"},
                                                  {.key = "let"},   {.key = "work"},      {.key = "check"}};
    struct arena *arena = listing->arena;
    struct table *table = TABLE(arena, columns);
    for (size_t k = 0; k < listing->kernel_count; k++) {
        const struct manifest *manifest = listing->kernels[k];
        struct table *tags = table_list(arena);
        for (size_t n = 0; n < manifest->tag_count; n++)
            table_item(tags, manifest->tags[n]);
        table_add(table, (struct cell[]){cell_text(manifest->name), cell_text(manifest->summary),
                                         cell_text(list_family(manifest)), cell_text(case_class_name(manifest->class)),
                                         cell_bool(list_is_reference(manifest)), cell_text(manifest->path),
                                         cell_table(tags), cell_table(params_of(manifest, arena)),
                                         cell_table(buffers_of(manifest, arena)), cell_table(lets_of(manifest, arena)),
                                         cell_table(work_of(manifest, arena)), check_cell(manifest, arena)});
    }
    return table;
}

static const struct table *suites_of(const struct listing *listing)
{
    static const struct table_column columns[] = {
        {.key = "name"}, {.key = "path"}, {.key = "summary"}, {.key = "problem"}, {.key = "kernels"}};
    struct table *table = TABLE(listing->arena, columns);
    for (size_t k = 0; k < listing->suite_count; k++) {
        const struct listed_suite *listed = &listing->suites[k];
        const struct suite *suite = listed->suite;
        struct table *kernels = table_list(listing->arena);
        for (size_t n = 0; suite && n < suite->case_count; n++) {
            size_t before = 0;
            while (before < n && strcmp(suite->cases[before].kernel, suite->cases[n].kernel) != 0)
                before++;
            if (before == n)
                table_item(kernels, suite->cases[n].kernel);
        }
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
    for (size_t k = 0; k < listing->catalog.problem_count; k++)
        table_add(table, (struct cell[]){cell_text(listing->catalog.problems[k].name),
                                         cell_text(listing->catalog.problems[k].path),
                                         cell_text(listing->catalog.problems[k].text)});
    return table;
}

void list_document(struct document *document, const struct listing *listing, bool data)
{
    if (data) {
        document_table(document, "kernels", NULL, kernels_of(listing));
        document_table(document, "suites", NULL, suites_of(listing));
        document_table(document, "problems", NULL, problems_of(listing));
    } else if (!listing->full) {
        overview(document, listing);
    } else {
        for (size_t k = 0; k < listing->kernel_count; k++)
            one_kernel(document, listing->kernels[k]);
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
    {.title = "compiler at hand"},
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

void list_targets(struct document *document)
{
    struct table *table = TABLE(document->arena, target_columns);
    table->indent = 2;
    for (size_t k = 0; k < TARGET_COUNT; k++)
        add_target(table, &targets[k], document->arena);
    document_table(document, "targets", NULL, table);
    document_text(document, SHOW_PEOPLE, TONE_PLAIN,
                  "'rooftile build --arch TARGET' compiles for it. Where waves of 32 and 64 lanes are listed, --set "
                  "wave=32,64 and --set cumode=0,1 compile every kernel each way. For NVIDIA either compiler will do: "
                  "nvcc makes the code itself, clang PTX that the driver compiles.");
}
