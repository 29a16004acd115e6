/* SPDX-License-Identifier: MIT
 *
 * Loops by strongly connected components: a component of the control flow graph with more than one block, or one that
 * branches to itself, is a loop; without its header, what is still strongly connected is the loops inside. For graphs
 * that compilers make (reducible ones) these are exactly the natural loops, those with one header merged; unlike a
 * search for branches to lower addresses it is right when the body was laid out before its header. (Tarjan,
 * "Depth-first search and linear graph algorithms", 1972; the recursion on headers is Steensgaard's.)
 */
#include <stdlib.h>
#include <string.h>

#include "isa_internal.h"

/* Deeper nests, which no person wrote, are not looked into. */
#define MAX_DEPTH 64u
#define NONE SIZE_MAX

struct block {
    size_t first, end;   /* instructions [first, end) */
    size_t next[2];      /* blocks that may run after it, or NONE */
    size_t region;       /* which search it takes part in; 0: none any more */
    size_t index, low;   /* Tarjan: 0 not seen yet */
    size_t component;    /* of the current search */
    size_t loop;         /* innermost */
    unsigned next_taken; /* successors that the search has followed */
    bool on_stack;
    size_t first_before; /* its predecessors are before[first_before] up to those of the next block */
};

struct graph {
    struct block *blocks; /* and one behind the last */
    size_t count;
    size_t *before;       /* predecessors of all blocks */
    size_t *stack, *path; /* of the search */
    size_t stack_size, path_size;
    size_t seen;
    struct isa_loop *loops;
    size_t loop_count;
    size_t regions;
};

/* Blocks that are searched together: the body of `loop` without its header. */
struct search {
    size_t *members;
    size_t count;
    size_t loop;
    unsigned depth;
};

struct queue {
    struct search *items;
    size_t count, done, capacity;
    struct arena *arena;
};

