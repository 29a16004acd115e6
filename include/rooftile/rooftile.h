/* SPDX-License-Identifier: MIT
 *
 * rooftile as a library: measures kernels on behalf of another program. Each call starts the program rooftile, which
 * executes everything, so that neither a crashing kernel nor a vendor's library affects the caller. No function ends
 * the caller's process or writes to its standard streams. A handle belongs to one thread at a time.
 */
#ifndef ROOFTILE_ROOFTILE_H
#define ROOFTILE_ROOFTILE_H

#ifdef __cplusplus
extern "C" {
#endif

#define ROOFTILE_API __attribute__((visibility("default")))

struct rooftile;

/* Receives each finished case as one line of JSON, {"event": "case", "case": {...}}: the schema 'result' has the
 * members of a case. The text is valid until the function returns. A result other than 0 ends the run in order, and
 * with it these calls. */
typedef int rooftile_case_function(void *context, const char *json);

/* `options` are arguments of 'rooftile run', which are copied, followed by NULL: {"--device", "cpu", NULL}. NULL alone
 * means none. The program is $ROOFTILE_PROGRAM, else ../bin/rooftile relative to the library, else rooftile in PATH.
 * Returns NULL if out of memory. */
ROOFTILE_API struct rooftile *rooftile_open(const char *const *options);
ROOFTILE_API void rooftile_close(struct rooftile *rooftile); /* NULL is allowed */

/* Returns the plan of this suite, a JSON text, in the format of 'rooftile plan --json'. On failure returns NULL, and
 * rooftile_error has the reason, with line and column of an error in the text. The handle owns the plan until its next
 * call. */
ROOFTILE_API const char *rooftile_plan(struct rooftile *rooftile, const char *suite);

/* Runs the suite; `done` may be NULL. Returns the exit code of 'rooftile run': 0 ok; 1 a finding, such as a wrong
 * result; 2 the suite or an option is wrong; 3 nothing could be measured; 130 `done` ended it. If anything is measured
 * there is a result. */
ROOFTILE_API int rooftile_run(struct rooftile *rooftile, const char *suite, rooftile_case_function *done,
                              void *context);

/* Return the result of the last run as JSON, and the error of the last call, without a final newline; "" if there is
 * none. The handle owns them until its next call. */
ROOFTILE_API const char *rooftile_result(const struct rooftile *rooftile);
ROOFTILE_API const char *rooftile_error(const struct rooftile *rooftile);

#ifdef __cplusplus
}
#endif
#endif
