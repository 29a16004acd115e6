/* SPDX-License-Identifier: MIT
 *
 * rooftile as a library: measures kernels on behalf of another program. Everything is executed by the program rooftile,
 * which is started for each call, so that neither a kernel that crashes nor a vendor's library touches the caller. No
 * function ends the caller's process or writes to its standard streams. A handle belongs to one thread at a time.
 */
#ifndef ROOFTILE_ROOFTILE_H
#define ROOFTILE_ROOFTILE_H

#ifdef __cplusplus
extern "C" {
#endif

#define ROOFTILE_API __attribute__((visibility("default")))

struct rooftile;

/* Gets each case when it is done, as one line of JSON, {"event": "case", "case": {...}}: the schema 'result' has the
 * members of a case. The text is gone when the function returns. Other than 0: the run ends in order, and with it these
 * calls. */
typedef int rooftile_case_function(void *context, const char *json);

/* `options`: words of 'rooftile run', which are copied, and NULL behind them: {"--device", "cpu", NULL}. NULL alone:
 * none. The program is $ROOFTILE_PROGRAM, else ../bin/rooftile beside the library, else rooftile in PATH. Returns NULL
 * when there is no memory. */
ROOFTILE_API struct rooftile *rooftile_open(const char *const *options);
ROOFTILE_API void rooftile_close(struct rooftile *rooftile); /* NULL is fine */

/* What a run of this suite, a JSON text, would do (as 'rooftile plan --json' has it); NULL: rooftile_error says why,
 * with line and column where the text is wrong. The plan is the handle's until its next call. */
ROOFTILE_API const char *rooftile_plan(struct rooftile *rooftile, const char *suite);

/* Runs the suite; `done` may be NULL. Returns the exit code of 'rooftile run': 0 ok; 1 a finding, such as a wrong
 * result; 2 the suite or an option is wrong; 3 nothing could be measured; 130 `done` ended it. Where something is
 * measured there is a result. */
ROOFTILE_API int rooftile_run(struct rooftile *rooftile, const char *suite, rooftile_case_function *done,
                              void *context);

/* The result of the last run as JSON, and what went wrong in the last call, without a newline at its end; "": nothing.
 * They are the handle's until its next call. */
ROOFTILE_API const char *rooftile_result(const struct rooftile *rooftile);
ROOFTILE_API const char *rooftile_error(const struct rooftile *rooftile);

#ifdef __cplusplus
}
#endif
#endif
