/* SPDX-License-Identifier: MIT
 *
 * LDS: values, bank conflicts, and lane exchange through its crossbar.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

#define BANKS 32u /* of 4 bytes; half a wave of 64 per clock */
#define HALF 32u

/* ---- bank conflicts ---- */

/* The distinct dwords that half a wave requests. */
struct dwords {
    uint32_t items[HALF * 8];
    unsigned count, most; /* `most`: the largest number in one bank */
    uint16_t slots[512];
    uint8_t bank[BANKS];
};

static void ask(struct dwords *dwords, uint32_t dword)
{
    unsigned at = dword * UINT32_C(0x9E3779B9) >> 23;
    for (; dwords->slots[at]; at = (at + 1) & 511)
        if (dwords->items[dwords->slots[at] - 1] == dword)
            return;
    dwords->items[dwords->count++] = dword;
    dwords->slots[at] = (uint16_t)dwords->count;
    const unsigned here = ++dwords->bank[dword % BANKS];
    dwords->most = dwords->most < here ? here : dwords->most;
}

/* Computes the clocks of each half wave. Dword addresses are relative to the first lane. */
static void find_clocks(struct lds_pattern *pattern, const struct wave *wave)
{
    pattern->clocks = pattern->free_clocks = 0;
    for (unsigned half = 0; half < wave->code->wave; half += HALF) {
        struct dwords dwords;
        dwords.count = dwords.most = 0;
        memset(dwords.slots, 0, sizeof(dwords.slots));
        memset(dwords.bank, 0, sizeof(dwords.bank));
        for (unsigned k = half; k < half + HALF; k++)
            for (unsigned part = 0; part < pattern->dwords && pattern->lanes >> k & 1; part++)
                ask(&dwords, pattern->distance[k] + part);
        const unsigned least = (dwords.count + BANKS - 1) / BANKS;
        const unsigned most = wave->group->walker->options->no_conflicts ? least : dwords.most;
        pattern->clocks += most ? most : 1;
        pattern->free_clocks += least ? least : 1;
    }
}

/* Patterns are cached, since instructions repeat them in all waves of all workgroups. */
static void count_clocks(struct wave *wave, const struct op *op, const struct values *address, int64_t offset)
{
    struct lds_pattern pattern = {.lanes = wave->exec & address->known, .dwords = op->access->dwords};
    struct walker *walker = wave->group->walker;
    if (walker->only_lines)
        return;
    struct lds_pattern *last = &walker->lds_patterns[(size_t)(op - wave->code->ops) % COUNT_OF(walker->lds_patterns)];
    const unsigned some = pattern.lanes ? (unsigned)__builtin_ctzll(pattern.lanes) : 0;
    const uint32_t add = (uint32_t)offset, from = (address->lanes[some] + add) / 4;
    for (unsigned k = 0; k < LANES; k++) {
        const uint32_t on = pattern.lanes >> k & 1 ? UINT32_MAX : 0;
        pattern.distance[k] = ((address->lanes[k] + add) / 4 - from) & on;
    }
    if (!(last->free_clocks > 0) || last->lanes != pattern.lanes || last->dwords != pattern.dwords ||
        memcmp(last->distance, pattern.distance, sizeof(pattern.distance)) != 0) {
        find_clocks(&pattern, wave);
        *last = pattern;
    }
    wave->sums.lds_clocks += last->clocks;
    wave->sums.lds_free_clocks += last->free_clocks;
}

/* ---- values ---- */

bool lds_read(const struct group *group, uint64_t dword, uint32_t *value)
{
    *value = 0;
    if (dword >= group->lds_dwords)
        return true; /* out-of-range reads return 0 */
    *value = group->lds[dword];
    return group->lds_known[dword / 64] >> dword % 64 & 1;
}

void lds_write(struct group *group, uint64_t dword, uint32_t value, bool known)
{
    if (dword >= group->lds_dwords)
        return;
    const uint64_t bit = UINT64_C(1) << dword % 64;
    group->lds[dword] = value;
    group->lds_known[dword / 64] = known ? group->lds_known[dword / 64] | bit : group->lds_known[dword / 64] & ~bit;
}

/* ---- lanes through the crossbar ---- */

