/* SPDX-License-Identifier: MIT
 *
 * Whether somebody else uses the GPU, said before the first case is measured.
 */
#ifndef ROOFTILE_IDLE_H
#define ROOFTILE_IDLE_H

#include "rooftile/device.h"

/* "" when nobody does, or when nobody knows. */
void idle_problem(struct text *problem, const struct device_info *info, const struct device_sense *sense);
/* The same as a warning. */
void idle_warn(const struct device_info *info, const struct device_sense *sense);

#endif
