/* SPDX-License-Identifier: MIT
 *
 * Inside the walk: text of instructions -> operations with their meaning -> waves that execute them.
 */
#ifndef ROOFTILE_WALK_INTERNAL_H
#define ROOFTILE_WALK_INTERNAL_H

#include <string.h>

#include "rooftile/text.h"
#include "rooftile/walk.h"

#define LANES 64u
#define SCALARS 128u /* SGPRs, VCC, trap registers, M0 and EXEC, at the numbers of their encoding */
#define VECTORS 512u /* VGPRs, then AGPRs */
#define MAX_SOURCES 6u
#define NAME_ROOM 64u

/* The float whose bits are the low 32, and the other way. */
static inline float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof(value));
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Of the low 32 bits. */
static inline uint32_t bits_reversed(uint64_t value)
{
    uint32_t result = 0;
    for (unsigned k = 0; k < 32; k++)
        result |= (uint32_t)(value >> k & 1) << (31 - k);
    return result;
}

/* ---- operations: walk_decode.c ---- */

/* How a VALU instruction moves or picks lanes and bytes of its first operands: DPP and SDWA. */
enum lane_move {
    MOVE_NONE,
    MOVE_QUAD,
    MOVE_SHL,
    MOVE_SHR,
    MOVE_ROR,
    MOVE_MIRROR,
    MOVE_HALF_MIRROR,
    MOVE_BCAST15,
    MOVE_BCAST31,
    MOVE_SHARE,
    MOVE_XMASK,
    MOVE_EIGHT,
    MOVE_WAVE_SHL,
    MOVE_WAVE_SHR
};

struct modifiers {
    uint8_t move, amount; /* enum lane_move */
    uint8_t row_mask, bank_mask;
    bool bound_zero;  /* lanes without a source read 0 */
    bool fetches_off; /* lanes that are off can be read */
    uint32_t pattern; /* quad_perm: 2 bits each; dpp8: 3 bits each */
    bool sdwa;
    uint8_t select[2]; /* of the sources, walk_values.c */
    bool writes_part;  /* only a part of the destination; the rest of it is not followed */
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;
};

#define QUEUE_ROOM 64u

struct wave;
struct op;
typedef void execute_fn(struct wave *wave, const struct op *op);
/* All lanes at once: 32-bit values, and 64-bit ones. */
typedef void lanes_fn(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c);
typedef uint64_t wide_fn(uint64_t a, uint64_t b, uint64_t c);
/* A scalar result; *scc is the carry-in, and then what the instruction sets it to. */
typedef uint64_t scalar_fn(uint64_t a, uint64_t b, bool *scc);

/* Which halves of 64-bit sources the halves of the result depend on. */
enum halves {
    HALVES_ALL,
    HALVES_UP /* the low one on low ones alone */,
    HALVES_DOWN /* the high one on high ones alone */
};

enum meaning_flags {
    SOURCE0_WIDE = 1,
    SOURCE1_WIDE = 2,
    SOURCE2_WIDE = 4,
    RESULT_WIDE = 8,
    IS_FLOAT = 16,       /* neg and abs change the sign bit */
    ADDS_TO_RESULT = 32, /* the destination is the last source */
    SETS_SCC = 64,
    READS_SCC = 128,
    IS_SLOW = 256, /* a product of 32 bits */
    SCC_OWN = 512, /* set by the function, else: the result is not zero */
};

struct meaning {
    const char *names; /* without encoding, with a blank between them */
    execute_fn *execute;
    lanes_fn *lanes;
    wide_fn *wide;
    scalar_fn *scalar;
    uint8_t sources;
    uint8_t halves; /* enum halves */
    uint8_t class;  /* enum walk_class */
    uint16_t flags; /* enum meaning_flags */
    uint8_t detail; /* what execute wants to know besides */
};
extern const struct meaning vector_meanings[], scalar_meanings[];
extern const size_t vector_meaning_count, scalar_meaning_count;

