/* SPDX-License-Identifier: MIT
 *
 * Identity: the properties of a case beyond its id, as one hash per part, from the resolved plan case and its build.
 * Code that pairs, merges, resumes or tracks cases asks here whether two are the same, and which parts differ.
 *
 *   code          the code objects, or a library's file; unknown on sim and for a library before it runs
 *   launch        symbols, grids, blocks, LDS and arguments of every launch, and all other steps
 *   input data    buffers, their placement and their contents; not the run's seed
 *   verification  expected results, tolerances, and the reference with its code
 *   work          the work of one launch by its manifest: FLOP, bytes, items
 *   device        properties that distinguish devices, including the number of compute units or threads
 *
 * Fills and expectations are hashed by their values at some hundred elements, so that rewriting an expression changes
 * nothing. Two parts do not differ if one of them is unknown.
 */
#ifndef ROOFTILE_IDENTITY_H
#define ROOFTILE_IDENTITY_H

#include "rooftile/build.h"
#include "rooftile/device.h"
#include "rooftile/hash.h"
#include "rooftile/plan.h"

enum identity_part {
    IDENTITY_CODE,
    IDENTITY_LAUNCH,
    IDENTITY_INPUTS,
    IDENTITY_CHECK,
    IDENTITY_WORK,
    IDENTITY_DEVICE,
    IDENTITY_PARTS
};
#define IDENTITY_TEXT 17 /* 16 hex digits and the terminator */
#define IDENTITY_BIT(part) (1u << (part))
#define IDENTITY_ALL (IDENTITY_BIT(IDENTITY_PARTS) - 1)

struct identity {
    char parts[IDENTITY_PARTS][IDENTITY_TEXT]; /* "": unknown */
};

/* Computes the identity of a case that is ready; for other cases only the device is known. `builds`: by plan code. */
void identity_of(struct identity *out, const struct plan_case *plan, const struct build_result *builds,
                 const struct device_info *device);
/* The hash of the case's code that a result records: that of the object, or with several objects that of their hashes;
 * "" for a case that is not ready, or if nothing was built. The part `code` is its prefix. */
void identity_object(char out[static HASH_TEXT], const struct plan_case *plan, const struct build_result *builds);
void identity_take_object(struct identity *identity, const char *object_sha256);

/* The parts that differ, as IDENTITY_BITs. */
unsigned identity_differs(const struct identity *a, const struct identity *b);
/* "code, launch, input data" */
const char *identity_words(unsigned parts, struct arena *arena);

/* All parts in one line, the form in a history; any other text is read as unknown. */
#define IDENTITY_LINE (IDENTITY_PARTS * IDENTITY_TEXT)
void identity_line(char out[static IDENTITY_LINE], const struct identity *identity);
void identity_from_line(struct identity *out, const char *line);

#define IDENTITY_FACTS 14 /* number of facts of a device */
/* Fact `k` of a device: one that identifies it (`own`), or another that its results depend on. False: there are no
 * more. */
struct identity_fact {
    const char *name;
    const char *value; /* "": unknown */
    bool own;
};
bool identity_fact(struct identity_fact *out, const struct device_info *device, size_t k, struct arena *arena);

#endif