/* Pull: each lane names the lane that it reads. Push: each lane names the lane that it writes to; the last writer
 * wins. */
static void permute(struct wave *wave, const struct op *op, const struct values *address)
{
    const bool pull = op->access->kind == ACCESS_PERMUTE;
    const unsigned wave_lanes = wave->code->wave;
    struct values data;
    uint32_t result[LANES] = {0};
    uint64_t known = pull ? 0 : address->known & wave->exec ? UINT64_MAX : 0;
    vector_get(&data, wave, operand_at(op, op->access->data), 0);
    for (unsigned k = 0; k < wave_lanes; k++) {
        const unsigned other = (unsigned)((int64_t)address->lanes[k] + op->access->offset) / 4 % wave_lanes;
        if (pull) {
            const bool on = wave->exec >> other & 1; /* inactive lanes give 0 */
            result[k] = on ? data.lanes[other] : 0;
            known |= (uint64_t)(address->known >> k & (on ? data.known >> other : 1) & 1) << k;
        } else if (wave->exec >> k & 1) {
            result[other] = data.lanes[k];
            known = (known & ~(UINT64_C(1) << other)) | (data.known >> k & 1) << other;
        }
    }
    if (!pull && (wave->exec & ~address->known))
        known = 0;
    vector_set(wave, operand_at(op, op->access->destination), 0, result, known);
}

/* Parses "offset:swizzle(BITMASK_PERM, "00p11")" and its variants, or a number. */
static bool swizzle_pattern(unsigned *pattern, const char *operands)
{
    const char *at = strstr(operands, "swizzle("), *mask = at ? strchr(at, '"') : NULL;
    if (!at) {
        at = strstr(operands, "offset:");
        *pattern = at ? (unsigned)strtoul(at + strlen("offset:"), NULL, 0) & 0xffff : 0;
        return true;
    }
    const char *numbers = strchr(at, ',');
    if (text_starts(at, "swizzle(SWAP,") && numbers)
        *pattern = 31u | (unsigned)strtoul(numbers + 1, NULL, 0) << 10;
    else if (text_starts(at, "swizzle(REVERSE,") && numbers)
        *pattern = 31u | (unsigned)(strtoul(numbers + 1, NULL, 0) - 1) << 10;
    else if (text_starts(at, "swizzle(BITMASK_PERM,") && mask && strlen(mask) > 5) {
        unsigned kept = 0, set = 0, flipped = 0;
        for (unsigned k = 0; k < 5; k++) {
            const unsigned bit = 16u >> k;
            kept |= mask[1 + k] == 'p' || mask[1 + k] == 'i' ? bit : 0;
            set |= mask[1 + k] == '1' ? bit : 0;
            flipped |= mask[1 + k] == 'i' ? bit : 0;
        }
        *pattern = kept | set << 5 | flipped << 10;
    } else {
        return false;
    }
    return true;
}

