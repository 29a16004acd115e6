/* SPDX-License-Identifier: MIT
 *
 * Element-wise kernels, softmax and layer norm as PyTorch has them. What a wave executes is estimated from how these
 * kernels work (aten/src/ATen/native/cuda: Loops.cuh, PersistentSoftmax.cuh, SoftMax.cu, layer_norm_kernel.cu) and from
 * what clang makes of such lines; that of pow is from published times:
 *     time = launch + (memory^n + issue^n + chain^n) ^ (1 / n)
 * issue: the instructions of all waves over the rate of all compute units; chain: what one workgroup takes alone, times
 * the rounds of resident ones.
 */

#include "describe_internal.h"

#define NORM_STREAM 3.0  /* element-wise: waves are independent, terms overlap well */
#define NORM_ROWS 1.75   /* barriers keep a workgroup's phases apart */
#define ISSUE_CLOCKS 4.0 /* a wave of 64 on 16 lanes */
#define WAVES_PER_CU 40.0
#define GROUPS_PER_CU 16.0

double describe_join(double a, double b, double c, double norm)
{
    const double largest = fmax(a, fmax(b, c));
    if (!(largest > 0))
        return 0;
    return largest * pow(pow(a / largest, norm) + pow(b / largest, norm) + pow(c / largest, norm), 1 / norm);
}

static void set_terms(struct prediction *prediction, double memory_us, double issue_us, double chain_us,
                      double launch_us, double norm)
{
    prediction->term_ns[TERM_MEMORY] = memory_us * 1e3;
    prediction->term_ns[TERM_VECTOR] = issue_us * 1e3;
    prediction->term_ns[TERM_LATENCY] = chain_us * 1e3;
    prediction->term_ns[TERM_LAUNCH] = launch_us * 1e3;
    prediction->time_ns = (launch_us + describe_join(memory_us, issue_us, chain_us, norm)) * 1e3;
}

/* ---- element-wise ---- */

/* Instructions per element, transcendental ones four times; powf carries its logarithm in two floats. */
static const struct {
    const char *op;
    double instructions;
} element_ops[] = {{"pow", 185}, {"powu", 185}, {"tanh", 30}, {"gelu", 35}, {"div", 14}, {"divu", 14}};

static double instructions_of(const char *op)
{
    for (size_t k = 0; k < sizeof(element_ops) / sizeof(*element_ops); k++)
        if (!strcmp(op, element_ops[k].op))
            return element_ops[k].instructions;
    return 8; /* a load, an operation, a store, and addresses */
}

void elementwise_predict(struct prediction *prediction, const struct described *what,
                         const struct described_machine *on, const double *constants)
{
    const double elements = what->rows * what->columns;
    const double memory_us =
        elements * what->operands * what->in_bytes / on->memory_bytes_us * constants[CONSTANT_MEMORY];
    const double issue_us = elements * instructions_of(what->op) / (on->cus * on->lanes * on->clock_mhz);
    set_terms(prediction, memory_us, issue_us, on->memory_latency_us, constants[CONSTANT_LAUNCH_US], NORM_STREAM);
}

/* ---- a workgroup or a wave per row ---- */

struct row_kernel {
    double waves;        /* of a workgroup */
    double rows;         /* that it takes */
    double instructions; /* of each of its waves */
    double latencies;    /* loads from memory that follow each other */
};

/* Columns that the waves of a softmax kernel go through at a time, and what each such pass costs: maximum, sum of
 * exponentials, quotient. */
static struct row_kernel softmax_kernel(const struct described *what)
{
    /* A row per wave, in registers: 16 elements a lane, all executed, and two reductions over the lanes. */
    if (strstr(what->kernel, "softmax_warp") || (!what->kernel[0] && what->columns <= 1024))
        return (struct row_kernel){
            .waves = 2, .rows = 2, .instructions = 120 + 33 * ceil(what->columns / 64), .latencies = 1.5};
    const bool shared = strstr(what->kernel, "Smem") != NULL; /* the row stays in LDS: read once, in vectors */
    return (struct row_kernel){.waves = 16,
                               .rows = 1,
                               .instructions = 200 + (shared ? 50 : 75) * what->columns / 1024,
                               .latencies = shared ? 1 : 3};
}

/* Welford's sums, four elements a lane at a time; six steps over the lanes, two over the waves; then the result. */
static struct row_kernel layer_norm_kernel(const struct described *what)
{
    const double passes = what->columns / 1024;
    return (struct row_kernel){
        .waves = 4, .rows = 1, .instructions = 350 + 100 * passes, .latencies = 2 + fmax(0, ceil(passes) - 1)};
}

void rows_predict(struct prediction *prediction, const struct described *what, const struct described_machine *on,
                  const double *constants)
{
    const struct row_kernel kernel = !strcmp(what->family, "softmax") ? softmax_kernel(what) : layer_norm_kernel(what);
    const double groups = what->rows / kernel.rows;
    const double memory_us =
        2 * what->rows * what->columns * what->in_bytes / on->memory_bytes_us * constants[CONSTANT_MEMORY];
    const double wave_us = kernel.instructions * ISSUE_CLOCKS / on->clock_mhz;
    const double issue_us = groups * kernel.waves * wave_us / (on->cus * on->lanes / 16) * (on->wave / 64);
    const double resident = fmin(floor(WAVES_PER_CU / kernel.waves), GROUPS_PER_CU);
    const double chain_us =
        fmax(1, groups / (resident * on->cus)) * (kernel.latencies * on->memory_latency_us + wave_us);
    set_terms(prediction, memory_us, issue_us, chain_us, constants[CONSTANT_LAUNCH_US], NORM_ROWS);
}