struct op {
    const struct isa_instruction *in;
    execute_fn *execute; /* NULL: not known */
    const struct meaning *meaning;
    uint8_t class;
    uint8_t operand_count;
    uint8_t width; /* compares and scalar masks: bits of their operands */
    uint8_t relation, type;
    struct isa_operand operands[MAX_SOURCES]; /* AGPRs stand behind the VGPRs */
    const struct modifiers *modifiers;        /* NULL: none */
    const struct isa_access *access;
    struct op *second;      /* of a VOPD */
    size_t target;          /* of a branch: its operation; NO_TARGET */
    uint32_t clocks;        /* s_nop, matrix instructions */
    uint16_t sources_first; /* operands from here on are read */
    bool unknown_data;      /* floating point that is not followed, and not reported */
    bool serves_access;     /* in no loop, or in one that accesses global memory */
    bool takes_lanes;       /* in a loop that takes a wave's lanes one after the other */
    bool is_index;          /* vector arithmetic of whole numbers, where it serves accesses */
    bool is_f64;            /* vector arithmetic of f64, conversions to and from it too */
    bool unneeded;          /* no address, scalar, mask or branch depends on its result, so it is not computed */
};
#define NO_TARGET SIZE_MAX

struct walk_code {
    const struct isa_kernel *isa;
    const char *target;
    struct op *ops;
    size_t count;
    size_t entry;     /* where a wave begins: functions may lie before it */
    uint32_t wave;    /* lanes */
    uint32_t vectors; /* registers that a wave needs here, AGPRs behind VGPRs */
    uint32_t first_acc;
    bool is_gfx12, is_gfx10; /* gfx10 and later: stores have a counter of their own */
};

/* Sets `unneeded`: walk_needed.c. */
void needed_find(struct walk_code *code);

/* ---- memory: walk_memory.c, walk_cache.c ---- */

/* Pages of 256 bytes, evaluated from fills when they are first read. */
#define PAGE_DWORDS 64u
struct page {
    uint64_t key;   /* address / 256 */
    uint64_t known; /* dwords */
    bool written;
    uint32_t values[PAGE_DWORDS];
};
struct memory {
    const struct walk_launch *launch;
    struct page **slots;
    size_t slot_count, page_count;
    struct page *last;
    uint8_t kernarg[4096], kernarg_known[4096];
    size_t kernarg_bytes;
    bool *unknown; /* per buffer: what it held is not known any more */
    bool *stored;  /* per buffer: somebody stored to it */
};
#define KERNARG_BASE UINT64_C(0x200000)
#define PACKET_BASE UINT64_C(0x300000) /* the dispatch packet */
#define SCRATCH_BASE UINT64_C(0x20000000000000)
#define NO_BUFFER SIZE_MAX

void memory_init(struct memory *memory, const struct walk_launch *launch, struct arena *arena);
void memory_release(struct memory *memory);
void memory_forget_written(struct memory *memory);
void memory_forget_buffer(struct memory *memory, size_t buffer);
bool memory_read(struct memory *memory, uint64_t address, uint32_t *value); /* a dword, at a multiple of 4 */
void memory_write(struct memory *memory, uint64_t address, uint32_t value, bool known);
size_t memory_buffer(const struct memory *memory, uint64_t address); /* or NO_BUFFER */
bool memory_is_blank(const struct memory *memory, size_t buffer);    /* nothing in it is known */

/* Sets of lines; beyond the limit the least recently used line is dropped. */
struct lines {
    struct line {
        uint64_t line;
        uint32_t newer, older, next; /* by use; in its bucket. Number + 1, 0: none */
    } * items;
    uint32_t *buckets;
    uint32_t count, room, bucket_count, limit; /* limit 0: none */
    uint32_t newest, oldest;
};
void lines_init(struct lines *lines, uint64_t limit);
void lines_release(struct lines *lines);
bool lines_has(const struct lines *lines, uint64_t line);
bool lines_touch(struct lines *lines, uint64_t line); /* it was there */
void lines_drop(struct lines *lines, uint64_t line);

