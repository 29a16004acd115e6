/* SPDX-License-Identifier: MIT
 *
 * One inspected kernel: facts for people, everything for programs, and the tables that both use.
 */

#include "report_internal.h"
#include "rooftile/inspection.h"
#include "rooftile/targets.h"

enum {
    HEADING_LONGEST = 500, /* of a kernel's name; JSON has all of it */
    NAME_LONGEST = 44,     /* of an argument: expressions have no length limit */
    VALUE_COLUMN = 13,
};

static void line(struct table *record, const char *title, const char *value)
{
    table_member(record, NULL, title, cell_text(value));
}

/* ---- one kernel for people ---- */

/* For NVIDIA. A kernel without a stack frame cannot spill. */
static const char *thread_registers(const struct codeobj_kernel *code, struct arena *arena)
{
    if (code->is_ptx)
        return "the driver's choice, when it compiles this PTX";
    if (code->spill_store_bytes || code->spill_load_bytes)
        return arena_printf(arena, "%u per thread; spilled: %llu bytes stored, %llu loaded", code->vgpr_count,
                            (unsigned long long)code->spill_store_bytes, (unsigned long long)code->spill_load_bytes);
    return arena_printf(arena, "%u per thread%s", code->vgpr_count,
                        code->spill_bytes_known || !code->private_segment_bytes ? ", none spilled" : "");
}

static const char *registers_of(const struct inspect_kernel *kernel, const struct codeobj *object, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    struct text text = {0};
    if (target_is_nvidia(object->target))
        return thread_registers(code, arena);
    text_addf(&text, "%u VGPRs", code->vgpr_count);
    if (code->agpr_count)
        text_addf(&text, ", of them %u AGPRs", code->agpr_count);
    if (code->allocated_vgprs && code->allocated_vgprs != code->vgpr_count)
        text_addf(&text, " (%u allocated%s)", code->allocated_vgprs,
                  !inspect_registers(object, code).is_padded  ? ""
                  : kernel->occupancy.limited_by[LIMITER_LDS] ? ": LDS admits no more waves"
                                                              : ": by launch bounds, not by need");
    text_addf(&text, ", %u SGPRs, ", code->sgpr_count);
    if (code->vgpr_spills || code->sgpr_spills)
        text_addf(&text, "spilled: %u VGPRs, %u SGPRs", code->vgpr_spills, code->sgpr_spills);
    else
        text_add(&text, "none spilled");
    return text_take(&text, arena);
}

static const char *memory_of(const struct inspect_kernel *kernel, bool is_nvidia, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    struct text text = {0};
    text_addf(&text, "%s %u bytes", is_nvidia ? "shared memory" : "LDS", code->group_segment_bytes);
    if (kernel->dynamic_lds_bytes)
        text_addf(&text, " and %u dynamic", kernel->dynamic_lds_bytes);
    if (is_nvidia && code->is_ptx)
        text_add(&text, ", stack unknown");
    else if (is_nvidia)
        text_addf(&text, ", stack %u bytes per thread%s", code->private_segment_bytes,
                  !code->private_segment_bytes                        ? ""
                  : !code->spill_bytes_known                          ? " (spills or arrays: the file does not tell)"
                  : code->spill_store_bytes || code->spill_load_bytes ? " (spills, perhaps arrays)"
                                                                      : " (arrays or calls, no spills)");
    else
        text_addf(&text, ", scratch %u bytes per lane%s", code->private_segment_bytes,
                  code->uses_dynamic_stack ? " or more (dynamic stack)" : "");
    return text_take(&text, arena);
}