/* The instruction at an address, or NONE: branches may leave the kernel. */
static size_t find_instruction(const struct isa_kernel *kernel, uint64_t address)
{
    size_t low = 0, high = kernel->instruction_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (kernel->instructions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < kernel->instruction_count && kernel->instructions[low].address == address ? low : NONE;
}

/* block_of[i]: the block that instruction i is in. */
static void make_blocks(struct graph *graph, const struct isa_kernel *kernel, size_t *block_of, struct arena *arena)
{
    const size_t count = kernel->instruction_count;
    bool *starts = arena_array(arena, count + 1, sizeof(*starts));
    starts[0] = true;
    for (size_t i = 0; i < count; i++) {
        const struct isa_instruction *in = &kernel->instructions[i];
        const size_t to = in->target ? find_instruction(kernel, in->target) : NONE;
        if (to != NONE)
            starts[to] = true;
        if (in->target || in->ends_block)
            starts[i + 1] = true;
    }
    graph->blocks = arena_array(arena, count + 1, sizeof(*graph->blocks));
    for (size_t i = 0; i < count; i++) {
        if (starts[i])
            graph->blocks[graph->count++] = (struct block){.first = i, .loop = ISA_NO_LOOP};
        graph->blocks[graph->count - 1].end = i + 1;
        block_of[i] = graph->count - 1;
    }
}

static void connect(struct graph *graph, const struct isa_kernel *kernel, const size_t *block_of)
{
    for (size_t b = 0; b < graph->count; b++) {
        struct block *block = &graph->blocks[b];
        const struct isa_instruction *last = &kernel->instructions[block->end - 1];
        const size_t to = last->target ? find_instruction(kernel, last->target) : NONE;
        const bool falls = !last->ends_block && b + 1 < graph->count;
        block->next[0] = falls ? b + 1 : NONE;
        block->next[1] = to == NONE ? NONE : block_of[to];
    }
}

/* Predecessors by counting sort. */
static void connect_back(struct graph *graph, struct arena *arena)
{
    struct block *blocks = graph->blocks;
    graph->before = arena_array(arena, 2 * graph->count, sizeof(*graph->before));
    for (size_t b = 0; b < graph->count; b++)
        for (unsigned i = 0; i < 2; i++)
            if (blocks[b].next[i] != NONE)
                blocks[blocks[b].next[i]].first_before++;
    size_t total = 0;
    for (size_t b = 0; b <= graph->count; b++) {
        total += blocks[b].first_before;
        blocks[b].first_before = total;
    }
    for (size_t b = 0; b < graph->count; b++)
        for (unsigned i = 0; i < 2; i++)
            if (blocks[b].next[i] != NONE)
                graph->before[--blocks[blocks[b].next[i]].first_before] = b;
}

static bool is_inside(const struct graph *graph, size_t b, size_t region)
{
    return b != NONE && graph->blocks[b].region == region;
}

static void enter(struct graph *graph, size_t b)
{
    struct block *block = &graph->blocks[b];
    block->index = block->low = ++graph->seen;
    block->next_taken = 0;
    block->on_stack = true;
    graph->stack[graph->stack_size++] = b;
    graph->path[graph->path_size++] = b;
}

static void leave(struct graph *graph, size_t b)
{
    struct block *block = &graph->blocks[b];
    graph->path_size--;
    if (graph->path_size) {
        struct block *before = &graph->blocks[graph->path[graph->path_size - 1]];
        before->low = block->low < before->low ? block->low : before->low;
    }
    if (block->low != block->index)
        return;
    for (size_t member = NONE; member != b;) {
        member = graph->stack[--graph->stack_size];
        graph->blocks[member].on_stack = false;
        graph->blocks[member].component = b;
    }
}

/* Tarjan's search from one block, with a path of our own: kernels may have 100,000 blocks. */
static void search_from(struct graph *graph, size_t start, size_t region)
{
    enter(graph, start);
    while (graph->path_size) {
        const size_t b = graph->path[graph->path_size - 1];
        struct block *block = &graph->blocks[b];
        if (block->next_taken == 2) {
            leave(graph, b);
            continue;
        }
        const size_t to = block->next[block->next_taken++];
        if (!is_inside(graph, to, region))
            continue;
        if (!graph->blocks[to].index)
            enter(graph, to);
        else if (graph->blocks[to].on_stack && graph->blocks[to].index < block->low)
            block->low = graph->blocks[to].index;
    }
}

static void queue_add(struct queue *queue, struct search search)
{
    if (queue->count == queue->capacity) {
        struct search *grown = arena_array(queue->arena, queue->capacity * 2 + 16, sizeof(*grown));
        if (queue->count)
            memcpy(grown, queue->items, queue->count * sizeof(*grown));
        queue->items = grown;
        queue->capacity = queue->capacity * 2 + 16;
    }
    queue->items[queue->count++] = search;
}

/* Entered from outside of its component, or by the kernel's start? */
static bool is_entry(const struct graph *graph, size_t b)
{
    const struct block *block = &graph->blocks[b];
    for (size_t i = block->first_before; i < block[1].first_before; i++) {
        const struct block *before = &graph->blocks[graph->before[i]];
        if (before->region != block->region || before->component != block->component)
            return true;
    }
    return b == 0;
}

static bool is_cyclic(const struct graph *graph, const size_t *members, size_t count)
{
    const struct block *only = &graph->blocks[members[0]];
    return count > 1 || only->next[0] == members[0] || only->next[1] == members[0];
}

/* A component with a cycle: a loop. Its blocks but the header are searched next. Members are in the order of addresses.
 */
static void add_loop(struct graph *graph, struct queue *queue, const struct isa_kernel *kernel,
                     const struct search *from, size_t *members, size_t count)
{
    if (!is_cyclic(graph, members, count))
        return;
    /* Entered at several places (the first iteration of a rotated loop): all of these together are the header. A
     * component that nothing enters is dead code. */
    size_t header = 0, inside = 0;
    while (header < count && !is_entry(graph, members[header]))
        header++;
    header = header < count ? header : 0;
    const struct block *first = &graph->blocks[members[0]], *last = &graph->blocks[members[count - 1]];
    graph->loops[graph->loop_count] = (struct isa_loop){
        .header_address = kernel->instructions[graph->blocks[members[header]].first].address,
        .first_address = kernel->instructions[first->first].address,
        .last_address = kernel->instructions[last->end - 1].address,
        .parent = from->loop,
        .depth = from->depth + 1,
        .is_innermost = true,
    };
    if (from->loop != ISA_NO_LOOP)
        graph->loops[from->loop].is_innermost = false;
    for (size_t i = 0; i < count; i++)
        graph->blocks[members[i]].loop = graph->loop_count;
    for (size_t i = 0; i < count; i++)
        if (i != header && !is_entry(graph, members[i]))
            members[inside++] = members[i];
    if (inside && from->depth + 1 < MAX_DEPTH)
        queue_add(queue, (struct search){members, inside, graph->loop_count, from->depth + 1});
    graph->loop_count++;
}

struct key {
    size_t component, block;
};

static int by_component(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static void search_run(struct graph *graph, struct queue *queue, const struct isa_kernel *kernel,
                       const struct search *search)
{
    const size_t region = ++graph->regions;
    for (size_t i = 0; i < search->count; i++) {
        graph->blocks[search->members[i]].region = region;
        graph->blocks[search->members[i]].index = 0;
    }
    for (size_t i = 0; i < search->count; i++)
        if (!graph->blocks[search->members[i]].index)
            search_from(graph, search->members[i], region);
    struct key *keys = arena_array(queue->arena, search->count, sizeof(*keys));
    for (size_t i = 0; i < search->count; i++)
        keys[i] = (struct key){graph->blocks[search->members[i]].component, search->members[i]};
    qsort(keys, search->count, sizeof(*keys), by_component);
    for (size_t i = 0; i < search->count; i++)
        search->members[i] = keys[i].block;
    for (size_t from = 0, to; from < search->count; from = to) {
        for (to = from + 1; to < search->count && keys[to].component == keys[from].component; to++)
            continue;
        add_loop(graph, queue, kernel, search, search->members + from, to - from);
    }
}

struct order {
    const struct isa_loop *loop;
    size_t index;
};

static int by_place(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->loop->first_address != y->loop->first_address)
        return x->loop->first_address < y->loop->first_address ? -1 : 1;
    if (x->loop->depth != y->loop->depth)
        return x->loop->depth < y->loop->depth ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Into the order of addresses, an outer loop before those inside. */
static void sort_loops(struct graph *graph, struct isa_kernel *kernel, struct arena *arena)
{
    const size_t count = graph->loop_count;
    struct order *orders = arena_array(arena, count, sizeof(*orders));
    size_t *place = arena_array(arena, count, sizeof(*place));
    for (size_t i = 0; i < count; i++)
        orders[i] = (struct order){&graph->loops[i], i};
    qsort(orders, count, sizeof(*orders), by_place);
    kernel->loops = arena_array(arena, count, sizeof(*kernel->loops));
    kernel->loop_count = count;
    for (size_t i = 0; i < count; i++) {
        kernel->loops[i] = *orders[i].loop;
        place[orders[i].index] = i;
    }
    for (size_t i = 0; i < count; i++)
        if (kernel->loops[i].parent != ISA_NO_LOOP)
            kernel->loops[i].parent = place[kernel->loops[i].parent];
    for (size_t b = 0; b < graph->count; b++)
        if (graph->blocks[b].loop != ISA_NO_LOOP)
            for (size_t i = graph->blocks[b].first; i < graph->blocks[b].end; i++)
                kernel->instructions[i].loop = place[graph->blocks[b].loop];
}

void isa_loops_find(struct isa_kernel *kernel, struct arena *arena)
{
    struct graph graph = {0};
    if (!kernel->instruction_count)
        return;
    size_t *block_of = arena_array(arena, kernel->instruction_count, sizeof(*block_of));
    make_blocks(&graph, kernel, block_of, arena);
    connect(&graph, kernel, block_of);
    connect_back(&graph, arena);
    graph.stack = arena_array(arena, graph.count, sizeof(*graph.stack));
    graph.path = arena_array(arena, graph.count, sizeof(*graph.path));
    graph.loops = arena_array(arena, graph.count, sizeof(*graph.loops)); /* every loop has a header of its own */
    size_t *members = arena_array(arena, graph.count, sizeof(*members));
    for (size_t b = 0; b < graph.count; b++)
        members[b] = b;
    struct queue queue = {.arena = arena};
    queue_add(&queue, (struct search){members, graph.count, ISA_NO_LOOP, 0});
    while (queue.done < queue.count) {
        const struct search search = queue.items[queue.done++];
        search_run(&graph, &queue, kernel, &search);
    }
    if (graph.loop_count)
        sort_loops(&graph, kernel, arena);
}
