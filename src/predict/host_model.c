/* SPDX-License-Identifier: MIT */
#include "rooftile/host_model.h"

/* Used if the machine has no measured cache levels. */
#define L1_BYTES 32768.0
#define L2_BYTES 1048576.0
/* A stride shows in the first passes; later passes repeat it. */
#define BUDGET UINT64_C(50000)

#define CLOCKS_ISSUE 0.125
#define MISSES 24.0
#define WINDOW 900 /* in walked instructions: two for each of a core's 450 micro-ops */
#define WINDOW_ACCESSES 256.0

/* The walk's clock counts steps of dependent arithmetic: GPU code does not determine the issue and memory costs of a
 * CPU. */
static const struct walk_clocks arithmetic_alone = {.vector_latency = 1, .lds_bytes = INFINITY, .l1_bytes = INFINITY};
#define STEP_CLOCKS 4
/* A latency with more noise than this was disturbed while it was measured, as a core's latency does not vary. */
#define SURE 0.1

static double cache_bytes(const struct machine *machine, uint32_t number, double otherwise)
{
    const double bytes = number < machine->latency_count ? machine->latencies[number].upto_bytes : 0;
    return bytes > 0 ? bytes : otherwise;
}

void host_walk_options(struct walk_options *options, const struct machine *machine)
{
    const double l1 = cache_bytes(machine, 0, L1_BYTES), l2 = cache_bytes(machine, 1, L2_BYTES);
    *options = (struct walk_options){.clocks = arithmetic_alone,
                                     .line_bytes = (uint32_t)HOST_LINE_BYTES,
                                     .l1_lines = (uint64_t)(l1 / HOST_LINE_BYTES),
                                     .l2_lines = (uint64_t)(fmax(l1, l2) / HOST_LINE_BYTES),
                                     .dies = (uint32_t)fmax(1, machine->cus),
                                     .budget = BUDGET,
                                     .window = WINDOW};
}

void host_walk_add(struct host_walk *sum, const struct walk_launch *launch, const struct walk_result *walk,
                   double times)
{
    const double groups = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const double items = (double)launch->block[0] * launch->block[1] * launch->block[2];
    const double walked = fmax(1, walk->sums.workgroups), waves = fmax(1, walk->sums.waves / walked);
    const double each = times * walk->working * groups / walked;
    sum->instructions += each * walk->sums.instructions * items / waves;
    sum->accesses += each * walk->sums.accesses;
    sum->bytes += each * walk->sums.access_bytes;
    sum->flops += each * walk->sums.flops;
    sum->chain_steps += each * walk->clocks;
    sum->in_part |= walk->over_budget;
    for (size_t k = 0; k <= launch->buffer_count; k++) {
        const struct walk_traffic *traffic = &walk->traffic[k];
        sum->contended += each * traffic->contended;
        const double beyond = traffic->memory + traffic->shared, misses = traffic->l1_miss + traffic->stored;
        /* The walk's L1 keeps no line that is stored to, so of the lines found in L2 only those on other pages are
         * certain to miss L1. */
        const double again = fmax(0, fmin(traffic->stores - traffic->stored, traffic->apart - misses));
        sum->far += each * (beyond + traffic->stored);
        sum->near += each * (fmax(0, traffic->l1_miss - beyond) + again);
        if (k == launch->buffer_count) { /* accesses with unknown addresses */
            sum->apart += each * misses;
            continue;
        }
        sum->apart += each * traffic->apart;
        sum->stepped += each * traffic->stepped;
        sum->apart_placed += each * traffic->apart;
        sum->apart_bytes += each * traffic->apart * (double)launch->buffers[k].size_bytes;
    }
}

double host_fought_ns(const struct host_walk *walk, const struct machine *machine, double share)
{
    const struct machine_figure *rate = machine_figure(machine, "write_shared");
    return rate ? share * walk->contended * HOST_LINE_BYTES * fmax(1, machine->cus) / rate->value * 1e9 : 0;
}

struct host_time host_time(const struct host_walk *walk, const struct machine *machine, double share, double rate,
                           double near_ns, double far_ns)
{
    const double lines = walk->near + walk->far, cus = fmax(1, machine->cus);
    const double apart = lines > 0 ? fmin(1, walk->apart / lines) : 0;
    const double stream_ns = rate > 0 ? HOST_LINE_BYTES * cus / rate * 1e9 : 0;
    const double ahead = walk->accesses > 0 ? WINDOW_ACCESSES * walk->far / walk->accesses : MISSES;
    const double step = lines * (1 - apart) > 0 ? walk->stepped / (lines * (1 - apart)) : 1;
    const double miss_ns = far_ns / fmin(MISSES, fmax(1, ahead));
    const double step_ns = fmax(stream_ns, fmin(step * stream_ns, miss_ns));
    const double near = apart * fmax(near_ns, stream_ns) + (1 - apart) * stream_ns;
    const double far = apart * fmax(miss_ns, step_ns) + (1 - apart) * step_ns;
    const double clock_ns = machine->core_hz > 0 ? 1e9 / machine->core_hz : 0;
    return (struct host_time){
        .issue_ns = share * walk->instructions * CLOCKS_ISSUE * clock_ns,
        .lines_ns = fmax(share * (walk->near * near + walk->far * far), host_fought_ns(walk, machine, share))};
}

double host_chain_ns(const struct host_walk *walk, const struct machine *machine, double share)
{
    const struct machine_figure *latency = machine_figure(machine, "f32_fma_latency");
    const double clocks_ns = machine->core_hz > 0 ? STEP_CLOCKS / machine->core_hz * 1e9 : 0;
    const bool sure = latency && (latency->ci_rel <= SURE || clocks_ns <= 0);
    return share * walk->chain_steps * (sure ? latency->value : clocks_ns);
}
