/* SPDX-License-Identifier: MIT
 *
 * The one line on the terminal that says what is going on now. Log output clears and redraws it (log_set_status_line).
 */
#ifndef ROOFTILE_PROGRESS_H
#define ROOFTILE_PROGRESS_H

void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);

#endif
