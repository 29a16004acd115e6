/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/arena.h"

static void zeroed_aligned_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 0, 16, 17, 1000, 70000, 3, 16384, 16385, 1000000, 64, 0};
    enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
    struct arena arena = {0};
    unsigned char *blocks[COUNT];
    size_t total = 0;
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = arena_alloc(&arena, sizes[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(blocks[i][j], 0);
        if (sizes[i])
            memset(blocks[i], (int)i + 1, sizes[i]);
        total += sizes[i];
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(blocks[i][j], i + 1);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(blocks[i], blocks[k]);
    }
    assert_int_equal(arena.used_bytes, total);
    arena_release(&arena);
    assert_null(arena.blocks);
    assert_int_equal(arena.used_bytes, 0);
    assert_non_null(arena_alloc(&arena, 1)); /* usable again */
    arena_release(&arena);
    arena_release(&arena);
}

static void small_ones_share_blocks(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *first = arena_alloc(&arena, 16);
    arena_alloc(&arena, 1000000); /* a block of its own does not retire the one in use */
    const char *second = arena_alloc(&arena, 16);
    assert_ptr_equal(first + 16, second);
    arena_release(&arena);
}

static void copies(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_null(arena_strdup(&arena, NULL));
    assert_string_equal(arena_strdup(&arena, "roof"), "roof");
    assert_string_equal(arena_strdup(&arena, ""), "");
    assert_string_equal(arena_strndup(&arena, "rooftile", 4), "roof");
    assert_string_equal(arena_strndup(&arena, "roof", 400), "roof");
    assert_memory_equal(arena_copy(&arena, "a\0b", 3), "a\0b", 3);
    assert_non_null(arena_copy(&arena, NULL, 0));
    assert_string_equal(arena_printf(&arena, "%s-%d", "x", 42), "x-42");
    assert_int_equal(strlen(arena_printf(&arena, "%100000d", 1)), 100000);
    const uint32_t *array = arena_array(&arena, 5, sizeof(*array));
    assert_int_equal(array[0] | array[4], 0);
    const uint32_t **pointers = arena_pointers(&arena, array, 5, sizeof(*array));
    assert_ptr_equal(pointers[0], array);
    assert_ptr_equal(pointers[4], &array[4]);
    arena_release(&arena);
}

/* The one message and exit code 3, seen from a child. */
static void overflow_ends_the_program(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        struct arena arena = {0};
        arena_array(&arena, SIZE_MAX / 2, 3);
        _exit(0);
    }
    close(ends[1]);
    char text[200] = {0};
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_memory_equal(text, "rooftile: out of memory (", 25);
}

static void arrays_grow(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct pair {
        size_t at, square;
    } *pairs = NULL, *kept = NULL;
    size_t count = 0, kept_count = 0;
    for (size_t k = 0; k < 1000; k++) {
        ARRAY_PUSH(pairs, count, (struct pair){k, k * k});
        ARENA_PUSH(&arena, kept, kept_count, (struct pair){k, k * k});
    }
    assert_int_equal(count, 1000);
    assert_int_equal(kept_count, 1000);
    for (size_t k = 0; k < count; k++)
        assert_true(pairs[k].square == k * k && kept[k].at == k);
    /* Taken back and filled again, at a length where the room is made anew. */
    count = 8;
    for (size_t k = 8; k < 40; k++)
        ARRAY_PUSH(pairs, count, (struct pair){k, 1});
    assert_true(pairs[7].square == 49 && pairs[8].square == 1 && pairs[39].at == 39);
    free(pairs);
    arena_release(&arena);
}

static void array_below_counts_the_lower(void **state)
{
    static const struct {
        char name;
        uint64_t key;
    } items[] = {{'a', 2}, {'b', 4}, {'c', 4}, {'d', UINT64_MAX}};
    static const struct {
        uint64_t key;
        size_t below;
    } cases[] = {{0, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 3}, {UINT64_MAX, 3}};
    const size_t offset = (size_t)((const char *)&items[0].key - (const char *)&items[0]);
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++)
        assert_int_equal(array_below(items, COUNT_OF(items), sizeof(*items), offset, cases[k].key), cases[k].below);
    assert_int_equal(array_below(NULL, 0, sizeof(*items), offset, 1), 0);
}

/* Leaks and double frees are the sanitizers' to find. */
static void owns_what_malloc_made(void **state)
{
    (void)state;
    struct arena arena = {0};
    arena_own(&arena, malloc(100));
    char *first = arena_alloc(&arena, 10);
    arena_own(&arena, malloc(100));
    assert_ptr_equal(arena_alloc(&arena, 10), first + 16);
    arena_reset(&arena);
    arena_own(&arena, malloc(100));
    arena_release(&arena);
    arena_own(&arena, malloc(100)); /* before anything else */
    arena_reset(&arena);
    assert_null(arena.blocks);
}

/* Also the first block, which is smaller than those after it. */
static void reset_keeps_a_block(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 100; size <= 10000; size *= 10) {
        char *before = arena_alloc(&arena, size);
        memset(before, 1, size);
        arena_reset(&arena);
        const char *after = arena_alloc(&arena, size);
        assert_ptr_equal(before, after);
        assert_int_equal(after[0] + after[size - 1], 0);
        arena_reset(&arena);
    }
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owns_what_malloc_made),        cmocka_unit_test(zeroed_aligned_apart),
        cmocka_unit_test(small_ones_share_blocks),      cmocka_unit_test(copies),
        cmocka_unit_test(overflow_ends_the_program),    cmocka_unit_test(arrays_grow),
        cmocka_unit_test(array_below_counts_the_lower), cmocka_unit_test(reset_keeps_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
