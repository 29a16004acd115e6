/* SPDX-License-Identifier: MIT
 *
 * Sums over a kernel's instructions and over those of its loops.
 */

#include "isa_internal.h"

const unsigned isa_width_bytes[ISA_WIDTHS] = {1, 2, 4, 8, 12, 16, 32, 64};

void isa_traffic_add(struct isa_traffic *traffic, const struct isa_instruction *in)
{
    const bool stores = in->kind == ISA_SCALAR_MEMORY
                            ? isa_has_word(in->mnemonic, "store")
                            : in->kind == ISA_STORE || in->kind == ISA_LDS_WRITE || in->kind == ISA_SCRATCH_STORE;
    unsigned width = 0;
    while (width + 1 < ISA_WIDTHS && isa_width_bytes[width] < in->bytes)
        width++;
    traffic->unknown += in->bytes == 0;
    if (in->kind == ISA_ATOMIC) {
        traffic->atomics++;
        traffic->atomic_bytes += in->bytes;
    } else if (stores) {
        traffic->stores++;
        traffic->store_bytes += in->bytes;
        traffic->stores_by_width[width] += in->bytes > 0;
    } else {
        traffic->loads++;
        traffic->load_bytes += in->bytes;
        traffic->loads_by_width[width] += in->bytes > 0;
    }
}

static void isa_mix_add(struct isa_mix *mix, const struct isa_instruction *in)
{
    mix->instructions++;
    mix->operations += in->kind == ISA_DUAL ? 2 : 1;
    mix->count[in->kind]++;
    mix->code_bytes += in->size;
    mix->flops += in->flops;
    mix->ops += in->ops;
    if (in->space != ISA_NO_SPACE)
        isa_traffic_add(&mix->traffic[in->space], in);
    if (in->kind != ISA_MATRIX)
        return;
    *(in->is_integer ? &mix->matrix_ops : &mix->matrix_flops) += in->matrix_ops;
    mix->matrix_cycles += in->matrix_cycles;
    mix->matrix_unknown += in->matrix_cycles == 0;
}

bool isa_is_vector(enum isa_kind kind)
{
    return kind == ISA_VECTOR || kind == ISA_PACKED || kind == ISA_DUAL || kind == ISA_TRANSCENDENTAL ||
           kind == ISA_CONVERSION || kind == ISA_CROSS_LANE;
}

/* ---- lanes that are on ---- */

static bool is_exec(const struct isa_operand *operand)
{
    return operand->kind == OPERAND_SCALAR && operand->first == SCALAR_EXEC;
}

enum isa_exec isa_exec_of(const struct isa_instruction *in)
{
    if (isa_starts(in->mnemonic, "v_cmpx_ s_and_saveexec_ s_andn2_saveexec_ s_and_not1_saveexec_"))
        return ISA_EXEC_NARROWED;
    if (!is_exec(isa_operand_at(in, 0)))
        return ISA_EXEC_KEPT;
    return isa_starts(in->mnemonic, "s_or_b s_mov_b")                   ? ISA_EXEC_SET
           : isa_starts(in->mnemonic, "s_and_b s_andn2_b s_and_not1_b") ? ISA_EXEC_NARROWED
                                                                        : ISA_EXEC_KEPT;
}

bool isa_loop_narrows(const struct isa_kernel *kernel, size_t loop)
{
    const uint64_t first = kernel->loops[loop].first_address;
    FOR_EACH(const struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        const bool drops = isa_starts(in->mnemonic, "s_andn2_b s_and_not1_b") && is_exec(isa_operand_at(in, 0)) &&
                           is_exec(isa_operand_at(in, 1));
        const bool turns =
            text_starts(in->mnemonic, "s_cbranch_execnz") && in->target >= first && in->target <= in->address;
        if (in->loop == loop && (drops || turns))
            return true;
    }
    return false;
}

const struct isa_function *isa_function_at(const struct isa_kernel *kernel, uint64_t address)
{
    for (size_t f = 0; f < kernel->function_count; f++)
        if (kernel->functions[f].address == address)
            return &kernel->functions[f];
    return NULL;
}

static void add_callee(struct isa_mix *mix, const struct isa_kernel *kernel, uint64_t target, unsigned depth)
{
    const struct isa_function *function = depth < ISA_CALL_DEPTH ? isa_function_at(kernel, target) : NULL;
    for (size_t i = 0; function && i < function->count; i++) {
        const struct isa_instruction *in = &kernel->instructions[function->first + i];
        isa_mix_add(mix, in);
        if (in->is_call)
            add_callee(mix, kernel, in->target, depth + 1);
    }
}

void isa_mix_fill(struct isa_kernel *kernel)
{
    for (size_t i = 0; i < kernel->instruction_count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        isa_mix_add(&kernel->mix, in);
        if (in->loop != ISA_NO_LOOP)
            isa_mix_add(&kernel->loops[in->loop].own, in);
        for (size_t loop = in->loop; loop != ISA_NO_LOOP; loop = kernel->loops[loop].parent) {
            isa_mix_add(&kernel->loops[loop].inclusive, in);
            if (in->is_call)
                add_callee(&kernel->loops[loop].inclusive, kernel, in->target, 0);
        }
    }
}

const struct isa_mix *isa_turn_mix(const struct isa_kernel *kernel, size_t loop)
{
    const struct isa_loop *of = loop == ISA_NO_LOOP ? NULL : &kernel->loops[loop];
    return !of ? &kernel->mix : of->is_innermost ? &of->inclusive : &of->own;
}

double isa_flops_per_wave(const struct isa_mix *mix, unsigned wave)
{
    return (double)mix->flops * wave + (double)mix->matrix_flops;
}

double isa_ops_per_wave(const struct isa_mix *mix, unsigned wave)
{
    return (double)mix->ops * wave + (double)mix->matrix_ops;
}

double isa_global_bytes_per_wave(const struct isa_mix *mix, unsigned wave)
{
    const struct isa_traffic *global = &mix->traffic[ISA_GLOBAL];
    return global->unknown ? NAN : (double)(global->load_bytes + global->store_bytes + global->atomic_bytes) * wave;
}

double isa_intensity(const struct isa_mix *mix, unsigned wave)
{
    const double flops = isa_flops_per_wave(mix, wave), bytes = isa_global_bytes_per_wave(mix, wave);
    return bytes > 0 || isnan(bytes) ? flops / bytes : flops > 0 ? INFINITY : NAN;
}
