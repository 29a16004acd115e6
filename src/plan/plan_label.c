/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan_internal.h"
#include "rooftile/text.h"

/* What differs between the cases of one kernel. */
struct group {
    const struct plan_case *first;
    bool *varies; /* per parameter */
    bool mode_varies;
};

struct groups {
    struct group *items;
    size_t count, capacity;
};

static struct group *group_of(struct groups *groups, const struct plan_case *plan_case, struct arena *arena)
{
    const struct manifest *manifest = plan_case->resolved.manifest;
    for (size_t k = groups->count; k-- > 0;)
        if (groups->items[k].first->resolved.manifest == manifest)
            return &groups->items[k];
    groups->items = grow(groups->items, groups->count, &groups->capacity, sizeof(*groups->items));
    struct group *group = &groups->items[groups->count++];
    *group = (struct group){
        .first = plan_case,
        .varies = arena_array(arena, manifest->param_count, sizeof(*group->varies)),
    };
    return group;
}

static void compare(struct group *group, const struct plan_case *plan_case)
{
    const size_t count = plan_case->resolved.manifest->param_count;
    for (size_t k = 0; k < count; k++)
        if (!group->varies[k])
            group->varies[k] = !param_equal(&group->first->resolved.values[k], &plan_case->resolved.values[k]);
    if (group->first->measure.cache != plan_case->measure.cache)
        group->mode_varies = true;
}

/* "64Ki" for whole multiples, which lose nothing; every other value as in ids. */
static void add_value(struct text *label, const struct param_value *value, struct arena *arena)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double number = value->number;
    size_t power = 0;
    if (value->kind == PARAM_NUMBER && number >= 1024)
        while (power < 4 && number >= 1024 && fmod(number, 1024) == 0) {
            number /= 1024;
            power++;
        }
    if (power)
        text_addf(label, "%.0f%s", number, suffixes[power]);
    else
        text_add(label, param_text(arena, value));
}

void case_id(struct text *id, const struct manifest *manifest, const char *const *texts, enum cache_mode cache)
{
    text_clear(id);
    text_add(id, manifest->name);
    text_addn(id, "/", 1);
    for (size_t k = 0; k < manifest->param_count; k++) {
        if (manifest->params[k].implied && strcmp(texts[k], "0") == 0)
            continue;
        text_add(id, manifest->params[k].name);
        text_addn(id, "=", 1);
        text_add(id, texts[k]);
        text_addn(id, ";", 1);
    }
    text_add(id, "mode=");
    text_add(id, cache_mode_name(cache));
}

static void add_label(struct plan_case *plan_case, const struct group *group, struct text *label, struct arena *scratch,
                      struct arena *arena)
{
    const struct manifest *manifest = plan_case->resolved.manifest;
    text_clear(label);
    text_add(label, manifest->name);
    if (plan_case->shape)
        text_addf(label, " %s", plan_case->shape);
    for (size_t k = 0; k < manifest->param_count; k++) {
        if (!group->varies[k])
            continue;
        text_addn(label, " ", 1);
        text_add(label, manifest->params[k].name);
        text_addn(label, "=", 1);
        add_value(label, &plan_case->resolved.values[k], scratch);
    }
    if (group->mode_varies) {
        text_addn(label, " ", 1);
        text_add(label, cache_mode_name(plan_case->measure.cache));
    }
    plan_case->label = arena_strdup(arena, label->data);
}

void label_cases(struct plan_case *cases, size_t count, struct arena *arena)
{
    struct arena scratch = {0};
    struct groups groups = {0};
    struct text label = {0};
    for (size_t k = 0; k < count; k++)
        compare(group_of(&groups, &cases[k], &scratch), &cases[k]);
    for (size_t k = 0; k < count; k++)
        add_label(&cases[k], group_of(&groups, &cases[k], &scratch), &label, &scratch, arena);
    text_release(&label);
    free(groups.items);
    arena_release(&scratch);
}
