/* SPDX-License-Identifier: MIT
 *
 * Internals of the walk: text of instructions -> operations with their meaning -> waves that execute them.
 */
#ifndef ROOFTILE_WALK_INTERNAL_H
#define ROOFTILE_WALK_INTERNAL_H

#include <string.h>

#include "rooftile/text.h"
#include "rooftile/walk.h"

#define LANES 64u
#define SCALARS 128u /* SGPRs, VCC, trap registers, M0 and EXEC, numbered by their encoding */
#define VECTORS 512u /* VGPRs, then AGPRs */
#define MAX_SOURCES 6u
#define NAME_ROOM 64u

/* Reinterpret the low 32 bits as a float, and a float as its bits. */
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

/* Reverses the low 32 bits. */
static inline uint32_t bits_reversed(uint64_t value)
{
    uint32_t result = 0;
    for (unsigned k = 0; k < 32; k++)
        result |= (uint32_t)(value >> k & 1) << (31 - k);
    return result;
}

/* Convert to 32-bit integers, with saturation. */
static inline uint32_t to_u32(double value)
{
    return !(value > 0) ? 0 : value >= 4294967295.0 ? UINT32_MAX : (uint32_t)value;
}

static inline uint32_t to_i32(double value)
{
    if (value != value)
        return 0;
    return value >= 2147483647.0 ? INT32_MAX : value <= -2147483648.0 ? UINT32_C(0x80000000) : (uint32_t)(int32_t)value;
}

/* ---- operations: walk_decode.c ---- */

/* DPP and SDWA: how a VALU instruction moves or selects lanes and bytes of its first operands. */
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
    uint8_t select[2]; /* of the sources; values in walk_values.c */
    bool writes_part;  /* writes only a part of the destination, whose other part is not modelled */
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;
};

#define QUEUE_ROOM 64u

struct wave;
struct op;
typedef void execute_fn(struct wave *wave, const struct op *op);
/* Compute all lanes at once: 32-bit values, and 64-bit ones. */
typedef void lanes_fn(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c);
typedef uint64_t wide_fn(uint64_t a, uint64_t b, uint64_t c);
/* Returns a scalar result; *scc is the carry-in, and receives the new SCC. */
typedef uint64_t scalar_fn(uint64_t a, uint64_t b, bool *scc);

/* Which halves of 64-bit sources each half of the result depends on. */
enum halves {
    HALVES_ALL,
    HALVES_UP /* the low half depends on low halves only */,
    HALVES_DOWN /* the high half depends on high halves only */
};

enum meaning_flags {
    SOURCE0_WIDE = 1,
    SOURCE1_WIDE = 2,
    SOURCE2_WIDE = 4,
    RESULT_WIDE = 8,
    IS_FLOAT = 16,       /* neg and abs change the sign bit */
    ADDS_TO_RESULT = 32, /* the destination is also the last source */
    SETS_SCC = 64,
    READS_SCC = 128,
    IS_SLOW = 256, /* a 32-bit product */
    SCC_OWN = 512, /* the function sets SCC; otherwise SCC is "result is not zero" */
};

struct meaning {
    const char *names; /* without encoding, separated by blanks */
    execute_fn *execute;
    lanes_fn *lanes;
    wide_fn *wide;
    scalar_fn *scalar;
    uint8_t sources;
    uint8_t halves; /* enum halves */
    uint8_t class;  /* enum walk_class */
    uint16_t flags; /* enum meaning_flags */
    uint8_t detail; /* a parameter of `execute` */
};
extern const struct meaning vector_meanings[], scalar_meanings[];
extern const size_t vector_meaning_count, scalar_meaning_count;

struct op {
    const struct isa_instruction *in;
    execute_fn *execute; /* NULL: not supported */
    const struct meaning *meaning;
    uint8_t class;
    uint8_t operand_count;
    uint8_t width; /* compares and scalar masks: bits of their operands */
    uint8_t relation, type;
    struct isa_operand operands[MAX_SOURCES]; /* AGPRs are numbered after the VGPRs */
    const struct modifiers *modifiers;        /* NULL: none */
    const struct isa_access *access;
    struct op *second;      /* of a VOPD */
    size_t target;          /* operation that a branch leads to, or NO_TARGET */
    uint32_t clocks;        /* s_nop, matrix instructions */
    uint16_t sources_first; /* operands from here on are read */
    bool unknown_data;      /* floating point that is not computed and not reported */
    bool serves_access;     /* outside loops, or in a loop that accesses global memory */
    bool is_chased;         /* a load in a loop whose address depends on its own result in the turn before */
    bool takes_lanes;       /* in a loop that processes a wave's lanes one by one */
    bool is_index;          /* integer vector arithmetic that serves accesses */
    bool is_f64;            /* vector arithmetic on f64, including conversions to and from it */
    bool unneeded;          /* no address, scalar, mask or branch depends on its result, so it is not computed */
};
#define NO_TARGET SIZE_MAX

