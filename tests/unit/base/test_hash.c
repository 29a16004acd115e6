/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/file.h"
#include "rooftile/hash.h"

/* Cache keys must stay the same over releases and machines: the expected text is pinned. */
static void key_is_stable(void **state)
{
    (void)state;
    struct hash *hash = hash_new();
    char first[HASH_TEXT], again[HASH_TEXT];
    hash_add(hash, "source", 6);
    hash_add_string(hash, "-O3");
    hash_hex(hash, first);
    hash_hex(hash, again); /* looking does not change it */
    assert_string_equal(first, again);
    assert_string_equal(first, "5d0034f786c3b9573c0481a1b9f42d7f");
    hash_free(hash);
    hash_free(NULL);
    assert_true(hash_u64("", 0) == 0x2D06800538D394C2); /* XXH3's own test value */
}

/* Every row must differ from every other; NULL ends a row at its place, "(null)" adds the NULL string. */
static void boundaries_count(void **state)
{
    (void)state;
    static const char *const rows[][4] = {
        {NULL},          {""},        {"", ""},    {"(null)"},        {"ab", "c"}, {"a", "bc"}, {"abc"},
        {"a", "b", "c"}, {"", "abc"}, {"abc", ""}, {"abc", "(null)"},
    };
    enum { COUNT = sizeof(rows) / sizeof(*rows) };
    char keys[COUNT][HASH_TEXT];
    for (size_t i = 0; i < COUNT; i++) {
        struct hash *hash = hash_new();
        for (size_t j = 0; rows[i][j]; j++)
            hash_add_string(hash, strcmp(rows[i][j], "(null)") == 0 ? NULL : rows[i][j]);
        hash_hex(hash, keys[i]);
        hash_free(hash);
        assert_int_equal(strlen(keys[i]), 32);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(keys[i], keys[k]);
    }
}

static void file_key(char key[static HASH_TEXT], const char *path)
{
    struct err err = {0};
    struct hash *hash = hash_new();
    assert_int_equal(hash_add_file(hash, path, &err), STATUS_OK);
    hash_hex(hash, key);
    hash_free(hash);
}

static void files(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct err err = {0};
    char dir[] = "/tmp/rooftile-hash-XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *a = path_join(&arena, dir, "a"), *b = path_join(&arena, dir, "b");
    enum { SIZE = 300000 }; /* several chunks */
    char *data = arena_alloc(&arena, SIZE);
    memset(data, 'r', SIZE);
    assert_int_equal(file_write(a, data, SIZE, &err), STATUS_OK);
    assert_int_equal(file_write(b, data, SIZE, &err), STATUS_OK);
    char key_a[HASH_TEXT], key_b[HASH_TEXT], sha[HASH_TEXT], sha_file[HASH_TEXT];
    file_key(key_a, a);
    file_key(key_b, b);
    assert_string_equal(key_a, key_b); /* the content, not the name */
    hash_sha256(sha, data, SIZE);
    assert_int_equal(hash_sha256_file(sha_file, a, &err), STATUS_OK);
    assert_string_equal(sha, sha_file);
    data[SIZE - 1] = 'x';
    assert_int_equal(file_write(b, data, SIZE, &err), STATUS_OK);
    file_key(key_b, b);
    assert_string_not_equal(key_a, key_b);
    unlink(a);
    unlink(b);

    struct hash *hash = hash_new();
    hash_hex(hash, key_a);
    assert_int_equal(hash_add_file(hash, a, &err), ERR_IO);
    assert_true(strstr(err.text, "/a: No such file or directory") != NULL);
    assert_int_equal(hash_add_file(hash, dir, &err), ERR_IO);
    hash_hex(hash, key_b);
    assert_string_equal(key_a, key_b); /* a failure adds nothing */
    assert_int_equal(hash_sha256_file(sha_file, a, &err), ERR_IO);
    assert_string_equal(sha, sha_file);
    hash_free(hash);
    rmdir(dir);
    arena_release(&arena);
}

/* FIPS 180-2, appendix B, and the empty text. */
static void sha256_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char hex[HASH_TEXT];
        hash_sha256(hex, cases[i].text, strlen(cases[i].text));
        assert_string_equal(hex, cases[i].hex);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_stable),
        cmocka_unit_test(boundaries_count),
        cmocka_unit_test(files),
        cmocka_unit_test(sha256_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
