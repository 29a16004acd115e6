/* SPDX-License-Identifier: MIT
 *
 * Writes the beginning of a manifest for code that others compiled, from its metadata and from Triton's files. Facts
 * that only the author knows (sizes, work, correct results) are filled in so that the kernel can be planned and
 * launched, with a comment wherever a person should check.
 */
#include "rooftile/skeleton.h"

#include "rooftile/codeobj.h"
#include "rooftile/dtype.h"
#include "rooftile/file.h"
#include "rooftile/json.h"

#define TYPES_MAX 256
#define PROGRAMS "ceil_div(n, block)" /* the grid if no launch was observed */

/* Triton's description of a kernel: my_kernel.json and my_kernel.ttir next to my_kernel.hsaco. */
struct triton {
    bool is_known;
    uint64_t warps, wave, shared_bytes;
    uint64_t scratch_bytes[2];    /* per program: global, profile */
    size_t scratch_count;         /* number of pointers to them, which are the last arguments */
    const char *types[TYPES_MAX]; /* of the arguments: "!tt.ptr<f16>", "*fp16", "i32" */
    const char *names[TYPES_MAX]; /* "": unknown */
    size_t type_count;
};

struct skeleton {
    struct json_out *out;
    const struct codeobj_kernel *kernel;
    struct triton triton;
    const struct seen_launch *seen; /* NULL: none observed */
    struct arena *arena;
};

/* ---- types ---- */

static const char *const type_names[] = {
    /* in C, OpenCL, Triton's signatures and MLIR */
    [DTYPE_F64] = " f64 fp64 double ",
    [DTYPE_F32] = " f32 fp32 float ",
    [DTYPE_F16] = " f16 fp16 half _Float16 __half ",
    [DTYPE_BF16] = " bf16 __bf16 ",
    [DTYPE_E4M3] = " fp8e4nv f8E4M3FN ",
    [DTYPE_E5M2] = " fp8e5 f8E5M2 ",
    [DTYPE_E4M3FNUZ] = " fp8e4b8 f8E4M3FNUZ ",
    [DTYPE_E5M2FNUZ] = " fp8e5b16 f8E5M2FNUZ ",
    [DTYPE_I64] = " i64 long ",
    [DTYPE_U64] = " u64 ulong ",
    [DTYPE_I32] = " i32 int ",
    [DTYPE_U32] = " u32 uint unsigned ",
    [DTYPE_I16] = " i16 short ",
    [DTYPE_U16] = " u16 ushort ",
    [DTYPE_I8] = " i8 char ",
    [DTYPE_U8] = " u8 uchar i1 bool ",
};

/* Returns the type of a value or of a pointer's target: the first word that names a type. */
static enum dtype dtype_in(const char *text, struct arena *arena)
{
    for (const char *at = text; *at;) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        const char *word = length ? arena_printf(arena, " %.*s ", (int)length, at) : NULL;
        for (size_t k = 0; word && k < COUNT_OF(type_names); k++)
            if (type_names[k] && strstr(type_names[k], word))
                return (enum dtype)k;
        at += length ? length : 1;
    }
    return DTYPE_NONE;
}

/* ---- Triton's files ---- */

static void add_type(struct triton *triton, const char *name, const char *type, size_t length, struct arena *arena)
{
    if (triton->type_count == TYPES_MAX)
        return;
    triton->names[triton->type_count] = name;
    triton->types[triton->type_count++] = arena_strndup(arena, type, length);
}