struct walk_code {
    const struct isa_kernel *isa;
    const char *target;
    struct op *ops;
    size_t count;
    size_t entry;     /* first operation of a wave; functions may precede it */
    uint32_t wave;    /* lanes */
    uint32_t vectors; /* registers per wave, AGPRs after VGPRs */
    uint32_t first_acc;
    bool is_gfx12, is_gfx10; /* gfx10 and later have a separate counter for stores */
};

/* Sets `unneeded`; in walk_needed.c. */
void needed_find(struct walk_code *code);

/* ---- memory: walk_memory.c, walk_cache.c ---- */

/* Sets of lines. Above the limit the least recently used line is dropped. */
struct lines {
    struct line {
        uint64_t line;
        uint32_t newer, older, next; /* links by use, and in the bucket: index + 1, 0 for none */
    } * items;
    uint32_t *buckets;
    uint32_t count, room, bucket_count, limit; /* limit 0: unlimited */
    uint32_t newest, oldest;
};
void lines_init(struct lines *lines, uint64_t limit);
void lines_release(struct lines *lines);
uint32_t lines_find(const struct lines *lines, uint64_t line); /* its item + 1; 0: absent */
bool lines_has(const struct lines *lines, uint64_t line);
bool lines_touch(struct lines *lines, uint64_t line); /* returns whether it was there */
void lines_drop(struct lines *lines, uint64_t line);

/* Pages of 256 bytes, filled in when they are first read. */
#define PAGE_DWORDS 64u
struct page {
    uint64_t key;   /* address / 256 */
    uint64_t known; /* dwords */
    bool written;
    uint32_t values[PAGE_DWORDS];
};
struct memory {
    const struct walk_launch *launch;
    struct lines keys; /* without a limit, so that its items are numbered as pages are */
    struct page **pages;
    size_t page_count;
    struct page *last;
    uint8_t kernarg[4096], kernarg_known[4096];
    size_t kernarg_bytes;
    bool *unknown; /* per buffer: its contents are no longer known */
    bool *stored;  /* per buffer: something has been stored to it */
};
#define KERNARG_BASE UINT64_C(0x200000)
#define PACKET_BASE UINT64_C(0x300000) /* the dispatch packet */
#define SCRATCH_BASE UINT64_C(0x20000000000000)
#define NO_BUFFER SIZE_MAX

void memory_init(struct memory *memory, const struct walk_launch *launch, struct arena *arena);
void memory_release(struct memory *memory);
void memory_forget_written(struct memory *memory);
void memory_forget_buffer(struct memory *memory, size_t buffer);
bool memory_read(struct memory *memory, uint64_t address, uint32_t *value); /* reads a dword at a multiple of 4 */
void memory_write(struct memory *memory, uint64_t address, uint32_t value, bool known);
size_t memory_buffer(const struct memory *memory, uint64_t address); /* or NO_BUFFER */
bool memory_is_blank(const struct memory *memory, size_t buffer);    /* nothing in it is known */

/* ---- a wave ---- */

struct loop; /* walk_loop.c */

/* An LDS access by the distances between its lanes' addresses. Shifting it by whole dwords does not change its
 * conflicts. */
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
    double *ready;     /* when each vector register's value is available */
    double *completed; /* ring of the completion times of the last `window` arithmetic instructions; NULL: in order */
    uint64_t computed; /* number of them so far */
    uint8_t *origin;   /* per register: 1 + the buffer that its pointer leads to; 0: unknown */
    uint64_t exec, lanes; /* lanes: those that exist */
    /* The operation that wrote EXEC from unknown data, the lanes whose bit was guessed, and the lanes before it;
     * when these are restored the guess ends. NULL: no guess, or a branch or access has depended on it, so that it
     * counts as decided. */
    const struct op *guessed;
    uint64_t uncertain, guessed_of;
    bool scc, scc_known, scc_compared; /* scc_compared: set by s_cmp or derived from it */
    enum wave_state state;
    uint32_t number;
    size_t at; /* index of the next operation */
    double time, matrix_free;
    double queue[COUNTERS][QUEUE_ROOM];
    uint32_t queue_first[COUNTERS], queue_count[COUNTERS];
    uint64_t instructions;
    struct walk_sums sums;
    struct walk_traffic *traffic;
    uint64_t *last;                  /* last line of each traffic row */
    uint64_t stored_at, stored_step; /* address of the last store, and its distance from the one before */
    double *executed;                /* per operation; NULL: not requested */
    uint64_t random;
    uint32_t *undecided; /* per operation: unknown decisions in a row */
    struct loop **loops;
    size_t loop_count;
    struct loop *recording; /* loop whose compares are recorded */
    unsigned watching;      /* number of loops whose accesses are recorded */
};
/* In walk_cache.c: returns the distance in lines from the previous access in this traffic row of the wave; 0 for the
 * first. */
