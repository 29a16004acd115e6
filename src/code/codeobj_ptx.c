/* SPDX-License-Identifier: MIT
 *
 * Reads PTX: the text that clang writes for NVIDIA GPUs and the driver compiles at load time. It gives the parameters,
 * shared memory and launch bounds of each kernel; the driver chooses registers and stack. Source: "Parallel Thread
 * Execution ISA" 9.0, chapters on directives and on state spaces.
 */

#include "codeobj_internal.h"
#include "rooftile/targets.h"

/* A name, a number, a directive with its dot, or one other character; empty at the end. */
struct token {
    const char *text;
    size_t length;
};

/* A file-scope variable in shared memory, which counts for the kernels that use it. */
struct ptx_shared {
    struct token name;
    uint64_t size_bytes;
    const char *counted_by; /* the last kernel that used it */
};

struct ptx {
    const char *at, *end;
    struct arena *arena;
    struct codeobj_kernel *kernels;
    size_t kernel_count;
    struct ptx_shared *shared;
    size_t shared_count;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("._$%", c));
}

static struct token next_token(struct ptx *ptx)
{
    while (ptx->at < ptx->end &&
           (isspace((unsigned char)*ptx->at) || (ptx->end - ptx->at >= 2 && !memcmp(ptx->at, "//", 2)))) {
        const char *line = *ptx->at == '/' ? memchr(ptx->at, '\n', (size_t)(ptx->end - ptx->at)) : ptx->at + 1;
        ptx->at = line ? line : ptx->end;
    }
    struct token token = {ptx->at, 0};
    while (ptx->at < ptx->end && is_word(*ptx->at))
        ptx->at++;
    if (ptx->at == token.text && ptx->at < ptx->end)
        ptx->at++;
    token.length = (size_t)(ptx->at - token.text);
    return token;
}

static bool is(struct token token, const char *text)
{
    return token.length == strlen(text) && memcmp(token.text, text, token.length) == 0;
}