static const char *workgroup_of(const struct inspect_kernel *kernel, bool is_nvidia, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    struct text text = {0};
    text_addf(&text, "%u threads (%s), in %s of %u", kernel->block, kernel->block_source, is_nvidia ? "warps" : "waves",
              code->wave);
    if (code->required_block[0])
        text_addf(&text, "; required: %u x %u x %u", code->required_block[0], code->required_block[1],
                  code->required_block[2]);
    else if (code->max_block && code->max_block != kernel->block)
        text_addf(&text, "; allowed: up to %u", code->max_block);
    if (kernel->occupancy.limits && kernel->occupancy.limits->has_wgp)
        text_add(&text, kernel->occupancy.wgp_mode ? "; WGP mode" : "; CU mode");
    return text_take(&text, arena);
}

static void occupancy_lines(struct table *record, const struct inspect_kernel *kernel, struct arena *arena)
{
    const struct occupancy *o = &kernel->occupancy;
    if (kernel->occupancy_problem) {
        line(record, "occupancy", arena_printf(arena, "unknown: %s", kernel->occupancy_problem));
        return;
    }
    struct text text = {0};
    const struct occupancy_words *words = o->limits->words;
    text_addf(&text, "%.3g of %.0f %s", occupancy_waves(o, o->waves_per_simd), occupancy_waves(o, o->waves_max),
              occupancy_waves_unit(o, false));
    if (o->waves_per_simd < o->waves_max) {
        text_add(&text, ", limited by ");
        occupancy_limiters(&text, o);
    }
    text_addf(&text, "; %u %s%s of %u %s%s on a%s %s", o->workgroups, words->group, text_s(o->workgroups),
              o->waves_per_workgroup, words->wave, text_s(o->waves_per_workgroup), words->per_unit ? "n" : "",
              o->wgp_mode ? "WGP" : words->unit);
    if (!words->per_unit)
        text_addf(&text, " (%u SIMDs)", o->simds);
    line(record, "occupancy", text_take(&text, arena));
    occupancy_advice(&text, o);
    if (text.length)
        line(record, "", text_take(&text, arena));
}

/* The compiler's name, which HIP kernels lack; otherwise the manifest's. */
static const char *argument_name(const struct inspect_kernel *kernel, size_t index, struct arena *arena)
{
    const struct inspect_launch *launch = kernel->launch;
    if (kernel->code->args[index].name[0])
        return kernel->code->args[index].name;
    const char *name = launch && index < launch->arg_count ? launch->arg_names[index] : "";
    return strlen(name) > NAME_LONGEST ? arena_printf(arena, "%.*s...", NAME_LONGEST, name) : name;
}

static const char *argument_words(const struct inspect_kernel *kernel, size_t index, struct arena *arena)
{
    const struct codeobj_arg *arg = &kernel->code->args[index];
    const char *const words[] = {arg->address_space, arg->access, arg->type, argument_name(kernel, index, arena)};
    struct text text = {0};
    text_add(&text, arg->value_kind);
    for (size_t w = 0; w < COUNT_OF(words); w++)
        if (words[w][0] && !(w == 0 && arg->is_pointer && !strcmp(words[w], "global")))
            text_addf(&text, " %s", words[w]);
    return text_take(&text, arena);
}

/* ---- one kernel for programs, parts of it for both ---- */

/* Lists all arguments; people see those that a caller passes, which come first. */
static struct table *arguments_of(const struct inspect_kernel *kernel, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "offset_bytes", .title = "offset", .unit = UNIT_COUNT},
        {.key = "size_bytes", .title = "size", .unit = UNIT_COUNT},
        {.title = "kind"},
        {.key = "kind"},
        {.key = "name"},
        {.key = "type"},
        {.key = "hidden"},
        {.key = "address_space"},
        {.key = "access"},
    };
    const struct codeobj_kernel *code = kernel->code;
    struct table *table = TABLE(arena, columns);
    table->indent = VALUE_COLUMN;
    table->most_rows = code->explicit_count;
    table->rest = "hidden ones of the runtime";
    for (size_t k = 0; k < code->arg_count; k++) {
        const struct codeobj_arg *arg = &code->args[k];
        table_add(table, (struct cell[]){cell_number(arg->offset_bytes), cell_number(arg->size_bytes),
                                         cell_text(argument_words(kernel, k, arena)), cell_text(arg->value_kind),
                                         cell_known(arg->name), cell_known(arg->type), cell_bool(arg->hidden),
                                         cell_known(arg->address_space), cell_known(arg->access)});
    }
    return table;
}