/* Reads only the types from tt.func public @name(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(...), %n: i32
 * ...). */
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
        const size_t most = strncmp(at, "!tt.ptr<", 8) == 0 ? strcspn(at, ">") + 1 : strcspn(at, " ,){");
        const size_t length = strnlen(at, most);
        if (!length)
            return;
        add_type(triton, name, at, length, arena);
        at += length - 1;
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
    static const char *const scratch[] = {"global_scratch_size", "profile_scratch_size"};
    *triton = (struct triton){.is_known = true, .warps = 1};
    json_get_u64(&triton->warps, root, "num_warps", JSON_OPTIONAL, &ignored);
    json_get_u64(&triton->shared_bytes, root, "shared", JSON_OPTIONAL, &ignored);
    json_get_u64(&triton->wave, root, "warp_size", JSON_OPTIONAL, &ignored);
    if (cJSON_IsObject(target))
        json_get_u64(&triton->wave, target, "warp_size", JSON_OPTIONAL, &ignored);
    for (size_t k = 0; k < COUNT_OF(scratch) && json_member(root, scratch[k]); k++)
        json_get_u64(&triton->scratch_bytes[triton->scratch_count++], root, scratch[k], JSON_OPTIONAL, &ignored);
    /* "signature": {"0": "*fp16", "n": "i32"}, or a list of the same. */
    const cJSON *signature = json_member(root, "signature");
    for (const cJSON *at = signature ? signature->child : NULL; at; at = at->next)
        if (cJSON_IsString(at) && strcmp(at->valuestring, "constexpr") != 0)
            add_type(triton, at->string ? at->string : "", at->valuestring, strlen(at->valuestring), arena);
    if (!triton->type_count && file_exists(ttir) && !file_read(&text, &length, ttir, FILE_LIMIT_BYTES, arena, &ignored))
        read_ttir(triton, text, arena);
}

/* ---- arguments ---- */

/* Whether the argument is a scratch pointer that Triton appends. *bytes is its size per program, 0 if unused. */
static bool is_scratch(const struct skeleton *s, size_t arg, uint64_t *bytes)
{
    const size_t from_end = s->kernel->explicit_count - arg, count = s->triton.scratch_count;
    *bytes = 0;
    if (arg < s->triton.type_count || from_end > count || !s->kernel->args[arg].is_pointer)
        return false;
    *bytes = s->triton.scratch_bytes[count - from_end];
    return true;
}

static const char *type_text(const struct skeleton *s, size_t arg)
{
    return arg < s->triton.type_count ? s->triton.types[arg] : s->kernel->args[arg].type;
}

static const char *given_name(const struct skeleton *s, size_t arg)
{
    const char *compiler = s->kernel->args[arg].name;
    uint64_t bytes = 0;
    if (!*compiler && is_scratch(s, arg, &bytes))
        return arg + s->triton.scratch_count == s->kernel->explicit_count ? "global_scratch" : "profile_scratch";
    return !*compiler && arg < s->triton.type_count ? s->triton.names[arg] : compiler;
}

/* Returns the compiler's name if it is a valid name; otherwise arg0, arg1, ... */
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
    uint64_t bytes = 0;
    if (s->seen)
        return s->seen->args[arg].elements > 0;
    return s->kernel->args[arg].is_pointer && !is_scratch(s, arg, &bytes);
}

static void put_comment(struct skeleton *s, const char *text)
{
    json_out_string(s->out, "//", arena_printf(s->arena, SKELETON_ASKS "%s", text));
}

/* Returns the role of a buffer in an observed launch: PyTorch's compiler names the buffers that it reads and writes. */
static const char *seen_role(const struct skeleton *s, size_t arg)
{
    const char *name = given_name(s, arg);
    return text_starts(name, "in_ptr") ? "in" : text_starts(name, "out_ptr") ? "out" : "inout";
}

static enum dtype seen_type(const struct skeleton *s, size_t arg)
{
    const char *name = s->seen->args[arg].dtype;
    const enum dtype dtype = strcmp(name, "bool") == 0 ? DTYPE_U8 : dtype_from_name(name);
    return dtype ? dtype : DTYPE_U8;
}

/* Writes a buffer; `ask` and `fill` may be NULL. */
static void put_buffer(struct skeleton *s, size_t arg, const char *ask, enum dtype dtype, const char *count,
                       const char *role, const char *fill)
{
    json_out_object(s->out, arg_name(s, arg));
    if (ask)
        put_comment(s, ask);
    json_out_string(s->out, "type", dtype_name(dtype));
    json_out_string(s->out, "count", count);
    json_out_string(s->out, "role", role);
    if (fill)
        json_out_string(s->out, "fill", fill);
    json_out_end(s->out);
}

/* Writes the buffers that arguments point to. Integers are often indices, so they are filled with 0, which is always
 * valid. */
