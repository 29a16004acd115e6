/* SPDX-License-Identifier: MIT
 *
 * Rates of false alarm and of detection of the history gate under synthetic noise. With a number as argument, so many
 * times the repetitions: `unit_stats_test_gate_sim 10`.
 *
 * A run's value is the run's own noise plus the median of three trials, each with half the run's sd. Run noise
 * follows the model; glitches are the trials'. Nothing is confirmed by measuring again, except where a test says so.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../random.h"
#include "noise_models.h"
#include "replay.h"
#include "rooftile/gate.h"
#include "rooftile/summary.h"

#define CASES 40
#define RUNS 140
#define TRIALS 3
#define CONFIRM 5
#define WARM 20 /* alarms count from this run on */

struct world {
    struct rng rng;
    struct noise_source source[CASES];
    double quiet[CASES][RUNS]; /* ln, without trial noise */
    double ns[CASES][RUNS];
    struct gate_series series[CASES];
    struct gate_set set;
};

static double trial_noise(struct noise_source *source)
{
    struct noise_source trial = {source->model == GLITCH ? GLITCH : GAUSSIAN, source->sigma / 2, 0, source->rng};
    return noise_next(&trial);
}

static double trials_median(struct noise_source *source, size_t count)
{
    double trials[TRIALS + CONFIRM];
    for (size_t k = 0; k < count; k++)
        trials[k] = trial_noise(source);
    return median_of(trials, count);
}

/* `shared`: sd of what all cases of a run have in common. Steps are added by the caller to `quiet`, then
 * world_measure. */
static void world_init(struct world *world, enum noise_model model, double sigma, double shared, size_t cases,
                       uint64_t seed)
{
    rng_init(&world->rng, seed);
    world->set = (struct gate_set){world->series, cases, RUNS, NULL, 1, NULL};
    for (size_t c = 0; c < cases; c++) {
        world->source[c] = (struct noise_source){model, noise_case_sigma(&world->rng, sigma), 0, &world->rng};
        world->series[c] = (struct gate_series){.run_ns = world->ns[c]};
    }
    for (size_t run = 0; run < RUNS; run++) {
        const double common = shared * random_normal(&world->rng);
        for (size_t c = 0; c < cases; c++) {
            struct noise_source *source = &world->source[c];
            const double own = model == GLITCH ? source->sigma * random_normal(&world->rng) : noise_next(source);
            world->quiet[c][run] = common + own;
        }
    }
}

static void world_measure(struct world *world)
{
    for (size_t c = 0; c < world->set.series_count; c++)
        for (size_t run = 0; run < RUNS; run++)
            world->ns[c][run] = 1e5 * exp(world->quiet[c][run] + trials_median(&world->source[c], TRIALS));
}

struct alarms {
    size_t confirmed, tentative, naive, runs;
    size_t class_confirmed, class_tentative;
};

static void count_alarm(void *context, size_t run, bool is_class, size_t index, const struct gate_verdict *verdict)
{
    struct alarms *alarms = context;
    (void)index;
    if (run < WARM)
        return;
    if (is_class) {
        alarms->class_confirmed += verdict->state == GATE_CONFIRMED;
        alarms->class_tentative += verdict->state == GATE_TENTATIVE;
    } else {
        alarms->confirmed += verdict->state == GATE_CONFIRMED;
        alarms->tentative += verdict->state == GATE_TENTATIVE;
    }
}

static void replay(const struct world *world, replay_seen *seen, void *context)
{
    struct gate_verdict out[CASES], class;
    const struct gate_options options = gate_defaults();
    replay_runs(out, &class, &world->set, &options, seen, context);
}

/* What many nightly scripts do: more than 5 % slower or faster than the previous run. */
static size_t naive_alarms(const struct world *world)
{
    size_t count = 0;
    for (size_t c = 0; c < world->set.series_count; c++)
        for (size_t run = WARM; run < RUNS; run++)
            count += fabs(log(world->ns[c][run] / world->ns[c][run - 1])) > log(1.05);
    return count;
}

static void alarms_of(struct alarms *alarms, enum noise_model model, double sigma, size_t cases, size_t repetitions)
{
    static struct world world;
    *alarms = (struct alarms){0};
    for (size_t k = 0; k < repetitions; k++) {
        world_init(&world, model, sigma, 0, cases,
                   rng_at(rng_derive((uint64_t)model, "gate"), k * 1000 + (uint64_t)(sigma * 1e4)));
        world_measure(&world);
        replay(&world, count_alarm, alarms);
        alarms->naive += naive_alarms(&world);
        alarms->runs += cases * (RUNS - WARM);
    }
}

