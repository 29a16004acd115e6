/* SPDX-License-Identifier: MIT
 *
 * Many cases of a kernel, few walks. Cases that differ in numbers alone form boxes: corners of a box are walked, and
 * cases inside as a check; where the corners do not say what these take, the box is split.
 */

#include "predictor_boxes.h"

#define FEW_CASES 24u    /* of which each is walked */
#define FEW_INSIDE 8u    /* ... of a part of a box */
#define FEW_VALUES 6u    /* of a parameter that may be of blocks, tiles, switches: a box is split by each of them */
#define MOST_ALIGNED 6   /* power of two that decides about lines and banks: 64 elements */
#define TOLERANCE 0.025  /* of those that are checked, that the rest is within 3 % */
#define LEAST_BEND 0.003 /* below it no axis is to blame, and few of its cases are checked from then on */
#define MOST_CHECKS 9u

struct boxes {
    struct predictor *predictor;
    const struct plan *plan;
    const struct build_result *builds;
    const struct machine *machine;
    predictor_take_fn *take;
    void *context;
    struct err *err;
    struct arena *arena;
    const struct case_walks **walks; /* by case; NULL: not walked */
    double *times_ns;                /* ... of those that were */
    enum status status;
};

static void predict(struct prediction *prediction, struct boxes *all, const struct plan_case *c)
{
    if (all->status)
        return;
    all->status =
        predictor_case(prediction, all->predictor, &c->resolved, all->builds, c->measure.cache, all->machine, all->err);
    if (all->status)
        (void)err_within(all->err, "%s", c->id);
}

static void take(struct boxes *all, const struct plan_case *c, const struct prediction *prediction)
{
    if (!all->status)
        all->take(all->context, (size_t)(c - all->plan->cases), prediction);
}

static const struct case_walks *walked(struct boxes *all, const struct plan_case *c)
{
    const size_t at = (size_t)(c - all->plan->cases);
    struct prediction prediction;
    if (!all->walks[at]) {
        predict(&prediction, all, c);
        take(all, c, &prediction);
        all->walks[at] = predictor_walks(all->predictor, all->arena);
        all->times_ns[at] = all->status ? 0 : prediction.time_ns;
    }
    return all->walks[at];
}

/* ---- order ---- */

/* Powers of two in a number, up to those that matter. */
static int alignment_of(double number)
{
    int power = 0;
    if (fabs(number) > 0x1p53 || number != floor(number))
        return 0;
    for (uint64_t whole = (uint64_t)fabs(number); power < MOST_ALIGNED && !(whole & 1); power++)
        whole /= 2;
    return power;
}

/* 0: launches of the same code with the same data, but for numbers. */
static int compare_kinds(const struct member *a, const struct member *b)
{
    const struct resolved *x = &a->c->resolved, *y = &b->c->resolved;
    int order = ORDER((uintptr_t)x->manifest, (uintptr_t)y->manifest) ?: ORDER(x->code_count, y->code_count)
                ?: ORDER(a->c->measure.cache, b->c->measure.cache) ?: ORDER(a->places, b->places);
    for (size_t k = 0; k < x->code_count && !order; k++)
        order = ORDER(x->codes[k], y->codes[k]);
    for (size_t k = 0; k < x->manifest->param_count && !order; k++) {
        const struct param_value *p = &x->values[k], *q = &y->values[k];
        if (p->kind == PARAM_NUMBER)
            order = ORDER(alignment_of(p->number), alignment_of(q->number));
        else if (p->kind == PARAM_DTYPE)
            order = ORDER(p->dtype, q->dtype);
        else if (p->kind == PARAM_STRING)
            order = strcmp(p->string, q->string);
        else
            order = p->count == q->count ? memcmp(p->list, q->list, p->count * sizeof(*p->list))
                                         : ORDER(p->count, q->count);
    }
    return order;
}

