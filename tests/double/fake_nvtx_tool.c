/* SPDX-License-Identifier: MIT
 *
 * A tool's library that listens to NVTX and writes what fake_roctx.c does. It takes every
 * place of every module that it is offered, as tools do. FAKE_NVTX_TOOL=fails: it does not start; =deaf: it takes no
 * ranges.
 */
#include "../../src/device/gpu.h"

#include <stdlib.h>
#include <string.h>

int InitializeInjectionNvtx2(nvtx_get_table get_table);

int roctxRangePushA(const char *name);
int roctxRangePop(void);

static int push(const char *name)
{
    roctxRangePushA(name);
    return 0;
}

static int pop(void)
{
    roctxRangePop();
    return 0;
}

static void other(void) {}

int InitializeInjectionNvtx2(nvtx_get_table get_table)
{
    const char *told = getenv("FAKE_NVTX_TOOL");
    const struct nvtx_callbacks *callbacks = get_table(NVTX_CALLBACKS);
    const struct nvtx_version_info *info = get_table(NVTX_VERSION_INFO);
    if (!callbacks || callbacks->size < sizeof(*callbacks) || !info || info->version != 3 || get_table(2) ||
        (told && strcmp(told, "fails") == 0))
        return 0;
    info->set_tool_version(3);
    for (int module = 0; module <= NVTX_MODULES; ++module) {
        nvtx_function **places = NULL;
        unsigned count = 0;
        const int there = callbacks->functions_of(module, &places, &count);
        if (there != (module >= NVTX_CORE && module < NVTX_MODULES) || (there && (places[0] || places[count])))
            return 0;
        for (unsigned i = 1; i < count; ++i)
            *places[i] = module == NVTX_CORE && i == NVTX_RANGE_PUSH  ? (nvtx_function)push
                         : module == NVTX_CORE && i == NVTX_RANGE_POP ? (nvtx_function)pop
                                                                      : other;
        if (module == NVTX_CORE && told && strcmp(told, "deaf") == 0)
            *places[NVTX_RANGE_PUSH] = NULL;
    }
    return 1;
}
