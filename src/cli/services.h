/* SPDX-License-Identifier: MIT
 *
 * The kernels that a run needs beside its cases (run.h: enum run_service), planned and built.
 */
#ifndef ROOFTILE_SERVICES_H
#define ROOFTILE_SERVICES_H

#include "session.h"

struct service_code {
    const struct plan *plan; /* of one case; NULL = the device has no use for it, or there is no such kernel */
    struct build_result *builds;
};

/* Whether the session's device has a use for it. */
bool services_wanted(const struct session *session, enum run_service which);
/* Those that are wanted. One that cannot be planned is left out, and what it is for is then not done: only an interrupt is
 * an error, and a broken launch_empty. */
enum status services_prepare(struct service_code services[SERVICE_COUNT], struct session *session,
                             const volatile int *stop, struct err *err);
void services_apply(struct run_service_case out[SERVICE_COUNT], const struct service_code services[SERVICE_COUNT]);

/* Warnings about what the first worker found out: timers that are missing, a flush that does not work. */
void services_warn(const struct session *session, const struct calibration *calibration);

#endif
