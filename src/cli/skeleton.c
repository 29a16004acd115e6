/* SPDX-License-Identifier: MIT
 *
 * The beginning of a manifest for code that others compiled: what its metadata says, and what Triton wrote beside it.
 * What nobody but the author knows (sizes, the work, what is right) is filled in so that the kernel can be planned and
 * launched, with a comment where a person should look.
 */
#include "skeleton.h"

#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "rooftile/codeobj.h"
#include "rooftile/dtype.h"
#include "rooftile/file.h"
#include "rooftile/json.h"

#define TYPES_MAX 256

/* What Triton knows of a kernel: my_kernel.json and my_kernel.ttir beside my_kernel.hsaco. */
struct triton {
    bool is_known;
    uint64_t warps, wave, shared_bytes;
    bool has_scratch[2];          /* global, profile */
    const char *types[TYPES_MAX]; /* of the arguments: "!tt.ptr<f16>", "*fp16", "i32" */
    const char *names[TYPES_MAX]; /* "": not known */
    size_t type_count;
};

struct skeleton {
    struct json_out *out;
    const struct codeobj_kernel *kernel;
    struct triton triton;
    struct arena *arena;
};

/* ---- types ---- */

static const struct type_name {
    const char *name; /* in C, OpenCL, Triton's signatures and MLIR */
    enum dtype dtype;
} type_names[] = {
    {"f64", DTYPE_F64},
    {"fp64", DTYPE_F64},
    {"double", DTYPE_F64},
    {"f32", DTYPE_F32},
    {"fp32", DTYPE_F32},
    {"float", DTYPE_F32},
    {"f16", DTYPE_F16},
    {"fp16", DTYPE_F16},
    {"half", DTYPE_F16},
    {"_Float16", DTYPE_F16},
    {"__half", DTYPE_F16},
    {"bf16", DTYPE_BF16},
    {"__bf16", DTYPE_BF16},
    {"fp8e4nv", DTYPE_E4M3},
    {"f8E4M3FN", DTYPE_E4M3},
    {"fp8e5", DTYPE_E5M2},
    {"f8E5M2", DTYPE_E5M2},
    {"fp8e4b8", DTYPE_E4M3FNUZ},
    {"f8E4M3FNUZ", DTYPE_E4M3FNUZ},
    {"fp8e5b16", DTYPE_E5M2FNUZ},
    {"f8E5M2FNUZ", DTYPE_E5M2FNUZ},
    {"i64", DTYPE_I64},
    {"long", DTYPE_I64},
    {"u64", DTYPE_U64},
    {"ulong", DTYPE_U64},
    {"i32", DTYPE_I32},
    {"int", DTYPE_I32},
    {"u32", DTYPE_U32},
    {"uint", DTYPE_U32},
    {"unsigned", DTYPE_U32},
    {"i16", DTYPE_I16},
    {"short", DTYPE_I16},
    {"u16", DTYPE_U16},
    {"ushort", DTYPE_U16},
    {"i8", DTYPE_I8},
    {"char", DTYPE_I8},
    {"u8", DTYPE_U8},
    {"uchar", DTYPE_U8},
    {"i1", DTYPE_U8},
    {"bool", DTYPE_U8},
};

/* Of a value, or of what a pointer points to: the first word in it that is a type's name. */
static enum dtype dtype_in(const char *text)
{
    for (const char *at = text; *at;) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        for (size_t k = 0; length && k < COUNT_OF(type_names); k++)
            if (strlen(type_names[k].name) == length && !memcmp(type_names[k].name, at, length))
                return type_names[k].dtype;
        at += length ? length : 1;
    }
    return DTYPE_NONE;
}

/* ---- what Triton wrote ---- */

static void add_type(struct triton *triton, const char *name, const char *type, size_t length, struct arena *arena)
{
    if (triton->type_count == TYPES_MAX)
        return;
    triton->names[triton->type_count] = name;
    triton->types[triton->type_count++] = arena_strndup(arena, type, length);
}

/* "signature": {"0": "*fp16", "n": "i32"}, or a list of the same. */
static void read_signature(struct triton *triton, const cJSON *signature, struct arena *arena)
{
    for (const cJSON *at = signature ? signature->child : NULL; at; at = at->next)
        if (cJSON_IsString(at) && strcmp(at->valuestring, "constexpr") != 0)
            add_type(triton, at->string ? at->string : "", at->valuestring, strlen(at->valuestring), arena);
}

