/* SPDX-License-Identifier: MIT
 *
 * Identifies the launcher of this process and the process's rank: read from the launcher's variables, never queried
 * over a network.
 */
#include <unistd.h>

#include "rooftile/result.h"

/* The innermost first: mpirun and torchrun start inside an allocation of a scheduler, and their processes inherit its
 * variables, so theirs win. All others must agree. */
static const struct launcher {
    const char *engine, *rank, *world, *local_rank, *id;
    const char *marker; /* set by this launcher for its own processes; NULL: `rank` is the marker */
    bool nested;        /* overrides those below, whatever their values */
} launchers[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE", NULL,
     true},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RUN_ID", true},
    {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID", NULL, false},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID", NULL, false},
    {"flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_ID", NULL, false},
    {"pmix", "PMIX_RANK", NULL, NULL, "PMIX_NAMESPACE", NULL, false},
    {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID", NULL, false},
    /* Kubernetes has no variable for the number of pods; a job's template may set WORLD_SIZE. */
    {"kubernetes", "JOB_COMPLETION_INDEX", "WORLD_SIZE", NULL, "JOB_NAME", NULL, false},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID", NULL, false},
};

static const char *const node_variables[] = {"SLURMD_NODENAME", "NODE_NAME"};

static const char *variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;
    return value ? value : "";
}

static enum status number(uint32_t *out, const char *name, struct err *err)
{
    char *end;
    const char *text = variable(name);
    if (!*text)
        return STATUS_OK;
    const unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value > UINT32_MAX)
        return err_set(err, ERR_USAGE, "the launcher's variable %s is '%.40s', which is no number", name, text);
    *out = (uint32_t)value;
    return STATUS_OK;
}

static enum status read_launcher(struct result_job *job, const struct launcher *from, struct arena *arena,
                                 struct err *err)
{
    if (number(&job->rank, from->rank, err) || number(&job->world, from->world, err) ||
        number(&job->local_rank, from->local_rank, err))
        return err->status;
    job->engine = from->engine;
    job->id = arena_strdup(arena, variable(from->id));
    const bool local = job->rank < job->world;
    if (job->world && (!local || job->local_rank >= job->world))
        return err_set(err, ERR_USAGE, "the launcher's variables contradict each other: %s=%u is not below %s=%u",
                       local ? from->local_rank : from->rank, local ? job->local_rank : job->rank, from->world,
                       job->world);
    return STATUS_OK;
}

static enum status agree(const struct result_job *a, const struct launcher *x, const struct result_job *b,
                         const struct launcher *y, struct err *err)
{
    const bool ranks = a->rank != b->rank, worlds = a->world && b->world && a->world != b->world;
    if (!ranks && !worlds)
        return STATUS_OK;
    return err_set(err, ERR_USAGE,
                   "variables of two launchers contradict each other: %s=%u but %s=%u; unset those of the one that "
                   "did not start this process",
                   ranks ? x->rank : x->world, ranks ? a->rank : a->world, ranks ? y->rank : y->world,
                   ranks ? b->rank : b->world);
}

static const char *node_name(struct arena *arena)
{
    char name[256] = "";
    for (size_t k = 0; k < COUNT_OF(node_variables); k++)
        if (*variable(node_variables[k]))
            return arena_strdup(arena, variable(node_variables[k]));
    gethostname(name, sizeof(name) - 1);
    return arena_strdup(arena, *name ? name : "localhost");
}

enum status result_job_find(struct result_job *job, struct arena *arena, struct err *err)
{
    struct result_job found = {.engine = "", .id = "", .world = 1};
    const struct launcher *by = NULL;
    for (size_t k = 0; k < COUNT_OF(launchers) && !(by && by->nested); k++) {
        const struct launcher *at = &launchers[k];
        struct result_job one = {.engine = "", .id = ""};
        if (!*variable(at->rank) || (at->marker && !*variable(at->marker)) ||
            (at->world && !*variable(at->world) && !strcmp(at->engine, "slurm")))
            continue;
        if (by && !strcmp(by->engine, at->engine)) /* the step's number of tasks, not the allocation's */
            continue;
        if (read_launcher(&one, at, arena, err) || (by && agree(&found, by, &one, at, err)))
            return err->status;
        if (!by)
            by = at, found = one;
        else if (!found.world)
            found.world = one.world;
    }
    found.node = node_name(arena);
    *job = found;
    return STATUS_OK;
}
