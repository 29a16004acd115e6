/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "layout.h"
#include "list_view.h"
#include "rooftile/units.h"

#define DETAIL_COLUMN 22u /* of values, in what is shown of one kernel or suite */
#define VALUES_SHOWN 6u

char *list_tags(struct arena *arena, const struct manifest *manifest)
{
    struct text text = {0};
    for (size_t k = 0; k < manifest->tag_count; k++)
        if (strcmp(manifest->tags[k], list_family(manifest)) != 0)
            text_addf(&text, "%s%s", text.length ? ", " : "", manifest->tags[k]);
    char *tags = arena_strdup(arena, text.data ? text.data : "");
    text_release(&text);
    return tags;
}

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

/* "a, b, c", and of many values the first ones, the last and their number. */
static char *values_text(struct arena *arena, const struct param_value *values, size_t count)
{
    struct text text = {0};
    const bool cut = count > VALUES_SHOWN;
    for (size_t k = 0; k < (cut ? 3 : count); k++)
        text_addf(&text, "%s%s", k ? "," : "", value_text(arena, &values[k]));
    if (cut)
        text_addf(&text, ",..,%s (%zu values)", value_text(arena, &values[count - 1]), count);
    char *kept = arena_strdup(arena, text.data ? text.data : "");
    text_release(&text);
    return kept;
}

static void part(const struct list_view *view, const char *heading)
{
    text_add(view->out, "\n");
    layout_heading(view->out, heading, view->color);
}

static void params_part(const struct list_view *view, const struct manifest *manifest)
{
    part(view, "parameters (--set NAME=VALUES) and their defaults");
    for (size_t k = 0; k < manifest->param_count; k++) {
        const struct param *param = &manifest->params[k];
        if (param->implied)
            continue;
        struct text right = {0};
        text_addf(&right, "%-10s", value_text(view->arena, &param->value));
        if (param->limits) {
            text_add(&right, "one of");
            for (size_t limit = 0; limit < param->limit_count; limit++)
                text_addf(&right, "%s %s", limit ? "," : "", value_text(view->arena, &param->limits[limit]));
        }
        while (right.length && right.data[right.length - 1] == ' ')
            right.data[--right.length] = '\0';
        text_addf(view->out, "  %-18s  %s\n", param->name, right.data);
        text_release(&right);
    }
}

static void variants_part(const struct list_view *view, const struct manifest *manifest)
{
    for (size_t k = 0; k < manifest->variant_count; k++) {
        const struct manifest_variant *variant = &manifest->variants[k];
        struct text left = {0}, right = {0};
        text_addf(&left, "on %s%s%s", variant->backend ? variant->backend : "",
                  variant->backend && variant->arch ? " " : "", variant->arch ? variant->arch : "");
        if (variant->wave)
            text_addf(&left, "%swave %u", variant->backend || variant->arch ? ", " : "", variant->wave);
        for (size_t p = 0; p < variant->param_count; p++)
            text_addf(&right, "%s%s=%s", p ? " " : "", variant->params[p].name,
                      value_text(view->arena, &variant->params[p].value));
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, left.data, right.data ? right.data : "");
        text_release(&left);
        text_release(&right);
    }
}

static const char *fill_text(struct arena *arena, const struct fill_spec *fill)
{
    if (fill->kind == FILL_NONE)
        return "";
    if (fill->kind == FILL_EXPR)
        return arena_printf(arena, ": %s", expr_source(fill->expr));
    return arena_printf(arena, ": %s", generator_of(fill->kind)->name);
}

static void buffers_part(const struct list_view *view, const struct manifest *manifest)
{
    part(view, "buffers");
    for (size_t k = 0; k < manifest->buffer_count; k++) {
        const struct manifest_buffer *buffer = &manifest->buffers[k];
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns,
                    arena_printf(view->arena, "%-11s  %s", buffer->name, list_role_name(buffer->role)),
                    arena_printf(view->arena, "%s x %s%s", template_source(buffer->type), expr_source(buffer->count),
                                 fill_text(view->arena, &buffer->fill)));
    }
}

