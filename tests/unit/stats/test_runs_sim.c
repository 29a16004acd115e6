/* SPDX-License-Identifier: MIT
 *
 * Runs as scripts/nightly has them: 200 cases, 3 trials each, what seems to have moved measured again with 5, then
 * judged. How many runs without a change are red, and how often one slower case is red on its first run. The table
 * in docs/measuring.md: `unit_stats_test_runs_sim 1000`; a smaller number plays fewer runs, none the few of a test.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../random.h"
#include "noise_models.h"
#include "replay.h"
#include "rooftile/gate.h"
#include "rooftile/summary.h"

enum { CASES = 200, CLASSES = 4, WARM = 20, RUNS = 120, COUNTED = RUNS - WARM, TRIALS = 3, AGAIN = 5 };

/* From one run to the next one more case gets slower by one of these and stays so; or none does. */
static const double steps[] = {0.03, 0.05, 0.10};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* One trial in so many is slowed down by something else, by 10 % on average (exponential): on most runs, and on the
 * one run in ten when something interferes. */
struct interference {
    const char *name;
    double usual, interfered;
};

/* A run's measurement of a case: ln. Half of the variance between runs is the run's, and is there when it is
 * measured again; the other half is the process's, as is the trial's own noise. */
struct world {
    struct rng rng;
    struct interference interference;
    bool steps, median_alone; /* median_alone: the fastest trial measured again is not asked */
    double sigma[CASES];
    double run[CASES], class[CLASSES], interfered; /* of this run */
    double trials[CASES][TRIALS];
    double ns[CASES][RUNS];
    struct gate_series series[CASES];
    struct gate_set set;
};

struct counts {
    size_t runs, red, measured_again;
    size_t slower[STEPS], found[STEPS];
};

static void world_init(struct world *world, double sigma, const struct interference *interference, uint64_t seed)
{
    rng_init(&world->rng, seed);
    world->interference = *interference;
    world->set = (struct gate_set){world->series, CASES, RUNS, NULL, CLASSES, NULL};
    for (size_t c = 0; c < CASES; c++) {
        world->sigma[c] = noise_case_sigma(&world->rng, sigma);
        world->series[c] = (struct gate_series){.run_ns = world->ns[c], .class_index = (uint32_t)(c % CLASSES)};
    }
}

static double measure(struct world *world, size_t c, size_t run, double process)
{
    const double level = world->steps && run >= WARM + c ? log1p(steps[c % STEPS]) : 0;
    const double noise = process + world->sigma[c] / 2 * random_normal(&world->rng);
    const double slowed =
        random_uniform(&world->rng) < world->interfered ? -0.1 * log(1 - random_uniform(&world->rng)) : 0;
    return 1e5 * exp(level + world->class[c % CLASSES] + world->run[c] + noise + slowed);
}

static double process_noise(struct world *world, size_t c)
{
    return sqrt(0.5) * world->sigma[c] * random_normal(&world->rng);
}

static void measure_run(struct world *world, size_t run)
{
    const struct interference *d = &world->interference;
    world->interfered = random_uniform(&world->rng) < 0.1 ? d->interfered : d->usual;
    for (size_t k = 0; k < CLASSES; k++)
        world->class[k] = 0.003 * random_normal(&world->rng);
    for (size_t c = 0; c < CASES; c++) {
        double trials[TRIALS];
        const double process = process_noise(world, c);
        world->run[c] = process_noise(world, c);
        for (size_t k = 0; k < TRIALS; k++)
            trials[k] = world->trials[c][k] = measure(world, c, run, process);
        world->ns[c][run] = median_of(trials, TRIALS);
        world->series[c].again_ns = world->series[c].again_least_ns = 0;
    }
}

/* As `history gate --confirm` does: the new trials count by themselves, and the value is the median of all. */
static void measure_again(struct world *world, size_t c, size_t run)
{
    double all[TRIALS + AGAIN], again[AGAIN];
    const double process = process_noise(world, c);
    for (size_t k = 0; k < TRIALS; k++)
        all[k] = world->trials[c][k];
    for (size_t k = 0; k < AGAIN; k++)
        all[TRIALS + k] = again[k] = measure(world, c, run, process);
    world->series[c].again_ns = median_of(again, AGAIN); /* sorts them */
    world->series[c].again_least_ns = world->median_alone ? 0 : again[0];
    world->ns[c][run] = median_of(all, TRIALS + AGAIN);
}

static bool is_candidate(const struct gate_verdict *verdict)
{
    return verdict->state == GATE_TENTATIVE || verdict->state == GATE_CONFIRMED;
}

/* The cases that moved, and those of a class that did as a whole. */
static size_t measure_candidates(struct world *world, const struct gate_verdict *out,
                                 const struct gate_verdict *classes, size_t run)
{
    size_t count = 0;
    for (size_t c = 0; c < CASES; c++)
        if (is_candidate(&out[c]) || classes[c % CLASSES].state == GATE_TENTATIVE) {
            measure_again(world, c, run);
            count++;
        }
    return count;
}

