/* SPDX-License-Identifier: MIT
 *
 * Results of two different devices side by side: times, distance from each device's own ceilings, and bounds. It gives
 * no verdict: even two cards of one model differ by more than the effects that a verdict looks for.
 */

#include "report_internal.h"
#include "rooftile/report.h"

struct sides {
    const struct result *of[2];
    const char *names[2];
    struct arena *arena;
    double log_speed; /* sum over `pairs` cases */
    size_t pairs, other_bounds, alone[2];
};

/* ---- matching cases ---- */

/* Returns the case with the same id; failing that, if the devices' variants have different parameters, the only case
 * with the same label. */
static const struct result_case *counterpart(const struct result *result, const struct result_case *c)
{
    const struct result_case *found = NULL;
    const size_t length = result_id_length(c->id);
    size_t same = 0;
    FOR_EACH(const struct result_case, other, result->cases, result->case_count) {
        if (result_id_length(other->id) == length && !strncmp(other->id, c->id, length))
            return other;
        if (!strcmp(other->kernel, c->kernel) && !strcmp(case_name(other), case_name(c))) {
            found = other;
            same++;
        }
    }
    return same == 1 ? found : NULL;
}

/* ---- tables ---- */

enum { CASE, ID, A_TIME, A_SHARE, A_BOUND, B_TIME, B_SHARE, B_BOUND, SPEED, BOUNDS, REASON, CELLS };

static void put_side(struct cell *cells, const struct result_case *c)
{
    const bool counts = result_case_counts(c);
    cells[0] = cell_positive(counts ? result_case_time(c) : NAN);
    cells[1] = cell_positive(counts ? c->fraction : NAN);
    cells[2] = cell_known(counts ? c->lower_bound.bound : NULL);
}

static void add_pair(struct table *table, struct sides *sides, const struct result_case *a, const struct result_case *b)
{
    struct cell *cells = table_add(table, NULL)->cells;
    const struct result_case *bad = !result_case_counts(a) ? a : !result_case_counts(b) ? b : NULL;
    const char *why = bad ? text_or_empty(bad->reason) : "";
    const char *reason = bad ? arena_printf(sides->arena, "%s: %s%s%.200s", bad == b ? "B" : "A",
                                            case_status_names[bad->status], *why ? ": " : "", why)
                             : NULL;
    const double speed = reason ? NAN : result_time_each(a) / result_time_each(b);
    const bool other = !reason && strcmp(a->lower_bound.bound, b->lower_bound.bound) != 0;
    cells[CASE] = cell_text(case_name(a));
    cells[ID] = cell_text(plain_id(sides->arena, a));
    put_side(&cells[A_TIME], a);
    put_side(&cells[B_TIME], b);
    cells[SPEED] = cell_number(speed);
    cells[BOUNDS] = reason ? cell_unknown(NULL) : cell_bool(!other);
    cells[BOUNDS].text = other ? "another bound" : "";
    if (reason)
        cells[REASON] = cell_text(reason);
    if (speed > 0) {
        cells[SPEED].text = arena_printf(sides->arena, "%.3gx", speed);
        sides->log_speed += log(speed);
        sides->pairs++;
    }
    sides->other_bounds += other;
}

static struct table *cases_of(struct sides *sides, const struct report_selection *wanted)
{
    static const struct table_column columns[CELLS] = {
        [CASE] = {.key = "case", .title = "case", .flags = COLUMN_GROUP},
        [ID] = {.key = "id"},
        [A_TIME] = {.key = "a_ns", .title = "A", .unit = UNIT_TIME},
        [A_SHARE] = {.key = "a_share", .title = "% of its ceiling", .unit = UNIT_PERCENT},
        [A_BOUND] = {.key = "a_bound", .title = "bound"},
        [B_TIME] = {.key = "b_ns", .title = "B", .unit = UNIT_TIME},
        [B_SHARE] = {.key = "b_share", .title = "% of its ceiling", .unit = UNIT_PERCENT},
        [B_BOUND] = {.key = "b_bound", .title = "bound"},
        [SPEED] = {.key = "speed", .title = "speed of B", .unit = UNIT_NUMBER},
        [BOUNDS] = {.key = "same_bound", .title = "", .drop = 1},
        [REASON] = {.key = "reason", .title = "", .flags = COLUMN_PROSE | COLUMN_OPTIONAL},
    };
    struct table *table = TABLE(sides->arena, columns);
    for (int side = 0; side < 2; side++)
        FOR_EACH(const struct result_case, c, sides->of[side]->cases, sides->of[side]->case_count) {
            const struct result_case *other = counterpart(sides->of[!side], c);
            if (!text_filtered(wanted->filters, wanted->filter_count, c->id, c->kernel))
                continue;
            sides->alone[side] += !other;
            if (other && !side)
                add_pair(table, sides, c, other);
        }
    return table;
}

