/* SPDX-License-Identifier: MIT
 *
 * Loops by strongly connected components: a component of the control flow graph with a cycle is a loop; without its
 * header, what is still strongly connected is the loops inside, so one search of the whole graph finds one level of
 * nesting. For graphs that compilers make (reducible ones) these are exactly the natural loops, those with one header
 * merged; unlike a search for branches to lower addresses it is right when the body was laid out before its header.
 * (Tarjan, "Depth-first search and linear graph algorithms", 1972; the recursion on headers is Steensgaard's.)
 */

#include "isa_internal.h"

/* Deeper nests, which no person wrote, are not looked into. */
#define MAX_DEPTH 64u
#define NONE SIZE_MAX

/* One instruction. */
struct node {
    size_t next[2];      /* what may run after it, or NONE */
    bool is_out;         /* the header of a loop that was found, or in no loop of this level: takes part no more */
    size_t index, low;   /* Tarjan; index 0: not seen yet */
    size_t component;    /* of this level, by its last node on the stack */
    size_t size;         /* of the component that is named after this node */
    size_t loop;         /* that its component is, or NONE */
    unsigned next_taken; /* successors that the search has followed */
    bool on_stack;
    bool is_entered; /* from outside of its component, or by the kernel's start */
};

/* A loop by its nodes: struct isa_loop has room for sums, too much for as many as there may be. */
struct found {
    size_t first, last, header; /* header NONE: not seen yet */
    size_t parent;
    unsigned depth;
    bool has_inner;
    size_t index; /* in the order in which they were found, which is that of parents */
};

struct graph {
    struct isa_kernel *kernel;
    struct node *nodes;
    size_t count;
    size_t *stack, *path; /* of the search */
    size_t stack_size, path_size;
    size_t seen;
    struct found *loops;
    size_t loop_count;
};

/* ---- one level ---- */

static void enter(struct graph *graph, size_t i)
{
    struct node *node = &graph->nodes[i];
    node->index = node->low = ++graph->seen;
    node->next_taken = 0;
    node->on_stack = true;
    graph->stack[graph->stack_size++] = i;
    graph->path[graph->path_size++] = i;
}

static void leave(struct graph *graph, size_t i)
{
    struct node *node = &graph->nodes[i];
    graph->path_size--;
    if (graph->path_size) {
        struct node *before = &graph->nodes[graph->path[graph->path_size - 1]];
        before->low = node->low < before->low ? node->low : before->low;
    }
    if (node->low != node->index)
        return;
    node->size = 0;
    node->loop = NONE;
    for (size_t member = NONE; member != i; node->size++) {
        member = graph->stack[--graph->stack_size];
        graph->nodes[member].on_stack = false;
        graph->nodes[member].component = i;
    }
}

/* Tarjan's search from one node, with a path of our own: kernels may have 100,000 of them. */
static void search_from(struct graph *graph, size_t start)
{
    enter(graph, start);
    while (graph->path_size) {
        const size_t i = graph->path[graph->path_size - 1];
        struct node *node = &graph->nodes[i];
        if (node->next_taken == 2) {
            leave(graph, i);
            continue;
        }
        const size_t to = node->next[node->next_taken++];
        /* Loops that were found already are walls: their nodes stay among themselves. */
        const struct isa_instruction *instructions = graph->kernel->instructions;
        if (to == NONE || graph->nodes[to].is_out || instructions[i].loop != instructions[to].loop)
            continue;
        if (!graph->nodes[to].index)
            enter(graph, to);
        else if (graph->nodes[to].on_stack && graph->nodes[to].index < node->low)
            node->low = graph->nodes[to].index;
    }
}

