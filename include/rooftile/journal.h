/* SPDX-License-Identifier: MIT
 *
 * Journal: what a run has measured so far, on the disk while it goes on, so that a killed run, a lost node or a full
 * disk cost at most the current case. It is <result>.journal next to the result until that is written; everything that
 * reads results reads it too (result_read). Lines of JSON: the result's members before "cases", then one case a line,
 * as in the result, except that all samples are inline, where the result keeps them in a separate file. The trials of a
 * run follow one another.
 */
#ifndef ROOFTILE_JOURNAL_H
#define ROOFTILE_JOURNAL_H

#include "rooftile/result.h"

#define JOURNAL_SUFFIX ".journal"

struct journal;

/* Where the journal of a run to this file lies. */
char *journal_of(const char *result_path, struct arena *arena);

/* Begins with the result's head and the cases that were carried over. A journal that a killed run left becomes
 * <result>.old.journal, with a warning, unless this run `replaces` it because it resumes its cases. ERR_IO: it cannot
 * be written, or another run is writing it. */
enum status journal_begin(struct journal **journal, const char *path, const struct result *result, bool replaces,
                          struct err *err);

/* Returns when the case is on the disk (a prediction: in the file), so it must be called while nothing is measured. A
 * failed write is a warning, and is tried again with the next case. */
void journal_add(struct journal *journal, const struct result_case *result_case);

/* The following cases belong to another trial, whose head this is. */
void journal_next_trial(struct journal *journal, const struct result *result);

const char *journal_path(const struct journal *journal);
size_t journal_cases(const struct journal *journal);
size_t journal_kept(const struct journal *journal); /* those of them that are in the file */
void journal_end(struct journal *journal, bool remove);

/* The results in a journal as JSON, one for each trial: at least one, in the arena; each text has to be released. Logs
 * which run they are of. Lines that are damaged or of another run are skipped, with a warning that has their
 * numbers; a last line that was cut short, with a note. ERR_CONFIG: no whole line begins a run. */
enum status journal_read(struct text **documents, size_t *count, const char *path, size_t limit_bytes,
                         struct arena *arena, struct err *err);

#endif
