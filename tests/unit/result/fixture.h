/* SPDX-License-Identifier: MIT
 *
 * A result with a case of every kind, built by hand.
 */
#ifndef ROOFTILE_TESTS_RESULT_FIXTURE_H
#define ROOFTILE_TESTS_RESULT_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rooftile/result.h"

static const char *const fixture_notes[] = {"the L2 latency is that of another machine"};
static const double fixture_samples[] = {1000.5, 1010.25, 990, 1005, 1002.125, 998};

static void fixture_stats(struct result_case *c)
{
    double *scratch = calloc(2 * c->sample_count + 1, sizeof(*scratch));
    summary_compute(&c->stats, c->samples_ns, c->sample_count, scratch);
    free(scratch);
}

static void fixture_rates(struct result_case *c)
{
    c->bytes_per_s = 96000 / c->stats.median * 1e9;
    c->flops_per_s = 16000 / c->stats.median * 1e9;
}

/* A memory case that was measured: 6 samples around 1 us, 96 kB, so about 96 GB/s. */
static struct result_case fixture_ok(const char *id, const char *label, const char *kernel)
{
    static const struct result_param params[] = {{"n", {.kind = PARAM_NUMBER, .number = 4096}},
                                                 {"layout", {.kind = PARAM_STRING, .string = "nt"}}};
    static const char *const tags[] = {"memory", "stream"};
    static const struct result_metric metrics[] = {{"cycles", "cycles", 123.5}, {"steps", "", NAN}};
    struct result_case c = {.id = id,
                            .label = label,
                            .kernel = kernel,
                            .class = "memory",
                            .tags = tags,
                            .tag_count = 2,
                            .params = params,
                            .param_count = 2,
                            .grid = {16, 1, 1},
                            .block = {256, 1, 1},
                            .lds_bytes = 0,
                            .timer = TIMED_BATCH,
                            .cache = CACHE_HOT,
                            .batch = 8,
                            .warmup_ns = 2e8,
                            .warmup_converged = true,
                            .stop = STOP_PRECISE,
                            .wall_ns = 5e8,
                            .overhead_ns = 500,
                            .order_index = 3,
                            .flush_method = "",
                            .samples_ns = fixture_samples,
                            .sample_count = 6,
                            .items_per_s = NAN,
                            .fraction = 0.9,
                            .prediction = {.time_ns = 1400,
                                           .low_ns = 1200,
                                           .high_ns = 1900,
                                           .term_ns = {[TERM_MEMORY] = 1000, [TERM_LAUNCH] = 300},
                                           .method = "description",
                                           .limiter = "memory",
                                           .bound = "DRAM",
                                           .notes = fixture_notes,
                                           .note_count = 1},
                            .predicted_error = 0.4,
                            .metrics = metrics,
                            .metric_count = 2,
                            .status = CASE_OK,
                            .reason = ""};
    c.work = (struct work){.read_bytes = 64000, .write_bytes = 32000, .flops = 16000, .footprint_bytes = 96000};
    snprintf(c.work.unit, sizeof(c.work.unit), "vector_f32");
    memset(c.object_sha256, 'a', 64);
    for (size_t k = 0; k < IDENTITY_PARTS; k++)
        snprintf(c.identity.parts[k], IDENTITY_TEXT, "%016zx", k + 1);
    c.discarded[DISCARD_ZERO] = 2;
    fixture_stats(&c);
    fixture_rates(&c);
    c.lower_bound = (struct lower_bound){.time_ns = 900,
                                         .memory_ns = 900,
                                         .compute_ns = 10,
                                         .intensity = 1.0 / 6,
                                         .bound = "DRAM",
                                         .bound_is_memory = true,
                                         .ceiling_name = "DRAM",
                                         .ceiling_value = 1.067e11,
                                         .ceiling_measured = true,
                                         .ridge = NAN,
                                         .launch_ns = 500};
    c.before = (struct device_sense){.stream_bps = 2e10,
                                     .fma_flops = 1e11,
                                     .core_hz = 3e9,
                                     .steal_fraction = NAN,
                                     .load_1min = 0.5,
                                     .involuntary_switches = 7,
                                     .power_w = 400,
                                     .temp_c = NAN,
                                     .memory_hz = 1.3e9,
                                     .violation_power = 0,
                                     .violation_thermal = 5,
                                     .violation_hbm = NAN,
                                     .violation_vr = NAN,
                                     .violation_prochot = NAN,
                                     .other_processes = 0,
                                     .throttle_bits = 3};
    c.after = c.before;
    c.after.violation_power = 3;
    c.after.throttle_bits = UINT64_C(1) << 56 | 1 << 8;
    c.after.involuntary_switches = UINT64_MAX;
    c.cycles = c.cross_ns = NAN;
    c.core_hz = 3e9;
    c.clock_reason = "counter wrapped";
    c.blocking_reason = "no memory that the host can write";
    c.verification = (struct verification){.verdict = VERIFY_PASS, .method = "expect", .checked = 4096};
    return c;
}