/* tt.func public @name(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(...), %n: i32 ...): the types alone. */
static void read_ttir(struct triton *triton, const char *text, struct arena *arena)
{
    const char *at = strstr(text, "tt.func public @");
    at = at ? strchr(at, '(') : NULL;
    for (int depth = 0; at && *at; at++) {
        depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
        if (depth <= 0)
            return;
        if (depth != 1 || *at != '%')
            continue;
        const char *name = arena_strndup(arena, at + 1, strcspn(at + 1, ":) "));
        at += strcspn(at, ":)");
        if (*at != ':')
            return;
        at += 1 + strspn(at + 1, " ");
        const size_t length = strncmp(at, "!tt.ptr<", 8) == 0 ? strcspn(at, ">") + 1 : strcspn(at, " ,){");
        add_type(triton, name, at, strnlen(at, length), arena);
        at += strnlen(at, length) - 1;
    }
}

static const char *beside(const char *path, const char *suffix, struct arena *arena)
{
    const char *dot = strrchr(path_base(path), '.');
    const size_t length = dot ? (size_t)(dot - path) : strlen(path);
    return arena_printf(arena, "%.*s%s", (int)length, path, suffix);
}

static void read_triton(struct triton *triton, const char *path, struct arena *arena)
{
    const char *json = beside(path, ".json", arena), *ttir = beside(path, ".ttir", arena);
    const cJSON *root = NULL;
    struct err ignored = {0};
    char *text = NULL;
    size_t length = 0;
    if (!file_exists(json) || json_read(&root, json, arena, &ignored) || !json_member(root, "num_warps"))
        return;
    const cJSON *target = json_member(root, "target");
    uint64_t scratch[2] = {0};
    *triton = (struct triton){.is_known = true, .warps = 1};
    json_get_u64(&triton->warps, root, "num_warps", JSON_OPTIONAL, &ignored);
    json_get_u64(&triton->shared_bytes, root, "shared", JSON_OPTIONAL, &ignored);
    json_get_u64(&triton->wave, root, "warp_size", JSON_OPTIONAL, &ignored);
    if (cJSON_IsObject(target))
        json_get_u64(&triton->wave, target, "warp_size", JSON_OPTIONAL, &ignored);
    json_get_u64(&scratch[0], root, "global_scratch_size", JSON_OPTIONAL, &ignored);
    json_get_u64(&scratch[1], root, "profile_scratch_size", JSON_OPTIONAL, &ignored);
    triton->has_scratch[0] = scratch[0] > 0;
    triton->has_scratch[1] = scratch[1] > 0;
    read_signature(triton, json_member(root, "signature"), arena);
    if (!triton->type_count && file_exists(ttir) && !file_read(&text, &length, ttir, FILE_LIMIT_BYTES, arena, &ignored))
        read_ttir(triton, text, arena);
}

/* ---- arguments ---- */

/* One of the pointers that Triton appends and this kernel does not use. */
static bool is_unused_scratch(const struct skeleton *s, size_t arg)
{
    const struct triton *triton = &s->triton;
    const size_t behind = arg - triton->type_count;
    return triton->is_known && triton->type_count && arg >= triton->type_count && behind < 2 &&
           !triton->has_scratch[behind];
}

static const char *type_text(const struct skeleton *s, size_t arg)
{
    return arg < s->triton.type_count ? s->triton.types[arg] : s->kernel->args[arg].type;
}

static const char *given_name(const struct skeleton *s, size_t arg)
{
    const char *compiler = s->kernel->args[arg].name;
    return !*compiler && arg < s->triton.type_count ? s->triton.names[arg] : compiler;
}

/* The compiler's name where it is one; else arg0, arg1, ... */
static const char *arg_name(const struct skeleton *s, size_t arg)
{
    const char *name = given_name(s, arg);
    bool once = json_is_identifier(name) && strncmp(name, "arg", 3) != 0;
    for (size_t k = 0; k < arg && once; k++)
        once = strcmp(given_name(s, k), name) != 0;
    return once ? name : arena_printf(s->arena, "arg%zu", arg);
}

static bool is_buffer(const struct skeleton *s, size_t arg)
{
    return s->kernel->args[arg].is_pointer && !is_unused_scratch(s, arg);
}

static void put_comment(struct skeleton *s, const char *text)
{
    json_out_string(s->out, "//", text);
}

static void put_buffers(struct skeleton *s)
{
    json_out_object(s->out, "buffers");
    for (size_t k = 0; k < s->kernel->explicit_count; k++) {
        const struct codeobj_arg *arg = &s->kernel->args[k];
        if (!is_buffer(s, k))
            continue;
        const enum dtype dtype = dtype_in(type_text(s, k));
        const bool in = !strcmp(arg->access, "read_only") || strstr(arg->type, "const");
        json_out_object(s->out, arg_name(s, k));
        if (!dtype)
            put_comment(s, "of what type? the code object does not say");
        json_out_string(s->out, "type", dtype_name(dtype ? dtype : DTYPE_F32));
        json_out_string(s->out, "count", "n");
        json_out_string(s->out, "role", in ? "in" : "inout");
        json_out_string(s->out, "fill", "i % 7");
        json_out_end(s->out);
    }
    json_out_end(s->out);
}

