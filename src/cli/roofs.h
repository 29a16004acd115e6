/* SPDX-License-Identifier: MIT
 *
 * The cases behind a machine's measured roofs, planned and built again, so that a roof can be measured beside a case
 * that beats it; and the kernels that a run needs beside its cases.
 */
#ifndef ROOFTILE_ROOFS_H
#define ROOFTILE_ROOFS_H

#include "services.h"

struct roofs {
    struct run_roof *roofs; /* those that can be measured again */
    size_t count;
    struct service_code services[SERVICE_COUNT];
};

enum status roofs_prepare(struct roofs *roofs, struct session *session, const volatile int *stop, struct err *err);
void roofs_apply(struct run_options *options, const struct roofs *roofs);

/* A suite case from a case id "kernel/name=value;...", measured quickly in the id's mode; its timer is measured anew.
 * False when it is not an id. */
bool roofs_case_from_id(struct suite_case *out, const char *id, struct arena *arena);

#endif