static void put_buffers(struct skeleton *s)
{
    const struct seen_launch *seen = s->seen;
    json_out_object(s->out, "buffers");
    for (size_t k = 0; k < s->kernel->explicit_count; k++) {
        const struct codeobj_arg *arg = &s->kernel->args[k];
        uint64_t bytes = 0;
        if (is_buffer(s, k) && seen) {
            const char *role = seen_role(s, k), *fill = dtype_is_float(seen_type(s, k)) ? "i % 7" : "0";
            put_buffer(s, k, NULL, seen_type(s, k),
                       arena_printf(s->arena, "%llu", (unsigned long long)seen->args[k].elements), role,
                       strcmp(role, "out") != 0 ? fill : NULL);
        } else if (is_buffer(s, k)) {
            const enum dtype dtype = dtype_in(type_text(s, k), s->arena);
            const bool in = !strcmp(arg->access, "read_only") || strstr(arg->type, "const");
            put_buffer(s, k, dtype ? NULL : "of what type? the code object does not say", dtype ? dtype : DTYPE_F32,
                       "n", in ? "in" : "inout", "i % 7");
        } else if (is_scratch(s, k, &bytes) && bytes) { /* each program of the grid has its own part */
            const char *programs =
                seen ? arena_printf(s->arena, "%llu * %llu * %llu", (unsigned long long)seen->grid[0],
                                    (unsigned long long)seen->grid[1], (unsigned long long)seen->grid[2])
                     : PROGRAMS;
            put_buffer(s, k, seen ? NULL : "bytes of a program, times the programs of the whole grid", DTYPE_U8,
                       arena_printf(s->arena, "%llu * %s", (unsigned long long)bytes, programs), "temp", NULL);
        }
    }
    json_out_end(s->out);
}

static void put_scalar(struct skeleton *s, const char *ask, const char *value, enum dtype dtype, uint64_t repeat)
{
    json_out_object(s->out, NULL);
    if (ask)
        put_comment(s, ask);
    json_out_string(s->out, "value", value);
    json_out_string(s->out, "type", dtype_name(dtype));
    if (repeat)
        json_out_u64(s->out, "repeat", repeat);
    json_out_end(s->out);
}

/* Writes an argument by value: the observed value, or else a size for integers of 4 or 8 bytes and 1 for other types.
 * Non-scalars become a struct of bytes. The type is Triton's if known. */
static void put_value(struct skeleton *s, size_t index)
{
    static const enum dtype unseen[9] = {[1] = DTYPE_U8, [2] = DTYPE_U16, [4] = DTYPE_I32, [8] = DTYPE_I64};
    static const enum dtype whole[9] = {[2] = DTYPE_I16, [4] = DTYPE_I32, [8] = DTYPE_I64};
    static const enum dtype fractions[9] = {[2] = DTYPE_F16, [4] = DTYPE_F32, [8] = DTYPE_F64};
    const struct seen_argument none = {0}, *seen = s->seen ? &s->seen->args[index] : &none;
    const uint32_t size = s->kernel->args[index].size_bytes, at = size < COUNT_OF(unseen) ? size : 0;
    const enum dtype known = dtype_in(type_text(s, index), s->arena);
    const enum dtype *by_size = !seen->value ? unseen : seen->value[strcspn(seen->value, ".einE")] ? fractions : whole;
    const enum dtype dtype = known && dtype_bytes(known) == size ? known : by_size[at] ? by_size[at] : DTYPE_U8;
    const bool is_scalar = seen->value || (unseen[at] && !seen->bytes);
    const char *usual = !dtype_is_float(dtype) && size >= 4 ? "n" : "1", *ask = NULL;
    if (!seen->value && !seen->bytes && (!known || !is_scalar))
        ask = arena_printf(s->arena, "%s: %u bytes by value: what are they?", arg_name(s, index), size);
    if (is_scalar) {
        put_scalar(s, ask, seen->value ? seen->value : usual, dtype, 0);
        return;
    }
    json_out_object(s->out, NULL);
    if (ask)
        put_comment(s, ask);
    json_out_array(s->out, "struct");
    for (uint32_t k = 0; k < size && seen->bytes; k++)
        put_scalar(s, NULL, arena_printf(s->arena, "%u", seen->bytes[k]), DTYPE_U8, 0);
    if (!seen->bytes)
        put_scalar(s, NULL, "0", dtype, size);
    json_out_end(s->out);
    json_out_end(s->out);
}