static void swizzle(struct wave *wave, const struct op *op)
{
    struct values data;
    uint32_t result[LANES] = {0};
    uint64_t known = 0;
    unsigned pattern = 0;
    vector_get(&data, wave, operand_at(op, op->access->data), 0);
    if (swizzle_pattern(&pattern, op->in->operands))
        for (unsigned k = 0; k < LANES; k++) {
            /* Either a quad permutation of 2 bits each, or and, or and xor masks within 32 lanes. */
            const unsigned within = (((k & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
            const unsigned from =
                pattern & 0x8000 ? (k & ~3u) + (pattern >> 2 * (k & 3) & 3) : ((k & ~31u) + within) & 63;
            const bool on = wave->exec >> from & 1;
            result[k] = on ? data.lanes[from] : 0;
            known |= (on ? data.known >> from & 1 : 1) << k;
        }
    vector_set(wave, operand_at(op, op->access->destination), 0, result, known);
}

/* ---- one instruction ---- */

/* One of the elements of an access. */
static void move_element(struct wave *wave, const struct op *op, const struct values *address, unsigned element)
{
    const struct isa_access *access = op->access;
    const int64_t offset = element ? access->offset1 : access->offset;
    struct addresses at = {.known = address->known};
    for (unsigned k = 0; k < LANES; k++)
        at.lanes[k] = (uint32_t)((int64_t)address->lanes[k] + offset);
    if (access->kind == ACCESS_LOAD) {
        values_load(wave, op, &at, wave->exec & at.known, element * access->dwords);
    } else if (access->kind == ACCESS_STORE) {
        if (wave->exec & ~at.known) /* may store anywhere */
            memset(wave->group->lds_known, 0, (wave->group->lds_dwords / 64 + 1) * sizeof(uint64_t));
        values_store(wave, op, &at, element ? access->data1 : access->data);
    } else { /* gfx9's ds_cmpst has the compare value first, gfx11's ds_cmpstore the new value */
        const bool compares = access->operation == ATOMIC_CMPSWAP;
        const bool swapped = compares && !strstr(op->in->mnemonic, "cmpstore");
        values_atomic(wave, op, &at, swapped ? access->data1 : access->data,
                      compares && !swapped ? access->data1 : access->data);
    }
}

static void move_values(struct wave *wave, const struct op *op, const struct values *address)
{
    const struct isa_access *access = op->access;
    const unsigned elements = access->pair && access->kind != ACCESS_ATOMIC ? 2 : 1;
    if (op->unneeded)
        vector_forget(wave, operand_at(op, access->destination));
    for (unsigned k = 0; k < elements && !op->unneeded; k++)
        move_element(wave, op, address, k);
    count_clocks(wave, op, address, access->offset);
    if (access->pair)
        count_clocks(wave, op, address, access->offset1);
}

/* More than any workgroup has. Kernels give a lane a larger address to switch it off. */
#define LDS_MOST (256u * 1024u)

void lds_execute(struct wave *wave, const struct op *op)
{
    const struct isa_access *access = op->access;
    const double before = wave->sums.lds_clocks;
    static const uint32_t none[LANES];
    struct values address, copy;
    guess_matters(wave);
    if (op->unneeded && wave->group->walker->only_lines) {
        vector_forget(wave, operand_at(op, access->destination));
        return;
    }
    vector_get(&address, wave, operand_at(op, access->address), 0);
    /* The result may overwrite the address register. */
    memcpy(copy.own, address.lanes, sizeof(copy.own));
    copy.lanes = copy.own;
    copy.known = address.known;
    if (op->unneeded && access->kind >= ACCESS_PERMUTE) {
        vector_forget(wave, operand_at(op, access->destination));
    } else if (access->kind == ACCESS_NONE) {
        for (unsigned part = 0; part < access->dwords; part++)
            vector_set(wave, operand_at(op, access->destination), part, none, 0);
    } else if (access->kind == ACCESS_SWIZZLE) {
        swizzle(wave, op);
    } else if (access->kind == ACCESS_PERMUTE || access->kind == ACCESS_PERMUTE_BACK) {
        permute(wave, op, &copy);
    } else {
        struct walker *walker = wave->group->walker;
        uint64_t lanes[LANES];
        /* A launch may have less LDS than its kernel uses, because the code does not give the size of dynamic LDS. */
        for (uint64_t left = wave->exec & copy.known; left; left &= left - 1) {
            const uint32_t at = (uint32_t)((int64_t)copy.lanes[__builtin_ctzll(left)] + access->offset);
            const uint64_t end = (uint64_t)at + (access->bytes < 4 ? access->bytes : 4 * access->dwords);
            if (end > walker->lds_bytes && end > walker->lds_beyond && at < LDS_MOST)
                walker->lds_beyond = end;
        }
        for (unsigned k = 0; k < LANES && wave->watching; k++)
            lanes[k] = copy.lanes[k];
        if (wave->watching)
            loop_accessed(wave, op, lanes, copy.known, wave->exec);
        if (wave->group->lds_dwords)
            move_values(wave, op, &copy);
    }
    if (wave->sums.lds_clocks == before) { /* only the crossbar was used */
        wave->sums.lds_clocks += wave->code->wave / HALF;
        wave->sums.lds_free_clocks += wave->code->wave / HALF;
    }
    queue_push(wave, COUNTER_LDS,
               wave->time + wave->group->walker->options->clocks.lds + wave->sums.lds_clocks - before);
}
