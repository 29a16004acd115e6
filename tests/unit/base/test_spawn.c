/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/clock.h"
#include "rooftile/spawn.h"
#include "rooftile/text.h"

#define LIMIT 100000

struct fixture {
    struct arena arena;
    struct err err;
    struct spawn_result result;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    arena_release(&fixture->arena);
    return 0;
}

/* Shell scripts are the shortest children; spawn itself never uses one. */
static void run_script(struct fixture *fixture, const char *script, const char *input, size_t limit_bytes,
                       int timeout_ms)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const enum status status =
        spawn_run(&fixture->result, argv, input, limit_bytes, timeout_ms, &fixture->arena, &fixture->err);
    if (status)
        fail_msg("%s", fixture->err.text);
}

static void outcomes(void **state)
{
    static const struct {
        const char *script, *input;
        int exit_code;
        const char *output, *errors;
    } cases[] = {
        {"echo out; echo err >&2", NULL, 0, "out\n", "err\n"},
        {"exit 7", NULL, 7, "", ""},
        {"kill -SEGV $$", NULL, 139, "", ""},
        {"cat", "given\n", 0, "given\n", ""},
        {"cat", "", 0, "", ""},
        {"cat", NULL, 0, "", ""},
        {"exit 3", "nobody reads this", 3, "", ""},
        {"exec >&- 2>&-; sleep 0.02; exit 5", NULL, 5, "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int timeout_ms = 0; timeout_ms <= 20000; timeout_ms += 20000) {
            struct fixture *fixture = *state;
            run_script(fixture, cases[i].script, cases[i].input, LIMIT, timeout_ms);
            assert_int_equal(fixture->result.exit_code, cases[i].exit_code);
            assert_string_equal(fixture->result.output, cases[i].output);
            assert_string_equal(fixture->result.errors, cases[i].errors);
            assert_false(fixture->result.timed_out);
        }
}

static void arguments_pass_as_they_are(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"printf", "%s|", "a b", "$HOME", "; rm -rf x", "", "'\"", NULL};
    assert_int_equal(spawn_run(&fixture->result, argv, NULL, LIMIT, 0, &fixture->arena, &fixture->err), STATUS_OK);
    assert_string_equal(fixture->result.output, "a b|$HOME|; rm -rf x||'\"|");
}

/* Streams and input are far over what the kernel buffers for a pipe. */
static void much_on_every_stream(void **state)
{
    struct fixture *fixture = *state;
    struct text input = {0};
    text_pad(&input, 1000000, 'i');
    run_script(fixture, "cat; head -c 500000 /dev/zero | tr '\\0' e >&2; head -c 500000 /dev/zero | tr '\\0' o",
               input.data, 10000000, 60000);
    assert_int_equal(strlen(fixture->result.output), 1500000);
    assert_int_equal(strlen(fixture->result.errors), 500000);
    text_release(&input);
}

static void output_over_the_limit_is_dropped(void **state)
{
    struct fixture *fixture = *state;
    run_script(fixture, "printf 0123456789; printf abc >&2", NULL, 4, 0);
    assert_string_equal(fixture->result.output, "0123\n[6 more bytes were dropped]\n");
    assert_string_equal(fixture->result.errors, "abc");
    run_script(fixture, "printf 0123", NULL, 4, 0);
    assert_string_equal(fixture->result.output, "0123");
}

/* Each would run for ever: silent, without its streams, and writing all the time. */
static void timeout_kills_the_group(void **state)
{
    static const char *const scripts[] = {
        "echo first; exec sleep 1000",
        "echo first; exec >&- 2>&-; exec sleep 1000",
        "echo first; while :; do echo on; sleep 0.001; done",
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        const uint64_t start_ns = clock_now_ns();
        run_script(fixture, scripts[i], NULL, LIMIT, 200);
        const uint64_t taken_ns = clock_now_ns() - start_ns;
        assert_true(fixture->result.timed_out);
        assert_true(taken_ns >= 200000000u);
        assert_true(taken_ns < 20000000000u);
        assert_memory_equal(fixture->result.output, "first\n", 6);
        assert_int_equal(fixture->result.exit_code, 128 + SIGKILL);
    }
    /* No process of the group outlives it: the grandchild's process id is what it printed. */
    run_script(fixture, "sleep 1000 & echo $!; wait", NULL, LIMIT, 200);
    const pid_t grandchild = (pid_t)strtol(fixture->result.output, NULL, 10);
    assert_true(grandchild > 1);
    bool alive = true;
    for (int i = 0; i < 200 && alive; i++) {
        const char *stat_path = arena_printf(&fixture->arena, "/proc/%ld/stat", (long)grandchild);
        const int fd = open(stat_path, O_RDONLY | O_CLOEXEC);
        char stat[200] = {0};
        alive = fd >= 0 && read(fd, stat, sizeof(stat) - 1) > 0 && !strstr(stat, ") Z");
        if (fd >= 0)
            close(fd);
        clock_sleep_ns(10000000);
    }
    assert_false(alive);
}

static void failures_to_start(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *program, *text;
    } cases[] = {
        {"rooftile-no-such-program", "rooftile-no-such-program: cannot start it: No such file or directory"},
        {"/dev/null", "/dev/null: cannot start it: Permission denied"},
        {"/", "/: cannot start it: Permission denied"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *const argv[] = {cases[i].program, NULL};
        struct spawn_result result = {.exit_code = 77};
        assert_int_equal(spawn_run(&result, argv, NULL, LIMIT, 0, &fixture->arena, &fixture->err), ERR_IO);
        assert_string_equal(fixture->err.text, cases[i].text);
        assert_int_equal(result.exit_code, 77);
    }
}

