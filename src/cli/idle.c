/* SPDX-License-Identifier: MIT */
#include "idle.h"

#include <math.h>

#include "rooftile/log.h"
#include "rooftile/units.h"

static const double memory_above = 0.01; /* of the card's memory */
static const double own_allowance =
    1 << 30; /* for a runtime's own buffers, where the driver does not tell whose memory is whose */

void idle_problem(struct text *problem, const struct device_info *info, const struct device_sense *sense)
{
    const double own = isnan(sense->vram_own_bytes) ? own_allowance : sense->vram_own_bytes;
    const double taken = sense->vram_used_bytes - own; /* NaN where unknown, and then above nothing */
    text_add(problem, "");
    if (sense->other_processes > 0)
        text_addf(problem, "%.0f other process%s the GPU", sense->other_processes,
                  sense->other_processes > 1 ? "es use" : " uses");
    if (taken > memory_above * (double)info->memory_bytes)
        text_addf(problem, "%s%.1f GB of its memory %s in use", problem->length ? ", and " : "", taken / 1e9,
                  problem->length ? "are" : "are already");
}

void idle_warn(const struct device_info *info, const struct device_sense *sense)
{
    struct text problem = {0};
    idle_problem(&problem, info, sense);
    if (problem.length)
        log_warn("W007",
                 "%s is not idle: %s. Whatever they do shows in the times; 'fuser -v /dev/kfd' names the processes",
                 info->name, problem.data);
    text_release(&problem);
}
