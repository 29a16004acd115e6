/* SPDX-License-Identifier: MIT
 *
 * What the files of src/fleet share.
 */
#ifndef ROOFTILE_FLEET_INTERNAL_H
#define ROOFTILE_FLEET_INTERNAL_H

#include "rooftile/fleet.h"

#define FLEET_TOGETHER " together" /* ends the name of a metric that was measured while all devices ran */
#define FLEET_GROUP_FACTS 6        /* devices with the same first so many facts are a group */

struct fleet_run {
    const char *run_id;
    bool together;
    size_t count;
    struct {
        size_t metric;
        struct fleet_reading reading;
    } * readings;
};

/* Joins the results of one device into one device with its runs; sorts by name (fleet_join.c). */
void fleet_join(struct fleet *fleet);
/* Groups of devices that are alike, and facts that differ within them. */
void fleet_make_groups(struct fleet *fleet);
void fleet_find_drift(struct fleet *fleet);

#endif
