/* SPDX-License-Identifier: MIT
 *
 * What the services of a worker remember. Private to service.c, hold.c and probe.c.
 */
#ifndef ROOFTILE_SERVICE_STATE_H
#define ROOFTILE_SERVICE_STATE_H

#include "service.h"

struct service {
    bool tried, usable;
    char why[SERVICE_WHY];
    struct ready ready;
};

struct hold {
    bool tried, works, held;
    char why[SERVICE_WHY];
    struct ready *ready;
    uint32_t *control; /* of service_hold.hip */
};

struct probe {
    bool tried, works;
    char why[SERVICE_WHY];
    struct ready *ready;
    uint64_t *report[PROBE_COUNT]; /* of service_clock.hip */
};

struct services {
    struct service list[SERVICE_COUNT];
    struct hold hold;
    struct probe probe;
};

struct services *services_of(struct worker *worker);
/* Takes an error's text; of a long one the end, where the cause stands. */
void service_say(char why[static SERVICE_WHY], const char *text);
/* The service's first buffer, in memory that both sides see; NULL when it is not what this program's own kernel has. */
void *service_words(struct ready *ready, uint32_t rotation, uint64_t size_bytes);

#endif