/* The child has descriptors 0, 1 and 2 only (and the one that lists them), its own group and no blocked signal. */
static void child_starts_clean(void **state)
{
    struct fixture *fixture = *state;
    const int leaked = dup(STDERR_FILENO); /* without close-on-exec */
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    const char *const ls[] = {"ls", "/proc/self/fd", NULL};
    const enum status listed = spawn_run(&fixture->result, ls, NULL, LIMIT, 0, &fixture->arena, &fixture->err);
    const char *fds = fixture->result.output;
    run_script(fixture, "grep -E 'SigBlk|SigIgn' /proc/self/status; cut -d ' ' -f 5 /proc/self/stat; echo $$", NULL,
               LIMIT, 0);
    signal(SIGPIPE, handler);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(leaked);
    assert_int_equal(listed, STATUS_OK);
    assert_string_equal(fds, "0\n1\n2\n3\n");
    assert_memory_equal(fixture->result.output, "SigBlk:\t0000000000000000\nSigIgn:\t", 33);
    char *end = NULL;
    const unsigned long long ignored = strtoull(fixture->result.output + 33, &end, 16);
    assert_int_equal(ignored >> (SIGPIPE - 1) & 1, 0); /* glibc itself keeps 32 and 33 ignored */
    const long group = strtol(end, &end, 10);
    assert_int_equal(group, strtol(end, NULL, 10)); /* the script leads its group, which is that of its own children */
    assert_int_not_equal(group, getpgrp());
}

static void which(void **state)
{
    struct fixture *fixture = *state;
    const char *old = getenv("PATH");
    const char *before = old ? arena_strdup(&fixture->arena, old) : NULL;
    static const struct {
        const char *path, *program, *found;
    } cases[] = {
        {"/nowhere:/bin:/usr/bin", "sh", "/bin/sh"},
        {"/bin/", "sh", "/bin/sh"},
        {"/nowhere", "sh", NULL},
        {"/nowhere", "/bin/sh", "/bin/sh"},
        {"/", "bin", NULL},
        {"/bin", "/etc/passwd", NULL},
        {"/etc", "passwd", NULL},
        {"/bin", "", NULL},
        {"", "sh", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        setenv("PATH", cases[i].path, 1);
        const char *found = spawn_which(&fixture->arena, cases[i].program);
        assert_string_equal(found ? found : "(none)", cases[i].found ? cases[i].found : "(none)");
    }
    unsetenv("PATH");
    assert_string_equal(spawn_which(&fixture->arena, "sh"), "/bin/sh");
    if (before)
        setenv("PATH", before, 1);
}

/* Several at once: each its own answer, in their order; one that never ends and one that floods are killed. */
static void several(void **state)
{
    struct fixture *fixture = *state;
    static const char *const scripts[][4] = {{"sh", "-c", "echo one; exit 3", NULL},
                                             {"sh", "-c", "echo two >&2", NULL},
                                             {"sh", "-c", "kill -TERM $$", NULL},
                                             {"sh", "-c", "exec yes 0123456789", NULL}};
    static const char *const hangs[] = {"sh", "-c", "echo begun; sleep 60", NULL};
    const char *const *const argvs[] = {scripts[0], scripts[1], scripts[2], scripts[3]};
    const char *const *const one[] = {hangs};
    struct spawn_result ran[4];
    assert_int_equal(spawn_all(ran, argvs, 4, 1000, 60000, &fixture->arena, &fixture->err), STATUS_OK);
    assert_string_equal(ran[0].output, "one\n");
    assert_int_equal(ran[0].exit_code, 3);
    assert_string_equal(ran[1].errors, "two\n");
    assert_int_equal(ran[1].exit_code, 0);
    assert_int_equal(ran[2].exit_code, 128 + SIGTERM);
    assert_int_equal(ran[3].exit_code, 128 + SIGKILL);
    assert_false(ran[3].timed_out);
    assert_memory_equal(ran[3].output + 1000, "\n[", 2);
    assert_string_equal(strstr(ran[3].output, " more bytes"), " more bytes were dropped]\n");
    assert_int_equal(spawn_all(ran, one, 1, 1000, 200, &fixture->arena, &fixture->err), STATUS_OK);
    assert_true(ran[0].timed_out);
    static const char *const missing[] = {"/nowhere/program", NULL};
    const char *const *const none[] = {scripts[1], missing};
    assert_int_equal(spawn_all(ran, none, 2, 1000, 1000, &fixture->arena, &fixture->err), ERR_IO);
    assert_non_null(strstr(fixture->err.text, "/nowhere/program: cannot start it"));
}

static volatile int stop;

static void on_alarm(int number)
{
    stop = number;
}

/* A program under way is ended; one that begins after the signal is not. */
static void a_signal_ends_the_wait(void **state)
{
    struct fixture *fixture = *state;
    static const char *const hangs[] = {"sleep", "60", NULL}, *const after[] = {"true", NULL};
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    struct spawn_result ran;
    spawn_stop = &stop;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(spawn_run(&ran, hangs, NULL, 1000, 30000, &fixture->arena, &fixture->err), ERR_INTERRUPTED);
    fixture->err = (struct err){0};
    assert_int_equal(spawn_run(&ran, after, NULL, 1000, 30000, &fixture->arena, &fixture->err), STATUS_OK);
    spawn_stop = NULL;
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(several),
        WITH_FIXTURE(a_signal_ends_the_wait),
        WITH_FIXTURE(outcomes),
        WITH_FIXTURE(arguments_pass_as_they_are),
        WITH_FIXTURE(much_on_every_stream),
        WITH_FIXTURE(output_over_the_limit_is_dropped),
        WITH_FIXTURE(timeout_kills_the_group),
        WITH_FIXTURE(failures_to_start),
        WITH_FIXTURE(child_starts_clean),
        WITH_FIXTURE(which),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
