/* SPDX-License-Identifier: MIT
 *
 * MIOpen's naive convolutions (src/kernels/gpu_reference_kernel/naive_conv.cpp): workgroups of 256, a pixel (or weight)
 * per work-item and pass, three nested loops with a multiplication in f64 inside. Instructions per turn of each loop
 * are counted from that source, divisions of 32-bit integers as what AMD GPUs take for them:
 *     time = launch + sqrt(issue^2 + chain^2)
 * chain: one workgroup alone, each turn waiting for its loads from L2, times the rounds of resident workgroups.
 */
#include <math.h>
#include <string.h>

#include "describe_internal.h"

#define BLOCK 256.0
#define LINE_BYTES 64.0
#define F64_OPERATIONS 3 /* two conversions and a multiply-add */
#define GROUPS_PER_CU 16.0
#define WAVES_PER_SIMD 10.0

/* Instructions of a turn of the innermost loop (without F64_OPERATIONS), of that around it, and of the outermost. */
struct loop_nest {
    const char *op;
    double inner, middle, outer;
};
static const struct loop_nest nests[] = {
    {"forward", 18, 14, 8},
    {"backward", 78, 60, 8}, /* a remainder and a quotient by the stride in both */
    {"weights", 18, 14, 8},
};

struct turns {
    double groups; /* workgroups */
    double items;  /* pixels or weights of each */
    double count;  /* turns of the innermost loop per item */
    double width;  /* of them to one of the middle loop ... */
    double height; /* ... and of those to one of the outer */
    double lines;  /* cache lines that the lanes of a wave touch in a load */
    bool along;    /* each lane goes along its line, turn by turn */
};

static struct turns turns_of(const struct described *what, double wave)
{
    const double filter = what->filter_width * what->filter_height, side = sqrt(what->pixels_out);
    const double per_group_in = what->channels_in / what->groups, per_group_out = what->channels_out / what->groups;
    if (!strcmp(what->op, "weights"))
        return (struct turns){.groups = what->channels_out,
                              .items = per_group_in * filter,
                              .count = what->images * what->pixels_out,
                              .width = side,
                              .height = side,
                              .lines = fmax(1, fmin(wave, per_group_in * filter) / what->filter_width),
                              .along = true};
    const bool backward = !strcmp(what->op, "backward");
    return (struct turns){.groups = what->images * (backward ? what->channels_in : what->channels_out),
                          .items = backward ? what->pixels_in : what->pixels_out,
                          .count = (backward ? per_group_out : per_group_in) * filter,
                          .width = what->filter_width,
                          .height = what->filter_height,
                          .lines = wave * what->in_bytes / LINE_BYTES};
}

static const struct loop_nest *nest_of(const char *op)
{
    for (size_t k = 0; k < sizeof(nests) / sizeof(*nests); k++)
        if (!strcmp(op, nests[k].op))
            return &nests[k];
    return &nests[0];
}

/* The share of accesses that go to L2: a line serves as many turns as it has elements, if the L1 cache holds those of
 * all resident waves that long. */
static double missing(const struct turns *turns, double resident_waves, const struct described_machine *on,
                      const struct described *what)
{
    const double kept = turns->along ? fmin(1, on->l1_bytes / (resident_waves * turns->lines * on->line_bytes)) : 0.75;
    return 1 - kept + kept * what->in_bytes / on->line_bytes;
}

void convolution_predict(struct prediction *prediction, const struct described *what,
                         const struct described_machine *on, const double *constants)
{
    const struct turns turns = turns_of(what, on->wave);
    const struct loop_nest *nest = nest_of(what->op);
    const double slots = nest->inner + F64_OPERATIONS * on->f64_slots + nest->middle / turns.width +
                         nest->outer / turns.width / turns.height;
    const double full = floor(turns.items / BLOCK), rest = turns.items - full * BLOCK;
    const double wave_passes = full * BLOCK / on->wave + ceil(rest / on->wave);
    const double waves = ceil(fmin(turns.items, BLOCK) / on->wave);
    const double simds = 4 * on->lanes / 64;
    const double resident = fmin(GROUPS_PER_CU, floor(WAVES_PER_SIMD * simds / waves));
    const double issue_us =
        turns.groups * wave_passes * on->wave * turns.count * slots / (on->cus * on->lanes * on->clock_mhz);
    const double accesses = turns.groups * wave_passes * turns.count * turns.lines;
    const double lines_us = accesses / (on->cus * on->clock_mhz);
    const double l2_us = accesses * missing(&turns, fmin(resident * waves, turns.groups * waves / on->cus), on, what) *
                         on->line_bytes / on->l2_bytes_us;
    const double turn_us = slots * on->issue_clocks / on->clock_mhz + on->l2_latency_us;
    const double chain_us =
        fmax(1, turns.groups / (resident * on->cus)) * ceil(turns.items / BLOCK) * turns.count * turn_us;
    prediction->term_ns[TERM_VECTOR] = issue_us * 1e3;
    prediction->term_ns[TERM_L1] = lines_us * 1e3;
    prediction->term_ns[TERM_L2] = l2_us * 1e3;
    prediction->term_ns[TERM_LATENCY] = chain_us * 1e3;
    prediction->term_ns[TERM_LAUNCH] = constants[CONSTANT_LAUNCH_US] * 1e3;
    prediction->time_ns =
        (constants[CONSTANT_LAUNCH_US] + describe_join(issue_us, fmax(lines_us, l2_us), chain_us, 2)) * 1e3;
}