static void put_args(struct skeleton *s)
{
    uint64_t bytes = 0;
    json_out_array(s->out, "args");
    for (size_t k = 0; k < s->kernel->explicit_count; k++) {
        const struct seen_argument *seen = s->seen ? &s->seen->args[k] : NULL;
        if (seen && (seen->bytes || seen->value))
            put_value(s, k);
        else if (is_buffer(s, k) || (is_scratch(s, k, &bytes) && bytes))
            json_out_string(s->out, NULL, arg_name(s, k));
        else if (seen || is_scratch(s, k, &bytes))
            json_out_null(s->out, NULL);
        else
            put_value(s, k);
    }
    json_out_end(s->out);
}

/* ---- the launch ---- */

static void put_three(struct skeleton *s, const char *key, const uint64_t numbers[3])
{
    json_out_array(s->out, key);
    for (size_t k = 0; k < 3 && (k == 0 || numbers[1] * numbers[2] > 1); k++)
        json_out_string(s->out, NULL,
                        arena_printf(s->arena, "%llu", (unsigned long long)(numbers[k] ? numbers[k] : 1)));
    json_out_end(s->out);
}

/* Writes the bytes of work if it is known for each buffer whether it is read or written. */
static void put_seen_work(struct skeleton *s)
{
    double bytes[2] = {0};
    bool known = true;
    for (size_t k = 0; k < s->kernel->explicit_count; k++) {
        const char *role = is_buffer(s, k) ? seen_role(s, k) : "";
        const double size = *role ? (double)s->seen->args[k].elements * (double)dtype_bytes(seen_type(s, k)) : 0;
        known = known && (!is_buffer(s, k) || strstr(given_name(s, k), "_ptr"));
        bytes[0] += strcmp(role, "out") != 0 ? size : 0;
        bytes[1] += strcmp(role, "in") != 0 ? size : 0;
    }
    json_out_object(s->out, "work");
    if (known && bytes[0] + bytes[1] > 0) {
        json_out_string(s->out, "read", arena_printf(s->arena, "%.0f", bytes[0]));
        json_out_string(s->out, "write", arena_printf(s->arena, "%.0f", bytes[1]));
    } else {
        json_out_string(s->out, "items", "1");
    }
    json_out_end(s->out);
}

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
    json_out_string(s->out, NULL, PROGRAMS);
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

/* Returns a valid manifest name: the file's name, which people chose, without its suffix. */
static const char *name_of(const char *path, struct arena *arena)
{
    const char *base = path_base(path), *dot = strrchr(base, '.');
    char *name = arena_strndup(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
            *at = '_';
    return *name == '-' || *name == '.' ? arena_printf(arena, "k%s", name) : name;
}

static void put_code(struct skeleton *s, const char *image)
{
    json_out_object(s->out, "code");
    json_out_string(s->out, "image", image);
    json_out_string(s->out, "symbol", s->kernel->name);
    json_out_end(s->out);
    put_buffers(s);
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
    const uint64_t required = kernel->required_block[0], most = kernel->max_block;
    const uint64_t usual = required ? required : most && most < 256 ? most : 256;
    json_out_u64(s.out, "block",
                 s.triton.is_known ? s.triton.warps * (s.triton.wave ? s.triton.wave : kernel->wave) : usual);
    json_out_end(s.out);
    put_code(&s, image);
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
    return text_take(&text, arena);
}

const char *skeleton_of_launch(const char *image, const char *path, const struct codeobj_kernel *kernel,
                               const struct seen_launch *seen, struct arena *arena)
{
    struct skeleton s = {.out = json_out_new(), .kernel = kernel, .seen = seen, .arena = arena};
    struct text text = {0};
    read_triton(&s.triton, path, arena);
    json_out_string(s.out, "name", seen->name);
    json_out_string(s.out, "summary", seen->summary);
    json_out_object(s.out, "params");
    json_out_end(s.out);
    put_code(&s, image);
    const uint64_t shared = s.triton.shared_bytes ? s.triton.shared_bytes : s.seen->shared_bytes;
    json_out_object(s.out, "launch");
    put_three(&s, "grid", s.seen->grid);
    put_three(&s, "block", s.seen->block);
    if (shared)
        json_out_string(s.out, "shared", arena_printf(s.arena, "%llu", (unsigned long long)shared));
    put_args(&s);
    json_out_end(s.out);
    put_seen_work(&s);
    json_out_object(s.out, "check");
    json_out_end(s.out);
    json_out_finish(s.out, &text, true);
    return text_take(&text, arena);
}
