/* SPDX-License-Identifier: MIT
 *
 * Machines: a device's capabilities, as ceilings with their origin. Machine files are data (configs/machines for GPU
 * models from data sheets; measured ones written by `rooftile roofline`). Vendor, measured and derived values are
 * separate: every number has its source, and only physical peaks can make a result "impossible".
 *
 * The file (configs/schema/machine.schema.json), by example; unknown values are absent, null, or { "value": null,
 * "source": "what was looked through" }:
 *
 * { "name": "mi300x", "title": "AMD Instinct MI300X", "arch": "gfx942", "kind": "vendor", "relative": "mi300a",
 *   "notes": ["..."],
 *   "pci_ids": ["1002:74a1"], "partition": "SPX/NPS1",
 *   "facts":  { "cus": { "value": 304, "source": "https://..." }, "core_hz": 2.1e9, "dispatch_hz": 2e9,
 *             "lds_latency_ns": 22, "launch_next_ns": 2100, ... },     a source or a plain number
 *   "levels": [ { "name": "L2", "capacity_bytes": { "value": 33554432, "source": "...", "confidence": 0.98 },
 *                 "capacity_low_bytes": 25165824,
 *                 "bandwidth": { "vendor": { "value": 3.44e13, "source": "16384 B/clk * 2.1 GHz, ..." },
 *                                "effective": { "value": 2.4e13, "source": "..." }, "least": 0.65,
 *                                "measured": { "value": 2.1e13, "by": "stream_read/n=...", "ci_rel": 0.002 } },
 *                 "read": { "measured": {...} }, "write": {...}, "copy": {...}, "triad": {...},
 *                 "latency_ns": { "value": 101.8, "source": "..." } }, ... nearest first, the last is the memory ],
 *   "units":  [ { "name": "vector_f32", "peak": { "vendor": {...}, "measured": {...} }, "clock_hz": 2.1e9, "held_hz":
 *             1.9e9 } ],
 *   "latencies": [ { "upto_bytes": 4194304, "beyond_bytes": 6291456, "confidence": 0.99, "level": "L2", "instances": 8,
 *                    "latency_ns": { "value": 101.8, "source": "pointer_chase/..." } }, ... the last has no end ],
 *   "figures": [ { "name": "lds_read", "value": 6.1e13, "unit": "B/s", "ci_rel": 0.001, "source": "lds_read/..." } ],
 *   "links":  [ { "name": "peer_link", "rate": { "vendor": {...}, "effective": {...} } } ],
 *   "launch_ns": { "value": 5000, "source": "..." } }
 *
 * A measured file has "kind": "measured" with "device_id" and "measured_at", and "disturbed" if passes over the same
 * cases disagree.
 */
#ifndef ROOFTILE_MACHINE_H
#define ROOFTILE_MACHINE_H

#include "rooftile/base.h"
#include "rooftile/target_facts.h"

struct record;

#define MACHINE_MAX_LEVELS 6
#define MACHINE_MAX_FIGURES 48
#define MACHINE_MAX_UNITS 32
#define MACHINE_NAME 32

/* A rate with its origin. A value of 0 means unknown. */
struct ceiling {
    double vendor;   /* data sheet or derived from architecture and clock: a physical limit */
    double measured; /* reached by a kernel on this very device */
    char vendor_source[160];
    char measured_by[256]; /* kernel and parameters: "stream_triad/dtype=f64" */
    double ci_rel;         /* half-width of the measured median's 95 % interval, relative */
    double effective;      /* usual rate of streams on similar cards; for predictions only */
    char effective_source[160];
    double least; /* least share of the vendor's value on a healthy card; 0: unknown */
    bool raised;  /* `measured` was exceeded and raised in this run (FLAG_CEILING_RAISED) */
};

/* Kinds of memory traffic, by the share of bytes that are written: none, all, a half, a third. */
enum machine_traffic { TRAFFIC_READ, TRAFFIC_WRITE, TRAFFIC_COPY, TRAFFIC_TRIAD, TRAFFIC_COUNT };
extern const double machine_traffic_written[TRAFFIC_COUNT];
extern const char *const machine_traffic_names[]; /* "read" "write" "copy" "triad" */

/* A memory level, nearest first; the last one is the device's memory ("HBM", "GDDR", "DRAM") with unlimited capacity.
 */
