/* SPDX-License-Identifier: MIT
 *
 * A workgroup: the initial registers of its waves, and the choice of the wave that runs next.
 */
#include <stdlib.h>
#include <string.h>

#include "walk_internal.h"

static void set_known(struct wave *wave, unsigned at, uint32_t value)
{
    if (at < SCALARS) {
        wave->s[at] = value;
        wave->s_known[at] = UINT32_MAX;
    }
}

/* The initial contents of SGPRs ("Initial Kernel Execution State" of LLVM's AMDGPUUsage). */
static void start_scalars(struct wave *wave)
{
    static const struct {
        uint32_t property;
        unsigned count;
        uint64_t value;
    } user[] = {{1, 4, 0}, {2, 2, PACKET_BASE}, {4, 2, 0}, {8, 2, KERNARG_BASE}, {16, 2, 0}, {32, 2, 0}, {64, 1, 0}};
    const struct codeobj_kernel *kernel = &wave->code->isa->code;
    const struct group *group = wave->group;
    unsigned at = 0;
    for (size_t k = 0; k < COUNT_OF(user); k++) {
        if (!(kernel->properties & user[k].property))
            continue;
        if (user[k].value) {
            set_known(wave, at, (uint32_t)user[k].value);
            set_known(wave, at + 1, (uint32_t)(user[k].value >> 32));
        }
        at += user[k].count;
    }
    at = kernel->user_sgprs;
    if (wave->code->is_gfx12) {
        set_known(wave, SCALAR_TRAP + 9, group->id[0]);
        set_known(wave, SCALAR_TRAP + 7, group->id[1] | group->id[2] << 16);
        return;
    }
    for (unsigned axis = 0; axis < 3; axis++)
        if (kernel->workgroup_ids >> axis & 1)
            set_known(wave, at++, group->id[axis]);
}

static void start_vectors(struct wave *wave)
{
    const uint32_t *block = wave->group->walker->launch->block, lanes = wave->code->wave;
    const char *target = wave->code->target;
    const bool packed = text_starts(target, "gfx90a") || text_starts(target, "gfx94") || text_starts(target, "gfx95") ||
                        text_starts(target, "gfx9-4") || text_starts(target, "gfx11") || text_starts(target, "gfx12");
    for (uint32_t k = 0; k < lanes; k++) {
        const uint32_t item = wave->number * lanes + k;
        const uint32_t id[3] = {item % block[0], item / block[0] % block[1], item / block[0] / block[1]};
        if (id[2] >= block[2])
            continue;
        wave->lanes |= UINT64_C(1) << k;
        wave->v[0][k] = packed ? id[0] | id[1] << 10 | id[2] << 20 : id[0];
        for (unsigned axis = 1; axis < 3 && !packed; axis++)
            wave->v[axis][k] = id[axis];
    }
    wave->v_known[0] = UINT64_MAX;
    if (!packed)
        wave->v_known[1] = wave->v_known[2] = UINT64_MAX;
}

static void start_wave(struct wave *wave, struct group *group, uint32_t number)
{
    const struct walker *walker = group->walker;
    const struct walk_code *code = walker->code;
    *wave = (struct wave){
        .group = group, .code = code, .number = number, .at = code->entry, .random = 88172645463325252u + number};
    wave->v = new_zeroed(code->vectors, sizeof(*wave->v));
    wave->v_known = new_zeroed(code->vectors, sizeof(*wave->v_known));
    wave->ready = new_zeroed(code->vectors, sizeof(*wave->ready));
    wave->completed = walker->options->window ? new_zeroed(walker->options->window, sizeof(*wave->completed)) : NULL;
    wave->origin = new_zeroed(code->vectors, sizeof(*wave->origin));
    wave->undecided = new_zeroed(code->count, sizeof(*wave->undecided));
    wave->traffic = new_zeroed(walker->launch->buffer_count + 1, sizeof(*wave->traffic));
    wave->last = new_zeroed(walker->launch->buffer_count + 1, sizeof(*wave->last));
    wave->executed = walker->options->counts_each ? new_zeroed(code->count, sizeof(*wave->executed)) : NULL;
    wave->time = number * walker->options->clocks.scalar;
    start_scalars(wave);
    start_vectors(wave);
    exec_set(wave, wave->lanes, UINT64_MAX);
}

void group_start(struct group *group, struct walker *walker, uint64_t number)
{
    const struct walk_launch *launch = walker->launch;
    const uint32_t items = launch->block[0] * launch->block[1] * launch->block[2], lanes = walker->code->wave;
    *group = (struct group){.walker = walker, .number = number, .wave_count = (items + lanes - 1) / lanes};
    group->id[0] = (uint32_t)(number % launch->grid[0]);
    group->id[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    group->id[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    group->lds_dwords = walker->lds_bytes / 4;
    group->lds = new_zeroed(group->lds_dwords + 1, sizeof(*group->lds));
    group->lds_known = new_zeroed(group->lds_dwords / 64 + 1, sizeof(*group->lds_known));
    lines_init(&group->l1, walker->options->l1_lines);
    lines_init(&group->l2, walker->options->l2_lines);
    lines_init(&group->distinct, 0);
    lines_init(&group->stored, 0);
    lines_init(&group->scalar, 0);
    lines_init(&group->atomics, 0);
    group->waves = new_zeroed(group->wave_count, sizeof(*group->waves));
    for (uint32_t k = 0; k < group->wave_count; k++)
        start_wave(&group->waves[k], group, k);
}

void group_end(struct group *group)
{
    FOR_EACH(struct wave, wave, group->waves, group->wave_count) {
        loops_release(wave);
        free(wave->v);
        free(wave->v_known);
        free(wave->ready);
        free(wave->completed);
        free(wave->origin);
        free(wave->undecided);
        free(wave->traffic);
        free(wave->last);
        free(wave->executed);
    }
    free(group->waves);
    free(group->lds);
    free(group->lds_known);
    lines_release(&group->l1);
    lines_release(&group->l2);
    lines_release(&group->distinct);
    lines_release(&group->stored);
    lines_release(&group->scalar);
    lines_release(&group->atomics);
}

/* All waiting waves resume when the last live wave has arrived. */
static void open_barrier(struct group *group)
{
    double latest = 0;
    for (uint32_t k = 0; k < group->wave_count; k++)
        if (group->waves[k].state == WAVE_WAITS && group->waves[k].time > latest)
            latest = group->waves[k].time;
    for (uint32_t k = 0; k < group->wave_count; k++) {
        struct wave *wave = &group->waves[k];
        if (wave->state != WAVE_WAITS)
            continue;
        wave->state = WAVE_RUNS;
        wave->time = latest + group->walker->options->clocks.barrier;
    }
}

void group_run(struct group *group)
{
    struct walker *walker = group->walker;
    for (bool alive = true; alive && !walker->over_budget;) {
        struct wave *next = NULL;
        alive = false;
        for (uint32_t k = 0; k < group->wave_count; k++) {
            struct wave *wave = &group->waves[k];
            alive |= wave->state != WAVE_ENDED;
            if (wave->state == WAVE_RUNS && (!next || wave->time < next->time))
                next = wave;
        }
        if (next) {
            wave_run(next);
            if (next->state == WAVE_ENDED && walker->visit)
                walker->visit(walker->context, group->number, next->number, next->instructions);
        } else if (alive) {
            open_barrier(group);
        }
    }
}
