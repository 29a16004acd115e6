/* SPDX-License-Identifier: MIT */

#include "cli.h"
#include "rooftile/report.h"
#include "rooftile/roofline.h"
#include "rooftile/suite.h"
#include "texts.h"

static const char *const node_lists[] = {"bad", "good", NULL};
static const char *const whens[] = {"auto", "always", "never", NULL};
static const char *const cache_modes[] = {"hot", "cold", "rotate", NULL};

#define VALUE(option, type, value, field, ...)                                                                         \
    {                                                                                                                  \
        .name = option, .kind = OPTION_##type, .argument = value, .offset = offsetof(struct cli_options, field),       \
        __VA_ARGS__                                                                                                    \
    }
#define FLAG(option, field, ...) VALUE(option, FLAG, NULL, field, __VA_ARGS__)
#define LIST(option, type, value, field, count, ...)                                                                   \
    VALUE(option, type, value, field, .count_offset = offsetof(struct cli_options, count), __VA_ARGS__)

/* texts/options.txt has their help, in the same order. */
static struct option_row option_rows[] = {
    VALUE("device", STRING, "DEV", device, .key = 'd', .complete = COMPLETE_DEVICE),
    LIST("set", PAIRS, "NAME=VALUES", sets, set_count, .complete = COMPLETE_PARAM),
    LIST("filter", LIST, "GLOB", filters, filter_count),
    VALUE("seed", U64, "N", seed),
    VALUE("sample-seed", U64, "N", sample_seed),
    FLAG("quick", quick),
    FLAG("dry-run", dry_run),
    VALUE("out", STRING, "FILE", out, .key = 'o', .complete = COMPLETE_FILE),
    VALUE("out-dir", STRING, "DIR", out_dir, .complete = COMPLETE_FOLDER),
    VALUE("together", CHOICE, "HOW", together, .choices = together_names),
    VALUE("json", STRING, "FILE|-", json, .complete = COMPLETE_FILE),
    VALUE("result", STRING, "FILE", result, .complete = COMPLETE_FILE),
    VALUE("sort", STRING, "NAME", sort),
    VALUE("top", UNSIGNED, "N", top, .most = UINT_MAX),
    VALUE("html", STRING, "FILE", html, .complete = COMPLETE_FILE),
    VALUE("format", WORD, "NAME", format, .help = report_format_help, .choices = report_format_names),
    VALUE("picture", STRING, "NAME", picture),
    VALUE("machine", STRING, "FILE", machine, .complete = COMPLETE_FILE),
    LIST("kernels", LIST, "DIR", kernel_dirs, kernel_dir_count, .complete = COMPLETE_FOLDER),
    VALUE("cache", STRING, "DIR", cache_dir, .complete = COMPLETE_FOLDER),
    VALUE("resume", STRING, "FILE", resume, .complete = COMPLETE_FILE),
    FLAG("samples", samples),
    FLAG("keep-order", keep_order),
    VALUE("min-time", TIME, "TIME", min_time),
    VALUE("max-time", TIME, "TIME", max_time),
    VALUE("cache-mode", CHOICE, "MODE", cache_mode, .choices = cache_modes),
    VALUE("timer", CHOICE, "TIMER", timer, .choices = timer_choice_names),
    VALUE("timeout", TIME, "TIME", timeout),
    VALUE("budget", TIME, "TIME", budget),
    VALUE("trials", UNSIGNED, "N", trials),
    VALUE("ab", TWO, "A B", ab, .complete = COMPLETE_FILE),
    LIST("label", PAIRS, "KEY=VALUE", labels, label_count),
    LIST("arch", SPLIT, "ARCH,...", archs, arch_count, .complete = COMPLETE_ARCH),
    VALUE("jobs", UNSIGNED, "N", jobs, .key = 'j'),
    FLAG("force", force, .key = 'f'),
    FLAG("allow-flags", allow_flags),
    FLAG("references", references),
    FLAG("run", run),
    FLAG("inject-faults", inject_faults),
    FLAG("orders", orders),
    FLAG("devices", devices),
    FLAG("strict", strict),
    VALUE("db", STRING, "FILE", db, .complete = COMPLETE_FILE),
    VALUE("history", STRING, "FILE", history, .complete = COMPLETE_FILE),
    VALUE("channel", STRING, "NAME", channel),
    VALUE("keep", UNSIGNED, "N", keep, .most = UINT_MAX),
    FLAG("backfill", backfill),
    FLAG("confirm", confirm_devices, .only = "fleet"),
    VALUE("confirm", STRING, "SUITE", confirm, .complete = COMPLETE_FILE),
    VALUE("reason", STRING, "TEXT", reason),
    VALUE("alpha", FRACTION, "P", alpha),
    VALUE("delta", FRACTION, "F", delta),
    LIST("shapes", LIST, "FILE", shapes, shape_count, .complete = COMPLETE_FILE),
    VALUE("diff", TWO, "A B", diff, .complete = COMPLETE_FILE),
    VALUE("batch", UNSIGNED, "N", batch),
    VALUE("tokens", U64, "N", tokens),
    VALUE("tp", UNSIGNED, "N", tp),
    FLAG("decode", decode),
    FLAG("isolate", isolate),
    FLAG("described", described),
    VALUE("expect", STRING, "NODES", expect),
    VALUE("list", WORD, "bad|good", list, .choices = node_lists),
    VALUE("baseline", STRING, "FILE", baseline, .complete = COMPLETE_FILE),
    FLAG("profile", profile),
    VALUE("block", UNSIGNED, "N", block),
    VALUE("counters", STRING, "FILE", counters, .complete = COMPLETE_FILE),
    VALUE("models", STRING, "FILE", models, .complete = COMPLETE_FILE),
    FLAG("isa", isa),
    VALUE("pin", STRING, "FILE", pin, .complete = COMPLETE_FILE),
    FLAG("manifest", manifest),
    FLAG("ir", ir),
    FLAG("names", names),
    FLAG("params", params),
    FLAG("targets", targets),
    VALUE("color", CHOICE, "WHEN", color, .choices = whens),
    VALUE("progress", CHOICE, "WHEN", progress, .choices = whens),
    FLAG("quiet", quiet, .key = 'q'),
    VALUE("verbose", COUNT_UP, NULL, verbose, .key = 'v'),
    FLAG("help", help, .key = 'h'),
    {.name = NULL},
};

