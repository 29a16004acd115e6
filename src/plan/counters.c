/* SPDX-License-Identifier: MIT
 *
 * Hardware counters that tell causes apart. Source for which target has which counter: counter_defs.yaml of
 * ROCm/rocprofiler-sdk.
 */

#include "rooftile/explain.h"

/* The maximum number of counters in one list: a hardware pass counts only a few per block. */
#define MOST_COUNTERS 6u
/* The minimum number of counters, even if fewer causes were found. */
#define LEAST_COUNTERS 3u

struct scale {
    const struct predicted_launch *launch;
    const struct walk_sums *sums; /* of one workgroup; the device runs `each` of them */
    double each;
};

static double waves(const struct scale *s)
{
    return s->sums->waves * s->each;
}

static double resident_waves(const struct scale *s)
{
    const struct device_launch_model *model = &s->launch->model;
    const double cus = model->occupancy.wgp_mode ? 2 : 1;
    return fmin(model->resident, model->fullest) * s->sums->waves / fmax(1, s->sums->workgroups) / cus;
}

static double conflicts(const struct scale *s)
{
    return (s->sums->lds_clocks - s->sums->lds_free_clocks) * s->each;
}

static double lds_clocks(const struct scale *s)
{
    return s->sums->lds_clocks * s->each;
}

/* L1 asks L2 for 64 bytes at a time on gfx908 and gfx90a, for lines of 128 since gfx94, and writes 64 bytes on all of
 * them: counters of one copy on MI100, MI210, MI300A, MI300X and MI350X. A line of which less than half is asked for
 * is one request. */
static double requests(const struct scale *s, bool stores, double request_bytes)
{
    double sum = 0;
    for (size_t k = 0; k <= s->launch->walked.buffer_count; k++) {
        const struct walk_traffic *traffic = &s->launch->walk->traffic[k];
        const double asked = stores ? traffic->stores : traffic->loads;
        const double bytes = (stores ? traffic->bytes_stored : traffic->bytes_loaded) / fmax(1, asked);
        sum +=
            (stores ? asked : traffic->l1_miss) * (bytes > request_bytes ? s->launch->line_bytes / request_bytes : 1);
    }
    return sum * s->each;
}

static double reads_of_64(const struct scale *s)
{
    return requests(s, false, 64);
}

static double reads_of_128(const struct scale *s)
{
    return requests(s, false, 128);
}

static double writes(const struct scale *s)
{
    return requests(s, true, 64);
}

static double loads(const struct scale *s)
{
    return s->sums->count[WALK_LOAD] * s->each;
}

static double vector(const struct scale *s)
{
    return (s->sums->count[WALK_VECTOR] + s->sums->count[WALK_TRANSCENDENTAL] + s->sums->count[WALK_MATRIX]) * s->each;
}

static double atomics(const struct scale *s)
{
    return s->sums->count[WALK_ATOMIC] * s->each;
}

static double read_kb(const struct scale *s)
{
    return (s->launch->model.memory_bytes - s->launch->model.stored_bytes) / 1024;
}

static double write_kb(const struct scale *s)
{
    return s->launch->model.stored_bytes / 1024;
}

static double clocks(const struct scale *s)
{
    return s->launch->prediction.time_ns * s->launch->core_hz / 1e9;
}

static double busy(const struct scale *s)
{
    return clocks(s) * fmin(s->launch->model.working, s->launch->model.units);
}