static const char *finding_text(const struct inspect_kernel *kernel, const struct isa_finding *finding,
                                struct arena *arena)
{
    struct text text = {0};
    if (kernel->isa && finding->loop < kernel->isa->loop_count)
        text_addf(&text, "loop %zu: ", finding->loop + 1);
    text_add(&text, finding->what);
    if (finding->advice && finding->advice[0])
        text_addf(&text, ". %c%s",
                  finding->advice[0] >= 'a' && finding->advice[0] <= 'z' ? finding->advice[0] - 32 : finding->advice[0],
                  finding->advice + 1);
    return text_take(&text, arena);
}

enum { SHOWN_ALIKE = 3 /* shown findings of one kind, besides those in the hot loop */ };

/* Selects findings for people: many differ in their loop only. *skipped: for the last one shown of its kind, the number
 * of hidden ones of that kind. */
static bool is_shown(size_t *skipped, const struct inspect_kernel *kernel, size_t index, size_t hot)
{
    size_t before = 0, after = 0;
    const struct isa_finding *f = kernel->findings;
    const bool is_hot = f[index].loop == hot && hot != ISA_NO_LOOP;
    for (size_t k = 0; k < kernel->finding_count; k++)
        if (!strcmp(f[k].code, f[index].code) && (hot == ISA_NO_LOOP || f[k].loop != hot) && k != index)
            *(k < index ? &before : &after) += 1;
    *skipped = before + 1 == SHOWN_ALIKE && !is_hot ? after : 0;
    return is_hot || before < SHOWN_ALIKE;
}

static struct table *findings_of(const struct inspect_kernel *kernel, bool all, struct arena *arena)
{
    static const struct table_column columns[] = {
        {.key = "code"},
        {.key = "severity", .title = ""},
        {.title = "", .flags = COLUMN_PROSE},
        {.key = "loop"},
        {.key = "address"},
        {.key = "what"},
        {.key = "advice"},
    };
    struct table *table = TABLE(arena, columns);
    table->indent = 2;
    struct isa_hot hot = {.loop = ISA_NO_LOOP};
    if (kernel->isa && !all)
        isa_hot_find(&hot, kernel->isa, arena);
    for (size_t k = 0; k < kernel->finding_count; k++) {
        const struct isa_finding *f = &kernel->findings[k];
        size_t skipped = 0;
        if (!all && !is_shown(&skipped, kernel, k, hot.loop))
            continue;
        struct table_row *row = table_add(
            table,
            (struct cell[]){cell_text(f->code),
                            cell_toned(isa_severities[f->severity], f->severity == ISA_PROBLEM ? TONE_BAD : TONE_PLAIN),
                            cell_text(finding_text(kernel, f, arena)), inspect_loop(f->loop),
                            f->address ? inspect_address(f->address, arena) : cell_unknown(NULL), cell_text(f->what),
                            cell_known(f->advice)});
        if (skipped)
            row->note = arena_printf(arena, "%zu more of this kind: --json has all", skipped);
    }
    return table;
}

static struct cell number_if(bool known, double number)
{
    return known ? cell_number(number) : cell_unknown(NULL);
}

static struct cell registers_cell(const struct codeobj_kernel *code, struct arena *arena)
{
    const bool counted = !code->is_ptx, spills = code->spill_bytes_known, allocated = code->has_descriptor;
    struct table *record = table_record(arena);
    table_member(record, "vgprs", NULL, number_if(counted, code->vgpr_count));
    table_member(record, "agprs", NULL, number_if(counted, code->agpr_count));
    table_member(record, "sgprs", NULL, number_if(counted, code->sgpr_count));
    table_member(record, "vgpr_spills", NULL, number_if(counted, code->vgpr_spills));
    table_member(record, "sgpr_spills", NULL, number_if(counted, code->sgpr_spills));
    table_member(record, "spill_store_bytes", NULL, number_if(spills, (double)code->spill_store_bytes));
    table_member(record, "spill_load_bytes", NULL, number_if(spills, (double)code->spill_load_bytes));
    table_member(record, "vgprs_allocated", NULL, number_if(allocated && code->allocated_vgprs, code->allocated_vgprs));
    return cell_table(record);
}

