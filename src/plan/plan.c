/* SPDX-License-Identifier: MIT */
#include "rooftile/plan.h"

#include "plan_internal.h"
#include "rooftile/cpu_target.h"
#include "rooftile/targets.h"

/* The workgroup limit of the CPU device (device.h), where references run. It is the only limit that a reference could
 * exceed. */
#define CPU_MAX_BLOCK 1024
#define CPU_LDS_BYTES 2097152

/* ---- one case ---- */

/* Decides whether the current combination is a case: not filtered out, not excluded and not a duplicate. If so, `id`
 * holds its id and the expansion holds its values; skipped combinations cost the plan no memory. */
static enum status is_case(bool *wanted, struct planner *planner, struct expansion *expansion, struct text *id,
                           struct err *err)
{
    const struct manifest *manifest = expansion->manifest;
    bool excluded = false;
    *wanted = false;
    if (expansion_ask(expansion, planner->device, &planner->once, err))
        return err->status;
    case_id(id, manifest, expansion->texts, expansion->suite_case->measure.cache);
    const char *const names[] = {id->data, manifest->name, expansion->suite_case->shape};
    if (!text_filtered_any(planner->options->filters, planner->options->filter_count, names, 3))
        return STATUS_OK;
    expansion->entry->selected = true;
    const size_t met = index_find(&planner->ids, id->data, id->length);
    if (met != INDEX_NONE) {
        /* Another shape with the same parameters is the same case, listed under both names. */
        struct plan_case *same = &planner->cases[met];
        const char *shape = expansion->suite_case->shape;
        if (shape && !text_among(shape, same->tags, same->tag_count)) {
            same->tags = joined(planner->arena, same->tags, same->tag_count++, &shape, 1, sizeof(shape));
            same->shape = same->shape ? arena_printf(planner->arena, "%s+%s", same->shape, shape) : shape;
        }
        return STATUS_OK;
    }
    for (size_t k = 0; k < manifest->param_count; k++) {
        const struct origin *origin = &expansion->origins[k];
        struct err inner;
        if (origin->given && !expansion->unknown &&
            value_fit(&expansion->values[k], &manifest->params[k], planner->arena, &inner))
            return origin_fail(origin, err, inner.text);
    }
    enum status status = expansion_excludes(&excluded, expansion, planner->device, &planner->once, err);
    *wanted = !status && !excluded;
    return status;
}

struct tags {
    const char *const *list;
    size_t count;
};

/* Adds the case without evaluating it. */
static struct plan_case *add_case(struct planner *planner, const struct expansion *expansion, const struct tags *tags,
                                  const struct text *id)
{
    const struct manifest *manifest = expansion->manifest;
    struct arena *arena = planner->arena;
    const size_t index = planner->ids.count;
    planner->cases = array_grow(planner->cases, index, sizeof(*planner->cases));
    struct plan_case *added = &planner->cases[index];
    *added = (struct plan_case){
        .id = arena_strndup(arena, id->data, id->length),
        .index = index,
        .asked = planner->combination,
        .tags = tags->list,
        .tag_count = tags->count,
        .shape = expansion->suite_case->shape,
        .weight = expansion->suite_case->weight,
        .traced_ns = expansion->suite_case->traced_ns,
        .measure = expansion->suite_case->measure,
        .resolved =
            {
                .manifest = manifest,
                .values = arena_copy(arena, expansion->values, manifest->param_count * sizeof(*expansion->values)),
                .device = planner->device,
            },
        .suite = expansion->entry->suite,
    };
    for (size_t k = 0; k < manifest->param_count; k++)
        added->sized_by = expansion->asks[k] ? planner->device->assumed : added->sized_by;
    index_add(&planner->ids, added->id, id->length);
    return added;
}

/* Fails if the case requests a compile mode that the device does not support. */
static enum status check_modes(const struct planner *planner, const struct resolved *resolved, struct err *err)
{
    const struct device_facts *device = planner->device;
    const uint32_t wave = manifest_wave(resolved->manifest, resolved->values);
    const bool cumode = manifest_cumode(resolved->manifest, resolved->values);
    if (!backend_is_cpu(device->backend))
        return wave || cumode ? target_check_modes(device->arch, wave ? wave : (uint32_t)device->wave, cumode, err)
                              : STATUS_OK;
    if (cumode)
        return err_set(err, ERR_UNSUPPORTED, "cumode=1: the CPU device has no CU mode");
    if (wave && (double)wave != device->wave)
        return err_set(err, ERR_UNSUPPORTED,
                       "wave=%u: the CPU device was opened with waves of %.0f lanes (--device cpu:wave=%u)", wave,
                       device->wave, wave);
    return STATUS_OK;
}