/* By value: a size where it is a whole number of 4 or 8 bytes, 1 else; whatever is no scalar is a struct of bytes. */
static void put_value(struct skeleton *s, size_t index)
{
    static const enum dtype by_size[] = {[1] = DTYPE_U8, [2] = DTYPE_U16, [4] = DTYPE_I32, [8] = DTYPE_I64};
    const uint32_t size = s->kernel->args[index].size_bytes;
    const enum dtype known = dtype_in(type_text(s, index));
    const bool scalar = size < COUNT_OF(by_size) && by_size[size];
    const enum dtype dtype = known && dtype_bytes(known) == size ? known : scalar ? by_size[size] : DTYPE_U8;
    json_out_object(s->out, NULL);
    if (!known || !scalar)
        put_comment(s, arena_printf(s->arena, "%s%s%u bytes by value: what are they?", arg_name(s, index), ": ", size));
    if (!scalar) {
        json_out_array(s->out, "struct");
        json_out_object(s->out, NULL);
    }
    json_out_string(s->out, "value", !scalar ? "0" : !dtype_is_float(dtype) && size >= 4 ? "n" : "1");
    json_out_string(s->out, "type", dtype_name(dtype));
    if (!scalar) {
        json_out_u64(s->out, "repeat", size);
        json_out_end(s->out);
        json_out_end(s->out);
    }
    json_out_end(s->out);
}

static void put_args(struct skeleton *s)
{
    json_out_array(s->out, "args");
    for (size_t k = 0; k < s->kernel->explicit_count; k++) {
        if (is_buffer(s, k))
            json_out_string(s->out, NULL, arg_name(s, k));
        else if (is_unused_scratch(s, k))
            json_out_null(s->out, NULL);
        else
            put_value(s, k);
    }
    json_out_end(s->out);
}

/* ---- the launch ---- */

static void put_launch(struct skeleton *s)
{
    const uint32_t *required = s->kernel->required_block;
    json_out_object(s->out, "launch");
    if (!s->triton.is_known)
        put_comment(s, "how many workgroups? here one work-item to an element");
    else
        put_comment(s,
                    "the grid is what the Python code passes in kernel[grid]; here one program to a block of elements");
    json_out_array(s->out, "grid");
    json_out_string(s->out, NULL, "ceil_div(n, block)");
    json_out_end(s->out);
    json_out_array(s->out, "block");
    json_out_string(s->out, NULL, "block");
    for (int k = 1; k < 3 && required[0] && required[1] * required[2] > 1; k++)
        json_out_u64(s->out, NULL, required[k]);
    json_out_end(s->out);
    if (s->triton.shared_bytes)
        json_out_u64(s->out, "shared", s->triton.shared_bytes);
    put_args(s);
    json_out_end(s->out);
}

static uint64_t block_of(const struct skeleton *s)
{
    const uint64_t wave = s->triton.wave ? s->triton.wave : s->kernel->wave;
    if (s->triton.is_known)
        return s->triton.warps * wave;
    if (s->kernel->required_block[0])
        return s->kernel->required_block[0];
    return s->kernel->max_block && s->kernel->max_block < 256 ? s->kernel->max_block : 256;
}

/* A name that a manifest can have: of the file, which people chose, without its suffix. */
static const char *name_of(const char *path, struct arena *arena)
{
    const char *base = path_base(path), *dot = strrchr(base, '.');
    char *name = arena_strndup(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
            *at = '_';
    return *name == '-' || *name == '.' ? arena_printf(arena, "k%s", name) : name;
}

const char *skeleton_write(const char *image, const char *path, const struct codeobj_kernel *kernel,
                           struct arena *arena)
{
    struct skeleton s = {.out = json_out_new(), .kernel = kernel, .arena = arena};
    struct text text = {0};
    read_triton(&s.triton, path, arena);
    json_out_string(s.out, "name", name_of(path, arena));
    json_out_string(s.out, "summary", arena_printf(arena, "%.200s of %s", kernel->name, path_base(path)));
    json_out_object(s.out, "params");
    json_out_u64(s.out, "n", 1 << 20);
    json_out_u64(s.out, "block", block_of(&s));
    json_out_end(s.out);
    json_out_object(s.out, "code");
    json_out_string(s.out, "image", image);
    json_out_string(s.out, "symbol", kernel->name);
    json_out_end(s.out);
    put_buffers(&s);
    put_launch(&s);
    json_out_object(s.out, "work");
    put_comment(&s, "read and write in bytes, flops with their unit: then a row has rates and a bound");
    json_out_string(s.out, "items", "n");
    json_out_end(s.out);
    json_out_object(s.out, "check");
    put_comment(&s,
                "\"expect\" or a \"reference\" verifies outputs; without one results say that nothing was verified");
    json_out_end(s.out);
    json_out_finish(s.out, &text, true);
    json_out_free(s.out);
    return text_take(&text, arena);
}
