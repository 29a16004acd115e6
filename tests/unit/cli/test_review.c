/* SPDX-License-Identifier: MIT
 *
 * The review of the shipped suites: every suite on every machine of configs/machines and on two that nobody makes, by
 * prediction alone. What fails is mended in the suite or the kernel, not here. With arguments: these suites only.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/file.h"
#include "rooftile/predictor.h"
#include "rooftile/run.h"
#include "rooftile/session.h"

#define LEAST_NS 20e3
#define MOST_NS 100e6
#define LEAST_SHARE 0.6
#define MOST_SKIPPED 0.1
#define MOST_OF_ROOF 1.1

/* Tags that say why a case is shorter or longer: it measures what a launch costs, it has the size that it has in a
 * model, it is part of a sweep over sizes, which begins where launches count, or it goes over the whole memory. */
static const char *const short_tags[] = {"launch", "model", "by-size"};
static const char *const long_tags[] = {"model", "by-size", "whole"};

struct reviewed {
    const char *suite, *machine;
    const struct machine *ceilings;
    const struct device_facts *facts;
    unsigned found;
};

static void complain(struct reviewed *reviewed, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(struct reviewed *reviewed, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s on %s: ", reviewed->suite, reviewed->machine);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    reviewed->found++;
}

static bool has_tag(const struct plan_case *c, const char *tag)
{
    return text_among(tag, c->tags, c->tag_count);
}

static bool has_any(const struct plan_case *c, const char *const *tags, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (has_tag(c, tags[k]))
            return true;
    return false;
}

/* "L2": in the second cache from the inside, and not in the first. One work-item or all workgroups over the same data
 * have what one unit reaches, workgroups with data of their own all of it. "dram": beyond the last cache. */
static void check_level(struct reviewed *reviewed, const struct plan_case *c)
{
    const struct device_facts *f = reviewed->facts;
    const struct work *work = &c->resolved.work;
    const double all[] = {0, f->cache1, f->cache2, f->cache3, f->cache4};
    const double own[] = {0, f->own_cache1, f->own_cache2, f->own_cache3, f->own_cache4};
    const bool one = work->shared_by > 1 || c->resolved.manifest->class == CLASS_LATENCY;
    for (size_t level = 1; level <= 4; level++) {
        const double before = one ? own[level - 1] : all[level - 1], capacity = one ? own[level] : all[level];
        if (!has_tag(c, ((const char *const[]){"", "L1", "L2", "L3", "L4"})[level]))
            continue;
        if (work->footprint_bytes < 2 * before || work->footprint_bytes > 0.75 * capacity)
            complain(reviewed, "%s: %.4g bytes are not in level %zu: it has %.4g, the one before %.4g", c->label,
                     work->footprint_bytes, level, capacity, before);
    }
    if (has_tag(c, "dram") && work->footprint_bytes < 2 * f->last_cache)
        complain(reviewed, "%s: %.4g bytes are not beyond the last cache of %.4g", c->label, work->footprint_bytes,
                 f->last_cache);
}

/* What is to fill the device: streams beyond the caches, peaks and large products. */
static void check_share(struct reviewed *reviewed, const struct plan_case *c)
{
    const struct machine *m = reviewed->ceilings;
    const struct work *work = &c->resolved.work;
    const bool stream = has_tag(c, "dram") && has_tag(c, "stream");
    const struct ceiling *memory = &m->levels[m->level_count - 1].bandwidth;
    const struct machine_unit *unit = machine_unit(m, work->unit);
    const double ceiling = stream                                                ? ceiling_value(memory)
                           : unit && (has_tag(c, "peak") || has_tag(c, "large")) ? ceiling_value(&unit->peak)
                                                                                 : 0;
    /* a healthy MI308X reaches less of its memory: 80 units do not fill it */
    const double share = stream && memory->least > 0 ? fmin(LEAST_SHARE, memory->least) : LEAST_SHARE;
    const double rate = (stream ? work->read_bytes + work->write_bytes : work->flops) / c->prediction->time_ns * 1e9;
    if (ceiling > 0 && rate < share * ceiling)
        complain(reviewed, "%s: %.0f %% of its ceiling", c->label, 100 * rate / ceiling);
    if (ceiling > 0 && rate > ceiling)
        complain(reviewed, "%s: %.0f %% of its ceiling, which is impossible", c->label, 100 * rate / ceiling);
}

/* The roof that bounds it is the one that its share is of, and no case is above the uncertainty of a roof. */
static void check_roof(struct reviewed *reviewed, const struct plan_case *c)
{
    const struct lower_bound *bound = &c->lower_bound;
    const double share = lower_bound_fraction(bound, &c->resolved.work, c->prediction->time_ns);
    if ((bound->ceiling_name[0] && strcmp(bound->ceiling_name, bound->bound)) ||
        isnan(share) != !bound->ceiling_name[0])
        complain(reviewed, "%s: bound by %s, but its share is of %s", c->label, bound->bound, bound->ceiling_name);
    if (share > MOST_OF_ROOF)
        complain(reviewed, "%s: %.0f %% of %s", c->label, 100 * share, bound->bound);
}

static void check_case(struct reviewed *reviewed, const struct plan_case *c)
{
    const double time_ns = c->prediction ? c->prediction->time_ns : 0;
    check_level(reviewed, c);
    if (!(time_ns > 0) || lower_bound_lacks(reviewed->ceilings, &c->resolved.work))
        return; /* nobody knows the peak of its unit */
    check_share(reviewed, c);
    check_roof(reviewed, c);
    if ((time_ns < LEAST_NS && !has_any(c, short_tags, COUNT_OF(short_tags))) ||
        (time_ns > MOST_NS && !has_any(c, long_tags, COUNT_OF(long_tags))))
        complain(reviewed, "%s: %.3g us", c->label, time_ns / 1e3);
}

static void review(struct reviewed *reviewed, const struct suite *suite, const struct plan *plan)
{
    size_t skipped = 0;
    FOR_EACH(const struct plan_case, c, plan->cases, plan->count) {
        skipped += c->state == PLAN_SKIPPED;
        if (c->state == PLAN_INVALID)
            complain(reviewed, "%s: %s", c->label, c->reason);
        if (c->state == PLAN_READY)
            check_case(reviewed, c);
    }
    /* A device without matrix cores skips all of `attention`, and nothing of a suite that has something for it. */
    if ((double)skipped > MOST_SKIPPED * (double)plan->count && skipped < plan->count) {
        complain(reviewed, "%zu of %zu cases are skipped", skipped, plan->count);
        FOR_EACH(const struct plan_case, c, plan->cases, plan->count)
            if (c->state == PLAN_SKIPPED)
                fprintf(stderr, "    %s: %s\n", c->label, c->reason);
    }
    if (!(suite->takes_ns > 0) || plan->estimate_ns > suite->takes_ns)
        complain(reviewed, "takes %.0f s, promised are %.0f", plan->estimate_ns / 1e9, suite->takes_ns / 1e9);
}

/* ---- machines that nobody makes ---- */

static void times(struct machine *m, double factor)
{
    m->cus = (uint32_t)(m->cus * factor);
    m->memory_bytes *= factor;
    for (uint32_t k = 0; k < m->level_count; k++) {
        m->levels[k].capacity_bytes *= factor;
        m->levels[k].bandwidth.vendor *= factor;
        m->levels[k].bandwidth.effective *= factor;
    }
    for (uint32_t k = 0; k < m->unit_count; k++)
        m->units[k].peak.vendor *= factor;
}

/* Writes `from`, so many times as large, as a machine file of another name. */
static const char *invent(const char *name, const char *from, double factor, struct arena *arena)
{
    struct err err;
    struct machine *m = arena_alloc(arena, sizeof(*m));
    const char *path = arena_printf(arena, "%s/rooftile_%d_%s.json", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
                                    (int)getpid(), name);
    if (machine_read(m, arena_printf(arena, ROOFTILE_SOURCE_DIR "/configs/machines/%s.json", from), &err))
        fail_msg("%s", err.text);
    snprintf(m->name, sizeof(m->name), "%s", name);
    snprintf(m->relative, sizeof(m->relative), "%s", from);
    times(m, factor);
    if (machine_write(m, path, &err))
        fail_msg("%s", err.text);
    return path;
}

/* ---- all of it ---- */

static struct catalog catalog;
static int suite_argc;
static char **suite_argv;

static bool is_asked(const char *path)
{
    const char *name = path_base(path);
    bool asked = suite_argc < 2;
    for (int k = 1; k < suite_argc; k++)
        asked |= text_starts(name, suite_argv[k]) && name[strlen(suite_argv[k])] == '.';
    return asked;
}

static unsigned review_machine(const char *path, const char *const *suites, size_t suite_count)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct machine *ceilings = arena_alloc(&arena, sizeof(*ceilings)), *machine = NULL;
    struct device_info *info = arena_alloc(&arena, sizeof(*info));
    struct machine_borrowed *borrowed = arena_alloc(&arena, sizeof(*borrowed));
    struct err err;
    if (session_model(ceilings, info, path, &arena, &err))
        fail_msg("%s", err.text);
    struct device_facts facts = run_device_facts(info);
    run_facts_know(&facts, info, ceilings, NULL, &arena);
    facts.peers = 7; /* of a node */
    machine = arena_copy(&arena, ceilings, sizeof(*ceilings));
    if (machine_complete(machine, ROOFTILE_SOURCE_DIR "/configs/machines", borrowed, &err))
        fail_msg("%s", err.text);
    struct predictor *predictor = predictor_new(1);
    struct reviewed reviewed = {.machine = ceilings->name, .ceilings = ceilings, .facts = &facts};
    for (size_t k = 0; k < suite_count; k++) {
        const struct plan_options options = {.target_arch = info->arch,
                                             .target_kind = build_target_of(info->arch).kind,
                                             .wave = info->wave,
                                             .cpu_target = "x86-64-v3",
                                             .cpu_wave = 64};
        const struct suite *suite = NULL;
        struct measure_options base;
        struct plan *plan = NULL;
        reviewed.suite = path_base(suites[k]);
        measure_defaults(&base);
        if (!is_asked(suites[k]))
            continue;
        if (suite_read(&suite, suites[k], &base, &arena, &err) ||
            plan_build(&plan, &suite, 1, &catalog, ceilings, &facts, &options, &arena, &err) ||
            predictor_plan(plan, predictor, NULL, machine, NULL, NULL, &arena, &err))
            complain(&reviewed, "%s", err.text);
        else
            review(&reviewed, suite, plan);
    }
    predictor_free(predictor);
    return reviewed.found;
}

