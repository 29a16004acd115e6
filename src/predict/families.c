/* SPDX-License-Identifier: MIT
 *
 * Reads the kernel families that are described by formulas (configs/models/families.json), and evaluates them for a
 * launch.
 */

#include "families.h"
#include "rooftile/record.h"

/* Limit on the loop iterations of one launch, against hostile input. */
#define MOST_TURNS 4000000u

/* (a^norm + b^norm + c^norm) ^ (1 / norm) */
static double join(const double *args)
{
    const double largest = fmax(args[0], fmax(args[1], args[2])), norm = args[3];
    if (!(largest > 0))
        return 0;
    return largest *
           pow(pow(args[0] / largest, norm) + pow(args[1] / largest, norm) + pow(args[2] / largest, norm), 1 / norm);
}

/* ---- reading ---- */

/* The names defined so far: the inputs, then words and formulas in order. */
struct scope {
    const char *names[FAMILY_NAMES];
    size_t count;
};

static enum status slot_of(size_t *slot, struct scope *scope, const char *name, const cJSON *at, struct err *err)
{
    for (*slot = 0; *slot < scope->count && strcmp(scope->names[*slot], name) != 0;)
        ++*slot;
    if (*slot == FAMILY_NAMES)
        return json_fail(at, err, "more than %d names", FAMILY_NAMES);
    if (*slot == scope->count)
        scope->names[scope->count++] = name;
    return STATUS_OK;
}

static enum status into_formula(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    static const struct expr_function functions[] = {{"join", 4, join}};
    const struct scope *scope = in->context;
    const struct expr_names names = {
        .variables = scope->names, .variable_count = scope->count, .functions = functions, .function_count = 1};
    if (json_check_type(at, cJSON_String, err))
        return err->status;
    if (!expr_compile(field, at->valuestring, &names, in->arena, err))
        return STATUS_OK;
    const char *problem = arena_strdup(in->arena, err->text);
    return json_fail(at, err, "%s", problem);
}

static record_get_fn into_step;
static const struct record step_record = {.size = sizeof(struct family_step), .get = into_step, .named = "formula"};

#define RECORD_STRUCT struct family_loop
static const struct record_field loop_fields[] = {
    FIELD_READ("from", from, into_formula, RECORD_REQUIRED),
    FIELD_READ("below", below, into_formula, RECORD_REQUIRED),
    FIELD_READ("step", step, into_formula),
    FIELD_MAP("let", steps, count, step_record, RECORD_REQUIRED),
};
static const struct record loop_record = {RECORD_TABLE(loop_fields)};
#undef RECORD_STRUCT

/* Reads a step: a string is a formula, an object is a loop over the name. */
static enum status into_step(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct family_step *step = field;
    const char *name = arena_strdup(in->arena, at->string);
    if (slot_of(&step->slot, in->context, name, at, err))
        return err->status;
    if (!cJSON_IsObject(at))
        return into_formula(&step->formula, at, in, err);
    struct family_loop *loop = arena_alloc(in->arena, sizeof(*loop));
    *loop = (struct family_loop){0};
    step->loop = loop;
    return record_parse(loop, &loop_record, at, in, err);
}

static enum status into_term(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct family_term *term = field;
    for (int k = 0; k < TERM_COUNT; k++)
        if (!strcmp(prediction_term_name((enum prediction_term)k), at->string)) {
            term->term = (enum prediction_term)k;
            return into_formula(&term->formula, at, in, err);
        }
    return json_fail_key(at, err, "there is no such term");
}

static const char *const text_names[] = {
    [TEXT_OP] = "op", [TEXT_KERNEL] = "kernel", [TEXT_FAMILY] = "family", [TEXT_TARGET] = "target"};

#define RECORD_STRUCT struct family_word
static enum status into_word(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    static const struct record_field fields[] = {FIELD_ENUM("text", text, text_names, RECORD_REQUIRED),
                                                 FIELD_LIST("like", like, count, record_string, RECORD_REQUIRED)};
    static const struct record word = {RECORD_TABLE(fields)};
    return record_parse(field, &word, at, in, err) || slot_of(&((struct family_word *)field)->slot, in->context,
                                                              arena_strdup(in->arena, at->string), at, err)
               ? err->status
               : STATUS_OK;
}
#undef RECORD_STRUCT
static const struct record word_record = {.size = sizeof(struct family_word), .get = into_word, .named = "word"};
static const struct record term_record = {.size = sizeof(struct family_term), .get = into_term};

