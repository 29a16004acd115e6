/* SPDX-License-Identifier: MIT */
#ifndef ROOFTILE_DESCRIBE_INTERNAL_H
#define ROOFTILE_DESCRIBE_INTERNAL_H

#include "rooftile/describe.h"

/* A machine as the models see it; rates per microsecond, which sizes in bytes and FLOP suit. */
struct described_machine {
    const struct machine *machine;
    double cus, clock_mhz, lanes; /* lanes for which a compute unit issues vector instructions in a clock */
    double memory_bytes_us;       /* of the vendor's peak; raw: the rate to be expected */
    double memory_latency_us, l2_latency_us, launch_us;
    double wave, line_bytes; /* of the L1 and L2 caches */
    double l1_bytes;         /* of one compute unit */
    double l2_bytes_us;
    double f64_slots;    /* issue slots of a vector instruction of f64 */
    double issue_clocks; /* between two instructions of a wave that depend on each other */
    double units;        /* that take workgroups: compute units, workgroup processors of RDNA; each has four SIMDs */
    double waves_per_unit, groups_per_unit; /* resident at most */
    double idle_mhz, rise_us; /* the clock of an idle card, and how long after a launch it rises; 0 unknown */
    bool raw;
};

/* Each sets the terms and time_ns. */
void gemm_predict(struct prediction *prediction, const struct described *described, const struct described_machine *on,
                  double peak_us, const double *constants);
void elementwise_predict(struct prediction *prediction, const struct described *described,
                         const struct described_machine *on, const double *constants);
void rows_predict(struct prediction *prediction, const struct described *described, const struct described_machine *on,
                  const double *constants);
void convolution_predict(struct prediction *prediction, const struct described *described,
                         const struct described_machine *on, const double *constants);

/* (a^norm + b^norm + c^norm) ^ (1 / norm) */
double describe_join(double a, double b, double c, double norm);

#endif
