/* SPDX-License-Identifier: MIT */

#include "plan_internal.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"

/* What a launch of a case requires. */
struct ask {
    struct planner *planner;
    struct resolve resolve;
    bool for_cpu;
    const char *id;
    const struct manifest_twin *twin;
    const struct text_template *library; /* NULL: the manifest's source or image */
    const struct define *defines;        /* the manifest's or the launch's own; compared by address */
    size_t define_count;
    size_t *codes; /* the case's codes so far, without duplicates */
    size_t count;
};

/* ---- rendering: a build request from the compiled-in values ---- */

static int compare_defines(const void *a, const void *b)
{
    return strcmp(((const struct build_define *)a)->name, ((const struct build_define *)b)->name);
}

/* ---- the CPU code exports a table of its kernels; SIMT_EXPORT(symbol) lists each ---- */

struct symbols {
    const char **names;
    size_t count;
};

/* Adds the symbols of all launches with the same defines, including steps that this case skips, because other cases of
 * the kernel share the code. */
static enum status add_symbols(struct symbols *symbols, const struct ask *ask, const struct manifest_step *steps,
                               size_t count)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        char *name = NULL;
        if (steps[k].kind != STEP_LAUNCH)
            status = add_symbols(symbols, ask, steps[k].steps, steps[k].step_count);
        else if (steps[k].launch.defines == ask->defines && !steps[k].launch.library) {
            status = resolve_text(&name, &ask->resolve, steps[k].launch.symbol);
            ARENA_PUSH(ask->resolve.scratch, symbols->names, symbols->count, name);
        }
    }
    return status;
}

static enum status exports(const char **list, const struct ask *ask)
{
    const struct manifest *manifest = ask->resolve.manifest;
    struct symbols symbols = {0};
    struct text text = {0};
    if (add_symbols(&symbols, ask, manifest->steps, manifest->step_count) ||
        add_symbols(&symbols, ask, manifest->setup, manifest->setup_count))
        return ask->resolve.err->status;
    if (symbols.count)
        qsort(symbols.names, symbols.count, sizeof(*symbols.names), text_order);
    for (size_t k = 0; k < symbols.count; k++)
        if (!k || strcmp(symbols.names[k], symbols.names[k - 1]) != 0)
            text_addf(&text, "%sSIMT_EXPORT(%s)", k ? " " : "", symbols.names[k]);
    *list = text_take(&text, ask->resolve.arena);
    return STATUS_OK;
}

static enum status render_defines(struct build_request *request, const struct ask *ask)
{
    struct build_define *defines = arena_array(ask->resolve.arena, ask->define_count + 2, sizeof(*defines));
    for (size_t k = 0; k < ask->define_count; k++) {
        const struct define *define = &ask->defines[k];
        char *value = NULL;
        if (resolve_text(&value, &ask->resolve, define->value))
            return ask->resolve.err->status;
        defines[k] = (struct build_define){define->name, value};
    }
    request->defines = defines;
    request->define_count = ask->define_count;
    if (ask->twin && ask->twin->define)
        defines[request->define_count++] =
            (struct build_define){"ISOLATE", arena_printf(ask->resolve.arena, "%u", ask->twin->define)};
    if (request->target.kind == BUILD_CPU && request->source) {
        struct build_define *list = &defines[request->define_count++];
        list->name = "ROOFTILE_KERNELS";
        if (exports(&list->value, ask))
            return ask->resolve.err->status;
    }
    if (request->define_count)
        qsort(defines, request->define_count, sizeof(*defines), compare_defines);
    return STATUS_OK;
}

static enum status render(struct build_request *request, const struct ask *ask)
{
    const struct manifest *manifest = ask->resolve.manifest;
    char *image = NULL, *library = NULL;
    if (ask->library) {
        const enum status status = resolve_text(&library, &ask->resolve, ask->library);
        request->library = library;
        return status;
    }
    request->source = manifest->source;
    if (render_defines(request, ask) || (manifest->image && resolve_text(&image, &ask->resolve, manifest->image)))
        return ask->resolve.err->status;
    request->image = image ? path_join(ask->resolve.arena, manifest->dir, image) : NULL;
    request->flags = manifest->flags;
    request->flag_count = manifest->flag_count;
    return STATUS_OK;
}

/* ---- sharing equal codes ---- */

/* Copies `key` into memory that lives as long as the planner needs it. */
static const char *keep_key(struct planner *planner)
{
    return arena_copy(&planner->scratch, planner->key.data, planner->key.length);
}

static void key_of_request(struct text *key, const struct build_request *request)
{
    const struct build_target *target = &request->target;
    const uint32_t numbers[] = {target->kind, target->wave, target->cumode, request->min_llvm,
                                (uint32_t)request->define_count};
    text_clear(key);
    text_addn(key, (const char *)numbers, sizeof(numbers));
    key_add_text(key, request->source);
    key_add_text(key, request->image);
    key_add_text(key, request->library);
    key_add_text(key, target->arch);
    for (size_t k = 0; k < request->define_count; k++) {
        key_add_text(key, request->defines[k].name);
        key_add_text(key, request->defines[k].value);
    }
    for (size_t k = 0; k < request->flag_count; k++)
        key_add_text(key, request->flags[k]);
}

