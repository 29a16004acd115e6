/* SPDX-License-Identifier: MIT
 *
 * NVIDIA's disassemblers, nvdisasm and cuobjdump (which starts nvdisasm itself), as child processes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa_internal.h"
#include "rooftile/file.h"
#include "rooftile/spawn.h"

#define CUDA_DEFAULT "/usr/local/cuda/bin"

static const char *find(const char *name, struct arena *arena)
{
    const char *home = getenv("CUDA_HOME");
    const char *path = home && *home ? spawn_which(arena, arena_printf(arena, "%s/bin/%s", home, name)) : NULL;
    path = path ? path : spawn_which(arena, name);
    return path ? path : spawn_which(arena, arena_printf(arena, CUDA_DEFAULT "/%s", name));
}

static enum status find_tool(const char **tool, const char *target, struct arena *arena, struct err *err)
{
    const char *asked = getenv("ROOFTILE_NVDISASM");
    const char *found = NULL;
    if (asked && *asked) {
        found = spawn_which(arena, asked);
        if (!found)
            return err_set(err, ERR_UNSUPPORTED,
                           "ROOFTILE_NVDISASM: no program %s; instructions of %s need nvdisasm or cuobjdump", asked,
                           target);
    } else {
        found = find("nvdisasm", arena);
        found = found ? found : find("cuobjdump", arena);
    }
    if (!found)
        return err_set(err, ERR_UNSUPPORTED,
                       "no nvdisasm and no cuobjdump in CUDA_HOME, on PATH or in " CUDA_DEFAULT
                       ": instructions of %s need one (ROOFTILE_NVDISASM names it)",
                       target);
    *tool = found;
    return STATUS_OK;
}

enum status isa_sass_disassemble(char **text, const char **tool, int fd, const char *target, struct arena *arena,
                                 struct err *err)
{
    struct spawn_result ran = {0};
    enum status status = find_tool(tool, target, arena, err);
    if (status)
        return status;
    const bool dumps = text_starts(path_base(*tool), "cuobjdump");
    const char *const argv[] = {*tool, dumps ? "--dump-sass" : "--print-code",
                                arena_printf(arena, "/proc/%ld/fd/%d", (long)getpid(), fd), NULL};
    status = isa_tool_run(&ran, argv, arena, err);
    if (!status)
        status = isa_tool_failed(&ran, *tool, err);
    if (!status)
        *text = ran.output;
    return status;
}
