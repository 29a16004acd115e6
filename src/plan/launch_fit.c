/* SPDX-License-Identifier: MIT */
#include "rooftile/launch_fit.h"

#include "rooftile/targets.h"

#define POINTER_BYTES 8u

struct fit {
    struct text *out;
    const struct resolved *resolved;
    const struct resolved_launch *launch;
    const struct codeobj_kernel *kernel;
    size_t count;
};

static void differ(struct fit *fit, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void differ(struct fit *fit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (fit->count++)
        text_add(fit->out, "\n");
    text_vaddf(fit->out, format, args);
    va_end(args);
}

/* ---- wording ---- */

const char *launch_arg_name(const struct manifest *manifest, const struct manifest_arg *arg)
{
    return arg->buffer >= 0    ? manifest->buffers[arg->buffer].name
           : arg->null         ? "null"
           : arg->member_count ? "struct"
                               : expr_source(arg->value);
}

/* Writes "argument 3 'n'": the buffer's name, or the value's expression. */
static void name_arg(struct text *out, const struct fit *fit, size_t index)
{
    const struct manifest_arg *spec = fit->launch->args[index].spec;
    text_addf(out, "argument %zu '%s'", index + 1, launch_arg_name(fit->resolved->manifest, spec));
}

static void describe_passed(struct text *out, const struct fit *fit, size_t index)
{
    const struct manifest_arg *spec = fit->launch->args[index].spec;
    const struct resolved *resolved = fit->resolved;
    SCOPED(arena_release) struct arena arena = {0};
    struct err err = {0};
    char *type = NULL;
    if (spec->buffer >= 0 || spec->null) {
        text_add(out, spec->null ? "a null pointer" : "a pointer to a buffer");
        return;
    }
    if (spec->member_count) {
        text_addf(out, "a struct of %u bytes", fit->launch->args[index].size_bytes);
        return;
    }
    if (template_render(&type, spec->type, resolved->manifest, resolved->values, resolved_slots(resolved, &arena),
                        &arena, &err))
        type = arena_strdup(&arena, template_source(spec->type));
    text_addf(out, "%u byte%s (%s)", fit->launch->args[index].size_bytes, text_s(fit->launch->args[index].size_bytes),
              type);
}

static void describe_taken(struct text *out, const struct codeobj_arg *arg, bool bytes)
{
    if (arg->is_pointer)
        text_addf(out, "a pointer%s", strcmp(arg->value_kind, "dynamic_shared_pointer") ? "" : " to LDS");
    else
        text_addf(out, bytes ? "%u bytes (by value)" : "%u (by value)", arg->size_bytes);
    if (*arg->name)
        text_addf(out, " for '%s'", arg->name);
}

/* ---- arguments ---- */

static void compare_arg(struct fit *fit, size_t index, bool strict)
{
    const struct manifest_arg *spec = fit->launch->args[index].spec;
    const bool buffer = spec->buffer >= 0 || spec->null;
    const struct codeobj_arg *arg = &fit->kernel->args[index];
    const uint32_t passed = buffer ? POINTER_BYTES : fit->launch->args[index].size_bytes;
    const bool same_kind = buffer == arg->is_pointer || (buffer && !strict);
    const bool to_lds = strcmp(arg->value_kind, "dynamic_shared_pointer") == 0;
    SCOPED(text_release) struct text name = {0}, passes = {0}, takes = {0};
    if (same_kind && passed == arg->size_bytes && !to_lds)
        return;
    name_arg(&name, fit, index);
    describe_passed(&passes, fit, index);
    describe_taken(&takes, arg, buffer);
    differ(fit, "%s: the manifest passes %s, the kernel takes %s", name.data, passes.data, takes.data);
}

static void compare_counts(struct fit *fit)
{
    const size_t passed = fit->launch->arg_count, taken = fit->kernel->explicit_count;
    SCOPED(text_release) struct text which = {0};
    if (passed == taken)
        return;
    if (!taken && fit->kernel->kernarg_bytes) {
        differ(fit,
               "the manifest passes %zu argument%s, but the code object does not describe those of '%s' "
               "(.args in its metadata)",
               passed, text_s(passed), fit->kernel->name);
        return;
    }
    if (passed > taken)
        name_arg(&which, fit, taken);
    else
        text_addf(&which, "argument %zu, ", passed + 1);
    if (passed < taken)
        describe_taken(&which, &fit->kernel->args[passed], true);
    differ(fit, "the manifest passes %zu argument%s, the kernel takes %zu: %s is %s", passed, text_s(passed), taken,
           which.data, passed > taken ? "too many" : "missing");
}

/* ---- the workgroup ---- */

size_t launch_fit(struct text *out, const struct resolved *resolved, const struct resolved_launch *launch,
                  const struct codeobj_kernel *kernel, uint64_t lds_limit_bytes)
{
    struct fit fit = {.out = out, .resolved = resolved, .launch = launch, .kernel = kernel};
    const bool strict = COUNT_WHERE(arg, kernel->args, kernel->explicit_count, arg->is_pointer) > 0;
    compare_counts(&fit);
    for (size_t k = 0; k < fit.launch->arg_count && k < fit.kernel->explicit_count; k++)
        compare_arg(&fit, k, strict);
    const uint32_t *block = fit.launch->block, *required = fit.kernel->required_block;
    const uint64_t lanes = (uint64_t)block[0] * block[1] * block[2];
    if (fit.kernel->max_block && lanes > fit.kernel->max_block)
        differ(&fit, "the block has %llu work-items, the kernel was compiled for at most %u (launch bounds)",
               (unsigned long long)lanes, fit.kernel->max_block);
    if (required[0] && memcmp(block, required, 3 * sizeof(*block)))
        differ(&fit, "the block is %u x %u x %u, the kernel requires %u x %u x %u", block[0], block[1], block[2],
               required[0], required[1], required[2]);
    const uint64_t fixed = fit.kernel->group_segment_bytes, dynamic = fit.launch->lds_bytes;
    if (lds_limit_bytes && fixed + dynamic > lds_limit_bytes)
        differ(
            &fit,
            "the kernel needs %llu bytes of LDS (%llu of its own and %llu from the launch), a workgroup can have %llu",
            (unsigned long long)(fixed + dynamic), (unsigned long long)fixed, (unsigned long long)dynamic,
            (unsigned long long)lds_limit_bytes);
    return fit.count;
}

/* ---- launches of a case ---- */

bool launch_next(struct launch_walk *walk)
{
    const struct resolved *resolved = walk->resolved;
    while (walk->depth || walk->lists < 2) {
        struct launch_level *level = &walk->levels[walk->depth ? walk->depth - 1 : 0];
        if (!walk->depth) {
            *level = walk->lists ? (struct launch_level){resolved->steps, resolved->step_count, 1}
                                 : (struct launch_level){resolved->setup, resolved->setup_count, 0};
            walk->lists++;
            walk->depth = 1;
        } else if (!level->left) {
            walk->depth--;
        } else {
            struct resolved_step *step = level->next++;
            /* The contents of a graph or loop are timed with it. */
            const double times = walk->depth > 1 || step->timed ? level->times * (double)step->repeat : 0;
            level->left--;
            if (step->step_count && step->repeat)
                walk->levels[walk->depth++] = (struct launch_level){step->steps, step->step_count, times};
            walk->launch = step->kind == STEP_LAUNCH ? &step->launch : NULL;
            walk->times = times;
            walk->is_later = walk->begun;
            walk->begun |= !step->step_count;
            if (walk->launch && step->repeat)
                return true;
        }
    }
    return false;
}

double plan_launches(const struct resolved *resolved)
{
    double launches = 0;
    for (struct launch_walk walk = {.resolved = resolved, .lists = 1}; launch_next(&walk);)
        launches += walk.times;
    return launches;
}

const struct resolved_launch *launch_first_timed(const struct resolved *resolved)
{
    const struct resolved_launch *first = NULL;
    for (struct launch_walk walk = {.resolved = resolved, .lists = 1}; launch_next(&walk);) {
        if (walk.times > 0)
            return walk.launch;
        first = first ? first : walk.launch;
    }
    return first;
}

double launch_lanes(const struct resolved *resolved, bool cpu)
{
    const struct resolved_launch *launch = launch_first_timed(resolved);
    return launch && cpu ? (double)launch->block[0] * launch->block[1] * launch->block[2] : 1;
}

double launch_workgroups(const struct resolved *resolved)
{
    const struct resolved_launch *launch = launch_first_timed(resolved);
    return launch ? (double)launch->grid[0] * launch->grid[1] * launch->grid[2] : 0;
}

/* ---- occupancy ---- */

/* Waves per SIMD are quotients of small integers, which manifests may compute in a different order. */
#define ROUNDING 1e-6

enum status launch_occupancy(struct occupancy *occupancy, const struct resolved_launch *launch, const char *target,
                             const struct codeobj_kernel *kernel, struct err *err)
{
    const struct occupancy_use use = {.target = target,
                                      .wave = kernel->wave,
                                      .wgp_mode = kernel->wgp_mode,
                                      .vgprs = kernel->has_descriptor ? kernel->arch_vgprs : kernel->vgpr_count,
                                      .agprs = kernel->acc_vgprs,
                                      .sgprs = kernel->sgpr_count,
                                      .lds_bytes = (uint64_t)kernel->group_segment_bytes + launch->lds_bytes,
                                      .block = launch->block[0] * launch->block[1] * launch->block[2],
                                      .barriers = kernel->barriers};
    if (kernel->is_ptx)
        return err_set(err, ERR_UNSUPPORTED, "'%s' is PTX: registers are the driver's choice", kernel->name);
    if (!kernel->has_descriptor && !target_is_nvidia(target))
        return err_set(err, ERR_UNSUPPORTED, "'%s' has no kernel descriptor", kernel->name);
    return occupancy_compute(occupancy, &use, err);
}

/* Lists the limiting resources, each with the amount used: "VGPRs (168) and LDS (32768 bytes)". */
static void add_limits(struct text *out, const struct occupancy *occupancy, const struct codeobj_kernel *kernel)
{
    const struct {
        enum occupancy_limiter limiter;
        unsigned long long amount;
        const char *unit;
    } amounts[] = {{LIMITER_VGPRS, occupancy->vgprs_allocated, ""},
                   {LIMITER_SGPRS, kernel->sgpr_count, ""},
                   {LIMITER_LDS, occupancy->lds_allocated, " bytes"},
                   {LIMITER_WAVES, occupancy->waves_max, " per SIMD"},
                   {LIMITER_BARRIERS, occupancy->workgroups, " workgroups"}};
    const char *between = ", limited by ";
    for (size_t k = 0; k < sizeof(amounts) / sizeof(*amounts); k++) {
        if (!occupancy->limited_by[amounts[k].limiter])
            continue;
        text_add(out, between);
        occupancy_limiter(out, occupancy, amounts[k].limiter);
        text_addf(out, " (%llu%s)", amounts[k].amount, amounts[k].unit);
        between = " and ";
    }
}

bool launch_claim_differs(struct text *out, const struct resolved *resolved, const struct resolved_launch *launch,
                          const char *target, const struct codeobj_kernel *kernel)
{
    const double declared = resolved->waves_declared;
    const bool exactly = resolved->manifest->occupancy.exactly;
    struct occupancy occupancy;
    struct err err = {0};
    SCOPED(text_release) struct text advice = {0};
    if (declared <= 0 || launch_occupancy(&occupancy, launch, target, kernel, &err))
        return false;
    const double got = occupancy.waves_per_simd;
    if (fabs(got - declared) <= ROUNDING * declared || (!exactly && got > declared))
        return false;
    text_addf(out, "the manifest states %s%.4g %s, %s holds %.4g of this launch", exactly ? "" : "at least ",
              occupancy_waves(&occupancy, declared), occupancy_waves_unit(&occupancy, declared == 1), target,
              occupancy_waves(&occupancy, got));
    add_limits(out, &occupancy, kernel);
    if (got < declared)
        occupancy_advice(&advice, &occupancy);
    if (advice.length)
        text_addf(out, ": %s", advice.data);
    return true;
}
