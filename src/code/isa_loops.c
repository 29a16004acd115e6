/* SPDX-License-Identifier: MIT
 *
 * Finds loops by strongly connected components: a component of the control flow graph with a cycle is a loop. Without
 * its header, the components that remain strongly connected are the loops inside, so one search of the whole graph
 * finds one level of nesting. For the graphs of compilers (reducible ones) these are exactly the natural loops, with
 * loops of the same header merged. Unlike a search for branches to lower addresses this is also correct if the body
 * precedes its header. (Tarjan, "Depth-first search and linear graph algorithms", 1972; the recursion on headers is
 * Steensgaard's.)
 */

#include "isa_internal.h"

/* Deeper nests, which nobody writes by hand, are not searched. */
#define MAX_DEPTH 64u
#define NONE SIZE_MAX

/* One instruction. */
struct node {
    size_t next[2];      /* possible successors, or NONE */
    bool is_out;         /* header of a found loop, or in no loop of this level: excluded from the search */
    size_t index, low;   /* Tarjan; index 0: not visited */
    size_t component;    /* of this level, identified by its last node on the stack */
    size_t size;         /* of the component identified by this node */
    size_t loop;         /* of its component, or NONE */
    unsigned next_taken; /* successors already followed */
    bool on_stack;
    bool is_entered; /* from outside its component, or by the kernel's start */
};

/* A loop by its nodes. struct isa_loop also has sums, and would need too much memory for the maximum number of
 * loops. */
struct found {
    size_t first, last, header; /* header NONE: not found yet */
    size_t parent;
    unsigned depth;
    bool has_inner;
    size_t index; /* in order of discovery, in which parents come first */
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

/* Tarjan's search from one node, with an explicit stack: kernels may have 100,000 nodes. */
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
        /* Edges do not cross the border of a loop that was already found. */
        const struct isa_instruction *instructions = graph->kernel->instructions;
        if (to == NONE || graph->nodes[to].is_out || instructions[i].loop != instructions[to].loop)
            continue;
        if (!graph->nodes[to].index)
            enter(graph, to);
        else if (graph->nodes[to].on_stack && graph->nodes[to].index < node->low)
            node->low = graph->nodes[to].index;
    }
}

/* Assigns a node of a component, in address order: a cycle is a loop; other nodes are in no loop at this depth. */
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
    /* If it has several entries (the first iteration of a rotated loop), together they are the header. */
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
    /* An unreachable loop is dead code: its first instruction is the header. */
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
    return x->first != y->first ? ORDER(x->first, y->first) : ORDER(x->depth, y->depth);
}

/* Stores the loops in address order, outer loops before inner ones. */
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
    graph.loops = arena_array(arena, count, sizeof(*graph.loops)); /* every loop has its own header */
    for (size_t i = 0; i < count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        graph.nodes[i].next[0] = !in->ends_block && i + 1 < count ? i + 1 : NONE;
        graph.nodes[i].next[1] = isa_target_of(kernel, in); /* branches may leave the kernel */
    }
    size_t known = NONE;
    for (unsigned depth = 1; depth <= MAX_DEPTH && known != graph.loop_count; depth++) {
        known = graph.loop_count;
        find_level(&graph, depth);
    }
    if (graph.loop_count)
        keep_loops(&graph, arena);
}