_Static_assert(COLOR_AUTO == 0 && COLOR_ALWAYS == 1 && COLOR_NEVER == 2, "the order of `whens`");
_Static_assert(PROGRESS_AUTO == 0 && PROGRESS_ALWAYS == 1 && PROGRESS_NEVER == 2, "the order of `whens`");

_Static_assert(CACHE_HOT == 0 && CACHE_COLD == 1 && CACHE_ROTATE == 2, "the order of `cache_modes`");

const struct option_row *option_table(void)
{
    char *at = option_rows[0].help ? NULL : cli_options;
    for (struct option_row *row = option_rows; row->name && at; row++)
        if (!row->help && text_starts(at, row->name))
            row->help = texts_cut(&at, "\n") + strlen(row->name) + strlen(": ");
    return option_rows;
}

static const struct option_row *find_row(const char *name, size_t length, const struct command *command)
{
    for (const struct option_row *row = option_table(); row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0 &&
            (!row->only || (command && !strcmp(row->only, command->name))))
            return row;
    return NULL;
}

size_t options_of(const struct option_row *rows[static MOST_OPTIONS], const struct command *command)
{
    const char *const lists[] = {command ? command->options : "", COMMON_OPTIONS};
    size_t count = 0;
    for (size_t k = 0; k < 2; k++)
        for (const char *at = lists[k]; *at; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");
            rows[count++] = find_row(at, length, command);
            at += length;
        }
    return count;
}
