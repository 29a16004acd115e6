/* SPDX-License-Identifier: MIT
 *
 * MIOpen's naive convolutions (src/kernels/gpu_reference_kernel/naive_conv.cpp): workgroups of 256, a pixel (or weight)
 * per work-item and pass, three nested loops with a multiplication in f64 inside. What a turn of each loop executes
 * is counted in the code that compilers made of that source; how often each turns, wave by wave, in what is launched:
 *     time = launch + sqrt(issue^2 + lines^2 + chain^2)
 * issue: vector instructions on the SIMDs; lines: L1 accesses or L2 bytes; chain: one workgroup alone, each turn
 * waiting for its loads from L2, times the rounds of resident workgroups.
 */

#include "describe_internal.h"

#define BLOCK 256.0
#define SIMDS 4          /* of a compute unit up to CDNA, of a workgroup processor of RDNA */
#define LOAD_BYTES 64.0  /* of a wave's neighbouring lanes that L1 gives in a clock */
#define MOST_PASSES 16.0 /* walked; of more, as many at even distances */

/* ---- what a turn executes ---- */

/* Vector instructions: of usual rate, shifts of 64 bits, products of 32-bit integers and reciprocals, conversions to
 * f64, f64. */
struct mix {
    double usual, shift, multiply, convert, f64;
};

/* Of a turn of the innermost loop that multiplies, of each turn of it, of the loop around it, and of the outermost. */
enum loop { TAKEN, EACH, MIDDLE, OUTER, LOOPS };

/* By direction, in the code that MIOpen's releases had for the targets: naive_conv_gcn.s of 2021 (the solver takes it
 * for gfx906 and gfx908); naive_conv.cpp of 2024 (edc8e853c, strides as arguments) by clang 19; of 2022 (5c6f8d1a4) by
 * clang 14. Backwards a remainder and a quotient by the stride are in both inner loops. */
enum direction { FORWARD, BACKWARD, WEIGHTS };
static const struct build {
    const char *targets;
    struct mix loops[3][LOOPS];
} builds[] = {
    {"gfx906 gfx908",
     {{{7, 1, 0, 2, 1}, {3, 0, 0, 0, 0}, {5, 0, 0, 0, 0}, {2, 0, 0, 0, 0}},
      {{7, 1, 0, 2, 1}, {88, 0, 9, 0, 0}, {86, 0, 10, 0, 0}, {0, 0, 0, 0, 0}},
      {{7, 1, 0, 2, 1}, {3, 0, 0, 0, 0}, {5, 0, 0, 0, 0}, {2, 0, 0, 0, 0}}}},
    {"gfx942 gfx950",
     {{{2, 1, 2, 2, 1}, {3, 0, 0, 0, 0}, {6, 1, 2, 0, 0}, {0, 0, 0, 0, 0}},
      {{2, 1, 3, 2, 1}, {36, 0, 4, 0, 0}, {38, 1, 7, 0, 0}, {0, 0, 0, 0, 0}},
      {{2, 1, 2, 2, 1}, {3, 0, 0, 0, 0}, {6, 1, 2, 0, 0}, {0, 1, 0, 0, 0}}}},
    {"",
     {{{6, 1, 0, 2, 1}, {5, 0, 0, 0, 0}, {13, 0, 3, 0, 0}, {4, 0, 0, 0, 0}},
      {{7, 1, 0, 2, 1}, {52, 0, 5, 0, 0}, {57, 0, 8, 0, 0}, {4, 0, 0, 0, 0}},
      {{6, 1, 0, 2, 1}, {5, 0, 0, 0, 0}, {12, 0, 3, 0, 0}, {8, 0, 3, 0, 0}}}},
};

static const struct build *build_of(const char *target)
{
    const struct build *build = builds;
    while (build->targets[0] && !strstr(build->targets, target))
        build++;
    return build;
}

static enum direction direction_of(const struct described *what)
{
    return !strcmp(what->op, "weights") ? WEIGHTS : !strcmp(what->op, "backward") ? BACKWARD : FORWARD;
}

/* Clocks of a SIMD for a wave, `least` of each instruction. LLVM's schedule models (SISchedule.td): where f64 runs at
 * the full rate, so do conversions and shifts of 64 bits; else conversions at a quarter of it, or as slowly as f64. */
static double clocks_of(const struct mix *mix, const struct described_machine *on, double least)
{
    const double usual = on->wave * SIMDS * on->units / (on->lanes * on->cus), f64 = on->f64_slots;
    const double convert = f64 > 1 ? fmax(4, f64) : 1;
    return mix->usual * fmax(least, usual) + mix->shift * fmax(least, usual * fmin(4, f64)) +
           mix->multiply * fmax(least, usual * 4) + mix->convert * fmax(least, usual * convert) +
           mix->f64 * fmax(least, usual * f64);
}

/* ---- how often loops turn ---- */

