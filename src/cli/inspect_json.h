/* SPDX-License-Identifier: MIT
 *
 * What the parts of inspect's JSON share.
 */
#ifndef ROOFTILE_INSPECT_JSON_H
#define ROOFTILE_INSPECT_JSON_H

#include "rooftile/isa.h"
#include "rooftile/json_out.h"

void inspect_json_address(struct json_out *json, const char *key, uint64_t value); /* as "0x1900" */
void inspect_json_loop(struct json_out *json, const char *key, size_t loop);       /* counted from 1, as in the text */
void inspect_json_code(struct json_out *json, const struct isa_kernel *isa);       /* NULL writes null */

#endif
