/* SPDX-License-Identifier: MIT
 *
 * The formats that are JSON: which values of the document each of them takes.
 */
#ifndef ROOFTILE_IMPORT_JSON_READERS_H
#define ROOFTILE_IMPORT_JSON_READERS_H

#include "trace.h"

struct rocprof_symbol {
    uint32_t id;
    const char *name;
};

struct json_reading {
    struct trace *trace;
    struct text text, word; /* the string read last; one beside it */
    /* rocprofv3: of the process that is being read */
    struct texts symbols; /* its arena has their names */
    struct rocprof_symbol *symbol_names;
    size_t symbol_count;
    uint32_t process;
    bool has_shapes; /* of operators: record_shapes=True */
};

cut_function kineto_event, kineto_device;

#endif
