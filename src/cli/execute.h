/* SPDX-License-Identifier: MIT
 *
 * Execute: a session's plan run to a struct result, with progress on the way. What `run` and `roofline` share.
 */
#ifndef ROOFTILE_EXECUTE_H
#define ROOFTILE_EXECUTE_H

#include "rooftile/hash.h"
#include "rooftile/report.h"
#include "rooftile/result.h"
#include "session.h"

/* Runs every case of the plan that `resumed` (NULL: none) does not have already. On ERR_INTERRUPTED the result is
 * filled with what there is and result->status is "interrupted". `title` starts the progress line. */
enum status execute_plan(struct result *result, struct session *session, const struct result *resumed,
                         const char *title, struct err *err);

/* The case of this plan id that is ok; NULL: there is none. Results stand in plan order, so the case looked for is
 * nearly always the one behind the last found: `next` (0 at first) remembers where. */
const struct result_case *execute_find_ok(const struct result *result, const char *id, size_t *next);

/* The result of a case that the budget (--budget) left no time for: skipped, with that reason. */
void execute_skipped(struct result_case *out, const struct plan_case *plan_case, const struct session *session);

/* What a result records as the hash of the case's code: of the object, or of the objects' hashes where there are
 * several;
 * "" for a case that is not ready. */
void execute_code_hash(char out[static HASH_TEXT], const struct plan_case *plan_case,
                       const struct build_result *builds);

#endif