uint64_t lines_way(struct wave *wave, uint64_t line, const struct walk_traffic *traffic);
/* True if a store starts a run in lines that another core also stores to. A run ends with its pair of lines, or
 * where a step is longer than the previous one, because it then skips another core's data. */
bool lines_contend(struct wave *wave, uint64_t address);
/* Cores fetch lines in pairs: storing to one line of a pair takes ownership of both. */
#define PAIR_SHIFT 1
/* Counts the distance to a line that is moved. */
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
    double l1_free;       /* when L1 has finished its accesses */
};

struct walker {
    const struct walk_launch *launch;
    const struct walk_code *code;
    const struct walk_options *options;
    struct memory memory;
    struct lines shared; /* lines that neighbours read before the sample */
    /* lines that other workgroups read at the same time: one fetch serves all, and all wait for it */
    struct lines awaited;
    struct lines atomics;   /* addresses that the others access with atomics */
    struct lines contended; /* pairs of lines that another core's workgroup stores to */
    bool has_shared;
    uint32_t found;  /* number of leading lines of the sample known to be shared */
    bool only_lines; /* only the loaded lines are of interest, not the time */
    uint32_t line_shift;
    uint64_t left; /* instructions left in the budget */
    bool over_budget;
    size_t lds_bytes;
    uint64_t lds_beyond;
    struct lds_pattern lds_patterns[64]; /* the last pattern of each operation */
    bool tracks_results;                 /* waves wait for results of vector instructions */
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
/* Applies neg, abs, DPP and SDWA of the instruction. */
void vector_source(struct values *values, const struct wave *wave, const struct op *op, unsigned number, unsigned part);
void vector_set(struct wave *wave, const struct isa_operand *operand, unsigned part, const uint32_t *lanes,
                uint64_t known);
void vector_forget(struct wave *wave, const struct isa_operand *operand); /* in the active lanes */
void vector_set_op(struct wave *wave, const struct op *op, unsigned part, const uint32_t *lanes, uint64_t known);

/* walk_group.c */
void group_start(struct group *group, struct walker *walker, uint64_t number);
void group_run(struct group *group);
void group_end(struct group *group);

/* walk.c */
void wave_run(struct wave *wave);
bool coin_toss(struct wave *wave);
void note_undecided(struct wave *wave, const struct op *op);
void guess_matters(struct wave *wave); /* called if a branch, an address or an access depends on EXEC */
void note_not_executed(struct walker *walker, const struct op *op);

/* walk_modifiers.c */
const struct isa_operand *operand_at(const struct op *op, int number); /* has kind OPERAND_NONE if absent */
const struct modifiers *modifiers_read(const char *name, const char *text, struct arena *arena);

/* walk_access.c, walk_scalar_load.c, walk_lds.c */
execute_fn access_execute, scalar_load_execute, lds_execute;
uint32_t part_of(const struct isa_access *access, uint64_t address, uint32_t dword);
struct addresses {
    uint64_t lanes[LANES];
    uint64_t known;   /* one bit per lane */
    uint64_t outside; /* lanes beyond a buffer descriptor's records */
    size_t buffer;    /* buffer that unknown addresses point into, or NO_BUFFER */
};
/* Move one element of an access, in memory or LDS, from register `first` of the destination on, from an operand. */
void values_load(struct wave *wave, const struct op *op, const struct addresses *at, uint64_t lanes, unsigned first);
void values_store(struct wave *wave, const struct op *op, const struct addresses *at, int data);
void values_atomic(struct wave *wave, const struct op *op, const struct addresses *at, int data, int other);
bool lds_read(const struct group *group, uint64_t dword, uint32_t *value);
void lds_write(struct group *group, uint64_t dword, uint32_t value, bool known);
void queue_push(struct wave *wave, enum isa_counter queue, double done);
void queue_wait(struct wave *wave, enum isa_counter queue, unsigned most);

/* walk_scalar.c, walk_vector.c, walk_compare.c */
/* Reads 64 bits, or 32, of which the upper half is known to be 0. */
void source_get(const struct wave *wave, const struct isa_operand *operand, bool wide, uint64_t *value,
                uint64_t *known);
execute_fn branch_execute, compare_execute;
/* Decodes the compare from its name. */
bool compare_decode(struct op *op, const char *name);

/* walk_loop.c: passes of loops. loop_compared without a distance: a branch that no compare decides. */
void loop_turned(struct wave *wave, size_t branch, size_t target);
void loop_compared(struct wave *wave, const struct op *op, const int64_t *distance, uint64_t lanes, bool is_float);
/* Records an access to memory or LDS by the address of each lane. */
void loop_accessed(struct wave *wave, const struct op *op, const uint64_t *address, uint64_t known, uint64_t lanes);
void loops_release(struct wave *wave);

#endif
