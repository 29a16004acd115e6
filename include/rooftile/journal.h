/* SPDX-License-Identifier: MIT
 *
 * Journal: the cases that a run has measured so far, on disk while it runs, so that a killed run, a lost node or a full
 * disk costs at most the current case. It is <result>.journal next to the result, until that is written; everything
 * that reads results reads it, too (result_read). It consists of lines of JSON: the result's members before "cases",
 * then one case per line as in the result, except that all samples are inline, where the result puts them in a separate
 * file. The trials of a run follow one another.
 */
#ifndef ROOFTILE_JOURNAL_H
#define ROOFTILE_JOURNAL_H

#include "rooftile/result.h"

#define JOURNAL_SUFFIX ".journal"

struct journal;

/* The path of the journal for a result file. */
char *journal_of(const char *result_path, struct arena *arena);

/* Begins with the result's head and the resumed cases. A journal that a killed run left becomes <result>.old.journal,
 * with a warning, unless this run `replaces` it because it resumes its cases. ERR_IO: it cannot be written, or another
 * run is writing it. */
enum status journal_begin(struct journal **journal, const char *path, const struct result *result, bool replaces,
                          struct err *err);

/* Returns once the case is on disk (a prediction: in the file), so it must not be called during a measurement. A failed
 * write gives a warning, and is tried again with the next case. */
void journal_add(struct journal *journal, const struct result_case *result_case);

/* Begins another trial with this head; the following cases belong to it. */
void journal_next_trial(struct journal *journal, const struct result *result);

const char *journal_path(const struct journal *journal);
size_t journal_cases(const struct journal *journal);
size_t journal_kept(const struct journal *journal); /* those that are in the file */
void journal_end(struct journal *journal, bool remove);

/* Reads the results in a journal as JSON, one for each trial: at least one, in the arena; each text must be released.
 * Logs which run they are of. Lines that are damaged or belong to another run are skipped, with a warning that lists
 * their numbers; a truncated last line, with a note. ERR_CONFIG: no complete line begins a run. */
enum status journal_read(struct text **documents, size_t *count, const char *path, size_t limit_bytes,
                         struct arena *arena, struct err *err);

#endif