static const struct {
    enum noise_model model;
    double most; /* confirmed false alarms per case-run */
} bounds[] = {{GAUSSIAN, 0.0002}, {STUDENT_T4, 0.0002}, {GLITCH, 0.0002},
              {BIMODAL, 0.001},   {DRIFT, 0.001},       {AR1, 0.001}};

static void test_false_alarms(void **state)
{
    (void)state;
    static const double sigmas[] = {0.003, 0.01, 0.02};
    for (size_t row = 0; row < sizeof(bounds) / sizeof(bounds[0]); row++)
        for (size_t s = 0; s < sizeof(sigmas) / sizeof(sigmas[0]); s++) {
            struct alarms got;
            alarms_of(&got, bounds[row].model, sigmas[s], CASES, noise_repetitions(3));
            const double runs = (double)got.runs;
            printf("%-8s sd %.1f %%: confirmed %.3f per 1000 case-runs (bound %.1f), tentative %.2f, naive %.1f; class "
                   "%zu confirmed\n",
                   noise_names[bounds[row].model], sigmas[s] * 100, 1000 * (double)got.confirmed / runs,
                   1000 * bounds[row].most, 1000 * (double)got.tentative / runs, 1000 * (double)got.naive / runs,
                   got.class_confirmed);
            assert_true((double)got.confirmed <= noise_most(bounds[row].most, runs));
            if (sigmas[s] >= 0.02)
                assert_true((double)got.naive > noise_most(bounds[row].most, runs));
        }
}

/* A single series has no class to lean on. */
static void test_alone(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof(bounds) / sizeof(bounds[0]); row++) {
        struct alarms got;
        alarms_of(&got, bounds[row].model, 0.01, 1, noise_repetitions(50));
        const double runs = (double)got.runs;
        printf("alone %-8s: confirmed %.3f per 1000 runs, tentative %.2f\n", noise_names[bounds[row].model],
               1000 * (double)got.confirmed / runs, 1000 * (double)got.tentative / runs);
        assert_true((double)got.confirmed <= noise_most(bounds[row].most, runs));
    }
}

/* Eight cases of the class step up, on different runs; the others stay. */
#define FIRST_STEP 60
#define STEPPING 8
static size_t step_run(size_t c)
{
    return FIRST_STEP + 3 * c;
}

struct detection {
    size_t first[STEPPING]; /* confirmed, in runs after the step; RUNS = never */
    size_t tentative[STEPPING];
    size_t tau[STEPPING];
    double shift[STEPPING];
};

static void note_detection(void *context, size_t run, bool is_class, size_t index, const struct gate_verdict *verdict)
{
    struct detection *detection = context;
    const size_t step = step_run(index);
    if (is_class || index >= STEPPING || run < step || !verdict->slower)
        return;
    if (run == step)
        detection->tentative[index] = 1;
    if (verdict->state != GATE_CONFIRMED || detection->first[index] != RUNS)
        return;
    detection->first[index] = run - step;
    detection->tau[index] = verdict->tau;
    detection->shift[index] = verdict->shift;
}

struct found {
    size_t all, tentative, confirmed2, confirmed3, confirmed7, near, half;
};

static void find_steps(struct found *found, enum noise_model model, double sigma, double step, size_t repetitions)
{
    static struct world world;
    *found = (struct found){0};
    for (size_t k = 0; k < repetitions; k++) {
        struct detection detection = {{0}, {0}, {0}, {0}};
        world_init(&world, model, sigma, 0, CASES, rng_at(rng_derive((uint64_t)model, "step"), k));
        for (size_t c = 0; c < STEPPING; c++) {
            detection.first[c] = RUNS;
            for (size_t run = step_run(c); run < RUNS; run++)
                world.quiet[c][run] += log1p(step);
        }
        world_measure(&world);
        replay(&world, note_detection, &detection);
        for (size_t c = 0; c < STEPPING; c++) {
            const size_t late = detection.first[c], tau = detection.tau[c], at = step_run(c);
            found->all++;
            found->tentative += detection.tentative[c];
            found->confirmed2 += late <= 1;
            found->confirmed3 += late <= 2;
            found->confirmed7 += late <= 6;
            found->near += late <= 6 && tau <= at + 1 && tau + 1 >= at;
            found->half += late <= 6 && fabs(detection.shift[c] - step) < step / 2;
        }
    }
}

