/* SPDX-License-Identifier: MIT
 *
 * What ends a command before its time: signals, and --budget.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "rooftile/result.h"
#include "rooftile/units.h"
#include "session.h"

volatile int session_stop;

static void on_signal(int number)
{
    if (number == SIGALRM) {
        session_stop = session_stop ? session_stop : STOP_BUDGET;
        return;
    }
    if (session_stop == STOP_SIGNAL)
        _exit(130);
    session_stop = STOP_SIGNAL;
}

void session_catch_signals(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

enum status session_time_option(double *time_ns, const char *name, const char *text, struct err *err)
{
    if (!text)
        return STATUS_OK;
    if (!units_parse_time_ns(time_ns, text) || *time_ns <= 0)
        return err_set(err, ERR_USAGE, "--%s %s: not a duration such as 0.5s or 200ms", name, text);
    return STATUS_OK;
}

enum status session_start_budget(const struct cli_options *options, struct err *err)
{
    const struct sigaction action = {.sa_handler = on_signal};
    struct itimerval timer = {0};
    double budget_ns = 0;
    enum status status = session_time_option(&budget_ns, "budget", options->budget, err);
    if (status || budget_ns <= 0 || getitimer(ITIMER_REAL, &timer) || timer.it_value.tv_sec || timer.it_value.tv_usec ||
        session_stop)
        return status;
    const double us = fmax(1, fmin(budget_ns / 1e3, 1e15));
    timer.it_value = (struct timeval){.tv_sec = (time_t)(us / 1e6), .tv_usec = (suseconds_t)fmod(us, 1e6)};
    sigaction(SIGALRM, &action, NULL);
    return setitimer(ITIMER_REAL, &timer, NULL)
               ? err_set(err, ERR_IO, "--budget %s: %s", options->budget, strerror(errno))
               : STATUS_OK;
}

bool session_late(enum status status)
{
    return status == ERR_INTERRUPTED && session_stop == STOP_BUDGET;
}

const char *session_late_reason(const struct session *session, const char *what)
{
    return arena_printf(session->arena, RESULT_LATE_REASON "%s ran out before this was %s", session->options->budget,
                        what);
}