static int by_kind(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return compare_kinds(x, y) ?: ORDER(x->c->index, y->c->index);
}

static int by_value(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return ORDER(x->value, y->value) ?: ORDER(x->c->index, y->c->index);
}

/* How many values there are. */
static size_t sort_by(const struct box *box, size_t param)
{
    size_t values = 1;
    for (size_t k = 0; k < box->count; k++)
        box->members[k].value = box_number(box->members[k].c, param);
    qsort(box->members, box->count, sizeof(*box->members), by_value);
    for (size_t k = 1; k < box->count; k++)
        values += box->members[k].value != box->members[k - 1].value;
    return values;
}

/* Where the members that have another value than the one at `from` begin. */
static size_t run_end(const struct box *box, size_t from)
{
    size_t end = from + 1;
    while (end < box->count && box->members[end].value == box->members[from].value)
        end++;
    return end;
}

/* ---- one box ---- */

/* False: it has to be walked. */
static bool predict_between(struct prediction *prediction, struct boxes *all, const struct box *box,
                            struct corners *corners, const struct plan_case *c)
{
    if (!box_weigh(corners->between.weights, box, corners->cases, c))
        return false;
    (void)predictor_set_between(all->predictor, &corners->between);
    predict(prediction, all, c);
    return !predictor_set_between(all->predictor, NULL);
}

/* How far off the case is between the corners; INFINITY: it has to be walked. */
static double error_at(struct boxes *all, const struct box *box, struct corners *corners, const struct plan_case *c)
{
    struct prediction prediction = {0};
    (void)walked(all, c);
    if (!predict_between(&prediction, all, box, corners, c))
        return INFINITY;
    const double time_ns = all->times_ns[c - all->plan->cases];
    return fabs(prediction.time_ns - time_ns) / (time_ns > 0 ? time_ns : 1);
}

/* So many cases inside are checked. */
static size_t checks_of(const struct box *box)
{
    bool straight = true;
    for (size_t axis = 0; axis < box->axes; axis++)
        straight &= box->straight[box->params[axis]];
    return straight ? 2 : box->axes == 1 ? 4 : MOST_CHECKS;
}

/* False: the corners do not say what is between them. Cases that have been walked cost nothing to check. */
static bool interpolate(struct boxes *all, const struct box *box)
{
    static const double inside[MOST_CHECKS][AXES] = {{0.5, 0.5, 0.5},   {0.2, 0.8, 0.3},   {0.05, 0.05, 0.05},
                                                     {0.8, 0.3, 0.8},   {0.05, 0.6, 0.95}, {0.95, 0.05, 0.6},
                                                     {0.6, 0.95, 0.05}, {0.3, 0.1, 0.7},   {0.1, 0.3, 0.1}};
    const size_t checks = checks_of(box);
    struct corners corners = {.between = {.count = box->axes + 1}};
    double distance = 0;
    box_corners(corners.cases, box);
    if (!box_weigh(corners.between.weights, box, corners.cases, corners.cases[0]))
        return false;
    for (size_t k = 0; k < corners.between.count; k++)
        corners.between.corners[k] = walked(all, corners.cases[k]);
    for (size_t k = 0; k < box->count && !all->status; k++) {
        const struct plan_case *c = box->members[k].c;
        if (all->walks[c - all->plan->cases] && error_at(all, box, &corners, c) > TOLERANCE)
            return false;
    }
    for (size_t k = 0; k < checks && !all->status; k++)
        if (error_at(all, box, &corners, box_case(box, inside[k], &distance)) > TOLERANCE)
            return false;
    for (size_t k = 0; k < box->count && !all->status; k++) {
        const struct plan_case *c = box->members[k].c;
        struct prediction prediction;
        if (all->walks[c - all->plan->cases])
            continue;
        if (predict_between(&prediction, all, box, &corners, c))
            take(all, c, &prediction);
        else
            (void)walked(all, c);
    }
    return true;
}

