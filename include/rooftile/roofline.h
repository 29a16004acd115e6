/* SPDX-License-Identifier: MIT
 *
 * Roofline model: pure functions of a machine and a case's work. It answers two questions:
 *
 * The roof is the line of the roofline plot that limits the case: a memory level or an arithmetic unit. The share of it
 * is  achieved rate / roof's rate,  with all bytes of `work` counted at the level: a point on the line is at 100 %.
 *     Bytes come from the nearest level that holds the footprint. Its contents at the start of a launch depend on the
 *     cache mode: hot: what the previous launch left, except in the L1 (L0) of a GPU, which is empty at each launch;
 *     cold and rotate: nothing, so the first pass comes from memory. A footprint that exceeds all caches comes from
 *     memory in every pass, and stores beyond a capacity are written back: both count as bytes of that level. The roof
 *     is the level that takes longest, or the unit if it takes longer still. If the case is faster than that level's
 *     rate, caches have kept some of its bytes, and the roof is the next nearer level.
 *     Williams, Waterman, Patterson 2009; Ilic, Pratas, Sousa 2014 (a line per level over all bytes of the kernel).
 *
 * lower_bound_ns is a lower bound of the time of one launch, whatever the caches hold: the largest of
 *     work.flops / peak of its unit, work.transcendentals / peak of the transcendental unit,
 *     and for each memory level  bytes that must cross it / its bandwidth.
 * The traffic is a lower bound too, so that the lower bound never exceeds what physics demands:
 *     hot caches:  beyond levels of capacity C at least max(0, footprint - C) bytes must come from further out, scaled
 *                  by the number of passes over the footprint (bytes / footprint, at least 1); every byte crosses the
 *                  nearest level. What `shared_by` workgroups read at the same time may come once for all.
 *                  C is the sum of all nearer capacities: exclusive and victim caches hold different bytes. In the
 *                  first pass it is without the L1 of a GPU, which is empty and keeps no stores. A footprint
 *                  larger than read + write is cut to that: one launch cannot touch more bytes than it moves;
 *     cold caches: the whole first pass over the footprint comes from the last level (and crosses every nearer one),
 *                  further passes as in hot caches. An algorithm's minimum is one pass, with all bytes from memory.
 *                  Written bytes count only beyond what the nearer caches could still hold when the launch ends.
 * There is never a step at the cache size. The lower bound of hot traffic is valid for LRU and any other policy: at
 * most C bytes can have stayed.
 */
#ifndef ROOFTILE_ROOFLINE_H
#define ROOFTILE_ROOFLINE_H

#include "rooftile/machine.h"

/* Work of one launch (one pass over the timed steps). */
struct work {
    double read_bytes, write_bytes; /* the algorithm's minimum */
    double flops;
    double items;
    double footprint_bytes;  /* distinct bytes touched */
    double shared_by;        /* workgroups that access the whole footprint at once; 0: unspecified, 1 */
    double transcendentals;  /* by TRANSCENDENTAL_UNIT, if `unit` is another; each also counts as one of flops */
    char unit[MACHINE_NAME]; /* "" if flops is 0 */
    /* "": the bytes cross the machine's levels. Otherwise the one path that they take ("host_link"): only a level or
     * link of that name gives the lower bound, and a machine without it gives none. Vendor ceilings of the other levels
     * still apply: no byte moves faster than the memory that it ends in. */
    char level[MACHINE_NAME];
    char item[MACHINE_NAME]; /* the unit of an item, if it has one: "B"; otherwise "" */
    bool steps;              /* items are steps whose latency is measured */
};

enum cache_mode { CACHE_HOT, CACHE_COLD, CACHE_ROTATE };
extern const char *const cache_mode_names[]; /* "hot" "cold" "rotate"; NULL after the last */

struct lower_bound {
    double time_ns; /* the lower bound; 0 if nothing is known */
    double memory_ns, compute_ns;
    double intensity; /* FLOP per byte of read + write; NaN without bytes */
    /* the roof: "DRAM", "vector_f32"; "launch" if an empty launch takes longer than the roof and at least half of the
     * time; "" if neither is known */
    char bound[MACHINE_NAME];
    bool bound_is_memory;            /* it is a memory level or link */
    char ceiling_name[MACHINE_NAME]; /* the same as bound if that is a roof with a known rate; otherwise "" */
    double ceiling_value;            /* its bytes/s or FLOP/s; 0 if ceiling_name is "" */
    bool ceiling_measured;
    double ridge;     /* FLOP/byte where the memory roof meets the unit's peak; NaN unknown */
    double launch_ns; /* machine->launch_ns, for the "launch_bound" forecast */
};

/* `time_ns` of the case, measured or predicted; NaN: not known (yet). */
void lower_bound_compute(struct lower_bound *lower_bound, const struct machine *machine, const struct work *work,
                         enum cache_mode cache, double time_ns);

/* Return the terms of the lower bound: the level, or the unit, that takes longest. NULL and 0 ns if no rate is
 * known. */
const struct machine_level *lower_bound_level(double *time_ns, const struct machine *machine, const struct work *work,
                                              enum cache_mode cache);
const struct machine_unit *lower_bound_unit(double *time_ns, const struct machine *machine, const struct work *work);

/* Returns the bytes that cross the level with this index if caches keep the most recently used lines, as the roof
 * counts them. */
double lower_bound_usual_bytes(const struct machine *machine, const struct work *work, enum cache_mode cache,
                               uint32_t level);

/* Returns the achieved rate / the roof's rate; NaN if either is unknown. */
double lower_bound_fraction(const struct lower_bound *lower_bound, const struct work *work, double time_ns);

/* Sets `bound` regardless of known rates: it is the roof if it is a level, or a unit that the work uses. */
void lower_bound_by(struct lower_bound *lower_bound, const struct machine *machine, const struct work *work,
                    const char *bound);

/* Returns NULL, or the first arithmetic unit that the work needs and whose peak the machine lacks. */
const char *lower_bound_lacks(const struct machine *machine, const struct work *work);

/* Whether a measured time is physically possible. */
enum plausibility {
    PLAUSIBLE,
    /* faster than a measured ceiling allows, by over 2 % and twice the ceiling's interval (of which at most 5 % count):
     * case and ceiling are measured again */
    ABOVE_MEASURED_CEILING,
    /* faster than a physical peak allows (a vendor ceiling), beyond 1 % and a tick of timer error */
    IMPOSSIBLE,
};

/* `why` is "" if plausible, otherwise a sentence with time, ceiling and ratio. In the cold mode, written bytes that may
 * still be in a cache when the launch ends are not counted against the case: a write-only kernel below the cache size
 * can beat memory without cheating. */
enum plausibility lower_bound_judge(const struct machine *machine, const struct work *work, enum cache_mode cache,
                                    double time_ns, double tick_ns, char why[static 256]);

/* True if the memory of a measured machine is slower than the minimum of a healthy card of its model, whose data sheet
 * is `sheet` (struct ceiling, `least`). `why` is "" if not, or if either bandwidth is unknown, otherwise a sentence. */
bool machine_is_slow(const struct machine *machine, const struct machine *sheet, char why[static 256]);

#endif
