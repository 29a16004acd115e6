/* SPDX-License-Identifier: MIT
 *
 * Decides whether two results, or two cases with one id, may be compared, and lists the differences between them.
 */

#include "rooftile/result.h"
#include "rooftile/units.h"

/* ---- device and host ---- */

bool result_fact(struct identity_fact *out, const struct result *result, size_t k, struct arena *arena)
{
    const struct identity_fact host[] = {{"kernel", result->kernel_release, false},
                                         {"governor", result->governor, false}};
    enum { HOST = sizeof(host) / sizeof(*host) };
    if (k >= IDENTITY_FACTS + HOST)
        return false;
    if (k < IDENTITY_FACTS)
        return identity_fact(out, &result->device, k, arena);
    *out = host[k - IDENTITY_FACTS];
    out->value = out->value ? out->value : "";
    return true;
}

static enum status refuse(const char *const names[2], const char *what, const char *a, const char *b, struct err *err)
{
    return err_set(err, ERR_CONFIG, "%s and %s are not of one run: %s '%s' and '%s'", names[0], names[1], what, a, b);
}

enum status result_same_place(const struct result *a, const struct result *b, const char *const names[2],
                              struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct identity_fact x, y;
    const char *hosts[] = {a->host_id_hash ? a->host_id_hash : "", b->host_id_hash ? b->host_id_hash : ""};
    enum status status = STATUS_OK;
    if (a->predicted != b->predicted)
        return err_set(err, ERR_CONFIG, "%s and %s are not of one run: one is predicted, the other measured", names[0],
                       names[1]);
    /* The device first: if it differs, anything else may differ, too. */
    for (int own = 1; own >= 0 && !status; own--)
        for (size_t k = 0; !status && result_fact(&x, a, k, &arena) && result_fact(&y, b, k, &arena); k++)
            if (x.own == own && strcmp(x.value, y.value) != 0)
                status = refuse(names, x.name, x.value, y.value, err);
    if (!status && strcmp(hosts[0], hosts[1]) != 0)
        status = refuse(names, "host", hosts[0], hosts[1], err);
    return status;
}

/* ---- case ---- */

static const char *shape(const uint32_t n[3], struct arena *arena)
{
    return n[2] > 1   ? arena_printf(arena, "%u x %u x %u", n[0], n[1], n[2])
           : n[1] > 1 ? arena_printf(arena, "%u x %u", n[0], n[1])
                      : arena_printf(arena, "%u", n[0]);
}

static void add_change(struct text *out, const char *name, const char *a, const char *b)
{
    if (strcmp(a, b) != 0)
        text_addf(out, "%s%s %s to %s", out->length ? ", " : "", name, a, b);
}

struct amounts {
    const char *name;
    double a, b;
};

/* Lists the amounts that differ; unknown ones (NaN) are ignored. */
static void add_amounts(struct text *out, const struct amounts *rows, size_t count, int digits)
{
    FOR_EACH(const struct amounts, row, rows, count)
        if (row->a != row->b && !isnan(row->a) && !isnan(row->b))
            text_addf(out, "%s%s %.*g to %.*g", out->length ? ", " : "", row->name, digits, row->a, digits, row->b);
}

/* The probable cause according to registers, scratch and LDS of both; "" if they suggest none. */
static const char *code_cause(const struct result_code *a, const struct result_code *b)
{
    const bool spills = b->vgpr_spills > a->vgpr_spills || b->sgpr_spills > a->sgpr_spills;
    const bool fewer_waves = b->waves_per_simd < a->waves_per_simd;
    if (a->wave != b->wave)
        return "wave size: ";
    if (b->vgpr_spills > a->vgpr_spills && b->vgprs < a->vgprs)
        return "register limit: ";
    if (spills || (fewer_waves && b->vgprs + b->agprs > a->vgprs + a->agprs))
        return "register allocation: ";
    if (b->scratch_bytes > a->scratch_bytes)
        return "an array or variable in scratch: ";
    return fewer_waves && b->lds_bytes > a->lds_bytes ? "LDS: " : "";
}

static const char *const result_issue_names[ISSUE_CLASSES] = {"VALU", "matrix", "VMEM", "LDS", "SALU", "SMEM", "waits"};

static bool is_counted(const struct result_code *code)
{
    uint32_t all = 0;
    for (int k = 0; k < ISSUE_CLASSES; k++)
        all |= code->loop_issues[k];
    return all;
}

/* "instructions in the hot loop: 120 to 144 VALU, 8 to 10 VMEM". If nothing else changed, reports that these did not
 * change either. */
static void add_issues(struct text *out, const struct result_code *a, const struct result_code *b)
{
    const size_t length = out->length;
    if (!is_counted(a) || !is_counted(b))
        return;
    for (int k = 0; k < ISSUE_CLASSES; k++)
        if (a->loop_issues[k] != b->loop_issues[k])
            text_addf(out, "%s%u to %u %s",
                      out->length > length ? ", "
                      : length             ? ", instructions in the hot loop: "
                                           : "instructions in the hot loop: ",
                      a->loop_issues[k], b->loop_issues[k], result_issue_names[k]);
    if (!out->length)
        text_add(out, "as many instructions of each kind in the hot loop: their order, or code outside of it");
}