/* A node of a component, in the order of addresses: a cycle is a loop, and anything else is in none at this depth. */
static void take(struct graph *graph, size_t i, unsigned depth)
{
    struct node *node = &graph->nodes[i], *component = &graph->nodes[node->component];
    struct isa_instruction *in = &graph->kernel->instructions[i];
    if (component->size == 1 && node->next[0] != i && node->next[1] != i) {
        node->is_out = true;
        return;
    }
    if (component->loop == NONE) {
        const size_t parent = graph->kernel->instructions[i].loop;
        graph->loops[graph->loop_count] =
            (struct found){.first = i, .header = NONE, .parent = parent, .depth = depth, .index = graph->loop_count};
        if (parent != ISA_NO_LOOP)
            graph->loops[parent].has_inner = true;
        component->loop = graph->loop_count++;
    }
    in->loop = component->loop;
    struct found *loop = &graph->loops[in->loop];
    loop->last = i;
    /* Entered at several places (the first iteration of a rotated loop): all of these together are the header. */
    if (!node->is_entered)
        return;
    loop->header = loop->header == NONE ? i : loop->header;
    node->is_out = true;
}

static void find_level(struct graph *graph, unsigned depth)
{
    const size_t known = graph->loop_count;
    graph->seen = 0;
    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i].index = 0;
        graph->nodes[i].is_entered = i == 0;
    }
    for (size_t i = 0; i < graph->count; i++)
        if (!graph->nodes[i].is_out && !graph->nodes[i].index)
            search_from(graph, i);
    for (size_t i = 0; i < graph->count; i++)
        for (unsigned k = 0; k < 2; k++) {
            const struct node *node = &graph->nodes[i];
            if (node->next[k] != NONE && (node->is_out || node->component != graph->nodes[node->next[k]].component))
                graph->nodes[node->next[k]].is_entered = true;
        }
    for (size_t i = 0; i < graph->count; i++)
        if (!graph->nodes[i].is_out)
            take(graph, i, depth);
    /* What nothing enters is dead code: its first instruction is the header. */
    for (struct found *loop = graph->loops + known; loop < graph->loops + graph->loop_count; loop++)
        if (loop->header == NONE) {
            loop->header = loop->first;
            graph->nodes[loop->first].is_out = true;
        }
}

/* ---- all ---- */

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return ORDER(x->depth, y->depth);
}

/* Into the order of addresses, an outer loop before those inside. */
static void keep_loops(const struct graph *graph, struct arena *arena)
{
    struct isa_kernel *kernel = graph->kernel;
    const struct isa_instruction *instructions = kernel->instructions;
    const size_t count = kernel->loop_count = graph->loop_count;
    size_t *place = arena_array(arena, count, sizeof(*place));
    qsort(graph->loops, count, sizeof(*graph->loops), by_place);
    for (size_t i = 0; i < count; i++)
        place[graph->loops[i].index] = i;
    kernel->loops = arena_array(arena, count, sizeof(*kernel->loops));
    for (size_t i = 0; i < count; i++) {
        const struct found *loop = &graph->loops[i];
        kernel->loops[i] = (struct isa_loop){.header_address = instructions[loop->header].address,
                                             .first_address = instructions[loop->first].address,
                                             .last_address = instructions[loop->last].address,
                                             .parent = loop->parent == ISA_NO_LOOP ? ISA_NO_LOOP : place[loop->parent],
                                             .depth = loop->depth,
                                             .is_innermost = !loop->has_inner};
    }
    for (size_t i = 0; i < graph->count; i++)
        if (instructions[i].loop != ISA_NO_LOOP)
            kernel->instructions[i].loop = place[instructions[i].loop];
}

void isa_loops_find(struct isa_kernel *kernel, struct arena *arena)
{
    const size_t count = kernel->instruction_count;
    struct graph graph = {.kernel = kernel, .count = count};
    graph.nodes = arena_array(arena, count, sizeof(*graph.nodes));
    graph.stack = arena_array(arena, count, sizeof(*graph.stack));
    graph.path = arena_array(arena, count, sizeof(*graph.path));
    graph.loops = arena_array(arena, count, sizeof(*graph.loops)); /* every loop has a header of its own */
    for (size_t i = 0; i < count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        const size_t to = isa_target_of(kernel, in); /* branches may leave the kernel */
        graph.nodes[i].next[0] = !in->ends_block && i + 1 < count ? i + 1 : NONE;
        graph.nodes[i].next[1] = to;
    }
    size_t known = NONE;
    for (unsigned depth = 1; depth <= MAX_DEPTH && known != graph.loop_count; depth++) {
        known = graph.loop_count;
        find_level(&graph, depth);
    }
    if (graph.loop_count)
        keep_loops(&graph, arena);
}