struct turns {
    double of[LOOPS];
};

/* Taps of the filter along an axis that some pixel of `first` .. `last` has an element for. */
static double taps_of(const struct described *what, int axis, double first, double last)
{
    const double stride = what->stride[axis];
    double taps = 0;
    for (double tap = 0; tap < what->filter[axis]; tap++) {
        const double shift = what->pad[axis] - what->dilation[axis] * tap;
        if (direction_of(what) == BACKWARD) {
            const double high = floor(fmin(last + shift, (what->out[axis] - 1) * stride) / stride) * stride;
            taps += high >= fmax(0, first + shift);
        } else {
            taps += floor(fmin(last, (what->in[axis] - 1 + shift) / stride)) >= fmax(first, shift / stride);
        }
    }
    return taps;
}

/* Of one wave, whose first and last work-items these are. NCHW: pixels of an image, filters inside channels; NHWC:
 * pixels of a row and channels, channels inside the filter. */
static struct turns wave_turns(const struct described *what, double first, double last)
{
    const enum direction direction = direction_of(what);
    const double *size = direction == BACKWARD ? what->in : what->out, width = size[1];
    const double channels = (direction == BACKWARD ? what->channels_out : what->channels_in) / what->groups;
    const double lanes_channels = (direction == BACKWARD ? what->channels_in : what->channels_out) / what->groups;
    if (direction == WEIGHTS) {
        const double inner = what->images * what->out[0] * what->out[1];
        return (struct turns){{inner, inner, what->images * what->out[0], what->images}};
    }
    if (what->channels_last) {
        double rows = 0; /* taps of a row, in the mean */
        for (double row = 0; row < size[0]; row++)
            rows += taps_of(what, 0, row, row) / size[0];
        const double columns = taps_of(what, 1, floor(first / lanes_channels), floor(last / lanes_channels));
        const double filter = what->filter[0] * what->filter[1];
        return (struct turns){{rows * columns * channels, filter * channels, filter, what->filter[0]}};
    }
    const double top = floor(first / width), bottom = floor(last / width);
    const bool one_row = top == bottom;
    const double rows = taps_of(what, 0, top, bottom);
    const double columns =
        taps_of(what, 1, one_row ? first - top * width : 0, one_row ? last - top * width : width - 1);
    return (struct turns){
        {channels * rows * columns, channels * rows * what->filter[1], channels * what->filter[0], channels}};
}

struct launch {
    double groups; /* workgroups */
    double items;  /* work of each */
    double passes; /* that it goes through */
    double lines;  /* cache lines that the lanes of a wave touch in a load */
    bool along;    /* each lane goes along its line, turn by turn */
};

static struct launch launch_of(const struct described *what, double wave)
{
    const enum direction direction = direction_of(what);
    const double per_in = what->channels_in / what->groups, per_out = what->channels_out / what->groups;
    const double filter = what->filter[0] * what->filter[1], near = wave * what->in_bytes / LOAD_BYTES;
    const double *size = direction == BACKWARD ? what->in : what->out;
    struct launch launch = {.lines = near};
    if (direction == WEIGHTS) {
        launch.groups = what->channels_out;
        launch.items = per_in * filter;
        launch.along = !what->channels_last;
        launch.lines = launch.along ? fmax(1, fmin(wave, launch.items) / what->filter[1]) : near;
    } else if (what->channels_last) {
        launch.groups = what->groups * what->images * size[0];
        launch.items = size[1] * (direction == BACKWARD ? per_in : per_out);
        launch.along = direction == FORWARD;
        launch.lines = launch.along ? fmin(wave, per_out) : near;
    } else {
        launch.groups = what->images * (direction == BACKWARD ? what->channels_in : what->channels_out);
        launch.items = size[0] * size[1];
    }
    launch.passes = ceil(launch.items / BLOCK);
    return launch;
}

struct load {
    double clocks;          /* of a workgroup on the SIMD that has the most to do, or on each where it evens out */
    struct turns turns;     /* of all waves of a workgroup */
    double waves, resident; /* of a workgroup that have work; those of a unit */
};

/* RDNA's workgroups put their first wave on the same SIMD, each: small images leave the others idle. On GCN and CDNA it
 * evens out. */
static struct load load_of(const struct described *what, const struct launch *launch,
                           const struct described_machine *on, const double clocks[LOOPS])
{
    double simds[SIMDS] = {0}, most = 0, all = 0;
    struct load load = {.waves = ceil(fmin(launch->items, BLOCK) / on->wave)};
    const double step = fmax(1, launch->passes / MOST_PASSES);
    for (double at = 0; at < launch->passes; at += step) {
        const double pass = floor(at), end = fmin(launch->items, (pass + 1) * BLOCK);
        const double each = fmin(step, launch->passes - at);
        for (double first = pass * BLOCK; first < end; first += on->wave) {
            const struct turns turns = wave_turns(what, first, fmin(end, first + on->wave) - 1);
            const int simd = (int)fmod((first - pass * BLOCK) / on->wave, SIMDS);
            for (int loop = 0; loop < LOOPS; loop++) {
                load.turns.of[loop] += turns.of[loop] * each;
                simds[simd] += turns.of[loop] * clocks[loop] * each;
            }
        }
    }
    for (int simd = 0; simd < SIMDS; simd++) {
        most = fmax(most, simds[simd]);
        all += simds[simd];
    }
    load.clocks = on->wave < 64 ? most : all / SIMDS;
    load.resident = fmax(1, fmin(on->groups_per_unit, floor(on->waves_per_unit / load.waves)));
    return load;
}

