/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rooftile/arena.h"
#include "rooftile/log.h"

static char captured[4096];

/* What `act` writes to stderr. */
static const char *capture(void (*act)(void))
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    act();
    dup2(before, STDERR_FILENO);
    close(before);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], captured + length, sizeof(captured) - 1 - length)) > 0)
        length += (size_t)got;
    close(ends[0]);
    captured[length] = '\0';
    return captured;
}

static void say_everything(void)
{
    log_error("cannot open %s", "x");
    log_info("info %d", 1);
    log_verbose("verbose %d", 2);
    log_debug("debug %d", 3);
}

static void levels(void **state)
{
    (void)state;
    static const char *const expected[] = {
        [LOG_QUIET] = "rooftile: error: cannot open x\n",
        [LOG_NORMAL] = "rooftile: error: cannot open x\ninfo 1\n",
        [LOG_VERBOSE] = "rooftile: error: cannot open x\ninfo 1\nverbose 2\n",
        [LOG_DEBUG] = "rooftile: error: cannot open x\ninfo 1\nverbose 2\nrooftile: debug: debug 3\n",
    };
    log_set_color(COLOR_NEVER);
    assert_int_equal(log_level(), LOG_NORMAL);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        log_set_level((enum log_level)i);
        assert_int_equal(log_level(), i);
        assert_string_equal(capture(say_everything), expected[i]);
    }
    log_set_level(LOG_NORMAL);
}

static void warn_about_machine(void)
{
    log_warn("W001", "ceilings of %s are not measured", "cpu");
}

static void warn_about_cache(void)
{
    log_warn("W004", "disk full");
}

static void warnings_are_kept_once(void **state)
{
    (void)state;
    log_set_color(COLOR_NEVER);
    assert_int_equal(log_warning_count(), 0);
    assert_string_equal(capture(warn_about_machine), "rooftile: warning W001: ceilings of cpu are not measured\n");
    assert_string_equal(capture(warn_about_machine), "");
    log_set_level(LOG_QUIET);
    assert_string_equal(capture(warn_about_cache), "");
    log_set_level(LOG_NORMAL);
    assert_int_equal(log_warning_count(), 2);
    assert_string_equal(log_warning_at(0), "W001: ceilings of cpu are not measured");
    assert_string_equal(log_warning_at(1), "W004: disk full");
    log_set_level(LOG_QUIET);
    for (int i = 0; i < 100; i++)
        log_warn("W002", "load %d", i);
    log_set_level(LOG_NORMAL);
    assert_int_equal(log_warning_count(), 102);
    assert_string_equal(log_warning_at(101), "W002: load 99");
}

static void codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(log_code_name("W001"), "machine not measured");
    assert_string_equal(log_code_name("W006"), "device fallback");
    assert_null(log_code_name("W999"));
    assert_null(log_code_name(""));
}

static void put(const char *text)
{
    const ssize_t length = write(STDERR_FILENO, text, strlen(text));
    assert_int_equal(length, strlen(text));
}

static void clear(void)
{
    put("<clear>");
}

static void redraw(void)
{
    put("<redraw>");
}

static void status_line_steps_aside(void **state)
{
    (void)state;
    log_set_color(COLOR_NEVER);
    log_set_level(LOG_QUIET);
    log_set_status_line(clear, redraw);
    assert_string_equal(capture(say_everything), "<clear>rooftile: error: cannot open x\n<redraw>");
    log_set_status_line(NULL, NULL);
    log_set_level(LOG_NORMAL);
}

static void set_environment(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void color_choice(void **state)
{
    (void)state;
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    static const struct {
        enum color_mode mode;
        const char *no_color, *clicolor_force, *force_color, *term;
        bool on_terminal, on_file;
    } cases[] = {
        {COLOR_AUTO, NULL, NULL, NULL, "xterm", true, false}, {COLOR_AUTO, NULL, NULL, NULL, "dumb", false, false},
        {COLOR_AUTO, NULL, NULL, NULL, NULL, false, false},   {COLOR_AUTO, "1", NULL, NULL, "xterm", false, false},
        {COLOR_AUTO, "", NULL, NULL, "xterm", true, false},   {COLOR_AUTO, NULL, "1", NULL, "dumb", true, true},
        {COLOR_AUTO, NULL, "0", NULL, "xterm", true, false},  {COLOR_AUTO, NULL, NULL, "1", NULL, true, true},
        {COLOR_AUTO, NULL, NULL, "0", "xterm", true, false},  {COLOR_AUTO, "1", "1", "1", "xterm", false, false},
        {COLOR_ALWAYS, "1", NULL, NULL, "dumb", true, true},  {COLOR_NEVER, NULL, "1", "1", "xterm", false, false},
    };
    const int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_environment("NO_COLOR", cases[i].no_color);
        set_environment("CLICOLOR_FORCE", cases[i].clicolor_force);
        set_environment("FORCE_COLOR", cases[i].force_color);
        set_environment("TERM", cases[i].term);
        log_set_color(cases[i].mode);
        assert_int_equal(log_use_color(file), cases[i].on_file);
        if (terminal >= 0)
            assert_int_equal(log_use_color(terminal), cases[i].on_terminal);
    }
    close(file);
    if (terminal >= 0)
        close(terminal);
    log_set_color(COLOR_ALWAYS);
    log_set_level(LOG_QUIET);
    assert_string_equal(capture(say_everything), "rooftile: \033[31merror:\033[0m cannot open x\n");
    log_set_level(LOG_NORMAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),           cmocka_unit_test(warnings_are_kept_once),
        cmocka_unit_test(codes_have_names), cmocka_unit_test(status_line_steps_aside),
        cmocka_unit_test(color_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