static void test_detection(void **state)
{
    (void)state;
    static const struct {
        enum noise_model model;
        double sigma, step, confirmed3, confirmed7, near;
    } rows[] = {
        {GAUSSIAN, 0.003, 0.03, 0.95, 0.98, 0.9},  {GAUSSIAN, 0.003, 0.05, 0.98, 0.99, 0.9},
        {STUDENT_T4, 0.003, 0.03, 0.9, 0.95, 0.9}, {GLITCH, 0.003, 0.03, 0.9, 0.95, 0.9},
        {GAUSSIAN, 0.01, 0.05, 0.5, 0.8, 0.9},     {GAUSSIAN, 0.01, 0.10, 0.95, 0.98, 0.9},
        {GAUSSIAN, 0.02, 0.10, 0.5, 0.8, 0.9},
    };
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct found got;
        find_steps(&got, rows[row].model, rows[row].sigma, rows[row].step, noise_repetitions(8));
        const double all = (double)got.all;
        printf("%-8s sd %.1f %% step +%.0f %%: seen in its first run %.3f, confirmed within 2/3/7 runs %.3f/%.3f/%.3f; "
               "tau within a run %.3f, size within a half %.3f\n",
               noise_names[rows[row].model], rows[row].sigma * 100, rows[row].step * 100, (double)got.tentative / all,
               (double)got.confirmed2 / all, (double)got.confirmed3 / all, (double)got.confirmed7 / all,
               (double)got.near / (double)got.confirmed7, (double)got.half / (double)got.confirmed7);
        assert_true((double)got.confirmed3 >= noise_least(rows[row].confirmed3, all));
        assert_true((double)got.confirmed7 >= noise_least(rows[row].confirmed7, all));
        assert_true((double)got.near >= noise_least(rows[row].near, (double)got.confirmed7));
    }
}

struct suite_alarms {
    size_t class_confirmed, class_tentative, single[CASES];
};

static void note_suite(void *context, size_t run, bool is_class, size_t index, const struct gate_verdict *verdict)
{
    struct suite_alarms *alarms = context;
    if (run < FIRST_STEP || run >= FIRST_STEP + 30 || verdict->state != GATE_CONFIRMED)
        return;
    if (is_class)
        alarms->class_confirmed++;
    else
        alarms->single[index] = 1;
}

/* What all cases do together is one alarm, and hides no single case. */
static void test_suite_wide(void **state)
{
    (void)state;
    static struct world world;
    static const double shared[] = {0.002, 0.003, 0.005};
    for (size_t row = 0; row < sizeof(shared) / sizeof(shared[0]); row++) {
        size_t once = 0, never = 0, single = 0, repetitions = noise_repetitions(20);
        for (size_t k = 0; k < repetitions; k++) {
            struct suite_alarms alarms = {0, 0, {0}};
            world_init(&world, GAUSSIAN, 0.003, shared[row], CASES, rng_at(rng_derive(row, "suite"), k));
            for (size_t c = 0; c < CASES; c++)
                for (size_t run = FIRST_STEP; run < RUNS; run++)
                    world.quiet[c][run] += log1p(0.02);
            world_measure(&world);
            replay(&world, note_suite, &alarms);
            once += alarms.class_confirmed == 1;
            never += alarms.class_confirmed == 0;
            for (size_t c = 0; c < CASES; c++)
                single += alarms.single[c];
        }
        printf("suite-wide +2 %%, shared sd %.1f %%: one class alarm in %.3f, none in %.3f, cases with one of their "
               "own %.4f\n",
               shared[row] * 100, (double)once / (double)repetitions, (double)never / (double)repetitions,
               (double)single / (double)(repetitions * CASES));
        assert_true((double)once >= noise_least(0.95, (double)repetitions));
        assert_true((double)(once + never) >= noise_least(0.99, (double)repetitions));
        assert_true((double)single <= noise_most(0.02, (double)(repetitions * CASES)));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_false_alarms),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_suite_wide),
    };
    noise_set_effort(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