/* ---- a wave ---- */

struct loop; /* walk_loop.c */

/* An access of LDS by its lanes' distances: shifted by whole dwords it has the same conflicts. */
struct lds_pattern {
    uint64_t lanes;
    uint32_t dwords, distance[LANES];
    double clocks, free_clocks;
};

enum wave_state { WAVE_RUNS, WAVE_WAITS, WAVE_ENDED };

struct wave {
    struct group *group;
    const struct walk_code *code;
    uint32_t s[SCALARS], s_known[SCALARS];
    uint32_t (*v)[LANES];
    uint64_t *v_known;
    double *ready;        /* when a vector register's value is there */
    double *completed;    /* when the last `window` ones of arithmetic were, in a ring; NULL: in order */
    uint64_t computed;    /* that many of them so far */
    uint8_t *origin;      /* 1 + the buffer that the pointer in it leads to; 0: not known */
    uint64_t exec, lanes; /* lanes: those that exist */
    /* The operation that wrote EXEC from unknown data, the lanes that it guessed, and the lanes before it, whose return
     * ends the guess. NULL: none, or a branch or an access has depended on it and it counts as decided. */
    const struct op *guessed;
    uint64_t uncertain, guessed_of;
    bool scc, scc_known, scc_compared; /* by s_cmp, or what follows from one */
    enum wave_state state;
    uint32_t number;
    size_t at; /* the operation to execute next */
    double time, matrix_free;
    double queue[COUNTERS][QUEUE_ROOM];
    uint32_t queue_first[COUNTERS], queue_count[COUNTERS];
    uint64_t instructions;
    struct walk_sums sums;
    struct walk_traffic *traffic;
    uint64_t *last;                  /* line of each row of traffic */
    uint64_t stored_at, stored_step; /* by the last store, and how far that was from the one before */
    double *executed;                /* per operation; NULL: not asked for */
    uint64_t random;
    uint32_t *undecided; /* per operation: unknown decisions in a row */
    struct loop **loops;
    size_t loop_count;
    struct loop *recording; /* whose compares are kept */
    unsigned watching;      /* loops whose accesses are kept */
};
/* walk_cache.c: how many lines it is from the one before in this row of the wave's traffic; of the first 0. */
uint64_t lines_way(struct wave *wave, uint64_t line, const struct walk_traffic *traffic);
/* Does a store begin a run where another core stores, too? A run ends with its pair of lines, and where a step is
 * longer than the one before: over what is another's. */
bool lines_contend(struct wave *wave, uint64_t address);
/* Cores fetch lines in pairs: who stores to one of a pair takes the other as well. */
#define PAIR_SHIFT 1
/* Counts the way to a line that is moved. */
void lines_step(struct walk_traffic *traffic, uint64_t way, unsigned line_shift);

/* One workgroup. */
struct group {
    struct walker *walker;
    uint64_t number;
    uint32_t id[3];
    struct wave *waves;
    uint32_t wave_count;
    uint32_t *lds;
    uint64_t *lds_known; /* bits */
    size_t lds_dwords;
    struct lines l1, l2, distinct, stored, scalar;
    struct lines atomics; /* addresses */
    double l1_free;       /* when L1 has done what was asked of it */
};

struct walker {
    const struct walk_launch *launch;
    const struct walk_code *code;
    const struct walk_options *options;
    struct memory memory;
    struct lines shared;    /* that neighbours have read before the sample does */
    struct lines awaited;   /* that others read at the same time: one for all, and all wait */
    struct lines atomics;   /* addresses that they hit with atomics */
    struct lines contended; /* pairs of lines that another core's workgroup stores to */
    bool has_shared;
    uint32_t found;  /* the sample's first lines that are shared */
    bool only_lines; /* which lines are loaded is asked, not how long it takes */
    uint32_t line_shift;
    uint64_t left; /* instructions of the budget */
    bool over_budget;
    size_t lds_bytes;
    uint64_t lds_beyond;
    struct lds_pattern lds_patterns[64]; /* by operation: the last one */
    bool tracks_results;                 /* results of vector instructions are awaited */
    struct walk_result *result;
    walk_wave_fn *visit;
    void *context;
    struct arena *arena;
};