static enum status find_request(size_t *code, const struct ask *ask)
{
    struct planner *planner = ask->planner;
    const struct plan_options *options = planner->options;
    const struct manifest *manifest = ask->resolve.manifest;
    const struct param_value *values = ask->resolve.resolved->values;
    const uint32_t wave = manifest_wave(manifest, values);
    struct build_request request = {
        .asked_by = ask->id,
        .target = ask->for_cpu
                      ? (struct build_target){.kind = BUILD_CPU, .arch = options->cpu_target, .wave = options->cpu_wave}
                      : (struct build_target){.kind = options->target_kind,
                                              .arch = options->target_arch,
                                              .wave = wave ? wave : options->wave,
                                              .cumode = manifest_cumode(manifest, values)},
        .min_llvm = manifest_min_llvm(manifest, ask->for_cpu ? "cpu" : options->target_arch),
    };
    if (render(&request, ask))
        return ask->resolve.err->status;
    key_of_request(&planner->key, &request);
    *code = index_find(&planner->requested, planner->key.data, planner->key.length);
    if (*code != INDEX_NONE)
        return STATUS_OK;
    const size_t count = planner->requested.count;
    planner->requests = arena_grow(&planner->scratch, planner->requests, count, sizeof(*planner->requests));
    planner->requests[count] = request;
    *code = index_add(&planner->requested, keep_key(planner), planner->key.length);
    return STATUS_OK;
}

static enum status find_code(size_t *code, const struct ask *ask)
{
    struct planner *planner = ask->planner;
    const struct manifest *manifest = ask->resolve.manifest;
    const bool *compiled = kernel_of(ask->planner, manifest)->compiled;
    const void *const whose[] = {manifest, ask->library, ask->defines, ask->twin};
    text_clear(&planner->key);
    text_addn(&planner->key, (const char *)whose, sizeof(whose));
    text_addn(&planner->key, ask->for_cpu ? "c" : "d", 1);
    for (size_t k = 0; k < manifest->param_count; k++)
        if (compiled[k])
            key_add_value(&planner->key, &ask->resolve.resolved->values[k]);
    const size_t known = index_find(&planner->asked, planner->key.data, planner->key.length);
    if (known != INDEX_NONE) {
        *code = planner->codes[known];
        return STATUS_OK;
    }
    const size_t length = planner->key.length;
    const char *key = keep_key(planner);
    if (find_request(code, ask))
        return ask->resolve.err->status;
    const size_t count = planner->asked.count;
    planner->codes = arena_grow(&planner->scratch, planner->codes, count, sizeof(*planner->codes));
    planner->codes[count] = *code;
    index_add(&planner->asked, key, length);
    return STATUS_OK;
}

/* ---- the code objects of a case: a launch with its own defines or library needs its own code object ---- */

static enum status add_code(size_t *code, struct ask *ask, const struct manifest_launch *launch)
{
    ask->library = launch->library;
    ask->defines = launch->defines;
    ask->define_count = launch->define_count;
    if (find_code(code, ask))
        return ask->resolve.err->status;
    size_t at = 0;
    while (at < ask->count && ask->codes[at] != *code)
        at++;
    if (at == ask->count)
        ARENA_PUSH(ask->resolve.scratch, ask->codes, ask->count, *code);
    return STATUS_OK;
}

enum status codes_add(struct planner *planner, struct resolved *resolved, bool for_cpu, const char *id,
                      const struct manifest_twin *twin, struct err *err)
{
    const struct manifest *manifest = resolved->manifest;
    struct ask ask = {
        .planner = planner,
        .resolve = {.resolved = resolved,
                    .manifest = manifest,
                    .device = resolved->device,
                    .slots = resolved_slots(resolved, &planner->once),
                    .arena = planner->arena,
                    .scratch = &planner->once,
                    .err = err},
        .for_cpu = for_cpu,
        .id = id,
        .twin = twin,
    };
    const struct manifest_launch none = {
        .library = manifest->library, .defines = manifest->defines, .define_count = manifest->define_count};
    const bool has_code = manifest->source || manifest->image || manifest->library;
    for (struct launch_walk walk = {.resolved = resolved, .lists = 1}; launch_next(&walk);)
        if (add_code(&walk.launch->code, &ask, walk.launch->spec))
            return err->status;
    for (struct launch_walk walk = {.resolved = resolved}; launch_next(&walk) && walk.lists == 1;)
        if (add_code(&walk.launch->code, &ask, walk.launch->spec))
            return err->status;
    /* Code that no step launches must still be loaded. */
    if (!ask.count && has_code && add_code(&(size_t){0}, &ask, &none))
        return err->status;
    resolved->code = ask.count ? ask.codes[0] : 0;
    resolved->codes = arena_copy(planner->arena, ask.codes, ask.count * sizeof(*ask.codes));
    resolved->code_count = ask.count;
    return STATUS_OK;
}
