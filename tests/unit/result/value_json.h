/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_TESTS_VALUE_JSON_H
#define ROOFTILE_TESTS_VALUE_JSON_H

#include "../../../src/result/records.h"

/* A derived value as a result file has it. */
static inline const char *value_json(const struct result_derived *derived, struct arena *arena)
{
    struct text text = {0};
    struct json_out *out = json_out_new_array();
    derived_value_put(out, NULL, &derived->value);
    json_out_finish(out, &text, false);
    text.data[--text.length] = '\0'; /* without the brackets */
    return text_take(&text, arena) + 1;
}

#endif
