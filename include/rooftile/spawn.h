/* SPDX-License-Identifier: MIT
 *
 * Child processes: argv in, text and exit status out. Never through a shell.
 */
#ifndef ROOFTILE_SPAWN_H
#define ROOFTILE_SPAWN_H

#include <sys/types.h>

#include "rooftile/base.h"

struct spawn_result {
    int exit_code;  /* 0..255, or 128 + signal */
    bool timed_out; /* killed after timeout_ms */
    char *output;   /* standard output; terminated */
    char *errors;   /* standard error; terminated */
};

/* NULL, or a variable that a signal sets: when it changes, the programs being waited for are killed, as at their time
 * limit. */
extern const volatile int *spawn_stop;

/* Like `input`: the child inherits our standard input. */
#define SPAWN_OWN_INPUT spawn_own_input
extern const char spawn_own_input[];

/* Runs argv[0] (looked up on PATH) and waits. Output beyond `limit_bytes` per stream is dropped with a note at its end;
 * a program that writes 64 MiB more is killed. timeout_ms 0 waits forever; a timed-out child gets SIGKILL with its
 * process group. ERR_IO if the program cannot be started, ERR_INTERRUPTED if spawn_stop ended it; a child that fails is
 * not an error here: check exit_code. */
enum status spawn_run(struct spawn_result *result, const char *const *argv, const char *input, size_t limit_bytes,
                      int timeout_ms, struct arena *arena, struct err *err);

/* Runs several programs at once, without input, and waits for all. */
enum status spawn_all(struct spawn_result *results, const char *const *const *argvs, size_t count, size_t limit_bytes,
                      int timeout_ms, struct arena *arena, struct err *err);

/* A child for callers that watch several themselves. It leads its own process group, has default signals, and inherits
 * no descriptors but its input and two files in memory for its output. */
struct spawn_child {
    pid_t pid;  /* 0: not started, or ended */
    int fds[3]; /* standard input, output, error; -1: closed */
    int state;  /* of waitpid, once it ended */
};
/* Starts argv[0] (looked up on PATH) with `environment` (NULL: ours). `joined`: its errors go to the file of its
 * output. ERR_IO; the child must be ended even then. */
enum status spawn_begin(struct spawn_child *child, const char *const *argv, char *const *environment, const char *input,
                        bool joined, struct err *err);
bool spawn_is_running(struct spawn_child *child);
void spawn_kill(const struct spawn_child *child); /* with its process group; it ends soon */
/* Returns how many bytes it has written to its output (1) or errors (2). */
size_t spawn_written(const struct spawn_child *child, int stream);
/* Kills it if it runs, and releases what it has. */
void spawn_end(struct spawn_child *child);

/* Returns the full path of an executable on PATH (or `program` itself if it has a slash and is executable); NULL if
 * there is none. */
char *spawn_which(struct arena *arena, const char *program);

#endif
