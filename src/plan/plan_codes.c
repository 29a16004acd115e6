/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "plan_internal.h"
#include "rooftile/file.h"
#include "rooftile/hash.h"

/* ---- which parameters are compiled ---- */

const bool *codes_compiled(struct planner *planner, const struct manifest *manifest)
{
    struct code_set *codes = &planner->codes;
    /* Newest first: cases of one kernel follow each other, its reference in between. */
    for (size_t k = codes->param_count; k-- > 0;)
        if (codes->params[k].manifest == manifest)
            return codes->params[k].compiled;
    bool *compiled = arena_array(planner->arena, manifest->param_count, sizeof(*compiled));
    for (size_t k = 0; k < manifest->param_count; k++)
        compiled[k] = manifest_param_is_compiled(manifest, k);
    codes->params = grow(codes->params, codes->param_count, &codes->param_capacity, sizeof(*codes->params));
    codes->params[codes->param_count++] = (struct code_params){manifest, compiled};
    return compiled;
}

/* ---- by values ---- */

/* Which code is asked for. */
struct code_query {
    const struct code_set *codes;
    const struct manifest *manifest;
    const struct define *defines;
    size_t define_count;
    const struct param_value *values;
    const bool *compiled;
    bool for_cpu;
};

static uint64_t query_hash(const struct code_query *query)
{
    const void *const whose[] = {query->manifest, query->defines};
    uint64_t hash = hash_u64(whose, sizeof(whose)) + query->for_cpu;
    for (size_t k = 0; k < query->manifest->param_count; k++)
        if (query->compiled[k])
            hash = values_hash(hash, &query->values[k]);
    return hash;
}

static bool query_equals(const void *context, size_t index)
{
    const struct code_query *query = context;
    const struct code_key *key = &query->codes->keys[index];
    if (key->manifest != query->manifest || key->defines != query->defines || key->for_cpu != query->for_cpu)
        return false;
    for (size_t k = 0; k < query->manifest->param_count; k++)
        if (query->compiled[k] && !param_equal(&query->values[k], &key->values[k]))
            return false;
    return true;
}

/* ---- by content: different kernels or values may ask for the same code ---- */

static uint64_t add_string(uint64_t hash, const char *string)
{
    const uint64_t mixed[] = {hash, string ? hash_u64(string, strlen(string)) : 1};
    return hash_u64(mixed, sizeof(mixed));
}

