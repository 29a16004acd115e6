/* SPDX-License-Identifier: MIT */
#include "build_fixture.h"

#include <dlfcn.h>
#include <sys/wait.h>

#include "rooftile/clock.h"
#include "rooftile/cpu_target.h"
#include "rooftile/log.h"
#include "rooftile/spawn.h"
#include "rooftile/text.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct build_target gfx942 = {BUILD_AMD, "gfx942", 64, false};

static struct build_options options_of(struct fixture *fixture)
{
    return (struct build_options){.include_dir = fixture_path(fixture, "include"), .jobs = 2};
}

static struct build_result build_one(struct fixture *fixture, struct build_request request)
{
    const struct build_options options = options_of(fixture);
    struct build_result result = {0};
    struct err err = {0};
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    return result;
}

static struct build_result build_source(struct fixture *fixture, const char *source)
{
    return build_one(fixture, (struct build_request){.source = source, .target = gfx942});
}

/* Without compiling. */
static enum build_state look_up(struct fixture *fixture, const char *source)
{
    const struct build_request request = {.source = source, .target = gfx942};
    struct build_options options = options_of(fixture);
    struct build_result result = {0};
    struct err err = {0};
    options.cached_only = true;
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    return result.state;
}

static void test_compiles_then_finds(void **state)
{
    struct fixture *fixture = *state;
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    assert_int_equal(look_up(fixture, source), BUILD_PENDING);
    assert_int_equal(fixture_count(fixture, "compile"), 0);
    const struct build_result first = build_source(fixture, source);
    assert_int_equal(first.state, BUILD_COMPILED);
    assert_string_equal(fixture_read(fixture, first.object), "true\n");
    assert_string_equal(first.sha256, "a17fcf0a2f50e2d495e4f90ce263410edc183add6c62699a2facbccf60410f74");
    assert_true(first.compile_ns > 0);
    assert_non_null(strstr(first.command, source));
    const struct build_result second = build_source(fixture, source);
    assert_int_equal(second.state, BUILD_CACHED);
    assert_int_equal(look_up(fixture, source), BUILD_CACHED);
    assert_string_equal(second.object, first.object);
    assert_string_equal(second.sha256, first.sha256);
    assert_true(second.compile_ns == 0);
    assert_int_equal(fixture_count(fixture, "compile"), 1);
    struct build_options options = options_of(fixture);
    options.force = true;
    struct build_result forced = {0};
    struct err err = {0};
    const struct build_request request = {.source = source, .target = gfx942};
    assert_int_equal(build_all(&forced, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(forced.state, BUILD_COMPILED);
}

static const struct build_define defines_12[] = {{"A", "1"}, {"B", "2"}};
static const struct build_define defines_13[] = {{"A", "1"}, {"B", "3"}};
static const struct build_define defines_name[] = {{"A", "1"}, {"C", "2"}};
static const char *const flags_1[] = {"-O2"};
static const char *const flags_2[] = {"-O2", "-g"};

/* The build's own compiler comes before the user's variable, for the targets that it is for. */
static void test_own_compiler(void **state)
{
    struct fixture *fixture = *state;
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    const char *other = fixture_script(fixture, "bin/clang-other", fixture_compiler);
    const struct build_request request = {.source = source, .target = gfx942};
    struct build_options options = options_of(fixture);
    struct build_result result = {0};
    struct err err = {0};
    assert_string_equal(build_source(fixture, source).compiler->path, fixture->compiler);
    options.compiler = other;
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(result.state, BUILD_COMPILED);
    assert_string_equal(result.compiler->path, other);
    options.compiler = "/nowhere/clang++";
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(result.state, BUILD_FAILED);
    assert_string_equal(result.message, "/nowhere/clang++ is not a program that runs");
}

/* One thing changes; does the object still hold? */
static void test_key(void **state)
{
    static const struct {
        const char *what;
        struct build_define const *defines;
        size_t define_count;
        const char *const *flags;
        size_t flag_count;
        struct build_target target;
        const char *source;           /* NULL: k/a.hip */
        const char *file, *content;   /* written before */
        const char *variable, *value; /* set before */
        enum build_state state;
    } cases[] = {
        {"first", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_COMPILED},
        {"nothing", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_CACHED},
        {"define value", defines_13, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_COMPILED},
        {"define name", defines_name, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_COMPILED},
        {"define gone", defines_12, 1, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_COMPILED},
        {"flag", defines_12, 2, flags_2, 2, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_COMPILED},
        {"arch", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx1100", 64, false}, .state = BUILD_COMPILED},
        {"wave", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx1100", 32, false}, .state = BUILD_COMPILED},
        {"CU mode", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx1100", 32, true}, .state = BUILD_COMPILED},
        {"kind", defines_12, 2, flags_1, 1, {BUILD_CPU, "x86-64-v3", 64, false}, .state = BUILD_COMPILED},
        {"cpu wave", defines_12, 2, flags_1, 1, {BUILD_CPU, "x86-64-v3", 32, false}, .state = BUILD_COMPILED},
        {"cpu level", defines_12, 2, flags_1, 1, {BUILD_CPU, "x86-64-v2", 32, false}, .state = BUILD_COMPILED},
        {"another folder",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .source = "m/a.hip",
         .state = BUILD_CACHED},
        {"another name",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .source = "k/b.hip",
         .state = BUILD_COMPILED},
        {"other file",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .file = "k/c.hip",
         .content = "x",
         .state = BUILD_CACHED},
        {"variable",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .variable = "CPATH",
         .value = "/x",
         .state = BUILD_COMPILED},
        {"variable again", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_CACHED},
        {"header",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .file = "include/h.h",
         .content = "2",
         .state = BUILD_COMPILED},
        {"header again", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_CACHED},
        {"hidden header",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .file = "k/h.h",
         .content = "3",
         .state = BUILD_COMPILED},
        {"still hidden", defines_12, 2, flags_1, 1, {BUILD_AMD, "gfx942", 64, false}, .state = BUILD_CACHED},
        {"source",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .file = "k/a.hip",
         .content = "true ",
         .state = BUILD_COMPILED},
        {"compiler",
         defines_12,
         2,
         flags_1,
         1,
         {BUILD_AMD, "gfx942", 64, false},
         .file = "bin/clang-test",
         .state = BUILD_COMPILED},
    };
    struct fixture *fixture = *state;
    fixture_write(fixture, "k/a.hip", "true");
    fixture_write(fixture, "k/b.hip", "true");
    fixture_write(fixture, "m/a.hip", "true");
    fixture_write(fixture, "include/cpu_unit.cpp", "true");
    setenv("HEADERS", fixture_write(fixture, "include/h.h", "1"), 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *source = cases[i].source ? cases[i].source : "k/a.hip";
        if (cases[i].file)
            fixture_write(fixture, cases[i].file,
                          cases[i].content ? cases[i].content
                                           : arena_printf(&fixture->arena, "%s\n", fixture_compiler));
        if (cases[i].variable)
            setenv(cases[i].variable, cases[i].value, 1);
        const struct build_result result = build_one(fixture, (struct build_request){
                                                                  .source = fixture_path(fixture, source),
                                                                  .defines = cases[i].defines,
                                                                  .define_count = cases[i].define_count,
                                                                  .flags = cases[i].flags,
                                                                  .flag_count = cases[i].flag_count,
                                                                  .target = cases[i].target,
                                                              });
        if (cases[i].variable)
            unsetenv(cases[i].variable);
        if (result.state != cases[i].state)
            fail_msg("%s: state %d, %s", cases[i].what, result.state, result.message ? result.message : "");
    }
}

static void test_moved_tree(void **state)
{
    struct fixture *fixture = *state;
    fixture_write(fixture, "one/k/a.hip", "true");
    fixture_write(fixture, "two/k/a.hip", "true");
    static const char *const trees[] = {"one", "two"};
    for (size_t i = 0; i < COUNT(trees); i++) {
        const char *tree = fixture_path(fixture, trees[i]);
        setenv("HEADERS", arena_printf(&fixture->arena, "%s/include/h.h %s/k/../k/g.h", tree, tree), 1);
        fixture_write(fixture, arena_printf(&fixture->arena, "%s/include/h.h", tree), "h");
        fixture_write(fixture, arena_printf(&fixture->arena, "%s/k/g.h", tree), "g");
        const struct build_options options = {.include_dir = path_join(&fixture->arena, tree, "include")};
        const struct build_request request = {.source = path_join(&fixture->arena, tree, "k/a.hip"), .target = gfx942};
        struct build_result result = {0};
        struct err err = {0};
        assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
        assert_int_equal(result.state, i == 0 ? BUILD_COMPILED : BUILD_CACHED);
    }
    /* The second tree's own files count. */
    fixture_write(fixture, "two/k/g.h", "changed");
    const struct build_options options = {.include_dir = fixture_path(fixture, "two/include")};
    const struct build_request request = {.source = fixture_path(fixture, "two/k/a.hip"), .target = gfx942};
    struct build_result result = {0};
    struct err err = {0};
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(result.state, BUILD_COMPILED);
}

static void test_defines_are_not_shell(void **state)
{
    struct fixture *fixture = *state;
    static const struct build_define defines[] = {{"A", "a \"b\" $(touch c) 'd' \\ `e` ; * | &"}, {"B", ""}};
    const char *source =
        fixture_write(fixture, "k/a b$(x)'.hip", "for a in \"$@\"; do echo \"arg $a\" >> \"$LOG\"; done\n");
    const struct build_result result = build_one(
        fixture, (struct build_request){.source = source, .defines = defines, .define_count = 2, .target = gfx942});
    assert_int_equal(result.state, BUILD_COMPILED);
    assert_int_equal(fixture_count(fixture, "arg -DA=a \"b\" $(touch c) 'd' \\ `e` ; * | &"), 1);
    assert_int_equal(fixture_count(fixture, "arg -DB="), 1);
    assert_non_null(strstr(result.command, " '-DA=a \"b\" $(touch c) '\\''d'\\'' \\ `e` ; * | &' -DB= "));
}

static void test_damaged_cache(void **state)
{
    struct fixture *fixture = *state;
    static const char *const suffixes[] = {".inputs", ".hsaco"};
    static const char *const damages[] = {"", "rooftile build record 2\n",
                                          "rooftile build record 2\nobject ../../x y\ncompiler c\nend\n"};
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        for (size_t j = 0; j < COUNT(damages); j++) {
            char **paths = NULL;
            size_t count = 0;
            struct err err = {0};
            build_source(fixture, source);
            const char *objects = fixture_path(fixture, "cache/objects");
            assert_int_equal(file_list(&paths, &count, objects, suffixes[i], &fixture->arena, &err), STATUS_OK);
            assert_int_equal(count, 1);
            fixture_write(fixture, paths[0], damages[j]);
            const struct build_result result = build_source(fixture, source);
            assert_int_equal(result.state, BUILD_COMPILED);
            assert_string_equal(fixture_read(fixture, result.object), "true\n");
        }
    }
}

/* A record leads to no file outside of the cache, be its hash right. */
static void test_record_stays_inside(void **state)
{
    struct fixture *fixture = *state;
    char **paths = NULL;
    size_t count = 0;
    struct err err = {0};
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    const struct build_result first = build_source(fixture, source);
    fixture_write(fixture, "cache/outside", "true\n");
    assert_int_equal(file_list(&paths, &count, fixture_path(fixture, "cache"), ".inputs", &fixture->arena, &err),
                     STATUS_OK);
    assert_int_equal(count, 1);
    static const char *const names[] = {"../outside", NULL};
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *name = names[i] ? names[i] : path_base(first.object);
        fixture_write(fixture, paths[0],
                      arena_printf(&fixture->arena, "rooftile build record 2\nobject %s %s\ncompiler c\nend\n",
                                   first.sha256, name));
        assert_int_equal(build_source(fixture, source).state, names[i] ? BUILD_COMPILED : BUILD_CACHED);
    }
}

static void test_changed_while_compiling(void **state)
{
    struct fixture *fixture = *state;
    setenv("HEADERS", fixture_write(fixture, "include/h.h", "1"), 1);
    const char *source =
        fixture_write(fixture, "k/a.hip", "sleep 0.02; [ -e \"$LOG.2\" ] || echo 2 > \"$HEADERS\"; : > \"$LOG.2\"\n");
    assert_int_equal(build_source(fixture, source).state, BUILD_COMPILED);
    assert_int_equal(build_source(fixture, source).state, BUILD_COMPILED);
    assert_int_equal(build_source(fixture, source).state, BUILD_CACHED);
}

static void test_failures(void **state)
{
    static const struct {
        const char *script, *message; /* of the message: a part */
    } cases[] = {
        {"echo 'a.hip:1:2: error: no such thing' >&2; exit 1\n", "a.hip:1:2: error: no such thing"},
        {"exit 3\n", "the compiler ended with exit code 3 and said nothing"},
        {"kill -9 $$\n", "the compiler was killed by signal 9 (Killed)"},
        {"sleep 1000\n", "/clang-test was stopped after 5 s (ROOFTILE_COMPILE_TIMEOUT)"},
        {"exec yes error\n", "/clang-test was stopped, as its messages do not end:\nerror\nerror\n"},
        {"rm \"$object\"\n", "the compiler ended well but its object cannot be read: "},
    };
    struct fixture *fixture = *state;
    struct build_request requests[COUNT(cases) + 1] = {0};
    struct build_result results[COUNT(cases) + 1];
    for (size_t i = 0; i < COUNT(requests); i++) {
        const char *script = i < COUNT(cases) ? cases[i].script : "true\n";
        requests[i].source = fixture_write(fixture, arena_printf(&fixture->arena, "k/%zu.hip", i), script);
        requests[i].target = gfx942;
    }
    setenv("ROOFTILE_COMPILE_TIMEOUT", "5", 1);
    const struct build_options options = options_of(fixture);
    struct err err = {0};
    assert_int_equal(build_all(results, requests, COUNT(requests), &options, &fixture->arena, &err), STATUS_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(results[i].state, BUILD_FAILED);
        assert_true(results[i].command && strstr(results[i].message, cases[i].message));
    }
    assert_int_equal(results[COUNT(cases)].state, BUILD_COMPILED);
    assert_int_equal(build_source(fixture, requests[0].source).state, BUILD_FAILED); /* is not kept */
}

static void test_long_message(void **state)
{
    struct fixture *fixture = *state;
    const char *source = fixture_write(fixture, "k/a.hip",
                                       "echo first >&2; i=0; while [ $i -lt 5000 ]; do echo \"error number $i\" >&2; "
                                       "i=$((i + 1)); done; exit 1\n");
    const struct build_result result = build_source(fixture, source);
    assert_int_equal(result.state, BUILD_FAILED);
    assert_true(text_starts(result.message, "first\nerror number 0\n"));
    assert_true(strlen(result.message) < 8192 + 64);
    assert_true(strlen(result.message) > 8000);
    assert_true(text_ends(result.message, " more bytes of compiler output"));
}

static void test_refused_requests(void **state)
{
    struct fixture *fixture = *state;
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    const struct {
        struct build_request request;
        enum build_state state;
        const char *message;
    } cases[] = {
        {{.source = source, .target = gfx942, .min_llvm = 17}, BUILD_COMPILED, NULL},
        {{.source = source, .target = gfx942, .min_llvm = 18},
         BUILD_SKIPPED,
         "needs LLVM 18, but what compiles for gfx942 here is "},
        {{.source = source, .target = {BUILD_AMD, "gfx942", 32, false}},
         BUILD_SKIPPED,
         "gfx942 has waves of 64 lanes only"},
        {{.source = "/nowhere/a.hip", .target = gfx942}, BUILD_FAILED, "/nowhere/a.hip: no such file"},
        {{.image = source, .target = gfx942}, BUILD_FAILED, fixture->dir},
        {{.image = "/nowhere/a.hsaco", .target = gfx942}, BUILD_FAILED, "/nowhere/a.hsaco: "},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct build_result result = build_one(fixture, cases[i].request);
        assert_int_equal(result.state, cases[i].state);
        if (cases[i].message)
            assert_true(text_starts(result.message, cases[i].message));
        else
            assert_int_equal(strlen(result.sha256), 64);
    }
    setenv("ROOFTILE_KERNEL_COMPILER", "/nowhere/clang++", 1);
    assert_int_equal(build_source(fixture, source).state, BUILD_FAILED);
}

struct seen {
    size_t calls, ticks, last_done, total;
    volatile int stop;
    size_t stop_after;
};

static void note_progress(void *context, size_t done, size_t total, const struct build_request *request,
                          const struct build_result *result)
{
    struct seen *seen = context;
    assert_non_null(request->source);
    if (!result && ++seen->ticks)
        return;
    assert_int_not_equal(result->state, BUILD_PENDING);
    assert_int_equal(done, seen->last_done + 1);
    seen->last_done = done;
    seen->total = total;
    if (++seen->calls == seen->stop_after)
        seen->stop = 1;
}

/* Every source is compiled by one job at a time; each notes how many run beside it. */
static void test_parallel(void **state)
{
    struct fixture *fixture = *state;
    enum { SOURCES = 8, JOBS = 3 };
    struct build_request requests[2 * SOURCES] = {0};
    struct build_result results[2 * SOURCES];
    mkdir(fixture_path(fixture, "log.d"), 0777);
    for (size_t i = 0; i < 2 * SOURCES; i++) {
        requests[i].source = fixture_write(fixture, arena_printf(&fixture->arena, "k/%zu.hip", i % SOURCES),
                                           "mkdir \"$LOG.d/$$\"; echo jobs $(ls \"$LOG.d\" | wc -l) >> \"$LOG\"; "
                                           "sleep 0.1; rmdir \"$LOG.d/$$\"\n");
        requests[i].target = gfx942;
    }
    struct seen seen = {0};
    struct build_options options = options_of(fixture);
    options.jobs = JOBS;
    options.progress = note_progress;
    options.context = &seen;
    struct err err = {0};
    assert_int_equal(build_all(results, requests, 2 * SOURCES, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(seen.calls, 2 * SOURCES);
    assert_int_equal(seen.total, 2 * SOURCES);
    assert_int_equal(fixture_count(fixture, "compile"), SOURCES);
    assert_true(fixture_count(fixture, "jobs 2") + fixture_count(fixture, "jobs 3") > 0);
    assert_int_equal(fixture_count(fixture, "jobs 4"), 0);
    for (size_t i = 0; i < 2 * SOURCES; i++)
        assert_int_equal(results[i].state, i < SOURCES ? BUILD_COMPILED : BUILD_CACHED);
}

static void test_stop(void **state)
{
    struct fixture *fixture = *state;
    struct build_request requests[4] = {0};
    struct build_result results[4];
    requests[0].source = fixture_write(fixture, "k/quick.hip", "sleep 0.2\n");
    for (size_t i = 1; i < 4; i++)
        requests[i].source = fixture_write(fixture, arena_printf(&fixture->arena, "k/%zu.hip", i),
                                           "(sleep 0.5; echo late >> \"$LOG\") & wait; sleep 60\n");
    for (size_t i = 0; i < 4; i++)
        requests[i].target = gfx942;
    struct seen seen = {.stop_after = 1};
    struct build_options options = options_of(fixture);
    options.progress = note_progress;
    options.context = &seen;
    options.stop = &seen.stop;
    struct err err = {0};
    const uint64_t begin_ns = clock_now_ns();
    assert_int_equal(build_all(results, requests, 4, &options, &fixture->arena, &err), ERR_INTERRUPTED);
    assert_true(clock_now_ns() - begin_ns < UINT64_C(20000000000));
    assert_int_equal(results[0].state, BUILD_COMPILED);
    assert_true(seen.ticks > 0);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(results[i].state, BUILD_PENDING);
    /* Nothing is left behind: neither files nor what the compilers had started. */
    clock_sleep_ns(UINT64_C(800000000));
    assert_int_equal(fixture_count(fixture, "late"), 0);
    char **paths = NULL;
    size_t count = 0;
    assert_int_equal(file_list(&paths, &count, fixture_path(fixture, "tmp"), "", &fixture->arena, &err), STATUS_OK);
    assert_int_equal(count, 0);
}

static void test_two_processes(void **state)
{
    struct fixture *fixture = *state;
    enum { SOURCES = 5 };
    struct build_request requests[SOURCES] = {0};
    struct build_result results[SOURCES];
    for (size_t i = 0; i < SOURCES; i++) {
        requests[i].source = fixture_write(fixture, arena_printf(&fixture->arena, "k/%zu.hip", i), "sleep 0.1\n");
        requests[i].target = gfx942;
    }
    const struct build_options options = options_of(fixture);
    struct err err = {0};
    const pid_t child = fork();
    assert_true(child >= 0);
    const enum status status = build_all(results, requests, SOURCES, &options, &fixture->arena, &err);
    bool ok = status == STATUS_OK;
    for (size_t i = 0; ok && i < SOURCES; i++)
        ok = (results[i].state == BUILD_COMPILED || results[i].state == BUILD_CACHED) && file_exists(results[i].object);
    if (child == 0)
        _exit(ok ? 0 : 1);
    int exit_state = 0;
    assert_int_equal(waitpid(child, &exit_state, 0), child);
    assert_int_equal(exit_state, 0);
    assert_true(ok);
    assert_int_equal(fixture_count(fixture, "compile"), SOURCES);
}

static void test_unwritable_cache(void **state)
{
    struct fixture *fixture = *state;
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    const struct build_request request = {.source = source, .target = gfx942};
    struct build_result result = {0};
    struct err err = {0};
    const size_t warnings = log_warning_count();
    struct build_options options = options_of(fixture);
    options.cache_dir = path_join(&fixture->arena, source, "objects"); /* below a file */
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(result.state, BUILD_COMPILED);
    assert_true(text_starts(result.object, fixture_path(fixture, "tmp")));
    assert_int_equal(log_warning_count(), warnings + 1);
    /* The substitute is used again, but never when others may write to it. */
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(result.state, BUILD_CACHED);
    assert_int_equal(chmod(path_dir(&fixture->arena, result.object), 0777), 0);
    assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), ERR_IO);
    assert_non_null(strstr(err.text, "others may write into it"));
}

static void test_cache_fails_later(void **state)
{
    struct fixture *fixture = *state;
    struct build_request requests[2] = {0};
    struct build_result results[2];
    setenv("GONE", fixture_path(fixture, "cache/objects"), 1);
    requests[0].source = fixture_write(fixture, "k/a.hip", "rm -r \"$GONE\"\n");
    requests[1].source = fixture_write(fixture, "k/b.hip", "true\n");
    requests[0].target = requests[1].target = gfx942;
    struct build_options options = options_of(fixture);
    options.jobs = 1;
    struct err err = {0};
    assert_int_equal(build_all(results, requests, 2, &options, &fixture->arena, &err), STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(results[i].state, BUILD_COMPILED);
        assert_true(text_starts(results[i].object, fixture_path(fixture, "tmp")));
        assert_true(file_exists(results[i].object));
    }
}

/* From here on with real compilers. */

static const char stand_in_header[] =
    "#ifdef __HIP__\n#define KERNEL extern \"C\" __attribute__((global))\n"
    "#else\n#define KERNEL extern \"C\" __attribute__((visibility(\"default\")))\n#endif\n";
static const char stand_in_unit[] = "#include \"portable.h\"\n#include ROOFTILE_SOURCE\n";

static void use_real_compiler(struct fixture *fixture)
{
    unsetenv("ROOFTILE_KERNEL_COMPILER");
    fixture_write(fixture, "include/portable.h", stand_in_header);
    fixture_write(fixture, "include/cpu_unit.cpp", stand_in_unit);
}

static struct build_target real_cpu(struct fixture *fixture, uint32_t wave)
{
    struct text features = {0};
    cpu_target_detect(&features, "");
    const char *copy = arena_strdup(&fixture->arena, features.data);
    text_release(&features);
    return (struct build_target){BUILD_CPU, copy, wave, false};
}

/* Skips the test where the target has no compiler. */
static void need_compiler(struct fixture *fixture, struct build_target target)
{
    struct compiler compiler = {0};
    struct err err = {0};
    if (!build_find_compiler(&compiler, &target, 0, &fixture->arena, &err))
        return;
    print_message("skipped: %s\n", err.text);
    skip();
}

static int call(const char *object, const char *name)
{
    void *module = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(module);
    int (*function)(void) = NULL;
    *(void **)&function = dlsym(module, name);
    assert_non_null(function);
    const int value = function();
    dlclose(module);
    return value;
}

static void test_real_cpu(void **state)
{
    struct fixture *fixture = *state;
    use_real_compiler(fixture);
    need_compiler(fixture, real_cpu(fixture, 64));
    fixture_write(fixture, "k/odd $dir #1/value.h", "enum { VALUE = 5 };\n");
    const char *source = fixture_write(
        fixture, "k/a.hip",
        "#include \"odd $dir #1/value.h\"\nKERNEL int f() { return VALUE * 1000 + N + ROOFTILE_WAVE; }\n");
    static const struct build_define defines[] = {{"N", "(300 + 7)"}};
    struct build_request request = {
        .source = source, .defines = defines, .define_count = 1, .target = real_cpu(fixture, 32)};
    struct build_result result = build_one(fixture, request);
    if (result.state == BUILD_FAILED)
        fail_msg("%s\n%s", result.command, result.message);
    assert_int_equal(call(result.object, "f"), 5339);
    assert_int_equal(build_one(fixture, request).state, BUILD_CACHED);
    fixture_write(fixture, "k/odd $dir #1/value.h", "enum { VALUE = 6 };\n");
    result = build_one(fixture, request);
    assert_int_equal(result.state, BUILD_COMPILED);
    assert_int_equal(call(result.object, "f"), 6339);
    request.source = fixture_write(fixture, "k/bad.hip", "KERNEL int f() { return nonsense; }\n");
    result = build_one(fixture, request);
    assert_int_equal(result.state, BUILD_FAILED);
    assert_non_null(strstr(result.message, "bad.hip:1:"));
    assert_non_null(strstr(result.message, "nonsense"));
}

/* The same source elsewhere and later gives the same bytes, __FILE__ and debug information included; or is cached. */
static void check_reproducible(struct fixture *fixture, struct build_target target, const char *compiler)
{
    static const char *const flags[] = {"-g"};
    static const char *const trees[] = {"here", "some where/else"};
    struct build_result results[COUNT(trees)], again;
    use_real_compiler(fixture);
    if (compiler)
        setenv("ROOFTILE_KERNEL_COMPILER", compiler, 1);
    need_compiler(fixture, target);
    for (size_t i = 0; i < COUNT(trees); i++) {
        struct build_options options = options_of(fixture);
        char *dir = arena_printf(&fixture->arena, "%s/include/", trees[i]);
        fixture_write(fixture, arena_printf(&fixture->arena, "%sportable.h", dir), stand_in_header);
        fixture_write(fixture, arena_printf(&fixture->arena, "%scpu_unit.cpp", dir), stand_in_unit);
        options.include_dir = fixture_path(fixture, dir);
        options.cache_dir = fixture_path(fixture, arena_printf(&fixture->arena, "cache %zu", i));
        const struct build_request request = {
            .source = fixture_write(fixture, arena_printf(&fixture->arena, "%s/k/a.hip", trees[i]),
                                    "#include \"portable.h\"\nKERNEL void f(const char **p) { *p = __FILE__; }\n"),
            .flags = flags,
            .flag_count = 1,
            .target = target,
        };
        struct err err = {0};
        assert_int_equal(chdir(fixture_path(fixture, trees[i])), 0);
        assert_int_equal(build_all(&results[i], &request, 1, &options, &fixture->arena, &err), STATUS_OK);
        if (results[i].state != BUILD_COMPILED)
            fail_msg("%s", results[i].message);
        assert_int_equal(build_all(&again, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
        assert_int_equal(chdir("/"), 0);
        assert_int_equal(again.state, BUILD_CACHED);
    }
    assert_string_equal(results[0].sha256, results[1].sha256);
}

static void test_reproducible_cpu(void **state)
{
    check_reproducible(*state, real_cpu(*state, 64), NULL);
}

static void test_reproducible_amd(void **state)
{
    check_reproducible(*state, (struct build_target){BUILD_AMD, "gfx90a", 64, false}, "clang++-19");
}

static void test_reproducible_amd_22(void **state)
{
    check_reproducible(*state, (struct build_target){BUILD_AMD, "gfx90a", 64, false}, "clang++-22");
}

/* Offload bundles have names and offsets of their own. */
static void test_reproducible_hipcc(void **state)
{
    check_reproducible(*state, (struct build_target){BUILD_AMD, "gfx1030", 64, true}, "hipcc");
}

/* What one machine compiled, another without a compiler takes from the cache: if nothing but the compiler is missing.
 */
static void test_prebuilt(void **state)
{
    static const struct {
        const char *what;
        struct build_target target;
        unsigned min_llvm;
        const char *header; /* rewritten before */
        const char *own;    /* ROOFTILE_KERNEL_COMPILER */
        enum build_state state;
    } cases[] = {
        {"all the same", {BUILD_AMD, "gfx1100", 32, false}, 17, NULL, "", BUILD_CACHED},
        {"CU mode", {BUILD_AMD, "gfx1100", 32, true}, 0, NULL, "", BUILD_FAILED},
        {"wave", {BUILD_AMD, "gfx1100", 64, false}, 0, NULL, "", BUILD_FAILED},
        {"target", {BUILD_AMD, "gfx1101", 32, false}, 0, NULL, "", BUILD_FAILED},
        {"newer LLVM", {BUILD_AMD, "gfx1100", 32, false}, 18, NULL, "", BUILD_FAILED},
        {"named compiler", {BUILD_AMD, "gfx1100", 32, false}, 0, NULL, "/nowhere/clang++", BUILD_FAILED},
        {"header", {BUILD_AMD, "gfx1100", 32, false}, 0, "2", "", BUILD_FAILED},
        {"header again", {BUILD_AMD, "gfx1100", 32, false}, 0, "1", "", BUILD_CACHED},
    };
    struct fixture *fixture = *state;
    const char *header = fixture_write(fixture, "include/h.h", "1");
    setenv("HEADERS", header, 1);
    const char *source = fixture_write(fixture, "k/a.hip", "true\n");
    const struct build_request request = {.source = source, .target = {BUILD_AMD, "gfx1100", 32, false}};
    const struct build_result first = build_one(fixture, request);
    assert_int_equal(first.state, BUILD_COMPILED);
    assert_string_equal(first.compiler->path, fixture->compiler);
    setenv("PATH", "/nowhere", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("ROOFTILE_KERNEL_COMPILER", cases[i].own, 1);
        if (cases[i].header)
            fixture_write(fixture, "include/h.h", cases[i].header);
        const struct build_result result = build_one(
            fixture,
            (struct build_request){.source = source, .target = cases[i].target, .min_llvm = cases[i].min_llvm});
        if (result.state != cases[i].state)
            fail_msg("%s: state %d: %s", cases[i].what, (int)result.state, result.message ? result.message : "");
        if (result.state != BUILD_CACHED)
            continue;
        assert_string_equal(result.sha256, first.sha256);
        assert_string_equal(result.compiler->version, "Test clang version 17.0.1");
        assert_int_equal(result.compiler->llvm, 17);
        assert_string_equal(result.compiler->path, "");
    }
}

static void test_real_amd(void **state)
{
    static const struct build_target targets[] = {
        {BUILD_AMD, "gfx906", 64, false}, {BUILD_AMD, "gfx1030", 32, false}, {BUILD_AMD, "gfx1030", 64, false}};
    struct fixture *fixture = *state;
    use_real_compiler(fixture);
    const char *source = fixture_write(
        fixture, "k/a.hip",
        "#include \"portable.h\"\nKERNEL void f(int *p) { *p = (int)__builtin_amdgcn_workitem_id_x(); }\n");
    for (size_t i = 0; i < COUNT(targets); i++) {
        need_compiler(fixture, targets[i]);
        const struct build_result result =
            build_one(fixture, (struct build_request){.source = source, .target = targets[i]});
        if (result.state != BUILD_COMPILED)
            fail_msg("%s", result.message);
        char *object = fixture_read(fixture, result.object);
        if (result.compiler->is_hipcc) {
            assert_true(text_starts(object, "__CLANG_OFFLOAD_BUNDLE__"));
            continue;
        }
        assert_memory_equal(object, "\177ELF", 4);
        assert_int_equal((unsigned char)object[18], 224); /* EM_AMDGPU */
    }
    const struct build_request unknown = {.source = source, .target = {BUILD_AMD, "gfx9999", 64, false}};
    assert_int_equal(build_one(fixture, unknown).state, BUILD_SKIPPED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    log_set_level(LOG_QUIET);
    const struct CMUnitTest tests[] = {
        TEST(test_compiles_then_finds),
        TEST(test_own_compiler),
        TEST(test_key),
        TEST(test_moved_tree),
        TEST(test_defines_are_not_shell),
        TEST(test_damaged_cache),
        TEST(test_record_stays_inside),
        TEST(test_changed_while_compiling),
        TEST(test_failures),
        TEST(test_long_message),
        TEST(test_refused_requests),
        TEST(test_parallel),
        TEST(test_stop),
        TEST(test_two_processes),
        TEST(test_unwritable_cache),
        TEST(test_cache_fails_later),
        TEST(test_real_cpu),
        TEST(test_reproducible_cpu),
        TEST(test_reproducible_amd),
        TEST(test_reproducible_amd_22),
        TEST(test_reproducible_hipcc),
        TEST(test_prebuilt),
        TEST(test_real_amd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
