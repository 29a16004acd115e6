/* SPDX-License-Identifier: MIT
 *
 * Messages on stderr. Results go to stdout and never through here. Each warning has a stable code (W001...) and states,
 * in this order, what was observed, why it matters, and what to try. The code table is in log.c; results also contain
 * the codes.
 */
#ifndef ROOFTILE_LOG_H
#define ROOFTILE_LOG_H

#include "rooftile/base.h"

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE, LOG_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_level(void);

/* Prints a line if the log level is at least `level`; LOG_QUIET marks an error, which is always printed. */
void log_at(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_at(LOG_QUIET, __VA_ARGS__) /* "rooftile: error: ..." */
#define log_info(...) log_at(LOG_NORMAL, __VA_ARGS__)
#define log_verbose(...) log_at(LOG_VERBOSE, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

/* "rooftile: warning W012: ..." */
void log_warn(const char *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the short name of a warning code ("machine not measured"), or NULL if the table in log.c lacks it. */
const char *log_code_name(const char *code);

/* Return or clear the warnings so far, for the result's environment.warnings[]: "W012: text". Each is stored (and
 * shown) once, in order. */
void log_clear_warnings(void); /* before unrelated work */
size_t log_warning_count(void);
const char *log_warning_at(size_t index);

/* Colour for a stream: --color auto|always|never, then NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, TERM=dumb, isatty. */
enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
void log_set_color(enum color_mode mode);
bool log_use_color(int fd);

/* Sets the functions that clear and redraw the progress line around log output (src/cli/cli.c); NULL if there is
 * none. */
void log_set_status_line(void (*clear)(void), void (*redraw)(void));

#endif
