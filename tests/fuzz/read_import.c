/* SPDX-License-Identifier: MIT
 *
 * What others write: whatever the bytes, rows that add up or one sentence; and names of kernels.
 */
#include <math.h>
#include <string.h>

#include "../../src/import/trace.h"
#include "fuzz.h"
#include "rooftile/import.h"

bool fuzz_import(const char *text, size_t length, struct arena *arena)
{
    static const struct import_options options = {0};
    const char *path = FUZZ_PATH;
    struct import import;
    struct err err = {0};
    struct text suite = {0};
    double sum = 0;
    (void)text;
    (void)length;
    if (import_read(&import, &path, 1, &options, arena, &err)) {
        must(err.status == ERR_CONFIG && strstr(err.text, path));
        return false;
    }
    for (size_t k = 0; k < import.row_count; k++) {
        must(import.rows[k].operator&& import.rows[k].shape && import.rows[k].dtype && !(import.rows[k].calls < 0));
        sum += isfinite(import.rows[k].total_ns) ? import.rows[k].total_ns : 0;
    }
    must(!(fabs(sum - import.total_ns) > 1e-9 * sum) && !(import.explained_ns > import.total_ns * (1 + 1e-9)));
    must(!(import.timeline.busy_ns > import.timeline.span_ns * (1 + 1e-9)));
    import_suite(&suite, &import, "fuzz", NULL);
    text_release(&suite);
    return true;
}

bool fuzz_names(const char *text, size_t length, struct arena *arena)
{
    struct trace_operator operator= {.dtype = "", .total = "", .layout = ""};
    struct text traits = {0};
    (void)length;
    const bool known =
        kernel_name_read(&operator, & traits, text, (const double[]){8, 4, 1}, (const double[]){256, 1, 1});
    must(operator.dtype && operator.total && operator.layout);
    operator_read(&operator, text, arena);
    must(operator.name && operator.dtype && operator.shape);
    text_release(&traits);
    return known;
}
