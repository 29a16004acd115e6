/* SPDX-License-Identifier: MIT
 *
 * Shared by json.c, json_scan.c and json_out.c only.
 */
#ifndef ROOFTILE_JSON_INTERNAL_H
#define ROOFTILE_JSON_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_NOWHERE UINT32_MAX

/* Where one value stands. Values are numbered in document order (an array before its elements), as cJSON's tree is. */
struct json_place {
    uint32_t offset;
    uint32_t key_offset; /* of the opening quote; JSON_NOWHERE outside objects */
    uint32_t parent;     /* number of the enclosing value; JSON_NOWHERE for the root */
};

struct json_scan {
    struct json_place *places;
    size_t count;
    size_t capacity;
    size_t error_offset;
    uint32_t error_place; /* the value the error is in */
    char error[160];
};

/* Checks every byte against RFC 8259 and the further limits of json.h; false: the error_ members say what and where. */
bool json_scan(struct json_scan *scan, const char *text, size_t length);
void json_scan_release(struct json_scan *scan);

/* Bytes of the well-formed UTF-8 sequence at `bytes` (no overlong form, no surrogate), 0 when it is malformed. */
size_t json_utf8_length(const unsigned char *bytes, size_t left);

#endif
