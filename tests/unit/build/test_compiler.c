/* SPDX-License-Identifier: MIT */
#include "build_fixture.h"

#include <sys/wait.h>

/* A compiler that knows only the targets in its name list and writes one line per probe. */
static void add_compiler(struct fixture *fixture, const char *name, unsigned llvm, const char *refusal)
{
    fixture_script(fixture, name,
                   arena_printf(&fixture->arena,
                                "#!/bin/sh\n"
                                "[ \"$1\" = --version ] && { echo '%s clang version %u.1.0'; exit 0; }\n"
                                "echo \"probe %s $*\" >> \"$LOG\"\n"
                                "case \"$*\" in *gfx950*) echo \"%s\" >&2; exit 1;; esac\n"
                                "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done\n",
                                name, llvm, name, refusal));
}

#define UNKNOWN "clang: error: invalid target ID 'gfx950'"

static void use_path(struct fixture *fixture)
{
    mkdir(fixture_path(fixture, "path"), 0777);
    setenv("PATH", fixture_path(fixture, "path"), 1);
    unsetenv("ROOFTILE_KERNEL_COMPILER");
}

static enum status find(struct compiler *compiler, struct fixture *fixture, struct build_target target, struct err *err)
{
    *err = (struct err){0};
    return build_find_compiler(compiler, &target, 0, &fixture->arena, err);
}

static const struct build_target gfx942 = {BUILD_AMD, "gfx942", 64, false};
static const struct build_target gfx950 = {BUILD_AMD, "gfx950", 64, false};
static const struct build_target sm_80 = {BUILD_NVIDIA, "sm_80", 32, false};
static const struct build_target sm_90a = {BUILD_NVIDIA, "sm_90a", 32, false};
static const struct build_target sm_100a = {BUILD_NVIDIA, "sm_100a", 32, false};
static const struct build_target cpu = {BUILD_CPU, "x86-64-v3", 64, false};