static const struct counter {
    const char *targets; /* prefixes of target names, separated by a blank */
    const char *name, *what;
    enum cost cost;
    double (*value)(const struct scale *);
} counters[] = {
    {"gfx9", "SQ_LDS_BANK_CONFLICT", "clocks that LDS loses to bank conflicts", COST_CONFLICTS, conflicts},
    {"gfx10 gfx11", "SQC_LDS_BANK_CONFLICT", "clocks that LDS loses to bank conflicts", COST_CONFLICTS, conflicts},
    {"gfx90a gfx94 gfx95", "SQ_LDS_IDX_ACTIVE", "clocks that LDS is busy", COST_CONFLICTS, lds_clocks},
    {"gfx10 gfx11", "SQC_LDS_IDX_ACTIVE", "clocks that LDS is busy", COST_CONFLICTS, lds_clocks},
    {"gfx908 gfx90a", "TCP_TCC_READ_REQ_sum", "reads of 64 bytes that L1 asks of L2", COST_UNCOALESCED, reads_of_64},
    {"gfx94 gfx95", "TCP_TCC_READ_REQ_sum", "reads of 128 bytes that L1 asks of L2", COST_UNCOALESCED, reads_of_128},
    {"gfx908 gfx90a gfx94 gfx95", "TCP_TCC_WRITE_REQ_sum", "writes of 64 bytes to L2", COST_UNCOALESCED, writes},
    {"gfx10 gfx11 gfx12", "FETCH_SIZE", "KiB read from memory", COST_UNCOALESCED, read_kb},
    {"gfx9", "SQ_INSTS_VMEM_RD", "load instructions", COST_NARROW, loads},
    {"gfx90a gfx94 gfx10 gfx11", "MeanOccupancyPerCU", "waves that a compute unit holds", COST_OCCUPANCY,
     resident_waves},
    {"gfx9 gfx10 gfx11", "SQ_INSTS_VALU", "vector instructions", COST_CHAIN, vector},
    /* On gfx94 and gfx95 neither counts clocks of the launch: GRBM_GUI_ACTIVE of a copy is up to 45 times its time. */
    {"gfx908 gfx90a", "SQ_BUSY_CU_CYCLES", "clocks that compute units are busy, of all together", COST_WAITS, busy},
    {"gfx10 gfx11", "GRBM_GUI_ACTIVE", "clocks that the device is busy", COST_WAITS, clocks},
    {"gfx90a gfx94 gfx95", "TCC_ATOMIC_sum", "atomics at L2", COST_ATOMICS, atomics},
    {"gfx9 gfx10 gfx11", "SQ_WAVES", "waves", COST_TAIL, waves},
    {"gfx9", "FETCH_SIZE", "KiB read from memory", COST_TRAFFIC, read_kb},
    {"gfx9 gfx10 gfx11 gfx12", "WRITE_SIZE", "KiB written to memory", COST_TRAFFIC, write_kb},
};

static bool has_counter(const struct counter *counter, const char *target)
{
    for (const char *at = counter->targets; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (!strncmp(target, at, length))
            return true;
        at += length;
    }
    return false;
}

void explain_counters(struct explanation *explanation, const struct predicted_launch *launch, struct arena *arena)
{
    const struct scale scale = {launch, &launch->walk->sums,
                                launch->model.working / fmax(1, launch->walk->sums.workgroups)};
    for (size_t k = 0; k < COUNT_OF(counters); k++)
        if (has_counter(&counters[k], launch->walked.target))
            ARENA_PUSH(arena, explanation->counters, explanation->counter_count,
                       (struct explained_counter){counters[k].name, counters[k].what, counters[k].cost,
                                                  counters[k].value(&scale), NAN});
}

/* ---- choosing the most telling counters ---- */

static size_t rank_of(const struct explanation *explanation, enum cost cause)
{
    size_t k = 0;
    while (k < explanation->cause_count && explanation->causes[k].cost != cause)
        k++;
    return k;
}

void explain_sort_counters(struct explanation *explanation)
{
    struct explained_counter *items = explanation->counters;
    for (size_t k = 1; k < explanation->counter_count; k++) /* insertion sort: equal ranks keep their order */
        for (size_t at = k; at && rank_of(explanation, items[at].cost) < rank_of(explanation, items[at - 1].cost);
             at--) {
            const struct explained_counter before = items[at - 1];
            items[at - 1] = items[at];
            items[at] = before;
        }
    size_t count = 0;
    while (count < explanation->counter_count && count < MOST_COUNTERS &&
           (count < LEAST_COUNTERS || rank_of(explanation, items[count].cost) < explanation->cause_count))
        count++;
    explanation->counter_count = count;
}

void explain_counter_command(struct text *text, const struct explanation *explanation, const char *run)
{
    text_add(text, "rocprofv3 --pmc");
    for (size_t k = 0; k < explanation->counter_count; k++)
        text_addf(text, " %s", explanation->counters[k].name);
    text_addf(text, " --kernel-include-regex '%s' --output-format csv -o counters -- rooftile run %s --profile",
              explanation->symbol, run);
}