/* ---- time ---- */

/* The share of accesses that go to L2: a line serves as many turns as it has elements, if the L1 cache holds those of
 * all resident waves that long. */
static double missing(const struct launch *launch, double resident_waves, const struct described_machine *on,
                      const struct described *what)
{
    const double kept =
        launch->along ? fmin(1, on->l1_bytes / (fmax(1, resident_waves) * launch->lines * on->line_bytes)) : 0.75;
    return 1 - kept + kept * what->in_bytes / on->line_bytes;
}

/* Of a launch on a card that was idle, behind one like it: the clock rises a while after the first began. */
static double from_idle(double us, const struct described_machine *on)
{
    const double slower = on->idle_mhz > 0 && on->rise_us > 0 ? fmax(1, on->clock_mhz / on->idle_mhz) : 1;
    const double slow_us = us * slower, first_us = fmin(slow_us, on->rise_us + fmax(0, slow_us - on->rise_us) / slower);
    const double left_us = fmax(0, on->rise_us - first_us);
    return slow_us <= left_us ? slow_us : left_us + (slow_us - left_us) / slower;
}

/* Clocks of a turn of each loop; `least`: of each instruction. With channels last both quotients of the way backwards
 * are outside the loop over channels. */
static void turn_clocks(double clocks[LOOPS], const struct described *what, const struct described_machine *on,
                        double least)
{
    const struct build *build = build_of(on->machine->arch);
    const struct mix *mixes = build->loops[direction_of(what)];
    const bool outside = what->channels_last && direction_of(what) == BACKWARD;
    for (int loop = 0; loop < LOOPS; loop++)
        clocks[loop] = clocks_of(&mixes[outside && loop > EACH ? loop - 1 : loop], on, least);
    if (outside)
        clocks[EACH] = clocks_of(&build->loops[FORWARD][EACH], on, least);
}

/* A workgroup that has the device for itself: its waves side by side, its passes behind each other. */
static double alone_us(const struct described *what, const struct described_machine *on, const struct launch *launch,
                       const struct load *load)
{
    const double waves = fmax(1, load->waves * launch->items / fmin(launch->items, BLOCK)); /* of all passes */
    double clocks[LOOPS], us = load->turns.of[TAKEN] * on->l2_latency_us;
    turn_clocks(clocks, what, on, on->issue_clocks);
    for (int loop = 0; loop < LOOPS; loop++)
        us += load->turns.of[loop] * clocks[loop] / on->clock_mhz;
    return us / waves * launch->passes;
}

void convolution_predict(struct prediction *prediction, const struct described *what,
                         const struct described_machine *on, const double *constants)
{
    const struct launch launch = launch_of(what, on->wave);
    double clocks[LOOPS];
    turn_clocks(clocks, what, on, 0);
    const struct load load = load_of(what, &launch, on, clocks);
    const double issue_us = load.clocks * launch.groups / on->units / on->clock_mhz;
    const double rounds = fmax(1, launch.groups / (load.resident * on->units));
    const double chain_us = alone_us(what, on, &launch, &load) * rounds;
    const double accesses = launch.groups * load.turns.of[TAKEN] * launch.lines;
    const double resident_waves = fmin(load.resident, launch.groups / on->units) * load.waves * on->units / on->cus;
    const double lines_us = accesses / (on->cus * on->clock_mhz);
    const double l2_us = accesses * missing(&launch, resident_waves, on, what) * on->line_bytes / on->l2_bytes_us;
    const double us = describe_join(issue_us, fmax(lines_us, l2_us), chain_us, 2);
    const double slower = what->from_idle ? from_idle(us, on) / us : 1;
    prediction->term_ns[TERM_VECTOR] = issue_us * slower * 1e3;
    prediction->term_ns[TERM_L1] = lines_us * slower * 1e3;
    prediction->term_ns[TERM_L2] = l2_us * slower * 1e3;
    prediction->term_ns[TERM_LATENCY] = chain_us * slower * 1e3;
    prediction->term_ns[TERM_LAUNCH] = constants[CONSTANT_LAUNCH_US] * 1e3;
    prediction->time_ns = (constants[CONSTANT_LAUNCH_US] + us * slower) * 1e3;
}
