/* SPDX-License-Identifier: MIT */
#include "build_internal.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"

#define COMPILER_WORDS_BYTES 100000

/* The compiler's own words for how it failed. */
static enum status run_compiler(const struct build_unit *unit, const char *output, struct arena *arena, struct err *err)
{
    struct argv argv = {.arena = arena};
    struct spawn_result result = {0};
    argv_add_all(&argv, unit->command.items, unit->command.count);
    if (unit->compiler->is_hipcc)
        argv_add(&argv, "--cuda-device-only"); /* --genco would bundle, which text has no place for */
    argv_add(&argv, "-S");
    argv_add(&argv, "-emit-llvm");
    argv_add(&argv, "-o");
    argv_add(&argv, output);
    enum status status = spawn_run(&result, argv.items, NULL, COMPILER_WORDS_BYTES, 0, arena, err);
    if (!status && result.exit_code)
        status =
            err_set(err, ERR_BUILD, "%s failed with %d:\n%s", unit->compiler->path, result.exit_code, result.errors);
    return status;
}

enum status build_ir(char **ir, const struct build_request *request, const struct build_options *options,
                     struct arena *arena, struct err *err)
{
    struct compiler compiler;
    struct build_unit unit = {.request = request};
    const char *include_dir = NULL;
    char *scratch = NULL;
    size_t length = 0;
    if (!request->source)
        return err_set(err, ERR_UNSUPPORTED, "%s comes compiled: there is no LLVM IR",
                       request->image ? request->image : request->library);
    enum status status = build_find_compiler(&compiler, &request->target, request->min_llvm, arena, err);
    if (!status)
        status = command_include_dir(&include_dir, options->include_dir, arena, err);
    if (!status)
        status = unit_locate(&unit, include_dir, arena, err);
    if (!status)
        status = unit_prepare(&unit, &compiler, arena, err);
    if (!status)
        status = scratch_make(&scratch, arena, err);
    if (status)
        return status;
    const char *output = path_join(arena, scratch, "kernel.ll");
    status = run_compiler(&unit, output, arena, err);
    if (!status)
        status = file_read(ir, &length, output, FILE_LIMIT_BYTES, arena, err);
    scratch_remove(scratch);
    return status;
}