static void work_part(const struct list_view *view, const struct manifest *manifest)
{
    const struct {
        const char *name;
        const struct expr *expr;
    } work[] = {{"bytes read", manifest->read_bytes},
                {"bytes written", manifest->write_bytes},
                {"flops", manifest->flops},
                {"items", manifest->items}};
    part(view, "work of one launch (the algorithm's least)");
    for (size_t k = 0; k < sizeof(work) / sizeof(work[0]); k++)
        if (work[k].expr)
            layout_item(view->out, 2, DETAIL_COLUMN, view->columns, work[k].name, expr_source(work[k].expr));
    if (manifest->unit && *template_source(manifest->unit))
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, "unit", template_source(manifest->unit));
    for (size_t k = 0; k < manifest->metric_count; k++)
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, manifest->metrics[k].name,
                    arena_printf(view->arena, "from the kernel, in %s",
                                 manifest->metrics[k].unit ? manifest->metrics[k].unit : "plain numbers"));
}

static void lets_part(const struct list_view *view, const struct manifest *manifest)
{
    if (!manifest->let_count)
        return;
    part(view, "names used here");
    for (size_t k = 0; k < manifest->let_count; k++)
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, manifest->lets[k].name, manifest->lets[k].text);
}

static void check_part(const struct list_view *view, const struct manifest *manifest)
{
    const struct manifest_check *check = &manifest->check;
    if (!check->expect_count && !check->oracle.kernel)
        return;
    part(view, "verified by");
    for (size_t k = 0; k < check->expect_count; k++) {
        const struct expectation *expect = &check->expect[k];
        const char *want = fill_text(view->arena, &expect->want);
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, manifest->buffers[expect->buffer].name,
                    arena_printf(view->arena, "every element =%s", want[0] ? want + 1 : ""));
    }
    if (check->oracle.kernel)
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, manifest->buffers[check->oracle.output].name,
                    arena_printf(view->arena, "%s: every element at the check size, %llu at the measured size",
                                 check->oracle.kernel, (unsigned long long)check->oracle.samples));
    for (size_t k = 0; k < check->param_count; k++)
        text_addf(view->out, "%s%s=%s%s", k ? " " : "  check size: ", check->params[k].name,
                  value_text(view->arena, &check->params[k].value), k + 1 == check->param_count ? "\n" : "");
}

static void require_part(const struct list_view *view, const struct manifest *manifest)
{
    if (!manifest->require_count)
        return;
    part(view, "needs");
    for (size_t k = 0; k < manifest->require_count; k++)
        layout_paragraph(view->out, expr_source(manifest->require[k].expr), 2, view->columns);
}

void list_kernel(const struct list_view *view, const struct manifest *manifest)
{
    layout_heading(view->out, manifest->name, view->color);
    layout_paragraph(view->out, manifest->summary ? manifest->summary : "", 2, view->columns);
    const char *tags = list_tags(view->arena, manifest);
    layout_paragraph(view->out,
                     arena_printf(view->arena, "family %s, class %s%s%s", list_family(manifest),
                                  case_class_name(manifest->class), *tags ? ", tags " : "", tags),
                     2, view->columns);
    text_addf(view->out, "  %s\n", manifest->path);
    params_part(view, manifest);
    variants_part(view, manifest);
    buffers_part(view, manifest);
    work_part(view, manifest);
    check_part(view, manifest);
    require_part(view, manifest);
    lets_part(view, manifest);
}

/* ---- one suite ---- */

void list_suite(const struct list_view *view, const struct listed_suite *listed)
{
    const struct suite *suite = listed->suite;
    layout_heading(view->out, listed->name, view->color);
    layout_paragraph(view->out, suite->summary ? suite->summary : "", 2, view->columns);
    text_addf(view->out, "  %s\n", listed->path);
    part(view, "kernels and what is swept");
    for (size_t k = 0; k < suite->case_count; k++) {
        const struct suite_case *entry = &suite->cases[k];
        struct text right = {0};
        for (size_t p = entry->default_count; p < entry->param_count; p++)
            text_addf(&right, "%s%s=%s", right.length ? " " : "", entry->params[p].name,
                      value_text(view->arena, &entry->params[p].value));
        for (size_t s = 0; s < entry->sweep_count; s++)
            text_addf(&right, "%s%s=%s", right.length ? " " : "", entry->sweeps[s].param,
                      values_text(view->arena, entry->sweeps[s].values, entry->sweeps[s].count));
        for (size_t z = 0; z < entry->zip_count; z++)
            for (size_t name = 0; entry->zips[z][name]; name++)
                text_addf(&right, "%s%s%s", name ? "," : "; ", entry->zips[z][name],
                          entry->zips[z][name + 1] ? "" : " together");
        layout_item(view->out, 2, DETAIL_COLUMN, view->columns, entry->kernel, right.data ? right.data : "");
        text_release(&right);
    }
    text_addf(view->out, "\n'rooftile plan %s' shows every case and how long it takes.\n", listed->name);
}