static void add_limiters(struct table *record, const struct occupancy *o, struct arena *arena)
{
    static const char *const keys[LIMITER_COUNT] = {[LIMITER_VGPRS] = "vgprs",
                                                    [LIMITER_SGPRS] = "sgprs",
                                                    [LIMITER_LDS] = "lds",
                                                    [LIMITER_WAVES] = "waves",
                                                    [LIMITER_BARRIERS] = "barriers"};
    struct table *workgroups = table_record(arena), *limited = table_list(arena);
    for (int k = 0; k < LIMITER_COUNT; k++) {
        table_member(workgroups, keys[k], NULL,
                     number_if(o->workgroups_by[k] != OCCUPANCY_UNLIMITED, o->workgroups_by[k]));
        if (o->limited_by[k])
            table_item(limited, keys[k]);
    }
    table_member(record, "workgroups_by", NULL, cell_table(workgroups));
    table_member(record, "limited_by", NULL, cell_table(limited));
}

#define OF_OCCUPANCY(member) FIELD(struct occupancy, member)

static struct cell occupancy_cell(const struct inspect_kernel *kernel, struct arena *arena)
{
    const struct occupancy *o = &kernel->occupancy;
    if (kernel->occupancy_problem)
        return cell_unknown(NULL);
    static const struct table_column columns[] = {
        {.key = "simds", OF_OCCUPANCY(simds)},
        {.key = "waves_per_simd_max", OF_OCCUPANCY(waves_max)},
        {.key = "vgprs", OF_OCCUPANCY(vgprs)},
        {.key = "vgprs_allocated", OF_OCCUPANCY(vgprs_allocated)},
        {.key = "lds_bytes_allocated", OF_OCCUPANCY(lds_allocated)},
        {.key = "waves_by_vgprs", OF_OCCUPANCY(waves_by_vgprs)},
        {.key = "waves_by_sgprs", OF_OCCUPANCY(waves_by_sgprs)},
        {.key = "waves_per_workgroup", OF_OCCUPANCY(waves_per_workgroup)},
        {.key = "workgroups", OF_OCCUPANCY(workgroups)},
        {.key = "waves", OF_OCCUPANCY(waves)},
        {.key = "waves_per_simd", OF_OCCUPANCY(waves_per_simd)},
        {.key = "better_block", .flags = COLUMN_OPTIONAL, OF_OCCUPANCY(better_block)},
    };
    static const struct table_column raise_columns[] = {{.key = "vgprs_fewer", OF_OCCUPANCY(raise.vgprs)},
                                                        {.key = "sgprs_fewer", OF_OCCUPANCY(raise.sgprs)},
                                                        {.key = "lds_bytes_less", OF_OCCUPANCY(raise.lds_bytes)},
                                                        {.key = "workgroups", OF_OCCUPANCY(raise.workgroups)},
                                                        {.key = "waves_per_simd", OF_OCCUPANCY(raise.waves_per_simd)}};
    struct table *record = RECORD_OF(arena, columns, o);
    table_member(record, "unit", NULL, cell_text(o->wgp_mode ? "WGP" : o->limits->words->unit));
    table_member(record, "block", NULL, cell_number(kernel->block));
    table_member(record, "block_source", NULL, cell_text(kernel->block_source));
    table_member(record, "dynamic_lds_bytes", NULL, cell_number(kernel->dynamic_lds_bytes));
    add_limiters(record, o, arena);
    table_member(record, "raise", NULL,
                 o->raise.workgroups > o->workgroups ? cell_table(RECORD_OF(arena, raise_columns, o))
                                                     : cell_unknown(NULL));
    return cell_table(record);
}

