/* SPDX-License-Identifier: MIT
 *
 * Execute: a session's plan run to a struct result, with progress on the way. What `run` and `roofline` share.
 */
#ifndef ROOFTILE_EXECUTE_H
#define ROOFTILE_EXECUTE_H

#include "rooftile/report.h"
#include "rooftile/result.h"
#include "session.h"

/* Runs every case of the plan that `resumed` (NULL: none) does not have already. On ERR_INTERRUPTED the result is filled with
 * what there is and result->status is "interrupted". `title` starts the progress line. */
enum status execute_plan(struct result *result, struct session *session, const struct result *resumed, const char *title,
                         struct err *err);

#endif
