/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "rooftile/result.h"

bool result_case_counts(const struct result_case *c)
{
    return c->status == CASE_OK && isfinite(c->stats.median) && c->stats.median > 0 && !(c->flags & FLAG_IMPOSSIBLE) &&
           c->verification.verdict != VERIFY_FAIL;
}

const char *result_case_finding(const struct result_case *c)
{
    if (c->verification.verdict == VERIFY_FAIL)
        return "verification";
    if (c->flags & FLAG_IMPOSSIBLE)
        return "impossible";
    switch (c->status) {
    case CASE_FAILED:
        return "failed";
    case CASE_CRASHED:
        return "crashed";
    case CASE_TIMEOUT:
        return "timeout";
    default:
        return "";
    }
}
