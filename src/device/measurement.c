/* SPDX-License-Identifier: MIT */
#include "rooftile/measurement.h"

const char *const case_status_names[] = {
    [CASE_NONE] = "none",       [CASE_OK] = "ok",           [CASE_FAILED] = "failed", [CASE_SKIPPED] = "skipped",
    [CASE_CRASHED] = "crashed", [CASE_TIMEOUT] = "timeout", [CASE_ERROR] = "error",
};
const char *const timer_names[] = {
    [TIMED_NONE] = "none",   [TIMED_HOST] = "host",         [TIMED_BATCH] = "batch", [TIMED_SIM] = "sim",
    [TIMED_EVENT] = "event", [TIMED_DISPATCH] = "dispatch", [TIMED_GRAPH] = "graph",
};
const char *const verdict_names[] = {
    [VERIFY_NOT_RUN] = "skipped", [VERIFY_PASS] = "pass", [VERIFY_FAIL] = "fail", [VERIFY_SKIPPED] = "skipped"};
const char *const case_flag_names[CASE_FLAGS] = {
    "interference", "throttled",  "launch_bound", "impossible", "ceiling_raised",
    "profiled",     "no_ceiling", "fibers",       "emulated",
};

const char *const case_phase_names[] = {
    [SPENT_FILLING] = "fill",    [SPENT_VERIFYING] = "verify",  [SPENT_SENSING] = "sense",
    [SPENT_WARMING] = "warm-up", [SPENT_MEASURING] = "measure",
};
