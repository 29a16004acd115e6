/* SPDX-License-Identifier: MIT
 *
 * Cases whose launches wait for those of other processes. If one process launched more often than another, all would
 * hang. So every decision depends on a value that all agree on: the largest that any of them has.
 */

#include "rooftile/clock.h"
#include "rooftile/hash.h"
#include "run_internal.h"

static enum status agree(const struct ready *ready, double *values, uint32_t count, struct err *err)
{
    const struct device_ops *ops = ready->device->ops;
    return ops->agree ? ops->agree(ready->device, values, count, err)
                      : err_set(err, ERR_UNSUPPORTED, "the %s device cannot agree with other processes", ops->name);
}

/* Waits until all ranks begin the same case. A rank that is ahead waits for the others; a rank whose case another one
 * has passed gets an error and skips the case. */
enum status lockstep_begin(const struct worker *worker, const struct ready *ready, const struct plan_case *plan_case,
                           struct err *err)
{
    const double order = worker->shared->measured.order_index;
    const double id = (double)(hash_u64(plan_case->id, strlen(plan_case->id)) >> 12);
    for (bool all = !ready->ranks; !all;) {
        double values[] = {order, -order, id, -id};
        if (agree(ready, values, 4, err))
            return err->status;
        if (values[0] > order)
            return err_set(err, ERR_DEVICE, "another rank of the job could not run this case and has gone on");
        all = -values[1] == order;
        if (all && values[2] != -values[3])
            return err_set(err, ERR_USAGE,
                           "the ranks of the job run different cases at once: start all of them with the same suites, "
                           "options and --seed");
    }
    return STATUS_OK;
}

enum status lockstep_sample(struct sampling *sampling, double *time_ns, struct err *err)
{
    double values[] = {*time_ns, (double)clock_now_ns()};
    const enum status status = sampling->ready->ranks ? agree(sampling->ready, values, 2, err) : STATUS_OK;
    *time_ns = values[0];
    sampling->agreed_ns = values[1];
    return status;
}

double lockstep_now_ns(const struct sampling *sampling)
{
    return sampling->ready->ranks ? sampling->agreed_ns : (double)clock_now_ns();
}

enum status lockstep_verdict(const struct checking *checking, struct err *err)
{
    struct verification *out = checking->out;
    double failed = out->verdict == VERIFY_FAIL;
    const enum status status = checking->ready->ranks ? agree(checking->ready, &failed, 1, err) : STATUS_OK;
    if (!status && failed > 0 && out->verdict != VERIFY_FAIL) {
        out->verdict = VERIFY_FAIL;
        snprintf(out->reason, sizeof(out->reason), "of another rank of the job");
    }
    return status;
}