static void walk_all(struct boxes *all, const struct box *box)
{
    for (size_t k = 0; k < box->count && !all->status; k++)
        (void)walked(all, box->members[k].c);
}

/* Finds the axes. A parameter that has another value in each case stands for all that change with it. */
static void find_axes(struct box *box)
{
    const size_t params = box->members[0].c->resolved.manifest->param_count;
    size_t most = 1;
    box->axes = 0;
    box->fewest_values = SIZE_MAX;
    for (size_t param = 0; param < params; param++) {
        const size_t values = sort_by(box, param);
        if (values == 1)
            continue;
        if (values < box->fewest_values) {
            box->fewest = param;
            box->fewest_values = values;
        }
        if (values > most) {
            box->widest = param;
            most = values;
        }
        if (box->axes < AXES) {
            box->params[box->axes] = param;
            box->low[box->axes] = box->members[0].value;
            box->high[box->axes] = box->members[box->count - 1].value;
        }
        box->axes++;
    }
    if (most < box->count)
        return;
    (void)sort_by(box, box->widest);
    box->axes = 1;
    box->params[0] = box->widest;
    box->low[0] = box->members[0].value;
    box->high[0] = box->members[box->count - 1].value;
    box->fewest_values = most;
}

static void visit(struct boxes *all, const struct box *of, struct member *members, size_t count, bool has_rim);

/* The first values are often of launches too small to have what others have, neighbours say: each rim is a box of its
 * own, and so is what they enclose. */
static void visit_rims(struct boxes *all, const struct box *box)
{
    struct box rest = *box;
    for (size_t axis = 0; axis < box->axes && rest.count; axis++) {
        if (sort_by(&rest, box->params[axis]) <= FEW_VALUES)
            continue;
        const size_t rim = run_end(&rest, 0);
        visit(all, box, rest.members, rim, false);
        rest.members += rim;
        rest.count -= rim;
    }
    visit(all, box, rest.members, rest.count, false);
}

/* The members of the box that differ from one in its middle by this axis alone, as a box. */
static struct box line_through(const struct boxes *all, const struct box *box, size_t axis)
{
    static const double middle[AXES] = {0.5, 0.5, 0.5};
    double distance = 0;
    const struct plan_case *centre = box_case(box, middle, &distance);
    struct box line = {.members = arena_array(all->arena, box->count, sizeof(*line.members)),
                       .axes = 1,
                       .params = {box->params[axis]},
                       .low = {box->low[axis]},
                       .high = {box->high[axis]}};
    for (size_t k = 0; k < box->count; k++) {
        bool on_line = true;
        for (size_t other = 0; other < box->axes; other++)
            on_line &= other == axis || box_place(box, box->members[k].c, other) == box_place(box, centre, other);
        if (on_line)
            line.members[line.count++] = box->members[k];
    }
    return line;
}

/* How far off the middle of a line is when only its ends are walked. */
static double bend_of(struct boxes *all, const struct box *line)
{
    static const double middle[AXES] = {0.5};
    struct corners corners = {.between = {.count = 2}};
    double distance = 0;
    box_corners(corners.cases, line);
    for (size_t k = 0; k < 2; k++)
        corners.between.corners[k] = walked(all, corners.cases[k]);
    return error_at(all, line, &corners, box_case(line, middle, &distance));
}

/* The axis along which the corners say least about what is between. The others are straight. */
static size_t bent_axis(struct boxes *all, struct box *box)
{
    double most = LEAST_BEND;
    size_t param = box->widest;
    for (size_t axis = 0; axis < box->axes && box->axes > 1 && !all->status; axis++) {
        const struct box line = line_through(all, box, axis);
        const double bend = line.count > 2 ? bend_of(all, &line) : 0;
        box->straight[box->params[axis]] = line.count > 2 && bend <= LEAST_BEND;
        if (bend > most) {
            most = bend;
            param = box->params[axis];
        }
    }
    for (size_t axis = 0; axis < box->axes && most == LEAST_BEND; axis++) /* nor are lines through the middle all */
        box->straight[box->params[axis]] = false;
    return param;
}