static void test_suites(void **state)
{
    SCOPED(arena_release) struct arena arena = {0};
    const char *dirs[] = {ROOFTILE_SOURCE_DIR "/kernels"};
    char **machines = NULL, **suites = NULL;
    size_t machine_count = 0, suite_count = 0, shipped = 0;
    unsigned found = 0;
    struct err err;
    (void)state;
    if (catalog_read(&catalog, dirs, 1, &arena, &err) ||
        file_list(&machines, &machine_count, ROOFTILE_SOURCE_DIR "/configs/machines", ".json", &arena, &err) ||
        file_list(&suites, &suite_count, ROOFTILE_SOURCE_DIR "/configs", ".json", &arena, &err))
        fail_msg("%s", err.text);
    for (size_t k = 0; k < suite_count; k++) /* not those of its folders */
        if (!strcmp(path_dir(&arena, suites[k]), ROOFTILE_SOURCE_DIR "/configs"))
            suites[shipped++] = suites[k];
    assert_true(machine_count >= 16 && shipped >= 20);
    for (size_t k = 0; k < machine_count; k++)
        found += review_machine(machines[k], (const char *const *)suites, shipped);
    const char *const invented[] = {invent("tiny", "rx6800xt", 1. / 18, &arena), invent("twice", "mi355x", 2, &arena)};
    for (size_t k = 0; k < COUNT_OF(invented); k++) {
        found += review_machine(invented[k], (const char *const *)suites, shipped);
        unlink(invented[k]);
    }
    if (found)
        fail_msg("%u findings", found);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_suites)};
    suite_argc = argc;
    suite_argv = argv;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
