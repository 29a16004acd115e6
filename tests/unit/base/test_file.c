/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/file.h"

/* Each test has an empty folder of its own as working folder. */
struct place {
    char dir[64];
    int before;
    struct arena arena;
    struct err err;
};

static int enter(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    if (!place)
        return -1;
    memcpy(place->dir, "/tmp/rooftile-file-XXXXXX", sizeof("/tmp/rooftile-file-XXXXXX"));
    place->before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = place;
    return mkdtemp(place->dir) ? chdir(place->dir) : -1;
}

/* Removes what the test left: files first, then the known folders from the inside out. */
static int leave(void **state)
{
    static const char *const folders[] = {"a/b/c", "a/b", "a", "."};
    struct place *place = *state;
    char **paths = NULL;
    size_t count = 0;
    unlink("a/loop");
    if (file_list(&paths, &count, ".", "", &place->arena, &place->err))
        return -1;
    for (size_t i = 0; i < count; i++)
        unlink(paths[i]);
    unlink("a/nothing");
    for (size_t i = 0; i < COUNT_OF(folders); i++)
        rmdir(strcmp(folders[i], ".") == 0 ? place->dir : folders[i]);
    const int failed = fchdir(place->before) || file_exists(place->dir);
    close(place->before);
    arena_release(&place->arena);
    free(place);
    return failed;
}

static void expect_content(struct place *place, const char *path, const char *content)
{
    char *data = NULL;
    size_t length = 0;
    assert_int_equal(file_read(&data, &length, path, FILE_LIMIT_BYTES, &place->arena, &place->err), STATUS_OK);
    assert_string_equal(data, content);
    assert_int_equal(length, strlen(content));
}

static size_t files_here(struct place *place)
{
    char **paths = NULL;
    size_t count = 0;
    assert_int_equal(file_list(&paths, &count, ".", "", &place->arena, &place->err), STATUS_OK);
    return count;
}

static void writes_and_reads(void **state)
{
    struct place *place = *state;
    static const char *const contents[] = {"ceiling\n", "", "a longer text than the one before it"};
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        assert_int_equal(file_write("x.json", contents[i], strlen(contents[i]), &place->err), STATUS_OK);
        expect_content(place, "x.json", contents[i]);
        assert_int_equal(files_here(place), 1);
    }
    char *data = NULL;
    size_t length = 0;
    assert_int_equal(file_write("x.json", "a\0b", 3, &place->err), STATUS_OK);
    assert_int_equal(file_read(&data, &length, "x.json", 3, &place->arena, &place->err), STATUS_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(data, "a\0b", 4);
}