struct machine_level {
    char name[MACHINE_NAME];
    double capacity_bytes; /* of the whole device; 0 for the last level */
    /* the largest footprint observed inside: the capacity is between this and capacity_bytes; 0 unknown */
    double capacity_low_bytes;
    char capacity_source[160];
    double capacity_confidence;            /* 0..1 for levels found from data (change points), 1 for data sheets */
    struct ceiling bandwidth;              /* bytes per second, all CUs together: the best of all traffic */
    struct ceiling traffic[TRAFFIC_COUNT]; /* the best of each kind; facts, not ceilings */
    double latency_ns;                     /* dependent load; 0 unknown */
    char latency_source[160];
};

/* A level as observed by dependent loads from one core or CU. Found from pointer chases only, to be compared with the
 * levels by bandwidth: if both have the same capacity boundary, `level` names it. */
struct machine_latency {
    /* the last footprint inside, and the first outside; 0 for the last level, which has no end */
    double upto_bytes, beyond_bytes;
    double confidence; /* of the capacity boundary; 0 for the last one */
    double latency_ns, ci_rel;
    char source[160];
    char level[MACHINE_NAME]; /* "": bandwidth shows no capacity boundary here */
    uint32_t instances;       /* number of caches of this size in the level; 0 if level is "" */
};

/* Any other measured fact: LDS bandwidth, the cost of launches and events, the timer's tick. */
struct machine_figure {
    char name[48];
    double value, ci_rel; /* ci_rel 0: unknown */
    char unit[16];        /* "ns" "B/s" "Hz" ..., as for units_quantity */
    char source[256];     /* the case, or how it was found */
};

/* A path other than a memory level: "host_link" (to or from the host), "host_link_both" (at once), "peer_link" (to one
 * other device), "peer_links" (to all others). For copies by engines, all of whose bytes cross it. */
#define MACHINE_MAX_LINKS 4
struct machine_link {
    char name[MACHINE_NAME];
    struct ceiling rate; /* bytes per second */
};

/* An arithmetic unit: "vector_f32", "vector_f64", "matrix_f16" ... */
struct machine_unit {
    char name[MACHINE_NAME];
    struct ceiling peak; /* FLOP per second (integer units: OP per second) */
    double clock_hz;     /* the clock of the vendor peak; 0 unknown */
    double held_hz;      /* the clock during the measurement; 0 unknown */
    /* the highest clock that the device reported or reached in this run, if above clock_hz; otherwise 0 */
    double limit_hz;
};

/* Units of machine_limits only: bytes of loads, stores and LDS; operations of any unit; items, and sequential steps, of
 * any kind. */
#define LIMIT_BYTES "the load and store unit"
#define LIMIT_OPERATIONS "all arithmetic"
#define LIMIT_ITEMS "the clock"
#define LIMIT_STEPS "the clock, step by step"

struct machine {
    char name[64];   /* "mi300x" or the measured device's name */
    char title[128]; /* "AMD Instinct MI300X" */
    char arch[32];
    char relative[64];   /* the most similar machine, whose numbers replace unknown ones in predictions; "" */
    char path[512];      /* its file; "" if measured in this run */
    bool measured;       /* a file of `rooftile roofline`, for one device */
    char device_id[512]; /* measured: fingerprint of its device (name, target, cus, memory) */
    char pci_ids[8][16]; /* "1002:74a1" of the models it describes */
    uint32_t pci_id_count;
    /* the mode in which the numbers are valid, as written by the driver: "SPX/NPS1"; "" if cards cannot be
     * partitioned */
    char partition[32];
    char measured_at[32];
    char disturbed[256]; /* doubts about its measured ceilings, as text; "": none */
    uint32_t cus, xccs, wave, simds_per_cu, max_block;
    double lds_bytes_per_cu;
    double memory_bytes;
    double core_hz, memory_hz;
    double idle_hz;        /* the lowest clock of an idle card, if short work runs at it; 0 unknown */
    double clock_rise_ns;  /* time from the start of work until the clock rises from idle_hz; 0 unknown */
    double dispatch_hz;    /* workgroups started per second, by all dies together; 0 unknown */
    double lds_latency_ns; /* of a read without conflicts; 0 unknown */
    double launch_next_ns; /* additional time of a launch right after another one; 0 unknown */
    double launch_ns;      /* an empty launch from start to completion, back to back */
    char launch_source[160];
    uint32_t level_count;
    struct machine_level levels[MACHINE_MAX_LEVELS];
    uint32_t unit_count;
    struct machine_unit units[MACHINE_MAX_UNITS];
    uint32_t link_count;
    struct machine_link links[MACHINE_MAX_LINKS];
    uint32_t latency_count;
    struct machine_latency latencies[MACHINE_MAX_LEVELS];
    uint32_t figure_count;
    struct machine_figure figures[MACHINE_MAX_FIGURES];
};

