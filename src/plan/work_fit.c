/* SPDX-License-Identifier: MIT
 *
 * Checks whether the code can do the work that `work` claims. In code without loops each instruction runs once, which
 * gives an upper bound. For other code, only the presence of transcendental instructions is checked, where they count.
 */

#include "plan_internal.h"
#include "rooftile/launch_fit.h"
#include "rooftile/predictor.h"
#include "rooftile/units.h"

/* Returns the type width from the last type in the name of an instruction or unit, "v_dot2_f32_f16" or "matrix_f32";
 * -1: integers. Mixed instructions (v_fma_mixlo_f16) compute in f32 and narrow the result. */
static int width_of(const char *name)
{
    static const char *const types[] = {"f16", "f32", "f64"};
    static const char *const narrow[] = {"bf16", "xf32", "fp8", "bf8", "fp6", "bf6", "fp4", "f8f6f4", "f8", "f6", "f4"};
    int width = -1;
    if (strstr(name, "_fma_mix"))
        return 1;
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_')) {
        const size_t length = strcspn(at + 1, "_");
        for (int k = 0; k < TYPE_WIDTHS; k++)
            width = length == 3 && !strncmp(at + 1, types[k], length) ? k : width;
        for (size_t k = 0; k < COUNT_OF(narrow); k++)
            width = strlen(narrow[k]) == length && !strncmp(at + 1, narrow[k], length) ? 0 : width;
    }
    return width;
}

static void add_floats(struct code_work *work, const struct isa_instruction *in, double lanes, double waves)
{
    static const double in_loop = 1e6;
    const int width = in->kind == ISA_TRANSCENDENTAL ? -1 : width_of(in->mnemonic);
    const double once = lanes * in->flops + (in->is_integer ? 0 : waves * in->matrix_ops);
    if (width < 0 || once <= 0)
        return;
    work->floats[width] += once * (in->loop != ISA_NO_LOOP ? in_loop : 1);
    snprintf(work->floats_by[width], sizeof(work->floats_by[width]), "%s", in->mnemonic);
}

void code_work_add(struct code_work *work, const struct isa_kernel *kernel, const struct resolved_launch *launch,
                   double times)
{
    const struct isa_mix *mix = &kernel->mix;
    const uint32_t *grid = launch->grid, *block = launch->block;
    const double wave = kernel->code.wave ? kernel->code.wave : 64;
    const double lanes = ceil((double)block[0] * block[1] * block[2] / wave) * wave;
    const double all = times * grid[0] * grid[1] * grid[2] * lanes, waves = all / wave;
    const struct isa_traffic *global = &mix->traffic[ISA_GLOBAL], *constant = &mix->traffic[ISA_CONSTANT];
    work->endless = work->endless || kernel->loop_count || kernel->calls || kernel->unknown || global->unknown;
    work->operations += waves * (double)(mix->matrix_flops + mix->matrix_ops);
    work->transcendentals += all * (double)mix->count[ISA_TRANSCENDENTAL];
    work->read_bytes +=
        all * (double)(global->load_bytes + global->atomic_bytes) + waves * (double)constant->load_bytes;
    work->write_bytes += all * (double)(global->store_bytes + global->atomic_bytes);
    FOR_EACH(const struct isa_instruction, in, kernel->instructions, kernel->instruction_count) {
        const bool divides = strstr(in->mnemonic, "iflag"); /* integer division */
        work->operations += all * isa_operations(in);
        add_floats(work, in, all, waves);
        if (in->kind == ISA_TRANSCENDENTAL && in->loop != ISA_NO_LOOP && !divides)
            work->has_transcendentals = true;
    }
}

bool work_differs(struct text *out, const struct resolved *resolved, const struct code_work *code)
{
    const struct work *work = &resolved->work;
    const bool rated = resolved->manifest->class == CLASS_COMPUTE || resolved->manifest->class == CLASS_MEMORY;
    const bool own = !strcmp(work->unit, TRANSCENDENTAL_UNIT);
    const double declared = own ? work->flops : work->transcendentals;
    const struct {
        const char *what;
        double declared, most;
    } claims[] = {{"operations", work->flops, code->operations},
                  {"transcendental operations", declared, code->transcendentals},
                  {"bytes read", work->read_bytes, code->read_bytes},
                  {"bytes written", work->write_bytes, code->write_bytes}};
    const size_t before = out->length;
    for (size_t k = 0; k < sizeof(claims) / sizeof(*claims) && !code->endless; k++)
        if (claims[k].declared > claims[k].most * (1 + 1e-9))
            text_addf(out, "%sthe manifest states %.4g %s, the instructions of the launch can do %.4g",
                      out->length ? "\n" : "", claims[k].declared, claims[k].what, claims[k].most);
    if (code->endless && declared > 0 && code->transcendentals <= 0)
        text_addf(out, "%sthe manifest states %.4g transcendental operations, the code has no such instruction",
                  out->length ? "\n" : "", declared);
    const int width = work->flops > 0 ? width_of(work->unit) : -1;
    for (int k = 0; k < width; k++)
        if (code->floats[k] > code->floats[width] && code->floats[k] > 0)
            text_addf(out, "%sthe manifest states operations of %s, most of the code's are of a narrower type (%s)",
                      out->length ? "\n" : "", work->unit, code->floats_by[k]);
    if (rated && declared <= 0 && code->has_transcendentals)
        text_addf(out,
                  "%sa loop of the code has transcendental instructions (exp, log, rcp, rsq, sqrt, sin, cos), and "
                  "\"work\" counts no \"transcendentals\"",
                  out->length ? "\n" : "");
    return out->length > before;
}