static void visit_halves(struct boxes *all, const struct box *box)
{
    size_t middle = run_end(box, box->count / 2);
    if (middle == box->count)
        for (middle = box->count / 2; middle && box->members[middle].value == box->members[box->count / 2].value;)
            middle--;
    visit(all, box, box->members, middle, false);
    visit(all, box, box->members + middle, box->count - middle, false);
}

static void visit_each(struct boxes *all, const struct box *box, bool has_rim)
{
    for (size_t at = 0, end; at < box->count; at = end) {
        end = run_end(box, at);
        visit(all, box, box->members + at, end - at, has_rim);
    }
}

/* `of`: the box that was split. */
static void visit(struct boxes *all, const struct box *of, struct member *members, size_t count, bool has_rim)
{
    const size_t params = members[0].c->resolved.manifest->param_count;
    struct box box = {.members = members, .count = count, .straight = arena_array(all->arena, params, sizeof(bool))};
    if (count < (has_rim ? FEW_CASES : FEW_INSIDE)) {
        walk_all(all, &box);
        return;
    }
    if (of)
        memcpy(box.straight, of->straight, params * sizeof(*box.straight));
    find_axes(&box);
    if (!box.axes) {
        walk_all(all, &box);
        return;
    }
    const bool can = box.axes <= AXES && box.fewest_values > 2; /* else nothing is between them */
    if (can && interpolate(all, &box))
        return;
    const size_t split = can ? bent_axis(all, &box) : box.fewest_values <= FEW_VALUES ? box.fewest : box.widest;
    if (sort_by(&box, split) <= FEW_VALUES)
        visit_each(all, &box, has_rim);
    else if (has_rim && can)
        visit_rims(all, &box);
    else
        visit_halves(all, &box);
}

static uint64_t places_of(struct boxes *all, const struct plan_case *c)
{
    static const struct predictor_between nothing = {.count = 0};
    struct prediction prediction;
    uint64_t places = 0;
    (void)predictor_set_between(all->predictor, &nothing);
    predict(&prediction, all, c);
    (void)predictor_set_between(all->predictor, NULL);
    size_t count = 0;
    const struct predicted_launch *launches = predictor_launches(all->predictor, &count);
    for (size_t k = 0; k < count; k++)
        places = places * 31 + launches[k].place + 1;
    return places;
}

enum status predictor_cases(struct predictor *predictor, const struct plan *plan, const struct build_result *builds,
                            const struct machine *machine, predictor_take_fn *take_one, void *context, struct err *err)
{
    SCOPED(arena_release) struct arena arena = {0};
    struct boxes all = {.predictor = predictor,
                        .plan = plan,
                        .builds = builds,
                        .machine = machine,
                        .take = take_one,
                        .context = context,
                        .err = err,
                        .arena = &arena,
                        .walks = arena_array(&arena, plan->count + 1, sizeof(*all.walks)),
                        .times_ns = arena_array(&arena, plan->count + 1, sizeof(*all.times_ns))};
    struct member *members = arena_array(&arena, plan->count + 1, sizeof(*members));
    size_t count = 0;
    for (size_t k = 0; k < plan->count; k++)
        if (plan->cases[k].state == PLAN_READY)
            members[count++].c = &plan->cases[k];
    for (size_t k = 0; k < count && count >= FEW_CASES; k++)
        members[k].places = places_of(&all, members[k].c);
    if (count >= FEW_CASES)
        qsort(members, count, sizeof(*members), by_kind);
    for (size_t at = 0, end; at < count; at = end) {
        for (end = at + 1; end < count && !compare_kinds(&members[at], &members[end]); end++)
            ;
        visit(&all, NULL, members + at, end - at, true);
    }
    return all.status;
}