/* Reads a machine; from the file of a checkup (checkup.h) the ceilings that it found. ERR_CONFIG with file, pointer,
 * line and column. */
enum status machine_read(struct machine *machine, const char *path, struct err *err);
enum status machine_write(const struct machine *machine, const char *path, struct err *err);

/* The file's table, for machines inside other documents. There, a machine without levels is unknown. */
extern const struct record machine_record;

/* Returns NULL, or the problem of a machine built by hand or measured: no levels, capacities that do not grow, a
 * duplicate name, rates that are not finite and positive. */
const char *machine_problem(const struct machine *machine);

/* The unit of exponentials, logarithms, reciprocals, roots and sines of f32, which issue at a fraction of the vector
 * unit's rate; on a CPU, which has no such unit, the rate of its code for the fastest of them. */
#define TRANSCENDENTAL_UNIT "transcendental"

/* Returns the unit of a rate: "OP/s" for integers (their type begins with i or u: "vector_i32", "matrix_i8") and for
 * transcendental operations, otherwise "FLOP/s". */
const char *machine_unit_rate(const char *name);

/* True if manifests may name it: TRANSCENDENTAL_UNIT, or "vector_" or "matrix_" and a type. */
bool machine_unit_known(const char *name);

/* Adds values that a data sheet omits and that follow from target, clock and compute units: the peaks of
 * TRANSCENDENTAL_UNIT and of integers ("vector_i32", dot products of "vector_i8" and "vector_i4"). Their source begins
 * with "derived". Existing values are not changed. */
void machine_derive(struct machine *machine);

/* Sets the limits of a device independent of measurements: compute units x clock x the `rates` of one unit. Sets vendor
 * peaks of vector units and of one level, "L1", which every load and store crosses. */
void machine_limits(struct machine *limits, const struct target_facts *rates, double cus, double core_hz);

/* Return the level or figure of that name, or NULL. */
const struct machine_level *machine_level(const struct machine *machine, const char *name);
const struct machine_figure *machine_figure(const struct machine *machine, const char *name);

/* Returns the part of a level that one work-item can use: each CU has its own L1 (RDNA: L0), each die its own L2. */
double machine_level_own_bytes(const struct machine *machine, const struct machine_level *level);

/* Returns NULL if the machine has no such unit. All 8-bit floats ("matrix_e4m3", "matrix_e5m2fnuz", ...) use
 * "matrix_fp8" if they have no unit of their own. */
const struct machine_unit *machine_unit(const struct machine *machine, const char *name);

/* Returns NULL if such a link is unknown. */
const struct machine_link *machine_link(const struct machine *machine, const char *name);

/* A measured machine's vendor peaks are derived from the clock during its measurement. If the device now runs at a
 * higher clock, this raises them accordingly, so that a correct result does not become impossible. A data sheet's
 * numbers are not changed; for cards above their boost clock (a GeForce at light load) the limit is machine_unit_limit.
 * A lower or unknown (NaN) clock changes nothing. */
void machine_raise_clock(struct machine *machine, double core_hz);

/* Returns the vendor peak at limit_hz: only rates above it are impossible. */
double machine_unit_limit(const struct machine_unit *unit);

/* Values taken from relatives, each described like "L2 latency from mi300x". */
#define MACHINE_MAX_BORROWED 24
struct machine_borrowed {
    char what[MACHINE_MAX_BORROWED][96];
    uint32_t count;
};

/* Sets the machine's unknown bandwidths (as effective ones), latencies, launches and links to the relative's, scaled to
 * its clock and compute units. For predictions only: no ceiling is ever borrowed. */
void machine_borrow(struct machine *machine, const struct machine *relative, struct machine_borrowed *borrowed);
/* Does the same with each of the machine's relatives, nearest first; their files are in `folder`. */
enum status machine_complete(struct machine *machine, const char *folder, struct machine_borrowed *borrowed,
                             struct err *err);

/* Returns the applicable ceiling: measured, otherwise vendor; 0 if unknown. */
double ceiling_value(const struct ceiling *ceiling);
/* Returns the expected rate: measured, otherwise effective, otherwise vendor; 0 if unknown. For predictions; not a
 * ceiling. */
double ceiling_expected(const struct ceiling *ceiling);
/* Returns "measured", "vendor" or "unknown". */
const char *ceiling_kind(const struct ceiling *ceiling);

#endif