static void add_ceiling(struct table *table, const char *name, const struct ceiling *a, const struct ceiling *b,
                        const char *unit)
{
    const double x = ceiling_value(a), y = ceiling_value(b);
    if (x > 0 && y > 0)
        table_add(table, (struct cell[]){cell_text(name), cell_quantity(x, unit), cell_text(ceiling_kind(a)),
                                         cell_quantity(y, unit), cell_text(ceiling_kind(b)), cell_number(y / x),
                                         cell_text(unit)});
}

/* Ceilings that both devices have: memory, and the units that bound a case. */
static struct table *ceilings_of(const struct sides *sides)
{
    static const struct table_column columns[] = {{.key = "ceiling", .title = "ceiling"},
                                                  {.key = "a", .title = "A", .unit = UNIT_NUMBER},
                                                  {.key = "a_kind", .title = ""},
                                                  {.key = "b", .title = "B", .unit = UNIT_NUMBER},
                                                  {.key = "b_kind", .title = ""},
                                                  {.key = "ratio", .title = "B / A", .unit = UNIT_NUMBER},
                                                  {.key = "unit"}};
    const struct machine *a = &sides->of[0]->machine, *b = &sides->of[1]->machine;
    struct table *table = TABLE(sides->arena, columns);
    if (a->level_count && b->level_count)
        add_ceiling(table, "memory", &a->levels[a->level_count - 1].bandwidth, &b->levels[b->level_count - 1].bandwidth,
                    UNIT_BYTE_RATE);
    FOR_EACH(const struct machine_unit, own, a->units, a->unit_count) {
        const struct machine_unit *other = machine_unit(b, own->name);
        bool bounds = false;
        for (int side = 0; side < 2; side++)
            bounds |= FIND_ROW(sides->of[side]->cases, sides->of[side]->case_count, lower_bound.ceiling_name,
                               own->name) != NULL;
        if (other && bounds)
            add_ceiling(table, own->name, &own->peak, &other->peak, machine_unit_rate(own->name));
    }
    return table;
}

/* ---- the document ---- */

enum status report_devices(struct document *document, const struct result *a, const struct result *b,
                           const struct report_selection *wanted, struct err *err)
{
    struct sides sides = {.of = {a, b}, .arena = document->arena};
    for (int k = 0; k < 2; k++) {
        if (result_check_measured(sides.of[k], err))
            return err_within(err, k ? "the new result" : "the base");
        const struct device_info *d = &sides.of[k]->device;
        sides.names[k] = arena_printf(document->arena, "%s%s", *d->name ? d->name : d->id,
                                      sides.of[k]->predicted ? " (PREDICTED: nothing was executed)" : "");
    }
    const struct table *cases = cases_of(&sides, wanted);
    struct table *head =
        schema_record(document->arena, "https://rooftile.dev/schemas/devices/1/devices.schema.json", "1.0.0");
    if (!cases->row_count)
        return err_set(err, ERR_CONFIG, "the two have no case in common%s",
                       wanted->filter_count ? " that the filter leaves" : "");
    const double speed = sides.pairs ? exp(sides.log_speed / (double)sides.pairs) : NAN;
    document->name = "devices";
    document->title =
        arena_printf(document->arena, "rooftile: %s beside %s", device_title(a->device.name, document->arena),
                     device_title(b->device.name, document->arena));
    table_member(head, "a", NULL, cell_text(sides.names[0]));
    table_member(head, "b", NULL, cell_text(sides.names[1]));
    table_member(head, "speed", NULL, cell_number(speed));
    table_member(head, "other_bounds", NULL, cell_number((double)sides.other_bounds));
    table_member(head, "only_a", NULL, cell_number((double)sides.alone[0]));
    table_member(head, "only_b", NULL, cell_number((double)sides.alone[1]));
    document_table(document, NULL, NULL, head)->show = SHOW_DATA;
    document_text(document, SHOW_PEOPLE, TONE_PLAIN, "A: %s\nB: %s", sides.names[0], sides.names[1]);
    document_table(document, "ceilings", NULL, ceilings_of(&sides));
    document_table(document, "cases", NULL, cases);
    document_text(
        document, SHOW_PEOPLE, TONE_PLAIN,
        "in the geometric mean of %zu case%s B is %.3g times as fast; another bound in %zu; without a verdict",
        sides.pairs, text_s(sides.pairs), speed, sides.other_bounds);
    if (sides.alone[0] + sides.alone[1])
        document_text(document, SHOW_PEOPLE, TONE_DIM, "only A has %zu more case%s, only B %zu", sides.alone[0],
                      text_s(sides.alone[0]), sides.alone[1]);
    return STATUS_OK;
}
