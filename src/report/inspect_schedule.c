/* SPDX-License-Identifier: MIT
 *
 * Live registers along the code of an inspected kernel, and one wave's timing in an iteration of its hot loop.
 */

#include "report_internal.h"
#include "rooftile/file.h"
#include "rooftile/inspection.h"
#include "rooftile/targets.h"

enum { ALONG = 64, SHOWN_WAITS = 8 };

/* ---- live registers ---- */

static struct cell along_cell(const uint16_t *counts, size_t count, struct arena *arena)
{
    struct table *list = table_list(arena);
    const size_t parts = count < ALONG ? count : ALONG;
    for (size_t part = 0; part < parts; part++) {
        unsigned most = 0;
        for (size_t i = count * part / parts; i < count * (part + 1) / parts; i++)
            most = counts[i] > most ? counts[i] : most;
        const struct cell cell = cell_number(most);
        table_add(list, &cell);
    }
    return cell_table(list);
}

struct cell inspect_live_cell(const struct isa_kernel *isa, const char *target, struct arena *arena)
{
    struct isa_live live;
    if (target_is_nvidia(target))
        return cell_unknown(NULL);
    isa_live_find(&live, isa, arena);
    struct table *record = table_record(arena);
    table_member(record, "vgprs", NULL, cell_number(live.vgprs[live.peak]));
    table_member(record, "agprs", NULL, cell_number(live.agprs[live.peak]));
    table_member(record, "address", NULL, inspect_address(isa->instructions[live.peak].address, arena));
    table_member(record, "loop", NULL, inspect_loop(isa->instructions[live.peak].loop));
    table_member(record, "vgprs_along", NULL, along_cell(live.vgprs, isa->instruction_count, arena));
    table_member(record, "agprs_along", NULL, along_cell(live.agprs, isa->instruction_count, arena));
    return cell_table(record);
}

/* ---- the hot loop ---- */

#define OF_SCHEDULE(member) FIELD(struct isa_schedule, member)
#define OF_WAIT(member) FIELD(struct isa_wait, member)

static struct table *waits_of(const struct isa_schedule *schedule, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "address"},
        {.key = "instruction"},
        {.key = "loads", OF_WAIT(loads)},
        {.key = "stores", OF_WAIT(stores)},
        {.key = "lds", OF_WAIT(lds)},
        {.key = "scalar", OF_WAIT(scalar)},
        {.key = "global_bytes_per_lane", OF_WAIT(bytes)},
        {.key = "clocks_since_issue", OF_WAIT(clocks_since_issue)},
        {.key = "in_flight_bytes_per_wave", OF_WAIT(in_flight_bytes)},
    };
    struct table *table = TABLE(arena, columns);
    FOR_EACH(const struct isa_wait, wait, schedule->waits, schedule->wait_count) {
        const struct isa_instruction *in = wait->instruction;
        struct cell *cells = table_add_object(table, wait)->cells;
        cells[0] = inspect_address(wait->address, arena);
        cells[1] = cell_text(arena_printf(arena, "%s %s", in->mnemonic, in->operands));
    }
    return table;
}

struct cell inspect_schedule_cell(const struct isa_kernel *isa, size_t loop, const char *target, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "issue_clocks", OF_SCHEDULE(issue_clocks)},
        {.key = "vector_clocks", OF_SCHEDULE(vector_clocks)},
        {.key = "matrix_clocks", OF_SCHEDULE(matrix_clocks)},
        {.key = "chain_clocks", OF_SCHEDULE(chain_clocks)},
        {.key = "matrix_gap_clocks", OF_SCHEDULE(gap_clocks)},
        {.key = "largest_matrix_gap_clocks", OF_SCHEDULE(largest_gap_clocks)},
        {.key = "masked_share", OF_SCHEDULE(masked_share)},
    };
    struct isa_schedule schedule;
    if (target_is_nvidia(target))
        return cell_unknown(NULL);
    isa_schedule_find(&schedule, isa, loop, target, arena);
    struct table *record = RECORD_OF(arena, columns, &schedule);
    table_member(record, "waits", NULL, cell_table(waits_of(&schedule, arena)));
    return cell_table(record);
}

