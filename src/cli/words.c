/* SPDX-License-Identifier: MIT
 *
 * Explains words on the command line that name no kernel or suite: options, commands, targets, machines.
 */

#include "cli.h"
#include "rooftile/cpu_target.h"
#include "rooftile/file.h"
#include "rooftile/targets.h"

/* ---- in place of a kernel or suite ---- */

enum status argument_is_other(const struct cli_options *options, const char *word, struct arena *arena, struct err *err)
{
    const struct command *command = options->command ? command_find(options->command) : NULL;
    struct device_request request = {0};
    struct err ignored = {0}, other = {0};
    const char *dot = strrchr(word, '.');
    if (word[0] == '-')
        return err_set(err, ERR_USAGE, "'%s' stands behind '--', which ends the options: write it before", word);
    if (strchr(word, ','))
        return err_set(err, ERR_USAGE, "unknown kernel or suite '%s'; several are words of their own, without commas",
                       word);
    if (strpbrk(word, "*?[") && command_takes(command, "filter"))
        return err_set(err, ERR_USAGE, "'%s' is a pattern: --filter '%s'", word, word);
    if (strchr(word, '='))
        return err_set(err, ERR_USAGE, "'%s' is no kernel or suite; a parameter is set with --set %s", word, word);
    if (!strcmp(word, "gpu") || !device_parse(&request, word, &ignored))
        return err_set(err, ERR_USAGE, "'%s' is no kernel or suite; a device is given with --device %s", word, word);
    if (target_find(word))
        return err_set(err, ERR_USAGE, "'%s' is no kernel or suite; a target is given with --arch %s", word, word);
    if (command_find(word))
        return err_set(err, ERR_USAGE, "'%s' is a command, which stands first: 'rooftile %s ...'", word, word);
    if ((file_is_dir(word) || (dot && file_exists(word))) &&
        argument_explain(&other, word, "a kernel or suite", arena)) {
        *err = other;
        return err->status;
    }
    return dot && file_exists(word)
               ? err_set(err, ERR_USAGE, "%s is a file, but no kernel or suite: these are JSON", word)
               : hint_add(err, HINT_WORD, word, command);
}

/* ---- targets ---- */

/* Returns the target for a target, a product that has it, or nvcc's name for it; NULL if there is none. */
static const char *target_of(const char *word, struct arena *arena)
{
    const char *name = text_lower(word, arena);
    const char *number = text_starts(name, "compute_") ? name + 8 : text_starts(name, "sm") ? name + 2 : "";
    const char *nvidia = arena_printf(arena, "sm_%s", number);
    struct machine *machine = arena_alloc(arena, sizeof(*machine));
    struct device_info *info = arena_alloc(arena, sizeof(*info));
    struct err ignored = {0};
    if (target_is_amd(name) || target_is_nvidia(name) || backend_is_cpu(name)) /* "gfx90a:xnack-", "sm_90a" */
        return name;
    if (*number && target_is_nvidia(nvidia))
        return nvidia;
    for (size_t k = 0; k < target_count; k++)
        if (text_has_word(text_lower(targets[k].products, arena), " ,/()", name, strlen(name)))
            return targets[k].arch;
    const char *model = text_starts(name, "sim:") ? name + 4 : name;
    return strchr(model, '/') || session_model(machine, info, model, arena, &ignored)
               ? NULL
               : arena_strdup(arena, machine->arch);
}

enum status argument_archs(struct cli_options *options, struct arena *arena, struct err *err)
{
    const struct command *command = command_find(options->command);
    const char **archs = arena_array(arena, options->arch_count + 1, sizeof(*archs));
    const char **names = arena_array(arena, target_count, sizeof(*names));
    for (size_t k = 0; k < target_count; k++)
        names[k] = targets[k].arch;
    for (size_t k = 0; k < options->arch_count; k++) {
        const char *pair = arena_printf(arena, "arch=%s", options->archs[k]);
        archs[k] = target_of(options->archs[k], arena);
        const struct build_target target = build_target_of(archs[k] ? archs[k] : "");
        struct compiler compiler;
        struct err ignored = {0};
        /* A compiler may support a target that is in no table: "gfx1153". */
        if (archs[k] && (target.kind == BUILD_CPU || target_find(archs[k]) ||
                         build_find_compiler(&compiler, &target, 0, arena, &ignored) != ERR_UNSUPPORTED))
            continue;
        err_set(err, ERR_USAGE, "--arch %s: there is no such target%s", options->archs[k],
                archs[k] ? ", and no compiler here knows it" : "");
        if (hint_add(err, HINT_VALUE, pair, command))
            return ERR_USAGE;
        return err_nearest(err, options->archs[k], names, target_count, "'rooftile list --targets' shows them");
    }
    options->archs = archs;
    return STATUS_OK;
}

/* ---- machines ---- */

enum status argument_machines(const struct cli_options *options, struct arena *arena, struct err *err)
{
    struct machine *machine = NULL;
    struct err ignored = {0};
    const struct command *command = command_find(options->command);
    const bool sim = command_takes(command, "device") && command_takes(command, "set");
    const char *write = command_takes(command, "arch")      ? "--arch "
                        : sim                               ? "--device sim:"
                        : command_takes(command, "machine") ? "--machine "
                                                            : "rooftile roofline --machine ";
    for (size_t k = 0; k < options->arg_count && !options->help; k++)
        if (!strchr(options->args[k], '/') && !file_exists(options->args[k]) &&
            !session_known_machine(&machine, options->args[k], arena, &ignored) && machine)
            return err_set(err, ERR_USAGE, "'%s' is a machine: write %s%s", options->args[k], write, options->args[k]);
    return STATUS_OK;
}
