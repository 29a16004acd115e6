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
/* Those that are wanted. One that cannot be planned is skipped, and what it is for is then not done: only an interrupt
 * is an error, and a broken launch_empty. */
enum status services_prepare(struct service_code services[SERVICE_COUNT], struct session *session,
                             const volatile int *stop, struct err *err);
void services_apply(struct run_service_case out[SERVICE_COUNT], const struct service_code services[SERVICE_COUNT]);

/* ---- the cases behind a machine's measured ceilings, planned and built again ----
 * So that a ceiling can be measured beside a case that beats it. */
struct ceilings {
    struct run_ceiling *ceilings; /* those that can be measured again */
    size_t count;
    struct service_code services[SERVICE_COUNT];
};

enum status ceilings_prepare(struct ceilings *ceilings, struct session *session, const volatile int *stop,
                             struct err *err);
void ceilings_apply(struct run_options *options, const struct ceilings *ceilings);

/* A suite case from a case id "kernel/name=value;...", measured quickly in the id's mode; its timer is measured anew.
 * False when it is not an id. */
bool ceilings_case_from_id(struct suite_case *out, const char *id, struct arena *arena);

/* Warnings about what the first worker found out: timers that are missing, a flush that does not work. */
void services_warn(const struct session *session, const struct calibration *calibration);

#endif