static void evaluate_case(struct planner *planner, struct plan_case *plan_case, const struct expansion *expansion)
{
    struct resolved *resolved = &plan_case->resolved;
    struct err err;
    const char *lacks = expansion->unknown;
    if ((lacks && !expansion->undecided && err_set(&err, ERR_UNSUPPORTED, "%s", lacks)) ||
        check_modes(planner, resolved, &err) || values_check_asked(resolved->manifest, resolved->values, &err) ||
        resolve_manifest(resolved, resolved->manifest, resolved->values, planner->device, planner->arena,
                         &planner->once, &err) ||
        /* A missing device feature is a better reason than the ones that follow. */
        (lacks && err_set(&err, ERR_UNSUPPORTED, "%s", lacks)) ||
        timing_check(resolved, plan_case->measure.timer, &err) ||
        codes_add(planner, resolved, false, plan_case->id, plan_case->twin, &err) ||
        (!plan_case->twin && verify_choose(planner, plan_case, &err))) { /* the results of a twin are not needed */
        /* A case records its state and reason as data, with positions in the suite and the manifest. */
        struct err full = err;
        plan_case->state = err.status == ERR_UNSUPPORTED ? PLAN_SKIPPED : PLAN_INVALID;
        if (plan_case->state == PLAN_INVALID && expansion->suite_case->at)
            json_fail(expansion->suite_case->at, &full, "%s", err.text);
        plan_case->reason = arena_strdup(planner->arena, full.text);
        return;
    }
    const struct manifest_twin *twin = plan_case->twin;
    if (twin) { /* a twin does not do the case's work, so its bound is unknown */
        resolved->work = (struct work){.unit = ""};
        resolved->waves_declared = 0;
    }
    for (size_t k = 0; twin && twin->one_group && k < resolved->step_count; k++)
        if (resolved->steps[k].kind == STEP_LAUNCH && resolved->steps[k].timed)
            for (unsigned axis = 0; axis < 3; axis++)
                resolved->steps[k].launch.grid[axis] = 1;
    plan_case_bound(&plan_case->lower_bound, plan_case, planner->machine, NAN, "");
}

/* ---- the plan ---- */

static void cut(struct text *text, size_t length)
{
    text->length = length;
    text->data[length] = '\0';
}

/* Adds twins after the case; they take the next ids. */
static void add_twins(struct planner *planner, const struct expansion *expansion, const struct tags *tags,
                      struct text *id)
{
    static const char *const tag = "isolate";
    const struct manifest *manifest = expansion->manifest;
    const struct tags all = {joined(planner->arena, tags->list, tags->count, &tag, 1, sizeof(tag)), tags->count + 1};
    const size_t length = id->length;
    for (const struct manifest_twin *twin = manifest_twins; twin->name; twin++) {
        if (!text_among(twin->name, manifest->isolate, manifest->isolate_count))
            continue;
        cut(id, length);
        text_addf(id, ";isolate=%s", twin->name);
        struct plan_case *added = add_case(planner, expansion, &all, id);
        added->twin = twin;
        evaluate_case(planner, added, expansion);
    }
    cut(id, length);
}

/* Expands all combinations of one entry. */
static enum status expand(struct planner *planner, struct expansion *expansion, struct text *id, struct arena *scratch,
                          struct err *err)
{
    const struct suite_case *from = expansion->suite_case;
    const struct manifest *manifest = expansion->manifest;
    const struct tags tags = {
        joined(planner->arena, from->tags, from->tag_count, manifest->tags, manifest->tag_count, sizeof(*from->tags)),
        from->tag_count + manifest->tag_count};
    enum status status = STATUS_OK;
    expansion_start(expansion, scratch);
    do {
        bool wanted = false;
        status = is_case(&wanted, planner, expansion, id, err);
        if (wanted)
            evaluate_case(planner, add_case(planner, expansion, &tags, id), expansion);
        if (wanted && planner->options->isolate && planner->cases[planner->ids.count - 1].state == PLAN_READY)
            add_twins(planner, expansion, &tags, id);
        arena_reset(&planner->once);
        planner->combination++;
    } while (!status && expansion_next(expansion, scratch));
    return status;
}