static void add_part(struct text *lines, unsigned count, const char *what, const char *several, size_t start)
{
    if (count)
        text_addf(lines, "%s%u %s", lines->length > start ? ", " : "", count, count == 1 ? what : several);
}

static void wait_line(struct text *lines, const struct isa_wait *wait)
{
    text_addf(lines, "    %llx %s %s for ", (unsigned long long)wait->address, wait->instruction->mnemonic,
              wait->instruction->operands);
    const size_t start = lines->length;
    add_part(lines, wait->loads, "load", "loads", start);
    add_part(lines, wait->stores, "store", "stores", start);
    if (wait->bytes)
        text_addf(lines, " of %llu B/lane", (unsigned long long)wait->bytes);
    add_part(lines, wait->lds, "LDS access", "LDS accesses", start);
    add_part(lines, wait->scalar, "scalar load", "scalar loads", start);
    if (!isnan(wait->clocks_since_issue))
        text_addf(lines, ", the last issued %.0f clocks before", wait->clocks_since_issue);
    if (wait->in_flight_bytes)
        text_addf(lines, "; %llu B/wave in flight", (unsigned long long)wait->in_flight_bytes);
    text_add(lines, "\n");
}

static void clock_lines(struct text *lines, const struct isa_schedule *s, const char *target)
{
    /* Share of its busiest unit: other waves fill the remaining slots. */
    const double busy =
        text_starts(target, "gfx9") ? fmax(s->vector_clocks, s->matrix_clocks) : s->vector_clocks + s->matrix_clocks;
    if (isnan(s->issue_clocks)) {
        text_add(lines, "  a turn of it: the time of its matrix instructions is not known\n");
    } else {
        text_addf(lines,
                  "  a turn of it issues in %.0f clocks (vector %.0f, matrix %.0f); longest dependent chain %.0f",
                  s->issue_clocks, s->vector_clocks, s->matrix_clocks, s->chain_clocks);
        if (s->chain_clocks > s->issue_clocks && busy > 0)
            text_addf(lines, ": %.1f waves per SIMD fill it", s->chain_clocks / busy);
        text_add(lines, "\n");
    }
    if (s->gap_clocks > 0)
        text_addf(lines, "  gaps between its matrix instructions: %.0f clocks, the largest %.0f before %#llx\n",
                  s->gap_clocks, s->largest_gap_clocks, (unsigned long long)s->largest_gap_address);
    if (s->masked_share > 0)
        text_addf(lines, "  %.0f %% of its vector and memory instructions with lanes that may be off\n",
                  100 * s->masked_share);
}

void inspect_schedule(struct text *lines, const struct isa_kernel *isa, const struct isa_hot *hot, const char *target,
                      struct arena *arena)
{
    struct isa_schedule schedule;
    if (target_is_nvidia(target))
        return;
    if (hot) {
        isa_schedule_find(&schedule, isa, hot->loop, target, arena);
        clock_lines(lines, &schedule, target);
        /* If there are many, lists waits for memory only: waits for LDS are short. */
        size_t shown = 0;
        FOR_EACH(const struct isa_wait, wait, schedule.waits, schedule.wait_count)
            if (shown < SHOWN_WAITS && (schedule.wait_count <= SHOWN_WAITS || wait->loads || wait->stores)) {
                wait_line(lines, wait);
                shown++;
            }
        if (schedule.wait_count > shown)
            text_addf(lines, "    and %zu more waits\n", schedule.wait_count - shown);
    }
    struct isa_live live;
    isa_live_find(&live, isa, arena);
    const struct isa_instruction *peak = &isa->instructions[live.peak];
    text_addf(lines, "  live registers: at most %u VGPRs", live.vgprs[live.peak]);
    if (live.agprs[live.peak])
        text_addf(lines, " and %u AGPRs", live.agprs[live.peak]);
    text_addf(lines, " at once, at %#llx", (unsigned long long)peak->address);
    if (peak->loop != ISA_NO_LOOP)
        text_addf(lines, " in loop %zu", peak->loop + 1);
    if (peak->file)
        text_addf(lines, ", %s:%u", path_base(peak->file), peak->line);
    text_add(lines, "\n");
}