static struct result_case fixture_unmeasured(const char *id, const char *label, const char *kernel,
                                             enum case_status status, const char *reason)
{
    return (struct result_case){.id = id,
                                .label = label,
                                .kernel = kernel,
                                .class = "memory",
                                .flush_method = "",
                                .flops_per_s = NAN,
                                .bytes_per_s = NAN,
                                .items_per_s = NAN,
                                .fraction = NAN,
                                .predicted_error = NAN,
                                .cycles = NAN,
                                .core_hz = NAN,
                                .cross_ns = NAN,
                                .clock_reason = "",
                                .prediction = {.method = "", .limiter = "", .bound = ""},
                                .lower_bound = {.intensity = NAN, .ridge = NAN},
                                .status = status,
                                .reason = reason};
}

enum { FIXTURE_CASES = 6 };

/* What a GPU adds. */
static void fixture_gpu(struct result_case *c)
{
    static const float hz[] = {2.1e9F, 2.1e9F, 2.1e9F, 2.1e9F, 2.095e9F, 2.105e9F};
    c->code = (struct result_code){.known = true,
                                   .vgprs = 96,
                                   .agprs = 0,
                                   .sgprs = 32,
                                   .lds_bytes = 4096,
                                   .vgpr_spills = 3,
                                   .kernarg_bytes = 280,
                                   .wave = 64,
                                   .waves_per_simd = 5,
                                   .occupancy_limit = "vgpr",
                                   .loop_instruction = "v_pk_fma_f32",
                                   .loop_share = 0.96875,
                                   .loop_scratch_bytes = 1228,
                                   .scratch_loop = 2,
                                   .loop_issues = {120, 16, 8, 0, 3, 1, 2},
                                   .isa_sha256 = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"};
    c->sample_hz = hz;
    c->cycles = 2103;
    c->core_hz = 2.1e9;
    c->clock_reason = "";
    c->cross_timer = TIMED_DISPATCH;
    c->cross_ns = 1040;
    c->blocking_start = true;
    c->clock_unsteady = 2;
}

static void fixture_trials(struct result_case *c)
{
    static const struct result_trial trials[] = {
        {.index = 0, .status = CASE_OK, .median_ns = 1000, .min_ns = 990, .n = 3, .cycles = NAN, .core_hz = NAN},
        {.index = 1,
         .status = CASE_OK,
         .median_ns = 1002.625,
         .min_ns = 998,
         .n = 3,
         .cycles = NAN,
         .core_hz = NAN,
         .flags = FLAG_INTERFERENCE,
         .order_index = 4}};
    c->trials = trials;
    c->trial_count = 2;
    c->stats.median = (1000 + 1002.625) / 2;
    fixture_rates(c);
}

static struct result fixture_result(struct result_case cases[static FIXTURE_CASES])
{
    static const char *const argv[] = {"rooftile", "run", "x"}, *const warnings[] = {"W001: something"};
    static const struct result_label labels[] = {{"rack", "7"}}, env[] = {{"OMP_NUM_THREADS", "2"}};
    static struct derived_point change = {.words = {"", ""}, .change = {1, 2.5, 3e10, 2e10, 0.97}};
    static const struct result_derived derived[] = {{.name = "levels",
                                                     .method = "change_points",
                                                     .kernel = "copy",
                                                     .group = "dtype=f32",
                                                     .x = "n",
                                                     .y = "bytes_per_s",
                                                     .rows = "",
                                                     .value = {.points = &change, .count = 1}},
                                                    {.name = "odd",
                                                     .method = "max",
                                                     .kernel = "",
                                                     .group = "",
                                                     .x = "",
                                                     .y = "",
                                                     .rows = "",
                                                     .value = {.error = "no \"points\""},
                                                     .finding = "what is wrong"}};
    static const struct result_part parts[] = {{"00000000-0000-4000-8000-000000000000", "2026-11-21T00:00:00Z", 0},
                                               {"00000000-0000-4000-8000-000000000000", "2026-11-21T00:00:30Z", 1}};
    static const char *const filters[] = {"copy/*", "!*n=3*"};
    static const double trial_values[] = {1.25, NAN};
    static const struct result_kpi kpis[] = {
        {.name = "copies",
         .method = "geomean",
         .of = "bytes_per_s",
         .unit = "B/s",
         .filters = filters,
         .filter_count = 2,
         .higher_is_better = true,
         .value = 1.5,
         .reason = "",
         .case_count = 2,
         .trial_values = trial_values,
         .trial_count = 2},
        {.name = "slow", .method = "max", .of = "time_ns", .unit = "ns", .value = NAN, .reason = "copy/n=3 failed"}};
    cases[0] = fixture_ok("copy/n=1;mode=hot;timer=batch", "copy n=1", "copy");
    cases[1] = fixture_ok("copy/n=2;mode=hot;timer=batch", "copy n=2", "copy");
    fixture_gpu(&cases[0]);
    fixture_trials(&cases[1]);
    cases[1].flags = FLAG_INTERFERENCE | FLAG_IMPOSSIBLE;
    cases[1].reason = "500 ns is 2 times as fast as DRAM's vendor peak of 10.0 GB/s allows";
    cases[2] = fixture_unmeasured("copy/n=3;mode=hot", "copy n=3", "copy", CASE_FAILED, "c[17] is 3.5, expected 4");
    cases[2].verification = (struct verification){.verdict = VERIFY_FAIL,
                                                  .method = "reference",
                                                  .checked = 10,
                                                  .wrong = 1,
                                                  .max_abs = NAN,
                                                  .max_rel = INFINITY,
                                                  .buffer = "c",
                                                  .index = 17,
                                                  .got = NAN,
                                                  .want = 4,
                                                  .reason = "c[17] is nan, expected 4"};
    cases[3] = fixture_unmeasured("copy/n=4;mode=hot", "copy n=4", "copy", CASE_SKIPPED, "needs f64");
    cases[4] = fixture_unmeasured("dot/n=1;mode=hot", "dot", "dot", CASE_CRASHED, "SIGSEGV");
    cases[5] = fixture_unmeasured("lone/x=1;mode=hot", "lone", "lone", CASE_TIMEOUT, "no answer");
    struct result result = {.tool_version = "0.1.0",
                            .tool_git = "abc",
                            .tool_build = "GNU 12",
                            .run_id = "00000000-0000-4000-8000-000000000000",
                            .started_at = "2026-11-21T00:00:00Z",
                            .finished_at = "2026-11-21T00:01:00Z",
                            .argv = argv,
                            .argc = 3,
                            .config_sha256 = "",
                            .seed = 7,
                            .trials = 2,
                            .parts = parts,
                            .part_count = 2,
                            .status = "complete",
                            .commit = "",
                            .branch = "main",
                            .ci_url = "",
                            .labels = labels,
                            .label_count = 1,
                            .host_id_hash = "",
                            .kernel_release = "6.1",
                            .os = "Debian",
                            .cpu_name = "X",
                            .governor = "",
                            .container = "",
                            .numa_nodes = 1,
                            .compiler = "clang 19",
                            .env = env,
                            .env_count = 1,
                            .warnings = warnings,
                            .warning_count = 1,
                            .calibration = {.timer_tick_ns = 1,
                                            .null_launch_ns = 500,
                                            .null_batch_ns = 400,
                                            .flush_reread_hot_ns = 100,
                                            .flush_reread_cold_ns = 900,
                                            .flush_verdict = "works",
                                            .dispatch_null_ns = 2500,
                                            .null_graph_ns = 700,
                                            .counter_hz = 1e8,
                                            .dispatch_reason = "old library"},
                            .cases = cases,
                            .case_count = FIXTURE_CASES,
                            .derived = derived,
                            .derived_count = 2,
                            .kpis = kpis,
                            .kpi_count = 2};
    result.device = (struct device_info){.backend = "cpu",
                                         .id = "cpu:0",
                                         .name = "A \"CPU\"",
                                         .arch = "x86-64",
                                         .target = "x86-64-v3",
                                         .wave = 64,
                                         .cus = 2,
                                         .max_block = 1024,
                                         .memory_bytes = 1ull << 34,
                                         .core_hz = 3e9,
                                         .timer_tick_ns = 1};
    memset(result.fingerprint, 'b', 64);
    result.machine = (struct machine){.name = "cpu:0",
                                      .title = "A \"CPU\"",
                                      .measured = true,
                                      .cus = 2,
                                      .launch_ns = 500,
                                      .launch_source = "empty launch",
                                      .level_count = 2,
                                      .unit_count = 1};
    result.machine.levels[0] = (struct machine_level){.name = "L1",
                                                      .capacity_bytes = 65536,
                                                      .capacity_source = "found",
                                                      .capacity_confidence = 0.99,
                                                      .bandwidth = {.measured = 1e12, .measured_by = "read"}};
    result.machine.levels[1] = (struct machine_level){
        .name = "DRAM", .bandwidth = {.measured = 1.067e11, .measured_by = "copy", .raised = true}};
    result.machine.units[0] =
        (struct machine_unit){.name = "vector_f32", .peak = {.measured = 4e11, .measured_by = "fma"}};
    return result;
}

#endif