/* walk_values.c */
void scalar_get(const struct wave *wave, const struct isa_operand *operand, unsigned part, uint32_t *value,
                uint32_t *known);
void scalar_get64(const struct wave *wave, const struct isa_operand *operand, uint64_t *value, uint64_t *known);
void scalar_set(struct wave *wave, const struct isa_operand *operand, unsigned part, uint32_t value, uint32_t known);
void scalar_set64(struct wave *wave, const struct isa_operand *operand, uint64_t value, uint64_t known);
void exec_set(struct wave *wave, uint64_t value, uint64_t known);
void mask_get(const struct wave *wave, const struct isa_operand *operand, uint64_t *value, uint64_t *known);
void mask_set(struct wave *wave, const struct isa_operand *operand, uint64_t value, uint64_t known);
struct values {
    const uint32_t *lanes;
    uint64_t known;
    uint32_t own[LANES];
};
void vector_get(struct values *values, const struct wave *wave, const struct isa_operand *operand, unsigned part);
/* With neg, abs, DPP and SDWA of the instruction. */
void vector_source(struct values *values, const struct wave *wave, const struct op *op, unsigned number, unsigned part);
void vector_set(struct wave *wave, const struct isa_operand *operand, unsigned part, const uint32_t *lanes,
                uint64_t known);
void vector_forget(struct wave *wave, const struct isa_operand *operand); /* in the lanes that are on */
void vector_set_op(struct wave *wave, const struct op *op, unsigned part, const uint32_t *lanes, uint64_t known);

/* walk_group.c */
void group_start(struct group *group, struct walker *walker, uint64_t number);
void group_run(struct group *group);
void group_end(struct group *group);

/* walk.c */
void wave_run(struct wave *wave);
bool coin_toss(struct wave *wave);
void note_undecided(struct wave *wave, const struct op *op);
void guess_matters(struct wave *wave); /* a branch, an address or an access depends on EXEC */
void note_not_executed(struct walker *walker, const struct op *op);

/* walk_modifiers.c */
const struct isa_operand *operand_at(const struct op *op, int number); /* of kind OPERAND_NONE: there is none */
const struct modifiers *modifiers_read(const char *name, const char *text, struct arena *arena);

/* walk_access.c, walk_scalar_load.c, walk_lds.c */
execute_fn access_execute, scalar_load_execute, lds_execute;
uint32_t atomic_apply(unsigned operation, uint32_t old, uint32_t data, uint32_t other, bool *known);
uint32_t part_of(const struct isa_access *access, uint64_t address, uint32_t dword);
void queue_push(struct wave *wave, enum isa_counter queue, double done);
void queue_wait(struct wave *wave, enum isa_counter queue, unsigned most);

/* walk_scalar.c, walk_vector.c, walk_compare.c */
execute_fn branch_execute, compare_execute;
/* Fills what the name of a compare tells. */
bool compare_decode(struct op *op, const char *name, const struct walk_code *code);

/* walk_loop.c: passes of loops. loop_compared with no distance: a branch that no compare decides. */
void loop_turned(struct wave *wave, size_t branch, size_t target);
void loop_compared(struct wave *wave, const struct op *op, const int64_t *distance, uint64_t lanes, bool is_float);
/* Memory that it touches, or LDS: address of each lane. */
void loop_accessed(struct wave *wave, const struct op *op, const uint64_t *address, uint64_t known, uint64_t lanes);
void loops_release(struct wave *wave);

#endif
