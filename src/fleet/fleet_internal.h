/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of src/fleet.
 */
#ifndef ROOFTILE_FLEET_INTERNAL_H
#define ROOFTILE_FLEET_INTERNAL_H

#include "rooftile/fleet.h"

#define FLEET_TOGETHER " together" /* suffix of metrics measured while all devices ran */
#define FLEET_GROUP_FACTS 6        /* devices with the same first facts form a group */

struct fleet_run {
    const char *run_id;
    bool together;
    size_t count;
    struct {
        size_t metric;
        struct fleet_reading reading;
    } * readings;
};

/* Joins the results of one device into a device with several runs; sorts by name (fleet_join.c). */
void fleet_join(struct fleet *fleet);
/* Form groups of devices that are alike, and find facts that differ within a model. */
void fleet_make_groups(struct fleet *fleet);
void fleet_find_drift(struct fleet *fleet);

#endif