static void read_refusals(void **state)
{
    struct place *place = *state;
    assert_int_equal(file_write("eight", "12345678", 8, &place->err), STATUS_OK);
    static const struct {
        const char *path;
        size_t limit_bytes;
        const char *text;
    } cases[] = {
        {"missing.json", 100, "missing.json: No such file or directory"},
        {".", 100, ".: is a folder, not a file"},
        {"eight", 7, "eight: has 8 bytes, more than the 7 byte limit"},
        {"/dev/zero", 1000000, "/dev/zero: has at least 1048576 bytes, more than the 1 MB limit"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *data = (char *)"untouched";
        size_t length = 77;
        const enum status status =
            file_read(&data, &length, cases[i].path, cases[i].limit_bytes, &place->arena, &place->err);
        assert_int_equal(status, ERR_CONFIG);
        assert_string_equal(place->err.text, cases[i].text);
        assert_string_equal(data, "untouched");
        assert_int_equal(length, 77);
    }
}

static void standard_input(void **state)
{
    struct place *place = *state;
    assert_int_equal(file_write("in", "from a pipe", 11, &place->err), STATUS_OK);
    const int old_in = dup(STDIN_FILENO);
    const int in = open("in", O_RDONLY | O_CLOEXEC);
    dup2(in, STDIN_FILENO);
    expect_content(place, "-", "from a pipe");
    dup2(old_in, STDIN_FILENO);
    close(old_in);
    close(in);
}

static void write_refusals(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *path, *text;
    } cases[] = {
        {"no/such/x.json", "no/such/x.json: No such file or directory"},
        {".", ".: is a folder, not a file"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(file_write(cases[i].path, "x", 1, &place->err), ERR_IO);
        assert_string_equal(place->err.text, cases[i].text);
    }
}

/* Writes `content` to "-" while standard output is the file. */
static enum status write_standard_output(struct place *place, const char *path, const char *content)
{
    const int before = dup(STDOUT_FILENO);
    const int out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(out, STDOUT_FILENO);
    const enum status status = file_write("-", content, strlen(content), &place->err);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(out);
    return status;
}

static void standard_output(void **state)
{
    struct place *place = *state;
    assert_int_equal(write_standard_output(place, "out", "a result"), STATUS_OK);
    expect_content(place, "out", "a result");
    assert_false(file_exists("-"));
    /* Never file_write("/dev/full") in a test: run as root, a broken one would replace the device of the machine. */
    assert_int_equal(write_standard_output(place, "/dev/full", "x"), ERR_IO);
    assert_string_equal(place->err.text, "standard output: No space left on device");
}

/* Stands for all that is not a regular file. */
static void pipes_are_not_replaced(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    const int reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_int_equal(file_write("fifo", "through", 7, &place->err), STATUS_OK);
    char text[16] = {0};
    assert_int_equal(read(reader, text, sizeof(text) - 1), 7);
    assert_string_equal(text, "through");
    close(reader);
    struct stat info;
    assert_int_equal(stat("fifo", &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    unlink("fifo");
}

/* A limit on file sizes fails in the middle of the temporary file, as a disk that fills up does. */
static void full_disk_keeps_the_old_file(void **state)
{
    struct place *place = *state;
    static char large[100000];
    assert_int_equal(file_write("x.json", "old", 3, &place->err), STATUS_OK);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const enum status replaced = file_write("x.json", large, sizeof(large), &place->err);
    const enum status created = file_write("new.json", large, sizeof(large), &place->err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(replaced, ERR_IO);
    assert_int_equal(created, ERR_IO);
    assert_string_equal(place->err.text, "new.json: File too large");
    expect_content(place, "x.json", "old");
    assert_int_equal(files_here(place), 1);
}

static void keeps_mode_and_link(void **state)
{
    struct place *place = *state;
    struct stat info;
    const mode_t before = umask(027);
    assert_int_equal(file_write("x.json", "1", 1, &place->err), STATUS_OK);
    umask(before);
    assert_int_equal(stat("x.json", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod("x.json", 0604), 0);
    assert_int_equal(symlink("x.json", "link"), 0);
    assert_int_equal(file_write("link", "2", 1, &place->err), STATUS_OK);
    assert_int_equal(lstat("link", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    expect_content(place, "x.json", "2");
    assert_int_equal(stat("x.json", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0604);
}

/* As open(2) with O_CREAT would; a link to itself is no file, and one into a folder that is not there neither. */
static void makes_what_a_link_names(void **state)
{
    struct place *place = *state;
    struct stat info;
    assert_int_equal(file_make_dirs("a", &place->err), STATUS_OK);
    assert_int_equal(symlink("second", "first"), 0);
    assert_int_equal(symlink("a/nothing", "second"), 0);
    assert_int_equal(symlink("new.json", "a/nothing"), 0);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(file_write("first", k ? "2" : "1", 1, &place->err), STATUS_OK);
        expect_content(place, "a/new.json", k ? "2" : "1");
    }
    assert_int_equal(lstat("first", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_string_equal(path_target(&place->arena, "first"), "./a/new.json");
    assert_string_equal(path_target(&place->arena, "none"), "none");
    assert_int_equal(symlink("loop", "a/loop"), 0);
    assert_int_equal(file_write("a/loop", "1", 1, &place->err), ERR_IO);
    assert_string_equal(place->err.text, "a/loop: Too many levels of symbolic links");
    assert_int_equal(symlink("nowhere/x.json", "gone"), 0);
    assert_int_equal(file_write("gone", "1", 1, &place->err), ERR_IO);
    assert_string_equal(place->err.text, "gone: No such file or directory");
    assert_int_equal(unlink("gone"), 0); /* a rename would have made a file of it */
}

/* Its descriptor is all that is left of it; nothing may be renamed into /dev or /proc. */
static void writes_what_has_no_name(void **state)
{
    struct place *place = *state;
    char got[8] = {0};
    const int fd = open("deleted", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && !unlink("deleted") && write(fd, "before", 6) == 6);
    assert_int_equal(file_write(arena_printf(&place->arena, "/dev/fd/%d", fd), "new", 3, &place->err), STATUS_OK);
    assert_int_equal(pread(fd, got, sizeof(got), 0), 3);
    assert_string_equal(got, "new");
    close(fd);
}

static void makes_dirs(void **state)
{
    struct place *place = *state;
    assert_int_equal(file_make_dirs("a//b/c/", &place->err), STATUS_OK);
    assert_true(file_is_dir("a/b/c"));
    assert_int_equal(file_make_dirs("a/b", &place->err), STATUS_OK);
    assert_int_equal(file_make_dirs(place->dir, &place->err), STATUS_OK);
    assert_int_equal(file_make_dirs("/", &place->err), STATUS_OK);
    assert_int_equal(file_write("a/file", "", 0, &place->err), STATUS_OK);
    assert_true(file_exists("a/file"));
    assert_false(file_is_dir("a/file"));
    assert_int_equal(file_make_dirs("a/file/x", &place->err), ERR_IO);
    assert_string_equal(place->err.text, "a/file: cannot create the folder: File exists");
    assert_int_equal(file_make_dirs("/proc/none/x", &place->err), ERR_IO);
    assert_string_equal(place->err.text, "/proc/none: cannot create the folder: No such file or directory");
}

static void lists_sorted(void **state)
{
    struct place *place = *state;
    static const char *const files[] = {"b.json", "a/z.json", "a/b/c/m.json", "a.json", "a/b/x.hip", "a-.json"};
    static const char *const expected[] = {"./a-.json", "./a.json", "./a/b/c/m.json", "./a/z.json", "./b.json"};
    assert_int_equal(file_make_dirs("a/b/c", &place->err), STATUS_OK);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        assert_int_equal(file_write(files[i], "", 0, &place->err), STATUS_OK);
    assert_int_equal(symlink("..", "a/loop"), 0);
    assert_int_equal(symlink("gone.json", "a/nothing"), 0);
    char **paths = NULL;
    size_t count = 0;
    assert_int_equal(file_list(&paths, &count, ".", ".json", &place->arena, &place->err), STATUS_OK);
    assert_int_equal(count, COUNT_OF(expected));
    for (size_t i = 0; i < count; i++)
        assert_string_equal(paths[i], expected[i]);
    assert_int_equal(file_list(&paths, &count, "a/b/", ".hip", &place->arena, &place->err), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(paths[0], "a/b/x.hip");
    assert_int_equal(file_list(&paths, &count, "missing", "", &place->arena, &place->err), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(file_list(&paths, &count, "b.json", "", &place->arena, &place->err), ERR_CONFIG);
    assert_string_equal(place->err.text, "b.json: is not a folder");
}

static void takes_paths_apart(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *path, *dir, *base;
    } cases[] = {
        {"a/b.json", "a", "b.json"}, {"b.json", ".", "b.json"}, {"/b", "/", "b"}, {"/", "/", ""},
        {"a//b", "a", "b"},          {"a/", "a", ""},           {"", ".", ""},    {"/x/y/z", "/x/y", "z"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(path_dir(&place->arena, cases[i].path), cases[i].dir);
        assert_string_equal(path_base(cases[i].path), cases[i].base);
    }
    static const struct {
        const char *dir, *name, *joined;
    } joins[] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}, {"a", "/b", "/b"}, {".", "b", "./b"},
    };
    for (size_t i = 0; i < COUNT_OF(joins); i++)
        assert_string_equal(path_join(&place->arena, joins[i].dir, joins[i].name), joins[i].joined);
    assert_null(path_real(&place->arena, "missing"));
    assert_string_equal(path_real(&place->arena, "."), path_real(&place->arena, place->dir));
    const char *self = path_real(&place->arena, "/proc/self/exe");
    assert_string_equal(path_self_dir(&place->arena), path_dir(&place->arena, self));
}

static void set_environment(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void user_folders(void **state)
{
    struct place *place = *state;
    const char *none = arena_printf(&place->arena, "/tmp/rooftile-%lu", (unsigned long)getuid());
    const char *none_data = arena_printf(&place->arena, "%s-data", none);
    const struct {
        const char *own, *xdg, *home, *cache, *data;
    } cases[] = {
        {"/own", "/xdg", "/home/me", "/own", "/own"},
        {"", "/xdg", "/home/me", "/xdg/rooftile", "/xdg/rooftile"},
        {NULL, "relative", "/home/me", "/home/me/.cache/rooftile", "/home/me/.local/share/rooftile"},
        {NULL, NULL, "/home/me/", "/home/me/.cache/rooftile", "/home/me/.local/share/rooftile"},
        {NULL, "", "", none, none_data},
        {NULL, NULL, NULL, none, none_data},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_environment("ROOFTILE_CACHE", cases[i].own);
        set_environment("ROOFTILE_DATA", cases[i].own);
        set_environment("XDG_CACHE_HOME", cases[i].xdg);
        set_environment("XDG_DATA_HOME", cases[i].xdg);
        set_environment("HOME", cases[i].home);
        char *cache = NULL, *data = NULL;
        assert_int_equal(path_cache_dir(&cache, false, &place->arena, &place->err), STATUS_OK);
        assert_int_equal(path_data_dir(&data, false, &place->arena, &place->err), STATUS_OK);
        assert_string_equal(cache, cases[i].cache);
        assert_string_equal(data, cases[i].data);
    }
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode & 07777;
}

/* Code that lies in these folders is executed. */
static void own_folders(void **state)
{
    struct place *place = *state;
    assert_int_equal(file_make_own_dir("a/b", &place->err), STATUS_OK);
    assert_int_equal(mode_of("a/b"), 0700);
    assert_int_equal(chmod("a/b", 0755), 0); /* others could read it, no more */
    assert_int_equal(file_make_own_dir("a/b", &place->err), STATUS_OK);
    assert_int_equal(mode_of("a/b"), 0700);
    assert_int_equal(chmod("a/b", 0720), 0);
    assert_int_equal(file_make_own_dir("a/b", &place->err), ERR_IO);
    assert_string_equal(place->err.text,
                        "a/b is not taken for a folder of yours alone: others may write into it (mode 0720)");
    assert_int_equal(chmod("a/b", 0700), 0);
    assert_int_equal(symlink("b", "a/loop"), 0);
    assert_int_equal(file_make_own_dir("a/loop", &place->err), ERR_IO);
    assert_non_null(strstr(place->err.text, "it is a link or a file, no folder"));
    if (geteuid() || chown("a/b", 12345, 12345))
        return;
    assert_int_equal(file_make_own_dir("a/b", &place->err), ERR_IO);
    assert_non_null(strstr(place->err.text, "it belongs to user 12345, and you are user 0"));
    assert_int_equal(chown("a/b", 0, 0), 0);
    assert_int_equal(chown("a", 12345, 12345), 0);
    assert_int_equal(file_make_own_dir("a/b", &place->err), ERR_IO);
    assert_non_null(strstr(place->err.text, "it stands in a folder of user 12345"));
}

static void new_names(void **state)
{
    struct place *place = *state;
    const char *one = path_new(&place->arena, "x-", ".json"), *other = path_new(&place->arena, "x-", ".json");
    assert_int_equal(strlen(one), 2 + 32 + 5);
    assert_memory_equal(one, "x-", 2);
    assert_string_equal(one + 34, ".json");
    assert_string_not_equal(one, other);
}

#define IN_OWN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_OWN_FOLDER(writes_and_reads),
        IN_OWN_FOLDER(read_refusals),
        IN_OWN_FOLDER(standard_input),
        IN_OWN_FOLDER(standard_output),
        IN_OWN_FOLDER(pipes_are_not_replaced),
        IN_OWN_FOLDER(write_refusals),
        IN_OWN_FOLDER(full_disk_keeps_the_old_file),
        IN_OWN_FOLDER(keeps_mode_and_link),
        IN_OWN_FOLDER(makes_what_a_link_names),
        IN_OWN_FOLDER(writes_what_has_no_name),
        IN_OWN_FOLDER(makes_dirs),
        IN_OWN_FOLDER(lists_sorted),
        IN_OWN_FOLDER(takes_paths_apart),
        IN_OWN_FOLDER(user_folders),
        IN_OWN_FOLDER(own_folders),
        IN_OWN_FOLDER(new_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