static void test_newest_wins(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err;
    use_path(fixture);
    add_compiler(fixture, "path/clang++", 14, UNKNOWN);
    add_compiler(fixture, "path/clang++-18", 18, UNKNOWN);
    add_compiler(fixture, "path/clang++-16", 16, UNKNOWN);
    assert_int_equal(find(&compiler, fixture, gfx942, &err), STATUS_OK);
    assert_string_equal(compiler.path, fixture_path(fixture, "path/clang++-18"));
    assert_int_equal(compiler.llvm, 18);
    assert_string_equal(compiler.version, "path/clang++-18 clang version 18.1.0");
    assert_false(compiler.is_hipcc);
    assert_int_equal(find(&compiler, fixture, cpu, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 18);
}

static void test_own_compiler_wins(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err;
    use_path(fixture);
    add_compiler(fixture, "path/clang++-18", 18, UNKNOWN);
    add_compiler(fixture, "other/clang++", 15, UNKNOWN);
    setenv("ROOFTILE_KERNEL_COMPILER", fixture_path(fixture, "other/clang++"), 1);
    assert_int_equal(find(&compiler, fixture, gfx942, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 15);
    /* And no other is asked when it cannot do it. */
    assert_int_equal(find(&compiler, fixture, gfx950, &err), ERR_UNSUPPORTED);
    assert_int_equal(fixture_count(fixture, "clang++-18"), 0);
    setenv("ROOFTILE_KERNEL_COMPILER", "/nowhere/clang++", 1);
    assert_int_equal(find(&compiler, fixture, gfx942, &err), ERR_BUILD);
    assert_string_equal(err.text, "ROOFTILE_KERNEL_COMPILER: /nowhere/clang++ is not a program that runs");
}

/* ROCm's own compilers come first, whatever the version: its runtime must load what they write. */
static void test_amd_compilers(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err;
    use_path(fixture);
    add_compiler(fixture, "path/clang++-19", 19, UNKNOWN);
    add_compiler(fixture, "path/hipcc", 15, UNKNOWN);
    assert_int_equal(find(&compiler, fixture, gfx942, &err), STATUS_OK);
    assert_true(compiler.is_hipcc);
    assert_int_equal(compiler.llvm, 15);
    assert_int_equal(fixture_count(fixture, "--genco"), 1);
    assert_int_equal(fixture_count(fixture, "--cuda-device-only"), 0);
    add_compiler(fixture, "rocm/llvm/bin/amdclang++", 14, UNKNOWN);
    setenv("ROCM_PATH", fixture_path(fixture, "rocm"), 1);
    assert_int_equal(find(&compiler, fixture, gfx942, &err), STATUS_OK);
    assert_string_equal(compiler.path, fixture_path(fixture, "rocm/llvm/bin/amdclang++"));
    /* Neither is for the CPU. */
    assert_int_equal(find(&compiler, fixture, cpu, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 19);
}

/* Code that asks for a newer LLVM goes on to the next compiler; without one it is told which there are. */
static void add_nvcc(struct fixture *fixture, const char *name)
{
    fixture_script(
        fixture, name,
        "#!/bin/sh\n"
        "[ \"$1\" = --version ] && { echo nvcc; echo 'Cuda compilation tools, release 12.4'; exit 0; }\n"
        "echo \"nvcc $*\" >> \"$LOG\"\n"
        "case \"$*\" in *sm_100a*) echo \"nvcc fatal: Unsupported gpu architecture 'sm_100a'\" >&2; exit 1;; esac\n"
        "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done\n");
}

/* CUDA's compiler first, where it knows the target; else PTX from a clang that is new enough. */
static void test_nvidia_compilers(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err;
    use_path(fixture);
    setenv("CUDA_HOME", fixture_path(fixture, "cuda"), 1);
    add_compiler(fixture, "path/clang++-18", 18, UNKNOWN);
    assert_int_equal(find(&compiler, fixture, sm_90a, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no compiler at hand knows sm_90a (needs CUDA 12.0 or LLVM 19); asked: "));
    assert_non_null(strstr(err.text, "clang++-18 (LLVM 18)"));
    add_compiler(fixture, "path/clang++-19", 19, UNKNOWN);
    assert_int_equal(find(&compiler, fixture, sm_80, &err), STATUS_OK);
    assert_false(compiler.is_nvcc);
    assert_int_equal(compiler.llvm, 19);
    assert_int_equal(fixture_count(fixture, "--cuda-gpu-arch=sm_80 --cuda-feature=+ptx70"), 1);
    assert_int_equal(fixture_count(fixture, "-x cuda --cuda-device-only -nocudainc -nocudalib -S"), 1);
    assert_int_equal(find(&compiler, fixture, sm_100a, &err), ERR_UNSUPPORTED);
    add_compiler(fixture, "path/clang++-20", 20, UNKNOWN);
    add_nvcc(fixture, "path/nvcc");
    assert_int_equal(find(&compiler, fixture, sm_90a, &err), STATUS_OK);
    assert_true(compiler.is_nvcc);
    assert_string_equal(compiler.version, "Cuda compilation tools, release 12.4");
    assert_int_equal(fixture_count(fixture, "-cubin"), 1);
    assert_int_equal(find(&compiler, fixture, sm_100a, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 20);
    add_nvcc(fixture, "cuda/bin/nvcc");
    assert_int_equal(find(&compiler, fixture, sm_90a, &err), STATUS_OK);
    assert_string_equal(compiler.path, fixture_path(fixture, "cuda/bin/nvcc"));
    setenv("ROOFTILE_KERNEL_COMPILER", fixture_path(fixture, "path/clang++-19"), 1);
    assert_int_equal(find(&compiler, fixture, sm_90a, &err), STATUS_OK);
    assert_string_equal(compiler.path, fixture_path(fixture, "path/clang++-19"));
    setenv("ROOFTILE_KERNEL_COMPILER", fixture_path(fixture, "path/nvcc"), 1);
    assert_int_equal(find(&compiler, fixture, cpu, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 20);
    unsetenv("CUDA_HOME");
}

static void test_min_llvm(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err = {0};
    use_path(fixture);
    add_compiler(fixture, "path/hipcc", 15, UNKNOWN);
    add_compiler(fixture, "path/clang++-18", 18, UNKNOWN);
    assert_int_equal(build_find_compiler(&compiler, &gfx942, 17, &fixture->arena, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 18);
    assert_int_equal(build_find_compiler(&compiler, &gfx942, 20, &fixture->arena, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.text,
                        arena_printf(&fixture->arena,
                                     "needs LLVM 20, but what compiles for gfx942 here is %s (LLVM 15), %s "
                                     "(LLVM 18)",
                                     fixture_path(fixture, "path/hipcc"), fixture_path(fixture, "path/clang++-18")));
}

static void test_older_one_knows_it(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err;
    use_path(fixture);
    add_compiler(fixture, "path/clang++-18", 18, UNKNOWN);
    fixture_script(fixture, "path/clang++-16",
                   "#!/bin/sh\n[ \"$1\" = --version ] && echo 'clang version 16.0.0'\nexit 0\n");
    assert_int_equal(find(&compiler, fixture, gfx950, &err), STATUS_OK);
    assert_int_equal(compiler.llvm, 16);
}

static void test_none_found(void **state)
{
    struct fixture *fixture = *state;
    struct compiler compiler = {0};
    struct err err;
    use_path(fixture);
    fixture_script(fixture, "path/clang++-15", "#!/bin/sh\nexit 1\n");
    assert_int_equal(find(&compiler, fixture, cpu, &err), ERR_BUILD);
    static const char *const said[] = {"clang++, ",  "clang++-25",        "clang++-15 (does not run)",
                                       "clang++-14", "apt install clang", "ROOFTILE_KERNEL_COMPILER"};
    for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
        assert_non_null(strstr(err.text, said[i]));
    assert_null(strstr(err.text, "hipcc"));
}

/* A compiler that crashes, always or when it compiles: the signal is named. */
static void test_crashes(void **state)
{
    static const char *const scripts[] = {
        "#!/bin/sh\nkill -SEGV $$\n",
        "#!/bin/sh\n[ \"$1\" = --version ] || kill -SEGV $$\necho clang version 22.1.0\n"};
    static const char *const said[] = {"/clang++-15 --version: killed by signal 11 (Segmentation fault)",
                                       "/clang++-15 (LLVM 22): killed by signal 11 (Segmentation fault)"};
    struct fixture *fixture = *state;
    for (size_t k = 0; k < 2; k++) {
        struct compiler compiler = {0};
        struct err err;
        const char *path = fixture_script(fixture, "path/clang++-15", scripts[k]);
        use_path(fixture);
        setenv("ROOFTILE_KERNEL_COMPILER", path, 1);
        assert_int_equal(find(&compiler, fixture, gfx942, &err), ERR_BUILD);
        if (!strstr(err.text, said[k]))
            fail_msg("'%s' is not in '%s'", said[k], err.text);
    }
}

/* A compiler that hangs, always or when it compiles, is asked once, however many targets there are. */
static void test_hangs(void **state)
{
    static const char *const answers[] = {"", "[ \"$1\" = --version ] && { echo clang version 22.1.0; exit; }\n"};
    static const struct build_target *const targets[] = {&gfx942, &gfx950, &cpu};
    static const char *const said[] = {"/hangs-0 --version: no answer within 1 s",
                                       "/hangs-1 (LLVM 22): no answer within 1 s"};
    struct fixture *fixture = *state;
    setenv("ROOFTILE_COMPILE_TIMEOUT", "1", 1);
    for (size_t k = 0; k < 2; k++) {
        const char *path = fixture_script(fixture, arena_printf(&fixture->arena, "hangs-%zu", k),
                                          arena_printf(&fixture->arena,
                                                       "#!/bin/sh\n%s"
                                                       "echo asked >> \"$LOG\"\nexec sleep 1000\n",
                                                       answers[k]));
        setenv("ROOFTILE_KERNEL_COMPILER", path, 1);
        for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
            struct compiler compiler = {0};
            struct err err;
            assert_int_equal(find(&compiler, fixture, *targets[i], &err), ERR_BUILD);
            if (!strstr(err.text, said[k]))
                fail_msg("'%s' is not in '%s'", said[k], err.text);
        }
        assert_int_equal(fixture_count(fixture, "asked"), k + 1);
    }
    unsetenv("ROOFTILE_COMPILE_TIMEOUT");
}

/* One that hangs at files alone is asked for one. */
static void test_hangs_at_files(void **state)
{
    static const char *const said[] = {"/clang-test was stopped after 1 s", "not tried: "};
    struct fixture *fixture = *state;
    const char *source = fixture_write(fixture, "k/a.hip", "exec sleep 1000\n");
    const struct build_request request = {.source = source, .target = gfx942};
    const struct build_options options = {.include_dir = fixture_path(fixture, "include"), .jobs = 1};
    setenv("ROOFTILE_COMPILE_TIMEOUT", "1", 1);
    for (size_t k = 0; k < 2; k++) {
        struct build_result result = {0};
        struct err err = {0};
        assert_int_equal(build_all(&result, &request, 1, &options, &fixture->arena, &err), STATUS_OK);
        assert_int_equal(result.state, BUILD_FAILED);
        assert_non_null(strstr(result.message, said[k]));
    }
    assert_int_equal(fixture_count(fixture, "compile"), 1);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *words;
        enum status status;
        const char *said[2];
    } cases[] = {
        {"clang: error: unknown target CPU 'gfx950'",
         ERR_UNSUPPORTED,
         {"never compiled: no compiler at hand knows gfx950 (needs LLVM 20); asked: ", "clang++ (LLVM 19)"}},
        {"error: unsupported HIP gpu architecture: gfx950", ERR_UNSUPPORTED, {"never compiled: ", "(needs LLVM 20)"}},
        {"error: unable to execute command: Executable \\\"lld\\\" doesn't exist!",
         ERR_BUILD,
         {"no compiler here compiles for gfx950: ", "clang++ (LLVM 19): unable to execute command"}},
    };
    struct fixture *fixture = *state;
    use_path(fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct compiler compiler = {0};
        struct err err;
        add_compiler(fixture, "path/clang++", 19, cases[i].words);
        assert_int_equal(find(&compiler, fixture, gfx950, &err), cases[i].status);
        for (size_t k = 0; k < 2; k++)
            if (!strstr(err.text, cases[i].said[k]))
                fail_msg("'%s' is not in '%s'", cases[i].said[k], err.text);
    }
}

static void test_wave_sizes(void **state)
{
    static const struct {
        struct build_target target;
        enum status status;
        const char *flag; /* of the probe */
    } cases[] = {
        {{BUILD_AMD, "gfx90a", 64, false}, STATUS_OK, "--offload-arch=gfx90a -o"},
        {{BUILD_AMD, "gfx90a", 32, false}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx9-generic", 32, false}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx942:xnack-", 32, false}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx1030", 64, false},
         STATUS_OK,
         "--offload-arch=gfx1030 -mwavefrontsize64 -DROOFTILE_WAVE=64u -mno-cumode -o"},
        {{BUILD_AMD, "gfx1151", 32, false},
         STATUS_OK,
         "--offload-arch=gfx1151 -mno-wavefrontsize64 -DROOFTILE_WAVE=32u -mno-cumode -o"},
        {{BUILD_AMD, "gfx11-generic", 32, true},
         STATUS_OK,
         "--offload-arch=gfx11-generic -mno-wavefrontsize64 -DROOFTILE_WAVE=32u -mcumode -o"},
        {{BUILD_AMD, "gfx1201", 48, false}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx942", 64, true}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx1250", 64, false}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx1250", 32, true}, ERR_UNSUPPORTED, NULL},
        {{BUILD_AMD, "gfx1250", 32, false}, STATUS_OK, "--offload-arch=gfx1250 -o"},
        {{BUILD_CPU, "x86-64-v4", 32, false}, STATUS_OK, "-DROOFTILE_WAVE=32 -o"},
    };
    struct fixture *fixture = *state;
    use_path(fixture);
    add_compiler(fixture, "path/clang++", 19, UNKNOWN);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct compiler compiler = {0};
        struct err err;
        assert_int_equal(find(&compiler, fixture, cases[i].target, &err), cases[i].status);
        if (cases[i].flag)
            assert_int_equal(fixture_count(fixture, cases[i].flag), 1);
    }
}

static void test_remembers(void **state)
{
    struct fixture *fixture = *state;
    struct compiler first = {0}, second = {0}, third = {0};
    struct err err;
    use_path(fixture);
    add_compiler(fixture, "path/clang++", 19, UNKNOWN);
    assert_int_equal(find(&first, fixture, gfx942, &err), STATUS_OK);
    assert_int_equal(find(&second, fixture, gfx942, &err), STATUS_OK);
    assert_int_equal(fixture_count(fixture, "probe"), 1);
    assert_string_equal(first.identity, second.identity);
    /* A compiler that was replaced is asked again. */
    add_compiler(fixture, "path/clang++", 20, UNKNOWN);
    assert_int_equal(find(&third, fixture, gfx942, &err), STATUS_OK);
    assert_int_equal(fixture_count(fixture, "probe"), 2);
    assert_int_equal(third.llvm, 20);
    assert_string_not_equal(first.identity, third.identity);
}

/* A compiler that refuses is asked once for each target in the life of the process, and says the same again. */
static void test_remembers_refusals(void **state)
{
    static const char *const words[] = {UNKNOWN, "error: no room"};
    struct fixture *fixture = *state;
    use_path(fixture);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct compiler compiler = {0};
        struct err first, second;
        const char *name = arena_printf(&fixture->arena, "path/hipcc%zu", i);
        add_compiler(fixture, name, 15, words[i]);
        setenv("ROOFTILE_KERNEL_COMPILER", fixture_path(fixture, name), 1);
        const enum status status = find(&compiler, fixture, gfx950, &first);
        assert_int_equal(status, i ? ERR_BUILD : ERR_UNSUPPORTED);
        assert_int_equal(find(&compiler, fixture, gfx950, &second), status);
        assert_string_equal(first.text, second.text);
        assert_int_equal(fixture_count(fixture, "gfx950"), 1);
        /* Another target is another question, and a compiler that was replaced is asked again. */
        assert_int_equal(find(&compiler, fixture, gfx942, &first), STATUS_OK);
        add_compiler(fixture, name, 16, "error: still no room");
        assert_int_equal(find(&compiler, fixture, gfx950, &first), ERR_BUILD);
        assert_non_null(strstr(first.text, "still no room"));
        unlink(fixture->log);
    }
}

/* Finds a compiler for gfx950 as another process; returns how it went. */
static int find_apart(struct fixture *fixture)
{
    struct compiler compiler = {0};
    struct err err;
    const pid_t child = fork();
    if (child == 0)
        _exit(find(&compiler, fixture, gfx950, &err) == ERR_UNSUPPORTED);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

/* That it does not know a target is also known to the next process, where all of the compiler is: nothing but another
 * one mends it. Behind a wrapper that does not say what it starts there may be another. */
static void test_remembers_unknown_targets(void **state)
{
    struct fixture *fixture = *state;
    use_path(fixture);
    for (int whole = 0; whole < 2; whole++) {
        const char *name = arena_printf(&fixture->arena, "path/hipcc-%d", whole);
        add_compiler(fixture, name, 15, UNKNOWN);
        if (whole)
            fixture_script(
                fixture, name,
                arena_printf(
                    &fixture->arena,
                    "#!/bin/sh\n"
                    "[ \"$1\" = --version ] && { echo 'clang version 15.0.6'; echo InstalledDir: %s; exit 0; }\n"
                    "echo \"probe $*\" >> \"$LOG\"\necho \"%s\" >&2\nexit 1\n",
                    fixture_path(fixture, "path"), UNKNOWN));
        setenv("ROOFTILE_KERNEL_COMPILER", fixture_path(fixture, name), 1);
        assert_int_equal(find_apart(fixture), 1);
        assert_int_equal(find_apart(fixture), 1);
        assert_int_equal(fixture_count(fixture, "gfx950"), whole ? 1 : 2);
        if (whole) { /* the program behind it is another now */
            add_compiler(fixture, "path/clang", 15, UNKNOWN);
            assert_int_equal(find_apart(fixture), 1);
            assert_int_equal(fixture_count(fixture, "gfx950"), 2);
        }
        unlink(fixture->log);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_newest_wins),
        TEST(test_own_compiler_wins),
        TEST(test_amd_compilers),
        TEST(test_older_one_knows_it),
        TEST(test_none_found),
        TEST(test_min_llvm),
        TEST(test_crashes),
        TEST(test_hangs),
        TEST(test_hangs_at_files),
        TEST(test_refusals),
        TEST(test_wave_sizes),
        TEST(test_remembers),
        TEST(test_remembers_refusals),
        TEST(test_remembers_unknown_targets),
        TEST(test_nvidia_compilers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
