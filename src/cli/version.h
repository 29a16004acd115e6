/* SPDX-License-Identifier: MIT
 *
 * Version: what this program is and what it was built from and with (recorded by cmake/version.cmake).
 */
#ifndef ROOFTILE_VERSION_H
#define ROOFTILE_VERSION_H

#include "rooftile/text.h"

void version_text(struct text *out);
void version_json(struct text *out);

#endif