static void sum_up(struct plan *plan, struct planner *planner, const struct suite *const *suites, size_t suite_count)
{
    struct arena *arena = planner->arena;
    label_cases(planner);
    plan->count = planner->ids.count;
    plan->cases = planner->cases;
    arena_own(arena, planner->cases);
    planner->cases = NULL;
    plan->code_count = planner->requested.count;
    plan->codes = arena_copy(arena, planner->requests, plan->code_count * sizeof(*planner->requests));
    size_t derive_count = 0;
    for (size_t s = 0; s < suite_count; s++)
        derive_count += suites[s]->derive_count;
    struct suite_derive *derives = arena_array(arena, derive_count, sizeof(*derives));
    for (size_t s = 0; s < suite_count; s++)
        for (size_t k = 0; k < suites[s]->derive_count; k++)
            derives[plan->derive_count++] = suites[s]->derives[k];
    plan->derives = derives;
    plan->machine = planner->machine;
    for (size_t s = 0; s < suite_count; s++) {
        plan->traced_ns += suites[s]->traced_ns;
        plan->traced_on = plan->traced_on ? plan->traced_on : suites[s]->traced_on;
    }
}

static const struct device_facts *cpu_facts(const struct device_facts *device, const struct plan_options *options,
                                            struct arena *arena)
{
    struct device_facts cpu = {
        .cus = 1, .xccs = 1, .max_block = CPU_MAX_BLOCK, .lds_bytes = CPU_LDS_BYTES, .backend = "cpu", .arch = ""};
    if (backend_is_cpu(device->backend))
        cpu = *device;
    cpu.wave = options->cpu_wave;
    cpu.layouts = target_cpu_facts(options->cpu_wave, &cpu.layout_count);
    if (!backend_is_cpu(device->backend))
        cpu.target = *cpu.layouts;
    return arena_copy(arena, &cpu, sizeof(cpu));
}

static enum status build(struct plan *plan, struct planner *planner, const struct suite *const *suites,
                         size_t suite_count, struct err *err)
{
    const struct plan_options *options = planner->options;
    struct entry *entries = NULL;
    size_t count = 0;
    struct set_list sets = {0};
    SCOPED(text_release) struct text id = {0};
    SCOPED(arena_release) struct arena scratch = {0};
    if (set_list_init(&sets, options->sets, options->set_count, planner->arena, err) ||
        entries_make(&entries, &count, planner, suites, suite_count, &sets, err))
        return err->status;
    for (size_t k = 0; k < count; k++) {
        struct expansion expansion;
        if (expansion_init(&expansion, &entries[k], planner, &sets, &scratch, err) ||
            expand(planner, &expansion, &id, &scratch, err))
            return err->status;
        arena_reset(&scratch);
    }
    if (!planner->ids.count && COUNT_WHERE(entry, entries, count, entry->selected))
        return err_set(err, ERR_USAGE, "no case is left: the suite's exclude expressions take all of them out");
    if (!planner->ids.count)
        return options->filter_count ? err_no_match(err, options->filters, options->filter_count)
                                     : err_set(err, ERR_USAGE, "no case to plan");
    if (entries_check_used(entries, count, suites, suite_count, &sets, err))
        return err->status;
    sum_up(plan, planner, suites, suite_count);
    return STATUS_OK;
}

enum status plan_build(struct plan **plan, const struct suite *const *suites, size_t suite_count,
                       const struct catalog *catalog, const struct machine *machine, const struct device_facts *device,
                       const struct plan_options *options, struct arena *arena, struct err *err)
{
    struct planner planner = {
        .catalog = catalog,
        .machine = machine,
        .device = arena_copy(arena, device, sizeof(*device)),
        .cpu = cpu_facts(device, options, arena),
        .options = options,
        .arena = arena,
    };
    struct plan *made = arena_alloc(arena, sizeof(*made));
    enum status status = STATUS_OK;
    for (size_t s = 0; s < suite_count && !status; s++)
        status = derives_check(suites[s], catalog, err);
    if (!status)
        status = build(made, &planner, suites, suite_count, err);
    if (!status)
        *plan = made;
    free(planner.cases);
    text_release(&planner.key);
    index_release(&planner.ids);
    index_release(&planner.requested);
    index_release(&planner.asked);
    index_release(&planner.variant_keys);
    arena_release(&planner.scratch);
    arena_release(&planner.once);
    return status;
}
