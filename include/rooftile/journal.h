/* SPDX-License-Identifier: MIT
 *
 * Journal: what a run has measured so far, on the disk while it goes on, so that a killed run, a lost node or a full
 * disk cost at most the case under way. It lies beside the result as <result>.journal until that is written; all that
 * reads results reads it too (result_read). Lines of JSON: the result's members before "cases", then a case a line, as
 * they stand in the result; only its samples are all here, where the result keeps them in a file beside it. A run of
 * several trials is one after the other.
 */
#ifndef ROOFTILE_JOURNAL_H
#define ROOFTILE_JOURNAL_H

#include "rooftile/result.h"

#define JOURNAL_SUFFIX ".journal"

struct journal;

/* Where the journal of a run to this file lies. */
char *journal_of(const char *result_path, struct arena *arena);

/* Begins with what the result has: its head, and the cases that were carried over. A journal that a killed run left
 * there becomes <result>.old.journal, with a warning, unless this run `replaces` it because it goes on with its cases.
 * ERR_IO: it cannot be written, or another run is writing it. */
enum status journal_begin(struct journal **journal, const char *path, const struct result *result, bool replaces,
                          struct err *err);

/* Returns when the case is on the disk (a prediction: in the file), so it is called while nothing is measured. What
 * cannot be written now is warned about, and tried again with the next case. */
void journal_add(struct journal *journal, const struct result_case *result_case);

/* What follows are cases of another trial, whose head this is. */
void journal_next_trial(struct journal *journal, const struct result *result);

const char *journal_path(const struct journal *journal);
size_t journal_cases(const struct journal *journal);
size_t journal_kept(const struct journal *journal); /* those of them that are in the file */
void journal_end(struct journal *journal, bool remove);

/* The results that a journal stands for, one a trial, as JSON, and says whose they are: at least one, each to be
 * released, in the arena. A last line that was cut short is skipped, with a note. ERR_CONFIG: there is no whole line.
 */
enum status journal_read(struct text **documents, size_t *count, const char *path, size_t limit_bytes,
                         struct arena *arena, struct err *err);

#endif
