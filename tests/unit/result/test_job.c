/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rooftile/result.h"

static const char *const variables[] = {"OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "PMIX_NAMESPACE",
                                        "PMIX_RANK",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "LOCAL_RANK",
                                        "TORCHELASTIC_RUN_ID",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_LOCALID",
                                        "SLURM_JOB_ID",
                                        "FLUX_TASK_RANK",
                                        "FLUX_JOB_SIZE",
                                        "FLUX_TASK_LOCAL_ID",
                                        "FLUX_JOB_ID",
                                        "JOB_COMPLETION_INDEX",
                                        "SLURMD_NODENAME",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "MPI_LOCALRANKID",
                                        "NODE_NAME"};

/* "NAME=VALUE NAME=VALUE" */
static void set(const char *words)
{
    struct arena arena = {0};
    char *rest = NULL, *copy = arena_strdup(&arena, words);
    for (size_t k = 0; k < COUNT_OF(variables); k++)
        unsetenv(variables[k]);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = 0;
        setenv(word, equals + 1, 1);
    }
    arena_release(&arena);
}

static const struct {
    const char *set, *engine;
    uint32_t rank, world, local_rank;
    const char *id, *error; /* error: part of the message */
} cases[] = {
    {"", "", 0, 1, 0, "", NULL},
    {"SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_LOCALID=1 SLURM_JOB_ID=77", "slurm", 5, 8, 1, "77", NULL},
    {"SLURM_PROCID=1 SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=4", "slurm", 1, 4, 0, "", NULL},
    {"FLUX_TASK_RANK=2 FLUX_JOB_SIZE=3 FLUX_TASK_LOCAL_ID=0 FLUX_JOB_ID=f1", "flux", 2, 3, 0, "f1", NULL},
    {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_RANK=3", "openmpi", 3, 4, 1, "",
     NULL},
    {"OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=4", "openmpi", 3, 4, 0, "", NULL},
    {"RANK=9 WORLD_SIZE=16 LOCAL_RANK=1 TORCHELASTIC_RUN_ID=x SLURM_PROCID=1 SLURM_NTASKS=2", "torchrun", 9, 16, 1, "x",
     NULL},
    {"RANK=1 WORLD_SIZE=2 LOCAL_RANK=0", "torchrun", 1, 2, 0, "", NULL},
    {"PMIX_RANK=1 SLURM_PROCID=1 SLURM_NTASKS=2", "slurm", 1, 2, 0, "", NULL},
    {"PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1", "pmi", 1, 2, 1, "", NULL},
    {"JOB_COMPLETION_INDEX=7", "kubernetes", 7, 0, 0, "", NULL},
    {"JOB_COMPLETION_INDEX=7 WORLD_SIZE=8", "kubernetes", 7, 8, 0, "", NULL},
    {"JOB_COMPLETION_INDEX=1 RANK=1 WORLD_SIZE=8 LOCAL_RANK=0", "kubernetes", 1, 8, 0, "", NULL},
    {"JOB_COMPLETION_INDEX=7 WORLD_SIZE=4", NULL, 0, 0, 0, NULL, "JOB_COMPLETION_INDEX=7 is not below WORLD_SIZE=4"},
    {"JOB_COMPLETION_INDEX=1 RANK=9 WORLD_SIZE=16", NULL, 0, 0, 0, NULL, "JOB_COMPLETION_INDEX=1 but RANK=9"},
    {"RANK=9 WORLD_SIZE=16 SLURM_PROCID=1 SLURM_NTASKS=2", NULL, 0, 0, 0, NULL, "SLURM_PROCID=1 but RANK=9"},
    {"RANK=1 WORLD_SIZE=16 SLURM_PROCID=1 SLURM_NTASKS=2", NULL, 0, 0, 0, NULL, "SLURM_NTASKS=2 but WORLD_SIZE=16"},
    {"SLURM_PROCID=8 SLURM_NTASKS=8", NULL, 0, 0, 0, NULL, "SLURM_PROCID=8 is not below SLURM_NTASKS=8"},
    {"FLUX_TASK_RANK=x FLUX_JOB_SIZE=8", NULL, 0, 0, 0, NULL, "FLUX_TASK_RANK is 'x'"},
    {"PMI_RANK=-1 PMI_SIZE=8", NULL, 0, 0, 0, NULL, "PMI_RANK is '-1'"},
    {"PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=2", NULL, 0, 0, 0, NULL, "MPI_LOCALRANKID=2 is not below"},
};

static void test_launchers(void **state)
{
    struct arena arena = {0};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct result_job job = {0};
        struct err err = {0};
        set(cases[k].set);
        const enum status status = result_job_find(&job, &arena, &err);
        if (cases[k].error) {
            assert_int_equal(status, ERR_USAGE);
            assert_non_null(strstr(err.text, cases[k].error));
            continue;
        }
        assert_int_equal(status, STATUS_OK);
        assert_string_equal(job.engine, cases[k].engine);
        assert_string_equal(job.id, cases[k].id);
        assert_int_equal(job.rank, cases[k].rank);
        assert_int_equal(job.world, cases[k].world);
        assert_int_equal(job.local_rank, cases[k].local_rank);
        assert_true(job.node[0]);
    }
    arena_release(&arena);
}

static void test_node(void **state)
{
    struct arena arena = {0};
    struct result_job job = {0};
    struct err err = {0};
    (void)state;
    set("SLURMD_NODENAME=n017 JOB_COMPLETION_INDEX=1");
    assert_int_equal(result_job_find(&job, &arena, &err), STATUS_OK);
    assert_string_equal(job.node, "n017");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launchers), cmocka_unit_test(test_node)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