/* ---- walked launches ---- */

#define AGREES_WITHIN 2.0
#define SCALAR_BYTES 64.0 /* of the widest scalar load */
#define MOST_LANES 64.0   /* of a wave */

/* Work of one pass. Caches serve repeated requests: the requested bytes are the maximum that may be stated, and the
 * bytes that no other workgroup touches are the minimum. */
struct walked_work {
    double asked_bytes, own_bytes, operations, flops;
    double lanes; /* over all instructions: every item takes at least one */
    bool whole;   /* the sample represents all workgroups */
    bool single;  /* one launch: no later launch requests the same data */
    bool plain;   /* only the algorithm's arithmetic: no padded tiles, cross-lane operations or series */
};

static double own_bytes(const struct predicted_launch *launch, double groups)
{
    const struct walk_result *walk = launch->walk;
    double bytes = 0;
    for (size_t k = 0; k < launch->walked.buffer_count; k++) {
        const struct walk_traffic *traffic = &walk->traffic[k];
        const double size = (double)launch->walked.buffers[k].size_bytes;
        const double loaded = fmin(traffic->bytes_loaded, traffic->distinct * launch->line_bytes);
        const double stored = fmin(traffic->bytes_stored, traffic->stored * launch->line_bytes);
        bytes += fmin(size, traffic->shared > 0 ? 0 : groups * loaded) + fmin(size, groups * stored);
    }
    return bytes;
}

static void add_walked(struct walked_work *work, const struct predicted_launch *launch)
{
    const struct walk_result *walk = launch->walk;
    const struct isa_traffic *global = &launch->walked.code_object->mix.traffic[ISA_GLOBAL];
    const double groups = launch->times * launch->model.working / fmax(1, walk->sums.workgroups);
    work->asked_bytes += groups * (walk->sums.access_bytes + walk->sums.count[WALK_SCALAR_LOAD] * SCALAR_BYTES);
    work->own_bytes += own_bytes(launch, groups);
    work->operations += groups * walk->sums.operations;
    work->lanes += groups * walk->sums.instructions * MOST_LANES;
    work->flops += groups * walk->sums.flops;
    work->plain = work->plain && !(walk->sums.matrix_clocks > 0) && !(walk->sums.count[WALK_TRANSCENDENTAL] > 0) &&
                  !(walk->sums.count[WALK_LDS] > 0);
    work->whole = work->whole && walk->working >= 1 && !walk->over_budget && !walk->unknown_count &&
                  !walk->not_executed_count &&
                  (walk->sums.accesses > 0 || global->load_bytes + global->store_bytes + global->unknown == 0);
}

static void disagrees(struct prediction *prediction, double stated, double walked, const char *unit, const char *what)
{
    char words[2][UNITS_TEXT];
    const char *(*say)(char *out, double value) = *unit ? units_count : units_bytes;
    prediction_note(prediction, WORK_NOTE "states %s%s, the walked code %s %s", say(words[0], stated), unit, what,
                    say(words[1], walked));
    prediction->work_disagrees = true;
}

void work_walked(struct prediction *prediction, const struct resolved *resolved,
                 const struct predicted_launch *launches, size_t count)
{
    const struct work *work = &resolved->work;
    const double bytes = work->read_bytes + work->write_bytes;
    const bool is_float = strcmp(machine_unit_rate(work->unit), "OP/s") != 0;
    /* Integers read by a kernel may be offsets or counts; one workgroup then says little about the others. */
    const size_t offsets = COUNT_WHERE(buffer, resolved->buffers, resolved->buffer_count,
                                       (buffer->spec->role == ROLE_IN || buffer->spec->role == ROLE_INOUT) &&
                                           !dtype_is_float(buffer->dtype) && dtype_bytes(buffer->dtype) >= 4);
    struct walked_work walked = {.whole = resolved->timing.stream_launches > 0 && !offsets,
                                 .single = count == 1 && launches[0].times <= 1,
                                 .plain = true};
    for (size_t k = 0; k < count; k++)
        add_walked(&walked, &launches[k]);
    if (!walked.whole)
        return;
    if (bytes > AGREES_WITHIN * walked.asked_bytes)
        disagrees(prediction, bytes, walked.asked_bytes, "", "asks for at most");
    else if (walked.single && bytes > 0 && walked.own_bytes > AGREES_WITHIN * bytes)
        disagrees(prediction, bytes, walked.own_bytes, "", "moves at least");
    if (work->flops > AGREES_WITHIN * walked.operations)
        disagrees(prediction, work->flops, walked.operations, " operations", "does at most");
    else if (is_float && walked.plain && work->flops > 0 && walked.flops > AGREES_WITHIN * work->flops)
        disagrees(prediction, work->flops, walked.flops, " operations", "does");
    const double most_items = fmax(walked.lanes, fmax(walked.asked_bytes, walked.operations));
    if (work->items > AGREES_WITHIN * most_items)
        disagrees(prediction, work->items, most_items, " items", "has work for at most");
}
