/* SPDX-License-Identifier: MIT */

#include "list.h"
#include "rooftile/file.h"
#include "rooftile/units.h"

#define VALUES_SHOWN 6u

const char *list_family(const struct manifest *manifest)
{
    return path_base(manifest->dir);
}

bool list_is_reference(const struct manifest *manifest)
{
    return text_ends(manifest->name, "_reference");
}

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

/* "a=1 b=2", behind what is there already. */
static void add_params(struct text *text, const struct param *params, size_t count, struct arena *arena)
{
    for (size_t k = 0; k < count; k++)
        text_addf(text, params[k].asks ? "%s%s={%s}" : "%s%s=%s", text->length ? " " : "", params[k].name,
                  params[k].asks ? expr_source(params[k].asks) : value_text(arena, &params[k].value));
}

const char *list_tags(const struct manifest *manifest, struct arena *arena)
{
    struct text text = {0};
    for (size_t k = 0; k < manifest->tag_count; k++)
        if (strcmp(manifest->tags[k], list_family(manifest)) != 0)
            text_addf(&text, "%s%s", text.length ? ", " : "", manifest->tags[k]);
    return text_take(&text, arena);
}

const char *list_sweeps(const struct suite_case *entry, struct arena *arena)
{
    struct text text = {0};
    add_params(&text, entry->params + entry->default_count, entry->param_count - entry->default_count, arena);
    for (size_t s = 0; s < entry->sweep_count; s++) {
        text_addf(&text, "%s%s=", text.length ? " " : "", entry->sweeps[s].param);
        /* "a, b, c", and of many values the first ones, the last and their number. */
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

struct table *list_items(struct arena *arena)
{
    static const struct table_column columns[] = {{.title = ""}, {.title = "", .flags = COLUMN_PROSE}};
    return TABLE(arena, columns);
}

void list_item(struct table *items, const char *left, const char *right)
{
    table_add(items, (struct cell[]){cell_text(left), cell_text(right)});
}

void list_part(struct document *document, const char *title, struct table *table)
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
                                                  {.title = "", .flags = COLUMN_PROSE}};
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct param, param, manifest->params, manifest->param_count) {
        struct cell cells[] = {cell_text(param->name), {0}, {0}, {0}};
        cells[1] = param->asks ? cell_text(expr_source(param->asks)) : value_cell(arena, &param->value);
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

/* ---- all of it ---- */

void list_kernel(struct document *document, const struct manifest *manifest)
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

const struct table *list_kernels(const struct manifest *const *kernels, size_t count, struct arena *arena)
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