static void add_code(struct text *out, const struct result_code *a, const struct result_code *b)
{
    const struct amounts rows[] = {{"wave", a->wave, b->wave},
                                   {"VGPRs", a->vgprs, b->vgprs},
                                   {"AGPRs", a->agprs, b->agprs},
                                   {"VGPR spills", a->vgpr_spills, b->vgpr_spills},
                                   {"SGPR spills", a->sgpr_spills, b->sgpr_spills},
                                   {"scratch bytes", a->scratch_bytes, b->scratch_bytes},
                                   {"LDS bytes", a->lds_bytes, b->lds_bytes},
                                   {"waves per SIMD", a->waves_per_simd, b->waves_per_simd}};
    SCOPED(text_release) struct text changes = {0};
    char before[UNITS_TEXT], after[UNITS_TEXT];
    add_amounts(&changes, rows, COUNT_OF(rows), 6);
    /* Per lane, for the loop with the most scratch traffic. */
    if (a->loop_scratch_bytes < b->loop_scratch_bytes || a->loop_scratch_bytes > b->loop_scratch_bytes)
        text_addf(&changes, "%sscratch per turn of loop %u %s to %s", changes.length ? ", " : "",
                  b->loop_scratch_bytes > 0 ? b->scratch_loop : a->scratch_loop,
                  units_bytes(before, a->loop_scratch_bytes), units_bytes(after, b->loop_scratch_bytes));
    if (a->loop_instruction && b->loop_instruction)
        add_change(&changes, "hot loop of", a->loop_instruction, b->loop_instruction);
    add_issues(&changes, a, b);
    if (changes.length)
        text_addf(out, "; %s%s", code_cause(a, b), changes.data);
}

/* "(grid 16 to 32)": the difference within a part, if it is short enough. */
static void add_detail(struct text *out, enum identity_part part, const struct result_case *a,
                       const struct result_case *b, struct arena *arena)
{
    SCOPED(text_release) struct text detail = {0};
    const struct work *x = &a->work, *y = &b->work;
    const struct amounts work[] = {{"FLOP", x->flops, y->flops},
                                   {"transcendental operations", x->transcendentals, y->transcendentals},
                                   {"bytes read", x->read_bytes, y->read_bytes},
                                   {"bytes written", x->write_bytes, y->write_bytes},
                                   {"items", x->items, y->items}},
                         lds = {"LDS bytes", a->lds_bytes, b->lds_bytes};
    if (part == IDENTITY_CODE)
        text_addf(&detail, "%.8s to %.8s", a->identity.parts[part], b->identity.parts[part]);
    if (part == IDENTITY_CODE && a->code.known && b->code.known)
        add_code(&detail, &a->code, &b->code);
    if (part == IDENTITY_LAUNCH) {
        add_change(&detail, "grid", shape(a->grid, arena), shape(b->grid, arena));
        add_change(&detail, "block", shape(a->block, arena), shape(b->block, arena));
        add_amounts(&detail, &lds, 1, 10);
        if (!detail.length)
            text_add(&detail, "arguments or steps");
    }
    if (part == IDENTITY_WORK) {
        add_amounts(&detail, work, COUNT_OF(work), 9);
        add_change(&detail, "unit", x->unit, y->unit);
    }
    if (detail.length)
        text_addf(out, " (%s)", detail.data);
}

const char *result_case_changes(const struct result_case *a, const struct result_case *b, struct arena *arena)
{
    const unsigned parts = identity_differs(&a->identity, &b->identity);
    struct text out = {0};
    text_add(&out, "");
    for (enum identity_part part = 0; part < IDENTITY_PARTS; part++)
        if (parts & IDENTITY_BIT(part)) {
            text_addf(&out, "%s%s", out.length ? ", " : "", identity_words(IDENTITY_BIT(part), arena));
            add_detail(&out, part, a, b, arena);
        }
    return text_take(&out, arena);
}

const char *result_case_unlike(const struct result_case *a, const struct result_case *b, unsigned parts,
                               struct arena *arena)
{
    if (identity_differs(&a->identity, &b->identity) & parts)
        return arena_printf(arena, "not the same %s", result_case_changes(a, b, arena));
    if (a->timer == TIMED_NONE || b->timer == TIMED_NONE)
        return NULL;
    if (a->timer != b->timer)
        return arena_printf(arena,
                            "timed by '%s' and by '%s', which include different overheads (--timer keeps to one)",
                            timer_names[a->timer], timer_names[b->timer]);
    if (a->cache != b->cache)
        return arena_printf(arena, "cache mode %s and %s", cache_mode_names[a->cache], cache_mode_names[b->cache]);
    return NULL;
}
