/* SPDX-License-Identifier: MIT
 *
 * The order of events, and the numbers in them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../src/import/trace.h"
#include "rooftile/rng.h"

struct item {
    uint64_t key, place;
    char rest[24];
};

static size_t compares;

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    compares++;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void sorted(struct item *items, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        items[k].place = k;
        memset(items[k].rest, (int)items[k].key, sizeof(items[k].rest));
    }
    sort_mostly_sorted(items, count, sizeof(*items), by_key);
    for (size_t k = 1; k < count; k++) {
        assert_true(items[k - 1].key <= items[k].key);
        assert_true(items[k - 1].key < items[k].key || items[k - 1].place < items[k].place);
    }
    for (size_t k = 0; k < count; k++)
        assert_int_equal(items[k].rest[23], (char)items[k].key);
}

static void every_order(void **state)
{
    (void)state;
    enum { MOST = 1000 };
    static struct item items[MOST];
    for (size_t count = 0; count < MOST; count += count < 70 ? 1 : 93)
        for (unsigned order = 0; order < 5; order++) {
            for (size_t k = 0; k < count; k++)
                items[k].key = order == 0   ? k
                               : order == 1 ? count - k
                               : order == 2 ? rng_at(7, k) % 50
                               : order == 3 ? (k % 4) * count + k /* four streams, one behind the other ... */
                                            : k * count % 1009;
            sorted(items, count);
        }
}

static void near_order_is_cheap(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct item *items = calloc(COUNT, sizeof(*items));
    for (size_t k = 0; k < COUNT; k++)
        items[k].key = 10 * k + rng_at(7, k) % 40;
    compares = 0;
    sort_mostly_sorted(items, COUNT, sizeof(*items), by_key);
    assert_true(compares < 5 * COUNT);
    free(items);
}

static void numbers_as_strtod_reads_them(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "7",
                                        "3000000000000.123",
                                        "2204338332184.206",
                                        "0.1",
                                        "1e3",
                                        "-5.25",
                                        "9007199254740993",
                                        "9007199254740991",
                                        "123456789012345678",
                                        "1.5E-3",
                                        "0.000000001",
                                        "1739000000000000000",
                                        ".5",
                                        "5.",
                                        "0.30000000000000004",
                                        "179.99999999999997"};
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        char quoted[64] = "";
        const size_t length = strlen(texts[k]);
        assert_true(slice_number((struct slice){texts[k], length}, -1) == strtod(texts[k], NULL));
        text_append(quoted, sizeof(quoted), "", "\"%s\"", texts[k]);
        assert_true(slice_number((struct slice){quoted, length + 2}, -1) == strtod(texts[k], NULL));
    }
    assert_true(slice_number((struct slice){"null", 4}, -1) == -1);
    assert_true(slice_number((struct slice){"\"\"", 2}, -1) == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order),
        cmocka_unit_test(near_order_is_cheap),
        cmocka_unit_test(numbers_as_strtod_reads_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