static uint64_t request_hash(const struct build_request *request)
{
    uint64_t hash = add_string(add_string(request->define_count, request->source), request->image);
    hash = add_string(hash, request->library);
    for (size_t k = 0; k < request->define_count; k++)
        hash = add_string(add_string(hash, request->defines[k].name), request->defines[k].value);
    for (size_t k = 0; k < request->flag_count; k++)
        hash = add_string(hash, request->flags[k]);
    return add_string(hash + request->target.wave + request->target.cumode, request->target.arch);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_target(const struct build_target *a, const struct build_target *b)
{
    return a->kind == b->kind && a->wave == b->wave && a->cumode == b->cumode && same_text(a->arch, b->arch);
}

struct request_query {
    const struct code_set *codes;
    const struct build_request *request;
};

static bool request_equals(const void *context, size_t index)
{
    const struct request_query *query = context;
    const struct build_request *a = query->request;
    const struct build_request *b = &query->codes->requests[index];
    bool equal = same_text(a->source, b->source) && same_text(a->image, b->image) &&
                 same_text(a->library, b->library) && a->define_count == b->define_count &&
                 a->flag_count == b->flag_count && a->min_llvm == b->min_llvm && same_target(&a->target, &b->target);
    for (size_t k = 0; equal && k < a->define_count; k++)
        equal =
            same_text(a->defines[k].name, b->defines[k].name) && same_text(a->defines[k].value, b->defines[k].value);
    for (size_t k = 0; equal && k < a->flag_count; k++)
        equal = same_text(a->flags[k], b->flags[k]);
    return equal;
}

/* ---- rendering ---- */

static int compare_defines(const void *a, const void *b)
{
    return strcmp(((const struct build_define *)a)->name, ((const struct build_define *)b)->name);
}

static enum status render_defines(struct build_request *request, const struct resolve *resolve,
                                  const struct code_query *query)
{
    struct build_define *defines = arena_array(resolve->arena, query->define_count, sizeof(*defines));
    for (size_t k = 0; k < query->define_count; k++) {
        const struct define *define = &query->defines[k];
        char *value = NULL;
        enum status status = resolve_text(&value, resolve, define->value, &(struct place){define->at, NULL, -1});
        if (status)
            return status;
        defines[k] = (struct build_define){define->name, value};
    }
    if (query->define_count)
        qsort(defines, query->define_count, sizeof(*defines), compare_defines);
    request->defines = defines;
    request->define_count = query->define_count;
    return STATUS_OK;
}

static enum status render(struct build_request *request, const struct resolve *resolve, const struct code_query *query)
{
    const struct manifest *manifest = query->manifest;
    const struct place image_place = {json_member(manifest->at, "code"), "image", -1};
    const struct place library_place = {json_member(manifest->at, "code"), "library", -1};
    enum status status = render_defines(request, resolve, query);
    if (status)
        return status;
    if (manifest->image) {
        char *image = NULL;
        status = resolve_text(&image, resolve, manifest->image, &image_place);
        if (status)
            return status;
        request->image = path_join(resolve->arena, manifest->dir, image);
    }
    if (manifest->library) {
        char *library = NULL;
        status = resolve_text(&library, resolve, manifest->library, &library_place);
        if (status)
            return status;
        request->library = library;
    }
    request->source = manifest->source;
    request->flags = manifest->flags;
    request->flag_count = manifest->flag_count;
    return STATUS_OK;
}

static enum status add_request(size_t *code, struct planner *planner, const struct resolve *resolve,
                               const struct code_query *query, const char *id)
{
    struct code_set *codes = &planner->codes;
    const struct plan_options *options = planner->options;
    struct build_request request = {.asked_by = id};
    enum status status = render(&request, resolve, query);
    if (status)
        return status;
    const uint32_t wave = manifest_wave(query->manifest, query->values);
    if (query->for_cpu)
        request.target =
            (struct build_target){.kind = BUILD_CPU, .arch = options->cpu_target, .wave = options->cpu_wave};
    else
        request.target = (struct build_target){.kind = options->target_kind,
                                               .arch = options->target_arch,
                                               .wave = wave ? wave : options->wave,
                                               .cumode = manifest_cumode(query->manifest, query->values)};
    request.min_llvm = manifest_min_llvm(query->manifest, query->for_cpu ? "cpu" : options->target_arch);
    const uint64_t hash = request_hash(&request);
    const struct request_query same = {codes, &request};
    *code = lookup_find(&codes->by_content, hash, request_equals, &same);
    if (*code != LOOKUP_NONE)
        return STATUS_OK;
    codes->requests = grow(codes->requests, codes->count, &codes->capacity, sizeof(*codes->requests));
    *code = codes->count++;
    codes->requests[*code] = request;
    lookup_add(&codes->by_content, hash, *code);
    return STATUS_OK;
}

enum status codes_find(size_t *code, struct planner *planner, const struct resolve *resolve,
                       const struct define *defines, size_t define_count, bool for_cpu, const char *id)
{
    struct code_set *codes = &planner->codes;
    const struct code_query query = {
        .codes = codes,
        .manifest = resolve->manifest,
        .defines = defines,
        .define_count = define_count,
        .values = resolve->resolved->values,
        .compiled = codes_compiled(planner, resolve->manifest),
        .for_cpu = for_cpu,
    };
    const uint64_t hash = query_hash(&query);
    const size_t known = lookup_find(&codes->by_values, hash, query_equals, &query);
    if (known != LOOKUP_NONE) {
        *code = codes->keys[known].code;
        return STATUS_OK;
    }
    enum status status = add_request(code, planner, resolve, &query, id);
    if (status)
        return status;
    codes->keys = grow(codes->keys, codes->key_count, &codes->key_capacity, sizeof(*codes->keys));
    codes->keys[codes->key_count] = (struct code_key){query.manifest, defines, query.values, for_cpu, *code};
    lookup_add(&codes->by_values, hash, codes->key_count++);
    return STATUS_OK;
}

void codes_release(struct code_set *codes)
{
    free(codes->requests);
    free(codes->keys);
    free(codes->params);
    lookup_release(&codes->by_content);
    lookup_release(&codes->by_values);
    *codes = (struct code_set){0};
}

/* ---- the code objects of a case ---- */

/* The code objects of a case: launches with defines of their own need others than the rest. */

static size_t count_launches(const struct resolved_step *steps, size_t count)
{
    size_t launches = 0;
    for (size_t k = 0; k < count; k++)
        launches += steps[k].kind == STEP_LAUNCH ? 1 : count_launches(steps[k].steps, steps[k].step_count);
    return launches;
}

/* The case whose codes are being found. */
struct search {
    struct planner *planner;
    struct resolve resolve;
    bool for_cpu;
    const char *id;
    size_t *codes; /* so far, each once */
    size_t count;
};

static enum status search_code(size_t *code, struct search *search, const struct define *defines, size_t define_count)
{
    enum status status =
        codes_find(code, search->planner, &search->resolve, defines, define_count, search->for_cpu, search->id);
    if (status)
        return status;
    size_t at = 0;
    while (at < search->count && search->codes[at] != *code)
        at++;
    search->codes[at] = *code;
    search->count += at == search->count;
    return STATUS_OK;
}

static enum status search_steps(struct search *search, struct resolved_step *steps, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < count && !status; k++) {
        struct resolved_launch *launch = &steps[k].launch;
        if (steps[k].kind == STEP_LAUNCH)
            status = search_code(&launch->code, search, launch->spec->defines, launch->spec->define_count);
        else
            status = search_steps(search, steps[k].steps, steps[k].step_count);
    }
    return status;
}

enum status codes_add(struct planner *planner, struct resolved *resolved, bool for_cpu, const char *id, struct err *err)
{
    const struct manifest *manifest = resolved->manifest;
    const size_t launches =
        count_launches(resolved->steps, resolved->step_count) + count_launches(resolved->setup, resolved->setup_count);
    struct search search = {
        .planner = planner,
        .resolve = {resolved, manifest, for_cpu ? &planner->cpu : planner->device, planner->arena, err},
        .for_cpu = for_cpu,
        .id = id,
        .codes = arena_array(planner->arena, launches ? launches : 1, sizeof(*search.codes)),
    };
    enum status status = search_steps(&search, resolved->steps, resolved->step_count);
    if (!status)
        status = search_steps(&search, resolved->setup, resolved->setup_count);
    if (!status && !launches &&
        (manifest->source || manifest->image || manifest->library)) /* the code is there to be loaded */
        status = search_code(&(size_t){0}, &search, manifest->defines, manifest->define_count);
    if (status)
        return status;
    resolved->code = search.codes[0];
    resolved->codes = search.codes;
    resolved->code_count = search.count;
    return STATUS_OK;
}