/* Without a change every case slower, and every class, is false; with one, the case that got slower counts. */
static void count_run(struct counts *counts, const struct world *world, const struct gate_verdict *out,
                      const struct gate_verdict *classes, size_t run)
{
    const size_t c = run - WARM;
    bool red = false;
    counts->runs++;
    if (world->steps) {
        counts->slower[c % STEPS]++;
        counts->found[c % STEPS] += out[c].state == GATE_CONFIRMED && out[c].slower;
        return;
    }
    for (size_t k = 0; k < CASES; k++)
        red = red || (out[k].state == GATE_CONFIRMED && out[k].slower);
    for (size_t k = 0; k < CLASSES; k++)
        red = red || (classes[k].state == GATE_CONFIRMED && classes[k].slower);
    counts->red += red;
}

static void play(struct counts *counts, struct world *world)
{
    static struct gate_verdict out[CASES], classes[CLASSES];
    const struct gate_options options = gate_defaults();
    struct arena arena = {0};
    struct replay replay;
    replay_init(&replay, &world->set, &options, &arena);
    memset(out, 0, sizeof(out));
    memset(classes, 0, sizeof(classes));
    for (size_t run = 0; run < RUNS; run++) {
        measure_run(world, run);
        replay_one(&replay, out, classes);
        const size_t again = measure_candidates(world, out, classes, run);
        if (again)
            replay_one_again(&replay, out, classes);
        if (run < WARM)
            continue;
        counts->measured_again += again;
        count_run(counts, world, out, classes, run);
    }
    arena_release(&arena);
}

static const struct interference interferences[] = {
    {"never", 0, 0}, {"some", 0.01, 0.10}, {"many", 0.03, 0.25}, {"most", 0.05, 0.40}};
static const double sigmas[] = {0.005, 0.01, 0.03};

static struct counts runs_of(size_t d, size_t s, bool with_steps, bool median_alone, size_t runs)
{
    static struct world world;
    struct counts counts = {0};
    for (size_t k = 0; counts.runs < runs; k++) {
        world_init(&world, sigmas[s], &interferences[d], rng_at(rng_derive(d * 100 + s, "nights"), k));
        world.steps = with_steps;
        world.median_alone = median_alone;
        play(&counts, &world);
    }
    return counts;
}

static double percent(size_t count, size_t of)
{
    return 100 * (double)count / (double)of;
}

/* What interferes with some trials now and then must not make a run red; by the median alone it does. */
static void test_runs_without_a_change(void **state)
{
    (void)state;
    const struct counts quiet = runs_of(2, 0, false, false, COUNTED);
    const struct counts median_alone = runs_of(2, 0, false, true, COUNTED);
    printf("red: %zu of %zu runs, by the median alone %zu\n", quiet.red, quiet.runs, median_alone.red);
    assert_true(quiet.red <= 1);
    assert_true(median_alone.red > 1);
}

static void test_slower_on_the_first_run(void **state)
{
    (void)state;
    const struct counts got = runs_of(1, 0, true, false, COUNTED);
    for (size_t k = 0; k < STEPS; k++)
        printf("+%.0f %%: red on the first run %zu of %zu\n", 100 * steps[k], got.found[k], got.slower[k]);
    assert_true(percent(got.found[1], got.slower[1]) > 60);
    assert_true(percent(got.found[2], got.slower[2]) > 90);
}

/* The table. */
static void print_row(size_t d, size_t s, size_t runs)
{
    const struct counts got = runs_of(d, s, false, false, runs);
    const struct counts median_alone = runs_of(d, s, false, true, runs);
    const struct counts found = runs_of(d, s, true, false, runs), found_alone = runs_of(d, s, true, true, runs);
    printf("| %s | %.1f %% | %.2f | %.2f | %.1f |", interferences[d].name, 100 * sigmas[s],
           percent(median_alone.red, median_alone.runs), percent(got.red, got.runs),
           (double)got.measured_again / (double)got.runs);
    for (size_t k = 0; k < STEPS; k++)
        printf(" %.0f (%.0f) |", percent(found.found[k], found.slower[k]),
               percent(found_alone.found[k], found_alone.slower[k]));
    printf("\n");
    fflush(stdout);
}

static void print_table(size_t runs)
{
    for (size_t d = 0; d < sizeof(interferences) / sizeof(interferences[0]); d++)
        for (size_t s = 0; s < sizeof(sigmas) / sizeof(sigmas[0]); s++)
            print_row(d, s, runs);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_without_a_change),
        cmocka_unit_test(test_slower_on_the_first_run),
    };
    if (argc > 1) {
        print_table(strtoul(argv[1], NULL, 10));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