static uint32_t number(struct token token)
{
    uint64_t value = 0;
    for (size_t k = 0; k < token.length && isdigit((unsigned char)token.text[k]) && value < UINT32_MAX; k++)
        value = value * 10 + (uint64_t)(token.text[k] - '0');
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Returns the bytes of ".u64" or ".b8"; 0 if the word is not a type. */
static uint32_t type_bytes(struct token token)
{
    if (token.length < 3 || token.text[0] != '.' || !memchr("bsuf", token.text[1], 4))
        return 0;
    for (size_t k = 2; k < token.length; k++)
        if (!isdigit((unsigned char)token.text[k]))
            return 0;
    return number((struct token){token.text + 2, token.length - 2}) / 8;
}

/* A declaration after .param or .shared, up to its terminator: ".align 16 .b8 name[24]". */
struct variable {
    struct token name;
    uint32_t align_bytes;
    uint64_t size_bytes;
};

static struct token read_variable(struct variable *variable, struct ptx *ptx)
{
    struct token token = {0};
    uint64_t count = 1;
    uint32_t each = 0, align = 0;
    bool is_pointee = false; /* ".ptr .global .align 1" describes what a pointer points to */
    *variable = (struct variable){0};
    while ((token = next_token(ptx)).length && !is(token, ",") && !is(token, ")") && !is(token, ";") &&
           !is(token, "=")) {
        is_pointee = is_pointee || is(token, ".ptr");
        if (is(token, ".align")) {
            const uint32_t value = number(next_token(ptx));
            align = is_pointee ? align : value;
        } else if (is(token, "[")) {
            count *= number(next_token(ptx)); /* empty brackets: the launch sets the size */
        } else if (type_bytes(token)) {
            each = type_bytes(token);
        } else if (token.text[0] != '.' && is_word(token.text[0])) {
            variable->name = token;
        }
    }
    variable->align_bytes = align ? align : each;
    variable->size_bytes = count * each;
    return token;
}

/* ---- one kernel ---- */

/* Reads the list in brackets after the name; a kernel without parameters may have none. */
static void read_parameters(struct codeobj_kernel *kernel, struct ptx *ptx)
{
    struct ptx ahead = *ptx;
    struct codeobj_arg *args = NULL;
    struct variable variable;
    if (!is(next_token(&ahead), "("))
        return;
    *ptx = ahead;
    for (struct token token = {0}; !is(token, ")") && (token = next_token(ptx)).length;)
        if (is(token, ".param")) {
            token = read_variable(&variable, ptx);
            const uint32_t align = variable.align_bytes ? variable.align_bytes : 1;
            const uint64_t offset = ((uint64_t)kernel->kernarg_bytes + align - 1) / align * align;
            if (offset + variable.size_bytes > UINT16_MAX)
                continue; /* more than the hardware has */
            ARENA_PUSH(ptx->arena, args, kernel->arg_count,
                       codeobj_bare_arg((uint32_t)offset, (uint32_t)variable.size_bytes));
            kernel->explicit_count = kernel->arg_count;
            kernel->kernarg_bytes = (uint32_t)(offset + variable.size_bytes);
        }
    kernel->args = args;
}

/* Reads ".maxntid 256, 1, 1": up to three numbers; a missing one is 1. */
static uint32_t read_threads(uint32_t sizes[3], struct ptx *ptx)
{
    for (size_t k = 0; k < 3; k++) {
        struct ptx ahead = *ptx;
        sizes[k] = 1;
        if (k && !is(next_token(&ahead), ","))
            continue;
        sizes[k] = number(next_token(&ahead));
        *ptx = ahead;
    }
    return codeobj_block(sizes);
}

static uint64_t named_bytes(struct token name, struct ptx *ptx, const char *kernel)
{
    struct ptx_shared *shared = ptx->shared;
    for (size_t k = 0; k < ptx->shared_count; k++) {
        if (shared[k].name.length != name.length || memcmp(shared[k].name.text, name.text, name.length) != 0)
            continue;
        const bool counted = shared[k].counted_by == kernel;
        shared[k].counted_by = kernel;
        return counted ? 0 : shared[k].size_bytes;
    }
    return 0;
}

/* Sums the shared memory declared in the body and the file-scope variables that it uses, each once. */
static bool read_body(struct codeobj_kernel *kernel, struct ptx *ptx)
{
    struct token token = {0};
    struct variable variable;
    uint64_t bytes = 0;
    unsigned depth = 1;
    while (depth && (token = next_token(ptx)).length) {
        depth += is(token, "{") ? 1u : 0u;
        depth -= is(token, "}") ? 1u : 0u;
        if (is(token, ".shared")) {
            read_variable(&variable, ptx);
            bytes += variable.size_bytes;
        } else {
            bytes += named_bytes(token, ptx, kernel->name);
        }
    }
    kernel->group_segment_bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    return depth == 0;
}

/* Reads a kernel after .entry; `first` is the start of its text. */
static enum status read_kernel(struct ptx *ptx, const char *first, struct err *err)
{
    struct codeobj_kernel kernel = {.wave = 32, .is_ptx = true};
    const struct token name = next_token(ptx);
    if (codeobj_string(&kernel.name, name.text, name.length, "a kernel's name", ptx->arena, err))
        return err->status;
    kernel.symbol = kernel.name;
    read_parameters(&kernel, ptx);
    struct token token = {0};
    uint32_t sizes[3];
    while ((token = next_token(ptx)).length && !is(token, "{") && !is(token, ";")) {
        if (is(token, ".maxntid"))
            kernel.max_block = read_threads(sizes, ptx);
        else if (is(token, ".reqntid"))
            kernel.max_block = read_threads(kernel.required_block, ptx);
    }
    if (!is(token, "{")) /* a declaration only, or the end of the file */
        return STATUS_OK;
    if (!read_body(&kernel, ptx))
        return err_set(err, ERR_CONFIG, "truncated: kernel %s does not end", kernel.name);
    codeobj_set_code(&kernel, (struct bytes){(const unsigned char *)first, (size_t)(ptx->at - first)});
    ARENA_PUSH(ptx->arena, ptx->kernels, ptx->kernel_count, kernel);
    return STATUS_OK;
}

/* ---- the file ---- */

bool ptx_is(struct bytes bytes)
{
    const char *text = (const char *)bytes.data;
    struct ptx ptx = {.at = text, .end = text + bytes.size};
    return bytes.size && is(next_token(&ptx), ".version");
}

enum status ptx_read(struct codeobj *object, struct bytes bytes, struct arena *arena, struct err *err)
{
    const char *text = (const char *)bytes.data;
    struct ptx ptx = {.at = text, .end = text + bytes.size, .arena = arena};
    enum status status = STATUS_OK;
    for (struct token token = {0}; !status && (token = next_token(&ptx)).length;) {
        struct variable variable;
        if (is(token, ".target")) {
            const struct token name = next_token(&ptx);
            status = codeobj_string(&object->target, name.text, name.length, "the target", arena, err);
        } else if (is(token, ".shared")) {
            read_variable(&variable, &ptx);
            ARENA_PUSH(arena, ptx.shared, ptx.shared_count,
                       (struct ptx_shared){.name = variable.name, .size_bytes = variable.size_bytes});
        } else if (is(token, ".entry")) {
            status = read_kernel(&ptx, token.text, err);
        }
    }
    object->kernels = ptx.kernels;
    object->kernel_count = ptx.kernel_count;
    if (!status && !(object->target && target_is_nvidia(object->target)))
        status = err_set(err, ERR_CONFIG, "not a code object: PTX without a .target");
    return status;
}
