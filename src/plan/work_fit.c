/* SPDX-License-Identifier: MIT
 *
 * Does the code do what `work` claims? Of code without loops each instruction runs once, so what it can do at most is
 * known; of other code only whether it has transcendental instructions where they count.
 */
#include <math.h>
#include <string.h>

#include "plan_internal.h"
#include "rooftile/launch_fit.h"
#include "rooftile/predictor.h"
#include "rooftile/units.h"

static void each_timed(const struct resolved_step *steps, size_t count, bool all, double times,
                       void (*visit)(void *context, const struct resolved_launch *launch, double times), void *context)
{
    for (size_t k = 0; k < count; k++) {
        const struct resolved_step *step = &steps[k];
        const double repeat = times * (double)step->repeat;
        if (repeat <= 0 || !(all || step->timed))
            continue;
        if (step->kind == STEP_LAUNCH)
            visit(context, &step->launch, repeat);
        each_timed(step->steps, step->step_count, true, repeat, visit, context);
    }
}

void launch_each_timed(const struct resolved *resolved,
                       void (*visit)(void *context, const struct resolved_launch *launch, double times), void *context)
{
    each_timed(resolved->steps, resolved->step_count, false, 1, visit, context);
}

/* Largest and smallest numbers, compares and conversions may count as operations to a manifest: one for each value. */
static double operations(const struct isa_instruction *in)
{
    const bool two = in->kind == ISA_PACKED || in->kind == ISA_DUAL;
    if (in->flops || in->ops)
        return in->flops + in->ops;
    return two ? 2 : in->kind == ISA_VECTOR || in->kind == ISA_CONVERSION;
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
    work->endless = work->endless || kernel->loop_count || kernel->calls || kernel->unknown;
    work->operations += waves * (double)(mix->matrix_flops + mix->matrix_ops);
    work->transcendentals += all * (double)mix->count[ISA_TRANSCENDENTAL];
    work->read_bytes +=
        all * (double)(global->load_bytes + global->atomic_bytes) + waves * (double)constant->load_bytes;
    work->write_bytes += all * (double)(global->store_bytes + global->atomic_bytes);
    for (size_t k = 0; k < kernel->instruction_count; k++) {
        const struct isa_instruction *in = &kernel->instructions[k];
        const bool divides = strstr(in->mnemonic, "iflag"); /* whole numbers */
        work->operations += all * operations(in);
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
            text_addf(out, "%sthe manifest claims %.4g %s, the instructions of the launch can do %.4g",
                      out->length ? "\n" : "", claims[k].declared, claims[k].what, claims[k].most);
    if (code->endless && declared > 0 && code->transcendentals <= 0)
        text_addf(out, "%sthe manifest claims %.4g transcendental operations, the code has no such instruction",
                  out->length ? "\n" : "", declared);
    if (rated && declared <= 0 && code->has_transcendentals)
        text_addf(out,
                  "%sa loop of the code has transcendental instructions (exp, log, rcp, rsq, sqrt, sin, cos), and "
                  "\"work\" counts no \"transcendentals\"",
                  out->length ? "\n" : "");
    return out->length > before;
}

/* Caches serve what is asked for again, so that less may be declared; nobody declares more. */
#define MOST_DECLARED 2.0
#define SCALAR_BYTES 64.0 /* of the widest scalar load */

void work_walked(struct prediction *prediction, const struct resolved *resolved,
                 const struct predicted_launch *launches, size_t count)
{
    const double declared = resolved->work.read_bytes + resolved->work.write_bytes;
    char words[2][UNITS_TEXT];
    double asked = 0;
    bool whole = resolved->timing.stream_launches > 0; /* nothing but launches */
    for (size_t k = 0; k < count; k++) {
        const struct walk_result *walk = launches[k].walk;
        const double groups = launches[k].times * launches[k].model.working / fmax(1, walk->sums.workgroups);
        asked += groups * (walk->sums.access_bytes + walk->sums.count[WALK_SCALAR_LOAD] * SCALAR_BYTES);
        whole = whole && !walk->over_budget && !walk->unknown_count && !walk->not_executed_count;
        const struct isa_traffic *global = &launches[k].walked.code_object->mix.traffic[ISA_GLOBAL];
        if (!(walk->sums.accesses > 0) && global->load_bytes + global->store_bytes > 0)
            whole = false; /* others than the sampled workgroup have the work */
    }
    if (whole && declared > MOST_DECLARED * asked)
        prediction_note(prediction, "\"work\" of its manifest claims %s, the walked code asks for %s at most",
                        units_bytes(words[0], declared), units_bytes(words[1], asked));
}