struct cell inspect_kernel_cell(const struct inspect_kernel *kernel, const char *target, struct arena *arena)
{
    const struct codeobj_kernel *code = kernel->code;
    struct table *record = table_record(arena), *required = table_list(arena);
    for (int k = 0; k < 3 && code->required_block[0]; k++)
        table_add(required, (const struct cell[]){cell_number(code->required_block[k])});
    table_member(record, "name", NULL, cell_text(code->name));
    table_member(record, "demangled", NULL, cell_text(kernel->name));
    table_member(record, "symbol", NULL, cell_text(code->symbol));
    table_member(record, "arguments", NULL, cell_table(arguments_of(kernel, arena)));
    table_member(record, "registers", NULL, registers_cell(code, arena));
    table_member(record, "wave", NULL, cell_number(code->wave));
    table_member(record, "wgp_mode", NULL, cell_bool(kernel->occupancy.wgp_mode));
    table_member(record, "lds_bytes", NULL, cell_number(code->group_segment_bytes));
    table_member(record, "scratch_bytes", NULL, number_if(!code->is_ptx, code->private_segment_bytes));
    table_member(record, "dynamic_stack", NULL, cell_bool(code->uses_dynamic_stack));
    table_member(record, "barriers", NULL, cell_number(code->barriers));
    table_member(record, "kernarg_bytes", NULL, cell_number(code->kernarg_bytes));
    table_member(record, "max_block", NULL, cell_number(code->max_block));
    table_member(record, "required_block", NULL, cell_table(required));
    table_member(record, "code_bytes", NULL, cell_number((double)code->code_bytes));
    table_member(record, "code_sha256", NULL, cell_known(code->code_sha256));
    table_member(record, "occupancy_problem", NULL, cell_text(kernel->occupancy_problem));
    table_member(record, "occupancy", NULL, occupancy_cell(kernel, arena));
    table_member(record, "code", NULL, inspect_code_cell(kernel->isa, target, arena));
    table_member(record, "findings", NULL, cell_table(findings_of(kernel, true, arena)));
    return cell_table(record);
}

/* ---- details ---- */

void inspect_kernel(struct document *document, const struct inspect_kernel *kernel, const struct codeobj *object,
                    const char *target, bool isa)
{
    struct arena *arena = document->arena;
    const struct codeobj_kernel *code = kernel->code;
    const bool is_nvidia = target_is_nvidia(object->target);
    struct table *facts = table_record(arena);
    facts->indent = 2;
    line(facts, is_nvidia ? "block" : "workgroup", workgroup_of(kernel, is_nvidia, arena));
    line(facts, "registers", registers_of(kernel, object, arena));
    line(facts, "memory", memory_of(kernel, is_nvidia, arena));
    occupancy_lines(facts, kernel, arena);
    line(facts, "arguments", arena_printf(arena, "%zu, %u bytes", code->explicit_count, code->kernarg_bytes));
    document_table(document, NULL,
                   arena_printf(arena, "kernel %s%s%s", text_cut(arena, kernel->name, HEADING_LONGEST, ".."),
                                target ? " for " : "", target ? target : ""),
                   facts);
    if (code->explicit_count)
        document_table(document, NULL, NULL, arguments_of(kernel, arena));
    if (kernel->isa)
        inspect_code(document, kernel->isa, object->target, arena);
    if (kernel->isa && is_nvidia)
        document_text(document, SHOW_PEOPLE, TONE_DIM,
                      "here a warp is a wave, shared memory LDS, local memory scratch, the uniform datapath scalar");
    document_table(document, NULL, NULL, findings_of(kernel, false, arena));
    if (isa && kernel->isa) {
        struct text text = {0};
        isa_print(&text, kernel->isa);
        document_verbatim(document, 0, "", text_take(&text, arena));
    }
}
