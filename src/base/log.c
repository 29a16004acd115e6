/* SPDX-License-Identifier: MIT */
#include "rooftile/log.h"

#include <assert.h>
#include <pthread.h>
#include <unistd.h>

#include "rooftile/table.h"

/* Codes are permanent: a retired one keeps its row, a new one is appended. */
static const struct {
    const char *code;
    const char *name;
} warning_codes[] = {
    {"W001", "machine not measured"},
    {"W002", "neighbour interfered with the run"},
    {"W003", "cpu frequency or steal"},
    {"W004", "cache write failed"},
    {"W005", "result flags"},
    {"W006", "device fallback"},
    {"W007", "gpu not idle"},
    {"W008", "machine file of another partition mode"},
    {"W009", "profile not marked"},
    {"W010", "no dispatch timer"},
    {"W011", "caches not known"},
    {"W012", "flush in doubt"},
    {"W013", "calibration failed"},
    {"W014", "not confirmed"},
    {"W015", "out of time"},
    {"W016", "not resumed"},
    {"W017", "journal of a killed run"},
    {"W018", "journal not written"},
    {"W019", "code not walked"},
    {"W020", "devices not together"},
    {"W021", "no code found"},
    {"W022", "slow memory"},
    {"W023", "damaged line"},
};

static struct {
    pthread_mutex_t lock; /* protects the warnings and stderr, so that lines stay whole */
    enum log_level level;
    enum color_mode color;
    void (*clear)(void);
    void (*redraw)(void);
    struct arena arena; /* for the warnings */
    const char **warnings;
    size_t warning_count;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .level = LOG_NORMAL};

struct style {
    const char *label;
    enum tone tone;
};

void log_set_level(enum log_level level)
{
    shared.level = level;
}

enum log_level log_level(void)
{
    return shared.level;
}

void log_set_color(enum color_mode mode)
{
    shared.color = mode;
}

void log_set_status_line(void (*clear)(void), void (*redraw)(void))
{
    shared.clear = clear;
    shared.redraw = redraw;
}

/* no-color.org and bixense.com/clicolors: a variable counts if it is not empty; "0" disables a FORCE. */
static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool is_forced(const char *name)
{
    return is_set(name) && strcmp(getenv(name), "0") != 0;
}

bool log_use_color(int fd)
{
    if (shared.color != COLOR_AUTO)
        return shared.color == COLOR_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (is_forced("CLICOLOR_FORCE") || is_forced("FORCE_COLOR"))
        return true;
    const char *terminal = getenv("TERM");
    if (!terminal || strcmp(terminal, "dumb") == 0)
        return false;
    return isatty(fd) == 1;
}

/* Writes a line with one write, so that output of other processes cannot split it. The caller holds the lock. */
static void put_line(const struct style *style, const char *detail, const char *message)
{
    SCOPED(text_release) struct text line = {0};
    if (style) {
        SCOPED(text_release) struct text label = {0};
        text_addf(&label, "%s%s%s:", style->label, *detail ? " " : "", detail);
        text_add(&line, "rooftile: ");
        text_add_toned(&line, log_use_color(STDERR_FILENO), style->tone, label.data);
        text_add(&line, " ");
    }
    text_add_escaped(&line, ESCAPE_LINES, message); /* it may quote anything */
    text_add(&line, "\n");
    if (shared.clear)
        shared.clear();
    fwrite(line.data, 1, line.length, stderr);
    fflush(stderr);
    if (shared.redraw)
        shared.redraw();
}

void log_at(enum log_level level, const char *format, ...)
{
    static const struct style styles[] = {[LOG_QUIET] = {"error", TONE_BAD}, [LOG_DEBUG] = {"debug", TONE_DIM}};
    SCOPED(text_release) struct text message = {0};
    if (shared.level < level)
        return;
    va_list args;
    va_start(args, format);
    text_vaddf(&message, format, args);
    va_end(args);
    pthread_mutex_lock(&shared.lock);
    put_line(styles[level].label ? &styles[level] : NULL, "", message.data);
    pthread_mutex_unlock(&shared.lock);
}

const char *log_code_name(const char *code)
{
    for (size_t i = 0; i < sizeof(warning_codes) / sizeof(*warning_codes); i++)
        if (strcmp(warning_codes[i].code, code) == 0)
            return warning_codes[i].name;
    return NULL;
}

void log_warn(const char *code, const char *format, ...)
{
    static const struct style warning = {"warning", TONE_DOUBT};
    assert(log_code_name(code)); /* a new warning needs a row in warning_codes */
    SCOPED(text_release) struct text message = {0};
    SCOPED(text_release) struct text entry = {0};
    va_list args;
    va_start(args, format);
    text_vaddf(&message, format, args);
    va_end(args);
    text_addf(&entry, "%s: %s", code, message.data);
    pthread_mutex_lock(&shared.lock);
    if (!text_among(entry.data, shared.warnings, shared.warning_count)) {
        ARENA_PUSH(&shared.arena, shared.warnings, shared.warning_count, arena_strdup(&shared.arena, entry.data));
        if (shared.level > LOG_QUIET)
            put_line(&warning, code, message.data);
    }
    pthread_mutex_unlock(&shared.lock);
}

void log_clear_warnings(void)
{
    shared.warning_count = 0;
}

size_t log_warning_count(void)
{
    return shared.warning_count;
}

const char *log_warning_at(size_t index)
{
    return shared.warnings[index];
}