#define RECORD_STRUCT struct family
static const struct record_field family_fields[] = {
    FIELD_LIST("names", names, name_count, record_word, RECORD_REQUIRED | RECORD_FILLED),
    FIELD_STRING("source", source, RECORD_REQUIRED),
    FIELD_BOOL("is_product", is_product, RECORD_PLAIN),
    FIELD_BOOL("multiplies", multiplies, RECORD_PLAIN),
    FIELD_F64("low", spread.low, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_F64("high", spread.high, RECORD_REQUIRED | RECORD_POSITIVE),
    FIELD_MAP("words", words, word_count, word_record),
    FIELD_READ("flops", flops, into_formula, RECORD_REQUIRED),
    FIELD_READ("bytes", bytes, into_formula, RECORD_REQUIRED),
    FIELD_MAP("let", steps, step_count, step_record, RECORD_REQUIRED),
    FIELD_MAP("terms", terms, term_count, term_record, RECORD_REQUIRED),
    FIELD_READ("time_us", time_us, into_formula, RECORD_REQUIRED),
    FIELD_READ("noted_if", noted_if, into_formula),
    FIELD_STRING("note", note, RECORD_PLAIN),
};
static const struct record family_members = {RECORD_TABLE(family_fields)};
#undef RECORD_STRUCT

/* Each family has its own scope of names. */
static enum status into_family(void *field, const cJSON *at, struct record_in *in, struct err *err)
{
    struct scope scope = {0};
    struct record_in own = {.arena = in->arena, .by_hand = true, .context = &scope};
    scope.count = family_inputs(scope.names, NULL, NULL);
    return record_parse(field, &family_members, at, &own, err);
}

static const struct record family_record = {.size = sizeof(struct family), .get = into_family};

#define RECORD_STRUCT struct families
static const struct record_field families_fields[] = {
    FIELD_LIST("families", items, count, family_record, RECORD_REQUIRED),
};
static const struct record families_record = {RECORD_TABLE(families_fields)};
#undef RECORD_STRUCT

enum status families_read(struct families *families, const char *path, struct arena *arena, struct err *err)
{
    const cJSON *root = NULL;
    struct record_in in = {.arena = arena, .by_hand = true};
    *families = (struct families){0};
    enum status status = json_read(&root, path, arena, err);
    return status ? status : record_parse(families, &families_record, root, &in, err);
}

const struct family *family_find(const struct families *families, const char *name)
{
    FOR_EACH(const struct family, family, families->items, name && *name ? families->count : 0)
        if (text_among(name, family->names, family->name_count))
            return family;
    return NULL;
}

/* ---- computing ---- */

static bool run(double *slots, const struct family_step *steps, size_t count, size_t *turns)
{
    struct err err = {0};
    FOR_EACH(const struct family_step, step, steps, count) {
        const struct family_loop *loop = step->loop;
        double below = 0, by = 1;
        if (expr_eval(&slots[step->slot], loop ? loop->from : step->formula, slots, &err) ||
            (loop && expr_eval(&below, loop->below, slots, &err)) ||
            (loop && loop->step && expr_eval(&by, loop->step, slots, &err)) || !(by > 0))
            return false;
        for (double at = slots[step->slot]; loop && at < below; at += by) {
            slots[step->slot] = at;
            if (++*turns > MOST_TURNS || !run(slots, loop->steps, loop->count, turns))
                return false;
        }
    }
    return true;
}

void family_start(double slots[FAMILY_NAMES], const struct family *family, const struct described *what,
                  const struct described_machine *on)
{
    const char *const texts[] = {[TEXT_OP] = what->op,
                                 [TEXT_KERNEL] = what->kernel,
                                 [TEXT_FAMILY] = what->family,
                                 [TEXT_TARGET] = on->machine->arch};
    for (size_t k = 0; k < FAMILY_NAMES; k++)
        slots[k] = NAN;
    (void)family_inputs(NULL, slots, &(struct family_input){what, on});
    FOR_EACH(const struct family_word, word, family->words, family->word_count)
        slots[word->slot] = COUNT_WHERE(like, word->like, word->count,
                                        text_matches(texts[word->text] ? texts[word->text] : "", *like)) > 0;
}

double family_value(const struct expr *formula, const double *slots)
{
    struct err err = {0};
    double value = NAN;
    return formula && !expr_eval(&value, formula, slots, &err) ? value : NAN;
}

bool family_predict(struct prediction *prediction, const struct family *family, double slots[FAMILY_NAMES])
{
    size_t turns = 0;
    if (!run(slots, family->steps, family->step_count, &turns))
        return false;
    FOR_EACH(const struct family_term, term, family->terms, family->term_count)
        prediction->term_ns[term->term] = family_value(term->formula, slots) * 1e3;
    prediction->time_ns = family_value(family->time_us, slots) * 1e3;
    if (family_value(family->noted_if, slots) > 0)
        prediction_note(prediction, "%s", family->note);
    return prediction->time_ns > 0;
}
